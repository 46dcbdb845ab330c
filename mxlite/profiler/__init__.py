"""`mx.profiler`: how long operators take, and what a program measures itself; as MXNet 1.9.1's.

mx.profiler.set_config(filename="trace.json", aggregate_stats=True)
mx.profiler.set_state("run")
train()
mx.profiler.set_state("stop")
print(mx.profiler.dumps())  # a table: calls, total, least, largest and average time of each operator
mx.profiler.dump()  # trace.json, for chrome://tracing or https://ui.perfetto.dev
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import re
import warnings
from typing import Any

from mxlite._lib import LIB, ask, c_texts, check_call, last_error
from mxlite._notebook import chart as _chart
from mxlite._notebook import tables as _tables
from mxlite._notebook.picture import Picture
from mxlite._public import show as _show
from mxlite._public.near import did_you_mean
from mxlite.error import WrongValueError
from mxlite.profiler._objects import Counter, Domain, Event, Frame, Marker, Task

__all__ = [
    "Counter",
    "Domain",
    "Event",
    "Frame",
    "Marker",
    "Task",
    "dump",
    "dump_profile",
    "dumps",
    "pause",
    "profiler_set_config",
    "profiler_set_state",
    "resume",
    "set_config",
    "set_kvstore_handle",
    "set_state",
    "timeline",
]

_STATES = {"stop": 0, "run": 1}
_PROCESSES = {"worker": 0, "server": 1}
_FORMATS = {"table": 0, "json": 1}
_ORDERS = {"total": 0, "avg": 1, "min": 2, "max": 3, "count": 4}


def set_config(**kwargs: Any) -> None:
    """Sets what the profiler does; settings that are not given have their defaults again.

    Args:
        filename: the trace that `dump` writes; "profile.json".
        aggregate_stats: keep sums by name, for `dumps`; False.
        continuous_dump: write the file whenever the profiler stops too; False.
        dump_period: seconds above 0; checked only.
        profile_all, profile_symbolic, profile_imperative, profile_memory, profile_api: bool; checked only, since
            operators, memory and the objects of this module are recorded in any case, as by 1.9.1.
        profile_process: "worker".

    Raises:
        MXNetError: an unknown setting, or a value that does not suit it.
    """
    values = [str(value) for value in kwargs.values()]
    check_call(LIB.MXSetProcessProfilerConfig(len(values), c_texts(kwargs), c_texts(values), None))
    _filename[0] = values[list(kwargs).index("filename")] if "filename" in kwargs else "profile.json"


#: Where `dump` writes, and `timeline` reads.
_filename = ["profile.json"]


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """Starts ("run") or stops ("stop") the profiler, in all threads.

    Raises:
        KeyError: another state or process.
        MXNetError: `profile_process` is "server": there are no servers.
    """
    code = _STATES[state]
    check_call(LIB.MXSetProcessProfilerState(code, _PROCESSES[profile_process], None))
    if code:
        _dump_at_exit()


def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Writes the trace of what was recorded since the last finished one, as JSON for chrome://tracing.

    Args:
        finished: stop the profiler, and begin a new trace next time. Otherwise a later file has these records too.

    Raises:
        MXNetError: the profiler has not run since the last finished file, or the file cannot be written; then no
            record is lost.
    """
    check_call(LIB.MXDumpProcessProfile(int(bool(finished)), _PROCESSES[profile_process], None))


def dumps(reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False) -> str:
    """The sums by name as a text, which a notebook shows as tables; "" without `aggregate_stats`.

    Times are in milliseconds, memory is in kilobytes. The time of an operator is without that of fused passes within.

    Args:
        reset: begin new sums.
        format: "table" or "json".
        sort_by: "total", "avg", "min", "max" or "count".
        ascending: the smallest first.

    Raises:
        ValueError: another format or order.
    """
    for name, given, known in (("format", format, _FORMATS), ("sort_by", sort_by, _ORDERS)):
        if given not in known:
            meant = did_you_mean(given, known)
            raise WrongValueError(f"{name} is {given!r}; it may be one of {', '.join(known)}{meant}")
    text = ask(
        ctypes.c_char_p,
        lambda *arguments: LIB.MXAggregateProfileStatsPrintEx(arguments[-1], *arguments[:-1]),
        int(bool(reset)),
        _FORMATS[format],
        _ORDERS[sort_by],
        int(bool(ascending)),
    )
    return text.decode() if format == "json" else _Sums(text.decode())


