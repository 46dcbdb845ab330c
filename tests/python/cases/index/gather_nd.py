"""Operators that name elements by the indices of several axes: gather_nd, scatter_nd, _scatter_set_nd."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []

INDEX_DTYPES = ("float16", "float32", "float64", "uint8", "int8", "int32", "int64")
DATA_DTYPES = ("float16", "float64", "uint8", "int8", "int32", "int64", "bool")


def of_dtype(shape: tuple, dtype: str) -> In:
    """Data of any dtype."""
    return In(shape, dtype, "bool" if dtype == "bool" else "real" if dtype[0] == "f" else ("int", 0, 99))


def _places(indices: np.ndarray) -> tuple:
    return tuple(np.trunc(row.astype("float64")).astype("int64") for row in indices)


def _gather_nd(data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    if len(indices) == 0:
        return np.broadcast_to(data, indices.shape[1:] + data.shape).copy()
    return data[_places(indices)]


def _set(lhs: np.ndarray, rhs: np.ndarray, indices: np.ndarray, shape: tuple) -> np.ndarray:
    """One column after the other, so that the last one stays."""
    result = lhs.copy()
    for column in np.ndindex(*indices.shape[1:]):
        result[tuple(int(np.trunc(float(row[column]))) for row in indices)] = rhs[column]
    return result


def _scatter_nd(data: np.ndarray, indices: np.ndarray, shape: tuple) -> np.ndarray:
    return _set(np.zeros(shape, data.dtype), data, indices, shape)


def _index(*rows: list, dtype: str = "int32") -> In:
    return In(dtype=dtype, values=list(rows))


# ---- gather_nd ----

_table = In((3, 4))
_cube = In((2, 3, 4))
for _label, _inputs in (
    ("elements", (_table, _index([0, 1, 2], [3, 0, 1]))),
    ("rows", (_table, _index([0, 2]))),
    ("duplicates", (_table, _index([0, 1, 0, 0], [3, 0, 3, 3]))),
    ("duplicate-rows", (_table, _index([2, 2, 1]))),
    ("three-axes", (_cube, _index([0, 1, 1], [2, 0, 2], [3, 1, 0]))),
    ("two-of-three-axes", (_cube, _index([0, 1, 1], [2, 0, 2]))),
    ("one-of-three-axes", (_cube, _index([1]))),
    ("matrix-of-indices", (_table, _index([[0, 1], [2, 0]], [[3, 2], [1, 0]]))),
    ("cube-of-indices", (In((5,)), _index([[[0, 1], [2, 0]], [[3, 2], [4, 0]]]))),
    ("vector", (In((6,)), _index([5, 0, 3]))),
    ("many", (In((40, 7)), In((2, 300), "int32", ("int", 0, 6)))),
    ("eight-axes", (In((2,) * 8, "float64"), In((8, 4), "int64", ("int", 0, 1)))),
):
    CASES.append(Case("gather_nd", _label, _inputs, {}, _gather_nd, order=0 if _label == "many" else 2, diff=(0,)))
for _dtype in INDEX_DTYPES:
    _inputs = (_table, _index([0, 1, 1], [1, 0, 3], dtype=_dtype))
    CASES.append(Case("gather_nd", f"{_dtype}-indices", _inputs, {}, _gather_nd, order=2, diff=(0,)))
for _dtype in DATA_DTYPES:
    _inputs = (of_dtype((3, 4), _dtype), _index([0, 1, 1], [1, 0, 3]))
    CASES.append(Case("gather_nd", f"{_dtype}-data", _inputs, {}, _gather_nd))
CASES += [
    Case(
        "gather_nd",
        "bool-indices",
        (_table, _index([False, True, True], [True, False, True], dtype="bool")),
        {},
        _gather_nd,
        oracle="differs: 1.9.1 refuses",
    ),
    Case(
        "gather_nd",
        "negative",
        (_table, _index([-1, -3, 0], [-1, -4, -2])),
        {},
        _gather_nd,
        order=2,
        diff=(0,),
        oracle="forward: 1.9.1's gradient writes out of bounds",
    ),
    Case("gather_nd", "truncates", (_table, _index([0.9, 1.5, 1.9], [1.1, 2.9, 0.2], dtype="float32")), {}, _gather_nd),
    Case(
        "gather_nd",
        "truncates-below",
        (_table, _index([-0.5, -1.9], dtype="float32")),
        {},
        _gather_nd,
        oracle="differs: 1.9.1 adds the extent before it truncates",
    ),
    Case(
        "gather_nd",
        "index-gradient",
        (_table, _index([0, 1, 0], [3, 0, 3], dtype="float32")),
        {},
        _gather_nd,
        diff=(0, 1),
        defined=True,
    ),
    Case(
        "gather_nd",
        "int32-gradient",
        (of_dtype((3, 4), "int32"), _index([0, 0])),
        {},
        _gather_nd,
        diff=(0,),
        defined=True,
    ),
    Case("gather_nd", "no-columns", (_table, In((1, 0))), {}, _gather_nd, order=2, diff=(0,), np_shape=True),
    Case("gather_nd", "from-nothing-nothing", (In((0, 3)), In((1, 0))), {}, _gather_nd, np_shape=True),
    Case("gather_nd", "empty-rows", (In((3, 0)), _index([2, 0])), {}, _gather_nd, np_shape=True),
    Case(
        "gather_nd",
        "no-rows",
        (In((2, 3)), In((0, 2))),
        {},
        _gather_nd,
        order=2,
        diff=(0,),
        np_shape=True,
        oracle="skip: 1.9.1 ends with SIGFPE",
    ),
    Case("gather_nd", "from-nothing", (In((0, 3)), _index([0])), {}, error=True, np_shape=True),
    Case(
        "gather_nd",
        "beyond-empty-rows",
        (In((3, 0)), _index([3])),
        {},
        error=True,
        np_shape=True,
        oracle="differs: nothing is read",
    ),
    Case("gather_nd", "above", (_table, _index([0, 3], [0, 0])), {}, error=True),
    Case("gather_nd", "below", (_table, _index([0, 0], [0, -5])), {}, error=True),
    Case(
        "gather_nd",
        "nan",
        (_table, _index([0.0, np.nan], dtype="float32")),
        {},
        error=True,
        oracle="skip: 1.9.1 reads out of bounds",
    ),
    Case("gather_nd", "huge", (_table, _index([0.0, 1e30], dtype="float32")), {}, error=True),
    Case("gather_nd", "vector-of-indices", (_table, _index(0, 1)), {}, error=True),
    Case("gather_nd", "too-many-rows", (_table, _index([0], [1], [0])), {}, error=True),
    Case("gather_nd", "one-input", (_table,), {}, error=True),
    Case("gather_nd", "unknown-parameter", (_table, _index([0])), {"foo": 1}),
]

# ---- scatter_nd ----

for _label, _inputs, _shape in (
    ("elements", (In((3,)), _index([0, 1, 2], [3, 0, 1])), (3, 4)),
    ("rows", (In((2, 4)), _index([2, 0])), (3, 4)),
    ("two-of-three-axes", (In((3, 4)), _index([0, 1, 1], [2, 0, 2])), (2, 3, 4)),
    ("three-axes", (In((2,)), _index([0, 1], [2, 0], [1, 3])), (2, 3, 4)),
    ("matrix-of-indices", (In((2, 2)), _index([[0, 1], [2, 0]], [[3, 2], [1, 0]])), (3, 4)),
    ("vector", (In((3,)), _index([5, 0, 3])), (6,)),
):
    CASES.append(Case("scatter_nd", _label, _inputs, {"shape": _shape}, _scatter_nd, order=2, diff=(0,)))
for _dtype in (*INDEX_DTYPES, "bool"):
    _inputs = (In((3,)), _index([0, 1, 1], [1, 0, 1], dtype=_dtype))
    _oracle = "forward: 1.9.1 cannot gather by bool" if _dtype == "bool" else ""
    CASES.append(
        Case("scatter_nd", f"{_dtype}-indices", _inputs, {"shape": (2, 2)}, _scatter_nd, 2, (0,), oracle=_oracle)
    )
for _dtype in DATA_DTYPES:
    _inputs = (of_dtype((3,), _dtype), _index([0, 1, 1], [1, 0, 3]))
    CASES.append(Case("scatter_nd", f"{_dtype}-data", _inputs, {"shape": (3, 4)}, _scatter_nd))
CASES += [
    Case(
        "scatter_nd",
        "duplicates",
        (In((4,)), _index([1, 0, 1, 1])),
        {"shape": (3,)},
        _scatter_nd,
        order=2,
        diff=(0,),
        oracle="forward: 1.9.1 gives the gradient to those that were overwritten too",
    ),
    Case(
        "scatter_nd",
        "duplicate-rows",
        (In((3, 2)), _index([1, 0, 1])),
        {"shape": (3, 2)},
        _scatter_nd,
        order=2,
        diff=(0,),
        oracle="forward: 1.9.1 gives the gradient to those that were overwritten too",
    ),
    Case(
        "scatter_nd",
        "negative",
        (In((3,)), _index([-1, -3, 0], [-1, -4, -2])),
        {"shape": (3, 4)},
        _scatter_nd,
        order=2,
        diff=(0,),
        oracle="skip: 1.9.1 writes out of bounds",
    ),
    Case(
        "scatter_nd",
        "truncates",
        (In((3,)), _index([0.9, 1.5, -0.5], [1.1, 2.9, 3.9], dtype="float32")),
        {"shape": (3, 4)},
        _scatter_nd,
    ),
    Case(
        "scatter_nd",
        "truncates-below",
        (In((2,)), _index([-1.9, -2.5], dtype="float32")),
        {"shape": (3,)},
        _scatter_nd,
        oracle="skip: 1.9.1 writes out of bounds",
    ),
    Case(
        "scatter_nd",
        "index-gradient",
        (In((2,)), _index([0, 2], dtype="float32")),
        {"shape": (3,)},
        _scatter_nd,
        diff=(0, 1),
        defined=True,
    ),
    Case("scatter_nd", "no-columns", (In((0,)), In((1, 0))), {"shape": (3,)}, _scatter_nd, np_shape=True),
    Case("scatter_nd", "empty-rows", (In((2, 0)), _index([2, 0])), {"shape": (3, 0)}, _scatter_nd, np_shape=True),
    Case(
        "scatter_nd",
        "no-rows",
        (In((2, 3)), In((0, 2))),
        {"shape": (3,)},
        lambda data, indices, shape: data[-1],
        order=2,
        diff=(0,),
        np_shape=True,
        oracle="skip: 1.9.1 ends with SIGFPE",
    ),
]
for _label, _inputs, _shape in (
    ("above", (In((2,)), _index([0, 3])), (3,)),
    ("below", (In((2,)), _index([0, -4])), (3,)),
    ("nan", (In((2,)), _index([0.0, np.nan], dtype="float32")), (3,)),
    ("into-nothing", (In((1,)), _index([0])), (0,)),
):
    _params = {"shape": _shape}
    CASES.append(Case("scatter_nd", _label, _inputs, _params, error=True, oracle="skip: 1.9.1 writes out of bounds"))
CASES += [
    Case("scatter_nd", "too-few", (In((2,)), _index([0, 1, 2])), {"shape": (3,)}, error=True),
    Case("scatter_nd", "too-few-axes", (In((2,)), _index([0, 1])), {"shape": (3, 2)}, error=True),
    Case("scatter_nd", "too-many-axes", (In((2, 1)), _index([0, 1])), {"shape": (3,)}, error=True),
    Case("scatter_nd", "too-many-rows", (In((1,)), _index([0], [0])), {"shape": (3,)}, error=True),
    Case("scatter_nd", "vector-of-indices", (In((2,)), _index(0, 1)), {"shape": (2, 2)}, error=True),
    Case("scatter_nd", "negative-extent", (In((1,)), _index([0])), {"shape": (-1,)}, error=True),
    Case("scatter_nd", "too-large", (In((1,)), _index([0])), {"shape": (1 << 62, 1 << 62)}, error=True),
    Case("scatter_nd", "no-shape", (In((1,)), _index([0])), {}, error=True),
    Case("scatter_nd", "unknown-parameter", (In((1,)), _index([0])), {"shape": (3,), "foo": 1}, error=True),
]

# ---- _scatter_set_nd ----

_ALONE = "differs: 1.9.1 wants lhs as its output, and knows no gradient"
for _label, _inputs in (
    ("elements", (_table, In((3,)), _index([0, 1, 2], [3, 0, 1]))),
    ("rows", (_table, In((2, 4)), _index([2, 0]))),
    ("two-of-three-axes", (_cube, In((3, 4)), _index([0, 1, 1], [2, 0, 2]))),
    ("matrix-of-indices", (_table, In((2, 2)), _index([[0, 1], [2, 0]], [[3, 2], [1, 0]]))),
    ("negative", (_table, In((3,)), _index([-1, -3, 0], [-1, -4, -2]))),
    ("duplicates", (In((3,)), In((4,)), _index([1, 0, 1, 1]))),
    ("float-indices", (In((3,)), In((2,)), _index([1.9, -0.5], dtype="float64"))),
    ("bool-indices", (In((3,)), In((2,)), _index([True, False], dtype="bool"))),
):
    _params = {"shape": _inputs[0].shape}
    CASES.append(Case("_scatter_set_nd", _label, _inputs, _params, _set, order=2, diff=(0, 1), oracle=_ALONE))
for _dtype in DATA_DTYPES:
    _inputs = (of_dtype((3, 4), _dtype), of_dtype((2, 4), _dtype), _index([2, 0]))
    CASES.append(Case("_scatter_set_nd", f"{_dtype}", _inputs, {"shape": (3, 4)}, _set, oracle=_ALONE))
CASES += [
    Case(
        "_scatter_set_nd",
        "index-gradient",
        (In((3,)), In((2,)), _index([1, 0], dtype="float32")),
        {"shape": (3,)},
        _set,
        diff=(0, 1, 2),
        defined=True,
        oracle=_ALONE,
    ),
    Case(
        "_scatter_set_nd",
        "no-columns",
        (In((3,)), In((0,)), In((1, 0))),
        {"shape": (3,)},
        _set,
        order=2,
        diff=(0, 1),
        np_shape=True,
        oracle=_ALONE,
    ),
    Case("_scatter_set_nd", "above", (In((3,)), In((1,)), _index([3])), {"shape": (3,)}, error=True),
    Case("_scatter_set_nd", "below", (In((3,)), In((1,)), _index([-4])), {"shape": (3,)}, error=True),
    Case("_scatter_set_nd", "other-shape", (In((4,)), In((1,)), _index([0])), {"shape": (3,)}, error=True),
    Case("_scatter_set_nd", "too-few", (In((4,)), In((1,)), _index([0, 1])), {"shape": (4,)}, error=True),
    Case("_scatter_set_nd", "dtypes", (In((4,)), In((1,), "float64"), _index([0])), {"shape": (4,)}, error=True),
    Case("_scatter_set_nd", "no-shape", (In((4,)), In((1,)), _index([0])), {}, error=True),
    Case("_scatter_set_nd", "two-inputs", (In((4,)), In((1,))), {"shape": (4,)}, error=True),
]
