"""Conversions of NDArrays: to NumPy, to Python's numbers, to other libraries and processes, for pickle and copy.

`Conversion` is a base class of NDArray; no object is of it alone.
"""

from __future__ import annotations

import ctypes
import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from mxlite._lib import LIB, ask, buffer_address, check_call, hot, last_error
from mxlite.autograd._handles import share
from mxlite.base import BFLOAT16, DTYPE_OF_FLAG, as_values
from mxlite.ndarray import _capsules
from mxlite.ndarray._make import cast_stored, new_none
from mxlite.util import np_shape

if TYPE_CHECKING:
    from mxlite.ndarray.ndarray import NDArray


#: Where an array without elements is said to be: NumPy 2.0 and older take no null pointer, and none reads there.
_NOWHERE = 64


#: NumPy's text and the bytes of an element of each dtype.
_KINDS = {dtype: (np.dtype(dtype).str, np.dtype(dtype).itemsize) for dtype in DTYPE_OF_FLAG.values()}
del _KINDS[BFLOAT16]  # NumPy has no name of it


class Conversion:
    """The methods of NDArray by which its values leave it."""

    __slots__ = ()

    def asnumpy(self) -> np.ndarray:
        """A NumPy array with a copy of the values; those of bfloat16, which NumPy lacks, as float32."""
        values = np.empty(self.shape, self.dtype)
        if hot.copy_out(self._h, buffer_address(values), values.size) != 0:
            raise last_error()
        return as_values(values) if self.dtype is BFLOAT16 else values

    numpy = to_numpy = asnumpy

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """For np.asarray: the array's own memory, to be read alone.

        It says its strides so that Pillow (`PIL.Image.fromarray`), which wants the buffers of others, asks for bytes.
        """
        dtype = self.dtype
        if dtype is None:
            raise AttributeError("an array that has no shape yet has no memory")
        if dtype is BFLOAT16:
            raise AttributeError("NumPy has no bfloat16; asnumpy() gives its values as float32")
        kind, step = _KINDS[np.dtype(dtype).type]
        address = ask(ctypes.c_void_p, LIB.MXNDArrayGetData, self._h) or _NOWHERE
        shape = self.shape
        strides: tuple[int, ...] = ()
        for size in reversed(shape):
            strides = (step, *strides)
            step *= size
        return {"version": 3, "shape": shape, "typestr": kind, "data": (address, True), "strides": strides}

    def tobytes(self) -> bytes:
        """The values as bytes, in row-major order; a copy."""
        return self.asnumpy().tobytes()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The values as NumPy asks for them.

        Args:
            dtype: None: the array's own.
            copy: False: the array's memory, to be read alone; None, True: a new array.
        Raises: ValueError: copy=False and another dtype.
        """
        if copy is False:
            if dtype is not None and np.dtype(dtype) != np.dtype(self.dtype):
                raise ValueError(f"an NDArray of {np.dtype(self.dtype)} is {np.dtype(dtype)} only as a copy")
            return np.asarray(self)  # by __array_interface__
        values = self.asnumpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        """A DLPack capsule of the array's memory; of a copy with copy=True.

        Args:
            stream: None; the CPU has no streams.
            max_version: from (1, 0) on, the capsule is a versioned one.
            dl_device: (1, 0), the CPU, or None.
        Raises: BufferError: another device, or a stream.
        """
        return _capsules.capsule_of(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """(1, 0): the CPU."""
        return (1, 0)

    def _to_shared_mem(self) -> tuple[int, int, tuple[int, ...], type]:
        """What another process needs to see the values: this process, a file descriptor of it, shape and dtype.

        The descriptor stays the array's. It leads to the array's own memory where `_new_from_shared_mem` made it, else
        to a copy.
        """
        pid, descriptor = ctypes.c_int(), ctypes.c_int()
        check_call(LIB.MXNDArrayGetSharedMemHandle(self._h, ctypes.byref(pid), ctypes.byref(descriptor)))
        return pid.value, descriptor.value, self.shape, self.dtype

    def to_dlpack_for_read(self) -> Any:
        """A capsule ("dltensor") of the array's memory, for one who reads it."""
        return _capsules.to_dlpack_for_read(self)

    def to_dlpack_for_write(self) -> Any:
        """A capsule ("dltensor") of the array's memory, for one who writes it."""
        return _capsules.to_dlpack_for_write(self)

    def as_nd_ndarray(self) -> NDArray:
        """Itself."""
        return self

    def as_np_ndarray(self) -> Any:
        """The same array, its memory and its place in the graph, as one of `mx.np`."""
        array_class: Any = importlib.import_module("mxlite.numpy").ndarray
        return array_class._adopt(share(self._h))

    def tostype(self, stype: str) -> NDArray:
        """A copy that is stored as `stype`: "default", which is dense, "csr" or "row_sparse".

        Raises: ValueError: csr of an array that is no matrix; MXNetError: there is no such type.
        """
        return cast_stored(self, stype)  # type: ignore[arg-type]

    def asscalar(self) -> Any:
        """The only element, as a NumPy scalar.

        Raises:
            ValueError: there is not exactly one element.
        """
        if self.size != 1:
            raise ValueError(f"asscalar: the array has {self.size} elements, not 1")
        return self.asnumpy().reshape(-1)[0]

    def item(self, *args: Any) -> Any:
        """An element as a Python number, as numpy.ndarray.item takes its arguments."""
        number = None if args else hot.number_in(self._h)
        return self.asnumpy().item(*args) if number is None else number

    def tolist(self) -> Any:
        """The elements as Python numbers, in lists within lists."""
        return self.asnumpy().tolist()

    def any(self) -> bool:
        """Whether an element is not 0."""
        return bool(self.asnumpy().any())

    def all(self) -> bool:
        """Whether no element is 0."""
        return bool(self.asnumpy().all())

    def _only(self, name: str) -> Any:
        """The only element, as a Python number."""
        number = hot.number_in(self._h)
        if number is not None:
            return number
        if self.size != 1:
            raise TypeError(f"{name} takes an NDArray of one element, got one of shape {self.shape}")
        return self.item()

    def __float__(self) -> float:
        """The only element. Raises: TypeError: there is not exactly one."""
        return float(self._only("float()"))

    def __int__(self) -> int:
        """The only element, its fraction cut off. Raises: TypeError: there is not exactly one."""
        return int(self._only("int()"))

    def __round__(self, ndigits: int | None = None) -> int | float:
        """The only element, rounded as a number of Python. Raises: TypeError: there is not exactly one."""
        return round(self._only("round()"), ndigits)

    def __trunc__(self) -> int:
        """The only element, its fraction cut off. Raises: TypeError: there is not exactly one."""
        return int(self._only("math.trunc()"))

    def __index__(self) -> int:
        """The only element of an array of integers without axes, as NumPy has it: values[x] keeps the axes of x.

        Raises: TypeError: another array.
        """
        if self.shape or not np.issubdtype(self.dtype, np.integer):
            raise TypeError("only integer arrays without axes can be an index; int(x) gives the number of one element")
        return self.item()

    def __format__(self, spec: str) -> str:
        """The only element as `spec` has it; without `spec` what str() gives, of any array.

        Raises: TypeError: there is not exactly one element.
        """
        return format(self._only(f"the format {spec!r}"), spec) if spec else str(self)

    def _sync_copyfrom(self, source_array: Any) -> None:
        """Takes over the values of an array or a list of the same shape, as `x[:] = values` without recording.

        Raises: TypeError: no array of numbers; ValueError: another shape.
        """
        try:
            values = np.asarray(source_array, dtype=self.dtype, order="C")
        except (TypeError, ValueError) as problem:
            raise TypeError(f"these values make no array: {problem}") from None
        if values.shape != self.shape:
            raise ValueError(f"Shape inconsistent: expected {values.shape} vs got {self.shape}")
        if hot.copy_in(self._h, buffer_address(values), values.size) != 0:
            raise last_error()

    def __reduce__(self) -> tuple:
        return type(self), (None,), self.__getstate__()

    def __getstate__(self) -> dict[str, Any]:
        """The state for pickle: the bytes of a file, as in MXNet 1.9.1."""
        return {"handle": None if self.dtype is None else _to_bytes(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Takes what `__getstate__` of this class or of MXNet 1.9.1's gave."""
        if self._h:
            raise ValueError("the array has a value already")
        content = state["handle"]
        self._h = new_none() if content is None else _handle_from_bytes(content)

    def __copy__(self) -> NDArray:
        return self.detach().copy()

    def __deepcopy__(self, memo: dict) -> NDArray:
        return self.detach().copy()


# ---- one array as the bytes that a file has of it, as pickles hold it ----

#: The first byte of an array that was written in numpy-shape mode.
_NUMPY_SHAPE = 0xCA


def _to_bytes(array: Conversion) -> bytearray:
    """The bytes of an array. One without axes is written as in numpy-shape mode."""
    size, content = ctypes.c_size_t(), ctypes.c_void_p()
    with np_shape(array.shape == ()):
        check_call(LIB.MXNDArraySaveRawBytes(array._h, ctypes.byref(size), ctypes.byref(content)))
        return bytearray(ctypes.string_at(content.value, size.value))


def _handle_from_bytes(content: bytes | bytearray) -> int:
    """A new handle for what `_to_bytes` wrote, in whichever shape mode.

    Raises:
        MXNetError: the bytes are damaged.
    """
    with np_shape(content[:1] == bytes([_NUMPY_SHAPE])):
        return ask(ctypes.c_void_p, LIB.MXNDArrayLoadFromRawBytes, bytes(content), len(content))
