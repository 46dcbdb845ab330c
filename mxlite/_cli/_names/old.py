"""What a program uses that NumPy or Python had once; today's names are asked of NumPy and Python themselves."""

from __future__ import annotations

import builtins
import importlib
import sys
import warnings
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from mxlite._cli._old import _hints, names, python_tables


@cache
def put_back_names() -> frozenset[str]:
    """The names that are gone and that `mxlite run` puts back: "numpy.float", "time.clock", the module "imp"."""
    full = (f"numpy{name[2:]}" if name.startswith("np.") else name.replace("module ", "", 1) for name in names())
    return frozenset(full)


@cache
def _looked_up() -> frozenset[str]:
    """The modules, and first parts of their names, whose names are looked up here."""
    roots = {name.partition(".")[0] for name in put_back_names()} | {"numpy"}
    roots |= {name.rpartition(" ")[2].partition(".")[0] for name in python_tables.NOT_PUT_BACK}
    roots |= {name for owners in _hints.ATTRIBUTES for name in owners.split()}
    return frozenset(root for root in roots if root == "numpy" or root not in dir(builtins))


def _of_python_2(path: list[str]) -> bool:
    """Whether Python 2 had a name."""
    if len(path) == 1:
        return path[0] in _hints.MODULES
    attributes = (names for owners, names in _hints.ATTRIBUTES.items() if path[0] in owners.split())
    return len(path) == 2 and any(path[1] in names.split() for names in attributes)


class Old(NamedTuple):
    """Something that is gone: what using it raises, and whether `mxlite run` puts it back."""

    error: Exception
    put_back: bool = False
    python_2: bool = False


def gone(name: str, importing: bool) -> Old | None:
    """What became of a name of NumPy or Python ("numpy.float"); None: it is there, or nobody knows."""
    root = name.partition(".")[0]
    if root in _hints.MODULES:
        return Old(ModuleNotFoundError(f"No module named {root!r}"), python_2=True)
    if root not in _looked_up():
        return None
    found: Any = None
    path: list[str] = []
    for part in name.split("."):
        path.append(part)
        try:
            found = _next(found, part, path)
        except AttributeError:
            at = ".".join(path)
            owner = f"NumPy {sys.modules['numpy'].__version__}" if root == "numpy" else _python()
            text = f"{at} is not in {owner}"
            advice = python_tables.NOT_PUT_BACK.get(f"module {at}") or python_tables.NOT_PUT_BACK.get(at)
            text += f": {advice}" if advice else ""
            error = ImportError(text) if importing else AttributeError(text)
            return Old(error, at in put_back_names(), _of_python_2(path))
        if not isinstance(found, (ModuleType, type)):
            return None
    return None


def _python() -> str:
    return f"Python {sys.version_info.major}.{sys.version_info.minor}"


def _next(found: Any, part: str, path: list[str]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if found is not None and hasattr(found, part):
            return getattr(found, part)
        if found is None or hasattr(found, "__path__"):
            try:
                return importlib.import_module(".".join(path))
            except ImportError:
                pass
    raise AttributeError(part)


def gone_builtin(name: str) -> Old | None:
    """What became of a name that a program binds nowhere; None: it is there, or none of Python 2's."""
    if name not in _hints.BUILTINS or hasattr(builtins, name):
        return None
    return Old(NameError(f"name {name!r} is not defined"), name in put_back_names(), True)
