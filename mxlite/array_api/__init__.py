"""The Python array API standard (https://data-apis.org/array-api) over `mx.np`'s arrays.

`x.__array_namespace__()` is this module. Its functions are those of `mx.np` with the standard's names, arguments and
dtypes, and are recorded as those are.
"""

from __future__ import annotations

# ruff: noqa: F401, I001 - what is imported here is what the module offers
import math as _math

from mxlite._public import show as _show
from mxlite.array_api import _dtypes, fft, linalg
from mxlite.array_api._create import (
    arange, asarray, empty, empty_like, eye, from_dlpack, full, full_like, linspace, meshgrid, ones, ones_like, tril,
    triu, zeros, zeros_like,
)  # fmt: skip
from mxlite.array_api._dtypes import astype, can_cast, finfo, iinfo, isdtype, result_type
from mxlite.array_api._elements import (
    abs, acos, acosh, add, asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_or,
    bitwise_right_shift, bitwise_xor, ceil, clip, conj, copysign, cos, cosh, divide, equal, exp, expm1, floor,
    floor_divide, greater, greater_equal, hypot, imag, isfinite, isinf, isnan, less, less_equal, log, log1p, log2,
    log10, logaddexp, logical_and, logical_not, logical_or, logical_xor, maximum, minimum, multiply, negative,
    nextafter, not_equal, positive, pow, real, reciprocal, remainder, round, sign, signbit, sin, sinh, sqrt, square,
    subtract, tan, tanh, trunc, where,
)  # fmt: skip
from mxlite.array_api._info import NamespaceInfo as _NamespaceInfo
from mxlite.array_api._order import (
    argsort, isin, nonzero, searchsorted, sort, unique_all, unique_counts, unique_inverse, unique_values,
)  # fmt: skip
from mxlite.array_api._shapes import (
    broadcast_arrays, broadcast_shapes, broadcast_to, concat, expand_dims, flip, matrix_transpose, moveaxis,
    permute_dims, repeat, reshape, roll, squeeze, stack, take, take_along_axis, tile, unstack,
)  # fmt: skip
from mxlite.array_api._sums import (
    all, any, argmax, argmin, count_nonzero, cumulative_prod, cumulative_sum, diff, matmul, max, mean, min, prod, std,
    sum, tensordot, var, vecdot,
)  # fmt: skip

from mxlite.numpy._standard import VERSIONS as _VERSIONS

__array_api_version__ = _VERSIONS[-1]

e, inf, nan, newaxis, pi = _math.e, _math.inf, _math.nan, None, _math.pi
globals().update(_dtypes.DTYPES)


def __array_namespace_info__() -> _NamespaceInfo:  # noqa: N807 - the standard's name
    """What devices, dtypes and abilities there are."""
    return _NamespaceInfo()


__all__ = sorted({name for name, each in list(globals().items()) if name[0] != "_" and name != "annotations"})
_show(globals())
