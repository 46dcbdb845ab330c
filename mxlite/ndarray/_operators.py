"""Descriptions of the library's operators, prepared calls, and a function that runs any operator with parameters."""

from __future__ import annotations

import ctypes
import operator as _operator
from functools import cache
from typing import Any, Callable

import numpy as np

from mxlite._index.keys import NONE
from mxlite._lib import LIB, ask, c_text, c_texts, check_call, hot, last_error
from mxlite.base import _Null, dtype_name
from mxlite.error import MXAttributeError


def _as_int(value: Any) -> Any:
    try:
        number = _operator.index(value)
    except TypeError:
        return NotImplemented
    return number if NONE < number < -NONE else NotImplemented


def _is_small_int(value: Any) -> bool:
    return value.__class__ is int and -(1 << 60) < value < 1 << 60


def _as_optional_int(value: Any) -> Any:
    return NONE if value is None else _as_int(value)


def _as_float(value: Any) -> Any:
    if isinstance(value, (float, int, np.generic)):
        return float(value)
    return NotImplemented


def _as_optional_float(value: Any) -> Any:
    return float("nan") if value is None else _as_float(value)


def _as_flag(value: Any) -> Any:
    return int(value) if isinstance(value, (bool, int, np.bool_)) and value in (0, 1) else NotImplemented


def _as_list(value: Any) -> Any:
    if value.__class__ is tuple and len(value) <= 8 and all(map(_is_small_int, value)):
        return value
    if isinstance(value, (tuple, list)):
        entries = tuple(_as_optional_int(entry) for entry in value)
        return NotImplemented if NotImplemented in entries else entries
    entry = _as_int(value)
    return NotImplemented if entry is NotImplemented else (entry,)


def _as_optional_list(value: Any) -> Any:
    return None if value is None else _as_list(value)


#: How introspection's type of a parameter begins -> how its value becomes a typed argument. A value that does not fit
#: (NotImplemented) is handed over as text, and the library's parser judges it.
_CONVERTERS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("int or None", _as_optional_int),
    ("int", _as_int),
    ("long", _as_int),
    ("float or None", _as_optional_float),
    ("double or None", _as_optional_float),
    ("float", _as_float),
    ("double", _as_float),
    ("real_t", _as_float),
    ("boolean", _as_flag),
    ("Shape or None", _as_optional_list),
    ("Shape", _as_list),
)


def is_dtype(name: str) -> bool:
    """Whether a parameter of that name is a dtype: it is given in any of NumPy's spellings, and None as not at all."""
    return name.endswith("dtype")


def parameter_text(name: str, value: Any) -> str:
    """A parameter's value as the library's parser takes it."""
    if is_dtype(name):
        return dtype_name(value)
    if isinstance(value, (tuple, list)) and any(isinstance(entry, np.generic) for entry in value):
        # NumPy 2 prints its scalars inside a tuple as calls: (np.float64(0.5),).
        value = tuple(entry.item() if isinstance(entry, np.generic) else entry for entry in value)
    return str(value)


def _converter(type_text: str) -> Callable[[Any], Any] | None:
    for beginning, convert in _CONVERTERS:
        if type_text.startswith(beginning):
            return convert
    return None


def prepare(name: str, constants: dict[str, str], arguments: tuple[str, ...] = ()) -> int:
    """The handle of a prepared call: constant parameters as text, and the names of those given with each call."""
    keys, values, names = c_texts(constants), c_texts(constants.values()), c_texts(arguments)
    given = c_text(name), len(constants), keys, values, len(arguments), names
    return ask(ctypes.c_void_p, LIB.MXLPrepare, *given)


def prepare_with(name: str, given: dict[str, Any]) -> int:
    """The handle of a prepared call with these parameters."""
    return prepare(name, {param: parameter_text(param, value) for param, value in given.items()})


def fixed_outputs(call: int) -> int:
    """How many outputs a prepared call has; -1 where that depends on its arguments."""
    return ask(ctypes.c_int, LIB.MXLCallGetNumOutputs, call, None)


def kind_and_default(type_text: str) -> tuple[str, str]:
    """The kind of a parameter and its default, "" where it must be given."""
    kind, _, default = type_text.partition(", optional, default=")
    if not default:
        kind, _, default = type_text.partition(",optional, default=")
    return kind.replace(", required", "").strip(), default.strip().strip("'")


