"""Edits of tensors in place: copy_, fill_, zero_, and functions that replace their first argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

from mxlite._lib import LIB
from mxlite.autograd._nodes import pinned
from mxlite.torch._basic import require_fits
from mxlite.torch._broadcast import require_expandable, require_result
from mxlite.torch._calls import check_call, method, prepare, run_into
from mxlite.torch._convert import cast, clone, require_cast
from mxlite.torch._dtypes import BOOL, from_kind
from mxlite.torch._errors import wrong_argument
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._nodes import (
    Saved,
    formula,
    highest,
    is_grad_enabled,
    levels_open,
    record,
    rule_of,
    saved_of,
    unrecorded,
)
from mxlite.torch._shape import shapes as _shapes
from mxlite.torch._shape.slices import slice_dim
from mxlite.torch._tensor import Tensor

_copy_over = prepare("CopyBackwards", "_mxl_copy_over")
_fill = prepare("FillBackward2", "_mxl_fill", "scalar")
_zero = prepare("ZeroBackward0", "_mxl_fill", "scalar")
_zeroed = prepare("ZeroBackward0", "_mxl_fill", scalar=0)


@method(calls={"two": _copy_over, "into": True, "again": True, **from_kind(BOOL)})
def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Takes over the values of a tensor, broadcast and converted; returns the tensor."""
    if not isinstance(src, Tensor):
        raise wrong_argument("copy_", "other", 1, "Tensor", src)
    while src.ndim > self.ndim and src.shape[0] == 1:
        src = src.squeeze(0)
    require_expandable(src.shape, self)
    if self._dtype is src._dtype or not src.requires_grad:
        src = cast(src, self._dtype)
    return run_into(_copy_over, self, [self, src])


def assign(target: Tensor, value: Tensor) -> None:
    """Writes a tensor, without dimensions of size 1 in front, into another."""
    if value.shape and value.shape != target.shape:
        value = without_first_ones(value)
        require_expandable(value.shape, target)
        value = value if value.shape == target.shape else _shapes.expand(value, target.shape)
    copy_(target, value)


def without_first_ones(value: Tensor) -> Tensor:
    """The value as PyTorch assigns it: without dimensions of size 1 in front."""
    start = next((place for place, size in enumerate(value.shape) if size != 1), value.ndim)
    return _shapes.view(value, value.shape[start:]) if start else value


@method(quick=True)
def fill_(self: Tensor, value: Any) -> Tensor:
    """One number in every element; returns the tensor."""
    if isinstance(value, Tensor):
        if value.shape:
            raise RuntimeError(
                f"fill_: the value is a number or a tensor without dimensions, not of {value.ndim} dimensions"
            )
        return copy_(self, value)
    return _filled(self, _fill, float(require_fits(value, self._dtype)))


@method(calls={"one": _zeroed, "into": True, "contiguous": True, **from_kind(BOOL)})
def zero_(self: Tensor) -> Tensor:
    """Zeros in every element; returns the tensor."""
    return _filled(self, _zero, 0.0)


def _filled(self: Tensor, call: int, value: float) -> Tensor:
    """Writes a number into a tensor; into one that shows elements several times (expanded), once into each."""
    once = self
    if not self.is_contiguous():
        for dim, (size, stride) in enumerate(zip(self.shape, self._strides())):
            if size > 1 and stride == 0:
                once = slice_dim(once, dim, 0, 1, 1)
    run_into(call, once, [once], value)
    return self


def edit(
    label: str,
    inputs: Sequence[Tensor],
    compute: Callable,
    rule: Callable | None = None,
    slots: str | None = None,
    saves: str | tuple[str, ...] | None = None,
    constants: Sequence[Tensor] = (),
) -> Tensor:
    """A formula (_nodes.py) whose result is written over the first of its inputs, which is returned."""
    target, *others = inputs
    if levels_open[0] and highest([*inputs, *constants]) is not None:
        given = [clone(target), *others]  # what is saved is not what is written to
        return copy_(target, cast(formula(label, given, compute, rule, slots, saves, constants), target._dtype))
    check_call(LIB.MXLNDArrayCheckEdit(target._h))
    with unrecorded():
        values = compute(*inputs, *constants)
    require_result(target, values.shape)
    if values._dtype.is_floating_point:
        require_cast(values._dtype, target._dtype)
    if not is_grad_enabled() or not any(each.requires_grad for each in inputs):
        return copy_(target, values)
    # Before the write: it moves what shows the same memory, and views learn their place when asked.
    before = clone(target) if (rule is None and saves is None) or "0" in "".join(saves or "") else target
    kept = saved_of([before, *others], None, saves, rule)
    kind = target._dtype
    again = compute if values._dtype is kind else lambda *given: cast(compute(*given), kind)
    made = rule_of(again, rule, inputs, kept, constants)
    inputs = [target, *(pinned(FRONT_END, each) if each.requires_grad else each for each in others)]
    with unrecorded():
        copy_(target, values)
    if rule and "r" in (saves or ""):
        made.kept[sorted(saves).index("r")] = Saved(target, 0)
    record(label, inputs, [target], made, slots)
    return target
