"""The deliberate differences from MXNet 1.9.1 that docs/compatibility.md lists and no other test shows."""

from __future__ import annotations

import ctypes
import json
import pickle
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _table import invoke_text

import mxlite as mx
from mxlite import autograd, nd
from mxlite._lib import LIB, check_call
from mxlite.ndarray._operators import is_refused

ROOT = Path(__file__).resolve().parents[3]


def _variable(*values: float, req: str = "write", dtype: str = "float32") -> nd.NDArray:
    array = nd.array(values, dtype=dtype)
    array.attach_grad(req)
    return array


def _statuses(*wanted: str) -> list[str]:
    rows = (line.split() for line in (ROOT / "capi/api/exports.txt").read_text().splitlines() if line[:1] != "#")
    return [row[0] for row in rows if row and row[1] in wanted]


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
    with pytest.raises(mx.MXNetError, match="input 1 .*saved for backward, has been modified by an inplace operation"):
        z.backward()


#: How 1.9.1's message begins; programs look for it.
IN_PLACE = re.escape("Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with autograd. ")


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
    for wrong in (nd.ones((2,)), nd.ones((4,)), nd.ones((1, 2)), nd.ones((3,), dtype="float64")):
        with pytest.raises(mx.MXNetError, match="head gradient 0"):
            y.backward(wrong)
    assert x.grad.asnumpy().tolist() == [0, 0, 0]
    y.backward(nd.array([1, 10, 100]))
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
    with pytest.raises(mx.MXNetError, match='_plus_scalar: parameter "scalar" is given twice'):
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


def test_bfloat16_is_unknown() -> None:
    out, shape = ctypes.c_void_p(), (ctypes.c_uint32 * 1)(2)
    with pytest.raises(mx.MXNetError, match="unknown dtype 12"):
        check_call(LIB.MXNDArrayCreateEx(shape, 1, 1, 0, 0, 12, ctypes.byref(out)))
    assert out.value is None


# ---- the C API ----


def test_errors_are_one_line() -> None:
    for wrong in (
        lambda: nd.dot(nd.ones((2, 3)), nd.ones((2, 3))),
        lambda: nd.ones((2,)).backward(),
        lambda: invoke_text("no_such_operator", [], {}),
        lambda: invoke_text("sum", [nd.ones((2,))], {"axis": "a\nb"}),
    ):
        with pytest.raises(mx.MXNetError) as caught:
            wrong()
        assert str(caught.value) and "\n" not in str(caught.value)
        assert LIB.MXGetLastError().decode() == str(caught.value)


def test_reshape_keeps_the_size() -> None:
    x, out = nd.ones((4, 6)), ctypes.c_void_p()
    with pytest.raises(ValueError, match="^ValueError: MXNDArrayReshape: "):
        check_call(LIB.MXNDArrayReshape(x.handle, 2, (ctypes.c_int * 2)(2, 3), ctypes.byref(out)))
    with pytest.raises(ValueError, match="^ValueError: MXNDArrayReshape64: "):
        check_call(LIB.MXNDArrayReshape64(x.handle, 2, (ctypes.c_int64 * 2)(2, 3), False, ctypes.byref(out)))
    assert out.value is None


