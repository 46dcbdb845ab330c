"""Rows of the operators that the library does not list (`_mxl_*`): backward rules and mxlite.torch call them by name.

They are called by the text interface alone. MXNet 1.9.1 has none of them: NumPy is the only second source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial

import numpy as np

from ._case import Case, In

_FLOATS = ("float16", "float32", "float64")
_SHAPE = (3, 4)
_LOOSE = {"float32": (2e-4, 2e-5), "float64": (1e-9, 1e-10)}


def _ints(*values: object, dtype: str = "float32") -> In:
    return In(values=list(values), dtype=dtype)


def _put(shape: Sequence[int], fill: Callable[[np.ndarray], object], dtype: np.dtype) -> np.ndarray:
    """Zeros of a shape into which `fill` writes."""
    out = np.zeros(shape, dtype)
    fill(out)
    return out


def _strided(array: np.ndarray, shape: tuple, strides: tuple, skip: int = 0) -> np.ndarray:
    """A view of the elements of a contiguous array; writing to it writes to the array."""
    steps = tuple(step * array.itemsize for step in strides)
    return np.lib.stride_tricks.as_strided(array.reshape(-1)[skip:], shape, steps)


# ---- element-wise ----


def _polygamma(x: np.ndarray, n: int) -> np.ndarray:
    """The n-th derivative of digamma, n > 0: a sum of 40 terms, and Euler's and Maclaurin's formula for the rest."""
    y = x.astype(np.float64)
    s, far = n + 1, y + 40
    total = sum((y + k) ** -s for k in range(40))
    total = total + far ** (1 - s) / (s - 1) + far**-s / 2 + s * far ** (-s - 1) / 12
    total = total - s * (s + 1) * (s + 2) * far ** (-s - 3) / 720
    return ((-1) ** (n + 1) * factorial(n) * total).astype(x.dtype)


def _in_dtype(function: Callable) -> Callable:
    """The function with results in the dtype of the first input."""
    return lambda lhs, rhs: function(lhs, rhs).astype(lhs.dtype)


_UNARY = {
    "_mxl_positive": (lambda data: (data > 0).astype(data.dtype), 0),
    "_mxl_relu": (lambda data: np.maximum(data, 0), 2),
    "_mxl_round_even": (np.rint, 0),
    "_mxl_silu": (lambda data: (data / (1 + np.exp(-data.astype(np.float64)))).astype(data.dtype), 2),
    "_mxl_softrelu": (lambda data: np.log1p(np.exp(data.astype(np.float64))).astype(data.dtype), 2),
}
#: name -> NumPy's function, order of derivatives, domains of the inputs, whether integers are taken too
_BINARY = {
    "_mxl_floor_divide": (_in_dtype(np.floor_divide), 0, ("real", "away"), True),
    "_mxl_trunc_divide": (_in_dtype(lambda a, b: np.trunc(a.astype(np.float64) / b)), 0, ("real", "away"), True),
    "_mxl_fmod": (_in_dtype(np.fmod), 0, ("real", "away"), True),
    "_mxl_remainder": (_in_dtype(np.remainder), 0, ("real", "away"), True),
    "_mxl_maximum": (np.maximum, 2, ("real", "real"), True),
    "_mxl_minimum": (np.minimum, 2, ("real", "real"), True),
    "_mxl_power_derivative": (
        lambda lhs, rhs: (rhs * lhs ** (rhs - 1)).astype(lhs.dtype),
        2,
        ("positive", "away"),
        False,
    ),
    "_mxl_power_log": (lambda lhs, rhs: np.log(lhs) + 0 * rhs, 2, ("positive", "real"), False),
}


def _elementwise() -> list[Case]:
    rows = []
    for op, (forward, order) in _UNARY.items():
        for dtype in _FLOATS:
            diff = (0,) if order else ()
            rows.append(Case(op, dtype, (In(_SHAPE, dtype, "away"),), {}, forward, order=order, diff=diff))
    for op, (forward, order, domains, integers) in _BINARY.items():
        for dtype in _FLOATS:
            inputs = tuple(In(_SHAPE, dtype, domain) for domain in domains)
            rows.append(Case(op, dtype, inputs, {}, forward, order=order, diff=(0, 1) if order else ()))
        wide = (In((2, 1, 3), "float32", domains[0]), In((4, 1), "float32", domains[1]))
        rows.append(Case(op, "broadcast", wide, {}, forward, order=order, diff=(0, 1) if order else ()))
        if integers:
            inputs = (In(_SHAPE, "int32", ("int", -9, 9)), In(_SHAPE, "int32", ("int", 1, 4)))
            rows.append(Case(op, "int32", inputs, {}, forward))
    inputs = (In(_SHAPE, "int32", ("int", -3, 3)), In(_SHAPE, "int32", ("int", 0, 5)))
    rows.append(Case("_mxl_integer_power", "int32", inputs, {}, lambda lhs, rhs: lhs**rhs))
    x = (In(_SHAPE, "float32", "distinct"),)
    rows.append(
        Case("_mxl_remainder_scalar", "float32", x, {"scalar": -0.75}, lambda data, scalar: data % np.float32(scalar))
    )
    for n in (1, 2):
        for dtype in ("float32", "float64"):
            x = (In(_SHAPE, dtype, "positive"),)
            rows.append(Case("_mxl_polygamma", f"{dtype}-{n}", x, {"n": n}, _polygamma, order=2, diff=(0,)))
    x = (In(_SHAPE, "float32", "distinct"),)
    clamp = {"a_min": -0.3, "a_max": 0.55}
    rows.append(
        Case("_mxl_clamp", "float32", x, clamp, lambda data, a_min, a_max: data.clip(a_min, a_max), order=2, diff=(0,))
    )
    return rows


# ---- windows ----


def _window(data: np.ndarray, half: int) -> np.ndarray:
    """The sum of each channel and those at most `half` from it."""
    ends = [(max(0, c - half), c + half + 1) for c in range(data.shape[1])]
    return np.stack([data[:, low:high].sum(1) for low, high in ends], 1)


def _windows() -> list[Case]:
    op, rows = "_mxl_channel_window", []
    for half in (0, 1, 3, 9):
        for shape in ((2, 5, 3), (3, 4), (1, 7, 2, 40)):
            for dtype in ("float32", "float64"):
                label = f"{half}-{len(shape)}-{dtype}"
                rows.append(Case(op, label, (In(shape, dtype),), {"half": half}, _window, order=2, diff=(0,)))
    rows += [
        Case(op, "nothing", (In((2, 0, 3)),), {"half": 1}, lambda data, half: data, np_shape=True),
        Case(op, "one-axis", (In((3,)),), {"half": 1}, error=True),
        Case(op, "float16", (In((2, 3), "float16"),), {"half": 1}, error=True),
        Case(op, "negative", (In((2, 3)),), {"half": -1}, error=True),
    ]
    return rows


# ---- products and matrices ----


def _cofactors(A: np.ndarray) -> np.ndarray:
    y = A.astype(np.float64)
    inverse = np.swapaxes(np.linalg.inv(y), -1, -2)
    return (np.linalg.det(y)[..., None, None] * inverse).astype(A.dtype)


def _mm(lhs: np.ndarray, rhs: np.ndarray, transpose_a: bool = False, transpose_b: bool = False) -> np.ndarray:
    return (lhs.T if transpose_a else lhs) @ (rhs.T if transpose_b else rhs)


def _triangle(A: np.ndarray, below: float = 1, diagonal: float = 1, above: float = 1) -> np.ndarray:
    low, high = np.tril(A, -1), np.triu(A, 1)
    return (below * low + diagonal * (A - low - high) + above * high).astype(A.dtype)


_MATRIX = In(values=[[[4, 1, 0.5], [0.25, 3, 1], [1, 0.5, 5]], [[2, 0, 1], [1, -3, 0.5], [0, 1, 4]]], dtype="float32")


def _matrices() -> list[Case]:
    rows = []
    for a in (False, True):
        for b in (False, True):
            inputs = (In((4, 3) if a else (3, 4)), In((5, 4) if b else (4, 5)))
            params = {"transpose_a": a, "transpose_b": b}
            rows.append(Case("_mxl_mm", f"{a}-{b}", inputs, params, _mm, order=2, diff=(0, 1)))
    added = (In((3, 5)), In((3, 4)), In((4, 5)))
    params = {"beta": 0.5, "alpha": -2.0}
    rows.append(
        Case(
            "_mxl_addmm",
            "float32",
            added,
            params,
            lambda added, lhs, rhs, beta, alpha: (beta * added + alpha * (lhs @ rhs)).astype(added.dtype),
            order=2,
            diff=(0, 1, 2),
        )
    )
    for mean in (True, False):
        rows.append(
            Case(
                "_mxl_mse_loss",
                f"mean-{mean}",
                (In(_SHAPE), In(_SHAPE)),
                {"mean": mean},
                lambda lhs, rhs, mean: np.asarray(((lhs - rhs) ** 2).mean() if mean else ((lhs - rhs) ** 2).sum()),
                order=2,
                diff=(0, 1),
                np_shape=True,
            )
        )
    square = (_MATRIX,)
    loose = {"order": 2, "diff": (0,), "tolerance": _LOOSE}
    rows.append(Case("_mxl_cofactors", "float32", square, {}, _cofactors, **loose))
    rows.append(Case("_mxl_slogdet", "float32", square, {}, lambda A: tuple(np.linalg.slogdet(A)), tolerance=_LOOSE))
    rows.append(Case("_mxl_inverse_or_zero", "float32", square, {}, np.linalg.inv, tolerance=_LOOSE))
    singular = (In(values=[[[1, 2], [2, 4]], [[2, 0], [0, 4]]], dtype="float64"),)
    rows.append(
        Case(
            "_mxl_inverse_or_zero",
            "singular",
            singular,
            {},
            lambda A: np.array([[[0, 0], [0, 0]], [[0.5, 0], [0, 0.25]]]),
        )
    )
    factors = {"below": 2.0, "diagonal": 0.5, "above": -1.0}
    rows.append(Case("_mxl_triangle", "float32", (In((2, 4, 4)),), factors, _triangle, order=2, diff=(0,)))
    return rows


# ---- movement ----


def _sum_to(data: np.ndarray, shape: tuple) -> np.ndarray:
    data = data.sum(axis=tuple(range(data.ndim - len(shape))))
    axes = tuple(i for i, (n, m) in enumerate(zip(data.shape, shape)) if n != m)
    return data.sum(axis=axes, keepdims=True) if axes else data


def _strided_put(lhs: np.ndarray, rhs: np.ndarray, shape: tuple, strides: tuple, skip: int) -> np.ndarray:
    out = lhs.copy()
    _strided(out, shape, strides, skip)[...] = rhs
    return out


def _zeros_put(data: np.ndarray, shape: tuple, strides: tuple, skip: int, zeros: tuple) -> np.ndarray:
    return _put(zeros, lambda out: np.copyto(_strided(out, shape, strides, skip), data), data.dtype)


_VIEW = {"shape": (2, 3), "strides": (1, 4), "skip": 1}
_MOVED = {
    "_mxl_as_strided": (
        (_SHAPE,),
        _VIEW,
        lambda data, shape, strides, skip: _strided(data, shape, strides, skip).copy(),
    ),
    "_mxl_at": ((_SHAPE,), {"index": 1}, lambda data, index: data[index]),
    "_mxl_select": ((_SHAPE,), {"axis": 1, "index": 2}, lambda data, axis, index: data.take(index, axis)),
    "_mxl_slice_rows": (((5, 2),), {"begin": 1, "end": 4}, lambda data, begin, end: data[begin:end]),
    "_mxl_broadcast_to": (((3, 1),), {"shape": (2, 3, 4)}, lambda data, shape: np.broadcast_to(data, shape)),
    "_mxl_sum_to": (((2, 3, 4),), {"shape": (3, 1)}, _sum_to),
    "_mxl_reshape_to": ((_SHAPE,), {"shape": (2, 6)}, lambda data, shape: data.reshape(shape)),
    "_mxl_reshape_own": ((_SHAPE,), {"shape": (6, 2)}, lambda data, shape: data.reshape(shape)),
    "_mxl_copy_over": ((_SHAPE, (1, 4)), {}, lambda lhs, rhs: np.broadcast_to(rhs, lhs.shape)),
    "_mxl_strided_put": ((_SHAPE, (2, 3)), _VIEW, _strided_put),
    "_mxl_zeros_put": (((2, 3),), {**_VIEW, "zeros": _SHAPE}, _zeros_put),
}


def _moved() -> list[Case]:
    rows = []
    for op, (shapes, params, forward) in _MOVED.items():
        for dtype in ("float32", "float16", "int64"):
            domain = ("int", -99, 99) if dtype == "int64" else "real"
            inputs = tuple(In(shape, dtype, domain) for shape in shapes)
            diff = tuple(range(len(shapes))) if dtype == "float32" else ()
            rows.append(Case(op, dtype, inputs, params, forward, order=2 if diff else 0, diff=diff))
    number = {"scalar": 2.5}
    rows.append(
        Case("_mxl_fill", "float32", (In(_SHAPE),), number, lambda data, scalar: np.full_like(data, scalar), 2, (0,))
    )
    return rows


# ---- by index ----


def _along(data: np.ndarray, indices: np.ndarray, axis: int, shape: tuple) -> np.ndarray:
    places = np.indices(indices.shape)
    places[axis] = indices.astype(np.int64)
    part = data[tuple(slice(0, extent) for extent in indices.shape)]
    return _put(shape, lambda out: np.add.at(out, tuple(places), part), data.dtype)


def _take_grad(data: np.ndarray, indices: np.ndarray, axis: int, mode: str, shape: tuple) -> np.ndarray:
    where = indices.astype(np.int64)
    where = where % shape[axis] if mode == "wrap" else where.clip(0, shape[axis] - 1)
    return _put(shape, lambda out: np.add.at(out, (slice(None),) * axis + (where,), data), data.dtype)


def _pick_grad(data: np.ndarray, indices: np.ndarray, axis: int, mode: str, shape: tuple) -> np.ndarray:
    where = indices.astype(np.int64)
    where = where % shape[axis] if mode == "wrap" else where.clip(0, shape[axis] - 1)
    return _put(shape, lambda out: np.put_along_axis(out, where[:, None], data[:, None], axis), data.dtype)


def _named(indices: np.ndarray) -> tuple:
    return tuple(indices.astype(np.int64))


def _last(data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    names = list(zip(*_named(indices)))
    return np.array([data[name] if name not in names[i + 1 :] else 0 for i, name in enumerate(names)], data.dtype)


def _targets(label: np.ndarray, shape: tuple, smooth_alpha: float = 0) -> tuple:
    classes = shape[-1]
    out = np.full((len(label), classes), smooth_alpha / (classes - 1), label.dtype)
    out[np.arange(len(label)), label.astype(np.int64)] = 1 - smooth_alpha
    return out


_ALONG = _ints([0, 2, 1, 0], [3, 3, 1, 0], [1, 1, 1, 1], dtype="int64")


def _indexed() -> list[Case]:
    twice = {"order": 2, "diff": (0,)}
    places = _ints([0, 2, 0, 1], [3, 1, 3, 0])
    return [
        Case("_mxl_put_along", "float32", (In(_SHAPE), _ALONG), {"axis": 1, "shape": (3, 5)}, _along, **twice),
        Case("_mxl_put_along", "corner", (In((4, 5)), _ALONG), {"axis": 1, "shape": (3, 5)}, _along, **twice),
        Case("_mxl_put_along", "room", (In(_SHAPE), _ALONG), {"axis": 1, "shape": (2, 5)}, error=True),
        Case("_mxl_put_along", "axis", (In(_SHAPE), _ALONG), {"axis": 2, "shape": (3, 5)}, error=True),
        *(
            Case(
                "_mxl_take_grad",
                mode,
                (In((4, 3)), _ints(0, 2, -1, 7)),
                {"axis": 0, "mode": mode, "shape": (5, 3)},
                _take_grad,
                **twice,
            )
            for mode in ("clip", "wrap")
        ),
        *(
            Case(
                "_mxl_pick_grad",
                mode,
                (In((4,)), _ints(0, 2, -1, 7)),
                {"axis": 1, "mode": mode, "shape": (4, 3)},
                _pick_grad,
                **twice,
            )
            for mode in ("clip", "wrap")
        ),
        Case("_mxl_gather_nd_last", "float32", (In(_SHAPE), places), {}, _last, **twice),
        Case(
            "_mxl_scatter_nd_add",
            "float32",
            (In((4,)), places),
            {"shape": _SHAPE},
            lambda data, indices, shape: _put(shape, lambda out: np.add.at(out, _named(indices), data), data.dtype),
            **twice,
        ),
    ]


# ---- keys ----


def _decoded(key: tuple, arrays: Sequence[np.ndarray]) -> tuple:
    """NumPy's key for the numbers and index arrays of one; PyTorch's masks of uint8 are not among them."""
    parts, at, rest = [], 0, list(arrays)
    while at < len(key):
        kind = key[at]
        parts.append(
            key[at + 1]
            if kind == 0
            else slice(*key[at + 1 : at + 4])
            if kind == 1
            else None
            if kind == 2
            else Ellipsis
            if kind == 3
            else rest.pop(0)
        )
        at += {0: 2, 1: 4}.get(kind, 1)
    return tuple(parts)


def _key_read(
    data: np.ndarray, *arrays: np.ndarray, key: tuple, rules: str = "numpy", last: bool = False
) -> np.ndarray:
    parts = _decoded(key, arrays)
    found = np.array(data[parts])
    if last:
        owner, order = np.full(data.shape, -1), np.arange(found.size).reshape(found.shape)
        owner[parts] = order
        found = found * (owner[parts] == order)
    return found


def _key_add(
    data: np.ndarray, *arrays: np.ndarray, key: tuple, shape: tuple, rules: str = "numpy", accumulate: bool = True
) -> np.ndarray:
    out, parts = np.zeros(shape, data.dtype), _decoded(key, arrays)
    if accumulate:
        np.add.at(out, parts, data)
    else:
        out[parts] = data
    return out


def _key_put(
    data: np.ndarray, *more: np.ndarray, key: tuple, fill: bool = False, scalar: float = 0, **given
) -> np.ndarray:
    value, arrays = (scalar, more) if fill else (more[0], more[1:])
    out, parts = data.copy(), _decoded(key, arrays)
    if given.get("accumulate"):
        np.add.at(out, parts, value)
    else:
        out[parts] = value
    return out


def _keys() -> list[Case]:
    x, whole = In((3, 4, 2)), (1, None, None, None)
    rows, columns = _ints(2, 0, 2, dtype="int64"), _ints(-1, 3, -1, dtype="int32")
    mask, corner = In(values=[True, False, True], dtype="bool"), In(values=[[True, False]] * 4, dtype="bool")
    reads = {
        "view": ((1, 1, None, None, 2, 0, -1), ()),
        "steps": ((1, None, None, 2, 3, 1, None, 1, None), ()),
        "rows": ((4,), (rows,)),
        "behind-a-slice": ((1, 1, 3, None, 2, 4), (columns,)),
        "side-by-side": ((4, 4), (rows, columns)),
        "mask": ((4, 0, 1), (mask,)),
        "mask-of-two-axes": ((0, 2, 4), (corner,)),
    }
    apart = {"apart": ((4, *whole, 4), (rows, _ints(1, 0, 1, dtype="int64"))), "backwards": ((1, None, None, -2), ())}
    cases = []
    for label, (key, arrays) in {**reads, **apart}.items():
        cases.append(Case("_mxl_index", label, (x, *arrays), {"key": key}, _key_read, order=2, diff=(0,)))
    for label, (key, arrays) in reads.items():
        given = {"key": key, "rules": "torch"}
        cases.append(Case("_mxl_index_parts", label, (x, *arrays), given, _key_read, order=2, diff=(0,)))
    for label in ("rows", "side-by-side", "apart", "mask"):
        key, arrays = {**reads, **apart}[label]
        value = In(np.zeros((3, 4, 2))[_decoded(key, [each.array("") for each in arrays])].shape)
        shape, number = {"key": key, "shape": (3, 4, 2)}, {"key": key, "fill": True, "scalar": 2.5}
        last = {"key": key, "last": True}
        cases += [
            Case("_mxl_index", f"last-{label}", (x, *arrays), last, _key_read, order=2, diff=(0,)),
            Case("_mxl_index_add", label, (value, *arrays), shape, _key_add, order=2, diff=(0,)),
            Case(
                "_mxl_index_add",
                f"set-{label}",
                (value, *arrays),
                {**shape, "accumulate": False},
                _key_add,
                order=2,
                diff=(0,),
            ),
            Case("_mxl_index_put", label, (x, value, *arrays), {"key": key}, _key_put, order=2, diff=(0, 1)),
            Case("_mxl_index_put", f"number-{label}", (x, *arrays), number, _key_put, order=2, diff=(0,)),
            Case(
                "_mxl_index_put",
                f"added-{label}",
                (x, value, *arrays),
                {"key": key, "accumulate": True},
                _key_put,
                order=2,
                diff=(0, 1),
            ),
        ]
    cases += [
        Case("_mxl_index_put", "broadcast", (x, In((2,))), {"key": (1, 1, None, None)}, _key_put, order=2, diff=(0, 1)),
        Case("_mxl_index", "beyond", (x, _ints(0, 3, dtype="int64")), {"key": (4,)}, error=True),
        Case("_mxl_index", "floats", (x, _ints(0, 1)), {"key": (4,)}, error=True),
        Case("_mxl_index", "no-part", (x,), {"key": (9,)}, error=True),
        Case("_mxl_index", "half-a-part", (x,), {"key": (1, None)}, error=True),
        Case("_mxl_index", "an-array-too-few", (x,), {"key": (4,)}, error=True),
        Case("_mxl_index", "an-array-too-many", (x, rows), {"key": (3,)}, error=True),
        Case("_mxl_index_parts", "backwards", (x,), {"key": (1, None, None, -1), "rules": "torch"}, error=True),
        Case("_mxl_index_put", "another-shape", (x, In((3,))), {"key": (0, 1)}, error=True),
        Case("_mxl_index_put", "no-value", (x,), {"key": (0, 1)}, error=True),
        Case("_mxl_index_add", "another-size", (In((3,)), rows), {"key": (4,), "shape": (3, 4, 2)}, error=True),
    ]
    return cases


CASES = [*_elementwise(), *_windows(), *_matrices(), *_moved(), *_indexed(), *_keys()]
