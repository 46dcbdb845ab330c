"""`install_as_mxnet`, and what `mxlite.torch.install` is made of: programs that import another package get this one."""

from __future__ import annotations

import importlib
import sys


def install_as(name: str, own: str, caller: str) -> None:
    """Makes `import name`, and imports of the parts of `own` that are imported already, give `own` and these.

    Raises: RuntimeError: another package of that name is imported already.
    """
    package, present = sys.modules[own], sys.modules.get(name)
    if present is not None and present is not package:
        where = getattr(present, "__file__", "?")
        raise RuntimeError(f"{caller}: {name} itself is imported already, from {where}")
    for each, module in list(sys.modules.items()):
        if each == own or (each.startswith(own + ".") and not each.startswith(own + "._")):
            sys.modules[name + each[len(own) :]] = module


def install_as_mxnet() -> None:
    """Makes `import mxnet`, and imports of its parts that there are here, give mxlite, in this process.

    To be called before anything imports mxnet; calling it again does nothing.

    Raises:
        RuntimeError: another mxnet is imported already.
    """
    for name in ("engine", "runtime", "test_utils"):
        importlib.import_module(f"mxlite.{name}")
    install_as("mxnet", "mxlite", "install_as_mxnet")
    for name in [each for each in sys.modules if f"{each}.".startswith("mxnet.ndarray.")]:
        sys.modules[name.replace("ndarray", "nd", 1)] = sys.modules[name]
