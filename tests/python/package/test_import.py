"""Importing, leaving, interrupting and forking: what the process sees of mxlite."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mxlite as mx
from mxlite import _lib


def run(code: str, *arguments: str) -> subprocess.CompletedProcess:
    """A fresh interpreter; what it prints to stderr is an error."""
    return subprocess.run([sys.executable, *arguments, "-c", code], capture_output=True, text=True, timeout=120)


def check(code: str, *arguments: str) -> str:
    """What the code prints; it must end with 0 and nothing in stderr."""
    done = run(code, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


_COST = """
import os, time, json
import numpy
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
tasks, memory, start = len(os.listdir("/proc/self/task")), resident(), time.process_time()
import mxlite
seconds = time.process_time() - start
print(json.dumps([seconds, resident() - memory, len(os.listdir("/proc/self/task")) - tasks]))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="counts memory and threads in /proc")
def test_cost_of_importing() -> None:
    """At most 0.2 s of the processor and 30 MB on top of NumPy, and no thread; other programs take time, too."""
    seen = [json.loads(check(_COST)) for _ in range(4)][1:]
    assert min(seconds for seconds, _, _ in seen) <= 0.2
    assert min(megabytes for _, megabytes, _ in seen) <= 30
    assert {threads for _, _, threads in seen} == {0}


def test_importing_prints_nothing() -> None:
    assert check("import mxlite", "-W", "error") == ""


def test_where_things_are() -> None:
    assert Path(mx.get_library()).exists() and mx.get_library().endswith(".so")
    assert (Path(mx.get_include()) / "mxlite" / "c_api.h").exists()
    assert mx.__version__.count(".") == 2


def test_a_source_tree_that_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `import mxlite` meets there hides an installed one."""
    monkeypatch.delenv("MXLITE_LIBRARY", raising=False)
    monkeypatch.setattr(_lib, "_HERE", str(tmp_path / "mxlite"))
    with pytest.raises(RuntimeError, match=r"/mxlite nor in .*`make lib`; to use an installed mxlite start Python in"):
        _lib.get_library()


def test_python_m_mxlite() -> None:
    done = subprocess.run([sys.executable, "-m", "mxlite", "--json"], capture_output=True, text=True, timeout=60)
    facts = json.loads(done.stdout)
    assert done.returncode == 0 and done.stderr == ""
    assert facts["version"] == mx.__version__ and facts["binding"] == _lib.BINDING
    assert facts["library"] == mx.get_library() and facts["include"] == mx.get_include()
    assert facts["threads"] >= 1 and facts["vector_level"]
    table = subprocess.run([sys.executable, "-m", "mxlite"], capture_output=True, text=True, timeout=60).stdout
    assert f"binding:      {_lib.BINDING}\n" in table


_FUNCTION = """
import mxlite as mx
from mxlite import nd, autograd
class F(autograd.Function):
    def forward(self, a):
        y = a * 2
        self.save_for_backward(a, y)
        return y
    def backward(self, g):
        a, y = self.saved_tensors
        return g * 2
x = nd.ones((3,))
x.attach_grad()
"""

LIVE = {
    "arrays": "import mxlite as mx; x = mx.nd.ones((3,)); kept = [x + i for i in range(10)]",
    "graph": _FUNCTION + "with autograd.record():\n    y = (x * x).sum()",
    "function": _FUNCTION + "with autograd.record():\n    y = F()(x)",
    "recording": _FUNCTION + "autograd.set_recording(True)\ny = F()(x)",
    "cycle": _FUNCTION + "loop = [x]\nloop.append(loop)",
    "attribute": _FUNCTION + "with autograd.record():\n    f = F(); f.y = f(x)",
    "builtins": "import builtins, mxlite as mx; builtins.kept = mx.nd.ones((3,)); import sys; sys.kept = builtins.kept",
    "thread": "import mxlite as mx, threading, time\n"
    "t = threading.Thread(target=lambda: [mx.nd.ones((3,)) for _ in range(10**9)], daemon=True)\nt.start()\n"
    "time.sleep(0.2)",
    "exception": "import mxlite as mx\ntry:\n    mx.nd.ones((2,)) + mx.nd.ones((3,))\n"
    "except mx.MXNetError as problem:\n    kept = problem",
}


@pytest.mark.parametrize("what", LIVE)
def test_leaving_with_live_arrays(what: str) -> None:
    assert check(LIVE[what]) == ""


_LONG = (
    _FUNCTION
    + """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
class Slow(autograd.Function):
    def forward(self, a):
        return a + 1
    def backward(self, g):
        return sum((g * 1 for _ in range(5)), g * 0)
def chain():
    with autograd.record():
        y = x
        for _ in range(2000):
            y = Slow()(y)
    return y
y = chain()
print("ready", flush=True)
try:
    while True:
        y.backward(retain_graph=True)
except KeyboardInterrupt:
    print("interrupted", autograd.is_recording(), autograd.is_training(), flush=True)
with autograd.record():
    z = (x * x).sum()
z.backward()
print(x.grad.asnumpy().tolist())
"""
)


@pytest.mark.parametrize("attempt", range(3))
def test_control_c_during_backward(attempt: int) -> None:
    process = subprocess.Popen([sys.executable, "-c", _LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1 + 0.07 * attempt)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (0, "")
    assert out == "interrupted False False\n[2.0, 2.0, 2.0]\n"


_FORK = """
import os, sys
import mxlite as mx
x = mx.nd.ones((400, 400))
x.attach_grad()
def work():
    with mx.autograd.record():
        y = mx.nd.dot(x, x).sum()
    y.backward()
    return float(x.grad.sum().asscalar())
