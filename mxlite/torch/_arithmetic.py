"""Python's operators of tensors, and the functions they are: add, sub, mul, div, pow, comparisons.

What happens between Python's `+` and the library is one foreign call and one object where dtypes agree; `_slow` is all
else: promotion, numbers with more digits than a double, operands that are none, and PyTorch's words for what is wrong.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from mxlite._lib import hot
from mxlite.torch._calls import adopt, both, functions, last_error, method, methods, new, prepare
from mxlite.torch._convert import as_tensor_of, cast, common_dtype
from mxlite.torch._dtypes import BOOL, FLOATING, INTEGER, can_cast, dtype, get_default_dtype
from mxlite.torch._dtypes import bool_ as _bool
from mxlite.torch._dtypes import uint8 as _uint8
from mxlite.torch._tensor import Tensor

_NUMBERS = (int, float, np.number, np.bool_)
_EXACT = 1 << 53


def shape_error(first: tuple, second: tuple) -> RuntimeError | None:
    """PyTorch's error for shapes that cannot be broadcast; None where they can."""
    for back in range(1, min(len(first), len(second)) + 1):
        a, b = first[-back], second[-back]
        if a != b and 1 not in (a, b):
            dim = max(len(first), len(second)) - back
            return RuntimeError(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {dim}"
            )
    return None


def require_broadcast(a: Any, b: Any) -> None:
    """Raises: RuntimeError: two tensors, or numbers, that cannot be broadcast."""
    problem = shape_error(getattr(a, "shape", ()), getattr(b, "shape", ()))
    if problem is not None:
        raise problem


def require_into(target: Tensor, operand: Any) -> None:
    """Raises: RuntimeError: what comes of both, broadcast, has not the target's shape."""
    require_broadcast(target, operand)
    made = functions["broadcast_shapes"](target.shape, getattr(operand, "shape", ()))
    if made != target.shape:
        raise RuntimeError(f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(made)}")


class Binary:
    """An operation of two operands, as the library's operators for two tensors, tensor and number, number and tensor.

    Args:
        name: PyTorch's name of the function.
        arrays: The operator of two tensors, and the label of its nodes.
        scalar: The same for a tensor and a number; with the slots of the node.
        reflected: The same for a number and a tensor; None: as `scalar`.
        floats: Whether integers become floats first (true division).
    """

    def __init__(
        self,
        name: str,
        arrays: tuple[str, str],
        scalar: tuple[str, str, str],
        reflected: tuple[str, str, str] | None = None,
        floats: bool = False,
    ) -> None:
        self.name = name
        self.of_arrays = prepare(arrays[1], arrays[0])
        # A number is a tensor without axes to PyTorch, so an operation of two tensors takes it as one.
        self.of_scalar = prepare(scalar[1], scalar[0], "scalar", slots=scalar[2])
        self.of_reflected = (
            self.of_scalar if reflected is None else prepare(reflected[1], reflected[0], "scalar", slots=reflected[2])
        )
        self.floats = floats

    def slow(self, a: Any, b: Any) -> Any:
        """The operation of any two operands, at least one of them a tensor."""
        kind = common_dtype(a, b)
        if self.floats and not kind.is_floating_point:
            kind = get_default_dtype()
        if not isinstance(b, Tensor) and not _is_large(b):
            first = cast(a, kind)
            return self.adopt(hot.call1_float(self.of_scalar, first._h, float(b)), kind, a, b)
        if not isinstance(a, Tensor) and not _is_large(a):
            second = cast(b, kind)
            return self.adopt(hot.call1_float(self.of_reflected, second._h, float(a)), kind, a, b)
        first, second = as_tensor_of(a, kind), as_tensor_of(b, kind)
        return self.adopt(hot.call2(self.of_arrays, first._h, second._h), kind, a, b)

    def adopt(self, handle: int, kind: dtype, a: Any, b: Any) -> Tensor:
        """The result, or PyTorch's error for operands that do not fit."""
        if not handle:
            problem = last_error()
            raise shape_error(getattr(a, "shape", ()), getattr(b, "shape", ())) or problem
        return adopt(handle, kind)

    def slow_into(self, a: Tensor, b: Any) -> Tensor:
        """The operation into its first operand."""
        kind = common_dtype(a, b)
        if self.floats and not kind.is_floating_point:
            kind = get_default_dtype()
        require_cast(kind, a._dtype)
        if not isinstance(b, Tensor) and not _is_large(b):
            status = hot.into1_float(self.of_scalar, a._h, float(b), a._h)
        else:
            operand = as_tensor_of(b, a._dtype)
            require_into(a, operand)
            status = hot.into2(self.of_arrays, a._h, operand._h, a._h)
        if status != 0:
            raise last_error()
        return a


