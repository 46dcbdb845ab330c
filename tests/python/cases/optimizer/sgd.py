"""sgd_update, sgd_mom_update, adam_update: the answer is the new weight; the state is updated in place."""

from __future__ import annotations

import numpy as np

from ._case import Case, In

CASES: list = []
_op = "sgd_mom_update"


def _step(weight, grad, mom, lr, momentum=0.0, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0, lazy_update=True):
    """g = clip(rescale * grad) + wd * weight; mom = momentum * mom - lr * g; weight + mom. A negative clip is none."""
    g = rescale_grad * grad.astype("float64")
    if clip_gradient >= 0:
        g = np.clip(g, -clip_gradient, clip_gradient)
    g = g + wd * weight.astype("float64")
    new = momentum * mom.astype("float64") - lr * g
    return (weight.astype("float64") + new).astype(weight.dtype), new.astype(mom.dtype)


#: the parameters are float32 in 1.9.1, so float64 answers are good to float32's precision only
_NEAR = {"float64": (1e-6, 1e-7), "float32": (1e-5, 1e-6)}
for _label, _params in {
    "plain": {"lr": 0.1},
    "momentum": {"lr": 0.1, "momentum": 0.9},
    "decay": {"lr": 0.1, "momentum": 0.9, "wd": 0.01},
    "rescale": {"lr": 0.1, "momentum": 0.9, "rescale_grad": 0.25},
    "clip": {"lr": 0.1, "momentum": 0.9, "clip_gradient": 0.5},
    "clip-before-decay": {"lr": 0.1, "momentum": 0.9, "wd": 0.5, "rescale_grad": 3.0, "clip_gradient": 1.0},
    "clip-zero": {"lr": 0.1, "clip_gradient": 0.0},
    "clip-negative": {"lr": 0.1, "clip_gradient": -2.0},
    "not-lazy": {"lr": 0.1, "momentum": 0.9, "lazy_update": False},
    "lr-zero": {"lr": 0.0, "momentum": 0.5},
}.items():
    for _dtype in ("float32", "float64"):
        CASES.append(
            Case(
                _op,
                f"{_label}-{_dtype}",
                tuple(In((3, 4), _dtype) for _ in range(3)),
                _params,
                _step,
                tolerance=_NEAR,
                mutates=(2,),
            )
        )
_three = tuple(In((3,)) for _ in range(3))
CASES += [
    Case(
        _op,
        "long",
        tuple(In((1037,)) for _ in range(3)),
        {"lr": 0.1, "momentum": 0.9},
        _step,
        tolerance=_NEAR,
        mutates=(2,),
    ),
    Case(_op, "out", _three, {"lr": 0.1}, _step, tolerance=_NEAR, mutates=(2,), out=(((3,), "float32"),)),
    Case(_op, "empty", tuple(In((0,)) for _ in range(3)), {"lr": 0.1}, _step, mutates=(2,), np_shape=True),
    Case(_op, "no-lr", _three, {}, error=True),
    Case(_op, "malformed-lr", _three, {"lr": "x"}, error=True),
    Case(_op, "lr-too-large", _three, {"lr": "1e39"}, error=True),
    Case(_op, "malformed-lazy", _three, {"lr": 0.1, "lazy_update": "x"}, error=True),
    Case(_op, "unknown-parameter", _three, {"lr": 0.1, "foo": 1}, error=True),
    Case(_op, "two-inputs", _three[:2], {"lr": 0.1}, error=True),
    Case(_op, "shapes-differ", (In((3,)), In((2,)), In((3,))), {"lr": 0.1}, error=True),
    Case(_op, "mom-shape-differs", (In((3,)), In((3,)), In((2,))), {"lr": 0.1}, error=True),
    Case(_op, "mixed", (In((3,)), In((3,), "float64"), In((3,))), {"lr": 0.1}, error=True),
    Case(_op, "int32", tuple(In((3,), "int32", ("int", 0, 9)) for _ in range(3)), {"lr": 0.1}, error=True),
]


# ---- sgd_update and adam_update ----


def _gradient(weight, grad, wd, rescale_grad, clip_gradient):
    g = rescale_grad * grad.astype("float64") + wd * weight.astype("float64")
    return np.clip(g, -clip_gradient, clip_gradient) if clip_gradient >= 0 else g


