"""Functions made from the library's introspection: `mx.sym.exp` and every other operator, as `mx.nd` has them.

Each makes a node: a name from the NameManager, attributes from the AttrScope, parameters as text.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable

from mxlite.attribute import AttrScope
from mxlite.base import _Null
from mxlite.error import MXNetError, WrongTypeError
from mxlite.name import NameManager
from mxlite.ndarray._generate import documentation, place_of, show_operators
from mxlite.ndarray._operators import Operator, is_dtype, parameter_text
from mxlite.symbol import _calls
from mxlite.symbol.symbol import Symbol

#: What mixed precision puts before the inputs of new nodes, of an operator with its parameters; None: nothing.
casts: Callable[[str, dict[str, str], Symbol], list[Symbol] | None] | None = None


def node(
    operator: str,
    hint: str,
    inputs: dict[str, Symbol] | list[Symbol],
    given: dict[str, Any],
    kind: type[Symbol] = Symbol,
) -> Symbol:
    """A node of an operator.

    Args:
        hint: how its name begins, if `given` has none.
        inputs: symbols by position, or by the operator's names; variables are made for those that are missing.
        given: parameters and attributes, `name` and `attr` (a dictionary of attributes) among them.
        kind: the class of the symbol.
    Raises: MXNetError: parameters that the operator does not take, or inputs.
    """
    names = list(inputs) if isinstance(inputs, dict) else None
    symbols = inputs.values() if isinstance(inputs, dict) else inputs
    return node_of(operator, hint, [each._h for each in symbols], names, given, kind)


def node_of(
    operator: str, hint: str, handles: list[int], names: list[str] | None, given: dict[str, Any], kind: type[Symbol]
) -> Symbol:
    """The same for the handles of the inputs, and their names (None: by position)."""
    name = given.pop("name", None)
    given.update(AttrScope.current.get(given.pop("attr", None)))
    given.pop("out", None)
    texts = {
        key: parameter_text(key, value)
        for key, value in given.items()
        if value is not _Null and not (value is None and is_dtype(key))
    }
    made = kind(_calls.make_node(operator, texts))
    name = NameManager.current.get(name, hint)
    _calls.compose(made._h, name, handles, names)
    cast = casts(operator, texts, made) if casts is not None else None
    if cast is None:
        return made
    again = kind(_calls.make_node(operator, texts))
    _calls.compose(again._h, name, [each._h for each in cast], None)
    return again


def not_a_symbol(operator: str, argument: str, value: Any, kind: type[Symbol]) -> WrongTypeError:
    """The error of an input that is no symbol of a class: Symbol, or that of `mx.sym.np`."""
    wanted = "a Symbol" if kind is Symbol else "a symbol of mx.sym.np"
    hint = ""
    if isinstance(value, Symbol):
        hint = f"; as_n{'d' if kind is Symbol else 'p'}_ndarray() gives one"
    elif isinstance(value, (list, tuple)):
        hint = f"; write {operator}(*symbols)"
    return WrongTypeError(f"{operator}: {argument} is {wanted}, not {value!r}{hint}")


def _sort_arguments(
    operator: Operator, names: list[str], args: tuple, kwargs: dict[str, Any], kind: type[Symbol]
) -> dict[str, Symbol]:
    """The symbols among a function's arguments, by the inputs' names; `kwargs` keeps the parameters.

    Raises: TypeError: too many arguments, one given twice; TypeError: an input is no symbol of a class, as in 1.9.1.
    """
    if len(args) > len(names):
        raise TypeError(f"{operator.name} takes {len(names)} positional arguments but {len(args)} were given")
    for name, value in zip(names, args):
        if name in kwargs:
            raise TypeError(f"{operator.name} got multiple values for argument {name!r}")
        kwargs[name] = value
    inputs = {}
    for name, _, _ in operator.inputs:
        value = kwargs.pop(name, None)
        if value is None:
            continue
        if getattr(value, "_kind", None) is not kind:
            raise not_a_symbol(operator.name, name, value, kind)
        inputs[name] = value
    for name in [name for name, value in kwargs.items() if isinstance(value, Symbol)]:
        inputs[name] = kwargs.pop(name)
    return inputs


def _variadic(operator: Operator, hint: str, kind: type[Symbol]) -> Callable:
    def function(*args: Symbol, **kwargs: Any) -> Any:
        for each in args:
            if getattr(each, "_kind", None) is not kind:
                raise not_a_symbol(operator.name, "an input", each, kind)
        named = {name: value for name, value in kwargs.items() if isinstance(value, Symbol)}
        if args and named:
            raise TypeError(f"{operator.name}: inputs are given by position or by name, not both")
        given = {name: value for name, value in kwargs.items() if name not in named}
        if operator.counted and operator.counted not in given:
            given[operator.counted] = len(args) + len(named)
            if not args and not named:
                raise MXNetError(f"{operator.name}: takes one input at least, got none")
        return kind._results(node(operator.name, hint, named or list(args), given, kind))

    return function


def _fixed(operator: Operator, hint: str, kind: type[Symbol]) -> Callable:
    names = [row[0] for row in (*operator.inputs, *operator.params)] + ["name", "attr", "out"]

    def function(*args: Any, **kwargs: Any) -> Any:
        inputs = _sort_arguments(operator, names, args, kwargs, kind)
        count = len(inputs)
        # By position, if they are given so, as in mx.nd: which names there are, parameters may decide.
        if count <= len(args) and all(each is mine for each, mine in zip(args, inputs.values())):
            return kind._results(node(operator.name, hint, list(inputs.values()), kwargs, kind))
        return kind._results(node(operator.name, hint, inputs, kwargs, kind))

    keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
    missing = {row[0]: _Null for row in operator.params}
    rows = [inspect.Parameter(name, keyword, default=missing.get(name)) for name in names]
    rows.append(inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD))
    function.__signature__ = inspect.Signature(rows)  # type: ignore[attr-defined]
    return function


def make_function(
    operator_name: str, kind: type[Symbol] = Symbol, name: str | None = None, module: str | None = None
) -> Callable:
    """The function for the operator of that name or alias.

    Args:
        kind: the class of the symbols.
        name, module: what the function says; None: those of mx.sym.
    Raises: AttributeError: there is no such operator.
    """
    operator = Operator(operator_name)
    place, own = place_of(operator_name) or ("op", operator_name)
    name = name or own
    function = (_variadic if operator.variadic else _fixed)(operator, name.lower(), kind)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = documentation(operator, "Symbol")
    function.__module__ = module or f"mxlite.symbol.{place}"
    function._operator = operator_name  # type: ignore[attr-defined] # for tools/make_pyi.py
    return function


def show_functions(module: dict[str, Any]) -> None:
    """Gives a module of mx.sym, by its `globals()`, the functions of its operators."""
    show_operators(module, make_function)
