"""Operators that take parts of arrays, lay them side by side or turn them: slice_axis to diag."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .._rows import BOOL, DTYPES, Rows

CASES = Rows()
_rows, _dtypes, _errors = CASES.rows, CASES.dtypes, CASES.errors
_DEEP = "differs: 1.9.1 refuses so many alternating axes"


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
    Case("slice_axis", "empty-beyond", (In((0, 2)),), {"axis": 0, "begin": 3, "end": 7}, _slice_axis, np_shape=True),
    Case("slice_axis", "empty-last", (In((0, 2)),), {"axis": 0, "begin": -1, "end": None}, _slice_axis, np_shape=True),
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
for _dtype, _domain in DTYPES.items():
    _oracle = BOOL if _dtype == "bool" else ""
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
    Case(
        "_split_v2",
        "squeeze-vector",
        (In((3,)),),
        {"indices": (), "sections": 3, "axis": 0, "squeeze_axis": True},
        _split,
    ),
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
for _dtype, _domain in DTYPES.items():
    CASES.append(Case("stack", _dtype, (In((2, 3), _dtype, _domain),) * 2, {"num_args": 2, "axis": 1}, _stack))
CASES += [
    Case("stack", "single", (In((2, 3)),), {"num_args": 1}, _stack, order=2, diff=(0,)),
    Case("stack", "second-only", (In((2, 3)),) * 2, {"num_args": 2}, _stack, order=2, diff=(1,)),
    Case("stack", "empty", (In((0, 3)),) * 2, {"num_args": 2, "axis": 1}, _stack, np_shape=True),
    Case("stack", "scalars", (In(()),) * 2, {"num_args": 2}, _stack, order=1, diff=(0, 1), np_shape=True),
    Case(
        "stack",
        "axes-differ",
        (In((2, 2)), In((4,))),
        {"num_args": 2},
        error=True,
        oracle="differs: 1.9.1 looks at the numbers of elements alone",
    ),
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
    Case("Pad", "reflect-twice", (In((1, 1, 1, 2, 2)),), {"mode": "reflect", "pad_width": (*_zeros, 0, 0, 0, 0, 1, 2)},
         error=True, oracle="skip: 1.9.1 reads outside the array, and may end the process"),
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
