"""div and its kin: quotients, and those that are rounded, whose gradients are zeros."""

from __future__ import annotations

from typing import Any

from mxlite.torch._arithmetic import require_cast, require_operands, rounded_quotient
from mxlite.torch._calls import both, method, methods
from mxlite.torch._indexing import copy_
from mxlite.torch._tensor import Tensor


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
    return rounded_quotient(f"_mxl_{rounding_mode}_divide", "DivBackward2", f"div_{rounding_mode}", input, other)


@method("div_", "divide_", "true_divide_")
def div_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """As div, into the tensor itself, which is returned."""
    require_operands("div_", self, other)
    if rounding_mode is None:
        return methods["__itruediv__"](self, other)
    made = div(self, other, rounding_mode=rounding_mode)
    require_cast(made._dtype, self._dtype)
    return copy_(self, made)
