"""Python's operators of tensors, and the functions they are: add, sub, mul, div, remainder, pow.

The library promotes operands of several dtypes, and numbers (capi/engine/run/promote.h): an operation is one foreign
call and one object.
"""

from __future__ import annotations

from operator import add as plus
from operator import sub as minus
from typing import Any, Callable

import numpy as np

from mxlite._lib import hot
from mxlite.torch._basic import from_values
from mxlite.torch._broadcast import operands_error, require_into
from mxlite.torch._calls import adopt, both, function, last_error, method, prepare, run, run_into, values
from mxlite.torch._convert import as_tensor_of, cast, common_dtype, require_cast
from mxlite.torch._dtypes import BOOL, EXACT, PROMOTED, dtype
from mxlite.torch._edits import copy_
from mxlite.torch._errors import wrong_argument
from mxlite.torch._tensor import Tensor, require_fits

NUMBERS = (int, float, np.number, np.bool_)
OPERANDS = (Tensor, *NUMBERS)

#: False and True as tensors: as operands they are what Python's are, of the lowest kind.
_TRUTHS = tuple(from_values(np.array(value)) for value in (False, True))


def operation_error(a: Any, b: Any) -> BaseException:
    """The library's last error, or PyTorch's for operands that cannot be broadcast."""
    problem = last_error()
    return operands_error(a, b) or problem


def refused(a: Any, b: Any) -> None:
    """After a call that the library has refused."""
    raise operation_error(a, b)


def not_written(a: Tensor, b: Any) -> None:
    """The same after a call into the first operand."""
    problem = last_error()
    require_into(a, b)
    raise problem


def _plain(number: Any, tensor: Tensor) -> float | int:
    """A number as a float, or an integer of 64 bits: what is beyond them wraps beside integers.

    Raises: OverflowError: an integer of more than 64 bits.
    """
    value = number.item() if isinstance(number, np.generic) else number
    if isinstance(value, float):
        return float(value)
    if not -(1 << 63) <= value < 1 << 64:
        raise OverflowError(f"an operand has at most 64 bits, got {value}")
    if value < 1 << 63:
        return int(value)
    return float(value) if tensor._dtype.is_floating_point else value - (1 << 64)


class Operation:
    """An operation of two operands, as the library's operators for two tensors, tensor and number, number and tensor.

    Args:
        label: What its nodes are called.
        arrays: The operator of two tensors, which takes a number as either operand.
        scalar: The operator of a tensor and a number, and the label of its nodes and their slots; None: `arrays`.
        reflected: The operator of a number and a tensor, and the label of its nodes; None: as `arrays`.
    """

    def __init__(
        self,
        label: str | None,
        arrays: str,
        scalar: tuple[str, str | None, str | None] | None = None,
        reflected: tuple[str, str | None] | None = None,
    ) -> None:
        self.of_arrays = prepare(label, arrays)
        self.of_scalar = self.of_arrays
        self.overloads = scalar is not None and scalar[2] == "0"
        self.of_reflected = prepare(label, arrays, slots="-1")
        if scalar:
            self.of_scalar = prepare(scalar[1], scalar[0], "scalar", "is_int", slots=scalar[2])
        if reflected:
            self.of_reflected = prepare(reflected[1], reflected[0], "scalar", "is_int", slots="0")

    def run(self, a: Any, b: Any, kind: dtype | None = None) -> Tensor:
        """The operation of two operands, at least one of them a tensor; `kind`: the result's dtype, if it is known."""
        if isinstance(a, (bool, np.bool_)):
            a = _TRUTHS[bool(a)]
        elif isinstance(b, (bool, np.bool_)):
            b = self._truth(b, a)
        if not isinstance(a, Tensor):
            handle = self._of_number(self.of_reflected, b, a)
        elif not isinstance(b, Tensor):
            handle = self._of_number(self.of_scalar, a, b)
        else:
            handle = hot.call2(self.of_arrays, a._h, b._h)
        if not handle:
            raise operation_error(a, b)
        return adopt(handle, kind)

    def _of_number(self, call: int, tensor: Tensor, number: Any) -> int:
        value = _plain(number, tensor)
        return (hot.call1_float if value.__class__ is float else hot.call1_int)(call, tensor._h, value)

    def _truth(self, value: Any, beside: Tensor) -> Any:
        """A truth value as the second operand: an integer where PyTorch has a function of its own for numbers."""
        return int(value) if self.overloads and beside._dtype.kind != BOOL else _TRUTHS[bool(value)]

    def run_into(self, a: Tensor, b: Any) -> Tensor:
        """The operation into its first operand."""
        if isinstance(b, (bool, np.bool_)):
            b = self._truth(b, a)
        if isinstance(b, Tensor):
            status = hot.into2(self.of_arrays, a._h, b._h, a._h)
        else:
            number = _plain(b, a)
            arguments = [number, int(number.__class__ is int)]
            status = 0 if hot.call_into(self.of_scalar, [a._h], arguments, [a._h]) else -1
        if status != 0:
            not_written(a, b)
        return a


