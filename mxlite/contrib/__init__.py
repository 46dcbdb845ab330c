"""`mx.contrib`: the loss scaling of mixed precision, the old autograd, tokens and their vectors.

What needs symbols (`sym`, `onnx`, `quantization`) or other programs (`tensorrt`) says that it is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mxlite import ndarray as _ndarray
from mxlite._public import show as _show
from mxlite.contrib import amp, autograd, io, text
from mxlite.contrib._missing import missing_module

if TYPE_CHECKING:
    from mxlite.ndarray import contrib as nd
    from mxlite.ndarray import contrib as ndarray
else:
    nd = ndarray = _ndarray.contrib

__all__ = [
    "amp",
    "autograd",
    "io",
    "nd",
    "ndarray",
    "onnx",
    "quant",
    "quantization",
    "svrg_optimization",
    "sym",
    "symbol",
    "tensorboard",
    "tensorrt",
    "text",
]

_show(globals(), missing_module)