class Operator:
    """An operator as introspection tells it: its inputs, its parameters, its documentation.

    Raises:
        AttributeError: the library has no operator of that name.
    """

    __slots__ = (
        "name",
        "first_name",
        "doc",
        "shapes",
        "arguments",
        "inputs",
        "params",
        "counted",
        "variadic",
        "stypes",
        "gives_rows",
        "_handle",
        "_converters",
        "_named",
        "_calls",
    )

    def __init__(self, name: str) -> None:
        handle = ctypes.c_void_p()
        if LIB.NNGetOpHandle(c_text(name), ctypes.byref(handle)) != 0:
            raise MXAttributeError(f"there is no operator {name!r}")
        text = ctypes.c_char_p
        lists = [ctypes.POINTER(text)() for _ in range(3)]
        real, doc, counted, result, count = text(), text(), text(), text(), ctypes.c_uint32()
        check_call(
            LIB.MXSymbolGetAtomicSymbolInfo(
                handle,
                ctypes.byref(real),
                ctypes.byref(doc),
                ctypes.byref(count),
                *(ctypes.byref(each) for each in lists),
                ctypes.byref(counted),
                ctypes.byref(result),
            )
        )
        self.name = name
        #: The name that `name` is an alias of, or the same.
        self.first_name = (real.value or b"").decode()
        #: What it does, and the shapes of its inputs and results in the notation of `capi/op/shapes.h`, or "".
        self.doc, _, self.shapes = (doc.value or b"").decode().partition("\n\nShapes: ")
        #: The parameter that counts the inputs, "" where their number is fixed.
        self.counted = (counted.value or b"").decode()
        #: (name, type, description), inputs and parameters, in the library's order.
        self.arguments = [tuple(each[i].decode() for each in lists) for i in range(count.value)]
        self.inputs = [row for row in self.arguments if row[1].startswith(("NDArray", "ndarray", "Symbol"))]
        self.params = [row for row in self.arguments if row not in self.inputs]
        #: Whether it takes any number of inputs, whichever parameter counts them.
        self.variadic = bool(self.counted) or any(row[1].endswith("[]") for row in self.inputs)
        #: Parameters that say how the result is stored.
        self.stypes = frozenset(row[0] for row in self.params if row[0].endswith("stype"))
        #: Whether results are row_sparse whatever the inputs and parameters are.
        self.gives_rows = self.first_name == "_sparse_retain"
        self._handle = handle
        found = {param: _converter(type_text) for param, type_text, _ in self.params}
        self._converters = {param: convert for param, convert in found.items() if convert is not None}
        self._named = {param for param, type_text, _ in self.params if type_text.startswith("{")}
        self._calls: dict[tuple, tuple[int, int]] = {}

    def call(self, given: dict[str, Any]) -> tuple[int, int, list]:
        """The prepared call for these parameters, its number of outputs, and the values that are typed arguments.

        Numbers, lists and flags are arguments; what is chosen from a few names (dtypes, modes) is a constant of the
        call. So the number of prepared calls does not grow with the values that a program computes. Parameters that
        are neither have no prepared call: 0. The number of outputs is -1 where the library must be asked.
        """
        if self.variadic and not self.counted and not self.params:
            return 0, -1, []  # an operator of a library, which judges the parameters of each call
        names: list[str] = []
        values: list = []
        constants: dict[str, str] = {}
        for name, value in given.items():
            convert = self._converters.get(name)
            if convert is not None:
                typed = NotImplemented if isinstance(value, str) else convert(value)
                if typed is NotImplemented:
                    return 0, -1, []
                names.append(name)
                values.append(typed)
            elif name in self._named or name == "ctx":
                constants[name] = parameter_text(name, value)
            else:
                return 0, -1, []
        key = (*names, None, *constants.items())
        known = self._calls.get(key)
        if known is None:
            call = prepare(self.name, constants, tuple(names))
            known = self._calls[key] = call, fixed_outputs(call)
        return *known, values

    def run_text(self, inputs: list[int], given: dict[str, Any], outputs: list[int]) -> list[int]:
        """Runs the operator with its parameters as text, as MXNet does; the library's parser judges them.

        `outputs`: handles to write to, or none. Returns the outputs' handles.
        """
        return self.run_texts(inputs, {name: parameter_text(name, value) for name, value in given.items()}, outputs)

    def run_texts(self, inputs: list[int], texts: dict[str, str], outputs: list[int]) -> list[int]:
        """The same, of parameters that are text already."""
        keys, values = c_texts(texts), c_texts(texts.values())
        count = ctypes.c_int(len(outputs))
        slots = (ctypes.c_void_p * len(outputs))(*outputs) if outputs else None
        results = ctypes.cast(slots, ctypes.POINTER(ctypes.c_void_p))
        stypes = ctypes.POINTER(ctypes.c_int)()
        check_call(
            LIB.MXImperativeInvokeEx(
                self._handle,
                len(inputs),
                (ctypes.c_void_p * len(inputs))(*inputs),
                ctypes.byref(count),
                ctypes.byref(results),
                len(texts),
                keys,
                values,
                ctypes.byref(stypes),
            )
        )
        return [results[i] for i in range(count.value)]


