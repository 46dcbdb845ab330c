"""`mx.npx.random`: random numbers that `mx.np.random` has not."""

from __future__ import annotations

from mxlite.numpy._show import show_functions as _show_functions
from mxlite.random import seed

__all__ = ["seed"]

_show_functions(globals(), "npx.random")
