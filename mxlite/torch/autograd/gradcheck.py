"""Checks of gradients against differences: gradcheck, and gradgradcheck for second ones."""

from mxlite._public import show as _show
from mxlite.autograd._checks import Checks, GradcheckError
from mxlite.torch._gradient import FRONT_END

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

_checks = Checks(FRONT_END)
gradcheck, gradgradcheck = _checks.gradcheck, _checks.gradgradcheck

_show(globals())
