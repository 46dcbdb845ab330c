"""Operators that show elements in other shapes and orders, repeat them, or take parts of them."""

from __future__ import annotations

import numpy as np

from ._case import Case, In

CASES: list = []

_BOOL = "differs: 1.9.1 does not take bool"
_DTYPES = {
    "float16": "real",
    "float64": "real",
    "uint8": ("int", 0, 99),
    "int8": ("int", -99, 99),
    "int32": ("int", -99, 99),
    "int64": ("int", -99, 99),
    "bool": "bool",
}


def _rows(op: str, forward, shapes: tuple, rows: dict, order: int = 2, diff: tuple = (0,)) -> None:
    """A differentiated row for each label: parameters, inputs of the given shapes."""
    for label, params in rows.items():
        CASES.append(Case(op, label, tuple(In(shape) for shape in shapes), params, forward, order=order, diff=diff))


def _dtypes(op: str, forward, shape: tuple, params: dict, no_bool: bool = False) -> None:
    """A row for every other dtype."""
    for dtype, domain in _DTYPES.items():
        oracle = _BOOL if dtype == "bool" and no_bool else ""
        CASES.append(Case(op, dtype, (In(shape, dtype, domain),), params, forward, oracle=oracle))


def _errors(op: str, shapes: tuple, rows: dict, np_shape: bool = False) -> None:
    for label, params in rows.items():
        CASES.append(Case(op, label, tuple(In(shape) for shape in shapes), params, error=True, np_shape=np_shape))


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
    Case(
        "Flatten",
        "unknown-parameter",
        (In((2, 3)),),
        {"foo": 1},
        error=True,
        oracle="differs: 1.9.1 ignores parameters of operators without any",
    ),
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
for _dtype, _domain in _DTYPES.items():
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
for _dtype, _domain in _DTYPES.items():
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


# ---- slice_axis, slice_like ----


def _slice_axis(x: np.ndarray, axis, begin, end) -> np.ndarray:
    key = [slice(None)] * x.ndim
    key[axis] = slice(begin, end)
    return x[tuple(key)].copy()


_rows(
    "slice_axis",
    _slice_axis,
    ((3, 4, 2),),
    {"middle": {"axis": 1, "begin": 1, "end": 3}, "first": {"axis": 0, "begin": 0, "end": 2},
     "last": {"axis": 2, "begin": 1, "end": 2}, "to-end": {"axis": 0, "begin": 1, "end": None},
     "negative": {"axis": -2, "begin": -3, "end": -1}, "whole": {"axis": 1, "begin": 0, "end": 4}},
)  # fmt: skip
_dtypes("slice_axis", _slice_axis, (2, 4), {"axis": 1, "begin": 1, "end": 3}, no_bool=True)
CASES += [
    Case("slice_axis", "empty", (In((0, 2)),), {"axis": 0, "begin": 0, "end": 0}, _slice_axis, np_shape=True),
    Case("slice_axis", "empty-rest", (In((0, 2)),), {"axis": 1, "begin": 0, "end": 1}, _slice_axis, np_shape=True),
]
_errors(
    "slice_axis",
    ((3, 4),),
    {"end-too-large": {"axis": 0, "begin": 1, "end": 7}, "begin-too-small": {"axis": 0, "begin": -7, "end": 2},
     "nothing": {"axis": 0, "begin": 2, "end": 2}, "backwards": {"axis": 0, "begin": 2, "end": 1},
     "axis-too-large": {"axis": 2, "begin": 0, "end": 1}, "axis-too-small": {"axis": -3, "begin": 0, "end": 1},
     "begin-too-large": {"axis": 0, "begin": 3, "end": 4}, "no-end": {"axis": 0, "begin": 0},
     "none-begin": {"axis": 0, "begin": None, "end": 1}, "malformed": {"axis": 0, "begin": 0, "end": "x"},
     "unknown-parameter": {"axis": 0, "begin": 0, "end": 1, "foo": 1}},
)  # fmt: skip


def _slice_like(x: np.ndarray, like: np.ndarray, axes=()) -> np.ndarray:
    named = [a % x.ndim for a in np.atleast_1d(np.array(axes, int))] or range(x.ndim)
    return x[tuple(slice(like.shape[i] if i in named else None) for i in range(x.ndim))].copy()


