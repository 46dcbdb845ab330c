"""sort, argsort, topk."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []


def _truth(value) -> bool:
    return value not in (False, 0, "0", "False")


def _rows(x: np.ndarray, axis) -> tuple:
    """The array with the axis to sort last, and how to bring a result's axes back."""
    if axis is None:
        return x.reshape(-1), lambda y: y
    return np.moveaxis(x, axis, -1), lambda y: np.moveaxis(y, -1, axis)


def _order(rows: np.ndarray, ascend: bool) -> np.ndarray:
    """Stable both ways; NaN counts as the largest."""
    if ascend:
        return np.argsort(rows, axis=-1, kind="stable")
    last = rows.shape[-1] - 1
    return last - np.argsort(rows[..., ::-1], axis=-1, kind="stable")[..., ::-1]


def _sort(x, axis=-1, is_ascend=True):
    rows, back = _rows(x, axis)
    return back(np.take_along_axis(rows, _order(rows, _truth(is_ascend)), -1))


def _argsort(x, axis=-1, is_ascend=True, dtype="float32"):
    rows, back = _rows(x, axis)
    return back(_order(rows, _truth(is_ascend))).astype(dtype)


def _topk(x, axis=-1, k=1, ret_typ="indices", is_ascend=False, dtype="float32"):
    rows, back = _rows(x, axis)
    order = _order(rows, _truth(is_ascend))[..., : k if k > 0 else rows.shape[-1]]
    if ret_typ == "mask":
        mask = np.zeros(rows.shape, x.dtype)
        np.put_along_axis(mask, order, 1, -1)
        return mask.reshape(x.shape) if axis is None else back(mask)
    values, indices = back(np.take_along_axis(rows, order, -1)), back(order).astype(dtype)
    return {"value": values, "indices": indices, "both": (values, indices)}[ret_typ]


_INTEGERS = {
    "uint8": ("int", 0, 255),
    "int8": ("int", -128, 127),
    "int32": ("int", -(10**9), 10**9),
    "int64": ("int", -(10**18), 10**18),
}
_TIES = [[3.0, 1, 3, 1, 2], [0, 0, 1, -1, 0]]
_NAN = (In(values=[2.0, np.nan, 1.0, -np.inf, np.inf, np.nan, 0.0, -3.0]),)
_NO_GRADIENT = "forward: 1.9.1's gradient fails where axis is not given"
_REFUSED = "differs: 1.9.1 refuses it"
_UNORDERED = "differs: a NaN is anywhere in 1.9.1"

