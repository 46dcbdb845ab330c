"""Functions of elements beyond the tables of _elementwise.py: clamp, maximum, fmod, lerp, softmax, logical ones, ..."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from mxlite._lib import hot
from mxlite.torch import _arithmetic
from mxlite.torch._calls import (
    adopt,
    both,
    function,
    functions,
    method,
    methods,
    prepare,
    require_tensor,
    run,
)
from mxlite.torch._convert import as_float, as_tensor_of, cast, common_dtype
from mxlite.torch._dtypes import BOOL, as_dtype, float64, get_default_dtype, int64
from mxlite.torch._dtypes import uint8 as _uint8
from mxlite.torch._elementwise import unary
from mxlite.torch._indexing import edit
from mxlite.torch._kinds import check_dim
from mxlite.torch._nodes import formula, record, unrecorded
from mxlite.torch._picking import choose
from mxlite.torch._tensor import Tensor, from_values, full_of, require_fits

# ---- of one tensor ----

_even = unary(
    "round", "_mxl_round_even", "RoundBackward0", False, "Rounded to the nearest integer, halves to even ones."
)


@both()
def round(input: Tensor, *, decimals: int = 0) -> Tensor:  # noqa: A001 - PyTorch's name
    """Rounded to `decimals` digits behind the point, halves to even ones."""
    return _even(input) if decimals == 0 else _round(formula, input, decimals)


def _round(made: Callable, input: Tensor, decimals: int) -> Tensor:
    _require_floats("round", input._dtype)
    scale = 10.0 ** abs(decimals)

    def compute(x: Tensor) -> Tensor:
        return _even(x * scale) / scale if decimals > 0 else _even(x / scale) * scale

    return made("RoundBackward1", [input], compute, lambda grad: [functions["zeros_like"](grad)])


_even_ = methods["round_"]


@method("round_")
def _round_(self: Tensor, *, decimals: int = 0) -> Tensor:
    """As round, into the tensor itself, which is returned."""
    return _even_(self) if decimals == 0 else _round(edit, self, decimals)


def composed(
    name: str, label: str, compute: Callable, slope: Callable, document: str, saves: str = "0", floats: bool = True
) -> Callable:
    """A function of each element from others; `slope` gives its derivative, of x, of the result (`saves` "r"), or of
    nothing (""). `floats`: whether integers become floats first; else they are an error."""

    def made(input: Tensor) -> Tensor:
        require_tensor(name, 1, "input", input)
        if not floats:
            _require_floats(name, input._dtype)
        input = as_float(input)
        return formula(label, [input], compute, lambda grad, *values: [grad * slope(*values)], saves=saves)

    def in_place(self: Tensor) -> Tensor:
        if not floats:
            _require_floats(name, self._dtype)
        _arithmetic.require_cast(as_float(self)._dtype, self._dtype)
        return edit(label, [self], compute, lambda grad, *values: [grad * slope(*values)], saves=saves)

    made.__name__ = name
    made.__doc__ = document
    in_place.__name__ = name + "_"
    in_place.__doc__ = f"As {name}, into the tensor itself, which is returned."
    methods[name + "_"] = in_place
    return both(name)(made)


_square = unary("square", "square", "PowBackward0", False, "The square of each element.")


_square_ = methods["square_"]


@method("square_")
def _square_in_place(self: Tensor) -> Tensor:
    """As square, into the tensor itself, which is returned."""
    if self._dtype.kind == BOOL:
        _arithmetic.require_cast(int64, self._dtype)
    return _square_(self)


@both()
def square(input: Tensor) -> Tensor:
    """The square of each element; of bool int64."""
    require_tensor("square", 1, "input", input)
    return _square(cast(input, int64) if input._dtype.kind == BOOL else input)


_LN2 = math.log(2.0)
composed("exp2", "Exp2Backward0", lambda x: 2.0**x, lambda y: y * _LN2, "2 to the power of each element.", "r")
composed(
    "erfc",
    "ErfcBackward0",
    lambda x: cast(1 - cast(x, float64).erf(), x._dtype),
    lambda x: (x * x).neg().exp() * (-2 / math.sqrt(math.pi)),
    "1 - erf of each element.",
)
composed(
    "erfinv",
    "ErfinvBackward0",
    lambda x: run(prepare(None, "erfinv"), [x], kind=x._dtype),
    lambda x: functions["square"](functions["erfinv"](x)).exp() * (math.sqrt(math.pi) / 2),
    "The inverse of erf.",
)
composed("frac", "FracBackward0", lambda x: x - x.trunc(), lambda: 1, "The fraction of each element.", "", floats=False)


def _digamma(x: Tensor) -> Tensor:
    """Infinite at 0, with the sign of -1 / x; no number at the negative integers, where it jumps."""
    found = run(prepare("DigammaBackward0", "_mxl_polygamma", "n"), [x], 0)
    poles = x.detach()
    jumps = (poles < 0) & (poles == poles.floor())
    found = choose(jumps, full_of((), math.nan, x._dtype), found)
    return choose(poles == 0, -1 / poles, found)


composed(
    "digamma",
    "DigammaBackward0",
    _digamma,
    lambda x: run(prepare(None, "_mxl_polygamma", "n"), [x], 1),
    "The derivative of lgamma.",
)
composed(
    "lgamma",
    "LgammaBackward0",
    lambda x: run(prepare(None, "gammaln"), [x], kind=x._dtype),
    lambda x: functions["digamma"](x),
    "The logarithm of the size of the gamma function.",
)
composed(
    "logit",
    "LogitBackward0",
    lambda x: (x / (1 - x)).log(),
    lambda x: choose((x < 0).logical_or(x > 1), full_of((), math.nan, x._dtype), 1 / (x * (1 - x))),
    "The inverse of sigmoid.",
)


@both("nan_to_num")
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """With numbers in the place of NaN and infinities: 0, and the dtype's largest and smallest."""
    if not input._dtype.is_floating_point:
        return input.clone()
    limits = np.finfo(input._dtype.np)
    top, bottom = (float(limits.max if posinf is None else posinf), float(limits.min if neginf is None else neginf))

    def compute(x: Tensor) -> Tensor:
        return from_values(np.nan_to_num(x._values(), nan=0.0 if nan is None else nan, posinf=top, neginf=bottom))

    return formula(
        "NanToNumBackward0",
        [input],
        compute,
        lambda grad, x: [grad * cast(functions["isfinite"](x), grad._dtype)],
        saves="0",
    )


