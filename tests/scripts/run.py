"""Runs the training scripts of this folder, unedited, on the real MXNet 1.9.1 and here, and compares losses and time.

python tests/scripts/run.py --mxnet PYTHON [--only NAME] [--rounds N]
Ends with 1 where a script fails here, a loss of the first 50 steps differs by more than 1e-3 (relative to the larger of
the loss and 1), or, with --bar, a script's steps take more than that share of 1.9.1's time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAMES = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("run", "common", "outcomes"))
TOLERANCE = 1e-3


def trained(command: list[str], name: str) -> tuple[dict | None, str]:
    """What a script printed last, or None and the end of its errors."""
    run = subprocess.run(
        [*command, str(HERE / f"{name}.py")], capture_output=True, text=True, timeout=600, cwd=HERE.parents[1]
    )
    if run.returncode != 0:
        return None, " | ".join(run.stderr.strip().splitlines()[-3:])
    return json.loads(run.stdout.strip().splitlines()[-1]), ""


def apart(mine: list[float], theirs: list[float]) -> float:
    """The largest difference of two lists of losses; relative where losses are over 1."""
    if len(mine) != len(theirs):
        return float("inf")
    return max(abs(a - b) / max(1.0, abs(b)) for a, b in zip(mine, theirs))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mxnet", required=True, help="a Python that has mxnet==1.9.1")
    parser.add_argument("--only", default="", help="part of a script's name")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each; the fastest counts")
    parser.add_argument("--bar", type=float, help="the largest share of 1.9.1's time")
    given = parser.parse_args()
    failed = 0
    print(f"{'script':22}{'loss, first':>12}{'last':>10}{'apart':>10}{'s here':>9}{'s 1.9.1':>9}{'share':>7}")
    for name in [each for each in NAMES if given.only in each]:
        best: dict[str, float] = {}
        results: dict[str, dict | None] = {}
        for _ in range(given.rounds):
            for side, command in (
                ("here", [sys.executable, "-m", "mxlite", "run"]),
                ("mxnet", [given.mxnet, "-W", "ignore"]),
            ):
                results[side], problem = trained(command, name)
                if results[side] is None:
                    print(f"{name:22}{side}: {problem}")
                    break
                best[side] = min(best.get(side, 1e9), results[side]["seconds"])
        if not all(results.get(side) for side in ("here", "mxnet")):
            failed += 1
            continue
        mine, theirs = results["here"]["losses"], results["mxnet"]["losses"]
        distance, share = apart(mine, theirs), best["here"] / best["mxnet"]
        missed = distance > TOLERANCE or (given.bar is not None and share > given.bar)
        failed += missed
        print(
            f"{name:22}{mine[0]:12.4f}{mine[-1]:10.4f}{distance:10.1e}{best['here']:9.2f}{best['mxnet']:9.2f}"
            f"{share:7.2f}{'  MISSED' if missed else ''}"
        )
    print(f"{len(NAMES)} scripts, {failed} missed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
