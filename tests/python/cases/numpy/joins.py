"""_npx_reshape, whose shape may have codes, and _npi_concatenate, of 1.9.1's NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._case import Case, In

CASES: list = []

_DTYPES = ("float64", "float16", "int32", "int64", "uint8", "int8", "bool")
_SPECIAL = [[0.0, np.inf, -0.0], [-np.inf, 2.0, np.nan]]
_MATRIX, _FOUR = In((2, 3)), In((1, 2, 1, 3))


def _to(*shape: int) -> Any:
    return lambda *arrays, **params: arrays[0].reshape(shape)


_op = "_npx_reshape"
#: input, codes, the shape from the left and that from the right; None: an error
_CODES: tuple = (
    (_MATRIX, (3, 2), (3, 2), (3, 2)),
    (_MATRIX, (-1,), (6,), (6,)),
    (_MATRIX, (-1, 2), (3, 2), (3, 2)),
    (_MATRIX, (-2, -1), (2, 3), (2, 3)),
    (_FOUR, (-2, -1), (1, 6), (1, 6)),
    (_FOUR, (-3, -2, -3, -2), (2, 3), (2, 3)),
    (_FOUR, (-3, -4), (2, 1, 3), None),
    (_FOUR, (-5, -5), (2, 3), (2, 3)),
    (_FOUR, (-2, -5, -2), (1, 2, 3), (1, 2, 3)),
    (_MATRIX, (-6, 1, -1, -4), (1, 2, 3), None),
    (_MATRIX, (-6, 1, 2, -2), (1, 2, 3), None),
    (_MATRIX, (-2, -6, 3, -1), (2, 3, 1), None),
    (_MATRIX, (-2, 3, 1, -6), None, (2, 3, 1)),
    (_MATRIX, (-1, 2, -6, -2), None, (1, 2, 3)),
    (_MATRIX, (-4,), (2, 3), (2, 3)),
    (_MATRIX, (-4, 1), (2, 3, 1), None),
    (_MATRIX, (-1, -5), None, (1, 6)),
    (_FOUR, (-1, -5), (3, 2), (2, 3)),
    (_FOUR, (-1, -2), (3, 2), (2, 3)),
    (_FOUR, (-5, -3, -1), (2, 3), (2, 3)),
    (_MATRIX, (-2, -2, -2), None, None),
    (_MATRIX, (-1, -1), None, None),
    (_MATRIX, (-3, -4), None, None),
    (_MATRIX, (-6, 1), None, None),
    (_MATRIX, (-6, -1, -1, -2), None, None),
    (_MATRIX, (-6, 2, 2, -2), None, None),
    (_MATRIX, (-5, -5), None, None),
    (_MATRIX, (-7,), None, None),
    (_MATRIX, (4,), None, None),
    (_MATRIX, (0, 6), None, None),
    (In((6,)), (1, 2, 3), (1, 2, 3), (1, 2, 3)),  # more extents than axes
    (In((6,)), (1, -1, 1, 2), (1, 3, 1, 2), (1, 3, 1, 2)),
    (_MATRIX, (6, 1, 1, -4), (6, 1, 1), None),
    (In((6,)), (2, 3, -2), None, None),
)
for _x, _codes, *_shapes in _CODES:
    for _reverse, _shape in enumerate(_shapes):
        _params = {"newshape": str(_codes), "reverse": _reverse}
        _label = f"{len(_x.shape)}-axes-{'_'.join(map(str, _codes))}-{_reverse}"
        if _shape is None:
            CASES.append(Case(_op, _label, (_x,), _params, error=True))
        else:
            CASES.append(Case(_op, _label, (_x,), _params, _to(*_shape), order=2, diff=(0,)))
for _dtype in _DTYPES:
    _x = In((2, 3), _dtype, ("int", 0, 3))
    CASES.append(Case(_op, _dtype, (_x,), {"newshape": "(3, 2)"}, _to(3, 2)))
for _codes, _shape in (("(-1,)", (0,)), ("(-2, -2)", (0, 3)), ("(-5,)", (0,)), ("(3, -1)", (3, 0))):
    CASES.append(Case(_op, f"empty{_codes}", (In((0, 3)),), {"newshape": _codes}, _to(*_shape), np_shape=True))
CASES.append(Case(_op, "empty-unknown", (In((0, 3)),), {"newshape": "(-1, 0)"}, error=True, np_shape=True))
CASES.append(Case(_op, "0-axes", (In(()),), {"newshape": "(-1,)"}, _to(1), np_shape=True))
CASES.append(Case(_op, "0-axes-to-2", (In(()),), {"newshape": "(1, -1)"}, _to(1, 1), np_shape=True))
CASES.append(Case(_op, "to-0-axes", (In((1, 1)),), {"newshape": "(-3, -3)"}, _to(), np_shape=True))
CASES.append(Case(_op, "special-float32", (In(values=_SPECIAL),), {"newshape": "(-1,)"}, _to(6)))

# ---- _npi_concatenate ----


def _join(*arrays: np.ndarray, axis: Any = 0, num_args: int = 0) -> np.ndarray:
    return np.concatenate(arrays, axis=None if axis == "None" else axis)


_op = "_npi_concatenate"
for _axis in (0, 1, -1, "None"):
    _params = {"num_args": 2, "axis": _axis}
    CASES.append(Case(_op, f"axis-{_axis}", (In((2, 3)), In((2, 3))), _params, _join, order=2, diff=(0, 1)))
_rows = (In((2, 3)), In((1, 3)), In((4, 3)))
CASES.append(Case(_op, "rows", _rows, {"num_args": 3}, _join, order=2, diff=(0, 1, 2)))
CASES.append(Case(_op, "rows-flat", _rows, {"num_args": 3, "axis": "None"}, _join, order=2, diff=(0, 1, 2)))
CASES.append(Case(_op, "one", (In((2, 3)),), {"num_args": 1}, _join, order=2, diff=(0,)))
CASES.append(Case(_op, "one-flat", (In((2, 3)),), {"num_args": 1, "axis": "None"}, _join, order=2, diff=(0,)))
for _dtype in _DTYPES:
    _x = In((2, 3), _dtype, ("int", 0, 3))
    CASES.append(Case(_op, _dtype, (_x, _x), {"num_args": 2}, _join))
CASES.append(Case(_op, "empty", (In((0, 3)), In((2, 3))), {"num_args": 2}, _join, np_shape=True))
CASES.append(Case(_op, "special-float32", (In(values=_SPECIAL), In(values=_SPECIAL)), {"num_args": 2}, _join))
CASES.append(Case(_op, "axis-beyond", (In((2, 3)), In((2, 3))), {"num_args": 2, "axis": 2}, error=True))
CASES.append(Case(_op, "shapes", (In((2, 3)), In((1, 3))), {"num_args": 2, "axis": 1}, error=True))
CASES.append(Case(_op, "two-dtypes", (In((2, 3)), In((2, 3), "float64")), {"num_args": 2}, error=True))
CASES.append(Case(_op, "0-axes", (In(()), In(())), {"num_args": 2}, error=True, np_shape=True))
