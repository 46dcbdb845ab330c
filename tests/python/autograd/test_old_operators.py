"""NumpyOp and NDArrayOp, the operators in Python before CustomOp; old_operators.py has them beside 1.9.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import nd


def _listed(array: nd.NDArray) -> Any:
    return array.asnumpy().tolist()


def _old(kind: type, need_top_grad: bool = True) -> Any:
    """An operator of the kind before CustomOp: 3 * data + the row's number, whose label it gives a shape."""

    class Old(kind):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(need_top_grad)

        def list_arguments(self) -> list[str]:
            return ["data", "label"]

        def list_outputs(self) -> list[str]:
            return ["output", "rows"]

        def infer_shape(self, in_shape: list[list[int]]) -> Any:
            return [in_shape[0], in_shape[0][:1]], [in_shape[0], in_shape[0][:1]]

        def forward(self, in_data: Any, out_data: Any) -> None:
            out_data[0][:] = in_data[0] * 3
            out_data[1][:] = in_data[1]
            in_data[0] = None

        def backward(self, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any) -> None:
            assert len(out_grad) == (2 if need_top_grad else 0)
            in_grad[0][:] = out_grad[0] * 3 if need_top_grad else 7
            in_grad[1][:] = out_data[1]

    with pytest.warns(UserWarning, match="Old: MXNet has deprecated it; write a CustomOp"):
        return Old()


@pytest.mark.parametrize("kind", [mx.operator.NumpyOp, mx.operator.NDArrayOp])
@pytest.mark.parametrize("need_top_grad", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_1_9_1_crashes_on(kind: type, need_top_grad: bool, dtype: str) -> None:
    """Shapes that follow, several outputs."""
    op = _old(kind, need_top_grad)
    both = op(mx.sym.var("data"), name="old")
    assert both.list_outputs() == ["old_output", "old_rows"]
    one = both.simple_bind(mx.cpu(), data=(65, 2), type_dict={"data": dtype})
    one.arg_dict["data"][:], one.arg_dict["old_label"][:] = 2, 5
    first, second = one.forward(is_train=True)
    assert first.dtype == np.dtype(dtype) and _listed(first) == [[6, 6]] * 65 and _listed(second) == [5] * 65
    one.backward([nd.full((65, 2), 2, dtype=dtype), nd.zeros((65,), dtype=dtype)])
    wanted = 6 if need_top_grad else 7
    assert _listed(one.grad_dict["data"]) == [[wanted] * 2] * 65 and _listed(one.grad_dict["old_label"]) == [5] * 65


def test_errors() -> None:
    class Wrong(mx.operator.NumpyOp):
        def forward(self, in_data: Any, out_data: Any) -> None:
            raise KeyError("mine")

    with pytest.warns(UserWarning):
        wrong, base = Wrong(), mx.operator.PythonOp()
    one = wrong(mx.sym.var("x")).simple_bind(mx.cpu(), x=(2,))
    with pytest.raises(mx.MXNetError, match="mine") as raised:
        one.forward()
    assert isinstance(raised.value.__cause__, KeyError)
    with pytest.raises(NotImplementedError, match="PythonOp: take NumpyOp or NDArrayOp"):
        base(mx.sym.var("x"))
    with pytest.raises(TypeError):
        wrong(nd.ones(2))
