#!/usr/bin/env python3
"""Usual functions of mx.np on small arrays beside NumPy's, and PyTorch's where it is, in one process, in turns.

    taskset -c 1 .venv/bin/python benchmarks/usual_numpy.py --torch .venvs/peers/lib/python3.11/site-packages

Each number is the least of many short loops. Before they are measured the results are read and compared with NumPy's;
no call is deferred, so none is left out because nobody reads what it gives. `--torch` names the folder that PyTorch is
in, or a Python that has it. MXLITE_BINDING and MXLITE_LIBRARY choose the binding and the library.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import pathlib
import sys
from typing import Any

import numpy as np
from page import fill
from usual import folder_of, measure

os.environ["MXLITE_DEFER"] = "0"

import mxlite  # noqa: E402 - reads the environment

#: What is measured, by kind; x, y are 4 x 4 of float32, x is positive, m is a mask, i and j are numbers, p indices of
#: rows.
CALLS = {
    "every step": "x + y; x * y; np.exp(x); x.sum(); x.reshape(2, 8); x[i:j]; x[m]; x @ y",
    "elements": "x / y; x ** 2; -x; x > y; x == y; np.sqrt(x); np.maximum(x, y); np.where(m, x, y); x.clip(0, 1)",
    "reductions": "x.mean(); x.max(axis=1); x.std(); x.argmax(); np.cumsum(x, axis=0); float(x.sum())",
    "shapes": "x.T; x.transpose(1, 0); x.squeeze(); np.expand_dims(x, 0); np.concatenate([x, y]); np.stack([x, y])",
    "keys": "x[0]; x[0, 1]; x[i, j]; x[:, i]; x[p]; z[m] = 0; z[i] = 1",
    "new arrays": 'np.zeros((4, 4)); np.array([1.0, 2.0]); np.arange(4); x.copy(); x.astype("float64")',
    "products": "np.dot(x, y); np.tensordot(x, y, 1); np.einsum('ij,jk->ik', x, y)",
}
#: The calls that PyTorch spells so too.
TORCH = {"every step": "x + y; x * y; np.exp(x); x.sum(); x.reshape(2, 8); x[i:j]; x[m]; x @ y"}
#: The largest share of NumPy's time for the first kind, and of PyTorch's.
BAR, TORCH_BAR = 1.1, 0.5


def scope_of(library: Any, array: Any) -> dict[str, Any]:
    """What the calls name; `array` makes an array of NumPy's."""
    values = np.random.default_rng(1).random((4, 4), dtype=np.float32) + np.float32(0.1)
    x, y = array(values), array(values.T.copy())
    return {"np": library, "x": x, "y": y, "z": x + 0, "m": x > 0.5, "i": 1, "j": 3, "p": array(np.array([0, 2]))}


def compare(own: dict[str, Any], numpy: dict[str, Any]) -> None:
    """Reads what every call gives, and ends the program where it is not NumPy's."""
    for text in (part.strip() for texts in CALLS.values() for part in texts.split(";")):
        if " = " in text:
            exec(text, own), exec(text, numpy)
            made, wanted = own["z"], numpy["z"]
        else:
            made, wanted = eval(text, own), eval(text, numpy)
        made = made.asnumpy() if hasattr(made, "asnumpy") else made
        if np.shape(made) != np.shape(wanted) or not np.allclose(made, wanted, 1e-5, 1e-6):
            raise SystemExit(f"{text}: {made} is not NumPy's {wanted}")


def main() -> int:
    """Prints a table. Ends with 1 where a share of the first kind is above its bar."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch", help="the site-packages that PyTorch is in, or a Python that has it")
    parser.add_argument("--mxnet", help="not used: `make bench` tells all its programs who the peers are")
    parser.add_argument("--page", type=pathlib.Path, help="docs/performance.md, to fill in the table of")
    options = parser.parse_args()
    gc.disable()
    mxlite.npx.set_np()
    scopes = [scope_of(mxlite.np, lambda values: mxlite.np.array(values, dtype=values.dtype)), scope_of(np, np.array)]
    compare(*scopes)
    found = measure(CALLS, *scopes)
    peers: dict[str, tuple[float, ...]] = {}
    if options.torch:
        sys.path.append(folder_of(options.torch))
        import torch

        torch.set_num_threads(1)
        peers = measure(TORCH, scopes[0], scope_of(torch, torch.tensor))["every step"]
    lines = ["| 4 x 4, ns | `mx.np` | NumPy | share | PyTorch | share |", "|---|--:|--:|--:|--:|--:|"]
    shares = []
    for kind, calls in found.items():
        lines.append(f"| *{kind}* | | | | | |")
        for text, (own, numpy) in calls.items():
            torchs = peers[text][1] if text in peers and kind in TORCH else math.nan
            lines.append(f"| `{text}` | {own:.0f} | {numpy:.0f} | {share(own / numpy, BAR)} |")
            lines[-1] += " | |" if math.isnan(torchs) else f" {torchs:.0f} | {share(own / torchs, TORCH_BAR)} |"
            if kind in TORCH:
                shares.append((own / numpy > BAR) | (own / torchs > TORCH_BAR))
    print("\n".join(lines))
    if options.page is not None:
        fill(options.page, "usual_numpy.py", {"usual of mx.np": lines})
    return int(any(shares))


def share(value: float, bar: float) -> str:
    """A share, bold above its bar."""
    return f"{value:.2f}" if value <= bar else f"**{value:.2f}**"


if __name__ == "__main__":
    sys.exit(main())
