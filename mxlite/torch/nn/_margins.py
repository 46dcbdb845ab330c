"""Losses of `torch.nn.functional` over margins, distributions and sequences."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from mxlite._public import defined
from mxlite.torch._basic import holds
from mxlite.torch._calls import explain_all, prepare, run
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import int64
from mxlite.torch._nodes import formula
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, from_values, full_of
from mxlite.torch.nn import _losses
from mxlite.torch.nn._losses import _check_reduction, _reduced, _require_class_weight, take_old


def _or_zero(mask: Tensor, x: Tensor) -> Tensor:
    return choose(mask, x, full_of((), 0, x._dtype))


def _require_same(name: str, first: Tensor, second: Tensor) -> None:
    """Raises: ValueError: two tensors have different shapes."""
    if first.shape != second.shape:
        raise ValueError(f"{name}: input and target have one shape, got {list(first.shape)} and {list(second.shape)}")


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """max(0, margin - target (input1 - input2)); a target is 1, where the first is to be higher, or -1."""
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError("margin_ranking_loss: inputs and target have as many dimensions")
    return _reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The input where the target is 1, max(0, margin - input) where it is -1."""
    far = _or_zero(target != 1, (margin - input).clamp_min(0))
    return _reduced(far + _or_zero(target != -1, input), reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """1 - the cosine of rows where the target is 1, max(0, cosine - margin) where it is -1."""
    if target.ndim > 1 or input1.ndim != target.ndim + 1 or input1.shape != input2.shape:
        raise RuntimeError(
            f"cosine_embedding_loss: inputs (n, d) and a target (n,), or (d,) and (); got {list(input1.shape)}, "
            f"{list(input2.shape)} and {list(target.shape)}"
        )
    inner, first, second = ((a * b).sum(-1) for a, b in ((input1, input2), (input1, input1), (input2, input2)))
    cosine = inner / ((first + 1e-12) * (second + 1e-12)).sqrt()
    near = _or_zero(target == 1, 1 - cosine)
    return _reduced(near + _or_zero(target == -1, (cosine - margin).clamp_min(0)), reduction)


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """max(0, margin + the p-distance to the positive - that to the negative), of rows.

    Args:
        swap: Whether that from positive to negative counts instead, where it is smaller.
    """
    if margin <= 0:
        raise ValueError(f"triplet_margin_loss: margin is above 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError("triplet_margin_loss: all inputs have as many dimensions")
    return triplet_margin_with_distance_loss(
        anchor, positive, negative, margin=margin, swap=swap, reduction=reduction,
        distance_function=lambda a, b: _losses.pairwise_distance(a, b, p, eps),
    )  # fmt: skip


def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Callable | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The same with any function of two tensors as distance."""
    _check_reduction(reduction)
    if margin <= 0:
        raise ValueError(f"triplet_margin_with_distance_loss: margin is above 0, got {margin}")
    distance = distance_function or _losses.pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    far = far.minimum(distance(positive, negative)) if swap else far
    return _reduced((margin + near - far).clamp_min(0), reduction)


def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None,
    size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The mean over the other classes of max(0, margin - the target class's score + theirs)^p."""
    if p not in (1, 2):
        raise ValueError(f"multi_margin_loss: p is 1 or 2, got {p}")
    _require_class_weight(weight, input.shape[-1] if input.ndim else 1)
    rows = input.reshape(1, -1) if input.ndim < 2 else input
    if target.numel() != rows.shape[0] or input.ndim > 2:
        raise RuntimeError(f"multi_margin_loss: one target for each row, got {list(input.shape)}, {list(target.shape)}")
    index = cast(target, int64).reshape(-1, 1)
    if index.numel() and not holds((index >= 0) & (index < rows.shape[1])):
        raise RuntimeError(f"multi_margin_loss: a target is one of {rows.shape[1]} classes")

    def compute(x: Tensor, index: Tensor, *weight: Tensor) -> Tensor:
        away = (margin - x.gather(1, index) + x).clamp_min(0) ** p
        away = away.scatter(1, index, full_of(index.shape, 0, x._dtype))
        away = away * weight[0].take(index) if weight else away
        return _reduced((away.sum(1) / x.shape[1]).reshape(target.shape), reduction)

    constants = [index] if weight is None else [index, weight]
    return formula("MultiMarginLossBackward0", [rows], compute, constants=constants)


def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Tensor:
    """Over pairs of a class that is among the targets (up to a -1) and one that is not: max(0, 1 - x[j] + x[i])."""
    if target.shape != input.shape or input.ndim > 2:
        raise RuntimeError(f"multilabel_margin_loss: one shape, got {list(input.shape)} and {list(target.shape)}")
    index, classes = target._values().reshape(-1, input.shape[-1] if input.ndim else 1), input.shape[-1:] or (1,)
    given = np.logical_and.accumulate(index >= 0, 1)
    among = np.zeros(index.shape, bool)
    np.put_along_axis(among, np.where(given, index, index[:, :1]), True, 1)
    among &= given.any(1, keepdims=True)

    def compute(x: Tensor, index: Tensor, counts: Tensor) -> Tensor:
        rows = x.reshape(index.shape)
        away = (1 - rows.gather(1, index).unsqueeze(2) + rows.unsqueeze(1)).clamp_min(0)
        return _reduced(((away * counts).sum((1, 2)) / classes[0]).reshape(x.shape[:-1]), reduction)

    counts = (given[:, :, None] & ~among[:, None, :]).astype(input._dtype.np)
    constants = [from_values(np.where(given, index, 0)), from_values(counts)]
    return formula("MultilabelMarginLossBackward0", [input], compute, constants=constants)


def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + exp(-target input))."""
    _check_reduction(reduction)
    return formula("SoftMarginLossBackward0", [input, target],
                   lambda x, y: _reduced((-y * x).exp().log1p(), reduction))  # fmt: skip


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The mean over classes of the binary cross entropy of the sigmoid."""
    _check_reduction(reduction)
    each = _losses.binary_cross_entropy_with_logits(input, target, reduction="none")
    return _reduced((each if weight is None else each * weight).mean(-1), reduction)


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: Any = None,
    eps: float = 1e-8, reduce: Any = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Minus the logarithm of the probability of counts under Poisson's law, whose mean (or its log) is the input.

    Args:
        full: Whether Stirling's approximation of the target's factorial counts, too. eps: added to a mean.
    """
    _check_reduction(reduction)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        more = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + more.masked_fill(target <= 1, 0)
    return _reduced(loss, reduction)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Minus the logarithm of a normal density at the target: (log(var) + (input - target)^2 / var) / 2.

    Args:
        var: Variances, of the input's shape, or with a last dimension of 1 or none; or one number.
        full: Whether the constant counts, too. eps: the least variance.
    """
    var = var if isinstance(var, Tensor) else full_of(input.shape, var, input._dtype)
    if var.shape != input.shape:
        if var.shape == input.shape[:-1]:
            var = var.unsqueeze(-1)
        elif var.ndim != input.ndim or any(a != b and (a != 1) for a, b in zip(var.shape, input.shape)):
            raise ValueError(f"gaussian_nll_loss: var has the input's shape {list(input.shape)}, got {list(var.shape)}")
    _check_reduction(reduction)
    if not holds((var >= 0) | (var != var)):
        raise ValueError("gaussian_nll_loss: a variance is negative")
    var = var + (var.clamp_min(eps) - var).detach()
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    return _reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Minus the log probability of label sequences under classes of steps with blanks (temporal classification).

    Args:
        log_probs: (step, batch, class), logarithms of probabilities; or (step, class).
        targets: (batch, label), or all labels one behind another. blank: the class that is no label.
        zero_infinity: Whether the loss of labels that the steps cannot hold is 0, not infinite.
    """
    _check_reduction(reduction)
    scores = log_probs if log_probs.ndim == 3 else log_probs.unsqueeze(1)
    steps, batch, classes = scores.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"ctc_loss: blank is one of {classes} classes, got {blank}")
    lengths = [np.asarray(each._values() if isinstance(each, Tensor) else each).reshape(-1).astype(np.int64)
               for each in (input_lengths, target_lengths)]  # fmt: skip
    if any(len(each) != batch for each in lengths) or (lengths[0] > steps).any():
        raise RuntimeError(f"ctc_loss: one length for each of {batch} rows, of {steps} steps at most, got {lengths}")
    given = targets._values().astype(np.int64)
    given = given.reshape(batch, -1) if log_probs.ndim == 2 or given.ndim == 2 else given
    if given.ndim == 1:
        given = np.split(given, np.cumsum(lengths[1])[:-1])
    labels = np.zeros((batch, max(1, lengths[1].max(initial=0))), np.int64)
    needed = lengths[1].copy()
    for place, (row, count) in enumerate(zip(given, lengths[1])):
        labels[place, :count] = np.where(row[:count] < blank, row[:count] + 1, row[:count])
        needed[place] += (row[1:count] == row[: max(0, count - 1)]).sum()
    order = from_values(np.array([blank, *(each for each in range(classes) if each != blank)]))
    inputs = [scores.index_select(2, order), *(from_values(each.astype(np.float32)) for each in (labels, *lengths))]
    call = prepare("CtcLossBackward0", "CTCLoss", slots="0", use_data_lengths=True, use_label_lengths=True)
    loss = run(call, inputs, kind=scores._dtype)
    if not zero_infinity:
        loss = loss.masked_fill(from_values(needed > lengths[0]), math.inf)
    if reduction == "mean":
        return (loss / from_values(np.maximum(lengths[1], 1).astype(scores._dtype.np))).mean()
    return loss.sum() if reduction == "sum" else loss if log_probs.ndim == 3 else loss.squeeze(0)


explain_all(globals())
take_old(globals())
__all__ = defined(globals())
