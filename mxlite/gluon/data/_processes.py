"""Worker processes that make batches: each has a socket, over which memory files of arrays cross."""

from __future__ import annotations

import collections
import itertools
import multiprocessing
import multiprocessing.process
import os
import pickle
import random
import select
import signal
import socket
import threading
import time
import traceback
import weakref
from typing import Any, Callable

import numpy as np

from mxlite import random as mx_random
from mxlite._ends import uninterrupted, when_gone
from mxlite.error import MXNetError, WrongStateError
from mxlite.gluon.data import _messages

#: How often the two sides look whether the other is alive where its socket does not tell.
_LOOK = 1.0

#: The parent's ends of the sockets of all workers, which a worker closes.
_parents_ends: dict[socket.socket, None] = {}


class WorkerTraceback(Exception):  # noqa: N818 - the cause of an error, never raised
    """Where in a worker an exception was raised: the cause of the exception in the parent."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'


class Worker:
    """A process and the parent's end of its socket, which never blocks. It is made in one piece: `uninterrupted`."""

    def __init__(self, number: int, dataset: Any, batchify_fn: Callable) -> None:
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.number = number
        self.owed: collections.deque = collections.deque()  # what it has to answer
        self.process = multiprocessing.get_context("fork").Process(
            target=_work, args=(theirs, number, dataset, batchify_fn, os.getpid()), daemon=True
        )
        mine.setblocking(False)
        self.socket = mine
        self.reader = _messages.Reader(mine)
        _parents_ends[mine] = None
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the worker ignores it
        try:
            self.process.start()
            # A forked child of this process would end the worker when it exits: multiprocessing takes it for its own.
            getattr(multiprocessing.process, "_children", set()).discard(self.process)
        except BaseException:
            self.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()
        self.ended = False
        self._out = bytearray()

    def send(self, message: Any) -> None:
        """Sends what the socket takes now; `flush` sends the rest."""
        self._out += _messages.framed(pickle.dumps(message, protocol=5))
        self.flush()

    def flush(self) -> None:
        try:
            while self._out:
                del self._out[: self.socket.send(self._out)]
        except BlockingIOError:
            pass
        except (BrokenPipeError, ConnectionResetError):
            self._out.clear()  # it ended: reading says so

    def close(self) -> None:
        """Closes the socket, and files that came over it."""
        _parents_ends.pop(self.socket, None)
        self.socket.close()
        self.reader.close()

    @property
    def events(self) -> int:
        """What to wait for."""
        return select.POLLIN | select.POLLOUT if self._out else select.POLLIN

    def why_it_ended(self) -> str:
        """A sentence on a process that is no more."""
        self.process.join(5)
        code = self.process.exitcode
        how = f"with exit code {code}"
        if code is not None and code < 0:
            how = f"by signal {-code} ({signal.Signals(-code).name})"
        return f"worker {self.number} of the DataLoader (process {self.process.pid}) was ended {how}"


class Pool:
    """Workers over one data set. Answers are kept for who asked, until it takes them or is gone."""

    def __init__(self, count: int, dataset: Any, batchify_fn: Callable) -> None:
        if "fork" not in multiprocessing.get_all_start_methods():
            raise NotImplementedError("DataLoader with num_workers: this system cannot fork; use thread_pool=True")
        if multiprocessing.current_process().daemon:
            raise WrongStateError("DataLoader with num_workers: a daemonic process starts none; use thread_pool=True")
        self.workers: list[Worker] = []
        self.broken: str | None = None
        self.owner = os.getpid()
        self._end = when_gone(self, _close, self.workers)
        with uninterrupted():
            for number in range(count):
                self.workers.append(Worker(number, dataset, batchify_fn))

    def close(self) -> None:
        """Ends the workers."""
        self.broken = self.broken or "the DataLoader's workers were ended"
        self._end.now()

    def ask(self, worker: Worker, tasks: list[tuple[int, list]], answers: Answers) -> None:
        """Gives a worker numbers of batches and of their samples; `answers` will hold them by number."""
        kept = weakref.ref(answers)
        worker.owed.extend([(number, kept) for number, _ in tasks])
        worker.send([indices for _, indices in tasks])

    def wait(self, worker: Worker, answers: Answers, number: int, timeout: float) -> None:
        """Waits until a worker has answered; takes what others answer meanwhile.

        Raises: MXNetError: a worker ended; TimeoutError (multiprocessing's): it takes too long.
        """
        try:
            end = time.monotonic() + timeout
            self._take(worker)
            while number not in answers.held:
                if worker.ended:
                    raise MXNetError(worker.why_it_ended())
                self._poll(worker, end)
        except BaseException as error:  # Ctrl-C too: half a message may be read
            self.broken = str(error) or type(error).__name__
            self.close()
            raise

    def _poll(self, worker: Worker, end: float) -> None:
        poll = select.poll()
        by_file = {each.socket.fileno(): each for each in self.workers if not each.ended}
        for file, each in by_file.items():
            poll.register(file, each.events)
        left = end - time.monotonic()
        if left <= 0:
            raise multiprocessing.TimeoutError(
                f"worker {worker.number} of the DataLoader has not made its batch within the timeout; "
                "see DataLoader(timeout=)"
            )
        ready = poll.poll(min(left, _LOOK) * 1000)
        for file, event in ready:
            if event & select.POLLOUT:
                with uninterrupted():
                    by_file[file].flush()
            if event & ~select.POLLOUT:
                self._take(by_file[file])
        if not ready and not worker.process.is_alive():
            self._take(worker)
            worker.ended = True

    def _take(self, worker: Worker) -> None:
        with uninterrupted():  # files that came have an owner, and half a message is not forgotten
            try:
                for payload, files in worker.reader.messages():
                    number, kept = worker.owed.popleft()
                    answers = kept()
                    if answers is None:
                        _messages.close(files)
                    else:
                        answers.held[number] = payload, files
            except (EOFError, ConnectionResetError):
                worker.ended = True  # what it answered before is as good


