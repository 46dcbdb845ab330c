"""Random numbers follow their distributions: Kolmogorov and Smirnov's test, chi-square, and independence.

Seeds are fixed, so a test that passes always does. The distribution functions are our own (NumPy and math alone).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import mxlite as mx
from mxlite import nd

pytestmark = pytest.mark.one_binding

N = 40000


def normal_cdf(x: np.ndarray) -> np.ndarray:
    """Of the standard normal distribution."""
    return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def gamma_cdf(x: np.ndarray, shape: float) -> np.ndarray:
    """The incomplete gamma function P(shape, x) by its series: x^a e^-x / Gamma(a + 1) (1 + x/(a+1) + ...)."""
    x = np.asarray(x, "float64")
    term, total = np.ones_like(x), np.ones_like(x)
    for n in range(1, 2000):
        term = term * x / (shape + n)
        total += term
        if term.max() < 1e-14 * total.min():
            break
    with np.errstate(divide="ignore"):
        front = np.exp(shape * np.log(x) - x - math.lgamma(shape + 1))
    return front * total


def poisson_pmf(rate: float, most: int) -> np.ndarray:
    """Probabilities of 0 .. most - 1."""
    k = np.arange(most)
    logs = k * math.log(rate) - rate - np.vectorize(math.lgamma)(k + 1.0)
    return np.exp(logs)


def negative_binomial_pmf(k: float, p: float, most: int) -> np.ndarray:
    """Probabilities of 0 .. most - 1 failures."""
    x = np.arange(most)
    gammas = np.vectorize(math.lgamma)
    return np.exp(gammas(x + k) - gammas(x + 1.0) - math.lgamma(k) + k * math.log(p) + x * math.log1p(-p))


def kolmogorov(x: np.ndarray, cdf) -> None:
    """The largest distance between the distribution functions, times sqrt(n), is above 2 once in 1500 times."""
    x = np.sort(np.asarray(x, "float64").ravel())
    n = len(x)
    expected = cdf(x)
    distance = max((np.arange(1, n + 1) / n - expected).max(), (expected - np.arange(n) / n).max())
    assert distance * math.sqrt(n) < 2, distance * math.sqrt(n)


def chi_square(counts: np.ndarray, probabilities: np.ndarray) -> None:
    """Counts of buckets against probabilities; buckets with few expected are put together. 4 deviations at most."""
    total = counts.sum()
    probabilities = np.append(probabilities, max(0.0, 1 - probabilities.sum()))
    counts = np.append(counts, np.zeros(len(probabilities) - len(counts)))
    kept = probabilities * total >= 10
    expected = np.append(probabilities[kept], probabilities[~kept].sum()) * total
    seen = np.append(counts[kept], counts[~kept].sum())
    if expected[-1] < 10:  # too few for a bucket: put to another
        expected, seen = np.append(expected[:-2], expected[-2:].sum()), np.append(seen[:-2], seen[-2:].sum())
    freedom = len(expected) - 1
    assert freedom > 0
    statistic = ((seen - expected) ** 2 / expected).sum()
    # Wilson and Hilferty: its cube root is nearly normal.
    z = ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))
    assert abs(z) < 4, z


def count(x: np.ndarray, most: int) -> np.ndarray:
    """How often 0 .. most - 1 are there, and at the end how often anything above."""
    x = np.asarray(x)
    assert (x == np.floor(x)).all() and x.min() >= 0
    return np.bincount(np.minimum(x, most).astype("int64").ravel(), minlength=most + 1)


def independent(x: np.ndarray) -> None:
    """Neighbours, and numbers further away, do not know of each other, nor do their sizes."""
    x = np.asarray(x, "float64").ravel()
    ranks = np.argsort(np.argsort(x, kind="stable")) / len(x) - 0.5
    for values in (ranks, np.abs(ranks) - np.abs(ranks).mean()):
        for lag in (1, 2, 3, 4, 7, 64, 128, 256, 1024):
            correlation = (values[lag:] * values[:-lag]).mean() / values.var()
            assert abs(correlation) * math.sqrt(len(values) - lag) < 4.5, lag


#: name, parameters, distribution function
_REAL = [
    ("uniform", (0.0, 1.0), lambda x: np.clip(x, 0, 1)),
    ("uniform", (-3.0, 5.0), lambda x: np.clip((x + 3) / 8, 0, 1)),
    ("normal", (0.0, 1.0), normal_cdf),
    ("normal", (-4.0, 2.5), lambda x: normal_cdf((x + 4) / 2.5)),
    ("exponential", (1.0,), lambda x: -np.expm1(-x)),
    ("exponential", (0.25,), lambda x: -np.expm1(-4 * x)),
    ("gamma", (1.0, 1.0), lambda x: gamma_cdf(x, 1.0)),
    ("gamma", (0.05, 1.0), lambda x: gamma_cdf(x, 0.05)),
    ("gamma", (0.6, 3.0), lambda x: gamma_cdf(x / 3, 0.6)),
    ("gamma", (1.001, 2.0), lambda x: gamma_cdf(x / 2, 1.001)),
    ("gamma", (2.5, 0.5), lambda x: gamma_cdf(x / 0.5, 2.5)),
    ("gamma", (70.0, 1.0), lambda x: gamma_cdf(x, 70.0)),
    ("gamma", (1e6, 1.0), lambda x: normal_cdf(3e3 * ((x / 1e6) ** (1 / 3) - 1 + 1 / 9e6))),
]


@pytest.mark.parametrize("way", ["numbers", "arrays"])
@pytest.mark.parametrize(("name", "values", "cdf"), _REAL)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_real(name: str, values: tuple, cdf, way: str, dtype: str) -> None:
    mx.random.seed(23)
    given = values if way == "numbers" else [nd.array([value], dtype="float64") for value in values]
    x = getattr(nd.random, name)(*given, shape=N, dtype=dtype).asnumpy()
    if dtype == "float64" or values[0] < 1e5:
        kolmogorov(x, cdf)
        independent(x)


@pytest.mark.parametrize("rate", [1e-3, 0.1, 1.0, 3.7, 9.9, 10.0, 11.3, 30.0, 200.0, 5000.0])
@pytest.mark.parametrize("way", ["numbers", "arrays"])
def test_poisson(rate: float, way: str) -> None:
    mx.random.seed(29)
    given = rate if way == "numbers" else nd.array([rate], dtype="float64")
    x = nd.random.poisson(given, N).asnumpy()
    most = int(rate + 12 * math.sqrt(rate) + 30)
    chi_square(count(x, most), poisson_pmf(rate, most))
    independent(x + np.random.default_rng(1).uniform(size=x.shape))


@pytest.mark.parametrize("rate", [10.0, 14.0])
def test_poisson_exactly(rate: float) -> None:
    """So many numbers that a constant of the rejection which is a little off is noticed."""
    mx.random.seed(67)
    x = nd.random.poisson(rate, 3000000).asnumpy()
    chi_square(count(x, 60), poisson_pmf(rate, 60))


@pytest.mark.parametrize("rate", [9.9e4, 1.01e5, 1e8, 1e12])
def test_poisson_of_large_rates(rate: float) -> None:
    """Nearly normal: Cornish and Fisher's first correction is exact enough at this many numbers."""
    mx.random.seed(31)
    x = nd.random.poisson(rate, N, dtype="float64").asnumpy()
    jittered = x + np.random.default_rng(2).uniform(-0.5, 0.5, x.shape)
    z = (jittered - rate) / math.sqrt(rate)
    kolmogorov(z - (z**2 - 1) / (6 * math.sqrt(rate)), normal_cdf)
    independent(jittered)


