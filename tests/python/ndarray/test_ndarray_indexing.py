"""Keys of integers, slices, None and `...`, read and written, against NumPy; which results share memory; gradients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mxlite as mx
from mxlite import autograd, nd

KEYS = {
    "0": 0,
    "-1": -1,
    "np-int": np.int64(1),
    "True": True,
    "1:3": slice(1, 3),
    "1:": slice(1, None),
    ":2": slice(None, 2),
    "-2:": slice(-2, None),
    ":": slice(None),
    "2:9": slice(2, 9),
    "::2": slice(None, None, 2),
    "::-1": slice(None, None, -1),
    "2:0:-1": slice(2, 0, -1),
    "-1:-3:-1": slice(-1, -3, -1),
    "0:3:1": slice(0, 3, 1),
    "1,2": (1, 2),
    "(1,)": (1,),
    ":,1": (slice(None), 1),
    ":,-1": (slice(None), -1),
    ":,1:3": (slice(None), slice(1, 3)),
    ":,::-1": (slice(None), slice(None, None, -1)),
    "1:2,0:1": (slice(1, 2), slice(0, 1)),
    "1:2,1:3": (slice(1, 2), slice(1, 3)),
    "0,1:3": (0, slice(1, 3)),
    "1,::2": (1, slice(None, None, 2)),
    "0:3:2,1": (slice(0, 3, 2), 1),
    "...": Ellipsis,
    "...,1": (Ellipsis, 1),
    "1:2,...": (slice(1, 2), Ellipsis),
    "None": None,
    ":,None": (slice(None), None),
    "1:3,None": (slice(1, 3), None),
    "None,1,None": (None, 1, None),
    ":,1,None": (slice(None), 1, None),
    "()": (),
}
#: Share memory with the array, as in 1.9.1.
ALIASES = set("0|-1|np-int|1:3|1:|:2|-2:|:|2:9|0:3:1|1,2|(1,)|1:2,0:1|1:2,1:3|0,1:3|...|1:2,...|None".split("|"))
ALIASES |= {":,None", "1:3,None", "None,1,None", "()"}


def base() -> np.ndarray:
    return np.arange(12, dtype="float32").reshape(3, 4)


def wanted(values: np.ndarray, key) -> np.ndarray:
    result = np.asarray(values[key])
    return result.reshape(1) if result.ndim == 0 else result


@pytest.mark.parametrize("name", KEYS)
def test_read(name: str) -> None:
    key = KEYS[name]
    got = nd.array(base())[key]
    np.testing.assert_array_equal(got.asnumpy(), wanted(base(), key))


@pytest.mark.parametrize("recording", [False, True], ids=["plain", "recording"])
@pytest.mark.parametrize("name", KEYS)
def test_alias_or_copy(name: str, recording: bool) -> None:
    x = nd.array(base())
    if recording:
        x.attach_grad()
    with autograd.record() if recording else autograd.pause():
        part = x[KEYS[name]]
    part[:] = -1
    values = base()
    if name in ALIASES:
        values[KEYS[name]] = -1
    np.testing.assert_array_equal(x.asnumpy(), values)


@pytest.mark.parametrize("name", KEYS)
def test_gradient_through_reading(name: str) -> None:
    key = KEYS[name]
    x = nd.array(base())
    x.attach_grad()
    with autograd.record():
        part = x[key]
        loss = (part * part).sum()
    loss.backward()
    expected = np.zeros_like(base())
    expected[key] = 2 * base()[key]
    np.testing.assert_array_equal(x.grad.asnumpy(), expected)


@pytest.mark.parametrize("value", ["number", "array", "numpy", "broadcast", "int-array", "list"])
@pytest.mark.parametrize("name", KEYS)
def test_write(name: str, value: str) -> None:
    key = KEYS[name]
    x, values = nd.array(base()), base()
    shape = values[key].shape
    fill = (np.arange(int(np.prod(shape)), dtype="float32") + 50).reshape(shape)
    if value == "number":
        x[key] = 7
        values[key] = 7
    elif value == "broadcast":
        row = nd.array(fill[..., :1]) if shape else nd.array([50])
        x[key] = row
        values[key] = row.asnumpy() if shape else 50
    else:
        kinds = {
            "array": lambda: nd.array(fill if shape else fill.reshape(1)),
            "int-array": lambda: nd.array(fill if shape else fill.reshape(1), dtype="int32"),
            "numpy": lambda: fill.astype("float64"),
            "list": fill.tolist,
        }
        x[key] = kinds[value]()
        values[key] = fill
    np.testing.assert_array_equal(x.asnumpy(), values)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (3, IndexError),
        (-4, IndexError),
        ((1, 4), IndexError),
        ((1, 2, 3), IndexError),
        ((Ellipsis, Ellipsis), IndexError),
        (1.0, ValueError),
        ("a", ValueError),
        ([0, 3], IndexError),
        (np.array([0, -4]), IndexError),
        (([0, 1], [0, 1, 2]), ValueError),
    ],
)
def test_bad_keys(key, kind) -> None:
    x = nd.array(base())
    with pytest.raises(kind):
        x[key]
    with pytest.raises(kind):
        x[key] = 1
    np.testing.assert_array_equal(x.asnumpy(), base())


def test_backward_range_is_an_error() -> None:
    """As in 1.9.1; NumPy answers an empty array."""
    with pytest.raises(mx.MXNetError):
        nd.array(base())[2:1]


def test_empty_ranges() -> None:
    x = nd.array(base())
    assert x[5:9].shape == x[0:0].shape == x[3:].shape == (0, 4)
    assert x[1:1].asnumpy().size == 0
    x[5:9] = 3
    x[1:1, 0:2] = 3
    np.testing.assert_array_equal(x.asnumpy(), base())


def test_bad_values() -> None:
    x = nd.array(base())
    for value in (nd.array([1, 2]), np.ones(3), nd.zeros((2, 4)), [1, 2]):
        with pytest.raises(ValueError):
            x[0] = value
    for value in ("a", object()):
        with pytest.raises(TypeError):
            x[:] = value
    np.testing.assert_array_equal(x.asnumpy(), base())


def test_assignment_to_itself() -> None:
    x = nd.array(base())
    x[:] = x
    x[0] += 1
    x[1:3] *= 2
    values = base()
    values[0] += 1
    values[1:3] *= 2
    np.testing.assert_array_equal(x.asnumpy(), values)


def test_view_of_a_view() -> None:
    x = nd.array(np.arange(24).reshape(4, 6))
    view = x[1:3][1].reshape((2, 3))[0]
    view[:] = -1
    assert x.asnumpy()[2].tolist() == [-1, -1, -1, 15, 16, 17]


_parts = st.one_of(
    st.integers(-6, 6),
    st.none(),
    st.just(Ellipsis),
    st.builds(
        slice,
        st.one_of(st.none(), st.integers(-6, 6)),
        st.one_of(st.none(), st.integers(-6, 6)),
        st.sampled_from([None, 1, 2, 3, -1, -2]),
    ),
)


@settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    shape=st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple),
    key=st.lists(_parts, min_size=1, max_size=5).map(tuple),
)
def test_any_key(shape: tuple, key: tuple) -> None:
    """Whatever NumPy accepts and that is not empty gives what NumPy gives, read and written; the rest is IndexError."""
    values = np.arange(int(np.prod(shape)), dtype="float32").reshape(shape)
    x = nd.array(values)
    try:
        expected = np.array(values[key])
    except IndexError:
        with pytest.raises(IndexError):
            x[key]
        return
    if expected.size == 0:
        return
    np.testing.assert_array_equal(x[key].asnumpy(), wanted(values, key))
    fill = nd.array(expected.reshape(expected.shape or (1,)) + 100)
    x[key] = fill
    values[key] = fill.asnumpy().reshape(expected.shape)
    np.testing.assert_array_equal(x.asnumpy(), values)
