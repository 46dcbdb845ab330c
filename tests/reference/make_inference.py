"""Records what the real MXNet 1.9.1 infers for the rows of tests/python/symbols/_inference.py: `make oracle-symbols`.

Every row is asked in a forked child: 1.9.1 reads what is not there for some, which then have no answer.
"""

from __future__ import annotations

import json
import lzma
import os
import signal
import sys
from pathlib import Path

import mxnet

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parent / "python" / "symbols")]

import _graph  # noqa: E402
import _inference  # noqa: E402


def guarded(library: _graph.Library, case) -> dict | None:
    """The answers from a child of its own; None where it died."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(writer, "w") as pipe:
            json.dump(_inference.answers(library, case), pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    return json.loads(text) if os.waitpid(child, 0)[1] == 0 and text else None


def main() -> None:
    """Writes inference.json.xz."""
    assert mxnet.__version__ == "1.9.1", mxnet.__version__
    library = _graph.Library(mxnet.libinfo.find_lib_path()[0])
    found = {case.id: answers for case in _inference.rows() if (answers := guarded(library, case))}
    path = HERE / "inference.json.xz"
    path.write_bytes(lzma.compress(json.dumps(found, sort_keys=True).encode()))
    print(f"{path}: {len(found)} rows, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
