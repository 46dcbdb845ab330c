"""What the examples share: the digits, initial weights, a loss, Adam, a progress bar, and pictures."""

from __future__ import annotations

import argparse
import importlib.util
import math
import pathlib
import sys
from typing import TYPE_CHECKING

import numpy as np

from mxlite import nd

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

HERE = pathlib.Path(__file__).resolve().parent
PIXELS, CLASSES, TRAIN = 64, 10, 1437
COLORS = ("steelblue", "darkorange", "gray", "seagreen")


def parser_of(doc: str, name: str, rounds: str, count: int) -> argparse.ArgumentParser:
    """The options that every example has; `rounds` is what one counts, epochs or steps."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument(f"--{rounds}", type=at_least_one, default=count)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", type=pathlib.Path, default=HERE / "out" / f"{name}.png")
    parser.add_argument("--no-picture", action="store_true")
    return parser


def options_of(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The options as given. What the picture needs is looked for now, not after the training."""
    options = parser.parse_args()
    if not options.no_picture and importlib.util.find_spec("PIL") is None:
        parser.error("the picture needs Pillow: pip install pillow, or give --no-picture")
    return options


def at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"at least 1 is needed, got {number}")
    return number


def read_digits(path: pathlib.Path = HERE / "data" / "digits.u8") -> tuple[nd.NDArray, nd.NDArray]:
    """Images (n, 64) in 0 .. 1 and digits (n,), from the records of digits.u8 (examples/data/README.md)."""
    records = np.fromfile(path, dtype=np.uint8).reshape(-1, PIXELS + 1)
    return nd.array(records[:, :PIXELS] / 16.0), nd.array(records[:, PIXELS])


def he_normal(*shape: int) -> nd.NDArray:
    """He's initial weights (He et al. 2015): normal with variance 2 / inputs of a unit; axis 0 counts the units."""
    return nd.random.normal(0, math.sqrt(2 / math.prod(shape[1:])), shape=shape)


def cross_entropy(scores: nd.NDArray, right: nd.NDArray) -> nd.NDArray:
    """Mean of -log(probability of the right class); scores have one axis more than classes, the last."""
    return -nd.pick(nd.log_softmax(scores), right).mean()


def random_order(count: int) -> nd.NDArray:
    """The numbers 0 .. count - 1 (int32) in an order drawn anew."""
    return nd.argsort(nd.random.uniform(shape=(count,)), dtype="int32")


class Adam:
    """Steps of Adam (Kingma and Ba 2015), with its correction of the first steps, which adam_update leaves out."""

    def __init__(self, weights: list[nd.NDArray], beta1: float = 0.9, beta2: float = 0.999) -> None:
        self.weights, self.beta1, self.beta2, self.steps = weights, beta1, beta2, 0
        self.means = [nd.zeros_like(weight) for weight in weights]
        self.squares = [nd.zeros_like(weight) for weight in weights]
        for weight in weights:
            weight.attach_grad()

    def step(self, rate: float, clip: float = -1) -> None:
        """Changes every weight by its gradient, whose elements are clipped to -clip .. clip if that is positive."""
        self.steps += 1
        rate *= math.sqrt(1 - self.beta2**self.steps) / (1 - self.beta1**self.steps)
        betas = {"beta1": self.beta1, "beta2": self.beta2}
        for weight, mean, square in zip(self.weights, self.means, self.squares):
            nd.adam_update(weight, weight.grad, mean, square, lr=rate, clip_gradient=clip, **betas, out=weight)


class Bar:
    """A progress bar on the terminal's last line; nothing where standard output is not a terminal."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.shown = sys.stdout.isatty()

    def show(self, done: int, text: str) -> None:
        if self.shown:
            filled = min(40, 40 * done // self.total)
            print(f"\r[{'=' * filled}{' ' * (40 - filled)}] {text}", end="", flush=True)

    def clear(self) -> None:
        if self.shown:
            print("\r" + " " * 78 + "\r", end="", flush=True)


# ---- pictures ----


def draw_curves(
    page: ImageDraw.ImageDraw,
    box: tuple[int, int, int, int],
    title: str,
    rounds: list[int],
    curves: dict[str, list[float]],
) -> None:
    """Named curves over the numbers of `rounds`, on a logarithmic axis in a box (left, top, right, bottom)."""
    left, top, right, bottom = box
    values = [max(1e-9, value) for curve in curves.values() for value in curve]
    ticks = [digit * 10.0**power for power in range(-10, 10) for digit in (1, 2, 5)]
    low = max(tick for tick in ticks if tick <= min(values))
    high = min(tick for tick in ticks if tick > max(values))

    def point(place: int, value: float) -> tuple[float, float]:
        up = math.log(max(1e-9, value) / low) / math.log(high / low)
        return left + place / max(1, len(rounds) - 1) * (right - left), bottom - up * (bottom - top)

    wide = high / low > 100  # then a line for each power of ten is enough
    for tick in ticks:
        if low <= tick <= high and (not wide or f"{tick:e}"[0] == "1"):
            y = point(0, tick)[1]
            page.line([(left, y), (right, y)], fill="lightgray")
            page.text((left - 45, y - 6), f"{tick:g}", fill="black")
    for place in range(0, len(rounds), max(1, len(rounds) // 10)):
        page.text((point(place, low)[0] - 4, bottom + 6), str(rounds[place]), fill="black")
    for number, (name, curve) in enumerate(curves.items()):
        page.line([point(*pair) for pair in enumerate(curve)], fill=COLORS[number], width=2)
        page.text((right - 6 * len(name) - 4, top + 4 + 16 * number), name, fill=COLORS[number])
    page.text((left, top - 24), title, fill="black")


def save(picture: Image.Image, path: pathlib.Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path)


def digit_image(pixels: np.ndarray, size: int) -> Image.Image:
    """64 pixels in 0 .. 1 as a picture of size x size dots, ink in black."""
    from PIL import Image

    grey = (255 * (1 - pixels.reshape(8, 8).clip(0, 1))).astype(np.uint8)
    return Image.fromarray(grey).resize((size, size), Image.NEAREST)
