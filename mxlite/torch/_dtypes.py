"""PyTorch's dtypes (`torch.float32`), their promotion, and the limits of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite._lib import LIB, check_call
from mxlite.base import BFLOAT16, DTYPE_OF_FLAG, FLAG_OF_DTYPE, dtype_name, numpy_dtype

#: Kinds in the order of promotion.
BOOL, INTEGER, FLOATING = range(3)


class dtype:  # noqa: N801 - PyTorch's name
    """The type of a tensor's elements. There is one object for each; they compare by identity.

    `np` is NumPy's for its numbers: of bfloat16, which NumPy lacks, float32.
    """

    __slots__ = ("name", "flag", "np", "kind", "itemsize", "is_floating_point", "is_signed", "word")

    is_complex = False

    def __init__(self, name: str, kind: int, word: str) -> None:
        self.name = name
        elements = numpy_dtype(name)
        self.np = np.dtype(np.float32) if elements == BFLOAT16 else elements
        self.flag = FLAG_OF_DTYPE[elements]
        self.kind = kind
        self.itemsize = elements.itemsize
        self.is_floating_point = kind == FLOATING
        self.is_signed = name not in ("uint8", "bool")
        #: Its name in errors and in the names of tensor classes.
        self.word = word

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple:
        return dtype_named, (self.name,)


float16 = dtype("float16", FLOATING, "Half")
float32 = dtype("float32", FLOATING, "Float")
float64 = dtype("float64", FLOATING, "Double")
bfloat16 = dtype("bfloat16", FLOATING, "BFloat16")
uint8 = dtype("uint8", INTEGER, "Byte")
int8 = dtype("int8", INTEGER, "Char")
int16 = dtype("int16", INTEGER, "Short")
int32 = dtype("int32", INTEGER, "Int")
int64 = dtype("int64", INTEGER, "Long")
bool_ = dtype("bool", BOOL, "Bool")

DTYPES = (float16, float32, float64, bfloat16, uint8, int8, int16, int32, int64, bool_)


def from_kind(lowest: int) -> dict[str, Any]:
    """`dtypes` and `num_floating` of `hot.direct`, for arrays of that kind or a higher one."""
    chosen = tuple(each for each in DTYPES if each.kind >= lowest)
    return {"dtypes": chosen, "num_floating": sum(each.kind == FLOATING for each in chosen)}


#: Of `hot.direct`: the dtypes of arithmetic; float16 is computed in float32.
EXACT = {"dtypes": (float32, float64), "num_floating": 2}


class _OfFlag(dict):
    def __missing__(self, flag: int) -> Any:
        raise TypeError(f"mxlite.torch has no torch.{dtype_name(DTYPE_OF_FLAG[flag])}")


#: The dtype for MXNet's number of it. Raises TypeError: mxlite.torch has no such dtype, though arrays may.
OF_FLAG = _OfFlag((each.flag, each) for each in DTYPES)
#: Of `hot.direct`, for operators whose operands the library promotes.
PROMOTED = {**from_kind(BOOL), "by_flag": tuple(OF_FLAG.get(flag) for flag in range(max(OF_FLAG) + 1))}
OF_NUMPY = {each.np: each for each in DTYPES if each is not bfloat16}
_OF_NAME = {each.name: each for each in DTYPES}
_OF_PYTHON = {float: float64, int: int64, bool: bool_}

#: Names that the module has for them.
NAMES = {
    **_OF_NAME,
    "half": float16,
    "float": float32,
    "double": float64,
    "short": int16,
    "int": int32,
    "long": int64,
}


class _Default:
    """The dtype of Python's floats is its `context`, for which `hot.direct` asks."""

    context = float32


_default = _Default()
#: Of `hot.direct`: new tensors are of float32 where no dtype is given.
_home = _Default()
HOME = (_home, float32)
_elsewhere = 0


def count_elsewhere(more: int) -> None:
    """Counts the with-blocks, of all threads, whose new tensors are not on the CPU: within them none is usual."""
    global _elsewhere
    _elsewhere += more
    _home.context = None if _elsewhere else _default.context  # type: ignore[assignment]


def get_default_dtype() -> dtype:
    """The dtype of Python's floats: float32, unless set_default_dtype changed it."""
    return _default.context


def set_default_dtype(d: dtype) -> None:
    """Makes `d`, a floating dtype, what Python's floats become.

    Raises: TypeError: no floating dtype.
    """
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"set_default_dtype: takes a floating dtype, got {d}")
    check_call(LIB.MXLSetDefaultDtype(d.flag, None))
    _default.context = d  # type: ignore[assignment]
    count_elsewhere(0)


