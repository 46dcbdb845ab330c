"""``mxlite show``: a saved graph as a table, or drawn into a file."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from mxlite import _replace
from mxlite._cli.op import _default
from mxlite._cli.predict import _WrongError, read_symbol, shapes_of
from mxlite._public.near import did_you_mean
from mxlite.autograd._pictures import svg
from mxlite.autograd._pictures.drawing import MOST_NODES
from mxlite.error import MXAttributeError, MXNetError
from mxlite.ndarray._operators import Operator
from mxlite.symbol import Symbol

#: Longer texts of parameters are cut in the table.
_WIDTH = 44


@dataclass
class _Node:
    """A node of the file. `sources` are (position among the nodes, output number)."""

    name: str
    operator: str
    attributes: dict[str, str]
    sources: list[tuple[int, int]]
    shape: tuple[int, ...] | None

    @property
    def is_variable(self) -> bool:
        return self.operator == "null"


def _nodes(symbol: Symbol, given: dict[str, tuple[int, ...]]) -> list[_Node]:
    """The nodes in the order in which they run, with the shapes that follow from those given."""
    listed = json.loads(symbol.tojson())["nodes"]
    shapes: dict[str, tuple[int, ...]] = {}
    if given:
        inside = symbol.get_internals()
        try:
            found = inside.infer_shape_partial(**given)
        except MXNetError as error:
            raise _WrongError(str(error)) from None
        for names, sizes in zip(
            (inside.list_arguments(), inside.list_outputs(), inside.list_auxiliary_states()), found
        ):
            shapes.update({name: each for name, each in zip(names, sizes or ()) if each and min(each) > 0})
    nodes = []
    for each in listed:
        spellings = (each["name"], f"{each['name']}_output", f"{each['name']}_output0")
        shape = next((shapes[name] for name in spellings if name in shapes), None)
        sources = [(source[0], source[1]) for source in each["inputs"]]
        nodes.append(_Node(each["name"], each["op"], each.get("attrs", {}), sources, shape))
    return nodes


def _is_input(node: _Node, given: dict[str, tuple[int, ...]]) -> bool:
    """Whether a variable is shown as a line of its own: it has a shape of the caller's, or the name of data."""
    return node.is_variable and (node.name in given or node.name.startswith("data"))


def _shape(shape: tuple[int, ...] | None) -> str:
    return "" if shape is None else "(" + ",".join(map(str, shape)) + ")"


def _attributes(node: _Node) -> str:
    """The parameters that have other values than their defaults."""
    usual = {}
    if not node.is_variable:
        try:
            usual = {name: _default(kind)[1] for name, kind, _ in Operator(node.operator).params}
        except MXAttributeError:
            pass
    told = {name: each for name, each in node.attributes.items() if not name.startswith("__")}
    plain = {name: {"True": "1", "False": "0"}.get(each, each) for name, each in told.items()}
    other = [name for name in told if plain[name] not in (usual.get(name), "None", "")]
    text = ", ".join(f"{name}={told[name]}" for name in other)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."


def _short(variable: str, node: str) -> str:
    """A variable's name without the beginning that it shares with its operator's: weight of dense0_weight."""
    base = node[: -len("_fwd")] if node.endswith("_fwd") else node
    return variable[len(base) + 1 :] if variable.startswith(base + "_") else variable


def table(nodes: list[_Node], given: dict[str, tuple[int, ...]]) -> str:
    """A line for each operator and input; parameters stand with the operator that reads them first."""
    shown = [at for at, node in enumerate(nodes) if not node.is_variable or _is_input(node, given)]
    lines = {at: number for number, at in enumerate(shown)}
    head = ["#", "node", "operator", "parameters", "inputs"] + (["output", "numbers"] if given else [])
    rows, total = [head], 0
    counted: set[int] = set()
    for at, number in lines.items():
        node, own = nodes[at], 0
        sources = []
        for source, output in node.sources:
            if source in lines:
                sources.append(f"{lines[source]}" + (f"[{output}]" if output else ""))
                continue
            sources.append(_short(nodes[source].name, node.name))
            if source not in counted and not nodes[source].name.endswith("label"):
                own += prod(nodes[source].shape or (0,))
            counted.add(source)
        total += own
        row = [str(number), node.name, "input" if node.is_variable else node.operator, _attributes(node)]
        row.append(" ".join(sources))
        rows.append(row + ([_shape(node.shape), str(own) if own else ""] if given else []))
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    right = {0, len(head) - 1} if given else {0}
    pads = [str.rjust if column in right else str.ljust for column in range(len(head))]
    text = ["  ".join(pad(cell, width) for pad, cell, width in zip(pads, row, widths)).rstrip() for row in rows]
    text.insert(1, "  ".join("-" * width for width in widths))
    operators = sum(not node.is_variable for node in nodes)
    text.append(f"{operators} operators" + (f", {total} numbers in parameters and states" if given else ""))
    return "\n".join(text)


