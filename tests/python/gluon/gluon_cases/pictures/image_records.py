"""ImageRecordIter: what is done to images where it does not depend on chance, and files of means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from _case import case

from gluon_cases._png import records

_SIZES = {"data_shape": (3, 12, 14), "batch_size": 1, "verbose": False, "preprocess_threads": 1}


def _values(mx, folder, kind="ImageRecordIter", **given):
    """The data of an epoch of two images of random pixels."""
    paths = records(mx, folder, [0.0, 1.0], 20, 26, 3)
    iterator = getattr(mx.io, kind)(path_imgrec=paths["path_imgrec"], **{**_SIZES, **given})
    return [batch.data[0].asnumpy() for batch in iterator]


_WARPS = {
    "quarter": {"rotate": 90},
    "turned": {"rotate": 30},
    "whole": {"rotate": 360},
    "nothing": {"rotate": -30},
    "enlarged": {"min_random_scale": 1.5, "max_random_scale": 1.5},
    "made smaller": {"min_random_scale": 0.7, "max_random_scale": 0.7},
    "enlarged and turned": {"min_random_scale": 1.2, "max_random_scale": 1.2, "rotate": 10},
    "tiny": {"min_random_scale": 0.06, "max_random_scale": 0.06},
    "at least": {"min_img_size": 35.5},
    "at most": {"max_img_size": 17.5},
    "at least and turned": {"min_img_size": 35, "rotate": 20},
    "wider": {"min_aspect_ratio": 0.5, "max_aspect_ratio": 0.5},
    "higher and turned": {"min_aspect_ratio": 1.5, "max_aspect_ratio": 1.5, "rotate": 5},
    "black": {"rotate": 30, "fill_value": 0},
    "beyond black": {"rotate": 30, "fill_value": -4},
    "resized and padded": {"rotate": 30, "pad": 3, "resize": 16},
    "mirrored": {"rotate": 200, "mirror": True},
}


@case(change=list(_WARPS), inter_method=[1, 2, 4])
def images_warped(mx, folder, change, inter_method):
    return _values(mx, folder, **_WARPS[change], inter_method=inter_method)


@case(inter_method=[3, 9], data_shape=[(1, 12, 14), (3, 30, 14)])
def images_turned(mx, folder, inter_method, data_shape):
    return _values(mx, folder, rotate=40, inter_method=inter_method, data_shape=data_shape)


@case(kind=["ImageRecordUInt8Iter", "ImageRecordInt8Iter"])
def images_of_bytes_turned(mx, folder, kind):
    return _values(mx, folder, kind, rotate=40)


_CROPS = {
    "square": {"min_crop_size": 11, "max_crop_size": 11},
    "large square": {"min_crop_size": 20, "max_crop_size": 20},
    "too large": {"min_crop_size": 21, "max_crop_size": 21, "rand_crop": True},
    "one bound": {"min_crop_size": 11},
    "area of all": {"random_resized_crop": True},
    "all": {"random_resized_crop": True, "min_aspect_ratio": 1.3, "max_aspect_ratio": 1.3},
    "never": {"random_resized_crop": True, "min_aspect_ratio": 3.0, "max_aspect_ratio": 3.0},
    "area and part": {"random_resized_crop": True, "rand_crop": True},
    "area and square": {"random_resized_crop": True, "min_crop_size": 3, "max_crop_size": 3},
    "area and scale": {"random_resized_crop": True, "max_random_scale": 2.0},
    "no area": {"random_resized_crop": True, "min_random_area": 0.5, "max_random_area": 0.2},
}


@case(crop=list(_CROPS), inter_method=[1, 2])
def images_cut(mx, folder, crop, inter_method):
    return _values(mx, folder, **_CROPS[crop], inter_method=inter_method)


#: Amounts so small that colours only go forth and back.
_COLOURS = {
    "hue": {"random_h": 1},
    "luminance": {"random_l": -1},
    "saturation of hue": {"random_s": 1, "rotate": 20},
    "brightness": {"brightness": 1e-9},
    "contrast": {"contrast": 1e-9},
    "saturation": {"saturation": 1e-9},
    "noise": {"pca_noise": 1e-30},
    "below zero": {"brightness": -1, "contrast": -1, "saturation": -1, "pca_noise": -1},
    "gray": {"brightness": 0.5, "data_shape": (1, 12, 14)},
    "values": {"max_random_contrast": 1e-9, "max_random_illumination": 1e-9, "mean_r": 1.3, "std_g": 3.1, "scale": 0.7},
}


@case(colour=list(_COLOURS))
def images_coloured(mx, folder, colour):
    return _values(mx, folder, **_COLOURS[colour])


_BYTES = {
    "means": {"mean_r": 128, "mean_g": 3.5, "mean_b": -2.5},
    "deviations": {"std_r": 2, "scale": 0.5, "mean_b": 500, "mirror": True},
    "chance": {"max_random_contrast": 0.5, "max_random_illumination": 20},
}


@case(kind=["ImageRecordUInt8Iter", "ImageRecordInt8Iter"], values=list(_BYTES))
def images_of_bytes_with_values(mx, folder, kind, values):
    return _values(mx, folder, kind, **_BYTES[values])


_MEANS = {
    "plain": {},
    "values": {"scale": 3, "mean_r": 5, "std_r": 2, "mirror": True},
    "gray": {"data_shape": (1, 12, 14)},
    "part": {"num_parts": 2},
}


@case(given=list(_MEANS))
def mean_images(mx, folder, given):
    path = str(Path(folder, "mean.bin"))
    first = _values(mx, folder, mean_img=path, **_MEANS[given])
    mean = mx.nd.load(path)
    again = _values(mx, folder, mean_img=path, **_MEANS[given], mean_b=7)
    return first, {name: each.asnumpy() for name, each in mean.items()}, again, np.array(Path(path).stat().st_size)


@case(dtype=["int8", "uint8"])
def mean_image_of_bytes(mx, folder, dtype):
    path = str(Path(folder, "mean.bin"))
    mx.nd.save(path, {"mean_img": mx.nd.array(np.arange(3 * 12 * 14).reshape(3, 12, 14) / 3)})
    return _values(mx, folder, mean_img=path, dtype=dtype, mirror=True)


@case(kind=["ImageRecordIter_v1", "ImageRecordUInt8Iter_v1"])
def images_of_version_1(mx, folder, kind):
    paths = records(mx, folder, [0.0, 1.0, 2.0], 20, 26, 3)
    iterator = getattr(mx.io, kind)(path_imgrec=paths["path_imgrec"], **_SIZES)
    return [(batch.data[0].asnumpy(), batch.label[0].asnumpy(), np.array(batch.index)) for batch in iterator]


@case
def batches_by_hand(mx, folder):
    paths = records(mx, folder, [0.0, 1.0], 20, 26, 3)
    iterator = mx.io.ImageRecordIter(path_imgrec=paths["path_imgrec"], **_SIZES)
    return bool(iterator.iter_next()), iterator.getdata(), iterator.getlabel(), iterator.getpad()
