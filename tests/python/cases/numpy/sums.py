"""Sums of products of NumPy arrays: einsum, tensordot."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .algebra import legacy_lacks

CASES: list = []


def _einsum(*arrays, num_args, subscripts, optimize=0):
    dtype = arrays[0].dtype
    if dtype.kind == "b":
        return np.asarray(np.einsum(subscripts, *(each.astype("int64") for each in arrays)) != 0)
    return np.asarray(np.einsum(subscripts, *arrays)).astype(dtype)


def _add(op: str, label: str, inputs: tuple, params: dict, forward=None, **more) -> None:
    CASES.append(
        Case(op, label, inputs, params, forward, **{"np_shape": legacy_lacks(inputs, params, forward), **more})
    )


def _sum(label: str, subscripts: str, inputs: tuple, forward=_einsum, **more) -> None:
    params = {"num_args": len(inputs), "subscripts": subscripts}
    _add("_npi_einsum", label, inputs, params, forward, **more)


_CALLS = (
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("ij->", (2, 3)),
    ("ij->ji", (2, 3)),
    ("ji", (2, 3)),
    ("i,i", (3,), (3,)),
    ("i,j", (3,), (2,)),
    ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 4)),
    ("...ij,jk", (2, 2, 3), (3, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("i...->...", (2, 3)),
    ("...", (2, 3)),
    (",", (), ()),
    ("i->", (3,)),
    ("ii,i", (3, 3), (3,)),
    ("iij->j", (2, 2, 3)),
    ("ij,ij->ij", (2, 3), (2, 3)),
    ("ij,j", (2, 3), (1,)),
    ("iI,I", (2, 3), (3,)),
    (" i j , j k -> i k", (2, 3), (3, 4)),
    ("i,ij->j", (0,), (0, 3)),
    ("ij,ik,il->jkl", (2, 3), (2, 2), (2, 2)),
    ("...i,...i->...", (3, 1, 4), (2, 4)),
    ("a...b->b...a", (2, 3, 4)),
    ("ij...,jk...->ik...", (2, 3, 5), (3, 4, 5)),
    ("b,a", (2,), (3,)),
    ("Ba", (2, 3)),
    ("...,...", (2, 1), (3,)),
    ("i,i->", (1,), (3,)),
    ("i,i,i", (3,), (3,), (3,)),
    ("iji->j", (2, 3, 2)),
    ("iijj->ij", (2, 2, 3, 3)),
    ("iii->i", (2, 2, 2)),
    ("bij,bjk,kl->bil", (2, 2, 3), (2, 3, 2), (2, 4)),
    ("ij,kl->", (2, 2), (2, 3)),
    ("", ()),
)


def _gradient_oracle(subscripts: str, optimize: int) -> str:
    if subscripts in ("...i,...i->...", "...,..."):
        return "forward: 1.9.1's gradient is wrong where an ellipsis broadcasts"
    return "forward: 1.9.1 fails" if optimize and subscripts in (",", "") else ""


_TIGHT = {"float32": (1e-5, 1e-5)}
for _at, (_subscripts, *_shapes) in enumerate(_CALLS):
    for _optimize in (0, 1):
        _params = {"num_args": len(_shapes), "subscripts": _subscripts, "optimize": _optimize}
        _add(
            "_npi_einsum",
            f"{_at}-{_optimize}",
            tuple(In(each) for each in _shapes),
            _params,
            _einsum,
            order=2,
            diff=tuple(range(len(_shapes))),
            tolerance=_TIGHT,
            oracle=_gradient_oracle(_subscripts, _optimize),
        )
for _dtype in ("float16", "float64", "int32", "int64", "uint8", "int8", "bool"):
    _domain = "real" if _dtype.startswith("f") else "bool" if _dtype == "bool" else ("int", 0, 5)
    _sum(_dtype, "ij,jk", (In((2, 3), _dtype, _domain), In((3, 2), _dtype, _domain)))
    _sum(f"{_dtype}-sum", "ij->j", (In((2, 3), _dtype, _domain),))
    _sum(f"{_dtype}-view", "ij->ji", (In((2, 3), _dtype, _domain),))
_sum("int8-wraps", "i,i", (In(values=[100, 100], dtype="int8"), In(values=[2, 1], dtype="int8")))
for _label, _subscripts, *_shapes in (
    ("sizes", "ij,j", (2, 3), (4,)),
    ("unknown-label", "ij->ijk", (2, 3)),
    ("label-twice", "ij->ii", (2, 2)),
    ("few-labels", "ij", (2, 3, 4)),
    ("two-arrows", "ij->i->j", (2, 3)),
    ("digit", "i1", (2, 3)),
    ("one-dot", "i.j", (2, 2)),
    ("few-operands", "ij,jk", (2, 3)),
    ("many-operands", "ij", (2, 3), (3, 2)),
    ("no-axis", "ij,j->i", (2, 3), ()),
    ("no-diagonal", "ii", (3, 1)),
    ("no-dots", "...->", (2, 3)),
):
    _sum(_label, _subscripts, tuple(In(each) for each in _shapes), None, error=True)
_sum("mixed", "ij,jk", (In((2, 2)), In((2, 2), "float64")), None, error=True)
_add("_npi_einsum", "no-operands", (), {"num_args": 0, "subscripts": ""}, error=True)


def _tensordot(a, b, a_axes_summed, b_axes_summed):
    def listed(axes):
        return (axes,) if isinstance(axes, int) else axes

    return np.asarray(np.tensordot(a, b, (listed(a_axes_summed), listed(b_axes_summed)))).astype(a.dtype)


def _int_axes(a, b, axes):
    return np.asarray(np.tensordot(a, b, axes)).astype(a.dtype)


for _label, _a, _b, _first, _second in (
    ("one", (2, 3), (3, 4), (1,), (0,)),
    ("two", (2, 3, 4), (4, 3, 2), (1, 2), (1, 0)),
    ("negative", (2, 3, 4), (4, 3, 2), (1, -1), (1, 0)),
    ("none", (2, 3), (3, 4), (), ()),
    ("all", (2, 3), (3, 2), (0, 1), (1, 0)),
    ("middle", (2, 3, 4), (5, 3), (1,), (1,)),
    ("empty", (2, 0), (0, 3), (1,), (0,)),
    ("number", (2, 3), (3, 4), 1, 0),
):
    _add(
        "_npi_tensordot",
        _label,
        (In(_a), In(_b)),
        {"a_axes_summed": _first, "b_axes_summed": _second},
        _tensordot,
        order=2,
        diff=(0, 1),
        tolerance=_TIGHT,
    )
for _label, _a, _b, _axes in (
    ("one", (2, 3), (3, 4), 1),
    ("two", (2, 3), (2, 3), 2),
    ("none", (2, 3), (4, 5), 0),
    ("vectors", (2,), (2,), 1),
    ("numbers", (), (), 0),
    ("number", (), (2,), 0),
    ("empty", (2, 0), (0, 3), 1),
    ("no-rows", (0, 2), (2, 3), 1),
):
    _add(
        "_npi_tensordot_int_axes",
        _label,
        (In(_a), In(_b)),
        {"axes": _axes},
        _int_axes,
        order=2,
        diff=(0, 1),
        tolerance=_TIGHT,
    )
for _label, _a, _b in (("number-default", (), (2, 3)), ("default-number", (2, 3), ()), ("numbers-default", (), ())):
    _add("_npi_tensordot_int_axes", _label, (In(_a), In(_b)), {"axes": 2}, lambda a, b, axes: a * b)
_add(
    "_npi_tensordot",
    "float64",
    (In((2, 3), "float64"), In((3, 2), "float64")),
    {"a_axes_summed": (1,), "b_axes_summed": (0,)},
    _tensordot,
)
_add("_npi_tensordot_int_axes", "float64", (In((2, 3), "float64"), In((3, 2), "float64")), {"axes": 1}, _int_axes)
for _label, _a, _b, _axes in (("sizes", (2, 3), (4, 4), 1), ("sizes-2", (2, 3), (3, 4), 2)):
    _add("_npi_tensordot_int_axes", _label, (In(_a), In(_b)), {"axes": _axes}, error=True)
for _label, _first, _second in (("axis-twice", (0, 0), (0, 1)), ("counts", (1,), (0, 1)), ("axis", (5,), (0,))):
    _add(
        "_npi_tensordot",
        _label,
        (In((2, 2)), In((2, 2))),
        {"a_axes_summed": _first, "b_axes_summed": _second},
        error=True,
        oracle="skip: 1.9.1 reads or writes outside its arrays",
    )
for _label, _axes in (("many-axes", 3), ("negative", -1)):
    _add(
        "_npi_tensordot_int_axes",
        _label,
        (In((2, 2)), In((2, 2))),
        {"axes": _axes},
        error=True,
        oracle="skip: 1.9.1 reads or writes outside its arrays",
    )
_INTEGERS = (In((2, 2), "int32", "bool"), In((2, 2), "int32", "bool"))
_add("_npi_tensordot_int_axes", "int32", _INTEGERS, {"axes": 1}, error=True)
_add("_npi_tensordot", "int32", _INTEGERS, {"a_axes_summed": (1,), "b_axes_summed": (0,)}, error=True)

_SPECIAL = In(values=[[0.0, np.inf], [np.nan, -2.0]])
_sum("special-product", "ij,jk", (_SPECIAL, In((2, 2))), None)
_sum("special-sum", "ij->j", (_SPECIAL,), None)
_add("_npi_tensordot_int_axes", "special-product", (_SPECIAL, In((2, 2))), {"axes": 1})
_add("_npi_tensordot", "special-product", (_SPECIAL, In((2, 2))), {"a_axes_summed": (1,), "b_axes_summed": (0,)})
_add("_npi_tensordot", "0-axes", (In(()), In((2,))), {"a_axes_summed": (), "b_axes_summed": ()}, _tensordot)
