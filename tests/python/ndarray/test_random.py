"""mx.nd.random and mx.random: signatures, parameters that are numbers or arrays, seeds, gradients, odd parameters."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd

#: As the real 1.9.1 prints them.
_SIGNATURES = {
    "exponential": "(scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs)",
    "exponential_like": "(data=None, lam=_Null, out=None, name=None, **kwargs)",
    "gamma": "(alpha=1, beta=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs)",
    "gamma_like": "(data=None, alpha=_Null, beta=_Null, out=None, name=None, **kwargs)",
    "generalized_negative_binomial": "(mu=1, alpha=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs)",
    "generalized_negative_binomial_like": "(data=None, mu=_Null, alpha=_Null, out=None, name=None, **kwargs)",
    "multinomial": "(data, shape=_Null, get_prob=False, out=None, dtype='int32', **kwargs)",
    "negative_binomial": "(k=1, p=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs)",
    "negative_binomial_like": "(data=None, k=_Null, p=_Null, out=None, name=None, **kwargs)",
    "normal": "(loc=0, scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs)",
    "normal_like": "(data=None, loc=_Null, scale=_Null, out=None, name=None, **kwargs)",
    "poisson": "(lam=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs)",
    "poisson_like": "(data=None, lam=_Null, out=None, name=None, **kwargs)",
    "randint": "(low, high, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs)",
    "randn": "(*shape, **kwargs)",
    "shuffle": "(data, **kwargs)",
    "uniform": "(low=0, high=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs)",
    "uniform_like": "(data=None, low=_Null, high=_Null, out=None, name=None, **kwargs)",
}
_OPERATORS = {
    "sample_gamma": "(alpha=None, beta=None, shape=_Null, dtype=_Null, out=None, name=None, **kwargs)",
    "sample_multinomial": "(data=None, shape=_Null, get_prob=_Null, dtype=_Null, out=None, name=None, **kwargs)",
    "random_randint": "(low=_Null, high=_Null, shape=_Null, ctx=_Null, dtype=_Null, out=None, name=None, **kwargs)",
    "random_pdf_normal": "(sample=None, mu=None, sigma=None, is_log=_Null, out=None, name=None, **kwargs)",
    "shuffle": "(data=None, out=None, name=None, **kwargs)",
    "normal": "(loc=_Null, scale=_Null, shape=_Null, ctx=_Null, dtype=_Null, out=None, name=None, **kwargs)",
}


def _plain(function) -> str:
    """The signature without annotations."""
    signature = inspect.signature(function)
    parameters = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    text = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    return text.replace(repr(mx.base._Null), "_Null")


def test_signatures() -> None:
    assert {name: _plain(getattr(nd.random, name)) for name in _SIGNATURES} == _SIGNATURES
    assert sorted(nd.random.__all__) == sorted(_SIGNATURES)
    assert set(_SIGNATURES) <= set(dir(nd.random))
    assert {name: _plain(getattr(nd, name)) for name in _OPERATORS} == _OPERATORS
    for name in _SIGNATURES:
        if not name.endswith("_like"):
            assert getattr(mx.random, name) is getattr(nd.random, name)
        assert getattr(nd.random, name).__doc__


#: Calls by numbers and by arrays, with the same distribution.
_PAIRS = [
    ("uniform", (2.0, 5.0)),
    ("normal", (2.0, 5.0)),
    ("gamma", (2.0, 5.0)),
    ("exponential", (2.0,)),
    ("poisson", (2.0,)),
    ("negative_binomial", (2, 0.5)),
    ("generalized_negative_binomial", (2.0, 0.5)),
]


@pytest.mark.parametrize(("name", "values"), _PAIRS)
def test_numbers_and_arrays(name: str, values: tuple) -> None:
    function = getattr(nd.random, name)
    mx.random.seed(3)
    one = function(*values, shape=(50, 40))
    assert one.shape == (50, 40) and one.dtype == np.float32
    arrays = [nd.array([[value], [value]]) for value in values]
    two = function(*arrays, shape=(50, 20))
    assert two.shape == (2, 1, 50, 20) and two.dtype == np.float32
    for quantile in (0.25, 0.5, 0.75):
        a, b = np.quantile(one.asnumpy(), quantile), np.quantile(two.asnumpy(), quantile)
        assert abs(a - b) <= max(1.0, 0.2 * abs(a))
    assert function(*values).shape == (1,) and function(*arrays).shape == (2, 1)
    assert function(*values, 3).shape == (3,) and function(*arrays, 3).shape == (2, 1, 3)
    assert function(*values, shape=np.int64(3), ctx=mx.cpu(), name="x").shape == (3,)
    out = nd.zeros((4,), dtype="float64")
    assert function(*values, out=out) is out
    assert function(*(nd.full((4,), value) for value in values), out=out) is out and out.dtype == np.float64
    with pytest.raises(mx.MXNetError):
        function(*values, shape=(3,), out=out)
    with pytest.raises(mx.MXNetError, match="unknown parameter"):
        function(*values, foo=1)
    with pytest.raises(mx.MXNetError):
        function(*values, shape=None)
    with pytest.raises(mx.MXNetError):
        function(*values, ctx=mx.gpu())
    with mx.np_shape():
        assert function(*values, shape=()).shape == () and function(*values, shape=(0, 2)).shape == (0, 2)


@pytest.mark.parametrize(("name", "values"), _PAIRS)
def test_dtypes(name: str, values: tuple) -> None:
    function, arrays = getattr(nd.random, name), [nd.array([value]) for value in values]
    for given in (values, arrays):
        for dtype in ("float16", np.float32, np.dtype("float64")):
            assert function(*given, dtype=dtype).dtype == np.dtype(dtype)
        assert function(*given, dtype=None).dtype == np.float32
        with pytest.raises(mx.MXNetError, match="dtype"):
            function(*given, dtype="int32")


@pytest.mark.parametrize(("name", "values"), _PAIRS)
def test_like(name: str, values: tuple) -> None:
    function = getattr(nd.random, f"{name}_like")
    x = nd.zeros((30, 40), dtype="float64")
    mx.random.seed(4)
    y = function(x, *values)
    assert y.shape == x.shape and y.dtype == np.float64
    mx.random.seed(4)
    scaled = {"scale": 0.5} if name == "exponential" else {}
    again = getattr(nd.random, name)(*(() if scaled else values), **scaled, shape=x.shape, dtype="float64")
    assert (y.asnumpy() == again.asnumpy()).all()
    assert function(x).shape == x.shape
    out = nd.zeros((30, 40), dtype="float64")
    assert function(data=x, out=out) is out
    with pytest.raises(mx.MXNetError):
        function()
    with pytest.raises(mx.MXNetError):
        function(nd.zeros((2,), dtype="int32"))


def test_wrong_parameters() -> None:
    x = nd.array([1.0, 2.0])
    for name in ("uniform", "normal", "gamma", "negative_binomial", "generalized_negative_binomial"):
        for wrong in ((x, 2), (2, x)):
            with pytest.raises(TypeError, match=f"{name}: parameters must all be"):
                getattr(nd.random, name)(*wrong)
        for wrong in ("a", [1], np.array([1.0]), None):
            with pytest.raises(ValueError, match=f"{name}: .* must be an NDArray or a number"):
                getattr(nd.random, name)(wrong)
    for wrong in ("a", [1]):
        with pytest.raises(ValueError):
            nd.random.poisson(wrong)
        with pytest.raises(TypeError):
            nd.random.exponential(wrong)
    with pytest.raises(ZeroDivisionError):
        nd.random.exponential(0)
    with pytest.raises(mx.MXNetError):
        nd.random.negative_binomial(3.0, 0.5)
    assert nd.random.uniform(True, 2).shape == (1,)
    for wrong in ([0.5, 0.5], np.array([0.5, 0.5]), None):
        with pytest.raises(TypeError, match="multinomial: data must be an NDArray"):
            nd.random.multinomial(wrong)
        with pytest.raises(TypeError, match="shuffle: data must be an NDArray"):
            nd.random.shuffle(wrong)
    for low, high in ((x, 5), (0, x)):
        with pytest.raises(TypeError, match="randint: .* not an NDArray"):
            nd.random.randint(low, high)
    for low, high in (("0", 5), (0, None)):
        with pytest.raises(ValueError, match="randint: .* must be a number"):
            nd.random.randint(low, high)
    for low, high in ((5, 5), (5, 0), (0.0, 5.0), (0, 2**40)):
        with pytest.raises(mx.MXNetError):
            nd.random.randint(low, high).wait_to_read()
    with pytest.raises(TypeError):
        nd.random.randint(5)


def test_randn() -> None:
    mx.random.seed(1)
    x = nd.random.randn(30, 40, loc=5, scale=0.5)
    assert x.shape == (30, 40) and abs(x.asnumpy().mean() - 5) < 0.1
    assert nd.random.randn(2, loc=nd.array([1.0]), scale=nd.array([1.0])).shape == (1, 2)
    assert nd.random.randn(2, dtype="float64", ctx=mx.cpu(), name="x").dtype == np.float64
    out = nd.zeros((2, 3))
    assert nd.random.randn(2, 3, out=out) is out
    with mx.np_shape():
        assert nd.random.randn().shape == ()
    with pytest.raises(mx.MXNetError):
        nd.random.randn()
    with pytest.raises(mx.MXNetError):
        nd.random.randn((2, 3))
    with pytest.raises(TypeError):
        nd.random.randn(2, shape=3)


def test_randint() -> None:
    mx.random.seed(1)
    x = nd.random.randint(0, 5, 300)
    assert x.dtype == np.int32 and set(x.asnumpy().tolist()) == {0, 1, 2, 3, 4}
    assert nd.random.randint(0, 5).shape == (1,)
    assert nd.random.randint(0, np.int64(5), 3, "int64").dtype == np.int64
    out = nd.zeros((3,), dtype="int64")
    assert nd.random.randint(low=7, high=8, out=out, name="x") is out and (out.asnumpy() == 7).all()


def test_integers_of_all_sizes() -> None:
    mx.random.seed(2)
    lowest, highest = -(2**63) + 1, 2**63 - 1
    x = nd.random.randint(lowest, highest, 4000, "int64").asnumpy()
    assert len(set(x.tolist())) == 4000
    assert abs((x.astype("float64") / 2**63).mean()) < 0.05 and abs(np.median(np.abs(x / 2**63)) - 0.5) < 0.05
    for bits in (0, 1, 31, 32, 62):  # the lowest bits are as random as the highest
        assert abs(((x >> bits) & 1).mean() - 0.5) < 0.05
    x = nd.random.randint(2**62, 2**62 + 3, 300, "int64").asnumpy()
    assert set(x.tolist()) == {2**62, 2**62 + 1, 2**62 + 2}
    x = nd.random.randint(-(2**31), 2**31, 4000).asnumpy().astype("float64")
    assert x.min() < -2.1e9 and x.max() > 2.1e9


def test_seeds() -> None:
    def draws() -> list:
        return [
            nd.random.gamma(0.5, 1, 40).asnumpy().tolist(),
            nd.random.poisson(30, 40).asnumpy().tolist(),
            nd.random.randint(0, 2**30, 40).asnumpy().tolist(),
            nd.random.shuffle(nd.arange(40)).asnumpy().tolist(),
            nd.random.multinomial(nd.array([0.25] * 4), 40).asnumpy().tolist(),
            nd.random.exponential(nd.array([1.0, 2.0]), 40).asnumpy().tolist(),
        ]

    mx.random.seed(11)
    one, more = draws(), draws()
    mx.random.seed(11, ctx=mx.cpu())
    assert draws() == one
    assert all(a != b for a, b in zip(one, more))
    mx.random.seed(12)
    assert all(a != b for a, b in zip(one, draws()))
    mx.random.seed(11 + 2**32)
    assert draws() == one


def test_threads_do_not_matter() -> None:
    def draws() -> list:
        mx.random.seed(5)
        rate, rows = nd.array([0.5, 40.0, 1e6]), nd.array([[0.5, 0.5], [0.25, 0.75]])
        return [
            nd.random.gamma(0.5, 1, 20001).asnumpy().tolist(),
            nd.random.poisson(rate, 7001).asnumpy().tolist(),
            nd.random.multinomial(rows, 9001).asnumpy().tolist(),
            nd.random.multinomial(nd.array([[0.5, 0.5]] * 5000), 3).asnumpy().tolist(),
            nd.random.randint(0, 1000, 20001).asnumpy().tolist(),
        ]

    before = mx._lib.LIB.MXSetNumOMPThreads
    results = []
    try:
        for threads in (1, 2, 5):
            mx._lib.check_call(before(threads))
            results.append(draws())
    finally:
        mx._lib.check_call(before(2))
    assert results[0] == results[1] == results[2]


def test_a_prefix_is_a_prefix() -> None:
    """Element i depends on the seed and i alone."""
    mx.random.seed(9)
    long = nd.random.gamma(3, 1, 5000).asnumpy()
    mx.random.seed(9)
    assert (nd.random.gamma(3, 1, 70).asnumpy() == long[:70]).all()


def test_large_counts() -> None:
    mx.random.seed(6)
    for rate in (1e10, 1e15, 1e30):
        x = nd.random.poisson(rate, 2000, dtype="float64").asnumpy()
        assert abs(x.mean() / rate - 1) < 5 / math.sqrt(2000 * rate) + 1e-14
        assert rate > 1e16 or abs(x.std() / math.sqrt(rate) - 1) < 0.1
    x = nd.random.negative_binomial(2, 1e-9, 2000).asnumpy().astype("float64")
    assert abs(x.mean() / 2e9 - 1) < 0.1 and x.min() >= 0
    for op, params in (
        ("_random_poisson", {"lam": "inf"}),
        ("_random_negative_binomial", {"k": 5, "p": 0.0}),
        ("_random_generalized_negative_binomial", {"mu": "inf"}),
        ("_random_gamma", {"alpha": "inf"}),
    ):
        assert np.isposinf(getattr(nd._internal, op)(shape=(3,), **params).asnumpy()).all(), op
    assert np.isposinf(nd.random.poisson(1e9, 3, dtype="float16").asnumpy()).all()


def test_uniform_bounds() -> None:
    """The upper bound is never drawn, however few numbers lie below it."""
    mx.random.seed(7)
    low, high = np.float32(1), np.nextafter(np.float32(1), np.float32(2))
    x = nd.random.uniform(nd.array([low]), nd.array([high]), 5000).asnumpy()
    assert (x == low).all()
    x = nd.random.uniform(nd.array([5.0], dtype="float64"), nd.array([5 + 1e-15], dtype="float64"), 500, "float64")
    assert x.asnumpy().max() < 5 + 1e-15 and x.asnumpy().min() == 5
    x = nd.random.uniform(nd.array([2.0]), nd.array([-1.0]), 500).asnumpy()
    assert x.max() <= 2 and x.min() > -1


def test_parameters_without_axes() -> None:
    with mx.np_shape():
        x = nd.random.normal(nd.array(50.0), nd.array(1.0), (3, 2))
        assert x.shape == (3, 2) and x.asnumpy().min() > 40
        assert nd.sample_poisson(nd.array(50.0)).shape == ()


def test_strided_parameters() -> None:
    table = nd.array([[0.0, 100.0], [1.0, 200.0], [2.0, 300.0]])
    means = table.T[1]
    x = nd.random.normal(means, nd.zeros((3,)), 2).asnumpy()
    assert x.tolist() == [[100, 100], [200, 200], [300, 300]]


# ---- shuffle ----


def test_shuffle() -> None:
    mx.random.seed(8)
    x = nd.array(np.arange(60).reshape(30, 2))
    y = nd.random.shuffle(x).asnumpy()
    assert (x.asnumpy() == np.arange(60).reshape(30, 2)).all()
    assert (y[:, 1] == y[:, 0] + 1).all() and sorted(y[:, 0]) == list(range(0, 60, 2)) and (y != x.asnumpy()).any()
    kept = x.asnumpy()
    assert nd.random.shuffle(x, out=x, name="s") is x
    assert (x.asnumpy() != kept).any() and sorted(x.asnumpy()[:, 0]) == list(range(0, 60, 2))
    assert nd.shuffle(x).shape == (30, 2)


def test_shuffle_of_bool() -> None:
    x = nd.random.shuffle(nd.array([True] * 3 + [False] * 5, dtype="bool"))
    assert x.dtype == np.bool_ and x.asnumpy().sum() == 3


def test_shuffle_gradient() -> None:
    mx.random.seed(1)
    x, scale = nd.array(np.arange(12.0).reshape(6, 2)), nd.array(np.arange(1.0, 13).reshape(6, 2))
    for array in (x, scale):
        array.attach_grad()
    with autograd.record():
        y = nd.random.shuffle(x)
        (gradient,) = autograd.grad((y * y * scale).sum(), x, create_graph=True)
        total = (gradient * x).sum()
    order = (y.asnumpy()[:, 0] / 2).astype(int)
    assert order.tolist() != list(range(6))
    wanted = np.empty((6, 2))
    wanted[order] = 2 * y.asnumpy() * scale.asnumpy()
    np.testing.assert_allclose(gradient.asnumpy(), wanted)
    total.backward()
    # total = sum of 2 x^2 s, where s is the scale of the place that a row went to
    moved = np.empty((6, 2))
    moved[order] = scale.asnumpy()
    np.testing.assert_allclose(x.grad.asnumpy(), 4 * x.asnumpy() * moved)
    np.testing.assert_allclose(scale.grad.asnumpy(), 2 * y.asnumpy() ** 2)


# ---- multinomial ----


def test_multinomial_gradient() -> None:
    """The slope of log p is 1 / p, added up where a category was drawn."""
    mx.random.seed(2)
    p = np.array([[0.25, 0.5, 0.25], [0.0, 0.125, 0.875]])
    for shape in ((40,), (3, 2), (), (5,)):
        x = nd.array(p, dtype="float64")
        x.attach_grad()
        head = np.arange(1.0, 2 * int(np.prod(shape)) + 1).reshape((2, *shape))
        with autograd.record():
            drawn, logs = nd.random.multinomial(x, shape, get_prob=True)
            (gradient,) = autograd.grad(
                logs, x, head_grads=nd.array(head, dtype="float64"), create_graph=True, retain_graph=True
            )
            total = (gradient * gradient).sum()
        chosen = drawn.asnumpy().reshape(2, -1)
        wanted, counts = np.zeros((2, 3)), np.zeros((2, 3))
        for row in range(2):
            for category, weight in zip(chosen[row], head[row].ravel()):
                counts[row, category] += weight
        np.divide(counts, p, out=wanted, where=counts > 0)
        np.testing.assert_allclose(gradient.asnumpy(), wanted)
        total.backward()
        second = np.zeros((2, 3))
        np.divide(-2 * counts**2, p**3, out=second, where=counts > 0)
        np.testing.assert_allclose(x.grad.asnumpy(), second)


def test_multinomial_without_logarithms_is_a_constant() -> None:
    x = nd.array([0.25, 0.75])
    x.attach_grad()
    for get_prob in (False, True):
        with autograd.record():
            drawn = nd.random.multinomial(x, 5, get_prob=get_prob, dtype="float32")
            y = (drawn[0] if get_prob else drawn) * 1
        y.backward()
        assert not x.grad.asnumpy().any()


def test_multinomial_out() -> None:
    x = nd.array([0.0, 1.0])
    out = nd.zeros((3,), dtype="int32")
    assert nd.random.multinomial(x, 3, False, out) is out and out.asnumpy().tolist() == [1, 1, 1]
    outs = [nd.zeros((3,), dtype="int32"), nd.ones((3,))]
    nd.random.multinomial(x, 3, get_prob=True, out=outs)
    assert outs[0].asnumpy().tolist() == [1, 1, 1] and outs[1].asnumpy().tolist() == [0, 0, 0]
    assert nd.random.multinomial(x, name="m").dtype == np.int32
    assert nd.random.multinomial(x, shape=2, dtype=np.uint8).dtype == np.uint8


def test_few_and_many_numbers_agree() -> None:
    """Rows with many numbers go by a table of sums; the numbers are those of adding up."""
    rng = np.random.default_rng(3)
    p = rng.uniform(size=(4, 37)) * (rng.uniform(size=(4, 37)) < 0.5)
    x = nd.array(p / p.sum(1, keepdims=True), dtype="float64")
    mx.random.seed(3)
    u = nd.random.uniform(nd.zeros((1,)), nd.ones((1,)), 200, "float64").asnumpy()[0]
    sums = np.cumsum(x.asnumpy(), 1)
    for count in (50, 8, 7, 1):
        mx.random.seed(3)
        got = nd.random.multinomial(x, count).asnumpy()
        wanted = [[int(np.argmax(u[count * row + i] < sums[row])) for i in range(count)] for row in range(4)]
        assert got.tolist() == wanted


def test_rand_zipfian() -> None:
    mx.random.seed(5)
    true = nd.array([1, 3])
    drawn, of_true, of_drawn = nd.contrib.rand_zipfian(true, 5000, 100)
    assert drawn.shape == (5000,) and drawn.dtype == np.int64
    x = drawn.asnumpy()
    assert x.min() == 0 and x.max() < 100
    share = np.log((np.arange(100) + 2) / (np.arange(100) + 1)) / np.log(101)
    np.testing.assert_allclose(of_true.asnumpy(), share[[1, 3]] * 5000)
    np.testing.assert_allclose(of_drawn.asnumpy(), share[x] * 5000)
    counts = np.bincount(x, minlength=100)
    assert (np.abs(counts - share * 5000) < 5 * np.sqrt(share * 5000)).all()
    assert nd.contrib.rand_zipfian(true, 4, 5)[0].asnumpy().max() < 5


def test_one_number_for_each_pair_of_parameters() -> None:
    """An extent of 1 in shape is an axis like any other."""
    low = nd.array([0, 10])
    drawn = nd.random.uniform(low, low + 1, shape=(1,))
    assert drawn.shape == (2, 1)
    assert 0 <= drawn[0].asscalar() < 1 and 10 <= drawn[1].asscalar() < 11
