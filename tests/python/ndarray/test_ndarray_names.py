"""Every public name of 1.9.1's NDArray and mx.nd's modules (tests/reference/names.json, made by make_names.py), methods
that are no operators, and NumPy arrays beside NDArrays."""

from __future__ import annotations

import inspect
import json
import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd

REFERENCE = json.loads((Path(__file__).resolve().parents[2] / "reference" / "names.json").read_text())
PAGE = (Path(__file__).resolve().parents[3] / "docs" / "names.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", REFERENCE["NDArray"])
def test_names_of_ndarray(name: str) -> None:
    """Each is there, and takes the arguments that 1.9.1's takes."""
    wanted = REFERENCE["NDArray"][name]
    ours = getattr(nd.NDArray, name)
    assert callable(ours) == (wanted != "property")
    if callable(ours) and wanted:
        have = list(inspect.signature(ours).parameters)[1:]
        assert [parameter for parameter in have if parameter in wanted] == wanted or name.startswith("__")


MODULES = {"mx.nd": nd, **{f"mx.nd.{name}": getattr(nd, name) for name in REFERENCE["modules"] if name != "nd"}}


@pytest.mark.parametrize("module", MODULES)
def test_names_that_are_not_there_are_listed(module: str) -> None:
    """docs/names.md says why, and using one raises an error that says so too (test_docs.py compares the page)."""
    section = PAGE.split(f"\n## `{module}`\n")[1].split("\n## ")[0]
    listed = section.split("### Are not there")[1] if "### Are not there" in section else ""
    for name in REFERENCE["modules"][module.rpartition(".")[2]]:
        if hasattr(MODULES[module], name):
            continue
        assert f"`{name}`" in listed
        said = "(: it is missing in mxlite[;:] |; did you mean |; there is )"
        with pytest.raises(AttributeError, match=f"'{name}'{said}"):
            getattr(MODULES[module], name)


# ---- methods that are no operators of the library ----


def test_methods_of_storage() -> None:
    x = nd.array([1, 2, 3])
    assert x.as_nd_ndarray() is x
    dense = x.tostype("default")
    dense[:] = 0
    assert x.asnumpy().tolist() == [1, 2, 3]
    assert x.tostype("row_sparse").stype == "row_sparse"
    with pytest.raises(ValueError, match="two axes"):
        x.tostype("csr")
    for wrong in ("foo", None, 3):
        with pytest.raises(mx.MXNetError, match="parameter stype"):
            x.tostype(wrong)
    assert type(x.as_np_ndarray()) is mx.np.ndarray
    assert nd.empty((2,), stype="row_sparse").stype == "row_sparse"
    with pytest.raises(mx.MXNetError):
        nd.zeros((2,), stype="csr")
    x.attach_grad()
    with autograd.record():
        y = x.tostype("default") * 2
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 2, 2]


def test_methods_that_write() -> None:
    x = nd.array([1, 2, 3])
    assert x.slice_assign(nd.array([9]), (0,), (1,), (1,)) is x and x.asnumpy().tolist() == [9, 2, 3]
    assert x.slice_assign(nd.array([8]), (1,), (2,), None) is x and x.asnumpy().tolist() == [9, 8, 3]
    assert x.slice_assign_scalar(7, (2,), (3,), (1,)) is x and x.asnumpy().tolist() == [9, 8, 7]
    with pytest.raises(mx.MXNetError):
        x.slice_assign(nd.array([1, 1]), (0,), (1,), (1,))
    assert x._full(3) is x and x.asnumpy().tolist() == [3, 3, 3]
    assert x._sync_copyfrom([4, 5, 6]) is None and x.asnumpy().tolist() == [4, 5, 6]
    x._sync_copyfrom(np.arange(6)[::2])
    assert x.asnumpy().tolist() == [0, 2, 4]
    square = nd.zeros((2, 2))
    square._sync_copyfrom(np.array([[1, 2], [3, 4]], "float32").T)
    assert square.asnumpy().tolist() == [[1, 3], [2, 4]]
    with pytest.raises(ValueError, match="inconsistent"):
        x._sync_copyfrom([1, 2])
    with pytest.raises(TypeError):
        x._sync_copyfrom("a")
    x._at(1)[:] = 5
    x._slice(-1, None)[:] = 6
    assert x.asnumpy().tolist() == [0, 5, 6]
    with pytest.raises(IndexError):
        x._at(3)


def test_writable() -> None:
    x = nd.array([1, 2])
    x.writable = False
    for write in (lambda: x.__setitem__(0, 1), lambda: x.__iadd__(1), lambda: x.__setitem__([0], 1)):
        with pytest.raises(ValueError, match="readonly"):
            write()
    x.writable = True
    x[:] = 0
    assert x.asnumpy().tolist() == [0, 0]


