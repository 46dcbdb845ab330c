"""`mx.sym.npx`: what networks need beside NumPy, for symbols of `mx.sym.np`: operators whose names begin `_npx_`."""

from __future__ import annotations

# ruff: noqa: F401 - what is imported here is what the module offers
from mxlite.numpy_extension._functions import show_functions as _show_functions
from mxlite.symbol.contrib import cond, foreach, while_loop
from mxlite.symbol.numpy._front import of_operator as _of_operator
from mxlite.symbol.numpy_extension import image, random

__all__ = ["cond", "foreach", "image", "random", "while_loop"]

_show_functions(globals(), "_npx_", _of_operator)
