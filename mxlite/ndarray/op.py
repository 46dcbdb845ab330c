"""`mx.nd.op`: a function for every operator with a public name, made from the library's introspection."""

from mxlite.ndarray._generate import Names as _Names


def _is_public(name: str) -> bool:
    return not name.startswith("_")


_names = _Names(globals(), _is_public)
__getattr__ = _names.get
__dir__ = _names.list
