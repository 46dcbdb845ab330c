"""Functions made from the table (`_table.py`): those of `mx.np` for arrays, and those of another front.

Over cffi `hot.direct` makes their usual calls in C, as those of `mx.nd`; the Python functions are the definition.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache, wraps
from sys import intern
from types import ModuleType
from typing import Any, Callable

import numpy as _numpy

from mxlite._lib import hot, last_error
from mxlite.base import _Null
from mxlite.context import require_cpu
from mxlite.error import MXNetError, MXNotImplementedError, WrongTypeError
from mxlite.ndarray._known import KnownCalls
from mxlite.ndarray._operators import Operator, fixed_outputs, is_dtype, parameters, prepare, prepare_with
from mxlite.ndarray._operators import run as _run
from mxlite.ndarray.ndarray import NUMBERS, NDArray, as_value_error
from mxlite.numpy import _table
from mxlite.numpy._direct import direct
from mxlite.numpy._values import on_values
from mxlite.util import check_ufunc_options

_operator = cache(Operator)


class ArrayBase(NDArray):
    """The base class of `mx.np.ndarray`, for what makes its functions, which come before it."""

    __slots__ = ()


ArrayBase._kind = ArrayBase


def run(operator: Operator, inputs: list[int], given: dict[str, Any], out: Any) -> Any:
    """Runs an operator on handles with any parameters, as that of `mx.nd` does.

    Raises: ValueError (and MXNetError), where the library names no other class.
    """
    try:
        return _run(operator, inputs, given, out, ArrayBase._kind)
    except MXNetError as error:
        raise as_value_error(error) from error.__cause__


def raise_refused(*_: Any, **__: Any) -> None:
    """Raises the library's last error, as `run` does; of calls that were made in C."""
    raise as_value_error(last_error())


def handle_of(name: str, argument: str, array: Any) -> int:
    """The handle of an array. Raises: TypeError (and AssertionError): it is none of `mx.np`."""
    if not isinstance(array, ArrayBase):
        raise not_an_array(name, argument, array)
    return array._h


def not_an_array(name: str, argument: str, value: Any) -> WrongTypeError:
    """The error of an argument that is no array of `mx.np`."""
    hint = "; as_np_ndarray() gives one" if isinstance(value, NDArray) else "; mx.np.array makes one"
    return WrongTypeError(f"{name}: {argument} must be an array of mx.np, got {type(value).__name__}{hint}")


def refuse(name: str, argument: str, value: Any, default: Any) -> None:
    """Raises NotImplementedError (and MXNetError): only the default is possible."""
    raise MXNotImplementedError(f"{name}: {argument}={value!r} is not supported; only {default!r} is")


class Arrays:
    """The front of arrays: how functions of the table and composed ones (`_composed.py`) run operators, on what.

    That of symbols is in mxlite/symbol/numpy/_front.py.
    """

    #: The class of what functions take.
    base: type = ArrayBase
    #: Whether what they take knows its shape and values.
    knows_shapes = True
    #: Functions whose several results are a tuple.
    tuples = _table.TUPLES
    #: The modules that functions say they are of.
    modules = {
        "": "mxlite.numpy",
        "linalg": "mxlite.numpy.linalg",
        "ndarray": "mxlite.numpy",
        "npx": "mxlite.numpy_extension",
        "npx.random": "mxlite.numpy_extension.random",
        "random": "mxlite.numpy.random",
    }
    run = staticmethod(run)
    handle_of = staticmethod(handle_of)
    not_an_array = staticmethod(not_an_array)

    @staticmethod
    def number(value: Any) -> dict[str, Any]:
        """The parameters of an operator of an array and a number."""
        return {"scalar": float(value)}

    def __call__(self, operator: str, *inputs: Any, out: Any = None, **given: Any) -> Any:
        """Runs an operator. None as an input: it is left out.

        Raises: TypeError: an input is no array of `mx.np`.
        """
        found = _operator(operator)
        handles = [
            each._h if each.__class__ is ArrayBase._kind else handle_of(_shown(operator), "an input", each)
            for each in inputs
            if each is not None
        ]
        if found.counted:
            given[found.counted] = len(handles)
        return run(found, handles, parameters(given), out)

    def __getattr__(self, name: str) -> Any:
        return function(name)

    @staticmethod
    def is_array(value: Any) -> bool:
        """Whether a value is an array of this front."""
        return isinstance(value, ArrayBase)

    #: What makes an array of values, a dtype and a context; multiarray.py sets it.
    array_from: Callable[[Any, Any, Any], Any]

    @staticmethod
    def context(ctx: Any) -> str:
        """The parameter `ctx` of an operator that makes arrays."""
        return str(require_cpu(ctx))


