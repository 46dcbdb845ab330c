"""_contrib_hawkesll: likelihoods of self-exciting processes."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []

_OP = "_contrib_hawkesll"


def _hawkes(lda, alpha, beta, state, lags, marks, valid_length, max_time):
    """Event by event, in float64."""
    dtype = lda.dtype
    lda, alpha, beta, state, lags, max_time = (a.astype("float64") for a in (lda, alpha, beta, state, lags, max_time))
    likelihood, last = np.zeros(len(lda)), np.zeros(lda.shape)
    for b in range(len(lda)):
        s, at, now = state[b].copy(), np.zeros(lda.shape[1]), 0.0

        def share(d, s, b=b):
            return lda[b] * d + alpha * s * (1 - np.exp(-beta * d))

        for j in range(int(np.ceil(valid_length[b]))):
            now, k = now + lags[b, j], marks[b, j]
            likelihood[b] -= share(now - at, s)[k]
            left = s[k] * np.exp(-beta[k] * (now - at[k]))
            likelihood[b] += np.log(lda[b, k] + alpha[k] * beta[k] * left)
            s[k], at[k] = left + 1, now
        likelihood[b] -= share(max_time[b] - at, s).sum()
        last[b] = s * np.exp(-beta * (max_time[b] - at))
    return likelihood.astype(dtype), last.astype(dtype)


def _inputs(batch=3, steps=5, kinds=2, dtype="float32", lengths=None, marks=None, end=9.0):
    lengths = [steps - b % (steps + 1) for b in range(batch)] if lengths is None else lengths
    return (
        In((batch, kinds), dtype, "positive"),
        In((kinds,), dtype, "positive"),
        In((kinds,), dtype, "positive"),
        In((batch, kinds), dtype, "positive"),
        In((batch, steps), dtype, "positive"),
        In((batch, steps), "int32", ("int", 0, kinds - 1)) if marks is None else In(dtype="int32", values=marks),
        In(dtype=dtype, values=np.array(lengths)),
        In(dtype=dtype, values=np.full(batch, end)),
    )


_NEAR = {"float32": (2e-4, 2e-4), "float64": (1e-9, 1e-9), "float16": (2e-2, 2e-2)}
_PARTS = "forward: the gradient that reaches the states is ignored, that of the first states is 0, others have none"

for _label, _sizes, _order, _oracle in (
    ("plain", {}, 2, _PARTS),
    ("float64", {"dtype": "float64"}, 2, "skip: computes parts of float64 in float32, and its gradient fails"),
    ("ones", {"batch": 1, "steps": 1, "kinds": 1}, 2, _PARTS),
    ("many", {"batch": 17, "steps": 33, "kinds": 5, "end": 150.0}, 1, _PARTS),
    ("fractions", {"batch": 2, "steps": 3, "lengths": [1.5, 0.25]}, 1, _PARTS),
    ("early-end", {"steps": 2, "end": 1.0}, 2, _PARTS),
):
    _diff = (0, 1, 2, 3) if _label == "float64" else (0, 1, 2, 3, 4, 7)
    CASES.append(Case(_OP, _label, _inputs(**_sizes), {}, _hawkes, order=_order, diff=_diff,
                      tolerance=_NEAR, oracle=_oracle))  # fmt: skip
CASES += [
    Case(_OP, "parameters", _inputs(), {}, _hawkes, order=2, diff=(0, 1, 2, 3), tolerance=_NEAR, oracle=_PARTS),
    Case(_OP, "float16", _inputs(dtype="float16"), {}, _hawkes, tolerance=_NEAR),
    Case(_OP, "no-events", _inputs(steps=0), {}, _hawkes, diff=(0, 1, 2), tolerance=_NEAR, np_shape=True,
         oracle=_PARTS),
    Case(_OP, "no-batch", _inputs(batch=0), {}, _hawkes, np_shape=True, oracle="differs: refuses it"),
    Case(_OP, "0-axes", tuple(In(values=0.5) for _ in range(8)), {}, error=True, np_shape=True),
    Case(_OP, "special-float32", (In(values=[[np.inf, 1.0], [np.nan, 1.0]]), *_inputs(batch=2)[1:]), {}, _hawkes,
         tolerance=_NEAR),
    Case(_OP, "length-too-large", _inputs(lengths=[6, 1, 1]), {}, error=True, oracle="skip: reads out of bounds"),
    Case(_OP, "length-negative", _inputs(lengths=[-1, 1, 1]), {}, error=True, oracle="differs: takes it for 0"),
    Case(_OP, "mark-too-large", _inputs(batch=1, steps=2, marks=[[0, 2]]), {}, error=True,
         oracle="skip: reads out of bounds"),
    Case(_OP, "mark-negative", _inputs(batch=1, steps=2, marks=[[0, -1]]), {}, error=True,
         oracle="skip: reads out of bounds"),
    Case(_OP, "mark-behind-the-end", _inputs(batch=1, steps=2, marks=[[0, 9]], lengths=[1]), {}, _hawkes,
         tolerance=_NEAR),
    Case(_OP, "input-missing", _inputs()[:7], {}, error=True),
    Case(_OP, "int32", tuple(row.like("int32") for row in _inputs()), {}, error=True,
         oracle="differs: computes in integers"),
]  # fmt: skip
for _position, _shape, _dtype in (
    (0, (2,), "float32"), (0, (2, 2), "float32"), (1, (3,), "float32"), (2, (1,), "float32"), (3, (2, 2), "float32"),
    (4, (5,), "float32"), (5, (3, 4), "int32"), (5, (3, 5), "int64"), (5, (3, 5), "float32"), (6, (2,), "float32"),
    (6, (3,), "int32"), (7, (2,), "float32"), (7, (3,), "float64"),
):  # fmt: skip
    _rows = list(_inputs())
    _rows[_position] = In(_shape, _dtype, ("int", 0, 1))
    CASES.append(Case(_OP, f"input-{_position}-{_dtype}-{len(_shape)}-{_shape[0]}-{_shape[-1]}", tuple(_rows), {},
                      error=True))  # fmt: skip
