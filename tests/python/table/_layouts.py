"""Arrays whose elements lie elsewhere in memory than one behind the other, for tests.

mx.nd makes none. They are views that calls in PyTorch's dialect make, and MXNet's operators take them as any array.
"""

from __future__ import annotations

import ctypes
from typing import Callable, NamedTuple

import numpy as np
from _table import to_nd

from mxlite._lib import LIB, check_call, hot
from mxlite.ndarray.ndarray import NDArray
from mxlite.torch._calls import prepare

_as_strided = prepare(None, "_mxl_as_strided", "shape", "strides", "skip")


class Plan(NamedTuple):
    """Where the elements of a shape lie: their strides, the position of the first, and how long the memory is."""

    strides: tuple[int, ...]
    skip: int
    length: int


def _ordered(shape: tuple[int, ...], inner_first: list[int], step: int = 1, gap: int = 0, skip: int = 0) -> Plan:
    """Elements `step` apart along the first of the axes listed, and `gap` unused ones after a row of each axis."""
    strides, run = [0] * len(shape), step
    for axis in inner_first:
        strides[axis] = run
        run = run * max(shape[axis], 1) + gap
    return Plan(tuple(strides), skip, skip + run + 1)


def _axes(shape: tuple[int, ...]) -> list[int]:
    return list(range(len(shape)))


def _expanded(shape: tuple[int, ...]) -> Plan:
    """All positions of the first axis longer than 1 are one."""
    axis = next((axis for axis, extent in enumerate(shape) if extent > 1), 0)
    plan = _ordered(tuple(1 if i == axis else shape[i] for i in _axes(shape)), _axes(shape)[::-1], skip=1)
    return plan._replace(strides=tuple(0 if i == axis else plan.strides[i] for i in _axes(shape)))


#: name -> the plan of a shape
LAYOUTS: dict[str, Callable[[tuple[int, ...]], Plan]] = {
    "offset": lambda shape: _ordered(shape, _axes(shape)[::-1], skip=3),
    "apart": lambda shape: _ordered(shape, _axes(shape)[::-1], step=2, gap=1, skip=1),
    "transposed": lambda shape: _ordered(shape, _axes(shape)),
    "columns": lambda shape: _ordered(shape, _axes(shape)[1:] + _axes(shape)[:1], gap=3, skip=5),
    "expanded": _expanded,
    "repeated": lambda shape: Plan((0,) * len(shape), 2, 4),
}
#: Those in which several positions are one element: such arrays are not written to.
REPEATING = ("expanded", "repeated")


class Laid:
    """An array in a layout, amid memory that no operator may touch.

    `array` is what operators are given. `values` are its elements: other ones than those given where positions share.
    """

    def __init__(self, values: np.ndarray, layout: str) -> None:
        plan = LAYOUTS[layout](values.shape)
        self._memory = np.full(plan.length, np.nan if values.dtype.kind == "f" else 85, values.dtype)
        strides = tuple(stride * values.itemsize for stride in plan.strides)
        self._elements = np.lib.stride_tricks.as_strided(self._memory[plan.skip :], values.shape, strides)
        np.copyto(self._elements, values)
        self.values = self._elements.copy()
        #: several positions are one element
        self.shared = values.size > 1 and any(n > 1 and step == 0 for n, step in zip(values.shape, plan.strides))
        self._whole = to_nd(self._memory)
        self.array = strided(self._whole, values.shape, plan.strides, plan.skip)

    def check(self, values: np.ndarray | None = None) -> None:
        """The memory is as it was at first, but for the elements where `values` are given."""
        if values is not None:
            np.copyto(self._elements, values)
        assert self._whole.asnumpy().tobytes() == self._memory.tobytes(), "memory was changed"


def strided(array: NDArray, shape: tuple[int, ...], strides: tuple[int, ...], skip: int) -> NDArray:
    """A view of any strides."""
    handle = hot.call_n(_as_strided, [array._h], [shape, strides, skip])
    assert handle
    return NDArray._adopt(handle)


def same_elements(array) -> int:
    """A handle of the elements of an NDArray or a tensor, for the other front end."""
    handle = ctypes.c_void_p()
    check_call(LIB.MXNDArrayDetach(ctypes.c_void_p(array._h), ctypes.byref(handle)))
    return handle.value
