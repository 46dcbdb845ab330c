"""Fourier transforms, random numbers and pictures of ONNX."""

from __future__ import annotations

import numpy as np

from mxlite import image
from mxlite.onnx._file import dtype_of
from mxlite.onnx._import.builder import FOLD_LIMIT, Builder
from mxlite.onnx._import.linalg import along
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.tensor import Tensor


def _transformed(g: Builder, x: Tensor, axis: int, size: int, inverse: bool, one_sided: bool) -> Tensor:
    """The discrete Fourier transform along an axis of (..., 1 or 2), by matrices."""
    length, parts = x.size_at(axis), x.size_at(-1)
    if length > size:
        x, length = g.slice(x, axis, 0, size), size
    if size > 1 << 13 or parts not in (1, 2):
        raise ValueError(f"a transform of length {size} of {parts} parts")
    to_real = inverse and one_sided
    rows = size // 2 + 1 if one_sided and not to_real else size
    if to_real:
        length = min(length, size // 2 + 1)
        x = g.slice(x, axis, 0, length)
    angle = 2 * np.pi * np.outer(np.arange(rows), np.arange(length)) / size * (1 if inverse else -1)
    scale = np.full(length, 1 / size if inverse else 1.0)
    if to_real:
        scale[1 : (size + 1) // 2] *= 2
    cos, sin = np.cos(angle) * scale, np.sin(angle) * scale
    last = x.rank - 1
    real = g.slice(x, last, 0, 1)
    made = [along(g, real, cos, axis), along(g, real, sin, axis)]
    if parts == 2:
        imaginary = g.slice(x, last, 1, 2)
        made = [g.sub(made[0], along(g, imaginary, sin, axis)), g.add(made[1], along(g, imaginary, cos, axis))]
    return made[0] if to_real else g.concat(made, last)


@reads("DFT")
def fourier(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    axis = node.axis("axis", 1, x.rank) if node.opset < 20 else -2
    if node.opset >= 20 and node.has(2):
        axis = int(node.input(2).scalar)
    axis = node.whole_axis(axis, x.rank)
    inverse, one_sided = bool(node.attr("inverse", 0)), bool(node.attr("onesided", 0))
    length = x.size_at(axis)
    if inverse and one_sided:
        length = 2 * (length - 1)
    size = int(node.input(1).scalar) if node.has(1) else length
    return _transformed(g, x, axis, size, inverse, one_sided)


@reads("STFT")
def short_time(g: Builder, node: Node) -> Tensor:
    x, step = node.input(0), int(node.input(1).scalar)
    window = node.optional(2)
    size = int(node.input(3).scalar) if node.has(3) else window.size_at(0) if window is not None else 0
    if not 0 < size <= x.size_at(1) or step < 1:
        raise node.refuse(f"frames of {size} by steps of {step}")
    count = (x.size_at(1) - size) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(size)[None]
    frames = g.op("take", x, g.constant(places.astype("int64")), axis=1, mode="clip")
    if frames.rank == 3:
        frames = g.expand_dims(frames, [3])
    if window is not None:
        wide = window.size_at(0)
        left = (size - wide) // 2
        if wide < size:
            window = g.op("_npi_pad", window, pad_width=((left, size - wide - left),), mode="constant")
        frames = g.op("broadcast_mul", frames, g.reshape(window, (1, 1, size, 1)))
    return _transformed(g, frames, 2, size, False, bool(node.attr("onesided", 1)))


@reads("HannWindow", "HammingWindow", "BlackmanWindow")
def window(g: Builder, node: Node) -> Tensor:
    size = int(node.input(0).scalar)
    if not 0 <= size <= FOLD_LIMIT:
        raise node.refuse(f"a window of {size}")
    turn = 2 * np.pi * np.arange(size) / max(1, size if node.attr("periodic", 1) else size - 1)
    parts = {
        "HannWindow": (0.5, 0.5, 0.0),
        "HammingWindow": (25 / 46, 21 / 46, 0.0),
        "BlackmanWindow": (0.42, 0.5, 0.08),
    }
    a, b, c = parts[node.kind]
    values = a - b * np.cos(turn) + c * np.cos(2 * turn)
    return g.constant(values, dtype_of(int(node.attr("output_datatype", 1)), "the result"))


@reads("MelWeightMatrix")
def mel_weights(g: Builder, node: Node) -> Tensor:
    bands, length, rate = (int(node.input(index).scalar) for index in range(3))
    low, high = float(node.input(3).scalar), float(node.input(4).scalar)
    rows = length // 2 + 1
    if not 0 < bands * rows <= FOLD_LIMIT:
        raise node.refuse(f"{bands} bands of {length}")
    ends = 2595 * np.log10(1 + np.array([low, high]) / 700)
    mel = np.arange(bands + 2) * (ends[1] - ends[0]) / (bands + 2) + ends[0]
    bins = ((length + 1) * (700 * (10 ** (mel / 2595) - 1)) // rate).astype(int)
    matrix = np.zeros((rows, bands))
    for band in range(bands):
        left, middle, right = bins[band : band + 3]
        if middle == left:
            matrix[middle, band] = 1
        else:
            for place in range(left, middle + 1):
                matrix[place, band] = (place - left) / (middle - left)
        for place in range(middle, right):
            matrix[place, band] = (right - place) / (right - middle)
    return g.constant(matrix, dtype_of(int(node.attr("output_datatype", 1)), "the result"))


# ---- random numbers ----


def _dtype(node: Node, x: Tensor | None) -> str:
    number = int(node.attr("dtype", 0))
    return dtype_of(number, "the result") if number else x.dtype if x is not None else "float32"


def _drawn(g: Builder, node: Node, shape: tuple[int, ...], dtype: str) -> Tensor:
    if "Uniform" in node.kind:
        low, high = float(node.attr("low", 0.0)), float(node.attr("high", 1.0))
        made = g.draw("_npi_uniform", low=low, high=high, size=shape, dtype="float32")
    else:
        mean, scale = float(node.attr("mean", 0.0)), float(node.attr("scale", 1.0))
        made = g.draw("_npi_normal", loc=mean, scale=scale, size=shape, dtype="float32")
    return g.cast(made, dtype)


@reads("RandomUniform", "RandomNormal")
def random(g: Builder, node: Node) -> Tensor:
    return _drawn(g, node, tuple(node.ints("shape")), _dtype(node, None))


@reads("RandomUniformLike", "RandomNormalLike")
def random_like(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    return _drawn(g, node, x.full_shape, _dtype(node, x if x.is_float else None))


@reads("Bernoulli")
def bernoulli(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    drawn = g.draw("_npi_uniform", low=0.0, high=1.0, size=x.full_shape, dtype="float32")
    return g.cast(g.op("_npi_less", drawn, g.cast(x, "float32")), _dtype(node, x))


@reads("Multinomial")
def multinomial(g: Builder, node: Node) -> Tensor:
    x = node.input(0)
    count = int(node.attr("sample_size", 1))
    chances = g.op("softmax", x, axis=-1)
    if x.is_known:
        raise node.refuse("a draw from constants")
    return g.op("_sample_multinomial", chances, shape=(count,), dtype=_dtype_of_draw(node))


def _dtype_of_draw(node: Node) -> str:
    return dtype_of(int(node.attr("dtype", 6)), "the result")


# ---- pictures ----


@reads("ImageDecoder")
def decoded(g: Builder, node: Node) -> Tensor:
    """The pixels of a picture's file, whose bytes are known: (rows, columns, 3 or 1)."""
    form = node.attr("pixel_format", "RGB")
    try:
        pixels = image.imdecode(node.input(0).value.tobytes(), flag=1, to_rgb=form != "BGR").asnumpy()
    except ImportError as error:
        raise node.refuse(str(error)) from None
    if form == "Grayscale":  # the weights of ITU-R 601-2, in 16 bits
        pixels = ((pixels @ np.array([19595, 38470, 7471]) + (1 << 15)) >> 16)[..., None]
    return g.constant(pixels, "uint8")
