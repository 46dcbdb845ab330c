"""`mx.image.detection`: the iterator over images with boxes of objects, and its augmenters."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np

from mxlite._public import show
from mxlite.error import MXNetError, WrongTypeError
from mxlite.image._augmenters import MEAN, STD
from mxlite.image._det_augmenters import (
    CreateDetAugmenter,
    CreateMultiRandCropAugmenter,
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomCropAug,
    DetRandomPadAug,
    DetRandomSelectAug,
)
from mxlite.image._iterator import ImageIter
from mxlite.ndarray import NDArray

__all__ = [
    "CreateDetAugmenter",
    "CreateMultiRandCropAugmenter",
    "DetAugmenter",
    "DetBorrowAug",
    "DetHorizontalFlipAug",
    "DetRandomCropAug",
    "DetRandomPadAug",
    "DetRandomSelectAug",
    "ImageDetIter",
]


class ImageDetIter(ImageIter):
    """ImageIter with a label for each object of an image, (batch, objects, columns): class, box, more columns.

    The labels in records and lists are: how many numbers of head there are (2 or more, with this and the next), how
    many an object has (5 or more), the rest of the head, the objects. Rows that no object has are -1. Images without
    a valid label are left out, with a message to `logging`.

    Args:
        aug_list: The augmenters; None: those of CreateDetAugmenter(data_shape, **kwargs).
        others: See ImageIter.
    Raises: besides those of ImageIter, MXNetError: no image has a valid label.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: tuple,
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
        label_name: str = "label",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            batch_size,
            data_shape,
            path_imgrec=path_imgrec,
            path_imglist=path_imglist,
            path_root=path_root,
            path_imgidx=path_imgidx,
            shuffle=shuffle,
            part_index=part_index,
            num_parts=num_parts,
            aug_list=[],
            imglist=imglist,
            data_name=data_name,
            label_name=label_name,
            last_batch_handle=last_batch_handle,
        )
        self.auglist = CreateDetAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.label_shape = self._estimate_label_shape()
        self.provide_label = [(label_name, (batch_size, *self.label_shape))]

    def _parse_label(self, label: Any) -> np.ndarray:
        """The objects of a label, those with a valid box.

        Raises: RuntimeError: it has none, or is no label.
        """
        raw = np.ravel(label.asnumpy() if isinstance(label, NDArray) else label)
        if raw.size < 7:
            raise RuntimeError(f"a label of shape {raw.shape} is too short")
        head, width = int(raw[0]), int(raw[1])
        if head < 2 or width < 5 or (raw.size - head) % width:
            raise RuntimeError(f"a label of shape {raw.shape} does not hold objects of {width} numbers")
        objects = raw[head:].reshape(-1, width)
        valid = (objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])
        if not valid.any():
            raise RuntimeError("a sample has no valid label")
        return objects[valid]

    def _labelled(self) -> tuple[np.ndarray, bytes]:
        """The objects and the encoded image of the next sample that has any."""
        while True:
            label, data = self.next_sample()
            try:
                return self._parse_label(label), data
            except RuntimeError as error:
                logging.warning("%s is left out: %s", self._name(), error)

    def _estimate_label_shape(self) -> tuple[int, int]:
        """The largest number of objects of an image, and how many columns they have."""
        most = width = 0
        self.reset()
        try:
            while True:
                objects, _ = self._labelled()
                most, width = max(most, len(objects)), objects.shape[1]
        except StopIteration:
            self.reset()
        if not most:
            raise MXNetError("ImageDetIter: no image has a valid label")
        return most, width

    def _read(self) -> tuple[Any, Any]:
        objects, data = self._labelled()
        image, objects = self.augmentation_transform(self._decoded(data), objects)  # type: ignore[misc]
        return self._array(image), objects

    def _labels(self, labels: list) -> np.ndarray:
        made = np.full(self.provide_label[0][1], -1, np.float32)
        for place, each in enumerate(labels):
            count = min(len(each), made.shape[1])
            made[place, :count] = each[:count]
        return made

    def augmentation_transform(self, data: NDArray, label: np.ndarray) -> tuple:  # type: ignore[override]
        """The image and its objects through all augmenters."""
        for each in self.auglist:
            data, label = each(data, label)
        return data, label

    def reshape(self, data_shape: tuple | None = None, label_shape: tuple | None = None) -> None:
        """Changes the shapes of images and of labels.

        Raises: ValueError: a bad shape, or one with fewer objects.
        """
        if data_shape is not None:
            self.check_data_shape(data_shape)
            self.provide_data = [(self.provide_data[0][0], (self.batch_size, *data_shape))]
            self.data_shape = tuple(data_shape)
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self.provide_label = [(self.provide_label[0][0], (self.batch_size, *label_shape))]
            self.label_shape = tuple(label_shape)  # type: ignore[assignment]

    def check_label_shape(self, label_shape: tuple) -> None:
        """Raises ValueError for a shape of labels that these do not fit in."""
        if len(label_shape) != 2:
            raise ValueError("label_shape is (objects, width)")
        if label_shape[0] < self.label_shape[0]:
            raise ValueError(f"the number of labels cannot shrink from {self.label_shape[0]} to {label_shape[0]}")
        if label_shape[1] != self.label_shape[1]:
            raise ValueError(f"label_shape: objects have {self.label_shape[1]} numbers, not {label_shape[1]}")

    def sync_label_shape(self, it: ImageDetIter, verbose: bool = False) -> ImageDetIter:
        """Gives this and another iterator the same, larger, shape of labels; returns the other."""
        if not isinstance(it, ImageDetIter):
            raise WrongTypeError("sync_label_shape takes an ImageDetIter")
        most = max(self.label_shape[0], it.label_shape[0])
        for each in (self, it):
            if verbose and each.label_shape[0] < most:
                logging.info("Resized label_shape to (%d, %d).", most, each.label_shape[1])
            each.reshape(None, (most, each.label_shape[1]))
        return it

    def draw_next(
        self,
        color: tuple | None = None,
        thickness: int = 2,
        mean: Any = None,
        std: Any = None,
        clip: bool = True,
        waitKey: int | None = None,  # noqa: N803 - MXNet's name
        window_name: str = "draw_next",
        id2labels: dict | None = None,
    ) -> Iterator[np.ndarray]:
        """Yields the next images as NumPy arrays, with their boxes drawn.

        Args:
            color, thickness: Of the boxes' lines; no color: at random.
            mean, std: What the images were normalized with.
            clip: Whether values are put into 0 to 255.
        Raises: NotImplementedError: windows (`waitKey`) and names (`id2labels`), which need OpenCV.
        """
        if waitKey is not None or id2labels is not None:
            raise NotImplementedError("draw_next: mxlite has no windows and no text; leave out waitKey and id2labels")
        while True:
            try:
                objects, data = self._labelled()
            except StopIteration:
                return
            image, objects = self.augmentation_transform(self._decoded(data), objects)
            pixels = image.asnumpy()
            pixels = pixels * (STD if std is True else 1 if std is None else np.asarray(std))
            pixels = pixels + (MEAN if mean is True else 0 if mean is None else np.asarray(mean))
            pixels = (np.clip(pixels, 0, 255) if clip else pixels).astype(np.uint8)
            for each in objects:
                _draw(pixels, each[1:5], np.random.rand(3) * 255 if color is None else color, thickness)
            yield pixels


def _draw(pixels: np.ndarray, box: np.ndarray, color: Any, thickness: int) -> None:
    """Draws the lines of a box into an image."""
    rows, columns = pixels.shape[:2]
    left, top, right, bottom = (np.clip(box, 0, 1) * (columns - 1, rows - 1, columns - 1, rows - 1)).astype(int)
    for part in (
        np.s_[top : top + thickness, left : right + 1],
        np.s_[max(top, bottom + 1 - thickness) : bottom + 1, left : right + 1],
        np.s_[top : bottom + 1, left : left + thickness],
        np.s_[top : bottom + 1, max(left, right + 1 - thickness) : right + 1],
    ):
        pixels[part] = color


show(globals())
