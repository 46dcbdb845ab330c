"""What functions of NumPy 1.23 took and later ones refuse. Each function is tried as it is now first."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Callable

import numpy as np

from mxlite._cli._old._mechanism import change_class
from mxlite._cli._old._said import note

_Function = Callable[..., Any]


def change(module: ModuleType) -> None:
    """Has NumPy take what it took, where this one refuses it."""
    if _refuses(float, np.zeros(1)):
        _change_numbers()
    if _refuses(bool, np.zeros(0)):
        _change_truth()
    version = tuple(int(part) for part in np.__version__.split(".")[:2])
    if version >= (1, 24):
        for name in ("array", "asarray", "asanyarray"):
            _replace(name, _array)
        _replace("fromstring", _fromstring)
        for name in ("histogram", "histogram2d", "histogramdd"):
            _replace(name, functools.partial(_renamed, {"normed": "density"}, "np.histogram(normed=)"))
        for name in ("vstack", "hstack", "dstack", "column_stack", "stack"):
            _replace(name, _of_generator)
    if _refuses(np.sum, (number for number in (1, 2))):
        _replace("sum", _of_generator)
    if version >= (2, 0):
        for name in ("percentile", "quantile", "nanpercentile", "nanquantile"):
            _replace(name, functools.partial(_renamed, {"interpolation": "method"}, "np.percentile(interpolation=)"))
        _replace("reshape", functools.partial(_renamed, {"newshape": "shape"}, "np.reshape(newshape=)"))
        _replace("cross", _cross)
        for name, without in (("save", ["fix_imports"]), ("corrcoef", ["bias", "ddof"]), ("array2string", ["style"])):
            _replace(name, functools.partial(_without, without))
        _replace("solve", _solve, np.linalg)
    if version >= (2, 5):
        for name in ("eig", "eigvals"):
            _replace(name, _real, np.linalg)


def _replace(name: str, make: Callable[[_Function], _Function], module: ModuleType = np) -> None:
    real = getattr(module, name)
    setattr(module, name, functools.wraps(real)(make(real)))


def _refuses(function: _Function, *args: Any) -> bool:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args)
        except (TypeError, ValueError):
            return True
    return False


# ---- arrays as numbers ----


def _change_numbers() -> None:
    """Arrays of one element are numbers, whatever their rank; so they can also be assigned to an element."""
    for name in ("__float__", "__int__", "__complex__"):
        change_class(np.ndarray, name, _number(getattr(np.ndarray, name)))


def _number(real: _Function) -> _Function:
    def number(self: Any) -> Any:
        if self.ndim and self.size == 1:
            note("an array of one element as a number")
            self = self.view(np.ndarray).reshape(())
        return real(self)

    return functools.wraps(real)(number)


def _plain(value: Any) -> Any:
    """The value with numbers in place of arrays of one element; itself, if it has none."""
    if isinstance(value, np.ndarray):
        return value.reshape(()) if value.ndim and value.size == 1 else value
    if isinstance(value, (list, tuple)):
        plain = [_plain(each) for each in value]
        if any(a is not b for a, b in zip(plain, value)):
            return plain
    return value


def _change_truth() -> None:
    real = np.ndarray.__bool__

    def __bool__(self: Any) -> bool:  # noqa: N807
        if self.size == 0:
            note("an empty array as False")
            return False
        return real(self)

    change_class(np.ndarray, "__bool__", functools.wraps(real)(__bool__))


# ---- functions ----


def _array(real: _Function) -> _Function:
    def array(*args: Any, **kwargs: Any) -> Any:
        try:
            return real(*args, **kwargs)
        except (ValueError, OverflowError) as error:
            found = _otherwise(real, error, args, kwargs)
            if found is None:
                raise
            return found

    return array


def _otherwise(real: _Function, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The array that was made formerly where an error is now; None: there was an error, too."""
    given = {"object": kwargs.get("a"), **dict(zip(("object", "dtype"), args)), **kwargs}
    source, dtype = given["object"], given.get("dtype")
    if isinstance(error, OverflowError):
        if dtype is None or np.dtype(dtype).kind not in "iu":
            return None
        found = real(source).astype(dtype)
        note("np.array of numbers beyond the dtype")
        return found
    if "inhomogeneous" in str(error):
        source = source if dtype is None else _plain(source)
        if dtype is not None and source is given["object"]:
            return None
        options = {name: value for name, value in kwargs.items() if name not in ("a", "object", "dtype", "copy")}
        found = real(source, object if dtype is None else dtype, **options)
        note("np.array of lists of several lengths" if dtype is None else "an array of one element as a number")
        return found
    if kwargs.get("copy") is False and np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        found = np.array(*args, **{**kwargs, "copy": None})
        note("np.array(copy=False) of what must be copied")
        return found
    return None


