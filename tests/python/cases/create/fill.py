"""Operators that make arrays: _zeros, _ones, _full, _set_value, zeros_like, ones_like, shape_array, size_array."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []


def _filled(default: float):
    def forward(shape=(), dtype="float32", value=default, ctx="") -> np.ndarray:
        wide = np.array(value, "float64")
        return np.full(shape, wide.astype("int64") if np.dtype(dtype).kind in "iu" else wide).astype(dtype)

    return forward


_DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool")
for _op, _f, _more in (
    ("_zeros", _filled(0.0), {}),
    ("_ones", _filled(1.0), {}),
    ("_full", _filled(0.0), {"value": 3.75}),
):
    for _dtype in _DTYPES:
        CASES.append(Case(_op, _dtype, (), {"shape": (2, 3), "dtype": _dtype, **_more}, _f))
    CASES += [
        Case(_op, "default-dtype", (), {"shape": (2, 3), **_more}, _f),
        Case(_op, "vector", (), {"shape": (5,), **_more}, _f),
        Case(_op, "number-for-shape", (), {"shape": 4, **_more}, _f),
        Case(
            _op, "list-for-shape", (), {"shape": "[2, 3]", **_more}, lambda _f=_f, _more=_more, **p: _f((2, 3), **_more)
        ),
        Case(_op, "ctx", (), {"shape": (2,), "ctx": "cpu(0)", **_more}, _f),
        Case(_op, "out", (), {"shape": (2, 3), **_more}, _f, out=(((2, 3), "float32"),)),
        Case(_op, "empty", (), {"shape": (2, 0), **_more}, _f, np_shape=True),
        Case(_op, "scalar", (), {"shape": (), **_more}, _f, np_shape=True),
        Case(_op, "empty-legacy", (), {"shape": (2, 0), **_more}, error=True),
        Case(_op, "scalar-legacy", (), {"shape": (), **_more}, error=True),
        Case(_op, "no-shape", (), dict(_more), error=True),
        Case(_op, "unknown-extent", (), {"shape": (-1,), **_more}, error=True),
        Case(_op, "unknown-extent-np", (), {"shape": (-1,), **_more}, error=True, np_shape=True),
        Case(_op, "negative", (), {"shape": (-2,), **_more}, error=True),
        Case(_op, "malformed-shape", (), {"shape": "(2,3", **_more}, error=True),
        Case(_op, "unknown-dtype", (), {"shape": (2,), "dtype": "float33", **_more}, error=True),
        Case(_op, "malformed-ctx", (), {"shape": (2,), "ctx": "bad", **_more}, error=True),
        Case(_op, "gpu", (), {"shape": (2,), "ctx": "gpu(0)", **_more}, error=True),
        Case(_op, "too-large", (), {"shape": (99999999999, 99999999999), **_more}, error=True),
        Case(_op, "one-input", (In((2,)),), {"shape": (2,), **_more}, error=True),
        Case(_op, "unknown-parameter", (), {"shape": (2,), "foo": 1, **_more}, error=True),
    ]
_codes = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool")


def _numbered(shape, dtype, ctx="") -> np.ndarray:
    return np.zeros(shape, _codes[dtype])


_op = "_zeros_without_dtype"
CASES += [Case(_op, name, (), {"shape": (2, 3), "dtype": code}, _numbered) for code, name in enumerate(_codes)]
CASES += [
    Case(_op, "ctx", (), {"shape": (2,), "dtype": 0, "ctx": "cpu(0)"}, _numbered),
    Case(_op, "out", (), {"shape": (2,)}, lambda shape: np.zeros(shape, "int32"), out=(((2,), "int32"),)),
    Case(_op, "out-alone", (), {}, lambda: np.zeros(2, "int32"), out=(((2,), "int32"),)),
    Case(_op, "empty", (), {"shape": (2, 0), "dtype": 0}, _numbered, np_shape=True),
    Case(_op, "scalar", (), {"shape": (), "dtype": 0}, _numbered, np_shape=True),
    Case(_op, "out-dtype", (), {"shape": (2,), "dtype": 0}, out=(((2,), "int32"),), error=True),
    Case(_op, "out-shape", (), {"shape": (3,)}, out=(((2,), "int32"),), error=True),
    Case(_op, "no-dtype", (), {"shape": (2,)}, error=True),
    Case(_op, "dtype-over", (), {"shape": (2,), "dtype": 13}, error=True),
    Case(_op, "dtype-name", (), {"shape": (2,), "dtype": "int32"}, error=True),
    Case(_op, "no-shape", (), {"dtype": 0}, error=True),
    Case(_op, "negative", (), {"shape": (-2,), "dtype": 0}, error=True),
    Case(_op, "one-input", (In((2,)),), {"shape": (2,), "dtype": 0}, error=True),
    Case(_op, "unknown-parameter", (), {"shape": (2,), "dtype": 0, "foo": 1}, error=True),
]

_full = _filled(0.0)
CASES += [
    Case("_full", "no-value", (), {"shape": (2,)}, error=True),
    Case("_full", "malformed-value", (), {"shape": (2,), "value": "x"}, error=True),
    Case("_full", "negative-uint8-wraps", (), {"shape": (2,), "value": -3.7, "dtype": "uint8"}, _full),
    Case("_full", "large-uint8-wraps", (), {"shape": (2,), "value": 300, "dtype": "uint8"}, _full),
    Case("_full", "float64-exact", (), {"shape": (2,), "value": 0.1, "dtype": "float64"}, _full),
    Case(
        "_full",
        "infinity",
        (),
        {"shape": (2,), "value": "-inf"},
        lambda shape, value: np.full((2,), -np.inf, "float32"),
    ),
    Case("_full", "nan", (), {"shape": (2,), "value": "nan"}, lambda shape, value: np.full((2,), np.nan, "float32")),
]

_into = ((2, 3), "float32")


def _set(src: float) -> np.ndarray:
    return np.full((2, 3), float(src), "float32")


for _dtype in _DTYPES:
    CASES.append(
        Case(
            "_set_value",
            _dtype,
            (),
            {"src": 2.75},
            lambda src, _dtype=_dtype: np.full((2, 3), 2.75).astype(_dtype),
            out=(((2, 3), _dtype),),
        )
    )
CASES += [
    *(
        Case("_set_value", label, (), {"src": src}, _set, out=(_into,))
        for label, src in (("negative", -1), ("text", "300"), ("nan", "nan"), ("infinity", "-inf"), ("integer", 7))
    ),
    Case(
        "_set_value",
        "scalar",
        (),
        {"src": 3},
        lambda src: np.array(3, "float32"),
        out=(((), "float32"),),
        np_shape=True,
    ),
    Case(
        "_set_value",
        "empty",
        (),
        {"src": 3},
        lambda src: np.zeros((0, 3), "float32"),
        out=(((0, 3), "float32"),),
        np_shape=True,
    ),
    Case(
        "_set_value",
        "float64-tenth",
        (),
        {"src": 0.1},
        lambda src: np.full((1,), 0.1),
        out=(((1,), "float64"),),
        oracle="differs: 1.9.1 rounds to float32",
    ),
    Case("_set_value", "without-out", (), {"src": 1}, error=True),
    Case("_set_value", "no-value", (), {}, out=(_into,), error=True),
    Case("_set_value", "malformed", (), {"src": "x"}, out=(_into,), error=True),
    Case("_set_value", "malformed-end", (), {"src": "3x"}, out=(_into,), error=True, oracle="differs: 1.9.1 reads 3"),
    Case("_set_value", "too-large", (), {"src": "1e39"}, out=(_into,), error=True),
    Case("_set_value", "one-input", (In((2,)),), {"src": 1}, out=(_into,), error=True),
    Case("_set_value", "two-outputs", (), {"src": 1}, out=(_into, _into), error=True),
    Case(
        "_set_value",
        "unknown-parameter",
        (),
        {"src": 1, "foo": 1},
        out=(_into,),
        error=True,
        oracle="differs: 1.9.1 ignores it",
    ),
]

for _op, _f in (("zeros_like", np.zeros_like), ("ones_like", np.ones_like)):
    for _dtype in ("float32", "float64", "int32", "int64", "uint8", "bool"):
        _float = _dtype.startswith("float")
        CASES.append(
            Case(
                _op,
                _dtype,
                (In((2, 3), _dtype, "real" if _float else "bool"),),
                {},
                _f,
                diff=(0,) if _float else (),
                defined=True,
            )
        )
    CASES += [
        Case(_op, "empty", (In((0, 3)),), {}, _f, np_shape=True),
        Case(_op, "nan", (In(values=[np.nan, np.inf]),), {}, _f),
        Case(_op, "no-input", (), {}, error=True),
        Case(_op, "unknown-parameter", (In((2, 3)),), {"ctx": "gpu(0)", "dtype": "float64"}),
    ]

_shape_of = lambda x: np.array(x.shape, "int64")  # noqa: E731
_size_of = lambda x: np.array([x.size], "int64")  # noqa: E731
for _op, _f in (("shape_array", _shape_of), ("size_array", _size_of)):
    CASES += [
        *(Case(_op, _dtype, (In((2, 3), _dtype, "bool"),), forward=_f) for _dtype in _DTYPES),
        Case(_op, "vector", (In((5,)),), forward=_f),
        Case(_op, "six-axes", (In((2, 1, 3, 1, 2, 2)),), forward=_f),
        Case(_op, "empty", (In((2, 0, 3)),), forward=_f, np_shape=True),
        Case(_op, "scalar", (In(()),), forward=_f, np_shape=True),
        Case(_op, "zero-gradient", (In((2, 3)),), forward=_f, defined=True),
        Case(_op, "two-inputs", (In((2,)), In((2,))), error=True),
        Case(_op, "unknown-parameter", (In((2,)),), {"foo": 1}),
    ]
