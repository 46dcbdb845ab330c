"""`mx.contrib`: the loss scaling of mixed precision, the old autograd, tokens and their vectors, ONNX.

What is not here (`tensorrt`, ...) says so.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from mxlite import ndarray as _ndarray
from mxlite._public import show as _show
from mxlite.contrib import amp, autograd, io, text
from mxlite.contrib._missing import missing_module

if TYPE_CHECKING:
    from mxlite.contrib import onnx, quantization, svrg_optimization, tensorboard
    from mxlite.ndarray import contrib as nd
    from mxlite.ndarray import contrib as ndarray
    from mxlite.symbol import contrib as sym
    from mxlite.symbol import contrib as symbol
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


def _later(name: str) -> object:
    if name in ("onnx", "quantization", "svrg_optimization", "tensorboard"):
        return importlib.import_module(f"mxlite.contrib.{name}")
    return importlib.import_module("mxlite.symbol.contrib") if name in ("sym", "symbol") else missing_module(name)


_show(globals(), _later)
