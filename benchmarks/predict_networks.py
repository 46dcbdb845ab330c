"""The networks that predict.py compares, in a folder: as a symbol's files for mxlite and MXNet, and as ONNX for others.

python benchmarks/predict_networks.py FOLDER
"""

from __future__ import annotations

import math
import pathlib
import sys
from typing import Any

import numpy as np

#: Name -> shape of the input, without the batch where that is free.
INPUTS = {
    "resnet18_v1": (3, 224, 224),
    "resnet50_v1": (3, 224, 224),
    "mobilenet_v2_1_0": (3, 224, 224),
    "bert_128": (128, 768),
    "bert_512": (512, 768),
    "lstm": (512,),
}
STEPS = 100  # of the LSTM
LAYERS, SIZE, HEADS = 12, 768, 12  # of BERT-base


def shape_of(name: str, batch: int) -> tuple[int, ...]:
    """Of the input: (batch, channels, height, width), (batch, positions, size) or (steps, batch, size)."""
    return (STEPS, batch, *INPUTS[name]) if name == "lstm" else (batch, *INPUTS[name])


def encoder(mx: Any) -> Any:
    """The layers of BERT-base, after the embedding."""
    nn = mx.gluon.nn

    class Layer(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.q, self.k, self.v, self.out = (nn.Dense(SIZE, flatten=False) for _ in range(4))
                self.wide, self.narrow = nn.Dense(4 * SIZE, flatten=False), nn.Dense(SIZE, flatten=False)
                self.first, self.second = nn.LayerNorm(), nn.LayerNorm()

        def heads(self, F: Any, x: Any) -> Any:  # noqa: N803
            """(batch * heads, positions, size of a head)"""
            x = F.transpose(F.reshape(x, shape=(0, 0, HEADS, -1)), axes=(0, 2, 1, 3))
            return F.reshape(x, shape=(-3, 0, 0))

        def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
            q, k, v = (self.heads(F, each(x)) for each in (self.q, self.k, self.v))
            scores = F.batch_dot(q, k, transpose_b=True) * (1 / math.sqrt(SIZE / HEADS))
            mixed = F.batch_dot(F.softmax(scores, axis=-1), v)
            mixed = F.transpose(F.reshape(mixed, shape=(-4, -1, HEADS, 0, 0)), axes=(0, 2, 1, 3))
            x = self.first(x + self.out(F.reshape(mixed, shape=(0, 0, -3))))
            return self.second(x + self.narrow(F.LeakyReLU(self.wide(x), act_type="gelu")))

    net = nn.HybridSequential()
    for _ in range(LAYERS):
        net.add(Layer())
    return net


def network(mx: Any, name: str) -> Any:
    """The block of that name, with random parameters."""
    mx.random.seed(1)
    if name == "lstm":
        net = mx.gluon.rnn.LSTM(512, num_layers=2, input_size=512)
    elif name.startswith("bert"):
        net = encoder(mx)
    else:
        net = getattr(mx.gluon.model_zoo.vision, name)()
    net.initialize(mx.init.Xavier())
    return net


def write(name: str, folder: pathlib.Path) -> None:
    """FOLDER/NAME-symbol.json, -0000.params, .npz (the parameters, for PyTorch) and .onnx, unless they are there."""
    import mxlite as mx

    path = folder / name
    if path.with_suffix(".onnx").exists():
        return
    net = network(mx, name)
    net.hybridize()
    x = mx.nd.random.normal(shape=shape_of(name, 1))
    with mx.autograd.train_mode():
        net(x).wait_to_read()
    net.export(str(path))
    parameters = mx.nd.load(f"{path}-0000.params")
    np.savez(f"{path}.npz", **{name.split(":", 1)[1]: value.asnumpy() for name, value in parameters.items()})
    images = len(x.shape) == 4  # of any number of them
    shapes = [x.shape, *([(2, 1, 512)] * 2 if name == "lstm" else [])]
    mx.onnx.export_model(
        f"{path}-symbol.json",
        f"{path}-0000.params",
        shapes,
        ["float32"] * len(shapes),
        str(path.with_suffix(".onnx")),
        dynamic=images,
        dynamic_input_shapes=[(None, *x.shape[1:])] if images else None,
    )


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for each in INPUTS:
        write(each, target)
