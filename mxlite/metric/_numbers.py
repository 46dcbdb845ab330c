"""Metrics of numbers: how far predictions are from labels, how they go together, and the mean of a loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mxlite._public import show
from mxlite.metric._base import EvalMetric, _PerPair, alias, check_label_shapes, listed, register, values
from mxlite.ndarray.ndarray import NDArray


class _MeanError(_PerPair):
    """The mean over batches of what a batch's differences make. Arrays of one axis count as columns.

    Raises: ValueError: the shapes of labels and predictions do not broadcast.
    """

    def _measure(self, label: NDArray, pred: NDArray) -> tuple[float, float]:
        columns = [each[:, None] if each.ndim == 1 else each for each in (values(label), values(pred))]
        return float(self._mean(columns[0] - columns[1])), 1

    @staticmethod
    def _mean(differences: np.ndarray) -> float:
        raise NotImplementedError


def _mean(numbers: np.ndarray) -> float:
    return numbers.mean() if numbers.size else float("nan")


@register
class MAE(_MeanError):
    """The mean of the absolute differences of labels and predictions."""

    def __init__(
        self, name: str = "mae", output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names)

    @staticmethod
    def _mean(differences: np.ndarray) -> float:
        return _mean(np.abs(differences))


@register
class MSE(_MeanError):
    """The mean of the squared differences of labels and predictions."""

    def __init__(
        self, name: str = "mse", output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names)

    @staticmethod
    def _mean(differences: np.ndarray) -> float:
        with np.errstate(over="ignore"):
            return _mean(np.square(differences))


@register
class RMSE(_MeanError):
    """The root of the mean of the squared differences of labels and predictions, of each batch; their mean."""

    def __init__(
        self, name: str = "rmse", output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names)

    @staticmethod
    def _mean(differences: np.ndarray) -> float:
        return math.sqrt(MSE._mean(differences))


class _Moments:
    """Means and sums of products of deviations of pairs of numbers, which batches are added to."""

    __slots__ = ("count", "means", "products")

    def __init__(self) -> None:
        self.count, self.means, self.products = 0, np.zeros(2), np.zeros((2, 2))

    def add(self, rows: np.ndarray) -> None:
        """Adds pairs, an array of the shape (2, n)."""
        count = rows.shape[1]
        if not count:
            return
        means = rows.mean(1)
        apart, deviations = means - self.means, rows - means[:, None]
        whole = self.count + count
        self.products += deviations @ deviations.T + np.outer(apart, apart) * (self.count * count / whole)
        self.means += apart * (count / whole)
        self.count = whole

    def correlation(self) -> float:
        """Pearson's correlation; NaN where one of the two is always the same."""
        product = self.products[0, 0] * self.products[1, 1]
        return float(self.products[0, 1]) / math.sqrt(product) if product > 0 else float("nan")


@register
@alias("pearsonr")
class PearsonCorrelation(_PerPair):
    """Pearson's correlation of labels and predictions of the same shape.

    Args:
        average: "macro": the mean of the batches' correlations; "micro": the correlation of all batches together.

    Raises: ValueError: it is neither.
    """

    def __init__(
        self,
        name: str = "pearsonr",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
        average: str = "macro",
    ) -> None:
        if average not in ("macro", "micro"):
            raise ValueError(f"average must be 'macro' or 'micro', got {average!r}")
        self.average = average
        super().__init__(name, output_names, label_names)

    def _measure(self, label: NDArray, pred: NDArray) -> tuple[float, float]:
        check_label_shapes(label, pred, shape=True)
        rows = np.stack([values(label), values(pred)]).reshape(2, -1).astype(np.float64)
        batch = _Moments()
        with np.errstate(invalid="ignore", over="ignore"):
            batch.add(rows)
            if self.average == "macro":
                return batch.correlation(), 1
            self._local.add(rows)
            self._whole.add(rows)
        return 0.0, 0

    def update(self, labels: Any, preds: Any) -> None:
        """Adds one batch: lists of labels and of predictions, or one array of each.

        Raises: ValueError: shapes differ.
        """
        super().update(labels, preds)
        if self.average == "micro" and self._whole.count:
            self.num_inst = self.global_num_inst = 1
            self.sum_metric, self.global_sum_metric = self._local.correlation(), self._whole.correlation()

    def reset(self) -> None:
        """Begins anew."""
        self._whole = _Moments()
        super().reset()

    def reset_local(self) -> None:
        """Begins the local value anew."""
        self._local = _Moments()
        super().reset_local()


@register
class Loss(EvalMetric):
    """The mean of all elements of the predictions, which are losses; labels are not read."""

    def __init__(
        self, name: str = "loss", output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, _: Any, preds: Any) -> None:
        """Adds the losses of one batch, a list of arrays or one."""
        for pred in listed(preds):
            values(pred)
            self._add(float(pred.sum().asscalar()), pred.size)


@register
class Torch(Loss):
    """Loss by another name."""

    def __init__(
        self, name: str = "torch", output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """Loss by another name."""

    def __init__(
        self, name: str = "caffe", output_names: list[str] | None = None, label_names: list[str] | None = None
    ) -> None:
        super().__init__(name, output_names, label_names)


show(globals())
