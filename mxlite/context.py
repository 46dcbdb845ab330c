"""Devices: Context, cpu(), gpu(), the current context of a thread. mxlite computes on the CPU."""

from __future__ import annotations

import os
import re
import sys
import threading
import warnings

from mxlite._public import show as _show
from mxlite._public.near import did_you_mean
from mxlite.error import MXNetError, MXValueError

__all__ = ["Context", "cpu", "cpu_pinned", "current_context", "gpu", "gpu_memory_info", "num_gpus"]

_NO_GPU = "{} is not available: mxlite computes on the CPU (`mxlite run --cpu` takes GPUs for it)"
#: Under `mxlite run --cpu` GPUs are the CPU: how many there are said to be. None: they are not available.
_gpus: int | None = None
_told = False


class _HasDefault(type):
    """Gives the class Context a property: classes before Python 3.13 have no others that can be assigned to."""

    @property
    def default_ctx(cls) -> Context:
        """The current context of the thread; MXNet has deprecated the name. Assigned to, it becomes the current one."""
        return _deprecated()

    @default_ctx.setter
    def default_ctx(cls, context: Context) -> None:
        if not isinstance(context, Context):
            raise TypeError(f"Context.default_ctx is a Context, as mx.cpu() gives it; got {context!r}")
        _deprecated()
        _current.context = context


class Context(metaclass=_HasDefault):
    """A device: a kind ("cpu", "gpu", "cpu_pinned", "cpu_shared") and a number. A with-block makes it the default.

    Raises:
        KeyError: an unknown kind. OverflowError: a number beyond 32 bits.
    """

    devtype2str = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}
    devstr2type = {"cpu": 1, "gpu": 2, "cpu_pinned": 3, "cpu_shared": 5}

    def __init__(self, device_type: str | Context, device_id: int = 0) -> None:
        if isinstance(device_type, Context):
            self.device_typeid = device_type.device_typeid
            self.device_id = device_type.device_id
        else:
            if device_type not in self.devstr2type:
                kinds = self.devstr2type
                meant = did_you_mean(device_type, kinds)
                raise KeyError(f"{device_type!r} is no kind of device; there are {', '.join(kinds)}{meant}")
            self.device_id = int(device_id)
            self.device_typeid = _available(self.devstr2type[device_type], self.device_id)
            if not -(1 << 31) <= self.device_id < 1 << 31:
                raise OverflowError(f"Context: a device number has 32 bits, got {device_id}")
        self._outer: list[Context | None] = []

    @property
    def device_type(self) -> str:
        """The kind of device."""
        return self.devtype2str[self.device_typeid]

    def __hash__(self) -> int:
        return hash((self.device_typeid, self.device_id))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Context)
            and self.device_typeid == other.device_typeid
            and self.device_id == other.device_id
        )

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    def __getstate__(self) -> dict[str, object]:
        """The state for pickle, as in MXNet 1.9.1."""
        return {"device_typeid": self.device_typeid, "device_id": self.device_id, "_old_ctx": None}

    def __setstate__(self, state: dict[str, int]) -> None:
        """Takes what `__getstate__` of this class or of MXNet 1.9.1's gave."""
        self.device_id, self._outer = state["device_id"], []
        self.device_typeid = _available(state["device_typeid"], self.device_id)

    def __enter__(self) -> Context:
        self._outer.append(_current.context)
        _current.context = self
        return self

    def __exit__(self, *_: object) -> None:
        _current.context = self._outer.pop()

    def empty_cache(self) -> None:
        """Gives memory that freed arrays left behind back to the system."""
        from mxlite._lib import LIB, check_call

        require_cpu(self)
        check_call(LIB.MXStorageEmptyCache(self.device_typeid, self.device_id))


def cpu(device_id: int = 0) -> Context:
    """The CPU. Arrays keep the number that they are made with; it is this machine's memory whatever the number."""
    return Context("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """The CPU's memory that a GPU could read; here as any other."""
    return Context("cpu_pinned", device_id)


def gpu(device_id: int = 0) -> Context:
    """A GPU. It can be named; making an array there is an error. Under `mxlite run --cpu` it is cpu(device_id)."""
    return Context("gpu", device_id)


def num_gpus() -> int:
    """How many GPUs there are: none; under `mxlite run --cpu --gpus N`, N."""
    return _gpus or 0


def gpu_memory_info(device_id: int = 0) -> tuple[int, int]:
    """Under `mxlite run --cpu`, how much of this machine's memory is free, and how much it has, in bytes.

    Raises: MXNetError: there is no GPU.
    """
    if _gpus is None:
        raise MXNetError(_NO_GPU.format(gpu(device_id)))
    pages = [os.sysconf(name) for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES")]
    return pages[0] * os.sysconf("SC_PAGE_SIZE"), pages[1] * os.sysconf("SC_PAGE_SIZE")


def take_gpus_for_the_cpu(count: int, quiet: bool) -> None:
    """Has contexts of GPUs be those of the CPU with the same number, from now on.

    Args:
        count: what `num_gpus` says then.
        quiet: no line on stderr says so when a GPU is named first.
    """
    global _gpus, _told
    _gpus, _told = count, quiet


def gpus_are_the_cpu(name: str) -> bool:
    """Whether GPUs are taken for the CPU; the first time that this is so, a line on stderr says it.

    Args:
        name: the device that is asked for.
    """
    global _told
    if _gpus is not None and not _told:
        _told = True
        print(f"mxlite run --cpu: {name}, as every GPU, is the CPU here", file=sys.stderr)
    return _gpus is not None


def _available(kind: int, number: int) -> int:
    """The kind of device that a context has: a GPU's is the CPU's if they are taken for it."""
    return 1 if kind == 2 and gpus_are_the_cpu(f"gpu({number})") else kind


class _Current(threading.local):
    """The context that a thread has said, None before; and the one that it has then."""

    context: Context | None = None

    def __init__(self) -> None:
        self.first = Context("cpu")


_current = _Current()
#: What makes arrays without a context asks so whether the thread has said one (mxlite/_lib/hot_cffi.py).
HOME = (_current, None)


def current_context() -> Context:
    """The context of the innermost `with` block of this thread, else cpu(0)."""
    return _current.context or _current.first


def _deprecated() -> Context:
    """The current context, asked for by its old name."""
    message = "Context.default_ctx is deprecated: write mx.current_context(), or `with` a context to change it"
    warnings.warn(message, DeprecationWarning, stacklevel=3)
    return current_context()


def require_cpu(context: Context | str | None) -> Context:
    """The context that arrays are made in: the one given (also as text), or the current one.

    Raises:
        TypeError: not a context.
        KeyError, ValueError: a text that names none.
        MXNetError: a GPU.
    """
    if context is None:
        context = current_context()
    if isinstance(context, str):
        parts = re.fullmatch(r"(\w+)(?:\((-?[0-9]{1,18})\))?", context)
        if parts is None:
            raise MXValueError(f"ctx {context!r} is no device; one is written cpu(0)")
        context = Context(parts[1], parts[2] or 0)
    if not isinstance(context, Context):
        raise TypeError(f"ctx is a Context, as mx.cpu() gives it; got {context!r} (shapes are tuples: (2, 3))")
    if context.device_typeid == 2:
        raise MXNetError(_NO_GPU.format(context))
    return context


def context_parameter(context: Context | str | None) -> dict[str, str]:
    """The parameter `ctx` of an operator that makes arrays; none for cpu(0), its default. Raises: as `require_cpu`."""
    context = require_cpu(context)
    return {} if context.device_typeid == 1 and context.device_id == 0 else {"ctx": str(context)}


_show(globals())
