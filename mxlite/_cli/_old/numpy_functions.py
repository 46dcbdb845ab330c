"""Functions and values of NumPy 1.23 that later ones have not. `numpy_tables` names them."""

from __future__ import annotations

import functools
import sys
import textwrap
import warnings
from typing import Any, Callable

import numpy as np

from mxlite._cli._old.numpy_changes import change

__all__ = ["change"]

ALLOW_THREADS = FLOATING_POINT_SUPPORT = 1
BUFSIZE = UFUNC_BUFSIZE_DEFAULT = 8192
CLIP, WRAP, RAISE = range(3)
ERR_IGNORE, ERR_WARN, ERR_RAISE, ERR_CALL, ERR_PRINT, ERR_LOG = range(6)
ERR_DEFAULT = 521
FPE_DIVIDEBYZERO, FPE_OVERFLOW, FPE_UNDERFLOW, FPE_INVALID = 1, 2, 4, 8
SHIFT_DIVIDEBYZERO, SHIFT_OVERFLOW, SHIFT_UNDERFLOW, SHIFT_INVALID = 0, 3, 6, 9
MAXDIMS = 32
MAY_SHARE_BOUNDS, MAY_SHARE_EXACT = 0, -1
NINF, NZERO, PZERO = -np.inf, -0.0, 0.0
UFUNC_PYVALS_NAME = "UFUNC_PYVALS"


# ---- types ----


def _kind(kind: str) -> list[type]:
    types = {np.dtype(code).type for code in np.typecodes["All"] if np.dtype(code).kind == kind}
    by_size = {np.dtype(each).itemsize: each for each in sorted(types, key=lambda each: each is not np.int64)}
    return [by_size[size] for size in sorted(by_size)]


sctypes = {
    "int": [np.int8, np.int16, np.int32, np.int64],
    "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
    "float": _kind("f"),
    "complex": _kind("c"),
    "others": [bool, object, bytes, str, np.void],
}


class _Types(dict):  # type: ignore[type-arg]
    """A value for each type, found by whatever names the type."""

    def __getitem__(self, given: Any) -> Any:
        return super().__getitem__(obj2sctype(given))


_types = {np.dtype(code).type for code in np.typecodes["All"]}
nbytes = _Types({each: np.dtype(each).itemsize for each in _types})
cast = _Types({each: functools.partial(lambda kind, x: np.array(x).astype(kind), each) for each in _types})


def obj2sctype(rep: Any, default: Any = None) -> Any:
    """The scalar type of a dtype, of an array, or of the dtype that a name or a class denotes; else `default`."""
    if isinstance(rep, type) and issubclass(rep, np.generic):
        return rep
    if isinstance(rep, np.ndarray):
        return rep.dtype.type
    try:
        return np.dtype(rep).type
    except TypeError:
        return default


def issctype(rep: Any) -> bool:
    """Whether the argument is a scalar type, or a dtype, of numbers or text, not of objects."""
    if not isinstance(rep, (type, np.dtype)):
        return False
    return obj2sctype(rep) not in (None, np.object_)


def sctype2char(sctype: Any) -> str:
    """The letter of a type. Raises: ValueError: it is none. KeyError: it is abstract."""
    found = obj2sctype(sctype)
    if found is None:
        raise ValueError("sctype2char: the type is not known")
    if found not in _types:
        raise KeyError(found)
    return np.dtype(found).char


def maximum_sctype(t: Any) -> Any:
    """The largest type of the same kind."""
    found = obj2sctype(t)
    for kind, base in (("uint", np.unsignedinteger), ("int", np.signedinteger), ("float", np.floating)):
        if found is not None and issubclass(found, base) and found is not np.timedelta64:
            return sctypes[kind][-1]
    if found is not None and issubclass(found, np.complexfloating):
        return sctypes["complex"][-1]
    return t if found is None else found


def issubclass_(arg1: Any, arg2: Any) -> bool:
    """`issubclass`, False where it raises an error."""
    try:
        return issubclass(arg1, arg2)
    except TypeError:
        return False


def issubsctype(arg1: Any, arg2: Any) -> bool:
    """Whether the type of the one is a subclass of the other's."""
    return issubclass(obj2sctype(arg1), obj2sctype(arg2))


