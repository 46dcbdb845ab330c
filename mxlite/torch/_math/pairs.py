"""Functions of two or three tensors, or of tensors and a number, beyond Python's operators: maximum, fmod, lerp, ..."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable

from mxlite.torch._calls import both, method, methods, prepare, require_tensor, require_tensors, values
from mxlite.torch._composite import by_operator, in_place_too
from mxlite.torch._convert import as_tensor_of, cast, common_dtype, require_cast
from mxlite.torch._dtypes import BOOL, EXACT, PROMOTED, get_default_dtype
from mxlite.torch._edits import copy_
from mxlite.torch._errors import none_of
from mxlite.torch._math import arithmetic as _arithmetic
from mxlite.torch._math.elementwise import require_floats
from mxlite.torch._nodes import formula, record, unrecorded
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, full_of, require_fits


def _of_two(name: str, label: str, library_name: str, *others: str) -> Callable:
    operation = _arithmetic.Operation(label, library_name)

    @both(
        name,
        *others,
        document=f"{name} of the elements of two tensors, broadcast.",
        calls={"two": operation.of_arrays, "failed": _arithmetic.refused, **PROMOTED},
    )
    def made(input: Tensor, other: Tensor) -> Tensor:
        require_tensors(name, input, other)
        return operation.run(input, other)

    return made


maximum = _of_two("maximum", "MaximumBackward0", "_mxl_maximum")
minimum = _of_two("minimum", "MinimumBackward0", "_mxl_minimum")
_of_two("hypot", "HypotBackward0", "broadcast_hypot")
_of_two("atan2", "Atan2Backward0", "_npi_arctan2", "arctan2")


def constant(name: str, inputs: list, result: Tensor, error: type[Exception] = RuntimeError) -> Tensor:
    """The result, on a node that says in a backward that there is no derivative."""
    given = [each for each in inputs if isinstance(each, Tensor)]

    def rule(grads: list, wanted: list) -> list:
        raise error(f"{name}: there is no derivative")

    record("torch::autograd::NotImplemented", given, [result], rule)
    return result


_floor = _arithmetic.Operation(None, "_mxl_floor_divide")
_remainder = _arithmetic.Operation(None, "_mxl_remainder")
_fmod = _arithmetic.Operation("FmodBackward1", "_mxl_fmod")


def _without_gradient(name: str, operation: _arithmetic.Operation, input: Any, other: Any) -> Tensor:
    """An operation that PyTorch has no derivative of."""
    with unrecorded():
        result = operation.run(input, other)
    return constant(name, [input, other], result)


def _constant(operation: _arithmetic.Operation) -> dict[str, Any]:
    """What `hot.direct` is told of it: tensors that no gradient flows to."""
    calls = {"two": operation.of_arrays, "number": operation.of_scalar, "constant": True}
    return {**calls, "failed": _arithmetic.refused, **PROMOTED}


@both("floor_divide", calls=_constant(_floor))
def floor_divide(input: Any, other: Any) -> Tensor:
    """input / other, rounded down.

    Raises: RuntimeError: integers, by 0.
    """
    return _without_gradient("floor_divide", _floor, input, other)


def _remainder_of(self: Tensor, other: Any) -> Any:
    """other % self, of a number, which PyTorch has no derivative of."""
    if not isinstance(other, _arithmetic.NUMBERS):
        return NotImplemented
    return _without_gradient("remainder", _remainder, other, self)


_floor_into = _arithmetic.in_place(_floor)


@method("__ifloordiv__", quick=True)
def _floor_divide_into(self: Tensor, other: Any) -> Any:
    """self //= other: the same tensor with new values."""
    if any(isinstance(each, Tensor) and each.requires_grad for each in (self, other)):
        return copy_(self, floor_divide(self, other))
    return _floor_into(self, other)


methods["__floordiv__"] = methods["floor_divide"]
methods["__rfloordiv__"] = lambda self, other: floor_divide(other, self)
methods["__rmod__"] = _remainder_of


@both("fmod", calls=_constant(_fmod))
def fmod(input: Tensor, other: Any) -> Tensor:
    """What division by `other` leaves, with the sign of `input`.

    Raises: RuntimeError: integers, by 0.
    """
    require_tensor("fmod", 1, "input", input)
    if isinstance(other, Tensor):
        return _fmod.run(input, other)
    with unrecorded():
        result = _fmod.run(input, other)
    return formula("FmodBackward0", [input], lambda x: result, lambda grad: [grad])


@both("logaddexp")
def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """log(exp(input) + exp(other))."""

    def rule(grad: Tensor, a: Tensor, b: Tensor) -> list:
        return [grad / ((b - a).exp() + 1), grad / ((a - b).exp() + 1)]

    def compute(a: Tensor, b: Tensor) -> Tensor:
        apart = (a - b).abs()
        apart = choose((a == b).logical_and(a.isinf()), full_of((), math.inf, apart._dtype), apart)
        return a.maximum(b) + apart.neg().exp().log1p()

    require_tensors("logaddexp", input, other)
    kind = common_dtype(input, other)
    require_floats("logaddexp", kind)
    inputs = [cast(each, kind) for each in (input, other)]
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
        return [choose(still, zero, xlogy(grad, choose(still, one, y))), grad * x / y]

    label = "XlogyBackward0" if isinstance(input, Tensor) and isinstance(other, Tensor) else "XlogyBackward1"
    return formula(label, [x, y], compute, rule, saves="01")


_lerp = prepare("LerpBackward0", "_mxl_lerp", "weight")


@partial(in_place_too, calls={"two": _lerp, "values": values(weight=float), "again": True, **EXACT})
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
        return by_operator(made, _lerp, [input, end], float(weight))
    return made(
        "LerpBackward1",
        [input, end, weight],
        lambda a, b, w: choose(w.abs() < 0.5, a + (b - a) * w, b - (b - a) * (1 - w)),
        lambda grad, a, b, w: [grad * (1 - w), grad * w, None if a is None else grad * (b - a)],
        saves=("2", "2", "01"),
    )


def _added(made: Callable, call: int, tensors: list[Tensor], value: Any) -> Tensor:
    """input + value * a function of two other tensors, all of one dtype."""
    kind = common_dtype(*tensors)
    if kind.kind == BOOL:
        raise none_of("addcmul", kind)
    if made is not formula:
        require_cast(kind, tensors[0]._dtype)
        kind = tensors[0]._dtype
    by = value if kind.is_floating_point else int(require_fits(value, kind))
    return by_operator(made, call, [cast(each, kind) for each in tensors], float(by))


def _three(call: int) -> dict[str, Any]:
    return {"many": call, "num_inputs": 3, "values": values(True, value=1.0), "again": True, **EXACT}


_addcmul = prepare("AddcmulBackward0", "_mxl_addcmul", "value")
_addcdiv = prepare("AddcdivBackward0", "_mxl_addcdiv", "value")


@partial(in_place_too, calls=_three(_addcmul))
def addcmul(made: Callable, input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    return _added(made, _addcmul, [input, tensor1, tensor2], value)


@partial(in_place_too, calls=_three(_addcdiv))
def addcdiv(made: Callable, input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """input + value * tensor1 / tensor2."""
    if not tensor1._dtype.is_floating_point and not tensor2._dtype.is_floating_point:
        raise RuntimeError("addcdiv: both tensors to divide are of integers; one must be floating")
    return _added(made, _addcdiv, [input, tensor1, tensor2], value)
