"""`torch.testing`: assert_close, and tensors to test with."""

from __future__ import annotations

from collections.abc import Mapping as _Mapping
from collections.abc import Sequence as _Sequence
from typing import Any, Callable

import numpy as _np

from mxlite._public import show as _show
from mxlite.torch._dtypes import dtype as _dtype
from mxlite.torch._errors import warn_of_old as _warn_of_old
from mxlite.torch._make.data import tensor as _tensor
from mxlite.torch._make.random import uniform_of as _uniform_of
from mxlite.torch._tensor import Tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

#: rtol and atol of dtypes; of others both are 0.
_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}


def assert_allclose(
    actual: Any, expected: Any, rtol: Any = None, atol: Any = None, equal_nan: bool = True, msg: Any = ""
) -> None:
    """An old name of assert_close, which takes arrays and numbers of other dtypes."""
    _warn_of_old("testing.assert_allclose", "testing.assert_close", FutureWarning)
    pair = [each if isinstance(each, Tensor) else _tensor(each) for each in (actual, expected)]
    assert_close(*pair, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Compares tensors: of each element |actual - expected| must be at most atol + rtol |expected|.

    Shapes and dtypes must be equal.

    Args:
        actual, expected: Tensors, numbers, or sequences and mappings of them.
        rtol, atol: Both, or neither: the dtype's.
        msg: In place of the error's text, or what makes one of it.
    Raises: AssertionError: they differ; ValueError: one tolerance alone; TypeError: what cannot be compared.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(f"assert_close: give rtol and atol, or neither, got {rtol} and {atol}")
    try:
        _compare(actual, expected, "", rtol, atol, equal_nan, check_dtype, check_stride)
    except AssertionError as problem:
        if msg is None:
            raise
        raise AssertionError(msg(str(problem)) if callable(msg) else msg) from None


def _compare(a: Any, b: Any, path: str, *options: Any) -> None:
    where = f"assert_close{': ' + path if path else ''}: "
    if isinstance(a, _Mapping) and isinstance(b, _Mapping):
        if a.keys() != b.keys():
            raise AssertionError(f"{where}keys {list(a)} are not {list(b)}")
        for key in a:
            _compare(a[key], b[key], f"{path}[{key!r}]", *options)
    elif all(isinstance(each, _Sequence) and not isinstance(each, str) for each in (a, b)):
        if len(a) != len(b):
            raise AssertionError(f"{where}lengths {len(a)} and {len(b)} differ")
        for place, pair in enumerate(zip(a, b)):
            _compare(*pair, f"{path}[{place}]", *options)
    elif a is None or b is None:
        if a is not b:
            raise AssertionError(f"{where}{a} is not {b}")
    elif isinstance(a, Tensor) and isinstance(b, Tensor):
        _compare_tensors(a, b, where, *options)
    elif all(isinstance(each, (int, float, _np.number, _np.ndarray)) for each in (a, b)):
        kinds = [None if isinstance(each, (bool, int, _np.generic, _np.ndarray)) else "float64" for each in (a, b)]
        _compare_tensors(*(_tensor(_np.asarray(each, kind)) for each, kind in zip((a, b), kinds)), where, *options)
    else:
        raise TypeError(f"{where}{type(a)} and {type(b)} cannot be compared")


def _compare_tensors(
    a: Tensor, b: Tensor, where: str, rtol: Any, atol: Any, equal_nan: bool, check_dtype: bool, check_stride: bool
) -> None:  # fmt: skip
    if a.shape != b.shape:
        raise AssertionError(f"{where}shapes {list(a.shape)} and {list(b.shape)} differ")
    if check_dtype and a.dtype is not b.dtype:
        raise AssertionError(f"{where}dtypes {a.dtype} and {b.dtype} differ")
    if check_stride and a.stride() != b.stride():
        raise AssertionError(f"{where}strides {a.stride()} and {b.stride()} differ")
    if rtol is None:
        rtol, atol = (max(pair) for pair in zip(*(_TOLERANCES.get(x.dtype.name, (0.0, 0.0)) for x in (a, b))))
    first, second = (x.detach()._values() for x in (a, b))
    kind = _np.result_type(first, second, *[_np.float64] * (rtol > 0 or atol > 0))
    close = _np.isclose(first.astype(kind), second.astype(kind), rtol, atol, equal_nan)
    if not close.all():
        place = tuple(int(each) for each in _np.argwhere(~close)[0])
        raise AssertionError(
            f"{where}{int((~close).sum())} of {close.size} elements are further apart than {atol} + {rtol} of what is "
            f"expected, first at {place}: {first[place]} and {second[place]}"
        )


def make_tensor(
    *shape: Any, dtype: _dtype, device: Any = None, low: float | None = None, high: float | None = None,
    requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor of random numbers from low (floats, signed: -9, else 0) to high (9; bool: 2).

    Args:
        exclude_zero: Whether zeros become ones. noncontiguous: whether there are gaps between the elements.
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    low = (-9 if dtype.is_signed else 0) if low is None else low
    high = (2 if dtype.name == "bool" else 9 if dtype.is_floating_point else 10) if high is None else high
    drawn = (*sizes[:-1], 2 * sizes[-1]) if noncontiguous and sizes else sizes
    made = _uniform_of(drawn, _tensor(0.0).dtype, low, high)
    made = (made if dtype.is_floating_point else made.floor()).to(dtype)
    made = made[..., ::2] if noncontiguous and sizes else made
    made = made.masked_fill(made == 0, 1) if exclude_zero else made
    return made.requires_grad_(requires_grad) if requires_grad else made


_show(globals())
