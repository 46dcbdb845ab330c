"""clamp, clamp_min, clamp_max: elements kept between bounds, which are numbers or tensors."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable

from mxlite.torch._broadcast import require_into
from mxlite.torch._calls import both, method, prepare, run, run_into, values
from mxlite.torch._convert import as_tensor_of, cast, common_dtype, require_cast
from mxlite.torch._dtypes import BOOL, FLOATING, from_kind
from mxlite.torch._edits import edit
from mxlite.torch._errors import none_of
from mxlite.torch._math.pairs import maximum, minimum
from mxlite.torch._nodes import formula, is_grad_enabled
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, require_fits


class _Bounds:
    """The two bounds of a call; either may be None.

    Raises: RuntimeError: both are; TypeError: a number beside a tensor.
    """

    def __init__(self, name: str, low: Any, high: Any) -> None:
        self.low, self.high = low, high
        self.given = [each for each in (low, high) if each is not None]
        if not self.given:
            raise RuntimeError(f"{name}: there is no bound, min and max are None")
        tensors = [isinstance(each, Tensor) for each in self.given]
        self.of_tensors = all(tensors)
        if any(tensors) and not self.of_tensors:
            self.low, self.high = (_as_number(name, each) for each in (low, high))
            self.given = [self.low, self.high]

    def are_plain(self, kind: Any) -> bool:
        """Whether they are numbers in order, of which the library has an operator."""
        if self.of_tensors or not kind.is_floating_point:
            return False
        return self.given[0] <= self.given[-1]

    def fitted(self, kind: Any) -> list[Tensor]:
        """The given bounds, as tensors of a dtype.

        Raises: RuntimeError: a number that it cannot hold.
        """
        return [as_tensor_of(each if self.of_tensors else require_fits(each, kind), kind) for each in self.given]


def _between(kind: Any, has_low: bool, has_high: bool, x: Tensor, *given: Tensor) -> Tensor:
    """The elements, as a dtype, between the bounds; the upper one decides where the lower one is above it.

    The gradient goes to whichever the result is, of equal ones to the element; to neither beside a NaN.
    """
    x, low, high = cast(x, kind), given[0], given[-1]
    result = maximum(x, low) if has_low else x
    result = (minimum(result, high) if has_high else result).detach()
    if not is_grad_enabled():
        return result
    inside, chosen = x == x, []
    if has_low:
        inside = inside & (x >= low)
        chosen.append(((x < low) & (low < high) if has_high else x < low, low))
    if has_high:
        inside = inside & (x <= high)
        chosen.append(((x > high) | (high < low) if has_low else x > high, high))
    for where, source in (*chosen, (inside, x)):
        result = choose(where, source, result)
    return result


def _as_number(name: str, bound: Any) -> Any:
    """A bound beside a number: a tensor without dimensions is one, too."""
    if not isinstance(bound, Tensor):
        return bound
    if bound.shape or bound.requires_grad:
        raise TypeError(f"{name}: takes two numbers or two tensors, not one of each")
    return bound.item()


def _clamp(made: Callable, name: str, label: str, input: Tensor, low: Any, high: Any) -> Tensor:
    """By a formula or an edit."""
    bounds = _Bounds(name, low, high)
    kind = common_dtype(input, *bounds.given)
    if made is edit:
        require_cast(kind, input._dtype)
        for each in bounds.given if bounds.of_tensors else ():
            require_into(input, each)
    x = input if made is edit else cast(input, kind)
    if bounds.are_plain(kind):
        for each in bounds.given:
            require_fits(each, kind)
        call = prepare(f"{label}{'Backward1' if name == 'clamp' else 'Backward0'}", "_mxl_clamp", "a_min", "a_max")
        ends = (-math.inf if low is None else float(bounds.low), math.inf if high is None else float(bounds.high))
        return run_into(call, x, [x], *ends) if made is edit else run(call, [x], *ends, kind=kind)
    if kind.kind == BOOL and not (len(bounds.given) == 1 and bounds.of_tensors):  # which is maximum or minimum
        raise none_of(name, kind)
    given = bounds.fitted(kind)
    keep = partial(_between, kind, bounds.low is not None, bounds.high is not None)
    if bounds.of_tensors:
        return made(f"{label}Backward{int(name != 'clamp')}", [x, *given], keep)
    return made(f"{label}Backward{int(name == 'clamp')}", [x], lambda x: keep(x, *given))


_clamp_call = prepare("ClampBackward1", "_mxl_clamp", "a_min", "a_max")


_clamp_calls = {
    "one": _clamp_call,
    "num_inputs": 1,
    "values": values(min=float, max=float),
    "again": True,
    **from_kind(FLOATING),
}


@both("clamp", "clip", calls=_clamp_calls)
def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Not below `min` and not above `max`: numbers or tensors; None is no bound."""
    return _clamp(formula, "clamp", "Clamp", input, min, max)


#: One bound and none: what `clamp_min` and `clamp_max` call, by the bound that is given.
_one_bound = {
    name: {
        "one": prepare(label, "_mxl_clamp", each, **{other: end}),
        "num_inputs": 1,
        "values": values(**{name: float}),
        "again": True,
        **from_kind(FLOATING),
    }
    for name, label, each, other, end in (
        ("min", "ClampMinBackward0", "a_min", "a_max", math.inf),
        ("max", "ClampMaxBackward0", "a_max", "a_min", -math.inf),
    )
}


@both("clamp_min", calls=_one_bound["min"])
def clamp_min(input: Tensor, min: Any) -> Tensor:
    """Not below `min`."""
    return _clamp(formula, "clamp_min", "ClampMin", input, min, None)


@both("clamp_max", calls=_one_bound["max"])
def clamp_max(input: Tensor, max: Any) -> Tensor:
    """Not above `max`."""
    return _clamp(formula, "clamp_max", "ClampMax", input, None, max)


@method("clamp_", "clip_", calls={**_clamp_calls, "into": True})
def clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """As clamp, into the tensor itself, which is returned."""
    return _clamp(edit, "clamp", "Clamp", self, min, max)
