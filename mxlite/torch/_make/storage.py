"""The memory of tensors: untyped_storage, storage, set_."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from mxlite._lib import LIB
from mxlite.torch._basic import from_values, zeros_of
from mxlite.torch._calls import adopt, check_call, function, method
from mxlite.torch._dtypes import DTYPES, bfloat16, dtype, uint8
from mxlite.torch._errors import warn_of_old
from mxlite.torch._kinds import CPU, device
from mxlite.torch._shape.shapes import as_strided
from mxlite.torch._tensor import Tensor


class UntypedStorage:
    """The memory of a tensor, as bytes. It lives as long as a tensor or a storage shows it."""

    is_cuda = is_sparse = False

    def __init__(self, size: int | Tensor = 0) -> None:
        whole = size if isinstance(size, Tensor) else zeros_of((size,), uint8)
        number = ctypes.c_uint64()
        self._whole = adopt(LIB.MXLNDArrayGetMemory(whole._h, ctypes.byref(number)), whole._dtype)
        self._key = number.value

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._whole.nbytes

    size = __len__ = nbytes

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._whole.data_ptr()

    @property
    def device(self) -> device:
        """The CPU."""
        return CPU

    def _bytes(self) -> np.ndarray:
        whole = self._whole if self._whole._dtype is not bfloat16 else self._whole.view(uint8)
        return whole.numpy().view(np.uint8)

    def __getitem__(self, place: Any) -> Any:
        return self._bytes()[place].tolist()

    def __setitem__(self, place: Any, value: Any) -> None:
        self._bytes()[place] = value
        check_call(LIB.MXLNDArrayBumpVersion(self._whole._h))

    def tolist(self) -> list[int]:
        """The bytes as integers."""
        return self._bytes().tolist()

    def fill_(self, value: int) -> UntypedStorage:
        """One byte everywhere; returns the storage."""
        self[:] = value
        return self

    def copy_(self, source: UntypedStorage, non_blocking: bool | None = None) -> UntypedStorage:
        """Takes over the bytes of another one; returns the storage."""
        self[:] = source._bytes()
        return self

    def clone(self) -> UntypedStorage:
        """A copy."""
        return UntypedStorage(self._whole.clone())

    def cpu(self) -> UntypedStorage:
        """Itself."""
        return self

    def resize_(self, size: int) -> UntypedStorage:
        """Returns the storage, if it has that size. Raises: NotImplementedError: another one."""
        if size != self.nbytes():
            raise NotImplementedError("mxlite.torch: memory keeps its size; Tensor.resize_ gives a tensor new memory")
        return self

    def untyped(self) -> UntypedStorage:
        """Itself."""
        return self

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, UntypedStorage) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"[torch.storage.UntypedStorage(device=cpu) of size {self.nbytes()}]"


class TypedStorage:
    """The same as elements of a dtype."""

    def __init__(self, storage: UntypedStorage, kind: dtype) -> None:
        self._storage, self.dtype, self.device = storage, kind, CPU

    def untyped(self) -> UntypedStorage:
        """As bytes."""
        return self._storage

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._storage.nbytes()

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._storage.data_ptr()

    def element_size(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    def size(self) -> int:
        """How many elements there are."""
        return self.nbytes() // self.dtype.itemsize

    __len__ = size

    def __getitem__(self, place: Any) -> Any:
        return self._storage._whole[place].tolist()

    def __setitem__(self, place: Any, value: Any) -> None:
        self._storage._whole[place] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list:
        """The elements as numbers."""
        return self._storage._whole.tolist()

    def fill_(self, value: Any) -> TypedStorage:
        """One number everywhere; returns the storage."""
        self._storage._whole.fill_(value)
        return self


@method()
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The tensor's memory, which views of it share."""
    return UntypedStorage(self.detach())


@method()
def storage(self: Tensor) -> TypedStorage:
    """The tensor's memory, as elements of its dtype."""
    warn_of_old("storage", "untyped_storage")
    return TypedStorage(untyped_storage(self), self._dtype)


def _typed(kind: dtype) -> None:
    @function(f"{kind.word}Storage", document=f"Memory for so many elements of {kind}.")
    def made(size: int = 0) -> TypedStorage:
        return TypedStorage(UntypedStorage(zeros_of((size,), kind)), kind)


for _kind in DTYPES:
    _typed(_kind)
function("is_storage", document="Whether a thing is the memory of a tensor.")(
    lambda obj: isinstance(obj, (UntypedStorage, TypedStorage))
)


@method()
def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Makes the tensor one over the memory of another, or of a storage, in a shape; returns the tensor.

    Raises: RuntimeError: it requires a gradient, or another dtype.
    """
    if self.requires_grad and self.is_leaf:
        raise RuntimeError("set_: a leaf that requires a gradient keeps its memory; set `data`")
    if source is None:
        source = zeros_of((0,), self._dtype)
    elif not isinstance(source, Tensor):
        whole = source.untyped()._whole
        if whole._dtype is not self._dtype:
            whole = from_values(whole.numpy()) if not whole.numel() else whole.view(self._dtype)
        size = (whole.numel() - storage_offset,) if size is None else tuple(size)
        source = as_strided(whole, size, _steps(size) if stride is None else stride, storage_offset)
    elif size is not None:
        source = as_strided(source, size, _steps(size) if stride is None else stride, storage_offset)
    if source._dtype is not self._dtype:
        raise RuntimeError(f"set_: the dtype is {self._dtype.word}, that of the source {source._dtype.word}")
    self.data = source
    return self


def _steps(size: tuple) -> tuple:
    """The strides of elements in C order."""
    steps = [1]
    for extent in reversed(size[1:]):
        steps.insert(0, steps[0] * max(extent, 1))
    return tuple(steps[: len(size)])
