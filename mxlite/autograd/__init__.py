"""`mx.autograd`: recording, backward, gradients of gradients, and functions with a gradient of the user's own."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

from mxlite import _backward, error
from mxlite._lib import LIB, check_call, hot, last_error
from mxlite.error import MXNetError, MXNotImplementedError
from mxlite.ndarray.ndarray import _GRAD_REQS, NDArray

__all__ = [
    "Function",
    "backward",
    "get_symbol",
    "grad",
    "is_recording",
    "is_training",
    "mark_variables",
    "pause",
    "predict_mode",
    "record",
    "set_recording",
    "set_training",
    "train_mode",
]


# ---- the thread's flags ----


def is_recording() -> bool:
    """Whether this thread records operators."""
    flag = ctypes.c_bool()
    check_call(LIB.MXAutogradIsRecording(ctypes.byref(flag)))
    return flag.value


def is_training() -> bool:
    """Whether this thread runs operators as in training (Dropout drops)."""
    flag = ctypes.c_bool()
    check_call(LIB.MXAutogradIsTraining(ctypes.byref(flag)))
    return flag.value


def set_recording(is_recording: bool) -> bool:
    """Switches recording for this thread; what it was before."""
    return bool(hot.set_recording(bool(is_recording)))


def set_training(train_mode: bool) -> bool:
    """Switches training for this thread; what it was before."""
    return bool(hot.set_training(bool(train_mode)))


class _Scope:
    """A with-block that sets the thread's flags (None leaves one alone) and puts them back, however it ends."""

    __slots__ = ("_recording", "_training", "_before")

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._recording = recording
        self._training = training
        self._before: list[tuple[int | None, int | None]] = []

    def __enter__(self) -> None:
        recording = None if self._recording is None else hot.set_recording(self._recording)
        training = None if self._training is None else hot.set_training(self._training)
        self._before.append((recording, training))

    def __exit__(self, *_: object) -> None:
        recording, training = self._before.pop()
        if recording is not None:
            hot.set_recording(recording)
        if training is not None:
            hot.set_training(training)


def record(train_mode: bool = True) -> _Scope:
    """A with-block whose operators are recorded, in training mode unless `train_mode` is False."""
    return _Scope(True, bool(train_mode))


def pause(train_mode: bool = False) -> _Scope:
    """A with-block, within record(), whose operators are not recorded."""
    return _Scope(False, bool(train_mode))


def train_mode() -> _Scope:
    """A with-block in training mode; recording stays as it is."""
    return _Scope(None, True)


def predict_mode() -> _Scope:
    """A with-block out of training mode; recording stays as it is."""
    return _Scope(None, False)


# ---- variables and backward ----


def _list(value: Any, what: str) -> list[NDArray]:
    arrays = list(value) if isinstance(value, Iterable) and not isinstance(value, NDArray) else [value]
    for array in arrays:
        if not isinstance(array, NDArray):
            raise TypeError(f"{what} must be NDArrays, got {type(array).__name__}")
    return arrays


def _handles(arrays: Iterable[NDArray | None]) -> ctypes.Array:
    return _backward.handle_array(_numbers_of(arrays))


def _numbers_of(arrays: Iterable[NDArray | None]) -> list[int | None]:
    return [None if array is None else array._h for array in arrays]


def mark_variables(
    variables: NDArray | list[NDArray], gradients: NDArray | list[NDArray], grad_reqs: str | list[str] = "write"
) -> None:
    """Makes arrays variables whose gradients go to the given arrays, of the same shapes and dtypes.

    Args:
        grad_reqs: "write", "add" or "null"; one for all, or a list.
    Raises: KeyError (an unknown request), ValueError (lists of different lengths), MXNetError (shapes, dtypes).
    """
    variables, gradients = _list(variables, "variables"), _list(gradients, "gradients")
    requests = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(variables) == len(gradients) == len(requests):
        raise ValueError(
            f"mark_variables: {len(variables)} variables, {len(gradients)} gradients and {len(requests)} requests"
        )
    numbers = (ctypes.c_uint32 * len(requests))(*(_GRAD_REQS[request] for request in requests))
    check_call(LIB.MXAutogradMarkVariables(len(variables), _handles(variables), numbers, _handles(gradients)))


def _heads(heads: Any, head_grads: Any) -> tuple[list[int], list[int | None] | None]:
    arrays = _list(heads, "heads")
    if head_grads is None:
        return _numbers_of(arrays), None
    grads = [head_grads] if isinstance(head_grads, NDArray) else list(head_grads)
    if len(grads) != len(arrays):
        raise ValueError(f"heads and head_grads must be lists of the same length, got {len(arrays)} and {len(grads)}")
    for grad in grads:
        if grad is not None and not isinstance(grad, NDArray):
            raise TypeError(f"head_grads must be NDArrays or None, got {type(grad).__name__}")
    return _numbers_of(arrays), _numbers_of(grads)


