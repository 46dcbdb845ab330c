"""Pictures of element-wise operators of one input: f and its derivative over f's domain, as SVG.

Both curves are computed with mxlite. Colours are legible on a light page and on a dark one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from describe import Description, describe

import mxlite as mx
from mxlite import autograd, nd
from mxlite.ndarray._generate import make_function

#: The interval that is tried, and its points: an odd number of steps, so that none is a pole or a corner at 0.
REACH, POINTS = 4.0, 642
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 420, 240, 44, 30, 24
COLOURS = {"f": "#3f7fd0", "f'": "#e07b1f"}
AXIS = "#8a8a8a"
#: How many values of a required parameter are drawn at most.
CHOICES = 6


def _calls(it: Description) -> Iterator[tuple[str, dict[str, str]]]:
    """The parameters to draw with: none, or each value of the enumerations that a call must give."""
    required = [each for each in it.parameters if each.required]
    if any(not each.values for each in required):
        return
    for values in itertools.islice(itertools.product(*(each.values for each in required)), CHOICES):
        params = {each.name: value for each, value in zip(required, values)}
        yield ", ".join(f"{key}={value}" for key, value in params.items()), params


def _element_wise(call: Callable[[mx.nd.NDArray], mx.nd.NDArray], points: np.ndarray) -> np.ndarray | None:
    """The values of f, where each element of the result is a function of the one element in its place; else None."""
    order = np.random.default_rng(0).permutation(points.size)
    try:
        whole = call(nd.array(points))
        if not isinstance(whole, nd.NDArray) or whole.shape != points.shape or whole.dtype != np.float32:
            return None
        shuffled, part = call(nd.array(points[order])), call(nd.array(points[:7]))
        square = call(nd.array(points[:6].reshape(2, 3)))
    except (mx.MXNetError, TypeError, ValueError):
        return None
    values = whole.asnumpy()
    same = [(shuffled, values[order]), (part, values[:7]), (square, values[:6].reshape(2, 3))]
    if all(a.shape == b.shape and np.allclose(a.asnumpy(), b, 1e-5, 1e-6, equal_nan=True) for a, b in same):
        return values
    return None


@cache
def curves(name: str) -> list[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """What to draw of an operator: title, x, f and f' of each picture; empty where it has none."""
    it, function = describe(name), make_function(name)
    if it.operator.variadic or it.needed != 1:
        return []
    points = np.linspace(-REACH, REACH, POINTS, dtype="float32")
    found = []
    for title, params in _calls(it):

        def call(x: mx.nd.NDArray, params: dict[str, str] = params) -> mx.nd.NDArray:
            return function(x, **params)

        values = _element_wise(call, points)
        if values is None or np.isfinite(values).sum() < 2:
            return []
        x = nd.array(points)
        x.attach_grad()
        with autograd.record():
            y = call(x)
        y.backward()
        slope = x.grad.asnumpy()
        moves = (values == points).all() and (slope == 1).all()  # elements, and here there is nothing to move
        if moves or np.ptp(values) == 0:
            return []
        found.append((title, points, values, slope))
    return found


# ---- drawing ----


def _ticks(low: float, high: float) -> list[float]:
    """Some four round numbers of an interval."""
    rough = (high - low) / 4
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough)
    return [float(n * step) for n in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def _limits(values: np.ndarray) -> tuple[float, float]:
    """The shown part of the y axis: all of it, or where poles would flatten the rest, most of it."""
    finite = values[np.isfinite(values)]
    low, high = float(finite.min()), float(finite.max())
    inner = np.percentile(finite, [20, 80])
    usual = max(float(inner[1] - inner[0]), 0.5)
    if high - low > 20 * usual:
        low, high = max(low, float(inner[0]) - 1.5 * usual), min(high, float(inner[1]) + 1.5 * usual)
    margin = 0.08 * (high - low) or 1.0
    return low - margin, high + margin


def _pieces(x: np.ndarray, y: np.ndarray, slope: np.ndarray, limits: tuple[float, float]) -> list[np.ndarray]:
    """A curve as points that hang together: parted where it is not finite, not shown, and where it jumps."""
    height = limits[1] - limits[0]
    shown = np.isfinite(y) & (y > limits[0] - height) & (y < limits[1] + height)
    step = np.abs(np.diff(y))
    steep = np.maximum(np.abs(slope[1:]), np.abs(slope[:-1])) * np.diff(x)
    pole = (step > height) & (y[1:] * y[:-1] < 0)
    jump = ((step > 0.1 * height) & ~(step < 4 * steep)) | pole
    parts = np.split(np.arange(x.size), np.flatnonzero(jump | ~shown[1:] | ~shown[:-1]) + 1)
    return [np.stack([x[part], y[part]], 1) for part in parts if part.size > 1 and shown[part].all()]


def picture(title: str, x: np.ndarray, f: np.ndarray, slope: np.ndarray) -> str:
    """The SVG of a function and its derivative."""
    with np.errstate(all="ignore"):
        inside = np.flatnonzero(np.isfinite(f))
        x, f, slope = (each[inside[0] : inside[-1] + 1] for each in (x, f, slope))
        low, high = _limits(np.concatenate([f, slope]))
        across = (WIDTH - LEFT - 10) / (x[-1] - x[0])
        down = (HEIGHT - TOP - BOTTOM) / (high - low)

        def at(points: np.ndarray) -> np.ndarray:
            return np.stack([LEFT + (points[:, 0] - x[0]) * across, TOP + (high - points[:, 1]) * down], 1)

        pieces = {
            "f": _pieces(x, f, slope, (low, high)),
            "f'": _pieces(x, slope, np.gradient(slope, x), (low, high)),
        }
        lines = {name: [at(piece) for piece in part] for name, part in pieces.items()}
    return _svg(title, (float(x[0]), float(x[-1]), across), (low, high, down), lines)


def _svg(
    title: str, x: tuple[float, float, float], y: tuple[float, float, float], lines: dict[str, list[np.ndarray]]
) -> str:
    bottom, right = HEIGHT - BOTTOM, WIDTH - 10
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="sans-serif" font-size="12" fill="{AXIS}">',
        f'<clipPath id="plot"><rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}"/></clipPath>',
        f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" fill="none" stroke="{AXIS}"/>',
        f'<text x="{LEFT}" y="18">{title}</text>' if title else "",
    ]
    for tick in _ticks(x[0], x[1]):
        place = LEFT + (tick - x[0]) * x[2]
        weight = 1 if tick == 0 else 0.25
        text.append(f'<path d="M{place:.1f} {TOP}V{bottom}" stroke="{AXIS}" stroke-opacity="{weight}"/>')
        text.append(f'<text x="{place:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{tick:g}</text>')
    for tick in _ticks(y[0], y[1]):
        place = TOP + (y[1] - tick) * y[2]
        weight = 1 if tick == 0 else 0.25
        text.append(f'<path d="M{LEFT} {place:.1f}H{right}" stroke="{AXIS}" stroke-opacity="{weight}"/>')
        text.append(f'<text x="{LEFT - 5}" y="{place + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for position, (name, pieces) in enumerate(lines.items()):
        dash = ' stroke-dasharray="6 3"' if position else ""
        path = "".join("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in piece) for piece in pieces)
        text.append(
            f'<path d="{path}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"{dash} clip-path="url(#plot)"/>'
        )
        start = right - 130 + 75 * position
        text.append(f'<path d="M{start} 14h24" stroke="{COLOURS[name]}" stroke-width="2"{dash}/>')
        text.append(f'<text x="{start + 29}" y="18">{name}(x)</text>')
    return "\n".join([*(line for line in text if line), "</svg>", ""])
