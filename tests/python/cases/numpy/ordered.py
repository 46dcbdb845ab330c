"""Percentiles and different elements, of 1.9's NumPy operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._case import In
from .more import _OTHER, error, row

CASES: list = []


def _row(*given: Any, **more: Any) -> None:
    CASES.append(row(*given, **more))


def _error(*given: Any, **more: Any) -> None:
    CASES.append(error(*given, **more))


def _percentile(a, *q, axis=None, interpolation="linear", keepdims=0, q_scalar=None):
    at = q[0] if q else q_scalar
    return np.percentile(a.astype("float64"), at, axis, method=interpolation, keepdims=bool(keepdims)).astype("float32")


for _how in ("linear", "lower", "higher", "midpoint", "nearest"):
    _row(
        "_npi_percentile",
        _how,
        (In((3, 5), domain="distinct"),),
        {"axis": "(1,)", "q_scalar": 40, "interpolation": _how},
        _percentile,
        oracle="forward: 1.9.1 has no gradient",
    )
_row(
    "_npi_percentile",
    "gradient",
    (In((3, 5), domain="distinct"),),
    {"axis": "(1,)", "q_scalar": 30},
    order=2,
    diff=(0,),
    function=lambda a, axis, q_scalar: np.percentile(a.astype("float64"), q_scalar, axis),
    oracle="forward: 1.9.1 has no gradient",
)
_row("_npi_percentile", "several", (In((2, 3, 2)), In(values=[10.0, 50.0, 99.0])), {"axis": "(0, 2)"}, _percentile)
_row("_npi_percentile", "all", (In((2, 3)),), {"q_scalar": 30, "keepdims": 1}, _percentile)
_row("_npi_percentile", "special-numbers", (In(values=[1.0, 2.0, 3e38]),), {"q_scalar": 50}, _percentile)
_row("_npi_percentile", "0-axes", (In(()),), {"q_scalar": 50}, _percentile, oracle=_OTHER)
_row("_npi_percentile", "none", (In((2, 3)), In((0,))), {"axis": "(0,)"}, _percentile)
_error("_npi_percentile", "range", (In((2,)),), {"q_scalar": 101}, oracle="skip: the process ends")


def _unique(x, return_index=0, return_inverse=0, return_counts=0, axis=None):
    found = np.unique(x, True, True, True, axis)
    wanted = (True, return_index, return_inverse, return_counts)
    chosen = tuple(np.asarray(part).ravel() if i else part for i, part in enumerate(found) if wanted[i])
    return chosen if len(chosen) > 1 else chosen[0]


_row(
    "_npi_unique",
    "all",
    (In(values=[3, 1, 2, 1, 3]),),
    {"return_index": "True", "return_inverse": "True", "return_counts": "True"},
    _unique,
)
_row("_npi_unique", "values", (In((40,), "int32", ("int", 0, 9)),), {}, _unique)
_row("_npi_unique", "rows", (In(values=[[1, 2], [1, 2], [0, 5]]),), {"axis": 0, "return_inverse": "True"}, _unique)
_row("_npi_unique", "columns", (In(values=[[2, 1, 2], [3, 0, 3]]),), {"axis": 1}, _unique)
_row("_npi_unique", "special-numbers", (In(values=[np.inf, 1, -np.inf, 1, np.inf]),), {}, _unique)
_row("_npi_unique", "empty", (In((0,)),), {}, _unique)
_row("_npi_unique", "0-axes", (In(()),), {}, _unique)
_error("_npi_unique", "axis", (In((2,)),), {"axis": 3})
