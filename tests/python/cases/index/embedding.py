"""Operators that look up one element or row for each index: batch_take, Embedding, fill_element_0index, index_copy."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .gather_nd import DATA_DTYPES, INDEX_DTYPES, of_dtype

CASES: list = []


def _whole(index: np.ndarray) -> np.ndarray:
    """Indices cut towards zero; a NaN is far below."""
    return np.trunc(np.nan_to_num(index.astype("float64"), nan=-1e18)).astype("int64")


def _clipped(index: np.ndarray, extent: int) -> np.ndarray:
    return np.clip(_whole(index), 0, extent - 1)


# ---- batch_take ----


def _batch_take(a: np.ndarray, indices: np.ndarray) -> np.ndarray:
    rows = a.reshape(-1, a.shape[-1])
    return rows[np.arange(len(rows)), _clipped(indices.ravel(), a.shape[-1])].reshape(indices.shape)


_rows = In((3, 4))
_NO_GRADIENT = "forward: 1.9.1 knows no gradient"
for _label, _inputs in (
    ("rows", (_rows, In(dtype="int32", values=[1, 0, 3]))),
    ("out-of-bounds", (_rows, In(dtype="int32", values=[-1, 100, 4]))),
    ("column-of-indices", (_rows, In(dtype="int32", values=[[1], [2], [0]]))),
):
    CASES.append(Case("batch_take", _label, _inputs, {}, _batch_take, 2, (0,), oracle=_NO_GRADIENT))
CASES.append(
    Case(
        "batch_take",
        "three-axes",
        (In((3, 2, 4)), In(dtype="int32", values=[[1, 3], [0, 2], [3, 0]])),
        {},
        _batch_take,
        order=2,
        diff=(0,),
        oracle="skip: 1.9.1 reads out of bounds",
    )
)
CASES.append(
    Case(
        "batch_take",
        "index-gradient",
        (_rows, In(values=[1.0, 0.0, 3.0])),
        {},
        _batch_take,
        diff=(0, 1),
        defined=True,
        oracle="differs: 1.9.1 wants int32",
    )
)
for _dtype in ("float16", "float32", "float64", "uint8", "int8", "int64", "bool"):
    _inputs = (_rows, In(dtype=_dtype, values=[1, 0, 1]))
    CASES.append(
        Case("batch_take", f"{_dtype}-indices", _inputs, {}, _batch_take, 2, (0,), oracle="differs: 1.9.1 wants int32")
    )
for _dtype in DATA_DTYPES:
    _oracle = "differs: 1.9.1 refuses" if _dtype == "bool" else ""
    _inputs = (of_dtype((3, 4), _dtype), In(dtype="int32", values=[1, 0, 3]))
    CASES.append(Case("batch_take", f"{_dtype}-data", _inputs, {}, _batch_take, oracle=_oracle))
_none = In((0,), "int32", ("int", 0, 0))
CASES += [
    Case(
        "batch_take",
        "no-rows",
        (In((0, 4)), _none),
        {},
        lambda a, i: np.zeros(0, "float32"),
        np_shape=True,
        oracle="skip: 1.9.1 ends with SIGFPE now and then",
    ),
    Case(
        "batch_take",
        "empty-rows",
        (In((2, 0)), In(dtype="int32", values=[0, 0])),
        {},
        error=True,
        np_shape=True,
        oracle="skip: 1.9.1 ends with SIGFPE",
    ),
    Case("batch_take", "too-few", (_rows, In(dtype="int32", values=[0, 1])), {}, error=True),
    Case("batch_take", "too-many", (_rows, In(dtype="int32", values=[0, 1, 2, 3])), {}, error=True),
    Case("batch_take", "vector", (In((3,)), In(dtype="int32", values=[0])), {}, error=True),
    Case("batch_take", "one-input", (_rows,), {}, error=True),
    Case("batch_take", "unknown-parameter", (_rows, In(dtype="int32", values=[0, 1, 2])), {"foo": 1}),
]

# ---- Embedding ----


def _embedding(data: np.ndarray, weight: np.ndarray, input_dim: int, output_dim: int, **kwargs) -> np.ndarray:
    return weight[_clipped(data, input_dim)]


_weight = In((5, 3))
_DIMS = {"input_dim": 5, "output_dim": 3}
for _label, _data, _more in (
    ("vector", In(values=[1.0, 0.0, 4.0]), {}),
    ("duplicates", In(values=[1.0, 1.0, 4.0, 1.0]), {}),
    ("matrix", In(values=[[1.0, 0.0], [4.0, 2.0]]), {}),
    ("cube", In((2, 3, 2), "int32", ("int", 0, 4)), {}),
    ("out-of-bounds", In(values=[-1.0, 5.0, 100.0, -7.0]), {}),
    ("truncates", In(values=[0.9, 1.5, -0.5]), {}),
    ("many", In((300,), "int32", ("int", 0, 4)), {}),
    ("other-dtype", In(values=[1.0, 0.0]), {"dtype": "float64"}),
):
    _order = 0 if _label == "many" else 2
    CASES.append(Case("Embedding", _label, (_data, _weight), {**_DIMS, **_more}, _embedding, _order, (1,)))
for _dtype in (*INDEX_DTYPES, "bool"):
    _oracle = "differs: 1.9.1 refuses" if _dtype == "bool" else ""
    _inputs = (In(dtype=_dtype, values=[1, 0, 1]), _weight)
    CASES.append(Case("Embedding", f"{_dtype}-indices", _inputs, _DIMS, _embedding, 2, (1,), oracle=_oracle))
for _dtype in DATA_DTYPES:
    _oracle = "differs: 1.9.1 refuses" if _dtype == "bool" else ""
    _inputs = (In(values=[1.0, 0.0, 4.0]), of_dtype((5, 3), _dtype))
    CASES.append(Case("Embedding", f"{_dtype}-weight", _inputs, _DIMS, _embedding, oracle=_oracle))
_index = In(values=[1.0, 0.0])
CASES += [
    Case("Embedding", "huge", (In(values=[np.nan, 1e10, -1e10]), _weight), _DIMS, _embedding),
    Case(
        "Embedding",
        "index-gradient",
        (In(values=[1.0, 1.0]), _weight),
        _DIMS,
        _embedding,
        diff=(0, 1),
        defined=True,
        oracle="forward: 1.9.1 refuses",
    ),
    Case(
        "Embedding",
        "sparse-grad",
        (In(values=[1.0, 4.0, 1.0]), _weight),
        {**_DIMS, "sparse_grad": True},
        _embedding,
        order=2,
        diff=(1,),
        oracle="forward: 1.9.1 wants a sparse gradient buffer",
    ),
    Case("Embedding", "no-indices", (In((0, 2)), _weight), _DIMS, _embedding, np_shape=True),
    Case("Embedding", "number", (In(values=2.0), _weight), _DIMS, _embedding, order=2, diff=(1,), np_shape=True),
    Case("Embedding", "other-input-dim", (_index, _weight), {"input_dim": 6, "output_dim": 3}, error=True),
    Case("Embedding", "other-output-dim", (_index, _weight), {"input_dim": 5, "output_dim": 2}, error=True),
    Case("Embedding", "no-rows", (_index, In((0, 3))), {"input_dim": 0, "output_dim": 3}, error=True, np_shape=True),
    Case("Embedding", "no-columns", (_index, In((5, 0))), {"input_dim": 5, "output_dim": 0}, error=True, np_shape=True),
    Case("Embedding", "negative-dim", (_index, _weight), {"input_dim": -5, "output_dim": 3}, error=True),
    Case("Embedding", "cube-of-weights", (_index, In((5, 3, 1))), _DIMS, error=True),
    Case("Embedding", "bool-dtype", (_index, _weight), {**_DIMS, "dtype": "bool"}, error=True),
    Case("Embedding", "no-dims", (_index, _weight), {}, error=True),
    Case("Embedding", "one-input", (_index,), _DIMS, error=True),
    Case("Embedding", "unknown-parameter", (_index, _weight), {**_DIMS, "foo": 1}, error=True),
]

# ---- fill_element_0index ----


def _fill_element(lhs: np.ndarray, mhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    result = lhs.copy()
    result[np.arange(len(lhs)), _whole(rhs)] = mhs
    return result


_values = In((3,))
_FLOAT32 = "differs: 1.9.1 knows float32 alone"
CASES += [
    Case(
        "fill_element_0index",
        "rows",
        (_rows, _values, In(values=[1.0, 0.0, 3.0])),
        {},
        _fill_element,
        order=2,
        diff=(0, 1),
        oracle=_NO_GRADIENT,
    ),
    Case(
        "fill_element_0index",
        "index-gradient",
        (_rows, _values, In(values=[1.0, 0.0, 3.0])),
        {},
        _fill_element,
        diff=(0, 1, 2),
        defined=True,
        oracle=_NO_GRADIENT,
    ),
    Case(
        "fill_element_0index",
        "negative",
        (_rows, _values, In(values=[-1.0, -4.0, 0.0])),
        {},
        _fill_element,
        order=2,
        diff=(0, 1),
        oracle="skip: 1.9.1 writes out of bounds",
    ),
    Case(
        "fill_element_0index",
        "truncates",
        (_rows, _values, In(values=[0.9, 1.5, -0.9])),
        {},
        _fill_element,
    ),
]
for _dtype in ("float16", "float64", "uint8", "int8", "int32", "int64", "bool"):
    _inputs = (_rows, _values, In(dtype=_dtype, values=[1, 0, 1]))
    CASES.append(
        Case("fill_element_0index", f"{_dtype}-indices", _inputs, {}, _fill_element, 2, (0, 1), oracle=_FLOAT32)
    )
for _dtype in DATA_DTYPES:
    _inputs = (of_dtype((3, 4), _dtype), of_dtype((3,), _dtype), In(values=[1.0, 0.0, 3.0]))
    CASES.append(Case("fill_element_0index", f"{_dtype}-data", _inputs, {}, _fill_element, oracle=_FLOAT32))
for _label, _inputs, _oracle in (
    ("above", (_rows, _values, In(values=[0.0, 0.0, 4.0])), "skip: 1.9.1 writes out of bounds"),
    ("below", (_rows, _values, In(values=[-5.0, 0.0, 0.0])), "skip: 1.9.1 writes out of bounds"),
    ("nan", (_rows, _values, In(values=[0.0, np.nan, 0.0])), "skip: 1.9.1 writes out of bounds"),
    ("too-few-values", (_rows, In((2,)), In(values=[0.0, 0.0, 0.0])), ""),
    ("too-few-indices", (_rows, _values, In(values=[0.0, 0.0])), ""),
    ("matrix-of-values", (_rows, In((3, 1)), In(values=[0.0, 0.0, 0.0])), ""),
    ("matrix-of-indices", (_rows, _values, In((3, 1), domain=("int", 0, 0))), ""),
    ("three-axes", (In((3, 4, 2)), _values, In(values=[0.0, 0.0, 0.0])), ""),
    ("dtypes", (_rows, In((3,), "float64"), In(values=[0.0, 0.0, 0.0])), ""),
    ("two-inputs", (_rows, _values), ""),
):
    CASES.append(Case("fill_element_0index", _label, _inputs, {}, error=True, oracle=_oracle))
CASES += [
    Case(
        "fill_element_0index",
        "no-rows",
        (In((0, 4)), In((0,)), In((0,))),
        {},
        lambda *arrays: np.zeros((0, 4), "float32"),
        np_shape=True,
    ),
    Case("fill_element_0index", "unknown-parameter", (_rows, _values, In(values=[0.0, 1.0, 2.0])), {"foo": 1}),
]

# ---- _contrib_index_copy ----


def _index_copy(old_tensor: np.ndarray, index_vector: np.ndarray, new_tensor: np.ndarray) -> np.ndarray:
    result = old_tensor.copy()
    for position, row in zip(_whole(index_vector), new_tensor):
        result[position] = row
    return result


def _copied(label: str, *inputs: In, **more) -> Case:
    return Case("_contrib_index_copy", label, inputs, {}, more.pop("forward", _index_copy), **more)


_two = In(dtype="int32", values=[2, 0])
CASES += [
    _copied("rows", _rows, _two, In((2, 4)), order=2, diff=(0, 2)),
    _copied("vector", In((3,)), _two, In((2,)), order=2, diff=(0, 2)),
    _copied("three-axes", In((3, 2, 2)), _two, In((2, 2, 2)), order=2, diff=(0, 2)),
    _copied(
        "duplicates",
        _rows,
        In(dtype="int32", values=[1, 0, 1]),
        In((3, 4)),
        order=2,
        diff=(0, 2),
        oracle="forward: 1.9.1 gives the gradient to those that were overwritten too",
    ),
    _copied(
        "negative",
        _rows,
        In(dtype="int32", values=[-1, -3]),
        In((2, 4)),
        order=2,
        diff=(0, 2),
        oracle="skip: 1.9.1 writes out of bounds",
    ),
    _copied("truncates", _rows, In(values=[1.9, -0.5]), In((2, 4)), order=2, diff=(0, 2)),
    _copied("index-gradient", _rows, In(values=[2.0, 0.0]), In((2, 4)), diff=(0, 1, 2), defined=True),
    _copied(
        "no-indices",
        _rows,
        In((0,), "int32", ("int", 0, 0)),
        In((0, 4)),
        np_shape=True,
        oracle="skip: 1.9.1 ends with SIGFPE",
    ),
    _copied("empty-rows", In((3, 0)), In(dtype="int32", values=[1]), In((1, 0)), np_shape=True),
]
for _dtype in (*INDEX_DTYPES, "bool"):
    _oracle = "differs: 1.9.1 refuses" if _dtype == "bool" else ""
    _index = In(dtype=_dtype, values=[1, 0])
    CASES.append(_copied(f"{_dtype}-indices", _rows, _index, In((2, 4)), order=2, diff=(0, 2), oracle=_oracle))
for _dtype in DATA_DTYPES:
    _oracle = "differs: 1.9.1 refuses" if _dtype == "bool" else ""
    CASES.append(_copied(f"{_dtype}-data", of_dtype((3, 4), _dtype), _two, of_dtype((2, 4), _dtype), oracle=_oracle))
for _label, _inputs, _oracle in (
    ("above", (_rows, In(dtype="int32", values=[3]), In((1, 4))), "skip: 1.9.1 writes out of bounds"),
    ("below", (_rows, In(dtype="int32", values=[-4]), In((1, 4))), "skip: 1.9.1 writes out of bounds"),
    ("nan", (_rows, In(values=[np.nan]), In((1, 4))), "skip: 1.9.1 writes out of bounds"),
    ("too-few", (_rows, _two, In((1, 4))), ""),
    ("other-rows", (_rows, _two, In((2, 3))), ""),
    ("other-axes", (_rows, _two, In((2,))), ""),
    ("matrix-of-indices", (_rows, In(dtype="int32", values=[[2], [0]]), In((2, 4))), ""),
    ("dtypes", (_rows, _two, In((2, 4), "float64")), ""),
    ("two-inputs", (_rows, _two), ""),
):
    CASES.append(_copied(_label, *_inputs, forward=None, error=True, oracle=_oracle))
CASES.append(Case("_contrib_index_copy", "unknown-parameter", (_rows, _two, In((2, 4))), {"foo": 1}))
