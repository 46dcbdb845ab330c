"""The graph that is recorded, node by node: what a node is called, where its gradients go, hooks on nodes and arrays.

One class of nodes serves both front ends; a `Style` says how each makes arrays of handles. A node is the same Python
object for as long as anyone holds it.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any, Callable

from mxlite import _backward, error
from mxlite._lib import LIB, check_call, last_error


class Style:
    """A front end, as far as what both share needs it.

    Args:
        adopt: Makes an array of a new handle.
        array_class: The class of arrays.
        names: What names of the library's are called there.
    """

    #: MXL_DIALECT_*, and the module that contexts of functions are said to be of.
    dialect = 0
    module = "builtins"
    #: What is raised where there is nothing more special.
    error: type[Exception] = error.MXNetError

    def __init__(self, adopt: Callable[[int], Any], array_class: type, names: dict[str, str]) -> None:
        self.adopt = adopt
        self.array_class = array_class
        self.names = names

    def last_error(self) -> BaseException:
        """The exception for the library's last failure."""
        return last_error()

    def is_recording(self) -> bool:
        """Whether this thread records."""
        raise NotImplementedError

    def set_recording(self, flag: bool) -> bool:
        """Switches recording for this thread; what it was before."""
        raise NotImplementedError

    def set_training(self, flag: bool) -> bool:
        """Switches training for this thread, where there is such a thing; what it was before."""
        return flag

    def values(self, array: Any) -> Any:
        """A NumPy array with a copy of the elements."""
        raise NotImplementedError

    def array(self, values: Any) -> Any:
        """An array with a copy of the elements of a NumPy array, of its dtype."""
        raise NotImplementedError

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array of zeros."""
        raise NotImplementedError

    def cast(self, array: Any, dtype: Any) -> Any:
        """The array with that dtype: itself where it has it."""
        raise NotImplementedError

    def alias(self, array: Any) -> Any:
        """The same memory in another object; recorded where recording is on."""
        raise NotImplementedError

    def stack(self, arrays: list) -> Any:
        """Arrays of one shape side by side along a new first axis."""
        raise NotImplementedError

    def is_floating(self, array: Any) -> bool:
        """Whether the dtype is a floating one."""
        raise NotImplementedError

    def released(self) -> Exception:
        """The error of a function's saved arrays that a backward has released."""
        return self.error("the saved arrays of this function have been released by an earlier backward")

    def edited(self, array: Any, node: Node | None, output: int, version: int, expected: int) -> Exception:
        """The error of an array that was written to after a function saved it; `node`: what made it."""
        maker = "" if node is None else f", which is output {output} of {node.name()},"
        return self.error(
            f"a saved array of shape {array.shape}{maker} was written to after it was saved for backward: it is at "
            f"version {version}, expected version {expected}"
        )


#: Variables that Python holds, by the library's number for the array: `node.variable` is the user's own object.
_variables: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_nodes: weakref.WeakValueDictionary[int, Node] = weakref.WeakValueDictionary()
_classes: dict[tuple[str, str], type] = {}


def array_id(handle: int) -> int:
    """A number that all handles of one array share."""
    number = ctypes.c_uint64()
    check_call(LIB.MXLNDArrayGetId(handle, ctypes.byref(number)))
    return number.value


def register_variable(array: Any) -> None:
    """Makes `array` the object that `variable` of its node gives."""
    _variables[array_id(array._h)] = array


def variable_for(handle: int, style: Style) -> Any:
    """The user's object for a new handle of a variable; one is made where there is none."""
    number = array_id(handle)
    known = _variables.get(number)
    if known is not None:
        check_call(LIB.MXNDArrayFree(handle))
        return known
    made = _variables[number] = style.adopt(handle)
    return made


def edge_of(handle: int) -> tuple[int, int]:
    """Where the gradient of an array goes: a new handle of a node (0: nowhere) and the output's number."""
    node, output = ctypes.c_void_p(), ctypes.c_int()
    check_call(LIB.MXLNDArrayGetEdge(handle, ctypes.byref(node), ctypes.byref(output)))
    return node.value or 0, output.value


def node_for(handle: int, style: Style) -> Node:
    """The node of a new handle, which is the node's from then on."""
    number = ctypes.c_uint64()
    check_call(LIB.MXLNodeGetId(handle, ctypes.byref(number)))
    known = _nodes.get(number.value)
    if known is not None:
        check_call(LIB.MXLNodeFree(handle))
        return known
    name = ctypes.c_char_p()
    check_call(LIB.MXLNodeGetName(handle, ctypes.byref(name)))
    text, module = (name.value or b"").decode(), ""
    context = _context(handle)
    if context is not None:
        kind = type(context)
        text, module = getattr(kind, "_node_name", text), getattr(kind, "_node_module", "builtins")
    node = object.__new__(_class_named(text, module))
    node._handle, node._style = handle, style
    _nodes[number.value] = node
    return node


