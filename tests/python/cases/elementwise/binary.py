"""Element-wise arithmetic of two arrays (with and without broadcasting), and sums of many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._case import Case, In

CASES: list = []


def truncated(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """C's integer division; by zero it is 0, as in NumPy (1.9.1 ends the process)."""
    wide_a, wide_b = a.astype("int64"), b.astype("int64")
    safe = np.where(wide_b == 0, 1, wide_b)
    quotient = np.sign(wide_a) * np.sign(safe) * (np.abs(wide_a) // np.abs(safe))
    return np.where(wide_b == 0, 0, quotient).astype(np.result_type(a, b))


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a / b if np.result_type(a, b).kind == "f" else truncated(a, b)


FUNCTIONS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": _divide}
#: left and right shapes that broadcast
SHAPES = {
    "same": ((2, 3), (2, 3)),
    "row": ((2, 3), (3,)),
    "column": ((2, 3), (2, 1)),
    "left-row": ((3,), (2, 3)),
    "outer": ((2, 1), (1, 3)),
    "both": ((2, 1, 3), (1, 4, 3)),
    "single": ((2, 3), (1,)),
    "deep": ((1, 2, 1, 2, 1, 2), (2, 1, 2, 1, 2, 1)),
    "eight-dims": ((2, 1, 2, 1, 2, 1, 2, 1), (1, 2, 1, 2, 1, 2, 1, 2)),
    "long-row": ((3, 1031), (1031,)),
}

for _name, _function in FUNCTIONS.items():
    _op, _same = f"broadcast_{_name}", f"elemwise_{_name}"
    _right = "away" if _name == "div" else "real"
    for _label, (_a, _b) in SHAPES.items():
        _small = np.prod(np.broadcast_shapes(_a, _b)) < 200
        CASES.append(
            Case(
                _op,
                _label,
                (In(_a), In(_b, domain=_right)),
                forward=_function,
                order=2 if _small else 0,
                diff=(0, 1),
                tolerance={"float32": (5e-5, 5e-5)},
                oracle="differs: 1.9.1 refuses more than five alternating dimensions" if len(_a) > 5 else "",
            )
        )
    for _which in (_op, _same):
        CASES += [
            Case(
                _which,
                "float64",
                (In((3, 4), "float64"), In((3, 4), "float64", _right)),
                forward=_function,
                order=2,
                diff=(0, 1),
            ),
            Case(_which, "float32", (In((5,)), In((5,), domain=_right)), forward=_function, order=2, diff=(0, 1)),
            Case(_which, "left-only", (In((2, 3)), In((2, 3), domain=_right)), forward=_function, order=2, diff=(0,)),
            Case(_which, "right-only", (In((2, 3)), In((2, 3), domain=_right)), forward=_function, order=2, diff=(1,)),
            Case(
                _which,
                "int32",
                (In((3, 4), "int32", ("int", -9, 9)), In((3, 4), "int32", ("int", 1, 4))),
                forward=_function,
            ),
            Case(
                _which,
                "int64",
                (In((3, 4), "int64", ("int", -9, 9)), In((3, 4), "int64", ("int", -4, -1))),
                forward=_function,
            ),
            Case(
                _which,
                "uint8-wraps",
                (In((3, 4), "uint8", ("int", 0, 255)), In((3, 4), "uint8", ("int", 1, 255))),
                forward=_function,
            ),
            Case(_which, "bool", (In((2,), "bool", "bool"), In((2,), "bool", "bool")), error=True),
            Case(_which, "mixed-float", (In((2,)), In((2,), "float64")), error=True),
            Case(_which, "mixed-int", (In((2,)), In((2,), "int32", ("int", 1, 4))), error=True),
            Case(_which, "shapes-differ", (In((2, 3)), In((3, 2))), error=True),
            Case(_which, "one-input", (In((2,)),), error=True),
            Case(_which, "three-inputs", (In((2,)), In((2,)), In((2,))), error=True),
            Case(_which, "empty", (In((0, 3)), In((0, 3))), forward=_function, np_shape=True),
            Case(
                _which,
                "scalars",
                (In(()), In((), domain=_right)),
                forward=_function,
                order=1,
                diff=(0, 1),
                np_shape=True,
            ),
            Case(
                _which,
                "infinities",
                (In(values=[1.0, 0.0, -1.0, np.inf, np.nan]), In(values=[0.0, 0.0, 0.0, -np.inf, 1.0])),
                forward=_function,
            ),
            Case(
                _which,
                "out",
                (In((2, 3)), In((2, 3), domain=_right)),
                forward=_function,
                out=(((2, 3), "float32"),),
            ),
        ]
    CASES += [
        Case(
            _op,
            "int32-row",
            (In((2, 3), "int32", ("int", -9, 9)), In((3,), "int32", ("int", 1, 4))),
            forward=_function,
        ),
        # Nothing is summed, but the gradient comes in another shape than the input's.
        Case(
            _op,
            "axis-of-1-added",
            (In((3,)), In((1, 3), domain=_right)),
            forward=_function,
            order=2,
            diff=(0, 1),
        ),
        Case(_op, "lengths-differ", (In((3,)), In((4,))), error=True),
        Case(_op, "not-from-the-left", (In((2, 3)), In((2,))), error=True),
        Case(_op, "empty-with-row", (In((0, 3)), In((1, 3), domain=_right)), forward=_function, np_shape=True),
        Case(
            _op,
            "scalar-with-row",
            (In(()), In((3,), domain=_right)),
            forward=_function,
            order=2,
            diff=(0, 1),
            np_shape=True,
        ),
        Case(_op, "out-wrong-shape", (In((2, 3)), In((3,), domain=_right)), out=(((3,), "float32"),), error=True),
        Case(_same, "no-broadcast", (In((2, 3)), In((1, 3))), error=True),
        Case(_same, "no-new-axis", (In((2,)), In((2, 1))), error=True),
        Case(_same, "odd-length", (In((1037,)), In((1037,), domain=_right)), forward=_function),
    ]
for _op in ("broadcast_div", "elemwise_div"):
    CASES += [
        Case(
            _op,
            "int32-truncates",
            (In(dtype="int32", values=[-7, 7, 7]), In(dtype="int32", values=[2, -2, 2])),
            forward=_divide,
        ),
        Case(
            _op,
            "int32-by-zero",
            (In(dtype="int32", values=[-7, 0, 7]), In(dtype="int32", values=[0, 0, 2])),
            forward=_divide,
            oracle="skip: 1.9.1 ends the process (SIGFPE); mxlite answers 0, as NumPy does",
        ),
        Case(
            _op,
            "int32-overflow",
            (In(dtype="int32", values=[-(2**31), 5]), In(dtype="int32", values=[-1, -1])),
            forward=lambda a, b: np.array([-(2**31), -5], "int32"),
            oracle="skip: 1.9.1 ends the process (SIGFPE); mxlite wraps",
        ),
    ]


def _sum(*arrays: np.ndarray, num_args: int = 0) -> np.ndarray:
    total = arrays[0].copy()
    for array in arrays[1:]:
        total = total + array
    return total


for _count in (1, 2, 3, 5):
    CASES.append(
        Case(
            "add_n",
            f"{_count}-inputs",
            tuple(In((2, 3)) for _ in range(_count)),
            {"num_args": _count},
            _sum,
            order=2,
            diff=tuple(range(_count)),
        )
    )
CASES += [
    Case("add_n", "counted", (In((2,)), In((2,))), {}, _sum, order=1, diff=(0, 1)),
    Case("add_n", "float64", (In((2,), "float64"), In((2,), "float64")), {"num_args": 2}, _sum, order=2, diff=(0, 1)),
    Case("add_n", "int32", (In((2,), "int32", ("int", 0, 9)), In((2,), "int32", ("int", 0, 9))), {"num_args": 2}, _sum),
    Case("add_n", "empty", (In((0, 2)), In((0, 2))), {"num_args": 2}, _sum, np_shape=True),
    Case("add_n", "none", (), {"num_args": 0}, error=True),
    Case("add_n", "too-few", (In((2,)),), {"num_args": 2}, error=True),
    Case("add_n", "too-many", (In((2,)), In((2,))), {"num_args": 1}, error=True),
    Case("add_n", "shapes-differ", (In((2,)), In((1,))), {"num_args": 2}, error=True),
    Case("add_n", "mixed", (In((2,)), In((2,), "float64")), {"num_args": 2}, error=True),
]

# ---- _grad_add: elemwise_add under another name, and without a gradient in 1.9.1 ----

_NONE = "forward: 1.9.1 has no gradient of it"
CASES += [
    replace(case, op="_grad_add", oracle=_NONE if case.diff else case.oracle)
    for case in CASES
    if case.op == "elemwise_add"
]
