"""Asks the real MXNet 1.9.1 the cases of tests/python/gluon/gluon_cases, and writes an answer file for each module.

Run by `make oracle-gluon` under an interpreter with mxnet==1.9.1 and numpy==1.23.5. Arguments name modules (none: all);
--new keeps the answers that are there. Each case runs in a forked child, so that one that ends the process is an
answer.
"""

from __future__ import annotations

import json
import lzma
import multiprocessing
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python" / "gluon"))
warnings.filterwarnings("ignore")

import mxnet as mx  # noqa: E402
from _case import answer, cases, file_of_answers, modules  # noqa: E402

SECONDS = 120


def child(name: str, number: int, pipe) -> None:
    """Runs one case and sends its answer."""
    pipe.send(answer(cases(name)[number], mx))
    pipe.close()


def asked(name: str, number: int) -> object:
    """The answer of 1.9.1 to a case."""
    mine, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=child, args=(name, number, theirs))
    process.start()
    theirs.close()
    try:
        found = mine.recv() if mine.poll(SECONDS) else {"error": "timeout", "text": f"{SECONDS} s", "kinds": []}
    except EOFError:
        found = {"error": "crash", "text": "the process ended", "kinds": []}
    process.kill()
    process.join()
    return found


def record(name: str, keep: bool) -> None:
    """Writes the answers to the cases of one module."""
    path = file_of_answers(name)
    old = json.loads(lzma.decompress(path.read_bytes())) if keep and path.exists() else {}
    answers = {}
    for number, one in enumerate(cases(name)):
        found = old.get(one.name)
        if found is None:
            found = asked(name, number)
            if isinstance(found, dict) and "error" in found:
                print(f"  {one.name}: {found['error']}: {found['text'][:110]!r}")
        answers[one.name] = found
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(json.dumps(answers, indent=0).encode()))
    print(f"{name}: {len(answers)} answers, {path.stat().st_size} bytes")


def main() -> None:
    wanted = [each for each in sys.argv[1:] if not each.startswith("--")]
    for name in wanted or modules():
        record(name, "--new" in sys.argv)


if __name__ == "__main__":
    main()
