"""linalg_*: factorisations, inverses and determinants of matrices, many at a time.

What is compared is unique: L of a Cholesky factorisation, L and Q with the signs that Householder's reflections give,
eigenvectors whose component of greatest magnitude is positive. Inputs are made so that it is well determined.
"""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from ._matrices import LOOSE, Matrices, both, lower, numbers, positive, regular, spread, t

CASES = Matrices()
rows, square_errors = CASES.rows, CASES.square_errors

# ---- factorisations ----


def _symmetric(a):
    return np.tril(a) + t(np.tril(a, -1))


def _potrf(a):
    return np.linalg.cholesky(_symmetric(a).astype("float64")).astype(a.dtype)


def _potri(a):
    low = np.tril(a).astype("float64")
    return np.linalg.inv(low @ t(low)).astype(a.dtype)


for _batch in ((), (2,), (2, 2)):
    for _n in (1, 3):
        _label = f"{len(_batch)}-{_n}"
        _float32, _float64 = both(positive, f"potrf {_label}", *_batch, _n, _n)
        rows(
            "_linalg_potrf",
            (_label, [_float32], {}, _potrf, {"order": 2}),
            (f"{_label}-float64", [_float64], {}, _potrf),
            diff=(0,), symmetric=True, tolerance=LOOSE,
        )  # fmt: skip
        _float32, _float64 = both(lower, f"potri {_label}", *_batch, _n, _n)
        rows(
            "_linalg_potri",
            (_label, [_float32], {}, _potri, {"order": 2}),
            (f"{_label}-float64", [_float64], {}, _potri),
            diff=(0,), tolerance=LOOSE,
        )  # fmt: skip
rows(
    "_linalg_potrf",
    ("upper-not-read", [In(values=[[4.0, np.nan], [2.0, 5.0]])], {}, _potrf),
    ("large", [In(values=positive("potrf large", 100, 100) + 100 * np.eye(100))], {}, _potrf),
    ("large-float64", [In(values=positive("potrf large", 100, 100) + np.eye(100), dtype="float64")], {}, _potrf),
    ("nan", [In(values=[[1.0, 0.0], [np.nan, 2.0]])], {}, lambda a: np.array([[1.0, 0.0], [np.nan, np.nan]], a.dtype)),
    ("empty-batch", [In((0, 3, 3))], {}, _potrf, {"np_shape": True}),
    ("empty-matrices", [In((2, 0, 0))], {}, lambda a: a, {"np_shape": True}),
    ("negative", [In(values=-np.eye(2))], {}, None),
    ("indefinite", [In(values=[[1.0, 2.0], [2.0, 1.0]])], {}, None),
    ("zero", [In(values=np.zeros((2, 2)))], {}, None),
    ("second", [In(values=[np.eye(2), -np.eye(2)])], {}, None),
    tolerance=LOOSE,
)
rows(
    "_linalg_potri",
    ("negative", [In(values=np.diag([1.0, -3.0, 2.0]))], {}, _potri),
    ("large", [In(values=lower("potri large", 60, 60) + 60 * np.eye(60))], {}, _potri),
    ("empty-batch", [In((0, 3, 3))], {}, _potri, {"np_shape": True}),
    ("empty-matrices", [In((2, 0, 0))], {}, lambda a: a, {"np_shape": True}),
    ("singular", [In(values=np.diag([1.0, 0.0, 2.0]))], {}, None),
    ("singular-second", [In(values=[np.eye(2), np.diag([1.0, 0.0])])], {}, None),
    ("singular-float64", [In(values=np.diag([1.0, 2.0, 0.0]), dtype="float64")], {}, None),
    tolerance=LOOSE,
)


def _potrf_of(a, lower):
    return _potrf(a) if lower else t(_potrf(t(a)))


def _potri_of(a, lower):
    return _potri(a if lower else t(a))


for _name, _function, _values, _more in (
    ("_linalg_potrf", _potrf_of, positive("potrf upper", 2, 3, 3), {"symmetric": True}),
    ("_linalg_potri", _potri_of, t(lower("potri upper", 2, 3, 3)), {}),
):
    for _label, _row in (
        ("upper", In(values=np.ascontiguousarray(_values))),
        ("upper-float64", In(values=np.ascontiguousarray(_values), dtype="float64")),
        ("upper-alone", In(values=np.where(np.tri(3, k=-1) == 1, 7, _values))),
    ):
        rows(_name, (_label, [_row], {"lower": False}, _function, {"order": 2}), diff=(0,), tolerance=LOOSE, **_more)
