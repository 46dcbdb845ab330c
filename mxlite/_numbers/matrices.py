"""Orders of rows, ranks and pseudo-inverses of NumPy's matrices, one or a batch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray


def row_order(values: Array) -> Array:
    """The order of rows in which elimination takes them: of each column the largest element first."""
    values = np.array(values, np.float64)
    order = np.broadcast_to(np.arange(values.shape[-2]), values.shape[:-1]).copy()
    for k in range(min(values.shape[-2:])):
        best = np.argmax(np.abs(values[..., k:, k]), -1)[..., None, None] + k
        for each in (values, order[..., None]):
            top, row = each[..., k : k + 1, :].copy(), np.take_along_axis(each, best, -2)
            np.put_along_axis(each, best, top, -2)
            each[..., k : k + 1, :] = row
        head = values[..., k : k + 1, :]
        first = head[..., k : k + 1]
        below = values[..., k + 1 :, k : k + 1] / np.where(first == 0, 1, first)
        values[..., k + 1 :, k:] -= below * head[..., k:]
    return order


def swaps_of(order: Array, count: int) -> Array:
    """With which row each of the first ones is exchanged to come to an order, from 1 on."""
    swaps = np.zeros((math.prod(order.shape[:-1]), count), np.int32)
    for swap, wanted in zip(swaps, order.reshape(len(swaps), order.shape[-1])):
        at = list(range(len(wanted)))
        for k in range(count):
            place = at.index(wanted[k], k)
            at[k], at[place] = at[place], at[k]
            swap[k] = place + 1
    return swaps.reshape((*order.shape[:-1], count))


def order_of(swaps: Array, rows: int) -> Array:
    """The order that exchanges of rows come to."""
    count = math.prod(swaps.shape[:-1])
    order = np.broadcast_to(np.arange(rows), (*swaps.shape[:-1], rows)).copy()
    for line, swap in zip(order.reshape(count, rows), swaps.reshape(count, -1 if swaps.size else 0)):
        for k, place in enumerate(swap - 1):
            line[[k, place]] = line[[place, k]]
    return order


def permutation(order: Array, dtype: Any) -> Array:
    """The matrix that puts rows back from an order."""
    return np.swapaxes(np.eye(order.shape[-1], dtype=dtype)[order], -1, -2)


def _counts(s: Array, part: float, least: float) -> Array:
    return np.asarray(s > np.maximum(least, part * s.max(-1, keepdims=True, initial=0)))


def rank(x: Array, part: float, least: float) -> Array:
    """How many singular values are above a part of the largest, and a number."""
    return np.asarray(_counts(np.linalg.svd(x, compute_uv=False), part, least).sum(-1), np.int64)


def pseudo_inverse(x: Array, part: float, least: float) -> Array:
    """The inverse on the singular vectors whose values count, as in rank()."""
    u, s, vh = np.linalg.svd(x, False)
    by = np.where(_counts(s, part, least), 1 / np.where(s == 0, 1, s), 0)
    return np.asarray(np.swapaxes(vh, -1, -2) @ (by[..., None] * np.swapaxes(u, -1, -2)))
