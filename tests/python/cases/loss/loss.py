"""make_loss, MakeLoss, the regression outputs, SoftmaxOutput, softmax_cross_entropy.

All but the last have gradients that are defined, not derived: 1.9.1's answers are what they are compared with, and
test_loss.py says them in NumPy.
"""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []


def _same(x: np.ndarray, *_, **__) -> np.ndarray:
    return x.copy()


# ---- make_loss, MakeLoss ----

for _dtype, _domain in (("float32", "real"), ("float64", "real"), ("float16", "real"), ("int32", ("int", -9, 9)),
                        ("int64", ("int", -9, 9)), ("uint8", ("int", 0, 9)), ("bool", "bool")):  # fmt: skip
    _float = _dtype.startswith("float")
    CASES.append(
        Case("make_loss", _dtype, (In((2, 3), _dtype, _domain),), {}, _same, diff=(0,) if _dtype != "bool" else (),
             defined=True)
    )  # fmt: skip
    if _float:
        CASES.append(Case("MakeLoss", _dtype, (In((2, 3), _dtype),), {"grad_scale": 0.5}, _same, diff=(0,),
                          defined=True))  # fmt: skip
    else:
        CASES.append(Case("MakeLoss", _dtype, (In((2, 3), _dtype, _domain),), {}, error=True))
for _label, _params in {
    "default": {},
    "scale": {"grad_scale": 3.0},
    "null": {"normalization": "null", "valid_thresh": 1.0},
    "batch": {"normalization": "batch", "grad_scale": 3.0},
    "valid": {"normalization": "valid"},
    "valid-some": {"normalization": "valid", "valid_thresh": 0.5, "grad_scale": 3.0},
    "valid-none": {"normalization": "valid", "valid_thresh": 100.0, "grad_scale": 3.0},
}.items():
    CASES.append(Case("MakeLoss", _label, (In((3, 4)),), _params, _same, diff=(0,), defined=True))
for _op in ("make_loss", "MakeLoss"):
    CASES += [
        Case(_op, "vector", (In((5,)),), {}, _same, diff=(0,), defined=True),
        Case(_op, "empty", (In((0, 3)),), {}, _same, diff=(0,), defined=True, np_shape=True),
        Case(_op, "out", (In((2, 3)),), {}, _same, out=(((2, 3), "float32"),)),
        Case(_op, "two-inputs", (In((2, 3)), In((2, 3))), {}, error=True),
    ]
_VALID = {"normalization": "valid"}
CASES += [
    Case("make_loss", "scalar", (In(()),), {}, _same, diff=(0,), defined=True, np_shape=True),
    Case("MakeLoss", "scalar", (In(()),), {}, error=True, np_shape=True),
    Case("MakeLoss", "vector-batch", (In((5,)),), {"normalization": "batch"}, _same, diff=(0,), defined=True),
    Case("MakeLoss", "three-axes-batch", (In((2, 3, 4)),), {"normalization": "batch"}, _same, diff=(0,), defined=True),
    Case("MakeLoss", "float64-valid", (In((2, 3), "float64"),), _VALID, _same, diff=(0,), defined=True),
    Case("MakeLoss", "float16-valid", (In((2, 3), "float16"),), _VALID, _same, diff=(0,), defined=True),
    Case("MakeLoss", "nan-valid", (In(values=[np.nan, 1.0, 2.0]),), _VALID, _same, diff=(0,), defined=True),
    Case("MakeLoss", "threshold-itself", (In(values=[0.5, 1.0, 0.25]),), {**_VALID, "valid_thresh": 0.5}, _same,
         diff=(0,), defined=True),
    Case("MakeLoss", "empty-valid", (In((0, 3)),), _VALID, _same, diff=(0,), defined=True, np_shape=True),
    Case("MakeLoss", "malformed-normalization", (In((2, 3)),), {"normalization": "mean"}, error=True),
    Case("MakeLoss", "malformed-scale", (In((2, 3)),), {"grad_scale": "x"}, error=True),
    Case("MakeLoss", "malformed-threshold", (In((2, 3)),), {"valid_thresh": "x"}, error=True),
    Case("MakeLoss", "unknown-parameter", (In((2, 3)),), {"foo": 1}, error=True),
    Case("make_loss", "unknown-parameter", (In((2, 3)),), {"foo": 1}),
]  # fmt: skip


# ---- regression ----


def _sigmoid(x: np.ndarray, *_, **__) -> np.ndarray:
    return (1 / (1 + np.exp(-x.astype("float64")))).astype(x.dtype)


