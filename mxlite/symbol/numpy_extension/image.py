"""`mx.sym.npx.image`: operators of images for symbols of `mx.sym.np`."""

from __future__ import annotations

from mxlite.numpy_extension._functions import show_functions as _show_functions
from mxlite.symbol.numpy._front import of_operator as _of_operator

_show_functions(globals(), "_npx__image_", _of_operator)