_rows(
    "slice_like",
    _slice_like,
    ((3, 4), (2, 3)),
    {"all": {}, "one": {"axes": (1,)}, "negative": {"axes": (-1,)}, "both": {"axes": (1, 0)},
     "twice": {"axes": (0, 0)}},
)  # fmt: skip
_rows("slice_like", _slice_like, ((3, 4), (2,)), {"fewer-axes": {"axes": (0,)}})
_rows("slice_like", _slice_like, ((3, 4), (2, 3, 5)), {"more-axes": {"axes": (0, 1)}})
for _dtype, _domain in _DTYPES.items():
    _oracle = _BOOL if _dtype == "bool" else ""
    CASES.append(Case("slice_like", _dtype, (In((3, 4), _dtype, _domain), In((2, 3))), {}, _slice_like, oracle=_oracle))
CASES.append(Case("slice_like", "other-dtype", (In((3, 4)), In((2, 3), "int32", "bool")), {}, _slice_like))
CASES.append(Case("slice_like", "empty", (In((0, 4)), In((0, 3))), {}, _slice_like, np_shape=True))
_errors("slice_like", ((3, 4), (4, 3)), {"wide": {}, "wide-axis": {"axes": (0,)}})
_errors("slice_like", ((3, 4), (2,)), {"axes-differ": {}, "axis-not-there": {"axes": (1,)}})
_errors(
    "slice_like",
    ((3, 4), (2, 3)),
    {"too-large": {"axes": (2,)}, "too-small": {"axes": (-3,)}, "malformed": {"axes": "x"},
     "unknown-parameter": {"foo": 1}},
)  # fmt: skip


# ---- _split_v2, stack ----


def _split(x: np.ndarray, indices=(), axis=1, squeeze_axis=False, sections=0) -> tuple:
    parts = np.array_split(x, sections if sections else list(indices)[1:], axis=axis)
    return tuple(np.squeeze(p, axis) if squeeze_axis else p.copy() for p in parts)


_rows(
    "_split_v2",
    _split,
    ((2, 6),),
    {"indices": {"indices": (0, 2, 5)}, "sections": {"indices": (), "sections": 3},
     "uneven": {"indices": (), "sections": 4}, "first": {"indices": (0, 1), "axis": 0},
     "squeeze": {"indices": (), "sections": 2, "axis": 0, "squeeze_axis": True},
     "squeeze-indices": {"indices": (0, 1), "axis": 0, "squeeze_axis": True},
     "negative-axis": {"indices": (0, 3), "axis": -1}, "single": {"indices": (0,)},
     "sections-win": {"indices": (0, 2), "sections": 3}},
)  # fmt: skip
_rows("_split_v2", _split, ((2, 3, 4),), {"middle": {"indices": (0, 1)}})
_dtypes("_split_v2", _split, (2, 4), {"indices": (0, 1)}, no_bool=True)
CASES += [
    Case("_split_v2", "no-parts", (In((2, 6)),), {"indices": ()}, error=True, oracle="skip: 1.9.1 crashes"),
    Case("_split_v2", "empty-part", (In((2, 6)),), {"indices": (0, 2, 2, 5)}, _split, np_shape=True),
    Case("_split_v2", "empty-last", (In((2, 6)),), {"indices": (0, 6)}, _split, np_shape=True),
    Case("_split_v2", "empty", (In((0, 6)),), {"indices": (), "sections": 2, "axis": 0}, _split, np_shape=True),
]
_errors(
    "_split_v2",
    ((2, 6),),
    {"past-end": {"indices": (0, 2, 8)}, "late": {"indices": (2, 5)}, "unsorted": {"indices": (0, 5, 2)},
     "negative": {"indices": (0, -2)}, "wide": {"indices": (0, 2), "squeeze_axis": True},
     "axis-too-large": {"indices": (0, 1), "axis": 2}, "no-indices": {"sections": 2},
     "malformed": {"indices": "x"}, "unknown-parameter": {"indices": (0, 1), "foo": 1}},
)  # fmt: skip


def _stack(*arrays: np.ndarray, axis=0, num_args=0) -> np.ndarray:
    return np.stack(arrays, axis=axis)


for _label, _params in {
    "default": {"num_args": 3},
    "middle": {"num_args": 3, "axis": 1},
    "last": {"num_args": 3, "axis": 2},
    "negative": {"num_args": 3, "axis": -1},
    "negative-first": {"num_args": 3, "axis": -3},
    "counted": {},
}.items():
    CASES.append(Case("stack", _label, (In((2, 3)),) * 3, _params, _stack, order=2, diff=(0, 1, 2)))
