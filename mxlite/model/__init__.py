"""`mx.model`: checkpoints, which are a symbol in `prefix-symbol.json` and its parameters in `prefix-0003.params`; steps
of training with a store; and FeedForward, which `mx.mod.Module` has followed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from mxlite._public import show as _show
from mxlite.model._checkpoint import BatchEndParam, load_checkpoint, load_params, save_checkpoint
from mxlite.model._updates import (  # noqa: F401 - loops of users call them
    _create_kvstore,
    _initialize_kvstore,
    _update_params,
    _update_params_on_kvstore,
)

if TYPE_CHECKING:
    from mxlite.model._feed_forward import FeedForward

__all__ = ["BatchEndParam", "FeedForward", "load_checkpoint", "load_params", "save_checkpoint"]

for _each in (BatchEndParam, load_checkpoint, load_params, save_checkpoint):
    _each.__module__ = __name__


def _later(name: str) -> object:
    if name not in ("FeedForward", "_multiple_callbacks"):
        return None
    return getattr(importlib.import_module("mxlite.model._feed_forward"), name)


_show(globals(), _later)
