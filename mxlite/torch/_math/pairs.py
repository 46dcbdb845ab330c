"""Functions of two or three tensors, or of tensors and a number, beyond Python's operators: maximum, fmod, lerp, ..."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from mxlite.torch._calls import both, methods, prepare, require_tensor
from mxlite.torch._composite import in_place_too
from mxlite.torch._convert import as_float, as_tensor_of, cast, common_dtype
from mxlite.torch._dtypes import BOOL, FLOATING, from_kind, get_default_dtype, uint8
from mxlite.torch._errors import none_of
from mxlite.torch._math import arithmetic as _arithmetic
from mxlite.torch._math.elementwise import require_floats
from mxlite.torch._nodes import formula, record, unrecorded
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, full_of, require_fits


def _promoted(name: str, input: Any, other: Any, floats: bool = False) -> tuple[Tensor, Tensor]:
    """Two tensors in the dtype of both, which `floats` says is a floating one.

    Raises: TypeError: one is no tensor; RuntimeError: shapes that cannot be broadcast; NotImplementedError: integers.
    """
    for place, (argument, value) in enumerate((("input", input), ("other", other)), 1):
        require_tensor(name, place, argument, value)
    _arithmetic.require_broadcast(input, other)
    kind = common_dtype(input, other)
    if floats:
        require_floats(name, kind)
    return cast(input, kind), cast(other, kind)


def _of_two(name: str, label: str, operator: str, floats: bool = False) -> Callable:
    call = prepare(label, operator)

    @both(
        name,
        document=f"{name} of the elements of two tensors, broadcast.",
        calls={"two": call, "failed": _arithmetic.refused, **from_kind(FLOATING)},
    )
    def made(input: Tensor, other: Tensor) -> Tensor:
        first, second = _promoted(name, input, other, floats)
        kind = first._dtype
        return cast(_arithmetic.run_pair(call, first, second, uint8 if kind.kind == BOOL else kind), kind)

    return made


maximum = _of_two("maximum", "MaximumBackward0", "_mxl_maximum")
minimum = _of_two("minimum", "MinimumBackward0", "_mxl_minimum")
_of_two("hypot", "HypotBackward0", "broadcast_hypot", floats=True)


def _not_differentiable(name: str, inputs: list, result: Tensor) -> Tensor:
    """The result, on a node that says in a backward that there is no derivative."""
    given = [each for each in inputs if isinstance(each, Tensor)]

    def rule(grads: list, wanted: list) -> list:
        raise RuntimeError(f"{name}: there is no derivative")

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


_atan2 = prepare("Atan2Backward0", "_npi_arctan2")


@both("atan2", "arctan2")
def atan2(input: Tensor, other: Tensor) -> Tensor:
    """The angle of the point (other, input)."""
    y, x = map(as_float, _promoted("atan2", input, other))
    return _arithmetic.run_pair(_atan2, y, x, y._dtype)


@both("logaddexp")
def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """log(exp(input) + exp(other))."""

    def rule(grad: Tensor, a: Tensor, b: Tensor) -> list:
        return [grad / ((b - a).exp() + 1), grad / ((a - b).exp() + 1)]

    def compute(a: Tensor, b: Tensor) -> Tensor:
        apart = (a - b).abs()
        apart = choose((a == b).logical_and(a.isinf()), full_of((), math.inf, apart._dtype), apart)
        return a.maximum(b) + apart.neg().exp().log1p()

    inputs = _promoted("logaddexp", input, other, floats=True)
    return formula("LogaddexpBackward0", inputs, compute, rule, saves="01")


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
        return [choose(still, zero, grad * choose(still, one, y).log()), grad * x / y]

    label = "XlogyBackward0" if isinstance(input, Tensor) and isinstance(other, Tensor) else "XlogyBackward1"
    return formula(label, [x, y], compute, rule, saves="01")


@in_place_too
def lerp(made: Callable, input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """input + weight * (end - input)."""
    kind = input._dtype
    given = {"end": end, "weight": weight} if isinstance(weight, Tensor) and weight.shape else {"end": end}
    for name, each in given.items():
        if each._dtype is not kind:
            raise RuntimeError(f"lerp: `{name}` is of dtype {kind.word} as the input, got {each._dtype.word}")
    if not kind.is_floating_point:
        raise none_of("lerp", kind)
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


def _scaled(made: Callable, label: str, compute: Callable, saves: tuple[str, ...], tensors: list, value: Any) -> Tensor:
    """input + value * a function of two other tensors, all of one dtype."""
    if made is not formula:
        for each in tensors[1:]:
            _arithmetic.require_into(tensors[0], each)
    kind = common_dtype(*tensors)
    if kind.kind == BOOL:
        raise none_of("addcmul", kind)
    by = value if kind.is_floating_point else int(require_fits(value, kind))
    input, *others = tensors
    return made(
        label, [input, *(cast(each, kind) for each in others)], lambda x, a, b: x + compute(a, b, by), saves=saves
    )


@in_place_too
def addcmul(made: Callable, input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    tensors = [input, tensor1, tensor2]
    return _scaled(made, "AddcmulBackward0", lambda a, b, by: a * b * by, ("", "2", "1"), tensors, value)


@in_place_too
def addcdiv(made: Callable, input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 / tensor2."""
    if not tensor1._dtype.is_floating_point and not tensor2._dtype.is_floating_point:
        raise RuntimeError("addcdiv: both tensors to divide are of integers; one must be floating")
    tensors = [input, tensor1, tensor2]
    return _scaled(made, "AddcdivBackward0", lambda a, b, by: a * by / b, ("", "2", "12"), tensors, value)
