"""Variance and normalisation as functions of mxlite.torch have them: operators that 1.9.1 has not."""

from __future__ import annotations

import numpy as np

from ._case import Case, In
from .own import _FLOATS, _SPECIAL, CASES, _refuses

# ---- variance ----


def _variance(x, axis=None, keepdims=False, correction=1, root=False):
    function = np.std if root else np.var
    with np.errstate(all="ignore"):
        found = function(x.astype(np.float64), axis, ddof=correction, keepdims=keepdims)
    return np.reshape(found, np.shape(found) or (1,)).astype(x.dtype)  # no axes: as sum in this front end


_op = "_mxl_variance"
for _root in (False, True):
    _some: dict = {"order": 2, "diff": (0,), "tolerance": {"float16": (2e-3, 2e-3), "float32": (1e-5, 1e-5)}}
    for _axis in (None, 0, (0, 2), -1):
        _params = {"root": _root, "correction": 0.5} if _axis is None else {"root": _root, "axis": _axis}
        CASES.append(Case(_op, f"axis{_axis}-{_root}", (In((3, 5, 4)),), _params, _variance, **_some))
    CASES += [
        Case(_op, f"kept-{_root}", (In((3, 7)),), {"axis": 1, "keepdims": True, "root": _root}, _variance, **_some),
        Case(_op, f"equal-{_root}", (In(values=[[0.1] * 7] * 2),), {"axis": 1, "root": _root}, _variance),
        Case(_op, f"one-{_root}", (In((3, 1)),), {"axis": 1, "root": _root}, _variance),
        Case(_op, f"more-{_root}", (In((3,)),), {"correction": 5, "root": _root}, _variance),
        Case(_op, f"special-{_root}", (In(values=[_SPECIAL, [3.0] * 8]),), {"axis": 1, "root": _root}, _variance),
        Case(_op, f"empty-{_root}", (In((2, 0)),), {"axis": 1, "root": _root}, _variance, np_shape=True),
        Case(_op, f"far-{_root}", (In(values=[1e4, 1e4 + 1, 1e4 + 3]),), {"root": _root}, _variance, **_some),
    ]
    CASES += [
        Case(_op, f"{_dtype}-{_root}", (In((40, 70), _dtype),), {"axis": 0, "root": _root}, _variance, **_some)
        for _dtype in _FLOATS
    ]
CASES.append(Case(_op, "large", (In(values=[1e30, -1e30, 2e30]),), {"root": True}, _variance))
_refuses(_op, integers=((In((3,), "int32", ("int", 0, 5)),),), axis=((In((3,)),), {"axis": 1}))

# ---- normalisation ----


def _normalise(x, *others, over="last", count=1, eps=1e-5, scaled=False, shifted=False, given=False):
    y = x.astype(np.float64)
    axes = {"last": range(x.ndim - count, x.ndim), "others": (0, *range(2, x.ndim)), "rest": range(2, x.ndim)}[over]
    shape = x.shape[x.ndim - count :] if over == "last" else (-1,) + (1,) * (x.ndim - 2)
    mean, variance = y.mean(tuple(axes), keepdims=True), y.var(tuple(axes), keepdims=True)
    if given:
        mean, variance = (each.reshape(shape) for each in others[-2:])
    y = (y - mean) / np.sqrt(variance + eps)
    y = y * others[0].reshape(shape) if scaled else y
    return (y + others[int(scaled)].reshape(shape) if shifted else y).astype(x.dtype)


_op = "_mxl_normalise"
_near = {"float32": (5e-5, 2e-5), "float64": (1e-10, 1e-11), "float16": (1e-2, 2e-2)}


def _add(label: str, shape: tuple, size: tuple, params: dict, dtype: str = "float32", orders: int = 2) -> None:
    """Rows with weight and bias, one of them, or none; with given statistics where these are of channels."""
    for flags in ("none", "scaled", "shifted", "both", *("given",) * (params.get("over") == "others")):
        on = {"scaled": flags in ("scaled", "both", "given"), "shifted": flags in ("shifted", "both", "given")}
        inputs = (In(shape, dtype), *(In(size, dtype, "away"),) * sum(on.values()))
        more = (In(size, dtype), In(size, dtype, "positive")) if flags == "given" else ()
        given = {**params, **on, **({"given": True} if more else {})}
        diff = tuple(range(len(inputs)))
        CASES.append(
            Case(_op, f"{label}-{flags}", (*inputs, *more), given, _normalise, order=orders, diff=diff, tolerance=_near)
        )


_add("last", (5, 8), (8,), {})
_add("last-two", (3, 4, 5), (4, 5), {"count": 2, "eps": 0.1})
_add("all", (3, 4), (3, 4), {"count": 2})
_add("channels", (4, 3, 5), (3,), {"over": "others"})
_add("batch", (7, 3), (3,), {"over": "others"})
_add("image", (2, 3, 4, 5), (3,), {"over": "others"})
_add("wide", (3, 2, 37), (2,), {"over": "others"})
_add("rest", (2, 3, 4, 2), (3,), {"over": "rest"})
for _dtype in _FLOATS:
    _add(_dtype, (6, 40), (40,), {}, _dtype, orders=0)
    _add(f"{_dtype}-channels", (6, 4, 9), (4,), {"over": "others"}, _dtype, orders=0)
CASES += [
    Case(_op, "no-rows", (In((0, 3)),), {}, _normalise, np_shape=True),
    Case(_op, "no-columns", (In((3, 0)),), {}, lambda x, **_: x, np_shape=True),
    Case(_op, "long", (In((3, 4999)), In((4999,))), {"scaled": True}, _normalise, tolerance=_near),
]
_refuses(
    _op,
    axes=((In((3,)),), {"over": "others"}),
    count=((In((3,)),), {"count": 2}),
    no_axes=((In(()),), {}),
    none_counted=((In((3,)),), {"count": 0}),
    integers=((In((3,), "int32", ("int", 0, 5)),), {}),
    factors=((In((2, 3)), In((2,))), {"scaled": True}),
    another_dtype=((In((2, 3)), In((3,), "float64")), {"scaled": True}),
    too_few=((In((2, 3)),), {"scaled": True}),
    statistics=((In((2, 3)), In((3,)), In((3,))), {"given": True}),
)
