"""Calls of the library's operators in PyTorch's dialect: prepared with a label, run on tensors.

What runs often has a flat function of its own over a call prepared once (_math/arithmetic.py, elementwise.py); all else
goes through `run` and `run_many`, which look the call up.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
from functools import cache, partial, wraps
from numbers import Number
from typing import Any, Callable, NamedTuple, NoReturn

from mxlite._lib import LIB, c_text, c_texts, hot
from mxlite._lib import last_error as _library_error
from mxlite._public import defined
from mxlite._public.keywords import unexpected
from mxlite.autograd._transforms.examples import REFUSED, by_examples
from mxlite.autograd._transforms.levels import count as levels_open
from mxlite.error import MXIndexError, MXNetError, MXTypeError, MXValueError
from mxlite.torch._dtypes import OF_FLAG, dtype
from mxlite.torch._errors import warn, wrong_argument

_TORCH = 1

AGAIN = "backward a second time: an earlier one released the saved values; retain_graph=True keeps them"

#: How the library says that an operator does not take a dtype.
_NO_KERNEL = (
    " is not supported",
    ": takes float32 or float64, got ",
    '" is not one of None, float16, float32, float64',
    " on the meta device and has no values",
    ": the shape of the result depends on values",
)


#: Python's own classes, which PyTorch raises; those of the library are RuntimeErrors too.
_PLAIN: dict[type, type[Exception]] = {MXIndexError: IndexError, MXTypeError: TypeError, MXValueError: ValueError}


def last_error() -> BaseException:
    """The exception for the calling thread's last failure, of PyTorch's class.

    What a function of the user's raised within the library comes out itself.
    """
    problem = _library_error()
    if isinstance(problem.__cause__, Exception):
        return problem.__cause__
    text = str(problem)
    if type(problem) in _PLAIN:
        return _PLAIN[type(problem)](text)
    if type(problem) is not MXNetError:
        return problem
    if any(part in text for part in _NO_KERNEL):
        return NotImplementedError(text)
    return RuntimeError(text)


def check_call(status: int) -> None:
    """Raises the library's last error unless `status` is 0."""
    if status != 0:
        raise last_error()


def flag(answer: int) -> bool:
    """A truth value of the library's. Raises: its last error, for -1."""
    if answer < 0:
        raise last_error()
    return bool(answer)


new = object.__new__


def prepare(label: str | None, name: str, *arguments: str, slots: str | None = None, **constants: Any) -> int:
    """The handle of a prepared call.

    Args:
        label: What the nodes of the graph are called that it records.
        name: The operator.
        arguments: The parameters that are given with each call.
        slots: What such a node's inputs are: a digit for an input, "-" for a slot with nothing. None: the inputs.
        constants: The other parameters.
    """
    return _prepare(label, slots, name, tuple(constants.items()), arguments)


@cache
def _prepare(label: str | None, slots: str | None, name: str, constants: tuple, arguments: tuple) -> int:
    keys, values = c_texts(key for key, _ in constants), c_texts(str(value) for _, value in constants)
    names, call = c_texts(arguments), ctypes.c_void_p()
    texts = [None if text is None else c_text(text) for text in (label, slots)]
    status = LIB.MXLPrepareAs(
        _TORCH, *texts, c_text(name), len(constants), keys, values, len(arguments), names, ctypes.byref(call)
    )
    check_call(status)
    return call.value


#: The class of tensors; _tensor.py sets it.
tensor_class: Any = None


def adopt(handle: int, kind: dtype | None = None) -> Any:
    """A tensor for a handle that the library has just returned; its dtype is asked for where the caller cannot say."""
    if not handle:
        raise last_error()
    tensor = new(tensor_class)
    tensor._h = handle
    tensor._dtype = OF_FLAG[hot.info(handle)[1]] if kind is None else kind
    return tensor


def run(call: int, inputs: list[Any], *values: Any, kind: dtype | None = None) -> Any:
    """Runs a prepared call with one output on tensors; `values`: its typed arguments, `kind`: the result's dtype."""
    tensor = hot.run(tensor_class, call, inputs, values, kind)
    if tensor is None:
        raise last_error()
    if kind is None:
        tensor._dtype = OF_FLAG[hot.info(tensor._h)[1]]
    return tensor


