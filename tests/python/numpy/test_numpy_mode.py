"""Blocks over arrays of mx.np: what 1.9.1 refuses of them answers as with arrays of mx.nd; classes, boundaries.

What 1.9.1 answers is in tests/python/gluon/gluon_cases/numpy_arrays, beside its answers.
"""

from __future__ import annotations

import copy
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import mxlite as mx
from mxlite import gluon, npx
from mxlite import np as mnp
from mxlite.gluon import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _modes import compare, flat, legacy, numbers  # noqa: E402

CPU = mx.cpu()


@pytest.fixture(autouse=True)
def numpy_mode() -> Iterator[None]:
    npx.set_np()
    yield
    npx.reset_np()


# ---- blocks that 1.9.1 has for mx.nd alone ----

LAYERS = {
    "nn.SELU()": (2, 3),
    "nn.GroupNorm(2)": (2, 4, 3),
    "nn.InstanceNorm()": (2, 3, 4),
    "nn.InstanceNorm(axis=2)": (2, 3, 4),
    "nn.BatchNormReLU()": (2, 3, 4),
    "nn.ReflectionPad2D(1)": (1, 2, 3, 3),
    "nn.Conv3DTranspose(2, 2)": (1, 2, 3, 3, 3),
    "nn.HybridLambda('tanh')": (2, 3),
    "nn.Lambda('tanh')": (2, 3),
    "nn.Dropout(0.5)": (6, 7),
    "contrib.nn.SyncBatchNorm()": (2, 3, 4),
    "contrib.nn.Identity()": (2, 3),
    "contrib.nn.PixelShuffle1D(2)": (1, 4, 3),
    "contrib.nn.PixelShuffle2D((2, 3))": (1, 12, 2, 2),
    "contrib.nn.PixelShuffle3D(2)": (1, 8, 2, 2, 2),
    "contrib.cnn.DeformableConvolution(4, num_deformable_group=1)": (1, 3, 5, 5),
    "contrib.cnn.ModulatedDeformableConvolution(4, num_deformable_group=1)": (1, 3, 5, 5),
}


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("text", LAYERS)
def test_layer(text: str, hybrid: bool) -> None:
    compare(lambda: eval(text, {"nn": nn, "contrib": gluon.contrib}), numbers(*LAYERS[text]), hybrid=hybrid)


def concurrent(kind: Any) -> Any:
    net = kind(axis=1)
    net.add(nn.Dense(2), nn.Activation("relu"))
    return net


@pytest.mark.parametrize("kind", [gluon.contrib.nn.Concurrent, gluon.contrib.nn.HybridConcurrent])
def test_concurrent(kind: Any) -> None:
    compare(lambda: concurrent(kind), numbers(2, 3))


def test_sparse_embedding() -> None:
    """Its weight and its gradients are arrays of mx.nd, since those of mx.np are dense."""
    x = numpy.array([[0, 4], [2, 2]], "float32")
    for numpy_mode in (False, True):
        layer = gluon.contrib.nn.SparseEmbedding(5, 3)
        layer.initialize(mx.init.One())
        trainer = gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 1.0})
        with mx.util.np_array(numpy_mode), mx.util.np_shape(numpy_mode):
            inputs = mx.np.array(x) if numpy_mode else mx.nd.array(x)
            with mx.autograd.record():
                result = layer(inputs)
                total = result.sum()
            total.backward()
            trainer.step(1)
            assert type(result) is type(inputs) and layer.weight.grad().stype == "row_sparse"
            assert layer.weight._reduce().asnumpy()[:, 0].tolist() == [0, 1, -1, 1, 0]


