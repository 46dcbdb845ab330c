"""`torch.utils`: checkpoint, and data."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from mxlite._public import show as _show
from mxlite.torch.utils import checkpoint

__all__ = ["checkpoint", "data"]


def _later(name: str) -> _Any:
    return _import_module(f"{__name__}.data") if name == "data" else None


_show(globals(), _later)
