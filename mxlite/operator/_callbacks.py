"""The callbacks by which the library runs the operators of `mx.operator`, and `mx.nd.Custom`.

The library holds numbers of the objects below as contexts of its callbacks, and says when one goes. No callback belongs
to a class or a call, so none is ever made or freed after the import.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Callable

from mxlite import _backward, error
from mxlite._lib import c_ints, c_texts, hot, lasting
from mxlite.base import DTYPE_OF_FLAG, STYPE_NUMBERS, _Null, dtype_flag
from mxlite.context import Context
from mxlite.ndarray._kinds import of_mode
from mxlite.ndarray._operators import Operator
from mxlite.ndarray.ndarray import NDArray

#: The registered subclasses of CustomOpProp by name, and whether they have a method of their own for storage types.
classes: dict[str, tuple[type, bool]] = {}

_I, _P, _TEXT = ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p
_INTS = ctypes.POINTER(_I)
_TEXTS = ctypes.POINTER(_TEXT)

#: Storage types by number: of an array that is not known yet -1.
_STYPES = {number: name for name, number in STYPE_NUMBERS.items()}
_REQUESTS = {0: "null", 1: "write", 2: "inplace", 3: "add"}
#: Tags of a forward's and a backward's arrays, by number.
_TAGS = ("in_data", "out_data", "in_grad", "out_grad", "aux")


class _List(ctypes.Structure):
    """MXCallbackList."""

    _fields_ = [("count", _I), ("callbacks", ctypes.POINTER(_P)), ("contexts", ctypes.POINTER(_P))]


def check_dense(method: str, stypes: Sequence[str]) -> None:
    """Raises: NotImplementedError (and MXNetError): an array is sparse, and the method is not the class's own."""
    for stype in stypes:
        if stype not in ("default", "undefined"):
            raise error.MXNotImplementedError(f"an operator without its own {method} takes dense arrays, not {stype}")


# ---- what the library holds ----


class _Held:
    """An object that callbacks work on, and the lists that they have returned, which live as long."""

    def __init__(self) -> None:
        self.lists: dict[str, Any] = {}

    def fill(self, result: Any, callbacks: Any) -> None:
        """Hands the library a list of callbacks, with this object's number as their context."""
        number = hot.keep(self)
        contexts = (_P * len(callbacks))(*([number] * len(callbacks)))
        self.lists["contexts"] = contexts
        result[0] = _List(len(callbacks), callbacks, contexts)


class _Description(_Held):
    """A CustomOpProp, and its numbers of arguments, outputs and auxiliary states."""

    def __init__(self, prop: Any) -> None:
        super().__init__()
        self.prop = prop
        self.counts: dict[str, int] = {}

    def split(self, what: str, made: Any) -> list:
        """What a method has inferred of the arguments, the outputs, the states, in one list."""
        groups = [list(group) for group in made]
        if len(groups) == 2:
            groups.append([])
        if len(groups) != 3:
            raise ValueError(f"{what} must return lists for arguments, outputs and auxiliary states")
        for group, kind in zip(groups, ("arguments", "outputs", "auxiliary_states")):
            if len(group) != self.counts[kind]:
                raise ValueError(f"{what} returned {len(group)} entries for {self.counts[kind]} {kind}")
        return [entry for group in groups for entry in group]


class _Instance(_Held):
    """A CustomOp, and the class of the arrays that it gets: that of the mode in which it was made."""

    def __init__(self, op: Any) -> None:
        super().__init__()
        self.op = op
        self.kind = of_mode()


def _callback(*kinds: Any) -> Callable[[Callable], Any]:
    """Decorates a function that the library calls with arguments of these ctypes types, then an object's number.

    The function gets the object first. The library gets 1, or 0 after an exception, which is kept for the caller.
    """

    def decorate(work: Callable) -> Any:
        def call(*arguments: Any) -> int:
            try:
                work(hot.kept(arguments[-1]), *arguments[:-1])
                return 1
            except BaseException as problem:
                error.keep_exception(problem)
                return 0

        return lasting(ctypes.CFUNCTYPE(_I, *kinds, _P)(call))

    return decorate


# ---- the description ----


def _lister(kind: str) -> Any:
    """The callback that lists the names of a kind of arrays."""
    method = f"list_{kind}"

    @_callback(ctypes.POINTER(_TEXTS))
    def list_names(held: _Description, result: Any) -> None:
        names = [*_backward.call_user(getattr(held.prop, method))]
        texts = c_texts([*names, b""])
        texts[len(names)] = None
        held.lists[kind] = texts
        held.counts[kind] = len(names)
        result[0] = ctypes.cast(texts, _TEXTS)

    return list_names


