#!/usr/bin/env python3
"""Checks what the library exports: ``check_exports.py build/libmxlite.so [build/libmxnet.so ...]``.

Four lists must say the same: the library's dynamic symbols (``nm -D``), the prototypes in ``include/``, the names of
``capi/api/exports.txt`` (MX*, NN*; additions of mxlite's own, MXL*, are in the headers only), and the definitions in
``capi/api/refused.c`` and ``answers.c``, which are those that exports.txt does not call ``whole``;
and what the headers' comments call supported must work. Run by ``make checks`` and ``make lint``; prints one line per
difference and exits with 1 if there is any, with 2 if it cannot look.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPORTS = Path("capi/api/exports.txt")
STATUSES = ("whole", "answer", "refused")
#: What some linkers add to every shared library.
OF_THE_LINKER = {"_init", "_fini", "_edata", "_end", "__bss_start", "_mh_dylib_header", "__dso_handle"}
#: mxlite's own functions. (MXListFunctions and MXLoadLib are MXNet's: a small letter follows.)
OWN = re.compile(r"MXL[A-Z][A-Za-z0-9]*\Z")
PUBLIC = re.compile(r"(MX|NN)[A-Z0-9a-z]\w*\Z")
CALLED = re.compile(r"\b((?:MX|NN)[A-Za-z0-9]\w*)\s*\(")
DECLARED = re.compile(r"\bMXL_API\b[^;{}]*?\b((?:MX|NN)[A-Za-z0-9]\w*)\s*\(")
COMMENT_OR_DECLARED = re.compile(r"/\*\s*(.+?)\*/|" + DECLARED.pattern, re.S)
#: The definitions of a file with a status of its own.
DEFINED = {
    "refused": re.compile(r"^REFUSED\(((?:MX|NN)\w+), [A-Z_]+\)$", re.M),
    "answer": re.compile(r"^(?:int|void)\s+((?:MX|NN)\w+)\s*\([^;{}]*\)\s*\{", re.M),
}
FILES = {
    "refused": "capi/api/refused.c",
    "answer": "capi/api/answers.c",
}
#: Macros, which prototypes hold (MXL_DEFAULT).
MACRO = re.compile(r"MXL?_[A-Z]")


class CannotLookError(Exception):
    """A tool or a file that the check needs is missing."""


def code_of(text: str) -> str:
    """The text without comments and without preprocessor lines."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)


def tool(name: str, package: str) -> str:
    """The path of a program."""
    found = shutil.which(name)
    if found is None:
        raise CannotLookError(f"there is no {name} (package {package})")
    return found


