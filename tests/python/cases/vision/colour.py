"""Images with their colours changed, by random factors or given ones.

With equal least and largest factors an operator is not random. Its gradient is the one that arrives, as in 1.9.1.
"""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .image import refused

CASES: list = []

_CLOSE = {"float32": (1e-4, 1e-3), "float64": (1e-4, 1e-3), "float16": (2e-2, 2e-1)}
_DTYPES = (("float32", "positive"), ("float64", "positive"), ("uint8", ("int", 0, 255)), ("int8", ("int", -99, 99)),
           ("int32", ("int", 0, 200)))  # fmt: skip
_GRAY = np.array([0.299, 0.587, 0.114])


def _cut(wide: np.ndarray, data: np.ndarray) -> np.ndarray:
    if data.dtype == np.uint8:
        wide = wide.clip(0, 255)
    return wide.astype("int32").astype(data.dtype) if data.dtype.kind in "iu" else wide.astype(data.dtype)


def _brightness(data: np.ndarray, factor: float) -> np.ndarray:
    return data.astype("float32") * np.float32(factor)


def _contrast(data: np.ndarray, factor: float) -> np.ndarray:
    wide = data.astype("float64")
    gray = wide.mean() if data.shape[2] == 1 else (wide.mean((0, 1)) * _GRAY).sum()
    return wide * factor + (1 - factor) * gray


def _saturation(data: np.ndarray, factor: float) -> np.ndarray:
    wide = data.astype("float64")
    return wide if data.shape[2] == 1 else wide * factor + (1 - factor) * 0.114 * wide[..., 2:]


def _hue(data: np.ndarray, factor: float) -> np.ndarray:
    wide = data.astype("float64")
    least, span = wide.min(-1), np.ptp(wide, -1)
    red, green, blue = np.moveaxis(wide, -1, 0)
    sector = np.choose(wide.argmax(-1), [green - blue, blue - red, red - green]) / span + 2 * wide.argmax(-1)
    away = np.abs((sector + 6 * factor)[..., None] - [0, 2, 4]) % 6
    part = (2 - np.minimum(away, 6 - away)).clip(0, 1)
    return least[..., None] + span[..., None] * part


_ASPECTS = {"brightness": _brightness, "contrast": _contrast, "saturation": _saturation, "hue": _hue}


def _with(change):
    return lambda data, min_factor, max_factor: _cut(change(data, min_factor), data)


def _between(change):
    """The check of a random factor, found from brightness alone: results lie between those of the least and largest."""

    def check(outputs, inputs, params) -> str:
        low, high = (change(inputs[0], params[each]).astype("float64") for each in ("min_factor", "max_factor"))
        slack = 1 if inputs[0].dtype.kind in "iu" else 1e-3
        if inputs[0].dtype == np.uint8:
            low, high = low.clip(0, 255), high.clip(0, 255)
        fits = (outputs[0] >= np.minimum(low, high) - slack) & (outputs[0] <= np.maximum(low, high) + slack)
        return "" if fits.all() and outputs[0].dtype == inputs[0].dtype else "is not between the extremes"

    return check


def _shaped(outputs, inputs, _params) -> str:
    same = outputs[0].dtype == inputs[0].dtype and outputs[0].shape == inputs[0].shape
    return "" if same and np.isfinite(outputs[0].astype("float64")).all() else "is not like the image"


for _name, _change in _ASPECTS.items():
    _op, _same = f"_image_random_{_name}", {"min_factor": 0.5, "max_factor": 0.5}
    _range, _check = {"min_factor": 0.25, "max_factor": 1.5}, _between(_change) if _name != "hue" else _shaped
    for _dtype, _domain in _DTYPES:
        _given = (In((5, 4, 3), _dtype, _domain),)
        if _dtype.startswith("float") or _name == "brightness":
            CASES.append(Case(_op, _dtype, _given, _same, _with(_change), tolerance=_CLOSE))
        CASES.append(Case(_op, f"{_dtype}-range", _given, _range, random=True, check=_check))
    for _factor in (0.0, 0.3, 1.0, 2.0):
        CASES.append(Case(_op, f"factor-{_factor}", (In((4, 3, 3), "float32", "positive"),),
                          {"min_factor": _factor, "max_factor": _factor}, _with(_change), tolerance=_CLOSE, diff=(0,),
                          defined=True))  # fmt: skip
    CASES += [
        Case(_op, "turned-range", (In((4, 3, 3), "float32", "positive"),), {"min_factor": 1.5, "max_factor": 0.25},
             random=True, check=_check),
        Case(_op, "large", (In((61, 37, 3), "float32", "positive"),), _same, _with(_change), tolerance=_CLOSE),
        Case(_op, "negative-min", (In((2, 2, 3)),), {"min_factor": -0.5, "max_factor": 0.5}, error=True),
        Case(_op, "negative-max", (In((2, 2, 3)),), {"min_factor": 0.5, "max_factor": -0.5}, error=True),
        Case(_op, "no-factors", (In((2, 2, 3)),), {}, error=True),
        Case(_op, "empty", (In((0, 2, 3)),), _same, lambda data, **_: data, np_shape=True),
        *refused(_op, _same),
    ]  # fmt: skip
    _gray = lambda data, min_factor, max_factor, name=_name: (  # noqa: E731
        data if name == "hue" else _cut(_ASPECTS[name](data, min_factor), data)
    )
    CASES.append(Case(_op, "gray", (In((4, 3, 1), "float32", "positive"),), _same, _gray, tolerance=_CLOSE,
                      oracle="differs: 1.9.1 reads channels that are not there" if _name == "hue" else ""))  # fmt: skip
