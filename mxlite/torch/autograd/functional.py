"""`torch.autograd.functional`: vjp, jvp, hvp, vhp, jacobian, hessian."""

from mxlite._public import show as _show
from mxlite.autograd._derivatives import Derivatives
from mxlite.torch._gradient import FRONT_END

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_derivatives = Derivatives(FRONT_END)

vjp, jvp = _derivatives.vjp, _derivatives.jvp
hvp, vhp = _derivatives.hvp, _derivatives.vhp
jacobian, hessian = _derivatives.jacobian, _derivatives.hessian

_show(globals())
