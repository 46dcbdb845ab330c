"""Reads a model of ONNX: walks its nodes, which the functions of this folder turn into symbols."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import mxlite as mx
from mxlite.error import MXNetError
from mxlite.name import NameManager
from mxlite.ndarray.ndarray import NDArray
from mxlite.onnx._file import array_of, dtype_of
from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.nodes import OPERATORS, Node
from mxlite.onnx._import.tensor import OnnxError, Shape, Tensor
from mxlite.onnx._need import need_onnx

#: Graphs within graphs, and functions that call functions, go so deep.
DEPTH = 32
#: As many nodes a graph may become, loops and functions included.
MOST_NODES = 200_000

for _name in (
    "control", "convolution", "elementwise", "index", "linalg", "ml", "normal", "quantized", "recurrent", "reduce",
    "resize", "shape", "signal", "spatial", "trees",
):  # fmt: skip
    importlib.import_module(f"mxlite.onnx._import.{_name}")


class Reader:
    """Makes the symbols of one model.

    Args:
        model: onnx.ModelProto.
        shapes: shapes of inputs, where the file leaves sizes open or says others.
        values: values of inputs that are constants from here on.
    """

    def __init__(
        self, model: Any, shapes: Mapping[str, tuple[int, ...]] | None = None, values: Mapping[str, Any] | None = None
    ) -> None:
        self.model = model
        self.builder = Builder()
        self.shapes = dict(shapes or {})
        self.values = dict(values or {})
        self.opsets = {("" if each.domain == "ai.onnx" else each.domain): each.version for each in model.opset_import}
        self.functions = {(each.domain, each.name): each for each in getattr(model, "functions", ())}
        self.inputs: list[Tensor] = []
        #: Whether nodes have graphs of their own, which may read any tensor of this one.
        self.has_inner = False
        self.outputs: list[tuple[str, Tensor]] = []
        self._nodes = 0
        #: Names that several nodes read, or nodes and the graph's outputs.
        self.shared: set[str] = set()

    def read(self) -> None:
        """Makes everything. Raises: OnnxError: the graph is damaged, or needs what mxlite has not."""
        graph = self.model.graph
        with NameManager(), mx.np_shape(True):
            known: dict[str, Tensor] = {}
            uses: dict[str, int] = {}
            for each in graph.node:
                for name in each.input:
                    uses[name] = uses.get(name, 0) + 1
            for each in graph.output:
                uses[each.name] = uses.get(each.name, 0) + 1
            self.shared = {name for name, count in uses.items() if count > 1}
            self.has_inner = any(each.HasField("g") for node in graph.node for each in node.attribute)
            self._initializers(graph, known)
            self._inputs(graph, known)
            scope = Scope(self, known, self.opsets, self.functions, 0)
            scope.run(graph.node)
            for each in graph.output:
                self.outputs.append((each.name, scope.find(each.name)))

    def _initializers(self, graph: Any, known: dict[str, Tensor]) -> None:
        for each in graph.initializer:
            array, dtype = array_of(each)
            self._initializer(known, each.name, array, dtype)
        for each in graph.sparse_initializer:
            known[each.values.name] = self.builder.constant(dense_of(each), name=each.values.name)

    def _initializer(self, known: dict[str, Tensor], name: str, array: NDArray, dtype: str) -> None:
        tensor = self.builder.known(array, dtype, name)
        tensor.is_weight = name in self.shared and tensor.is_float and tensor.size > 1
        known[name] = tensor

    def _inputs(self, graph: Any, known: dict[str, Tensor]) -> None:
        names = [each.name for each in graph.input]
        if len(set(names)) < len(names):
            raise OnnxError(f"two inputs have one name: {', '.join(names)}")
        for each in graph.input:
            if each.name in self.values:
                value = self.values[each.name]
                known[each.name] = (
                    self.builder.constant(value, None, each.name) if value is not None else known[each.name]
                )
                continue
            if each.name in known:  # an initializer that the caller may replace: files before version 4 list all
                continue
            shape, dtype = shape_of_input(each)
            given = self.shapes.get(each.name)
            if given is not None:
                shape = agreed(each.name, tuple(int(size) for size in given), shape)
            tensor = self.builder.input(each.name, shape, dtype)
            known[each.name] = tensor
            self.inputs.append(tensor)
        for name in self.shapes:
            if name not in {each.name for each in graph.input}:
                raise OnnxError(f"there is no input {name!r}; there are {', '.join(each.name for each in graph.input)}")

    def count(self) -> None:
        """Counts one node more. Raises: OnnxError: there are too many."""
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise OnnxError(f"the graph becomes more than {MOST_NODES} nodes")


class Scope:
    """The names of one graph or function, and those around it."""

    def __init__(
        self, reader: Reader, known: dict[str, Tensor], opsets: dict[str, int], functions: dict[Any, Any], depth: int
    ) -> None:
        if depth > DEPTH:
            raise OnnxError(f"graphs and functions are nested more than {DEPTH} deep")
        self.reader = reader
        self.builder = reader.builder
        self.known = known
        self.opsets = opsets
        self.functions = functions
        self.depth = depth

    def find(self, name: str) -> Tensor:
        """A tensor by its name. Raises: OnnxError: no node has made it."""
        found = self.known.get(name)
        if found is None:
            raise OnnxError(f"no node before it makes the tensor {name!r}")
        return found

    def reads_once(self, name: str) -> bool:
        """Whether one node alone reads a tensor of the model's own graph, which has no graphs within."""
        return self.depth == 0 and name not in self.reader.shared and not self.reader.has_inner

    def run(self, protos: Iterable[Any]) -> None:
        """Makes the symbols of nodes, in order."""
        for proto in protos:
            self.reader.count()
            inputs = [self.find(name) if name else None for name in proto.input]
            domain = "" if proto.domain == "ai.onnx" else proto.domain
            opset = self.opsets.get(domain, 1)
            node = Node(proto, inputs, opset, self)
            self.builder.place = node.place
            results = self._results(node)
            for name, tensor in zip(node.outputs, results):
                if name:
                    self.known[name] = tensor
            if len(results) < len([name for name in node.outputs if name]):
                raise node.refuse(f"makes {len(results)} outputs, {len(node.outputs)} are named")

    def _results(self, node: Node) -> list[Tensor]:
        function = self.functions.get((node.proto.domain, node.kind))
        if function is not None:
            return self._call(function, node, dict(self.opsets))
        handler = OPERATORS.get((node.domain, node.kind))
        if handler is None:
            body = function_of(node)
            if body is None:
                raise node.refuse(f"mxlite reads no operator {node.kind} of domain {node.domain or 'ai.onnx'!r}")
            return self._call(body, node, self.opsets)
        try:
            made = handler(self.builder, node)
        except (
            IndexError,
            KeyError,
            TypeError,
            AttributeError,
            AssertionError,
            OverflowError,
            ZeroDivisionError,
        ) as error:
            raise node.refuse(f"its attributes or inputs do not fit: {type(error).__name__}: {error}") from error
        except MXNetError as error:
            raise error if isinstance(error, OnnxError) else node.refuse(str(error)) from None
        except ValueError as error:
            raise node.refuse(str(error)) from None
        return made if isinstance(made, list) else [made]

    def _call(self, function: Any, node: Node, opsets: dict[str, int]) -> list[Tensor]:
        """What a function of the model, or one that defines an operator, gives for a node."""
        opsets = {**opsets, **{each.domain: each.version for each in function.opset_import}}
        known = {name: tensor for name, tensor in zip(function.input, node.inputs) if tensor is not None}
        given = {each.name: each for each in node.proto.attribute}
        for each in [*getattr(function, "attribute_proto", ()), *defaults_of(node)]:
            given.setdefault(each.name, each)
        inside = Scope(self.reader, known, opsets, self.functions, self.depth + 1)
        inside.run_function(function, given)
        results = []
        for name in function.output[: len(node.outputs)]:
            results.append(inside.find(name) if name in inside.known else self.builder.constant(0.0))
        return results

    def run_function(self, function: Any, given: dict[str, Any]) -> None:
        """Runs the nodes of a function, whose attributes may refer to those of the call."""
        for proto in function.node:
            made = type(proto)()
            made.CopyFrom(proto)
            _fill_references(made, given)
            inputs = [name if name in self.known else "" for name in made.input]
            del made.input[:]
            made.input.extend(inputs)
            self.run([made])

    def inner(self, graph: Any, inputs: list[Tensor]) -> list[Tensor]:
        """The outputs of a graph within this one, for inputs."""
        known = dict(self.known)
        for each in graph.initializer:
            array, dtype = array_of(each)
            known[each.name] = self.builder.known(array, dtype, each.name)
        known.update({each.name: tensor for each, tensor in zip(graph.input, inputs)})
        inside = Scope(self.reader, known, self.opsets, self.functions, self.depth + 1)
        place = self.builder.place
        inside.run(graph.node)
        self.builder.place = place
        return [inside.find(each.name) for each in graph.output]


