"""CustomOp, CustomOpProp and `register`: how an operator in Python is written."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

from mxlite.base import _LIB, c_str, check_call
from mxlite.ndarray.ndarray import NDArray
from mxlite.operator import _callbacks


class CustomOp:
    """What a call of a custom operator computes; an instance belongs to one call and its backward.

    Both methods run on the thread of the call, and write their results to arrays that they are given, each as its
    request says: "null" (not at all), "write" or "add"; `assign` does that. A backward with `create_graph` runs
    recorded, so a gradient that is made of operators can be differentiated again.
    """

    def forward(
        self, is_train: Any, req: list[str], in_data: list[NDArray], out_data: list[NDArray], aux: list[NDArray]
    ) -> None:
        """Computes `out_data` of `in_data`.

        Args:
            is_train: 1 in training mode, else 0.
            req: The request of each output.
            in_data: The arguments.
            out_data: Arrays of the shapes that the description inferred, to write to.
            aux: The auxiliary states, which may be written to.
        """
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def backward(
        self,
        req: list[str],
        out_grad: list[NDArray],
        in_data: list[NDArray],
        out_data: list[NDArray],
        in_grad: list[NDArray],
        aux: list[NDArray],
    ) -> None:
        """Computes `in_grad`, the gradients of the arguments, of `out_grad`, those of the outputs.

        What `declare_backward_dependency` left out is an array without a shape.
        """
        raise NotImplementedError(f"{type(self).__name__} has no backward")

    def assign(self, dst: NDArray, req: str, src: Any) -> None:
        """Stores `src` in `dst` as the request says.

        Raises: ValueError: the request is none of "null", "write", "inplace" and "add".
        """
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] += src
        elif req != "null":
            raise ValueError(f"assign: there is no request {req!r}")


class CustomOpProp:
    """Describes a custom operator: its arrays by name, their shapes and dtypes, what its backward reads.

    A call makes one, with the parameters of `mx.nd.Custom` as text.

    Args:
        need_top_grad: Whether backward reads the gradients of the outputs; a loss does not.
    """

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """Names of the arguments."""
        return ["data"]

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return ["output"]

    def list_auxiliary_states(self) -> list[str]:
        """Names of the arrays that are given behind the arguments and get no gradient."""
        return []

    def infer_shape(self, in_shape: list[list[int]]) -> tuple:
        """Shapes of the arguments, the outputs and (it may be left out) the auxiliary states; by default all outputs
        have that of the first argument.
        """
        return in_shape, (in_shape[0],) * len(self.list_outputs()), ()

    def infer_type(self, in_type: list[Any]) -> tuple:
        """The same of dtypes; by default all have that of the first argument."""
        first = in_type[0]
        return in_type, [first] * len(self.list_outputs()), [first] * len(self.list_auxiliary_states())

    def infer_storage_type(self, in_stype: list[str]) -> tuple:
        """The same of storage types. All arrays are "default"; a sparse one is an error."""
        _callbacks.check_dense(in_stype)
        return in_stype, ["default"] * len(self.list_outputs()), ["default"] * len(self.list_auxiliary_states())

    def infer_storage_type_backward(
        self,
        ograd_stype: list[str],
        in_stype: list[str],
        out_stype: list[str],
        igrad_stype: list[str],
        aux_stype: list[str],
    ) -> tuple:
        """Storage types of all arrays of a backward, which is not asked: all are "default"."""
        for stypes in (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
            _callbacks.check_dense(stypes)
        return tuple(["default"] * len(each) for each in (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype))

    def declare_backward_dependency(self, out_grad: list[int], in_data: list[int], out_data: list[int]) -> list[int]:
        """Which arrays backward reads, as a selection of their numbers; the others are not kept for it."""
        return [*(out_grad if self.need_top_grad_ else []), *in_data, *out_data]

    def create_operator(self, ctx: Any, in_shapes: list[list[int]], in_dtypes: list[int]) -> CustomOp:
        """The operator of one call.

        Args:
            ctx: The device of the outputs.
            in_shapes: Shapes of the arguments, then of the auxiliary states.
            in_dtypes: MXNet's numbers of their dtypes.
        """
        return CustomOp()


_Prop = TypeVar("_Prop", bound=type)


def register(reg_name: str) -> Callable[[_Prop], _Prop]:
    """A decorator for a subclass of CustomOpProp: `mx.nd.Custom(..., op_type=reg_name)` runs its operators.

    A class that is registered later under the same name takes its place; nodes on the graph keep theirs.
    Raises: TypeError: the decorated object is no such class, or the name is not a string.
    """
    if not isinstance(reg_name, str):
        raise TypeError(f"register: the name must be a string, got {type(reg_name).__name__}")

    def do_register(prop_cls: _Prop) -> _Prop:
        if not (isinstance(prop_cls, type) and issubclass(prop_cls, CustomOpProp)):
            raise TypeError(f"register({reg_name!r}): takes a subclass of CustomOpProp, got {prop_cls!r}")
        name = c_str(reg_name)
        infers_storage = prop_cls.infer_storage_type is not CustomOpProp.infer_storage_type
        _callbacks.classes[reg_name] = prop_cls, infers_storage
        check_call(_LIB.MXCustomOpRegister(name, _callbacks.CREATOR))
        return prop_cls

    return do_register
