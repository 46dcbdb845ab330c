"""Makes, copies and removes folders."""

from __future__ import annotations

import os
import shutil
from typing import Any

from .errors import DistutilsFileError
from .file_util import copy_file

__all__ = ["copy_tree", "create_tree", "mkpath", "remove_tree"]


def mkpath(name: str, mode: int = 0o777, *_: Any, **__: Any) -> list[str]:
    """Makes a folder, and those that it is in; the folders that were made."""
    made, path = [], os.path.normpath(name)
    while path and not os.path.isdir(path):
        made.insert(0, path)
        path = os.path.dirname(path)
    os.makedirs(name, mode, exist_ok=True)
    return made


def create_tree(base_dir: str, files: Any, mode: int = 0o777, *_: Any, **__: Any) -> None:
    """Makes the folders that files need below a folder."""
    for folder in sorted({os.path.join(base_dir, os.path.dirname(file)) for file in files}):
        mkpath(folder, mode)


def copy_tree(
    src: str,
    dst: str,
    preserve_mode: Any = 1,
    preserve_times: Any = 1,
    preserve_symlinks: Any = 0,
    update: Any = 0,
    *_: Any,
    **__: Any,
) -> list[str]:
    """Copies what a folder has into another, which may be there already; the paths of the copies."""
    if not os.path.isdir(src):
        raise DistutilsFileError(f"copy_tree: {src!r} is no folder")
    mkpath(dst)
    copies = []
    for name in os.listdir(src):
        here, there = os.path.join(src, name), os.path.join(dst, name)
        if preserve_symlinks and os.path.islink(here):
            os.symlink(os.readlink(here), there)
            copies.append(there)
        elif os.path.isdir(here):
            copies += copy_tree(here, there, preserve_mode, preserve_times, preserve_symlinks, update)
        else:
            copy_file(here, there, preserve_mode, preserve_times, update)
            copies.append(there)
    return copies


def remove_tree(directory: str, *_: Any, **__: Any) -> None:
    """Removes a folder with all in it."""
    shutil.rmtree(directory)
