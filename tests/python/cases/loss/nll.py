"""Minus the logarithms of probabilities of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._case import Case, In

CASES: list = []
INTERNAL: list = []

_OP = "_mxl_nll"
_NEAR = {"float16": (2e-3, 2e-3), "float32": (2e-5, 2e-6), "float64": (1e-12, 1e-12)}


def _nll(x, target, weight=None, reduction="mean", ignore=-100, weighted=False):
    axis = int(x.ndim > 1)
    counted = target != ignore
    index = np.where(counted, target, 0)
    share = np.where(counted, 1.0 if weight is None else weight.astype("float64")[index], 0.0)
    picked = np.take_along_axis(x.astype("float64"), np.expand_dims(index, axis), axis).squeeze(axis)
    losses = np.where(counted, -share * picked, 0.0)
    if reduction == "none":
        return losses.astype(x.dtype)
    with np.errstate(all="ignore"):
        return np.asarray(losses.sum() / share.sum() if reduction == "mean" else losses.sum()).astype(x.dtype)


def _add(label: str, shape: tuple, target: Any, dtype: str = "float32", order: int = 2, weight: Any = None, **params):
    inputs = [In(shape, dtype), In(values=target, dtype="int64")]
    if weight is not None:
        inputs.append(In(values=weight, dtype=dtype))
        params["weighted"] = True
    INTERNAL.append(Case(_OP, label, tuple(inputs), params, _nll, order=order, diff=(0,), tolerance=_NEAR,
                         np_shape=True))  # fmt: skip


_TARGET = [2, 0, 1, 2]
_WEIGHT = [0.5, 1.5, 3.0]
for _reduction in ("none", "mean", "sum"):
    for _dtype in ("float16", "float32", "float64"):
        _add(f"{_reduction}-{_dtype}", (4, 3), _TARGET, _dtype, 2 * (_dtype != "float16"), reduction=_reduction)
    _add(f"{_reduction}-weighted", (4, 3), _TARGET, weight=_WEIGHT, reduction=_reduction)
    _add(f"{_reduction}-ignored", (4, 3), [2, -100, 1, -100], reduction=_reduction)
    _add(f"{_reduction}-ignored-class", (4, 3), _TARGET, weight=_WEIGHT, ignore=2, reduction=_reduction)
    _add(f"{_reduction}-image", (2, 3, 2, 2), np.arange(8).reshape(2, 2, 2) % 3, reduction=_reduction)
    _add(f"{_reduction}-vector", (3,), 1, reduction=_reduction)
_add("all-ignored", (2, 3), [-100, -100], order=0)
_add("many", (1030, 7), np.arange(1030) % 7, order=0)
_add("no-rows", (0, 3), np.zeros(0, "int64"), order=0, reduction="sum")

_x, _t = In((4, 3)), In(values=_TARGET, dtype="int64")
for _label, _inputs, _params in (
    ("class", (_x, In(values=[0, 3, 1, 1], dtype="int64")), {}),
    ("negative", (_x, In(values=[0, -1, 1, 1], dtype="int64")), {}),
    ("shape", (_x, In(values=[0, 1, 1], dtype="int64")), {}),
    ("dtype", (_x, In(values=_TARGET, dtype="int32")), {}),
    ("integers", (In((4, 3), "int32", ("int", 0, 5)), _t), {}),
    ("no-axes", (In(()), In(values=0, dtype="int64")), {}),
    ("weight", (_x, _t, In((2,))), {"weighted": True}),
    ("weight-dtype", (_x, _t, In((3,), "float64")), {"weighted": True}),
    ("weight-missing", (_x, _t), {"weighted": True}),
    ("reduction", (_x, _t), {"reduction": "median"}),
):
    INTERNAL.append(Case(_OP, f"error-{_label}", _inputs, _params, error=True, np_shape=True))
