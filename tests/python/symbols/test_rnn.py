"""mx.rnn beside itself, and a checkpoint of 1.9.1. The cases of symbolic_cells.py have it beside 1.9.1."""

from __future__ import annotations

import importlib
import logging
import random
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxlite as mx

FILES = Path(__file__).resolve().parents[2] / "reference" / "files" / "rnn"
MODES = ["rnn_relu", "rnn_tanh", "lstm", "gru"]


def _filled(shape: tuple[int, ...], seed: int) -> mx.nd.NDArray:
    return mx.nd.array(np.random.RandomState(seed).uniform(-1, 1, shape))


def _run(outputs: Any, weights: dict[str, Any], data: mx.nd.NDArray) -> tuple[np.ndarray, dict[str, Any]]:
    """What a network computes, and the gradients of the sum of its outputs' squares."""
    one = outputs.simple_bind(mx.cpu(), data=data.shape)
    one.copy_params_from(weights)
    found = one.forward(is_train=True, data=data)[0]
    one.backward(found * 2)
    return found.asnumpy(), dict(one.grad_dict)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(
    ("layers", "length", "hidden", "layout"), [(1, 1, 1, "TNC"), (3, 4, 3, "NTC"), (2, 3, 2, "TNC")]
)
def test_fused_cells_are_as_those_that_they_stand_for(
    mode: str, both: bool, layers: int, length: int, hidden: int, layout: str
) -> None:
    fused = mx.rnn.FusedRNNCell(hidden, layers, mode, both, prefix="c_")
    loose = fused.unfuse()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        networks = [
            each.unroll(length, mx.sym.var("data"), layout=layout, merge_outputs=True)[0] for each in (fused, loose)
        ]
    data = _filled((2, length, 4) if layout == "NTC" else (length, 2, 4), 1)
    (size,) = networks[0].infer_shape(data=data.shape)[0][1]
    packed = {"c_parameters": _filled((size,), 2)}
    values, gradients = _run(networks[0], packed, data)
    same, others = _run(networks[1], loose.pack_weights(fused.unpack_weights(packed)), data)
    np.testing.assert_allclose(values, same, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gradients["data"].asnumpy(), others.pop("data").asnumpy(), rtol=1e-4, atol=1e-4)
    back = fused.pack_weights(loose.unpack_weights(others))["c_parameters"]
    np.testing.assert_allclose(gradients["c_parameters"].asnumpy(), back.asnumpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["RNNCell", "LSTMCell", "GRUCell"])
def test_cells_are_those_of_gluon(kind: str) -> None:
    """One formula for both: the numbers are the same to the bit."""
    own, theirs = getattr(mx.rnn, kind)(3, prefix="c_"), getattr(mx.gluon.rnn, kind)(3, prefix="c_", input_size=4)
    data = _filled((2, 5, 4), 1)
    weights = {name: _filled(each.shape, i) for i, (name, each) in enumerate(theirs.collect_params().items())}
    theirs.initialize()
    for name, each in theirs.collect_params().items():
        each.set_data(weights[name])
    found, _ = _run(own.unroll(5, mx.sym.var("data"), merge_outputs=True)[0], weights, data)
    want, _ = theirs.unroll(5, data, merge_outputs=True)
    np.testing.assert_array_equal(found, want.asnumpy())


def test_zoneout_leaves_elements_as_they_were() -> None:
    cell = mx.rnn.ZoneoutCell(mx.rnn.RNNCell(200, prefix="c_"), zoneout_outputs=0.5)
    network = cell.unroll(2, mx.sym.var("data"), merge_outputs=True)[0]
    shapes, _, _ = network.infer_shape(data=(1, 2, 3))
    weights = {name: _filled(shape, 3) for name, shape in zip(network.list_arguments()[1:], shapes[1:])}
    one = network.simple_bind(mx.cpu(), data=(1, 2, 3), grad_req="null")
    one.copy_params_from(weights)
    first, second = one.forward(is_train=True, data=mx.nd.ones((1, 2, 3)))[0].asnumpy()[0]
    assert 50 < (first == 0).sum() < 150 and 50 < (second == first).sum() < 150
    assert (one.forward(is_train=False)[0].asnumpy() != 0).all()


