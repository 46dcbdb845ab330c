"""Reference values for float64, by mpmath: every function to 200 bits, kept as the nearest double and what it lacks.

`python exact_mp.py FILE COUNT [NAME...]` writes arguments and values of functions: COUNT drawn ones each, and edges.
`tests/accuracy/hard.npz`, which `make test` reads, is made so with few; `make accuracy` takes many.
"""

from __future__ import annotations

import math
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Callable

import mpmath as mp
import numpy as np
from functions import FUNCTIONS, Function
from measure import Exact, compute, edges, errors64, pairs

mp.mp.prec = 200
#: How often arguments are drawn around the worst so far, and around how many of them.
ROUNDS, ROUND = 4, 100


def _sigmoid(x: mp.mpf) -> mp.mpf:
    return 1 / (1 + mp.exp(-x))


def _softrelu(x: mp.mpf) -> mp.mpf:
    return max(x, mp.mpf(0)) + mp.log1p(mp.exp(-abs(x)))


def _gelu(x: mp.mpf) -> mp.mpf:
    if abs(x) > 60:
        return x if x > 0 else -(mp.mpf(2) ** -2000)
    return x * mp.erfc(-x / mp.sqrt(2)) / 2


def _erf(x: mp.mpf) -> mp.mpf:
    return mp.erf(x) if abs(x) < 60 else mp.sign(x)


def _selu(x: mp.mpf) -> mp.mpf:
    scale, alpha = mp.mpf("1.0507009873554804934193349852946"), mp.mpf("1.6732632423543772848170429916717")
    return scale * (x if x > 0 else alpha * mp.expm1(x))


def _hard_sigmoid(x: mp.mpf) -> mp.mpf:
    return min(max(mp.mpf(0.200000003) * x + mp.mpf(0.5), mp.mpf(0)), mp.mpf(1))


def _gamma(x: mp.mpf) -> mp.mpf:
    if x > 200:
        return mp.mpf(2) ** 2000
    if x < -200:  # far below the smallest double, with the sign of every second interval
        return mp.mpf(2) ** -2000 * (1 if int(mp.floor(x)) % 2 == 0 else -1)
    return mp.gamma(x)


def _gammaln(x: mp.mpf) -> mp.mpf:
    if x > 0:
        return mp.loggamma(x)
    return mp.log(mp.pi / abs(mp.sinpi(x))) - mp.loggamma(1 - x)


def _digamma(x: mp.mpf) -> mp.mpf:
    return mp.psi(0, x) if x > 0 else mp.psi(0, 1 - x) - mp.pi * mp.cospi(x) / mp.sinpi(x)


def _trigamma(x: mp.mpf) -> mp.mpf:
    if x > 1e20:
        return 1 / x + 1 / (2 * x * x)
    return mp.psi(1, x) if x > 0 else (mp.pi / mp.sinpi(x)) ** 2 - mp.psi(1, 1 - x)


def _polygamma(n: int, x: mp.mpf) -> mp.mpf:
    """Below 0 by the sum over all integers."""
    sign, s = (-1) ** (n + 1), n + 1
    if x > 1e9:
        return sign * mp.factorial(n - 1) * (1 + n / (2 * x) + mp.mpf(n * (n + 1)) / (12 * x * x)) / x**n
    if x > 0:
        return sign * mp.factorial(n) * (x**-s + mp.zeta(s, x + 1))
    f = x - mp.nint(x)
    everywhere = f**-s + mp.zeta(s, 1 + f) + sign * mp.zeta(s, 1 - f)
    return mp.factorial(n) * sign * everywhere - sign * _polygamma(n, 1 - x)


def _modulo(x: mp.mpf, y: mp.mpf) -> mp.mpf:
    if abs(mp.mag(x) - mp.mag(y)) > 2200:
        raise ValueError("more digits than are kept")
    with mp.workprec(2400):
        return x - y * mp.floor(x / y)


def _erfinv(x: mp.mpf) -> mp.mpf:
    if abs(x) < mp.mpf(2) ** -100:
        return x * mp.sqrt(mp.pi) / 2
    return mp.erfinv(x)


def _cbrt(x: mp.mpf) -> mp.mpf:
    return mp.sign(x) * mp.cbrt(abs(x))


EXACT: dict[str, Callable[..., mp.mpf]] = {
    "exp": mp.exp,
    "expm1": mp.expm1,
    "log": mp.log,
    "log10": mp.log10,
    "log2": lambda x: mp.log(x) / mp.ln2,
    "log1p": mp.log1p,
    "sqrt": mp.sqrt,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "cbrt": _cbrt,
    "rcbrt": lambda x: 1 / _cbrt(x),
    "reciprocal": lambda x: 1 / x,
    "square": lambda x: x * x,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "arcsin": mp.asin,
    "arccos": mp.acos,
    "arctan": mp.atan,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "arcsinh": lambda x: mp.sign(x) * mp.asinh(abs(x)),
    "arccosh": mp.acosh,
    "arctanh": mp.atanh,
    "degrees": lambda x: x * 180 / mp.pi,
    "radians": lambda x: x * mp.pi / 180,
    "sigmoid": _sigmoid,
    "softrelu": _softrelu,
    "softsign": lambda x: x / (1 + abs(x)),
    "hard_sigmoid": _hard_sigmoid,
    "gelu": _gelu,
    "elu": lambda x: x if x > 0 else mp.expm1(x) / 4,
    "selu": _selu,
    "leaky": lambda x: x if x > 0 else x / 4,
    "rrelu": lambda x: x if x > 0 else x * mp.mpf((0.125 + 0.333999991) / 2),
    "prelu": lambda x, y: x if x > 0 else x * y,
    "smooth_l1": lambda x: x * x / 2 if abs(x) < 1 else abs(x) - mp.mpf(0.5),
    "quadratic": lambda x: x * x + 2 * x + 3,
    "erf": _erf,
    "erfinv": _erfinv,
    "gamma": _gamma,
    "gammaln": _gammaln,
    "digamma": _digamma,
    "trigamma": _trigamma,
    **{f"polygamma_{n}": partial(_polygamma, n) for n in (2, 3, 4, 10)},
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": mp.power,
    "hypot": lambda x, y: mp.sqrt(x * x + y * y),
    "modulo": _modulo,
}


