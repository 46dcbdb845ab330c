"""The events of the training loop, each with the base class of those who hear of it."""

from __future__ import annotations

from typing import Any


class EventHandler:
    """The base class of handlers."""


class TrainBegin(EventHandler):
    """Hears that training begins."""

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Training begins."""


class TrainEnd(EventHandler):
    """Hears that training has ended."""

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Training has ended."""


class EpochBegin(EventHandler):
    """Hears that an epoch begins."""

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """An epoch begins."""


class EpochEnd(EventHandler):
    """Hears that an epoch has ended."""

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """An epoch has ended. Returns: True: so does training."""
        return False


class BatchBegin(EventHandler):
    """Hears that a batch begins: `batch=`."""

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """A batch begins."""


class BatchEnd(EventHandler):
    """Hears that a batch has ended: `batch= pred= label= loss=`."""

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """A batch has ended. Returns: True: so does training."""
        return False


#: The events, by the method that hears of them.
EVENTS = {
    "train_begin": TrainBegin,
    "train_end": TrainEnd,
    "epoch_begin": EpochBegin,
    "epoch_end": EpochEnd,
    "batch_begin": BatchBegin,
    "batch_end": BatchEnd,
}
