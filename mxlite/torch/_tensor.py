"""Tensor: an array of the library's in PyTorch's style; what it is, its text, its values as Python's and NumPy's.

What belongs to its gradient is in its base class Gradient (_gradient.py). Python's operators, indexing and the methods
that are functions of the module too are added by the modules that have them.
"""

from __future__ import annotations

import copy
import ctypes
import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from mxlite._lib import LIB, buffer_address, hot
from mxlite._notebook import arrays
from mxlite.autograd._transforms.levels import parts_of
from mxlite.torch import _calls
from mxlite.torch._basic import (  # noqa: F401
    address_of,
    cast,
    empty_of,
    filled,
    from_values,
    full_of,
    has_values,
    meta_of,
    require_fits,
    zeros_of,
)
from mxlite.torch._calls import both, last_error, method, methods, new
from mxlite.torch._dtypes import DTYPES, FLOATING, bfloat16, dtype, dtype_named, from_kind, get_default_dtype
from mxlite.torch._dtypes import bool_ as _bool
from mxlite.torch._dtypes import int64 as _int64
from mxlite.torch._errors import warn
from mxlite.torch._gradient import Gradient
from mxlite.torch._kinds import (
    CPU,
    META,
    Size,
    channels_last,
    channels_last_3d,
    check_dim,
    device,
    order_of,
    require_cpu,
    strided,
)
from mxlite.torch._missing import install_missing, without_missing
from mxlite.torch._print import Options, tensor_text

#: The storage type of tensors on the device meta.
_STORED_NOWHERE = 4

#: Where an array without elements is said to be: NumPy takes no null pointer, and none reads there.
_NOWHERE = 64


#: An extent, without Size's own `__getitem__`, which makes sizes of slices.
_entry = tuple.__getitem__


