#!/usr/bin/env python3
"""Mutation check: breaks one rule, kernel or infer function at a time and asks whether a test notices.

    .venv/bin/python tools/mutate.py --sample 40 --seed 1
    .venv/bin/python tools/mutate.py --match 'tanh|softmax' --list

A mutant changes one sign, factor, constant, comparison or order of arguments in a function of ``capi/ops`` or
``capi/kernel``. It is compiled beside the objects of ``build/`` (run ``make lib`` first), linked into a folder of its
own, and the tests run with ``MXLITE_LIBRARY`` naming it. Prints every survivor; exits with 1 if there is one.
"""

import argparse
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from check_includes import strip_comments_and_strings

ROOT = Path(__file__).resolve().parent.parent

#: Replaced by one another where both are declared; a rule is a formula over these.
HELPERS = {
    "mxl_add": "mxl_sub",
    "mxl_sub": "mxl_add",
    "mxl_mul": "mxl_add",
    "mxl_div": "mxl_mul",
    "mxl_one_minus": "mxl_negative",
    "mxl_negative": "mxl_square",
    "mxl_square": "mxl_negative",
    "mxl_exp": "mxl_tanh",
    "mxl_log": "mxl_exp",
    "mxl_sum": "mxl_mean",
    "mxl_mean": "mxl_sum",
}

#: What is found in a line, and what stands there instead.
SIGNS = [
    (re.compile(r"(?<= )\+(?= )"), "-"),
    (re.compile(r"(?<= )-(?= )"), "+"),
    (re.compile(r"(?<= )\*(?= \w)"), "+"),
    (re.compile(r"(?<= )/(?= )"), "*"),
    (re.compile(r"(?<=[(,] )-(?=[\w(])|(?<=[(])-(?=[\w(])|(?<=return )-(?=[a-z(])"), ""),
    (re.compile(r"(?<= )<(?= )"), "<="),
    (re.compile(r"(?<= )>(?= )"), ">="),
    (re.compile(r"(?<= )==(?= )"), "!="),
    (re.compile(r"(?<![\w.])1\.0f?(?![\w.])"), "2.0"),
    (re.compile(r"(?<![\w.])2\.0f?(?![\w.])"), "3.0"),
    (re.compile(r"(?<![\w.])0\.5f?(?![\w.])"), "0.25"),
]

#: Functions that say what an operator computes, by the names DESIGN section 7 gives them.
ROLES = re.compile(r"_(grad|infer|compute|compose|row|kernel|run|back|backward|forward)$")
FUNCTION = re.compile(r"^(?:[a-z][\w ]*[\s*])(\w+)\([^;]*$")
KERNEL_MACRO = re.compile(r"^(?:MXL_\w*|[A-Z][A-Z_]+)\(([a-z]\w*),")
#: Checks of arguments: breaking one seldom changes a number, and the tests of bad arguments cover them.
SKIPPED_LINE = re.compile(r"mxl_error|#include|goto |\bsizeof\b|== NULL|!= NULL|== 0\)|!= 0\)|< 0\)|^\s*for \(")


class Mutant(NamedTuple):
    """One change: columns [begin, end) of a line become `text`."""

    path: Path
    line: int
    begin: int
    end: int
    text: str
    where: str

    def shown(self, source: "list[str]") -> str:
        """`path:line function: before -> after`, on one line."""
        before = source[self.line].rstrip("\n")
        after = before[: self.begin] + self.text + before[self.end :]
        name = self.path.relative_to(ROOT)
        return f"{name}:{self.line + 1} {self.where}: `{before.strip()}` -> `{after.strip()}`"


def swaps(line: str) -> Iterator["tuple[int, int, str]"]:
    """The two operands of a difference or quotient of plain names, exchanged."""
    for match in re.finditer(r"\bmxl_(?:sub|div|dot)\(([\w>-]+), ([\w>.\[\]-]+), ([\w>.\[\]-]+)\)", line):
        yield match.start(2), match.end(3), f"{match.group(3)}, {match.group(2)}"


def mutants_of(path: Path, helpers: "set[str]") -> Iterator[Mutant]:
    """Every mutant of one file."""
    lines = strip_comments_and_strings(path.read_text(encoding="utf-8")).splitlines()
    where = ""
    for number, line in enumerate(lines):
        head = FUNCTION.match(line)
        macro = KERNEL_MACRO.match(line)
        if line.startswith("}"):
            where = ""
        elif head:
            where = head.group(1) if ROLES.search(head.group(1)) else ""
            continue
        if not (where or macro) or SKIPPED_LINE.search(line):
            continue
        name = macro.group(1) if macro else where
        found = [(m.start(), m.end(), text) for pattern, text in SIGNS for m in pattern.finditer(line)]
        found += list(swaps(line))
        for helper, other in HELPERS.items():
            if other in helpers:
                found += [(m.start(), m.end(), other) for m in re.finditer(rf"\b{helper}(?=\()", line)]
        for begin, end, text in found:
            yield Mutant(path, number, begin, end, text, name)


