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

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:  # noqa: N803
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
        self._set(self.get_lr())


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


def annealed(strategy: str, start: float, end: float, part: float) -> float:
    """A part of the way between two numbers, along a line or ("cos") half a cosine."""
    return start + (end - start) * (part if strategy == "linear" else (1 - math.cos(math.pi * part)) / 2)


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


_show(globals())
