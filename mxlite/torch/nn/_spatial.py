"""Images of `torch.nn.functional` in other sizes and places: interpolate, grid_sample, folds, shuffles of channels."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from mxlite._public import defined
from mxlite.torch._calls import explain_all, functions, prepare, run
from mxlite.torch._composite import composite
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import int64
from mxlite.torch._errors import warn, warn_of_old
from mxlite.torch._nodes import formula
from mxlite.torch._tensor import Tensor, from_values
from mxlite.torch.nn._windows import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, sizes_of

_AREA = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)

#: Modes of interpolate: the numbers of spatial dimensions, what nodes are called, and how many taps a pixel has.
_MODES = {
    "nearest": ((1, 2, 3), "UpsampleNearest{}DBackward0", 1),
    "nearest-exact": ((1, 2, 3), "UpsampleNearestExact{}DBackward0", 1),
    "linear": ((1,), "UpsampleLinear1DBackward0", 2),
    "bilinear": ((2,), "UpsampleBilinear2DBackward0", 2),
    "trilinear": ((3,), "UpsampleTrilinear3DBackward0", 2),
    "bicubic": ((2,), "UpsampleBicubic2DBackward0", 4),
    "area": ((1, 2, 3), "", 0),
}


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    """The weight of a tap of a cubic convolution at a distance; `a` is its slope at 1."""
    x = abs(distance)
    near, far = ((a + 2) * x - (a + 3)) * x * x + 1, ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def _weights(size: int, want: int, scale: float, mode: str, taps: int, aligned: bool, smooth: bool) -> np.ndarray:
    """A matrix (size, want): what each pixel of a result has of the pixels of a dimension."""
    places, pixels = np.arange(want, dtype=np.float64), np.arange(size)[:, None]
    if smooth:
        wide = max(scale, 1.0)
        distance = (pixels + 0.5 - scale * (places + 0.5)) / wide
        found = np.maximum(0, 1 - abs(distance)) if taps == 2 else _cubic(distance, -0.5)
        return found / found.sum(0)
    at = places * ((size - 1) / (want - 1) if want > 1 else 0) if aligned else scale * (places + 0.5) - 0.5
    at = np.maximum(at, 0) if taps == 2 and not aligned else at
    first, found = np.floor(at), np.zeros((size, want))
    for tap in (0, 1) if taps == 2 else (-1, 0, 1, 2):
        distance = at - first - tap
        weight = 1 - abs(distance) if taps == 2 else _cubic(distance, -0.75)
        np.add.at(found, (np.clip(first + tap, 0, size - 1).astype(int), places.astype(int)), weight)
    return found


def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """Signals, images or volumes (batch, channels, ...) in another size.

    Args:
        size, scale_factor: One of them: for all spatial dimensions, or a number for each.
        mode: "nearest", "nearest-exact", "area"; "linear" (1 dimension), "bilinear", "bicubic" (2), "trilinear" (3).
        align_corners: Whether the centres of corner pixels coincide. antialias: of bilinear and bicubic.
    """
    dims, (allowed, label, taps) = input.ndim - 2, _MODES.get(mode, ((), "", 0))
    if (size is None) == (scale_factor is None):
        raise ValueError("interpolate: give size or scale_factor, one of them")
    for name, value in (("size", size), ("scale_factor", scale_factor)):
        if isinstance(value, (list, tuple)) and len(value) != dims:
            raise ValueError(f"interpolate: {name} has a number for each of {dims} spatial dimensions, got {value}")
    if align_corners is not None and taps < 2:
        raise ValueError(f"interpolate: align_corners is for linear, bilinear, bicubic and trilinear, not {mode!r}")
    if dims not in allowed or (antialias and (taps < 2 or dims != 2)):
        raise NotImplementedError(f"interpolate: no mode {mode!r} of {dims} spatial dimensions, antialias={antialias}")
    old = tuple(input.shape[2:])
    if size is not None:
        new, scales = sizes_of(size, dims), (None,) * dims
    else:
        scales = tuple(scale_factor) if isinstance(scale_factor, (list, tuple)) else (scale_factor,) * dims
        new = tuple(math.floor(each * scale) for each, scale in zip(old, scales))
    if recompute_scale_factor:
        if size is not None:
            raise ValueError("interpolate: recompute_scale_factor is for scale_factor")
        scales = (None,) * dims
    if mode == "area":
        return _AREA[dims - 1](input, new)
    if 0 in (*old, *new):
        raise RuntimeError(f"interpolate: sizes are 1 or more, got {list(old)} and {list(new)}")
    steps = [a / b if scale is None else 1 / scale for a, b, scale in zip(old, new, scales)]

    def compute(x: Tensor) -> Tensor:
        for dim, (count, want, step) in enumerate(zip(old, new, steps), 2):
            if taps == 1:
                at = np.arange(want, dtype=np.float32) + np.float32(0.5 * (mode == "nearest-exact"))
                rows = np.minimum((at * np.float32(step)).astype(np.int64), count - 1)
                x = x.index_select(dim, from_values(rows))
            else:
                weights = _weights(count, want, step, mode, taps, bool(align_corners), antialias)
                x = (x.movedim(dim, -1) @ from_values(weights.astype(x._dtype.np))).movedim(-1, dim)
        return x.contiguous()

    return formula(label.format(dims), [input], compute, saves="")


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """As interpolate."""
    warn_of_old("upsample", "interpolate")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """As interpolate with mode "nearest"."""
    warn_of_old("upsample_nearest", "interpolate")
    return interpolate(input, size, scale_factor)


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """As interpolate with mode "bilinear", of which corner pixels coincide."""
    warn_of_old("upsample_bilinear", "interpolate")
    return interpolate(input, size, scale_factor, "bilinear", True)


# ---- grids ----


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """Where grid_sample finds the pixels of images that matrices (batch, d, d + 1) turn: (batch, ..., d)."""
    if align_corners is None:
        warn("affine_grid: align_corners=False is meant without it")
    dims = len(size) - 2
    if min(size) < 1:
        raise ValueError(f"affine_grid: sizes are 1 or more, got {list(size)}")
    if not theta._dtype.is_floating_point or tuple(theta.shape) != (size[0], dims, dims + 1) or dims not in (2, 3):
        raise (ValueError if dims in (2, 3) else NotImplementedError)(
            f"affine_grid: theta is (n, 2, 3) or (n, 3, 4) of a floating dtype, got {list(theta.shape)}, {list(size)}"
        )
    lines = [np.linspace(-1, 1, n) * (1 if align_corners else (n - 1) / n) if n > 1 else np.zeros(1) for n in size[2:]]
    points = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(tuple(size[2:]))], -1).reshape(-1, dims + 1)
    base = from_values(points.astype(theta._dtype.np))
    shape = (size[0], *size[2:], dims)
    return formula("AffineGridGeneratorBackward0", [theta], lambda x: (base @ x.mT).reshape(shape), saves="")


def _reflected(x: Tensor, size: int, aligned: bool) -> Tensor:
    low, span = (0.0, size - 1) if aligned else (-0.5, size)
    if span == 0:
        return x * 0
    away = (x - low).abs()
    turns = (away / span).floor().detach()
    rest = away - turns * span
    return functions["where"](turns % 2 == 0, rest + low, span - rest + low).clamp(0, size - 1)


def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Images or volumes at the points of a grid (batch, ..., d), whose coordinates are from -1 to 1, the last first.

    Args:
        mode: "bilinear", "nearest" or (of images) "bicubic". padding_mode: outside are "zeros", or "border" or
            "reflection" pixels. align_corners: whether -1 and 1 are the centres of corner pixels.
    """
    dims, aligned = input.ndim - 2, bool(align_corners)
    if align_corners is None:
        warn("grid_sample: align_corners=False is meant without it")
    for name, value, known in (("mode", mode, ("bilinear", "nearest", "bicubic")),
                               ("padding_mode", padding_mode, ("zeros", "border", "reflection"))):  # fmt: skip
        if value not in known:
            raise ValueError(f"grid_sample: {name} is one of {known}, got {value!r}")
    if dims not in (2, 3) or grid.ndim != input.ndim or grid.shape[-1] != dims or grid.shape[0] != input.shape[0]:
        raise RuntimeError(f"grid_sample: a grid (n, ..., d) for an input (n, c, ...), got {grid.shape}, {input.shape}")
    if input._dtype is not grid._dtype or 0 in input.shape[2:] or (mode == "bicubic" and dims == 3):
        raise RuntimeError(f"grid_sample: one dtype, and pixels; {mode} of {input._dtype} by {grid._dtype}")
    sizes = tuple(input.shape[2:])

    def limited(x: Tensor, size: int) -> Tensor:
        if padding_mode == "zeros":
            return x
        return x.clamp(0, size - 1) if padding_mode == "border" else _reflected(x, size, aligned)

    def taps(x: Tensor, size: int) -> list[tuple[Tensor, Tensor]]:
        """Pixels of one dimension that a coordinate takes, and their weights, 0 outside."""
        x = (x + 1) / 2 * (size - 1) if aligned else ((x + 1) * size - 1) / 2
        x = x if mode == "bicubic" else limited(x, size)
        first = (x.round() if mode == "nearest" else x.floor()).detach()
        found = []
        for tap in {"nearest": (0,), "bilinear": (0, 1), "bicubic": (-1, 0, 1, 2)}[mode]:
            distance, place = x - first - tap, first + tap
            if mode == "bicubic":
                place, weight = limited(place, size), _cubic_of(distance)
            else:
                weight = 1 - distance.abs() if mode == "bilinear" else place * 0 + 1
            inside = (place >= 0) & (place <= size - 1)
            found.append((cast(place.clamp(0, size - 1).nan_to_num(), int64), weight * cast(inside, x._dtype)))
        return found

    def compute(x: Tensor, grid: Tensor) -> Tensor:
        n, c = x.shape[:2]
        flat, total, points = x.flatten(2), None, math.prod(grid.shape[1:-1])
        lines = [taps(grid.select(-1, dims - 1 - dim), size) for dim, size in enumerate(sizes)]
        for corner in itertools.product(*lines):
            index, weight = corner[0]
            for (place, share), size in zip(corner[1:], sizes[1:]):
                index, weight = index * size + place, weight * share
            found = flat.gather(2, index.reshape(n, 1, points).expand(n, c, points))
            part = found * weight.reshape(n, 1, points)
            total = part if total is None else total + part
        return total.reshape(n, c, *grid.shape[1:-1])

    return formula(f"GridSampler{dims}DBackward0", [input, grid], compute)


