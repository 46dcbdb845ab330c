"""Sums, means, extremes and their kin, of all elements or along dimensions."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, Callable

from mxlite._lib import hot
from mxlite.torch._calls import adopt, both, function, functions, prepare, require_tensor, run
from mxlite.torch._convert import as_float, cast
from mxlite.torch._dtypes import BOOL, as_dtype, float64, int64
from mxlite.torch._dtypes import bool_ as _bool
from mxlite.torch._dtypes import uint8 as _uint8
from mxlite.torch._kinds import check_dim, check_dims
from mxlite.torch._nodes import formula, is_grad_enabled
from mxlite.torch._tensor import Tensor, full_of, zeros_of


def pair(name: str) -> Any:
    """The class of a function's two results, which prints as PyTorch's."""
    made = namedtuple(name, ("values", "indices"))

    def text(self: Any) -> str:
        return f"torch.return_types.{name}(\nvalues={self.values!r},\nindices={self.indices!r})"

    made.__repr__ = text
    made.__module__ = "torch.return_types"
    return made


def spread(grad: Tensor, input: Tensor, places: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    """A gradient of a reduction's result as one of its input's shape."""
    return aligned(grad, input, places, keepdim).expand(input.shape)


def aligned(result: Tensor, input: Tensor, places: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    """A reduction's result with extents of 1 where the input has the dimensions that were reduced."""
    ndim = len(input.shape)
    if places is None:
        return result.reshape((1,) * ndim)
    if keepdim:
        return result
    for place in sorted(places):
        result = result.unsqueeze(place)
    return result


def _places(dim: Any, axis: Any, ndim: int) -> tuple[int, ...] | None:
    """The dimensions to be reduced; None: all of them, as in a tensor that has none."""
    dim = axis if dim is None else dim
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return None
    places = check_dims(dim, ndim)
    return places if ndim else None


