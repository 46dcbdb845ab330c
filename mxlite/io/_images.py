"""Iterators over images in a file of records; they are decoded on threads, a batch ahead."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from mxlite._pillow import decode
from mxlite.error import MXNetError
from mxlite.io._base import DataBatch, MXDataIter
from mxlite.io._parameters import REQUIRED, part_of, read, refuse
from mxlite.ndarray import array, image
from mxlite.recordio import MXRecordIO, unpack

#: What all of them take.
_RECORDS: dict[str, tuple[type, Any]] = {
    "path_imgrec": (str, ""),
    "path_imgidx": (str, ""),
    "path_imglist": (str, ""),
    "data_shape": (tuple, REQUIRED),
    "label_width": (int, 1),
    "preprocess_threads": (int, 4),
    "num_parts": (int, 1),
    "part_index": (int, 0),
    "shuffle": (bool, False),
    "seed": (int, 0),
    "seed_aug": (int, None),
    "round_batch": (bool, True),
    "resize": (int, -1),
    "rand_crop": (bool, False),
    "pad": (int, 0),
    "fill_value": (int, 255),
    "inter_method": (int, 1),
    "mirror": (bool, False),
    "rand_mirror": (bool, False),
    "scale": (float, 1.0),
    **{f"mean_{channel}": (float, 0.0) for channel in "rgba"},
    **{f"std_{channel}": (float, 1.0) for channel in "rgba"},
}
#: Accepted as they are by default.
_REFUSED: dict[str, tuple[type, Any]] = {
    "aug_seq": (str, "aug_default"),
    "verbose": (bool, True),
    "device_id": (int, 0),
    "shuffle_chunk_size": (int, 0),
    "shuffle_chunk_seed": (int, 0),
    "random_resized_crop": (bool, False),
    "max_rotate_angle": (int, 0),
    "max_aspect_ratio": (float, 0.0),
    "min_aspect_ratio": (float, None),
    "max_shear_ratio": (float, 0.0),
    "max_crop_size": (int, -1),
    "min_crop_size": (int, -1),
    "max_random_scale": (float, 1.0),
    "min_random_scale": (float, 1.0),
    "max_random_area": (float, 1.0),
    "min_random_area": (float, 1.0),
    "max_img_size": (float, 1e10),
    "min_img_size": (float, 0.0),
    "brightness": (float, 0.0),
    "contrast": (float, 0.0),
    "saturation": (float, 0.0),
    "pca_noise": (float, 0.0),
    "random_h": (int, 0),
    "random_s": (int, 0),
    "random_l": (int, 0),
    "rotate": (int, -1),
    "mean_img": (str, ""),
    "max_random_contrast": (float, 0.0),
    "max_random_illumination": (float, 0.0),
}


class ImageRecordIter(MXDataIter):
    """Batches of images, (batch, channels, rows, columns), of a file that `mx.recordio` or im2rec wrote.

    An image is resized (its shorter side to `resize`), padded, made large enough for and cropped to `data_shape`, and
    mirrored; its values become (value - mean) / std * scale.

    Args:
        path_imgrec, path_imgidx, path_imglist: Paths of the records; of their index, which is read in place of the
            whole file; of a list with other labels, by the id of a record.
        data_shape: Channels (1 or 3), rows, columns.
        batch_size, round_batch, shuffle, seed: See MXDataIter.
        label_width: How many labels an image has.
        part_index, num_parts: Which of how many parts of the file to take.
        preprocess_threads: How many threads decode.
        resize, pad, fill_value, inter_method, rand_crop, mirror, rand_mirror, seed_aug: How images are changed.
        mean_r, ..., std_r, ..., scale: How values are; of uint8 and int8 neither.
        dtype: "float32", "uint8" or "int8".
    Raises: MXNetError: a bad parameter, file or image. NotImplementedError: a parameter that mxlite lacks.
    """

    _dtype = "float32"

    def __init__(self, **kwargs: Any) -> None:
        name = type(self).__name__
        given = read(name, {**_RECORDS, **_REFUSED}, kwargs)
        refuse(name, given, _REFUSED)
        self._given = given
        dtype = np.dtype(given["dtype"] or self._dtype)
        shape = given["data_shape"]
        if len(shape) != 3:
            raise MXNetError(f"value {shape} for Parameter data_shape has wrong dimensions, expected dimension=3")
        if shape[0] not in (1, 3):
            raise MXNetError(f"{name}: images have 1 or 3 channels, data_shape has {shape[0]}")
        if dtype not in (np.float32, np.uint8, np.int8):
            raise MXNetError(f"unknown dtype for {name}: {dtype}")
        if not given["path_imgrec"]:
            raise MXNetError(f"{name}: must specify path_imgrec")
        self._positions = _positions(name, given)
        self._labels = _listed(given["path_imglist"], given["label_width"]) if given["path_imglist"] else None
        self._norm = _normalization(given, shape[0]) if dtype == np.float32 else None
        self._records = MXRecordIO(given["path_imgrec"], "r")
        self._lock = threading.Lock()
        self._augment = np.random.RandomState((given["seed_aug"] or given["seed"]) & 0xFFFFFFFF)
        width = given["label_width"]
        kinds = (shape, dtype), ((width,) if width > 1 else (), np.float32)
        self._start(given, len(self._positions), *kinds, given["round_batch"], given["shuffle"])
        self._threads = ThreadPoolExecutor(max(1, given["preprocess_threads"]), "mxlite-decode")
        self._ahead = ThreadPoolExecutor(1, "mxlite-batch")
        self._coming: Future[DataBatch | None] | None = None

    def __del__(self) -> None:
        for each in ("_ahead", "_threads"):
            if hasattr(self, each):
                getattr(self, each).shutdown(wait=False)

    def reset(self) -> None:
        """Goes to the begin of the next epoch."""
        if self._coming is not None:
            self._coming.exception()  # waits
            self._coming = None
        super().reset()

    def iter_next(self) -> bool:
        """Goes to the next batch; False at the end.

        Raises: MXNetError: a record is broken, or has no image that can be read.
        """
        coming = self._coming or self._ahead.submit(self._make)
        self._coming = None
        self.current_batch = coming.result()
        if self.current_batch is not None and self._at < self._count:
            self._coming = self._ahead.submit(self._make)
        return self.current_batch is not None

    def _take(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        records = [self._record(place) for place in places]
        chances = self._augment.random_sample((len(records), 3))
        images, labels = zip(*self._threads.map(self._sample, records, chances))
        return np.stack(images), np.stack(labels), np.zeros(len(places))

    def _record(self, place: int) -> bytes:
        with self._lock:
            self._records._file.seek(self._positions[place])
            record = self._records.read()
        if record is None:
            raise MXNetError(f"{self._records.uri} ends before byte {self._positions[place]}")
        return record

    def _sample(self, record: bytes, chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The image and the labels of a record."""
        header, data = unpack(record)
        given, color = self._given, self._given["data_shape"][0] == 3
        pixels = decode(data, int(color), f"the image with id {header.id} in {self._records.uri}")
        pixels = pixels if color else pixels[:, :, None]
        pixels = _fitted(pixels, given, chances)
        if given["mirror"] or given["rand_mirror"] and chances[2] < 0.5:
            pixels = pixels[:, ::-1]
        return self._valued(pixels.transpose(2, 0, 1)), self._label(header)

    def _valued(self, pixels: np.ndarray) -> np.ndarray:
        if self._norm is not None:
            mean, factor = self._norm
            return (pixels.astype(np.float32) - mean) * factor
        dtype = self.provide_data[0].dtype
        return np.minimum(pixels, 127).astype(dtype) if dtype is np.int8 else pixels.astype(dtype)

    def _label(self, header: Any) -> np.ndarray:
        label = header.label if self._labels is None else self._labels.get(header.id)
        if label is None:
            raise MXNetError(f"{self._given['path_imglist']} has no image with id {header.id}")
        label = np.asarray(label, np.float32).reshape(-1)
        width = self._given["label_width"]
        if len(label) != width:
            raise MXNetError(
                f"{self._records.uri}: the image with id {header.id} has {len(label)} labels, label_width is {width}"
            )
        return label if width > 1 else label[0]


