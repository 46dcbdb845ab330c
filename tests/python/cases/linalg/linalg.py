"""linalg_*: products of matrices, products and solutions with triangles, diagonals and triangles in and out."""

from __future__ import annotations

import numpy as np

from .._case import In
from ._matrices import LOOSE, Matrices, lower, numbers, t

CASES = Matrices()
rows, square_errors = CASES.rows, CASES.square_errors

# ---- gemm2, gemm, syrk ----


def _gemm2(a, b, transpose_a=False, transpose_b=False, alpha=1.0, axis=-2):
    a, b = np.moveaxis(a, axis, -2), np.moveaxis(b, axis, -2)
    product = alpha * np.matmul(t(a) if transpose_a else a, t(b) if transpose_b else b)
    return np.moveaxis(product, -2, axis).astype(a.dtype)


def _gemm(a, b, c, transpose_a=False, transpose_b=False, alpha=1.0, beta=1.0, axis=-2):
    product = _gemm2(a, b, transpose_a, transpose_b, alpha, axis)
    return product if beta == 0 else product + np.asarray(beta, c.dtype) * c


for _ta in (False, True):
    for _tb in (False, True):
        for _batch in ((), (2,), (2, 3)):
            _a = (*_batch, *((4, 3) if _ta else (3, 4)))
            _b = (*_batch, *((5, 4) if _tb else (4, 5)))
            _params = {"transpose_a": _ta, "transpose_b": _tb, "alpha": 1.5}
            _label = f"{'t' if _ta else 'n'}{'t' if _tb else 'n'}-{len(_batch)}"
            rows("_linalg_gemm2", (_label, [In(_a), In(_b)], _params, _gemm2), order=2, diff=(0, 1))
            rows(
                "_linalg_gemm",
                (_label, [In(_a), In(_b), In((*_batch, 3, 5))], {**_params, "beta": -0.5}, _gemm),
                order=2,
                diff=(0, 1, 2),
            )
for _axis in (0, 1, -3, -4):
    _at = _axis % 4
    _shapes = [[2, 3, 4], [2, 3, 4]]
    _shapes[0].insert(_at, 5)
    _shapes[1].insert(_at, 4)
    _a, _b = (In(tuple(shape)) for shape in _shapes)
    _shapes[0][-1] = 4
    rows("_linalg_gemm2", (f"axis{_axis}", [_a, _b], {"axis": _axis}, _gemm2), order=2, diff=(0, 1))
    rows(
        "_linalg_gemm",
        (f"axis{_axis}", [_a, _b, In(tuple(_shapes[0]))], {"axis": _axis, "beta": 2}, _gemm),
        order=2,
        diff=(0, 1, 2),
    )
