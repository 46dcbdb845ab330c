"""Variance and deviation, norms, logsumexp: of all elements or along dimensions."""

from __future__ import annotations

import math
from typing import Any

from mxlite.torch._basic import with_shape
from mxlite.torch._calls import both, function, prepare, require_tensor, run
from mxlite.torch._convert import as_float, cast
from mxlite.torch._dtypes import DTYPES, EXACT, FLOATING, as_dtype, finfo, float32, from_kind
from mxlite.torch._errors import warn
from mxlite.torch._math.reductions import aligned, mean, places_of, reduce
from mxlite.torch._nodes import formula
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, full_of


def _spread(name: str, label: str, root: bool) -> None:
    given = {"root": str(root)}
    calls = [prepare(label, "_mxl_variance", "axis", "correction", keepdims=kept, **given) for kept in ("0", "1")]

    @both(
        name,
        document="Of all elements, or along dimensions; divided by one less than their number, or by `correction`.",
        calls={
            "one": prepare(label, "_mxl_variance", sure=1, **given),
            "axes": prepare(label, "_mxl_variance", "axis", sure=1, **given),
            "again": True,
            **from_kind(FLOATING),
        },
    )
    def spread_of(
        input: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Tensor:
        require_tensor(name, 1, "input", input)
        if not input._dtype.is_floating_point:
            raise RuntimeError(f"{name}: takes floating dtypes, got {input._dtype.word}")
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        by = correction if correction is not None else (1 if unbiased is None else int(unbiased))
        places = places_of(dim, input.ndim)
        if math.prod(input.shape[k] for k in places or range(input.ndim)) <= by:
            warn(f"{name}: there are no more elements than the correction ({by}), and nothing to divide by is left")
        return run(calls[bool(keepdim)], (input,), places, float(by), kind=input._dtype)

    @function(name + "_mean")
    def with_mean(
        input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, **given: Any
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        return spread_of(input, dim, unbiased, keepdim, **given), mean(input, dim, keepdim)


_spread("var", "VarBackward0", False)
_spread("std", "StdBackward0", True)


_view = prepare(None, "_mxl_reshape_to", "shape")
_clamp = prepare(None, "_mxl_clamp", "a_min", "a_max")
_MOST = {kind: finfo(kind).max for kind in DTYPES if kind.is_floating_point}


@both()
def logsumexp(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials along dimensions."""
    input = as_float(input)
    places = places_of(dim, input.ndim)

    def compute(x: Tensor) -> Tensor:
        if not x.numel():
            return reduce(None, "sum", x, places, keepdim).log()
        top = reduce(None, "max", x, places, True)
        most = _MOST[x._dtype]
        top = run(_clamp, [top], -most, most, kind=x._dtype)  # the difference of infinite ones would be NaN
        found = reduce(None, "sum", (x - top).exp(), places, keepdim).log()
        return found + (top if keepdim else with_shape(_view, top, found.shape))

    def rule(grad: Tensor, input: Tensor, result: Tensor) -> list:  # the composition would compute the result again
        wide, by = (aligned(each, input, places, keepdim) for each in (grad, result))
        return [wide * (input - by).exp()]

    return formula("LogsumexpBackward0", [input], compute, rule, saves="0r")


#: Of norms: those of all elements without a gradient.
NORM = {
    "first": prepare(None, "square"), "one": prepare(None, "sum"), "then": prepare(None, "sqrt"), "constant": True,
    **EXACT,
}  # fmt: skip


@both(calls=NORM)
def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm of all elements, or along dimensions, as vectors."""
    power = 2.0 if p in ("fro", None) else float(p)
    return vector_norm(input if dtype is None else cast(input, as_dtype(dtype)), power, dim, keepdim)


def vector_norm(x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm of all elements, or along dimensions."""
    input = x if dtype is None else cast(x, as_dtype(dtype))
    if not input._dtype.is_floating_point:
        raise RuntimeError(f"linalg.vector_norm: the input must be floating, its dtype is {input._dtype.word}")
    places = places_of(dim, input.ndim)
    reduced = input.shape if places is None else [input.shape[place] for place in places]
    if (ord < 0 or ord == math.inf) and 0 in reduced:
        raise RuntimeError(f"linalg.vector_norm: no elements have no norm of order {ord}")

    def compute(x: Tensor) -> Tensor:
        return cast(of_wide(cast(x, float32) if x._dtype.itemsize == 2 else x), x._dtype)

    def of_wide(x: Tensor) -> Tensor:
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
