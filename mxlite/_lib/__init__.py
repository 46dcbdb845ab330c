"""The C library: found, opened, its prototypes, its errors; and the binding for the hot calls.

`LIB` is the library by ctypes, each function with its prototype. `hot` is a module of flat functions that take and
return integers: over cffi where that module was built, else over ctypes. Both use the one library opened here.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from collections.abc import Iterable
from types import MethodType
from typing import Any, NoReturn

from mxlite import error
from mxlite._lib.prototypes import TABLE

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # the package
#: The library's file name; that of a build is SHARED_NAME of mk/system.mk.
LIBRARY_NAME = {"win32": "mxlite.dll", "darwin": "libmxlite.dylib"}.get(sys.platform, "libmxlite.so")


def c_text(text: str | bytes) -> bytes:
    """A text as C takes it.

    Raises:
        ValueError: it holds a NUL character, with which C ends a text.
    """
    encoded = text.encode() if isinstance(text, str) else text
    if b"\0" in encoded:
        raise ValueError("embedded null byte")
    return encoded


def c_texts(texts: Iterable[str | bytes]) -> ctypes.Array:
    """A `const char **` of texts, as `c_text` takes them."""
    encoded = [c_text(text) for text in texts]
    return (ctypes.c_char_p * len(encoded))(*encoded)


def c_int(kind: Any, value: int) -> int:
    """An integer as a ctypes type of signed integers holds it: ctypes itself would cut it without a word.

    Raises:
        OverflowError: it does not fit.
    """
    bits = 8 * ctypes.sizeof(kind)
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise OverflowError(f"{value} does not fit {bits} bits")
    return value


def c_ints(kind: Any, values: Iterable[int]) -> ctypes.Array:
    """A list of integers of a ctypes type; the same errors."""
    numbers = [c_int(kind, value) for value in values]
    return (kind * max(1, len(numbers)))(*numbers)


_TYPES = {
    "b": ctypes.c_bool,
    "i": ctypes.c_int,
    "I": ctypes.c_uint32,
    "q": ctypes.c_int64,
    "Q": ctypes.c_uint64,
    "z": ctypes.c_size_t,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
    "s": ctypes.c_char_p,
    "P": ctypes.c_void_p,
    "v": None,
}


def _first_existing(*candidates: str) -> str | None:
    for path in candidates:
        path = os.path.normpath(os.path.join(_HERE, path))
        if os.path.exists(path):
            return path
    return None


def get_library() -> str:
    """Path of the C library: MXLITE_LIBRARY, else the package's own, else that of the source tree around it.

    Raises:
        RuntimeError: there is none.
    """
    path = os.environ.get("MXLITE_LIBRARY")
    if path:
        return os.path.abspath(path)
    path = _first_existing(f"_native/{LIBRARY_NAME}", f"../build/{LIBRARY_NAME}")
    if path is None:
        raise RuntimeError(
            f"mxlite: {LIBRARY_NAME} is neither in {_HERE} nor in the build folder beside it. In the source tree run "
            "`make lib`; to use an installed mxlite start Python in another folder; or set MXLITE_LIBRARY"
        )
    return path


def get_include() -> str:
    """Path of the folder with the C headers (`#include "mxlite/c_api.h"`).

    Raises:
        RuntimeError: there is none.
    """
    path = _first_existing("include", "../include")
    if path is None:
        raise RuntimeError("mxlite: the C headers are neither in the package nor in ../include")
    return path


def _share(name: str) -> str:
    """A folder of `share/`: the package's own, else the one beside the library."""
    beside = os.path.join(os.path.dirname(get_library()), "share", name)
    path = None if os.environ.get("MXLITE_LIBRARY") else _first_existing(os.path.join("share", name))
    path = path or (beside if os.path.isdir(beside) else None)
    if path is None:
        raise RuntimeError(f"mxlite: there is no {beside}; run `make lib`, or install the package")
    return path


def get_cmake_dir() -> str:
    """Path of the folder with mxliteConfig.cmake: what CMake takes as `mxlite_DIR`.

    Raises:
        RuntimeError: there is none.
    """
    return _share(os.path.join("cmake", "mxlite"))


def get_pkgconfig_dir() -> str:
    """Path of the folder with mxlite.pc: what belongs into PKG_CONFIG_PATH.

    Raises:
        RuntimeError: there is none.
    """
    return _share("pkgconfig")


