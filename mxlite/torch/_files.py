"""torch.save and torch.load: PyTorch's own files, a zip archive of a pickle and of the bytes of each storage.

Loading runs no code of the file's: the pickle may name the functions and classes of `_KNOWN` alone.
"""

from __future__ import annotations

import ctypes
import io
import math
import pickle
import sys
import zipfile
from collections import Counter, OrderedDict
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from mxlite import _replace
from mxlite._lib import LIB
from mxlite.torch._basic import from_values
from mxlite.torch._calls import adopt
from mxlite.torch._dtypes import DTYPES, NAMES, bfloat16, dtype
from mxlite.torch._kinds import Size, device, require_cpu
from mxlite.torch._nodes import unrecorded
from mxlite.torch._tensor import Tensor
from mxlite.torch.nn.parameter import Parameter


class _Storage:
    """What the pickle says of a storage's class, `torch.FloatStorage`."""

    def __init__(self, kind: dtype) -> None:
        self.kind = kind


class _Described:
    """A dtype of NumPy's; never one itself, whose state a file could make wrong."""

    def __init__(self, text: str, *_: Any) -> None:
        self.dtype = np.dtype(text)
        if self.dtype.hasobject or self.dtype.kind == "V":
            raise TypeError(f"an array of {text}")


def _rebuild_tensor(storage: Tensor, offset: int, size: Any, stride: Any, requires_grad: bool, *_: Any) -> Tensor:
    last = offset + sum(step * (count - 1) for count, step in zip(size, stride))
    if offset < 0 or len(size) != len(stride) or min((*size, *stride), default=0) < 0:
        raise ValueError("a tensor's shape")
    if math.prod(size) and last >= storage.numel():
        raise ValueError("a tensor that is larger than its storage")
    with unrecorded():
        made = storage.as_strided(size, stride, offset) if math.prod(size) else storage[:0].reshape(size)
    return made.requires_grad_(requires_grad) if requires_grad else made


def _rebuild_parameter(data: Tensor, requires_grad: bool, *_: Any) -> Parameter:
    return Parameter(data, requires_grad)


def _array(*_: Any) -> np.ndarray:
    return np.empty(0, np.uint8)


def _scalar(described: _Described, data: bytes) -> Any:
    return np.frombuffer(data, described.dtype)[0]


def _encoded(text: str, encoding: str) -> bytes:
    return text.encode(encoding)


#: What a pickle may name.
_KNOWN: dict[tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor, ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    ("collections", "OrderedDict"): OrderedDict, ("collections", "Counter"): Counter, ("__builtin__", "set"): set,
    ("torch", "Size"): Size, ("torch", "device"): device, ("_codecs", "encode"): _encoded, ("numpy", "ndarray"): None,
    ("numpy", "dtype"): _Described,
    **{(f"numpy.{core}.multiarray", name): made for core in ("core", "_core")
       for name, made in (("_reconstruct", _array), ("scalar", _scalar))},
    **{("torch", f"{kind.word}Storage"): _Storage(kind) for kind in DTYPES},
    **{("torch", name): kind for name, kind in NAMES.items()},
}  # fmt: skip
_NAMES = {made: name for name, made in reversed(_KNOWN.items()) if name[0][:5] != "numpy"}
_PLAIN = (type(None), bool, int, float, str, bytes, list, tuple, dict, set, OrderedDict, Counter, Size, device)


class _Writer(pickle._Pickler):
    def __init__(self) -> None:
        self.file = io.BytesIO()
        super().__init__(self.file, 2)
        #: The memory of the tensors, by its number: its place in the archive, and itself.
        self.storages: dict[Any, tuple[str, Tensor]] = {}

    def persistent_id(self, obj: Any) -> Any:
        if not isinstance(obj, _Memory):
            return None
        key, whole = self.storages.setdefault(obj.key, (str(len(self.storages)), obj.whole))
        return "storage", _KNOWN["torch", f"{whole._dtype.word}Storage"], key, "cpu", whole.numel()

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is Parameter:
            return _rebuild_parameter, (obj.detach(), obj.requires_grad, OrderedDict())
        if isinstance(obj, Tensor):
            place = obj.storage_offset(), tuple(obj.shape), obj.stride()
            return _rebuild_tensor, (_Memory(obj), *place, obj.requires_grad, OrderedDict())
        if isinstance(obj, (dtype, _Storage, type, FunctionType, BuiltinFunctionType)):
            name = _NAMES.get(obj) or (getattr(obj, "__module__", None), getattr(obj, "__name__", None))
            if name in _KNOWN:
                return "\n".join(name)
        elif type(obj) in _PLAIN or isinstance(obj, (np.ndarray, np.generic, np.dtype)) and not _has_objects(obj):
            return NotImplemented
        raise TypeError(
            f"mxlite.torch: torch.save takes tensors, numbers, texts and containers of them, not {type(obj).__name__}; "
            "of a module or an optimizer, save state_dict()"
        )

    def save_global(self, obj: Any, name: Any = None) -> None:
        self.write(pickle.GLOBAL + f"{name}\n".encode())
        self.memoize(obj)


def _has_objects(value: Any) -> bool:
    return (value if isinstance(value, np.dtype) else value.dtype).hasobject


