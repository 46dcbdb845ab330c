"""`torch.linalg`: factorisations, norms and products of matrices."""

from mxlite._public import show as _show
from mxlite.torch._math.linalg import LINALG as _LINALG

__all__ = sorted(_LINALG)

globals().update(_LINALG)
_show(globals())
