"""Records what the real MXNet 1.9.1 answers to the cases of tests/python/symbols: run by `make oracle-symbols`."""

from __future__ import annotations

import json
import lzma
import os
import sys
from pathlib import Path

os.environ["MXNET_ENGINE_TYPE"] = "NaiveEngine"  # MXPredCreateMultiThread ends the process without it

import mxnet  # noqa: E402

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python" / "symbols"))

import _cases  # noqa: E402
import _graph  # noqa: E402


def main() -> None:
    """Writes symbols.json.xz."""
    assert mxnet.__version__ == "1.9.1", mxnet.__version__
    answers = _cases.run(_graph.Library(mxnet.libinfo.find_lib_path()[0]))
    path = HERE / "symbols.json.xz"
    path.write_bytes(lzma.compress(json.dumps(answers, sort_keys=True).encode()))
    print(f"{path}: {len(answers)} answers, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
