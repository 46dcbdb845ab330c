"""softmax, softmin, log_softmax and Dropout."""

from __future__ import annotations

import numpy as np

from .._case import TOLERANCE, Case, In

CASES: list = []
#: float32 log_softmax of 1.9.1 (oneDNN) is good to a few millionths only
_NEAR = {"float32": (2e-5, 1e-5)}


def _mask(x: np.ndarray, length, axis: int) -> np.ndarray:
    if length is None:
        return np.ones(x.shape, bool)
    extent = [1] * x.ndim
    extent[axis] = -1
    return np.arange(x.shape[axis]).reshape(extent) < np.expand_dims(length, axis)


def _softmax(x, length=None, axis=-1, temperature=None, dtype=None, use_length=False):
    kept = _mask(x, length, axis)
    z = np.where(kept, x.astype("float64") / (1.0 if temperature is None else temperature), -np.inf)
    top = np.max(z, axis=axis, keepdims=True, initial=-np.inf)
    some = kept.any(axis=axis, keepdims=True)
    power = np.where(kept, np.exp(z - np.where(some, top, 0.0)), 0.0)
    total = power.sum(axis=axis, keepdims=True)
    return np.where(some, power / np.where(some, total, 1.0), 0.0).astype(dtype or x.dtype)


def _log_softmax(x, axis=-1, temperature=None, dtype=None, use_length=False):
    z = x.astype("float64") / (1.0 if temperature is None else temperature)
    z = z - np.max(z, axis=axis, keepdims=True, initial=-np.inf)
    return (z - np.log(np.exp(z).sum(axis=axis, keepdims=True))).astype(dtype or x.dtype)


def _softmin(x, axis=-1, temperature=None, dtype=None, use_length=False):
    return _softmax(-x, None, axis, temperature, dtype)


for _op, _f in (("softmax", _softmax), ("softmin", _softmin), ("log_softmax", _log_softmax)):
    for _label, _input, _params in (
        ("default", In((3, 4)), {}),
        ("first", In((3, 4)), {"axis": 0}),
        ("middle", In((2, 3, 4)), {"axis": 1}),
        ("negative-axis", In((2, 3, 4)), {"axis": -2}),
        ("vector", In((5,)), {}),
        ("one-class", In((3, 1)), {}),
        ("warm", In((3, 4)), {"temperature": 2.0}),
        ("cold", In((3, 4)), {"temperature": 0.5, "axis": 0}),
        ("negative-temperature", In((3, 4)), {"temperature": -1.0}),
        ("temperature-none", In((3, 4)), {"temperature": None}),
        ("dtype-none", In((3, 4)), {"dtype": None}),
        ("float64", In((3, 4), "float64"), {}),
        ("float64-first", In((3, 4), "float64"), {"axis": 0, "temperature": 1.5}),
        ("float16", In((3, 4), "float16"), {}),
        ("float16-warm", In((3, 4), "float16"), {"temperature": 2.0, "axis": 0}),
        ("float16-to-float32", In((3, 4), "float16"), {"dtype": "float32"}),
        ("float32-to-float16", In((3, 4)), {"dtype": "float16"}),
        ("float32-to-float64", In((3, 4)), {"dtype": "float64"}),
        ("float64-to-float32", In((3, 4), "float64"), {"dtype": "float32"}),
        ("length-off", In((3, 4)), {"use_length": False}),
    ):
        # float32 stands between a float64 input and its float64 gradient, or the other way round
        _tolerance = {**_NEAR, "float64": (2e-5, 1e-5)} if _params.get("dtype") else _NEAR
        if "float16" in _label:  # 1.9.1 computes in it, whatever comes out
            _tolerance = {"float32": TOLERANCE["float16"]}
        _order = 0 if _params.get("dtype") in ("float32", "float16") else 2
        CASES.append(Case(_op, _label, (_input,), _params, _f, order=_order, diff=(0,), tolerance=_tolerance))
    CASES += [
        Case(_op, "wide", (In((3, 1031)),), {}, _f, diff=(0,), tolerance=_NEAR),
        Case(_op, "long-axis-first", (In((517, 3)),), {"axis": 0}, _f, diff=(0,), tolerance=_NEAR),
        Case(_op, "large-values", (In(values=[[1000.0, 0.0, -1000.0], [80.0, 81.0, 82.0]]),), {}, _f, tolerance=_NEAR),
        Case(_op, "minus-infinity", (In(values=[[-np.inf, 0.0, 1.0]]),), {}, _f, tolerance=_NEAR),
        Case(_op, "empty-rows", (In((0, 3)),), {}, _f, np_shape=True),
        Case(_op, "empty-classes", (In((3, 0)),), {}, _f, np_shape=True),
        Case(_op, "temperature-zero", (In((2, 3)),), {"temperature": 0.0},
             lambda x, **_: np.full(x.shape, np.nan, x.dtype)),
        Case(_op, "use-length-none", (In((2, 3)),), {"use_length": None}, error=True),
        Case(_op, "axis-too-large", (In((2, 3)),), {"axis": 2}, error=True),
        Case(_op, "axis-too-small", (In((2, 3)),), {"axis": -3}, error=True),
        Case(_op, "int32", (In((2, 3), "int32", ("int", 0, 9)),), {}, error=True),
        Case(_op, "int32-to-float32", (In((2, 3), "int32", ("int", 0, 9)),), {"dtype": "float32"}, error=True),
        Case(_op, "to-int32", (In((2, 3)),), {"dtype": "int32"}, error=True),
        Case(_op, "malformed-temperature", (In((2, 3)),), {"temperature": "x"}, error=True),
        Case(_op, "malformed-use-length", (In((2, 3)),), {"use_length": "x"}, error=True),
        Case(_op, "unknown-parameter", (In((2, 3)),), {"foo": 1}, error=True),
        Case(_op, "length-missing", (In((2, 3)),), {"use_length": True}, error=True),
        Case(_op, "length-unwanted", (In((2, 3)), In((2,), "int32", ("int", 1, 3))), {}, error=True),
    ]  # fmt: skip
    if _op != "softmax":
        CASES.append(
            Case(_op, "length", (In((2, 3)), In((2,), "int32", ("int", 1, 3))), {"use_length": True}, error=True)
        )

