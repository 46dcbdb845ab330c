"""Wrong and borderline arguments, and layouts of results, on PyTorch and on mxlite.torch. `make test-torch` runs it.

check_refusals.py [COUNT]: every call of refusals.py and texts.py; of keys and values below; the strides of COUNT random
layouts. No error may have a sentence of PyTorch's.
"""

from __future__ import annotations

import itertools
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch as real

import mxlite.torch as ours

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compare import builtin, report, same_words, words_of
from refusals import REFUSED, SETUP
from texts import TEXTS

KEYS = """0 -1 4 slice(0,2) slice(None) ... None [0,1] [] i y[:2] b u u[0] u[1] b[0] y[0] 1.5 'a' True (0,0) (...,0)
    (slice(0,2),None) (b,0) (slice(0,2),u[0]) (u[0],u[0]) torch.tensor([9]) torch.tensor([1.]) slice(1.5) range(2)
    np.array([0,1]) torch.zeros(0,dtype=torch.bool) (slice(0,2),b[0])""".split()
VALUES = """1 1.5 True None 'a' [1] np.float64(2) s y[0] b[0] u[0] y[:2] d[:2] torch.ones(2) torch.ones(3)
    torch.ones(2,1) torch.ones(0) torch.ones(1) torch.ones(2,dtype=torch.bool)""".split()
TARGETS = ("a.clone()", "a.long()", "u.clone()", "b.clone()", "a.view(2, 2).clone()")

#: Functions whose results lie as their inputs do, or in C order whatever these do.
LAYOUTS = """x.clone() | x + 1 | x + y | x * y | y - x | x.relu() | x.exp() | x.double() | x > y | -x | x.clamp(-1, 1)
    | x ** 2 | torch.maximum(x, y) | torch.zeros_like(x) | torch.full_like(x, 2) | torch.addcmul(x, y, y) | F.gelu(x)
    | F.silu(x) | F.elu(x) | F.leaky_relu(x) | F.softplus(x) | F.prelu(x, torch.ones(1)) | x.masked_fill(x > 0, 1.)
    | x.contiguous() | x.bool() | x + torch.tensor(2.) | x + torch.ones(x.shape[-1]) | torch.ones(x.shape[-1]) * x
    | F.mse_loss(x, y, reduction='none') | F.layer_norm(x, (x.shape[-1],)) | x.softmax(-1) | x.sum(0) | x.cumsum(0)
    | torch.cat([x, x]) | x.clone().mul_(2) | x.detach() + 1 | x.amax(0) | x.reshape(-1) | x.flatten(0, 1)
    | (x + 1).transpose(0, 1).contiguous() | x.remainder(2) | x.isnan() | torch.atan2(x, y) | x.long() + 1"""


class Refusal(NamedTuple):
    """The class of an error, and what it says."""

    kind: str
    says: str


def answer(torch: Any, text: str) -> Any:
    """The error of an expression, or shape, dtype and values of its result."""
    names = {"torch": torch, "np": np, "put": put, "t": torch.tensor}
    torch.manual_seed(0)
    exec(SETUP, names)  # noqa: S102 - text of our own
    try:
        made = eval(text, names)
    except Exception as problem:  # noqa: BLE001 - it is the result
        return Refusal(builtin(problem), words_of(problem))
    return [tuple(made.shape), str(made.dtype), str(made.tolist())] if isinstance(made, torch.Tensor) else None


def put(target: Any, key: Any, value: Any) -> Any:
    """The target after an assignment."""
    target[key] = value
    return target


def laid(torch: Any, shape: list[int], seed: int) -> Any:
    """A tensor of a shape in some layout."""
    choose = random.Random(seed)
    kind = choose.choice(("turned", "turned", "turned", "steps", "expanded", "plain"))
    order = choose.sample(range(len(shape)), len(shape))
    values = np.random.default_rng(seed).standard_normal([shape[each] for each in order]).astype(np.float32)
    x = torch.from_numpy(values).clone().permute(*(order.index(each) for each in range(len(shape))))
    if kind == "steps":
        return torch.cat([x, x], -1)[..., ::2]
    return x[:1].expand(*shape) if kind == "expanded" else x.contiguous() if kind == "plain" else x


def layout(torch: Any, text: str, seed: int) -> Any:
    """The strides of a result, where there is more than one position."""
    choose = random.Random(seed)
    shape = [choose.choice((2, 3, 4)), *(choose.choice((1, 2, 3)) for _ in range(choose.choice((1, 2, 2, 3))))]
    x, y = laid(torch, shape, seed), laid(torch, shape, seed + 1)
    made = eval(text, {"x": x, "y": y, "torch": torch, "F": torch.nn.functional})
    return [stride for stride, size in zip(made.stride(), made.shape) if size > 1], made.is_contiguous()


def calls() -> list[str]:
    """Every call of refusals.py, and of each target with each key, and with each value there."""
    texts = [text.strip() for listed in REFUSED.values() for text in listed.strip().splitlines()]
    texts += TEXTS
    texts += [f"{target}[{key}]" for target, key in itertools.product(TARGETS, KEYS)]
    return texts + [f"put({target}, {key}, {value})" for target, key, value in itertools.product(TARGETS, KEYS, VALUES)]


def differences(texts: list[str], count: int) -> Iterator[str]:
    """Calls that answer otherwise, and functions some of whose layouts are others."""
    for text in texts:
        first, second = answer(real, text), answer(ours, text)
        both_refuse = isinstance(first, Refusal) and isinstance(second, Refusal)
        if both_refuse:
            copied = same_words(first.says, second.says)
            if copied:
                yield f"{text}: {second.says}: PyTorch's words: {copied}"
            elif first.kind != second.kind and not text.startswith("put"):  # of two mistakes one is named
                yield f"{text}: {first.kind} / {second.kind}"
        elif first != second:
            if isinstance(first, Refusal) and first.kind == "RuntimeError" and ", u, " in text:
                continue  # PyTorch refuses a number at a mask of bytes, which it takes with several values
            yield f"{text}: {first} / {second}"
    for text in (each.strip() for each in LAYOUTS.split("|")):
        apart = [seed for seed in range(count) if layout(real, text, seed) != layout(ours, text, seed)]
        if apart:
            yield f"{text}: seeds {apart}: {layout(real, text, apart[0])} / {layout(ours, text, apart[0])}"


def main() -> int:
    """Prints what differs; 1 where something does."""
    warnings.simplefilter("ignore")
    texts, count = calls(), int(sys.argv[1]) if len(sys.argv) > 1 else 100
    return report(f"refusals: {len(texts)} calls and {count} layouts", differences(texts, count))


if __name__ == "__main__":
    sys.exit(main())
