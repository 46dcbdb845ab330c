"""Images: to tensors, normalised, cut, flipped."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []

_PIXELS = ("int", 0, 99)
_DTYPES = (("float32", "real"), ("float64", "real"), ("float16", "real"), ("uint8", ("int", 0, 255)),
           ("int8", ("int", -99, 99)), ("int32", _PIXELS), ("int64", _PIXELS))  # fmt: skip


def refused(op: str, params: dict, channels: bool = True) -> list:
    """What every operator of one image refuses."""
    rows = {"two-axes": In((4, 3)), "four-axes": In((2, 4, 4, 3)), "bool": In((2, 2, 3), "bool", "bool")}
    if channels:
        rows["two-channels"] = In((4, 4, 2))
    cases = [Case(op, label, (given,), params, error=True) for label, given in rows.items()]
    return [*cases, Case(op, "no-input", (), params, error=True),
            Case(op, "0-axes", (In(()),), params, error=True, np_shape=True)]  # fmt: skip


# ---- to_tensor ----


def _tensor(data: np.ndarray) -> np.ndarray:
    return (np.moveaxis(data, -1, -3).astype("float32") / np.float32(255)).astype("float32")


_op = "_image_to_tensor"
for _dtype, _domain in _DTYPES:
    CASES.append(Case(_op, _dtype, (In((4, 5, 3), _dtype, _domain),), {}, _tensor,
                      tolerance={"float32": (1e-3, 1e-6)} if _dtype == "float16" else {}))  # fmt: skip
CASES += [
    Case(_op, "batch", (In((2, 3, 4, 3)),), {}, _tensor),
    Case(_op, "plain", (In((3, 2, 3)),), {}, _tensor),
    Case(_op, "gray", (In((5, 3, 1)),), {}, _tensor),
    Case(_op, "five-channels", (In((2, 3, 5)),), {}, _tensor),
    Case(_op, "large", (In((37, 61, 3), "uint8", ("int", 0, 255)),), {}, _tensor),
    Case(_op, "special-numbers", (In(values=[[[0.0, -0.0, np.inf], [-np.inf, np.nan, 3e38]]]),), {}),
    Case(_op, "empty", (In((0, 2, 3)),), {}, _tensor, np_shape=True),
    Case(_op, "empty-batch", (In((0, 2, 2, 3)),), {}, _tensor, np_shape=True),
    Case(_op, "one-axis", (In((3,)),), {}, error=True),
    Case(_op, "five-axes", (In((1, 2, 2, 2, 3)),), {}, error=True),
    *(case for case in refused(_op, {}, False) if case.label != "four-axes"),
]

# ---- normalize ----


def _normalize(data: np.ndarray, mean, std) -> np.ndarray:
    numbers = [np.float32(each).reshape(-1, 1, 1) for each in (mean, std)]
    if data.dtype == np.float64:
        numbers = [each.astype("float64") for each in numbers]
    wide = data if data.dtype == np.float64 else data.astype("float32")
    result = (wide - numbers[0]) / numbers[1]
    return result.astype("int32").astype(data.dtype) if data.dtype.kind in "iu" else result.astype(data.dtype)


_op = "_image_normalize"
_ONE, _THREE = {"mean": 0.5, "std": 0.25}, {"mean": (0.5, 1.5, -1.0), "std": (2.0, 0.7, 3.0)}
for _dtype, _domain in _DTYPES:
    CASES.append(Case(_op, _dtype, (In((3, 4, 5), _dtype, _domain),), _THREE, _normalize))
for _label, _shape, _params in (
    ("one", (3, 4, 5), _ONE), ("three", (3, 2, 3), _THREE), ("batch", (2, 3, 2, 3), _THREE),
    ("gray", (1, 4, 5), _ONE), ("gray-batch", (2, 1, 4, 5), _ONE), ("one-mean", (3, 2, 3), {**_THREE, "mean": 2.0}),
    ("one-std", (3, 2, 3), {**_THREE, "std": (2.0,)}), ("large", (3, 37, 61), _THREE),
):  # fmt: skip
    CASES.append(Case(_op, _label, (In(_shape),), _params, _normalize, order=2, diff=(0,)))
CASES += [
    Case(_op, "special-numbers", (In(values=np.reshape([0.0, np.inf, np.nan], (3, 1, 1))),), {"mean": 0.0, "std": 0.0}),
    Case(_op, "negative-result", (In((3, 2, 2), "uint8", ("int", 0, 9)),), {"mean": 5.0, "std": 1.0}, _normalize),
    Case(_op, "empty", (In((3, 0, 2)),), _ONE, _normalize, np_shape=True),
    Case(_op, "default", (In((3, 2, 2)),), {}, error=True),
    Case(_op, "two-means", (In((3, 2, 2)),), {**_THREE, "mean": (1.0, 2.0)}, error=True),
    Case(_op, "four-stds", (In((3, 2, 2)),), {**_THREE, "std": (1.0, 2.0, 3.0, 4.0)}, error=True),
    Case(_op, "three-for-gray", (In((1, 2, 2)),), _THREE, error=True),
    Case(_op, "no-means", (In((3, 2, 2)),), {**_THREE, "mean": ()}, error=True),
    Case(_op, "two-channels", (In((2, 2, 2)),), _ONE, error=True),
    Case(_op, "two-axes", (In((3, 2)),), _ONE, error=True),
    Case(_op, "five-axes", (In((1, 2, 3, 2, 2)),), _ONE, error=True),
    Case(_op, "bool", (In((3, 2, 2), "bool", "bool"),), _ONE, error=True),
    Case(_op, "0-axes", (In(()),), _ONE, error=True, np_shape=True),
]

# ---- crop ----


def _crop(data: np.ndarray, x: int, y: int, width: int, height: int) -> np.ndarray:
    return data[..., y : y + height, x : x + width, :]


_op = "_image_crop"
_PART = {"x": 1, "y": 2, "width": 3, "height": 2}
for _dtype, _domain in _DTYPES:
    CASES.append(Case(_op, _dtype, (In((5, 6, 3), _dtype, _domain),), _PART, _crop))
for _label, _shape, _params in (
    ("part", (5, 6, 3), _PART), ("batch", (2, 5, 6, 3), _PART), ("gray", (5, 6, 1), _PART),
    ("all", (2, 3, 3), {"x": 0, "y": 0, "width": 3, "height": 2}),
    ("corner", (4, 3, 3), {"x": 2, "y": 3, "width": 1, "height": 1}),
):  # fmt: skip
    CASES.append(Case(_op, _label, (In(_shape),), _params, _crop, order=2, diff=(0,)))
for _dtype in ("float32", "int64"):
    _extremes = [0.0, np.inf, -0.0, np.nan] if _dtype == "float32" else [2**63 - 1, -(2**63), 0, 1]
    CASES.append(Case(_op, f"special-{_dtype}", (In(dtype=_dtype, values=np.reshape(_extremes, (2, 2, 1))),),
                      {"x": 0, "y": 0, "width": 2, "height": 2}))  # fmt: skip
_BEYOND = "differs: 1.9.1 reads before the image"
CASES += [
    Case(_op, "bool", (In((5, 6, 3), "bool", "bool"),), _PART, _crop, oracle="differs: 1.9.1 does not take bool"),
    Case(_op, "empty-batch", (In((0, 5, 6, 3)),), _PART, _crop, np_shape=True),
    Case(_op, "x-negative", (In((5, 6, 3)),), {**_PART, "x": -1}, error=True, oracle=_BEYOND),
    Case(_op, "y-negative", (In((5, 6, 3)),), {**_PART, "y": -1}, error=True, oracle=_BEYOND),
    Case(_op, "x-beyond", (In((5, 6, 3)),), {**_PART, "x": 4}, error=True),
    Case(_op, "y-beyond", (In((5, 6, 3)),), {**_PART, "y": 4}, error=True),
    Case(_op, "no-width", (In((5, 6, 3)),), {**_PART, "width": 0}, error=True),
    Case(_op, "no-height", (In((5, 6, 3)),), {**_PART, "height": 0}, error=True),
    Case(_op, "huge", (In((5, 6, 3)),), {**_PART, "width": 2147483647}, error=True,
         oracle="skip: 1.9.1's sum overflows"),
    Case(_op, "two-axes", (In((5, 6)),), _PART, error=True),
    Case(_op, "two-channels", (In((5, 6, 2)),), _PART, error=True),
    Case(_op, "missing", (In((5, 6, 3)),), {"x": 1, "y": 2, "width": 3}, error=True),
    Case(_op, "0-axes", (In(()),), _PART, error=True, np_shape=True),
]  # fmt: skip

# ---- flips ----

_MIDDLE = "differs: 1.9.1 loses the middle of an odd number of columns or rows"
_STRAIGHT = "forward: 1.9.1 does not flip the gradient"


def _either(axis: int):
    """The check of a random flip."""

    def check(outputs, inputs, _params) -> str:
        fits = any(np.array_equal(outputs[0], each) for each in (inputs[0], np.flip(inputs[0], axis)))
        return "" if fits else "is neither the image nor its mirror image"

    return check


for _name, _axis in (("left_right", 1), ("top_bottom", 0)):
    _op, _turn = f"_image_flip_{_name}", lambda data, axis=_axis: np.flip(data, axis)
    for _dtype, _domain in _DTYPES:
        CASES.append(Case(_op, _dtype, (In((4, 6, 3), _dtype, _domain),), {}, _turn))
    for _dtype in ("float32", "int64"):
        _extremes = [0.0, np.inf, -0.0, np.nan] if _dtype == "float32" else [2**63 - 1, -(2**63), 0, 1]
        CASES.append(Case(_op, f"special-{_dtype}", (In(dtype=_dtype, values=np.reshape(_extremes, (2, 2, 1))),), {}))
    CASES += [
        Case(_op, "gradient", (In((4, 2, 3)),), {}, _turn, order=2, diff=(0,), oracle=_STRAIGHT),
        Case(_op, "gray", (In((2, 4, 1)),), {}, _turn, order=2, diff=(0,), oracle=_STRAIGHT),
        Case(_op, "odd", (In((5, 7, 3)),), {}, _turn, order=2, diff=(0,), oracle=_MIDDLE),
        Case(_op, "out", (In((4, 6, 3)),), {}, _turn, out=(((4, 6, 3), "float32"),)),
        Case(_op, "empty", (In((0, 2, 3)),), {}, _turn, np_shape=True),
        *(case for case in refused(_op, {}) if case.label != "bool"),
        Case(_op, "bool", (In((2, 2, 3), "bool", "bool"),), {}, _turn, oracle="differs: 1.9.1 does not take bool"),
    ]
    _op, _check = f"_image_random_flip_{_name}", _either(_axis)
    for _dtype, _domain in _DTYPES:
        CASES.append(Case(_op, _dtype, (In((4, 6, 3), _dtype, _domain),), {}, random=True, check=_check))
    CASES += [
        Case(_op, "gray", (In((4, 6, 1)),), {}, random=True, check=_check),
        Case(_op, "empty", (In((0, 2, 3)),), {}, random=True, check=_check, np_shape=True),
        *refused(_op, {}),
    ]
