"""NumPy's functions of NDArrays: on their values, or by their methods; refused where a gradient would be lost."""

from __future__ import annotations

import math
from collections import deque
from typing import Any, Callable

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd
from mxlite.ndarray._numpy import _METHODS

#: NumPy's result on the arrays' values is wanted, to the dtype and the class.
ON_VALUES: dict[str, Callable[[Any, Any], Any]] = {
    "mean": lambda x, y: np.mean(x),
    "mean of an axis": lambda x, y: np.mean(x, axis=0, keepdims=True),
    "std": lambda x, y: np.std(x, 1),
    "median": lambda x, y: np.median(x),
    "ptp": lambda x, y: np.ptp(x),
    "all": lambda x, y: np.all(x == y),
    "any": lambda x, y: np.any(x == y, axis=1),
    "sin": lambda x, y: np.sin(x),
    "exp": lambda x, y: np.exp(x, dtype=np.float64),
    "absolute": lambda x, y: np.abs(-x),
    "isnan": lambda x, y: np.isnan(x),
    "maximum": lambda x, y: np.maximum(x, y),
    "modf": lambda x, y: np.modf(x / 4),
    "add with a dtype": lambda x, y: np.add(x, y, dtype="float64"),
    "add.reduce": lambda x, y: np.add.reduce(x),
    "add.outer": lambda x, y: np.add.outer(x, y),
    "multiply.accumulate": lambda x, y: np.multiply.accumulate(x),
    "round": lambda x, y: np.round(x / 3),
    "round to digits": lambda x, y: np.round(x / 3, 2),
    "sum to float64": lambda x, y: np.sum(x, dtype="float64"),
    "clip between arrays": lambda x, y: np.clip(x, np.array([2, 3], "f4"), y),
    "repeat each": lambda x, y: np.repeat(x, [1, 2], axis=0),
    "concatenate": lambda x, y: np.concatenate([x, y]),
    "stack": lambda x, y: np.stack((x, y), axis=-1),
    "stack of others": lambda x, y: np.stack([x, np.ones((2, 2)), [[1, 2], [3, 4]]]),
    "stack of a deque": lambda x, y: np.stack(deque([x, y])) if isinstance(x, np.ndarray) else np.stack([x, y]),
    "block": lambda x, y: np.block([[x, y], [y, x]]),
    "where": lambda x, y: np.where(x > 2, x, y),
    "allclose": lambda x, y: np.allclose(x, y),
    "array_equal": lambda x, y: np.array_equal(x, x),
    "dot": lambda x, y: np.dot(x, y),
    "einsum": lambda x, y: np.einsum("ij,jk->ik", x, y),
    "linalg.norm": lambda x, y: np.linalg.norm(x),
    "linalg.solve": lambda x, y: np.linalg.solve(x, y),
    "fft": lambda x, y: np.fft.fft(x),
    "argsort": lambda x, y: np.argsort(-x, axis=0),
    "unique": lambda x, y: np.unique(x, return_counts=True),
    "histogram": lambda x, y: np.histogram(x, bins=3),
    "reshape": lambda x, y: np.reshape(x, (4,)),
    "ravel": lambda x, y: np.ravel(x),
    "diagonal": lambda x, y: np.diagonal(x).copy(),
    "zeros_like": lambda x, y: np.zeros_like(x),
    "shape": lambda x, y: np.shape(x),
    "bincount": lambda x, y: np.bincount(np.ravel(x.astype("int32"))),
    "interp": lambda x, y: np.interp(1.5, x[0], y[0]),
    "array // divisor": lambda x, y: x // np.array([2.0]),
    "complex numbers": lambda x, y: np.array([1j]) + x if isinstance(x, np.ndarray) else np.array([1j]) + np.asarray(x),
    "asarray of a list": lambda x, y: np.asarray([x, y]),
}

