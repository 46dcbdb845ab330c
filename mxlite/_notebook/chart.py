"""Small charts as SVG: curves over a count, and bars on a line of time. For what the package shows while it works."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import accumulate

COLOURS = ("#4682b4", "#ff8c00", "#2e8b57", "#b22222", "#8064a2", "#7f7f7f")
_GRID, _TEXT = "rgba(128,128,128,0.35)", 'font-family="sans-serif" font-size="11" fill="currentColor"'

Points = Sequence[tuple[float, float]]


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from `low` to `high`, at most `most` and one."""
    if not high > low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _number(value: float) -> str:
    return f"{value:.4g}"


def _label(x: float, y: float, text: str, anchor: str = "middle", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {_TEXT} {more}>{escape(text)}</text>'


def _svg(width: float, height: float, parts: list[str]) -> str:
    frame = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {frame} style="max-width:100%;height:auto">'
    return "\n".join([head, *parts, "</svg>"])


def curves(title: str, across: str, series: Mapping[str, Points], width: int = 380, height: int = 220) -> str:
    """Curves with axes, a title that says what is measured, and their names where there is more than one.

    Args:
        across: What the horizontal axis counts.
        series: Points (x, y) by name; those that are not finite are left out.
    """
    shown = {name: [each for each in points if all(map(math.isfinite, each))] for name, points in series.items()}
    every = [each for points in shown.values() for each in points]
    left, right, top, bottom = 56.0, width - 12.0, 26.0, height - 36.0
    parts = [_label((left + right) / 2, 15, title, more='font-weight="bold"')]
    if not every:
        return _svg(width, height, [*parts, _label((left + right) / 2, height / 2, "no numbers yet")])
    x_low, x_high = _range([x for x, _ in every])
    y_low, y_high = _range([y for _, y in every])

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            left + (x - x_low) / (x_high - x_low) * (right - left),
            bottom - (y - y_low) / (y_high - y_low) * (bottom - top),
        )

    for value in ticks(y_low, y_high):
        y = at(x_low, value)[1]
        parts.append(f'<path d="M{left:.1f},{y:.1f} H{right:.1f}" stroke="{_GRID}"/>')
        parts.append(_label(left - 6, y + 4, _number(value), "end"))
    for value in ticks(x_low, x_high):
        parts.append(_label(at(value, y_low)[0], bottom + 15, _number(value)))
    parts.append(f'<path d="M{left:.1f},{top:.1f} V{bottom:.1f} H{right:.1f}" fill="none" stroke="currentColor"/>')
    parts.append(_label((left + right) / 2, height - 5, across))
    # The names stand where the curves do not end.
    ends = [points[-1][1] for points in shown.values() if points]
    first = bottom - 14 * len(shown) if sum(ends) / len(ends) > (y_low + y_high) / 2 else top + 12
    for number, (name, points) in enumerate(shown.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = " ".join("{:.1f},{:.1f}".format(*at(*each)) for each in points)
        if len(points) > 1:
            parts.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        if len(points) < 30:
            dots = (at(*each) for each in points)
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in dots]
        if len(shown) > 1:
            parts.append(_label(right - 4, first + 14 * number, name, "end", f'style="fill:{colour}"'))
    return _svg(width, height, parts)


