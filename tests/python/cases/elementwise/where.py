"""Functions in pieces: clip, where, smooth_l1, hard_sigmoid, Activation, LeakyReLU."""

from __future__ import annotations

import math

import numpy as np

from .._case import Case, In

CASES: list = []

_F32 = {"float32": (1e-5, 1e-6), "float64": (1e-7, 1e-7)}
_ENDS = [-np.inf, -3.0, -1.0, -0.0, 0.0, 0.5, 1.0, 3.0, np.inf, np.nan]


def _clip(x: np.ndarray, a_min: float, a_max: float) -> np.ndarray:
    wide = x.astype("float64")
    cut = np.where(wide > a_max, a_max, np.where(wide < a_min, a_min, wide))
    return cut.astype(x.dtype)


_LIMITS = {"a_min": -0.9, "a_max": 0.8}
for _dtype in ("float32", "float64", "float16"):
    _order = 0 if _dtype == "float16" else 2
    _diff = (0,) if _order else ()
    CASES.append(Case("clip", _dtype, (In((3, 4), _dtype),), _LIMITS, _clip, order=_order, diff=_diff, tolerance=_F32))
for _dtype in ("uint8", "int8", "int32", "int64"):
    _given = {"a_min": 1.7, "a_max": 3.5}
    CASES.append(Case("clip", _dtype, (In(dtype=_dtype, values=[0, 1, 2, 3, 4, 100]),), _given, _clip))
CASES += [
    Case("clip", "edges", (In(values=_ENDS),), {"a_min": -1, "a_max": 1}, _clip, diff=(0,), defined=True),
    Case("clip", "open", (In(values=_ENDS),), {"a_min": "-inf", "a_max": 0.5}, lambda x, **_: _clip(x, -np.inf, 0.5)),
    Case("clip", "turned", (In(values=_ENDS),), {"a_min": 1, "a_max": -1}, _clip),
    Case("clip", "five-dims", (In((2, 1, 3, 1, 2)),), _LIMITS, _clip, order=1, diff=(0,)),
    Case("clip", "odd-length", (In((1037,)),), _LIMITS, _clip),
    Case("clip", "empty", (In((0, 3)),), _LIMITS, _clip, np_shape=True),
    Case("clip", "scalar", (In(()),), _LIMITS, _clip, np_shape=True),
    Case("clip", "out", (In((3,)),), _LIMITS, _clip, out=(((3,), "float32"),)),
    Case("clip", "bool", (In((3,), "bool", "bool"),), _LIMITS, error=True),
    Case("clip", "no-limits", (In((3,)),), error=True),
    Case("clip", "no-a-max", (In((3,)),), {"a_min": 0}, error=True),
    Case("clip", "none", (In((3,)),), {"a_min": 0, "a_max": None}, error=True),
    Case("clip", "unknown-parameter", (In((3,)),), {**_LIMITS, "foo": 1}, error=True),
]


