"""Pickles that go between mxlite and the real MXNet: classes are named as 1.9.1 names them.

A pickle can call any function that it names. `loads` therefore knows the names of a fixed list alone, and calls
nothing else; it imports nothing.
"""

from __future__ import annotations

import io
import os
import pickle
import warnings
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from mxlite.context import Context
from mxlite.error import MXNetError
from mxlite.ndarray import NDArray


class PickleError(MXNetError, pickle.UnpicklingError):
    """A pickle that is not read: it is damaged, or names what it may not."""


_VARIABLE = "MXLITE_ALLOW_PICKLE"
_warned = False


def public_name(cls: Any) -> tuple[str, str]:
    """Module and name of a class as 1.9.1 has them; classes of private modules are in the public one beside them."""
    return _public_module(getattr(cls, "__module__", None) or ""), cls.__qualname__


def _public_module(module: str) -> str:
    if module.startswith("mxlite.optimizer._"):
        return "mxnet.optimizer.optimizer"
    return "mxnet" + module[6:] if f"{module}.".startswith("mxlite.") else module


class _Pickler(pickle._Pickler):  # type: ignore[name-defined] # the C class has no save_global to override
    def save_global(self, obj: Any, name: str | None = None) -> None:
        if (getattr(obj, "__module__", None) or "").partition(".")[0] != "mxlite":
            super().save_global(obj, name)
            return
        module, known = public_name(obj)
        self.write(pickle.GLOBAL + module.encode() + b"\n" + (name or known).encode() + b"\n")
        self.memoize(obj)

    dispatch = {**pickle._Pickler.dispatch, type: save_global}  # type: ignore[attr-defined]


# ---- what a pickle may name ----


#: NumPy's letters for dtypes of numbers: not those of objects, texts and structures.
_NUMBERS = "?bBhHiIlLqQefdgFDG"


def _new(cls: type, *rest: Any) -> Any:
    """copyreg's functions for objects without state of a built-in class, which ask for (cls) or (cls, object, None)."""
    if rest not in ((), (object, None)):
        raise MXNetError(f"a pickle may not make a {cls.__name__} of {rest[0]!r}")
    return cls.__new__(cls)


def _empty_array(cls: type, shape: Any, kind: Any) -> np.ndarray:
    if cls is not np.ndarray or tuple(shape) != (0,):
        raise MXNetError("a pickle may not make an array in this way")
    return np.ndarray(shape, kind)


def _array(content: Any, kind: Any, shape: Any, order: str) -> np.ndarray:
    return np.frombuffer(content, kind).reshape(shape, order=order)


def _scalar(kind: np.dtype, content: Any = b"") -> Any:
    if kind.hasobject:
        raise MXNetError("a pickle may not make numbers of the dtype object")
    return np.frombuffer(content, kind, 1)[0]


def _check_dtype(made: np.dtype, state: Any) -> None:
    """Raises: MXNetError: a dtype's state that is not that of a number of this machine's order of bytes."""
    if made.char not in _NUMBERS or not isinstance(state, tuple) or state[1] not in ("<", "|", "="):
        raise MXNetError(f"a pickle may not have the dtype {made}: numbers with the lowest byte first are read")


def _check_array(state: Any) -> None:
    """Raises: MXNetError: a state of an array that is not one of numbers."""
    kind, content = (state[2], state[4]) if isinstance(state, tuple) and len(state) == 5 else (None, None)
    if not isinstance(kind, np.dtype) or kind.char not in _NUMBERS or not isinstance(content, (bytes, bytearray)):
        raise MXNetError("a pickle may have arrays of numbers alone")


def _bytes(text: str, encoding: str) -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise MXNetError(f"a pickle may not ask for the encoding {encoding!r}")
    return text.encode("latin-1")


def _nd_array(nothing: None) -> NDArray:
    return NDArray(nothing)


def _functions() -> dict[tuple[str, str], Any]:
    found: dict[tuple[str, str], Any] = {
        ("_codecs", "encode"): _bytes,
        ("numpy", "dtype"): np.dtype,
    }
    for each in (list, dict, tuple, set, frozenset, bytes, bytearray, complex, int, float, bool, str):
        found["builtins", each.__name__] = found["__builtin__", each.__name__] = each
    for copyreg in ("copyreg", "copy_reg"):  # its name in Python 2, which old protocols have
        found[copyreg, "_reconstructor"] = found[copyreg, "__newobj__"] = _new
    for each in (Counter, OrderedDict, defaultdict, deque):
        found["collections", each.__name__] = each
    for core in ("numpy.core", "numpy._core"):
        found[f"{core}.multiarray", "_reconstruct"] = _empty_array
        found[f"{core}.multiarray", "scalar"] = _scalar
        found[f"{core}.numeric", "_frombuffer"] = _array
    return found


#: What may be called, by the names that pickles have for it.
_CALLED = _functions()
#: What may only be named, or made without a call.
_NAMED = {
    ("builtins", "object"): object,
    ("__builtin__", "object"): object,
    ("numpy", "ndarray"): np.ndarray,
    ("mxnet.ndarray.ndarray", "NDArray"): NDArray,
    ("mxnet.context", "Context"): Context,
}


