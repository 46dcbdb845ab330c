"""`mx.onnx`: models of ONNX, read as symbols or Gluon blocks, and written from symbols.

It needs the package `onnx` of PyPI (`pip install mxlite[onnx]`), which it imports when a function is called.
"""

from __future__ import annotations

from mxlite._public import show as _show
from mxlite.onnx._export.models import export_model, get_operator_support
from mxlite.onnx._import.models import get_model_metadata, import_model, import_to_gluon

from mxlite.onnx import mx2onnx  # isort: skip - it takes the functions above

__all__ = ["export_model", "get_model_metadata", "get_operator_support", "import_model", "import_to_gluon", "mx2onnx"]

_show(globals())
