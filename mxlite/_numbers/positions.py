"""Where elements are, by rank, number or value: of NumPy arrays, along an axis. `mxlite.torch` takes what is there."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def kth(values: Array, axis: int, k: int) -> Array:
    """Where the k-th smallest element of each row is; the axis stays, with size 1.

    Raises: RuntimeError: there are not so many.
    """
    if not 1 <= k <= values.shape[axis]:
        raise RuntimeError(f"kthvalue: k is from 1 to {values.shape[axis]}, got {k}")
    return np.take(np.argsort(values, axis, kind="stable"), [k - 1], axis)


def middle_number(values: Array, axis: int) -> Array:
    """Where the lower median of each row's numbers is; of NaN alone, the first."""
    counts = (values == values).sum(axis, keepdims=True)
    return np.take_along_axis(np.argsort(values, axis, kind="stable"), np.maximum(counts - 1, 0) // 2, axis)


def most_frequent(values: Array, axis: int) -> Array:
    """Where the smallest of each row's most frequent elements is last."""
    order = np.argsort(values, axis, kind="stable")
    rows = np.moveaxis(np.take_along_axis(values, order, axis), axis, -1)
    places = np.arange(rows.shape[-1])
    starts = np.ones(rows.shape, bool)
    starts[..., 1:] = rows[..., 1:] != rows[..., :-1]
    lengths = places - np.maximum.accumulate(np.where(starts, places, 0), -1)
    return np.take_along_axis(order, np.moveaxis(np.argmax(lengths, -1)[..., None], -1, axis), axis)


def running(values: Array, axis: int, accumulate: np.ufunc) -> Array:
    """Where the extreme of the elements up to each one is last; from a NaN on, where the last NaN is."""
    found = (values == accumulate.accumulate(values, axis)) | (values != values)
    steps = np.arange(values.shape[axis]).reshape(tuple(-1 if k == axis else 1 for k in range(values.ndim)))
    return np.asarray(np.maximum.accumulate(np.where(found, steps, 0), axis))


def runs(values: Array) -> tuple[Array, Array, Array]:
    """Where parts of the first axis begin that differ from the one before; which run each is of, and the lengths."""
    starts = np.ones(len(values), bool)
    starts[1:] = (values[1:] != values[:-1]).any(tuple(range(1, values.ndim)))
    first = np.flatnonzero(starts)
    return first, np.cumsum(starts) - 1, np.diff(np.append(first, len(values)))


def search(rows: Array, values: Array, side: str) -> Array:
    """Where values would be in rows in order: one row for all, or one for each row of values."""
    if rows.ndim == 1:
        found = np.searchsorted(rows, values, side)
    else:
        lines = zip(rows.reshape(-1, rows.shape[-1]), values.reshape(-1, values.shape[-1]))
        found = np.reshape([np.searchsorted(row, line, side) for row, line in lines], values.shape)
    return np.where(values == values, found, rows.shape[-1])  # NaN is behind all
