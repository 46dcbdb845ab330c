"""A symbol for people: its nodes with shapes, as a table and as boxes of a picture; for `mxlite show` and notebooks."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from mxlite._notebook import svg
from mxlite._notebook.tables import Table
from mxlite.error import MXAttributeError, MXNetError
from mxlite.ndarray._operators import Operator, kind_and_default

if TYPE_CHECKING:
    from mxlite.symbol.symbol import Symbol

#: Longer texts of parameters are cut in the table.
_WIDTH = 44
#: A notebook shows the picture of a symbol with up to so many boxes, of a larger one the table.
_MOST_BOXES = 80

#: How variables that are parameters or states end: they are no boxes of pictures.
WEIGHTS = (
    *("_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var", "_running_mean"),
    *("_state", "_state_cell", "_parameters"),
)

Shapes = dict[str, tuple[int, ...]]
Boxes = list[tuple[list[str], str]]


@dataclass
class Node:
    """A node of a symbol. `sources` are (position among the nodes, output number)."""

    name: str
    operator: str
    attributes: dict[str, str]
    sources: list[tuple[int, int]]
    shape: tuple[int, ...] | None

    @property
    def is_variable(self) -> bool:
        """Whether it is no operator."""
        return self.operator == "null"


def nodes_of(symbol: Symbol, given: Shapes) -> list[Node]:
    """The nodes in the order in which they run, with the shapes that follow from those given and its own.

    Raises: MXNetError: shapes that do not fit.
    """
    listed = json.loads(symbol.tojson())["nodes"]
    shapes: Shapes = {}
    if given or any("__shape__" in each.get("attrs", {}) for each in listed):
        inside = symbol.get_internals()
        found = inside.infer_shape_partial(**given)
        for names, sizes in zip(
            (inside.list_arguments(), inside.list_outputs(), inside.list_auxiliary_states()), found
        ):
            shapes.update({name: each for name, each in zip(names, sizes or ()) if each and min(each) > 0})
    nodes = []
    for each in listed:
        spellings = (each["name"], f"{each['name']}_output", f"{each['name']}_output0")
        shape = next((shapes[name] for name in spellings if name in shapes), None)
        sources = [(source[0], source[1]) for source in each["inputs"]]
        nodes.append(Node(each["name"], each["op"], each.get("attrs", {}), sources, shape))
    return nodes


def _shape(shape: tuple[int, ...] | None) -> str:
    return "" if shape is None else "(" + ",".join(map(str, shape)) + ")"


def _attributes(node: Node) -> str:
    """The parameters that have other values than their defaults."""
    usual = {}
    if not node.is_variable:
        try:
            usual = {name: kind_and_default(kind)[1] for name, kind, _ in Operator(node.operator).params}
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


def table(nodes: list[Node], inputs: Collection[int], shaped: bool) -> Table:
    """A line for each operator and input; parameters stand with the operator that reads them first.

    Args:
        inputs: Positions of variables that have a line of their own. shaped: whether there are columns of shapes.
    """
    shown = [at for at, node in enumerate(nodes) if not node.is_variable or at in inputs]
    lines = {at: number for number, at in enumerate(shown)}
    head = ["#", "node", "operator", "parameters", "inputs"] + (["output", "numbers"] if shaped else [])
    rows, total = [], 0
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
        rows.append(row + ([_shape(node.shape), str(own) if own else ""] if shaped else []))
    operators = sum(not node.is_variable for node in nodes)
    foot = f"{operators} operators" + (f", {total} numbers in parameters and states" if shaped else "")
    return Table.of(head, rows, right={0, len(head) - 1} if shaped else {0}, foot=foot)


def heads_of(symbol: Symbol) -> set[str]:
    """The names of the nodes whose outputs the symbol has."""
    file = json.loads(symbol.tojson())
    return {file["nodes"][head[0]]["name"] for head in file["heads"]}


def boxes(nodes: list[Node], heads: set[str], inputs: Collection[int]) -> tuple[Boxes, list[tuple[int, int]]]:
    """Boxes (lines and colour) of operators and inputs, and the edges between them."""
    places: dict[int, int] = {}
    found: Boxes = []
    edges: list[tuple[int, int]] = []
    for at, node in enumerate(nodes):
        if node.is_variable and at not in inputs:
            continue
        places[at] = len(found)
        title = node.name if node.is_variable or node.operator == node.name else f"{node.operator}  {node.name}"
        colour = svg.VARIABLE if node.is_variable else svg.HEAD if node.name in heads else svg.OPERATOR
        found.append(([title, _shape(node.shape)] if node.shape else [title], colour))
        edges += [(places[source], places[at]) for source, _ in node.sources if source in places]
    return found, edges


# ---- for a notebook ----


def _described(symbol: Symbol) -> tuple[list[Node], set[int]]:
    """The nodes, and the positions of variables that are no parameters by their names."""
    try:
        nodes = nodes_of(symbol, {})
    except MXNetError:  # its variables have shapes that do not fit: it has nodes all the same
        plain = json.loads(symbol.tojson())["nodes"]
        nodes = [Node(n["name"], n["op"], n.get("attrs", {}), [(i[0], i[1]) for i in n["inputs"]], None) for n in plain]
    readers: dict[int, str] = {}
    for node in nodes:
        for source, _ in node.sources:
            readers.setdefault(source, node.name)
    inputs = set()
    for at, node in enumerate(nodes):
        owned = at in readers and _short(node.name, readers[at]) != node.name
        if node.is_variable and not owned and not node.name.endswith(WEIGHTS):
            inputs.add(at)
    return nodes, inputs or {at for at, node in enumerate(nodes) if node.is_variable}


def as_svg(symbol: Symbol) -> str | None:
    """The network as a picture; None: it is too large for one."""
    nodes, inputs = _described(symbol)
    found, edges = boxes(nodes, heads_of(symbol), inputs)
    return svg.picture(found, edges) if len(found) <= _MOST_BOXES else None


def as_html(symbol: Symbol) -> str | None:
    """The network as a table; None: a picture can show it."""
    nodes, inputs = _described(symbol)
    if sum(not node.is_variable or at in inputs for at, node in enumerate(nodes)) <= _MOST_BOXES:
        return None
    return table(nodes, inputs, any(node.shape for node in nodes))._repr_html_()
