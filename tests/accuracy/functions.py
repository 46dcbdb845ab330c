"""The element-wise functions whose accuracy is measured: how each is called, what it is compared with, its bar.

`FUNCTIONS`, `WITHOUT_ROUNDING` and `OTHERS` name every element-wise operator of the library with floating-point
results. test_accuracy.py finds these by their behaviour, so a new operator fails it until it is listed here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Callable

#: What a function of the kind may be off at most, in units of the last place: (float32, float64).
USUAL = (2.0, 4.0)
SPECIAL = (8.0, 8.0)  # gamma-like, and the inverse error function
ONCE = (0.5, 0.5)  # one operation of IEEE 754, rounded to nearest


@dataclass(frozen=True)
class Function:
    """A function of one array, or of two.

    name        as the page calls it
    op          the operator, by the library's first name
    exact       its reference, by its name in exact.c and in exact_mp.py
    params      the operator's parameters
    inputs      how many arrays the operator takes
    scalar      of a reference with two arguments: the second, where the operator has it as a parameter
    swapped     the scalar is the first argument, not the second
    bar         most units of the last place, in float32 and in float64
    least       results below it are measured with the last place of `least`: an absolute bound near zeros
    also        operators that must give the same bits on the same arguments
    numpy       the same in NumPy, numpy(module, *arrays); None: it has none
    torch       likewise in PyTorch
    points      arguments whose neighbours are tried in float64: edges and zeros
    """

    name: str
    op: str
    exact: str
    params: Mapping[str, Any] = field(default_factory=dict)
    inputs: int = 1
    scalar: float | None = None
    swapped: bool = False
    bar: tuple[float, float] = USUAL
    least: float = 0.0
    also: tuple[str, ...] = ()
    numpy: Callable[..., Any] | None = None
    torch: Callable[..., Any] | None = None
    points: tuple[float, ...] = ()

    @property
    def key(self) -> str:
        """What its reference values go by: the same for functions that are the same."""
        scalar = "" if self.scalar is None else f" {self.scalar:g}{' swapped' if self.swapped else ''}"
        return f"{self.exact}{scalar}"


def _named(name: str) -> Callable[..., Any] | None:
    """module.name(*arrays), where the name may have dots; None for ""."""

    def call(module: Any, *arrays: Any) -> Any:
        for part in name.split("."):
            module = getattr(module, part)
        return module(*arrays)

    return call if name else None


def _of(name: str, numpy: str = "", torch: Any = "", **others: Any) -> Function:
    """A function whose operator and reference have its name, and what others call it."""
    fields = {"op": name, "exact": name, "numpy": _named(numpy), **others}
    fields["torch"] = torch if callable(torch) else _named(torch)
    return Function(name, **fields)


def _both(name: str, **others: Any) -> Function:
    """One that NumPy and PyTorch call as the library does."""
    return _of(name, name, name, **others)


def _kind(op: str, kind: str, torch: Any = "", exact: str = "", **others: Any) -> Function:
    """An operator that is several functions, by its parameter act_type."""
    fields = {"torch": torch if callable(torch) else _named(torch), **others}
    return Function(f"{op} {kind}", op, exact or kind, params={"act_type": kind}, **fields)


def _power(scalar: float, **others: Any) -> Function:
    return Function(
        f"x ** {scalar:g}",
        "_power_scalar",
        "power",
        params={"scalar": scalar},
        scalar=scalar,
        numpy=lambda np, x: np.power(x, x.dtype.type(scalar)),
        torch=lambda torch, x: torch.pow(x, scalar),
        **others,
    )


def _base(scalar: float, points: tuple[float, ...]) -> Function:
    return Function(
        f"{scalar:g} ** x",
        "_rpower_scalar",
        "power",
        params={"scalar": scalar},
        scalar=scalar,
        swapped=True,
        numpy=lambda np, x: np.power(x.dtype.type(scalar), x),
        torch=lambda torch, x: torch.pow(scalar, x),
        points=points,
    )


def _once(exact: str, op: str, name: str = "", also: tuple[str, ...] = (), swapped: bool = False) -> Function:
    """One operation: of two arrays, or, with a name, of an array and 3."""
    if not name:
        numpy = torch = _named(exact)
        return Function(exact, op, exact, inputs=2, bar=ONCE, also=also, numpy=numpy, torch=torch)
    return Function(name, op, exact, params={"scalar": 3.0}, scalar=3.0, swapped=swapped, bar=ONCE)


def _polygamma(order: int) -> Function:
    """One of even order has zeros below 0, where the sum over one side cancels that over the other: of that size.

    PyTorch's goes up from a negative argument by steps of 1, which takes hours over the floats of the sample.
    """
    return Function(
        f"polygamma {order}",
        "_mxl_polygamma",
        f"polygamma_{order}",
        params={"n": order},
        bar=SPECIAL,
        least=0.0 if order % 2 else math.factorial(order) * 2.0 ** (order + 1),
        points=(-0.5, -1.5, -10.0, 1.0, 12.0),
    )


_EXP = (709.782712893384, -708.3964185322641, -745.1332191019412)  # overflow, the smallest normal, underflow
_ANGLES = tuple(k * 0.7853981633974483 for k in (1, 2, 3, 4, 5, 6, 7, 8, 12, 100, 355, 710, 51819, 411557987))
_ANGLES += (6381956970095103 * 2.0**797, 5.319372648326541e255, 1e22)  # close to multiples of pi/2, and large
_GAMMA = (171.6243769563027, 1.0, 2.0, 1.4616321449683623, 5.0, -0.5, -1.0, -2.0, -10.0, -170.5, -177.7, -184.0)
_LOG_GAMMA_ZEROS = (1.0, 2.0, -2.4570247382208006, -2.7476826467274127, -3.143580888349980, -3.955294284858598)
_DIGAMMA_ZEROS = (1.4616321449683623, -0.5040830082644554, -1.5734984731623904, -2.6107208684441446, -9.7026725400019)

FUNCTIONS = (
    # exponentials and logarithms
    _both("exp", points=_EXP),
    _both("expm1", points=(709.782712893384, -37.42994775023705, -1.0)),
    _both("log", points=(1.0,)),
    _both("log10", points=(1.0, 10.0, 1000.0)),
    _both("log2", points=(1.0, 2.0, 1024.0)),
    _both("log1p", points=(-1.0, -0.5)),
    # roots and powers
    _both("sqrt", bar=ONCE),
    _of("rsqrt", torch="rsqrt"),
    _of("cbrt", numpy="cbrt"),
    _of("rcbrt"),
    _both("reciprocal", bar=ONCE),
    _both("square", bar=ONCE),
    _power(2.0),
    _power(3.0),
    _power(0.5),
    _power(-0.5),
    _power(-1.0),
    _power(2.5),
    _power(100.0, points=(1.0, 1209.0, 8.4e-4)),
    _base(2.0, (1024.0, -1022.0, -1075.0)),
    _base(10.0, (308.2547155599167, -307.6526555685888, -323.6)),
    _of("power", "power", "pow", op="broadcast_power", also=("_power",), inputs=2),
    _of("hypot", "hypot", "hypot", op="broadcast_hypot", also=("_hypot",), inputs=2),
    Function("hypot(x, 3)", "_hypot_scalar", "hypot", params={"scalar": 3.0}, scalar=3.0),
    # circular and hyperbolic functions
    _both("sin", points=_ANGLES),
    _both("cos", points=_ANGLES),
    _both("tan", points=_ANGLES),
    _both("arcsin", points=(0.5, 1.0)),
    _both("arccos", points=(0.5, 1.0, -1.0)),
    _both("arctan", points=(1.0, 0.4375, 2.4375)),
    _both("sinh", points=(710.4758600739439, 1.0)),
    _both("cosh", points=(710.4758600739439, 1.0)),
    _both("tanh", points=(0.625, 22.0, 18.714973875118524)),
    _both("arcsinh", points=(1.0,)),
    _both("arccosh", points=(1.0, 2.0)),
    _both("arctanh", points=(1.0, 0.5)),
    _of("degrees", "degrees", "rad2deg"),
    _of("radians", "radians", "deg2rad"),
    # activations
    _of("sigmoid", torch="sigmoid", also=("LogisticRegressionOutput",), points=_EXP),
    _kind("Activation", "sigmoid", "sigmoid", points=_EXP),
    _kind("Activation", "tanh", "tanh"),
    _kind("Activation", "softrelu", "nn.functional.softplus", points=(-745.0, -708.4, 37.0)),
    _of("softsign", torch="nn.functional.softsign"),
    _kind("Activation", "softsign", "nn.functional.softsign"),
    _of("hard_sigmoid", least=0.5, points=(2.5, -2.5)),
    _kind("LeakyReLU", "gelu", "nn.functional.gelu", points=(-38.4, -37.5, -8.3, -1.0)),
    _kind("LeakyReLU", "elu", lambda torch, x: torch.nn.functional.elu(x, 0.25), points=(-37.43, -1.0)),
    _kind("LeakyReLU", "selu", "selu", points=(-37.43, -1.0)),
    _kind("LeakyReLU", "leaky"),
    _kind("LeakyReLU", "rrelu"),
    _kind("LeakyReLU", "prelu", inputs=2),
    _of("smooth_l1"),
    Function("x^2 + 2 x + 3", "_contrib_quadratic", "quadratic", params={"a": 1, "b": 2, "c": 3}),
    # special functions
    _of("erf", torch="erf", points=(0.5, 1.0, 6.0)),
    _of("erfinv", torch="erfinv", bar=SPECIAL, points=(1.0, 0.5, 0.9)),
    _of("gamma", bar=SPECIAL, points=_GAMMA),
    _of("gammaln", torch="lgamma", bar=SPECIAL, least=1.0, points=_LOG_GAMMA_ZEROS),
    _of(
        "digamma",
        torch="digamma",
        op="_mxl_polygamma",
        params={"n": 0},
        bar=SPECIAL,
        least=4.0,
        points=_DIGAMMA_ZEROS,
    ),
    _of(
        "trigamma",
        torch=lambda torch, x: torch.polygamma(1, x),
        op="_mxl_polygamma",
        params={"n": 1},
        bar=SPECIAL,
        points=(-0.5, -1.5, -10.0),
    ),
    *(_polygamma(order) for order in (2, 3, 4, 10)),
    # rounded once
    _once("add", "broadcast_add", also=("elemwise_add", "_grad_add", "add_n")),
    _once("subtract", "broadcast_sub", also=("elemwise_sub",)),
    _once("multiply", "broadcast_mul", also=("elemwise_mul",)),
    _once("divide", "broadcast_div", also=("elemwise_div",)),
    Function("modulo", "broadcast_mod", "modulo", inputs=2, bar=ONCE, also=("_mod",)),
    _once("add", "_plus_scalar", name="x + 3"),
    _once("subtract", "_minus_scalar", name="x - 3"),
    _once("subtract", "_rminus_scalar", name="3 - x", swapped=True),
    _once("multiply", "_mul_scalar", name="x * 3"),
    _once("divide", "_div_scalar", name="x / 3"),
    _once("divide", "_rdiv_scalar", name="3 / x", swapped=True),
    _once("modulo", "_mod_scalar", name="x mod 3"),
    _once("modulo", "_rmod_scalar", name="3 mod x", swapped=True),
)

#: Operators whose result is an argument, a constant or a whole number: nothing is rounded.
WITHOUT_ROUNDING = frozenset(
    """
    BlockGrad Cast Dropout MakeLoss SwapAxis _contrib_boolean_mask _contrib_gradientmultiplier _contrib_round_ste
    _contrib_sign_ste _copy _identity_with_attr_like_rhs abs broadcast_axis broadcast_like ceil clip fix floor
    logical_not make_loss negative ones_like relu reshape_like rint round sign slice_like squeeze transpose trunc
    zeros_like LinearRegressionOutput MAERegressionOutput
    """.split()
    + [f"{form}{name}" for form in ("_", "broadcast_") for name in ("maximum", "minimum")]
    + ["_maximum_scalar", "_minimum_scalar", "Activation relu"]
    + [
        form.format(name)
        for form in ("_{}", "broadcast_{}", "_{}_scalar")
        for name in (
            *("equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal"),
            *("logical_and", "logical_or", "logical_xor"),
        )
    ]
)

#: Operators that a trial takes for functions of an element and are not: draws, and densities, which are several
#: functions multiplied (tests/python/cases/random/density.py holds them to their tolerances).
OTHERS = frozenset(("_random_pdf_exponential", "_random_pdf_poisson", "L2Normalization"))