def run_many(call: int, inputs: list[Any], *values: Any, kinds: list[dtype] | None = None) -> list[Any]:
    """The same for a call with several outputs."""
    if kinds is not None:
        made = hot.run_many(tensor_class, call, inputs, values, kinds)
        if made is None:
            raise last_error()
        return made
    count = hot.num_outputs(call, list(values))
    if count < 0:
        raise last_error()
    handles = hot.call_into(call, [tensor._h for tensor in inputs], list(values), [0] * count)
    if handles is None:
        raise last_error()
    return [adopt(handle) for handle in handles]


def run_into(call: int, out: Any, inputs: list[Any], *values: Any) -> Any:
    """Runs a prepared call into a tensor, which is what it returns; an input may be that tensor."""
    if _run_into(call, out._h, inputs, values) != 0:
        raise last_error()
    return out


def _run_into(call: int, out: int, inputs: list[Any], values: tuple) -> int:
    """The same into the tensor `out`; 0, or another number for an error."""
    if not values:
        if len(inputs) == 1:
            return hot.into1(call, inputs[0]._h, out)
        if len(inputs) == 2:
            return hot.into2(call, inputs[0]._h, inputs[1]._h, out)
    elif len(values) == len(inputs) == 1 and type(values[0]) is float:
        return hot.into1_float(call, inputs[0]._h, values[0], out)
    return 0 if hot.call_into(call, [tensor._h for tensor in inputs], list(values), [out]) else -1


# ---- what the module and its tensors offer ----

#: Functions of the module, `torch.exp`, and methods of tensors, `x.exp()`, by name.
functions: dict[str, Callable] = {}
methods: dict[str, Any] = {}


def both(
    *names: str, document: str | None = None, calls: dict[str, Any] | None = None, quick: bool = False
) -> Callable:
    """Decorates what is a function of the module and a method, under its own name or `names`.

    Args:
        document: The documentation of one that is made from a table, which is then called as the first of `names`.
        calls: What `hot.direct` is told of its usual calls, which are then made in C. `again`: what the library refuses
            is asked of the function, which knows the classes of PyTorch's errors.
        quick: Whether the method is called so often that nothing stands before it: it says itself what is wrong.
    """
    return _registering((functions, methods), names, document, calls, quick)


def function(*names: str, document: str | None = None, calls: dict[str, Any] | None = None) -> Callable:
    """The same for what is a function of the module alone."""
    return _registering((functions,), names, document, calls, False)


def method(
    *names: str, document: str | None = None, calls: dict[str, Any] | None = None, quick: bool = False
) -> Callable:
    """The same for what is a method alone."""
    return _registering((methods,), names, document, calls, quick)


class Kind(NamedTuple):
    """Of `values`: the letter of a kind of argument, and the default; None: it must be given."""

    letter: str
    default: Any = None


#: Integers from 1 on; those that the prepared call takes as floats; floats alone; a dimension of the first tensor; an
#: integer or a list of them; as many as the one before has; a shape.
positive, whole, real, axis, listed, as_many, sizes = map(Kind, "pwxalms")
#: usual(value): what a parameter that the prepared call does not take is in usual calls.
usual = partial(Kind, "n")
_LETTERS = {int: "i", float: "f", bool: "b"}


def values(by_name: bool = False, **parameters: Any) -> tuple[tuple[str, int, Any], ...]:
    """What `hot.direct` is told of arguments that the prepared call takes: values(dim=int, diagonal=0).

    Each is a kind, int, float or bool, or the default, whose class counts; `usual(value)`: it is that object, and not
    an argument. Integers are usual where floats are.

    Args:
        by_name: Whether they are keyword arguments alone.
    """
    rows = []
    for name, each in parameters.items():
        if not isinstance(each, Kind):
            each = Kind(_LETTERS[each]) if isinstance(each, type) else Kind(_LETTERS[type(each)], each)
        rows.append((sys.intern(name), ord(each.letter.upper() if by_name else each.letter), each.default))
    return tuple(rows)


#: Aliases of parameters that PyTorch takes as keywords: NumPy's names, and those of single functions.
_ALIASES = {
    "axis": "dim",
    "keepdims": "keepdim",
    "x": "input",
    "a": "input",
    "x1": "input",
    "x2": "other",
    "input": "A",
    "split_size": "split_size_or_sections",
    "split_sizes": "split_size_or_sections",
}


