"""`export_model`: symbols, or their files, as files of ONNX."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

import mxlite as mx
from mxlite import _replace
from mxlite.base import dtype_name
from mxlite.error import MXNetError
from mxlite.ndarray.ndarray import NDArray
from mxlite.onnx._export.graph import MOST_BYTES, Exporter
from mxlite.onnx._export.nodes import OPERATORS, OPSET, ExportError
from mxlite.onnx._need import need_onnx
from mxlite.symbol import Symbol

Params = Union[str, "os.PathLike[str]", Mapping[str, NDArray], Sequence[Mapping[str, NDArray]]]
Shapes = Optional[Sequence[Sequence[Any]]]


def _symbol(given: Any) -> Symbol:
    if isinstance(given, Symbol):
        return given
    if not os.path.exists(given):
        raise ExportError(f"export_model: there is no file {given} of a symbol")
    return mx.sym.load(os.fspath(given))


def _parameters(given: Params) -> dict[str, NDArray]:
    if isinstance(given, (str, os.PathLike)):
        if not os.path.exists(given):
            raise ExportError(f"export_model: there is no file {given} of parameters")
        held = mx.nd.load(os.fspath(given))
        if not isinstance(held, dict) and held:
            raise ExportError(f"export_model: the arrays of {given} have no names")
        dicts: Sequence[Mapping[str, NDArray]] = [held] if isinstance(held, dict) else []
    else:
        dicts = [given] if isinstance(given, Mapping) else list(given)
    return {
        name.split(":", 1)[1] if name.startswith(("arg:", "aux:")) else name: array
        for each in dicts
        for name, array in each.items()
    }


def _inputs(
    symbol: Symbol, parameters: Mapping[str, NDArray], shapes: Shapes, types: Any, dynamic: bool, open_shapes: Shapes
) -> dict[str, tuple[tuple[Any, ...], str]]:
    """The shape and dtype of each input. Raises: ExportError: they are not as many as the inputs."""
    free = [name for name in symbol.list_inputs() if name not in parameters]
    if shapes is not None and shapes and isinstance(shapes[0], int):
        shapes = [tuple(shapes)]
    count = 0 if shapes is None else len(shapes)
    names = free if len(free) == count else [name for name in free if not name.endswith("label")]
    if len(names) != count:
        raise ExportError(f"export_model: {count} shapes for the inputs {', '.join(names) or 'of a graph without any'}")
    listed = list(types) if isinstance(types, (list, tuple)) else [types] * count
    if len(listed) != count:
        raise ExportError(f"export_model: {len(listed)} types for {count} inputs")
    found: dict[str, tuple[tuple[Any, ...], str]] = {}
    for number, name in enumerate(names):
        shape: Sequence[Any] = (shapes or [])[number]
        if dynamic:
            shape = open_shapes[number] if open_shapes is not None else [None] * len(shape)
        found[name] = tuple(shape), str(dtype_name(listed[number]))
    return found


def export_model(
    sym: Symbol | str | os.PathLike[str],
    params: Params,
    in_shapes: Shapes = None,
    in_types: Any = np.float32,
    onnx_file_path: str | os.PathLike[str] = "model.onnx",
    verbose: bool = False,
    dynamic: bool = False,
    dynamic_input_shapes: Shapes = None,
    run_shape_inference: bool = False,
    input_type: Any = None,
    input_shape: Shapes = None,
    large_model: bool = False,
) -> str:
    """Writes a symbol and its parameters as a file of ONNX, of operator set 17.

    Args:
        sym: a symbol, or its file. params: its parameters by name (`arg:` and `aux:` may stand before), a list of such
            dictionaries, or their file.
        in_shapes, in_types: a shape and a dtype for each input that is no parameter, in the order of `list_inputs()`.
        verbose: whether it logs what it has written.
        dynamic: whether sizes of inputs are open in the file. dynamic_input_shapes: which, for each input: a size that
            is None or a name is; without it all are.
        run_shape_inference: whether onnx adds the shapes of all tensors to the file.
        input_type, input_shape: older names of in_types and in_shapes.
        large_model: whether parameters are written to a file beside it (NAME.data), as those of 2 GB and more are
            anyway.
    Returns: the path of the file.
    Raises: ImportError: the package onnx is not installed; MXNetError, which is a ValueError too: no such files, ONNX
        has no nodes for an operator, or the shapes do not fit.
    """
    onnx = need_onnx()
    types = in_types if input_type is None else input_type
    shapes = in_shapes if input_shape is None else input_shape
    try:
        symbol, parameters = _symbol(sym), _parameters(params)
        inputs = _inputs(symbol, parameters, shapes, types, dynamic, dynamic_input_shapes)
        model = Exporter(symbol, parameters, inputs).model()
    except MXNetError as error:
        raise error if isinstance(error, ExportError) else ExportError(f"export_model: {error}") from None
    path = Path(onnx_file_path)
    open_ranks = any(not each.type.tensor_type.HasField("shape") for each in model.graph.output)
    if run_shape_inference or (open_ranks and model.ByteSize() <= MOST_BYTES):
        model = onnx.shape_inference.infer_shapes(model)
    if large_model or model.ByteSize() > MOST_BYTES:
        _put_beside(model, path)
    else:
        onnx.checker.check_model(model)
    _replace.write(path, model.SerializeToString())
    if verbose:
        logging.info("%s: %d nodes, operator set %d", path, len(model.graph.node), OPSET)
    return os.fspath(onnx_file_path)


def _put_beside(model: Any, path: Path) -> None:
    """Moves the data of the initializers to a file beside the model's."""
    name = f"{path.name}.data"
    with _replace.replacing(path.with_name(name)) as file:
        at = 0
        for tensor in model.graph.initializer:
            data = tensor.raw_data
            file.write(data)
            tensor.ClearField("raw_data")
            tensor.data_location = 1
            for key, value in (("location", name), ("offset", str(at)), ("length", str(len(data)))):
                entry = tensor.external_data.add()
                entry.key, entry.value = key, value
            at += len(data)


def get_operator_support(opset_version: int | None = None) -> list[str]:
    """The names of the operators that export_model writes. `opset_version`: 17 is the one there is, or None."""
    return sorted(OPERATORS)
