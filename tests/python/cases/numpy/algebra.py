"""Linear algebra of NumPy arrays: factorisations, eigenvalues, singular values, systems, inverses, norms."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from ..linalg._matrices import LOOSE, both, numbers, positive, regular, spread, t

CASES: list = []
_NONE = "forward: 1.9.1 has no gradient"


def legacy_lacks(inputs: tuple, params: dict, forward) -> bool:
    """Whether a call has arrays without axes or elements, which MXNet's legacy mode does not know."""
    arrays = [each.array("") for each in inputs]
    if any(array.ndim == 0 or array.size == 0 for array in arrays):
        return True
    if forward is None:
        return False
    with np.errstate(all="ignore"):
        results = forward(*arrays, **params)
    return any(np.ndim(each) == 0 for each in (results if isinstance(results, tuple) else (results,)))


def _add(op: str, label: str, inputs: tuple, params: dict, forward=None, **more) -> None:
    more = {"np_shape": legacy_lacks(inputs, params, forward), "tolerance": LOOSE, **more}
    CASES.append(Case(op, label, inputs, params, forward, **more))


def _f64(a: np.ndarray) -> np.ndarray:
    return a.astype("float64")


# ---- factorisations ----


def _cholesky(a):
    return np.linalg.cholesky(_f64(np.tril(a) + t(np.tril(a, -1)))).astype(a.dtype)


def _turn(vectors: np.ndarray) -> np.ndarray:
    """Rows with the component of greatest magnitude positive."""
    best = np.take_along_axis(vectors, np.abs(vectors).argmax(-1)[..., None], -1)
    return vectors * np.where(best < 0, -1, 1)


def _eigh(a, UPLO="L"):
    dtype = a.dtype if a.dtype.kind == "f" else "float64"
    values, vectors = np.linalg.eigh(_f64(a), "U" if UPLO == "U" else "L")
    return values.astype(dtype), t(_turn(t(vectors))).astype(dtype)


def _eigvalsh(a, UPLO="L"):
    return _eigh(a, UPLO)[0]


def _eig(a):
    dtype = a.dtype if a.dtype.kind == "f" else "float64"
    values, vectors = np.linalg.eig(_f64(a))
    return values.astype(dtype), vectors.astype(dtype)


def _eigvals(a):
    return _eig(a)[0]


def _svd(a):
    if a.size == 0:
        return np.zeros((*a.shape[:-1], a.shape[-2]), a.dtype), np.zeros(a.shape[:-1], a.dtype), a
    u, values, v = np.linalg.svd(_f64(a), full_matrices=False)
    best = np.take_along_axis(v, np.abs(v).argmax(-1)[..., None], -1)
    signs = np.where(best < 0, -1, 1)
    return (u * t(signs)).astype(a.dtype), values.astype(a.dtype), (v * signs).astype(a.dtype)


for _shape in ((1, 1), (3, 3), (2, 3, 3), (2, 1, 2, 2)):
    _label = "x".join(map(str, _shape))
    _one, _two = both(positive, f"np cholesky {_label}", *_shape)
    _add("_npi_cholesky", _label, (_one,), {}, _cholesky, order=2, diff=(0,), symmetric=True)
    _add("_npi_cholesky", f"{_label}-float64", (_two,), {}, _cholesky)
    _one, _two = both(spread, f"np eigh {_label}", *_shape)
    for _op, _function in (("_npi_eigh", _eigh), ("_npi_eigvalsh", _eigvalsh)):
        _add(_op, _label, (_one,), {}, _function, order=2, diff=(0,), symmetric=True, oracle=_NONE)
        _add(_op, f"{_label}-float64", (_two,), {"UPLO": "U"}, _function)
for _op, _function in (("_npi_eigh", _eigh), ("_npi_eigvalsh", _eigvalsh)):
    _add(_op, "lower", (In(values=[[4.0, 9.0], [1.0, 5.0]]),), {"UPLO": "L"}, _function)
    _add(_op, "upper", (In(values=[[4.0, 9.0], [1.0, 5.0]]),), {"UPLO": "U"}, _function)
    _add(_op, "int32", (In(values=[[2, 1], [1, 3]], dtype="int32"),), {}, _function)
    _add(_op, "uint8", (In(values=[[2, 1], [1, 3]], dtype="uint8"),), {}, _function)
    _add(
        _op, "large", (In(values=spread("np eigh large", 40, 40)),), {}, _function, tolerance={"float32": (1e-3, 1e-3)}
    )