def _where(c: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    taken = (c != 0).reshape(c.shape + (1,) * (x.ndim - c.ndim))
    return np.where(taken, x, y).astype(x.dtype)


_CHOICE = [[1.0, 0.0, 2.0], [0.0, -1.0, 0.0]]
for _dtype in ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool"):
    _flags = In(dtype=_dtype, values=[[1, 0, 1], [0, 1, 0]])
    _bool = "differs: 1.9.1 has no where of bool" if _dtype == "bool" else ""
    _domain = "real" if _dtype.startswith("float") else "bool"
    _both = In((2, 3), _dtype, _domain), In((2, 3), _dtype, _domain)
    CASES += [
        Case("where", f"by-{_dtype}", (_flags, In((2, 3)), In((2, 3))), forward=_where, oracle=_bool),
        Case("where", f"of-{_dtype}", (In(values=_CHOICE), *_both), forward=_where, oracle=_bool),
    ]
_by = In(values=_CHOICE)
CASES += [
    Case("where", "gradient", (_by, In((2, 3)), In((2, 3))), forward=_where, order=2, diff=(1, 2)),
    Case("where", "left", (_by, In((2, 3)), In((2, 3))), forward=_where, order=2, diff=(1,)),
    Case("where", "right", (_by, In((2, 3)), In((2, 3))), forward=_where, order=2, diff=(2,)),
    Case("where", "rows", (In(values=[1, 0]), In((2, 3, 2)), In((2, 3, 2))), forward=_where, order=2, diff=(1, 2)),
    Case("where", "large-int", (In(dtype="int64", values=[256, 0]), In((2,)), In((2,))), forward=_where),
    Case("where", "fraction", (In(values=[0.25, -0.0, np.nan]), In((3,)), In((3,))), forward=_where),
    Case("where", "odd-length", (In((1037,), "int32", "bool"), In((1037,)), In((1037,))), forward=_where),
    Case("where", "one-row", (In(values=[1]), In((1, 3)), In((1, 3))), forward=_where),
    Case("where", "empty", (In((0, 3)), In((0, 3)), In((0, 3))), forward=_where, np_shape=True),
    Case("where", "out", (_by, In((2, 3)), In((2, 3))), forward=_where, out=(((2, 3), "float32"),)),
    Case("where", "rows-differ", (In((3,)), In((2, 3)), In((2, 3))), error=True),
    Case("where", "no-broadcast", (In((2, 1)), In((2, 3)), In((2, 3))), error=True),
    Case("where", "shapes-differ", (In((2, 3)), In((2, 3)), In((3,))), error=True),
    Case("where", "mixed", (In((2,)), In((2,)), In((2,), "int32", "bool")), error=True),
    Case("where", "two-inputs", (In((2,)), In((2,))), error=True),
]


def _smooth(x: np.ndarray, scalar: float = 1.0) -> np.ndarray:
    wide = x.astype("float64")
    with np.errstate(all="ignore"):
        edge = 1 / np.float64(scalar) ** 2
    line = np.abs(wide) - edge / 2
    made = np.where(np.abs(wide) > edge, line, (scalar * wide) ** 2 / 2)
    return made.astype(x.dtype) if x.dtype.kind == "f" else np.trunc(made).astype(x.dtype)


for _s in (1.0, 2.0, 0.75, -1.5):
    for _dtype in ("float32", "float64"):
        _rows = (In((3, 4), _dtype),)
        CASES.append(Case("smooth_l1", f"{_dtype}{_s:+g}", _rows, {"scalar": _s}, _smooth, order=2, diff=(0,)))
for _dtype in ("uint8", "int8", "int32", "int64"):
    CASES.append(Case("smooth_l1", _dtype, (In(dtype=_dtype, values=[0, 1, 2, 5]),), {"scalar": 1}, _smooth))
CASES += [
    Case("smooth_l1", "default", (In((3,)),), {}, _smooth, order=1, diff=(0,)),
    Case(
        "smooth_l1",
        "is-int",
        (In((3,)),),
        {"scalar": 2.5, "is_int": False},
        lambda x, is_int, **p: _smooth(x, **p),
        order=1,
        diff=(0,),
    ),
    Case("smooth_l1", "edges", (In(values=_ENDS),), {"scalar": 1}, _smooth, diff=(0,), defined=True),
    Case("smooth_l1", "zero", (In(values=[-1.0, 0.0, 2.0]),), {"scalar": 0}, _smooth, diff=(0,), defined=True),
    Case("smooth_l1", "float16", (In((7,), "float16"),), {"scalar": 1}, _smooth),
    Case("smooth_l1", "empty", (In((0, 3)),), {"scalar": 1}, _smooth, np_shape=True),
    Case("smooth_l1", "bool", (In((3,), "bool", "bool"),), {"scalar": 1}, error=True),
    Case("smooth_l1", "malformed", (In((3,)),), {"scalar": "1.5abc"}, error=True),
    Case("smooth_l1", "unknown-parameter", (In((3,)),), {"scalar": 1, "foo": 1}, error=True),
]


def _hard(x: np.ndarray, alpha: float = 0.2, beta: float = 0.5) -> np.ndarray:
    line = alpha * x.astype("float64") + beta
    return np.where(np.isnan(line), line, np.clip(line, 0, 1)).astype(x.dtype)


for _dtype in ("float32", "float64"):
    _steep = {"alpha": -0.7, "beta": 0.25}
    CASES += [
        Case("hard_sigmoid", _dtype, (In((3, 4), _dtype),), {}, _hard, order=2, diff=(0,), tolerance=_F32),
        Case("hard_sigmoid", f"{_dtype}-steep", (In((9,), _dtype),), _steep, _hard, 2, (0,), tolerance=_F32),
    ]
CASES += [
    Case("hard_sigmoid", "float16", (In((7,), "float16"),), {}, _hard),
    Case("hard_sigmoid", "edges", (In(values=[*_ENDS, -2.5, 2.5]),), {}, _hard, diff=(0,), defined=True),
    Case("hard_sigmoid", "empty", (In((0, 3)),), {}, _hard, np_shape=True),
    Case("hard_sigmoid", "int32", (In((3,), "int32", ("int", 0, 3)),), error=True),
    Case("hard_sigmoid", "malformed", (In((3,)),), {"alpha": "x"}, error=True),
    Case("hard_sigmoid", "unknown-parameter", (In((3,)),), {"foo": 1}, error=True),
]


def _wide(function):
    def forward(x: np.ndarray, **params) -> np.ndarray:
        return function(x.astype("float64"), **params).astype(x.dtype)

    return forward


_ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 0.5 * (1 + np.tanh(x / 2)),
    "softrelu": lambda x: np.logaddexp(x, 0),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "tanh": np.tanh,
}
for _act, _function in _ACTIVATIONS.items():
    _f = _wide(lambda x, act_type, function=_function: function(x))
    _given = {"act_type": _act}
    _far = [-100.0, -20.0, -0.5, 0.0, 0.5, 20.0, 100.0]
    CASES += [
        Case("Activation", f"{_act}-float32", (In((3, 4), domain="away"),), _given, _f, 2, (0,), tolerance=_F32),
        Case("Activation", f"{_act}-float64", (In((3, 4), "float64", "away"),), _given, _f, 2, (0,), tolerance=_F32),
        Case("Activation", f"{_act}-float16", (In((7,), "float16"),), _given, _f),
        Case("Activation", f"{_act}-far", (In(values=_far),), _given, _f, diff=(0,), defined=True),
        Case("Activation", f"{_act}-infinite", (In(values=[-np.inf, np.inf]),), _given, _f),
        Case("Activation", f"{_act}-odd-length", (In((1037,)),), _given, _f, tolerance=_F32),
        Case("Activation", f"{_act}-int32", (In((3,), "int32", "bool"),), _given, error=True),
        Case("Activation", f"{_act}-empty", (In((0, 3)),), _given, _f, np_shape=True),
        Case("Activation", f"{_act}-out", (In((3,)),), _given, _f, out=(((3,), "float32"),), tolerance=_F32),
    ]
