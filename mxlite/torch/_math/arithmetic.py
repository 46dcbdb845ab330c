"""Python's operators of tensors, and the functions they are: add, sub, mul, div, remainder, pow.

What happens between Python's `+` and the library is one foreign call and one object where dtypes agree; `slow` is all
else: promotion, numbers with more digits than a double, operands that are none, and errors of PyTorch's classes.
"""

from __future__ import annotations

from functools import partial
from operator import add as plus
from operator import sub as minus
from typing import Any, Callable

import numpy as np

from mxlite._lib import hot
from mxlite.torch._basic import wrapped
from mxlite.torch._broadcast import operands_error, require_broadcast, require_into
from mxlite.torch._calls import adopt, both, function, last_error, method, new, prepare
from mxlite.torch._convert import as_tensor_of, cast, common_dtype, require_cast
from mxlite.torch._dtypes import BOOL, FLOATING, INTEGER, bool_, dtype, from_kind, get_default_dtype, uint8
from mxlite.torch._edits import copy_, edit
from mxlite.torch._errors import none_of, wrong_argument
from mxlite.torch._nodes import formula
from mxlite.torch._tensor import Tensor, require_fits

NUMBERS = (int, float, np.number, np.bool_)
OPERANDS = (Tensor, *NUMBERS)
_EXACT = 1 << 53
#: Beside integer tensors, kernels convert a number to C's int first; integers beyond it are wrapped before.
_WRAPS = 1 << 31


def is_large(number: Any) -> bool:
    """Whether a number is an integer with more digits than a double has."""
    return number.__class__ is int and not -_EXACT < number < _EXACT


def operation_error(a: Any, b: Any) -> BaseException:
    """The library's last error, or PyTorch's for operands that cannot be broadcast."""
    problem = last_error()
    return operands_error(a, b) or problem


def run_pair(call: int, a: Any, b: Any, kind: dtype) -> Tensor:
    """Runs a prepared call on two tensors, or numbers, as tensors of a dtype, which is the result's."""
    first, second = as_tensor_of(a, kind), as_tensor_of(b, kind)
    handle = hot.call2(call, first._h, second._h)
    if not handle:
        raise operation_error(a, b)
    return adopt(handle, kind)


