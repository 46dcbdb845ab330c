"""What a file's uses mean: what stops it and where, what changes its results, what is worth knowing."""

from __future__ import annotations

import builtins
import importlib
import inspect
from pathlib import Path
from typing import Any, NamedTuple

from mxlite._cli._names.known import Known, always_raises, raised, unknown_argument
from mxlite._cli._names.old import Old, gone, gone_builtin
from mxlite._cli._names.probes import ON_THE_CPU, PROBES, Call
from mxlite._cli._names.sources import Source, parse, read
from mxlite._cli._names.uses import CERTAIN, DEAD, MAYBE, Reach, Use
from mxlite._cli._names.values import UNKNOWN
from mxlite._cli._names.walk import Walker
from mxlite._cli._old import _hints

_SHORT = {"mxnet": "mx", "torch": "torch"}
#: In the order in which they are printed.
KINDS = ("stops", "may stop", "differs", "put back", "caught", "edge")
#: Kinds that only `--all` prints.
QUIET = ("caught", "edge")


class Finding(NamedTuple):
    """Something about a place of a file."""

    kind: str  #: of KINDS
    name: str  #: "mx.gpu"
    place: str
    code: str  #: the text of the line
    why: str
    when: str = ""  #: what decides whether it happens: "if args.gpus"
    helps: str = ""  #: an option of `mxlite run`


class Name(NamedTuple):
    """A name that a file uses: where, and whether it is here ("works", "differs" or "missing")."""

    name: str
    places: list[str]
    state: str


class Report(NamedTuple):
    """What a file uses, and what that means; or why it could not be read."""

    file: str
    findings: list[Finding]
    names: list[Name]
    problem: str

    def of(self, kind: str) -> list[Finding]:
        """The findings of a kind."""
        return [each for each in self.findings if each.kind == kind]

    @property
    def stops(self) -> bool:
        """Whether something may stop the program, or it cannot be read."""
        return bool(self.problem or self.of("stops") or self.of("may stop"))


def report(path: Path, package: str, known: Known) -> Report:
    """What a file uses of a package, and what that means."""
    try:
        sources = read(path)
        parsed = [parse(source) for source in sources]
    except SyntaxError as error:
        return Report(str(path), [], [], f"is no Python: {error.msg}")
    except (OSError, ValueError, RecursionError) as error:
        return Report(str(path), [], [], f"cannot be read: {getattr(error, 'strerror', None) or error}")
    try:
        trees = [(source, each.tree) for source, each in zip(sources, parsed)]
        walker = Walker(trees, known.ask, known.has, known.star, lambda name: _missing(name, known), known.fails)
    except RecursionError as error:
        return Report(str(path), [], [], f"cannot be read: {error}")
    judge = _Judge(known, str(path))
    if any(use.name.partition(".")[0] == package for use in walker.uses.values()):
        for source, each in zip(sources, parsed):
            if each.old:
                judge.python_2(source, each.old)
        for use in walker.uses.values():
            own = use.name.rpartition(".")[2] in walker.methods and ("()" in use.name or use.name[0] == ".")
            if not own and not any(f"{use.name}.".startswith(f"{each}.") for each in walker.given):
                judge.use(use)
        if all(known.star(module) is not None for module in walker.stars):
            for name, use in walker.free.items():
                judge.free(name, use, walker.stars)
    return Report(str(path), judge.sorted(), judge.names(), "")


