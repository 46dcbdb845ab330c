"""The names of a package that a source uses, found without running it: imports, and chains of attributes."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import NamedTuple

#: What a parameter of that name is in MXNet's code: mx.nd or mx.sym, as `hybrid_forward(self, F, x)` gets it.
_GIVEN = {"F": "nd"}


class Source(NamedTuple):
    """Text of Python, and where each of its lines is: "3", or "cell 2 line 3"."""

    text: str
    places: list[str]


class Uses(NamedTuple):
    """What was found: places by name ("gluon.nn.Dense"; "" is the package itself), and imports of everything."""

    names: dict[str, list[str]]
    stars: list[str]


def read(path: Path) -> list[Source]:
    """The sources of a file: one of a script, one for each cell of code of a notebook.

    Raises: OSError; ValueError: the file is no text, or no notebook.
    """
    text = path.read_bytes().decode("utf-8-sig")
    if path.suffix != ".ipynb":
        return [Source(text, [str(line) for line in range(1, text.count("\n") + 2)])]
    try:
        held = json.loads(text)
        cells = held["cells"] if "cells" in held else [cell for sheet in held["worksheets"] for cell in sheet["cells"]]
        found = []
        for number, cell in enumerate(cells, 1):
            if cell["cell_type"] == "code":
                lines = cell["source"] if "source" in cell else cell["input"]
                lines = "".join(lines).split("\n")
                found.append(Source(_python(lines), [f"cell {number} line {at}" for at in range(1, len(lines) + 1)]))
        return found
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it is no notebook: {type(error).__name__} {error}") from None


def _python(lines: list[str]) -> str:
    """A cell without IPython's magics, line by line; a cell of another language has none."""
    if lines[0].startswith("%%") and not re.match(r"%%(time|timeit|capture|prun)\b", lines[0]):
        return ""
    # A magic may be all that a block has: `pass` takes its place.
    return "\n".join(re.sub(r"^(\s*)(%|!|\?).*$|^(\s*)\S+\?\??\s*$", r"\1\3pass", line) for line in lines)


def uses(sources: list[Source], package: str) -> Uses:
    """The names of a package that sources use, one after another, as one program.

    Raises: SyntaxError: a source is no Python 3; its text has the place.
    """
    found = Uses({}, [])
    trees = []
    for source in sources:
        try:
            trees.append(ast.parse(source.text))
        except SyntaxError as error:
            line = min(max(error.lineno or 1, 1), len(source.places))
            raise SyntaxError(f"line {source.places[line - 1]}: {error.msg}") from None
    scope: dict[str, str] = {}
    for source, tree in zip(sources, trees):
        visitor = _Visitor(package, source, found, scope)
        for node in ast.walk(tree):  # first, as functions use what is imported below them
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                visitor.bind(node)
        visitor.visit(tree)
    return found


class _Visitor(ast.NodeVisitor):
    def __init__(self, package: str, source: Source, found: Uses, scope: dict[str, str]) -> None:
        self._package, self._source, self._found = package, source, found
        self._scope = scope  # what a name of the program stands for in the package

    def _note(self, name: str, node: ast.AST) -> None:
        place = self._source.places[getattr(node, "lineno", 1) - 1]
        places = self._found.names.setdefault(name, [])
        if place not in places:
            places.append(place)

    def _within(self, module: str) -> str | None:
        """A module's path in the package, "" for the package itself; None: it is another's."""
        root, _, rest = module.partition(".")
        return rest if root == self._package else None

    # ---- imports ----

    def bind(self, node: ast.Import | ast.ImportFrom) -> None:
        """Takes over what an import makes known, and notes its names."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                path = self._within(alias.name)
                if path is not None:
                    self._note(path, node)
                    self._scope[alias.asname or self._package] = path if alias.asname else ""
            return
        path = self._within(node.module or "") if node.level == 0 else None
        if path is None:
            return
        for alias in node.names:
            if alias.name == "*":
                self._found.stars.append(self._source.places[node.lineno - 1])
                self._note(path, node)
                continue
            name = f"{path}.{alias.name}".lstrip(".")
            self._note(name, node)
            self._scope[alias.asname or alias.name] = name

    def visit_Import(self, node: ast.Import) -> None:  # noqa: N802
        """Bound before."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:  # noqa: N802
        """Bound before."""

    # ---- chains ----

    def _chain(self, node: ast.expr) -> str | None:
        """What a name or a chain of attributes stands for; None: nothing of the package."""
        if isinstance(node, ast.Name):
            return self._scope.get(node.id)
        if isinstance(node, ast.Attribute):
            before = self._chain(node.value)
            return None if before is None else f"{before}.{node.attr}".lstrip(".")
        return None

    def visit_Attribute(self, node: ast.Attribute) -> None:  # noqa: N802
        name = self._chain(node)
        if name is None:
            self.generic_visit(node)
        else:
            self._note(name, node)

    def visit_Assign(self, node: ast.Assign) -> None:  # noqa: N802
        self.generic_visit(node)
        name = self._chain(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                if name is not None:
                    self._scope[target.id] = name
                else:
                    self._scope.pop(target.id, None)

    # ---- scopes ----

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        before = dict(self._scope)
        arguments = node.args
        for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
            if each is not None:
                self._scope.pop(each.arg, None)
                if each.arg in _GIVEN and self._package == "mxnet":
                    self._scope[each.arg] = _GIVEN[each.arg]
        self.generic_visit(node)
        self._scope.clear()
        self._scope.update(before)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function  # noqa: N815
