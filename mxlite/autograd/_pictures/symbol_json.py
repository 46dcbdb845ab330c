"""The recorded graph in the format of MXNet's symbols, for programs that read it (Netron, MXNet itself)."""

from __future__ import annotations

import ast
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
        for operator, params in _in_mxnet(record):
            name = self._name(operator.strip("_").lower())
            inputs = [[self._append(operator, name, params, inputs, len(record.outputs)), 0, 0]]
        return inputs[0][0]


def _in_mxnet(record: Record) -> list[tuple[str, dict[str, str]]]:
    """Operators, one of the other, and their parameters; views and keys are said in MXNet's words."""
    params, shape = record.params, record.outputs[0].shape if record.outputs else ()
    if record.operator == "_mxl_reshape_to" and 0 not in shape:
        return [("Reshape", {"shape": str(shape)})]
    if record.operator == "_mxl_slice_rows":
        return [("slice_axis", {"axis": "0", "begin": params.get("begin", "0"), "end": params["end"]})]
    if record.operator == "_mxl_index" and 0 not in shape:
        return _key_in_mxnet(ast.literal_eval(params["key"]), shape) or [(record.operator, params)]
    return [(record.operator or "null", params)]


def _key_in_mxnet(key: tuple, shape: tuple[int, ...]) -> list[tuple[str, dict[str, str]]] | None:
    """A key that gives this shape as slice and Reshape, or of one index array alone as take; None: any other key."""
    parts, at = [], 0
    while at < len(key):
        parts.append(key[at : at + {0: 2, 1: 4}.get(key[at], 1)])
        at += len(parts[-1])
    kinds = [part[0] for part in parts]
    dots = len(shape) + kinds.count(0) - kinds.count(2) - sum(kind in (0, 1) for kind in kinds)
    taken = {0: lambda i: (i, i + 1 or None, None), 1: lambda *bounds: bounds}
    axes = []
    for kind, *numbers in parts:
        if kind == 3:
            axes += [(None, None, None)] * dots
        elif kind != 2:
            axes.append(taken[kind](*numbers) if kind in taken else None)
    if axes.count(None) == 1 and 2 not in kinds and all(axis in (None, (None, None, None)) for axis in axes):
        return None if 3 in kinds else [("take", {"axis": str(axes.index(None)), "mode": "wrap"})]
    if None in axes:
        return None
    begin, end, step = zip(*axes) if axes else ((), (), ())
    return [("slice", {"begin": str(begin), "end": str(end), "step": str(step)}), ("Reshape", {"shape": str(shape)})]
