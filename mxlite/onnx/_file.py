"""Reads files of ONNX, which may be damaged or hostile: nothing outside the file's folder is opened."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

import mxlite as mx
from mxlite.error import MXNetError
from mxlite.ndarray.ndarray import NDArray
from mxlite.onnx._import.tensor import OnnxError
from mxlite.onnx._need import need_onnx

#: The dtypes of ONNX that mxlite has, by their numbers.
DTYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    16: "bfloat16",
}
NUMBERS = {name: number for number, name in DTYPES.items()}

#: Bits of an element of each, for counting bytes.
_BYTES = {"float32": 4, "int32": 4, "uint32": 4, "float64": 8, "int64": 8, "uint64": 8, "float16": 2, "bfloat16": 2,
          "int16": 2, "uint16": 2, "int8": 1, "uint8": 1, "bool": 1}  # fmt: skip


def dtype_of(number: int, what: str) -> str:
    """A dtype by ONNX's number. Raises: OnnxError: mxlite has not that."""
    found = DTYPES.get(number)
    if found is None:
        names = need_onnx().TensorProto.DataType
        name = names.Name(number) if number in names.values() else f"number {number}"
        raise OnnxError(f"{what} has elements of ONNX's type {name}, which mxlite has not")
    return found


def read_model(path: str | os.PathLike[str]) -> Any:
    """The model of a file, with its external data, all checked to lie in its folder.

    Raises: ImportError: the package onnx is not installed; OnnxError: the file is damaged, or asks for other files;
    OSError: there is no such file.
    """
    onnx = need_onnx()
    path = Path(path)
    data = path.read_bytes()
    model = onnx.ModelProto()
    try:
        used = model.ParseFromString(data)
    except Exception as error:  # noqa: BLE001 - protobuf's errors have no class in common
        raise OnnxError(f"{path}: no file of ONNX: {error}") from None
    if used is not None and used != len(data):
        raise OnnxError(f"{path}: no file of ONNX")
    try:
        check_model(model)
        check_names(model.graph)
        _load_external(model, path.resolve().parent)
    except OnnxError as error:
        raise OnnxError(f"{path}: {error}") from None
    return model


def check_model(model: Any) -> None:
    """Raises: OnnxError: the model has no graph, no operator set, or one that is too old."""
    if not model.HasField("graph") or not model.opset_import:
        raise OnnxError("no file of ONNX: it has no graph or no operator set")
    for each in model.opset_import:
        if each.domain in ("", "ai.onnx") and not 1 <= each.version < 1000:
            raise OnnxError(f"operator set {each.version} does not exist")


def check_names(graph: Any) -> None:
    """Raises: OnnxError: a name in a graph is no text, which protobuf gives as bytes."""
    texts: list[Any] = [each.name for each in (*graph.input, *graph.output, *graph.initializer)]
    for node in graph.node:
        texts += [node.op_type, node.domain, node.name, *node.input, *node.output]
        for attribute in node.attribute:
            texts.append(attribute.name)
            if attribute.HasField("g"):
                check_names(attribute.g)
    if not all(isinstance(each, str) for each in texts):
        raise OnnxError("no file of ONNX: a name is no text")


def tensors_of(graph: Any, depth: int = 0) -> Any:
    """All tensors of a graph: initializers, attributes, and those of graphs within."""
    if depth > 64:
        raise OnnxError("graphs are nested more than 64 deep")
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield sparse.values
        yield sparse.indices
    yield from _tensors_of_nodes(graph.node, depth)


def _tensors_of_nodes(nodes: Any, depth: int) -> Any:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            if attribute.HasField("g"):
                yield from tensors_of(attribute.g, depth + 1)
            for graph in attribute.graphs:
                yield from tensors_of(graph, depth + 1)


