"""Learning rates as functions of the number of updates: `schedule(num_update)`."""

from __future__ import annotations

import logging
import math

from mxlite._public import show
from mxlite.error import WrongTypeError, WrongValueError


class LRScheduler:
    """The base class: `base_lr`, and a warm-up of the first `warmup_steps` updates.

    Args:
        warmup_begin_lr: where the warm-up begins.
        warmup_mode: "linear": the rate grows evenly to base_lr; "constant": it is warmup_begin_lr.

    Raises: ValueError: the warm-up begins above base_lr, lasts less than no steps, or has another mode.
    """

    def __init__(
        self,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        self.base_lr = base_lr
        if not isinstance(warmup_steps, int):
            raise WrongTypeError(f"warmup_steps must be an integer, got {warmup_steps!r}")
        self.warmup_steps = warmup_steps
        self.warmup_final_lr = base_lr
        self.warmup_begin_lr = warmup_begin_lr
        if self.warmup_begin_lr > self.warmup_final_lr:
            raise ValueError("warmup_begin_lr is above base_lr")
        if self.warmup_steps < 0:
            raise ValueError("warmup_steps is 0 or more")
        if warmup_mode not in ("linear", "constant"):
            raise ValueError("warmup_mode is 'linear' or 'constant'")
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update: int) -> float:
        """The learning rate of an update within the warm-up."""
        if num_update >= self.warmup_steps:
            raise WrongValueError(f"update {num_update} is not within the {self.warmup_steps} steps of the warm-up")
        if self.warmup_mode == "linear":
            whole = self.warmup_final_lr - self.warmup_begin_lr
            return self.warmup_begin_lr + whole * float(num_update) / float(self.warmup_steps)
        return self.warmup_begin_lr

    def __call__(self, num_update: int) -> float:
        """The learning rate of an update; kinds override it."""
        raise NotImplementedError(f"{type(self).__name__}: a scheduler must have __call__")


class FactorScheduler(LRScheduler):
    """Times `factor` after each `step` updates, until the rate would be below `stop_factor_lr`.

    Raises: ValueError: step is below 1, or factor above 1.
    """

    def __init__(
        self,
        step: int,
        factor: float = 1,
        stop_factor_lr: float = 1e-8,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ValueError("a step is 1 update or more")
        if factor > 1.0:
            raise ValueError("factor is 1 or less, so that the rate falls")
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while num_update > self.count + self.step:
            self.count += self.step
            self.base_lr *= self.factor
            if self.base_lr < self.stop_factor_lr:
                self.base_lr = self.stop_factor_lr
                logging.info("update %d: the learning rate is %.5e and stays so", num_update, self.base_lr)
            else:
                logging.info("update %d: the learning rate is %.5e", num_update, self.base_lr)
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """Times `factor` after each of the updates in the list `step`.

    Raises: ValueError: the list is empty, does not grow or begins below 1, or factor is above 1.
    """

    def __init__(
        self,
        step: list[int],
        factor: float = 1,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(step, list) or len(step) < 1:
            raise WrongTypeError(f"MultiFactorScheduler: step must be a list of numbers of updates, got {step!r}")
        if any(b <= a for a, b in zip(step, step[1:])):
            raise ValueError("step is a list of growing whole numbers")
        if step[0] < 1:
            raise ValueError("a step is 1 update or more")
        if factor > 1.0:
            raise ValueError("factor is 1 or less, so that the rate falls")
        self.step = step
        self.cur_step_ind = 0
        self.factor = factor
        self.count = 0

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self.base_lr *= self.factor
            logging.info("update %d: the learning rate is %.5e", num_update, self.base_lr)
        return self.base_lr


class _Falling(LRScheduler):
    """From base_lr to final_lr over max_update updates, along `_share`, a function from 1 to 0."""

    def __init__(
        self,
        max_update: int,
        base_lr: float,
        final_lr: float,
        warmup_steps: int,
        warmup_begin_lr: float,
        warmup_mode: str,
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(max_update, int):
            raise WrongTypeError(f"max_update must be an integer, got {max_update!r}")
        if max_update < 1:
            raise ValueError("max_update is 1 or more")
        self.base_lr_orig = self.base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = self.max_update - self.warmup_steps

    def _share(self, done: float) -> float:
        raise NotImplementedError

    def __call__(self, num_update: int) -> float:
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            share = self._share(float(num_update - self.warmup_steps) / float(self.max_steps))
            self.base_lr = self.final_lr + (self.base_lr_orig - self.final_lr) * share
        return self.base_lr


class PolyScheduler(_Falling):
    """From base_lr to final_lr over max_update updates, as (1 - share done) to the power `pwr`."""

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        pwr: float = 2,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def _share(self, done: float) -> float:
        return pow(1 - done, self.power)


class CosineScheduler(_Falling):
    """From base_lr to final_lr over max_update updates, along half a wave of the cosine."""

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        final_lr: float = 0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0,
        warmup_mode: str = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def _share(self, done: float) -> float:
        return (1 + math.cos(math.pi * done)) / 2


show(globals())