@_callback(_I, _INTS, ctypes.POINTER(_INTS))
def _INFER_SHAPE(held: _Description, count: int, ndims: Any, shapes: Any) -> None:  # noqa: N802
    known = [[shapes[i][k] for k in range(ndims[i])] for i in range(held.counts["arguments"])]
    made = held.split("infer_shape", _backward.call_user(held.prop.infer_shape, known))
    kept = held.lists["shapes"] = [c_ints(_I, shape) for shape in made]
    for i, (shape, sizes) in enumerate(zip(made, kept)):
        ndims[i] = len(shape)
        shapes[i] = ctypes.cast(sizes, _INTS)


@_callback(_I, _INTS)
def _INFER_TYPE(held: _Description, count: int, flags: Any) -> None:  # noqa: N802
    known = [DTYPE_OF_FLAG.get(flags[i]) for i in range(held.counts["arguments"])]  # None: unknown, in symbols
    made = held.split("infer_type", _backward.call_user(held.prop.infer_type, known))
    for i, dtype in enumerate(made):
        flags[i] = -1 if dtype is None else dtype_flag(dtype)


@_callback(_I, _INTS)
def _INFER_STORAGE_TYPE(held: _Description, count: int, stypes: Any) -> None:  # noqa: N802
    known = [_STYPES[stypes[i]] for i in range(held.counts["arguments"])]
    made = held.split("infer_storage_type", _backward.call_user(held.prop.infer_storage_type, known))
    for i, stype in enumerate(made):
        stypes[i] = STYPE_NUMBERS[stype]


@_callback(_I, _INTS, _INTS)
def _INFER_STORAGE_TYPE_BACKWARD(held: _Description, count: int, stypes: Any, tags: Any) -> None:  # noqa: N802
    given: list[list[str]] = [[] for _ in _TAGS]
    for i in range(count):
        given[tags[i]].append(_STYPES[stypes[i]])
    in_data, out_data, in_grad, out_grad, aux = given
    groups = [out_grad, in_data, out_data, in_grad, aux]
    method = held.prop.infer_storage_type_backward
    made = [list(group) for group in _backward.call_user(method, *map(list, groups))]
    if [*map(len, made)] != [*map(len, groups)]:
        raise ValueError("infer_storage_type_backward must return a storage type for each array that it is given")
    for i, stype in enumerate(stype for group in made for stype in group):
        stypes[i] = STYPE_NUMBERS[stype]


@_callback(_INTS, _INTS, _INTS, _INTS, ctypes.POINTER(_INTS))
def _DEPENDENCIES(  # noqa: N802
    held: _Description, out_grad: Any, in_data: Any, out_data: Any, count: Any, result: Any
) -> None:
    outputs, arguments = held.counts["outputs"], held.counts["arguments"]
    given = out_grad[:outputs], in_data[:arguments], out_data[:outputs]
    numbers = [*_backward.call_user(held.prop.declare_backward_dependency, *given)]
    kept = held.lists["reads"] = c_ints(_I, numbers)
    count[0] = len(numbers)
    result[0] = ctypes.cast(kept, _INTS)


@_callback(_TEXT, _I, ctypes.POINTER(ctypes.POINTER(ctypes.c_uint)), _INTS, _INTS, ctypes.POINTER(_List))
def _CREATE_OPERATOR(  # noqa: N802
    held: _Description, device: bytes, count: int, shapes: Any, ndims: Any, flags: Any, result: Any
) -> None:
    kind, _, number = device.decode().rstrip(")").partition("(")
    sizes = [[shapes[i][k] for k in range(ndims[i])] for i in range(count)]
    op = _backward.call_user(held.prop.create_operator, Context(kind, int(number)), sizes, flags[:count])
    if not (hasattr(op, "forward") and hasattr(op, "backward")):
        raise TypeError(f"create_operator must return a CustomOp, it returned {type(op).__name__}")
    _Instance(op).fill(result, _OP_CALLBACKS)


# ---- the instance ----


def _runner(method: str, written: str, named: tuple[str, ...]) -> Any:
    """The callback of forward or of backward: `written` are the arrays with a request, `named` all kinds."""

    @_callback(_I, ctypes.POINTER(_P), _INTS, _INTS, _I)
    def run(held: _Instance, count: int, handles: Any, tags: Any, requests: Any, is_train: int) -> None:
        arrays: dict[str, list[NDArray]] = {kind: [] for kind in named}
        for i in range(count):
            arrays[_TAGS[tags[i]]].append(held.kind._adopt(handles[i]))
        req = [_REQUESTS[each] for each in requests[: len(arrays[written])]]
        more = {"is_train": is_train} if method == "forward" else {}
        _backward.call_user(lambda: getattr(held.op, method)(req=req, **more, **arrays))

    return run


@lasting
@ctypes.CFUNCTYPE(_I, _P)
def _DELETE(number: int, drop: Any = hot.drop) -> int:  # noqa: N802
    """The library lets go of an object; perhaps when the interpreter has taken this module apart."""
    drop(number)
    return 1


