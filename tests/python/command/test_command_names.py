"""The commands mxlite names and mxlite op."""

from __future__ import annotations

import collections
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import mxlite
from mxlite._cli import main
from mxlite._cli._names import old
from mxlite._cli._names.judge import Report, report
from mxlite._cli._names.known import Known, always_raises
from mxlite._cli._names.probes import PROBES, Call
from mxlite._cli._names.values import UNKNOWN

KNOWN = {package: Known(package) for package in ("mxnet", "torch")}


def _report(source: str, package: str = "mxnet", suffix: str = ".py", *, folder: Path) -> Report:
    path = folder / f"given{suffix}"
    path.write_text(source, encoding="utf-8")
    return report(path, package, KNOWN[package])


def _names(source: str, suffix: str = ".py", *, folder: Path) -> dict[str, list[str]]:
    """The places of the names that a source uses; of a script their lines."""
    one = _report(source, suffix=suffix, folder=folder)
    assert not one.problem
    found = {}
    for each in one.names:
        name = each.name[len("mx.") :] if each.name != "mx" else ""
        found[name] = [place[len("line ") :] if place.startswith("line ") else place for place in each.places]
    return found


def _findings(source: str, package: str = "mxnet", suffix: str = ".py", *, folder: Path) -> list[tuple[str, str]]:
    """The kinds and places of what a source meets."""
    one = _report(source, package, suffix, folder=folder)
    assert not one.problem
    return [(each.kind, each.place) for each in one.findings]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import mxnet as mx\nmx.nd.exp(mx.nd.ones(2)).shape", {"": ["1"], "nd.exp": ["2"], "nd.ones": ["2"]}),
        ("import mxnet\nmxnet.gluon.nn.Dense(3)", {"": ["1"], "gluon.nn.Dense": ["2"]}),
        ("import mxnet.gluon.nn as nn\nnn.Dense", {"gluon.nn": ["1"], "gluon.nn.Dense": ["2"]}),
        ("import mxnet.gluon.nn\nmxnet.nd.exp", {"gluon.nn": ["1"], "nd.exp": ["2"]}),
        (
            "from mxnet import nd as F, gluon\nF.exp; gluon.nn",
            {"nd": ["1"], "gluon": ["1"], "nd.exp": ["2"], "gluon.nn": ["2"]},
        ),
        (
            "from mxnet.gluon import nn, Trainer\nTrainer(nn.Dense)",
            {"gluon.nn": ["1"], "gluon.Trainer": ["1", "2"], "gluon.nn.Dense": ["2"]},
        ),
        ("def f():\n    return nd.exp\nfrom mxnet import nd", {"nd": ["3"], "nd.exp": ["2"]}),
        ("import mxnet as mx\nnd = mx.nd\nnd.exp\nnd = 3\nnd.log", {"": ["1"], "nd": ["2"], "nd.exp": ["3"]}),
        (
            "from mxnet import nd\ndef f(nd, *, x=nd.ones):\n    nd.exp\nnd.log",
            {"nd": ["1"], "nd.ones": ["2"], "nd.log": ["4"]},
        ),
        ("class A:\n    def hybrid_forward(self, F, x):\n        return F.exp(x)\nF.log", {"nd.exp": ["3"]}),
        ("f = lambda F, x: F.contrib.box_nms(x)", {"nd.contrib.box_nms": ["1"]}),
        ("from mxnet.gluon.loss import *", {"gluon.loss": ["1"]}),
        ("import numpy as mx, d2l.mxnet\nfrom . import mxnet\nfrom .mxnet import nd\nmx.exp; d2l.mxnet.nd; nd.exp", {}),
        ("try:\n    import mxnet as mx\nexcept ImportError:\n    mx = None\nmx.nd.exp", {"": ["2"], "nd.exp": ["5"]}),
        ("", {}),
    ],
)
def test_names_that_a_source_uses(source: str, found: dict[str, list[str]], tmp_path: Path) -> None:
    assert _names(source, folder=tmp_path) == found


