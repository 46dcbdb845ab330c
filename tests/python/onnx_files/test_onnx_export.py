"""mx.onnx.export_model: what other libraries compute from the files is what the networks compute here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _run import onnx, onnxruntime, run

import mxlite as mx
from mxlite.gluon import nn, rnn

RANDOM = np.random.RandomState(3)


def written(net: Any, path: Path, *arrays: np.ndarray, types: Any = np.float32, **given: Any) -> str:
    """A hybridized network as a file of ONNX, after a call with these inputs."""
    net.hybridize()
    net(*[mx.nd.array(each, dtype=each.dtype) for each in arrays])
    net.export(str(path / "net"))
    shapes = [each.shape for each in arrays]
    files = (str(path / "net-symbol.json"), str(path / "net-0000.params"))
    return mx.onnx.export_model(*files, shapes, types, str(path / "net.onnx"), **given)


def check(net: Any, path: Path, *arrays: np.ndarray, types: Any = np.float32, tolerance: float = 1e-5) -> None:
    """Holds the file's outputs, and those of the file read here, against the network's."""
    file = written(net, path, *arrays, types=types)
    inputs = [mx.nd.array(each, dtype=each.dtype) for each in arrays]
    made = net(*inputs)
    expected = [each.asnumpy() for each in (made if isinstance(made, (list, tuple)) else [made])]
    back = mx.onnx.import_to_gluon(file)(*inputs)
    for others in (run(file, *arrays), [each.asnumpy() for each in (back if isinstance(back, list) else [back])]):
        assert len(others) == len(expected)
        for one, other in zip(expected, others):
            np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance)


def data(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype("float32")


#: The others differ by more of the same; onnx's own evaluator, where onnxruntime is not installed, is slow.
ZOO = ["resnet18_v2", "mobilenetv2_0.25", "squeezenet1.1"] + [
    pytest.param(name, marks=pytest.mark.whole)
    for name in (
        "resnet18_v1", "resnet50_v1", "resnet50_v2", "mobilenet0.25", "squeezenet1.0", "densenet121", "inceptionv3",
        "alexnet", "vgg11", "vgg11_bn",
    )
]  # fmt: skip


@pytest.mark.parametrize("name", ZOO)
def test_networks_of_the_zoo(name: str, tmp_path: Path) -> None:
    mx.random.seed(5)
    net = mx.gluon.model_zoo.vision.get_model(name, classes=10)
    net.initialize(mx.init.Xavier(magnitude=2.5))
    size = 299 if name == "inceptionv3" else 64 if "net0" in name or "netv2" in name else 224
    check(net, tmp_path, data(1, 3, size, size))


class Steps(mx.gluon.HybridBlock):
    """A cell unrolled over a few steps."""

    def __init__(self, cell: Any) -> None:
        super().__init__()
        self.cell = cell

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        outputs, _ = self.cell.unroll(4, x, layout="NTC", merge_outputs=True)
        return outputs


@pytest.mark.parametrize("kind", ["RNNCell", "LSTMCell", "GRUCell"])
def test_cells(kind: str, tmp_path: Path) -> None:
    net = Steps(getattr(rnn, kind)(5, input_size=3))
    net.initialize(mx.init.Xavier())
    check(net, tmp_path, data(2, 4, 3))


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_fused_layers(kind: str, layers: int, bidirectional: bool, tmp_path: Path) -> None:
    net = nn.HybridSequential()
    given = {"activation": "tanh"} if kind == "RNN" else {}
    net.add(getattr(rnn, kind)(6, layers, bidirectional=bidirectional, input_size=3, **given))
    net.initialize(mx.init.Uniform(0.5))
    check(net, tmp_path, data(5, 2, 3))


#: For what onnx's own evaluator lacks, or has otherwise than ONNX says.
alone = pytest.mark.skipif(onnxruntime is None, reason="onnxruntime is not installed, and onnx's evaluator lacks it")


@alone
def test_fused_layers_of_relu(tmp_path: Path) -> None:
    net = nn.HybridSequential()
    net.add(rnn.RNN(6, 2, input_size=3))
    net.initialize(mx.init.Uniform(0.5))
    check(net, tmp_path, data(5, 2, 3))


def test_a_layer_and_its_states(tmp_path: Path) -> None:
    net = rnn.LSTM(6, input_size=3)
    net.initialize(mx.init.Uniform(0.5))
    net.hybridize()
    states = [data(1, 2, 6), data(1, 2, 6)]
    made, ends = net(mx.nd.array(data(5, 2, 3)), [mx.nd.array(each) for each in states])
    net.export(str(tmp_path / "net"))
    files = (str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0000.params"))
    file = mx.onnx.export_model(*files, [(5, 2, 3), (1, 2, 6), (1, 2, 6)], np.float32, str(tmp_path / "net.onnx"))
    x = data(5, 2, 3)
    made, ends = net(mx.nd.array(x), [mx.nd.array(each) for each in states])
    for one, other in zip([made, *ends], run(file, x, *states)):
        np.testing.assert_allclose(other, one.asnumpy(), rtol=1e-5, atol=1e-5)


class Attention(mx.gluon.HybridBlock):
    """A layer of a transformer, with words and places."""

    def __init__(self, units: int, heads: int, length: int) -> None:
        super().__init__()
        self._heads, self._size, self._length = heads, units // heads, length
        self.words, self.places = nn.Embedding(11, units), nn.Embedding(length, units)
        self.qkv = nn.Dense(3 * units, flatten=False)
        self.out = nn.Dense(units, flatten=False)
        self.norm, self.norm2 = nn.LayerNorm(), nn.LayerNorm()
        self.up, self.gelu, self.down = nn.Dense(2 * units, flatten=False), nn.GELU(), nn.Dense(units, flatten=False)
        self.drop = nn.Dropout(0.1)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        places = F.contrib.arange_like(x, axis=1)
        x = F.broadcast_add(self.words(x), F.expand_dims(self.places(places), axis=0))
        parts = F.split(self.qkv(x), num_outputs=3, axis=2)
        q, k, v = (
            F.reshape(F.transpose(F.reshape(each, (0, 0, self._heads, -1)), (0, 2, 1, 3)), (-3, 0, 0)) for each in parts
        )
        scores = F.batch_dot(q, k, transpose_b=True) / self._size**0.5
        mixed = F.batch_dot(self.drop(F.softmax(scores, axis=-1)), v)
        mixed = F.transpose(F.reshape(mixed, (-4, -1, self._heads, 0, 0)), (0, 2, 1, 3))
        x = self.norm(x + self.out(F.reshape(mixed, (0, 0, -3))))
        return self.norm2(x + self.down(self.gelu(self.up(x))))


def test_transformers(tmp_path: Path) -> None:
    net = Attention(8, 2, 6)
    net.initialize(mx.init.Xavier())
    check(net, tmp_path, RANDOM.randint(0, 11, (3, 6)).astype("float32"))


class Mixed(mx.gluon.HybridBlock):
    """Operators that no network above has."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        parts = F.split(x, num_outputs=2, axis=1)
        turned = F.swapaxes(parts[0], 1, 2)
        top = F.topk(x, axis=1, k=2, ret_typ="value")
        chosen = F.where(parts[1] > 0.2, parts[1], F.sqrt(F.abs(parts[0])))
        picked = F.pick(x, F.argmax(x, axis=1), axis=1)
        sliced = F.slice(x, begin=(None, 3, None), end=(None, None, -1), step=(1, -1, 1))
        lengths = F.norm(x, axis=2, keepdims=True)
        first = [turned * 2 - 1, top, chosen, picked, sliced, lengths, F.clip(x, -0.5, 0.5), F.log_softmax(x, axis=1)]
        second = [F.tile(x, (1, 2, 1)), F.repeat(x, 2, axis=1), F.stack(*parts, axis=1), F.one_hot(picked > 0, 2)]
        third = [F.reverse(x, axis=2), F.broadcast_maximum(x, F.mean(x, axis=1, keepdims=True)), F.smooth_l1(x)]
        fourth = [F.slice_like(x, parts[0], axes=(1,)), F.L2Normalization(x, mode="channel")]
        fifth = [F.round(x * 5), F.cbrt(x), F.SequenceLast(x)]
        return [*first, *second, *third, *fourth, *fifth, F.SequenceMask(F.swapaxes(x, 0, 1))]


