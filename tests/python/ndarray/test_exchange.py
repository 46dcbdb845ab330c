"""Arrays from and to NumPy and others without a copy: who sees whose writes, and who keeps what."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd
from mxlite.error import MXNetError
from mxlite.ndarray import exchange
from mxlite.ndarray.ndarray import _new_from_shared_mem

DTYPES = ["float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool"]


def at(values) -> int:
    return values.__array_interface__["data"][0]


# ---- NumPy's own ways --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_asarray_looks_at_the_memory(dtype):
    x = mx.nd.array([[1, 0], [3, 4]], dtype=dtype)
    view = np.asarray(x)
    assert view.dtype == x.dtype and view.shape == (2, 2) and not view.flags.writeable
    x[0, 0] = 0
    assert view[0, 0] == 0
    copied = np.array(x)
    assert copied.flags.writeable and at(copied) != at(view)


def test_a_view_keeps_the_array():
    view = np.asarray(mx.nd.array([1, 2, 3])[1:])
    gc.collect()
    assert view.tolist() == [2, 3]


def test_array_arguments():
    x = mx.nd.array([1.5, 2.5])
    assert x.__array__().flags.writeable
    assert x.__array__("int32").tolist() == [1, 2]
    assert x.__array__(dtype=np.float64, copy=True).dtype == np.float64
    assert not x.__array__(copy=False).flags.writeable
    assert at(x.__array__(np.float32, copy=False)) == at(np.asarray(x))
    with pytest.raises(ValueError):
        x.__array__(np.float64, copy=False)
    assert np.asarray(x, dtype="float64").tolist() == [1.5, 2.5]
    with mx.np_shape(True):
        assert np.asarray(mx.nd.zeros((0, 3))).shape == (0, 3)
        assert np.asarray(mx.nd.full((), 3)).shape == ()


# ---- from_numpy --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_from_numpy_shares(dtype):
    values = np.array([[1, 0, 1], [0, 1, 1]], dtype)
    address = at(values)
    x = mx.nd.from_numpy(values)
    assert at(x) == address and not values.flags.writeable
    x[1, 1] = 0
    assert values[1, 1] == 0
    np.testing.assert_array_equal(x.asnumpy(), values)


def test_from_numpy_keeps_and_lets_go():
    values = np.ones(1000)
    gone = weakref.ref(values)
    x = mx.nd.from_numpy(values)
    part = x[10:20]
    del values, x
    gc.collect()
    assert gone() is not None and part.asnumpy().sum() == 10
    del part
    gc.collect()
    assert gone() is None


def test_from_numpy_copies_when_told():
    values = np.ones(3)
    x = mx.nd.from_numpy(values, zero_copy=False)
    x[:] = 5
    assert values.tolist() == [1, 1, 1] and values.flags.writeable


def test_from_numpy_refuses():
    for wrong in (np.ones((2, 3)).T, np.ones((4, 4))[:, ::2], np.ones(3, "complex64"), np.ones(2, ">f4")):
        with pytest.raises(ValueError):
            mx.nd.from_numpy(wrong)
    with pytest.raises(TypeError):
        mx.nd.from_numpy([1, 2])
    unaligned = np.frombuffer(bytearray(9), np.uint8)[1:].view(np.float32)
    with pytest.raises(ValueError, match="aligned"):
        mx.nd.from_numpy(unaligned)
    gone = weakref.ref(unaligned)
    del unaligned
    gc.collect()
    assert gone() is None


def test_from_numpy_of_memory_that_is_read_only():
    memory = np.frombuffer(bytes(8), np.float32)
    x = mx.nd.from_numpy(memory)
    assert not x.writable
    with pytest.raises(ValueError):
        x[:] = 1
    # Not Python alone: what an operator, a view or a handle would write is refused by the library.
    x.writable = True
    for write in (
        lambda: mx.nd.square(mx.nd.ones(2), out=x),
        lambda: mx.nd.ones(2).copyto(x),
        lambda: x[1:].__setitem__(0, 1),
        lambda: x.__iadd__(1),
        lambda: mx.nd.random.uniform(out=x),
        lambda: autograd.mark_variables([mx.nd.ones(2)], [x]),
    ):
        with pytest.raises(MXNetError, match="may only be read"):
            write()
    assert not memory.any()


def test_from_numpy_twice():
    """1.9.1 takes it again too; only memory that NumPy might not write to before stays protected."""
    values = np.zeros(4, np.float32)
    for number in range(4):
        for lent in (values, values[1:], values.reshape(2, 2)):  # views that were made when it was closed
            x = mx.nd.from_numpy(lent)
            assert x.writable and not lent.flags.writeable
            x[:] = number
        assert (values == number).all()
        mx.nd.square(mx.nd.ones(4), out=mx.nd.from_numpy(values))
        assert (values == 1).all()
    values.flags.writeable = True
    assert mx.nd.from_numpy(values).writable and not values.flags.writeable
    other = np.ones(2)
    other.flags.writeable = False
    assert not mx.nd.from_numpy(other).writable and not mx.nd.from_numpy(other[:1]).writable
    del x, lent, values
    gc.collect()
    assert not exchange._closed


def test_memory_that_is_read_only_in_dlpack():
    memory = np.arange(4.0)
    memory.flags.writeable = False
    says_so = np.lib.NumpyVersion(np.__version__) >= "2.1.0"  # older ones cannot: they give and take none
    if not says_so:
        with pytest.raises(BufferError):
            mx.nd.from_dlpack(memory)
    x = mx.nd.from_dlpack(memory) if says_so else mx.nd.from_numpy(memory)
    assert not x.writable and (x.asnumpy() == memory).all()
    x.writable = True
    with pytest.raises(MXNetError, match="may only be read"):
        x[:] = 1
    x.writable = False
    if says_so:
        back = np.from_dlpack(x)
        assert not back.flags.writeable and back.ctypes.data == memory.ctypes.data
    else:
        with pytest.raises(BufferError):
            np.from_dlpack(x)
    with pytest.raises(BufferError):
        x.__dlpack__()
    with pytest.raises(BufferError):
        x.to_dlpack_for_write()
    mx.nd.from_dlpack(x.to_dlpack_for_read())
    # One that Python alone calls so says it too.
    y = mx.nd.ones(3)
    y.writable = False
    assert not mx.nd.from_dlpack(y).writable
    assert mx.nd.from_dlpack(y, copy=True).writable


def test_gradients_do_not_land_in_foreign_memory():
    values = np.ones(3, np.float32)
    head = mx.nd.from_numpy(values)
    x = mx.nd.array([1, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = x + x
    y.backward(head)
    assert values.tolist() == [1, 1, 1] and x.grad.asnumpy().tolist() == [2, 2, 2]


# ---- DLPack ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_takes_and_gives(dtype):
    x = mx.nd.array([[1, 0, 1]], dtype=dtype)
    taken = np.from_dlpack(x)
    assert taken.dtype == x.dtype and at(taken) == at(x)
    back = mx.nd.from_dlpack(taken if taken.flags.writeable else x)
    back[0, 1] = 1
    assert x.asnumpy().tolist() == [[1, 1, 1]]
    fresh = np.array([[1, 0, 1]], dtype)
    given = mx.nd.from_dlpack(fresh)
    given[0, 1] = 1
    assert fresh.tolist() == [[1, 1, 1]] and given.dtype is x.dtype


def test_capsules_are_taken_once():
    x = mx.nd.array([1, 2])
    for capsule in (x.to_dlpack_for_read(), mx.nd.to_dlpack_for_write(x), x.__dlpack__(max_version=(1, 0))):
        y = mx.nd.from_dlpack(capsule)
        assert at(y) == at(x) and "used_dltensor" in repr(capsule)
        with pytest.raises(ValueError, match="taken already"):
            mx.nd.from_dlpack(capsule)


def test_capsules_by_ctypes():
    """As programs written for MXNet 1.9.1 handle them: by Python's C API, without prototypes of their own."""
    code = """
import ctypes, mxlite as mx
api, x = ctypes.pythonapi, mx.nd.array([1, 2, 3])
capsule = ctypes.py_object(x.to_dlpack_for_read())
assert api.PyCapsule_IsValid(capsule, b"dltensor") == 1
address = api.PyCapsule_GetPointer(capsule, b"dltensor")
data = ctypes.c_void_p.from_address(address).value
assert list((ctypes.c_float * 3).from_address(data)) == [1, 2, 3]
again = api.PyCapsule_New(ctypes.c_void_p(address), b"dltensor", None)
assert api.PyCapsule_SetName(capsule, b"used_dltensor") == 0
y = mx.nd.from_dlpack(again)
y[0] = 9
assert x.asnumpy().tolist() == [9, 2, 3] and "used_dltensor" in repr(again)
del y, capsule, again
print("ok")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


def test_capsules_that_nobody_takes():
    x = mx.nd.array([1, 2])
    x.to_dlpack_for_read()
    x.__dlpack__()
    x.__dlpack__(max_version=(1, 1))
    gc.collect()  # the fixture counts handles, and ASan bytes


def test_capsules_that_end_while_an_exception_is_on_its_way():
    """In a process of its own, which a lost exception ended. Taken or not, on any thread, and at the end of Python."""
    code = """