def _cell(kind: str, *lines: str) -> dict[str, object]:
    return {"cell_type": kind, "source": [line + "\n" for line in lines]}


def test_notebooks(tmp_path: Path) -> None:
    cells = [
        _cell("markdown", "import mxnet"),
        _cell("code", "%matplotlib inline", "from mxnet import nd", "!pip install x", "nd.exp?"),
        _cell("code", "%%bash", "import mxnet as mx"),
        _cell("code", "%%time", "for i in range(3):", "    %time nd.exp", "    nd.log(i)"),
        _cell("code", "files = !ls", "rest = %sql x", "await nd.exp(3)"),
    ]
    found = _names(json.dumps({"cells": cells}), suffix=".ipynb", folder=tmp_path)
    assert found == {"nd": ["cell 2 line 2"], "nd.log": ["cell 4 line 4"], "nd.exp": ["cell 5 line 3"]}
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": "import mxnet as mx\nmx.nd.exp"}]}]}
    assert _names(json.dumps(old), suffix=".ipynb", folder=tmp_path)["nd.exp"] == ["cell 1 line 2"]


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("nd.relu", True),
        ("ndarray.relu", True),
        ("gluon.nn.Dense", True),
        ("gluon.model_zoo.vision.resnet18_v1", True),
        ("nd.NDArray.asnumpy", True),
        ("nd.op.relu", True),
        ("cpu", True),
        ("gluon.SymbolBlock", True),
        ("viz.plot_network", True),
        ("test_utils.check_symbolic_forward", True),
        ("nd.nothing", False),
        ("contrib.onnx.export_model", True),
        ("contrib.quantization.quantize_model", True),
    ],
)
def test_names_that_are_here(name: str, here: bool) -> None:
    assert (KNOWN["mxnet"].state(name).error is None) is here


def test_things_that_only_say_no() -> None:
    assert always_raises(KNOWN["mxnet"].state("notebook.callback.LiveBokehChart").thing)
    assert not any(always_raises(KNOWN["mxnet"].state(each).thing) for each in ("nd.relu", "gluon.nn.Embedding"))


def test_what_is_said_of_missing_names_is_what_using_them_raises() -> None:
    for name in ("rtc", "nothing"):
        with pytest.raises(AttributeError) as raised:
            getattr(mxlite, name)
        assert str(Known("mxnet").state(name).error) == str(raised.value)


def test_differences_are_quoted() -> None:
    known = KNOWN["mxnet"]
    (row,) = known.differs(known.canonical("optimizer.DCASGD"))
    page = (Path(__file__).parents[3] / "docs/compatibility.md").read_text(encoding="utf-8")
    assert f"| {row.text.partition(': 1.9.1: ')[0]} |" in page and not row.ordinary


@pytest.mark.parametrize(
    ("source", "kind", "said"),
    [
        ("mx.contrib.amp.init()", "differs", "compute in float16 on the CPU"),
        ("from mxnet.contrib import amp\namp.init()", "differs", "compute in float16 on the CPU"),
        ("mx.kv.create('dist_sync')", "differs", "adds up over MPI"),
        ("mx.kv.create(name='dist_sync')", "differs", "adds up over MPI"),
        ("mx.kv.create('local')", "", ""),
        ("mx.gluon.rnn.LSTM(3, dropout=0.5)", "differs", "drops between the layers"),
        ("mx.gluon.rnn.LSTM(3, dropout=0)", "", ""),
        ("mx.gluon.rnn.LSTM(3)", "", ""),
        ("mx.sym.RNN(p=0.5)", "differs", "drops between the layers"),
        ("trainer = mx.gluon.Trainer([], 'sgd')\ntrainer.save_states('a')", "differs", "files of arrays"),
        ("mx.random.seed(3)", "differs", "Philox"),
        ("mx.sym.Variable('x', stype='row_sparse')", "", ""),
        ("mx.gluon.nn.Embedding(3, 2, sparse_grad=True)", "edge", "sparse_grad"),
        ("mx.sym.Variable('x', stype='default')", "", ""),
        ("mx.nd.topk(x)", "edge", "topk"),
        ("mx.optimizer.DCASGD()", "edge", "DCASGD"),
        ("mx.init.Xavier(); mx.kvstore.KVStore.init; mx.gluon.nn.Dense(3)", "", ""),
    ],
)
def test_rows_belong_to_the_function_that_is_called(source: str, kind: str, said: str, tmp_path: Path) -> None:
    one = _report(f"import mxnet as mx\n{source}", folder=tmp_path)
    kinds = {each.kind for each in one.findings}
    assert kind in kinds and kinds <= {kind, "edge"} if kind else not kinds
    assert all(said in each.why for each in one.of("differs"))


