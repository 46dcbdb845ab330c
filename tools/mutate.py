#!/usr/bin/env python3
"""Mutation check: breaks one rule, kernel or infer function at a time and asks whether a test notices.

    .venv/bin/python tools/mutate.py --sample 60 --seed 1
    .venv/bin/python tools/mutate.py --match 'tanh|softmax' --list

A mutant changes one sign, factor, constant, comparison, order of arguments, saved input or statement in a function of
``capi/ops`` or ``capi/kernel``. The tree is copied to a temporary folder and built there; each mutant is one edit of
the copy, ``make lib``, the Python tests with ``MXLITE_LIBRARY`` naming the result, then the C tests. The working tree
and its ``build/`` are only read. Prints every survivor; exits with 1 if there is one.
"""

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from check_includes import strip_comments_and_strings

ROOT = Path(__file__).resolve().parent.parent
COPIED = ["Makefile", "capi", "include", "mxlite", "tests", "tools", "pyproject.toml", "docs"]
#: Address space of a test: a wrong extent asks for all memory there is.
MEMORY = 8 << 30

#: Replaced by one another; a rule is a formula over these.
HELPERS = {
    "mxl_add": "mxl_sub",
    "mxl_sub": "mxl_add",
    "mxl_mul": "mxl_add",
    "mxl_div": "mxl_mul",
    "mxl_mul_scalar": "mxl_div_scalar",
    "mxl_div_scalar": "mxl_mul_scalar",
    "mxl_one_minus": "mxl_negative",
    "mxl_negative": "mxl_square",
    "mxl_square": "mxl_negative",
    "mxl_exp": "mxl_negative",
    "mxl_sign": "mxl_positive",
    "mxl_positive": "mxl_sign",
    "mxl_grad_in": "mxl_grad_out",
    "mxl_grad_out": "mxl_grad_in",
    "mxl_saves_input": "mxl_saves_output",
    "mxl_saves_output": "mxl_saves_input",
    "mxl_saves_other": "mxl_saves_input",
}
#: Calls whose two operands are exchanged, and those of which one operand is dropped.
ORDERED = re.compile(r"\b(?:mxl_(?:sub|div|dot|equal|quotient)|pow)\(")
PRODUCT = re.compile(r"\bmxl_(?:mul|add|sub|div)\(")

#: What is found in a line, and what stands there instead.
SIGNS = [
    (re.compile(r"(?<= )\+(?= )"), "-"),
    (re.compile(r"(?<= )-(?= )"), "+"),
    (re.compile(r"(?<= )\+="), "-="),
    (re.compile(r"(?<= )\* ?(?=\w+\)?;)"), "+ "),
    (re.compile(r"(?<= )\*(?= \w)"), "+"),
    (re.compile(r"(?<= )/(?= )"), "*"),
    (re.compile(r"(?<=[(,?:] )-(?=[a-z(])|(?<=\()-(?=[a-z(])|(?<=return )-(?=[a-z(])"), ""),
    (re.compile(r"(?<= )<(?= )"), "<="),
    (re.compile(r"(?<= )<=(?= )"), "<"),
    (re.compile(r"(?<= )>(?= )"), ">="),
    (re.compile(r"(?<= )>=(?= )"), ">"),
    (re.compile(r"(?<= )==(?= )"), "!="),
    (re.compile(r"(?<= )!=(?= )"), "=="),
    (re.compile(r"(?<= )&&(?= )"), "||"),
    (re.compile(r"(?<= )\|\|(?= )"), "&&"),
    (re.compile(r"(?<=[( ])!(?=[\w(])"), ""),
    (re.compile(r"\btrue\b"), "false"),
    (re.compile(r"\bfalse\b"), "true"),
    (re.compile(r"(?<=[ (\[-])0(?=[;,)\]])"), "1"),
    (re.compile(r"(?<=[ (\[-])1(?=[;,)\]])"), "0"),
    (re.compile(r"(?<=[ (])2(?=[;,)])"), "3"),
    (re.compile(r"(?<![\w.])0?\.5f?(?![\w.])"), "0.25"),
    (re.compile(r"(?<![\w.])[12]\.0f?(?![\w.])"), "3.0"),
]
STATEMENT = re.compile(r"^\s+(?:[\w>\[\].*-]+ (?:[-+*|]?=) [^{]+|mem(?:cpy|set)\([^{]+);$")

FUNCTION = re.compile(r"^(?:[A-Za-z][\w ]*[\s*])(?:NAME\()?(\w+)\)?\([^;]*$")
MACRO = re.compile(r"^#define (\w+)\(")
KERNEL = re.compile(r"^(?:MXL_\w*KERNELS|UNARY|SCALAR|BINARY|REDUCE)\((?:static, |, )?(\w+),")
#: What ends a line of a macro.
BLANK = " \\"
#: Lines whose change says nothing: messages, memory, the status that is passed on.
SKIPPED = re.compile(
    r"mxl_error|#include|goto |\bsizeof\b|NULL|\) [!=]= 0\)|_drop\(|_free\(|^\s*return (?:-1|0|status);|status|\(void\)"
    r"|mxl_grad_wants|text\["
)


