"""Scaled dot-product attention by tiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._case import Case, In

CASES: list = []
INTERNAL: list = []

_OP = "_mxl_attention"
_NEAR = {"float32": (1e-4, 1e-5), "float64": (1e-9, 1e-10)}


def _attention(q, k, v, mask=None, scale=1.0, causal=False, masked=False):
    scores = q.astype("float64") @ k.astype("float64").swapaxes(-1, -2) * scale
    if mask is not None:
        scores = scores + mask
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    top = scores.max(-1, keepdims=True, initial=-np.inf)
    shares = np.exp(scores - np.where(top == -np.inf, 0, top))
    total = shares.sum(-1, keepdims=True)
    return (shares / np.where(total == 0, 1, total) @ v.astype("float64")).astype(q.dtype)


def _add(
    label: str, queries=3, keys=4, batch=(2,), size=3, width=5, mask: Any = None, order=0, dtype="float32", **params
):
    inputs = [In((*batch, queries, size), dtype), In((*batch, keys, size), dtype), In((*batch, keys, width), dtype)]
    if mask is not None:
        inputs.append(mask if isinstance(mask, In) else In(mask, dtype))
        params["masked"] = True
    INTERNAL.append(Case(_OP, label, tuple(inputs), params, _attention, order=order, diff=tuple(range(len(inputs))),
                         tolerance=_NEAR, np_shape=label.startswith("no-")))  # fmt: skip


_hidden = np.zeros((3, 4), "float32")
_hidden[0, 1:] = _hidden[1] = -np.inf
for _dtype in ("float32", "float64"):
    _add(f"plain-{_dtype}", order=2, dtype=_dtype)
    _add(f"scaled-{_dtype}", order=2, dtype=_dtype, scale=-0.3, batch=(2, 1, 2))
    _add(f"causal-{_dtype}", order=2, dtype=_dtype, causal=True)
    _add(f"masked-{_dtype}", order=2, dtype=_dtype, mask=(3, 4))
    _add(f"past-tiles-{_dtype}", 130, 1030, (1, 2), 33, 7, dtype=_dtype, scale=0.2)
    _add(f"past-tiles-causal-{_dtype}", 1030, 600, (1,), 8, 8, dtype=_dtype, causal=True)
_add("mask-batch", batch=(2, 3), mask=(2, 1, 1, 4), order=1)
_add("mask-heads", batch=(2, 3), mask=(3, 3, 1), order=1)
_add("mask-number", mask=(), order=1)
_add("mask-all", batch=(2, 3), mask=(2, 3, 3, 4), causal=True, order=1)
_add("mask-long", 70, 600, (2, 2), 4, 4, mask=(2, 1, 70, 600))
_add("mask-hides-rows", mask=In(values=_hidden))
_add("ones", 1, 1, (1,), 1, 1, order=2)
_add("one-key", keys=1, order=1)
_add("one-query", queries=1, keys=700)
_add("causal-more-keys", 3, 70, causal=True, order=1)
_add("causal-more-queries", 66, 3, causal=True, order=1)
_add("no-queries", queries=0)
_add("no-keys", keys=0)
_add("no-batch", batch=(0,))
_add("no-size", size=0)
_add("no-width", width=0)

_q, _k, _v = In((2, 3, 4)), In((2, 5, 4)), In((2, 5, 6))
for _label, _inputs, _params in (
    ("matrices", (In((3, 4)), In((5, 4)), In((5, 6))), {}),
    ("batches", (_q, In((1, 5, 4)), _v), {}),
    ("sizes", (_q, In((2, 5, 3)), _v), {}),
    ("keys", (_q, _k, In((2, 4, 6))), {}),
    ("dtypes", (_q, _k, In((2, 5, 6), "float64")), {}),
    ("float16", tuple(each.like("float16") for each in (_q, _k, _v)), {}),
    ("int32", tuple(each.like("int32") for each in (_q, _k, _v)), {}),
    ("mask-shape", (_q, _k, _v, In((3, 4))), {"masked": True}),
    ("mask-axes", (_q, _k, _v, In((2, 2, 3, 5))), {"masked": True}),
    ("mask-more-axes", (_q, _k, _v, In((1, 2, 3, 5))), {"masked": True}),
    ("mask-dtype", (_q, _k, _v, In((3, 5), "float64")), {"masked": True}),
    ("mask-missing", (_q, _k, _v), {"masked": True}),
    ("mask-without-masked", (_q, _k, _v, In((3, 5))), {}),
):
    INTERNAL.append(Case(_OP, _label, _inputs, _params, error=True))