#: 1.9.1 divides grad_scale in float32
_NEAR = {"float64": (1e-6, 1e-7)}
_LATE = "differs: 1.9.1 reads the parameters when it computes the gradient"
for _op, _f in (("LinearRegressionOutput", _same), ("LogisticRegressionOutput", _sigmoid),
                ("MAERegressionOutput", _same)):  # fmt: skip
    for _label, _shape, _labels, _params in (
        ("default", (3, 4), (3, 4), {}),
        ("scale", (3, 4), (3, 4), {"grad_scale": 6.0}),
        ("vector", (5,), (5,), {}),
        ("three-axes", (2, 3, 4), (2, 3, 4), {"grad_scale": -2.0}),
        ("label-axis-more", (2, 3), (2, 3, 1), {}),
        ("label-axes-more", (2, 3), (2, 3, 1, 1), {}),
        ("data-axis-more", (3, 1), (3,), {}),
        ("data-axes-more", (2, 3, 1, 1), (2, 3), {}),
        ("vector-column", (3,), (3, 1), {}),
        ("one-sample", (1, 4), (1, 4), {}),
        ("long", (3, 1031), (3, 1031), {}),
    ):
        CASES.append(Case(_op, _label, (In(_shape), In(_labels)), _params, _f, diff=(0, 1), defined=True))
    for _dtype in ("float64", "float16"):
        CASES.append(
            Case(_op, _dtype, (In((2, 3), _dtype), In((2, 3), _dtype)), {}, _f, diff=(0, 1), defined=True,
                 tolerance=_NEAR)
        )  # fmt: skip
    CASES += [
        Case(_op, "exact", (In(values=[1.0, 2.0, -1.0]), In(values=[1.0, 3.0, -1.0])), {}, _f, diff=(0,), defined=True),
        Case(_op, "empty-rows", (In((0, 3)), In((0, 3))), {}, _f, diff=(0,), defined=True, np_shape=True,
             oracle="forward: 1.9.1's gradient ends the process"),
        Case(_op, "empty-samples", (In((3, 0)), In((3, 0))), {}, _f, diff=(0,), defined=True, np_shape=True),
        Case(_op, "scalar", (In(()), In(())), {}, error=True, np_shape=True),
        Case(_op, "shapes-differ", (In((2, 3)), In((3, 2))), {}, error=True),
        Case(_op, "label-flat", (In((2, 3)), In((6,))), {}, error=True),
        Case(_op, "label-of-rows", (In((2, 3)), In((2,))), {}, error=True),
        Case(_op, "label-axis-before", (In((2, 3)), In((1, 2, 3))), {}, error=True),
        Case(_op, "empty-and-less", (In((0, 3)), In((0,))), {}, error=True, np_shape=True,
             oracle="differs: of what is empty, 1.9.1 takes a label of any shape"),
        Case(_op, "mixed", (In((2, 3)), In((2, 3), "float64")), {}, error=True),
        Case(_op, "int32", (In((2,), "int32", ("int", 0, 9)), In((2,), "int32", ("int", 0, 9))), {}, error=True),
        Case(_op, "one-input", (In((2, 3)),), {}, error=True),
        Case(_op, "malformed-scale", (In((2, 3)), In((2, 3))), {"grad_scale": "x"}, error=True, oracle=_LATE),
        Case(_op, "unknown-parameter", (In((2, 3)), In((2, 3))), {"foo": 1}, error=True, oracle=_LATE),
    ]  # fmt: skip
CASES.append(
    Case("MAERegressionOutput", "nan", (In(values=[np.nan, 1.0]), In(values=[0.0, np.nan])), {}, _same, diff=(0,),
         defined=True)
)  # fmt: skip


# ---- SoftmaxOutput ----


def _softmax(x: np.ndarray, axes) -> np.ndarray:
    wide = x.astype("float64")
    power = np.exp(wide - wide.max(axis=axes, keepdims=True, initial=-np.inf))
    return (power / power.sum(axis=axes, keepdims=True)).astype(x.dtype)


def _output(x: np.ndarray, label: np.ndarray, multi_output=False, preserve_shape=False, **_) -> np.ndarray:
    if multi_output:
        return _softmax(x, 1)
    return _softmax(x, -1 if preserve_shape or x.ndim < 3 else tuple(range(1, x.ndim)))