rows("_linalg_potrf", ("upper-indefinite", [In(values=[[1.0, 2.0], [0.5, 1.0]])], {"lower": False}, None))
for _name in ("_linalg_potrf", "_linalg_potri"):
    square_errors(_name, parameters=True)


def _reflected(a):
    """(Q, L) of one matrix, signs as Householder's reflections of LAPACK give them."""
    q, r = np.linalg.qr(a.T.astype("float64"), "reduced")
    return q.T, r.T


def _gelqf(a):
    flat = a.reshape((-1, *a.shape[-2:]))
    pairs = [_reflected(each) for each in flat]
    q = np.array([pair[0] for pair in pairs]).reshape(a.shape)
    low = np.array([pair[1] for pair in pairs]).reshape((*a.shape[:-1], a.shape[-2]))
    return q.astype(a.dtype), low.astype(a.dtype)


for _shape in ((1, 1), (1, 3), (2, 2), (2, 3), (3, 3), (3, 7), (2, 2, 3), (2, 1, 3, 4)):
    _label = "x".join(map(str, _shape))
    _values = numbers(f"lq {_label}", *_shape) + 2 * np.eye(*_shape[-2:])
    rows(
        "_linalg_gelqf",
        (_label, [In(values=_values)], {}, _gelqf, {"order": 2}),
        (f"{_label}-float64", [In(values=np.ascontiguousarray(_values), dtype="float64")], {}, _gelqf),
        diff=(0,), tolerance=LOOSE,
    )  # fmt: skip
rows(
    "_linalg_gelqf",
    ("identity", [In(values=np.eye(2, 3))], {}, lambda a: (np.eye(2, 3, dtype=a.dtype), np.eye(2, dtype=a.dtype))),
    ("minus-identity", [In(values=-np.eye(2))], {},
     lambda a: (np.eye(2, dtype=a.dtype), -np.eye(2, dtype=a.dtype))),
    ("zero", [In(values=np.zeros((2, 3)))], {}, lambda a: (np.eye(2, 3, dtype=a.dtype), np.zeros((2, 2), a.dtype))),
    ("large", [In(values=numbers("gelqf large", 70, 90))], {}, _gelqf, {"tolerance": {"float32": (1e-3, 1e-3)}}),
    ("huge-numbers", [In(values=numbers("gelqf huge", 3, 4) * 1e30)], {}, _gelqf),
    ("empty-batch", [In((0, 2, 3))], {}, lambda a: (a, np.zeros((0, 2, 2), a.dtype)), {"np_shape": True}),
    ("empty-rows", [In((2, 0, 3))], {}, lambda a: (a, np.zeros((2, 0, 0), a.dtype)), {"np_shape": True}),
    ("tall", [In((3, 2))], {}, None),
    ("vector", [In((3,))], {}, None),
    ("int32", [In((2, 2), "int32", "bool")], {}, None),
    ("float16", [In((2, 2), "float16")], {}, None),
    tolerance=LOOSE,
)  # fmt: skip
CASES.append(Case("_linalg_gelqf", "unknown-parameter", (In((2, 2)),), {"foo": 1}))


def _syevd(a):
    values, vectors = np.linalg.eigh(_symmetric(a).astype("float64"))
    u = t(vectors)
    best = np.take_along_axis(u, np.abs(u).argmax(-1)[..., None], -1)
    return (u * np.sign(best)).astype(a.dtype), values.astype(a.dtype)


for _shape in ((1, 1), (2, 2), (3, 3), (5, 5), (2, 3, 3), (2, 1, 2, 2)):
    _label = "x".join(map(str, _shape))
    _float32, _float64 = both(spread, f"syevd {_label}", *_shape)
    rows(
        "_linalg_syevd",
        (_label, [_float32], {}, _syevd, {"order": 2}),
        (f"{_label}-float64", [_float64], {}, _syevd),
        diff=(0,), symmetric=True, tolerance=LOOSE,
    )  # fmt: skip
