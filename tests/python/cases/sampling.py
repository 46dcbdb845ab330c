"""Random arrays by parameters that are numbers (`_random_*`, `_random_*_like`) or arrays (`_sample_*`), random
categories, and shuffled rows: moments, ranges and sets. Tests of fit are in test_random_fit.py."""

from __future__ import annotations

import math

import numpy as np

from ._case import Case, In

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
            Case(_op, "ctx", (), {"shape": (3,), "ctx": "cpu(0)"}, random=True, check=_c),
            Case(_op, "out", (), {"shape": (3,)}, random=True, check=_c, out=(((3,), "float32"),)),
            Case(_op, "empty", (), {"shape": (0, 3)}, random=True, check=_c, np_shape=True),
            Case(_op, "scalar", (), {"shape": ()}, random=True, check=_c, np_shape=True),
            Case(_op, "no-shape", (), {}, error=True),
            Case(_op, "empty-legacy", (), {"shape": (0,)}, error=True),
            Case(_op, "int32", (), {"shape": (3,), "dtype": "int32"}, error=True),
            Case(_op, "out-wrong-shape", (), {"shape": (2,)}, out=(((3,), "float32"),), error=True),
            Case(_op, "one-input", (In((2,)),), {"shape": (2,)}, error=True),
            Case(_op, "unknown-parameter", (), {"shape": (2,), "foo": 1}, error=True),
            Case(_op, "malformed-ctx", (), {"shape": (2,), "ctx": "bad"}, error=True),
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

# ---- categories ----


def _categories(outputs, inputs, params) -> str:
    data, x = inputs[0].astype("float64"), outputs[0]
    shape = params.get("shape") or ()
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    wanted = (data.shape[:-1] + shape or (1,), params.get("dtype", "int32"))
    if (x.shape, x.dtype.name) != wanted:
        return f"{x.dtype}{x.shape}, not {wanted}"
    rows, drawn = data.reshape(-1, data.shape[-1]), x.astype("int64").reshape(int(np.prod(data.shape[:-1])), -1)
    for probabilities, row in zip(rows, drawn):
        if row.min() < 0 or row.max() >= len(probabilities) or not probabilities[row].all():
            return "an impossible category"
        shares = np.bincount(row, minlength=len(probabilities)) / row.size
        if row.size >= 1000 and np.abs(shares - probabilities).max() > 5 * 0.5 / row.size**0.5:
            return f"shares are {shares}, not {probabilities}"
    if not params.get("get_prob"):
        return ""
    logs = outputs[1]
    if (logs.shape, logs.dtype) != (x.shape, inputs[0].dtype):
        return f"logarithms are {logs.dtype}{logs.shape}"
    exact = np.log(np.take_along_axis(rows, drawn, 1)).reshape(x.shape)
    return "" if np.allclose(logs.astype("float64"), exact, rtol=1e-3, atol=1e-3) else "wrong logarithms"


def _of_last(data, **params):
    """Where every row's last possible category is certain."""
    shape = params.get("shape", ())
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    best = (data.shape[-1] - 1) - np.argmax(data[..., ::-1] > 0, -1)
    chosen = np.take_along_axis(data, best[..., None], -1)[..., 0]
    full = data.shape[:-1] + shape or (1,)
    wide = best.shape + (1,) * len(shape)
    x = np.broadcast_to(best.reshape(wide), full).astype(params.get("dtype", "int32"))
    if not params.get("get_prob"):
        return x
    return x, np.broadcast_to(np.log(chosen.astype("float64")).reshape(wide), full).astype(data.dtype)