CASES.append(Case("_image_random_hue", "no-colour", (In(values=np.full((2, 2, 3), 30.0)),),
                  {"min_factor": 0.3, "max_factor": 0.3}, lambda data, **_: data))  # fmt: skip

# ---- color_jitter ----

_op = "_image_random_color_jitter"
_NONE = {"brightness": 0.0, "contrast": 0.0, "saturation": 0.0, "hue": 0.0}
for _dtype, _domain in _DTYPES:
    _all = {"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1}
    CASES.append(Case(_op, _dtype, (In((4, 3, 3), _dtype, _domain),), _all, random=True, check=_shaped))
CASES += [
    Case(_op, "none", (In((4, 3, 3)),), _NONE, lambda data, **_: data, diff=(0,), defined=True,
         oracle="skip: 1.9.1 answers what lay in memory"),
    Case(_op, "gray", (In((4, 3, 1), "float32", "positive"),), {**_NONE, "brightness": 0.5, "saturation": 0.5},
         random=True, check=_shaped),
    Case(_op, "empty", (In((0, 2, 3)),), {**_NONE, "brightness": 0.5}, random=True, check=_shaped, np_shape=True),
    Case(_op, "missing", (In((2, 2, 3)),), {"brightness": 0.5}, error=True),
    *(case for case in refused(_op, {**_NONE, "brightness": 0.5}) if case.label != "bool"),
    Case(_op, "bool", (In((2, 2, 3), "bool", "bool"),), _NONE, error=True, oracle="differs: 1.9.1 does nothing at all"),
]  # fmt: skip

# ---- lighting ----

_COMPONENTS = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])


def _light(data: np.ndarray, alpha: tuple) -> np.ndarray:
    return _cut(data + (_COMPONENTS * [55.46, 4.794, 1.148]) @ np.array(alpha[:3]), data)


_op, _ALPHA = "_image_adjust_lighting", {"alpha": (0.1, -0.2, 0.3)}
for _dtype, _domain in (("float32", "positive"), ("float64", "positive"), ("uint8", ("int", 0, 255))):
    CASES.append(Case(_op, _dtype, (In((4, 3, 3), _dtype, _domain),), _ALPHA, _light, tolerance=_CLOSE))
for _k in range(3):
    _unit = {"alpha": tuple(float(k == _k) for k in range(3))}
    CASES.append(
        Case(_op, f"component-{_k}", (In((2, 3, 3)),), _unit, _light, tolerance=_CLOSE, diff=(0,), defined=True)
    )
_SPECIAL = In(values=[[[0.0, np.inf, -np.inf], [np.nan, 3e38, -0.0]]])
CASES += [
    Case(_op, "four-numbers", (In((2, 2, 3)),), {"alpha": (0.1, 0.2, 0.3, 0.4)}, _light, tolerance=_CLOSE),
    Case(_op, "special-numbers", (_SPECIAL,), _ALPHA),
    Case(_op, "gray", (In((2, 2, 1)),), _ALPHA, lambda data, alpha: data,
         oracle="skip: 1.9.1 writes channels that are not there"),
    Case(_op, "empty", (In((0, 2, 3)),), _ALPHA, _light, np_shape=True),
    Case(_op, "two-numbers", (In((2, 2, 3)),), {"alpha": (0.1, 0.2)}, error=True),
    Case(_op, "one-number", (In((2, 2, 3)),), {"alpha": 0.1}, error=True),
    Case(_op, "no-numbers", (In((2, 2, 3)),), {}, error=True),
    *refused(_op, _ALPHA),
]  # fmt: skip

_op = "_image_random_lighting"
CASES += [
    Case(_op, "default", (In((4, 3, 3), "float32", "positive"),), {}, random=True, check=_shaped),
    Case(_op, "wide", (In((4, 3, 3), "uint8", ("int", 0, 255)),), {"alpha_std": 2.0}, random=True, check=_shaped),
    Case(_op, "none", (In((4, 3, 3)),), {"alpha_std": 0.0}, lambda data, alpha_std: data, diff=(0,), defined=True),
    Case(_op, "empty", (In((0, 2, 3)),), {}, random=True, check=_shaped, np_shape=True),
    Case(_op, "malformed", (In((2, 2, 3)),), {"alpha_std": "x"}, error=True),
    *refused(_op, {}),
]  # fmt: skip
