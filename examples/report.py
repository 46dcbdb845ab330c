"""What the examples share without a tensor library: options, the digits' records, a progress bar, a table, pictures."""

from __future__ import annotations

import argparse
import importlib.util
import math
import pathlib
import sys
from typing import TYPE_CHECKING

import numpy as np

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


def digit_records(path: pathlib.Path = HERE / "data" / "digits.u8") -> tuple[np.ndarray, np.ndarray]:
    """Pixels (n, 64) in 0 .. 16 and digits (n,), both uint8, from digits.u8 (examples/data/README.md)."""
    records = np.fromfile(path, dtype=np.uint8).reshape(-1, PIXELS + 1)
    return records[:, :PIXELS], records[:, PIXELS]


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


def print_table(read: np.ndarray, true: np.ndarray) -> None:
    """How many images of each digit were read right, and as which digits the others were read."""
    print("\ndigit   images   right   read as")
    for digit in range(CLASSES):
        answers = read[true == digit]
        wrong = [f"{other} ({(answers == other).sum()})" for other in np.unique(answers[answers != digit])]
        print(f"{digit:5}{len(answers):9}{(answers == digit).sum():8}   {', '.join(wrong) or '-'}")
    print(f"  all{len(true):9}{(read == true).sum():8}\n")


def print_confusion(read: np.ndarray, true: np.ndarray) -> None:
    """How often each digit, a row, was read as each digit, a column."""
    print("true \\ read" + "".join(f"{digit:5}" for digit in range(CLASSES)))
    for digit in range(CLASSES):
        counts = np.bincount(read[true == digit], minlength=CLASSES)
        print(f"{digit:11}" + "".join(f"{count or '.':>5}" for count in counts))
    print()


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
