"""The row type of the operator case table, and the generator of its inputs.

Pure data and NumPy: nothing here imports mxlite or mxnet, so that the same rows drive the tests
of mxlite, the making of the reference answers under MXNet 1.9.1, and any other checker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Callable

import numpy as np

__all__ = ["Case", "In", "TOLERANCE", "generate", "heads"]

#: (rtol, atol) per output dtype where a case says nothing; every other dtype must agree exactly.
TOLERANCE = {"float16": (4e-3, 4e-3), "float32": (2e-5, 2e-6), "float64": (1e-11, 1e-12)}

_MASK = (1 << 64) - 1


def _seed(text: str) -> int:
    """FNV-1a, 64 bits, of the text's UTF-8 bytes."""
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8"):
        value = ((value ^ byte) * 0x100000001B3) & _MASK
    return value


def _bits(text: str, count: int) -> np.ndarray:
    """`count` 64-bit words of the SplitMix64 sequence seeded by `text`: integers only, so the same bits everywhere."""
    with np.errstate(over="ignore"):
        step = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = step + np.uint64(_seed(text))
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def generate(key: str, shape: Sequence[int], dtype: str, domain: str | tuple) -> np.ndarray:
    """An array of the given shape and dtype, a function of the arguments alone.

    Domains: `real` [-2, 2], `positive` [1/4, 17/4], `unit` (-1, 1), `away` 1/4 <= |x| <= 2 (both signs),
    `distinct` (all elements differ by at least 1/8, shuffled), `bool`, `("int", low, high)` (both ends included).
    Floating values are multiples of 2**-9: exact in every float dtype, so all dtypes see the same numbers.
    """
    count = int(np.prod(shape, dtype=np.int64))
    bits = _bits(key, count)
    if isinstance(domain, tuple):
        kind, low, high = domain
        assert kind == "int"
        flat = (bits % np.uint64(high - low + 1)).astype(np.int64) + low
    elif domain == "bool":
        flat = (bits >> np.uint64(63)).astype(np.int64)
    elif domain == "distinct":
        order = np.argsort(bits, kind="stable")
        flat = (order - count // 2).astype(np.float64) / 8.0
    else:
        if domain == "real":
            flat = (bits % np.uint64(2049)).astype(np.float64) / 512.0 - 2.0
        elif domain == "positive":
            flat = (bits % np.uint64(2049)).astype(np.float64) / 512.0 + 0.25
        elif domain == "unit":
            flat = (bits % np.uint64(1001)).astype(np.float64) / 512.0 - 500.0 / 512.0
        elif domain == "away":
            size = ((bits >> np.uint64(1)) % np.uint64(897)).astype(np.float64) / 512.0 + 0.25
            flat = np.where((bits & np.uint64(1)) == 0, size, -size)
        else:
            raise ValueError(f"unknown domain {domain!r}")
    return flat.astype(dtype).reshape(tuple(shape))


#: Tests ask for the same inputs again and again; only small ones are drawn.
_generated = lru_cache(maxsize=None)(generate)


@dataclass(frozen=True)
class In:
    """One input array: a shape, a dtype and a domain to draw from, or the values themselves."""

    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    domain: str | tuple = "real"
    values: Any = None

    def array(self, key: str) -> np.ndarray:
        """The NumPy array of this input; `key` names it (case id and position)."""
        if self.values is not None:
            return np.array(self.values, dtype=self.dtype)
        return _generated(key, tuple(self.shape), self.dtype, self.domain).copy()

    def like(self, dtype: str) -> In:
        """The same input in another dtype."""
        return In(self.shape, dtype, self.domain, self.values)


@dataclass(frozen=True)
class Case:
    """One row: an operator call, what it must answer, and how its gradient is checked.

    op, label       registered operator name; `op/label` is the id, unique, and seeds the inputs
    inputs          `In` rows
    params          parameters as Python values; `strings()` is what goes through the C API
    forward         NumPy: forward(*arrays, **params) -> array or tuple of arrays, of the result's dtype and shape;
                    outputs first, then the new contents of the inputs in `mutates`. None: compare with 1.9.1 only
    order           highest derivative checked by differences (0, 1, 2) with respect to the inputs in `diff`, all
                    floating inputs in float64 (`arrays("float64")`) and the parameters as they are
    diff            positions of the inputs whose gradient is taken (also for the comparison with 1.9.1)
    symmetric       the inputs in `diff` are symmetric matrices of which one triangle is read: their gradient is that
                    among symmetric matrices, and differences are taken along such directions
    tolerance       (rtol, atol) per dtype where TOLERANCE is not it
    defined         the gradient is defined, not derived (BlockGrad, ties, kinks): compared with 1.9.1 only
    random          answers differ from run to run: `check(outputs, inputs, params)` returns "" or what is wrong
    error           the call must fail
    np_shape        call in NumPy-shape mode (zero extents, scalars)
    train           call (and record) in training mode
    mutates         positions of the inputs that the operator updates in place
    updates         positions of the inputs that its backward updates in training mode (statistics of BatchNorm)
    out             shapes and dtypes of outputs that the caller gives, zeros beforehand; None: the library allocates
    oracle          "" (1.9.1 must agree), "skip: why" (not asked: it crashes, or answers garbage),
                    "differs: why" (asked, and known to answer otherwise: a row of docs/compatibility.md),
                    "forward: why" (outputs must agree, gradients are not compared)
    """

    op: str
    label: str
    inputs: tuple[In, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    forward: Callable[..., Any] | None = None
    order: int = 0
    diff: tuple[int, ...] = ()
    symmetric: bool = False
    tolerance: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    defined: bool = False
    random: bool = False
    check: Callable[..., str] | None = None
    error: bool = False
    np_shape: bool = False
    train: bool = False
    mutates: tuple[int, ...] = ()
    updates: tuple[int, ...] = ()
    out: tuple[tuple[tuple[int, ...], str], ...] | None = None
    oracle: str = ""

    @property
    def id(self) -> str:
        """`op/label`, unique over the table."""
        return f"{self.op}/{self.label}"

    @property
    def agreed(self) -> bool:
        """Whether 1.9.1 has the operator, was asked for its answer, and is known to give the same."""
        return not (self.random or self.op.startswith("_mxl_") or self.oracle.startswith(("skip", "differs")))

    def arrays(self, dtype: str | None = None) -> list:
        """The inputs as NumPy arrays; `dtype` replaces that of every floating input (for differences in float64)."""
        rows = []
        for position, row in enumerate(self.inputs):
            array = row.array(f"{self.id}#{position}")
            rows.append(array.astype(dtype) if dtype and array.dtype.kind == "f" else array)
        return rows

    def strings(self) -> dict:
        """The parameters as the strings that go through the C API."""
        return {key: value if isinstance(value, str) else str(value) for key, value in self.params.items()}

    def expected(self, arrays: Sequence[np.ndarray] | None = None) -> tuple[np.ndarray, ...]:
        """What `forward` says, always as a tuple. Raises TypeError for a case without one."""
        if self.forward is None:
            raise TypeError(f"{self.id} has no NumPy function")
        with np.errstate(all="ignore"):
            result = self.forward(*(self.arrays() if arrays is None else arrays), **self.params)
        return tuple(result) if isinstance(result, (tuple, list)) else (result,)

    def close(self, dtype: str) -> tuple[float, float]:
        """(rtol, atol) for an output of this dtype; (0, 0) means equal."""
        return self.tolerance.get(dtype, TOLERANCE.get(dtype, (0.0, 0.0)))


def heads(case: Case, shapes: Sequence[Sequence[int]], dtypes: Sequence[str]) -> list:
    """The fixed head gradients of a case, one per output: `away` for floats, small integers otherwise."""
    rows = []
    for position, (shape, dtype) in enumerate(zip(shapes, dtypes)):
        domain = "away" if np.dtype(dtype).kind == "f" else ("int", 0, 3)
        rows.append(generate(f"{case.id}#head{position}", shape, dtype, domain))
    return rows