class Tensor(Gradient):
    """A tensor. It owns a handle of the library in `_h`; `_dtype` is its dtype.

    Tensor(2, 3) has that shape and any values, Tensor([1, 2]) those of a sequence, as float32 (torch.tensor is the
    function to call).
    """

    __slots__ = ("__dict__",)

    #: NumPy's operators leave it to ours.
    __array_priority__ = 1000

    # ---- what it is ----

    @property
    def dtype(self) -> dtype:
        """The type of the elements."""
        return self._dtype

    @property
    def shape(self) -> Size:
        """The sizes of all dimensions."""
        try:
            return self._shape
        except AttributeError:
            sizes, flag = hot.info(self._h)
            if flag == -2:
                raise last_error() from None
            self._shape = shape = new_size(Size, sizes)
            return shape

    def size(self, dim: int | None = None) -> Any:
        """The sizes of all dimensions, or that of one dimension."""
        shape = self.shape
        if dim is None:
            return shape
        if dim.__class__ is not int or not -len(shape) <= dim < len(shape):
            dim = check_dim(dim, len(shape))
        return _entry(shape, dim)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    nelement = numel

    @property
    def device(self) -> device:
        """Where it is: the CPU, or meta."""
        return META if self.is_meta else CPU

    @property
    def is_meta(self) -> bool:
        """Whether it is on the device meta: it has no values."""
        kind = ctypes.c_int()
        _calls.check_call(LIB.MXNDArrayGetStorageType(self._h, ctypes.byref(kind)))
        return kind.value == _STORED_NOWHERE

    @property
    def layout(self) -> Any:
        """How it lies in memory: strided."""
        return strided

    is_cuda = is_sparse = is_quantized = is_mps = is_xpu = is_nested = False
    itemsize = property(lambda self: self._dtype.itemsize, doc="Bytes of an element.")
    nbytes = property(lambda self: self._dtype.itemsize * self.numel(), doc="Bytes of all elements.")

    def element_size(self) -> int:
        """Bytes of an element."""
        return self._dtype.itemsize

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating one."""
        return self._dtype.is_floating_point

    def is_complex(self) -> bool:
        """False: there are no complex dtypes."""
        return False

    def is_signed(self) -> bool:
        """Whether elements can be negative."""
        return self._dtype.is_signed

    def get_device(self) -> int:
        """-1: the CPU."""
        return -1

    def data_ptr(self) -> int:
        """The address of the first element; 0 on the device meta."""
        return 0 if self.is_meta else address_of(self)

    def _strides(self) -> tuple[int, ...]:
        """Strides in elements."""
        ndim = len(self.shape)
        strides = (ctypes.c_int64 * max(ndim, 1))()
        if LIB.MXLNDArrayGetStrides(self._h, ndim, strides, None) < 0:
            raise last_error()
        return tuple(strides[:ndim])

    def stride(self, dim: int | None = None) -> Any:
        """How many elements apart neighbours along each dimension are, or along one."""
        strides = self._strides()
        return strides if dim is None else strides[check_dim(dim, len(strides))]

    def storage_offset(self) -> int:
        """How many elements of its memory lie before the first."""
        offset = ctypes.c_int64()
        if LIB.MXLNDArrayGetStrides(self._h, 0, None, ctypes.byref(offset)) < 0:
            raise last_error()
        return offset.value

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements follow each other in memory, in order, or in that of a format."""
        if memory_format in (channels_last, channels_last_3d):
            if self.ndim != (4 if memory_format is channels_last else 5):
                return False
            sizes = [(self.shape[k], self._strides()[k]) for k in order_of(memory_format, self.ndim) or ()]
            return all(
                size == 1 or step == math.prod(each for each, _ in sizes[k + 1 :])
                for k, (size, step) in enumerate(sizes)
            )
        found = hot.contiguous(self._h)
        if found < 0:
            raise last_error()
        return found == 1

    def is_set_to(self, tensor: Tensor) -> bool:
        """Whether both have the same memory, shape and strides."""
        return (self.data_ptr(), self.shape, self._strides()) == (tensor.data_ptr(), tensor.shape, tensor._strides())

    # ---- values ----

    def _values(self) -> np.ndarray:
        """A NumPy array with a copy of the elements."""
        values = np.empty(self.shape, self._dtype.np)
        exact = self if self._dtype is not bfloat16 else cast(self.detach(), dtype_named("float32"))
        if hot.copy_out(exact._h, buffer_address(values), values.size) != 0:
            raise last_error()
        return values

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """A NumPy array over the tensor's own memory.

        Args:
            force: Whether a tensor that requires a gradient gives its values all the same.
        Raises: RuntimeError: it requires a gradient.
        """
        if self.requires_grad and not force:
            raise RuntimeError("numpy: the tensor requires a gradient; call detach().numpy()")
        if self._dtype is bfloat16:
            raise TypeError("numpy: NumPy has no bfloat16; float().numpy() has its values")
        if self.is_meta:
            raise TypeError("numpy: a tensor on the meta device has no values")
        if not has_values(self):
            raise RuntimeError("numpy: vmap passes a batched tensor to its function, which has no array of values")
        return np.asarray(_Memory(self))

    @property
    def __array_struct__(self) -> Any:
        """The memory, for NumPy; an AttributeError where `__array__` says more."""
        raise AttributeError("__array_struct__")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = _numpy(self)
        if copy:
            values = values.copy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Tensor:
        """What NumPy's functions of a tensor return: a tensor, of truth values one of uint8, as PyTorch has it."""
        return _calls.functions["from_numpy"](array.astype(np.uint8) if array.dtype == bool else array)

    def tolist(self) -> Any:
        """The elements as Python's numbers, in lists of lists."""
        numbers = hot.numbers_in(self._h)
        return self._values().tolist() if numbers is None else numbers

    def item(self) -> Any:
        """The only element as a Python number.

        Raises: RuntimeError: there is not exactly one.
        """
        number = self._only_number()
        if number is None:
            raise RuntimeError(f"item: the tensor has {self.numel()} elements, expected 1")
        return number

    def _only_number(self) -> Any:
        """The only element as a Python number; None if there is not exactly one."""
        number = hot.number_in(self._h)
        if number is None and self.is_meta:
            raise RuntimeError("item: a tensor on the meta device has no values")
        return self._values().item() if number is None and self.numel() == 1 else number

    def __bool__(self) -> bool:
        number = self._only_number()
        if number is None:
            raise RuntimeError(f"bool: the tensor has {self.numel()} elements, expected 1")
        return bool(number)

    def _scalar(self) -> Any:
        number = self._only_number()
        if number is None:
            raise ValueError(f"a Python number: the tensor has {self.numel()} elements, expected 1")
        return number

    def __float__(self) -> float:
        if self.requires_grad:
            warn("float: the number of a tensor that requires a gradient has none; item() says that it is meant so")
        return float(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        if self._dtype.is_floating_point or self.numel() != 1:
            raise TypeError(
                f"an index is an integer, got a tensor of {self.numel()} elements of dtype {self._dtype.word}"
            )
        return int(self._scalar())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len: a tensor without dimensions has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise TypeError("iter: a tensor without dimensions has no parts")
        return iter(self.unbind(0))

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Tensor, float, int)):
            raise RuntimeError(f"in: a tensor holds numbers, got {type(element).__name__}")
        return bool((self == element).any())

    __hash__ = object.__hash__

    def __dir__(self) -> list[str]:
        return without_missing(self, object.__dir__(self))

    # ---- text ----

    def __repr__(self) -> str:
        if not has_values(self):
            number, whole, _ = parts_of(self._graph_front_end, self)
            return f"BatchedTensor(lvl={number}, bdim=0, value=\n{whole!r}\n)"
        if self.is_meta:
            facts = ["device='meta'", f"size={tuple(self.shape)}"]
            facts += [] if self._dtype is get_default_dtype() else [f"dtype={self._dtype}"]
            return tensor_text(None, facts + self._gradient_facts())
        # Of many only some are read: an expanded tensor may have more elements than there is memory for a copy.
        brief = self.numel() <= Options.threshold or self._dtype is bfloat16
        values = self._values() if brief else np.asarray(_Memory(self))
        facts = []
        kind = self._dtype
        if kind is not get_default_dtype() and (values.size == 0 or kind not in (_int64, _bool)):
            facts.append(f"dtype={kind}")
        return tensor_text(values, facts + self._gradient_facts())

    def _gradient_facts(self) -> list[str]:
        """What a text says of its gradient."""
        node = self.grad_fn
        if node is not None:
            return [f"grad_fn=<{node.name().rsplit('::', 1)[-1]}>"]
        return ["requires_grad=True"] if self.requires_grad else []

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """For a notebook: shape, dtype, its node, and a table of some elements."""
        memory = self._values() if self._dtype is bfloat16 else np.asarray(_Memory(self))
        facts = [type(self).__name__, *self._gradient_facts()]
        return arrays.html(facts, self.shape, self._dtype.np, memory.__getitem__)

    def __format__(self, spec: str) -> str:
        if not self.shape and not self.is_meta:
            return self.item().__format__(spec)
        return object.__format__(self, spec)

    # ---- copies ----

    def __deepcopy__(self, memo: dict) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "deepcopy: a computed tensor has a graph, which is not copied; copy detach() of it, or a leaf"
            )
        if id(self) in memo:
            return memo[id(self)]
        copied = self._as_class(type(self), self._with_copied_memory(memo))
        if self.requires_grad:
            copied.requires_grad_()
            if self.grad is not None:
                copied.grad = self.grad.__deepcopy__(memo)
        memo[id(self)] = copied
        copied.__dict__.update(copy.deepcopy(self._attributes(), memo))
        return copied

    def _with_copied_memory(self, memo: dict) -> Tensor:
        """The same elements of a copy of all its memory, which `memo` has for others over that memory."""
        if not self.numel() or self.is_meta:
            return self.detach().clone()
        number = ctypes.c_uint64()
        whole = _calls.adopt(LIB.MXLNDArrayGetMemory(self._h, ctypes.byref(number)), self._dtype)
        key = "memory of mxlite.torch", number.value
        if key not in memo:
            memo[key] = whole.clone()
        call = _calls.prepare(None, "_mxl_as_strided", "shape", "strides", "skip")
        return _calls.run(
            call, [memo[key]], self.shape, self._strides(), self.storage_offset(), kind=self._dtype
        ).detach()

    def __copy__(self) -> Tensor:
        copied = self._as_class(type(self), self.detach()).requires_grad_(self.requires_grad)
        copied.__dict__.update(self._attributes())
        return copied

    def __reduce__(self) -> tuple:
        values = type(self), tuple(self.shape) if self.is_meta else self._values(), self.requires_grad, self._dtype
        return _rebuild, values, self._attributes() or None

    def _attributes(self) -> dict[str, Any]:
        """What a program has set as attributes of its own."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    @staticmethod
    def _as_class(cls: type, tensor: Tensor) -> Tensor:
        """The tensor in an object of a subclass; `tensor` is not to be used again."""
        if tensor.__class__ is cls:
            return tensor
        made = new(cls)
        made._dtype = tensor._dtype
        made._h, tensor._h = tensor._h, 0
        return made

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the tensor's type, `torch.FloatTensor`; or the tensor as another dtype."""
        if dtype is None:
            return f"torch.{'meta.' if self.is_meta else ''}{self._dtype.word}Tensor"
        if isinstance(dtype, str):
            dtype = next((each for each in DTYPES if f"torch.{each.word}Tensor" == dtype), dtype)
        dtype = getattr(dtype, "of_elements", dtype)  # torch.FloatTensor
        return self.to(dtype)


