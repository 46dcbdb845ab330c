"""`torch.autograd.functional`: vjp, jvp, hvp, vhp, jacobian, hessian."""

from typing import Any, Callable

from mxlite._public import show as _show
from mxlite.autograd._derivatives import Derivatives
from mxlite.autograd._derivatives import as_tuple as _as_tuple
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._nodes import unrecorded as _unrecorded
from mxlite.torch._tensor import Tensor
from mxlite.torch.func import jacfwd as _jacfwd
from mxlite.torch.func import jacrev as _jacrev

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
        vectorize: Whether all rows (columns with strategy="forward-mode") are computed together.
    Raises: AssertionError: there is no such strategy; NotImplementedError, RuntimeError: options that PyTorch does not
        take together.
    """
    _require(strategy, create_graph, strict, vectorize)
    if not vectorize:
        return _derivatives.jacobian(func, inputs, create_graph, strict)
    found = _together(_jacfwd if strategy == "forward-mode" else _jacrev, func, inputs, create_graph)
    several = isinstance(inputs, (tuple, list))
    if isinstance(found, tuple) and isinstance(found[0], tuple):  # of several outputs
        return tuple(row if several else row[0] for row in found)
    return found if several else found[0]


def _together(transform: Callable, func: Callable, inputs: Any, create_graph: bool) -> Any:
    """jacrev or jacfwd of the function with respect to all inputs, in the graph of these with `create_graph`."""
    given = _as_tuple(inputs)
    numbers = tuple(range(len(given)))
    if create_graph:
        return transform(func, numbers)(*given)
    with _unrecorded():
        return transform(func, numbers)(*(each.detach() for each in given))


def hessian(
    func: Callable,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function whose result has one element; `vectorize`: as of jacobian."""
    _require(outer_jacobian_strategy, create_graph, strict, vectorize)
    if not vectorize:
        return _derivatives.hessian(func, inputs, create_graph, strict)

    def scalar(*given: Any) -> Any:
        result = func(*given)
        if not isinstance(result, Tensor) or result.numel() != 1:
            raise RuntimeError("hessian: the function must return one tensor of one element")
        return result.reshape(())

    outer = _jacfwd if outer_jacobian_strategy == "forward-mode" else _jacrev
    numbers = tuple(range(len(_as_tuple(inputs))))
    found = _together(outer, _jacrev(scalar, numbers), inputs, create_graph)
    return found if isinstance(inputs, (tuple, list)) else found[0][0]


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
