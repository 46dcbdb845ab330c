"""Maxima, minima, sorting and the elements in the middle, with where they are; cumulative sums and products."""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, Callable

from mxlite.torch._calls import both, positive, prepare, require_tensor, run, run_many, values
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import BOOL, FLOATING, INTEGER, bool_, float64, from_kind, int64, uint8
from mxlite.torch._errors import none_of
from mxlite.torch._kinds import check_dim
from mxlite.torch._math.pairs import maximum, minimum
from mxlite.torch._math.reductions import aligned, as_sum, places_of, reduce, reduction
from mxlite.torch._nodes import formula
from mxlite.torch._shape.shapes import along
from mxlite.torch._tensor import Tensor, full_of, zeros_of


def pair(name: str, *fields: str) -> Any:
    """The class of a function's results (`values` and `indices`, or other ones), which prints as PyTorch's."""
    made = namedtuple(name, fields or ("values", "indices"))

    def text(self: Any) -> str:
        listed = ",\n".join(f"{field}={value!r}" for field, value in zip(self._fields, self))
        return f"torch.return_types.{name}(\n{listed})"

    made.__repr__ = text
    made.__module__ = "torch.return_types"
    return made


def _require_elements(name: str, input: Tensor) -> None:
    if input.numel() == 0:
        kind = IndexError if name.startswith("arg") else RuntimeError
        ending = "" if kind is IndexError else "; `dim` names one that has"
        raise kind(f"{name}: the tensor has no elements{ending}")


def require_extent(name: str, input: Tensor, place: int) -> None:
    if input.shape and input.shape[place] == 0:
        raise IndexError(f"{name}: dimension {place} has size 0")


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
        return cast(reduce(None, name, cast(x, uint8), places, keepdim), bool_)
    return reduce(None, name, x, places, keepdim)


def _found(name: str, label: str) -> tuple[dict[str, Any], Callable]:
    """The calls of what finds an element of each row along a dimension, by the dimension alone; and a function of the
    tensor, the dimension and `keepdim`."""
    call = {flag: prepare(label, "_mxl_found", "axis", what=name, keepdims=flag) for flag in (False, True)}
    results = pair(name)

    def found(input: Tensor, dim: int, keepdim: bool) -> Any:
        place = check_dim(dim, input.ndim)
        require_extent(name, input, place)
        if not input.shape:
            return results(input.clone(), zeros_of((), int64))
        return results(*run_many(call[bool(keepdim)], [input], place, kinds=[input._dtype, int64]))

    return {
        "axis": call[False],
        "keep": call[True],
        "results": (results, None, int64),
        "least": 1,
        "again": True,
    }, found