def parameters(given: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments that are parameters and have a value.

    Names that begin with two underscores are attributes, not parameters, and have no meaning here.
    """
    return {
        name: value
        for name, value in given.items()
        if value is not _Null and name[:2] != "__" and not (value is None and is_dtype(name))
    }


def run(operator: Operator, inputs: list[int], given: dict[str, Any], out: Any, array_class: type) -> Any:
    """Runs an operator on handles with any parameters.

    Returns `out` where it was given (an array, or a list of them); else a new array, or a list of arrays where the
    operator has several outputs.
    """
    if operator.counted and operator.counted in given:
        count = given.pop(operator.counted)
        if count != len(inputs):
            raise ValueError(f"{operator.name}: {operator.counted} is {count}, but {len(inputs)} inputs were given")
    call, made, arguments = operator.call(given)
    if made < 1 and call and operator.counted:
        made = len(inputs)  # as many as there are inputs
    elif made < 0 and call:
        made = hot.num_outputs(call, arguments)
        if made < 0:
            raise last_error()
    if out is not None:
        _run_into(operator, call, inputs, arguments, given, _out_handles(operator, out, made, array_class))
        return out
    asks = operator.gives_rows or (operator.stypes and not operator.stypes.isdisjoint(given))
    adopt = array_class._adopt if asks else array_class._adopt_result  # type: ignore[attr-defined]
    if call and made == 1:
        handle = _run_one(call, inputs, arguments)
        if not handle:
            raise last_error()
        return adopt(handle)
    handles = _run_into(operator, call, inputs, arguments, given, [0] * max(made, 0))
    arrays = [adopt(handle) for handle in handles]
    return arrays[0] if len(arrays) == 1 else arrays


def _run_one(call: int, inputs: list[int], arguments: list) -> int:
    """A call with one output; of few arrays and at most one typed argument without lists to make."""
    if len(inputs) == 1 and len(arguments) < 2:
        if not arguments:
            return hot.call1(call, inputs[0])
        argument = arguments[0]
        kind = argument.__class__
        if kind is int:
            return hot.call1_int(call, inputs[0], argument)
        if kind is float:
            return hot.call1_float(call, inputs[0], argument)
        if kind is tuple:
            return hot.call1_list(call, inputs[0], argument)
    elif len(inputs) == 2 and not arguments:
        return hot.call2(call, *inputs)
    return hot.call_n(call, inputs, arguments)


def _run_into(
    operator: Operator, call: int, inputs: list[int], arguments: list, given: dict[str, Any], outputs: list[int]
) -> list[int]:
    """Any number of outputs, given ones or (0) new ones; by text where there is no prepared call."""
    if not call:
        return operator.run_text(inputs, given, outputs)
    handles = hot.call_into(call, inputs, arguments, outputs)
    if handles is None:
        raise last_error()
    return handles


def _out_handles(operator: Operator, out: Any, made: int, array_class: type) -> list[int]:
    """The handles of what the caller gave as `out`; made < 0: the library counts them."""
    outputs = out if isinstance(out, (list, tuple)) else [out]
    for output in outputs:
        if not isinstance(output, array_class):
            kind, got = array_class.__name__, type(output).__name__
            raise TypeError(f"{operator.name}: out must be an {kind} or a list of them, got {got}")
    if len(outputs) != made >= 0:
        raise ValueError(f"{operator.name}: has {made} outputs, out holds {len(outputs)}")
    return [output._h for output in outputs]


def is_refused(name: str) -> bool:
    """Whether the library lists an operator of 1.9.1 only to say that it lacks it."""
    return ask(ctypes.c_char_p, LIB.MXLOpGetRefusal, c_text(name)) is not None


@cache
def operator_names() -> tuple[str, ...]:
    """All names of operators that there are, aliases included."""
    count = ctypes.c_uint32()
    names = ctypes.POINTER(ctypes.c_char_p)()
    check_call(LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(names)))
    listed = [names[i].decode() for i in range(count.value)]
    return tuple(name for name in listed if not is_refused(name))
