"""The workers of one run, over MPI: waits that notice a worker that has ended, and ends that name themselves.

Nothing here blocks inside MPI: every operation is started, and `wait` asks for its end. So a worker that waits for one
that has left its script hears of it (a message on a communicator of their own) and raises.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import io
import os
import socket
import sys
import time
from types import TracebackType
from typing import Any

import numpy as np

from mxlite._cli import _cleaner
from mxlite.error import MXNetError

#: Tests of a request without a pause, then with the processor offered to others; after them with sleeps up to a limit.
_SPINS, _YIELDS, _LONGEST = 50, 200, 1e-3

_world: World | None = None


def world() -> World:
    """The workers of this run, which every store shares; MPI is started by the first call.

    Raises: ImportError: mpi4py or an MPI is missing; MXNetError: MPI knows of another number of workers than
        `mxlite run -n` started.
    """
    global _world
    if _world is None:
        _world = World()
    return _world


def left_with(code: Any) -> None:
    """Ends all workers where this one leaves by `sys.exit(code)` with a status that is not 0; else nothing."""
    if _world is not None and code not in (None, 0):
        if isinstance(code, str):
            print(code, file=sys.stderr)
        status = code if isinstance(code, int) else 1
        _world.end(f"ended with exit status {status}", status)


def _mpi() -> Any:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        why = str(error).strip().partition("\n")[0]
        raise ImportError(
            f"kvstores over several workers need mpi4py and an MPI: pip install mxlite[mpi] ({why})"
        ) from None
    return MPI


class WorkerLeft(MXNetError):
    """Another worker has left its script."""


class World:
    """Which worker this is, and operations that all workers take part in, in the same order.

    Attributes: rank: its number, from 0; size: how many there are; comm: the communicator of blocking operations.
    """

    def __init__(self) -> None:
        before = _cleaner.mapped()
        self._mpi = _mpi()
        _cleaner.tell(_cleaner.mapped() - before)
        everybody = self._mpi.COMM_WORLD
        self.rank: int = everybody.Get_rank()
        self.size: int = everybody.Get_size()
        wanted = os.environ.get("MXLITE_RUN_WORKERS", "")
        if wanted and int(wanted) != self.size:
            raise MXNetError(
                f"mxlite run started {wanted} workers, but MPI knows of {self.size}: the mpiexec that started them "
                "belongs to another MPI than the one that mpi4py uses"
            )
        self._pid = os.getpid()
        #: Operations started, and of each worker that has left how many it had started.
        self._started = 0
        self._left: dict[int, int] = {}
        self._control: Any = None
        self._control = self.duplicate(everybody)
        self.comm = self.duplicate(everybody)
        self._show = sys.excepthook
        sys.excepthook = self._except
        atexit.register(self._leave)

    # ---- operations ----

    def duplicate(self, comm: Any = None) -> Any:
        """A communicator of the same workers, whose operations do not mix with others'."""
        made, request = (self.comm if comm is None else comm).Idup()
        self.wait(request)
        return made

    def start_sum(self, values: np.ndarray, comm: Any) -> Any:
        """Begins to replace values by their sums over all workers, the same bits for each; returns the request."""
        self._started += 1
        return comm.Iallreduce(self._mpi.IN_PLACE, values)

    def broadcast(self, values: np.ndarray) -> None:
        """Replaces contiguous values by those of worker 0."""
        self._started += 1
        self.wait(self.comm.Ibcast(values.reshape(-1).view(np.uint8), root=0))

    def gather(self, values: np.ndarray) -> list[np.ndarray]:
        """The values of all workers, in their order, each as one axis; they may be of different sizes."""
        mine = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        sizes = np.empty(self.size, np.int64)
        self._started += 1
        self.wait(self.comm.Iallgather(np.array([mine.size], np.int64), sizes))
        found = np.empty(int(sizes.sum()), np.uint8)
        self._started += 1
        self.wait(self.comm.Iallgatherv(mine, [found, sizes]))
        return [each.view(values.dtype) for each in np.split(found, np.cumsum(sizes)[:-1])]

    def agree(self, what: str, thing: Any) -> None:
        """Waits for all workers. Raises: MXNetError, in every worker: they did not all say the same."""
        mine = np.frombuffer(hashlib.sha256(repr((what, thing)).encode()).digest(), np.uint8)
        all_of_them = np.empty((self.size, mine.size), np.uint8)
        self._started += 1
        self.wait(self.comm.Iallgather(mine, all_of_them))
        others = np.flatnonzero((all_of_them != all_of_them[0]).any(axis=1))
        if others.size:
            shown = repr(thing) if len(repr(thing)) < 300 else repr(thing)[:300] + "..."
            raise MXNetError(
                f"kvstore: worker {others[0]} does not call the same as worker 0, with the same keys, shapes, "
                f"dtypes and storage types; this is worker {self.rank} in {what} of {shown}"
            )

    def wait(self, request: Any) -> None:
        """Waits for an operation. Raises: MXNetError: another worker has left before it took part."""
        test = request.Test
        for number in range(_SPINS + _YIELDS):
            if test():
                return
            if number >= _SPINS:
                time.sleep(0)  # offers the processor to others
        pause = 2e-5
        while not test():
            self._hear()
            for worker, started in self._left.items():
                if started < self._started:
                    raise WorkerLeft(
                        f"worker {worker} of {self.size} has left its script, while worker {self.rank} waits for it"
                    )
            time.sleep(pause)
            pause = min(1.2 * pause, _LONGEST)

    # ---- ends ----

    def _hear(self) -> None:
        """Notes which workers have said that they leave."""
        if self._control is None:
            return
        status = self._mpi.Status()
        while self._control.Iprobe(self._mpi.ANY_SOURCE, self._mpi.ANY_TAG, status):
            started = np.empty(1, np.int64)
            self._control.Recv(started, status.Get_source())
            self._left[status.Get_source()] = int(started[0])

    def _leave(self) -> None:
        """At the end of the script: tells the others, and waits until they have left too."""
        if os.getpid() != self._pid:
            return
        started = np.array([self._started], np.int64)
        others = [each for each in range(self.size) if each != self.rank]
        requests = [self._control.Isend(started, each) for each in others]
        pause = 2e-5
        while len(self._left) < len(others) or not self._mpi.Request.Testall(requests):
            self._hear()
            time.sleep(pause)
            pause = min(1.2 * pause, 10 * _LONGEST)
        self._tell_watcher()

    def _except(self, kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        """An exception ends the script: shows it as always, then ends all workers."""
        if kind is WorkerLeft and os.getpid() == self._pid:
            time.sleep(0.7 * self.rank)  # all raise it, one tells it: the others are ended meanwhile
        if os.getpid() != self._pid or self.size == 1:
            self._show(kind, value, trace)
            return
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            self._show(kind, value, trace)
        text = str(value).strip().partition("\n")[0]
        self.end(f"ended with {kind.__name__}" + f": {text}" * bool(text), 1, shown.getvalue())

    def end(self, how: str, status: int, before: str = "") -> None:
        """Says how this worker ends, and ends all with that exit status; nothing where it is alone.

        Args: before: What is written before that, together with it: other workers' lines do not come between.
        """
        if self.size == 1:
            return
        place = f"process {self._pid} on {socket.gethostname()}"
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.write(2, f"{before}mxlite: worker {self.rank} of {self.size} ({place}) {how}\n".encode())
        time.sleep(0.2)  # mpiexec forwards it; what it has not forwarded when a worker aborts is lost
        self._tell_watcher()
        self._mpi.COMM_WORLD.Abort(status & 255 or 1)
        os._exit(status & 255 or 1)

    def _tell_watcher(self) -> None:
        """Lets the process that `mxlite run -n` started for this worker know that it has said how it ends."""
        watcher = os.environ.get("MXLITE_RUN_WATCHER")
        if watcher:
            os.write(int(watcher), b".")
