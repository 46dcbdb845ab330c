"""Hybridized blocks: what has no counterpart in 1.9.1, or cannot be compared with it."""

from __future__ import annotations

import copy
import ctypes
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, gluon, nd
from mxlite.gluon import nn


def network(**flags) -> nn.HybridSequential:
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.Dense(3))
    net.initialize(mx.init.Normal(0.3))
    net(nd.ones((1, 2, 5, 5)))
    net.hybridize(**flags)
    return net


def images(rows: int = 2) -> nd.NDArray:
    return nd.array(np.random.RandomState(rows).randn(rows, 2, 5, 5))


class Scaled(gluon.HybridBlock):
    """Of the module, so that it can be pickled."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = self.params.get("scale", shape=(1,), init="ones")

    def hybrid_forward(self, F, x, scale):  # noqa: N803
        return F.broadcast_mul(x, scale) + 1


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_the_bits_are_those_of_plain_blocks(training: bool, keeps: bool) -> None:
    """But for predictions with static_alloc, whose normalisations are in the kernels (test_fuse.py)."""
    net = network()
    found = []
    for active in (True, False):
        net.hybridize(active, static_alloc=keeps)
        for each in net.collect_params(".*running.*").values():
            each.set_data(nd.ones(each.shape) * 0.5)
        with autograd.record(train_mode=training):
            out = net(images())
        out.backward()
        grads = [each.grad().asnumpy() for each in net.collect_params().values() if each.grad_req != "null"]
        states = [each.data().asnumpy() for each in net.collect_params(".*running.*").values()]
        found.append([out.asnumpy(), *grads, *states, net(images(3)).asnumpy()])
    if keeps:
        np.testing.assert_allclose(found[0].pop(), found[1].pop(), rtol=1e-5, atol=1e-6)
    for graph, plain in zip(*found):
        np.testing.assert_array_equal(graph, plain)


def test_gradients_of_gradients() -> None:
    class Cube(gluon.HybridBlock):
        def hybrid_forward(self, F, x):  # noqa: N803
            return F.sum(x * x * x)

    block = Cube()
    block.hybridize()
    x = nd.array([1, 2, 3])
    x.attach_grad()
    with autograd.record():
        first = autograd.grad(block(x), [x], create_graph=True)[0]
        total = first.sum()
    total.backward()
    assert x.grad.asnumpy().tolist() == [6, 12, 18]


def test_gradients_of_gradients_through_loops() -> None:
    class Power(gluon.HybridBlock):
        """x to the power of 3 for each row, by a loop in a loop over `ones`."""

        def hybrid_forward(self, F, x, ones):  # noqa: N803
            def power(one, made):
                return F.contrib.foreach(lambda part, product: (part, product * x), one, made)

            def small(product, count):
                return count < 2

            _, product = F.contrib.foreach(power, ones, F.ones_like(x))
            step = F.contrib.while_loop(small, lambda p, c: (None, [p * x, c + 1]), [product, F.zeros(1)], 5)[1][0]
            return F.contrib.cond(F.sum(x) < 0, lambda: x, lambda: step)

    block = Power()
    block.hybridize()
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        first = autograd.grad(block(x, nd.ones((1, 1))), [x], create_graph=True)[0]
        second = autograd.grad(first.sum(), [x], create_graph=True)[0]
        total = second.sum()
    total.backward()
    assert first.asnumpy().tolist() == [3, 12]
    assert second.asnumpy().tolist() == [6, 12]
    assert x.grad.asnumpy().tolist() == [6, 6]


@pytest.mark.parametrize("training", [True, False])
def test_eight_threads_call_one_block(training: bool) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(16, activation="relu", in_units=8), nn.Dense(4, in_units=16))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    data = [nd.array(np.random.RandomState(number).randn(1 + number % 3, 8)) for number in range(8)]
    found: list = [None] * 8

    def run(number: int) -> None:
        for _ in range(30):
            if training:
                with autograd.record():
                    out = net(data[number])
            else:
                out = net(data[number])
            found[number] = out.asnumpy()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    net.hybridize(False)
    for given, out in zip(data, found):
        np.testing.assert_array_equal(out, net(given).asnumpy())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda block: pickle.loads(pickle.dumps(block))])
def test_copies_have_a_graph_of_their_own(copied) -> None:
    block = Scaled()
    block.initialize()
    block.hybridize()
    x = nd.array([1, 2])
    block(x)
    other = copied(block)
    other.scale.set_data(nd.array([3]))
    assert block(x).asnumpy().tolist() == [2, 3]
    assert other(x).asnumpy().tolist() == [4, 7]


def test_what_a_hook_raises_is_raised() -> None:
    net = nn.Dense(2, in_units=2)
    net.initialize()
    net.hybridize()

    def hook(name: bytes, operator: bytes, handle: int) -> None:
        nd.NDArray(ctypes.c_void_p(handle))
        raise KeyError(name.decode())

    net.register_op_hook(hook)
    with pytest.raises(KeyError, match="dense.*fwd_output"):
        net(nd.ones((1, 2)))


def test_blocks_that_read_shapes_run_plainly_until_they_are_hybridized() -> None:
    class Flat(gluon.HybridBlock):
        def hybrid_forward(self, F, x):  # noqa: N803
            return F.reshape(x, (x.shape[0], -1))

    block = Flat()
    assert block(nd.ones((2, 3, 4))).shape == (2, 12)
    block.hybridize()
    with pytest.raises(AttributeError, match="shape"):
        block(nd.ones((2, 3, 4)))
    block.hybridize(False)
    assert block(nd.ones((2, 3, 4))).shape == (2, 12)


def test_a_parameter_that_is_computed_is_asked_at_each_call() -> None:
    class Doubled(gluon.Parameter):
        def data(self, ctx=None):
            return super().data(ctx) * 2

    class Net(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self._params._params = {"w": Doubled("w", shape=(1,), init="ones")}
            self.w = self._params._params["w"]

        def hybrid_forward(self, F, x, w):  # noqa: N803
            return x * w

    net = Net()
    net.initialize()
    net.hybridize()
    assert [net(nd.array([3])).asscalar() for _ in range(2)] == [6, 6]
    net.w.set_data(nd.array([2]))
    assert net(nd.array([3])).asscalar() == 12


def test_an_own_infer_shape_is_asked() -> None:
    """Where the graph does not tell a parameter's shape, as `broadcast_mul` in 1.9.1."""

    class Net(nn.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.weight = self.params.get("weight", shape=(0,), init="ones", allow_deferred_init=True)

        def infer_shape(self, *args) -> None:
            self.weight.shape = (1,)

        def hybrid_forward(self, F, *inputs, weight):  # noqa: N803
            return F.broadcast_mul(sum(inputs), weight)

    for count in (1, 2):
        net = Net()
        net.initialize()
        net.hybridize()
        assert net(*[nd.ones((2, 3))] * count).asnumpy().sum() == 6 * count


def test_infer_shape_gives_no_values() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.Dense(2))
    net.hybridize()
    net.infer_shape(nd.ones((1, 5)))
    assert net[0].weight.shape == (3, 5)
    with pytest.raises(RuntimeError, match="initialize"):
        net[0].weight.data()