def _sgd(weight, grad, lr, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0, lazy_update=True):
    g = _gradient(weight, grad, 0.0, rescale_grad, clip_gradient)
    return ((1 - lr * wd) * weight.astype("float64") - lr * g).astype(weight.dtype)


def _adam(weight, grad, mean, var, lr, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0.0, rescale_grad=1.0,
          clip_gradient=-1.0, lazy_update=True):  # fmt: skip
    g = _gradient(weight, grad, wd, rescale_grad, clip_gradient)
    m = beta1 * mean.astype("float64") + (1 - beta1) * g
    v = beta2 * var.astype("float64") + (1 - beta2) * g * g
    new = weight.astype("float64") - lr * m / (np.sqrt(v) + epsilon)
    return new.astype(weight.dtype), m.astype(mean.dtype), v.astype(var.dtype)


_SHARED = {
    "plain": {"lr": 0.1},
    "decay": {"lr": 0.1, "wd": 0.5},
    "rescale": {"lr": 0.1, "rescale_grad": 0.25},
    "clip": {"lr": 0.1, "clip_gradient": 0.5},
    "clip-and-decay": {"lr": 0.1, "wd": 0.5, "rescale_grad": 3.0, "clip_gradient": 1.0},
    "clip-zero": {"lr": 0.1, "clip_gradient": 0.0},
    "clip-negative": {"lr": 0.1, "clip_gradient": -2.0},
    "not-lazy": {"lr": 0.1, "lazy_update": False},
    "lr-zero": {"lr": 0.0},
}
_ADAM = {
    "beta1": {"lr": 0.1, "beta1": 0.5},
    "beta2": {"lr": 0.1, "beta2": 0.5},
    "no-memory": {"lr": 0.1, "beta1": 0.0, "beta2": 0.0},
    "epsilon": {"lr": 0.1, "epsilon": 0.5},
}
for _op, _f, _state, _all in (("sgd_update", _sgd, 0, _SHARED), ("adam_update", _adam, 2, {**_SHARED, **_ADAM})):

    def _arrays(shape, dtype="float32", state=_state):
        return (In(shape, dtype), In(shape, dtype), *(In(shape, dtype, "positive") for _ in range(state)))

    _mutates = tuple(range(2, 2 + _state))
    for _label, _params in _all.items():
        for _dtype in ("float32", "float64"):
            CASES.append(
                Case(_op, f"{_label}-{_dtype}", _arrays((3, 4), _dtype), _params, _f, tolerance=_NEAR, mutates=_mutates)
            )
    CASES += [
        Case(_op, "float16", _arrays((3, 4), "float16"), {"lr": 0.1, "wd": 0.5}, _f, mutates=_mutates),
        Case(_op, "long", _arrays((1037,)), {"lr": 0.1}, _f, tolerance=_NEAR, mutates=_mutates),
        Case(_op, "out", _arrays((3,)), {"lr": 0.1}, _f, tolerance=_NEAR, mutates=_mutates, out=(((3,), "float32"),)),
        Case(_op, "empty", _arrays((0,)), {"lr": 0.1}, _f, mutates=_mutates, np_shape=True),
        Case(_op, "no-lr", _arrays((3,)), {}, error=True),
        Case(_op, "malformed-lr", _arrays((3,)), {"lr": "x"}, error=True),
        Case(_op, "malformed-lazy", _arrays((3,)), {"lr": 0.1, "lazy_update": "x"}, error=True),
        Case(_op, "unknown-parameter", _arrays((3,)), {"lr": 0.1, "foo": 1}, error=True),
        Case(_op, "one-input-less", _arrays((3,))[:-1], {"lr": 0.1}, error=True),
        Case(_op, "shapes-differ", (In((2,)), *_arrays((3,))[1:]), {"lr": 0.1}, error=True),
        Case(_op, "mixed", (In((3,), "float64"), *_arrays((3,))[1:]), {"lr": 0.1}, error=True),
        Case(_op, "int32", tuple(In((3,), "int32", ("int", 0, 9)) for _ in range(2 + _state)), {"lr": 0.1}, error=True),
    ]
CASES.append(Case("adam_update", "state-differs", (In((3,)), In((3,)), In((3,)), In((2,))), {"lr": 0.1}, error=True))
