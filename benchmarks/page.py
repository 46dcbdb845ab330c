"""Fills in the parts of a page of documentation that a program measures."""

from __future__ import annotations

import pathlib


def fill(page: pathlib.Path, script: str, rooms: dict[str, list[str]]) -> None:
    """Replaces the text between the page's marks, ``<!-- SCRIPT: ROOM -->`` and ``<!-- ROOM: end -->``."""
    text = page.read_text()
    for name, lines in rooms.items():
        begin, end = f"<!-- {script}: {name} -->\n", f"<!-- {name}: end -->"
        before, found, rest = text.partition(begin)
        if not found or end not in rest:
            raise SystemExit(f"{page} has no room between {begin.strip()} and {end}")
        text = before + begin + "\n" + "\n".join(lines) + "\n\n" + end + rest.partition(end)[2]
    page.write_text(text)
