"""What a program has used of what was put back, and the line that says so when it ends."""

from __future__ import annotations

import atexit
import os
import sys
from functools import cache
from typing import Any

from mxlite._cli._old import numpy_tables, python_tables

_TABLES = (numpy_tables, python_tables)
_HERE = os.path.dirname(__file__)

#: Names that were used, and where at first ("" where a forked process used it).
_used: dict[str, str] = {}
#: A byte for each of `names()`, which forked processes set: made before the first fork.
_shared: Any = None
_main = 0


@cache
def names() -> dict[str, str]:
    """All that can be put back, each as a program writes it, and whose it was: "NumPy" or "Python".

    `np.float`, `np.ndarray.tostring`, `collections.Iterable`, `module imp`; or a phrase, for what a function took.
    """
    found = {}
    for tables in _TABLES:
        for module, table in tables.NAMES.items():
            if "._" not in module:
                found.update((label(module, name), tables.WHOSE) for name in table)
        for kind, table in tables.METHODS.items():
            found.update((label(kind.replace(":", "."), name), tables.WHOSE) for name in table)
        found.update((phrase, tables.WHOSE) for phrase in tables.PHRASES)
        found.update((f"module {name}", tables.WHOSE) for name in tables.MODULES)
    return found


def label(module: str, name: str) -> str:
    """A name of a module as programs write it: numpy is np."""
    module = module.replace("numpy", "np", 1) if module.partition(".")[0] == "numpy" else module
    return f"{module}.{name}" if module != "builtins" else name


def note(name: str) -> None:
    """Keeps that the program has used one of `names()`."""
    if name in _used:
        return
    _used[name] = _place()
    if _shared is not None and os.getpid() != _main:
        _shared[list(names()).index(name)] = 1


def _place() -> str:
    """The file and line of the innermost frame that is not the import system's, and neither ours nor NumPy's."""
    frame = sys._getframe(2)
    while frame is not None:
        file, module = frame.f_code.co_filename, frame.f_globals.get("__name__", "")
        if not file.startswith((_HERE, "<frozen")) and module.partition(".")[0] not in ("numpy", "importlib"):
            return f"{os.path.basename(file)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def say_at_end(who: str) -> None:
    """Has this process print the line when it ends, if there is something to say. Forked processes leave it to it.

    Args:
        who: what the line begins with.
    """
    global _main
    _main = os.getpid()
    parent = sys.modules.get("multiprocessing.process")
    if parent is not None and parent.parent_process() is not None:  # such a process does not run atexit's functions
        from multiprocessing.util import Finalize

        Finalize(None, _say, (who,), exitpriority=0)
        return
    atexit.register(_say, who)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_share)


def _share() -> None:
    global _shared
    if _shared is None:
        import mmap

        _shared = mmap.mmap(-1, len(names()))


def _say(who: str) -> None:
    if os.getpid() != _main:
        return
    known = names()
    if _shared is not None:
        for name, used in zip(known, _shared):
            if used != b"\0":  # Python 3.9 to 3.13 iterate a mmap by bytes
                _used.setdefault(name, "")
    if not _used or sys.stderr is None:
        return
    lacking = sorted({known[name] for name in _used})
    versions = {"Python": f"Python {sys.version_info[0]}.{sys.version_info[1]}"}
    if "NumPy" in lacking:
        versions["NumPy"] = f"NumPy {sys.modules['numpy'].__version__}"
    what = ", ".join(name + f" ({place})" * bool(place) for name, place in _used.items())
    lacks = " and ".join(versions[each] for each in lacking)
    have = "has" if len(lacking) == 1 else "have"
    print(f"{who}: put back what {lacks} no longer {have}: {what}; --strict leaves it out", file=sys.stderr)
