"""`torch.profiler`: profile and record_function, as of torch.autograd.profiler."""

from __future__ import annotations

import enum
from typing import Any, Callable

from mxlite._public import show as _show
from mxlite.torch.autograd.profiler import profile as _profile
from mxlite.torch.autograd.profiler import record_function

__all__ = ["ProfilerActivity", "profile", "record_function"]


class ProfilerActivity(enum.Enum):
    """What is profiled: the CPU."""

    CPU = 0
    CUDA = 2


class profile(_profile):  # noqa: N801 - PyTorch's name
    """As torch.autograd.profiler.profile.

    Args:
        on_trace_ready: Is called with the profiler at the end.
        activities, record_shapes, profile_memory, with_stack: Have no effect: operators are counted and timed.
    Raises: NotImplementedError: a schedule is given.
    """

    def __init__(
        self, *, activities: Any = None, schedule: Any = None, on_trace_ready: Callable | None = None, **_: Any
    ) -> None:
        if schedule is not None:
            raise NotImplementedError("mxlite.torch: the profiler has no schedule")
        super().__init__()
        self.on_trace_ready = on_trace_ready

    def start(self) -> None:
        """Begins, as the with-block does."""
        self.__enter__()

    def stop(self) -> None:
        """Ends."""
        self.__exit__()

    def step(self) -> None:
        """Does nothing: there is no schedule."""

    def __exit__(self, *problem: object) -> None:
        super().__exit__(*problem)
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)


_show(globals())