def backward(
    heads: NDArray | list[NDArray],
    head_grads: NDArray | list[NDArray | None] | None = None,
    retain_graph: bool = False,
    train_mode: bool = True,
) -> None:
    """Computes the gradients of `heads` into the buffers of the variables they were recorded from.

    Args:
        head_grads: gradients of the heads, of their shapes and dtypes; None: ones.
        retain_graph: whether the graph can be used again.
        train_mode: the training flag meanwhile.
    """
    numbers, grads = _heads(heads, head_grads)
    _backward.backward(numbers, grads, [], retain_graph, False, train_mode)


def grad(
    heads: NDArray | list[NDArray],
    variables: NDArray | list[NDArray],
    head_grads: NDArray | list[NDArray | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> list[NDArray]:
    """The gradients of `heads` with respect to `variables`, as a list of new arrays; no buffer is touched.

    Args:
        head_grads: gradients of the heads, of their shapes and dtypes; None: ones.
        retain_graph: whether the graph can be used again; None: as `create_graph`.
        create_graph: whether the gradients are recorded themselves, to be differentiated again.
        train_mode: the training flag meanwhile.
    Raises: ValueError (no variables), MXNetError (a variable that the heads do not reach).
    """
    numbers, grads = _heads(heads, head_grads)
    wanted = _list(variables, "variables")
    if not wanted:
        raise ValueError("variables cannot be an empty list.")
    retain = create_graph if retain_graph is None else retain_graph
    results = _backward.backward(numbers, grads, _numbers_of(wanted), retain, create_graph, train_mode)
    return [NDArray._adopt(result) for result in results]


def get_symbol(x: NDArray) -> None:
    """The graph as a Symbol: not supported yet.

    Raises: NotImplementedError (and MXNetError), always.
    """
    raise MXNotImplementedError("autograd.get_symbol is not supported yet: mxlite has no symbols")


# ---- functions with a gradient of their own ----


class _CallbackList(ctypes.Structure):
    _fields_ = [
        ("num_callbacks", ctypes.c_int),
        ("callbacks", ctypes.POINTER(ctypes.c_void_p)),
        ("contexts", ctypes.POINTER(ctypes.c_void_p)),
    ]


class _Saved:
    """A saved array, the version it had, and which output of its function it is (-1: none of them)."""

    __slots__ = ("array", "version", "output")

    def __init__(self, array: NDArray) -> None:
        self.array = array
        self.version = _version(array)
        self.output = -1


def _version(array: NDArray) -> int:
    version = ctypes.c_uint64()
    check_call(LIB.MXLNDArrayGetVersion(array._h, ctypes.byref(version)))
    return version.value


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
    """

    # `*inputs: Any, **_: Any` is how a type checker lets a subclass name its own arguments.
    _called = False
    _saved: tuple[_Saved, ...] = ()

    def forward(self, *inputs: Any, **_: Any) -> Any:
        """The outputs for `inputs`."""
        raise NotImplementedError(f"{type(self).__name__}.forward")

    def backward(self, *output_grads: Any, **_: Any) -> Any:
        """The gradients of the inputs for those of the outputs."""
        raise NotImplementedError(f"{type(self).__name__}.backward")

    def save_for_backward(self, *args: NDArray) -> None:
        """Keeps inputs or outputs for backward, where `saved_tensors` gives them back."""
        self._saved = tuple(_Saved(array) for array in _list(args, "what save_for_backward keeps"))

    @property
    def saved_tensors(self) -> tuple[NDArray, ...]:
        """What save_for_backward was given.

        Raises: MXNetError: an array was written to since.
        """
        for position, saved in enumerate(self._saved):
            if _version(saved.array) != saved.version:
                raise MXNetError(
                    f"{type(self).__name__}: saved array {position} was written to after it was saved for backward"
                )
        return tuple(_attached(saved) for saved in self._saved)

    def __call__(self, *inputs: NDArray) -> Any:
        """Runs forward, and records it where recording is on."""
        if self._called:
            raise MXNetError("Each Function instance can only be called once. Please create another instance.")
        self._called = True
        arrays = _list(inputs, f"inputs of {type(self).__name__}")
        recording = hot.set_recording(0)
        try:
            outputs = self.forward(*inputs)
        finally:
            hot.set_recording(recording)
        if not recording:
            return outputs
        made = _list(outputs, f"outputs of {type(self).__name__}")
        self._detach_saved_outputs(made)
        _record(self, arrays, made)
        return outputs

    def _detach_saved_outputs(self, outputs: list[NDArray]) -> None:
        """A saved output is kept without its place, or the recorded function would keep itself alive."""
        for saved in self._saved:
            for number, output in enumerate(outputs):
                if saved.array is output:
                    saved.output = number
                    saved.array = output.detach()


def _attached(saved: _Saved) -> NDArray:
    """A saved array as backward sees it: an output has its place in the graph again."""
    if saved.output < 0:
        return saved.array
    handle = LIB.MXLCustomFunctionOutput(saved.array._h, saved.output)
    if not handle:
        raise last_error()
    return NDArray._adopt(handle)


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
        len(inputs), _handles(inputs), len(outputs), _handles(outputs), ctypes.byref(table)
    )
    if status != 0:
        problem = last_error()
        _recorded.pop(number, None)
        raise problem


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
        if request == _GRAD_REQS["add"]:
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
