"""Numbers that say where, flags, and closeness: ravel, unravel, index_array, arange_like, boolean_mask, allclose."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .gather_nd import DATA_DTYPES, INDEX_DTYPES, of_dtype

CASES: list = []


def _whole(array: np.ndarray) -> np.ndarray:
    """As int64; what none holds is the least one, as on x86-64 (NumPy's cast is the processor's)."""
    if array.dtype.kind != "f":
        return array.astype("int64")
    fits = np.abs(array.astype("float64")) < 2.0**63
    return np.where(fits, np.trunc(np.where(fits, array, 0).astype("float64")), -(2.0**63)).astype("int64")


def _int(*rows, dtype: str = "int32") -> In:
    return In(dtype=dtype, values=list(rows))


# ---- ravel_multi_index ----


def _ravel(data: np.ndarray, shape: tuple) -> np.ndarray:
    place = np.zeros(data.shape[1], "int64")
    for row, extent in zip(_whole(data), shape):
        place = place * extent + row
    return place.astype(data.dtype)


_ravel_op, _unravel_op = "_ravel_multi_index", "_unravel_index"
for _label, _data, _shape in (
    ("matrix", _int([1, 0, 2], [2, 1, 3]), (3, 4)),
    ("vector", _int([1, 0, 2]), (3,)),
    ("three-axes", _int([1, 0], [0, 2], [3, 1]), (2, 3, 4)),
    ("open", _int([7, 0], [2, 1]), (-1, 4)),
    ("first-zero", _int([7, 0], [2, 1]), (0, 4)),
    ("out-of-bounds", _int([5, -1], [9, -1]), (3, 4)),
    ("truncates", _int([1.5, -0.5], [1.5, 2.9], dtype="float32"), (3, 4)),
    ("float32-large", _int([3000], [1], dtype="float32"), (10000, 10001)),
    ("uint8-wraps", _int([200], [1], dtype="uint8"), (1000, 1001)),
    ("many", In((2, 600), "int32", ("int", 0, 9)), (10, 10)),
):
    CASES.append(Case(_ravel_op, _label, (_data,), {"shape": _shape}, _ravel))
for _dtype in INDEX_DTYPES:
    CASES.append(Case(_ravel_op, _dtype, (_int([1, 0, 2], [2, 1, 3], dtype=_dtype),), {"shape": (3, 4)}, _ravel))
_pairs = _int([1.0, 2.0], [3.0, 0.0], dtype="float32")
_32_BITS = "differs: 1.9.1 counts in 32 bits"
CASES += [
    Case(
        _ravel_op,
        "int64-large",
        (_int([1 << 40], [1], dtype="int64"),),
        {"shape": (1 << 41, 1001)},
        _ravel,
        oracle=_32_BITS,
    ),
    Case(_ravel_op, "gradient", (_pairs,), {"shape": (3, 4)}, _ravel, diff=(0,), defined=True),
    Case(_ravel_op, "no-columns", (In((2, 0)),), {"shape": (3, 4)}, _ravel, np_shape=True),
    Case(_ravel_op, "bool", (_int([True], [False], dtype="bool"),), {"shape": (3, 4)}, error=True),
    Case(_ravel_op, "vector-of-indices", (_int(1, 2),), {"shape": (3, 4)}, error=True),
    Case(_ravel_op, "cube-of-indices", (In((2, 1, 1)),), {"shape": (3, 4)}, error=True),
    Case(_ravel_op, "too-few-rows", (_pairs,), {"shape": (3, 4, 5)}, error=True),
    Case(_ravel_op, "too-many-rows", (_pairs,), {"shape": (3,)}, error=True),
    Case(_ravel_op, "no-shape", (_pairs,), {}, error=True),
    Case(_ravel_op, "shape-none", (_pairs,), {"shape": None}, error=True),
    Case(_ravel_op, "shape-empty", (_pairs,), {"shape": ()}, error=True),
    Case(
        _ravel_op,
        "open-behind",
        (_pairs,),
        {"shape": (3, -1)},
        error=True,
        oracle="differs: 1.9.1 counts with -1",
    ),
    Case(_ravel_op, "unknown-parameter", (_pairs,), {"shape": (3, 4), "foo": 1}, error=True),
]

# ---- unravel_index ----


def _unravel(data: np.ndarray, shape: tuple) -> np.ndarray:
    place, rows = _whole(data), []
    for extent in shape[:0:-1]:
        rest = np.trunc(place / extent).astype("int64") if place.size else place
        rows.append(place - rest * extent)
        place = rest
    return np.stack([place, *rows[::-1]]).astype(data.dtype)


for _label, _data, _shape in (
    ("matrix", _int(1, 5, 11), (3, 4)),
    ("vector", _int(1, 5), (7,)),
    ("three-axes", _int(1, 23, 11), (2, 3, 4)),
    ("open", _int(5, 30), (-1, 4)),
    ("first-zero", _int(5, 30), (0, 4)),
    ("above", _int(12, 13, 100), (3, 4)),
    ("below", _int(-1, -12, -13), (3, 4)),
    ("truncates", _int(1.5, 5.9, -0.5, dtype="float32"), (3, 4)),
    ("many", In((600,), "int32", ("int", 0, 59)), (3, 4, 5)),
):
    CASES.append(Case(_unravel_op, _label, (_data,), {"shape": _shape}, _unravel))
for _dtype in INDEX_DTYPES:
    CASES.append(Case(_unravel_op, _dtype, (_int(1, 5, 11, dtype=_dtype),), {"shape": (3, 4)}, _unravel))
_places = _int(1.0, 5.0, dtype="float32")
CASES += [
    Case(
        _unravel_op,
        "int64-large",
        (_int((1 << 40) * 1001 + 7, dtype="int64"),),
        {"shape": (1 << 41, 1001)},
        lambda data, shape: np.array([[1 << 40], [7]]),
        oracle=_32_BITS,
    ),
    Case(
        _unravel_op,
        "places-in-a-matrix",
        (_int([1, 5], [11, 0]),),
        {"shape": (3, 4)},
        _unravel,
        oracle="skip: 1.9.1 answers garbage",
    ),
    Case(
        _unravel_op,
        "one-place",
        (In(dtype="int32", values=7),),
        {"shape": (3, 4)},
        _unravel,
        np_shape=True,
        oracle="differs: 1.9.1 refuses",
    ),
    Case(_unravel_op, "gradient", (_places,), {"shape": (3, 4)}, _unravel, diff=(0,), defined=True),
    Case(_unravel_op, "no-places", (In((0,)),), {"shape": (3, 4)}, _unravel, np_shape=True),
    Case(
        _unravel_op,
        "empty-shape-no-places",
        (In((0,)),),
        {"shape": (3, 0)},
        lambda data, shape: np.zeros((2, 0), "float32"),
        np_shape=True,
    ),
    Case(_unravel_op, "empty-shape", (_places,), {"shape": (3, 0)}, error=True, oracle="skip: 1.9.1 ends with SIGFPE"),
    Case(_unravel_op, "bool", (_int(True, dtype="bool"),), {"shape": (3, 4)}, error=True),
    Case(_unravel_op, "no-shape", (_places,), {}, error=True),
    Case(_unravel_op, "shape-none", (_places,), {"shape": None}, error=True),
    Case(_unravel_op, "shape-scalar", (_places,), {"shape": ()}, error=True),
    Case(
        _unravel_op, "open-behind", (_places,), {"shape": (3, -1)}, error=True, oracle="differs: 1.9.1 counts with -1"
    ),
    Case(_unravel_op, "unknown-parameter", (_places,), {"shape": (3, 4), "foo": 1}, error=True),
]

# ---- _contrib_index_array ----


def _index_array(data: np.ndarray, axes: tuple | None = None) -> np.ndarray:
    axes = tuple(range(data.ndim)) if axes is None else (axes,) if isinstance(axes, int) else axes
    if not axes:
        return np.zeros((*data.shape, 0), "int64")
    return np.stack([np.indices(data.shape)[axis] for axis in axes], -1).astype("int64")


for _label, _data, _params in (
    ("vector", In((3,)), {}),
    ("matrix", In((2, 3)), {}),
    ("cube", In((2, 3, 4)), {}),
    ("axes", In((2, 1, 3)), {"axes": (2, 0)}),
    ("one-axis", In((2, 3)), {"axes": 1}),
    ("negative-axis", In((2, 3)), {"axes": (-1, -2)}),
    ("axis-twice", In((2, 3)), {"axes": (1, 1)}),
    ("axes-none", In((2, 3)), {"axes": None}),
    ("no-axes", In((2, 3)), {"axes": ()}),
):
    CASES.append(Case("_contrib_index_array", _label, (_data,), _params, _index_array))
for _dtype in DATA_DTYPES:
    CASES.append(Case("_contrib_index_array", _dtype, (of_dtype((2, 3), _dtype),), {}, _index_array))
CASES += [
    Case("_contrib_index_array", "gradient", (In((2, 3)),), {}, _index_array, diff=(0,), defined=True),
    Case("_contrib_index_array", "empty", (In((0, 2)),), {}, _index_array, np_shape=True),
    Case("_contrib_index_array", "number", (In(()),), {}, _index_array, np_shape=True),
    Case("_contrib_index_array", "unknown-parameter", (In((2, 3)),), {"foo": 1}, error=True),
    Case("_contrib_index_array", "two-inputs", (In((2, 3)), In((2, 3))), {}, error=True),
]
for _label, _axes in (("axis-too-large", (2,)), ("axis-too-small", (0, -3))):
    CASES.append(
        Case(
            "_contrib_index_array",
            _label,
            (In((2, 3)),),
            {"axes": _axes},
            error=True,
            oracle="skip: 1.9.1 answers garbage",
        )
    )

# ---- _contrib_arange_like ----


def _arange_like(data: np.ndarray, start=0.0, step=1.0, repeat=1, ctx="", axis=None) -> np.ndarray:
    shape = data.shape if axis is None else (data.shape[axis],)
    count = (np.arange(np.prod(shape, dtype=int)) // repeat).reshape(shape)
    if data.dtype.kind in "iu":
        return (int(start) + count * int(step)).astype("int64").astype(data.dtype)
    return (start + count * step).astype(data.dtype)


_like = "_contrib_arange_like"
_row = In((2, 3))
for _label, _data, _params in (
    ("plain", _row, {}),
    ("axis", _row, {"axis": 0}),
    ("last-axis", _row, {"axis": -1}),
    ("axis-none", _row, {"axis": None}),
    ("start-and-step", _row, {"start": 1.5, "step": -0.25}),
    ("tenths", _row, {"start": 0.1, "step": 0.1}),
    ("step-zero", _row, {"start": 3, "step": 0}),
    ("repeat", _row, {"repeat": 2}),
    ("repeat-uneven", _row, {"repeat": 4, "step": 2}),
    ("repeat-axis", In((2, 4)), {"repeat": 3, "axis": 1, "start": 1}),
    ("ctx", _row, {"ctx": "cpu(0)"}),
    ("float64-tenths", In((2, 3), "float64"), {"start": 0.1, "step": 0.1}),
    ("int32-fractions", of_dtype((2, 3), "int32"), {"start": 1.7, "step": 2.6}),
    ("int32-negative", of_dtype((2, 3), "int32"), {"start": -1.7, "step": -1.2}),
    ("int64-large", of_dtype((2, 3), "int64"), {"start": 1 << 53, "step": 1}),
    ("uint8-wraps", of_dtype((2, 3), "uint8"), {"start": 250, "step": 2}),
    ("uint8-below", of_dtype((2, 3), "uint8"), {"start": -1, "step": -1}),
    ("int8-wraps", of_dtype((2, 3), "int8"), {"start": 126, "step": 1}),
    ("vector", In((5,)), {"step": 3}),
):
    CASES.append(Case(_like, _label, (_data,), _params, _arange_like))
for _dtype in ("float16", "float64", "uint8", "int8", "int32", "int64"):
    CASES.append(Case(_like, _dtype, (of_dtype((2, 3), _dtype),), {}, _arange_like))
CASES += [
    Case(
        _like,
        "float16-tenths",
        (In((2, 3), "float16"),),
        {"start": 0.1, "step": 0.1},
        _arange_like,
        oracle="differs: 1.9.1 answers zeros",
    ),
    Case(_like, "gradient", (_row,), {}, _arange_like, diff=(0,), defined=True),
    Case(_like, "empty", (In((0, 3)),), {}, _arange_like, np_shape=True),
    Case(_like, "empty-other-axis", (In((0, 3)),), {"axis": 1}, _arange_like, np_shape=True),
    Case(_like, "number", (In(()),), {"start": 2}, _arange_like, np_shape=True),
    Case(_like, "bool", (of_dtype((2, 3), "bool"),), {}, error=True),
    Case(_like, "axis-too-large", (_row,), {"axis": 2}, error=True),
    Case(_like, "axis-too-small", (_row,), {"axis": -3}, error=True),
    Case(_like, "axis-of-a-number", (In(()),), {"axis": 0}, error=True, np_shape=True),
    Case(_like, "repeat-zero", (_row,), {"repeat": 0}, error=True, oracle="skip: 1.9.1 ends with SIGFPE"),
    Case(_like, "repeat-negative", (_row,), {"repeat": -1}, error=True, oracle="differs: 1.9.1 divides by it"),
    Case(_like, "unknown-parameter", (_row,), {"foo": 1}, error=True),
]

# ---- _contrib_boolean_mask ----


def _boolean_mask(data: np.ndarray, index: np.ndarray, axis=0) -> np.ndarray:
    return np.compress(index.astype(bool), data, axis=axis)


_mask = "_contrib_boolean_mask"
_AXIS = "differs: 1.9.1 knows axis 0 alone"
_flags = In(values=[1.0, 0.0, 1.0])
for _label, _inputs, _params, _oracle in (
    ("rows", (In((3, 2)), _flags), {}, ""),
    ("vector", (In((6,)), In(values=[0.5, -0.5, 0.0, 2.0, -1.0, 0.0])), {}, ""),
    ("three-axes", (In((3, 2, 2)), _flags), {}, ""),
    ("all", (In((3, 2)), In(values=[1.0, 1.0, 1.0])), {}, ""),
    ("columns", (In((2, 3)), _flags), {"axis": 1}, _AXIS),
    ("last-axis", (In((2, 3)), _flags), {"axis": -1}, _AXIS),
    ("middle-axis", (In((2, 3, 2)), _flags), {"axis": 1}, _AXIS),
):
    CASES.append(Case(_mask, _label, _inputs, _params, _boolean_mask, order=2, diff=(0,), oracle=_oracle))
for _dtype in (*INDEX_DTYPES, "bool"):
    _inputs = (In((3, 2)), In(dtype=_dtype, values=[1, 0, 1]))
    CASES.append(Case(_mask, f"{_dtype}-flags", _inputs, {}, _boolean_mask, order=2, diff=(0,)))
for _dtype in DATA_DTYPES:
    CASES.append(Case(_mask, f"{_dtype}-data", (of_dtype((3, 2), _dtype), _flags), {}, _boolean_mask))
CASES += [
    Case(_mask, "nan", (In((3, 2)), In(values=[np.nan, 0.0, -0.0])), {}, _boolean_mask),
    Case(_mask, "index-gradient", (In((3, 2)), _flags), {}, _boolean_mask, diff=(0, 1), defined=True),
    Case(_mask, "none", (In((3, 2)), In(values=[0.0, 0.0, 0.0])), {}, _boolean_mask),
    Case(_mask, "none-of-a-vector", (In((3,)), In(values=[0.0, 0.0, 0.0])), {}, _boolean_mask, np_shape=True),
    Case(_mask, "none-gradient", (In((3, 2)), In(values=[0.0, 0.0, 0.0])), {}, _boolean_mask, 2, (0,), np_shape=True),
    Case(
        _mask,
        "no-rows",
        (In((0, 2)), In((0,))),
        {},
        _boolean_mask,
        np_shape=True,
        oracle="skip: 1.9.1 ends with SIGABRT",
    ),
    Case(_mask, "empty-rows", (In((2, 0)), In(values=[1.0, 0.0])), {}, _boolean_mask, np_shape=True),
    Case(_mask, "into", (In((3, 2)), _flags), {}, _boolean_mask, out=(((2, 2), "float32"),)),
    Case(
        _mask,
        "into-another-shape",
        (In((3, 2)), _flags),
        {},
        error=True,
        out=(((3, 2), "float32"),),
        oracle="differs: 1.9.1 writes the beginning",
    ),
    Case(_mask, "too-few", (In((3, 2)), In(values=[1.0, 0.0])), {}, error=True),
    Case(_mask, "matrix-of-flags", (In((3, 2)), In((3, 1))), {}, error=True),
    Case(_mask, "axis-too-large", (In((3, 2)), _flags), {"axis": 2}, error=True),
    Case(_mask, "number", (In(()), In(())), {}, error=True, np_shape=True),
    Case(_mask, "one-input", (In((3, 2)),), {}, error=True),
    Case(_mask, "unknown-parameter", (In((3, 2)), _flags), {"foo": 1}, error=True),
]

# ---- _contrib_allclose ----


def _allclose(a: np.ndarray, b: np.ndarray, rtol=1e-5, atol=1e-8, equal_nan=True) -> np.ndarray:
    close = np.allclose(a.astype("float64"), b.astype("float64"), rtol=rtol, atol=atol, equal_nan=equal_nan)
    return np.array(close, "uint8")


_close = "_contrib_allclose"
_nan, _inf = np.nan, np.inf
_INFINITE = "differs: 1.9.1 takes the distance from an infinity for close"
for _label, _a, _b, _params, _oracle in (
    ("equal", [1.0, 2.0], [1.0, 2.0], {}, ""),
    ("other", [1.0, 2.0], [1.0, 2.1], {}, ""),
    ("other-first", [1.5, 2.0], [1.0, 2.0], {}, ""),
    ("within-default", [1.0, 2.0], [1.0, 2.00001], {}, ""),
    ("beyond-default", [1.0, 2.0], [1.0, 2.0001], {}, ""),
    ("within-rtol", [100.0], [101.0], {"rtol": 0.00995, "atol": 0}, ""),
    ("beyond-rtol", [101.0], [100.0], {"rtol": 0.00995, "atol": 0}, ""),
    ("within-rtol-below-zero", [-100.0], [-101.0], {"rtol": 0.00995, "atol": 0}, ""),
    ("within-atol", [1.0, 100.0], [1.0, 101.0], {"rtol": 0, "atol": 1}, ""),
    ("beyond-atol", [1.0, 101.5], [1.0, 100.0], {"rtol": 0, "atol": 1}, ""),
    ("nan", [_nan, 1.0], [_nan, 1.0], {}, ""),
    ("nan-differs", [_nan, 1.0], [_nan, 1.0], {"equal_nan": False}, ""),
    ("nan-and-number", [_nan, 1.0], [2.0, 1.0], {}, ""),
    ("number-and-nan", [2.0, 1.0], [_nan, 1.0], {}, ""),
    ("nan-and-infinity", [_nan, 1.0], [_inf, 1.0], {}, ""),
    ("infinity", [_inf, -_inf], [_inf, -_inf], {}, ""),
    ("infinity-and-number", [_inf, 1.0], [2.0, 1.0], {}, ""),
    ("number-and-infinity", [2.0, 1.0], [_inf, 1.0], {}, _INFINITE),
    ("two-infinities", [_inf, 1.0], [-_inf, 1.0], {}, _INFINITE),
):
    _inputs = (In(values=_a), In(values=_b))
    CASES.append(Case(_close, _label, _inputs, _params, _allclose, np_shape=True, oracle=_oracle))
for _dtype in ("float16", "float64", "uint8", "int8", "int32", "int64"):
    _one, _other = _int(1, 2, 3, dtype=_dtype), _int(1, 2, 4, dtype=_dtype)
    CASES.append(Case(_close, f"{_dtype}-equal", (_one, _one), {}, _allclose, np_shape=True))
    CASES.append(Case(_close, f"{_dtype}-other", (_one, _other), {}, _allclose, np_shape=True))
_long = In((1000,))
CASES += [
    Case(_close, "many", (_long, In((1000,))), {"atol": 4}, _allclose, np_shape=True),
    Case(_close, "number", (In(values=1.0), In(values=1.0)), {}, _allclose, np_shape=True),
    Case(_close, "empty", (In((0,)), In((0,))), {}, _allclose, np_shape=True),
    Case(
        _close,
        "legacy",
        (In((3,), values=[1.0, 2.0, 3.0]), In((3,), values=[1.0, 2.0, 3.0])),
        {},
        lambda a, b: np.array(1, "uint8"),
    ),
    Case(
        _close,
        "negative-rtol",
        (In(values=[1.0, 2.0]), In(values=[1.0, 2.0])),
        {"rtol": -1},
        lambda a, b, rtol: np.array(1, "uint8"),
        np_shape=True,
    ),
    Case(
        _close,
        "int64-large",
        (_int((1 << 60) + 1, dtype="int64"), _int(1 << 60, dtype="int64")),
        {"rtol": 0, "atol": 0},
        lambda a, b, rtol, atol: np.array(0, "uint8"),
        np_shape=True,
    ),
    Case(_close, "bool", (_int(True, dtype="bool"), _int(True, dtype="bool")), {}, error=True),
    Case(_close, "dtypes", (In((3,)), In((3,), "float64")), {}, error=True),
    Case(_close, "shapes", (In((2, 2)), In((4,))), {}, error=True),
    Case(_close, "no-broadcast", (In((2,)), In((1,))), {}, error=True),
    Case(_close, "malformed-rtol", (In((2,)), In((2,))), {"rtol": "x"}, error=True),
    Case(_close, "one-input", (In((3,)),), {}, error=True),
    Case(_close, "unknown-parameter", (In((3,)), In((3,))), {"foo": 1}, error=True),
]
