"""Tables of texts, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from typing import Any

#: Further rows are counted in HTML, not shown: a browser draws no table of a graph of a million nodes.
MOST_ROWS = 200

_TABLE = "border-collapse:collapse;font-family:monospace;font-size:90%"
_CELL = "padding:2px 8px;text-align:"
_NOTE = "font-size:90%;opacity:0.8"


class Table(str):
    """A table as text; a notebook shows it as HTML, and Python's prompt as it is printed.

    Args:
        text: The text.
        head, rows: The cells. right: Numbers of the columns whose cells stand at the right.
        foot: A line below the table. title: A line above it, in HTML alone.
    """

    _cells: tuple[Any, ...]

    def __new__(cls, text: str = "", *cells: Any) -> Table:
        made = super().__new__(cls, text)
        made._cells = cells
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (str(self), *self._cells)

    @classmethod
    def of(
        cls,
        head: Sequence[str],
        rows: Sequence[Sequence[str]],
        right: Collection[int] = (),
        foot: str = "",
        title: str = "",
    ) -> Table:
        """The table of these cells, in columns as wide as their longest one."""
        every = [head, *rows]
        widths = [max(len(row[column]) for row in every) for column in range(len(head))]
        pads = [str.rjust if column in right else str.ljust for column in range(len(head))]
        lines = ["  ".join(pad(cell, width) for pad, cell, width in zip(pads, row, widths)) for row in every]
        lines.insert(1, "  ".join("-" * width for width in widths))
        text = "\n".join(line.rstrip() for line in [*lines, *filter(None, [foot])])
        return cls(text, head, rows, right, foot, title)

    def __str__(self) -> str:
        return str.__str__(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str | None:
        return table(*self._cells) if self._cells else None


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Collection[int] = (),
    foot: str = "",
    title: str = "",
) -> str:
    """An HTML table of texts, which are escaped; arguments as of Table. Of many rows the first are shown."""
    aligns = ["right" if column in right else "left" for column in range(max([len(head), *map(len, rows[:MOST_ROWS])]))]

    def line(cells: Sequence[str], tag: str) -> str:
        parts = [f'<{tag} style="{_CELL}{align}">{escape(cell)}</{tag}>' for cell, align in zip(cells, aligns)]
        return f"<tr>{''.join(parts)}</tr>"

    parts = [note(title)] if title else []
    parts.append(f'<table style="{_TABLE}">')
    if head:
        parts.append(f"<thead>{line(head, 'th')}</thead>")
    parts += ["<tbody>", *(line(row, "td") for row in rows[:MOST_ROWS]), "</tbody></table>"]
    if len(rows) > MOST_ROWS:
        parts.append(note(f"{len(rows) - MOST_ROWS} more rows"))
    if foot:
        parts.append(note(foot))
    return f"<div>{''.join(parts)}</div>"


def note(text: str) -> str:
    """A line beside a table, as HTML."""
    return f'<div style="{_NOTE}">{escape(text)}</div>'
