"""`torch.autograd.profiler`: the library's profiler as `profile`, and blocks that it names, `record_function`."""

from __future__ import annotations

import functools
import json
import time
from typing import Any, Callable

from mxlite import profiler as _library
from mxlite._lib import LIB
from mxlite._public import show as _show
from mxlite.torch._calls import check_call

__all__ = ["profile", "record_function"]


class record_function:  # noqa: N801 - PyTorch's name
    """A with-block, or a decorator, that the profiler counts under a name."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> record_function:
        self._event = _library.Event(self.name)
        self._event.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._event.stop()

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return function(*args, **kwargs)

        return wrapper


class _Average:
    """All calls of one name; times are in microseconds."""

    def __init__(self, name: str, count: int, total: float) -> None:
        self.key, self.count = name, count
        self.cpu_time_total = self.self_cpu_time_total = total
        self.cpu_time = total / count if count else 0.0

    def __repr__(self) -> str:
        return f"<{self.key}: {self.count} calls, {self.cpu_time_total:.3f}us>"


class _Averages(list):
    """Such rows."""

    def table(self, sort_by: str | None = None, row_limit: int = 100, **_: Any) -> str:
        """A text with a row for each name, those with the largest `sort_by` first."""
        rows = sorted(self, key=lambda each: -getattr(each, sort_by)) if sort_by else list(self)
        width = max([4, *(len(each.key) for each in rows)]) + 2
        lines = [f"{'Name':<{width}}{'CPU total':>14}{'CPU time avg':>14}{'# of Calls':>12}"]
        for each in rows[:row_limit] if row_limit >= 0 else rows:
            lines.append(f"{each.key:<{width}}{each.cpu_time_total:>12.3f}us{each.cpu_time:>12.3f}us{each.count:>12}")
        return "\n".join([*lines, f"Self CPU time total: {self.self_cpu_time_total:.3f}us", ""])

    def total_average(self) -> _Average:
        """All rows as one."""
        return _Average("Total", sum(each.count for each in self), self.self_cpu_time_total)

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all rows."""
        return sum(each.self_cpu_time_total for each in self)


class profile:  # noqa: N801
    """A with-block whose operators, of all threads, are counted and timed. One runs at a time.

    Operators have the library's names. Element-wise ones that run together are one row.
    """

    def __init__(self, enabled: bool = True, **_: Any) -> None:
        self.enabled = enabled
        self._averages = _Averages()

    def __enter__(self) -> profile:
        if self.enabled:
            _library.set_config(aggregate_stats=True)
            _library.dumps(reset=True)
            self._begin = time.perf_counter()
            check_call(LIB.MXSetProcessProfilerState(1, 0, None))
        return self

    def __exit__(self, *_: object) -> None:
        if not self.enabled:
            return
        check_call(LIB.MXSetProcessProfilerState(0, 0, None))
        found = json.loads(_library.dumps(reset=True, format="json")).get("Time", {})
        self._averages = _Averages(
            _Average(name, each["Count"], each["Total"] * 1e3) for rows in found.values() for name, each in rows.items()
        )

    def key_averages(self, **_: Any) -> _Averages:
        """The counts and times of all names."""
        return self._averages

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """key_averages().table()"""
        return self._averages.table(sort_by, row_limit, **options)

    def total_average(self) -> _Average:
        """All of them as one."""
        return self._averages.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all of them, in microseconds."""
        return self._averages.self_cpu_time_total

    def export_chrome_trace(self, path: str) -> None:
        """Writes what the profiler recorded as JSON for chrome://tracing."""
        _library.set_config(aggregate_stats=True, filename=path)
        _library.dump()


_show(globals())