def _apart(label: str, *shape: int) -> np.ndarray:
    """Matrices that are not symmetric, with real eigenvalues well apart."""
    return numbers(label, *shape) / 8 + np.diag(3.0 * np.arange(shape[-1]) - 4)


_SIGNS = "differs: of float32 1.9.1 turns other vectors around"
for _shape in ((1, 1), (2, 2), (3, 3), (5, 5), (2, 3, 3)):
    _label = "x".join(map(str, _shape))
    _one, _two = both(_apart, f"np eig {_label}", *_shape)
    for _op, _function in (("_npi_eig", _eig), ("_npi_eigvals", _eigvals)):
        _oracle = _SIGNS if _op == "_npi_eig" and _label in ("3x3", "5x5") else _NONE
        _add(_op, _label, (_one,), {}, _function, order=2, diff=(0,), oracle=_oracle)
        _add(_op, f"{_label}-float64", (_two,), {}, _function)
for _op, _function in (("_npi_eig", _eig), ("_npi_eigvals", _eigvals)):
    _add(_op, "triangular", (In(values=[[3.0, 1.0, 2.0], [0.0, 1.0, 5.0], [0.0, 0.0, 2.0]]),), {}, _function)
    _add(_op, "diagonal", (In(values=np.diag([3.0, 1.0, 2.0])),), {}, _function)
    _add(_op, "zero", (In(values=np.zeros((2, 2))),), {}, _function)
    _add(_op, "int32", (In(values=[[2, 1], [1, 3]], dtype="int32"),), {}, _function)
    _add(_op, "complex", (In(values=[[0.0, 1.0], [-1.0, 0.0]]),), {}, error=True)
    _add(_op, "complex-second", (In(values=[np.eye(2), [[0.0, 1.0], [-1.0, 0.0]]]),), {}, error=True)
    _add(
        _op,
        "special-nan",
        (In(values=np.full((2, 2), np.nan)),),
        {},
        lambda a, op=_op: (a[0], a) if op == "_npi_eig" else a[0],
        oracle="differs: 1.9.1 answers any numbers",
    )
for _op in ("_npi_eig", "_npi_eigvals", "_npi_eigh", "_npi_eigvalsh"):
    _pair = _op in ("_npi_eig", "_npi_eigh")
    for _label, _shape in (("empty-batch", (0, 3, 3)), ("empty-matrices", (2, 0, 0))):
        _add(
            _op,
            _label,
            (In(_shape),),
            {},
            lambda a, pair=_pair: (np.zeros(a.shape[:-1], a.dtype), a) if pair else np.zeros(a.shape[:-1], a.dtype),
        )
    for _label, _input in (
        ("vector", In((3,))),
        ("rectangular", In((2, 3))),
        ("float16", In((2, 2), "float16")),
        ("bool", In((2, 2), "bool", "bool")),
    ):
        _add(_op, _label, (_input,), {}, error=True)

for _shape in ((1, 1), (1, 3), (2, 2), (2, 3), (3, 5), (2, 2, 3), (2, 1, 3, 3)):
    _label = "x".join(map(str, _shape))
    _values = numbers(f"np svd {_label}", *_shape) + 3 * np.eye(*_shape[-2:]) * np.arange(1, _shape[-1] + 1)
    _add("_npi_svd", _label, (In(values=_values),), {}, _svd, order=2, diff=(0,))
    _add("_npi_svd", f"{_label}-float64", (In(values=_values, dtype="float64"),), {}, _svd)