LOSSES = {
    "KLDivLoss()": (numbers(4, 3, seed=1, low=0.1), None),
    "KLDivLoss(from_logits=False, axis=1)": (numbers(4, 3, seed=1, low=0.1), None),
    "HuberLoss(rho=0.3)": (numbers(4, 3, seed=1), None),
    "HingeLoss()": (numpy.sign(numbers(4, 3, seed=1)), None),
    "SquaredHingeLoss(margin=0.5, weight=2.0)": (numpy.sign(numbers(4, 3, seed=1)), None),
    "LogisticLoss()": (numpy.sign(numbers(4, 3, seed=1)), None),
    "LogisticLoss(label_format='binary')": (numpy.round(numbers(4, 3, seed=1, low=0)), None),
    "PoissonNLLLoss()": (numbers(4, 3, seed=1, low=1, high=4), None),
    "PoissonNLLLoss(from_logits=False, compute_full=True)": (numbers(4, 3, seed=1, low=1, high=4), None),
    "TripletLoss()": (numbers(4, 3, seed=1), numbers(4, 3, seed=2)),
    "SDMLLoss()": (numbers(4, 3, seed=1),),
    "SoftmaxCELoss()": (numpy.array([0, 2, 1, 0], "float32"), numbers(4, 1, seed=2)),
    "L2Loss(batch_axis=1)": (numbers(4, 3, seed=1), numbers(4, 3, seed=2)),
}


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("text", LOSSES)
def test_loss(text: str, hybrid: bool) -> None:
    hybrid = hybrid and not text.startswith("SDML")  # it reads a shape, which symbols have not
    inputs = numbers(4, 3, low=0.1), *(each for each in LOSSES[text] if each is not None)
    compare(lambda: eval(text, vars(gluon.loss).copy()), *inputs, hybrid=hybrid)


def test_losses_of_other_shapes() -> None:
    compare(gluon.loss.CTCLoss, numbers(2, 6, 4), numpy.array([[1, 2], [0, 2]], "float32"))
    compare(lambda: gluon.loss.CTCLoss("TNC", "TN"), numbers(6, 2, 4), numpy.array([[1, 0], [2, 2]], "float32"))
    compare(
        gluon.loss.CosineEmbeddingLoss, numbers(4, 3), numbers(4, 3, seed=1), numpy.array([1, -1, 1, -1], "float32")
    )


# ---- recurrent cells ----

CELLS = {
    "rnn.RNNCell(4)": "",
    "rnn.RNNCell(4, activation='softrelu')": "",
    "rnn.LSTMCell(4)": "",
    "rnn.GRUCell(4)": "",
    "rnn.ResidualCell(rnn.GRUCell(3))": "",
    "rnn.ZoneoutCell(rnn.RNNCell(4), 0.3, 0.2)": "",
    "rnn.DropoutCell(0.5)": "",
    "rnn.BidirectionalCell(rnn.LSTMCell(4), rnn.LSTMCell(4))": "unroll alone",
    "contrib.rnn.Conv1DRNNCell((3, 6), 2, 3, 3, 1)": "(3, 6)",
    "contrib.rnn.Conv2DLSTMCell((3, 4, 4), 2, 3, 3, 1)": "(3, 4, 4)",
    "contrib.rnn.Conv1DGRUCell((3, 6), 2, 3, 3, 1)": "(3, 6)",
    "contrib.rnn.LSTMPCell(4, 3)": "",
    "contrib.rnn.VariationalDropoutCell(rnn.LSTMCell(4), 0.3, 0.2, 0.1)": "",
}


class Unrolled(gluon.Block):
    """A cell along a sequence, as a block."""

    def __init__(self, text: str, merge: Any = True, lengths: bool = False) -> None:
        super().__init__()
        self.cell = eval(text, {"rnn": gluon.rnn, "contrib": gluon.contrib})
        self.merge, self.lengths = merge, lengths

    def forward(self, x: Any) -> Any:
        count = x.shape[1]
        if self.lengths:
            lengths = mx.nd.array([1, count])
            lengths = lengths.as_np_ndarray() if isinstance(x, mnp.ndarray) else lengths
            return self.cell.unroll(count, x, merge_outputs=self.merge, valid_length=lengths)
        return self.cell.unroll(count, x, merge_outputs=self.merge)


@pytest.mark.parametrize("merge", [True, False, None])
@pytest.mark.parametrize("text", CELLS)
def test_cell(text: str, merge: Any) -> None:
    more = eval(CELLS[text]) if CELLS[text].startswith("(") else (3,)
    compare(lambda: Unrolled(text, merge), numbers(2, 4, *more))


@pytest.mark.parametrize("text", ["rnn.LSTMCell(4)", "rnn.BidirectionalCell(rnn.GRUCell(4), rnn.GRUCell(4))"])
def test_cell_with_lengths(text: str) -> None:
    compare(lambda: Unrolled(text, True, True), numbers(2, 4, 3))


def test_cells_one_behind_the_other() -> None:
    class Stack(gluon.Block):
        def __init__(self, kind: Any) -> None:
            super().__init__()
            self.cell = kind()
            self.cell.add(gluon.rnn.LSTMCell(4))
            self.cell.add(gluon.rnn.DropoutCell(0.1))
            self.cell.add(gluon.rnn.GRUCell(3))

        def forward(self, x: Any) -> Any:
            return self.cell.unroll(4, x, merge_outputs=True)

    for kind in (gluon.rnn.SequentialRNNCell, gluon.rnn.HybridSequentialRNNCell):
        compare(lambda kind=kind: Stack(kind), numbers(2, 4, 3))


