"""`mx.contrib.onnx`: the functions of `mx.onnx`, under the name that 1.9.1 had first."""

from mxlite._public import show as _show
from mxlite.onnx import export_model, get_model_metadata, import_model, import_to_gluon

__all__ = ["export_model", "get_model_metadata", "import_model", "import_to_gluon"]

_show(globals())
