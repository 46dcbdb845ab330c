"""Tolerances by dtype, and comparisons that raise AssertionError."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from mxlite import context
from mxlite._public import offer as _offer
from mxlite.context import Context
from mxlite.ndarray import NDArray

_RTOL = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-5}
_ATOL = {"float16": 1e-1, "float32": 1e-3, "float64": 1e-20}
_EPS = {"float16": 1.0 / 2**6, "float32": 1.0 / 2**9, "float64": 1.0 / 2**14}
_EXACT = ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64")


def default_context() -> Context:
    """The context that arrays are made in."""
    return context.current_context()


def set_default_context(ctx: Context) -> None:
    """Makes `ctx` the thread's context from now on. Only the CPU is possible."""
    context.require_cpu(ctx)
    context._current.context = ctx


def default_dtype() -> type:
    """float32."""
    return np.float32


def _table(of_floats: dict[str, float]) -> dict[np.dtype, float]:
    return {np.dtype(name): value for name, value in {**of_floats, **dict.fromkeys(_EXACT, 0)}.items()}


def default_rtols() -> dict[np.dtype, float]:
    """Relative tolerance by dtype; 0 for integers and booleans."""
    return _table(_RTOL)


def default_atols() -> dict[np.dtype, float]:
    """Absolute tolerance by dtype; 0 for integers and booleans."""
    return _table(_ATOL)


def default_numeric_eps() -> dict[np.dtype, float]:
    """Step of a central difference by dtype."""
    return {np.dtype(name): value for name, value in _EPS.items()}


def get_rtol(rtol: float | None = None, dtype: Any = np.float64) -> float:
    """`rtol`, or the default of `dtype`."""
    return default_rtols()[np.dtype(dtype)] if rtol is None else rtol


def get_atol(atol: float | None = None, dtype: Any = np.float64) -> float:
    """`atol`, or the default of `dtype`."""
    return default_atols()[np.dtype(dtype)] if atol is None else atol


def get_etol(etol: float | None = None) -> float:
    """`etol`, the part of elements that may differ, or 0."""
    return 0 if etol is None else etol


def effective_dtype(dat: Any) -> np.dtype:
    """The dtype whose tolerances hold for an array or a number."""
    return np.dtype(dat.dtype) if hasattr(dat, "dtype") else np.asarray(dat).dtype


def get_tolerance(dat: Any, tol: Any, default_tol: dict[np.dtype, float]) -> float:
    """`tol`, if it is a number; else what `tol`, or `default_tol`, says for the dtype of `dat`."""
    if tol is not None and not isinstance(tol, dict):
        return tol
    dtype = effective_dtype(dat)
    if tol is not None and dtype in {np.dtype(key) for key in tol}:
        return {np.dtype(key): value for key, value in tol.items()}[dtype]
    return default_tol.get(dtype, 0)


def get_tols(x: Any, y: Any, rtol: Any, atol: Any) -> tuple[float, float]:
    """The coarser tolerances of two arrays."""
    rtols, atols = default_rtols(), default_atols()
    return (
        max(get_tolerance(x, rtol, rtols), get_tolerance(y, rtol, rtols)),
        max(get_tolerance(x, atol, atols), get_tolerance(y, atol, atols)),
    )


def _numpy(values: Any) -> np.ndarray:
    return values.asnumpy() if isinstance(values, NDArray) else np.asarray(values)


def same(a: Any, b: Any) -> bool:
    """Whether shapes and all values are equal."""
    return np.array_equal(_numpy(a), _numpy(b))


def same_array(array1: NDArray, array2: NDArray) -> bool:
    """Whether two arrays share their memory: what is written to one is in the other."""
    if array1.shape != array2.shape or not same(array1, array2):
        return False
    array1[:] += 1
    try:
        return same(array1, array2)
    finally:
        array1[:] -= 1


def checkShapes(a: Any, b: Any) -> None:
    """Raises AssertionError where shapes differ."""
    if a.shape != b.shape:
        raise AssertionError(
            f"\nItems are not equal: a.shape = {a.shape} and b.shape = {b.shape} are not equal"
            f"\n ACTUAL: {_numpy(a)!r}\n DESIRED: {_numpy(b)!r}"
        )