CASES += [
    Case(
        "Activation",
        "relu-nan",
        (In(values=[np.nan, 1.0]),),
        {"act_type": "relu"},
        lambda x, act_type: x,
        oracle="differs: 1.9.1 answers 0 for float32, NaN for float64",
    ),
    Case("Activation", "no-type", (In((3,)),), error=True),
    Case("Activation", "unknown-type", (In((3,)),), {"act_type": "gelu"}, error=True),
    Case("Activation", "unknown-parameter", (In((3,)),), {"act_type": "relu", "foo": 1}, error=True),
]

_erf = np.vectorize(math.erf, otypes=["float64"])
_SCALE, _ALPHA = 1.0507009873554805, 1.6732632423543772
_LEAKY = {
    "leaky": lambda x, slope=0.25: np.where(x > 0, x, slope * x),
    "elu": lambda x, slope=0.25: np.where(x > 0, x, slope * np.expm1(np.minimum(x, 0))),
    "selu": lambda x, slope=0: _SCALE * np.where(x > 0, x, _ALPHA * np.expm1(np.minimum(x, 0))),
    "gelu": lambda x, slope=0: x * 0.5 * (1 + _erf(x / math.sqrt(2))),
}
for _act, _function in _LEAKY.items():
    _f = _wide(lambda x, act_type="leaky", slope=0.25, function=_function, **_: function(x, slope))
    _given = {"act_type": _act}
    _note = "forward: 1.9.1's gradient of selu is not that of the function" if _act == "selu" else ""
    _away = In((3, 4), domain="away")
    CASES += [
        Case("LeakyReLU", f"{_act}-float32", (_away,), _given, _f, 2, (0,), tolerance=_F32, oracle=_note),
        Case(
            "LeakyReLU",
            f"{_act}-float64",
            (In((3, 4), "float64", "away"),),
            _given,
            _f,
            2,
            (0,),
            tolerance={"float64": (1e-5, 1e-6)},
            oracle=_note,
        ),
        Case("LeakyReLU", f"{_act}-float16", (In((7,), "float16"),), _given, _f),
        Case(
            "LeakyReLU", f"{_act}-slope", (_away,), {**_given, "slope": 0.5}, _f, 1, (0,), tolerance=_F32, oracle=_note
        ),
        Case("LeakyReLU", f"{_act}-far", (In(values=[-100.0, -20.0, 0.0, 20.0, 100.0]),), _given, _f, tolerance=_F32),
        Case("LeakyReLU", f"{_act}-odd-length", (In((1037,)),), _given, _f, tolerance=_F32),
        Case("LeakyReLU", f"{_act}-int32", (In((3,), "int32", "bool"),), _given, error=True),
        Case("LeakyReLU", f"{_act}-empty", (In((0, 3)),), _given, _f, np_shape=True),
        Case("LeakyReLU", f"{_act}-gamma", (In((3,)), In((1,))), _given, error=True),
    ]
