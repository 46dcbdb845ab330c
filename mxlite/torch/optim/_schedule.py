"""LRScheduler, the base class of schedules of learning rates."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import Any

from mxlite.torch.optim._optimizer import Optimizer


def annealed(strategy: str, start: float, end: float, part: float) -> float:
    """A part of the way between two numbers, along a line or ("cos") half a cosine."""
    return start + (end - start) * (part if strategy == "linear" else (1 - math.cos(math.pi * part)) / 2)


class LRScheduler:
    """The base class: a subclass has `get_lr()`, the rate of each group for `last_epoch`."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for place, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"{type(self).__name__}: last_epoch {last_epoch} goes on with a schedule, but "
                    f"param_groups[{place}] has no 'initial_lr': load the optimizer's state first, or begin "
                    "with last_epoch=-1"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._last_lr: list[float] = []
        optimizer.__dict__.setdefault("_stepped", False)
        self._begin()

    def _begin(self) -> None:
        """The step of its own that every schedule takes first."""
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[float]:
        """The learning rate of each group."""
        raise NotImplementedError(f"{type(self).__name__} has no get_lr")

    def get_last_lr(self) -> list[float]:
        """The learning rates that the last step set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Goes on by one epoch, or to `epoch`, whose rates then come of the first ones."""
        if self._step_count == 1 and not self.optimizer._stepped:
            warnings.warn(
                "a schedule's step() before the optimizer's: the first rate is left out; call optimizer.step() first",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if epoch is not None:
            warnings.warn("step(epoch) of a schedule is deprecated: call step()", UserWarning, stacklevel=2)
        self._set(self.get_lr() if epoch is None else getattr(self, "_get_closed_form_lr", self.get_lr)())

    def _set(self, rates: Iterable[float]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates):
            group["lr"] = lr
        self._last_lr = self._rates()

    def _rates(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict returned."""
        self.__dict__.update(state_dict)
