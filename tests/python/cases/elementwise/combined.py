"""Functions of several arrays and a number, and a number where a mask holds."""

from __future__ import annotations

from typing import Callable

import numpy as np

from .._case import Case, In

CASES: list = []
INTERNAL: list = []

_LOOSE = {"float16": (5e-3, 5e-3), "float32": (2e-5, 2e-6), "float64": (1e-12, 1e-12)}


def _add_scaled(a, b, value=1.0, subtract=False):
    return (a + (-value if subtract else value) * b.astype(a.dtype)).astype(a.dtype)


def _addcmul(x, a, b, value=1.0):
    return (x + value * (a * b)).astype(x.dtype)


def _addcdiv(x, a, b, value=1.0):
    return (x + value * a / b).astype(x.dtype)


def _lerp(a, b, weight=1.0):
    return (a + weight * (b - a)).astype(a.dtype)


def _masked_fill(x, mask, value):
    return np.where(mask, np.array(value, x.dtype), x)


#: Operator -> NumPy's function, the number of arrays, the parameter, the domain of the last array.
_ROWS: dict[str, tuple[Callable, int, str, str]] = {
    "_mxl_add_scaled": (_add_scaled, 2, "value", "real"),
    "_mxl_addcmul": (_addcmul, 3, "value", "real"),
    "_mxl_addcdiv": (_addcdiv, 3, "value", "away"),
    "_mxl_lerp": (_lerp, 2, "weight", "real"),
}
for _op, (_function, _count, _name, _last) in _ROWS.items():

    def _add(label: str, *shapes: tuple, op=_op, function=_function, last=_last, order=0, dtype="float32", **given):
        inputs = tuple(In(shape, dtype, last if i == len(shapes) - 1 else "real") for i, shape in enumerate(shapes))
        np_shape = any(0 in shape or not shape for shape in shapes)
        INTERNAL.append(Case(op, label, inputs, given, function, order=order, diff=tuple(range(len(inputs))),
                             tolerance=_LOOSE, np_shape=np_shape))  # fmt: skip

    for _dtype in ("float16", "float32", "float64"):
        _add(_dtype, *((3, 4),) * _count, order=2 * (_dtype != "float16"), dtype=_dtype, **{_name: 0.3})
    _add("default", *((3, 4),) * _count, order=1)
    _add("negative", *((3, 4),) * _count, order=1, **{_name: -1.5})
    _add("zero", *((3, 4),) * _count, **{_name: 0})
    _add("broadcast", *((3, 4), (4,), (2, 1, 1))[:_count], order=1, **{_name: 2.0})
    _add("no-axes", *((),) * _count, **{_name: 2.0})
    _add("no-elements", *((0, 3),) * _count, **{_name: 2.0})
    _add("long", *((1031,),) * _count, **{_name: 0.7})
    for _label, _inputs in (
        ("shapes", (In((2, 3)),) * (_count - 1) + (In((2, 2)),)),
        ("dtypes", (In((2, 3)),) * (_count - 1) + (In((2, 3), "float64"),)),
        ("input-missing", (In((2, 3)),) * (_count - 1)),
    ):
        INTERNAL.append(Case(_op, f"error-{_label}", _inputs, {}, error=True))
INTERNAL += [
    Case("_mxl_add_scaled", "subtract", (In((2, 3)), In((2, 3))), {"value": 0.5, "subtract": True}, _add_scaled,
         order=2, diff=(0, 1)),
    Case("_mxl_add_scaled", "integers", (In((5,), "int64", ("int", -9, 9)),) * 2, {"value": -3}, _add_scaled),
]  # fmt: skip

_op = "_mxl_masked_fill"
_mask = In((3, 4), "bool", "bool")
for _dtype in ("uint8", "int32", "int64", "float16", "float32", "float64", "bool"):
    _domain = "bool" if _dtype == "bool" else ("int", 0, 9) if "int" in _dtype else "real"
    INTERNAL.append(Case(_op, _dtype, (In((3, 4), _dtype, _domain), _mask), {"value": 1}, _masked_fill))
for _label, _shapes in (("same", ((3, 4), (3, 4))), ("row", ((3, 4), (4,))), ("larger", ((4,), (3, 4))),
                        ("column", ((2, 3, 4), (3, 1))), ("one", ((3, 4), (1, 1)))):  # fmt: skip
    INTERNAL.append(Case(_op, _label, (In(_shapes[0]), In(_shapes[1], "bool", "bool")), {"value": -3.5},
                         _masked_fill, order=2, diff=(0,)))  # fmt: skip
INTERNAL += [
    Case(_op, "infinite", (In((9,)), In((9,), "bool", "bool")), {"value": -np.inf}, _masked_fill),
    Case(_op, "nan", (In((1031,)), In((1031,), "bool", "bool")), {"value": np.nan}, _masked_fill),
    Case(_op, "no-axes", (In(()), In((), "bool", "bool")), {"value": 2}, _masked_fill, np_shape=True),
    Case(_op, "no-elements", (In((0, 4)), In((4,), "bool", "bool")), {"value": 2}, _masked_fill, np_shape=True),
    Case(_op, "error-dtype", (In((3, 4)), In((3, 4), "uint8", ("int", 0, 1))), {"value": 2}, error=True),
    Case(_op, "error-shapes", (In((3, 4)), In((3,), "bool", "bool")), {"value": 2}, error=True),
    Case(_op, "error-no-value", (In((3, 4)), _mask), {}, error=True),
]


def _softplus(x, beta=1.0, threshold=20.0):
    wide = x.astype(np.float64)
    return np.where(beta * wide > threshold, wide, np.log1p(np.exp(beta * wide)) / beta).astype(x.dtype)


_op = "_mxl_softplus"
for _dtype in ("float16", "float32", "float64"):
    for _label, _given in (("default", {}), ("sharp", {"beta": 3.0}), ("cut", {"beta": 0.5, "threshold": 0.25})):
        INTERNAL.append(Case(_op, f"{_label}-{_dtype}", (In((3, 4), _dtype, "away"),), _given, _softplus,
                             order=2 * (_dtype == "float64"), diff=(0,), tolerance=_LOOSE))  # fmt: skip
INTERNAL += [
    Case(_op, "long", (In((1031,)),), {"beta": 2.0}, _softplus, order=1, diff=(0,), tolerance=_LOOSE),
    Case(_op, "no-axes", (In(()),), {}, _softplus, np_shape=True, tolerance=_LOOSE),
    Case(_op, "no-elements", (In((0, 3)),), {}, _softplus, np_shape=True),
    Case(_op, "error-dtype", (In((3,), "int32", ("int", 0, 3)),), {}, error=True),
]
