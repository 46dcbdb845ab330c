"""`mxlite run` for old programs: what it puts back of NumPy and Python, GPUs as the CPU, and sources of Python 2.

The answers of NumPy 1.23.5 and Python 3.7 are in old_numpy.json and old_python.json; old_programs.py records them.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import mxlite as mx
from mxlite._cli._old import _hints, names, numpy_tables, python_tables

HERE = Path(__file__).parent
PROGRAMS = HERE / "old_programs.py"
SAYS = "mxlite run: put back what "


def _run(*words: str, source: str = "", folder: Path) -> subprocess.CompletedProcess[str]:
    """`mxlite run`, of a source where there is one: script.py in the folder."""
    if source:
        (folder / "script.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "mxlite", "run", *words, *["script.py"] * bool(source)]
    given = {**os.environ, "PYTHONWARNINGS": "ignore"}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300, env=given)


def _said(stderr: str) -> dict[str, str]:
    """The names in the one line on stderr, and their places."""
    (line,) = stderr.splitlines()
    assert line.startswith(SAYS) and line.endswith("; --strict leaves it out"), stderr
    parts = line[len(SAYS) : line.rindex(";")].partition(": ")[2].split(", ")
    return {name: place.rstrip(")") for name, _, place in (part.rpartition(" (") for part in parts)}


@pytest.fixture(scope="module")
def used() -> dict[str, set[str]]:
    """What the sections of old_programs.py have used, as the command says; it checks their answers."""
    found = {}
    for section in ("numpy", "python", "gone"):
        done = _run(str(PROGRAMS), section, folder=HERE)
        assert done.returncode == 0, done.stderr
        if section == "gone":
            import old_programs

            expected = old_programs.GONE_ANSWERS
        else:
            expected = json.loads((HERE / f"old_{section}.json").read_text(encoding="utf-8"))
        answers = json.loads(done.stdout)
        expected.pop("public_names()", None), answers.pop("public_names()", None)
        assert answers == expected
        found[section] = set(_said(done.stderr)) if done.stderr else set()  # NumPy may be an old one
    return found


def test_names_of_old_numpys_and_pythons_have_their_old_meaning(used: dict[str, set[str]]) -> None:
    assert hasattr(np, "alltrue") or "np.alltrue" in used["numpy"]
    assert "time.clock" in used["python"] and {"np.asscalar", "os.errno"} <= used["gone"]


def test_each_name_that_is_put_back_is_tried(used: dict[str, set[str]]) -> None:
    tried = set().union(*used.values())
    source = "import importlib, json, sys\nfound = []\nfor name in json.load(sys.stdin):\n" + "".join(
        f"    {line}\n"
        for line in (
            "parts = ('numpy' + name[2:] if name.startswith('np.') else name).split('.')",
            "for at in range(len(parts), 0, -1):",
            "    try:",
            "        held = importlib.import_module('.'.join(parts[:at]))",
            "        for part in parts[at:]: held = getattr(held, part)",
            "    except (ImportError, AttributeError): continue",
            "    found.append(name); break",
        )
    )
    left = [name for name in names() if name not in tried and " " not in name and "=" not in name and name[-1] != "*"]
    command = [sys.executable, "-W", "ignore", "-c", source + "print(json.dumps(found))"]
    done = subprocess.run(command, input=json.dumps(left), capture_output=True, text=True, timeout=60, check=True)
    assert sorted(set(left) - set(json.loads(done.stdout))) == []


def test_all_that_numpy_had_is_there_or_named() -> None:
    recorded = json.loads((HERE / "old_numpy.json").read_text(encoding="utf-8"))["public_names()"]
    had = ast.literal_eval(recorded[len("list(") - 1 :].replace("(", "[", 1)[:-1] + "]")
    assert len(had) > 500
    of_no_use = {
        "matlib",
        "kernel_version",
        "matrixlib",
        "numarray",
        "oldnumeric",
        "use_hugepage",
        "add_newdoc_ufunc",
        "Tester",
    }
    known = {*numpy_tables.NAMES["numpy"], *(name[3:] for name in numpy_tables.NOT_PUT_BACK), *of_no_use}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [name for name in had if name not in known and not hasattr(np, name)] == []


def test_nothing_is_put_back_if_strict(tmp_path: Path) -> None:
    source = "import numpy as np\nprint(hasattr(np, 'alltrue'), hasattr(np, 'PINF'))\nxrange"
    done = _run("--strict", source=source, folder=tmp_path)
    new = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
    assert (done.stdout, done.returncode) == ("False False\n" if new else "True True\n", 1)
    assert "mxlite" not in done.stderr and "xrange" in done.stderr


def test_a_name_is_said_once_and_where(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text("import numpy\n\ndef f():\n    return numpy.rank\n", encoding="utf-8")
    (tmp_path / "cgi.py").write_text("mine = 5\n", encoding="utf-8")
    source = """
