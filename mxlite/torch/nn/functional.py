"""`torch.nn.functional`: activations, linear maps, losses and what networks are made of, as functions."""

from __future__ import annotations

import math
import warnings
from typing import Any, Callable

from mxlite._lib import hot
from mxlite.torch import _more, _shapes
from mxlite.torch._calls import adopt, functions, new, prepare, require_tensor, run
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import int64
from mxlite.torch._indexing import edit, sum_to
from mxlite.torch._matrix import addmm, mm
from mxlite.torch._nodes import formula, unrecorded
from mxlite.torch._picking import choose
from mxlite.torch._random import uniform_of
from mxlite.torch._reductions import put_along, take_along, vector_norm
from mxlite.torch._tensor import Tensor, from_values, full_of

# ---- activations ----

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
        return apply(label, input, compute, slope, inplace)

    made.__name__ = name
    made.__doc__ = f"{name} of each element."
    return made


def apply(label: str, input: Tensor, compute: Callable, slope: Callable, inplace: bool = False) -> Tensor:
    """A function of each element; `slope` gives its derivative, of x."""
    require_tensor("activation", 1, "input", input)
    if not inplace:
        return formula(label, [input], compute, lambda grad, x: [grad * slope(x)], saves="0")
    place = input.clone() if input.requires_grad else input.detach().clone()
    with unrecorded():
        values = compute(place.detach())
    return edit(label, input, [], values, lambda grad: [grad * slope(place)])


def _as(flags: Tensor, like: Tensor) -> Tensor:
    return cast(flags, like._dtype)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, else alpha (exp(x) - 1)."""
    return _elu("EluBackward0", input, alpha, 1.0, 1.0, inplace)


def _elu(label: str, input: Tensor, alpha: float, scale: float, inner: float, inplace: bool) -> Tensor:
    def compute(x: Tensor) -> Tensor:
        return choose(x > 0, x * scale, (x * inner).expm1() * (alpha * scale))

    def slope(x: Tensor) -> Tensor:
        low = (_zero_above(x) * inner).exp() * (alpha * scale * inner)
        return choose(x.detach() > 0, full_of((), scale, x._dtype), low)

    return apply(label, input, compute, slope, inplace)


def _zero_above(x: Tensor) -> Tensor:
    return choose(x.detach() > 0, full_of((), 0, x._dtype), x)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the constants that keep mean 0 and variance 1."""
    return _elu(
        "EluBackward0", input, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0, inplace
    )


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, else alpha (exp(x / alpha) - 1)."""
    return _elu("CeluBackward0", input, alpha, 1.0, 1.0 / alpha, inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x above 0, else negative_slope * x."""
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

    def compute(x: Tensor) -> Tensor:
        y = x * beta
        soft = (y.abs().neg().exp().log1p() + y.relu()) / beta
        return choose(y > threshold, x, soft)

    def slope(x: Tensor) -> Tensor:
        return choose(x.detach() * beta > threshold, full_of((), 1, x._dtype), (x * beta).sigmoid())

    return apply("SoftplusBackward0", input, compute, slope)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x))."""
    return apply(
        "LogSigmoidBackward0",
        input,
        lambda x: -(x.abs().neg().exp().log1p() + (-x).relu()),
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
    return apply(
        "HardtanhBackward0",
        input,
        lambda x: x.clamp(min_val, max_val),
        lambda x: _as((x.detach() > min_val) & (x.detach() < max_val), x),
        inplace,
    )


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Not below 0 and not above 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x above a threshold, else a value."""
    return apply(
        "ThresholdBackward0",
        input,
        lambda x: choose(x > threshold, x, full_of((), value, x._dtype)),
        lambda x: _as(x.detach() > threshold, x),
        inplace,
    )