#: 1.9.1 gives an NDArray, since NumPy calls the array's method; its values are wanted, and its gradient.
BY_METHOD: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, y: np.sum(x),
    "sum of an axis": lambda x, y: np.sum(x, axis=1, keepdims=True),
    "sum of all axes": lambda x, y: np.sum(x, (0, 1)),
    "prod": lambda x, y: np.prod(x, 0),
    "max": lambda x, y: np.max(x),
    "amax": lambda x, y: np.amax(x, axis=0),
    "min": lambda x, y: np.min(x, axis=1),
    "amin": lambda x, y: np.amin(x),
    "clip": lambda x, y: np.clip(x, 1.5, 3.5),
    "clip by name": lambda x, y: np.clip(x, a_min=1.5, a_max=3.5),
    "repeat": lambda x, y: np.repeat(x, 2, axis=1),
    "squeeze": lambda x, y: np.squeeze(x),
    "swapaxes": lambda x, y: np.swapaxes(x, 0, 1),
    "transpose": lambda x, y: np.transpose(x),
    "transpose by axes": lambda x, y: np.transpose(x, (1, 0)),
    "flip": lambda x, y: np.flip(x),
    "flip of an axis": lambda x, y: np.flip(x, 0),
    "moveaxis": lambda x, y: np.moveaxis(x, 0, 1),
    "split": lambda x, y: np.split(x, 2)[1],
    "split at places": lambda x, y: np.split(x, [1], axis=1)[0],
    "split into one": lambda x, y: np.split(x, 1)[0],
    "add": lambda x, y: np.add(x, y),
    "multiply by a number": lambda x, y: np.multiply(2, x),
    "subtract from a list's array": lambda x, y: np.subtract(np.array([1, 2]), x),
    "NumPy's number": lambda x, y: np.float64(3) / x,
    "array @ matrix": lambda x, y: np.array([[1, 2], [3, 4]], "float32") @ x,
    "matmul": lambda x, y: np.matmul(x, y),
}

VALUES = np.array([[1, 2], [3, 4]], "float32"), np.array([[1, 3], [2, 4]], "float32")


def _same(got: Any, wanted: Any) -> None:
    assert type(got) is type(wanted)
    if isinstance(wanted, (tuple, list)):
        for one, other in zip(got, wanted):
            _same(one, other)
        return
    np.testing.assert_allclose(got, wanted, rtol=1e-6)
    if isinstance(wanted, np.ndarray):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape and got.flags.writeable


@pytest.mark.parametrize("name", ON_VALUES)
@pytest.mark.parametrize("variable", [False, True])
def test_functions_answer_on_values(name: str, variable: bool) -> None:
    arrays = [nd.array(values) for values in VALUES]
    for array in arrays[: 2 * variable]:
        array.attach_grad()
    with autograd.pause():
        got = ON_VALUES[name](*arrays)
    _same(got, ON_VALUES[name](*(values.copy() for values in VALUES)))
    for part in got if isinstance(got, tuple) else [got]:
        if isinstance(part, np.ndarray):
            part.fill(7)  # it is NumPy's own: the arrays stay as they are
    assert all(np.array_equal(array.asnumpy(), values) for array, values in zip(arrays, VALUES))


@pytest.mark.parametrize("name", BY_METHOD)
def test_functions_that_are_methods_are_recorded(name: str) -> None:
    x, y = (nd.array(values) for values in VALUES)
    x.attach_grad()
    with autograd.record():
        got = BY_METHOD[name](x, y)
    assert type(got) is nd.NDArray
    wanted = BY_METHOD[name](*VALUES)
    assert got.shape == (wanted.shape or (1,))
    np.testing.assert_allclose(got.asnumpy().reshape(wanted.shape), wanted, rtol=1e-6)
    got.backward()
    expected = np.zeros((2, 2))
    for place in np.ndindex(2, 2):  # by central differences
        up, down = VALUES[0].astype("float64"), VALUES[0].astype("float64")
        up[place], down[place] = up[place] + 1e-6, down[place] - 1e-6
        expected[place] = (BY_METHOD[name](up, VALUES[1]) - BY_METHOD[name](down, VALUES[1])).sum() / 2e-6
    np.testing.assert_allclose(x.grad.asnumpy(), expected, atol=1e-5)


