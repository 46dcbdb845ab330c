"""Puts the tables' names into modules and classes, when a program first asks for them.

A module gets a `__getattr__`, which Python calls for names that the module lacks: so what is still there stays, and
nothing is loaded that the program does not use.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import importlib
import os
import sys
import sysconfig
import warnings
from importlib.machinery import ModuleSpec, PathFinder
from types import GetSetDescriptorType, ModuleType
from typing import Any, Callable

from mxlite._cli._old import numpy_tables, python_tables
from mxlite._cli._old._said import label, note
from mxlite._install import _Present

_TABLES = (numpy_tables, python_tables)
_FOLDER = os.path.join(os.path.dirname(__file__), "modules")
_LIBRARY = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
_PACKAGES = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))


def put_back() -> None:
    """Has modules and classes of this process give the names that the tables have: those that are imported now, and
    others when they are."""
    for tables in _TABLES:
        for name in tables.modules():
            if name in sys.modules:
                _prepare(sys.modules[name])
            else:
                _Preparing.waiting.add(name)
        for name, make in tables.ALWAYS.items():
            if name not in sys.modules:
                sys.modules[name] = _resolve(make, tables)()
    sys.meta_path.insert(0, _Preparing)  # type: ignore[arg-type]
    sys.meta_path.append(_Lacking)  # type: ignore[arg-type]


def _resolve(target: str, tables: ModuleType) -> Any:
    """What a table names: "module:attribute", of the tables' own functions ":attribute", or "module"."""
    module, separator, name = target.partition(":")
    found = importlib.import_module(module or tables.OWN)
    for part in filter(None, name.split(".")):
        found = getattr(found, part)
    return found


def _prepare(module: ModuleType) -> None:
    """Puts into a module what the tables have for it; a file of the program's that has the name of one of Python's
    stays as it is."""
    for tables in _TABLES:
        if tables is python_tables and not _of_python(module):
            continue
        table = tables.NAMES.get(module.__name__)
        if table:
            vars(module)["__getattr__"] = _giver(module, table, tables)
        for kind, methods in tables.METHODS.items():
            if kind.partition(":")[0] == module.__name__:
                _prepare_class(
                    getattr(module, kind.partition(":")[2], None), label(kind.replace(":", "."), ""), methods, tables
                )
        changed = tables.CHANGED.get(module.__name__)
        if changed:
            _resolve(changed, tables)(module)


def _of_python(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return file is None or file.startswith(_FOLDER) or (file.startswith(_LIBRARY) and not file.startswith(_PACKAGES))


def _giver(module: ModuleType, table: dict[str, str], tables: ModuleType) -> Callable[[str], Any]:
    """The module's `__getattr__`: first its own, if it has one, then the table."""
    own = vars(module).get("__getattr__")
    whole = table.get("*")

    def __getattr__(name: str) -> Any:  # noqa: N807 - the module's
        known = name in table or (whole is not None and not name.startswith("_"))
        if not known:
            if own is not None:
                return own(name)
            raise _no_attribute(module, name)
        if own is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    return own(name)
                except AttributeError:
                    pass
        found = _resolve(table.get(name) or f"{whole}:{name}", tables)
        if name in table:
            note(label(module.__name__, name))
        elif "._" not in module.__name__:  # such a module was asked for by its older name, which is noted
            note(label(module.__name__, "*"))
        vars(module)[name] = found
        return found

    return __getattr__


def _no_attribute(module: ModuleType, name: str) -> AttributeError:
    error = AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    if sys.version_info >= (3, 10):
        error.name, error.obj = name, module  # Python looks there for a similar name
    return error


class _Method:
    """A method that a class no longer has; asked for, it is that of the table. It counts as used when it is called:
    pytest and nose ask for all that classes have."""

    def __init__(self, name: str, target: str, tables: ModuleType) -> None:
        self._name, self._target, self._tables = name, target, tables

    def __get__(self, given: Any, kind: Any = None) -> Any:
        found = _resolve(self._target, self._tables).__get__(given, kind)

        @functools.wraps(found)
        def method(*args: Any, **kwargs: Any) -> Any:
            note(self._name)
            return found(*args, **kwargs)

        return method


def _prepare_class(kind: Any, prefix: str, methods: dict[str, str], tables: ModuleType) -> None:
    for name, target in methods.items() if kind is not None else ():
        if not hasattr(kind, name) or isinstance(getattr(kind, name), GetSetDescriptorType):  # which raises an error
            change_class(kind, name, _Method(prefix + name, target, tables))


#: Where a type has its flags (PyTypeObject.tp_flags), and the flag that has Python refuse to change its attributes.
_FLAGS_AT = object.__basicsize__ + 19 * ctypes.sizeof(ctypes.c_void_p)
_FIXED, _OF_HEAP = 1 << 8, 1 << 9


def change_class(kind: type, name: str, value: Any) -> bool:
    """Sets an attribute of a class, also of one that is written in C, which Python refuses; False: it cannot be done.

    While it is set, the flag by which Python refuses is turned. Nothing is written unless the flags are where they are
    thought to be.
    """
    flags = ctypes.c_ulong.from_address(id(kind) + _FLAGS_AT)
    if flags.value != kind.__flags__:
        return False
    turned = flags.value & _FIXED if sys.version_info >= (3, 10) else ~flags.value & _OF_HEAP
    collects = gc.isenabled()
    gc.disable()  # which would take the type for one of the heap
    flags.value ^= turned
    try:
        setattr(kind, name, value)
    finally:
        flags.value ^= turned
        if collects:
            gc.enable()
    return True


class _Then:
    """Loads a module as its loader does, and then prepares it."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _prepare(module)


class _Preparing:
    """Finds the modules that are to be prepared, as those do that find them otherwise."""

    waiting: set[str] = set()

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """None: it is none of them."""
        if fullname not in cls.waiting:
            return None
        for finder in sys.meta_path:
            spec = None if finder is cls else finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Then(spec.loader)  # type: ignore[assignment]
                return spec
        return None


class _Lacking:
    """Finds modules that nobody else has: those that have another name now, and those of the folder `modules`."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """None: it is none of them."""
        parent, _, name = fullname.rpartition(".")
        for tables in _TABLES:
            if name in tables.NAMES.get(parent, ()):
                found = getattr(sys.modules[parent], name, None)
                if isinstance(found, ModuleType):
                    loader: Any = _Present(found)
                    return ModuleSpec(fullname, loader, is_package=hasattr(found, "__path__"))
        top = fullname.partition(".")[0]
        if top not in python_tables.MODULES:
            return None
        spec = PathFinder.find_spec(fullname, path if parent else [_FOLDER])
        if spec is not None:
            note(f"module {top}")
        return spec
