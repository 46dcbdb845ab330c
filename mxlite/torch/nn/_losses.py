"""Losses and distances of `torch.nn.functional`."""

from __future__ import annotations

import inspect
import math
import warnings
from functools import cache, wraps
from typing import Any, Callable

from mxlite._lib import hot
from mxlite._public import defined
from mxlite.torch._basic import holds
from mxlite.torch._calls import direct, explain_all, functions, new, prepare, run, usual, values
from mxlite.torch._convert import cast, common_dtype
from mxlite.torch._dtypes import FLOATING, from_kind, int64, uint8
from mxlite.torch._errors import none_of, warn, wrong_argument
from mxlite.torch._math.elementwise import require_floats
from mxlite.torch._math.norms import vector_norm
from mxlite.torch._math.reductions import log_softmax
from mxlite.torch._nodes import formula
from mxlite.torch._shape.repeats import broadcast_tensors
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor


def _check_reduction(reduction: str) -> None:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"reduction is 'none', 'mean' or 'sum', got {reduction!r}")


def old_reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """What two options mean that `reduction` has replaced; a warning, where one is given."""
    if size_average is None and reduce is None:
        return reduction
    found = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(f"size_average and reduce are old: give reduction={found!r}", UserWarning, stacklevel=4)
    return found


def take_old(module: dict[str, Any], quick: tuple[str, ...] = ()) -> None:
    """Has the losses of a module take `size_average` and `reduce`, but for some that do so themselves."""
    for name in defined(module):
        parameters = list(inspect.signature(module[name]).parameters)
        if "reduce" in parameters and name not in (*quick, "old_reduction"):
            module[name] = _taking_old(module[name], parameters)


def _taking_old(loss: Callable, names: list[str]) -> Callable:
    first = names.index("size_average")

    @wraps(loss)
    def function(*args: Any, **named: Any) -> Tensor:
        if ("reduce" in named or "size_average" in named or len(args) > first) and len(args) <= len(names):
            named, args = {**dict(zip(names, args)), **named}, ()
            old = named.pop("size_average", None), named.pop("reduce", None)
            named["reduction"] = old_reduction(*old, named.get("reduction", "mean"))
        return loss(*args, **named)

    return function


def _require_class_weight(weight: Tensor | None, classes: int) -> None:
    """Raises: RuntimeError: there is not one weight for each class."""
    if weight is not None and (weight.ndim != 1 or weight.shape[0] != classes):
        raise RuntimeError(
            f"a weight tensor has one element for each of {classes} classes, or is None; its shape is "
            f"{list(weight.shape)}"
        )


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    """Raises: ValueError: there is no such reduction."""
    _check_reduction(reduction)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def _of_difference(
    label: str, input: Tensor, target: Tensor, reduction: str, each: Callable, derivative: Callable
) -> Tensor:
    """A loss of the difference of two tensors, and its derivative, which costs less than the composition again."""
    input, target = _fitted(input, target)
    kind = common_dtype(input, target)
    if not kind.is_floating_point:
        raise none_of(label[:-13].lower(), kind)

    def rule(grad: Tensor, x: Tensor, y: Tensor) -> list:
        away = derivative(x - y) * (grad / x.numel() if reduction == "mean" else grad)
        return [away, -away]

    inputs = [cast(input, kind), cast(target, kind)]
    return formula(label, inputs, lambda x, y: _reduced(each(x - y), reduction), rule, saves="01")


def _fitted(input: Tensor, target: Tensor) -> tuple:
    """Both in one shape.

    A warning, where they have not.
    """
    if target.shape == input.shape:
        return input, target
    warnings.warn(
        f"the loss broadcasts a target of shape {target.shape} and an input of shape {input.shape}, which "
        "is seldom meant; equal shapes are expected",
        stacklevel=4,
    )
    return broadcast_tensors(input, target)


_mse = {
    reduction: prepare("MseLossBackward0", "_mxl_mse_loss", mean=str(reduction == "mean"))
    for reduction in ("mean", "sum")
}


