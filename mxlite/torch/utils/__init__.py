"""`torch.utils`: checkpoint."""

from __future__ import annotations

from typing import Any

from mxlite.torch.utils import checkpoint

__all__ = ["checkpoint"]


def __getattr__(name: str) -> Any:
    raise AttributeError(f"mxlite.torch has no torch.utils.{name}")
