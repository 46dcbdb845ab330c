"""NDArray: an array of the library's; what it is, its copies and views; arrays from NumPy and nothing.

Its base class Conversion (_convert.py) holds what leads out of it, Gradient (_gradient.py) what belongs to gradients.
Python's operators and the methods that are operators of the library are added by _arithmetic.py, keys by _keys.py,
methods that are several calls by shapes.py, what NumPy's functions do with it by _numpy.py.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from mxlite._lib import LIB, ask, c_ints, check_call, hot, last_error
from mxlite._notebook import arrays
from mxlite._public import show
from mxlite.base import DTYPE_OF_FLAG, AsDtype, dtype_flag, dtype_name
from mxlite.context import Context, require_cpu
from mxlite.error import MXIndexError, MXNetError, MXValueError
from mxlite.ndarray import _make
from mxlite.ndarray._convert import Conversion
from mxlite.ndarray._gradient import Gradient
from mxlite.ndarray._make import _from_numpy, invoke, new_array  # noqa: F401 - importers of NDArray use them

_END = (1 << 63) - 1
NUMBERS = (float, int, np.generic)

#: The methods of 1.9.1's NDArray that are operators with the array as the first input.
FLUENT = frozenset(
    """
    abs arccos arccosh arcsin arcsinh arctan arctanh argmax argmax_channel argmin argsort broadcast_axes broadcast_like
    cbrt ceil clip cos cosh degrees depth_to_space diag exp expm1 fix flip floor log log10 log1p log2 log_softmax max
    mean min nanprod nansum norm one_hot ones_like pad pick prod radians rcbrt reciprocal relu repeat reshape_like rint
    round rsqrt shape_array sigmoid sign sin sinh size_array slice slice_axis slice_like softmax softmin sort
    space_to_depth split split_v2 sqrt square sum swapaxes take tan tanh tile topk transpose trunc zeros_like
    """.split()
)


class NDArray(hot.Owner, Conversion, Gradient):
    """An array: a handle of the C library, which it owns and frees.

    It has no `__getattr__`, for which Python would go a longer way to every attribute: names that it lacks for a reason
    are descriptors.

    Args:
        handle: an integer or c_void_p that an API function returned as new; it is the NDArray's from now on. None:
            for unpickling alone, which gives it one later.
        writable: False makes assignment an error.
    """

    __slots__ = ()

    #: The class of what the array's methods give: this one, or that of `mx.np`; a subclass of the user's has it too.
    _kind: type[NDArray]
    _keys: Any  # _keys.Keys

    #: Classes that know no `__array_ufunc__` (_numpy.py has it) leave operators to ours.
    __array_priority__ = 1000.0

    def __init__(self, handle: int | ctypes.c_void_p | None, writable: bool = True) -> None:
        self._h = 0
        if handle is None:
            return
        number = handle.value if isinstance(handle, ctypes.c_void_p) else handle
        if not isinstance(number, int):
            raise TypeError(f"NDArray takes a handle; make arrays with mx.nd.array. Got {type(handle).__name__}")
        if hot.info(number)[1] == -2:
            raise last_error()
        self._h = number
        if not writable:
            self._read_only = True

    # ---- what it is ----

    @property
    def handle(self) -> ctypes.c_void_p:
        """The handle, for the C API. It stays this object's."""
        return ctypes.c_void_p(self._h)

    @property
    def writable(self) -> bool:
        """Whether assignment is allowed."""
        return not hasattr(self, "_read_only")

    @writable.setter
    def writable(self, flag: bool) -> None:
        if not flag:
            self._read_only = True
        elif hasattr(self, "_read_only"):
            del self._read_only

    def _read_info(self) -> tuple[tuple[int, ...], int]:
        shape, flag = hot.info(self._h)
        if flag == -2:
            raise last_error()
        if shape is None:
            return (), flag
        self._shape = shape
        self._dtype = DTYPE_OF_FLAG[flag]
        return shape, flag

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of all axes. Without numpy-shape mode a sum of everything has (1,)."""
        try:
            return self._shape
        except AttributeError:
            return self._read_info()[0]

    __numpy_dtype__ = AsDtype()

    @property
    def dtype(self) -> type | None:
        """NumPy's scalar type of the elements; None for an array that has no shape yet."""
        try:
            return self._dtype
        except AttributeError:
            return DTYPE_OF_FLAG.get(self._read_info()[1])

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def stype(self) -> str:
        """How the array is stored: "default", which is dense."""
        return "default"

    @property
    def context(self) -> Context:
        """Where the array is."""
        kind, number = ctypes.c_int(), ctypes.c_int()
        check_call(LIB.MXNDArrayGetContext(self._h, ctypes.byref(kind), ctypes.byref(number)))
        return Context(Context.devtype2str.get(kind.value, "cpu"), number.value)

    ctx = context

    def __repr__(self) -> str:
        sizes = "x".join(map(str, self.shape))
        return f"\n{self.asnumpy()}\n<{type(self).__name__} {sizes} @{self.context}>"

    def _repr_html_(self) -> str | None:
        """For a notebook: shape, dtype, context, and a table of some elements."""
        if self.dtype is None:
            return None
        kept = self.detach()  # reading from it is not recorded

        def read(key: tuple[Any, ...]) -> np.ndarray:
            part = kept
            for each in key:
                part = part[each]
            return part.asnumpy()

        return arrays.html([type(self).__name__, f"@{self.context}"], self.shape, self.dtype, read)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __bool__(self) -> bool:
        size = self.size
        if size > 1:
            raise ValueError(f"an NDArray of {size} elements is neither true nor false")
        return size == 1 and bool(self.asscalar())

    def __iter__(self) -> Iterator[NDArray]:
        return (self[i] for i in range(len(self)))

    # ---- copies and views ----

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """The array converted to `dtype` (None: float32); with copy=False itself where it has that dtype."""
        name = dtype_name(dtype)
        if not copy and np.dtype(self.dtype).name == name:
            return self
        return invoke("Cast", [self], {"dtype": name})

    def copy(self) -> NDArray:
        """A new array with the same values."""
        return invoke("_copy", [self], {})

    def copyto(self, other: NDArray | Context) -> NDArray:
        """Writes the values into an array of the same shape, converted to its dtype; or into a new one in a context.

        Raises:
            TypeError: `other` is neither.
            MXNetError: shapes differ, or `other` may not be written while recording.
        """
        if isinstance(other, Context):
            other = new_array(self.shape, self.dtype, require_cpu(other))
        if not isinstance(other, NDArray):
            raise TypeError(f"copyto: the target is an NDArray or a Context, not a {type(other)}")
        return other if other is self else invoke("_copyto", [self], {}, other)

    def as_in_context(self, context: Context) -> NDArray:
        """Itself where it is in that context, else a copy there.

        Raises: MXNetError: a GPU.
        """
        return self if context == self.context else self.copyto(context)

    as_in_ctx = as_in_context

    def reshape(self, *shape: Any, **kwargs: Any) -> NDArray:
        """The same memory in another shape: reshape(2, 3), reshape((2, 3)), reshape(shape=..., reverse=...).

        Codes as in the operator Reshape: 0 keeps a size, -1 is inferred, -2 all that remain, -3 merges two, -4
        splits one. `reverse` reads them from the right.
        Raises: ValueError (and MXNetError): the sizes differ.
        """
        if len(shape) == 1 and shape[0].__class__ is not int:
            shape = shape[0]
        if kwargs:
            return self._reshape_by_keywords(shape, **kwargs)
        try:
            handle = _hot_reshape(self._h, len(shape), shape)
        except (TypeError, OverflowError):
            return self._reshape_by_keywords(shape)
        if handle:
            array = _new(NDArray)
            array._h = handle
            return array
        raise as_value_error(last_error())

    def _reshape_by_keywords(self, positional: Any, **kwargs: Any) -> NDArray:
        shape = kwargs.pop("shape", None)
        reverse = kwargs.pop("reverse", False)
        if kwargs:
            unknown = ", ".join(kwargs)
            raise TypeError(f"reshape: unknown keywords: {unknown}; 'shape' and 'reverse' are known")
        shape = shape if positional == () and shape is not None else positional
        if isinstance(shape, (int, np.integer)):
            shape = (shape,)
        if not isinstance(shape, (tuple, list)) or not all(isinstance(each, (int, np.integer)) for each in shape):
            raise TypeError(f"reshape: a shape is integers or a tuple of them, got {shape!r}")
        if any(abs(size) >= 1 << 62 for size in shape):
            raise MXValueError(f"reshape: {shape} is no shape of an array")
        sizes = (ctypes.c_int64 * len(shape))(*map(int, shape))
        handle = LIB.MXLNDArrayReshape(self._h, len(shape), sizes, bool(reverse))
        if not handle:
            raise as_value_error(last_error())
        return NDArray._adopt(handle)

    # ---- indexing ----

    def __getitem__(self, key: Any) -> NDArray:
        """Elements by integers, slices, None, `...`, index arrays and masks (lists, NumPy arrays, NDArrays), mixed.

        A boolean is a mask of no axes, as NumPy has it: a new axis of size 1 (True) or 0.

        What integers and slices select in one run of memory (x[1], x[1:3], x[0, 1:3]) is a view that shares it; all
        else is a copy. Both are recorded while recording.
        Raises: IndexError, ValueError (a key of another type), TypeError (lists of no numbers), MXNetError (x[2:1]).
        """
        kind = key.__class__
        if kind is int:
            try:
                handle = _hot_at(self._h, key)
            except OverflowError:
                return self._get(key)
            if not handle:
                self._raise_index(key)
        elif kind is slice and key.step is None:
            begin = key.start
            end = key.stop
            try:
                handle = _hot_slice(self._h, 0 if begin is None else begin, _END if end is None else end)
            except (TypeError, OverflowError):
                return self._get(key)
            if not handle:
                error = last_error()
                if self.ndim == 0:
                    return self._get(key)
                raise error
        else:
            return self._get(key)
        array = _new(NDArray)
        array._h = handle
        return array

    def _raise_index(self, index: int) -> None:
        error = last_error()
        if self.ndim == 0:
            raise MXIndexError("an array without axes cannot be indexed") from error
        raise MXIndexError(f"index {index} is outside axis 0, which has size {self.shape[0]}") from None

    def wait_to_read(self) -> None:
        """Returns when the values can be read."""
        check_call(LIB.MXNDArrayWaitToRead(self._h))

    __hash__ = object.__hash__


