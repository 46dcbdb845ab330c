"""`install_as_mxnet`, and what `mxlite.torch.install` is made of: programs that import another package get this one."""

from __future__ import annotations

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

#: What `mxnet.__version__` says.
MXNET_VERSION = "1.9.1"

#: Names that were installed, and the modules that have them.
_INSTALLED: dict[str, ModuleType] = {}


class _Present:
    """Loads a module that there is already, and leaves it as it is."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put its own there


class _Others:
    """Finds the parts of packages that were installed: the modules here, and other names that these have for them."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """None: the part is not there, or it is no package of ours."""
        if fullname.partition(".")[0] not in _INSTALLED:
            return None
        parent, _, name = fullname.rpartition(".")
        found = _part(sys.modules[parent], name)
        if found is None:
            return None
        loader = _Present(found)
        return ModuleSpec(fullname, loader, is_package=hasattr(found, "__path__"))  # type: ignore[arg-type]


def _part(package: ModuleType, name: str) -> ModuleType | None:
    """The module of that name in a package of mxlite: a file of its own, or an attribute (`nd`, `sym`)."""
    own = f"{package.__name__}.{name}"
    if own in sys.modules or importlib.util.find_spec(own) is not None:
        return importlib.import_module(own)
    found = None if name.startswith("_") else getattr(package, name, None)
    return found if isinstance(found, ModuleType) else None


def _with_version(package: ModuleType, installed: str, version: str) -> ModuleType:
    """A module that has what a package has, and another version. Its parts are in sys.modules once they are asked for:
    programs look there for what is imported (einops for mxnet.symbol)."""
    module = ModuleType(package.__name__, package.__doc__)
    held = vars(module)

    def __getattr__(name: str) -> Any:  # noqa: N807 - the module's
        found = held[name] = getattr(package, name)
        if isinstance(found, ModuleType) and found.__name__.startswith(f"{package.__name__}."):
            sys.modules[installed + found.__name__[len(package.__name__) :]] = found
        return found

    held.update(vars(package))
    held.update(__getattr__=__getattr__, __version__=version)
    return module


def install_as(name: str, own: str, caller: str, version: str | None = None) -> None:
    """Makes `import name` give the package `own`, and imports of its parts those of `own`, when they are imported.

    Args:
        caller: whom an error names.
        version: what `__version__` says under that name; None: what it says in `own`.

    Raises: RuntimeError: another package of that name is imported already.
    """
    present = sys.modules.get(name)
    if name in _INSTALLED and present is _INSTALLED[name]:
        return
    package = sys.modules[own]
    if present is not None and present is not package:
        where = getattr(present, "__file__", "?")
        raise RuntimeError(f"{caller}: {name} itself is imported already, from {where}")
    _INSTALLED[name] = sys.modules[name] = package if version is None else _with_version(package, name, version)
    for part, module in list(sys.modules.items()):  # programs look there for what is imported already
        if part.startswith(f"{own}.") and "._" not in part:
            sys.modules.setdefault(name + part[len(own) :], module)
    if _Others not in sys.meta_path:
        sys.meta_path.insert(0, _Others)  # type: ignore[arg-type] # before files are looked for in the same folder


def install_as_mxnet() -> None:
    """Makes `import mxnet`, and imports of its parts that there are here, give mxlite, in this process.

    The modules are the same objects; only `mxnet` itself is one of its own, whose `__version__` is "1.9.1". To be
    called before anything imports mxnet; calling it again does nothing.

    Raises:
        RuntimeError: another mxnet is imported already.
    """
    import multiprocessing.pool  # noqa: F401 - as MXNet does: programs use the name without an import (Sockeye 2.3)

    from mxlite._public import loaded  # here, since `import mxlite` needs it not

    install_as("mxnet", "mxlite", "install_as_mxnet", MXNET_VERSION)
    loaded.place("mxnet", "mxlite")
