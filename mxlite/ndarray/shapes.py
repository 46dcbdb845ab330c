"""Arrays of numbers in a row, and movements of axes: `mx.nd` functions and NDArray methods that are more than one call.

`install` gives NDArray its methods `expand_dims`, `squeeze`, `flatten`, `broadcast_to`, `broadcast_like`, `split_v2`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite._public.keywords import judge
from mxlite.context import Context, context_parameter
from mxlite.ndarray.ndarray import NDArray, invoke


@judge
def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Context | None = None,
    dtype: Any = np.float32,
) -> NDArray:
    """The numbers from `start` to before `stop` (from 0 to before `start` without `stop`), each `repeat` times.

    Args:
        infer_range: of no meaning here.
        dtype: None: float64.
    Raises: MXNetError: there is no number between them, or `step` is 0.
    """
    given = {"start": start, "step": step, "repeat": repeat, "dtype": np.float64 if dtype is None else dtype}
    given.update(context_parameter(ctx))
    if stop is not None:
        given["stop"] = stop
    return invoke("_arange", [], given)


@judge
def linspace(
    start: float, stop: float, num: int, endpoint: bool = True, ctx: Context | None = None, dtype: Any = np.float32
) -> NDArray:
    """`num` numbers from `start` to `stop`, evenly spaced; without `endpoint` the last one is before `stop`."""
    given = {"start": start, "stop": stop, "num": num, "endpoint": endpoint, **context_parameter(ctx)}
    return invoke("_linspace", [], {**given, "dtype": np.float64 if dtype is None else dtype})


@judge
def eye(
    N: int,  # noqa: N803 (MXNet's names)
    M: int = 0,  # noqa: N803
    k: int = 0,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """Ones on diagonal `k` of an array of shape (N, M), zeros elsewhere; M = 0: (N, N). dtype None: float32."""
    kwargs.pop("name", None)
    given = {"N": N, "M": M, "k": k, "dtype": np.float32 if dtype is None else dtype, **context_parameter(ctx)}
    return invoke("_eye", [], {**given, **kwargs}, out)


@judge
def histogram(
    a: NDArray,
    bins: int | NDArray = 10,
    range: tuple[float, float] | None = None,  # noqa: A002 (MXNet's name)
) -> list[NDArray]:
    """How many elements lie between neighbouring bounds (int64), and the bounds.

    Args:
        bins: the bounds, rising, or how many bins of equal width to make.
        range: the lowest and the highest bound; None: those of the elements.
    Raises: ValueError: `bins` is neither.
    """
    if isinstance(bins, NDArray):
        return invoke("_histogram", [a, bins], {})
    if not isinstance(bins, int):
        raise ValueError("histogram: bins is a whole number or an NDArray")
    if range is None:
        values = a.asnumpy()
        range = (float(values.min()), float(values.max()))  # noqa: A001
    return invoke("_histogram", [a], {"bin_cnt": bins, "range": tuple(map(float, range))})


@judge
def split_v2(
    ary: NDArray, indices_or_sections: int | tuple[int, ...], axis: int = 0, squeeze_axis: bool = False
) -> NDArray | list[NDArray]:
    """The array cut along `axis`: into equal parts, or before the given positions. One part is not in a list.

    Raises: ValueError: the axis is no multiple of the number of parts, or it is neither an int nor a tuple.
    """
    given: dict[str, Any] = {"axis": axis, "squeeze_axis": squeeze_axis}
    if isinstance(indices_or_sections, int):
        if ary.shape[axis] % indices_or_sections:
            raise ValueError("split_v2: the parts would not be equal")
        given.update(indices=(), sections=indices_or_sections)
    elif isinstance(indices_or_sections, tuple):
        given["indices"] = (0, *indices_or_sections)
    else:
        raise ValueError("split_v2: indices_or_sections is an int or a tuple of ints")
    return invoke("_split_v2", [ary], given)


@judge
def moveaxis(tensor: NDArray, source: int | tuple[int, ...], destination: int | tuple[int, ...]) -> NDArray:
    """The array with the axes `source` at the places `destination`, the others in their order.

    Raises: ValueError: an axis that there is not or that is named twice, or lists of different lengths.
    """
    ndim = tensor.ndim
    places = []
    for name, axes in (("Source", source), ("Destination", destination)):
        listed = [axes] if isinstance(axes, (int, np.integer)) else list(axes)
        for axis in listed:
            if not -ndim <= axis < ndim:
                raise ValueError(f"{name} should verify 0 <= {name.lower()} < tensor.ndim ({ndim}). Got {axis}")
        places.append([int(axis) % ndim for axis in listed])
        if len(set(places[-1])) != len(places[-1]):
            raise ValueError("repeated axis")
    if len(places[0]) != len(places[1]):
        raise ValueError("moveaxis: source and destination do not have equally many axes")
    order = [axis for axis in range(ndim) if axis not in places[0]]
    for to, axis in sorted(zip(places[1], places[0])):
        order.insert(to, axis)
    return invoke("transpose", [tensor], {"axes": tuple(order)})


# ---- methods -----------------------------------------------------------------------------------------------------


@judge
def _expand_dims(self: NDArray, axis: int, inplace: bool = False) -> NDArray:
    """The array with a new axis of size 1 at `axis`; with `inplace` it shares the memory."""
    if not inplace:
        return invoke("expand_dims", [self], {"axis": axis})
    place = axis + self.ndim + 1 if axis < 0 else axis
    if not 0 <= place <= self.ndim:
        raise ValueError(f"axis {axis} is out of range for a result of {self.ndim + 1} axes")
    return self.reshape((*self.shape[:place], 1, *self.shape[place:]))


@judge
def _squeeze(self: NDArray, axis: int | tuple[int, ...] | None = None, inplace: bool = False) -> NDArray:
    """The array without its axes of size 1, or without those in `axis`; with `inplace` it shares the memory.

    Raises: ValueError (with `inplace`), MXNetError: an axis has another size, or is named twice.
    """
    if not inplace:
        return invoke("squeeze", [self], {} if axis is None else {"axis": axis})
    listed = range(self.ndim) if axis is None else [axis] if isinstance(axis, (int, np.integer)) else list(axis)
    gone = [each % self.ndim for each in listed if axis is not None or self.shape[each] == 1]
    if len(set(gone)) != len(gone) or any(self.shape[each] != 1 for each in gone):
        raise ValueError(f"cannot squeeze the axes {axis} of an array of shape {self.shape}")
    return self.reshape(tuple(size for i, size in enumerate(self.shape) if i not in gone) or (1,))


@judge
def _flatten(self: NDArray, inplace: bool = False) -> NDArray:
    """The array as a matrix whose rows are the first axis; with `inplace` it shares the memory."""
    return self.reshape((0, -1)) if inplace else invoke("Flatten", [self], {})


def _broadcast_to(self: NDArray, shape: tuple[int, ...]) -> NDArray:
    """The array repeated to `shape`, which may have more axes (in front); a size of 0 stays as it is.

    Raises: ValueError: the array's shape cannot become `shape`.
    """
    have, shape = self.shape, (shape,) if isinstance(shape, int) else tuple(shape)
    padded = (1,) * (len(shape) - len(have)) + have
    if len(padded) != len(shape) or any(a not in (1, b) and b != 0 for a, b in zip(padded, shape)):
        raise ValueError(f"an array of shape {have} cannot be broadcast to {shape}")
    array = self if padded == have else self.reshape(padded)
    return invoke("broadcast_to", [array], {"shape": shape})


def _broadcast_like(self: NDArray, other: NDArray) -> NDArray:
    """The array repeated to the shape of `other`, which may have more axes."""
    return _broadcast_to(self, other.shape)


def install() -> None:
    """Gives NDArray the methods of this module."""
    for name, method in {
        "expand_dims": _expand_dims,
        "squeeze": _squeeze,
        "flatten": _flatten,
        "broadcast_to": _broadcast_to,
        "broadcast_like": _broadcast_like,
        "split_v2": split_v2,
    }.items():
        setattr(NDArray, name, method)
