"""Augmenters: objects that change an image, most at random."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

from mxlite._public.keywords import judge
from mxlite.error import WrongValueError
from mxlite.image._functions import (
    _get_interp_method,
    center_crop,
    color_normalize,
    imresize,
    random_crop,
    random_size_crop,
    resize_short,
)
from mxlite.ndarray import NDArray, array, op
from mxlite.ndarray._kinds import answer_all

#: How much each channel adds to gray, and what PCA of ImageNet's colours found.
_GRAY = [[[0.299, 0.587, 0.114]]]
MEAN, STD = [123.68, 116.28, 103.53], [58.395, 57.12, 57.375]
EIGVAL = [55.46, 4.794, 1.148]
EIGVEC = [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]


def plain(value: Any) -> Any:
    """A parameter as JSON can hold it."""
    value = value.asnumpy() if isinstance(value, NDArray) else value
    return value.tolist() if isinstance(value, np.ndarray) else value


class Augmenter:
    """The base class of augmenters, which are called with an image and return the changed one.

    Args:
        kwargs: The parameters that `dumps` writes.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = {name: plain(value) for name, value in kwargs.items()}

    def dumps(self) -> Any:
        """Name and parameters as JSON; of an augmenter made of others a list."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: NDArray) -> NDArray:
        raise NotImplementedError("Must override implementation.")


class SequentialAug(Augmenter):
    """Applies augmenters one after another."""

    def __init__(self, ts: list[Augmenter]) -> None:
        super().__init__()
        self.ts = ts

    def dumps(self) -> Any:
        return [type(self).__name__.lower(), [each.dumps() for each in self.ts]]

    def __call__(self, src: NDArray) -> NDArray:
        for each in self.ts:
            src = each(src)
        return src


class RandomOrderAug(SequentialAug):
    """Applies augmenters in an order that is drawn at each call."""

    def __call__(self, src: NDArray) -> NDArray:
        random.shuffle(self.ts)
        return super().__call__(src)


class ResizeAug(Augmenter):
    """Makes the shorter side `size` long."""

    def __init__(self, size: int, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src: NDArray) -> NDArray:
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(Augmenter):
    """Resizes to a size (width, height)."""

    def __init__(self, size: tuple, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src: NDArray) -> NDArray:
        sizes = (src.shape[0], src.shape[1], self.size[1], self.size[0])
        return imresize(src, *self.size, interp=_get_interp_method(self.interp, sizes))


class RandomCropAug(ForceResizeAug):
    """Crops to a size, at random."""

    def __call__(self, src: NDArray) -> NDArray:
        return random_crop(src, self.size, self.interp)[0]


class CenterCropAug(ForceResizeAug):
    """Crops to a size, in the middle."""

    def __call__(self, src: NDArray) -> NDArray:
        return center_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """Crops a part of a random size and resizes it; see random_size_crop."""

    def __init__(self, size: tuple, area: Any, ratio: tuple, interp: int = 2, **kwargs: Any) -> None:
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size, self.area, self.ratio, self.interp = size, kwargs.pop("min_area", area), ratio, interp
        if kwargs:
            raise WrongValueError(f"RandomSizedCropAug: there are no parameters {sorted(kwargs)}")

    def __call__(self, src: NDArray) -> NDArray:
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class BrightnessJitterAug(Augmenter):
    """Multiplies by 1 + what is drawn from -brightness to brightness."""

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src: NDArray) -> NDArray:
        src *= 1.0 + random.uniform(-self.brightness, self.brightness)
        return src


class ContrastJitterAug(Augmenter):
    """Moves all values away from the mean gray, or to it."""

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast=contrast)
        self.contrast = contrast
        self.coef = array(_GRAY)

    def __call__(self, src: NDArray) -> NDArray:
        alpha = 1.0 + random.uniform(-self.contrast, self.contrast)
        gray = src * self.coef
        shift = 3.0 * (1.0 - alpha) / gray.size * op.sum(gray)
        src *= alpha
        src += shift
        return src


class SaturationJitterAug(Augmenter):
    """Moves each pixel away from its gray, or to it."""

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation=saturation)
        self.saturation = saturation
        self.coef = array(_GRAY)

    def __call__(self, src: NDArray) -> NDArray:
        alpha = 1.0 + random.uniform(-self.saturation, self.saturation)
        gray = op.sum(src * self.coef, axis=2, keepdims=True) * (1.0 - alpha)
        src *= alpha
        src += gray
        return src


class HueJitterAug(Augmenter):
    """Turns the colours, in the plane of the two chromatic axes of YIQ, by up to `hue` half turns."""

    def __init__(self, hue: float) -> None:
        super().__init__(hue=hue)
        self.hue = hue
        self.tyiq = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
        self.ityiq = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])

    def __call__(self, src: NDArray) -> NDArray:
        angle = random.uniform(-self.hue, self.hue) * np.pi
        turn = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
        return op.dot(src, array((self.ityiq @ turn @ self.tyiq).T))


class ColorJitterAug(RandomOrderAug):
    """Changes brightness, contrast and saturation in a random order; those that are 0 not."""

    def __init__(self, brightness: float, contrast: float, saturation: float) -> None:
        kinds = (BrightnessJitterAug, brightness), (ContrastJitterAug, contrast), (SaturationJitterAug, saturation)
        super().__init__([kind(value) for kind, value in kinds if value > 0])


class LightingAug(Augmenter):
    """Adds noise along the principal components of colours."""

    def __init__(self, alphastd: float, eigval: Any, eigvec: Any) -> None:
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd, self.eigval, self.eigvec = alphastd, eigval, eigvec

    def __call__(self, src: NDArray) -> NDArray:
        alpha = np.random.normal(0, self.alphastd, size=(3,))
        src += array(np.dot(plain(self.eigvec) * alpha, plain(self.eigval)))
        return src


class ColorNormalizeAug(Augmenter):
    """Subtracts a mean and divides by a standard deviation; each may be None."""

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean=mean, std=std)
        self.mean = mean if mean is None or isinstance(mean, NDArray) else array(mean)
        self.std = std if std is None or isinstance(std, NDArray) else array(std)

    def __call__(self, src: NDArray) -> NDArray:
        return color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """Makes the image gray with a probability, in three equal channels."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p
        self.mat = array([[0.21] * 3, [0.72] * 3, [0.07] * 3])

    def __call__(self, src: NDArray) -> NDArray:
        return op.dot(src, self.mat) if random.random() < self.p else src


