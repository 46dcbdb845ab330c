"""`mx.gluon.nn`: layers."""

from __future__ import annotations

from mxlite._public import show
from mxlite.gluon.block import Block, HybridBlock, SymbolBlock
from mxlite.gluon.nn import activations, basic_layers, conv_layers
from mxlite.gluon.nn.activations import *  # noqa: F403
from mxlite.gluon.nn.basic_layers import *  # noqa: F403
from mxlite.gluon.nn.conv_layers import *  # noqa: F403

__all__ = [  # noqa: PLE0604
    "Block",
    "HybridBlock",
    "SymbolBlock",
    "activations",
    "basic_layers",
    "conv_layers",
    *activations.__all__,
    *basic_layers.__all__,
    *conv_layers.__all__,
]

show(globals())