for _label, _inputs, _params in (
    ("length", (In((3, 4)), In(dtype="int32", values=[2, 4, 1])), {}),
    ("length-int64", (In((3, 4)), In(dtype="int64", values=[2, 4, 1])), {}),
    ("length-zero", (In((3, 4)), In(dtype="int32", values=[2, 0, 1])), {}),
    ("length-first", (In((3, 4)), In(dtype="int32", values=[2, 3, 1, 2])), {"axis": 0}),
    ("length-middle", (In((2, 3, 2)), In(dtype="int32", values=[[2, 1], [3, 1]])), {"axis": 1}),
    ("length-warm", (In((3, 4), "float64"), In(dtype="int32", values=[2, 4, 1])), {"temperature": 2.0}),
    ("length-float16", (In((3, 4), "float16"), In(dtype="int32", values=[2, 4, 1])), {}),
    ("length-dtype", (In((3, 4), "float64"), In(dtype="int32", values=[2, 4, 1])), {"dtype": "float32"}),
):
    CASES.append(
        Case(
            "softmax",
            _label,
            _inputs,
            {"use_length": True, **_params},
            _softmax,
            order=0 if "dtype" in _params else 2,
            diff=(0,),
            tolerance={**_NEAR, "float64": (2e-5, 1e-5)} if "dtype" in _params else _NEAR,
        )
    )
CASES += [
    Case("softmax", "length-one-row", (In((4,)), In(dtype="int32", values=[3])), {"use_length": True},
         lambda x, length, use_length: _softmax(x[None], length)[0], order=2, diff=(0,)),
    Case("softmax", "length-too-long", (In((2, 3)), In(dtype="int32", values=[2, 4])), {"use_length": True},
         error=True, oracle="skip: 1.9.1 reads out of bounds"),
    Case("softmax", "length-negative", (In((2, 3)), In(dtype="int32", values=[2, -1])), {"use_length": True},
         error=True, oracle="skip: 1.9.1 ends the process"),
    Case("softmax", "float-length", (In((2, 3)), In((2,))), {"use_length": True}, error=True),
    Case("softmax", "length-shape", (In((2, 3)), In((3,), "int32", ("int", 1, 3))), {"use_length": True}, error=True),
    Case(
        "softmax",
        "all-minus-infinity",
        (In(values=[-np.inf, -np.inf]),),
        {},
        lambda x: np.full((2,), np.nan, "float32"),
    ),
    Case("softmax", "scalar", (In(()),), {}, lambda x: np.array(1.0, "float32"), np_shape=True),
]  # fmt: skip


