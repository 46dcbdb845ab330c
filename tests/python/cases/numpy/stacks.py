"""Stacks of 1.9.1's NumPy arrays, which get the axes that they lack before they are joined."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._case import Case, In

CASES: list = []

_SPECIAL = [[0.0, np.inf, -0.0], [-np.inf, 2.0, np.nan]]


def _stack(function: Any) -> Any:
    return lambda *arrays, num_args, dim=1: function(arrays)


#: name -> NumPy function, shapes that fit, shapes that do not
_ALIKE = (((3,), (3,)), ((2, 3), (2, 3)), ((2, 2, 2), (2, 2, 2)), ((2, 3),))
_STACKS: dict = {
    "vstack": (np.vstack, (((2, 3), (3,)), ((4, 3), (1, 3))), (((2,), (2, 3)), ((2, 3), (2, 2, 3)))),
    "hstack": (np.hstack, (((2,), (4,)), ((2, 1), (2, 3), (2, 2))), (((2, 3), (3,)), ((2,), (2, 3)))),
    "dstack": (np.dstack, (((1, 3), (3,)), ((2, 2, 1), (2, 2))), (((2, 3), (3,)), ((2, 3), (2, 2)))),
    "column_stack": (np.column_stack, (((2,), (2, 3)), ((3,), (3, 1))), (((2, 3), (3,)), ((2, 3), (3, 3)))),
}
for _name, (_function, _fit, _unfit) in _STACKS.items():
    _op, _forward = f"_npi_{_name}", _stack(_function)
    for _number, _shapes in enumerate((*_ALIKE, *_fit)):
        CASES.append(Case(_op, f"shapes{_number}", tuple(map(In, _shapes)), {"num_args": len(_shapes)}, _forward,
                          order=2, diff=tuple(range(len(_shapes)))))  # fmt: skip
    for _number, _shapes in enumerate(_unfit):
        CASES.append(Case(_op, f"unfit{_number}", tuple(map(In, _shapes)), {"num_args": 2}, error=True))
    for _dtype in ("float64", "float16", "int32", "int64", "uint8", "int8", "bool"):
        _two = (In((2, 3), _dtype, ("int", 0, 1)), In((2, 3), _dtype, ("int", 0, 1)))
        _bool = "differs: 1.9.1 refuses bool" if _dtype == "bool" else ""
        CASES.append(Case(_op, _dtype, _two, {"num_args": 2}, _forward, oracle=_bool))
    CASES.append(Case(_op, "0-axes", (In(()), In(())), {"num_args": 2}, _forward, np_shape=True))
    CASES.append(Case(_op, "empty", (In((0, 3)), In((0, 3))), {"num_args": 2}, _forward, np_shape=True))
    CASES.append(Case(_op, "special-float32", (In(values=_SPECIAL), In(values=_SPECIAL)), {"num_args": 2}, _forward))
    CASES.append(Case(_op, "dtypes", (In((2, 3)), In((2, 3), "float64")), {"num_args": 2}, error=True))
for _op in ("_npi_hstack", "_npi_dstack"):
    _forward = _stack(_STACKS[_op[5:]][0])
    CASES.append(Case(_op, "dim", (In((2, 2, 2)), In((2, 2, 2))), {"num_args": 2, "dim": 0}, _forward))
