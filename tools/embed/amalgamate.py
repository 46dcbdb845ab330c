#!/usr/bin/env python3
"""Writes the library as two files: ``mxlite.c`` and ``mxlite.h`` (``make amalgamation``; docs/embedding.md).

Headers are inlined once, templates (``*.tmpl.h``) at each inclusion. Names that several sources have for themselves get
the source's name in front, by macros that end with the source's text; so do macros of its own. Sources whose headers
need <tgmath.h> come after those that must not have it, those of Windows last, since <windows.h> has names of all kinds.
With ``--ops`` the families of operators list only those operators, so that a linker can leave the others out.
"""

import argparse
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from c_names import (
    IDENTIFIER,
    LITERAL_OR_COMMENT,
    Names,
    members,
    raw_tokens,
    scan,
    struct_bodies,
    tokens_of,
    without_comments,
)
from operators import Operators, keep_operators
from sections import FIRST, HEADERS, LAST, absent_functions, system_headers

HERE = Path(__file__).resolve().parent
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">].*$')
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
MARKER = re.compile(r'^# \d+ "([^"]*)"')
FEATURES = re.compile(r"^#define _GNU_SOURCE.*\n", re.M)
#: Names of C libraries that a build here does not see: of BSD's and Microsoft's <string.h>, <math.h>, <stdlib.h>.
ELSEWHERE = frozenset(
    "index rindex y0 y1 yn j0 j1 jn gamma max min near far small pascal interface swab random".split()
)


@dataclass
class Source:
    """A C file, what its text is, and the names that it defines for itself."""

    path: str
    text: str
    names: Names = field(default_factory=Names)
    members: set[str] = field(default_factory=set)

    @property
    def stem(self) -> str:
        return Path(self.path).stem


def templates_in(text: str, root: Path) -> str:
    """The text with the templates that it includes in their places, and those that they include."""
    lines = []
    for line in text.split("\n"):
        match = INCLUDE.match(line)
        if match and match.group(2).endswith(".tmpl.h"):
            lines.append(f"/* ---- {match.group(2)} ---- */")
            lines.append(templates_in((root / "capi" / match.group(2)).read_text(), root).rstrip("\n"))
        else:
            lines.append(line)
    return "\n".join(lines)