_GPU_MAY = (
    "import mxnet as mx, argparse\np = argparse.ArgumentParser()\np.add_argument('--gpu', {})\na = p.parse_args()\n{}"
)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = mx.nd.ones(1, mx.gpu())", [("stops", "line 2")]),
        ("x = mx.nd.ones(1, ctx='gpu(0)')", [("stops", "line 2")]),
        ("from mxnet import gpu as g\nx = [g(i) for i in range(2)]", [("stops", "line 3")]),
        ("n = 0\nx = [mx.gpu(i) for i in range(n)]", [("caught", "line 3")]),
        ("x = [mx.gpu(i) for i in range(n)]", [("may stop", "line 2")]),
        ("x = mx.gpu() if mx.context.num_gpus() else mx.cpu()", [("caught", "line 2")]),
        ("x = mx.context.num_gpus() and mx.gpu()", [("caught", "line 2")]),
        ("if not mx.test_utils.list_gpus():\n    exit()\nx = mx.gpu()", [("caught", "line 4")]),
        ("if mode == 'gpu':\n    x = mx.gpu()", [("may stop", "line 3")]),
        ("def f():\n    return mx.gpu()", [("may stop", "line 3")]),
        ("def f():\n    return mx.gpu()\nf()", [("stops", "line 3")]),
        ("def f():\n    g()\ndef g():\n    mx.gpu()\nif __name__ == '__main__':\n    f()", [("stops", "line 5")]),
        ("class A(mx.gluon.Block):\n    def forward(self, x):\n        mx.gpu()\nA()(3)", [("stops", "line 4")]),
        ("class A(mx.gluon.Block):\n    def on(self, x):\n        mx.gpu()\nA()(3)", [("may stop", "line 4")]),
        ("try:\n    x = mx.nd.ones(1, ctx=mx.gpu())\nexcept:\n    x = 3", [("caught", "line 3")]),
        ("try:\n    x = mx.nd.ones(1, ctx=mx.gpu())\nexcept KeyError:\n    x = 3", [("stops", "line 3")]),
        ("try:\n    x = mx.nd.ones(1, ctx=mx.gpu())\nexcept mx.MXNetError:\n    raise", [("stops", "line 3")]),
        ("for x in data:\n    x.as_in_context(mx.gpu(0))", [("stops", "line 3")]),
        ("def f(x=mx.gpu()):\n    pass", [("may stop", "line 2")]),
        ("def f(x):\n    if x is None:\n        return 3\n    mx.gpu()\nf(3)", [("may stop", "line 5")]),
        ("if len(words) < 2:\n    raise SystemExit\nmx.gpu()", [("stops", "line 4")]),
        (
            "def f():\n    try:\n        mx.nd.ones(1, mx.gpu())\n"
            "    except mx.MXNetError:\n        return\n    mx.gpu()\nf()",
            [("caught", "line 4"), ("caught", "line 7")],
        ),
        (
            "try:\n    mx.rtc.CudaModule('')\nexcept AttributeError:\n    mx.gpu()",
            [("stops", "line 5"), ("caught", "line 3")],
        ),
        ("class A:\n    def fit(self, kvstore):\n        pass\nA().fit(kvstore='dist_async')", []),
        ("x = {'gpu': mx.gpu(), 'cpu': mx.cpu()}[kind]", [("may stop", "line 2")]),
        ("x = list(map(mx.gpu, [0, 1]))", [("stops", "line 2")]),
        ("x = getattr(mx, 'gpu')(0)\nmx = __import__('mxnet')\nmx.gpu()", [("stops", "line 2"), ("stops", "line 4")]),
        ("import importlib\nx = importlib.import_module('mxnet.context')\nx.gpu()", [("stops", "line 4")]),
        ("x = [mx.gpu(int(i)) for i in ''.split(',') if i.strip()]", [("caught", "line 2")]),
        ("x = [mx.gpu(int(i)) for i in '0,1'.split(',') if i.strip()]", [("stops", "line 2")]),
        ("x = [mx.gpu(int(i)) for i in '0,1'.split(',') if i in some]", [("stops", "line 2")]),
        ("if hasattr(mx, 'rtc'):\n    mx.rtc.CudaModule", [("caught", "line 3")]),
        ("mx.nd.mine = 3\nmx.nd.mine\nsetattr(mx.nd, 'other', 3)\nmx.nd.other", []),
        ("mx.nd.nothing.mine = 3", [("stops", "line 2")]),
    ],
)
def test_gpus_stop_where_the_program_comes_to_them(source: str, found: list[tuple[str, str]], tmp_path: Path) -> None:
    assert _findings(f"import mxnet as mx\n{source}", folder=tmp_path) == found


