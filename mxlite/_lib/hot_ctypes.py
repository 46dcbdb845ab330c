"""The hot calls over ctypes, for an installation without the cffi module; the same names as mxlite._lib.hot_cffi."""

from __future__ import annotations

import ctypes
import itertools
import operator
import weakref
from importlib import import_module
from types import MethodType
from typing import Any, Callable

from mxlite._lib.prototypes import HOT

_MAX_NDIM = 32
_I64 = ctypes.c_int64
_U64 = ctypes.c_uint64
_INT = ctypes.c_int


class _List(ctypes.Structure):
    _fields_ = [("n", _I64), ("values", ctypes.POINTER(_I64))]


class _Value(ctypes.Union):
    _fields_ = [("i", _I64), ("f", ctypes.c_double), ("list", _List)]


#: Functions of the library that those below call, by their names here.
_CALLED = {
    "_call_list": "MXLCall1List",
    "_call": "MXLCall",
    "_into": "MXLCallInto",
    "_count": "MXLCallGetNumOutputs",
    "_graph": "MXInvokeCachedOp",
    "_slice": "MXLNDArraySlice",
    "_at": "MXLNDArrayAt",
    "_reshape": "MXLNDArrayReshape",
    "_info": "MXLNDArrayGetInfo",
    "_context": "MXNDArrayGetContext",
    "_fresh": "MXNDArrayGetGradState",
    "_gradient": "MXNDArrayGetGrad",
    "_detached": "MXNDArrayDetach",
    "_identity": "MXLNDArrayGetId",
    "_set_recording": "MXAutogradSetIsRecording",
    "_set_training": "MXAutogradSetIsTraining",
    "_from_data": "MXLNDArrayFromData",
    "_grad_mode": "MXLGetGradMode",
    "_set_grad_mode": "MXLSetGradMode",
    "_storage": "MXNDArrayGetStorageType",
}


def _check(*numbers: int) -> None:
    """ctypes would cut an integer to 64 bits without a word; cffi raises what this raises."""
    for number in numbers:
        if not -(1 << 63) <= number < 1 << 63:
            raise OverflowError(f"{number} does not fit 64 bits")


class Owner:
    """The base class of NDArray: holds a handle in `_h` and frees it at the end.

    `__del__` is a slot, in which every object keeps the library's free bound to its own handle. So no Python code runs
    when one goes: nothing in which Ctrl-C could be lost (Python ignores exceptions there), and nothing that needs a
    module that the ending interpreter has taken apart.
    """

    __slots__ = ("_number", "__del__", "_shape", "_dtype", "_read_only", "_grad_cache", "__weakref__")

    def _set_handle(self, handle: int) -> None:
        self._number = handle
        self.__del__ = MethodType(free_array, handle)  # noqa: F821

    _h = property(operator.attrgetter("_number"), _set_handle)

    @classmethod
    def _adopt(cls, handle: int) -> Any:
        """An array for a handle that the library has just returned; of its storage type's class."""
        if cls is _stored[0]:
            stype = _INT()
            if _storage(handle, ctypes.byref(stype)) == 0 and stype.value in (1, 2):  # noqa: F821
                cls = _stored[stype.value]
                Owner._adopt_result = vars(Owner)["_adopt"]  # type: ignore[method-assign] # from now on
        array = object.__new__(cls)
        array._h = handle
        return array

    @classmethod
    def _adopt_result(cls, handle: int) -> Any:
        """The same of an operator's result. It asks for no storage type before there was a sparse array to compute it
        from; calls that ask for one by a parameter use `_adopt`."""
        array = object.__new__(cls)
        array._h = handle
        return array


#: NDArray, and its classes of the storage types row_sparse and csr.
_stored: list[Any] = [None, None, None]


def set_stored(*classes: type) -> None:
    """Sets what `NDArray._adopt` chooses of: NDArray, its class of row_sparse arrays, and of csr."""
    _stored[:] = classes


def set_plain(cls: type, plain: type) -> None:
    """Nothing: `direct` makes no calls."""


#: Objects that the library holds, by their numbers. The collector of cycles takes them for held by this module.
_kept: dict[int, Any] = {}
_numbers = itertools.count(1)
kept, num_kept = _kept.get, _kept.__len__


def keep(thing: Any) -> int:
    """A number for an object that the library holds until it is dropped or released."""
    number = next(_numbers)
    _kept[number] = thing
    return number


#: drop(number): the library does not take the object. Of C, because callbacks call it when the modules are taken apart.
drop = _kept.__delitem__

#: The library lets an object go. Never freed: it may do so for longer than a module lives.
release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_kept.__delitem__)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(release))

#: Variables that Python holds, by the library's numbers for their arrays. registered: the object of a number, or None.
_variables: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
registered = _variables.get