import numpy as np
from part import f
import cgi
for _ in range(3):
    assert f() is np.rank and np.rank([[1]]) == 2
assert np.asscalar(np.zeros(1)) == 0.0
assert cgi.mine == 5 and not hasattr(cgi, "escape")
from numpy import alen
np.no_such_name
"""
    done = _run(source=source, folder=tmp_path)
    *trace, line = done.stderr.splitlines()
    expected = {"np.rank": "part.py:4", "np.asscalar": "script.py:7", "np.alen": "script.py:9"}
    assert _said(line) == expected
    python = subprocess.run(
        [sys.executable, "-c", "import numpy as np\nnp.no_such_name"], capture_output=True, text=True
    )
    assert trace[-1] == python.stderr.splitlines()[-1]
    assert "_old" not in done.stderr and done.returncode == 1


def test_a_program_that_uses_none_hears_nothing(tmp_path: Path) -> None:
    source = """
import numpy as np, mxnet, random, json, threading, unittest
np.array([1]), random.sample([1], 1), random.seed(1), random.randint(1, 2)
for kind in (np.ndarray, unittest.TestCase, threading.Thread):  # as pytest and nose do
    [getattr(kind, name) for name in [*dir(kind), "isAlive", "failUnless"] if hasattr(kind, name)]
"""
    done = _run(source=source, folder=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_other_processes_of_the_program(tmp_path: Path) -> None:
    source = """
import multiprocessing, sys
import numpy as np, mxnet as mx
from mxnet import gluon

def work(number):
    return float(mx.nd.ones((1,)).asnumpy()) + np.rank(number) + number, str(mx.gpu(number).device_id)

class Data(gluon.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, at):
        return np.asscalar(np.array([at]))

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map(work, range(2)))
        pool.close()
        pool.join()
    if sys.argv[1] == "fork":
        print([batch.asnumpy().tolist() for batch in gluon.data.DataLoader(Data(), 2, num_workers=1)])
"""
    (tmp_path / "script.py").write_text(source, encoding="utf-8")
    for way in ("fork", "spawn"):
        done = _run("--cpu", "script.py", way, folder=tmp_path)
        assert done.stdout.splitlines()[0] == "[(1.0, '0'), (2.0, '1')]", done.stderr
        line, said = done.stderr.splitlines()
        assert line == "mxlite run --cpu: gpu(0), as every GPU, is the CPU here"
        assert "np.rank" in said and ("np.asscalar" in said) == (way == "fork")
        assert said.count(SAYS) == 1


def _without_mpi(text: str) -> list[str]:
    """The lines but those in which MPI's parts say what they miss in a container (no /sys)."""
    return [line for line in text.splitlines() if "[hwloc/" not in line and " UCX " not in line]


