"""`mx.np`: NumPy's arrays and functions, differentiated. `npx.set_np()` makes all of the package answer with them.

The functions are made when they are first asked for; `dir(mx.np)` lists them all.
"""

from __future__ import annotations

# ruff: noqa: F401 - what is imported here is what the module offers
from typing import Any

import numpy as _numpy

from mxlite.numpy import multiarray
from mxlite.numpy._arithmetic import install as _install
from mxlite.numpy._protocols import install as _install_protocols
from mxlite.numpy._show import show_functions as _show_functions
from mxlite.numpy._standard import install as _install_standard
from mxlite.numpy.multiarray import ndarray

_install()
_install_protocols()
_install_standard()

from mxlite.numpy import linalg, random  # noqa: E402 - they are made of what is above

#: What is neither function nor class.
__all__ = """
    NAN NINF NZERO NaN PINF PZERO bool bool_ e finfo float16 float32 float64 inf int32 int64 int8 linalg min_scalar_type
    nan ndarray newaxis pi promote_types random result_type uint8
""".split()

NAN = NaN = nan = _numpy.nan
PINF = inf = _numpy.inf
NINF = -_numpy.inf
NZERO, PZERO = -0.0, 0.0
e = _numpy.e
pi = _numpy.pi
newaxis = None

bool = bool  # noqa: A001, PLW0127 - 1.9.1's names
bool_, float16, float32, float64 = _numpy.bool_, _numpy.float16, _numpy.float32, _numpy.float64
int8, int32, int64, uint8 = _numpy.int8, _numpy.int32, _numpy.int64, _numpy.uint8
finfo = _numpy.finfo
promote_types, result_type, min_scalar_type = _numpy.promote_types, _numpy.result_type, _numpy.min_scalar_type


def ndim(a: Any) -> int:
    """How many axes an array, or a list, has."""
    return a.ndim if isinstance(a, ndarray) else _numpy.ndim(a)


def size(a: Any, axis: int | None = None) -> int:
    """How many elements an array has, or how many along an axis."""
    shape = a.shape if isinstance(a, ndarray) else _numpy.shape(a)
    return int(_numpy.prod(shape, dtype=_numpy.int64)) if axis is None else shape[axis]


def real(val: Any) -> Any:
    """The array itself: it has no complex numbers."""
    return val if isinstance(val, ndarray) else _numpy.real(val)


def set_printoptions(precision: int | None = None, threshold: int | None = None, **kwarg: Any) -> None:
    """How arrays are printed, as numpy.set_printoptions has it."""
    _numpy.set_printoptions(precision=precision, threshold=threshold, **kwarg)


_show_functions(globals(), "")
