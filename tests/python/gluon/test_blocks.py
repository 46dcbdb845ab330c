"""What blocks and parameters guarantee beyond 1.9.1: first runs, refusals, threads, pickles, downloads."""

from __future__ import annotations

import copy
import gc
import hashlib
import os
import pickle
import threading
import weakref
from pathlib import Path

import pytest

import mxlite as mx
from mxlite import autograd, gluon, nd
from mxlite.gluon import nn


class Custom(gluon.HybridBlock):
    """A block with one parameter, whose computation is given; counts its runs."""

    def __init__(self, compute, shape=(4, 0), **kwargs):
        super().__init__(**kwargs)
        self.runs = 0
        self.compute = compute
        self.w = self.params.get("w", shape=shape, allow_deferred_init=True)

    def hybrid_forward(self, F, x, w):
        self.runs += 1
        return self.compute(F, x, w)


def dense(F, x, w):
    return F.FullyConnected(x, w, num_hidden=4, no_bias=True)


# ---- the first run ----


def test_a_block_is_traced_once_for_its_shapes() -> None:
    net, inner = Custom(lambda F, x, w: dense(F, inner(x), w)), nn.Dense(3)
    for block in (net, inner):
        block.initialize()
    with autograd.record():
        out = net(nd.ones((2, 5)))
    out.backward()
    assert net.runs == 2
    net(nd.ones((2, 5)))
    assert net.runs == 3
    assert net.w.shape == (4, 3) and float(net.w.grad().abs().sum().asscalar()) > 0


def test_f_is_mx_sym_where_a_shape_is_unknown() -> None:
    same = []
    net = Custom(lambda F, x, w: (same.append(F.__name__), dense(F, x, w))[1])
    net.initialize()
    net(nd.ones((1, 2)))
    net(nd.ones((1, 2)))
    assert same == ["mxlite.symbol", "mxlite.ndarray", "mxlite.ndarray"]


@pytest.mark.parametrize(
    "use",
    [
        lambda F, x, w: F.dot(x, w),
        lambda F, x, w: w.asnumpy(),
        lambda F, x, w: w[0],
        lambda F, x, w: w.shape,
        lambda F, x, w: w.reshape((1, -1)),
        lambda F, x, w: F.concat(w, w, dim=0),
        lambda F, x, w: F.stack(x, w),
        lambda F, x, w: F.FullyConnected(x, w, num_hidden=5, no_bias=True),
        lambda F, x, w: F.FullyConnected(x, w.sum(), num_hidden=4, no_bias=True),
        lambda F, x, w: mx.nd.contrib.foreach(lambda a, b: (a, b), w, x),
    ],
)
def test_what_tells_no_shape_is_an_error_that_names_the_parameter(use) -> None:
    net = Custom(use)
    net.initialize("ones")
    with pytest.raises((ValueError, gluon.DeferredInitializationError), match=rf"'{net.w.name}'"):
        net(nd.ones((2, 3)))
    assert net.w.shape == (4, 0)
    net.compute = dense
    assert net(nd.ones((2, 3))).shape == (2, 4)


@pytest.mark.parametrize(
    ("compute", "shape", "found"),
    [
        (lambda F, x, w: dense(F, x, F.L2Normalization(w)), (4, 0), (4, 3)),
        (lambda F, x, w: F.LeakyReLU(x, w, act_type="prelu"), (0,), (3,)),
        (lambda F, x, w: F.maximum(x, w), None, (2, 3)),
        (lambda F, x, w: F.dot(x, w), (0, 4), (3, 4)),
        (lambda F, x, w: F.FullyConnected(w, x, num_hidden=2, no_bias=True), (4, 0), (4, 3)),
    ],
)
def test_shapes_that_mxnet_does_not_find(compute, shape, found) -> None:
    net = Custom(compute, shape)
    net.initialize("ones")
    net(nd.ones((2, 3)))
    assert net.w.shape == found


