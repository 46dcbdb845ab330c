"""Products of attention with interleaved heads."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []

_NAME = "_contrib_interleaved_matmul_"


def _parts(x: np.ndarray, heads: int, parts: int) -> list:
    """The parts of the last axis as (batch, head, step, size) each."""
    steps, batch, width = x.shape
    x = x.reshape(steps, batch, heads, parts, width // (heads * parts))
    return [x[:, :, :, part].transpose(1, 2, 0, 3) for part in range(parts)]


def _scores(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    scores = (q.astype("float64") @ k.astype("float64").swapaxes(2, 3)) / np.sqrt(max(q.shape[3], 1))
    return scores.reshape(q.shape[0] * q.shape[1], q.shape[2], k.shape[2]).astype(q.dtype)


def _mixture(scores: np.ndarray, v: np.ndarray, heads: int) -> np.ndarray:
    batch, _, _, size = v.shape
    scores = scores.reshape(batch, heads, *scores.shape[1:]).astype("float64")
    mixed = (scores @ v.astype("float64")).transpose(2, 0, 1, 3)
    return mixed.reshape(mixed.shape[0], batch, heads * size).astype(v.dtype)


def _self_qk(x, heads):
    return _scores(*_parts(x, heads, 3)[:2])


def _self_valatt(x, attention, heads):
    return _mixture(attention, _parts(x, heads, 3)[2], heads)


def _encdec_qk(queries, keys_values, heads):
    return _scores(_parts(queries, heads, 1)[0], _parts(keys_values, heads, 2)[0])


def _encdec_valatt(keys_values, attention, heads):
    return _mixture(attention, _parts(keys_values, heads, 2)[1], heads)


_FUNCTIONS = {"selfatt_qk": _self_qk, "selfatt_valatt": _self_valatt, "encdec_qk": _encdec_qk,
              "encdec_valatt": _encdec_valatt}  # fmt: skip


def _inputs(op, steps=3, keys=None, batch=2, heads=2, size=4, dtype="float32"):
    keys = steps + 1 if keys is None else keys
    shapes = {
        "selfatt_qk": [(steps, batch, heads * 3 * size)],
        "selfatt_valatt": [(steps, batch, heads * 3 * size), (batch * heads, steps, steps)],
        "encdec_qk": [(steps, batch, heads * size), (keys, batch, heads * 2 * size)],
        "encdec_valatt": [(keys, batch, heads * 2 * size), (batch * heads, steps, keys)],
    }[op]
    return tuple(In(shape, dtype) for shape in shapes)


_ONLY_FLOAT32 = "differs: has float32 alone on the CPU"
_NEAR = {"float32": (1e-4, 1e-5), "float16": (1e-2, 1e-2)}

for _op, _function in _FUNCTIONS.items():
    for _label, _sizes, _order, _oracle in (
        ("plain", {}, 2, ""),
        ("one-head", {"heads": 1}, 2, ""),
        ("ones", {"steps": 1, "keys": 1, "batch": 1, "heads": 1, "size": 1}, 2, ""),
        ("odd", {"steps": 17, "keys": 5, "batch": 3, "heads": 3, "size": 7}, 0, ""),
        ("long", {"steps": 33, "keys": 40, "batch": 1, "heads": 1, "size": 65}, 0, ""),
        ("many-heads", {"heads": 9, "batch": 5}, 0, ""),
        ("float64", {"dtype": "float64"}, 2, _ONLY_FLOAT32),
        ("float16", {"dtype": "float16"}, 0, _ONLY_FLOAT32),
        ("no-steps", {"steps": 0, "keys": 0}, 0, ""),
        ("no-batch", {"batch": 0}, 0, ""),
        ("no-keys", {"keys": 0}, 0, ""),
        ("no-size", {"size": 0}, 0, ""),
    ):
        CASES.append(Case(_NAME + _op, _label, _inputs(_op, **_sizes), {"heads": _sizes.get("heads", 2)}, _function,
                          order=_order, diff=tuple(range(len(_inputs(_op)))), tolerance=_NEAR, oracle=_oracle,
                          np_shape=_label.startswith("no-")))  # fmt: skip
    _special = tuple(In(values=np.full(row.shape, 1.5)) for row in _inputs(_op))
    _values = _special[0].values.copy()
    _values[0, 0, :3] = np.inf, np.nan, -np.inf
    CASES.append(Case(_NAME + _op, "special-float32", (In(values=_values), *_special[1:]), {"heads": 2}, None,
                      diff=tuple(range(len(_special))), defined=True))  # fmt: skip
    for _label, _changed, _oracle in (
        ("matrix", {0: (3, 48)}, ""),
        ("undivided", {0: (3, 2, 25)}, "skip: takes the vectors from wrong places"),
    ):
        _rows = tuple(In(_changed[i]) if i in _changed else row for i, row in enumerate(_inputs(_op)))
        CASES.append(Case(_NAME + _op, _label, _rows, {"heads": 2}, error=True, oracle=_oracle))
    CASES += [
        Case(_NAME + _op, "0-axes", tuple(In(values=0.5) for _ in _inputs(_op)), {"heads": 2}, error=True,
             np_shape=True),
        Case(_NAME + _op, "int32", tuple(row.like("int32") for row in _inputs(_op)), {"heads": 2}, error=True),
        Case(_NAME + _op, "no-heads", _inputs(_op), {"heads": 0}, error=True, oracle="skip: divides by zero"),
        Case(_NAME + _op, "negative-heads", _inputs(_op), {"heads": -1}, error=True, oracle="skip: divides by it"),
        Case(_NAME + _op, "heads-missing", _inputs(_op), {}, error=True),
        Case(_NAME + _op, "input-missing", _inputs(_op)[1:], {"heads": 2}, error=True),
    ]  # fmt: skip


def _wrong(op, label, position, shape, dtype="float32", oracle=""):
    rows = list(_inputs(op))
    rows[position] = In(shape, dtype)
    CASES.append(Case(_NAME + op, label, tuple(rows), {"heads": 2}, error=True, oracle=oracle))


_wrong("selfatt_valatt", "attention-keys", 1, (4, 3, 2))
_wrong("selfatt_valatt", "attention-queries", 1, (4, 5, 3))
_wrong("selfatt_valatt", "attention-heads", 1, (3, 3, 3), oracle="skip: reads out of bounds")
_wrong("selfatt_valatt", "attention-matrix", 1, (4, 9))
_wrong("selfatt_valatt", "dtypes", 1, (4, 3, 3), "float64")
_wrong("encdec_qk", "sizes", 1, (4, 2, 8))
_wrong("encdec_qk", "batches", 1, (4, 3, 16))
_wrong("encdec_qk", "dtypes", 1, (4, 2, 16), "float64")
_wrong("encdec_valatt", "attention-keys", 1, (4, 3, 3))
_wrong("encdec_valatt", "attention-heads", 1, (2, 3, 4))
_wrong("encdec_valatt", "attention-matrix", 1, (4, 12))
_wrong("encdec_valatt", "dtypes", 1, (4, 3, 4), "float64")
