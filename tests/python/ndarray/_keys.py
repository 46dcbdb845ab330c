"""5,000 keys, made from a seed: for mxlite, for NumPy, and for the real MXNet 1.9.1 (tests/reference/make_keys.py).

A key is kept as a description (`Case.parts`), since it holds arrays of whichever library reads it. The generator uses
integers of its own, so that every Python and NumPy gives the same keys.
"""

from __future__ import annotations

import zlib
from typing import Any, Callable

import numpy as np

COUNT = 5000
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
#: NDArray's dtypes for indices.
ND_INTEGERS = ("float32", "float64", "float16", "int32", "int64", "int8", "uint8")
DTYPES = ("float32", "float32", "float64", "float16", "int32", "int64", "int8", "uint8", "bool")


class Numbers:
    """Numbers that look random (a linear congruential generator)."""

    def __init__(self, seed: int) -> None:
        self._state = seed * 2654435761 % (1 << 64)

    def below(self, n: int) -> int:
        """A number of 0 ... n - 1."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self._state >> 33) % n

    def one_of(self, choices: Any) -> Any:
        """One of a list."""
        return choices[self.below(len(choices))]

    def chance(self, percent: int) -> bool:
        """True in so many cases of a hundred."""
        return self.below(100) < percent


class Case:
    """An array's shape and dtype, a key, and what is written there.

    `parts`: pairs (kind, content); `single`: the one part is the key itself, not a tuple of it. `numpy_mode`: in
    numpy-shape mode. `value`: (kind, shape or None).
    """

    def __init__(self, number: int) -> None:
        make = Numbers(number + 1)
        self.number = number
        self.shape = _shape(make)
        self.dtype = make.one_of(DTYPES)
        self.numpy_mode = 0 in self.shape or not self.shape or make.chance(25)
        self.parts = _parts(make, self.shape)
        self.single = len(self.parts) == 1 and make.chance(60)
        self.value = self._value(make)

    def array(self) -> np.ndarray:
        """The array's content."""
        size = int(np.prod(self.shape))
        return (np.arange(size) % 100 + 1).reshape(self.shape).astype(self.dtype)

    def key(self, nd: Any) -> Any:
        """The key for mxlite or MXNet: `nd` is its `mx.nd`."""
        return self._key(lambda kind, content: nd.array(content, dtype=kind) if kind != "bool" else _mask(nd, content))

    def numpy_key(self) -> Any:
        """The key for NumPy: what is no integer is cut, and NDArrays are arrays of integers or masks."""
        key = self._key(lambda kind, content: np.array(content, dtype=kind))
        return tuple(map(_for_numpy, key)) if isinstance(key, tuple) else _for_numpy(key)

    def _key(self, make_nd: Callable) -> Any:
        parts = [_part(kind, content, make_nd) for kind, content in self.parts]
        return parts[0] if self.single else tuple(parts)

    def _value(self, make: Numbers) -> tuple[str, Any]:
        kind = make.one_of(("number", "nd", "nd", "numpy", "list"))
        try:
            shape = list(self.read_by_numpy().shape)
        except (IndexError, ValueError, TypeError):
            return "number", None
        change = make.below(10)
        if change == 0 and shape:
            shape[make.below(len(shape))] = 1
        elif change == 1 and shape:
            shape = shape[1:]
        elif change == 2:
            shape = [1, *shape]
        elif change == 3:
            shape = [*shape, 2]
        shape = shape if shape or self.numpy_mode else [1]
        return "numpy" if 0 in shape and kind == "list" else kind, tuple(shape)  # [] has no shape

    def written(self, nd: Any) -> Any:
        """What is written, for mxlite or MXNet."""
        kind, shape = self.value
        if kind == "number":
            return 101
        values = (np.arange(int(np.prod(shape))) % 20 + 101).reshape(shape).astype("float32")
        return nd.array(values, dtype="float32") if kind == "nd" else values if kind == "numpy" else values.tolist()

    def read_by_numpy(self) -> np.ndarray:
        """What NumPy reads; outside numpy-shape mode a scalar has the shape (1,). Raises what NumPy raises."""
        check_bounds(self.parts, self.shape)
        result = np.array(self.array()[self.numpy_key()])
        return result if result.ndim or self.numpy_mode else result.reshape(1)

    def written_by_numpy(self) -> np.ndarray:
        """The array after NumPy has written. Raises what NumPy raises."""
        check_bounds(self.parts, self.shape)
        array, key = self.array(), self.numpy_key()
        values = np.asarray(self.written(np)).astype(self.dtype)
        ndim = array[key].ndim
        while values.ndim > ndim and values.shape[0] == 1:  # NumPy does not always
            values = values[0]
        if values.ndim > ndim:
            raise ValueError("the values have more axes than what is selected")
        array[key] = values
        return array

    def __repr__(self) -> str:
        mode = "numpy" if self.numpy_mode else "legacy"
        return f"{self.number}: {self.dtype}{self.shape} {mode} single={self.single} {self.parts} = {self.value}"


