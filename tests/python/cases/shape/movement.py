"""Operators that show elements in other shapes or repeat them: Flatten to reshape_like."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .._rows import DTYPES, Rows

CASES = Rows()
_rows, _dtypes, _errors = CASES.rows, CASES.dtypes, CASES.errors


# ---- Flatten ----


def _flatten(x: np.ndarray) -> np.ndarray:
    return x.reshape((x.shape[0], int(np.prod(x.shape[1:], dtype=np.int64))))


for _shape in ((3,), (2, 3), (2, 3, 4), (1, 1, 2, 1, 3)):
    CASES.append(Case("Flatten", "x".join(map(str, _shape)), (In(_shape),), {}, _flatten, order=2, diff=(0,)))
_dtypes("Flatten", _flatten, (2, 3, 2), {})
CASES += [
    Case("Flatten", "empty", (In((0, 3, 4)),), {}, _flatten, np_shape=True),
    Case("Flatten", "empty-inside", (In((2, 0, 4)),), {}, _flatten, np_shape=True),
    Case("Flatten", "scalar", (In(()),), {}, error=True, np_shape=True),
    Case("Flatten", "no-input", (), {}, error=True),
    Case("Flatten", "unknown-parameter", (In((2, 3)),), {"foo": 1}),
]


# ---- expand_dims ----


def _expand(x: np.ndarray, axis) -> np.ndarray:
    return np.expand_dims(x, axis)


_rows("expand_dims", _expand, ((2, 3),), {f"axis{axis}": {"axis": axis} for axis in range(-3, 3)})
_dtypes("expand_dims", _expand, (2, 3), {"axis": 1})
CASES += [
    Case("expand_dims", "scalar", (In(()),), {"axis": 0}, _expand, order=1, diff=(0,), np_shape=True),
    Case("expand_dims", "empty", (In((0, 2)),), {"axis": 1}, _expand, np_shape=True),
]
_errors(
    "expand_dims",
    ((2, 3),),
    {"axis-too-small": {"axis": -4}, "axis-too-large": {"axis": 3}, "no-axis": {}, "tuple": {"axis": (0,)},
     "unknown-parameter": {"axis": 0, "foo": 1}},
)  # fmt: skip


# ---- squeeze ----


def _squeeze(x: np.ndarray, axis=None) -> np.ndarray:
    result = np.squeeze(x, axis)
    return result if result.ndim else result.reshape((1,))


_rows(
    "squeeze",
    _squeeze,
    ((1, 2, 1, 3),),
    {"all": {}, "none": {"axis": None}, "first": {"axis": 0}, "negative": {"axis": -2}, "two": {"axis": (0, 2)},
     "unsorted": {"axis": (2, 0)}, "nothing": {"axis": ()}},
)  # fmt: skip
_rows("squeeze", _squeeze, ((1, 1),), {"ones": {}, "ones-named": {"axis": (0, 1)}, "ones-one": {"axis": 1}})
_dtypes("squeeze", _squeeze, (1, 3, 1), {})
CASES.append(Case("squeeze", "empty", (In((0, 1, 2)),), {}, _squeeze, np_shape=True))
CASES.append(Case("squeeze", "scalar", (In(()),), {}, error=True, np_shape=True))
_errors(
    "squeeze",
    ((1, 2, 1),),
    {"wide": {"axis": 1}, "too-large": {"axis": 3}, "too-small": {"axis": -4}, "twice": {"axis": (0, 0)},
     "twice-negative": {"axis": (0, -3)}, "malformed": {"axis": "x"}, "unknown-parameter": {"foo": 1}},
)  # fmt: skip


# ---- SwapAxis ----


def _swap(x: np.ndarray, dim1=0, dim2=0) -> np.ndarray:
    return np.swapaxes(x, dim1, dim2).copy()


_rows(
    "SwapAxis",
    _swap,
    ((2, 3, 4),),
    {"default": {}, "first-two": {"dim1": 0, "dim2": 1}, "outer": {"dim1": 2, "dim2": 0},
     "last-two": {"dim1": 1, "dim2": 2}, "negative": {"dim1": -1, "dim2": 0}, "negative-two": {"dim1": 0, "dim2": -2},
     "only-first": {"dim1": 1}, "only-second": {"dim2": 2}, "same": {"dim1": 1, "dim2": 1}},
)  # fmt: skip
_dtypes("SwapAxis", _swap, (2, 3), {"dim1": 0, "dim2": 1}, no_bool=True)
CASES.append(Case("SwapAxis", "empty", (In((0, 3)),), {"dim1": 0, "dim2": 1}, _swap, np_shape=True))
_errors(
    "SwapAxis",
    ((2, 3),),
    {"too-large": {"dim1": 2, "dim2": 0}, "too-small": {"dim1": 0, "dim2": -3}, "malformed": {"dim1": "x"},
     "unknown-parameter": {"axis": 0}},
)  # fmt: skip


# ---- broadcast_to, broadcast_like, broadcast_axis ----


def _to(x: np.ndarray, shape=()) -> np.ndarray:
    return np.broadcast_to(x, tuple(s or e for s, e in zip(shape, x.shape))).copy()


_rows(
    "broadcast_to",
    _to,
    ((1, 3, 1),),
    {"all": {"shape": (2, 3, 4)}, "same": {"shape": (1, 3, 1)}, "keeps": {"shape": (0, 0, 4)},
     "keeps-all": {"shape": (0, 0, 0)}, "first": {"shape": (5, 3, 1)}},
)  # fmt: skip
_rows("broadcast_to", _to, ((1, 3),), {"two": {"shape": (2, 3)}})
_DEEP = "differs: 1.9.1 refuses so many alternating axes"
CASES.append(
    Case("broadcast_to", "deep", (In((1, 2, 1, 2, 1, 2)),), {"shape": (2, 2, 3, 2, 2, 2)}, _to, order=2, diff=(0,),
         oracle=_DEEP)
)  # fmt: skip
_dtypes("broadcast_to", _to, (2, 1), {"shape": (2, 3)})
CASES.append(Case("broadcast_to", "empty", (In((0, 1)),), {"shape": (0, 3)}, _to, np_shape=True))
CASES.append(Case("broadcast_to", "zero-keeps", (In((1, 3)),), {"shape": (0, 3)}, _to, np_shape=True))
_errors(
    "broadcast_to",
    ((2, 1),),
    {"more-axes": {"shape": (3, 2, 1)}, "fewer-axes": {"shape": (2,)}, "nothing": {}, "wide": {"shape": (3, 3)},
     "negative": {"shape": (-1, 3)}, "malformed": {"shape": "x"}, "unknown-parameter": {"shape": (2, 3), "foo": 1}},
)  # fmt: skip


def _like(x: np.ndarray, like: np.ndarray, lhs_axes=None, rhs_axes=None) -> np.ndarray:
    shape = list(like.shape)
    if lhs_axes is not None and rhs_axes is not None:
        shape = list(x.shape)
        for left, right in zip(lhs_axes, rhs_axes):
            shape[left] = like.shape[right]
    return np.broadcast_to(x, shape).copy()


_rows("broadcast_like", _like, ((1, 3), (2, 3)), {"whole": {}, "lhs-alone": {"lhs_axes": (0,)}})
_rows(
    "broadcast_like",
    _like,
    ((1, 3, 1), (5, 4)),
    {"axes": {"lhs_axes": (0,), "rhs_axes": (1,)}, "negative": {"lhs_axes": (-1, 0), "rhs_axes": (-2, -1)},
     "twice": {"lhs_axes": (0, 0), "rhs_axes": (0, 1)}},
)  # fmt: skip
for _dtype, _domain in DTYPES.items():
    CASES.append(Case("broadcast_like", _dtype, (In((1, 3), _dtype, _domain), In((2, 3))), {}, _like))
CASES.append(Case("broadcast_like", "other-dtype", (In((1, 3)), In((2, 3), "int32", "bool")), {}, _like))
CASES.append(Case("broadcast_like", "empty", (In((1, 3)), In((0, 3))), {}, _like, np_shape=True))
_errors("broadcast_like", ((3,), (5, 3)), {"axes-differ": {}})
_errors("broadcast_like", ((2, 3), (4, 3)), {"wide": {}, "wide-axis": {"lhs_axes": (0,), "rhs_axes": (0,)}})
_errors(
    "broadcast_like",
    ((1, 3), (5, 3)),
    {"counts-differ": {"lhs_axes": (0, 1), "rhs_axes": (0,)}, "none-named": {"lhs_axes": (), "rhs_axes": ()},
     "axis-too-large": {"lhs_axes": (2,), "rhs_axes": (0,)}, "rhs-too-large": {"lhs_axes": (0,), "rhs_axes": (2,)},
     "malformed": {"lhs_axes": "x"}, "unknown-parameter": {"foo": 1}},
)  # fmt: skip


def _axis(x: np.ndarray, axis=(), size=()) -> np.ndarray:
    shape = list(x.shape)
    for where, extent in zip(np.atleast_1d(np.array(axis, int)), np.atleast_1d(np.array(size, int))):
        shape[where] = extent
    return np.broadcast_to(x, shape).copy()


_rows(
    "broadcast_axis",
    _axis,
    ((1, 3, 1),),
    {"two": {"axis": (0, 2), "size": (2, 4)}, "number": {"axis": 2, "size": 4}, "nothing": {},
     "unsorted": {"axis": (2, 0), "size": (2, 4)}},
)  # fmt: skip
_dtypes("broadcast_axis", _axis, (2, 1), {"axis": 1, "size": 3}, no_bool=True)
CASES.append(Case("broadcast_axis", "empty", (In((1, 3)),), {"axis": 0, "size": 0}, _axis, np_shape=True))
_errors(
    "broadcast_axis",
    ((1, 3, 1),),
    {"negative-axis": {"axis": -1, "size": 4}, "too-large": {"axis": 3, "size": 4}, "wide": {"axis": 1, "size": 4},
     "counts-differ": {"axis": (0, 2), "size": 4}, "twice": {"axis": (0, 0), "size": (2, 4)},
     "negative-size": {"axis": 0, "size": -2}, "malformed": {"axis": "x"}, "unknown-parameter": {"foo": 1}},
)  # fmt: skip


# ---- reshape_like ----


def _reshape_like(x, like, lhs_begin=None, lhs_end=None, rhs_begin=None, rhs_end=None) -> np.ndarray:
    begin, end, _ = slice(lhs_begin, lhs_end).indices(x.ndim)
    return x.reshape(x.shape[:begin] + like.shape[rhs_begin:rhs_end] + x.shape[end:])


_rows("reshape_like", _reshape_like, ((2, 3), (3, 2)), {"whole": {}})
_rows(
    "reshape_like",
    _reshape_like,
    ((6, 5), (2, 3, 5)),
    {
        "front": {"lhs_begin": 0, "lhs_end": 1, "rhs_begin": 0, "rhs_end": 2},
        "negative": {"lhs_begin": -2, "lhs_end": -1, "rhs_begin": -3, "rhs_end": -1},
        "ends": {"lhs_end": 1, "rhs_end": 2},
        "back": {"lhs_begin": 1, "rhs_begin": 2},
        "none": {"lhs_begin": None, "lhs_end": None, "rhs_begin": None, "rhs_end": None},
    },
)
for _dtype, _domain in DTYPES.items():
    CASES.append(Case("reshape_like", _dtype, (In((2, 3), _dtype, _domain), In((6,))), {}, _reshape_like))
CASES.append(Case("reshape_like", "other-dtype", (In((2, 3)), In((3, 2), "int32", "bool")), {}, _reshape_like))
CASES.append(Case("reshape_like", "empty", (In((0, 3)), In((3, 0))), {}, _reshape_like, np_shape=True))
_errors("reshape_like", ((2, 3), (3, 3)), {"size-differs": {}, "part-differs": {"lhs_begin": 0, "lhs_end": 1}})
_errors(
    "reshape_like",
    ((6, 5), (2, 3, 5)),
    {"backwards": {"lhs_begin": 2, "lhs_end": 1}, "empty-range": {"lhs_begin": 1, "lhs_end": 1},
     "end-too-large": {"lhs_end": 3}, "begin-too-small": {"rhs_begin": -4}, "malformed": {"lhs_end": "x"},
     "unknown-parameter": {"foo": 1}},
)  # fmt: skip
