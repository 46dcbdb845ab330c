"""`mx.gluon.model_zoo`: known networks, and files of their trained parameters."""

from __future__ import annotations

from mxlite._public import show
from mxlite.gluon.model_zoo import model_store, vision

__all__ = ["model_store", "vision"]

show(globals())