for _op, _f in (("sort", _sort), ("argsort", _argsort)):
    _sorts = _op == "sort"
    for _label, _params in {
        "first": {"axis": 0},
        "middle": {"axis": 1},
        "last": {"axis": 2},
        "negative": {"axis": -2},
        "none": {"axis": None},
        "down": {"axis": -1, "is_ascend": False},
        "down-first": {"axis": 0, "is_ascend": 0},
        "down-none": {"axis": None, "is_ascend": "False"},
    }.items():
        CASES.append(Case(_op, _label, (In((3, 5, 4), domain="distinct"),), _params, _f, order=2 * _sorts, diff=(0,)))
    CASES += [
        Case(_op, "default", (In((3, 4), domain="distinct"),), {}, _f, order=2 * _sorts, diff=(0,),
             oracle=_NO_GRADIENT if _sorts else ""),
        Case(_op, "float64", (In((3, 70), "float64", "distinct"),), {"axis": 1}, _f, order=2 * _sorts, diff=(0,)),
        Case(_op, "float16", (In((3, 7), "float16", "distinct"),), {"axis": 1}, _f, order=2 * _sorts, diff=(0,),
             oracle=_REFUSED),
        Case(_op, "bool", (In((2, 5), "bool", "bool"),), {}, _f, oracle=_REFUSED),
        Case(_op, "one", (In((1,)),), {"axis": 0}, _f, order=2 * _sorts, diff=(0,)),
        Case(_op, "long", (In((1037,), domain="distinct"),), {"axis": 0}, _f, order=2 * _sorts, diff=(0,)),
        Case(_op, "long-down", (In((2, 1037), domain="distinct"),), {"is_ascend": 0, "axis": 1}, _f, diff=(0,)),
        Case(_op, "tall", (In((131, 3), domain="distinct"),), {"axis": 0}, _f, order=2 * _sorts, diff=(0,)),
        Case(_op, "ties", (In(values=_TIES),), {"axis": 1}, _f, diff=(0,), defined=True),
        Case(_op, "ties-down", (In(values=_TIES),), {"axis": 1, "is_ascend": 0}, _f,
             diff=(0,), defined=True),
        Case(_op, "nan", _NAN, {}, _f, oracle=_UNORDERED),
        Case(_op, "nan-down", _NAN, {"is_ascend": 0}, _f, oracle=_UNORDERED),
        Case(_op, "infinities", (In(values=[1.0, np.inf, -np.inf, 0.5]),), {}, _f),
        Case(_op, "empty-rows", (In((0, 3)),), {"axis": 1}, _f, diff=(0,), np_shape=True),
        Case(_op, "empty-row", (In((3, 0)),), {"axis": 1}, _f, diff=(0,), np_shape=True),
        Case(_op, "empty-none", (In((3, 0)),), {"axis": None}, _f, np_shape=True),
        Case(_op, "scalar", (In(()),), {"axis": None}, _f, np_shape=True),
        Case(_op, "scalar-axis", (In(()),), {"axis": 0}, error=True, np_shape=True),
        Case(_op, "axis-too-large", (In((2, 3)),), {"axis": 2}, error=True),
        Case(_op, "axis-too-small", (In((2, 3)),), {"axis": -3}, error=True),
        Case(_op, "malformed-axis", (In((2, 3)),), {"axis": "x"}, error=True),
        Case(_op, "malformed-order", (In((2, 3)),), {"is_ascend": 2}, error=True),
        Case(_op, "unknown-parameter", (In((2, 3)),), {"foo": 1}, error=True),
        Case(_op, "two-inputs", (In((2, 3)), In((2, 3))), {}, error=True),
    ]  # fmt: skip
    for _dtype, _domain in _INTEGERS.items():
        CASES.append(Case(_op, _dtype, (In((3, 5), _dtype, _domain),), {"axis": 1}, _f, diff=(0,)))
        CASES.append(Case(_op, f"{_dtype}-down", (In((3, 5), _dtype, _domain),), {"is_ascend": 0}, _f))
        if _sorts or _dtype.endswith(("2", "64")):
            CASES.append(Case(_op, f"{_dtype}-long", (In((2, 300), _dtype, _domain),), {}, _f))

for _dtype in ("float16", "float32", "float64", "int32", "int64", "uint8"):
    CASES.append(Case("argsort", f"to-{_dtype}", (In((3, 40), domain="distinct"),), {"dtype": _dtype}, _argsort))
    CASES.append(
        Case("topk", f"to-{_dtype}", (In((3, 40), domain="distinct"),),
             {"dtype": _dtype, "k": 3, "ret_typ": "both"}, _topk)
    )  # fmt: skip
CASES += [
    Case("argsort", "to-int8", (In((2, 3)),), {"dtype": "int8"}, error=True),
    Case("argsort", "to-uint8-long", (In((300,), domain="distinct"),), {"dtype": "uint8"}, _argsort),
    Case("argsort", "many-ties", (In((40,), "int32", ("int", 0, 1)),), {}, _argsort,
         oracle="differs: beyond 16 elements equal ones are in no order in 1.9.1"),
    Case("topk", "many-ties", (In((40,), "int32", ("int", 0, 1)),), {"k": 5}, _topk,
         oracle="differs: beyond 16 elements equal ones are in no order in 1.9.1"),
]  # fmt: skip

# ---- topk ----

