"""Probability densities and logarithms of them, with derivatives by parameters and, of continuous ones, the sample."""

from __future__ import annotations

import math

import numpy as np

from .._case import Case, In

CASES: list = []
#: The gradients of these go through the digamma function.
_FLOAT32 = "forward: digamma in float32"
#: 1.9.1 computes in the arrays' dtype.
_CLOSE = {"float32": (1e-4, 1e-5), "float16": (2e-2, 2e-3)}


def _log_gamma_of(x: float) -> float:
    if math.isnan(x) or math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.nan if math.isnan(x) else math.inf
    return math.lgamma(x)


_log_gamma = np.vectorize(_log_gamma_of, otypes=["float64"])


def _uniform(x, low, high):
    return -np.log(high - low)


def _normal(x, mu, sigma):
    return -((x - mu) ** 2) / (2 * sigma**2) - np.log(sigma * np.sqrt(2 * np.pi))


def _gamma(x, alpha, beta):
    return alpha * np.log(beta) + (alpha - 1) * np.log(x) - beta * x - _log_gamma(alpha)


def _exponential(x, lam):
    return np.log(lam) - lam * x


def _poisson(x, lam):
    return x * np.log(lam) - lam - _log_gamma(x + 1)


def _negative_binomial(x, k, p):
    return _log_gamma(x + k) - _log_gamma(x + 1) - _log_gamma(k) + k * np.log(p) + x * np.log1p(-p)


def _generalized_negative_binomial(x, mu, alpha):
    p = 1 / (1 + mu * alpha)
    return _negative_binomial(x, 1 / alpha, p)


def _of(formula, density=None):
    """The operator as a NumPy function: the parameters' axes come before the sample's further ones.

    `formula`: the logarithm; `density`: what it is the logarithm of, where that may be negative.
    """

    def forward(x, *params, is_log=False):
        wide = [np.asarray(each, "float64") for each in params]
        wide = [each.reshape(each.shape + (1,) * (x.ndim - each.ndim)) for each in wide]
        if density is not None and not is_log:
            result = density(x.astype("float64"), *wide)
        else:
            result = formula(x.astype("float64"), *wide)
            result = result if is_log else np.exp(result)
        return np.broadcast_to(result, x.shape).astype(x.dtype)

    return forward


#: These are below 0 for parameters that are no distribution's; their logarithms are NaN then.
_SIGNED = {
    "uniform": lambda x, low, high: 1 / (high - low),
    "normal": lambda x, mu, sigma: np.exp(-((x - mu) ** 2) / (2 * sigma**2)) / (sigma * np.sqrt(2 * np.pi)),
    "exponential": lambda x, lam: lam * np.exp(-lam * x),
}

#: What 1.9.1 does in float32 for float64 arrays too.
_FLOAT64 = dict.fromkeys(("gamma", "negative_binomial", "generalized_negative_binomial"), _FLOAT32)
_FLOAT64["normal"] = "differs: pi is a float32"
_ODD = (math.nan, math.inf, -math.inf, 0.0, 1e30)

#: operator, formula, sample (three rows), parameters (three), positions differentiated, odd parameters
_FAMILY = (
    (
        "uniform",
        _uniform,
        [[0.5, 1.5], [-1.0, 3.0], [0.25, 2.0]],
        ([0.0, -1.5, 0.25], [2.0, 3.5, 2.75]),
        (0, 1, 2),
        ((0, 0), (0, -1), (math.nan, 2), (0, math.nan), (math.inf, 2), (0, math.inf)),
    ),
    (
        "normal",
        _normal,
        [[0.5, 1.5], [-1.0, 3.0], [0.25, 2.0]],
        ([1.0, -1.5, 0.25], [2.0, 0.75, 1.5]),
        (0, 1, 2),
        ((1, -1), (math.nan, 2), (1, math.nan), (math.inf, 2), (1, math.inf)),
    ),
    (
        "gamma",
        _gamma,
        [[0.5, 1.5], [1.0, 3.0], [0.25, 2.0]],
        ([2.0, 0.5, 1.25], [3.0, 0.75, 1.5]),
        (0, 1, 2),
        ((0, 3), (2, 0), (-1, 3), (2, -1), (math.nan, 3), (2, math.nan), (math.inf, 3), (2, math.inf), (1, 3)),
    ),
    (
        "exponential",
        _exponential,
        [[0.5, 1.5], [-1.0, 3.0], [0.25, 0.0]],
        ([2.0, 0.5, 1.25],),
        (0, 1),
        ((0,), (-1,), (math.nan,), (1,)),
    ),
    (
        "poisson",
        _poisson,
        [[0.0, 1.0], [2.0, 2.5], [7.0, 4.0]],
        ([2.0, 0.5, 3.25],),
        (1,),
        ((0,), (-1,), (math.nan,), (math.inf,), (1,)),
    ),
    (
        "negative_binomial",
        _negative_binomial,
        [[0.0, 1.0], [2.0, 2.5], [7.0, 4.0]],
        ([3.0, 0.5, 2.25], [0.4, 0.75, 0.125]),
        (1, 2),
        ((0, 0.4), (3, 0), (-1, 0.4), (3, -1), (math.nan, 0.4), (3, math.nan), (3, math.inf), (1, 0.4), (3, 1)),
    ),
    (
        "generalized_negative_binomial",
        _generalized_negative_binomial,
        [[0.0, 1.0], [2.0, 2.5], [7.0, 4.0]],
        ([2.0, 0.5, 3.25], [0.3, 1.75, 0.5]),
        (1, 2),
        ((0, 0.3), (2, 0), (-1, 0.3), (2, -1), (math.nan, 0.3), (2, math.nan), (math.inf, 0.3), (2, math.inf), (2, 1)),
    ),
)

