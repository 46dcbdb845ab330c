"""Elements chosen by truth values: where, nonzero, masked_select and masked_fill."""

from __future__ import annotations

import warnings
from typing import Any, Callable

from mxlite._index.keys import ARRAY
from mxlite._lib import hot
from mxlite.torch._basic import filled, full_of
from mxlite.torch._broadcast import broadcast_shapes
from mxlite.torch._calls import both, function, last_error, method, prepare, run, values
from mxlite.torch._composite import by_operator
from mxlite.torch._convert import cast, common_dtype
from mxlite.torch._dtypes import BOOL, EXACT, OF_FLAG, PROMOTED, bool_, dtype, int64
from mxlite.torch._dtypes import uint8 as _uint8
from mxlite.torch._edits import edit
from mxlite.torch._nodes import formula
from mxlite.torch._shape import shapes as _shapes
from mxlite.torch._tensor import Tensor

_where = prepare("WhereBackward0", "_npi_where", slots="12")
_masked_fill = prepare("MaskedFillBackward0", "_mxl_masked_fill", "value", slots="0")
_select = prepare(None, "_mxl_index", "key", rules="torch")
_nonzero, _nonzero_by_axis = (prepare(None, "_mxl_nonzero", by_axis=flag) for flag in ("False", "True"))


def choose(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """x where a condition holds, else y; promoted, broadcast."""
    made = hot.run(Tensor, _where, (condition, x, y), (), x._dtype)
    if made is None:
        raise _refusal(condition, x, y)
    if x._dtype is not y._dtype:
        made._dtype = OF_FLAG[hot.info(made._h)[1]]
    return made


def _refusal(*tensors: Tensor) -> BaseException:
    """The error of tensors that cannot be broadcast to each other, else the library's."""
    problem = last_error()
    try:
        broadcast_shapes(*(each.shape for each in tensors))
    except RuntimeError as error:
        return error
    return problem


@function(calls={"many": _where, "num_inputs": 3, "again": True, **PROMOTED, "dtypes": (bool_,), "num_floating": 0})
def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """`input` where a condition holds, else `other`; with neither, where it holds, as nonzero(as_tuple=True)."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    for each in (condition, input, other):
        if not isinstance(each, (Tensor, int, float)) or (each is condition and not isinstance(each, Tensor)):
            raise TypeError(f"where: takes a tensor as condition, and tensors or numbers, got {type(each).__name__}")
    if condition._dtype.kind != BOOL and condition._dtype is not _uint8:
        raise RuntimeError(f"where: the condition is of dtype bool, got {condition.dtype}")
    if condition._dtype is _uint8:
        warnings.warn("where: a condition of dtype uint8 is deprecated: take one of bool", stacklevel=3)
    if isinstance(input, Tensor) and isinstance(other, Tensor):
        return choose(condition, input, other)
    kind = common_dtype(input, other)
    x, y = (cast(each, kind) if isinstance(each, Tensor) else _number_as(each, kind) for each in (input, other))
    return choose(condition, x, y)


def _number_as(number: float, kind: dtype) -> Tensor:
    """A number as a tensor: one that is too large is infinite, or among integers an error."""
    return full_of((), float(number), kind) if kind.is_floating_point else filled((), number, kind)


@method("where")
def _where_method(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """The tensor where a condition holds, else `other`."""
    return where(condition, self, other)


@both()
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Where elements differ from 0: a row of indices each, or a tensor of indices for each dimension."""
    if not as_tuple:
        return run(_nonzero, [input], kind=int64)
    found = run(_nonzero_by_axis, [input if input.shape else input.reshape(1)], kind=int64)
    return tuple(found[dim].clone() for dim in range(found.shape[0]))


def _mask(name: str, mask: Any) -> Tensor:
    if not isinstance(mask, Tensor) or mask._dtype.kind != BOOL:
        found = mask._dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise RuntimeError(f"{name}: a mask is a tensor of dtype bool, got {found}")
    return mask


@both()
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where a mask is True, in one row."""
    shape = broadcast_shapes(input.shape, _mask("masked_select", mask).shape)
    if not shape:
        return masked_select(input.reshape(1), mask.reshape(1))

    def compute(x: Tensor, flags: Tensor) -> Tensor:
        return run(_select, [_shapes.expand(x, shape), flags], ARRAY, kind=x._dtype)

    return formula("MaskedSelectBackward0", [input], compute, saves="", constants=[_shapes.expand(mask, shape)])


_masked = {"num_inputs": 2, "values": values(value=float), "again": True, **EXACT, "by_flag": PROMOTED["by_flag"]}


@both(calls={"two": _masked_fill, **_masked})
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A number (or a tensor of one) where a mask is True, elsewhere the tensor's elements."""
    return fill_where(formula, "MaskedFill", input, _mask("masked_fill", mask), value)


@method(calls={"two": _masked_fill, "into": True, **_masked})
def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A number (or a tensor of one) where a mask is True; returns the tensor."""
    return fill_where(edit, "MaskedFill", self, _mask("masked_fill_", mask), value)


def fill_where(made: Callable, label: str, input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A number (or a tensor of one) where a mask is True, by a formula or an edit."""
    number = _number_of(value, input._dtype)
    if isinstance(value, Tensor):

        def compute(x: Tensor, number: Tensor, mask: Tensor) -> Tensor:
            return choose(mask, number, x)

        return made(f"{label}Backward1", [input, number], compute, saves="", constants=[mask])
    call = prepare(f"{label}Backward0", "_mxl_masked_fill", "value", slots="0")
    return by_operator(made, call, [input, mask], float(value))


def _number_of(value: Any, kind: dtype) -> Tensor:
    """A number, or a tensor of one, as a tensor of that dtype without dimensions."""
    if not isinstance(value, Tensor):
        return filled((), value, kind)
    if value.ndim:
        raise RuntimeError(
            f"the value to fill with is a number, or a tensor without dimensions, got {value.ndim} dimensions"
        )
    return cast(value, kind)
