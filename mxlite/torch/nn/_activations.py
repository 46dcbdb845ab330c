"""Activations of `torch.nn.functional`: functions of each element, and softmax along a dimension."""

from __future__ import annotations

import math
import warnings
from typing import Any, Callable

from mxlite.torch import _more
from mxlite.torch._calls import functions, prepare, require_tensor, run
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import BOOL
from mxlite.torch._indexing import edit
from mxlite.torch._nodes import formula
from mxlite.torch._picking import choose
from mxlite.torch._tensor import Tensor, full_of

sigmoid = functions["sigmoid"]
tanh = functions["tanh"]


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The greater of each element and 0."""
    return input.relu_() if inplace else input.relu()


def relu_(input: Tensor) -> Tensor:
    """relu, into the tensor itself, which is returned."""
    return input.relu_()


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Exponentials along a dimension, divided by their sum."""
    return _more.softmax(input, _dim(input, dim, "softmax"), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of softmax."""
    return _more.log_softmax(input, _dim(input, dim, "log_softmax"), dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax of -input."""
    return _more.softmax(-input, _dim(input, dim, "softmin"), dtype)


def _dim(input: Tensor, dim: int | None, name: str) -> int:
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=4,
    )
    return 0 if input.ndim in (0, 1, 3) else 1


def _activation(name: str, label: str, compute: Callable, slope: Callable) -> Callable:
    def made(input: Tensor, inplace: bool = False) -> Tensor:
        require_floats(name, input)
        return apply(label, input, compute, slope, inplace)

    made.__name__ = name
    made.__doc__ = f"{name} of each element."
    return made


def apply(label: str, input: Tensor, compute: Callable, slope: Callable, inplace: bool = False) -> Tensor:
    """A function of each element; `slope` gives its derivative, of x."""
    require_tensor("activation", 1, "input", input)
    made = edit if inplace else formula
    return made(label, [input], compute, lambda grad, x: [grad * slope(x)], saves="0")


def require_floats(name: str, input: Tensor) -> None:
    """Raises: NotImplementedError: a tensor of integers or truth values."""
    require_tensor(name, 1, "input", input)
    if not input._dtype.is_floating_point:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{input._dtype.word}'")


def as_like(flags: Tensor, like: Tensor) -> Tensor:
    return cast(flags, like._dtype)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, else alpha (exp(x) - 1)."""
    return _elu("EluBackward0", input, alpha, 1.0, 1.0, inplace)


def _elu(label: str, input: Tensor, alpha: float, scale: float, inner: float, inplace: bool) -> Tensor:
    require_floats("elu", input)

    def compute(x: Tensor) -> Tensor:
        return choose(x > 0, x * scale, (x * inner).expm1() * (alpha * scale))

    def slope(x: Tensor) -> Tensor:
        low = (_below_zero(x) * inner).exp() * (alpha * scale * inner)
        return choose(x.detach() <= 0, low, full_of((), scale, x._dtype))

    return apply(label, input, compute, slope, inplace)


def _below_zero(x: Tensor) -> Tensor:
    """x where it is below 0, else a constant 0: at 0 the slope of one side is taken, and that of the slope is 0."""
    return choose(x.detach() < 0, x, full_of((), 0, x._dtype))


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the constants that keep mean 0 and variance 1."""
    return _elu(
        "EluBackward0", input, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0, inplace
    )


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, else alpha (exp(x / alpha) - 1)."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _elu("CeluBackward0", input, alpha, 1.0, 1.0 / alpha, inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x above 0, else negative_slope * x."""
    require_floats("leaky_relu", input)
    if not inplace:
        call = prepare("LeakyReluBackward0", "LeakyReLU", "slope", act_type="leaky")
        return run(call, [input], float(negative_slope), kind=input._dtype)

    def slope(x: Tensor) -> Tensor:
        return choose(x.detach() > 0, full_of((), 1, x._dtype), full_of((), negative_slope, x._dtype))

    return apply("LeakyReluBackward0", input, lambda x: x * slope(x), slope, inplace)


