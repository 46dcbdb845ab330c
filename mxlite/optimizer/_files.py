"""Files of optimizers' states: a file of arrays (`.params`), whose first one is a text that says what they are in.

Reading runs no code: the text names kinds of a fixed list, and classes that the program has. An object is the name of
its class and its attributes; a function is its name, and the one of that name in the optimizer at hand.
"""

from __future__ import annotations

import copyreg
import json
import types
from collections import OrderedDict, defaultdict
from functools import partial
from typing import Any

import numpy as np

from mxlite import ndarray as nd
from mxlite.context import Context
from mxlite.error import MXNetError
from mxlite.lr_scheduler import LRScheduler
from mxlite.ndarray import NDArray
from mxlite.optimizer._base import Optimizer
from mxlite.optimizer._pickles import public_name
from mxlite.util import np_shape

_FORMAT, _STRUCTURE = "mxlite optimizer states 1", "structure"
#: How a file of arrays begins.
_MAGIC = (0x112).to_bytes(8, "little")
_CONTAINERS: dict[str, type] = {"list": list, "dict": dict, "OrderedDict": OrderedDict, "tuple": tuple, "set": set}
#: Types that files name, as an attribute or as what a defaultdict makes.
_TYPES: dict[str, Any] = {each.__name__: each for each in (bool, int, float, str, bytes, list, dict, tuple, set)}
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, partial)


# ---- the program's classes and functions ----


def _kinds(base: type) -> list[type]:
    found = [base]
    for each in base.__subclasses__():
        found += _kinds(each)
    return found


def _reached(value: Any, seen: dict[int, Any]) -> dict[int, Any]:
    """The objects and functions within a value, by id."""
    if id(value) in seen or isinstance(value, (str, bytes, int, float, NDArray, np.ndarray, type, type(None))):
        return seen
    seen[id(value)] = value
    if isinstance(value, dict):
        for each in value.values():
            _reached(each, seen)
    elif isinstance(value, (list, tuple, set)):
        for each in value:
            _reached(each, seen)
    elif not isinstance(value, _FUNCTIONS):
        _reached(_attributes(value), seen)
    return seen


def _attributes(value: Any) -> Any:
    """What is kept of an object: what it gives a pickle, unless that is Python's own way."""
    own = getattr(type(value), "__getstate__", None)
    if own in (None, getattr(object, "__getstate__", None)):
        return getattr(value, "__dict__", {})
    try:
        return own(value)
    except TypeError:  # what cannot be pickled
        return {}


def known_classes(optimizer: Optimizer) -> dict[tuple[str, str], type]:
    """Classes of which files may have objects: optimizers, schedulers, and those of this optimizer's attributes."""
    found = [Context, *_kinds(Optimizer), *_kinds(LRScheduler), *Optimizer.opt_registry.values()]
    found += [type(each) for each in _reached(optimizer, {}).values() if type(each) not in _CONTAINERS.values()]
    return {public_name(each): each for each in found if each not in _FUNCTIONS}


def known_names(optimizer: Optimizer) -> dict[tuple[str, str], Any]:
    """Those classes, and the functions that this optimizer holds: what a pickle may name."""
    reached = _reached(optimizer, {}).values()
    functions = [each for each in reached if isinstance(each, types.FunctionType)]
    return {**known_classes(optimizer), **{public_name(each): each for each in functions}}


def _function_name(function: Any) -> str:
    module = getattr(function, "__module__", None)
    return f"{module}.{getattr(function, '__qualname__', type(function).__name__)}"


# ---- writing ----


