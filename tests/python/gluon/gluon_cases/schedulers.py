"""mx.lr_scheduler."""

from __future__ import annotations

import inspect

from _case import case

_WARM = {"warmup_steps": 5, "warmup_begin_lr": 0.1}
_MADE = {
    "factor": ("FactorScheduler", {"step": 4, "factor": 0.5}),
    "factor stops": ("FactorScheduler", {"step": 2, "factor": 0.1, "stop_factor_lr": 0.004, "base_lr": 1}),
    "factor warm": ("FactorScheduler", {"step": 3, "factor": 0.9, "base_lr": 2, **_WARM}),
    "factor 1": ("FactorScheduler", {"step": 1}),
    "multi": ("MultiFactorScheduler", {"step": [3, 4, 11], "factor": 0.1, "base_lr": 1}),
    "multi warm": ("MultiFactorScheduler", {"step": [3, 8], "factor": 0.5, "base_lr": 1, **_WARM}),
    "multi constant": ("MultiFactorScheduler", {"step": [6], "base_lr": 1, "warmup_mode": "constant", **_WARM}),
    "poly": ("PolyScheduler", {"max_update": 12, "base_lr": 1, "pwr": 3, "final_lr": 0.1}),
    "poly warm": ("PolyScheduler", {"max_update": 12, "base_lr": 1, **_WARM}),
    "cosine": ("CosineScheduler", {"max_update": 12, "base_lr": 1, "final_lr": 0.2}),
    "cosine warm": ("CosineScheduler", {"max_update": 12, "base_lr": 3, "warmup_mode": "constant", **_WARM}),
    "step 0": ("FactorScheduler", {"step": 0}),
    "factor 2": ("FactorScheduler", {"step": 1, "factor": 2}),
    "multi factor 2": ("MultiFactorScheduler", {"step": [1], "factor": 2}),
    "multi empty": ("MultiFactorScheduler", {"step": []}),
    "multi falls": ("MultiFactorScheduler", {"step": [3, 2]}),
    "multi same": ("MultiFactorScheduler", {"step": [3, 3]}),
    "multi 0": ("MultiFactorScheduler", {"step": [0, 3]}),
    "multi number": ("MultiFactorScheduler", {"step": 3}),
    "poly 0": ("PolyScheduler", {"max_update": 0}),
    "poly fraction": ("PolyScheduler", {"max_update": 1.5}),
    "cosine 0": ("CosineScheduler", {"max_update": 0}),
    "warm above": ("CosineScheduler", {"max_update": 9, "base_lr": 1, "warmup_begin_lr": 2}),
    "warm below": ("CosineScheduler", {"max_update": 9, "warmup_steps": -1}),
    "warm fraction": ("CosineScheduler", {"max_update": 9, "warmup_steps": 1.5}),
    "warm mode": ("CosineScheduler", {"max_update": 9, "warmup_mode": "other"}),
    "base": ("LRScheduler", {}),
}


@case(made=list(_MADE))
def rates(mx, made):
    name, kwargs = _MADE[made]
    schedule = getattr(mx.lr_scheduler, name)(**kwargs)
    return [schedule(i) for i in range(1, 16)], schedule.base_lr


@case(made=["factor", "multi", "poly", "cosine"], order=[[9, 2, 14], [20, 1]])
def rates_out_of_order(mx, made, order):
    name, kwargs = _MADE[made]
    schedule = getattr(mx.lr_scheduler, name)(**kwargs)
    return [schedule(i) for i in order]


@case(name=["LRScheduler", "FactorScheduler", "MultiFactorScheduler", "PolyScheduler", "CosineScheduler"])
def signature(mx, name):
    parameters = inspect.signature(getattr(mx.lr_scheduler, name)).parameters.values()
    return [[each.name, str(each.default) if each.default is not each.empty else "-"] for each in parameters]


@case
def attributes(mx):
    poly = mx.lr_scheduler.PolyScheduler(20, 1, warmup_steps=4)
    poly(10)
    factor = mx.lr_scheduler.FactorScheduler(3, 0.5)
    factor(7)
    multi = mx.lr_scheduler.MultiFactorScheduler([3, 5], 0.5)
    multi(4)
    return [
        [poly.base_lr, poly.base_lr_orig, poly.max_update, poly.max_steps, poly.power, poly.final_lr],
        [poly.warmup_final_lr, poly.warmup_begin_lr, poly.warmup_steps, poly.warmup_mode, poly.get_warmup_lr(3)],
        [factor.count, factor.step, factor.factor, factor.stop_factor_lr],
        [multi.count, multi.cur_step_ind, multi.step],
    ]
