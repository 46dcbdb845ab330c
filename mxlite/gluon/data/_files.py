"""The files of a data set: those in its folder, or downloaded to it."""

from __future__ import annotations

import os
import tarfile
import zipfile

from mxlite import _replace
from mxlite.base import data_dir
from mxlite.error import MXNetError
from mxlite.gluon import utils


def folder_of(name: str) -> str:
    """The folder of a data set of MXNet: $MXNET_HOME/datasets/name, or below ~/.mxnet."""
    return os.path.join(data_dir(), "datasets", name)


def fetched(namespace: str, name: str, sha1: str, folder: str) -> str:
    """The path of a file in a folder; downloaded from MXNet's repository where it is missing or another one.

    Raises: MXNetError, which is the error of the download's kind too: it names the file and the folder.
    """
    path = os.path.join(folder, name)
    if os.path.exists(path) and utils.check_sha1(path, sha1):
        return path
    url = utils._get_repo_file_url(f"gluon/dataset/{namespace}", name)
    there = "is not the file that is expected (its SHA-1 differs)" if os.path.exists(path) else "is missing"
    try:
        return utils.download(url, path=path, sha1_hash=sha1)
    except Exception as error:
        message = f"{name} {there} in the folder {folder}, and downloading it from {url} failed: {error}"
        raise _error_of(error)(message) from error


def _error_of(error: Exception) -> type[MXNetError]:
    """A kind of MXNetError that who expects the download's kind of error catches too."""
    try:
        return type("DownloadError", (MXNetError, type(error)), {"__init__": MXNetError.__init__})
    except TypeError:
        return MXNetError


def unpacked(namespace: str, archive: tuple[str, str], files: list[tuple[str, str]], folder: str) -> None:
    """Makes files be in a folder: they are there, or are the files of an archive, which is fetched.

    Raises: as `fetched`; MXNetError: the archive lacks a file.
    """
    paths = [(os.path.join(folder, name), sha1) for name, sha1 in files]
    if all(os.path.exists(path) and utils.check_sha1(path, sha1) for path, sha1 in paths):
        return
    path = fetched(namespace, *archive, folder)
    wanted = {name for name, _ in files}
    opened = zipfile.ZipFile(path) if path.endswith(".zip") else tarfile.open(path)
    with opened as packed:
        names = packed.namelist() if isinstance(packed, zipfile.ZipFile) else packed.getnames()
        for name in names:
            base = os.path.basename(name)
            if base not in wanted:
                continue
            content = packed.open(name) if isinstance(packed, zipfile.ZipFile) else packed.extractfile(name)
            if content is not None:
                with content:
                    _replace.copy(content, os.path.join(folder, base))
                wanted.remove(base)
    if wanted:
        raise MXNetError(f"{path} has no {', '.join(sorted(wanted))}")
