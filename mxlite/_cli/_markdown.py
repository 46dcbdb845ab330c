"""Markdown as plain text for a terminal, and the parts of a page that a word is about. `mxlite help` prints both."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

#: A table whose cells are all this short stays one up to the second width.
_SHORT, _WIDEST = 36, 150


class Block(NamedTuple):
    """A part of a page: "heading" (`level` 1 to 6), "code", "table", "item" (of a list) or "text"."""

    kind: str
    lines: list[str]
    level: int = 0


def blocks(text: str) -> list[Block]:
    """The parts of a page, in order. Comments are left out."""
    lines = re.sub(r"(?s)<!--.*?-->", "", text).splitlines()
    found: list[Block] = []
    at = 0
    while at < len(lines):
        end = at + 1
        if lines[at].startswith("```"):
            while end < len(lines) and not lines[end].startswith("```"):
                end += 1
            found.append(Block("code", lines[at + 1 : end]))
            end += 1
        elif lines[at].startswith("#"):
            title = lines[at].lstrip("#")
            found.append(Block("heading", [title.strip()], len(lines[at]) - len(title)))
        elif lines[at].startswith("|"):
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
            found.append(Block("table", lines[at:end]))
        elif lines[at].strip():
            item = re.match(r"\s*([-*]|\d+\.) ", lines[at])
            while end < len(lines) and lines[end].strip() and not re.match(r"\s*([-*]|\d+\.) |```|#|\|", lines[end]):
                end += 1
            found.append(Block("item" if item else "text", lines[at:end]))
        at = end
    return found


def plain(text: str) -> str:
    """A line without marks: links become their texts, with the command that prints the page behind them."""

    def link(match: re.Match) -> str:
        shown, target = match.groups()
        page = re.fullmatch(r"([\w-]+)\.md(#.*)?", target)
        if page is not None:
            return f"`mxlite help {page[1]}`" if shown == f"{page[1]}.md" else f"{shown} (`mxlite help {page[1]}`)"
        return f"{shown} ({target})" if target.startswith("http") else str(shown)

    text = re.sub(r"!\[([^]]*)\]\([^)]*\)", r"(picture: \1)", text)
    text = re.sub(r"\[([^]]*)\]\(([^)]*)\)", link, text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"\1", text)
    return re.sub(r"(?<![\w`*])\*([^*`\s][^*`]*)\*(?![\w`*])", r"\1", text)


def _cells(line: str) -> list[str]:
    return [plain(each.replace("\0", "|").strip()) for each in line.replace("\\|", "\0").strip().strip("|").split("|")]


def _table(lines: list[str], width: int) -> list[str]:
    """A table in columns where it fits, else a paragraph for each row: its first cell, then the others by their heads.

    A column of tests is left out of such a paragraph.
    """
    head, *rows = [_cells(line) for line in lines if not re.fullmatch(r"[|\s:-]+", line)]
    columns = [max(len(row[at]) for row in [head, *rows] if at < len(row)) for at in range(len(head))]
    room = width if max(columns) > _SHORT else max(width, _WIDEST)
    if sum(columns) + 2 * len(columns) <= room:
        shown = ["  ".join(f"{cell:{size}}" for cell, size in zip(row, columns)).rstrip() for row in [head, *rows]]
        return [shown[0], "  ".join("-" * size for size in columns), *shown[1:]]
    text: list[str] = []
    for row in rows:
        text += textwrap.wrap(row[0], width, initial_indent="* ", subsequent_indent="  ")
        for name, cell in zip(head[1:], row[1:]):
            if cell and not name.startswith(("test", "program in tests")):
                text += textwrap.wrap(f"{name}: {cell}", width, initial_indent="    ", subsequent_indent="      ")
    return text


def _text(block: Block, width: int) -> list[str]:
    if block.kind == "heading":
        title = plain(block.lines[0])
        return [title, ("=" if block.level == 1 else "-") * len(title)] if block.level < 3 else [title]
    if block.kind == "code":
        return [f"    {line}".rstrip() for line in block.lines]
    if block.kind == "table":
        return _table(block.lines, width)
    joined = plain(" ".join(line.strip() for line in block.lines))
    if block.kind == "text":
        return textwrap.wrap(joined, width, break_long_words=False, break_on_hyphens=False)
    indent = " " * (len(block.lines[0]) - len(block.lines[0].lstrip()))
    hang = indent + " " * (len(joined) - len(joined.partition(" ")[2]))
    return textwrap.wrap(joined, width, initial_indent=indent, subsequent_indent=hang, break_long_words=False)


def as_text(parts: list[Block], width: int) -> str:
    """Parts of a page as text, with an empty line between all but the items of a list."""
    lines: list[str] = []
    for at, block in enumerate(parts):
        if at and not block.kind == parts[at - 1].kind == "item":
            lines.append("")
        lines += _text(block, width)
    return "\n".join(lines)


def sections(parts: list[Block], word: str) -> list[Block]:
    """The sections whose headings have a word, in any case; each ends at the next heading of its level."""
    found: list[Block] = []
    within = 0
    for block in parts:
        if block.kind == "heading":
            if within and block.level <= within:
                within = 0
            if not within and word.lower() in plain(block.lines[0]).lower():
                within = block.level
        if within:
            found.append(block)
    return found


def mentions(parts: list[Block], word: str) -> list[Block]:
    """The paragraphs, items and rows of tables that have a word, each under the headings above it."""
    found: list[Block] = []
    above: list[Block] = []
    for block in parts:
        if block.kind == "heading":
            above = [each for each in above if each.level < block.level] + [block]
            continue
        held = _holding(block, word.lower())
        if held is not None:
            found += [each for each in above if each not in found] + [held]
    return found


def _holding(block: Block, word: str) -> Block | None:
    """What of a part has a word; of a table its head and the rows that have it. None: nothing."""
    if block.kind != "table":
        return block if word in "\n".join(block.lines).lower() else None
    rows = [line for line in block.lines[2:] if word in line.lower()]
    return Block("table", [*block.lines[:2], *rows]) if rows else None


def headings(parts: list[Block]) -> Iterator[str]:
    """The headings below the page's own."""
    return (plain(block.lines[0]) for block in parts if block.kind == "heading" and block.level > 1)


def summary(text: str) -> str:
    """The heading of a page and the first sentence below it."""
    parts = blocks(text)
    heading = next((plain(block.lines[0]) for block in parts if block.kind == "heading"), "")
    first = next((plain(" ".join(block.lines)) for block in parts if block.kind == "text"), "")
    return f"{heading}: {re.split(r'(?<=[.:])[ ]', first)[0].rstrip(':')}"
