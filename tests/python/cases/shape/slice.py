"""slice and its assignments."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []


def _key(begin, end, step=()) -> tuple:
    begin = begin if isinstance(begin, tuple) else (begin,)
    end = end if isinstance(end, tuple) else (end,)
    step = tuple(step) or (None,) * len(begin)
    return tuple(slice(b, e, s) for b, e, s in zip(begin, end, step))


def _slice(x: np.ndarray, begin=(), end=(), step=()) -> np.ndarray:
    return x[_key(begin, end, step)].copy()


def _assign(x: np.ndarray, value: np.ndarray, begin=(), end=(), step=()) -> np.ndarray:
    result = x.copy()
    result[_key(begin, end, step)] = value
    return result


def _assign_scalar(x: np.ndarray, scalar=0.0, begin=(), end=(), step=()) -> np.ndarray:
    result = x.copy()
    result[_key(begin, end, step)] = (
        np.array(scalar).astype("int64").astype(x.dtype) if x.dtype.kind in "iu" else scalar
    )
    return result


#: label -> (shape, begin, end, step or None)
SLICES = {
    "inner": ((5,), (1,), (3,), None),
    "whole": ((5,), (None,), (None,), None),
    "from-end": ((5,), (-3,), (-1,), None),
    "end-clipped": ((5,), (1,), (100,), None),
    "backwards": ((5,), (4,), (0,), (-1,)),
    "reversed": ((5,), (None,), (None,), (-1,)),
    "reversed-by-two": ((5,), (None,), (None,), (-2,)),
    "by-two": ((5,), (0,), (5,), (2,)),
    "step-none": ((5,), (0,), (5,), (None,)),
    "begin-clipped-back": ((5,), (10,), (0,), (-1,)),
    "fewer-axes": ((3, 4), (1,), (2,), None),
    "two-axes": ((3, 4), (0, 1), (2, 3), None),
    "columns-reversed": ((3, 4), (0, None), (2, None), (1, -1)),
    "column": ((3, 4), (None, 1), (None, 2), None),
    "three-axes": ((3, 4, 5), (1, 0, 2), (3, 3, 5), (1, 2, 1)),
    "three-axes-steps": ((3, 4, 5), (2, 3, 4), (None, 0, 0), (-1, -2, -3)),
    "plain-number": ((3, 4), 1, 2, None),
    "nothing": ((3, 4), (), (), None),
    "ten-rows": ((10, 103), (2,), (9,), None),
}
for _label, (_shape, _begin, _end, _step) in SLICES.items():
    _params = {"begin": _begin, "end": _end}
    if _step:
        _params["step"] = _step
    CASES.append(
        Case("slice", _label, (In(_shape),), _params, _slice, order=2 if np.prod(_shape) < 200 else 0, diff=(0,))
    )
    _part = np.empty(_shape)[_key(_begin, _end, _step or ())].shape
    CASES += [
        Case(
            "_slice_assign",
            _label,
            (In(_shape), In(_part)),
            _params,
            _assign,
            order=2 if np.prod(_shape) < 200 else 0,
            diff=(0, 1),
            oracle="forward: 1.9.1 has no gradient for it",
        ),
        Case(
            "_slice_assign_scalar",
            _label,
            (In(_shape),),
            {"scalar": 9.5, **_params},
            _assign_scalar,
            order=2 if np.prod(_shape) < 200 else 0,
            diff=(0,),
            oracle="forward: 1.9.1 has no gradient for it",
        ),
    ]
for _dtype in ("float64", "int32", "int64", "uint8", "bool"):
    _domain = "real" if _dtype == "float64" else ("bool" if _dtype == "bool" else ("int", 0, 99))
    _diff = (0,) if _dtype == "float64" else ()
    CASES.append(
        Case(
            "slice",
            _dtype,
            (In((3, 4), _dtype, _domain),),
            {"begin": (0, 3), "end": (2, 0), "step": (1, -1)},
            _slice,
            order=2 * len(_diff),
            diff=_diff,
        )
    )
for _dtype in ("float64", "int32", "int64", "uint8"):
    _domain = "real" if _dtype == "float64" else ("int", 0, 99)
    CASES += [
        Case(
            "_slice_assign",
            _dtype,
            (In((5,), _dtype, _domain), In((2,), _dtype, _domain)),
            {"begin": (1,), "end": (3,)},
            _assign,
        ),
        Case(
            "_slice_assign_scalar",
            _dtype,
            (In((5,), _dtype, _domain),),
            {"scalar": 2.75, "begin": (1,), "end": (3,)},
            _assign_scalar,
        ),
    ]
CASES += [
    Case("slice", "begin-clipped", (In((5,), "float64"),), {"begin": (-100,), "end": (3,)}, _slice, order=1, diff=(0,)),
    Case(
        "slice",
        "begin-clipped-float32",
        (In((5,)),),
        {"begin": (-100,), "end": (3,)},
        _slice,
        oracle="differs: 1.9.1's oneDNN path fails where its own float64 path clips",
    ),
    Case("slice", "empty-result", (In((5,)),), {"begin": (3,), "end": (3,)}, _slice, np_shape=True),
    Case("slice", "empty-result-legacy", (In((5,)),), {"begin": (3,), "end": (3,)}, _slice),
    Case("slice", "crossed", (In((5,)),), {"begin": (3,), "end": (1,)}, _slice),
    Case("slice", "past-end", (In((5,)),), {"begin": (5,), "end": (6,)}, _slice),
    Case("slice", "wrong-way", (In((5,)),), {"begin": (0,), "end": (3,), "step": (-1,)}, _slice),
    Case("slice", "step-zero", (In((5,)),), {"begin": (0,), "end": (5,), "step": (0,)}, error=True),
    Case("slice", "lengths-differ", (In((3, 4)),), {"begin": (0, 1), "end": (2,)}, error=True),
    Case("slice", "step-length-differs", (In((3, 4)),), {"begin": (0, 1), "end": (2, 3), "step": (1,)}, error=True),
    Case("slice", "too-many-axes", (In((3, 4)),), {"begin": (0, 0, 0), "end": (1, 1, 1)}, error=True),
    Case("slice", "no-begin", (In((5,)),), {"end": (3,)}, error=True),
    Case("slice", "no-end", (In((5,)),), {"begin": (3,)}, error=True),
    Case("slice", "none-for-all", (In((5,)),), {"begin": None, "end": None}, error=True),
    Case("slice", "malformed", (In((5,)),), {"begin": "(a,)", "end": (3,)}, error=True),
    Case("slice", "unknown-parameter", (In((5,)),), {"begin": (0,), "end": (3,), "axis": 0}, error=True),
    Case("_slice_assign", "too-short", (In((5,)), In((1,))), {"begin": (1,), "end": (3,)}, error=True),
    Case("_slice_assign", "too-long", (In((5,)), In((3,))), {"begin": (1,), "end": (3,)}, error=True),
    Case("_slice_assign", "rank-differs", (In((2, 3)), In((2,))), {"begin": (0, 1), "end": (2, 2)}, error=True),
    Case("_slice_assign", "mixed", (In((5,)), In((2,), "float64")), {"begin": (1,), "end": (3,)}, error=True),
    Case("_slice_assign", "one-input", (In((5,)),), {"begin": (1,), "end": (3,)}, error=True),
    Case("_slice_assign", "empty", (In((3,)), In((0,))), {"begin": (1,), "end": (1,)}, _assign, np_shape=True),
    Case("_slice_assign_scalar", "default", (In((5,)),), {"begin": (1,), "end": (3,)}, _assign_scalar),
    Case(
        "_slice_assign_scalar",
        "uint8-wraps",
        (In((3,), "uint8", ("int", 0, 9)),),
        {"scalar": -1, "begin": (1,), "end": (3,)},
        _assign_scalar,
    ),
    Case(
        "_slice_assign_scalar",
        "empty",
        (In((3,)),),
        {"scalar": 5, "begin": (1,), "end": (1,)},
        _assign_scalar,
        np_shape=True,
    ),
    Case(
        "_slice_assign_scalar", "empty-legacy", (In((3,)),), {"scalar": 5, "begin": (1,), "end": (1,)}, _assign_scalar
    ),
    Case("_slice_assign_scalar", "malformed", (In((3,)),), {"scalar": "x", "begin": (1,), "end": (1,)}, error=True),
    Case("_slice_assign_scalar", "no-begin", (In((3,)),), {"scalar": 1, "end": (1,)}, error=True),
]
