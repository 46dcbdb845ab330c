"""Movements and products of 1.9.1's NumPy arrays: reshape, transpose, squeeze, broadcast_to, where, dot, matmul."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._case import Case, In

CASES: list = []

_DTYPES = ("float64", "float16", "int32", "int64", "uint8", "int8", "bool")
_SPECIAL = [[0.0, np.inf, -0.0], [-np.inf, 2.0, np.nan]]


def _add(op: str, label: str, inputs: tuple, params: dict, forward: Any, diff: tuple = (0,), **more: Any) -> None:
    CASES.append(Case(op, label, inputs, params, forward, order=2, diff=diff, **more))


def _error(op: str, label: str, inputs: tuple, params: dict, **more: Any) -> None:
    CASES.append(Case(op, label, inputs, params, error=True, **more))


def _list(text: Any) -> Any:
    return eval(text) if isinstance(text, str) else text


_MOVES: dict = {
    "_np_reshape": (
        lambda x, newshape: x.reshape(_list(newshape)),
        [{"newshape": shape} for shape in ("(3, 2)", "(-1,)", "(6,)", "(1, -1, 3)")],
        [{"newshape": shape} for shape in ("(-1, -1)", "(4,)", "(0, 6)", "()", "(-2, 1)", "(-1, 4)")] + [{}],
    ),
    "_np_transpose": (
        lambda x, axes=None: np.transpose(x, _list(axes)),
        [{}, {"axes": "(1, 0)"}, {"axes": "(0, 1)"}, {"axes": "(-1, 0)"}],
        [{"axes": axes} for axes in ("(0, 0)", "(0,)", "(2, 0)")],
    ),
    "_npi_flip": (
        lambda x, axis: np.flip(x, _list(axis)),
        [{"axis": axis} for axis in ("None", "(0, 1)", "1", "()")],
        [{"axis": axis} for axis in ("(-1,)", "(2,)")] + [{}],
    ),
    "_npi_broadcast_to": (
        lambda x, shape: np.broadcast_to(x, _list(shape)),
        [{"shape": "(2, 2, 3)"}, {"shape": "(2, 3)"}],
        [{"shape": shape} for shape in ("(4, 3)", "(3,)", "(2, -1)", "(2, 1, 3)", "(2, 0, 3)")],
    ),
}
for _op, (_forward, _calls, _wrong) in _MOVES.items():
    for _number, _params in enumerate(_calls):
        _add(_op, f"call{_number}", (In((2, 3)),), _params, _forward)
    for _number, _params in enumerate(_wrong):
        _error(_op, f"wrong{_number}", (In((2, 3)),), _params)
    for _dtype in _DTYPES:
        _refused = "differs: 1.9.1 refuses it" if _op in ("_np_transpose", "_npi_flip") and _dtype == "bool" else ""
        CASES.append(Case(_op, _dtype, (In((2, 3), _dtype, ("int", 0, 3)),), _calls[0], _forward, oracle=_refused))
    CASES.append(Case(_op, "special-float32", (In(values=_SPECIAL),), _calls[0], _forward))
_add("_np_reshape", "0-axes", (In(()),), {"newshape": "(1, -1)"}, _MOVES["_np_reshape"][0], np_shape=True)
_add("_np_reshape", "to-0-axes", (In((1, 1)),), {"newshape": "()"}, _MOVES["_np_reshape"][0], np_shape=True)
_ORDER = {"newshape": "(6,)", "order": "F"}
CASES.append(
    Case("_np_reshape", "order", (In((2, 3)),), _ORDER, error=True, oracle="differs: 1.9.1 keeps the order of C")
)
_add("_np_transpose", "0-axes", (In(()),), {}, _MOVES["_np_transpose"][0], np_shape=True)
_add("_np_transpose", "three", (In((2, 3, 4)),), {"axes": "(1, -1, 0)"}, _MOVES["_np_transpose"][0])
_add("_npi_flip", "0-axes", (In(()),), {"axis": "None"}, _MOVES["_npi_flip"][0], np_shape=True)
_add("_npi_broadcast_to", "0-axes", (In(()),), {"shape": "(2, 3)"}, _MOVES["_npi_broadcast_to"][0], np_shape=True)
_add("_npi_broadcast_to", "ones", (In((1, 3)),), {"shape": "(2, 4, 3)"}, _MOVES["_npi_broadcast_to"][0])
for _op, _params in (("_np_reshape", {"newshape": "(3, 0)"}), ("_np_transpose", {}), ("_npi_flip", {"axis": "None"})):
    CASES.append(Case(_op, "empty", (In((0, 3)),), _params, _MOVES[_op][0], np_shape=True))


def _squeeze(x: np.ndarray, axis: Any = None) -> np.ndarray:
    return np.squeeze(x, _list(axis))


for _number, _params in enumerate(({}, {"axis": "(0,)"}, {"axis": "(0, 2)"}, {"axis": "(-2,)"}, {"axis": "()"})):
    _add("_np_squeeze", f"call{_number}", (In((1, 2, 1, 3)),), _params, _squeeze)
for _number, _axis in enumerate(("(1,)", "(5,)")):
    _error("_np_squeeze", f"wrong{_number}", (In((1, 2, 1, 3)),), {"axis": _axis})
for _dtype in _DTYPES:
    CASES.append(Case("_np_squeeze", _dtype, (In((1, 3), _dtype, ("int", 0, 3)),), {}, _squeeze))
_add("_np_squeeze", "to-0-axes", (In((1, 1)),), {}, _squeeze)
_add("_np_squeeze", "0-axes", (In(()),), {}, _squeeze, np_shape=True)
CASES.append(Case("_np_squeeze", "special-float32", (In(values=[_SPECIAL]),), {}, _squeeze))

# ---- full_like ----


def _full_like(x: np.ndarray, fill_value: float, dtype: str = "None") -> np.ndarray:
    return np.full_like(x, fill_value, dtype=None if dtype == "None" else dtype)


for _dtype in ("float32", *_DTYPES):
    _x = In((2, 3), _dtype, ("int", 0, 3))
    CASES.append(Case("_npi_full_like", _dtype, (_x,), {"fill_value": 2.5}, _full_like))
    CASES.append(
        Case("_npi_full_like", f"as-{_dtype}", (In((2, 3)),), {"fill_value": 2.5, "dtype": _dtype}, _full_like)
    )
CASES.append(Case("_npi_full_like", "0-axes", (In(()),), {"fill_value": 2}, _full_like, np_shape=True))
CASES.append(Case("_npi_full_like", "empty", (In((0, 3)),), {"fill_value": 2}, _full_like, np_shape=True))
CASES.append(
    Case(
        "_npi_full_like",
        "special-float32",
        (In((3,)),),
        {"fill_value": "-inf"},
        lambda x, fill_value: x * 0 - np.float32(np.inf),
    )
)
_error("_npi_full_like", "no-value", (In((2, 3)),), {})

# ---- where ----

_C = In(dtype="float32", values=[1, 0, 2])
_add("_npi_where", "broadcast", (_C, In((2, 3)), In((2, 1))), {}, lambda c, x, y: np.where(c != 0, x, y), diff=(1, 2))
for _dtype in ("float32", *_DTYPES):
    _two = (In((2, 3), _dtype, ("int", 0, 3)), In((2, 3), _dtype, ("int", 0, 3)))
    CASES.append(Case("_npi_where", _dtype, (In((2, 1), "bool", "bool"), *_two), {}, np.where))
    if _dtype != "bool":
        _c = In(dtype=_dtype, values=[1, 0, 2])
        CASES.append(
            Case("_npi_where", f"by-{_dtype}", (_c, In((2, 3)), In((2, 3))), {}, lambda c, x, y: np.where(c != 0, x, y))
        )
CASES.append(Case("_npi_where", "0-axes", (In(values=1), In(()), In(())), {}, lambda c, x, y: x, np_shape=True))
CASES.append(
    Case(
        "_npi_where",
        "special-float32",
        (In(values=_SPECIAL), In(values=_SPECIAL), In(values=[[1], [2]])),
        {},
        lambda c, x, y: np.where(c != 0, x, y),
    )
)
_error("_npi_where", "two-dtypes", (_C, In((2, 3)), In((2, 3), "float64")), {})
_error("_npi_where", "shapes", (_C, In((2, 3)), In((2, 2))), {})

# ---- dot, matmul ----

_SHAPES = [((2, 3), (3, 2)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((4, 2, 3), (3, 2)), ((4, 2, 3), (4, 3, 2))]
_SHAPES += [
    ((4, 2, 3), (1, 3, 2)),
    ((2, 3), (4, 3, 2)),
    ((3,), (2, 3, 4)),
    ((2, 1, 2, 3), (4, 3, 5)),
    ((4, 2, 3), (3,)),
]
for _op, _forward in (("_np_dot", np.dot), ("_npi_matmul", np.matmul)):
    for _number, (_a, _b) in enumerate(_SHAPES):
        _summed = "forward: 1.9.1 sums the gradient of a stack of one in another order of axes"
        _oracle = _summed if _op == "_npi_matmul" and len(_a) == 4 else ""
        _add(_op, f"shapes{_number}", (In(_a), In(_b)), {}, _forward, diff=(0, 1), oracle=_oracle)
    _add(_op, "float64", (In((7, 13), "float64"), In((13, 5), "float64")), {}, _forward, diff=(0, 1))
    for _rows, _inner in ((0, 3), (2, 0)):
        _two = (In((_rows, _inner)), In((_inner, 2)))
        CASES.append(Case(_op, f"empty-{_rows}-{_inner}", _two, {}, _forward, np_shape=True))
    CASES.append(Case(_op, "special-float32", (In(values=_SPECIAL), In(values=[[1.0], [2.0], [0.5]])), {}, _forward))
    _error(_op, "inner", (In((2, 3)), In((2, 3))), {})
    _error(_op, "int32", (In((2, 3), "int32"), In((3, 2), "int32")), {})
    _error(_op, "two-dtypes", (In((2, 3), "float64"), In((3, 2))), {})
_error("_npi_matmul", "stacks", (In((4, 2, 3)), In((3, 3, 2))), {})
_error("_npi_matmul", "0-axes", (In(()), In((3,))), {}, np_shape=True)
for _label, _shapes in {"0-axes": ((), (3,)), "0-axes-right": ((2, 3), ()), "0-axes-both": ((), ())}.items():
    _pair = tuple(In(shape, "float64") for shape in _shapes)
    CASES.append(Case("_np_dot", _label, _pair, {}, np.dot, order=2, diff=(0, 1), np_shape=True))
