"""`mx.gluon`: networks of blocks, and what trains them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mxlite._public import show
from mxlite.gluon import block, nn, parameter, utils
from mxlite.gluon.block import Block, HybridBlock, SymbolBlock
from mxlite.gluon.parameter import Constant, DeferredInitializationError, Parameter, ParameterDict, tensor_types

if TYPE_CHECKING:
    from mxlite.gluon import contrib, data, loss, model_zoo, rnn, trainer
    from mxlite.gluon.trainer import Trainer

__all__ = [
    "Block",
    "Constant",
    "DeferredInitializationError",
    "HybridBlock",
    "Parameter",
    "ParameterDict",
    "SymbolBlock",
    "Trainer",
    "block",
    "contrib",
    "data",
    "loss",
    "model_zoo",
    "nn",
    "parameter",
    "rnn",
    "tensor_types",
    "trainer",
    "utils",
]

#: Modules that are imported when they are first used, and what is in them.
_MODULES = {"contrib", "data", "loss", "model_zoo", "rnn", "trainer"}
_OTHERS = {"Trainer": "trainer"}


def _later(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"mxlite.gluon.{name}")
    if name in _OTHERS:
        return getattr(importlib.import_module(f"mxlite.gluon.{_OTHERS[name]}"), name)
    return None


show(globals(), _later)
