"""What the modules show in `dir()` and export, and what is said of a name that mxlite lacks."""

from __future__ import annotations

import importlib
import importlib.util
import json
import pkgutil
import pydoc
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite import nd
from mxlite._public import imported
from mxlite._public.lacking import reason

#: Modules that hold the parts of mx.nd; what is public in them, mx.nd has.
PARTS = {f"mxlite.ndarray.{name}" for name in ("creation", "exchange", "files", "ndarray", "pairs", "shapes")}
PARTS |= {"mxlite.symbol.creation", "mxlite.symbol.symbol"}
PARTS |= {"mxlite.autograd.anomaly", "mxlite.autograd.saved"}


def _modules() -> list[str]:
    found = [row.name for row in pkgutil.walk_packages(mx.__path__, "mxlite.")]
    return ["mxlite", *(name for name in found if "._" not in name and name not in PARTS)]


MODULES = _modules()
#: Names of modules that are somewhere else.
ALIASES = {("mxlite.contrib", name) for name in ("nd", "ndarray", "sym", "symbol")}


def test_the_modules() -> None:
    assert {"mxlite.autograd.graph", "mxlite.ndarray.op", "mxlite.torch.nn.functional", "mxlite.util"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_dir_shows_what_is_public(name: str) -> None:
    module = importlib.import_module(name)
    shown = {each for each in dir(module) if each[:2] != "__"}
    exported = {each for each in module.__all__ if each[:2] != "__"}
    of_others = exported - shown  # what 1.9.1's module gives by `import *`
    assert shown <= exported and len(module.__all__) == len(set(module.__all__))
    assert of_others <= set(imported.names(name.partition(".")[2]))
    private = {each for each in shown if each[0] == "_"}
    expected = {"mxlite.base": {"_LIB", "_Null"}, "mxlite.ndarray": {"_internal"}, "mxlite.symbol": {"_internal"}}
    assert private == expected.get(name, private if name.endswith("._internal") else set())
    for each in shown:
        value = getattr(module, each)
        if isinstance(value, types.ModuleType):  # its own, or another name of one
            assert value.__name__.startswith(f"{name}.") or (name, each) in ALIASES


@pytest.mark.parametrize("name", [name for name in MODULES if name != "mxlite.torch"])
def test_a_star_imports_what_is_public(name: str) -> None:
    scope: dict[str, object] = {}
    exec(f"from {name} import *", scope)
    assert scope.keys() - {"__builtins__"} == set(importlib.import_module(name).__all__)


def test_dir_of_what_is_in_a_module() -> None:
    assert {"exp", "zeros", "NDArray", "random", "FullyConnected"} <= set(dir(nd))
    assert {"backward", "record", "Function", "graph"} <= set(dir(mx.autograd))
    hidden = {"importlib", "annotations", "os", "sys", "exchange", "threading"}
    assert not hidden & {*dir(mx), *dir(nd), *dir(torch)} and "np" not in dir(nd)
    members = [name for name in dir(nd.NDArray) if name[0] != "_"]
    assert {"asnumpy", "attach_grad", "exp", "tolist"} <= set(members) and all(
        hasattr(nd.ones(1), name) for name in members
    )


MXNET = "it is missing in mxlite; `mxlite help compatibility not supported yet` says what else is"
RTC = MXNET.replace(";", f": {reason('mxlite', 'rtc')};", 1)
NP = MXNET.replace(";", f": {reason('mxlite', 'np_symbol')};", 1)
PYTORCH = "it is missing in mxlite; `mxlite help from-pytorch what differs` says what else is"


@pytest.mark.parametrize(
    ("statement", "message", "where"),
    [
        ("mx.rtc", "module 'mxlite' has no attribute 'rtc'", RTC),
        ("mx.np_symbol", "module 'mxlite' has no attribute 'np_symbol'", NP),
        ("mx.rtc.CudaModule", "module 'mxlite' has no attribute 'rtc'", RTC),
        ("mx.gluon.foo", "module 'mxlite.gluon' has no attribute 'foo'", MXNET),
        ("nd.foo", "module 'mxlite.ndarray' has no attribute 'foo'", MXNET),
        ("nd.sparse.foo", "module 'mxlite.ndarray.sparse' has no attribute 'foo'", MXNET),
        ("nd.contrib.foo", "module 'mxlite.ndarray.contrib' has no attribute 'foo'", MXNET),
        ("nd._internal._foo", "module 'mxlite.ndarray._internal' has no attribute '_foo'", MXNET),
        ("mx.random.foo", "module 'mxlite.random' has no attribute 'foo'", MXNET),
        ("mx.util.foo", "module 'mxlite.util' has no attribute 'foo'", MXNET),
        ("mx.test_utils.foo", "module 'mxlite.test_utils' has no attribute 'foo'", MXNET),
        ("mx.autograd.foo", "module 'mxlite.autograd' has no attribute 'foo'", MXNET),
        ("torch.jit", "module 'mxlite.torch' has no attribute 'jit'", PYTORCH),
        ("torch.nn.DataParallel", "module 'mxlite.torch.nn' has no attribute 'DataParallel'", PYTORCH),
        ("torch.nn.functional.scaled_mm", "module 'mxlite.torch.nn.functional' has no attribute 'scaled_mm'", PYTORCH),
        ("torch.testing.FileCheck", "module 'mxlite.torch.testing' has no attribute 'FileCheck'", PYTORCH),
        ("torch.linalg.krylov", "module 'mxlite.torch.linalg' has no attribute 'krylov'", PYTORCH),
        ("torch.cuda.Stream", "module 'mxlite.torch.cuda' has no attribute 'Stream'", PYTORCH),
        ("torch.autograd.foo", "module 'mxlite.torch.autograd' has no attribute 'foo'", PYTORCH),
        ("import mxlite.rtc", "No module named 'mxlite.rtc'", RTC),
        ("import mxlite.rtc.kernels", "No module named 'mxlite.rtc'", RTC),
        ("from mxlite import rtc", "No module named 'mxlite.rtc'", RTC),
        ("from mxlite.gluon.nn import Foo", "No module named 'mxlite.gluon.nn.Foo'", MXNET),
        ("from mxlite.ndarray import foo", "No module named 'mxlite.ndarray.foo'", MXNET),
        ("from mxlite.util import foo", "No module named 'mxlite.util.foo'", MXNET),
        ("import mxlite.torch.jit", "No module named 'mxlite.torch.jit'", PYTORCH),
        ("from mxlite.torch import jit", "No module named 'mxlite.torch.jit'", PYTORCH),
        ("import mxlite.torch.utils.tensorboard", "No module named 'mxlite.torch.utils.tensorboard'", PYTORCH),
        ("from mxlite.torch.nn import DataParallel", "No module named 'mxlite.torch.nn.DataParallel'", PYTORCH),
        ("from mxlite.torch.linalg import krylov", "No module named 'mxlite.torch.linalg.krylov'", PYTORCH),
        ("import mxlite.nd", "No module named 'mxlite.nd'", "write 'from mxlite import nd'"),
    ],
)
def test_missing_names_say_so(statement: str, message: str, where: str) -> None:
    kind = ModuleNotFoundError if "import" in statement else AttributeError
    for _ in range(2):
        with pytest.raises(kind) as caught:
            exec(statement, {"mx": mx, "nd": nd, "torch": torch})
        assert str(caught.value) == f"{message}: {where}"


def test_who_asks_is_told_no() -> None:
    assert not hasattr(mx, "rtc") and not hasattr(nd, "foo") and not hasattr(torch.nn, "DataParallel")
    assert getattr(mx, "rtc", 5) == 5
    for name in ("mxlite.rtc", "mxlite.nd", "mxlite.torch.jit", "mxlite._foo"):
        assert importlib.util.find_spec(name) is None
    assert importlib.util.find_spec("mxlite.autograd") is not None


@pytest.mark.parametrize("name", ["mxlite.ndarray.array", "mxlite.rtc", "mxlite.torch.jit", "mxlite._foo"])
def test_errors_of_imports_name_the_module(name: str) -> None:
    """Programs look at `name` to tell a module that is not there from an error within one; so does pydoc."""
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module(name)
    assert caught.value.name == name


def test_pydoc_finds_objects() -> None:
    import mxlite.gluon.nn

    assert pydoc.locate("mxlite.nd.array") is nd.array
    assert pydoc.locate("mxlite.gluon.nn.Dense") is mxlite.gluon.nn.Dense
    assert pydoc.locate("mxlite.rtc.CudaModule") is None


def test_names_of_python_are_not_said_to_be_missing() -> None:
    for ask in (lambda: mx.__wrapped__, lambda: torch.__file_name__):
        with pytest.raises(AttributeError, match="has no attribute '__[a-z_]*'$"):
            ask()
    with pytest.raises(ModuleNotFoundError, match="^No module named 'mxlite._foo'$"):
        importlib.import_module("mxlite._foo")
    with pytest.raises(ModuleNotFoundError, match="^No module named 'mxlite2'$"):
        importlib.import_module("mxlite2")


def test_missing_names_under_other_names() -> None:
    program = """
import mxlite, mxlite.torch
mxlite.install_as_mxnet()
mxlite.torch.install()
import torch.cuda, torch.linalg
for statement in (
    "import mxnet.rtc", "from mxnet import rtc", "import torch.jit", "from torch.nn import SyncBatchNorm"
):
    try:
        exec(statement)
    except ImportError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        f"No module named 'mxnet.rtc': {RTC}",
        f"No module named 'mxlite.rtc': {RTC}",
        f"No module named 'torch.jit': {PYTORCH}",
        f"No module named 'mxlite.torch.nn.SyncBatchNorm': {PYTORCH}",
    ]


# ---- devices ----


def test_there_is_no_gpu() -> None:
    assert mx.num_gpus() == 0 and mx.context.num_gpus() == 0 and repr(mx.gpu(1)) == "gpu(1)"
    for use in (
        lambda: nd.zeros((2,), ctx=mx.gpu(0)),
        lambda: nd.array([1], ctx=mx.gpu(0)),
        lambda: nd.ones(2).as_in_context(mx.gpu(0)),
        lambda: nd.ones(2).copyto(mx.gpu(0)),
        lambda: mx.context.gpu_memory_info(0),
        lambda: mx.gpu_memory_info(0),
    ):
        with pytest.raises(mx.MXNetError, match=r"gpu\(0\) is not available: mxlite computes on the CPU"):
            use()
    with mx.gpu(0), pytest.raises(mx.MXNetError):
        nd.ones(2)


def test_torch_without_cuda() -> None:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    assert device == torch.device("cpu") and torch.ones(2).to(device).device == device
    assert torch.cuda.is_available() is False and torch.cuda.device_count() == 0 and not torch.cuda.is_initialized()
    assert torch.cuda.manual_seed(1) is torch.cuda.manual_seed_all(1) is torch.cuda.empty_cache() is None
    for use in (torch.cuda.current_device, torch.cuda.synchronize, torch.cuda.get_device_name, torch.ones(2).cuda):
        with pytest.raises(AssertionError, match="there is no CUDA"):
            use()


@pytest.mark.parametrize("module", [*imported._OPEN, *imported._CLOSED])
def test_names_that_modules_of_mxnet_import(module: str) -> None:
    there = importlib.import_module(f"mxlite.{module}")
    for name in [*imported.names(module), *imported._CLOSED.get(module, "").split()]:
        assert getattr(there, name) is not None, name


#: What a star of 1.9.1 gives (tests/reference/modules.json).
REFERENCE = json.loads((Path(__file__).resolve().parents[2] / "reference" / "modules.json").read_text())
OPEN = [
    name[len("mxnet.") :]
    for name in REFERENCE["star"]
    if name not in REFERENCE["closed"] and f"mxlite{name[len('mxnet') :]}" in MODULES and name.count(".")
    if not name.endswith((".torch", ".contrib"))
]
#: Names that a star does not give here: packages that need not be there, and what needs sparse arrays or mx.np;
#: constants and modules of 1.9.1's own.
NOT_GIVEN = """
    cv2 h5py requests ss pd bokeh Bokeh_Failed_To_Import Pandas_Failed_To_Import BASE_ESTIMATOR SKLEARN_INSTALLED
    CSRNDArray sparse_array np_symbol kvstore_server KVStoreServer lists C c_int_p profiler_kvstore_handle onnx2mx stats
"""


@pytest.mark.parametrize("module", OPEN)
def test_a_star_gives_what_programs_got_from_it(module: str) -> None:
    scope: dict[str, object] = {}
    exec(f"from mxlite.{module} import *", scope)
    for name, origin in REFERENCE["star"][f"mxnet.{module}"].items():
        if name in NOT_GIVEN.split():
            assert name not in scope
            continue
        value = scope[name]
        kind, _, source = origin.partition(" ")
        if kind == "module":
            assert isinstance(value, types.ModuleType), name
            assert value.__name__ in (source, source.replace("mxnet", "mxlite", 1)), name
        elif kind.startswith("mxnet"):
            assert str(getattr(value, "__module__", "mxlite")).startswith("mxlite"), name
        elif kind in ("collections", "ctypes", "contextlib", "math", "threading"):
            assert value is not None and not isinstance(value, types.ModuleType), name


def test_programs_that_live_on_a_star() -> None:
    """As mxboard's own tests do."""
    scope: dict[str, object] = {}
    exec("from mxlite.test_utils import *\nfrom mxlite.image import *\nfrom mxlite.initializer import *", scope)
    exec("found = os.path.basename('a/b'), np.zeros(2).size, mx.nd.ones(1).size, logging.INFO, json.dumps(1)", scope)
    assert scope["found"] == ("b", 2, 1, 20, "1")
    assert "os" not in dir(mx.test_utils) and "np" not in dir(mx.image)


def test_an_imported_name_leads_to_what_it_names() -> None:
    assert mx.metric.ndarray is nd and mx.gluon.block.NDArray is nd.NDArray and mx.model.mx_real_t is np.float32
    assert mx.symbol.symbol.zeros is mx.sym.zeros and mx.module.module.zeros is nd.zeros
    scope: dict[str, object] = {}
    exec("from mxlite.metric import ndarray", scope)  # as GluonTS has it
    assert scope["ndarray"] is nd
    with pytest.raises(AttributeError, match="missing in mxlite"):
        _ = mx.metric.no_such_name
    assert imported.find("mxlite.metric", "autograd") is None
