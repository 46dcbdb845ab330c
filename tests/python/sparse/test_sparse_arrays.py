"""Sparse arrays: which class results have, in both bindings; parts, pickles, copies, and other packages' arrays."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import types
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import nd
from mxlite.ndarray.sparse import CSRNDArray, RowSparseNDArray, csr_matrix, row_sparse_array

MATRIX = np.array([[0, 1, 0], [2, 0, 3], [0, 0, 0], [4, 0, 0]], np.float32)


@pytest.fixture
def csr() -> CSRNDArray:
    return csr_matrix(MATRIX)


@pytest.fixture
def rows() -> RowSparseNDArray:
    return row_sparse_array(MATRIX)


def test_results_are_of_the_class_of_their_storage_type(csr: Any, rows: Any) -> None:
    dense = nd.array(MATRIX)
    for _ in range(4):  # calls that were made twice are prepared
        assert type(csr * 2) is CSRNDArray and type(rows * 2) is RowSparseNDArray and type(csr + 1) is nd.NDArray
        assert type(nd.cast_storage(dense, "csr")) is CSRNDArray and type(nd.cast_storage(csr, "default")) is nd.NDArray
        assert type(nd.dot(dense, dense.T, forward_stype="csr")) is CSRNDArray
        assert type(nd.dot(dense, dense.T)) is type(nd.dot(dense, dense.T, forward_stype="default")) is nd.NDArray
        assert type(csr.detach()) is type(csr.copy()) is type(copy.deepcopy(csr)) is CSRNDArray
    out = nd.sparse.zeros("csr", (4, 3))
    assert nd.square(csr, out=out) is out and out.asnumpy().tolist() == (MATRIX**2).tolist()
    made = mx.sym.sparse.square(mx.sym.var("x")).bind(mx.cpu(), {"x": rows}).forward()
    assert type(made[0]) is RowSparseNDArray
    dense.attach_grad(stype="row_sparse")
    with mx.autograd.record():
        total = (dense * 2).sum()
    total.backward()
    assert type(dense.grad) is RowSparseNDArray and dense.grad.asnumpy().tolist() == [[2] * 3] * 4


@pytest.mark.one_binding
def test_the_other_binding_has_the_same_classes() -> None:
    code = (
        "import mxlite as mx; x = mx.nd.array([[0, 1], [2, 0]])\n"
        "print(type(x.tostype('csr')).__name__, type(x.tostype('row_sparse') * 2).__name__, type(x + x).__name__,"
        " type(x.tostype('csr').data).__name__)"
    )
    given = {**os.environ, "MXLITE_BINDING": "ctypes"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=given)
    assert done.stdout.split() == ["CSRNDArray", "RowSparseNDArray", "NDArray", "NDArray"]


def test_parts_are_copies(csr: Any, rows: Any) -> None:
    for array in (csr, rows):
        data, indices = array.data, array.indices
        data[:] = 9
        indices[:] = 0
        assert array.asnumpy().tolist() == MATRIX.tolist()
    assert csr.indptr.asnumpy().tolist() == [0, 1, 3, 3, 4] and rows.indices.asnumpy().tolist() == [0, 1, 3]


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (7, 5), (70, 130), (1100, 3)])
def test_values_survive(stype: str, dtype: str, shape: tuple[int, int], tmp_path: Any) -> None:
    if 0 in shape:
        array = nd.sparse.zeros(stype, shape, dtype=dtype)
        values = np.zeros(shape, dtype)
    else:
        random = np.random.default_rng(1)
        values = (random.integers(1, 9, shape) * (random.random(shape) < 0.3)).astype(dtype)
        array = nd.array(values, dtype=dtype).tostype(stype)
    array.check_format()
    assert array.asnumpy().dtype == values.dtype and np.array_equal(array.asnumpy(), values)
    assert np.array_equal(array.tostype("default").tostype(stype).asnumpy(), values)
    assert np.array_equal(np.asarray(array), values) and np.array_equal(nd.array(array).asnumpy(), values)
    for made in (array.copy(), array.astype("float64"), array.as_in_context(mx.cpu(1)), copy.deepcopy(array)):
        assert made.stype == stype and np.array_equal(made.asnumpy(), values.astype(made.dtype))
    if 0 not in shape:
        again = pickle.loads(pickle.dumps(array))
        assert type(again) is type(array) and np.array_equal(again.asnumpy(), values)
        nd.save(str(tmp_path / "x"), [array])
        assert np.array_equal(nd.load(str(tmp_path / "x"))[0].asnumpy(), values)


@pytest.mark.parametrize("begin", [None, 0, 1, 3, -2, 9, -9])
@pytest.mark.parametrize("end", [None, 0, 2, 4, -1, 9, -9])
def test_slices_of_rows(csr: Any, begin: int | None, end: int | None) -> None:
    found = csr[begin:end]
    assert found.stype == "csr" and np.array_equal(found.asnumpy(), MATRIX[begin:end])


def test_views_of_memory_are_refused(csr: Any) -> None:
    assert not hasattr(csr, "__array_interface__")
    with pytest.raises(BufferError, match="tostype"):
        csr.__dlpack__()
    with pytest.raises(mx.MXNetError, match="csr"):
        csr.to_dlpack_for_read()
    with pytest.raises(ValueError, match="np are dense"):
        csr.as_np_ndarray()
    with pytest.raises(mx.MXNetError, match="NDArray"):
        csr.reshape(12)


@pytest.mark.parametrize(
    ("parts", "shape"),
    [
        (([1.0], [5], [0, 1]), (1, 3)),
        (([1.0], [-1], [0, 1]), (1, 3)),
        (([1.0, 2], [0, 1], [0, 2, 1]), (2, 3)),
        (([1.0], [0], [0, 5]), (1, 3)),
        (([1.0], [0], [1, 1]), (1, 3)),
        (([1.0], [0], [0, 1]), (2, 3)),
        (([1.0, 2], [1, 0], [0, 2]), (1, 3)),
        (([1.0, 2], [1, 1], [0, 2]), (1, 3)),
    ],
)
def test_parts_that_make_no_matrix(parts: tuple, shape: tuple[int, int]) -> None:
    array = csr_matrix(parts, shape=shape)
    with pytest.raises(mx.MXNetError):
        array.check_format()
    try:  # reads nothing beyond the parts
        array.asnumpy()
    except mx.MXNetError as problem:
        assert "csr" in str(problem)


@pytest.mark.parametrize("indices", [[9], [-1], [1, 1], [1, 0]])
def test_rows_that_make_no_array(indices: list[int]) -> None:
    array = row_sparse_array((np.ones((len(indices), 2), np.float32), indices), shape=(3, 2))
    with pytest.raises(mx.MXNetError):
        array.check_format()


def test_assignment_changes_all_who_share(rows: Any) -> None:
    other = rows.detach()
    rows[:] = 7
    assert other.asnumpy().tolist() == [[7] * 3] * 4
    rows[:] = np.eye(4, dtype=np.float32)[:, :3]
    assert other.indices.asnumpy().tolist() == [0, 1, 2]
    rows.writable = False
    with pytest.raises(ValueError, match="readonly"):
        rows[:] = 1
    with pytest.raises(ValueError, match="readonly"):
        rows += 1


def test_stored_numbers_of_arguments(csr: Any) -> None:
    """What the library refuses has changed nothing."""
    with pytest.raises(ValueError):
        csr[:] = 5
    with pytest.raises(TypeError):
        csr[:] = [[1, 2, 3]]
    with pytest.raises(mx.MXNetError):
        csr[:] = np.ones((2, 2))
    assert csr.asnumpy().tolist() == MATRIX.tolist()
    with pytest.raises(TypeError, match="csr"):
        nd.zeros((4, 3))[:] = csr


class _Matrix:
    """What is read of SciPy's matrices in compressed rows."""

    format = "csr"
    has_sorted_indices = has_canonical_format = True
    shape = MATRIX.shape
    dtype = MATRIX.dtype
    data = np.array([1, 2, 3, 4], np.float32)
    indices = np.array([1, 0, 2, 0], np.int32)
    indptr = np.array([0, 1, 3, 3, 4], np.int32)

    def tocsr(self) -> _Matrix:
        return self


