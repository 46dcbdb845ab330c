"""autograd.Function: functions with a gradient of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

from mxlite._lib import hot
from mxlite.autograd import _static
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._gradients import array_list
from mxlite.autograd._nodes import Saved, note_returned, record
from mxlite.error import MXNetError
from mxlite.ndarray._kinds import front_end_for
from mxlite.ndarray.ndarray import NDArray


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
    _to_save: Any = ()
    _saved: tuple[Any, ...] | None = None
    #: The name of nodes of the class.
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
        return _static.apply(front_end_for(args), cls, args, kwargs)

    def forward(self, *inputs: Any, **_: Any) -> Any:
        """The outputs for `inputs`."""
        raise NotImplementedError(f"{type(self).__name__} has no forward: a Function defines forward and backward")

    @_static.default
    def backward(self, *output_grads: Any, **_: Any) -> Any:
        """The gradients of the inputs for those of the outputs."""
        raise NotImplementedError(f"{type(self).__name__} has no backward: a Function defines forward and backward")

    def save_for_backward(self, *args: Any) -> None:
        """Keeps inputs or outputs for backward, where `saved_tensors` gives them back; and other things as they are."""
        self._to_save = args

    @property
    def saved_tensors(self) -> tuple[NDArray, ...]:
        """What save_for_backward was given, or what was assigned since (None, to let go of it).

        Raises: MXNetError: an array was written to since.
        """
        if self._saved is None:
            return self._to_save
        return tuple(each.get() if isinstance(each, Saved) else each for each in self._saved)

    @saved_tensors.setter
    def saved_tensors(self, value: Any) -> None:
        self._to_save, self._saved = value, None

    def __call__(self, *inputs: NDArray) -> Any:
        """Runs forward, and records it where recording is on."""
        if _has_static_forward(type(self)):
            raise TypeError(f"{type(self).__name__} has a static forward; call {type(self).__name__}.apply(...)")
        if self._called:
            raise MXNetError("a Function object has been called already: make a new object for each call")
        self._called = True
        arrays = array_list(inputs, f"inputs of {type(self).__name__}")
        recording = hot.set_recording(0)
        try:
            outputs = self.forward(*inputs)
        finally:
            hot.set_recording(recording)
        if not recording:
            for output in outputs if isinstance(outputs, (list, tuple)) else (outputs,):
                if isinstance(output, NDArray) and all(output is not each for each in arrays):
                    note_returned(output)
            return outputs
        made = array_list(outputs, f"outputs of {type(self).__name__}")
        for number, output in enumerate(made):
            if output.requires_grad and any(output is each for each in arrays):
                raise MXNetError(f"{type(self).__name__}: output {number} is an input; a function returns new arrays")
        self._save(made)
        front_end = arrays[0]._graph_front_end if arrays else front_end_for()
        record(front_end, self._node_name, arrays, made, _Rule(self, front_end, arrays, made), context=self)
        return outputs

    def _save(self, outputs: list[NDArray]) -> None:
        if not isinstance(self._to_save, tuple):
            return
        numbers = {id(output): number for number, output in enumerate(outputs)}
        name = type(self).__name__
        self._saved = tuple(
            Saved(each._graph_front_end, each, numbers.get(id(each), -1), name) if isinstance(each, NDArray) else each
            for each in self._to_save
        )
        self._to_save = ()


def _has_static_forward(cls: type) -> bool:
    return isinstance(inspect.getattr_static(cls, "forward"), (staticmethod, classmethod))


class _Rule:
    """The backward rule of a recorded function: calls its backward and checks what that returns."""

    def __init__(self, function: Function, front_end: FrontEnd, inputs: list[NDArray], outputs: list[NDArray]) -> None:
        self.function = function
        self.front_end = front_end
        self.inputs, self.outputs = ([(each.shape, each.dtype) for each in arrays] for arrays in (inputs, outputs))

    def __call__(self, grads: list, wanted: list) -> list:
        front_end = self.front_end
        heads = [front_end.zeros(*meta) if grad is None else grad for grad, meta in zip(grads, self.outputs)]
        returned = self.function.backward(*heads)
        several = isinstance(returned, Iterable) and not isinstance(returned, NDArray)
        results, name = list(returned) if several else [returned], type(self.function).__name__
        if len(results) != len(wanted):
            raise ValueError(f"{name}.backward returned {len(results)} gradients for {len(wanted)} inputs")
        for position, (result, (shape, dtype), flag) in enumerate(zip(results, self.inputs, wanted)):
            if not flag:
                continue
            if not isinstance(result, NDArray):
                raise TypeError(f"{name}.backward: gradient {position} must be an NDArray, got {type(result).__name__}")
            if result.shape != shape:
                raise ValueError(
                    f"{name}.backward: gradient {position} has shape {result.shape}, its input has {shape}"
                )
            results[position] = front_end.cast(result, dtype)
        return results
