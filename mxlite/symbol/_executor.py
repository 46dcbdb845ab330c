"""Executor: a symbol bound to arrays, which it runs on and writes gradients to."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from mxlite._lib import LIB, Handle, ask, c_ints, c_texts, check_call
from mxlite._public.near import did_you_mean
from mxlite.context import Context
from mxlite.error import keep_exception
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import _calls

if TYPE_CHECKING:
    from mxlite.symbol.symbol import Symbol

_MONITOR = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)


class Executor(Handle):
    """A symbol and the arrays that it runs on, for one thread at a time. `Symbol.bind`, `Symbol.simple_bind` make it.

    Attributes:
        arg_arrays, grad_arrays, aux_arrays: the arrays, in the order of the symbol's lists; None where there is none.
        outputs: the outputs' arrays, which stay the same; each `forward` writes them.
    """

    def __init__(
        self,
        handle: ctypes.c_void_p,
        symbol: Symbol,
        ctx: Context,
        grad_req: Any,
        group2ctx: Any,
        arrays: list,
        grads: list | None,
        auxiliary: list,
    ) -> None:
        self._own(handle.value, LIB.MXExecutorFree)
        self._symbol = symbol
        self._ctx = ctx
        self._grad_req = grad_req
        self._group2ctx = group2ctx
        self._monitor: Any = None
        self.arg_arrays = arrays
        self.grad_arrays = grads
        self.aux_arrays = auxiliary
        count, found = ctypes.c_uint32(), _calls.Handles()
        check_call(LIB.MXExecutorOutputs(self._h, ctypes.byref(count), ctypes.byref(found)))
        self.outputs: list[Any] = adopted(found, count.value)
        self._dicts: dict[str, dict[str, Any]] = {}

    @property
    def handle(self) -> ctypes.c_void_p:
        """The handle, for the C API. It stays this object's."""
        return ctypes.c_void_p(self._h)

    # ---- arrays by name ----

    def _by_name(self, what: str, names: Callable[[], list[str]], arrays: list | None) -> dict[str, Any]:
        known = self._dicts.get(what)
        if known is None:
            listed = names()
            if len(set(listed)) != len(listed):
                raise ValueError(f"Duplicate names detected, {listed}")
            known = self._dicts[what] = dict(zip(listed, arrays if arrays is not None else [None] * len(listed)))
        return known

    @property
    def arg_dict(self) -> dict[str, NDArray]:
        """The arguments' arrays by name. Raises: ValueError: two arguments have one name."""
        return self._by_name("arguments", self._symbol.list_arguments, self.arg_arrays)

    @property
    def grad_dict(self) -> dict[str, NDArray | None]:
        """The gradients' arrays by the arguments' names."""
        return self._by_name("gradients", self._symbol.list_arguments, self.grad_arrays)

    @property
    def aux_dict(self) -> dict[str, NDArray]:
        """The auxiliary states' arrays by name."""
        return self._by_name("states", self._symbol.list_auxiliary_states, self.aux_arrays)

    @property
    def output_dict(self) -> dict[str, NDArray]:
        """The outputs' arrays by name."""
        return self._by_name("outputs", self._symbol.list_outputs, self.outputs)

    # ---- runs ----

    def forward(self, is_train: bool = False, **kwargs: Any) -> list[NDArray]:
        """Runs the symbol.

        Args:
            is_train: whether it runs as in training, and keeps what `backward` needs.
            kwargs: values that are copied into arguments before: NDArrays or NumPy arrays.
        Returns: `outputs`.
        Raises: TypeError: there is no such argument; ValueError: no array, or of another shape.
        """
        if kwargs:
            arguments = self.arg_dict
            for name, value in kwargs.items():
                if not isinstance(value, (NDArray, np.ndarray)):
                    raise ValueError("forward: arguments are NDArrays or NumPy arrays")
                if name not in arguments:
                    raise TypeError(f"Unknown argument {name}")
                if arguments[name].shape != value.shape:
                    need, got = arguments[name].shape, value.shape
                    raise ValueError(f"forward: argument {name} has shape {need}, not {got}")
            for name, value in kwargs.items():
                arguments[name][:] = value
        check_call(LIB.MXExecutorForward(self._h, int(is_train)))
        return self.outputs

    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Writes the gradients of the last `forward(is_train=True)` to `grad_arrays`.

        Args:
            out_grads: gradients with respect to the outputs: an array, or a list or dictionary of them; losses such as
                SoftmaxOutput need none.
        Raises: TypeError: no arrays; MXNetError: they are missing or do not fit, or there was no such forward.
        """
        if out_grads is None:
            heads = []
        elif isinstance(out_grads, NDArray):
            heads = [out_grads]
        elif isinstance(out_grads, dict):
            heads = [out_grads[name] for name in self._symbol.list_outputs()]
        else:
            heads = list(out_grads)
        for each in heads:
            if not isinstance(each, NDArray):
                raise TypeError("the inputs are NDArrays")
        inside = _calls.handles([each._h for each in heads])
        check_call(LIB.MXExecutorBackwardEx(self._h, len(heads), inside, int(is_train)))

    # ---- changes ----

    def copy_params_from(
        self,
        arg_params: dict[str, NDArray],
        aux_params: dict[str, NDArray] | None = None,
        allow_extra_params: bool = False,
    ) -> None:
        """Copies values into arguments and auxiliary states.

        Raises: ValueError: there is no such argument or state, unless `allow_extra_params`.
        """
        for kind, given, here in (
            ('copy_params_from: there is no argument "{}"', arg_params, self.arg_dict),
            ("copy_params_from: there is no auxiliary state {}", aux_params or {}, self.aux_dict),
        ):
            for name, array in given.items():
                if name in here:
                    array.astype(here[name].dtype, copy=False).copyto(here[name])
                elif not allow_extra_params:
                    raise ValueError(kind.format(name) + did_you_mean(name, here))

    def reshape(self, partial_shaping: bool = False, allow_up_sizing: bool = False, **kwargs: Any) -> Executor:
        """An executor with other shapes. Arrays whose shapes stay are the same ones; one that gets no more elements
        than before, an output too, has the memory of the first elements of the old one.

        Args:
            partial_shaping: whether shapes that are not given may change. allow_up_sizing: whether arrays may grow.
        Raises: MXNetError: one of these happens without leave, or the shapes do not fit.
        """
        arrays, grads, auxiliary = (_calls.Handles() for _ in range(3))
        num_arrays, num_auxiliary, handle = ctypes.c_uint32(), ctypes.c_uint32(), ctypes.c_void_p()
        check_call(
            LIB.MXExecutorReshapeEx(
                int(partial_shaping),
                int(allow_up_sizing),
                self._ctx.device_typeid,
                self._ctx.device_id,
                *device_lists(self._group2ctx),
                *shape_lists(kwargs, ctypes.c_int),
                ctypes.byref(num_arrays),
                ctypes.byref(arrays),
                ctypes.byref(grads),
                ctypes.byref(num_auxiliary),
                ctypes.byref(auxiliary),
                self._h,
                ctypes.byref(handle),
            )
        )
        count = num_arrays.value
        own = adopted(arrays, count), adopted(grads, count), adopted(auxiliary, num_auxiliary.value)
        return Executor(handle, self._symbol, self._ctx, self._grad_req, self._group2ctx, *own)

    # ---- looks inside ----

    def set_monitor_callback(self, callback: Callable[[Any, Any], Any], monitor_all: bool = False) -> None:
        """Calls `callback(name, handle)` with every array that is computed, and its name as bytes; after a backward
        with the gradients of each node's inputs, the last node's first, as "fc1_backward_output0".

        The handle is the callback's own: `NDArray(handle)` frees it. `monitor_all`: inputs too.
        """

        def call(name: bytes, array: int, _: Any) -> None:
            try:
                callback(name, array)
            except BaseException as error:  # noqa: BLE001 - raised when C has returned
                keep_exception(error)

        self._monitor = _MONITOR(call)
        check_call(LIB.MXExecutorSetMonitorCallbackEX(self._h, self._monitor, None, monitor_all))

    def debug_str(self) -> str:
        """The nodes as text, one after another."""
        return _calls.text_of(LIB.MXExecutorPrint, self._h)

    def get_optimized_symbol(self) -> Symbol:
        """The symbol that it runs."""
        return type(self._symbol)(ask(ctypes.c_void_p, LIB.MXExecutorGetOptimizedSymbol, self._h))


def shape_lists(shapes: dict[str, Any], number: Any) -> tuple[int, Any, Any, Any]:
    """Shapes by name as C takes them: how many, names, sizes of a type, and where each shape begins in them."""
    given = {name: shape for name, shape in shapes.items() if isinstance(shape, (tuple, list))}
    sizes = [int(size) for shape in given.values() for size in shape]
    ends = [0]
    for shape in given.values():
        ends.append(ends[-1] + len(shape))
    begins = (ctypes.c_uint32 * len(ends))(*ends)
    return len(given), c_texts(given), c_ints(number, sizes), begins


def device_lists(group2ctx: dict[str, Context] | None) -> tuple[int, Any, Any, Any]:
    """Devices of groups as C takes them: how many, the groups' names, the devices' types and numbers."""
    given = group2ctx or {}
    types, numbers = ([getattr(each, what) for each in given.values()] for what in ("device_typeid", "device_id"))
    return len(given), c_texts(given), (ctypes.c_int * len(given))(*types), (ctypes.c_int * len(given))(*numbers)


def adopted(handles: Any, count: int) -> list[NDArray | None]:
    """Arrays of a lent list of new handles, None where it has none."""
    return [NDArray._adopt(handles[i]) if handles[i] else None for i in range(count)]
