"""One node of ONNX as the functions of this folder see it, and the table of these functions."""

from __future__ import annotations

from typing import Any, Callable, Union

from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.tensor import OnnxError, Tensor
from mxlite.onnx._need import need_onnx

Results = Union[Tensor, "list[Tensor]"]
Function = Callable[[Builder, "Node"], Results]

#: The function for each operator, by its domain and name.
OPERATORS: dict[tuple[str, str], Function] = {}

ML = "ai.onnx.ml"


class Node:
    """A node: its operator, its inputs (None: left out), its attributes, and how many outputs are wanted."""

    __slots__ = ("attributes", "domain", "graph", "inputs", "kind", "name", "opset", "outputs", "proto")

    def __init__(self, proto: Any, inputs: list[Tensor | None], opset: int, graph: Any) -> None:
        self.proto = proto
        self.kind = str(proto.op_type)
        self.domain = str(proto.domain) if proto.domain != "ai.onnx" else ""
        self.name = str(proto.name)
        self.inputs = inputs
        self.outputs = [str(each) for each in proto.output]
        self.opset = opset
        self.graph = graph
        helper = need_onnx().helper
        self.attributes: dict[str, Any] = {each.name: helper.get_attribute_value(each) for each in proto.attribute}

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute: a number, text, list, or what ONNX holds of a tensor or a graph."""
        found = self.attributes.get(name, default)
        if isinstance(found, bytes):
            return found.decode("utf-8", "replace")
        return found

    def ints(self, name: str, default: Any = None) -> Any:
        """An attribute that is a list of integers."""
        found = self.attributes.get(name)
        return default if found is None else [int(each) for each in found]

    def has(self, index: int) -> bool:
        """Whether it has an input."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def input(self, index: int) -> Tensor:
        """An input. Raises: OnnxError: it is missing."""
        found = self.inputs[index] if index < len(self.inputs) else None
        if found is None:
            raise OnnxError(f"{self.place}: input {index} is missing")
        return found

    def optional(self, index: int) -> Tensor | None:
        """An input, or None."""
        return self.inputs[index] if index < len(self.inputs) else None

    def alone_reads(self, index: int) -> bool:
        """Whether no other node, and no output of the graph, is known to need an input."""
        return bool(self.graph.reads_once(self.proto.input[index]))

    @property
    def place(self) -> str:
        """How errors call the node."""
        kind = f"{self.domain}.{self.kind}" if self.domain else self.kind
        return f"ONNX node {self.name!r} ({kind})" if self.name else f"ONNX node {kind}"

    def refuse(self, what: str) -> OnnxError:
        """An error about the node."""
        return OnnxError(f"{self.place}: {what}")

    def axis(self, name: str, default: int, rank: int) -> int:
        """An attribute that is an axis, counted from the front. Raises: OnnxError: there is no such axis."""
        return self.whole_axis(int(self.attr(name, default)), rank)

    def whole_axis(self, axis: int, rank: int) -> int:
        """An axis counted from the front."""
        if not -rank <= axis < max(rank, 1):
            raise self.refuse(f"axis {axis} of a tensor of {rank} axes")
        return axis % rank if rank else 0

    def axes(self, given: Any, rank: int) -> list[int]:
        """Axes counted from the front, sorted."""
        return sorted({self.whole_axis(int(axis), rank) for axis in given})


def reads(*kinds: str, domain: str = "") -> Callable[[Function], Function]:
    """Says that a function makes the symbols of these operators of ONNX."""

    def put(function: Function) -> Function:
        for kind in kinds:
            OPERATORS[domain, kind] = function
        return function

    return put
