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

#: What is measured, by kind; x, y, w are 4 x 4, b has 4 elements, i holds indices, m is a mask, p indices of columns;
#: c is an image and k a kernel, g has a gradient.
CALLS = {
    "element-wise": """
        torch.add(x, y); x + y; x * 2.0; x / y; x ** 2; -x; x.abs(); torch.exp(x); x.sqrt(); x.sigmoid()
        torch.relu(x); F.gelu(x); x.clamp(0, 1); torch.minimum(x, y); torch.where(m, x, y); x.masked_fill(m, 0.0)
        x > y; x == 0; x.float(); 1 - x; x.sub(y, alpha=2); torch.addcmul(x, y, y); torch.lerp(x, y, 0.5); x.log1p()
        x.tanh(); torch.sin(x); x.floor(); x.round(); torch.sign(x); F.silu(x); F.softplus(x); F.leaky_relu(x)
        x.pow(y); m & m; ~m; torch.isnan(x); torch.isclose(x, y); torch.logical_or(m, m); x.clamp_min(0)
    """,
    "reductions": """
        x.sum(); x.sum(0); x.mean(); x.mean(1); x.max(); x.max(1); x.argmax(1); x.std(0); x.var(); x.norm(); m.any()
        m.all(); x.cumsum(0); x.sort(); x.topk(2); x.prod(); x.logsumexp(1); x.median(); torch.equal(x, y); x.argsort()
        torch.allclose(x, x); x.amax((0, 1)); torch.linalg.norm(x); m.nonzero(); x.sum((0, 1), keepdim=True)
    """,
    "shapes": """
        x.view(16); x.reshape(2, -1); x.flatten(); x.t(); x.transpose(0, 1); x.permute(1, 0); x.unsqueeze(0)
        w.squeeze(0); b.expand(4, 4); x.repeat(2, 1); torch.cat([x, y]); torch.stack([x, y]); x.split(2); x.chunk(2)
        x.T; x.contiguous(); x.expand_as(w); x.flip(0); x.roll(1, 0); x.narrow(0, 1, 2); x.unbind(0); x.diagonal()
        x.view_as(y); w.swapaxes(0, 1); x.movedim(0, 1)
    """,
    "keys": """
        x[0]; x[1:3]; x[:, 1]; x[None]; x[0, 0]; x[i]; x[m]; x.gather(1, p); z[0] = 1.0; z[:, 1] = b; x[..., 0]
        x[-1]; x[:, None]; x[i, i]; x.index_select(0, i); z.scatter_(1, p, 1.0); z[m] = 0.0; x.take_along_dim(p, 1)
    """,
    "in place": """
        z.add_(x); z.mul_(1.0); z.zero_(); z.copy_(x); z.fill_(1.0); z.sub_(x, alpha=0.1); z.clamp_(0, 1)
        z.addcdiv_(x, y, value=0.1); z.masked_fill_(m, 1.0); z.lerp_(x, 0.1)
    """,
    "new tensors": """
        torch.zeros(4, 4); torch.ones(4, 4); torch.zeros_like(x); torch.arange(4); torch.rand(4, 4); torch.randn(4, 4)
        torch.tensor([1.0, 2.0]); x.clone(); x.detach(); torch.tril(x); torch.full((4, 4), 2.0); torch.eye(4)
        torch.linspace(0, 1, 5); torch.empty(4, 4); x.new_zeros(3); torch.randperm(4); x.to(torch.float64)
    """,
    "products": """
        x @ y; torch.matmul(x, y); torch.mm(x, y); torch.bmm(w, w); b.dot(b); torch.outer(b, b)
        torch.einsum("ij,jk->ik", x, y); torch.addmm(x, x, y); x.mv(b); torch.baddbmm(w, w, w)
    """,
    "networks": """
        F.linear(x, y, b); torch.softmax(x, 1); F.log_softmax(x, 1); F.mse_loss(x, y); F.cross_entropy(x, i)
        F.layer_norm(x, (4,)); F.embedding(i, x); F.dropout(x, 0.5); F.one_hot(i, 4); F.nll_loss(x, i)
        F.binary_cross_entropy_with_logits(x, y); F.smooth_l1_loss(x, y); F.pad(x, (1, 1)); F.normalize(x)
        F.conv2d(c, k); F.max_pool2d(c, 2); linear(x); network(x)
    """,
    "gradients": """
        (g * 2).sum().backward(); torch.autograd.grad((g * g).sum(), g); g.detach().requires_grad_()
    """,
    "Python": """
        x.shape; x.size(0); x.dim(); x.numel(); s.item(); bool(s); x.tolist(); x.numpy(); x.requires_grad; len(x)
        x.dtype; x.device; x.is_contiguous(); x.stride(); float(s); x.grad
    """,
}
#: The largest share of PyTorch's time, and that of a table's median.
BAR, MEDIAN = 1.2, 0.5
LOOPS, TURNS = 500, 20


def scope_of(torch: Any) -> dict[str, Any]:
    """What the calls name."""
    values = np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32)
    x, y = torch.tensor(values), torch.tensor(values.T.copy())
    names = {"x": x, "y": y, "z": x.clone(), "w": x.unsqueeze(0), "b": x[0].clone(), "m": x > 0, "s": x.sum()}
    names |= {"i": torch.tensor([0, 1, 1, 3]), "p": torch.tensor([[0], [1], [2], [3]]), "g": x.clone().requires_grad_()}
    names |= {"c": x.reshape(1, 1, 4, 4), "k": torch.ones(1, 1, 3, 3), "linear": torch.nn.Linear(4, 4)}
    names["network"] = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4))
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