_add("_npi_svd", "diagonal", (In(values=[[-3.0, 0.0], [0.0, 4.0]]),), {}, _svd)
_add(
    "_npi_svd",
    "zero",
    (In(values=np.zeros((2, 3))),),
    {},
    lambda a: (np.eye(2, dtype=a.dtype), np.zeros(2, a.dtype), np.eye(2, 3, dtype=a.dtype)),
)
_add(
    "_npi_svd",
    "large",
    (In(values=numbers("np svd large", 40, 45), dtype="float64"),),
    {},
    _svd,
    tolerance={"float64": (1e-7, 1e-8)},
)
_add("_npi_svd", "huge", (In(values=[[3e30, 0.0], [1e30, 2e30]]),), {}, _svd)
_add(
    "_npi_svd",
    "special-nan",
    (In(values=[[1.0, np.nan]]),),
    {},
    lambda a: (a[:, :1] * np.nan, a[:, 0] * np.nan, a * np.nan),
    oracle="differs: 1.9.1 answers any numbers",
)
for _label, _shape in (("empty-batch", (0, 2, 3)), ("empty-matrices", (2, 0, 0)), ("no-rows", (0, 3))):
    _add("_npi_svd", _label, (In(_shape),), {}, _svd)
for _label, _input in (
    ("tall", In((3, 2))),
    ("vector", In((3,))),
    ("int32", In((2, 2), "int32", "bool")),
    ("float16", In((2, 2), "float16")),
):
    _add("_npi_svd", _label, (_input,), {}, error=True)
for _label, _input in (
    ("indefinite", In(values=[[1.0, 2.0], [2.0, 1.0]])),
    ("vector", In((3,))),
    ("int32", In((2, 2), "int32", "bool")),
    ("float16", In((2, 2), "float16")),
):
    _add("_npi_cholesky", _label, (_input,), {}, error=True)

# ---- inverses and systems ----


def _pinv(a, rcond=1e-15, hermitian=False):
    return np.linalg.pinv(_f64(a), rcond).astype(a.dtype)


for _shape in ((1, 1), (2, 3), (3, 2), (3, 3), (2, 2, 3), (2, 1, 3, 2)):
    _label = "x".join(map(str, _shape))
    _values = numbers(f"np pinv {_label}", *_shape) + 3 * np.eye(*_shape[-2:])
    _add("_npi_pinv_scalar_rcond", _label, (In(values=_values),), {}, _pinv, order=2, diff=(0,), oracle=_NONE)
    _add("_npi_pinv_scalar_rcond", f"{_label}-float64", (In(values=_values, dtype="float64"),), {}, _pinv)
    _cutoff = In(values=np.full(_shape[:-2], 1e-6))
    _add("_npi_pinv", _label, (In(values=_values), _cutoff), {}, _pinv, order=2, diff=(0,), oracle=_NONE)