def mse_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    weight: Any = None,
) -> Tensor:  # fmt: skip
    """The squares of differences: their mean, their sum, or each."""
    if weight is not None:
        raise NotImplementedError("mxlite.torch: mse_loss has no weight")
    if reduce is not None or size_average is not None:
        reduction = old_reduction(size_average, reduce, reduction)
    call = _mse.get(reduction)
    if call and input.__class__ is Tensor and target.__class__ is Tensor and input._dtype is target._dtype:
        input, target = _fitted(input, target)
        handle = hot.call2(call, input._h, target._h)
        if handle:
            tensor = new(Tensor)
            tensor._h = handle
            tensor._dtype = input._dtype
            return tensor
    return _of_difference("MseLossBackward0", input, target, reduction, Tensor.square, lambda d: d * 2)


def l1_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Tensor:
    """The sizes of differences: their mean, their sum, or each."""
    input, target = _fitted(input, target)
    return _reduced((input - target).abs(), reduction)


def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:  # fmt: skip
    """d^2 / (2 beta) where |d| is below beta, else |d| - beta / 2."""
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss: beta is not negative, got {beta}")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return _of_difference(
        "SmoothL1LossBackward0",
        input,
        target,
        reduction,
        lambda d: _smooth(d, beta),
        lambda d: choose(d.detach().abs() >= beta, d.sign(), d / beta),
    )


def _smooth(d: Tensor, beta: float) -> Tensor:
    return run(prepare(None, "smooth_l1", "scalar"), [d], beta**-0.5, kind=d._dtype)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Tensor:
    """d^2 / 2 where |d| is at most delta, else delta (|d| - delta / 2)."""
    if delta <= 0:
        raise RuntimeError(f"huber_loss: delta is above 0, got {delta}")
    found = _of_difference(
        "HuberLossBackward0",
        input,
        target,
        reduction,
        lambda d: _smooth(d, delta) * delta,
        lambda d: choose(d.detach().abs() >= delta, d.sign() * delta, d),
    )
    return cast(found, input._dtype) if input._dtype.is_floating_point else found