def _violations(a: np.ndarray, b: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """How many times the allowed difference each element differs by; NaN where one is NaN or infinite alone."""
    equal = np.equal(a, b)  # before conversion: large integers may become the same float64
    with np.errstate(all="ignore"):
        a, b = np.broadcast_arrays(a.astype(np.float64), b.astype(np.float64))
        return np.where(equal, 0.0, np.abs(a - b) / (atol + rtol * np.abs(b)))


def _wrong(a: np.ndarray, b: np.ndarray, rtol: float, atol: float, equal_nan: bool) -> tuple[np.ndarray, np.ndarray]:
    ratio = _violations(a, b, rtol, atol)
    wrong = ~(ratio <= 1)
    if equal_nan:
        both = np.isnan(a.astype(np.float64)) & np.isnan(b.astype(np.float64))
        wrong &= ~both
    return ratio, wrong


def almost_equal(
    a: Any, b: Any, rtol: Any = None, atol: Any = None, equal_nan: bool = False, use_broadcast: bool = True
) -> bool:
    """Whether abs(a - b) <= atol + rtol * abs(b) everywhere. The defaults are float64's, whatever the dtype."""
    rtol, atol = get_rtol(rtol), get_atol(atol)
    a, b = _numpy(a), _numpy(b)
    if not use_broadcast:
        checkShapes(a, b)
    return not _wrong(a, b, rtol, atol, equal_nan)[1].any()


def locationError(
    a: np.ndarray, b: np.ndarray, index: tuple[int, ...], names: tuple[str, str], maxError: bool = False
) -> str:
    """A line that names a place and the two values there."""
    a, b = np.broadcast_arrays(a, b)
    what = "maximum error" if maxError else "error"
    return f"Location of {what}: {index}, {names[0]}={a[index]:.8f}, {names[1]}={b[index]:.8f}"


def _complain(
    a: np.ndarray, b: np.ndarray, ratio: np.ndarray, wrong: np.ndarray, tols: tuple, names: tuple, shown: int
) -> str:
    order = np.argsort(-np.where(wrong, np.nan_to_num(ratio, nan=np.inf), -1), axis=None)[: max(1, shown)]
    places = [tuple(map(int, np.unravel_index(i, ratio.shape))) for i in order if wrong.reshape(-1)[i]]
    lines = [f"  {n}: Error {ratio[at]:f}  {locationError(a, b, at, names)}" for n, at in enumerate(places, 1)]
    return (
        f"\nItems are not equal:\nError {ratio[places[0]]:f} exceeds tolerance rtol={tols[0]:e}, atol={tols[1]:e} "
        f"(mismatch {100.0 * wrong.mean():f}%).\n{locationError(a, b, places[0], names, maxError=True)}\n"
        + "\n".join(lines)
        + f"\n ACTUAL: {a!r}\n DESIRED: {b!r}"
    )


def assert_almost_equal(
    a: Any,
    b: Any,
    rtol: Any = None,
    atol: Any = None,
    names: tuple[str, str] = ("a", "b"),
    equal_nan: bool = False,
    use_broadcast: bool = True,
    mismatches: tuple[int, int] = (10, 10),
) -> None:
    """Raises AssertionError, with the largest differences, unless abs(a - b) <= atol + rtol * abs(b) everywhere.

    Args:
        rtol, atol: numbers, dicts by dtype, or None: the coarser default of the two arrays' dtypes.
        equal_nan: whether NaN equals NaN.
        use_broadcast: whether shapes may differ if they broadcast.
        mismatches: how many differences are listed (the first number).
    Raises: ValueError: the shapes do not broadcast.
    """
    assert_almost_equal_with_err(a, b, rtol, atol, 0, names, equal_nan, mismatches, use_broadcast)


def assert_almost_equal_with_err(
    a: Any,
    b: Any,
    rtol: Any = None,
    atol: Any = None,
    etol: float | None = None,
    names: tuple[str, str] = ("a", "b"),
    equal_nan: bool = False,
    mismatches: tuple[int, int] = (10, 10),
    use_broadcast: bool = True,
) -> None:
    """As assert_almost_equal; a part `etol` of the elements (0.1: a tenth) may differ."""
    tols = get_tols(a, b, rtol, atol)
    a, b = _numpy(a), _numpy(b)
    if not use_broadcast:
        checkShapes(a, b)
    ratio, wrong = _wrong(a, b, *tols, equal_nan)
    if wrong.size and wrong.mean() > get_etol(etol):
        raise AssertionError(_complain(a, b, ratio, wrong, tols, names, mismatches[0]))


def assert_almost_equal_ignore_nan(
    a: Any, b: Any, rtol: Any = None, atol: Any = None, names: tuple[str, str] = ("a", "b")
) -> None:
    """As assert_almost_equal; where one is NaN, the other may be anything."""
    a, b = _numpy(a).copy(), _numpy(b).copy()
    unknown = np.isnan(a) | np.isnan(b)
    a[unknown] = b[unknown] = 0
    assert_almost_equal(a, b, rtol, atol, names)


def assert_allclose(a: Any, b: Any, rtol: float = 1e-07, atol: float = 0, equal_nan: bool = True) -> None:
    """As assert_almost_equal, with NumPy's tolerances, for arrays and numbers of one shape."""
    assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def assert_exception(f: Callable, exception_type: type[BaseException], *args: Any, **kwargs: Any) -> None:
    """Raises AssertionError unless f(*args, **kwargs) raises that exception."""
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError(f"{f} did not raise {exception_type.__name__}")


def compare_ndarray_tuple(t1: Any, t2: Any, rtol: Any = None, atol: Any = None) -> None:
    """assert_almost_equal over arrays in nested tuples; None is not looked at."""
    if t1 is None or t2 is None:
        return
    if isinstance(t1, tuple):
        for each1, each2 in zip(t1, t2):
            compare_ndarray_tuple(each1, each2, rtol, atol)
    else:
        assert_almost_equal(t1, t2, rtol=rtol, atol=atol)


_offer(globals())
