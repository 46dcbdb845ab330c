"""The package over arrays of mx.np: what 1.9.1 refuses of them answers as with arrays of mx.nd; classes, boundaries.

What 1.9.1 answers is in tests/python/gluon/gluon_cases/numpy_arrays, beside its answers.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import mxlite as mx
from mxlite import autograd, gluon, npx
from mxlite import np as mnp
from mxlite.gluon import nn

CPU = mx.cpu()


@pytest.fixture(autouse=True)
def numpy_mode() -> Iterator[None]:
    npx.set_np()
    yield
    npx.reset_np()


@contextlib.contextmanager
def legacy() -> Iterator[None]:
    """A with-block out of NumPy's arrays, with their shapes, so that answers have the same."""
    with mx.util.np_array(False):
        yield


def numbers(*shape: int, seed: int = 0, low: float = -1, high: float = 1) -> numpy.ndarray:
    return numpy.random.RandomState(seed).uniform(low, high, shape).astype("float32")


def flat(value: Any) -> list:
    if isinstance(value, (list, tuple)):
        return [each for part in value for each in flat(part)]
    return [value]


def answers(make: Any, inputs: list, kind: type, hybrid: bool = False) -> list:
    """What a block of `make()` gives for inputs of a class, and the gradients of its parameters and inputs."""
    with mx.name.NameManager():
        block = make()
    arrays = [each if each is None else mx.nd.array(each, dtype=each.dtype) for each in inputs]
    if kind is mnp.ndarray:
        arrays = [each if each is None else each.as_np_ndarray() for each in arrays]
    block.initialize()
    mx.random.seed(1)
    block(*arrays)
    for number, param in enumerate(block.collect_params().values()):
        positive = param.name.endswith("_var")
        param.set_data(mx.nd.array(numbers(*param.shape, seed=number, low=0.5 if positive else -0.5)))
    if hybrid:
        block.hybridize()
    floating = [each for each in arrays if each is not None and numpy.dtype(each.dtype).kind == "f"]
    for each in floating:
        each.attach_grad()
    mx.random.seed(1)
    with autograd.record():
        out = flat(block(*arrays))
        heads = [each * each for each in out]
    autograd.backward(heads)
    params = [each.grad() for each in block.collect_params().values() if each.grad_req != "null"]
    found = [*out, *(each.grad for each in floating), *params]
    assert all(type(each) is kind for each in found), [type(each) for each in found]
    return [each.asnumpy() for each in found]


def compare(make: Any, *inputs: Any, hybrid: bool = False) -> None:
    """A block answers to arrays of mx.np as to those of mx.nd, in their class."""
    theirs = answers(make, list(inputs), mnp.ndarray, hybrid)
    with legacy():
        mine = answers(make, list(inputs), mx.nd.NDArray, hybrid)
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs):
        assert one.dtype == other.dtype
        numpy.testing.assert_allclose(one, other.reshape(one.shape), rtol=1e-6, atol=1e-7)


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
    compare(lambda: gluon.contrib.nn.SparseEmbedding(5, 3), numpy.array([[0, 4], [2, 2]], "float32"))


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


# ---- autograd ----


class Doubled(autograd.Function):
    """Twice the input; notes the classes that it sees."""

    def __init__(self, seen: list) -> None:
        super().__init__()
        self.seen = seen

    def forward(self, x: Any) -> Any:
        y = x * 2
        self.save_for_backward(x, y)
        self.seen.append(type(x))
        return y

    def backward(self, dy: Any) -> Any:
        self.seen += [type(dy), *map(type, self.saved_tensors)]
        return dy * 2


def test_functions_of_the_user() -> None:
    for array, kind in ((mnp.array([1.0, 2]), mnp.ndarray), (mx.nd.array([1.0, 2]), mx.nd.NDArray)):
        seen: list = []
        array.attach_grad()
        with autograd.record():
            out = Doubled(seen)(array)
        out.backward()
        assert seen == [kind] * 4 and type(array.grad) is kind and array.grad.tolist() == [2, 2]