new_size = tuple.__new__
_calls.tensor_class = Tensor

#: Methods that C answers, by the numbers of facts in mxlite/_lib/cffi/facts.c.
FACTS = {
    "numel": 1, "nelement": 1, "dim": 2, "ndimension": 2, "stride": 3, "is_contiguous": 4, "contiguous": 5, "grad": 6,
    "item": 7, "__bool__": 8, "__float__": 9, "detach": 10, "requires_grad_": 11, "shape": 12, "__array_struct__": 13,
    "numpy": 14, "device": 15, "is_meta": 15,
}  # fmt: skip
_numpy = Tensor.numpy
#: What makes the results of some; and what tensors that are not on meta have.
_MADE_BY = {"shape": partial(new_size, Size), "numpy": np.asarray, "device": CPU, "is_meta": False}
for _name in FACTS.keys() - {"contiguous"}:
    _method = getattr(Tensor, _name)
    _calls_of = {"fact": FACTS[_name], "result": _MADE_BY.get(_name), **from_kind(FLOATING)}
    if isinstance(_method, property):
        setattr(Tensor, _name, _method.getter(_calls.direct(_method.fget, _calls_of)))
    else:
        setattr(Tensor, _name, _calls.direct(_method, _calls_of))
Tensor.ndim = property(Tensor.dim, doc="The number of dimensions.")