def dtype_named(name: str) -> dtype:
    """The dtype of that name."""
    return _OF_NAME[name]


def as_dtype(value: Any) -> dtype:
    """A dtype, or one of Python's float, int and bool.

    Raises: TypeError: neither.
    """
    if value.__class__ is dtype:
        return value
    found = _OF_PYTHON.get(value)
    if found is None:
        raise TypeError(f"dtype is a torch.dtype, not a {type(value).__name__}")
    return found


def dtype_of_numpy(given: np.dtype) -> dtype:
    """The dtype for one of NumPy's.

    Raises: TypeError: the library has no arrays of it.
    """
    found = OF_NUMPY.get(np.dtype(given))
    if found is None:
        raise TypeError(f"NumPy's {np.dtype(given)} is none of the dtypes of mxlite.torch: {', '.join(_OF_NAME)}")
    return found


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both can be converted to: floats over integers over bool, then the wider one."""
    if type1 is type2:
        return type1
    first, second = (type1, type2) if type1.kind >= type2.kind else (type2, type1)
    if first.kind != second.kind:
        return first
    if {first, second} == {uint8, int8}:
        return int16
    if {first, second} == {float16, bfloat16}:
        return float32
    return first if first.itemsize >= second.itemsize else second


def scalar_dtype(value: Any) -> dtype:
    """The dtype of a Python number as a tensor: bool, int64, or the default dtype."""
    if isinstance(value, (bool, np.bool_)):
        return bool_
    if isinstance(value, (int, np.integer)):
        return int64
    return _default.context


def result_dtype(operands: list[tuple[dtype, int] | dtype]) -> dtype:
    """The dtype of an operation on tensors, (dtype, number of axes), and numbers, dtype alone.

    Tensors with axes come before those without, and these before numbers: a later group counts only where its kind of
    number is a higher one.
    """
    groups: list[dtype | None] = [None, None, None]
    for operand in operands:
        if operand.__class__ is dtype:
            group, kind = 2, operand
        else:
            group, kind = (0 if operand[1] else 1), operand[0]
        groups[group] = kind if groups[group] is None else promote_types(groups[group], kind)
    result = None
    for position, found in enumerate(groups):
        if found is None:
            continue
        if result is None:
            result = found
        elif found.kind > result.kind:
            # An integer or bool tensor and a Python float: the default dtype, not the number's own width.
            result = _default.context if position == 2 and found.kind == FLOATING else found
    assert result is not None
    return result


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of `from_` may be written into a tensor of `to`: not into a lower kind of number."""
    return from_.kind <= to.kind


class finfo:  # noqa: N801 - PyTorch's name
    """The limits of a floating dtype (the default one, where none is given).

    Raises: TypeError: no floating dtype.
    """

    def __init__(self, type: dtype | None = None) -> None:
        type = get_default_dtype() if type is None else type
        limits = np.finfo(_limited("finfo", "a floating", "iinfo", type, FLOATING).np)
        self.dtype = type.name
        self.bits = type.itemsize * 8
        self.eps, self.tiny = float(limits.eps), float(limits.tiny)
        self.smallest_normal = self.tiny
        self.max, self.min = float(limits.max), float(limits.min)
        self.resolution = float(str(limits.resolution))
        if type is bfloat16:  # 8 bits of float32's 24
            self.eps, self.resolution = 2.0**-7, 0.01
            self.max = (2 - self.eps) * 2.0**127
            self.min = -self.max

    def __repr__(self) -> str:
        numbers = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):.6g}' for name in numbers)}, dtype={self.dtype})"


class iinfo:  # noqa: N801 - PyTorch's name
    """The limits of an integer dtype.

    Raises: TypeError: no integer dtype.
    """

    def __init__(self, type: dtype) -> None:
        limits = np.iinfo(_limited("iinfo", "an integer", "finfo", type, INTEGER).np)
        self.dtype = type.name
        self.bits = limits.bits
        self.max, self.min = int(limits.max), int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def _limited(name: str, wanted: str, other: str, type: Any, kind: int) -> dtype:
    if not isinstance(type, dtype) or type.kind != kind:
        given = type.name if isinstance(type, dtype) else type
        raise TypeError(f"{name}: takes {wanted} dtype, got '{given}'; there is also {other}")
    return type