def split(value: mp.mpf) -> tuple[float, float]:
    """The double next to a value, and what is lacking in units of the double's last place."""
    if abs(value) >= mp.mpf(2) ** 1024 - mp.mpf(2) ** 970:
        return math.copysign(math.inf, mp.sign(value)), 0.0
    near = math.copysign(float(value), mp.sign(value))
    unit = float(np.spacing(min(abs(near), 2.0**1023)))
    rest = float((value - mp.mpf(near)) / mp.mpf(unit))
    if abs(rest) > 0.5:  # below the smallest normal number mpmath rounds twice
        near, rest = near + math.copysign(unit, rest), rest - math.copysign(1, rest)
    return near, rest


def value(function: Function, arguments: tuple[float, ...], kind: float) -> tuple[float, float]:
    """The function of numbers; `kind` is what exact.c has, which decides where a result is NaN, a pole, or a zero."""
    if math.isnan(kind) or not all(map(math.isfinite, arguments)):
        return kind, 0.0
    numbers = [mp.mpf(each) for each in arguments]
    if function.scalar is not None:
        numbers.insert(0 if function.swapped else 1, mp.mpf(function.scalar))
    try:
        exact = EXACT[function.exact](*numbers)
    except (ValueError, ZeroDivisionError):  # a pole
        return kind, 0.0
    if isinstance(exact, mp.mpc):
        raise AssertionError(f"{function.name}{arguments} is complex")
    if exact == 0 or not mp.isfinite(exact):
        return kind if exact != 0 else math.copysign(0.0, kind), 0.0
    return split(exact)


def neighbours(points: tuple[float, ...]) -> np.ndarray:
    """Each point, the doubles beside it, and others at distances of 2^-4 down to 2^-50 of it."""
    steps = [0, *(sign * 2.0**-k for k in (*range(4, 52, 4), 51, 52) for sign in (1, -1))]
    values = np.array([point * (1 + step) for point in points for step in steps])
    return np.concatenate([values, -values])


def arguments(function: Function, count: int, random: np.random.Generator) -> list[np.ndarray]:
    """Edges, neighbours of the function's own points, and draws of all sizes."""
    if function.inputs == 2:
        return pairs(function, int(random.integers(1 << 30)), count, np.float64)
    part = count // 5
    bits = random.integers(0, 1 << 64, part, dtype=np.uint64).view(np.float64)
    usual = random.uniform(-1, 1, 2 * part) * 2.0 ** random.integers(-4, 6, 2 * part)
    wide = random.uniform(-750, 750, part)
    one = (1 + random.uniform(-1, 1, part) * 2.0 ** random.integers(-52, 0, part)) * random.choice([-1, 1], part)
    own = [neighbours(function.points)]
    for point in function.points:
        own.append(point * (1 + random.uniform(-1, 1, part // 10) * 2.0 ** random.integers(-40, -2, part // 10)))
    x = np.concatenate([bits, usual, wide, one, *own])
    return [np.unique(np.concatenate([x[np.isfinite(x)], edges(np.float64)]).view(np.uint64)).view(np.float64)]


def values(exact: Exact, function: Function, arrays: list[np.ndarray]) -> np.ndarray:
    """A row (near, rest) for each argument."""
    kinds = exact.values(function, arrays)
    columns = zip(*(array.tolist() for array in arrays))
    return np.array([value(function, row, kind) for row, kind in zip(columns, kinds.tolist())])


def around(function: Function, arrays: list[np.ndarray], found: np.ndarray, random: np.random.Generator) -> list:
    """Arguments around those where the library is off the most."""
    error, _ = errors64(function, found[:, 0], found[:, 1], compute("mxlite", function, arrays))
    worst = np.argsort(error)[-ROUND:]
    steps = 2.0 ** random.integers(-44, -4, (len(arrays), 10, ROUND)) * random.uniform(-1, 1, (len(arrays), 10, ROUND))
    with np.errstate(all="ignore"):
        return [(array[worst] * (1 + step)).ravel() for array, step in zip(arrays, steps)]


def table(count: int, names: list[str]) -> dict[str, np.ndarray]:
    """Arguments and values of functions: KEY/x, KEY/y, KEY/near, KEY/rest."""
    found: dict[str, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as folder:
        exact = Exact.build(Path(folder))
    for function in FUNCTIONS:
        if f"{function.key}/x" in found or (names and function.name not in names):
            continue
        random = np.random.default_rng(sum(function.key.encode()))
        arrays = arguments(function, count, random)
        rows = values(exact, function, arrays)
        for _ in range(ROUNDS if count > ROUND else 0):
            more = around(function, arrays, rows, random)
            rows = np.concatenate([rows, values(exact, function, more)])
            arrays = [np.concatenate(each) for each in zip(arrays, more)]
        for name, array in zip("xy", arrays):
            found[f"{function.key}/{name}"] = array
        found[f"{function.key}/near"] = rows[:, 0]
        found[f"{function.key}/rest"] = np.rint(rows[:, 1] * 65000).astype(np.int16)
    return found


if __name__ == "__main__":
    np.savez_compressed(sys.argv[1], **table(int(sys.argv[2]), sys.argv[3:]))