def test_a_parameter_that_is_not_used_gets_no_shape() -> None:
    """As in 1.9.1; hybridized, it is not asked for."""
    net = Custom(lambda F, x, w: x * 2)
    net.initialize()
    with pytest.raises(mx.error.WrongStateError, match=net.w.name):
        net(nd.ones((2, 3)))
    with pytest.raises(gluon.DeferredInitializationError):
        net.w.data()
    net.hybridize()
    with pytest.warns(UserWarning, match=net.w.name):
        assert net(nd.ones((2, 3))).shape == (2, 3)


def test_the_first_batch_may_be_in_any_context() -> None:
    net = nn.Dense(2)
    net.initialize("ones", ctx=[mx.cpu(0), mx.cpu(1)])
    net(nd.ones((1, 3), ctx=mx.cpu(1)))
    assert [each.shape for each in net.weight.list_data()] == [(2, 3), (2, 3)]
    assert net(nd.ones((1, 3))).asnumpy().tolist() == [[3, 3]]


def test_a_block_may_find_its_shapes_itself() -> None:
    class Own(Custom):
        def infer_shape(self, x, *args):
            self.w.shape = (x.shape[1], 4)

    net = Own(lambda F, x, w: F.dot(x, w), (0, 4))
    net.initialize("ones")
    assert net(nd.ones((2, 3))).asnumpy().tolist() == [[3] * 4] * 2
    outer = nn.HybridSequential()
    outer.add(Own(lambda F, x, w: F.dot(x, w), (0, 4)), nn.Dense(2))
    outer.initialize("ones")
    outer(nd.ones((2, 3)))
    assert outer[0].w.shape == (3, 4) and outer[1].weight.shape == (2, 4)


def test_an_own_infer_shape_may_call_the_one_of_the_library() -> None:
    class Own(Custom):
        def infer_shape(self, *args):
            super().infer_shape(*args)

    net = Own(dense)
    net.initialize("ones")
    assert net(nd.ones((2, 3))).shape == (2, 4)


def test_infer_shape_changes_nothing_else() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.BatchNorm())
    net.initialize()
    with autograd.record():
        net.infer_shape(nd.ones((2, 5)))
    assert net[0].weight.shape == (3, 5) and net[1].gamma.shape == (3,)
    with pytest.raises(gluon.DeferredInitializationError):
        net[0].weight.data()


def test_nested_lists_of_inputs() -> None:
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.w = self.params.get("w", shape=(1,), init="ones")

        def hybrid_forward(self, F, states, x, w):
            return states[1][0] * w + x

    net = Net()
    net.initialize()
    assert net([None, [nd.ones(1)]], nd.ones(1)).asscalar() == 2


# ---- what is remembered ----


def test_blocks_follow_their_parameters_after_copies_and_pickles() -> None:
    net, x = nn.Dense(1, in_units=1, use_bias=False), nd.ones((1, 1))
    net.initialize("ones")
    net(x)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        other(x)
        other.weight.set_data(nd.ones((1, 1)) * 5)
        assert (net(x).asscalar(), other(x).asscalar()) == (1, 5)
        other.initialize("zeros", force_reinit=True)
        assert (net(x).asscalar(), other(x).asscalar()) == (1, 0)


def test_a_parameter_that_is_set_later_is_seen() -> None:
    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, x, w=None):
            return x if w is None else x * w

    net = Net()
    assert net(nd.ones(1)).asscalar() == 1
    net.w = net.params.get("w", shape=(1,), init=mx.init.Constant(3))
    net.initialize()
    assert net(nd.ones(1)).asscalar() == 3


def test_threads_have_scopes_of_their_own() -> None:
    outer, found = nn.Sequential(prefix="outer_"), []
    with outer.name_scope():
        thread = threading.Thread(target=lambda: found.append(nn.Dense(1, prefix="own_").prefix))
        thread.start()
        thread.join()
        found.append(nn.Dense(1, prefix="own_").prefix)
    assert found == ["own_", "outer_own_"]


def test_a_network_goes_without_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        net = nn.HybridSequential()
        net.add(nn.Dense(2, activation="relu"), nn.BatchNorm())
        net.initialize()
        net(nd.ones((1, 3)))
        last = weakref.ref(net[0])
        del net
        assert last() is None
    finally:
        gc.enable()


# ---- what is refused ----