def test_every_function_of_the_table() -> None:
    for name in ("argmax", "argmin"):
        assert getattr(np, name)(nd.array(VALUES[0]), 1).asnumpy().tolist() == getattr(np, name)(VALUES[0], 1).tolist()
    assert set(_METHODS) - {name.partition(" ")[0] for name in BY_METHOD} == {"argmax", "argmin"}


LOST: dict[str, tuple[Callable[[Any], Any], str]] = {
    "sin": (lambda x: np.sin(x), r"np\.sin of .* write mx\.nd\.sin, or np\.sin\(x\.detach\(\)\)"),
    "absolute": (lambda x: np.absolute(x), r"write mx\.nd\.abs, or"),
    "mean": (lambda x: np.mean(x), r"np\.mean of .* write mx\.nd\.mean"),
    "round": (lambda x: np.round(x), r"write mx\.nd\.round"),
    "concatenate": (lambda x: np.concatenate([VALUES[0], x]), r"write mx\.nd\.concat,"),
    "norm": (lambda x: np.linalg.norm(x), r"np\.linalg\.norm of .* write mx\.nd\.norm"),
    "inv": (
        lambda x: np.linalg.inv(x),
        r"write it with functions of mx\.nd, or np\.linalg\.inv\(",
    ),
    "matmul": (lambda x: np.matmul(VALUES[0], x, dtype="float64"), r"write mx\.nd\.dot"),
    "sum to float64": (lambda x: np.sum(x, dtype="float64"), r"write mx\.nd\.sum"),
    # Not np.add.reduce(x): NumPy 2.4 keeps a reference to x where this method raises.
    "add.reduce": (lambda x: x.__array_ufunc__(np.add, "reduce", x), r"np\.add\.reduce of .* write it with functions"),
    "a list in the result": (lambda x: np.histogram(x), r"write mx\.nd\.histogram"),
}


@pytest.mark.parametrize("name", LOST)
def test_what_would_lose_a_gradient_is_refused(name: str) -> None:
    call, message = LOST[name]
    x = nd.array(VALUES[0])
    x.attach_grad()
    with autograd.record():
        for array in (x, x * 1):
            for kind in (TypeError, mx.MXNetError):
                with pytest.raises(kind, match=message):
                    call(array)
            call(array.detach())
        call(nd.array(VALUES[0]))  # a constant
        with autograd.pause():
            call(x)
        z = (x * x).sum()
    z.backward()
    assert x.grad.asnumpy().tolist() == (2 * VALUES[0]).tolist()


def test_what_has_no_gradient_is_answered_while_recording() -> None:
    x = nd.array(VALUES[0])
    x.attach_grad()
    with autograd.record():
        y = x * 1
        assert np.shape(y) == (2, 2) and np.ndim(y) == 2 and np.size(y) == 4
        assert np.allclose(y, VALUES[0]) and np.array_equal(y, x) and np.all(y == x) and np.isfinite(y).all()
        assert np.argsort(y, axis=None).tolist() == [0, 1, 2, 3] and np.zeros_like(y).tolist() == [[0, 0], [0, 0]]
        np.testing.assert_allclose(y, VALUES[0])
        np.testing.assert_array_equal(y, x)


def test_into_numpys_arrays() -> None:
    x, out = nd.array(VALUES[0]), np.zeros((2, 2), "float32")
    assert np.exp(x, out=out) is out and np.array_equal(out, np.exp(VALUES[0]))
    out += x
    assert type(out) is np.ndarray and np.array_equal(out, np.exp(VALUES[0]) + VALUES[0])
    np.add.at(out, [0], x[0])
    assert np.array_equal(out[0], np.exp(VALUES[0][0]) + 2 * VALUES[0][0])
    np.copyto(out, x)
    assert np.array_equal(out, VALUES[0])
    x.attach_grad()
    with autograd.record():
        for write in (lambda: np.exp(x, out=out), lambda: out.__iadd__(x), lambda: np.mean(x, axis=0, out=out[0])):
            with pytest.raises(TypeError, match="lose its gradient"):
                write()
    assert np.array_equal(out, VALUES[0])