def test_workers_of_the_store_get_the_options(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    source = """
import sys, mxnet as mx, numpy as np
store = mx.kv.create("dist_sync")
count = np.asscalar(np.array([store.num_workers]))
sys.stdout.write(f"{count} {mx.gpu(1)} {mx.context.num_gpus()}\\n")  # in one piece: the workers write at once
"""
    done = _run("-n", "2", "--cpu", "--gpus", "3", source=source, folder=tmp_path)
    assert _without_mpi(done.stdout) == ["2 cpu(1) 3"] * 2, done.stderr
    assert done.stderr.count("is the CPU here") == done.stderr.count("np.asscalar") == 1, done.stderr
    source = "import mxnet as mx, numpy as np\nprint(hasattr(np, 'asscalar'), mx.gpu(1))"
    done = _run("-n", "1", "--strict", source=source, folder=tmp_path)
    assert (_without_mpi(done.stdout), _without_mpi(done.stderr)) == (["False gpu(1)"], [])


# ---- GPUs ----


def test_gpus_are_the_cpu_if_asked(tmp_path: Path) -> None:
    source = """
import pickle, sys
import mxnet as mx
print(mx.context.num_gpus(), mx.util.get_gpu_count(), list(mx.test_utils.list_gpus()))
assert sys.stderr.write("") == 0 and mx.gpu(0) == mx.gpu() == mx.Context("gpu") == mx.cpu(0) != mx.gpu(1) == mx.cpu(1)
devices = [mx.gpu(0), mx.gpu(1)]
x = mx.nd.ones((4, 2), ctx=mx.gpu(1))
assert x.context == mx.gpu(1) and str(x.context) == "cpu(1)" and x.as_in_context(mx.gpu(0)).context == mx.gpu(0)
assert x.copyto(mx.gpu(0)).context == mx.gpu(0) and mx.nd.zeros((2,), ctx="gpu(0)").context == mx.gpu(0)
with mx.gpu(1):
    assert mx.nd.ones(2).context == mx.gpu(1)
net = mx.gluon.nn.Dense(2, in_units=2)
net.initialize(ctx=devices)
assert [each.context for each in net.weight.list_data()] == devices
trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
with mx.autograd.record():
    losses = [net(part).sum() for part in mx.gluon.utils.split_and_load(x, devices)]
mx.autograd.backward(losses)
trainer.step(4)
y = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2)
module = mx.mod.Module(y, label_names=None, context=devices)
module.bind([("data", (4, 2))], for_training=False)
module.init_params()
module.forward(mx.io.DataBatch([x]))
assert module.get_outputs()[0].shape == (4, 2)
assert mx.sym.zeros(shape=(2,)).eval(ctx=mx.gpu())[0].context == mx.gpu()
mx.random.seed(1, ctx=mx.gpu())
mx.gpu().empty_cache()
free, total = mx.context.gpu_memory_info(0)
assert 0 < free <= total and mx.gpu_memory_info(0)[1] == total
kept = pickle.loads(pickle.dumps(mx.cpu(1)).replace(b"device_typeid\\x94K\\x01", b"device_typeid\\x94K\\x02"))
assert kept == mx.gpu(1)
"""
    for options, first in ((("--cpu", "--gpus", "2"), "2 2 [0, 1]"), (("--cpu", "--strict"), "0 0 []")):
        done = _run(*options, source=source, folder=tmp_path)
        assert (done.stdout, done.returncode) == (first + "\n", 0), done.stderr
        assert done.stderr == "mxlite run --cpu: gpu(0), as every GPU, is the CPU here\n"


def test_gpus_of_torch_are_the_cpu_if_asked(tmp_path: Path) -> None:
    source = """
import torch
print(torch.cuda.is_available(), torch.cuda.device_count())
device = torch.device("cuda:0")
x = torch.ones(2).cuda()
assert x.device == device == torch.device("cpu") and torch.zeros(2, device="cuda").device == device
assert x.to("cuda:1").device == x.to(0).device == torch.nn.Linear(2, 2).cuda().to(device)(x).device == device
assert torch.cuda.current_device() == 0 and isinstance(torch.cuda.get_device_name(), str)
torch.cuda.synchronize()
"""
    done = _run("--as", "torch", "--cpu", "--gpus", "1", source=source, folder=tmp_path)
    assert (done.stdout, done.returncode) == ("True 1\n", 0), done.stderr
    assert done.stderr.count("is the CPU here") == len(done.stderr.splitlines()) == 1
    done = _run("--as", "torch", "--cpu", source=source, folder=tmp_path)
    assert (done.stdout, done.returncode) == ("False 0\n", 0)


def test_an_error_about_a_gpu_names_the_option() -> None:
    import mxlite.torch as torch

    y = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2)
    for call in (
        lambda: mx.nd.ones(2, ctx=mx.gpu()),
        lambda: mx.nd.ones(2).as_in_context(mx.gpu()),
        lambda: mx.nd.random.uniform(shape=2, ctx="gpu(0)"),
        lambda: mx.gluon.nn.Dense(2).initialize(ctx=mx.gpu()),
        lambda: mx.sym.zeros(shape=(2,)).eval(ctx=mx.gpu()),
        lambda: y.simple_bind(mx.gpu(), data=(2, 2)),
        lambda: mx.mod.Module(y, label_names=None, context=mx.gpu()).bind([("data", (1, 1))]),
        mx.gpu_memory_info,
        mx.gpu().empty_cache,
        lambda: mx.random.seed(1, ctx=mx.gpu()),
    ):
        with pytest.raises(mx.MXNetError, match=r"gpu\(0\) is not available: .*`mxlite run --cpu`"):
            call()
    for of_torch in (lambda: torch.ones(2).cuda(), lambda: torch.ones(2, device="cuda"), torch.cuda.synchronize):
        with pytest.raises(AssertionError, match="`mxlite run --as torch --cpu`"):
            of_torch()
    assert mx.context.num_gpus() == torch.cuda.device_count() == 0 and str(mx.gpu(1)) == "gpu(1)"


