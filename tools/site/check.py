#!/usr/bin/env python3
"""Checks the built site: links lead to pages and to places on them, and each operator has its page.

Usage: check.py SITE OPERATORS (called by `make site`); OPERATORS is the folder of `make docs`. Prints every mistake,
and exits with 1 if there is one.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    """What a page links to and loads, and the places on it that links can lead to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = {""}
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collects from one tag."""
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            elif name in ("href", "src") and value:
                (self.targets if tag == "a" else self.loaded).append(value)


def mistakes(site: Path, operators: Path) -> list[str]:
    """One line for each link that leads nowhere, thing that is loaded from elsewhere, and operator without a page."""
    pages = {path.resolve(): Links(path) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for target in [*page.targets, *page.loaded]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loaded and parts.scheme != "data":
                    found.append(f"{path.relative_to(site)}: loads {target}")
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not file.is_file():
                found.append(f"{path.relative_to(site)}: {target}: there is no such page")
            elif file in pages and unquote(parts.fragment) not in pages[file].places:
                found.append(f"{path.relative_to(site)}: {target}: the page has no such place")
    names = [path.stem for path in operators.glob("*.md") if path.stem != "README"]
    found += [f"{name}: the operator has no page" for name in names if not (site / f"operators/{name}.html").is_file()]
    print(f"site: {len(pages)} pages, {len(names)} of them of operators; {len(found)} mistakes; open {site}/index.html")
    return found if names else [*found, f"{operators}: no pages of operators"]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    lines = mistakes(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
    print("\n".join(lines), end="\n" if lines else "")
    sys.exit(bool(lines))