def require_cast(kind: dtype, wanted: dtype) -> None:
    """Raises: RuntimeError: a result of one dtype may not be written into a tensor of the other."""
    if not can_cast(kind, wanted):
        raise RuntimeError(f"result type {kind.word} can't be cast to the desired output type {wanted.word}")


class _Logical(Binary):
    """Sums and products, which for two truth values are `or` and `and`."""

    def slow(self, a: Any, b: Any) -> Any:
        if common_dtype(a, b).kind == BOOL:
            joined = functions["logical_or" if self.name == "add" else "logical_and"]
            return joined(as_tensor_of(a, _bool), as_tensor_of(b, _bool))
        return Binary.slow(self, a, b)

    def slow_into(self, a: Tensor, b: Any) -> Tensor:
        if common_dtype(a, b).kind == BOOL:
            return a.copy_(self.slow(a, b))
        return Binary.slow_into(self, a, b)


class _Difference(Binary):
    def slow(self, a: Any, b: Any) -> Any:
        self.require_numbers(a, b)
        return Binary.slow(self, a, b)

    def slow_into(self, a: Tensor, b: Any) -> Tensor:
        self.require_numbers(a, b)
        return Binary.slow_into(self, a, b)

    def require_numbers(self, a: Any, b: Any) -> None:
        """Raises RuntimeError where an operand is a truth value."""
        truths = [each._dtype.kind == BOOL if isinstance(each, Tensor) else each.__class__ is bool for each in (a, b)]
        if all(truths):
            raise RuntimeError(
                "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
                "operator instead."
            )
        if any(truths):
            raise RuntimeError(
                "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a "
                "mask, use the `~` or `logical_not()` operator instead."
            )


class _Exact(Binary):
    """An operation that has an operator of its own for integers, which computes with all their digits.

    Args:
        integers: That operator, of two tensors.
    """

    def __init__(self, *given: Any, integers: str) -> None:
        Binary.__init__(self, *given)
        self.of_integers = prepare(None, integers)

    def slow(self, a: Any, b: Any) -> Any:
        kind = common_dtype(a, b)
        if kind.is_floating_point:
            return Binary.slow(self, a, b)
        self.check_integers(kind, a, b)
        first, second = as_tensor_of(a, kind), as_tensor_of(b, kind)
        return self.adopt(hot.call2(self.of_integers, first._h, second._h), kind, a, b)

    def slow_into(self, a: Tensor, b: Any) -> Tensor:
        kind = common_dtype(a, b)
        if kind.is_floating_point:
            return Binary.slow_into(self, a, b)
        require_cast(kind, a._dtype)
        return a.copy_(self.slow(a, b))

    def check_integers(self, kind: dtype, a: Any, b: Any) -> None:
        """Raises what the operation does not take."""


class _Power(_Exact):
    def check_integers(self, kind: dtype, a: Any, b: Any) -> None:
        if kind.kind == BOOL:
            raise NotImplementedError("\"pow\" not implemented for 'Bool'")
        if not isinstance(b, Tensor) and b < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")


class _Remainder(_Exact):
    def check_integers(self, kind: dtype, a: Any, b: Any) -> None:
        check_divisor("remainder", kind, a, b)


def check_divisor(name: str, kind: dtype, number: Any, divisor: Any) -> None:
    """Raises: NotImplementedError: a division of bool that rounds; RuntimeError: one of integers, by 0."""
    if kind.kind == BOOL:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
    if kind.is_floating_point or (isinstance(number, Tensor) and number.numel() == 0):
        return
    if bool((as_tensor_of(divisor, kind) == 0).any()):
        raise RuntimeError("ZeroDivisionError")


def _is_large(number: Any) -> bool:
    return number.__class__ is int and not -_EXACT < number < _EXACT