def register_variable(array: Any) -> None:
    """Makes an array the object of its number."""
    number = identity(array._h)
    if not number:
        import_module("mxlite._lib").raise_last_error()
    _variables[number] = array


#: As in mxlite._lib.hot_cffi; empty, because `__getitem__` is a Python function here.
subscript_functions: dict[type, Callable] = {}


def direct(function: Callable, failed: Callable, cls: type, **calls: Any) -> Callable:
    """The function itself: mxlite._lib.hot_cffi makes its usual calls in C."""
    return function


def bind(library: Any) -> None:
    """Makes the functions of this module from those of the opened library."""
    for name, symbol in {**HOT, **_CALLED}.items():
        known = getattr(library, symbol)
        result = _U64 if known.restype is ctypes.c_void_p else known.restype  # of no handle 0, not None
        globals()[name] = ctypes.CFUNCTYPE(result, *known.argtypes)(library.address(symbol))


def _values(arguments: list) -> Any:
    values = (_Value * max(1, len(arguments)))()
    for slot, value in zip(values, arguments):
        if value is None:
            slot.list.n = -1
        elif isinstance(value, float):
            slot.f = value
        elif isinstance(value, tuple):
            slot.list = _List(len(value), (_I64 * len(value))(*value))
        else:
            slot.i = value
    return values


def run(cls: type, call: int, inputs: Any, arguments: Any, dtype: Any) -> Any:
    """An array of that class from a call with one output; None for an error.

    Args:
        inputs, arguments: Arrays, and typed arguments as of call_n.
        dtype: The array's `_dtype`; None: it gets none.
    """
    handle = call_n(call, [array._h for array in inputs], list(arguments))
    if not handle:
        return None
    made = object.__new__(cls)
    made._h = handle
    if dtype is not None:
        made._dtype = dtype
    return made


def array_of(address: int, shape: tuple[int, ...], dtype: int) -> int:
    """A new array with a copy of elements in C order; 0 for an error."""
    return _from_data(address, len(shape), (_I64 * len(shape))(*shape), dtype)  # noqa: F821


def call1_list(call: int, a: int, values: tuple[int, ...]) -> int:
    """One input and one list of integers as the argument."""
    _check(*values)
    return _call_list(call, a, len(values), (_I64 * len(values))(*values))  # noqa: F821


def call_n(call: int, inputs: list[int], arguments: list) -> int:
    """An operator with one output: inputs, and typed arguments (int, float, tuple of int or None for a list)."""
    return _call(call, len(inputs), (_U64 * len(inputs))(*inputs), _values(arguments))  # noqa: F821


def call_into(call: int, inputs: list[int], arguments: list, outputs: list[int]) -> list[int] | None:
    """An operator with any number of outputs: `outputs` are handles to write to, 0 for a new one.

    Returns the outputs' handles, or None for an error.
    """
    out = (_U64 * len(outputs))(*outputs)
    count = _INT(len(outputs))
    array = (_U64 * len(inputs))(*inputs)
    if _into(call, len(inputs), array, _values(arguments), ctypes.byref(count), out) != 0:  # noqa: F821
        return None
    return list(out)


def run_many(cls: type, call: int, inputs: Any, arguments: Any, dtypes: list) -> list | None:
    """Arrays of that class with these dtypes from a call with so many outputs; None for an error."""
    handles = call_into(call, [array._h for array in inputs], list(arguments), [0] * len(dtypes))
    if handles is None:
        return None
    made = [object.__new__(cls) for _ in handles]
    for array, handle, dtype in zip(made, handles, dtypes):
        array._h, array._dtype = handle, dtype
    return made


def graph_n(op: int, inputs: list[int], count: int) -> list[int] | None:
    """The outputs of a cached operator, of which there are `count`; None for an error."""
    made, found = ctypes.POINTER(_U64)(), _INT()
    array = (_U64 * len(inputs))(*inputs)
    if _graph(op, len(inputs), array, ctypes.byref(found), ctypes.byref(made)) != 0:  # noqa: F821
        return None
    return made[:count]


def graph1(op: int, inputs: list[int]) -> int:
    """The output of a cached operator that has one; 0 for an error."""
    made = graph_n(op, inputs, 1)
    return made[0] if made else 0


def num_outputs(call: int, arguments: list) -> int:
    """How many outputs a call has with these arguments; -1 for an error."""
    count = _INT(-1)
    _count(call, _values(arguments), ctypes.byref(count))  # noqa: F821
    return count.value


def into1(call: int, a: int, out: int) -> int:
    """One input, no argument, into an array; 0, or -1."""
    return 0 if call_into(call, [a], [], [out]) else -1


def into2(call: int, a: int, b: int, out: int) -> int:
    """Two inputs, no argument, into an array; 0, or -1."""
    return 0 if call_into(call, [a, b], [], [out]) else -1


