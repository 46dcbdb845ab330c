"""`mx.monitor`: statistics of the arrays in executors, which mxlite has not yet: nothing can be installed."""

from __future__ import annotations

import logging
import re
from typing import Any, Callable, NoReturn

from mxlite._public import show as _show
from mxlite.error import MXNotImplementedError
from mxlite.ndarray.ndarray import NDArray

__all__ = ["Monitor"]


def _mean_size(array: NDArray) -> NDArray:
    """The norm of an array by the root of its size."""
    return array.norm() / array.size**0.5


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

    def install(self, exe: Any) -> NoReturn:
        """Raises: NotImplementedError: there are no executors yet; Gluon's blocks have `register_forward_hook`."""
        raise MXNotImplementedError(
            "Monitor.install: executors are not in mxlite yet, use Block.register_forward_hook; "
            "see 'Not supported yet' in docs/compatibility.md"
        )

    def tic(self) -> None:
        """Begins a batch."""
        if self.step % self.interval == 0:
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self) -> list[tuple[int, str, str]]:
        """Ends a batch: the step, name and statistic of each array; nothing, since there are no executors."""
        self.activated = False
        return []

    def toc_print(self) -> None:
        """Ends a batch and logs what `toc` returns."""
        for step, name, value in self.toc():
            logging.info("Batch: %7d %30s %s", step, name, value)


_show(globals())
