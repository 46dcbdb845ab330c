"""Functions made from the library's introspection: `mx.nd.exp` and every other operator, with signature and docstring.

A function is text that is compiled when it is first asked for, so that importing stays cheap however many operators
there are. Over cffi `hot.direct` makes the common calls (no parameter, or the same ones as before) in C.
"""

from __future__ import annotations

import importlib
from functools import cache, partial
from sys import intern
from typing import Any, Callable

from mxlite._lib import hot, raise_last_error
from mxlite._public import defined, show
from mxlite.base import _Null
from mxlite.error import MXNetError
from mxlite.ndarray._known import KnownCalls
from mxlite.ndarray._operators import (
    Operator,
    fixed_outputs,
    is_dtype,
    operator_names,
    parameters,
    prepare,
    run,
)
from mxlite.ndarray.ndarray import NDArray

#: Operators with more have no direct call.
_MOST_INPUTS = 8

_FIXED = """
def {name}({signature}):
    _given = {{}}{given}{more}
    return _run(_operator, {inputs}, _given, out, _NDArray)
"""

#: Of an operator with parameters. Unknown ones of an operator that has none are ignored, as MXNet ignores them; others
#: the library judges.
_MORE = """
    if kwargs:
        _given.update(_parameters(kwargs))
    elif _learn is not None and out is None:
        _learn(({values}), _given)"""

_VARIADIC = """
def {name}(*{inputs}, **kwargs):
    _out = kwargs.pop("out", None)
    kwargs.pop("name", None)
    return _run(_operator, _handles_of(_operator, {inputs}), _parameters(kwargs), _out, _NDArray)
"""


#: (how an operator's name begins, how it ends, the module of mx.nd with its function); the first row that fits. There
#: the name lacks the beginning, but in `_internal`.
_PLACES: tuple[tuple[str, str, str | None], ...] = (
    ("_contrib_", "", "contrib"),
    ("_linalg_", "", "linalg"),
    ("_random_", "_like", "random"),
    ("_sparse_", "", "sparse"),
    ("_image_", "", "image"),
    ("_np", "", None),
    ("_mxl_", "", None),
    ("_", "", "_internal"),
    ("", "", "op"),
)


def place_of(operator: str) -> tuple[str, str] | None:
    """The module of mx.nd that an operator's function is in, and its name there; None: it has no function."""
    for prefix, suffix, module in _PLACES:
        if operator.startswith(prefix) and operator.endswith(suffix):
            if module is None:
                return None
            return module, operator if module == "_internal" else operator[len(prefix) :]
    return None


def handles_of(operator: Operator, arrays: tuple, kind: type = NDArray) -> list[int]:
    """The handles of an operator's inputs; None for one that is left out.

    Raises:
        TypeError: an input is no array of this kind: NDArray, or that of `mx.np`.
    """
    for position, array in enumerate(arrays):
        if array is not None and getattr(array, "_kind", None) is not kind:
            name = operator.inputs[min(position, len(operator.inputs) - 1)][0] if operator.inputs else "data"
            hint = f"; write {operator.name}(*arrays)" if operator.variadic and isinstance(array, (list, tuple)) else ""
            if isinstance(array, NDArray):
                hint = f"; as_n{'p' if kind is not NDArray else 'd'}_ndarray() gives one"
            wanted = "an NDArray" if kind is NDArray else "an array of mx.np"
            raise TypeError(f"{operator.name}: input {name!r} must be {wanted}, got {type(array).__name__}{hint}")
    return [array._h for array in arrays if array is not None]


def _plain_call(operator: Operator) -> int:
    """The prepared call without parameters; 0 where some are required, or where it has not one output."""
    try:
        call = prepare(operator.name, {})
        return call if fixed_outputs(call) == 1 else 0
    except MXNetError:
        return 0


def _handles_text(inputs: list[str]) -> str:
    """The expression for the handles of a function's inputs; a lone array's without a call."""
    every = "_handles_of(_operator, ({}))".format("".join(f"{each}, " for each in inputs))
    return f"[{inputs[0]}._h] if {inputs[0]}.__class__ is _NDArray else {every}" if len(inputs) == 1 else every


#: What the docstrings end with.
_ENDS = {
    "NDArray": [
        "out : NDArray or list of NDArray, optional",
        "    Where the result is written; it is what the function returns then.",
        "name : str, optional",
        "    Accepted, and of no meaning here.",
        "",
        "Returns",
        "-------",
        "NDArray or list of NDArray",
    ],
    "Symbol": [
        "name : str, optional",
        "    The node's name.",
        "attr : dict of str, optional",
        "    Attributes of the node, in addition to those of the AttrScope.",
        "",
        "Returns",
        "-------",
        "Symbol",
    ],
}


