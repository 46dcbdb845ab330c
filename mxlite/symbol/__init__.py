"""`mx.sym`: the type Symbol alone, so that programs can ask for it. Graphs of symbols are not in mxlite yet."""

from __future__ import annotations

from mxlite._public import show
from mxlite.symbol.symbol import Symbol

__all__ = ["Symbol"]

show(globals())