class Binary:
    """An operation of two operands, as the library's operators for two tensors, tensor and number, number and tensor.

    Args:
        name: PyTorch's name of the function.
        arrays, scalar: The operators of two tensors, and of a tensor and a number.
        reflected: The operator of a number and a tensor, and the label of its nodes; None: as `scalar`.
        operator: Python's name of the operator, where it is another one.
        overloads: Whether PyTorch has a function of its own for a number. Else a number has an empty slot of the node.
        floats: Whether integers become floats first (true division).
        integers: The operator of two tensors of integers, which computes with all their digits; None: `arrays`.
        truths: The operator of two tensors of bool; None: as of integers.
        check: Of the common dtype and the operands: raises what the operation does not take.
    """

    def __init__(
        self,
        name: str,
        arrays: str,
        scalar: str,
        reflected: tuple[str, str] | None = None,
        *,
        operator: str | None = None,
        overloads: bool = False,
        floats: bool = False,
        integers: str | None = None,
        truths: str | None = None,
        check: Callable[[dtype, Any, Any], None] | None = None,
    ) -> None:
        self.name, self.operator = name, operator or name
        label = f"{name.title()}Backward"
        self.of_arrays = prepare(f"{label}{int(overloads)}", arrays)
        self.of_scalar = prepare(f"{label}0", scalar, "scalar", slots="0" if overloads else "0-")
        self.of_reflected = prepare(reflected[1], reflected[0], "scalar", slots="0") if reflected else self.of_scalar
        self.floats, self.check = floats, check
        self.of_integers = None if integers is None else prepare(None, integers)
        self.of_truths = None if truths is None else prepare(None, truths)
        #: The least kind of dtype that the operator of two tensors takes.
        self.lowest = FLOATING if floats or integers else INTEGER

    def kind_of(self, a: Any, b: Any) -> dtype:
        """The dtype of the result. Raises what `check` does."""
        kind = common_dtype(a, b)
        if self.floats and not kind.is_floating_point:
            kind = get_default_dtype()
        if self.check is not None:
            self.check(kind, a, b)
        return kind

    def slow(self, a: Any, b: Any) -> Any:
        """The operation of any two operands, at least one of them a tensor."""
        return self._of_kind(self.kind_of(a, b), a, b)

    def _of_kind(self, kind: dtype, a: Any, b: Any) -> Tensor:
        if kind.kind == BOOL and self.of_truths:
            first, second = (cast(as_tensor_of(each, bool_), uint8) for each in (a, b))
            return cast(run_pair(self.of_truths, first, second, uint8), bool_)
        if not kind.is_floating_point and self.of_integers:
            return run_pair(self.of_integers, a, b, kind)
        if not isinstance(b, Tensor) and not is_large(b):
            first = cast(a, kind)
            return adopt(hot.call1_float(self.of_scalar, first._h, float(wrapped(b, kind))), kind)
        if not isinstance(a, Tensor) and not is_large(a):
            second = cast(b, kind)
            return adopt(hot.call1_float(self.of_reflected, second._h, float(wrapped(a, kind))), kind)
        return run_pair(self.of_arrays, a, b, kind)

    def slow_into(self, a: Tensor, b: Any) -> Tensor:
        """The operation into its first operand."""
        kind = self.kind_of(a, b)
        if (kind.kind == BOOL and self.of_truths) or (not kind.is_floating_point and self.of_integers):
            require_cast(kind, a._dtype)
            return copy_(a, self._of_kind(kind, a, b))
        require_cast(kind, a._dtype)
        if not isinstance(b, Tensor) and not is_large(b):
            status = hot.into1_float(self.of_scalar, a._h, float(wrapped(b, a._dtype)), a._h)
        else:
            operand = as_tensor_of(b, a._dtype)
            require_into(a, operand)
            status = hot.into2(self.of_arrays, a._h, operand._h, a._h)
        if status != 0:
            raise last_error()
        return a


# ---- what operations do not take ----


def require_no_truths(kind: dtype, a: Any, b: Any) -> None:
    """Raises: RuntimeError: an operand of a difference is a truth value."""
    truths = [each._dtype.kind == BOOL if isinstance(each, Tensor) else each.__class__ is bool for each in (a, b)]
    if all(truths):
        raise RuntimeError("sub: truth values have no difference; `^` or `logical_xor()` says where they differ")
    if any(truths):
        raise RuntimeError("sub: truth values have no difference; `~` or `logical_not()` inverts a mask")


def _require_power(kind: dtype, a: Any, b: Any) -> None:
    if kind.kind == BOOL:
        raise none_of("pow", kind)
    if not kind.is_floating_point and not isinstance(b, Tensor) and b < 0:
        raise RuntimeError(f"pow: the exponent of integers is 0 or more, got {b}")
    if kind.kind == INTEGER and not isinstance(b, Tensor):
        require_fits(b, kind)


def check_divisor(name: str, kind: dtype, number: Any, divisor: Any) -> None:
    """Raises: NotImplementedError: a division of bool that rounds; RuntimeError: one of integers, by 0."""
    if kind.kind == BOOL:
        raise none_of(name, kind)
    if kind.is_floating_point or (isinstance(number, Tensor) and number.numel() == 0):
        return
    if bool((as_tensor_of(divisor, kind) == 0).any()):
        raise RuntimeError(f"{name}: integers are divided by 0")


def require_operands(name: str, input: Any, other: Any) -> None:
    """Raises TypeError unless both are tensors or numbers, and one a tensor."""
    for position, (argument, value) in enumerate((("input", input), ("other", other)), 1):
        if not isinstance(value, OPERANDS):
            raise wrong_argument(name, argument, position, "Tensor", value)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        raise wrong_argument(name, "input", 1, "Tensor", input)


# ---- Python's operators ----


def refused(a: Any, b: Any) -> None:
    """After a call that the library has refused."""
    raise operation_error(a, b)


