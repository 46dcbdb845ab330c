#!/usr/bin/env python3
"""Writes bindings/cases.json, which every binding runs: ``make_binding_cases.py [FILE]``. Format: bindings/README.md.

Each operator of the case table (tests/python/cases) that has a small row gives one: its answers come from the library,
checked here against the row's NumPy function, its gradients likewise, checked against differences of that function.
Rows that must fail come with the library's message. Needs the package and the library that MXLITE_LIBRARY names.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "python")]

from _table import invoke_text, to_nd  # noqa: E402
from cases import CASES, Case, In, heads  # noqa: E402

import mxlite as mx  # noqa: E402
from mxlite import autograd  # noqa: E402
from mxlite._lib import LIB  # noqa: E402

FILE = ROOT / "bindings" / "cases.json"
DTYPES = ("float32", "float64", "int32")
#: Elements that the inputs of a row may have, and that its arrays may have in all.
LARGEST_INPUTS, LARGEST = 30, 60
#: Rows that fail, roughly.
FAILING = 24
#: (rtol, atol) of gradients, whose last bits depend on the processor more than those of outputs do.
GRADIENT = {"float32": (1e-4, 1e-5), "float64": (1e-9, 1e-10)}


# ---- which rows ------------------------------------------------------------------------------------


def _plain(arrays: Sequence[np.ndarray]) -> bool:
    """Whether every binding can hold these arrays."""
    return all(array.dtype.name in DTYPES and array.ndim > 0 and array.size > 0 for array in arrays)


def _suits(case: Case) -> bool:
    if case.random or case.mutates or case.out or case.np_shape or case.oracle.startswith("skip"):
        return False
    arrays = case.arrays()
    return _plain(arrays) and sum(array.size for array in arrays) <= LARGEST_INPUTS


def _preference(case: Case, turn: int) -> tuple:
    """The row of an operator that says most: parameters, a gradient, arrays of several elements; dtypes take turns."""
    sizes = [array.size for array in case.arrays()]
    wanted = ("float32", "float64", "float32", "int32")[turn % 4]
    found = [row.dtype for row in case.inputs[:1]] or [case.params.get("dtype", "float32")]
    return (
        bool(case.oracle),
        found != [wanted],
        not (case.order and not case.defined),
        not case.params,
        bool(sizes) and max(sizes) < 4,
        sum(sizes),
        case.id,
    )


def _answering() -> Iterator[Case]:
    """One row for each operator that has a suitable one."""
    names = sorted({case.op for case in CASES if case.forward and not case.error})
    for turn, name in enumerate(names):
        rows = [case for case in CASES if case.op == name and case.forward and not case.error and _suits(case)]
        for case in sorted(rows, key=lambda case: _preference(case, turn)):
            outputs = case.expected()
            if _plain(outputs) and sum(array.size for array in outputs) <= LARGEST:
                yield case
                break


def _failing() -> list:
    """Calls that no table has, and rows that must fail: no two of one operator, no two for the same reason."""
    rows, reasons = {}, set()
    for case in CASES:
        if case.error and case.op not in rows and _suits(case):
            refusal = _refusal(case)
            if refusal is None:
                continue
            reason = re.sub(r"\d+", "", refusal.partition(":")[2])
            if reason not in reasons:
                reasons.add(reason)
                rows[case.op] = case
    one = (In(values=(1.0, 2.0)),)
    return [
        Case("no_such_operator", "unknown", one, error=True),
        Case("softmax", "unknown-parameter", one, {"no_such_parameter": 1}, error=True),
        Case("softmax", "malformed", one, {"axis": "one"}, error=True),
        Case("elemwise_add", "too-few", one, error=True),
        *[rows[name] for name in sorted(rows)[:: max(1, len(rows) // FAILING)]],
    ]


# ---- what they answer ------------------------------------------------------------------------------


def _values(array: np.ndarray) -> list:
    """The elements, in the fewest digits that tell them apart."""
    if array.dtype.kind != "f":
        return [int(value) for value in array.ravel()]
    texts = [str(value) for value in array.ravel()]
    return [float(text) if np.isfinite(float(text)) else text for text in texts]


def _row(array: np.ndarray, close: Sequence[float] = ()) -> dict:
    row = {"dtype": array.dtype.name, "shape": list(array.shape), "values": _values(array)}
    return {**row, "rtol": close[0], "atol": close[1]} if close else row


def _agree(what: str, got: np.ndarray, wanted: np.ndarray, rtol: float, atol: float) -> None:
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        raise SystemExit(f"{what}: got {got.dtype} {got.shape}, NumPy {wanted.dtype} {wanted.shape}")
    if not np.allclose(got, wanted, rtol=rtol, atol=atol, equal_nan=True):
        raise SystemExit(f"{what}: got {got}, NumPy {wanted}")


def _gradients(case: Case, outputs: Sequence[np.ndarray]) -> tuple:
    """Head gradients, and what the library sends back from them to the inputs in `diff`."""
    given = heads(case, [array.shape for array in outputs], [array.dtype.name for array in outputs])
    inputs = [to_nd(array) for array in case.arrays()]
    for position in case.diff:
        inputs[position].attach_grad()
    with autograd.record(train_mode=case.train):
        results = invoke_text(case.op, inputs, case.strings())
    autograd.backward(results, [to_nd(head) for head in given], train_mode=case.train)
    return given, [inputs[position].grad.asnumpy() for position in case.diff]


def _differences(case: Case, given: Sequence[np.ndarray], position: int) -> np.ndarray:
    """The same by central differences of the row's NumPy function."""
    arrays = case.arrays("float64")
    point = arrays[position]
    result = np.zeros_like(point)

    def total() -> float:
        return sum(float((head * output).sum()) for head, output in zip(given, case.expected(arrays)))

    for place in np.ndindex(point.shape):
        middle, step = point[place], 1e-5
        point[place] = middle + step
        high = total()
        point[place] = middle - step
        result[place] = (high - total()) / (2 * step)
        point[place] = middle
    return result


