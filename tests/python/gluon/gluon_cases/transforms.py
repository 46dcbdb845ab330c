"""Cases of what changes images."""

from __future__ import annotations

from typing import Any

import numpy as np
from _case import case, summary


def _image(mx: Any, kind: str = "uint8") -> Any:
    """An image of 6 x 8: of uint8, or what ToTensor makes; "batch": two of uint8, "tensors": two of the latter."""
    values = np.random.randint(0, 255, (6, 8, 3))
    image = mx.nd.array(values, dtype="uint8")
    tensor = mx.nd.array(values.transpose(2, 0, 1) / 255)
    made = {"uint8": image, "float": tensor, "batch": mx.nd.stack(image, image), "tensors": mx.nd.stack(tensor, tensor)}
    return made[kind]


def _made(mx: Any, name: str, args: tuple, kind: str) -> Any:
    return getattr(mx.gluon.data.vision.transforms, name)(*args)(_image(mx, kind))


@case(kind=["uint8", "float", "batch"])
def to_tensor(mx, kind):
    return _made(mx, "ToTensor", (), kind)


@case(dtype=["float32", "float16", "int32", "uint8"], kind=["uint8", "batch"])
def cast(mx, dtype, kind):
    return summary(_made(mx, "Cast", (dtype,), kind))


@case(mean=[0.0, 0.5, (1, 2, 3), (1, 2)], std=[1.0, 2, (1, 2, 3)], kind=["float", "tensors", "uint8"])
def normalize(mx, mean, std, kind):
    return summary(_made(mx, "Normalize", (mean, std), kind))


@case(
    size=[4, 12, (4, 5), [4, 5], (9, 2), -1, "a"],
    keep=[True, False],
    interpolation=[0, 1],
    kind=["uint8", "batch"],
    atol=1.01,
)
def resize(mx, size, keep, interpolation, kind):
    return _made(mx, "Resize", (size, keep, interpolation), kind).shape


@case(size=[4, (4, 5), (9, 2)], interpolation=[0, 1])
def resize_values(mx, size, interpolation):
    return _made(mx, "Resize", (size, False, interpolation), "uint8")


@case(size=[1, 4, (4, 2), (8, 6), (8, 1)], interpolation=[0, 1])
def center_crop(mx, size, interpolation):
    return _made(mx, "CenterCrop", (size, interpolation), "uint8")


@case(size=[20, (20, 4), (3, 9)])
def center_crop_larger(mx, size):
    return _made(mx, "CenterCrop", (size, 0), "uint8").shape


@case(
    args=[(1, 2, 3, 4), (0, 0, 8, 6), (1, 2, 3, 4, (6, 6), 1), (1, 2, 3, 4, 6, 0), (1, 2, 3, 4, 6), (1, 2, 30, 4)],
    kind=["uint8", "batch"],
)
def crop_resize(mx, args, kind):
    return _made(mx, "CropResize", args, kind)


@case(degrees=[0, 30, -45, 90, 200.5], zoom=[(), (True,), (False, True), (True, True)], atol=1e-3)
def rotate(mx, degrees, zoom):
    return summary(_made(mx, "Rotate", (degrees, *zoom), "float"))


@case(kind=["uint8", "batch", "tensors"], atol=1e-3)
def rotate_kinds(mx, kind):
    return summary(_made(mx, "Rotate", (30,), kind))


@case(
    args=[((10, 10),), ((10, -10),), ((1, 2), False, False, 1.5), ((1, 2), False, False, -1), (10,), ((1, 2), 1, 1)],
)
def random_rotation_arguments(mx, args):
    return type(mx.gluon.data.vision.transforms.RandomRotation(*args)).__name__


@case(kind=["uint8", "float"], chance=[0, 1.0])
def random_rotation(mx, kind, chance):
    return list(_made(mx, "RandomRotation", ((-10, 10), False, False, chance), kind).shape)


@case(args=[(4,), ((4, 5),), ((4, 5), (1, 1), (1, 1)), ((4, 5), 0.5), (4, (5, 6))])
def random_resized_crop(mx, args):
    made = _made(mx, "RandomResizedCrop", args, "uint8")
    return [made.shape, made.dtype.__name__]


@case
def random_resized_crop_whole(mx):
    return _made(mx, "RandomResizedCrop", ((8, 6), (1, 1), (8 / 6, 8 / 6)), "uint8")


NONE = [("RandomBrightness", (0,)), ("RandomContrast", (0,)), ("RandomSaturation", (0,)), ("RandomLighting", (0,))]


@case(which=[name for name, _ in NONE], kind=["uint8", "float", "batch"])
def unchanged(mx, which, kind):
    return _made(mx, which, dict(NONE)[which], kind)


SHAPES = {
    "RandomBrightness": (0.5,),
    "RandomContrast": (2,),
    "RandomSaturation": (0.3,),
    "RandomHue": (0.1,),
    "RandomLighting": (-2,),
    "RandomColorJitter": (0.1, 0.2, 0.3, 0.4),
    "RandomFlipLeftRight": (),
    "RandomFlipTopBottom": (),
}


@case(which=list(SHAPES), kind=["uint8", "batch"])
def random_shapes(mx, which, kind):
    made = _made(mx, which, SHAPES[which], kind)
    return [made.shape, made.dtype.__name__]


@case(which=["RandomContrast", "RandomSaturation", "RandomHue", "RandomBrightness"], amount=[-2, "a", None])
def random_amounts(mx, which, amount):
    return _made(mx, which, (amount,), "uint8").shape


@case(which=["RandomFlipLeftRight", "RandomFlipTopBottom", "ToTensor"])
def too_many_arguments(mx, which):
    return _made(mx, which, (1,), "uint8")


@case(which=["RandomFlipLeftRight", "RandomFlipTopBottom"])
def flips(mx, which):
    image = _image(mx)
    flip = getattr(mx.gluon.data.vision.transforms, which)()
    axis = 1 if which == "RandomFlipLeftRight" else 0
    seen = {flip(image).asnumpy().tobytes() for _ in range(40)}
    return seen == {image.asnumpy().tobytes(), np.ascontiguousarray(np.flip(image.asnumpy(), axis)).tobytes()}


@case(chance=[0, 1])
def random_apply(mx, chance):
    transforms = mx.gluon.data.vision.transforms
    return summary(transforms.RandomApply(transforms.Cast(), chance)(_image(mx)))


@case(chance=[0, 1])
def random_apply_list(mx, chance):
    transforms = mx.gluon.data.vision.transforms
    return summary(transforms.RandomApply([transforms.Cast()], chance)(_image(mx)))


CHAINS = ["", "T", "TN", "RT", "RTN", "CTN", "TC", "CC", "RCT", "RTCTN"]


@case(chain=CHAINS)
def compose(mx, chain):
    transforms = mx.gluon.data.vision.transforms
    make = {
        "T": transforms.ToTensor,
        "N": lambda: transforms.Normalize(0.5, 0.2),
        "R": lambda: transforms.Resize(5, interpolation=0),
        "C": lambda: transforms.CenterCrop(3),
    }
    made = transforms.Compose([make[each]() for each in chain])
    return [repr(made), len(made), summary(made(_image(mx)))]


@case(which=["ToTensor", "Resize", "Cast"])
def no_array(mx, which):
    args = (4,) if which == "Resize" else ()
    return getattr(mx.gluon.data.vision.transforms, which)(*args)(np.ones((2, 2, 3), "uint8"))


@case
def names(mx):
    transforms = mx.gluon.data.vision.transforms
    return [each().name for each in (transforms.ToTensor, transforms.ToTensor, transforms.RandomFlipLeftRight)]