def test_into_ndarrays_is_refused() -> None:
    x = nd.array(VALUES[0])
    for write in (lambda: np.exp(VALUES[0], out=x), lambda: np.mean(VALUES[0], axis=0, out=x[0])):
        with pytest.raises(TypeError, match=r"out is an NDArray, .* write x\[:\] ="):
            write()
    for write in (
        lambda: np.copyto(x, VALUES[1]),
        lambda: np.fill_diagonal(x, 5),
        lambda: np.put(x, [0], 9),
        lambda: np.add.at(x, [0], 1),
        lambda: np.put_along_axis(x, np.array([[0], [0]]), 9, 1),
        lambda: np.nan_to_num(x / 0, copy=False),
    ):
        with pytest.raises((ValueError, TypeError), match="read-only|ndarray"):
            write()
    assert np.array_equal(x.asnumpy(), VALUES[0])


def test_what_numpy_finds_and_we_do_not() -> None:
    with pytest.raises(TypeError, match="no implementation found"):
        np.stack(deque([nd.ones(2), nd.ones(2)]))


def test_wrong_arguments_are_numpys_errors() -> None:
    x = nd.array(VALUES[0])
    for wrong in (lambda: np.mean(x, axis=2), lambda: np.concatenate([x, nd.ones(3)]), lambda: np.linalg.inv(x[0])):
        with pytest.raises((ValueError, np.linalg.LinAlgError)):
            wrong()
    with pytest.raises(TypeError):
        np.sin(x, x, x, x)


# ---- what else leads out of an array ----


def test_values_by_other_names() -> None:
    x = nd.array([[1.5, 2], [0, 4]])
    assert x.numpy().flags.writeable and x.to_numpy().tolist() == x.tolist() == [[1.5, 2.0], [0.0, 4.0]]
    assert x.any() is True and x.all() is False and nd.zeros(3).any() is False and (x + 1).all() is True
    assert nd.array([3], dtype="int32").tolist() == [3]
    x.attach_grad()
    with autograd.record():
        assert (x * 2).numpy().tolist() == [[3, 4], [0, 8]]


def test_one_element_is_a_number() -> None:
    for shape in ((1,), (1, 1)):
        one = nd.full(shape, 2.5)
        assert (float(one), int(one), complex(one)) == (2.5, 2, 2.5) and math.sqrt(one) == math.sqrt(2.5)
        assert f"{one:.3f}" == "2.500" and f"{one:>6.2f}|" == "  2.50|"
    assert f"{nd.array([7], dtype='int64'):03d}" == "007" and int(nd.array([-3], dtype="int8")) == -3
    assert f"{one}" == str(one) and f"{nd.ones(2)}" == str(nd.ones(2))
    for use in (float, int, "{:.2f}".format):
        with pytest.raises(TypeError, match=r"one element, got one of shape \(2,\)"):
            use(nd.ones(2))
    with pytest.raises(ValueError):
        f"{nd.ones(1):d}"
    with pytest.raises(ValueError, match=r"2 elements is neither true nor false"):
        bool(nd.ones(2))


def test_an_index_is_an_array_of_integers_without_axes() -> None:
    """As in NumPy; `values[x]` with one element in one axis keeps that axis."""
    with mx.np_shape(True):
        place = nd.full((), 2, dtype="int32")
        assert [1, 2, 3][place] == 3 and list(range(place)) == [0, 1] and np.arange(4)[place] == 2
    assert np.arange(4)[nd.array([2], dtype="int32")].tolist() == [2]
    for wrong in (nd.array([2], dtype="int32"), nd.array([2])):
        with pytest.raises(TypeError, match="without axes"):
            range(wrong)
