"""Executors of symbols: bound to arrays of the caller, or to arrays made by inference."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mxlite._lib import LIB, c_texts, check_call
from mxlite.base import STYPE_NUMBERS, dtype_flag
from mxlite.context import Context, current_context, require_cpu
from mxlite.error import MXValueError
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import _calls
from mxlite.symbol._executor import Executor, adopted, device_lists, shape_lists

if TYPE_CHECKING:
    from mxlite.symbol.symbol import Symbol

#: How gradients are written, as C names it.
REQUESTS = {"null": 0, "write": 1, "add": 3}


def _in_order(what: str, given: Any, names: list[str], missing_allowed: bool) -> list[NDArray | None]:
    """Arrays in the order of names. Raises: ValueError: one is missing; TypeError: no arrays."""
    if isinstance(given, dict):
        for name in names:
            if name not in given and not missing_allowed:
                raise ValueError(f"key `{name}` is missing in `{what}`")
        arrays = [given.get(name) for name in names]
    elif isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError(f"bind: {what} and the arguments are not equally many")
        arrays = list(given)
    else:
        raise TypeError("bind: arrays come in a list or in a dict from names")
    if not all(isinstance(each, NDArray) or (each is None and missing_allowed) for each in arrays):
        raise TypeError("bind: arrays come in a list or in a dict from names")
    return arrays


def _handles(arrays: Sequence[NDArray | None]) -> ctypes.Array:
    return _calls.handles([0 if each is None else each._h for each in arrays])


def requests_of(grad_req: Any, names: list[str]) -> list[int]:
    """How the gradient of each argument is written. Raises: ValueError: there is no such way, or not one for each."""
    if isinstance(grad_req, str):
        listed: Iterable[str] = [grad_req] * len(names)
    elif isinstance(grad_req, dict):
        listed = [grad_req.get(name, "null") for name in names]
    elif isinstance(grad_req, (list, tuple)):
        listed = grad_req
    else:
        raise ValueError(f"grad_req must be a string, a list or a dict of strings, got {type(grad_req).__name__}")
    found = []
    for each in listed:
        if each not in REQUESTS:
            raise MXValueError(f"grad_req must be in {REQUESTS}")
        found.append(REQUESTS[each])
    if len(found) != len(names):
        raise ValueError(f"grad_req holds {len(found)} requests for {len(names)} arguments")
    return found


def bind(
    self: Symbol,
    ctx: Context | None,
    args: Any,
    args_grad: Any = None,
    grad_req: Any = "write",
    aux_states: Any = None,
    group2ctx: Any = None,
    shared_exec: Executor | None = None,
) -> Executor:
    """An executor over these arrays, which it reads and writes.

    Args:
        args: an array for each argument, as a list in the order of `list_arguments()` or a dictionary by name.
        args_grad: arrays for their gradients; those without one get none.
        grad_req: "write", "add" or "null", for all, or as a list or dictionary.
        aux_states: an array for each auxiliary state.
        group2ctx: the device of each group of nodes (attribute `ctx_group`), which the outputs say. Without it all
            arrays must be on `ctx`.
        shared_exec: an executor whose memory may be used; arrays of mxlite come from one pool, so it need not be.
    Raises: ValueError: arrays are missing; TypeError: no arrays, or no context; MXNetError: they do not fit the graph.
    """
    ctx = current_context() if ctx is None else ctx
    if not isinstance(ctx, Context):
        raise TypeError("Context type error")
    require_cpu(ctx)
    names, states = self.list_arguments(), self.list_auxiliary_states()
    arrays = _in_order("args", args, names, False)
    grads = [None] * len(names) if args_grad is None else _in_order("args_grad", args_grad, names, True)
    auxiliary = _in_order("aux_states", [] if aux_states is None else aux_states, states, False)
    requests = requests_of(grad_req, names)
    handle = ctypes.c_void_p()
    check_call(
        LIB.MXExecutorBindEX(
            self._h,
            ctx.device_typeid,
            ctx.device_id,
            *device_lists(group2ctx),
            len(arrays),
            _handles(arrays),
            _handles(grads),
            (ctypes.c_uint32 * len(requests))(*requests),
            len(auxiliary),
            _handles(auxiliary),
            None if shared_exec is None else shared_exec._h,
            ctypes.byref(handle),
        )
    )
    own = arrays, None if args_grad is None else grads, auxiliary
    return Executor(handle, self, ctx, grad_req, group2ctx, *own)


def _request_texts(grad_req: Any, names: list[str]) -> tuple[int, Any, Any]:
    """How many requests C is told, the arguments' names (None: by position, or one for all), and they."""
    requests_of(grad_req, names)
    if isinstance(grad_req, str):
        return 0, None, c_texts([grad_req])
    if isinstance(grad_req, dict):
        return len(grad_req), c_texts(grad_req), c_texts(grad_req.values())
    return len(grad_req), None, c_texts(grad_req)