# ---- of two tensors ----


def _of_two(name: str, label: str, operator: str, floats: bool = False) -> Callable:
    call = prepare(label, operator)

    def made(input: Tensor, other: Tensor) -> Tensor:
        for place, (argument, value) in enumerate((("input", input), ("other", other)), 1):
            require_tensor(name, place, argument, value)
        _arithmetic.require_broadcast(input, other)
        kind = common_dtype(input, other)
        if floats:
            _require_floats(name, kind)
        first, second = cast(input, kind), cast(other, kind)
        if kind.kind == BOOL:
            first, second = cast(first, _uint8), cast(second, _uint8)
        handle = hot.call2(call, first._h, second._h)
        if not handle:
            raise _arithmetic._error(input, other)
        found = adopt(handle, first._dtype)
        return cast(found, kind)

    made.__name__ = name
    made.__doc__ = f"{name} of the elements of two tensors, broadcast."
    return both(name)(made)


_of_two("maximum", "MaximumBackward0", "_mxl_maximum")
_of_two("minimum", "MinimumBackward0", "_mxl_minimum")
_of_two("hypot", "HypotBackward0", "broadcast_hypot", floats=True)


def _require_floats(name: str, kind: Any) -> None:
    if not kind.is_floating_point:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{kind.word}'")


def _not_differentiable(name: str, inputs: list, result: Tensor) -> Tensor:
    """The result, on a node that says in a backward that there is no derivative."""
    given = [each for each in inputs if isinstance(each, Tensor)]

    def rule(grads: list, wanted: list) -> list:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    record("torch::autograd::NotImplemented", given, [result], rule)
    return result


@both("floor_divide")
def floor_divide(input: Any, other: Any) -> Tensor:
    """input / other, rounded down.

    Raises: RuntimeError: integers, by 0.
    """
    with unrecorded():
        result = _arithmetic.rounded_quotient("_mxl_floor_divide", None, "div_floor", input, other)
    return _not_differentiable("floor_divide", [input, other], result)


def _remainder_of(self: Tensor, other: Any) -> Any:
    """other % self, of a number, which PyTorch has no derivative of."""
    if not isinstance(other, (int, float, np.number, np.bool_)):
        return NotImplemented
    with unrecorded():
        result = _arithmetic.rounded_quotient("_mxl_remainder", None, "remainder", other, self)
    return _not_differentiable("remainder", [self], result)


methods["__floordiv__"] = floor_divide
methods["__rfloordiv__"] = lambda self, other: floor_divide(other, self)
methods["__rmod__"] = _remainder_of


