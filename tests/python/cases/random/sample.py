"""Random arrays by parameters that are numbers (`_random_*`, `_random_*_like`) or arrays (`_sample_*`).

What is compared are moments and ranges; tests of fit are in test_random_fit.py.
"""

from __future__ import annotations

import math

import numpy as np

from .._case import Case, In
from .._rows import filling

CASES: list = []
_MANY = (100, 100)

#: name -> parameters, mean and variance as functions of them, "count" or "real"
DISTRIBUTIONS = {
    "uniform": (("low", "high"), lambda a, b: (a + b) / 2, lambda a, b: (b - a) ** 2 / 12, "real"),
    "normal": (("loc", "scale"), lambda a, b: a, lambda a, b: b**2, "real"),
    "gamma": (("alpha", "beta"), lambda a, b: a * b, lambda a, b: a * b**2, "real"),
    "exponential": (("lam",), lambda a: 1 / a, lambda a: 1 / a**2, "real"),
    "poisson": (("lam",), lambda a: a, lambda a: a, "count"),
    "negative_binomial": (("k", "p"), lambda k, p: k * (1 - p) / p, lambda k, p: k * (1 - p) / p**2, "count"),
    "generalized_negative_binomial": (("mu", "alpha"), lambda m, a: m, lambda m, a: m + a * m * m, "count"),
}
_DEFAULTS = {"low": 0.0, "high": 1.0, "loc": 0.0, "scale": 1.0, "alpha": 1.0, "beta": 1.0}
_DEFAULTS |= {"lam": 1.0, "k": 1.0, "p": 1.0, "mu": 1.0}


def moments(x: np.ndarray, mean: float, variance: float, kind: str) -> str:
    """ "" where the values look like a distribution with these moments, or what is wrong."""
    x = x.astype("float64").ravel()
    if not np.isfinite(x).all():
        return "a value is not finite"
    if kind == "count" and ((x < 0).any() or (x != np.floor(x)).any()):
        return "a value is no count"
    if x.size < 1000:
        return ""
    off = abs(x.mean() - mean)
    if off > 5 * math.sqrt(variance / x.size) + 1e-3 * abs(mean) * (x.max() > 2000):
        return f"mean is {x.mean()}, not {mean}"
    spread = math.sqrt(max(((x - mean) ** 4).mean() - variance**2, 0) / x.size)
    if abs(((x - mean) ** 2).mean() - variance) > 6 * spread + 1e-3 * variance:
        return f"variance is {((x - mean) ** 2).mean()}, not {variance}"
    return ""


def _check(name: str):
    names, mean, variance, kind = DISTRIBUTIONS[name]

    def check(outputs, inputs, params) -> str:
        if inputs:
            wanted = (inputs[0].shape, inputs[0].dtype.name)
        else:
            wanted = (params["shape"], params.get("dtype") or "float32")
        got = (outputs[0].shape, outputs[0].dtype.name)
        if got != wanted:
            return f"{got}, not {wanted}"
        values = [float(params.get(each, _DEFAULTS[each])) for each in names]
        return moments(outputs[0], mean(*values), variance(*values), kind)

    return check


def _sampled(name: str):
    names, mean, variance, kind = DISTRIBUTIONS[name]

    def check(outputs, inputs, params) -> str:
        shape = params.get("shape", ())
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        wanted = (inputs[0].shape + shape, params.get("dtype") or "float32")
        got = (outputs[0].shape, outputs[0].dtype.name)
        if got != wanted:
            return f"{got}, not {wanted}"
        rows = outputs[0].reshape((-1, int(np.prod(shape))))
        flat = [each.astype("float64").ravel() for each in inputs]
        for row, values in zip(rows, zip(*flat)):
            wrong = moments(row, mean(*values), variance(*values), kind)
            if wrong:
                return f"{values}: {wrong}"
        return ""

    return check


