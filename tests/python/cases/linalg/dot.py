"""Products: dot and FullyConnected."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []
_NEAR = {"float32": (2e-5, 2e-5)}


def _dot(a: np.ndarray, b: np.ndarray, transpose_a=False, transpose_b=False, forward_stype=None) -> np.ndarray:
    """Last axis of `a` (first, if transposed) with first axis of `b` (last, if transposed)."""
    wide_a, wide_b = a.astype("float64"), b.astype("float64")
    if transpose_a:
        wide_a = np.moveaxis(wide_a, 0, -1)
    if transpose_b:
        wide_b = np.moveaxis(wide_b, -1, 0)
    product = np.tensordot(wide_a, wide_b, axes=(-1, 0))
    return np.asarray(product).astype(a.dtype).reshape(product.shape or (1,))


#: label -> (left, right, transpose_a, transpose_b)
SHAPES = {
    "vectors": ((3,), (3,), 0, 0),
    "matrix-vector": ((2, 3), (3,), 0, 0),
    "vector-matrix": ((3,), (3, 2), 0, 0),
    "matrices": ((2, 3), (3, 4), 0, 0),
    "a-transposed": ((3, 2), (3, 4), 1, 0),
    "b-transposed": ((2, 3), (4, 3), 0, 1),
    "both-transposed": ((3, 2), (4, 3), 1, 1),
    "one-by-one": ((1, 1), (1, 1), 0, 0),
    "three-two": ((2, 3, 4), (4, 5), 0, 0),
    "two-three": ((2, 3), (3, 4, 5), 0, 0),
    "three-three": ((2, 3, 4), (4, 3, 2), 0, 0),
    "three-two-a": ((3, 2, 4), (3, 5), 1, 0),
    "three-three-a": ((2, 3, 4), (2, 3, 4), 1, 0),
    "three-two-b": ((2, 3, 4), (5, 4), 0, 1),
    "two-three-b": ((2, 3), (4, 5, 3), 0, 1),
    "three-three-both": ((2, 3, 4), (4, 3, 2), 1, 1),
    "matrix-vector-a": ((2, 3), (2,), 1, 0),
    "vector-matrix-a": ((3,), (3, 2), 1, 0),
    "vector-matrix-b": ((3,), (2, 3), 0, 1),
    "matrix-vector-b": ((2, 3), (3,), 0, 1),
}
for _label, (_a, _b, _ta, _tb) in SHAPES.items():
    _params = {}
    if _ta:
        _params["transpose_a"] = True
    if _tb:
        _params["transpose_b"] = True
    CASES.append(Case("dot", _label, (In(_a), In(_b)), _params, _dot, order=2, diff=(0, 1), tolerance=_NEAR))
for _ta in (False, True):
    for _tb in (False, True):
        _params = {"transpose_a": _ta, "transpose_b": _tb}
        _shapes = ((5, 3) if _ta else (3, 5), (4, 5) if _tb else (5, 4))
        CASES.append(
            Case(
                "dot",
                f"float64-{int(_ta)}{int(_tb)}",
                (In(_shapes[0], "float64"), In(_shapes[1], "float64")),
                _params,
                _dot,
                order=2,
                diff=(0, 1),
            )
        )
#: 1.9.1 multiplies float16 on the GPU alone
_HALF = "differs: 1.9.1 refuses it on the CPU"
CASES += [
    Case(
        "dot", "float16", (In((2, 3), "float16"), In((3, 4), "float16")), {}, _dot, order=1, diff=(0, 1), oracle=_HALF
    ),
    Case(
        "dot",
        "float16-transposed",
        (In((3, 2), "float16"), In((4, 3), "float16")),
        {"transpose_a": True, "transpose_b": True},
        _dot,
        order=1,
        diff=(0, 1),
        oracle=_HALF,
    ),
    Case("dot", "float16-vectors", (In((70,), "float16"), In((70,), "float16")), {}, _dot, oracle=_HALF),
    Case("dot", "left-only", (In((2, 3)), In((3, 4))), {}, _dot, order=2, diff=(0,), tolerance=_NEAR),
    Case("dot", "right-only", (In((2, 3)), In((3, 4))), {}, _dot, order=2, diff=(1,), tolerance=_NEAR),
    Case("dot", "stype-default", (In((2, 3)), In((3, 4))), {"forward_stype": "default"}, _dot, tolerance=_NEAR),
    Case("dot", "blocked", (In((37, 71)), In((71, 53))), {}, _dot, diff=(0, 1), tolerance={"float32": (1e-4, 1e-4)}),
    Case("dot", "inner", (In((3, 1031)), In((1031, 2))), {}, _dot, tolerance={"float32": (1e-4, 1e-3)}),
    Case("dot", "out", (In((2, 3)), In((3, 4))), {}, _dot, out=(((2, 4), "float32"),), tolerance=_NEAR),
    Case("dot", "inner-differs", (In((2, 3)), In((4, 5))), {}, error=True),
    Case("dot", "inner-differs-a", (In((2, 3)), In((3, 4))), {"transpose_a": True}, error=True),
    Case("dot", "vectors-differ", (In((3,)), In((4,))), {}, error=True),
    Case("dot", "transposed-vectors", (In((3,)), In((3,))), {"transpose_a": True}, error=True),
    Case("dot", "mixed", (In((2, 3)), In((3, 4), "float64")), {}, error=True),
    Case("dot", "int32", (In((2, 3), "int32", ("int", 0, 3)), In((3, 4), "int32", ("int", 0, 3))), {}, error=True),
    Case("dot", "unknown-parameter", (In((2, 3)), In((3, 4))), {"foo": 1}, error=True),
    Case("dot", "malformed-flag", (In((2, 3)), In((3, 4))), {"transpose_a": "x"}, error=True),
    Case("dot", "malformed-stype", (In((2, 3)), In((3, 4))), {"forward_stype": "dense"}, error=True),
    Case("dot", "one-input", (In((2, 3)),), {}, error=True),
    Case("dot", "no-rows", (In((0, 2)), In((2, 3))), {}, _dot, np_shape=True),
    Case(
        "dot",
        "no-inner",
        (In((2, 0)), In((0, 3))),
        {},
        _dot,
        np_shape=True,
        oracle="skip: 1.9.1 ends the process (SIGFPE); the empty sum is 0",
    ),
]


def _fc(x, weight, bias=None, num_hidden=0, no_bias=False, flatten=True):
    if flatten:
        x = x.reshape(x.shape[0], int(np.prod(x.shape[1:], dtype=np.int64)))
    y = np.tensordot(x.astype("float64"), weight.astype("float64"), axes=(-1, -1))
    return (y if no_bias else y + bias.astype("float64")).astype(x.dtype)


_op = "FullyConnected"
for _dtype in ("float32", "float64"):
    _near = _NEAR if _dtype == "float32" else {}
    CASES += [
        Case(
            _op,
            f"bias-{_dtype}",
            (In((2, 3), _dtype), In((4, 3), _dtype), In((4,), _dtype)),
            {"num_hidden": 4},
            _fc,
            order=2,
            diff=(0, 1, 2),
            tolerance=_near,
        ),
        Case(
            _op,
            f"no-bias-{_dtype}",
            (In((2, 3), _dtype), In((4, 3), _dtype)),
            {"num_hidden": 4, "no_bias": True},
            _fc,
            order=2,
            diff=(0, 1),
            tolerance=_near,
        ),
    ]
CASES += [
    Case(
        _op,
        "bias-float16",
        (In((2, 3), "float16"), In((4, 3), "float16"), In((4,), "float16")),
        {"num_hidden": 4},
        _fc,
        order=1,
        diff=(0, 1, 2),
        oracle=_HALF,
    ),
    Case(
        _op,
        "no-bias-float16",
        (In((2, 40), "float16"), In((4, 40), "float16")),
        {"num_hidden": 4, "no_bias": True},
        _fc,
        order=1,
        diff=(0, 1),
        oracle=_HALF,
    ),
    Case(
        _op,
        "flattens",
        (In((2, 3, 2)), In((4, 6)), In((4,))),
        {"num_hidden": 4},
        _fc,
        order=2,
        diff=(0, 1, 2),
        tolerance=_NEAR,
    ),
    Case(
        _op,
        "flatten-off",
        (In((2, 3, 2)), In((4, 2)), In((4,))),
        {"num_hidden": 4, "flatten": False},
        _fc,
        order=2,
        diff=(0, 1, 2),
        tolerance=_NEAR,
    ),
    Case(
        _op,
        "flatten-off-no-bias",
        (In((2, 3, 2)), In((4, 2))),
        {"num_hidden": 4, "flatten": False, "no_bias": True},
        _fc,
        order=2,
        diff=(0, 1),
        tolerance=_NEAR,
    ),
    Case(
        _op,
        "vector-flatten-off",
        (In((3,)), In((4, 3)), In((4,))),
        {"num_hidden": 4, "flatten": False},
        _fc,
        order=1,
        diff=(0, 1, 2),
        tolerance=_NEAR,
    ),
    Case(
        _op,
        "vector",
        (In((3,)), In((4, 1)), In((4,))),
        {"num_hidden": 4},
        _fc,
        order=1,
        diff=(0, 1, 2),
        tolerance=_NEAR,
    ),
    Case(
        _op,
        "weight-only",
        (In((2, 3)), In((4, 3)), In((4,))),
        {"num_hidden": 4},
        _fc,
        order=2,
        diff=(1,),
        tolerance=_NEAR,
    ),
    Case(
        _op,
        "bias-only",
        (In((2, 3)), In((4, 3)), In((4,))),
        {"num_hidden": 4},
        _fc,
        order=2,
        diff=(2,),
        tolerance=_NEAR,
        oracle="forward: 1.9.1 leaves the bias gradient zero unless the weight's is wanted",
    ),
    Case(
        _op,
        "larger",
        (In((33, 65)), In((17, 65)), In((17,))),
        {"num_hidden": 17},
        _fc,
        diff=(0, 1, 2),
        tolerance={"float32": (1e-4, 1e-4)},
    ),
    Case(_op, "no-rows", (In((0, 3)), In((4, 3))), {"num_hidden": 4, "no_bias": True}, _fc, np_shape=True),
    Case(_op, "no-num-hidden", (In((2, 3)), In((4, 3)), In((4,))), {}, error=True),
    Case(_op, "zero-hidden", (In((2, 3)), In((4, 3)), In((4,))), {"num_hidden": 0}, error=True),
    Case(_op, "other-hidden", (In((2, 3)), In((4, 3)), In((4,))), {"num_hidden": 5}, error=True),
    Case(_op, "weight-shape", (In((2, 3)), In((3, 4)), In((4,))), {"num_hidden": 4}, error=True),
    Case(_op, "bias-length", (In((2, 3)), In((4, 3)), In((5,))), {"num_hidden": 4}, error=True),
    Case(_op, "bias-matrix", (In((2, 3)), In((4, 3)), In((4, 1))), {"num_hidden": 4}, error=True),
    Case(_op, "bias-missing", (In((2, 3)), In((4, 3))), {"num_hidden": 4}, error=True),
    Case(_op, "bias-unwanted", (In((2, 3)), In((4, 3)), In((4,))), {"num_hidden": 4, "no_bias": True}, error=True),
    Case(_op, "mixed", (In((2, 3)), In((4, 3), "float64"), In((4,))), {"num_hidden": 4}, error=True),
    Case(
        _op,
        "int32",
        (In((2, 3), "int32", ("int", 0, 3)), In((4, 3), "int32", ("int", 0, 3))),
        {"num_hidden": 4, "no_bias": True},
        error=True,
    ),
    Case(_op, "unknown-parameter", (In((2, 3)), In((4, 3)), In((4,))), {"num_hidden": 4, "foo": 1}, error=True),
    Case(_op, "malformed-flatten", (In((2, 3)), In((4, 3)), In((4,))), {"num_hidden": 4, "flatten": "x"}, error=True),
]
