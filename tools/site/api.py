"""Pages of the public modules of Python, by introspection: most operators are functions that the package makes.

griffe, the reader of docstrings below mkdocstrings, takes docstrings apart. Functions and methods of operators are
named, with a link to the operator's page, which says more.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
from functools import cache
from typing import Any

from describe import aliases, first_names
from griffe import Docstring, DocstringSection

from mxlite.ndarray._generate import place_of

#: Name on the page -> module of the package.
MODULES = {
    "mx.nd": "mxlite.ndarray",
    "mx.autograd": "mxlite.autograd",
    "mx.autograd.graph": "mxlite.autograd.graph",
    "mx.gluon": "mxlite.gluon",
    "mx.gluon.nn": "mxlite.gluon.nn",
    "mx.gluon.rnn": "mxlite.gluon.rnn",
    "mx.gluon.loss": "mxlite.gluon.loss",
    "mx.gluon.data": "mxlite.gluon.data",
    "mx.gluon.data.vision": "mxlite.gluon.data.vision",
    "mx.gluon.model_zoo.vision": "mxlite.gluon.model_zoo.vision",
    "mx.optimizer": "mxlite.optimizer",
    "mx.lr_scheduler": "mxlite.lr_scheduler",
    "mx.init": "mxlite.initializer",
    "mx.metric": "mxlite.metric",
    "mx.sym": "mxlite.symbol",
    "mx.executor": "mxlite.executor",
    "mx.mod": "mxlite.module",
    "mx.rnn": "mxlite.rnn",
    "mx.model": "mxlite.model",
    "mx.callback": "mxlite.callback",
    "mx.io": "mxlite.io",
    "mx.recordio": "mxlite.recordio",
    "mx.image": "mxlite.image",
    "mx.kv": "mxlite.kvstore",
    "mx.random": "mxlite.random",
    "mx.context": "mxlite.context",
    "mx.contrib.amp": "mxlite.contrib.amp",
    "mx.operator": "mxlite.operator",
    "mx.profiler": "mxlite.profiler",
    "mx.viz": "mxlite.visualization",
    "mx.util": "mxlite.util",
    "torch": "mxlite.torch",
    "torch.nn": "mxlite.torch.nn",
    "torch.nn.functional": "mxlite.torch.nn.functional",
    "torch.optim": "mxlite.torch.optim",
}


def _pages_of_operators() -> dict[str, str]:
    """Name of a function of `mx.nd` or `mx.sym`, or of a method -> the operator whose page says more."""
    found = {}
    for first in first_names():
        for name in [first, *aliases(first)]:
            place = place_of(name)
            if place is not None and place[0] == "op":
                found[place[1]] = first
    return found


OPERATORS = _pages_of_operators()
BY_OPERATORS = {"mx.nd", "mx.sym"}


def _signature(thing: Any) -> str:
    """The arguments as Python writes them, annotations without the quotes of postponed ones."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    given = [each for each in signature.parameters.values() if each.name not in ("self", "cls")]
    text = str(signature.replace(parameters=given))
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    return re.sub(r"<(?:class '|function )?([\w.]+)[^<>]*>", r"\1", text)


def _wrapped(name: str, arguments: str) -> list[str]:
    """A signature as a block of code; an argument a line where it is long."""
    text = name + arguments
    if len(text) > 88 and arguments.startswith("("):
        parts, depth, start, end = [], 0, 1, arguments.rfind(")")
        for position, letter in enumerate(arguments[:end]):
            depth += (letter in "([{") - (letter in ")]}")
            if letter == "," and depth == 1:
                parts.append(arguments[start : position + 1].strip())
                start = position + 1
        parts.append(arguments[start:end].strip())
        text = "\n".join([f"{name}(", *(f"    {each}" for each in parts), arguments[end:]])
    return ["```python", text, "```", ""]


def _section(section: DocstringSection) -> list[str]:
    """A section of a docstring as Markdown."""
    kind = section.kind.value
    if kind == "text":
        return [section.value, ""]
    if kind == "examples":
        return [f"```pycon\n{text}\n```\n" if each.value == "examples" else text for each, text in section.value]
    if kind == "admonition":
        return [f"**{section.title}** {section.value.description}", ""]
    lines = [f"**{(section.title or kind).capitalize()}**", ""]
    for each in section.value:
        name = getattr(each, "name", "") or str(each.annotation or "")
        text = " ".join(str(each.description).split())
        lines.append(f"- `{name}`: {text}" if name else f"- {text}")
    return [*lines, ""]