def _cubic_of(distance: Tensor) -> Tensor:
    x = distance.abs()
    near, far = (1.25 * x - 2.25) * x * x + 1, ((x - 5) * x + 8) * x * -0.75 + 3
    return functions["where"](x.detach() <= 1, near, far)


# ---- windows as columns, channels as pixels ----


def _columns(label: str, operator: str, input: Tensor, batched: bool, more: dict, **windows: Any) -> Tensor:
    sizes = {name: sizes_of(each, 2) for name, each in windows.items()}
    if min((*sizes["kernel"], *sizes["stride"], *sizes["dilate"])) < 1 or min(sizes["pad"]) < 0:
        raise RuntimeError(f"{label[:6]}: windows, steps and dilations are positive, padding not negative, got {sizes}")
    x = input if batched else input.unsqueeze(0)
    made = run(prepare(label, operator, **sizes, **more), [x], kind=x._dtype)
    return made if batched else made.squeeze(0)


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Windows of images as columns: (batch, channels, rows, columns) becomes (batch, channels * window, windows)."""
    if input.ndim not in (3, 4):
        raise (IndexError if input.ndim < 3 else RuntimeError)(
            f"unfold: images, 3 dimensions or 4 with a batch, got shape {list(input.shape)}"
        )
    return _columns("Im2ColBackward0", "im2col", input, input.ndim == 4, {}, kernel=kernel_size, dilate=dilation,
                    pad=padding, stride=stride)  # fmt: skip


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Images whose pixels are the sums of what windows, given as columns, have of them."""
    if input.ndim not in (2, 3):
        raise RuntimeError(f"fold: columns, 2 dimensions or 3 with a batch, got shape {list(input.shape)}")
    more = {"output_size": sizes_of(output_size, 2)}
    return _columns("Col2ImBackward0", "col2im", input, input.ndim == 3, more, kernel=kernel_size, dilate=dilation,
                    pad=padding, stride=stride)  # fmt: skip


