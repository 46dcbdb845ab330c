"""Operators with inputs that a parameter switches on: calls, inference, executors and hybridized blocks agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import gluon, nd

_SEQUENCE = {"data": (4, 2, 3), "sequence_length": (2,)}
_IMAGE = {"data": (1, 2, 5, 5), "weight": (2, 2, 3, 3)}
_MOVED = {"data": (1, 2, 5, 5), "offset": (1, 18, 3, 3), "weight": (2, 2, 3, 3)}
_CTC = {"data": (5, 2, 4), "label": (2, 3)}
_KERNEL = {"kernel": (3, 3), "num_filter": 2}
_POOL = {"output_dim": 2, "group_size": 2, "pooled_size": 2, "spatial_scale": 1.0, "trans_std": 0.1, "part_size": 2}

#: Operator, the shapes of its inputs by name, parameters.
ROWS = [
    ("softmax", {"data": (2, 3, 4), "length": (2, 3)}, {"use_length": True}),
    ("softmax", {"data": (2, 3, 4), "length": (2, 4)}, {"use_length": True, "axis": 1}),
    *((name, _SEQUENCE, {"use_sequence_length": True}) for name in ("SequenceMask", "SequenceLast", "SequenceReverse")),
    *((name, {"data": (4, 2, 3)}, {}) for name in ("SequenceMask", "SequenceLast", "SequenceReverse")),
    ("FullyConnected", {"data": (2, 3), "weight": (4, 3)}, {"num_hidden": 4, "no_bias": True}),
    ("FullyConnected", {"data": (2, 3), "weight": (4, 3), "bias": (4,)}, {"num_hidden": 4}),
    ("Convolution", _IMAGE, {**_KERNEL, "no_bias": True}),
    ("Convolution", {**_IMAGE, "bias": (2,)}, _KERNEL),
    ("Deconvolution", _IMAGE, {**_KERNEL, "no_bias": True}),
    ("Deconvolution", {**_IMAGE, "bias": (2,)}, {**_KERNEL, "no_bias": False}),
    ("contrib.DeformableConvolution", _MOVED, {**_KERNEL, "no_bias": True}),
    ("contrib.DeformableConvolution", {**_MOVED, "bias": (2,)}, _KERNEL),
    ("CTCLoss", _CTC, {}),
    ("CTCLoss", {**_CTC, "data_lengths": (2,)}, {"use_data_lengths": True}),
    ("CTCLoss", {**_CTC, "label_lengths": (2,)}, {"use_label_lengths": True}),
    (
        "CTCLoss",
        {**_CTC, "data_lengths": (2,), "label_lengths": (2,)},
        {"use_data_lengths": True, "use_label_lengths": True},
    ),
    ("LeakyReLU", {"data": (2, 3, 4), "gamma": (3,)}, {"act_type": "prelu"}),
    ("LeakyReLU", {"data": (2, 3, 4)}, {}),
    ("contrib.BilinearResize2D", {"data": (1, 2, 4, 4), "like": (1, 2, 6, 7)}, {"mode": "like"}),
    ("contrib.DeformablePSROIPooling", {"data": (1, 8, 6, 6), "rois": (2, 5)}, {**_POOL, "no_trans": True}),
    ("contrib.DeformablePSROIPooling", {"data": (1, 8, 6, 6), "rois": (2, 5), "trans": (2, 2, 2, 2)}, _POOL),
    (
        "RNN",
        {"data": (4, 2, 3), "parameters": (36,), "state": (1, 2, 4), "sequence_length": (2,)},
        {"mode": "rnn_tanh", "state_size": 4, "num_layers": 1, "use_sequence_length": True},
    ),
]

#: Dtypes of inputs, where they are not float32.
DTYPES = {"length": "int32"}


def _function(module: Any, op: str) -> Any:
    for name in op.split("."):
        module = getattr(module, name)
    return module


def _values(name: str, shape: tuple[int, ...]) -> np.ndarray:
    if "length" in name or name == "label":
        return np.full(shape, 2.0, "float32")
    if name == "rois":
        return np.array([[0, 0, 0, 4, 4], [0, 1, 1, 5, 5]], "float32")
    return ((np.arange(np.prod(shape)).reshape(shape) % 7 - 3) / 4).astype("float32")


class _Net(gluon.HybridBlock):
    """The operator of casts of the block's inputs, with a parameter whose size is unknown until it runs."""

    def __init__(self, op: str, names: list[str], params: dict[str, Any]) -> None:
        super().__init__()
        self._call = op, names, params
        with self.name_scope():
            self.scale = gluon.nn.Dense(1, flatten=True, weight_initializer="zeros", bias_initializer="ones")

    def hybrid_forward(self, F: Any, *inputs: Any) -> Any:  # noqa: N803 - MXNet's name
        op, names, params = self._call
        given = {name: F.cast(x, dtype=DTYPES.get(name, "float32")) for name, x in zip(names, inputs)}
        one = F.mean(self.scale(given["data"]))
        first = _function(F, op)(**{**given, "data": F.broadcast_mul(given["data"], one)}, **params)
        return first[0] if isinstance(first, list) else first


