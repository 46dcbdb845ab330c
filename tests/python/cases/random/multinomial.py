"""Random categories by their probabilities, classes without repetition, and shuffled rows: shares, ranges and sets."""

from __future__ import annotations

import math

import numpy as np

from .._case import Case, In

CASES: list = []

# ---- categories ----


def _categories(outputs, inputs, params) -> str:
    data, x = inputs[0].astype("float64"), outputs[0]
    shape = params.get("shape") or ()
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    wanted = (data.shape[:-1] + shape or (1,), params.get("dtype", "int32"))
    if (x.shape, x.dtype.name) != wanted:
        return f"{x.dtype}{x.shape}, not {wanted}"
    rows, drawn = data.reshape(-1, data.shape[-1]), x.astype("int64").reshape(int(np.prod(data.shape[:-1])), -1)
    for probabilities, row in zip(rows, drawn):
        if row.min() < 0 or row.max() >= len(probabilities) or not probabilities[row].all():
            return "an impossible category"
        shares = np.bincount(row, minlength=len(probabilities)) / row.size
        if row.size >= 1000 and np.abs(shares - probabilities).max() > 5 * 0.5 / row.size**0.5:
            return f"shares are {shares}, not {probabilities}"
    if not params.get("get_prob"):
        return ""
    logs = outputs[1]
    if (logs.shape, logs.dtype) != (x.shape, inputs[0].dtype):
        return f"logarithms are {logs.dtype}{logs.shape}"
    exact = np.log(np.take_along_axis(rows, drawn, 1)).reshape(x.shape)
    return "" if np.allclose(logs.astype("float64"), exact, rtol=1e-3, atol=1e-3) else "wrong logarithms"


def _of_last(data, **params):
    """Where every row's last possible category is certain."""
    shape = params.get("shape", ())
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    best = (data.shape[-1] - 1) - np.argmax(data[..., ::-1] > 0, -1)
    chosen = np.take_along_axis(data, best[..., None], -1)[..., 0]
    full = data.shape[:-1] + shape or (1,)
    wide = best.shape + (1,) * len(shape)
    x = np.broadcast_to(best.reshape(wide), full).astype(params.get("dtype", "int32"))
    if not params.get("get_prob"):
        return x
    return x, np.broadcast_to(np.log(chosen.astype("float64")).reshape(wide), full).astype(data.dtype)


