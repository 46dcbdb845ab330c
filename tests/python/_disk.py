"""A disk that is full, for tests."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Iterator
from unittest import mock


@contextlib.contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file of this process may become larger than `size`. Python ignores SIGXFSZ.

    Nor does it see that a compiled module was written in part, which would be there for good: none is written.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with mock.patch.object(sys, "dont_write_bytecode", True):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
