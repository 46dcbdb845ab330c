"""What plot_network returns: a graph of boxes, graphviz's own where that package is, and a picture in a notebook."""

from __future__ import annotations

import importlib
import os
import shutil
from typing import Any

from mxlite import _replace
from mxlite._notebook import svg


class _Pictured:
    """What both kinds of graphs have: a notebook shows them, with the program dot or, without it, drawn by us."""

    source: Any

    def _note(self) -> tuple[dict[str, tuple[list[str], str]], list[tuple[str, str]]]:
        """The boxes by name, and the edges, each in the direction of its arrow; made when first asked for."""
        held = self.__dict__
        return held.setdefault("_boxes", {}), held.setdefault("_arrows", [])

    def node(self, name: str, label: str | None = None, _attributes: Any = None, **attrs: str) -> None:
        """Adds a box, as graphviz.Digraph.node."""
        lines = [name if label is None else label][0].split("\n")
        self._note()[0][name] = (lines, attrs.get("fillcolor", svg.OPERATOR))

    def edge(
        self, tail_name: str, head_name: str, label: str | None = None, _attributes: Any = None, **attrs: str
    ) -> None:
        """Adds an arrow, as graphviz.Digraph.edge."""
        ends = (head_name, tail_name) if attrs.get("dir") == "back" else (tail_name, head_name)
        self._note()[1].append(ends)

    def _own_svg(self) -> str | None:
        """The picture drawn by us; None: there are too many boxes."""
        boxes, arrows = dict(self._note()[0]), self._note()[1]
        for name in (name for arrow in arrows for name in arrow):
            boxes.setdefault(name, ([name], svg.OPERATOR))
        if not boxes or len(boxes) > svg.MOST_NODES:
            return None
        places = {name: place for place, name in enumerate(boxes)}
        return svg.picture(list(boxes.values()), [(places[a], places[b]) for a, b in arrows])

    def _repr_svg_(self) -> str | None:
        return self._own_svg()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> dict[str, str]:
        shown = self._repr_svg_()
        return {} if shown is None else {"image/svg+xml": shown}


class Digraph(_Pictured):
    """A graph in place of graphviz.Digraph: its `source` is text, a notebook shows it, `render` writes SVG."""

    def __init__(self, name: str, format: str) -> None:
        self.name, self.format = name, format
        self._lines: list[str] = []

    @property
    def source(self) -> str:
        """The graph in the language of Graphviz."""
        return "\n".join([f"digraph {_quoted(self.name)} {{", *self._lines, "}", ""])

    def node(self, name: str, label: str | None = None, _attributes: Any = None, **attrs: str) -> None:
        super().node(name, label, _attributes, **attrs)
        self._lines.append(f"\t{_quoted(name)}{_list(label, attrs)}")

    def edge(
        self, tail_name: str, head_name: str, label: str | None = None, _attributes: Any = None, **attrs: str
    ) -> None:
        super().edge(tail_name, head_name, label, _attributes, **attrs)
        self._lines.append(f"\t{_quoted(tail_name)} -> {_quoted(head_name)}{_list(label, attrs)}")

    def save(self, filename: str | None = None, directory: str | None = None) -> str:
        """Writes the text of the graph; the path, by default `name.gv`."""
        path = os.path.join(directory or "", filename or f"{self.name}.gv")
        _replace.write(path, self.source)
        return path

    def render(self, filename: str | None = None, directory: str | None = None, **options: Any) -> str:
        """Writes the text of the graph and, beside it, its picture as SVG; the picture's path.

        Args:
            format: "svg"; None: the one that the graph was made with.
        Raises: RuntimeError: another format; the package graphviz has those.
        """
        kind = options.get("format") or self.format
        drawn = self._own_svg()
        if kind != "svg" or drawn is None:
            what = f"a file .{kind}" if kind != "svg" else f"more than {svg.MOST_NODES} nodes"
            raise RuntimeError(
                f"plot_network: {what} needs graphviz (pip install graphviz, and the program dot); format='svg' does "
                "not, nor does a notebook that shows the graph"
            )
        path = f"{self.save(filename, directory)}.svg"
        _replace.write(path, drawn)
        return path

    def view(self, *_: Any, **__: Any) -> None:
        """Raises: RuntimeError: the package graphviz opens pictures."""
        raise RuntimeError("plot_network: view() needs graphviz (pip install graphviz, and the program dot)")

    def __repr__(self) -> str:
        return f"<Digraph {self.name}: {len(self._note()[0])} nodes>"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _list(label: str | None, attrs: dict[str, str]) -> str:
    given = {**({} if label is None else {"label": label}), **attrs}
    return f" [{' '.join(f'{name}={_quoted(value)}' for name, value in given.items())}]" if given else ""


def digraph(name: str, format: str) -> Any:
    """A new graph: graphviz.Digraph where that package is, with a picture where its program is not; else ours."""
    try:
        graphviz = importlib.import_module("graphviz")
    except ImportError:
        return Digraph(name, format)

    class Graph(_Pictured, graphviz.Digraph):  # type: ignore[name-defined,misc]
        def node(self, name: str, label: str | None = None, _attributes: Any = None, **attrs: str) -> None:
            super().node(name, label, _attributes, **attrs)
            graphviz.Digraph.node(self, name, label, _attributes, **attrs)

        def edge(
            self, tail_name: str, head_name: str, label: Any = None, _attributes: Any = None, **attrs: str
        ) -> None:
            super().edge(tail_name, head_name, label, _attributes, **attrs)
            graphviz.Digraph.edge(self, tail_name, head_name, label, _attributes, **attrs)

        def _repr_svg_(self) -> str | None:
            return self.pipe(format="svg").decode() if shutil.which("dot") else self._own_svg()

    return Graph(name=name, format=format)
