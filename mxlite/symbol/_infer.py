"""Shapes and dtypes of a symbol's variables and outputs from those of some variables."""

from __future__ import annotations

import ctypes
import warnings
from typing import TYPE_CHECKING, Any, Optional

from mxlite._lib import LIB, c_ints, c_texts, check_call
from mxlite.base import DTYPE_OF_FLAG, dtype_flag

if TYPE_CHECKING:
    from mxlite.symbol.symbol import Symbol

#: What is found of the arguments, the outputs and the auxiliary states, each in the order of its list.
Found = tuple[Optional[list], Optional[list], Optional[list]]


def _named(what: str, args: tuple, kwargs: dict[str, Any]) -> tuple[int, Any, list]:
    """How many are given, their names for C (None: by position), and they. Raises: ValueError: both ways."""
    if args and kwargs:
        raise ValueError(f"{what}s are given by position or by name, not both")
    if args:
        return len(args), None, list(args)
    given = {name: value for name, value in kwargs.items() if value is not None}
    return len(given), c_texts(given), list(given.values())


def _shapes_given(args: tuple, kwargs: dict[str, Any]) -> tuple[int, Any, Any, Any]:
    for number, shape in enumerate(args):
        if shape is not None and not isinstance(shape, tuple):
            raise TypeError(f"a shape is a tuple; argument {number} is a {type(shape)}")
    for name, shape in kwargs.items():
        if not isinstance(shape, tuple):
            raise TypeError(f"a shape is a tuple; '{name}' is a {type(shape)}")
    count, names, shapes = _named("shape", args, kwargs)
    ends, sizes = [0], []
    for shape in shapes:
        sizes += [int(size) for size in shape or ()]
        ends.append(len(sizes))
    return count, names, c_ints(ctypes.c_int64, ends), c_ints(ctypes.c_int64, sizes)


def _find_shapes(function: Any, symbol: Symbol, args: tuple, kwargs: dict[str, Any]) -> tuple[Found, bool]:
    given = _shapes_given(args, kwargs)
    counts = [ctypes.c_size_t() for _ in range(3)]
    ranks = [ctypes.POINTER(ctypes.c_int)() for _ in range(3)]
    sizes = [ctypes.POINTER(ctypes.POINTER(ctypes.c_int64))() for _ in range(3)]
    complete = ctypes.c_int()
    places = [ctypes.byref(each) for group in zip(counts, ranks, sizes) for each in group]
    check_call(function(symbol._h, *given, *places, ctypes.byref(complete)))
    found = tuple(
        [tuple(data[i][: max(rank[i], 0)]) for i in range(count.value)]
        for count, rank, data in zip(counts, ranks, sizes)
    )
    return found, bool(complete.value)  # type: ignore[return-value] # three lists


def infer_shape(self: Symbol, *args: tuple, **kwargs: tuple) -> Found:
    """The shapes of all arguments, outputs and auxiliary states, from those of some arguments.

    Args:
        args: shapes in the order of `list_arguments()` (None: unknown). kwargs: shapes by the arguments' names.
    Returns: three lists; three times None, with a warning, where the shapes do not suffice.
    Raises: MXNetError: they contradict the graph; TypeError: one is no tuple; ValueError: both ways of giving them.
    """
    found, complete = _find_shapes(LIB.MXSymbolInferShapeEx64, self, args, kwargs)
    if complete:
        return found
    partial = infer_shape_partial(self, *args, **kwargs)[0] or []
    unknown = [f"{name}: {shape}" for name, shape in zip(self.list_arguments(), partial) if _is_unknown(shape)]
    warnings.warn(
        "infer_shape: these shapes stay unknown (a size of 0 is unknown):\n\t" + "\n\t".join(unknown),
        stacklevel=2,
    )
    return None, None, None


def _is_unknown(shape: tuple[int, ...]) -> bool:
    return not shape or any(size <= 0 for size in shape)


def infer_shape_partial(self: Symbol, *args: tuple, **kwargs: tuple) -> Found:
    """As `infer_shape`, but returns what is known: () for an unknown shape, 0 for an unknown size."""
    return _find_shapes(LIB.MXSymbolInferShapePartialEx64, self, args, kwargs)[0]


def _find_types(function: Any, symbol: Symbol, args: tuple, kwargs: dict[str, Any]) -> tuple[Found, bool]:
    count, names, dtypes = _named("type", args, kwargs)
    flags = [-1 if dtype is None else dtype_flag(dtype) for dtype in dtypes]
    counts = [ctypes.c_uint32() for _ in range(3)]
    lists = [ctypes.POINTER(ctypes.c_int)() for _ in range(3)]
    complete = ctypes.c_int()
    places = [ctypes.byref(each) for pair in zip(counts, lists) for each in pair]
    check_call(function(symbol._h, count, names, (ctypes.c_int * count)(*flags), *places, ctypes.byref(complete)))
    found = tuple([DTYPE_OF_FLAG.get(data[i]) for i in range(each.value)] for each, data in zip(counts, lists))
    return found, bool(complete.value)  # type: ignore[return-value] # three lists


def infer_type(self: Symbol, *args: Any, **kwargs: Any) -> Found:
    """The dtypes of all arguments, outputs and auxiliary states, from those of some arguments.

    Returns: three lists of NumPy's scalar types; three times None where the given ones do not suffice.
    Raises: MXNetError: they contradict the graph; TypeError: one is no dtype; ValueError: by position and by name.
    """
    found, complete = _find_types(LIB.MXSymbolInferType, self, args, kwargs)
    return found if complete else (None, None, None)


def infer_type_partial(self: Symbol, *args: Any, **kwargs: Any) -> Found:
    """As `infer_type`, but returns what is known, None for an unknown dtype."""
    return _find_types(LIB.MXSymbolInferTypePartial, self, args, kwargs)[0]