class _Metadata(dict):
    """What is kept beside a node: a dictionary of the user's, and of a function's node its context."""

    context: Any = None


def _payload(handle: int) -> Any:
    """What is kept beside a node: its metadata, or the instance of a function that is called once; None."""
    payload = ctypes.c_void_p()
    check_call(LIB.MXLNodeGetPayload(handle, ctypes.byref(payload)))
    return _backward.recorded.get(payload.value) if payload.value else None


def _context(handle: int) -> Any:
    found = _payload(handle)
    return found.context if isinstance(found, _Metadata) else found


def _kept_metadata(handle: int) -> _Metadata:
    """The node's metadata, made where it has none."""
    found = _payload(handle)
    if not isinstance(found, _Metadata):
        metadata = _Metadata()
        metadata.context = found
        set_metadata(handle, metadata)
        return metadata
    return found


def _class_named(name: str, module: str) -> type:
    """The class of the nodes of that name, so that they print as `<AddBackward0 object at 0x...>`."""
    known = _classes.get((name, module))
    if known is None:
        known = type(name, (Node,), {"__slots__": (), "__module__": module or "builtins"})
        _classes[name, module] = known
    return known


class Node:
    """A node of the graph: an operator that was recorded, or the place where a variable's gradient is added up."""

    __slots__ = ("_handle", "_style", "__weakref__")

    def __new__(cls, *_: Any, **__: Any) -> Node:
        raise TypeError("nodes are made by recording")

    def __del__(self) -> None:
        LIB.MXLNodeFree(self._handle)

    def __repr__(self) -> str:
        kind = type(self)
        place = "" if kind.__module__ == "builtins" else kind.__module__ + "."
        return f"<{place}{kind.__name__} object at {id(self):#x}>"

    def is_accumulating(self) -> bool:
        """Whether the node is where a variable's gradient is added up."""
        return type(self).__name__ == "AccumulateGrad"

    def name(self) -> str:
        """What the node is called: "AddBackward0"."""
        name = type(self).__name__
        return self._style.names.get(name, name)

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Where the gradients of the node's inputs go: (node, output number) each; (None, 0) is nowhere."""
        count = ctypes.c_int()
        check_call(LIB.MXLNodeGetNumInputs(self._handle, ctypes.byref(count)))
        return tuple(map(self._input, range(count.value)))

    def _input(self, index: int) -> tuple[Node | None, int]:
        handle, output = ctypes.c_void_p(), ctypes.c_int()
        check_call(LIB.MXLNodeGetInput(self._handle, index, ctypes.byref(handle), ctypes.byref(output)))
        if not handle.value:
            return None, 0
        return node_for(handle.value, self._style), output.value

    @property
    def variable(self) -> Any:
        """The variable that gradients are added up for.

        Raises: AttributeError: the node is an operator's.
        """
        if not self.is_accumulating():
            raise AttributeError(f"'{type(self).__name__}' object has no attribute 'variable'")
        handle = ctypes.c_void_p()
        check_call(LIB.MXLNodeGetVariable(self._handle, ctypes.byref(handle)))
        return variable_for(handle.value, self._style)

    @property
    def metadata(self) -> dict:
        """A dictionary of the user's, kept as long as the node."""
        return _kept_metadata(self._handle)

    def __getattr__(self, name: str) -> Any:
        # A function's node has what its forward left in the context.
        context = _context(self._handle)
        if context is None or name.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(context, name)

    @property
    def saved(self) -> tuple[Any, ...]:
        """The arrays that the node keeps for its backward; none once it is released. They lead nowhere.

        Raises: MXNetError or RuntimeError: one was edited since.
        """
        count, array = ctypes.c_int(), ctypes.c_void_p()
        if self.is_accumulating():
            return ()
        check_call(LIB.MXLNodeGetNumSaved(self._handle, ctypes.byref(count)))
        arrays = []
        for index in range(count.value):
            check_call(LIB.MXLNodeGetSaved(self._handle, index, ctypes.byref(array), None, None, None))
            arrays.append(self._style.adopt(array.value or 0))
        return tuple(arrays)

    def _sequence_nr(self) -> int:
        number = ctypes.c_uint64()
        check_call(LIB.MXLNodeGetSequence(self._handle, ctypes.byref(number)))
        return number.value

    def register_hook(self, fn: Callable) -> RemovableHandle:
        """Calls fn(grad_inputs, grad_outputs) when the node has run; what it returns takes the place of grad_inputs.

        Returns: a handle whose `remove()` takes the hook away.
        """
        return _add(LIB.MXLNodeAddHook, self._handle, ON_NODE, (fn, self._style))

    def register_prehook(self, fn: Callable) -> RemovableHandle:
        """Calls fn(grad_outputs) before the node runs; what it returns takes their place."""
        return _add(LIB.MXLNodeAddPreHook, self._handle, ON_PREPARE, (fn, self._style))


