"""Patches of images compared with displaced patches of others."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []


def _correlation(data1, data2, kernel_size=1, max_displacement=1, stride1=1, stride2=1, pad_size=0, is_multiply=True):
    edges = ((0, 0), (0, 0), (pad_size, pad_size), (pad_size, pad_size))
    a, b = (np.pad(data.astype("float64"), edges) for data in (data1, data2))
    room = [size - 2 * max_displacement - kernel_size + 1 for size in a.shape[2:]]
    rows, columns = (range(max_displacement, max_displacement + n, stride1) for n in room)
    reach = max_displacement // stride2
    steps = range(-reach * stride2, reach * stride2 + 1, stride2)
    out = np.zeros((len(data1), len(steps) ** 2, len(rows), len(columns)))
    for place in np.ndindex(*out.shape[2:]):
        y, x = rows[place[0]], columns[place[1]]
        patch = a[:, :, y : y + kernel_size, x : x + kernel_size]
        for d, (down, right) in enumerate((i, j) for i in steps for j in steps):
            other = b[:, :, y + down : y + down + kernel_size, x + right : x + right + kernel_size]
            value = patch * other if is_multiply else np.abs(patch - other)
            out[:, d, place[0], place[1]] = value.sum((1, 2, 3))
    return (out / (kernel_size**2 * data1.shape[1])).astype(data1.dtype)


_op = "Correlation"


def _row(label, shape=(1, 2, 5, 6), dtype="float32", order=2, **params) -> None:
    CASES.append(Case(_op, label, (In(shape, dtype), In(shape, dtype, "away")), params, _correlation, order=order,
                      diff=(0, 1), tolerance={"float32": (1e-4, 1e-5), "float16": (1e-2, 1e-2)}))  # fmt: skip


for _times in (True, False):
    _kind = "product" if _times else "distance"
    _row(_kind, is_multiply=_times)
    _row(f"{_kind}-kernel", (1, 2, 6, 5), kernel_size=3, pad_size=2, is_multiply=_times)
    _row(f"{_kind}-steps", (2, 1, 5, 6), max_displacement=3, stride1=2, stride2=2, pad_size=3, is_multiply=_times)
    _row(f"{_kind}-all", (1, 2, 7, 6), kernel_size=3, max_displacement=2, stride1=2, stride2=2, pad_size=2,
         is_multiply=_times, order=1)  # fmt: skip
    _row(f"{_kind}-float64", dtype="float64", max_displacement=2, pad_size=1, is_multiply=_times)
    _row(f"{_kind}-float16", dtype="float16", order=0, is_multiply=_times)
_row("one", (1, 1, 1, 1), max_displacement=0)
_row("still", max_displacement=0, stride1=2)
_row("wide-step", max_displacement=1, stride2=3)
_same = In(values=np.array([1.0, -2.0, 3.0, 0.0]).reshape(1, 1, 2, 2))
_numbers = np.array([0.0, np.nan, -0.0, np.inf, 1.5, -np.inf]).reshape(1, 1, 2, 3)
CASES += [
    Case(_op, "equal", (_same, _same), {"max_displacement": 0, "is_multiply": False}, _correlation, diff=(0, 1),
         defined=True),
    Case(_op, "no-batch", (In((0, 2, 4, 4)), In((0, 2, 4, 4))), {}, _correlation, np_shape=True),
]  # fmt: skip
for _dtype in ("float32", "float64", "float16"):
    for _times in (True, False):
        CASES.append(
            Case(_op, f"special-{'product' if _times else 'distance'}-{_dtype}",
                 (In(dtype=_dtype, values=_numbers), In(dtype=_dtype, values=np.roll(_numbers, 2))),
                 {"max_displacement": 1, "pad_size": 1, "is_multiply": _times}, _correlation)
        )  # fmt: skip

_x = In((1, 2, 5, 6))


def _error(label, *inputs, oracle="", **params) -> None:
    CASES.append(Case(_op, label, inputs or (_x, _x), params, error=True, oracle=oracle, np_shape=label == "no-axes"))


_CRASH = "skip: 1.9.1 divides by 0"
_error("even", kernel_size=2)
_error("kernel-0", kernel_size=0)
_error("displacement-large", max_displacement=9)
_error("kernel-large", kernel_size=7)
_error("pad-negative", pad_size=-1, oracle="skip: 1.9.1 ends the process")
_error("stride-0", stride1=0, oracle=_CRASH)
_error("stride2-0", stride2=0, oracle=_CRASH)
_error("shapes", _x, In((1, 2, 6, 6)), oracle="skip: 1.9.1 reads what is not there")
_error("batches", _x, In((2, 2, 5, 6)))
_error("dtypes", _x, In((1, 2, 5, 6), "float64"))
_error("three-axes", In((2, 5, 6)), In((2, 5, 6)))
_error("int32", *[In((1, 2, 5, 6), "int32", ("int", 0, 9))] * 2)
_error("one-input", _x)
_error("no-axes", In(()), In(()))
_error("unknown-parameter", foo=1)
