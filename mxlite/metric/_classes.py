"""Metrics of classes: how often the right one is predicted, and what probability it is given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mxlite import ndarray as nd
from mxlite._public import show
from mxlite.error import WrongValueError
from mxlite.metric._base import EvalMetric, _PerPair, alias, check_label_shapes, pairs, register, values
from mxlite.ndarray.ndarray import NDArray

#: Up to this number of elements NumPy's argmax is faster than the operator, which may use threads.
_FEW = 65536


def _classes_of(label: NDArray, pred: NDArray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """The classes of labels and the predicted ones, which are those of the largest values along an axis, in a row.

    Raises: ValueError: their numbers differ.
    """
    right = values(label)
    chosen = values(pred)
    if right.shape != chosen.shape:
        if axis in (1, -1) and chosen.ndim == 2 and 0 < chosen.size <= _FEW:
            chosen = chosen.argmax(1)
        else:
            chosen = values(nd.argmax(pred, axis=axis))
    right, chosen = right.reshape(-1), chosen.reshape(-1)
    check_label_shapes(right, chosen)
    return right.astype(np.int32, copy=False), chosen.astype(np.int32, copy=False)


@register
@alias("acc")
class Accuracy(_PerPair):
    """How many labels are the predicted classes, of all.

    Predictions of the labels' shape are classes; others have a value for each class along `axis`, and predict that of
    the largest.
    """

    def __init__(
        self,
        axis: int = 1,
        name: str = "accuracy",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, axis=axis)
        self.axis = axis

    def _measure(self, label: NDArray, pred: NDArray) -> tuple[float, float]:
        right, chosen = _classes_of(label, pred, self.axis)
        return int(np.count_nonzero(right == chosen)), right.size


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(_PerPair):
    """How many labels are among the `top_k` classes of the largest predictions, of all; k is part of the name.

    Predictions have the shape (n, classes); of those of one axis, the positions in order are compared with the labels.
    Raises: ValueError: `top_k` is below 2, or predictions have more than two axes.
    """

    def __init__(
        self,
        top_k: int = 1,
        name: str = "top_k_accuracy",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, top_k=top_k)
        self.top_k = top_k
        if top_k <= 1:
            raise WrongValueError("TopKAccuracy: top_k is 2 or more (Accuracy is that of 1)")
        self.name += f"_{top_k}"

    def _measure(self, label: NDArray, pred: NDArray) -> tuple[float, float]:
        scores, right = values(pred), values(label).reshape(-1).astype(np.int32, copy=False)
        if scores.ndim > 2:
            raise WrongValueError(f"TopKAccuracy: predictions have 1 or 2 dimensions, not shape {scores.shape}")
        check_label_shapes(right, scores)
        order = np.argpartition(scores, -self.top_k)
        found = order == right if order.ndim == 1 else order[:, -self.top_k :] == right[:, None]
        return int(np.count_nonzero(found)), right.size


class _Confusion:
    """How often each of two classes was predicted as each; the other ones count as 0."""

    __slots__ = ("false_negatives", "false_positives", "true_negatives", "true_positives")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forgets all."""
        self.true_positives = self.false_positives = self.true_negatives = self.false_negatives = 0

    def count(self, label: NDArray, pred: NDArray) -> None:
        """Adds labels and what is predicted for each, values of the two classes along axis 1."""
        right, chosen = values(label).reshape(-1).astype(np.int32), values(pred).argmax(1).reshape(-1) == 1
        check_label_shapes(right, chosen)
        if len(np.unique(right)) > 2:
            raise ValueError(f"F1 and MCC are of two classes alone, got the labels {np.unique(right).tolist()}")
        right = right == 1
        both, rights, chosens = (int(np.count_nonzero(each)) for each in (right & chosen, right, chosen))
        self.true_positives += both
        self.false_positives += chosens - both
        self.false_negatives += rights - both
        self.true_negatives += right.size - rights - chosens + both

    @property
    def total_examples(self) -> int:
        """The number of labels."""
        return self.true_positives + self.false_positives + self.true_negatives + self.false_negatives

    @property
    def precision(self) -> float:
        """How many of those predicted as 1 are."""
        return self.true_positives / max(1, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float:
        """How many of those that are 1 are predicted as such."""
        return self.true_positives / max(1, self.true_positives + self.false_negatives)

    @property
    def fscore(self) -> float:
        """The harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def matthewscc(self) -> float:
        """The correlation of labels and predictions; 0 where one of them is always the same."""
        yes, no = self.true_positives, self.true_negatives
        too_many, too_few = self.false_positives, self.false_negatives
        product = (yes + too_many) * (yes + too_few) * (no + too_many) * (no + too_few)
        return (yes * no - too_many * too_few) / math.sqrt(product) if product else 0.0


class _OfTwoClasses(EvalMetric):
    """A metric of a confusion matrix of two classes, averaged over batches ("macro") or of all of them at once."""

    _what: str

    def __init__(self, name: str, output_names: list[str] | None, label_names: list[str] | None, average: str) -> None:
        self.average = average
        self.metrics, self._whole = _Confusion(), _Confusion()
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Adds one batch: labels, of which 1 is the one class, and predictions of the shape (n, 2).

        Raises: ValueError: there are more than two kinds of labels, or another number of them than of predictions.
        """
        batch = _Confusion()
        for label, pred in pairs(labels, preds):
            batch.count(label, pred)
        if self.average == "macro":
            self._add(getattr(batch, self._what), 1)
            return
        for known in (self.metrics, self._whole):
            for name in _Confusion.__slots__:
                setattr(known, name, getattr(known, name) + getattr(batch, name))
        self.num_inst, self.global_num_inst = self.metrics.total_examples, self._whole.total_examples
        self.sum_metric = getattr(self.metrics, self._what) * self.num_inst
        self.global_sum_metric = getattr(self._whole, self._what) * self.global_num_inst

    def reset(self) -> None:
        """Begins anew."""
        self._whole.clear()
        super().reset()

    def reset_local(self) -> None:
        """Begins the local value anew."""
        self.metrics.clear()
        super().reset_local()


@register
class F1(_OfTwoClasses):
    """The harmonic mean of precision and recall of class 1, of two classes.

    Args:
        average: "macro": the mean of the batches' numbers; "micro": the number of all batches together.
    """

    _what = "fscore"

    def __init__(
        self,
        name: str = "f1",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
        average: str = "macro",
    ) -> None:
        super().__init__(name, output_names, label_names, average)


@register
class MCC(_OfTwoClasses):
    """Matthews' correlation of labels and predictions, of two classes: 1 all are right, -1 all are wrong, 0 chance.

    Args:
        average: "macro": the mean of the batches' numbers; "micro": the number of all batches together.
    """

    _what = "matthewscc"

    def __init__(
        self,
        name: str = "mcc",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
        average: str = "macro",
    ) -> None:
        super().__init__(name, output_names, label_names, average)


@register
class PCC(EvalMetric):
    """Pearson's correlation of labels and predictions of any number of classes; of two it is MCC with "micro".

    `lcm` and `gcm` are the local and the global confusion matrix, of `k` classes: predictions by labels.
    """

    lcm: np.ndarray
    gcm: np.ndarray

    def __init__(
        self,
        name: str = "pcc",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
        has_global_stats: bool = True,
    ) -> None:
        self.k = 2
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    def update(self, labels: Any, preds: Any) -> None:
        """Adds one batch: classes, and predictions of the shape (n, classes) or classes too.

        Raises: ValueError: a label is below 0, or there is another number of them than of predictions.
        """
        found = [_classes_of(label, pred, 1) for label, pred in pairs(labels, preds)]
        if any(each.size and each.min() < 0 for pair in found for each in pair):
            raise ValueError("PCC: a class is below 0")
        most = max((int(each.max()) + 1 for pair in found for each in pair if each.size), default=0)
        if most > self.k:
            self.lcm, self.gcm = (np.pad(each, (0, most - self.k)) for each in (self.lcm, self.gcm))
            self.k = most
        for right, chosen in found:
            for counts in (self.lcm, self.gcm):
                np.add.at(counts, (chosen, right), 1)
        self.num_inst += 1
        self.global_num_inst += 1

    @property
    def sum_metric(self) -> float:  # type: ignore[override]
        """The local value times `num_inst`."""
        return _correlation(self.lcm) * self.num_inst

    @property
    def global_sum_metric(self) -> float:  # type: ignore[override]
        """The global value times `global_num_inst`."""
        return _correlation(self.gcm) * self.global_num_inst

    def reset(self) -> None:
        """Begins anew."""
        self.global_num_inst = 0
        self.gcm = np.zeros((self.k, self.k))
        self.reset_local()

    def reset_local(self) -> None:
        """Begins the local value anew."""
        self.num_inst = 0
        self.lcm = np.zeros((self.k, self.k))


def _correlation(counts: np.ndarray) -> float:
    """The correlation of the classes of a confusion matrix; NaN where one of them is always the same."""
    total, rows, columns = counts.sum(), counts.sum(0), counts.sum(1)
    variances = [(each * (total - each)).sum() for each in (rows, columns)]
    if not all(variances):
        return float("nan")
    return float((np.trace(counts) * total - (rows * columns).sum()) / math.sqrt(variances[0] * variances[1]))


@register
class Perplexity(_PerPair):
    """The inverse of the probability, a geometric mean, that predictions give the labels.

    Args:
        ignore_label: A label that does not count, nor do its predictions. None: there is none.
        axis: That of the classes.
    """

    def __init__(
        self,
        ignore_label: int | None,
        axis: int = -1,
        name: str = "perplexity",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, ignore_label=ignore_label)
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        """Adds one batch: labels, and probabilities of the shape (n, classes).

        Raises: ValueError: the numbers of labels and predictions differ.
        """
        try:
            super().update(labels, preds)
        except ValueError as error:
            raise WrongValueError(str(error)) from None

    def _measure(self, label: NDArray, pred: NDArray) -> tuple[float, float]:
        right = values(label).reshape(-1)
        if not pred.shape or right.size * pred.shape[-1] != pred.size:
            raise WrongValueError(f"labels of the shape {label.shape} do not match predictions of {pred.shape}")
        given = values(nd.pick(pred, label.astype("int32").reshape((-1,)), axis=self.axis)).reshape(-1)
        if self.ignore_label is not None:
            given = given[right.astype(np.int32) != self.ignore_label]
        return -float(np.log(np.maximum(given, 1e-10, dtype=np.float64)).sum()), given.size

    def _value(self, total: Any, count: float) -> float:
        return math.exp(total / count) if count else float("nan")


class _Entropy(_PerPair):
    """The mean of minus the logarithm of the probability that predictions, (n, classes), give the labels, n of them.

    Args:
        eps: What is added to a probability, so that 0 has a logarithm.
    """

    def __init__(
        self, eps: float, name: str, output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names, eps=eps)
        self.eps = eps

    def _measure(self, label: NDArray, pred: NDArray) -> tuple[float, float]:
        right, given = values(label).reshape(-1), values(pred)
        if given.shape[:1] != right.shape:
            raise WrongValueError(f"labels of the shape {label.shape} do not match predictions of {pred.shape}")
        chosen = given[np.arange(right.size), right.astype(np.int64)]
        with np.errstate(divide="ignore"):
            return -float(np.log(chosen + np.asarray(self.eps, chosen.dtype)).sum()), right.size


@register
@alias("ce")
class CrossEntropy(_Entropy):
    __doc__ = _Entropy.__doc__

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "cross-entropy",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        super().__init__(eps, name, output_names, label_names)


@register
@alias("nll_loss")
class NegativeLogLikelihood(_Entropy):
    __doc__ = _Entropy.__doc__

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "nll-loss",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        super().__init__(eps, name, output_names, label_names)


show(globals())
