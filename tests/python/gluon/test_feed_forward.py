"""mx.model.FeedForward, mx.executor_manager and the steps of training with a store. The numbers are 1.9.1's."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import executor_manager as manager
from mxlite import nd
from mxlite.model import FeedForward

pytestmark = pytest.mark.filterwarnings("ignore:mx.model.FeedForward is deprecated:DeprecationWarning")

_RANDOM = np.random.RandomState(0)
X = _RANDOM.randn(10, 4).astype("float32")
Y = (X.sum(1) > 0).astype("float32")
WEIGHTS = {"fc1_weight": _RANDOM.randn(5, 4), "fc2_weight": _RANDOM.randn(2, 5)}


def network() -> mx.sym.Symbol:
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=5, name="fc1")
    net = mx.sym.Activation(mx.sym.BatchNorm(net, name="bn"), act_type="tanh")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=2, name="fc2"), name="softmax")


def parameters() -> dict[str, nd.NDArray]:
    found = {name: nd.array(each) for name, each in WEIGHTS.items()}
    return {**found, "bn_gamma": nd.ones((5,)), **{f"{name}_b{end}": nd.zeros((size,)) for name, end, size in ENDS}}


ENDS = (("fc1", "ias", 5), ("bn", "eta", 5), ("fc2", "ias", 2))


def batches() -> mx.io.NDArrayIter:
    return mx.io.NDArrayIter(X, Y, batch_size=4)


#: Arguments, the first elements of bn_beta, fc2_weight and bn_moving_mean after two epochs, and the accuracy.
RUNS = [
    ({}, [0.0036, -0.022], [-0.661, -0.3471], [-0.3969, -0.3201], 0.25),
    (
        {"optimizer": "sgd", "learning_rate": 0.1, "momentum": 0.9, "wd": 0.01},
        [0.0714, -0.4887],
        [-0.4336, -0.0517],
        [-0.3852, -0.4202],
        0.9167,
    ),
    ({"epoch_size": 2}, [0.0027, -0.0156], [-0.6665, -0.353], [-0.2357, -0.2244], 0.0833),
    ({"epoch_size": 4}, [0.0046, -0.029], [-0.659, -0.3443], [-0.5629, -0.4264], 0.25),
    (
        {"ctx": [mx.cpu(0), mx.cpu(1)], "learning_rate": 0.1},
        [0.0159, -0.0906],
        [-0.5974, -0.2815],
        [-0.3975, -0.314],
        0.5,
    ),
]


@pytest.mark.parametrize(("arguments", "beta", "weight", "mean", "accuracy"), RUNS)
def test_training_gives_the_numbers_of_1_9_1(
    arguments: dict, beta: list, weight: list, mean: list, accuracy: float
) -> None:
    states = {"bn_moving_mean": nd.zeros((5,)), "bn_moving_var": nd.ones((5,))}
    model = FeedForward(network(), num_epoch=2, arg_params=parameters(), aux_params=states, **arguments)
    calls: list[tuple] = []
    model.fit(
        batches(),
        eval_data=batches(),
        batch_end_callback=lambda each: calls.append(("batch", each.epoch, each.nbatch)),
        epoch_end_callback=[lambda *each: calls.append(("epoch", each[0], len(each)))],
        eval_batch_end_callback=lambda each: calls.append(("eval", each.epoch, each.nbatch)),
    )
    for name, expected in (("bn_beta", beta), ("fc2_weight", weight)):
        assert np.allclose(model.arg_params[name].asnumpy().ravel()[:2], expected, atol=6e-5)
    assert np.allclose(model.aux_params["bn_moving_mean"].asnumpy()[:2], mean, atol=6e-5)
    size = arguments.get("epoch_size", 3)
    expected = [
        [("batch", epoch, i + 1) for i in range(size)] + [("epoch", epoch, 4)] + [("eval", epoch, i) for i in range(3)]
        for epoch in range(2)
    ]
    assert calls == expected[0] + expected[1]
    assert model.score(batches()) == pytest.approx(accuracy, abs=6e-5)


def test_prediction(tmp_path: Path) -> None:
    model = FeedForward.create(network(), X, Y, num_epoch=1, learning_rate=0.1)
    whole = model.predict(X)
    assert whole.shape == (10, 2) and np.allclose(whole.sum(1), 1)
    assert np.allclose(model.predict(batches()), whole, atol=1e-6) and model.predict(batches(), 2).shape == (8, 2)
    outputs, data, labels = model.predict(batches(), return_data=True)
    assert np.array_equal(data, X) and np.array_equal(labels, Y) and np.allclose(outputs, whole, atol=1e-6)
    seen: list[int] = []
    model.score(batches(), num_batch=2, batch_end_callback=lambda each: seen.append(each.nbatch))
    assert seen == [0, 1] and len(model.score(batches(), ["acc", "ce"])) == 2
    model.save(str(tmp_path / "net"))
    read = FeedForward.load(str(tmp_path / "net"), 1)
    assert read.begin_epoch == 1 and np.allclose(read.predict(nd.array(X)), whole, atol=1e-6)
    assert np.allclose(pickle.loads(pickle.dumps(model)).predict(X), whole, atol=1e-6)
    model.allow_extra_params = True
    extra = {**model.arg_params, "junk": nd.ones((1,))}
    kept = FeedForward(network(), arg_params=extra, aux_params=model.aux_params, allow_extra_params=True)
    assert "junk" not in kept.arg_params and np.allclose(kept.predict(X), whole, atol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda net: net.fit(X), ValueError, "labels"),
        (lambda net: net.fit("x"), TypeError, "got str"),
        (lambda net: net.fit(X, Y[:3]), ValueError, r"10 rows, got shape \(3,\)"),
        (lambda net: net.fit(X, X), ValueError, r"got shape \(10, 4\)"),
        (lambda net: net.fit(X, Y, eval_data=5), TypeError, "got int"),
        (lambda net: net.fit(X, Y, eval_data=batches()), AssertionError, "10 rows is expected, given 4"),
        (lambda net: net.fit(X, Y, work_load_list=[1, 2]), AssertionError, r"list of 1 numbers .* got \[1, 2\]"),
        (lambda net: net.predict(X), AssertionError, "no parameters"),
        (lambda net: FeedForward(network()).fit(X, Y), AssertionError, "num_epoch"),
        (lambda net: FeedForward(network()).save("x"), AssertionError, "num_epoch"),
    ],
)
def test_mistakes_say_so(call: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        call(FeedForward(network(), num_epoch=1))


class Buckets(mx.io.DataIter):
    """Batches of two lengths, each its own bucket."""

    default_bucket_key = 6

    def __init__(self, count: int = 4) -> None:
        super().__init__(2)
        self.count, self.number = count, 0
        self.provide_data, self.provide_label = self.described(6)

    @staticmethod
    def described(length: int) -> tuple[list, list]:
        return [mx.io.DataDesc("data", (2, length))], [mx.io.DataDesc("softmax_label", (2,))]

    def reset(self) -> None:
        self.number = 0

    def next(self) -> mx.io.DataBatch:
        if self.number == self.count:
            raise StopIteration
        self.number += 1
        length = (6, 3)[self.number % 2]
        data, label = self.described(length)
        return mx.io.DataBatch(
            [nd.array([[1] * length, [2] * length])], [nd.array([0, 1])], 0, None, length, data, label
        )


def test_buckets_train_one_set_of_parameters() -> None:
    def of_length(length: int) -> mx.sym.Symbol:
        mean = mx.sym.mean(mx.sym.var("data"), axis=1, keepdims=True)
        return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mean, num_hidden=2, name="fc"), name="softmax")

    given = {"initializer": mx.init.Zero(), "learning_rate": 0.5, "num_epoch": 10}
    buckets = FeedForward(of_length, **given)
    buckets.fit(Buckets())
    means = mx.io.NDArrayIter(np.tile([[1.0], [2.0]], (4, 1)), np.tile([0.0, 1.0], 4), batch_size=2)
    alike = FeedForward(of_length(1), **given)
    alike.fit(means)
    assert np.allclose(buckets.arg_params["fc_weight"].asnumpy(), alike.arg_params["fc_weight"].asnumpy(), atol=1e-6)
    assert abs(buckets.arg_params["fc_weight"].asnumpy()).max() > 0.1
    with pytest.raises(ValueError, match="gives no batch"):
        FeedForward(of_length, epoch_size=3, **given).fit(Buckets(0))


# ---- mx.executor_manager ----


@pytest.mark.parametrize(
    ("size", "loads", "ends"),
    [
        (10, [1, 1, 1], [3, 6, 10]),
        (10, [1, 2], [3, 10]),
        (7, [1, 1], [4, 7]),
        (5, [2, 2], [2, 5]),
        (11, [1, 1, 1, 1], [3, 6, 9, 11]),
        (13, [5, 1, 1], [9, 11, 13]),
        (10, [0.3, 0.7], [3, 10]),
    ],
)
def test_shares_of_a_batch(size: int, loads: list, ends: list) -> None:
    found = manager._split_input_slice(size, loads)
    assert [each.stop for each in found] == ends and [each.start for each in found] == [0, *ends[:-1]]


def test_a_share_has_rows() -> None:
    for size, loads in ((2, [1, 1, 1]), (4, [1, 100])):
        with pytest.raises(ValueError, match=f"a batch of {size} rows cannot be divided"):
            manager._split_input_slice(size, loads)


def test_names_that_come_twice() -> None:
    with pytest.raises(ValueError, match="arguments with one name: a;"):
        manager._check_arguments(mx.sym.var("a") + mx.sym.var("a"))
    assert manager._check_arguments(network()) is None


def managed(**more: Any) -> Any:
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    net = mx.sym.SoftmaxOutput(net, name="softmax")
    data = mx.io.NDArrayIter(np.arange(24).reshape(6, 4).astype("f"), np.array([0, 1, 2, 0, 1, 2.0]), 4)
    names = net.list_arguments(), ["fc_weight", "fc_bias"], []
    made = manager.DataParallelExecutorManager(net, [mx.cpu(0), mx.cpu(1)], data, *names, **more)
    made.set_params({"fc_weight": nd.array(np.linspace(-1, 1, 12).reshape(3, 4)), "fc_bias": nd.array([1, 0, -1])}, {})
    return made, data.next()


def test_executors_share_a_batch_by_work_loads() -> None:
    made, batch = managed(work_load_list=[1, 3])
    made.load_data_batch(batch)
    made.forward(is_train=True)
    made.backward()
    grads = [each.asnumpy() for each in made.grad_arrays[0]]
    assert np.allclose(grads[0][0], [0, -0.9988, -1.9977, -2.9965], atol=1e-4)
    assert np.allclose(grads[1][0], [-12, -13, -14, -15], atol=1e-4)
    measure = mx.metric.create("acc")
    made.update_metric(measure, batch.label)
    assert measure.get() == ("accuracy", 0.25)
    found = {"fc_weight": nd.zeros((3, 4)), "fc_bias": nd.zeros((3,))}
    made.copy_to(found, {})
    assert found["fc_bias"].asnumpy().tolist() == [1, 0, -1]
    assert [rows for rows, _ in made.execgrp.label_arrays[0]] == [slice(0, 1), slice(1, 4)] == made.slices


def test_bound_executors_share_parameters() -> None:
    net, shapes = network(), {"data": (2, 4), "softmax_label": (2,)}
    names = [name for name in net.list_arguments() if name not in shapes]
    first = manager._bind_exec(net, mx.cpu(), shapes, names, need_grad=True)
    assert {name for name, each in first.grad_dict.items() if each is not None} == set(names)
    second = manager._bind_exec(net, mx.cpu(), {**shapes, "data": (1, 4), "softmax_label": (1,)}, names, False, first)
    first.arg_dict["fc2_bias"][:] = 5
    first.aux_dict["bn_moving_var"][:] = 7
    assert second.arg_dict["fc2_bias"].asnumpy().tolist() == [5, 5] and second.arg_dict["data"].shape == (1, 4)
    assert second.aux_dict["bn_moving_var"].asnumpy()[0] == 7 and not any(second.grad_dict.values())
    some = manager._bind_exec(net, mx.cpu(), shapes, names, need_grad={"fc2_bias"})
    assert {name for name, each in some.grad_dict.items() if each is not None} == {"fc2_bias"}
    with pytest.raises(AssertionError, match="fc1_weight is shared"):
        manager._bind_exec(net, mx.cpu(), {"data": (2, 3)}, names, False, first)


# ---- steps with a store ----


def test_updates_without_a_store_and_with_one() -> None:
    from mxlite.model import _create_kvstore, _initialize_kvstore, _update_params, _update_params_on_kvstore

    def arrays(*values: float) -> list:
        return [[nd.full((2,), each, ctx=mx.cpu(i)) for i in range(2)] for each in values]

    seen: list = []
    grads = [*arrays(1, 2), [None, None]]
    _update_params(arrays(5, 6, 7), grads, lambda *each: seen.append([len(x) for x in each] + each[0]), 2)
    assert seen == [[2, 2, 2, 0, 2], [2, 2, 2, 1, 3]]
    names = ["a", "b", "c"]
    for on_store in (False, True):
        store, _ = _create_kvstore(mx.kv.create("local"), 2, {})
        grads = [*arrays(1, 2), [None, None]]
        held = {name: each[0].copy() for name, each in zip(names, arrays(5, 6, 7))}
        weights, step = arrays(0, 0, 0) if on_store else arrays(5, 6, 7), mx.optimizer.SGD(learning_rate=1.0)
        if on_store:
            store.set_optimizer(step)
        _initialize_kvstore(store, weights, held, names, on_store)
        if on_store:
            _update_params_on_kvstore(weights, grads, store, names)
        else:
            _update_params(weights, grads, mx.optimizer.get_updater(step), 2, store, names)
        assert [[each.asnumpy()[0] for each in pair] for pair in weights] == [[3, 3], [2, 2], [7, 7]]
