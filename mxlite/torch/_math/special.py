"""Functions of each element beyond the tables of elementwise.py: rounding, special functions, nan_to_num."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable

from mxlite.torch._calls import both, prepare, require_tensor, run
from mxlite.torch._composite import in_place_too
from mxlite.torch._convert import as_float, require_cast
from mxlite.torch._dtypes import INTEGER, finfo, from_kind
from mxlite.torch._math.elementwise import require_floats, unary
from mxlite.torch._nodes import formula
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, full_of

_round_even, _round_even_ = unary(
    "round", "_mxl_round_even", "RoundBackward0", False, "Rounded to the nearest integer, halves to even ones."
)


@partial(in_place_too, calls={"one": prepare("RoundBackward0", "_mxl_round_even"), **from_kind(INTEGER)})
def round(made: Callable, input: Tensor, *, decimals: int = 0) -> Tensor:
    """Rounded to `decimals` digits behind the point, halves to even ones."""
    if decimals == 0:
        return _round_even(input) if made is formula else _round_even_(input)
    require_floats("round", input._dtype)
    scale = 10.0 ** abs(decimals)

    def compute(x: Tensor) -> Tensor:
        return _round_even(x * scale) / scale if decimals > 0 else _round_even(x / scale) * scale

    return made("RoundBackward1", [input], compute, saves="")


def _composed(
    name: str, label: str, compute: Callable, document: str, derivative: Callable | None = None, **options: Any
) -> None:
    """A function of each element that is composed of others.

    Args:
        derivative: Its derivative, of x, where that of the composition is not PyTorch's at poles and bounds.
        options: `saves` of `formula`; `floats` False: integers are an error, else they become floats first.
    """
    rule = None if derivative is None else lambda grad, x: [grad * derivative(x)]
    saves, floats = options.get("saves", "0"), options.get("floats", True)

    def function(made: Callable, input: Tensor) -> Tensor:
        require_tensor(name, 1, "input", input)
        if not floats:
            require_floats(name, input._dtype)
        if made is formula:
            input = as_float(input)
        else:
            require_cast(as_float(input)._dtype, input._dtype)
        return made(label, [input], compute, rule, saves=saves)

    function.__name__, function.__doc__ = name, document
    in_place_too(function)


def _digamma(x: Tensor) -> Tensor:
    """Infinite at 0, with the sign of -1 / x; no number at the negative integers, where it jumps."""
    found = run(prepare("DigammaBackward0", "_mxl_polygamma", "n"), [x], 0)
    poles = x.detach()
    jumps = (poles < 0) & (poles == poles.floor())
    found = choose(jumps, full_of((), math.nan, x._dtype), found)
    return choose(poles == 0, -1 / poles, found)


unary("erfc", "_mxl_special", "ErfcBackward0", True, "1 - erf of each element.", function="erfc")
_composed("frac", "FracBackward0", lambda x: x - x.trunc(), "The fraction of each element.", saves="", floats=False)
_composed(
    "erfinv",
    "ErfinvBackward0",
    lambda x: run(prepare(None, "erfinv"), [x], kind=x._dtype),
    "The inverse of erf.",
    lambda x: x.erfinv().square().exp() * (math.sqrt(math.pi) / 2),  # the operator reads its result, this the element
)
_composed(
    "digamma",
    "DigammaBackward0",
    _digamma,
    "The derivative of lgamma.",
    lambda x: run(prepare(None, "_mxl_polygamma", "n"), [x], 1),
)
_composed(
    "lgamma",
    "LgammaBackward0",
    lambda x: run(prepare(None, "gammaln"), [x], kind=x._dtype),
    "The logarithm of the size of the gamma function.",
    lambda x: x.digamma(),
)


@in_place_too
def logit(made: Callable, input: Tensor, eps: float | None = None) -> Tensor:
    """The inverse of sigmoid, of elements clamped to `eps` and 1 - `eps`."""
    require_tensor("logit", 1, "input", input)
    if made is formula:
        input = as_float(input)
    else:
        require_cast(as_float(input)._dtype, input._dtype)
    low, high = (0.0, 1.0) if eps is None else (eps, 1.0 - eps)

    def compute(x: Tensor) -> Tensor:
        x = x if eps is None else x.clamp(low, high)
        return (x / (1 - x)).log()

    def rule(grad: Tensor, x: Tensor) -> list:
        beyond = full_of((), math.nan if eps is None else 0.0, x._dtype)
        return [grad * choose((x >= low) & (x <= high), 1 / (x * (1 - x)), beyond)]

    return made("LogitBackward0", [input], compute, rule, saves="0")


@both("nan_to_num")
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """With numbers in the place of NaN and infinities: 0, and the dtype's largest and smallest."""
    kind = input._dtype
    if not kind.is_floating_point:
        return input.clone()
    limits = finfo(kind)
    replaced = (
        (Tensor.isnan, 0.0 if nan is None else nan),
        (Tensor.isposinf, limits.max if posinf is None else posinf),
        (Tensor.isneginf, limits.min if neginf is None else neginf),
    )

    def compute(x: Tensor) -> Tensor:
        for where, number in [(where(x), number) for where, number in replaced]:
            x = choose(where, full_of((), number, kind), x)
        return x

    return formula("NanToNumBackward0", [input], compute)
