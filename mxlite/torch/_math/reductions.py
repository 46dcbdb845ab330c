"""Sums, means, products and truth values of all elements or along dimensions; softmax."""

from __future__ import annotations

from functools import cache
from typing import Any, Callable

from mxlite._lib import hot
from mxlite.torch._calls import adopt, both, prepare, require_tensor, run
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import DTYPES, FLOATING, as_dtype, bool_, from_kind, int64, uint8
from mxlite.torch._errors import none_of
from mxlite.torch._kinds import check_dim, check_dims
from mxlite.torch._nodes import is_grad_enabled
from mxlite.torch._tensor import Tensor


def spread(grad: Tensor, input: Tensor, places: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    """A gradient of a reduction's result as one of its input's shape."""
    return aligned(grad, input, places, keepdim).expand(input.shape)


def aligned(result: Tensor, input: Tensor, places: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    """A reduction's result with extents of 1 where the input has the dimensions that were reduced."""
    ndim = len(input.shape)
    if places is None:
        return result.reshape((1,) * ndim)
    if keepdim:
        return result
    for place in sorted(places):
        result = result.unsqueeze(place)
    return result


def places_of(dim: Any, ndim: int) -> tuple[int, ...] | None:
    """The dimensions to be reduced; None: all of them, as in a tensor that has none."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return None
    places = check_dims(dim, ndim)
    return places if ndim else None


@cache
def reduction(label: str | None, name: str, keepdim: bool) -> int:
    return prepare(label, name, "axis", keepdims=str(keepdim))


def reduce(label: str | None, name: str, input: Tensor, places: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    return run(reduction(label, name, bool(keepdim)), (input,), places, kind=input._dtype)


def as_sum(input: Tensor, kind: Any) -> Tensor:
    """The tensor in the dtype that its sum has: integers as int64.

    Raises: RuntimeError: a gradient is wanted, and the dtype has none.
    """
    if kind is not None:
        kind = as_dtype(kind)
        if not kind.is_floating_point and input.requires_grad and is_grad_enabled():
            raise RuntimeError(f"a gradient is wanted, which dtype {kind.word} does not have")
        return cast(input, kind)
    return input if input._dtype.is_floating_point else cast(input, int64)


_sum_all = prepare("SumBackward0", "sum")
_mean_all = prepare("MeanBackward0", "mean")
_cumprod = prepare("CumprodBackward0", "_mxl_cumprod", "axis")


def _usual(name: str, every: int) -> dict[str, Any]:
    """What `hot.direct` is told of a sum or a mean; `every`: that of all elements."""
    each, kept = (reduction(f"{name.title()}Backward1", name, keepdim) for keepdim in (False, True))
    return {"one": every, "axes": each, "keep": kept, "again": True, **from_kind(FLOATING)}


@both(calls=_usual("sum", _sum_all))
def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum of all elements, or along dimensions; of integers and bool an int64."""
    require_tensor("sum", 1, "input", input)
    input = as_sum(input, dtype)
    if dim is None and not keepdim:
        return adopt(hot.call1(_sum_all, input._h), input._dtype)
    return reduce("SumBackward1", "sum", input, places_of(dim, input.ndim), keepdim)


@both()
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum with NaN as 0."""
    input = as_sum(input, dtype)
    return reduce("NansumBackward0", "nansum", input, places_of(dim, input.ndim), keepdim)


@both(calls=_usual("mean", _mean_all))
def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of all elements, or along dimensions.

    Raises: RuntimeError: a dtype without fractions.
    """
    require_tensor("mean", 1, "input", input)
    if dtype is not None:
        input = cast(input, as_dtype(dtype))
    if not input._dtype.is_floating_point:
        raise RuntimeError(f"mean(): the input must be floating, its dtype is {input._dtype.word}")
    if dim is None and not keepdim:
        return adopt(hot.call1(_mean_all, input._h), input._dtype)
    return reduce("MeanBackward1", "mean", input, places_of(dim, input.ndim), keepdim)


@both()
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product of all elements, or along a dimension; of integers and bool an int64."""
    input = as_sum(input, dtype)
    label = "ProdBackward0" if dim is None else "ProdBackward1"
    return reduce(label, "prod", input, places_of(dim, input.ndim), keepdim)


# ---- truth values ----


_NOT_UINT8 = tuple(each for each in DTYPES if each is not uint8)


def _truth(name: str) -> Callable:
    calls = [prepare(None, f"_np_{name}", "axis", keepdims=flag) for flag in ("False", "True")]

    @both(
        name,
        document=f"Whether {name} of the elements, or of those along dimensions, differ from 0.",
        calls={
            "one": prepare(None, f"_np_{name}"),
            "axes": calls[0],
            "keep": calls[1],
            "result": bool_,
            "dtypes": _NOT_UINT8,
        },
    )
    def truth(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        require_tensor(name, 1, "input", input)
        if isinstance(dim, (tuple, list)) and not dim:
            found = input != 0
        else:
            found = run(calls[bool(keepdim)], (input,), places_of(dim, input.ndim), kind=bool_)
        return cast(found, uint8) if input._dtype is uint8 else found

    return truth


any = _truth("any")
all = _truth("all")


@both()
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """How many elements differ from 0."""
    return sum(input != 0, dim)


def soft_calls(label: str, operator: str) -> dict[str, Any]:
    """What `hot.direct` is told of softmax and its kin."""
    return {"axis": prepare(label, operator, "axis"), "again": True, **from_kind(FLOATING)}


def _soft(name: str, label: str, operator: str) -> Callable:
    call = prepare(label, operator, "axis")

    @both(name, document=f"{name} along a dimension.", calls=soft_calls(label, operator))
    def soft(input: Tensor, dim: int | None = None, dtype: Any = None, _stacklevel: int = 3) -> Tensor:
        require_tensor(name, 1, "input", input)
        if dtype is not None:
            input = cast(input, as_dtype(dtype))
        if not input._dtype.is_floating_point:
            raise none_of(name, input._dtype)
        if dim is None:
            dim = 0 if input.ndim in (0, 1, 3) else 1
        place = check_dim(dim, input.ndim)
        if not input.shape:
            return soft(input.unsqueeze(0), 0).squeeze(0)
        return adopt(hot.call1_int(call, input._h, place), input._dtype)

    return soft


softmax = _soft("softmax", "SoftmaxBackward0", "softmax")
log_softmax = _soft("log_softmax", "LogSoftmaxBackward0", "log_softmax")
