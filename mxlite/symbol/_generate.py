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


def node(operator: str, hint: str, inputs: dict[str, Symbol] | list[Symbol], given: dict[str, Any]) -> Symbol:
    """A node of an operator.

    Args:
        hint: how its name begins, if `given` has none.
        inputs: symbols by position, or by the operator's names; variables are made for those that are missing.
        given: parameters and attributes, `name` and `attr` (a dictionary of attributes) among them.
    Raises: MXNetError: parameters that the operator does not take, or inputs.
    """
    name = given.pop("name", None)
    given.update(AttrScope.current.get(given.pop("attr", None)))
    given.pop("out", None)
    texts = {
        key: parameter_text(key, value)
        for key, value in given.items()
        if value is not _Null and not (value is None and is_dtype(key))
    }
    made = Symbol(_calls.make_node(operator, texts))
    named = list(inputs) if isinstance(inputs, dict) else None
    symbols = inputs.values() if isinstance(inputs, dict) else inputs
    _calls.compose(made._h, NameManager.current.get(name, hint), [each._h for each in symbols], named)
    return made


def _sort_arguments(operator: Operator, names: list[str], args: tuple, kwargs: dict[str, Any]) -> dict[str, Symbol]:
    """The symbols among a function's arguments, by the inputs' names; `kwargs` keeps the parameters.

    Raises: TypeError: too many arguments, one given twice; TypeError: an input is no symbol, as in 1.9.1.
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
        if not isinstance(value, Symbol):
            raise WrongTypeError(f"{name} is a Symbol, not {value!r}")
        inputs[name] = value
    for name in [name for name, value in kwargs.items() if isinstance(value, Symbol)]:
        inputs[name] = kwargs.pop(name)
    return inputs


def _variadic(operator: Operator, hint: str) -> Callable:
    def function(*args: Symbol, **kwargs: Any) -> Symbol:
        for each in args:
            if not isinstance(each, Symbol):
                more = f"; write {operator.name}(*symbols)" if isinstance(each, (list, tuple)) else ""
                raise WrongTypeError(f"{operator.name}: an input is a Symbol, not {each!r}{more}")
        named = {name: value for name, value in kwargs.items() if isinstance(value, Symbol)}
        if args and named:
            raise TypeError(f"{operator.name}: inputs are given by position or by name, not both")
        given = {name: value for name, value in kwargs.items() if name not in named}
        if operator.counted and operator.counted not in given:
            given[operator.counted] = len(args) + len(named)
            if not args and not named:
                raise MXNetError(f"{operator.name}: takes one input at least, got none")
        return node(operator.name, hint, named or list(args), given)

    return function


def _fixed(operator: Operator, hint: str) -> Callable:
    names = [row[0] for row in (*operator.inputs, *operator.params)] + ["name", "attr", "out"]

    def function(*args: Any, **kwargs: Any) -> Symbol:
        inputs = _sort_arguments(operator, names, args, kwargs)
        count = len(inputs)
        # By position, if they are given so, as in mx.nd: which names there are, parameters may decide.
        if count <= len(args) and all(each is mine for each, mine in zip(args, inputs.values())):
            return node(operator.name, hint, list(inputs.values()), kwargs)
        return node(operator.name, hint, inputs, kwargs)

    keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
    missing = {row[0]: _Null for row in operator.params}
    rows = [inspect.Parameter(name, keyword, default=missing.get(name)) for name in names]
    rows.append(inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD))
    function.__signature__ = inspect.Signature(rows)  # type: ignore[attr-defined]
    return function


def make_function(operator_name: str) -> Callable:
    """The function for the operator of that name or alias. Raises: AttributeError: there is no such operator."""
    operator = Operator(operator_name)
    module, name = place_of(operator_name) or ("op", operator_name)
    function = (_variadic if operator.variadic else _fixed)(operator, name.lower())
    function.__name__ = function.__qualname__ = name
    function.__doc__ = documentation(operator, "Symbol")
    function.__module__ = f"mxlite.symbol.{module}"
    function._operator = operator_name  # type: ignore[attr-defined] # for tools/make_pyi.py
    return function


def show_functions(module: dict[str, Any]) -> None:
    """Gives a module of mx.sym, by its `globals()`, the functions of its operators."""
    show_operators(module, make_function)
