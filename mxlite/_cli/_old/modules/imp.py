"""The module `imp` of Python 3.11 and before, over importlib."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import tokenize
from importlib import reload
from importlib._bootstrap_external import cache_from_source, source_from_cache  # type: ignore[import-not-found]
from types import ModuleType
from typing import Any

__all__ = [
    "cache_from_source",
    "find_module",
    "load_module",
    "load_source",
    "new_module",
    "reload",
    "source_from_cache",
]

SEARCH_ERROR, PY_SOURCE, PY_COMPILED, C_EXTENSION, PY_RESOURCE, PKG_DIRECTORY, C_BUILTIN, PY_FROZEN = range(8)


def new_module(name: str) -> ModuleType:
    """An empty module, in sys.modules not yet."""
    return ModuleType(name)


def get_tag() -> str | None:
    """What names of compiled files have for this Python."""
    return sys.implementation.cache_tag


def get_magic() -> bytes:
    """With what compiled files begin."""
    return importlib.util.MAGIC_NUMBER


def get_suffixes() -> list[tuple[str, str, int]]:
    """The ends of modules' files, how to open them, and what they are."""
    kinds = importlib.machinery
    found = [(each, "rb", C_EXTENSION) for each in kinds.EXTENSION_SUFFIXES]
    found += [(each, "r", PY_SOURCE) for each in kinds.SOURCE_SUFFIXES]
    return found + [(each, "rb", PY_COMPILED) for each in kinds.BYTECODE_SUFFIXES]


def lock_held() -> bool:
    """Whether an import is under way in this thread."""
    import _imp

    return _imp.lock_held()


def acquire_lock() -> None:
    """Waits until no other thread imports."""
    import _imp

    _imp.acquire_lock()


def release_lock() -> None:
    """Ends what `acquire_lock` began."""
    import _imp

    _imp.release_lock()


def is_builtin(name: str) -> int:
    """1: the module is in the interpreter, 0: it is not."""
    return int(name in sys.builtin_module_names)


def is_frozen(name: str) -> bool:
    """Whether the module is frozen in the interpreter."""
    return importlib.machinery.FrozenImporter.find_spec(name) is not None


def find_module(name: str, path: Any = None) -> tuple[Any, Any, tuple[str, str, int]]:
    """The open file of a module, its path, and what it is. Raises: ImportError: there is none."""
    if path is None and is_builtin(name):
        return None, None, ("", "", C_BUILTIN)
    for folder in sys.path if path is None else path:
        package = os.path.join(folder, name)
        if any(os.path.isfile(os.path.join(package, f"__init__{end}")) for end in (".py", *_compiled())):
            return None, package, ("", "", PKG_DIRECTORY)
        for suffix, mode, kind in get_suffixes():
            file = package + suffix
            if os.path.isfile(file):
                encoding = None if "b" in mode else _encoding(file)
                return open(file, mode, encoding=encoding), file, (suffix, mode, kind)
    raise ImportError(f"No module named {name!r}", name=name)


def _compiled() -> list[str]:
    return importlib.machinery.BYTECODE_SUFFIXES


def _encoding(file: str) -> str:
    with open(file, "rb") as opened:
        return tokenize.detect_encoding(opened.readline)[0]


def load_module(name: str, file: Any, filename: str, details: tuple[str, str, int]) -> ModuleType:
    """Loads what `find_module` has found. Raises: ImportError: it is no module."""
    kind = details[2]
    if kind == PY_SOURCE:
        return load_source(name, filename)
    if kind == PY_COMPILED:
        return load_compiled(name, filename)
    if kind == C_EXTENSION:
        return load_dynamic(name, filename)
    if kind == PKG_DIRECTORY:
        return load_package(name, filename)
    if kind in (C_BUILTIN, PY_FROZEN):
        return importlib.import_module(name)
    raise ImportError(f"Don't know how to import {name} (type code {kind})", name=name)


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """Loads a file of Python as a module of that name, again if it was loaded."""
    return _load(name, pathname, importlib.machinery.SourceFileLoader(name, pathname))


def load_compiled(name: str, pathname: str, file: Any = None) -> ModuleType:
    """Loads a compiled file as a module of that name."""
    return _load(name, pathname, importlib.machinery.SourcelessFileLoader(name, pathname))


def load_dynamic(name: str, path: str, file: Any = None) -> ModuleType:
    """Loads a shared library as a module of that name."""
    return _load(name, path, importlib.machinery.ExtensionFileLoader(name, path))


def load_package(name: str, path: str) -> ModuleType:
    """Loads a folder as a package of that name. Raises: ValueError: it is none."""
    file = os.path.join(path, "__init__.py")
    if not os.path.isfile(file):
        raise ValueError(f"{path!r} is not a package")
    return _load(name, file, importlib.machinery.SourceFileLoader(name, file), [path])


def _load(name: str, path: str, loader: Any, parts: list[str] | None = None) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path, loader=loader, submodule_search_locations=parts)
    if spec is None:
        raise ImportError(f"{path!r} is no module", name=name)
    before = sys.modules.get(name)
    module = before if before is not None else importlib.util.module_from_spec(spec)
    module.__spec__, module.__file__ = spec, path
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        if before is None:
            sys.modules.pop(name, None)
        raise
    return sys.modules[name]
