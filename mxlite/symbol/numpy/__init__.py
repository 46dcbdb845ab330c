"""`mx.sym.np`: the functions of `mx.np` for symbols, whose class is `_Symbol`.

The functions are made when they are first asked for, from the same table; `dir(mx.sym.np)` lists them all.
"""

from __future__ import annotations

# ruff: noqa: F401 - what is imported here is what the module offers
from mxlite.symbol.numpy._front import show_functions as _show_functions
from mxlite.symbol.numpy._symbol import _Symbol

from mxlite.symbol.numpy import linalg, random  # isort: skip - they are made of what is above

__all__ = ["linalg", "random"]

_show_functions(globals(), "")
