"""SVMOutput: its gradient is defined, and compared with 1.9.1's and test_vision.py's formula."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []


def _same(data: np.ndarray, label: np.ndarray, **_) -> np.ndarray:
    return data.copy()


_op = "SVMOutput"
_SCORES = ([1.0, 2.0, -0.5], [0.3, -2.0, 0.7], [-1.0, 1.0, 0.0])
_LABELS = (2.0, 0.0, 1.0)


def _rows(label: str, data, labels, params: dict, **more) -> None:
    CASES.append(
        Case(_op, label, (In(values=data), In(values=labels)), params, _same, diff=(0, 1), defined=True, **more)
    )


for _label, _params in {
    "default": {}, "linear": {"use_linear": True}, "margin": {"margin": 0.5},
    "coefficient": {"regularization_coefficient": 3.0},
    "both": {"margin": 0.5, "regularization_coefficient": 3.0, "use_linear": True}, "negative-margin": {"margin": -0.5},
}.items():  # fmt: skip
    _rows(_label, _SCORES, _LABELS, _params)
    _rows(f"{_label}-out-of-range", _SCORES, (7.0, -1.0, 3.0), _params)
    _rows(f"{_label}-fractions", _SCORES, (1.7, -0.5, 0.9), _params)
    _rows(f"{_label}-special-numbers", ([0.0, np.inf, np.nan], [-np.inf, 1.0, -0.0]), (0.0, 1.0), _params)
_rows("special-numbers", ([0.0, np.inf, np.nan], [-np.inf, 1.0, -0.0]), (2.0, 0.0), {})
_rows("at-margin", ([1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]), (0.0, 2.0), {"use_linear": True})
for _dtype in ("float64", "float16"):
    CASES.append(Case(_op, _dtype, (In(dtype=_dtype, values=_SCORES), In(dtype=_dtype, values=_LABELS)), {}, _same,
                      diff=(0, 1), defined=True))  # fmt: skip
CASES += [
    Case(_op, "three-axes", (In((2, 3, 4)), In((2, 3), "float32", ("int", 0, 3))), {}, _same, diff=(0,), defined=True),
    Case(_op, "long", (In((1037, 7)), In((1037,), "float32", ("int", 0, 6))), {}, _same, diff=(0,), defined=True),
    Case(_op, "empty", (In((0, 3)), In((0,))), {}, _same, diff=(0,), defined=True, np_shape=True),
    Case(_op, "vector", (In((3,)), In(values=1.0)), {}, _same, np_shape=True),
    Case(_op, "0-axes", (In(()), In(())), {}, error=True, np_shape=True, oracle="differs: 1.9.1 copies a scalar"),
    Case(_op, "label-column", (In((2, 3)), In((2, 1))), {}, error=True),
    Case(_op, "label-long", (In((2, 3)), In((3,))), {}, error=True),
    Case(_op, "label-rows", (In((2, 3, 2)), In((2,))), {}, error=True),
    Case(_op, "label-inner", (In((2, 3, 2)), In((2, 2))), {}, error=True),
    Case(_op, "vector-label", (In((3,)), In((1,))), {}, error=True),
    Case(_op, "wide-label", (In((2, 3)), In((2,), "float64")), {}, error=True),
    Case(_op, "int32", (In((2, 3), "int32", ("int", 0, 2)), In((2,), "int32", ("int", 0, 2))), {}, error=True),
    Case(_op, "one-input", (In((2, 3)),), {}, error=True),
    Case(_op, "unknown-parameter", (In((2, 3)), In((2,))), {"foo": 1}, error=True),
]