rows(
    "_linalg_gemm2",
    ("axis-t", [In((4, 2, 3)), In((4, 2, 5))], {"axis": 0, "transpose_a": True}, _gemm2, {"order": 2, "diff": (0, 1)}),
    ("axis-tt", [In((4, 2, 3)), In((5, 2, 4))], {"axis": 0, "transpose_a": True, "transpose_b": True}, _gemm2,
     {"order": 2, "diff": (0, 1)}),
    ("float64", [In((2, 3), "float64"), In((3, 4), "float64")], {}, _gemm2, {"diff": (0, 1)}),
    ("float64-alpha", [In((2, 3), "float64"), In((3, 4), "float64")], {"alpha": 0.1}, _gemm2, {"diff": (0, 1)}),
    ("one", [In((1, 1)), In((1, 1))], {}, _gemm2),
    ("wide", [In((70, 65)), In((65, 50))], {"alpha": -1}, _gemm2, {"tolerance": {"float32": (1e-4, 1e-4)}}),
    ("empty-batch", [In((0, 2, 3)), In((0, 3, 4))], {}, _gemm2, {"np_shape": True}),
    ("empty-inner", [In((2, 2, 0)), In((2, 0, 4))], {}, _gemm2, {"np_shape": True}),
    ("empty-rows", [In((2, 0, 3)), In((2, 3, 4))], {}, _gemm2, {"np_shape": True}),
    ("vectors", [In((3,)), In((3,))], {}, None),
    ("inner-differs", [In((2, 3)), In((2, 3))], {}, None),
    ("inner-differs-t", [In((2, 3)), In((3, 4))], {"transpose_a": True}, None),
    ("batch-differs", [In((5, 2, 3)), In((1, 3, 4))], {}, None),
    ("axes-differ", [In((5, 2, 3)), In((3, 4))], {}, None),
    ("axis-last", [In((2, 3)), In((3, 4))], {"axis": 1}, None),
    ("axis-minus-one", [In((2, 3)), In((3, 4))], {"axis": -1}, None),
    ("axis-far", [In((2, 3)), In((3, 4))], {"axis": 5}, None),
    ("axis-far-below", [In((2, 3)), In((3, 4))], {"axis": -3}, None),
    ("mixed", [In((2, 3)), In((3, 4), "float64")], {}, None),
    ("int32", [In((2, 3), "int32", "bool"), In((3, 4), "int32", "bool")], {}, None),
    ("float16", [In((2, 3), "float16"), In((3, 4), "float16")], {}, None),
    ("malformed", [In((2, 3)), In((3, 4))], {"alpha": "x"}, None),
    ("unknown-parameter", [In((2, 3)), In((3, 4))], {"beta": 1}, None),
)  # fmt: skip
rows(
    "_linalg_gemm",
    ("plain", [In((2, 3)), In((3, 4)), In((2, 4))], {}, _gemm, {"diff": (0, 1, 2)}),
    ("float64", [In((2, 3), "float64"), In((3, 4), "float64"), In((2, 4), "float64")], {"beta": 0.1}, _gemm,
     {"diff": (0, 1, 2)}),
    ("beta-zero", [In((2, 3)), In((3, 4)), In((2, 4))], {"beta": 0}, _gemm, {"order": 2, "diff": (0, 1, 2)}),
    ("beta-zero-nan", [In((2, 3)), In((3, 4)), In(values=np.full((2, 4), np.nan))], {"beta": 0}, _gemm),
    ("empty-inner", [In((2, 0)), In((0, 4)), In((2, 4))], {}, _gemm, {"np_shape": True}),
    ("empty-batch", [In((0, 2, 3)), In((0, 3, 4)), In((0, 2, 4))], {}, _gemm, {"np_shape": True}),
    ("c-differs", [In((2, 3)), In((3, 4)), In((2, 3))], {}, None),
    ("c-broadcast", [In((4, 2, 3)), In((4, 3, 4)), In((1, 2, 4))], {}, None),
    ("c-axes", [In((4, 2, 3)), In((4, 3, 4)), In((2, 4))], {}, None),
    ("c-mixed", [In((2, 3)), In((3, 4)), In((2, 4), "float64")], {}, None),
    ("inner-differs", [In((2, 3)), In((2, 4)), In((2, 4))], {}, None),
    ("vectors", [In((3,)), In((3,)), In((3,))], {}, None),
    ("int32", [In((2, 3), "int32", "bool"), In((3, 4), "int32", "bool"), In((2, 4), "int32", "bool")], {}, None),
    ("malformed", [In((2, 3)), In((3, 4)), In((2, 4))], {"axis": "x"}, None),
    ("unknown-parameter", [In((2, 3)), In((3, 4)), In((2, 4))], {"gamma": 1}, None),
)  # fmt: skip


def _syrk(a, transpose=False, alpha=1.0):
    return (alpha * np.matmul(*((t(a), a) if transpose else (a, t(a))))).astype(a.dtype)


for _batch in ((), (2,), (2, 2)):
    for _transpose in (False, True):
        rows(
            "_linalg_syrk",
            (f"{'t' if _transpose else 'n'}-{len(_batch)}", [In((*_batch, 2, 3))],
             {"transpose": _transpose, "alpha": 1.5}, _syrk),
            order=2, diff=(0,),
        )  # fmt: skip
rows(
    "_linalg_syrk",
    ("plain", [In((3, 2))], {}, _syrk, {"order": 2, "diff": (0,)}),
    ("float64", [In((3, 4), "float64")], {"alpha": 0.1}, _syrk, {"diff": (0,)}),
    ("empty-batch", [In((0, 2, 3))], {}, _syrk, {"np_shape": True}),
    ("empty-inner", [In((2, 3, 0))], {}, _syrk, {"np_shape": True}),
    ("vector", [In((3,))], {}, None),
    ("int32", [In((2, 2), "int32", "bool")], {}, None),
    ("malformed", [In((2, 2))], {"transpose": "x"}, None),
    ("unknown-parameter", [In((2, 2))], {"lower": 1}, None),
)

# ---- trmm, trsm ----


def _op(a, transpose, lower):
    a = np.tril(a) if lower else np.triu(a)
    return t(a) if transpose else a


def _trmm(a, b, transpose=False, rightside=False, lower=True, alpha=1.0):
    a = _op(a, transpose, lower)
    return (alpha * (b @ a if rightside else a @ b)).astype(b.dtype)