class Mutant(NamedTuple):
    """One change: columns [begin, end) of a line become `text`."""

    path: str
    line: int
    begin: int
    end: int
    text: str
    where: str

    def apply(self, source: str) -> str:
        """The file's text with the change in it."""
        lines = source.splitlines(keepends=True)
        old = lines[self.line]
        lines[self.line] = old[: self.begin] + self.text + old[self.end :]
        return "".join(lines)

    def shown(self, source: str) -> str:
        """`path:line function: before -> after`, on one line."""
        before, after = source.splitlines()[self.line], self.apply(source).splitlines()[self.line]
        return f"{self.path}:{self.line + 1} {self.where}: `{before.strip(BLANK)}` -> `{after.strip(BLANK)}`"


def arguments_of(line: str, opened: int) -> "list[tuple[int, int]]":
    """Columns of each argument of the call whose parenthesis is at `opened`; none if it ends on another line."""
    depth, begin, found = 0, opened + 1, []
    for at in range(opened, len(line)):
        if line[at] in "([":
            depth += 1
        elif line[at] in ")]":
            depth -= 1
        if depth == 0 or (depth == 1 and line[at] == ","):
            found.append((begin + (line[begin] == " "), at))
            begin = at + 1
        if depth == 0:
            return found
    return []


def calls(line: str) -> Iterator["tuple[int, int, str]"]:
    """Operands exchanged, and a product or sum that loses one."""
    for match in ORDERED.finditer(line):
        pair = arguments_of(line, match.end() - 1)
        pair = pair[1:3] if match.group().startswith("mxl_") and "quotient" not in match.group() else pair[:2]
        if len(pair) == 2:
            (a, b), (c, d) = pair
            yield a, d, f"{line[c:d]}, {line[a:b]}"
    for match in PRODUCT.finditer(line):
        given = arguments_of(line, match.end() - 1)
        if len(given) == 3:
            for a, b in given[1:]:
                yield match.start(), given[2][1] + 1, line[a:b]