def test_devices(tmp_path: Path) -> None:
    """Which context 1.9.1 gives to each of these; all are this machine's memory."""
    one, pinned, shared, plain = mx.cpu(1), mx.cpu_pinned(2), mx.Context("cpu_shared", 3), mx.cpu()
    for context in (plain, one, pinned, shared, mx.cpu(99999)):
        for made in (
            nd.zeros((2,), ctx=context),
            nd.ones((2,), context),
            nd.full((2,), 3, ctx=context),
            nd.full((2,), nd.ones(2), ctx=context),
            nd.array([1, 2], ctx=context),
            nd.empty((2,), ctx=context),
            nd.arange(2, ctx=context),
            nd.linspace(0, 1, 2, ctx=context),
            nd.eye(2, ctx=context),
            nd.random.uniform(shape=(2,), ctx=context),
            nd.random.randint(0, 9, shape=(2,), ctx=context),
            nd.ones(2).copyto(context),
            nd.ones(2).as_in_context(context),
        ):
            assert made.context == made.ctx == context
            assert made.copy().context == made.astype("int32").context == made[0:1].context == context
            assert made.detach().context == made.reshape((-1,)).context == context
            assert (made + 1).context == made.sum().context == mx.cpu(context.device_id)
            assert made.as_in_context(context) is made
        with context:
            assert nd.zeros(1).context == nd.array([1]).context == nd.random.normal().context == context
            assert nd.concat(nd.ones(1, one), nd.ones(1), dim=0).context == one
    assert nd.array([1], ctx=mx.cpu(-1)).context == plain and repr(nd.ones(1, one)).endswith("@cpu(1)>")
    x, y = nd.array([1, 2], ctx=one), nd.array([3, 4], ctx=pinned)
    assert (x + y).context == one and (y + x).context == mx.cpu(2) and (nd.ones(2) + x).context == plain
    assert nd.exp(x, out=y) is y and y.context == pinned
    y[:] = x
    assert y.context == pinned and [part.context for part in nd.split(x, 2, axis=0)] == [one, one]
    x.attach_grad()
    with autograd.record():
        z = (x.as_in_context(mx.cpu(4)) * y).sum()
    assert z.context == mx.cpu(4) and autograd.grad(z, x, retain_graph=True)[0].context == one
    z.backward()
    assert x.grad.context == one and x.grad.asnumpy().tolist() == y.asnumpy().tolist()
    assert nd.concatenate([y, x]).context == pinned and nd.concatenate([x, y]).context == one
    y.attach_grad()
    with autograd.record():
        z = y * y
    assert y.grad.context == autograd.grad(z, y)[0].context == mx.cpu(2)
    nd.save(str(tmp_path / "x.params"), [x])
    content = (tmp_path / "x.params").read_bytes()
    assert content[44:52] == bytes([1, 0, 0, 0, 1, 0, 0, 0])  # the file says cpu(1); loading makes cpu(0)
    assert nd.load(str(tmp_path / "x.params"))[0].context == pickle.loads(pickle.dumps(x)).context == plain
    for text in ("cpu(1", "cpu(1)x", "cpu()", "cpu(x)", "cpu (1)", ""):
        with pytest.raises(ValueError, match="is no device"):
            nd.zeros(2, ctx=text)
    assert nd.zeros(2, ctx="cpu_pinned(2)").context == pinned and nd.array([1], ctx="cpu").context == plain
    for wrong in (lambda: nd.zeros(2, ctx=mx.gpu(0)), lambda: x.as_in_context(mx.gpu(0)), lambda: x.copyto(mx.gpu(0))):
        with pytest.raises(mx.MXNetError, match="gpu"):
            wrong()


def test_work_goes_on_after_shutdown() -> None:
    check_call(LIB.MXNotifyShutdown())
    results = []
    worker = threading.Thread(target=lambda: results.append((nd.ones((2,)) + 1).asnumpy().tolist()))
    worker.start()
    worker.join(60)
    assert results == [[2, 2]]


def test_every_operator_of_mxnet_is_here_or_raises() -> None:
    """A front end of 1.9.1 that finds no operator of a name may go on with a stub that does nothing."""
    count, names = ctypes.c_uint32(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(names)))
    listed = {names[i].decode() for i in range(count.value)}
    assert set(json.loads((ROOT / "tests/reference/names.json").read_text())["operators"]) - listed == set()
    refused = sorted(name for name in listed if is_refused(name))
    assert "_contrib_quantize" in refused and "exp" not in refused
    array = nd.ones((2, 3))
    for name in refused:
        with pytest.raises(mx.MXNetError, match=f"{name}: .*; see docs/compatibility.md$"):
            invoke_text(name, [array, array], {"axis": "1"})


def test_refused_names_say_so() -> None:
    names = _statuses("refused")
    assert len(names) > 20
    for name in names:
        function = getattr(LIB, name)
        zeros = [kind() if kind is not ctypes.c_char_p else None for kind in function.argtypes]
        assert function(*zeros) == -1, name
        said = LIB.MXGetLastError().decode()
        assert re.fullmatch(f"{name}: refused: .*; see docs/compatibility.md", said), said


def test_fixed_answers() -> None:
    assert sorted(_statuses("answer")) == [
        "MXKVStoreIsWorkerNode",
        "NNAPISetLastError",
    ]
    yes = ctypes.c_int(9)
    check_call(LIB.MXKVStoreIsWorkerNode(ctypes.byref(yes)))
    assert yes.value == 1
    LIB.NNAPISetLastError(b"said by a binding")
    assert LIB.NNGetLastError() == b"said by a binding"


