"""`mx.onnx.mx2onnx`: what writes models, under 1.9.1's name."""

from mxlite._public import show as _show
from mxlite.onnx._export.models import export_model, get_operator_support

__all__ = ["export_model", "get_operator_support"]

_show(globals())
