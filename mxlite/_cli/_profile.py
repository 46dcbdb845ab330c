"""What `mxlite predict --profile` shows: the time of each node of the graph that runs, as tables and as a picture."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import mxlite as mx
from mxlite import _replace
from mxlite._cli._units import duration, scaled
from mxlite._cli._work import Work, works_of
from mxlite._notebook import chart
from mxlite._notebook.tables import Table
from mxlite.error import MXNetError
from mxlite.executor import Executor

#: A trace of more runs says the same, in a larger file.
_MOST_RUNS = 20
_NUMBERS = ["time", "share", "FLOP", "FLOP/s", "bytes"]


@dataclass
class Timed:
    """A node, and the seconds that it takes."""

    work: Work
    seconds: float


def _record(executor: Executor, runs: int, file: Path) -> list[tuple[str, float]]:
    """Names and seconds of the nodes of these runs, in the order in which they begin; without those within others."""
    mx.profiler.set_config(filename=str(file))
    mx.profiler.set_state("run")
    try:
        for _ in range(runs):
            executor.forward(is_train=False)
    finally:
        mx.profiler.dump()
        mx.profiler.set_config()
    spans, begun = [], {}
    for event in json.loads(file.read_text(encoding="utf-8"), parse_float=Decimal)["traceEvents"]:
        if event.get("cat") == "node" and event["ph"] == "B":
            begun[event["name"]] = event["ts"]
        elif event.get("cat") == "node":
            spans.append((begun[event["name"]], event["ts"], event["name"]))
    found, free = [], Decimal(0)
    for begin, end, name in sorted(spans, key=lambda each: (each[0], -each[1])):
        if begin >= free:
            found.append((name, float(end - begin) / 1e6))
            free = end
    return found


def measure(executor: Executor, runs: int) -> list[Timed]:
    """The nodes of the graph that an executor runs, in that order, with the medians of their times in so many runs.

    Every node computes at once (mx.engine.bulk), so that each has a time of its own.

    Raises: MXNetError.
    """
    works = works_of(executor)
    runs = min(runs, _MOST_RUNS)
    with tempfile.TemporaryDirectory() as folder, mx.engine.bulk(0):
        found = _record(executor, 1 + runs, Path(folder, "trace.json"))
    if [name for name, _ in found] != (1 + runs) * [work.name for work in works]:
        raise MXNetError("the profile: another graph ran than the one that the executor tells of")
    times = [seconds for _, seconds in found[len(works) :]]  # the first run is like none after it
    return [Timed(work, statistics.median(times[at :: len(works)])) for at, work in enumerate(works)]


def _numbers(nodes: Sequence[Timed], whole: float) -> list[str]:
    seconds, flops = sum(each.seconds for each in nodes), sum(each.work.flops for each in nodes)
    share = f"{100 * seconds / whole:.1f} %" if whole else ""
    rate = scaled(flops / seconds) if seconds else ""
    return [duration(seconds), share, scaled(flops), rate, scaled(sum(each.work.bytes for each in nodes))]


def tables(nodes: Sequence[Timed]) -> str:
    """A table of the nodes, the most expensive first, and one of sums by operator."""
    whole = sum(each.seconds for each in nodes)
    rows = []
    for each in sorted(nodes, key=lambda each: -each.seconds):
        shape = "(" + ",".join(map(str, each.work.outputs[0])) + ")" if each.work.outputs else ""
        rows.append([each.work.name, each.work.operator, shape, *_numbers([each], whole)])
    first = Table.of(["node", "operator", "output", *_NUMBERS], rows, right=range(3, 8))
    groups: dict[str, list[Timed]] = {}
    for each in nodes:
        groups.setdefault(each.work.operator, []).append(each)
    rows = [[name, str(len(group)), *_numbers(group, whole)] for name, group in groups.items()]
    order = sorted(range(len(rows)), key=lambda at: -sum(each.seconds for each in groups[rows[at][0]]))
    rows = [*(rows[at] for at in order), ["all", str(len(nodes)), *_numbers(nodes, whole)]]
    return f"{first}\n\n{Table.of(['operator', 'nodes', *_NUMBERS], rows, right=range(1, 7))}"


def draw(nodes: Sequence[Timed], title: str, path: str) -> None:
    """Writes the nodes as SVG: a bar for each, in the order in which they run, coloured by operator.

    Raises: OSError.
    """
    whole = sum(each.seconds for each in nodes) or 1.0
    bars = []
    for each in nodes:
        told = f"{duration(each.seconds)}, {100 * each.seconds / whole:.1f} %"
        bars.append((each.work.name, each.work.operator, each.seconds * 1e3, told))
    _replace.write(path, chart.steps(title, bars))
