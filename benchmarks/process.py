"""A process that measures: a library, or a loop in C, with its number of threads. For run.py, large.py and layers.py,
which keep one for each peer and ask them in turns."""

from __future__ import annotations

import os
import subprocess


class Worker:
    """A process of worker.py, large_worker.py or floor.c: it says its version first, and then a number, the nanoseconds
    of one call, for each line that it gets."""

    def __init__(self, name: str, command: list[str], threads: int = 1, **env: str) -> None:
        self.name, self.threads = name, threads
        count = str(threads)
        settings = dict(os.environ, OMP_NUM_THREADS=count, MXLITE_NUM_THREADS=count, OPENBLAS_NUM_THREADS=count)
        settings.update(MKL_NUM_THREADS=count, MXNET_CPU_WORKER_NTHREADS="1", **env)
        # OpenBLAS' threads look for work for 0.1 s after a product, while others are measured: let it be 2^20 ticks.
        settings["OPENBLAS_THREAD_TIMEOUT"] = "20"
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=settings)
        self.version = self.answer()

    def answer(self) -> str:
        """The next line; ends the program where there is none."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"bench: the process of {self.name} ended with status {self.process.wait()}")
        return line.strip()

    def nanoseconds(self, *words: object) -> float:
        """Of one call of what the words name; NaN where the peer has nothing like it."""
        assert self.process.stdin is not None
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return float(self.answer())

    def peak(self) -> float:
        """MB that it has held at most."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(float(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmHWM:"))

    def close(self) -> None:
        """Lets it end, and waits."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
