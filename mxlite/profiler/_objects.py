"""What a program measures itself: domains, and tasks, frames, counters and markers in them; events."""

from __future__ import annotations

import ctypes
from typing import Any

from mxlite._lib import LIB, Handle, ask, c_text, check_call


class _Object(Handle):
    """A handle of the library with a name."""

    def __init__(self, name: str, create: Any, *arguments: Any) -> None:
        self.name = name
        self._own(ask(ctypes.c_void_p, create, *arguments, c_text(name.encode())), LIB.MXProfileDestroyHandle)

    @property
    def handle(self) -> ctypes.c_void_p:
        """The handle, for the C API. It stays this object's."""
        return ctypes.c_void_p(self._h)

    def __str__(self) -> str:
        return self.name


class _Duration(_Object):
    def start(self) -> None:
        """Begins to measure."""
        check_call(LIB.MXProfileDurationStart(self.handle))

    def stop(self) -> None:
        """Ends, and records the time since `start`; without a start it does nothing."""
        check_call(LIB.MXProfileDurationStop(self.handle))


class Domain(_Object):
    """A group of tasks, frames, counters and markers; a row of its own in the trace."""

    def __init__(self, name: str) -> None:
        super().__init__(name, LIB.MXProfileCreateDomain)

    def new_task(self, name: str) -> Task:
        """A task in this domain."""
        return Task(self, name)

    def new_frame(self, name: str) -> Frame:
        """A frame in this domain."""
        return Frame(self, name)

    def new_counter(self, name: str, value: int | None = None) -> Counter:
        """A counter in this domain, with a value if one is given."""
        return Counter(self, name, value)

    def new_marker(self, name: str) -> Marker:
        """A marker in this domain."""
        return Marker(self, name)


class Task(_Duration):
    """A piece of work, which may begin and end in different threads."""

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(name, LIB.MXProfileCreateTask, domain.handle)


class Frame(_Duration):
    """A step of a program, such as a batch."""

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(name, LIB.MXProfileCreateFrame, domain.handle)


class Event(_Duration):
    """A piece of work of one thread, without a domain."""

    def __init__(self, name: str) -> None:
        super().__init__(name, LIB.MXProfileCreateEvent)


class Counter(_Object):
    """An integer that changes. `counter += 2` and `counter -= 2` change it too."""

    def __init__(self, domain: Domain, name: str, value: int | None = None) -> None:
        super().__init__(name, LIB.MXProfileCreateCounter, domain.handle)
        if value is not None:
            self.set_value(value)

    def set_value(self, value: int) -> None:
        """Sets the counter, and records that."""
        check_call(LIB.MXProfileSetCounter(self.handle, int(value)))

    def increment(self, delta: int = 1) -> None:
        """Adds to the counter, and records that."""
        check_call(LIB.MXProfileAdjustCounter(self.handle, int(delta)))

    def decrement(self, delta: int = 1) -> None:
        """Subtracts from the counter, and records that."""
        self.increment(-int(delta))

    def __iadd__(self, delta: int) -> Counter:
        self.increment(delta)
        return self

    def __isub__(self, delta: int) -> Counter:
        self.decrement(delta)
        return self


class Marker:
    """A moment, recorded by `mark`."""

    def __init__(self, domain: Domain, name: str) -> None:
        self.name = name
        self.domain = domain

    def mark(self, scope: str = "process") -> None:
        """Records this moment.

        Args:
            scope: "global", "process", "thread", "task" or "marker": for whom it matters.

        Raises:
            MXNetError: another scope.
        """
        check_call(LIB.MXProfileSetMarker(self.domain.handle, c_text(self.name.encode()), c_text(scope)))
