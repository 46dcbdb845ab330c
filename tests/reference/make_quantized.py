"""Writes what MXNet 1.9.1 makes of the symbols of tests/python/quantized/_networks.py: quantized.json.xz.

.venvs/mxnet/bin/python -W ignore tests/reference/make_quantized.py
"""

from __future__ import annotations

import json
import lzma
import pathlib
import sys

import mxnet as mx
from mxnet.contrib import quantization

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "python" / "quantized"))

from _networks import WAYS, networks, nodes_of  # noqa: E402


def main() -> None:
    answers: dict[str, list] = {}
    for name, symbol in networks(mx.sym):
        for i, way in enumerate(WAYS):
            offline = [each for each in symbol.list_arguments() if each != "data"]
            given = {"offline_params": offline, **way}
            made, names = quantization._quantize_symbol(symbol, mx.cpu(), **given)
            limits = {each: (-1.5 - k, 0.25 + k / 3) for k, each in enumerate(names)}
            calibrated = quantization._calibrate_quantized_sym(made.__copy__(), limits) if names else made
            answers[f"{name}/{i}"] = [nodes_of(json.loads(calibrated.tojson())), names]
    text = json.dumps(answers, sort_keys=True, separators=(",", ":"))
    (HERE / "quantized.json.xz").write_bytes(lzma.compress(text.encode()))
    print(f"{len(answers)} symbols")


if __name__ == "__main__":
    main()
