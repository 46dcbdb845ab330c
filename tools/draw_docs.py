"""Draws the pictures of docs/autograd.md into docs/images/, with our own SVG: `tools/draw_docs.py [folder]`."""

from __future__ import annotations

import sys
from pathlib import Path

import mxlite.torch as torch
from mxlite import autograd, nd
from mxlite.autograd import graph

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"


def network(path: Path) -> None:
    """A layer and its loss."""
    x, w, b = nd.ones((8, 3)), nd.ones((3, 4)), nd.zeros(4)
    w.attach_grad()
    b.attach_grad()
    with autograd.record():
        h = nd.tanh(nd.broadcast_add(nd.dot(x, w), b))
        loss = nd.mean(nd.square(h))
    graph.draw(loss, path, {"w": w, "b": b}, engine="own")


def shared(path: Path) -> None:
    """A value that is read twice: gradients meet there."""
    x = nd.ones(3)
    x.attach_grad()
    with autograd.record():
        y = nd.exp(x)
        z = y * nd.sin(y)
    graph.draw(z, path, {"x": x}, engine="own")


def edited(path: Path) -> None:
    """An edit of a view: its base becomes a CopySlices."""
    x = torch.ones(4, requires_grad=True)
    y = x * 2
    y[1:].mul_(x[1:])
    graph.draw(y, path, {"x": x}, engine="own")


PICTURES = {"network": network, "shared": shared, "edited": edited}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        picture(folder / f"autograd-{name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
