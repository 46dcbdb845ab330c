"""`torch.optim.swa_utils`: averages of a network's weights, and the schedule of rates that goes with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy as _deepcopy
from itertools import chain as _chain
from typing import Any

from mxlite._public import show as _show
from mxlite.torch._make.data import tensor as _tensor
from mxlite.torch._nodes import unrecorded as _unrecorded
from mxlite.torch._tensor import Tensor
from mxlite.torch.nn._module import Module as _Module
from mxlite.torch.nn._norms import BatchNorm1d, BatchNorm2d, BatchNorm3d
from mxlite.torch.optim._schedule import LRScheduler as _LRScheduler
from mxlite.torch.optim._schedule import annealed as _annealed

__all__ = [
    "AveragedModel", "SWALR", "update_bn", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
]  # fmt: skip


def get_ema_avg_fn(decay: float = 0.999) -> Callable:
    """A function for avg_fn: decay times the average, and the rest of the new value.

    Raises: ValueError: the decay is not from 0 to 1.
    """
    if not 0 <= decay <= 1:
        raise ValueError(f"get_ema_avg_fn: decay is from 0 to 1, got {decay}")
    return lambda average, new, count: average * decay + new * (1 - decay)


def get_swa_avg_fn() -> Callable:
    """A function for avg_fn: the mean of all values."""
    return lambda average, new, count: average + (new - average) / (count + 1)


def _of_many(function: Callable) -> Callable:
    def update(averages: Iterable[Tensor], news: Iterable[Tensor], count: Any) -> None:
        with _unrecorded():
            for average, new in zip(averages, news):
                average.copy_(function(average, new, count))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable:
    """As get_ema_avg_fn, for multi_avg_fn: of lists, into the first."""
    return _of_many(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Callable:
    """As get_swa_avg_fn, for multi_avg_fn: of lists, into the first."""
    return _of_many(get_swa_avg_fn())


class AveragedModel(_Module):
    """A copy of a network (`module`), whose parameters are averages of the network's.

    Args:
        avg_fn: Of the average, the new value and how many there were: the new average; None: the mean of all.
        multi_avg_fn: In its place: of lists of averages and of new values, which writes into the first.
        use_buffers: Whether buffers are averaged, too; else they are copied.
    """

    n_averaged: Tensor

    def __init__(
        self, model: _Module, device: Any = None, avg_fn: Callable | None = None, multi_avg_fn: Callable | None = None,
        use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("AveragedModel: give avg_fn or multi_avg_fn, not both")
        self.module = _deepcopy(model).to(*[device] * (device is not None))
        self.register_buffer("n_averaged", _tensor(0))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged network gives."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: _Module) -> None:
        """Takes the network's values into the averages."""
        pairs: list[Any] = [list(each.parameters()) for each in (self.module, model)]
        buffers: list[Any] = [list(each.buffers()) for each in (self.module, model)]
        if self.use_buffers:
            pairs = [list(_chain(*both)) for both in zip(pairs, buffers)]
        with _unrecorded():
            if not int(self.n_averaged):
                _of_many(lambda average, new, count: new)(*pairs, None)
            elif self.multi_avg_fn is not None:
                self.multi_avg_fn(*([each.detach() for each in part] for part in pairs), self.n_averaged)
            else:
                function = self.avg_fn or get_swa_avg_fn()
                _of_many(lambda average, new, count: function(average, new, count))(*pairs, self.n_averaged)
            if not self.use_buffers:
                _of_many(lambda average, new, count: new)(*buffers, None)
            self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: _Module, device: Any = None) -> None:
    """Computes the running statistics of batch normalisations anew, over a loader's inputs."""
    layers = [each for each in model.modules() if isinstance(each, (BatchNorm1d, BatchNorm2d, BatchNorm3d))]
    if not layers:
        return
    was_training, momenta = model.training, [each.momentum for each in layers]
    model.train()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None
    with _unrecorded():
        for each in loader:
            given = each[0] if isinstance(each, (list, tuple)) else each
            model(given if device is None else given.to(device))
    for layer, momentum in zip(layers, momenta):
        layer.momentum = momentum
    model.train(was_training)


class SWALR(_LRScheduler):
    """From the rate that is there to swa_lr in anneal_epochs, along half a cosine or a line."""

    def __init__(
        self, optimizer: Any, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos", last_epoch: int = -1
    ) -> None:  # fmt: skip
        groups = optimizer.param_groups
        lrs = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(groups)
        if len(lrs) != len(groups):
            raise ValueError(f"SWALR: one swa_lr for each of {len(groups)} groups, got {len(lrs)}")
        for group, lr in zip(groups, lrs):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"SWALR: anneal_strategy is 'cos' or 'linear', got {anneal_strategy!r}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"SWALR: anneal_epochs is an integer, 0 or more, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        part = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return _annealed(self._anneal_strategy, 0.0, 1.0, part)

    def get_lr(self) -> list[float]:  # noqa: D102
        # `step()` counts before it asks, so that these are of this step and of the one before.
        step = self._step_count - (0 if self.anneal_epochs == 0 else 1)
        before, now = self._share(max(0, step - 1)), self._share(step)
        lrs = [(group["lr"], group["swa_lr"]) for group in self.optimizer.param_groups]
        starts = [lr if before == 1 else (lr - before * end) / (1 - before) for lr, end in lrs]
        return [end * now + start * (1 - now) for start, (_, end) in zip(starts, lrs)]


_show(globals())