def test_matrices_of_scipy(monkeypatch: pytest.MonkeyPatch, csr: Any) -> None:
    scipy = types.ModuleType("scipy.sparse")
    scipy.issparse = lambda thing: isinstance(thing, _Matrix)  # type: ignore[attr-defined]
    scipy.csr_matrix = lambda parts, shape, dtype: (parts, shape, dtype)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "scipy", types.ModuleType("scipy"))
    monkeypatch.setitem(sys.modules, "scipy.sparse", scipy)
    for made in (nd.array(_Matrix()), nd.sparse.array(_Matrix()), csr_matrix(_Matrix())):
        assert made.stype == "csr" and np.array_equal(made.asnumpy(), MATRIX)
    batches = mx.io.NDArrayIter(_Matrix(), batch_size=2, last_batch_handle="discard")
    assert np.array_equal(np.concatenate([batch.data[0].asnumpy() for batch in batches]), MATRIX)
    (data, indices, indptr), shape, dtype = csr.asscipy()
    assert data.tolist() == [1, 2, 3, 4] and indices.tolist() == [1, 0, 2, 0] and indptr.tolist() == [0, 1, 3, 3, 4]
    assert shape == (4, 3) and dtype is np.float32


def test_repeated_columns_count_in_the_gradient() -> None:
    """As DGL's adjacency matrices of graphs with parallel edges have them; the product adds them up."""
    matrix = nd.sparse.csr_matrix(([1.0, 2, 4, 8], [2, 0, 2, 1], [0, 3, 4]), shape=(2, 3))
    dense = np.array([[2.0, 0, 5], [0, 8, 0]], "float32")
    x = nd.array([[1.0, 2], [3, 4], [5, 6]])
    x.attach_grad()
    with mx.autograd.record():
        y = nd.dot(matrix, x)
    y.backward()
    np.testing.assert_array_equal(y.asnumpy(), dense @ x.asnumpy())
    np.testing.assert_array_equal(x.grad.asnumpy(), dense.T @ np.ones((2, 2)))
