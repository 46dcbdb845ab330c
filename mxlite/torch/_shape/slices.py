"""Positions of one dimension: select, slices and narrow, views that share memory."""

from __future__ import annotations

import operator
from typing import Any

from mxlite._index.keys import SLICE, WHOLE
from mxlite.torch._calls import both, prepare, run
from mxlite.torch._kinds import check_dim
from mxlite.torch._tensor import Tensor

_select = prepare("SelectBackward0", "_mxl_select", "axis", "index")
_slice = prepare("SliceBackward0", "slice_axis", "axis", "begin", "end")
_part = prepare("SliceBackward0", "_mxl_index", "key", rules="torch", slots="0")


def select_at(input: Tensor, dim: int, index: int) -> Tensor:
    """A view of one position of a dimension, both from 0 on."""
    return run(_select, [input], dim, index, kind=input._dtype)


@both()
def select(input: Tensor, dim: int, index: Any) -> Tensor:
    """A view of one position of a dimension, without it."""
    shape = input.shape
    if not shape:
        raise IndexError("select: a tensor without dimensions has no positions")
    dim = check_dim(dim, len(shape))
    index = operator.index(index)
    size = shape[dim]
    if not -size <= index < size:
        raise IndexError(f"select: index {index} is outside dimension {dim}, which has size {size}")
    return select_at(input, dim, index + size if index < 0 else index)


def slice_dim(input: Tensor, dim: int, start: int, end: int, step: int) -> Tensor:
    """A view of positions of a dimension: from 0 on, start <= end."""
    if start < end and step == 1:
        return run(_slice, [input], dim, start, end, kind=input._dtype)
    return run(_part, [input], (*WHOLE * dim, *SLICE, start, end, step), kind=input._dtype)


@both()
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """A view of `length` parts along a dimension, from `start` on."""
    if not input.shape:
        raise RuntimeError("narrow: a tensor without dimensions has no positions")
    if length < 0:
        raise RuntimeError(f"narrow: length is 0 or more, got {length}")
    dim = check_dim(dim, input.ndim)
    start = operator.index(start)
    size = input.shape[dim]
    if not -size <= start <= size:
        raise IndexError(f"narrow: start is from {-size} to {size} in dimension {dim}, got {start}")
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"narrow: start {start} and length {length} go beyond the size {size} of dimension {dim}")
    return slice_dim(input, dim, start, start + length, 1)