_SQRT_HALF, _DENSITY = math.sqrt(0.5), 1 / math.sqrt(2 * math.pi)
_TANH_SCALE, _TANH_CUBE = math.sqrt(2 / math.pi), 0.044715


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the normal distribution function at x; approximate="tanh": nearly."""
    require_floats("gelu", input)
    if approximate == "none":

        def compute(x: Tensor) -> Tensor:
            return x * 0.5 * ((x * _SQRT_HALF).erf() + 1)

        def slope(x: Tensor) -> Tensor:
            return ((x * _SQRT_HALF).erf() + 1) * 0.5 + x * (x * x * -0.5).exp() * _DENSITY

    elif approximate == "tanh":

        def compute(x: Tensor) -> Tensor:
            return x * 0.5 * (_bent(x).tanh() + 1)

        def slope(x: Tensor) -> Tensor:
            t = _bent(x).tanh()
            inner = (x * x * (3 * _TANH_CUBE) + 1) * _TANH_SCALE
            return (t + 1) * 0.5 + x * 0.5 * (1 - t * t) * inner

    else:
        raise RuntimeError("approximate argument must be either none or tanh.")
    return apply("GeluBackward0", input, compute, slope)


def _bent(x: Tensor) -> Tensor:
    return (x + x * x * x * _TANH_CUBE) * _TANH_SCALE


silu = _activation(
    "silu",
    "SiluBackward0",
    lambda x: x * x.sigmoid(),
    lambda x: x.sigmoid() * (x * (1 - x.sigmoid()) + 1),
)


def _mish_slope(x: Tensor) -> Tensor:
    t = softplus(x).tanh()
    return t + x * (1 - t * t) * x.sigmoid()


mish = _activation("mish", "MishBackward0", lambda x: x * softplus(x).tanh(), _mish_slope)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold."""
    require_floats("softplus", input)

    def compute(x: Tensor) -> Tensor:
        y = x * beta
        soft = (y.abs().neg().exp().log1p() + y.relu()) / beta
        return choose(y > threshold, x, soft)

    def slope(x: Tensor) -> Tensor:
        place = x.detach() * beta  # at the threshold the slope is that of one side, and the slope's is 0
        soft = (choose(place >= threshold, x.detach(), x) * beta).sigmoid()
        return choose(place > threshold, full_of((), 1, x._dtype), soft)

    return apply("SoftplusBackward0", input, compute, slope)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x))."""
    require_floats("log_sigmoid", input)
    return apply(
        "LogSigmoidBackward0",
        input,
        lambda x: -(-x).relu() - x.abs().neg().exp().log1p() + 0.0,
        lambda x: (-x).sigmoid(),
    )


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - input.tanh()


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Not below min_val and not above max_val."""
    require_tensor("hardtanh", 1, "input", input)
    if input._dtype.kind == BOOL:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if not input._dtype.is_floating_point:
        min_val, max_val = int(min_val), int(max_val)
        if min_val < 0 and not input._dtype.is_signed:
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return apply(
        "HardtanhBackward0",
        input,
        lambda x: x.clamp(min_val, max_val),
        lambda x: as_like((x.detach() > min_val) & (x.detach() < max_val), x),
        inplace,
    )


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Not below 0 and not above 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x above a threshold, else a value."""
    require_tensor("threshold", 1, "input", input)
    if input._dtype.kind == BOOL:
        raise NotImplementedError("\"threshold_cpu\" not implemented for 'Bool'")
    if not input._dtype.is_floating_point:
        threshold, value = int(threshold), int(value)
    return apply(
        "ThresholdBackward0",
        input,
        lambda x: choose(x <= threshold, full_of((), value, x._dtype), x),
        lambda x: as_like((x.detach() <= threshold).logical_not(), x),
        inplace,
    )


hardsigmoid = _activation(
    "hardsigmoid",
    "HardsigmoidBackward0",
    lambda x: (x / 6 + 0.5).clamp(0, 1),
    lambda x: as_like((x.detach() > -3) & (x.detach() < 3), x) / 6,
)
hardswish = _activation(
    "hardswish",
    "HardswishBackward0",
    lambda x: x * (x + 3).clamp(0, 6) / 6,
    lambda x: choose(
        x.detach() < -3,
        full_of((), 0, x._dtype),
        choose(x.detach() <= 3, x / 3 + 0.5, full_of((), 1, x._dtype)),
    ),
)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Nearer to 0 by lambd, and 0 where that would go beyond."""
    require_floats("softshrink", input)
    return apply(
        "SoftshrinkBackward0",
        input,
        lambda x: choose(x > lambd, x - lambd, choose(x < -lambd, x + lambd, x * 0)),
        lambda x: _outside(x, lambd),
    )


def _outside(x: Tensor, lambd: float) -> Tensor:
    """1 but between -lambd and lambd, where it is 0."""
    x = x.detach()
    return as_like(((x >= -lambd) & (x <= lambd)).logical_not(), x)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 where |x| is at most lambd."""
    require_floats("hardshrink", input)
    return apply(
        "HardshrinkBackward0",
        input,
        lambda x: choose(_outside(x, lambd) == 0, full_of((), 0, x._dtype), x),
        lambda x: _outside(x, lambd),
    )


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along a dimension times the sigmoid of the second."""
    require_floats("glu", input)
    size = input.shape[dim]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim % input.ndim} is size {size}")

    def halves(x: Tensor) -> tuple:
        return x.narrow(dim, 0, size // 2), x.narrow(dim, size // 2, size // 2)

    def compute(x: Tensor) -> Tensor:
        a, b = halves(x)
        return a * b.sigmoid()

    def rule(grad: Tensor, x: Tensor) -> list:
        a, b = halves(x)
        s = b.sigmoid()
        return [functions["cat"]([grad * s, grad * a * s * (1 - s)], dim)]

    return formula("GluBackward0", [input], compute, rule, saves="0")


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x above 0, else weight * x; one weight, or one for each part of dimension 1."""
    if weight._dtype is not input._dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input._dtype.word} and {weight._dtype.word}")
    require_floats("prelu", input)
    shape = (weight.numel(),) + (1,) * max(0, input.ndim - 2) if weight.numel() > 1 else (1,) * input.ndim
    slope = weight.reshape(shape)
    zero = full_of((), 0, input._dtype)

    def rule(grad: Tensor, x: Tensor, w: Tensor) -> list:
        below = (x.detach() > 0).logical_not()
        return [
            choose(below, grad * w, grad),
            choose(below, grad * x, zero),
        ]

    return formula("PreluKernelBackward0", [input, slope], lambda x, w: choose(x > 0, x, x * w), rule, saves="01")
