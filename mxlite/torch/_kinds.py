"""Small kinds of things that PyTorch has beside tensors: sizes, devices, layouts."""

from __future__ import annotations

import math
import operator
import threading
from typing import Any

from mxlite.context import gpus_are_the_cpu
from mxlite.torch._dtypes import count_elsewhere
from mxlite.torch._errors import wrong_argument


class Size(tuple):
    """A shape: a tuple of integers that prints as `torch.Size([2, 3])`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def numel(self) -> int:
        """The number of elements of that shape."""
        return math.prod(self)

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        return Size(tuple.__add__(tuple(other), self))

    def __mul__(self, count: Any) -> Size:
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return Size(found) if isinstance(key, slice) else found

    def __reduce__(self) -> tuple:
        return Size, (tuple(self),)


class device:  # noqa: N801 - PyTorch's name
    """Where tensors are: `device("cpu")`, or `device("meta")`, where they have a shape and a dtype but no values. Under
    `mxlite run --cpu` device("cuda") is the CPU too. As a with-block: where functions that create tensors put them.

    Raises: RuntimeError: no device has that name. (Tensors on another device than the CPU are an error where they are
        made.)
    """

    __slots__ = ("type", "index")

    _TYPES = frozenset("cpu cuda meta mps xpu xla hpu mkldnn vulkan ipu mtia privateuseone".split())

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        if isinstance(type, int) and not isinstance(type, bool):
            if gpus_are_the_cpu(f"device({type})"):
                type = "cpu"
            else:
                raise RuntimeError(f"device({type}): a number names an accelerator, and there is none")
        if not isinstance(type, str):
            raise wrong_argument("device", "type", 1, "str", type)
        name, separator, number = type.partition(":")
        if name not in self._TYPES or (separator and not number.isdigit()):
            raise RuntimeError(f"there is no device {type!r}")
        self.type = name
        self.index = int(number) if separator else index
        if name == "cuda" and gpus_are_the_cpu(repr(self)):
            self.type, self.index = "cpu", None

    def __enter__(self) -> device:
        on_meta(self)
        _note(-1, self)
        return self

    def __exit__(self, *_: object) -> None:
        _note(-1, None)

    def __repr__(self) -> str:
        return f"device(type='{self.type}'{'' if self.index is None else f', index={self.index}'})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple:
        return device, (self.type,) if self.index is None else (self.type, self.index)


class _Named:
    """A constant that has nothing but a name."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


class layout(_Named):  # noqa: N801 - PyTorch's name
    """How tensors lie in memory: `strided`."""

    __slots__ = ()


class memory_format(_Named):  # noqa: N801 - PyTorch's name
    """The order of a tensor's elements: `contiguous_format`, `channels_last` (of images: channels innermost), or
    `preserve_format`, as that of another tensor.
    """

    __slots__ = ()


CPU, META = device("cpu"), device("meta")


class _Places(threading.local):
    """Where this thread's new tensors go: set_default_device, then the with-blocks that are open."""

    devices = (CPU,)


_places = _Places()


def _note(at: int, where: device | None) -> None:
    """Adds a device to the open ones, or (None) removes the last; `at` 0: in place of set_default_device's."""
    open_ones = _places.devices
    _places.devices = (where, *open_ones[1:]) if at == 0 else (*open_ones, where) if where else open_ones[:-1]
    count_elsewhere(sum(each.type == "meta" for each in _places.devices) - sum(e.type == "meta" for e in open_ones))


def here() -> device:
    """The device of new tensors."""
    return _places.devices[-1]


def set_default_device(device: Any) -> None:  # noqa: A002 - PyTorch's name
    """Says where functions that create tensors put them, in this thread: the CPU (None too), or "meta".

    Raises: AssertionError, NotImplementedError: another device.
    """
    on_meta(device or CPU)
    _note(0, _device(device or CPU))


_device = device
strided = layout("strided")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


def order_of(given: memory_format, ndim: int) -> tuple[int, ...] | None:
    """The dimensions in the order of memory, outermost first, for a format; None: as they are.

    Raises: RuntimeError: the format is for another number of dimensions.
    """
    if given not in (channels_last, channels_last_3d):
        return None
    if ndim != (4 if given is channels_last else 5):
        raise RuntimeError(f"{given!r} is for {4 if given is channels_last else 5} dimensions, got {ndim}")
    return (0, *range(2, ndim), 1)


#: The error of who asks for CUDA, and what helps.
NO_CUDA = "there is no CUDA: tensors are on the CPU (`mxlite run --as torch --cpu` takes GPUs for the CPU)"


def on_meta(given: Any) -> bool:
    """Whether a device is meta, and not the CPU; None: whether new tensors go there.

    Raises: AssertionError (CUDA), NotImplementedError: another device.
    """
    if given == "cpu":
        return False
    where = here() if given is None else given if isinstance(given, device) else device(given)
    if where.type == "cuda":
        raise AssertionError(NO_CUDA)
    if where.type not in ("cpu", "meta"):
        raise NotImplementedError(f"mxlite.torch has no device '{where}': tensors are on the CPU")
    return where.type == "meta"


def require_cpu(given: Any) -> None:
    """Raises: AssertionError (CUDA) or NotImplementedError: a device other than the CPU is asked for."""
    if given is not None and on_meta(given):
        raise NotImplementedError("values are on the CPU, not on the device meta")


def require_strided(given: Any) -> None:
    """Raises: NotImplementedError: a layout other than strided is asked for."""
    if given is not None and given is not strided:
        raise NotImplementedError(f"mxlite.torch has no layout {given}: tensors are strided")


def check_dim(dim: Any, ndim: int) -> int:
    """A dimension, counted from 0. A tensor without axes counts as having one.

    Raises: IndexError: out of range; TypeError: no integer.
    """
    try:
        place = operator.index(dim)
    except TypeError:
        raise TypeError(f"a dimension is an integer, got {type(dim).__name__}") from None
    room = ndim or 1
    if not -room <= place < room:
        raise IndexError(f"there is no dimension {place}; dimensions go from {-room} to {room - 1}")
    return place + room if place < 0 else place


def check_dims(dims: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions (one, or a sequence of them), counted from 0.

    Raises: IndexError: out of range; RuntimeError: one of them is named twice.
    """
    if not isinstance(dims, (tuple, list)):
        return (check_dim(dims, ndim),)
    places = tuple(check_dim(dim, ndim) for dim in dims)
    for position, place in enumerate(places):
        if place in places[:position]:
            raise RuntimeError(f"each dimension is named once, got {place} twice")
    return places


def extents_of(name: str, given: tuple) -> tuple[int, ...]:
    """The extents of a shape that is given as f(2, 3), f((2, 3)) or f([2, 3]).

    Raises: TypeError: no integers.
    """
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    try:
        return tuple(map(operator.index, given))
    except TypeError:
        kind = next((each for each in given if not hasattr(each, "__index__")), given[0])
        raise wrong_argument(name, "size", 1, "tuple of ints", kind) from None


def can_sum_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether `target` can be broadcast to `shape`: whether what has that can be summed to it."""
    behind = shape[len(shape) - len(target) :]
    return len(shape) >= len(target) and all(small in (1, large) for small, large in zip(target, behind))
