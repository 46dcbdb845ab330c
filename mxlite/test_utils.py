"""Helpers for tests: random arrays, comparisons with tolerances by dtype, gradients by central differences.

Names, arguments and tolerances are those of MXNet 1.9.1's `mx.test_utils`, for what works on dense arrays. Where that
takes a symbol, this takes a function of NDArrays.
"""

from __future__ import annotations

import contextlib
import functools
import os
import random as _random
from collections.abc import Iterator, Sequence
from typing import Any, Callable

import numpy as np

from mxlite import autograd, context, ndarray
from mxlite.context import Context
from mxlite.ndarray import NDArray

_RTOL = {"float16": 1e-2, "float32": 1e-4, "float64": 1e-5}
_ATOL = {"float16": 1e-1, "float32": 1e-3, "float64": 1e-20}
_EPS = {"float16": 1.0 / 2**6, "float32": 1.0 / 2**9, "float64": 1.0 / 2**14}
_EXACT = ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64")


# ---- defaults ----------------------------------------------------------------------------------------------------


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


# ---- random things -----------------------------------------------------------------------------------------------


def random_arrays(*shapes: tuple[int, ...]) -> Any:
    """Normally distributed float32 NumPy arrays; one shape: the array itself, not a list."""
    arrays = [np.asarray(np.random.standard_normal(shape), dtype=default_dtype()) for shape in shapes]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes: tuple[int, ...], **kwargs: Any) -> list[np.ndarray]:
    """Uniformly distributed arrays between `low` (0) and `high` (1), of `dtype` (float32)."""
    low, high = kwargs.pop("low", 0.0), kwargs.pop("high", 1.0)
    dtype = kwargs.pop("dtype", default_dtype())
    if kwargs:
        raise TypeError(f"random_uniform_arrays: unknown keywords: {', '.join(kwargs)}")
    return [np.random.uniform(low, high, size=shape).astype(dtype) for shape in shapes]


def random_sample(population: Sequence, k: int) -> list:
    """`k` elements, in the order in which they stand."""
    chosen = sorted(_random.sample(range(len(population)), k))
    return [population[i] for i in chosen]


def rand_shape_nd(num_dim: int, dim: int = 10, allow_zero_size: bool = False) -> tuple[int, ...]:
    """Extents from 1 (0 with `allow_zero_size`) to `dim`."""
    return tuple(map(int, np.random.randint(0 if allow_zero_size else 1, dim + 1, size=num_dim)))


def rand_shape_2d(dim0: int = 10, dim1: int = 10, allow_zero_size: bool = False) -> tuple[int, int]:
    """As rand_shape_nd, each axis with its own largest extent."""
    return tuple(rand_shape_nd(1, dim, allow_zero_size)[0] for dim in (dim0, dim1))


def rand_shape_3d(
    dim0: int = 10, dim1: int = 10, dim2: int = 10, allow_zero_size: bool = False
) -> tuple[int, int, int]:
    """As rand_shape_nd, each axis with its own largest extent."""
    return tuple(rand_shape_nd(1, dim, allow_zero_size)[0] for dim in (dim0, dim1, dim2))


def rand_coord_2d(x_low: int, x_high: int, y_low: int, y_high: int) -> tuple[int, int]:
    """A point with x in [x_low, x_high) and y in [y_low, y_high)."""
    return int(np.random.randint(x_low, x_high)), int(np.random.randint(y_low, y_high))


def rand_ndarray(
    shape: tuple[int, ...],
    stype: str = "default",
    density: float | None = None,
    dtype: Any = None,
    modifier_func: Callable | None = None,
    shuffle_csr_indices: bool = False,
    distribution: str | None = None,
    ctx: Context | None = None,
) -> NDArray:
    """A normally distributed NDArray.

    Raises:
        NotImplementedError: a storage type other than "default", or a distribution, which belongs to such.
    """
    if stype != "default" or distribution is not None:
        raise NotImplementedError(f"rand_ndarray: storage type {stype!r} is not supported yet")
    values = np.asarray(np.random.standard_normal(shape))
    if modifier_func is not None:
        values = assign_each(values, modifier_func)
    return ndarray.array(values, ctx=ctx, dtype=default_dtype() if dtype is None else dtype)


def create_vector(size: int, dtype: Any = np.int64) -> NDArray:
    """0, 1, ..., size - 1."""
    return ndarray.array(np.arange(size), dtype=dtype)


def create_2d_tensor(rows: int, columns: int, dtype: Any = np.int64) -> NDArray:
    """Each row filled with its number."""
    return ndarray.array(np.repeat(np.arange(rows), columns).reshape(rows, columns), dtype=dtype)


# ---- comparisons -------------------------------------------------------------------------------------------------


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
    """Whether abs(a - b) <= atol + rtol * abs(b) everywhere."""
    rtol, atol = get_tols(a, b, rtol, atol)
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


# ---- over elements -----------------------------------------------------------------------------------------------


def assign_each(the_input: np.ndarray, function: Callable | None) -> np.ndarray:
    """The function of every element, or a copy without a function."""
    values = np.array(the_input)
    return values if function is None else np.vectorize(function, otypes=[values.dtype])(values)


def assign_each2(input1: np.ndarray, input2: np.ndarray, function: Callable | None) -> np.ndarray:
    """The function of every pair of elements, or a copy of `input1` without a function."""
    values = np.array(input1)
    return values if function is None else np.vectorize(function, otypes=[values.dtype])(values, np.asarray(input2))


