"""Augmenters for detection: they change an image and its objects, rows of a class and a box (left, top, right, bottom).

Boxes are parts of width and height, from 0 to 1.
"""

from __future__ import annotations

import json
import logging
import random
from typing import Any

import numpy as np

from mxlite._public.keywords import judge
from mxlite.error import WrongValueError
from mxlite.image._augmenters import MEAN, STD, Augmenter, ForceResizeAug, ResizeAug, colors, plain
from mxlite.image._functions import copyMakeBorder, fixed_crop
from mxlite.ndarray import NDArray, op
from mxlite.ndarray._kinds import answer_all


class DetAugmenter:
    """The base class, called with an image and its objects (NumPy, 5 columns or more); returns both."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = {name: plain(value) for name, value in kwargs.items()}

    def dumps(self) -> Any:
        """Name and parameters as JSON; of an augmenter made of others a list."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: NDArray, label: np.ndarray) -> tuple[NDArray, np.ndarray]:
        raise NotImplementedError("Must override implementation.")


class DetBorrowAug(DetAugmenter):
    """Applies an augmenter that does not move objects.

    Raises: TypeError: it is no Augmenter.
    """

    def __init__(self, augmenter: Augmenter) -> None:
        if not isinstance(augmenter, Augmenter):
            raise TypeError("DetBorrowAug takes an Augmenter")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self) -> Any:
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src: NDArray, label: np.ndarray) -> tuple[NDArray, np.ndarray]:
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """Applies one of several augmenters, or with the probability `skip_prob` none.

    Raises: ValueError: one is no DetAugmenter.
    """

    def __init__(self, aug_list: Any, skip_prob: float = 0) -> None:
        super().__init__(skip_prob=skip_prob)
        self.aug_list = list(aug_list) if isinstance(aug_list, (list, tuple)) else [aug_list]
        for each in self.aug_list:
            if not isinstance(each, DetAugmenter):
                raise ValueError("DetRandomSelectAug takes a list of DetAugmenters")
        self.skip_prob = skip_prob if self.aug_list else 1

    def dumps(self) -> Any:
        return [type(self).__name__.lower(), [each.dumps() for each in self.aug_list]]

    def __call__(self, src: NDArray, label: np.ndarray) -> tuple[NDArray, np.ndarray]:
        if not self.aug_list or random.random() < self.skip_prob:
            return src, label
        return random.choice(self.aug_list)(src, label)


