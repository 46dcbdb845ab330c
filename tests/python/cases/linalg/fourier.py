"""Fourier transforms of rows, and of pairs along axes.

The second source is numpy.fft in float64.
"""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []
#: rows of the operator that the others are composed of
INTERNAL: list = []

_GPU = "differs: 1.9.1 has it on GPUs alone"
_FLOATS = ("float16", "float32", "float64")
_NEAR = {"float16": (4e-3, 4e-2), "float32": (2e-5, 2e-5), "float64": (1e-11, 1e-12)}
#: sums of so many numbers: their errors are those of the largest
_LONG = {"float16": (0, 2.0), "float32": (0, 2e-3), "float64": (0, 1e-10)}


def _pairs(numbers: np.ndarray) -> np.ndarray:
    return np.stack([numbers.real, numbers.imag], -1)


def _numbers(pairs: np.ndarray) -> np.ndarray:
    return pairs[..., 0].astype("float64") + 1j * pairs[..., 1].astype("float64")


# ---- 1.9.1's operators of rows ----


def _fft(data, compute_size=128):
    out = _pairs(np.fft.fft(data.astype("float64")))
    return out.reshape(*data.shape[:-1], 2 * data.shape[-1]).astype(data.dtype)


def _ifft(data, compute_size=128):
    numbers = _numbers(data.reshape(*data.shape[:-1], data.shape[-1] // 2, 2))
    return (np.fft.ifft(numbers).real * numbers.shape[-1]).astype(data.dtype)


def _row(op, label, shape, dtype="float32", order=2, params=None, **rest):
    forward, width = (_fft, 1) if op == "_contrib_fft" else (_ifft, 2)
    inputs = (In((*shape[:-1], shape[-1] * width), dtype),)
    CASES.append(Case(op, label, inputs, params or {}, forward, order=order, diff=(0,), tolerance=_NEAR,
                      oracle=_GPU, **rest))  # fmt: skip


for _op in ("_contrib_fft", "_contrib_ifft"):
    for _dtype in _FLOATS:
        _row(_op, f"plain-{_dtype}", (3, 4), _dtype)
    _row(_op, "parameters", (2, 3), params={"compute_size": 1})
    _row(_op, "one", (2, 1))
    _row(_op, "vector", (5,))
    _row(_op, "four-axes", (2, 1, 3, 6))
    _row(_op, "no-rows", (0, 4), np_shape=True)
    _row(_op, "prime", (2, 67), order=1)
    CASES += [
        Case(
            _op,
            "special-float32",
            (In(values=[[np.nan, 1, 2, 3], [1e-42, 1e30, -1e30, -0.0]]),),
            {},
            _fft if _op == "_contrib_fft" else _ifft,
            tolerance=_NEAR,
            oracle=_GPU,
        ),
        Case(_op, "0-axes", (In(values=0.5),), {}, error=True, np_shape=True),
        Case(_op, "no-columns", (In((2, 0)),), {}, error=True, np_shape=True),
        Case(_op, "integers", (In((2, 4), "int32", ("int", 0, 9)),), {}, error=True),
    ]
CASES.append(Case("_contrib_ifft", "odd", (In((2, 3)),), {}, error=True))


# ---- _mxl_fft ----


def _transform(data, axes=(-1,), kind="pairs", inverse=False, n=0, scale=1.0, middle=1.0):
    """Axis by axis as sums, over all pairs: the conjugates of real numbers are there."""
    real = kind == "from_real"
    numbers = data.astype("float64") if real else _numbers(data)
    axes = [axis % numbers.ndim for axis in axes]
    one = np.fft.ifftn if inverse else np.fft.fftn
    last, count = axes[-1], numbers.shape[axes[-1]]

    def times(values, length):
        factors = np.full(values.shape[last], middle)
        factors[0] = 1
        if length % 2 == 0:
            factors[-1] = 1
        return values * factors.reshape([-1 if axis == last else 1 for axis in range(values.ndim)])

    if kind == "to_real":
        first = one(numbers, axes=axes[:-1], norm="forward" if inverse else "backward") if axes[:-1] else numbers
        padded = np.concatenate([times(first, n), np.zeros_like(np.take(first, range(n - count), last))], last)
        out = one(padded, axes=(last,), norm="forward" if inverse else "backward").real
    else:
        out = one(numbers, axes=axes, norm="forward" if inverse else "backward")
        out = _pairs(times(np.take(out, range(count // 2 + 1), last), count) if real else out)
    return (out * scale).astype(data.dtype)


def _case(label, shape, dtype="float32", order=2, tolerance=None, **params):
    kind = params.get("kind", "pairs")
    if kind == "to_real":
        last = params.get("axes", (-1,))[-1]
        shape = list(shape)
        params["n"], shape[last] = shape[last], shape[last] // 2 + 1
    shape = (*shape, 2) if kind != "from_real" else tuple(shape)
    INTERNAL.append(Case("_mxl_fft", label, (In(shape, dtype),), params, _transform, order=order, diff=(0,),
                         tolerance=tolerance or _NEAR, np_shape=0 in shape))  # fmt: skip


for _kind in ("pairs", "from_real", "to_real"):
    for _dtype in _FLOATS:
        _case(f"{_kind}-{_dtype}", (3, 4), _dtype, kind=_kind)
    for _n in (1, 2, 3, 5, 6, 7, 8, 15):
        _case(f"{_kind}-{_n}", (2, _n), kind=_kind, middle=1.5, inverse=_n % 2 == 0)
    for _n in (17, 31, 33, 64, 77, 100, 144, 211, 256, 1000, 1009, 1024, 2187, 3125, 10007):
        _loose = _LONG if _n > 64 else None
        _case(f"{_kind}-{_n}", (_n,), order=0, kind=_kind, tolerance=_loose)
        _case(f"{_kind}-{_n}-inverse-float64", (_n,), "float64", order=0, kind=_kind, inverse=True, tolerance=_loose)
    _case(f"{_kind}-long", (1, 131, 2), order=1, kind=_kind, axes=(1,), tolerance=_LONG)
    _case(f"{_kind}-columns", (2, 6, 3), kind=_kind, axes=(1,), scale=0.25, middle=2.0)
    _case(f"{_kind}-many-columns", (12, 35), order=0, kind=_kind, axes=(0,))
    _case(f"{_kind}-many-rows", (35, 12), order=0, kind=_kind)
    _case(f"{_kind}-several", (3, 2, 5), kind=_kind, axes=(0, -1), inverse=True, scale=0.5, middle=2.0)
    _case(f"{_kind}-all", (3, 4, 2), kind=_kind, axes=(2, 0, 1), inverse=True)
    _case(f"{_kind}-no-rows", (0, 4), kind=_kind)

INTERNAL += [
    Case("_mxl_fft", "nan", (In(values=[[[1, 2], [np.nan, 3]], [[4, 5], [6, 7]]]),), {}, _transform),
    Case("_mxl_fft", "infinity-from-real", (In(values=[[1, np.inf], [2, 3]]),), {"kind": "from_real"},
         lambda data, kind: np.array([[[np.inf, 0], [-np.inf, 0]], [[5, 0], [-1, 0]]], "float32")),
    Case("_mxl_fft", "first-imaginary-parts", (In(values=[[3, np.nan], [1, np.nan]]),),
         {"kind": "to_real", "n": 2}, lambda data, kind, n: np.array([4, 2], "float32")),
    Case("_mxl_fft", "no-elements", (In((2, 0, 2)),), {}, error=True, np_shape=True),
    Case("_mxl_fft", "no-pairs", (In((2, 3)),), {}, error=True),
    Case("_mxl_fft", "0-axes", (In(values=0.5),), {}, error=True, np_shape=True),
    Case("_mxl_fft", "0-axes-of-numbers", (In((2,)),), {}, error=True),
    Case("_mxl_fft", "axis-beyond", (In((3, 2)),), {"axes": (1,)}, error=True),
    Case("_mxl_fft", "axis-twice", (In((3, 3, 2)),), {"axes": (1, -1)}, error=True),
    Case("_mxl_fft", "no-axes", (In((3, 2)),), {"axes": ()}, error=True),
    Case("_mxl_fft", "n-too-large", (In((3, 2)),), {"kind": "to_real", "n": 6}, error=True),
    Case("_mxl_fft", "n-missing", (In((1, 2)),), {"kind": "to_real"}, error=True),
    Case("_mxl_fft", "integers", (In((3, 2), "int32", ("int", 0, 9)),), {}, error=True),
]  # fmt: skip
