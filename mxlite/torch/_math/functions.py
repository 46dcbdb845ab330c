"""Special functions: those of torch.special beyond _math/special.py, and those of two tensors: fmax, gcd, heaviside.

Their values are found on NumPy's (mxlite/_numbers/special.py), in float64; derivatives are compositions of them.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Callable

import numpy as np

from mxlite._numbers import special as numbers
from mxlite.torch._basic import from_values
from mxlite.torch._broadcast import require_broadcast
from mxlite.torch._calls import both, function, functions, prepare, run
from mxlite.torch._composite import in_place_too
from mxlite.torch._convert import as_float, as_tensor_of, cast, common_dtype
from mxlite.torch._dtypes import INTEGER, float16, float64, get_default_dtype
from mxlite.torch._errors import none_of
from mxlite.torch._math.pairs import constant
from mxlite.torch._math.special import _composed
from mxlite.torch._nodes import formula
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, full_of

#: What torch.special has, by name.
SPECIAL: dict[str, Any] = {}


def _values(find: Callable, *tensors: Tensor) -> Tensor:
    """What a function of NumPy arrays finds, in the dtype of the first tensor."""
    with np.errstate(all="ignore"):
        found = np.asarray(find(*(each._values() for each in tensors)))
    return from_values(found, tensors[0]._dtype)


def _at(x: Tensor, place: Tensor, value: float, found: Tensor) -> Tensor:
    """`found`, with a number in some places."""
    return choose(place, full_of((), value, x._dtype), found)


def _unrecorded(find: Callable, *tensors: Tensor) -> Tensor:
    """The same of functions that have no derivative, and no float16."""
    if tensors[0]._dtype is float16:
        raise none_of("special", float16)
    return _values(find, *tensors)


# ---- of one tensor ----


def _bessel(order: int, scaled: bool) -> Callable:
    find = partial(numbers.bessel_i_scaled if scaled else numbers.bessel_i, order)
    label = f"SpecialI{order}{'E' * scaled}Backward0" if order or scaled else "I0Backward0"

    def slope(x: Tensor, found: Tensor) -> Tensor:
        other = _bessel(1 - order, scaled)(x)
        if order:
            other = _at(x, x == 0, 0.5, other - found / _at(x, x.detach() == 0, 1, x))
        return other - x.sign() * found if scaled else other

    return lambda x: formula(
        label, [x], partial(_values, find), lambda grad, x, found: [grad * slope(x, found)], saves="0r"
    )


def _erfcx(x: Tensor) -> Tensor:
    rule = lambda grad, x, y: [grad * (2 * x * y - 2 / math.sqrt(math.pi))]  # noqa: E731
    return formula("SpecialErfcxBackward0", [x], partial(_values, numbers.erfcx), rule, saves="0r")


def _log_ndtr(x: Tensor) -> Tensor:
    def compute(x: Tensor) -> Tensor:
        wide = cast(x, float64)
        below = _erfcx((-wide).clamp_min(0) / math.sqrt(2)).log() - wide * wide / 2 - math.log(2)
        return cast(choose(wide < 0, below, (-_ndtr(-wide)).log1p()), x._dtype)

    rule = lambda grad, x: [grad * math.sqrt(2 / math.pi) / _erfcx(-x / math.sqrt(2))]  # noqa: E731
    return formula("SpecialLogNdtrBackward0", [x], compute, rule, saves="0")


def _ndtr(x: Tensor) -> Tensor:
    return (-x / math.sqrt(2)).erfc() / 2


def _ndtri(x: Tensor) -> Tensor:
    rule = lambda grad, x, y: [grad * math.sqrt(2 * math.pi) * (y * y / 2).exp()]  # noqa: E731
    return formula("SpecialNdtriBackward0", [x], partial(_values, numbers.ndtri), rule, saves="0r")


def _entr(x: Tensor) -> Tensor:
    return _at(x, x < 0, -math.inf, _at(x, x == 0, 0.0, -x * x.log()))


def _entropy(x: Tensor) -> Tensor:
    return formula("SpecialEntrBackward0", [x], _entr, lambda grad, x: [grad * (-x.log() - 1)], saves="0")


def _sinc(x: Tensor) -> Tensor:
    by = _at(x, x == 0, 1, x * math.pi)
    return _at(x, x == 0, 1, by.sin() / by)


_composed("sinc", "SincBackward0", _sinc, "sin(pi x) / (pi x) of each element, 1 at 0.")
_composed("i0", "I0Backward0", _bessel(0, False), "The modified Bessel function of the first kind, of order 0.")


def _special(name: str, compute: Callable, document: str) -> None:
    def function(input: Tensor) -> Tensor:
        return compute(as_float(input))

    function.__name__, function.__doc__ = name, document
    SPECIAL[name] = function


for _name, _compute, _document in (
    ("i0e", _bessel(0, True), "i0 times exp(-|x|)"), ("i1", _bessel(1, False), "As i0, of order 1"),
    ("i1e", _bessel(1, True), "i1 times exp(-|x|)"), ("erfcx", _erfcx, "exp(x^2) erfc(x)"),
    ("log_ndtr", _log_ndtr, "The logarithm of ndtr"), ("ndtr", _ndtr, "The normal distribution's function"),
    ("ndtri", _ndtri, "The inverse of ndtr"),
    ("entr", _entropy, "-x log(x), 0 at 0 and -inf below"),
):  # fmt: skip
    _special(_name, _compute, f"{_document}, of each element.")
for _kind, _letter in (("bessel", "j"), ("bessel", "y"), ("modified_bessel", "i"), ("modified_bessel", "k")):
    for _order in (0, 1):
        _find = partial(getattr(numbers, f"bessel_{_letter}"), _order)
        _compute = lambda x, find=_find: _unrecorded(find, x)  # noqa: E731
        _special(f"{_kind}_{_letter}{_order}", _compute, f"Bessel's function {_letter.upper()}{_order}.")
for _name, _find in {
    "airy_ai": numbers.airy_ai,
    "spherical_bessel_j0": numbers.spherical_bessel_j0,
    "scaled_modified_bessel_k0": partial(numbers.bessel_k_scaled, 0),
    "scaled_modified_bessel_k1": partial(numbers.bessel_k_scaled, 1),
}.items():
    _compute = lambda x, find=_find: _unrecorded(find, x)  # noqa: E731
    _special(_name, _compute, f"{_name} of each element, without a derivative.")


def _polynomial(name: str, family: str, shifted: bool) -> None:
    find = partial(numbers.polynomial, family)

    def function(input: Any, n: Any) -> Tensor:
        kind = as_float(input if isinstance(input, Tensor) else n)._dtype
        x, order = as_tensor_of(input, kind), as_tensor_of(n, kind)
        return _unrecorded(lambda x, n: find(2 * x - 1.0 if shifted else x, n), x, order)

    function.__name__, function.__doc__ = name, f"The polynomials of {family[:-2]}, of orders n."
    SPECIAL[name] = function


for _name in ("chebyshev_t", "chebyshev_u", "chebyshev_v", "chebyshev_w", "hermite_h", "hermite_he", "laguerre_l",
              "legendre_p"):  # fmt: skip
    _polynomial(_name.replace("_", "_polynomial_"), _name, False)
    if _name[0] == "c":
        _polynomial("shifted_" + _name.replace("_", "_polynomial_"), _name, True)


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
    if p < 1:
        raise RuntimeError(f"mvlgamma: p is 1 or more, got {p}")

    def compute(x: Tensor) -> Tensor:
        shifts = from_values(np.arange(p).astype(x._dtype.np) / -2)
        return (x.unsqueeze(-1) + shifts).lgamma().sum(-1) + p * (p - 1) / 4 * math.log(math.pi)

    return made("MvlgammaBackward0", [as_float(input) if made is formula else input], compute)


# ---- of two ----


def _operands(name: str, input: Any, other: Any, floats: bool = True) -> list[Tensor]:
    require_broadcast(input, other)
    kind = common_dtype(input, other)
    if floats and not kind.is_floating_point:
        kind = get_default_dtype()
    return [as_tensor_of(each, kind) for each in (input, other)]


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
    return [grad * choose(still, full_of((), 0, a._dtype), _at(a, still, 0, b).log1p()), grad * a / (b + 1)]


def _zeta_rule(grad: Tensor, x: Tensor, q: Tensor, result: Tensor | None) -> list:
    if result is not None:  # the first one's derivative is wanted
        raise NotImplementedError("zeta: there is no derivative of the exponent")
    return [None, grad * -x * SPECIAL["zeta"](x + 1.0, q)]


def _logaddexp2(a: Tensor, b: Tensor) -> Tensor:
    if not a._dtype.is_floating_point:
        raise none_of("logaddexp2", a._dtype)
    by = math.log(2)
    return (a * by).logaddexp(b * by) / by


def _gamma_rule(sign: int) -> Callable:
    def rule(grad: Tensor, a: Tensor, x: Tensor, result: Tensor | None) -> list:
        if result is not None:  # the first one's derivative is wanted
            raise NotImplementedError("igamma: there is no derivative of the order")
        return [None, grad * sign * ((a - 1).xlogy(x) - x - a.lgamma()).exp()]

    return rule


_pair("fmax", _extreme(lambda a, b: a >= b), "The larger elements; of a number and NaN the number.", floats=False)
_pair("fmin", _extreme(lambda a, b: a <= b), "The smaller elements; of a number and NaN the number.", floats=False)
_pair("copysign", lambda a, b: run(prepare(None, "_npi_copysign"), [a, b], kind=a._dtype),
      "Elements with the signs of others.", rule=_copysign_rule)  # fmt: skip
_pair("logaddexp2", _logaddexp2, "log2(2^input + 2^other).", floats=False)
_pair(
    "igamma",
    partial(_values, numbers.igamma),
    "The incomplete gamma function P(input, other).",
    rule=_gamma_rule(1),
    saves=("r", "01"),
)
_pair(
    "igammac",
    partial(_values, partial(numbers.igamma, upper=True)),
    "1 less igamma.",
    rule=_gamma_rule(-1),
    saves=("r", "01"),
)
_pair("xlog1py", _xlog1py, "input log(1 + other), 0 where input is 0.", True, rule=_xlog1py_rule,
      label="SpecialXlog1PyBackward0")  # fmt: skip
_pair("zeta", partial(_unrecorded, numbers.zeta), "Hurwitz's zeta function.", True, rule=_zeta_rule,
      label="SpecialZetaBackward0", saves=("r", "01"))  # fmt: skip


def _of_integers(name: str, find: np.ufunc) -> None:
    @both(name, document=f"The {'greatest common divisor' if name == 'gcd' else 'least common multiple'} of elements.")
    def function(input: Tensor, other: Tensor) -> Tensor:
        a, b = _operands(name, input, other, False)
        if a._dtype.kind != INTEGER:
            raise none_of(name, a._dtype)
        return _values(find, a, b)


_of_integers("gcd", np.gcd)
_of_integers("lcm", np.lcm)


@both()
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 below 0, 1 above it, and `values` where elements are 0."""
    if input._dtype is not values._dtype:
        raise RuntimeError(f"heaviside: both tensors are of one dtype, got {input.dtype} and {values.dtype}")
    made = choose(input == 0, values.detach(), cast(input.detach() > 0, input._dtype))
    return constant("heaviside", [input, values], made)


def _next(a: Tensor, b: Tensor) -> Tensor:
    if not a._dtype.is_floating_point:
        raise none_of("nextafter", a._dtype)
    return _values(np.nextafter, a, b)


_pair("nextafter", _next, "The next number of the dtype after each element towards another.", floats=False,
      rule=lambda grad, a, b: [grad * (a != b), None])  # fmt: skip
both("ldexp", document="input * 2^other.")(lambda input, other: input * functions["pow"](2.0, other))


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
    exponent = from_values(np.asarray(np.frexp(input._values())[1], np.int32))

    def compute(x: Tensor, exponent: Tensor) -> Tensor:
        half = cast(exponent // 2, x._dtype)
        return x / half.exp2() / (cast(exponent, x._dtype) - half).exp2()

    made = formula("FrexpBackward0", [input], compute, saves="", constants=[exponent])
    return pair("frexp", "mantissa", "exponent")(made, exponent)