@pytest.mark.parametrize("words", [("--gpus", "1"), ("--cpu", "--gpus", "-1")])
def test_a_number_of_gpus_without_the_cpu(words: tuple[str, ...], tmp_path: Path) -> None:
    done = _run(*words, source="1", folder=tmp_path)
    assert done.returncode == 2 and "--gpus: a number from 0 on, with --cpu" in done.stderr


# ---- Python 2 ----


@pytest.mark.parametrize(
    "line",
    [
        "print x",
        "print 'a', x",
        "print 'a' % (x)",
        "if x: print x",
        "print >>sys.stderr, 'a'",
        "try: pass\nexcept E, e: pass",
        "try: pass\nexcept (E, F), e: pass",
        "raise E, 'a'",
        "exec 'a'",
        "x <> y",
        "`x`",
        "ur'a'",
        "x = 0777",
        "x = 10L",
        "x = 0xFFL",
        "def f((a, b)): pass",
        "lambda (a, b): a",
    ],
)
def test_a_source_of_python_2_is_told(line: str) -> None:
    try:
        compile(line, "old.py", "exec", dont_inherit=True)
        exec(line, {"sys": sys, "x": 1})
    except Exception as error:
        text = _hints.of_source(error) or _hints.after(error) or ""
    number = line.count("\n") + 1
    assert "Python 2" in text and "`pip install fissix` and `python -m fissix -w " in text
    assert f"old.py, line {number}: this is Python 2 (" in text or line.startswith("print >>")


@pytest.mark.parametrize(
    "line",
    ["x = (", "f(1 2)", "print('a' 1)", "x = '<> `a` 10L", "def f(:", "if x print(1)", "for x in y", "x = # <>\n("],
)
def test_other_wrong_sources_are_not_taken_for_python_2(line: str) -> None:
    with pytest.raises(SyntaxError) as caught:
        compile(line, "new.py", "exec", dont_inherit=True)
    assert _hints.of_source(caught.value) is None and _hints.after(caught.value) is None


