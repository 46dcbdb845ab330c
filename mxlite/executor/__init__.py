"""`mx.executor`: symbols bound to arrays."""

from __future__ import annotations

from mxlite._public import show
from mxlite.symbol._executor import Executor

__all__ = ["Executor"]

show(globals())