class RemovableHandle:
    """A hook that was registered; as a with-block it is removed at the end."""

    __slots__ = ("_handle", "__weakref__")

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def remove(self) -> None:
        """Takes the hook away; nothing happens where it is gone already."""
        handle, self._handle = self._handle, 0
        if handle:
            check_call(LIB.MXLHookRemove(handle))

    def __del__(self) -> None:
        if self._handle:
            LIB.MXLHookFree(self._handle)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


# ---- Python functions that the library calls ----


def set_metadata(handle: int, metadata: dict) -> None:
    """Keeps a dictionary beside a node, as long as that lives."""
    check_call(LIB.MXLNodeSetPayload(handle, keep(metadata), RELEASE))


def set_context(handle: int, context: Any) -> None:
    """Makes `context` what a function's node takes its attributes from."""
    _kept_metadata(handle).context = context


def set_function(array: int, number: int) -> None:
    """Makes the function of that number, which lives as long as its node, what the node takes its attributes from.

    Args:
        array: The handle of an output; nothing happens where it has no node.
    """
    handle, _ = edge_of(array)
    if not handle:
        return
    found = _payload(handle)
    if found is None:
        check_call(LIB.MXLNodeSetPayload(handle, number, None))
    else:
        found.context = _backward.recorded[number]
    LIB.MXLNodeFree(handle)


def keep(thing: Any) -> int:
    """A number for something that the library holds, as a payload, until it releases it."""
    number = next(_backward.numbers)
    _backward.recorded[number] = thing
    return number


def _add(register: Callable, handle: int, callback: Any, thing: Any, *arguments: Any) -> RemovableHandle:
    number = keep(thing)
    hook = ctypes.c_void_p()
    if register(handle, callback, *arguments, number, RELEASE, ctypes.byref(hook)) != 0:
        problem = last_error()
        _backward.recorded.pop(number, None)
        raise problem
    return RemovableHandle(hook.value or 0)


def add_array_hook(array: Any, fn: Callable, style: Style, last: bool = False) -> RemovableHandle:
    """Calls fn(grad) when the gradient of an array has arrived; what it returns takes the gradient's place."""
    return _add(LIB.MXLNDArrayAddHook, array._h, ON_ARRAY, (fn, style), int(last))


def add_accumulated_hook(variable: Any, fn: Callable, style: Style) -> RemovableHandle:
    """Calls fn(variable) when a backward has added to the variable's gradient."""
    return _add(LIB.MXLNDArrayAddAccumulatedHook, variable._h, ON_ACCUMULATED, (fn, style))


def _arrays(style: Style, count: int, handles: Any) -> tuple:
    return tuple(style.adopt(handles[i]) if handles[i] else None for i in range(count))


def give(style: Style, value: Any, results: Any, index: int) -> None:
    """Hands an array to the library as a result: a new handle of it."""
    if value is None:
        return
    if not isinstance(value, style.array_class):
        raise TypeError(f"hooks must return an array or None, got {type(value).__name__}")
    results[index] = share(value._h)


def share(handle: int) -> int:
    """A new handle of the same array."""
    made = ctypes.c_void_p()
    check_call(LIB.MXShallowCopyNDArray(handle, ctypes.byref(made)))
    return made.value


def _call(number: int, work: Callable) -> int:
    """Runs `work` on what the number stands for; -1 with the exception kept."""
    try:
        with _backward.allowing_interrupts():
            work(*_backward.recorded[number])
        return 0
    except BaseException as problem:
        error.keep_exception(problem)
        return -1


_HANDLES = ctypes.POINTER(ctypes.c_void_p)
_P, _I = ctypes.c_void_p, ctypes.c_int
GRAD_HOOK = ctypes.CFUNCTYPE(_I, _P, _I, _HANDLES, _HANDLES)
NODE_HOOK = ctypes.CFUNCTYPE(_I, _P, _I, _HANDLES, _I, _HANDLES, _HANDLES)
VARIABLE_HOOK = ctypes.CFUNCTYPE(_I, _P, _P)
CALLBACK = ctypes.CFUNCTYPE(_I, _P)