def exported(library: Path) -> set[str]:
    """The names that the library defines for the dynamic linker, without symbol versions: ELF, PE or Mach-O."""
    if not library.is_file():
        raise CannotLookError(f"{library}: no such file; make lib builds it")
    if library.suffix == ".dll":
        command = [tool("llvm-readobj", "llvm"), "--coff-exports", str(library)]
    elif library.suffix == ".dylib":
        command = [tool("llvm-objdump", "llvm"), "--macho", "--exports-trie", str(library)]
    else:
        command = [tool("nm", "binutils"), "-D", "--defined-only", str(library)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise CannotLookError(f"{' '.join(command)}: {run.stderr.strip()}")
    if library.suffix == ".dll":
        return set(re.findall(r"^ *Name: (\S+)$", run.stdout, re.M))
    if library.suffix == ".dylib":  # C's names have one more "_"
        return set(re.findall(r"^0x\w+ +_(\S+)", run.stdout, re.M)) - OF_THE_LINKER
    return {line.split()[-1].split("@")[0] for line in run.stdout.splitlines() if line.strip()} - OF_THE_LINKER


def declared(problems: list[str]) -> dict[str, str]:
    """Every function that a public header declares, with that header; one line per other oddity in problems."""
    found: dict[str, str] = {}
    headers = sorted((ROOT / "include").rglob("*.h"))
    if not headers:
        raise CannotLookError("include/ has no headers")
    for header in headers:
        where = str(header.relative_to(ROOT))
        text = code_of(header.read_text(encoding="utf-8"))
        marked = DECLARED.findall(text)
        for name in marked:
            if name in found:
                problems.append(f"{where}: {name} is declared twice; the other one is in {found[name]}")
            found[name] = where
        for name in set(CALLED.findall(text)) - set(marked):
            if not MACRO.match(name):
                problems.append(f"{where}: {name} is declared without MXL_API")
    return found


def promised() -> set[str]:
    """The functions that the headers call supported: those of c_api.h, and those below a comment that says so."""
    found: set[str] = set()
    for header in sorted((ROOT / "include" / "mxlite").glob("c_api*.h")):
        supported = whole = header.name == "c_api.h"
        for comment, name in COMMENT_OR_DECLARED.findall(header.read_text(encoding="utf-8")):
            if comment:
                supported = whole or comment.startswith("Supported")
            elif supported:
                found.add(name)
    return found


def listed(problems: list[str]) -> dict[str, str]:
    """exports.txt: name -> status; one line per malformed, unsorted or repeated entry in problems."""
    path = ROOT / EXPORTS
    if not path.is_file():
        raise CannotLookError(f"{EXPORTS}: no such file")
    found: dict[str, str] = {}
    last = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split()
        if len(fields) != 2 or fields[1] not in STATUSES or not PUBLIC.match(fields[0]) or OWN.match(fields[0]):
            problems.append(f"{EXPORTS}:{number}: {line!r} is not an MX* or NN* name and one of {', '.join(STATUSES)}")
            continue
        if fields[0] <= last:
            problems.append(f"{EXPORTS}:{number}: {fields[0]} is listed twice or out of order")
        last = fields[0]
        found[last] = fields[1]
    return found


def not_whole(problems: list[str]) -> dict[str, tuple[str, str]]:
    """The functions that are not implemented whole: name -> (file that defines it, status that the file gives it)."""
    found: dict[str, tuple[str, str]] = {}
    for status, where in FILES.items():
        for name in DEFINED[status].findall(code_of((ROOT / where).read_text(encoding="utf-8"))):
            if name in found:
                problems.append(f"{where}: {name} is defined twice; the other one is in {found[name][0]}")
            found[name] = (where, status)
    return found


def compare_library(library: Path, headers: dict[str, str], names: dict[str, str]) -> Iterator[str]:
    """One line per difference between the library's symbols, the headers and the list."""
    symbols = exported(library)
    for name in sorted(symbols):
        if not PUBLIC.match(name):
            yield f"{library}: exports {name}, which is no MX*, MXL* or NN* name"
        elif name not in headers:
            yield f"{library}: exports {name}, which no header in include/ declares"
        elif name not in names and not OWN.match(name):
            yield f"{library}: exports {name}, which {EXPORTS} does not list"
    for name in sorted(set(headers) - symbols):
        yield f"{library}: does not export {name}, which {headers[name]} declares"
    for name in sorted(set(names) - symbols - set(headers)):
        yield f"{library}: does not export {name}, which {EXPORTS} lists"


def compare_sources(headers: dict[str, str], names: dict[str, str], stubs: dict[str, tuple[str, str]]) -> Iterator[str]:
    """One line per difference between the list, the headers and the files of FILES."""
    for name in sorted(set(names) - set(headers)):
        yield f"{EXPORTS}: {name} is declared in no header of include/"
    for name in sorted(n for n in set(headers) - set(names) if not OWN.match(n)):
        yield f"{headers[name]}: declares {name}, which {EXPORTS} does not list"
    for name, status in sorted(names.items()):
        where, body = stubs.get(name, ("", "whole"))
        if body != status:
            yield f"{EXPORTS}: {name} is called {status}, but {where or 'no file of ' + str(FILES)} makes it {body}"
    supported = promised()
    for name, status in sorted(names.items()):
        if name in headers and (status == "refused") == (name in supported):
            said = "works" if name in supported else "does not work"
            yield f"{headers[name]}: says that {name} {said}, {EXPORTS} calls it {status}"
    for name in sorted(set(stubs) - set(names)):
        yield f"{stubs[name][0]}: defines {name}, which {EXPORTS} does not list"


def main() -> int:
    """Compares, prints, and returns the exit code."""
    parser = argparse.ArgumentParser(description="Compares the library's exports with headers and list.")
    parser.add_argument("library", type=Path, nargs="+", help="the shared library, or several with the same names")
    problems: list[str] = []
    try:
        libraries = parser.parse_args().library
        headers, names, stubs = declared(problems), listed(problems), not_whole(problems)
        problems += compare_sources(headers, names, stubs)
        for library in libraries:
            problems += compare_library(library, headers, names)
    except CannotLookError as error:
        print(f"check-exports: {error}", file=sys.stderr)
        return 2
    for problem in problems:
        print(problem)
    counts = ", ".join(f"{list(names.values()).count(status)} {status}" for status in STATUSES)
    own = sum(1 for name in headers if OWN.match(name))
    print(f"check-exports: {len(problems)} problems; {len(names)} names of MXNet ({counts}), {own} of mxlite")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
