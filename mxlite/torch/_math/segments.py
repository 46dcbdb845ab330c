"""Reductions of segments of a dimension."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from mxlite.torch._basic import full_of, stacked
from mxlite.torch._calls import function
from mxlite.torch._shape.slices import narrow
from mxlite.torch._tensor import Tensor

#: reduction: of a segment along dimension 0; with the first value; what there is of an empty one.
_WAYS: dict[str, tuple[Callable, Callable, float]] = {
    "sum": (lambda part: part.sum(0), lambda found, first: found + first, 0),
    "mean": (lambda part: part.mean(0), lambda found, first: found + first, math.nan),
    "prod": (lambda part: part.prod(0), lambda found, first: found * first, 1),
    "max": (lambda part: part.amax(0), lambda found, first: found.clamp_min(first), -math.inf),
    "min": (lambda part: part.amin(0), lambda found, first: found.clamp_max(first), math.inf),
}


@function()
def segment_reduce(
    data: Tensor, reduce: str, *, lengths: Tensor | None = None, indices: Any = None, offsets: Tensor | None = None,
    axis: int = 0, unsafe: bool = False, initial: Any = None,
) -> Tensor:  # fmt: skip
    """Sums, means, products, maxima or minima of segments of dimension `axis`, one behind another.

    Args:
        lengths: (..., segment): of how many elements each is, for each index of the dimensions before.
        offsets: Where each begins, and the end of the last, in its place.
        initial: The value to begin with, which that of an empty segment is.
    Raises: RuntimeError: neither is given, or the lengths are not the dimension's.
    """
    if reduce not in _WAYS or (lengths is None and offsets is None):
        raise RuntimeError(f"segment_reduce: lengths or offsets, and one of {', '.join(_WAYS)}, got {reduce!r}")
    if not data._dtype.is_floating_point:
        raise NotImplementedError(f"segment_reduce: takes floats, got {data.dtype}")
    ends = np.cumsum(lengths._values(), -1) if lengths is not None else offsets._values()  # type: ignore[union-attr]
    if lengths is not None:
        ends = np.concatenate([np.zeros((*ends.shape[:-1], 1), ends.dtype), ends], -1)
    if ends.ndim != axis % data.ndim + 1:
        raise RuntimeError(f"segment_reduce: lengths of {axis % data.ndim + 1} dimensions, got {ends.ndim}")
    if not unsafe and (ends[..., -1] != data.shape[axis]).any():
        raise RuntimeError(f"segment_reduce: the lengths are {data.shape[axis]} together, got {ends[..., -1].tolist()}")
    return _segments(data, reduce, ends, initial)


def _segments(data: Tensor, reduce: str, ends: np.ndarray, initial: Any) -> Tensor:
    if ends.ndim > 1:
        return stacked([_segments(*each, initial) for each in zip(data.unbind(0), [reduce] * len(ends), ends)], 0)
    of_part, joined, empty = _WAYS[reduce]
    found = []
    for start, end in zip(ends.tolist(), ends[1:].tolist()):
        if end == start:
            found.append(full_of(tuple(data.shape[1:]), empty if initial is None else float(initial), data._dtype))
            continue
        made = of_part(narrow(data, 0, start, end - start))
        first = initial if reduce != "mean" or initial is None else initial / (end - start)
        found.append(made if first is None else joined(made, first))
    return stacked(found, 0)
