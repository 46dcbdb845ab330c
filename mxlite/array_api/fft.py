"""The standard's functions around Fourier transforms whose results are real: frequencies, and shifts of them.

The transforms themselves need complex numbers, of which mxlite has no dtype: `fft`, `rfft`, `irfft`, ... are missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mxlite._public import show as _show
from mxlite.array_api._dtypes import FLOAT, array_given, dtype_of, new, require_device
from mxlite.array_api._shapes import _axes, roll
from mxlite.error import MXValueError
from mxlite.numpy.multiarray import ndarray


def _frequencies(name: str, find: Callable, n: int, d: float, dtype: Any, device: Any) -> ndarray:
    require_device(device)
    if n < 1:
        raise MXValueError(f"{name}: n must be 1 or more, got {n}")
    kind = np.dtype(FLOAT if dtype is None else dtype_of(dtype))
    if kind.kind != "f":
        raise MXValueError(f"{name}: the dtype of frequencies is real and floating, got {kind.name}")
    return new(find(n, d).astype(kind))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> ndarray:
    """The frequencies of a transform of n samples, d apart: those from 0 up, then the negative ones; float32.

    Raises: ValueError: n is below 1, or the dtype is not floating.
    """
    return _frequencies("fftfreq", np.fft.fftfreq, n, d, dtype, device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> ndarray:
    """The frequencies of a transform of n real samples, d apart, from 0 up; float32.

    Raises: as fftfreq.
    """
    return _frequencies("rfftfreq", np.fft.rfftfreq, n, d, dtype, device)


def _shifted(name: str, x: ndarray, axes: Any, sign: int) -> ndarray:
    places = range(array_given(name, x).ndim) if axes is None else _axes(name, axes, x.ndim)
    halves = [sign * (x.shape[each] // 2) for each in places]
    return roll(x, tuple(halves), axis=tuple(places)) if halves else x.copy()


def fftshift(x: ndarray, /, *, axes: Any = None) -> ndarray:
    """The array with the frequency 0 in the middle of its axes; None: of all."""
    return _shifted("fftshift", x, axes, 1)


def ifftshift(x: ndarray, /, *, axes: Any = None) -> ndarray:
    """The array with the frequency 0 first, as it was before fftshift."""
    return _shifted("ifftshift", x, axes, -1)


__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]
_show(globals())