def test_functions_with_static_methods() -> None:
    seen = []

    class Tripled(autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            seen.extend([type(dy), type(ctx.saved_tensors[0])])
            return dy * ctx.factor, None

    x = mnp.array([1.0, 2])
    x.attach_grad()
    with autograd.record():
        y = Tripled.apply(x, 3.0)
    y.backward()
    assert seen == [mnp.ndarray] * 2 and x.grad.tolist() == [3, 3]


def test_hooks_and_kept_gradients() -> None:
    seen = []
    x = mnp.array([1.0, 2])
    x.attach_grad()
    with autograd.record():
        y = mnp.exp(x)
        z = (y * y).sum()
    y.retain_grad()
    y.register_hook(lambda grad: seen.append(type(grad)))
    node = y.grad_fn
    node.register_hook(lambda *grads: seen.append(type(grads[0][0])))
    z.backward()
    assert type(y.grad) is mnp.ndarray and seen[0] is mnp.ndarray and len(seen) == 2


def test_gradients_of_gradients() -> None:
    x = mnp.array([1.0, 2])
    x.attach_grad()
    with autograd.record():
        y = (x**3).sum()
        (first,) = autograd.grad(y, [x], create_graph=True)
        second = (first * first).sum()
    second.backward()
    assert type(first) is mnp.ndarray
    numpy.testing.assert_allclose(x.grad.asnumpy(), 36 * x.asnumpy() ** 3, rtol=1e-5)


def test_tools_of_autograd() -> None:
    x, v = mnp.array([1.0, 2]), mnp.array([1.0, 0])
    functional = autograd.functional

    def total(x: Any) -> Any:
        return mnp.exp(x).sum()

    found = [functional.jacobian(mnp.exp, x), functional.hessian(total, x), *functional.vjp(mnp.exp, x, v)]
    found += [*functional.jvp(mnp.exp, x, v), *functional.hvp(total, x, v), *functional.vhp(total, x, v)]
    assert {type(each) for each in found} == {mnp.ndarray}
    numpy.testing.assert_allclose(found[0].asnumpy(), numpy.diag(numpy.exp([1, 2])), rtol=1e-6)
    legacy = functional.jacobian(mx.nd.exp, x.as_nd_ndarray())
    assert type(legacy) is mx.nd.NDArray and legacy.shape == (2, 2)
    precise = x.astype("float64")
    precise.attach_grad()
    assert autograd.gradcheck(lambda x: mnp.exp(x) * x, [precise])
    assert autograd.gradgradcheck(lambda x: mnp.exp(x) * x, [precise])
    x.attach_grad()
    with autograd.record():
        y = autograd.checkpoint(lambda x: mnp.exp(mnp.sin(x)), x)
    y.backward()
    numpy.testing.assert_allclose(x.grad.asnumpy(), numpy.exp(numpy.sin([1, 2])) * numpy.cos([1, 2]), rtol=1e-5)
    seen = []
    with autograd.saved_tensors_hooks(lambda array: (seen.append(type(array)), array)[1], lambda array: array):
        with autograd.record():
            y = mnp.exp(x) * x
    y.backward()
    assert set(seen) == {mnp.ndarray}


def test_control_flow() -> None:
    x = mnp.array([0.5, 1, 2])
    x.attach_grad()
    with autograd.record():
        out, state = npx.foreach(lambda each, state: (each * state, state + each), x, mnp.array(1.0))
        loss = out.sum() + state
    loss.backward()
    assert type(out) is type(state) is mnp.ndarray and state.shape == () and out.tolist() == [0.5, 1.5, 5]
    assert x.grad.tolist() == [5, 4.5, 3.5]
    counted, (last,) = npx.while_loop(lambda i: i < 3, lambda i: (i * 2, [i + 1]), [mnp.array(0.0)], max_iterations=4)
    assert type(counted) is type(last) is mnp.ndarray and counted.tolist() == [0, 2, 4, 0] and last == 3
    assert npx.cond(mnp.array(0.0), lambda: mnp.zeros(1), lambda: mnp.ones(1)) == 1
    block = nn.HybridLambda(lambda F, x: F.contrib.foreach(lambda each, state: (mnp.exp(each), state), x, [])[0])
    assert type(block(x)) is mnp.ndarray
    with pytest.raises(ValueError, match="2 elements"):
        npx.cond(mnp.ones(2), lambda: 1, lambda: 2)


# ---- what steps with arrays of mx.np ----


def test_norms_are_clipped() -> None:
    arrays = [mnp.ones((3,)), mnp.ones((2, 2)) * 2]
    expected = numpy.sqrt(3 + 16)
    assert gluon.utils.clip_global_norm(arrays, 1.0) == pytest.approx(expected)
    assert float(mnp.sqrt(sum((each**2).sum() for each in arrays))) == pytest.approx(1)
    assert type(gluon.utils.clip_global_norm(arrays, 1.0, check_isfinite=False)) is mnp.ndarray


@pytest.mark.parametrize("text", ["Accuracy()", "RMSE()", "Perplexity(None)", "Loss()", "PearsonCorrelation()"])
def test_metric(text: str) -> None:
    label, pred = numpy.array([0, 1, 1], "float32"), numpy.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]], "float32")
    if text in ("RMSE()", "PearsonCorrelation()"):
        pred = pred[:, 0]
    mine, theirs = (eval(f"metric.{text}", {"metric": mx.metric}) for _ in range(2))
    mine.update(mnp.array(label), mnp.array(pred))
    theirs.update([mx.nd.array(label)], [mx.nd.array(pred)])
    assert mine.get() == theirs.get()


