"""`torch.signal`: windows."""

from mxlite._public import show as _show
from mxlite.torch.signal import windows as windows

__all__ = ["windows"]
_show(globals())
