"""Derivatives of functions of NDArrays: vjp, jvp, hvp, vhp, jacobian, hessian, as in torch.autograd.functional.

A function takes arrays, of mx.nd or mx.np, and returns one, or a tuple of them; it is run while recording. Inputs are
an array or a tuple.
"""

from mxlite._public import show as _show
from mxlite.autograd._derivatives import Derivatives
from mxlite.ndarray._gradient import FRONT_END
from mxlite.ndarray._kinds import by_inputs

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_derivatives = Derivatives(FRONT_END)

vjp, jvp = by_inputs(_derivatives.vjp), by_inputs(_derivatives.jvp)
hvp, vhp = by_inputs(_derivatives.hvp), by_inputs(_derivatives.vhp)
jacobian, hessian = by_inputs(_derivatives.jacobian), by_inputs(_derivatives.hessian)

_show(globals())
