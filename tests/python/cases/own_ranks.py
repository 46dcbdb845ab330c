"""Positions by order, sets, scatter_reduce, QR and LU of mxlite.torch and mx.np: operators that 1.9.1 has not."""

from __future__ import annotations

import numpy as np

from ._case import Case, In
from .own import _APART, _DOWN, _FLOATS, _INTEGERS, _ROWS, _SPECIAL, _crop, _places, _refuses
from .own_functions import CASES

_ALL = {**_INTEGERS, **dict.fromkeys(_FLOATS, "real")}

# ---- searches ----


def _search(rows, values, right=False, nan_below=False):
    count = int(np.prod(values.shape[:-1]))
    lines = np.broadcast_to(rows, (*values.shape[:-1], rows.shape[-1])).reshape(count, rows.shape[-1])
    side = "right" if right else "left"
    found = [np.searchsorted(row, line, side) for row, line in zip(lines, values.reshape(len(lines), -1))]
    return np.array(found, np.int64).reshape(values.shape)


_steps = [-3, -1, -1, 0, 2, 2, 2, 7]
for _dtype in _ALL:
    _row = [abs(each) for each in _steps[3:]] if _dtype == "uint8" else _steps
    for _right in (False, True):
        _given = (In(dtype=_dtype, values=_row), In((3, 5), _dtype, ("int", 0, 9)))
        CASES.append(Case("_mxl_searchsorted", f"{_dtype}-{_right}", _given, {"right": _right}, _search))
_rising = [[0.0, 1, 2], [-1, -1, 5]]
_numbers = In(dtype="float64", values=[-np.inf, -0.0, 0.0, np.inf, np.nan, 3.0])
_behind = In(dtype="float64", values=[-1.0, 0.0, 3.0, np.nan, np.nan])
CASES += [
    Case("_mxl_searchsorted", "rows", (In(values=_rising), In((2, 4))), {}, _search),
    Case("_mxl_searchsorted", "long", (In(values=np.arange(1500.0)), In((1037,))), {}, _search),
    Case("_mxl_searchsorted", "special", (_behind, _numbers), {}, _search),
    Case("_mxl_searchsorted", "special-right", (_behind, _numbers), {"right": True}, _search),
    Case(
        "_mxl_searchsorted",
        "nan-below",
        (_behind, _numbers),
        {"nan_below": True},
        lambda *_, **__: np.array([0, 1, 1, 5, 5, 2], np.int64),
    ),
    Case("_mxl_searchsorted", "empty-row", (In((0,)), In((2, 3))), {}, _search, np_shape=True),
    Case("_mxl_searchsorted", "no-values", (In((3,)), In((2, 0))), {}, _search, np_shape=True),
    Case(
        "_mxl_searchsorted",
        "extremes",
        (In(dtype="int64", values=[-(2**63), 0, 2**63 - 1]), In(dtype="int64", values=[-(2**63), 2**63 - 1, 1])),
        {"right": True},
        _search,
    ),
]
_refuses(
    "_mxl_searchsorted",
    dtypes=((In((3,)), In((3,), "float64")),),
    rows=((In((2, 3)), In((3, 3))),),
    number=((In(()), In((3,))),),
)


def _isin(x, others):
    return np.isin(x, others)


for _dtype, _domain in {**dict.fromkeys(_ALL, ("int", 0, 9)), "bool": "bool"}.items():
    CASES.append(Case("_mxl_isin", _dtype, (In((4, 5), _dtype, _domain), In((2, 2), _dtype, _domain)), {}, _isin))
CASES += [
    Case("_mxl_isin", "special", (In(values=_SPECIAL), In(values=[np.nan, -np.inf, 0.0])), {}, _isin),
    Case("_mxl_isin", "long", (In((1037,)), In((77,))), {}, _isin),
    Case("_mxl_isin", "none", (In((3,)), In((0,))), {}, _isin, np_shape=True),
    Case("_mxl_isin", "empty", (In((0, 3)), In((2,))), {}, _isin, np_shape=True),
    Case("_mxl_isin", "large", tuple(In(dtype="int64", values=[2**63 - 1, each]) for each in (5, 6)), {}, _isin),
]
_refuses("_mxl_isin", dtypes=((In((3,)), In((3,), "float64")),))

# ---- along an axis ----


def _along(x, axis, of):
    rows = np.moveaxis(x, axis, -1)
    found = np.array([of(row) for row in rows.reshape(-1, rows.shape[-1])], np.int64)
    return np.moveaxis(found.reshape(*rows.shape[:-1], -1), -1, axis)


def _most(row):
    values, counts = np.unique(row, return_counts=True, equal_nan=False)
    wanted = values[np.argmax(counts)]
    return [np.flatnonzero((row == wanted) | ((wanted != wanted) & (row != row)))[-1]]


def _mode(x, axis=-1):
    return _along(x, axis, _most)


