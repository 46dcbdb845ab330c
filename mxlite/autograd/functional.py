"""Derivatives of functions of NDArrays: vjp, jvp, hvp, vhp, jacobian, hessian, as in torch.autograd.functional.

A function takes NDArrays and returns one, or a tuple of them; it is run while recording. Inputs are an array or a
tuple.
"""

from mxlite._public import show as _show
from mxlite.autograd._derivatives import Derivatives
from mxlite.ndarray._gradient import FRONT_END

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_derivatives = Derivatives(FRONT_END)

vjp, jvp = _derivatives.vjp, _derivatives.jvp
hvp, vhp = _derivatives.hvp, _derivatives.vhp
jacobian, hessian = _derivatives.jacobian, _derivatives.hessian

_show(globals())