def _documentation(thing: Any) -> list[str]:
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    sections = Docstring(text).parse("google", warnings=False, returns_named_value=False, returns_multiple_items=False)
    return [line for section in sections for line in _section(section)]


def _operators(names: list[str], what: str) -> list[str]:
    if not names:
        return []
    links = ", ".join(f"[`{name}`](../operators/{OPERATORS[name]}.md)" for name in names)
    return [f"{what}: {links}.", ""]


def _member(value: Any) -> Any:
    return value.__func__ if isinstance(value, (classmethod, staticmethod)) else value


def _class(name: str, cls: type) -> list[str]:
    lines = [f"## {name}", "", *_wrapped(f"class {name}", _signature(cls)), *_documentation(cls)]
    bases = [base.__name__ for base in cls.__mro__[1:-1] if not base.__name__.startswith("_")]
    if bases:
        lines += [f"Derived from `{bases[0]}`.", ""]
    operators = []
    for key in sorted(vars(cls)):
        value = _member(vars(cls)[key])
        if key.startswith("_") or not (callable(value) or isinstance(value, property)) or isinstance(value, type):
            continue
        if key in OPERATORS and "Parameters\n----" in (value.__doc__ or ""):
            operators.append(key)
        elif value.__doc__:
            lines += [f"### {name}.{key}", ""]
            if not isinstance(value, property):
                lines += _wrapped(key, _signature(value))
            lines += _documentation(value)
    return [*lines, *_operators(operators, "Methods that call an operator")]


def _callables(shown: str) -> dict[str, Any]:
    """The public functions and classes of a module that are the package's own."""
    module = importlib.import_module(MODULES[shown])
    found = {}
    for name in dir(module):
        value = getattr(module, name, None)
        home = getattr(value, "__module__", None) or ""
        if callable(value) and not name.startswith("_") and home.split(".")[0] == "mxlite":
            found[name] = value
    return found


@cache
def _homes() -> dict[int, str]:
    """Identity of a function or class -> the module, of those that have it, that is nearest to where it is defined."""
    best: dict[int, tuple[int, int, str]] = {}
    for shown, module in MODULES.items():
        for value in _callables(shown).values():
            defined, path = value.__module__.split("."), module.split(".")
            shared = len(os.path.commonprefix([defined, path]))
            best[id(value)] = min(best.get(id(value), (1, 0, "")), (-shared, len(path), shown))
    return {key: row[2] for key, row in best.items()}


def _public(shown: str) -> list[tuple[str, Any]]:
    """The names of a module that no other page has, classes first."""
    own = [(name, value) for name, value in _callables(shown).items() if _homes()[id(value)] == shown]
    return sorted(own, key=lambda row: (not isinstance(row[1], type), row[0]))


def page(shown: str) -> str:
    """The page of a module."""
    module = importlib.import_module(MODULES[shown])
    lines = [f"# {shown}", "", *_documentation(module)]
    operators, seen = [], {}
    for name, value in _public(shown):
        if shown in BY_OPERATORS and name in OPERATORS and not isinstance(value, type):
            operators.append(name)
        elif id(value) in seen:
            lines += [f"## {name}", "", f"Another name of `{seen[id(value)]}`.", ""]
        elif isinstance(value, type):
            lines += _class(name, value)
        else:
            lines += [f"## {name}", "", *_wrapped(name, _signature(value)), *_documentation(value)]
        seen.setdefault(id(value), name)
    return "\n".join([*lines, *_operators(operators, "Functions of operators")])


def index() -> str:
    """The index: a line per module."""
    lines = ["# Modules of Python", "", "`import mxlite as mx`, and `import mxlite.torch as torch`.", ""]
    lines += ["| module | what |", "| --- | --- |"]
    for shown, module in MODULES.items():
        said = inspect.cleandoc(importlib.import_module(module).__doc__ or "").split("\n\n")[0]
        lines.append(f"| [`{shown}`]({shown}.md) | {' '.join(said.split()).replace('|', chr(92) + '|')} |")
    return "\n".join([*lines, ""])


def pages() -> dict[str, str]:
    """File -> text: a page for every module, and the index."""
    return {"README.md": index(), **{f"{shown}.md": page(shown) for shown in MODULES}}