@pytest.mark.parametrize(("op", "shapes", "params"), ROWS, ids=[f"{op}-{len(shapes)}" for op, shapes, _ in ROWS])
def test_forms_of_a_call_agree(op: str, shapes: dict[str, tuple[int, ...]], params: dict[str, Any]) -> None:
    values = {name: _values(name, shape) for name, shape in shapes.items()}
    arrays = {name: nd.array(each, dtype=DTYPES.get(name, "float32")) for name, each in values.items()}
    expected = _function(nd, op)(**arrays, **params).asnumpy()
    assert np.array_equal(_function(nd, op)(*arrays.values(), **params).asnumpy(), expected)
    for cast in (False, True):
        inputs = {name: mx.sym.var(name) for name in shapes}
        given = {k: mx.sym.cast(x, dtype=DTYPES.get(k, "float32")) if cast else x for k, x in inputs.items()}
        symbol = _function(mx.sym, op)(**given, **params)
        assert symbol.list_arguments() == list(shapes)
        assert symbol.infer_shape(**shapes)[1] == [expected.shape]
        bound = symbol.simple_bind(mx.cpu(), **shapes)
        wanted = {name: "float32" if cast else DTYPES.get(name, "float32") for name in shapes}
        assert {name: each.dtype.__name__ for name, each in bound.arg_dict.items()} == wanted
        assert np.array_equal(bound.forward(**arrays)[0].asnumpy(), expected)
    for flags in (None, {}, {"static_alloc": True, "static_shape": True}):
        net = _Net(op, list(shapes), params)
        net.initialize()
        if flags is not None:
            net.hybridize(**flags)
        assert np.allclose(net(*map(nd.array, values.values())).asnumpy(), expected, atol=1e-6)


#: What of an optional input follows from the data alone: 1.9.1 says the same.
FOLLOWS = [
    ("softmax", {"use_length": True}, (2, 3, 4), "length", (2, 3)),
    ("softmax", {"use_length": True, "axis": 1}, (2, 3, 4), "length", (2, 4)),
    ("softmax", {"use_length": True, "axis": -3}, (2, 3, 4), "length", (3, 4)),
    ("SequenceMask", {"use_sequence_length": True, "axis": 1}, (2, 4, 3), "sequence_length", (2,)),
    ("SequenceLast", {"use_sequence_length": True}, (4, 2, 3), "sequence_length", (2,)),
    ("LeakyReLU", {"act_type": "prelu"}, (2, 3, 4), "gamma", (3,)),
]


@pytest.mark.parametrize(("op", "params", "data", "name", "shape"), FOLLOWS)
def test_a_shape_follows_from_the_data(op: str, params: dict, data: tuple, name: str, shape: tuple) -> None:
    symbol = getattr(mx.sym, op)(mx.sym.var("data"), name="it", **params)
    assert symbol.list_arguments() == ["data", f"it_{name}"]
    assert symbol.infer_shape(data=data)[0] == [data, shape]
    with pytest.raises(mx.MXNetError, match=f"{name}.*(Shape inconsistent|must have shape)"):
        symbol.infer_shape(**{"data": data, f"it_{name}": (5, 6, 7)})