_RANK_1 = In(values=[[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
_add("_npi_pinv_scalar_rcond", "cut", (In(values=np.diag([4.0, 1.0])),), {"rcond": 0.5}, _pinv)
_add("_npi_pinv_scalar_rcond", "singular", (_RANK_1,), {"rcond": 1e-5}, _pinv)
_add("_npi_pinv_scalar_rcond", "equal-values", (In(values=np.eye(3)),), {}, _pinv, order=1, diff=(0,), oracle=_NONE)
_add("_npi_pinv_scalar_rcond", "zero", (In(values=np.zeros((2, 3))),), {}, _pinv)
_add("_npi_pinv", "cut", (In(values=[np.diag([4.0, 1.0])] * 2), In(values=[0.5, 0.1])), {}, _pinv)
_add("_npi_pinv", "one-cutoff", (In(values=[np.diag([4.0, 1.0])] * 2), In(values=0.5)), {}, _pinv)
for _label, _shape in (("empty-batch", (0, 2, 3)), ("empty-matrices", (2, 0, 0)), ("no-rows", (0, 3))):
    _add("_npi_pinv_scalar_rcond", _label, (In(_shape),), {}, _pinv)
for _label, _input in (
    ("vector", In((3,))),
    ("int32", In((2, 2), "int32", "bool")),
    ("float16", In((2, 2), "float16")),
):
    _add("_npi_pinv_scalar_rcond", _label, (_input,), {}, error=True)
    _add("_npi_pinv", _label, (_input, In((), _input.dtype, "bool")), {}, error=True)
_add("_npi_pinv", "too-many-cutoffs", (In((2, 2)), In((3,))), {}, error=True)
_add("_npi_pinv", "cutoffs-of-float64", (In((2, 2)), In((), "float64")), {}, error=True)


def _solve(a, b):
    dtype = "float32" if a.dtype == b.dtype == np.float32 else "float64"
    x = np.linalg.solve(_f64(a), _f64(b)[..., None] if b.ndim == a.ndim - 1 else _f64(b))
    return (x[..., 0] if b.ndim == a.ndim - 1 else x).astype(dtype)


_VECTOR = "forward: 1.9.1 has no gradient of a system with a vector"
for _a, _b in (
    ((3, 3), (3,)),
    ((3, 3), (3, 3)),
    ((2, 3, 3), (2, 3)),
    ((2, 3, 3), (2, 3, 3)),
    ((2, 1, 2, 2), (2, 1, 2)),
):
    _label = "-".join("x".join(map(str, each)) for each in (_a, _b))
    _one, _two = both(regular, f"np solve {_label}", *_a)
    _oracle = _VECTOR if len(_a) != len(_b) else ""
    _add("_npi_solve", _label, (_one, In(_b)), {}, _solve, order=2, diff=(0, 1), oracle=_oracle)
    _add("_npi_solve", f"{_label}-float64", (_two, In(_b, "float64")), {}, _solve)
_A = regular("np solve", 3, 3)
_add("_npi_solve", "mixed", (In(values=_A, dtype="float64"), In((3, 3))), {}, _solve)
_add("_npi_solve", "int32", (In(values=[[2, 1], [1, 3]], dtype="int32"), In(values=[1, 2], dtype="int32")), {}, _solve)
_add("_npi_solve", "columns", (In(values=_A), In((3, 2))), {}, _solve, order=1, diff=(0, 1))
for _a, _b in (((0, 0), (0,)), ((0, 3, 3), (0, 3, 3)), ((2, 0, 0), (2, 0, 0))):
    _add("_npi_solve", f"empty-{len(_a)}-{_b[-1]}", (In(_a), In(_b)), {}, lambda a, b: b)
for _label, _a, _b in (
    ("rectangular", (3, 2), (3,)),
    ("other-size", (3, 3), (2,)),
    ("vector", (3,), (3,)),
    ("other-batch", (2, 3, 3), (3, 2)),
    ("number", (3, 3), ()),
):
    _add("_npi_solve", _label, (In(_a), In(_b)), {}, error=True)
_add("_npi_solve", "singular", (In(values=np.zeros((2, 2))), In((2,))), {}, error=True)
_add("_npi_solve", "float16", (In((2, 2), "float16"), In((2,), "float16")), {}, error=True)


def _tensorinv(a, ind=2):
    return np.linalg.tensorinv(_f64(a), ind).astype(a.dtype)


def _square(label: str, *shape: int) -> np.ndarray:
    """Arrays that are regular matrices if they are reshaped."""
    n = int(round(np.sqrt(np.prod(shape))))
    return regular(label, n, n).reshape(shape)


for _shape, _ind in (((2, 3, 6), 2), ((6, 2, 3), 1), ((3, 3), 1), ((2, 2, 1, 4), 2), ((4, 2, 2), 1)):
    _label = "x".join(map(str, _shape))
    _one, _two = both(_square, f"tensorinv {_label}", *_shape)
    _add("_npi_tensorinv", _label, (_one,), {"ind": _ind}, _tensorinv, order=2, diff=(0,))
    _add("_npi_tensorinv", f"{_label}-float64", (_two,), {"ind": _ind}, _tensorinv)
for _label, _shape, _ind in (
    ("not-square", (2, 3, 6), 1),
    ("zero", (2, 3, 6), 0),
    ("negative", (2, 2), -1),
    ("all", (3, 3), 2),
    ("empty", (0, 0), 1),
):
    _add("_npi_tensorinv", _label, (In(_shape),), {"ind": _ind}, error=True)
_add("_npi_tensorinv", "singular", (In(values=np.zeros((2, 2))),), {"ind": 1}, error=True)
_add("_npi_tensorinv", "float16", (In((2, 2), "float16"),), {"ind": 1}, error=True)
_add("_npi_tensorinv", "int32", (In((2, 2), "int32", "bool"),), {"ind": 1}, error=True)


def _tensorsolve(a, b, a_axes=None):
    dtype = "float32" if a.dtype == b.dtype == np.float32 else "float64"
    return np.linalg.tensorsolve(_f64(a), _f64(b), a_axes or None).astype(dtype)


for _a, _b in (((2, 3, 6), (2, 3)), ((6, 2, 3), (6,)), ((3, 3), (3,)), ((2, 2, 2, 2), (2, 2)), ((1, 1), (1,))):
    _label = "x".join(map(str, _a))
    _one, _two = both(_square, f"tensorsolve {_label}", *_a)
    _add("_npi_tensorsolve", _label, (_one, In(_b)), {}, _tensorsolve, order=2, diff=(0, 1))
    _add(
        "_npi_tensorsolve",
        f"{_label}-float64",
        (_two, In(_b, "float64")),
        {"a_axes": "None"},
        lambda a, b, a_axes: _tensorsolve(a, b),
    )
_add(
    "_npi_tensorsolve",
    "axes",
    (In(values=_square("tensorsolve axes", 2, 3, 6).swapaxes(1, 2)), In((6,))),
    {"a_axes": (0, 2)},
    _tensorsolve,
    order=2,
    diff=(0, 1),
    oracle="forward: 1.9.1's gradient of a is wrong there",
)
_add("_npi_tensorsolve", "mixed", (In(values=_A, dtype="float64"), In((3,))), {}, _tensorsolve)
_add(
    "_npi_tensorsolve",
    "int32",
    (In(values=[[2, 1], [1, 3]], dtype="int32"), In(values=[1, 2], dtype="int32")),
    {},
    _tensorsolve,
)
for _label, _a, _b, _params in (
    ("not-square", (2, 6, 3), (6,), {"a_axes": (1,)}),
    ("other-size", (2, 2), (4,), {}),
    ("number", (2, 2), (), {}),
):
    _add("_npi_tensorsolve", _label, (In(_a), In(_b)), _params, error=True)
_add("_npi_tensorsolve", "singular", (In(values=np.zeros((2, 2))), In((2,))), {}, error=True)

# ---- norms ----


def _norm(data, ord=2.0, axis="None", keepdims=False, flag=-1):
    axis = None if axis == "None" else (axis,) if isinstance(axis, int) else axis
    if axis is None and data.ndim > 2 and flag != -2:
        axis = (-2, -1)
    if axis is not None and len(axis) == 1:
        axis = axis[0]
    kind = {-2: None, 1: "fro" if data.ndim > 1 and not isinstance(axis, int) else None, 2: "nuc"}.get(flag, ord)
    if flag == -2 and axis is None:
        kind = None
    return np.asarray(np.linalg.norm(_f64(data), kind, axis, keepdims)).astype(data.dtype)


for _shape in ((4,), (3, 4), (2, 3, 4)):
    _n = len(_shape)
    for _order in (2, 1, 3, 0, -1, -2, 0.5, 2.5):
        for _keep in (False, True):
            _add(
                "_npi_norm",
                f"vector-{_n}-{_order}-{_keep}",
                (In(_shape, domain="away"),),
                {"ord": _order, "axis": (_n - 1,), "keepdims": _keep},
                _norm,
                order=2 * (not _keep),
                diff=(0,),
            )
    _add("_npi_norm", f"all-{_n}", (In(_shape, domain="away"),), {"flag": -2}, _norm, order=2, diff=(0,))
    _add("_npi_norm", f"all-{_n}-keepdims", (In(_shape, domain="away"),), {"flag": -2, "keepdims": True}, _norm)
    for _axis in ("None", (0, 1)) if _n > 1 else ():
        for _order in (1, -1, 2, -2, "inf", "-inf", "fro", "nuc"):
            _flag = {"fro": 1, "nuc": 2, 2: 0, -2: 0}.get(_order, -1)
            _ord = 2 if _flag > 0 else _order
            _label = f"matrix-{_n}-{_order}-{'last' if _axis == 'None' else 'first'}"
            _add(
                "_npi_norm",
                _label,
                (In(_shape, domain="away"),),
                {"ord": _ord, "axis": _axis, "flag": _flag},
                lambda data, ord, axis, flag: _norm(data, float(ord), axis, False, flag),
                order=1 + (_order == "fro"),
                diff=(0,),
                oracle="" if _order in ("fro", "nuc") else "forward: 1.9.1's gradient forgets grad_output",
            )
_add(
    "_npi_norm",
    "infinite",
    (In((3, 4), domain="away"),),
    {"ord": "inf", "axis": (1,)},
    lambda data, ord, axis: _norm(data, np.inf, axis),
    order=1,
    diff=(0,),
    oracle="differs: 1.9.1 refuses it",
)
_add(
    "_npi_norm",
    "tall",
    (In((4, 3), domain="away"),),
    {"ord": 2, "axis": (0, 1), "flag": 0},
    _norm,
    order=1,
    diff=(0,),
    oracle="differs: 1.9.1 refuses it",
)
_add(
    "_npi_norm",
    "keepdims",
    (In((2, 3, 4), domain="distinct"),),
    {"ord": 2, "axis": (1, 2), "flag": 0, "keepdims": True},
    _norm,
)
_add("_npi_norm", "0-axes", (In(()),), {"flag": -2}, _norm)
_add("_npi_norm", "zeros", (In(values=[0.0, 0.0]),), {"flag": -2}, _norm, diff=(0,), defined=True)
_add("_npi_norm", "empty", (In((0,)),), {"flag": -2}, _norm)
_add(
    "_npi_norm", "empty-matrix", (In((0, 3)),), {"ord": 2, "axis": "None", "flag": -1}, lambda data, **_: np.float32(0)
)
_add("_npi_norm", "int32", (In(values=[3, 3], dtype="int32"),), {"flag": -2}, _norm)
_add("_npi_norm", "float16", (In((3,), "float16"),), {"flag": -2}, _norm, tolerance={"float16": (4e-3, 4e-3)})
_add(
    "_npi_norm",
    "order-3",
    (In((2, 3)),),
    {"ord": 3, "axis": (0, 1)},
    error=True,
    oracle="differs: 1.9.1 takes it for inf",
)
for _label, _shape, _params in (
    ("nuclear-vector", (3,), {"flag": 2, "axis": (0,)}),
    ("axis", (3,), {"axis": (1,)}),
    ("two-axes", (3,), {"axis": (0, 1)}),
):
    _add("_npi_norm", _label, (In(_shape),), _params, error=True)
_add("_npi_norm", "singular-int32", (In((2, 2), "int32", "bool"),), {"ord": 2, "axis": (0, 1), "flag": 0}, error=True)

# ---- special numbers, and arrays of no axes ----

_NAN = In(values=[[1.0, 0.0], [np.nan, 2.0]])
_ODD = In(values=[[0.0, np.inf], [np.nan, -2.0]])
_add("_npi_cholesky", "special-nan", (_NAN,), {}, lambda a: np.array([[1.0, 0.0], [np.nan, np.nan]], a.dtype))
for _op in ("_npi_eigh", "_npi_eigvalsh"):
    _add(
        _op,
        "special-nan",
        (_NAN,),
        {},
        lambda a, op=_op: (a[0] * np.nan, a * np.nan) if op == "_npi_eigh" else a[0] * np.nan,
    )
_add("_npi_pinv_scalar_rcond", "special-nan", (_NAN,), {}, lambda a: a * np.nan)
_add("_npi_pinv", "special-nan", (_NAN, In(values=1e-6)), {}, lambda a, rcond: a * np.nan)
_add("_npi_solve", "special-numbers", (In(values=np.diag([2.0, 4.0])), _ODD), {}, None)
_add("_npi_tensorsolve", "special-numbers", (In(values=np.diag([2.0, 4.0])), In(values=[np.inf, -1.0])), {}, None)
_add("_npi_tensorinv", "special-nan", (In(values=_NAN.values, dtype="float64"),), {"ind": 1}, lambda a, ind: a * np.nan)
_add("_npi_norm", "special-rows", (_ODD,), {"axis": (1,)}, None)
for _op in "cholesky eig eigvals eigh eigvalsh svd pinv_scalar_rcond".split():
    _add(f"_npi_{_op}", "0-axes", (In(()),), {}, error=True)
_add("_npi_pinv", "0-axes", (In(()), In(())), {}, error=True)
_add("_npi_tensorinv", "0-axes", (In(()),), {}, error=True)

#: the part of eig in floating point
INTERNAL = [
    Case("_mxl_eig", label, (In(values=values),), {}, _eig, order=2, diff=(0,), tolerance=LOOSE)
    for label, values in (("2x2", _apart("mxl eig 2", 2, 2)), ("2x3x3", _apart("mxl eig 3", 2, 3, 3)))
]
