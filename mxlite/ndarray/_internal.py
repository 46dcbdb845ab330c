"""`mx.nd._internal`: a function for every operator whose name begins with an underscore (`_plus_scalar`, ...)."""

from mxlite.ndarray._generate import Names as _Names


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith(("__", "_np", "_mxl_"))


_names = _Names(globals(), _is_private)
__getattr__ = _names.get
__dir__ = _names.list