class ImageRecordUInt8Iter(ImageRecordIter):
    """ImageRecordIter whose images are uint8, as they are stored."""

    _dtype = "uint8"


class ImageRecordInt8Iter(ImageRecordIter):
    """ImageRecordIter whose images are int8; values above 127 become 127."""

    _dtype = "int8"


class ImageDetRecordIter(MXDataIter):
    """1.9.1's iterator for detection; refused: `mx.image.ImageDetIter` reads the same files.

    Raises: NotImplementedError.
    """

    def __init__(self, **kwargs: Any) -> None:
        raise NotImplementedError("mxlite lacks ImageDetRecordIter; mx.image.ImageDetIter reads the same files")


def _positions(name: str, given: dict[str, Any]) -> list[int]:
    """Where the records of the part begin."""
    index, parts = part_of(name, given)
    if given["path_imgidx"]:
        try:
            with open(given["path_imgidx"]) as file:
                found = [int(line.split("\t")[1]) for line in file if line.strip()]
        except (OSError, ValueError, IndexError) as error:
            raise MXNetError(f"{name}: cannot read the index {given['path_imgidx']!r}: {error}") from None
        step = -(-len(found) // parts)
        return found[step * index : step * (index + 1)]
    records = MXRecordIO(given["path_imgrec"], "r")
    try:
        found, size = _scanned(records)
    finally:
        records.close()
    step = -(-size // parts) + 3 & ~3
    return [each for each in found if step * index <= each < step * (index + 1)]


def _scanned(records: MXRecordIO) -> tuple[list[int], int]:
    """Where the records of a file begin, and its size."""
    found, at = [], 0
    while records.read() is not None:
        found.append(at)
        at = records._file.tell()
    return found, at


def _listed(path: str, width: int) -> dict[int, list[float]]:
    """The labels of a list, lines of an id, labels and a path, by id."""
    labels = {}
    try:
        with open(path) as file:
            for line in filter(str.strip, file):
                words = line.strip().split("\t")
                labels[int(words[0])] = [float(each) for each in words[1 : 1 + width]]
    except (OSError, ValueError) as error:
        raise MXNetError(f"cannot read the list {path!r}: {error}") from None
    return labels


def _normalization(given: dict[str, Any], channels: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and factor of each channel."""
    mean, std = (
        np.array([given[f"{kind}_{each}"] for each in "rgba"[:channels]], np.float32) for kind in ("mean", "std")
    )
    return mean[:, None, None], (np.float32(given["scale"]) / std)[:, None, None]


def _fitted(pixels: np.ndarray, given: dict[str, Any], chances: np.ndarray) -> np.ndarray:
    """An image resized, padded and cropped to the rows and columns of `data_shape`."""
    method = given["inter_method"]
    _, rows, columns = given["data_shape"]
    if given["resize"] > 0:
        height, width = pixels.shape[:2]
        short = given["resize"]
        size = (short, short * height // width) if width < height else (short * width // height, short)
        pixels = _resized(pixels, size, method)
    pad = given["pad"]
    if pad > 0:
        edges = ((pad, pad), (pad, pad), (0, 0))
        pixels = np.pad(pixels, edges, constant_values=given["fill_value"])
    height, width = pixels.shape[:2]
    if height < rows:
        pixels = _resized(pixels, (int(rows / height * width), rows), method)
    height, width = pixels.shape[:2]
    if width < columns:
        pixels = _resized(pixels, (columns, int(columns / width * height)), method)
    height, width = pixels.shape[:2]
    top, left = (height - rows) // 2, (width - columns) // 2
    if given["rand_crop"]:
        top, left = int(chances[0] * (height - rows + 1)), int(chances[1] * (width - columns + 1))
    return pixels[top : top + rows, left : left + columns]


def _resized(pixels: np.ndarray, size: tuple[int, int], method: int) -> np.ndarray:
    if pixels.shape[1::-1] == size:
        return pixels
    return image.resize(array(pixels, dtype="uint8"), size, False, method).asnumpy()