def test_custom_operators_see_arrays_of_the_mode() -> None:
    seen = []

    class Twice(mx.operator.CustomOp):
        def forward(self, is_train: bool, req: list, in_data: list, out_data: list, aux: list) -> None:
            seen.extend(map(type, (in_data[0], out_data[0])))
            self.assign(out_data[0], req[0], in_data[0] * 2)

        def backward(self, req: list, out_grad: list, in_data: list, out_data: list, in_grad: list, aux: list) -> None:
            seen.extend(map(type, (in_data[0], out_grad[0], in_grad[0])))
            self.assign(in_grad[0], req[0], out_grad[0] * 2)

    @mx.operator.register("numpy_mode_twice")
    class Prop(mx.operator.CustomOpProp):
        def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> Any:
            return Twice()

    x = mnp.array([1.0, 2])
    x.attach_grad()
    with autograd.record():
        y = mx.nd.Custom(x.as_nd_ndarray(), op_type="numpy_mode_twice").as_np_ndarray()
        z = y.sum()
    z.backward()
    assert y.tolist() == [2, 4] and x.grad.tolist() == [2, 2] and seen == [mnp.ndarray] * 5
    with pytest.raises(TypeError, match="as_nd_ndarray"):
        mx.nd.Custom(x, op_type="numpy_mode_twice")


def test_loss_scaling_sees_overflows() -> None:
    scaler = mx.contrib.amp.loss_scaler.LossScaler()
    param = gluon.Parameter("w", shape=(2,))
    param.initialize()
    assert not scaler.has_overflow([param])
    param.grad()[:] = mnp.array([1.0, mnp.inf])
    assert scaler.has_overflow([param])


