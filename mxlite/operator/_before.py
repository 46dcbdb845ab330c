"""Operators of the kinds before CustomOp, one object for each, which give symbols: a description runs them as one."""

from __future__ import annotations

import itertools
import warnings
from typing import Any, Callable, Union

import numpy as np

from mxlite.name import NameManager
from mxlite.ndarray.ndarray import NDArray
from mxlite.operator._custom import CustomOp, CustomOpProp, register

#: What an operator reads and writes.
Arrays = Union[list[np.ndarray], list[NDArray]]

_numbers = itertools.count()


class PythonOp:
    """What NumpyOp and NDArrayOp share; MXNet has deprecated them for CustomOp.

    An object of a subclass is called with symbols, `op(data, name="loss")`, and gives a symbol.

    Args:
        need_top_grad: whether backward reads the gradients of the outputs; a loss does not.
    """

    #: What the names of nodes without one begin with.
    _hint = ""

    def __init__(self, need_top_grad: bool = True) -> None:
        warnings.warn(f"{type(self).__name__}: MXNet has deprecated it; write a CustomOp", stacklevel=2)
        self.need_top_grad_ = need_top_grad
        self._name = ""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """`get_symbol`."""
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args: Any, **kwargs: Any) -> Any:
        """A symbol of the operator for symbols by position or by name; `name=` is the node's.

        Raises: TypeError: an input is no symbol, or there is none of that name.
        """
        raise NotImplementedError(f"{type(self).__name__}: take NumpyOp or NDArrayOp, or write a CustomOp")

    def forward(self, in_data: Any, out_data: Any) -> None:
        """Writes the outputs, as `out_data[0][:] = ...`; by default the first input."""
        out_data[0][:] = in_data[0]

    def backward(self, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any) -> None:
        """Writes the gradients of the inputs; by default 1. Without `need_top_grad`, `out_grad` is empty."""
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape: list[list[int]]) -> Any:
        """Shapes of the inputs and of the outputs; by default the output has that of the first input."""
        return in_shape, [in_shape[0]]

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return ["output"]

    def list_arguments(self) -> list[str]:
        """Names of the inputs."""
        return ["data"]

    def need_top_grad(self) -> bool:
        """Whether backward reads the gradients of the outputs."""
        return self.need_top_grad_

    def _symbol(self, read: Callable[[Any], tuple], args: tuple, kwargs: dict[str, Any]) -> Any:
        from mxlite import symbol

        name = NameManager.current.get(kwargs.pop("name", None), self._hint)
        if not self._name:  # a name for each object, whose nodes may live as long as the process
            self._name = f"_before_{next(_numbers)}_{type(self).__name__}"
            register(self._name)(_description(self, read))
        with NameManager():  # the name is whole
            return symbol.Custom(*args, op_type=self._name, name=name, **kwargs)


class NumpyOp(PythonOp):
    """An operator on NumPy arrays: `forward` and `backward` get copies, and what they write is copied back."""

    _hint = "_native"

    def get_symbol(self, *args: Any, **kwargs: Any) -> Any:
        return self._symbol(lambda arrays: tuple(each.asnumpy().copy() for each in arrays), args, kwargs)


class NDArrayOp(PythonOp):
    """An operator on NDArrays."""

    _hint = "_ndarray"

    def get_symbol(self, *args: Any, **kwargs: Any) -> Any:
        return self._symbol(tuple, args, kwargs)

    def declare_backward_dependency(self, out_grad: list[int], in_data: list[int], out_data: list[int]) -> list[int]:
        """Which arrays backward reads, as a selection of their numbers."""
        return [*(out_grad if self.need_top_grad() else []), *in_data, *out_data]


def _description(op: PythonOp, read: Callable[[Any], tuple]) -> type[CustomOpProp]:
    """The class of descriptions of an operator; `read` makes what its methods get of NDArrays."""

    class Running(CustomOp):
        def forward(self, is_train: Any, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
            made = read(out_data)
            op.forward(in_data=list(read(in_data)), out_data=list(made))
            _write(made, out_data)

        def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
            heads, made = list(read(out_grad)) if op.need_top_grad() else [], read(in_grad)
            given = {"in_data": list(read(in_data)), "out_data": list(read(out_data))}
            op.backward(out_grad=heads, **given, in_grad=list(made))
            _write(made, in_grad)

    class Description(CustomOpProp):
        def __init__(self) -> None:
            super().__init__(op.need_top_grad())

        def list_arguments(self) -> list[str]:
            return op.list_arguments()

        def list_outputs(self) -> list[str]:
            return op.list_outputs()

        def infer_shape(self, in_shape: list[list[int]]) -> tuple:
            shapes = tuple(op.infer_shape(in_shape))
            return (*shapes, ()) if len(shapes) == 2 else shapes

        def declare_backward_dependency(self, out_grad: Any, in_data: Any, out_data: Any) -> list[int]:
            declared = getattr(op, "declare_backward_dependency", super().declare_backward_dependency)
            return list(declared(out_grad, in_data, out_data))

        def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> CustomOp:
            return Running()

    return Description


def _write(made: tuple, arrays: list[NDArray]) -> None:
    """Copies what an operator wrote to NumPy arrays; NDArrays hold it themselves."""
    for values, array in zip(made, arrays):
        if values is not array:
            array[:] = values