def _running(x, axis=-1, largest=False):
    def of(row):
        best, found = 0, []
        for k, each in enumerate(row):
            if each != each or (row[best] == row[best] and (each >= row[best] if largest else each <= row[best])):
                best = k
            found.append(best)
        return found

    return _along(x, axis, of)


for _dtype, _domain in {**dict.fromkeys(_ALL, ("int", 0, 3)), "bool": "bool"}.items():
    for _axis in (0, 1, -1):
        _given = (In((3, 6, 5), _dtype, _domain),)
        CASES.append(Case("_mxl_mode", f"{_dtype}-{_axis}", _given, {"axis": _axis}, _mode))
        for _largest in (False, True):
            _params = {"axis": _axis, "largest": _largest}
            CASES.append(Case("_mxl_running_place", f"{_dtype}-{_axis}-{_largest}", _given, _params, _running))
_nans = In(values=[[1.0, 3, np.nan, 5, np.nan, 0], [2, 2, -np.inf, np.inf, np.inf, -0.0], [0.0, -0.0, 0, 1, 1, 1]])
CASES += [
    Case("_mxl_mode", "special", (In(values=[[1.0, 3, np.nan, 3, np.nan, 0], [2, 2, 1, 1, 0, -0.0]]),), {}, _mode),
    Case("_mxl_mode", "long", (In((3, 1037), "int32", ("int", 0, 40)),), {}, _mode),
    Case("_mxl_running_place", "special", (_nans,), {}, _running),
    Case("_mxl_running_place", "special-largest", (_nans,), {"largest": True}, _running),
    Case("_mxl_running_place", "long", (In((1037, 2)),), {"axis": 0, "largest": True}, _running),
    Case("_mxl_running_place", "empty", (In((2, 0)),), {}, lambda x, **_: x.astype(np.int64), np_shape=True),
    Case("_mxl_mode", "no-rows", (In((0, 3)),), {}, lambda x, **_: np.zeros((0, 1), np.int64), np_shape=True),
]
_refuses("_mxl_mode", axis=((In((2, 3)),), {"axis": 2}), empty=((In((2, 0)),), {}), no_axes=((In(()),), {}))
_refuses("_mxl_running_place", axis=((In((2, 3)),), {"axis": -3}), no_axes=((In(()),), {}))


def _log_sums(x, axis=-1):
    return np.logaddexp.accumulate(x.astype(np.float64), axis).astype(x.dtype)


for _dtype in _FLOATS:
    for _axis in (0, 1):
        _given = (In((3, 6, 5), _dtype),)
        CASES.append(Case("_mxl_logcumsumexp", f"{_dtype}-{_axis}", _given, {"axis": _axis}, _log_sums))
_ends = [[-np.inf, -np.inf, 0.0, 800.0, -800.0], [np.inf, 1.0, -np.inf, np.nan, 0.0], [1e3, 1e3, 1e3, -1e3, 0.0]]
CASES += [
    Case("_mxl_logcumsumexp", "special", (In(dtype="float64", values=_ends),), {}, _log_sums),
    Case("_mxl_logcumsumexp", "empty", (In((2, 0)),), {}, lambda x, **_: x, np_shape=True),
]
_refuses("_mxl_logcumsumexp", integers=((In((3,), "int32", ("int", 0, 5)),), {}), no_axes=((In(()),), {}))

# ---- scatter_reduce ----

_REDUCE = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def _reduced(x, index, source, axis, reduce, include_self=True):
    made, where = x.copy(), _places(x.shape, index, axis)
    if not include_self:
        kind = np.iinfo(x.dtype) if x.dtype.kind in "iu" else None
        ends = (kind.min, kind.max) if kind else (False, True) if x.dtype.kind == "b" else (-np.inf, np.inf)
        made[where] = {"prod": 1, "amax": ends[0], "amin": ends[1]}[reduce]
    _REDUCE[reduce].at(made, where, _crop(source, index.shape))
    return made


for _name in _REDUCE:
    for _dtype, _domain in {**_ALL, "bool": "bool"}.items():
        for _self in (True, False):
            _given = (In((4, 5), _dtype, _domain), _DOWN, In((3, 4), _dtype, _domain))
            _params = {"axis": 0, "reduce": _name, "include_self": _self}
            CASES.append(Case("_mxl_scatter_reduce", f"{_name}-{_dtype}-{_self}", _given, _params, _reduced))
    _params = {"axis": 1, "reduce": _name}
    _nan = In(values=[[np.nan, 1, np.inf, -np.inf], [0.0, -0.0, 2, np.nan], [1, 1, 1, 1]])
    CASES += [
        Case("_mxl_scatter_reduce", f"{_name}-rows", (In((3, 5)), _ROWS, In((4, 6))), _params, _reduced),
        Case("_mxl_scatter_reduce", f"{_name}-special", (In((3, 4)), _ROWS, _nan), _params, _reduced),
    ]
