"""Maxima and minima, of all elements or along dimensions, and where they are."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, Callable

from mxlite.torch._calls import both, prepare, require_tensor, run
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import BOOL, int64
from mxlite.torch._dtypes import bool_ as _bool
from mxlite.torch._dtypes import uint8 as _uint8
from mxlite.torch._kinds import check_dim
from mxlite.torch._math.pairs import maximum, minimum
from mxlite.torch._math.reductions import aligned, places_of, reduce
from mxlite.torch._nodes import formula
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, full_of, zeros_of


def pair(name: str) -> Any:
    """The class of a function's two results, which prints as PyTorch's."""
    made = namedtuple(name, ("values", "indices"))

    def text(self: Any) -> str:
        return f"torch.return_types.{name}(\nvalues={self.values!r},\nindices={self.indices!r})"

    made.__repr__ = text
    made.__module__ = "torch.return_types"
    return made


def _require_elements(name: str, input: Tensor) -> None:
    if input.numel() == 0:
        kind = IndexError if name.startswith("arg") else RuntimeError
        ending = "" if kind is IndexError else " Specify the reduction dim with the 'dim' argument."
        raise kind(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.{ending}")


def require_extent(name: str, input: Tensor, place: int) -> None:
    if input.shape and input.shape[place] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {place} to have non-zero size.")


def shared(
    label: str,
    input: Tensor,
    compute: Callable,
    places: tuple[int, ...] | None = None,
    keepdim: bool = False,
    with_nan: bool = True,
) -> Tensor:
    """An element of all, or of each row along dimensions, whose gradient equal elements share; so do several NaN, but
    (`with_nan` False) it is NaN then."""

    def rule(grad: Tensor, input: Tensor, result: Tensor) -> list:
        x, y = input.detach(), aligned(result, input, places, keepdim).detach()
        hit = (x == y) | ((x != x) & (y != y)) if with_nan else x == y
        where = cast(hit, input._dtype)
        count = where.sum() if places is None else where.sum(places, True)
        return [where * (aligned(grad, input, places, keepdim) / count)]

    return formula(label, [input], compute, rule, saves="0r")


def _extreme_of(x: Tensor, name: str, places: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    if x._dtype.kind == BOOL:
        return cast(reduce(None, name, cast(x, _uint8), places, keepdim), _bool)
    return _with_nan(reduce(None, name, x, places, keepdim), x, places, keepdim)


def _with_nan(result: Tensor, input: Tensor, places: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    """An extreme of numbers among which there is a NaN is NaN."""
    if not input._dtype.is_floating_point:
        return result
    bad = input != input
    if not bool(bad.any()):
        return result
    where = bad.any() if places is None else bad.any(places, keepdim)
    return choose(where.reshape(result.shape), full_of((), math.nan, result._dtype), result)


def _extreme(name: str, label: str, operator: str, pairwise: Callable, arg: Callable) -> Callable:
    results = pair(name)

    def extreme(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        require_tensor(name, 1, "input", input)
        other = dim if isinstance(dim, Tensor) else other
        if other is not None:
            return pairwise(input, other)
        if dim is None:
            _require_elements(name, input)
            return shared(f"{label}1", input, lambda x: _extreme_of(x, operator, None, False))
        place = check_dim(dim, input.ndim)
        require_extent(name, input, place)
        numbers = cast(input, _uint8) if input._dtype.kind == BOOL else input
        indices = arg(numbers, place, True)
        return results(*picked(f"{label}0", input, place, indices, keepdim))

    extreme.__name__ = name
    extreme.__doc__ = (
        f"The {name}imum of all elements; along a dimension, values and where they are; or of two tensors."
    )
    both(name)(extreme)

    def among(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
        places = places_of(dim, None, input.ndim)
        if places is None:
            _require_elements("a" + name, input)
        for place in places or ():
            require_extent("a" + name, input, place)
        return shared(
            f"A{name}Backward0", input, lambda x: _extreme_of(x, operator, places, keepdim), places, keepdim, False
        )

    among.__name__ = "a" + name
    among.__doc__ = f"The {name}imum along dimensions (none: of all); equal elements share the gradient."
    both("a" + name)(among)
    return extreme


def picked(label: str, input: Tensor, place: int, indices: Tensor, keepdim: bool) -> tuple[Tensor, Tensor]:
    """Elements along a dimension, at indices that have it with extent 1; with and without it."""
    if not input.shape:
        return input.clone(), zeros_of((), int64)

    def drop(x: Tensor) -> Tensor:
        return x if keepdim else x.squeeze(place)

    extent = input.shape[place]

    def rule(grad: Tensor, indices: Tensor) -> list:
        return [put_along(grad if keepdim else grad.unsqueeze(place), indices, place, extent)]

    values = formula(
        label, [input], lambda x, indices: drop(take_along(x, indices, place)).clone(), rule, constants=[indices]
    )
    return values, drop(indices)


def take_along(input: Tensor, indices: Tensor, place: int, label: str = "GatherBackward0") -> Tensor:
    """Elements along a dimension, at indices of the result's shape."""
    return run(prepare(label, "_mxl_take_along", "axis"), [input, indices], place, kind=input._dtype)


def put_along(input: Tensor, indices: Tensor, place: int, extent: int) -> Tensor:
    """Zeros, with elements added along a dimension of that extent, at indices of the input's shape."""
    call = prepare("ScatterAddBackward0", "_mxl_put_along", "axis", "extent")
    return run(call, [input, indices], place, extent, kind=input._dtype)


def _arg(name: str, operator: str) -> Callable:
    def arg(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        require_tensor(name, 1, "input", input)
        if input._dtype.kind == BOOL:
            raise RuntimeError(f"{name}(): does not support bool input")
        if dim is None:
            _require_elements(name, input)
        values = input.detach()
        if dim is not None:
            check_dim(dim, input.ndim)
        if dim is None or not input.shape:
            values, place = values.reshape(-1), 0
        else:
            place = check_dim(dim, input.ndim)
            require_extent(name, input, place)
        found = _positions(values, operator, place, keepdim and bool(input.shape))
        return found.reshape((1,) * input.ndim) if dim is None and keepdim else found

    arg.__name__ = name
    arg.__doc__ = f"Where the {name[3:]}imum of all elements is, or along a dimension: the first such place."
    return both(name)(arg)


def _positions(values: Tensor, operator: str, place: int, keepdim: bool) -> Tensor:
    return run(prepare(None, operator, "axis", keepdims=str(keepdim)), [values], place, kind=int64)


argmax, argmin = _arg("argmax", "_mxl_argmax"), _arg("argmin", "_mxl_argmin")
max = _extreme("max", "MaxBackward", "max", maximum, argmax)  # noqa: A001 - PyTorch's name
min = _extreme("min", "MinBackward", "min", minimum, argmin)  # noqa: A001