#: Parameters of the rows with many numbers, and wrong ones.
_SETS = {
    "uniform": ({}, {"low": -2.0}, {"low": 3.0, "high": 3.5}),
    "normal": ({}, {"loc": -3.0}, {"loc": 2.0, "scale": 0.25}),
    "gamma": ({}, {"alpha": 0.25}, {"alpha": 9.0, "beta": 0.5}, {"beta": 4.0}, {"alpha": 1500.0}),
    "exponential": ({}, {"lam": 4.0}, {"lam": 0.125}),
    "poisson": ({}, {"lam": 0.25}, {"lam": 4.0}, {"lam": 9.75}, {"lam": 25.0}, {"lam": 1500.0}),
    "negative_binomial": ({"p": 0.5}, {"k": 4, "p": 0.25}, {"k": 40, "p": 0.75}),
    "generalized_negative_binomial": ({}, {"mu": 4.0}, {"mu": 5.0, "alpha": 0.25}, {"mu": 2.0, "alpha": 0.0}),
}
_NAN = "nan"
_WRONG = {
    "uniform": ({"low": 2.0}, {"high": -1.0}, {"low": _NAN}, {"high": _NAN}, {"low": "inf"}, {"low": "x"}),
    "normal": ({"scale": 0.0}, {"scale": -1.0}, {"scale": _NAN}, {"loc": "x"}),
    "gamma": ({"alpha": 0.0}, {"alpha": -1.0}, {"alpha": _NAN}, {"beta": 0.0}, {"beta": -1.0}, {"beta": _NAN}),
    "exponential": ({"lam": 0.0}, {"lam": -1.0}, {"lam": _NAN}, {"lam": "x"}, {"lam": "1e39"}),
    "poisson": ({"lam": -1.0}, {"lam": _NAN}, {"lam": "-inf"}, {"lam": "x"}),
    "negative_binomial": ({"k": -1}, {"p": -0.5}, {"p": _NAN}, {"k": 1.5}, {"k": 3000000000}),
    "generalized_negative_binomial": ({"mu": -1.0}, {"alpha": -1.0}, {"mu": _NAN}, {"alpha": _NAN}, {"mu": "x"}),
}
#: Parameters by which nothing is random: the value of every element.
_CERTAIN = {
    "uniform": ((3.0, 3.0, 3.0),),
    "normal": (),
    "gamma": (),
    "exponential": (("inf", 0.0),),
    "poisson": ((0.0, 0.0),),
    "negative_binomial": ((0, 0.5, 0.0), (5, 1.0, 0.0), (5, 2.0, 0.0)),
    "generalized_negative_binomial": ((0.0, 1.0, 0.0), (0.0, 0.0, 0.0)),
}

for _name, _sets in _SETS.items():
    _op, _like, _c = f"_random_{_name}", f"_random_{_name}_like", _check(_name)
    _names = DISTRIBUTIONS[_name][0]
    _first = _sets[1]
    for _index, _params in enumerate(_sets):
        CASES.append(Case(_op, f"moments-{_index}", (), {"shape": _MANY, **_params}, random=True, check=_c))
        CASES.append(Case(_like, f"moments-{_index}", (In(_MANY),), _params, random=True, check=_c))
    for _dtype in ("float16", "float32", "float64"):
        CASES.append(
            Case(_op, f"in-{_dtype}", (), {"shape": (7, 13), "dtype": _dtype, **_first}, random=True, check=_c)
        )
        CASES.append(Case(_like, f"in-{_dtype}", (In((7, 13), _dtype),), _first, random=True, check=_c))
    for _index, _params in enumerate(_WRONG[_name]):
        CASES.append(Case(_op, f"wrong-{_index}", (), {"shape": (4,), **_params}, error=True))
        CASES.append(Case(_like, f"wrong-{_index}", (In((4,)),), _params, error=True))
    for _index, (*_values, _value) in enumerate(_CERTAIN[_name]):
        _params = dict(zip(_names, _values))
        CASES.append(
            Case(
                _op,
                f"certain-{_index}",
                (),
                {"shape": (2, 3), **_params},
                lambda v=_value, **p: np.full((2, 3), v, "float32"),
            )
        )
        CASES.append(
            Case(
                _like,
                f"certain-{_index}",
                (In((2, 3), "float64"),),
                _params,
                lambda x, v=_value, **p: np.full((2, 3), v, "float64"),
            )
        )
    if _name not in ("uniform", "normal"):  # which random.py has
        CASES += [
            Case(_op, "dtype-none", (), {"shape": (5,), "dtype": None, **_first}, random=True, check=_c),
            *filling(_op, _c),
        ]
    CASES += [
        Case(_op, "negative-shape", (), {"shape": (-1,)}, error=True),
        Case(_op, "out-int32", (), {"shape": (3,)}, out=(((3,), "int32"),), error=True),
        Case(_op, "out-other-dtype", (), {"shape": (3,), "dtype": "float64"}, out=(((3,), "float32"),), error=True),
        Case(
            _op,
            "out-no-shape",
            (),
            {"shape": (3,), "dtype": "float64"},
            random=True,
            check=_c,
            out=(((3,), "float64"),),
        ),
        Case(_like, "out", (In((5,)),), {}, random=True, check=_c, out=(((5,), "float32"),)),
        Case(_like, "empty", (In((2, 0)),), {}, random=True, check=_c, np_shape=True),
        Case(_like, "scalar", (In(()),), {}, random=True, check=_c, np_shape=True),
        Case(_like, "int32", (In((2,), "int32", ("int", 0, 3)),), error=True),
        Case(_like, "bool", (In((2,), "bool", "bool"),), error=True),
        Case(_like, "out-other-dtype", (In((2,)),), out=(((2,), "float64"),), error=True),
        Case(_like, "out-other-shape", (In((2,)),), out=(((3,), "float32"),), error=True),
        Case(_like, "no-input", (), error=True),
        Case(_like, "shape", (In((2,)),), {"shape": (3,)}, error=True),
        Case(_like, "dtype", (In((2,)),), {"dtype": "float32"}, error=True),
    ]

