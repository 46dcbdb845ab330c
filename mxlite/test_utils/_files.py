"""Data sets and files of tests: those that are in the working folder, or downloaded to it."""

from __future__ import annotations

import bz2
import gzip
import os
import struct
import tempfile
import zipfile
from typing import Any

import numpy as np

from mxlite import _replace
from mxlite._public import offer as _offer
from mxlite.error import MXNotImplementedError

_MNIST = [f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]


def download(
    url: str, fname: str | None = None, dirname: str | None = None, overwrite: bool = False, retries: int = 5
) -> str:
    """Downloads a file unless it is there. Returns its path.

    Args:
        fname: the file's name; None: the last part of the URL.
        dirname: the folder, which is made; None: the working folder.

    Raises: the download's error after so many `retries`.
    """
    from mxlite.gluon import utils

    path = url.split("/")[-1] if fname is None else fname
    if dirname is not None:
        path = os.path.join(dirname, path)
        os.makedirs(dirname, exist_ok=True)
    if os.path.exists(path) and not overwrite:
        return path
    return utils.download(url, path=path, overwrite=overwrite, retries=max(retries, 1))


def get_zip_data(data_dir: str, url: str, data_origin_name: str) -> None:
    """Downloads and unpacks an archive `data_origin_name` into a folder, unless that file is there."""
    path = os.path.join(data_dir, data_origin_name)
    if os.path.exists(path):
        return
    download(url, dirname=data_dir, overwrite=False)
    _unpack(path, data_dir)


def get_bz2_data(data_dir: str, data_name: str, url: str, data_origin_name: str) -> None:
    """Downloads `data_origin_name` and unpacks it as `data_name` in a folder, unless that file is there."""
    path, packed_path = os.path.join(data_dir, data_name), os.path.join(data_dir, data_origin_name)
    if os.path.exists(path):
        return
    download(url, fname=data_origin_name, dirname=data_dir, overwrite=False)
    with bz2.BZ2File(packed_path) as packed:
        _replace.copy(packed, path)
    os.remove(packed_path)


def _numbers(name: str) -> np.ndarray:
    """The array of a compressed file of MNIST in the working folder, in its file's dtype."""
    url = f"http://data.mxnet.io/data/mnist/{name}.gz"
    with gzip.open(download(url)) as file:
        axes = struct.unpack(">I", file.read(4))[0] & 0xFF
        shape = struct.unpack(f">{axes}I", file.read(4 * axes))
        return np.frombuffer(file.read(), np.uint8 if axes == 3 else np.int8).reshape(shape)


def get_mnist() -> dict[str, np.ndarray]:
    """MNIST: "train_data" and "test_data", of shape (count, 1, 28, 28), float32 up to 1; "train_label", "test_label".

    The files are those ending in .gz in the working folder; what is missing is downloaded.
    """
    found = {}
    for name, part in (("train", "train"), ("test", "t10k")):
        images = _numbers(f"{part}-images-idx3-ubyte").astype(np.float32) / 255
        found[f"{name}_data"] = images[:, None]
        found[f"{name}_label"] = _numbers(f"{part}-labels-idx1-ubyte")
    return found


def get_mnist_ubyte() -> None:
    """Makes the four files of MNIST be in the folder `data`, by downloading an archive if one is missing."""
    _unpacked("http://data.mxnet.io/mxnet/data/mnist.zip", "data", [os.path.join("data", name) for name in _MNIST])


def get_mnist_pkl() -> None:
    """Makes MNIST as a pickle, data/mnist.pkl.gz, be there, by downloading it if it is missing."""
    os.makedirs("data", exist_ok=True)
    if not os.path.exists(os.path.join("data", "mnist.pkl.gz")):
        download("http://deeplearning.net/data/mnist/mnist.pkl.gz", dirname="data")


def get_cifar10() -> None:
    """Makes the records of CIFAR-10 be in data/cifar, by downloading an archive if they are missing."""
    files = [os.path.join("data", "cifar", name) for name in ("train.rec", "test.rec", "train.lst", "test.lst")]
    _unpacked("http://data.mxnet.io/mxnet/data/cifar10.zip", "data", files)


def _unpacked(url: str, folder: str, files: list[str]) -> None:
    if all(os.path.exists(path) for path in files):
        return
    os.makedirs(folder, exist_ok=True)
    _unpack(download(url, dirname=folder), folder)


def _unpack(path: str, folder: str) -> None:
    """Each file of an archive becomes one of the folder, once it is whole."""
    with zipfile.ZipFile(path) as packed, tempfile.TemporaryDirectory(dir=folder) as beside:
        for name in packed.namelist():
            made = packed.extract(name, beside)  # where the name leads is zipfile's to say
            target = os.path.join(folder, os.path.relpath(made, beside))
            if os.path.isdir(made):
                os.makedirs(target, exist_ok=True)
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(made, "rb") as content:
                _replace.copy(content, target)


def get_mnist_iterator(
    batch_size: int, input_shape: tuple[int, ...], num_parts: int = 1, part_index: int = 0
) -> tuple[Any, Any]:
    """Iterators over MNIST for training and validation, from the files of `get_mnist_ubyte`.

    Args:
        input_shape: of an image: (784,) or (1, 28, 28).
        num_parts, part_index: so many processes share the images, and this is that one.
    """
    from mxlite import io

    get_mnist_ubyte()
    return tuple(
        io.MNISTIter(
            image=os.path.join("data", f"{part}-images-idx3-ubyte"),
            label=os.path.join("data", f"{part}-labels-idx1-ubyte"),
            batch_size=batch_size,
            shuffle=True,
            flat=len(input_shape) != 3,
            num_parts=num_parts,
            part_index=part_index,
        )
        for part in ("train", "t10k")
    )  # type: ignore[return-value]


def download_model(model_name: str, dst_dir: str = "./", meta_info: dict | None = None) -> None:
    """Is missing. Raises: NotImplementedError."""
    raise MXNotImplementedError("test_utils.download_model: fetching models is not in mxlite yet")


def get_im2rec_path(home_env: str = "MXNET_HOME") -> str:
    """The path of the script im2rec.py below $MXNET_HOME.

    Raises: NotImplementedError: it is not there; mxlite has no such script.
    """
    for folder in ("tools", os.path.join("python", "mxnet", "tools")):
        path = os.path.join(os.environ.get(home_env, ""), folder, "im2rec.py")
        if home_env in os.environ and os.path.isfile(path):
            return path
    raise MXNotImplementedError("test_utils.get_im2rec_path: mxlite has no script im2rec.py")


_offer(globals())
