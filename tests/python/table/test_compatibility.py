"""The deliberate differences from MXNet 1.9.1 that docs/compatibility.md lists and no other test shows."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _table import invoke_text

import mxlite as mx
from mxlite import autograd, nd
from mxlite._lib import LIB, check_call

ROOT = Path(__file__).resolve().parents[3]


def _variable(*values: float, req: str = "write", dtype: str = "float32") -> nd.NDArray:
    array = nd.array(values, dtype=dtype)
    array.attach_grad(req)
    return array


# ---- recording and gradients ----


def test_the_same_head_twice_counts_twice() -> None:
    x = _variable(1, 2, 3)
    with autograd.record():
        y = x * x
    autograd.backward([y, y])
    assert x.grad.asnumpy().tolist() == [4, 8, 12]


def test_gradients_of_values_on_the_way() -> None:
    x = _variable(1, 2, 3)
    with autograd.record():
        y = x * x
        z = y * y
    (gradient,) = autograd.grad(z, [y])
    assert gradient.asnumpy().tolist() == [2, 8, 18]
    assert x.grad.asnumpy().tolist() == [0, 0, 0]


def test_the_same_variable_twice() -> None:
    x = _variable(1, 2, 3)
    with autograd.record():
        y = x * x
    first, second = autograd.grad(y, [x, x])
    first[:] = 0
    assert second.asnumpy().tolist() == [2, 4, 6]


def test_an_edited_saved_array_is_an_error() -> None:
    x = _variable(3)
    with autograd.record():
        y = x * x
    x[:] = 100
    with pytest.raises(mx.MXNetError, match="broadcast_mul.*edited in place"):
        y.backward()
    assert x.grad.asscalar() == 0
    # What no rule reads may change.
    with autograd.record():
        y = x * 2
    x[:] = 3
    y.backward()
    assert x.grad.asscalar() == 2


def test_an_edited_recorded_array_cannot_be_recorded_again() -> None:
    x = _variable(3)
    with autograd.record():
        y = x * 2
    y[:] = 100
    with autograd.record():
        with pytest.raises(mx.MXNetError, match="edited in place after it was recorded"):
            y * y
        z = y.detach() * x
    z.backward()
    assert x.grad.asscalar() == 100


def test_constants_stay_editable() -> None:
    x, c = _variable(3), nd.array([2])
    with autograd.record():
        y = x + c
        c[:] = 5
        z = x * c
    assert (c.asscalar(), y.asscalar(), z.asscalar()) == (5, 5, 15)
    autograd.backward([y, z])
    assert x.grad.asscalar() == 6
    with autograd.record():
        z = x * c
        c += 1
    with pytest.raises(mx.MXNetError, match="input 1 .*saved for backward, was edited in place"):
        z.backward()


#: How 1.9.1's message begins; programs look for it.
IN_PLACE = r"\w+: " + re.escape("edits in place (+=, x[:] = y, out=) are not recorded: ")


def test_a_refused_write_changes_nothing() -> None:
    x = _variable(1, 2)
    with autograd.record():
        y = x * 2
        for array in (x, y):
            before = array.asnumpy().tolist()
            with pytest.raises(mx.MXNetError, match="^" + IN_PLACE):
                array += 1
            with pytest.raises(mx.MXNetError, match="^" + IN_PLACE):
                array[:] = 7
            assert array.asnumpy().tolist() == before
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 2]


def test_recorded_values_do_not_go_through_views() -> None:
    x, z = _variable(1, 2), nd.zeros((3,))
    q = z[1:3]
    with autograd.record():
        with pytest.raises(mx.MXNetError, match=f"^{IN_PLACE}.*part of another array"):
            q[:] = x * 2
        with pytest.raises(mx.MXNetError, match=f"^{IN_PLACE}.*one of its inputs"):
            z[1:3] = x * 2
        q[:] = nd.array([5, 6])
    assert z.asnumpy().tolist() == [0, 5, 6]


def test_a_view_older_than_the_record_is_refused() -> None:
    x, z = _variable(1, 2, 3), nd.zeros((3,))
    old = z[0:2]
    with autograd.record():
        z[:] = x * 2
        with pytest.raises(mx.MXNetError, match="take it again"):
            old * 3
        y = z[0:2] * 3
    y.backward()
    assert x.grad.asnumpy().tolist() == [6, 6, 0]


def test_head_gradients_must_fit() -> None:
    x = _variable(1, 2, 3)
    with autograd.record():
        y = x * x
    for wrong in (nd.ones((2,)), nd.ones((1, 2)), nd.ones((1,), dtype="float64")):
        with pytest.raises(mx.MXNetError, match="head gradient 0"):
            y.backward(wrong)
    assert x.grad.asnumpy().tolist() == [0, 0, 0]
    y.backward(nd.array([1, 10, 100]))
    assert x.grad.asnumpy().tolist() == [2, 40, 600]


def test_head_gradients_with_more_elements_and_of_another_dtype() -> None:
    for head in (nd.array([1, 10, 100, 7]), nd.array([[1, 10], [100, 7]]), nd.array([1, 10, 100], dtype="int32")):
        x = _variable(1, 2, 3)
        with autograd.record():
            y = x * x
        y.backward(head)
        assert x.grad.asnumpy().tolist() == [2, 40, 600]


@pytest.mark.parametrize("shape", [(4,), (2, 2), (1, 4), (4, 1, 1)])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x,
        nd.identity,
        lambda x: nd.dot(x, nd.ones((1, 1))),
        lambda x: nd.sum(x, axis=1, keepdims=True),
        lambda x: x,
    ],
)
def test_head_gradients_of_another_shape(function: Any, shape: tuple[int, ...]) -> None:
    """A textbook gives (4,) for (4, 1). 1.9.1 multiplies element by element, where an operator does not look."""
    given, grads = nd.array([1, 10, 100, 1000]), []
    for gradient in (given.reshape((4, 1)), given.reshape(shape)):
        x = nd.array([[1], [2], [3], [4]])
        x.attach_grad()
        with autograd.record():
            y = function(x)
        (returned,) = autograd.grad([y], [x], [gradient], retain_graph=True)
        y.backward(gradient)
        grads += [returned.asnumpy(), x.grad.asnumpy()]
    assert all(grad.shape == (4, 1) and (grad == grads[0]).all() for grad in grads)


def test_a_frozen_head_may_be_used_again() -> None:
    x, f = _variable(1, 2, 3), _variable(4, 5, 6, req="null")
    with autograd.record():
        y, z = x * x, f * f
    autograd.backward([y, z])
    with autograd.record():
        y = x * x * x
    autograd.backward([y, z])
    assert x.grad.asnumpy().tolist() == [3, 12, 27]


LINEAR = {
    "radians": nd.radians,
    "times": lambda x: x * 2,
    "sum": lambda x: x.sum(),
    "minus": lambda x: 3 - x,
    "reshape": lambda x: x.reshape((3, 1)),
    "relu": nd.relu,
    "sign": nd.sign,
    "bilinear": lambda x: x * nd.array([4, 5, 6]),
    "itself": lambda x: x,
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("order", [2, 3])
def test_derivatives_that_vanish_are_zeros(name: str, order: int) -> None:
    x = _variable(1, 2, 3)
    x.grad[:] = 7
    with autograd.record():
        y = LINEAR[name](x)
        for _ in range(order - 1):
            (y,) = autograd.grad(y, [x], create_graph=True)
        (last,) = autograd.grad(y, [x], create_graph=True)
    assert last.asnumpy().tolist() == [0, 0, 0]
    y.backward()
    assert x.grad.asnumpy().tolist() == [0, 0, 0]


def test_derivatives_that_vanish_among_others() -> None:
    x, w, b = _variable(2), _variable(3), _variable(5)
    b.grad[:] = 7
    with autograd.record():
        grads = autograd.grad(x * w + b, [x, w, b], create_graph=True)
        penalty = sum(grad * grad for grad in grads)  # w^2 + x^2 + 1
    penalty.backward()
    assert [array.grad.asscalar() for array in (x, w, b)] == [4, 6, 0]


def test_unknown_derivatives_are_no_zeros() -> None:
    """A function that computes its gradient elsewhere: what that depends on, nobody knows."""

    class Square(autograd.Function):
        def forward(self, x: nd.NDArray) -> nd.NDArray:
            self.values = x.asnumpy()
            return x * x

        def backward(self, dy: nd.NDArray) -> nd.NDArray:
            return nd.array(2 * self.values * dy.asnumpy())

    x = _variable(1, 2, 3)
    with autograd.record():
        (first,) = autograd.grad(Square()(x), [x], create_graph=True)
    assert first.asnumpy().tolist() == [2, 4, 6]
    with pytest.raises(mx.MXNetError, match="head 0 is not in a recorded graph"):
        first.backward()


def test_marking_checks_the_gradient() -> None:
    x, y = nd.array([1, 2, 3]), nd.array([1, 2])
    for gradient in (nd.zeros((2,)), nd.zeros((3,), dtype="float64")):
        with pytest.raises(mx.MXNetError, match="MXAutogradMarkVariables: variable 1"):
            autograd.mark_variables([y, x], [nd.zeros((2,)), gradient])
    assert x.grad is None and y.grad is None


def test_unknown_gradient_requests() -> None:
    x, g = nd.array([1]), nd.zeros((1,))
    arrays = (ctypes.c_void_p * 1)(x.handle)
    gradients = (ctypes.c_void_p * 1)(g.handle)
    for request in (4, 7, 2**32 - 1):
        with pytest.raises(mx.MXNetError, match=f"gradient request {request} of variable 0"):
            check_call(LIB.MXAutogradMarkVariables(1, arrays, (ctypes.c_uint32 * 1)(request), gradients))
    assert x.grad is None
    check_call(LIB.MXAutogradMarkVariables(1, arrays, (ctypes.c_uint32 * 1)(2), gradients))
    with autograd.record():
        y = x * 3
    y.backward()
    assert g.asscalar() == 3


def test_the_buffer_of_a_null_request_stays() -> None:
    x, w = _variable(2, req="null"), _variable(3)
    with autograd.record():
        y = x * w
    y.backward()
    assert x.grad.asscalar() == 0
    assert w.grad.asscalar() == 2


class _Double(autograd.Function):
    def forward(self, x: nd.NDArray) -> nd.NDArray:
        return x * 2

    def backward(self, dy: nd.NDArray) -> nd.NDArray:
        return dy * 2


def test_functions_add_to_a_variable() -> None:
    x = _variable(1, req="add")
    x.grad[:] = 5
    with autograd.record():
        y = _Double()(x)
    y.backward()
    assert x.grad.asscalar() == 7


class _Failing(_Double):
    def backward(self, dy: nd.NDArray) -> nd.NDArray:
        raise LookupError("not today")


def test_exceptions_arrive_whole(capfd: pytest.CaptureFixture) -> None:
    x = _variable(1)
    with autograd.record():
        y = _Failing()(x)
    with pytest.raises(mx.MXNetError, match="LookupError: not today") as caught:
        y.backward()
    assert isinstance(caught.value.__cause__, LookupError)
    # The frames of the traceback hold arrays.
    caught.value.__cause__.__traceback__ = None
    assert capfd.readouterr() == ("", "")


# ---- operators ----


def _invoke_pairs(op: str, inputs: list, pairs: list[tuple[str, str]]) -> nd.NDArray:
    """One call whose parameters may repeat, which a dictionary cannot say."""
    handle, count = ctypes.c_void_p(), ctypes.c_int(0)
    check_call(LIB.NNGetOpHandle(op.encode(), ctypes.byref(handle)))
    outputs, stypes = ctypes.POINTER(ctypes.c_void_p)(), ctypes.POINTER(ctypes.c_int)()
    given = (ctypes.c_void_p * len(inputs))(*(array.handle for array in inputs))
    keys = (ctypes.c_char_p * len(pairs))(*(key.encode() for key, _ in pairs))
    values = (ctypes.c_char_p * len(pairs))(*(value.encode() for _, value in pairs))
    check_call(
        LIB.MXImperativeInvokeEx(
            handle, len(inputs), given, ctypes.byref(count), ctypes.byref(outputs), len(pairs), keys, values,
            ctypes.byref(stypes),
        )
    )  # fmt: skip
    return nd.NDArray._adopt(outputs[0])


def test_repeated_parameters() -> None:
    x = nd.array([1, 2])
    with pytest.raises(mx.MXNetError, match='^plus_scalar: parameter "scalar" is given twice'):
        _invoke_pairs("_plus_scalar", [x], [("scalar", "1"), ("scalar", "1")])
    assert _invoke_pairs("_plus_scalar", [x], [("scalar", "1")]).asnumpy().tolist() == [2, 3]


def test_float_parameters_are_double() -> None:
    (drawn,) = invoke_text("_random_uniform", [], {"low": "0.1", "high": "0.1", "shape": "(1,)", "dtype": "float64"})
    assert drawn.asscalar() == 0.1
    with pytest.raises(mx.MXNetError, match="high"):
        invoke_text("_random_uniform", [], {"high": "1e39", "shape": "(1,)"})


def test_equal_seeds_equal_numbers() -> None:
    draws = []
    try:
        for threads in (1, 2, 3):
            check_call(LIB.MXSetNumOMPThreads(threads))
            mx.random.seed(3)
            draws.append(nd.random.normal(shape=(100001,)).asnumpy())
    finally:
        check_call(LIB.MXSetNumOMPThreads(0))
    mx.random.seed(4)
    assert np.array_equal(draws[0], draws[1]) and np.array_equal(draws[0], draws[2])
    assert not np.array_equal(draws[0], nd.random.normal(shape=(100001,)).asnumpy())


def test_the_last_dtype_is_bfloat16() -> None:
    out, shape = ctypes.c_void_p(), (ctypes.c_uint32 * 1)(2)
    with pytest.raises(mx.MXNetError, match="unknown dtype 13"):
        check_call(LIB.MXNDArrayCreateEx(shape, 1, 1, 0, 0, 13, ctypes.byref(out)))
    assert out.value is None