def _trsm(a, b, transpose=False, rightside=False, lower=True, alpha=1.0):
    a = _op(a, transpose, lower).astype("float64")
    x = t(np.linalg.solve(t(a), t(b))) if rightside else np.linalg.solve(a, b)
    return (alpha * x).astype(b.dtype)


for _name, _function, _make in (("_linalg_trmm", _trmm, numbers), ("_linalg_trsm", _trsm, lower)):
    for _number in range(8):
        _transpose, _right, _lower = bool(_number & 1), bool(_number & 2), bool(_number & 4)
        _params = {"transpose": _transpose, "rightside": _right, "lower": _lower, "alpha": -1.5}
        _label = "".join(letter if on else "-" for letter, on in zip("trl", (_transpose, _right, _lower)))
        for _batch in ((), (2,)):
            _b = (*_batch, *((2, 3) if _right else (3, 2)))
            rows(
                _name,
                (f"{_label}-{len(_batch)}", [In(values=_make(f"{_name}{_number}", *_batch, 3, 3)), In(_b)], _params,
                 _function),
                order=2, diff=(0, 1), tolerance=LOOSE,
            )  # fmt: skip
    _values = _make(_name, 2, 2, 3, 3)
    rows(
        _name,
        ("plain", [In(values=_values[0]), In((2, 3, 4))], {}, _function, {"order": 2, "diff": (0, 1)}),
        ("left-only", [In(values=_values[0]), In((2, 3, 4))], {"alpha": 2}, _function, {"order": 2, "diff": (0,)}),
        ("right-only", [In(values=_values[0]), In((2, 3, 4))], {"alpha": 2}, _function, {"order": 2, "diff": (1,)}),
        ("float64", [In(values=_values, dtype="float64"), In((2, 2, 3, 1), "float64")], {"alpha": 0.1}, _function,
         {"diff": (0, 1)}),
        ("one", [In(values=[[2.0]]), In((1, 3))], {}, _function),
        ("empty-batch", [In((0, 3, 3)), In((0, 3, 2))], {}, _function, {"np_shape": True}),
        ("empty-columns", [In(values=_values[0]), In((2, 3, 0))], {}, lambda a, b, **_: b, {"np_shape": True}),
        ("empty-matrices", [In((2, 0, 0)), In((2, 0, 3))], {}, lambda a, b, **_: b, {"np_shape": True}),
        ("sizes-differ", [In((3, 3)), In((2, 3))], {}, None),
        ("sizes-differ-right", [In((3, 3)), In((3, 2))], {"rightside": True}, None),
        ("rectangular", [In((2, 3)), In((3, 3))], {}, None),
        ("batch-differs", [In((2, 3, 3)), In((1, 3, 3))], {}, None),
        ("axes-differ", [In((2, 3, 3)), In((3, 3))], {}, None),
        ("vectors", [In((3,)), In((3,))], {}, None),
        ("mixed", [In((3, 3)), In((3, 3), "float64")], {}, None),
        ("int32", [In((3, 3), "int32", "bool"), In((3, 3), "int32", "bool")], {}, None),
        ("malformed", [In((3, 3)), In((3, 3))], {"lower": "x"}, None),
        ("unknown-parameter", [In((3, 3)), In((3, 3))], {"beta": 1}, None),
        tolerance=LOOSE,
    )  # fmt: skip
for _right in (False, True):
    _values = lower("large", 100, 100) + np.eye(100) * 60
    rows(
        "_linalg_trsm",
        (f"large-{_right}", [In(values=_values), In((20, 100) if _right else (100, 20))],
         {"rightside": _right, "transpose": True}, _trsm),
        tolerance=LOOSE,
    )  # fmt: skip
rows(
    "_linalg_trsm",
    ("singular", [In(values=np.diag([1.0, 0.0, 2.0])), In(values=[[1.0], [2.0], [3.0]])], {},
     lambda a, b, **_: np.array([[1.0], [np.inf], [np.nan]], b.dtype)),
    ("nan", [In(values=np.diag([1.0, np.nan])), In(values=[[1.0], [2.0]])], {},
     lambda a, b, **_: np.array([[1.0], [np.nan]], b.dtype)),
)  # fmt: skip

# ---- diagonals and triangles ----


def _extractdiag(a, offset=0):
    return np.diagonal(a, offset, -2, -1).copy()


def _makediag(a, offset=0):
    n = a.shape[-1] + abs(offset)
    result = np.zeros((*a.shape[:-1], n, n), a.dtype)
    i = np.arange(a.shape[-1])
    result[..., i + max(-offset, 0), i + max(offset, 0)] = a
    return result


