"""Whether generators of random numbers follow their distributions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from mxlite._public import offer as _offer
from mxlite.test_utils._comparison import _numpy


def mean_check(generator: Callable[[int], Any], mu: float, sigma: float, nsamples: int = 1000000) -> bool:
    """Whether the mean of that many samples lies within three standard errors of `mu`."""
    samples = _numpy(generator(nsamples)).astype(np.float64)
    return abs(samples.mean() - mu) < 3 * sigma / np.sqrt(nsamples)


def var_check(generator: Callable[[int], Any], sigma: float, nsamples: int = 1000000) -> bool:
    """Whether the variance of that many normal samples lies within three standard errors of `sigma` squared."""
    samples = _numpy(generator(nsamples)).astype(np.float64)
    return abs(samples.var(ddof=1) - sigma**2) < 3 * np.sqrt(2 * sigma**4 / (nsamples - 1))


def gen_buckets_probs_with_ppf(
    ppf: Callable[[float], float], nbuckets: int
) -> tuple[list[tuple[float, float]], list[float]]:
    """Buckets of equal probability.

    Args:
        ppf: the inverse of the distribution function, such as `scipy.stats.norm.ppf`.
        nbuckets: how many buckets.
    Returns: (low, high) of each bucket, and the probability of each.
    Raises: ValueError: nbuckets is below 1.
    """
    if nbuckets < 1:
        raise ValueError(f"gen_buckets_probs_with_ppf: nbuckets is {nbuckets}; at least 1")
    borders = [ppf(i / nbuckets) for i in range(nbuckets + 1)]
    return list(zip(borders[:-1], borders[1:])), [1 / nbuckets] * nbuckets


def _chi_square_tail(statistic: float, freedom: int) -> float:
    """The probability of a chi-square number above `statistic`: Q(a, x) with a = freedom / 2, x = statistic / 2."""
    a, x = freedom / 2, statistic / 2
    if freedom == 0 or x <= 0:
        return 0.0 if x > 0 else 1.0
    if math.isinf(x):
        return 0.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:  # 1 - P(a, x), by the series of P
        term = total = 1 / a
        n = a
        while term > total * 1e-17:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - front * total)
    # Legendre's continued fraction, from its end
    value = 0.0
    for n in range(500 + int(5 * math.sqrt(a)), 0, -1):
        value = n * (n - a) / (x + 2 * n + 1 - a - value)
    return front / (x + 1 - a - value)


def _count_in_buckets(samples: np.ndarray, buckets: Sequence[Any]) -> np.ndarray:
    """How many samples are in each bucket: low <= sample < high of pairs, equal to single values."""
    pairs = [isinstance(bucket, (tuple, list)) for bucket in buckets]
    if any(pairs) != all(pairs):
        raise TypeError("chi_square_check: buckets must be all pairs of bounds, or all values")
    if not all(pairs):
        return np.array([(samples == value).sum() for value in buckets], dtype=np.int64)
    for low, high in buckets:
        if not low <= high:
            raise ValueError(f"chi_square_check: a bucket from {low} to {high}")
    for (_, high), (low, _) in zip(buckets[:-1], buckets[1:]):
        if low < high:
            raise ValueError("chi_square_check: buckets must be in ascending order and not overlap")
    counts = [((samples >= low) & (samples < high)).sum() for low, high in buckets]
    counts[-1] += (samples == buckets[-1][1]).sum()
    return np.array(counts, dtype=np.int64)


def chi_square_check(
    generator: Callable[[int], Any], buckets: Sequence[Any], probs: Sequence[float], nsamples: int = 1000000
) -> tuple[float, np.ndarray, np.ndarray]:
    """Pearson's chi-square test of a generator.

    Args:
        generator: a function of a number that returns so many samples.
        buckets: (low, high) pairs in ascending order, for continuous numbers, or values, for discrete ones.
        probs: the probability of each bucket. What they leave of 1 is that of everything outside of the buckets.
        nsamples: how many samples to draw.
    Returns: the probability that a right generator does no better (small: it is wrong), how many samples fell into
        each bucket, and how many were expected.
    Raises: ValueError, TypeError: buckets that overlap, or are of two kinds, or do not fit `probs`.
    """
    if not len(buckets) or len(buckets) != len(probs):
        raise ValueError(f"chi_square_check: {len(buckets)} buckets and {len(probs)} probabilities")
    samples = _numpy(generator(nsamples)).ravel()
    seen = _count_in_buckets(samples, buckets)
    expected = np.asarray(probs, dtype=np.float64) * samples.size
    rest, outside = samples.size - expected.sum(), samples.size - int(seen.sum())
    freedom = len(buckets) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(seen == expected, 0.0, (seen - expected) ** 2 / expected)
    statistic = float(terms.sum())
    if rest > 1e-6 * samples.size:
        statistic += (outside - rest) ** 2 / rest
        freedom += 1
    elif outside:
        statistic = math.inf
    return _chi_square_tail(statistic, freedom), seen, np.rint(expected).astype(np.int64)


def verify_generator(
    generator: Callable[[int], Any],
    buckets: Sequence[Any],
    probs: Sequence[float],
    nsamples: int = 1000000,
    nrepeat: int = 5,
    success_rate: float = 0.2,
    alpha: float = 0.05,
) -> list[float]:
    """Repeats chi_square_check and asks how often its result is above `alpha`.

    Returns: the results.
    Raises: AssertionError: fewer than `success_rate` of the `nrepeat` repetitions are.
    """
    checks = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    successes = sum(result > alpha for result, _, _ in checks)
    if successes < nrepeat * success_rate:
        last = checks[-1] if checks else (None, None, None)
        raise AssertionError(
            f"verify_generator: {successes} of {nrepeat} tests succeeded, {success_rate:.0%} were asked for; results "
            f"{[result for result, _, _ in checks]}; buckets {list(buckets)}, probabilities {list(probs)}, last counts "
            f"{last[1]}, expected {last[2]}"
        )
    return [result for result, _, _ in checks]


_offer(globals())
