"""div and its kin: quotients, and those that are rounded, whose gradients are zeros."""

from __future__ import annotations

from typing import Any

from mxlite.torch._arithmetic import require_operands
from mxlite.torch._calls import both, method, methods
from mxlite.torch._convert import as_tensor_of, cast, common_dtype
from mxlite.torch._dtypes import can_cast
from mxlite.torch._indexing import copy_
from mxlite.torch._more import floor_divide
from mxlite.torch._nodes import formula
from mxlite.torch._tensor import Tensor, zeros_of


@both("div", "divide", "true_divide")
def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """input / other, as floats; rounding_mode "floor" or "trunc": rounded so.

    Raises: RuntimeError: another rounding mode.
    """
    require_operands("div", input, other)
    if rounding_mode is None:
        return input / other
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    kind = common_dtype(input, other)

    def compute(x: Tensor, y: Tensor) -> Tensor:
        return floor_divide(x, y) if rounding_mode == "floor" else cast((x / y).trunc(), kind)

    shapes = [tuple(each.shape) if isinstance(each, Tensor) else () for each in (input, other)]
    return formula(
        "DivBackward2",
        [as_tensor_of(input, kind), as_tensor_of(other, kind)],
        compute,
        lambda grad: [zeros_of(shape, kind) for shape in shapes],
    )


@method("div_", "divide_", "true_divide_")
def div_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """As div, into the tensor itself, which is returned."""
    require_operands("div_", self, other)
    if rounding_mode is None:
        return methods["__itruediv__"](self, other)
    made = div(self, other, rounding_mode=rounding_mode)
    if not can_cast(made._dtype, self._dtype):
        raise RuntimeError(
            f"result type {made._dtype.word} can't be cast to the desired output type {self._dtype.word}"
        )
    return copy_(self, made)
