"""Running sums and products, sorting, and the elements in the middle."""

from __future__ import annotations

import math
from typing import Any

from mxlite.torch._calls import both, prepare, run
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import BOOL, float64, int64
from mxlite.torch._kinds import check_dim
from mxlite.torch._math.extremes import pair, picked, require_extent, shared, take_along
from mxlite.torch._math.reductions import as_sum
from mxlite.torch._shape.shapes import along
from mxlite.torch._tensor import Tensor, full_of, zeros_of

# ---- running ----


def _require_numbers(name: str, input: Tensor) -> None:
    if input._dtype.kind == BOOL:
        raise NotImplementedError(f"\"{name}_out_cpu\" not implemented for 'Bool'")


@both()
@along
def cumsum(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The sum of the elements up to each one, along a dimension."""
    input = as_sum(input, dtype)
    _require_numbers("cumsum", input)
    place = check_dim(dim, input.ndim)
    return run(prepare("CumsumBackward0", "cumsum", "axis"), [input], place, kind=input._dtype)


@both()
@along
def cumprod(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The product of the elements up to each one, along a dimension."""
    input = as_sum(input, dtype)
    _require_numbers("cumprod", input)
    place = check_dim(dim, input.ndim)
    return run(prepare("CumprodBackward0", "_mxl_cumprod", "axis"), [input], place, kind=input._dtype)


# ---- order ----


@both()
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order along a dimension, and where they were."""
    indices = argsort(input, dim, descending, True)
    return _sort_result(*picked("SortBackward0", input, check_dim(dim, input.ndim), indices, True))


@both()
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Where the elements in order along a dimension are."""
    place = check_dim(dim, input.ndim)
    if not input.shape:
        return zeros_of((), int64)
    call = prepare(None, "argsort", "axis", is_ascend=str(not descending), dtype="int64")
    return run(call, [input.detach()], place, kind=int64)


@both()
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:  # noqa: A002
    """The k largest (or smallest) elements along a dimension, in order, and where they are."""
    place = check_dim(dim, input.ndim)
    extent = input.shape[place] if input.shape else 1
    if input._dtype.kind == BOOL:
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if not 0 <= k <= extent:
        raise RuntimeError("selected index k out of range")
    if not input.shape or not k:  # k=0 of the operator means all
        indices = zeros_of((*input.shape[:place], k, *input.shape[place + 1 :]) if input.shape else (), int64)
    else:
        call = prepare(None, "topk", "axis", "k", is_ascend=str(not largest), dtype="int64")
        indices = run(call, [input.detach()], place, k, kind=int64)
    return _topk_result(*picked("TopkBackward0", input, place, indices, True))


_sort_result, _topk_result = pair("sort"), pair("topk")


@both()
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The element in the middle of all, or along a dimension (the lower one of two); NaN where there is one."""
    if dim is not None:
        require_extent("median", input, check_dim(dim, input.ndim))
    if input._dtype.kind == BOOL:
        raise NotImplementedError("\"median_cpu\" not implemented for 'Bool'")
    if dim is None and not input.numel():
        return cast(full_of((), math.nan, float64), input._dtype)
    if dim is None:
        flat = input.detach().reshape(-1)
        middle = _middle(flat, 0)
        return shared("MedianBackward0", input, lambda x: take_along(x.reshape(-1), middle, 0).reshape(()))
    place = check_dim(dim, input.ndim)
    return _median_result(*picked("MedianBackward1", input, place, _middle(input.detach(), place), keepdim))


def _middle(input: Tensor, place: int) -> Tensor:
    """Where the element in the middle is along a dimension, which stays; where there is a NaN, the first of those."""
    if not input.shape:
        return zeros_of((), int64)
    return run(prepare(None, "_mxl_median", "axis"), [input], place, kind=int64)


_median_result = pair("median")