@GRAD_HOOK
def ON_ARRAY(number: int, count: int, grads: Any, results: Any) -> int:  # noqa: N802 - it is a constant
    """A gradient of an array has arrived."""

    def work(fn: Callable, style: Style) -> None:
        (grad,) = _arrays(style, count, grads)
        give(style, fn(grad), results, 0)

    return _call(number, work)


@GRAD_HOOK
def ON_PREPARE(number: int, count: int, grads: Any, results: Any) -> int:  # noqa: N802
    """A node is about to run."""

    def work(fn: Callable, style: Style) -> None:
        _give_all(style, fn(_arrays(style, count, grads)), results, count)

    return _call(number, work)


@NODE_HOOK
def ON_NODE(number: int, inputs: int, in_grads: Any, outputs: int, out_grads: Any, results: Any) -> int:  # noqa: N802
    """A node has run."""

    def work(fn: Callable, style: Style) -> None:
        given = _arrays(style, inputs, in_grads), _arrays(style, outputs, out_grads)
        _give_all(style, fn(*given), results, inputs)

    return _call(number, work)


def _give_all(style: Style, returned: Any, results: Any, count: int) -> None:
    if returned is None:
        return
    values = returned if isinstance(returned, (tuple, list)) else (returned,)
    if len(values) != count:
        raise RuntimeError(f"a hook on a node must return {count} gradients, it returned {len(values)}")
    for index, value in enumerate(values):
        give(style, value, results, index)


@VARIABLE_HOOK
def ON_ACCUMULATED(number: int, variable: int) -> int:  # noqa: N802
    """A variable's gradient was added to."""

    def work(fn: Callable, style: Style) -> None:
        if fn(variable_for(variable, style)) is not None:
            raise RuntimeError("post accumulate grad hooks should return None.")

    return _call(number, work)


@CALLBACK
def ON_END(number: int) -> int:  # noqa: N802
    """A backward that a function was queued in has come to its end."""
    return _call(number, lambda fn: fn())


#: The library lets a payload go.
RELEASE = ctypes.CFUNCTYPE(None, _P)(_backward.recorded.__delitem__)

# The library may call them for as long as it holds a payload, which can be longer than this module lives.
for _callback in (ON_ARRAY, ON_PREPARE, ON_NODE, ON_ACCUMULATED, ON_END, RELEASE):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_callback))


# ---- backward ----


class _Options(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int)
        for name in ("keep_graph", "create_graph", "allow_unreachable", "accumulate_grad", "training", "dialect")
    ]


def run_backward(
    roots: list[tuple[int, int]],
    head_grads: list[int | None],
    inputs: list[tuple[int, int]],
    *,
    keep_graph: bool,
    create_graph: bool,
    allow_unreachable: bool,
    accumulate_grad: bool,
    training: bool,
    dialect: int,
    problem: Callable[[], BaseException] = last_error,
) -> list[int | None]:
    """Runs backward from edges; handles of nodes stay the caller's.

    Args:
        head_grads: The roots' gradients; None: ones.
        inputs: The edges whose gradients are wanted; none: those of all variables.
        problem: What makes an exception of the library's error.
    Returns: a new handle for each of `inputs` (None where nothing arrived), unless they are accumulated.
    """
    nodes, outputs = _edges(roots)
    wanted, wanted_outputs = _edges(inputs)
    results = (_P * max(1, len(inputs)))()
    flags = (keep_graph, create_graph, allow_unreachable, accumulate_grad, training)
    options = _Options(*map(int, flags), dialect)
    with _backward.noting_interrupts():
        status = LIB.MXLBackward(
            len(roots),
            nodes,
            outputs,
            (_P * len(head_grads))(*head_grads),
            ctypes.byref(options),
            len(inputs),
            wanted,
            wanted_outputs,
            results,
        )
        made = list(results)[: len(inputs)] if status == 0 else []
    if status != 0:
        raise _backward.failed(problem())
    return made


def _edges(edges: list[tuple[int, int]]) -> tuple[Any, Any]:
    count = max(1, len(edges))
    return (_P * count)(*(node for node, _ in edges)), (_I * count)(*(output for _, output in edges))


class Edge:
    """Where a gradient goes: a node, and which of its outputs."""

    __slots__ = ("node", "output_nr")

    def __init__(self, node: Node, output_nr: int) -> None:
        self.node, self.output_nr = node, output_nr

    def __iter__(self) -> Any:
        return iter((self.node, self.output_nr))


# They need what stands above.
from mxlite.autograd._drawing import draw, summary, to_dot  # noqa: E402, F401
from mxlite.autograd._symbol_json import to_json  # noqa: E402, F401