def flags_of(build: Path) -> "tuple[list[str], list[str]]":
    """The compile and link commands that `make lib` used, from build/flags."""
    compile_text, link_text = (build / "flags").read_text(encoding="utf-8").split(" : ", 1)
    return shlex.split(compile_text), shlex.split(link_text)


class Builder:
    """Compiles one changed file and links it with the other objects of build/."""

    def __init__(self, build: Path, folder: Path) -> None:
        self.build, self.folder = build, folder
        self.compile, self.link = flags_of(build)
        self.sources = (build / "sources").read_text(encoding="utf-8").split()

    def dependencies(self, source: str) -> "list[str]":
        """The files that make saw included by one source."""
        return (self.build / "obj" / f"{source[:-2]}.d").read_text(encoding="utf-8").split()

    def library(self, mutant: Mutant) -> "Path | None":
        """The mutant's library, or None where the change does not compile."""
        lines = mutant.path.read_text(encoding="utf-8").splitlines(keepends=True)
        old = lines[mutant.line]
        lines[mutant.line] = old[: mutant.begin] + mutant.text + old[mutant.end :]
        name = str(mutant.path.relative_to(ROOT))
        source = self.folder / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("".join(lines), encoding="utf-8")
        includes = [f"-I{mutant.path.parent}"]
        changed = [name]
        if mutant.path.suffix == ".h":
            # A header's change reaches whoever includes it (make knows); the changed copy is found first.
            includes = [f"-I{self.folder / 'capi'}"]
            changed = [one for one in self.sources if name in self.dependencies(one)]
        objects = {one: str(self.build / "obj" / one[:-2]) + ".o" for one in self.sources}
        for one in changed:
            objects[one] = str(self.folder / (one.replace("/", "_") + ".o"))
            text = str(source) if one == name else str(ROOT / one)
            command = [self.compile[0], *includes, *self.compile[1:], "-w", "-c", "-o", objects[one], text]
            if subprocess.run(command, cwd=ROOT, capture_output=True).returncode != 0:
                return None
        library = self.folder / "libmxlite.so"
        command = [self.compile[0], "-shared", "-Wl,-soname,libmxlite.so", "-Wl,-Bsymbolic-functions", *self.link]
        command += ["-o", str(library), *objects.values(), "-lm", "-ldl"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True)
        return library if done.returncode == 0 else None


def killed(library: Path, tests: "list[str]", seconds: int) -> bool:
    """Whether the tests fail, crash or hang with this library."""
    env = dict(os.environ, MXLITE_LIBRARY=str(library))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, timeout=seconds).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def parse(arguments: "list[str] | None") -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, default=25, help="how many mutants, 0 for all (default 25)")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--match", default="", help="only functions or files that match this regular expression")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    parser.add_argument("--build", default="build", help="where `make lib` built (default build)")
    parser.add_argument("--seconds", type=int, default=900, help="a run that takes longer counts as failed")
    parser.add_argument("tests", nargs="*", default=["tests/python"], help="what pytest is given")
    return parser.parse_args(arguments)


def main(arguments: "list[str] | None" = None) -> int:
    options = parse(arguments)
    files = sorted([*ROOT.glob("capi/ops/*.c"), *ROOT.glob("capi/kernel/*.[ch]")])
    helpers = {name for path in ROOT.glob("capi/ops/*.h") for name in re.findall(r"\bmxl_\w+", path.read_text())}
    mutants = [one for path in files for one in mutants_of(path, helpers)]
    mutants = [one for one in mutants if re.search(options.match, f"{one.path.name} {one.where}")]
    if options.sample and options.sample < len(mutants):
        mutants = sorted(random.Random(options.seed).sample(mutants, options.sample))
    if not mutants:
        raise SystemExit("mutate: there is nothing to change; see --match")
    survivors, invalid = [], 0
    with tempfile.TemporaryDirectory(prefix="mxlite-mutate-") as folder:
        builder = None if options.list else Builder(ROOT / options.build, Path(folder))
        if builder and killed(ROOT / options.build / "libmxlite.so", options.tests, options.seconds):
            raise SystemExit("mutate: the tests fail without any change, or take too long")
        for count, mutant in enumerate(mutants, 1):
            shown = mutant.shown(mutant.path.read_text(encoding="utf-8").splitlines())
            if builder is None:
                print(shown)
                continue
            library = builder.library(mutant)
            verdict = "not C"
            if library is not None:
                verdict = "killed" if killed(library, options.tests, options.seconds) else "SURVIVED"
            invalid += library is None
            survivors += [shown] if verdict == "SURVIVED" else []
            print(f"[{count}/{len(mutants)}] {verdict:8} {shown}", flush=True)
    if builder is not None:
        print(f"mutate: {len(mutants) - invalid - len(survivors)} killed, {len(survivors)} survived, {invalid} not C")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
