"""`mx.gluon.contrib`: layers that MXNet calls experimental."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mxlite._public import show

if TYPE_CHECKING:
    from mxlite.gluon.contrib import cnn, data, estimator, nn, rnn

__all__ = ["cnn", "data", "estimator", "nn", "rnn"]


def _later(name: str) -> Any:
    return importlib.import_module(f"mxlite.gluon.contrib.{name}") if name in __all__ else None


show(globals(), _later)