def _fill_references(proto: Any, given: dict[str, Any]) -> None:
    """Puts the attributes of a function's call where its nodes refer to them."""
    for index in reversed(range(len(proto.attribute))):
        attribute = proto.attribute[index]
        if attribute.ref_attr_name:
            name, found = attribute.name, given.get(attribute.ref_attr_name)
            if found is None:
                del proto.attribute[index]
            else:
                attribute.CopyFrom(found)
                attribute.name = name
        elif attribute.HasField("g"):
            for inner in attribute.g.node:
                _fill_references(inner, given)


def defaults_of(node: Node) -> list[Any]:
    """The attributes that an operator of ONNX has where a node does not say them."""
    onnx = need_onnx()
    try:
        schema = onnx.defs.get_schema(node.kind, node.opset, node.domain)
    except onnx.defs.SchemaError:
        return []
    return [each.default_value for each in schema.attributes.values() if each.default_value.name]


def function_of(node: Node) -> Any:
    """The function that defines an operator of ONNX by others; None: there is none."""
    onnx = need_onnx()
    try:
        schema = onnx.defs.get_schema(node.kind, node.opset, node.domain)
    except onnx.defs.SchemaError:
        return None
    if schema.has_function:
        text = schema.function_body
        return text if hasattr(text, "node") else onnx.FunctionProto.FromString(text)
    if schema.has_context_dependent_function:
        types = [_type_of(onnx, each) for each in node.inputs]
        try:
            body = schema.get_context_dependent_function(node.proto.SerializeToString(), types)
        except (RuntimeError, ValueError):
            return None
        return onnx.FunctionProto.FromString(body) if body else None
    return None


