"""`torch.cuda`: there is none. What a script asks before it goes on with the CPU answers as PyTorch without CUDA."""

from __future__ import annotations

from typing import Any

from mxlite._public import show as _show
from mxlite.torch._kinds import NO_CUDA


def is_available() -> bool:
    """Whether there is a GPU: False."""
    return False


def device_count() -> int:
    """How many GPUs there are: 0."""
    return 0


def is_initialized() -> bool:
    """Whether a GPU is used: False."""
    return False


def manual_seed(seed: int) -> None:
    """Does nothing; torch.manual_seed seeds the CPU."""


def manual_seed_all(seed: int) -> None:
    """Does nothing; torch.manual_seed seeds the CPU."""


def empty_cache() -> None:
    """Does nothing."""


def current_device() -> int:
    """Raises: AssertionError: there is no GPU."""
    raise AssertionError(NO_CUDA)


def get_device_name(device: Any = None) -> str:
    """Raises: AssertionError: there is no GPU."""
    raise AssertionError(NO_CUDA)


def synchronize(device: Any = None) -> None:
    """Raises: AssertionError: there is no GPU."""
    raise AssertionError(NO_CUDA)


_show(globals())
