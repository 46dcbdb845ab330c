"""Helpers of Gluon: batches split over contexts, clipped gradients, downloads, handles of hooks."""

from __future__ import annotations

import hashlib
import os
import warnings
import weakref
from collections.abc import Iterable, MutableMapping
from typing import Any

import numpy as np

from mxlite import _replace, ndarray
from mxlite._notebook import progress
from mxlite._public import show
from mxlite._public.keywords import judge
from mxlite.context import Context
from mxlite.error import WrongValueError
from mxlite.ndarray._kinds import answering, array_of_mode, as_kind
from mxlite.ndarray.ndarray import NDArray
from mxlite.util import is_np_shape

__all__ = ["split_data", "split_and_load", "clip_global_norm", "check_sha1", "download", "replace_file"]

_REPOSITORY = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/"
_CHUNK = 1 << 20


# ---- batches and gradients ----


@judge
@answering
def split_data(data: Any, num_slice: int, batch_axis: int = 0, even_split: bool = True) -> list:
    """A list of `num_slice` slices of an array (NDArray or NumPy's) along `batch_axis`.

    Args:
        even_split: whether all slices must have the same size; else the first ones are larger by one.
    Raises: ValueError: the size is not a multiple of `num_slice`.
    """
    size = data.shape[batch_axis]
    if even_split and size % num_slice:
        raise ValueError(
            f"split_data: {data.shape} has no {num_slice} equal slices along axis {batch_axis}: "
            f"use a batch of a multiple of {num_slice}, or even_split=False"
        )
    each, more = divmod(size, num_slice)
    ends = [0]
    for number in range(num_slice):
        ends.append(ends[-1] + each + (number < more))
    return [_part(data, batch_axis, begin, end) for begin, end in zip(ends, ends[1:])]


def _part(data: Any, axis: int, begin: int, end: int) -> Any:
    if not isinstance(data, NDArray):
        return data[(*(slice(None),) * axis, slice(begin, end))]
    if begin == end:
        shape = (*data.shape[:axis], 0, *data.shape[axis + 1 :])
        return ndarray.array(np.empty(shape, data.dtype), ctx=data.context, dtype=data.dtype)
    return ndarray.slice_axis(data, axis=axis, begin=begin, end=end)


@judge
@answering
def split_and_load(data: Any, ctx_list: list[Context], batch_axis: int = 0, even_split: bool = True) -> list[NDArray]:
    """`split_data` into as many slices as there are contexts, each an NDArray in its context."""
    if not isinstance(data, NDArray):
        data = as_kind(array_of_mode(data, ctx_list[0] if len(ctx_list) else None), NDArray)
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    slices = split_data(data, len(ctx_list), batch_axis, even_split)
    return [each.as_in_context(ctx) for each, ctx in zip(slices, ctx_list)]


@judge
@answering
def clip_global_norm(arrays: list[NDArray], max_norm: float, check_isfinite: bool = True) -> float | NDArray:
    """Scales the arrays, in place, so that the 2-norm of all together is at most `max_norm`; the norm before.

    Args:
        check_isfinite: warns of a norm that is not finite, and returns a float; else an NDArray, without waiting.
    Raises: ValueError: an empty list.
    """
    if not len(arrays) > 0:
        raise WrongValueError("clip_global_norm: there are no arrays")
    ctx = arrays[0].context
    squares = [ndarray.sum(ndarray.square(each.astype("float32", copy=False))) for each in arrays]
    total = ndarray.sqrt(ndarray.add_n(*(each.as_in_context(ctx) for each in squares))).reshape((1,))
    norm = float(total.asscalar()) if check_isfinite else total
    if check_isfinite and not np.isfinite(norm):
        warnings.warn("clip_global_norm: the norm is not finite, so are the clipped arrays", UserWarning, stacklevel=2)
    scale = ndarray.minimum(max_norm / (total + 1e-8), 1.0)
    for array in arrays:
        array *= scale.as_in_context(array.context).astype(array.dtype, copy=False)
    return norm


# ---- files ----


def check_sha1(filename: str | os.PathLike, sha1_hash: str) -> bool:
    """Whether the file has that SHA-1, in hexadecimal digits."""
    digest = hashlib.sha1()
    with open(filename, "rb") as file:
        for part in iter(lambda: file.read(_CHUNK), b""):
            digest.update(part)
    return digest.hexdigest() == sha1_hash


def replace_file(src: str | os.PathLike, dst: str | os.PathLike) -> None:
    """Renames a file; what has the other name goes."""
    os.replace(src, dst)


