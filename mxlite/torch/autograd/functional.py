"""`torch.autograd.functional`: vjp, jvp, hvp, vhp, jacobian, hessian."""

from typing import Any, Callable

from mxlite._public import show as _show
from mxlite.autograd._derivatives import Derivatives
from mxlite.autograd._derivatives import as_tuple as _as_tuple
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._nodes import unrecorded as _unrecorded
from mxlite.torch.func import jacfwd as _jacfwd

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
        vectorize: Has no effect on the way it is computed, by rows, or by columns with strategy="forward-mode".
    Raises: AssertionError: there is no such strategy; NotImplementedError, RuntimeError: options that PyTorch does not
        take together.
    """
    _require(strategy, create_graph, strict, vectorize)
    if strategy == "reverse-mode":
        return _derivatives.jacobian(func, inputs, create_graph, strict)
    given = _as_tuple(inputs)
    with _unrecorded():
        found = _jacfwd(func, tuple(range(len(given))))(*(each.detach() for each in given))
    several = isinstance(inputs, (tuple, list))
    if isinstance(found, tuple) and isinstance(found[0], tuple):  # of several outputs
        return tuple(row if several else row[0] for row in found)
    return found if several else found[0]


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function whose result has one element; `vectorize` and the strategy change no value."""
    _require(outer_jacobian_strategy, create_graph, strict, vectorize)
    return _derivatives.hessian(func, inputs, create_graph, strict)


def _require(strategy: str, create_graph: bool, strict: bool, vectorize: bool) -> None:
    """Raises: AssertionError, NotImplementedError, RuntimeError: the options do not go together."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(f"a strategy is 'forward-mode' or 'reverse-mode', got {strategy!r}")
    if strategy == "forward-mode" and create_graph:
        raise NotImplementedError("strategy='forward-mode' does not go with create_graph=True")
    if strict and (vectorize or strategy == "forward-mode"):
        raise RuntimeError("strict=True does not go with vectorize=True, nor with strategy='forward-mode'")
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError("strategy='forward-mode' needs vectorize=True")


_show(globals())
