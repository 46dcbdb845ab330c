"""Files of optimizers' states: what they hold, that no code runs when they are read, and the pickles of MXNet 1.9.1."""

from __future__ import annotations

import base64
import codecs
import collections
import json
import os
import pickle
import subprocess
import sys
import warnings
import zlib
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite.optimizer import _pickles

#: What 1.9.1 writes for Adam after a step, with a FactorScheduler(10, base_lr=0.5): a parameter of shape (1, 1), whose
#: gradient was 2.
OF_MXNET = zlib.decompress(base64.b85decode(
    'c-oCpU27CE6y4o!ch>E;D-}imfki2`_@vNM{CZejM1MfY%w%T*naq%6*quV5B7PJuzBK*_e~M5=eDh6w7StzEeDG#wc5BfG10l)D%{k}Z-'
    '2L{;jfF-z_Uy0$XOpR9W?hC<DO$`{3*PAFPPsd@qbK%(-Lue%sSE|P(DidJ442x%DZem`)`2%Jzy5jn!%??zHY=6CRyW=q-'
    'QBW|R{QZn+;;S_7x(_3pt1V+dQI@uYPe8kk!FS`e3z-'
    '?orU&JNE39o_6SujLSHc*P{Bx~XlU<jf35hSFBH*1%)(r_SF07{NpNtR1}0Sx=g6GZ^QmS;C?ve^-'
    '+TY<)i3Bzs7msTXu~q?N<FB7F_%<Su^(&k*_F>CF5MM|FV$F*hFJ5C;1Uas={P<+>_KN-nz6$stZ0)WZ+R|>w{8_LK5f7?SPar!8l=m8Xq~Xvn'
    'qc;`YJ!J}Cb=-~pS?*q-=D4=$vh!>7E;5Uv)-'
    'S_CY&c!2*PE^rZq}RRc&2|xjAfV4QKulV&ki@90;D3zrh(IBN#YwPBO&;u6Zi$0W8xfQY>=sP}_Ov@^HE-'
    'X~LY#t}YT}AE$N=R?tj3Au=OXTOPoo&kVhSsee9l<4px@BJkz=+YjfST>=k(hznFYF5Hr!yTvTY=Q(!S`ftZLE_?'
))  # fmt: skip


def _trainer(optimizer: str = "adam", **options: Any) -> mx.gluon.Trainer:
    net = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
    net.initialize(mx.init.One())
    return mx.gluon.Trainer(net.collect_params(), optimizer, options)


def _step(trainer: mx.gluon.Trainer) -> float:
    weight = trainer._params[0].data()
    with mx.autograd.record():
        loss = (weight * 2).sum()
    loss.backward()
    trainer.step(1)
    return weight.asscalar()


@pytest.fixture(autouse=True)
def _first_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pickles, "_warned", False)
    monkeypatch.delenv("MXLITE_ALLOW_PICKLE", raising=False)


# ---- files of our own ----


class Halving:
    """A scheduler of the program's, of no class of mxlite's."""

    def __init__(self) -> None:
        self.base_lr, self.calls, self.seen = 0.5, 0, [(0, np.float32(1.5)), {"a": np.arange(3)}]

    def __call__(self, num_update: int) -> float:
        self.calls += 1
        return self.base_lr / 2**num_update


def constant(num_update: int) -> float:
    return 0.25


constant.base_lr = 0.25

