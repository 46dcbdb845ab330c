"""Running a backward from edges: the one call that all forms of backward beyond MXNet's are made of."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

from mxlite import _backward
from mxlite._lib import LIB, last_error

_P, _I = ctypes.c_void_p, ctypes.c_int


class _Options(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int)
        for name in ("keep_graph", "create_graph", "allow_unreachable", "accumulate_grad", "training", "dialect")
    ]


def run_from_edges(
    roots: list[tuple[int, int]],
    head_grads: list[int | None],
    inputs: list[tuple[int, int]],
    *,
    keep_graph: bool,
    create_graph: bool,
    allow_unreachable: bool,
    accumulate_grad: bool,
    training: bool,
    dialect: int,
    problem: Callable[[], BaseException] = last_error,
) -> list[int | None]:
    """Runs backward from edges; handles of nodes stay the caller's.

    Args:
        head_grads: The roots' gradients; None: ones.
        inputs: The edges whose gradients are wanted; none: those of all variables.
        problem: What makes an exception of the library's error.
    Returns: a new handle for each of `inputs` (None where nothing arrived), unless they are accumulated.
    """
    nodes, outputs = _edges(roots)
    wanted, wanted_outputs = _edges(inputs)
    results = (_P * max(1, len(inputs)))()
    flags = (keep_graph, create_graph, allow_unreachable, accumulate_grad, training)
    options = _Options(*map(int, flags), dialect)
    with _backward.noting_interrupts():
        status = LIB.MXLBackward(
            len(roots),
            nodes,
            outputs,
            (_P * len(head_grads))(*head_grads),
            ctypes.byref(options),
            len(inputs),
            wanted,
            wanted_outputs,
            results,
        )
        made = list(results)[: len(inputs)] if status == 0 else []
    if status != 0:
        raise _backward.failed(problem())
    return made


def _edges(edges: list[tuple[int, int]]) -> tuple[Any, Any]:
    count = max(1, len(edges))
    return (_P * count)(*(node for node, _ in edges)), (_I * count)(*(output for _, output in edges))
