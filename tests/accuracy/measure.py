"""Errors in units of the last place: the library, NumPy and PyTorch against exact values.

The unit of the last place of a value v, 2^e <= |v| < 2^(e+1), is 2^(e-23) in float32 and 2^(e-52) in float64, and that
of the smallest normal number for everything below it. An infinite result counts as 2^128 (2^1024).
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from functions import Function

import mxlite as mx
from mxlite.ndarray._operators import Operator, run
from mxlite.ndarray.ndarray import NDArray

HERE = Path(__file__).resolve().parent
#: Vector levels of the library, the narrowest first: x86-64's, and aarch64's.
LEVELS = ("baseline", "avx2", "avx512", "neon", "dotprod")
INT = ctypes.c_int64


@dataclass
class Worst:
    """The largest error and the arguments that it occurred at; how many results are of the wrong kind, and one of them.

    Of the wrong kind: NaN, infinite or a zero of the other sign, where the exact value is not; or the other way round.
    """

    error: float = 0.0
    at: tuple[float, ...] | None = None
    wrong: int = 0
    wrong_at: tuple[float, ...] | None = None

    def add(self, other: Worst) -> None:
        """The worse of both."""
        if other.error > self.error:
            self.error, self.at = other.error, other.at
        self.wrong_at = self.wrong_at or other.wrong_at
        self.wrong += other.wrong


# ---- who computes ----


def levels() -> list[str]:
    """The vector levels that this processor has."""
    found = []
    for level in LEVELS:
        command = [sys.executable, "-c", "import mxlite as mx; mx.nd.ones(1)"]
        done = subprocess.run(command, env={**os.environ, "MXLITE_VECTOR_LEVEL": level}, capture_output=True, text=True)
        if done.returncode == 0:
            found.append(level)
        elif "has not got" not in done.stderr:
            raise RuntimeError(done.stderr)
    return found


def _mxlite(function: Function, arrays: list[np.ndarray], op: str = "") -> np.ndarray:
    operator = Operator(op or function.op)
    inputs = [mx.nd.array(array, dtype=array.dtype) for array in arrays]
    inputs += inputs * (op == "LogisticRegressionOutput")  # its label, which only the gradient reads
    out = run(operator, [each._h for each in inputs], dict(function.params), None, NDArray)
    return (out[0] if isinstance(out, list) else out).asnumpy()


def _numpy(function: Function, arrays: list[np.ndarray]) -> np.ndarray:
    with np.errstate(all="ignore"):
        return function.numpy(np, *arrays)


def _torch(function: Function, arrays: list[np.ndarray]) -> np.ndarray:
    import torch

    return function.torch(torch, *(torch.from_numpy(array) for array in arrays)).numpy()


def compute(who: str, function: Function, arrays: list[np.ndarray]) -> np.ndarray | None:
    """The function of arrays of one dtype by "mxlite", "numpy" or "torch"; None where it has no such function."""
    if who == "mxlite":
        return _mxlite(function, arrays)
    if getattr(function, who) is None:
        return None
    out = (_numpy if who == "numpy" else _torch)(function, arrays)
    assert out.dtype == arrays[0].dtype, f"{who}: {function.name} of {arrays[0].dtype} gives {out.dtype}"
    return out


def compute_also(function: Function, arrays: list[np.ndarray]) -> dict[str, np.ndarray]:
    """What the other operators of the function give."""
    return {op: _mxlite(function, arrays, op) for op in function.also}


# ---- float32 ----


class _Worst(ctypes.Structure):
    _fields_ = [("error", ctypes.c_double), ("at", INT), ("wrong", INT), ("wrong_at", INT)]


def _pointer(array: np.ndarray | None) -> int | None:
    return None if array is None else array.ctypes.data


class Exact:
    """exact.c as a library: references in double, and the comparison of floats with them."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))

    @classmethod
    def build(cls, folder: Path, compiler: str = "cc") -> Exact:
        """Compiles exact.c in a folder."""
        library = folder / "exact.so"
        flags = ["-std=gnu17", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, "-o", str(library), str(HERE / "exact.c"), "-lm"], check=True)
        return cls(library)

    def values(self, function: Function, arrays: list[np.ndarray]) -> np.ndarray:
        """The function in double, which for float32 arguments is exact enough."""
        x, *others = (np.ascontiguousarray(array) for array in arrays)
        y = others[0] if others else None
        if function.scalar is not None:
            x, y = x, np.full(x.shape, function.scalar, x.dtype)
            if function.swapped:
                x, y = y, x
        out = np.empty(x.shape)
        call = self._library.accuracy_exact_f32 if x.dtype == np.float32 else self._library.accuracy_exact
        pointers = (ctypes.c_void_p(_pointer(each)) for each in (x, y, out))
        if call(function.exact.encode(), INT(x.size), *pointers) != 0:
            raise LookupError(f"exact.c has no {function.exact}")
        return out

    def compare(self, function: Function, arrays: list[np.ndarray], exact: np.ndarray, got: np.ndarray) -> Worst:
        """How far float32 results are off."""
        found = _Worst(0, -1, 0, -1)
        got = np.ascontiguousarray(got, np.float32)
        self._library.accuracy_compare(
            INT(got.size),
            ctypes.c_void_p(exact.ctypes.data),
            ctypes.c_void_p(got.ctypes.data),
            ctypes.c_double(function.least),
            ctypes.byref(found),
        )

        def arguments(i: int) -> tuple[float, ...] | None:
            return None if i < 0 else tuple(float(array[i]) for array in arrays)

        return Worst(found.error, arguments(found.at), found.wrong, arguments(found.wrong_at))


