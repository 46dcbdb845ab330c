"""``mxlite names``: which names of MXNet or PyTorch a script, a notebook or a folder uses, and what they are here.

Nothing of them is run. A name works, differs from MXNet 1.9.1 in what `mxlite help compatibility` says, or is missing.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mxlite._cli._uses import read, uses
from mxlite.error import MXNetError

_SHORT = {"mxnet": "mx", "torch": "torch"}
_STATES = ("missing", "differs", "works")
_COUNTED = {"works": "working", "differs": "working with differences", "missing": "missing"}
_FOLDERS_LEFT_OUT = {".git", ".venv", "venv", "__pycache__", "node_modules", ".ipynb_checkpoints", "site-packages"}


class Name(NamedTuple):
    """A name that a file uses: whether it works, and what is to be known of it otherwise."""

    name: str
    places: list[str]
    state: str
    why: list[str]


class Report(NamedTuple):
    """What a file uses; or why it could not be read."""

    file: str
    names: list[Name]
    stars: list[str]
    problem: str

    def count(self, state: str) -> int:
        """How many names are in a state."""
        return sum(each.state == state for each in self.names)


def differences() -> dict[str, list[str]]:
    """What differs from MXNet 1.9.1, by name, from the page of that name; tools/show_names.py makes the file."""
    held = json.loads(Path(__file__).with_name("differences.json").read_text(encoding="utf-8"))
    return {name: [held["texts"][at] for at in places] for name, places in held["names"].items()}


class Known:
    """What became of the names of a package here: asked of mxlite itself, once for each name."""

    def __init__(self, package: str) -> None:
        self._root = importlib.import_module({"mxnet": "mxlite", "torch": "mxlite.torch"}[package])
        self._states: dict[str, tuple[str, list[str]]] = {}
        self._differences: dict[str, list[str]] = {}
        if package == "mxnet":
            self._differences = differences()

    def state(self, name: str) -> tuple[str, list[str]]:
        """ "works", "differs" or "missing", and the sentences about it."""
        if name not in self._states:
            self._states[name] = self._find(name)
        return self._states[name]

    def _find(self, name: str) -> tuple[str, list[str]]:
        found: Any = self._root
        for part in filter(None, name.split(".")):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = getattr(found, part)
            except (AttributeError, ImportError, MXNetError) as error:
                if isinstance(found, type) or hasattr(found, "__path__") or hasattr(found, "__file__"):
                    return "missing", [str(error)]
                break  # an attribute of a value: no name of the package
        if _always_raises(found):
            return "missing", [f"{name}: {_first_sentence(found)}"]
        about = self._about(name)
        return ("differs" if about else "works"), about

    def _about(self, name: str) -> list[str]:
        """The differences of a name: of `nd.exp` those of its operator, of others those that rows call so."""
        parts = name.split(".")
        if parts[0] == "ndarray":
            parts[0] = "nd"
        if parts[0] == "nd":
            return self._differences.get(".".join(each for each in parts if each != "op"), [])
        if name and parts[-1].islower() and hasattr(self._part(name), "__path__"):
            return []
        return self._differences.get(".".join(parts[-2:]), []) or self._differences.get(parts[-1], [])

    def _part(self, name: str) -> Any:
        found: Any = self._root
        for part in name.split("."):
            found = getattr(found, part, None)
        return found


def _always_raises(thing: Any) -> bool:
    """Whether a function, or making an object of a class, only says what is missing."""
    function = vars(thing).get("__init__") if isinstance(thing, type) else thing
    return str(getattr(function, "__annotations__", {}).get("return", "")).rpartition(".")[2] == "NoReturn"


def _first_sentence(thing: Any) -> str:
    """What a docstring says of a thing that is missing."""
    text = " ".join((thing.__doc__ or "it is missing").split())
    return text.replace("Raises: NotImplementedError: ", "it raises NotImplementedError: ")


def report(path: Path, package: str, known: Known) -> Report:
    """What a file uses of a package."""
    try:
        found = uses(read(path), package)
    except SyntaxError as error:
        return Report(str(path), [], [], f"is no Python 3: {error.msg}")
    except (OSError, ValueError, RecursionError) as error:
        return Report(str(path), [], [], f"cannot be read: {getattr(error, 'strerror', None) or error}")
    names = []
    for name, places in found.names.items():
        state, why = known.state(name)
        names.append(Name(f"{_SHORT[package]}.{name}".rstrip("."), places, state, why))
    names.sort(key=lambda each: (_STATES.index(each.state), each.name))
    return Report(str(path), names, found.stars, "")


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for each in sorted(path.rglob("*")):
            if each.suffix in (".py", ".ipynb") and not _FOLDERS_LEFT_OUT.intersection(each.parts) and each.is_file():
                yield each


# ---- what is printed ----


def _summary(one: Report, package: str) -> str:
    if one.problem:
        return f"{one.file}: {one.problem}"
    if not one.names:
        return f"{one.file}: uses no {package}"
    counts = [f"{one.count(state)} {text}" for state, text in _COUNTED.items()]
    return f"{one.file}: {', '.join([f'{len(one.names)} names', *counts])}"


def _print(one: Report, package: str, everything: bool) -> None:
    width = max(60, shutil.get_terminal_size((100, 24)).columns)
    print(_summary(one, package))
    for place in one.stars:
        print(f"  unknown  line {place}: from {package} import *; its names are not followed")
    for each in one.names:
        if each.state == "works" and not everything:
            continue
        places = ", ".join(each.places[:6]) + (", ..." if len(each.places) > 6 else "")
        print(f"  {each.state:8} {each.name}  (line {places})")
        for sentence in each.why:
            print(textwrap.fill(sentence, width, initial_indent=" " * 11, subsequent_indent=" " * 11))


def main(arguments: list[str] | None = None) -> int:
    """Prints what became of the names; returns 0, 1 if one is missing or a file is no Python 3, 2 after wrong use."""
    parser = argparse.ArgumentParser(
        "mxlite names",
        description="Reads scripts, notebooks and folders of them, without running them, and prints which names of"
        " MXNet (or PyTorch) that they use work here, differ, or are missing.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", type=Path, help="a .py or .ipynb file, or a folder")
    parser.add_argument("--as", dest="package", choices=("mxnet", "torch"), default="mxnet", help="whose names")
    parser.add_argument("--all", action="store_true", help="print the names that work, too")
    parser.add_argument("--summary", action="store_true", help="print one line for each file")
    parser.add_argument("--json", action="store_true", help="print a JSON list of files with their names")
    given = parser.parse_args(arguments)
    for path in given.paths:
        if not path.exists():
            print(f"mxlite names: {path}: there is no such file or folder", file=sys.stderr)
            return 2
    known = Known(given.package)
    reports = [report(path, given.package, known) for path in _files(given.paths)]
    if given.json:
        shown = [{**one._asdict(), "names": [each._asdict() for each in one.names]} for one in reports]
        print(json.dumps(shown, indent=1))
    else:
        for one in reports:
            if given.summary:
                print(_summary(one, given.package))
            elif len(reports) == 1 or one.names or one.problem:
                _print(one, given.package, given.all)
        _print_total(reports, given.package)
    return int(any(one.problem or one.count("missing") for one in reports))


def _print_total(reports: list[Report], package: str) -> None:
    if len(reports) == 1:
        return
    using = [one for one in reports if one.names]
    whole = sum(not one.count("missing") for one in using)
    print(f"{len(reports)} files, {len(using)} use {package}; of these {whole} have every name that they use")
