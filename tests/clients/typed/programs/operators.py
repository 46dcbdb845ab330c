"""An operator of the program's own, in arrays and in a graph."""

from __future__ import annotations

from typing import Any

import mxlite as mx
from mxlite import autograd, nd, sym


class Square(mx.operator.CustomOp):
    """x * x"""

    def forward(
        self, is_train: bool, req: list[str], in_data: list[nd.NDArray], out_data: list[nd.NDArray], aux: list[Any]
    ) -> None:
        self.assign(out_data[0], req[0], in_data[0] * in_data[0])

    def backward(
        self,
        req: list[str],
        out_grad: list[nd.NDArray],
        in_data: list[nd.NDArray],
        out_data: list[nd.NDArray],
        in_grad: list[nd.NDArray],
        aux: list[Any],
    ) -> None:
        self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])


@mx.operator.register("typed_square")
class SquareProp(mx.operator.CustomOpProp):
    """Describes it."""

    def __init__(self) -> None:
        super().__init__(need_top_grad=True)

    def list_arguments(self) -> list[str]:
        return ["data"]

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> Square:
        return Square()


def main() -> None:
    x = nd.array([1.0, -2.0])
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="typed_square")
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, -4]
    net = sym.Custom(data=sym.var("x"), op_type="typed_square", name="square")
    (out,) = net.bind(mx.cpu(), {"x": x}).forward()
    assert out.asnumpy().tolist() == [1, 4]


if __name__ == "__main__":
    main()
