"""The hot calls over the cffi module (mxlite/_lib/build_cffi.py); the same names as mxlite._lib.hot_ctypes."""

from __future__ import annotations

import ctypes
import gc
from functools import update_wrapper
from typing import Any, Callable

from mxlite._lib.prototypes import HOT
from mxlite._mxlite_cffi import ffi, lib

_AS_THEY_ARE = (
    "into1 into2 into1_float slice_rows at reshape device fresh gradient detached identity backward_of_one"
    " set_recording set_training set_grad_mode grad_mode"
)
globals().update((name, getattr(lib, name)) for name in (*HOT, *_AS_THEY_ARE.split()))

#: Owner, the base class of NDArray and Tensor: holds a handle in `_h` and frees it at the end, without a Python call.
#: _Call: see `direct`.
Owner, _Call = (ctypes.cast(lib.make_type(number), ctypes.py_object).value for number in (0, 1))
#: Functions that read lists and elements (mxlite/_lib/cffi/lists.c, elements.c).
_made = [ctypes.cast(lib.make_function(number), ctypes.py_object).value for number in range(20)]
call_n, call_into, num_outputs, info, number_in, run, array_of, call1_list = _made[:8]
keep, kept, drop, _on_collection, numbers_in, requires_gradient, array_struct, set_stored = _made[8:16]
set_plain, run_many, register_variable, registered = _made[16:]
#: set_stored(NDArray, its class of row_sparse arrays, and of csr): what `NDArray._adopt` chooses of.
#: set_plain(Tensor, Parameter): a class, and a subclass of it whose objects are usual for `direct`, too.
#: keep, kept, drop: objects that the library holds, by their numbers (mxlite/_lib/cffi/payloads.c). `release`: what the
#: library calls when it lets one go. num_kept: how many there are.
#: register_variable(array): makes it the object that registered(the library's number for the array) returns, else None.
release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lib.payload_release())
num_kept = lib.num_kept
gc.callbacks.append(_on_collection)


#: Class -> the Python function behind its `__getitem__`, which has the documentation.
subscript_functions: dict[type, Callable] = {}


def direct(function: Callable, failed: Callable, cls: type, **calls: Any) -> Any:
    """A function that makes the usual calls of `function` in C, without Python code (mxlite/_lib/cffi/call.c).

    Usual are arrays that are of class `cls` itself or its plain subclass, exact floats and integers, and nothing by
    keyword but what `values` and the like name. All else goes to `function`, which gives the same results and is the
    definition; over ctypes it is what runs. `failed` is called with the arguments where the library has refused, and
    raises its error.

    Keywords:
        one, two, many, number: Prepared calls of an array, of two, of up to `num_inputs`, of an array and a number.
        first: A prepared call of the first array, or where there is none of the `values`; its result is the first array
            of the other calls. `then`: one of their result, after `first`.
        params, missing: The names of all parameters after the `num_inputs` arrays but `out`, and the value of one that
            is not given. What is returned has a method `learn(values, call)`: from then on calls with these very
            objects as the values of all parameters are that prepared call.
        into: The result is written to the first array, which is returned.
        subscript: The function is `__getitem__`: integers and slices without a step give views, by `one` (the argument
            is an index from 0 on) and `two` (axis, begin, end), or as MXNet's; other keys by `many` (the key, and index
            arrays), if given. Returns Owner's `__getitem__`, which the interpreter calls from the type's slot.
        put: The function is `__setitem__`: numbers are written by `one` (the key and the number, the array and index
            arrays), arrays by `two` (the array and index arrays after it); while recording only where the key surely
            leaves something of the array out. With `dtypes`: where no gradient flows, and unless the key selects all.
        list: A prepared call with a list of integers from 0 on, for f(x, 2, 3) and f(x, (2, 3)): a shape or axes.
        different: The integers of `list` differ from each other in usual calls.
        reshape: Integers may be negative, as codes of a shape and axes counted from the end are. Without `list` the
            function is MXNet's reshape.
        axis, axes: A prepared call with an axis, for f(x, axis) and f(x, dim=axis); the operator takes it as an
            integer, or as a list. `new_axis`: the axis is counted in the result, which has one more. `keep`: the same
            with keepdim=True; with `axes` the axis may be a tuple or a list of several then.
        values: Of each parameter after the `num_inputs` arrays its name, the code of its kind (a capital: it is given
            by name alone), and the default: they are arguments of the prepared call. Kinds: "i" integers, "p" those
            from 1 on, "w" the same as a float, "f" numbers, "x" floats alone (usual are those that a float16 holds),
            "b" truth values, "a" an axis of the first array, "l" an integer or a list of them, "m" one of as many as
            the value before, "s" a shape. "n": it is the default itself in usual calls, and no argument. Of no arrays
            (`many`), where `num_inputs` is 0: there `home` is needed.
        alike: Usual arrays are of one shape, but along the axis among `values`.
        truth: What is returned is whether the result, which has one element, differs from 0.
        least, most: How many dimensions usual arrays have; without `most` any number from `least` on.
        ndims: How many dimensions each usual array has.
        contiguous: Only arrays in C order are usual. A `list` is a shape then, of which one extent may be -1.
        constant: Only arrays that no gradient flows to are usual. unbatched: Those of vmap are not: the operator has no
            rule for batches, and the function is composed of some that have.
        dtypes: Objects that `_dtype` of the arrays must be one of, and the same in both; the first `num_floating` take
            numbers with a fraction. A result gets it, or `result`, as its `_dtype`. Without it `_dtype` does not count.
        home: An object, and what its `context` is where new arrays need none. Numbers and lists of numbers are usual,
            and make arrays of float32. With `makes`, a dict of prepared calls by dtypes as they are given (None: not at
            all), shapes are, for f(shape) and f(shape, dtype). `like`: for f(x, shape), in the dtype of x.
        join: The function takes a list of arrays: f(arrays) by `many`, or by `axis`, which f(arrays, axis) has then.
        index: The `_dtype` of the second array. Without `values` for f(x, dim, index) and f(x, dim, index, source), by
            `many`, which takes the dimension. `most`: how many dimensions the index has. `number`: the same where the
            source is a number; `makes` has calls that fill a shape with it, by dtypes.
        results: Of an operator with two outputs: the class of the tuple that has them, and the `_dtype` of each, None
            for that of the first array.
        fact: What the function f(x) asks of the array, by its number in mxlite/_lib/cffi/facts.c.
        by_flag: `_dtype` for each dtype of the library, which promotes: arrays may have several dtypes, and beside all
            of them floats and integers of 64 bits are usual.
    """
    call = update_wrapper(_Call(function, failed, cls, **calls), function)
    if "subscript" not in calls:
        return call
    subscript_functions[cls] = function
    return Owner.__getitem__


def bind(library: Any) -> None:
    """Points the module's functions to those of the opened library."""
    for number, name in enumerate(ffi.string(lib.names).decode().split()):
        lib.bind(number, library.address(name))


def graph1(op: int, inputs: list[int]) -> int:
    """The output of a cached operator that has one; 0 for an error."""
    return lib.graph_one(op, len(inputs), inputs)


def graph_n(op: int, inputs: list[int], count: int) -> list[int] | None:
    """The outputs of a cached operator, of which there are `count`; None for an error."""
    out = ffi.new("uint64_t[]", count)
    return list(out) if lib.graph_into(op, len(inputs), inputs, count, out) == 0 else None