# ---- integers ----


def _integers(outputs, inputs, params) -> str:
    x, shape = outputs[0], params["shape"]
    if (x.shape, x.dtype.name) != (shape, params.get("dtype") or "int32"):
        return f"{x.dtype}{x.shape}"
    low, high = int(params["low"]), int(params["high"])
    if x.size and (int(x.min()) < low or int(x.max()) >= high):
        return f"values in [{x.min()}, {x.max()}], not [{low}, {high})"
    if x.size < 1000:
        return ""
    mean, variance = (low + high - 1) / 2, ((high - low) ** 2 - 1) / 12
    return moments(x.astype("float64") / variance**0.5, mean / variance**0.5, 1.0, "real")


_OP = "_random_randint"
for _label, _low, _high, _dtype in (
    ("ten", 0, 10, "None"),
    ("signs", -5, 5, "int32"),
    ("two", 7, 9, "int64"),
    ("large", 3, 3 + 5 * 10**9, "int64"),
    ("all-int32", -(2**31), 2**31, "int32"),
    ("all-int64", -(2**63) + 1, 2**63 - 1, "int64"),
):
    CASES.append(
        Case(
            _OP,
            _label,
            (),
            {"low": _low, "high": _high, "shape": _MANY, "dtype": None if _dtype == "None" else _dtype},
            random=True,
            check=_integers,
        )
    )
_TEN = {"low": 0, "high": 10}
CASES += [
    Case(_OP, "one", (), {"low": 4, "high": 5, "shape": (3,)}, lambda **p: np.full(3, 4, "int32")),
    Case(_OP, "out", (), {**_TEN, "shape": (3,)}, random=True, check=_integers, out=(((3,), "int32"),)),
    Case(
        _OP,
        "out-int64",
        (),
        {**_TEN, "shape": (3,), "dtype": "int64"},
        random=True,
        check=_integers,
        out=(((3,), "int64"),),
    ),
    Case(_OP, "empty", (), {**_TEN, "shape": (0, 3)}, random=True, check=_integers, np_shape=True),
    Case(_OP, "scalar", (), {**_TEN, "shape": ()}, random=True, check=_integers, np_shape=True),
    Case(_OP, "none", (), {"low": 5, "high": 5, "shape": (3,)}, error=True, oracle="skip: ends the process (SIGFPE)"),
    Case(_OP, "crossed", (), {"low": 5, "high": 4, "shape": (3,)}, error=True),
    Case(_OP, "above-int32", (), {"low": 0, "high": 5 * 10**9, "shape": (3,)}, error=True, oracle="differs: wraps"),
    Case(
        _OP,
        "below-int32",
        (),
        {"low": -(2**31) - 1, "high": 0, "shape": (3,), "dtype": "int32"},
        error=True,
        oracle="differs: wraps",
    ),
    Case(_OP, "above-int64", (), {"low": 0, "high": 2**63, "shape": (3,), "dtype": "int64"}, error=True),
    Case(_OP, "no-low", (), {"high": 5, "shape": (3,)}, error=True),
    Case(_OP, "no-high", (), {"low": 5, "shape": (3,)}, error=True),
    Case(_OP, "fraction", (), {"low": 1.5, "high": 5, "shape": (3,)}, error=True),
    Case(_OP, "no-shape", (), _TEN, error=True),
    Case(_OP, "float32", (), {**_TEN, "shape": (3,), "dtype": "float32"}, error=True),
    Case(_OP, "int8", (), {**_TEN, "shape": (3,), "dtype": "int8"}, error=True),
    Case(_OP, "out-float32", (), {**_TEN, "shape": (3,)}, out=(((3,), "float32"),), error=True),
    Case(_OP, "out-other-dtype", (), {**_TEN, "shape": (3,), "dtype": "int32"}, out=(((3,), "int64"),), error=True),
    Case(_OP, "one-input", (In((2,)),), {**_TEN, "shape": (2,)}, error=True),
    Case(_OP, "unknown-parameter", (), {**_TEN, "shape": (2,), "foo": 1}, error=True),
]