_none = In((0, 3), "int64", ("int", 0, 1))
_once = {"axis": 0, "reduce": "prod"}
_given = (In((2, 3)), _none, In((0, 3)))
CASES.append(Case("_mxl_scatter_reduce", "none", _given, _once, lambda x, *_, **__: x, np_shape=True))
_refuses(
    "_mxl_scatter_reduce",
    outside=((In((2, 3)), In(dtype="int64", values=[[2]]), In((2, 3))), _once),
    below=((In((2, 3)), In(dtype="int64", values=[[-1]]), In((2, 3))), _once),
    dtypes=((In((2, 3)), _APART, In((2, 3), "float64")), _once),
    indices=((In((2, 3)), In((2, 3), "int32", ("int", 0, 1)), In((2, 3))), _once),
    source=((In((2, 3)), _APART, In((2, 2))), _once),
    reduce=((In((2, 3)), _APART, In((2, 3))), {"axis": 0, "reduce": "mean"}),
)

# ---- factors ----


def _qr(a, complete=False):
    return tuple(np.linalg.qr(a, "complete" if complete else "reduced"))


for _shape in ((3, 3), (5, 3), (2, 4, 2), (1, 1), (40, 33)):
    _label, _some = "x".join(map(str, _shape)), {} if len(_shape) == 2 and _shape[0] > 5 else {"order": 2, "diff": (0,)}
    _loose = {"float64": (1e-10, 1e-11), "float32": (1e-4, 1e-5)}
    CASES += [
        Case("_mxl_qr", _label, (In(_shape, "float64"),), {}, _qr, tolerance=_loose, **_some),
        Case("_mxl_qr", f"complete-{_label}", (In(_shape),), {"complete": True}, _qr, tolerance=_loose),
    ]
CASES += [
    Case("_mxl_qr", "zeros", (In(dtype="float64", values=np.zeros((3, 2))),), {}, _qr),
    Case("_mxl_qr", "no-columns", (In((3, 0)),), {"complete": True}, _qr, np_shape=True),
]
_refuses("_mxl_qr", wide=((In((2, 3)),),), vector=((In((3,)),),), integers=((In((3, 3), "int32", ("int", 0, 5)),),))


def _lu(a):
    found, pivots = a.astype(np.float64), []
    made = []
    for whole in found.reshape(-1, *a.shape[-2:]):
        rows = []
        for k in range(min(whole.shape)):
            best = k + int(np.argmax(np.abs(whole[k:, k])))
            whole[[k, best]] = whole[[best, k]]
            rows.append(best + 1)
            if whole[k, k] != 0:
                whole[k + 1 :, k] /= whole[k, k]
                whole[k + 1 :, k + 1 :] -= np.outer(whole[k + 1 :, k], whole[k, k + 1 :])
        made.append(whole)
        pivots.append(rows)
    least = min(a.shape[-2:])
    return np.array(made).reshape(a.shape).astype(a.dtype), np.array(pivots, np.int32).reshape(*a.shape[:-2], least)


for _shape in ((3, 3), (5, 3), (3, 5), (2, 4, 4), (1, 1), (40, 33)):
    for _dtype in ("float64", "float32"):
        _near = {"float64": (1e-9, 1e-10), "float32": (1e-3, 1e-4)}
        _label = f"{'x'.join(map(str, _shape))}-{_dtype}"
        CASES.append(Case("_mxl_lu", _label, (In(_shape, _dtype),), {}, _lu, tolerance=_near))
CASES.append(Case("_mxl_lu", "singular", (In(values=[[0.0, 0, 1], [0, 0, 2], [0, 3, 4]]),), {}, _lu))
CASES.append(Case("_mxl_lu", "empty", (In((0, 2, 2)),), {}, _lu, np_shape=True))
_refuses("_mxl_lu", vector=((In((3,)),),))


def _order(pivots, rows):
    order = np.tile(np.arange(rows, dtype=np.int64), (*pivots.shape[:-1], 1))
    for line, swaps in zip(order.reshape(-1, rows), pivots.reshape(-1, pivots.shape[-1])):
        for k, place in enumerate(swaps - 1):
            line[[k, place]] = line[[place, k]]
    return order


_pivots = In(dtype="int32", values=[[3, 2, 3], [1, 5, 5]])
CASES.append(Case("_mxl_pivot_order", "two", (_pivots,), {"rows": 5}, _order))
_empty = In((0, 2), "int32", ("int", 1, 2))
CASES.append(Case("_mxl_pivot_order", "empty", (_empty,), {"rows": 3}, _order, np_shape=True))
_refuses("_mxl_pivot_order", few=((_pivots,), {"rows": 4}), zero=((In(dtype="int32", values=[0, 1]),), {"rows": 2}))
