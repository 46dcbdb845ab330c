def export_model(): pass
def get_operator_support(): pass