@judge
def download(
    url: str,
    path: str | None = None,
    overwrite: bool = False,
    sha1_hash: str | None = None,
    retries: int = 5,
    verify_ssl: bool = True,
) -> str:
    """Fetches a file (http, https, file), unless it is there already with the right SHA-1; its path.

    Args:
        path: the file, or a folder for one of the URL's name; None: the working folder.
        overwrite: whether to fetch it again.
        retries: how often to try again.
        verify_ssl: False: certificates are not checked.
    Raises: ValueError: no file name, or negative retries; ConnectionError: nobody answers; RuntimeError: the answer
        is no file; OSError: the file has another SHA-1, or cannot be written.
    """
    if path is None or os.path.isdir(os.path.expanduser(path)):
        name = url.rpartition("/")[2]
        if not name:
            raise WrongValueError(f"{url} has no file name: give one as path")
        path = os.path.join(os.path.expanduser(path or ""), name)
    path = os.path.expanduser(path)
    if retries < 0:
        raise WrongValueError(f"download: retries is 0 or more, not {retries}")
    if os.path.exists(path) and not overwrite and (not sha1_hash or check_sha1(path, sha1_hash)):
        return path
    if not verify_ssl:
        warnings.warn(
            "download: the certificate of the server is not checked (verify_ssl=False)", UserWarning, stacklevel=2
        )
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    for left in range(retries, -1, -1):
        print(f"Downloading {path} from {url}...")
        try:
            _fetch(url, path, sha1_hash, verify_ssl)
            return path
        except (OSError, RuntimeError) as error:
            if left == 0:
                raise
            print(f"download: {error!r}; it is tried again, {left} attempt{'s' * (left > 1)} left")
    return path


def _fetch(url: str, path: str, sha1_hash: str | None, verify_ssl: bool) -> None:
    """Replaces `path` by what is fetched. Raises: as `download`."""
    import urllib.request  # takes longer to import than all of Gluon
    from urllib.error import HTTPError, URLError

    context = None
    if not verify_ssl:
        import ssl

        context = ssl._create_unverified_context()
    digest = hashlib.sha1()
    with _replace.replacing(path) as file:
        try:
            with urllib.request.urlopen(url, context=context) as answer:
                length = answer.headers.get("Content-Length", "")
                total = int(length) if length.isdigit() else None
                with progress.bar(os.path.basename(path), total, unit="B", unit_scale=True) as bar:
                    for piece in iter(lambda: answer.read(_CHUNK), b""):
                        digest.update(piece)
                        file.write(piece)
                        bar.update(len(piece))
        except HTTPError as error:
            raise RuntimeError(f"Failed downloading url {url}: {error}") from error
        except (URLError, ValueError) as error:
            raise ConnectionError(f"{url}: {getattr(error, 'reason', error)}") from error
        if sha1_hash and digest.hexdigest() != sha1_hash:
            raise OSError(f"download: the SHA-1 of {path} is not {sha1_hash}; nothing is kept of it")


def _get_repo_url() -> str:
    """Where MXNet's files are; the environment's MXNET_GLUON_REPO may name another place."""
    url = os.environ.get("MXNET_GLUON_REPO", _REPOSITORY)
    return url if url.endswith("/") else url + "/"


def _get_repo_file_url(namespace: str, filename: str) -> str:
    """The URL of a file in a folder of that place."""
    return f"{_get_repo_url()}{namespace}/{filename}"


# ---- what blocks and parameters use ----


def shape_is_known(shape: Any) -> bool:
    """Whether a shape has no unknown size: 0 and less, or in numpy-shape mode less than 0; None and () are unknown."""
    if shape is None:
        return False
    unknown = -1 if is_np_shape() else 0
    if len(shape) == 0:
        return unknown == -1
    for size in shape:
        if size == unknown:
            return False
        if not size > unknown:
            raise WrongValueError(f"a size is {unknown} or more, not {size}")
    return True


def _indent(s_: str, numSpaces: int) -> str:  # noqa: N803 - 1.9.1's name
    """The lines of a text but the first, indented."""
    return s_.replace("\n", "\n" + " " * numSpaces)


def _brief_print_list(lst: Iterable[str], limit: int = 7) -> str:
    """The texts of a list in quotes; of many, about the first and the last half of `limit`."""
    names = [f"'{each}'" for each in lst]
    if len(names) > limit:
        names = [*names[: limit // 2], "...", *names[limit // 2 - limit :]]
    return ", ".join(names)


class HookHandle:
    """What takes a hook off again: `detach()`, or the end of a with-block."""

    def __init__(self) -> None:
        self._hooks: Any = lambda: None
        self.id: int | None = None

    def attach(self, hooks_dict: MutableMapping[int, Any], hook: Any) -> None:
        """Adds a hook to a dictionary of hooks that weak references can refer to.

        Raises: ValueError: the handle has a hook already.
        """
        if self.id is not None:
            raise WrongValueError("this HookHandle has a hook already")
        self.id = id(hook)
        hooks_dict[self.id] = hook
        self._hooks = weakref.ref(hooks_dict)

    def detach(self) -> None:
        """Takes the hook off; nothing where it is off already."""
        hooks = self._hooks()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, int | None]:
        return self._hooks(), self.id

    def __setstate__(self, state: tuple[Any, int | None]) -> None:
        hooks, self.id = state
        self._hooks = weakref.ref(hooks) if hooks is not None else lambda: None

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *error: Any) -> None:
        self.detach()


show(globals())
