"""``mxlite show``: a saved graph as a table, or drawn into a file."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from mxlite import _replace
from mxlite._cli._models import WrongError, is_onnx, read_model, read_symbol, shapes_of
from mxlite._notebook import svg
from mxlite._notebook.svg import MOST_NODES
from mxlite._public.near import did_you_mean
from mxlite.error import MXNetError
from mxlite.symbol import Symbol
from mxlite.symbol._shown import Boxes, Node, Shapes, boxes, heads_of, nodes_of, table


def _nodes(symbol: Symbol, given: Shapes) -> list[Node]:
    """As nodes_of(). Raises: WrongError: the shapes do not fit."""
    try:
        return nodes_of(symbol, given)
    except MXNetError as error:
        raise WrongError(str(error)) from None


def _inputs(nodes: list[Node], given: Shapes) -> set[int]:
    """The variables that are shown by themselves: those with a shape of the caller's, or the name of data."""
    return {
        at for at, node in enumerate(nodes) if node.is_variable and (node.name in given or node.name.startswith("data"))
    }


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def to_dot(boxes: Boxes, edges: list[tuple[int, int]]) -> str:
    """The picture in the language of Graphviz."""
    lines = ["digraph {", '    node [shape=box, style="rounded,filled", fontname="sans-serif"];']
    for number, (texts, colour) in enumerate(boxes):
        label = "\\n".join(_escaped(each) for each in texts)
        lines.append(f'    n{number} [label="{label}", fillcolor="{colour}"];')
    return "\n".join([*lines, *(f"    n{a} -> n{b};" for a, b in edges), "}", ""])


def _write(path: Path, boxes: Boxes, edges: list[tuple[int, int]]) -> None:
    """Draws into a file of the kind that its suffix says. Raises: WrongError."""
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
            raise WrongError(f"{path}: dot: {done.stderr.decode(errors='replace').strip()}")
        text = done.stdout
    else:
        why = f"{len(boxes)} nodes are more than {MOST_NODES}" if kind == "svg" else f"a file .{kind}"
        raise WrongError(f"{path}: {why}: the program dot (Graphviz) is needed and not found; .dot can be written")
    try:
        _replace.write(path, text)
    except OSError as error:
        raise WrongError(str(error)) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("mxlite show", description="Prints a saved graph as a table, or draws it.")
    parser.add_argument("symbol", help="model-symbol.json, or model.onnx")
    parser.add_argument(
        "--shape", action="append", default=[], metavar="NAME=1,3,224,224", help="an input's shape: all others follow"
    )
    parser.add_argument("--out", metavar="FILE", help="draw it: .svg, .dot, or with Graphviz .pdf, .png")
    return parser


def _show(given: Any) -> None:
    shapes = shapes_of(given.shape)
    if is_onnx(given.symbol):
        symbol, _, _, shapes = read_model(given.symbol, shapes)
        shapes = {name: shape for name, shape in shapes.items() if name in symbol.list_inputs()}
    else:
        symbol = read_symbol(given.symbol)
    for name in shapes:
        if name not in symbol.list_inputs():
            raise WrongError(f"there is no input {name}{did_you_mean(name, symbol.list_inputs())}")
    nodes = _nodes(symbol, shapes)
    inputs = _inputs(nodes, shapes)
    if given.out is None:
        print(table(nodes, inputs, bool(shapes)))
        return
    _write(Path(given.out), *boxes(nodes, heads_of(symbol), inputs))


def main(arguments: list[str] | None = None) -> int:
    """Prints or draws the graph; returns 0, or 1 after a line about a file or an option that is wrong."""
    given = _parser().parse_args(arguments)
    try:
        _show(given)
    except WrongError as error:
        print(f"mxlite show: {error}", file=sys.stderr)
        return 1
    return 0
