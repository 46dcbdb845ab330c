#!/usr/bin/env python3
"""Runs a folder's programs, which import mxnet, and writes what they find: ``run_programs.py FOLDER FILE [NAME...]``.

With the real MXNet 1.9.1's interpreter the file is the folder's expected.json (make clients-oracle, make
oracle-packages); with any other, mxlite is their mxnet as `mxlite run` has it, and
tests/python/package/test_programs.py compares. A program is a script, or a notebook, whose cells are run in order. What
it finds is what its function `run` returns, or else the dict `found` that it leaves.
"""

import contextlib
import json
import runpy
import sys
from pathlib import Path

import numpy as np

try:
    from mxlite._cli.run import begin

    begin("mxnet", strict=False, gpus=None, quiet=True)
except ImportError:
    pass

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
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.name, "shape": list(value.shape), "values": plain(value.ravel().tolist())}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.7g}")
    return int(value) if isinstance(value, np.integer) else value


def values_of(path):
    """The names that a program leaves when it is done."""
    if path.suffix == ".py":
        return runpy.run_path(str(path), run_name="__main__")
    values = {"__name__": "__main__"}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), str(path), "exec"), values)
    return values


def found_by(path):
    """What a program finds; what it prints goes to stderr."""
    with contextlib.redirect_stdout(sys.stderr):
        values = values_of(path)
        found = values["run"]() if "run" in values else values["found"]
    return {key: plain(value) for key, value in found.items()}


def main():
    folder, file, *names = sys.argv[1:]
    folder = Path(folder).resolve()
    sys.path[:1] = [str(folder), str(folder.parent)]
    paths = sorted(path for path in folder.iterdir() if path.suffix in (".py", ".ipynb"))
    found = {path.stem: found_by(path) for path in paths if not names or path.stem in names}
    lines = [f'"{name}": {json.dumps(values, sort_keys=True)}' for name, values in sorted(found.items())]
    Path(file).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
