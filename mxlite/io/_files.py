"""Iterators over text files and MNIST's files; they are read when the iterator is made."""

from __future__ import annotations

import gzip
from typing import Any

import numpy as np

from mxlite.error import MXNetError
from mxlite.io._base import MXDataIter
from mxlite.io._parameters import REQUIRED, part_of, read

_CSV: dict[str, tuple[type, Any]] = {
    "data_csv": (str, REQUIRED),
    "data_shape": (tuple, REQUIRED),
    "label_csv": (str, "NULL"),
    "label_shape": (tuple, (1,)),
    "round_batch": (bool, True),
}
_MNIST: dict[str, tuple[type, Any]] = {
    "image": (str, "./train-images-idx3-ubyte"),
    "label": (str, "./train-labels-idx1-ubyte"),
    "batch_size": (int, 128),
    "shuffle": (bool, True),
    "flat": (bool, False),
    "seed": (int, 0),
    "silent": (bool, False),
    "num_parts": (int, 1),
    "part_index": (int, 0),
}


class _InMemory(MXDataIter):
    """Samples that are in memory, as NumPy arrays."""

    def _hold(self, given: dict[str, Any], data: np.ndarray, label: np.ndarray, round_batch: bool) -> None:
        self._data, self._label = data, label
        kind = data.shape[1:], np.float32 if data.dtype == np.uint8 else data.dtype
        self._start(given, len(data), kind, (label.shape[1:], label.dtype), round_batch)

    def _take(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._data[places], self._label[places], places


class CSVIter(_InMemory):
    """Batches of lines of numbers that are separated by commas.

    Args:
        data_csv, data_shape: Path of the file; the shape that a line becomes.
        label_csv, label_shape: The same of labels; without a file they are zeros.
        batch_size, round_batch: See MXDataIter.
        dtype: "float32" (the default), "int32" or "int64".
        data_name, label_name: Names of the arrays.
    Raises: MXNetError: a parameter is missing or bad, a file cannot be read, or a line has another length.
    """

    def __init__(self, **kwargs: Any) -> None:
        given = read("CSVIter", _CSV, kwargs)
        dtype = np.dtype(given["dtype"] or "float32")
        if dtype not in (np.float32, np.int32, np.int64):
            raise MXNetError(f"{dtype} is not supported for CSVIter")
        data = _csv(given["data_csv"], given["data_shape"], dtype)
        label = np.zeros((len(data), *given["label_shape"]), dtype)
        if given["label_csv"] != "NULL":
            label = _csv(given["label_csv"], given["label_shape"], dtype)
        if len(label) < len(data):
            raise MXNetError(f"CSVIter: {len(data)} lines of data, but {len(label)} of labels")
        if given["label_shape"] == (1,):
            label = label[:, 0]
        self._hold(given, data, label, given["round_batch"])


class LibSVMIter(MXDataIter):
    """1.9.1's iterator over sparse data; refused, since its batches are sparse arrays.

    Raises: NotImplementedError.
    """

    def __init__(self, **kwargs: Any) -> None:
        raise NotImplementedError("LibSVMIter gives sparse arrays (csr), which mxlite lacks")


class MNISTIter(_InMemory):
    """Batches of images of MNIST, float32 from 0 to 1 of the shape (batch, 1, rows, columns), and their digits.

    Samples that do not fill a batch are left out. The files may be compressed by gzip.

    Args:
        image, label: Paths of the files.
        flat: Whether an image is one row.
        shuffle, seed: Whether the samples are shuffled, once; the seed of that.
        part_index, num_parts: Which of how many parts of the samples to take.
    Raises: MXNetError: a file is missing or broken, or a parameter is bad.
    """

    def __init__(self, **kwargs: Any) -> None:
        given = read("MNISTIter", _MNIST, kwargs)
        if given["dtype"] not in (None, "float32", np.float32):
            raise MXNetError(f"MNISTIter gives float32, not {given['dtype']}")
        images, labels = _idx(given["image"], 3), _idx(given["label"], 1)
        if len(images) != len(labels):
            raise MXNetError(f"MNISTIter: {len(images)} images, but {len(labels)} labels")
        index, parts = part_of("MNISTIter", given)
        count = len(images)
        part = slice(count * index // parts, count * (index + 1) // parts)
        images, labels = images[part], labels[part]
        if given["shuffle"]:
            order = np.random.RandomState(given["seed"] & 0xFFFFFFFF).permutation(len(images))
            images, labels = images[order], labels[order]
        images = images.reshape(len(images), -1) if given["flat"] else images[:, None]
        full = len(images) // given["batch_size"] * given["batch_size"]
        self._hold(given, images[:full], labels[:full].astype(np.float32), False)

    def _take(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._data[places] * np.float32(1 / 256), self._label[places], np.zeros_like(places)


def _csv(path: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The lines of a file, each in a shape."""
    try:
        with open(path) as file:
            lines = [line for line in file if line.strip()]
    except OSError as error:
        raise MXNetError(f'CSVIter: open "{path}": {error.strerror}') from None
    try:
        rows = np.loadtxt(lines, dtype, delimiter=",", ndmin=2) if lines else np.zeros((0, int(np.prod(shape))), dtype)
    except ValueError as error:
        raise MXNetError(f"CSVIter: {path}: {error}") from None
    if rows.shape[1] != np.prod(shape):
        raise MXNetError(
            "CSVIter: The data size in CSV do not match size of shape: "
            f"specified shape={list(shape)}, the csv row-length={rows.shape[1]} in {path}"
        )
    return rows.reshape(len(rows), *shape)


def _idx(path: str, ndim: int) -> np.ndarray:
    """The uint8 array of a file of MNIST's format."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError) as error:
        raise MXNetError(f'MNISTIter: open "{path}": {getattr(error, "strerror", None) or error}') from None
    if data[:4] != bytes([0, 0, 8, ndim]):
        raise MXNetError(f"MNISTIter: {path} is no idx file of uint8 with {ndim} axes")
    head = 4 + 4 * ndim
    shape = np.frombuffer(data[4:head].ljust(4 * ndim, b"\0"), ">u4").astype(int).tolist()
    size = 1
    for each in shape:
        size *= each
    if len(data) - head < size:
        raise MXNetError(f"MNISTIter: {path} ends too early for its shape {tuple(shape)}")
    return np.frombuffer(data, np.uint8, size, head).reshape(shape)
