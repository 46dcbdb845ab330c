"""Operators that graphs for training alone have: fast convolutions, and normalisations with what follows them."""

from __future__ import annotations

from dataclasses import replace

from .._case import Case, In
from . import convolution, normalise

INTERNAL: list = []

# ---- convolutions ----

#: Small ones have the bits of Convolution, and its rows.
_FAST = {"Convolution": "_mxl_fast_convolution", "_mxl_conv_x": "_mxl_fast_conv_x", "_mxl_conv_w": "_mxl_fast_conv_w"}
_LABELS = ("image", "rest", "size", "few-sizes", "weight", "number", "y", "batch")
INTERNAL += [
    replace(case, op=_FAST[case.op]) for case in convolution.INTERNAL if case.op in _FAST and case.label in _LABELS
]
#: Of tiles of 6 x 6 the largest error is 2e-5 of the largest result.
_TILES = {"float32": (1e-4, 1e-3)}
#: Those by the weights are sums over all images, up to 200.
_SUMS = {"float32": (1e-4, 4e-3)}
#: label -> batch, channels, filters, sides, kernel, pad, groups
_LARGE = {
    "even": (8, 32, 32, (32, 32), 3, 1, 1), "odd": (9, 48, 40, (13, 17), 3, 1, 1),
    "no-pad": (8, 33, 65, (19, 14), 3, 0, 1), "wide-pad": (8, 32, 64, (11, 18), 3, 2, 1),
    "groups": (8, 64, 128, (16, 15), 3, 1, 2), "one-tile": (96, 64, 64, (4, 4), 3, 1, 1),
    "five": (32, 24, 48, (12, 12), 5, 0, 1), "five-padded": (16, 32, 64, (9, 15), 5, 2, 1),
    "line": (8, 64, 64, (2, 90), 3, 1, 1),
}  # fmt: skip
for _label, (_batch, _channels, _filters, _sides, _size, _pad, _groups) in _LARGE.items():
    _out = tuple(side + 2 * _pad - _size + 1 for side in _sides)
    _x, _y = In((_batch, _channels, *_sides)), In((_batch, _filters, *_out))
    _w = In((_filters, _channels // _groups, _size, _size), domain="unit")
    _window = {"kernel": (_size, _size), "pad": (_pad, _pad), "num_group": _groups}
    _all = {**_window, "num_filter": _filters}
    INTERNAL += [
        Case("_mxl_fast_convolution", _label, (_x, _w, In((_filters,))), _all, convolution._convolve, tolerance=_TILES),
        Case("_mxl_fast_conv_x", _label, (_y, _w), {**_window, "size": _sides}, convolution._by_data, tolerance=_TILES),
        Case("_mxl_fast_conv_w", _label, (_x, _y), _window, convolution._by_weight, tolerance=_SUMS),
    ]
for _label, _params in {
    "plain": {},
    "grouped": {"num_group": 2},
    "stepped": {"stride": (2, 1), "dilate": (1, 2)},
}.items():
    _all = {"kernel": (3, 2), "num_filter": 4, "pad": (1, 1), **_params}
    _in = (In((2, 4, 7, 6)), In((4, 4 // _all.get("num_group", 1), 3, 2)), In((4,)))  # type: ignore[call-overload]
    INTERNAL.append(
        Case(
            "_mxl_fast_convolution", _label, _in, _all, convolution._convolve, 2, (0, 1, 2), tolerance=convolution._NEAR
        )
    )
INTERNAL += [
    Case("_mxl_fast_convolution", "no-images", (In((0, 2, 5, 5)), In((3, 2, 3, 3))),
         {"kernel": (3, 3), "num_filter": 3, "no_bias": True}, convolution._convolve, np_shape=True),
    Case("_mxl_fast_convolution", "channels", (In((2, 3, 5, 5)), In((3, 2, 3, 3))),
         {"kernel": (3, 3), "num_filter": 3, "no_bias": True}, error=True),
    Case("_mxl_fast_convolution", "layout", (In((2, 2, 5, 5)), In((3, 2, 3, 3))),
         {"kernel": (3, 3), "num_filter": 3, "no_bias": True, "layout": "NHWC"}, error=True),
]  # fmt: skip

# ---- normalisations ----


for _label in ("batch", "series", "image", "wide", "image-last", "axis-0", "one-channel", "one-example"):
    _shape, _axis = normalise._SHAPES[_label]
    for _fixed, _global, _train, _dtype in (
        (0, 0, 1, "float32"), (0, 0, 0, "float32"), (1, 0, 1, "float32"), (0, 1, 1, "float32"), (0, 0, 1, "float64"),
        (0, 0, 1, "float16"),
    ):  # fmt: skip
        _params = {"fix_gamma": bool(_fixed), "use_global_stats": bool(_global), "axis": _axis}
        _words = ["fixed"] * _fixed + ["global"] * _global + ["predict"] * (not _train)
        INTERNAL.append(
            Case("_mxl_batch_norm_cut", "-".join([_label, _dtype, *_words]),
                 normalise._channels(_shape, _axis, _dtype, ones=bool(_fixed)), _params,
                 normalise._batch(bool(_train), True), 2, (0, 1, 2), train=bool(_train), tolerance=normalise._NEAR,
                 updates=() if _global else (3, 4))
        )  # fmt: skip
#: Those whose kernel has relu in its pass: channels of 128 neighbours and more.
_LONG = {"runs": (2, 3, 8, 20), "odd-runs": (3, 2, 7, 19), "long": (3, 2, 2501), "one-channel-long": (2, 1, 130)}
INTERNAL += [
    Case("_mxl_batch_norm_cut", f"{_label}-{'-'.join(_params)}", normalise._channels(_shape, 1), _params,
         normalise._batch(True, True), train=True, order=1, diff=(0, 1, 2), tolerance={"float32": (2e-4, 2e-4)},
         updates=() if "use_global_stats" in _params else (3, 4))
    for _label, _shape in _LONG.items()
    for _params in ({"fix_gamma": False}, {"fix_gamma": False, "use_global_stats": True})
    if _label != "long" or len(_params) == 1
]  # fmt: skip
INTERNAL += [
    Case("_mxl_batch_norm_cut", "no-examples", normalise._channels((0, 3, 2), 1, ones=True), {}, lambda x, *_, **__: x,
         np_shape=True),
    Case("_mxl_batch_norm_cut", "three-inputs", normalise._channels((3, 2, 40), 1)[:3], {}, error=True),
    Case("_mxl_batch_norm_cut", "one-too-many", (*normalise._channels((3, 2, 40), 1), In((3, 2, 40))), {}, error=True),
]  # fmt: skip