def test_names_of_python_2() -> None:
    x = nd.array([2, 4])
    assert x.__div__(2).asnumpy().tolist() == [1, 2] and x.__rdiv__(8).asnumpy().tolist() == [4, 2]
    assert x.__idiv__(2) is x and x.asnumpy().tolist() == [1, 2]
    assert nd.array([3]).__nonzero__() is True and nd.array([0]).__nonzero__() is False


def test_one_element() -> None:
    """1.9.1 answers an array for an array of two axes."""
    for shape in ((1,), (1, 1), (1, 1, 1)):
        value = nd.full(shape, 5).asscalar()
        assert type(value) is np.float32 and value == 5


def test_python_protocols() -> None:
    x = nd.array([3, 1, 2])
    assert len(x) == 3 and [int(each.asscalar()) for each in reversed(x)] == [2, 1, 3]
    assert 3 in x and 9 not in x and nd.array([1]) in x
    assert sum(x).asnumpy().tolist() == [6] and max(x).asscalar() == 3 and min(x).asscalar() == 1
    assert [int(each.asscalar()) for each in sorted(x)] == [1, 2, 3]
    for wrong in ("a", None):
        with pytest.raises(TypeError):
            wrong in x  # noqa: B015
    for convert in (operator.index, operator.pos, operator.invert):
        with pytest.raises(TypeError):
            convert(nd.array([2]))


def test_filled_with_more_than_a_number() -> None:
    assert nd.full((2, 2), [1, 2]).asnumpy().tolist() == [[1, 2], [1, 2]]
    out = nd.zeros((2,), dtype="int32")
    assert nd.full((2,), nd.array([3, 4]), out=out) is out and out.asnumpy().tolist() == [3, 4]
    with pytest.raises(TypeError):
        nd.full((2,), "a")
    with pytest.raises(ValueError):
        nd.full((2,), [1, 2, 3])


def test_onehot_encode() -> None:
    out = nd.ones((2, 3))
    assert nd.onehot_encode(nd.array([0, 2]), out) is out
    assert out.asnumpy().tolist() == [[1, 0, 0], [0, 0, 1]]
    with pytest.raises(mx.MXNetError):
        nd.onehot_encode(nd.array([0, 1, 2]), nd.zeros((2, 3)))


def test_set_value_fills_what_is_there() -> None:
    """The bindings of R and Perl fill arrays with it."""
    x = nd.zeros((2, 3))
    view = x[1]
    assert nd._internal._set_value(src=2.5, out=view) is view
    assert nd._internal._set_value(np.float32(7), out=x[0:1]).shape == (1, 3)
    assert x.asnumpy().tolist() == [[7, 7, 7], [2.5, 2.5, 2.5]]
    x.attach_grad()
    with autograd.record():
        with pytest.raises(mx.MXNetError, match=r"^\w+: edits in place"):
            nd._internal._set_value(src=1, out=x)
    for wrong in ({}, {"src": "x", "out": x}, {"src": 1}):
        with pytest.raises(mx.MXNetError, match="^set_value: "):
            nd._internal._set_value(**wrong)


def test_cast_storage() -> None:
    x = nd.array([[1, 2]], dtype="int8")
    y = nd.cast_storage(x, "default")
    y[:] = 3
    assert x.asnumpy().tolist() == [[1, 2]] and y.dtype is np.int8
    for stype in ("csr", "row_sparse"):
        sparse = nd.cast_storage(x, stype=stype)
        assert sparse.stype == stype and sparse.asnumpy().tolist() == [[1, 2]]


def test_arrays_of_numbers_and_of_arrays() -> None:
    assert nd.array([nd.array([1, 2]), nd.array([3, 4])]).asnumpy().tolist() == [[1, 2], [3, 4]]


def test_concatenate() -> None:
    x = nd.ones((2, 3))
    assert nd.concatenate([x, x[:1]]).shape == (3, 3) and nd.concatenate([x, x], axis=-1).shape == (2, 6)
    assert nd.concatenate([x], always_copy=False) is x and nd.concatenate([x]) is not x
    for wrong in ([], [x, nd.ones((2,))], [x, x.astype("int32")]):
        with pytest.raises(mx.MXNetError):
            nd.concatenate(wrong)


# ---- NumPy arrays beside NDArrays ----

OPERATORS = ("add", "sub", "mul", "truediv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge", "matmul", "floordiv")