def test_a_graph_runs_after_a_fork() -> None:
    import os

    net = network()
    expected = net(images()).asnumpy()
    child = os.fork()
    if child == 0:
        same = np.array_equal(net(images()).asnumpy(), expected)
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_exported_graph_is_the_one_that_ran(tmp_path: Path) -> None:
    net = network()
    expected = net(images())
    path = str(tmp_path / "net")
    net.export(path)
    other = gluon.SymbolBlock.imports(f"{path}-symbol.json", ["data"], f"{path}-0000.params")
    other.hybridize()
    np.testing.assert_array_equal(other(images()).asnumpy(), expected.asnumpy())


def test_programs_that_ask_a_block_for_its_graph() -> None:
    class Two(gluon.HybridBlock):
        def hybrid_forward(self, F, a, b):
            return a + b, [a * b, b]

    x = nd.ones((2,))
    net = Two(prefix="two_")
    net(x, x)
    assert net._cached_graph == ()
    inputs, graph = net._get_graph(x, x)
    expected = ["two__plus0_output", "two__mul0_output", "data1"]  # 1.9.1's
    assert [each.name for each in inputs] == ["data0", "data1"] and graph.list_outputs() == expected
    net.hybridize()
    assert net._cached_graph == ()
    net(x, x)
    assert net._cached_graph[1].list_outputs() == net._get_graph()[1].list_outputs() == expected
    net._clear_cached_op()  # as GluonCV's detectors do in set_nms and reset_class
    assert net._cached_graph == () and net(x, x)[1][0].shape == (2,)
    data = mx.sym.Variable("data")
    net = gluon.SymbolBlock(mx.sym.exp(data, name="e"), data)
    assert net._cached_graph[1].name == "e" and [each.name for each in net._cached_graph[0]] == ["data"]