def np_reduce(dat: np.ndarray, axis: Any, keepdims: bool, numpy_reduce_func: Callable) -> Any:
    """A reduction of NumPy's over one axis, several, or (None) all."""
    axes = range(dat.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    result = dat
    for each in sorted((each % dat.ndim for each in axes), reverse=True):
        result = numpy_reduce_func(result, axis=each)
    if keepdims:
        gone = {each % dat.ndim for each in axes}
        result = np.reshape(result, [1 if i in gone else extent for i, extent in enumerate(dat.shape)])
    return result


def collapse_sum_like(a: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sum over what was broadcast from `shape` to the shape of `a`."""
    lead = a.ndim - len(shape)
    axes = tuple(i for i in range(a.ndim) if i < lead or (shape[i - lead] == 1 and a.shape[i] != 1))
    return np.sum(a, axis=axes, keepdims=True).reshape(shape)


# ---- gradients ---------------------------------------------------------------------------------------------------


def _named(location: Any, dtype: Any) -> dict[Any, NDArray]:
    pairs = location.items() if isinstance(location, dict) else enumerate(location)
    return {name: ndarray.array(_numpy(values), dtype=dtype) for name, values in pairs}


def check_numeric_gradient(
    sym: Callable[..., NDArray],
    location: Sequence | dict[str, Any],
    aux_states: None = None,
    numeric_eps: float | None = None,
    rtol: Any = None,
    atol: Any = None,
    grad_nodes: Sequence | None = None,
    use_forward_train: bool = True,
    ctx: Context | None = None,
    grad_stype_dict: None = None,
    dtype: Any = np.float32,
) -> None:
    """Compares the recorded gradients of a function with central differences.

    Args:
        sym: a function of NDArrays (by position, or by name where `location` is a dict) that returns one.
        location: where: arrays in order, or by name.
        numeric_eps: the step; None: the default of `dtype`.
        grad_nodes: names, or positions, of the inputs that are looked at; None: all.
        use_forward_train: whether the differences are taken in training mode.
        dtype: what is computed in; float64 is much more exact.
    Raises:
        AssertionError: they differ by more than the tolerances.
        NotImplementedError: auxiliary states or storage types, which belong to symbols.
    """
    if aux_states or grad_stype_dict:
        raise NotImplementedError("check_numeric_gradient takes functions, which have no auxiliary states")
    if ctx is not None:
        context.require_cpu(ctx)
    inputs = _named(location, dtype)
    names = list(inputs) if grad_nodes is None else list(grad_nodes)
    eps = default_numeric_eps()[np.dtype(dtype)] if numeric_eps is None else numeric_eps

    def run(arrays: dict[Any, NDArray]) -> NDArray:
        return sym(**arrays) if isinstance(location, dict) else sym(*arrays.values())

    for name in names:
        inputs[name].attach_grad()
    with autograd.record():
        output = run(inputs)
    head = ndarray.array(np.random.uniform(0.5, 1.5, output.shape), dtype=output.dtype)
    output.backward(head)
    gradients = {name: inputs[name].grad.asnumpy() for name in names}
    weights = head.asnumpy().astype(np.float64)

    def value(name: Any, values: np.ndarray) -> float:
        arrays = {**inputs, name: ndarray.array(values, dtype=dtype)}
        with autograd.train_mode() if use_forward_train else autograd.predict_mode():
            return float((run(arrays).asnumpy().astype(np.float64) * weights).sum())

    for name in names:
        numeric = _central_differences(functools.partial(value, name), inputs[name].asnumpy(), eps)
        numeric = numeric.astype(dtype)
        assert_almost_equal(numeric, gradients[name], rtol, atol, (f"NUMERICAL_{name}", f"BACKWARD_{name}"))


def _central_differences(value: Callable[[np.ndarray], float], at: np.ndarray, eps: float) -> np.ndarray:
    result = np.zeros(at.shape)
    for index in np.ndindex(*at.shape):
        above, below = at.copy(), at.copy()
        above[index] += eps / 2
        below[index] -= eps / 2
        # What the step became in the dtype.
        result[index] = (value(above) - value(below)) / (float(above[index]) - float(below[index]))
    return result


# ---- distributions -----------------------------------------------------------------------------------------------


def mean_check(generator: Callable[[int], Any], mu: float, sigma: float, nsamples: int = 1000000) -> bool:
    """Whether the mean of that many samples lies within three standard errors of `mu`."""
    samples = _numpy(generator(nsamples)).astype(np.float64)
    return abs(samples.mean() - mu) < 3 * sigma / np.sqrt(nsamples)


def var_check(generator: Callable[[int], Any], sigma: float, nsamples: int = 1000000) -> bool:
    """Whether the variance of that many normal samples lies within three standard errors of `sigma` squared."""
    samples = _numpy(generator(nsamples)).astype(np.float64)
    return abs(samples.var(ddof=1) - sigma**2) < 3 * np.sqrt(2 * sigma**4 / (nsamples - 1))


# ---- around tests ------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def environment(*args: Any) -> Iterator[None]:
    """A with-block in which environment variables have other values: environment(name, value) or environment(dict).

    None removes a variable meanwhile.
    """
    changes = args[0] if len(args) == 1 else {args[0]: args[1]}
    before = {name: os.environ.get(name) for name in changes}

    def put(values: dict[str, str | None]) -> None:
        for name, value in values.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = str(value)

    put(changes)
    try:
        yield
    finally:
        put(before)


def retry(n: int) -> Callable[[Callable], Callable]:
    """A decorator: a test that fails by AssertionError is run again, up to `n` times in all."""
    if n <= 0:
        raise ValueError(f"retry: n is {n}; at least 1")

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for attempt in range(n):
                try:
                    return function(*args, **kwargs)
                except AssertionError:
                    if attempt == n - 1:
                        raise
            return None

        return wrapper

    return decorate


def list_gpus() -> range:
    """The GPUs: none."""
    return range(0)
