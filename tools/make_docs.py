#!/usr/bin/env python3
"""Writes a page of documentation for every operator, and an index by family.

Usage: make_docs.py FOLDER (called by ``make docs``). What a page says comes from the library: introspection, what it
answers to calls with each dtype, and an example of the case table whose text on the page is what is run. Element-wise
functions of one input are drawn with their derivatives.
"""

from __future__ import annotations

import contextlib
import io
import pprint
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("tools", "tests/python", "tests/python/table")]
import curves  # noqa: E402
from _table import invoke, scope, to_nd  # noqa: E402
from cases import ABOUT, FAMILIES, OTHER_NAMES, Case, of  # noqa: E402
from describe import Description, Parameter, aliases, describe, first_names  # noqa: E402
from test_cases_coverage import (  # noqa: E402
    DEFINED,
    NO_RESULT,
    NOT_DIFFERENTIABLE,
    NUMPY_CONSTANTS,
    SPARSE,
    WRITES,
    ZERO,
)

import mxlite as mx  # noqa: E402
from mxlite.ndarray._generate import place_of  # noqa: E402

DTYPES = ("float16", "float32", "float64", "uint8", "int8", "int32", "int64", "bool")

#: How many elements an example's inputs should have at most, and must have; and the width of its lines.
SMALL, LARGE = 24, 400
WIDTH = 96


# ---- where the function is ----


def python_name(name: str) -> str | None:
    """How Python calls an operator: `mx.nd.exp`, `mx.nd.linalg.gemm`; public names first. None: it does not."""
    found = []
    for each in [name, *aliases(name)]:
        place = place_of(each)
        if place is not None:
            module, attribute = place
            path = f"mx.nd.{attribute}" if module == "op" else f"mx.nd.{module}.{attribute}"
            found.append((module == "_internal", each != name, path))
    return min(found)[2] if found else None


def signature(it: Description, path: str) -> str:
    """The call as the page shows it: inputs, then parameters with their defaults."""
    words = [f"*{it.operator.inputs[0][0]}"] if it.operator.variadic else []
    if not it.operator.variadic:
        for position, (name, _, _) in enumerate(it.operator.inputs):
            words.append(name if position < it.needed else f"{name}=None")
    words += [each.name if each.required else f"{each.name}={_python(each)}" for each in it.parameters]
    return f"{path}({', '.join([*words, 'out=None'])})"


def _python(parameter: Parameter) -> str:
    """A default as Python writes it."""
    text = parameter.default or ""
    if text == "None":
        return "None"
    if parameter.values or parameter.kind.startswith("string"):
        return repr(text)
    if parameter.kind.startswith("boolean"):
        return {"0": "False", "1": "True"}.get(text, text)
    if parameter.kind.startswith("Shape"):
        return text.replace("[", "(").replace("]", ")")
    return text


# ---- derivatives and dtypes ----


CONSTANTS = NOT_DIFFERENTIABLE | NO_RESULT | NUMPY_CONSTANTS


def derivative(name: str) -> str:
    """Whether the operator has a derivative, and of which order."""
    if name in CONSTANTS:
        return "None: what it makes is a constant to autograd."
    if name in ZERO:
        return "Zero everywhere, as in MXNet 1.9.1."
    if name in DEFINED:
        return "Defined rather than derived, as in MXNet 1.9.1."
    if name in WRITES or max(case.order for case in of(name)) >= 2:
        return "Of every order."
    raise RuntimeError(f"make_docs: {name}: neither its cases nor a list say whether it has a derivative")


def _with_dtype(case: Case, dtype: str) -> list[np.ndarray]:
    """The inputs of a case with the floating ones (or, where there are none, all) in another dtype."""
    arrays = case.arrays()
    floating = [array.dtype.kind == "f" for array in arrays]
    with np.errstate(invalid="ignore"):
        return [array.astype(dtype) if flag or not any(floating) else array for array, flag in zip(arrays, floating)]


def _try(case: Case, arrays: list[np.ndarray]) -> list[str] | None:
    """The dtypes of the outputs; None where the call is refused."""
    out = None
    if case.out is not None:
        out = [to_nd(np.zeros(shape, arrays[0].dtype if arrays else dtype)) for shape, dtype in case.out]
    try:
        with scope(case), mx.np_shape(case.np_shape):
            outputs = invoke(case, [to_nd(array) for array in arrays], out=out)
            return [np.dtype(output.dtype).name for output in outputs]
    except (mx.MXNetError, TypeError, ValueError):
        return None


def dtypes(name: str) -> dict[str, list[str]]:
    """dtype of the inputs -> dtypes of the outputs, for those that any call of the case table accepts."""
    cases = sorted((case for case in of(name) if not case.error), key=lambda case: len(case.params))[:12]
    found: dict[str, list[str]] = {}
    for dtype in DTYPES:
        for case in cases:
            made = _try(case, _with_dtype(case, dtype))
            if made is None and case.inputs and case.arrays()[0].dtype == dtype:
                made = _try(case, case.arrays())  # its other inputs have dtypes of their own
            if made is not None:
                found[dtype] = made
                break
    return found


