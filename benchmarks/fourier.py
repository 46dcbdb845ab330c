#!/usr/bin/env python3
"""Fourier transforms of mxlite.array_api beside NumPy's, and SciPy's and PyTorch's where they are, in turns.

    taskset -c 1 .venv/bin/python benchmarks/fourier.py --torch .venvs/peers/bin/python

Each number is the least of some calls, on one thread. Results are compared with NumPy's first. `--torch` and `--scipy`
name Pythons, or folders, that have them. Ends with 1 where a share of NumPy's time is above its bar.
"""

from __future__ import annotations

import argparse
import importlib
import pathlib
import sys
import time
from functools import partial
from typing import Any, Callable

import numpy as np

from mxlite import array_api as xp
from mxlite._lib import LIB, check_call

#: What is transformed: shape and axes.
CASES = {
    "1,024 rows of 1,024": ((1024, 1024), (1,)),
    "512 x 512, both axes": ((512, 512), (0, 1)),
    "10,007, a prime": ((10007,), (0,)),
    "1,000 columns of 1,000": ((1000, 1000), (0,)),
    "1,048,576": ((1 << 20,), (0,)),
    "1,024": ((1024,), (0,)),
}
#: The largest share of NumPy's time.
BAR = 1.0
TURNS = 15


def least(calls: list[Callable[[], Any]]) -> list[float]:
    """Microseconds of each call, in turns."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(TURNS):
        for call, mine in zip(calls, times):
            begin = time.perf_counter()
            call()
            mine.append((time.perf_counter() - begin) * 1e6)
    return [min(mine) for mine in times]


def folder_of(place: str, name: str) -> str:
    """The site-packages that `place` means: a folder, or a Python with that package."""
    from usual import folder_of as torchs

    if name == "torch" or pathlib.Path(place).is_dir():
        return torchs(place)
    return str(next((pathlib.Path(place).resolve(strict=False).parent.parent / "lib").glob("python3.*/site-packages")))


def peers_of(options: argparse.Namespace) -> dict[str, Any]:
    """Name -> module, of those that can be imported."""
    found = {}
    for name, module in (("scipy", "scipy.fft"), ("torch", "torch")):
        place = getattr(options, name)
        if place:
            sys.path.append(folder_of(place, name))
            try:
                found[name] = importlib.import_module(module)
            except ImportError as problem:
                print(f"without {name}: {problem}")
    if "torch" in found:
        found["torch"].set_num_threads(1)
    return found


def finished(transform: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """The transform, computed."""
    found = transform(x, axes=axes)
    found.wait_to_read()
    return found


def rows(peers: dict[str, Any]) -> list[tuple[str, list[float]]]:
    """Name, and the microseconds of ours, NumPy's and the peers'."""
    made = []
    for dtype in ("float32", "float64"):
        for name, (shape, axes) in CASES.items():
            values = np.random.default_rng(1).standard_normal((*shape, 2)).astype(dtype)
            for real in (False, True):
                numbers = values[..., 0].copy() if real else values.view(f"complex{2 * values.itemsize * 8}")[..., 0]
                own = xp.asarray(values[..., 0].copy() if real else values)
                kind = "rfftn" if real else "fftn"

                ours = partial(finished, getattr(xp.fft, kind), own, axes)
                wanted = getattr(np.fft, kind)(numbers, axes=axes)
                answer = ours().asnumpy().astype("float64")
                np.testing.assert_allclose(answer[..., 0] + 1j * answer[..., 1], wanted, atol=3e-6 * abs(wanted).max())
                calls = [ours, partial(getattr(np.fft, kind), numbers, axes=axes)]
                if "scipy" in peers:
                    calls.append(partial(getattr(peers["scipy"], kind), numbers, axes=axes))
                if "torch" in peers:
                    torch = peers["torch"]
                    calls.append(partial(getattr(torch.fft, kind), torch.tensor(numbers), dim=axes))
                made.append((f"{name}, {dtype}{', real' if real else ''}", least(calls)))
    return made


def main() -> int:
    """Prints a table; fills in that of a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch", help="a Python, or folder, that has PyTorch")
    parser.add_argument("--scipy", help="a Python, or folder, that has SciPy")
    parser.add_argument("--mxnet", help="not used: `make bench` tells all its programs who the peers are")
    parser.add_argument("--page", type=pathlib.Path, help="docs/performance.md, to fill in the table of")
    options = parser.parse_args()
    check_call(LIB.MXSetNumOMPThreads(1))
    peers = peers_of(options)
    head = ["`array_api.fft`", "NumPy", "share", *(f"{name}, share" for name in peers)]
    lines = [f"| us | {' | '.join(head)} |", "|---|" + "--:|" * len(head)]
    missed = 0
    for name, (own, numpys, *others) in rows(peers):
        share = own / numpys
        missed += share > BAR
        cells = [f"{own:.0f}", f"{numpys:.0f}", f"{share:.2f}" if share <= BAR else f"**{share:.2f}**"]
        cells += [f"{own / each:.2f}" for each in others]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    print("\n".join(lines))
    if options.page is not None:
        from page import fill

        fill(options.page, "fourier.py", {"Fourier transforms": lines})
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