def _operator(binary: Binary, symbol: str) -> Callable:
    """`self symbol other`."""
    call2, call1_float, cls = hot.call2, hot.call1_float, Tensor
    of_arrays, of_scalar, slow = binary.of_arrays, binary.of_scalar, binary.slow
    lowest = FLOATING if binary.floats or isinstance(binary, _Exact) else INTEGER

    def operator(self: Tensor, other: Any) -> Any:
        kind = self._dtype
        given = other.__class__
        if given is float:
            if kind.kind != FLOATING:
                return slow(self, other)
            handle = call1_float(of_scalar, self._h, other)
        elif given is int:
            if kind.kind < lowest or not -_EXACT < other < _EXACT:
                return slow(self, other)
            handle = call1_float(of_scalar, self._h, other)
        elif given is cls and other._dtype is kind and kind.kind >= lowest:
            handle = call2(of_arrays, self._h, other._h)
        elif isinstance(other, (Tensor, *_NUMBERS)):
            return slow(self, other)
        else:
            return NotImplemented
        if handle:
            tensor = new(cls)
            tensor._h = handle
            tensor._dtype = kind
            return tensor
        raise _error(self, other)

    return operator


def _error(a: Any, b: Any) -> BaseException:
    problem = last_error()
    return shape_error(getattr(a, "shape", ()), getattr(b, "shape", ())) or problem


def _reflected(binary: Binary) -> Callable:
    """`other symbol self`, of a number."""
    call1_float, of_reflected, slow = hot.call1_float, binary.of_reflected, binary.slow

    def operator(self: Tensor, other: Any) -> Any:
        kind = self._dtype
        if other.__class__ is float and kind.kind == FLOATING:
            return adopt(call1_float(of_reflected, self._h, other), kind)
        return slow(other, self) if isinstance(other, _NUMBERS) else NotImplemented

    return operator


def _in_place(binary: Binary) -> Callable:
    """`self symbol= other`: the same tensor with new values."""
    into2, into1_float = hot.into2, hot.into1_float
    of_arrays, of_scalar = binary.of_arrays, binary.of_scalar

    def operator(self: Tensor, other: Any) -> Any:
        kind = self._dtype
        if kind.kind == FLOATING:
            if other.__class__ in (float, int):
                status = into1_float(of_scalar, self._h, other, self._h)
            elif other.__class__ is Tensor and other._dtype is kind:
                if into2(of_arrays, self._h, other._h, self._h) == 0:
                    return self
                return binary.slow_into(self, other)  # which knows what PyTorch says of shapes
            elif isinstance(other, (Tensor, *_NUMBERS)):
                return binary.slow_into(self, other)
            else:
                return NotImplemented
            if status != 0:
                raise last_error()
            return self
        return binary.slow_into(self, other) if isinstance(other, (Tensor, *_NUMBERS)) else NotImplemented

    return operator


add_ = _Logical("add", ("broadcast_add", "AddBackward0"), ("_plus_scalar", "AddBackward0", "0-"))
sub_ = _Difference(
    "sub",
    ("broadcast_sub", "SubBackward0"),
    ("_minus_scalar", "SubBackward0", "0-"),
    ("_rminus_scalar", "RsubBackward1", "0"),
)
mul_ = _Logical("mul", ("broadcast_mul", "MulBackward0"), ("_mul_scalar", "MulBackward0", "0-"))
div_ = Binary(
    "div",
    ("broadcast_div", "DivBackward0"),
    ("_div_scalar", "DivBackward0", "0-"),
    floats=True,
)
remainder_ = _Remainder(
    "remainder",
    ("_mxl_remainder", "RemainderBackward1"),
    ("_mxl_remainder_scalar", "RemainderBackward0", "0"),
    integers="_mxl_remainder",
)
pow_ = _Power(
    "pow",
    ("broadcast_power", "PowBackward1"),
    ("_power_scalar", "PowBackward0", "0"),
    ("_rpower_scalar", "PowBackward2", "0"),
    integers="_mxl_integer_power",
)


def require_operands(name: str, input: Any, other: Any) -> None:
    """Raises TypeError unless both are tensors or numbers, and one a tensor."""
    for position, (argument, value) in enumerate((("input", input), ("other", other)), 1):
        if not isinstance(value, (Tensor, *_NUMBERS)):
            raise TypeError(
                f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {type(value).__name__}"
            )
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")


@both("mul", "multiply")
def mul(input: Any, other: Any) -> Tensor:
    """input * other."""
    require_operands("mul", input, other)
    return input * other


