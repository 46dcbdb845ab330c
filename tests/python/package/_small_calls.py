"""Operands of small calls, and what a call comes to; for test_small_calls.py and test_small_keys.py."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

import mxlite.torch as torch
from mxlite import nd

BINARY = ["add", "sub", "mul", "truediv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge"]
REFLECTED = [f"r{name}" for name in BINARY[:6]]
IN_PLACE = ["iadd", "isub", "imul", "itruediv", "imod"]


class Foreign:
    """Knows no array, but every operator."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


for _name in (*BINARY, *REFLECTED):
    setattr(Foreign, f"__{_name}__", lambda self, other, name=_name: f"Foreign.{name}")


class SubArray(nd.NDArray):
    """A subclass."""


class SubTensor(torch.Tensor):
    """A subclass."""


def arrays() -> list[Any]:
    """Operands that are usual and others, of mx.nd."""
    values = np.arange(1, 7, dtype="float32").reshape(2, 3)
    read_only = nd.array(values)
    read_only.writable = False
    return [
        nd.array(values),
        nd.array(values[0]),
        nd.array(values.T),
        nd.array(values, dtype="int32"),
        nd.array(values, dtype="float64"),
        read_only,
        nd.zeros((40, 40)),
        of_class(SubArray, nd.array(values)),
        nd.NDArray(None),
    ]


def of_class(cls: type, array: Any) -> Any:
    """The array in an object of a subclass; `array` has no handle then."""
    made = object.__new__(cls)
    made._h, array._h = array._h, 0
    if isinstance(array, torch.Tensor):
        made._dtype = array._dtype
    return made


def tensors() -> list[Any]:
    """The same of mxlite.torch."""
    values = np.arange(1, 7, dtype="float32").reshape(2, 3)
    moved = torch.tensor(values)
    sub = of_class(SubTensor, moved)
    return [
        torch.tensor(values),
        torch.tensor(values[0]),
        torch.tensor(values.T.copy()),
        torch.tensor(values.astype("int32")),
        torch.tensor(values.astype("uint8")),
        torch.tensor(values.astype("float64")),
        torch.tensor(values.astype("float16")),
        torch.tensor(values > 2),
        torch.tensor(values, requires_grad=True),
        torch.zeros(40, 40),
        sub,
        moved,
    ]


OTHERS = [
    2.5,
    3,
    -1,
    0,
    True,
    1 << 60,
    10**400,
    float("nan"),
    np.float32(1.5),
    np.int64(2),
    np.ones((2, 3), "float32"),
    np.ones((2, 3)),
    None,
    "x",
    Foreign(),
    1j,
]


def outcome(function: Callable, *operands: Any) -> Any:
    """What a call gives: class, dtype and values, or the class and the words of its exception."""
    try:
        with np.errstate(all="ignore"):
            made = function(*operands)
    except Exception as problem:
        return type(problem), str(problem)
    if isinstance(made, (nd.NDArray, torch.Tensor)):
        values = made.asnumpy() if isinstance(made, nd.NDArray) else made.detach().numpy()
        return type(made), str(made.dtype), values.shape, values.tobytes()
    return type(made), str(made)