first = work()
child = os.fork()
if child == 0:
    os._exit(0 if work() == first else 1)
_, status = os.waitpid(child, 0)
print(status, work() == first)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_goes_on_computing() -> None:
    assert check(_FORK, "-W", "ignore") == "0 True\n"


# ---- tools/check_imports.py ----

_CHECK_IMPORTS = Path(__file__).resolve().parents[3] / "tools" / "check_imports.py"


def check_imports(root: Path) -> subprocess.CompletedProcess:
    """What the check says of the package mxlite/ in a folder."""
    return subprocess.run([sys.executable, _CHECK_IMPORTS, root], capture_output=True, text=True, timeout=120)


def test_the_package_has_no_cycle_of_imports() -> None:
    done = check_imports(_CHECK_IMPORTS.parents[1])
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("closing", "is_cycle"),
    [
        ("import mxlite.b", True),
        ("from mxlite import b", True),
        ("from mxlite.b import name", True),
        ("from . import b", True),
        ("from .b import name", True),
        ("def f():\n    from mxlite.b import name", True),
        ("class A:\n    def f(self):\n        import mxlite.b", True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from mxlite.b import name", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import mxlite.b", True),
        ("import numpy", False),
    ],
)
def test_check_imports_finds_a_cycle(tmp_path: Path, closing: str, is_cycle: bool) -> None:
    package = tmp_path / "mxlite"
    package.mkdir()
    (package / "__init__.py").write_text("from mxlite import a, b\n")
    (package / "a.py").write_text(closing + "\n")
    (package / "b.py").write_text("from mxlite import a\nname = 1\n")
    done = check_imports(tmp_path)
    assert done.returncode == is_cycle, done.stdout
    assert ("mxlite.a -> mxlite.b -> mxlite.a" in done.stdout) == is_cycle


# ---- the modules that `import mxnet` leaves behind ----

_REFERENCE = Path(__file__).resolve().parents[2] / "reference" / "modules.json"

#: Modules of 1.9.1 that are not here, by their beginnings: of mx.np, of sparse arrays, of its own front end, of CUDA
#: and of exporters; `torch` is another one here.
_NOT_HERE = """
    api contrib.onnx. kvstore.kvstore_server ndarray.gen_ ndarray.numpy ndarray.register ndarray.sparse
    ndarray.utils ndarray_doc numpy onnx. rnn rtc symbol.gen_ symbol.numpy symbol.register symbol.sparse symbol_doc
    torch tvmop
"""

_LEFT = """
import json, sys, time
import mxlite
before = set(sys.modules)
mxlite.install_as_mxnet()
import mxnet
print(json.dumps([sorted(name for name in sys.modules if name.startswith("mxnet.")), "mxlite.gluon" in sys.modules]))
"""


def _loaded() -> list[str]:
    """The public modules of 1.9.1 that are in sys.modules there, but for those that are not here."""
    names = [name[len("mxnet.") :] for name in json.loads(_REFERENCE.read_text())["loaded"] if name != "mxnet"]
    return [name for name in names if "._" not in f".{name}" and not name.startswith(tuple(_NOT_HERE.split()))]


def test_modules_are_in_sys_modules_as_in_1_9_1() -> None:
    there, gluon_is_imported = json.loads(check(_LEFT))
    assert {f"mxnet.{name}" for name in _loaded()} <= set(there) and not gluon_is_imported
    beyond = {name[len("mxnet.") :] for name in there if "._" not in name} - set(_loaded())
    assert all(hasattr(mx, name.partition(".")[0]) for name in beyond)


_LAZY_MODULES = """
import importlib, inspect, pickle, pydoc, sys
import mxlite
mxlite.install_as_mxnet()
from mxlite._public import loaded
def idle(): return [name for name in loaded.names() if type(sys.modules["mxnet." + name]).__name__ == "_LazyModule"]
count = len(idle())
inspect.getmodule(idle), pydoc.apropos, repr(sys.modules["mxnet.symbol"])
for module in list(sys.modules.values()):  # as unittest and debuggers do
    getattr(module, "__warningregistry__", None), getattr(module, "__file__", None)
assert count > 80 and len(idle()) == count
symbol = sys.modules["mxnet.symbol"]
assert symbol.Symbol is mxlite.sym.Symbol and sys.modules["mxnet.symbol"] is mxlite.symbol and "var" in dir(symbol)
import mxnet.contrib.svrg_optimization.svrg_module  # its parent is lazy
import mxnet.gluon.nn as nn
from mxnet.module import Module
assert nn is mxlite.gluon.nn and sys.modules["mxnet.module"].Module is Module is mxlite.mod.Module
sys.modules["mxnet.metric"].of_mine = 3
assert mxlite.metric.of_mine == 3
if sys.version_info >= (3, 11):
    assert importlib.import_module("mxnet.optimizer") is mxlite.optimizer
pickle.whichmodule(object(), "no_such_name")  # asks all modules
assert idle() == []
for name, own in loaded.names().items():
    assert sys.modules["mxnet." + name] is importlib.import_module("mxlite." + own), name
"""


def test_lazy_modules_are_imported_at_their_first_use() -> None:
    assert check(_LAZY_MODULES) == ""