def _range(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    if high > low:
        return low, high
    margin = abs(low) / 10 or 1.0
    return low - margin, high + margin


# ---- a line of time ----

#: One piece of work: its row, its name, when it began and ended.
Span = tuple[str, str, float, float]

_ROW, _LEFT = 18.0, 130.0


def timeline(spans: Sequence[Span], most: int = 3000, width: int = 960) -> str:
    """Bars on a line of time, in a row for each group; what overlaps in a group is below each other.

    Args:
        spans: The times are in milliseconds. most: Of more bars than these the longest are drawn.
    """
    drawn = sorted(sorted(spans, key=lambda each: each[2] - each[3])[:most], key=lambda each: (each[2], -each[3]))
    begin = min(each[2] for each in spans)
    end = max(max(each[3] for each in spans), begin + 1e-6)
    scale = (width - _LEFT - 12) / (end - begin)
    colours = _colours(spans)
    parts: list[str] = []
    top = 6.0
    for group in dict.fromkeys(each[0] for each in drawn):
        lanes: list[float] = []
        parts.append(_label(_LEFT - 8, top + 13, group if len(group) < 20 else group[:18] + "…", "end"))
        for _, name, first, last in (each for each in drawn if each[0] == group):
            lane = next((number for number, free in enumerate(lanes) if free <= first), len(lanes))
            lanes[lane : lane + 1] = [last]
            x, length = _LEFT + (first - begin) * scale, max(0.5, (last - first) * scale)
            y = top + lane * _ROW
            colour = colours.get(name, COLOURS[-1])
            told = f"<title>{escape(name)}: {last - first:.4g} ms</title>"
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{length:.1f}" height="{_ROW - 3}" fill="{colour}">{told}</rect>'
            )
            fits = int((length - 6) / 6.5)
            if fits >= 3:
                text = name if len(name) <= fits else name[: fits - 1] + "…"
                parts.append(_label(x + 3, y + 11, text, "start", 'style="fill:#fff;pointer-events:none"'))
        top += max(1, len(lanes)) * _ROW + 8
    for value in ticks(0, end - begin, 8):
        x = _LEFT + value * scale
        parts.insert(0, f'<path d="M{x:.1f},4 V{top:.1f}" stroke="{_GRID}"/>')
        parts.append(_label(x, top + 13, _number(value)))
    note = "" if len(drawn) == len(spans) else f"; the {len(drawn)} longest of {len(spans)}"
    parts.append(_label((width + _LEFT) / 2, top + 30, f"time (ms){note}"))
    legend = (
        [*colours.items(), ("other", COLOURS[-1])] if {each[1] for each in spans} - set(colours) else colours.items()
    )
    parts += _legend(legend, _LEFT, (width - _LEFT) / 3, top + 40)
    return _svg(width, top + 46 + -(-len(legend) // 3) * _ROW, parts)


def steps(title: str, bars: Sequence[tuple[str, str, float, str]], most: int = 400, width: int = 1100) -> str:
    """What runs one after another: a row for each with its name, and a bar that begins where the one before it ends.

    Args:
        bars: name, kind (which has a colour), milliseconds, and what is written beside the bar.
        most: Of more bars than these the longest are drawn, each at its time.
    """
    ends = [0.0, *accumulate(max(0.0, each[2]) for each in bars)]
    drawn = sorted(sorted(range(len(bars)), key=lambda at: -bars[at][2])[:most])
    room = min(int(width / 2 / 6.2), max((len(bars[at][0]) for at in drawn), default=0))  # characters of a name
    left = 16 + 6.2 * room
    scale = (width - left - 12) / max(ends[-1], 1e-9)
    colours = _colours([("", kind, 0.0, length) for _, kind, length, _ in bars])
    title = title if len(title) < 150 else f"{title[:148]}…"
    top = 26.0
    bottom = top + _ROW * len(drawn) + 4
    parts = ['<rect width="100%" height="100%" fill="#ffffff"/>']
    parts.append(_label(width / 2, 16, title, more='font-weight="bold"'))
    for value in ticks(0, ends[-1], 8):
        x = left + value * scale
        parts.append(f'<path d="M{x:.1f},{top:.1f} V{bottom:.1f}" stroke="{_GRID}"/>')
        parts.append(_label(x, bottom + 13, _number(value)))
    for row, at in enumerate(drawn):
        name, kind, length, told = bars[at]
        x, y, long = left + ends[at] * scale, top + row * _ROW, max(1.0, length * scale)
        shown = name if len(name) <= room else f"…{name[1 - room :]}"
        parts.append(_label(left - 8, y + 12, shown, "end"))
        about = f"<title>{escape(f'{name}, {kind}: {told}')}</title>"
        colour = colours.get(kind, COLOURS[-1])
        parts.append(
            f'<rect x="{x:.1f}" y="{y + 1:.1f}" width="{long:.1f}" height="{_ROW - 4}" fill="{colour}">{about}</rect>'
        )
        needed = 10 + 6.2 * len(told)
        if x + long + needed < width:
            parts.append(_label(x + long + 4, y + 12, told, "start"))
        elif x - needed > left:
            parts.append(_label(x - 4, y + 12, told, "end"))
        else:  # the bar fills the row
            parts.append(_label(x + 4, y + 12, told, "start", 'style="fill:#fff;pointer-events:none"'))
    note = "" if len(drawn) == len(bars) else f"; the {len(drawn)} longest of {len(bars)}"
    parts.append(_label((width + left) / 2, bottom + 28, f"time (ms){note}"))
    legend = [*colours.items(), *([("other", COLOURS[-1])] if {each[1] for each in bars} - set(colours) else [])]
    parts += _legend(legend, left, (width - left) / 3, bottom + 38)
    return _svg(width, bottom + 44 + -(-len(legend) // 3) * _ROW, parts)


def _legend(names: Iterable[tuple[str, str]], left: float, step: float, top: float) -> list[str]:
    """Names behind squares in their colours, three in a row."""
    parts = []
    for number, (name, colour) in enumerate(names):
        x, y = left + number % 3 * step, top + number // 3 * _ROW
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="11" height="11" fill="{colour}"/>')
        parts.append(_label(x + 16, y + 10, name if len(name) < 40 else name[:38] + "…", "start"))
    return parts


def _colours(spans: Sequence[Span]) -> dict[str, str]:
    """A colour for each of the names that take the most time, the longest first."""
    times: dict[str, float] = {}
    for _, name, begin, end in spans:
        times[name] = times.get(name, 0.0) + end - begin
    return dict(zip(sorted(times, key=lambda name: -times[name]), COLOURS[:-1]))
