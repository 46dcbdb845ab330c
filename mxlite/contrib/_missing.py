"""Modules of `mx.contrib` that mxlite does not have: there, so that programs can import them, and empty."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

from mxlite.error import MXNotImplementedError

_WHY = {
    "quant": "mx.contrib.quantization has it",
    "tensorrt": "mxlite computes on the CPU",
}


class _NotHere(MXNotImplementedError, AttributeError):
    """Says so to who uses a name, and no to who asks: pickle looks for names in all modules that are imported."""


def missing_module(name: str) -> ModuleType | None:
    """A module whose every name raises NotImplementedError with the reason; None: `name` is no such module."""
    if name not in _WHY:
        return None
    full = f"mxlite.contrib.{name}"
    module = ModuleType(full, f"Not in mxlite: {_WHY[name]}.")

    def __getattr__(attribute: str) -> NoReturn:  # noqa: N807 - the module's
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise _NotHere(f"mx.contrib.{name}.{attribute}: {_WHY[name]}")

    module.__dict__.update(__getattr__=__getattr__, __path__=[])
    sys.modules[full] = module
    return module


class _Finder:
    """Finds these modules for `import mxlite.contrib.quantization`."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        parent, _, name = fullname.rpartition(".")
        own = str(getattr(sys.modules.get(parent), "__name__", ""))
        if own != "mxlite.contrib" or name not in _WHY:
            return None
        return ModuleSpec(fullname, _Finder)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType | None:
        return missing_module(spec.name.rpartition(".")[2])

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """There is nothing to run."""


sys.meta_path.insert(0, _Finder)  # type: ignore[arg-type] # before the finder of _public
