"""torch.save and torch.load: a zip archive of .npy files, one for each tensor, and a text that says what they are in.

Loading runs no code: the text, `structure.json`, names kinds of a fixed list alone.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter, OrderedDict
from typing import Any

import numpy as np

from mxlite import _replace
from mxlite.torch._dtypes import bfloat16, dtype, dtype_named
from mxlite.torch._kinds import Size, device, require_cpu
from mxlite.torch._tensor import Tensor, from_values
from mxlite.torch.nn.parameter import Parameter

_STRUCTURE, _FORMAT = "structure.json", "mxlite.torch 1"


class _Writer:
    """Plain JSON of a value, with the arrays apart. What is met twice is written once."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.places: dict[int, int] = {}
        self.within: list[int] = []

    def plain(self, value: Any) -> Any:
        """Raises: TypeError: a kind that files do not have; ValueError: something that contains itself."""
        if value is None or isinstance(value, (bool, str)) or type(value) in (int, float):
            return value
        if isinstance(value, Tensor):
            kind = "parameter" if isinstance(value, Parameter) else "tensor"
            other = {} if value._dtype is not bfloat16 else {"dtype": "bfloat16"}
            return {kind: self._array(value), "requires_grad": value.requires_grad, **other}
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                raise TypeError("mxlite.torch: torch.save takes no arrays of objects")
            return {"array": self._array(value)}
        if isinstance(value, (np.bool_, np.integer, np.floating)):
            return self.plain(value.item())
        if type(value) in (dtype, device):
            return {type(value).__name__: value.name if type(value) is dtype else str(value)}
        if type(value) is bytes:
            return {"bytes": value.hex()}
        for name, cls in _CONTAINERS.items():
            if type(value) is cls:
                found = {name: self._members(value)}
                if hasattr(value, "_metadata"):  # versions of the modules whose state_dict it is
                    found["metadata"] = self.plain(value._metadata)
                return found
        raise TypeError(
            f"mxlite.torch: torch.save takes tensors, numbers, texts and containers of them, not "
            f"{type(value).__name__}; of a module or an optimizer, save state_dict()"
        )

    def _members(self, value: Any) -> list:
        if id(value) in self.within:
            raise ValueError("mxlite.torch: torch.save takes nothing that contains itself")
        self.within.append(id(value))
        if isinstance(value, dict):
            found = [[self.plain(key), self.plain(each)] for key, each in value.items()]
        else:
            found = [self.plain(each) for each in value]
        self.within.pop()
        return found

    def _array(self, value: Any) -> int:
        if id(value) not in self.places:
            self.places[id(value)] = len(self.arrays)
            self.arrays.append(value._values() if isinstance(value, Tensor) else value)
        return self.places[id(value)]


_CONTAINERS: dict[str, type] = {
    "list": list, "tuple": tuple, "dict": dict, "OrderedDict": OrderedDict, "Counter": Counter, "Size": Size,
    "set": set,
}  # fmt: skip


def save(obj: Any, f: Any) -> None:
    """Writes tensors, numbers, texts, and lists, tuples and dictionaries of them: `save(model.state_dict(), "x.pt")`.

    A tensor that occurs several times is written once; views of one memory are written one by one.

    Args:
        f: A path, or a file that is open for writing bytes. What has the path stays until the new file is whole.
    Raises: TypeError: other objects; then nothing is written. OSError: writing failed.
    """
    writer = _Writer()
    structure = json.dumps({"format": _FORMAT, "value": writer.plain(obj)})
    if hasattr(f, "write"):
        _archive(f, structure, writer.arrays)
        return
    with _replace.replacing(f) as file:
        _archive(file, structure, writer.arrays)


def _archive(f: Any, structure: str, arrays: list[np.ndarray]) -> None:
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr(_STRUCTURE, structure)
        for place, values in enumerate(arrays):
            made = io.BytesIO()
            np.save(made, values, allow_pickle=False)
            archive.writestr(f"{place}.npy", made.getbuffer())


class _Reader:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        self.made: dict[tuple[str, int], Any] = {}

    def value(self, plain: Any) -> Any:
        if not isinstance(plain, dict):
            return plain
        kind, content = next(iter(plain.items()))
        if kind in ("tensor", "parameter", "array"):
            return self._array(kind, content, plain.get("requires_grad", False), plain.get("dtype"))
        if kind == "dtype":
            return dtype_named(content)
        if kind == "device":
            return device(content)
        if kind == "bytes":
            return bytes.fromhex(content)
        cls = _CONTAINERS[kind]
        if issubclass(cls, dict):
            made = cls({self.value(key): self.value(each) for key, each in content})
            if "metadata" in plain:
                made._metadata = self.value(plain["metadata"])
            return made
        return cls(map(self.value, content))

    def _array(self, kind: str, place: int, requires_grad: bool, name: str | None) -> Any:
        if (kind, place) not in self.made:
            with self.archive.open(f"{int(place)}.npy") as stream:
                values = np.load(io.BytesIO(stream.read()), allow_pickle=False)
            if kind == "array":
                made: Any = values
            else:
                made = from_values(values, dtype_named(name) if name else None)
                made = Parameter(made, requires_grad) if kind == "parameter" else made.requires_grad_(requires_grad)
            self.made[kind, place] = made
        return self.made[kind, place]


def load(f: Any, map_location: Any = None, *, weights_only: bool = True, mmap: bool | None = None) -> Any:
    """Reads what `save` wrote. It runs no code of the file's.

    Args:
        f: A path, or a file that is open for reading bytes.
        map_location: None or the CPU.
        weights_only: Of no effect: files hold nothing else.
    Raises: RuntimeError: a file of PyTorch's own, or one that save has not written, or that is damaged;
        FileNotFoundError.
    """
    if map_location is not None and not callable(map_location):
        for each in map_location.values() if isinstance(map_location, dict) else [map_location]:
            require_cpu(each)
    try:
        with zipfile.ZipFile(f) as archive:
            names = archive.namelist()
            if _STRUCTURE not in names:
                is_theirs = any(name.endswith("data.pkl") for name in names)
                raise RuntimeError(
                    "torch.load: a file of PyTorch's own, which only PyTorch reads: let it save NumPy arrays"
                    if is_theirs
                    else "torch.load: no file of mxlite.torch's save"
                )
            content = json.loads(archive.read(_STRUCTURE))
            if content.get("format") != _FORMAT:
                raise RuntimeError(f"torch.load: a format that is not known: {content.get('format')}")
            return _Reader(archive).value(content["value"])
    except zipfile.BadZipFile:
        raise RuntimeError("torch.load: no file of mxlite.torch's save, or a damaged one") from None
    except (KeyError, ValueError, TypeError, AttributeError, EOFError) as problem:
        raise RuntimeError(f"torch.load: the file is damaged: {problem}") from problem
