"""The command mxlite: scripts that run in MXNet's or PyTorch's name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import mxlite


def _command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mxlite", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)


def _run(source: str, *arguments: str, folder: Path, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    (folder / "given").mkdir(exist_ok=True)
    (folder / "given/script.py").write_text(source, encoding="utf-8")
    return _command("run", *before, "given/script.py", *arguments, folder=folder)


def test_a_script_in_the_name_of_mxnet(tmp_path: Path) -> None:
    source = """
import os, sys
import beside
import mxnet as mx
import mxnet.gluon.nn
from mxnet import nd, autograd, gluon, init
from mxnet.gluon import nn as layers
from mxnet.ndarray import NDArray
import mxlite
import mxnet.nd as same, mxnet.init, mxnet.gluon.parameter as parameter
assert same is mx.nd is nd is mxlite.nd and mx.gluon.nn is layers is mxlite.gluon.nn
assert init is mxlite.initializer is sys.modules["mxnet.init"]
assert parameter is mxlite.gluon.parameter and parameter.__spec__.name == parameter.__name__ == "mxlite.gluon.parameter"
assert __name__ == "__main__" and sys.modules["__main__"].__dict__ is globals()
print(mx.__version__, sys.argv, os.path.basename(sys.path[0]), __file__, nd.ones(2).sum().asscalar(), beside.X)
print(mxlite.__version__)
"""
    (tmp_path / "given").mkdir()
    (tmp_path / "given/beside.py").write_text("X = 5", encoding="utf-8")
    done = _run(source, "-n", "--as", "3", folder=tmp_path)
    expected = "1.9.1 ['given/script.py', '-n', '--as', '3'] given given/script.py 2.0 5"
    assert (done.stdout.splitlines(), done.stderr) == ([expected, mxlite.__version__], "")
    assert done.returncode == 0


def test_a_script_in_the_name_of_pytorch(tmp_path: Path) -> None:
    source = "import torch\nfrom torch.nn import functional as F\nprint(F.relu(torch.tensor([-1.0, 2.0])).tolist())"
    done = _run(source, folder=tmp_path, before=("--as", "torch"))
    assert (done.stdout, done.stderr, done.returncode) == ("[0.0, 2.0]\n", "", 0)


def test_a_module(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text("import sys, mxnet\nprint(__name__, sys.argv[1:], mxnet.__version__)\n1 / 0\n")
    done = _command("run", "-m", "part", "-x", folder=tmp_path)
    assert (done.stdout, done.returncode) == ("__main__ ['-x'] 1.9.1\n", 1)
    assert done.stderr.count("File ") == 1 and "part.py" in done.stderr


@pytest.mark.parametrize(
    "source",
    ["1 / 0", "def f():\n    raise ValueError(5)\nf()", "x = (", "import nowhere", "import sys; sys.exit('why')"],
)
def test_errors_are_shown_as_python_shows_them(source: str, tmp_path: Path) -> None:
    mine = _run(source, folder=tmp_path)
    python = subprocess.run(
        [sys.executable, "given/script.py"], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert mine.returncode == python.returncode == 1
    assert mine.stderr.replace(str(tmp_path) + "/", "") == python.stderr.replace(str(tmp_path) + "/", "")


def test_exit_codes(tmp_path: Path) -> None:
    assert _run("import sys; sys.exit(7)", folder=tmp_path).returncode == 7
    assert _run("import sys; sys.exit()", folder=tmp_path).returncode == 0
    for words, message in (
        (("run",), "the script to run is missing"),
        (("run", "nowhere.py"), "can't open file 'nowhere.py'"),
        (("run", "-n", "0", "given/script.py"), "-n: there must be a worker at least"),
        (("run", "-n", "four", "given/script.py"), "invalid int value: 'four'"),
        (("run", "--as", "numpy", "x.py"), "invalid choice"),
    ):
        done = _command(*words, folder=tmp_path)
        assert done.returncode == 2 and message in done.stderr


def test_missing_parts_say_so(tmp_path: Path) -> None:
    source = "import importlib.util\nassert importlib.util.find_spec('mxnet.foo') is None\nimport mxnet.foo"
    done = _run(source, folder=tmp_path)
    assert done.returncode == 1 and "No module named 'mxnet.foo': it is missing in mxlite" in done.stderr


def test_pickles_that_name_mxnet(tmp_path: Path) -> None:
    source = "import pickle, mxlite\nprint(pickle.loads(b'cmxnet.context\\nContext\\n.') is mxlite.Context)"
    assert _run(source, folder=tmp_path).stdout == "True\n"
