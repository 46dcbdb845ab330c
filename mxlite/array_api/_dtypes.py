"""The dtypes of the Array API standard that the library has, and which dtype arrays have together."""

from __future__ import annotations

import builtins
from functools import cache, reduce
from typing import Any, NamedTuple

import numpy as np

from mxlite import numpy as mnp
from mxlite.base import FLAG_OF_DTYPE, dtype_name
from mxlite.context import require_cpu
from mxlite.error import MXTypeError, MXValueError
from mxlite.ndarray._gradient import FRONT_END
from mxlite.numpy._functions import ArrayBase, not_an_array
from mxlite.numpy.multiarray import ndarray

#: The standard's names, and float16, in its order; the library has those that it can make arrays of.
NAMES = """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64
""".split()
DTYPES: dict[str, np.dtype] = {name: np.dtype(name) for name in NAMES if np.dtype(name) in FLAG_OF_DTYPE}
BOOL, INT, FLOAT = np.dtype("bool"), np.dtype("int64"), np.dtype("float32")

#: The standard's kinds of dtypes, as letters of NumPy's.
KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


class finfo_object(NamedTuple):  # noqa: N801 - the standard's name
    """The limits of a floating-point dtype."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


class iinfo_object(NamedTuple):  # noqa: N801 - the standard's name
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: np.dtype


def dtype_of(value: Any) -> np.dtype:
    """A dtype as it is given, or that of an array. Raises: TypeError: the library has no such dtype."""
    if value is None:
        raise MXTypeError("a dtype is missing, got None")
    return value.dtype if isinstance(value, ArrayBase) else np.dtype(dtype_name(value))


def array_given(name: str, x: Any, kinds: str = "biuf", argument: str = "x") -> ndarray:
    """An array. Raises: TypeError: it is none of `mx.np`, or of another kind of dtype."""
    if not isinstance(x, ArrayBase):
        raise not_an_array(name, argument, x)
    require_kind(name, x.dtype, kinds)  # type: ignore[attr-defined]
    return x  # type: ignore[return-value]


def matrices_given(
    name: str, x: ndarray, is_square: builtins.bool = False, kinds: str = "f", argument: str = "x"
) -> ndarray:
    """Raises TypeError: an array is none of these kinds; ValueError: it has no matrices, or none that are square."""
    array_given(name, x, kinds, argument)
    if x.ndim < 2 or (is_square and x.shape[-1] != x.shape[-2]):
        raise MXValueError(f"{name}: takes {'square ' * is_square}matrices, got shape {x.shape}")
    return x


def require_kind(name: str, dtype: np.dtype, kinds: str) -> None:
    """Raises TypeError: a dtype is of none of these kinds."""
    if dtype.kind not in kinds:
        wanted = {"b": "bool", "i": "integers", "f": "floating-point numbers"}
        words = " or ".join(word for letter, word in wanted.items() if letter in kinds)
        raise MXTypeError(f"{name}: takes arrays of {words}, got {dtype}")


def require_device(device: Any) -> None:
    """Raises TypeError, ValueError or MXNetError: a device is given, as a Context or by name, and is not the CPU."""
    if device is not None:
        require_cpu(device)


def require_unrecorded(name: str) -> None:
    """Raises ValueError (and MXNetError): a function whose result is not recorded is called while recording."""
    if FRONT_END.is_recording():
        raise MXValueError(f"{name} is not recorded; call it outside autograd.record(), or in autograd.pause()")


def new(values: Any) -> ndarray:
    """An array with the values of one of NumPy."""
    return mnp.array(np.asarray(values))


def cast(x: ndarray, dtype: Any) -> ndarray:
    """An array in a dtype: itself where it has it."""
    return x if x.dtype == dtype else x.astype(dtype)


# ---- promotion ----


@cache
def _promoted(one: np.dtype, two: np.dtype) -> np.dtype:
    if one == two:
        return one
    kinds = one.kind + two.kind
    found = np.promote_types(one, two) if kinds == "ff" or set(kinds) <= {"i", "u"} else None
    if found is None or found.kind == "f" != kinds[0]:
        raise MXTypeError(f"{one} and {two} have no common dtype; astype() converts one of them")
    if found not in FLAG_OF_DTYPE:
        raise MXTypeError(f"{one} and {two} are {found} together, which is not supported")
    return found


def _require_fits(value: Any, dtype: np.dtype) -> None:
    """Raises TypeError: a Python number is of another kind than a dtype; OverflowError: it is beyond it."""
    kind = "b" if isinstance(value, builtins.bool) else "i" if isinstance(value, int) else "f"
    if dtype.kind not in {"b": "b", "i": "iuf", "f": "f"}[kind]:
        raise MXTypeError(f"the {type(value).__name__} {value!r} and {dtype} have no common dtype")
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        raise OverflowError(f"{value} is no {dtype}")


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (builtins.bool, int, float)) and not isinstance(value, np.generic)


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """The dtype that arrays, dtypes and Python numbers have together; numbers take the dtype of the others.

    Raises: TypeError: they have none (integers and fractions, uint64 and signed integers), or numbers alone.
    """
    scalars = [each for each in arrays_and_dtypes if _is_scalar(each)]
    dtypes = [dtype_of(each) for each in arrays_and_dtypes if not _is_scalar(each)]
    if not dtypes:
        raise MXTypeError("result_type: takes an array or a dtype besides numbers, got none")
    found = reduce(_promoted, dtypes)
    for each in scalars:
        _require_fits(each, found)
    return found


def operands(name: str, kinds: str, *values: Any) -> list[ndarray]:
    """Arrays and Python numbers as arrays in their common dtype. Raises: TypeError, OverflowError."""
    if len(values) == 2 and values[0].__class__ is values[1].__class__ is ndarray:
        if values[0].dtype == values[1].dtype:
            require_kind(name, values[0].dtype, kinds)
            return list(values)
    for k, each in enumerate(values):
        if not isinstance(each, ArrayBase) and not _is_scalar(each):
            raise not_an_array(name, f"x{k + 1}", each)
    dtype = result_type(*values)
    require_kind(name, dtype, kinds)
    return [mnp.array(each, dtype=dtype) if _is_scalar(each) else cast(each, dtype) for each in values]


# ---- the standard's functions ----


def astype(x: ndarray, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> ndarray:
    """The elements in a dtype; copy=False: the array itself where it has it."""
    require_device(device)
    dtype = dtype_of(dtype)
    return x if not copy and x.dtype == dtype else array_given("astype", x).astype(dtype)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether the dtype of the first, a dtype or an array, and the second are the second together."""
    one, two = dtype_of(from_), dtype_of(to)
    try:
        return _promoted(one, two) == two
    except TypeError:
        return False


def finfo(type: Any, /) -> finfo_object:  # noqa: A002 - the standard's name
    """The limits of a floating-point dtype, or an array's. Raises: TypeError: another dtype."""
    dtype = dtype_of(type)
    require_kind("finfo", dtype, "f")
    found = np.finfo(dtype)
    limits = map(float, (found.eps, found.max, found.min, found.tiny))
    return finfo_object(found.bits, *limits, dtype)


def iinfo(type: Any, /) -> iinfo_object:  # noqa: A002 - the standard's name
    """The limits of an integer dtype, or an array's. Raises: TypeError: another dtype."""
    dtype = dtype_of(type)
    require_kind("iinfo", dtype, "iu")
    found = np.iinfo(dtype)
    return iinfo_object(found.bits, int(found.max), int(found.min), dtype)


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a dtype is one, of a kind ("bool", "integral", "real floating", ...), or either of a tuple.

    Raises: ValueError: there is no such kind.
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise MXValueError(f"isdtype: there is no kind {kind!r}; there are {', '.join(KINDS)}")
        return np.dtype(dtype).kind in KINDS[kind]
    return builtins.bool(np.dtype(dtype) == np.dtype(kind))
