"""The deliberate differences from MXNet 1.9.1 in the C API and in Python that no other test shows."""

from __future__ import annotations

import ctypes
import json
import pickle
import re
import threading
from pathlib import Path

import numpy as np
import pytest
from _table import invoke_text
from test_compatibility import _Double

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
    with pytest.raises(ValueError, match="^MXNDArrayReshape: "):
        check_call(LIB.MXNDArrayReshape(x.handle, 2, (ctypes.c_int * 2)(2, 3), ctypes.byref(out)))
    with pytest.raises(ValueError, match="^MXNDArrayReshape64: "):
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
    assert "_contrib_quantized_rnn" in refused and "exp" not in refused
    array = nd.ones((2, 3))
    for name in refused:
        with pytest.raises(mx.MXNetError, match="; `mxlite help compatibility` says more$") as raised:
            invoke_text(name, [array, array], {"axis": "1"})
        assert name.endswith(str(raised.value).partition(":")[0]), (name, raised.value)


def test_refused_names_say_so() -> None:
    names = _statuses("refused")
    assert len(names) > 20
    for name in names:
        function = getattr(LIB, name)
        zeros = [kind() if kind is not ctypes.c_char_p else None for kind in function.argtypes]
        assert function(*zeros) == -1, name
        said = LIB.MXGetLastError().decode()
        assert re.fullmatch(f"{name}: refused: .*; `mxlite help compatibility` says more", said), said


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
    with pytest.raises(mx.MXNetError, match="called already"):
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
