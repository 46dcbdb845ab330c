"""Errors about names that there are not offer the nearest of those that there are, wherever a name is taken."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite import gluon, nd
from mxlite._public.near import near

#: (what is said, what was meant)
NAMES: dict[str, tuple[Callable[[], object], str]] = {
    "operator": (lambda: nd.relux, "'relu'"),
    "operator in another case": (lambda: nd.Relu, "'relu'"),
    "operator of PyTorch": (lambda: nd.unsqueeze, "'expand_dims'"),
    "operator of a module": (lambda: nd.linalg.gem2, "'gemm2'"),
    "sampler": (lambda: nd.random.unifrom, "'uniform'"),
    "symbol": (lambda: mx.sym.Convolutio, "'Convolution'"),
    "layer": (lambda: gluon.nn.Dens, "'Dense'"),
    "loss": (lambda: gluon.loss.L2Los, "'L2Loss'"),
    "module": (lambda: mx.gluonn, "'gluon'"),
    "schedule": (lambda: mx.lr_scheduler.FactorSchedulr, "'FactorScheduler'"),
    "model's function": (lambda: gluon.model_zoo.vision.resnet18_v3, "'resnet18_v1'"),
    "torch's function": (lambda: torch.relux, "'relu'"),
    "torch's layer": (lambda: torch.nn.Lineer, "'Linear'"),
    "import": (lambda: importlib.import_module("mxlite.gluonn"), "'gluon'"),
    "from": (lambda: exec("from mxlite.gluon.nn import Dens"), "'Dense'"),
    "optimizer": (lambda: mx.optimizer.create("adamm"), "'adam'"),
    "optimizer of a Trainer": (lambda: gluon.Trainer(_params(), "sdg"), "'sgd'"),
    "initializer": (lambda: mx.init.create("xaveir"), "'xavier'"),
    "initializer of a block": (lambda: gluon.nn.Dense(3).initialize(init="xaveir"), "'xavier'"),
    "metric": (lambda: mx.metric.create("acuracy"), "'accuracy'"),
    "store": (lambda: mx.kv.create("devcie"), "'device'"),
    "context": (lambda: mx.Context("gup"), "'gpu'"),
    "model": (lambda: gluon.model_zoo.vision.get_model("resnet18_v3"), "'resnet18_v1'"),
    "dtype of an array": (lambda: nd.zeros((2,), dtype="flaot32"), "'float32'"),
    "dtype of values": (lambda: nd.array([1], dtype="int23"), "'int32'"),
    "dtype of a cast": (lambda: nd.ones(2).astype("flot16"), "'float16'"),
    "dtype of a block": (lambda: gluon.nn.Dense(2).cast("flaot16"), "'float16'"),
    "dtype of a symbol": (lambda: mx.sym.var("x", dtype="flaot32"), "'float32'"),
    "request": (lambda: nd.ones(2).attach_grad("wrtie"), "'write'"),
    "request of a parameter": (lambda: gluon.Parameter("w", grad_req="wrtie"), "'write'"),
    "parameter": (lambda: _params()["dense_wieght"], "'dense_weight'"),
    "output": (lambda: _symbol().get_internals()["fc_outptu"], "'fc_output'"),
    "variable": (lambda: _symbol().infer_shape(dat=(1, 2)), '"data"'),
    "input of a symbol": (lambda: _symbol()(dta=mx.sym.var("x")), '"data"'),
    "choice": (lambda: nd.Activation(nd.ones(2), act_type="rleu"), '"relu"'),
    "choice of a node": (lambda: mx.sym.Activation(mx.sym.var("x"), act_type="rleu"), '"relu"'),
    "setting": (lambda: mx.profiler.set_config(filenam="x"), '"filename"'),
    "order": (lambda: mx.profiler.dumps(sort_by="totl"), "'total'"),
    "feature": (lambda: mx.runtime.Features().is_enabled("OPENMPI"), "'OPENMP'"),
    "rule": (lambda: mx.autograd.set_inplace("rebse"), "'rebase'"),
    "operator of a file": (lambda: mx.sym.load_json(_symbol().tojson().replace("FullyC", "FulyC")), '"FullyConnected"'),
    "custom operator": (lambda: _custom(), '"near_sofmax"'),
}

#: Keywords that there are not.
KEYWORDS: dict[str, tuple[Callable[[], object], str]] = {
    "layer": (lambda: gluon.nn.Dense(10, activaton="relu"), "'activation'"),
    "convolution": (lambda: gluon.nn.Conv2D(1, 3, padd=2), "'padding'"),
    "recurrent layer": (lambda: gluon.rnn.LSTM(3, layot="NTC"), "'layout'"),
    "block's own": (lambda: gluon.nn.Dense(10, prefx="a"), "'prefix'"),
    "words of PyTorch": (lambda: gluon.nn.Dense(out_features=3), "'units'"),
    "loss": (lambda: gluon.loss.L2Loss(wieght=1), "'weight'"),
    "model": (lambda: gluon.model_zoo.vision.get_model("resnet18_v1", clases=3), "'classes'"),
    "transform": (lambda: gluon.data.vision.transforms.Resize(siz=3), "'size'"),
    "loader": (lambda: gluon.data.DataLoader([1], batchsize=2), "'batch_size'"),
    "iterator": (lambda: mx.io.NDArrayIter(nd.ones(2), batchsize=2), "'batch_size'"),
    "parameter": (lambda: gluon.Parameter("w", shap=3), "'shape'"),
    "trainer": (lambda: gluon.Trainer({}, optimiser="sgd"), "'optimizer'"),
    "optimizer": (lambda: mx.optimizer.SGD(momentm=1), "'momentum'"),
    "optimizer's base": (lambda: mx.optimizer.create("adam", lr=1), "'learning_rate'"),
    "trainer's optimizer": (lambda: gluon.Trainer(_params(), "sgd", {"lr": 0.1}), "'learning_rate'"),
    "schedule": (lambda: mx.lr_scheduler.FactorScheduler(steps=1), "'step'"),
    "initializer": (lambda: mx.init.Xavier(magnitud=1), "'magnitude'"),
    "metric": (lambda: mx.metric.TopKAccuracy(topk=1), "'top_k'"),
    "module": (lambda: mx.mod.Module(_symbol(), data_name=["a"]), "'data_names'"),
    "torch's layer": (lambda: torch.nn.Linear(3, 4, bais=True), "'bias'"),
    "torch's optimizer": (lambda: torch.optim.SGD([torch.ones(1)], learning_rate=3), "'lr'"),
    "torch's function": (lambda: torch.sum(torch.ones(2), dimm=0), "'dim'"),
    "torch's method": (lambda: torch.ones(2).flip(axis=0), "'dims'"),
    "squeeze": (lambda: nd.ones((1, 2)).squeeze(dim=0), "'axis'"),
    "expand_dims": (lambda: nd.ones((1, 2)).expand_dims(dim=0), "'axis'"),
    "concatenate": (lambda: nd.concatenate([nd.ones((1, 2))], dim=0), "'axis'"),
    "arange": (lambda: nd.arange(3, dtyp="int32"), "'dtype'"),
}

X = nd.ones((2, 3))
#: Parameters that an operator has not.
PARAMETERS: dict[str, tuple[Callable[[], object], str]] = {
    "Convolution": (lambda: nd.Convolution(X, X, kernal=(3, 3), num_filter=1), '"kernel"'),
    "FullyConnected": (lambda: mx.sym.FullyConnected(mx.sym.var("a"), num_hiden=3), '"num_hidden"'),
    "zeros": (lambda: nd.zeros((2,), dtpe="float32"), '"dtype"'),
    "uniform": (lambda: nd.random.uniform(0, 1, shap=(2,)), '"shape"'),
    "concat": (lambda: nd.concat(X, X, axis=0), '"dim"'),
    "padding": (lambda: nd.Convolution(X, X, kernel=(1,), num_filter=1, padding=1), '"pad"'),
    **{
        name: (lambda name=name: getattr(nd, name)(X, dim=1), '"axis"')  # type: ignore[misc]
        for name in "sum mean max min prod norm argmax argmin softmax log_softmax sort argsort topk flip".split()
    },
    "method": (lambda: X.sum(dim=1), '"axis"'),
    "keepdim": (lambda: X.mean(axis=1, keepdim=True), '"keepdims"'),
    "of a symbol": (lambda: mx.sym.sum(mx.sym.var("a"), dim=1), '"axis"'),
    "dims": (lambda: X.transpose(dims=(1, 0)), '"axes"'),
}


def _params() -> gluon.ParameterDict:
    layer = gluon.nn.Dense(2, in_units=3, prefix="dense_")
    layer.initialize()
    return layer.collect_params()


def _symbol() -> mx.sym.Symbol:
    return mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")


def _custom() -> None:
    @mx.operator.register("near_sofmax")
    class _Prop(mx.operator.CustomOpProp):
        pass

    nd.Custom(X, op_type="near_softmax")


def _said(call: Callable[[], object]) -> str:
    with pytest.raises((Exception,)) as caught:
        call()
    assert not isinstance(caught.value, (NameError, SyntaxError)), caught.value
    return str(caught.value)


@pytest.mark.parametrize("what", NAMES)
def test_names(what: str) -> None:
    call, meant = NAMES[what]
    assert f"did you mean {meant}" in _said(call)


@pytest.mark.parametrize("what", KEYWORDS)
def test_keywords(what: str) -> None:
    call, meant = KEYWORDS[what]
    with pytest.raises(TypeError, match=rf"got an unexpected keyword argument '\w+'; did you mean {meant}"):
        call()


@pytest.mark.parametrize("what", PARAMETERS)
def test_parameters_of_operators(what: str) -> None:
    call, meant = PARAMETERS[what]
    with pytest.raises(mx.MXNetError, match=rf'unknown parameter "\w+"; did you mean {meant}\? It takes '):
        call()


def test_what_is_not_near_is_not_offered() -> None:
    for call in (lambda: nd.foo, lambda: torch.jit, lambda: mx.optimizer.create("nothing_like_it")):
        assert "did you mean" not in _said(call)
    assert near("foo", ["bar", "baz"]) == [] and near("softmaxx", ["Softmax", "softmax"]) == ["softmax", "Softmax"]
    assert near("dim", ["axis"]) == ["axis"] and near("axis", ["dim"]) == ["dim"] and near("dim", ["shape"]) == []


def test_a_name_that_is_elsewhere() -> None:
    assert _said(lambda: nd.gemm2).endswith("; there is mxlite.ndarray.linalg.gemm2")
    assert _said(lambda: mx.sym.box_nms).partition("; there is ")[2].startswith("mxlite.symbol.contrib.box_nms")
    assert _said(lambda: mx.Dense).endswith("; there is mxlite.gluon.nn.Dense")
    assert _said(lambda: torch.Linear).endswith("; there is mxlite.torch.nn.Linear")


def test_names_that_mxlite_lacks_say_why() -> None:
    for module, name, why in (
        (mx, "np_symbol", "mx.sym.np"),
        (mx, "rtc", "CustomOp"),
        (nd.contrib, "quantized_rnn", "float16"),
        (mx.sym.contrib, "count_sketch", "GPUs"),
    ):
        said = _said(lambda module=module, name=name: getattr(module, name))  # type: ignore[misc]
        assert f"it is missing in mxlite: {why}" in said or why in said
        assert said.endswith("`mxlite help compatibility not supported yet` says what else is")


def test_python_guesses_no_second_time() -> None:
    done = subprocess.run([sys.executable, "-c", "import mxlite; mxlite.nd.arrray"], capture_output=True, text=True)
    assert done.stderr.lower().count("did you mean") == 1 and "; did you mean 'array'?" in done.stderr


# ---- constructors ----


def test_constructors_are_as_before() -> None:
    """They keep their signatures, take what they took, and hand on the errors of what they call."""
    assert list(inspect.signature(gluon.nn.Dense).parameters)[:3] == ["units", "activation", "use_bias"]
    assert list(inspect.signature(gluon.Block).parameters) == ["prefix", "params"]

    class Own(mx.init.Initializer):
        def __init__(self, **anything: object) -> None:
            super().__init__(**anything)

    class Net(gluon.Block):
        def __init__(self, **mine: object) -> None:
            self.mine = mine.pop("mine")
            super().__init__(**mine)  # type: ignore[arg-type]

    class Mixed(Net, dict):
        pass

    def refuse(**_: object) -> None:
        raise TypeError("f() got an unexpected keyword argument 'other'")

    assert Own(a=3)._kwargs == {"a": 3} and Net(mine=4).mine == 4 and Mixed(mine=5).mine == 5
    with pytest.raises(TypeError, match="Net.. got an unexpected keyword argument 'prefx'; did you mean 'prefix'"):
        Net(mine=4, prefx="a")
    with pytest.raises(TypeError, match="argument 'other'$"):
        gluon.data.DataLoader([1], sampler=mx.gluon.data.SequentialSampler(1), batch_sampler=refuse(other=1))


def test_iterators_warn_of_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1\n2\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="has no parameter data_shap; it is ignored; did you mean 'data_shape'?"):
        mx.io.CSVIter(data_csv=str(tmp_path / "a.csv"), data_shape=(1,), data_shap=3, batch_size=1)


def test_inputs_of_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mxlite._cli import main

    _symbol().save(str(tmp_path / "a-symbol.json"))
    assert json.loads((tmp_path / "a-symbol.json").read_text(encoding="utf-8"))
    assert main(["show", str(tmp_path / "a-symbol.json"), "--shape", "dat=1,2"]) != 0
    assert "there is no input dat; did you mean 'data'?" in capsys.readouterr().err