def _triangle(n, offset, lower):
    """Rows and columns of a triangle's elements, in their order."""
    if offset < 0 or (offset == 0 and lower):
        return np.tril_indices(n, offset)
    columns, lines = np.tril_indices(n, -offset)
    return lines, columns


def _extracttrian(a, offset=0, lower=True):
    i, j = _triangle(a.shape[-1], offset, lower)
    return a[..., i, j].copy()


def _maketrian(a, offset=0, lower=True):
    side = int(np.sqrt(2 * a.shape[-1]))
    n = side + abs(offset)
    i, j = _triangle(n, offset, lower)
    result = np.zeros((*a.shape[:-1], n, n), a.dtype)
    result[..., i, j] = a
    return result


for _offset in (0, 1, -1, 2, -3):
    rows("_linalg_extractdiag", (f"offset{_offset}", [In((4, 4))], {"offset": _offset}, _extractdiag), order=2,
         diff=(0,))  # fmt: skip
    rows("_linalg_makediag", (f"offset{_offset}", [In((3,))], {"offset": _offset}, _makediag), order=2, diff=(0,))
    for _lower in (False, True):
        _params = {"offset": _offset, "lower": _lower}
        _label = f"offset{_offset}-{_lower}"
        rows("_linalg_extracttrian", (_label, [In((4, 4))], _params, _extracttrian), order=2, diff=(0,))
        rows("_linalg_maketrian", (_label, [In((6,))], _params, _maketrian), order=2, diff=(0,))
rows(
    "_linalg_extractdiag",
    ("batch", [In((2, 3, 4, 4))], {"offset": 1}, _extractdiag, {"order": 2, "diff": (0,)}),
    ("plain", [In((2, 3, 3))], {}, _extractdiag, {"diff": (0,)}),
    ("float64", [In((3, 3), "float64")], {}, _extractdiag, {"diff": (0,)}),
    ("empty-batch", [In((0, 2, 2))], {}, _extractdiag, {"np_shape": True}),
    ("empty-matrices", [In((2, 0, 0))], {}, None, {"np_shape": True}),
    ("far", [In((3, 3))], {"offset": 3}, None),
    ("far-below", [In((3, 3))], {"offset": -3}, None),
    ("huge", [In((3, 3))], {"offset": -(2**63)}, None),
    ("malformed", [In((3, 3))], {"offset": "x"}, None),
)
rows(
    "_linalg_makediag",
    ("batch", [In((2, 3, 4))], {"offset": -1}, _makediag, {"order": 2, "diff": (0,)}),
    ("plain", [In((2, 3))], {}, _makediag, {"diff": (0,)}),
    ("float64", [In((3,), "float64")], {}, _makediag, {"diff": (0,)}),
    ("empty", [In((0,))], {}, _makediag, {"np_shape": True}),
    ("empty-offset", [In((2, 0))], {"offset": 2}, _makediag, {"np_shape": True}),
    ("empty-batch", [In((0, 2))], {}, _makediag, {"np_shape": True}),
    ("no-axes", [In(())], {}, None, {"np_shape": True}),
    ("huge", [In((3,))], {"offset": 2**62}, None),
    ("huge-below", [In((3,))], {"offset": -(2**63)}, None),
    ("int32", [In((2,), "int32", "bool")], {}, None),
    ("float16", [In((2,), "float16")], {}, None),
    ("malformed", [In((3,))], {"offset": "x"}, None),
    ("unknown-parameter", [In((3,))], {"foo": 1}, None),
)
rows(
    "_linalg_extracttrian",
    ("batch", [In((2, 3, 3, 3))], {"offset": 1}, _extracttrian, {"order": 2, "diff": (0,)}),
    ("plain", [In((2, 3, 3))], {}, _extracttrian, {"diff": (0,)}),
    ("float64", [In((3, 3), "float64")], {"lower": False}, _extracttrian, {"diff": (0,)}),
    ("empty-batch", [In((0, 2, 2))], {}, _extracttrian, {"np_shape": True}),
    ("empty-matrices", [In((2, 0, 0))], {}, None, {"np_shape": True}),
    ("far", [In((3, 3))], {"offset": 3}, None),
    ("far-below", [In((3, 3))], {"offset": -4}, None),
    ("malformed", [In((3, 3))], {"lower": "x"}, None),
)
rows(
    "_linalg_maketrian",
    ("batch", [In((2, 4, 3))], {"offset": -1}, _maketrian, {"order": 2, "diff": (0,)}),
    ("plain", [In((2, 3))], {}, _maketrian, {"diff": (0,)}),
    ("one", [In((1,))], {}, _maketrian),
    ("float64", [In((10,), "float64")], {"lower": False}, _maketrian, {"diff": (0,)}),
    ("empty", [In((2, 0))], {}, _maketrian, {"np_shape": True}),
    ("empty-batch", [In((0, 3))], {}, _maketrian, {"np_shape": True}),
    ("no-axes", [In(())], {}, None, {"np_shape": True}),
    ("two", [In((2,))], {}, None),
    ("four", [In((4,))], {}, None),
    ("five", [In((2, 5))], {}, None),
    ("huge", [In((3,))], {"offset": 2**62}, None),
    ("huge-below", [In((3,))], {"offset": -(2**63)}, None),
    ("int32", [In((3,), "int32", "bool")], {}, None),
    ("malformed", [In((3,))], {"offset": "x"}, None),
    ("unknown-parameter", [In((3,))], {"foo": 1}, None),
)
for _name in ("_linalg_extractdiag", "_linalg_extracttrian"):
    square_errors(_name, parameters=True)