@pytest.mark.parametrize(
    ("option", "source", "found"),
    [
        ("default=''", "[mx.gpu(int(i)) for i in a.gpu.split(',')] if a.gpu else mx.cpu()", "may stop"),
        ("default='0'", "[mx.gpu(int(i)) for i in a.gpu.split(',')] if a.gpu else mx.cpu()", "stops"),
        ("type=int, default=0", "mx.gpu() if a.gpu > 0 else mx.cpu()", "may stop"),
        ("type=int, default='1'", "mx.gpu() if a.gpu > 0 else mx.cpu()", "stops"),
        ("action='store_true'", "mx.gpu() if a.gpu else mx.cpu()", "may stop"),
        ("required=True", "mx.gpu() if a.gpu else mx.cpu()", "may stop"),
        ("default='local'", "mx.kv.create(a.gpu)", ""),
        ("default='nccl'", "mx.kv.create(a.gpu)", "stops"),
    ],
)
def test_options_count_as_if_nobody_gave_them(option: str, source: str, found: str, tmp_path: Path) -> None:
    assert _findings(_GPU_MAY.format(option, source), folder=tmp_path) == ([(found, "line 5")] if found else [])


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("mx.gluon.Trainer(p, 'sgd', kvstore='dist_async')", "stops"),
        ("mx.gluon.Trainer(p, 'sgd', {}, 'dist_async')", "stops"),
        ("mx.gluon.Trainer(p, 'sgd', kvstore='nccl')", "may stop"),  # one context needs no store
        ("mx.gluon.Trainer(p, 'sgd', compression_params={'type': '2bit'})", "may stop"),
        ("mx.gluon.Trainer(p, 'sgd', kvstore='device')", ""),
        ("mx.gluon.Trainer(p, 'sgd', kvstore=kind)", ""),
        ("module.fit(data, kvstore='dist_async')", "stops"),
        ("module.fit(data, kvstore='device')", ""),
        ("x.tostype('csr')", ""),
        ("mx.nd.zeros((2, 2), mx.cpu(), 'float32', 'csr')", ""),
        ("mx.gluon.Parameter('x', stype='csr')", ""),
        ("{}.get('stype', 'csr')", ""),
        ("mx.gluon.Parameter('x', no_such=1)", "stops"),
        ("mx.gluon.nn.Dense(3, **more)", ""),
        ("mx.gluon.nn.Dense(units=3, activation='relu')", ""),
    ],
)
def test_arguments(call: str, kind: str, tmp_path: Path) -> None:
    assert _findings(f"import mxnet as mx\n{call}", folder=tmp_path) == ([(kind, "line 2")] if kind else [])


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("torch.zeros(1).cuda()", [("stops", "line 2")]),
        ("net.to('cuda')", [("stops", "line 2")]),
        ("net.to(device='cuda:1')", [("stops", "line 2")]),
        ("d = torch.device('cuda')", [("stops", "line 2")]),
        ("d = 'cuda' if torch.cuda.is_available() else 'cpu'\nnet.to(d)", []),
        ("net.to('cpu').to(torch.float64)", []),
        ("if torch.cuda.is_available():\n    net.cuda()", [("caught", "line 3")]),
        ("x = torch.zeros(3, device='mps')", [("stops", "line 2")]),
    ],
)
def test_devices_of_pytorch(source: str, found: list[tuple[str, str]], tmp_path: Path) -> None:
    assert _findings(f"import torch\n{source}", "torch", folder=tmp_path) == found


