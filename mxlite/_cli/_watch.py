"""Starts a worker of `mxlite run -n`, and says which it was if it does not end well and cannot say so itself.

Run as a script, with the worker's command; it imports nothing of mxlite. A worker that has told how it ends writes a
byte to the pipe whose number is in MXLITE_RUN_WATCHER; so does one that comes to its end.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import subprocess
import sys

#: Where MPIs and schedulers tell a process its number.
_RANKS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")
_PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    """In the worker, before it begins: it is killed when its watcher ends (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def main() -> int:
    """Runs the worker, and returns the code to exit with: the worker's, or 128 and the signal that ended it."""
    told, tell = os.pipe()
    os.set_inheritable(tell, True)
    me = os.getpid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def prepare() -> None:
        die_with(me)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    worker = subprocess.Popen(
        sys.argv[1:],
        env={**os.environ, "MXLITE_RUN_WATCHER": str(tell)},
        close_fds=False,
        preexec_fn=prepare,
    )
    code = worker.wait()
    if not select.select([told], [], [], 0)[0]:
        rank = next((os.environ[name] for name in _RANKS if name in os.environ), "?")
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit status {code}"
        how += ", not at the end of its script" * (code == 0)
        place = f"process {worker.pid} on {socket.gethostname()}"
        line = f"mxlite: worker {rank} of {os.environ.get('MXLITE_RUN_WORKERS', '?')} ({place}) {how}\n"
        os.write(2, line.encode())
        return 128 - code if code < 0 else code or 1
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    sys.exit(main())
