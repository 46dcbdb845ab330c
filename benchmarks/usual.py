#!/usr/bin/env python3
"""Usual functions of mxlite.torch on small tensors beside PyTorch's, in one process, in turns.

    taskset -c 1 .venv/bin/python benchmarks/usual.py --torch .venvs/peers/lib/python3.11/site-packages

Each number is the least of many short loops. `--torch` names the folder that PyTorch is in, or a Python that has it.
MXLITE_BINDING and MXLITE_LIBRARY choose the binding and the library. Ends with 1 where a share is above its bar.
"""

from __future__ import annotations

import argparse
import gc
import pathlib
import statistics
import subprocess
import sys
import timeit
from typing import Any

import numpy as np

import mxlite.torch

#: What is measured, by kind; x, y, w are 4 x 4, b has 4 elements, i holds indices, m is a mask, p indices of columns.
CALLS = {
    "element-wise": """
        torch.add(x, y); x + y; x * 2.0; x / y; x ** 2; -x; x.abs(); torch.exp(x); x.sqrt(); x.sigmoid()
        torch.relu(x); F.gelu(x); x.clamp(0, 1); torch.minimum(x, y); torch.where(m, x, y); x.masked_fill(m, 0.0)
        x > y; x == 0; x.float()
    """,
    "reductions": """
        x.sum(); x.sum(0); x.mean(); x.mean(1); x.max(); x.max(1); x.argmax(1); x.std(0); x.var(); x.norm(); m.any()
        m.all(); x.cumsum(0); x.sort(); x.topk(2)
    """,
    "shapes": """
        x.view(16); x.reshape(2, -1); x.flatten(); x.t(); x.transpose(0, 1); x.permute(1, 0); x.unsqueeze(0)
        w.squeeze(0); b.expand(4, 4); x.repeat(2, 1); torch.cat([x, y]); torch.stack([x, y]); x.split(2); x.chunk(2)
    """,
    "keys": """
        x[0]; x[1:3]; x[:, 1]; x[None]; x[0, 0]; x[i]; x[m]; x.gather(1, p); z[0] = 1.0; z[:, 1] = b
    """,
    "in place": """
        z.add_(x); z.mul_(1.0); z.zero_(); z.copy_(x)
    """,
    "new tensors": """
        torch.zeros(4, 4); torch.ones(4, 4); torch.zeros_like(x); torch.arange(4); torch.rand(4, 4)
        torch.tensor([1.0, 2.0]); x.clone(); x.detach(); torch.tril(x)
    """,
    "products": """
        x @ y; torch.matmul(x, y); torch.mm(x, y); torch.bmm(w, w); b.dot(b); torch.outer(b, b)
        torch.einsum("ij,jk->ik", x, y)
    """,
    "networks": """
        F.linear(x, y, b); torch.softmax(x, 1); F.log_softmax(x, 1); F.mse_loss(x, y); F.cross_entropy(x, i)
        F.layer_norm(x, (4,)); F.embedding(i, x); F.dropout(x, 0.5); F.one_hot(i, 4)
    """,
    "Python": """
        x.shape; x.size(0); x.dim(); x.numel(); s.item(); bool(s); x.tolist(); x.numpy(); x.requires_grad
    """,
}
#: The largest share of PyTorch's time, and that of a table's median.
BAR, MEDIAN = 4.0, 0.6
LOOPS, TURNS = 500, 20


def scope_of(torch: Any) -> dict[str, Any]:
    """What the calls name."""
    values = np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32)
    x, y = torch.tensor(values), torch.tensor(values.T.copy())
    names = {"x": x, "y": y, "z": x.clone(), "w": x.unsqueeze(0), "b": x[0].clone(), "m": x > 0, "s": x.sum()}
    names |= {"i": torch.tensor([0, 1, 1, 3]), "p": torch.tensor([[0], [1], [2], [3]])}
    return {**names, "torch": torch, "F": torch.nn.functional}


def measure(calls: dict[str, str], *scopes: dict[str, Any]) -> dict[str, dict[str, tuple[float, ...]]]:
    """Kind -> call -> nanoseconds in each scope, the least of turns that these take."""
    found: dict[str, dict[str, tuple[float, ...]]] = {}
    for kind, texts in calls.items():
        for text in (part.strip() for line in texts.splitlines() for part in line.split(";")):
            if not text:
                continue
            timers = [timeit.Timer(text, globals=scope) for scope in scopes]
            turns = [[timer.timeit(LOOPS) / LOOPS * 1e9 for timer in timers] for _ in range(TURNS)]
            found.setdefault(kind, {})[text] = tuple(map(min, zip(*turns)))
    return found


def folder_of(place: str) -> str:
    """The site-packages that `--torch` means."""
    if pathlib.Path(place).is_dir():
        return place
    ask = "import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))"
    return subprocess.run([place, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()


def main() -> int:
    """Prints a table; fills in that of a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch", required=True, help="the site-packages that PyTorch is in, or a Python that has it")
    parser.add_argument("--mxnet", help="not used: `make bench` tells all its programs who the peers are")
    parser.add_argument("--page", type=pathlib.Path, help="docs/performance.md, to fill in the table of")
    options = parser.parse_args()
    sys.path.append(folder_of(options.torch))
    import torch

    torch.set_num_threads(1)
    gc.disable()
    lines = ["| 4 x 4, us | mxlite.torch | PyTorch | share |", "|---|--:|--:|--:|"]
    shares = []
    for kind, calls in measure(CALLS, scope_of(mxlite.torch), scope_of(torch)).items():
        lines.append(f"| *{kind}* | | | |")
        for text, (own, peer) in calls.items():
            shares.append(own / peer)
            share = f"{own / peer:.2f}" if own / peer <= BAR else f"**{own / peer:.2f}**"
            lines.append(f"| `{text}` | {own / 1000:.2f} | {peer / 1000:.2f} | {share} |")
    middle = statistics.median(shares)
    slower = sum(share > 1 for share in shares)
    lines.append(f"| median of {len(shares)}; {slower} take more than PyTorch's time | | | {middle:.2f} |")
    print("\n".join(lines))
    if options.page is not None:
        from page import fill

        fill(options.page, "usual.py", {"usual": lines})
    return int(middle > MEDIAN or max(shares) > BAR)


if __name__ == "__main__":
    sys.exit(main())
