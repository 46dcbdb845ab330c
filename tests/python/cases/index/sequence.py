"""Sequences of different lengths: SequenceMask, SequenceLast, SequenceReverse."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .gather_nd import DATA_DTYPES, INDEX_DTYPES, of_dtype

CASES: list = []


def _lengths(data: np.ndarray, lengths: tuple, axis: int) -> np.ndarray:
    """Whole lengths, one for each sequence; without any, each fills its axis."""
    if not lengths:
        return np.full(data.shape[1 - axis], data.shape[axis])
    return np.trunc(np.nan_to_num(lengths[0].astype("float64"), nan=-1.0)).astype("int64")


def _mask(data: np.ndarray, *lengths: np.ndarray, use_sequence_length=False, value=0.0, axis=0) -> np.ndarray:
    steps = np.moveaxis(data.copy(), axis, 0)
    element = np.array(value).astype("int64").astype(data.dtype) if data.dtype.kind in "iu" else value
    for sequence, length in enumerate(_lengths(data, lengths, axis)):
        steps[max(length, 0) :, sequence] = element
    return np.moveaxis(steps, 0, axis)


def _last(data: np.ndarray, *lengths: np.ndarray, use_sequence_length=False, axis=0) -> np.ndarray:
    steps = np.moveaxis(data, axis, 0)
    found = [steps[length - 1, sequence] for sequence, length in enumerate(_lengths(data, lengths, axis))]
    return np.array(found, data.dtype).reshape(steps.shape[1:])


def _reverse(data: np.ndarray, *lengths: np.ndarray, use_sequence_length=False, axis=0) -> np.ndarray:
    result = data.copy()
    for sequence, length in enumerate(_lengths(data, lengths, axis)):
        result[:length, sequence] = result[:length, sequence][::-1].copy()
    return result


_USE = {"use_sequence_length": True}
_table = In((4, 3))
_three = In(values=[1.0, 4.0, 2.0])
_four = In(values=[3.0, 1.0, 2.0, 1.0])
_BOOL = "differs: 1.9.1 refuses"
_EMPTY = "skip: 1.9.1 ends with SIGFPE"

for _op, _forward in (("SequenceMask", _mask), ("SequenceLast", _last), ("SequenceReverse", _reverse)):
    for _label, _inputs, _params in (
        ("plain", (_table,), {}),
        ("lengths", (_table, _three), _USE),
        ("three-axes", (In((4, 3, 2)), _three), _USE),
        ("four-axes", (In((4, 3, 2, 2)), _three), _USE),
        ("fractions", (_table, In(values=[1.5, 2.9, 3.0])), _USE),
        ("full", (_table, In(values=[4.0, 4.0, 4.0])), _USE),
        ("one-step", (In((1, 3)), In(values=[1.0, 1.0, 1.0])), _USE),
        ("one-sequence", (In((4, 1)), In(values=[3.0])), _USE),
    ):
        # 1.9.1 writes out of bounds in the gradient of SequenceLast without lengths.
        _oracle = "skip: 1.9.1 ends with SIGABRT" if (_op, _label) == ("SequenceLast", "plain") else ""
        CASES.append(Case(_op, _label, _inputs, _params, _forward, order=2, diff=(0,), oracle=_oracle))
    for _dtype in INDEX_DTYPES:
        _inputs = (_table, In(dtype=_dtype, values=[1, 4, 2]))
        CASES.append(Case(_op, f"{_dtype}-lengths", _inputs, _USE, _forward, order=2, diff=(0,)))
    _inputs = (In((1, 2)), In(dtype="bool", values=[True, True]))
    CASES.append(Case(_op, "bool-lengths", _inputs, _USE, _forward, order=2, diff=(0,), oracle=_BOOL))
    for _dtype in DATA_DTYPES:
        _oracle = _BOOL if _dtype == "bool" else ""
        _inputs = (of_dtype((4, 3), _dtype), _three)
        CASES.append(Case(_op, f"{_dtype}-data", _inputs, _USE, _forward, oracle=_oracle))
        CASES.append(Case(_op, f"{_dtype}-data-plain", _inputs[:1], {}, _forward, oracle=_oracle))
    CASES.append(Case(_op, "length-gradient", (_table, _three), _USE, _forward, diff=(0, 1), defined=True))
    for _label, _inputs, _params in (
        ("vector", (In((4,)),), {}),
        ("vector-lengths", (In((4,)), In(values=[1.0])), _USE),
        ("too-many-lengths", (_table, _four), _USE),
        ("matrix-of-lengths", (_table, In(values=[[1.0], [2.0], [1.0]])), _USE),
        ("negative-axis", (_table,), {"axis": -1}),
        ("third-axis", (In((4, 3, 2)),), {"axis": 2}),
        ("no-lengths", (_table,), _USE),
        ("unused-lengths", (_table, _three), {}),
        ("malformed-flag", (_table,), {"use_sequence_length": "x"}),
        ("unknown-parameter", (_table,), {"foo": 1}),
    ):
        CASES.append(Case(_op, _label, _inputs, _params, error=True))
    CASES += [
        Case(_op, "empty-elements", (In((4, 3, 0)), _three), _USE, _forward, np_shape=True),
        Case(_op, "no-sequences", (In((4, 0)), In((0,))), _USE, _forward, np_shape=True, oracle=_EMPTY),
        Case(_op, "no-sequences-plain", (In((4, 0)),), {}, _forward, np_shape=True, oracle=_EMPTY),
    ]

for _op, _forward in (("SequenceMask", _mask), ("SequenceLast", _last)):
    for _label, _inputs, _params in (
        ("axis-one", (_table, _four), {"axis": 1, **_USE}),
        ("axis-one-three-axes", (In((4, 3, 2)), _four), {"axis": 1, **_USE}),
        ("axis-one-plain", (_table,), {"axis": 1}),
    ):
        _oracle = "skip: 1.9.1 ends with SIGABRT" if _op == "SequenceLast" and "plain" in _label else ""
        CASES.append(Case(_op, _label, _inputs, _params, _forward, order=2, diff=(0,), oracle=_oracle))

# ---- what is behind the end, and lengths that cannot be ----

for _label, _data, _value in (
    ("value", _table, -1.5),
    ("int32-value", of_dtype((4, 3), "int32"), -1.5),
    ("uint8-value", of_dtype((4, 3), "uint8"), 300),
    ("uint8-negative-value", of_dtype((4, 3), "uint8"), -1.5),
    ("float16-value", of_dtype((4, 3), "float16"), 0.25),
):
    _order = 2 if _label == "value" else 0
    CASES.append(Case("SequenceMask", _label, (_data, _three), {"value": _value, **_USE}, _mask, _order, (0,)[:_order]))
CASES += [
    Case("SequenceMask", "value-unused", (_table,), {"value": 7}, _mask),
    Case("SequenceMask", "malformed-value", (_table,), {"value": "x"}, error=True),
    Case("SequenceMask", "zero-length", (_table, In(values=[0.0, 4.0, 0.0])), _USE, _mask, order=2, diff=(0,)),
    Case("SequenceMask", "above", (_table, In(values=[5.0, 1e7, 2.0])), _USE, _mask, order=2, diff=(0,)),
    Case(
        "SequenceMask",
        "below",
        (_table, In(values=[-1.0, -9.0, np.nan])),
        _USE,
        _mask,
        order=2,
        diff=(0,),
        oracle="skip: 1.9.1 writes out of bounds",
    ),
    Case("SequenceMask", "no-steps", (In((0, 3)), _three), _USE, _mask, np_shape=True, oracle=_EMPTY),
    Case("SequenceMask", "no-steps-plain", (In((0, 3)),), {}, _mask, np_shape=True, oracle=_EMPTY),
    Case("SequenceReverse", "zero-length", (_table, In(values=[0.0, 4.0, 0.0])), _USE, _reverse, order=2, diff=(0,)),
    Case("SequenceReverse", "no-steps-plain", (In((0, 3)),), {}, _reverse, np_shape=True, oracle=_EMPTY),
    Case("SequenceReverse", "axis-one", (_table, _four), {"axis": 1, **_USE}, error=True),
    Case("SequenceReverse", "axis-one-plain", (_table,), {"axis": 1}, error=True),
    Case("SequenceLast", "no-steps-plain", (In((0, 3)),), {}, error=True, np_shape=True, oracle=_EMPTY),
    Case("SequenceLast", "no-steps", (In((0, 3)), _three), _USE, error=True, np_shape=True, oracle=_EMPTY),
    Case(
        "SequenceLast",
        "zero-length",
        (_table, In(values=[0.0, 1.0, 1.0])),
        _USE,
        error=True,
        oracle="skip: 1.9.1 reads out of bounds",
    ),
]
for _op in ("SequenceLast", "SequenceReverse"):
    for _label, _lengths_of in (
        ("above", [5.0, 1.0, 1.0]),
        ("far-above", [1e18, 1.0, 1.0]),
        ("below", [1.0, -1.0, 1.0]),
        ("nan", [1.0, 1.0, np.nan]),
    ):
        _inputs = (_table, In(values=_lengths_of))
        CASES.append(Case(_op, _label, _inputs, _USE, error=True, oracle="skip: 1.9.1 reads out of bounds"))
