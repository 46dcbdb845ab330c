"""Makes films.train.libsvm and films.test.libsvm: who liked which film at which time of the day, invented.

Nobody has to run this: the files are part of the tree. It documents how they were made, and needs Python alone.
"""

import math
import random
from pathlib import Path

SEED = 2026
VIEWERS, FILMS, TIMES = 120, 80, 4  # a line has one of each: its features are 0 .. 203
TASTES = 3  # numbers that say what a viewer looks for, and what a film has
TRAIN, TEST = 5000, 1000


def vectors(draw: random.Random, count: int, spread: float, size: int = TASTES) -> "list[list[float]]":
    """As many vectors of normal numbers."""
    return [[draw.gauss(0, spread) for _ in range(size)] for _ in range(count)]


def main() -> None:
    """Write both files: lines `liked viewer:1 film:1 time:1`, of different viewers, films and times."""
    draw = random.Random(SEED)
    kindness = vectors(draw, VIEWERS, 0.6, 1)
    quality = vectors(draw, FILMS, 0.6, 1)
    wanted, offered = vectors(draw, VIEWERS, 1.4), vectors(draw, FILMS, 1.4)
    moods = vectors(draw, TIMES, 1.0)
    places = [(v, f, t) for v in range(VIEWERS) for f in range(FILMS) for t in range(TIMES)]
    lines = []
    for viewer, film, time in draw.sample(places, TRAIN + TEST):
        wishes = [a + b for a, b in zip(wanted[viewer], moods[time])]
        score = kindness[viewer][0] + quality[film][0] + sum(a * b for a, b in zip(wishes, offered[film]))
        liked = draw.random() < 1 / (1 + math.exp(-score))
        lines.append(f"{int(liked)} {viewer}:1 {VIEWERS + film}:1 {VIEWERS + FILMS + time}:1\n")
    folder = Path(__file__).resolve().parent
    for name, part in (("train", lines[:TRAIN]), ("test", lines[TRAIN:])):
        target = folder / f"films.{name}.libsvm"
        target.write_text("".join(part), encoding="ascii")
        print(f"{target}: {len(part)} lines, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