def _same(x: np.ndarray, **params) -> np.ndarray:
    return x.copy()


def _dropped(outputs, inputs, params) -> str:
    """Every element is 0 or x/(1-p); the share of zeros is near p; the axes of `axes` share their mask."""
    y, x, p = outputs[0], inputs[0], float(params.get("p", 0.5))
    if y.shape != x.shape or y.dtype != x.dtype:
        return f"shape {y.shape} or dtype {y.dtype} differs from the input's"
    zero = y == 0
    if not np.allclose(y[~zero], x[~zero] / (1 - p), rtol=1e-5):
        return "a kept element is not x / (1 - p)"
    for axis in params.get("axes", ()):
        if (zero != np.take(zero, [0], axis=axis)).any():
            return f"the mask varies along axis {axis}"
    for axis in params.get("axes", ()):
        zero = np.take(zero, [0], axis=axis)
    spread = 6 * (p * (1 - p) / zero.size) ** 0.5
    return "" if abs(zero.mean() - p) <= spread else f"{zero.mean():.3f} of the elements are zero, not {p}"


_big = In((100, 100), domain="away")
for _label, _input, _params, _train in (
    ("train", _big, {}, True),
    ("train-p", _big, {"p": 0.2}, True),
    ("train-float64", _big.like("float64"), {"p": 0.7}, True),
    ("always", _big, {"mode": "always", "p": 0.3}, False),
    ("axes-first", In((3, 1000), domain="away"), {"axes": (0,), "p": 0.4}, True),
    ("axes-last", In((1000, 3), domain="away"), {"axes": (1,), "p": 0.4}, True),
    ("axes-two", In((400, 3, 2), domain="away"), {"axes": (1, 2)}, True),
    ("cudnn-off", _big, {"cudnn_off": True}, True),
):
    CASES.append(Case("Dropout", _label, (_input,), _params, random=True, check=_dropped, train=_train, diff=(0,)))
CASES += [
    Case("Dropout", "predict", (In((3, 4)),), {}, _same, order=2, diff=(0,)),
    Case("Dropout", "predict-p", (In((3, 4)),), {"p": 0.9}, _same, order=1, diff=(0,)),
    Case("Dropout", "p-zero", (In((3, 4)),), {"p": 0.0}, _same, order=2, diff=(0,), train=True),
    Case("Dropout", "p-zero-always", (In((3, 4), "float64"),), {"p": 0, "mode": "always"}, _same, order=2, diff=(0,)),
    Case(
        "Dropout",
        "p-one",
        (In((3, 4)),),
        {"p": 1.0},
        lambda x, p: np.full_like(x, np.nan),
        train=True,
    ),
    Case("Dropout", "empty", (In((0, 3)),), {}, _same, np_shape=True),
    Case("Dropout", "p-negative", (In((2,)),), {"p": -0.1}, error=True),
    Case("Dropout", "p-above-one", (In((2,)),), {"p": 1.1}, error=True),
    Case("Dropout", "unknown-mode", (In((2,)),), {"mode": "x"}, error=True),
    Case("Dropout", "axis-too-large", (In((2, 3)),), {"axes": (2,)}, error=True, train=True),
    Case("Dropout", "axis-negative", (In((2, 3)),), {"axes": (-1,)}, error=True, train=True),
    Case("Dropout", "int32", (In((4,), "int32", ("int", 0, 9)),), {}, error=True),
    Case("Dropout", "malformed-cudnn-off", (In((4,)),), {"cudnn_off": "x"}, error=True),
    Case("Dropout", "unknown-parameter", (In((4,)),), {"foo": 1}, error=True),
]
