"""The base class of optimizers: learning rates and weight decays of parameters, counts of updates, master copies."""

from __future__ import annotations

import logging
import os
import warnings
from typing import Any, Callable, ClassVar

import numpy as np

from mxlite import ndarray as nd
from mxlite._public.near import did_you_mean
from mxlite.error import WrongTypeError
from mxlite.ndarray import NDArray


def aggregation_size() -> int:
    """How many parameters one call updates: MXNET_OPTIMIZER_AGGREGATION_SIZE, or 128 (4 in 1.9.1)."""
    return max(1, int(os.environ.get("MXNET_OPTIMIZER_AGGREGATION_SIZE", "128")))


class Optimizer:
    """The base class: an optimizer of one's own overrides `create_state` and `update`, and is registered.

    Args:
        rescale_grad: gradients are multiplied by it first; a Trainer sets it to 1 / batch size.
        param_idx2name: index -> name of the parameters, for multipliers by name.
        wd: weight decay.
        clip_gradient: the largest absolute value of a rescaled gradient; None: no limit.
        learning_rate: None: 0.01, or the scheduler's own.
        lr_scheduler: a function of the number of updates that gives the learning rate.
        sym: a Symbol, whose attributes `__lr_mult__` and `__wd_mult__` are multipliers of its arguments.
        begin_num_update: what counts of updates begin at.
        multi_precision: parameters of float16 have a master copy in float32.
        param_dict: index -> Parameter, whose lr_mult and wd_mult count.
    """

    #: lower-case name -> class
    opt_registry: ClassVar[dict[str, type]] = {}
    aggregate_num = 0

    def __init__(
        self,
        rescale_grad: float = 1.0,
        param_idx2name: dict[Any, str] | None = None,
        wd: float = 0.0,
        clip_gradient: float | None = None,
        learning_rate: float | None = None,
        lr_scheduler: Callable[[int], float] | None = None,
        sym: Any = None,
        begin_num_update: int = 0,
        multi_precision: bool = False,
        param_dict: dict[Any, Any] | None = None,
    ) -> None:
        if param_idx2name is not None and not isinstance(param_idx2name, dict):
            raise WrongTypeError("param_idx2name is a dict from indices to names")
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        self.lr = 0.01 if lr_scheduler is None and learning_rate is None else learning_rate
        if lr_scheduler is not None and learning_rate is not None:
            if lr_scheduler.base_lr != learning_rate:
                logging.warning("the learning rate of lr_scheduler is replaced by the optimizer's learning_rate")
            lr_scheduler.base_lr = learning_rate
        self.wd = wd
        self.lr_mult: dict[Any, float] = {}
        self.wd_mult: dict[Any, float] = {}
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        self._all_index_update_counts: dict[int, dict[Any, int]] = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.idx2name = dict(param_idx2name or {})
        self.param_dict = dict(param_dict or {})
        self.sym_info = () if sym is None else (sym.attr_dict(), sym.list_arguments())
        self.set_lr_mult({})
        self.set_wd_mult({})

    @staticmethod
    def register(klass: type) -> type:
        """A decorator that registers an optimizer under its name in lower case."""
        name = klass.__name__.lower()
        known = Optimizer.opt_registry.get(name)
        if known is not None and known is not klass:
            warnings.warn(
                f"optimizer {name!r} is now {klass.__module__}.{klass.__name__}; it was {known.__module__}."
                f"{known.__name__}",
                UserWarning,
                stacklevel=2,
            )
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name: str, **kwargs: Any) -> Optimizer:
        """Makes a registered optimizer. Raises ValueError: there is none of that name."""
        if name.lower() not in Optimizer.opt_registry:
            raise ValueError(f"Cannot find optimizer {name}{did_you_mean(name.lower(), Optimizer.opt_registry)}")
        return Optimizer.opt_registry[name.lower()](**kwargs)

    # ---- learning rates and weight decays ----

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next update."""
        return self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)

    def set_learning_rate(self, lr: float) -> None:
        """Sets the learning rate. Raises UserWarning: a scheduler decides it."""
        if self.lr_scheduler is not None:
            raise UserWarning("the optimizer has an LRScheduler, which decides the learning rate")
        self.lr = lr

    def set_lr_scale(self, args_lrscale: Any) -> None:
        """Raises DeprecationWarning: `set_lr_mult` is the function for it."""
        raise DeprecationWarning("set_lr_scale is gone: use set_lr_mult")

    def set_lr_mult(self, args_lr_mult: dict[Any, float]) -> None:
        """Sets what learning rates are multiplied by, by index or name."""
        self.lr_mult = {**self._of_symbol("__lr_mult__"), **args_lr_mult}

    def _of_symbol(self, attribute: str) -> dict[Any, float]:
        """The numbers that a symbol's arguments have in an attribute, by name."""
        if not self.sym_info:
            return {}
        attributes, arguments = self.sym_info
        found = {name: attributes.get(name, {}).get(attribute) for name in arguments}
        return {name: float(value) for name, value in found.items() if value is not None}

    def _decays(self, name: str) -> bool:
        return name.endswith(("_weight", "_gamma"))

    def set_wd_mult(self, args_wd_mult: dict[Any, float]) -> None:
        """Sets what weight decays are multiplied by; named parameters that are no weights and no gammas have 0."""
        self.wd_mult = {name: 0.0 for name in self.idx2name.values() if not self._decays(name)}
        self.wd_mult.update({**self._of_symbol("__wd_mult__"), **args_wd_mult})

    def _scaled(self, value: float, indices: list, kind: str) -> list[float]:
        """`value` times each parameter's own multiplier."""
        table = getattr(self, kind)
        found = []
        for index in indices:
            if index in self.param_dict:
                found.append(value * getattr(self.param_dict[index], kind))
            elif index in table:
                found.append(value * table[index])
            elif index in self.idx2name:
                found.append(value * table.get(self.idx2name[index], 1.0))
            else:
                found.append(value)
        return found

    def _get_lrs(self, indices: list) -> list[float]:
        return self._scaled(self.learning_rate, indices, "lr_mult")

    def _get_lr(self, index: Any) -> float:
        return self._get_lrs([index])[0]

    def _get_wds(self, indices: list) -> list[float]:
        return self._scaled(self.wd, indices, "wd_mult")

    def _get_wd(self, index: Any) -> float:
        return self._get_wds([index])[0]

    def _rate_arrays(self, indices: list, lrs: list[float]) -> tuple[NDArray, NDArray]:
        """Learning rates and weight decays of many parameters as arrays, which are kept until they change."""
        wds = self._get_wds(indices)
        kept = self.__dict__.get("_kept_rates")
        if kept is None or kept[0] != lrs or kept[1] != wds:
            kept = self._kept_rates = (lrs, wds, nd.array(lrs, dtype="float32"), nd.array(wds, dtype="float32"))
        return kept[2], kept[3]

    # ---- counts of updates ----

    def _set_current_context(self, device_id: int) -> None:
        """Chooses whose counts the next updates move: each device has its copy of a parameter."""
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})

    def _update_count(self, index: Any) -> None:
        """Counts an update of a parameter, or of a list of them."""
        counts = self._index_update_count
        for each in index if isinstance(index, (list, tuple)) else (index,):
            counts[each] = count = counts.get(each, self.begin_num_update) + 1
            if count > self.num_update:
                self.num_update = count

    def _begin(self, index: Any) -> tuple[float, float, int]:
        """Counts an update of one parameter: its learning rate, weight decay, and the number of the update from 1."""
        self._update_count(index)
        return self._get_lr(index), self._get_wd(index), self._index_update_count[index]

    # ---- gradients ----

    def _clip(self) -> dict[str, float]:
        """What an update operator is told about gradients."""
        told = {"rescale_grad": self.rescale_grad}
        if self.clip_gradient:
            told["clip_gradient"] = self.clip_gradient
        return told

    def _clipped(self, grad: NDArray, decay: NDArray | None = None) -> NDArray:
        """A gradient, rescaled, with a decay added, clipped."""
        grad = grad * self.rescale_grad
        if decay is not None:
            grad += decay
        return grad if self.clip_gradient is None else nd.clip(grad, -self.clip_gradient, self.clip_gradient)

    # ---- states and updates ----

    def create_state(self, index: Any, weight: NDArray) -> Any:
        """What the optimizer keeps of a parameter: None, an array, or a tuple of arrays."""
        return None

    def _wants_master(self, weight: NDArray) -> bool:
        if weight.dtype != np.float16:
            return False
        if not self.multi_precision:
            warnings.warn(
                "updates of float16 lose small steps; multi_precision=True keeps a copy in float32", stacklevel=3
            )
        return self.multi_precision

    def create_state_multi_precision(self, index: Any, weight: NDArray) -> Any:
        """`create_state`, behind a master copy in float32 where the parameter is of float16."""
        if not self._wants_master(weight):
            return self.create_state(index, weight)
        master = weight.astype(np.float32)
        return master, self.create_state(index, master)

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Updates a parameter and its state in place."""
        raise NotImplementedError(f"{type(self).__name__}: an optimizer must have update")

    def update_multi_precision(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """`update`, by the master copy where there is one."""
        if self.multi_precision and weight.dtype == np.float16:
            master, state = state
            self.update(index, master, grad.astype(np.float32), state)
            nd.cast(master, dtype=weight.dtype, out=weight)
        else:
            self.update(index, weight, grad, state)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("param_dict", "_kept_rates")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = {"param_dict": {}, **state}
        self._set_current_context(0)


register = Optimizer.register
create = Optimizer.create_optimizer


def zeros(weight: NDArray, dtype: Any = None, stype: str = "default") -> NDArray:
    """Zeros like a parameter, on its device."""
    return nd.zeros(weight.shape, weight.context, dtype or weight.dtype, stype)


def flat(*columns: list) -> list:
    """The arrays of several lists, parameter by parameter, as operators for many parameters take them."""
    return [each for row in zip(*columns) for each in row]
