"""Copies and moves files."""

from __future__ import annotations

import os
import shutil
from typing import Any

from mxlite import _replace

from .errors import DistutilsFileError

__all__ = ["copy_file", "move_file", "write_file"]


def copy_file(
    src: str, dst: str, preserve_mode: Any = 1, preserve_times: Any = 1, update: Any = 0, *_: Any, **__: Any
) -> tuple[str, int]:
    """Copies a file, also into a folder; the path of the copy, and 1, or (update, the copy is newer) 0."""
    if not os.path.isfile(src):
        raise DistutilsFileError(f"copy_file: {src!r} is no file")
    target = os.path.join(dst, os.path.basename(src)) if os.path.isdir(dst) else dst
    if update and os.path.exists(target) and os.path.getmtime(src) <= os.path.getmtime(target):
        return target, 0
    with open(src, "rb") as file:
        _replace.copy(file, target)
    if preserve_times:
        times = os.stat(src)
        os.utime(target, (times.st_atime, times.st_mtime))
    if preserve_mode:
        shutil.copymode(src, target)
    return target, 1


def move_file(src: str, dst: str, *_: Any, **__: Any) -> str:
    """Moves a file; where it is then."""
    return str(shutil.move(src, dst))


def write_file(filename: str, contents: Any) -> None:
    """Writes lines, without their ends."""
    _replace.write(filename, "".join(f"{line}\n" for line in contents))