for _dtype, _domain in _DTYPES.items():
    CASES.append(Case("stack", _dtype, (In((2, 3), _dtype, _domain),) * 2, {"num_args": 2, "axis": 1}, _stack))
CASES += [
    Case("stack", "single", (In((2, 3)),), {"num_args": 1}, _stack, order=2, diff=(0,)),
    Case("stack", "second-only", (In((2, 3)),) * 2, {"num_args": 2}, _stack, order=2, diff=(1,)),
    Case("stack", "empty", (In((0, 3)),) * 2, {"num_args": 2, "axis": 1}, _stack, np_shape=True),
    Case("stack", "scalars", (In(()),) * 2, {"num_args": 2}, _stack, order=1, diff=(0, 1), np_shape=True),
    Case("stack", "shapes-differ", (In((2, 3)), In((2, 2))), {"num_args": 2}, error=True),
    Case("stack", "mixed", (In((2, 3)), In((2, 3), "int32", "bool")), {"num_args": 2}, error=True),
    Case("stack", "none", (), {"num_args": 0}, error=True),
]
_errors(
    "stack",
    ((2, 3), (2, 3)),
    {"too-large": {"num_args": 2, "axis": 3}, "too-small": {"num_args": 2, "axis": -4}, "too-few": {"num_args": 3},
     "too-many": {"num_args": 1}, "malformed": {"num_args": 2, "axis": "x"},
     "unknown-parameter": {"num_args": 2, "dim": 1}},
)  # fmt: skip


# ---- tile, repeat, reverse ----


def _tile(x: np.ndarray, reps) -> np.ndarray:
    return np.tile(x, reps)


_rows(
    "tile",
    _tile,
    ((2, 3),),
    {"two": {"reps": (2, 3)}, "number": {"reps": 2}, "more-axes": {"reps": (2, 1, 2)}, "nothing": {"reps": ()},
     "ones": {"reps": (1, 1)}},
)  # fmt: skip
CASES.append(Case("tile", "many", (In((2, 3)),), {"reps": (2, 2, 2, 2)}, _tile, order=2, diff=(0,), oracle=_DEEP))
_rows("tile", _tile, ((2, 1, 3),), {"fewer": {"reps": (3, 2)}})
_dtypes("tile", _tile, (2, 2), {"reps": (1, 2)})
CASES += [
    Case("tile", "zero", (In((2, 3)),), {"reps": (0,)}, _tile, np_shape=True),
    Case("tile", "scalar", (In(()),), {"reps": (2, 3)}, _tile, order=2, diff=(0,), np_shape=True),
    Case("tile", "empty", (In((0, 2)),), {"reps": (2, 3)}, _tile, np_shape=True),
]
_errors(
    "tile",
    ((2, 3),),
    {"zero-legacy": {"reps": (0,)}, "negative": {"reps": (-1,)}, "no-reps": {}, "malformed": {"reps": "x"},
     "unknown-parameter": {"reps": 2, "foo": 1}},
)  # fmt: skip


def _repeat(x: np.ndarray, repeats, axis=None) -> np.ndarray:
    result = np.repeat(x, repeats, axis)
    return result if repeats else result.reshape((0,))


_rows(
    "repeat",
    _repeat,
    ((2, 3, 2),),
    {"flat": {"repeats": 2}, "none": {"repeats": 3, "axis": None}, "first": {"repeats": 2, "axis": 0},
     "middle": {"repeats": 3, "axis": 1}, "negative": {"repeats": 2, "axis": -1}, "once": {"repeats": 1, "axis": 0}},
)  # fmt: skip
_dtypes("repeat", _repeat, (2, 2), {"repeats": 2, "axis": 1})
CASES += [
    Case("repeat", "zero-times", (In((2, 2)),), {"repeats": 0, "axis": -1}, _repeat, np_shape=True),
    Case("repeat", "scalar", (In(()),), {"repeats": 2}, _repeat, order=1, diff=(0,), np_shape=True),
    Case("repeat", "empty", (In((0, 3)),), {"repeats": 2}, _repeat, np_shape=True),
    Case("repeat", "empty-axis", (In((0, 3)),), {"repeats": 2, "axis": 1}, _repeat, np_shape=True),
]
_errors(
    "repeat",
    ((2, 3),),
    {"negative-count": {"repeats": -1, "axis": 0}, "too-large": {"repeats": 2, "axis": 2},
     "too-small": {"repeats": 2, "axis": -3}, "no-repeats": {}, "malformed": {"repeats": "x"},
     "unknown-parameter": {"repeats": 2, "foo": 1}},
)  # fmt: skip