def _picture(
    nodes: list[_Node], heads: set[str], given: dict[str, tuple[int, ...]]
) -> tuple[list[tuple[list[str], str]], list[tuple[int, int]]]:
    """Boxes (lines and colour) of operators and inputs, and the edges between them."""
    places: dict[int, int] = {}
    boxes: list[tuple[list[str], str]] = []
    edges: list[tuple[int, int]] = []
    for at, node in enumerate(nodes):
        if node.is_variable and not _is_input(node, given):
            continue
        places[at] = len(boxes)
        title = node.name if node.is_variable or node.operator == node.name else f"{node.operator}  {node.name}"
        colour = svg.VARIABLE if node.is_variable else svg.HEAD if node.name in heads else svg.OPERATOR
        boxes.append(([title, _shape(node.shape)] if node.shape else [title], colour))
        edges += [(places[source], places[at]) for source, _ in node.sources if source in places]
    return boxes, edges


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def to_dot(boxes: list[tuple[list[str], str]], edges: list[tuple[int, int]]) -> str:
    """The picture in the language of Graphviz."""
    lines = ["digraph {", '    node [shape=box, style="rounded,filled", fontname="sans-serif"];']
    for number, (texts, colour) in enumerate(boxes):
        label = "\\n".join(_escaped(each) for each in texts)
        lines.append(f'    n{number} [label="{label}", fillcolor="{colour}"];')
    return "\n".join([*lines, *(f"    n{a} -> n{b};" for a, b in edges), "}", ""])


def _write(path: Path, boxes: list[tuple[list[str], str]], edges: list[tuple[int, int]]) -> None:
    """Draws into a file of the kind that its suffix says. Raises: _WrongError."""
    kind = path.suffix[1:].lower()
    if kind in ("dot", "gv"):
        text: str | bytes = to_dot(boxes, edges)
    elif kind == "svg" and len(boxes) <= MOST_NODES:
        text = svg.picture(boxes, edges)
    elif kind and shutil.which("dot"):
        done = subprocess.run(
            ["dot", f"-T{kind}"], input=to_dot(boxes, edges).encode(), capture_output=True, check=False
        )
        if done.returncode != 0:
            raise _WrongError(f"{path}: dot: {done.stderr.decode(errors='replace').strip()}")
        text = done.stdout
    else:
        why = f"{len(boxes)} nodes are more than {MOST_NODES}" if kind == "svg" else f"a file .{kind}"
        raise _WrongError(f"{path}: {why}: the program dot (Graphviz) is needed and not found; .dot can be written")
    try:
        _replace.write(path, text)
    except OSError as error:
        raise _WrongError(str(error)) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("mxlite show", description="Prints a saved graph as a table, or draws it.")
    parser.add_argument("symbol", help="model-symbol.json")
    parser.add_argument(
        "--shape", action="append", default=[], metavar="NAME=1,3,224,224", help="an input's shape: all others follow"
    )
    parser.add_argument("--out", metavar="FILE", help="draw it: .svg, .dot, or with Graphviz .pdf, .png")
    return parser


def _show(given: Any) -> None:
    symbol, shapes = read_symbol(given.symbol), shapes_of(given.shape)
    for name in shapes:
        if name not in symbol.list_inputs():
            raise _WrongError(f"there is no input {name}{did_you_mean(name, symbol.list_inputs())}")
    nodes = _nodes(symbol, shapes)
    if given.out is None:
        print(table(nodes, shapes))
        return
    file = json.loads(symbol.tojson())
    heads = {file["nodes"][head[0]]["name"] for head in file["heads"]}
    _write(Path(given.out), *_picture(nodes, heads, shapes))


def main(arguments: list[str] | None = None) -> int:
    """Prints or draws the graph; returns 0, or 1 after a line about a file or an option that is wrong."""
    given = _parser().parse_args(arguments)
    try:
        _show(given)
    except _WrongError as error:
        print(f"mxlite show: {error}", file=sys.stderr)
        return 1
    return 0