class _Judge:
    def __init__(self, known: Known, file: str) -> None:
        self._file = file
        self._known, self._package = known, known.package
        self._probes = PROBES[known.package]
        self._findings: dict[tuple[str, str, str], Finding] = {}
        self._names: dict[str, Name] = {}
        self._told_of_2 = False

    # ---- what comes out ----

    def sorted(self) -> list[Finding]:
        """All findings: by kinds, in the order in which the program comes to them."""
        return sorted(self._findings.values(), key=lambda each: KINDS.index(each.kind))

    def names(self) -> list[Name]:
        """The package's names, those that are missing first."""
        differing = {each.name for each in self._findings.values() if each.kind in ("differs", "edge")}
        found = []
        for name, each in self._names.items():
            state = "differs" if each.state == "works" and name in differing else each.state
            found.append(each._replace(state=state))
        return sorted(found, key=lambda each: (("missing", "differs", "works").index(each.state), each.name))

    def _add(self, kind: str, name: str, use: Use, why: str, helps: str = "") -> None:
        code = use.source.line(use.line)
        finding = Finding(kind, name, use.place, code, why, use.reach.when, helps)
        self._findings.setdefault((kind, use.place, why), finding)

    def _error(self, name: str, use: Use, error: Exception, helps: str = "") -> None:
        """Something that raises there."""
        if use.reach.state == DEAD or use.caught & {each.__name__ for each in type(error).__mro__}:
            kind = "caught"
        else:
            kind = "stops" if use.reach.state == CERTAIN else "may stop"
        self._add(kind, name, use, str(error).strip().split("\n")[0] or type(error).__name__, helps)

    # ---- Python and NumPy ----

    def python_2(self, source: Source, line: int) -> None:
        """A source that only Python 2 reads."""
        why = f"it is Python 2{self._rewrite()}"
        finding = Finding("stops", "Python 2", source.place(line), source.line(line), why)
        self._findings[("stops", source.place(line), why)] = finding

    def _rewrite(self) -> str:
        """What makes it Python 3; said once for a file."""
        told, self._told_of_2 = self._told_of_2, True
        return "" if told else f"; {_hints.rewrite(self._file)}"

    def free(self, name: str, use: Use, stars: list[str]) -> None:
        """A name that nothing in the program binds: Python 2's, or one that an import of everything does not give."""
        old = gone_builtin(name)
        if old is not None:
            self._old(name, use, old)
        elif stars and not hasattr(builtins, name) and name[:2] != "__":
            why = f"name {name!r} is not defined"
            for module in stars:
                error = self._known.state(f"{module}.{name}".partition(".")[2]).error
                if isinstance(error, NotImplementedError):
                    why += f": {error}"
            self._error(name, use, NameError(why))

    def _old(self, name: str, use: Use, old: Old) -> None:
        if old.put_back:
            self._add("put back", name, use, f"{old.error}; `mxlite run` puts it back")
        elif not old.python_2:
            self._error(name, use, old.error)
        elif use.reach.state == CERTAIN:  # elsewhere programs for both Pythons ask for it
            self._error(name, use, type(old.error)(f"{old.error}: it is Python 2's{self._rewrite()}"))

    # ---- names of the package ----

    def use(self, use: Use) -> None:
        """Judges one use."""
        root, _, rest = use.name.partition(".")
        if root == "" or "()" in use.name:
            if root in ("", self._package):
                self._method(use)
        elif root != self._package:
            if use.kind != "call" and (old := gone(use.name, use.kind == "import")):
                self._old(use.name, use, old)
        elif use.kind == "star":
            self._star(rest, use)
        elif use.kind == "call":
            self._call(rest, use)
        else:
            self._name(rest, use)

    def _shown(self, name: str) -> str:
        return f"{_SHORT[self._package]}.{name}".rstrip(".")

    def _listed(self, name: str, use: Use, state: str) -> None:
        shown = self._shown(name)
        each = self._names.setdefault(shown, Name(shown, [], state))
        if use.place not in each.places:
            each.places.append(use.place)

    def _star(self, name: str, use: Use) -> None:
        error = self._known.state(name).error
        self._listed(name, use, "missing" if error else "works")
        if error is not None:
            self._error(self._shown(name), use, _import_error(self._package, name))

    def _name(self, name: str, use: Use) -> None:
        state = self._known.state(name)
        if state.error is not None:
            self._listed(name, use, "missing")
            importing = use.kind == "import"
            self._error(self._shown(name), use, _import_error(self._package, name) if importing else state.error)
            return
        self._listed(name, use, "missing" if always_raises(state.thing) else "works")
        if use.kind == "name" and not always_raises(state.thing):
            self._rows(self._known.canonical(name), self._shown(name), use, None)

    def _call(self, name: str, use: Use) -> None:
        state = self._known.state(name)
        if state.error is not None:
            return
        shown, call = self._shown(name), Call(use.given, use.named)
        if always_raises(state.thing):
            self._error(shown, use, raised(state.thing) or NotImplementedError(f"{shown} is missing"))
            return
        key = self._known.canonical(name)
        by_name = _by_name(state.thing, call)
        if self._asked(key, shown, by_name, use):
            return
        if name:
            names = [each for each in use.named if each not in ("*", "**")]
            unknown = unknown_argument(state.thing, names) if callable(state.thing) else None
            if unknown is not None:
                self._error(shown, use, unknown)
                return
        self._rows(key, shown, use, by_name)

    def _method(self, use: Use) -> None:
        """A method of an object that the program made, or of what nobody knows."""
        method = "." + use.name.rpartition(".")[2]
        if use.name.endswith("()"):
            return
        if use.kind == "call":
            call = Call(use.given, use.named)
            if not self._asked(method, method, call, use):
                self._rows(method, method, use, call)
        else:
            self._rows(method, method, use, None)

    def _asked(self, key: str, shown: str, call: Call, use: Use) -> bool:
        """Whether a probe says that the call fails."""
        for each in (key, "*"):
            probe = self._probes.get(each)
            outcome = probe(call) if probe is not None else None
            if outcome is not None:
                if outcome.when and use.reach.state == CERTAIN:
                    use.reach = Reach(MAYBE, outcome.when)
                self._error(shown, use, outcome.error, outcome.helps)
                return True
        return False

    def _rows(self, key: str, shown: str, use: Use, call: Call | None) -> None:
        """The rows of the page of differences about it; those about an argument, if the call has it."""
        if use.reach.state == DEAD or not key:
            return
        for row in self._known.differs(key):
            if row.argument and (call is None or not _given(row.argument, call)):
                continue
            if bool(row.argument) == (call is not None):
                self._add("differs" if row.ordinary else "edge", shown, use, row.text)


