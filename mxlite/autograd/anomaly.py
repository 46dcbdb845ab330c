"""detect_anomaly: where in the user's code what is not a number came from."""

from __future__ import annotations

import ctypes
import linecache
import os
import sys
from typing import Any

from mxlite import _backward, error
from mxlite._lib import LIB, check_call
from mxlite.autograd import _graph as graph
from mxlite.autograd._front_end import FrontEnd

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

#: How many frames of the user's code are kept with a node.
_DEPTH = 16

#: The key of a node's metadata under which they are.
PLACE = "traceback_"


def user_frames() -> list[tuple[str, int, str]]:
    """File, line and function of the calls that led here, the innermost first, without the package's own."""
    frames: list[tuple[str, int, str]] = []
    frame: Any = sys._getframe(1)
    while frame is not None and len(frames) < _DEPTH:
        code = frame.f_code
        if not code.co_filename.startswith((_PACKAGE, "<mxlite operator")):
            frames.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return frames


def place_text(frames: list[tuple[str, int, str]]) -> str:
    """`file:line in function: code` of the innermost frame."""
    if not frames:
        return "no code of the user's"
    path, line, name = frames[0]
    code = linecache.getline(path, line).strip()
    return f"{path}:{line} in {name}" + (f": {code}" if code else "")


class Anomaly:
    """A with-block of this thread in which each node keeps where in the user's code it was recorded.

    Where an operator's result, or in backward a gradient that it makes, is NaN or infinite, that is an error, which
    names the operator and the line.

    Args:
        front_end: The front end of which nodes are made.
        check: 0: nothing is looked for, nodes keep their places only; 1: NaN; 2: infinities too.
        results: Whether it is looked for in results too.
    """

    def __init__(self, front_end: FrontEnd, check: int, results: bool = True) -> None:
        self.front_end, self.check, self.results = front_end, check, results

    def __enter__(self) -> None:
        self.outer = switch(self)

    def __exit__(self, *_: object) -> None:
        switch(self.outer)

    def recorded(self, node: graph.Node, outputs: list) -> None:
        """Keeps the place, and looks at the values."""
        frames = user_frames()
        node.metadata[PLACE] = frames
        if self.check == 0 or not self.results:
            return
        for number, array in enumerate(outputs):
            index = ctypes.c_int64()
            check_call(LIB.MXLNDArrayFindNonFinite(array._h, self.check, ctypes.byref(index)))
            if index.value >= 0:
                what = "NaN" if self.check == 1 else "a NaN or an infinity"
                raise self.front_end.error(
                    f"{_operator(node)} made {what} in its output {number}, at {_position(index.value, array.shape)}; "
                    f"recorded at {place_text(frames)}"
                )

    def explained(self, problem: Exception, node: graph.Node, frames: list[tuple[str, int, str]] | None) -> Exception:
        """The error of a failed backward, for one that a node made; `frames`: None where its place is not known."""
        where = "recorded before detect_anomaly" if frames is None else f"recorded at {place_text(frames)}"
        return self.front_end.error(f"{problem}; {_operator(node)} was {where}")


def _operator(node: graph.Node) -> str:
    name = ctypes.c_char_p()
    check_call(LIB.MXLNodeGetOperator(node._handle, ctypes.byref(name)))
    return f"{(name.value or b'').decode()} ({node.name()})"


def _position(index: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    place = []
    for extent in reversed(shape):
        index, rest = divmod(index, extent)
        place.append(rest)
    return tuple(reversed(place))


#: The innermost block of each thread.
_active: dict[int, Anomaly] = {}


def current() -> Anomaly | None:
    """What is in force on this thread."""
    return _active.get(error.thread_number())


def switch(now: Anomaly | None) -> Anomaly | None:
    """Puts something in force on this thread, None: nothing; what was before."""
    thread = error.thread_number()
    before = _active.pop(thread, None)
    hook = None if now is None else ctypes.cast(_ON_RECORDED, ctypes.c_void_p)
    check_call(LIB.MXLSetAnomaly(0 if now is None else now.check, None))
    check_call(LIB.MXLSetRecordHook(hook, None))
    if now is not None:
        _active[thread] = now
    _backward.explain = _explain if _active else None
    return before


def _explain(problem: BaseException) -> BaseException:
    """The exception of a failed backward, with the place where the node was recorded that made what was found."""
    active = _active.get(error.thread_number())
    if active is None or not isinstance(problem, Exception):
        return problem
    handle = ctypes.c_void_p()
    check_call(LIB.MXLAnomalyTakeNode(ctypes.byref(handle)))
    if not handle.value:
        return problem
    node = graph.node_for(handle.value, active.front_end)
    explained = active.explained(problem, node, node.metadata.get(PLACE))
    if explained is not problem:
        explained.__cause__ = problem.__cause__
    return explained


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))
def _ON_RECORDED(_: int, handle: int, count: int, outputs: Any) -> int:  # noqa: N802 - it is a constant
    """A node was recorded on this thread."""
    try:
        active = _active[error.thread_number()]
        node = graph.node_for(handle, active.front_end)
        arrays = [active.front_end.adopt(outputs[i]) for i in range(count)]
        with _backward.allowing_interrupts():
            active.recorded(node, arrays)
        return 0
    except BaseException as problem:
        error.keep_exception(problem)
        return -1


ctypes.pythonapi.Py_IncRef(ctypes.py_object(_ON_RECORDED))