class HorizontalFlipAug(Augmenter):
    """Mirrors left and right with a probability."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: NDArray) -> NDArray:
        return op.flip(src, axis=1) if random.random() < self.p else src


class CastAug(Augmenter):
    """Casts to a dtype."""

    def __init__(self, typ: str = "float32") -> None:
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src: NDArray) -> NDArray:
        return src.astype(self.typ)


@judge
def CreateAugmenter(  # noqa: N802 - MXNet's name
    data_shape: tuple,
    resize: int = 0,
    rand_crop: bool = False,
    rand_resize: bool = False,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    hue: float = 0,
    pca_noise: float = 0,
    rand_gray: float = 0,
    inter_method: int = 2,
) -> list[Augmenter]:
    """The augmenters of a training script.

    Args:
        data_shape: Channels, rows, columns of the result.
        resize: What the shorter side becomes at first; 0: as it is.
        rand_crop, rand_resize: Whether to crop at random; and a part of a random size.
        rand_mirror: Whether to mirror every second image.
        mean, std: Arrays of 3, or True for those of ImageNet.
        brightness, contrast, saturation, hue, pca_noise, rand_gray: How much of each to apply; 0: none.
        inter_method: The method of resizing; 9: one that suits, 10: any.
    Raises: ValueError: `rand_resize` without `rand_crop`, or a mean or deviation of another kind.
    """
    size = (data_shape[2], data_shape[1])
    made: list[Augmenter] = [ResizeAug(resize, inter_method)] if resize > 0 else []
    if rand_resize:
        if not rand_crop:
            raise WrongValueError("rand_resize needs rand_crop")
        made.append(RandomSizedCropAug(size, 0.08, (3.0 / 4.0, 4.0 / 3.0), inter_method))
    else:
        made.append((RandomCropAug if rand_crop else CenterCropAug)(size, inter_method))
    if rand_mirror:
        made.append(HorizontalFlipAug(0.5))
    mean, std = array(MEAN) if mean is True else mean, array(STD) if std is True else std
    return made + colors(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std)


def colors(
    brightness: float,
    contrast: float,
    saturation: float,
    hue: float,
    pca_noise: float,
    rand_gray: float,
    mean: Any,
    std: Any,
) -> list[Augmenter]:
    """The cast to float32, and the augmenters of colours."""
    made: list[Augmenter] = [CastAug()]
    if brightness or contrast or saturation:
        made.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        made.append(HueJitterAug(hue))
    if pca_noise > 0:
        made.append(LightingAug(pca_noise, np.array(EIGVAL), np.array(EIGVEC)))
    if rand_gray > 0:
        made.append(RandomGrayAug(rand_gray))
    for name, each in (("mean", mean), ("std", std)):
        fits = each is None or isinstance(each, (np.ndarray, NDArray)) and each.shape[0] in (1, 3)
        if not fits:
            raise WrongValueError(f"{name} must be an array of 1 or 3 numbers, True or None")
    if mean is not None or std is not None:
        made.append(ColorNormalizeAug(mean, std))
    return made


answer_all(globals())