def cases() -> list[Case]:
    """All of them."""
    return [Case(number) for number in range(COUNT)]


def checksum() -> int:
    """Of all cases; answers that were made of others do not fit."""
    return zlib.crc32("\n".join(map(repr, cases())).encode())


def check_bounds(parts: list[tuple[str, Any]], shape: tuple[int, ...]) -> None:
    """Raises: IndexError for an index out of bounds, which some versions of NumPy let pass in empty selections."""
    used = sum(_axes(kind, content) for kind, content in parts)
    axis = 0
    for kind, content in parts:
        if kind == "dots":
            axis += max(len(shape) - used, 0)
        elif _axes(kind, content) == 1 and kind != "slice" and axis < len(shape):
            values = np.array(range(*content) if kind == "range" else content)
            if values.dtype.kind == "i" and np.any((values < -shape[axis]) | (values >= shape[axis])):
                raise IndexError(f"{content} is out of bounds for axis {axis}")
        axis += _axes(kind, content)


def faults(case: Case) -> set[str]:
    """What is wrong with a key; with several things, which one an error names is a matter of taste."""
    found = {"kind"} if any(kind == "bad" for kind, _ in case.parts) else set()
    if sum(_axes(kind, content) for kind, content in case.parts) > len(case.shape):
        found.add("count")
    try:
        check_bounds(case.parts, case.shape)
    except IndexError:
        found.add("bounds")
    key = case.numpy_key()
    arrays = [np.asarray(part) for part in (key if isinstance(key, tuple) else (key,)) if isinstance(part, ARRAYS)]
    try:
        np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        found.add("shapes")
    return found


ARRAYS = (list, range, np.ndarray)


def _axes(kind: str, content: Any) -> int:
    if kind in ("none", "dots"):
        return 0
    values = np.array(content, dtype=object)
    is_mask = kind.endswith("bool") or (kind == "list" and values.size > 0 and isinstance(values.flat[0], bool))
    return values.ndim if is_mask else 1


def _shape(make: Numbers) -> tuple[int, ...]:
    ndim = make.one_of((0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 5))
    extents = (0, 1, 2, 3, 4, 5) if make.chance(10) else (1, 2, 3, 4, 5)
    return tuple(make.one_of(extents) for _ in range(ndim))


def _parts(make: Numbers, shape: tuple[int, ...]) -> list[tuple[str, Any]]:
    """Parts that mostly fit the axes of `shape`, with None and `...` between them."""
    parts: list[tuple[str, Any]] = []
    axis, length, dots = 0, 1 + make.below(len(shape) + 1), False
    broadcast = make.one_of(((2,), (3,), (2,), (1,), (2, 2), (0,)))
    while len(parts) < length and axis < len(shape):
        if make.chance(8):
            parts.append(("none", None))
        elif make.chance(8) and not dots:
            parts.append(("dots", None))
            dots = True
            axis += make.below(len(shape) - axis)
        else:
            taken, part = _axis_part(make, shape[axis:], broadcast)
            parts.append(part)
            axis += taken
    if not parts or make.chance(3):
        parts.append(make.one_of((("none", None), ("dots", None), ("int", 0), ("bad", "a"), ("bad", 1.5), ("bad", {}))))
    return parts


