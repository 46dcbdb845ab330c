#!/usr/bin/env python3
"""Checks that the Python packages under ``mxlite/`` have no cycle of imports.

An import within a function counts as one at the top: it would only hide the cycle until the function is called. What
`if TYPE_CHECKING` guards does not count, nor does a package's ``__init__`` that Python runs before its modules, unless
a name of it is imported. Run by ``make lint``; prints each cycle and exits with 1 if there is any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

#: What a module imports: the other module, and the line that says so.
Imports = dict[str, int]


def modules_of(root: Path, package: str) -> dict[str, Path]:
    """The modules of a package below `root`, by their full names."""
    found = {}
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _statements(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """All import statements, at any depth, but those for type checkers alone."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield from _statements(ast.Module([other], []))
        else:
            yield from _statements(child)


def _base(module: str, path: Path, statement: ast.ImportFrom) -> str:
    """The full name of the module that `from ... import` names, which may begin with dots."""
    if not statement.level:
        return statement.module or ""
    parts = module.split(".")
    parts = parts[: len(parts) - statement.level + (path.name == "__init__.py")]
    return ".".join([*parts, *filter(None, [statement.module])])


def imports_of(module: str, path: Path, known: dict[str, Path]) -> Imports:
    """The modules among `known` that a module imports, itself left out."""
    found: Imports = {}
    for statement in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        else:
            base = _base(module, path, statement)
            names = [f"{base}.{alias.name}" for alias in statement.names]
            names = [name if name in known else base for name in names]
        for name in names:
            if name in known and name != module:
                found.setdefault(name, statement.lineno)
    return found


def cycles(graph: dict[str, Imports]) -> list[list[str]]:
    """For each group of modules that import each other, the shortest cycle through its first one."""
    found: list[list[str]] = []
    for start in sorted(graph):
        came_from: dict[str, str] = {}
        queue = [start]
        for module in queue:
            for name in sorted(graph[module]):
                if name not in came_from:
                    came_from[name] = module
                    queue.append(name)
        if start not in came_from or any(start in cycle for cycle in found):
            continue
        cycle = [came_from[start]]
        while cycle[-1] != start:
            cycle.append(came_from[cycle[-1]])
        found.append(cycle[::-1])
    return found


def main(root: Path) -> int:
    """Prints each cycle with the lines that close it; how many there are."""
    known = modules_of(root, "mxlite")
    graph = {module: imports_of(module, path, known) for module, path in known.items()}
    found = cycles(graph)
    for cycle in found:
        for module, name in zip(cycle, [*cycle[1:], cycle[0]]):
            print(f"{known[module].relative_to(root)}:{graph[module][name]}: imports {name}")
        print("  which is a cycle: " + " -> ".join([*cycle, cycle[0]]))
    print(f"check_imports: {len(known)} modules, {len(found)} cycles")
    return len(found)


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent))))
