"""The standard's Fourier transforms. Complex numbers are pairs of real ones.

mxlite has no complex dtypes. Where the standard has a complex array of shape s, these functions take and give an array
of a floating dtype and of shape s + (2,), whose last axis has the real and the imaginary part: `x[..., 0]` and
`x[..., 1]`. `axis` and `axes` count the axes of s, from either end, as if that last axis were not there. Real arrays
have their own shape: `rfft` of shape (n,) has shape (n // 2 + 1, 2). `fft` of real numbers x is
`fft(stack([x, zeros_like(x)], axis=-1))`, of which `rfft(x)` is the first half.

    >>> x = xp.asarray([1.0, 2.0, 3.0])
    >>> xp.fft.rfft(x)
    array([[ 6.       ,  0.       ],
           [-1.5      ,  0.8660254]])

Lengths may be any. Results have the dtype of x; float16 is computed in float32. All are recorded, with derivatives of
every order. Sizes to transform (`n`, `s`): what is behind them is cut off, what lacks is 0. `norm` is "backward" (the
inverse transforms are divided by the number of elements), "ortho" (all by its square root), or "forward".

Raises: TypeError: x is no array, or is not floating; IndexError: there is no such axis; ValueError: an axis is given
twice, an `n` or `s` is below 1, no such `norm`, or the last axis of pairs has not size 2.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mxlite import numpy as mnp
from mxlite._public import show as _show
from mxlite.array_api._dtypes import FLOAT, array_given, dtype_of, new, require_device
from mxlite.array_api._shapes import _axes, roll
from mxlite.error import MXValueError
from mxlite.numpy._functions import ARRAYS
from mxlite.numpy.multiarray import ndarray

# ---- transforms ----


def _size(name: str, n: Any) -> int:
    size = operator.index(n)
    if size < 1:
        raise MXValueError(f"{name}: sizes to transform must be 1 or more, got {size}")
    return size


def _sized(x: ndarray, axis: int, size: int) -> ndarray:
    """The array with that size along an axis: cut, or with zeros behind it."""
    have = x.shape[axis]
    if have == size:
        return x
    if have > size:
        return x[(slice(None),) * axis + (slice(0, size),)]
    return mnp.concatenate([x, mnp.zeros((*x.shape[:axis], size - have, *x.shape[axis + 1 :]), dtype=x.dtype)], axis)


def _places(name: str, ndim: int, sizes: Any, axes: Any) -> tuple[int, ...]:
    """The axes to transform, from 0 on: of sizes without axes the last ones."""
    if axes is None:
        axes = range(ndim) if sizes is None else range(-len(sizes), 0)
    axes = _axes(name, tuple(axes), ndim)
    if sizes is not None and len(sizes) != len(axes):
        raise MXValueError(f"{name}: s has {len(sizes)} sizes for {len(axes)} axes")
    return axes


def _transform(name: str, x: ndarray, kind: str, inverse: bool, sizes: Any, axes: Any, norm: str) -> ndarray:
    """The transform along axes, by the last of which real numbers lie; of sizes None and -1 are those there are."""
    ndim = array_given(name, x, "f").ndim - (kind != "from_real")
    if kind != "from_real" and (ndim < 0 or x.shape[-1] != 2):
        raise MXValueError(f"{name}: the last axis has real and imaginary parts, so its size must be 2; got {x.shape}")
    places = _places(name, ndim, sizes, axes)
    if not places:
        if kind != "pairs":
            raise MXValueError(f"{name}: takes one axis or more, got none")
        return x.copy()
    wanted: Sequence[Any] = (None,) * len(places) if sizes is None else sizes
    given: dict[str, Any] = {"axes": places, "kind": kind, "inverse": inverse}
    counts = []
    for k, (place, size) in enumerate(zip(places, wanted)):
        last = kind == "to_real" and k == len(places) - 1
        if size is None or (sizes is not None and size == -1):
            size = 2 * x.shape[place] - 2 if last else x.shape[place]
        counts.append(_size(name, size))
        x = _sized(x, place, counts[-1] // 2 + 1 if last else counts[-1])
        if last:
            given.update(n=counts[-1], middle=2)
    count = math.prod(counts)
    powers = {"backward": inverse, "ortho": 0.5, "forward": not inverse}
    if norm not in powers:
        raise MXValueError(f"{name}: norm must be 'backward', 'ortho' or 'forward', got {norm!r}")
    return ARRAYS("_mxl_fft", x, scale=float(count) ** -powers[norm], **given)


def _one(name: str, x: ndarray, kind: str, inverse: bool, n: Any, axis: int, norm: str) -> ndarray:
    return _transform(name, x, kind, inverse, None if n is None else (_size(name, n),), (axis,), norm)


def fft(x: ndarray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> ndarray:
    """The transform of n complex numbers along an axis, as pairs. Raises: as the module says."""
    return _one("fft", x, "pairs", False, n, axis, norm)


def ifft(x: ndarray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> ndarray:
    """The inverse transform of n complex numbers along an axis, as pairs. Raises: as the module says."""
    return _one("ifft", x, "pairs", True, n, axis, norm)


def fftn(
    x: ndarray, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
) -> ndarray:
    """The transform of complex numbers along several axes; None: all, or the last ones where there is s.

    An s of -1 is the size that x has. Raises: as the module says; ValueError: s and axes differ in number.
    """
    return _transform("fftn", x, "pairs", False, s, axes, norm)


def ifftn(
    x: ndarray, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
) -> ndarray:
    """The inverse of fftn. Raises: as fftn."""
    return _transform("ifftn", x, "pairs", True, s, axes, norm)


def rfft(x: ndarray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> ndarray:
    """The first n // 2 + 1 pairs of the transform of n real numbers: the others are their conjugates.

    Raises: as the module says.
    """
    return _one("rfft", x, "from_real", False, n, axis, norm)


def irfft(x: ndarray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> ndarray:
    """The n real numbers of which n // 2 + 1 pairs are the transform. None: an even number, 2 (m - 1) of m pairs.

    Raises: as the module says.
    """
    return _one("irfft", x, "to_real", True, n, axis, norm)


def rfftn(
    x: ndarray, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
) -> ndarray:
    """The transform of real numbers along several axes; along the last of them the first n // 2 + 1 pairs.

    Raises: as fftn; ValueError: there are no axes.
    """
    return _transform("rfftn", x, "from_real", False, s, axes, norm)


def irfftn(
    x: ndarray, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
) -> ndarray:
    """The real numbers of which pairs are the rfftn; along the last of the axes as irfft. Raises: as rfftn."""
    return _transform("irfftn", x, "to_real", True, s, axes, norm)


def hfft(x: ndarray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> ndarray:
    """The n real numbers that are the transform of n numbers whose second half are the conjugates of the first.

    None: an even number, 2 (m - 1) of m pairs. Raises: as the module says.
    """
    return _one("hfft", x, "to_real", False, n, axis, norm)


def ihfft(x: ndarray, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> ndarray:
    """The inverse of hfft: n // 2 + 1 pairs. Raises: as the module says."""
    return _one("ihfft", x, "from_real", True, n, axis, norm)


# ---- frequencies ----


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


__all__ = """
    fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn
""".split()
_show(globals())