class _Writer:
    """Plain JSON of a value, with the arrays apart. What is met again is written as the number of its first time."""

    def __init__(self) -> None:
        self.arrays: list[NDArray] = []
        self.numbers: dict[int, int] = {}
        self.kept: list[Any] = []
        self.unfinished: set[int] = set()
        self.functions: dict[str, Any] = {}

    def plain(self, value: Any, where: str) -> Any:
        """Raises: TypeError: a kind that files do not have; it names the place."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if id(value) in self.unfinished:
            raise TypeError(f"states of optimizers: {where} is a {type(value).__name__} that contains itself")
        if id(value) in self.numbers:
            return {"again": self.numbers[id(value)]}
        self.numbers[id(value)] = len(self.numbers)
        self.kept.append(value)  # so that no other gets its id
        if isinstance(value, NDArray):
            self.arrays.append(value)
            return {"array": len(self.arrays) - 1}
        if isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
            shape = list(value.shape) if isinstance(value, np.ndarray) else None
            return {"numpy": [value.dtype.str, shape, value.tobytes().hex()]}
        if type(value) is bytes:
            return {"bytes": value.hex()}
        if isinstance(value, np.dtype) and not value.hasobject:
            return {"dtype": value.str}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"numpy type": np.dtype(value).str}
        if isinstance(value, type) and value in _TYPES.values():
            return {"type": value.__name__}
        if type(value) is defaultdict:
            return {"defaultdict": [self.plain(value.default_factory, where), self._members(value, where)]}
        for name, cls in _CONTAINERS.items():
            if type(value) is cls:
                return {name: self._members(value, where)}
        if isinstance(value, _FUNCTIONS):
            return {"function": self._function(value, where)}
        return {"object": [*public_name(type(value)), self._object(value, where)]}

    def _members(self, value: Any, where: str) -> list:
        if isinstance(value, dict):
            return [[self.plain(key, where), self.plain(each, f"{where}[{key!r}]")] for key, each in value.items()]
        if isinstance(value, (tuple, set)):  # they are made when their members are
            self.unfinished.add(id(value))
        found = [self.plain(each, f"{where}[{number}]") for number, each in enumerate(value)]
        self.unfinished.discard(id(value))
        return found

    def _function(self, value: Any, where: str) -> str:
        name = _function_name(value)
        if self.functions.setdefault(name, value) is not value:
            raise TypeError(f"states of optimizers: {where} and another function have one name, {name}")
        return name

    def _object(self, value: Any, where: str) -> list:
        cls = type(value)
        try:
            reduced = (*value.__reduce_ex__(2), None)  # as a pickle sees it
        except TypeError:
            reduced = (None, None, None)
        made, state = reduced[:2] == (copyreg.__newobj__, (cls,)), reduced[2] or {}  # type: ignore[attr-defined]
        if not made or not isinstance(state, dict) or any(each is not None for each in reduced[3:]):
            raise TypeError(
                f"states of optimizers: {where} is a {cls.__module__}.{cls.__qualname__}; files hold arrays, numbers, "
                "texts, containers, functions by name, and objects that are their attributes"
            )
        return [[name, self.plain(each, f"{where}.{name}")] for name, each in state.items()]


def save(path: Any, states: dict, optimizer: Optimizer | None) -> None:
    """Writes states, and an optimizer, to a file. Raises: TypeError: something files do not have. OSError."""
    writer = _Writer()
    plain = [writer.plain(states, "the states"), writer.plain(optimizer, "the optimizer")]
    text = json.dumps({"format": _FORMAT, "value": plain}).encode()
    named = {_STRUCTURE: nd.array(np.frombuffer(text, np.uint8), dtype=np.uint8)}
    named.update({str(number): each for number, each in enumerate(writer.arrays)})
    try:
        with np_shape(True):
            nd.save(path, named)
    except MXNetError as error:
        raise OSError(str(error)) from None


# ---- reading ----


class _Reader:
    def __init__(self, arrays: dict[str, NDArray], optimizer: Optimizer) -> None:
        self.arrays = arrays
        self.classes = known_classes(optimizer)
        reached = _reached(optimizer, {}).values()
        self.functions = {_function_name(each): each for each in reached if isinstance(each, _FUNCTIONS)}
        self.made: list[Any] = []

    def value(self, plain: Any) -> Any:
        if not isinstance(plain, dict):
            return plain
        kind, content = next(iter(plain.items()))
        if kind == "again":
            return self.made[content]
        at = len(self.made)
        self.made.append(None)
        self.made[at] = self._made(kind, content, at)
        return self.made[at]

    def _made(self, kind: str, content: Any, at: int) -> Any:
        if kind == "array":
            return self.arrays[str(content)]
        if kind == "numpy":
            dtype, shape, data = content
            values = np.frombuffer(bytes.fromhex(data), np.dtype(dtype))
            return values[0] if shape is None else values.reshape(shape).copy()
        if kind == "bytes":
            return bytes.fromhex(content)
        if kind in ("dtype", "numpy type"):
            return np.dtype(content) if kind == "dtype" else np.dtype(content).type
        if kind == "type":
            return _TYPES[content]
        if kind == "function":
            return self._function(content)
        if kind == "object":
            return self._object(*content, at)
        return self._container(kind, content, at)

    def _container(self, kind: str, content: Any, at: int) -> Any:
        """Lists and dictionaries are there before their members, which may contain them."""
        if kind in ("tuple", "set"):
            return _CONTAINERS[kind](map(self.value, content))
        if kind == "list":
            made: Any = []
            self.made[at] = made
            made.extend(map(self.value, content))
            return made
        made = self.made[at] = defaultdict() if kind == "defaultdict" else _CONTAINERS[kind]()
        if kind == "defaultdict":
            made.default_factory, content = self.value(content[0]), content[1]
        for key, each in content:
            made_key = self.value(key)  # before its value, as they are numbered
            made[made_key] = self.value(each)
        return made

    def _function(self, name: str) -> Any:
        if name not in self.functions:
            raise MXNetError(
                f"its optimizer has the function {name}, which files hold by name alone: make this optimizer with it "
                "too"
            )
        return self.functions[name]

    def _object(self, module: str, name: str, state: list, at: int) -> Any:
        cls = self.classes.get((module, name))
        if cls is None:
            raise MXNetError(f"it has a {module}.{name}, and this program has no optimizer or scheduler of that name")
        made = self.made[at] = cls.__new__(cls)
        found = {key: self.value(each) for key, each in state}
        if hasattr(made, "__setstate__"):
            made.__setstate__(found)
        else:
            made.__dict__.update(found)
        return made


def holds_states(content: bytes) -> bool:
    """Whether bytes begin as a file of arrays does; a pickle does not."""
    return content[:8] == _MAGIC


def parse(content: bytes, optimizer: Optimizer, what: str) -> tuple[dict, Any]:
    """The states and the optimizer (None: there is none) of a file's content.

    Args:
        optimizer: The optimizer at hand, whose classes and functions the file may name.
        what: What the content is, for errors.
    Raises: MXNetError: it is damaged, or names what the program has not.
    """
    try:
        with np_shape(True):
            arrays = nd.load_frombuffer(content)
        if not isinstance(arrays, dict) or _STRUCTURE not in arrays:
            raise MXNetError("this is a file of arrays, and none of an optimizer's states")
        found = json.loads(arrays[_STRUCTURE].asnumpy().tobytes())
        if found["format"] != _FORMAT:
            raise MXNetError(f"its format is {found['format']!r}, expected {_FORMAT!r}")
        reader = _Reader(arrays, optimizer)
        states, saved = map(reader.value, found["value"])
        if not isinstance(states, dict) or not isinstance(saved, (Optimizer, type(None))):
            raise MXNetError("it is damaged: there are no states, or no optimizer, where they should be")
        return states, saved
    except MXNetError as error:
        raise MXNetError(f"{what}: {error}") from None
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, StopIteration, RecursionError) as error:
        raise MXNetError(f"{what}: it is damaged: {type(error).__name__}: {error}") from None
