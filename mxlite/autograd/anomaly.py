"""detect_anomaly: where in the user's code what is not a number came from."""

from __future__ import annotations

import ctypes
import linecache
import os
import sys
from typing import Any

import numpy as np

from mxlite import _backward, error
from mxlite._lib import LIB, ask, check_call
from mxlite.autograd import _graph as graph
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._hooks import HANDLES, adopted, callback

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

    A NaN or infinite result of an operator, or gradient in backward, is an error, which names the operator and the
    line.

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

    def recorded(self, node: graph.Node, outputs: tuple) -> None:
        """Keeps the place, and looks at the values."""
        frames = user_frames()
        node.metadata[PLACE] = frames
        if self.check == 0 or not self.results:
            return
        for number, array in enumerate(outputs):
            index = ask(ctypes.c_int64, LIB.MXLNDArrayFindNonFinite, array._h, self.check)
            if index >= 0:
                what = "NaN" if self.check == 1 else "a NaN or an infinity"
                position = tuple(map(int, np.unravel_index(index, array.shape)))
                raise self.front_end.error(
                    f"{_operator(node)} made {what} in its output {number}, at {position}; "
                    f"recorded at {place_text(frames)}"
                )

    def explained(self, problem: Exception, node: graph.Node, frames: list[tuple[str, int, str]] | None) -> Exception:
        """The error of a failed backward, for one that a node made; `frames`: None where its place is not known."""
        where = "recorded before detect_anomaly" if frames is None else f"recorded at {place_text(frames)}"
        return self.front_end.error(f"{problem}; {_operator(node)} was {where}")


def _operator(node: graph.Node) -> str:
    name = ask(ctypes.c_char_p, LIB.MXLNodeGetOperator, node._h) or b""
    return f"{name.decode()} ({node.name()})"


#: The innermost block of each thread.
_active: dict[int, Anomaly] = {}


def current() -> Anomaly | None:
    """The innermost block of this thread."""
    return _active.get(error.thread_number())


def switch(now: Anomaly | None) -> Anomaly | None:
    """Makes `now` the innermost block of this thread (None: none); returns the one before."""
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
    """The exception of a failed backward, with the line that recorded the node whose gradient was found."""
    active = _active.get(error.thread_number())
    if active is None or not isinstance(problem, Exception):
        return problem
    handle = ask(ctypes.c_void_p, LIB.MXLAnomalyTakeNode)
    if not handle:
        return problem
    node = graph.node_for(handle, active.front_end)
    explained = active.explained(problem, node, node.metadata.get(PLACE))
    if explained is not problem:
        explained.__cause__ = problem.__cause__
    return explained


@callback(ctypes.c_void_p, ctypes.c_int, HANDLES)
def _ON_RECORDED(_: None, handle: int, count: int, outputs: Any) -> None:  # noqa: N802 - it is a constant
    """A node was recorded on this thread."""
    active = _active[error.thread_number()]
    node, made = graph.node_for(handle, active.front_end), adopted(active.front_end, count, outputs)
    _backward.call_user(active.recorded, node, made)
