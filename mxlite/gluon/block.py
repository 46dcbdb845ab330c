"""`mx.gluon.block`: the base classes of layers and networks."""

from __future__ import annotations

from mxlite._public import show
from mxlite.gluon._block import Block
from mxlite.gluon._hybrid import HybridBlock
from mxlite.gluon._nested import _flatten as _flatten
from mxlite.gluon._nested import _regroup as _regroup
from mxlite.gluon._symbol_block import SymbolBlock

__all__ = ["Block", "HybridBlock", "SymbolBlock"]

show(globals())