def find_common_type(array_types: Any, scalar_types: Any) -> Any:
    """The dtype for arrays and scalars of these: that of the arrays, unless the scalars' is of a higher kind."""
    arrays = _covers([np.dtype(each) for each in array_types])
    scalars = _covers([np.dtype(each) for each in scalar_types])
    if arrays is None or scalars is None:
        return arrays or scalars
    kinds = "buifcSUVOMm"
    if kinds.index(scalars.kind) <= kinds.index(arrays.kind):
        return arrays
    return scalars if np.can_cast(arrays, scalars) else _covers([scalars, arrays], scalars.char)


def _covers(dtypes: list[Any], begin: str = "?") -> Any:
    """The first dtype, from that of a letter on, to which all can be cast; None: there is none."""
    if len(dtypes) == 1:
        return dtypes[0]
    letters = "?bBhHiIlLqQefdgFDGO"
    for code in letters[letters.find(begin) :] if dtypes else "":
        if all(np.can_cast(each, np.dtype(code)) for each in dtypes):
            return np.dtype(code)
    return None


# ---- arrays ----


def alen(a: Any) -> int:
    """The length of an array, 1 for a number."""
    return len(np.atleast_1d(a))


def rank(a: Any) -> int:
    """The number of axes."""
    return np.ndim(a)


def asscalar(a: Any) -> Any:
    """The number in an array of one element."""
    return a.item()


def asfarray(a: Any, dtype: Any = np.float64) -> Any:
    """The array in a floating dtype, float64 where another is named."""
    return np.asarray(a, dtype=dtype if np.issubdtype(dtype, np.inexact) else np.float64)


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False, **options: Any) -> Any:
    """Whether each element of the one, flattened, is in the other."""
    return np.isin(np.asarray(ar1).ravel(), ar2, assume_unique=assume_unique, invert=invert, **options)


def msort(a: Any) -> Any:
    """A sorted copy along the first axis."""
    return np.sort(a, axis=0)


def fastCopyAndTranspose(a: Any) -> Any:  # noqa: N802 - NumPy's name
    """A transposed copy."""
    return np.array(np.asarray(a).T, order="C")


def get_array_wrap(*args: Any) -> Any:
    """The `__array_wrap__` of the one of highest priority; None: none has one."""
    having = [each for each in args if hasattr(each, "__array_wrap__")]
    return max(having, key=lambda each: getattr(each, "__array_priority__", 0)).__array_wrap__ if having else None


def itemset(self: Any, *args: Any) -> None:
    """Sets one element, in place.

    Raises: ValueError: no value, or there are several elements and no index. IndexError: there is no such element.
    """
    if not args:
        raise ValueError("itemset must have at least one argument")
    *index, value = args
    if not index:
        if self.size != 1:
            raise ValueError("itemset: an index is needed, the array has more than one element")
        self[(0,) * self.ndim] = value
    elif len(index) == 1 and not isinstance(index[0], tuple):
        self[np.unravel_index(range(self.size)[index[0]], self.shape)] = value
    else:
        self[index[0] if isinstance(index[0], tuple) else tuple(index)] = value


def ndincr(self: Any) -> None:
    """Goes on to the next index."""
    next(self)


def newbyteorder(self: Any, new_order: str = "S") -> Any:
    """The same bytes, read in another order."""
    return self.view(self.dtype.newbyteorder(new_order))