class _Library:
    """The opened library. A function gets its prototype when it is first asked for."""

    def __init__(self, path: str) -> None:
        said = " (MXLITE_LIBRARY names it)" if os.environ.get("MXLITE_LIBRARY") else ""
        try:
            self._cdll = ctypes.CDLL(path)
        except OSError as problem:
            raise RuntimeError(f"mxlite: cannot load {path}{said}: {problem}") from None
        if not hasattr(self._cdll, "MXLGetVersion"):
            raise RuntimeError(f"mxlite: {path}{said} is no {LIBRARY_NAME}")
        self._table = dict(entry.split(":") for entry in TABLE.split())

    def __getattr__(self, name: str) -> Any:
        letters = self._table.get(name)
        if letters is None:
            raise AttributeError(f"the C API has no function {name}")
        function = self._cdll[name]
        arguments, _, result = letters.partition(">")
        function.argtypes = [_TYPES[letter] for letter in arguments]
        function.restype = _TYPES[result or "i"]
        setattr(self, name, function)
        return function

    def __dir__(self) -> list[str]:
        return sorted(self._table)

    def address(self, name: str) -> int:
        """Where the function is, as an integer."""
        return ctypes.cast(self._cdll[name], ctypes.c_void_p).value


LIB = _Library(get_library())


def lasting(thing: Any) -> Any:
    """The thing, never freed: C holds it, which can be for longer than a module lives. What a callback of ctypes does
    then needs no names of the module: they are arguments with defaults.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    return thing


class Handle:
    """The base class of objects with a handle of the library, `_h`, which they free at their end.

    `__del__` is a slot, in which an object keeps the library's function bound to its handle. So no Python code runs
    when one goes: nothing in which Ctrl-C could be lost, and nothing that needs what the ending interpreter has taken
    apart.
    """

    __slots__ = ("__del__", "__weakref__", "_h")

    def _own(self, handle: int | None, free: Any) -> None:
        """Takes over a handle, which `free` frees."""
        self._h = handle
        if handle:
            self.__del__ = MethodType(free, handle)

    def _disown(self) -> int | None:
        """Gives the handle away; 0: it is gone."""
        handle, self._h = self._h, 0
        if handle:
            del self.__del__
        return handle

    def __reduce__(self) -> Any:
        """A copy would free the handle of the object that it is of. Raises: TypeError."""
        raise TypeError(f"{type(self).__name__} holds a handle of the library: it is not copied or pickled")


def _origin() -> int:
    number = ctypes.c_uint64()
    LIB.MXLThreadGetOrigin(ctypes.byref(number))
    return number.value


error.connect(_origin, lambda: LIB.NNAPISetLastError(b""))


def _hint_openblas() -> None:
    """Tells the library where pip put OpenBLAS (the wheel scipy-openblas32), which is opened when it is first needed.

    Looking at the folders of sys.path costs microseconds; importing that wheel's module would load OpenBLAS.
    """
    name = "libscipy_openblas" + os.path.splitext(LIBRARY_NAME)[1]
    for folder in sys.path:
        path = os.path.join(folder, "scipy_openblas32", "lib", name)
        if os.path.exists(path):
            LIB.MXLHintBackend(b"openblas", os.fsencode(os.path.abspath(path)))
            return


_hint_openblas()


def last_error() -> BaseException:
    """The exception for the calling thread's last failure, to be raised."""
    return error.error_from_message(LIB.MXGetLastError().decode(errors="replace"))


def raise_last_error(*_: Any, **__: Any) -> NoReturn:
    """Raises the calling thread's last failure; for `hot.direct`, with the arguments of the failed call."""
    raise last_error()


def check_call(status: int) -> None:
    """Raises the library's last error (an MXNetError) unless `status` is 0."""
    if status != 0:
        raise last_error()


def buffer_address(values: Any) -> int:
    """The address of the first element of a NumPy array in C order: `values.ctypes.data` at a third of its cost."""
    if values.size and values.flags.writeable:  # ctypes takes no other buffers
        return ctypes.addressof(ctypes.c_char.from_buffer(values))
    return values.ctypes.data


def ask(kind: Any, function: Any, *arguments: Any) -> Any:
    """The value, of a ctypes type, that a function of the library writes where its last argument points.

    Not for hot calls: a value of one's own, `byref` and `check_call` are 0.2 us faster.
    """
    answer = kind()
    check_call(function(*arguments, ctypes.byref(answer)))
    return answer.value


def _load_hot() -> tuple[str, Any]:
    wanted = os.environ.get("MXLITE_BINDING", "")
    if wanted not in ("", "cffi", "ctypes"):
        raise RuntimeError(f"mxlite: MXLITE_BINDING is {wanted!r}; it may be 'cffi' or 'ctypes'")
    if wanted != "ctypes":
        try:
            return "cffi", importlib.import_module("mxlite._lib.hot_cffi")
        except AttributeError as problem:  # of a module that was built from other sources
            raise RuntimeError(f"mxlite: the cffi module is of another version; build it again: {problem}") from problem
        except ImportError as problem:
            if wanted == "cffi":
                raise RuntimeError(
                    f"mxlite: MXLITE_BINDING=cffi, but the cffi module cannot be loaded: {problem}"
                ) from problem
    return "ctypes", importlib.import_module("mxlite._lib.hot_ctypes")


#: "cffi" or "ctypes": how the hot calls are made.
BINDING, hot = _load_hot()
hot.bind(LIB)