NDArray._kind = NDArray
_make.array_class = NDArray
_new = object.__new__
_hot_at = hot.at
_hot_slice = hot.slice_rows
_hot_reshape = hot.reshape


def _new_from_shared_mem(shared_pid: int, shared_id: int, shape: tuple[int, ...], dtype: Any) -> NDArray:
    """An array over memory that processes share; it takes over the file descriptor `shared_id`.

    A descriptor of another process has to be received first (multiprocessing.reduction.DupFd); `shared_pid` is not
    read.
    Raises: MXNetError: it is no such descriptor, or the shape wants more than there is.
    """
    sizes = c_ints(ctypes.c_int, shape)
    flag = dtype_flag(dtype)
    arguments = (shared_pid, shared_id, sizes, len(shape), flag)
    return NDArray._adopt(ask(ctypes.c_void_p, LIB.MXNDArrayCreateFromSharedMemEx, *arguments))


def as_value_error(error: BaseException) -> BaseException:
    """The error, as a ValueError too where it is the library's plain one."""
    return MXValueError(str(error)) if type(error) is MXNetError else error


#: What 1.9.1 defines here and mxlite in modules of their own; programs import it from here too.
_FUNCTIONS = frozenset(
    """
    add arange array concatenate divide empty equal eye from_dlpack from_numpy full greater greater_equal histogram
    lesser lesser_equal linspace logical_and logical_or logical_xor maximum minimum modulo moveaxis multiply not_equal
    onehot_encode ones power split_v2 subtract to_dlpack_for_read to_dlpack_for_write true_divide waitall zeros
    """.split()
)
__all__ = ["NDArray", *sorted(_FUNCTIONS)]

show(globals(), lambda name: getattr(sys.modules["mxlite.ndarray"], name) if name in _FUNCTIONS else None)