def _extreme(name: str, label: str, operator: str, pairwise: Callable) -> Callable:
    along, found = _found(name, f"{label}0")

    @both(
        name,
        document=f"The {name}imum of all elements; along a dimension, values and where they are; or of two tensors.",
        calls={"one": prepare(None, operator), "constant": True, **along, **from_kind(INTEGER)},
    )
    def extreme(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        require_tensor(name, 1, "input", input)
        other = dim if isinstance(dim, Tensor) else other
        if other is not None:
            return pairwise(input, other)
        if dim is None:
            _require_elements(name, input)
            return shared(f"{label}1", input, lambda x: _extreme_of(x, operator, None, False))
        return found(input, dim, keepdim)

    @both(
        "a" + name,
        document=f"The {name}imum along dimensions (none: of all); equal elements share the gradient.",
        calls={"one": prepare(None, operator), "axes": reduction(None, operator, False), "least": 1, "constant": True,
               "keep": reduction(None, operator, True), "again": True, **from_kind(INTEGER)},
    )  # fmt: skip
    def among(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
        places = places_of(dim, input.ndim)
        if places is None:
            _require_elements("a" + name, input)
        for place in places or ():
            require_extent("a" + name, input, place)
        return shared(
            f"A{name}Backward0", input, lambda x: _extreme_of(x, operator, places, keepdim), places, keepdim, False
        )

    return extreme


def picked(label: str, input: Tensor, place: int, indices: Tensor, keepdim: bool) -> tuple[Tensor, Tensor]:
    """An element of each row along a dimension, at indices that have it with size 1; with and without it."""
    if not input.shape:
        return input.clone(), zeros_of((), int64)
    shown = indices if keepdim else indices.squeeze(place)
    if input.ndim == 1:  # of which pick gives no tensor without dimensions
        call = prepare(label, "take", "axis", slots="0", mode="clip")
    else:
        call = prepare(label, "pick", "axis", keepdims=str(bool(keepdim)), slots="0")
    return run(call, [input, shown], place, kind=input._dtype), shown


def _detached(input: Tensor) -> Tensor:
    """The tensor without its place in the graph."""
    return input.detach() if input.requires_grad else input


def _arg(name: str, operator: str) -> Callable:
    call = {flag: prepare(None, operator, "axis", keepdims=str(flag)) for flag in (False, True)}

    @both(
        name,
        document=f"Where the {name[3:]}imum of all elements is, or along a dimension: the first such index.",
        calls={
            "axis": call[False],
            "keep": call[True],
            "result": int64,
            "constant": True,
            "again": True,
            **from_kind(INTEGER),
        },
    )
    def arg(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        require_tensor(name, 1, "input", input)
        if input._dtype.kind == BOOL:
            raise RuntimeError(f"{name}: takes no truth values")
        if dim is None:
            _require_elements(name, input)
        values = _detached(input)
        place = 0 if dim is None else check_dim(dim, input.ndim)
        if dim is None or not input.shape:
            values = values.reshape(-1)
        else:
            require_extent(name, input, place)
        found = run(call[bool(keepdim and input.shape)], [values], place, kind=int64)
        return found.reshape((1,) * input.ndim) if dim is None and keepdim else found

    return arg


argmax, argmin = _arg("argmax", "_mxl_argmax"), _arg("argmin", "_mxl_argmin")
max = _extreme("max", "MaxBackward", "max", maximum)
min = _extreme("min", "MinBackward", "min", minimum)


# ---- cumulative ----


def _cumulative(name: str, operator: str, word: str) -> None:
    call = prepare(f"{name.title()}Backward0", operator, "axis")

    @both(
        name,
        document=f"The {word} of the elements up to each one, along a dimension.",
        calls={"axis": call, "again": True, **from_kind(FLOATING)},
    )
    @along
    def function(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
        input = as_sum(input, dtype)
        if input._dtype.kind == BOOL:
            raise none_of(name, input._dtype)
        return run(call, [input], check_dim(dim, input.ndim), kind=input._dtype)


_cumulative("cumsum", "cumsum", "sum")
_cumulative("cumprod", "_mxl_cumprod", "product")


# ---- order ----


_sort_result, _topk_result = pair("sort"), pair("topk")
#: The elements of each row in order and their indices, the largest (True) or the smallest ones first.
_sorted, _chosen = (
    {flag: prepare(label, "topk", *arguments, ret_typ="both", dtype="int64", is_ascend=not flag, **constants)
     for flag in (False, True)}
    for label, arguments, constants in (
        ("SortBackward0", ("axis",), {"k": 0}), ("TopkBackward0", ("k", "axis"), {})
    )
)  # fmt: skip


@both(
    calls={"one": _sorted[False], "values": values(dim=-1), "num_inputs": 1, "results": (_sort_result, None, int64),
           "least": 1, "again": True, **from_kind(INTEGER)},
)  # fmt: skip
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order along a dimension, and where they were."""
    place = check_dim(dim, input.ndim)
    if not input.shape:
        return _sort_result(input.clone(), zeros_of((), int64))
    return _sort_result(*run_many(_sorted[bool(descending)], [input], place, kinds=[input._dtype, int64]))


def _gathered(label: str, input: Tensor, place: int, indices: Tensor) -> Tensor:
    """The elements along a dimension at indices."""
    if not input.shape:
        return input.clone()
    return run(prepare(label, "_mxl_gather", "axis", slots="0"), [input, indices], place, kind=input._dtype)


@both()
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The indices that put the elements along a dimension in order."""
    place = check_dim(dim, input.ndim)
    if not input.shape:
        return zeros_of((), int64)
    call = prepare(None, "argsort", "axis", is_ascend=str(not descending), dtype="int64")
    return run(call, [_detached(input)], place, kind=int64)


@both(
    calls={"one": _chosen[True], "values": values(k=positive, dim=-1), "num_inputs": 1, "least": 1, "again": True,
           "results": (_topk_result, None, int64), **from_kind(INTEGER)},
)  # fmt: skip
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Along a dimension the k largest (or smallest) elements, in order, and where they are."""
    place = check_dim(dim, input.ndim)
    extent = input.shape[place] if input.shape else 1
    if input._dtype.kind == BOOL:
        raise RuntimeError("topk: takes no truth values")
    if not 0 <= k <= extent:
        raise RuntimeError(f"topk: k is from 0 to {extent}, got {k}")
    if not input.shape:
        return _topk_result(input.clone(), zeros_of((), int64))
    if not k:  # of the operator all
        return _topk_result(*(each.narrow(place, 0, 0) for each in sort(input, place)))
    return _topk_result(*run_many(_chosen[bool(largest)], [input], k, place, kinds=[input._dtype, int64]))


_median_calls, _median_along = _found("median", "MedianBackward1")


_median = prepare(None, "_mxl_found", what="median", axis=None, alone=True)


@both(calls={**_median_calls, "one": _median, "constant": True, **from_kind(INTEGER)})
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The element in the middle of all, or along a dimension (the lower one of two); NaN where there is one."""
    if input._dtype.kind == BOOL:
        raise none_of("median", input._dtype)
    if dim is not None:
        return _median_along(input, dim, keepdim)
    if not input.numel():
        return cast(full_of((), math.nan, float64), input._dtype)
    return shared("MedianBackward0", input, lambda x: run(_median, [x], kind=x._dtype))
