"""ndarray, the class of `mx.np`'s arrays: an NDArray with NumPy's operators, keys, shapes and printing.

Its methods that are operators of the library are rows of the table (`_table.py`); what it shares with NDArray (handle,
gradients, conversions, pickling) it inherits. `_arithmetic.py` adds Python's operators.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

import numpy as np

from mxlite._lib import hot
from mxlite.autograd._handles import share
from mxlite.base import DTYPE_OF_FLAG, as_elements, dtype_name, numbers_of
from mxlite.context import Context, require_cpu
from mxlite.error import MXNotImplementedError, MXTypeError, MXValueError
from mxlite.ndarray._gradient import Style
from mxlite.ndarray._indexing import array_of, parse_as_numpy
from mxlite.ndarray._keys import Keys
from mxlite.ndarray._kinds import CLASSES
from mxlite.ndarray._known import direct_cast
from mxlite.ndarray._make import _from_numpy
from mxlite.ndarray._operators import prepare
from mxlite.ndarray.ndarray import FLUENT, NDArray
from mxlite.numpy import _functions, _table
from mxlite.numpy._direct import clip_calls
from mxlite.numpy._functions import ARRAYS, ArrayBase
from mxlite.numpy._methods import Methods
from mxlite.numpy._show import show_functions as _show_functions

_DTYPES = {dtype: np.dtype(dtype) for dtype in DTYPE_OF_FLAG.values()}

#: How NumPy's text of an array ends. Here float32 is the dtype that is not said, and a shape is said of no elements.
_END = re.compile(r"(,\s*shape=[^)]*\))?(,\s*dtype=\w+)?\)$")

#: Methods of NDArray that arrays of `mx.np` do not have.
_LACKING = FLUENT | {"asscalar", "broadcast_axes", "broadcast_like", "expand_dims", "split_v2", "tostype"}


class ndarray(Methods, ArrayBase):  # noqa: N801 - NumPy's name
    """An array of `mx.np`.

    Args:
        handle: an integer or c_void_p that an API function returned as new; it is the array's from now on.
        writable: False makes assignment an error.
    """

    __slots__ = ()

    _front = ARRAYS

    # ---- what it is ----

    @property
    def dtype(self) -> Any:
        """NumPy's dtype of the elements; None for an array that has no shape yet."""
        kind = NDArray.dtype.__get__(self)
        return None if kind is None else _DTYPES[kind]

    __numpy_dtype__ = dtype

    def __repr__(self) -> str:
        values = self.asnumpy()
        text = _END.sub("" if values.size else r"\1", repr(values))
        name = dtype_name(self)
        if name != "float32" and (name != "bool" or not values.size):
            text += f", dtype={name}"
        return text + (")" if self.context.device_type == "cpu" else f", ctx={self.context})")

    def __str__(self) -> str:
        return str(self.asnumpy())

    def __format__(self, spec: str) -> str:
        """Of an array without axes as its number; of others `spec` must be empty."""
        return format(self.item() if self.ndim == 0 else str(self), spec)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __bool__(self) -> bool:
        size = self.size
        if size > 1:
            raise ValueError(f"an array of {size} elements is neither true nor false; all() and any() of it are")
        return size == 1 and bool(self.item())

    __nonzero__ = __bool__

    def __iter__(self) -> Any:
        if not self.shape:
            raise TypeError("an array without axes has no elements to iterate over")
        return (self[i] for i in range(len(self)))

    def __hash__(self) -> NoReturn:
        raise MXTypeError("an array of mx.np has no hash, as one of NumPy's; id() tells objects apart")

    # ---- copies and views ----

    def as_np_ndarray(self) -> ndarray:
        """Itself."""
        return self

    def as_nd_ndarray(self) -> NDArray:
        """The same array, its memory and its place in the graph, as one of `mx.nd`."""
        return NDArray._adopt(share(self._h))

    def copy(self, order: str = "C") -> ndarray:
        """A new array with the same values."""
        if order != "C":
            raise MXNotImplementedError(f"ndarray.copy: order={order!r} is not supported; 'C' is")
        return ARRAYS("_np_copy", self)

    def copyto(self, other: ndarray | Context) -> ndarray:
        """Writes the values into an array of the same shape, converted to its dtype; or into a new one in a context.

        Raises: TypeError: `other` is neither; MXNetError: shapes differ.
        """
        if isinstance(other, Context):
            return _array_from(self, None, other)
        if not isinstance(other, ndarray):
            raise TypeError(f"copyto: the target is an array of mx.np or a Context, not {type(other).__name__}")
        return other if other is self else ARRAYS("_npi_copyto", self, out=other)

    def as_in_ctx(self, ctx: Context) -> ndarray:
        """Itself where it is in that context, else a copy there."""
        return self.as_in_context(ctx)  # type: ignore[return-value]

    def reshape_view(self, *shape: Any, **kwargs: Any) -> ndarray:
        """The same memory in another shape, by the codes of `mx.nd`'s reshape."""
        return self.as_nd_ndarray().reshape(*shape, **kwargs).as_np_ndarray()

    def nonzero(self) -> tuple[ndarray, ...]:
        """As `mx.np.nonzero`."""
        return ARRAYS.nonzero(self)

    # ---- keys ----

    def __getitem__(self, key: Any) -> ndarray:
        """Elements by integers, slices, None, `...`, index arrays and masks (lists, NumPy arrays, arrays), mixed.

        What integers and slices select in one run of memory (x[1], x[1:3], x[0, 1:3]) is a view that shares it; all
        else is a copy. Both are recorded while recording.
        """
        return self._get(key)

    # ---- gradients ----

    def attach_grad(self, grad_req: str = "write") -> None:  # type: ignore[override]
        """Makes the array a variable with a gradient buffer of zeros; a recorded array is cut off its graph.

        Args:
            grad_req: "write", "add" (backward adds to the buffer), or "null".
        Raises: KeyError: an unknown request.
        """
        NDArray.attach_grad(self, grad_req)


