"""Numbers in a row (_arange, _linspace, _eye), _identity_with_attr_like_rhs, batch_dot, khatri_rao and _histogram."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []


def _arange(start, stop=None, step=1.0, repeat=1, infer_range=False, ctx="", dtype="float32") -> np.ndarray:
    start, stop = (0.0, start) if stop is None else (start, stop)
    count = int(np.ceil((stop - start) / step))
    if np.dtype(dtype).kind != "f":
        start, step = int(start), int(step)
    return np.repeat(start + np.arange(count) * step, repeat).astype(dtype)


for _label, _params in {
    "stop": {"start": 5},
    "both": {"start": 2, "stop": 6.5},
    "step": {"start": 0, "stop": 1, "step": 0.25},
    "down": {"start": 5, "stop": 1, "step": -1},
    "repeat": {"start": 1, "stop": 4, "repeat": 3},
    "none": {"start": 3, "stop": None},
    "infer": {"start": 0, "stop": 5, "infer_range": True},
    "ctx": {"start": 3, "ctx": "cpu(0)"},
    "tenths": {"start": 0, "stop": 0.7, "step": 0.1, "dtype": "float64"},
    "int-step": {"start": 1, "stop": 10, "step": 2.5, "dtype": "int32"},
    "long": {"start": 10007},
    "int64": {"start": -3, "stop": 3, "dtype": "int64"},
    "int8": {"start": -3, "stop": 3, "dtype": "int8"},
    "uint8": {"start": 250, "stop": 260, "dtype": "uint8"},
    "float16": {"start": 5, "dtype": "float16"},
}.items():
    CASES.append(Case("_arange", _label, (), _params, _arange))
CASES += [
    Case("_arange", "float16-tenths", (), {"start": 0, "stop": 0.7, "step": 0.1, "dtype": "float16"}, _arange,
         oracle="differs: 1.9.1 answers zeros"),
    Case("_arange", "uint8-far", (), {"start": 1e300, "stop": 4e300, "step": 2e300, "dtype": "uint8"},
         lambda **_: np.zeros(2, "uint8")),
]  # fmt: skip
for _label, _params in {
    "backwards": {"start": 5, "stop": 1},
    "nothing": {"start": 5, "stop": 5},
    "no-step": {"start": 0, "stop": 5, "step": 0},
    "repeat-0": {"start": 5, "repeat": 0},
    "repeat-negative": {"start": 5, "repeat": -1},
    "bool": {"start": 5, "dtype": "bool"},
    "infer-alone": {"start": 0, "infer_range": True},
    "no-start": {"stop": 3},
    "malformed": {"start": "x"},
    "unknown-parameter": {"start": 3, "foo": 1},
}.items():
    CASES.append(Case("_arange", _label, (), _params, error=True))


def _linspace(start, stop, num, endpoint=True, ctx="", dtype="float32") -> np.ndarray:
    return np.linspace(start, stop, num, endpoint=bool(endpoint)).astype(dtype)


for _label, _params in {
    "five": {"start": 0, "stop": 1, "num": 5},
    "open": {"start": 0, "stop": 1, "num": 5, "endpoint": False},
    "one": {"start": 2, "stop": 7, "num": 1},
    "one-open": {"start": 2, "stop": 7, "num": 1, "endpoint": False},
    "none": {"start": 0, "stop": 1, "num": 0},
    "down": {"start": 1, "stop": -1, "num": 4},
    "same": {"start": 1, "stop": 1, "num": 3},
    "int32": {"start": 0, "stop": 10, "num": 4, "dtype": "int32"},
    "float64": {"start": 0, "stop": 1, "num": 7, "dtype": "float64"},
    "float16": {"start": 0, "stop": 8, "num": 5, "dtype": "float16"},
    "ctx": {"start": 0, "stop": 1, "num": 2, "ctx": "cpu(0)"},
}.items():
    CASES.append(Case("_linspace", _label, (), _params, _linspace))
for _label, _params in {
    "negative": {"start": 0, "stop": 1, "num": -1},
    "no-stop": {"start": 0, "num": 3},
    "no-num": {"start": 0, "stop": 1},
    "step": {"start": 0, "stop": 1, "num": 3, "step": 1},
    "malformed": {"start": 0, "stop": 1, "num": "x"},
}.items():
    CASES.append(Case("_linspace", _label, (), _params, error=True))


def _eye(N, M=0, k=0, ctx="", dtype="float32") -> np.ndarray:  # noqa: N803 (MXNet's names)
    return np.eye(N, M if M > 0 else N, k, dtype=dtype)


for _label, _params in {
    "square": {"N": 3},
    "wide": {"N": 2, "M": 4},
    "tall": {"N": 4, "M": 2},
    "above": {"N": 2, "M": 4, "k": 1},
    "below": {"N": 4, "M": 2, "k": -2},
    "far": {"N": 2, "k": 5},
    "far-below": {"N": 2, "k": -5},
    "last-row": {"N": 6, "M": 3, "k": -5},
    "none": {"N": 0},
    "negative-columns": {"N": 2, "M": -3},
    "float16": {"N": 2, "dtype": "float16"},
    "float64": {"N": 2, "dtype": "float64"},
    "int8": {"N": 2, "dtype": "int8"},
    "uint8": {"N": 2, "dtype": "uint8"},
    "int32": {"N": 2, "dtype": "int32"},
    "int64": {"N": 2, "dtype": "int64"},
    "ctx": {"N": 1, "ctx": "cpu(0)"},
}.items():
    CASES.append(Case("_eye", _label, (), _params, _eye))
for _label, _params in {
    "negative": {"N": -2},
    "bool": {"N": 2, "dtype": "bool"},
    "no-rows": {"M": 2},
    "malformed": {"N": "x"},
    "unknown-parameter": {"N": 2, "foo": 1},
}.items():
    CASES.append(Case("_eye", _label, (), _params, error=True))

_NAME = "_identity_with_attr_like_rhs"
CASES += [
    Case(_NAME, "plain", (In((2, 3)), In((2, 3))), {}, lambda a, b: a, order=2, diff=(0,)),
    Case(_NAME, "int32", (In((2, 3), "int32", "bool"), In((2, 3), "int32", "bool")), {}, lambda a, b: a),
    Case(_NAME, "empty", (In((0, 3)), In((0, 3))), {}, lambda a, b: a, np_shape=True),
    Case(_NAME, "shapes-differ", (In((2, 3)), In((3, 3))), {}, error=True),
    Case(_NAME, "dtypes-differ", (In((2, 3)), In((2, 3), "int32", "bool")), {}, error=True),
]


def _batch_dot(a, b, transpose_a=False, transpose_b=False, forward_stype=None) -> np.ndarray:
    left = np.swapaxes(a, -1, -2) if transpose_a else a
    right = np.swapaxes(b, -1, -2) if transpose_b else b
    return np.matmul(left, right)


for _ta in (False, True):
    for _tb in (False, True):
        for _batch in ((2,), (2, 3)):
            _shapes = (*_batch, *((4, 3) if _ta else (3, 4))), (*_batch, *((5, 4) if _tb else (4, 5)))
            CASES.append(
                Case("batch_dot", f"{'t' if _ta else 'n'}{'t' if _tb else 'n'}-{len(_batch)}",
                     tuple(In(shape) for shape in _shapes), {"transpose_a": _ta, "transpose_b": _tb}, _batch_dot,
                     order=2, diff=(0, 1))
            )  # fmt: skip
CASES += [
    Case("batch_dot", "left-only", (In((2, 3, 4)), In((2, 4, 5))), {}, _batch_dot, order=2, diff=(0,)),
    Case("batch_dot", "right-only", (In((2, 3, 4)), In((2, 4, 5))), {}, _batch_dot, order=2, diff=(1,)),
    Case("batch_dot", "float64", (In((2, 3, 4), "float64"), In((2, 4, 5), "float64")), {}, _batch_dot, order=2,
         diff=(0, 1)),
    Case("batch_dot", "float16", (In((2, 3, 4), "float16"), In((2, 4, 5), "float16")), {}, _batch_dot, order=1,
         diff=(0, 1), oracle="differs: 1.9.1 refuses it on the CPU"),
    Case("batch_dot", "one", (In((1, 1, 1)), In((1, 1, 1))), {}, _batch_dot, order=2, diff=(0, 1)),
    Case("batch_dot", "stype", (In((2, 3, 4)), In((2, 4, 5))), {"forward_stype": "default"}, _batch_dot),
    Case("batch_dot", "wide", (In((3, 65, 70)), In((3, 70, 66))), {}, _batch_dot, tolerance={"float32": (1e-4, 1e-4)}),
    Case("batch_dot", "empty-batch", (In((0, 3, 4)), In((0, 4, 5))), {}, _batch_dot, np_shape=True),
    Case("batch_dot", "empty-inner", (In((2, 3, 0)), In((2, 0, 5))), {}, _batch_dot, np_shape=True),
    Case("batch_dot", "empty-rows", (In((2, 0, 3)), In((2, 3, 5))), {}, _batch_dot, np_shape=True),
    Case("batch_dot", "batches-differ", (In((2, 3, 4)), In((1, 4, 5))), {}, error=True),
    Case("batch_dot", "inner-differs", (In((2, 3, 4)), In((2, 3, 4))), {}, error=True),
    Case("batch_dot", "matrices", (In((3, 4)), In((4, 5))), {}, error=True),
    Case("batch_dot", "axes-differ", (In((2, 3, 4)), In((1, 2, 4, 5))), {}, error=True),
    Case("batch_dot", "int32", (In((2, 3, 4), "int32", "bool"), In((2, 4, 5), "int32", "bool")), {}, error=True),
    Case("batch_dot", "empty-int64", (In((1, 0, 2), "int64", "bool"), In((1, 2, 1), "int64", "bool")), {}, error=True,
         np_shape=True, oracle="differs: 1.9.1 looks at the dtype when there is something to compute"),
    Case("batch_dot", "mixed", (In((2, 3, 4)), In((2, 4, 5), "float64")), {}, error=True),
    Case("batch_dot", "malformed", (In((2, 3, 4)), In((2, 4, 5))), {"transpose_a": "x"}, error=True),
    Case("batch_dot", "unknown-parameter", (In((2, 3, 4)), In((2, 4, 5))), {"foo": 1}, error=True),
]  # fmt: skip


def _khatri_rao(*arrays) -> np.ndarray:
    result = arrays[0]
    for each in arrays[1:]:
        result = (result[:, None, :] * each[None, :, :]).reshape((-1, result.shape[1]))
    return result


_GRAD = "forward: 1.9.1 has no gradient"
CASES += [
    Case("khatri_rao", "two", (In((2, 2)), In((3, 2))), {}, _khatri_rao, order=2, diff=(0, 1), oracle=_GRAD),
    Case("khatri_rao", "three", (In((2, 3)), In((1, 3)), In((4, 3))), {}, _khatri_rao, order=2, diff=(0, 1, 2),
         oracle=_GRAD),
    Case("khatri_rao", "single", (In((2, 3)),), {}, _khatri_rao, order=2, diff=(0,), oracle=_GRAD),
    Case("khatri_rao", "float64", (In((2, 2), "float64"), In((3, 2), "float64")), {}, _khatri_rao),
    Case("khatri_rao", "float16", (In((2, 2), "float16"), In((3, 2), "float16")), {}, _khatri_rao,
         oracle="differs: 1.9.1 refuses it"),
    Case("khatri_rao", "columns-differ", (In((2, 2)), In((2, 3))), {}, error=True),
    Case("khatri_rao", "vector", (In((2,)), In((2, 3))), {}, error=True),
    Case("khatri_rao", "int32", (In((2, 2), "int32", "bool"), In((2, 2), "int32", "bool")), {}, error=True),
    Case("khatri_rao", "mixed", (In((2, 2), "float64"), In((2, 2))), {}, error=True),
    Case("khatri_rao", "none", (), {}, error=True),
]  # fmt: skip


# ---- _histogram ----


def _histogram(data, bins=None, bin_cnt=None, range=None) -> tuple:  # noqa: A002 (MXNet's name)
    bounds = bins if bins is not None else np.histogram_bin_edges([], bin_cnt, range)
    flat = data.ravel().astype("float64")
    counts = np.histogram(flat[~np.isnan(flat)], np.asarray(bounds, "float64"))[0]
    return counts.astype("int64"), np.asarray(bounds).astype(data.dtype)


_DATA = [0.0, 2.0, 4.0, 5.0, 8.0, 9.0, -1.0, 3.5]
_EQUAL = {"bin_cnt": 4, "range": (0, 8)}
CASES += [
    Case("_histogram", "equal", (In(values=_DATA),), _EQUAL, _histogram),
    Case("_histogram", "list", (In(values=_DATA),), {"bin_cnt": 2, "range": "[-1.5,8.5]"},
         lambda data, **_: _histogram(data, bin_cnt=2, range=(-1.5, 8.5))),
    Case("_histogram", "matrix", (In((5, 7), domain="positive"),), _EQUAL, _histogram),
    Case("_histogram", "nan", (In(values=[1.0, np.nan, 4.0]),), _EQUAL, _histogram),
    Case("_histogram", "one-bin", (In(values=_DATA),), {"bin_cnt": 1, "range": (0, 4)}, _histogram),
    Case("_histogram", "one-value", (In(values=[0.5, 1.0, 1.0, 1.25, 2.0]),), {"bin_cnt": 4, "range": (1, 1)},
         _histogram),
    Case("_histogram", "uneven-int32", (In(dtype="int32", values=[-2, -1, 0, 1, 2]),),
         {"bin_cnt": 10, "range": (-2, 2)}, _histogram,
         oracle="differs: 1.9.1 cuts the bounds to integers, and counts by a mixture of both"),
    Case("_histogram", "bounds", (In(values=_DATA), In(values=[0.0, 2.0, 4.5, 8.0])), {}, _histogram),
    Case("_histogram", "two-bounds", (In(values=_DATA), In(values=[0.0, 5.0])), {}, _histogram),
    Case("_histogram", "half-given", (In(values=_DATA),), {"bin_cnt": 4}, error=True),
    Case("_histogram", "range-alone", (In(values=_DATA),), {"range": (0, 8)}, error=True),
    Case("_histogram", "falling", (In(values=_DATA),), {"bin_cnt": 4, "range": (8, 0)}, error=True),
    Case("_histogram", "one-number", (In(values=_DATA),), {"bin_cnt": 4, "range": (1,)}, error=True),
    Case("_histogram", "no-bins", (In(values=_DATA),), {}, error=True),
    Case("_histogram", "one-bound", (In(values=_DATA), In(values=[5.0])), {}, error=True),
    Case("_histogram", "bound-matrix", (In(values=_DATA), In(values=[[1.0, 2.0], [3.0, 4.0]])), {}, error=True),
    Case("_histogram", "mixed", (In(values=_DATA), In(dtype="float64", values=[1.0, 2.0])), {}, error=True),
    Case("_histogram", "zero-bins", (In(values=_DATA),), {"bin_cnt": 0, "range": (0, 8)}, error=True,
         oracle="differs: 1.9.1 answers with the bound NaN"),
    Case("_histogram", "malformed", (In(values=_DATA),), {"bin_cnt": "x", "range": (0, 8)}, error=True),
    Case("_histogram", "unknown-parameter", (In(values=_DATA),), {**_EQUAL, "foo": 1}, error=True),
]  # fmt: skip
for _dtype in ("float64", "int32", "int64", "int8", "uint8"):
    CASES.append(Case("_histogram", _dtype, (In((9,), _dtype, ("int", 0, 9)),), _EQUAL, _histogram))
