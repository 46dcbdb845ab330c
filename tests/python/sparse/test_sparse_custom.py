"""Custom operators of sparse arrays: infer_storage_type and infer_storage_type_backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd

VALUES = np.array([[0, 1, 0], [0, 0, 0], [2, 0, 3]], "float32")
SPARSE = ("csr", "row_sparse")


def _with_values(like: Any, values: Any) -> Any:
    if like.stype == "csr":
        return nd.sparse.csr_matrix((values, like.indices, like.indptr), shape=like.shape)
    if like.stype == "row_sparse":
        return nd.sparse.row_sparse_array((values, like.indices), shape=like.shape)
    return values


class _Square(mx.operator.CustomOp):
    """Squares what is stored; adds what it was given to the log of its description."""

    def __init__(self, log: list) -> None:
        self.log = log

    def forward(self, is_train, req, in_data, out_data, aux):
        self.log.append([each.stype for each in (*in_data, *out_data)])
        data = in_data[0] if out_data[0].stype == in_data[0].stype else in_data[0].tostype(out_data[0].stype)
        stored = data if data.stype == "default" else data.data
        self.assign(out_data[0], req[0], _with_values(data, stored * stored))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.log.append([each.stype for each in (*out_grad, *in_data, *out_data, *in_grad)])
        if in_grad[0].stype == in_data[0].stype != "default":
            self.assign(in_grad[0], req[0], _with_values(in_data[0], 2 * in_data[0].data))
        else:
            self.assign(in_grad[0], req[0], 2 * in_data[0].tostype("default") * out_grad[0].tostype("default"))


def _register(name: str, out: str | None, in_grad: str | None, **more: Any) -> list:
    """Registers it with those storage types (None: the argument's); returns its log."""
    log: list = []

    def infer_storage_type(self, in_stype):
        return in_stype, [out or in_stype[0]], []

    def infer_storage_type_backward(self, ograd, inputs, outputs, igrad, aux):
        log.append((ograd, inputs, outputs, igrad, aux))
        return ograd, inputs, outputs, [in_grad or inputs[0]], aux

    methods = {"infer_storage_type": infer_storage_type, "infer_storage_type_backward": infer_storage_type_backward}
    methods |= {"create_operator": lambda self, *_: _Square(log)} | more
    mx.operator.register(name)(type("Prop", (mx.operator.CustomOpProp,), methods))
    return log


@pytest.mark.parametrize("given", ["default", *SPARSE])
@pytest.mark.parametrize("out", ["default", *SPARSE, None])
def test_storage_types_are_what_the_operator_says(given: str, out: str | None) -> None:
    log = _register("sparse_square", out, "default" if out else None)
    x = nd.array(VALUES).tostype(given)
    made, grad = out or given, "default" if out else given
    if {given, made} != set(SPARSE) and not (out == "default" and given != "default"):
        x.attach_grad(stype=grad)
        with autograd.record():
            y = nd.Custom(x, op_type="sparse_square")
        y.backward()
        assert (y.stype, x.grad.stype) == (made, grad)
        np.testing.assert_array_equal(y.asnumpy(), VALUES**2)
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * VALUES)
        assert log == [
            [given, made],
            (["default"], [given], [made], ["undefined"], []),
            ["default", given, made, grad],
        ]


@pytest.mark.parametrize("stype", SPARSE)
def test_a_class_of_dense_arrays_gets_copies(stype: str) -> None:
    log: list = []
    prop = type("Prop", (mx.operator.CustomOpProp,), {"create_operator": lambda self, *_: _Square(log)})
    mx.operator.register("dense_square")(prop)
    x = nd.array(VALUES).tostype(stype)
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="dense_square")
    y.backward()
    assert y.stype == "default" and x.grad.stype == stype
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * VALUES)
    assert log == [["default"] * 2, ["default"] * 4]


@pytest.mark.parametrize("stype", SPARSE)
def test_executors_and_the_array_to_write_to(stype: str) -> None:
    _register("sparse_square", None, None)
    x, grad = nd.array(VALUES).tostype(stype), nd.zeros((3, 3)).tostype(stype)
    symbol = mx.sym.Custom(mx.sym.var("data", stype=stype), op_type="sparse_square")
    executor = symbol.bind(mx.cpu(), {"data": x}, {"data": grad})
    (y,) = executor.forward(is_train=True)
    executor.backward(nd.ones((3, 3)).tostype(stype))
    assert (y.stype, grad.stype) == (stype, stype)
    np.testing.assert_array_equal(y.asnumpy(), VALUES**2)
    np.testing.assert_array_equal(grad.asnumpy(), 2 * VALUES)
    for out in (nd.ones((3, 3)), nd.ones((3, 3)).tostype(stype)):
        nd.Custom(x, op_type="sparse_square", out=out)
        np.testing.assert_array_equal(out.asnumpy(), VALUES**2)


def test_failures_lose_nothing() -> None:
    def fails(self, *_):
        raise KeyError("why")

    x = nd.array(VALUES).tostype("csr")
    out = nd.ones((3, 3))
    _register("sparse_fails", None, None, infer_storage_type=fails)
    for given in (x, nd.array(VALUES)):
        with pytest.raises(mx.MXNetError, match="infer_storage_type of operator .* failed: KeyError: 'why'"):
            nd.Custom(given, op_type="sparse_fails", out=out)
    assert (out.asnumpy() == 1).all()
    x.attach_grad()
    for methods, words in (
        ({"infer_storage_type_backward": fails}, "infer_storage_type_backward of operator .* failed: KeyError: 'why'"),
        ({"infer_storage_type_backward": lambda self, *g: g[:4]}, "a storage type for each array"),
    ):
        _register("sparse_fails", None, None, **methods)
        with autograd.record():
            y = nd.Custom(x, op_type="sparse_fails")
        with pytest.raises(mx.MXNetError, match=words):
            y.backward()
        assert x.grad.data.size == 0
