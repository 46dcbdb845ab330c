"""`torch.utils`: checkpoint."""

from __future__ import annotations

from mxlite._public import show as _show
from mxlite.torch.utils import checkpoint

__all__ = ["checkpoint"]

_show(globals())
