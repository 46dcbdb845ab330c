"""Progress bars of long work, by tqdm where it is installed and somebody looks. MXLITE_PROGRESS=0 leaves them out."""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mxlite import _notebook


class _Silent:
    """A bar that is not shown."""

    def update(self, n: float = 1) -> None:
        """Does nothing."""


def _kind() -> Any:
    """tqdm's class for this place; None: there are no bars here."""
    setting, notebook = _notebook.setting(), _notebook.here()
    if setting == "0" or sys.stderr is None or not (notebook or setting == "1" or _is_terminal(sys.stderr)):
        return None
    # Without widgets a bar is text that stays in the saved notebook.
    needed = ("tqdm", "ipywidgets") if notebook else ("tqdm",)
    if any(importlib.util.find_spec(each) is None for each in needed):
        return None
    if notebook:
        from tqdm.notebook import tqdm as widget  # type: ignore[import-untyped]

        return widget
    from tqdm import tqdm  # type: ignore[import-untyped]

    return tqdm


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # None, or closed
        return False


class _Clearing(logging.Filter):
    """Takes the bar off its line before a message of a log is printed there; its next update draws it again."""

    def __init__(self, bar: Any) -> None:
        super().__init__()
        self.bar = bar

    def filter(self, record: logging.LogRecord) -> bool:
        self.bar.clear()
        return True


@contextmanager
def bar(what: str, total: float | None = None, loggers: Sequence[Any] = (), **options: Any) -> Iterator[Any]:
    """A bar on stderr until the end of the block, with `update(n)`; where none is to be seen, an object that does that.

    Args:
        what: What stands before it. total: How much there is; None: not known.
        loggers: Those, beside the root, whose messages must not run into it.
        options: tqdm's: unit, unit_scale.
    """
    kind = _kind()
    if kind is None:
        yield _Silent()
        return
    with kind(desc=what, total=total, leave=False, file=sys.stderr, **options) as shown:
        clearing = _Clearing(shown)
        known = [logging.getLogger(), *(each for each in loggers if isinstance(each, logging.Logger))]
        handlers = [each for logger in known for each in logger.handlers]
        handlers = [each for each in handlers if _is_terminal(getattr(each, "stream", None))]
        for each in handlers:
            each.addFilter(clearing)
        try:
            yield shown
        finally:
            for each in handlers:
                each.removeFilter(clearing)


def over(things: Iterable[Any], what: str, total: float | None = None, loggers: Sequence[Any] = ()) -> Iterable[Any]:
    """The things themselves, or where bars are seen an iterator of them that moves one."""
    if _kind() is None:
        return things
    if total is None:
        try:
            total = len(things)  # type: ignore[arg-type]
        except TypeError:
            pass
    return _moving(things, what, total, loggers)


def _moving(things: Iterable[Any], what: str, total: float | None, loggers: Sequence[Any]) -> Iterator[Any]:
    with bar(what, total, loggers, unit="batch") as shown:
        for each in things:
            yield each
            shown.update()