def test_a_step_of_a_cell_and_its_first_states() -> None:
    cell = gluon.rnn.LSTMCell(4)
    cell.initialize()
    states = cell.begin_state(2)
    assert [type(each) for each in states] == [mnp.ndarray] * 2
    out, states = cell(mnp.ones((2, 3)), states)
    assert all(type(each) is mnp.ndarray for each in (out, *states))
    cell.hybridize()
    again, _ = cell(mnp.ones((2, 3)), cell.begin_state(2))
    numpy.testing.assert_allclose(out.asnumpy(), again.asnumpy(), rtol=1e-6)
    with legacy():
        assert type(cell.begin_state(2)[0]) is mx.nd.NDArray
    outer = gluon.contrib.rnn.rnn_cell.dynamic_unroll(cell, mnp.ones((2, 5, 3)), cell.begin_state(2), 0.1, 0.1, "NTC")
    assert all(type(each) is mnp.ndarray for each in flat(outer))


def test_unfused_layer() -> None:
    layer = gluon.rnn.LSTM(4, 2, bidirectional=True, input_size=3)
    layer.initialize()
    x = mnp.array(numbers(5, 2, 3))
    stack = layer._unfuse()
    found = stack.unroll(5, x, layout="TNC", merge_outputs=True)[0]
    numpy.testing.assert_allclose(found.asnumpy(), layer(x).asnumpy(), rtol=1e-5, atol=1e-6)
    assert type(found) is mnp.ndarray


# ---- networks ----

NETWORKS = ["resnet18_v1", "resnet18_v2", "mobilenet0.25", "mobilenetv2_0.25", "vgg11_bn"]


@pytest.mark.parametrize("name", NETWORKS)
def test_network_of_the_zoo(name: str) -> None:
    net = gluon.model_zoo.vision.get_model(name, classes=3)
    net.initialize(mx.init.Xavier())
    x = numbers(1, 3, 64, 64)
    out = net(mnp.array(x))
    assert type(out) is mnp.ndarray and out.shape == (1, 3)
    same = net(mx.nd.array(x))
    assert type(same) is mx.nd.NDArray
    numpy.testing.assert_array_equal(out.asnumpy(), same.asnumpy())
    net.hybridize()
    numpy.testing.assert_allclose(net(mnp.array(x)).asnumpy(), same.asnumpy(), rtol=1e-4, atol=1e-5)


def test_the_class_of_an_answer_is_that_of_the_inputs() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3, in_units=2), nn.LayerNorm(in_channels=3))
    net.initialize()
    x = numbers(2, 2)
    for hybrid in (False, True):
        net.hybridize(hybrid)
        for on in (True, False, True):
            with mx.util.np_array(on):
                one, other = net(mnp.array(x)), net(mx.nd.array(x))
            assert type(one) is mnp.ndarray and type(other) is mx.nd.NDArray
            numpy.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


class Exponential(gluon.HybridBlock):
    """A block of the user's, written for one class of arrays."""

    def __init__(self, numpys: bool) -> None:
        super().__init__()
        self.numpys = numpys
        with self.name_scope():
            self.scale = self.params.get("scale", shape=(2,), init="ones")

    def hybrid_forward(self, F: Any, x: Any, scale: Any) -> Any:  # noqa: N803
        return (F.np if self.numpys else F).exp(x) * scale


@pytest.mark.parametrize("in_mode", [True, False])
@pytest.mark.parametrize("numpys", [True, False])
def test_a_graph_is_of_the_class_of_the_inputs(in_mode: bool, numpys: bool, tmp_path: Path) -> None:
    """Whatever the mode; one block of the package has a graph for each class."""
    with mx.util.np_array(in_mode):
        x = mx.nd.array([1.0, 2.0])
        x = x.as_np_ndarray() if numpys else x
        block, dense = Exponential(numpys), nn.Dense(3)
        for each in (block, dense):
            each.initialize()
            each.hybridize()
        for _ in range(2):
            made = block(x)
            assert type(made) is type(x)
            numpy.testing.assert_allclose(made.asnumpy(), numpy.exp([1, 2]), rtol=1e-6)
        rows = mx.nd.ones((2, 4))
        for given in (rows, rows.as_np_ndarray(), rows):
            assert type(dense(given)) is type(given)
        block.export(str(tmp_path / "block"))
        assert ("_npi_exp" in (tmp_path / "block-symbol.json").read_text()) == numpys


