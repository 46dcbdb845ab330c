"""`mx.operator`: operators written in Python, which `mx.nd.Custom` runs by name, and lists of the library's own.

A class of operators is a `CustomOp`, which computes, and a `CustomOpProp`, which describes it and makes one for each
call:

    class Sigmoid(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], 1 / (1 + mx.nd.exp(-in_data[0])))

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            y = out_data[0]
            self.assign(in_grad[0], req[0], out_grad[0] * y * (1 - y))

    @mx.operator.register("sigmoid")
    class SigmoidProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Sigmoid()

    y = mx.nd.Custom(x, op_type="sigmoid")
"""

from __future__ import annotations

from typing import NamedTuple

from mxlite._public import show as _show
from mxlite.error import MXNetError
from mxlite.ndarray._operators import Operator, operator_names
from mxlite.operator._before import NDArrayOp, NumpyOp, PythonOp
from mxlite.operator._custom import CustomOp, CustomOpProp, register

__all__ = [
    "CustomOp",
    "CustomOpProp",
    "NDArrayOp",
    "NumpyOp",
    "OperatorArguments",
    "PythonOp",
    "get_all_registered_operators",
    "get_operator_arguments",
    "register",
]


def get_all_registered_operators() -> list[str]:
    """Names of all operators of the library, aliases included."""
    return list(operator_names())


class OperatorArguments(NamedTuple):
    """The arguments of an operator, inputs and parameters: their number, names, types."""

    narg: int
    names: list[str]
    types: list[str]


def get_operator_arguments(op_name: str) -> OperatorArguments:
    """The arguments of an operator of the library.

    Raises: MXNetError: there is no operator of that name.
    """
    try:
        arguments = Operator(op_name).arguments
    except AttributeError:
        raise MXNetError(f"operator {op_name} is not registered") from None
    return OperatorArguments(len(arguments), [each[0] for each in arguments], [each[1] for each in arguments])


_show(globals())