@pytest.mark.parametrize("name", OPERATORS[:-2])
@pytest.mark.parametrize(
    "other",
    [np.array([3, 1, 2.0]), np.array([4.0], "float16"), np.array([[1], [2]]), np.array(2.0), np.array([True] * 3)],
    ids=str,
)
def test_numpy_arrays_on_either_side(name: str, other: np.ndarray) -> None:
    """1.9.1 refuses them; here they count as numbers do, in the dtype of the NDArray."""
    x, values = nd.array([1, 2, 3]), np.array([1, 2, 3], "float32")
    apply, kept = getattr(operator, name), other.copy()
    for got, wanted in (
        (apply(x, other), apply(values, other.astype("float32"))),
        (apply(other, x), apply(other.astype("float32"), values)),
    ):
        assert type(got) is nd.NDArray and got.dtype == np.float32
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got.asnumpy(), wanted.astype("float32"), rtol=1e-6)
    assert np.array_equal(other, kept)


@pytest.mark.parametrize("name", OPERATORS[:-2])
@pytest.mark.parametrize("number", [np.float32(1.5), np.float64(2), np.int64(2), np.array(1.5)], ids=repr)
def test_numpy_scalars_on_either_side(name: str, number: Any) -> None:
    """They are numbers, as in 1.9.1, although NumPy makes arrays without axes of those on the left of a comparison."""
    x, apply = nd.array([1, 2, 3], dtype="int32"), getattr(operator, name)
    value = number.item()
    for got, wanted in ((apply(number, x), apply(value, x)), (apply(x, number), apply(x, value))):
        assert type(got) is nd.NDArray and got.dtype == np.int32
        assert got.asnumpy().tolist() == wanted.asnumpy().tolist()


def test_numpy_arrays_of_another_kind_are_refused() -> None:
    """Fractions would be lost, or there are no numbers; neither operand changes."""
    x, values = nd.array([1, 2, 3], dtype="int32"), np.array([0.5, 1.5, 2.5])
    for one, two in ((x, values), (values, x), (x, np.array(["a", "b", "c"])), (x, np.array([None] * 3))):
        for name in OPERATORS[:-2]:
            with pytest.raises(TypeError, match="another kind; convert one of them"):
                getattr(operator, name)(one, two)
    with pytest.raises(TypeError, match=r"\+= of int32 and a NumPy array of float64"):
        x += values
    assert (x + np.array([1, 2, 3], "int8")).dtype == np.int32 and x.asnumpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", OPERATORS)
def test_lists_are_refused(name: str) -> None:
    x = nd.array([1, 2, 3])
    for one, two in ((x, [1, 2, 3]), ([1, 2, 3], x)):
        with pytest.raises(TypeError):
            getattr(operator, name)(one, two)


def test_gradient_beside_numpy() -> None:
    x = nd.array([1, 2, 3])
    x.attach_grad()
    with autograd.record():
        y = np.array([4, 5, 6]) * x * x + np.ones(3)
    y.backward()
    assert x.grad.asnumpy().tolist() == [8, 20, 36]


@pytest.mark.parametrize("number", [np.float32(2), np.float64(2), np.int64(2), np.int8(2), np.bool_(True), True, 2])
def test_numpy_numbers_on_either_side(number) -> None:
    x, values = nd.array([1, 2, 3]), np.array([1, 2, 3], "float32")
    for name in OPERATORS[:-2]:
        apply = getattr(operator, name)
        for got, wanted in (
            (apply(x, number), apply(values, float(number))),
            (apply(number, x), apply(float(number), values)),
        ):
            assert type(got) is nd.NDArray and got.dtype == np.float32
            np.testing.assert_allclose(got.asnumpy(), wanted.astype("float32"), rtol=1e-6)


def test_in_place_beside_numpy() -> None:
    x, values = nd.array([1, 2, 3]), np.ones(3)
    kept = x
    with pytest.raises(mx.MXNetError):
        x += nd.ones((1, 3))  # the result has another shape
    x += nd.ones((1,))
    x += values
    assert x is kept and x.asnumpy().tolist() == [3, 4, 5]
    assert values.tolist() == [1, 1, 1]
    assert nd.NDArray.__array_priority__ == 1000


def test_messages_say_what_was_meant() -> None:
    x = nd.array([1, 2])
    for wrong, kind, message in (
        (lambda: nd.zeros(2, 3), TypeError, r"ctx is a Context, .*; got 3 \(shapes are tuples: \(2, 3\)\)"),
        (
            lambda: nd.zeros(2, "cpu0"),
            KeyError,
            "'cpu0' is no kind of device; there are cpu, gpu, ",
        ),
        (lambda: x.attach_grad("sum"), KeyError, "'sum' is no gradient request; there are null, write, inplace, add"),
        (lambda: nd.concat([x, x]), TypeError, r"got list; write concat\(\*arrays\)"),
        (lambda: nd.concatenate(x, x), TypeError, "takes a list of NDArrays, got NDArray"),
        (lambda: autograd.Function()(x), NotImplementedError, "a Function defines forward and backward"),
        (lambda: bool(x), ValueError, r"2 elements is neither true nor false"),
    ):
        with pytest.raises(kind, match=message):
            wrong()