def require_operands(name: str, input: Any, other: Any) -> None:
    """Raises TypeError unless both are tensors or numbers, and one a tensor."""
    for position, (argument, value) in enumerate((("input", input), ("other", other)), 1):
        if not isinstance(value, OPERANDS):
            raise wrong_argument(name, argument, position, "Tensor", value)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        raise wrong_argument(name, "input", 1, "Tensor", input)


# ---- Python's operators ----


def operator(operation: Operation, result: dtype | None = None, **calls: Any) -> Callable:
    """`self symbol other`."""
    run = operation.run

    def operator(self: Tensor, other: Any) -> Any:
        return run(self, other, result) if isinstance(other, OPERANDS) else NotImplemented

    given = {"two": operation.of_arrays, "number": operation.of_scalar, **PROMOTED, **calls}
    return hot.direct(operator, refused, Tensor, **given, **({} if result is None else {"result": result}))


def reflected(operation: Operation) -> Callable:
    """`other symbol self`, of a number."""
    run = operation.run

    def operator(self: Tensor, other: Any) -> Any:
        return run(other, self) if isinstance(other, NUMBERS) else NotImplemented

    return hot.direct(operator, refused, Tensor, number=operation.of_reflected, **PROMOTED)


def in_place(operation: Operation) -> Callable:
    """`self symbol= other`: the same tensor with new values."""
    run_into = operation.run_into

    def operator(self: Tensor, other: Any) -> Any:
        return run_into(self, other) if isinstance(other, OPERANDS) else NotImplemented

    calls = {"two": operation.of_arrays, "number": operation.of_scalar, "into": True, **PROMOTED}
    return hot.direct(operator, not_written, Tensor, **calls)


def named(name: str, operator: Callable) -> Callable:
    """The same for a method that has a name."""

    def function(self: Tensor, other: Any) -> Tensor:
        done = operator(self, other)
        if done is NotImplemented:
            raise wrong_argument(name, "other", 1, "Tensor", other)
        return done

    return function


#: Name -> the operation. PyTorch has no function of its own for a sum with a number: its nodes have an empty slot then.
BINARY = {
    "add": Operation("AddBackward0", "broadcast_add", ("_plus_scalar", "AddBackward0", "0-")),
    "sub": Operation(
        "SubBackward0", "broadcast_sub", ("_minus_scalar", "SubBackward0", "0-"), ("_rminus_scalar", "RsubBackward1")
    ),
    "mul": Operation("MulBackward0", "broadcast_mul", ("_mul_scalar", "MulBackward0", "0-")),
    "div": Operation("DivBackward0", "broadcast_div", ("_div_scalar", "DivBackward0", "0-")),
    "remainder": Operation(
        "RemainderBackward1", "_mxl_remainder", ("_mxl_remainder_scalar", "RemainderBackward0", "0")
    ),
    "pow": Operation(
        "PowBackward1", "broadcast_power", ("_power_scalar", "PowBackward0", "0"), ("_rpower_scalar", "PowBackward2")
    ),
}
for _name in ("add", "mul"):
    BINARY[_name].of_reflected = BINARY[_name].of_scalar

#: Python's names of the operators, where they are others.
_SYMBOLS = {"div": "truediv", "remainder": "mod"}
_INTO = {name: in_place(each) for name, each in BINARY.items()}
for _name, _operation in BINARY.items():
    _symbol = _SYMBOLS.get(_name, _name)
    method(f"__{_symbol}__", quick=True)(operator(_operation))
    method(f"__r{_symbol}__", quick=True)(reflected(_operation))
    method(f"__i{_symbol}__", quick=True)(_INTO[_name])

_OTHER_NAMES = {"mul": ("multiply",), "sub": ("subtract",)}
_INTO_DOCUMENT = "As {}, into the tensor itself, which is returned."
for _name in ("mul", "remainder"):
    _names = [f"{each}_" for each in (_name, *_OTHER_NAMES.get(_name, ()))]
    method(*_names, document=_INTO_DOCUMENT.format(_name), quick=True)(named(f"{_name}_", _INTO[_name]))


_pow_into = named("pow_", _INTO["pow"])


@method(quick=True)
def pow_(self: Tensor, exponent: Any) -> Tensor:
    """As pow, into the tensor itself, which is returned."""
    return _pow_into(self, exponent)


@method("__rtruediv__", quick=True)
def _reciprocal_of(self: Tensor, other: Any) -> Any:
    """other / self: PyTorch records a number over a tensor as the reciprocal, times the number."""
    return NotImplemented if not isinstance(other, NUMBERS) else self.reciprocal() * other


# ---- functions ----


