"""Images in another size. Of uint8, 1.9.1's rounding is the definition; float rows have the sums themselves."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .image import refused

CASES: list = []

NEAREST, LINEAR, CUBIC, AREA, LANCZOS, EXACT = range(6)


def _cubic(t: np.ndarray) -> np.ndarray:
    near, far = (1.25 * t - 2.25) * t * t + 1, ((-0.75 * t + 3.75) * t - 6) * t + 3
    return np.where(t <= 1, near, np.where(t < 2, far, 0))


def _lanczos(t: np.ndarray) -> np.ndarray:
    return np.where(t < 4, np.sinc(t) * np.sinc(t / 4), 0)


def _matrix(size: int, result: int, how: int, average: bool) -> np.ndarray:
    """The weight of each position of the image in each of the result."""
    scale, into, every = size / result, np.zeros((result, size)), np.arange(-8, size + 8)
    for i in range(result):
        place = (i + 0.5) * scale - 0.5
        if how == NEAREST:
            into[i, int(i * scale)] = 1
            continue
        if average:
            weight = np.clip(np.minimum((i + 1) * scale, every + 1) - np.maximum(i * scale, every), 0, None)
        elif how == AREA:
            first = int(np.floor(i * scale))
            share = max(i + 1 - (first + 1) / scale, 0) % 1
            weight = (every == first) * (1 - share) + (every == first + 1) * share
        elif how in (LINEAR, EXACT):
            weight = np.clip(1 - np.abs(every - place), 0, None)
        else:
            weight = (_cubic if how == CUBIC else _lanczos)(np.abs(every - place))
        np.add.at(into[i], every.clip(0, size - 1), weight / weight.sum())
    return into


def _resize(data: np.ndarray, size, keep_ratio: bool = False, interp: int = LINEAR) -> np.ndarray:
    height, width = data.shape[-3:-1]
    columns, rows = (size, size) if isinstance(size, int) or len(size) == 1 else size
    if not isinstance(columns, int):
        columns, rows = size[0], size[0]
    if keep_ratio and (isinstance(size, int) or len(size) == 1):
        columns, rows = (columns, rows * height // width) if height > width else (columns * width // height, rows)
    average = interp == AREA and height >= rows and width >= columns
    down, across = _matrix(height, rows, interp, average), _matrix(width, columns, interp, average)
    return np.einsum("yh,...hwc,xw->...yxc", down, data.astype("float64"), across).astype(data.dtype)


_op = "_image_resize"
_CLOSE = {"float32": (1e-4, 1e-5), "float64": (1e-5, 1e-6)}
_BACK = "forward: 1.9.1's gradient fails"
for _label, _interp in {"nearest": 0, "linear": 1, "cubic": 2, "area": 3, "lanczos": 4, "exact": 5}.items():
    for _how, _size in {"up": (7, 9), "down": (3, 2), "wide": (9, 3), "tall": (2, 8), "half": (3, 2)}.items():
        _shape, _params = (4, 6, 3) if _how == "half" else (5, 6, 2), {"size": _size, "interp": _interp}
        CASES.append(Case(_op, f"{_label}-{_how}", (In(_shape),), _params, _resize, order=2, diff=(0,),
                          tolerance=_CLOSE, oracle=_BACK))  # fmt: skip
        CASES.append(Case(_op, f"{_label}-{_how}-uint8", (In(_shape, "uint8", ("int", 0, 255)),), _params))
    CASES.append(Case(_op, f"{_label}-float64", (In((5, 6, 1), "float64"),), {"size": (4, 7), "interp": _interp},
                      _resize, tolerance=_CLOSE))  # fmt: skip
CASES += [
    Case(_op, "area-thirds-uint8", (In((6, 36, 3), "uint8", ("int", 0, 255)),), {"size": (12, 3), "interp": 3}),
    Case(_op, "float64", (In((5, 6, 3), "float64"),), {"size": (4, 7)}, _resize, tolerance=_CLOSE),
    Case(_op, "batch", (In((2, 3, 4, 3)),), {"size": (5, 2)}, _resize, order=2, diff=(0,), tolerance=_CLOSE,
         oracle=_BACK),
    Case(_op, "one-number", (In((4, 8, 3)),), {"size": 3}, _resize, tolerance=_CLOSE),
    Case(_op, "one-number-list", (In((4, 8, 3)),), {"size": (3,)}, _resize, tolerance=_CLOSE),
    Case(_op, "keep-wide", (In((4, 8, 3)),), {"size": 3, "keep_ratio": True}, _resize, tolerance=_CLOSE),
    Case(_op, "keep-tall", (In((8, 5, 3)),), {"size": 3, "keep_ratio": True}, _resize, tolerance=_CLOSE),
    Case(_op, "keep-square", (In((5, 5, 3)),), {"size": 3, "keep_ratio": True}, _resize, tolerance=_CLOSE),
    Case(_op, "keep-two-numbers", (In((8, 5, 3)),), {"size": (3, 4), "keep_ratio": True}, _resize, tolerance=_CLOSE),
    Case(_op, "same", (In((4, 5, 3)),), {"size": (5, 4)}, _resize, tolerance=_CLOSE),
    Case(_op, "one-pixel", (In((1, 1, 3)),), {"size": (3, 2)}, _resize, order=2, diff=(0,), tolerance=_CLOSE,
         oracle=_BACK),
    Case(_op, "to-one-pixel", (In((4, 5, 3)),), {"size": 1}, _resize, tolerance=_CLOSE),
    Case(_op, "five-channels", (In((4, 5, 5)),), {"size": (2, 3)}, _resize, tolerance=_CLOSE),
    Case(_op, "large", (In((61, 83, 3), "uint8", ("int", 0, 255)),), {"size": (47, 111)}),
    Case(_op, "special-numbers", (In(values=np.reshape([0.0, 1.0, np.inf, np.nan, 2.0, 3.0, 4.0, 5.0], (2, 4, 1))),),
         {"size": (4, 4), "interp": 0}),
    Case(_op, "empty-batch", (In((0, 4, 5, 3)),), {"size": (2, 3)},
         lambda data, size: np.zeros((0, 3, 2, 3), "float32"),
         np_shape=True),
    Case(_op, "no-pixels", (In((0, 5, 3)),), {"size": (2, 3)}, error=True, np_shape=True,
         oracle="skip: 1.9.1 fails when the result is read"),
    Case(_op, "no-size", (In((4, 5, 3)),), {}, error=True),
    Case(_op, "three-sizes", (In((4, 5, 3)),), {"size": (1, 2, 3)}, error=True),
    Case(_op, "size-zero", (In((4, 5, 3)),), {"size": 0}, error=True),
    Case(_op, "width-zero", (In((4, 5, 3)),), {"size": (0, 1)}, error=True),
    Case(_op, "height-negative", (In((4, 5, 3)),), {"size": (3, -1)}, error=True),
    Case(_op, "interp-negative", (In((4, 5, 3)),), {"size": 2, "interp": -1}, error=True),
    Case(_op, "interp-six", (In((4, 5, 3)),), {"size": 2, "interp": 6}, error=True),
    Case(_op, "float16", (In((4, 5, 3), "float16"),), {"size": 2}, error=True),
    Case(_op, "int32", (In((4, 5, 3), "int32", ("int", 0, 9)),), {"size": 2}, error=True),
    Case(_op, "int8", (In((4, 5, 3), "int8", ("int", 0, 9)),), {"size": 2}, error=True,
         oracle="skip: 1.9.1 takes them for uint8, or fails"),
    Case(_op, "int64", (In((4, 5, 3), "int64", ("int", 0, 9)),), {"size": 2}, error=True,
         oracle="skip: 1.9.1 answers what lay in memory"),
    *(case for case in refused(_op, {"size": 2}, False) if case.label not in ("four-axes", "bool")),
    Case(_op, "bool", (In((2, 2, 3), "bool", "bool"),), {"size": 2}, error=True, oracle="skip: the process ends"),
]  # fmt: skip
