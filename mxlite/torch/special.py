"""`torch.special`: special functions of each element."""

from mxlite._public import show as _show
from mxlite.torch._calls import functions as _functions
from mxlite.torch._calls import with_aliases as _with_aliases
from mxlite.torch._math.functions import SPECIAL as _SPECIAL

_NAMES = """digamma erf erfc erfinv exp2 expm1 i0 log1p log_softmax logit logsumexp polygamma round sinc softmax xlogy
    expit=sigmoid gammaln=lgamma multigammaln=mvlgamma psi=digamma gammainc=igamma gammaincc=igammac"""

globals().update({name: _with_aliases(each) for name, each in _SPECIAL.items()})
for _pair in _NAMES.split():
    _name, _, _other = _pair.partition("=")
    globals()[_name] = _functions[_other or _name]
__all__ = sorted(name for name in globals() if not name.startswith("_"))
_show(globals())