def changes(line: str) -> Iterator["tuple[int, int, str]"]:
    """Every change of one line of code."""
    for pattern, text in SIGNS:
        for match in pattern.finditer(line):
            yield match.start(), match.end(), text
    yield from calls(line)
    for match in re.finditer(r"\bmxl_\w+", line):
        if match.group() in HELPERS:
            yield match.start(), match.end(), HELPERS[match.group()]
    for match in re.finditer(r"\? ([^:?]+) : ([^;?]+)(?=;)", line):
        if match.group(1).count("(") == match.group(1).count(")"):
            yield match.start(1), match.end(2), f"{match.group(2)} : {match.group(1)}"
    if STATEMENT.match(line):
        yield len(line) - len(line.lstrip()), len(line), ";"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of one file."""
    where = opening = ""
    for number, line in enumerate(strip_comments_and_strings(path.read_text(encoding="utf-8")).splitlines()):
        head, macro, kernel = FUNCTION.match(line), MACRO.match(line), KERNEL.match(line)
        if line.startswith("}"):
            where = ""
        elif macro:
            where = macro.group(1)
        elif kernel:
            where = kernel.group(1)
        elif head:
            where, opening = "", head.group(1)
        elif line == "{":
            where = opening
        if where and not SKIPPED.search(line):
            for begin, end, text in changes(line.rstrip("\\ ")):
                yield Mutant(str(path.relative_to(ROOT)), number, begin, end, text, where)
        if (kernel and line.endswith(";")) or (macro and not line.endswith("\\")):
            where = ""


def sampled(mutants: "list[Mutant]", count: int, seed: int) -> "list[Mutant]":
    """So many of them, a function of each file in turn, so that a long file does not fill the sample."""
    order = random.Random(seed)
    heaps: dict = defaultdict(list)
    for mutant in mutants:
        heaps[mutant.path].append(mutant)
    for heap in heaps.values():
        order.shuffle(heap)
        seen: dict = defaultdict(int)
        for mutant in list(heap):
            seen[mutant.where] += 1
            heap.append((seen[mutant.where], mutant))
        heap[:] = [each[1] for each in sorted((each for each in heap if type(each) is tuple), key=lambda each: each[0])]
    chosen: list = []
    while len(chosen) < count and any(heaps.values()):
        for path in sorted(heaps):
            if heaps[path] and len(chosen) < count:
                chosen.append(heaps[path].pop(0))
    return sorted(chosen)


class Copy:
    """A copy of the tree with a build of its own, in which one file at a time is changed."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self.folder, self.seconds, self.tests = folder, options.seconds, options.tests
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
            else:
                shutil.copy2(ROOT / name, folder / name)
        sources = sorted((folder / "tests/c").glob("test_*.c"))
        self.programs = [f"build/tests/{path.stem}" for path in sources if re.search(options.c_tests, path.stem)]
        print(f"mutate: building a copy in {folder}", flush=True)
        if not self.make("lib", *self.programs):
            raise SystemExit("mutate: the tree does not build")
        shutil.copytree(folder / "build/obj/capi", folder / "objects")

    def make(self, *targets: str) -> bool:
        command = ["make", "-j1", "CFLAGS_EXTRA=-w", *targets]
        return subprocess.run(command, cwd=self.folder, capture_output=True).returncode == 0

    def fails(self, command: "list[str]") -> bool:
        """Whether a test program fails, crashes, or is not done in time."""
        env = dict(os.environ, MXLITE_LIBRARY=str(self.folder / "build/libmxlite.so"), MXLITE_BINDING="ctypes")
        env.update(PYTHONPATH=str(self.folder), PYTHONDONTWRITEBYTECODE="1")
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # noqa: E731
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=env, capture_output=True, timeout=self.seconds, preexec_fn=limit
            )
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0

    def verdict(self) -> str:
        """Which tests see the change: "python", "C", or "" for none."""
        pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *self.tests]
        if self.tests and self.fails(pytest):
            return "python"
        if self.programs:
            if not self.make(*self.programs):
                return "C"
            for program in self.programs:
                if self.fails([str(self.folder / program)]):
                    return f"C {Path(program).name}"
        return ""

    def changed_objects(self) -> "tuple[list[Path], bool]":
        """The objects built since the copy was, and whether any differs from what it was."""
        kept = self.folder / "objects"
        newer, differs = [], False
        for old in kept.rglob("*.o"):
            new = self.folder / "build/obj/capi" / old.relative_to(kept)
            if new.stat().st_mtime_ns != old.stat().st_mtime_ns:
                newer.append(old)
                differs |= new.read_bytes() != old.read_bytes()
        return newer, differs

    def judge(self, mutant: Mutant) -> str:
        """ "not C", "same" (the compiler makes the same code), "SURVIVED", or who noticed."""
        path = self.folder / mutant.path
        before, stat = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(mutant.apply(before), encoding="utf-8")
        try:
            if not self.make("lib"):
                return "not C"
            if not self.changed_objects()[1]:
                return "same"
            return self.verdict() or "SURVIVED"
        finally:
            path.write_text(before, encoding="utf-8")
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            # As they were, times too: the next mutant builds its own file only.
            for old in self.changed_objects()[0]:
                shutil.copy2(old, self.folder / "build/obj/capi" / old.relative_to(self.folder / "objects"))
            for made in [*(self.folder / "build").glob("lib*"), *(self.folder / "build/tests").glob("test_*")]:
                made.unlink()


def parse(arguments: "list[str] | None") -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, default=40, help="how many mutants, 0 for all (default 40)")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--match", default="", help="only where `path function: before -> after` has this regex")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    parser.add_argument("--c-tests", default="^test_(kernel|ops|op|walk|engine)", help="C tests, a regular expression")
    parser.add_argument("--seconds", type=int, default=180, help="a test that takes longer counts as failed")
    cases = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/python/test_cases_*.py"))
    parser.add_argument("tests", nargs="*", default=cases, help="what pytest is given (default: the case table)")
    return parser.parse_args(arguments)


def main(arguments: "list[str] | None" = None) -> int:
    options = parse(arguments)
    files = sorted([*ROOT.glob("capi/ops/*.c"), *ROOT.glob("capi/kernel/*.[ch]")])
    text = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}
    mutants = [one for path in files for one in mutants_of(path)]
    mutants = [one for one in mutants if re.search(options.match, one.shown(text[one.path]))]
    if not mutants:
        raise SystemExit("mutate: there is nothing to change; see --match")
    if options.sample:
        mutants = sampled(mutants, options.sample, options.seed)
    if options.list:
        print("\n".join(one.shown(text[one.path]) for one in mutants))
        return 0
    counts: dict = defaultdict(int)
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mxlite-mutate-") as folder:
        copy = Copy(Path(folder), options)
        failing = copy.verdict()
        if failing:
            raise SystemExit(f"mutate: without any change tests fail already ({failing})")
        for count, mutant in enumerate(mutants, 1):
            verdict = copy.judge(mutant)
            shown = mutant.shown((Path(folder) / mutant.path).read_text(encoding="utf-8"))
            counts[verdict.split()[0] if verdict != "not C" else verdict] += 1
            survivors += [shown] if verdict == "SURVIVED" else []
            print(f"[{count}/{len(mutants)}] {verdict:8} {shown}", flush=True)
    print("mutate: " + ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items())))
    for shown in survivors:
        print(f"survived: {shown}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
