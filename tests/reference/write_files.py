#!/usr/bin/env python3
"""Writes with mxlite what files/expected.json describes: ``write_files.py FOLDER``, for make_files.py --read FOLDER."""

import json
import sys
from pathlib import Path

import numpy as np

import mxlite as mx

FILES = Path(__file__).resolve().parent / "files"


def main() -> None:
    """Writes every file of the description whose format is that of today."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, want in json.loads((FILES / "expected.json").read_text()).items():
        with mx.np_shape(want["numpy_shape"]):
            arrays = {}
            for number, each in enumerate(want["arrays"]):
                values = np.frombuffer(bytes.fromhex(each["bytes"]), each["dtype"]).reshape(each["shape"])
                arrays[each["name"] or number] = mx.nd.array(values, dtype=each["dtype"])
            mx.nd.save(folder / f"{name}.params", arrays if want["named"] else list(arrays.values()))


if __name__ == "__main__":
    main()