@both("fmod")
def fmod(input: Tensor, other: Any) -> Tensor:
    """What division by `other` leaves, with the sign of `input`.

    Raises: RuntimeError: integers, by 0.
    """
    require_tensor("fmod", 1, "input", input)
    if isinstance(other, Tensor):
        return _arithmetic.rounded_quotient("_mxl_fmod", "FmodBackward1", "fmod", input, other)
    with unrecorded():
        result = _arithmetic.rounded_quotient("_mxl_fmod", None, "fmod", input, other)
    return formula("FmodBackward0", [input], lambda x: result, lambda grad: [grad])


@both("atan2", "arctan2")
def atan2(input: Tensor, other: Tensor) -> Tensor:
    """The angle of the point (other, input)."""
    require_tensor("atan2", 1, "input", input)
    require_tensor("atan2", 2, "other", other)
    _arithmetic.require_broadcast(input, other)
    kind = common_dtype(input, other)
    kind = kind if kind.is_floating_point else get_default_dtype()
    y, x = cast(input, kind), cast(other, kind)

    def rule(grad: Tensor, y: Tensor, x: Tensor) -> list:
        square = x * x + y * y
        part = grad / choose(square == 0, full_of((), 1, kind), square)
        return [part * x, -part * y]

    return formula(
        "Atan2Backward0", [y, x], lambda a, b: from_values(np.arctan2(a._values(), b._values())), rule, saves="01"
    )


def _lerp(made: Callable, input: Tensor, end: Tensor, weight: Any) -> Tensor:
    kind = input._dtype
    given = {"end": end, "weight": weight} if isinstance(weight, Tensor) and weight.shape else {"end": end}
    for name, each in given.items():
        if each._dtype is not kind:
            raise RuntimeError(f"expected dtype {kind} for `{name}` but got dtype {each._dtype}")
    if not kind.is_floating_point:
        ending = "tensor" if isinstance(weight, Tensor) else "scalar"
        raise NotImplementedError(f"\"lerp_kernel_{ending}\" not implemented for '{kind.word}'")
    if isinstance(weight, Tensor):
        weight = cast(weight, kind)
    if not isinstance(weight, Tensor):
        return made(
            "LerpBackward0",
            [input, end],
            lambda a, b: a + (b - a) * weight if abs(weight) < 0.5 else b - (b - a) * (1 - weight),
            lambda grad: [grad * (1 - weight), grad * weight],
        )
    return made(
        "LerpBackward1",
        [input, end, weight],
        lambda a, b, w: choose(w.abs() < 0.5, a + (b - a) * w, b - (b - a) * (1 - w)),
        lambda grad, a, b, w: [grad * (1 - w), grad * w, None if a is None else grad * (b - a)],
        saves=("2", "2", "01"),
    )


@both("lerp")
def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """input + weight * (end - input)."""
    return _lerp(formula, input, end, weight)


def _factor(kind: Any, value: Any) -> Any:
    """`value` as a number of the result's dtype."""
    return value if kind.is_floating_point else int(require_fits(value, kind))


def _addcmul(made: Callable, input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> Tensor:
    if made is edit:
        for each in (tensor1, tensor2):
            _arithmetic.require_into(input, each)
    kind = common_dtype(input, tensor1, tensor2)
    if kind.kind == BOOL:
        raise NotImplementedError("\"addcmul_cpu_out\" not implemented for 'Bool'")
    value = _factor(kind, value)
    tensor1, tensor2 = cast(tensor1, kind), cast(tensor2, kind)
    return made(
        "AddcmulBackward0",
        [input, tensor1, tensor2],
        lambda x, a, b: x + a * b * value,
        lambda grad, a, b: [
            grad,
            None if b is None else grad * b * value,
            None if a is None else grad * a * value,
        ],
        saves=("", "2", "1"),
    )


@both("addcmul")
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    return _addcmul(formula, input, tensor1, tensor2, value)


def _addcdiv(made: Callable, input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any) -> Tensor:
    if not tensor1._dtype.is_floating_point and not tensor2._dtype.is_floating_point:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported: divide first, (input + value * tensor1 / tensor2), "
            "or (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype)."
        )
    kind = common_dtype(input, tensor1, tensor2)
    value = _factor(kind, value)
    tensor1, tensor2 = cast(tensor1, kind), cast(tensor2, kind)
    return made(
        "AddcdivBackward0",
        [input, tensor1, tensor2],
        lambda x, a, b: x + a * value / b,
        lambda grad, a, b: [
            grad,
            None if b is None else grad / b * value,
            None if a is None else -grad * a / (b * b) * value,
        ],
        saves=("", "2", "12"),
    )