def _sumlogdiag(a):
    result = np.log(np.diagonal(a, 0, -2, -1)).sum(-1)
    return np.asarray(result.reshape((1,)) if a.ndim == 2 else result, a.dtype)


rows(
    "_linalg_sumlogdiag",
    ("matrix", [In((3, 3), domain="positive")], {}, _sumlogdiag, {"order": 2, "diff": (0,)}),
    ("batch", [In((2, 3, 3), domain="positive")], {}, _sumlogdiag, {"order": 2, "diff": (0,)}),
    ("deep", [In((2, 2, 3, 3), domain="positive")], {}, _sumlogdiag, {"order": 2, "diff": (0,)}),
    ("float64", [In((3, 3), "float64", "positive")], {}, _sumlogdiag, {"diff": (0,)}),
    ("np-shape", [In((3, 3), domain="positive")], {}, _sumlogdiag, {"diff": (0,), "np_shape": True}),
    ("negative", [In(values=-np.eye(2))], {}, _sumlogdiag),
    ("zero", [In(values=np.diag([1.0, 0.0]))], {}, _sumlogdiag),
    ("empty-batch", [In((0, 3, 3))], {}, _sumlogdiag, {"np_shape": True}),
    ("empty-matrices", [In((2, 0, 0))], {}, _sumlogdiag, {"np_shape": True}),
)
square_errors("_linalg_sumlogdiag")

# Composed operators: the extents that infer says are those of the parts' result.
rows("_linalg_gemm2", ("out", [In((2, 3)), In((3, 4))], {}, _gemm2, {"out": (((2, 4), "float32"),)}))
rows(
    "_linalg_gemm",
    ("out", [In((3, 2)), In((4, 3)), In((2, 4))], {"transpose_a": True, "transpose_b": True}, _gemm,
     {"out": (((2, 4), "float32"),)}),
)  # fmt: skip
rows(
    "_linalg_syrk",
    ("out", [In((2, 3))], {}, _syrk, {"out": (((2, 2), "float32"),)}),
    ("out-t", [In((2, 3))], {"transpose": True}, _syrk, {"out": (((3, 3), "float32"),)}),
)
rows("_linalg_trmm", ("out", [In((3, 3)), In((3, 2))], {}, _trmm, {"out": (((3, 2), "float32"),)}))
rows("_linalg_extractdiag", ("out", [In((4, 4))], {"offset": -1}, _extractdiag, {"out": (((3,), "float32"),)}))
rows("_linalg_makediag", ("out", [In((3,))], {"offset": -1}, _makediag, {"out": (((4, 4), "float32"),)}))
rows(
    "_linalg_sumlogdiag",
    ("out", [In((3, 3), domain="positive")], {}, _sumlogdiag, {"out": (((1,), "float32"),)}),
    ("out-batch", [In((2, 3, 3), domain="positive")], {}, _sumlogdiag, {"out": (((2,), "float32"),)}),
)
for _name, _shapes, _out in (
    ("gemm", [(2, 3), (3, 4), (2, 4)], (2, 4)),
    ("syrk", [(2, 3)], (2, 2)),
    ("trmm", [(3, 3), (3, 2)], (3, 2)),
    ("extractdiag", [(3, 3)], (3,)),
    ("makediag", [(3,)], (3, 3)),
    ("sumlogdiag", [(3, 3)], (1,)),
):
    rows(f"_linalg_{_name}", ("out-dtype", map(In, _shapes), {}, None, {"out": ((_out, "float64"),)}))
