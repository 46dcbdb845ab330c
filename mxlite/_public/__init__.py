"""What the modules of the package show: their public names in `dir()`, and an error that names a missing one.

Each public module ends with `show(globals())`. A finder, asked last, raises that error for imports.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from typing import Any, Callable

from mxlite._public.imported import find, names


def missing(module: str) -> str:
    """The text of the error for a name that a module of the package does not have."""
    if f"{module}.".startswith("mxlite.torch."):
        return "it is missing in mxlite, see 'What differs' in docs/from-pytorch.md"
    return "it is missing in mxlite, see 'Not supported yet' in docs/compatibility.md"


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
            module[attribute] = made
            return made
        message = f"module {name!r} has no attribute {attribute!r}"
        if not attribute.startswith("__"):
            message += f": {missing(name)}"
        error = AttributeError(message)
        error.name, error.obj = attribute, sys.modules.get(name)  # type: ignore[attr-defined] # "Did you mean"
        raise error

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*own, *(each for each in module if each[:2] == "__")})

    module.update(__getattr__=__getattr__, __dir__=__dir__)
    if "__all__" not in module:
        offer(module)
    own = list(module["__all__"])
    module["__all__"] = own + [each for each in names(name.partition(".")[2]) if each not in own]
    module.setdefault("__path__", [])  # so that `from module import x` asks the finder below for x


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
        why = missing(own) if found is None else f"write 'from {parent} import {name}'"
        message = f"No module named {fullname!r}: {why}"
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
