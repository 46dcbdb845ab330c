"""The references of _mxl_special: special functions of NumPy arrays, in float64, by other ways than the library's.

Where a series would lose digits, integrals over smooth functions are sums over nodes; large arguments have asymptotic
series. Errors are some units of the fourteenth digit, for airy_ai near -8 of the twelfth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

Array = np.ndarray

_EULER = 0.57721566490153286061
_FAR = 25.0


def _pieces(x: Array, *rows: tuple[Callable[[Array], Any], Callable[[Array], Any]]) -> Array:
    """Of each element what the function beside the first test that holds makes of it; NaN where none does."""
    x = np.asarray(x, np.float64)
    made, left = np.full(x.shape, np.nan), np.ones(x.shape, bool)
    with np.errstate(all="ignore"):
        for test, function in rows:
            chosen = left & test(x)
            if chosen.any():
                made[chosen] = function(x[chosen])
            left &= ~chosen
    return made


@cache
def _nodes() -> tuple[Array, Array]:
    """Of Gauss's sums, from -1 to 1, with their weights."""
    return np.polynomial.legendre.leggauss(100)


def _integral(function: Callable[[Array], Array], end: Array) -> Array:
    """From 0 to an end for each row; `function`: of a column of nodes for each."""
    half, (nodes, weights) = np.asarray(end)[..., None] / 2, _nodes()
    return np.asarray((function(half * (nodes + 1)) * weights * half).sum(-1))


def _alternating(terms: list[Array]) -> Any:
    return sum((-1) ** k * each for k, each in enumerate(terms))


def _hankel(n: float, x: Array, count: int = 22) -> list[Array]:
    """The terms a_k(n) / x^k of asymptotic series."""
    terms = [np.ones_like(x)]
    for k in range(1, count):
        terms.append(terms[-1] * (4 * n * n - (2 * k - 1) ** 2) / (8 * k * x))
    return terms


def _waves(n: float, x: Array) -> tuple[Array, Array]:
    """J_n and Y_n far from 0."""
    terms, phase = _hankel(n, x), x - (n / 2 + 0.25) * np.pi
    p, q = _alternating(terms[::2]), _alternating(terms[1::2])
    scale = np.sqrt(2 / (np.pi * x))
    return scale * (p * np.cos(phase) - q * np.sin(phase)), scale * (p * np.sin(phase) + q * np.cos(phase))


def _circle(n: int, x: Array, function: Callable[[Array, Array], Array]) -> Array:
    """The mean over a period."""
    angles = np.arange(96) * (2 * np.pi / 96)
    return np.asarray(function(angles, x[..., None]).mean(-1))


def bessel_j(n: int, x: Array) -> Array:
    """J_n, n 0 or 1."""
    return _pieces(
        x,
        (np.isinf, lambda x: 0.0 * np.sign(x)),
        (lambda x: (x == 0) & (n == 1), lambda x: x),
        (lambda x: np.abs(x) <= _FAR, lambda x: _circle(n, x, lambda t, x: np.cos(n * t - x * np.sin(t)))),
        (lambda x: np.abs(x) > _FAR, lambda x: np.sign(x) ** n * _waves(n, np.abs(x))[0]),
    )


def _harmonic(k: int) -> float:
    return math.fsum(1 / j for j in range(1, k + 1))


def _factors(n: int, k: int) -> float:
    """What the second solutions' series have beside the first one's terms: psi(k + 1) + psi(k + n + 1)."""
    return _harmonic(k) + _harmonic(k + n) - 2 * _EULER


def _near(n: int, x: Array, sign: int) -> tuple[Array, Array]:
    """Near 0, the first solution of order n, and the sum with _factors."""
    terms = [(sign * x * x / 4) ** k * (x / 2) ** n / (math.factorial(k) * math.factorial(k + n)) for k in range(20)]
    return sum(terms), sum(_factors(n, k) * term for k, term in enumerate(terms))


