"""amp_cast and amp_multicast: casts between floating dtypes that leave integers alone."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []
_FLOATS = ("float16", "float32", "float64")
_INTEGERS = ("uint8", "int8", "int32", "int64")

# ---- amp_cast ----


def _cast(x, dtype):
    return x.astype(dtype) if x.dtype.kind == "f" else x


_op = "amp_cast"
_REFUSES = "differs: 1.9.1 hands them to oneDNN, which refuses the dtype"
_ROUNDS = "differs: 1.9.1 rounds, and Cast cuts"
for _from in _FLOATS:
    for _to in (*_FLOATS, *_INTEGERS):
        _values = In(
            dtype=_from, values=[0.0, 1.5, 2.75, 100.25] if _to == "uint8" else [-2.75, -0.5, 0.0, 1.5, 100.25]
        )
        _why = "" if _from == "float16" else _REFUSES if "64" in _from + _to else _ROUNDS if _to in _INTEGERS else ""
        CASES.append(Case(_op, f"{_from}-{_to}", (_values,), {"dtype": _to}, _cast, oracle=_why))
for _from in (*_INTEGERS, "bool"):
    _values = In((3, 4), _from, "bool" if _from == "bool" else ("int", 0, 9))
    _why = _REFUSES if _from in ("int64", "bool") else ""
    for _to in ("float16", "float64", "int32"):
        CASES.append(Case(_op, f"{_from}-{_to}", (_values,), {"dtype": _to}, _cast, oracle=_why))
_numbers = [0.0, -0.0, np.inf, -np.inf, np.nan, 65504.0, 1e-8, 1e30, -1e30]
CASES += [
    Case(_op, "gradient", (In((2, 3)),), {"dtype": "float64"}, _cast, order=2, diff=(0,), oracle=_REFUSES),
    Case(_op, "gradient-narrow", (In((2, 3)),), {"dtype": "float16"}, _cast, diff=(0,), defined=True),
    Case(_op, "special-narrow", (In(dtype="float32", values=_numbers),), {"dtype": "float16"}, _cast),
    Case(_op, "special-wide", (In(dtype="float16", values=_numbers),), {"dtype": "float32"}, _cast),
    Case(_op, "odd-length", (In((1037,)),), {"dtype": "float16"}, _cast),
    Case(_op, "empty", (In((0, 3)),), {"dtype": "float16"}, _cast, np_shape=True),
    Case(_op, "0-axes", (In(()),), {"dtype": "float16"}, _cast, np_shape=True),
    Case(_op, "out", (In((3,)),), {"dtype": "float16"}, _cast, out=(((3,), "float16"),)),
    Case(_op, "no-dtype", (In((3,)),), {}, error=True),
    Case(_op, "to-bool", (In((3,)),), {"dtype": "bool"}, error=True),
    Case(_op, "to-bfloat16-of-nothing", (), {"dtype": "float16"}, error=True),
    Case(_op, "two-inputs", (In((3,)), In((3,))), {"dtype": "float16"}, error=True),
    Case(_op, "unknown-parameter", (In((3,)),), {"dtype": "float16", "foo": 1}, error=True),
]

# ---- amp_multicast ----


def _multicast(*arrays, num_outputs, cast_narrow=False):
    among = [array.dtype.itemsize for array in arrays if array.dtype in ("float16", "float32")]
    size = (min if cast_narrow else max)(among, default=0)
    return tuple(a.astype(f"f{size}") if a.dtype in ("float16", "float32") else a for a in arrays)


_op = "amp_multicast"
_FIRST = "differs: 1.9.1 hands them to oneDNN, which refuses the dtype; else the first array's dtype decides"
for _label, _dtypes in {
    "widest": ("float16", "float32"),
    "widest-first": ("float32", "float16"),
    "all-float32": ("float32", "float32"),
    "all-float16": ("float16", "float16"),
    "float64": ("float16", "float64", "float32"),
    "float64-first": ("float64", "float16"),
    "int32": ("float16", "int32", "float32"),
    "int32-first": ("int32", "float16"),
    "int8": ("float32", "int8", "uint8"),
    "one": ("float32",),
}.items():
    _inputs = tuple(
        In((2, i + 1), dtype, "real" if "float" in dtype else ("int", 0, 9)) for i, dtype in enumerate(_dtypes)
    )
    _why = _FIRST if {"float16", "float64"} & set(_dtypes) else ""
    for _narrow in (False, True):
        CASES.append(
            Case(_op, f"{_label}-{'narrow' if _narrow else 'wide'}", _inputs,
                 {"num_outputs": len(_dtypes), "cast_narrow": _narrow}, _multicast, oracle=_why)
        )  # fmt: skip
_EMPTY = "differs: oneDNN refuses arrays of no elements or no axes"
_two = {"num_outputs": 2}
CASES += [
    Case(_op, "gradient", (In((2, 3)), In((4,))), _two, _multicast, order=2, diff=(0, 1)),
    Case(
        _op, "gradient-mixed", (In((2, 3), "float16"), In((4,))), _two, _multicast, order=1, diff=(0, 1), oracle=_FIRST
    ),
    Case(_op, "special-numbers", (In(dtype="float32", values=_numbers), In((2,))), _two, _multicast),
    Case(_op, "long", (In((1037,)), In((3,))), _two, _multicast),
    Case(_op, "some-empty", (In((0, 3)), In((3,))), _two, _multicast, np_shape=True, oracle=_EMPTY),
    Case(_op, "0-axes", (In(()), In((3,))), _two, _multicast, np_shape=True, oracle=_EMPTY),
    Case(_op, "out", (In((3,)), In((2,))), _two, _multicast, out=(((3,), "float32"), ((2,), "float32"))),
    Case(_op, "no-number", (In((3,)),), {}, error=True),
    Case(_op, "number-too-large", (In((3,)),), _two, error=True),
    Case(_op, "number-too-small", (In((3,)), In((3,)), In((3,))), _two, error=True),
    Case(_op, "no-arrays", (), {"num_outputs": 0}, error=True, oracle="skip: it crashes"),
    Case(_op, "malformed", (In((3,)),), {"num_outputs": 1, "cast_narrow": "x"}, error=True),
    Case(_op, "unknown-parameter", (In((3,)),), {"num_outputs": 1, "foo": 1}, error=True),
]
