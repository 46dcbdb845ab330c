"""``mxlite names``: whether a script, a notebook, a page or a folder of them runs here, and what differs: nothing of
them is run.

Said first is what stops a program, then what changes its results; corner cases and the rest on demand.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from mxlite._cli._names.judge import KINDS, QUIET, Finding, Report, on_the_cpu, plain, report
from mxlite._cli._names.known import Known
from mxlite._cli._names.sources import SUFFIXES

_FOLDERS_LEFT_OUT = {".git", ".venv", "venv", "__pycache__", "node_modules", ".ipynb_checkpoints", "site-packages"}
_MARGIN = 11  #: of the kinds' column
_LINES = 6  #: places of one finding that are listed


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for each in sorted(path.rglob("*")):
            if each.suffix in SUFFIXES and not _FOLDERS_LEFT_OUT.intersection(each.parts) and each.is_file():
                yield each


# ---- what is printed ----


def _summary(one: Report, package: str) -> str:
    """Whether a file runs, in a line."""
    if one.problem:
        return f"{one.file}: {one.problem}"
    if not one.names:
        return f"{one.file}: uses no {package}"
    stops, may = one.of("stops"), one.of("may stop")
    if stops:
        text = f"stops at {stops[0].place}: {_reason(one, stops[0])}"
        text += f"; runs with `{_run(package)} --cpu`" if on_the_cpu(one) else ""
        return f"{one.file}: {text}"
    differing = len({each.why for each in one.of("differs")})
    text = "runs"
    if differing:
        text += f", with {differing} {'difference' if differing == 1 else 'differences'}"
    if may:
        text += f", but may stop at {may[0].place}" + (f" {may[0].when}" if may[0].when else "")
        text += f"; not with `{_run(package)} --cpu`" if on_the_cpu(one) else ""
    return f"{one.file}: {text}"


def _run(package: str) -> str:
    return "mxlite run" + (" --as torch" if package == "torch" else "")


def _reason(one: Report, first: Finding) -> str:
    """What stops a program in a few words: a name that is missing, or why a call fails."""
    names = {each.name for each in one.names if each.state == "missing"} | {"Python 2"}
    if first.helps or first.name in names:
        return first.name
    return textwrap.shorten(first.why.partition("; ")[0], 80)


def _grouped(findings: list[Finding]) -> Iterator[list[Finding]]:
    """Findings of a kind that say the same, together, in the order of the first."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for each in findings:
        groups.setdefault((each.why, each.when), []).append(each)
    yield from groups.values()


def _places(group: list[Finding]) -> str:
    """ "line 3, 4, 9", "cell 2 line 3, cell 4 line 1"."""
    places = list(dict.fromkeys(each.place for each in group))
    shown = places[:_LINES]
    if all(each.startswith("line ") for each in shown):
        shown = [shown[0], *(each[len("line ") :] for each in shown[1:])]
    return ", ".join(shown) + (", ..." if len(places) > _LINES else "")


def _print_group(group: list[Finding], width: int) -> None:
    first = group[0]
    when = f"  {first.when}" if first.when and first.kind in ("may stop", "caught") else ""
    head = f"  {first.kind:{_MARGIN - 2}}{_places(group)}{when}:  {first.code}"
    print(head if len(head) <= width else head[: width - 3] + "...")
    why = first.why
    if first.helps and first.helps not in why:
        why += f"; `mxlite run {first.helps}` takes the CPU for it"
    if not any(first.name.rpartition(".")[2] in each for each in (first.code, first.why)):
        why = f"{first.name}: {why}"
    margin = " " * _MARGIN
    print(textwrap.fill(why, width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False))


def _print(one: Report, package: str, everything: bool) -> None:
    width = max(60, shutil.get_terminal_size((100, 24)).columns)
    print(_summary(one, package))
    for kind in KINDS:
        if everything or kind not in QUIET:
            for group in _grouped(one.of(kind)):
                _print_group(group, width)
    if everything:
        for each in one.names:
            if each.state == "works":
                print(f"  {'works':{_MARGIN - 2}}{each.name}  ({_shortened(each.places)})")


def _shortened(places: list[str]) -> str:
    return ", ".join(places[:_LINES]) + (", ..." if len(places) > _LINES else "")


def _print_total(reports: list[Report], package: str) -> None:
    if len(reports) == 1:
        return
    using = [one for one in reports if one.names]
    whole = sum(not one.stops for one in using)
    print(f"{len(reports)} files, {len(using)} use {package}; nothing stops {whole} of these")


def main(arguments: list[str] | None = None) -> int:
    """Prints what files use; returns 0, 1 if something stops, or may stop, one of them, 2 after wrong use."""
    parser = argparse.ArgumentParser(
        "mxlite names",
        description="Reads scripts, notebooks, Markdown pages and folders of them, without running them, and says of"
        " each whether `mxlite run` runs it: what stops it and where (names and arguments that are not here, GPUs,"
        " Python 2), what may stop it and when, and what gives other results than MXNet 1.9.1.",
        epilog="Exit code: 0; 1 if something stops, or may stop, a file, or one cannot be read; 2 after wrong use.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", type=Path, help="a .py, .ipynb or .md file, or a folder")
    parser.add_argument("--as", dest="package", choices=("mxnet", "torch"), default="mxnet", help="whose names")
    parser.add_argument(
        "--all",
        action="store_true",
        help="print corner cases, what the program catches or never comes to, and the names that work, too",
    )
    parser.add_argument("--summary", action="store_true", help="print one line for each file")
    parser.add_argument("--json", action="store_true", help="print a JSON list of files with findings and names")
    given = parser.parse_args(arguments)
    for path in given.paths:
        if not path.exists():
            print(f"mxlite names: {path}: there is no such file or folder", file=sys.stderr)
            return 2
    known = Known(given.package)
    reports = [report(path, given.package, known) for path in _files(given.paths)]
    if given.json:
        print(json.dumps([plain(one) for one in reports], indent=1))
    else:
        for one in reports:
            if given.summary:
                print(_summary(one, given.package))
            elif len(reports) == 1 or one.names or one.problem:
                _print(one, given.package, given.all)
        _print_total(reports, given.package)
    return int(any(one.stops for one in reports))
