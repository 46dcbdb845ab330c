"""Choices at random of NumPy arrays: positions with and without replacement, and counts of categories."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []


def _size(params) -> tuple:
    size = params.get("size", "None")
    return () if size == "None" else (size,) if isinstance(size, int) else tuple(size)


def _choice(outputs, inputs, params) -> str:
    out = outputs[0]
    count = len(inputs[0]) if params["a"] == "None" else params["a"]
    if (out.shape, out.dtype.name) != (_size(params), "int64"):
        return f"{out.shape}, {out.dtype}"
    if out.size and (out.min() < 0 or out.max() >= count):
        return "a position is out of range"
    weights = inputs[-1].astype("float64") if params.get("weighted") else np.ones(count)
    if (weights[out.ravel()] == 0).any():
        return "a position without weight was drawn"
    if not params.get("replace", True):
        return "" if len(set(out.ravel().tolist())) == out.size else "a position was drawn twice"
    if out.size < 1000:
        return ""
    wanted = weights / weights.sum()
    off = np.abs(np.bincount(out.ravel(), minlength=count) / out.size - wanted)
    return "" if (off < 5 * np.sqrt(0.25 / out.size)).all() else f"frequencies are off by {off}"


def _add(op: str, label: str, inputs: tuple, params: dict, check=None, **more) -> None:
    CASES.append(Case(op, label, inputs, params, random=check is not None, check=check, **more))


_WEIGHTS = In(values=[0.1, 0.2, 0.3, 0.4, 0.0])
for _label, _inputs, _params in (
    ("number", (), {"a": 5, "size": (40, 50)}),
    ("array", (In((5,)),), {"a": "None", "size": 2000}),
    ("array-2d", (In((5, 2)),), {"a": "None", "size": 7}),
    ("weighted", (_WEIGHTS,), {"a": 5, "size": 3000, "weighted": True}),
    ("weighted-array", (In((5,)), _WEIGHTS), {"a": "None", "size": 3000, "weighted": True}),
    ("without", (), {"a": 5, "size": 5, "replace": False}),
    ("without-some", (), {"a": 500, "size": (10, 3), "replace": False}),
    ("without-weighted", (_WEIGHTS,), {"a": 5, "size": (2, 2), "replace": False, "weighted": True}),
):
    _add("_npi_choice", _label, _inputs, _params, _choice)
_add(
    "_npi_choice",
    "float64-weights",
    (In(values=[0.5, 0.5], dtype="float64"),),
    {"a": 2, "size": 2000, "weighted": True},
    _choice,
    oracle="differs: 1.9.1 reads float32 alone",
)
_add("_npi_choice", "no-size", (), {"a": 5, "size": "None"}, _choice, np_shape=True)
_add("_npi_choice", "empty", (), {"a": 5, "size": (0, 2)}, _choice, np_shape=True)
_add("_npi_choice", "missing-input", (), {"a": "None", "size": 3}, error=True)
_add("_npi_choice", "no-a", (), {"size": 3}, error=True)
for _label, _inputs, _params in (
    ("of-none", (), {"a": 0, "size": 3}),
    ("too-many", (), {"a": 3, "size": 4, "replace": False}),
    ("negative-weight", (In(values=[-0.5, 1.5]),), {"a": 2, "size": 3, "weighted": True}),
    ("wrong-weights", (In(values=[0.5, 0.5]),), {"a": 3, "size": 3, "weighted": True}),
    ("zero-weights", (In(values=[0.0, 0.0]),), {"a": 2, "size": 3, "weighted": True}),
    ("few-weights", (In(values=[1.0, 0.0]),), {"a": 2, "size": 2, "weighted": True, "replace": False}),
):
    _add("_npi_choice", _label, _inputs, _params, error=True, oracle="skip: 1.9.1 reads or writes outside its arrays")


def _counts(outputs, inputs, params) -> str:
    out = outputs[0]
    p = inputs[0].astype("float64") if inputs else np.array(params["pvals"])
    if (out.shape, out.dtype.name) != ((*_size(params), len(p)), "int64"):
        return f"{out.shape}, {out.dtype}"
    if (out < 0).any() or (out.sum(-1) != params["n"]).any():
        return "counts are wrong"
    total = out.reshape(-1, len(p)).sum()
    if total < 1000:
        return ""
    p = np.append(p[:-1], 1 - p[:-1].sum())
    off = np.abs(out.reshape(-1, len(p)).sum(0) / total - p)
    return "" if (off < 5 * np.sqrt(0.25 / total)).all() else f"frequencies are off by {off}"


_P = (0.2, 0.3, 0.5)
for _label, _inputs, _params in (
    ("list", (), {"n": 20, "pvals": _P}),
    ("array", (In(values=_P),), {"n": 20}),
    ("float64", (In(values=_P, dtype="float64"),), {"n": 20}),
    ("many", (), {"n": 100, "pvals": _P, "size": (10, 10)}),
    ("many-array", (In(values=_P),), {"n": 100, "size": 100}),
    ("rest", (), {"n": 100, "pvals": (0.1, 0.2), "size": 50}),
    ("none", (), {"n": 0, "pvals": _P, "size": 3}),
    ("one", (), {"n": 5, "pvals": (1.0,)}),
):
    _add("_npi_multinomial", _label, _inputs, _params, _counts)
_add("_npi_multinomial", "empty", (), {"n": 3, "pvals": _P, "size": (0, 2)}, _counts, np_shape=True)
_add("_npi_multinomial", "above-1", (), {"n": 5, "pvals": (0.9, 0.3, 0.1)}, error=True)
_add("_npi_multinomial", "2-axes", (In((1, 2), domain="positive"),), {"n": 5}, error=True)
_add("_npi_multinomial", "no-n", (), {"pvals": _P}, error=True)
_add(
    "_npi_multinomial",
    "negative",
    (),
    {"n": 5, "pvals": (-0.5, 0.3)},
    error=True,
    oracle="differs: 1.9.1 takes it as 0",
)
_add(
    "_npi_multinomial",
    "negative-n",
    (),
    {"n": -5, "pvals": _P},
    error=True,
    oracle="skip: 1.9.1 writes outside its arrays",
)
_add(
    "_npi_choice",
    "0-axes",
    (In(()),),
    {"a": "None", "size": 3},
    error=True,
    np_shape=True,
    oracle="skip: 1.9.1 reads an axis that is not there",
)
_add("_npi_multinomial", "0-axes", (In(()),), {"n": 5}, error=True, np_shape=True)
