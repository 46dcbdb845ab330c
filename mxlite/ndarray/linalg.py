"""`mx.nd.linalg`: a function for every operator `_linalg_*`, named without that beginning."""

from mxlite.ndarray._generate import Names as _Names

_names = _Names(globals())
__getattr__ = _names.get
__dir__ = _names.list