def pictures(name: str) -> dict[str, str]:
    """File name -> SVG of f and f', where the operator is element-wise with one input and has a derivative."""
    random = any(case.random for case in of(name))
    found = [] if name in CONSTANTS or random else curves.curves(name)
    return {f"{name}{position or ''}.svg": curves.picture(*each) for position, each in enumerate(found)}


# ---- the example ----


def _literal(array: np.ndarray, indent: int) -> str:
    """An array as the text of a call that makes it, its continuation lines indented."""
    values = array.tolist()
    if array.dtype.kind == "f":  # as few digits as tell it from its neighbours
        values = np.array([float(str(each)) for each in array.reshape(-1)]).reshape(array.shape).tolist()
    text = pprint.pformat(values, width=WIDTH - indent, compact=True)
    text = text.replace("\n", "\n" + " " * (indent + len("nd.array(")))
    suffix = "" if array.dtype == np.float32 else f', dtype="{array.dtype.name}"'
    return f"nd.array({text}{suffix})"


def _program(case: Case, arrays: list[np.ndarray], path: str) -> str:
    """The program of an example."""
    it = describe(case.op)
    rows = [row[0] for row in it.operator.inputs]
    names = [f"x{i}" for i in range(len(arrays))] if it.operator.variadic else rows[: len(arrays)]
    lines = [f"{name} = {_literal(array, len(name) + 3)}" for name, array in zip(names, arrays)]
    params = dict(case.params)
    if case.random:
        lines.insert(0, "mx.random.seed(1)")
        if not arrays and "shape" in params:
            params["shape"] = (2, 3)
    words = [*names, *(f"{key}={value!r}" for key, value in params.items())]
    if case.out is not None:
        lines += [f'y = nd.zeros({shape}, dtype="{dtype}")' for shape, dtype in case.out]
        words.append("out=y")
    call = f"{path.replace('mx.nd.', 'nd.', 1)}({', '.join(words)})"
    call = call if case.out is not None else f"y = {call}"
    lines += ["with autograd.train_mode():", f"    {call}"] if case.train else [call]
    count = len(_run_case(case, arrays)) if case.out is None else 1
    if count == 0:
        lines[-1] = lines[-1].replace("y = ", "", 1)
    elif count > 1:
        lines += ["for each in y:", "    print(each.asnumpy())"]
    else:
        lines.append("print(y.asnumpy())")
    lines += [f"print({names[position]}.asnumpy())" for position in case.mutates]
    return "\n".join(lines)


def _run_case(case: Case, arrays: list[np.ndarray]) -> list:
    with scope(case):
        return invoke(case, [to_nd(array) for array in arrays])


def _printed(program: str) -> str:
    """What a program of an example prints."""
    printed = io.StringIO()
    names: dict[str, Any] = {"mx": mx, "nd": mx.nd, "autograd": mx.autograd}
    with contextlib.redirect_stdout(printed), np.printoptions(precision=4, suppress=True, linewidth=WIDTH):
        exec(compile(program, "<example>", "exec"), names)
    return printed.getvalue()


def _rounded(arrays: list[np.ndarray]) -> list[np.ndarray]:
    return [np.round(array.astype("float64"), 2).astype(array.dtype) for array in arrays]


def _candidates(name: str) -> list[Case]:
    """Calls that make a good example, the best first: small, float32, with parameters where there are some."""
    cases = []
    known = {each.name for each in describe(name).parameters}
    for case in of(name):
        arrays = case.arrays()
        size = sum(array.size for array in arrays)
        if case.error or case.np_shape or size > LARGE or not all(array.size for array in arrays):
            continue
        if case.out is not None and len(case.out) != 1:
            continue
        if any(not np.all(np.isfinite(array)) for array in arrays if array.dtype.kind == "f"):
            continue
        plain = all(array.dtype in (np.float32, np.int32) for array in arrays)
        unknown = not known.issuperset(case.params)
        cases.append(
            (unknown, size > SMALL, case.out is not None, not plain, not case.params, size < 2, len(cases), case)
        )
    return [row[-1] for row in sorted(cases, key=lambda row: row[:-1])]


def example(name: str, path: str) -> tuple[str, str] | None:
    """A program and what it prints; None where no call of the case table is small enough."""
    for case in _candidates(name):
        for arrays in (_rounded(case.arrays()), case.arrays()):
            try:
                program = _program(case, arrays, path)
                return program, _printed(program)
            except (mx.MXNetError, TypeError, ValueError):
                continue
    return None


# ---- pages ----


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _kind(parameter: Parameter) -> str:
    if parameter.values:
        return ", ".join(f"`{value}`" for value in parameter.values)
    return parameter.kind or "tuple of numbers"


