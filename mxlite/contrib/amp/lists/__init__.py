"""The names of operators that `mx.contrib.amp` casts, by target: those that MXNet 1.9.1 lists."""

from __future__ import annotations

from mxlite._public import show as _show
from mxlite.contrib.amp.lists import symbol_bf16, symbol_fp16

__all__ = ["symbol_bf16", "symbol_fp16"]

_show(globals())