def _shown(operator: str) -> str:
    """An operator's name as errors have it."""
    return next((operator[len(each) :] for each in _PREFIXES if operator.startswith(each)), operator)


_PREFIXES = ("_npi_", "_npx_", "_np_", "_")

ARRAYS = Arrays()


def bind(composed: Callable[..., Any], front: Any, name: str) -> Callable[..., Any]:
    """A composed function with its first argument, the front, given."""

    @wraps(composed)
    def function(*args: Any, **kwargs: Any) -> Any:
        return composed(front, *args, **kwargs)

    signature = inspect.signature(composed)
    function.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])
    return _named(function, name, front)


def _named(function: Any, name: str, front: Any = ARRAYS) -> Any:
    module, _, own = name.rpartition(".")
    function.__name__ = own
    function.__qualname__ = name if module == "ndarray" else own
    function.__module__ = front.modules[module]
    return function


# ---- functions of elements ----


def _unary(name: str, front: Any) -> Any:
    operator = _operator(_table.UNARY[name])
    base, run = front.base, front.run

    def function(x: Any, out: Any = None, **kwargs: Any) -> Any:
        if kwargs:
            check_ufunc_options(name, kwargs)
        if isinstance(x, base):
            return run(operator, [x._h], {}, out)
        if isinstance(x, NUMBERS):
            return getattr(_numpy, name)(x, out=out if front.knows_shapes else None)
        raise front.not_an_array(name, "x", x)

    function.__doc__ = _documentation(operator)
    _named(function, name, front)
    if front is not ARRAYS:
        return function
    return hot.direct(function, raise_refused, ArrayBase._kind, one=prepare(operator.name, {}), num_inputs=1)


def binary(name: str, refused: Callable[[Any, Any], Any], front: Any = ARRAYS) -> Callable[..., Any]:
    """The function of two arrays, or an array and a number, with `out`; without options.

    Args:
        refused: called with both operands where one is neither.
    """
    of_arrays, of_scalar, reflected = map(_operator, _table.BINARY[name])
    base, run, number = front.base, front.run, front.number

    def function(x1: Any, x2: Any, out: Any = None) -> Any:
        if isinstance(x1, base):
            if isinstance(x2, base):
                return run(of_arrays, [x1._h, x2._h], {}, out)
            if isinstance(x2, NUMBERS):
                return run(of_scalar, [x1._h], number(x2), out)
        elif isinstance(x1, NUMBERS):
            if isinstance(x2, base):
                return run(reflected, [x2._h], number(x1), out)
            if isinstance(x2, NUMBERS):
                return getattr(_numpy, name)(x1, x2, out=out if front.knows_shapes else None)
        return refused(x1, x2)

    return function


def _binary(name: str, front: Any) -> Any:
    def refused(x1: Any, x2: Any) -> None:
        is_first = not isinstance(x1, (front.base, *NUMBERS))
        raise front.not_an_array(name, "x1" if is_first else "x2", x1 if is_first else x2)

    plain = binary(name, refused, front)

    def with_options(x1: Any, x2: Any, out: Any = None, **kwargs: Any) -> Any:
        if kwargs:
            check_ufunc_options(name, kwargs)
        return plain(x1, x2, out)

    made = _named(plain if name in _table.PLAIN else with_options, name, front)
    made.__doc__ = _documentation(_operator(_table.BINARY[name][0]))
    if front is not ARRAYS:
        return made
    return hot.direct(made, raise_refused, ArrayBase._kind, num_inputs=2, **direct_calls(name))


def direct_calls(name: str) -> dict[str, int]:
    """What `hot.direct` is told of a function of two arrays."""
    of_arrays, of_scalar, _ = _table.BINARY[name]
    return {"two": prepare(of_arrays, {}), "number": prepare(of_scalar, {}, ("scalar",))}


# ---- functions that are rows of the table ----

_TEXT = """
def {name}({signature}):{numbers}
    _given = {{{constants}}}{given}{options}{learn}
    return {tuple}(_run(_operator, [{inputs}], _given, {out}))
"""

_OF_NUMBER = """
    if isinstance({first}, _NUMBERS):
        return _numpy.{function}({first}, {values})"""

