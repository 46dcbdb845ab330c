"""Activations of `torch.nn.functional`: functions of each element, and softmax along a dimension.

Some have derivatives of their own, given here: at a kink PyTorch takes one side's, whose own derivative is 0 there;
or the formula costs less in backward than the composition, run again and differentiated, that the others leave it to.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, Callable

from mxlite._public import defined
from mxlite.torch._basic import relaid
from mxlite.torch._calls import (
    direct,
    explain_all,
    explained,
    functions,
    prepare,
    require_tensor,
    run,
    run_into,
    usual,
    values,
)
from mxlite.torch._composite import composite
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import BOOL, FLOATING, from_kind
from mxlite.torch._edits import edit
from mxlite.torch._kinds import check_dim
from mxlite.torch._make.random import uniform_of
from mxlite.torch._math import reductions as _reductions
from mxlite.torch._math.elementwise import require_floats
from mxlite.torch._nodes import formula
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, full_of, require_fits

sigmoid = functions["sigmoid"]
tanh = functions["tanh"]


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The greater of each element and 0."""
    return input.relu_() if inplace else input.relu()


def relu_(input: Tensor) -> Tensor:
    """relu, into the tensor itself, which is returned."""
    return input.relu_()


# ---- along a dimension ----


def _along(name: str, of: Callable, document: str, calls: dict[str, Any] | None = None) -> Callable:
    def soft(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
        if dim is None:
            warnings.warn(
                f"{name}: no dim is given, so one is chosen by the number of dimensions; give dim",
                stacklevel=3,
            )
        return of(input, dim, dtype)

    soft.__name__, soft.__doc__ = name, document
    return soft if calls is None else direct(explained(soft), calls)


softmax = _along(
    "softmax",
    _reductions.softmax,
    "Exponentials along a dimension, divided by their sum.",
    _reductions.soft_calls("SoftmaxBackward0", "softmax"),
)
log_softmax = _along(
    "log_softmax",
    _reductions.log_softmax,
    "The logarithm of softmax.",
    _reductions.soft_calls("LogSoftmaxBackward0", "log_softmax"),
)
softmin = _along("softmin", lambda x, *rest: _reductions.softmax(-x, *rest), "softmax of -input.")


@composite("GluBackward0")
def _glu(x: Tensor, *, dim: int) -> Tensor:
    half = x.shape[dim] // 2
    return x.narrow(dim, 0, half) * x.narrow(dim, half, half).sigmoid()


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along a dimension times the sigmoid of the second."""
    _check("glu", input)
    if not input.ndim:
        raise RuntimeError("glu: halves a dimension, and the input has none")
    size = input.shape[check_dim(dim, input.ndim)]
    if size % 2:
        raise RuntimeError(f"glu: halves a dimension of even size, but dimension {dim % input.ndim} has size {size}")
    return _glu(input, dim=dim)


# ---- of each element ----


def _check(name: str, input: Tensor) -> None:
    require_tensor(name, 1, "input", input)
    require_floats(name, input._dtype)


def _apply(
    label: str, input: Tensor, compute: Callable, derivative: Callable | None = None, inplace: bool = False
) -> Tensor:
    """A function of each element; `derivative`: its derivative, of x; None: that of what it is composed of."""
    rule = None if derivative is None else lambda grad, x: [grad * derivative(x)]
    if inplace:
        return edit(label, [input], compute, rule, saves="0")
    return formula(label, [input], lambda x: relaid(compute(x), x), rule, saves="0")


def _activation(name: str, label: str, compute: Callable, derivative: Callable | None = None) -> Callable:
    def made(input: Tensor, inplace: bool = False) -> Tensor:
        _check(name, input)
        return _apply(label, input, compute, derivative, inplace)

    made.__name__ = name
    made.__doc__ = f"{name} of each element."
    return made


def _softplus(x: Tensor) -> Tensor:
    return run(prepare("SoftplusBackward0", "_mxl_softrelu"), [x], kind=x._dtype)


def _one(like: Tensor, value: float = 1) -> Tensor:
    return full_of((), value, like._dtype)


mish = _activation("mish", "MishBackward0", lambda x: x * _softplus(x).tanh())
hardswish = _activation(
    "hardswish",
    "HardswishBackward0",
    lambda x: x * (x + 3).clamp(0, 6) / 6,
    lambda x: choose(x.detach() < -3, _one(x, 0), choose(x.detach() <= 3, x / 3 + 0.5, _one(x))),  # 1 of a NaN
)
_log_sigmoid = _activation(
    "log_sigmoid",
    "LogSigmoidBackward0",
    lambda x: 0 - _softplus(-x),
    lambda x: (-x).sigmoid(),  # the composition takes 2.6 times as long
)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x))."""
    return _log_sigmoid(input)


def _in_c(label: str, operator: str, *arguments: str, given: tuple, **parameters: Any) -> Callable:
    """Decorates an activation whose usual calls are an operator of some arguments; `given`: as of `values`."""
    call = prepare(label, operator, *arguments, **parameters)
    calls = {"one": call, "num_inputs": 1, "values": given, "again": True, **from_kind(FLOATING)}
    return lambda made: direct(explained(made), calls)


def _operator(name: str, label: str, input: Tensor, inplace: bool, operator: str, **parameters: Any) -> Tensor:
    """An operator of the library's, with one parameter at most that is not constant: `slope`."""
    _check(name, input)
    values = [float(parameters.pop("slope"))] if "slope" in parameters else []
    call = prepare(label, operator, *["slope"][: len(values)], **parameters)
    return run_into(call, input, [input], *values) if inplace else run(call, [input], *values, kind=input._dtype)


@_in_c("SiluBackward0", "_mxl_silu", given=values(inplace=usual(False)))
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x times sigmoid(x)."""
    return _operator("silu", "SiluBackward0", input, inplace, "_mxl_silu")


@_in_c(
    "LeakyReluBackward0",
    "LeakyReLU",
    "slope",
    act_type="leaky",
    given=values(negative_slope=0.01, inplace=usual(False)),
)
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x above 0, else negative_slope * x."""
    return _operator(
        "leaky_relu", "LeakyReluBackward0", input, inplace, "LeakyReLU", act_type="leaky", slope=negative_slope
    )


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """x / 6 + 1 / 2, but not below 0 and not above 1."""
    return _operator("hardsigmoid", "HardsigmoidBackward0", input, inplace, "hard_sigmoid", alpha=1 / 6, beta=0.5)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, else alpha (exp(x) - 1)."""
    return _elu("EluBackward0", input, alpha, 1.0, 1.0, inplace)


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the constants that keep mean 0 and variance 1."""
    return _elu("EluBackward0", input, _SELU_ALPHA, _SELU_SCALE, 1.0, inplace)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, else alpha (exp(x / alpha) - 1)."""
    if alpha == 0:
        raise RuntimeError("celu: alpha is not 0")
    return _elu("CeluBackward0", input, alpha, 1.0, 1.0 / alpha, inplace)


def _elu(label: str, input: Tensor, alpha: float, scale: float, inner: float, inplace: bool) -> Tensor:
    _check("elu", input)

    def compute(x: Tensor) -> Tensor:
        return choose(x > 0, x * scale, (x * inner).expm1() * (alpha * scale))

    def derivative(x: Tensor) -> Tensor:
        below = choose(x.detach() < 0, x, _one(x, 0))  # a constant at 0
        return choose(x.detach() <= 0, (below * inner).exp() * (alpha * scale * inner), _one(x, scale))

    return _apply(label, input, compute, derivative, inplace)


_TANH_SCALE, _TANH_CUBE = math.sqrt(2 / math.pi), 0.044715


@_in_c("GeluBackward0", "LeakyReLU", act_type="gelu", given=values(True, approximate=usual("none")))
def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the normal distribution function at x; approximate="tanh": nearly."""
    if approximate == "none":
        return _operator("gelu", "GeluBackward0", input, False, "LeakyReLU", act_type="gelu")
    if approximate != "tanh":
        raise RuntimeError(f"gelu: approximate is 'none' or 'tanh', got {approximate!r}")
    _check("gelu", input)
    return _apply("GeluBackward0", input, lambda x: x * 0.5 * (((x + x * x * x * _TANH_CUBE) * _TANH_SCALE).tanh() + 1))


_softplus_of = prepare("SoftplusBackward0", "_mxl_softplus", "beta", "threshold")


@_in_c("SoftplusBackward0", "_mxl_softplus", "beta", "threshold", given=values(beta=1.0, threshold=20.0))
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold."""
    _check("softplus", input)
    return run(_softplus_of, [input], float(beta), float(threshold), kind=input._dtype)


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
        raise RuntimeError("hardtanh: takes no bool")
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val is at most max_val, got {min_val} and {max_val}")
    if not input._dtype.is_floating_point:
        min_val, max_val = int(min_val), int(max_val)
        if min_val < 0 and not input._dtype.is_signed:
            raise RuntimeError(
                f"hardtanh: limits of an unsigned dtype ({input._dtype.word}) are not negative, got {min_val} and "
                f"{max_val}"
            )
    return _apply(
        "HardtanhBackward0",
        input,
        lambda x: x.clamp(min_val, max_val),
        lambda x: cast((x.detach() > min_val) & (x.detach() < max_val), x._dtype),  # at its bounds clamp's is 1
        inplace,
    )


def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """x above 0, else x times a random slope between two; times their mean, where it does not train."""
    _check("rrelu", input)
    if lower > upper:
        raise RuntimeError(f"rrelu: lower is at most upper, got {lower} and {upper}")
    slope = uniform_of(tuple(input.shape), input._dtype, lower, upper) if training else (lower + upper) / 2
    return _apply("RreluWithNoiseBackward0", input, lambda x: choose(x <= 0, x * slope, x), inplace=inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Not below 0 and not above 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x above a threshold, else a value."""
    require_tensor("threshold", 1, "input", input)
    if input._dtype.kind == BOOL:
        raise NotImplementedError("threshold: takes no bool")
    if not input._dtype.is_floating_point:
        threshold, value = (int(require_fits(each, input._dtype)) for each in (threshold, value))
    return _apply("ThresholdBackward0", input, lambda x: choose(x <= threshold, _one(x, value), x), inplace=inplace)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Nearer to 0 by lambd, and 0 where that would go beyond."""
    _check("softshrink", input)
    if lambd < 0:
        raise RuntimeError(f"softshrink: lambd is not negative, got {lambd}")
    return _apply(
        "SoftshrinkBackward0",
        input,
        lambda x: choose(x > lambd, x - lambd, choose(x < -lambd, x + lambd, x * 0)),
    )


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 where |x| is at most lambd."""
    _check("hardshrink", input)
    return _apply("HardshrinkBackward0", input, lambda x: choose((x >= -lambd) & (x <= lambd), _one(x, 0), x))


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x above 0, else weight * x; one weight, or one for each part of dimension 1."""
    if weight._dtype is not input._dtype:
        raise RuntimeError(f"prelu: input and weight have one dtype, got {input._dtype.word} and {weight._dtype.word}")
    _check("prelu", input)
    channels = input.shape[1] if input.ndim > 1 else 1
    if weight.ndim > 1 or weight.numel() not in (1, channels):
        raise RuntimeError(
            f"prelu: takes 1 weight, or {channels}, one for each channel; got shape {list(weight.shape)}"
        )
    shape = (weight.numel(),) + (1,) * max(0, input.ndim - 2) if weight.numel() > 1 else (1,) * input.ndim

    def rule(grad: Tensor, x: Tensor, w: Tensor) -> list:  # where x is chosen, an infinite weight has no say
        above = x.detach() > 0
        return [choose(above, grad, grad * w), choose(above, _one(x, 0), grad * x)]

    return formula(
        "PreluKernelBackward0",
        [input, weight.reshape(shape)],
        lambda x, w: relaid(choose(x > 0, x, x * w), x),
        rule,
        saves="01",
    )


def _into(function: Callable) -> Callable:
    """The function, into the tensor itself."""

    def made(input: Tensor, *args: Any, **options: Any) -> Tensor:
        return function(input, *args, inplace=True, **options)

    made.__name__, made.__doc__ = function.__name__ + "_", f"{function.__name__}, into the tensor itself."
    return made


for _function in (elu, selu, celu, leaky_relu, hardtanh, rrelu, threshold):
    globals()[_function.__name__ + "_"] = _into(_function)


explain_all(globals(), quick=("relu", "relu_"))
__all__ = [*defined(globals()), "sigmoid", "tanh"]
