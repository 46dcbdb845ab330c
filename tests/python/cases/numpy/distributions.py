"""Random numbers of NumPy arrays: parameters are numbers or arrays that broadcast.

What is compared are shapes, dtypes and moments; gradients are in test_np_random.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from .._case import Case, In
from ..random.sample import moments

CASES: list = []
_MANY = (300, 40)
_EULER = 0.57721566490153286

#: name -> parameters, mean and variance as functions of them, whether dtype is a parameter
DISTRIBUTIONS: dict = {
    "normal": (("loc", "scale"), lambda a, b: a, lambda a, b: b * b, True),
    "uniform": (("low", "high"), lambda a, b: (a + b) / 2, lambda a, b: (b - a) ** 2 / 12, True),
    "gamma": (("shape", "scale"), lambda a, b: a * b, lambda a, b: a * b * b, True),
    "gumbel": (("loc", "scale"), lambda a, b: a + b * _EULER, lambda a, b: (math.pi * b) ** 2 / 6, False),
    "logistic": (("loc", "scale"), lambda a, b: a, lambda a, b: (math.pi * b) ** 2 / 3, False),
    "exponential": (("scale",), lambda a: a, lambda a: a * a, False),
    "rayleigh": (("scale",), lambda a: a * math.sqrt(math.pi / 2), lambda a: (2 - math.pi / 2) * a * a, False),
    "pareto": (("a",), lambda a: 1 / (a - 1), lambda a: a / ((a - 1) ** 2 * (a - 2)), False),
    "powerd": (("a",), lambda a: a / (a + 1), lambda a: a / ((a + 1) ** 2 * (a + 2)), False),
    "weibull": (
        ("a",), lambda a: math.gamma(1 + 1 / a), lambda a: math.gamma(1 + 2 / a) - math.gamma(1 + 1 / a) ** 2, False
    ),
}  # fmt: skip
#: parameters of finite moments that are easy to estimate
_VALUES = {"normal": (1.5, 2.0), "uniform": (-1.0, 3.0), "gamma": (3.0, 0.5), "gumbel": (1.0, 2.0)}
_VALUES |= {
    "logistic": (-1.0, 0.5),
    "exponential": (2.0,),
    "rayleigh": (2.0,),
    "pareto": (9.0,),
    "weibull": (1.5,),
    "powerd": (2.0,),
}


def _given(name: str, inputs: list, params: dict) -> list:
    """Each parameter as an array: from the parameters, or the next input."""
    rest = iter(inputs)
    return [
        next(rest).astype("float64") if params.get(each) in (None, "None") else np.float64(params[each])
        for each in DISTRIBUTIONS[name][0]
    ]


def _check(name: str, batch: bool = False) -> Callable:
    _, mean, variance, _ = DISTRIBUTIONS[name]

    def check(outputs, inputs, params) -> str:
        values = _given(name, inputs, params)
        shape = np.broadcast(*values).shape
        size = params.get("size")
        size = None if size in (None, "None", ()) else (size,) if isinstance(size, int) else tuple(size)
        if size is not None:
            shape = size + shape if batch else size
        got = (outputs[0].shape, outputs[0].dtype.name)
        if got != (shape, params.get("dtype", "float32")):
            return f"{got}, not {shape}"
        # Each column of the last axis has its own parameters.
        values = [np.broadcast_to(each, shape) for each in values]
        if outputs[0].size < 1000:
            return "" if np.isfinite(outputs[0].astype("float64")).all() else "a value is not finite"
        for column in range(shape[-1]) if any(each.ndim for each in values) else ():
            own = [float(each[..., column].ravel()[0]) for each in values]
            wrong = moments(outputs[0][..., column], mean(*own), variance(*own), "real")
            if wrong:
                return f"column {column}: {wrong}"
        return ""

    return check


#: Why a row of wrong values is no question for 1.9.1.
_LATE = "skip: 1.9.1 notices it in another thread, and ends the process"


def _all_at_the_mean(outputs, inputs, params) -> str:
    return "" if (outputs[0] == float(params.get("loc", 0.0))).all() else "not all at the mean"


def _with_defaults(check: Callable, outputs, inputs, params) -> str:
    return check(outputs, inputs, {"scale": 1.0, **params})


def _add(op: str, label: str, inputs: tuple, params: dict, check=None, **more) -> None:
    CASES.append(Case(f"_npi_{op}", label, inputs, params, random=check is not None, check=check, **more))


def _rows(op: str, name: str, batch: bool) -> None:
    names, _, _, typed = DISTRIBUTIONS[name]
    values, check = _VALUES[name], _check(name, batch)
    numbers = dict(zip(names, values))
    none = dict.fromkeys(names, "None")
    arrays = tuple(In(values=[each, each * 1.25, each * 1.5]) for each in values)
    if name == "uniform":
        arrays = (In(values=[-1.0, 0.0, 1.0]), In(values=[1.0, 5.0, 1.5]))
    size = _MANY if not batch else (2000,)
    _add(op, "numbers", (), {**numbers, "size": _MANY}, check)
    _add(op, "arrays", arrays, {**none, "size": (4000, 3) if not batch else size}, check)
    _add(op, "number", (), {**numbers}, check, np_shape=True)
    _add(op, "scalar", (), {**numbers, "size": ()}, check, np_shape=True)
    _add(op, "size-is-a-number", (), {**numbers, "size": 5}, check)
    _add(op, "no-size", arrays, none, check)
    _add(op, "empty", (), {**numbers, "size": (0, 3)}, check, np_shape=True)
    _add(op, "0-axes", tuple(In(values=each) for each in values), {**none, "size": (2, 3)}, check, np_shape=True)
    _add(
        op,
        "int32",
        tuple(In(values=[1, 2, 3], dtype="int32") for _ in values),
        none,
        check,
        oracle="differs: 1.9.1 refuses integers" if name in ("gamma", "pareto", "weibull") else "",
    )
    _add(op, "float64-parameters", tuple(In(values=each.values, dtype="float64") for each in arrays), none, check)
    if len(names) == 2:
        column = In(values=[[values[1]], [values[1] * 2]])
        _add(op, "second", (column,), {**none, names[0]: values[0]}, check)
        _add(op, "first", (arrays[0],), {**none, names[1]: values[1] + 2}, check)
        _add(op, "broadcast", (In(values=[values[0]] * 3), column), none, check)
    if typed:
        for dtype in ("float16", "float32", "float64"):
            _add(op, dtype, (), {**numbers, "size": (30,), "dtype": dtype}, check)
        _add(op, "wrong-dtype", (), {**numbers, "size": (30,), "dtype": "int32"}, error=True)
    _add(op, "unknown-parameter", (), {**numbers, "foo": 1}, error=True)
    _add(op, "missing-input", (), none, error=True)
    _add(op, "more-inputs", (In((2,)),), numbers, error=True)
    if not batch:
        _add(op, "size-does-not-fit", arrays, {**none, "size": (2, 4)}, error=True)
        _add(
            op,
            "size-is-smaller",
            tuple(In(values=[[1.0], [2.0]]) for _ in values),
            {**none, "size": (3,)},
            error=True,
            oracle="differs: 1.9.1 answers numbers of other parameters",
        )
    if name != "uniform":
        bad = {**numbers, names[-1]: -1.0}
        _add(op, "negative", (), {**bad, "size": (3,)}, error=True, oracle=_LATE)
        _add(op, "negative-array", tuple(In(values=[1.0, -1.0]) for _ in values), none, error=True, oracle=_LATE)
    if name in ("gamma", "pareto", "weibull", "powerd"):
        _add(op, "zero", (), {**numbers, names[-1]: 0.0, "size": (3,)}, error=True, oracle=_LATE)
    elif name != "uniform":
        _add(
            op,
            "zero",
            (),
            {**numbers, names[-1]: 0.0, "size": (3,)},
            _all_at_the_mean,
        )


for _name in DISTRIBUTIONS:
    _rows(_name, _name, False)
_rows("normal_n", "normal", True)
_rows("uniform_n", "uniform", True)
_add("uniform", "reversed", (), {"low": 2.0, "high": 1.0, "size": _MANY}, _check("uniform"))
for _op in ("exponential", "rayleigh"):
    _add(
        _op,
        "default",
        (),
        {"size": _MANY},
        partial(_with_defaults, _check(_op)),
    )


# ---- bernoulli ----


def _bernoulli(outputs, inputs, params) -> str:
    logit = params["is_logit"]
    given = params["logit" if logit else "prob"]
    p = inputs[0].astype("float64") if given == "None" else np.float64(given)
    p = 1 / (1 + np.exp(-p)) if logit else p
    out, size = outputs[0], params.get("size")
    shape = p.shape if size in (None, "None", ()) else (size,) if isinstance(size, int) else tuple(size)
    if (out.shape, out.dtype.name) != (shape, params.get("dtype", "float32")):
        return f"{out.shape}, {out.dtype}, not {shape}"
    values = out.astype("float64")
    if not np.isin(values, (0, 1)).all():
        return "a value is not 0 or 1"
    if (values[np.broadcast_to(p, shape) == 0] != 0).any() or (values[np.broadcast_to(p, shape) == 1] != 1).any():
        return "an event of probability 0 happened, or one of 1 did not"
    if values.size < 1000:
        return ""
    wanted = np.broadcast_to(p, shape).reshape(-1, shape[-1]).mean(0)
    off = np.abs(values.reshape(-1, shape[-1]).mean(0) - wanted)
    return "" if (off < 5 * np.sqrt(shape[-1] / values.size / 4)).all() else f"frequencies are off by {off}"


_PROB, _LOGIT = (
    {"prob": "None", "logit": "None", "is_logit": False},
    {"prob": "None", "logit": "None", "is_logit": True},
)
_P = In(values=[0.0, 0.2, 0.5, 0.9, 1.0])
_add("bernoulli", "number", (), {**_PROB, "prob": 0.3, "size": _MANY}, _bernoulli)
_add("bernoulli", "array", (_P,), {**_PROB, "size": (2000, 5)}, _bernoulli)
_add("bernoulli", "no-size", (_P,), _PROB, _bernoulli)
_add("bernoulli", "logit", (), {**_LOGIT, "logit": -1.0, "size": _MANY}, _bernoulli)
_add("bernoulli", "logit-array", (In(values=[-2.0, 0.0, 3.0]),), {**_LOGIT, "size": (3000, 3)}, _bernoulli)
_add("bernoulli", "scalar", (), {**_PROB, "prob": 0.3}, _bernoulli, np_shape=True)
for _dtype in ("bool", "float16", "float64", "int32", "uint8"):
    _add("bernoulli", _dtype, (_P,), {**_PROB, "size": (1000, 5), "dtype": _dtype}, _bernoulli)
_add("bernoulli", "int64", (_P,), {**_PROB, "dtype": "int64"}, error=True)
_add("bernoulli", "above-1", (), {**_PROB, "prob": 1.5}, error=True, oracle=_LATE)
_add("bernoulli", "below-0", (), {**_PROB, "prob": -0.5}, error=True, oracle=_LATE)
_add("bernoulli", "array-above-1", (In(values=[0.5, 1.5]),), _PROB, error=True, oracle=_LATE)
_add("bernoulli", "no-is_logit", (), {"prob": 0.5, "logit": "None"}, error=True)
_add("bernoulli", "0-axes", (In(values=0.5),), {**_PROB, "size": (2, 3)}, _bernoulli, np_shape=True)