def _fromstring(real: _Function) -> _Function:
    def fromstring(string: Any, dtype: Any = float, count: int = -1, *args: Any, **kwargs: Any) -> Any:
        sep = args[0] if args else kwargs.get("sep", "")
        try:
            return real(string, dtype, count, *args, **kwargs)
        except ValueError as error:
            if sep != "" and "unmatched" not in str(error):
                raise
        if sep == "":
            found = _from_bytes(string, dtype, count)
            note("np.fromstring of bytes")
            return found
        found = _beginning(real, string, dtype, count, sep)
        note("np.fromstring of text with a rest")
        return found

    return fromstring


def _from_bytes(string: Any, dtype: Any, count: int) -> Any:
    """A copy of bytes as numbers; a text has those of UTF-8."""
    held = string.encode() if isinstance(string, str) else bytes(string)
    dtype = np.dtype(dtype)
    if count < 0 and len(held) % dtype.itemsize:
        raise ValueError("string size must be a multiple of element size")
    if count * dtype.itemsize > len(held):
        raise ValueError("string is smaller than requested size")
    return np.frombuffer(held, dtype, count).copy() if held else np.zeros(0, dtype)


def _beginning(real: _Function, string: Any, dtype: Any, count: int, sep: str) -> Any:
    """The numbers of a text as far as it has some."""
    text = string.decode("latin1") if isinstance(string, bytes) else string
    low, high = 0, len(text)
    while low < high:  # the longest beginning that can be read
        middle = (low + high + 1) // 2
        try:
            real(text[:middle], dtype, count, sep=sep)
            low = middle
        except ValueError:
            high = middle - 1
    return real(text[:low], dtype, count, sep=sep) if low else np.zeros(0, dtype)


def _of_generator(real: _Function) -> _Function:
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return real(*args, **kwargs)
        except TypeError:
            if not args or isinstance(args[0], (Sequence, np.ndarray)) or not hasattr(args[0], "__next__"):
                raise
        given = sum(args[0]) if real.__name__ == "sum" else list(args[0])
        found = given if real.__name__ == "sum" else real(given, *args[1:], **kwargs)
        note("functions of a generator of arrays")
        return found

    return function


def _renamed(names: dict[str, str], phrase: str, real: _Function) -> _Function:
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return real(*args, **kwargs)
        except TypeError:
            if not any(old in kwargs for old in names):
                raise
        kwargs = {names.get(name, name): value for name, value in kwargs.items()}
        found = real(*args, **kwargs)
        note(phrase)
        return found

    return function


def _cross(real: _Function) -> _Function:
    def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
        try:
            return real(a, b, axisa, axisb, axisc, axis)
        except ValueError:
            if axis is not None:
                axisa = axisb = axisc = axis
            x, y = np.moveaxis(np.asarray(a), axisa, -1), np.moveaxis(np.asarray(b), axisb, -1)
            if 2 not in (x.shape[-1], y.shape[-1]) or not {x.shape[-1], y.shape[-1]} <= {2, 3}:
                raise
        of_plane = x.shape[-1] == y.shape[-1] == 2
        full = [np.concatenate([v, np.zeros_like(v[..., :1])], -1) if v.shape[-1] == 2 else v for v in (x, y)]
        found = real(*full)
        note("np.cross of vectors of 2")
        return found[..., 2] if of_plane else np.moveaxis(found, -1, axisc)

    return cross


def _without(names: list[str], real: _Function) -> _Function:
    """Leaves out arguments that did nothing."""

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return real(*args, **kwargs)
        except TypeError:
            if not any(each in kwargs for each in names):
                raise
        found = real(*args, **{name: value for name, value in kwargs.items() if name not in names})
        note("arguments without a meaning, such as np.save(fix_imports=)")
        return found

    return function


def _solve(real: _Function) -> _Function:
    def solve(a: Any, b: Any) -> Any:
        """Vectors for a stack of matrices, which NumPy 2 takes for one matrix."""
        if np.ndim(b) < 2 or np.shape(b) != np.shape(a)[:-1]:
            return real(a, b)
        found = real(a, np.asarray(b)[..., None])[..., 0]
        note("np.linalg.solve of vectors in a stack")
        return found

    return solve


def _real(real: _Function) -> _Function:
    def function(a: Any) -> Any:
        """Real numbers, where all eigenvalues of a matrix of real numbers are real."""
        found = real(a)
        values, rest = (found[0], found[1:]) if isinstance(found, tuple) else (found, ())
        if np.iscomplexobj(a) or not np.iscomplexobj(values) or np.any(values.imag):
            return found
        note("np.linalg.eig of real eigenvalues")
        return type(found)(values.real, *(each.real for each in rest)) if rest else values.real

    return function
