"""Special functions: those of torch.special beyond _math/special.py, and those of two tensors: fmax, gcd, heaviside.

Most are operators of the library; those of two tensors have derivatives that are compositions.
"""

from __future__ import annotations

import math
from typing import Any, Callable

from mxlite.torch._broadcast import require_broadcast
from mxlite.torch._calls import both, function, functions, prepare, run, run_many
from mxlite.torch._composite import in_place_too
from mxlite.torch._convert import as_float, as_tensor_of, cast, common_dtype
from mxlite.torch._dtypes import BOOL, INTEGER, float16, float64, get_default_dtype, int32, int64
from mxlite.torch._errors import none_of
from mxlite.torch._math.elementwise import unary
from mxlite.torch._math.pairs import constant
from mxlite.torch._math.special import _composed
from mxlite.torch._nodes import formula
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, full_of

#: What torch.special has, by name.
SPECIAL: dict[str, Any] = {}


def _at(x: Tensor, place: Tensor, value: float, found: Tensor) -> Tensor:
    """`found`, with a number in some places."""
    return choose(place, full_of((), value, x._dtype), found)


# ---- of one tensor ----


def _entr(x: Tensor) -> Tensor:
    return _at(x, x < 0, -math.inf, _at(x, x == 0, 0.0, -x * x.log()))


def _entropy(x: Tensor) -> Tensor:
    return formula("SpecialEntrBackward0", [x], _entr, lambda grad, x: [grad * (-x.log() - 1)], saves="0")


def _sinc(x: Tensor) -> Tensor:
    by = _at(x, x == 0, 1, x * math.pi)
    return _at(x, x == 0, 1, by.sin() / by)


_composed("sinc", "SincBackward0", _sinc, "sin(pi x) / (pi x) of each element, 1 at 0.")
unary("i0", "_mxl_special", "I0Backward0", True, "The modified Bessel function of the first kind, of order 0.",
      function="modified_bessel_i0")  # fmt: skip


def _special(name: str, document: str, compute: Callable) -> None:
    def function(input: Tensor) -> Tensor:
        return compute(as_float(input))

    function.__name__, function.__doc__ = name, document
    SPECIAL[name] = function


def _of_library(name: str, label: str | None, document: str) -> None:
    """An operator of the library; without a label PyTorch has neither a derivative nor float16."""
    call = prepare(label, "_mxl_special", function="modified_bessel_i1" if name == "i1" else name)

    def compute(x: Tensor) -> Tensor:
        if label is None and x._dtype is float16:
            raise none_of(name, float16)
        return run(call, [x if label else x.detach()], kind=x._dtype)

    _special(name, document, compute)


for _name, _document in (
    ("i0e", "i0 times exp(-|x|)"), ("i1", "As i0, of order 1"), ("i1e", "i1 times exp(-|x|)"),
    ("erfcx", "exp(x^2) erfc(x)"), ("log_ndtr", "The logarithm of ndtr"), ("ndtri", "The inverse of ndtr"),
):  # fmt: skip
    _of_library(_name, f"Special{_name.title().replace('_', '')}Backward0", f"{_document}, of each element.")
for _name in """airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 modified_bessel_k0
             modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0""".split():
    _of_library(_name, None, f"{_name} of each element, without a derivative.")
_special("ndtr", "The normal distribution's function, of each element.", lambda x: (-x / math.sqrt(2)).erfc() / 2)
_special("entr", "-x log(x), 0 at 0 and -inf below, of each element.", _entropy)


@in_place_too
def polygamma(made: Callable, input: Tensor, n: int) -> Tensor:
    """The n-th derivative of digamma of each element."""
    if n < 0:
        raise RuntimeError(f"polygamma: n is from 0 on, got {n}")
    compute = lambda x: x.digamma() if n == 0 else run(prepare(None, "_mxl_polygamma", "n"), [x], n)  # noqa: E731
    rule = lambda grad, x: [grad * polygamma(x, n + 1)]  # noqa: E731
    x = as_float(input) if made is formula else input
    return made("PolygammaBackward0", [x], compute, rule, saves="0")


