"""mxlite: an imperative tensor and autograd engine in C with the API of Apache MXNet 1.9.1.

import mxlite as mx

x = mx.nd.array([1, 2, 3])
x.attach_grad()
with mx.autograd.record():
    y = (x * x).sum()
y.backward()
print(x.grad)
"""

import importlib
import os
from typing import TYPE_CHECKING

from mxlite import autograd, base, context, error, ndarray, random, util
from mxlite import ndarray as nd
from mxlite import random as rnd
from mxlite._install import install_as_mxnet
from mxlite._lib import get_cmake_dir, get_include, get_library, get_pkgconfig_dir
from mxlite._public import show as _show
from mxlite._version import __version__
from mxlite.context import Context, cpu, cpu_pinned, current_context, gpu, gpu_memory_info, num_gpus
from mxlite.error import MXNetError
from mxlite.util import (
    is_np_array,
    is_np_shape,
    np_array,
    np_shape,
    set_np_shape,
    use_np,
    use_np_array,
    use_np_shape,
)

if TYPE_CHECKING:
    from mxlite import (
        array_api,
        attribute,
        callback,
        contrib,
        engine,
        executor,
        executor_manager,
        gluon,
        image,
        initializer,
        io,
        kvstore,
        libinfo,
        library,
        log,
        lr_scheduler,
        metric,
        model,
        module,
        monitor,
        name,
        notebook,
        numpy,
        numpy_extension,
        onnx,
        operator,
        optimizer,
        profiler,
        recordio,
        registry,
        rnn,
        runtime,
        symbol,
        test_utils,
        visualization,
    )
    from mxlite import image as img
    from mxlite import initializer as init
    from mxlite import kvstore as kv
    from mxlite import module as mod
    from mxlite import monitor as mon
    from mxlite import numpy as np
    from mxlite import numpy_extension as npx
    from mxlite import symbol as sym
    from mxlite import visualization as viz
    from mxlite.attribute import AttrScope

__all__ = [
    "AttrScope",
    "Context",
    "MXNetError",
    "__version__",
    "array_api",
    "attribute",
    "autograd",
    "base",
    "callback",
    "context",
    "contrib",
    "cpu",
    "cpu_pinned",
    "current_context",
    "engine",
    "error",
    "executor",
    "executor_manager",
    "get_cmake_dir",
    "get_include",
    "get_library",
    "get_pkgconfig_dir",
    "gluon",
    "gpu",
    "gpu_memory_info",
    "image",
    "img",
    "init",
    "initializer",
    "install_as_mxnet",
    "io",
    "is_np_array",
    "is_np_shape",
    "kv",
    "kvstore",
    "libinfo",
    "library",
    "log",
    "lr_scheduler",
    "metric",
    "mod",
    "model",
    "module",
    "mon",
    "monitor",
    "name",
    "nd",
    "ndarray",
    "notebook",
    "np",
    "np_array",
    "np_shape",
    "npx",
    "num_gpus",
    "numpy",
    "numpy_extension",
    "onnx",
    "operator",
    "optimizer",
    "profiler",
    "random",
    "recordio",
    "registry",
    "rnd",
    "rnn",
    "runtime",
    "set_np_shape",
    "sym",
    "symbol",
    "test_utils",
    "use_np",
    "use_np_array",
    "use_np_shape",
    "util",
    "visualization",
    "viz",
]


#: Modules that are imported when they are first used; and the names of others, and of what is in them.
_MODULES = {
    "array_api",
    "attribute",
    "callback",
    "contrib",
    "engine",
    "executor",
    "executor_manager",
    "gluon",
    "image",
    "initializer",
    "io",
    "kvstore",
    "libinfo",
    "library",
    "log",
    "lr_scheduler",
    "metric",
    "model",
    "module",
    "monitor",
    "name",
    "notebook",
    "numpy",
    "numpy_extension",
    "onnx",
    "operator",
    "optimizer",
    "profiler",
    "recordio",
    "registry",
    "rnn",
    "runtime",
    "symbol",
    "test_utils",
    "visualization",
}
_OTHERS = {
    "AttrScope": "attribute.AttrScope",
    "img": "image",
    "init": "initializer",
    "kv": "kvstore",
    "mod": "module",
    "mon": "monitor",
    "np": "numpy",
    "npx": "numpy_extension",
    "sym": "symbol",
    "viz": "visualization",
}


def _later(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f"mxlite.{name}")
    module, _, member = _OTHERS.get(name, "").partition(".")
    if not module:
        return None
    found = importlib.import_module(f"mxlite.{module}")
    return getattr(found, member) if member else found


_show(globals(), _later)

if os.environ.get("MXNET_PROFILER_AUTOSTART", "0") == "1":
    importlib.import_module("mxlite.profiler").set_state("run")
