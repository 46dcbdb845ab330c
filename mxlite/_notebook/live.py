"""Live: what training reports, as a line and curves that a notebook shows while it goes on."""

from __future__ import annotations

import math
import time
from typing import Any

from mxlite import _notebook
from mxlite._notebook import chart, tables

#: Seconds between two drawings, at least.
_EVERY = 0.5
#: Points of a curve; of more, every second one goes.
_POINTS = 400
_PARTS = ("training", "validation", "train", "val", "test")


class Live:
    """Values that training reports, and a display of them in a notebook; nothing is shown elsewhere.

    Call `update(loss=..., accuracy=...)` after each batch or epoch. Values whose names differ only in a leading word
    (training loss, validation loss; val_loss) are curves of one chart.
    """

    def __init__(self, across: str = "update") -> None:
        self._across = across
        self._values: dict[str, list[tuple[float, float]]] = {}
        self._place = ""
        self._count = 0
        self._shown_at = -math.inf
        self._display: Any = None

    @property
    def history(self) -> dict[str, list[tuple[float, float]]]:
        """The points (count, value) of each curve."""
        return self._values

    def due(self) -> bool:
        """Whether it is time to draw."""
        return time.monotonic() - self._shown_at >= _EVERY

    def update(self, at: float | None = None, place: str = "", **values: Any) -> None:
        """Notes values, and draws them if the last drawing is half a second old.

        Args:
            at: Where on the horizontal axis; None: one behind the last.
            place: What stands before the values: "epoch 3".
            values: Numbers, or arrays of one element, by name.
        """
        self._count += 1
        self._place = place
        for name, value in values.items():
            points = self._values.setdefault(name, [])
            points.append((float(self._count if at is None else at), float(value)))
            if len(points) > _POINTS:
                del points[1:-1:2]
        if self.due():
            self.show()

    def show(self) -> None:
        """Draws, in a notebook."""
        if _notebook.here() and _notebook.setting() != "0":
            self._shown_at = time.monotonic()
            if self._display is None:
                self._display = _notebook.display(self)
            else:
                self._display.update(self)

    def __repr__(self) -> str:
        latest = [f"{name} {points[-1][1]:.4g}" for name, points in self._values.items()]
        return ": ".join(filter(None, [self._place, ", ".join(latest)])) or "nothing yet"

    def _repr_html_(self) -> str:
        charts: dict[str, dict[str, list[tuple[float, float]]]] = {}
        for name, points in self._values.items():
            part, what = _split(name)
            charts.setdefault(what, {})[part or what] = points
        drawn = [chart.curves(what, self._across, series) for what, series in charts.items()]
        return f"<div>{tables.note(repr(self))}{''.join(drawn)}</div>"


def _split(name: str) -> tuple[str, str]:
    """A leading word that says of which data a value is, and the rest."""
    for part in _PARTS:
        rest = name[len(part) :]
        if name.startswith(part) and rest[:1] in ("_", " ", "-") and rest[1:]:
            return part, rest[1:]
    return "", name


def wanted(callbacks: list[Any]) -> bool:
    """Whether a training loop with these callbacks shows a line by itself."""
    return _notebook.here() and _notebook.setting() != "0" and not any(isinstance(each, Live) for each in callbacks)