def _y_near(n: int, x: Array) -> Array:
    first, other = _near(n, x, -1)
    return (2 * np.log(x / 2) * first - other - (2 / x if n else 0)) / np.pi


def _y_between(n: int, x: Array) -> Array:
    column = x[..., None]
    first = _integral(lambda t: np.sin(column * np.sin(t) - n * t), np.full(x.shape, np.pi))
    second = _integral(
        lambda t: (np.exp(n * t) + (-1) ** n * np.exp(-n * t)) * np.exp(-column * np.sinh(t)), np.arcsinh(45 / x)
    )
    return (first - second) / np.pi


def bessel_y(n: int, x: Array) -> Array:
    """Y_n, n 0 or 1: -inf at 0, NaN below."""
    return _pieces(
        x,
        (lambda x: x == 0, lambda x: -np.inf),
        (lambda x: x == np.inf, lambda x: 0.0),
        (lambda x: (x > 0) & (x <= 2), lambda x: _y_near(n, x)),
        (lambda x: (x > 0) & (x <= _FAR), lambda x: _y_between(n, x)),
        (lambda x: x > _FAR, lambda x: _waves(n, x)[1]),
    )


def _i_far(n: int, x: Array) -> Array:
    return _alternating(_hankel(n, x)) / np.sqrt(2 * np.pi * x)


def bessel_i_scaled(n: int, x: Array) -> Array:
    """exp(-|x|) I_n, n 0 or 1."""
    size, mean = np.abs(np.asarray(x, np.float64)), lambda t, x: np.exp(x * (np.cos(t) - 1)) * np.cos(n * t)
    made = _pieces(
        size,
        (np.isinf, lambda x: 0.0),
        (lambda x: x <= 1, lambda x: _near(n, x, 1)[0] * np.exp(-x)),
        (lambda x: x <= _FAR, lambda x: _circle(n, x, mean)),
        (lambda x: x > _FAR, lambda x: _i_far(n, x)),
    )
    return made * (np.sign(x) if n else 1)


def bessel_i(n: int, x: Array) -> Array:
    """I_n, n 0 or 1."""
    size = np.abs(np.asarray(x, np.float64))
    with np.errstate(all="ignore"):
        half = np.exp(size / 2)
        return np.where(np.isinf(size), np.sign(x) ** n * np.inf, bessel_i_scaled(n, x) * half * half)


def _k_near(n: int, x: Array) -> Array:
    first, other = _near(n, x, 1)
    sign = -1 if n == 0 else 1
    return (1 / x if n else 0) + sign * (np.log(x / 2) * first - other / 2)


def _k_far(n: float, x: Array) -> Array:
    """exp(x) K_n, by the integral."""
    column = x[..., None]
    end = np.arccosh(1 + 45 / x)
    return _integral(lambda t: np.exp(-column * 2 * np.sinh(t / 2) ** 2) * np.cosh(n * t), end)


def bessel_k_scaled(n: int, x: Array) -> Array:
    """exp(x) K_n, n 0 or 1: inf at 0, NaN below."""
    return _pieces(
        x,
        (lambda x: x == 0, lambda x: np.inf),
        (lambda x: x == np.inf, lambda x: 0.0),
        (lambda x: (x > 0) & (x <= 2), lambda x: _k_near(n, x) * np.exp(x)),
        (lambda x: x > 2, lambda x: _k_far(n, x)),
    )


def bessel_k(n: int, x: Array) -> Array:
    """K_n, n 0 or 1: inf at 0, NaN below."""
    return _pieces(
        x,
        (lambda x: x == np.inf, lambda x: 0.0),
        (lambda x: (x > 0) & (x <= 2), lambda x: _k_near(n, x)),
        (lambda x: x >= 0, lambda x: bessel_k_scaled(n, x) * np.exp(-x)),
    )