def test_other_operators(tmp_path: Path) -> None:
    check(Mixed(), tmp_path, data(2, 4, 5))


@mx.use_np
class OfNumpy(mx.gluon.HybridBlock):
    """Functions of mx.np and mx.npx."""

    def __init__(self) -> None:
        super().__init__()
        self.dense, self.norm = nn.Dense(4, flatten=False), nn.BatchNorm(axis=1)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        x = F.npx.relu(self.norm(self.dense(x))) - 0.25
        y = F.np.concatenate([x * 2 + x / (x * x + 1) - x**2, F.np.tanh(x)], axis=1)
        flags = F.np.where(y > 0.1, y, F.np.sqrt(F.np.abs(y)))
        spread = (y - y.mean(axis=1, keepdims=True)) / (F.np.std(y, axis=1, keepdims=True) + 1)
        moved = F.np.moveaxis(y, 0, 2), F.np.roll(y, 1, axis=1), F.np.vstack([x, y[:, :3]]), F.np.var(y)
        return [flags, spread, *moved, F.np.around(y * 7), F.np.mod(y, 0.3), F.np.matmul(x, F.np.swapaxes(x, 1, 2))]


@mx.use_np
def test_networks_of_numpy(tmp_path: Path) -> None:
    net = OfNumpy()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    x = data(2, 3, 5)
    expected = [each.asnumpy() for each in net(mx.np.array(x))]
    net.export(str(tmp_path / "net"))
    files = (str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0000.params"))
    for one, other in zip(
        expected, run(mx.onnx.export_model(*files, [x.shape], np.float32, str(tmp_path / "net.onnx")), x)
    ):
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-5)


