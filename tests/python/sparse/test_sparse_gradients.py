"""Gradients of sparse arrays beside those of dense ones with the same values, where 1.9.1's are not to be had."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxlite as mx

MATRIX = np.array([[0, 1, 0], [2, 0, 3], [0, 0, 0], [4, 0, 0]], "float32")
STYPES = ["default", "row_sparse", "csr"]


def _stored(values: Any, stype: str) -> mx.nd.NDArray:
    return mx.nd.array(values).tostype(stype)


def _gradients(compute: Any, arrays: list, stype: str | None, head: Any = None, request: str = "write") -> list:
    for each in arrays:
        each.attach_grad(request, stype=stype)
    with mx.autograd.record():
        result = compute(*arrays)
    result.backward(head)
    return [each.grad for each in arrays]


@pytest.mark.parametrize("values", [MATRIX, np.zeros_like(MATRIX)], ids=["some", "nothing"])
@pytest.mark.parametrize("other", STYPES)
@pytest.mark.parametrize("buffer", STYPES)
@pytest.mark.parametrize("transpose", [False, True])
def test_of_a_csr_factor(values: np.ndarray, other: str, buffer: str, transpose: bool) -> None:
    right = np.arange(8 if transpose else 6, dtype="float32").reshape(-1, 2) - 2

    def product(x: Any, y: Any) -> Any:
        return mx.nd.dot(x, y, transpose_a=transpose)

    for request in ("write", "add"):
        found = _gradients(product, [_stored(values, "csr"), _stored(right, other)], buffer, request=request)
        wanted = _gradients(product, [mx.nd.array(values), mx.nd.array(right)], None, request=request)
        assert [each.stype for each in found] == [buffer, buffer]
        for a, b in zip(found, wanted):
            np.testing.assert_allclose(a.asnumpy(), b.asnumpy())


@pytest.mark.parametrize("head", STYPES)
@pytest.mark.parametrize("stype", STYPES)
@pytest.mark.parametrize("name", ["square", "elemwise_add", "elemwise_sub", "elemwise_mul", "add_n", "dot"])
def test_of_a_sparse_head(name: str, stype: str, head: str) -> None:
    values, above = np.concatenate([MATRIX, -MATRIX])[:6, :3], np.eye(6, 3, dtype="float32") * 2
    count, y = (1 if name == "square" else 2), values[::-1].copy()
    if name == "dot":
        y = np.arange(9, dtype="float32").reshape(3, 3)
    compute = getattr(mx.nd, name)
    arrays = [_stored(values, stype), _stored(y, "default" if name == "dot" else stype)][:count]
    found = _gradients(compute, arrays, None, _stored(above, head))
    wanted = _gradients(compute, [mx.nd.array(values), mx.nd.array(y)][:count], None, mx.nd.array(above))
    for a, b in zip(found, wanted):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy())


@pytest.mark.parametrize("buffer", STYPES)
@pytest.mark.parametrize("name", ["LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"])
def test_of_labels(name: str, buffer: str) -> None:
    """Labels have none, however its array is stored; that of data is added up once."""
    compute = getattr(mx.nd, name)
    for stype in STYPES:
        data, label = mx.nd.array(MATRIX / 4), _stored(MATRIX, stype)
        data.attach_grad("add")
        label.attach_grad(stype=buffer)
        with mx.autograd.record():
            result = compute(data, label)
        result.backward()
        assert label.grad.stype == buffer and not label.grad.asnumpy().any()
        (wanted,) = _gradients(lambda x: compute(x, mx.nd.array(MATRIX)), [mx.nd.array(MATRIX / 4)], None)
        np.testing.assert_allclose(data.grad.asnumpy(), wanted.asnumpy())


def test_of_rows_that_are_kept() -> None:
    """`retain` of a dense array is row_sparse, also before there was a sparse array, and repeated."""
    x = mx.nd.array(MATRIX)
    for _ in range(3):
        (grad,) = _gradients(lambda y: mx.nd.sparse.retain(y, mx.nd.array([1, 3])), [x], "row_sparse")
        assert grad.indices.asnumpy().tolist() == [1, 3] and (grad.data.asnumpy() == 1).all()
        assert isinstance(mx.nd.sparse.retain(x, mx.nd.array([1])), mx.nd.sparse.RowSparseNDArray)
