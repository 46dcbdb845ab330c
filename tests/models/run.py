"""Networks of the model zoo as files: what one of mxlite and the real MXNet 1.9.1 exports, the other runs alike.

python tests/models/run.py --mxnet PYTHON [--only NAME]
Ends with 1 where a network fails, or an output differs by more than 1e-4 of the largest one. Each network has numbers
of tests/python/gluon as parameters, and a small image. mxlite runs 1.9.1's files by SymbolBlock.imports, Module, a
cached operator and the Predict API; 1.9.1 runs mxlite's by the first two.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python" / "gluon"))

from gluon_cases.networks.model_zoo import MODELS  # noqa: E402

TOLERANCE = 1e-4
HERE_WAYS, THERE_WAYS = ["imports", "module", "cached", "predict"], ["imports", "module"]


class Worker:
    """A process of one package."""

    def __init__(self, python: str, package: str) -> None:
        self.process = subprocess.Popen(
            [python, "-W", "ignore", str(HERE / "worker.py"), package],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": f"the process ended: {self.process.wait()}"}


def compare(model: str, maker: Worker, user: Worker, ways: list[str]) -> tuple[list[str], str]:
    """For each way how far the outputs are apart, and what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        made = maker.ask(do="export", model=model, folder=folder)
        found = made if "error" in made else user.ask(do="check", ways=ways, folder=folder)
    if "error" in found:
        return ["-"] * len(ways), found["error"]
    far = [way for way, apart in found["apart"].items() if not apart <= TOLERANCE]
    return [f"{found['apart'][way]:.1e}" for way in ways], f"{', '.join(far)} differ" if far else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mxnet", required=True, help="a Python that has mxnet==1.9.1")
    parser.add_argument("--only", default="", help="part of a network's name")
    given = parser.parse_args()
    here, there = Worker(sys.executable, "mxlite"), Worker(given.mxnet, "mxnet")
    heads = [*(f"here: {way}" for way in HERE_WAYS), *(f"1.9.1: {way}" for way in THERE_WAYS), "seconds"]
    print(f"{'network':20}" + "".join(f"{head:>15}" for head in heads))
    failed = 0
    models = [each for each in MODELS if given.only in each]
    for model in models:
        begin = time.monotonic()
        mine, problem = compare(model, there, here, HERE_WAYS)
        theirs, other = compare(model, here, there, THERE_WAYS)
        seconds = f"{time.monotonic() - begin:.1f}"
        print(f"{model:20}" + "".join(f"{cell:>15}" for cell in [*mine, *theirs, seconds]), problem, other, flush=True)
        failed += bool(problem or other)
    print(f"test-models: {len(models) - failed} of {len(models)} networks are the same both ways")
    return 1 if failed or not models else 0


if __name__ == "__main__":
    sys.exit(main())
