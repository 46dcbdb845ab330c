"""Steps with a rate for each element: the answer is the new weight; running means and sums are updated in place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._case import Case, In
from ._steps import CORRECTED, NEAR, SCALED, clipped, rows, sign, step

CASES: list = []


@step
def adam(w, g, m, v, lr, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0,
         lazy_update=True):  # fmt: skip
    """w - lr m / (sqrt(v) + epsilon), with the running means m of g = clip(rescale g + wd w), and v of g^2"""
    g = clipped(rescale_grad * g + wd * w, clip_gradient)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    return w - lr * m / (np.sqrt(v) + epsilon), m, v


@step
def ftml(w, g, d, v, z, lr, t, beta1=0.6, beta2=0.999, epsilon=1e-8, wd=0.0, rescale_grad=1.0, clip_grad=-1.0):
    """-z / d"""
    g = clipped(rescale_grad * g + wd * w, clip_grad)
    v = beta2 * v + (1 - beta2) * g * g
    new = (1 - beta1**t) / lr * (np.sqrt(v / (1 - beta2**t)) + epsilon)
    z = beta1 * z + (1 - beta1) * g - (new - beta1 * d) * w
    return -z / new, new, v, z


@step
def ftrl(w, g, z, n, lr, lamda1=0.01, beta=1.0, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0):
    """(sign(z) lamda1 - z) / ((beta + sqrt(n)) / lr + wd), 0 for small z"""
    g = clipped(rescale_grad * g, clip_gradient)
    z = z + g - (np.sqrt(n + g * g) - np.sqrt(n)) * w / lr
    n = n + g * g
    return (sign(z) * lamda1 - z) / ((beta + np.sqrt(n)) / lr + wd) * (np.abs(z) > lamda1), z, n


@step
def rmsprop(w, g, n, lr, gamma1=0.95, epsilon=1e-8, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0, clip_weights=-1.0):
    """w - lr g / sqrt(n + epsilon)"""
    g = clipped(rescale_grad * g + wd * w, clip_gradient)
    n = (1 - gamma1) * g * g + gamma1 * n
    return clipped(w - lr * g / np.sqrt(n + epsilon), clip_weights), n


@step
def rmspropalex(w, g, n, s, d, lr, gamma1=0.95, gamma2=0.9, epsilon=1e-8, wd=0.0, rescale_grad=1.0,
                clip_gradient=-1.0, clip_weights=-1.0):  # fmt: skip
    """The same with the variance of g, and with a momentum d."""
    g = clipped(rescale_grad * g + wd * w, clip_gradient)
    n = (1 - gamma1) * g * g + gamma1 * n
    s = (1 - gamma1) * g + gamma1 * s
    d = gamma2 * d - lr * g / np.sqrt(n - s * s + epsilon)
    return clipped(w + d, clip_weights), n, s, d


@step
def adagrad(w, g, h, lr, epsilon=1e-7, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0):
    """w - lr g / sqrt(h + epsilon)"""
    g = clipped(rescale_grad * g, clip_gradient)
    h = h + g * g
    return w - lr * g / np.sqrt(h + epsilon), h


_LR = {"lr": 0.1}
_ROUNDS = "1.9.1 rounds to float16 at each step"
_ADAM = {
    "beta1": {"beta1": 0.5},
    "beta2": {"beta2": 0.5},
    "no-memory": {"beta1": 0.0, "beta2": 0.0},
    "epsilon": {"epsilon": 0.5},
    "lr-zero": {"lr": 0.0},
}
_FTML = {label: {k.replace("clip_gradient", "clip_grad"): v for k, v in p.items()} for label, p in SCALED.items()}
_RMS = {"gamma1": {"gamma1": 0.5}, "epsilon": {"epsilon": 0.5}, "clip-weights": {"clip_weights": 0.5}}
_GAMMA2 = {"gamma2": {"gamma2": 0.25}}

CASES += rows("adam_update", adam, 2, _LR, {**SCALED, **_ADAM, "not-lazy": {"lazy_update": False}})
CASES += rows(
    "ftml_update", ftml, 3, {"lr": 0.1, "t": 3},
    {**_FTML, "first": {"t": 1}, "late": {"t": 1000}, "betas": {"beta1": 0.25, "beta2": 0.5},
     "epsilon": {"epsilon": 0.5}},
    half=_ROUNDS, tolerance=CORRECTED,
)  # fmt: skip
_FTRL = {**SCALED, "lamda1": {"lamda1": 1.5}, "beta": {"beta": 0.25}}
CASES += rows("ftrl_update", ftrl, 2, _LR, _FTRL, half=_ROUNDS)
CASES += rows("rmsprop_update", rmsprop, 1, _LR, {**SCALED, **_RMS, "clip-weights-zero": {"clip_weights": 0.0}})

# ---- rmspropalex_update: the second state is the mean of what the first is the mean square of ----


def _alex(shape: tuple, dtype: str = "float32") -> tuple:
    return (
        In(shape, dtype),
        In(shape, dtype),
        In(shape, dtype, "positive"),
        In(shape, dtype, "unit"),
        In(shape, dtype),
    )


def _spread(shape: tuple, dtype: str) -> tuple:
    """States whose variance is not negative."""
    inputs = _alex(shape, dtype)
    return (*inputs[:2], In(dtype=dtype, values=np.full(shape, 4.0)), *inputs[3:])


_op = "rmspropalex_update"
_plain = [case for case in rows(_op, rmspropalex, 3, _LR, {"plain": {}}) if case.error or case.label == "empty"]
CASES += _plain
for _label, _params in {**SCALED, **_RMS, **_GAMMA2}.items():
    for _dtype in ("float32", "float64"):
        CASES.append(
            Case(_op, f"{_label}-{_dtype}", _spread((3, 4), _dtype), {**_LR, **_params}, rmspropalex, tolerance=NEAR,
                 mutates=(2, 3, 4))
        )  # fmt: skip
CASES += [
    Case(_op, "float16", _spread((3, 4), "float16"), _LR, rmspropalex, mutates=(2, 3, 4)),
    Case(_op, "long", _spread((1037,), "float32"), _LR, rmspropalex, tolerance=NEAR, mutates=(2, 3, 4)),
    Case(_op, "0-axes", _spread((), "float32"), _LR, rmspropalex, tolerance=NEAR, mutates=(2, 3, 4), np_shape=True),
    Case(_op, "out", _spread((3,), "float32"), _LR, rmspropalex, tolerance=NEAR, mutates=(2, 3, 4),
         out=(((3,), "float32"),)),
    Case(_op, "special-variance-negative", tuple(In(dtype="float32", values=[value] * 2) for value in (1, 2, 1, 3, 0)),
         _LR, rmspropalex, mutates=(2, 3, 4)),
]  # fmt: skip

# ---- adagrad, of dense arrays, which 1.9.1 does not take ----

_DENSE = "differs: 1.9.1 has it for sparse arrays only"


def _dense(cases: list) -> list:
    return [case if case.error else replace(case, oracle=_DENSE) for case in cases]


_SCALED = {label: params for label, params in SCALED.items() if "wd" not in params}
_op = "_sparse_adagrad_update"
CASES += _dense(rows(_op, adagrad, 1, _LR, {**_SCALED, "epsilon": {"epsilon": 0.5}}))
CASES.append(Case(_op, "decay", (In((3,)), In((3,)), In((3,))), {"lr": 0.1, "wd": 0.1}, error=True))


def group(w, g, h, lr, rescale_grad=1.0, clip_gradient=-1.0, epsilon=1e-5):
    """adagrad with the mean of g^2 over each row"""
    g = clipped(rescale_grad * g.astype("float64"), clip_gradient)
    rows = np.mean((g * g).reshape(len(g), -1), axis=1) if g.size else np.zeros(len(g))
    new = h + rows.reshape(h.shape)
    root = np.sqrt(new.reshape((-1,) + (1,) * (g.ndim - 1)) + epsilon)
    return (w - lr * g / root).astype(w.dtype), new.astype(h.dtype)


_op = "_contrib_group_adagrad_update"


def _group(shape: tuple, history: tuple, dtype: str = "float32") -> tuple:
    return In(shape, dtype), In(shape, dtype), In(history, dtype, "positive")


for _label, _params in {**_SCALED, "epsilon": {"epsilon": 0.5}}.items():
    CASES.append(
        Case(
            _op, _label, _group((3, 4), (3, 1)), {**_LR, **_params}, group, tolerance=NEAR, mutates=(2,), oracle=_DENSE
        )
    )
CASES += [
    Case(_op, _label, _group(*_shapes), _LR, group, tolerance=NEAR, mutates=(2,), oracle=_DENSE, np_shape=True)
    for _label, _shapes in {
        "float64": ((3, 4), (3, 1), "float64"),
        "float16": ((3, 4), (3, 1), "float16"),
        "history-of-one-axis": ((3, 4), (3,)),
        "three-axes": ((5, 3, 2), (5, 1, 1)),
        "one-axis": ((7,), (7,)),
        "long": ((37, 1037), (37, 1)),
        "many-rows": ((5003, 3), (5003,)),
        "empty": ((0, 3), (0, 1)),
        "empty-rows": ((3, 0), (3, 1)),
    }.items()
]
_special = np.array([[0.0, 1.0], [np.inf, 2.0], [np.nan, -0.0]])
CASES += [
    Case(_op, "special-rows", (In(dtype="float32", values=_special[::-1]), In(dtype="float32", values=_special),
         In((3, 1))), _LR, group, mutates=(2,), oracle=_DENSE),
    Case(_op, "out", _group((3, 4), (3, 1)), _LR, group, mutates=(2,), out=(((3, 4), "float32"),), oracle=_DENSE),
    Case(_op, "no-lr", _group((3, 4), (3, 1)), {}, error=True),
    Case(_op, "history-too-short", _group((3, 4), (2, 1)), _LR, error=True),
    Case(_op, "history-too-long", _group((3, 4), (3, 4)), _LR, error=True),
    Case(_op, "history-of-another-shape", _group((3, 4), (1, 3)), _LR, error=True),
    Case(_op, "0-axes", _group((), ()), _LR, error=True, np_shape=True),
    Case(_op, "mixed", (In((3, 4)), In((3, 4), "float64"), In((3, 1))), _LR, error=True),
    Case(_op, "mixed-history", (In((3, 4)), In((3, 4)), In((3, 1), "float64")), _LR, error=True),
    Case(_op, "two-inputs", (In((3, 4)), In((3, 4))), _LR, error=True),
]  # fmt: skip