hardsigmoid = _activation(
    "hardsigmoid",
    "HardsigmoidBackward0",
    lambda x: (x / 6 + 0.5).clamp(0, 1),
    lambda x: _as((x.detach() > -3) & (x.detach() < 3), x) / 6,
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
    return apply(
        "SoftshrinkBackward0",
        input,
        lambda x: (x - lambd).relu() - (-x - lambd).relu(),
        lambda x: _as(x.detach().abs() > lambd, x),
    )


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """0 where |x| is at most lambd."""
    return apply(
        "HardshrinkBackward0",
        input,
        lambda x: x * _as(x.abs() > lambd, x),
        lambda x: _as(x.detach().abs() > lambd, x),
    )


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along a dimension times the sigmoid of the second."""
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


# ---- linear maps ----

_t = prepare("TBackward0", "transpose", axes="(1,0)")
_view = prepare("ViewBackward0", "_mxl_reshape_to", "shape")
_unsafe_view = prepare("UnsafeViewBackward0", "_mxl_reshape_to", "shape")
_addmm = prepare("AddmmBackward0", "_mxl_addmm")


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Rows of features times the transposed weight, and a bias: x W' + b.

    Args:
        input: (..., in), weight: (out, in), bias: (out,) or None.
    """
    kind = input._dtype
    turned = new(Tensor)
    turned._h = hot.call1(_t, weight._h)
    turned._dtype = weight._dtype
    if not turned._h:
        return input @ weight.t()  # which says what is wrong
    shape = input.shape
    if len(shape) == 2:
        if bias is None:
            return mm(input, turned)
        handle = hot.call_n(_addmm, [bias._h, input._h, turned._h], [])
        if not handle:
            return addmm(bias, input, turned)
        return adopt(handle, kind)
    if not shape:
        raise RuntimeError("linear(): input has no dimensions")
    if bias is None and len(shape) == 1:
        row = mm(input.unsqueeze(0), turned)
        return _shapes.with_shape(prepare("SqueezeBackward4", "_mxl_reshape_to", "shape"), row, (weight.shape[0],))
    rows = input.view(-1, shape[-1])
    out = shape[:-1] + (weight.shape[0],)
    if bias is None:
        return _shapes.with_shape(_unsafe_view, mm(rows, turned), out)
    return _shapes.with_shape(_view, addmm(bias, rows, turned), out)


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: Any = None, **other: Any
) -> Tensor:
    """Rows of `weight` at indices."""
    if max_norm is not None or any(other.values()):
        raise NotImplementedError("mxlite.torch: embedding has indices, weight and padding_idx alone")
    flat = input.reshape(-1)

    def compute(w: Tensor) -> Tensor:
        return w.index_select(0, flat).reshape(input.shape + w.shape[1:])

    def rule(grad: Tensor) -> list:
        rows = grad.reshape((-1, *weight.shape[1:]))
        if padding_idx is not None:
            rows = rows * _as(flat != padding_idx % weight.shape[0], rows).unsqueeze(1)
        wide = flat.unsqueeze(1).expand(rows.shape).contiguous()
        return [put_along(rows, wide, 0, weight.shape[0])]

    return formula("EmbeddingBackward0", [weight], compute, rule)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """1 at the place that each integer names, in a new last dimension, else 0."""
    if tensor._dtype is not int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    values = tensor._values()
    if values.size and values.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    top = int(values.max()) + 1 if values.size else 0
    if num_classes == -1:
        if not values.size:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = top
    elif top > num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    import numpy as np

    return from_values((values[..., None] == np.arange(num_classes)).astype(np.int64))


# ---- dropout, norms, padding ----


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements are 0 with probability p, the others divided by 1 - p, while training."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0.0) if inplace else input * 0.0
    mask = _as(uniform_of(tuple(input.shape), input._dtype) >= p, input) / (1.0 - p)
    return input.mul_(mask) if inplace else input * mask


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Tensor:
    """Divided by the p-norm along a dimension (by eps, where that is smaller)."""
    if out is not None:
        raise NotImplementedError("mxlite.torch: normalize has no out")
    return input / vector_norm(input, p, dim, True).clamp_min(eps).expand_as(input)