@pytest.mark.parametrize(
    "line",
    [
        "xrange(3)",
        "unicode('a')",
        "raw_input()",
        "basestring",
        "reduce(f, [])",
        "long(3)",
        "{}.iteritems()",
        "{}.has_key(1)",
        "collections.OrderedDict().itervalues()",
        "iter([]).next()",
        "'a'.decode('utf-8')",
        "(lambda: 0).func_name",
        "sys.maxint",
        "string.letters",
        "string.maketrans('a', 'b')",
        "itertools.izip([], [])",
        "from itertools import izip",
        "import cPickle",
        "import urllib2",
        "import Queue",
        "urllib.urlopen('a')",
        "os.getcwdu()",
    ],
)
def test_names_of_python_2_are_told(line: str) -> None:
    held: dict[str, object] = {"f": max}
    exec("import collections, itertools, os, string, sys, urllib", held)
    with pytest.raises((NameError, AttributeError, ImportError)) as caught:
        exec(compile(line, "old.py", "exec"), held)
    assert "is of Python 2: if this program is, `pip install fissix` and" in (_hints.after(caught.value) or "")


@pytest.mark.parametrize(
    "line", ["xrang", "{}.iteritem", "import cPickl", "sys.maxin", "'a'.nothing", "import urllib3x"]
)
def test_other_names_are_not_taken_for_python_2(line: str) -> None:
    with pytest.raises((NameError, AttributeError, ImportError)) as caught:
        exec(line, {"sys": sys})
    assert _hints.after(caught.value) is None


def test_a_source_of_python_2_ends_with_one_line(tmp_path: Path) -> None:
    done = _run(source="import mxnet\n\nprint 'a'\n", folder=tmp_path)
    version = f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    told = "`pip install fissix` and `python -m fissix -w {}` rewrite it for " + version
    line = "mxlite run: script.py, line 3: this is Python 2 (the statement print); " + told.format("script.py")
    assert (done.stdout, done.stderr, done.returncode) == ("", line + "\n", 1)
    (tmp_path / "part.py").write_text("def f(x):\n    print x\n", encoding="utf-8")
    done = _run(source="import part", folder=tmp_path)
    file = str(tmp_path / "part.py")
    line = f"mxlite run: {file}, line 2: this is Python 2 (the statement print); " + told.format(file)
    assert (done.stderr, done.returncode) == (line + "\n", 1)
    (tmp_path / "part.py").write_text("def f(x):\n    return x.iteritems()\n", encoding="utf-8")
    done = _run(source="import part\npart.f({})", folder=tmp_path)
    line = "mxlite run: dict.iteritems is of Python 2: if this program is, " + told.format(file)
    assert done.stderr.splitlines()[-1] == line and done.stderr.startswith("Traceback") and done.returncode == 1


def test_modules_that_are_gone_have_a_package() -> None:
    for name, advice in python_tables.NOT_PUT_BACK.items():
        kind, _, module = name.partition(" ")
        if kind == "module":
            errors: list[Exception] = [ModuleNotFoundError(f"No module named {module!r}", name=module)]
        else:
            owner, _, lost = name.partition(".")
            errors = [AttributeError(f"module {owner!r} has no attribute {lost!r}")]
            errors += [ImportError(f"cannot import name {lost!r} from {owner!r} (x.py)", name=owner)]
        for error in errors:
            assert (_hints.after(error) or "").endswith(f" has no {module or name} any more: {advice}")
    part = ModuleNotFoundError("No module named 'distutils.core'", name="distutils.core")
    assert "pip install setuptools" in (_hints.after(part) or "")
    error = AttributeError("module 'numpy' has no attribute 'set_numeric_ops'")
    assert _hints.after(error) == "np.set_numeric_ops cannot be put back: arithmetic is fixed in NumPy 2"