import builtins, ctypes, gc, threading
import numpy as np, mxlite as mx
from mxlite._lib import LIB, ask

MAKERS = (
    lambda: mx.nd.ones(3).to_dlpack_for_read(),
    lambda: mx.nd.to_dlpack_for_write(mx.nd.ones(3)),
    lambda: mx.nd.ones(3).__dlpack__(),
    lambda: mx.nd.ones(3).__dlpack__(max_version=(1, 0)),
    lambda: mx.nd.from_numpy(np.ones(3)).to_dlpack_for_read(),
    lambda: mx.nd.from_numpy(np.frombuffer(bytes(8), np.float32)).__dlpack__(max_version=(1, 0)),
)
failed = []

def taken(capsule):
    mx.nd.from_dlpack(capsule)
    return capsule

def fail():
    for make in MAKERS:
        for end in (lambda: max(make(), 1 / 0), lambda: max(taken(make()), 1 / 0)):
            try:
                end()
            except ZeroDivisionError as problem:
                failed.append(problem.args)

def live():
    gc.collect()
    return ask(ctypes.c_int64, LIB.MXLGetLiveBytes)

fail()
before = live()
for _ in range(3):
    fail()
    other = threading.Thread(target=fail)
    other.start()
    other.join()
assert failed == [("division by zero",)] * 2 * 7 * len(MAKERS), failed
assert live() == before
builtins.left = [make() for make in MAKERS] + [taken(make()) for make in MAKERS]
print("ok")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")


