"""The two classes of arrays, where the package answers with either: that of its arguments, or of the thread's mode.

A function of `mx.nd` takes and gives arrays of `mx.nd` alone. What is built of such functions takes both classes by one
of two ways: `Functions` are those of `mx.nd` for arrays of `mx.np`, which blocks compute with; `answering` makes a
function written for `mx.nd` one for both. An array's other class is a second handle of the same memory and the same
place in the graph.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache, wraps
from types import FunctionType, ModuleType
from typing import Any, Callable, TypeVar

from mxlite.autograd._handles import share
from mxlite.ndarray.ndarray import NDArray
from mxlite.util import _modes, is_np_array

_F = TypeVar("_F", bound=Callable[..., Any])


#: The classes that there are so far: that of `mx.np` when its module has been imported.
CLASSES: set[type[NDArray]] = {NDArray}


@cache
def of_numpy() -> type[NDArray]:
    """The class of `mx.np`'s arrays."""
    found: type[NDArray] = importlib.import_module("mxlite.numpy").ndarray
    return found


def of_mode() -> type[NDArray]:
    """The class of the arrays that this thread's mode asks for."""
    return of_numpy() if is_np_array() else NDArray


def arrays_in(value: Any) -> Iterator[NDArray]:
    """The arrays in nested lists, tuples and dictionaries."""
    if isinstance(value, NDArray):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from arrays_in(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from arrays_in(each)


def as_kind(value: Any, kind: type[NDArray]) -> Any:
    """A value whose arrays, in nested lists, tuples and dictionaries too, are of a class; the same memory.

    Sparse arrays stay what they are: there are none of `mx.np`.
    """
    if len(CLASSES) == 1:
        return value
    if isinstance(value, NDArray):
        return value if value._kind is kind or value.stype != "default" else kind._adopt(share(value._h))
    if value.__class__ in (list, tuple):
        return value.__class__(as_kind(each, kind) for each in value)
    if value.__class__ is dict:
        return {name: as_kind(each, kind) for name, each in value.items()}
    return value


def as_mode(value: Any) -> Any:
    """A value whose arrays are of the mode's class."""
    return as_kind(value, of_numpy()) if is_np_array() else value


def array_of_mode(values: Any, ctx: Any = None) -> NDArray:
    """What `array` of `mx.nd`, or in NumPy's mode of `mx.np`, makes of values."""
    module = importlib.import_module("mxlite.numpy" if is_np_array() else "mxlite.ndarray")
    made: NDArray = module.array(values, ctx=ctx)
    return made


def kind_for(*values: Any) -> type[NDArray]:
    """The class of the first array among values; without one that of the mode."""
    if len(CLASSES) == 1 and not is_np_array():
        return NDArray
    for each in arrays_in(values):
        return each._kind
    return of_mode()


def front_end_for(*values: Any) -> Any:
    """How nodes make arrays (`Style`) of the class of the first among values; without one of the mode's."""
    return kind_for(*values)._graph_front_end


def by_inputs(method: _F) -> _F:
    """A method of tools for a front end, of a function and its inputs, as a function for arrays of both classes."""
    tools, plain = type(method.__self__), method.__func__  # type: ignore[attr-defined]

    @wraps(method)
    def function(func: Callable, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        return plain(tools(front_end_for(inputs)), func, inputs, *args, **kwargs)

    return function  # type: ignore[return-value]


def answering(function: _F) -> _F:
    """A decorator of a function written for arrays of `mx.nd`: it takes those of `mx.np` too, and gives such."""

    @wraps(function)
    def answer(*args: Any, **kwargs: Any) -> Any:
        if len(CLASSES) == 1 and not _modes.np_array:  # as kind_for, without its call
            return function(*args, **kwargs)
        kind = kind_for(args, kwargs)
        if kind is NDArray:
            return function(*args, **kwargs)
        return as_kind(function(*as_kind(args, NDArray), **as_kind(kwargs, NDArray)), kind)

    return answer  # type: ignore[return-value]


def for_both(function: _F) -> _F:
    """A decorator that says of a function of `mx.nd` that it takes arrays of either class, and gives what it takes."""
    function.for_both = True  # type: ignore[attr-defined]
    return function


def answer_all(module: dict[str, Any]) -> None:
    """Makes what a module defines, by its `globals()`, `answering`: public functions, and calls of objects."""
    for name, value in list(module.items()):
        if name[0] == "_" or getattr(value, "__module__", None) != module["__name__"]:
            continue
        if isinstance(value, FunctionType):
            module[name] = answering(value)
        elif isinstance(value, type) and "__call__" in vars(value):
            value.__call__ = answering(value.__call__)  # type: ignore[operator]


class Functions:
    """A module of `mx.nd` whose functions take and give arrays of `mx.np`; they are made as they are asked for.

    Blocks of the package compute with it. `np` and `npx` are `mx.np` and `mx.npx`.
    """

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self.__name__ = module.__name__

    def __getattr__(self, name: str) -> Any:
        made = self._made(name)
        setattr(self, name, made)
        return made

    def _made(self, name: str) -> Any:
        from mxlite.ndarray._generate import make_function, operator_of

        found = getattr(self._module, name)
        if isinstance(found, ModuleType):
            return Functions(found) if found.__name__.startswith(f"{__package__}.") else found
        where = getattr(found, "__module__", "")
        operator = operator_of(where, name)
        if operator is not None:
            return make_function(operator, of_numpy(), name, where)
        if not callable(found) or hasattr(found, "for_both"):
            return found
        return _giving(found)


def _giving(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `mx.nd` for arrays of `mx.np`; it gives such whatever it takes."""

    @wraps(function)
    def give(*args: Any, **kwargs: Any) -> Any:
        return as_kind(function(*as_kind(args, NDArray), **as_kind(kwargs, NDArray)), of_numpy())

    return give


@cache
def numpy_functions() -> Functions:
    """`mx.nd` for arrays of `mx.np`."""
    return Functions(importlib.import_module("mxlite.ndarray"))


def functions_for(kind: type) -> Any:
    """`mx.nd` for arrays of a class: itself, or `numpy_functions()`; `mx.sym` for symbols of one likewise."""
    if not issubclass(kind, NDArray):
        return importlib.import_module("mxlite.symbol._kinds").functions_for(kind)
    return importlib.import_module("mxlite.ndarray") if kind is NDArray else numpy_functions()