@pytest.mark.parametrize(("k", "p"), [(1, 0.5), (4, 0.1), (60, 0.9), (0.3, 0.05)])
def test_negative_binomial(k: float, p: float) -> None:
    mx.random.seed(37)
    for given in (((k, p),) if k >= 1 else ()) + ((nd.array([float(k)]), nd.array([p], dtype="float32")),):
        x = nd.random.negative_binomial(*given, shape=N).asnumpy()
        chi_square(count(x, 400), negative_binomial_pmf(k, np.float32(p), 400))


@pytest.mark.parametrize(("mu", "alpha"), [(1.0, 1.0), (6.0, 0.25), (0.5, 3.0), (20.0, 0.0)])
def test_generalized_negative_binomial(mu: float, alpha: float) -> None:
    mx.random.seed(41)
    for given in ((mu, alpha), (nd.array([mu]), nd.array([alpha]))):
        x = nd.random.generalized_negative_binomial(*given, shape=N).asnumpy()
        wanted = negative_binomial_pmf(1 / alpha, 1 / (1 + mu * alpha), 200) if alpha else poisson_pmf(mu, 200)
        chi_square(count(x, 200), wanted)


@pytest.mark.parametrize(("low", "high"), [(0, 2), (-3, 4), (10, 202), (0, 3 * 2**29)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_randint(low: int, high: int, dtype: str) -> None:
    mx.random.seed(43)
    x = nd.random.randint(low, high, N, dtype).asnumpy().astype("int64") - low
    buckets = min(high - low, 96)
    chi_square(np.bincount(x * buckets // (high - low), minlength=buckets), np.full(buckets, 1 / buckets))
    independent(x + np.random.default_rng(1).uniform(size=x.shape))


@pytest.mark.parametrize("shape", [(N,), (4,)])
def test_multinomial(shape: tuple) -> None:
    mx.random.seed(47)
    p = np.array([[0.1, 0.2, 0.0, 0.3, 0.4], [0.5, 0.0, 0.25, 0.25, 0.0]])
    rows = p if shape == (N,) else np.tile(p, (N // 8, 1))
    x = nd.random.multinomial(nd.array(rows), shape).asnumpy().reshape(-1, 2, *shape)
    for row in range(2):
        drawn = x[:, row].ravel()
        assert (p[row][drawn] > 0).all()
        chi_square(np.bincount(drawn, minlength=5)[p[row] > 0], p[row][p[row] > 0])
        independent(drawn + np.random.default_rng(1).uniform(size=drawn.shape))


def test_shuffle() -> None:
    """All orders of four are equally likely, and so are all places of a row among many."""
    mx.random.seed(53)
    x = nd.arange(4)
    orders = [tuple(nd.random.shuffle(x).asnumpy().astype(int)) for _ in range(4800)]
    kinds = sorted(set(orders))
    assert len(kinds) == 24
    chi_square(np.array([orders.count(kind) for kind in kinds]), np.full(24, 1 / 24))
    y = nd.random.shuffle(nd.arange(N)).asnumpy()
    independent(y)
    kolmogorov(y[: N // 4], lambda v: (v + 0.5) / N)


@pytest.mark.parametrize("many", [5, 40, 1000])
def test_unique_zipfian(many: int) -> None:
    """The first class of a row has the distribution of one draw, others that of draws without what is there."""
    mx.random.seed(59)
    share = np.log((np.arange(many) + 2.0) / (np.arange(many) + 1.0)) / math.log(many + 1)
    classes, tries = nd._internal._sample_unique_zipfian(range_max=many, shape=(8000, 2))
    x, tries = classes.asnumpy(), tries.asnumpy()
    chi_square(np.bincount(x[:, 0], minlength=many), share)
    second = (share[:, None] * share[None, :] / (1 - share[:, None])) * (1 - np.eye(many))
    chi_square(np.bincount(x[:, 1], minlength=many), second.sum(0))
    # The second class takes a geometric number of draws.
    repeated = share[x[:, 0]]
    wanted = (1 + 1 / (1 - repeated)).mean()
    spread = math.sqrt((repeated / (1 - repeated) ** 2).mean() / len(x))
    assert abs(tries.mean() - wanted) < 4.5 * spread


def test_unique_zipfian_of_all_classes() -> None:
    """Every order of all classes, and the tries that collecting them all takes."""
    mx.random.seed(61)
    share = np.log((np.arange(3) + 2.0) / (np.arange(3) + 1.0)) / math.log(4)
    classes, tries = nd._internal._sample_unique_zipfian(range_max=3, shape=(8000, 3))
    codes = classes.asnumpy() @ np.array([9, 3, 1])
    orders = [(a, b, 3 - a - b) for a in range(3) for b in range(3) if a != b]
    wanted = np.array([share[a] * share[b] / (1 - share[a]) for a, b, _ in orders])
    chi_square(np.array([(codes == 9 * a + 3 * b + c).sum() for a, b, c in orders]), wanted)
    expected = sum(w * (1 + 1 / (1 - share[a]) + 1 / share[c]) for w, (a, b, c) in zip(wanted, orders))
    assert abs(tries.asnumpy().mean() - expected) < 4.5 * tries.asnumpy().std() / math.sqrt(8000)


def test_streams_are_independent() -> None:
    """Fills one after another, of one seed and of neighbouring ones, share nothing."""
    fills = []
    for seed in (1, 2):
        mx.random.seed(seed)
        fills += [nd.random.gamma(2, 1, 20000).asnumpy(), nd.random.gamma(2, 1, 20000).asnumpy()]
        fills += [nd.random.exponential(1, 20000).asnumpy(), nd.random.uniform(0, 1, 20000).asnumpy()]
    ranks = [np.argsort(np.argsort(fill)) / 20000 - 0.5 for fill in fills]
    for i, one in enumerate(ranks):
        for two in ranks[:i]:
            assert abs((one * two).mean() / one.var()) * math.sqrt(20000) < 4.5


def test_the_tests_can_fail() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=N)
    kolmogorov(x, normal_cdf)
    independent(x)
    with pytest.raises(AssertionError):
        kolmogorov(1.05 * x, normal_cdf)
    with pytest.raises(AssertionError):
        independent(x + 0.05 * np.roll(x, 1))
    chi_square(count(rng.poisson(3, N), 40), poisson_pmf(3, 40))
    with pytest.raises(AssertionError):
        chi_square(count(rng.poisson(3.1, N), 40), poisson_pmf(3, 40))
    with pytest.raises(AssertionError):
        chi_square(np.full(10, N // 10), np.full(10, 0.1))  # too good
