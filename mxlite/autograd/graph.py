"""`mx.autograd.graph`: the nodes of the recorded graph, and pictures and texts of it."""

from mxlite._public import show as _show
from mxlite.autograd._graph import Edge, Node
from mxlite.autograd._hooks import RemovableHandle
from mxlite.autograd._pictures.drawing import draw, summary, to_dot
from mxlite.autograd._pictures.symbol_json import to_json

__all__ = ["Edge", "Node", "RemovableHandle", "draw", "summary", "to_dot", "to_json"]

_show(globals())
