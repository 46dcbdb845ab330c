"""The iterator over images in records or files, through augmenters."""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np

from mxlite.base import numeric_types
from mxlite.error import MXNetError, WrongValueError
from mxlite.image._augmenters import CreateAugmenter
from mxlite.image._functions import imdecode
from mxlite.io import DataBatch, DataIter
from mxlite.ndarray import NDArray, array
from mxlite.recordio import MXIndexedRecordIO, MXRecordIO, unpack

_LAST = ("pad", "discard", "roll_over")
_DTYPES = ("int32", "float32", "int64", "float64")


class ImageIter(DataIter):
    """Batches of images, float32 (batch, channels, rows, columns), of a file of records or a list of files.

    Args:
        batch_size: Images of a batch.
        data_shape: Channels (3), rows, columns.
        label_width: How many labels an image has.
        path_imgrec, path_imgidx: Paths of records and their index, which shuffling and parts need.
        path_imglist: Path of a list, lines `id <tab> labels <tab> path`.
        imglist: The list itself, of [labels, path].
        path_root: The folder of the files.
        shuffle: Whether their order changes at each reset.
        part_index, num_parts: Which of how many parts to take.
        aug_list: The augmenters; None: those of CreateAugmenter(data_shape, **kwargs).
        data_name, label_name: Names of the arrays.
        dtype: Of the labels in lists.
        last_batch_handle: See mx.io.NDArrayIter.
    Raises: ValueError, MXNetError: bad parameters or files.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: tuple,
        label_width: int = 1,
        path_imgrec: str | None = None,
        path_imglist: str | None = None,
        path_root: str | None = None,
        path_imgidx: str | None = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: list | None = None,
        imglist: list | None = None,
        data_name: str = "data",
        label_name: str = "softmax_label",
        dtype: str = "float32",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if not (path_imgrec or path_imglist or isinstance(imglist, list)):
            raise WrongValueError("there must be records or a list")
        if dtype not in _DTYPES:
            raise WrongValueError(f"{dtype} label not supported")
        if last_batch_handle not in _LAST:
            raise ValueError(f"{type(self).__name__}: last_batch_handle must be one of {_LAST}")
        self.check_data_shape(data_shape)
        self.imgrec = self.imgidx = None
        self.seq: list | None = None
        if path_imgrec:
            self._open(path_imgrec, path_imgidx)
        self.imglist = _listed(path_imglist, imglist, dtype)
        if self.imglist is not None and (path_imgidx or not path_imgrec):
            self.seq = list(self.imglist)
        self.path_root = path_root or ""
        self.provide_data: list[tuple] = [(data_name, (batch_size, *data_shape))]
        shape = (batch_size, label_width) if label_width > 1 else (batch_size,)
        self.provide_label: list[tuple] = [(label_name, shape)]
        self.batch_size, self.data_shape, self.label_width = batch_size, tuple(data_shape), label_width
        self.shuffle, self.last_batch_handle = shuffle, last_batch_handle
        if self.seq is None and (shuffle or num_parts != 1):
            raise WrongValueError("shuffling and parts need path_imgidx or a list")
        if num_parts > 1:
            if not 0 <= part_index < num_parts:
                raise WrongValueError("part_index must be below num_parts")
            assert self.seq is not None
            size = len(self.seq) // num_parts
            self.seq = self.seq[part_index * size : (part_index + 1) * size]
        self.auglist = CreateAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.cur = 0
        self._left: list[tuple] = []
        self._finished = False
        self.reset()

    def _open(self, path_imgrec: str, path_imgidx: str | None) -> None:
        if path_imgidx:
            self.imgrec = MXIndexedRecordIO(path_imgidx, path_imgrec, "r")
            self.seq = self.imgidx = list(self.imgrec.keys)
        else:
            self.imgrec = MXRecordIO(path_imgrec, "r")

    @property
    def num_image(self) -> int | None:
        """The number of images; None of records without an index."""
        return None if self.seq is None else len(self.seq)

    def reset(self) -> None:
        """Goes to the begin of the next epoch."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        self._rewind()
        self._finished = False

    def _rewind(self) -> None:
        self.cur = 0
        if self.imgrec is not None:
            self.imgrec.reset()

    def hard_reset(self) -> None:
        """Goes to the begin, and forgets images that were left."""
        self._left = []
        self.reset()

    def next_sample(self) -> tuple[Any, bytes]:
        """The labels and the encoded image of the next sample.

        Raises: StopIteration: there is none.
        """
        if self.seq is None:
            assert self.imgrec is not None
            record = self.imgrec.read()
            if record is None:
                raise StopIteration
            self.cur += 1
            header, data = unpack(record)
            return header.label, data
        if self.cur >= len(self.seq):
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is None:
            assert self.imglist is not None
            label, path = self.imglist[key]
            return label, self.read_image(path)
        record = self.imgrec.read_idx(key)  # type: ignore[attr-defined]
        if record is None:
            raise MXNetError(f"{self.imgrec.uri} ends before the record {key}")
        header, data = unpack(record)
        return header.label if self.imglist is None else self.imglist[key][0], data

    def _name(self) -> str:
        """What an error calls the sample that was read last."""
        if self.seq is None:
            return f"record {self.cur - 1} of {self.imgrec.uri}"  # type: ignore[union-attr]
        key = self.seq[self.cur - 1]
        return f"record {key} of {self.imgrec.uri}" if self.imgrec is not None else str(self.imglist[key][1])

    def _decoded(self, data: bytes) -> NDArray:
        try:
            image = self.imdecode(data)
        except MXNetError as error:
            raise MXNetError(f"{self._name()}: {error}") from None
        self.check_valid_image([image])
        return image

    def _read(self) -> tuple[Any, Any]:
        """The next image as it stands in a batch, and its labels."""
        label, data = self.next_sample()
        image = self.augmentation_transform(self._decoded(data))
        return self._array(image), _plain(label)

    def _array(self, image: NDArray) -> np.ndarray:
        pixels = self.postprocess_data(image).asnumpy()
        if pixels.shape != self.data_shape:
            raise ValueError(f"{self._name()} has the shape {pixels.shape}, data_shape is {self.data_shape}")
        return pixels

    def next(self) -> DataBatch:
        """The next batch.

        Raises: StopIteration: there is none. MXNetError: an image cannot be read; the text names it.
        """
        if self._finished:
            raise StopIteration
        samples, self._left = self._left, []
        pad = self.batch_size - len(samples) if samples else 0
        while len(samples) < self.batch_size:
            try:
                samples.append(self._read())
            except StopIteration:
                pad = self._at_end(samples)
                break
        return self._batch(samples, pad)

    def _at_end(self, samples: list[tuple]) -> int:
        """What becomes of a batch that is not full: it is filled, and how much is returned, or StopIteration raised."""
        self._finished = True
        if self.last_batch_handle == "roll_over":
            self._left = samples
        if not samples or self.last_batch_handle != "pad":
            raise StopIteration
        pad = self.batch_size - len(samples)
        while len(samples) < self.batch_size:
            try:
                samples.append(self._read())
            except StopIteration:
                self._rewind()
        return pad

    def _batch(self, samples: list[tuple], pad: int) -> DataBatch:
        data = np.stack([each for each, _ in samples]).astype(np.float32, copy=False)
        label = self._labels([each for _, each in samples])
        return DataBatch([array(data)], [array(label)], pad)

    def _labels(self, labels: list) -> np.ndarray:
        shape = self.provide_label[0][1]
        made = np.empty((shape[0], self.label_width), np.float32)
        for place, each in enumerate(labels):
            made[place] = each
        return made.reshape(shape)

    def check_data_shape(self, data_shape: tuple) -> None:
        """Raises ValueError for a shape that is not (3, rows, columns)."""
        if not len(data_shape) == 3:
            raise ValueError("data_shape is (channels, height, width)")
        if not data_shape[0] == 3:
            raise ValueError("images have 3 channels here: data_shape[0] is 3")

    def check_valid_image(self, data: list[NDArray]) -> None:
        """Raises RuntimeError for an image without axes."""
        if len(data[0].shape) == 0:
            raise RuntimeError("Data shape is wrong")

    def imdecode(self, s: bytes) -> NDArray:
        """Decodes an image; subclasses may do it otherwise."""
        return imdecode(s)

    def read_image(self, fname: str) -> bytes:
        """The content of a file of the list."""
        with open(os.path.join(self.path_root, fname), "rb") as file:
            return file.read()

    def augmentation_transform(self, data: NDArray) -> NDArray:
        """The image through all augmenters."""
        for each in self.auglist:
            data = each(data)
        return data

    def postprocess_data(self, datum: NDArray) -> NDArray:
        """The image with its channels first."""
        return datum.transpose((2, 0, 1))


def _plain(label: Any) -> Any:
    return label.asnumpy() if isinstance(label, NDArray) else label


def _listed(path: str | None, given: list | None, dtype: str) -> dict | None:
    """Labels and path of each image by its key; None without a list."""
    if path:
        listed: dict[Any, tuple] = {}
        with open(path) as file:
            for number, line in enumerate(file, 1):
                words = line.strip().split("\t")
                try:
                    listed[int(words[0])] = array([float(each) for each in words[1:-1]], dtype=dtype), words[-1]
                except ValueError as error:
                    raise ValueError(f"{path}, line {number}: {error}") from None
        return listed
    if not isinstance(given, list):
        return None
    return {str(place): (array(_labels_of(each), dtype=dtype), each[-1]) for place, each in enumerate(given, 1)}


def _labels_of(entry: Any) -> Any:
    if len(entry) > 2:
        return entry[:-1]
    return [entry[0]] if isinstance(entry[0], numeric_types) else entry[0]
