"""`mx.nd.op`: a function for every operator with a public name, made from the library's introspection."""

from mxlite.ndarray._generate import Names as _Names

_names = _Names(globals())
__getattr__ = _names.get
__dir__ = _names.list
