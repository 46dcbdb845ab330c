"""LRScheduler, the base class of schedules of learning rates, and those of rates that go up and down with momenta."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from mxlite.torch._errors import warn
from mxlite.torch.optim._optimizer import Optimizer


def annealed(strategy: str, start: float, end: float, part: float) -> float:
    """A part of the way between two numbers, along a line or ("cos") half a cosine."""
    return start + (end - start) * (part if strategy == "linear" else (1 - math.cos(math.pi * part)) / 2)


def _of_step(get_lr: Callable) -> Callable:
    """A schedule's own get_lr, which warns outside of its steps, where rates would be changed once more."""

    @wraps(get_lr)
    def asked(self: LRScheduler) -> list[float]:
        if not self._get_lr_called_within_step:
            warn("get_lr: it is for step() to call; get_last_lr() has the rates that are set")
        return get_lr(self)

    return asked


class LRScheduler:
    """The base class: a subclass has `get_lr()`, the rate of each group for `last_epoch`."""

    _get_lr_called_within_step = False

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

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "get_lr" in vars(cls) and cls.__module__.startswith("mxlite."):
            cls.get_lr = _of_step(cls.get_lr)

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
            warn("a schedule's step() before the optimizer's: the first rate is left out; call optimizer.step() first")
        self._step_count += 1
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if epoch is not None:
            warn("step(epoch) of a schedule is deprecated: call step()")
        self._set(self._asked() if epoch is None else getattr(self, "_get_closed_form_lr", self._asked)())

    def _asked(self) -> list[float]:
        """What get_lr says to a step."""
        self._get_lr_called_within_step = True
        try:
            return self.get_lr()
        finally:
            self._get_lr_called_within_step = False

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


class _WithMomentum(LRScheduler):
    """A schedule of rates and, with cycle_momentum, of momentum or the first beta, whose options groups may have."""

    cycle_momentum: bool
    use_beta1: bool

    def _listed(self, name: str, value: Any) -> list[float]:
        """One value for each group."""
        count = len(self.optimizer.param_groups)
        if isinstance(value, (list, tuple)) and len(value) != count:
            raise ValueError(f"{type(self).__name__}: one {name} for each of {count} groups, got {len(value)}")
        return list(value) if isinstance(value, (list, tuple)) else [value] * count

    def _begin_momenta(self, base: Any, highest: Any, last_epoch: int) -> None:
        """Gives groups their highest momentum, and the limits of it. Raises: ValueError: there is none."""
        if not {"momentum", "betas"} & self.optimizer.defaults.keys():
            raise ValueError(f"{type(self).__name__}: cycle_momentum=True takes an optimizer with momentum or betas")
        self.use_beta1 = "betas" in self.optimizer.defaults
        highs, lows = self._listed("max_momentum", highest), self._listed("base_momentum", base)
        for group, high, low in zip(self.optimizer.param_groups, highs, lows) if last_epoch == -1 else ():
            group.update(max_momentum=high, base_momentum=low)
        self._set_momenta(highs if last_epoch == -1 else ())

    def _set_momenta(self, momenta: Iterable[float]) -> None:
        for group, momentum in zip(self.optimizer.param_groups, momenta):
            group.update({"betas": (momentum, *group["betas"][1:])} if self.use_beta1 else {"momentum": momentum})


class CyclicLR(_WithMomentum):
    """From base_lr to max_lr in step_size_up steps and back, again and again; momentum the other way round.

    Args:
        mode: "triangular", or with cycles that get lower: "triangular2" (by half), "exp_range" (by gamma each step).
        scale_fn: In place of a mode: what the height is multiplied by, of the cycle or (scale_mode "iterations") step.
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
        step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"CyclicLR: mode is 'triangular', 'triangular2' or 'exp_range', got {mode!r}")
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, self._listed("base_lr", base_lr)):
                group["lr"] = lr
        self.max_lrs = self._listed("max_lr", max_lr)
        self.total_size = float(step_size_up + (step_size_up if step_size_down is None else step_size_down))
        self.step_ratio, self.mode, self.gamma, self._scale_fn = step_size_up / self.total_size, mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momenta(base_momentum, max_momentum, last_epoch)
            self.base_momentums, self.max_momentums = (
                [group[name] for group in optimizer.param_groups] for name in ("base_momentum", "max_momentum")
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = self._listed("base_lr", base_lr)

    def scale_fn(self, x: float) -> float:
        """What the height of a cycle is multiplied by."""
        if self._scale_fn is not None:
            return self._scale_fn(x)
        return 1.0 if self.mode == "triangular" else 0.5 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[float]:  # noqa: D102
        cycle, place = divmod(self.last_epoch / self.total_size, 1)
        height = place / self.step_ratio if place <= self.step_ratio else (place - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle + 1 if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            self._set_momenta(
                high - (high - low) * height for low, high in zip(self.base_momentums, self.max_momentums)
            )
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs)]


class OneCycleLR(_WithMomentum):
    """From max_lr / div_factor to max_lr and down to a final_div_factor-th of the first; momentum the other way round.

    Args:
        total_steps: All steps; or epochs and steps_per_epoch. pct_start: the part of them in which the rate grows.
        three_phase: Whether the rate falls to the first one in as many steps as it grew, then on.
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0,
        final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("OneCycleLR: give total_steps, or epochs and steps_per_epoch")
        for name, value in (("total_steps", total_steps), ("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
            if value is not None and (value <= 0 or not isinstance(value, int)):
                raise ValueError(f"OneCycleLR: {name} is an integer of 1 or more, got {value}")
            if name == "total_steps" and value is not None:
                break
        self.total_steps = total_steps or epochs * steps_per_epoch  # type: ignore[operator]
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"OneCycleLR: pct_start is a float from 0 to 1, got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"OneCycleLR: anneal_strategy is 'cos' or 'linear', got {anneal_strategy!r}")
        self._anneal_func_type = anneal_strategy
        first = float(pct_start * self.total_steps) - 1
        #: Where each phase ends, and the group's rates and momenta that it goes from and to.
        self._schedule_phases = [(first, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            end = float(2 * pct_start * self.total_steps) - 2
            self._schedule_phases.append((end, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
        last = ("initial_lr", "min_lr", "max_momentum") if three_phase else ("max_lr", "min_lr", "base_momentum")
        self._schedule_phases.append((self.total_steps - 1, *last, "max_momentum"))
        self.cycle_momentum = cycle_momentum
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, self._listed("max_lr", max_lr)):
                group.update(initial_lr=lr / div_factor, max_lr=lr, min_lr=lr / div_factor / final_div_factor)
        if cycle_momentum:
            self._begin_momenta(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, part: float) -> float:
        return annealed(self._anneal_func_type, start, end, part)

    def get_lr(self) -> list[float]:  # noqa: D102
        if self.last_epoch > self.total_steps:
            raise ValueError(f"OneCycleLR: step {self.last_epoch} of {self.total_steps} in all")
        start = 0.0
        for phase in self._schedule_phases[:-1]:
            if self.last_epoch <= phase[0]:
                break
            start = phase[0]
        else:
            phase = self._schedule_phases[-1]
        end, *names = phase
        part, groups = (self.last_epoch - start) / (end - start), self.optimizer.param_groups
        if self.cycle_momentum:
            self._set_momenta(self._between(group[names[2]], group[names[3]], part) for group in groups)
        return [self._between(group[names[0]], group[names[1]], part) for group in groups]