class _Memory:
    """The memory of a tensor: what others over it have, too."""

    def __init__(self, tensor: Tensor) -> None:
        number = ctypes.c_uint64()
        self.whole = adopt(LIB.MXLNDArrayGetMemory(tensor._h, ctypes.byref(number)), tensor._dtype)
        self.key = number.value, tensor._dtype


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2) -> None:
    """Writes tensors, numbers, texts, and containers of them: `save(model.state_dict(), "x.pt")`. PyTorch reads it.

    Tensors over one memory are written with it, once.

    Args:
        f: A path, or a file that is open for writing bytes. What has the path stays until the new file is whole.
        pickle_module, pickle_protocol: Of no effect.
    Raises: TypeError: other objects; then nothing is written. OSError: writing failed.
    """
    writer = _Writer()
    writer.dump(obj)
    if hasattr(f, "write"):
        _archive(f, writer)
        return
    with _replace.replacing(f) as file:
        _archive(file, writer)


def _archive(f: Any, writer: _Writer) -> None:
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr("archive/data.pkl", writer.file.getvalue())
        archive.writestr("archive/byteorder", sys.byteorder)
        for key, whole in writer.storages.values():
            archive.writestr(f"archive/data/{key}", _bytes_of(whole))
        archive.writestr("archive/version", "3\n")


def _bytes_of(whole: Tensor) -> bytes:
    """The elements; those of bfloat16 are the upper halves of float32."""
    values = whole._values()
    if whole._dtype is bfloat16:
        values = (values.view(np.uint32) >> 16).astype(np.uint16)
    return values.tobytes()


def _values_of(data: bytes, kind: dtype, order: str) -> np.ndarray:
    """The elements of a storage in that order of bytes."""
    if kind is bfloat16:
        halves = np.frombuffer(data, np.dtype(np.uint16).newbyteorder(order))
        return (halves.astype(np.uint32) << 16).view(np.float32)
    return np.frombuffer(data, kind.np.newbyteorder(order)).astype(kind.np)


class _Reader(pickle._Unpickler):
    dispatch = dict(pickle._Unpickler.dispatch)

    def __init__(self, archive: zipfile.ZipFile, folder: str, anywhere: bool) -> None:
        super().__init__(io.BytesIO(archive.read(f"{folder}data.pkl")), encoding="utf-8")
        self.archive, self.folder, self.anywhere = archive, folder, anywhere
        self.order = "<"
        if f"{folder}byteorder" in archive.namelist() and archive.read(f"{folder}byteorder") == b"big":
            self.order = ">"
        self.made: dict[str, Tensor] = {}

    def find_class(self, module: str, name: str) -> Any:
        key = module.replace("builtins", "__builtin__"), name
        if key not in _KNOWN:
            raise pickle.UnpicklingError(f"torch.load: the file asks for {module}.{name}, which is not loaded")
        return _KNOWN[key]

    def persistent_load(self, pid: Any) -> Tensor:
        _, storage, key, location, count = pid
        if location != "cpu" and not self.anywhere:
            raise RuntimeError(f"torch.load: tensors of {location}, and there is no CUDA: give map_location='cpu'")
        if key not in self.made:
            values = _values_of(self.archive.read(f"{self.folder}data/{key}"), storage.kind, self.order)
            if len(values) != count:
                raise ValueError("a storage's size")
            self.made[key] = from_values(values, storage.kind)
        return self.made[key]

    def load_build(self) -> None:
        state, made = self.stack.pop(), self.stack[-1]
        if type(made) is np.ndarray:
            _, shape, described, in_columns, data = state
            made.__setstate__((1, shape, described.dtype, in_columns, data))
        elif isinstance(made, _Described):
            made.dtype = made.dtype.newbyteorder(state[1])
        elif isinstance(made, OrderedDict) and set(state) <= {"_metadata"}:  # versions of modules
            made.__dict__.update(state)
        else:
            raise TypeError(f"a state of {type(made).__name__}")

    dispatch[pickle.BUILD[0]] = load_build


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool = True, mmap: bool | None = None
) -> Any:
    """Reads what `save` wrote, here or in PyTorch. It runs no code of the file's.

    Args:
        f: A path, or a file that is open for reading bytes.
        map_location: None or the CPU; without it, tensors that were on a GPU are an error.
        weights_only, pickle_module, mmap: Of no effect: only what is safe is loaded, as a copy.
    Raises: RuntimeError: a file that save has not written, or that is damaged; pickle.UnpicklingError: it has other
        objects, as a whole module; FileNotFoundError.
    """
    if map_location is not None and not callable(map_location):
        for each in map_location.values() if isinstance(map_location, dict) else [map_location]:
            require_cpu(each)
    try:
        with zipfile.ZipFile(f) as archive:
            folder = next((name[: -len("data.pkl")] for name in archive.namelist() if name.endswith("/data.pkl")), None)
            if folder is None:
                raise RuntimeError("torch.load: no file of torch.save's")
            return _Reader(archive, folder, map_location is not None).load()
    except zipfile.BadZipFile:
        raise RuntimeError("torch.load: no file of torch.save's (since PyTorch 1.6), or a damaged one") from None
    except (LookupError, ValueError, TypeError, AttributeError, EOFError, OverflowError) as problem:
        raise RuntimeError(f"torch.load: the file is damaged: {problem}") from problem
