"""`torch.cuda` without a GPU: functions that scripts call before they fall back to the CPU, as PyTorch answers."""

from __future__ import annotations

from typing import Any

from mxlite._public import show as _show
from mxlite.torch._kinds import NO_CUDA


def is_available() -> bool:
    """Whether there is a GPU, and whether it is used: False."""
    return False


is_initialized = is_available


def device_count() -> int:
    """How many GPUs there are: 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Does nothing; torch.manual_seed seeds the CPU."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Does nothing."""


def current_device(device: Any = None) -> Any:
    """Raises: AssertionError: there is no GPU."""
    raise AssertionError(NO_CUDA)


get_device_name = synchronize = current_device


_show(globals())