for _name, _formula, _sample, _params, _diff, _odd in _FAMILY:
    _op = f"_random_pdf_{_name}"
    _f = _of(_formula, _SIGNED.get(_name))
    _three = tuple(In(values=each) for each in _params)
    _one = tuple(In(values=each[:1]) for each in _params)
    for _label, _log in (("values", {}), ("log", {"is_log": True})):
        CASES += [
            Case(_op, _label, (In(values=_sample), *_three), _log, _f, order=2, diff=_diff, tolerance=_CLOSE),
            Case(
                _op,
                f"{_label}-one-each",
                (In(values=[row[1] for row in _sample]), *_three),
                _log,
                _f,
                order=1,
                diff=_diff,
                tolerance=_CLOSE,
            ),
            Case(
                _op,
                f"{_label}-three-axes",
                (In(values=[_sample]), *_one),
                _log,
                _f,
                order=2,
                diff=_diff,
                tolerance=_CLOSE,
            ),
            Case(
                _op,
                f"{_label}-two-and-one",
                (In(values=[_sample]), *(In(values=[each]) for each in _params)),
                _log,
                _f,
                order=1,
                diff=_diff,
                tolerance=_CLOSE,
            ),
        ]
        for _dtype in ("float16", "float64"):
            CASES.append(
                Case(
                    _op,
                    f"{_label}-{_dtype}",
                    (In(values=_sample, dtype=_dtype), *(In(values=each, dtype=_dtype) for each in _params)),
                    _log,
                    _f,
                    diff=_diff,
                    tolerance=_CLOSE,
                    oracle=_FLOAT64.get(_name, "") if _dtype == "float64" else "",
                )
            )
        for _position, _values in enumerate(_odd):
            _inputs = (In(values=[_sample[0] + _sample[2]]), *(In(values=[each]) for each in _values))
            CASES.append(Case(_op, f"{_label}-odd-{_position}", _inputs, _log, _f, tolerance=_CLOSE))
        CASES.append(Case(_op, f"{_label}-odd-sample", (In(values=[_ODD]), *_one), _log, _f, tolerance=_CLOSE))
    _none = "skip: ends the process (SIGFPE) for some of them"
    CASES += [
        Case(_op, "no-samples", (In((3, 0)), *_three), {}, _f, np_shape=True, oracle=_none),
        Case(_op, "no-distributions", (In((0, 2)), *(In((0,)) for _ in _params)), {}, _f, np_shape=True, oracle=_none),
        Case(
            _op,
            "scalar-parameters",
            (In(values=[0.5, 1.0]), *(In(values=each[0]) for each in _params)),
            {},
            _f,
            np_shape=True,
            oracle="differs: refused",
            tolerance=_CLOSE,
        ),
        Case(
            _op,
            "int32",
            (In((3, 2), "int32", ("int", 1, 3)), *(In((3,), "int32", ("int", 1, 3)) for _ in _params)),
            error=True,
        ),
        Case(_op, "bool", (In((3, 2), "bool", "bool"), *(In((3,), "bool", "bool") for _ in _params)), error=True),
        Case(_op, "two-dtypes", (In(values=_sample, dtype="float64"), *_three), error=True),
        Case(_op, "other-rows", (In((2, 3)), *_three), error=True),
        Case(_op, "more-axes", (In((3,)), *(In((3, 1)) for _ in _params)), error=True),
        Case(_op, "one-for-all", (In((3, 2)), *(In((1,)) for _ in _params)), error=True),
        Case(_op, "no-parameters", (In((3, 2)),), error=True),
        Case(_op, "unknown-parameter", (In(values=_sample), *_three), {"foo": 1}, error=True),
        Case(_op, "malformed-is-log", (In(values=_sample), *_three), {"is_log": "x"}, error=True),
    ]
    if len(_params) == 2:
        CASES.append(Case(_op, "two-shapes", (In(values=_sample), _three[0], In(values=[_params[1]])), error=True))
        CASES.append(Case(_op, "two-lengths", (In(values=_sample), _three[0], _one[1]), error=True))
        CASES.append(
            Case(
                _op,
                "two-dtypes-last",
                (In(values=_sample), _three[0], In(values=_params[1], dtype="float64")),
                error=True,
            )
        )


