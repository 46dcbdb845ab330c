#!/usr/bin/env python3
"""Runs the programs in programs/, which import mxnet, and writes what they find: ``run_programs.py FILE [NAME...]``.

With the real MXNet 1.9.1's interpreter the file is programs/expected.json (make clients-oracle); with any other, mxlite
is their mxnet, and tests/python/package/test_programs.py compares.
"""

import importlib
import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "programs"))

try:
    import mxlite

    mxlite.install_as_mxnet()
except ImportError:
    mxlite = None

import mxnet as mx  # noqa: E402


def plain(value):
    """What is found as JSON has it; of arrays the dtype and the shape too."""
    if isinstance(value, mx.nd.NDArray):
        numbers = value.asnumpy()
        return {
            "dtype": np.dtype(value.dtype).name,
            "shape": list(value.shape),
            "values": plain(numbers.ravel().tolist()),
        }
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.7g}")
    return int(value) if isinstance(value, np.integer) else value


def main():
    names = sys.argv[2:] or sorted(path.stem for path in (HERE / "programs").glob("*.py"))
    found = {name: {key: plain(value) for key, value in importlib.import_module(name).run().items()} for name in names}
    lines = [f'"{name}": {json.dumps(values, sort_keys=True)}' for name, values in sorted(found.items())]
    Path(sys.argv[1]).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
