"""Convolutions, their transposes, and pooling, in one to three dimensions; each family is one class and a table.

Type checkers read a stub in place of this file, which tools/make_pyi.py makes of the classes.
"""

from __future__ import annotations

from typing import Any

from mxlite._public import show
from mxlite.error import WrongTypeError, WrongValueError
from mxlite.gluon.nn._convolution import REQUIRED, ReflectionPad2D, _Conv, _Pooling, _sizes, made_class

_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def _per_dimension(value: int, dimensions: int) -> Any:
    return value if dimensions == 1 else (value,) * dimensions


def _require_layout(layout: str, known: tuple[str, ...], text: str) -> None:
    if layout not in known:
        raise WrongValueError(text)


_CONV_DOC = """A convolution in {n} dimension{s}{transposed}: input and output in `layout`.

    Args:
        channels: The output's channels.
        kernel_size, strides, padding, dilation{output_padding}: One number, or one for each dimension.
        groups: How many groups of channels see only each other.
        activation: The name of a function that is applied last, see Activation; None: none.
        in_channels: The input's channels; 0: the first batch tells.
    Raises: ValueError: another layout; TypeError: a kernel of other dimensions.
    """


def _conv(dimensions: int, transposed: bool) -> Any:
    layouts = _LAYOUTS[dimensions][: 1 if dimensions == 1 else 2]
    defaults = {"channels": REQUIRED, "kernel_size": REQUIRED, "strides": 1, "padding": 0}
    if transposed:
        defaults["output_padding"] = 0
    defaults["dilation"] = 1
    for name, value in defaults.items():
        if value is not REQUIRED:
            defaults[name] = _per_dimension(value, dimensions)
    defaults.update(groups=1, layout=layouts[0], activation=None, use_bias=True, weight_initializer=None)
    defaults.update(bias_initializer="zeros", in_channels=0)

    def arrange(given: dict[str, Any]) -> dict[str, Any]:
        _require_layout(given["layout"], layouts, f"Only supports {' and '.join(map(repr, layouts))} layout for now")
        for name in ("kernel_size", "output_padding"):
            if name in given:
                given[name] = _sizes(given[name], dimensions)
                if len(given[name]) != dimensions:
                    raise WrongTypeError(f"{name} is an int, or {dimensions} of them")
        if transposed:
            given.update(op_name="Deconvolution", adj=given.pop("output_padding"))
        return given

    return made_class(
        __name__,
        f"Conv{dimensions}D{'Transpose' * transposed}",
        _Conv,
        _CONV_DOC.format(
            n=dimensions,
            s="s" * (dimensions > 1),
            transposed=", transposed" * transposed,
            output_padding=", output_padding" * transposed,
        ),
        defaults,
        arrange,
    )


_POOL_DOC = """{What} of each window{whole} in {n} dimension{s}; input and output in `layout`."""


def _pool(dimensions: int, kind: str, whole: bool) -> Any:
    layouts = _LAYOUTS[dimensions]
    size = _per_dimension(2, dimensions)
    defaults: dict[str, Any] = {} if whole else {"pool_size": size, "strides": None, "padding": 0}
    layout_first = dimensions == 1 or (dimensions == 2 and kind == "max")
    last = {"layout": layouts[0], "ceil_mode": False} if layout_first else {"ceil_mode": False, "layout": layouts[0]}
    defaults.update({"layout": layouts[0]} if whole else last)
    if kind == "avg" and not whole:
        defaults["count_include_pad"] = True
    fixed = {"pool_size": (1,) * dimensions, "strides": None, "padding": 0, "ceil_mode": True} if whole else {}

    def arrange(given: dict[str, Any]) -> dict[str, Any]:
        text = f"pooling over {dimensions} dimensions: the layout is {' or '.join(layouts)}"
        _require_layout(given["layout"], layouts, text)
        given = {**fixed, **given, "global_pool": whole, "pool_type": kind}
        given["pool_size"] = _sizes(given["pool_size"], dimensions)
        if len(given["pool_size"]) != dimensions:
            raise WrongTypeError(f"pool_size is an int, or {dimensions} of them")
        return given

    doc = _POOL_DOC.format(
        What="The largest number" if kind == "max" else "The mean",
        whole=", which is all of it," * whole,
        n=dimensions,
        s="s" * (dimensions > 1),
    )
    return made_class(__name__, f"{'Global' * whole}{kind.title()}Pool{dimensions}D", _Pooling, doc, defaults, arrange)


Conv1D, Conv2D, Conv3D = (_conv(n, False) for n in (1, 2, 3))
Conv1DTranspose, Conv2DTranspose, Conv3DTranspose = (_conv(n, True) for n in (1, 2, 3))
MaxPool1D, MaxPool2D, MaxPool3D = (_pool(n, "max", False) for n in (1, 2, 3))
AvgPool1D, AvgPool2D, AvgPool3D = (_pool(n, "avg", False) for n in (1, 2, 3))
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = (_pool(n, "max", True) for n in (1, 2, 3))
GlobalAvgPool1D, GlobalAvgPool2D, GlobalAvgPool3D = (_pool(n, "avg", True) for n in (1, 2, 3))

__all__ = [
    "Conv1D",
    "Conv2D",
    "Conv3D",
    "Conv1DTranspose",
    "Conv2DTranspose",
    "Conv3DTranspose",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "ReflectionPad2D",
]

show(globals())