class DetHorizontalFlipAug(DetAugmenter):
    """Mirrors left and right with a probability."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: NDArray, label: np.ndarray) -> tuple[NDArray, np.ndarray]:
        if random.random() >= self.p:
            return src, label
        label = label.copy()
        label[:, 1], label[:, 3] = 1.0 - label[:, 3], 1.0 - label[:, 1].copy()
        return op.flip(src, axis=1), label


class _DetWindow(DetAugmenter):
    """Puts a window of a random size and proportion onto the image."""

    #: Limits of areas.
    _least = 0.0

    def _limit(self, aspect_ratio_range: Any, area_range: Any, max_attempts: int) -> None:
        self.aspect_ratio_range, self.area_range = aspect_ratio_range, area_range
        self.max_attempts = max_attempts
        name = type(self).__name__
        bad = [
            each
            for each, (low, high), least in (
                ("area_range", area_range, self._least),
                ("aspect_ratio_range", aspect_ratio_range, 0),
            )
            if low > high or high <= least
        ]
        self.enabled = not bad
        for each in bad:
            logging.warning("Skip %s due to invalid %s: %s", name, each, getattr(self, each))

    def _size(self, rows: int, columns: int, around: bool) -> tuple[int, int] | None:
        """Width and height of a window within the image, or around it. All heights that fit the areas and a random
        ratio are equally likely; None: no height does."""
        ratio = random.uniform(*self.aspect_ratio_range)
        if ratio <= 0:
            return None
        low, high = (round((area * rows * columns / ratio) ** 0.5) for area in self.area_range)
        whole = int((columns + 0.5) / ratio)  # the height at which the width is the image's
        low, high = (max(low, rows, whole), high) if around else (low, min(high, rows, whole))
        if low > high:
            return None
        height = random.randint(low, high)
        if not around:  # what rounding adds to the area, or takes
            share = height * round(height * ratio) / (rows * columns)
            height += int(share < self.area_range[0] and height < high) - int(share > self.area_range[1])
        return round(height * ratio), height


class DetRandomCropAug(_DetWindow):
    """Crops a random part that shows enough of an object.

    Args:
        min_object_covered: How much of each object that is in the part must be in it.
        aspect_ratio_range: Lowest and highest width divided by height.
        area_range: Lowest and highest share of the image.
        min_eject_coverage: Objects of which less is left are dropped.
        max_attempts: How often to try; then the image stays as it is.
    """

    def __init__(
        self,
        min_object_covered: float = 0.1,
        aspect_ratio_range: Any = (0.75, 1.33),
        area_range: Any = (0.05, 1.0),
        min_eject_coverage: float = 0.3,
        max_attempts: int = 50,
    ) -> None:
        ratios, areas = _range(aspect_ratio_range), _range(area_range)
        super().__init__(
            min_object_covered=min_object_covered,
            aspect_ratio_range=ratios,
            area_range=areas,
            min_eject_coverage=min_eject_coverage,
            max_attempts=max_attempts,
        )
        self.min_object_covered, self.min_eject_coverage = min_object_covered, min_eject_coverage
        self._limit(ratios, areas, max_attempts)

    def __call__(self, src: NDArray, label: np.ndarray) -> tuple[NDArray, np.ndarray]:
        rows, columns = src.shape[:2]
        for _ in range(self.max_attempts if self.enabled else 0):
            size = self._size(rows, columns, around=False)
            if size is None or size[0] * size[1] < 2:
                continue
            width, height = min(size[0], columns), size[1]
            top, left = random.randint(0, rows - height), random.randint(0, columns - width)
            window = np.array([left / columns, top / rows, (left + width) / columns, (top + height) / rows])
            kept = self._kept(label, window)
            if kept is not None:
                return fixed_crop(src, left, top, width, height), kept
        return src, label

    def _kept(self, label: np.ndarray, window: np.ndarray) -> np.ndarray | None:
        """The objects that are left within a window, in its coordinates; None if they are too few."""
        boxes = label[:, 1:5]
        inside = np.concatenate([np.maximum(boxes[:, :2], window[:2]), np.minimum(boxes[:, 2:], window[2:])], 1)
        area = _areas(boxes)
        covered = np.where(area > 0, _areas(inside) / np.where(area > 0, area, 1), 0)
        touched = covered[covered > 0]
        if not touched.size or touched.min() <= self.min_object_covered:
            return None
        chosen = covered > self.min_eject_coverage
        if not chosen.any():
            return None
        kept = label[chosen].copy()
        size = np.tile(window[2:] - window[:2], 2)
        kept[:, 1:5] = np.clip((boxes[chosen] - np.tile(window[:2], 2)) / size, 0, 1)
        return kept


class DetRandomPadAug(_DetWindow):
    """Puts the image at a random place of a larger one.

    Args:
        aspect_ratio_range, area_range: Of the larger one; see DetRandomCropAug.
        max_attempts: How often to try.
        pad_val: The colour around it.
    """

    _least = 1.0

    def __init__(
        self,
        aspect_ratio_range: Any = (0.75, 1.33),
        area_range: Any = (1.0, 3.0),
        max_attempts: int = 50,
        pad_val: Any = (128, 128, 128),
    ) -> None:
        ratios, areas = _range(aspect_ratio_range), _range(area_range)
        super().__init__(aspect_ratio_range=ratios, area_range=areas, max_attempts=max_attempts, pad_val=pad_val)
        self.pad_val = pad_val
        self._limit(ratios, areas, max_attempts)

    def __call__(self, src: NDArray, label: np.ndarray) -> tuple[NDArray, np.ndarray]:
        rows, columns = src.shape[:2]
        for _ in range(self.max_attempts if self.enabled else 0):
            size = self._size(rows, columns, around=True)
            if size is None or size[0] - columns < 2 or size[1] - rows < 2:
                continue
            width, height = size
            top, left = random.randint(0, height - rows), random.randint(0, width - columns)
            values = self.pad_val if isinstance(self.pad_val, (tuple, list)) else (self.pad_val,) * src.shape[2]
            padded = copyMakeBorder(src, top, height - rows - top, left, width - columns - left, values=values)
            label = label.copy()
            label[:, 1:5:2] = (label[:, 1:5:2] * columns + left) / width
            label[:, 2:5:2] = (label[:, 2:5:2] * rows + top) / height
            return padded, label
        return src, label


def _range(value: Any) -> tuple:
    return value if isinstance(value, (tuple, list)) else (value, value)


def _areas(boxes: np.ndarray) -> np.ndarray:
    return np.prod(np.maximum(boxes[:, 2:4] - boxes[:, :2], 0), axis=1)


def CreateMultiRandCropAugmenter(  # noqa: N802 - MXNet's name
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 1.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    skip_prob: float = 0,
) -> DetRandomSelectAug:
    """One of several DetRandomCropAug, whose parameters are lists of equal length, or the same for all.

    Raises: ValueError: lists of different lengths.
    """
    given = [min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts]
    count = max(len(each) if isinstance(each, list) else 1 for each in given)
    lists = []
    for each in given:
        values = each if isinstance(each, list) else [each]
        if len(values) not in (1, count):
            raise WrongValueError("lists of parameters must be of equal length")
        lists.append(values * (count if len(values) == 1 else 1))
    return DetRandomSelectAug([DetRandomCropAug(*each) for each in zip(*lists)], skip_prob=skip_prob)


@judge
def CreateDetAugmenter(  # noqa: N802 - MXNet's name
    data_shape: tuple,
    resize: int = 0,
    rand_crop: float = 0,
    rand_pad: float = 0,
    rand_gray: float = 0,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    pca_noise: float = 0,
    hue: float = 0,
    inter_method: int = 2,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 3.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    pad_val: Any = (127, 127, 127),
) -> list[DetAugmenter]:
    """The augmenters of a training script for detection; see CreateAugmenter.

    Args:
        rand_crop, rand_pad: Probabilities of a crop and of a border.
        min_object_covered, ..., max_attempts: See DetRandomCropAug; areas above 1 are those of borders.
        pad_val: The colour of borders.
    """
    made: list[DetAugmenter] = [DetBorrowAug(ResizeAug(resize, inter_method))] if resize > 0 else []
    if rand_crop > 0:
        crop = min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts
        made.append(CreateMultiRandCropAugmenter(*crop, skip_prob=1 - rand_crop))
    if rand_mirror:
        made.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        pad = DetRandomPadAug(aspect_ratio_range, (1.0, area_range[1]), max_attempts, pad_val)
        made.append(DetRandomSelectAug([pad], 1 - rand_pad))
    made.append(DetBorrowAug(ForceResizeAug((data_shape[2], data_shape[1]), inter_method)))
    mean, std = np.array(MEAN) if mean is True else mean, np.array(STD) if std is True else std
    rest = colors(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std)
    return [*made, *(DetBorrowAug(each) for each in rest)]


answer_all(globals())
