"""Errors of random numbers are reported where a result is read, once, as in 1.9.1; others at the call."""

from __future__ import annotations

import pickle

import pytest

import mxlite as mx
from mxlite import autograd, nd


def wrong():
    return nd.random.normal(0, -1, (2, 2))


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x.wait_to_read(),
        lambda x: x.asnumpy(),
        lambda x: nd.waitall(),
        lambda x: (x + 1).sum().asscalar(),
        lambda x: x[0].asnumpy(),
        lambda x: x.reshape((4,)).tolist() if hasattr(x, "tolist") else x.reshape((4,)).asnumpy(),
        lambda x: x.copyto(nd.zeros((2, 2))).asnumpy(),
        lambda x: mx.nd.save("unused", x),
        lambda x: x.to_dlpack_for_read(),
        lambda x: x._to_shared_mem(),
        pickle.dumps,
        str,
    ],
)
def test_the_first_read_reports(read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = wrong()
    assert x.shape == (2, 2)
    with pytest.raises(mx.MXNetError, match="scale must be above 0"):
        read(x)
    assert x.asnumpy().tolist() == [[0, 0], [0, 0]] and not list(tmp_path.iterdir())
    nd.waitall()


def test_each_draw_is_reported():
    first, second = wrong(), wrong()
    for x in (first, second):
        with pytest.raises(mx.MXNetError):
            x.asnumpy()
    nd.waitall()


def test_gradients_have_it_and_other_arrays_do_not():
    x, other = nd.ones((2, 2)), nd.ones((2, 2))
    x.attach_grad()
    with autograd.record():
        y = x * wrong()
        z = other * 2
    y.backward()
    assert z.asnumpy().sum() == 8
    with pytest.raises(mx.MXNetError):
        x.grad.asnumpy()


def test_other_operators_fail_at_the_call():
    with pytest.raises(mx.MXNetError):
        nd.take(nd.ones((2,)), nd.array([5]), mode="raise")
    with pytest.raises(IndexError):
        nd.gather_nd(nd.ones((2,)), nd.array([[5]]))
    nd.waitall()