ndarray.__module__ = "mxlite.numpy"  # as in 1.9.1
ArrayBase._kind = ndarray
CLASSES.add(ndarray)
ndarray._graph_front_end = Style(ndarray)

ndarray._keys = Keys("numpy", parse_as_numpy)


def _lacking(name: str) -> Any:
    """A method that arrays of `mx.np` do not have, as in 1.9.1: `x.exp()` is `mx.np.exp(x)`."""

    def method(self: ndarray, *args: Any, **kwargs: Any) -> NoReturn:
        raise AttributeError(f"an array of mx.np has no {name}; mx.np and mx.npx have functions")

    method.__name__, method.__qualname__ = name, f"ndarray.{name}"
    return method


class _Made:
    """A method that is a function of the table, which is made when it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, array: Any, owner: type) -> Any:
        function = _functions.function(f"ndarray.{self._name}")
        setattr(ndarray, self._name, function)
        return function if array is None else function.__get__(array, owner)


def _install() -> None:
    for name in _table.names("ndarray"):
        setattr(ndarray, name, _Made(name))
    for name in _LACKING - vars(ndarray).keys() - vars(Methods).keys():
        setattr(ndarray, name, _lacking(name))
    ndarray._keys.install(ndarray)
    refused = _functions.raise_refused
    call = prepare("_np_reshape", {}, ("newshape",))
    ndarray.reshape = hot.direct(ndarray.reshape, refused, ndarray, list=call, reshape=True)
    call = prepare("_np_transpose", {}, ("axes",))
    ndarray.transpose = hot.direct(ndarray.transpose, refused, ndarray, list=call, reshape=True)
    call = prepare("_np_transpose", {})
    ndarray.T = property(hot.direct(ndarray._turned, refused, ndarray, one=call, num_inputs=1))
    ndarray.clip = hot.direct(ndarray.clip, refused, ndarray, **clip_calls("min", "max"))
    ndarray.astype = direct_cast(ndarray.astype, refused, ndarray, "_npi_cast")
    ndarray.copy = hot.direct(ndarray.copy, refused, ndarray, one=prepare("_np_copy", {}), num_inputs=1)


_install()


def _array_from(values: Any, dtype: Any, ctx: Any) -> ndarray:
    """What `mx.np.array` gives."""
    context = require_cpu(ctx)
    if isinstance(values, ndarray):
        dtype = values.dtype if dtype is None else dtype
        values = values.asnumpy()
    elif isinstance(values, NDArray):
        raise MXValueError("array: an array of mx.nd is one of mx.np by as_np_ndarray(), without a copy")
    elif isinstance(values, np.ndarray):
        dtype = values.dtype if dtype is None else dtype
    else:
        values = _values_of(values)
    try:
        values = numbers_of(values, dtype)
        if values.dtype.kind in "OUS":
            values = values.astype(dtype_name(dtype))
        values = as_elements(values, dtype)
    except (TypeError, ValueError) as problem:
        raise MXTypeError(f"array: these values make no array: {problem}") from None
    if context == Context("cpu"):
        return array_of(values, ndarray._adopt)
    return _from_numpy(values, context).as_np_ndarray()


ARRAYS.array_from = _array_from


def _values_of(values: Any) -> Any:
    """Lists with arrays in them as lists of numbers and NumPy arrays."""
    if isinstance(values, NDArray):
        return values.asnumpy()
    if isinstance(values, (list, tuple)):
        return [_values_of(each) for each in values]
    return values


_show_functions(globals(), "")
