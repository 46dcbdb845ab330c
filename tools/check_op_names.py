#!/usr/bin/env python3
"""Checks that no C file names an operator of another file: a field of its descriptor says what others need to know.

A string literal of ``capi/`` that is an operator's name, or another name of one, belongs into the file that has the
descriptor. Elsewhere it is a finding:

* a name with an underscore or a capital (``"_copy"``, ``"BatchNorm"``), wherever it stands;
* any name (``"where"``, ``"transpose"``) that is looked up or compared: an argument of ``strcmp`` or
  ``mxl_op_find``;
* a text of three names or more (``"exp log tanh"``).

A file has a name's descriptor if the name stands behind ``.name =`` or ``.numpy_name =``, in ``MXL_ALIASES``, or in a
macro at the beginning of a line, which makes a descriptor. A family (``mxl_ops_take``) has the name of its file
(``take.c``), or that after ``np_``: also checked. ``LEFT`` lists the files that still name others' operators, with how
many names: the numbers may only fall. Run by ``make lint`` on the built library, which lists the names.
"""

import ctypes
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from check_includes import c_files

#: file below capi/ -> how many names of others' operators it has
LEFT = {
    # the engine lies below the operators: it finds those that it calls by their names
    "engine/run/builtin_ops.c": 16,
    # 1.9.1's own functions, which have operators' names
    "api/legacy/functions.c": 5,
    "api/packed/functions.c": 3,
    "api/legacy/imdecode.c": 6,
    "api/custom/infer.c": 1,  # in an error
}
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
COMMENT = re.compile(r'/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.S)
LOOKUP = re.compile(r"\b(?:strcmp|strncmp|mxl_op_find)\((?:[^;\"]*)$")
FAMILY = re.compile(r"^const mxl_op \*const mxl_ops_(\w+)\[\]", re.M)
DEFINES = re.compile(
    r'\.(?:numpy_)?name = (?:MXL_NUMPY\()?"(\w+)"'
    r"|MXL_ALIASES\(([^)]*)\)"
    r"|^(?:static |const )*[A-Z][A-Z0-9_]+\((.*?)(?=^\S|\Z)",
    re.S | re.M,
)


def without_comments(text: str) -> str:
    """The text with blanks for comments, and its line breaks."""
    return COMMENT.sub(lambda match: match.group(1) or re.sub(r"[^\n]", " ", match.group(0)), text)


def listed_names(library: Path) -> set[str]:
    """The public names of operators, with aliases."""
    lib = ctypes.CDLL(str(library))
    count, names = ctypes.c_uint32(), ctypes.POINTER(ctypes.c_char_p)()
    if lib.MXListAllOpNames(ctypes.byref(count), ctypes.byref(names)) != 0:
        raise OSError(f"{library} lists no operators")
    return {names[i].decode() for i in range(count.value)}


def defined_names(text: str) -> set[str]:
    """The names of which a file has descriptors."""
    found = set()
    for match in DEFINES.finditer(text):
        found.update([match.group(1)] if match.group(1) else STRING.findall(match.group(2) or match.group(3) or ""))
    return found


def foreign_names(text: str, names: set[str]) -> Iterator[tuple[int, str]]:
    """Yields (line, name) for each operator that the text names and does not define."""
    text = without_comments(text)
    own = defined_names(text)
    for match in STRING.finditer(text):
        name = match.group(1)
        words = name.split()
        if len(words) > 2 and all(word in names for word in words):
            yield text.count("\n", 0, match.start()) + 1, name
        if name in own or not (name in names or re.fullmatch(r"_mxl_\w+", name)):
            continue
        plain = re.fullmatch(r"[a-z0-9]+", name)
        if not plain or LOOKUP.search(text[max(0, match.start() - 120) : match.start()]):
            yield text.count("\n", 0, match.start()) + 1, name


def main(library: Path, root: Path) -> int:
    names, bad, seen = listed_names(library), [], {}
    for path in c_files(root / "capi"):
        file = str(path.relative_to(root / "capi"))
        text = path.read_text(encoding="utf-8")
        for family in FAMILY.findall(text):
            if family not in (path.stem, "np_" + path.stem):
                bad.append(f"capi/{file}: its family is called {family}: {path.stem} is the name of the file")
        found = list(foreign_names(text, names))
        if found:
            seen[file] = len(found)
        if len(found) > LEFT.get(file, 0):
            bad += [f"capi/{file}:{line}: names {name}: say it by a field of its descriptor" for line, name in found]
    for file, count in LEFT.items():
        if seen.get(file, 0) < count:
            bad.append(f"tools/check_op_names.py: LEFT says {count} names for {file}, which has {seen.get(file, 0)}")
    for line in bad:
        print(line)
    print(f"check_op_names: {len(names)} names, {sum(seen.values())} left in {len(seen)} files, {len(bad)} findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(__file__).parent.parent.resolve()))