# ---- by arrays ----

#: Parameters for three distributions of each family.
_THREE = {
    "uniform": ([0.0, -2.0, 3.0], [1.0, 4.0, 3.5]),
    "normal": ([0.0, -2.0, 3.0], [1.0, 0.25, 8.0]),
    "gamma": ([1.0, 0.25, 9.0], [1.0, 4.0, 0.5]),
    "exponential": ([1.0, 4.0, 0.125],),
    "poisson": ([1.0, 25.0, 0.125],),
    "negative_binomial": ([3.0, 0.5, 40.0], [0.5, 0.25, 0.75]),
    "generalized_negative_binomial": ([1.0, 5.0, 0.5], [0.25, 1.0, 0.0]),
}
#: Parameters by which nothing is random, and what every number is: as 1.9.1, or (announced) as the limit says.
_NAN_, _INF = math.nan, math.inf
_GARBAGE = "differs: garbage"
_FIXED = {
    "uniform": (
        (3, 3, 3, ""),
        (_NAN_, 1, _NAN_, ""),
        (0, _NAN_, _NAN_, ""),
        (_INF, 1, _NAN_, ""),
        (-_INF, 1, _NAN_, ""),
    ),
    "normal": ((3, 0, 3, ""), (_NAN_, 1, _NAN_, ""), (0, _NAN_, _NAN_, ""), (_INF, 1, _INF, ""), (-_INF, 1, -_INF, "")),
    "gamma": (
        (0, 1, 0, ""),
        (1, 0, 0, ""),
        (1, _NAN_, _NAN_, ""),
        (1, _INF, _INF, ""),
        (1, -_INF, -_INF, ""),
        (-1, 1, _NAN_, "skip: never ends"),
        (_NAN_, 1, _NAN_, "skip: never ends"),
        (_INF, 1, _INF, "skip: never ends"),
        (-_INF, 1, _NAN_, "skip: never ends"),
    ),
    "exponential": ((0, _INF, ""), (_NAN_, _NAN_, ""), (_INF, 0, ""), (-_INF, -0.0, "")),
    "poisson": ((0, 0, ""), (-1, 0, ""), (-_INF, 0, ""), (_NAN_, _NAN_, _GARBAGE), (_INF, _INF, _GARBAGE)),
    "negative_binomial": (
        (0, 0.5, 0, ""),
        (3, 1, 0, ""),
        (3, 1.5, 0, ""),
        (3, -1, 0, ""),
        (3, 0, _INF, _GARBAGE),
        (3, _NAN_, _NAN_, _GARBAGE),
        (3, _INF, _NAN_, _GARBAGE),
        (_INF, 0.5, _INF, "skip: never ends"),
        (-1, 0.5, _NAN_, "skip: never ends"),
        (_NAN_, 0.5, _NAN_, "skip: never ends"),
    ),
    "generalized_negative_binomial": (
        (0, 0.25, 0, ""),
        (-1, 0.25, 0, ""),
        (_NAN_, 0.25, _NAN_, _GARBAGE),
        (_INF, 0.25, _INF, _GARBAGE),
        (_INF, 0, _INF, _GARBAGE),
        (2, _INF, 0, _GARBAGE),
        (2, -1, _NAN_, "skip: never ends"),
        (2, _NAN_, _NAN_, "skip: never ends"),
    ),
}

