"""Reads the files of torch_models.py: outputs and gradients must be PyTorch's, and a file written back must agree too.

.venvs/predict/bin/python tests/onnx/check_models.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

import mxlite as mx
from mxlite.onnx._import.models import parts_of, read

TOLERANCE = 2e-5


def far(one: np.ndarray, other: np.ndarray) -> float:
    """How far two arrays are apart, beside the larger of 1 and the greatest magnitude."""
    if one.shape != other.shape:
        return float("inf")
    return float(np.abs(one - other).max() / max(1.0, float(np.abs(other).max())))


def gradients(block: Any, held: Any, inputs: list[Any]) -> list[tuple[str, float]]:
    """How far gradients are from PyTorch's: those of inputs, and of parameters that the exporter left as they were."""
    outputs = [name for name in held.files if name.startswith("weight")]
    for name, each in zip(sorted(name for name in held.files if name.startswith("in")), inputs):
        if f"grad_{name}" in held.files:
            each.attach_grad()
    with mx.autograd.record(train_mode=False):
        made = block(*inputs)
        made = made if isinstance(made, list) else [made]
        total = sum((each * mx.nd.array(held[name])).sum() for each, name in zip(made, outputs))
    total.backward()
    found = [
        (f"in{number}", far(each.grad.asnumpy(), held[f"grad_in{number}"]))
        for number, each in enumerate(inputs)
        if f"grad_in{number}" in held.files
    ]
    for name, parameter in block.collect_params().items():
        if f"grad_{name}" in held.files and np.array_equal(parameter.data().asnumpy(), held[f"value_{name}"]):
            found.append((name, far(parameter.grad().asnumpy(), held[f"grad_{name}"])))
    return found


def check(path: Path, held: Any) -> str:
    """A line about one file; it begins with "!" where something is wrong."""
    names = sorted(name for name in held.files if name.startswith("in"))
    wish = [held[name] for name in sorted(name for name in held.files if name.startswith("out"))]
    is_open = path.stem.endswith("_open")
    shapes = {name: held[name].shape for name in names} if is_open else None
    block = mx.onnx.import_to_gluon(path, shapes=shapes)
    inputs = [mx.nd.array(held[name], dtype=held[name].dtype) for name in names]
    made = block(*inputs)
    worst = max(far(each.asnumpy(), other) for each, other in zip(made if isinstance(made, list) else [made], wish))
    slopes = gradients(block, held, inputs)
    steepest = max(slopes, key=lambda row: row[1]) if slopes else ("none", 0.0)
    symbol, arguments, states = parts_of(read(path, shapes))
    back = path.with_suffix(".back")
    types = [held[name].dtype for name in symbol.list_inputs() if name in names]
    sizes = [held[name].shape for name in symbol.list_inputs() if name in names]
    mx.onnx.export_model(symbol, [arguments, states], sizes, types, back)
    session = onnxruntime.InferenceSession(str(back), providers=["CPUExecutionProvider"])
    again = session.run(None, {name: held[name] for name in names})
    written = max(far(each, other) for each, other in zip(again, wish))
    is_wrong = max(worst, steepest[1], written) > TOLERANCE or not slopes
    text = f"outputs {worst:.1e}, {len(slopes)} gradients {steepest[1]:.1e} ({steepest[0]}), written back {written:.1e}"
    return f"{'! ' if is_wrong else ''}{path.name}: {text}"


def main() -> int:
    folder, failed, count = Path(sys.argv[1]), 0, 0
    for path in sorted(folder.glob("*.onnx")):
        line = check(path, np.load(folder / f"{path.stem.rsplit('_', 1)[0]}.npz"))
        print(line)
        count += 1
        failed += line.startswith("!")
    print(f"onnx models of PyTorch: {count - failed} passed, {failed} failed")
    return int(failed > 0 or not count)


if __name__ == "__main__":
    sys.exit(main())