def test_vectors_of_words(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("a 1 2\nb 3 4\n")
    embedding = mx.contrib.text.embedding.CustomEmbedding(str(tmp_path / "vectors.txt"))
    assert type(embedding.idx_to_vec) is mnp.ndarray
    assert embedding.get_vecs_by_tokens("b").tolist() == [3, 4]
    embedding.update_token_vectors("b", mnp.array([5.0, 6]))
    assert type(embedding.get_vecs_by_tokens(["a", "b"])) is mnp.ndarray
    assert embedding.get_vecs_by_tokens(["a", "b"]).tolist() == [[1, 2], [5, 6]]


# ---- data ----


def test_iterator_of_arrays() -> None:
    batches = mx.io.NDArrayIter(mnp.ones((5, 2)), {"label": mnp.zeros(5)}, 2)
    assert [each.data[0].shape for each in batches] == [(2, 2)] * 3


class Rows(gluon.data.Dataset):
    """Samples that are made in the workers."""

    def __len__(self) -> int:
        return 4

    def __getitem__(self, number: int) -> Any:
        return mnp.ones((2,)) * number, type(gluon.data.dataloader.default_batchify_fn([1, 2])).__name__ == "ndarray"


@pytest.mark.parametrize(("workers", "threads"), [(0, False), (2, False), (2, True)])
def test_workers_are_in_the_loaders_mode(workers: int, threads: bool) -> None:
    loader = gluon.data.DataLoader(Rows(), batch_size=2, num_workers=workers, thread_pool=threads)
    for rows, modes in loader:
        assert type(rows) is type(modes) is mnp.ndarray and modes.all()
    with legacy():
        loader = gluon.data.DataLoader(
            gluon.data.ArrayDataset(numbers(4, 2)), batch_size=2, num_workers=workers, thread_pool=threads
        )
        assert {type(each) for each in loader} == {mx.nd.NDArray}
    loader = gluon.data.DataLoader(
        gluon.data.ArrayDataset(mx.nd.ones((4, 2))), batch_size=2, num_workers=workers, thread_pool=threads
    )
    assert {type(each) for each in loader} == {mx.nd.NDArray}


def test_a_mode_is_the_threads() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append((npx.is_np_array(), npx.is_np_shape())))
    thread.start()
    thread.join()
    assert found == [(False, False)] and npx.is_np_array()


def test_transforms_that_draw() -> None:
    transforms = gluon.data.vision.transforms
    image = mnp.array(numpy.arange(8 * 9 * 3).reshape(8, 9, 3) % 251, dtype="uint8")
    chain = [
        transforms.RandomResizedCrop(4),
        transforms.RandomFlipLeftRight(),
        transforms.RandomFlipTopBottom(),
        transforms.RandomColorJitter(0.1, 0.1, 0.1, 0.1),
        transforms.RandomLighting(0.1),
        transforms.CropResize(0, 0, 4, 4, 6, 1),
        transforms.RandomApply(transforms.CenterCrop(3), 1.0),
        transforms.ToTensor(),
        transforms.Rotate(10),
        transforms.RandomRotation((-5, 5)),
    ]
    whole = image
    for each in chain:
        whole = each(whole)
        assert type(whole) is mnp.ndarray, each
    assert whole.shape == (3, 3, 3)
    assert type(transforms.Compose(chain)(image)) is mnp.ndarray
    assert type(transforms.Compose(chain)(image.as_nd_ndarray())) is mx.nd.NDArray


def test_images(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "one.png"
    Image.fromarray(numpy.arange(8 * 9 * 3).reshape(8, 9, 3).astype("uint8")).save(path)
    image = mx.image.imread(str(path))
    assert type(image) is type(mx.image.imdecode(path.read_bytes())) is mnp.ndarray
    for augment in mx.image.CreateAugmenter((3, 4, 4), True, True, True, brightness=0.1, hue=0.1, pca_noise=0.1):
        image = augment(image)
        assert type(image) is mnp.ndarray
    folder = tmp_path / "images" / "label"
    folder.mkdir(parents=True)
    path.rename(folder / "one.png")
    data = gluon.data.vision.ImageFolderDataset(str(tmp_path / "images"))
    assert type(data[0][0]) is mnp.ndarray
    batches = mx.image.ImageIter(1, (3, 4, 4), path_root=str(folder), imglist=[[0, "one.png"]])
    assert next(batches).data[0].shape == (1, 3, 4, 4)
    detecting = mx.image.CreateDetAugmenter((3, 6, 6), rand_crop=1, rand_mirror=True)
    label = numpy.array([[0, 0.1, 0.1, 0.9, 0.9]], "float32")
    image = mx.np.ones((8, 9, 3))
    for augment in detecting:
        image, label = augment(image, label)
        assert type(image) is mnp.ndarray