# ---- float64 ----


def values64(table: Any, function: Function) -> tuple[np.ndarray, np.ndarray]:
    """The values that a file of exact_mp.py has: the nearest doubles, and what they lack in units of the last place."""
    return table[f"{function.key}/near"], table[f"{function.key}/rest"] / 65000


def errors64(function: Function, near: np.ndarray, rest: np.ndarray, got: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each float64 result is off a value that is `near`, and `rest` of its last place more; which are wrong."""
    with np.errstate(all="ignore"):
        size = np.abs(near)
        wrong = np.isnan(near) != np.isnan(got)
        wrong |= np.isinf(near) & ~(np.isnan(got) | np.isinf(got))
        wrong |= np.isinf(got) & (size < 2.0**1023)
        wrong |= ((got == 0) | np.isinf(got)) & (np.signbit(got) != np.signbit(near)) & ~np.isnan(near)
        # In halves, so that an infinity can count as 2^1024.
        unit = np.spacing(np.minimum(size, 2.0**1023))
        half = np.where(np.isinf(got), np.copysign(2.0**1023, got), got / 2)
        tiny = size < 2.0**-1020
        error = np.where(tiny, (got - near) / unit, (half - near / 2) / (unit / 2)) - rest
        least = np.maximum(unit, np.spacing(function.least) if function.least else 0)
        error = np.abs(error) * (unit / least)
        error[wrong | np.isnan(near) | np.isinf(near)] = 0
    return error, wrong


def compare64(
    function: Function, arrays: list[np.ndarray], near: np.ndarray, rest: np.ndarray, got: np.ndarray
) -> Worst:
    """The worst of these errors."""
    error, wrong = errors64(function, near, rest, got)

    def arguments(i: int) -> tuple[float, ...]:
        return tuple(float(array[i]) for array in arrays)

    worst = Worst(wrong=int(wrong.sum()))
    if worst.wrong:
        worst.wrong_at = arguments(int(np.argmax(wrong)))
    at = int(np.argmax(error))
    if error[at] > 0:
        worst.error, worst.at = float(error[at]), arguments(at)
    return worst


# ---- arguments ----


def floats(seed: int, count: int) -> np.ndarray:
    """`count` floats of all exponents and signs, then edges: zeros, the smallest, the largest, NaN, whole numbers."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, 1 << 32, count // 2, dtype=np.uint32)
    usual = random.uniform(-1, 1, count - count // 2) * 2.0 ** random.integers(-3, 8, count - count // 2)
    return np.concatenate([bits.view(np.float32), usual.astype(np.float32), edges(np.float32)])


def edges(dtype: Any) -> np.ndarray:
    """Special values of both signs, with their neighbours."""
    info = np.finfo(dtype)
    whole = [*range(1, 40), 64, 88, 89, 100, 103, 104, 128, 127, 149, 150, 171, 709, 745, 1000, 1024, 1074]
    sizes = [0, info.smallest_subnormal, info.tiny, info.eps, 0.25, 0.5, 0.75, 1.5, *whole, info.max, np.inf]
    values = np.array(sizes, dtype)
    with np.errstate(over="ignore"):
        values = np.concatenate([values, np.nextafter(values, dtype(0)), np.nextafter(values, dtype(np.inf))])
    return np.concatenate([values, -values, np.array([np.nan], dtype)])


def pairs(function: Function, seed: int, count: int, dtype: Any) -> list[np.ndarray]:
    """Two arrays: all pairs of some edges, then draws; for powers, of which most are in range."""
    random = np.random.default_rng(seed)
    few = np.array([0, 1e-40, 0.5, 1, 1.5, 2, 3, 4, 7, 1e10, 3e38, np.inf], dtype)
    few = np.concatenate([few, -few, np.array([np.nan], dtype)])
    x, y = (each.ravel() for each in np.meshgrid(few, few))
    top = np.log2(np.finfo(dtype).max)
    shape = (4, count // 4)
    a = 2.0 ** random.uniform(-top, top, shape)
    a[1] = 1 + random.uniform(-1, 1, shape[1]) * 2.0 ** random.uniform(-20, -1, shape[1])
    a[2] = random.uniform(0, 20, shape[1])
    if function.exact == "power":
        rounded = a.astype(dtype).astype(np.float64)
        with np.errstate(all="ignore"):
            b = random.uniform(-1.2, 1.1, shape) * top / np.log2(rounded)
        b[2] = np.rint(random.uniform(-30, 30, shape[1])) / random.integers(1, 3, shape[1])
        a[3] = np.where(random.integers(0, 2, shape[1]), a[3], -a[3])
        b[3] = np.where(a[3] < 0, np.rint(b[3]), b[3])
    else:
        with np.errstate(over="ignore"):
            b = a * 2.0 ** random.uniform(-30, 30, shape) * random.choice([-1, 1], shape)
        a *= random.choice([-1, 1], shape)
    with np.errstate(over="ignore"):
        return [
            np.concatenate([first, second.ravel().astype(dtype)]) for first, second in ((x, a), (y, np.nan_to_num(b)))
        ]


# ---- results ----


def save(results: dict[str, Any], path: Path) -> None:
    """Writes what was measured, a line for each function."""
    parts = []
    for name, part in sorted(results.items()):
        rows = (f"{json.dumps(key)}: {json.dumps(row, sort_keys=True)}" for key, row in sorted(part.items()))
        parts.append(json.dumps(name) + ": {\n" + ",\n".join(rows) + "\n}")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
