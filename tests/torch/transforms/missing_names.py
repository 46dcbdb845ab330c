"""Prints which public names of PyTorch's modules about gradients mxlite.torch lacks.

PYTHONPATH=. MXLITE_BINDING=ctypes .venvs/torch/bin/python tests/torch/transforms/missing_names.py [module ...]
"""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any

#: The modules, without those of devices and compilers.
MODULES = """
    autograd autograd.anomaly_mode autograd.forward_ad autograd.function autograd.functional autograd.grad_mode
    autograd.gradcheck autograd.graph autograd.variable func utils.checkpoint
""".split()

#: What PyTorch's modules show but do not mean: names of Python's typing, of devices, profilers and compilers.
_ASIDE = ("Kineto", "Profiler", "kineto", "DeviceType", "DispatchMode", "LoggingTensorMode", "capture_logs")


def names_of(torch: Any, module: str) -> set[str]:
    """The public names that a module defines, or passes on from another one of PyTorch's."""
    try:
        found = importlib.import_module(f"{torch.__name__}.{module}")
    except ImportError:
        return set()
    given = set(getattr(found, "__all__", ()))
    names = set()
    for name in dir(found):
        value = getattr(found, name)
        home = getattr(value, "__module__", None) or ""
        if name.startswith("_") or inspect.ismodule(value) or any(word in name for word in _ASIDE):
            continue
        if (
            name in given
            or (home.startswith(torch.__name__) and torch.__name__ == "mxlite.torch")
            or home == (f"torch.{module}")
        ):
            names.add(name)
    return names


def objects_of(torch: Any) -> dict[str, Any]:
    """Things whose attributes are compared."""
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).exp()
    return {"Tensor": x, "Node": y.grad_fn, "Function": torch.autograd.Function, "Module": torch.nn.Module()}


def main() -> None:
    theirs, ours = importlib.import_module("torch"), importlib.import_module("mxlite.torch")
    for module in sys.argv[1:] or MODULES:
        known = set(dir(importlib.import_module(f"{ours.__name__}.{module}")))
        print(f"{module}:", *sorted(names_of(theirs, module) - known))
    for what, thing in objects_of(theirs).items():
        known = set(dir(objects_of(ours)[what]))
        print(f"{what}:", *sorted(name for name in dir(thing) if name not in known and not name.startswith("__")))


if __name__ == "__main__":
    main()
