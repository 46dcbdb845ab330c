"""Running a backward from edges: the one call that all forms of backward beyond MXNet's are made of."""

from __future__ import annotations

import ctypes
from typing import Any

from mxlite import _backward
from mxlite._lib import LIB
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._handles import edge_of

_P, _I = ctypes.c_void_p, ctypes.c_int


class _Options(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int)
        for name in ("keep_graph", "create_graph", "allow_unreachable", "accumulate_grad", "training", "dialect")
    ]


class Edges:
    """A with-block that owns the handles of the nodes that it finds."""

    def __init__(self) -> None:
        self._owned: list[int] = []

    def __enter__(self) -> Edges:
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._owned:
            LIB.MXLNodeFree(handle)

    def of(self, array: Any) -> tuple[int, int]:
        """The node that the gradient of an array goes to, 0: nowhere; and which of its outputs."""
        edge = edge_of(array._h)
        if edge[0]:
            self._owned.append(edge[0])
        return edge


def run_from_edges(
    front_end: FrontEnd,
    roots: list[tuple[int, int]],
    head_grads: list[int | None],
    inputs: list[tuple[int, int]],
    *,
    keep_graph: bool,
    create_graph: bool,
    training: bool,
    accumulate_grad: bool = False,
) -> list[int | None]:
    """Runs backward from edges; handles of nodes stay the caller's.

    Args:
        head_grads: The roots' gradients; None: ones.
        inputs: The edges whose gradients are wanted; none: those of all variables.
    Returns: a new handle for each of `inputs` (None where nothing arrived), unless they are accumulated.
    """
    results = (_P * max(1, len(inputs)))()
    options = _Options(keep_graph, create_graph, True, accumulate_grad, training, front_end.dialect)
    with _backward.noting_interrupts():
        status = LIB.MXLBackward(
            len(roots),
            *_edges(roots),
            (_P * len(head_grads))(*head_grads),
            ctypes.byref(options),
            len(inputs),
            *_edges(inputs),
            results,
        )
        made = list(results)[: len(inputs)] if status == 0 else []
    if status != 0:
        raise _backward.failed(front_end.last_error())
    return made


def _edges(edges: list[tuple[int, int]]) -> tuple[Any, Any]:
    count = max(1, len(edges))
    return (_P * count)(*(node for node, _ in edges)), (_I * count)(*(output for _, output in edges))
