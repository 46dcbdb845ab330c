#!/usr/bin/env python3
"""Writes the Markdown that Sphinx makes the site of.

Usage: pages.py OPERATORS FOLDER (called by `make site`). OPERATORS holds the pages of `make docs`, api.py makes those
of Python's modules, and README is the first. Guides are those of docs/, but for their links: what one links to
elsewhere in the tree, as ../examples/digits.py, becomes a page too: Markdown as it is, a notebook as its cells, another
file as its text.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from pathlib import Path

import api

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = {".py": "python", ".c": "c", ".h": "c", ".sh": "sh"}
#: The navigation: section -> its pages. Pages of operators and modules are not in it: every page would have it all.
SECTIONS = {
    "Guides": [
        "first-hour",
        "from-mxnet",
        "from-pytorch",
        "from-c",
        "autograd",
        "gluon",
        "sparse",
        "distributed",
        "profiler",
        "settings",
    ],
    "Reference": [
        "Operators <operators/README>",
        "Modules of Python <api/README>",
        "compatibility",
        "names",
        "status",
        "performance",
        "accuracy",
        "glossary",
    ],
    "Inside": [
        "architecture",
        "tree/capi/adding-an-operator",
        "tree/bindings/README",
        "tree/capi/README",
        "tree/CONTRIBUTING",
        "tree/CHANGELOG",
    ],
}
#: Folder -> what the link to its index says.
INDEXED = {"api": "All modules", "operators": "All operators"}
ALONE = "---\norphan: true\n---\n\n"  # a page that the navigation does not show
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")
_FENCE = re.compile(r"^( *)(```+)[^\n]*\n.*?^\1\2$\n?", re.S | re.M)


# ---- links ----


def place(path: str) -> str:
    """Where a file of the tree is in the site: docs/gluon.md -> gluon.md, examples/a.c -> tree/examples/a.c.md."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path[len("docs/") :]
    return f"tree/{path}" if path.endswith(".md") else f"tree/{path}.md"


def turned(path: str, text: str) -> tuple[str, set[str]]:
    """The text of a file with links to where the site has what they lead to, and the files that they lead to."""
    found = set()

    def turn(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link[1]))
        if not (ROOT / target).is_file():
            raise SystemExit(f"pages.py: {path} links to {link[1]}, which is no file of the tree")
        found.add(target)
        return posixpath.relpath(place(target), posixpath.dirname(place(path)) or ".")

    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(turn, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(turn, text[end:])]), found


# ---- pages ----


def _notebook(text: str) -> str:
    """The cells of a notebook: text, programs, and what they printed."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            printed = "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
            parts += [f"```text\n{printed}\n```"] if printed else []
    return "\n\n".join(parts) + "\n"


def tree_page(path: str) -> tuple[str, set[str]]:
    """The page of a file of the tree, and the files that it links to."""
    text = (ROOT / path).read_text(encoding="utf-8")
    suffix = Path(path).suffix
    if suffix == ".ipynb":
        text = _notebook(text)
    elif suffix != ".md":
        return f"{ALONE}# {path}\n\n````{LANGUAGES.get(suffix, 'text')}\n{text}\n````\n", set()
    text, found = turned(path, text)
    shown = {entry.split("<")[-1].rstrip(">") for entries in SECTIONS.values() for entry in entries}
    return (text if path == "README.md" or place(path)[:-3] in shown else ALONE + text), found


def navigation() -> str:
    """What ends the first page."""
    blocks = []
    for section, entries in SECTIONS.items():
        blocks.append("\n".join(["", "```{toctree}", ":hidden:", f":caption: {section}", "", *entries, "```", ""]))
    return "".join(blocks)


def pages(operators: Path) -> dict[str, str]:
    """File -> text, of the whole site."""
    texts = {}
    known, ahead = set(), {"README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))}
    while ahead:
        path = ahead.pop()
        known.add(path)
        if path.startswith("docs/images/"):
            texts[place(path)] = (ROOT / path).read_text(encoding="utf-8")
            continue
        texts[place(path)], found = tree_page(path)
        ahead |= found - known
    texts["index.md"] += navigation()
    texts.update({f"api/{name}": text for name, text in api.pages().items()})
    texts.update({f"operators/{path.name}": path.read_text(encoding="utf-8") for path in operators.iterdir()})
    for name, text in texts.items():
        folder, _, file = name.partition("/")
        if folder in INDEXED and file.endswith(".md") and file != "README.md":
            texts[name] = f"{ALONE}[{INDEXED[folder]}](README.md)\n\n{text}"
    return texts


def main(operators: Path, folder: Path) -> int:
    """Writes the pages that have changed, so that Sphinx reads no others again; removes those that are no more."""
    texts = pages(operators)
    for path in folder.rglob("*.*"):
        if path.is_file() and path.relative_to(folder).as_posix() not in texts:
            path.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