class Boxes(mx.gluon.HybridBlock):
    """Operators of boxes and of sequences."""

    def hybrid_forward(self, F: Any, x: Any, anchors: Any, lengths: Any) -> Any:  # noqa: N803
        decoded = [F.contrib.box_decode(x, anchors, 0.1, 0.2, 0.3, 0.4, 1.5, form) for form in ("center", "corner")]
        turned = F.SequenceReverse(x, lengths, use_sequence_length=True)
        rois = F.concat(F.zeros((2, 1)), F.reshape(F.slice(anchors, begin=(0, 0, 0), end=(1, 2, 4)), (2, 4)), dim=1)
        aligned = F.contrib.ROIAlign(F.reshape(x, (1, 3, 4, 4)), rois * 2, (2, 2), 1.0, 2)
        return [*decoded, turned, F.SequenceReverse(x), aligned]


def test_boxes_and_sequences(tmp_path: Path) -> None:
    anchors = np.sort(RANDOM.rand(1, 4, 4), -1).astype("float32")
    check(Boxes(), tmp_path, data(3, 4, 4), anchors, np.array([1, 3, 2, 3], "float32"))


@alone
def test_random_numbers_have_their_distributions(tmp_path: Path) -> None:
    x = mx.sym.var("data")
    made = [
        mx.sym.random.uniform(2, 5, shape=(4000,)), mx.sym.random.normal(3, 2, shape=(4000,)),
        mx.sym.random.uniform_like(x, low=-1, high=1), mx.sym.random.multinomial(mx.sym.softmax(x), 4000, False),
    ]  # fmt: skip
    file = mx.onnx.export_model(mx.sym.Group(made), {}, [(2, 3)], np.float32, str(tmp_path / "a.onnx"))
    values = data(2, 3)
    uniform, normal, like, drawn = run(file, values)
    assert 2 <= uniform.min() < 2.1 and 4.9 < uniform.max() <= 5 and abs(uniform.mean() - 3.5) < 0.1
    assert abs(normal.mean() - 3) < 0.2 and abs(normal.std() - 2) < 0.2
    assert like.shape == (2, 3) and np.abs(like).max() <= 1
    wish = np.exp(values) / np.exp(values).sum(1, keepdims=True)
    np.testing.assert_allclose([np.bincount(row, minlength=3) / 4000 for row in drawn.astype(int)], wish, atol=0.05)