def _axis_part(make: Numbers, extents: tuple[int, ...], broadcast: tuple[int, ...]) -> tuple[int, tuple[str, Any]]:
    """How many axes, and a part for them."""
    extent, choice = extents[0], make.below(100)
    if choice < 20:
        return 1, ("int", _index(make, extent, 3))
    if choice < 25:
        return 1, ("scalar " + make.one_of(("int32", "int64", "int32", "int64", "int8")), _index(make, extent, 3))
    if choice < 52:
        bounds = [None if make.chance(55) else make.below(2 * extent + 3) - extent - 1 for _ in range(2)]
        return 1, ("slice", (*bounds, make.one_of((None, None, 1, 2, 3, -1, -1, -2))))
    if choice < 89:
        shape = broadcast if make.chance(85) else (1 + make.below(3),)
        content = _indices(make, extent, shape, 4)
        kind = make.one_of(
            ("list", "list", "tuple", "numpy " + make.one_of(INTEGERS), "nd " + make.one_of(ND_INTEGERS))
        )
        if kind.startswith(("numpy u", "nd u")):
            content = _map(abs, content)
        if make.chance(3):
            content, kind = (_index(make, extent, 0), "numpy int64")
        return 1, (kind, content)
    if choice < 92 and extent:
        return 1, ("range", (0, make.below(extent) + 1))
    axes = 1 + make.below(min(len(extents), 3)) if make.chance(40) else 1
    shape = extents[:axes] if make.chance(92) else (*extents[: axes - 1], extent + 1)
    content = _map(lambda _: bool(make.below(2)), np.zeros(shape).tolist())
    return axes, (make.one_of(("list", "numpy bool", "nd bool")), content)


def _index(make: Numbers, extent: int, wrong: int) -> int:
    if make.chance(wrong) or extent == 0:
        return make.one_of((extent, extent + 3, -extent - 1, -extent - 3))
    return make.below(2 * extent) - extent if make.chance(50) else make.below(extent)


def _indices(make: Numbers, extent: int, shape: tuple[int, ...], wrong: int) -> list:
    outside = wrong if make.chance(20) else 0
    if 0 not in shape and extent == 0:
        return _map(lambda _: 0, np.zeros(shape).tolist())
    return _map(lambda _: _index(make, extent, outside), np.zeros(shape).tolist())


def _map(function: Callable, content: Any) -> Any:
    return [_map(function, each) for each in content] if isinstance(content, list) else function(content)


def _tuple(content: Any) -> Any:
    return tuple(map(_tuple, content)) if isinstance(content, list) else content


def _part(kind: str, content: Any, make_nd: Callable) -> Any:
    kind, _, dtype = kind.partition(" ")
    makers = {
        "none": lambda: None,
        "dots": lambda: Ellipsis,
        "slice": lambda: slice(*content),
        "range": lambda: range(*content),
        "tuple": lambda: _tuple(content),
        "scalar": lambda: np.dtype(dtype).type(content),
        "numpy": lambda: np.array(content, dtype=dtype),
        "nd": lambda: make_nd(dtype, content),
    }
    return makers.get(kind, lambda: content)()


def _for_numpy(part: Any) -> Any:
    if isinstance(part, np.ndarray) and part.dtype.kind == "f":
        return part.astype("int64")
    if isinstance(part, tuple):
        return np.array(part, dtype="int64")
    return part


def _mask(nd: Any, content: Any) -> Any:
    return nd.array(np.array(content, dtype=bool), dtype="bool")
