"""mx.image."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
from _case import case

from gluon_cases._png import pixels, png


def _image(mx, *shape, dtype="uint8"):
    return mx.nd.array(pixels(*(shape or (4, 6, 3))), dtype=dtype)


# ---- reading

_FILES = {
    "color": png(pixels(4, 5, 3)),
    "gray": png(pixels(4, 5)),
    "alpha": png(pixels(4, 5, 4)),
    "16 bits": png(pixels(4, 5, 3, dtype="uint16")),
    "16 bits of gray": png(pixels(4, 5, dtype="uint16")),
    "one pixel": png(pixels(1, 1, 3)),
}
_MORE = {"as it is": {}, "gray": {"flag": 0}, "gray BGR": {"flag": 0, "to_rgb": 0}, "BGR": {"to_rgb": False}}


@case(file=["color", "gray", "alpha", "one pixel"], more=list(_MORE))
def imdecode(mx, file, more):
    return mx.image.imdecode(_FILES[file], **_MORE[more])


@case(file=["16 bits", "16 bits of gray"])
def imdecode_of_16_bits(mx, file):
    return mx.image.imdecode(_FILES[file])


@case(kind=["bytes", "bytearray", "array", "NDArray", "text"])
def imdecode_of_a_kind(mx, kind):
    data = _FILES["color"]
    array = np.frombuffer(data, "uint8")
    kinds = {"bytes": data, "bytearray": bytearray(data), "array": array, "text": "abc"}
    return mx.image.imdecode(mx.nd.array(array, dtype="uint8") if kind == "NDArray" else kinds[kind])


@case(data=[b"", b"rubbish", _FILES["color"][:60], _FILES["color"][:20]])
def imdecode_of_broken_data(mx, data):
    return mx.image.imdecode(data).asnumpy()


@case(flag=[-1, 2])
def imdecode_with_a_bad_flag(mx, flag):
    return mx.image.imdecode(_FILES["color"], flag=flag).asnumpy()


@case(more=list(_MORE))
def imread(mx, folder, more):
    path = Path(folder, "a.png")
    path.write_bytes(_FILES["color"])
    return mx.image.imread(str(path), **_MORE[more])


@case(content=[None, b"rubbish"])
def imread_of_a_bad_file(mx, folder, content):
    path = Path(folder, "a.png")
    if content is not None:
        path.write_bytes(content)
    return mx.image.imread(str(path)).asnumpy()


@case
def img_is_image(mx):
    return mx.img is mx.image, mx.image.detection is mx.image.det, mx.image.image.imdecode is mx.image.imdecode


# ---- sizes


@case(
    interp=[0, 1, 2, 3, 4],
    size=[(3, 2), (12, 8), (6, 4), (9, 3), (1, 1)],
    dtype=["uint8", "float32"],
    rtol=1e-3,
    atol=1e-2,
)
def imresize(mx, interp, size, dtype):
    return mx.image.imresize(_image(mx, dtype=dtype), *size, interp=interp)


@case(size=[(0, 2), (3, -1), (3.0, 2)])
def imresize_to_a_bad_size(mx, size):
    return mx.image.imresize(_image(mx), *size)


@case(shape=[(4, 6), (1, 4, 6, 3)])
def imresize_of_a_bad_shape(mx, shape):
    return mx.image.imresize(_image(mx, *shape), 3, 2).asnumpy()


@case(interp=[9, 10, 11])
def imresize_with_a_bad_method(mx, interp):
    return mx.image.imresize(_image(mx), 3, 2, interp=interp).asnumpy()


@case
def imresize_of_numpy(mx):
    return mx.image.imresize(pixels(4, 6, 3), 3, 2)


@case(interp=[0, 1, 2, 3, 4, 5, 9, 11], sizes=[(), (4, 4, 8, 8), (8, 8, 4, 4), (8, 4, 4, 8)])
def interpolation(mx, interp, sizes):
    return mx.image.image._get_interp_method(interp, sizes)


_SIZES = [((10, 20), (30, 5)), ((10, 20), (5, 30)), ((100, 50), (20, 10)), ((3, 3), (9, 7)), ((640, 480), (720, 120))]


@case(sizes=_SIZES)
def scale_down(mx, sizes):
    return mx.image.scale_down(*sizes)


@case(size=[2, 3, 4, 10], shape=[(4, 6, 3), (6, 4, 3), (5, 5, 3)], interp=[0, 1, 2, 9])
def resize_short(mx, size, shape, interp):
    return mx.image.resize_short(_image(mx, *shape), size, interp)


@case(kind=[0, 1, 2, 3, 4], widths=[(1, 2, 3, 2), (0, 0, 1, 0), (3, 3, 5, 5)])
def border(mx, kind, widths):
    return mx.image.copyMakeBorder(_image(mx), *widths, type=kind)


_COLORS = [{}, {"values": (1, 2, 3)}, {"value": 9}, {"values": (7, 8)}]


@case(color=_COLORS, dtype=["uint8", "float32"])
def border_of_a_color(mx, color, dtype):
    return mx.image.copyMakeBorder(_image(mx, dtype=dtype), 1, 0, 0, 1, **color)


@case(widths=[(-1, 0, 0, 0), (0, 0, 0, -2)])
def negative_border(mx, widths):
    return mx.image.copyMakeBorder(_image(mx), *widths).asnumpy()


# ---- crops


@case(place=[(1, 1, 3, 2), (0, 0, 6, 4), (2, 0, 4, 3)], size=[None, (4, 5), (3, 2)])
def fixed_crop(mx, place, size):
    return mx.image.fixed_crop(_image(mx), *place, size)


@case
def fixed_crop_enlarged(mx):
    return mx.image.fixed_crop(_image(mx), 4, 1, 2, 2, (3, 2))


@case
def fixed_crop_beyond_the_image(mx):
    return mx.image.fixed_crop(_image(mx), 5, 1, 3, 2)


@case(place=[(-1, 0, 1, 2), (1, 1, 0, 2)])
def fixed_crop_of_nothing(mx, place):
    return mx.image.fixed_crop(_image(mx), *place).asnumpy()


@case(size=[(3, 2), (10, 12), (4, 8), (5, 3), (6, 4), (1, 1), 3])
def center_crop(mx, size):
    return mx.image.center_crop(_image(mx), size)


@case(size=[(3, 2), (30, 20), (6, 4), (1, 4)])
def random_crop(mx, size):
    image, (left, top, width, height) = mx.image.random_crop(_image(mx), size)
    whole = mx.image.fixed_crop(_image(mx), left, top, width, height, size)
    return [image.shape, width, height, (image.asnumpy() == whole.asnumpy()).all()]


@case(area=[0.3, (0.1, 0.5), (5.0, 6.0)], size=[(3, 2), (8, 8)])
def random_size_crop(mx, area, size):
    got = []
    for _ in range(5):
        image, (left, top, width, height) = mx.image.random_size_crop(_image(mx, 20, 30, 3), size, area, (0.75, 1.33))
        got += [image.shape, left >= 0, top >= 0, left + width <= 30, top + height <= 20, 0.3 < width / height < 3]
    return got


@case
def random_size_crop_with_another_keyword(mx):
    return mx.image.random_size_crop(_image(mx), (3, 2), 0.5, (0.75, 1.33), other=0.2)


@case(mean=[None, 3.0, [1, 2, 3]], std=[None, [2, 4, 5]])
def color_normalize(mx, mean, std):
    mean, std = (mx.nd.array(each) if isinstance(each, list) else each for each in (mean, std))
    return mx.image.color_normalize(_image(mx, dtype="float32"), mean, std)


# ---- rotation


def _first(mx, *shape):
    return mx.nd.array(np.random.RandomState(0).rand(*shape))


_ZOOMS = {"no": {}, "in": {"zoom_in": True}, "out": {"zoom_out": True}}


@case(angle=[0, 30, 90, -45, 180, 200.5], zoom=list(_ZOOMS), atol=1e-4)
def imrotate(mx, angle, zoom):
    return mx.image.imrotate(_first(mx, 2, 4, 6), angle, **_ZOOMS[zoom])


@case(zoom=list(_ZOOMS), angles=[[30.0, 60.0], 20], atol=1e-4)
def imrotate_of_a_batch(mx, zoom, angles):
    angles = mx.nd.array(angles) if isinstance(angles, list) else angles
    return mx.image.imrotate(_first(mx, 2, 2, 5, 4), angles, **_ZOOMS[zoom])


_ROTATIONS = {
    "both zooms": lambda mx: mx.image.imrotate(_first(mx, 2, 4, 6), 3, True, True),
    "uint8": lambda mx: mx.image.imrotate(_image(mx), 3),
    "two axes": lambda mx: mx.image.imrotate(_first(mx, 4, 6), 3),
    "angles of one": lambda mx: mx.image.imrotate(_first(mx, 2, 4, 6), mx.nd.array([3])),
    "too many angles": lambda mx: mx.image.imrotate(_first(mx, 1, 2, 4, 6), mx.nd.array([3, 4])),
    "limits": lambda mx: mx.image.random_rotate(_first(mx, 2, 4, 6), 3),
}


@case(what=list(_ROTATIONS))
def bad_rotation(mx, what):
    return _ROTATIONS[what](mx)


@case(shape=[(2, 4, 6), (3, 2, 4, 6)])
def random_rotate(mx, shape):
    return mx.image.random_rotate(_first(mx, *shape), (-10, 10)).shape


# ---- augmenters

_AUGMENTERS = {
    "sequential": lambda i: i.SequentialAug([i.CastAug(), i.ForceResizeAug((3, 2))]),
    "order": lambda i: i.RandomOrderAug([i.CastAug()]),
    "resize": lambda i: i.ResizeAug(3),
    "force": lambda i: i.ForceResizeAug((3, 2), 1),
    "crop": lambda i: i.RandomCropAug((3, 2)),
    "sized": lambda i: i.RandomSizedCropAug((3, 2), 0.3, (0.7, 1.3)),
    "least": lambda i: i.RandomSizedCropAug((3, 2), 0.3, (0.7, 1.3), min_area=0.2),
    "center": lambda i: i.CenterCropAug((3, 2)),
    "brightness": lambda i: i.BrightnessJitterAug(0.3),
    "contrast": lambda i: i.ContrastJitterAug(0.3),
    "saturation": lambda i: i.SaturationJitterAug(0.3),
    "hue": lambda i: i.HueJitterAug(0.3),
    "color": lambda i: i.ColorJitterAug(0.1, 0.2, 0.3),
    "contrast of color": lambda i: i.ColorJitterAug(0, 0.2, 0),
    "lighting": lambda i: i.LightingAug(0.1, np.array([1.0, 2, 3]), np.array([[1.0, 2, 0], [0, 1, 3], [1, 0, 0]])),
    "normalize": lambda i: i.ColorNormalizeAug([1, 2, 3], [4, 5, 6]),
    "mean": lambda i: i.ColorNormalizeAug(np.array([1.0, 2, 3]), None),
    "std": lambda i: i.ColorNormalizeAug(None, np.array([1.0, 2, 3])),
    "gray": lambda i: i.RandomGrayAug(1.0),
    "no gray": lambda i: i.RandomGrayAug(0.0),
    "flip": lambda i: i.HorizontalFlipAug(1.0),
    "no flip": lambda i: i.HorizontalFlipAug(0.0),
    "cast": lambda i: i.CastAug("int32"),
}


@case(name=list(_AUGMENTERS))
def dumped(mx, name):
    return _AUGMENTERS[name](mx.image).dumps()


@case(name=list(_AUGMENTERS), rtol=1e-3, atol=1e-2)
def augmented(mx, name):
    random.seed(3)
    np.random.seed(3)
    return _AUGMENTERS[name](mx.image)(_image(mx, dtype="float32"))


@case(name=[name for name in _AUGMENTERS if name not in ("contrast of color", "no gray")], rtol=1e-3, atol=1e-2)
def image_after_an_augmenter(mx, name):
    """Some edit the image that they are given."""
    random.seed(3)
    np.random.seed(3)
    image = _image(mx, dtype="float32")
    return _AUGMENTERS[name](mx.image)(image) is image, image


@case
def base_augmenter(mx):
    made = mx.image.Augmenter(a=1, b=mx.nd.array([1, 2]), c=np.array([1]))
    return [made.dumps(), made._kwargs]


@case(kind=["Augmenter", "DetAugmenter"])
def base_augmenter_called(mx, kind):
    arguments = [_image(mx)] + [np.zeros((1, 5))] * (kind == "DetAugmenter")
    return getattr(mx.image, kind)()(*arguments)


_CREATED = [
    {},
    {"resize": 5},
    {"rand_crop": True},
    {"rand_crop": True, "rand_resize": True},
    {"rand_resize": True},
    {"rand_mirror": True},
    {"mean": True},
    {"std": True},
    {"mean": True, "std": True},
    {"mean": np.array([1.0, 2, 3])},
    {"mean": np.array([1.0]), "std": np.array([2.0])},
    {"mean": [1, 2, 3]},
    {"std": np.array([1.0, 2])},
    {"brightness": 0.1},
    {"brightness": 0.1, "contrast": 0.2, "saturation": 0.3},
    {"hue": 0.1},
    {"pca_noise": 0.1},
    {"rand_gray": 0.2},
    {"inter_method": 9},
    {"other": 1},
    {
        **{"resize": 5, "rand_crop": True, "rand_mirror": True, "mean": True, "brightness": 0.1, "hue": 0.1},
        **{"pca_noise": 0.1, "rand_gray": 0.5},
    },
]


@case(given=list(range(len(_CREATED))))
def created(mx, given):
    return [each.dumps() for each in mx.image.CreateAugmenter((3, 4, 5), **_CREATED[given])]


_DETECTION = [
    {},
    {"resize": 5},
    {"rand_crop": 0.5},
    {"rand_pad": 0.5},
    {"rand_gray": 0.1},
    {"rand_mirror": True},
    {"mean": True, "std": True},
    {"mean": [1, 2, 3]},
    {"brightness": 0.1, "contrast": 0.1, "saturation": 0.1, "hue": 0.1, "pca_noise": 0.1},
    {"inter_method": 9, "rand_crop": 1, "min_object_covered": [0.1, 0.2], "max_attempts": 3},
    {"resize": 9, "rand_crop": 0.5, "rand_pad": 0.5, "rand_mirror": True, "rand_gray": 0.5, "pca_noise": 0.5},
]


@case(given=list(range(len(_DETECTION))))
def created_for_detection(mx, given):
    return [each.dumps() for each in mx.image.CreateDetAugmenter((3, 4, 5), **_DETECTION[given])]


_CROPS = [
    {},
    {"min_object_covered": [0.1, 0.2, 0.3], "skip_prob": 0.5, "max_attempts": [1, 2, 3]},
    {"min_object_covered": [0.1, 0.2], "max_attempts": [1, 2, 3]},
    {"area_range": [(0.1, 0.5), (0.5, 1.0)]},
]


@case(given=list(range(len(_CROPS))))
def created_crops(mx, given):
    made = mx.image.CreateMultiRandCropAugmenter(**_CROPS[given])
    return [made.dumps(), made.skip_prob, len(made.aug_list)]


_OBJECTS = np.array([[0, 0.1, 0.2, 0.5, 0.6], [1, 0.3, 0.3, 0.9, 0.8]])


@case(p=[0.0, 1.0])
def detection_flip(mx, p):
    return mx.image.DetHorizontalFlipAug(p)(_image(mx), _OBJECTS.copy())


@case(skip=[0.0, 1.0], several=[True, False])
def detection_select(mx, skip, several):
    flip = mx.image.DetHorizontalFlipAug(1.0)
    made = mx.image.DetRandomSelectAug([flip, flip] if several else flip, skip)
    return [made.dumps(), *made(_image(mx), _OBJECTS.copy())]


@case
def detection_borrow(mx):
    made = mx.image.DetBorrowAug(mx.image.CastAug())
    return [made.dumps(), *made(_image(mx), _OBJECTS)]


@case(kind=["borrow", "select"])
def detection_of_no_augmenter(mx, kind):
    return mx.image.DetBorrowAug(3) if kind == "borrow" else mx.image.DetRandomSelectAug([3])


@case
def detection_crop(mx):
    crop = mx.image.DetRandomCropAug(0.1, (0.75, 1.33), (0.2, 1.0))
    got = []
    for _ in range(8):
        image, objects = crop(_image(mx, 40, 60, 3), _OBJECTS.copy())
        rows, columns, channels = image.shape
        inside = bool((objects[:, 1:] >= 0).all() and (objects[:, 1:] <= 1).all())
        got += [
            0 < rows <= 40,
            0 < columns <= 60,
            channels,
            rows * columns >= 0.18 * 2400,
            1 <= len(objects) <= 2,
            inside,
        ]
    return got


@case
def detection_pad(mx):
    pad = mx.image.DetRandomPadAug(area_range=(1.5, 3.0), pad_val=(1, 2, 3))
    got = []
    for _ in range(8):
        image, objects = pad(_image(mx, 40, 60, 3), _OBJECTS.copy())
        rows, columns, _ = image.shape
        size = (objects[:, 3] - objects[:, 1]) * columns
        got += [rows >= 40, columns >= 60, rows * columns < 3.2 * 2400, size, objects[:, 0]]
    return got


@case(kind=["crop", "pad"], ratios=[(0.75, 1.33), (1, 1), (0.5, 2)], areas=["all", "some"])
def detection_sizes(mx, kind, ratios, areas):
    """Heights are evenly distributed, of the same numbers of `random`."""
    if kind == "crop":
        made = mx.image.DetRandomCropAug(0.1, ratios, {"all": (0.05, 1.0), "some": (0.3, 0.7)}[areas])
    else:
        made = mx.image.DetRandomPadAug(ratios, {"all": (1.0, 3.0), "some": (1.6, 2.0)}[areas])
    image = mx.nd.zeros((300, 400, 3), dtype="uint8")
    random.seed(4)
    return [[list(each.shape), objects] for each, objects in (made(image, _OBJECTS.copy()) for _ in range(40))]


@case(kind=["DetRandomCropAug", "DetRandomPadAug"])
def detection_ranges_of_one_number(mx, kind):
    made = getattr(mx.image, kind)(aspect_ratio_range=1.0, area_range=2.0)
    return [made.dumps(), made.area_range, made.aspect_ratio_range, made.enabled]
