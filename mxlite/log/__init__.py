"""`mx.log`: loggers whose lines begin with the level's letter, time, process and place, in colour on a terminal."""

from __future__ import annotations

import logging
import warnings
from logging import CRITICAL, DEBUG, ERROR, INFO, NOTSET, WARNING

from mxlite._public import show as _show

__all__ = ["CRITICAL", "DEBUG", "ERROR", "INFO", "NOTSET", "WARNING", "getLogger", "get_logger"]

_LETTERS = {CRITICAL: "C", ERROR: "E", WARNING: "W", INFO: "I", DEBUG: "D"}


class _Formatter(logging.Formatter):
    """Lines such as `I1124 02:56:12 12221 train.py:main:12] text`, in colour but for the text."""

    def __init__(self) -> None:
        super().__init__(datefmt="%m%d %H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        colour = 31 if record.levelno >= WARNING else 32 if record.levelno >= INFO else 34
        letter = _LETTERS.get(record.levelno, "U")
        self._style._fmt = (
            f"\x1b[{colour}m{letter}%(asctime)s %(process)d %(pathname)s:%(funcName)s:%(lineno)d]\x1b[0m %(message)s"
        )
        return super().format(record)


def get_logger(
    name: str | None = None, filename: str | None = None, filemode: str | None = None, level: int = WARNING
) -> logging.Logger:
    """A logger, which gets a handler and a level when it is asked for first.

    Args:
        name: None: the root logger, as it is.
        filename: The file that it writes to, plain lines. None: standard error.
        filemode: How the file is opened. None: "a".
    """
    logger = logging.getLogger(name)
    if name is None or getattr(logger, "_mxlite_made", False):
        return logger
    if filename:
        handler: logging.Handler = logging.FileHandler(filename, filemode or "a")
    else:
        handler = logging.StreamHandler()
        handler.setFormatter(_Formatter())
    logger.addHandler(handler)
    logger.setLevel(level)
    logger._mxlite_made = True  # type: ignore[attr-defined]
    return logger


def getLogger(  # noqa: N802 - MXNet's name
    name: str | None = None, filename: str | None = None, filemode: str | None = None, level: int = WARNING
) -> logging.Logger:
    """The old name of `get_logger`; warns."""
    warnings.warn("getLogger is an old name of get_logger", DeprecationWarning, stacklevel=2)
    return get_logger(name, filename, filemode, level)


_show(globals())