@cache
def _nll(label: str, reduction: str, weighted: bool) -> int:
    return prepare(label, "_mxl_nll", "ignore", reduction=reduction, weighted=weighted, slots="0")


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Minus the logarithms of probabilities of the classes that `target` names, weighted.

    Args:
        input: (classes,), (n, classes) or (n, classes, ...), target: (), (n,) or (n, ...), of int64.
    """
    _check_reduction(reduction)
    if not input._dtype.is_floating_point:
        raise none_of("nll_loss", input._dtype)
    if target._dtype not in (int64, uint8):
        raise RuntimeError(f"nll_loss: a target is of dtype int64 or uint8, got {target._dtype.word}")
    shape = tuple(input.shape)
    if not shape:
        raise ValueError("nll_loss: the input has a dimension of classes at least, got none")
    if not isinstance(ignore_index, int):
        raise wrong_argument("nll_loss", "ignore_index", 0, "int", ignore_index)
    dim = 0 if len(shape) == 1 else 1
    _require_class_weight(weight, shape[dim])
    if len(shape) == 1 and target.ndim == 1:
        if target.shape[0] != 1:
            raise ValueError(f"nll_loss: an input of one dimension has one target, got {target.shape[0]}")
        target = target.reshape(())
    expected = shape[:dim] + shape[dim + 1 :]
    if target.shape != expected:
        if input.ndim >= 2 and target.shape[:1] != input.shape[:1]:
            raise ValueError(
                f"nll_loss: {input.shape[0]} inputs in the batch, but {target.shape[0] if target.shape else 0} targets"
            )
        raise RuntimeError(
            f"nll_loss: a target of shape {list(expected)} belongs to this input, got {list(target.shape)}"
        )
    target = cast(target, int64)  # first: ignore_index need not fit uint8
    call = _nll("NllLossBackward0" if len(shape) <= 2 else "NllLoss2DBackward0", reduction, weight is not None)
    try:
        return run(call, [input, target, *([] if weight is None else [weight])], ignore_index, kind=input._dtype)
    except RuntimeError:
        wrong = target.masked_select(((target < 0) | (target >= shape[dim])) & (target != ignore_index))
        if not wrong.numel():
            raise
        raise IndexError(f"nll_loss: a target is one of {shape[dim]} classes, got {wrong[0].item()}") from None


#: As cross_entropy calls it, which has looked at the arguments.
_nll_loss = nll_loss

_div_by = prepare("DivBackward1", "_div_scalar", "scalar", slots="0")
_mul_by = prepare("MulBackward1", "_mul_scalar", "scalar", slots="0")


def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """nll_loss of log_softmax; `target` may hold probabilities of all classes instead of one class."""
    _check_reduction(reduction)
    if label_smoothing > 1:
        raise RuntimeError(f"cross_entropy: label_smoothing is 1 at most, got {label_smoothing}")
    label_smoothing = label_smoothing if label_smoothing > 0 else 0.0
    dim = 0 if input.ndim == 1 else 1
    if not input.ndim and not target._dtype.is_floating_point:
        raise RuntimeError(f"cross_entropy: an input without dimensions has no classes that {target._dtype} could name")
    logs = log_softmax(input, dim)
    if target._dtype.is_floating_point:
        if ignore_index >= 0:
            raise RuntimeError("cross_entropy: ignore_index is for targets that are classes, not probabilities")
        _require_class_weight(weight, input.shape[dim])
        if target.shape != input.shape:
            if dim and target.shape[:1] != input.shape[:1]:
                raise ValueError(f"cross_entropy: batches of {input.shape[0]} inputs and of targets {target.shape}")
            raise RuntimeError(f"cross_entropy: a target of probabilities is of a floating dtype, got {target._dtype}")
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing / max(1, input.shape[dim])
        if weight is not None:
            target = target * _of_classes(weight, dim, input.ndim)
        if reduction == "none":
            return -(logs * target).sum(dim)
        total = -(logs * target).sum()
        count = input.numel() / input.shape[dim] if input.shape[dim] else math.nan
        return run(_div_by, [total], count, kind=total._dtype) if reduction == "mean" else total
    loss = _nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    if not label_smoothing:
        return loss
    return _smoothed(loss, logs, cast(target, int64), weight, ignore_index, reduction, label_smoothing, dim)


def _of_classes(weight: Tensor, dim: int, ndim: int) -> Tensor:
    """A weight for each class, in a shape that broadcasts with all of them along a dimension."""
    return weight.reshape((-1,) + (1,) * (ndim - 1 - dim))


def _smoothed(
    loss: Tensor, logs: Tensor, target: Tensor, weight: Any, ignore: int, reduction: str, by: float, dim: int
) -> Tensor:
    classes, ignored = logs.shape[dim], target == ignore
    each = logs if weight is None else logs * _of_classes(weight, dim, logs.ndim)
    each = (-each.sum(dim)).masked_fill(ignored, 0)
    if reduction == "mean":
        share = cast(~ignored, logs._dtype)
        if weight is not None:
            share = weight.take(target.masked_fill(ignored, 0)) * share
        each = each.sum() / share.sum()
    else:
        each = _reduced(each, reduction)
    parts = [run(_mul_by, [each], float(by), kind=each._dtype) for each, by in ((loss, 1 - by), (each, by / classes))]
    return parts[0] + parts[1]


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """-(t log(p) + (1 - t) log(1 - p)); logarithms are not below -100."""
    if target.shape != input.shape:
        raise ValueError(
            f"binary_cross_entropy: the target has the input's shape, expected {input.shape}, got {target.shape}"
        )
    if not holds((input >= 0) & (input <= 1)):
        raise RuntimeError("binary_cross_entropy: an element of the input is not from 0 to 1")
    if not holds((target >= 0) & (target <= 1)):
        raise RuntimeError("binary_cross_entropy: all elements of the target are from 0 to 1")

    def compute(p: Tensor, t: Tensor, *weight: Tensor) -> Tensor:
        each = -(t * p.log().clamp_min(-100) + (1 - t) * (1 - p).log().clamp_min(-100))
        return _reduced(each * weight[0] if weight else each, reduction)

    def rule(grad: Tensor, input: Tensor, target: Tensor, *weight: Tensor) -> list:
        scale = grad * weight[0] if weight else grad
        if reduction == "mean":
            scale = scale / input.numel()
        dp = scale * (input - target) / (input * (1 - input)).clamp_min(1e-12)
        return [dp, scale * ((1 - input).log() - input.log())]

    constants = [] if weight is None else [weight]
    return formula("BinaryCrossEntropyBackward0", [input, target], compute, rule, saves="01", constants=constants)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", pos_weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """binary_cross_entropy of the sigmoid, computed from its argument."""
    if target.shape != input.shape:
        raise ValueError(
            f"binary_cross_entropy_with_logits: the target has the input's shape, expected {input.shape}, got "
            f"{target.shape}"
        )

    _check_reduction(reduction)
    require_floats("binary_cross_entropy_with_logits", input._dtype)
    has_pos_weight, has_weight = pos_weight is not None, weight is not None

    def compute(x: Tensor, t: Tensor, *constants: Tensor) -> Tensor:
        given = iter(constants)
        by = (next(given) - 1) * t + 1 if has_pos_weight else 1
        each = (1 - t) * x + run(_softplus, [-x], kind=x._dtype) * by
        return _reduced(each * next(given) if has_weight else each, reduction)

    def rule(grad: Tensor, x: Tensor, t: Tensor, *constants: Tensor) -> list:
        given = iter(constants)
        more = next(given) - 1 if has_pos_weight else None
        scale = grad / x.numel() if reduction == "mean" else grad
        scale = scale * next(given) if has_weight else scale
        if more is None:
            return [scale * (x.sigmoid() - t), -x * scale]
        dx = (1 - t) - (more * t + 1) * (-x).sigmoid()
        return [scale * dx, scale * (more * run(_softplus, [-x], kind=x._dtype) - x)]

    constants = [each for each in (pos_weight, weight) if each is not None]
    label = "BinaryCrossEntropyWithLogitsBackward0"
    return formula(label, [input, target], compute, rule, saves="01", constants=constants)


_softplus = prepare("SoftplusBackward0", "_mxl_softrelu")


def kl_div(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:  # fmt: skip
    """target (log(target) - input): the mean, the sum, each, or ("batchmean") the sum over the first extent."""
    if reduction not in ("none", "batchmean", "sum", "mean"):
        raise ValueError(f"reduction is 'none', 'mean', 'sum' or 'batchmean', got {reduction!r}")
    if reduction == "mean":
        warn("kl_div: 'mean' is that of the elements; 'batchmean', that of the examples, is the divergence")
    if not (input._dtype.is_floating_point and target._dtype.is_floating_point):
        raise RuntimeError("kl_div: takes no integers")
    each = target.exp() * (target - input) if log_target else target.xlogy(target) - target * input
    if reduction == "batchmean":
        return each.sum() / input.shape[0] if input.shape else each
    return _reduced(each, reduction)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The inner product along a dimension, divided by both norms."""
    if eps < 0:
        raise RuntimeError(f"cosine_similarity: eps is not negative, got {eps}")
    x1, x2 = broadcast_tensors(x1, x2)
    kind = common_dtype(x1, x2)
    if not kind.is_floating_point:
        raise RuntimeError(f"cosine_similarity: takes floating dtypes, got {kind.word}")
    x1, x2 = (x if x._dtype.is_floating_point else cast(x, kind) for x in (x1, x2))
    first, second = (x / vector_norm(x, 2, dim, True).clamp_min(eps) for x in (x1, x2))
    return (first * second).sum(dim)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    return vector_norm(x1 - x2 + eps, p, -1, keepdim)


explain_all(globals(), quick=("mse_loss",))
take_old(globals(), quick=("mse_loss",))
functions.update(cosine_similarity=cosine_similarity, pairwise_distance=pairwise_distance)
_OF_CLASSES = {
    "two": _nll("NllLossBackward0", "mean", False), "index": int64, "ndims": (2, 1), "again": True,
    **from_kind(FLOATING),
}  # fmt: skip
_GIVEN = values(
    weight=usual(None), size_average=usual(None), ignore_index=-100, reduce=usual(None), reduction=usual("mean")
)
nll_loss = direct(nll_loss, {**_OF_CLASSES, "values": _GIVEN})
cross_entropy = direct(
    cross_entropy,
    {"first": prepare("LogSoftmaxBackward0", "log_softmax", axis=1), **_OF_CLASSES,
     "values": _GIVEN + values(label_smoothing=usual(0.0))},
)  # fmt: skip
__all__ = [name for name in defined(globals()) if name not in ("old_reduction", "take_old")]