def into1_float(call: int, a: int, value: float, out: int) -> int:
    """One input and one float, into an array; 0, or -1."""
    return 0 if call_into(call, [a], [float(value)], [out]) else -1


def slice_rows(a: int, begin: int, end: int) -> int:
    """Rows as Python's x[begin:end] counts them."""
    _check(begin, end)
    rows = _I64()
    n = rows.value if _info(a, 1, ctypes.byref(rows), None) > 0 else 0  # noqa: F821
    begin = max(begin + n, 0) if begin < 0 else min(begin, n)
    end = max(end + n, 0) if end < 0 else min(end, n)
    return _slice(a, begin, end)  # noqa: F821


def at(a: int, index: int) -> int:
    """Row `index`, counted from the end when negative."""
    _check(index)
    rows = _I64()
    if index < 0 and _info(a, 1, ctypes.byref(rows), None) > 0:  # noqa: F821
        index += rows.value
    return _at(a, index)  # noqa: F821


def reshape(a: int, ndim: int, shape: tuple[int, ...]) -> int:
    """The same elements in another shape."""
    _check(*shape)
    return _reshape(a, ndim, (_I64 * ndim)(*shape), 0)  # noqa: F821


def info(array: int) -> tuple[tuple[int, ...] | None, int]:
    """Shape (None: none yet) and dtype number (-1: none) of an array; (None, -2) for an error."""
    sizes = (_I64 * _MAX_NDIM)()
    dtype = _INT(-1)
    ndim = _info(array, _MAX_NDIM, sizes, ctypes.byref(dtype))  # noqa: F821
    if ndim < 0:
        return None, -2 if ndim < -1 else dtype.value
    return tuple(sizes[:ndim]), dtype.value


def number_in(array: int) -> Any:
    """The element of an array of one, as a Python number. None: the caller's general way runs."""
    return None


def numbers_in(array: int) -> Any:
    """The elements as lists of lists of Python's numbers. None: the caller's general way runs."""
    return None


def array_struct(array: int) -> Any:
    """`__array_struct__` of an array's memory. None: the caller's general way runs."""
    return None


def requires_gradient(array: Any) -> bool:
    """Whether a gradient flows to an array, which has a handle in `_h`."""
    kind = edge_kind(array._h)  # noqa: F821
    if kind < 0:
        import_module("mxlite._lib").raise_last_error()
    return kind != 0


def device(a: int) -> int:
    """Where an array is: 16 times the number of the device, plus its kind; -1 for an error."""
    kind, number = _INT(), _INT()
    failed = _context(a, ctypes.byref(kind), ctypes.byref(number))  # noqa: F821
    return -1 if failed else number.value * 16 + kind.value


def fresh(a: int) -> int:
    """Whether a backward has written the gradient of a variable; -1 for an error."""
    state = _INT()
    return -1 if _fresh(a, ctypes.byref(state)) else state.value  # noqa: F821


def gradient(a: int) -> int:
    """A new handle of the gradient of an array, 0 for none; 2^64 - 1 for an error."""
    grad = ctypes.c_void_p()
    return (1 << 64) - 1 if _gradient(a, ctypes.byref(grad)) else grad.value or 0  # noqa: F821


def detached(a: int) -> int:
    """A new handle of the same memory without a place in the graph; 0 for an error."""
    made = ctypes.c_void_p()
    return 0 if _detached(a, ctypes.byref(made)) else made.value or 0  # noqa: F821


def identity(a: int) -> int:
    """A number that all handles of one array share; 0 for an error."""
    number = _U64()
    return 0 if _identity(a, ctypes.byref(number)) else number.value  # noqa: F821


def backward_of_one(a: int, keep_graph: int, dialect: int) -> int:
    """1: the caller's general way runs; mxlite._lib.hot_cffi makes the usual backward in one call."""
    return 1


def set_recording(flag: int) -> int:
    """Sets the thread's recording flag; the flag before."""
    before = _INT(-1)
    _set_recording(flag, ctypes.byref(before))  # noqa: F821
    return before.value


def set_training(flag: int) -> int:
    """Sets the thread's training flag; the flag before."""
    before = _INT(-1)
    _set_training(flag, ctypes.byref(before))  # noqa: F821
    return before.value


def set_grad_mode(flag: int) -> int:
    """Sets whether PyTorch's front end records on this thread; the flag before."""
    before = _INT(-1)
    _set_grad_mode(flag, ctypes.byref(before))  # noqa: F821
    return before.value


def grad_mode() -> int:
    """Whether PyTorch's front end records on this thread."""
    flag = _INT(-1)
    _grad_mode(ctypes.byref(flag))  # noqa: F821
    return flag.value
