"""Runs files of ONNX by another library than ours: ONNX Runtime where it is installed, else onnx's reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip(
    "onnx", reason="the package onnx is not installed: pip install 'mxlite[onnx]'", exc_type=ImportError
)

try:
    import onnxruntime
except ImportError:
    onnxruntime = None


def run(path: Any, *inputs: np.ndarray) -> list[np.ndarray]:
    """The outputs of a file for its inputs, in order."""
    model = onnx.load(str(path))
    known = {each.name for each in model.graph.initializer}
    names = [each.name for each in model.graph.input if each.name not in known]
    given = dict(zip(names, inputs))
    if onnxruntime is not None:
        return list(onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, given))
    from onnx.reference import ReferenceEvaluator

    return [np.asarray(each) for each in ReferenceEvaluator(str(path)).run(None, given)]


def save(
    path: Path, nodes: list, inputs: list, outputs: list, constants: dict[str, np.ndarray], opset: int = 17
) -> Path:
    """Writes a graph; inputs and outputs are tuples of a name, a shape and (float32) a dtype of NumPy."""
    helper = onnx.helper

    def info(name: str, shape: Any, dtype: Any = np.float32) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)

    graph = helper.make_graph(
        nodes,
        "graph",
        [info(*each) for each in inputs],
        [info(*each) for each in outputs],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), str(path))
    return path