def _reverse(x: np.ndarray, axis) -> np.ndarray:
    for each in np.atleast_1d(np.array(axis, int)):
        x = np.flip(x, each)
    return x.copy()


_rows(
    "reverse",
    _reverse,
    ((2, 3, 4),),
    {"first": {"axis": 0}, "last": {"axis": 2}, "two": {"axis": (0, 2)}, "all": {"axis": (2, 1, 0)},
     "nothing": {"axis": ()}, "twice": {"axis": (1, 1)}},
)  # fmt: skip
_dtypes("reverse", _reverse, (2, 3), {"axis": 1}, no_bool=True)
CASES.append(Case("reverse", "empty", (In((0, 3)),), {"axis": (0, 1)}, _reverse, np_shape=True))
_errors(
    "reverse",
    ((2, 3),),
    {"negative": {"axis": -1}, "too-large": {"axis": 2}, "no-axis": {}, "malformed": {"axis": "x"},
     "unknown-parameter": {"axis": 0, "foo": 1}},
)  # fmt: skip


# ---- Pad ----


def _pad(x: np.ndarray, mode, pad_width, constant_value=0.0) -> np.ndarray:
    pairs = [tuple(pad_width[2 * i : 2 * i + 2]) for i in range(x.ndim)]
    more = {"constant_values": constant_value} if mode == "constant" else {}
    return np.pad(x, pairs, mode=mode, **more).astype(x.dtype)


for _mode in ("constant", "edge", "reflect"):
    _rows(
        "Pad",
        _pad,
        ((1, 2, 3, 4),),
        {f"{_mode}-{label}": {"mode": _mode, "pad_width": (0, 0, 0, 0, *width)} for label, width in
         {"both": (1, 2, 2, 3), "one": (0, 0, 1, 0), "behind": (0, 2, 0, 0), "none": (0, 0, 0, 0)}.items()},
    )  # fmt: skip
    _rows(
        "Pad", _pad, ((1, 2, 2, 3, 2),), {f"{_mode}-five": {"mode": _mode, "pad_width": (0, 0, 0, 0, 1, 1, 2, 1, 0, 1)}}
    )
    for _dtype in ("float16", "float64"):
        CASES.append(
            Case("Pad", f"{_mode}-{_dtype}", (In((1, 1, 2, 3), _dtype),),
                 {"mode": _mode, "pad_width": (0, 0, 0, 0, 1, 1, 1, 2)}, _pad)
        )  # fmt: skip
_rows(
    "Pad",
    _pad,
    ((1, 1, 2, 3),),
    {"value": {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 0, 0, 2), "constant_value": 2.5}},
)
CASES.append(
    Case("Pad", "edge-wide", (In((1, 1, 1, 1)),), {"mode": "edge", "pad_width": (0, 0, 0, 0, 3, 2, 2, 3)}, _pad,
         order=2, diff=(0,))
)  # fmt: skip
for _mode in ("constant", "edge"):
    CASES.append(
        Case("Pad", f"{_mode}-empty", (In((0, 1, 2, 3)),), {"mode": _mode, "pad_width": (0, 0, 0, 0, 1, 1, 1, 1)}, _pad,
             np_shape=True)
    )  # fmt: skip
_zeros = (0, 0, 0, 0)
_errors(
    "Pad",
    ((1, 1, 2, 3),),
    {"reflect-wide": {"mode": "reflect", "pad_width": (*_zeros, 2, 1, 1, 2)},
     "channels": {"mode": "edge", "pad_width": (0, 0, 1, 1, 1, 1, 1, 1)},
     "batch": {"mode": "constant", "pad_width": (1, 0, 0, 0, 1, 1, 1, 1)},
     "too-few": {"mode": "edge", "pad_width": (*_zeros, 1, 1)}, "no-mode": {"pad_width": (*_zeros, 1, 1, 1, 1)},
     "no-width": {"mode": "edge"}, "unknown-mode": {"mode": "wrap", "pad_width": (*_zeros, 1, 1, 1, 1)},
     "malformed-value": {"mode": "constant", "pad_width": (*_zeros, 1, 1, 1, 1), "constant_value": "x"},
     "unknown-parameter": {"mode": "edge", "pad_width": (*_zeros, 1, 1, 1, 1), "foo": 1}},
)  # fmt: skip
_errors("Pad", ((2, 3),), {"two-axes": {"mode": "constant", "pad_width": (0, 0, 0, 0)}})
_errors("Pad", ((1, 2, 3),), {"three-axes": {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 1)}})
CASES += [
    Case("Pad", "int32", (In((1, 1, 2, 3), "int32", "bool"),), {"mode": "edge", "pad_width": (*_zeros, 1, 1, 1, 1)},
         error=True),
    Case("Pad", "negative", (In((1, 1, 2, 3)),), {"mode": "constant", "pad_width": (*_zeros, 2, -1, 1, 2)}, error=True,
         oracle="differs: 1.9.1 cuts, and writes outside the array"),
]  # fmt: skip


