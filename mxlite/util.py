"""The modes of a thread: NumPy's shapes (with them () is the shape of a scalar and 0 an empty axis) and its arrays; the
library's environment and memory."""

from __future__ import annotations

import ctypes
import functools
import inspect
import threading
from typing import Any, Callable, NoReturn, TypeVar

import numpy as np

from mxlite._lib import LIB, ask, c_int, c_text, check_call
from mxlite._public import show as _show
from mxlite.context import gpu_memory_info, num_gpus

_T = TypeVar("_T")


def is_np_shape() -> bool:
    """Whether this thread is in numpy-shape mode. It starts without."""
    return bool(ask(ctypes.c_int, LIB.MXIsNumpyShape))


def set_np_shape(active: bool) -> bool:
    """Switches numpy-shape mode for this thread; the mode before."""
    return bool(ask(ctypes.c_int, LIB.MXSetIsNumpyShape, int(active)))


class _Scope:
    """A with-block in which a setting has another value; `switch` sets one and says what was before."""

    def __init__(self, switch: Callable[[Any], Any], value: Any) -> None:
        self._switch, self._value = switch, value
        self._before: list[Any] = []

    def __enter__(self) -> _Scope:
        self._before.append(self._switch(self._value))
        return self

    def __exit__(self, *_: object) -> None:
        self._switch(self._before.pop())


def np_shape(active: bool = True) -> _Scope:
    """A with-block in numpy-shape mode (or, with False, out of it)."""
    return _Scope(set_np_shape, active)


def use_np_shape(function: _T) -> _T:
    """A decorator: the function, or each method and property of the class, runs in numpy-shape mode.

    Raises: TypeError: it is neither.
    """
    return _within(np_shape, function, "use_np_shape")


def _within(scope: Callable[[], _Scope], function: Any, name: str) -> Any:
    """A function that runs in a scope, or a class whose methods and properties do."""
    if inspect.isclass(function):
        for own, member in list(vars(function).items()):
            wrapped = _member_within(scope, member)
            if wrapped is not None:
                setattr(function, own, wrapped)
        return function
    if not callable(function):
        raise TypeError(f"{name} decorates classes and functions, got {type(function).__name__}")
    return _function_within(scope, function)


