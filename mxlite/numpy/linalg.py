"""`mx.np.linalg`: factorisations, norms and solutions of NumPy's arrays; functions are made as they are asked for."""

from __future__ import annotations

from mxlite.numpy._show import show_functions as _show_functions

_show_functions(globals(), "linalg")
