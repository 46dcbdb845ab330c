"""What training loops ask of several gradients at once: whether they are finite, sums of squares, rates of LARS."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []

# ---- all_finite, multi_all_finite ----


def _finite(*arrays, num_arrays=1, init_output=True):
    return np.array([all(np.isfinite(array).all() for array in arrays)], "float32")


_BAD = {"nan": np.nan, "infinite": np.inf, "negative-infinite": -np.inf}
for _dtype in ("float16", "float32", "float64"):
    _edges = In(dtype=_dtype, values=[float(np.finfo(_dtype).max), -1.0, float(np.finfo(_dtype).tiny)])
    _narrow = "differs: 1.9.1 asks whether it is finite in float32" if _dtype == "float64" else ""
    CASES += [
        Case("all_finite", _dtype, (In((3, 4), _dtype),), {}, _finite),
        Case("all_finite", f"edges-{_dtype}", (_edges,), {}, _finite, oracle=_narrow),
        Case("multi_all_finite", _dtype, (In((3, 4), _dtype), In((5,), _dtype)), {"num_arrays": 2}, _finite),
        Case("multi_all_finite", f"edges-{_dtype}", (In((5,), _dtype), _edges), {"num_arrays": 2}, _finite,
             oracle=_narrow),
    ]  # fmt: skip
    for _label, _value in _BAD.items():
        for _at in (0, 40, 1036):
            _values = np.ones(1037)
            _values[_at] = _value
            _one, _two = In(dtype=_dtype, values=_values), In((7,), _dtype)
            _name = f"special-{_label}-{_at}-{_dtype}"
            CASES.append(Case("all_finite", _name, (_one,), {}, _finite))
            CASES.append(Case("multi_all_finite", _name, (_two, _one, _two), {"num_arrays": 3}, _finite))
_long = np.ones(70001)
_long[65000] = np.nan
_nan = In(dtype="float32", values=[np.nan])
for _op, _params in (("all_finite", {}), ("multi_all_finite", {"num_arrays": 1})):
    CASES += [
        Case(_op, "long", (In((70001,)),), _params, _finite),
        Case(_op, "long-nan", (In(dtype="float32", values=_long),), _params, _finite),
        Case(_op, "empty", (In((0,)),), _params, _finite, np_shape=True),
        Case(_op, "0-axes", (In(()),), _params, _finite, np_shape=True),
        Case(_op, "out", (In((3,)),), _params, _finite, out=(((1,), "float32"),)),
        Case(_op, "joined", (In((3,)),), {**_params, "init_output": False}, lambda x, **params: np.zeros(1, "float32"),
             out=(((1,), "float32"),)),
        Case(_op, "joined-nan", (_nan,), {**_params, "init_output": False}, _finite, out=(((1,), "float32"),)),
        Case(_op, "int32", (In((3,), "int32", ("int", 0, 9)),), _params, error=True),
        Case(_op, "malformed", (In((3,)),), {**_params, "init_output": "x"}, error=True),
        Case(_op, "unknown-parameter", (In((3,)),), {**_params, "foo": 1}, error=True),
        Case(_op, "no-input", (), _params, error=True),
        Case(_op, "input-too-many", (In((3,)), In((3,))), _params, error=True),
        Case(_op, "out-of-two", (In((3,)),), _params, out=(((2,), "float32"),), error=True),
    ]  # fmt: skip
CASES += [
    Case("multi_all_finite", "mixed", (In((3,)), In((3,), "float16")), {"num_arrays": 2}, error=True),
    Case("multi_all_finite", "some-empty", (In((0,)), In((3,)), In((2, 0))), {"num_arrays": 3}, _finite, np_shape=True),
]

# ---- multi_sum_sq ----


def _squares(*arrays, num_arrays):
    return np.array([(array.astype("float64") ** 2).sum() for array in arrays], "float32")


_NO_AXES = "differs: 1.9.1 refuses arrays of no axes"
_LATER = "differs: 1.9.1 says so when the array is read"
_op = "multi_sum_sq"
for _dtype in ("float16", "float32", "float64"):
    _inputs = tuple(In(shape, _dtype) for shape in ((3, 4), (5,), (1, 2, 1), (1037,), (9001,)))
    _why = "differs: 1.9.1 rounds squares to float16" if _dtype == "float16" else ""
    CASES.append(Case(_op, _dtype, _inputs, {"num_arrays": 5}, _squares, tolerance={"float32": (3e-5, 0)}, oracle=_why))
CASES += [
    Case(_op, "one", (In((3,)),), {"num_arrays": 1}, _squares),
    Case(_op, "out", (In((3,)), In((2,))), {"num_arrays": 2}, _squares, out=(((2,), "float32"),)),
    Case(_op, "some-empty", (In((0,)), In((3,)), In((2, 0))), {"num_arrays": 3}, _squares, np_shape=True),
    Case(_op, "0-axes", (In(()), In((3,))), {"num_arrays": 2}, _squares, np_shape=True, oracle=_NO_AXES),
    Case(_op, "special-numbers", (_nan, In(dtype="float32", values=[np.inf, 1]), In(dtype="float32", values=[1e20, 0]),
         In(dtype="float32", values=[-np.inf, np.nan])), {"num_arrays": 4}, _squares),
    Case(_op, "no-number", (In((3,)),), {}, error=True),
    Case(_op, "number-too-small", (In((3,)), In((2,))), {"num_arrays": 1}, error=True),
    Case(_op, "number-too-large", (In((3,)), In((2,))), {"num_arrays": 3}, error=True),
    Case(_op, "no-arrays", (), {"num_arrays": 0}, error=True, oracle="skip: it crashes"),
    Case(_op, "int32", (In((3,), "int32", ("int", 0, 9)),), {"num_arrays": 1}, error=True),
    Case(_op, "mixed", (In((3,)), In((3,), "float16")), {"num_arrays": 2}, error=True),
    Case(_op, "unknown-parameter", (In((3,)),), {"num_arrays": 1, "foo": 1}, error=True),
]  # fmt: skip

# ---- reset_arrays ----


def _zeros(*arrays, num_arrays):
    return tuple(np.zeros_like(array) for array in arrays)


_op = "reset_arrays"
for _dtype in ("float16", "float32", "float64"):
    _inputs = tuple(In(shape, _dtype) for shape in ((3, 4), (5,), (1037,)))
    CASES.append(Case(_op, _dtype, _inputs, {"num_arrays": 3}, _zeros, mutates=(0, 1, 2)))
CASES += [
    Case(_op, "one", (In((3,)),), {"num_arrays": 1}, _zeros, mutates=(0,)),
    Case(_op, "mixed", (In((3,)), In((3,), "float16"), In((2,), "float64")), {"num_arrays": 3}, _zeros,
         mutates=(0, 1, 2)),
    Case(_op, "long", (In((70001,)), In((3,))), {"num_arrays": 2}, _zeros, mutates=(0, 1)),
    Case(_op, "some-empty", (In((0,)), In((3,))), {"num_arrays": 2}, _zeros, mutates=(0, 1), np_shape=True),
    Case(_op, "0-axes", (In(()), In((3,))), {"num_arrays": 2}, _zeros, mutates=(0, 1), np_shape=True,
         oracle=_NO_AXES),
    Case(_op, "special-numbers", (In(dtype="float32", values=[np.nan, -0.0, np.inf]),), {"num_arrays": 1}, _zeros,
         mutates=(0,)),
    Case(_op, "no-number", (In((3,)),), {}, error=True),
    Case(_op, "number-too-small", (In((3,)), In((2,))), {"num_arrays": 1}, error=True),
    Case(_op, "number-too-large", (In((3,)), In((2,))), {"num_arrays": 3}, error=True),
    Case(_op, "int32", (In((3,), "int32", ("int", 1, 9)),), {"num_arrays": 1}, error=True, oracle=_LATER),
    Case(_op, "int32-second", (In((3,)), In((3,), "int32", ("int", 1, 9))), {"num_arrays": 2}, error=True,
         oracle=_LATER),
    Case(_op, "unknown-parameter", (In((3,)),), {"num_arrays": 1, "foo": 1}, error=True),
]  # fmt: skip

# ---- multi_lars ----


def _lars(lrs, weights, grads, wds, eta, eps, rescale_grad=1.0):
    lrs, weights, grads, wds = (array.astype("float64") for array in (lrs, weights, grads, wds))
    w, g = np.sqrt(weights), np.sqrt(grads) * rescale_grad
    rates = np.where((w > 0) & (g > 0), lrs * eta * w / (g + wds * w + eps), lrs)
    return rates.astype("float32")


_op, _given = "multi_lars", {"eta": 0.5, "eps": 0.01}
_some = tuple(In((7,), "float32", "positive") for _ in range(4))
_ends = [0.0, 1.0, 0.0, np.nan, 1.0, np.inf, 1.0, 2.0]
CASES += [
    Case(_op, "plain", _some, _given, _lars),
    Case(_op, "rescale", _some, {**_given, "rescale_grad": 0.25}, _lars),
    Case(_op, "long", tuple(In((1037,), "float32", "positive") for _ in range(4)), _given, _lars),
    Case(_op, "two-axes", tuple(In((3, 2), "float32", "positive") for _ in range(4)), _given, _lars),
    Case(_op, "special-numbers", (In((8,), "float32", "positive"), In(dtype="float32", values=_ends),
         In(dtype="float32", values=[1.0, *_ends[:-1]]), In((8,), "float32", "positive")), _given, _lars),
    Case(_op, "empty", tuple(In((0,)) for _ in range(4)), _given, _lars, np_shape=True),
    Case(_op, "0-axes", tuple(In((), "float32", "positive") for _ in range(4)), _given, _lars, np_shape=True),
    Case(_op, "out", _some, _given, _lars, out=(((7,), "float32"),)),
    Case(_op, "no-eta", _some, {"eps": 0.01}, error=True),
    Case(_op, "no-eps", _some, {"eta": 0.5}, error=True),
    Case(_op, "shapes-differ", (*_some[:3], In((3,))), _given, error=True),
    Case(_op, "float64", tuple(each.like("float64") for each in _some), _given, error=True),
    Case(_op, "float16", tuple(each.like("float16") for each in _some), _given, error=True),
    Case(_op, "mixed", (*_some[:3], _some[3].like("float64")), _given, error=True),
    Case(_op, "three-inputs", _some[:3], _given, error=True),
]  # fmt: skip
