"""Functions generated from the library's introspection: signatures, parameters, outputs, and NDArray's methods."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from _table import function_of

import mxlite as mx
from mxlite import nd
from mxlite.ndarray._known import KnownCalls
from mxlite.ndarray._operators import Operator, operator_names


@pytest.fixture
def x() -> nd.NDArray:
    return nd.array(np.arange(12).reshape(3, 4))


@pytest.fixture
def v() -> nd.NDArray:
    return nd.array([1, 2, 3])


def test_signatures() -> None:
    for name, wanted in {
        "exp": "(data=None, out=None, name=None, **kwargs)",
        "sum": "(data=None, axis=_Null, keepdims=_Null, exclude=_Null, out=None, name=None, **kwargs)",
        "dot": "(lhs=None, rhs=None, transpose_a=_Null, transpose_b=_Null, forward_stype=_Null, out=None, name=None, "
        "**kwargs)",
        "FullyConnected": "(data=None, weight=None, bias=None, num_hidden=_Null, no_bias=_Null, flatten=_Null, "
        "out=None, name=None, **kwargs)",
        "concat": "(*data, **kwargs)",
        "add_n": "(*args, **kwargs)",
        "random_uniform": "(low=_Null, high=_Null, shape=_Null, ctx=_Null, dtype=_Null, out=None, name=None, **kwargs)",
    }.items():
        function = getattr(nd, name)
        assert str(inspect.signature(function)) == wanted
        assert function.__name__ == name and "Parameters" in function.__doc__ and "Returns" in function.__doc__


def test_modules() -> None:
    assert nd.op.exp is nd.exp
    assert "exp" in dir(nd) and "exp" in dir(nd.op) and "_plus_scalar" in dir(nd._internal)
    assert not any(name.startswith("_plus") for name in dir(nd)) and not any("_mxl" in n for n in dir(nd._internal))
    with pytest.raises(AttributeError):
        nd._plus_scalar  # noqa: B018
    with pytest.raises(AttributeError, match="Quantization"):
        nd.Quantization  # noqa: B018
    with pytest.raises(AttributeError):
        nd._internal._mxl_sum_to  # noqa: B018
    assert nd._internal._plus_scalar(nd.ones((1,)), scalar=2).asnumpy().tolist() == [3]
    for name in operator_names():
        if not name.startswith(("_np", "_sparse_")):
            assert callable(function_of(name))


def test_modules_by_prefix(x) -> None:
    """contrib, linalg and random have what begins so, without the beginning, and _internal has not."""
    assert {"round_ste", "isnan"} <= set(dir(nd.contrib)) and "_contrib_round_ste" not in dir(nd._internal)
    assert nd.contrib.round_ste.__name__ == "round_ste" and nd.contrib.round_ste.__module__ == "mxlite.ndarray.contrib"
    assert nd.contrib.round_ste(x + 0.75).asnumpy()[0, 0] == 1
    for module, name in (
        (nd.contrib, "exp"),
        (nd.contrib, "_contrib_round_ste"),
        (nd._internal, "_contrib_round_ste"),
        (nd._internal, "_sparse_exp"),
        (nd._internal, "exp"),
        (nd.op, "_contrib_round_ste"),
        (nd.op, "round_ste"),
        (nd.linalg, "exp"),
        (nd.random, "bernoulli"),
        (nd.random, "exp_like"),
    ):
        assert name not in dir(module)
        with pytest.raises(AttributeError, match=name):
            getattr(module, name)


def test_contrib_predicates() -> None:
    odd = nd.array([1, float("nan"), float("inf"), -float("inf")])
    assert nd.contrib.isnan(odd).asnumpy().tolist() == [0, 1, 0, 0]
    assert nd.contrib.isinf(odd).asnumpy().tolist() == [0, 0, 1, 1]
    assert nd.contrib.isfinite(odd).asnumpy().tolist() == [1, 0, 0, 0]


def test_parameters_any_way(x) -> None:
    wanted = x.asnumpy().sum(1)
    for got in (
        nd.sum(x, 1),
        nd.sum(x, axis=1),
        nd.sum(x, (1,)),
        nd.sum(data=x, axis=[1]),
        nd.sum(x, axis="1"),
        nd.sum(x, axis=np.int64(1)),
        nd.sum(x, -1, False, False, None, "name"),
        x.sum(1),
        x.sum(axis=1),
    ):
        assert got.asnumpy().tolist() == wanted.tolist()
    assert nd.sum(x, None, True).shape == (1, 1) and nd.sum(x, axis=1, keepdims="True").shape == (3, 1)
    assert nd.softmax(x, None, 0).shape == (3, 4)
    assert nd.Cast(x, dtype=np.int32).dtype == nd.Cast(x, np.dtype("int32")).dtype == np.int32
    assert nd.slice(x, begin=(None, 1), end=(None, 2)).shape == (3, 1)
    assert nd.FullyConnected(data=x, weight=nd.ones((2, 4)), bias=None, no_bias=True, num_hidden=2).shape == (3, 2)
    assert nd.Dropout(x, p=0.5).asnumpy().tolist() == x.asnumpy().tolist()


def test_bad_parameters(x) -> None:
    for wrong in (
        lambda: nd.sum(x, foo=1),
        lambda: nd.sum(x, axis=1.0),
        lambda: nd.sum(x, axis="x"),
        lambda: nd.sum(x, keepdims=None),
        lambda: nd.take(x, nd.zeros((1,)), mode=None),
        lambda: nd.take(x, nd.zeros((1,)), mode="x"),
        lambda: nd.one_hot(x),
        lambda: nd.one_hot(x, depth="a"),
        lambda: nd.Dropout(x, p=None),
        lambda: nd.exp(),
        lambda: nd.dot(x),
        lambda: nd.concat(),
        lambda: nd.split(x, num_outputs=0),
        lambda: nd.split(x, num_outputs=5),
    ):
        with pytest.raises(mx.MXNetError):
            wrong()
    for wrong in (
        lambda: nd.exp(1),
        lambda: nd.exp(np.ones(2)),
        lambda: nd.concat([x, x]),
        lambda: nd.dot(x, 2),
        lambda: nd.exp(x, out=5),
    ):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError):
        nd.exp(x, out=[x, x])


def test_out(x) -> None:
    out = nd.zeros((3, 4))
    assert nd.exp(x, out=out) is out and out.asnumpy()[0, 1] == np.float32(np.e)
    assert nd.elemwise_add(x, x, out=out) is out and out.asnumpy().tolist() == (2 * x.asnumpy()).tolist()
    listed = [nd.zeros((3, 4))]
    assert nd.elemwise_add(x, x, out=listed) is listed and listed[0].asnumpy().tolist() == out.asnumpy().tolist()
    with pytest.raises(TypeError, match="input 'rhs' must be an NDArray"):
        nd.elemwise_add(x, 2, out=out)
    halves = [nd.zeros((3, 2)), nd.zeros((3, 2))]
    assert nd.split(x, num_outputs=2, out=halves) is halves
    assert halves[1].asnumpy().tolist() == x.asnumpy()[:, 2:].tolist()
    with pytest.raises(mx.MXNetError):
        nd.exp(x, out=nd.zeros((2, 2)))
    for given in ({"num_outputs": 2}, {"num_outputs": "2"}):  # typed, and as text
        with pytest.raises((ValueError, mx.MXNetError)):
            nd.split(x, out=halves[:1], **given)
        with pytest.raises((ValueError, mx.MXNetError)):
            nd.split(x, out=[*halves, halves[0]], **given)


def test_split_and_concat(x) -> None:
    parts = nd.split(x, num_outputs=2)
    assert type(parts) is list and [part.shape for part in parts] == [(3, 2)] * 2
    assert isinstance(nd.split(x, num_outputs=1), nd.NDArray)
    assert [part.shape for part in x.split(2, axis=1)] == [(3, 2)] * 2
    assert [part.shape for part in nd.split(x, num_outputs="2")] == [(3, 2)] * 2
    assert len(nd.moments(x, axes=1)) == len(nd.moments(x, axes="(1,)")) == len(nd.moments(x, axes=0, keepdims=1)) == 2
    assert len(nd.LeakyReLU(x, act_type="rrelu")) == len(nd.LeakyReLU(x, act_type="rrelu", lower_bound="0.1")) == 2
    assert isinstance(nd.LeakyReLU(x, act_type="leaky", slope=0.5), nd.NDArray)
    assert nd.split(x, num_outputs=4, squeeze_axis=True)[0].shape == (3,)
    assert nd.concat(*parts).asnumpy().tolist() == x.asnumpy().tolist()
    assert nd.concat(x, x, dim=0).shape == nd.concatenate([x, x]).shape == (6, 4)
    assert nd.add_n(x, x, x).asnumpy()[2, 3] == 33


def test_prepared_calls_do_not_grow_with_values(x) -> None:
    """Scalars, axes, bounds and shapes are arguments: no cache keeps them."""
    operator_names = ("_plus_scalar", "slice", "Reshape", "sum", "one_hot")
    functions = {name: getattr(nd._internal if name[0] == "_" else nd.op, name) for name in operator_names}

    def use(n: int) -> None:
        functions["_plus_scalar"](x, scalar=n)
        functions["_plus_scalar"](x, scalar=f"{n}.5")
        functions["slice"](x, begin=(0, n % 4), end=(1, 4))
        functions["Reshape"](x, shape=(1,) * (n % 7) + (12,))
        functions["sum"](x, axis=n % 2)
        functions["one_hot"](x, depth=n + 1)

    def cached() -> int:
        return sum(len(function.__globals__["_operator"]._calls) for function in functions.values())

    use(0)
    before = cached()
    for n in range(1, 50):
        use(n)
    assert cached() == before


def test_calls_repeat(x) -> None:
    """The same parameters again and again, others in between, equal values that are not the same, lists that change."""
    whole, axes = x.asnumpy(), [0]
    for _ in range(4):
        assert nd.sum(x, axis=1).asnumpy().tolist() == whole.sum(1).tolist()
        assert nd.sum(x, axis=(0,), keepdims=True).asnumpy().tolist() == whole.sum(0, keepdims=True).tolist()
        assert nd.sum(x, axis=0, exclude=True).asnumpy().tolist() == whole.sum(1).tolist()
        for axis in (1.0, "one", 2, (0, 0), (1, None)):
            with pytest.raises(mx.MXNetError, match="axis"):
                nd.sum(x, axis=axis)
        with pytest.raises(mx.MXNetError, match="keepdims"):
            nd.sum(x, axis=0, keepdims=2)
        for axis in (0, 1):
            axes[0] = axis
            assert nd.sum(x, axis=axes).asnumpy().tolist() == whole.sum(axis).tolist()
        for dtype in ("float64", np.float64, np.dtype("float64")):
            assert nd.cast(x, dtype=dtype).dtype == np.float64
        with pytest.raises(TypeError):
            nd.sum(whole, axis=1)
        with pytest.raises(TypeError):
            nd.sum(x, axis=1, out=whole)
        out = nd.zeros((3,))
        assert nd.sum(x, axis=1, out=out) is out and out.asnumpy().tolist() == whole.sum(1).tolist()
        assert len(nd.split(x, num_outputs=2, axis=1)) == 2
        assert nd.slice(x, begin=(None, 1), end=(2, None)).asnumpy().tolist() == whole[:2, 1:].tolist()
        assert nd.softmax(x, nd.array([1, 2, 4], dtype="int32"), axis=1, use_length=True)[0, 0] == 1
        with pytest.raises(mx.MXNetError):
            nd.softmax(x, axis=1, use_length=True)
    for _ in range(3):
        for number in range(300):
            assert nd.clip(x, a_min=number + 0.5, a_max=1000)[0, 0] == number + 0.5


def test_known_calls_are_few(x) -> None:
    told: dict = {}
    known = KnownCalls(Operator("clip"), told.__setitem__)
    values = [(float(number), 1e6) for number in range(1000)]
    for low, high in values:
        known.learn((low, high), {"a_min": low, "a_max": high})
    assert not told  # values that came once
    for low, high in values[:100]:
        for _ in range(2):
            known.learn((low, high), {"a_min": low, "a_max": high})
    assert len(told) == 64 and all(told.values())


def test_operators_without_parameters_ignore_unknown_ones() -> None:
    """TensorLy passes the context and dtype of an array along with it, others an axis; all are ignored."""
    x = nd.array([[1, 2]], dtype="int8")
    for y in (
        nd.zeros_like(x, ctx=mx.gpu(0), dtype="float64"),
        nd.zeros_like(data=x, name="y", dtype=x.dtype),
        x.zeros_like(dtype=object()),
        nd.op.zeros_like(x, lhs=x),
    ):
        assert y.asnumpy().tolist() == [[0, 0]] and y.dtype is np.int8
    out = nd.full((1, 2), 7, dtype="int8")
    assert nd.ones_like(x, out=out, ctx=None) is out and out.asnumpy().tolist() == [[1, 1]]
    assert nd.broadcast_maximum(x, x, axis=1).shape == nd.flatten(x, axis=1).shape == (1, 2)
    assert [y.shape for y in nd.linalg.slogdet(nd.ones((2, 2)), foo=1)] == [(1,), (1,)]
    for refused in (lambda: nd.sum(x, ctx=x.context), lambda: nd.add_n(x, x, axis=1)):
        with pytest.raises(mx.MXNetError, match="unknown parameter"):
            refused()
    with pytest.raises(TypeError, match="must be an NDArray, got list"):
        nd.zeros_like([1])


def test_fluent_methods(x, v) -> None:
    for name in "exp log tanh sigmoid relu sqrt square abs sum mean max argmax softmax log_softmax".split():
        positive = x + 1
        np.testing.assert_array_equal(getattr(positive, name)().asnumpy(), getattr(nd, name)(positive).asnumpy())
    assert x.transpose((1, 0)).shape == x.transpose(axes=(1, 0)).shape == x.transpose().shape == (4, 3)
    assert x.slice(begin=(0, 1), end=(2, 3)).shape == x.slice((0, 1), (2, 3)).shape == (2, 2)
    assert x.take(nd.array([0, 2]), axis=1).shape == (3, 2)
    assert x.pick(nd.array([0, 1, 2])).asnumpy().tolist() == [0, 5, 10]
    assert v.one_hot(4).shape == (3, 4)
    assert v.zeros_like().asnumpy().tolist() == [0, 0, 0] and v.ones_like().asnumpy().tolist() == [1, 1, 1]
    np.testing.assert_array_equal(v.arctan().asnumpy(), nd.arctan(v).asnumpy())
    with pytest.raises(AttributeError):
        v.dot(v)
    assert not hasattr(v, "erf")


def test_functions_of_arrays_or_numbers(v) -> None:
    assert nd.add(v, 1).asnumpy().tolist() == [2, 3, 4] and nd.add(1, 2) == 3
    assert nd.subtract(1, v).asnumpy().tolist() == [0, -1, -2]
    assert nd.multiply(v, v).asnumpy().tolist() == [1, 4, 9]
    assert nd.divide(v, 2).asnumpy().tolist() == nd.true_divide(v, 2).asnumpy().tolist() == [0.5, 1, 1.5]
    assert nd.power(v, 2).asnumpy().tolist() == [1, 4, 9]


def test_prelu_of_an_array_without_axes() -> None:
    """A gamma of one element fits it, one of two does not."""
    with mx.np_shape():
        x = nd.array(np.array(-2.0, "float32"))
        assert nd.LeakyReLU(x, nd.array([0.5]), act_type="prelu").asnumpy() == -1
        with pytest.raises(mx.MXNetError):
            nd.LeakyReLU(x, nd.array([0.5, 0.5]), act_type="prelu")