def test_a_long_sequence() -> None:
    cell = mx.rnn.LSTMCell(2)
    network = cell.unroll(300, mx.sym.var("data"), layout="TNC")[0][-1]
    weights = {
        name: _filled(shape, i)
        for i, (name, shape) in enumerate(zip(network.list_arguments(), network.infer_shape(data=(300, 1, 2))[0]))
    }
    found, gradients = _run(network, weights, weights.pop("data"))
    assert np.isfinite(found).all() and np.abs(gradients["lstm_h2h_weight"].asnumpy()).sum() > 0


@pytest.mark.parametrize("length", [0, -1])
@pytest.mark.parametrize("cell", [mx.rnn.LSTMCell(2), mx.rnn.BidirectionalCell(mx.rnn.GRUCell(2), mx.rnn.GRUCell(2))])
def test_sequences_without_steps(cell: Any, length: int) -> None:
    with pytest.raises(mx.MXNetError, match=f"num_outputs must be at least 1, got {length}"):
        cell.unroll(length, mx.sym.var("data"))


def test_errors_name_what_is_wrong() -> None:
    cell, fused = mx.rnn.LSTMCell(2, prefix="c_"), mx.rnn.FusedRNNCell(2, prefix="f_")
    for call, kind, message in (
        (lambda: cell.unroll(2, [mx.sym.var("x")]), ValueError, "the sequence has 1 steps, not 2"),
        (lambda: cell.unpack_weights({"x": 1}), KeyError, "there is no weight 'c_i2h_weight' among \\['x'\\]"),
        (
            lambda: cell.unpack_weights({"c_i2h_weight": mx.nd.ones((7, 2)), "c_i2h_bias": mx.nd.ones(8)}),
            mx.MXNetError,
            r"c_i2h_weight has 8 rows, got shape \(7, 2\)",
        ),
        (
            lambda: fused.unpack_weights({"f_parameters": mx.nd.ones(41)}),
            ValueError,
            "1 layers of lstm have 40 weights and 8 more for each feature of the input but one, not 41",
        ),
        (lambda: fused.unpack_weights({"f_parameters": mx.nd.ones((8, 5))}), ValueError, "has one axis"),
        (lambda: fused.pack_weights({}), KeyError, "there is no weight 'f_l0_i2h_i_weight'"),
        (lambda: mx.rnn.FusedRNNCell(2, mode="lstn").unfuse(), KeyError, "mode is one of .*lstm.*, not 'lstn'"),
        (lambda: mx.rnn.ZoneoutCell(fused), mx.MXNetError, r"FusedRNNCell has no single step: unfuse\(\) it"),
        (
            lambda: mx.init.FusedRNN(None, 2, 1, "lstm")._init_weight("w", mx.nd.ones(40)),
            TypeError,
            "neither it nor the model has an initializer",
        ),
    ):
        with pytest.raises(kind, match=message):
            call()


def test_weights_stay_as_they_were_given() -> None:
    cell = mx.rnn.FusedRNNCell(2, prefix="f_")
    given = {"f_parameters": mx.nd.arange(40)}
    unpacked = cell.unpack_weights(given)
    for each in unpacked.values():
        each[:] = -1
    assert given["f_parameters"].asnumpy().tolist() == list(range(40))
    packed = cell.pack_weights(unpacked)
    assert len(unpacked) == 16 and set(packed["f_parameters"].asnumpy()) == {-1}


# ---- sentences ----


def test_sentences_without_a_bucket(caplog: Any, capsys: Any) -> None:
    with caplog.at_level(logging.WARNING):
        mx.rnn.BucketSentenceIter([[1], [1, 2]], 1, [2])
        assert not caplog.records
        mx.rnn.BucketSentenceIter([[1], [1, 2], [1, 2, 3]], 1, [2])
    assert [each.getMessage() for each in caplog.records] == [
        "BucketSentenceIter: left out 1 sentences longer than the largest bucket"
    ]
    assert capsys.readouterr() == ("", "")
    with pytest.raises(ValueError, match=r"none of 1 sentences fits into a bucket, which are \[2\]"):
        mx.rnn.BucketSentenceIter([[1, 2, 3]], 1, [2])


def test_sentences_without_words() -> None:
    source = mx.rnn.BucketSentenceIter([[], [], [3, 4], [5]], 1, invalid_label=0)
    assert source.buckets == [1, 2]
    rows = sorted(batch.data[0].asnumpy().ravel().tolist() for batch in source)
    assert rows == [[0], [0], [3, 4], [5]]