def rounded_quotient(operator: str, label: str | None, name: str, input: Any, other: Any) -> Tensor:
    """The result of one of the library's divisions of two arrays that round, of tensors or numbers."""
    require_broadcast(input, other)
    kind = common_dtype(input, other)
    check_divisor(name, kind, input, other)
    first, second = as_tensor_of(input, kind), as_tensor_of(other, kind)
    handle = hot.call2(prepare(label, operator), first._h, second._h)
    if not handle:
        raise _error(input, other)
    return adopt(handle, kind)


@both("remainder")
def remainder(input: Any, other: Any) -> Tensor:
    """What division by `other` leaves, with the sign of `other`.

    Raises: RuntimeError: integers, by 0.
    """
    require_operands("remainder", input, other)
    return input % other


@both("pow")
def pow(input: Any, exponent: Any) -> Tensor:  # noqa: A001 - PyTorch's name
    """`input` to the power of `exponent`."""
    require_operands("pow", input, exponent)
    return input**exponent


def _named_in_place(name: str, operator: Callable) -> None:
    def function(self: Tensor, other: Any) -> Tensor:
        done = operator(self, other)
        if done is NotImplemented:
            raise TypeError(f"{name}(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
        return done

    function.__name__ = name
    function.__doc__ = f"As {name[:-1]}, into the tensor itself, which is returned."
    method(name)(function)


for _binary, _symbol, _name in (
    (add_, "+", "add"),
    (sub_, "-", "sub"),
    (mul_, "*", "mul"),
    (div_, "/", "truediv"),
    (remainder_, "%", "mod"),
    (pow_, "**", "pow"),
):
    methods[f"__{_name}__"] = _operator(_binary, _symbol)
    methods[f"__r{_name}__"] = _reflected(_binary)
    methods[f"__i{_name}__"] = _in_place(_binary)
    if _name not in ("add", "sub", "truediv"):  # those have further arguments
        _named_in_place(_binary.name + "_", methods[f"__i{_name}__"])
methods["multiply_"] = methods["mul_"]


def _reciprocal_of(self: Tensor, other: Any) -> Any:
    # PyTorch records a number over a tensor as the reciprocal, times the number.
    return NotImplemented if not isinstance(other, _NUMBERS) else functions["reciprocal"](self) * other


methods["__rtruediv__"] = _reciprocal_of


# ---- comparisons, which have truth values ----


def _comparison(name: str, symbol: str, aliases: tuple[str, ...], arrays: str, scalar: str) -> None:
    of_arrays, of_scalar, to_bool = (
        prepare(None, arrays),
        prepare(None, scalar, "scalar"),
        prepare(None, "Cast", dtype="bool"),
    )

    def compare(input: Tensor, other: Any) -> Tensor:
        kind = common_dtype(input, other)
        if kind.kind == BOOL:
            kind = _uint8
        if isinstance(other, Tensor) or _is_large(other):
            first, second = as_tensor_of(input, kind), as_tensor_of(other, kind)
            handle = hot.call2(of_arrays, first._h, second._h)
        else:
            first = cast(input, kind)
            handle = hot.call1_float(of_scalar, first._h, float(other))
        if not handle:
            raise _error(input, other)
        numbers = adopt(handle, kind)
        return adopt(hot.call1(to_bool, numbers._h), _bool)

    def operator(self: Tensor, other: Any) -> Any:
        return compare(self, other) if isinstance(other, (Tensor, *_NUMBERS)) else NotImplemented

    def function(input: Tensor, other: Any) -> Tensor:
        require_operands(name, input, other)
        return compare(input, other)

    function.__name__ = name
    function.__doc__ = f"Where input {symbol} other: a tensor of bool."
    methods[f"__{name}__"] = operator
    both(name, *aliases)(function)


_comparison("eq", "==", (), "broadcast_equal", "_equal_scalar")
_comparison("ne", "!=", ("not_equal",), "broadcast_not_equal", "_not_equal_scalar")
_comparison("lt", "<", ("less",), "broadcast_lesser", "_lesser_scalar")
_comparison("le", "<=", ("less_equal",), "broadcast_lesser_equal", "_lesser_equal_scalar")
_comparison("gt", ">", ("greater",), "broadcast_greater", "_greater_scalar")
_comparison("ge", ">=", ("greater_equal",), "broadcast_greater_equal", "_greater_equal_scalar")
