"""Operators that move data without computing: Reshape, transpose, SliceChannel, Concat."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .._rows import BOOL, DTYPES

CASES: list = []


def to(*shape: int):
    """A forward function that reshapes to this literal shape: what the codes of the case must come to."""
    return lambda x, **params: x.reshape(shape)


#: input shape, shape parameter, reverse, resulting shape
RESHAPES = (
    ((2, 3, 4), (4, 3, 2), False, (4, 3, 2)),
    ((2, 3, 4), (4, 0, 2), False, (4, 3, 2)),
    ((2, 3, 4), (2, 0, 0), False, (2, 3, 4)),
    ((2, 3, 4), (6, 1, -1), False, (6, 1, 4)),
    ((2, 3, 4), (3, -1, 8), False, (3, 1, 8)),
    ((2, 3, 4), (-1,), False, (24,)),
    ((2, 3, 4), (0, -1), False, (2, 12)),
    ((2, 3, 4), (-1, 0), False, (8, 3)),
    ((2, 3, 4), (-2,), False, (2, 3, 4)),
    ((2, 3, 4), (2, -2), False, (2, 3, 4)),
    ((2, 3, 4), (-2, 1, 1), False, (2, 3, 4, 1, 1)),
    ((2, 3, 4), (-3, 4), False, (6, 4)),
    ((2, 3, 4, 5), (-3, -3), False, (6, 20)),
    ((2, 3, 4), (0, -3), False, (2, 12)),
    ((2, 3, 4), (-3, -2), False, (6, 4)),
    ((2, 3, 4), (-4, 1, 2, -2), False, (1, 2, 3, 4)),
    ((2, 3, 4), (2, -4, -1, 3, -2), False, (2, 1, 3, 4)),
    ((2, 3, 4), (-4, -1, 2, -2), False, (1, 2, 3, 4)),
    ((2, 6, 4), (0, -4, 2, 3, 0), False, (2, 2, 3, 4)),
    ((8, 3, 3, 3, 4, 4), (-4, -1, 2, 0, 0, -2), False, (4, 2, 3, 3, 3, 4, 4)),
    ((8, 3, 3, 3, 4, 4), (0, 0, 0, -3, 4), False, (8, 3, 3, 12, 4)),
    ((10, 5, 4), (-1, 0), True, (50, 4)),
    ((2, 3, 4), (0, -1), True, (3, 8)),
    ((2, 3, 4), (-1, 0), True, (6, 4)),
    ((2, 3, 4, 5), (0, -3, 0), True, (2, 12, 5)),
    ((2, 3, 4), (-3, 4), True, (6, 4)),
    ((2, 6, 4), (0, 2, 3, -4, 0), True, (2, 2, 3, 4)),
    ((8, 3, 3), (2, -1, -4, 0, 0), True, (2, 4, 3, 3)),
    ((8, 3, 3), (-1, 2, -4, 0, 0), True, (4, 2, 3, 3)),
    ((2, 3, 4), (-2,), True, (2, 3, 4)),
    ((1,), (1, 1), False, (1, 1)),
)
for _index, (_from, _codes, _reverse, _to) in enumerate(RESHAPES):
    _params = {"shape": _codes, "reverse": True} if _reverse else {"shape": _codes}
    CASES.append(Case("Reshape", f"codes-{_index:02d}", (In(_from),), _params, to(*_to), order=2, diff=(0,)))
for _dtype in ("float64", "int32", "int64", "uint8", "bool"):
    _domain = "real" if _dtype == "float64" else "bool"
    CASES.append(
        Case(
            "Reshape",
            _dtype,
            (In((2, 3), _dtype, _domain),),
            {"shape": (3, 2)},
            to(3, 2),
            order=2 if _dtype == "float64" else 0,
            diff=(0,) if _dtype == "float64" else (),
        )
    )
_garbage = "skip: 1.9.1 does not compare the sizes: it reads past the end, drops elements, and sometimes dies of it"
CASES += [
    Case("Reshape", "target-shape", (In((2, 3, 4)),), {"target_shape": (6, 4)}, to(6, 4), order=1, diff=(0,)),
    Case("Reshape", "target-zero", (In((2, 3, 4)),), {"target_shape": (0, 12)}, to(2, 12), order=1, diff=(0,)),
    Case("Reshape", "target-keep-highest", (In((2, 3, 4)),), {"target_shape": (3, 0), "keep_highest": True}, to(2, 12)),
    Case("Reshape", "shape-before-target", (In((2, 3, 4)),), {"shape": (4, 6), "target_shape": (6, 4)}, to(4, 6)),
    Case("Reshape", "long-suffix", (In((2, 3)),), {"shape": "(3L,2L)"}, to(3, 2)),
    Case("Reshape", "empty", (In((0, 2)),), {"shape": (-1,)}, to(0), np_shape=True),
    Case("Reshape", "empty-kept", (In((0, 2)),), {"shape": (0, 2)}, to(0, 2), np_shape=True),
    Case("Reshape", "two-unknown", (In((2, 3, 4)),), {"shape": (-1, -1)}, error=True),
    Case("Reshape", "copies-too-many", (In((2, 3, 4)),), {"shape": (0, 0, 0, 0)}, error=True),
    Case("Reshape", "unknown-code", (In((2, 3, 4)),), {"shape": (-5,)}, error=True),
    Case("Reshape", "merge-past-end", (In((2, 3, 4)),), {"shape": (-3, -3)}, error=True),
    Case("Reshape", "split-too-short", (In((2, 3, 4)),), {"shape": (-4, 1)}, error=True),
    Case("Reshape", "split-both-unknown", (In((2, 3, 4)),), {"shape": (-4, -1, -1, -2)}, error=True),
    Case("Reshape", "split-indivisible", (In((2, 3, 4)),), {"shape": (-4, 2, 2, -2)}, error=True),
    Case("Reshape", "fraction", (In((2, 3, 4)),), {"shape": "(2.0,12)"}, error=True),
    Case("Reshape", "nothing-given", (In((2, 3, 4)),), {}, error=True),
    Case("Reshape", "unknown-parameter", (In((2, 3)),), {"shape": (3, 2), "foo": 1}, error=True),
    Case("Reshape", "malformed-reverse", (In((2, 3)),), {"shape": (3, 2), "reverse": "x"}, error=True),
    Case("Reshape", "malformed-keep-highest", (In((2, 3)),), {"shape": (3, 2), "keep_highest": "x"}, error=True),
    Case("Reshape", "too-small", (In((2, 3, 4)),), {"shape": (2, 3)}, error=True, oracle=_garbage),
    Case("Reshape", "indivisible", (In((2, 3, 4)),), {"shape": (5, -1)}, error=True, oracle=_garbage),
    Case(
        "Reshape",
        "too-large",
        (In((2, 3, 4)),),
        {"shape": (2, 3, 5)},
        error=True,
        oracle="skip: 1.9.1 reads past the end",
    ),
    Case("Reshape", "no-input", (), {"shape": (3, 2)}, error=True),
]


def _transpose(x: np.ndarray, axes=()) -> np.ndarray:
    return np.transpose(x, axes or None).copy()


for _shape, _axes in (
    ((2, 3), ()),
    ((2, 3), (1, 0)),
    ((2, 3), (0, 1)),
    ((2, 3, 4), ()),
    ((2, 3, 4), (2, 0, 1)),
    ((2, 3, 4), (1, 2, 0)),
    ((2, 3, 4), (0, 2, 1)),
    ((2, 3, 4), (1, 0, 2)),
    ((2, 3, 2, 3), (3, 1, 2, 0)),
    ((2, 1, 3, 1, 2), (4, 2, 0, 1, 3)),
    ((2, 1, 2, 3, 1, 2), (5, 3, 1, 0, 2, 4)),
    ((3,), ()),
    ((67, 33), ()),
):
    CASES.append(
        Case(
            "transpose",
            "x".join(map(str, _shape)) + "-" + ("".join(map(str, _axes)) or "reversed"),
            (In(_shape),),
            {"axes": _axes} if _axes else {},
            _transpose,
            order=2 if np.prod(_shape) < 200 else 0,
            diff=(0,),
        )
    )
for _dtype in ("float64", "int32", "int64", "uint8", "bool"):
    _domain = "real" if _dtype == "float64" else "bool"
    _diff = (0,) if _dtype == "float64" else ()
    _bool = "differs: 1.9.1 does not transpose bool" if _dtype == "bool" else ""
    CASES.append(
        Case(
            "transpose",
            _dtype,
            (In((3, 5), _dtype, _domain),),
            {},
            _transpose,
            order=2 * len(_diff),
            diff=_diff,
            oracle=_bool,
        )
    )
CASES += [
    Case("transpose", "empty", (In((0, 2)),), {}, _transpose, np_shape=True),
    Case("transpose", "empty-axes", (In((2, 3)),), {"axes": ()}, _transpose),
    Case("transpose", "too-few-axes", (In((2, 3, 4)),), {"axes": (1, 0)}, error=True),
    Case("transpose", "axis-too-large", (In((2, 3)),), {"axes": (0, 2)}, error=True),
    Case("transpose", "negative-axes", (In((2, 3)),), {"axes": (-1, 0)}, error=True),
    Case(
        "transpose",
        "axis-twice",
        (In((2, 3)),),
        {"axes": (0, 0)},
        error=True,
        oracle="differs: 1.9.1 takes the same axis twice and answers garbage",
    ),
    Case("transpose", "unknown-parameter", (In((2, 3)),), {"axis": 0}, error=True),
]


def _split(x: np.ndarray, num_outputs=1, axis=1, squeeze_axis=False) -> tuple:
    parts = np.split(x, num_outputs, axis=axis)
    return tuple(np.squeeze(p, axis) if squeeze_axis else p for p in parts)


for _label, _params in {
    "default-axis": {"num_outputs": 3},
    "first": {"num_outputs": 2, "axis": 0},
    "last": {"num_outputs": 2, "axis": 2},
    "negative": {"num_outputs": 3, "axis": -2},
    "squeeze": {"num_outputs": 3, "axis": 1, "squeeze_axis": True},
    "squeeze-last": {"num_outputs": 4, "axis": -1, "squeeze_axis": True},
    "squeeze-first": {"num_outputs": 2, "axis": 0, "squeeze_axis": True},
    "single": {"num_outputs": 1},
}.items():
    _count = _params["num_outputs"]
    CASES.append(Case("SliceChannel", _label, (In((2, 3, 4)),), _params, _split, order=2, diff=(0,)))
for _dtype, _domain in DTYPES.items():
    _oracle = BOOL if _dtype == "bool" else ""
    CASES.append(
        Case("SliceChannel", _dtype, (In((2, 4), _dtype, _domain),), {"num_outputs": 2}, _split, oracle=_oracle)
    )
CASES += [
    Case(
        "SliceChannel",
        "squeeze-vector",
        (In((2,)),),
        {"num_outputs": 2, "axis": 0, "squeeze_axis": True},
        lambda x, **_: (x[0], x[1]),
    ),
    Case(
        "SliceChannel",
        "squeeze-scalars",
        (In((2,)),),
        {"num_outputs": 2, "axis": 0, "squeeze_axis": True},
        lambda x, **_: (x[0], x[1]),
        order=2,
        diff=(0,),
        np_shape=True,
    ),
    Case("SliceChannel", "empty", (In((0, 4)),), {"num_outputs": 2}, _split, np_shape=True),
    Case("SliceChannel", "indivisible", (In((2, 3)),), {"num_outputs": 2}, error=True),
    Case("SliceChannel", "squeeze-wide", (In((2, 4)),), {"num_outputs": 2, "squeeze_axis": True}, error=True),
    Case("SliceChannel", "zero-outputs", (In((2, 4)),), {"num_outputs": 0}, error=True),
    Case("SliceChannel", "negative-outputs", (In((2, 4)),), {"num_outputs": -1}, error=True),
    Case("SliceChannel", "no-count", (In((2, 4)),), {"axis": 0}, error=True),
    Case("SliceChannel", "axis-too-large", (In((2, 4)),), {"num_outputs": 2, "axis": 2}, error=True),
    Case("SliceChannel", "axis-too-small", (In((2, 4)),), {"num_outputs": 2, "axis": -3}, error=True),
    Case("SliceChannel", "unknown-parameter", (In((2, 4)),), {"num_outputs": 2, "foo": 1}, error=True),
    Case("SliceChannel", "malformed-count", (In((2, 4)),), {"num_outputs": "1.5"}, error=True),
]


def _concat(*arrays: np.ndarray, num_args=0, dim=1) -> np.ndarray:
    return np.concatenate(arrays, axis=dim)


for _label, _shapes, _params in (
    ("default-dim", ((2, 3), (2, 1), (2, 4)), {"num_args": 3}),
    ("first", ((2, 3), (1, 3)), {"num_args": 2, "dim": 0}),
    ("negative", ((2, 3, 2), (2, 3, 1)), {"num_args": 2, "dim": -1}),
    ("negative-first", ((2, 3), (1, 3)), {"num_args": 2, "dim": -2}),
    ("middle", ((2, 1, 3), (2, 2, 3), (2, 3, 3)), {"num_args": 3, "dim": 1}),
    ("vectors", ((2,), (3,)), {"num_args": 2, "dim": 0}),
    ("single", ((2, 3),), {"num_args": 1, "dim": 0}),
    ("counted", ((2, 3), (2, 3)), {}),
):
    CASES.append(
        Case(
            "Concat", _label, tuple(In(s) for s in _shapes), _params, _concat, order=2, diff=tuple(range(len(_shapes)))
        )
    )
for _dtype, _domain in DTYPES.items():
    _rows = (In((2, 3), _dtype, _domain), In((2, 2), _dtype, _domain))
    _oracle = BOOL if _dtype == "bool" else ""
    CASES.append(Case("Concat", _dtype, _rows, {"num_args": 2}, _concat, oracle=_oracle))
CASES += [
    Case("Concat", "second-only", (In((2, 3)), In((2, 2))), {"num_args": 2}, _concat, order=2, diff=(1,)),
    Case("Concat", "empty", (In((0, 2)), In((1, 2))), {"num_args": 2, "dim": 0}, _concat, np_shape=True),
    Case("Concat", "both-empty", (In((0, 2)), In((0, 3))), {"num_args": 2}, _concat, np_shape=True),
    Case("Concat", "shapes-differ", (In((2, 3)), In((2, 4))), {"num_args": 2, "dim": 0}, error=True),
    Case("Concat", "ranks-differ", (In((2, 3)), In((2,))), {"num_args": 2, "dim": 0}, error=True),
    Case("Concat", "dim-too-large", (In((2, 3)), In((2, 3))), {"num_args": 2, "dim": 2}, error=True),
    Case("Concat", "dim-too-small", (In((2, 3)), In((2, 3))), {"num_args": 2, "dim": -3}, error=True),
    Case("Concat", "too-few", (In((2, 3)), In((2, 3))), {"num_args": 3}, error=True),
    Case("Concat", "too-many", (In((2, 3)), In((2, 3))), {"num_args": 1}, error=True),
    Case("Concat", "none", (), {"num_args": 0}, error=True),
    Case("Concat", "mixed", (In((2, 3)), In((2, 3), "float64")), {"num_args": 2}, error=True),
    Case("Concat", "unknown-parameter", (In((2, 3)), In((2, 3))), {"num_args": 2, "axis": 1}, error=True),
]