def _load_external(model: Any, folder: Path) -> None:
    for tensor in tensors_of(model.graph):
        if tensor.data_location == 1:
            tensor.raw_data = external_bytes(tensor, folder)
            del tensor.external_data[:]
            tensor.data_location = 0
    for function in model.functions:
        for tensor in _tensors_of_nodes(function.node, 0):
            if tensor.data_location == 1:
                raise OnnxError(f"tensor {tensor.name!r} of a function has external data")


def external_bytes(tensor: Any, folder: Path) -> bytes:
    """The bytes of a tensor that lie in another file of the folder.

    Raises: OnnxError: that file is outside, by an absolute path, `..` or a link, or is too short.
    """
    given = {each.key: each.value for each in tensor.external_data}
    location = given.get("location", "")
    what = f"tensor {tensor.name!r}: external data {location!r}"
    if not location or "\0" in location or os.path.isabs(location) or "\\" in location:
        raise OnnxError(f"{what} is no path in the model's folder")
    path = folder / location
    try:
        inside = path.resolve().is_relative_to(folder) and not _has_link(folder, Path(location))
        if not inside or ".." in Path(location).parts:
            raise OnnxError(f"{what} is outside the model's folder")
        if not path.is_file():
            raise OnnxError(f"{what}: there is no such file")
        start, wanted = int(given.get("offset", 0)), bytes_of(tensor)
        length = int(given.get("length", wanted))
        total = path.stat().st_size
        if start < 0 or length != wanted or start + length > total:
            raise OnnxError(f"{what}: {wanted} bytes are needed, {length} from byte {start} on are named of {total}")
        with path.open("rb") as file:
            file.seek(start)
            data: bytes = file.read(length)
            return data
    except (OSError, ValueError, RuntimeError) as error:
        raise error if isinstance(error, OnnxError) else OnnxError(f"{what}: {error}") from None


def _has_link(folder: Path, location: Path) -> bool:
    here = folder
    for part in location.parts:
        here = here / part
        if here.is_symlink():
            return True
    return False


def bytes_of(tensor: Any) -> int:
    """How many bytes a tensor's elements take. Raises: OnnxError: a size is negative, or it is enormous."""
    dtype = dtype_of(tensor.data_type, f"tensor {tensor.name!r}")
    count = 1
    for size in tensor.dims:
        if size < 0:
            raise OnnxError(f"tensor {tensor.name!r}: shape {list(tensor.dims)} has a negative size")
        count *= size
    if count * _BYTES[dtype] >= 1 << 40 or len(tensor.dims) > 32:
        raise OnnxError(f"tensor {tensor.name!r}: shape {list(tensor.dims)} is too large")
    return count * _BYTES[dtype]


def array_of(tensor: Any) -> tuple[NDArray, str]:
    """The array of a tensor and the name of its dtype.

    Raises: OnnxError: its data do not fit its shape, it is external, or mxlite has not its dtype.
    """
    onnx = need_onnx()
    dtype = dtype_of(tensor.data_type, f"tensor {tensor.name!r}")
    wanted = bytes_of(tensor)
    if tensor.data_location == 1:
        raise OnnxError(f"tensor {tensor.name!r} has external data, which is read from files alone")
    if tensor.HasField("raw_data") and len(tensor.raw_data) != wanted:
        raise OnnxError(
            f"tensor {tensor.name!r} of shape {list(tensor.dims)} needs {wanted} bytes, it has {len(tensor.raw_data)}"
        )
    given = max(len(getattr(tensor, f"{kind}_data")) for kind in ("float", "int32", "int64", "double", "uint64"))
    if not tensor.HasField("raw_data") and given * _BYTES[dtype] != wanted:
        raise OnnxError(f"tensor {tensor.name!r} of shape {list(tensor.dims)} holds {given} elements")
    try:
        values = onnx.numpy_helper.to_array(tensor)
        if dtype == "bfloat16":
            return mx.nd.array(np.asarray(values, dtype=np.float32), dtype=dtype), dtype
        return mx.nd.array(values, dtype=dtype), dtype
    except (TypeError, ValueError, MXNetError) as error:
        raise OnnxError(f"tensor {tensor.name!r}: {error}") from None
