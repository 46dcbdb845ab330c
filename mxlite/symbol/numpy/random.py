"""`mx.sym.np.random`: random numbers, as symbols; functions are made as they are asked for."""

from __future__ import annotations

from mxlite.symbol.numpy._front import show_functions as _show_functions

_show_functions(globals(), "random")
