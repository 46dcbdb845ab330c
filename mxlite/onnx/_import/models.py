"""Reads models of ONNX as symbols with their parameters, or as Gluon blocks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

import mxlite as mx
from mxlite.context import Context
from mxlite.error import MXNetError
from mxlite.gluon import SymbolBlock
from mxlite.ndarray.ndarray import NDArray
from mxlite.onnx._file import read_model
from mxlite.onnx._import.graph import Reader
from mxlite.onnx._import.tensor import OnnxError
from mxlite.symbol import Symbol

Path = Union[str, "os.PathLike[str]"]
Shapes = Optional[Mapping[str, "tuple[int, ...]"]]


def read(model_file: Path, shapes: Shapes = None, values: Mapping[str, Any] | None = None) -> Reader:
    """A model that has been read. Raises: as import_model."""
    model = read_model(model_file)
    reader = Reader(model, shapes, values)
    try:
        reader.read()
    except OnnxError as error:
        raise type(error)._again(f"{model_file}: {error}", error) from None
    except MemoryError:
        raise OnnxError(f"{model_file}: a constant is too large for the memory") from None
    except RecursionError:
        raise OnnxError(f"{model_file}: graphs are nested too deep") from None
    except (AttributeError, IndexError, KeyError, MXNetError, OverflowError, TypeError, ValueError) as error:
        raise OnnxError(f"{model_file}: the file is damaged: {type(error).__name__}: {error}") from error
    return reader


def parts_of(reader: Reader) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """The symbol, its arguments and its states of a model that has been read."""
    if not reader.outputs:
        raise OnnxError("the graph has no outputs")
    outputs = [tensor.symbol for _, tensor in reader.outputs]
    symbol = outputs[0] if len(outputs) == 1 else mx.sym.Group(outputs)
    arguments, states = set(symbol.list_arguments()), set(symbol.list_auxiliary_states())
    held = reader.builder.parameters
    unknown = arguments - set(held) - {tensor.name for tensor in reader.inputs}
    if unknown:
        raise OnnxError(f"nodes lack inputs: {', '.join(sorted(unknown))}")
    return (
        symbol,
        {name: each for name, each in held.items() if name in arguments},
        {name: each for name, each in reader.builder.states.items() if name in states},
    )


def import_model(
    model_file: Path, shapes: Shapes = None, values: Mapping[str, Any] | None = None
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray]]:
    """The symbol of a model, its arguments and its auxiliary states by name.

    Args:
        model_file: the file; data beside it are read too, but nothing outside its folder.
        shapes: shapes of inputs by name, where the file leaves sizes open that a node must know.
        values: values of inputs by name that become constants, where a node must know them.
    Raises: ImportError: the package onnx is not installed; FileNotFoundError: there is no such file; MXNetError, which
        is a ValueError too: the file is damaged, or needs an operator or dtype that mxlite has not.
    """
    return parts_of(read(model_file, shapes, values))


def import_to_gluon(
    model_file: Path,
    ctx: Context | Sequence[Context] | None = None,
    shapes: Shapes = None,
    values: Mapping[str, Any] | None = None,
) -> SymbolBlock:
    """The block of a model: its weights are parameters that train, its constants parameters that do not.

    Args: ctx: where the parameters are; None: the current context. The others: as import_model.
    Raises: as import_model.
    """
    reader = read(model_file, shapes, values)
    symbol, arguments, states = parts_of(reader)
    with mx.np_shape(True):
        block = SymbolBlock(symbol, [tensor.symbol for tensor in reader.inputs])
        given = {**arguments, **states}
        for name, parameter in block.collect_params().items():
            parameter.shape = tuple(given[name].shape)
            parameter._load_init(given[name], ctx, cast_dtype=True, dtype_source="saved")
            if name in reader.builder.constants:
                parameter.grad_req = "null"
    return block


def get_model_metadata(model_file: Path) -> dict[str, list[tuple[Any, ...]]]:
    """What a file tells of its inputs and outputs.

    Returns: `input_tensor_data`: name, shape and ONNX's number of the dtype for each input that is no parameter;
        `output_tensor_data`: name and shape of each output. A size that is not known is 0.
    Raises: as import_model.
    """
    graph = read_model(model_file).graph
    known = {each.name for each in graph.initializer}

    def sizes(info: Any) -> tuple[int, ...]:
        return tuple(each.dim_value for each in info.type.tensor_type.shape.dim)

    inputs = [each for each in graph.input if each.name not in known]
    return {
        "input_tensor_data": [(each.name, sizes(each), each.type.tensor_type.elem_type) for each in inputs],
        "output_tensor_data": [(each.name, sizes(each)) for each in graph.output],
    }