class _Sums(_tables.Table):
    """The text of `dumps`, with a table for each of its groups in a notebook."""

    def _repr_html_(self) -> str | None:
        parts = []
        for group in self.split("\n\n"):
            title, rule, below = group.partition("\n====")
            lines = below.splitlines()[1:]
            if rule and len(lines) > 2:  # names of the columns, another rule, rows
                ends = [0, *(dashes.end() for dashes in re.finditer("-+", lines[1]))]
                head = [" ".join(lines[0][a:b].split()) for a, b in zip(ends, ends[1:])]
                rows = [line.rsplit(None, len(head) - 1) for line in lines[2:]]
                title = title.splitlines()[-1]
                parts.append(_tables.table(head, rows, right=range(1, len(head)), title=title))
        return "".join(parts) or None


def timeline(filename: str | None = None) -> Picture:
    """A trace as a picture, which a notebook shows: a bar for each operator and task on a line of time.

    Args:
        filename: a file that `dump` wrote; None: that of `set_config`, into which what was recorded since the last
            finished file is written now, as by dump(finished=False).

    Raises:
        OSError: there is no such file. ValueError: it is no trace, or has no work in it. MXNetError: it cannot be
            written.
    """
    if filename is None:
        filename = _filename[0]
        _write_new(False)
    with open(filename, encoding="utf-8") as file:
        try:
            events = json.load(file)["traceEvents"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"timeline: {filename} is no trace that profiler.dump() wrote") from None
    spans = _spans(events)
    if not spans:
        raise ValueError(f"timeline: {filename} has no operators and no tasks in it")
    return Picture(_chart.timeline(spans), f"{len(spans)} records")


def _spans(events: list[dict[str, Any]]) -> list[_chart.Span]:
    """What began and ended: its thread or domain, its name, and when, in milliseconds."""
    threads: dict[Any, int] = {}
    begun: dict[tuple, list[float]] = {}
    found: list[_chart.Span] = []
    for event in events:
        key = (event.get("pid"), event.get("tid"), event.get("cat"), event.get("name"))
        if event.get("ph") in ("B", "b", "("):
            begun.setdefault(key, []).append(float(event["ts"]))
        elif event.get("ph") in ("E", "e", ")") and begun.get(key):
            thread = threads.setdefault(event.get("tid"), len(threads) + 1)
            group = f"{event['cat']}, thread {thread}"
            found.append((group, event["name"], begun[key].pop() / 1000, float(event["ts"]) / 1000))
    return found


def pause(profile_process: str = "worker") -> None:
    """Records nothing until `resume`."""
    check_call(LIB.MXProcessProfilePause(1, _PROCESSES[profile_process], None))


def resume(profile_process: str = "worker") -> None:
    """Ends a `pause`."""
    check_call(LIB.MXProcessProfilePause(0, _PROCESSES[profile_process], None))


def set_kvstore_handle(handle: Any) -> None:
    """Does nothing: there are no server processes that a store could reach."""


def _warn(old: str, new: str) -> None:
    warnings.warn(f"profiler.{old}() is deprecated: use profiler.{new}()", stacklevel=3)


def profiler_set_config(mode: str = "symbolic", filename: str = "profile.json") -> None:
    """The old form of `set_config`, with the mode "symbolic", "imperative", "api", "memory" or "all"."""
    _warn("profiler_set_config", "set_config")
    set_config(**{f"profile_{mode}": True, "filename": filename})


def profiler_set_state(state: str = "stop") -> None:
    """The old form of `set_state`."""
    _warn("profiler_set_state", "set_state")
    set_state(state)


def dump_profile() -> None:
    """The old form of `dump`."""
    _warn("dump_profile", "dump")
    dump()


_exits: list[int] = []


def _dump_at_exit() -> None:
    """Has this process write a trace at its end if the program has not."""
    if os.getpid() not in _exits:
        _exits[:] = [os.getpid()]
        atexit.register(_write_rest, os.getpid())


def _write_rest(process: int) -> None:
    """At the end of the process. Raises: MXNetError: the trace cannot be written; Python prints it."""
    if os.getpid() == process:
        _write_new(True)


def _write_new(finished: bool) -> None:
    """Writes the trace, unless it is written already. Raises: MXNetError: it cannot be written."""
    if LIB.MXDumpProcessProfile(int(finished), 0, None) != 0:
        problem = last_error()
        if "has not run since the last file" not in str(problem):  # the program has written it
            raise problem


_show(globals())
