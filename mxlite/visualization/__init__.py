"""`mx.viz`: tables and pictures of symbols."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import prod
from typing import Any

from mxlite._public import show as _show
from mxlite.symbol import Symbol
from mxlite.symbol._shown import WEIGHTS
from mxlite.visualization._digraph import digraph

__all__ = ["plot_network", "print_summary"]

Shapes = dict[str, tuple]


def _nodes(symbol: Symbol) -> list[dict[str, Any]]:
    """The nodes as the symbol's file has them: op, name, attrs, inputs."""
    return json.loads(symbol.tojson())["nodes"]


def _shapes(symbol: Symbol, given: Shapes | None) -> Shapes:
    """The shapes of all outputs inside, and of all variables, by name. Raises: ValueError: they do not follow."""
    if given is None:
        return {}
    inside = symbol.get_internals()
    arguments, outputs, states = inside.infer_shape(**given)
    if outputs is None:
        raise ValueError("print_summary: `shape` does not tell all shapes")
    found = dict(zip(inside.list_outputs(), outputs))
    found.update(zip(inside.list_arguments(), arguments or ()))
    found.update(zip(inside.list_auxiliary_states(), states or ()))
    return found


def _output_shape(node: dict[str, Any], shapes: Shapes) -> tuple | None:
    name = node["name"]
    return next((shapes[each] for each in (name, f"{name}_output", f"{name}_output0") if each in shapes), None)


def print_summary(
    symbol: Symbol,
    shape: Shapes | None = None,
    line_length: int = 120,
    positions: Sequence[float] = (0.44, 0.64, 0.74, 1.0),
) -> None:
    """Prints a table of the symbol's operators: output shape, number of parameters, inputs.

    Args:
        shape: shapes of inputs by name; without them neither shapes nor numbers are known.
        positions: where the columns end, as shares of the line.
    Raises: TypeError: no symbol; MXNetError: shapes that do not fit; ValueError: they do not suffice.
    """
    if not isinstance(symbol, Symbol):
        raise TypeError("print_summary: the first argument is a Symbol")
    shapes, nodes = _shapes(symbol, shape), _nodes(symbol)
    ends = [int(line_length * each) if each <= 1 else int(each) for each in positions]
    states = set(symbol.list_auxiliary_states())

    def line(fields: Sequence[str]) -> str:
        text = ""
        for field, end in zip(fields, ends):
            text = (text + field)[:end].ljust(end)
        return text

    print("_" * line_length)
    print(line(["Layer (type)", "Output Shape", "Param #", "Previous Layer"]))
    print("=" * line_length)
    rows = [number for number, each in enumerate(nodes) if each["op"] != "null" or number == 0]
    total = 0
    for number in rows:
        node = nodes[number]
        variables = [nodes[each[0]] for each in node["inputs"] if nodes[each[0]]["op"] == "null" and each[0] != 0]
        params = [each["name"] for each in variables if each["name"] not in states and not _is_label(each["name"])]
        count = sum(prod(shapes[name]) for name in params if name in shapes)
        total += count
        before = [nodes[each[0]]["name"] for each in node["inputs"] if nodes[each[0]]["op"] != "null" or each[0] == 0]
        sizes = "x".join(map(str, (_output_shape(node, shapes) or ())[1:]))
        print(line([f"{node['name']}({node['op']})", sizes, str(count), before[0] if before else ""]))
        for name in before[1:]:
            print(line(["", "", "", name]))
        print(("=" if number == rows[-1] else "_") * line_length)
    print(f"Total params: {total}")
    print("_" * line_length)


def _is_label(name: str) -> bool:
    return name.endswith("label")


#: The colours of operators, of ColorBrewer's palette Set3; all others have the last.
_COLOURS = {
    "null": "#8dd3c7",
    "Convolution": "#fb8072",
    "Deconvolution": "#fb8072",
    "FullyConnected": "#fb8072",
    "BatchNorm": "#bebada",
    "Activation": "#ffffb3",
    "LeakyReLU": "#ffffb3",
    "Pooling": "#80b1d3",
    "Concat": "#fdb462",
    "Flatten": "#fdb462",
    "Reshape": "#fdb462",
    "Softmax": "#b3de69",
    "": "#fccde5",
}


def _label_of(node: dict[str, Any]) -> str:
    """What stands in a node's box."""
    attributes = node.get("attrs", {})

    def sizes(name: str, otherwise: str = "1") -> str:
        return "x".join(re.findall(r"\d+", attributes.get(name, ""))) or otherwise

    operator = node["op"]
    if operator in ("Convolution", "Deconvolution"):
        return f"{operator}\n{sizes('kernel')}/{sizes('stride')}, {attributes['num_filter']}"
    if operator == "FullyConnected":
        return f"FullyConnected\n{attributes['num_hidden']}"
    if operator in ("Activation", "LeakyReLU"):
        return f"{operator}\n{attributes.get('act_type', 'leaky')}"
    if operator == "Pooling":
        return f"Pooling\n{attributes.get('pool_type', 'max')}, {sizes('kernel')}/{sizes('stride')}"
    return node["name"]


def plot_network(
    symbol: Symbol,
    title: str = "plot",
    save_format: str = "pdf",
    shape: Shapes | None = None,
    dtype: Any = None,
    node_attrs: dict[str, str] | None = None,
    hide_weights: bool = True,
) -> Any:
    """A picture of the symbol, which a notebook shows; its `view()` opens it, its `source` is text.

    It is a graphviz.Digraph where that package is. Without it `view()` and formats other than SVG raise RuntimeError.

    Args:
        shape: shapes of inputs by name; then edges show shapes. dtype: ignored.
        node_attrs: attributes of graphviz for all boxes. hide_weights: whether parameters are left out.
    Raises: TypeError: no symbol; ValueError: shapes do not suffice.
    """
    if not isinstance(symbol, Symbol):
        raise TypeError("plot_network: the first argument is a Symbol")
    shapes, nodes = _shapes(symbol, shape), _nodes(symbol)
    names = [each["name"] for each in nodes]
    if len(set(names)) != len(names):
        raise ValueError("nodes of one name cannot be told apart in a picture")
    box = {"shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034", "style": "filled"}
    box.update(node_attrs or {})
    picture = digraph(title, save_format)
    hidden = {each["name"] for each in nodes if hide_weights and each["op"] == "null" and _is_weight(each["name"])}
    for node in nodes:
        if node["name"] not in hidden:
            look = {**box, "shape": "oval"} if node["op"] == "null" else box
            colour = _COLOURS.get(node["op"], _COLOURS[""])
            picture.node(name=node["name"], label=_label_of(node), fillcolor=colour, **look)
    for node in nodes:
        for each in node["inputs"]:
            source = nodes[each[0]]
            if source["name"] in hidden or node["op"] == "null":
                continue
            label = "x".join(map(str, (_output_shape(source, shapes) or ())[1:]))
            picture.edge(tail_name=node["name"], head_name=source["name"], label=label, dir="back", arrowtail="open")
    return picture


def _is_weight(name: str) -> bool:
    return name.endswith(WEIGHTS)


_show(globals())
