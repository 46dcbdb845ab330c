"""Removes the shared memory of the workers of `mxlite run -n` when they have ended, however they did.

MPI removes its files in /dev/shm itself where all workers come to their end; those of aborted ones would stay. So each
worker names its files when MPI has been started, and a process that outlives all of them removes these and no others.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import stat
from typing import NoReturn

from mxlite._cli._watch import die_with

#: Of the pipe to the cleaner: the descriptor's number, and the inode by which a worker knows that it is this pipe.
VARIABLE = "MXLITE_RUN_CLEANER"
_FOLDER = "/dev/shm/"
#: Signals that mpiexec gets.
_PASSED = {signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2}
#: How long the command waits for the cleaner: a process that a worker left behind may have the pipe.
_PATIENCE = 5.0


def mapped() -> set[bytes]:
    """Lines "inode path" of this process's shared memory that has names."""
    try:
        with open("/proc/self/maps", "rb") as file:
            entries = [line.rstrip(b"\n").split(maxsplit=5)[4:] for line in file]
    except OSError:
        return set()
    return {b" ".join(entry) for entry in entries if len(entry) == 2 and entry[1].startswith(_FOLDER.encode())}


def tell(lines: set[bytes]) -> None:
    """In a worker: tells the cleaner what `mapped` has said, if there is one on this machine."""
    number, _, inode = os.environ.get(VARIABLE, "").partition(":")
    if not (lines and number.isdigit()):
        return
    with contextlib.suppress(OSError):
        about = os.fstat(int(number))
        if stat.S_ISFIFO(about.st_mode) and str(about.st_ino) == inode:
            for line in lines:
                os.write(int(number), line + b"\n")


def run(command: list[str]) -> NoReturn:
    """Runs mpiexec as if this process had become it, and a cleaner beside it; ends when both have ended.

    The cleaner is another process, so that it does its work also where this one is killed, and mpiexec with it. It
    waits until nobody has the other end of its pipe: mpiexec, and all that this has started.
    """
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    os.environ[VARIABLE] = f"{writing}:{os.fstat(writing).st_ino}"
    done, finish = os.pipe()
    if os.fork() == 0:
        try:
            os.setsid()
            os.close(writing)
            os.close(done)
            _clean(reading)
        finally:
            os._exit(0)
    os.close(reading)
    os.close(finish)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED | {signal.SIGCHLD})
    parent, child = os.getpid(), os.fork()
    if child == 0:
        try:
            die_with(parent)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.execv(command[0], command)
        finally:
            os._exit(127)
    os.close(writing)
    status = _wait(child)
    select.select([done], [], [], _PATIENCE)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def _wait(child: int) -> int:
    """Waits for a child, which gets the signals that others send to this process; returns its status.

    A terminal sends Ctrl-C to the child itself.
    """
    while True:
        came = signal.sigwaitinfo(_PASSED | {signal.SIGCHLD})
        if came.si_signo != signal.SIGCHLD:
            if came.si_code <= 0:  # by a process, not by the system
                os.kill(child, came.si_signo)
            continue
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended == child:
            return status


def _clean(reading: int) -> None:
    """Waits until the pipe has no other end, then removes what was told."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with os.fdopen(reading, "rb") as file:
        for line in set(file):
            inode, _, path = line.rstrip(b"\n").partition(b" ")
            with contextlib.suppress(OSError):
                if os.stat(path).st_ino == int(inode):
                    os.unlink(path)
