"""What the array API standard asks of an array besides 1.9.1's attributes and operators; `install` gives it ndarray."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Callable

import numpy as np

from mxlite.context import Context, require_cpu
from mxlite.error import MXValueError
from mxlite.ndarray.ndarray import NUMBERS
from mxlite.numpy._functions import ARRAYS, ArrayBase
from mxlite.numpy.multiarray import ndarray

#: The versions of the standard that arrays know.
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def _array_namespace(self: ndarray, *, api_version: str | None = None) -> Any:
    """The module of the standard's functions. Raises: ValueError: there is no such version of it."""
    if api_version is not None and api_version not in VERSIONS:
        raise MXValueError(f"__array_namespace__: there is no version {api_version!r}; there are {', '.join(VERSIONS)}")
    return import_module("mxlite.array_api")  # which is made of this package


def _to_device(self: ndarray, device: Any, /, *, stream: Any = None) -> ndarray:
    """Itself: there is one device. Raises: MXNetError: another one; ValueError: a stream, which the CPU has not."""
    if stream is not None:
        raise MXValueError(f"to_device: the CPU has no streams, got {stream!r}")
    return self.as_in_ctx(require_cpu(device))


def _device(self: ndarray) -> Context:
    """The context."""
    return self.context


def _matrices_turned(self: ndarray) -> ndarray:
    """A copy of matrices with rows for columns. Raises: ValueError: there are less than two axes."""
    if self.ndim < 2:
        raise MXValueError(f"mT: takes matrices, got an array of {self.ndim} axes")
    return ARRAYS.swapaxes(self, -2, -1)


def _complex(self: ndarray) -> complex:
    """The element as a complex number of Python. Raises: TypeError, as float() does."""
    return complex(float(self))


def _positive(self: ndarray) -> ndarray:
    return ARRAYS.positive(self)


def _of_two(call: Callable, is_reflected: bool) -> Callable:
    def operator(self: ndarray, other: Any) -> Any:
        if not isinstance(other, (ArrayBase, *NUMBERS)):
            return NotImplemented
        return call(other, self) if is_reflected else call(self, other)

    return operator


def _shift(name: str) -> Callable:
    """A shift of integers, which NumPy computes on the values; an integer takes the array's dtype."""
    ufunc = getattr(np, f"{name}_shift")

    def function(x1: Any, x2: Any) -> ndarray:
        dtype = (x1 if isinstance(x1, ArrayBase) else x2).dtype
        values = (
            each.asnumpy()
            if isinstance(each, ArrayBase)
            else np.asarray(each, dtype if isinstance(each, int) else None)
            for each in (x1, x2)
        )
        return ARRAYS.array_from(np.asarray(ufunc(*values)), None, None)

    return function


def install() -> None:
    """Gives ndarray what the standard asks for."""
    methods: dict[str, Callable] = {
        "__array_namespace__": _array_namespace,
        "__complex__": _complex,
        "__pos__": _positive,
        "to_device": _to_device,
    }
    floor_divide, left, right = ARRAYS.floor_divide, _shift("left"), _shift("right")
    for name, call in {"floordiv": floor_divide, "lshift": left, "rshift": right}.items():
        methods[f"__{name}__"], methods[f"__r{name}__"] = _of_two(call, False), _of_two(call, True)
    for name, method in methods.items():
        method.__name__, method.__qualname__ = name, f"ndarray.{name}"
        setattr(ndarray, name, method)
    ndarray.device, ndarray.mT = property(_device), property(_matrices_turned)
