"""Comparisons of tensors, which have truth values: eq, ne, lt, le, gt, ge, as Python's operators and as functions."""

from __future__ import annotations

from typing import Any

from mxlite._lib import hot
from mxlite.torch._calls import adopt, both, method, prepare
from mxlite.torch._convert import as_tensor_of, cast, common_dtype
from mxlite.torch._dtypes import BOOL
from mxlite.torch._dtypes import bool_ as _bool
from mxlite.torch._dtypes import uint8 as _uint8
from mxlite.torch._math.arithmetic import OPERANDS, is_large, operation_error, require_operands
from mxlite.torch._tensor import Tensor

#: name -> symbol, the other name, the operators of two tensors, of tensor and number.
_COMPARISONS = {
    "eq": ("==", None, "broadcast_equal", "_equal_scalar"),
    "ne": ("!=", "not_equal", "broadcast_not_equal", "_not_equal_scalar"),
    "lt": ("<", "less", "broadcast_lesser", "_lesser_scalar"),
    "le": ("<=", "less_equal", "broadcast_lesser_equal", "_lesser_equal_scalar"),
    "gt": (">", "greater", "broadcast_greater", "_greater_scalar"),
    "ge": (">=", "greater_equal", "broadcast_greater_equal", "_greater_equal_scalar"),
}
_to_bool = prepare(None, "Cast", dtype="bool")


def _comparison(name: str, symbol: str, other_name: str | None, arrays: str, scalar: str) -> None:
    of_arrays, of_scalar = prepare(None, arrays), prepare(None, scalar, "scalar")

    def compare(input: Tensor, other: Any) -> Tensor:
        kind = common_dtype(input, other)
        if kind.kind == BOOL:
            kind = _uint8
        if isinstance(other, Tensor) or is_large(other):
            first, second = as_tensor_of(input, kind), as_tensor_of(other, kind)
            handle = hot.call2(of_arrays, first._h, second._h)
        else:
            first = cast(input, kind)
            handle = hot.call1_float(of_scalar, first._h, float(other))
        if not handle:
            raise operation_error(input, other)
        numbers = adopt(handle, kind)
        return adopt(hot.call1(_to_bool, numbers._h), _bool)

    @method(f"__{name}__")
    def operator(self: Tensor, other: Any) -> Any:
        return compare(self, other) if isinstance(other, OPERANDS) else NotImplemented

    @both(name, *filter(None, [other_name]), document=f"Where input {symbol} other: a tensor of bool.")
    def function(input: Tensor, other: Any) -> Tensor:
        require_operands(name, input, other)
        return compare(input, other)


for _name, _row in _COMPARISONS.items():
    _comparison(_name, *_row)