for _name, _lists in _THREE.items():
    _op, _c = f"_sample_{_name}", _sampled(_name)
    _three = tuple(In(values=each) for each in _lists)
    for _dtype in ("float16", "float32", "float64"):
        _inputs = tuple(In(values=each, dtype=_dtype) for each in _lists)
        CASES.append(Case(_op, f"by-{_dtype}", _inputs, {"shape": (3000,)}, random=True, check=_c))
        CASES.append(Case(_op, f"in-{_dtype}", _three, {"shape": (30, 100), "dtype": _dtype}, random=True, check=_c))
    for _index, (*_values, _value, _oracle) in enumerate(_FIXED[_name]):
        CASES.append(
            Case(
                _op,
                f"fixed-{_index}",
                tuple(In(values=[each, each]) for each in _values),
                {"shape": (3,)},
                lambda *a, v=_value, **p: np.full((2, 3), v, "float32"),
                oracle=_oracle,
            )
        )
    for _dtype in ("int8", "uint8", "int32", "int64"):
        _inputs = tuple(In(values=each, dtype=_dtype) for each in ([3, 9], [1, 1] if _name[0] == "n" else [4, 16]))
        _inputs = _inputs[: len(_lists)]
        if _name == "negative_binomial":  # p is 1
            CASES.append(
                Case(_op, f"by-{_dtype}", _inputs, {"shape": 4}, lambda k, p, **s: np.zeros((2, 4), "float32"))
            )
        else:
            CASES.append(Case(_op, f"by-{_dtype}", _inputs, {"shape": (3000,)}, random=True, check=_c))
    CASES += [
        Case(_op, "one-each", _three, {}, random=True, check=_c),
        Case(_op, "shape-scalar", _three, {"shape": ()}, random=True, check=_c),
        Case(_op, "shape-int", _three, {"shape": 7}, random=True, check=_c),
        Case(_op, "two-axes", tuple(In(values=[each]) for each in _lists), {"shape": (2, 3)}, random=True, check=_c),
        Case(_op, "dtype-none", _three, {"shape": (7,), "dtype": None}, random=True, check=_c),
        Case(_op, "out", _three, {"dtype": "float64"}, random=True, check=_c, out=(((3,), "float64"),)),
        Case(
            _op,
            "no-distributions",
            tuple(In((0,)) for _ in _lists),
            {"shape": (3,)},
            lambda *a, **p: np.zeros((0, 3), "float32"),
            np_shape=True,
        ),
        Case(
            _op,
            "scalars",
            tuple(In(values=float(each[0])) for each in _lists),
            {"shape": (3,)},
            random=True,
            check=_c,
            np_shape=True,
        ),
        Case(_op, "bool", tuple(In((2,), "bool", "bool") for _ in _lists), {"shape": (3,)}, error=True),
        Case(_op, "zero-shape", _three, {"shape": (0,)}, error=True),
        Case(_op, "zero-shape-np", _three, {"shape": (0,)}, error=True, np_shape=True),
        Case(_op, "negative-shape", _three, {"shape": (-1,)}, error=True),
        Case(_op, "shape-none", _three, {"shape": None}, error=True),
        Case(_op, "int32", _three, {"dtype": "int32"}, error=True),
        Case(_op, "out-int32", _three, {}, out=(((3,), "int32"),), error=True),
        Case(_op, "out-other-dtype", _three, {"dtype": "float32"}, out=(((3,), "float64"),), error=True),
        Case(_op, "out-other-shape", _three, {}, out=(((3, 2), "float32"),), error=True),
        Case(_op, "no-input", (), {}, error=True),
        Case(_op, "unknown-parameter", _three, {"ctx": "cpu(0)"}, error=True),
    ]
    if len(_lists) == 2:
        CASES += [
            Case(_op, "two-dtypes", (_three[0], In(values=_lists[1], dtype="float64")), error=True),
            Case(_op, "two-lengths", (_three[0], In((2,))), error=True),
            Case(_op, "no-broadcast", (_three[0], In((1,))), error=True),
            Case(_op, "two-shapes", (_three[0], In((3, 1))), error=True),
            Case(_op, "one-input", (_three[0],), error=True),
        ]
