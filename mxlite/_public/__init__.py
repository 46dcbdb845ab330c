"""What the modules of the package show: their public names in `dir()`, and an error that names a missing one.

Each public module ends with `show(globals())`. A finder, asked last, raises that error for imports.
"""

from __future__ import annotations

import os.path
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Callable

from mxlite._public.imported import find, names
from mxlite._public.keywords import ask_in
from mxlite._public.pages import see

#: The names that a module that is shown has in `dir()`.
_own: dict[str, list[str]] = {}


def missing(module: str, name: str) -> str:
    """The end of the error for a name that a module of the package does not have: why, or which name was meant."""
    from mxlite._public import lacking, near

    is_torch = f"{module}.".startswith("mxlite.torch.")
    why = "" if is_torch else lacking.reason(module, name)
    offered = getattr(sys.modules.get(module), "__all__", ())
    meant = "" if why else near.did_you_mean(name, offered, near.CLOSER)
    others = [] if why else _elsewhere(module, name)
    if meant or others:
        return meant if not others else f"; there is {near.alternatives(others, str)}"
    page = see("from-pytorch", "what differs") if is_torch else see("compatibility", "not supported yet")
    return f": it is missing in mxlite{why and ': '}{why}; {page} says what else is"


def _elsewhere(module: str, name: str) -> list[str]:
    """The same public name in other modules of the front end that are imported, those nearest to `module` first."""
    found = []
    for path, other in list(sys.modules.items()):
        if path == module or not path.startswith("mxlite.") or "._" in path:
            continue
        if path.startswith("mxlite.torch") != module.startswith("mxlite.torch") or other.__name__ != path:
            continue
        if name in getattr(other, "__all__", ()):
            shared = os.path.commonprefix([path.split("."), module.split(".")])
            found.append((-len(shared), len(path), f"{path}.{name}"))
    found.sort()
    whole: list[str] = []  # a module's name is enough where a module within it has the thing too
    for distance, _, full in found:
        if distance == found[0][0] and not any(full.startswith(each[: -len(name)]) for each in whole):
            whole.append(full)
    return whole[:2]


def show(module: dict[str, Any], get: Callable[[str], Any] | None = None) -> None:
    """Gives a module, by its `globals()`, `__dir__` (the public names) and `__getattr__` (the error above).

    The public names are those in its `__all__`; without one, those that it defines. To `__all__` are added the names
    that programs get from 1.9.1's module of that name by `import *`, as `os` and `np`.

    Args:
        get: makes what has a name in `__all__` and is not there yet; None: there is no such name.
    """
    name = module["__name__"]

    def __getattr__(attribute: str) -> Any:  # noqa: N807 - the module's
        made = None if get is None or attribute.startswith("__") else get(attribute)
        if made is None:
            made = find(name, attribute)
        if made is not None:
            ask_in(name, made)
            module[attribute] = made
            return made
        message = f"module {name!r} has no attribute {attribute!r}"
        if not attribute.startswith("__"):
            message += missing(name, attribute)
        error = AttributeError(message)
        error.name = attribute  # type: ignore[attr-defined] # without `obj` Python guesses no second time
        raise error

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*own, *(each for each in module if each[:2] == "__")})

    for each in list(module.values()):
        ask_in(name, each)
    module.update(__getattr__=__getattr__, __dir__=__dir__)
    if "__all__" not in module:
        offer(module)
    own = _own[name] = list(module["__all__"])
    module["__all__"] = own + [each for each in names(name.partition(".")[2]) if each not in own]
    module.setdefault("__path__", [])  # so that `from module import x` asks the finder below for x


def own(module: ModuleType) -> list[str]:
    """The public names of a module that is shown, without those that a star import of it gives, too."""
    return _own[module.__name__]


def add(module: str, name: str, thing: Any) -> None:
    """Gives a module that is shown a further public name."""
    setattr(sys.modules[module], name, thing)
    for names_of in (_own[module], sys.modules[module].__all__):
        if name not in names_of:
            names_of.append(name)


def defined(module: dict[str, Any]) -> list[str]:
    """The public names of what a module, by its `globals()`, or a package's modules define: functions and classes."""
    own = module["__name__"] + "."
    return [name for name, each in module.items() if name[0] != "_" and f"{_module_of(each)}.".startswith(own)]


def offer(module: dict[str, Any]) -> None:
    """Makes the public names of a module those that it defines.

    A type checker that saw an assignment of `__all__` would want to read the names in it.
    """
    module["__all__"] = defined(module)


def _module_of(thing: Any) -> str:
    return getattr(thing, "__module__", None) or ""


class _Finder:
    """Says of modules that no other finder has found within the package that mxlite lacks them."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """None for modules of others, and for who only asks (importlib.util.find_spec).

        Raises: ModuleNotFoundError.
        """
        parent, _, name = fullname.rpartition(".")
        package = sys.modules.get(parent)
        own = str(getattr(package, "__name__", ""))  # mxlite, where it is imported as mxnet or torch too
        if own.partition(".")[0] != "mxlite" or name.startswith("_"):
            return None
        if sys._getframe(2).f_globals.get("__name__") == "importlib.util":
            return None
        found = vars(package).get(name)
        why = missing(own, name) if found is None else f": write 'from {parent} import {name}'"
        message = f"No module named {fullname!r}{why}"
        raise ModuleNotFoundError(message, name=None if _from_list() else fullname)


def _from_list() -> bool:
    """Whether `from package import names` asks the finder: it would drop an error with a `name` for one of its own."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__") == "importlib._bootstrap":
        if frame.f_code.co_name == "_handle_fromlist":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


sys.meta_path.append(_Finder)  # type: ignore[arg-type] # a finder needs find_spec alone
