"""`torch.optim.lr_scheduler`: learning rates that change as training goes on.

A schedule multiplies the rate of the step before, so that several can act on one optimizer. One that is made with
last_epoch of an optimizer whose state was loaded finds the rates of that epoch there, and goes on from them.
"""

from __future__ import annotations

import bisect
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from mxlite._public import show as _show
from mxlite.torch.optim._optimizer import Optimizer


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
        self._step_count = 0
        self._is_initial = True
        self._last_lr: list[float] = []
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
        self._step_count += 1
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if epoch is not None:
            warnings.warn("step(epoch) of a schedule is deprecated: call step()", UserWarning, stacklevel=2)
        rates = self.get_lr() if epoch is None else getattr(self, "_get_closed_form_lr", self.get_lr)()
        for group, lr in zip(self.optimizer.param_groups, rates):
            group["lr"] = lr
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _rates(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict returned."""
        self.__dict__.update(state_dict)


class _Chained(LRScheduler):
    """A schedule with `_next()`, the rates after those of the epoch before, and `_now(base)`, of the first one."""

    def get_lr(self) -> list[float]:
        """The rates of this epoch; when it is made for a later one than the first: those that are there."""
        return self._rates() if self._is_initial and self.last_epoch > 0 else self._next()

    def _next(self) -> list[float]:
        raise NotImplementedError

    def _now(self, base: float) -> float:
        raise NotImplementedError

    def _get_closed_form_lr(self) -> list[float]:
        return [self._now(base) for base in self.base_lrs]


class _Factor(_Chained):
    """A schedule with `_factor()`, of the rate before, from epoch 0 on."""

    def _factor(self) -> float:
        raise NotImplementedError

    def _next(self) -> list[float]:
        factor = self._factor()
        return [rate * factor for rate in self._rates()]


class StepLR(_Factor):
    """gamma times the rate, every step_size epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma if self.last_epoch and self.last_epoch % self.step_size == 0 else 1.0

    def _now(self, base: float) -> float:
        return base * self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(_Factor):
    """gamma times the rate, at each of the milestones."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma ** self.milestones[self.last_epoch]

    def _now(self, base: float) -> float:
        return base * self.gamma ** bisect.bisect_right(sorted(self.milestones.elements()), self.last_epoch)


class ExponentialLR(_Factor):
    """gamma times the rate, every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma if self.last_epoch else 1.0

    def _now(self, base: float) -> float:
        return base * self.gamma**self.last_epoch


class ConstantLR(_Factor):
    """`factor` times the rate, for the first total_iters epochs."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(f"ConstantLR: factor is from 0 to 1, got {factor}")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if not self.last_epoch:
            return self.factor
        return 1 / self.factor if self.last_epoch == self.total_iters else 1.0

    def _now(self, base: float) -> float:
        return base * (self.factor if self.last_epoch < self.total_iters else 1)


class LinearLR(_Factor):
    """A factor of the rate that goes from start_factor to end_factor in total_iters epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError(f"LinearLR: start_factor is above 0 and at most 1, got {start_factor}")
        if not 0 <= end_factor <= 1:
            raise ValueError(f"LinearLR: end_factor is from 0 to 1, got {end_factor}")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _at(self, epoch: int) -> float:
        part = min(epoch, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * part

    def _factor(self) -> float:
        if not self.last_epoch:
            return self.start_factor
        past = self.last_epoch > self.total_iters
        return 1.0 if past else self._at(self.last_epoch) / self._at(self.last_epoch - 1)

    def _now(self, base: float) -> float:
        return base * self._at(self.last_epoch)


class CosineAnnealingLR(_Chained):
    """From the first rate to eta_min and back along a cosine, T_max epochs each way."""

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,  # noqa: N803
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2

    def _now(self, base: float) -> float:
        return self.eta_min + (base - self.eta_min) * self._height(self.last_epoch)

    def _next(self) -> list[float]:
        if not self.last_epoch:
            return self._rates()
        low, now = self.eta_min, self._height(self.last_epoch)
        if (self.last_epoch - 1) % (2 * self.T_max) == self.T_max:  # from eta_min no factor leads up
            return [rate + (base - low) * now for base, rate in zip(self.base_lrs, self._rates())]
        factor = now / self._height(self.last_epoch - 1)
        return [low + (rate - low) * factor for rate in self._rates()]


class LambdaLR(LRScheduler):
    """The first rate times a function of the epoch; one function for each group, or one for all."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable | list[Callable], last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        given = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(given) != count:
            raise ValueError(f"LambdaLR: one lr_lambda for each of {count} groups, got {len(given)}")
        self.lr_lambdas = given
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:  # noqa: D102
        return [base * function(self.last_epoch) for base, function in zip(self.base_lrs, self.lr_lambdas)]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimizer; in place of a callable object its attributes, in place of a function None."""

        def kept(callable_object: Any) -> dict[str, Any] | None:
            own = getattr(callable_object, "__dict__", None)
            return dict(own) if type(own) is dict and not isinstance(callable_object, FunctionType) else None

        return {**super().state_dict(), "lr_lambdas": list(map(kept, self.lr_lambdas))}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict returned; functions stay, callable objects get their attributes again."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for callable_object, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if attributes is not None:
                callable_object.__dict__.update(attributes)


_show(globals())