for _act in ("leaky", "elu"):
    CASES.append(Case("LeakyReLU", f"{_act}-at-zero", (In(values=[0.0]),), {"act_type": _act}, diff=(0,), defined=True))
for _dtype in ("float32", "float64"):
    CASES.append(
        Case(
            "LeakyReLU",
            f"gelu-infinite-{_dtype}",
            (In(values=[-np.inf, np.inf, np.nan], dtype=_dtype),),
            {"act_type": "gelu"},
            _wide(lambda x, act_type: np.array([-0.0, np.inf, np.nan])),
            oracle="differs: 1.9.1 multiplies the infinity with 0",
        )
    )


def _prelu(x: np.ndarray, gamma: np.ndarray, act_type: str) -> np.ndarray:
    if gamma.ndim == 1 and x.ndim > 1:
        gamma = gamma.reshape((1, -1) + (1,) * (x.ndim - 2))
    return np.where(x > 0, x, x * gamma).astype(x.dtype)


_P = {"act_type": "prelu"}
for _label, _data, _gamma in (
    ("channels", (2, 3), (3,)),
    ("one", (2, 3), (1,)),
    ("three-dims", (2, 3, 2), (3,)),
    ("four-dims", (2, 3, 2, 2), (3,)),
    ("row", (3,), (3,)),
    ("row-one", (3,), (1,)),
    ("whole", (2, 3), (2, 3)),
    ("whole-three", (2, 3, 2), (2, 1, 2)),
    ("broadcast", (2, 3), (1, 3)),
):
    _rows = (In(_data, domain="away"), In(_gamma))
    _note = "differs: 1.9.1 takes such a gamma for matrices alone" if _label == "whole-three" else ""
    CASES.append(Case("LeakyReLU", f"prelu-{_label}", _rows, _P, _prelu, 2, (0, 1), tolerance=_F32, oracle=_note))
CASES += [
    Case("LeakyReLU", "prelu-float64", (In((2, 3), "float64", "away"), In((3,), "float64")), _P, _prelu, 2, (0, 1)),
    Case("LeakyReLU", "prelu-float16", (In((2, 3), "float16", "away"), In((3,), "float16")), _P, _prelu),
    Case("LeakyReLU", "prelu-data", (In((2, 3), domain="away"), In((3,))), _P, _prelu, 2, (0,)),
    Case("LeakyReLU", "prelu-gamma", (In((2, 3), domain="away"), In((3,))), _P, _prelu, 2, (1,)),
    Case(
        "LeakyReLU",
        "prelu-rows",
        (In((2, 3)), In((2,))),
        _P,
        error=True,
        oracle="differs: 1.9.1 puts a gamma that does not fit the channels along the rows",
    ),
    Case("LeakyReLU", "prelu-misfit", (In((2, 3, 4)), In((4,))), _P, error=True),
    Case("LeakyReLU", "prelu-too-long", (In((3,)), In((4,))), _P, error=True),
    Case("LeakyReLU", "prelu-mixed", (In((3,)), In((3,), "float64")), _P, error=True),
    Case("LeakyReLU", "prelu-alone", (In((3,)),), _P, error=True),
    Case("LeakyReLU", "unknown-type", (In((3,)),), {"act_type": "relu"}, error=True),
    Case("LeakyReLU", "unknown-parameter", (In((3,)),), {"foo": 1}, error=True),
]