# ---- Python ----


def test_wrong_arguments_in_python() -> None:
    x = _variable(1)
    with autograd.record():
        y = x * 2
    with pytest.raises(ValueError):
        autograd.backward([y], [None, None])
    with pytest.raises(ValueError):
        autograd.grad(y, [])
    with pytest.raises(ValueError):
        autograd.mark_variables([x, y], [x])
    with pytest.raises(TypeError):
        autograd.backward([3])
    with pytest.raises(TypeError):
        _Double()(3)


def test_a_function_is_called_once() -> None:
    function = _Double()
    assert function(nd.array([2])).asscalar() == 4
    with pytest.raises(mx.MXNetError, match="only be called once"):
        function(nd.array([2]))


def test_get_symbol_of_a_function_raises() -> None:
    x = _variable(1)
    with autograd.record():
        y = _Double()(x)
    with pytest.raises(mx.MXNetError, match="a function of the caller's"):
        autograd.get_symbol(y)


def test_what_is_no_array() -> None:
    for wrong in ([1, 2], np.ones(2), 5, "x"):
        with pytest.raises(TypeError, match="exp: input 'data' must be an NDArray"):
            nd.exp(wrong)
        with pytest.raises(TypeError, match="dot: input 'rhs' must be an NDArray"):
            nd.dot(nd.ones(2), wrong)


def _created_without_axes() -> nd.NDArray:
    handle = ctypes.c_void_p()
    check_call(LIB.MXNDArrayCreateEx64(None, 0, 1, 0, 0, 0, ctypes.byref(handle)))
    return nd.NDArray._adopt(handle.value)


@pytest.mark.parametrize("numpy_shape", [False, True])
def test_arrays_without_axes(numpy_shape: bool) -> None:
    """They can be filled and read in both modes, as in 1.9.1; operators take them in the legacy mode too."""
    with mx.np_shape(numpy_shape):
        x = _created_without_axes()
        check_call(LIB.MXNDArraySyncCopyFromCPU(x.handle, (ctypes.c_float * 1)(5), 1))
        for array in (
            x,
            nd.array(5),
            nd.array(np.array(5)),
            nd.array([5]).reshape(()),
            nd.from_numpy(np.array(5, "float32")),
            nd.split(nd.array([1, 5]), num_outputs=2, axis=0, squeeze_axis=True)[1],
            nd.split_v2(nd.array([1, 5]), 2, axis=0, squeeze_axis=True)[1],
            nd.array(4) + 1,
            nd.array(5).copy(),
            nd.array(5)[()],
        ):
            assert array.shape == () and array.ndim == 0 and array.size == 1 and array.asnumpy() == 5
            assert array.asscalar() == 5 and array.reshape((1,)).asnumpy().tolist() == [5]
        assert nd.contrib.allclose(x, x).shape == () and nd.empty(()).shape == ()
        x[:] = 3
        x.attach_grad()
        with autograd.record():
            y = x * nd.array([1, 2])
        y.backward()
        assert y.shape == (2,) and x.grad.shape == () and x.grad.asscalar() == 3
        assert nd.array([1, 2])[1].shape == (() if numpy_shape else (1,))


def test_asscalar_gives_a_number() -> None:
    for dtype in ("float32", "int64"):
        number = nd.array([[[2]]], dtype=dtype).asscalar()
        assert number == 2 and type(number) is np.dtype(dtype).type


class _Sigmoid(autograd.Function):
    def forward(self, x: nd.NDArray) -> nd.NDArray:
        y = 1 / (1 + nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy: nd.NDArray) -> nd.NDArray:
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


def test_saved_outputs_make_no_cycle() -> None:
    # That nothing is left, without a backward and after one, is checked for every test (conftest.py).
    x = _variable(0.5, dtype="float64")
    with autograd.record():
        _Sigmoid()(x)
        y = _Sigmoid()(x)
        (first,) = autograd.grad(y, [x], create_graph=True)
    first.backward()
    s = 1 / (1 + np.exp(-0.5))
    assert x.grad.asscalar() == pytest.approx(s * (1 - s) * (1 - 2 * s), rel=1e-12)
