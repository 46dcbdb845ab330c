"""mxlite as a backend of ONNX (`onnx.backend.base.Backend`): `prepare(model).run(inputs)`.

Graphs are read anew for each new set of the inputs' shapes, and where a node needs the values of an input to know its
shapes, for these values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import mxlite as mx
from mxlite._public import show as _show
from mxlite.onnx._file import check_model
from mxlite.onnx._import.graph import Reader
from mxlite.onnx._import.tensor import NeedsValueError, OnnxError
from mxlite.onnx._need import need_onnx
from mxlite.symbol._cached_op import CachedOp

try:
    from onnx.backend.base import Backend, BackendRep
except ImportError:  # the functions say so
    Backend = BackendRep = object  # type: ignore[assignment,misc,unused-ignore]

if TYPE_CHECKING:
    import onnx

__all__ = [
    "MxliteBackend",
    "MxliteRep",
    "is_compatible",
    "prepare",
    "run_model",
    "run_node",
    "supports_device",
]

#: As many graphs are kept.
KEPT = 16


class MxliteRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, model: onnx.ModelProto) -> None:
        need_onnx()
        check_model(model)
        self._model = model
        known = {each.name for each in model.graph.initializer}
        self._names = [each.name for each in model.graph.input if each.name not in known]
        self._all = [each.name for each in model.graph.input]
        self._valued: set[str] = set()
        self._made: dict[tuple[Any, ...], tuple[Reader, Any]] = {}

    def run(self, inputs: Any, **kwargs: Any) -> tuple[np.ndarray, ...]:
        """The outputs for NumPy arrays: a list in the order of the inputs, or a dictionary.

        Raises: OnnxError: an input is missing or no tensor, or mxlite lacks what the model needs.
        """
        given = self._by_name(inputs)
        while True:
            try:
                reader, call = self._graph(given)
                break
            except NeedsValueError as error:
                if not error.inputs - self._valued:
                    raise
                self._valued |= error.inputs
        with mx.np_shape(True):
            arrays: list[Any] = []
            made = call(given) if call is not None else []
            for _, tensor in reader.outputs:
                arrays.append(tensor.array if tensor.is_known else made.pop(0))
            return tuple(_numpy(each) for each in arrays)

    def _by_name(self, inputs: Any) -> dict[str, np.ndarray]:
        if isinstance(inputs, Mapping):
            given = dict(inputs)
        else:
            values = list(inputs) if isinstance(inputs, (Sequence, tuple)) else [inputs]
            names = self._names if len(values) <= len(self._names) else self._all
            given = dict(zip(names, values))
        for name, value in given.items():
            if isinstance(value, (list, tuple, dict, str)):
                raise OnnxError(f"input {name!r} is no tensor but a {type(value).__name__}")
            is_proto = hasattr(value, "SerializeToString")
            given[name] = need_onnx().numpy_helper.to_array(value) if is_proto else np.asarray(value)
        return given

    def _graph(self, given: dict[str, np.ndarray]) -> tuple[Reader, Any]:
        values = {name: given[name] for name in self._valued if name in given}
        key = (
            tuple((name, value.shape) for name, value in given.items()),
            tuple((name, value.tobytes()) for name, value in values.items()),
        )
        found = self._made.get(key)
        if found is None:
            shapes = {name: value.shape for name, value in given.items() if name not in values}
            reader = Reader(self._model, shapes, values)
            reader.read()
            if len(self._made) >= KEPT:
                self._made.pop(next(iter(self._made)))
            found = self._made[key] = reader, _caller(reader)
        return found


def _caller(reader: Reader) -> Any:
    """A function that runs the outputs that are not known; None: all are."""
    unknown = [tensor for _, tensor in reader.outputs if not tensor.is_known]
    if not unknown:
        return None
    with mx.np_shape(True):
        symbol = mx.sym.Group([tensor.symbol for tensor in unknown])
        call = CachedOp(symbol)
    names = symbol.list_inputs()
    held = {**reader.builder.parameters, **reader.builder.states}
    dtypes = {tensor.name: tensor.dtype for tensor in reader.inputs}

    def run(given: dict[str, np.ndarray]) -> list[Any]:
        arrays = [held[name] if name in held else _array(given, name, dtypes[name]) for name in names]
        made = call(*arrays)
        return made if isinstance(made, list) else [made]

    return run


def _array(given: dict[str, np.ndarray], name: str, dtype: str) -> mx.nd.NDArray:
    if name not in given:
        raise OnnxError(f"input {name!r} is missing")
    value = given[name]
    return mx.nd.array(value.astype(np.float32) if dtype == "bfloat16" else value, dtype=dtype)


def _numpy(array: mx.nd.NDArray) -> np.ndarray:
    values: np.ndarray = array.asnumpy()
    if values.dtype == np.float32 and array.dtype != np.float32:
        import ml_dtypes

        return values.astype(ml_dtypes.bfloat16)
    return values


class MxliteBackend(Backend):
    """The class whose methods the module has as functions."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether it runs on that device."""
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> MxliteRep:
        """A model that is ready to run. Raises: OnnxError: the model is damaged."""
        return MxliteRep(model)

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> Any:
        """What a model gives for arrays. Raises: as prepare, and its result's run."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[np.ndarray, ...]:
        """What one node gives for arrays. Raises: OnnxError: mxlite lacks the operator."""
        onnx = need_onnx()
        infos = [
            onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(np.asarray(each).dtype), np.shape(each)
            )
            for name, each in zip(node.input, inputs)
        ]
        outputs = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output]
        graph = onnx.helper.make_graph([node], "node", infos, outputs)
        return cls.prepare(onnx.helper.make_model(graph, **kwargs)).run(list(inputs))

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether a device is a processor."""
        return device.split(":")[0] == "CPU"


is_compatible = MxliteBackend.is_compatible
prepare = MxliteBackend.prepare
run_model = MxliteBackend.run_model
run_node = MxliteBackend.run_node
supports_device = MxliteBackend.supports_device

_show(globals())