SCHEDULERS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "factor": lambda: mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=0.5),
    "steps": lambda: mx.lr_scheduler.MultiFactorScheduler([1, 2], 0.5, base_lr=0.5),
    "an object": Halving,
    "a function": lambda: constant,
}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("optimizer", ["sgd", "adam", "nadam", "dcasgd", "lbsgd", "lamb", "ftrl", "signum"])
def test_training_goes_on(optimizer: str, scheduler: str, tmp_path: Path) -> None:
    trainer, again = (_trainer(optimizer, lr_scheduler=SCHEDULERS[scheduler]()) for _ in range(2))
    _step(trainer)
    trainer.save_states(str(tmp_path / "a"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.load_states(str(tmp_path / "a"))
    again._params[0].set_data(trainer._params[0].data())
    assert [_step(trainer), _step(trainer)] == [_step(again), _step(again)]
    made = again.optimizer
    assert made._index_update_count is made._all_index_update_counts[0]
    if scheduler == "an object":
        assert made.lr_scheduler.calls == trainer.optimizer.lr_scheduler.calls
        assert made.lr_scheduler.seen[0] == (0, 1.5) and type(made.lr_scheduler.seen[0][1]) is np.float32
        assert made.lr_scheduler.seen[1]["a"].tolist() == [0, 1, 2]


def test_a_file_is_one_of_arrays(tmp_path: Path) -> None:
    trainer = _trainer()
    _step(trainer)
    trainer.save_states(str(tmp_path / "a"))
    with mx.np_shape(True):
        arrays = mx.nd.load(str(tmp_path / "a"))
    assert sorted(arrays) == ["0", "1", "structure"]
    text = json.loads(arrays["structure"].asnumpy().tobytes())
    assert text["format"] == "mxlite optimizer states 1"
    assert arrays["0"].asscalar() == pytest.approx(0.2, 1e-4) and arrays["1"].asscalar() == pytest.approx(0.004, 1e-4)


def test_states_of_every_kind(tmp_path: Path) -> None:
    with mx.np_shape(True):
        odd = [mx.nd.full((), 5), mx.nd.zeros((0, 3)), mx.nd.ones((2,), dtype="float16")]
    shared = mx.nd.ones(2)
    given = {
        0: None, "name": odd, (1, "b"): (shared, [shared]), 3: {"x": {1, 2}, "y": b"ab"},
        4: collections.OrderedDict(a=1),
        5: float("inf"), 6: "\u00e9\ud800", 7: np.int8(3), 8: np.float64(0.1), 9: np.array([[True]]), 10: 1 << 70,
    }  # fmt: skip
    updater, again = (mx.optimizer.get_updater(mx.optimizer.SGD()) for _ in range(2))
    updater.states = given
    updater.save(tmp_path / "a")
    again.load(tmp_path / "a")
    found = again.states
    assert list(found) == list(given) and found[(1, "b")][0] is found[(1, "b")][1][0]
    assert [each.shape for each in found["name"]] == [(), (0, 3), (2,)] and found["name"][2].dtype is np.float16
    for key in (0, 3, 4, 5, 6, 7, 8, 9, 10):
        assert found[key] == given[key] and type(found[key]) is type(given[key]), key
    assert again.states_synced == dict.fromkeys(given, False)


def test_what_an_optimizer_may_have_besides(tmp_path: Path) -> None:
    trainer = _trainer()
    given = trainer.optimizer
    given.counts = collections.defaultdict(int, a=1)
    given.kinds = [np.float32, np.dtype("int8"), float]
    given.where = mx.cpu(1)
    given.itself = [given.counts, given]
    given.itself.append(given.itself)
    trainer.save_states(str(tmp_path / "a"))
    trainer.load_states(str(tmp_path / "a"))
    found = trainer.optimizer
    assert found is not given and found.counts == {"a": 1} and found.counts["b"] == 0
    assert found.kinds == given.kinds and found.where == mx.cpu(1)
    assert found.itself[0] is found.counts and found.itself[1] is found and found.itself[2] is found.itself
    del given.itself[:], found.itself[:]


@pytest.mark.parametrize("what", ["a tuple in itself", "two functions of one name"])
def test_what_cannot_be_told_is_refused(what: str, tmp_path: Path) -> None:
    trainer = _trainer()
    within: list = []
    within.append((within,))
    trainer.optimizer.odd = within[0] if what == "a tuple in itself" else [lambda: 1, lambda: 2]
    with pytest.raises(TypeError, match="contains itself|have one name"):
        trainer.save_states(str(tmp_path / "a"))
    assert not list(tmp_path.iterdir())
    within.clear()


def test_what_files_do_not_have_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    trainer = _trainer()
    trainer.optimizer.helper = {"file": sys.stdout}
    with pytest.raises(TypeError, match=r"the optimizer\.helper\['file'\] is a"):
        trainer.save_states(str(tmp_path / "a"))
    assert (tmp_path / "a").read_text() == "old"


def test_functions_and_classes_must_be_there(tmp_path: Path) -> None:
    trainer = _trainer(lr_scheduler=constant)
    trainer.save_states(str(tmp_path / "function"))
    with pytest.raises(mx.MXNetError, match=r"function.*function test_states\.constant.*make this optimizer with it"):
        _trainer().load_states(str(tmp_path / "function"))
    trainer = _trainer(lr_scheduler=Halving())
    trainer.save_states(str(tmp_path / "class"))
    with pytest.raises(mx.MXNetError, match=r"class.*test_states\.Halving.*no optimizer or scheduler of that name"):
        _trainer().load_states(str(tmp_path / "class"))


def _states_file(path: Path, value: Any) -> str:
    text = json.dumps({"format": "mxlite optimizer states 1", "value": value}).encode()
    with mx.np_shape(True):
        mx.nd.save(path, {"structure": mx.nd.array(np.frombuffer(text, np.uint8), dtype="uint8")})
    return str(path)


@pytest.mark.parametrize(
    "value",
    [
        [], 5, [{"dict": []}], [{"list": []}, None], [{"dict": []}, 5], [{"dict": []}, {"again": 7}],
        [{"what": 1}, None],
        [{"dict": [[0, {"array": 3}]]}, None], [{"dict": [[0, {"numpy": ["|O", [1], "00" * 8]}]]}, None],
        [{"dict": [[{"list": []}, 1]]}, None], [{"dict": []}, {"object": ["os", "system", []]}],
        [{"dict": []}, {"function": "posix.system"}], [{"dict": []}, {"object": ["builtins", "object", []]}],
        [{}, None],
    ],
)  # fmt: skip
def test_damaged_files_are_refused(value: Any, tmp_path: Path) -> None:
    trainer = _trainer()
    _step(trainer)
    updater = trainer._updaters[0]
    before, optimizer = updater.states, updater.optimizer
    with pytest.raises(mx.MXNetError, match="/a: "):
        trainer.load_states(_states_file(tmp_path / "a", value))
    assert updater.states is before and updater.optimizer is optimizer


def test_other_files_are_refused(tmp_path: Path) -> None:
    mx.nd.save(tmp_path / "arrays", [mx.nd.ones(1)])
    with pytest.raises(mx.MXNetError, match=r"arrays: .*(numpy-shape mode|none of an optimizer's states)"):
        _trainer().load_states(str(tmp_path / "arrays"))
    with pytest.raises(FileNotFoundError):
        _trainer().load_states(str(tmp_path / "none"))


# ---- pickles ----


def test_a_pickle_of_mxnet_is_read_with_one_warning(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(OF_MXNET)
    trainer = _trainer()
    with pytest.warns(UserWarning, match="A pickle of unknown origin can run any code.*MXLITE_ALLOW_PICKLE=0") as found:
        trainer.load_states(str(tmp_path / "a"))
        trainer.load_states(str(tmp_path / "a"))
    assert len(found) == 1
    assert type(trainer.optimizer) is mx.optimizer.Adam and trainer.optimizer.num_update == 1
    assert type(trainer.optimizer.lr_scheduler) is mx.lr_scheduler.FactorScheduler
    mean, variance = trainer._updaters[0].states[0]
    assert mean.asscalar() == pytest.approx(0.2, 1e-4) and variance.asscalar() == pytest.approx(0.004, 1e-4)
    trainer.save_states(str(tmp_path / "b"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trainer.load_states(str(tmp_path / "b"))


def test_get_states_is_a_pickle_still() -> None:
    """MXNet 1.9.1 reads it: make test-dropin."""
    trainer = _trainer(lr_scheduler=mx.lr_scheduler.FactorScheduler(10))
    _step(trainer)
    updater, again = trainer._updaters[0], mx.optimizer.get_updater(mx.optimizer.SGD())
    with pytest.warns(UserWarning, match="set_states: this is a pickle"):
        again.set_states(updater.get_states(dump_optimizer=True))
    assert type(again.optimizer) is mx.optimizer.Adam and again.optimizer.num_update == 1
    assert again.states[0][0].asscalar() == updater.states[0][0].asscalar()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_what_states_are(protocol: int) -> None:
    """Also as Python itself writes them, in every protocol."""
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=np.float32(0.5)))
    values = {0: (mx.nd.ones(2), np.arange(3.0), np.float16(2)), 1: {1, 2}, 2: b"ab", 3: collections.OrderedDict(a=1j)}
    values.update({4: collections.defaultdict(list, a=[1]), 5: mx.cpu(1), 6: frozenset([1]), 7: bytearray(b"x")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        updater.set_states(pickle.dumps((values, updater.optimizer), protocol))
    found = updater.states
    assert found[0][0].asnumpy().tolist() == [1, 1] and found[0][1].tolist() == [0, 1, 2]
    assert type(found[0][2]) is np.float16 and updater.optimizer.lr == 0.5
    assert [found[each] for each in range(1, 8)] == [values[each] for each in range(1, 8)]


def test_a_pickle_of_functions_and_classes_that_are_there(tmp_path: Path) -> None:
    """The optimizer at hand holds them."""
    for make in (lambda: constant, Halving):
        updater, again = (mx.optimizer.get_updater(mx.optimizer.SGD(lr_scheduler=make())) for _ in range(2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again.set_states(updater.get_states(dump_optimizer=True))
        assert type(again.optimizer.lr_scheduler) is type(updater.optimizer.lr_scheduler)
        with pytest.raises(mx.MXNetError, match=r"the pickle names \w+\.(constant|Halving)"):
            mx.optimizer.get_updater(mx.optimizer.SGD()).set_states(updater.get_states(dump_optimizer=True))


class Calls:
    """A pickle of it calls a function when it is read."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple:
        return self.call


MALICIOUS: dict[str, Callable[[str], Any]] = {
    "os.system": lambda mark: Calls(os.system, f"touch {mark}"),
    "subprocess": lambda mark: Calls(subprocess.Popen, ["touch", mark]),
    "eval": lambda mark: Calls(eval, f"open({mark!r}, 'w')"),
    "exec": lambda mark: Calls(exec, f"open({mark!r}, 'w')"),
    "open": lambda mark: Calls(open, mark, "w"),
    "getattr": lambda mark: Calls(getattr, "text", "upper"),
    "a function of mxlite": lambda mark: Calls(mx.nd.save, mark, [Calls(mx.nd.array, [1.0])]),
    "a method of mxlite": lambda mark: Calls(mx.optimizer.Optimizer.create_optimizer, "sgd"),
    "a class of mxlite": lambda mark: Calls(mx.recordio.MXRecordIO, mark, "w"),
    "an optimizer by a call": lambda mark: Calls(mx.optimizer.SGD, 1),
    "an array of a handle": lambda mark: Calls(mx.nd.NDArray, 5),
    "a codec": lambda mark: Calls(codecs.encode, "a", "rot13"),
    "an array of objects": lambda mark: np.array([Calls(os.system, f"touch {mark}")], object),
    "an array of texts": lambda mark: np.array(["text"]),
}


def _loaders(path: str) -> dict[str, Callable[[], Any]]:
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.SGD())
    module = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1), label_names=None)
    module.bind(data_shapes=[("data", (1, 2))])
    module.init_params()
    module.init_optimizer(kvstore=None)
    content = Path(path).read_bytes()
    return {
        "Trainer.load_states": lambda: _trainer().load_states(path),
        "Trainer.load_states on a store": lambda: _on_store().load_states(path),
        "KVStore.load_optimizer_states": lambda: store.load_optimizer_states(path),
        "Module.load_optimizer_states": lambda: module.load_optimizer_states(path),
        "Updater.set_states": lambda: mx.optimizer.get_updater(mx.optimizer.SGD()).set_states(content),
        "Updater.load": lambda: mx.optimizer.get_updater(mx.optimizer.SGD()).load(path),
        "torch.load": lambda: torch.load(path),
        "torch.load with weights_only=False": lambda: torch.load(path, weights_only=False),
        "nd.load": lambda: mx.nd.load(path),
    }


def _on_store() -> mx.gluon.Trainer:
    net = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
    net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", kvstore=mx.kv.create("local"), update_on_kvstore=True)
    _step(trainer)
    return trainer


@pytest.mark.filterwarnings("ignore:.*this is a pickle")
@pytest.mark.parametrize("name", MALICIOUS)
def test_malicious_pickles_are_refused(name: str, tmp_path: Path) -> None:
    """By every loader, with and without the variable."""
    mark = tmp_path / "run"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        (tmp_path / "a").write_bytes(pickle.dumps({0: MALICIOUS[name](str(mark))}, protocol))
        for loader, load in _loaders(str(tmp_path / "a")).items():
            with pytest.raises((mx.MXNetError, RuntimeError)):
                load()
            assert not mark.exists(), loader
        if protocol not in (0, pickle.HIGHEST_PROTOCOL):
            continue
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MXLITE_ALLOW_PICKLE", "0")
            for loader, load in _loaders(str(tmp_path / "a")).items():
                with pytest.raises((mx.MXNetError, RuntimeError)):
                    load()
                assert not mark.exists(), loader


@pytest.mark.filterwarnings("ignore:.*this is a pickle")
@pytest.mark.parametrize(
    "content",
    [
        b"(S'true'\nios\nsystem\n.", b"(cos\nsystem\nS'true'\no.", b"cposix\nsystem\n(S'true'\ntR.",
        b"\x80\x02cmxnet.optimizer.optimizer\nSGD\nN}X\x06\x00\x00\x00stolenK\x01s\x86b.",
        b"\x80\x02cmxnet.ndarray.ndarray\nNDArray\nK\x05\x85\x81.", b"\x80\x02cnumpy\nndarray\nK\x05\x85R.",
        b"cmxnet\nnd.save\n.", b"\x80\x04\x8c\x05mxnet\x8c\x12optimizer.Optimizer\x93.",
        pickle.dumps([1]), pickle.dumps(({}, 5)), pickle.dumps(({}, mx.optimizer.SGD)),
        b"\x80\x02ccopyreg\n_reconstructor\ncbuiltins\ndict\ncbuiltins\ndict\n}\x87R.",
    ],
)  # fmt: skip
def test_opcodes_by_hand_are_refused(content: bytes) -> None:
    with pytest.raises(mx.MXNetError, match="set_states: .*pickle"):
        mx.optimizer.get_updater(mx.optimizer.SGD()).set_states(content)
    assert not hasattr(mx.optimizer.SGD, "stolen")


@pytest.mark.filterwarnings("ignore:.*this is a pickle")
def test_a_pickle_breaks_no_dtype() -> None:
    """NumPy believes what the state of a dtype says of its flags: arrays of float64 would be taken for objects."""
    flags = b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK"
    content = pickle.dumps({0: np.arange(3.0)}, 2)
    assert flags + b"\0" in content
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    updater.set_states(content.replace(flags + b"\0", flags + b"\x3f"))
    assert updater.states[0].dtype.flags == 0 and updater.states[0].tolist() == [0, 1, 2]


def test_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(OF_MXNET)
    for loader, load in _loaders(str(tmp_path / "a")).items():
        if loader.startswith(("torch", "nd.")):
            continue
        monkeypatch.setenv("MXLITE_ALLOW_PICKLE", "0")
        with pytest.raises(mx.MXNetError, match=r"this is a pickle, which MXLITE_ALLOW_PICKLE=0 refuses"):
            load()
        monkeypatch.setenv("MXLITE_ALLOW_PICKLE", "1")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            load()
    monkeypatch.setenv("MXLITE_ALLOW_PICKLE", "yes")
    with pytest.raises(ValueError, match="MXLITE_ALLOW_PICKLE is 'yes'; it may be 0 or 1"):
        _trainer().load_states(str(tmp_path / "a"))


def test_a_trusted_pickle_may_name_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(pickle.dumps({0: Calls(os.path.join, "a", "b")}))
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    monkeypatch.setenv("MXLITE_ALLOW_PICKLE", "1")
    updater.load(tmp_path / "a")
    assert updater.states == {0: "a/b"}