rows(
    "_linalg_syevd",
    ("upper-not-read", [In(values=[[4.0, np.nan], [1.0, 5.0]])], {}, _syevd),
    ("diagonal", [In(values=np.diag([3.0, 1.0, 2.0, -5.0, 0.0]))], {}, _syevd),
    ("tie", [In(values=[[0.0, 1.0], [1.0, 0.0]])], {},
     lambda a: (np.array([[1, -1], [1, 1]], a.dtype) * np.sqrt(0.5).astype(a.dtype), np.array([-1, 1], a.dtype))),
    ("zero", [In(values=np.zeros((2, 2)))], {}, lambda a: (np.eye(2, dtype=a.dtype), np.zeros(2, a.dtype))),
    ("large", [In(values=spread("syevd large", 40, 40))], {}, _syevd, {"tolerance": {"float32": (1e-3, 1e-3)}}),
    ("large-float64", [In(values=spread("syevd large", 90, 90), dtype="float64")], {}, _syevd,
     {"tolerance": {"float64": (1e-8, 1e-9)}}),
    ("huge-numbers", [In(values=spread("syevd huge", 3, 3) * 1e30)], {}, _syevd),
    ("nan", [In(values=np.full((3, 3), np.nan), dtype="float64")], {},
     lambda a: (np.full((3, 3), np.nan), np.full(3, np.nan)),
     {"oracle": "differs: 1.9.1 fails"}),
    ("nan-2", [In(values=[[1.0, 0.0], [np.nan, 2.0]], dtype="float64")], {},
     lambda a: (np.full((2, 2), np.nan), np.full(2, np.nan))),
    ("repeated", [In(values=np.eye(2))], {}, lambda a: (a, np.ones(2, a.dtype)), {"diff": (0,), "defined": True}),
    ("repeated-float64", [In(values=np.diag([3.0, 1.0, 3.0]), dtype="float64")], {}, _syevd,
     {"diff": (0,), "defined": True}),
    ("empty-batch", [In((0, 2, 2))], {}, lambda a: (a, np.zeros((0, 2), a.dtype)), {"np_shape": True}),
    ("empty-matrices", [In((2, 0, 0))], {}, lambda a: (a, np.zeros((2, 0), a.dtype)), {"np_shape": True}),
    tolerance=LOOSE,
)  # fmt: skip
square_errors("_linalg_syevd")

# ---- inverses and determinants ----


def _inverse(a):
    return np.linalg.inv(a.astype("float64")).astype(a.dtype)


def _det(a):
    return np.asarray(np.linalg.det(a.astype("float64"))).astype(a.dtype)


def _det_legacy(a):
    return _det(a).reshape((1,)) if a.ndim == 2 else _det(a)


def _slogdet(a):
    sign, log = np.linalg.slogdet(a.astype("float64"))
    return np.asarray(sign).astype(a.dtype), np.asarray(log).astype(a.dtype)


def _slogdet_legacy(a):
    return tuple(each.reshape((1,)) if a.ndim == 2 else each for each in _slogdet(a))


for _shape in ((1, 1), (2, 2), (3, 3), (4, 4), (2, 3, 3), (2, 1, 2, 2)):
    _label = "x".join(map(str, _shape))
    _float32, _float64 = both(regular, f"inverse {_label}", *_shape)
    for _name, _function in (("inverse", _inverse), ("det", _det_legacy), ("slogdet", _slogdet_legacy)):
        rows(
            f"_linalg_{_name}",
            (_label, [_float32], {}, _function, {"order": 2}),
            (f"{_label}-float64", [_float64], {}, _function),
            diff=(0,), tolerance=LOOSE,
        )  # fmt: skip
