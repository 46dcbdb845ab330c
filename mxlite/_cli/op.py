"""``mxlite op``: an operator's page: its call, inputs, parameters, other names, and how it differs from MXNet 1.9.1."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap

from mxlite._cli._names.known import differences
from mxlite._public.near import alternatives, near
from mxlite.error import MXAttributeError
from mxlite.ndarray._generate import place_of
from mxlite.ndarray._operators import Operator, kind_and_default, operator_names


def _python_names(names: list[str]) -> list[str]:
    """How Python calls an operator: `mx.nd.exp`, `mx.nd.linalg.gemm`; public names only."""
    found = []
    for name in names:
        place = place_of(name)
        if place is not None and place[0] != "_internal":
            found.append("mx.nd." + ".".join(part for part in place if part != "op"))
    return sorted(set(found))


def _operator(name: str) -> Operator | None:
    """The operator of that name, by its own or a Python name; None: there is none."""
    path = name[len("mx.") :] if name.startswith("mx.") else name
    path = path[len("nd.") :] if path.startswith("nd.") else path
    module, _, function = path.rpartition(".")
    for each in (name, f"_{module}_{function}" if module else "", f"_contrib_{path}", f"_linalg_{path}", path):
        try:
            if each:
                return Operator(each)
        except MXAttributeError:
            continue
    return None


def _call(operator: Operator, path: str) -> str:
    inputs = [f"*{operator.inputs[0][0]}"] if operator.variadic else [each[0] for each in operator.inputs]
    words = [*inputs]
    for name, type_text, _ in operator.params:
        kind, default = kind_and_default(type_text)
        quoted = repr(default) if kind.startswith(("{", "string")) else default
        words.append(f"{name}={quoted}" if default else name)
    return f"{path}({', '.join([*words, 'out=None'])})"


def _table(rows: list[tuple[str, str]], width: int) -> list[str]:
    """Names and texts as two columns."""
    left = min(24, max(len(name) for name, _ in rows) + 2)
    lines = []
    for name, text in rows:
        first = f"  {name:{left}}" if len(name) < left else f"  {name}  "
        wrap = textwrap.fill(text, width, initial_indent=first, subsequent_indent=" " * (left + 2))
        lines.append(wrap)
    return lines


def page(operator: Operator, width: int) -> str:
    """The page of an operator, for a terminal of that width."""
    names = [name for name in operator_names() if Operator(name).first_name == operator.first_name]
    python = _python_names(names)
    path = next((each for each in python if each.rpartition(".")[2] == operator.name), (python or [operator.name])[0])
    lines = [textwrap.fill(_call(operator, path), width, subsequent_indent="    ", break_on_hyphens=False), ""]
    lines += [textwrap.fill(operator.doc, width), ""]
    if operator.shapes:
        lines += ["Shapes", textwrap.fill(operator.shapes, width, initial_indent="  ", subsequent_indent="    "), ""]
    if operator.inputs:
        lines += ["Inputs", *_table([(name, text) for name, _, text in operator.inputs], width), ""]
    if operator.params:
        rows = []
        for name, type_text, text in operator.params:
            kind, default = kind_and_default(type_text)
            rows.append((name, f"{kind}{f', default {default}' if default else ', required'}. {text}"))
        lines += ["Parameters", *_table(rows, width), ""]
    others = [each for each in python if each != path] + [each for each in names if each != operator.name]
    if others:
        lines += [
            "Other names",
            textwrap.fill(", ".join(others), width, initial_indent="  ", subsequent_indent="  "),
            "",
        ]
    known = differences()
    told = sorted({text for each in python for text in known.get(each[len("mx.") :], [])})
    if told:
        lines.append("Differs from MXNet 1.9.1")
        lines += [textwrap.fill(each, width, initial_indent="  - ", subsequent_indent="    ") for each in told]
    return "\n".join(lines).rstrip()


def _all_names() -> list[str]:
    return sorted({each for name in operator_names() for each in _python_names([name])})


def main(arguments: list[str] | None = None) -> int:
    """Prints the page, or without a name the functions there are; returns 0, or 1: there is no such operator."""
    parser = argparse.ArgumentParser("mxlite op", description="Prints the page of an operator.")
    parser.add_argument("name", nargs="?", help="topk, mx.nd.contrib.box_nms, _plus_scalar; without: all functions")
    given = parser.parse_args(arguments)
    if given.name is None:
        print("\n".join(_all_names()))
        return 0
    operator = _operator(given.name)
    if operator is None:
        known = {each.rpartition(".")[2]: each for each in _all_names()}
        meant = [known[each] for each in near(given.name.rpartition(".")[2], known)]
        hint = f"; did you mean {alternatives(meant, str)}?" if meant else "; `mxlite op` lists all"
        print(f"mxlite op: there is no operator {given.name!r}{hint}", file=sys.stderr)
        return 1
    print(page(operator, max(60, min(120, shutil.get_terminal_size((100, 24)).columns))))
    return 0