def _type_of(onnx: Any, tensor: Tensor | None) -> bytes:
    if tensor is None:
        return b""
    number = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(tensor.dtype)) if tensor.dtype != "bfloat16" else 16
    shape = None if tensor.shape is None else [None if size < 0 else size for size in tensor.shape]
    return bytes(onnx.helper.make_tensor_type_proto(number, shape).SerializeToString())


def shape_of_input(info: Any) -> tuple[Shape, str]:
    """The shape and dtype of an input or output as the file tells them. Raises: OnnxError: it is no tensor."""
    if info.type.WhichOneof("value") != "tensor_type":
        raise OnnxError(f"input {info.name!r} is no tensor ({info.type.WhichOneof('value') or 'no type'})")
    tensor = info.type.tensor_type
    dtype = dtype_of(tensor.elem_type, f"input {info.name!r}")
    if not tensor.HasField("shape"):
        return None, dtype
    sizes = [each.dim_value if each.HasField("dim_value") else -1 for each in tensor.shape.dim]
    if any(size < -1 for size in sizes):
        raise OnnxError(f"input {info.name!r}: a size is negative: {sizes}")
    return tuple(sizes), dtype


def agreed(name: str, given: tuple[int, ...], said: Shape) -> tuple[int, ...]:
    """A shape that is given for an input. Raises: OnnxError: the file says another rank."""
    if said is not None and len(said) != len(given):
        raise OnnxError(f"input {name!r} has {len(said)} axes, shape {given} was given")
    return given


def dense_of(sparse: Any) -> np.ndarray:
    """The array of a sparse initializer. Raises: OnnxError: its indices do not fit."""
    values, indices = array_of(sparse.values)[0].asnumpy(), array_of(sparse.indices)[0].asnumpy()
    shape = tuple(sparse.dims)
    if np.prod(shape, dtype=np.float64) > 1 << 28 or min(shape, default=0) < 0:
        raise OnnxError(f"a sparse initializer of shape {shape} is too large")
    dense = np.zeros(shape, values.dtype)
    try:
        if indices.ndim == 1:
            dense.reshape(-1)[indices] = values
        else:
            dense[tuple(indices.T)] = values
    except (IndexError, ValueError) as error:
        raise OnnxError(f"a sparse initializer: {error}") from None
    return dense