def _dirichlet(x, alpha, is_log=False):
    a = np.asarray(alpha, "float64")
    a = a.reshape(a.shape[:-1] + (1,) * (x.ndim - a.ndim) + a.shape[-1:])
    result = ((a - 1) * np.log(x.astype("float64")) - _log_gamma(a)).sum(-1) + _log_gamma(a.sum(-1))
    result = np.atleast_1d(result if is_log else np.exp(result))
    return result.reshape(x.shape[:-1] or (1,)).astype(x.dtype)


_ROWS = [[0.25, 0.25, 0.5], [0.125, 0.125, 0.75]]
_ALPHA = [[1.0, 2.0, 3.0], [3.0, 2.5, 0.5]]
_OP = "_random_pdf_dirichlet"
for _label, _log in (("values", {}), ("log", {"is_log": True})):
    for _kind, _sample, _alpha, _order in (
        ("", _ROWS, _ALPHA, 2),
        ("-one-row", _ROWS[0], _ALPHA[1], 2),
        ("-one-set", _ROWS, _ALPHA[1], 2),
        ("-three-axes", [_ROWS, _ROWS], _ALPHA, 2),
        ("-four-axes", [[_ROWS, _ROWS]], _ALPHA[:1], 1),
        ("-one-part", [[0.5], [1.0]], [2.5], 1),
    ):
        _inputs = (In(values=_sample), In(values=_alpha))
        CASES.append(
            Case(_OP, f"{_label}{_kind}", _inputs, _log, _dirichlet, order=_order, diff=(0, 1), tolerance=_CLOSE)
        )
    for _dtype in ("float16", "float64"):
        _inputs = (In(values=_ROWS, dtype=_dtype), In(values=_ALPHA, dtype=_dtype))
        _why = _FLOAT32 if _dtype == "float64" else ""
        CASES.append(
            Case(_OP, f"{_label}-{_dtype}", _inputs, _log, _dirichlet, diff=(0, 1), tolerance=_CLOSE, oracle=_why)
        )
    for _position, _alpha in enumerate(([1, 2, 3], [1, 0, -1], [1, math.nan, 1])):
        _inputs = (In(values=[[0.25, 0.25, 0.75], [0, 0.125, 0.75], [-0.125, 0.125, 1]]), In(values=_alpha))
        CASES.append(Case(_OP, f"{_label}-odd-{_position}", _inputs, _log, _dirichlet, tolerance=_CLOSE))
CASES += [
    Case(
        _OP,
        "no-rows",
        (In((0, 3)), In((3,))),
        {},
        lambda x, a: np.zeros(0, "float32"),
        np_shape=True,
        oracle="skip: ends the process (SIGFPE)",
    ),
    Case(
        _OP,
        "no-parts",
        (In((2, 0)), In((0,))),
        {},
        lambda x, a: np.full(2, np.inf, "float32"),
        np_shape=True,
        oracle="skip: ends the process (SIGFPE)",
    ),
    Case(_OP, "int32", (In((2, 3), "int32", ("int", 1, 3)), In((3,), "int32", ("int", 1, 3))), error=True),
    Case(_OP, "two-dtypes", (In(values=_ROWS), In(values=_ALPHA, dtype="float64")), error=True),
    Case(_OP, "other-parts", (In(values=_ROWS), In(values=[1, 2])), error=True),
    Case(_OP, "other-sets", (In(values=_ROWS), In(values=_ALPHA[:1])), error=True),
    Case(_OP, "more-axes", (In(values=_ROWS[0]), In(values=_ALPHA)), error=True),
    Case(_OP, "scalars", (In(values=1.0), In(values=1.0)), np_shape=True, error=True),
    Case(_OP, "no-alpha", (In(values=_ROWS),), error=True),
    Case(_OP, "unknown-parameter", (In(values=_ROWS), In(values=_ALPHA)), {"foo": 1}, error=True),
    Case(_OP, "malformed-is-log", (In(values=_ROWS), In(values=_ALPHA)), {"is_log": "x"}, error=True),
]