def documentation(operator: Operator, kind: str = "NDArray") -> str:
    """The docstring of an operator's function, which takes and returns arrays of a `kind`."""
    lines = [operator.doc, ""]
    if operator.shapes:
        lines += [f"Shapes: ``{operator.shapes}``", ""]
    if operator.name != operator.first_name:
        lines += [f"`{operator.name}` is another name of `{operator.first_name}`.", ""]
    lines.append("Parameters")
    lines.append("----------")
    for argument, type_text, description in [*operator.inputs, *operator.params]:
        lines.append(f"{argument} : {type_text}")
        lines.append(f"    {description}")
    lines += _ENDS[kind]
    return "\n".join(lines)


#: Operators whose function is written by hand, in a module that is imported when it is asked for.
_WRITTEN = {"Custom": "mxlite.operator._callbacks"}


def make_function(
    operator_name: str, kind: type[NDArray] = NDArray, name: str | None = None, module: str | None = None
) -> Callable:
    """The function for the operator of that name or alias.

    Args:
        kind: the class of the arrays.
        name, module: what the function says; None: those of mx.nd.
    Raises:
        AttributeError: there is no such operator.
    """
    if operator_name in _WRITTEN:
        return getattr(importlib.import_module(_WRITTEN[operator_name]), operator_name)
    operator = Operator(operator_name)
    place, own = place_of(operator_name) or ("op", operator_name)
    name, module = name or own, module or f"mxlite.ndarray.{place}"
    inputs = [row[0] for row in operator.inputs]
    params = [row[0] for row in operator.params]
    calls = None
    if operator.variadic:
        text = _VARIADIC.format(name=name, inputs=inputs[0] if inputs else "args")
    else:
        if 1 <= len(inputs) <= _MOST_INPUTS:
            plain = _plain_call(operator)
            calls = {"one": plain, "two": plain, "many": plain, "num_inputs": len(inputs)}
            calls.update(params=tuple(map(intern, params)), missing=_Null)
        signature = [f"{each}=None" for each in inputs] + [f"{each}=_Null" for each in params]
        text = _FIXED.format(
            name=name,
            signature=", ".join([*signature, "out=None", "name=None", "**kwargs"]),
            more=_MORE.format(values="".join(f"{each}, " for each in params)) if params else "",
            given="".join(
                f"\n    if {each} is not _Null{f' and {each} is not None' * is_dtype(each)}:"
                f"\n        _given[{each!r}] = {each}"
                for each in params
            ),
            inputs=_handles_text(inputs),
        )
    scope: dict[str, Any] = {
        "_NDArray": kind,
        "_Null": _Null,
        "_handles_of": handles_of if kind is NDArray else partial(handles_of, kind=kind),
        "_learn": None,
        "_operator": operator,
        "_parameters": parameters,
        "_run": run,
    }
    exec(compile(text, f"<mxlite operator {name}>", "exec"), scope)
    function = scope[name]
    function.__doc__ = documentation(operator)
    function.__module__ = module
    if calls is None or operator.gives_rows:
        return function
    function = hot.direct(function, raise_last_error, kind, **calls)
    if hasattr(function, "learn"):
        scope["_learn"] = KnownCalls(operator, function.learn).learn
    return function


@cache
def _operators() -> dict[str, dict[str, str]]:
    """Module of mx.nd -> name of a function there -> name of its operator."""
    made: dict[str, dict[str, str]] = {}
    for operator in operator_names():
        found = place_of(operator)
        if found is not None:
            module, name = found
            made.setdefault(module, {})[name] = operator
    return made


#: Module -> name of a function there that is made of an operator -> that operator.
_made: dict[str, dict[str, str]] = {}


def operator_of(module: str, name: str) -> str | None:
    """The operator that a function of mx.nd, or of a module in it, is made of; None: it is written in Python."""
    return None if name in _WRITTEN else _made.get(module, {}).get(name)


def show_operators(module: dict[str, Any], make: Callable[[str], Any]) -> None:
    """Gives a module of mx.nd or mx.sym the functions of its operators, which are made as they are asked for.

    Args:
        module: its `globals()`.
        make: the function of an operator, by the operator's name.
    """
    operators = _operators().get(module["__name__"].rpartition(".")[2], {})
    written = defined(module)
    _made[module["__name__"]] = {name: each for name, each in operators.items() if name not in written}
    hidden = "" if module["__name__"].rpartition(".")[2][0] == "_" else "_"
    module["__all__"] = sorted({*written, *(name for name in operators if name[0] != hidden)})
    show(module, lambda name: make(operators[name]) if name in operators else None)


def show_functions(module: dict[str, Any]) -> None:
    """Gives a module of mx.nd, by its `globals()`, the functions of its operators."""
    show_operators(module, make_function)
