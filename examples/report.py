"""What the examples share without a tensor library: options, the digits' records, a progress bar, a table, pictures."""

from __future__ import annotations

import argparse
import importlib.util
import math
import pathlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

HERE = pathlib.Path(__file__).resolve().parent
PIXELS, CLASSES, TRAIN = 64, 10, 1437


def parser_of(doc: str | None, name: str, rounds: str, count: int) -> argparse.ArgumentParser:
    """The options that every example has; `rounds` is what one counts, epochs or steps."""
    parser = argparse.ArgumentParser(description=str(doc).splitlines()[0])
    parser.add_argument(f"--{rounds}", type=at_least_one, default=count)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", type=pathlib.Path, default=HERE / "out" / f"{name}.png")
    parser.add_argument("--no-picture", action="store_true")
    return parser


def options_of(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The options as given. What the picture needs is looked for now, not after the training."""
    options = parser.parse_args()
    if not options.no_picture and importlib.util.find_spec("matplotlib") is None:
        parser.error("the picture needs matplotlib: pip install matplotlib, or give --no-picture")
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


# ---- pictures: with matplotlib's Figure alone, which needs no window and keeps no state ----

Wrong = list[tuple[int, int, int]]  # of each image that was misread: its number, what was read, what is true


def new_page(height: float) -> Figure:
    """A page of 7.2 inches and that height."""
    from matplotlib.figure import Figure

    return Figure(figsize=(7.2, height), dpi=100, layout="constrained")


def parts_of(page: Figure, heights: Sequence[float]) -> list[SubFigure]:
    """The parts of a page, one below the other."""
    return list(page.subfigures(len(heights), 1, squeeze=False, height_ratios=list(heights)).flat)


def draw_curves(
    place: SubFigure, title: str, across: str, up: str, rounds: Sequence[float], curves: dict[str, list[float]],
    scale: str = "log",
) -> None:  # fmt: skip
    """Named curves over the numbers of `rounds`; `across` and `up` name the axes, the second of that scale."""
    from matplotlib.ticker import MaxNLocator

    axes = place.subplots()
    for name, values in curves.items():
        axes.plot(rounds, values, marker="." if len(rounds) < 30 else "", label=name)
    axes.set(title=title, xlabel=across, ylabel=up, yscale=scale)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()


def draw_images(place: SubFigure, title: str, images: Sequence[np.ndarray], names: Sequence[str], columns: int) -> None:
    """Small images in rows of so many, ink in black, each below its name."""
    place.suptitle(title)
    rows = max(1, math.ceil(len(images) / columns))
    for number, axes in enumerate(place.subplots(rows, columns, squeeze=False).flat):
        axes.set_axis_off()
        if number < len(images):
            axes.imshow(images[number], cmap="gray_r")
            axes.set_title(names[number] if names else "", fontsize=8)


def draw_reading(
    title: str, curves: dict[str, list[float]], images: np.ndarray, wrong: Wrong, most: int = 6, more: float = 0
) -> tuple[Figure, list[SubFigure]]:
    """A page of the loss of every epoch and of digits that were misread; the place of `more` inches below, if any."""
    shown = wrong[:most]
    digits = 0.5 + 1.3 * max(1, math.ceil(len(shown) / 6))
    page = new_page(3.4 + digits + more)
    parts = parts_of(page, [3.4, digits, *([more] if more else [])])
    epochs = range(1, len(curves["training"]) + 1)
    draw_curves(parts[0], title, "epoch", "cross-entropy (nats per image)", epochs, curves)
    names = [f"read {read}, true {true}" for _, read, true in shown]
    tiles = [images[index].reshape(8, 8) for index, _, _ in shown]
    draw_images(parts[1], f"{len(wrong)} misread of {len(images)} held out", tiles, names, 6)
    return page, parts[2:]


def save(page: Figure, path: pathlib.Path) -> None:
    """Writes the page as PNG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    page.savefig(path)