class Amalgamation:
    """The parts of the file in their order."""

    def __init__(self, root: Path, sources: list[str], flags: list[str], compiler: list[str]) -> None:
        self.root = root
        self.flags = flags
        self.compiler = compiler
        self.sources = [Source(path, templates_in((root / path).read_text(), root)) for path in sources]
        self.system: set[str] = set(ELSEWHERE)
        self.in_headers: set[str] = set()
        self.inlined: set[str] = set()
        self.tgmath: dict[str, bool] = {}
        texts = [source.text for source in self.sources] + [p.read_text() for p in root.glob("capi/**/*.h")]
        self.macros = {name for text in texts for name in MACRO.findall(text)}

    # ---- names ----

    def preprocessed(self, source: Source) -> None:
        """Finds the source's names: those of its text as written, and those that macros make."""
        command = [*self.compiler, "-E", "-std=c17", "-D_GNU_SOURCE=1", "-Icapi", "-Iinclude", *self.flags, source.path]
        out = subprocess.run(command, capture_output=True, text=True, check=True, cwd=self.root).stdout
        mine: list[str] = []
        system: list[str] = []
        kept = mine
        for line in out.split("\n"):
            match = MARKER.match(line)
            if match:
                file = match.group(1)
                own = file == source.path or file.endswith(".tmpl.h")
                kept = mine if own else system if file.startswith("/") else []
            elif not line.startswith("#"):
                kept.append(line)
        tokens = tokens_of("\n".join(mine))
        source.names = scan(tokens)
        source.names.own |= scan(raw_tokens(source.text)).own - self.macros
        source.members = members(tokens) | members(raw_tokens(source.text))
        self.system.update(t for t in tokens_of("\n".join(system)) if IDENTIFIER.match(t))

    def find_names(self) -> None:
        with ThreadPoolExecutor() as pool:
            list(pool.map(self.preprocessed, self.sources))
        for header in self.root.glob("capi/**/*.h"):
            text = without_comments(header.read_text())
            for begin, end in struct_bodies(text):
                self.in_headers.update(tokens_of(text[begin:end]))

    def clashing(self) -> dict[str, list[Source]]:
        """Names that a source has for itself, and that another source, a header or the system has too.

        Those of <windows.h> are not seen here: all names of capitals count.
        """
        owners: dict[str, list[Source]] = {}
        shown: set[str] = set()
        for source in self.sources:
            shown |= source.names.shown
            for name in source.names.own:
                owners.setdefault(name, []).append(source)
        taken = shown | self.system | self.public_names()
        clashing = {name: found for name, found in owners.items() if len(found) > 1 or name in taken or name.isupper()}
        # C17 allows the same typedef twice.
        return {name: found for name, found in clashing.items() if not same_type(name, found)}

    def public_names(self) -> set[str]:
        """Identifiers of the public headers."""
        names: set[str] = set()
        for header in self.root.glob("include/mxlite/*.h"):
            names.update(t for t in raw_tokens(header.read_text()) if IDENTIFIER.match(t))
        return names

    def prefixes(self) -> dict[str, str]:
        """What each source puts in front of its names: its file's name, and its folder's where two have that."""
        stems: dict[str, list[str]] = {}
        for source in self.sources:
            stems.setdefault(source.stem, []).append(source.path)
        return {
            path: (stem if len(paths) == 1 else "_".join(Path(path).parts[1:-1]) + "_" + stem) + "__"
            for stem, paths in stems.items()
            for path in paths
        }

    # ---- text ----

    def needs_tgmath(self, text: str) -> bool:
        """Whether the text includes <tgmath.h>, itself or by its headers."""
        for line in text.split("\n"):
            match = INCLUDE.match(line)
            if match is None:
                continue
            quote, name = match.groups()
            if name == "tgmath.h":
                return True
            if quote == '"' and (self.root / "capi" / name).exists():
                if name not in self.tgmath:
                    self.tgmath[name] = False
                    self.tgmath[name] = self.needs_tgmath((self.root / "capi" / name).read_text())
                if self.tgmath[name]:
                    return True
        return False

    def order(self) -> list[Source]:
        """The sources in their order in the file."""

        def key(source: Source) -> tuple[bool, bool]:
            return Path(source.path).name.startswith("windows_"), self.needs_tgmath(source.text)

        return sorted(self.sources, key=key)

    def header(self, name: str) -> str:
        """The text of a header that was not inlined before, with those that it includes; else nothing."""
        if name.startswith("mxlite/"):
            name = "mxlite.h"
        if name in self.inlined:
            return ""
        self.inlined.add(name)
        if name == "mxlite.h":
            return '#include "mxlite.h"\n'
        text = (self.root / "capi" / name).read_text()
        if name.startswith("kernel/math/"):
            text = inlined_always(text)
        lines = [
            self.header(m.group(2)).rstrip("\n") if (m := self.project(line)) else line for line in text.split("\n")
        ]
        return f"\n/* ==== {name} ==== */\n" + "\n".join(lines)

    @staticmethod
    def project(line: str) -> "re.Match[str] | None":
        """The match of a line that includes a header of the project."""
        match = INCLUDE.match(line)
        return match if match and match.group(1) == '"' else None

    def section(self, source: Source, renamed: set[str], prefix: str) -> str:
        """The text of a source: headers that were not inlined yet, its names as macros, itself."""
        text = FEATURES.sub("", source.text)
        # A macro would rename members of structures that a header declares too.
        fixed = renamed & source.members & self.in_headers
        if fixed:
            text = rename(text, fixed, prefix)
        lines, headers = [], []
        for line in text.split("\n"):
            match = self.project(line)
            if match:
                headers.append(self.header(match.group(2)))
            else:
                lines.append(line)
        at = first_code(lines)
        defines = [f"#define {name} {prefix}{name}" for name in sorted(renamed - fixed)]
        begin, rest = "\n".join(lines[:at]), "\n".join(lines[at:])
        ends = [f"#undef {name}" for name in sorted((renamed - fixed) | set(MACRO.findall(without_comments(text))))]
        parts = [f"\n/* ==== {source.path} ==== */", *[h for h in headers if h], begin, *defines, rest, *ends]
        return "\n".join(parts) + "\n"

    def write(self, first: str, end: str) -> str:
        self.find_names()
        clashing, prefixes = self.clashing(), self.prefixes()
        parts = []
        for source in self.order():
            own = source.names.own
            renamed = {name for name in own if name in clashing}
            # A macro may make `scale_at` of `scale`: both, or neither.
            renamed |= {name for name in own for cut in cuts(name) if cut in renamed}
            parts.append(self.section(source, renamed, prefixes[source.path]))
        return first + system_headers("".join(parts)) + end


def inlined_always(text: str) -> str:
    """The text with inline functions that gcc inlines however large the file is: its limits grow with a file's size."""
    return re.sub(r"^static inline ", "MXL_ONE_FILE_INLINE ", text, flags=re.M)