_ROWS = In(values=[2.0, 0.0, 1.0])
_THREE = In(values=[[0.0, 3.0, 1.0], [2.0, 2.0, 0.0]])
_SQUARES = [[[0.0, 2.0], [1.0, 1.0]], [[2.0, 1.0], [0.0, 2.0]]]
_MANY = In(values=[[0.0, 2.0, 1.0, 1.0], [2.0, 1.0, 0.0, 2.0]])
_CHANCES = In(values=[[0.25, 0.25, 0.5], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
_FEW = {"multi_output": True}
_KEEP = {"preserve_shape": True}
_SCALES = {
    "": {},
    "-scale": {"grad_scale": 3.0},
    "-ignore": {"use_ignore": True, "ignore_label": 0},
    "-ignore-off": {"ignore_label": 0},
    "-ignore-fraction": {"use_ignore": True, "ignore_label": 0.75},
    "-batch": {"normalization": "batch", "grad_scale": 2.0},
    "-valid": {"normalization": "valid"},
    "-valid-not-ignored": {"normalization": "valid", "ignore_label": 2},
    "-valid-ignored": {"normalization": "valid", "use_ignore": 1, "ignore_label": 2},
    "-smooth": {"smooth_alpha": 0.25},
    "-smooth-one": {"smooth_alpha": 1.0},
    "-smooth-ignore": {"smooth_alpha": 0.5, "use_ignore": True, "ignore_label": 0, "grad_scale": 2.0},
}
for _label, _params in _SCALES.items():
    for _name, _data, _labels, _more in (
        ("rows", In((3, 3)), _ROWS, {}),
        ("last", In((2, 3, 4)), _THREE, _KEEP),
        ("multi", In((2, 3, 4)), _MANY, _FEW),
        ("multi-flat", In((2, 3, 2, 2)), _MANY, _FEW),
        ("multi-one", In((2, 3, 4)), In(values=np.array(_MANY.values)[:, None, :].tolist()), _FEW),
        ("chances", In((3, 3)), _CHANCES, {}),
    ):
        CASES.append(
            Case("SoftmaxOutput", _name + _label, (_data, _labels), {**_params, **_more}, _output, diff=(0, 1),
                 defined=True)
        )  # fmt: skip

_OUT = "forward: 1.9.1 multiplies with its own result"
_VECTOR = "forward: a row, or as many rows as elements, as 1.9.1 records or not"
_READS = "differs: 1.9.1 wants a label of more elements, and reads the first ones"
for _dtype in ("float64", "float16"):
    CASES.append(
        Case("SoftmaxOutput", _dtype, (In((2, 3), _dtype), In(dtype=_dtype, values=[2.0, 0.0])), {"grad_scale": 0.5},
             _output, diff=(0, 1), defined=True)
    )  # fmt: skip
CASES += [
    Case("SoftmaxOutput", "multi-two-axes", (In((3, 3)), _ROWS), _FEW, _output, diff=(0,), defined=True),
    Case("SoftmaxOutput", "multi-column", (In((3, 3)), In(values=[[2.0], [0.0], [1.0]])), _FEW, _output, diff=(0,),
         defined=True),
    Case("SoftmaxOutput", "multi-four-axes", (In((2, 3, 2, 2)), In(values=_SQUARES)), _FEW,
         _output, diff=(0,), defined=True),
    Case("SoftmaxOutput", "multi-and-last", (In((2, 3, 4)), _MANY), {**_FEW, **_KEEP}, _output, diff=(0,),
         defined=True),
    Case("SoftmaxOutput", "multi-chances", (In((2, 3, 4)), In((2, 3, 4))), {**_FEW, "grad_scale": 2.0}, _output,
         diff=(0,), defined=True),
    Case("SoftmaxOutput", "last-chances", (In((2, 3, 4)), In((2, 3, 4))), _KEEP, _output, diff=(0,), defined=True),
    Case("SoftmaxOutput", "all-chances", (In((2, 3, 4)), In((2, 3, 4))), {}, _output, diff=(0,), defined=True),
    Case("SoftmaxOutput", "all", (In((2, 3, 4)), In(values=[2.0, 11.0])), {}, _output, oracle=_READS),
    Case("SoftmaxOutput", "all-but-one", (In((2, 1, 4)), In(values=[[2.0], [3.0]])), {"normalization": "batch"},
         _output, diff=(0,), defined=True),
    Case("SoftmaxOutput", "all-more-labels", (In((2, 3, 4)), In(values=[[2.0, 11.0, 0.0], [5.0, 0.0, 1.0]])), {},
         _output, diff=(0,), defined=True),
    Case("SoftmaxOutput", "out-of-range", (In((4, 3)), In(values=[3.0, -1.0, 100.0, 0.0])), {}, _output, diff=(0,),
         defined=True),
    Case("SoftmaxOutput", "out-of-range-smooth", (In((2, 3)), In(values=[7.0, 0.0])), {"smooth_alpha": 0.25}, _output,
         diff=(0,), defined=True),
    Case("SoftmaxOutput", "fractions", (In((4, 3)), In(values=[1.75, 0.25, -0.75, 2.9])), {}, _output, diff=(0,),
         defined=True),
    Case("SoftmaxOutput", "nan-label", (In((2, 3)), In(values=[np.nan, 1.0])), {}, _output, diff=(0,), defined=True),
    Case("SoftmaxOutput", "valid-none", (In((2, 3)), In(values=[2.0, 2.0])),
         {"use_ignore": True, "ignore_label": 2, "normalization": "valid"}, _output, diff=(0,), defined=True),
    Case("SoftmaxOutput", "valid-default", (In((2, 3)), In(values=[-1.0, 2.0])), {"normalization": "valid"}, _output,
         diff=(0,), defined=True),
    Case("SoftmaxOutput", "one-class-smooth", (In((2, 1)), In(values=[0.0, 0.0])), {"smooth_alpha": 0.25}, _output,
         diff=(0,), defined=True),
    Case("SoftmaxOutput", "one-class-chances", (In((2, 1)), In(values=[[0.0], [1.0]])), {}, _output, diff=(0,),
         defined=True),
    Case("SoftmaxOutput", "out-grad", (In((3, 3)), _ROWS), {"out_grad": True}, _output, diff=(0,), defined=True,
         oracle=_OUT),
    Case("SoftmaxOutput", "out-grad-chances", (In((3, 3)), _CHANCES), {"out_grad": True}, _output, diff=(0,),
         defined=True, oracle=_OUT),
    Case("SoftmaxOutput", "vector", (In((3,)), In(values=[0.0, 1.0, 0.0])), {}, _output, diff=(0,), defined=True,
         oracle=_VECTOR),
    Case("SoftmaxOutput", "vector-last", (In((3,)), In(values=[0.0, 1.0, 0.0])), _KEEP, _output, diff=(0,),
         defined=True),
    Case("SoftmaxOutput", "vector-label", (In((3,)), In(values=1.0)), {}, _output, diff=(0,), defined=True,
         np_shape=True, oracle=_VECTOR),
    Case("SoftmaxOutput", "empty-rows", (In((0, 3)), In((0,))), {}, _output, diff=(0,), defined=True, np_shape=True,
         oracle="skip: 1.9.1's gradient ends the process"),
    Case("SoftmaxOutput", "empty-classes", (In((2, 0)), In((2,))), {}, _output, diff=(0,), defined=True, np_shape=True,
         oracle="skip: 1.9.1 ends the process"),
    Case("SoftmaxOutput", "empty-multi", (In((2, 3, 0)), In((2, 0))), _FEW, _output, diff=(0,), defined=True,
         np_shape=True),
    Case("SoftmaxOutput", "scalar", (In(()), In(())), {}, error=True, np_shape=True),
    Case("SoftmaxOutput", "vector-multi", (In((3,)), In((3,))), _FEW, error=True),
    Case("SoftmaxOutput", "vector-one-label", (In((3,)), In((1,))), {}, error=True),
    Case("SoftmaxOutput", "label-column", (In((2, 3)), In((2, 1))), {}, error=True),
    Case("SoftmaxOutput", "label-long", (In((2, 3)), In((3,))), {}, error=True),
    Case("SoftmaxOutput", "last-label-rows", (In((2, 3, 4)), In((2,))), _KEEP, error=True),
    Case("SoftmaxOutput", "multi-label-rows", (In((2, 3, 4)), In((2,))), _FEW, error=True),
    Case("SoftmaxOutput", "multi-label-flat", (In((2, 3, 4)), In((8,))), _FEW, error=True),
    Case("SoftmaxOutput", "multi-label-turned", (In((2, 3, 4)), In((4, 2))), _FEW, error=True),
    Case("SoftmaxOutput", "multi-label-behind", (In((2, 3, 4)), In((2, 4, 1))), _FEW, error=True),
    Case("SoftmaxOutput", "int-label", (In((2, 3)), In((2,), "int32", ("int", 0, 2))), {}, error=True),
    Case("SoftmaxOutput", "wide-label", (In((2, 3)), In((2,), "float64")), {}, error=True),
    Case("SoftmaxOutput", "int32", (In((2, 3), "int32", ("int", 0, 2)), In((2,), "int32", ("int", 0, 2))), {},
         error=True),
    Case("SoftmaxOutput", "one-input", (In((2, 3)),), {}, error=True),
    Case("SoftmaxOutput", "smooth-too-small", (In((2, 3)), In((2,))), {"smooth_alpha": -0.1}, error=True),
    Case("SoftmaxOutput", "smooth-too-large", (In((2, 3)), In((2,))), {"smooth_alpha": 1.1}, error=True),
    Case("SoftmaxOutput", "malformed-normalization", (In((2, 3)), In((2,))), {"normalization": "mean"}, error=True),
    Case("SoftmaxOutput", "malformed-flag", (In((2, 3)), In((2,))), {"use_ignore": "x"}, error=True),
    Case("SoftmaxOutput", "unknown-parameter", (In((2, 3)), In((2,))), {"foo": 1}, error=True),
]  # fmt: skip


# ---- softmax_cross_entropy ----


def _entropy(x: np.ndarray, label: np.ndarray) -> np.ndarray:
    classes = np.clip(np.trunc(label), 0, max(x.shape[1] - 1, 0)).astype(int)
    chance = _softmax(x.astype("float64"), 1)[np.arange(len(classes)), classes]
    return np.array([-np.log(np.maximum(chance, 1e-8)).sum()]).astype(x.dtype)


_op = "softmax_cross_entropy"
_ENTROPY = {"float16": (2e-2, 2e-2)}
CASES += [
    Case(_op, "float32", (In((3, 4)), In(values=[2.0, 0.0, 3.0])), {}, _entropy, order=2, diff=(0,)),
    Case(_op, "float64", (In((3, 4), "float64"), In(dtype="float64", values=[2.0, 0.0, 3.0])), {}, _entropy, order=2,
         diff=(0,)),
    Case(_op, "float16", (In((3, 4), "float16"), In(dtype="float16", values=[2.0, 0.0, 3.0])), {}, _entropy, diff=(0,),
         tolerance=_ENTROPY),
    Case(_op, "long", (In((1037, 3)), In((1037,), "float32", ("int", 0, 2))), {}, _entropy, diff=(0,)),
    Case(_op, "wide", (In((2, 1037)), In(values=[0.0, 1036.0])), {}, _entropy, diff=(0,)),
    Case(_op, "one-class", (In((3, 1)), In(values=[0.0, 0.0, 0.0])), {}, _entropy, order=2, diff=(0,)),
    Case(_op, "fractions", (In((2, 3)), In(values=[1.75, -0.5])), {}, _entropy, order=2, diff=(0,)),
    Case(_op, "out-of-range", (In((2, 3)), In(values=[3.0, -1.0])), {}, _entropy, order=2, diff=(0,),
         oracle="forward: 1.9.1's gradient does not know what its value is of"),
    Case(_op, "unlikely", (In(values=[[0.0, 100.0]]), In(values=[0.0])), {}, _entropy, diff=(0,)),
    Case(_op, "unlikely-float16", (In(dtype="float16", values=[[0.0, 100.0]]), In(dtype="float16", values=[0.0])), {},
         _entropy, tolerance=_ENTROPY, oracle="differs: infinity in 1.9.1, whose least probability is 0 as a float16"),
    Case(_op, "label-gradient", (In((2, 3)), In(values=[2.0, 0.0])), {}, _entropy, diff=(0, 1),
         oracle="forward: 1.9.1 refuses to differentiate where the label has a gradient"),
    Case(_op, "empty", (In((0, 3)), In((0,))), {}, _entropy, diff=(0,), np_shape=True),
    Case(_op, "no-classes", (In((2, 0)), In((2,))), {}, error=True, np_shape=True, oracle="skip: the process ends"),
    Case(_op, "out", (In((2, 3)), In(values=[2.0, 0.0])), {}, _entropy, out=(((1,), "float32"),)),
    Case(_op, "three-axes", (In((2, 3, 2)), In((2,))), {}, error=True),
    Case(_op, "vector", (In((3,)), In((1,))), {}, error=True),
    Case(_op, "label-column", (In((2, 3)), In((2, 1))), {}, error=True),
    Case(_op, "label-long", (In((2, 3)), In((3,))), {}, error=True),
    Case(_op, "int-label", (In((2, 3)), In((2,), "int32", ("int", 0, 2))), {}, error=True),
    Case(_op, "int32", (In((2, 3), "int32", ("int", 0, 2)), In((2,), "int32", ("int", 0, 2))), {}, error=True),
    Case(_op, "one-input", (In((2, 3)),), {}, error=True),
    Case(_op, "unknown-parameter", (In((2, 3)), In(values=[2.0, 0.0])), {"foo": 1}),
]  # fmt: skip
