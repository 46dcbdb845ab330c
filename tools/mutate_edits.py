"""The edits of the mutation check (tools/mutate.py): which changes of a line of C say something, and those judged
not to: tools/mutation/equivalent.txt."""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from check_includes import strip_comments_and_strings

ROOT = Path(__file__).resolve().parent.parent
#: The files whose functions are changed.
CHANGED = [
    "capi/ops/**/*.[ch]",
    "capi/kernel/**/*.[ch]",
    "capi/op/infer.c",
    "capi/op/rows.c",
    "capi/base/memory/*.[ch]",
    "capi/base/thread.c",
    "capi/engine/**/*.[ch]",
    "capi/api/**/*.c",
]
#: Files that are about who holds what, and about failures: there these say something too.
HOLDING = re.compile(r"^capi/(?:engine|api)/")
EQUIVALENT = ROOT / "tools/mutation/equivalent.txt"

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

#: A pattern found in a line, and its replacement.
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
CALL = re.compile(r"^\s+\w+\(.*\);$")

FUNCTION = re.compile(r"^(?:[A-Za-z][\w ]*[\s*])(?:NAME\()?(\w+)\)?\([^;]*$")
MACRO = re.compile(r"^#define (\w+)\(")
KERNEL = re.compile(r"^(?:MXL_\w*KERNELS|UNARY|SCALAR|BINARY|REDUCE)\((?:static, |, )?(\w+),")
#: What ends a line of a macro.
BLANK = " \\"
#: Lines whose change says nothing: messages, memory, the status that is passed on, how work is shared among threads.
SKIPPED = re.compile(
    r"mxl_error|#include|goto |\bsizeof\b|NULL|\) [!=]= 0\)|_drop\(|_free\(|^\s*return (?:-1|0|status);|status|\(void\)"
    r"|mxl_grad_wants|text\[|GRAIN"
)
SKIPPED_HOLDING = re.compile(
    r"mxl_error|#include|goto |\bsizeof\b|\(void\)|^\s*return (?:-1|0|status);|text\[|API_NEED"
)


class Mutant(NamedTuple):
    """One change: columns [begin, end) of a line become `text`; `before` and `after` are that line, as it is shown."""

    path: str
    line: int
    begin: int
    end: int
    text: str
    where: str
    before: str
    after: str

    def apply(self, source: str) -> str:
        """The file's text with the change in it."""
        lines = source.splitlines(keepends=True)
        old = lines[self.line]
        lines[self.line] = old[: self.begin] + self.text + old[self.end :]
        return "".join(lines)

    def key(self) -> "tuple[str, str, str, str]":
        """What names it whatever the line's number is."""
        return self.path, self.where, self.before, self.after

    def __str__(self) -> str:
        return f"{self.path}:{self.line + 1} {self.where}: `{self.before}` -> `{self.after}`"


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


def changes(line: str, holding: bool) -> Iterator["tuple[int, int, str]"]:
    """Every change of one line of code; `holding`: calls for their effect are left out too."""
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
    if STATEMENT.match(line) or (holding and CALL.match(line)):
        yield len(line) - len(line.lstrip()), len(line), ";"


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every mutant of one file."""
    where = opening = ""
    says = False  # within the call of mxl_error, which may take several lines
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    name = str(path.relative_to(ROOT))
    holding = bool(HOLDING.match(name))
    skipped = SKIPPED_HOLDING if holding else SKIPPED
    for number, line in enumerate(strip_comments_and_strings(source).splitlines()):
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
        says = says or "mxl_error" in line
        if where and not says and not skipped.search(line):
            raw = lines[number]
            for begin, end, text in changes(line.rstrip(BLANK), holding):
                after = raw[:begin] + text + raw[end:]
                yield Mutant(name, number, begin, end, text, where, raw.strip(BLANK), after.strip(BLANK))
        says = says and not line.rstrip(BLANK).endswith((";", "{"))
        if (kernel and line.endswith(";")) or (macro and not line.endswith("\\")):
            where = ""


def every_mutant() -> "list[Mutant]":
    """Every mutant of the tree."""
    files = sorted(path for pattern in CHANGED for path in ROOT.glob(pattern))
    return [one for path in files for one in mutants_of(path)]


def judged(mutants: "list[Mutant]") -> "dict[tuple[str, str, str, str], str]":
    """Mutants judged to be equivalent, and why. An entry that fits no mutant, or has no reason, is an error."""
    entries, known = {}, {one.key() for one in mutants}
    for block in re.sub(r"^#.*\n", "", EQUIVALENT.read_text(encoding="utf-8"), flags=re.MULTILINE).split("\n\n"):
        lines = block.strip().splitlines()
        if not lines:
            continue
        marks = [line[:2] for line in lines[1:]]
        if len(lines[0].split()) != 2 or marks != ["- ", "+ ", "= "]:
            raise SystemExit(f"mutate: {EQUIVALENT.name}: not an entry of four lines: {lines[0]}")
        path, where = lines[0].split()
        key = path, where, lines[1][2:].strip(), lines[2][2:].strip()
        if key not in known:
            raise SystemExit(f"mutate: {EQUIVALENT.name}: no such mutant, take the entry out: {lines[0]}: {key[2]}")
        if key in entries:
            raise SystemExit(f"mutate: {EQUIVALENT.name}: twice: {lines[0]}: {key[2]}")
        entries[key] = lines[3][2:].strip()
    return entries


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