def _rrelu_check(outputs: list, inputs: list, params: dict) -> str:
    y, factor = (np.asarray(output, "float64") for output in outputs)
    x = np.asarray(inputs[0], "float64")
    low, high = params.get("lower_bound", 0.125), params.get("upper_bound", 0.334)
    below = factor[x <= 0]
    if not np.allclose(y, x * factor, rtol=1e-6):
        return "the output is not the input times the factors"
    if (factor[x > 0] != 1).any() or (below < low - 1e-6).any() or (below > high + 1e-6).any():
        return "a factor is out of bounds"
    spread, mean = (high - low) / np.sqrt(12), (high + low) / 2
    if below.size > 1000 and abs(below.mean() - mean) > 5 * spread / np.sqrt(below.size):
        return "the factors have another mean"
    return ""


def _rrelu_mean(x: np.ndarray, act_type: str) -> tuple:
    factor = np.where(x > 0, 1, (0.125 + 0.333999991) / 2).astype(x.dtype)
    return x * factor, factor


_R = {"act_type": "rrelu"}
CASES += [
    Case("LeakyReLU", "rrelu-training", (In((100, 100)),), _R, random=True, check=_rrelu_check, train=True),
    Case(
        "LeakyReLU",
        "rrelu-bounds",
        (In((100, 100), "float64"),),
        {**_R, "lower_bound": 0.25, "upper_bound": 0.75},
        random=True,
        check=_rrelu_check,
        train=True,
    ),
    Case(
        "LeakyReLU", "rrelu-predicting", (In((30,)),), _R, _rrelu_mean, oracle="skip: its second output is not written"
    ),
]


def _quadratic(x: np.ndarray, a: float = 0.0, b: float = 0.0, c: float = 0.0) -> np.ndarray:
    wide = x.astype("float64")
    return (a * wide**2 + b * wide + c).astype(x.dtype)


_ABC = {"a": 0.5, "b": -2.0, "c": 0.25}
_Q = "_contrib_quadratic"
CASES += [
    Case(_Q, "float32", (In((3, 4)),), _ABC, _quadratic, 2, (0,), tolerance=_F32),
    Case(_Q, "float64", (In((3, 4), "float64"),), _ABC, _quadratic, 2, (0,)),
    Case(_Q, "float16", (In((7,), "float16"),), _ABC, _quadratic),
    Case(_Q, "int32", (In(dtype="int32", values=[1, 2, 3]),), {"a": 2, "b": 1}, _quadratic),
    Case(_Q, "default", (In((3,)),), {}, _quadratic, 1, (0,)),
    Case(_Q, "empty", (In((0, 3)),), _ABC, _quadratic, np_shape=True),
    Case(_Q, "bool", (In((3,), "bool", "bool"),), _ABC, error=True),
    Case(_Q, "unknown-parameter", (In((3,)),), {"foo": 1}, error=True),
]

#: Their gradients are defined, not derived.
_STRAIGHT = {
    "_contrib_round_ste": lambda x: np.trunc(x + np.copysign(0.5, x)),
    "_contrib_sign_ste": lambda x: np.where(np.isnan(x), 0, np.sign(x)),
}
for _op, _function in _STRAIGHT.items():
    _f = _wide(lambda x, function=_function: function(x))
    CASES += [
        Case(_op, "float32", (In((3, 4)),), {}, _f, diff=(0,), defined=True),
        Case(_op, "float64", (In((3, 4), "float64"),), {}, _f, diff=(0,), defined=True),
        Case(_op, "edges", (In(values=_ENDS),), {}, _f, diff=(0,), defined=True),
        Case(_op, "int32", (In(dtype="int32", values=[-2, 0, 3]),), {}, _f),
        Case(_op, "empty", (In((0, 3)),), {}, _f, np_shape=True),
        Case(_op, "bool", (In((3,), "bool", "bool"),), error=True),
    ]
_M = "_contrib_gradientmultiplier"
CASES += [
    Case(_M, "float32", (In((3, 4)),), {"scalar": -0.5}, lambda x, scalar: x, diff=(0,), defined=True),
    Case(_M, "float64", (In((3, 4), "float64"),), {"scalar": 3}, lambda x, scalar: x, diff=(0,), defined=True),
    Case(_M, "default", (In((3,)),), {}, lambda x: x, diff=(0,), defined=True),
    Case(_M, "int32", (In(dtype="int32", values=[-2, 0, 3]),), {"scalar": 2}, lambda x, scalar: x),
    Case(_M, "empty", (In((0, 3)),), {}, lambda x: x, np_shape=True),
    Case(_M, "malformed", (In((3,)),), {"scalar": "abc"}, error=True),
]