def spherical_bessel_j0(x: Array) -> Array:
    """sin(x) / x, 1 at 0."""
    return _pieces(
        x, (lambda x: x == 0, lambda x: 1.0), (np.isinf, lambda x: 0.0), (np.isfinite, lambda x: np.sin(x) / x)
    )


def _airy_near(x: Array) -> Array:
    cube = x.astype(np.longdouble) ** 3
    one = np.longdouble("0.35502805388781723926") * np.ones_like(cube)
    other = np.longdouble("-0.25881940379280679841") * x
    made = one + other
    for k in range(1, 90):
        one, other = one * cube / ((3 * k - 1) * (3 * k)), other * cube / ((3 * k) * (3 * k + 1))
        made = made + one + other
    return np.asarray(made.astype(np.float64))


def _airy_right(x: Array) -> Array:
    zeta = 2 / 3 * x**1.5
    return np.sqrt(x / 3) / np.pi * _k_far(1 / 3, zeta) * np.exp(-zeta)


def _airy_left(x: Array) -> Array:
    zeta = 2 / 3 * (-x) ** 1.5
    terms = [np.ones_like(x)]
    for k in range(1, 22):
        terms.append(terms[-1] * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1) * zeta))
    p, q = _alternating(terms[::2]), _alternating(terms[1::2])
    phase = zeta + np.pi / 4
    return (np.sin(phase) * p - np.cos(phase) * q) / (np.sqrt(np.pi) * (-x) ** 0.25)


def airy_ai(x: Array) -> Array:
    """Ai."""
    return _pieces(
        x,
        (lambda x: x == np.inf, lambda x: 0.0),
        (lambda x: np.abs(x) <= 1, _airy_near),
        (lambda x: x > 1, _airy_right),
        (lambda x: (x < 0) & (x >= -8), _airy_near),
        (lambda x: x < -8, _airy_left),
    )


def _erfcx_right(x: Array) -> Array:
    column, end = x[..., None], np.minimum(6.2, 20 / np.maximum(x, 1e-300))
    return 2 / np.sqrt(np.pi) * _integral(lambda t: np.exp(-t * t - 2 * column * t), end)


def erfcx(x: Array) -> Array:
    """exp(x^2) erfc(x)."""
    return _pieces(
        x,
        (lambda x: x == np.inf, lambda x: 0.0),
        (lambda x: x >= 0, _erfcx_right),
        (lambda x: x < -30, lambda x: np.inf),
        (lambda x: x < 0, lambda x: 2 * np.exp(x * x) - _erfcx_right(-x)),
    )


def ndtri(x: Array) -> Array:
    """The inverse of the normal distribution's function."""
    from statistics import NormalDist  # which takes 3 ms to import

    inverse = np.vectorize(NormalDist().inv_cdf, otypes=[np.float64])
    return _pieces(
        x, (lambda x: x == 0, lambda x: -np.inf), (lambda x: x == 1, lambda x: np.inf),
        (lambda x: (x > 0) & (x < 1), inverse),
    )  # fmt: skip


_log_gamma = np.vectorize(lambda x: math.lgamma(x) if x > 0 or x != int(x) else math.inf, otypes=[np.float64])


