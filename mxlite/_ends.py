"""Ends that nothing disturbs: steps that Ctrl-C does not cut in two, and work that is done when an object has gone.

Python may raise KeyboardInterrupt in the main thread between any two instructions, and ignores it in destructors and in
callbacks of weak references, which then are left half done. So what must be whole waits for it (`uninterrupted`), and
what an object leaves behind is cleared away on another thread, the janitor's (`when_gone`).
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from _signal import getsignal, signal  # not of `signal`, whose wrappers make enumerations of handlers: 4 us each
from queue import SimpleQueue
from signal import SIGINT, raise_signal
from typing import Any, Callable


def in_main_thread() -> bool:
    """Whether this is the thread in which Python handles signals."""
    return threading.get_ident() == threading.main_thread().ident


class Noting:
    """A with-block of the main thread in which SIGINT is noted; its handler from before gets it at the end."""

    def __init__(self) -> None:
        self.handler: Any = None
        self.noted = False

    def _note(self, number: int, frame: Any) -> None:
        self.noted = True

    def _deliver(self) -> None:
        """Gives a noted signal to the handler that was there before, which may raise."""
        if self.noted:
            self.noted = False
            self.handler(SIGINT, None)

    def __enter__(self) -> Any:
        self.handler = getsignal(SIGINT)
        signal(SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal(SIGINT, self.handler)
        self._deliver()


class uninterrupted(Noting):  # noqa: N801 - a block, not a thing
    """A block in which Ctrl-C waits, if it can come at all: in the main thread, to a handler that Python calls.

    Args:
        destructor: the block is in one, where an exception would be lost: the signal is sent again a moment later.
    """

    def __init__(self, destructor: bool = False) -> None:
        super().__init__()
        self._destructor = destructor

    def __enter__(self) -> None:
        if in_main_thread() and callable(getsignal(SIGINT)):
            super().__enter__()

    def _deliver(self) -> None:
        if self.noted and self._destructor:
            _janitor().call(_send_again)
        else:
            super()._deliver()

    def __exit__(self, *_: object) -> None:
        if self.handler is not None:
            super().__exit__()


def _send_again() -> None:
    threading.Event().wait(0.02)
    raise_signal(SIGINT)


def destructor(function: Callable[[Any], None]) -> Callable[[Any], None]:
    """A `__del__` that does nothing once the interpreter ends, when what it calls may be taken apart already."""
    ending = sys.is_finalizing

    def __del__(self: Any) -> None:  # noqa: N807
        if not ending():
            function(self)

    return __del__


# ---- the janitor ----


class End(weakref.ref):
    """What `when_gone` arranged."""

    __slots__ = ("_call", "_janitor", "done")

    _call: tuple[Callable, tuple] | None
    _janitor: _Janitor
    done: threading.Event

    __hash__ = object.__hash__
    __eq__ = object.__eq__
    __ne__ = object.__ne__

    def now(self) -> None:
        """Does it now, on the janitor's thread, and waits for it; in a forked child nothing."""
        if self._janitor.owner == os.getpid():
            self._janitor.gone.put(self)
            self.done.wait()

    def run(self) -> None:
        """Does it, unless it is done."""
        self._janitor.ends.pop(self, None)
        call, self._call = self._call, None
        try:
            if call is not None:
                call[0](*call[1])
        finally:
            self.done.set()


class _Call:
    """A function for the janitor."""

    __slots__ = ("run",)

    def __init__(self, run: Callable[[], None]) -> None:
        self.run = run


class _Janitor:
    """A thread of one process, started when it is first needed, which no signal disturbs."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        #: What is to be done. Its `put` is the callback of weak references: no Python code runs there.
        self.gone: SimpleQueue = SimpleQueue()
        self.ends: dict[End, None] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        with uninterrupted(), self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=_serve, args=(self.gone,), name="mxlite-janitor", daemon=True)
                self._thread.start()

    def call(self, function: Callable[[], None]) -> None:
        """Calls a function on the thread."""
        self.start()
        self.gone.put(_Call(function))

    def finish(self) -> None:
        """At the end of the process: does what is left."""
        with uninterrupted():
            for end in list(self.ends):
                end.run()


def _serve(gone: SimpleQueue) -> None:
    while True:
        thing = gone.get()
        try:
            thing.run()
        except Exception:
            sys.excepthook(*sys.exc_info())
        del thing


#: Of this process, and of those that it was forked from, whose threads are not here.
_janitors: dict[int, _Janitor] = {}


def _janitor() -> _Janitor:
    known = _janitors.get(os.getpid())
    return known if known is not None else _janitors.setdefault(os.getpid(), _Janitor())


def when_gone(thing: Any, function: Callable, *arguments: Any) -> End:
    """Calls a function once an object has gone, on a thread of its own; at the latest when the process exits.

    In a forked child nothing is called: what the object had is the parent's.
    """
    janitor = _janitor()
    janitor.start()
    end = End(thing, janitor.gone.put)
    end._call, end._janitor, end.done = (function, arguments), janitor, threading.Event()
    janitor.ends[end] = None
    return end


@atexit.register
def _finish() -> None:
    janitor = _janitors.get(os.getpid())
    if janitor is not None:
        janitor.finish()