def _resolver(made: Callable) -> Callable[[tuple, dict], tuple[tuple, dict]] | None:
    """A function that replaces aliases, and the keyword of `*size`, in the arguments of a call; None: it has none."""
    parameters = inspect.signature(made).parameters
    listed = next((name for name, each in parameters.items() if each.kind is each.VAR_POSITIONAL), None)
    aliases = {alias: name for alias, name in _ALIASES.items() if name in parameters and alias not in parameters}
    if not aliases and listed is None:
        return None
    leading = list(parameters)[: list(parameters).index(listed) + 1] if listed else []

    def resolve(args: tuple, named: dict) -> tuple[tuple, dict]:
        if listed in named:
            args = (*args, *(named.pop(name) for name in leading[len(args) :] if name in named))
        for alias in aliases.keys() & named.keys():
            if aliases[alias] in named:
                raise TypeError(f"{made.__name__}: '{alias}' and '{aliases[alias]}' are one argument; give one of them")
            named[aliases[alias]] = named.pop(alias)
        return args, named

    return resolve


#: Annotations of parameters that take several kinds of values; _TAKEN says which.
Dims = Ints = Sizes = Any


class _Parameter(NamedTuple):
    """A parameter whose annotation says what it takes."""

    name: str
    place: int
    takes: Callable[[Any], bool]
    word: str


def _is_integer(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, (bool, float))


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) or isinstance(value, tensor_class)


def _is_dims(value: Any) -> bool:
    return all(map(_is_integer, value)) if isinstance(value, (tuple, list)) else _is_integer(value)


#: What the annotations of parameters mean: whether a value is one, and what an error calls that.
_TAKEN: dict[str, tuple[Callable[[Any], bool], str]] = {
    "Tensor": (lambda value: isinstance(value, tensor_class), "Tensor"),
    "int": (_is_integer, "int"),
    "bool": (lambda value: isinstance(value, bool), "bool"),
    "float": (_is_number, "a number"),
    "str": (lambda value: isinstance(value, str), "str"),
    "dtype": (lambda value: isinstance(value, dtype) or value in (float, int, bool), "torch.dtype"),
    "Dims": (_is_dims, "int or tuple of ints"),
    "Sizes": (_is_dims, "int or tuple of ints"),
    "Ints": (lambda value: isinstance(value, (tuple, list)) and _is_dims(value), "tuple of ints"),
}


def _annotated(made: Callable) -> list[_Parameter]:
    found = []
    for place, (name, each) in enumerate(inspect.signature(made).parameters.items()):
        words = str(each.annotation).split(" | ")
        kinds = [_TAKEN[word] for word in words if word in _TAKEN]
        if kinds and len(kinds) + ("None" in words) == len(words) and each.kind is not each.VAR_POSITIONAL:
            optional = "None" in words
            takes = [take for take, _ in kinds]
            found.append(
                _Parameter(
                    name,
                    place if each.kind is not each.KEYWORD_ONLY else sys.maxsize,
                    lambda value, takes=takes, optional=optional: (
                        (optional and value is None) or any(take(value) for take in takes)
                    ),
                    " or ".join([word for _, word in kinds] + ["None"] * optional),
                )
            )
    return found


def _require_taken(name: str, parameters: list[_Parameter], args: tuple, named: dict[str, Any]) -> None:
    """Raises: TypeError: an argument is not what its parameter takes."""
    for each in parameters:
        if each.place < len(args):
            value = args[each.place]
        elif each.name in named:
            value = named[each.name]
        else:
            continue
        if not each.takes(value):
            raise wrong_argument(name, each.name, 0 if each.place else 1, each.word, value)


def explained(made: Callable, resolve: Callable | None = None) -> Callable:
    """The function, taking aliases; where it fails, an error says which argument is none of what it takes.

    Flags are looked at before: Python would take anything for a truth value.
    """
    parameters = _annotated(made)
    flags = [each for each in parameters if each.word.startswith("bool")]
    first = min((each.place for each in flags), default=sys.maxsize)
    name = made.__name__
    known = inspect.signature(made).parameters
    takes_any = any(each.kind is each.VAR_KEYWORD for each in known.values())

    @wraps(made)
    def wrapper(*args: Any, **named: Any) -> Any:
        if "out" in named and "out" not in known:
            out = named.pop("out")
            made_new = wrapper(*args, **named)
            return made_new if out is None else write_out(name, made_new, out)
        try:
            if named:
                if resolve is not None:
                    args, named = resolve(args, named)
                if flags:
                    _require_taken(name, flags, args, named)
                return made(*args, **named)
            if len(args) > first:
                _require_taken(name, flags, args, named)
            return made(*args)
        except Exception as problem:
            if levels_open[0] and REFUSED in str(problem) and name[-1] != "_":
                return by_examples(tensor_class._graph_front_end, name, wrapper, args, named)
            if not takes_any and not named.keys() <= known.keys():
                raise unexpected(name, next(each for each in named if each not in known), known) from None
            _require_taken(name, parameters, args, named)
            raise

    return wrapper