def ptp(self: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The greatest less the smallest."""
    return np.ptp(self, axis=axis, out=out, keepdims=keepdims)


def tostring(self: Any, order: str = "C") -> bytes:
    """The bytes of the elements."""
    return self.tobytes(order)  # type: ignore[no-any-return]


# ---- files, texts, and help ----


def recfromtxt(fname: Any, **kwargs: Any) -> Any:
    """`genfromtxt`, as a record array."""
    kwargs.setdefault("dtype", None)
    use_mask = kwargs.get("usemask", False)
    found = np.genfromtxt(fname, **kwargs)
    return found.view(np.ma.mrecords.MaskedRecords if use_mask else np.recarray)


def recfromcsv(fname: Any, **kwargs: Any) -> Any:
    """`genfromtxt` of a file with commas and names in its first line, as a record array."""
    kwargs.setdefault("case_sensitive", "lower")
    kwargs.setdefault("names", True)
    kwargs.setdefault("delimiter", ",")
    return recfromtxt(fname, **kwargs)


def disp(mesg: Any, device: Any = None, linefeed: bool = True) -> None:
    """Writes a text to a file, stdout unless one is given."""
    device = sys.stdout if device is None else device
    device.write(f"{mesg}\n" if linefeed else f"{mesg}")
    device.flush()


def source(object: Any, output: Any = None) -> None:
    """Prints the source of a function, a class or a module."""
    import inspect

    output = sys.stdout if output is None else output
    try:
        print(f"In file: {inspect.getsourcefile(object)}\n", file=output)
        print(inspect.getsource(object), file=output)
    except (OSError, TypeError):
        print("Not available for this object.", file=output)


def who(vardict: Any = None) -> None:
    """Prints the arrays of a dictionary, or those of the caller: name, shape, bytes, dtype."""
    held = sys._getframe(1).f_globals if vardict is None else vardict
    found = [(name, each) for name, each in held.items() if isinstance(each, np.ndarray)]
    if not found:
        return
    rows = [(name, " x ".join(map(str, each.shape)), str(each.nbytes), each.dtype.name) for name, each in found]
    widths = [max(10, *(len(row[at]) for row in rows)) for at in range(3)]
    title = "".join(f"{word} {' ' * width} " for word, width in zip(("Name", "Shape", "Bytes"), widths)) + "Type"
    print(f"{title}\n{'=' * (len(title) + 5)}\n")
    for row in rows:
        cells = (cell.ljust(width + more) for cell, width, more in zip(row, widths, (6, 7, 7)))
        print("".join(cells) + row[3])
    print(f"\nUpper bound on total bytes  =       {sum(each.nbytes for _, each in found)}")


def lookfor(what: str, module: Any = None, *_: Any, output: Any = None, **__: Any) -> None:
    """Prints the functions of NumPy, or of a module, whose documentation has all of these words."""
    import importlib

    held = importlib.import_module(module) if isinstance(module, str) else (np if module is None else module)
    words, title = what.lower().split(), f"Search results for '{what}'"
    lines = [title, "-" * len(title)]
    for name in sorted(dir(held)) if words else ():
        if name.startswith("_") or not callable(getattr(held, name, None)):
            continue
        text = getattr(held, name).__doc__ or ""
        if all(word in text.lower() for word in words):
            first = next((line.strip() for line in text.splitlines() if line.strip() and "(" not in line), "")
            lines += [f"{held.__name__}.{name}", f"    {first}"]
    text = "\n".join(lines if len(lines) > 2 else [*lines, "Nothing found."])
    if output is None:
        print(text)
    else:
        output.write(text)


def set_string_function(f: Callable[[Any], str] | None, repr: bool = True) -> None:
    """Has arrays shown by a function, in `repr` or (repr=False) in `str`; None: as NumPy shows them."""
    from mxlite._cli._old._mechanism import change_class

    name = "__repr__" if repr else "__str__"
    shown = _SHOWN.setdefault(name, getattr(np.ndarray, name))
    change_class(np.ndarray, name, shown if f is None else lambda self: f(self))


#: What shows arrays but for `set_string_function`.
_SHOWN: dict[str, Any] = {}


def deprecate(*args: Any, **kwargs: Any) -> Any:
    """A function that warns when it is called, and calls another; without a function, what makes one of it."""
    if args:
        return _deprecate(*args, **kwargs)
    return functools.partial(_deprecate, **kwargs)


def deprecate_with_doc(msg: str) -> Any:
    """`deprecate` with a message."""
    return functools.partial(_deprecate, message=msg)


def _deprecate(func: Any, old_name: str | None = None, new_name: str | None = None, message: str | None = None) -> Any:
    old = func.__name__ if old_name is None else old_name
    text = f"`{old}` is deprecated!" if new_name is None else f"`{old}` is deprecated, use `{new_name}` instead!"
    text += "" if message is None else "\n" + message

    @functools.wraps(func)
    def deprecated(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return func(*args, **kwargs)

    deprecated.__name__ = old
    deprecated.__doc__ = text + "\n\n" + textwrap.dedent(func.__doc__ or "")
    return deprecated
