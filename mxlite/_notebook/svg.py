"""A small graph as SVG, in layers from top to bottom. The same graph gives the same text anywhere."""

from __future__ import annotations

from html import escape

#: Pictures of our own are for graphs that can be looked at.
MOST_NODES = 300

HEAD, VARIABLE, OPERATOR = "#fde9c9", "#d7e8fa", "#ffffff"

_CHARACTER, _LINE, _PADDING = 7.4, 16.0, 10.0  # of a text of 12 pixels
_BETWEEN, _LAYERS = 24.0, 32.0
_SWEEPS = 12


class _Box:
    """A node, or the place where an edge crosses a layer (`lines` is empty then)."""

    __slots__ = ("lines", "fill", "layer", "above", "below", "x", "y")

    def __init__(self, lines: list[str], fill: str, layer: int) -> None:
        self.lines, self.fill, self.layer = lines, fill, layer
        self.above: list[_Box] = []
        self.below: list[_Box] = []
        self.x = self.y = 0.0

    @property
    def width(self) -> float:
        return max(map(len, self.lines)) * _CHARACTER + 2 * _PADDING if self.lines else 2.0

    @property
    def height(self) -> float:
        return len(self.lines) * _LINE + _PADDING if self.lines else 0.0


def picture(nodes: list[tuple[list[str], str]], edges: list[tuple[int, int]]) -> str:
    """The text of an SVG file.

    Args:
        nodes: Lines of text and the colour of each; a node follows those that lead to it.
        edges: (from, to), positions in `nodes`.
    """
    levels = _levels(len(nodes), edges)
    boxes = [_Box(lines, fill, level) for (lines, fill), level in zip(nodes, levels)]
    layers: list[list[_Box]] = [[] for _ in range(max(levels) + 1)]
    for box in boxes:
        layers[box.layer].append(box)
    paths = [_path(boxes[a], boxes[b], layers) for a, b in edges]
    _order(layers)
    _place(layers)
    return _text(boxes, paths, layers)


def _levels(count: int, edges: list[tuple[int, int]]) -> list[int]:
    """The layer of each node: below all that lead to it; a node without inputs is just above its first user."""
    levels, has_source = [0] * count, [False] * count
    for a, b in sorted(edges, key=lambda edge: edge[1]):
        levels[b], has_source[b] = max(levels[b], levels[a] + 1), True
    users: dict[int, int] = {}
    for a, b in edges:
        users[a] = min(users.get(a, levels[b]), levels[b])
    return [level if has_source[i] else users.get(i, 1) - 1 for i, level in enumerate(levels)]


def _path(a: _Box, b: _Box, layers: list[list[_Box]]) -> list[_Box]:
    """The boxes that an edge goes through; in layers between, places are made for it."""
    path = [a]
    for layer in range(a.layer + 1, b.layer):
        path.append(_Box([], "", layer))
        layers[layer].append(path[-1])
    path.append(b)
    for upper, lower in zip(path, path[1:]):
        upper.below.append(lower)
        lower.above.append(upper)
    return path


def _order(layers: list[list[_Box]]) -> None:
    """Puts neighbours near each other: sorts each layer by the mean x of those above, or below, in several sweeps."""
    for layer in layers:
        for number, box in enumerate(layer):
            box.x = float(number)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for layer in layers if down else reversed(layers):
            means = {}
            for box in layer:
                near = box.above if down else box.below
                means[id(box)] = sum(each.x for each in near) / len(near) if near else box.x
            layer.sort(key=lambda box: means[id(box)])
            for number, box in enumerate(layer):
                box.x = float(number)


def _place(layers: list[list[_Box]]) -> None:
    """x and y of every box, its middle: near the mean of its neighbours, in order, without overlap."""
    top = 0.0
    for layer in layers:
        height = max(box.height for box in layer)
        for box in layer:
            box.y = top + height / 2
        top += height + _LAYERS
        left = 0.0
        for box in layer:
            box.x = left + box.width / 2
            left += box.width + _BETWEEN
    for sweep in range(2 * _SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            _align(layer)


def _align(layer: list[_Box]) -> None:
    wanted = []
    for box in layer:
        near = box.above + box.below
        wanted.append(sum(each.x for each in near) / len(near) if near else box.x)
    # Boxes that would overlap move together: a group is put at the average of its members' wishes.
    groups: list[list[float]] = []  # sum of wanted left ends, members, width with gaps
    for box, x in zip(layer, wanted):
        width = box.width + _BETWEEN
        groups.append([x - box.width / 2, 1.0, width])
        while len(groups) > 1 and _left(groups[-2]) + groups[-2][2] > _left(groups[-1]):
            total, members, after = groups.pop()
            groups[-1][0] += total - members * groups[-1][2]
            groups[-1][1] += members
            groups[-1][2] += after
    boxes = iter(layer)
    for group in groups:
        left = _left(group)
        for _ in range(int(group[1])):
            box = next(boxes)
            box.x = left + box.width / 2
            left += box.width + _BETWEEN


def _left(group: list[float]) -> float:
    return group[0] / group[1]


def _text(boxes: list[_Box], paths: list[list[_Box]], layers: list[list[_Box]]) -> str:
    margin = 12.0
    all_boxes = [box for layer in layers for box in layer]
    left = min(box.x - box.width / 2 for box in all_boxes) - margin
    right = max(box.x + box.width / 2 for box in all_boxes) + margin
    bottom = max(box.y + box.height / 2 for box in all_boxes) + margin
    frame = f"{left:.1f} {-margin:.1f} {right - left:.1f} {bottom + margin:.1f}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{frame}" width="{right - left:.0f}" '
        f'height="{bottom + margin:.0f}" font-family="sans-serif" font-size="12">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#555"/></marker></defs>',
        f'<rect x="{left:.1f}" y="{-margin:.1f}" width="{right - left:.1f}" height="{bottom + margin:.1f}" '
        'fill="#ffffff"/>',
    ]
    lines += [_curve(path) for path in paths]
    lines += [_shape(box) for box in boxes]
    return "\n".join([*lines, "</svg>", ""])


def _curve(path: list[_Box]) -> str:
    x, y = path[0].x, path[0].y + path[0].height / 2
    parts = [f"M{x:.1f},{y:.1f}"]
    for box in path[1:]:
        end = box.y - box.height / 2
        middle = (y + end) / 2
        parts.append(f"C{x:.1f},{middle:.1f} {box.x:.1f},{middle:.1f} {box.x:.1f},{end:.1f}")
        x, y = box.x, end
    return f'<path d="{" ".join(parts)}" fill="none" stroke="#555" marker-end="url(#tip)"/>'


def _shape(box: _Box) -> str:
    x, y = box.x - box.width / 2, box.y - box.height / 2
    rect = (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="5" fill="{box.fill}" '
        'stroke="#333"/>'
    )
    texts = [
        f'<text x="{box.x:.1f}" y="{y + _PADDING / 2 + _LINE * (number + 0.75):.1f}" text-anchor="middle">'
        f"{escape(line)}</text>"
        for number, line in enumerate(box.lines)
    ]
    return rect + "".join(texts)