def same_type(name: str, sources: list[Source]) -> bool:
    """Whether the name is the same type of C in all of the sources."""
    types = {tuple(re.findall(rf"^typedef (\w+(?: \w+)*) {name};", source.text, re.M)) for source in sources}
    return len(types) == 1 and types != {()}


def cuts(name: str) -> list[str]:
    """The beginnings of a name that end before a `_`."""
    return [name[:at] for at, letter in enumerate(name) if letter == "_" and at > 0]


def rename(text: str, names: set[str], prefix: str) -> str:
    """Puts the prefix before names in the text where they are no members, nor in comments and literals."""
    blank = LITERAL_OR_COMMENT.sub(lambda match: " " * len(match.group(0)), text)
    spans = struct_bodies(blank)
    pattern = re.compile(r"(?<![\w.])(?<!->)(?:" + "|".join(sorted(names)) + r")\b")
    for match in reversed(list(pattern.finditer(blank))):
        at = match.start()
        is_type = re.match(r"\s*\*|\s+\w", blank[match.end() :])
        if is_type or not any(begin < at < end for begin, end in spans):
            text = text[:at] + prefix + text[at:]
    return text


def first_code(lines: list[str]) -> int:
    """The line behind the first #include lines, and behind the condition that they are in if that ends at once."""
    blank = without_comments("\n".join(lines)).split("\n")
    code = next((at for at, line in enumerate(blank) if line.strip() and not re.match(r"\s*#", line)), len(blank))
    includes = [at for at, line in enumerate(blank[:code]) if INCLUDE.match(line)]
    at = includes[-1] + 1 if includes else next((n for n, line in enumerate(blank) if line.strip()), len(blank))
    while at < code and (not blank[at].strip() or re.match(r"\s*#\s*(endif|else|elif)", blank[at])):
        at += 1
    return at


def public_header(root: Path) -> str:
    """The public headers as one."""
    seen: set[str] = set()

    def inline(name: str) -> str:
        if name in seen:
            return ""
        seen.add(name)
        lines = []
        for line in (root / "include/mxlite" / name).read_text().split("\n"):
            match = INCLUDE.match(line)
            lines.append(inline(match.group(2)).rstrip("\n") if match and match.group(1) == '"' else line)
        return "\n".join(lines)

    return inline("mxlite.h")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--root", type=Path, default=Path.cwd())
    parser.add_argument("--cc", default="cc")
    parser.add_argument("-D", action="append", default=[], help="a macro of the parts that are left out (mk/parts.mk)")
    parser.add_argument("--absent", type=Path, help="the file of functions of the parts that are left out")
    parser.add_argument("--parts", default="", help="the parts that there are, for the file's first lines")
    parser.add_argument("--ops", default="", help="names of operators; without them all of the parts")
    parser.add_argument("sources", nargs="+")
    args = parser.parse_args()
    root = args.root
    version = re.findall(
        r"#define MXL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", (root / "include/mxlite/mxlite.h").read_text()
    )
    flags = [f"-D{macro}" for macro in args.D]
    header = public_header(root)
    sources = [path for path in args.sources if Path(path).name != "refused.c" or "capi/api" not in path]
    whole = Amalgamation(root, sources, flags, args.cc.split())
    chosen = args.ops.split()
    if chosen:
        operators = Operators(root, args.cc.split(), flags)
        try:
            keep_operators(whole.sources, operators, chosen)
        except ValueError as error:
            sys.exit(f"amalgamate: {error}")
    first = FIRST.format(
        version=".".join(version),
        parts=args.parts,
        ops=" ".join(chosen) or "all of these parts",
        macros=macros(flags),
        headers="\n".join(f"#include <{name}.h>" for name in HEADERS),
    )
    refused = [(root / path).read_text() for path in args.sources if path.endswith("api/refused.c")]
    refused += [args.absent.read_text()] if args.absent else []
    end = absent_functions(refused, header) + LAST.format(test=(HERE / "self_test.c").read_text())
    text = whole.write(first, end)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "mxlite.h").write_text(header)
    (args.out / "mxlite.c").write_text(text)
    print(f"{args.out}/mxlite.c: {text.count(chr(10)):,} lines, {len(text):,} bytes")


def macros(flags: list[str]) -> str:
    """The macros of the parts that are left out."""
    lines = []
    for flag in flags:
        name, _, value = flag[2:].partition("=")
        lines.append(f"#ifndef {name}\n#define {name} {value or 1}\n#endif")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