def test_inputs_of_another_form() -> None:
    """The error of a SymbolBlock says which form is which; blocks of Python code take any (test_hybrid_forms.py)."""
    x = nd.ones((2,))
    symbols = [mx.sym.var(name) for name in "ab"]
    imported = gluon.SymbolBlock(symbols[0] + symbols[1], symbols)
    with pytest.raises(ValueError, match=r"its inputs are nested as \[0, 0\] .*, got \[0, \[0\]\]$"):
        imported(x, [x])


class Made(gluon.HybridBlock):
    """A hybridized block of a function."""

    def __init__(self, function, **flags) -> None:
        super().__init__()
        self.function = function
        self.hybridize(**flags)

    def hybrid_forward(self, F, *inputs):  # noqa: N803
        return self.function(F, *inputs)


@pytest.mark.filterwarnings("ignore:The 0-th input")
def test_arrays_that_depend_on_nothing() -> None:
    assert Made(lambda F, x: F.ones((2,)))(nd.ones((3,))).asnumpy().tolist() == [1, 1]


def test_outputs_have_memory_of_their_own() -> None:
    x = nd.ones((2,))
    same, again, twice = Made(lambda F, a: [a, a, a * 2])(x)
    same[:] = 7
    assert [each.asnumpy().tolist() for each in (x, again, twice)] == [[1, 1], [1, 1], [2, 2]]


def test_names_that_hooks_get() -> None:
    seen = []

    def hook(name: bytes, operator: bytes, handle: int) -> None:
        nd.NDArray(ctypes.c_void_p(handle))
        seen.append((name, operator))

    block = Made(lambda F, x: F.Activation(F.concat(x, x, name="join"), act_type="relu", name="act"))
    block.register_op_hook(hook, monitor_all=True)
    block(nd.ones((1, 2)))
    names = [name.partition(b"_")[2] for name, _ in seen]
    assert names == [b"join_arg0", b"join_arg1", b"join_output", b"act_input0", b"act_output"]
    assert [operator for _, operator in seen[2:4]] == [b"Concat", b"Activation"]


def test_back_ends_are_ignored() -> None:
    assert Made(lambda F, x: x + 1, backend="none")(nd.ones((1,))).asscalar() == 2


def test_arrays_in_other_memory_of_the_host() -> None:
    net = nn.Dense(2, in_units=3)
    net.initialize()
    x = nd.array([[1.0, 2, 3]])
    expected = net(x).asnumpy().tolist()
    net.hybridize(static_alloc=True)
    for kind in ("cpu_pinned", "cpu_shared"):
        y = net(x.as_in_context(mx.Context(kind, 0)))
        assert y.context == mx.cpu()
        assert y.asnumpy().tolist() == expected