@both("mul", "multiply", quick=True)
def mul(input: Any, other: Any) -> Tensor:
    """input * other."""
    require_operands("mul", input, other)
    return input * other


@both(quick=True)
def remainder(input: Any, other: Any) -> Tensor:
    """What division by `other` leaves, with the sign of `other`.

    Raises: RuntimeError: integers, by 0.
    """
    require_operands("remainder", input, other)
    return input % other


@both(quick=True)
def pow(input: Any, exponent: Any) -> Tensor:
    """`input` to the power of `exponent`."""
    require_operands("pow", input, exponent)
    return input**exponent


#: rounding_mode -> the division. A number takes part in it as a tensor.
_ROUNDED = {mode: Operation("DivBackward2", f"_mxl_{mode}_divide") for mode in ("floor", "trunc")}


@both("div", "divide", "true_divide", quick=True)
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """input / other, as floats; rounding_mode "floor" or "trunc": rounded so.

    Raises: RuntimeError: another rounding mode.
    """
    require_operands("div", input, other)
    if rounding_mode is None:
        return input / other
    if rounding_mode not in _ROUNDED:
        raise RuntimeError(f"div: rounding_mode is None, 'trunc' or 'floor', got {rounding_mode!r}")
    return _ROUNDED[rounding_mode].run(input, other)


@method("div_", "divide_", "true_divide_", quick=True)
def div_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """As div, into the tensor itself, which is returned."""
    require_operands("div_", self, other)
    if rounding_mode is None:
        return self.__itruediv__(other)
    made = div(self, other, rounding_mode=rounding_mode)
    require_cast(made._dtype, self._dtype)
    return copy_(self, made)


# ---- with a factor of the second operand: one node of the graph, as in PyTorch ----


def _require_no_truths(*operands: Any) -> None:
    """Raises: RuntimeError: an operand of a difference is a truth value."""
    if any(each._dtype.kind == BOOL if isinstance(each, Tensor) else each.__class__ is bool for each in operands):
        raise RuntimeError("sub: truth values have no difference; `^` says where they differ, `~` inverts a mask")


def _check_alpha(operand: Any, alpha: Any) -> None:
    if isinstance(alpha, bool) and operand._dtype.kind != BOOL:
        raise RuntimeError(f"alpha: a truth value is for dtype Bool, got {operand._dtype.word}")
    if isinstance(alpha, float) and not operand._dtype.is_floating_point:
        raise RuntimeError(f"alpha: a number with a fraction is for floating dtypes, got {operand._dtype.word}")
    require_fits(alpha, operand._dtype)


def _combined(input: Any, other: Any, sign: int, alpha: Any) -> Tensor:
    """input + sign * alpha * other."""
    kind = common_dtype(input, other)
    first, second = as_tensor_of(input, kind), as_tensor_of(other, kind)
    if sign < 0:
        _require_no_truths(input, other)
    _check_alpha(first, alpha)
    if kind.kind == BOOL:
        return first + second if alpha else first.clone()
    return run(_scaled_sums[sign], [first, second], float(alpha), kind=kind)


_scaled_sums = {
    sign: prepare(label, "_mxl_add_scaled", "value", subtract=sign < 0)
    for sign, label in ((1, "AddBackward0"), (-1, "SubBackward0"))
}


def _scaled(name: str, sign: int) -> Callable:
    """add or sub with `alpha`, as a function and in place."""
    symbol = "+" if sign > 0 else "-"
    names = (name, *_OTHER_NAMES.get(name, ()))
    plain, into = (plus if sign > 0 else minus), named(f"{name}_", _INTO[name])

    factor = values(True, alpha=1.0 if sign > 0 else float)
    calls = {"two": _scaled_sums[sign], "values": factor, "again": True, **EXACT}

    @both(*names, document=f"input {symbol} alpha * other.", quick=True, calls=calls)
    def function(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
        require_operands(name, input, other)
        if alpha.__class__ is int and alpha == 1:
            return plain(input, other)
        return _combined(input, other, sign, alpha)

    @method(
        *(f"{each}_" for each in names),
        document=_INTO_DOCUMENT.format(name),
        quick=True,
        calls={**calls, "into": True, "values": values(True, alpha=float)},
    )
    def in_place(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        if not isinstance(other, Tensor) or (alpha.__class__ is int and alpha == 1):
            return into(self, other if alpha == 1 else other * alpha)
        if sign < 0:
            _require_no_truths(self, other)
        _check_alpha(self, alpha)
        kind = common_dtype(self, other)
        if kind.kind == BOOL:
            return into(self, other & bool(alpha))
        require_cast(kind, self._dtype)
        require_into(self, other)
        return run_into(_scaled_sums[sign], self, [self, cast(other, self._dtype)], float(alpha))

    return function


add, sub = _scaled("add", 1), _scaled("sub", -1)


@function("rsub")
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """other - alpha * input."""
    return sub(other, input, alpha=alpha)
