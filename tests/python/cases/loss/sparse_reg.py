"""The identity with the gradient of a penalty for the means of activations."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []
_op = "IdentityAttachKLSparseReg"
_x, _mean = In(values=[[0.1, 0.24, 0.38], [0.52, 0.66, 0.8]]), In(values=[0.2, 0.35, 0.5])
_SHAPE = "forward: 1.9.1 refuses a backward of other than 2 axes"
_FLOAT = "differs: 1.9.1 has float32 alone"


def _same(data, moving_avg, **params) -> np.ndarray:
    return data


def _row(label, x=_x, mean=_mean, oracle="", train=True, **params) -> None:
    CASES.append(Case(_op, label, (x, mean), params, _same, diff=(0,), defined=True, train=train, updates=(1,),
                      oracle=oracle))  # fmt: skip


_row("plain")
_row("evaluating", train=False)
_row("target", sparseness_target=0.2, penalty=0.5)
_row("target-0", sparseness_target=0.0, penalty=0.5)
_row("target-1", sparseness_target=1.0, penalty=0.5)
_row("keeps", momentum=1.0, penalty=0.5)
_row("forgets", momentum=0.0, penalty=0.5)
_row("rewards", penalty=-1.0)
_row("column", In(values=[[0.25], [0.5]]), In(values=[0.5]), penalty=0.5)
_row("one", In(values=[[0.25]]), In(values=[0.5]), penalty=0.5)
_row("special-float32", In(values=[[0.0, np.nan, np.inf, 1.0], [-0.0, 0.5, 0.5, 1.0]]), In(values=[0.0, 0.5, 0.5, 1.0]),
     penalty=0.5)  # fmt: skip
_row("image", In((2, 3, 2, 2), domain="positive"), _mean, oracle=_SHAPE)
_row("float64", _x.like("float64"), _mean.like("float64"), oracle=_FLOAT, penalty=0.5)
_row("float16", _x.like("float16"), _mean.like("float16"), oracle=_FLOAT, penalty=0.5)


def _error(label, *inputs, oracle="", **params) -> None:
    CASES.append(Case(_op, label, inputs or (_x, _mean), params, error=True, oracle=oracle,
                      np_shape=label == "no-axes"))  # fmt: skip


_LATE = "differs: 1.9.1 refuses it in the backward alone"
_error("target-over", sparseness_target=1.5)
_error("target-negative", sparseness_target=-0.5)
_error("momentum-over", momentum=1.5)
_error("momentum-negative", momentum=-0.1)
_error("one-axis", In((4,)), In((1,)))
_error("units", _x, In((4,)), oracle=_LATE)
_error("dtypes", _x, _mean.like("float64"), oracle=_LATE)
_error("int32", In((2, 3), "int32", ("int", 0, 1)), In((3,), "int32", ("int", 0, 1)))
_error("one-input", _x)
_error("no-axes", In(()), In(()))
_error("unknown-parameter", foo=1)