def test_layers_of_other_kinds(tmp_path: Path) -> None:
    net = nn.HybridSequential()
    net.add(nn.Conv2DTranspose(4, 3, 2, 1, 1), nn.PReLU(), nn.GroupNorm(2), nn.InstanceNorm(), nn.SELU(), nn.ELU(0.5))
    net.add(
        nn.AvgPool2D(3, 2, 1, ceil_mode=True, count_include_pad=False), nn.MaxPool2D(3, 2, ceil_mode=True), nn.Swish()
    )
    net.add(
        nn.Conv2D(4, 3, padding=(1, 2), dilation=2, groups=2), nn.LeakyReLU(0.1), nn.GlobalMaxPool2D(), nn.Flatten()
    )
    net.initialize(mx.init.Xavier())
    check(net, tmp_path, data(2, 3, 9, 8))


def test_open_sizes_take_other_batches(tmp_path: Path) -> None:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, activation="relu"), nn.BatchNorm(), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(3))
    net.initialize(mx.init.Xavier())
    file = written(net, tmp_path, data(1, 2, 8, 8), dynamic=True, dynamic_input_shapes=[("N", 2, None, "W")])
    sizes = onnx.load(file).graph.input[0].type.tensor_type.shape.dim
    assert [each.dim_param or each.dim_value for each in sizes] == ["N", 2, 0, "W"]
    x = data(5, 2, 9, 7)
    np.testing.assert_allclose(run(file, x)[0], net(mx.nd.array(x)).asnumpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        mx.onnx.import_to_gluon(file)(mx.nd.array(x)).asnumpy(), run(file, x)[0], rtol=1e-5, atol=1e-6
    )


def test_symbols_and_dictionaries_of_parameters(tmp_path: Path) -> None:
    x = mx.sym.var("data")
    symbol = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=3, name="fc"), name="softmax")
    held = {"arg:fc_weight": mx.nd.array(data(3, 4)), "fc_bias": mx.nd.array(data(3))}
    file = mx.contrib.onnx.export_model(symbol, held, [(2, 4)], np.float32, str(tmp_path / "a.onnx"))
    values = data(2, 4)
    wish = mx.nd.softmax(mx.nd.FullyConnected(mx.nd.array(values), *held.values(), num_hidden=3)).asnumpy()
    np.testing.assert_allclose(run(file, values)[0], wish, rtol=1e-5)
    assert [each.name for each in onnx.load(file).graph.output] == ["softmax"]


def test_parameters_beside_the_file(tmp_path: Path) -> None:
    net = nn.Dense(3, in_units=4)
    net.initialize()
    file = written(net, tmp_path, data(2, 4), large_model=True)
    assert (tmp_path / "net.onnx.data").stat().st_size == 4 * (12 + 3)
    x = data(2, 4)
    np.testing.assert_allclose(run(file, x)[0], net(mx.nd.array(x)).asnumpy(), rtol=1e-5)
    np.testing.assert_allclose(mx.onnx.import_to_gluon(file)(mx.nd.array(x)).asnumpy(), run(file, x)[0], rtol=1e-5)


def test_what_onnx_has_not_is_one_line(tmp_path: Path) -> None:
    symbol = mx.sym.ctc_loss(mx.sym.var("data"), mx.sym.var("letters"), name="lost")
    with pytest.raises(mx.MXNetError, match=r"node 'lost' \(CTCLoss\) cannot be written as ONNX: \w+"):
        mx.onnx.export_model(symbol, {}, [(3, 2, 4), (2, 2)], np.float32, str(tmp_path / "a.onnx"))
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="2 shapes for the inputs data, letters|1 shapes for the inputs data, letters"):
        mx.onnx.export_model(symbol, {}, [(3, 2, 4)], np.float32, str(tmp_path / "a.onnx"))
    with pytest.raises(ValueError, match="there is no file none-symbol.json"):
        mx.onnx.export_model("none-symbol.json", "none.params", [(1, 3)])


def test_names_of_operators() -> None:
    names = mx.onnx.get_operator_support()
    assert {"Convolution", "RNN", "LayerNorm"} <= set(names) and len(names) > 149