def test_what_is_not_there_says_so() -> None:
    net = nn.Dense(2, in_units=1)
    net.initialize()
    with pytest.raises(NotImplementedError, match="not in mxlite"):
        net.optimize_for(nd.ones((1, 1)), backend="MKLDNN")


def _prefixed(prefix: str) -> nn.HybridSequential:
    net = nn.HybridSequential(prefix=prefix)
    with net.name_scope():
        net.add(nn.Dense(2, in_units=3), nn.BatchNorm(in_channels=2))
    return net


@pytest.mark.parametrize("options", [{}, {"allow_missing": True}, {"ignore_extra": True}])
def test_exported_parameters_are_loaded(options: dict, tmp_path: Path) -> None:
    """Their names have `arg:` or `aux:` and the block's prefix before them; so have those of `ParameterDict.save`."""
    net = _prefixed("net_")
    net.initialize(mx.init.Normal())
    net.hybridize()
    net(nd.ones((1, 3)))
    net.export(str(tmp_path / "a"))
    net.collect_params().save(str(tmp_path / "whole"))
    net.collect_params().save(str(tmp_path / "rest"), strip_prefix="net_")
    for file in ("a-0000.params", "whole", "rest"):
        other = _prefixed("net_")
        other.load_parameters(str(tmp_path / file), **options)
        for one, two in zip(net.collect_params().values(), other.collect_params().values()):
            assert (one.data() == two.data()).asnumpy().all()


def test_another_prefix_is_named(tmp_path: Path) -> None:
    net = _prefixed("net_")
    net.initialize()
    net.hybridize()
    net(nd.ones((1, 3)))
    net.export(str(tmp_path / "a"))
    said = r"'other_dense0_weight' is missing.*it is 'net_dense0_weight'.*begin with 'net_'.*prefix='net_'"
    for load in (_prefixed("other_").load_parameters, _prefixed("other_").collect_params().load):
        with pytest.raises(AssertionError, match=said):
            load(str(tmp_path / "a-0000.params"))


@pytest.mark.parametrize("load", [gluon.ParameterDict.load, nn.Dense.load_parameters])
def test_files_without_names_are_refused(tmp_path: Path, load) -> None:
    path = str(tmp_path / "a")
    nd.save(path, [nd.ones(1)])
    target = nn.Dense(1) if load is nn.Dense.load_parameters else gluon.ParameterDict()
    with pytest.raises(TypeError, match="have no names"):
        load(target, path)


def test_a_bad_dtype_leaves_the_parameter() -> None:
    param = gluon.Parameter("w", shape=(1,))
    param.initialize("ones")
    with pytest.raises(TypeError):
        param.cast("bogus")
    assert param.dtype == param.data().dtype


# ---- downloads ----


def test_download_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "source.bin"
    source.write_bytes(b"x" * 3_000_000)
    sha1 = hashlib.sha1(source.read_bytes()).hexdigest()
    folder = tmp_path / "folder"
    folder.mkdir()
    url = source.as_uri()
    path = gluon.utils.download(url, path=str(folder), sha1_hash=sha1)
    assert path == str(folder / "source.bin") and Path(path).read_bytes() == source.read_bytes()
    assert gluon.utils.download(url, path=str(tmp_path / "new" / "a"), sha1_hash=sha1) == str(tmp_path / "new" / "a")
    assert "Downloading" in capsys.readouterr().out


def test_download_of_another_file_leaves_nothing(tmp_path: Path) -> None:
    source = tmp_path / "source.bin"
    source.write_bytes(b"x")
    target = tmp_path / "target"
    target.write_bytes(b"old")
    with pytest.raises(OSError, match="SHA-1"):
        gluon.utils.download(source.as_uri(), path=str(target), overwrite=True, sha1_hash="0" * 40, retries=1)
    assert target.read_bytes() == b"old" and sorted(os.listdir(tmp_path)) == ["source.bin", "target"]


@pytest.mark.parametrize("url", ["file:///no/such/file", "no-scheme/a", "http://127.0.0.1:9/a"])
def test_download_of_nothing(tmp_path: Path, url: str) -> None:
    with pytest.raises(OSError):
        gluon.utils.download(url, path=str(tmp_path / "a"), retries=0)
    assert not list(tmp_path.iterdir())
