"""`mx.notebook`: callbacks of training for notebooks."""

from __future__ import annotations

from mxlite._public import show as _show
from mxlite.notebook import callback

__all__ = ["callback"]

_show(globals())
