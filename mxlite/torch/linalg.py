"""`torch.linalg`: factorisations, norms and products of matrices."""

from mxlite._public import show as _show
from mxlite.torch._calls import with_aliases as _with_aliases
from mxlite.torch._math.linalg import LINALG as _LINALG

__all__ = sorted(_LINALG)

globals().update({name: _with_aliases(each) for name, each in _LINALG.items()})
_show(globals())