def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Less the mean, divided by the deviation over the last dimensions; times a weight, and a bias."""
    shape = tuple(normalized_shape)
    if tuple(input.shape[len(input.shape) - len(shape) :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], "
            "but got "
            f"input of size{list(input.shape)}"
        )
    dims = tuple(range(input.ndim - len(shape), input.ndim))
    return _normalized("NativeLayerNormBackward0", input, dims, weight, bias, eps, shape)


def _normalized(
    label: str, input: Tensor, dims: tuple, weight: Tensor | None, bias: Tensor | None, eps: float, shape: tuple
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) over dimensions, times a weight of `shape`, and a bias."""
    given = [each for each in (weight, bias) if each is not None]
    slots = "0" + ("-" if weight is None else "1") + ("-" if bias is None else str(len(given)))

    def standard(x: Tensor) -> tuple[Tensor, Tensor]:
        away = x - x.mean(dims, True)
        over = ((away * away).mean(dims, True) + eps).rsqrt()
        return away * over, over

    def compute(x: Tensor, *_: Tensor) -> Tensor:
        y, _over = standard(x)
        if weight is not None:
            y = y * weight.detach().reshape(shape)
        return y if bias is None else y + bias.detach().reshape(shape)

    def rule(grad: Tensor, x: Tensor, *scale: Tensor) -> list:
        y, over = standard(x)
        inner = grad if weight is None else grad * scale[0].reshape(shape)
        dx = over * (inner - inner.mean(dims, True) - y * (inner * y).mean(dims, True))
        grads = [dx]
        if weight is not None:
            grads.append(sum_to(grad * y, shape).reshape(weight.shape))
        if bias is not None:
            grads.append(sum_to(grad, shape).reshape(bias.shape))
        return grads

    return formula(label, [input, *given], compute, rule, slots=slots, saves="0" if weight is None else "01")


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Less the mean, divided by the deviation of each channel (dimension 1); times a weight, and a bias.

    While training they are those of this batch, and the running ones move towards them; else the running ones.
    """
    shape = tuple(input.shape[1] if dim == 1 else 1 for dim in range(input.ndim))
    dims = tuple(dim for dim in range(input.ndim) if dim != 1)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
        made = (input - running_mean.reshape(shape)) * (running_var.reshape(shape) + eps).rsqrt()
        made = made if weight is None else made * weight.reshape(shape)
        return made if bias is None else made + bias.reshape(shape)
    if running_mean is not None and running_var is not None:
        with unrecorded():
            values = input.detach()
            running_mean.mul_(1 - momentum).add_(values.mean(dims) * momentum)
            running_var.mul_(1 - momentum).add_(values.var(dims) * momentum)
    return _normalized("NativeBatchNormBackward0", input, dims, weight, bias, eps, shape)


def constant_pad(input: Tensor, pad: Any, value: float = 0.0) -> Tensor:
    """With `value` around: pairs of numbers (before, after), from the last dimension on; negative ones cut."""
    pads = list(pad)
    widths = [(0, 0)] * (input.ndim - len(pads) // 2)
    widths += [(pads[2 * i], pads[2 * i + 1]) for i in reversed(range(len(pads) // 2))]

    def compute(x: Tensor) -> Tensor:
        import numpy as np

        values = x._values()
        for axis, (before, after) in enumerate(widths):
            values = values[(slice(None),) * axis + (slice(max(0, -before), values.shape[axis] - max(0, -after)),)]
        around = [(max(0, before), max(0, after)) for before, after in widths]
        return from_values(np.pad(values, around, constant_values=value))

    def rule(grad: Tensor) -> list:
        back = []
        for before, after in reversed(widths):
            back += [-before, -after]
        return [constant_pad(grad, back)]

    return formula("ConstantPadNdBackward0", [input], compute, rule)


functions["constant_pad"] = constant_pad


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """With a rim: pairs of numbers (before, after), from the last dimension on.

    Args:
        mode: "constant" (`value`, or 0), "reflect", "replicate" or "circular".
    """
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) // 2 > input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return constant_pad(input, pad, 0.0 if value is None else value)
    found = {"reflect": "ReflectionPad", "replicate": "ReplicationPad", "circular": "CircularPad"}.get(mode)
    if found is None:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    import numpy as np

    made = input
    for place in range(len(pad) // 2):
        dim = input.ndim - 1 - place
        modes = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
        rows = np.pad(np.arange(input.shape[dim]), (pad[2 * place], pad[2 * place + 1]), mode=modes[mode])
        made = _taken(f"{found}{len(pad) // 2}DBackward0", made, dim, from_values(rows.astype(np.int64)))
    return made


def _taken(label: str, input: Tensor, dim: int, rows: Tensor) -> Tensor:
    return run(prepare(label, "take", "axis", slots="0", mode="clip"), [input, rows], dim, kind=input._dtype)


# ---- losses ----


def _check_reduction(reduction: str) -> None:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def _loss(label: str, input: Tensor, target: Tensor, reduction: str, each: Callable, slope: Callable) -> Tensor:
    """A loss of the difference of two tensors: its value and its derivative."""
    _check_reduction(reduction)
    input, target = _fitted(input, target)

    def compute(x: Tensor, y: Tensor) -> Tensor:
        return _reduced(each(x - y), reduction)

    def rule(grad: Tensor, x: Tensor, y: Tensor) -> list:
        away = slope(x - y) * grad
        if reduction == "mean":
            away = away / x.numel()
        return [away, -away]

    return formula(label, [input, target], compute, rule, saves="01")


def _fitted(input: Tensor, target: Tensor) -> tuple:
    """Both in one shape.

    A warning, where they have not.
    """
    if target.shape == input.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely "
        "lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        stacklevel=4,
    )
    return functions["broadcast_tensors"](input, target)


_mse = {
    reduction: prepare("MseLossBackward0", "_mxl_mse_loss", mean=str(reduction == "mean"))
    for reduction in ("mean", "sum")
}


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Tensor:
    """The squares of differences: their mean, their sum, or each."""
    if weight is not None or reduce is not None or size_average is not None:
        raise NotImplementedError("mxlite.torch: mse_loss has input, target and reduction alone")
    call = _mse.get(reduction)
    if call and input.__class__ is Tensor and target.__class__ is Tensor and input._dtype is target._dtype:
        input, target = _fitted(input, target)
        handle = hot.call2(call, input._h, target._h)
        if handle:
            tensor = new(Tensor)
            tensor._h = handle
            tensor._dtype = input._dtype
            return tensor
    return _loss("MseLossBackward0", input, target, reduction, lambda d: d * d, lambda d: d * 2)


def l1_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Tensor:
    """The sizes of differences: their mean, their sum, or each."""
    _check_reduction(reduction)
    input, target = _fitted(input, target)
    return _reduced((input - target).abs(), reduction)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """d^2 / (2 beta) where |d| is below beta, else |d| - beta / 2."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return _loss(
        "SmoothL1LossBackward0",
        input,
        target,
        reduction,
        lambda d: choose(d.abs() < beta, d * d * (0.5 / beta), d.abs() - 0.5 * beta),
        lambda d: choose(d.detach().abs() < beta, d / beta, d.sign()),
    )


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Tensor:
    """d^2 / 2 where |d| is at most delta, else delta (|d| - delta / 2)."""
    return _loss(
        "HuberLossBackward0",
        input,
        target,
        reduction,
        lambda d: choose(d.abs() <= delta, d * d * 0.5, (d.abs() - 0.5 * delta) * delta),
        lambda d: choose(d.detach().abs() <= delta, d, d.sign() * delta),
    )


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the logarithms of probabilities of the classes that `target` names, weighted.

    Args:
        input: (classes,), (n, classes) or (n, classes, ...), target: (), (n,) or (n, ...), of int64.
    """
    _check_reduction(reduction)
    if target._dtype is not int64:
        raise RuntimeError(f"expected scalar type Long but found {target._dtype.word}")
    dim = 0 if input.ndim == 1 else 1
    expected = input.shape[:dim] + input.shape[dim + 1 :]
    if tuple(target.shape) != tuple(expected):
        if input.ndim >= 2 and target.shape[:1] != input.shape[:1]:
            raise ValueError(
                f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
                f"({target.shape[0] if target.shape else 0})."
            )
        raise RuntimeError(f"Expected target size {list(expected)}, got {list(target.shape)}")
    classes = input.shape[dim]
    values = target._values()
    kept = values != ignore_index
    wrong = values[kept & ((values < 0) | (values >= classes))]
    if wrong.size:
        raise IndexError(f"Target {wrong.flat[0]} is out of bounds.")
    places = from_values(_clipped(values, kept)).unsqueeze(dim)
    share = from_values(kept.astype(input._dtype.np))
    if weight is not None:
        share = share * weight.detach().index_select(0, places.reshape(-1)).reshape(share.shape)
    label = "NllLossBackward0" if input.ndim <= 2 else "NllLoss2DBackward0"

    def compute(x: Tensor) -> Tensor:
        each = -take_along(x, places, dim).squeeze(dim) * share
        return each if reduction == "none" else each.sum() / share.sum() if reduction == "mean" else each.sum()

    def rule(grad: Tensor) -> list:
        each = -share * (grad / share.sum() if reduction == "mean" else grad)
        return [put_along(each.unsqueeze(dim).contiguous(), places, dim, classes)]

    return formula(label, [input], compute, rule)


def _clipped(values: Any, kept: Any) -> Any:
    import numpy as np

    return np.where(kept, values, 0).astype(np.int64)


_div_by = prepare("DivBackward1", "_div_scalar", "scalar", slots="0")
_mul_by = prepare("MulBackward1", "_mul_scalar", "scalar", slots="0")


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """nll_loss of log_softmax; `target` may hold probabilities of all classes instead of one class."""
    _check_reduction(reduction)
    dim = 0 if input.ndim == 1 else 1
    logs = _more.log_softmax(input, dim)
    if target._dtype.is_floating_point:
        if target.shape != input.shape:
            raise RuntimeError(f"Expected floating point type for target with class probabilities, got {target._dtype}")
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing / input.shape[dim]
        if weight is not None:
            target = target * weight.reshape(tuple(-1 if d == dim else 1 for d in range(input.ndim)))
        if reduction == "none":
            return -(logs * target).sum(dim)
        total = -(logs * target).sum()
        count = input.numel() // input.shape[dim]
        return run(_div_by, [total], float(count), kind=total._dtype) if reduction == "mean" else total
    loss = nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    if not label_smoothing:
        return loss
    return _smoothed(loss, logs, target, weight, ignore_index, reduction, label_smoothing, dim)


def _smoothed(
    loss: Tensor, logs: Tensor, target: Tensor, weight: Any, ignore: int, reduction: str, by: float, dim: int
) -> Tensor:
    classes = logs.shape[dim]
    spread = -(
        logs if weight is None else logs * weight.reshape(tuple(-1 if d == dim else 1 for d in range(logs.ndim)))
    ).sum(dim)
    kept = _as(target != ignore, logs)
    spread = spread.masked_fill(target == ignore, 0)
    if reduction == "mean":
        if weight is None:
            count = kept.sum()
        else:
            count = (weight.index_select(0, (target * (target != ignore)).reshape(-1)) * kept.reshape(-1)).sum()
        spread = spread.sum() / count
    elif reduction == "sum":
        spread = spread.sum()
    parts = [run(_mul_by, [each], float(by), kind=each._dtype) for each, by in ((loss, 1 - by), (spread, by / classes))]
    return parts[0] + parts[1]


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:
    """-(t log(p) + (1 - t) log(1 - p)); logarithms are not below -100."""
    _check_reduction(reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )
    values = input._values()
    if values.size and not ((values >= 0) & (values <= 1)).all():
        raise RuntimeError("all elements of input should be between 0 and 1")

    def compute(p: Tensor, t: Tensor) -> Tensor:
        each = -(t * p.log().clamp_min(-100) + (1 - t) * (1 - p).log().clamp_min(-100))
        return _reduced(each if weight is None else each * weight, reduction)

    def rule(grad: Tensor, input: Tensor, target: Tensor) -> list:
        scale = grad if weight is None else grad * weight
        if reduction == "mean":
            scale = scale / input.numel()
        dp = scale * (input - target) / (input * (1 - input)).clamp_min(1e-12)
        return [dp, scale * ((1 - input).log() - input.log()).clamp(-100, 100)]

    return formula("BinaryCrossEntropyBackward0", [input, target], compute, rule, saves="01")


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """binary_cross_entropy of the sigmoid, computed from its argument."""
    _check_reduction(reduction)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")

    def scaled(t: Tensor) -> Tensor:
        return (pos_weight - 1) * t + 1 if pos_weight is not None else full_of((), 1, t._dtype)

    def compute(x: Tensor, t: Tensor) -> Tensor:
        each = (1 - t) * x + scaled(t) * (x.abs().neg().exp().log1p() + (-x).relu())
        return _reduced(each if weight is None else each * weight, reduction)

    def rule(grad: Tensor, input: Tensor, target: Tensor) -> list:
        scale = grad if weight is None else grad * weight
        if reduction == "mean":
            scale = scale / input.numel()
        dx = scale * ((1 - target) - scaled(target) * (1 - input.sigmoid()))
        dt = scale * -input
        if pos_weight is not None:
            dt = dt + scale * (pos_weight - 1) * -logsigmoid(input)
        return [dx, dt]

    return formula("BinaryCrossEntropyWithLogitsBackward0", [input, target], compute, rule, saves="01")


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target (log(target) - input): the mean, the sum, each, or ("batchmean") the sum over the first extent."""
    if reduction not in ("none", "batchmean", "sum", "mean"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    each = target.exp() * (target - input) if log_target else functions["xlogy"](target, target) - target * input
    if reduction == "batchmean":
        return each.sum() / input.shape[0]
    return _reduced(each, reduction)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The inner product along a dimension, divided by both norms."""
    first, second = (x / vector_norm(x, 2, dim, True).clamp_min(eps) for x in (x1, x2))
    return (first * second).sum(dim)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x above 0, else weight * x; one weight, or one for each part of dimension 1."""
    shape = (weight.numel(),) + (1,) * max(0, input.ndim - 2) if weight.numel() > 1 else (1,) * input.ndim
    slope = weight.reshape(shape)
    zero = full_of((), 0, input._dtype)

    def rule(grad: Tensor, x: Tensor, w: Tensor) -> list:
        below = x.detach() <= 0
        return [
            choose(below, grad * w, grad),
            sum_to(choose(below, grad * x, zero), w.shape),
        ]

    return formula("PreluKernelBackward0", [input, slope], lambda x, w: choose(x > 0, x, x * w), rule, saves="01")


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    return vector_norm(x1 - x2 + eps, p, -1, keepdim)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None,
) -> Tensor:  # fmt: skip
    """softmax(query key' scale + mask) value, over the last two dimensions."""
    by = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.mT * by
    if is_causal:
        attn_mask = functions["ones"](query.shape[-2], key.shape[-2]).tril() == 1
    if attn_mask is not None:
        is_mask = attn_mask._dtype.kind == 0
        scores = scores.masked_fill(attn_mask.logical_not(), -math.inf) if is_mask else scores + attn_mask
    shares = run(prepare("SafeSoftmaxBackward0", "softmax", axis=-1), [scores], kind=scores._dtype)
    return dropout(shares, dropout_p) @ value


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Less the mean, divided by the deviation of each group of channels (dimension 1); times a weight, and a bias."""
    n, channels = input.shape[:2]
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    groups = input.reshape(n, num_groups, -1)
    away = groups - groups.mean(2, True)
    made = (away * ((away * away).mean(2, True) + eps).rsqrt()).reshape(input.shape)
    shape = (channels,) + (1,) * (input.ndim - 2)
    made = made if weight is None else made * weight.reshape(shape)
    return made if bias is None else made + bias.reshape(shape)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"mxlite.torch has no torch.nn.functional.{name}")
