"""What the training loop does with a batch."""

from __future__ import annotations

from typing import Any

from mxlite import autograd
from mxlite._public import show
from mxlite.gluon.utils import split_and_load


class BatchProcessor:
    """Runs the network on a batch, and backward; a class of one's own overrides both methods."""

    def __init__(self) -> None:
        pass

    def _get_data_and_label(self, batch: Any, ctx: Any, batch_axis: int = 0) -> tuple[list, list]:
        data, label = batch[0], batch[1]
        parts = [split_and_load(each, ctx_list=ctx, batch_axis=batch_axis) for each in (data, label)]
        return parts[0], parts[1]

    def evaluate_batch(self, estimator: Any, val_batch: Any, batch_axis: int = 0) -> tuple[list, list, list, list]:
        """Data, labels, predictions and losses of a batch, a list with an array for each context."""
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(each) for each in data]
        loss = [estimator.val_loss(each, wanted) for each, wanted in zip(pred, label)]
        return data, label, pred, loss

    def fit_batch(self, estimator: Any, train_batch: Any, batch_axis: int = 0) -> tuple[list, list, list, list]:
        """The same, with the gradients of the losses; a GradientUpdateHandler makes the step."""
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            pred = [estimator.net(each) for each in data]
            loss = [estimator.loss(each, wanted) for each, wanted in zip(pred, label)]
        for each in loss:
            each.backward()
        return data, label, pred, loss


show(globals())