def test_versions_and_copies():
    x = mx.nd.array([1, 2])
    assert '"dltensor"' in repr(x.__dlpack__())
    assert '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 0)))
    assert x.__dlpack_device__() == (1, 0)
    y = mx.nd.from_dlpack(x, copy=True)
    assert at(y) != at(x)
    with pytest.raises(BufferError):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    assert x.__dlpack__(dl_device=(1, 0)) is not None


def test_from_dlpack_refuses():
    for wrong in (np.ones((4, 4))[:, ::2], np.ones(3, "complex64")):
        with pytest.raises((MXNetError, BufferError)):
            mx.nd.from_dlpack(wrong)
    with pytest.raises(TypeError):
        mx.nd.from_dlpack(5)
    with pytest.raises(ValueError):
        mx.nd.from_dlpack(mx.nd.ones(1).to_dlpack_for_read(), copy=True)


def test_arrays_that_never_change():
    class Constant:
        __module__ = "jaxlib._jax"

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, copy=None, **_):
            return self.array.__dlpack__(copy=copy)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x = mx.nd.array([1, 2])
    seen = mx.nd.from_dlpack(Constant(x))
    assert not seen.writable and (seen + 1).writable
    with pytest.raises(ValueError, match="readonly"):
        seen[0] = 5
    with pytest.raises(ValueError, match="readonly"):
        seen += 1
    copied = mx.nd.from_dlpack(Constant(x), copy=True)
    copied[0] = 5
    assert (x.asnumpy().tolist(), copied.asnumpy().tolist()) == ([1, 2], [5, 2])


def test_writing_through_another_makes_saved_values_stale():
    x = mx.nd.array([1, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = x * x
    x.to_dlpack_for_write()
    with pytest.raises(MXNetError):
        y.backward()
    gc.collect()


# ---- shared memory -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_shared_memory(dtype):
    x = mx.nd.array([[1, 0, 1]], dtype=dtype)
    pid, descriptor, shape, kind = x._to_shared_mem()
    assert (pid, shape, kind) == (os.getpid(), (1, 3), x.dtype)
    y = _new_from_shared_mem(pid, os.dup(descriptor), shape, kind)
    z = _new_from_shared_mem(pid, os.dup(y._to_shared_mem()[1]), shape, kind)
    z[0, 1] = 1
    assert y.asnumpy().tolist() == [[1, 1, 1]] and x.asnumpy().tolist() == [[1, 0, 1]]


def test_shared_memory_between_processes():
    x = mx.nd.zeros((3,))
    shared = _new_from_shared_mem(0, os.dup(x._to_shared_mem()[1]), (3,), "float32")
    child = os.fork()
    if child == 0:
        shared[:] = 7
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert shared.asnumpy().tolist() == [7, 7, 7]


def test_shared_memory_refuses():
    x = mx.nd.zeros((3,))
    mine = os.dup(x._to_shared_mem()[1])
    with pytest.raises(MXNetError, match="wants 16"):
        _new_from_shared_mem(0, mine, (4,), "float32")
    with pytest.raises(MXNetError):
        _new_from_shared_mem(0, mine, (-1,), "float32")
    os.close(mine)  # still ours
    with pytest.raises(MXNetError):
        _new_from_shared_mem(0, mine, (1,), "float32")


# ---- Pillow ----


def test_pillow() -> None:
    images = pytest.importorskip("PIL.Image")
    pixels = np.arange(60, dtype="uint8").reshape(4, 5, 3)
    x = mx.nd.array(pixels, dtype="uint8")
    for array, mode in ((x, "RGB"), (x[1:3], "RGB"), (x[:, :, 0], "L"), (x[:, :, 0].astype("float32"), "F")):
        image = images.fromarray(array)
        assert image.mode == mode and (np.asarray(image) == array.asnumpy()).all()
    image = images.fromarray(x)
    x[:] = 0
    del x, array
    gc.collect()
    assert (np.asarray(image) == pixels).all()  # a copy


def test_bytes_and_strides() -> None:
    for shape in ((2, 3, 4), (1, 1), (5,), (3, 0)):
        values = np.arange(np.prod(shape), dtype="int32").reshape(shape)
        x = mx.nd.array(values, dtype="int32")
        assert x.tobytes() == values.tobytes()
        assert x.__array_interface__["strides"] == np.zeros(shape, "int32").strides or 0 in shape
        assert np.asarray(x).flags.c_contiguous and np.asarray(x).shape == shape