_LEARN = """
    if _learn is not None{no_out}:
        _learn(({values}), _given)"""


def _is_constant(expression: str) -> bool:
    try:
        ast.literal_eval(expression)
    except ValueError:
        return False
    return True


def _statements(row: _table.Row, inputs: list[str], params: set[str]) -> str:
    """The statements of a row's function that collect the operator's parameters, and refuse others."""
    lines = []
    for name, default in row.arguments.items():
        is_missing = "" if default is None else f"if {name} is not {default}: "
        if default is not None and default not in ("None", "True", "False"):
            is_missing = f"if {name} is not _defaults[{name!r}]: "
        if name == "ctx":
            lines.append("_given['ctx'] = _context(ctx)")
        elif name in params and name not in row.given:
            is_missing = f"if {name} is not None: " if is_dtype(name) else is_missing
            lines.append(f"{is_missing}_given[{name!r}] = {name}")
        elif name not in inputs and name != "out" and name not in row.ignored and not _is_used(name, row):
            shown = f"_refuse({row.name!r}, {name!r}, {name}, {default})"
            lines.append(f"if {name} != {default}: {shown}")
    lines += [f"_given[{name!r}] = {text}" for name, text in row.given.items() if not _is_constant(text)]
    return "".join(f"\n    {line}" for line in lines)


def _is_used(name: str, row: _table.Row) -> bool:
    return any(
        isinstance(each, ast.Name) and each.id == name
        for text in row.given.values()
        for each in ast.walk(ast.parse(text))
    )


def _of_row(row: _table.Row, front: Any) -> Any:
    operator = _operator(row.operator)
    count = len(operator.inputs)
    arguments = list(row.arguments)
    inputs, others = arguments[:count], arguments[count:]
    constants = {name: ast.literal_eval(text) for name, text in row.given.items() if _is_constant(text)}
    params = others[:-1] if arguments[-1] == "out" else others
    is_direct = count > 0 and "ctx" not in arguments and front is ARRAYS
    own = row.name.rpartition(".")[2]
    text = _TEXT.format(
        name=own,
        signature=row.signature,
        numbers=_OF_NUMBER.format(first=arguments[0], function=own.rstrip("_"), values=", ".join(params))
        * (row.name in _table.OF_NUMBERS),
        constants=", ".join(f"{name!r}: {value!r}" for name, value in constants.items()),
        given=_statements(row, inputs, {each[0] for each in operator.params}),
        options=f"\n    if kwargs: _check_options({row.name!r}, kwargs)" * row.takes_options,
        learn=_LEARN.format(
            no_out=" and out is None" * ("out" in arguments),
            values="".join(
                f"{each}, " if row.arguments[each] is None else f"_Null if {each} is _defaults[{each!r}] else {each}, "
                for each in params
            ),
        )
        * bool(params and is_direct),
        inputs=", ".join(
            f"{each}._h if {each}.__class__ is _array else _handle_of({row.name!r}, {each!r}, {each})"
            for each in inputs
        ),
        out="out" if "out" in arguments else "None",
        tuple="tuple" * (row.name in front.tuples),
    )
    scope: dict[str, Any] = {
        "_NUMBERS": NUMBERS,
        "_Null": _Null,
        "_array": front.base._kind,
        "_check_options": check_ufunc_options,
        "_context": front.context,
        "_handle_of": front.handle_of,
        "_learn": None,
        "_numpy": _numpy,
        "_operator": operator,
        "_refuse": refuse,
        "_run": front.run,
        "float32": _numpy.float32,
        "int32": _numpy.int32,
    }
    exec(compile(text, f"<mxlite.numpy.{row.name}>", "exec"), scope)
    made = scope[own]
    scope["_defaults"] = {
        name: each.default
        for name, each in inspect.signature(made).parameters.items()
        if each.default is not each.empty
    }
    made.__doc__ = _documentation(operator)
    _named(made, row.name, front)
    if not is_direct:
        return made
    call = 0
    if all(row.arguments[each] is not None for each in others):
        defaults = {name: eval(text, {}, dict(scope["_defaults"])) for name, text in row.given.items()}
        call = _plain_call(operator, defaults)
    calls = {("one", "two")[count - 1] if count < 3 else "many": call, "num_inputs": count}
    made = hot.direct(made, raise_refused, ArrayBase._kind, **calls, params=tuple(map(intern, params)), missing=_Null)
    if hasattr(made, "learn"):
        scope["_learn"] = KnownCalls(operator, made.learn).learn
    return made


