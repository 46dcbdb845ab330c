"""Variance and deviation, norms, logsumexp: of all elements or along dimensions."""

from __future__ import annotations

import math
from typing import Any

from mxlite.torch._calls import both, function, prepare, run_many
from mxlite.torch._convert import as_float, cast
from mxlite.torch._dtypes import as_dtype, float16, float64
from mxlite.torch._math.reductions import aligned, mean, places_of, reduce
from mxlite.torch._nodes import formula
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, full_of


def _variance(label: str, input: Tensor, places: Any, correction: float, keepdim: bool, root: bool) -> Tensor:
    if not input._dtype.is_floating_point:
        raise RuntimeError(f"{'std' if root else 'var'}: takes floating dtypes, got {input._dtype.word}")
    reduced = tuple(range(input.ndim)) if places is None else places
    count = math.prod(input.shape[place] for place in reduced)
    over = count - correction if count and count > correction else 0.0

    def compute(x: Tensor) -> Tensor:
        wide = cast(x, float64) if root or x._dtype is float16 else x  # squares of large numbers have room there
        if not count or not x.ndim:
            found = reduce(None, "sum", wide * 0, places, keepdim)
        else:
            call = prepare(None, "moments", "axes", keepdims=str(bool(keepdim)))
            _, found = run_many(call, [wide], reduced, kinds=[wide._dtype] * 2)
        found = found * (count / over) if over else found / 0.0
        return cast(found.sqrt() if root else found, x._dtype)

    def rule(grad: Tensor, input: Tensor, result: Tensor) -> list:
        away = _away(input, places)
        wide = aligned(grad, input, places, keepdim)
        if not root:
            if places is None and not over:  # infinite, and NaN where nothing is away
                endless = full_of((), math.inf, away._dtype)
                return [wide * choose(away.detach() == 0, endless - endless, endless)]
            return [(2.0 / (count - correction) if count != correction else math.inf) * wide * away]
        by = aligned(result, input, places, keepdim)
        if not over:  # the deviation is infinite, or no number
            return [wide / by * (away * (0 if places and count < correction else math.nan))]
        part = choose(by == 0, full_of((), 0, by._dtype), wide / (by * over))
        return [part * away]

    if root:
        return formula(label, [input], compute, rule, saves="0r")
    return formula(label, [input], compute, lambda grad, x: rule(grad, x, grad), saves="0")


def _away(x: Tensor, places: Any) -> Tensor:
    """Each element less the mean; exactly 0 where all are equal, as their rounded sum need not be."""
    away = x - _mean_of(x, places)
    rest = _mean_of(away, places)
    return away - choose(rest.detach() == rest.detach(), rest, full_of((), 0, rest._dtype))


def _mean_of(x: Tensor, places: Any) -> Tensor:
    return mean(x, tuple(range(x.ndim)) if places is None else places, True) if x.shape else x * 1


def _spread(name: str, label: str, root: bool) -> None:
    @both(
        name,
        document="Of all elements, or along dimensions; divided by one less than their number, or by `correction`.",
    )
    def spread_of(
        input: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Tensor:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        by = correction if correction is not None else (1 if unbiased is None else int(unbiased))
        return _variance(label, input, places_of(dim, input.ndim), by, keepdim, root)

    @function(name + "_mean")
    def with_mean(
        input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, **given: Any
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        return spread_of(input, dim, unbiased, keepdim, **given), mean(input, dim, keepdim)


_spread("var", "VarBackward0", False)
_spread("std", "StdBackward0", True)


@both()
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials along dimensions."""
    input = as_float(input)
    places = places_of(dim, input.ndim)

    def compute(x: Tensor) -> Tensor:
        if not x.numel():
            return reduce(None, "sum", x, places, keepdim).log()
        top = x.amax(places, True)
        top = choose(top.isinf(), full_of((), 0, top._dtype), top)
        found = (x - top).exp().sum(places, True).log() + top
        return found if keepdim else found.reshape(reduce(None, "sum", x, places, False).shape)

    def rule(grad: Tensor, input: Tensor, result: Tensor) -> list:  # the composition would compute the result again
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
        raise RuntimeError(f"linalg.vector_norm: the input must be floating, its dtype is {input._dtype.word}")
    places = places_of(dim, input.ndim)
    reduced = input.shape if places is None else [input.shape[place] for place in places]
    if (ord < 0 or ord == math.inf) and 0 in reduced:
        raise RuntimeError(f"linalg.vector_norm: no elements have no norm of order {ord}")

    def compute(x: Tensor) -> Tensor:
        if ord == 2:
            return reduce(None, "sum", x * x, places, keepdim).sqrt()
        size = x.abs()
        if ord in (math.inf, -math.inf):
            return size.amax(places or (), keepdim) if ord > 0 else size.amin(places or (), keepdim)
        if ord == 0:
            return reduce(None, "sum", cast(size != 0, x._dtype), places, keepdim)
        if ord == 1:
            return reduce(None, "sum", size, places, keepdim)
        return reduce(None, "sum", size**ord, places, keepdim) ** (1.0 / ord)

    def rule(grad: Tensor, input: Tensor, result: Tensor) -> list:  # no gradient flows to vectors of zeros
        wide, by = (aligned(each, input, places, keepdim) for each in (grad, result))
        zero = full_of((), 0, by._dtype)
        if ord == 2:
            return [input * choose(by == 0, zero, wide / by)]
        scaled = input.sign() * input.abs() ** (ord - 1)
        if ord < 1:
            scaled = choose(input.detach() == 0, zero, scaled)
        return [scaled * choose(by == 0, zero, wide / by ** (ord - 1))]

    if ord in (0, 1, math.inf, -math.inf):
        return formula("LinalgVectorNormBackward0", [input], compute)
    return formula("LinalgVectorNormBackward0", [input], compute, rule, saves="0r")