def test_pages(tmp_path: Path) -> None:
    page = """# A page

```python
import mxnet as mx
x = mx.nd.ones(1, ctx=mx.gpu())
```

    >>> y = mx.nd.nothing(
    ...     3)
    4

```sh
import mxnet
```

- an item:
  ~~~py
  for i in 3:
      mx.nd.exp
  ~~~

```python
this is no Python
```
"""
    assert _findings(page, suffix=".md", folder=tmp_path) == [
        ("stops", "line 5"),
        ("stops", "line 8"),
        ("edge", "line 19"),
    ]
    assert _names(page, suffix=".md", folder=tmp_path)["nd.exp"] == ["19"]


def test_python_2(tmp_path: Path) -> None:
    source = """import mxnet as mx
def f(x):
    print 'a', x
    try:
\tprint >>x, `x`, 0777L
    except (KeyError, ValueError), e:
        raise ValueError, "text"
    exec "x" in x
    if x <> 3: print
f(mx.nd.nothing)
"""
    one = _report(source, folder=tmp_path)
    stops = one.of("stops")
    assert [(each.name, each.place) for each in stops] == [("Python 2", "line 3"), ("mx.nd.nothing", "line 10")]
    assert stops[0].code == "print 'a', x" and stops[0].why.startswith("it is Python 2; ")
    assert _report("import mxnet\nif x\n", folder=tmp_path).problem.startswith("is no Python: line 2: ")


def test_what_run_puts_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = """import mxnet as mx, numpy as np, collections, telnetlib
np.nothing
np.float(3)
collections.Iterable
np.float32
from itertools import izip
"""
    gone = [(3, np, "float"), (4, collections, "Iterable")]
    lost = [f"line {line}" for line, module, name in gone if not hasattr(module, name)]
    one = _report(source, folder=tmp_path)
    assert [each.place for each in one.of("put back")] == lost
    stops = {each.place: each.why for each in one.of("stops")}
    assert stops["line 2"] == f"numpy.nothing is not in NumPy {np.__version__}"
    assert "it is Python 2's; `pip install fissix`" in stops["line 6"]
    assert sys.version_info < (3, 13) or "pip install" in stops["line 1"]
    monkeypatch.setattr(old, "put_back_names", set)
    assert not _report(source, folder=tmp_path).of("put back")


def test_every_probe_is_of_something() -> None:
    names = ["gpu", "Context", "context.gpu_memory_info", "kv.create", "gluon.Trainer"]
    found = {KNOWN["mxnet"].canonical(name) for name in [*names, "mod.Module"]}
    assert found == {key for key in PROBES["mxnet"] if key[0] not in ".*"}
    assert KNOWN["torch"].canonical("device") in PROBES["torch"]


def test_calls_whose_arguments_nobody_knows() -> None:
    call = Call([UNKNOWN, 3], {"a": UNKNOWN, "b": 4})
    assert [call.get("a"), call.get("b"), call.get("c", 0), call.get("c", 1), call.get("c", 2)] == [
        None,
        4,
        None,
        3,
        None,
    ]
    assert Call([3], {"*": UNKNOWN}).get("c", 0) is None