def _given(argument: str, call: Call) -> bool:
    """Whether a call has an argument ("p"), perhaps with that value ("shuffle=True"), or nobody knows."""
    name, _, value = argument.partition("=")
    if name not in call.named:
        return False
    given = call.named[name]
    if given is UNKNOWN:
        return not value
    return str(given) == value if value else bool(given)


def _missing(name: str, known: Known) -> bool:
    """Whether importing a name fails."""
    root, _, rest = name.partition(".")
    if root == known.package:
        return known.state(rest).error is not None
    old = gone(name, True)
    return old is not None and not old.put_back


def _by_name(thing: Any, call: Call) -> Call:
    """A call with its arguments by name, as far as the thing tells them."""
    try:
        names = list(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        return call
    return Call(call.given, {**dict(zip(names, call.given)), **call.named})


def _import_error(package: str, name: str) -> Exception:
    """What importing a name of the package raises that is not there."""
    try:
        importlib.import_module({"mxnet": "mxlite", "torch": "mxlite.torch"}[package] + "." + name)
    except Exception as error:
        return error
    return ImportError(f"cannot import {name!r}")


def on_the_cpu(one: Report) -> bool:
    """Whether what stops a program are its GPUs alone."""
    stops = one.of("stops") + one.of("may stop")
    return bool(stops) and all(each.helps == ON_THE_CPU for each in stops)


def plain(one: Report) -> dict[str, Any]:
    """A report as JSON has it."""
    return {
        "file": one.file,
        "stops": one.stops,
        "problem": one.problem,
        "findings": [each._asdict() for each in one.findings],
        "names": [each._asdict() for each in one.names],
    }