def _inputs(it: Description) -> list[str]:
    lines = ["## Inputs", ""]
    if not it.operator.inputs:
        return [*lines, "None: it makes an array from nothing.", ""]
    lines += ["| input | what |", "| --- | --- |"]
    for position, (name, _, doc) in enumerate(it.operator.inputs):
        more = "any number of them" if it.operator.variadic else "" if position < it.needed else "may be left out"
        lines.append(f"| `{name}`{f' ({more})' if more else ''} | {_cell(doc)} |")
    return [*lines, ""]


def _parameters(it: Description) -> list[str]:
    lines = ["## Parameters", ""]
    if not it.parameters:
        return [*lines, "None.", ""]
    lines += ["| parameter | type | default | what |", "| --- | --- | --- | --- |"]
    for each in it.parameters:
        default = "required" if each.required else f"`{_python(each)}`"
        lines.append(f"| `{each.name}` | {_kind(each)} | {default} | {_cell(each.doc)} |")
    return [*lines, ""]


def _result(it: Description, name: str) -> list[str]:
    if it.choice is not None:
        count = f"As many arrays as `{it.choice.name}` says."
    elif not of(name)[0].error and _try(of(name)[0], of(name)[0].arrays()) == []:
        return ["## Result", "", "None: it changes its inputs.", ""]
    elif it.outputs == 0:
        count = "One array or several, as the parameters say."
    else:
        count = "One array." if it.outputs == 1 else f"{it.outputs} arrays."
    lines = ["## Result", "", count, "", "| dtype given | dtype of the result |", "| --- | --- |"]
    found = dtypes(name)
    if not found:
        raise RuntimeError(f"make_docs: {name}: no call of the case table works")
    if not it.operator.inputs:
        made = sorted({dtype for each in found.values() for dtype in each})
        choices = next((each.values for each in it.parameters if each.name == "dtype"), ())
        given = ", ".join(value for value in choices if value not in ("None", "bfloat16"))
        return [*lines[:3], "", f"Of the dtype asked for ({given or ', '.join(made)}).", ""]
    for dtype, made in found.items():
        lines.append(f"| {dtype} | {', '.join(made) if len(set(made)) > 1 else made[0]} |")
    refused = [dtype for dtype in DTYPES if dtype not in found]
    if refused:
        lines += ["", f"Refused: {', '.join(refused)}."]
    return [*lines, ""]


def page(name: str) -> str:
    """The page of one operator."""
    it = describe(name)
    path = python_name(name)
    lines = [f"# {name}", "", it.operator.doc, "", "```python"]
    lines += [signature(it, path) if path else f"# no function of mx.nd: MXImperativeInvokeEx by the name {name}"]
    lines += ["```", ""]
    others = aliases(name)
    if others:
        lines += [f"Other names: {', '.join(f'`{other}`' for other in others)}.", ""]
    if it.operator.shapes:
        lines += ["## Shapes", "", "```text", it.operator.shapes, "```", ""]
    lines += [*_inputs(it), *_parameters(it)]
    if name in SPARSE:
        return "\n".join([*lines, "## Result", "", "Of sparse arrays, which the case table does not have.", ""])
    lines += [*_result(it, name), "## Derivative", "", derivative(name), ""]
    for file in pictures(name):
        lines += [f"![the function and its derivative]({file})", ""]
    shown = example(name, path) if path else None
    if shown is not None:
        lines += ["## Example", "", "```python", *shown[0].splitlines(), "```", "", "prints", ""]
        lines += ["```text", *shown[1].rstrip("\n").splitlines(), "```", ""]
    return "\n".join(lines)


def families() -> dict[str, list[str]]:
    """Family -> its operators; each is in the first family of the case table that calls it."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for family, rows in FAMILIES.items():
        names = sorted({case.op for case in rows} - OTHER_NAMES - seen)
        seen |= set(names)
        if names:
            found[family] = names
    found["sparse"] = sorted(SPARSE)
    return found


def index() -> str:
    """The index: a section per family, a line per operator."""
    lines = ["# Operators", "", f"mxlite {mx.__version__}: {len(first_names())} operators.", ""]
    for family, names in families().items():
        about = ABOUT.get(family, "Operators of sparse arrays alone.")
        lines += [f"## {family}", "", about, "", "| operator | what it does |", "| --- | --- |"]
        for name in names:
            first = _cell(describe(name).operator.doc)
            lines.append(f"| [`{name}`]({name}.md) | {first} |")
        lines.append("")
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """File name -> text, the index among them."""
    texts = {f"{name}.md": page(name) for name in first_names()}
    texts["README.md"] = index()
    return texts


def main(folder: Path) -> int:
    """Writes all pages into the folder, which is emptied first."""
    texts = pages()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    drawn = {file: text for name in first_names() for file, text in pictures(name).items()}
    for name, text in {**texts, **drawn}.items():
        (folder / name).write_text(text, encoding="utf-8")
    print(f"{len(texts) - 1} pages, {len(drawn)} pictures and an index in {folder}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