@function("polygamma")
def _polygamma(n: int, input: Tensor) -> Tensor:
    """The n-th derivative of digamma of each element."""
    if isinstance(n, Tensor):
        raise TypeError("polygamma: n is an integer")
    return polygamma(input, n)


@in_place_too
def mvlgamma(made: Callable, input: Tensor, p: int) -> Tensor:
    """The logarithm of the gamma function of matrices of size p, of each element."""
    if p < 1 or input._dtype.kind == BOOL:
        raise RuntimeError(f"mvlgamma: p is 1 or more, of numbers, got {p} and {input.dtype}")

    def compute(x: Tensor) -> Tensor:
        shifts = functions["arange"](p, dtype=x._dtype) / -2
        return (x.unsqueeze(-1) + shifts).lgamma().sum(-1) + p * (p - 1) / 4 * math.log(math.pi)

    return made("MvlgammaBackward0", [as_float(input) if made is formula else input], compute)


# ---- of two ----


def _operands(name: str, input: Any, other: Any, floats: bool = True) -> list[Tensor]:
    require_broadcast(input, other)
    kind = common_dtype(input, other)
    if floats and not kind.is_floating_point:
        kind = get_default_dtype()
    return [as_tensor_of(each, kind) for each in (input, other)]


def _pair_of_library(name: str, label: str | None, document: str) -> None:
    """An operator of the library, of two tensors or a number and one; without a label PyTorch has no derivative."""
    call, is_special = prepare(label, "_mxl_special_pair", function=name), name[:6] != "igamma"

    def function(input: Any, other: Any) -> Tensor:
        tensors = _operands(name, input, other)
        if tensors[0]._dtype is float16 and is_special:
            raise none_of(name, float16)
        return run(call, tensors if label else [each.detach() for each in tensors], kind=tensors[0]._dtype)

    function.__name__, function.__doc__ = name, document
    if is_special:
        SPECIAL[name] = function
    else:
        both(name, document=document)(function)


_pair_of_library("igamma", "IgammaBackward0", "The incomplete gamma function P(input, other).")
_pair_of_library("igammac", "IgammacBackward0", "1 less igamma.")
_pair_of_library("zeta", "SpecialZetaBackward0", "Hurwitz's zeta function.")
for _name in "chebyshev_t chebyshev_u chebyshev_v chebyshev_w hermite_h hermite_he laguerre_l legendre_p".split():
    _name = _name.replace("_", "_polynomial_")
    for _prefix in ("", "shifted_") if _name[0] == "c" else ("",):
        _pair_of_library(_prefix + _name, None, f"The polynomials {_prefix + _name}, of orders n.")


def _pair(name: str, compute: Callable, document: str, special: bool = False, **options: Any) -> None:
    """Registers a function of two tensors (`numbers`: or numbers) that is composed; `rule`, `saves`: of its formula."""
    label = options.pop("label", f"{name.title()}Backward0")
    floats, given = options.pop("floats", True), {"saves": "01", **options} if "rule" in options else options

    def function(input: Any, other: Any) -> Tensor:
        if not isinstance(input, Tensor) and not isinstance(other, Tensor):
            raise TypeError(f"{name}: one of both is a tensor")
        return formula(label, _operands(name, input, other, floats), compute, **given)

    function.__name__, function.__doc__ = name, document
    if special:
        SPECIAL[name] = function
    else:
        both(name, document=document)(function)


def _extreme(is_first: Callable) -> Callable:
    def compute(a: Tensor, b: Tensor) -> Tensor:
        return choose((is_first(a, b)) | (b != b), a, b)

    return compute


def _copysign_rule(grad: Tensor, a: Tensor, b: Tensor) -> list:
    ratio = _at(a, a == 0, 0, run(prepare(None, "_npi_copysign"), [a, b], kind=a._dtype) / a)
    return [grad * ratio.detach(), grad * 0]


def _xlog1py(a: Tensor, b: Tensor) -> Tensor:
    return choose((a == 0) & (b == b), full_of((), 0, a._dtype), a * b.log1p())


def _xlog1py_rule(grad: Tensor, a: Tensor, b: Tensor) -> list:
    still = (a == 0) & (b <= -1)
    return [choose(still, full_of((), 0, a._dtype), SPECIAL["xlog1py"](grad, _at(a, still, 0, b))), grad * a / (b + 1)]


