"""Threads that work ahead of who asks for the results: the batches of iterators and of loaders.

A forked child has none of its parent's threads. There, `Threads` has new ones, and a `Task` that was not done when the
process was forked is done by who asks for its result, or says that it cannot be.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from queue import SimpleQueue
from typing import Any, Callable

from mxlite._ends import uninterrupted
from mxlite.error import MXNetError

#: Threads that run, with what they wait for; each removes itself.
_running: dict[threading.Thread, SimpleQueue] = {}
#: How long the end of the process waits for each: one that never ends must not keep it.
_PATIENCE = 10.0


class Task:
    """A call of a function on a thread of a `Threads`. One that nobody holds any longer is left out.

    Args:
        lost: what to say where a forked child asks for the result of a call that was not done; None: the function may
            be called again.
    """

    __slots__ = ("__weakref__", "_arguments", "_function", "_lost", "_outcome", "_owner", "_ready")

    def __init__(self, function: Callable, arguments: tuple, lost: str | None) -> None:
        self._function, self._arguments, self._lost = function, arguments, lost
        self._owner = os.getpid()
        #: The value, and what was raised.
        self._outcome: tuple[Any, BaseException | None] | None = None
        self._ready = threading.Lock()
        self._ready.acquire()

    def _run(self) -> None:
        try:
            self._outcome = self._function(*self._arguments), None
        except BaseException as error:  # noqa: BLE001 - raised by `result`
            self._outcome = None, error
        self._ready.release()

    def wait(self, timeout: float | None = None) -> None:
        """Waits until it is done, if a thread of this process does it. Raises: TimeoutError: it takes longer."""
        if self._outcome is None and self._owner == os.getpid():
            if not self._ready.acquire(timeout=-1 if timeout is None else timeout):
                raise TimeoutError(f"a thread has not done its work within {timeout} s")
            self._ready.release()

    def result(self, timeout: float | None = None) -> Any:
        """What the function returns. Raises: what it raises; TimeoutError; MXNetError: it is lost."""
        self.wait(timeout)
        if self._outcome is None:
            if self._lost is not None:
                raise MXNetError(self._lost)
            return self._function(*self._arguments)
        value, error = self._outcome
        if error is not None:
            raise error
        return value


class _Gone(weakref.ref):
    """What threads get when their `Threads` is gone."""

    __slots__ = ()


class Threads:
    """Up to `count` threads, which are started when they are first needed, and end with this object."""

    def __init__(self, count: int, name: str) -> None:
        self._count, self._name = count, name
        self._begin()

    def _begin(self) -> None:
        self._owner = os.getpid()
        self._queue: SimpleQueue = SimpleQueue()
        self._started = 0

    def submit(self, function: Callable, *arguments: Any, lost: str | None = None) -> Task:
        """Has a function called by a thread."""
        if self._owner != os.getpid():
            self._begin()
        task = Task(function, arguments, lost)
        with uninterrupted():
            if self._started < self._count:
                gone = _Gone(self, self._queue.put)  # no Python code runs there, in which Ctrl-C could be lost
                thread = threading.Thread(target=_work, args=(self._queue, gone), name=self._name, daemon=True)
                self._started += 1
                _running[thread] = self._queue
                thread.start()
            self._queue.put(weakref.ref(task))
        return task

    def end(self) -> None:
        """Waits until the threads have ended: what they do is done to its end."""
        if self._owner == os.getpid():
            self._queue.put(None)
            for thread, queue in list(_running.items()):
                if queue is self._queue and thread is not threading.current_thread():
                    thread.join()


def _work(queue: SimpleQueue, gone: _Gone) -> None:
    while True:
        waiting = queue.get()
        if waiting is None or type(waiting) is _Gone:
            queue.put(None)  # for the next thread
            break
        task = waiting()
        if task is not None:
            task._run()
        del task
    _running.pop(threading.current_thread(), None)


@atexit.register
def _end_all() -> None:
    """Ends the threads before the interpreter is taken apart."""
    with uninterrupted():
        here = [(thread, queue) for thread, queue in list(_running.items()) if thread.is_alive()]
        for _, queue in here:
            queue.put(None)
        for thread, _ in here:
            thread.join(_PATIENCE)