class _Unpickler(pickle._Unpickler):  # type: ignore[name-defined] # the C class has no load_reduce to override
    """Makes objects of listed classes and of `known` ones, and calls what is listed."""

    def __init__(self, data: bytes, known: Mapping[tuple[str, str], Any]) -> None:
        super().__init__(io.BytesIO(data))
        self.named = {**_CALLED, **_NAMED, **known}
        self.made = (NDArray, Context, *(each for each in known.values() if isinstance(each, type)))

    def find_class(self, module: str, name: str) -> Any:
        module = _public_module(module)
        if (module, name) in self.named:
            return self.named[module, name]
        raise MXNetError(
            f"the pickle names {module}.{name}, which is no array, number or container, and no optimizer or scheduler "
            f"that this program has; {_VARIABLE}=1 lets a pickle that you trust name anything, which may run any code"
        )

    def load_reduce(self) -> None:
        function, arguments = self.stack[-2:]
        if function is NDArray and arguments == (None,):
            self.stack[-2] = _nd_array
        elif not any(function is each for each in _CALLED.values()):
            raise MXNetError(f"a pickle may not call {function!r}")
        super().load_reduce()

    def _check_new(self, cls: Any, *arguments: Any) -> None:
        if not (any(cls is each for each in self.made) and not any(arguments)):
            raise MXNetError(f"a pickle may not make objects of {cls!r} in this way")

    def load_newobj(self) -> None:
        self._check_new(*self.stack[-2:])
        super().load_newobj()

    def load_newobj_ex(self) -> None:
        self._check_new(*self.stack[-3:])
        super().load_newobj_ex()

    def load_build(self) -> None:
        made, state = self.stack[-2:]
        if not isinstance(made, (*self.made, np.ndarray, np.dtype)):
            raise MXNetError(f"a pickle may not change a {type(made).__name__}")
        if isinstance(made, np.dtype):
            _check_dtype(made, state)
            self.stack.pop()  # NumPy trusts the rest of it: it could break the dtype for the whole process
            return
        if isinstance(made, np.ndarray):
            _check_array(state)
        super().load_build()

    def _refused(self) -> None:
        raise MXNetError("the pickle makes objects in a way that only pickles of old Pythons do")

    dispatch = {
        **pickle._Unpickler.dispatch,  # type: ignore[attr-defined]
        pickle.REDUCE[0]: load_reduce,
        pickle.NEWOBJ[0]: load_newobj,
        pickle.NEWOBJ_EX[0]: load_newobj_ex,
        pickle.BUILD[0]: load_build,
        pickle.INST[0]: _refused,
        pickle.OBJ[0]: _refused,
    }


class _Anything(pickle.Unpickler):
    """As pickle does it, of a program that trusts its files."""

    def find_class(self, module: str, name: str) -> Any:
        if f"{module}.".startswith("mxnet."):
            module = "mxlite" + module[5:]
        return super().find_class(module, name)


# ---- both ways ----


def dumps(value: Any) -> bytes:
    """A pickle that mxlite and MXNet 1.9.1 read. Raises what pickle raises."""
    file = io.BytesIO()
    _Pickler(file, 2).dump(value)
    return file.getvalue()


def _allowed(what: str) -> bool:
    """Whether pickles may name anything. Raises: MXNetError: they are not read at all."""
    global _warned
    value = os.environ.get(_VARIABLE, "")
    if value not in ("", "0", "1"):
        raise ValueError(f"{_VARIABLE} is {value!r}; it may be 0 or 1")
    if value == "0":
        raise PickleError(f"{what}: this is a pickle, which {_VARIABLE}=0 refuses to read")
    if not value and not _warned:
        _warned = True
        warnings.warn(
            f"{what}: this is a pickle, the format of MXNet 1.9.1. A pickle of unknown origin can run any code; mxlite "
            "reads arrays, numbers, containers, optimizers and schedulers from it, and nothing else. Files that "
            f"mxlite writes now are no pickles: save it again. {_VARIABLE}=0 refuses pickles",
            UserWarning,
            stacklevel=4,
        )
    return value == "1"


def loads(data: bytes, known: Mapping[tuple[str, str], Any], what: str) -> Any:
    """What a pickle of either holds; it runs no code but that of classes.

    Args:
        known: Classes, by `public_name`, of which it may have objects besides arrays and containers; and functions,
            which it may name and not call.
        what: What the pickle is, for errors.
    Raises: MXNetError: the environment's MXLITE_ALLOW_PICKLE is 0, or the pickle names something else and
        MXLITE_ALLOW_PICKLE is not 1; what pickle raises of a damaged one.
    """
    if _allowed(what):
        return _Anything(io.BytesIO(data)).load()
    try:
        return _Unpickler(data, known).load()
    except MXNetError as error:
        raise PickleError(f"{what}: {error}") from None
    except Exception as error:  # the opcodes of a damaged pickle raise what they like
        raise PickleError(f"{what}: no file of states, or a damaged pickle: {type(error).__name__}: {error}") from None
