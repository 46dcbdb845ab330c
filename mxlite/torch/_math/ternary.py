"""lerp, addcmul and addcdiv: functions of three tensors, also in place."""

from __future__ import annotations

from typing import Any, Callable

from mxlite.torch._composite import in_place_too
from mxlite.torch._convert import cast, common_dtype
from mxlite.torch._dtypes import BOOL
from mxlite.torch._math import arithmetic as _arithmetic
from mxlite.torch._nodes import formula
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, require_fits


@in_place_too
def lerp(made: Callable, input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """input + weight * (end - input)."""
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


def _scaled(made: Callable, label: str, compute: Callable, saves: tuple[str, ...], tensors: list, value: Any) -> Tensor:
    """input + value * a function of two other tensors, all of one dtype."""
    if made is not formula:
        for each in tensors[1:]:
            _arithmetic.require_into(tensors[0], each)
    kind = common_dtype(*tensors)
    if kind.kind == BOOL:
        raise NotImplementedError("\"addcmul_cpu_out\" not implemented for 'Bool'")
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
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported: divide first, (input + value * tensor1 / tensor2), "
            "or (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype)."
        )
    tensors = [input, tensor1, tensor2]
    return _scaled(made, "AddcdivBackward0", lambda a, b, by: a * by / b, ("", "2", "12"), tensors, value)