_OP = "_sample_multinomial"
_HALVES = In(values=[0.25, 0.5, 0.0, 0.25])
_TWO = In(values=[[0.25, 0.5, 0.0, 0.25], [0.0, 0.0, 0.125, 0.875]])
_SURE = In(values=[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
for _label, _input, _params in (
    ("row", _HALVES, {"shape": 4000}),
    ("rows", _TWO, {"shape": (40, 100), "get_prob": True}),
    ("three-axes", In(values=[[_TWO.values[0]], [_TWO.values[1]]]), {"shape": 2000, "get_prob": True}),
    ("one-number", _HALVES, {}),
    ("one-of-rows", _TWO, {"get_prob": True}),
    ("few", _TWO, {"shape": (7,), "get_prob": True}),
    ("eight", _TWO, {"shape": (8,), "get_prob": True}),
    ("many-rows", In(values=[[0.25, 0.75]] * 3000), {}),
    ("float64-data", In(values=_TWO.values, dtype="float64"), {"shape": 10, "get_prob": True}),
    ("float16-data", In(values=_TWO.values, dtype="float16"), {"shape": 10, "get_prob": True}),
    *(
        (f"in-{_dtype}", _TWO, {"shape": 40, "dtype": _dtype, "get_prob": True})
        for _dtype in ("float16", "float32", "float64", "uint8", "int32")
    ),
    ("most-uint8", In(values=[1 / 256] * 256), {"shape": 100, "dtype": "uint8"}),
):
    CASES.append(Case(_OP, _label, (_input,), _params, random=True, check=_categories))
CASES += [
    Case(_OP, "sure", (_SURE,), {"shape": 3}, _of_last),
    Case(_OP, "sure-prob", (_SURE,), {"shape": 3, "get_prob": True}, _of_last),
    Case(_OP, "sure-many", (_SURE,), {"shape": 20, "get_prob": True}, _of_last),
    Case(_OP, "shape-none", (In(values=[0.0, 1.0]),), {"shape": None}, lambda data, **p: np.ones(1, "int32")),
    Case(
        _OP,
        "one-category",
        (In(values=[[1.5], [2.0], [1.0], [3.5]]),),
        {"shape": 3, "get_prob": True, "dtype": "float64"},
        _of_last,
        order=2,
        diff=(0,),
    ),
    Case(
        _OP,
        "one-category-many",
        (In(values=[[1.5], [2.0]]),),
        {"shape": (2, 5), "get_prob": True, "dtype": "float64"},
        _of_last,
        order=2,
        diff=(0,),
    ),
    Case(
        _OP,
        "one-category-one",
        (In(values=[1.5]),),
        {"get_prob": True, "dtype": "float64"},
        _of_last,
        order=2,
        diff=(0,),
    ),
    Case(
        _OP,
        "above-one",
        (In(values=[5.0, 5.0]),),
        {"shape": 9, "get_prob": True},
        lambda data, **p: (np.zeros(9, "int32"), np.full(9, np.log(5), "float32")),
    ),
    Case(_OP, "above-one-few", (In(values=[5.0, 5.0]),), {"shape": 3}, lambda data, **p: np.zeros(3, "int32")),
    Case(_OP, "negative", (In(values=[-1.0, 2.0]),), {"shape": 9}, lambda data, **p: np.ones(9, "int32")),
    Case(_OP, "nan", (In(values=[math.nan, 0.5]),), {"shape": 9}, lambda data, **p: np.zeros(9, "int32")),
    Case(_OP, "nan-few", (In(values=[math.nan, 0.5]),), {"shape": 3}, lambda data, **p: np.zeros(3, "int32")),
    Case(
        _OP,
        "zeros",
        (In(values=[0.0, 0.0]),),
        {"shape": 9, "get_prob": True},
        lambda data, **p: (np.ones(9, "int32"), np.full(9, -np.inf, "float32")),
        oracle="differs: a category that does not exist",
    ),
    Case(
        _OP,
        "short",
        (In(values=[0.0, 1e-30, 0.0]),),
        {"shape": 9},
        lambda data, **p: np.ones(9, "int32"),
        oracle="differs: a category that does not exist",
    ),
    Case(
        _OP,
        "short-few",
        (In(values=[0.0, 1e-30, 0.0]),),
        {"shape": 3},
        lambda data, **p: np.ones(3, "int32"),
        oracle="differs: a category that does not exist",
    ),
    Case(_OP, "no-numbers", (_SURE,), {"shape": (0,)}, lambda data, **p: np.zeros((2, 0), "int32"), np_shape=True),
    Case(
        _OP,
        "no-rows",
        (In((0, 2)),),
        {"shape": (3,)},
        lambda data, **p: np.zeros((0, 3), "int32"),
        np_shape=True,
        oracle="skip: ends the process (SIGFPE)",
    ),
    Case(
        _OP,
        "no-categories",
        (In((2, 0)),),
        {"shape": (3,)},
        error=True,
        np_shape=True,
        oracle="skip: ends the process (SIGFPE)",
    ),
    Case(_OP, "scalar", (In(()),), {"shape": (3,)}, error=True, np_shape=True),
    Case(_OP, "negative-shape", (_HALVES,), {"shape": (-1,)}, error=True),
    Case(_OP, "too-many-uint8", (In(values=[1 / 257] * 257),), {"dtype": "uint8"}, error=True, oracle="differs: wraps"),
    Case(
        _OP,
        "too-many-float16",
        (In(values=[1 / 2050] * 2050),),
        {"dtype": "float16"},
        error=True,
        oracle="differs: rounds",
    ),
    Case(_OP, "int32-data", (In((2,), "int32", ("int", 0, 1)),), error=True),
    Case(_OP, "bool-data", (In((2,), "bool", "bool"),), error=True),
    Case(_OP, "int64", (_HALVES,), {"dtype": "int64"}, error=True),
    Case(_OP, "dtype-none", (_HALVES,), {"dtype": None}, error=True),
    Case(_OP, "out-float32", (_HALVES,), {"shape": 5}, out=(((5,), "float32"),), error=True),
    Case(_OP, "out-other-shape", (_HALVES,), {}, out=(((5,), "int32"),), error=True),
    Case(_OP, "no-input", (), error=True),
    Case(_OP, "unknown-parameter", (_HALVES,), {"foo": 1}, error=True),
]


def _classes(outputs, inputs, params) -> str:
    x, tries = outputs
    rows, count = params["shape"]
    if (x.shape, tries.shape, x.dtype.name, tries.dtype.name) != ((rows, count), (rows,), "int64", "int64"):
        return f"{x.dtype}{x.shape}, {tries.dtype}{tries.shape}"
    if x.size and (x.min() < 0 or x.max() >= params["range_max"]):
        return "a class that does not exist"
    if any(len(set(row)) != count for row in x.tolist()):
        return "a class twice"
    return "" if (tries >= count).all() else "too few draws"


_OP = "_sample_unique_zipfian"
for _label, _most, _shape in (
    ("rows", 1000, (20, 30)),
    ("crowded", 40, (20, 30)),
    ("all", 12, (9, 12)),
    ("one", 2, (30, 1)),
    ("most", 2**31 - 1, (5, 100)),
):
    CASES.append(Case(_OP, _label, (), {"range_max": _most, "shape": _shape}, random=True, check=_classes))
CASES += [
    Case(
        _OP,
        "out",
        (),
        {"range_max": 100, "shape": (2, 3)},
        random=True,
        check=_classes,
        out=(((2, 3), "int64"), ((2,), "int64")),
    ),
    Case(
        _OP,
        "certain",
        (),
        {"range_max": 1, "shape": (2, 1)},
        lambda **p: (np.zeros((2, 1), "int64"), np.ones(2, "int64")),
    ),
    Case(_OP, "no-rows", (), {"range_max": 9, "shape": (0, 5)}, random=True, check=_classes, np_shape=True),
    Case(
        _OP,
        "no-classes",
        (),
        {"range_max": 9, "shape": (5, 0)},
        lambda **p: (np.zeros((5, 0), "int64"), np.zeros(5, "int64")),
        np_shape=True,
    ),
    Case(
        _OP,
        "no-range",
        (),
        {"range_max": 0, "shape": (5, 0)},
        lambda **p: (np.zeros((5, 0), "int64"), np.zeros(5, "int64")),
        np_shape=True,
    ),
    Case(_OP, "too-many", (), {"range_max": 10, "shape": (1, 11)}, error=True),
    Case(_OP, "range-zero", (), {"range_max": 0, "shape": (1, 1)}, error=True),
    Case(_OP, "range-negative", (), {"range_max": -5, "shape": (1, 1)}, error=True, oracle="differs: garbage"),
    Case(_OP, "range-large", (), {"range_max": 3 * 10**9, "shape": (1, 1)}, error=True),
    Case(_OP, "one-axis", (), {"range_max": 10, "shape": (5,)}, error=True),
    Case(_OP, "three-axes", (), {"range_max": 10, "shape": (1, 2, 3)}, error=True),
    Case(_OP, "negative-shape", (), {"range_max": 10, "shape": (-1, 5)}, error=True),
    Case(_OP, "no-shape", (), {"range_max": 10}, error=True),
    Case(_OP, "no-range-max", (), {"shape": (1, 5)}, error=True),
    Case(
        _OP, "out-int32", (), {"range_max": 10, "shape": (1, 5)}, out=(((1, 5), "int32"), ((1,), "int64")), error=True
    ),
    Case(_OP, "one-out", (), {"range_max": 10, "shape": (1, 5)}, out=(((1, 5), "int64"),), error=True),
    Case(_OP, "unknown-parameter", (), {"range_max": 10, "shape": (1, 5), "foo": 1}, error=True),
]

# ---- rows ----


def _shuffled(outputs, inputs, params) -> str:
    x, data = outputs[0], inputs[0]
    if (x.shape, x.dtype) != (data.shape, data.dtype):
        return f"{x.dtype}{x.shape}"
    if sorted(x.reshape(len(x), -1).tolist()) != sorted(data.reshape(len(x), -1).tolist()):
        return "other rows"
    return ""


_OP = "_shuffle"
for _dtype in ("float16", "float32", "float64", "int8", "uint8", "int32", "int64"):
    CASES.append(Case(_OP, _dtype, (In((100,), _dtype, ("int", 0, 100)),), random=True, check=_shuffled))
CASES += [
    Case(_OP, "bool", (In((9,), "bool", "bool"),), random=True, check=_shuffled),
    Case(_OP, "rows", (In((30, 2)),), random=True, check=_shuffled),
    Case(_OP, "three-axes", (In((20, 2, 3), "float64"),), random=True, check=_shuffled),
    Case(_OP, "out", (In((30, 2)),), random=True, check=_shuffled, out=(((30, 2), "float32"),)),
    Case(_OP, "one-row", (In((1, 5)),), {}, lambda x: x, order=2, diff=(0,), oracle="forward: no derivative"),
    Case(_OP, "one", (In((1,)),), {}, lambda x: x, order=2, diff=(0,), oracle="forward: no derivative"),
    Case(_OP, "same", (In(values=[[1, 2]] * 5),), {}, lambda x: x),
    Case(_OP, "no-rows", (In((0, 2)),), {}, lambda x: x, np_shape=True),
    Case(_OP, "empty-rows", (In((3, 0)),), {}, lambda x: x, np_shape=True),
    Case(_OP, "scalar", (In(()),), np_shape=True, error=True),
    Case(_OP, "out-other-dtype", (In((3,)),), out=(((3,), "float64"),), error=True),
    Case(_OP, "no-input", (), error=True),
    Case(_OP, "unknown-parameter", (In((3,)),), {"foo": 1}, error=True, oracle="differs: ignored"),
]