def _function_within(scope: Callable[[], _Scope], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with scope():
            return function(*args, **kwargs)

    return wrapper


def _member_within(scope: Callable[[], _Scope], member: Any) -> Any:
    """What a class has in place of a member; None: it stays."""
    if isinstance(member, (staticmethod, classmethod)):
        return type(member)(_function_within(scope, member.__func__))
    if isinstance(member, property):
        parts = (each and _function_within(scope, each) for each in (member.fget, member.fset, member.fdel))
        return property(*parts, member.__doc__)
    return _function_within(scope, member) if inspect.isfunction(member) else None


class _Modes(threading.local):
    """What a thread has set; the library has its numpy-shape mode."""

    np_array = False


_modes = _Modes()


def is_np_array() -> bool:
    """Whether the package makes arrays of `mx.np` in this thread. It starts without."""
    return _modes.np_array


def _set_np_array(active: bool) -> bool:
    """Switches arrays of `mx.np` for this thread; what it was before."""
    before, _modes.np_array = _modes.np_array, bool(active)
    return before


def np_array(active: bool = True) -> _Scope:
    """A with-block in which the package makes arrays of `mx.np` (or, with False, of `mx.nd`)."""
    return _Scope(_set_np_array, active)


def use_np_array(function: _T) -> _T:
    """A decorator: within the function, or the class's methods and properties, the package makes arrays of `mx.np`."""
    return _within(np_array, function, "use_np_array")


def within_modes(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is in this thread's modes, for another thread to call."""
    shape, array = is_np_shape(), is_np_array()
    if not (shape or array):
        return function
    return _function_within(lambda: np_shape(shape), _function_within(lambda: np_array(array), function))


def use_np(function: _T) -> _T:
    """A decorator: `use_np_shape` and `use_np_array`."""
    return use_np_shape(use_np_array(function))


def set_np(shape: bool = True, array: bool = True) -> None:
    """Switches numpy-shape mode, and arrays of `mx.np`, for this thread.

    Raises: ValueError: arrays are asked for, but not their shapes.
    """
    if array and not shape:
        raise ValueError("NumPy arrays need NumPy shapes: set both")
    _set_np_array(array)
    set_np_shape(shape)


def reset_np() -> None:
    """Leaves numpy-shape mode, and arrays of `mx.np`."""
    set_np(shape=False, array=False)


def set_module(module: str | None) -> Callable[[_T], _T]:
    """A decorator: the function says that it is of that module. None: it stays as it is."""

    def decorate(function: _T) -> _T:
        if module is not None:
            function.__module__ = module
        return function

    return decorate


_UFUNC_DTYPES = {
    each
    for name in ("int8", "uint8", "int32", "int64", "float16", "float32", "float64")
    for each in (name, getattr(np, name))
}

#: The options of NumPy's functions of elements: what they are without being given, and whether a value is one.
_UFUNC_OPTIONS: dict[str, tuple[Any, Callable[[Any], bool]]] = {
    "where": (True, lambda value: True),
    "casting": ("same_kind", lambda value: value in ("no", "equiv", "safe", "same_kind", "unsafe")),
    "order": ("K", lambda value: isinstance(value, str)),
    "dtype": (None, lambda value: value in _UFUNC_DTYPES),
    "subok": (True, lambda value: isinstance(value, bool)),
}


def np_ufunc_legal_option(key: str, value: Any) -> bool:
    """Whether NumPy's functions of elements have an option, and it can have a value."""
    return key in _UFUNC_OPTIONS and _UFUNC_OPTIONS[key][1](value)


def check_ufunc_options(name: str, options: dict[str, Any]) -> None:
    """Takes NumPy's options of a function of elements where they change nothing.

    Raises: TypeError: there is no such option. NotImplementedError: it has another value than NumPy's own.
    """
    for key, value in options.items():
        if key not in _UFUNC_OPTIONS:
            raise TypeError(f"{name}: there is no parameter {key}")
        if hasattr(value, "shape") and value.shape != ():
            raise NotImplementedError(f"{name}: the option {key} is not supported as an array of shape {value.shape}")
        if value is not _UFUNC_OPTIONS[key][0] and value != _UFUNC_OPTIONS[key][0]:
            if np_ufunc_legal_option(key, value):
                raise NotImplementedError(f"{name}: the option {key}={value} is not supported")
            raise TypeError(f"{name}: {key} cannot be {value}")


def _without_options(function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        options = {key: kwargs.pop(key) for key in list(kwargs) if key not in names}
        check_ufunc_options(function.__name__, options)
        return function(*args, **kwargs)

    return wrapper


def wrap_np_unary_func(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of a function of one array and `out`: NumPy's options are taken where they change nothing.

    Raises: TypeError: there is no such option. NotImplementedError: it has another value than NumPy's own.
    """
    return _without_options(function, "x", "out")


def wrap_np_binary_func(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same of a function of two arrays and `out`."""
    return _without_options(function, "x1", "x2", "out")


def get_gpu_count() -> int:
    """How many GPUs there are: none."""
    return num_gpus()


def get_gpu_memory(gpu_dev_id: int) -> tuple[int, int]:
    """Raises: MXNetError: there is no GPU."""
    return gpu_memory_info(gpu_dev_id)


def get_cuda_compute_capability(ctx: Any) -> NoReturn:
    """Raises: ValueError: the context is no GPU. OSError: there is no CUDA here."""
    if getattr(ctx, "device_type", None) != "gpu":
        raise ValueError(f"get_cuda_compute_capability: {ctx} is no GPU")
    raise OSError("mxlite has no CUDA: it computes on the CPU")


def getenv(name: str) -> str | None:
    """The value of a variable in the library's environment; None: it is not set."""
    value = ask(ctypes.c_char_p, LIB.MXGetEnv, c_text(name))
    return None if value is None else value.decode()


def setenv(name: str, value: str | None) -> None:
    """Sets a variable in the library's environment, where `os.environ` of a running program does not look; None unsets.

    Raises:
        MXNetError: no variable can have that name.
        ValueError: name or value holds a NUL character.
    """
    check_call(LIB.MXSetEnv(c_text(name), None if value is None else c_text(value)))


def pool_bytes() -> int:
    """Bytes of freed memory that the library keeps for reuse; `Context.empty_cache` gives them back to the system."""
    return ask(ctypes.c_int64, LIB.MXLGetPoolBytes)


def set_pool_cap(bytes: int | None) -> int:
    """Sets how many bytes of freed memory may be kept for reuse; the number before.

    What is above it is given back at once. None: back to the default, which is `MXLITE_POOL_MB` MiB where that
    variable is set, else an eighth of the machine's memory and at most 1 GiB.

    Raises:
        ValueError: a negative number.
    """
    if bytes is not None and bytes < 0:
        raise ValueError(f"a number of bytes was expected, got {bytes}")
    return ask(ctypes.c_int64, LIB.MXLSetPoolCap, -1 if bytes is None else c_int(ctypes.c_int64, bytes))


_show(globals())