def _table(*callbacks: Any) -> ctypes.Array:
    return (_P * len(callbacks))(*(ctypes.cast(each, _P) if each else None for each in callbacks))


_DESCRIBING = (
    _DELETE,
    *map(_lister, ("arguments", "outputs", "auxiliary_states")),
    _INFER_SHAPE,
    _DEPENDENCIES,
    _CREATE_OPERATOR,
    _INFER_TYPE,
)
#: Without and with the callbacks for storage types, which only a class with its own methods for them needs.
_PROP_CALLBACKS = _table(*_DESCRIBING), _table(*_DESCRIBING, _INFER_STORAGE_TYPE, _INFER_STORAGE_TYPE_BACKWARD)
_OP_CALLBACKS = _table(
    _DELETE,
    _runner("forward", "out_data", ("in_data", "out_data", "aux")),
    _runner("backward", "in_grad", ("out_grad", "in_data", "out_data", "in_grad", "aux")),
)


@lasting
@ctypes.CFUNCTYPE(_I, _TEXT, _I, _TEXTS, _TEXTS, ctypes.POINTER(_List))
def CREATOR(op_type: bytes, count: int, keys: Any, values: Any, result: Any) -> int:  # noqa: N802
    """The one creator of all operators in Python: makes the description of a call."""
    try:
        cls, infers_storage = classes[op_type.decode()]
        given = {keys[i].decode(): values[i].decode() for i in range(count)}
        prop = _backward.call_user(lambda: cls(**given))
        _Description(prop).fill(result, _PROP_CALLBACKS[infers_storage])
        return 1
    except BaseException as problem:
        error.keep_exception(problem)
        return 0


# ---- the call ----


def _placed(op_type: str, arrays: tuple[NDArray, ...], named: dict[str, NDArray], texts: dict[str, str]) -> list:
    """The inputs in order: those given by position, then those by name.

    Raises: TypeError: a name that is no argument's or state's, or one that is missing or given twice.
    """
    if op_type not in classes:
        raise TypeError(f"Custom: {', '.join(named)}: the names of the inputs of {op_type!r} are not known here")
    prop = classes[op_type][0](**texts)
    order = [*prop.list_arguments(), *prop.list_auxiliary_states()]
    rest = order[len(arrays) :]
    for name in named:
        if name not in rest:
            raise TypeError(f"Custom: {op_type!r} takes no further input {name!r}; its inputs are {', '.join(order)}")
    for name in rest:
        if name not in named:
            raise TypeError(f"Custom: input {name!r} of {op_type!r} is missing")
    return [*arrays, *(named[name] for name in rest)]


_operators: list[Operator] = []


def Custom(*data: NDArray, **kwargs: Any) -> Any:  # noqa: N802 - the operator's name
    """Runs an operator that was registered with `mx.operator.register`.

    Parameters
    ----------
    data : NDArray
        The operator's arguments, then its auxiliary states; those of Python's operators may be given by name too.
    op_type : str
        The name that it is registered under.
    out : NDArray or list of NDArray, optional
        Where the result is written; it is what the function returns then.
    name : str, optional
        Accepted, and of no meaning here.
    **kwargs
        The operator's own parameters, which reach it as text (`str`).

    Returns
    -------
    NDArray or list of NDArray

    Raises
    ------
    TypeError
        An input is not an NDArray, or has a name that the operator does not list.
    MXNetError
        There is no such operator, or a method of it failed; `__cause__` is what the method raised.
    """
    out = kwargs.pop("out", None)
    kwargs.pop("name", None)
    for position, array in enumerate(data):
        if getattr(array, "_kind", None) is not NDArray:
            hint = "; as_nd_ndarray() gives one" if isinstance(array, NDArray) else ""
            raise TypeError(f"Custom: input {position} must be an NDArray, got {type(array).__name__}{hint}")
    named = {key: value for key, value in kwargs.items() if isinstance(value, NDArray)}
    texts = {key: str(value) for key, value in kwargs.items() if key not in named and value is not _Null}
    inputs = list(data)
    if named:
        own = {key: text for key, text in texts.items() if key != "op_type"}
        inputs = _placed(texts.get("op_type", ""), data, named, own)
    outputs = [] if out is None else list(out) if isinstance(out, (list, tuple)) else [out]
    for output in outputs:
        if not isinstance(output, NDArray):
            raise TypeError(f"Custom: out must be an NDArray or a list of them, got {type(output).__name__}")
    if not _operators:
        _operators.append(Operator("Custom"))
    with _backward.noting_interrupts(True):
        handles = _operators[0].run_texts([each._h for each in inputs], texts, [each._h for each in outputs])
        made = [] if outputs else [NDArray._adopt(handle) for handle in handles]
    if out is not None:
        return out
    return made if len(made) > 1 else made[0]
