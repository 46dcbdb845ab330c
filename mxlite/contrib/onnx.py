"""`mx.contrib.onnx`: the functions of `mx.onnx`, under the name that 1.9.1 had first."""

from mxlite._public import show as _show
from mxlite.onnx import export_model, get_model_metadata, import_model, import_to_gluon

#: Names that a star of 1.9.1 gives too.
export_model_ = export_model
get_model_metadata_ = get_model_metadata
import_model_ = import_model
import_to_gluon_ = import_to_gluon

__all__ = [
    "export_model",
    "export_model_",
    "get_model_metadata",
    "get_model_metadata_",
    "import_model",
    "import_model_",
    "import_to_gluon",
    "import_to_gluon_",
]

_show(globals())
