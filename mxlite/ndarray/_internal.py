"""`mx.nd._internal`: a function for every operator whose name begins with an underscore (`_plus_scalar`, ...)."""

from mxlite.ndarray._generate import Names as _Names

_names = _Names(globals())
__getattr__ = _names.get
__dir__ = _names.list