def _plain_call(operator: Operator, constants: dict[str, Any]) -> int:
    """The prepared call with these parameters; 0 where it has not one output, or more are required."""
    try:
        call = prepare_with(operator.name, constants)
        return call if fixed_outputs(call) == 1 else 0
    except MXNetError:
        return 0


def _documentation(operator: Operator) -> str:
    lines = [operator.doc, "", "Parameters", "----------"]
    for argument, type_text, description in operator.arguments:
        lines += [f"{argument} : {type_text}", f"    {description}"]
    return "\n".join(lines)


# ---- all of them ----


@cache
def _parts(module: str) -> tuple[ModuleType, ...]:
    """The modules that have a module's composed functions."""
    from mxlite.numpy import _composed, _elements, _linalg, _npx_random, _random, _statistics, _sums

    parts = {"": (_composed, _sums, _elements, _statistics), "linalg": (_linalg,), "random": (_random,)}
    return {**parts, "npx.random": (_npx_random,)}[module]


@cache
def _names(module: str) -> list[str]:
    composed = [name for part in _parts(module) for name in part.FUNCTIONS]
    return [*_table.names(module), *composed, *(() if module else _table.LEFT)]


def names(module: str) -> list[str]:
    """The functions of a module: "" (`mx.np` itself), "linalg", "random"."""
    return list(_names(module))


def names_for_symbols(module: str) -> list[str]:
    """Those that ask for no shape and no value, which a symbol does not know."""
    prefix = module and f"{module}."
    parts = _parts(module)
    composed = [name for part in parts for name in part.FUNCTIONS - getattr(part, "OF_VALUES", frozenset())]
    return [name for name in (*_table.names(module), *composed) if prefix + name not in _table.OF_ARRAYS]


@cache
def is_of_values(name: str) -> bool:
    """Whether a function takes what NumPy makes arrays of, too, and answers as NumPy without an array."""
    module, _, own = name.rpartition(".")
    return module in ("", "linalg") and any(own in getattr(part, "OF_VALUES", ()) for part in _parts(module))


def _has_array(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_array, value))
    return isinstance(value, ArrayBase)


def _of_values(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A composed function that answers as NumPy where no argument is an array.

    Where NumPy has dropped it, it is computed on arrays, and the answer is NumPy's array all the same.
    """
    path = next((new for new, old in _table.RENAMED.items() if old == name), name)
    of = _numpy.linalg if name.startswith("linalg.") else _numpy
    numpys = getattr(_numpy, name, None) or getattr(of, path.rpartition(".")[2], None)

    @wraps(function)
    def made(*args: Any, **kwargs: Any) -> Any:
        if _has_array(args) or _has_array(tuple(kwargs.values())):
            return function(*args, **kwargs)
        if numpys is not None:
            return numpys(*args, **kwargs)
        answer = function(*args, **kwargs)
        return answer.asnumpy() if isinstance(answer, ArrayBase) else answer

    return made


def _left(name: str) -> Callable[..., Any]:
    """A function of NumPy's, on the values of arrays."""
    numpys = getattr(_numpy, name)

    def made(*args: Any, **kwargs: Any) -> Any:
        if not _has_array(args) and not _has_array(tuple(kwargs.values())):
            return numpys(*args, **kwargs)
        return on_values(ARRAYS.array_from, f"mx.np.{name}", numpys, args, kwargs)

    made.__doc__ = f"numpy.{name} of the arrays' values; refused while recording."
    return _named(made, name)


@cache
def function(name: str, front: Any = ARRAYS) -> Any:
    """The function of that name (`sum`, `linalg.det`) for a front; of "ndarray" the method.

    Raises: AttributeError: there is none.
    """
    module, _, own = name.rpartition(".")
    if not module and own in _table.UNARY:
        return _unary(own, front)
    if not module and own in _table.BINARY:
        return _binary(own, front)
    row = _table.row(name)
    if row is not None:
        return _of_row(row, front)
    if not module and own in _table.LEFT and front is ARRAYS:
        return _left(own)
    for part in () if module == "ndarray" else _parts(module):
        if own in part.FUNCTIONS:
            bound = bind(getattr(part, own), front, name)
            if front is not ARRAYS:
                return bound
            return (
                _of_values(bound, name) if is_of_values(name) else direct(bound, name, raise_refused, ArrayBase._kind)
            )
    raise AttributeError(name)
