"""`mx.npx.image`: operators of images for arrays of `mx.np`."""

from __future__ import annotations

from mxlite.numpy_extension._functions import show_functions as _show_functions

_show_functions(globals(), "_npx__image_")
