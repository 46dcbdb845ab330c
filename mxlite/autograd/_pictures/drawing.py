"""The recorded graph for people: a table, Graphviz's language, a picture. `mxlite.autograd.graph` exports them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any, overload

from mxlite import _replace
from mxlite._notebook import svg as _svg
from mxlite._notebook.picture import Picture
from mxlite._notebook.tables import Table
from mxlite.autograd._pictures.walk import Record, Value, walk


def summary(y: Any, names: Mapping[str, Any] | None = None) -> Table:
    """The graph that leads to `y`, as a table: a line for each node, in the order in which they were computed.

    The table is a text, which a notebook shows as HTML.

    What nodes keep for backward is counted at each; a value that two keep counts twice. Nodes that were recorded within
    `autograd.detect_anomaly(check=None)` are shown with the line of the user's code.

    Args:
        y: An array or a node, or several.
        names: What variables are called: name to array.
    Raises: ValueError: an array was not recorded and is no variable.
    """
    records, _ = walk(y, names)
    located = any(record.location for record in records)
    head = ["#", "node", "operator", "inputs", "output", "dtype", "saved bytes"] + ["recorded at"] * located
    rows = [_row(number, record)[: len(head)] for number, record in enumerate(records)]
    variables = sum(record.operator is None for record in records)
    saved = sum(record.saved_bytes for record in records)
    foot = f"{len(records)} nodes, {variables} of them variables; {saved} bytes saved for backward"
    return Table.of(head, rows, right={0, head.index("saved bytes")}, foot=foot)


def _row(number: int, record: Record) -> list[str]:
    inputs = " ".join(_source(position, output) for position, output in record.inputs)
    saved = "released" if record.released else str(record.saved_bytes)
    where = "" if record.location is None else "{}:{} in {}".format(*record.location)
    shapes = " ".join(_shape(value) for value in record.outputs)
    dtypes = " ".join(dict.fromkeys(value.dtype for value in record.outputs))
    return [str(number), record.name, record.operator or record.label, inputs, shapes, dtypes, saved, where]


def _source(position: int | None, output: int) -> str:
    return "-" if position is None else f"#{position}" if output == 0 else f"#{position}.{output}"


def _shape(value: Value) -> str:
    return "x".join(map(str, value.shape)) if value.shape else "()"


def _lines(record: Record) -> list[str]:
    """The text in a node of a picture."""
    if record.operator is None:
        return [record.label or "variable", f"{_shape(record.outputs[0])} {record.outputs[0].dtype}"]
    return [record.name, _shape(record.outputs[0])]


def to_dot(y: Any, names: Mapping[str, Any] | None = None) -> str:
    """The graph that leads to `y` in the language of Graphviz; arrows go the way values went.

    Args:
        y: An array or a node, or several.
        names: What variables are called: name to array.
    """
    records, heads = walk(y, names)
    made = {position for position, _ in heads}
    lines = ["digraph {", '    node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];']
    for number, record in enumerate(records):
        color = _svg.HEAD if number in made else _svg.VARIABLE if record.operator is None else ""
        label = "\\n".join(_escaped(line) for line in _lines(record))
        fill = f', fillcolor="{color}"' if color else ""
        lines.append(f'    n{number} [label="{label}"{fill}];')
    for number, record in enumerate(records):
        for position, output in record.inputs:
            if position is not None:
                label = f' [label="{output}"]' if output else ""
                lines.append(f"    n{position} -> n{number}{label};")
    return "\n".join([*lines, "}", ""])


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


@overload
def draw(y: Any, path: None = None, names: Mapping[str, Any] | None = None, engine: str | None = None) -> Picture: ...


@overload
def draw(
    y: Any, path: str | os.PathLike[str], names: Mapping[str, Any] | None = None, engine: str | None = None
) -> None: ...


def draw(
    y: Any,
    path: str | os.PathLike[str] | None = None,
    names: Mapping[str, Any] | None = None,
    engine: str | None = None,
) -> Picture | None:
    """Draws the graph that leads to `y` into a file, of the kind that its suffix says ("net.svg", "net.pdf").

    Of "net.dot" and "net.gv" it writes Graphviz's language, of "net.txt" the table of `summary`; "net" means "net.svg".

    Args:
        y: An array or a node, or several.
        path: The file; None: the picture is returned, which a notebook shows.
        names: What variables are called: name to array.
        engine: "graphviz" (the package of that name and the program dot); "own" (SVG, up to 300 nodes, the same file
            on every machine); None: Graphviz where it is, else our own.
    Raises: RuntimeError: Graphviz is needed and is not there.
    """
    if engine not in (None, "graphviz", "own"):
        raise ValueError(f'draw: engine must be "graphviz", "own" or None, got {engine!r}')
    if path is None:
        records, _ = walk(y, names)
        return Picture(_drawn(y, "svg", names, engine).decode(), f"{len(records)} nodes")
    path = os.fspath(path)
    kind = os.path.splitext(path)[1][1:].lower()
    if not kind:
        kind, path = "svg", f"{path.rstrip('.')}.svg"
    made = _TEXTS[kind](y, names) if kind in _TEXTS else _drawn(y, kind, names, engine)
    _replace.write(path, made)
    return None


def _drawn(y: Any, kind: str, names: Mapping[str, Any] | None, engine: str | None) -> bytes:
    """The content of a file of a kind, such as "svg". Raises: as draw()."""
    graphviz = None if engine == "own" else _graphviz()
    if graphviz is not None:
        return graphviz.Source(to_dot(y, names)).pipe(format=kind)
    reason = "" if engine == "own" else "; the package graphviz and the program dot were not both found"
    if engine == "graphviz" or kind != "svg":
        raise RuntimeError(f"draw: .{kind} needs graphviz (pip install graphviz, and the program dot){reason}")
    records, heads = walk(y, names)
    if len(records) > _svg.MOST_NODES:
        raise RuntimeError(f"draw: {len(records)} nodes; more than {_svg.MOST_NODES} need graphviz{reason}")
    nodes = [(_lines(record), _kind(number, record, heads)) for number, record in enumerate(records)]
    edges = [(each, number) for number, record in enumerate(records) for each, _ in record.inputs if each is not None]
    return _svg.picture(nodes, edges).encode()


#: Kinds of files that are texts, and what makes them.
_TEXTS = {"dot": to_dot, "gv": to_dot, "txt": lambda y, names: summary(y, names) + "\n"}


def _kind(number: int, record: Record, heads: list[tuple[int, int]]) -> str:
    if any(number == position for position, _ in heads):
        return _svg.HEAD
    return _svg.VARIABLE if record.operator is None else _svg.OPERATOR


def _graphviz() -> Any:
    """The package, where it and the program it runs are there."""
    try:
        import graphviz
    except ImportError:
        return None
    return graphviz if shutil.which("dot") else None
