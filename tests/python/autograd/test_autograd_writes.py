"""Writing while recording: what is refused, what is recorded, and what was edited after it was saved."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd


def leaf(values=(1, 2, 3), request: str = "write", dtype: str = "float32") -> nd.NDArray:
    array = nd.array(list(values), dtype=dtype)
    array.attach_grad(request)
    return array


def listed(array: nd.NDArray) -> list:
    return array.asnumpy().tolist()


def flags() -> tuple[bool, bool]:
    return autograd.is_recording(), autograd.is_training()


REFUSED = {
    "y+=1": lambda e: e["y"].__iadd__(1),
    "y*=2": lambda e: e["y"].__imul__(2),
    "y-=c": lambda e: e["y"].__isub__(e["c"]),
    "x+=1": lambda e: e["x"].__iadd__(1),
    "y[:]=5": lambda e: e["y"].__setitem__(slice(None), 5),
    "y[1:3]=5": lambda e: e["y"].__setitem__(slice(1, 3), 5),
    "y[1]=5": lambda e: e["y"].__setitem__(1, 5),
    "x[:]=5": lambda e: e["x"].__setitem__(slice(None), 5),
    "x[1]=5": lambda e: e["x"].__setitem__(1, 5),
    "x[1:3]=5": lambda e: e["x"].__setitem__(slice(1, 3), 5),
    "x[:]=c": lambda e: e["x"].__setitem__(slice(None), e["c"]),
    "x[:]=y": lambda e: e["x"].__setitem__(slice(None), e["y"]),
    "x[1:3]=c[1:3]": lambda e: e["x"].__setitem__(slice(1, 3), e["c"][1:3]),
    "z+=y": lambda e: e["z"].__iadd__(e["y"]),
    "z[1:3]=y[1:3]": lambda e: e["z"].__setitem__(slice(1, 3), e["y"][1:3]),
    "z[1]=y.sum()": lambda e: e["z"].__setitem__(1, e["y"].sum()),
    "out=y": lambda e: nd.broadcast_mul(e["x"], e["w"], out=e["y"]),
    "out=x": lambda e: nd.broadcast_mul(e["x"], e["w"], out=e["x"]),
    "copyto y": lambda e: (e["x"] * 2).copyto(e["y"]),
    "sgd out=x": lambda e: nd.sgd_mom_update(e["x"], e["c"], nd.zeros((3,)), lr=0.1, out=e["x"]),
}


def _everything() -> dict:
    return {"x": leaf(), "w": leaf((4, 5, 6)), "c": nd.array([7, 8, 9]), "z": nd.zeros((3,))}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_while_recording(name: str) -> None:
    """An error in plain words, with every array and the graph as before."""
    e = _everything()
    with autograd.record():
        e["y"] = e["x"] * 2
        before = {key: listed(array) for key, array in e.items()}
        with pytest.raises(mx.MXNetError) as caught:
            REFUSED[name](e)
        assert flags() == (True, True)
    assert "\n" not in str(caught.value)
    assert {key: listed(array) for key, array in e.items()} == before
    e["y"].backward()
    assert listed(e["x"].grad) == [2, 2, 2]


def test_allowed_while_recording() -> None:
    e = _everything()
    c, z = e["c"], e["z"]
    with autograd.record():
        c += 1
        z[:] = 5
        z[1:3] = 6
        z[0] = c[0]
        z[:] = np.array([1, 2, 3])
        z[1:3] = c[1:3]
        nd.broadcast_mul(c, c, out=z)
    assert listed(z) == [64, 81, 100]


@pytest.mark.parametrize("how", ["z[:]=y", "z[:]=y broadcast", "z[...]=y", "copyto", "out", "out by operator"])
def test_whole_writes_are_recorded(how: str) -> None:
    x, z = leaf(), nd.zeros((3,))
    with autograd.record():
        y = x * 2
        if how == "z[:]=y":
            z[:] = y
        elif how == "z[:]=y broadcast":
            z[:] = y.sum()
        elif how == "z[...]=y":
            z[...] = y
        elif how == "copyto":
            y.copyto(z)
        elif how == "out":
            nd.broadcast_mul(y, nd.ones((3,)), out=z)
        else:
            nd._internal._copyto(y, out=z)
        q = z * 3
    q.backward()
    assert listed(x.grad) == ([18, 18, 18] if "broadcast" in how else [6, 6, 6])


def test_a_second_whole_write_is_refused() -> None:
    x, z = leaf(), nd.zeros((3,))
    with autograd.record():
        z[:] = x * 2
        for again in (lambda: z.__setitem__(slice(None), x), lambda: z.__setitem__(slice(None), 5)):
            with pytest.raises(mx.MXNetError):
                again()
    assert listed(z) == [2, 4, 6]
    z.backward()


@pytest.mark.parametrize(
    ("operator", "edit"),
    [
        ("broadcast_mul", lambda x, y: x.__setitem__(slice(None), 100)),
        ("exp", lambda x, y: y.__setitem__(slice(None), 100)),
        ("broadcast_mul", lambda x, y: x.__iadd__(1)),
        ("broadcast_mul", lambda x, y: x[1:2].__imul__(2)),
        ("broadcast_mul", lambda x, y: x.reshape((3, 1)).__setitem__(0, 4)),
    ],
)
def test_saved_and_edited_since(operator: str, edit) -> None:
    """MXNet answers 200 for x * x at 3 edited to 100; here it is an error that names who saved it."""
    x = leaf()
    with autograd.record():
        y = nd.exp(x) if operator == "exp" else x * x
    edit(x, y)
    with pytest.raises(mx.MXNetError, match=operator):
        y.backward()
    assert listed(x.grad) == [0, 0, 0]


def test_edited_but_not_saved() -> None:
    x = leaf()
    with autograd.record():
        y = x + x * 2
    x[:] = 100
    y.backward()
    assert listed(x.grad) == [3, 3, 3]


def test_raw_writers_tell() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
    pointer = ctypes.c_void_p()
    mx.base.check_call(mx.base._LIB.MXNDArrayGetData(x.handle, ctypes.byref(pointer)))
    ctypes.cast(pointer, ctypes.POINTER(ctypes.c_float))[0] = 50
    mx.base.check_call(mx.base._LIB.MXLNDArrayBumpVersion(x.handle))
    with pytest.raises(mx.MXNetError, match="broadcast_mul"):
        y.backward()


def test_views_taken_before_recording_are_constants() -> None:
    x = leaf()
    view = x[1:3]
    with autograd.record():
        y = view * 2
    with pytest.raises(mx.MXNetError):
        y.backward()
    assert view.grad is None


def test_view_of_a_whole_write() -> None:
    x, z = leaf(), nd.zeros((3,))
    with autograd.record():
        z[:] = x * 2
        y = z[1:3] * 3
    y.backward()
    assert listed(x.grad) == [0, 6, 6]
