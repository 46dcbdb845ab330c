"""Losses: blocks of predictions and labels that give one number for each sample.

Each takes a `sample_weight` that broadcasts with the element-wise loss, and a global `weight`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mxlite._public import show
from mxlite.error import WrongTypeError, WrongValueError
from mxlite.gluon.block import HybridBlock
from mxlite.ndarray._kinds import functions_for
from mxlite.symbol import Symbol

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mxlite.gluon._typing import BlockOptions, loss_call
    from mxlite.ndarray.ndarray import NDArray

__all__ = [
    "CTCLoss",
    "CosineEmbeddingLoss",
    "HingeLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "L2Loss",
    "LogisticLoss",
    "Loss",
    "PoissonNLLLoss",
    "SDMLLoss",
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
    "SquaredHingeLoss",
    "TripletLoss",
]

_TINY = 1e-12


def _apply_weighting(F: Any, loss: Any, weight: float | None = None, sample_weight: Any = None) -> Any:  # noqa: N803
    """A loss times a number and, broadcast, an array. Raises TypeError: the weight is not a number."""
    if sample_weight is not None:
        loss = F.broadcast_mul(loss, sample_weight)
    if weight is not None:
        if not isinstance(weight, (int, float)):
            raise WrongTypeError(f"weight must be a number, got {type(weight).__name__}")
        loss = loss * weight
    return loss


def _reshape_like(F: Any, x: Any, y: Any) -> Any:  # noqa: N803
    """x in the shape of y."""
    if isinstance(x, Symbol):
        return F.reshape_like(x, y)
    shape = y.shape
    return x if x.shape == shape else x.reshape(shape)


def _softplus_of_minus(F: Any, x: Any) -> Any:  # noqa: N803
    """log(1 + exp(-|x|))"""
    return F.Activation(-F.abs(x), act_type="softrelu")


class Loss(HybridBlock):
    """The base class of losses.

    Args:
        weight: a number that the loss is multiplied by; None: it is not.
        batch_axis: the axis of samples; the others are averaged over.
    """

    def __init__(self, weight: float | None, batch_axis: int, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    if TYPE_CHECKING:
        __call__ = loss_call

    def hybrid_forward(self, F: Any, x: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: N803
        """The loss of each sample."""
        raise NotImplementedError(f"{type(self).__name__}: a loss must have hybrid_forward")

    def _mean(self, F: Any, loss: Any, sample_weight: Any = None, factor: float = 1) -> Any:  # noqa: N803
        """The weighted mean of element-wise losses of each sample."""
        weight = self._weight if factor == 1 or self._weight is None else self._weight * factor
        return F.mean(_apply_weighting(F, loss, weight, sample_weight), axis=self._batch_axis, exclude=True)


class L2Loss(Loss):
    """(label - pred)^2 / 2"""

    def __init__(self, weight: float | None = 1.0, batch_axis: int = 0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: NDArray, label: Any, sample_weight: Any = None) -> NDArray:  # noqa: N803
        return self._mean(F, F.square(_reshape_like(F, label, pred) - pred), sample_weight, 0.5)


class L1Loss(Loss):
    """|label - pred|"""

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: NDArray, label: Any, sample_weight: Any = None) -> NDArray:  # noqa: N803
        return self._mean(F, F.abs(_reshape_like(F, label, pred) - pred), sample_weight)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """-(pos_weight * label * log(p) + (1 - label) * log(1 - p)) of p = sigmoid(pred).

    Args:
        from_sigmoid: `pred` is p already.
    """

    def __init__(
        self,
        from_sigmoid: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(  # noqa: D102
        self,
        F: Any,
        pred: NDArray,
        label: Any,
        sample_weight: Any = None,
        pos_weight: Any = None,  # noqa: N803
    ) -> NDArray:
        label = _reshape_like(F, label, pred)
        if self._from_sigmoid:
            positive = F.log(pred + _TINY) * label
            if pos_weight is not None:
                positive = F.broadcast_mul(positive, pos_weight)
            loss = -(positive + F.log(1.0 - pred + _TINY) * (1.0 - label))
        elif pos_weight is None:
            loss = F.relu(pred) - pred * label + _softplus_of_minus(F, pred)
        else:
            factor = 1 + F.broadcast_mul(pos_weight - 1, label)
            loss = pred - pred * label + factor * (_softplus_of_minus(F, pred) + F.relu(-pred))
        return self._mean(F, loss, sample_weight)


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """-sum(label * log(softmax(pred))), or -log(softmax(pred))[label] of class numbers.

    Args:
        axis: the axis of classes.
        sparse_label: labels are class numbers, else probabilities.
        from_logits: `pred` is log(softmax) already.
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def hybrid_forward(self, F: Any, pred: NDArray, label: Any, sample_weight: Any = None) -> NDArray:  # noqa: N803
        if not self._from_logits:
            pred = F.log_softmax(pred, self._axis)
        if self._sparse_label:
            loss = -F.pick(pred, label, axis=self._axis, keepdims=True)
        else:
            loss = -F.sum(pred * _reshape_like(F, label, pred), axis=self._axis, keepdims=True)
        return self._mean(F, loss, sample_weight)


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """The sum of label * (log(label) - pred), the divergence of probabilities from log(probabilities).

    Args:
        from_logits: `pred` is log(softmax) already, else it is taken along `axis`.
    """

    def __init__(
        self,
        from_logits: bool = True,
        axis: int = -1,
        weight: float | None = None,
        batch_axis: int = 0,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def hybrid_forward(self, F: Any, pred: NDArray, label: Any, sample_weight: Any = None) -> NDArray:  # noqa: N803
        if not self._from_logits:
            pred = F.log_softmax(pred, self._axis)
        loss = _apply_weighting(F, label * (F.log(label + _TINY) - pred), self._weight, sample_weight)
        return F.sum(loss, axis=self._batch_axis, exclude=True)


class CTCLoss(Loss):
    """The connectionist temporal classification loss of each sequence; the last class is the blank one.

    Args:
        layout: "NTC" or "TNC", the axes of predictions: batch, time, classes.
        label_layout: "NT" or "TN".
    """

    def __init__(
        self, layout: str = "NTC", label_layout: str = "NT", weight: float | None = None, **kwargs: Unpack[BlockOptions]
    ) -> None:
        if layout not in ("NTC", "TNC"):
            raise WrongValueError(f"CTCLoss: layout is 'NTC' or 'TNC', not {layout!r}")
        if label_layout not in ("NT", "TN"):
            raise WrongValueError(f"CTCLoss: label_layout is 'NT' or 'TN', not {label_layout!r}")
        self._layout = layout
        self._label_layout = label_layout
        super().__init__(weight, label_layout.find("N"), **kwargs)

    def hybrid_forward(  # noqa: D102
        self,
        F: Any,  # noqa: N803
        pred: NDArray,
        label: Any,
        pred_lengths: Any = None,
        label_lengths: Any = None,
        sample_weight: Any = None,
    ) -> NDArray:
        if self._layout == "NTC":
            pred = F.swapaxes(pred, 0, 1)
        if self._batch_axis == 1:
            label = F.swapaxes(label, 0, 1)
        lengths = [each for each in (pred_lengths, label_lengths) if each is not None]
        loss = F.CTCLoss(
            pred,
            label,
            *lengths,
            use_data_lengths=pred_lengths is not None,
            use_label_lengths=label_lengths is not None,
            blank_label="last",
        )
        return _apply_weighting(F, loss, self._weight, sample_weight)


class HuberLoss(Loss):
    """The squared difference over 2 rho, up to a difference of rho; from there on a straight line."""

    def __init__(
        self, rho: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Unpack[BlockOptions]
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F: Any, pred: NDArray, label: Any, sample_weight: Any = None) -> NDArray:  # noqa: N803
        far = F.abs(_reshape_like(F, label, pred) - pred)
        loss = F.where(far > self._rho, far - 0.5 * self._rho, (0.5 / self._rho) * F.square(far))
        return self._mean(F, loss, sample_weight)


class HingeLoss(Loss):
    """max(0, margin - pred * label), of labels that are -1 or 1."""

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Unpack[BlockOptions]
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def _hinge(self, F: Any, pred: Any, label: Any) -> Any:  # noqa: N803
        return F.relu(self._margin - pred * _reshape_like(F, label, pred))

    def hybrid_forward(self, F: Any, pred: NDArray, label: Any, sample_weight: Any = None) -> NDArray:  # noqa: N803
        return self._mean(F, self._hinge(F, pred, label), sample_weight)


class SquaredHingeLoss(Loss):
    """max(0, margin - pred * label)^2, of labels that are -1 or 1."""

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Unpack[BlockOptions]
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    _hinge = HingeLoss._hinge

    def hybrid_forward(self, F: Any, pred: NDArray, label: Any, sample_weight: Any = None) -> NDArray:  # noqa: N803
        return self._mean(F, F.square(self._hinge(F, pred, label)), sample_weight)


class LogisticLoss(Loss):
    """log(1 + exp(-pred * label)) of labels that are -1 or 1.

    Args:
        label_format: "signed", or "binary": labels are 0 or 1.
    """

    def __init__(
        self,
        weight: float | None = None,
        batch_axis: int = 0,
        label_format: str = "signed",
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._label_format = label_format
        if label_format not in ("signed", "binary"):
            raise ValueError(f"label_format is 'signed' or 'binary', not {label_format!r}")

    def hybrid_forward(self, F: Any, pred: NDArray, label: Any, sample_weight: Any = None) -> NDArray:  # noqa: N803
        label = _reshape_like(F, label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) / 2.0
        return self._mean(F, F.relu(pred) - pred * label + _softplus_of_minus(F, pred), sample_weight)


class TripletLoss(Loss):
    """max(0, |pred - positive|^2 - |pred - negative|^2 + margin)"""

    def __init__(
        self, margin: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Unpack[BlockOptions]
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(  # noqa: D102
        self,
        F: Any,
        pred: NDArray,
        positive: Any,
        negative: Any,
        sample_weight: Any = None,  # noqa: N803
    ) -> NDArray:
        near, far = (F.square(_reshape_like(F, each, pred) - pred) for each in (positive, negative))
        loss = F.relu(F.sum(near - far, axis=self._batch_axis, exclude=True) + self._margin)
        return _apply_weighting(F, loss, self._weight, sample_weight)


class PoissonNLLLoss(Loss):
    """pred - target * log(pred), the mean over all elements.

    Args:
        from_logits: `pred` is the logarithm of the rate.
        compute_full: add Stirling's approximation of log(target!) for targets over 1.
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def hybrid_forward(  # noqa: D102
        self,
        F: Any,
        pred: NDArray,
        target: Any,
        sample_weight: Any = None,
        epsilon: float = 1e-8,  # noqa: N803
    ) -> NDArray:
        target = _reshape_like(F, target, pred)
        loss = F.exp(pred) - target * pred if self._from_logits else pred - target * F.log(pred + epsilon)
        if self._compute_full:
            stirling = target * F.log(target) - target + 0.5 * F.log(2 * target * math.pi)
            loss = loss + stirling * (target > 1)
        return F.mean(_apply_weighting(F, loss, self._weight, sample_weight))


class CosineEmbeddingLoss(Loss):
    """1 - cos(input1, input2) where the label is 1, max(0, cos - margin) elsewhere."""

    def __init__(
        self, weight: float | None = None, batch_axis: int = 0, margin: float = 0, **kwargs: Unpack[BlockOptions]
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def _cosine_similarity(self, F: Any, x: Any, y: Any, axis: int = -1) -> Any:  # noqa: N803
        norms = [F.norm(each, axis=axis).reshape((-1, 1)) for each in (x, y)]
        product = F.sum(x * y, axis=axis).reshape((-1, 1))
        return product / F.broadcast_maximum(norms[0] * norms[1], F.full((1, 1), _TINY))

    def hybrid_forward(  # noqa: D102
        self,
        F: Any,
        input1: NDArray,
        input2: Any,
        label: Any,
        sample_weight: Any = None,  # noqa: N803
    ) -> NDArray:
        cosine = self._cosine_similarity(F, _reshape_like(F, input1, input2), input2)
        label = label.reshape((-1, 1))
        loss = F.where(label == 1, 1 - cosine, F.relu(cosine - self._margin))
        return _apply_weighting(F, loss, self._weight, sample_weight)


class SDMLLoss(Loss):
    """Smoothed deep metric learning (Bonadiman et al. 2019): rows of x1 and x2 are pairs, the others of a batch not.

    Args:
        smoothing_parameter: how much probability the other rows share.
    """

    def __init__(
        self,
        smoothing_parameter: float = 0.3,
        weight: float | None = 1.0,
        batch_axis: int = 0,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self.kl_loss = KLDivLoss(from_logits=True)
        self.smoothing_parameter = smoothing_parameter

    def _compute_distances(self, x1: Any, x2: Any) -> Any:
        """Squared distances of each row of x1 from each of x2."""
        F = functions_for(x1._kind)  # noqa: N806
        return ((F.expand_dims(x1, 1) - F.expand_dims(x2, 0)) ** 2).sum(axis=2)

    def _compute_labels(self, F: Any, batch_size: int) -> Any:  # noqa: N803
        """1 - smoothing on the diagonal; the rest is shared by the others."""
        gold = F.eye(batch_size)
        return gold * (1 - self.smoothing_parameter) + (1 - gold) * self.smoothing_parameter / (batch_size - 1)

    def _loss(self, F: Any, x1: Any, x2: Any) -> Any:  # noqa: N803
        count = x1.shape[0]
        log_probabilities = F.log_softmax(-self._compute_distances(x1, x2), axis=1)
        return self.kl_loss(log_probabilities, self._compute_labels(F, count))

    def hybrid_forward(self, F: Any, x1: NDArray, x2: Any) -> NDArray:  # noqa: N803
        return self._loss(F, x1, x2)


show(globals())
