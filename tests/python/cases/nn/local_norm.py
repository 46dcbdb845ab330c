"""L2Normalization, LRN and SoftmaxActivation."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []
_NEAR = {"float32": (5e-5, 1e-5), "float16": (1e-2, 4e-3)}
_REFUSED = "differs: 1.9.1 refuses it"
_DENSE = "differs: 1.9.1 takes float32 only"

# ---- L2Normalization ----


def _l2(x, eps=1e-10, mode="instance"):
    axes = {"instance": tuple(range(1, x.ndim)), "channel": (1,), "spatial": tuple(range(2, x.ndim))}[mode]
    y = x.astype("float64")
    return (y / np.sqrt((y * y).sum(axes, keepdims=True) + eps)).astype(x.dtype)


_op = "L2Normalization"
for _shape in ((3,), (3, 4), (2, 3, 4), (2, 3, 4, 5), (2, 1, 3), (1, 4, 3, 2), (2, 3, 37)):
    for _mode in ("instance", "channel", "spatial"):
        for _eps in (1e-10, 0.5):
            _params = {"mode": _mode, "eps": _eps}
            _label = f"{_mode}-{'x'.join(map(str, _shape))}-{_eps}"
            _inputs = (In(_shape, domain="away"),)
            if len(_shape) < 3 and _mode != "instance":
                CASES.append(Case(_op, _label, _inputs, _params, error=True))
            else:
                CASES.append(Case(_op, _label, _inputs, _params, _l2, order=2, diff=(0,), tolerance=_NEAR))
for _dtype in ("float64", "float16"):
    for _mode in ("instance", "channel", "spatial"):
        CASES.append(
            Case(_op, f"{_mode}-{_dtype}", (In((2, 3, 5), _dtype, "away"),), {"mode": _mode}, _l2, order=2, diff=(0,),
                 tolerance=_NEAR)
        )  # fmt: skip
CASES += [
    Case(_op, "default", (In((2, 3, 4), domain="away"),), {}, _l2, order=2, diff=(0,), tolerance=_NEAR),
    Case(_op, "zeros", (In(values=[[0.0, 0.0], [3.0, 4.0]]),), {}, _l2, tolerance=_NEAR),
    Case(_op, "no-examples", (In((0, 3, 2)),), {}, _l2, np_shape=True),
    Case(_op, "no-positions", (In((2, 3, 0)),), {"mode": "spatial"}, _l2, np_shape=True),
    Case(_op, "scalar", (In(()),), {}, error=True, np_shape=True),
    Case(_op, "int32", (In((2, 3), "int32", ("int", 0, 9)),), {}, error=True),
    Case(_op, "unknown-mode", (In((2, 3)),), {"mode": "x"}, error=True),
    Case(_op, "malformed-eps", (In((2, 3)),), {"eps": "x"}, error=True),
    Case(_op, "unknown-parameter", (In((2, 3)),), {"foo": 1}, error=True),
]

# ---- LRN ----


def _lrn(x, nsize, alpha=1e-4, beta=0.75, knorm=2.0):
    y, half = x.astype("float64"), (nsize - 1) // 2
    total = np.zeros(y.shape)
    for channel in range(x.shape[1]):
        near = y[:, max(channel - half, 0) : channel + half + 1]
        total[:, channel] = (near * near).sum(1)
    return (y * (knorm + alpha / nsize * total) ** -beta).astype(x.dtype)


_op = "LRN"
for _shape in ((2, 5, 3, 4), (1, 7, 2, 2), (3, 1, 2, 2), (2, 6), (2, 9, 1, 5)):
    for _size in (1, 3, 5, 7):
        for _params in ({}, {"alpha": 0.5}, {"alpha": 0.5, "beta": 1.5, "knorm": 0.5}):
            _words = "-".join(f"{key}{value}" for key, value in _params.items())
            CASES.append(
                Case(_op, f"{'x'.join(map(str, _shape))}-{_size}-{_words or 'default'}", (In(_shape),),
                     {"nsize": _size, **_params}, _lrn, order=2, diff=(0,), tolerance=_NEAR)
            )  # fmt: skip
_image = (In((2, 5, 3, 4)),)
CASES += [
    Case(_op, "even", _image, {"nsize": 4, "alpha": 0.5}, _lrn, order=2, diff=(0,), tolerance=_NEAR),
    Case(_op, "two", _image, {"nsize": 2, "alpha": 0.5}, _lrn, order=2, diff=(0,), tolerance=_NEAR),
    Case(_op, "float64", (In((2, 5, 3, 4), "float64"),), {"nsize": 3}, _lrn, order=2, diff=(0,), oracle=_DENSE),
    Case(_op, "float16", (In((2, 5, 3, 4), "float16"),), {"nsize": 3}, _lrn, tolerance=_NEAR, oracle=_DENSE),
    Case(_op, "series", (In((2, 5, 3)),), {"nsize": 3}, _lrn, order=2, diff=(0,), oracle=_REFUSED),
    Case(_op, "volume", (In((2, 5, 3, 2, 2)),), {"nsize": 3}, _lrn, order=2, diff=(0,), oracle=_REFUSED),
    Case(_op, "no-examples", (In((0, 3, 2, 2)),), {"nsize": 3}, _lrn, np_shape=True),
    Case(_op, "no-channels", (In((2, 0, 2, 2)),), {"nsize": 3}, _lrn, np_shape=True),
    Case(_op, "scalar", (In(()),), {"nsize": 3}, error=True, np_shape=True),
    Case(_op, "one-axis", (In((4,)),), {"nsize": 3}, error=True),
    Case(_op, "no-window", _image, {"nsize": 0}, error=True, oracle="differs: 1.9.1 divides by 0"),
    Case(
        _op, "negative-window", _image, {"nsize": -1}, error=True, oracle="differs: 1.9.1 takes it for a large number"
    ),
    Case(_op, "no-size", _image, {}, error=True),
    Case(_op, "int32", (In((2, 3, 2, 2), "int32", ("int", 0, 9)),), {"nsize": 3}, error=True),
    Case(_op, "malformed-alpha", _image, {"nsize": 3, "alpha": "x"}, error=True),
    Case(_op, "unknown-parameter", _image, {"nsize": 3, "foo": 1}, error=True),
]

# ---- SoftmaxActivation ----


def _softmax(x, mode="instance"):
    axis = 1 if mode == "channel" else -1
    power = np.exp(x.astype("float64") - x.max(axis, keepdims=True, initial=-np.inf))
    return (power / power.sum(axis, keepdims=True)).astype(x.dtype)


_op = "SoftmaxActivation"
_MIXED = "forward: 1.9.1 computes the gradient of a softmax along another axis than the result's"
for _shape in ((3, 4), (3, 1), (2, 3, 4), (2, 3, 4, 5), (2, 1, 3)):
    for _mode in ("instance", "channel"):
        _label, _inputs = f"{_mode}-{'x'.join(map(str, _shape))}", (In(_shape),)
        if len(_shape) < 3 and _mode == "channel":
            CASES.append(Case(_op, _label, _inputs, {"mode": _mode}, error=True))
            continue
        CASES.append(
            Case(_op, _label, _inputs, {"mode": _mode}, _softmax, order=2, diff=(0,), tolerance=_NEAR,
                 oracle=_MIXED if len(_shape) > 2 and _mode == "instance" else "")
        )  # fmt: skip
CASES += [
    Case(_op, "default", (In((3, 5)),), {}, _softmax, order=2, diff=(0,), tolerance=_NEAR),
    Case(_op, "float64", (In((3, 5), "float64"),), {}, _softmax, order=2, diff=(0,), oracle=_DENSE),
    Case(_op, "float16", (In((3, 5), "float16"),), {}, _softmax, tolerance=_NEAR, oracle=_DENSE),
    Case(_op, "no-rows", (In((0, 4)),), {}, _softmax, np_shape=True),
    Case(_op, "no-classes", (In((2, 0)),), {}, _softmax, np_shape=True, oracle="skip: 1.9.1 ends the process"),
    Case(_op, "scalar", (In(()),), {}, lambda x: np.ones_like(x), np_shape=True),
    Case(_op, "one-axis", (In((4,)),), {}, _softmax, order=2, diff=(0,), tolerance=_NEAR, oracle=_MIXED),
    Case(_op, "channel-one-axis", (In((4,)),), {"mode": "channel"}, error=True),
    Case(_op, "int32", (In((2, 3), "int32", ("int", 0, 9)),), {}, error=True),
    Case(_op, "unknown-mode", (In((2, 3)),), {"mode": "x"}, error=True),
    Case(_op, "unknown-parameter", (In((2, 3)),), {"foo": 1}, error=True),
]
