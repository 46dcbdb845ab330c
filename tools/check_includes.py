#!/usr/bin/env python3
"""Checks the shape of the house: which folder includes which, sizes of files, calls that end the process.

A folder of ``capi/`` is a layer and includes only go down (see ``capi/README.md``). Run by ``make checks`` and
``make lint``; prints one line per finding and exits with 1 if there is any.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LAYERS = ["base", "backend", "kernel", "array", "op", "engine", "ops", "symbol", "kvstore", "data", "api"]
#: Only these layers may include the public headers: the inside must not depend on its own outside.
PUBLIC_INCLUDERS = {"api"}
MAX_LINES = 600
#: The library never ends the process and never prints: it is a guest of its program.
FORBIDDEN = re.compile(
    r"(?<![\w.>])(abort|exit|_exit|_Exit|quick_exit|raise|assert|printf|fprintf|vprintf|vfprintf|puts|fputs|putchar"
    r"|perror|psignal|dprintf|__builtin_trap|__builtin_abort)\s*\("
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
ASSERT_HEADER = {"assert.h"}
#: The headers of C17, and of compilers for vectors and exceptions. All others are the system's, for `SYSTEM` alone.
C_HEADERS = {
    *("ctype.h", "errno.h", "float.h", "inttypes.h", "limits.h", "math.h", "setjmp.h", "stdarg.h", "stdatomic.h"),
    *("stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "tgmath.h", "time.h"),
    *("arm_neon.h", "cpuid.h", "emmintrin.h", "immintrin.h", "unwind.h"),
}
SYSTEM = "base/system"
#: An edge's target is a node or a variable: only the accessors in this file may say which.
TARGET_CAST = re.compile(r"\(\s*(?:const\s+)?mxl_(?:node|array)\s*\*\s*\)\s*\(?[\w.\->\[\]]*\btarget\b")
TARGET_FILE = "engine/tape/tape.h"


def strip_comments_and_strings(text: str) -> str:
    """Replaces comments and literals by blanks, keeping the line breaks so that line numbers stay right."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def c_files(folder: Path) -> list[Path]:
    """All C sources and headers (templates too) below a folder, sorted."""
    return sorted(path for path in folder.rglob("*") if path.suffix in {".c", ".h", ".inc"})


def check_include(file: str, quote: str, target: str, capi: Path, include: Path) -> str:
    """Says what is wrong with one #include of a file, whose path in `capi` is given, or an empty string."""
    layer = file.split("/", 1)[0]
    if target in ASSERT_HEADER:
        return f"includes <{target}>: an assertion ends the user's process"
    folder = target.split("/", 1)[0]
    if folder in LAYERS and (capi / target).exists():
        if LAYERS.index(folder) > LAYERS.index(layer):
            return f'{layer} (layer {LAYERS.index(layer)}) includes "{target}" of layer {LAYERS.index(folder)}'
        return ""
    if (include / target).exists():
        return "" if layer in PUBLIC_INCLUDERS else f'{layer} includes the public header "{target}"; only api may'
    if quote == "<" and target not in C_HEADERS and f"{SYSTEM}/" not in file:
        return f"includes <{target}> of the system: only {SYSTEM} may"
    if quote == '"':
        return f'"{target}" is not found under capi/ or include/ (write "layer/file.h")'
    return ""


def check_file(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Yields (line, finding) for one file of capi/."""
    capi, include = root / "capi", root / "include"
    file = path.relative_to(capi).as_posix()
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        yield 1, f"has {len(lines)} lines; {MAX_LINES} are allowed"
    if not text.lstrip().startswith(("/*", "//")):
        yield 1, "does not open with a comment that says what it is and who calls it"
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            finding = check_include(file, match.group(1), match.group(2), capi, include)
            if finding:
                yield number, finding
    for number, line in enumerate(strip_comments_and_strings(text).splitlines(), 1):
        match = FORBIDDEN.search(line)
        if match:
            yield number, f"calls {match.group(1)}: the library never ends the process and never prints"
        if TARGET_CAST.search(line) and file != TARGET_FILE:
            yield number, f"casts an edge's target: call mxl_edge_node or mxl_edge_variable of {TARGET_FILE}"


def check_makefile(root: Path) -> Iterator[tuple[int, str]]:
    """The Makefile's list of layers must be this file's."""
    for number, line in enumerate((root / "Makefile").read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("LAYERS :="):
            if line.split()[2:] != LAYERS:
                yield number, f"LAYERS differs from the list in tools/check_includes.py: {' '.join(LAYERS)}"
            return
    yield 1, "has no line LAYERS := ..."


def main(root: Path) -> int:
    findings: dict[str, list[tuple[int, str]]] = {}
    files = c_files(root / "capi")
    for path in files:
        name = str(path.relative_to(root))
        layer = path.relative_to(root / "capi").parts[0]
        if layer not in LAYERS:
            findings[name] = [(1, f"is in no layer; the layers are {', '.join(LAYERS)}")]
        else:
            findings[name] = list(check_file(path, root))
    for path in sorted((root / "include").rglob("*.h*")):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        # The API's header is one long list of prototypes, and users look for it under one name.
        if lines > 4 * MAX_LINES:
            findings[str(path.relative_to(root))] = [(1, f"has {lines} lines; {4 * MAX_LINES} are allowed")]
    findings["Makefile"] = list(check_makefile(root))
    bad = [f"{name}:{line}: {text}" for name, found in sorted(findings.items()) for line, text in found]
    for line in bad:
        print(line)
    if not files:
        print("capi: there are no C files")
        return 1
    print(f"check_includes: {len(files)} files, {len(bad)} findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()))