class _Buffer:
    """The dictionary of arrays that executors share, as C takes and returns it."""

    def __init__(self, arrays: dict[str, NDArray] | None) -> None:
        self.arrays = arrays
        held = arrays or {}
        self.count = ctypes.c_int(-1 if arrays is None else len(held))
        self.names = c_texts(held)
        self.handles = _calls.handles([each._h for each in held.values()])
        self.new_names, self.new_handles = _calls.Texts(), _calls.Handles()

    def update(self) -> None:
        """Gives the dictionary the arrays that C returned, all by new handles."""
        if self.arrays is None:
            return
        for number in range(self.count.value):
            name = (self.new_names[number] or b"").decode()
            self.arrays[name] = NDArray._adopt(self.new_handles[number])


def simple_bind(
    self: Symbol,
    ctx: Context,
    grad_req: Any = "write",
    type_dict: dict[str, Any] | None = None,
    stype_dict: dict[str, str] | None = None,
    group2ctx: Any = None,
    shared_arg_names: Sequence[str] | None = None,
    shared_exec: Executor | None = None,
    shared_buffer: dict[str, NDArray] | None = None,
    **kwargs: tuple[int, ...],
) -> Executor:
    """An executor over arrays that are made for it: zeros, of the shapes that follow from those given.

    Args:
        grad_req: "write", "add" or "null", for all, or as a list or dictionary: who gets an array for its gradient.
        type_dict: dtypes of arguments (float32 unless they follow from others).
        stype_dict: storage types of arguments; those of variables, gradients and results follow.
        group2ctx: the device of each group of nodes (attribute `ctx_group`), which arrays and outputs say. Nodes
            without a group are on that of their first input, variables on `ctx`.
        shared_buffer: arrays by name, which are used where they are large enough, and the new ones; for arguments that
            are not shared by name. Without it nothing is shared.
        shared_arg_names: arguments that are those of `shared_exec` (all auxiliary states are), or new without one.
        kwargs: shapes by the arguments' names.
    Raises: MXNetError (a RuntimeError): shapes that do not suffice or do not fit; KeyError: another storage type.
    """
    require_cpu(ctx)
    types = {name: dtype_flag(dtype) for name, dtype in (type_dict or {}).items() if dtype is not None}
    stypes = {name: STYPE_NUMBERS[stype] for name, stype in (stype_dict or {}).items()}
    count, names, sizes, begins = shape_lists(kwargs, ctypes.c_int64)
    shared, buffer = list(shared_arg_names or ()), _Buffer(shared_buffer)
    arrays, grads, auxiliary = _calls.Handles(), _calls.Handles(), _calls.Handles()
    num_arrays, num_auxiliary, handle = ctypes.c_uint32(), ctypes.c_uint32(), ctypes.c_void_p()
    check_call(
        LIB.MXExecutorSimpleBindEx64(
            self._h,
            ctx.device_typeid,
            ctx.device_id,
            *device_lists(group2ctx),
            *_request_texts(grad_req, self.list_arguments()),
            count,
            names,
            sizes,
            begins,
            len(types),
            c_texts(types),
            (ctypes.c_int * len(types))(*types.values()),
            len(stypes),
            c_texts(stypes),
            (ctypes.c_int * len(stypes))(*stypes.values()),
            len(shared),
            c_texts(shared),
            ctypes.byref(buffer.count),
            buffer.names,
            buffer.handles,
            ctypes.byref(buffer.new_names),
            ctypes.byref(buffer.new_handles),
            ctypes.byref(num_arrays),
            ctypes.byref(arrays),
            ctypes.byref(grads),
            ctypes.byref(num_auxiliary),
            ctypes.byref(auxiliary),
            None if shared_exec is None else shared_exec._h,
            ctypes.byref(handle),
        )
    )
    buffer.update()
    count = num_arrays.value
    own = adopted(arrays, count), adopted(grads, count), adopted(auxiliary, num_auxiliary.value)
    return Executor(handle, self, ctx, grad_req, group2ctx, *own)
