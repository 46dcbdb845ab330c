#!/usr/bin/env python3
"""Usual functions of mx.np on small arrays beside NumPy's, and PyTorch's where it is, in one process, in turns.

    taskset -c 1 .venv/bin/python benchmarks/usual_numpy.py --torch .venvs/peers/lib/python3.11/site-packages

Each number is the least of many short loops. `--torch` names the folder that PyTorch is in, or a Python that has it.
MXLITE_BINDING and MXLITE_LIBRARY choose the binding and the library.
"""

from __future__ import annotations

import argparse
import gc
import sys
from typing import Any

import numpy as np
from usual import folder_of, measure

import mxlite

#: What is measured, by kind; x, y are 4 x 4 of float32, m is a mask, i, j and k are numbers, p indices of rows.
CALLS = {
    "every step": "x + y; x * y; np.exp(x); x.sum(); x.reshape(2, 8); x[i:j]; x[m]; x @ y",
    "elements": "x / y; x ** 2; -x; x > y; np.sqrt(x); np.maximum(x, y); np.where(m, x, y); x.clip(0, 1)",
    "reductions": "x.mean(); x.max(axis=1); x.std(); x.argmax(); np.cumsum(x, axis=0); float(x.sum())",
    "shapes": "x.T; x.transpose(1, 0); x.squeeze(); np.expand_dims(x, 0); np.concatenate([x, y]); np.stack([x, y])",
    "keys": "x[i]; x[i, j]; x[:, i]; x[p]; z[m] = 0; z[i] = 1",
    "new arrays": 'np.zeros((4, 4)); np.array([1.0, 2.0]); np.arange(4); x.copy(); x.astype("float64")',
    "products": "np.dot(x, y); np.tensordot(x, y, 1); np.einsum('ij,jk->ik', x, y)",
}
#: The calls that PyTorch spells so too.
TORCH = {"every step": "x + y; x * y; np.exp(x); x.sum(); x.reshape(2, 8); x[i:j]; x[m]; x @ y"}
#: The largest share of NumPy's time for the first kind.
BAR = 1.1


def scope_of(library: Any, array: Any) -> dict[str, Any]:
    """What the calls name; `array` makes an array of NumPy's."""
    values = np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32)
    x, y = array(values), array(values.T.copy())
    return {"np": library, "x": x, "y": y, "z": x + 0, "m": x > 0, "i": 1, "j": 3, "p": array(np.array([0, 2]))}


def main() -> int:
    """Prints a table. Ends with 1 where a share of the first kind is above its bar."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch", help="the site-packages that PyTorch is in, or a Python that has it")
    parser.add_argument("--mxnet", help="not used: `make bench` tells all its programs who the peers are")
    options = parser.parse_args()
    gc.disable()
    mxlite.npx.set_np()
    scopes = [scope_of(mxlite.np, lambda values: mxlite.np.array(values, dtype=values.dtype)), scope_of(np, np.array)]
    found = measure(CALLS, *scopes)
    peers: dict[str, tuple[float, ...]] = {}
    if options.torch:
        sys.path.append(folder_of(options.torch))
        import torch

        torch.set_num_threads(1)
        peers = measure(TORCH, scopes[0], scope_of(torch, torch.tensor))["every step"]
    print(f"{'4 x 4, ns':34s} {'mx.np':>6s} {'NumPy':>6s} share {'torch':>6s} share")
    for kind, calls in found.items():
        print(kind)
        for text, (own, numpy) in calls.items():
            line = f"  {text:32s} {own:6.0f} {numpy:6.0f} {own / numpy:5.2f}"
            if text in peers and kind in TORCH:
                line += f" {peers[text][1]:6.0f} {peers[text][0] / peers[text][1]:5.2f}"
            print(line)
    return int(max(own / numpy for own, numpy in found["every step"].values()) > BAR)


if __name__ == "__main__":
    sys.exit(main())
