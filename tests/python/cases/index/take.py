"""Operators that look elements up: take, pick, one_hot."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []


def _places(index: np.ndarray, extent: int, mode: str) -> np.ndarray:
    """Indices as 1.9.1 reads them: truncated towards zero, then clipped or wrapped."""
    whole = np.trunc(np.nan_to_num(index.astype("float64"), nan=0.0))
    if mode == "wrap":
        return np.mod(whole, extent).astype("int64")
    return np.clip(whole, 0, extent - 1).astype("int64")


def _take(a: np.ndarray, indices: np.ndarray, axis=0, mode="clip") -> np.ndarray:
    return np.take(a, _places(indices, a.shape[axis], mode), axis=axis)


def _pick(data: np.ndarray, index: np.ndarray, axis=-1, keepdims=False, mode="clip") -> np.ndarray:
    kept = list(data.shape)
    kept[axis] = 1
    place = _places(index, data.shape[axis], mode).reshape(kept)
    found = np.take_along_axis(data, place, axis=axis)
    found = found if keepdims else np.squeeze(found, axis=axis)
    return found.reshape(found.shape or (1,))


def _one_hot(indices: np.ndarray, depth=0, on_value=1.0, off_value=0.0, dtype="float32") -> np.ndarray:
    whole = np.trunc(np.nan_to_num(indices.astype("float64"), nan=-1.0))
    hit = whole[..., None] == np.arange(depth)
    wide = "float64" if dtype.startswith("float") else "int64"
    return np.where(hit, np.array(on_value).astype(wide), np.array(off_value).astype(wide)).astype(dtype)


_rows = In((5, 3))
for _label, _inputs, _params in (
    ("rows", (_rows, In(values=[0.0, 2.0, 4.0])), {}),
    ("duplicates", (_rows, In(values=[1.0, 1.0, 4.0, 1.0])), {}),
    ("matrix-of-indices", (_rows, In(values=[[0.0, 1.0], [2.0, 2.0]])), {}),
    ("columns", (_rows, In(values=[2.0, 0.0])), {"axis": 1}),
    ("last-axis", (_rows, In(values=[2.0, 0.0, 0.0])), {"axis": -1}),
    ("middle-axis", (In((2, 4, 3)), In(values=[[3.0, 0.0], [1.0, 1.0]])), {"axis": 1}),
    ("vector", (In((6,)), In(values=[5.0, 0.0])), {}),
    ("clip", (_rows, In(values=[-1.0, -7.0, 5.0, 99.0, 2.0])), {"mode": "clip"}),
    ("wrap", (_rows, In(values=[-1.0, -7.0, 5.0, 99.0, 2.0])), {"mode": "wrap"}),
    ("wrap-columns", (_rows, In(values=[-1.0, 4.0])), {"mode": "wrap", "axis": 1}),
    ("raise-inside", (_rows, In(values=[0.0, 4.0])), {"mode": "raise"}),
    ("truncates", (_rows, In(values=[0.9, 1.5, 2.99, -0.5])), {}),
    ("int32-indices", (_rows, In(dtype="int32", values=[4, 0, -2])), {}),
    ("int64-indices", (_rows, In(dtype="int64", values=[4, 0, 9])), {"mode": "wrap"}),
    ("uint8-indices", (_rows, In(dtype="uint8", values=[4, 0, 255])), {}),
    ("float64-indices", (_rows, In(dtype="float64", values=[4.0, 0.0])), {}),
    ("float64", (In((5, 3), "float64"), In(values=[4.0, 0.0, 4.0])), {}),
    ("many", (In((41, 7)), In((300,), "int32", ("int", 0, 40))), {}),
):
    CASES.append(Case("take", _label, _inputs, _params, _take, order=0 if _label == "many" else 2, diff=(0,)))
for _dtype in ("int32", "int64", "uint8", "bool"):
    _domain = "bool" if _dtype == "bool" else ("int", 0, 99)
    CASES.append(Case("take", f"{_dtype}-data", (In((4, 2), _dtype, _domain), In(values=[3.0, 0.0])), {}, _take))
CASES += [
    Case("take", "index-gradient", (In((3,)), In(values=[0.0, 0.0, 2.0])), {}, _take, diff=(0, 1), defined=True),
    Case("take", "nan-index", (In((3,)), In(values=[np.nan, 1e10, -1e10])), {}, _take),
    Case("take", "no-indices", (In((3, 2)), In((0,))), {}, _take, np_shape=True),
    Case(
        "take",
        "from-nothing-nothing",
        (In((0, 2)), In((0,))),
        {},
        lambda a, i: np.zeros((0, 2), "float32"),
        np_shape=True,
    ),
    Case(
        "take",
        "from-nothing",
        (In((0, 2)), In(values=[0.0])),
        {},
        error=True,
        np_shape=True,
        oracle="skip: 1.9.1 reads out of bounds",
    ),
    Case("take", "raise-above", (_rows, In(values=[0.0, 5.0])), {"mode": "raise"}, error=True),
    Case("take", "raise-below", (_rows, In(values=[-1.0])), {"mode": "raise"}, error=True),
    Case("take", "axis-too-large", (_rows, In(values=[0.0])), {"axis": 2}, error=True),
    Case("take", "axis-too-small", (_rows, In(values=[0.0])), {"axis": -3}, error=True),
    Case("take", "unknown-mode", (_rows, In(values=[0.0])), {"mode": "foo"}, error=True),
    Case("take", "unknown-parameter", (_rows, In(values=[0.0])), {"foo": 1}, error=True),
    Case("take", "one-input", (_rows,), {}, error=True),
]

_table = In((3, 4))
for _label, _inputs, _params in (
    ("last", (_table, In(values=[0.0, 3.0, 1.0])), {}),
    ("second", (_table, In(values=[0.0, 3.0, 1.0])), {"axis": 1}),
    ("first", (_table, In(values=[0.0, 2.0, 1.0, 1.0])), {"axis": 0}),
    ("negative-first", (_table, In(values=[0.0, 2.0, 1.0, 1.0])), {"axis": -2}),
    ("keepdims", (_table, In(values=[0.0, 3.0, 1.0])), {"keepdims": True}),
    ("kept-index", (_table, In(values=[[0.0], [3.0], [1.0]])), {}),
    ("kept-index-keepdims", (_table, In(values=[[0.0], [3.0], [1.0]])), {"keepdims": True}),
    ("three-dims", (In((2, 3, 4)), In((2, 4), "int32", ("int", 0, 2))), {"axis": 1}),
    ("clip", (_table, In(values=[-1.0, 9.0, 1.0])), {"mode": "clip"}),
    ("wrap", (_table, In(values=[-1.0, 9.0, -6.0])), {"mode": "wrap"}),
    ("truncates", (_table, In(values=[1.9, -0.5, 2.5])), {}),
    ("int32-index", (_table, In(dtype="int32", values=[1, 2, 3])), {}),
    ("int64-index", (_table, In(dtype="int64", values=[1, 2, 3])), {}),
    ("vector", (In((5,)), In(values=[3.0])), {"axis": 0}),
    ("float64", (In((3, 4), "float64"), In(values=[0.0, 3.0, 1.0])), {}),
):
    CASES.append(Case("pick", _label, _inputs, _params, _pick, order=2, diff=(0,)))
for _dtype in ("int32", "int64", "uint8"):
    CASES.append(
        Case("pick", f"{_dtype}-data", (In((3, 4), _dtype, ("int", 0, 99)), In(values=[0.0, 3.0, 1.0])), {}, _pick)
    )
CASES += [
    Case("pick", "index-gradient", (_table, In(values=[0.0, 3.0, 1.0])), {}, _pick, diff=(0, 1), defined=True),
    Case("pick", "empty", (In((0, 2)), In((0,))), {}, lambda x, i: np.zeros((0,), "float32"), np_shape=True),
    Case("pick", "index-length", (_table, In(values=[0.0, 3.0])), {}, error=True),
    Case("pick", "index-shape", (_table, In(values=[[0.0, 3.0, 1.0]])), {}, error=True),
    Case("pick", "axis-none", (_table, In(values=[0.0, 3.0, 1.0])), {"axis": None}, error=True),
    Case("pick", "axis-too-large", (_table, In(values=[0.0, 3.0, 1.0])), {"axis": 2}, error=True),
    Case("pick", "raise-mode", (_table, In(values=[0.0, 3.0, 1.0])), {"mode": "raise"}, error=True),
    Case("pick", "malformed-keepdims", (_table, In(values=[0.0, 3.0, 1.0])), {"keepdims": "x"}, error=True),
    Case("pick", "unknown-parameter", (_table, In(values=[0.0, 3.0, 1.0])), {"foo": 1}, error=True),
    Case("pick", "one-input", (_table,), {}, error=True),
]

_hot = In(values=[0.0, 2.0, -1.0, 3.0, 1.9])
for _label, _input, _params in (
    ("default", _hot, {"depth": 3}),
    ("values", _hot, {"depth": 3, "on_value": 5.5, "off_value": -1.5}),
    ("float64", _hot, {"depth": 3, "dtype": "float64", "on_value": 0.1}),
    ("float16", _hot, {"depth": 3, "dtype": "float16"}),
    ("int32", _hot, {"depth": 3, "dtype": "int32", "on_value": 1.9}),
    ("int64", _hot, {"depth": 3, "dtype": "int64", "on_value": -7}),
    ("int8", _hot, {"depth": 3, "dtype": "int8", "on_value": -7}),
    ("uint8-wraps", _hot, {"depth": 3, "dtype": "uint8", "on_value": -1, "off_value": 300}),
    ("matrix", In((2, 3), "int64", ("int", 0, 4)), {"depth": 5}),
    ("int32-indices", In((7,), "int32", ("int", 0, 4)), {"depth": 5}),
    ("uint8-indices", In((7,), "uint8", ("int", 0, 4)), {"depth": 5}),
    ("float64-indices", In((7,), "float64", ("int", 0, 4)), {"depth": 5}),
    ("depth-one", _hot, {"depth": 1}),
    ("depth-zero", In((2,)), {"depth": 0}),
):
    CASES.append(Case("one_hot", _label, (_input,), _params, _one_hot))
CASES += [
    Case("one_hot", "gradient", (In(values=[0.0, 2.0]),), {"depth": 3}, _one_hot, diff=(0,), defined=True),
    Case("one_hot", "empty", (In((0,)),), {"depth": 3}, _one_hot, np_shape=True),
    Case("one_hot", "no-depth", (_hot,), {}, error=True),
    Case("one_hot", "negative-depth", (_hot,), {"depth": -1}, error=True),
    Case("one_hot", "fraction", (_hot,), {"depth": "3.0"}, error=True),
    Case("one_hot", "bool-dtype", (_hot,), {"depth": 3, "dtype": "bool"}, error=True),
    Case("one_hot", "malformed-on", (_hot,), {"depth": 3, "on_value": "x"}, error=True),
    Case("one_hot", "malformed-off", (_hot,), {"depth": 3, "off_value": "x"}, error=True),
    Case("one_hot", "unknown-parameter", (_hot,), {"depth": 3, "foo": 1}, error=True),
]


def _encode(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    rows = np.trunc(lhs)[:, None] == np.arange(rhs.shape[1])
    return rows.astype(rhs.dtype)


_rows_of = In((5, 3))
_one_kind = {"oracle": "differs: 1.9.1 takes float32 alone"}
for _label, _lhs, _rhs, _more in (
    ("plain", In(values=[0.0, 2.0]), In((2, 3)), {}),
    ("out-of-range", _hot, _rows_of, {}),
    ("nan", In(values=[np.nan, 1.5]), In((2, 3)), {}),
    ("one", In(values=[0.0]), In((1, 1)), {}),
    ("no-positions", In(values=[0.0, 1.0]), In((2, 0)), {"np_shape": True}),
    ("empty", In((0,)), In((0, 3)), {"np_shape": True}),
    ("out", In(values=[0.0, 2.0]), In((2, 3)), {"out": (((2, 3), "float32"),)}),
    ("int32-indices", In(values=[0, 2], dtype="int32"), In((2, 3)), _one_kind),
    ("float64-indices", In(values=[0, 2], dtype="float64"), In((2, 3)), _one_kind),
    ("float64", In(values=[0.0, 2.0]), In((2, 3), "float64"), _one_kind),
    ("int32", In(values=[0.0, 2.0]), In((2, 3), "int32", "bool"), _one_kind),
    ("bool", In(values=[0.0, 2.0]), In((2, 3), "bool", "bool"), _one_kind),
):
    CASES.append(Case("_onehot_encode", _label, (_lhs, _rhs), forward=_encode, **_more))
CASES += [
    Case(
        "_onehot_encode",
        "gradient",
        (In(values=[0.5, 2.5]), In((2, 3))),
        {},
        _encode,
        order=1,
        diff=(0, 1),
        oracle="forward: no gradient",
    ),
    Case("_onehot_encode", "rows-differ", (In(values=[0.0, 2.0]), In((3, 3))), error=True),
    Case("_onehot_encode", "matrix-of-indices", (In(values=[[0.0, 2.0]]), In((2, 3))), error=True),
    Case("_onehot_encode", "into-vector", (In(values=[0.0, 2.0]), In((2,))), error=True),
    Case("_onehot_encode", "into-three-axes", (In(values=[0.0, 2.0]), In((2, 3, 1))), error=True),
    Case("_onehot_encode", "unknown-parameter", (In(values=[0.0, 2.0]), In((2, 3))), {"foo": 1}),
    Case("_onehot_encode", "one-input", (In(values=[0.0, 2.0]),), error=True),
    Case(
        "_onehot_encode", "out-other-shape", (In(values=[0.0, 2.0]), In((2, 3))), out=(((2, 4), "float32"),), error=True
    ),
]