def explain_all(module: dict[str, Any], quick: tuple[str, ...] = ()) -> None:
    """Does so with the public functions that a module, by its `globals()`, defines, but for some that are quick."""
    for name in defined(module):
        if name not in quick and inspect.isfunction(module[name]) and not hasattr(module[name], "__wrapped__"):
            module[name] = explained(module[name])


def write_out(name: str, found: Any, out: Any) -> Any:
    """`out`, with what a function has found written over it, in its shape; of several results a tuple of each.

    Raises: RuntimeError: a gradient is wanted, or `out` is of a dtype that cannot hold it.
    """
    if isinstance(found, tuple):
        if not isinstance(out, (tuple, list)) or len(out) != len(found):
            raise TypeError(f"{name}: out is a tuple of {len(found)} tensors")
        pairs = [write_out(name, *each) for each in zip(found, out)]
        return type(found)(*pairs) if hasattr(found, "_fields") else tuple(pairs)
    if not isinstance(out, tensor_class):
        raise wrong_argument(name, "out", 0, "Tensor", out)
    if out.is_meta is not found.is_meta:
        raise RuntimeError(f"{name}: the result is on the device {found.device}, `out` on {out.device}")
    if out.requires_grad or found.requires_grad:
        raise RuntimeError(f"{name}: what is written to `out` has no gradient")
    if found._dtype.kind > out._dtype.kind:
        raise RuntimeError(f"{name}: a result of dtype {found._dtype.word} does not fit in `out` of {out._dtype.word}")
    if out.shape != found.shape:
        if out.numel():
            warn(f"{name}: out has shape {list(out.shape)} and gets that of the result, {list(found.shape)}")
        out.resize_(found.shape)
    return out.copy_(found)


def with_aliases(made: Any) -> Any:
    """The function, taking PyTorch's aliases of its keyword arguments too."""
    return explained(made, _resolver(made)) if inspect.isfunction(made) else made


def _raise_last_error(*_: Any, **__: Any) -> NoReturn:
    raise last_error()


def _asking_again(function: Callable) -> Callable:
    """What calls the function with the arguments that the library has refused, for an error of PyTorch's class.

    Where a hook of the user's has raised, its exception comes out, and nothing runs again.
    """

    def failed(*args: Any, **named: Any) -> Any:
        cause = _library_error().__cause__
        if not isinstance(cause, Exception):
            return function(*args, **named)
        try:
            raise cause
        finally:
            del cause  # the frame is in its traceback

    return failed


def direct(made: Callable, calls: dict[str, Any]) -> Callable:
    """The function, with its usual calls made in C; `calls`: as of `both`."""
    options = {"failed": _raise_last_error, "cls": tensor_class, **calls}
    if options.pop("again", False):
        options["failed"] = _asking_again(made)
    return hot.direct(made, **options)


def _registering(
    tables: tuple[dict, ...], names: tuple[str, ...], document: str | None, calls: dict[str, Any] | None, quick: bool
) -> Callable:
    def decorate(made: Any) -> Any:
        if document is not None:
            made.__name__ = made.__qualname__ = names[0]
            made.__doc__ = document
        own = names or (made.__name__,)
        for_method = for_module = with_aliases(made)
        if calls is not None:
            for_method = for_module = direct(for_method, calls)
        elif quick and _resolver(made) is None:
            for_method = made
        for table in tables:
            table.update(dict.fromkeys(own, for_module if table is functions else for_method))
        return made if calls is None else for_method  # within the package arguments are right

    return decorate


def require_tensors(name: str, input: Any, other: Any) -> None:
    """Raises: TypeError: one of a function's two operands is no tensor."""
    require_tensor(name, 1, "input", input)
    require_tensor(name, 2, "other", other)


def require_tensor(name: str, position: int, argument: str, value: Any) -> None:
    """Raises: TypeError: the argument is no tensor."""
    if not isinstance(value, tensor_class):
        raise wrong_argument(name, argument, position, "Tensor", value)