class Answers:
    """Answers by number, in `held`; those that nobody takes leave no files open."""

    __slots__ = ("__weakref__", "held")

    def __init__(self) -> None:
        self.held: dict[int, tuple[bytes, list[int]]] = {}
        when_gone(self, _forget, self.held)


def _forget(held: dict[int, tuple[bytes, list[int]]]) -> None:
    while held:
        _messages.close(held.popitem()[1][1])


class Batches:
    """The batches of one epoch, in order: batch k is of worker k modulo their number."""

    def __init__(self, pool: Pool, lists: Any, prefetch: int, timeout: float) -> None:
        self._pool = pool
        self._lists = enumerate(lists)
        self._timeout = timeout
        self._answers = Answers()
        self._next = 0
        self._asked = 0
        count = len(pool.workers)
        self._ahead = max(prefetch, 1)
        self._group = max(1, self._ahead // (2 * count)) * count
        self._ask(self._ahead)

    def __iter__(self) -> Batches:
        return self

    @property
    def here(self) -> bool:
        """Whether the workers are this process's: those of a forked child are its parent's."""
        return self._pool.owner == os.getpid()

    def _ask(self, count: int) -> None:
        workers = self._pool.workers
        tasks = list(itertools.islice(self._lists, count))
        with uninterrupted():
            self._asked += len(tasks)
            for offset in range(min(len(workers), len(tasks))):
                part = tasks[offset :: len(workers)]
                self._pool.ask(workers[part[0][0] % len(workers)], part, self._answers)

    def __next__(self) -> Any:
        pool, number = self._pool, self._next
        if not self.here:
            raise MXNetError(
                f"DataLoader: this epoch was begun in process {pool.owner}, whose workers make its batches; begin "
                f"another one in the forked process {os.getpid()}"
            )
        if number >= self._asked:
            self._ask(1)
            if number >= self._asked:
                raise StopIteration
        if number not in self._answers.held:
            if pool.broken is not None:
                raise MXNetError(f"the DataLoader's workers have ended: {pool.broken}")
            pool.wait(pool.workers[number % len(pool.workers)], self._answers, number, self._timeout)
        with uninterrupted():  # the batch and its files are taken, or there for another call
            batch = _messages.opened(*self._answers.held.pop(number))
            self._next = number + 1
        room = self._ahead - (self._asked - self._next)
        if room >= self._group and pool.broken is None:
            self._ask(room)
        return batch


def _close(workers: list[Worker]) -> None:
    """On the janitor's thread: ends workers, and waits for that."""
    for worker in workers:
        worker.process.terminate()
    end = time.monotonic() + 2
    for worker in workers:
        worker.process.join(max(0, end - time.monotonic()))
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join(5)
        worker.close()
        del worker.process  # here, not in the main thread: what goes with it is Python code


def _work(channel: socket.socket, number: int, dataset: Any, batchify_fn: Callable, parent: int) -> None:
    """What a worker does: reads lists of numbers of samples, sends batches, until its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # for processes that the data set starts
    for each in list(_parents_ends):
        each.close()
    for seed in (np.random.seed, random.seed, mx_random.seed):  # else all workers would draw the same numbers
        seed((int(np.random.randint(2**31 - 1)) + number * 7919) % (2**31 - 1))
    reader = _messages.Reader(channel)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        while True:
            for payload, _ in reader.messages(once=True):
                for indices in pickle.loads(payload):
                    _messages.send(channel, *_answer(dataset, indices, batchify_fn))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass


def _end_with(parent: int) -> None:
    """Ends the process when its parent is gone, whatever the data set does."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


def _answer(dataset: Any, indices: Any, batchify_fn: Callable) -> tuple[bytes, list[int]]:
    try:
        return _messages.packed(batchify_fn([dataset[index] for index in indices]))
    except Exception as error:
        text = traceback.format_exc()
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            error = MXNetError(f"{type(error).__name__}: {error}")
        return _messages.packed(Raised(error, text))


class Raised:
    """An exception on its way from a worker to the parent."""

    def __init__(self, error: Exception, text: str) -> None:
        self.error, self.text = error, text

    def again(self) -> None:
        """Raises it here, with the worker's traceback as its cause."""
        raise self.error from WorkerTraceback(self.text)