def _logaddexp2(a: Tensor, b: Tensor) -> Tensor:
    if not a._dtype.is_floating_point:
        raise none_of("logaddexp2", a._dtype)
    by = math.log(2)
    return (a * by).logaddexp(b * by) / by


_pair("fmax", _extreme(lambda a, b: a >= b), "The larger elements; of a number and NaN the number.", floats=False)
_pair("fmin", _extreme(lambda a, b: a <= b), "The smaller elements; of a number and NaN the number.", floats=False)
_pair("copysign", lambda a, b: run(prepare(None, "_npi_copysign"), [a, b], kind=a._dtype),
      "Elements with the signs of others.", rule=_copysign_rule)  # fmt: skip
_pair("logaddexp2", _logaddexp2, "log2(2^input + 2^other).", floats=False)
_pair("xlog1py", _xlog1py, "input log(1 + other), 0 where input is 0.", True, rule=_xlog1py_rule,
      label="SpecialXlog1PyBackward0")  # fmt: skip


def _of_integers(name: str, operator: str, document: str) -> None:
    call = prepare(None, operator)

    @both(name, document=document)
    def function(input: Tensor, other: Tensor) -> Tensor:
        a, b = _operands(name, input, other, False)
        if a._dtype.kind != INTEGER:
            raise none_of(name, a._dtype)
        found = run(call, [a, b], kind=a._dtype)
        return found.abs() if name == "lcm" and a._dtype in (int32, int64) else found  # one too large wraps


_of_integers("gcd", "_mxl_gcd", "The greatest common divisor of elements.")
_of_integers("lcm", "_npi_lcm", "The least common multiple of elements.")


@both()
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 below 0, 1 above it, and `values` where elements are 0."""
    if input._dtype is not values._dtype:
        raise RuntimeError(f"heaviside: both tensors are of one dtype, got {input.dtype} and {values.dtype}")
    made = choose(input == 0, values.detach(), cast(input.detach() > 0, input._dtype))
    return constant("heaviside", [input, values], made)


@both()
def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """The next number of the dtype after each element towards another."""
    tensors = _operands("nextafter", input, other, False)
    if not tensors[0]._dtype.is_floating_point:
        raise none_of("nextafter", tensors[0]._dtype)
    return run(prepare("NextafterBackward0", "_mxl_nextafter"), tensors, kind=tensors[0]._dtype)


@both()
def ldexp(input: Tensor, other: Tensor) -> Tensor:
    """input * 2^other."""
    if isinstance(other, Tensor) and other._dtype.kind == BOOL and input._dtype.is_floating_point:
        raise none_of("ldexp", other._dtype)
    if not isinstance(other, Tensor) or other._dtype.kind != INTEGER or not input._dtype.is_floating_point:
        return input * functions["pow"](2.0, other)

    def compute(x: Tensor, other: Tensor) -> Tensor:  # in three steps, none of which is beyond the range
        other = cast(other, int64).clamp(-2100, 2100)
        third, wide = functions["pow"](2.0, cast(other // 3, float64)), cast(x, float64)
        return cast(wide * third * third * functions["pow"](2.0, cast(other - other // 3 * 2, float64)), x._dtype)

    return formula("LdexpBackward0", [input], compute, constants=[other])


@both()
def float_power(input: Any, exponent: Any) -> Tensor:
    """`input` to the power of `exponent`, in float64."""
    wide = [cast(each, float64) if isinstance(each, Tensor) else float(each) for each in (input, exponent)]
    return functions["pow"](*wide)


@both()
def frexp(input: Tensor) -> Any:
    """Fractions from 0.5 to 1, and exponents: `input` is fraction * 2 ** exponent."""
    from mxlite.torch._math.order import pair

    if not input._dtype.is_floating_point:
        raise RuntimeError(f"frexp: takes floating dtypes, got {input.dtype}")
    made = run_many(prepare("FrexpBackward0", "_mxl_frexp"), [input], kinds=[input._dtype, int32])
    return pair("frexp", "mantissa", "exponent")(*made)
