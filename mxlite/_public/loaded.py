"""Modules that `import mxnet` leaves in sys.modules. Programs look there: einops looks for "mxnet.symbol".

Importing all of them takes a second, so sys.modules gets a lazy module for each, which is imported at its first use.

`_install.install_as_mxnet` calls `place`.
"""

from __future__ import annotations

import sys
from copy import copy
from importlib import import_module
from types import ModuleType
from typing import Any

#: The modules of 1.9.1 that mxlite has, by their packages ("" is mxnet).
_LOADED = {
    "": """
        attribute autograd base callback context contrib engine error executor executor_manager gluon image initializer
        io kvstore libinfo library log lr_scheduler metric model module monitor name ndarray notebook numpy
        numpy_extension onnx operator optimizer profiler random recordio registry rnn runtime symbol test_utils util
        visualization
    """,
    "contrib": "autograd io onnx quantization tensorboard text text.embedding text.utils text.vocab",
    "gluon": """
        block contrib data loss model_zoo nn nn.activations nn.basic_layers nn.conv_layers parameter rnn rnn.rnn_cell
        rnn.rnn_layer trainer utils
    """,
    "gluon.contrib": """
        cnn cnn.conv_layers data data.sampler data.text estimator estimator.batch_processor estimator.estimator
        estimator.event_handler estimator.utils nn nn.basic_layers rnn rnn.conv_rnn_cell rnn.rnn_cell
    """,
    "gluon.data": "dataloader dataset sampler vision vision.datasets vision.transforms",
    "gluon.model_zoo": """
        model_store vision vision.alexnet vision.densenet vision.inception vision.mobilenet vision.resnet
        vision.squeezenet vision.vgg
    """,
    "image": "detection image",
    "io": "io utils",
    "kvstore": "base kvstore",
    "module": "base_module bucketing_module executor_group module python_module sequential_module",
    "ndarray": "contrib image linalg ndarray op random",
    "numpy": "linalg multiarray random",
    "numpy_extension": "image random utils",
    "optimizer": "contrib optimizer",
    "rnn": "io rnn rnn_cell",
    "symbol": "contrib image linalg op random symbol",
}

#: Those that have another name there.
_OTHERS = {"contrib.ndarray": "ndarray.contrib", "contrib.symbol": "symbol.contrib"}

#: What Python's own tools ask of every module in sys.modules, without a wish for what is in it.
_WANTED = ("__all__", "__path__", "__spec__")


def names() -> dict[str, str]:
    """Their names within mxnet, and the names of what they are here: symbol, gluon.nn."""
    found = [f"{package}.{name}".lstrip(".") for package, listed in _LOADED.items() for name in listed.split()]
    return {**{name: name for name in found}, **_OTHERS}


class _LazyModule(ModuleType):
    """A module that is imported, and takes its place in sys.modules, when an attribute is asked for or set."""

    def __init__(self, name: str, own: str) -> None:
        super().__init__(name)
        held = vars(self)
        held["_own"] = own
        del held["__spec__"]

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" and name not in _WANTED:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = getattr(_import(self), name)
        if name == "__spec__":
            found = copy(found)
            found._initializing = True  # to who imports it: look again, the module is another one now
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        if name[:2] == "__":
            super().__setattr__(name, value)
        else:
            setattr(_import(self), name, value)

    def __dir__(self) -> list[str]:
        return dir(_import(self))

    def __repr__(self) -> str:
        return f"<module {self.__name__!r}, not imported yet>"


def _import(lazy: _LazyModule) -> ModuleType:
    """Imports a lazy module, and puts it into sys.modules in the lazy one's place."""
    held = vars(lazy)
    module = import_module(held["_own"])
    if sys.modules.get(held["__name__"]) is lazy:
        sys.modules[held["__name__"]] = module
    return module


def place(package: str, own: str) -> None:
    """Puts lazy modules of the package `own` into sys.modules, under another name of it."""
    for name, here in names().items():
        full = f"{package}.{name}"
        if full not in sys.modules:
            sys.modules[full] = _LazyModule(full, f"{own}.{here}")
