"""``mxlite help``: the pages of the documentation as text, one of them, or what a page says of a word."""

from __future__ import annotations

import argparse
import pydoc
import shutil
import sys
import textwrap

from mxlite._cli import COMMANDS, _markdown, run_command
from mxlite._public.near import did_you_mean, near
from mxlite._public.pages import pages


def _list(width: int) -> str:
    """All pages, a line each."""
    found = {name: _markdown.summary(path.read_text(encoding="utf-8")) for name, path in pages().items()}
    left = max(map(len, found)) + 2
    room = width - left - 2
    lines = [f"  {name:{left}}{textwrap.shorten(text, room)}" for name, text in found.items()]
    usage = "`mxlite help PAGE` prints a page, `mxlite help PAGE WORD` the section of that name, or what it says of it:"
    others = "`mxlite op NAME` prints the page of an operator; `mxlite --help` lists the commands."
    return "\n".join([textwrap.fill(usage, width), "", *lines, "", textwrap.fill(others, width)])


def _print(text: str) -> None:
    """Prints a text; on a terminal that is too low for it, by the pager of PAGER."""
    if sys.stdout.isatty() and text.count("\n") + 1 >= shutil.get_terminal_size((100, 24)).lines:
        pydoc.pager(text + "\n")
        return
    print(text)


def _fail(problem: str) -> int:
    print(f"mxlite help: {problem}", file=sys.stderr)
    return 1


def main(arguments: list[str] | None = None) -> int:
    """Prints the list of pages, a page, or a part of one; returns 0, or 1: there is no such page, or nothing there."""
    parser = argparse.ArgumentParser("mxlite help", description="Prints a page of the documentation as text.")
    parser.add_argument("page", nargs="?", help="its name, or that of a command; without: the list of pages")
    parser.add_argument("word", nargs="*", help="a heading, or what to look for in the page")
    given = parser.parse_args(arguments)
    width = max(60, min(100, shutil.get_terminal_size((100, 24)).columns))
    known = pages()
    if not known:
        return _fail("this installation has no pages")
    if given.page is None:
        _print(_list(width))
        return 0
    name = given.page[: -len(".md")] if given.page.endswith(".md") else given.page
    name = name.rpartition("/")[2].lower()
    beginning = [each for each in known if each.startswith(name)]
    name = beginning[0] if len(beginning) == 1 else name
    if name in COMMANDS and name not in known:
        return run_command(name, ["--help"])
    if name not in known:
        hint = did_you_mean(name, [*known, *COMMANDS]) or "; `mxlite help` lists all"
        return _fail(f"there is no page {given.page!r}{hint}")
    parts = _markdown.blocks(known[name].read_text(encoding="utf-8"))
    word = " ".join(given.word)
    if word:
        found = _markdown.sections(parts, word) or _markdown.mentions(parts, word)
        if not found:
            titles = list(_markdown.headings(parts))
            hint = did_you_mean(word, titles)
            if not hint:
                words = {each: title for title in titles for each in title.split() if len(each) > 3}
                hint = "".join(f"; did you mean {words[each]!r}?" for each in near(word, words, most=1))
            return _fail(f"the page {name} says nothing of {word!r}{hint}")
        parts = found
    _print(_markdown.as_text(parts, width))
    return 0
