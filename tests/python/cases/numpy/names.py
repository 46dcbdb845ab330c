"""Operators of 1.9.1's NumPy arrays that are another operator here, by another name (their aliases).

A row is the first of that operator, under the other name, or has integers of every width.
"""

from __future__ import annotations

from dataclasses import replace

from .._case import Case, In
from .._others import first

CASES: list = []

_UNARY = """
    arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees exp expm1 fix floor log log10 log1p log2
    negative radians reciprocal rint sign sin sinh sqrt square tan tanh trunc
""".split()
_SAME = {f"_npi_{name}": name for name in _UNARY}
_SAME |= {"_npi_abs": "abs", "_npi_absolute": "abs", "_npx_relu": "relu", "_npx_sigmoid": "sigmoid"}
_SCALAR = {"add": "plus", "subtract": "minus", "rsubtract": "rminus", "multiply": "mul", "mod": "mod", "rmod": "rmod"}
_SCALAR |= {"power": "power", "rpower": "rpower"}
_SCALARS = {f"_npi_{name}_scalar": f"_{ours}_scalar" for name, ours in _SCALAR.items()}
_OTHERS = {"_npi_hypot": "broadcast_hypot", "_np_copy": "_copy", "_npi_stack": "stack"}
_OTHERS |= {"_npi_ones": "_ones", "_npi_zeros": "_zeros"}


def _add(op: str, label: str, inputs: tuple, params: dict | None = None, **more) -> None:
    CASES.append(Case(op, label, inputs, params or {}, defined=True, **more))


for _op, _ours in {**_SAME, **_SCALARS, **_OTHERS}.items():
    CASES.append(replace(first(_ours, lambda case: case.forward is not None and not case.oracle), op=_op, label="same"))
for _op in _SAME:
    for _dtype in ("int32", "int64", "int8", "uint8", "bool"):
        # 1.9.1 computes integers by way of floating point, whatever the function is.
        _add(_op, _dtype, (In(dtype=_dtype, values=[1, 2, 5, 100]),), error=_dtype == "bool")
    _add(_op, "0-axes", (In((), "float32", "unit"),), diff=(0,), np_shape=True)
    _add(_op, "empty", (In((0, 3)),), np_shape=True)
for _op in _SCALARS:
    for _dtype in ("int32", "int8", "bool"):
        for _number, _is_int in ((2, 1), (2.5, 0), (2.5, 1)):
            _params = {"scalar": _number, "is_int": _is_int}
            _add(_op, f"{_dtype}-{_number}-{_is_int}", (In(dtype=_dtype, values=[1, 0, 5]),), _params)
    _add(_op, "0-axes", (In((), "float32", "positive"),), {"scalar": 3}, diff=(0,), np_shape=True)
for _op in ("_npi_zeros", "_npi_ones"):
    _add(_op, "0-axes", (), {"shape": "()"}, np_shape=True)
    _add(_op, "empty", (), {"shape": "(0, 2)", "dtype": "int64"}, np_shape=True)
    _add(_op, "bool", (), {"shape": "(2,)", "dtype": "bool"})
