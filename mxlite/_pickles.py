"""Pickles that go between mxlite and the real MXNet: classes are named as 1.9.1 names them."""

from __future__ import annotations

import io
import pickle
from typing import Any


def _renamed(module: str) -> str:
    """The name that a module of ours has in 1.9.1; classes of private modules are in the public one beside them."""
    if module.startswith("mxlite.optimizer._"):
        return "mxnet.optimizer.optimizer"
    return "mxnet" + module[6:] if f"{module}.".startswith("mxlite.") else module


class _Pickler(pickle._Pickler):  # type: ignore[name-defined] # the C class has no save_global to override
    def save_global(self, obj: Any, name: str | None = None) -> None:
        module = getattr(obj, "__module__", None) or ""
        if module.partition(".")[0] != "mxlite":
            super().save_global(obj, name)
            return
        name = name or obj.__qualname__
        self.write(pickle.GLOBAL + _renamed(module).encode() + b"\n" + name.encode() + b"\n")
        self.memoize(obj)

    dispatch = {**pickle._Pickler.dispatch, type: save_global}  # type: ignore[attr-defined]


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.".startswith("mxnet."):
            module = "mxlite" + module[5:]
        return super().find_class(module, name)


def dumps(value: Any) -> bytes:
    """A pickle that mxlite and MXNet 1.9.1 read. Raises what pickle raises."""
    file = io.BytesIO()
    _Pickler(file, 2).dump(value)
    return file.getvalue()


def loads(data: bytes) -> Any:
    """What a pickle of either holds. As any pickle it runs code: it must come from somebody who is trusted."""
    return _Unpickler(io.BytesIO(data)).load()
