"""`torch.cuda` without a GPU: functions that scripts call before they fall back to the CPU, as PyTorch answers.

Under `mxlite run --cpu --gpus N` there are said to be N, which are the CPU.
"""

from __future__ import annotations

import platform
from typing import Any

from mxlite._public import show as _show
from mxlite.context import num_gpus
from mxlite.torch._kinds import require_cpu


def is_available() -> bool:
    """Whether there is a GPU, and whether it is used: False, unless GPUs are taken for the CPU."""
    return device_count() > 0


is_initialized = is_available


def device_count() -> int:
    """How many GPUs there are: 0, unless GPUs are taken for the CPU."""
    return num_gpus()


def manual_seed(seed: int) -> None:
    """Does nothing; torch.manual_seed seeds the CPU."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Does nothing."""


def current_device() -> int:
    """0, where GPUs are taken for the CPU. Raises: AssertionError: there is no GPU."""
    require_cpu("cuda")
    return 0


def get_device_name(device: Any = None) -> str:
    """What the processor is. Raises: AssertionError: there is no GPU."""
    require_cpu("cuda")
    return platform.processor() or platform.machine()


def synchronize(device: Any = None) -> None:
    """Does nothing, where GPUs are taken for the CPU. Raises: AssertionError: there is no GPU."""
    require_cpu("cuda")


_show(globals())
