"""A parameter of a block of another storage type."""

from mxnet import gluon


class Table(gluon.HybridBlock):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(3, 2), stype="csr")  # stops

    def hybrid_forward(self, F, x, weight):
        return F.dot(x, weight)


Table().initialize()