_OP = "_sample_multinomial"
_HALVES = In(values=[0.25, 0.5, 0.0, 0.25])
_TWO = In(values=[[0.25, 0.5, 0.0, 0.25], [0.0, 0.0, 0.125, 0.875]])
_SURE = In(values=[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
for _label, _input, _params in (
    ("row", _HALVES, {"shape": 4000}),
    ("rows", _TWO, {"shape": (40, 100), "get_prob": True}),
    ("three-axes", In(values=[[_TWO.values[0]], [_TWO.values[1]]]), {"shape": 2000, "get_prob": True}),
    ("one-number", _HALVES, {}),
    ("one-of-rows", _TWO, {"get_prob": True}),
    ("few", _TWO, {"shape": (7,), "get_prob": True}),
    ("eight", _TWO, {"shape": (8,), "get_prob": True}),
    ("many-rows", In(values=[[0.25, 0.75]] * 3000), {}),
    ("float64-data", In(values=_TWO.values, dtype="float64"), {"shape": 10, "get_prob": True}),
    ("float16-data", In(values=_TWO.values, dtype="float16"), {"shape": 10, "get_prob": True}),
    *(
        (f"in-{_dtype}", _TWO, {"shape": 40, "dtype": _dtype, "get_prob": True})
        for _dtype in ("float16", "float32", "float64", "uint8", "int32")
    ),
    ("most-uint8", In(values=[1 / 256] * 256), {"shape": 100, "dtype": "uint8"}),
):
    CASES.append(Case(_OP, _label, (_input,), _params, random=True, check=_categories))
CASES += [
    Case(_OP, "sure", (_SURE,), {"shape": 3}, _of_last),
    Case(_OP, "sure-prob", (_SURE,), {"shape": 3, "get_prob": True}, _of_last),
    Case(_OP, "sure-many", (_SURE,), {"shape": 20, "get_prob": True}, _of_last),
    Case(_OP, "shape-none", (In(values=[0.0, 1.0]),), {"shape": None}, lambda data, **p: np.ones(1, "int32")),
    Case(
        _OP,
        "one-category",
        (In(values=[[1.5], [2.0], [1.0], [3.5]]),),
        {"shape": 3, "get_prob": True, "dtype": "float64"},
        _of_last,
        order=2,
        diff=(0,),
    ),
    Case(
        _OP,
        "one-category-many",
        (In(values=[[1.5], [2.0]]),),
        {"shape": (2, 5), "get_prob": True, "dtype": "float64"},
        _of_last,
        order=2,
        diff=(0,),
    ),
    Case(
        _OP,
        "one-category-one",
        (In(values=[1.5]),),
        {"get_prob": True, "dtype": "float64"},
        _of_last,
        order=2,
        diff=(0,),
    ),
    Case(
        _OP,
        "above-one",
        (In(values=[5.0, 5.0]),),
        {"shape": 9, "get_prob": True},
        lambda data, **p: (np.zeros(9, "int32"), np.full(9, np.log(5), "float32")),
    ),
    Case(_OP, "above-one-few", (In(values=[5.0, 5.0]),), {"shape": 3}, lambda data, **p: np.zeros(3, "int32")),
    Case(_OP, "negative", (In(values=[-1.0, 2.0]),), {"shape": 9}, lambda data, **p: np.ones(9, "int32")),
    Case(_OP, "nan", (In(values=[math.nan, 0.5]),), {"shape": 9}, lambda data, **p: np.zeros(9, "int32")),
    Case(_OP, "nan-few", (In(values=[math.nan, 0.5]),), {"shape": 3}, lambda data, **p: np.zeros(3, "int32")),
    Case(
        _OP,
        "zeros",
        (In(values=[0.0, 0.0]),),
        {"shape": 9, "get_prob": True},
        lambda data, **p: (np.ones(9, "int32"), np.full(9, -np.inf, "float32")),
        oracle="differs: a category that does not exist",
    ),
    Case(
        _OP,
        "short",
        (In(values=[0.0, 1e-30, 0.0]),),
        {"shape": 9},
        lambda data, **p: np.ones(9, "int32"),
        oracle="differs: a category that does not exist",
    ),
    Case(
        _OP,
        "short-few",
        (In(values=[0.0, 1e-30, 0.0]),),
        {"shape": 3},
        lambda data, **p: np.ones(3, "int32"),
        oracle="differs: a category that does not exist",
    ),
    Case(_OP, "no-numbers", (_SURE,), {"shape": (0,)}, lambda data, **p: np.zeros((2, 0), "int32"), np_shape=True),
    Case(
        _OP,
        "no-rows",
        (In((0, 2)),),
        {"shape": (3,)},
        lambda data, **p: np.zeros((0, 3), "int32"),
        np_shape=True,
        oracle="skip: ends the process (SIGFPE)",
    ),
    Case(
        _OP,
        "no-categories",
        (In((2, 0)),),
        {"shape": (3,)},
        error=True,
        np_shape=True,
        oracle="skip: ends the process (SIGFPE)",
    ),
    Case(_OP, "scalar", (In(()),), {"shape": (3,)}, error=True, np_shape=True),
    Case(_OP, "negative-shape", (_HALVES,), {"shape": (-1,)}, error=True),
    Case(_OP, "too-many-uint8", (In(values=[1 / 257] * 257),), {"dtype": "uint8"}, error=True, oracle="differs: wraps"),
    Case(
        _OP,
        "too-many-float16",
        (In(values=[1 / 2050] * 2050),),
        {"dtype": "float16"},
        error=True,
        oracle="differs: rounds",
    ),
    Case(_OP, "int32-data", (In((2,), "int32", ("int", 0, 1)),), error=True),
    Case(_OP, "bool-data", (In((2,), "bool", "bool"),), error=True),
    Case(_OP, "int64", (_HALVES,), {"dtype": "int64"}, error=True),
    Case(_OP, "unknown-dtype", (_HALVES,), {"dtype": "float33"}, error=True),
    Case(_OP, "out-float32", (_HALVES,), {"shape": 5}, out=(((5,), "float32"),), error=True),
    Case(_OP, "out-other-shape", (_HALVES,), {}, out=(((5,), "int32"),), error=True),
    Case(_OP, "no-input", (), error=True),
    Case(_OP, "unknown-parameter", (_HALVES,), {"foo": 1}, error=True),
]


def _classes(outputs, inputs, params) -> str:
    x, tries = outputs
    rows, count = params["shape"]
    if (x.shape, tries.shape, x.dtype.name, tries.dtype.name) != ((rows, count), (rows,), "int64", "int64"):
        return f"{x.dtype}{x.shape}, {tries.dtype}{tries.shape}"
    if x.size and (x.min() < 0 or x.max() >= params["range_max"]):
        return "a class that does not exist"
    if any(len(set(row)) != count for row in x.tolist()):
        return "a class twice"
    return "" if (tries >= count).all() else "too few draws"


_OP = "_sample_unique_zipfian"
for _label, _most, _shape in (
    ("rows", 1000, (20, 30)),
    ("crowded", 40, (20, 30)),
    ("all", 12, (9, 12)),
    ("one", 2, (30, 1)),
    ("most", 2**31 - 1, (5, 100)),
):
    CASES.append(Case(_OP, _label, (), {"range_max": _most, "shape": _shape}, random=True, check=_classes))
CASES += [
    Case(
        _OP,
        "out",
        (),
        {"range_max": 100, "shape": (2, 3)},
        random=True,
        check=_classes,
        out=(((2, 3), "int64"), ((2,), "int64")),
    ),
    Case(
        _OP,
        "certain",
        (),
        {"range_max": 1, "shape": (2, 1)},
        lambda **p: (np.zeros((2, 1), "int64"), np.ones(2, "int64")),
    ),
    Case(_OP, "no-rows", (), {"range_max": 9, "shape": (0, 5)}, random=True, check=_classes, np_shape=True),
    Case(
        _OP,
        "no-classes",
        (),
        {"range_max": 9, "shape": (5, 0)},
        lambda **p: (np.zeros((5, 0), "int64"), np.zeros(5, "int64")),
        np_shape=True,
    ),
    Case(
        _OP,
        "no-range",
        (),
        {"range_max": 0, "shape": (5, 0)},
        lambda **p: (np.zeros((5, 0), "int64"), np.zeros(5, "int64")),
        np_shape=True,
    ),
    Case(_OP, "too-many", (), {"range_max": 10, "shape": (1, 11)}, error=True),
    Case(_OP, "range-zero", (), {"range_max": 0, "shape": (1, 1)}, error=True),
    Case(_OP, "range-negative", (), {"range_max": -5, "shape": (1, 1)}, error=True, oracle="differs: garbage"),
    Case(_OP, "range-large", (), {"range_max": 3 * 10**9, "shape": (1, 1)}, error=True),
    Case(_OP, "one-axis", (), {"range_max": 10, "shape": (5,)}, error=True),
    Case(_OP, "three-axes", (), {"range_max": 10, "shape": (1, 2, 3)}, error=True),
    Case(_OP, "negative-shape", (), {"range_max": 10, "shape": (-1, 5)}, error=True),
    Case(_OP, "no-shape", (), {"range_max": 10}, error=True),
    Case(_OP, "no-range-max", (), {"shape": (1, 5)}, error=True),
    Case(
        _OP, "out-int32", (), {"range_max": 10, "shape": (1, 5)}, out=(((1, 5), "int32"), ((1,), "int64")), error=True
    ),
    Case(_OP, "one-out", (), {"range_max": 10, "shape": (1, 5)}, out=(((1, 5), "int64"),), error=True),
    Case(_OP, "unknown-parameter", (), {"range_max": 10, "shape": (1, 5), "foo": 1}, error=True),
]

# ---- rows ----


def _shuffled(outputs, inputs, params) -> str:
    x, data = outputs[0], inputs[0]
    if (x.shape, x.dtype) != (data.shape, data.dtype):
        return f"{x.dtype}{x.shape}"
    if sorted(x.reshape(len(x), -1).tolist()) != sorted(data.reshape(len(x), -1).tolist()):
        return "other rows"
    return ""


_OP = "_shuffle"
for _dtype in ("float16", "float32", "float64", "int8", "uint8", "int32", "int64"):
    CASES.append(Case(_OP, _dtype, (In((100,), _dtype, ("int", 0, 100)),), random=True, check=_shuffled))
CASES += [
    Case(_OP, "bool", (In((9,), "bool", "bool"),), random=True, check=_shuffled),
    Case(_OP, "rows", (In((30, 2)),), random=True, check=_shuffled),
    Case(_OP, "three-axes", (In((20, 2, 3), "float64"),), random=True, check=_shuffled),
    Case(_OP, "out", (In((30, 2)),), random=True, check=_shuffled, out=(((30, 2), "float32"),)),
    Case(_OP, "one-row", (In((1, 5)),), {}, lambda x: x, order=2, diff=(0,), oracle="forward: no derivative"),
    Case(_OP, "one", (In((1,)),), {}, lambda x: x, order=2, diff=(0,), oracle="forward: no derivative"),
    Case(_OP, "same", (In(values=[[1, 2]] * 5),), {}, lambda x: x),
    Case(_OP, "no-rows", (In((0, 2)),), {}, lambda x: x, np_shape=True),
    Case(_OP, "empty-rows", (In((3, 0)),), {}, lambda x: x, np_shape=True),
    Case(_OP, "scalar", (In(()),), np_shape=True, error=True),
    Case(_OP, "out-other-dtype", (In((3,)),), out=(((3,), "float64"),), error=True),
    Case(_OP, "no-input", (), error=True),
    Case(_OP, "unknown-parameter", (In((3,)),), {"foo": 1}, random=True, check=_shuffled),
]