class _Memory:
    """An object that NumPy converts to an array over the tensor's memory; it keeps the tensor."""

    __slots__ = ("tensor", "__array_struct__", "__array_interface__")

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        found = hot.array_struct(tensor._h)
        if found is not None:
            self.__array_struct__ = found
            return
        size = tensor._dtype.itemsize
        self.__array_interface__ = {
            "version": 3,
            "shape": tuple(tensor.shape),
            "typestr": tensor._dtype.np.str,
            "data": (tensor.data_ptr() or _NOWHERE, False),
            "strides": None if tensor.is_contiguous() else tuple(stride * size for stride in tensor._strides()),
        }


def _rebuild(cls: type, values: np.ndarray, requires_grad: bool, kind: dtype | None = None) -> Tensor:
    tensor = Tensor._as_class(cls, (meta_of if isinstance(values, tuple) else from_values)(values, kind))
    return tensor.requires_grad_() if requires_grad else tensor


@both()
def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return _calls.flag(LIB.MXLNDArrayIsInference(input._h))


@method(quick=True)
def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """Itself, on the CPU. Raises: NotImplementedError: it is on the device meta, without values."""
    return self.to("cpu")


@method(quick=True)
def cuda(self: Tensor, *_: Any, **__: Any) -> Tensor:
    """Itself under `mxlite run --cpu`. Raises: AssertionError: there is no CUDA."""
    require_cpu("cuda")
    return self


def install_methods() -> None:
    """Gives the class the methods that the modules have registered, and the names of those that are missing."""
    for name, implementation in methods.items():
        if name not in vars(Tensor):
            setattr(Tensor, name, implementation)
    install_missing(Tensor)
