"""What changes images, as blocks over the operators of mx.nd.image; the random ones draw anew for each image."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from mxlite import image
from mxlite._public import show
from mxlite.gluon.block import Block, HybridBlock
from mxlite.gluon.nn import HybridSequential, Sequential


class Compose(Sequential):
    """Transforms one after another; neighbours that are HybridBlocks are put into one HybridSequential."""

    def __init__(self, transforms: list) -> None:
        super().__init__()
        hybrid: list = []
        for each in [*transforms, None]:
            if isinstance(each, HybridBlock):
                hybrid.append(each)
                continue
            if len(hybrid) > 1:
                joined = HybridSequential()
                joined.add(*hybrid)
                joined.hybridize()
                self.add(joined)
            elif hybrid:
                hybrid[0].hybridize()
                self.add(hybrid[0])
            hybrid = []
            if each is not None:
                self.add(each)


class Cast(HybridBlock):
    """An array as another dtype."""

    def __init__(self, dtype: Any = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        """The array as the dtype."""
        return F.cast(x, self._dtype)


class RandomApply(Sequential):
    """A transform that is used with probability `p`."""

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x: Any) -> Any:
        """The image, changed or as it is."""
        return x if self.p < random.random() else self.transforms(x)


class _Operator(HybridBlock):
    """A block that is one operator of mx.nd.image, `_operator`, with the numbers `_args`."""

    _operator = ""
    _args: tuple = ()

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        """What the operator gives."""
        return getattr(F.image, self._operator)(x, *self._args)


class ToTensor(_Operator):
    """An image (height, width, channels) of 0 to 255 as float32 (channels, height, width) of 0 to 1; batches too."""

    _operator = "to_tensor"

    def __init__(self) -> None:
        super().__init__()


class Normalize(_Operator):
    """(image - mean) / std of images (channels, height, width) and batches; numbers, or one for each channel."""

    _operator = "normalize"

    def __init__(self, mean: Any = 0.0, std: Any = 1.0) -> None:
        super().__init__()
        self._mean, self._std = mean, std
        self._args = (mean, std)


class Rotate(Block):
    """Images (channels, height, width) of float32 turned by an angle in degrees.

    Args:
        zoom_in: enlarged, so that no corner is empty; zoom_out: made smaller, so that none is lost.
    Raises: TypeError: another dtype; ValueError: both ways to zoom.
    """

    def __init__(self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False) -> None:
        super().__init__()
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x: Any) -> Any:
        """The image, turned."""
        return image.imrotate(_float32(x), *self._args)


def _float32(x: Any) -> Any:
    if np.dtype(x.dtype) != np.float32:
        raise TypeError("the image must be float32 (ToTensor makes it so)")
    return x


class RandomRotation(Block):
    """As Rotate, by an angle between two limits, with probability `rotate_with_proba`.

    Raises: ValueError: limits in the wrong order, or a probability beyond 0 to 1.
    """

    def __init__(
        self,
        angle_limits: tuple[float, float],
        zoom_in: bool = False,
        zoom_out: bool = False,
        rotate_with_proba: float = 1.0,
    ) -> None:
        super().__init__()
        lower, upper = angle_limits
        if lower >= upper:
            raise ValueError("angle_limits is a pair (low, high) with low <= high")
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError("the probability of a rotation is between 0 and 1")
        self._args = (angle_limits, zoom_in, zoom_out)
        self._rotate_with_proba = rotate_with_proba

    def forward(self, x: Any) -> Any:
        """The image, turned or as it is."""
        if np.random.random() > self._rotate_with_proba:
            return x
        return image.random_rotate(_float32(x), *self._args)


class RandomResizedCrop(Block):
    """A random part of an image (height, width, channels), resized.

    Args:
        size: (width, height) of the result, or one number for both.
        scale: limits of the part's area, beside the image's; one number is the lower.
        ratio: limits of its width divided by its height.
        interpolation: as mx.image.imresize.
    """

    def __init__(
        self,
        size: Any,
        scale: Any = (0.08, 1.0),
        ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: int = 1,
    ) -> None:
        super().__init__()
        self._args = (_pair(size), scale, ratio, interpolation)

    def forward(self, x: Any) -> Any:
        """The part, resized."""
        return image.random_size_crop(x, *self._args)[0]


def _pair(size: Any) -> Any:
    return (size, size) if isinstance(size, (int, float)) else size


class CenterCrop(Block):
    """The middle of an image (height, width, channels), of `size` (width, height); a smaller image is enlarged."""

    def __init__(self, size: Any, interpolation: int = 1) -> None:
        super().__init__()
        self._args = (_pair(size), interpolation)

    def forward(self, x: Any) -> Any:
        """The middle."""
        return image.center_crop(x, *self._args)[0]


class CropResize(HybridBlock):
    """The rectangle at column `x`, row `y` of an image or a batch; resized, where `size` is given.

    Raises: MXNetError: it is not within the image; a size without an interpolation.
    """

    def __init__(
        self, x: int, y: int, width: int, height: int, size: Any = None, interpolation: int | None = None
    ) -> None:
        super().__init__()
        self._x, self._y, self._width, self._height = x, y, width, height
        self._size, self._interpolation = size, interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        """The rectangle."""
        part = F.image.crop(x, self._x, self._y, self._width, self._height)
        return F.image.resize(part, self._size, False, self._interpolation) if self._size else part


class Resize(_Operator):
    """An image (height, width, channels) or a batch in another size.

    Args:
        size: (width, height), or one number: both, or with keep_ratio=True the shorter one.
        interpolation: as mx.nd.image.resize.
    """

    _operator = "resize"

    def __init__(self, size: Any, keep_ratio: bool = False, interpolation: int = 1) -> None:
        super().__init__()
        self._keep, self._size, self._interpolation = keep_ratio, size, interpolation
        self._args = (size, keep_ratio, interpolation)


class RandomFlipLeftRight(_Operator):
    """An image, mirrored in half of the cases."""

    _operator = "random_flip_left_right"

    def __init__(self) -> None:
        super().__init__()


class RandomFlipTopBottom(_Operator):
    """An image, upside down in half of the cases."""

    _operator = "random_flip_top_bottom"

    def __init__(self) -> None:
        super().__init__()


class _Around(_Operator):
    """An operator with a factor between 1 - `amount`, but not below 0, and 1 + `amount`."""

    def _set(self, amount: float) -> None:
        self._args = (max(0, 1 - amount), 1 + amount)


class RandomBrightness(_Around):
    """An image times a factor between 1 - brightness and 1 + brightness."""

    _operator = "random_brightness"

    def __init__(self, brightness: float) -> None:
        super().__init__()
        self._set(brightness)


class RandomContrast(_Around):
    """An image whose contrast is changed by a factor between 1 - contrast and 1 + contrast."""

    _operator = "random_contrast"

    def __init__(self, contrast: float) -> None:
        super().__init__()
        self._set(contrast)


class RandomSaturation(_Around):
    """An image whose saturation is changed by a factor between 1 - saturation and 1 + saturation."""

    _operator = "random_saturation"

    def __init__(self, saturation: float) -> None:
        super().__init__()
        self._set(saturation)


class RandomHue(_Around):
    """An image whose hue is changed by a factor between 1 - hue and 1 + hue."""

    _operator = "random_hue"

    def __init__(self, hue: float) -> None:
        super().__init__()
        self._set(hue)


class RandomColorJitter(_Operator):
    """An image whose brightness, contrast, saturation and hue are changed at random, in a random order."""

    _operator = "random_color_jitter"

    def __init__(self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0) -> None:
        super().__init__()
        self._args = (brightness, contrast, saturation, hue)


class RandomLighting(_Operator):
    """An image with noise of standard deviation `alpha` along the principal components of ImageNet's colours."""

    _operator = "random_lighting"

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self._alpha = alpha
        self._args = (alpha,)


show(globals())