_EXCHANGED = [[0.0, 2.0, 0.0], [0.0, 0.0, 3.0], [1.0, 0.0, 0.0]]
_SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
_NO_GRADIENT = "forward: 1.9.1's gradient of a singular matrix is zero"
rows(
    "_linalg_inverse",
    ("exchanged", [In(values=_EXCHANGED)], {}, _inverse, {"order": 2, "diff": (0,)}),
    ("large", [In(values=regular("inverse large", 100, 100))], {}, _inverse, {"tolerance": {"float32": (1e-3, 1e-5)}}),
    ("nan", [In(values=[[1.0, 0.0], [np.nan, 2.0]], dtype="float64")], {}, lambda a: np.full((2, 2), np.nan)),
    ("empty-batch", [In((0, 3, 3))], {}, _inverse, {"np_shape": True}),
    ("empty-matrices", [In((2, 0, 0))], {}, lambda a: a, {"np_shape": True}),
    ("singular", [In(values=_SINGULAR)], {}, None),
    ("singular-second", [In(values=[np.eye(2), _SINGULAR])], {}, None),
    ("zero", [In(values=[[0.0]], dtype="float64")], {}, None),
    tolerance=LOOSE,
)
_EMPTY = {"np_shape": True, "oracle": "differs: 1.9.1 answers 0"}
rows(
    "_linalg_det",
    ("exchanged", [In(values=_EXCHANGED)], {}, _det_legacy, {"order": 2, "diff": (0,)}),
    ("np-shape", [In(values=_EXCHANGED)], {}, _det, {"diff": (0,), "np_shape": True}),
    ("batch-np-shape", [In(values=[_EXCHANGED] * 2)], {}, _det, {"diff": (0,), "np_shape": True}),
    ("large", [In(values=regular("det large", 60, 60) / 120, dtype="float64")], {}, _det_legacy),
    ("overflow", [In(values=np.eye(4) * 1e20)], {}, _det_legacy),
    ("singular", [In(values=_SINGULAR)], {}, _det_legacy, {"order": 1, "diff": (0,), "oracle": _NO_GRADIENT}),
    ("singular-3", [In(values=[[0.0, 1.0, 2.0], [0.0, 4.0, 8.0], [3.0, 5.0, 7.0]])], {}, _det_legacy,
     {"order": 1, "diff": (0,), "oracle": _NO_GRADIENT}),
    ("singular-one", [In(values=[[0.0]])], {}, _det_legacy, {"order": 2, "diff": (0,), "oracle": _NO_GRADIENT}),
    ("singular-second", [In(values=[np.eye(2), _SINGULAR])], {}, _det, {"order": 1, "diff": (0,),
     "oracle": _NO_GRADIENT}),
    ("singular-twice", [In(values=np.diag([0.0, 0.0, 3.0]))], {}, _det_legacy, {"order": 1, "diff": (0,)}),
    ("empty-batch", [In((0, 3, 3))], {}, lambda a: np.zeros((0,), a.dtype), {"np_shape": True}),
    ("empty-matrices", [In((2, 0, 0))], {}, _det, _EMPTY),
    tolerance=LOOSE,
)  # fmt: skip
rows(
    "_linalg_slogdet",
    ("exchanged", [In(values=_EXCHANGED)], {}, _slogdet_legacy, {"order": 2, "diff": (0,)}),
    ("negative", [In(values=-np.eye(3))], {}, _slogdet_legacy, {"order": 2, "diff": (0,)}),
    ("np-shape", [In(values=_EXCHANGED)], {}, _slogdet, {"diff": (0,), "np_shape": True}),
    ("large", [In(values=regular("det large", 60, 60))], {}, _slogdet_legacy),
    ("huge", [In(values=np.eye(4) * 1e20)], {}, _slogdet_legacy),
    ("singular", [In(values=_SINGULAR)], {}, _slogdet_legacy, {"diff": (0,), "defined": True}),
    ("singular-second", [In(values=[np.eye(2), _SINGULAR])], {}, _slogdet, {"diff": (0,), "defined": True}),
    ("nan", [In(values=np.full((2, 2), np.nan))], {},
     lambda a: (np.zeros(1, a.dtype), np.full(1, np.nan, a.dtype))),
    ("empty-batch", [In((0, 3, 3))], {}, lambda a: (np.zeros((0,), a.dtype),) * 2, {"np_shape": True}),
    ("empty-matrices", [In((2, 0, 0))], {}, _slogdet, _EMPTY),
    tolerance=LOOSE,
)  # fmt: skip
for _name in ("inverse", "det", "slogdet"):
    square_errors(f"_linalg_{_name}")

# A composed operator: the extents that infer says are those of the parts' result.
rows("_linalg_det", ("out", [In((2, 3, 3))], {}, lambda a: np.linalg.det(a), {"out": (((2,), "float32"),)}))
