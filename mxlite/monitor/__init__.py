"""`mx.monitor`: statistics of the arrays in executors."""

from __future__ import annotations

import logging
import re
from typing import Any, Callable

from mxlite._public import show as _show
from mxlite.error import WrongTypeError
from mxlite.ndarray.ndarray import NDArray

__all__ = ["Monitor"]


def _mean_size(array: NDArray) -> NDArray:
    """The norm of an array by the root of its size."""
    return array.norm() / array.size**0.5


def _text(value: Any) -> str:
    """A statistic, or a list of them, as text. Raises: TypeError: no arrays."""
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(each, NDArray) for each in values):
        raise WrongTypeError("stat_func must return an NDArray or a list of them")
    return "".join(f"{each.asscalar() if each.size == 1 else each.asnumpy()}\t" for each in values)


class Monitor:
    """Statistics of the arrays in executors, each `interval` batches.

    Args:
        stat_func: What is taken of an array. None: its norm by the root of its size.
        pattern: A regular expression of the names that count.
        sort: The results are sorted by name.
        monitor_all: Inputs of operators count as well as outputs.
    """

    def __init__(
        self,
        interval: int,
        stat_func: Callable[[NDArray], Any] | None = None,
        pattern: str = ".*",
        sort: bool = False,
        monitor_all: bool = False,
    ) -> None:
        self.stat_func = _mean_size if stat_func is None else stat_func
        self.interval = interval
        self.activated = False
        self.queue: list[tuple[int, str, Any]] = []
        self.step = 0
        self.exes: list[Any] = []
        self.re_prog = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all

    def install(self, exe: Any) -> None:
        """Takes the statistics of an executor's arrays from now on."""
        exe.set_monitor_callback(self._see, self.monitor_all)
        self.exes.append(exe)

    def _see(self, name: bytes, handle: int) -> None:
        """Is called with each array that an executor computes."""
        array = NDArray(handle, writable=False)
        if self.activated:
            self._note(name.decode(), array)

    def _note(self, name: str, array: NDArray) -> None:
        if self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def tic(self) -> None:
        """Begins a batch."""
        if self.step % self.interval == 0:
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self) -> list[tuple[int, str, str]]:
        """Ends a batch: the step, name and statistic (as text) of each array, the executors' own arrays last."""
        if not self.activated:
            return []
        for each in self.exes:
            names = [*each._symbol.list_arguments(), *each._symbol.list_auxiliary_states()]
            for name, array in zip(names, [*each.arg_arrays, *each.aux_arrays]):
                self._note(name, array)
        self.activated = False
        found = sorted(self.queue, key=lambda row: row[1]) if self.sort else self.queue
        self.queue = []
        return [(step, name, _text(value)) for step, name, value in found]

    def toc_print(self) -> None:
        """Ends a batch and logs what `toc` returns."""
        for step, name, value in self.toc():
            logging.info("Batch: %7d %30s %s", step, name, value)


_show(globals())
