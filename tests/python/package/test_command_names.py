"""The commands mxlite names and mxlite op."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mxlite
from mxlite._cli import main
from mxlite._cli._uses import read, uses
from mxlite._cli.names import Known, differences


def _names(source: str, package: str = "mxnet", suffix: str = ".py", *, folder: Path) -> dict[str, list[str]]:
    path = folder / f"given{suffix}"
    path.write_text(source, encoding="utf-8")
    return uses(read(path), package).names


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
            {"gluon.nn": ["1"], "gluon.Trainer": ["1"], "gluon.nn.Dense": ["2"]},
        ),
        ("def f():\n    return nd.exp\nfrom mxnet import nd", {"nd": ["3"], "nd.exp": ["2"]}),
        ("import mxnet as mx\nnd = mx.nd\nnd.exp\nnd = 3\nnd.log", {"": ["1"], "nd": ["2"], "nd.exp": ["3"]}),
        ("from mxnet import nd\ndef f(nd, *, x=nd.ones):\n    nd.exp\nnd.log", {"nd": ["1"], "nd.log": ["4"]}),
        ("class A:\n    def hybrid_forward(self, F, x):\n        return F.exp(x)\nF.log", {"nd.exp": ["3"]}),
        ("f = lambda F, x: F.contrib.box_nms(x)", {"nd.contrib.box_nms": ["1"]}),
        ("from mxnet.gluon.loss import *", {"gluon.loss": ["1"]}),
        ("import numpy as mx, d2l.mxnet\nfrom . import mxnet\nfrom .mxnet import nd\nmx.exp; d2l.mxnet.nd; nd.exp", {}),
        ("try:\n    import mxnet as mx\nexcept ImportError:\n    mx = None\nmx.nd.exp", {"": ["2"]}),
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
    ]
    found = _names(json.dumps({"cells": cells}), suffix=".ipynb", folder=tmp_path)
    assert found == {"nd": ["cell 2 line 2"], "nd.log": ["cell 4 line 4"]}
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": "import mxnet as mx\nmx.nd.exp"}]}]}
    assert _names(json.dumps(old), suffix=".ipynb", folder=tmp_path)["nd.exp"] == ["cell 1 line 2"]


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("nd.relu", "works"),
        ("ndarray.relu", "works"),
        ("gluon.nn.Dense", "works"),
        ("gluon.model_zoo.vision.resnet18_v1", "works"),
        ("nd.NDArray.asnumpy", "works"),
        ("nd.op.relu", "works"),
        ("cpu", "works"),
        ("nd.topk", "differs"),
        ("ndarray.topk", "differs"),
        ("optimizer.DCASGD", "differs"),
        ("nd.nothing", "missing"),
        ("mod.Module", "differs"),
        ("gluon.SymbolBlock", "works"),
        ("viz.plot_network", "works"),
        ("callback.do_checkpoint", "works"),
        ("contrib.onnx.export_model", "missing"),
        ("test_utils.rand_sparse_ndarray", "missing"),
        ("test_utils.check_symbolic_forward", "works"),
    ],
)
def test_states_of_names(name: str, state: str) -> None:
    assert Known("mxnet").state(name)[0] == state


def test_what_is_said_of_missing_names_is_what_using_them_raises() -> None:
    for name in ("rnn", "np", "nothing"):
        with pytest.raises(AttributeError) as raised:
            getattr(mxlite, name)
        assert Known("mxnet").state(name) == ("missing", [str(raised.value)])


def test_differences_are_quoted() -> None:
    (text,) = differences()["DCASGD"]
    page = (Path(__file__).parents[3] / "docs/compatibility.md").read_text(encoding="utf-8")
    assert f"| {text.partition(': 1.9.1: ')[0]} |" in page


def test_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_text("from mxnet import nd, sym\nnd.relu(nd.ones(1))\nsym.nothing\nsym.nothing\n", encoding="utf-8")
    assert main(["names", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{path}: 5 names, 4 working, 0 working with differences, 1 missing"
    assert lines[1] == "  missing  mx.sym.nothing  (line 3, 4)"
    assert "module 'mxlite.symbol' has no attribute 'nothing'" in lines[2]
    (tmp_path / "b.py").write_text("print 3", encoding="utf-8")
    (tmp_path / "c.ipynb").write_text("[]", encoding="utf-8")
    (tmp_path / "d.py").write_bytes(b"\xff\xfe\0")
    (tmp_path / "e.py").write_text("from mxnet import *", encoding="utf-8")
    assert main(["names", str(tmp_path)]) == 1
    text = capsys.readouterr().out
    assert "b.py: is no Python 3: line 1: " in text
    assert "c.ipynb: cannot be read: it is no notebook" in text
    assert "d.py: cannot be read: " in text
    assert "unknown  line 1: from mxnet import *" in text
    assert text.splitlines()[-1] == "5 files, 2 use mxnet; of these 1 have every name that they use"
    assert main(["names", "--summary", str(tmp_path / "e.py")]) == 0
    assert main(["names", str(tmp_path / "nothing.py")]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_json_and_pytorch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.py"
    path.write_text("import torch\nfrom torch.nn import functional as F\nF.relu(torch.jit)", encoding="utf-8")
    assert main(["names", "--as", "torch", "--json", str(path)]) == 1
    (one,) = json.loads(capsys.readouterr().out)
    found = {each["name"]: each["state"] for each in one["names"]}
    assert found == {
        "torch.jit": "missing",
        "torch": "works",
        "torch.nn.functional": "works",
        "torch.nn.functional.relu": "works",
    }


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