# ---- depth_to_space, space_to_depth ----


def _to_space(x: np.ndarray, block_size) -> np.ndarray:
    n, c, h, w = x.shape
    b = block_size
    return x.reshape(n, b, b, c // b**2, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // b**2, h * b, w * b)


def _to_depth(x: np.ndarray, block_size) -> np.ndarray:
    n, c, h, w = x.shape
    b = block_size
    return x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b**2, h // b, w // b)


for _op, _f, _shapes in (
    ("depth_to_space", _to_space, {1: (2, 3, 2, 2), 2: (2, 8, 2, 3), 3: (1, 9, 1, 2)}),
    ("space_to_depth", _to_depth, {1: (2, 3, 2, 2), 2: (2, 3, 4, 6), 3: (1, 2, 3, 6)}),
):
    for _size, _shape in _shapes.items():
        _rows(_op, _f, (_shape,), {f"block-{_size}": {"block_size": _size}})
    _dtypes(_op, _f, (1, 4, 2, 2), {"block_size": 2}, no_bool=True)
    _errors(
        _op,
        ((1, 4, 2, 3),),
        {"indivisible": {"block_size": 5}, "zero": {"block_size": 0}, "negative": {"block_size": -2}, "no-size": {},
         "malformed": {"block_size": "x"}, "unknown-parameter": {"block_size": 1, "foo": 1}},
    )  # fmt: skip
    _errors(_op, ((4, 2, 2),), {"three-axes": {"block_size": 2}})
    _errors(_op, ((0, 4, 2, 2),), {"empty": {"block_size": 2}}, np_shape=True)


# ---- diag ----


def _diag(x: np.ndarray, k=0, axis1=0, axis2=1) -> np.ndarray:
    return np.diag(x, k) if x.ndim == 1 else np.diagonal(x, k, axis1, axis2).copy()


_rows(
    "diag",
    _diag,
    ((3, 4),),
    {
        "main": {},
        "above": {"k": 1},
        "below": {"k": -1},
        "corner": {"k": 3},
        "swapped": {"axis1": 1, "axis2": 0, "k": 1},
    },
)
_rows("diag", _diag, ((3,),), {"vector": {}, "vector-above": {"k": 2}, "vector-below": {"k": -1}})
_rows(
    "diag",
    _diag,
    ((2, 3, 4),),
    {"three": {}, "three-last": {"axis1": 1, "axis2": 2}, "three-negative": {"axis1": -1, "axis2": 0, "k": 1},
     "three-below": {"axis1": 1, "axis2": 2, "k": -2}},
)  # fmt: skip
_rows("diag", _diag, ((2, 3, 2, 3),), {"four": {"axis1": 3, "axis2": 1, "k": -1}})
_dtypes("diag", _diag, (3, 4), {"k": 1}, no_bool=True)
CASES += [
    Case("diag", "behind-last", (In((3, 4)),), {"k": 4}, _diag, np_shape=True),
    Case("diag", "empty", (In((0, 3)),), {}, _diag, np_shape=True),
    Case("diag", "empty-vector", (In((0,)),), {}, lambda x: np.zeros((0, 0), "float32"), np_shape=True),
    Case("diag", "scalar", (In(()),), {}, error=True, np_shape=True),
]
_errors(
    "diag",
    ((3, 4),),
    {"too-far": {"k": 5}, "too-far-below": {"k": -4}, "same-axis": {"axis1": 1, "axis2": 1},
     "axis-too-large": {"axis1": 0, "axis2": 2}, "axis-too-small": {"axis1": -3}, "malformed": {"k": "x"},
     "unknown-parameter": {"foo": 1}},
)  # fmt: skip