def _operator(binary: Binary) -> Callable:
    """`self symbol other`."""
    call2, call1_float, cls = hot.call2, hot.call1_float, Tensor
    of_arrays, of_scalar, slow, lowest = binary.of_arrays, binary.of_scalar, binary.slow, binary.lowest

    def operator(self: Tensor, other: Any) -> Any:
        kind = self._dtype
        given = other.__class__
        if given is float:
            if kind.kind != FLOATING:
                return slow(self, other)
            handle = call1_float(of_scalar, self._h, other)
        elif given is int:
            if kind.kind < lowest or not -_WRAPS <= other < _WRAPS:
                return slow(self, other)
            handle = call1_float(of_scalar, self._h, other)
        elif given is cls and other._dtype is kind and kind.kind >= lowest:
            handle = call2(of_arrays, self._h, other._h)
        elif isinstance(other, OPERANDS):
            return slow(self, other)
        else:
            return NotImplemented
        if handle:
            tensor = new(cls)
            tensor._h = handle
            tensor._dtype = kind
            return tensor
        raise operation_error(self, other)

    return hot.direct(operator, refused, Tensor, two=of_arrays, number=of_scalar, **from_kind(lowest))


def _reflected(binary: Binary) -> Callable:
    """`other symbol self`, of a number."""
    call1_float, of_reflected, slow = hot.call1_float, binary.of_reflected, binary.slow

    def operator(self: Tensor, other: Any) -> Any:
        kind = self._dtype
        if other.__class__ is float and kind.kind == FLOATING:
            return adopt(call1_float(of_reflected, self._h, other), kind)
        return slow(other, self) if isinstance(other, NUMBERS) else NotImplemented

    return hot.direct(operator, refused, Tensor, number=of_reflected, **from_kind(FLOATING))


