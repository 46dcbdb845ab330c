"""Adam with decoupled weight decay: the gradient's factor is an array, by which a step can be skipped."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from ._several import Step, error_rows, several_rows
from ._steps import NEAR, clipped, mixed, rows, step

CASES: list = []


@step
def adamw(w, g, m, v, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0.0, clip_gradient=-1.0, rescale_grad=1.0):
    """w - eta (lr m / (sqrt(v) + epsilon) + wd w)"""
    g = clipped(rescale_grad * g, clip_gradient)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    return w - eta * (lr * m / (np.sqrt(v) + epsilon) + wd * w), m, v


def _last(one):
    """The same with the factor as the last array; where it is 0, infinite or NaN, everything stays as it is."""

    def factored(*arrays, **params):
        factor = float(arrays[-1].ravel()[0])
        if not np.isfinite(factor) or factor == 0:
            return arrays[0], *arrays[2:-1]
        return one(*arrays[:-1], rescale_grad=factor, **params)

    return factored


_BASE = {"lr": 0.1, "eta": 0.75}
_ALL = {
    "plain": {},
    "decay": {"wd": 0.5},
    "clip": {"clip_gradient": 0.5},
    "clip-and-decay": {"wd": 0.5, "clip_gradient": 0.5},
    "clip-zero": {"clip_gradient": 0.0},
    "clip-negative": {"clip_gradient": -2.0},
    "betas": {"beta1": 0.25, "beta2": 0.5},
    "epsilon": {"epsilon": 0.5},
    "lr-zero": {"lr": 0.0, "wd": 0.5},
    "eta-zero": {"eta": 0.0},
}
_HALF = In(dtype="float32", values=[0.5])
_SKIPPED = "differs: 1.9.1 leaves what lay in the output"
_FACTORS = {"zero": 0.0, "nan": np.nan, "infinite": np.inf, "negative-infinite": -np.inf}

CASES += rows("_adamw_update", _last(adamw), 2, _BASE, _ALL, after=(_HALF,))
CASES += rows("_mp_adamw_update", _last(mixed(adamw)), 2, _BASE, _ALL, mp=True, after=(_HALF,),
              overruns="differs: 1.9.1 reads beyond it")  # fmt: skip
for _op, _mp in (("_adamw_update", False), ("_mp_adamw_update", True)):
    _one = _last(mixed(adamw) if _mp else adamw)
    _mutates = (2, 3, 4) if _mp else (2, 3)
    _inputs = (In((5,), "float16"), In((5,), "float16"), *(In((5,), "float32", "positive") for _ in range(2)), In((5,)))
    if not _mp:
        _inputs = tuple(each.like("float32") for each in _inputs[:4])
    for _label, _factor in _FACTORS.items():
        _given = (*_inputs, In(dtype="float32", values=[_factor]))
        CASES.append(Case(_op, f"factor-{_label}", _given, _BASE, _one, mutates=_mutates, oracle=_SKIPPED))
    for _label, _values in {"negative": [-2.0], "two": [0.5, 0.0], "matrix": [[2.0]]}.items():
        _given = (*_inputs, In(dtype="float32", values=_values))
        CASES.append(Case(_op, f"factor-{_label}", _given, _BASE, _one, mutates=_mutates, tolerance=NEAR))
    CASES += [
        Case(_op, "factor-float64", (*_inputs, In((1,), "float64", "positive")), _BASE, error=True),
        Case(_op, "factor-empty", (*_inputs, In((0,))), _BASE, error=True, np_shape=True,
             oracle="skip: 1.9.1 reads beyond it, and the process ends"),
    ]  # fmt: skip

# ---- several weights ----

_LISTS = {"lrs": "lr", "wds": "wd", "etas": "eta"}
_NUMBERS = {"lrs": (0.1, 0.25, 0.0), "wds": (0.0, 0.5, 0.25), "etas": (1.0, 0.5, 0.75)}
_MORE = {
    "clip": {"clip_gradient": 0.5},
    "betas": {"beta1": 0.25, "beta2": 0.5},
    "epsilon": {"epsilon": 0.5},
}
_READS = "differs: 1.9.1 reads the numbers and the factor as those of another dtype"
_multi = Step("_multi_adamw_update", adamw, 2, False, _LISTS, _NUMBERS, "num_weights")
_multi_mp = Step("_multi_mp_adamw_update", mixed(adamw), 2, True, _LISTS, _NUMBERS, "num_weights")


def _factored(step_of, factor):
    """The factor as an array behind those of all weights."""
    return (lambda inner: lambda *arrays, **params: inner(*arrays[:-1], rescale_grad=factor, **params))(step_of)


def _stays(stride):
    """What a skipped step leaves: weights, and all that would be updated."""

    def unchanged(*arrays, **params):
        count = params["num_weights"] * stride
        kept = [array for i, array in enumerate(arrays[:count]) if i % stride >= 2]
        return *arrays[:count:stride], *kept

    return unchanged


for _several in (_multi, _multi_mp):
    _after = (_HALF,)
    CASES += several_rows(
        _several, _MORE, _after, lambda inner: _factored(inner, 0.5), {"float64": _READS, "float16": _READS}
    )
    CASES += error_rows(_several, _after)
    for _label, _factor in _FACTORS.items():
        _given = (*_several.inputs(), In(dtype="float32", values=[_factor]))
        CASES.append(
            Case(_several.op, f"special-factor-{_label}", _given, _several.params(), _stays(_several.stride),
                 mutates=_several.mutates(), out=_several.out(), oracle=_SKIPPED)
        )  # fmt: skip
    CASES += [
        Case(_several.op, "factor-of-another-dtype", (*_several.inputs(), In((1,), "float64", "positive")),
             _several.params(), out=_several.out(), error=True),
        Case(_several.op, "factor-empty", (*_several.inputs(), In((0,))), _several.params(), out=_several.out(),
             error=True, np_shape=True, oracle="skip: 1.9.1 reads beyond it, and the process ends"),
    ]  # fmt: skip
