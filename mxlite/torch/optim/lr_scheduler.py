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
from mxlite.torch._errors import warn
from mxlite.torch.optim._optimizer import Optimizer
from mxlite.torch.optim._schedule import CyclicLR, LRScheduler, OneCycleLR

__all__ = [
    "LRScheduler", "StepLR", "MultiStepLR", "ExponentialLR", "ConstantLR", "LinearLR", "PolynomialLR",
    "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "LambdaLR", "MultiplicativeLR", "CyclicLR", "OneCycleLR",
    "SequentialLR", "ChainedScheduler", "ReduceLROnPlateau",
]  # fmt: skip


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
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
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


class PolynomialLR(_Factor):
    """A factor of the rate that falls to 0 in total_iters epochs, as a power of what is left of them."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:  # fmt: skip
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        epoch, count = self.last_epoch, self.total_iters
        return ((1 - epoch / count) / (1 - (epoch - 1) / count)) ** self.power if 0 < epoch <= count else 1.0

    def _now(self, base: float) -> float:
        return base * (1 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power


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
            raise ValueError(f"{type(self).__name__}: one lr_lambda for each of {count} groups, got {len(given)}")
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


class MultiplicativeLR(LambdaLR):
    """The rate before times a function of the epoch; one function for each group, or one for all."""

    def get_lr(self) -> list[float]:  # noqa: D102
        if self._is_initial:
            return self._rates()
        return [rate * function(self.last_epoch) for rate, function in zip(self._rates(), self.lr_lambdas)]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Along a cosine to eta_min in T_0 epochs, then again from the first rate, each time in T_mult times as many."""

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1  # noqa: N803
    ) -> None:  # fmt: skip
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if value < 1 or not isinstance(value, int):
                raise ValueError(f"CosineAnnealingWarmRestarts: {name} is an integer of 1 or more, got {value}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:  # noqa: D102
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Goes on by one epoch, or to `epoch`, which may be a fraction of one."""
        if epoch is None and self.last_epoch >= 0:
            epoch, self.T_cur = self.last_epoch + 1, self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur % self.T_i, self.T_i * self.T_mult
        else:
            epoch = epoch or 0
            if epoch < 0:
                raise ValueError(f"CosineAnnealingWarmRestarts: an epoch is not negative, got {epoch}")
            self.T_cur, self.T_i = epoch, self.T_0
            if self.T_mult == 1:
                self.T_cur = epoch % self.T_0 if epoch >= self.T_0 else epoch
            elif epoch >= self.T_0:
                count = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
                self.T_cur = epoch - self.T_0 * (self.T_mult**count - 1) / (self.T_mult - 1)
                self.T_i = self.T_0 * self.T_mult**count
        self.last_epoch = math.floor(epoch)
        self._set(self._asked())


class _Several(LRScheduler):
    """A schedule that others make up."""

    _schedulers: list[Any]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimizer, with the states of the schedules that it is made of."""
        return {**super().state_dict(), "_schedulers": [each.state_dict() for each in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what state_dict returned."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for each, state in zip(self._schedulers, state_dict["_schedulers"]):
            each.load_state_dict(state)

    def _check(self, optimizer: Any, schedulers: list[Any]) -> None:
        if not schedulers:
            raise ValueError(f"{type(self).__name__}: there are no schedules")
        for place, each in enumerate(schedulers):
            if getattr(each, "optimizer", None) is not optimizer:
                raise ValueError(
                    f"{type(self).__name__}: all schedules have one optimizer, but that at {place} has not"
                )
            if isinstance(each, ReduceLROnPlateau):
                raise ValueError(f"{type(self).__name__}: takes no ReduceLROnPlateau, whose step has an argument")


class SequentialLR(_Several):
    """Schedules one after another, each from its milestone on."""

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        self._check(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(f"SequentialLR: {len(schedulers) - 1} milestones are expected, got {len(milestones)}")
        self._schedulers, self._milestones, self.optimizer = list(schedulers), milestones, optimizer
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for each in self._schedulers:  # they have taken a first step each
            each.last_epoch -= 1
        self._schedulers[0]._begin()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Goes on by one epoch."""
        self.last_epoch += 1
        which = bisect.bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[which]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "step.epoch.", UserWarning)
            scheduler.step(*[0] * (which > 0 and self._milestones[which - 1] == self.last_epoch))
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Several):
    """Schedules that act on one optimizer at once, one after another."""

    def __init__(self, schedulers: Iterable[LRScheduler], optimizer: Optimizer | None = None) -> None:
        self._schedulers = list(schedulers)
        self._check(optimizer or getattr((self._schedulers or [None])[0], "optimizer", None), self._schedulers)
        self.optimizer = self._schedulers[0].optimizer
        self._last_lr = self._rates()

    def step(self) -> None:  # type: ignore[override]
        """Has each schedule go on by one epoch."""
        for each in self._schedulers:
            each.step()
        self._last_lr = self._rates()


class ReduceLROnPlateau(LRScheduler):
    """`factor` times the rate, where a metric was not better than its best in the last `patience` epochs.

    Args:
        mode: Whether better is lower ("min") or higher ("max").
        threshold: By how much: a part of the best (threshold_mode "rel"), or a difference ("abs").
        cooldown: Epochs after a change that do not count. eps: changes that are smaller are left out.
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau: factor is below 1, got {factor}")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(f"ReduceLROnPlateau: mode is 'min' or 'max', threshold_mode 'rel' or 'abs', got {mode!r} "
                             f"and {threshold_mode!r}")  # fmt: skip
        self.optimizer, count = optimizer, len(optimizer.param_groups)
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != count:
                raise ValueError(f"ReduceLROnPlateau: one min_lr for each of {count} groups, got {len(min_lr)}")
            self.default_min_lr, self.min_lrs = None, list(min_lr)
        else:
            self.default_min_lr, self.min_lrs = min_lr, [min_lr] * count
        self.factor, self.patience, self.cooldown, self.eps = factor, patience, cooldown, eps
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.last_epoch, self._last_lr = 0, self._rates()
        self._reset()

    def _reset(self) -> None:
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Goes on by one epoch, which had this metric."""
        if epoch is not None:
            warn("step(epoch) of a schedule is deprecated: call step()")
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        is_better = self.is_better(current, self.best)
        self.best, self.num_bad_epochs = (current, 0) if is_better else (self.best, self.num_bad_epochs + 1)
        if self.in_cooldown:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown_counter - 1, 0
        if self.num_bad_epochs > self.patience:
            for group, low in zip(self.optimizer.param_groups, self.min_lrs):
                new = max(group["lr"] * self.factor, low)
                group["lr"] = new if group["lr"] - new > self.eps else group["lr"]
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    @property
    def in_cooldown(self) -> bool:
        """Whether epochs do not count now."""
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        """Whether a metric is better than the best, by more than the threshold."""
        sign = -1 if self.mode == "min" else 1
        by = self.threshold * sign
        return sign * a > sign * (best * (1 + by) if self.threshold_mode == "rel" else best + by)


_LRScheduler = LRScheduler  # as programs of PyTorch before 2.0 call it

_show(globals())
