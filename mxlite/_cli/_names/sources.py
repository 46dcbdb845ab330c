"""The Python of a file: of a script, of a notebook's cells, of a Markdown page's blocks; and its syntax trees."""

from __future__ import annotations

import ast
import json
import re
import warnings
from pathlib import Path
from typing import NamedTuple, cast

#: Files that a folder is searched for.
SUFFIXES = (".py", ".ipynb", ".md", ".markdown")


class Source(NamedTuple):
    """Text of Python, and where each of its lines is: "line 3", or "cell 2 line 3"."""

    text: str
    places: list[str]
    loose: bool = False  #: of a page: what is no Python there is text

    def place(self, line: int) -> str:
        """Where a line is."""
        return self.places[min(max(line, 1), len(self.places)) - 1]

    def line(self, line: int) -> str:
        """The text of a line."""
        lines = self.text.split("\n")
        return lines[min(max(line, 1), len(lines)) - 1].strip()


class Parsed(NamedTuple):
    """A syntax tree; and, of Python 2, the number of the line at which Python 3 ends."""

    tree: ast.Module
    old: int = 0


def read(path: Path) -> list[Source]:
    """The sources of a file: one of a script, one for each cell of a notebook and each block of a page.

    Raises: OSError; ValueError: the file is no text, or no notebook.
    """
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        coding = re.match(rb"(?:[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)", data)
        if coding is None:
            raise
        try:
            text = data.decode(coding[1].decode())
        except LookupError as error:
            raise ValueError(str(error)) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if path.suffix == ".ipynb":
        return _cells(text)
    if path.suffix in (".md", ".markdown"):
        return _blocks(text)
    return [Source(text, [f"line {line}" for line in range(1, text.count("\n") + 2)])]


# ---- notebooks ----


def _cells(text: str) -> list[Source]:
    try:
        held = json.loads(text)
        cells = held["cells"] if "cells" in held else [cell for sheet in held["worksheets"] for cell in sheet["cells"]]
        found = []
        for number, cell in enumerate(cells, 1):
            if cell["cell_type"] == "code":
                lines = cell["source"] if "source" in cell else cell["input"]
                lines = "".join(lines).split("\n")
                found.append(Source(_python(lines), [f"cell {number} line {at}" for at in range(1, len(lines) + 1)]))
        return found
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it is no notebook: {type(error).__name__} {error}") from None


def _python(lines: list[str]) -> str:
    """A cell without IPython's magics, line by line; a cell of another language has none."""
    if lines[0].startswith("%%") and not re.match(r"%%(time|timeit|capture|prun)\b", lines[0]):
        return ""
    # A magic may be all that a block has: `pass` takes its place.
    plain = (re.sub(r"^(\s*)(%|!|\?).*$|^(\s*)\S+\?\??\s*$", r"\1\3pass", line) for line in lines)
    return "\n".join(re.sub(r"^(\s*[\w, ]+=\s*)(!|%[a-z]).*$", r"\1None", line) for line in plain)


# ---- pages ----

_FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*\{?\.?([\w+-]*)")
_LANGUAGES = ("python", "py", "python3", "python2", "pycon", "ipython", "{.python")


def _blocks(text: str) -> list[Source]:
    """The fenced blocks of Python, and what is behind `>>>` elsewhere."""
    found: list[Source] = []
    block: list[tuple[int, str]] = []
    fence, language, indent = "", "", 0
    for number, line in enumerate(text.split("\n"), 1):
        match = _FENCE.match(line)
        if fence:
            if match and match[2].startswith(fence) and line.strip() == match[2]:
                found += _block(block, language in _LANGUAGES)
                fence, block = "", []
            else:
                block.append((number, line[min(indent, len(line) - len(line.lstrip())) :]))
        elif match:
            found += _block(block, False)
            fence, language, indent, block = match[2], match[3].lower(), len(match[1]), []
        elif re.match(r"\s*(>>>|\.\.\.)( |$)", line):
            block.append((number, line.strip()))
        elif block:
            found += _block(block, False)
            block = []
    return found + _block(block, bool(fence) and language in _LANGUAGES)


def _block(lines: list[tuple[int, str]], python: bool) -> list[Source]:
    """A block's source; of a session with `>>>` what was typed. Nothing if it is neither Python nor a session."""
    if any(line.lstrip().startswith(">>>") for _, line in lines):
        typed = [(at, line.lstrip()) for at, line in lines if re.match(r"\s*(>>>|\.\.\.)( |$)", line)]
        lines = [(at, line[4:]) for at, line in typed]
    elif not python:
        return []
    text = _python([line for _, line in lines]) if lines else ""
    return [Source(text, [f"line {at}" for at, _ in lines], True)] if lines else []


# ---- syntax, also Python 2's ----

#: What Python 2 wrote otherwise, line by line, for its names to be found: nobody runs the result.
_REWRITES = (
    (re.compile(r"^(.*?[:;]\s*|\s*)print\s*$"), r"\1print()"),
    (re.compile(r"^((?:.*?[:;]\s*)?\s*)print\s+(>>\s*[\w.]+\s*,\s*)?(?![=.])(.*?),?\s*(#.*)?$"), r"\1print(\3)"),
    (re.compile(r"\bexcept\s+([\w.]+|\([^)]*\))\s*,\s*(\w+)\s*:"), r"except \1 as \2:"),
    (re.compile(r"\braise\s+([\w.]+)\s*,\s*([^,]+?)(?:,.*)?$"), r"raise \1(\2)"),
    (re.compile(r"^(\s*)exec\s+([^(\s].*?)(?:\s+in\s+(.*))?$"), r"\1exec(\2)"),
    (re.compile(r"<>"), "!="),
    (re.compile(r"`([^`]+)`"), r"repr(\1)"),
    (re.compile(r"\b(0[xX][\da-fA-F]+|\d+)[lL]\b"), r"\1"),
    (re.compile(r"(?<![\w.])0+(\d+)\b(?![.eEjJ])"), r"\1"),
    (re.compile(r"\b[uU][rR](['\"])"), r"r\1"),
)


def parse(source: Source) -> Parsed:
    """The tree of a source, also of one for Python 2 as far as its lines can be rewritten.

    Raises: SyntaxError: it is neither; its text has the place.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes in texts
        try:
            awaits = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if source.place(1).startswith("cell") else 0
            tree = compile(source.text, "<source>", "exec", ast.PyCF_ONLY_AST | awaits, dont_inherit=True)
            return Parsed(cast(ast.Module, tree))
        except ValueError as error:  # a NUL
            raise SyntaxError(str(error)) from None
        except SyntaxError as error:
            line, message = error.lineno or 1, error.msg
        rewritten = "\n".join(map(_rewritten, source.text.expandtabs(8).split("\n")))
        if rewritten != source.text:
            try:
                return Parsed(ast.parse(rewritten), line)
            except SyntaxError:
                pass
    if source.loose:
        return Parsed(ast.Module([], []))
    raise SyntaxError(f"{source.place(line)}: {message}")


def _rewritten(line: str) -> str:
    for pattern, new in _REWRITES:
        line = pattern.sub(new, line)
    return line
