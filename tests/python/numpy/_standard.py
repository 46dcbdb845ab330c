"""Arrays for tests of `mxlite.array_api`, and the library beside which it is tested.

That is array-api-strict where it is installed (`make test-array-api`), else NumPy from 2.1 on.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as some
from hypothesis.extra import numpy as arrays

from mxlite import array_api as xp
from mxlite.numpy import ndarray

try:
    import array_api_strict as peer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.set_array_api_strict_flags(api_version="2025.12")
except ImportError:
    peer = numpy

IS_STRICT = peer is not numpy
needs_peer = pytest.mark.skipif(not hasattr(peer, "cumulative_sum"), reason="NumPy has the standard from 2.1 on")

#: ARRAY_API_EXAMPLES=1000: so many examples, other ones each time.
_EXAMPLES = os.environ.get("ARRAY_API_EXAMPLES", "")
quick = settings(
    max_examples=int(_EXAMPLES or 20),
    derandomize=not _EXAMPLES,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

INTEGERS = list(xp.__array_namespace_info__().dtypes(kind="integral"))
FLOATS = ["float32", "float64"]
KINDS = {"b": ["bool"], "i": INTEGERS, "f": FLOATS}
shapes = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, float("inf"), -float("inf"), float("nan"), 1e30, -1e-30]


def dtypes(kinds: str) -> some.SearchStrategy:
    """Dtypes of kinds: "b", "i" (of either sign), "f"."""
    return some.sampled_from([name for kind in kinds for name in KINDS[kind]])


def elements(dtype: str, is_plain: bool = False) -> some.SearchStrategy:
    """Elements; `is_plain`: fractions of moderate size alone, and small integers."""
    if dtype == "bool":
        return some.booleans()
    if dtype in INTEGERS:
        limits = numpy.iinfo(dtype)
        low, high = (max(limits.min, -9), 9) if is_plain else (limits.min, limits.max)
        return some.integers(low, high)
    plain = some.floats(-8, 8, width=32).map(lambda value: round(value, 3))
    return plain if is_plain else some.sampled_from(special) | plain


def values(dtype: Any, shape: Any = shapes, is_plain: bool = False) -> some.SearchStrategy:
    """Arrays of NumPy."""
    if not isinstance(dtype, str):
        return dtype.flatmap(lambda each: values(each, shape, is_plain))
    return arrays.arrays(dtype, shape, elements=elements(dtype, is_plain))


def pairs(kinds: str, is_plain: bool = False) -> some.SearchStrategy:
    """Two arrays that broadcast, of one dtype."""
    both = arrays.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4, min_side=0)
    return some.tuples(dtypes(kinds), both).flatmap(
        lambda found: some.tuples(*(values(found[0], shape, is_plain) for shape in found[1].input_shapes))
    )


def plain(value: Any) -> Any:
    """A result as NumPy's arrays."""
    if isinstance(value, (tuple, list)):
        return tuple(map(plain, value))
    if isinstance(value, ndarray):
        return value.asnumpy()
    return numpy.asarray(getattr(value, "_array", value)) if hasattr(value, "shape") else value


def both(name: str, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """What this library and the other one make of the same arguments, as NumPy's arrays."""
    return plain(call(xp, name, *args, **kwargs)), plain(call(peer, name, *args, **kwargs))


def call(library: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """What a library's function (`sum`, `linalg.det`) makes of arguments, of which NumPy's arrays become its own."""
    for each in name.split("."):
        function = library = getattr(library, each)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*(_own(each, name, library) for each in args), **_own(kwargs, name, library))


def _own(value: Any, name: str, function: Any) -> Any:
    is_ours = (getattr(function, "__module__", "") or "").startswith("mxlite")
    if isinstance(value, numpy.ndarray):
        return xp.asarray(value) if is_ours else peer.asarray(value)
    if isinstance(value, numpy.dtype):
        return value if is_ours or not IS_STRICT else getattr(peer, value.name)
    if isinstance(value, dict):
        return {key: _own(each, name, function) for key, each in value.items()}
    if isinstance(value, list):
        return [_own(each, name, function) for each in value]
    return value


def check(found: Any, wanted: Any, rtol: float | None = None) -> None:
    """Both are the same: shapes, dtypes, and values but for rounding."""
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for one, two in zip(found, wanted):
            check(one, two, rtol)
        return
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    if found.dtype.kind == "f":
        rtol = rtol or {4: 3e-6, 8: 1e-13}[found.dtype.itemsize]
        numpy.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * 1e-3 if rtol < 1e-4 else rtol)
    else:
        numpy.testing.assert_array_equal(found, wanted)


def compare(name: str, *args: Any, rtol: float | None = None, **kwargs: Any) -> None:
    """Both libraries answer the same."""
    check(*both(name, *args, **kwargs), rtol)