@both("addcdiv")
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 / tensor2."""
    return _addcdiv(formula, input, tensor1, tensor2, value)


@method("lerp_")
def _lerp_(self: Tensor, end: Tensor, weight: Any) -> Tensor:
    """As lerp, into the tensor itself, which is returned."""
    return _lerp(edit, self, end, weight)


@method("addcmul_")
def _addcmul_(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """As addcmul, into the tensor itself, which is returned."""
    return _addcmul(edit, self, tensor1, tensor2, value)


@method("addcdiv_")
def _addcdiv_(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """As addcdiv, into the tensor itself, which is returned."""
    return _addcdiv(edit, self, tensor1, tensor2, value)


@both("logaddexp")
def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """log(exp(input) + exp(other))."""
    require_tensor("logaddexp", 1, "input", input)
    require_tensor("logaddexp", 2, "other", other)
    kind = common_dtype(input, other)
    _require_floats("logaddexp", kind)

    def rule(grad: Tensor, a: Tensor, b: Tensor) -> list:
        return [
            grad / ((b - a).exp() + 1),
            grad / ((a - b).exp() + 1),
        ]

    def compute(a: Tensor, b: Tensor) -> Tensor:
        apart = (a - b).abs()
        apart = choose((a == b).logical_and(a.isinf()), full_of((), math.inf, apart._dtype), apart)
        return functions["maximum"](a, b) + apart.neg().exp().log1p()

    return formula("LogaddexpBackward0", [cast(input, kind), cast(other, kind)], compute, rule, saves="01")


@both("xlogy")
def xlogy(input: Tensor, other: Any) -> Tensor:
    """input * log(other), 0 where input is 0, NaN where other is."""
    _arithmetic.require_operands("xlogy", input, other)
    kind = common_dtype(input, other)
    kind = kind if kind.is_floating_point else get_default_dtype()
    x, y = as_tensor_of(input, kind), as_tensor_of(other, kind)

    def compute(x: Tensor, y: Tensor) -> Tensor:
        return choose((x == 0).logical_and(y == y), full_of((), 0, kind), x * y.log())

    def rule(grad: Tensor, x: Tensor, y: Tensor) -> list:
        still = (x == 0).logical_and(y <= 0)  # 0 log(y) is 0 there, too
        one, zero = full_of((), 1, kind), full_of((), 0, kind)
        return [
            choose(still, zero, grad * choose(still, one, y).log()),
            grad * x / y,
        ]

    label = "XlogyBackward0" if isinstance(input, Tensor) and isinstance(other, Tensor) else "XlogyBackward1"
    return formula(label, [x, y], compute, rule, saves="01")


# ---- softmax ----


def _soft(name: str, label: str, operator: str) -> Callable:
    call = prepare(label, operator, "axis")

    def soft(input: Tensor, dim: int | None = None, dtype: Any = None, _stacklevel: int = 3) -> Tensor:
        require_tensor(name, 1, "input", input)
        if dtype is not None:
            input = cast(input, as_dtype(dtype))
        if not input._dtype.is_floating_point:
            raise NotImplementedError(f"\"{name}_lastdim_kernel_impl\" not implemented for '{input._dtype.word}'")
        if dim is None:
            dim = 0 if input.ndim in (0, 1, 3) else 1
        place = check_dim(dim, input.ndim)
        if not input.shape:
            return soft(input.unsqueeze(0), 0).squeeze(0)
        return adopt(hot.call1_int(call, input._h, place), input._dtype)

    soft.__name__ = name
    soft.__doc__ = f"{name} along a dimension."
    return both(name)(soft)


softmax = _soft("softmax", "SoftmaxBackward0", "softmax")
log_softmax = _soft("log_softmax", "LogSoftmaxBackward0", "log_softmax")


# ---- equality ----


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
    _arithmetic.require_broadcast(input, other)
    return from_values(np.asarray(np.isclose(input._values(), other._values(), rtol, atol, equal_nan)))


@both()
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether isclose holds everywhere."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


function("numel")(lambda input: input.numel())
function("is_tensor")(lambda obj: isinstance(obj, Tensor))
function("is_floating_point")(lambda input: input._dtype.is_floating_point)
function("is_complex")(lambda input: False)
function("is_nonzero")(lambda input: bool(input))
