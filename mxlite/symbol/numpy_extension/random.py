"""`mx.sym.npx.random`: random numbers that `mx.sym.np.random` has not."""

from __future__ import annotations

from mxlite.symbol.numpy._front import show_functions as _show_functions

_show_functions(globals(), "npx.random")
