"""LAMB: its two phases, with the norms between them given, and both of them for several weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._case import Case, In
from ._several import Step, error_rows, several_rows
from ._steps import CORRECTED, NEAR, clipped, mixed, rows, single, step

CASES: list = []


@step
def direction(w, g, m, v, t, wd, beta1=0.9, beta2=0.999, epsilon=1e-6, bias_correction=True, rescale_grad=1.0,
              clip_gradient=-1.0):  # fmt: skip
    """m / (sqrt(v) + epsilon) + wd w, with means whose bias is corrected"""
    g = clipped(rescale_grad * g, clip_gradient)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    first, second = (1 - beta1**t, 1 - beta2**t) if bias_correction else (1.0, 1.0)
    return m / first / (np.sqrt(v / second) + epsilon) + wd * w, m, v


def _mp_direction(weight, grad, mean, var, weight32, **params):
    return direction(weight32, grad.astype("float32"), mean, var, **params)


_BASE = {"t": 3, "wd": 0.25}
_ALL = {
    "plain": {},
    "first": {"t": 1},
    "late": {"t": 1000},
    "no-decay": {"wd": 0.0},
    "not-corrected": {"bias_correction": False},
    "rescale": {"rescale_grad": 0.25},
    "clip": {"clip_gradient": 0.5},
    "clip-and-rescale": {"rescale_grad": -3.0, "clip_gradient": 0.5},
    "clip-zero": {"clip_gradient": 0.0},
    "betas": {"beta1": 0.25, "beta2": 0.5},
    "epsilon": {"epsilon": 0.5},
}
_ROUNDS = "1.9.1 rounds to float16 at each step"
CASES += rows("lamb_update_phase1", direction, 2, _BASE, _ALL, half=_ROUNDS, tolerance=CORRECTED)
for _case in rows("mp_lamb_update_phase1", _mp_direction, 2, _BASE, _ALL, mp=True, tolerance=CORRECTED):
    _changed = {"mutates": (2, 3)} if not _case.error else {}
    if _case.out:
        _changed["out"] = (((3,), "float32"),)
    CASES.append(replace(_case, **_changed))
for _dtype in ("float32", "float64"):
    _inputs = (In((3,), _dtype), In((3,), _dtype), *(In((3,), "float32", "positive") for _ in range(2)), In((3,)))
    CASES.append(Case("mp_lamb_update_phase1", f"weight-{_dtype}", _inputs, _BASE, error=True))

# ---- the second phase ----


def _ratio(r1, r2, lower_bound, upper_bound):
    if lower_bound >= 0:
        r1 = max(r1, lower_bound)
    if upper_bound >= 0:
        r1 = min(r1, upper_bound)
    return 1.0 if r1 == 0 or r2 == 0 else r1 / r2


def walk(w, g, r1, r2, lr, lower_bound=-1.0, upper_bound=-1.0):
    """w - lr r1 / r2 g"""
    rate = single(lr) * _ratio(float(r1.ravel()[0]), float(r2.ravel()[0]), lower_bound, upper_bound)
    return ((w.astype("float64") - rate * g.astype("float64")).astype(w.dtype),)


def _mp_walk(weight, g, r1, r2, weight32, **params):
    (new,) = walk(weight32, g, r1, r2, **params)
    return new.astype(weight.dtype), new


def _norms(dtype: str, r1: float = 1.5, r2: float = 0.75) -> tuple:
    return In(dtype=dtype, values=[r1]), In(dtype=dtype, values=[r2])


_BOUNDS = {
    "plain": {},
    "lower": {"lower_bound": 2.0},
    "lower-not-reached": {"lower_bound": 1.0},
    "upper": {"upper_bound": 1.0},
    "upper-not-reached": {"upper_bound": 2.0},
    "both": {"lower_bound": 0.25, "upper_bound": 1.0},
    "both-zero": {"lower_bound": 0.0, "upper_bound": 0.0},
}
_FROZEN = "differs: 1.9.1 does not update the float32 copy"
for _op, _f, _mp in (("lamb_update_phase2", walk, False), ("mp_lamb_update_phase2", _mp_walk, True)):
    _common = {"tolerance": NEAR, "mutates": (4,) if _mp else (), "oracle": _FROZEN if _mp else ""}

    def _take(shape, dtype, norms=None, mp=_mp):
        inner = "float32" if mp else dtype
        return (In(shape, dtype), In(shape, inner), *(norms or _norms(inner)), *([In(shape)] if mp else []))

    for _dtype in ("float16", "float32", "float64"):
        for _label, _params in _BOUNDS.items():
            _inputs = _take((3, 4), _dtype)
            CASES.append(Case(_op, f"{_label}-{_dtype}", _inputs, {"lr": 0.1, **_params}, _f, **_common))
    _one = {"lr": 0.1}
    for _label, _values in {"zero-weight": (0.0, 1.0), "zero-direction": (1.0, 0.0), "special-infinite": (np.inf, 1.0),
                            "special-nan": (np.nan, 1.0)}.items():  # fmt: skip
        CASES.append(Case(_op, _label, _take((5,), "float32", _norms("float32", *_values)), _one, _f, **_common))
    _square = (In(dtype="float32", values=[[1.5]]), In(dtype="float32", values=[[0.75]]))
    _three = _take((3,), "float32")
    CASES += [
        Case(_op, "norms-of-two-axes", _take((5,), "float32", _square), _one, _f, **_common),
        Case(_op, "long", _take((1037,), "float32"), _one, _f, **_common),
        Case(_op, "empty", _take((0,), "float32"), _one, _f, np_shape=True, **{**_common, "oracle": ""}),
        Case(_op, "0-axes", _take((), "float32"), _one, _f, np_shape=True, **_common),
        Case(_op, "out", _three, _one, _f, out=(((3,), "float32"),), **_common),
        Case(_op, "no-lr", _three, {}, error=True),
        Case(_op, "malformed", _three, {"lr": "x"}, error=True),
        Case(_op, "unknown-parameter", _three, {"lr": 0.1, "foo": 1}, error=True),
        Case(_op, "input-missing", _three[:-1], _one, error=True),
        Case(_op, "direction-of-another-shape", (_three[0], In((2,)), *_three[2:]), _one, error=True),
        Case(_op, "direction-of-another-dtype", (_three[0], In((3,), "float64"), *_three[2:]), _one, error=True),
        Case(_op, "norms-of-three", (*_three[:2], In((3,)), In((3,)), *_three[4:]), _one, error=True),
        Case(_op, "norms-of-another-dtype", _take((3,), "float32", _norms("float64")), _one, error=True),
        Case(_op, "int32", tuple(In((1,), "int32", ("int", 1, 9)) for _ in _three),
             _one, error=True),
    ]  # fmt: skip
_three = (In((3,), "float16"), In((3,)), *_norms("float32"))
CASES += [
    Case("mp_lamb_update_phase2", "copy-of-another-shape", (*_three, In((2,))), {"lr": 0.1}, error=True),
    Case("mp_lamb_update_phase2", "copy-of-another-dtype", (*_three, In((3,), "float16")), {"lr": 0.1}, error=True),
]

# ---- both phases for several weights ----


def lamb(weight, grad, mean, var, lr, wd, t, lower_bound=-1.0, upper_bound=-1.0, measured=None, **params):
    """Both phases, with the norms of the weight (or of what is measured in its place) and of its direction."""
    wide = (array.astype("float64") for array in (weight, grad, mean, var))
    g, m, v = direction(*wide, t=t, wd=wd, **params)
    w = weight.astype("float64")
    norm = np.sqrt(((weight if measured is None else measured).astype("float64") ** 2).sum())
    rate = single(lr) * _ratio(norm, np.sqrt((g * g).sum()), lower_bound, upper_bound)
    return (w - rate * g).astype(weight.dtype), m.astype(mean.dtype), v.astype(var.dtype)


def _mp_lamb(weight, grad, mean, var, weight32, **params):
    """The copy is updated, and the weight is measured."""
    return mixed(lamb)(weight, grad, mean, var, weight32, measured=weight, **params)


_LISTS = {"learning_rates": "lr", "wds": "wd", "step_count": "t"}
_NUMBERS = {"learning_rates": (0.1, 0.25, 0.0), "wds": (0.0, 0.5, 0.25), "step_count": (1, 3, 1000)}
_MORE = {
    "rescale": {"rescale_grad": 0.25},
    "clip": {"clip_gradient": 0.5},
    "clip-zero": {"clip_gradient": 0.0},
    "lower": {"lower_bound": 5.0},
    "upper": {"upper_bound": 1.0},
    "both-bounds": {"lower_bound": 1.0, "upper_bound": 2.0},
    "both-zero": {"lower_bound": 0.0, "upper_bound": 0.0},
    "betas": {"beta1": 0.25, "beta2": 0.5},
    "epsilon": {"epsilon": 0.5},
    "not-corrected": {"bias_correction": False},
}
#: 1.9.1 rounds the squares of float16 weights to float16.
_SQUARES = {"float64": (1e-6, 1e-6), "float32": (2e-4, 1e-4)}
for _step in (
    Step("_multi_lamb_update", lamb, 2, False, _LISTS, _NUMBERS, "num_tensors"),
    Step("_multi_mp_lamb_update", _mp_lamb, 2, True, _LISTS, _NUMBERS, "num_tensors"),
):
    CASES += [*several_rows(_step, _MORE, tolerance=_SQUARES if _step.mp else CORRECTED), *error_rows(_step)]
    _dtype = "float16" if _step.mp else "float32"
    _zeros = tuple(In(dtype=each.dtype, values=np.zeros((3,))) for each in _step.inputs(((3,),)))
    _special = [In(dtype=each.dtype, values=[0.0, np.nan, np.inf]) for each in _step.inputs(((3,),))]
    CASES += [
        Case(_step.op, "zeros", _zeros, _step.params(1), _step.forward, mutates=_step.mutates(1),
             out=_step.out(((3,),))),
        Case(_step.op, "special-numbers", tuple(_special), _step.params(1), _step.forward, mutates=_step.mutates(1),
             out=_step.out(((3,),))),
    ]  # fmt: skip