def test_labels_are_the_next_words() -> None:
    random.seed(1)
    source = mx.rnn.BucketSentenceIter([[i, i + 1, i + 2] for i in range(1, 8)], 3, [4], invalid_label=0)
    for batch in source:
        data, label = batch.data[0].asnumpy(), batch.label[0].asnumpy()
        assert data.shape == (3, 4) and (label[:, :2] == data[:, :2] + 1).all() and (label[:, 2:] == 0).all()
    assert source.idx and len(list(source)) == 0


def test_sentences_that_can_be_read_once() -> None:
    source = mx.rnn.BucketSentenceIter(iter([[1, 2], [3]]), 1)
    assert source.buckets == [1, 2] and len(list(source)) == 2


def test_buckets_that_are_given_stay_as_they_were() -> None:
    buckets = [3, 2]
    assert mx.rnn.BucketSentenceIter([[1, 2], [1]], 1, buckets).buckets == [2] and buckets == [3, 2]


# ---- checkpoints ----


def _cells() -> Any:
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.FusedRNNCell(3, 2, "lstm", bidirectional=True, prefix="f_"))
    stack.add(mx.rnn.GRUCell(2, prefix="g_"))
    return stack


@pytest.mark.parametrize("fused", [True, False])
def test_a_checkpoint_of_1_9_1(fused: bool, tmp_path: Path) -> None:
    """The fused cells and the cells of `unfuse` load the file that 1.9.1 wrote, and give its outputs."""
    cells = _cells()
    if fused:
        network, weights, states = mx.rnn.load_rnn_checkpoint(cells, str(FILES / "model"), 7)
    else:
        cells._cells[0] = cells._cells[0].unfuse()
        network = cells.unroll(3, mx.sym.var("data"), layout="TNC", merge_outputs=True)[0]
        _, weights, states = mx.rnn.load_rnn_checkpoint(cells, str(FILES / "model"), 7)
    found, _ = _run(network, weights, mx.nd.ones((3, 2, 4)))
    (want,) = mx.nd.load(str(FILES / "outputs.params"))
    np.testing.assert_allclose(found, want.asnumpy(), rtol=1e-5, atol=1e-6)
    assert states == {}
    mx.rnn.save_rnn_checkpoint(cells, str(tmp_path / "model"), 7, network, weights, {})
    again, before = (mx.nd.load(str(each / "model-0007.params")) for each in (tmp_path, FILES))
    assert again.keys() == before.keys()
    assert all(np.array_equal(again[name].asnumpy(), before[name].asnumpy()) for name in before)


def test_a_round_trip_of_a_model(tmp_path: Path) -> None:
    cells = _cells()
    network, _ = cells.unroll(2, mx.sym.var("data"), layout="TNC", merge_outputs=True)
    module = mx.mod.Module(network, label_names=None)
    module.bind([("data", (2, 1, 4))], for_training=False)
    module.init_params(mx.init.Xavier())
    mx.rnn.do_rnn_checkpoint(cells, str(tmp_path / "model"))(0, network, *module.get_params())
    other = mx.mod.Module(network, label_names=None)
    other.bind([("data", (2, 1, 4))], for_training=False)
    other.set_params(*mx.rnn.load_rnn_checkpoint(cells, str(tmp_path / "model"), 1)[1:])
    batch = mx.io.DataBatch([mx.nd.ones((2, 1, 4))])
    for each in (module, other):
        each.forward(batch)
    np.testing.assert_array_equal(*(each.get_outputs()[0].asnumpy() for each in (module, other)))


# ---- imports ----


def test_names_that_lead_elsewhere() -> None:
    for name in ("mxlite.rnn", "mxlite.rnn.rnn_cell", "mxlite.rnn.io", "mxlite.rnn.rnn"):
        assert importlib.import_module(name).__name__ == name
    assert mx.rnn.DataIter is mx.io.DataIter and mx.rnn.rnn.BaseRNNCell is mx.rnn.rnn_cell.BaseRNNCell
    assert mx.rnn.load_checkpoint is mx.model.load_checkpoint and mx.rnn.init is mx.init and mx.rnn.np is np


def test_it_is_imported_as_mxnet() -> None:
    program = """
import mxlite, sys
mxlite.install_as_mxnet()
assert "mxlite.rnn" not in sys.modules
import mxnet as mx, mxnet.rnn.rnn_cell
from mxnet.rnn import LSTMCell
from mxnet.rnn.io import BucketSentenceIter
print(mx.rnn.LSTMCell is LSTMCell is mxnet.rnn.rnn_cell.LSTMCell, BucketSentenceIter.__module__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "mxlite.rnn.io"]
