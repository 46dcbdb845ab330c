"""The edge of an array in the graph: the base class that NDArray and mxlite.torch's Tensor share."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Callable, ClassVar

from mxlite._lib import LIB, hot
from mxlite.autograd import _graph as graph
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._handles import RECORDED, edge_kind, edge_of
from mxlite.autograd._hooks import add_accumulated_hook, add_array_hook


class Placed:
    """The place of an array in the graph; no object is of it alone."""

    __slots__ = ()

    #: How nodes make arrays of this class; the front end sets it.
    _graph_front_end: ClassVar[FrontEnd]

    if TYPE_CHECKING:
        _h: int

    def _node(self) -> tuple[graph.Node | None, int]:
        """Where the array's gradient goes: a node and the output's number; (None, 0): nowhere."""
        handle, output = edge_of(self._h)
        return (graph.node_for(handle, self._graph_front_end), output) if handle else (None, 0)

    requires_grad = property(
        hot.requires_gradient,
        lambda self, flag: self.requires_grad_(flag),
        doc="Whether a gradient flows to the array: it is a variable, or was recorded.",
    )

    @property
    def is_leaf(self) -> bool:
        """Whether the array was not recorded: it is a variable or a constant."""
        return edge_kind(self._h) != RECORDED

    @property
    def grad_fn(self) -> graph.Node | None:
        """The node that the array was recorded by; None for a leaf."""
        node, _ = self._node()
        return None if node is None or node.is_accumulating() else node

    @property
    def output_nr(self) -> int:
        """Which output of its node the array is."""
        return self._node()[1]

    def _require_gradient(self, name: str) -> None:
        if not self.requires_grad:
            raise self._graph_front_end.constant(name)

    def register_hook(self, hook: Callable) -> graph.RemovableHandle:
        """Calls hook(grad) when the array's gradient has arrived; what it returns takes the gradient's place.

        Hooks run in the order in which they were registered. A computed array's are released by a backward that
        releases the graph.
        Returns: a handle whose `remove()` takes the hook away.
        Raises: MXNetError or RuntimeError: no gradient flows to the array.
        """
        self._require_gradient("register_hook")
        return add_array_hook(self, hook, self._graph_front_end)

    def register_post_accumulate_grad_hook(self, hook: Callable) -> graph.RemovableHandle:
        """Calls hook(array) when backward has written or added to the variable's gradient.

        Raises: MXNetError or RuntimeError: the array is no variable.
        """
        self._require_gradient("register_post_accumulate_grad_hook")
        if not self.is_leaf:
            raise self._graph_front_end.computed("register_post_accumulate_grad_hook")
        return add_accumulated_hook(self, hook, self._graph_front_end)

    @property
    def _version(self) -> int:
        """How often the memory was written to since it was made; all views of it share the number."""
        version = ctypes.c_uint64()
        if LIB.MXLNDArrayGetVersion(self._h, ctypes.byref(version)) != 0:
            raise self._graph_front_end.last_error()
        return version.value
