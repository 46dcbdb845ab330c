"""Random arrays, shapes and matrices, and functions over the elements of arrays."""

from __future__ import annotations

import random as _random
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from mxlite import ndarray
from mxlite._public import offer as _offer
from mxlite.ndarray import NDArray
from mxlite.test_utils._comparison import default_dtype


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
    """`k` elements, chosen at random, in the order of `population`."""
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


def create_vector(size: int, dtype: Any = np.int64) -> NDArray:
    """0, 1, ..., size - 1."""
    return ndarray.array(np.arange(size), dtype=dtype)


def create_2d_tensor(rows: int, columns: int, dtype: Any = np.int64) -> NDArray:
    """Each row filled with its number."""
    return ndarray.array(np.repeat(np.arange(rows), columns).reshape(rows, columns), dtype=dtype)


def get_identity_mat(size: int) -> np.ndarray:
    """The identity matrix of size x size, float32."""
    return np.eye(size, dtype=np.float32)


def get_identity_mat_batch(size: int) -> np.ndarray:
    """Two identity matrices: (2, size, size), float32."""
    return np.stack([get_identity_mat(size)] * 2)


def new_orthonormal_matrix_2d(n: int) -> np.ndarray:
    """A random n x n matrix, float64, whose transpose is its inverse."""
    q, r = np.linalg.qr(np.random.standard_normal((n, n)))
    return q * np.where(np.diag(r) < 0, -1.0, 1.0)


def new_matrix_with_real_eigvals_2d(n: int) -> np.ndarray:
    """A random n x n matrix, float64, with real eigenvalues in [-10, 10)."""
    values = np.random.uniform(-10, 10, n)
    # A product of rotated scalings: far from singular, and not orthonormal.
    base = new_orthonormal_matrix_2d(n) * np.random.uniform(0.5, 2, n) @ new_orthonormal_matrix_2d(n)
    return base * values @ np.linalg.inv(base)


def new_sym_matrix_with_real_eigvals_2d(n: int) -> np.ndarray:
    """A random symmetric n x n matrix, float64, with eigenvalues in [-10, 10)."""
    q = new_orthonormal_matrix_2d(n)
    matrix = q * np.random.uniform(-10, 10, n) @ q.T
    return (matrix + matrix.T) / 2


def _each_matrix(shape: tuple[int, ...], make: Callable[[int], np.ndarray]) -> np.ndarray:
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(f"the last two axes must have equal sizes, got shape {shape}")
    result = np.empty(shape)
    for index in np.ndindex(*shape[:-2]):
        result[index] = make(shape[-1])
    return result


def new_matrix_with_real_eigvals_nd(shape: tuple[int, ...]) -> np.ndarray:
    """Arrays (..., n, n) of matrices as those of new_matrix_with_real_eigvals_2d."""
    return _each_matrix(shape, new_matrix_with_real_eigvals_2d)


def new_sym_matrix_with_real_eigvals_nd(shape: tuple[int, ...]) -> np.ndarray:
    """Arrays (..., n, n) of matrices as those of new_sym_matrix_with_real_eigvals_2d."""
    return _each_matrix(shape, new_sym_matrix_with_real_eigvals_2d)


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


_offer(globals())
