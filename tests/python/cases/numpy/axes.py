"""_np_moveaxis of 1.9.1's NumPy arrays."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []

_op = "_np_moveaxis"
_BOOL = "differs: 1.9.1 refuses bool"


def _move(a: np.ndarray, source: str, destination: str) -> np.ndarray:
    return np.moveaxis(a, eval(source), eval(destination))


def _row(label: str, x: In, source: tuple, destination: tuple, **more) -> None:
    CASES.append(Case(_op, label, (x,), {"source": str(source), "destination": str(destination)}, **more))


_MOVES = (((0,), (-1,)), ((0, 1), (2, 0)), ((-1,), (0,)), ((2, 0, 1), (0, 1, 2)), ((1,), (1,)))
for _number, _move_of in enumerate(_MOVES):
    _row(f"three-axes-{_number}", In((2, 3, 4)), *_move_of, forward=_move, order=2, diff=(0,))
_row("four-axes", In((2, 1, 3, 2)), (3, 0), (0, 2), forward=_move, order=2, diff=(0,))
for _dtype in ("float64", "float16", "int32", "int64", "uint8", "int8", "bool"):
    _row(_dtype, In((2, 3), _dtype, ("int", 0, 1)), (0,), (1,), forward=_move, oracle=_BOOL if _dtype == "bool" else "")
_row("empty", In((0, 3)), (0,), (1,), forward=_move, np_shape=True)
_row("special-float32", In(values=[[0.0, np.inf, -0.0], [-np.inf, 2.0, np.nan]]), (0,), (1,), forward=_move)
_row("0-axes", In(()), (0,), (0,), error=True, np_shape=True)
_row("beyond", In((2, 3)), (2,), (0,), error=True)
_row("to-beyond", In((2, 3)), (0,), (2,), error=True)
_row("from-twice", In((2, 3)), (0, 0), (0, 1), error=True)
_row("to-twice", In((2, 3)), (0, 1), (1, -1), error=True)
_row("lengths", In((2, 3)), (0,), (0, 1), error=True)
