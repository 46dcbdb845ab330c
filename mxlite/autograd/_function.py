"""autograd.Function: functions with a gradient of the user's own."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Iterable
from typing import Any

from mxlite import _backward, error
from mxlite._lib import LIB, hot, last_error
from mxlite.autograd import _graph as graph
from mxlite.autograd import _static
from mxlite.autograd._gradients import array_list, handles_of
from mxlite.autograd._nodes import Saved
from mxlite.error import MXNetError
from mxlite.ndarray._gradient import FRONT_END, GRAD_REQS
from mxlite.ndarray.ndarray import NDArray


class _CallbackList(ctypes.Structure):
    _fields_ = [
        ("num_callbacks", ctypes.c_int),
        ("callbacks", ctypes.POINTER(ctypes.c_void_p)),
        ("contexts", ctypes.POINTER(ctypes.c_void_p)),
    ]


class Function:
    """A function with a gradient of its own. Subclass it, and give it forward and backward:

        class Sigmoid(mx.autograd.Function):
            def forward(self, x):
                y = 1 / (1 + mx.nd.exp(-x))
                self.save_for_backward(y)
                return y

            def backward(self, dy):
                y, = self.saved_tensors
                return dy * y * (1 - y)

        y = Sigmoid()(x)

    forward takes and returns NDArrays, one or a tuple of them, which must be new; it runs unrecorded. backward takes a
    gradient for each output and returns one for each input; made of recorded operators, it can be differentiated
    again. An instance is called once.

    A subclass in PyTorch's style has a static forward(ctx, ...) and backward(ctx, ...), maybe setup_context, and is
    called by `apply`; there arguments may be anything, and gradients None.
    """

    # `*inputs: Any, **_: Any` is how a type checker lets a subclass name its own arguments.
    _called = False
    _to_save: tuple[NDArray, ...] = ()
    _saved: tuple[Saved, ...] | None = None
    #: What nodes of the class are called.
    _node_name = "FunctionBackward"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._node_name = f"{cls.__name__}Backward"

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Runs the static forward of a subclass in PyTorch's style, and records it where a gradient flows to one of
        `args`.

        Raises: TypeError: the class has no static forward.
        """
        if not _has_static_forward(cls):
            raise TypeError(f"{cls.__name__}.apply: forward is no staticmethod; call {cls.__name__}()(...)")
        return _static.apply(FRONT_END, cls, args, kwargs)

    def forward(self, *inputs: Any, **_: Any) -> Any:
        """The outputs for `inputs`."""
        raise NotImplementedError(f"{type(self).__name__} has no forward: a Function defines forward and backward")

    @_static.default
    def backward(self, *output_grads: Any, **_: Any) -> Any:
        """The gradients of the inputs for those of the outputs."""
        raise NotImplementedError(f"{type(self).__name__} has no backward: a Function defines forward and backward")

    def save_for_backward(self, *args: NDArray) -> None:
        """Keeps inputs or outputs for backward, where `saved_tensors` gives them back."""
        self._to_save = tuple(array_list(args, "what save_for_backward keeps"))

    @property
    def saved_tensors(self) -> tuple[NDArray, ...]:
        """What save_for_backward was given.

        Raises: MXNetError: an array was written to since.
        """
        if self._saved is None:
            return self._to_save
        return tuple(each.get() for each in self._saved)

    def __call__(self, *inputs: NDArray) -> Any:
        """Runs forward, and records it where recording is on."""
        if _has_static_forward(type(self)):
            raise TypeError(f"{type(self).__name__} has a static forward; call {type(self).__name__}.apply(...)")
        if self._called:
            raise MXNetError("Each Function instance can only be called once. Please create another instance.")
        self._called = True
        arrays = array_list(inputs, f"inputs of {type(self).__name__}")
        recording = hot.set_recording(0)
        try:
            outputs = self.forward(*inputs)
        finally:
            hot.set_recording(recording)
        if not recording:
            return outputs
        made = array_list(outputs, f"outputs of {type(self).__name__}")
        self._save(made)
        _record(self, arrays, made)
        return outputs

    def _save(self, outputs: list[NDArray]) -> None:
        numbers = {id(output): number for number, output in enumerate(outputs)}
        name = type(self).__name__
        self._saved = tuple(Saved(FRONT_END, array, numbers.get(id(array), -1), name) for array in self._to_save)
        self._to_save = ()


def _has_static_forward(cls: type) -> bool:
    return isinstance(inspect.getattr_static(cls, "forward"), (staticmethod, classmethod))


_recorded = _backward.recorded


def _record(function: Function, inputs: list[NDArray], outputs: list[NDArray]) -> None:
    number = next(_backward.numbers)
    callbacks = (ctypes.c_void_p * 2)(
        ctypes.cast(_on_backward, ctypes.c_void_p).value, ctypes.cast(_on_delete, ctypes.c_void_p).value
    )
    contexts = (ctypes.c_void_p * 2)(number, number)
    table = _CallbackList(2, callbacks, contexts)  # not by ctypes.cast(), whose results are in a cycle
    _recorded[number] = function
    status = LIB.MXCustomFunctionRecord(
        len(inputs), handles_of(inputs), len(outputs), handles_of(outputs), ctypes.byref(table)
    )
    if status != 0:
        problem = last_error()
        _recorded.pop(number, None)
        raise problem
    if number in _recorded:  # not where no gradient flows to an input
        graph.set_function(outputs[0]._h, number)


def _fill(function: Function, results: Any, gradients: list[NDArray], requests: list[int]) -> None:
    """Writes what a function's backward returned into the library's arrays."""
    name = type(function).__name__
    several = isinstance(results, Iterable) and not isinstance(results, NDArray)
    given = list(results) if several else [results]
    if len(given) != len(gradients):
        raise ValueError(f"{name}.backward returned {len(given)} gradients for {len(gradients)} inputs")
    for position, (result, gradient, request) in enumerate(zip(given, gradients, requests)):
        if request == 0:
            continue
        if not isinstance(result, NDArray):
            raise TypeError(f"{name}.backward: gradient {position} must be an NDArray, got {type(result).__name__}")
        if result.shape != gradient.shape:
            raise ValueError(
                f"{name}.backward: gradient {position} has shape {result.shape}, its input has {gradient.shape}"
            )
        if request == GRAD_REQS["add"]:
            gradient += result
        else:
            gradient[...] = result


@ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_int),
    ctypes.c_int,
    ctypes.c_void_p,
)
def _on_backward(heads: int, inputs: int, handles: Any, requests: Any, train: int, number: int) -> int:
    """The library's call for the gradients of a recorded function. 1, or 0 with the exception kept."""
    try:
        arrays = [NDArray._adopt(handles[i]) for i in range(heads + inputs)]
        with _backward.allowing_interrupts():
            function = _recorded[number]
            results = function.backward(*arrays[:heads])
            _fill(function, results, arrays[heads:], [requests[i] for i in range(inputs)])
        return 1
    except BaseException as problem:
        error.keep_exception(problem)
        return 0


# No Python code of ours: taking the function out of the table is all there is to do, and nothing in it can be lost.
_on_delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_recorded.__delitem__)

# The library may call them for as long as it holds a recorded function, which can be longer than this module lives.
for _callback in (_on_backward, _on_delete):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_callback))