def _answer(case: Case) -> dict:
    """`outputs`, and where the row has a derivative `heads` and `gradients`."""
    with autograd.train_mode() if case.train else autograd.predict_mode():
        results = invoke_text(case.op, [to_nd(array) for array in case.arrays()], case.strings())
    outputs = [result.asnumpy() for result in results]
    wanted = case.expected()
    for got, array in zip(outputs, wanted):
        _agree(case.id, got, np.asarray(array), *case.close(got.dtype.name))
    if len(outputs) != len(wanted):
        raise SystemExit(f"{case.id}: {len(outputs)} outputs, NumPy {len(wanted)}")
    found = {"outputs": [_row(array, case.close(array.dtype.name)) for array in outputs]}
    if not case.order or case.defined or case.symmetric or any(array.dtype.kind != "f" for array in outputs):
        return found
    if any(row.dtype not in GRADIENT for row in (case.inputs[position] for position in case.diff)):
        return found
    given, gradients = _gradients(case, outputs)
    for position, gradient in zip(case.diff, gradients):
        wanted = _differences(case, given, position).astype(gradient.dtype)
        _agree(f"{case.id}: gradient {position}", gradient, wanted, 1e-4, 1e-4)
    found["heads"] = [_row(head) for head in given]
    found["gradients"] = [
        {"input": position, **_row(gradient, GRADIENT[gradient.dtype.name])}
        for position, gradient in zip(case.diff, gradients)
    ]
    return found


def _refusal(case: Case) -> str | None:
    """The library's message, as other languages read it; None: it comes when the result is read."""
    try:
        invoke_text(case.op, [to_nd(array) for array in case.arrays()], case.strings())
    except mx.MXNetError:
        return LIB.MXGetLastError().decode()
    return None


def make() -> list:
    """All rows, as bindings/README.md describes them."""
    rows = []
    for case in [*_answering(), *_failing()]:
        row: dict[str, Any] = {"id": case.id, "op": case.op, "train": int(case.train), "params": case.strings()}
        row["inputs"] = [_row(array) for array in case.arrays()]
        rows.append({**row, **({"error": _refusal(case)} if case.error else _answer(case))})
    return rows


def text_of(rows: Sequence[dict]) -> str:
    """The file's text: one line for a row."""
    lines = [json.dumps(row, allow_nan=False) for row in rows]
    for line in lines:
        if "\\" in line.replace('\\"', ""):
            raise SystemExit(f"readers know no escape but that of a quote: {line}")
    return '{"cases": [\n' + ",\n".join(lines) + "\n]}\n"


def main() -> None:
    """Writes the file."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    rows = make()
    path.write_text(text_of(rows), encoding="ascii")
    failing = sum("error" in row for row in rows)
    derived = sum("gradients" in row for row in rows)
    print(f"{path}: {len(rows)} rows, {derived} with gradients, {failing} that fail; {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
