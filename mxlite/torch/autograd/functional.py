"""`torch.autograd.functional`: vjp, jvp, hvp, vhp, jacobian, hessian."""

from typing import Any, Callable

from mxlite._public import show as _show
from mxlite.autograd._derivatives import Derivatives
from mxlite.torch._gradient import FRONT_END

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_derivatives = Derivatives(FRONT_END)

vjp, jvp = _derivatives.vjp, _derivatives.jvp
hvp, vhp = _derivatives.hvp, _derivatives.vhp


def jacobian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian: of each output and each input a tensor with the shape of the output, then that of the input.

    Args:
        vectorize: Has no effect.
    """
    _require_reverse(strategy)
    return _derivatives.jacobian(func, inputs, create_graph, strict)


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function whose result has one element; `vectorize` has no effect."""
    _require_reverse(outer_jacobian_strategy)
    return _derivatives.hessian(func, inputs, create_graph, strict)


def _require_reverse(strategy: str) -> None:
    if strategy != "reverse-mode":
        raise NotImplementedError(f"mxlite.torch has no derivatives by {strategy!r}, only by 'reverse-mode'")


_show(globals())
