"""Whether tensors are the same, nearly the same, and other questions that have one answer."""

from __future__ import annotations

from mxlite.torch._broadcast import require_broadcast
from mxlite.torch._calls import both, function, prepare, run
from mxlite.torch._dtypes import bool_ as _bool
from mxlite.torch._tensor import Tensor


@both()
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape and the same elements."""
    return input.shape == other.shape and bool((input.detach() == other.detach()).all())


@both()
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Where elements differ by no more than atol + rtol * |other|: a tensor of bool."""
    if input._dtype is not other._dtype:
        raise RuntimeError(f"{input._dtype.word} did not match {other._dtype.word}")
    for name, bound in (("rtol", rtol), ("atol", atol)):
        if bound < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {bound}")
    require_broadcast(input, other)
    call = prepare(None, "_mxl_isclose", "rtol", "atol", equal_nan=str(bool(equal_nan)))
    return run(call, [input, other], float(rtol), float(atol), kind=_bool)


@both()
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether isclose holds everywhere."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


function("numel")(lambda input: input.numel())
function("is_tensor")(lambda obj: isinstance(obj, Tensor))
function("is_floating_point")(lambda input: input._dtype.is_floating_point)
function("is_complex")(lambda input: False)
function("is_nonzero")(lambda input: bool(input))