@composite("PixelShuffleBackward0", saves="")
def _pixel_shuffle(x: Tensor, *, by: int) -> Tensor:
    *front, c, h, w = x.shape
    n = len(front)
    parts = x.reshape(*front, c // by**2, by, by, h, w)
    return parts.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2).reshape(*front, c // by**2, h * by, w * by)


@composite("PixelUnshuffleBackward0", saves="")
def _pixel_unshuffle(x: Tensor, *, by: int) -> Tensor:
    *front, c, h, w = x.shape
    n = len(front)
    parts = x.reshape(*front, c, h // by, by, w // by, by)
    return parts.permute(*range(n), n, n + 2, n + 4, n + 1, n + 3).reshape(*front, c * by**2, h // by, w // by)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Images that are `upscale_factor` times as large, of as much fewer channels."""
    if input.ndim < 3 or upscale_factor < 1 or input.shape[-3] % upscale_factor**2:
        raise RuntimeError(f"pixel_shuffle: {upscale_factor}^2 divides the channels, got shape {list(input.shape)}")
    return _pixel_shuffle(input, by=upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Images that are `downscale_factor` times as small, of as much more channels."""
    by = downscale_factor
    if input.ndim < 3 or by < 1 or input.shape[-2] % by or input.shape[-1] % by:
        raise RuntimeError(f"pixel_unshuffle: {by} divides rows and columns, got shape {list(input.shape)}")
    return _pixel_unshuffle(input, by=by)


@composite("ChannelShuffleBackward0", saves="")
def _channel_shuffle(x: Tensor, *, groups: int) -> Tensor:
    return x.unflatten(1, (groups, -1)).transpose(1, 2).reshape(x.shape)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Channels in another order: the first of each group, then the second of each, and so on."""
    if input.ndim < 3 or groups < 1 or input.shape[1] % groups:
        raise RuntimeError(f"channel_shuffle: groups ({groups}) divide the channels of {list(input.shape)}")
    return _channel_shuffle(input, groups=groups)


explain_all(globals())
functions.update(channel_shuffle=channel_shuffle, pixel_shuffle=pixel_shuffle, pixel_unshuffle=pixel_unshuffle)
__all__ = [name for name in defined(globals()) if name not in ("sizes_of",) and not name.startswith("adaptive")]
