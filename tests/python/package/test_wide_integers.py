"""Integers that C cannot hold: an error in Python, never an integer of fewer bits."""

from __future__ import annotations

import re
from typing import Any, Callable

import numpy as np
import pytest

import mxlite as mx
import mxlite.torch as torch

A = "a"


class Widths(mx.operator.CustomOpProp):
    size = 0
    reads = ()

    def infer_shape(self, in_shape: list) -> tuple:
        return in_shape, [[self.size or 3]], []

    def declare_backward_dependency(self, *names: list) -> Any:
        return self.reads or super().declare_backward_dependency(*names)

    def create_operator(self, *_: Any) -> Any:
        class Copy(mx.operator.CustomOp):
            def forward(self, is_train: bool, req: list, in_data: list, out_data: list, aux: list) -> None:
                self.assign(out_data[0], req[0], in_data[0])

            def backward(self, *_: Any, **__: Any) -> None:
                pass

        return Copy()


mx.operator.register("test_wide_integers")(Widths)


def bound() -> Any:
    return mx.sym.relu(mx.sym.var(A)).simple_bind(mx.cpu(), a=(3,))


#: What takes an int of 32 bits, and what one of 64.
NARROW: dict[str, Callable[[int], Any]] = {
    "cpu": mx.cpu,
    "bulk": mx.engine.set_bulk_size,
    "reshape": lambda n: bound().reshape(a=(n,), allow_up_sizing=True, partial_shaping=True),
    "shared": lambda n: mx.nd.ndarray._new_from_shared_mem(0, 0, (n,), "float32"),
}
WIDE: dict[str, Callable[[int], Any]] = {
    "infer": lambda n: mx.sym.relu(mx.sym.var(A)).infer_shape(a=(n,)),
    "partial": lambda n: mx.sym.relu(mx.sym.var(A)).infer_shape_partial(a=(n,)),
    "bind": lambda n: mx.sym.relu(mx.sym.var(A)).simple_bind(mx.cpu(), a=(n,)),
    "pool": mx.util.set_pool_cap,
    "torch.empty": torch.empty,
}


@pytest.mark.parametrize("name", [*NARROW, *WIDE])
def test_refused(name: str) -> None:
    for bits in (32, 64):
        if bits == 64 or name in NARROW:
            with pytest.raises(OverflowError, match=str((1 << bits) + 1)):
                {**NARROW, **WIDE}[name]((1 << bits) + 1)


@pytest.mark.parametrize("size", [2**32 + 3, 2**40, 2**64 + 3])
def test_shapes_of_custom_operators(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mx.nd.Custom(mx.nd.ones((3,)), op_type="test_wide_integers").shape == (3,)
    monkeypatch.setattr(Widths, "size", size)
    with pytest.raises(mx.MXNetError, match=re.escape(str(size))):
        mx.nd.Custom(mx.nd.ones((3,)), op_type="test_wide_integers")


def test_dependencies_of_custom_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Widths, "reads", (2**32,))
    x = mx.nd.ones((3,))
    x.attach_grad()
    with pytest.raises(mx.MXNetError, match=str(2**32)), mx.autograd.record():
        mx.nd.Custom(x, op_type="test_wide_integers")


def test_numpy_integers_pass() -> None:
    assert mx.sym.relu(mx.sym.var(A)).infer_shape(a=(np.int64(3),))[1] == [(3,)]
    assert mx.cpu(np.int32(1)).device_id == 1