def convolutions() -> tuple[nn.HybridSequential, nd.NDArray]:
    """Of every way in which kernels read weights: by Winograd, by taps, with stride, depthwise; and their input."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(64, 3, padding=1, in_channels=64), nn.Conv2D(32, 3, strides=2, in_channels=64))
    net.add(nn.Conv2D(32, 3, groups=32, in_channels=32), nn.Conv2D(8, 1, in_channels=32))
    net.initialize(mx.init.Normal(0.1))
    return net, nd.array(np.random.RandomState(0).randn(4, 64, 28, 28))


_EDITS = {
    "set_data": lambda weight, net: net[0].weight.set_data(nd.array(np.random.RandomState(1).randn(*weight.shape))),
    "in place": lambda weight, net: weight.__imul__(2),
    "a part": lambda weight, net: weight.__setitem__(3, 1),
    "out": lambda weight, net: nd.sgd_update(weight, nd.ones(weight.shape), lr=0.1, out=weight),
    "cast and back": lambda weight, net: (net.cast("float64"), net.cast("float32")),
    "initialize": lambda weight, net: net.initialize(mx.init.Normal(0.3), force_reinit=True),
}


@pytest.mark.parametrize("edit", _EDITS.values(), ids=_EDITS)
def test_packed_weights_follow_the_weights(edit) -> None:
    net, data = convolutions()
    net.hybridize(static_alloc=True)
    before = [net(data).asnumpy() for _ in range(3)]
    edit(net[0].weight.data(), net)
    found = [net(data).asnumpy() for _ in range(3)]
    net.hybridize(False)
    for each in found:
        np.testing.assert_array_equal(each, net(data).asnumpy())
    assert np.array_equal(found[0], before[0]) == (edit is _EDITS["cast and back"])


def test_weights_whose_bytes_are_shared_are_not_kept() -> None:
    net, data = convolutions()
    net.hybridize(static_alloc=True)
    shared = np.from_dlpack(net[0].weight.data())
    before = net(data).asnumpy()
    address = net[0].weight.data()
    ctypes.memset(shared.ctypes.data, 0, shared.nbytes)
    assert not np.array_equal(net(data).asnumpy(), before)
    del address


def test_batches_of_several_sizes_share_packed_weights() -> None:
    net, data = convolutions()
    plain = [net(data[:rows]).asnumpy() for rows in (1, 4, 2)]
    net.hybridize(static_alloc=True)
    for _ in range(2):
        for rows, expected in zip((1, 4, 2), plain):
            np.testing.assert_array_equal(net(data[:rows]).asnumpy(), expected)


def test_two_calls_before_a_backward() -> None:
    net = nn.Dense(2, in_units=3)
    net.initialize(mx.init.One())
    net.hybridize(static_alloc=True, static_shape=True)
    with autograd.record():
        first, second = net(nd.ones((1, 3))), net(nd.ones((1, 3)) * 2)
        total = first + second
    total.backward()
    assert first.asnumpy().tolist() == [[3, 3]] and second.asnumpy().tolist() == [[6, 6]]
    assert net.weight.grad().asnumpy().tolist() == [[3, 3, 3]] * 2


def test_threads_with_other_shapes_share_a_graph_that_makes_arrays() -> None:
    net = gluon.rnn.LSTM(4, input_size=3)
    outer = nn.HybridSequential()
    outer.add(net)  # its states are made by the graph, in the shape of the batch
    outer.initialize()
    data = [nd.array(np.random.RandomState(number).randn(5, 1 + number % 3, 3)) for number in range(6)]
    plain = [outer(each).asnumpy() for each in data]
    outer.hybridize(static_alloc=True)
    outer(data[0])
    wrong = []

    def run(number: int) -> None:
        for _ in range(30):
            if not np.array_equal(outer(data[number]).asnumpy(), plain[number]):
                wrong.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []


def test_shapes_of_a_plain_block_whose_child_is_hybridized() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.Dense(2))
    net[0].hybridize()
    net.infer_shape(nd.ones((1, 5)))
    assert [each.weight.shape for each in net] == [(3, 5), (2, 3)]


def test_symbols_among_arrays_are_refused_at_each_call() -> None:
    block = Made(lambda F, a, b: a + b)
    for given in (mx.sym.var("b"), nd.ones((2,)), mx.sym.var("b")):
        if isinstance(given, nd.NDArray):
            assert block(nd.ones((2,)), given).asnumpy().tolist() == [2, 2]
            continue
        with pytest.raises(ValueError, match="some arguments are NDArrays and some are Symbols"):
            block(nd.ones((2,)), given)


def test_a_block_of_a_program_without_a_name() -> None:
    """Functions that `exec` makes without `__name__` have no module."""
    scope = {"Block": gluon.HybridBlock}
    exec("class Twice(Block):\n    def hybrid_forward(self, F, x):\n        return x * 2", scope)
    block = scope["Twice"]()
    block.hybridize()
    assert block.hybrid_forward.__module__ is None
    assert block(nd.ones((2,))).asnumpy().tolist() == [2, 2]
