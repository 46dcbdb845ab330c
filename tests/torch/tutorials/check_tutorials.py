"""Runs the programs beside this one and examples/torch_*.py as they stand, on PyTorch and on mxlite: they print alike.

`make test-torch` calls it, in a Python that has PyTorch; mxlite takes the name `torch` by `mxlite run --as torch`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[2] / "examples"
sys.path.insert(0, str(HERE.parent))
from compare import report  # noqa: E402

#: Programs whose printed numbers differ by more than 1e-3 of their size, and by how much: they train for long.
TOLERANCES: dict[str, float] = {}

#: How a program runs here.
OURS = ("-m", "mxlite", "run", "--as", "torch")

#: What the examples are given: few steps, and no picture.
OPTIONS = ("--steps", "20", "--no-picture")

_NUMBER = re.compile(r"(?<![A-Za-z_0-9])[-+]?\d+\.?\d*(?:e[-+]?\d+)?(?![A-Za-z_0-9])")


def printed(command: list[str]) -> str:
    """What a program prints; where it fails, the end of what it says."""
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=570, env=env)
    return done.stdout if done.returncode == 0 else f"{done.stdout}ended with {done.returncode}: {done.stderr[-600:]}"


def apart(one: str, other: str, tolerance: float) -> str | None:
    """The first place where two printed texts differ: their words are the same, their numbers near."""
    texts = [_NUMBER.sub("#", text).split() for text in (one, other)]
    if texts[0] != texts[1]:
        place = next((i for i, pair in enumerate(zip(*texts)) if pair[0] != pair[1]), min(map(len, texts)))
        return " beside ".join(repr(" ".join(text[max(0, place - 6) : place + 12])) for text in texts)
    for first, second in zip(*(map(float, _NUMBER.findall(text)) for text in (one, other))):
        if not abs(first - second) <= tolerance * max(abs(first), abs(second)) + 2e-4:
            return f"{first} beside {second}"
    return None


def check(path: Path) -> str | None:
    """What differs of a program."""
    command = [str(path), *(OPTIONS if path.parent == EXAMPLES else ())]
    real, ours = printed(command), printed([*OURS, *command])
    if path.parent == EXAMPLES:  # the table's last column is seconds
        real, ours = (re.sub(r"\d+\.\d\d$", "", text, flags=re.MULTILINE) for text in (real, ours))
    found = apart(real, ours, TOLERANCES.get(path.stem, 1e-3))
    return found and f"{path.name}: {found}"


def check_files() -> str | None:
    """What differs where one library reads the files that the other wrote."""
    path = str(HERE / "state_dicts.py")
    whole = printed([path])
    for way in ("written by PyTorch", "written here"):
        with TemporaryDirectory() as folder:
            sides = [(), OURS] if way == "written by PyTorch" else [OURS, ()]
            texts = [printed([*side, path, what, folder]) for side, what in zip(sides, ("write", "read"))]
        found = apart(whole, "".join(texts), 1e-3)
        if found:
            return f"state_dicts.py, {way}: {found}"
    return None


def main() -> int:
    """Prints what differs; 1 where something does."""
    paths = sorted({*HERE.glob("*.py"), *EXAMPLES.glob("torch_*.py")})
    paths = [
        path
        for path in paths
        if path.stem not in ("seeded", "check_tutorials") and all(each in path.stem for each in sys.argv[1:])
    ]
    with ThreadPoolExecutor(2) as pool:
        found = [*pool.map(check, paths), check_files()]
    return report(f"tutorials: {len(paths)} programs, files both ways", filter(None, found))


if __name__ == "__main__":
    sys.exit(main())