def _reduce(label: str, name: str, input: Tensor, places: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    if places is None:
        if keepdim:
            places = tuple(range(len(input.shape)))
            return run(prepare(label, name, "axis", keepdims="True"), [input], places, kind=input._dtype)
        return adopt(hot.call1(prepare(label, name), input._h), input._dtype)
    call = prepare(label, name, "axis", keepdims=str(bool(keepdim)))
    return adopt(hot.call1_list(call, input._h, len(places), places), input._dtype)


def as_sum(input: Tensor, kind: Any) -> Tensor:
    """The tensor in the dtype that its sum has: integers as int64.

    Raises: RuntimeError: a gradient is wanted, and the dtype has none.
    """
    if kind is not None:
        kind = as_dtype(kind)
        if not kind.is_floating_point and input.requires_grad and is_grad_enabled():
            raise RuntimeError(f"Autograd not support dtype: {kind.word}")
        return cast(input, kind)
    return input if input._dtype.is_floating_point else cast(input, int64)


_sum_all = prepare("SumBackward0", "sum")
_mean_all = prepare("MeanBackward0", "mean")


@both()
def sum(  # noqa: A001
    input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None
) -> Tensor:
    """The sum of all elements, or along dimensions; of integers and bool an int64."""
    require_tensor("sum", 1, "input", input)
    input = as_sum(input, dtype)
    if dim is None and axis is None and not keepdim:
        return adopt(hot.call1(_sum_all, input._h), input._dtype)
    return _reduce("SumBackward1", "sum", input, _places(dim, axis, input.ndim), keepdim)


@both()
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum with NaN as 0."""
    input = as_sum(input, dtype)
    return _reduce("NansumBackward0", "nansum", input, _places(dim, None, input.ndim), keepdim)


@both()
def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None) -> Tensor:
    """The mean of all elements, or along dimensions.

    Raises: RuntimeError: a dtype without fractions.
    """
    require_tensor("mean", 1, "input", input)
    if dtype is not None:
        input = cast(input, as_dtype(dtype))
    if not input._dtype.is_floating_point:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            f"{input._dtype.word}"
        )
    if dim is None and axis is None and not keepdim:
        return adopt(hot.call1(_mean_all, input._h), input._dtype)
    return _reduce("MeanBackward1", "mean", input, _places(dim, axis, input.ndim), keepdim)


@both()
def prod(input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product of all elements, or along a dimension; of integers and bool an int64."""
    input = as_sum(input, dtype)
    places = _places(dim, None, input.ndim)
    label = "ProdBackward0" if dim is None else "ProdBackward1"

    def compute(x: Tensor) -> Tensor:
        return _reduce("", "prod", x, places, keepdim)

    def rule(grad: Tensor, input: Tensor, result: Tensor) -> list:
        wide = spread(grad, input, places, keepdim)
        values = input.detach()
        if not bool((values == 0).any()):
            return [wide * aligned(result, input, places, keepdim) / input]
        return [wide * _product_of_others(input, places)]

    return formula(label, [input], compute, rule, saves="0r")


def _product_of_others(input: Tensor, places: tuple[int, ...] | None) -> Tensor:
    """For each element the product of those that are multiplied with it, zeros among them."""
    if places is None:
        return _product_of_others(input.reshape(-1), (0,)).reshape(input.shape)
    (place,) = places
    length = input.shape[place]
    before = ones = functions["ones_like"](input.narrow(place, 0, 1))
    ahead, behind = [], []
    for i in range(length):
        ahead.append(before)
        before = before * input.narrow(place, i, 1)
    after = ones
    for i in reversed(range(length)):
        behind.insert(0, after)
        after = after * input.narrow(place, i, 1)
    cat = functions["cat"]
    return cat(ahead, place) * cat(behind, place)


# ---- extremes ----


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
        hit = x == y
        if with_nan:
            hit = functions["logical_or"](hit, functions["logical_and"](x != x, y != y))
        where = cast(hit, input._dtype)
        count = sum(where) if places is None else sum(where, places, True)
        return [where * (aligned(grad, input, places, keepdim) / count)]

    return formula(label, [input], compute, rule, saves="0r")


def _extreme_of(x: Tensor, name: str, places: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    if x._dtype.kind == BOOL:
        return cast(_reduce("", name, cast(x, _uint8), places, keepdim), _bool)
    return _with_nan(_reduce("", name, x, places, keepdim), x, places, keepdim)


def _with_nan(result: Tensor, input: Tensor, places: tuple[int, ...] | None, keepdim: bool) -> Tensor:
    """An extreme of numbers among which there is a NaN is NaN."""
    if not input._dtype.is_floating_point:
        return result
    bad = input != input
    if not bool(any(bad)):
        return result
    where = any(bad) if places is None else any(bad, places, keepdim)
    return functions["where"](where.reshape(result.shape), full_of((), math.nan, result._dtype), result)


def _extreme(name: str, label: str, operator: str) -> Callable:
    results = pair(name)

    def extreme(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        require_tensor(name, 1, "input", input)
        other = dim if isinstance(dim, Tensor) else other
        if other is not None:
            return functions["maximum" if name == "max" else "minimum"](input, other)
        if dim is None:
            _require_elements(name, input)
            return shared(f"{label}1", input, lambda x: _extreme_of(x, operator, None, False))
        place = check_dim(dim, input.ndim)
        require_extent(name, input, place)
        numbers = cast(input, _uint8) if input._dtype.kind == BOOL else input
        indices = functions["arg" + name](numbers, place, True)
        return results(*picked(f"{label}0", input, place, indices, keepdim))

    extreme.__name__ = name
    extreme.__doc__ = (
        f"The {name}imum of all elements; along a dimension, values and where they are; or of two tensors."
    )
    both(name)(extreme)

    def among(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
        places = _places(dim, None, input.ndim)
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
        return functions["clone"](input), zeros_of((), int64)

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


def _arg(name: str, operator: str) -> None:
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
    both(name)(arg)


def _positions(values: Tensor, operator: str, place: int, keepdim: bool) -> Tensor:
    import numpy as np

    from mxlite.torch._tensor import from_values

    found = getattr(np, operator)(values._values(), axis=place)
    made = from_values(np.asarray(found, np.int64))
    return made.unsqueeze(place) if keepdim else made


_arg("argmax", "argmax")
_arg("argmin", "argmin")
max = _extreme("max", "MaxBackward", "max")  # noqa: A001 - PyTorch's name
min = _extreme("min", "MinBackward", "min")  # noqa: A001


# ---- truth values ----


def _truth(name: str, operator: str) -> Callable:
    def truth(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        require_tensor(name, 1, "input", input)
        kind = _uint8 if input._dtype is _uint8 else _bool
        values = cast(input.detach() != 0, _uint8)
        if isinstance(dim, (tuple, list)) and not dim:
            return cast(values, kind)
        places = _places(dim, None, input.ndim)
        counted = values.shape if places is None else [values.shape[place] for place in places]
        if 0 in counted:  # nothing is any, and everything of nothing is all
            left = _reduce("", "sum", cast(values, int64), places, keepdim)
            return cast(left == 0 if name == "all" else left > 0, kind)
        return cast(_reduce("", operator, values, places, keepdim), kind)

    truth.__name__ = name
    truth.__doc__ = f"Whether {name} of the elements, or of those along dimensions, differ from 0."
    return both(name)(truth)


any = _truth("any", "max")  # noqa: A001 - PyTorch's name
all = _truth("all", "min")  # noqa: A001


@both()
def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """How many elements differ from 0."""
    return sum(input != 0, dim)


# ---- spread ----


def _variance(label: str, input: Tensor, places: Any, correction: float, keepdim: bool, root: bool) -> Tensor:
    if not input._dtype.is_floating_point:
        raise RuntimeError(f"{'std' if root else 'var'} only support floating point and complex dtypes")
    count = input.numel() if places is None else math.prod(input.shape[place] for place in places)
    over = count - correction if count and count > correction else 0.0

    def compute(x: Tensor) -> Tensor:
        wide = cast(x, float64)  # squares of large numbers have room there
        away = _away(wide, places)
        total = _reduce("", "sum", away * away, places, keepdim)
        found = total / over if over else total / 0.0
        return cast(found.sqrt() if root else found, x._dtype)

    def rule(grad: Tensor, input: Tensor, result: Tensor) -> list:
        away = _away(input, places)
        wide = aligned(grad, input, places, keepdim)
        if not root:
            if places is None and not over:  # infinite, and NaN where nothing is away
                endless = full_of((), math.inf, away._dtype)
                return [wide * functions["where"](away.detach() == 0, endless - endless, endless)]
            return [(2.0 / (count - correction) if count != correction else math.inf) * wide * away]
        by = aligned(result, input, places, keepdim)
        if not over:  # the deviation is infinite, or no number
            return [wide / by * (away * (0 if places and count < correction else math.nan))]
        part = functions["where"](by == 0, full_of((), 0, by._dtype), wide / (by * over))
        return [part * away]

    if root:
        return formula(label, [input], compute, rule, saves="0r")
    return formula(label, [input], compute, lambda grad, x: rule(grad, x, grad), saves="0")


def _away(x: Tensor, places: Any) -> Tensor:
    """Each element less the mean; exactly 0 where all are equal, as their rounded sum need not be."""
    away = x - _mean_of(x, places)
    rest = _mean_of(away, places)
    return away - functions["where"](rest.detach() == rest.detach(), rest, full_of((), 0, rest._dtype))


def _mean_of(x: Tensor, places: Any) -> Tensor:
    return mean(x, tuple(range(x.ndim)) if places is None else places, True) if x.shape else x * 1


def _spread(name: str, label: str, root: bool) -> None:
    def spread_of(
        input: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
        axis: Any = None,
    ) -> Tensor:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        by = correction if correction is not None else (1 if unbiased is None else int(unbiased))
        return _variance(label, input, _places(dim, axis, input.ndim), by, keepdim, root)

    spread_of.__name__ = name
    spread_of.__doc__ = (
        "Of all elements, or along dimensions; divided by one less than their number, or by `correction`."
    )
    both(name)(spread_of)

    def with_mean(
        input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, **given: Any
    ) -> Any:
        return spread_of(input, dim, unbiased, keepdim, **given), mean(input, dim, keepdim)

    function(name + "_mean")(with_mean)


_spread("var", "VarBackward0", False)
_spread("std", "StdBackward0", True)


@both()
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials along dimensions."""
    input = as_float(input)
    places = _places(dim, None, input.ndim)

    def compute(x: Tensor) -> Tensor:
        if not x.numel():
            return _reduce("", "sum", x, places, keepdim).log()
        top = x.amax(places, True)
        top = functions["where"](top.abs() == math.inf, full_of((), 0, top._dtype), top)
        found = (x - top).exp().sum(places, True).log() + top
        return found if keepdim else found.reshape(_reduce("", "sum", x, places, False).shape)

    def rule(grad: Tensor, input: Tensor, result: Tensor) -> list:
        wide, by = (aligned(each, input, places, keepdim) for each in (grad, result))
        return [wide * (input - by).exp()]

    return formula("LogsumexpBackward0", [input], compute, rule, saves="0r")


@both()
def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm of all elements, or along dimensions, as vectors."""
    power = 2.0 if p in ("fro", None) else float(p)
    return vector_norm(input if dtype is None else cast(input, as_dtype(dtype)), power, dim, keepdim)


def vector_norm(
    x: Tensor,
    ord: float = 2,  # noqa: A002
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """The p-norm of all elements, or along dimensions."""
    input = x if dtype is None else cast(x, as_dtype(dtype))
    if not input._dtype.is_floating_point:
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {input._dtype.word}"
        )
    places = _places(dim, None, input.ndim)
    reduced = input.shape if places is None else [input.shape[place] for place in places]
    if ord < 0 and 0 in reduced:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation does not have "
            "an identity"
        )

    def compute(x: Tensor) -> Tensor:
        size = x.abs()
        if ord in (math.inf, -math.inf):
            return _reduce("", "max" if ord > 0 else "min", size, places, keepdim)
        if ord == 0:
            return _reduce("", "sum", cast(size != 0, x._dtype), places, keepdim)
        if ord == 1:
            return _reduce("", "sum", size, places, keepdim)
        if ord == 2:
            return _reduce("", "sum", x * x, places, keepdim).sqrt()
        return _reduce("", "sum", size**ord, places, keepdim) ** (1.0 / ord)

    def rule(grad: Tensor, input: Tensor, result: Tensor) -> list:
        wide, by = (aligned(each, input, places, keepdim) for each in (grad, result))
        if ord == 0:
            return [None]
        if ord == 1:
            return [wide * input.sign()]
        if ord in (math.inf, -math.inf):
            where = cast(input.detach().abs() == by.detach(), input._dtype)
            count = sum(where) if places is None else sum(where, places, True)
            return [input.sign() * where * (wide / count)]
        zero = full_of((), 0, by._dtype)
        where = functions["where"]
        if ord == 2:
            return [input * where(by == 0, zero, wide / by)]
        scaled = input.sign() * input.abs() ** (ord - 1)
        if ord < 1:
            scaled = where(input.detach() == 0, zero, scaled)
        return [scaled * where(by == 0, zero, wide / by ** (ord - 1))]

    return formula("LinalgVectorNormBackward0", [input], compute, rule, saves="0r")
