"""The recorded graph in the format of MXNet's symbols, for programs that read it (Netron, MXNet itself)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from mxlite.autograd._pictures.walk import Record, Value, walk
from mxlite.base import FLAG_OF_DTYPE

_VERSION = 10901


def to_json(y: Any, names: Mapping[str, Any] | None = None) -> str:
    """The graph that leads to `y` as the JSON of a symbol of MXNet 1.9.1.

    Variables, and the values that operators were given as constants, are its arguments: the graph does not keep which
    array a constant was, so each use of one is an argument of its own. MXNet reads it (`mx.sym.load_json`) where it has
    the operators; those that begin with `_mxl_`, edits in place and functions of the user's it has not.

    Args:
        y: An array or a node, or several: the symbol's outputs.
        names: What variables are called: name to array; others are var0, var1, ...
    Raises: ValueError: an array was not recorded and is no variable.
    """
    records, heads = walk(y, names)
    symbol = _Symbol({record.label for record in records})
    places: list[int] = []
    for record in records:
        places.append(symbol.add(record, places))
    parts = {
        "arg_nodes": [i for i, node in enumerate(symbol.nodes) if node["op"] == "null"],
        "node_row_ptr": symbol.row_ptr,
        "heads": [[places[position], output, 0] for position, output in heads],
        "attrs": {"mxnet_version": ["int", _VERSION]},
    }
    nodes = ",\n".join("    " + json.dumps(node) for node in symbol.nodes)
    rest = "".join(f',\n  "{key}": {json.dumps(value)}' for key, value in parts.items())
    return f'{{\n  "nodes": [\n{nodes}\n  ]{rest}\n}}\n'


class _Symbol:
    """The nodes of a symbol, as they are added."""

    def __init__(self, taken: set[str]) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.row_ptr = [0]
        self._taken = taken
        self._counts: dict[str, int] = {}

    def _name(self, kind: str) -> str:
        """kind0, kind1, ...: one that is not in use."""
        while True:
            number = self._counts.get(kind, 0)
            self._counts[kind] = number + 1
            if f"{kind}{number}" not in self._taken:
                return f"{kind}{number}"

    def _append(self, operator: str, name: str, attrs: dict[str, str], inputs: list[list[int]], outputs: int) -> int:
        node: dict[str, Any] = {"op": operator, "name": name}
        if attrs:
            node["attrs"] = attrs
        self.nodes.append({**node, "inputs": inputs})
        self.row_ptr.append(self.row_ptr[-1] + outputs)
        return len(self.nodes) - 1

    def _argument(self, name: str, value: Value) -> int:
        attrs = {"__dtype__": str(FLAG_OF_DTYPE[np.dtype(value.dtype)]), "__shape__": str(value.shape)}
        return self._append("null", name, attrs, [], 1)

    def add(self, record: Record, places: list[int]) -> int:
        """Adds a node, its constants before it; `places`: where the nodes added so far are."""
        if record.operator is None:
            return self._argument(record.label or self._name("var"), record.outputs[0])
        inputs = []
        for position, output, value in record.arguments:
            if position is None:
                inputs.append([self._argument(self._name("const"), value), 0, 0])
            else:
                inputs.append([places[position], output, 0])
        operator, params = _in_mxnet(record)
        name = self._name(operator.strip("_").lower())
        return self._append(operator, name, params, inputs, len(record.outputs))


def _in_mxnet(record: Record) -> tuple[str, dict[str, str]]:
    """Operator and parameters; two that views are recorded as have the same in MXNet's words."""
    params = record.params
    if record.operator == "_mxl_reshape_to" and 0 not in record.outputs[0].shape:
        return "Reshape", {"shape": str(record.outputs[0].shape)}
    if record.operator == "_mxl_slice_rows":
        return "slice_axis", {"axis": "0", "begin": params.get("begin", "0"), "end": params["end"]}
    return record.operator or "null", params
