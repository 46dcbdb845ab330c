"""Functions with truth values as results: comparisons, logical_and, logical_or, isnan, isclose, equal, ..."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from mxlite.torch._broadcast import require_broadcast
from mxlite.torch._calls import both, function, method, prepare, require_tensor, require_tensors, run
from mxlite.torch._dtypes import INTEGER, PROMOTED, bool_, from_kind
from mxlite.torch._math.arithmetic import OPERANDS, Operation, refused, require_operands
from mxlite.torch._tensor import Tensor, from_values

#: name -> symbol, the other name, the operators of two tensors, of tensor and number.
_COMPARISONS = {
    "eq": ("==", None, "broadcast_equal", "_equal_scalar"),
    "ne": ("!=", "not_equal", "broadcast_not_equal", "_not_equal_scalar"),
    "lt": ("<", "less", "broadcast_lesser", "_lesser_scalar"),
    "le": ("<=", "less_equal", "broadcast_lesser_equal", "_lesser_equal_scalar"),
    "gt": (">", "greater", "broadcast_greater", "_greater_scalar"),
    "ge": (">=", "greater_equal", "broadcast_greater_equal", "_greater_equal_scalar"),
}


def _comparison(name: str, symbol: str, other_name: str | None, arrays: str, scalar: str) -> None:
    operation = Operation(None, arrays, (scalar, None, None))
    run = operation.run

    def compare(self: Tensor, other: Any) -> Any:
        if name == "eq" and isinstance(other, np.ndarray) and other.dtype.kind in "biuf":
            other = from_values(other)  # of NumPy's arrays PyTorch takes those in == alone
        return run(self, other, bool_) if isinstance(other, OPERANDS) else NotImplemented

    calls = {"two": operation.of_arrays, "number": operation.of_scalar, "result": bool_, "failed": refused, **PROMOTED}
    method(f"__{name}__", calls=calls)(compare)

    @both(name, *filter(None, [other_name]), document=f"Where input {symbol} other: a tensor of bool.", calls=calls)
    def function(input: Tensor, other: Any) -> Tensor:
        require_operands(name, input, other)
        return run(input, other, bool_)


for _name, _row in _COMPARISONS.items():
    _comparison(_name, *_row)


def _logical(name: str) -> None:
    operation = Operation(None, f"broadcast_{name}")
    calls = {"two": operation.of_arrays, "result": bool_, "failed": refused, **PROMOTED}

    @both(name, document=f"{name[8:]} of what differs from 0: a tensor of bool.", calls=calls)
    def logical(input: Tensor, other: Tensor) -> Tensor:
        require_tensors(name, input, other)
        return operation.run(input, other, bool_)


for _name in ("logical_and", "logical_or", "logical_xor"):
    _logical(_name)


@both()
def logical_not(input: Tensor) -> Tensor:
    """Where elements are 0: a tensor of bool."""
    return input == 0


def _predicate(name: str, test: Callable[[Tensor], Tensor], document: str) -> None:
    @both(name, document=document)
    def function(input: Tensor) -> Tensor:
        require_tensor(name, 1, "input", input)
        return test(input.detach())


def _negative(x: Tensor) -> Tensor:
    """-0 is negative, and a NaN with that sign."""
    return run(prepare(None, "_mxl_signbit"), [x], kind=bool_) if x._dtype.is_floating_point else x < 0


_predicate("isnan", lambda x: x != x, "Where elements are no numbers: a tensor of bool.")
_predicate(
    "isinf",
    lambda x: abs(x) == math.inf if x._dtype.is_floating_point else x != x,
    "Where elements are infinite: a tensor of bool.",
)
_predicate(
    "isfinite",
    lambda x: abs(x) < math.inf if x._dtype.is_floating_point else x == x,
    "Where elements are numbers that are finite: a tensor of bool.",
)
_predicate("isposinf", lambda x: x == math.inf, "Where elements are positive infinity: a tensor of bool.")
_predicate("isneginf", lambda x: x == -math.inf, "Where elements are negative infinity: a tensor of bool.")
_predicate("signbit", _negative, "Where elements have a minus sign: a tensor of bool.")


_all_equal = prepare(None, "_contrib_allclose", rtol=0, atol=0, equal_nan=False)


@both(calls={"two": _all_equal, "alike": True, "truth": True, "again": True, **from_kind(INTEGER)})
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape and the same elements."""
    return input.shape == other.shape and bool((input == other).all())


@both()
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Where elements differ by no more than atol + rtol * |other|: a tensor of bool."""
    if input._dtype is not other._dtype:
        raise RuntimeError(f"isclose: both tensors are of one dtype, got {input._dtype.word} and {other._dtype.word}")
    for name, bound in (("rtol", rtol), ("atol", atol)):
        if bound < 0:
            raise RuntimeError(f"isclose: {name} is 0 or more, got {bound}")
    require_broadcast(input, other)
    call = prepare(None, "_mxl_isclose", "rtol", "atol", equal_nan=str(bool(equal_nan)))
    return run(call, [input, other], float(rtol), float(atol), kind=bool_)


@both()
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether isclose holds everywhere."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


function("numel")(lambda input: input.numel())
function("is_tensor")(lambda obj: isinstance(obj, Tensor))
function("is_floating_point")(lambda input: input._dtype.is_floating_point)
function("is_complex")(lambda input: False)
function("is_nonzero")(lambda input: bool(input))
