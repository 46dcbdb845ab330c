"""Programs."""

from __future__ import annotations

import shutil

__all__ = ["find_executable"]


def find_executable(executable: str, path: str | None = None) -> str | None:
    """Where a program is; None: nowhere."""
    return shutil.which(executable, path=path)