for _kind in ("value", "indices", "mask", "both"):
    _order_of = 2 if _kind in ("value", "both") else 0
    _wide = {"ret_typ": _kind, "dtype": "float64"}
    for _label, _params in {
        "one": {"axis": 1},
        "two": {"axis": 1, "k": 2},
        "all": {"axis": 1, "k": 5},
        "zero": {"axis": 1, "k": 0},
        "below-zero": {"axis": 1, "k": -3},
        "first": {"axis": 0, "k": 2},
        "last": {"axis": 2, "k": 3},
        "negative": {"axis": -2, "k": 2},
        "none": {"axis": None, "k": 7},
        "none-few": {"axis": None, "k": 2},
        "none-all": {"axis": None, "k": 0},
        "up": {"axis": 1, "k": 2, "is_ascend": True},
        "up-none": {"axis": None, "k": 3, "is_ascend": 1},
    }.items():
        CASES.append(
            Case("topk", f"{_kind}-{_label}", (In((3, 5, 4), domain="distinct"),), {**_params, **_wide},
                 _topk, order=_order_of, diff=(0,))
        )  # fmt: skip
    CASES += [
        Case("topk", f"{_kind}-few-of-many", (In((2, 1037), domain="distinct"),), {"k": 9, **_wide, "axis": 1},
             _topk, order=_order_of, diff=(0,)),
        Case("topk", f"{_kind}-few-of-many-up", (In((401, 2), domain="distinct"),),
             {"k": 20, **_wide, "axis": 0, "is_ascend": 1}, _topk, order=_order_of, diff=(0,)),
        Case("topk", f"{_kind}-many-of-many", (In((2, 401), domain="distinct"),), {"k": 77, **_wide, "axis": 1},
             _topk, order=_order_of, diff=(0,)),
        Case("topk", f"{_kind}-ties", (In(values=_TIES),),
             {"k": 3, "ret_typ": _kind, "axis": 1}, _topk, diff=(0,), defined=True),
        Case("topk", f"{_kind}-nan", _NAN, {"k": 3, "ret_typ": _kind}, _topk, oracle=_UNORDERED),
        Case("topk", f"{_kind}-nan-up", _NAN, {"k": 7, "ret_typ": _kind, "is_ascend": 1}, _topk, oracle=_UNORDERED),
        Case("topk", f"{_kind}-float16", (In((3, 7), "float16", "distinct"),), {"k": 2, "ret_typ": _kind, "axis": 1},
             _topk, diff=(0,)),
        Case("topk", f"{_kind}-float64", (In((3, 70), "float64", "distinct"),), {"k": 2, "ret_typ": _kind, "axis": 1},
             _topk, diff=(0,)),
        Case("topk", f"{_kind}-bool", (In((2, 5), "bool", "bool"),), {"k": 2, "ret_typ": _kind}, _topk,
             oracle=_REFUSED),
        Case("topk", f"{_kind}-default", (In((3, 4), domain="distinct"),), {**_wide, "k": 2}, _topk,
             order=_order_of, diff=(0,), oracle="forward: 1.9.1's gradient fails where axis is not given"),
        Case("topk", f"{_kind}-empty-rows", (In((0, 3)),), {"axis": 1, "ret_typ": _kind, "k": 2}, _topk, diff=(0,),
             np_shape=True),
        Case("topk", f"{_kind}-empty-row", (In((3, 0)),), {"axis": 1, "ret_typ": _kind, "k": 0}, _topk, diff=(0,),
             np_shape=True),
        Case("topk", f"{_kind}-one-of-none", (In((3, 0)),), {"axis": 1, "ret_typ": _kind, "k": 1}, error=True,
             np_shape=True),
        Case("topk", f"{_kind}-scalar", (In(()),), {"axis": None, "ret_typ": _kind}, _topk, np_shape=True),
    ]  # fmt: skip
    for _dtype, _domain in _INTEGERS.items():
        CASES.append(
            Case("topk", f"{_kind}-{_dtype}", (In((3, 5), _dtype, _domain),), {"k": 2, "ret_typ": _kind, "axis": 1},
                 _topk)
        )  # fmt: skip

CASES += [
    Case("topk", "default", (In((3, 4), domain="distinct"),), {}, _topk),
    Case("topk", "to-uint8-long", (In((300,), domain="distinct"),), {"dtype": "uint8", "k": 290}, _topk),
    Case("topk", "k-too-large", (In((2, 3)),), {"k": 4}, error=True),
    Case("topk", "k-too-large-none", (In((2, 3)),), {"k": 7, "axis": None}, error=True),
    Case("topk", "axis-too-large", (In((2, 3)),), {"axis": 2}, error=True),
    Case("topk", "axis-too-small", (In((2, 3)),), {"axis": -3}, error=True),
    Case("topk", "scalar-axis", (In(()),), {"axis": -1}, error=True, np_shape=True),
    Case("topk", "malformed-k", (In((2, 3)),), {"k": "x"}, error=True),
    Case("topk", "malformed-result", (In((2, 3)),), {"ret_typ": "values"}, error=True),
    Case("topk", "to-bool", (In((2, 3)),), {"dtype": "bool"}, error=True),
    Case("topk", "unknown-parameter", (In((2, 3)),), {"foo": 1}, error=True),
]