def test_values_that_a_parameter_gets_reach_both_classes() -> None:
    dense = nn.Dense(2, in_units=2, use_bias=False)
    dense.initialize()
    x = mnp.ones((1, 2))
    dense(x)
    first = dense.weight.data()
    dense.weight.set_data(mnp.ones((2, 2)))
    assert dense.weight.data() is first and first.sum() == 4
    dense.weight.data()[:] = 3
    assert dense(x).tolist() == [[6, 6]]
    dense.weight._data[0] = mx.nd.ones((2, 2))
    assert dense(x).tolist() == [[2, 2]] and dense.weight.data().sum() == 4
    dense.weight.zero_grad()
    with legacy():
        assert type(dense.weight.data()) is mx.nd.NDArray and dense.weight.data().sum().item() == 4
        assert dense.weight.data() is dense.weight._data[0]
    dense.cast("float64")
    assert dense(x.astype("float64")).dtype == numpy.float64 and dense.weight.grad().dtype == numpy.float64


def test_copies_of_a_parameter_share_nothing_with_it() -> None:
    dense = nn.Dense(2, in_units=2, use_bias=False)
    dense.initialize()
    dense.weight.data()[:] = 1
    for again in (copy.deepcopy(dense), pickle.loads(pickle.dumps(dense))):
        again.weight.data()[:] = 3
        assert again(mnp.ones((1, 2))).tolist() == [[6, 6]] and dense.weight.data().sum() == 4
    assert type(pickle.loads(pickle.dumps(dense.weight.data()))) is mnp.ndarray
    assert type(copy.copy(dense.weight.data())) is mnp.ndarray


def test_parameters_made_in_one_mode_serve_the_other() -> None:
    with legacy():
        dense, constant = nn.Dense(2), gluon.Constant("c", [[1.0, 2.0]])
        dense.initialize()
        constant.initialize()
        dense(mx.nd.ones((1, 3)))
    assert type(dense(mnp.ones((1, 3)))) is mnp.ndarray
    assert type(dense.weight.data()) is type(dense.weight.grad()) is type(constant.data()) is mnp.ndarray


def test_functions_of_layers_are_not_those_of_users() -> None:
    class Legacy(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
            return F.exp(x)

    with pytest.raises(TypeError, match="as_nd_ndarray"):
        Legacy()(mnp.ones(3))
    assert mx.nd.np is mnp and mx.nd.npx is npx and mx.nd.numpy is mnp and mx.nd.numpy_extension is npx


def test_blocks_in_files(tmp_path: Path) -> None:
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 3), nn.BatchNorm(), nn.Dense(3))
    net.initialize()
    x = mnp.array(numbers(2, 1, 5, 5))
    expected = net(x)
    net.hybridize()
    net(x)
    net.export(str(tmp_path / "net"))
    block = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), "data", str(tmp_path / "net-0000.params"))
    for given in (x, x.as_nd_ndarray()):
        out = block(given)
        assert type(out) is type(given)
        numpy.testing.assert_allclose(out.asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)
    net.save(str(tmp_path / "whole"))
    net.load(str(tmp_path / "whole"))
    net.collect_params().save(str(tmp_path / "params"))
    net.collect_params().load(str(tmp_path / "params"))
    again = pickle.loads(pickle.dumps(net))
    numpy.testing.assert_allclose(again(x).asnumpy(), expected.asnumpy(), rtol=1e-5, atol=1e-6)


def test_summary(capsys: pytest.CaptureFixture) -> None:
    net = nn.Dense(2)
    net.initialize()
    net.summary(mnp.ones((2, 3)))
    assert "(2, 2)" in capsys.readouterr().out


def test_estimator() -> None:
    net = nn.Dense(1)
    net.initialize()
    data = gluon.data.DataLoader(gluon.data.ArrayDataset(mnp.ones((8, 3)), mnp.ones((8, 1))), batch_size=4)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    estimator = gluon.contrib.estimator.Estimator(net, gluon.loss.L2Loss(), trainer=trainer, context=CPU)
    estimator.logger.setLevel("ERROR")
    estimator.fit(data, epochs=2)
    assert type(net.weight.grad()) is mnp.ndarray
