"""Writes a symbol with its parameters as a model of ONNX."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import mxlite as mx
from mxlite._version import __version__
from mxlite.ndarray.ndarray import NDArray
from mxlite.onnx._export.nodes import OPERATORS, OPSET, ExportError, Operation, Value, Writer
from mxlite.onnx._file import NUMBERS
from mxlite.onnx._import.builder import first_name, infer_node
from mxlite.onnx._need import need_onnx
from mxlite.symbol import Symbol

for _name in ("elementwise", "layers", "linalg", "of_numpy", "random", "recurrent", "reduce", "shape", "vision"):
    importlib.import_module(f"mxlite.onnx._export.{_name}")

#: The version of the format that belongs to OPSET.
IR_VERSION = 8
#: Bytes from which on a file of protobuf cannot hold them.
MOST_BYTES = (1 << 31) - (1 << 20)


class Exporter:
    """One symbol.

    Args:
        symbol, parameters: what is written.
        inputs: shape and dtype of each input, by name; names or None among the sizes are open in the file.
    """

    def __init__(
        self, symbol: Symbol, parameters: Mapping[str, NDArray], inputs: Mapping[str, tuple[tuple[Any, ...], str]]
    ) -> None:
        self.symbol = symbol
        self.parameters = parameters
        self.inputs = inputs
        self.writer = Writer()
        self._values: dict[tuple[int, int], Value] = {}
        self._used: set[str] = set()
        self._infos: list[Any] = []

    def model(self) -> Any:
        """The model. Raises: ExportError: ONNX has no nodes for an operator."""
        onnx = need_onnx()
        graph = json.loads(self.symbol.tojson())
        nodes = graph["nodes"]
        said = self._said(nodes)
        with mx.np_shape(True):
            for number in _order(nodes, graph["heads"]):
                node = nodes[number]
                if node["op"] == "null":
                    self._variable(number, node["name"])
                else:
                    self._operation(number, node, said)
        outputs = []
        taken: set[str] = set()
        for head in graph["heads"]:
            outputs.append(self._output(self._values[head[0], head[1]], taken))
        constants = {**self.writer.parameters, **self.writer.constants}
        read = {name for node in self.writer.nodes for name in node.input}
        initializers = [onnx.numpy_helper.from_array(array, name) for name, array in constants.items() if name in read]
        infos = [info for info in self._infos if info.name in read]
        made = onnx.helper.make_graph(self.writer.nodes, "mxlite", infos, outputs, initializers)
        return onnx.helper.make_model(
            made, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="mxlite",
            producer_version=__version__,
        )  # fmt: skip

    def _variable(self, number: int, name: str) -> None:
        held = self.parameters.get(name)
        if held is not None:
            array = held.asnumpy()
            dtype = str(np.dtype(array.dtype))
            if dtype not in NUMBERS:
                raise ExportError(f"parameter {name!r} has dtype {dtype}")
            self.writer.parameters[name] = array
            self._values[number, 0] = Value(name, tuple(array.shape), dtype)
            return
        shape, dtype = self.inputs.get(name, (None, "float32"))
        known = None if shape is None else tuple(size if isinstance(size, int) and size >= 0 else -1 for size in shape)
        self._values[number, 0] = Value(name, known, dtype)
        if shape is not None:
            sizes = [size if not isinstance(size, int) or size >= 0 else None for size in shape]
            self._infos.append(need_onnx().helper.make_tensor_value_info(name, NUMBERS[dtype], sizes))

    def _said(self, nodes: Sequence[dict[str, Any]]) -> dict[str, tuple[int, ...]]:
        """The shapes of outputs that follow from the whole graph, such as those of an LSTM's first states, by name."""
        known = {name: tuple(each.shape) for name, each in self.parameters.items()}
        for name, (shape, _) in self.inputs.items():
            known[name] = tuple(size if isinstance(size, int) and size > 0 else 0 for size in shape)
        inside = self.symbol.get_internals()
        names = set(inside.list_inputs())
        with mx.np_shape(False):
            _, shapes, _ = inside.infer_shape_partial(**{name: shape for name, shape in known.items() if name in names})
        found = zip(inside.list_outputs(), shapes or [])
        return {name: shape for name, shape in found if shape and min(shape) > 0}

    def _operation(self, number: int, node: dict[str, Any], said: Mapping[str, tuple[int, ...]]) -> None:
        params = {key: value for key, value in node.get("attrs", {}).items() if not key.startswith("__")}
        inputs = [self._values[each[0], each[1]] for each in node["inputs"]]
        found = infer_node(node["op"], [(each.shape, each.dtype) for each in inputs], params)
        if len(found) == 1 and f"{node['name']}_output" in said:
            found = [(said[f"{node['name']}_output"], found[0][1])]
        name = self._unique(node["name"])
        outputs = [
            Value(name if not index else f"{name}_output{index}", shape, dtype)
            for index, (shape, dtype) in enumerate(found)
        ]
        for index, each in enumerate(outputs):
            self._values[number, index] = each
        kind = first_name(node["op"])
        operation = Operation(self.writer, kind, node["op"], node["name"], params, inputs, outputs)
        function = OPERATORS.get(kind)
        if function is None:
            raise operation.refuse("mxlite writes no such operator")
        function(operation)

    def _unique(self, name: str) -> str:
        while name in self._used or name in self.parameters or name in self.inputs:
            name = self.writer.name(name)
        self._used.add(name)
        return name

    def _output(self, value: Value, taken: set[str]) -> Any:
        name = value.name
        is_node = any(name in node.output for node in self.writer.nodes)
        if name in taken or not is_node:  # a variable, or the same output once more
            name = self.writer.add("Identity", [value])
        taken.add(name)
        sizes = None if value.shape is None else [size if size >= 0 else None for size in value.shape]
        return need_onnx().helper.make_tensor_value_info(name, NUMBERS[value.dtype], sizes)


def _order(nodes: Sequence[dict[str, Any]], heads: Sequence[Sequence[int]]) -> list[int]:
    """The numbers of the nodes that the heads need, in the order in which they run."""
    needed = {head[0] for head in heads}
    for number in reversed(range(len(nodes))):
        if number in needed:
            needed.update(each[0] for each in nodes[number]["inputs"])
    return [number for number in range(len(nodes)) if number in needed]