def _in_place(binary: Binary) -> Callable:
    """`self symbol= other`: the same tensor with new values."""
    into2, into1_float = hot.into2, hot.into1_float
    of_arrays, of_scalar = binary.of_arrays, binary.of_scalar

    def operator(self: Tensor, other: Any) -> Any:
        kind = self._dtype
        if kind.kind == FLOATING and other.__class__ in (float, int):
            if into1_float(of_scalar, self._h, other, self._h) != 0:
                raise last_error()
            return self
        if kind.kind == FLOATING and other.__class__ is Tensor and other._dtype is kind:
            if into2(of_arrays, self._h, other._h, self._h) == 0:
                return self
        # `slow_into` knows what PyTorch says of shapes, too.
        return binary.slow_into(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def failed(self: Tensor, other: Any) -> Any:
        if other.__class__ is Tensor:
            return binary.slow_into(self, other)
        raise last_error()

    calls = {"two": of_arrays, "number": of_scalar, "into": True}
    return hot.direct(operator, failed, Tensor, **calls, **from_kind(FLOATING))


def _named(name: str, operator: Callable) -> Callable:
    """The same for a method that has a name."""

    def function(self: Tensor, other: Any) -> Tensor:
        done = operator(self, other)
        if done is NotImplemented:
            raise wrong_argument(name, "other", 1, "Tensor", other)
        return done

    return function


BINARY = (
    Binary("add", "broadcast_add", "_plus_scalar", truths="broadcast_logical_or"),
    Binary("sub", "broadcast_sub", "_minus_scalar", ("_rminus_scalar", "RsubBackward1"), check=require_no_truths),
    Binary("mul", "broadcast_mul", "_mul_scalar", truths="broadcast_logical_and"),
    Binary("div", "broadcast_div", "_div_scalar", operator="truediv", floats=True),
    Binary(
        "remainder",
        "_mxl_remainder",
        "_mxl_remainder_scalar",
        operator="mod",
        overloads=True,
        integers="_mxl_remainder",
        check=partial(check_divisor, "remainder"),
    ),
    Binary(
        "pow",
        "broadcast_power",
        "_power_scalar",
        ("_rpower_scalar", "PowBackward2"),
        overloads=True,
        integers="_mxl_integer_power",
        check=_require_power,
    ),
)

_INTO = {each.name: _in_place(each) for each in BINARY}
for _binary in BINARY:
    method(f"__{_binary.operator}__", quick=True)(_operator(_binary))
    method(f"__r{_binary.operator}__", quick=True)(_reflected(_binary))
    method(f"__i{_binary.operator}__", quick=True)(_INTO[_binary.name])

_OTHER_NAMES = {"mul": ("multiply",), "sub": ("subtract",)}
_INTO_DOCUMENT = "As {}, into the tensor itself, which is returned."
for _name in ("mul", "remainder"):
    _names = [f"{each}_" for each in (_name, *_OTHER_NAMES.get(_name, ()))]
    method(*_names, document=_INTO_DOCUMENT.format(_name), quick=True)(_named(f"{_name}_", _INTO[_name]))


_pow_into = _named("pow_", _INTO["pow"])


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
def pow(input: Any, exponent: Any) -> Tensor:  # noqa: A001 - PyTorch's name
    """`input` to the power of `exponent`."""
    require_operands("pow", input, exponent)
    return input**exponent


def rounded_quotient(operator: str, label: str | None, name: str, input: Any, other: Any) -> Tensor:
    """The result of one of the library's divisions of two arrays that round, of tensors or numbers."""
    require_broadcast(input, other)
    kind = common_dtype(input, other)
    check_divisor(name, kind, input, other)
    return run_pair(prepare(label, operator), input, other, kind)


@both("div", "divide", "true_divide", quick=True)
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """input / other, as floats; rounding_mode "floor" or "trunc": rounded so.

    Raises: RuntimeError: another rounding mode.
    """
    require_operands("div", input, other)
    if rounding_mode is None:
        return input / other
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(f"div: rounding_mode is None, 'trunc' or 'floor', got {rounding_mode!r}")
    return rounded_quotient(f"_mxl_{rounding_mode}_divide", "DivBackward2", f"div_{rounding_mode}", input, other)


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


def _check_alpha(operand: Any, alpha: Any) -> None:
    if isinstance(alpha, bool) and operand._dtype.kind != BOOL:
        raise RuntimeError(f"alpha: a truth value is for dtype Bool, got {operand._dtype.word}")
    if isinstance(alpha, float) and not operand._dtype.is_floating_point:
        raise RuntimeError(f"alpha: a number with a fraction is for floating dtypes, got {operand._dtype.word}")
    require_fits(alpha, operand._dtype)


def _combined(label: str, input: Any, other: Any, sign: int, alpha: Any) -> Tensor:
    """input + sign * alpha * other."""
    kind = common_dtype(input, other)
    first, second = as_tensor_of(input, kind), as_tensor_of(other, kind)
    if sign < 0:
        require_no_truths(kind, input, other)
    _check_alpha(first, alpha)
    if kind.kind == BOOL:
        return first + second if alpha else first.clone()
    by = sign * alpha
    return formula(label, [first, second], lambda x, y: x + y * by, lambda grad: [grad, grad * by])


def _scaled(name: str, sign: int) -> Callable:
    """add or sub with `alpha`, as a function and in place."""
    label, symbol = f"{name.title()}Backward0", "+" if sign > 0 else "-"
    names = (name, *_OTHER_NAMES.get(name, ()))
    plain, into = (plus if sign > 0 else minus), _named(f"{name}_", _INTO[name])

    @both(*names, document=f"input {symbol} alpha * other.", quick=True)
    def function(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
        require_operands(name, input, other)
        if alpha.__class__ is int and alpha == 1:
            return plain(input, other)
        return _combined(label, input, other, sign, alpha)

    @method(*(f"{each}_" for each in names), document=_INTO_DOCUMENT.format(name), quick=True)
    def in_place(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        if not isinstance(other, Tensor) or (alpha.__class__ is int and alpha == 1):
            return into(self, other if alpha == 1 else other * alpha)
        if sign < 0:
            require_no_truths(self._dtype, self, other)
        _check_alpha(self, alpha)
        kind, by = common_dtype(self, other), sign * alpha
        if kind.kind == BOOL:
            return into(self, other & bool(alpha))
        return edit(label, [self, other], lambda x, y: x + cast(y, kind) * by, lambda grad: [grad, grad * by])

    return function


add, sub = _scaled("add", 1), _scaled("sub", -1)


@function("rsub")
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """other - alpha * input."""
    return sub(other, input, alpha=alpha)