def igamma(a: Array, x: Array, upper: bool = False) -> Array:
    """The regularised incomplete gamma functions P(a, x), or Q(a, x)."""
    a, x = (np.array(each, np.float64) for each in np.broadcast_arrays(a, x))
    made = np.full(a.shape, np.nan)
    with np.errstate(all="ignore"):
        is_above = ((a == 0) & (x > 0)) | ((x == np.inf) & (a >= 0) & (a < np.inf))
        is_below = ((x == 0) & (a > 0)) | ((a == np.inf) & (x >= 0) & (x < np.inf))
        made[is_above], made[is_below] = (0.0, 1.0) if upper else (1.0, 0.0)
        plain = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
        a, x = a[plain], x[plain]
        scale = np.exp(a * np.log(x) - x - _log_gamma(a)) if a.size else a
        term = total = 1 / a
        for k in range(1, 3000):  # the series, for x below a + 1
            term = term * np.where(x < a + 1, x, 0) / (a + k)
            total = total + term
            if not (term > total * 1e-17).any():
                break
        b = x + 1 - a  # the continued fraction, by Lentz
        c, d = np.full(a.shape, 1e300), 1 / np.where(b == 0, 1e-300, b)
        h = d
        for k in range(1, 3000):
            step, b = -k * (k - a), b + 2
            d = 1 / (step * d + b)
            c = b + step / c
            h, before = h * c * d, h
            if not (np.abs(h - before) > np.abs(h) * 1e-16)[x >= a + 1].any():
                break
        lower = np.where(x < a + 1, scale * total, 1 - scale * h)
        made[plain] = np.where(x < a + 1, 1 - lower, scale * h) if upper else lower
    return made


#: B_2k / (2k)!
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
              -3617 / 10670622842880000)  # fmt: skip


def zeta(x: Array, q: Array) -> Array:
    """Hurwitz's zeta function, of x above 1: inf at 1 and at q = 0, -1, ..."""
    x, q = (np.array(each, np.float64) for each in np.broadcast_arrays(x, q))
    with np.errstate(all="ignore"):
        total, count = 0.0 * q, 12
        for k in range(count):
            total = total + (q + k) ** -x
        end = q + count
        total = total + end ** (1 - x) / (x - 1) + 0.5 * end**-x
        rising, power = x, end ** (-x - 1)
        for k, factor in enumerate(_BERNOULLI):
            total = total + factor * rising * power
            rising, power = rising * (x + 2 * k + 1) * (x + 2 * k + 2), power / end**2
        total = np.where(x == np.inf, np.where(q > 1, 0.0, np.where(q == 1, 1.0, np.inf)), total)
    total = np.where((q <= 0) & (x != np.floor(x)), np.nan, total)
    total = np.where((q <= 0) & (q == np.floor(q)), np.inf, total)
    return np.where(x == 1, np.inf, np.where((x < 1) | np.isnan(q), np.nan, total))


#: Polynomials: that of order 1, and of k and x what P(k + 1) is of P(k) and P(k - 1).
_RECURRENCES: dict[str, tuple[Callable, Callable]] = {
    "chebyshev_t": (lambda x: x, lambda k, x: (2 * x, 1)),
    "chebyshev_u": (lambda x: 2 * x, lambda k, x: (2 * x, 1)),
    "chebyshev_v": (lambda x: 2 * x - 1, lambda k, x: (2 * x, 1)),
    "chebyshev_w": (lambda x: 2 * x + 1, lambda k, x: (2 * x, 1)),
    "hermite_h": (lambda x: 2 * x, lambda k, x: (2 * x, 2 * k)),
    "hermite_he": (lambda x: x, lambda k, x: (x, k)),
    "laguerre_l": (lambda x: 1 - x, lambda k, x: ((2 * k + 1 - x) / (k + 1), k / (k + 1))),
    "legendre_p": (lambda x: x, lambda k, x: ((2 * k + 1) * x / (k + 1), k / (k + 1))),
}


def polynomial(name: str, x: Array, n: Array) -> Array:
    """The orthogonal polynomial of order n, 0 of one below 0."""
    x, n = (np.asarray(each) for each in np.broadcast_arrays(np.asarray(x, np.float64), np.trunc(n)))
    first, step = _RECURRENCES[name]
    before, at = np.ones(x.shape), first(x)
    made = np.where(n == 0, before, np.where(n == 1, at, 0.0))
    with np.errstate(all="ignore"):
        for k in range(1, int(n.max(initial=0))):
            by, less = step(k, x)
            before, at = at, by * at - less * before
            made = np.where(n == k + 1, at, made)
    return made