def test_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    text = "from mxnet import nd, sym\nnd.relu(nd.ones(1))\nsym.nothing\nsym.nothing\nnd.topk(3)\n"
    path.write_text(text, encoding="utf-8")
    assert main(["names", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{path}: stops at line 3: mx.sym.nothing"
    assert lines[1] == "  stops    line 3, 4:  sym.nothing"
    assert "module 'mxlite.symbol' has no attribute 'nothing'" in lines[2]
    assert not any("topk" in line for line in lines)
    assert main(["names", "--all", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "  edge     line 5:  nd.topk(3)" in lines and "  works    mx.nd.relu  (line 2)" in lines
    (tmp_path / "b.py").write_text("if x", encoding="utf-8")
    (tmp_path / "c.ipynb").write_text("[]", encoding="utf-8")
    (tmp_path / "d.py").write_bytes(b"\xff\xfe\0")
    (tmp_path / "e.py").write_text("from mxnet import *\nnd.ones(1, gpu())\nnothing\n", encoding="utf-8")
    (tmp_path / "f.py").write_text("import mxnet as mx\nmx.mod.Module(mx.sym.var('x')).fit(3)", encoding="utf-8")
    (tmp_path / "g.py").write_text("import mxnet as mx\nx = mx.gpu()", encoding="utf-8")
    (tmp_path / "h.py").write_text("import mxnet as mx\nif x:\n    mx.gpu()", encoding="utf-8")
    assert main(["names", str(tmp_path)]) == 1
    text = capsys.readouterr().out
    assert "b.py: is no Python: line 1: " in text
    assert "c.ipynb: cannot be read: it is no notebook" in text
    assert "d.py: cannot be read: " in text
    assert "e.py: stops at line 2: mx.gpu\n" in text and "name 'nothing' is not defined" in text
    assert "f.py: runs\n" in text
    assert "g.py: stops at line 2: mx.gpu; runs with `mxlite run --cpu`\n" in text
    assert "h.py: runs, but may stop at line 3 if x; not with `mxlite run --cpu`\n" in text
    assert text.splitlines()[-1] == "8 files, 5 use mxnet; nothing stops 1 of these"
    assert main(["names", "--summary", str(tmp_path / "f.py")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'f.py'}: runs\n"
    assert main(["names", str(tmp_path / "nothing.py")]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_json_and_pytorch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_text("import torch\nfrom torch.nn import functional as F\nF.relu(torch.jit)", encoding="utf-8")
    assert main(["names", "--as", "torch", "--json", str(path)]) == 1
    (one,) = json.loads(capsys.readouterr().out)
    assert {each["name"]: each["state"] for each in one["names"]} == {
        "torch.jit": "missing",
        "torch": "works",
        "torch.nn.functional": "works",
        "torch.nn.functional.relu": "works",
    }
    (finding,) = one["findings"]
    assert one["stops"] and (finding["kind"], finding["place"], finding["name"]) == ("stops", "line 3", "torch.jit")


@pytest.mark.parametrize("name", ["topk", "mx.nd.topk", "nd.topk", "_npx_topk"])
def test_the_page_of_an_operator(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["op", name]) == 0
    text = capsys.readouterr().out
    assert text.startswith("mx.nd.topk(data, axis=-1, k=1, ret_typ='indices', is_ascend=0, dtype='float32', out=None)")
    for part in ("\nInputs\n", "\nParameters\n", "\nOther names\n", "\nDiffers from MXNet 1.9.1\n"):
        assert part in text


@pytest.mark.parametrize("name", ["contrib.box_nms", "linalg.gemm2", "random.normal", "_plus_scalar", "Concat"])
def test_pages_by_other_names(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["op", name]) == 0
    assert "Parameters\n" in capsys.readouterr().out


def test_operators_that_are_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["op", "topkk"]) == 1
    assert capsys.readouterr().err == "mxlite op: there is no operator 'topkk'; did you mean mx.nd.topk?\n"
    assert main(["op"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 300
