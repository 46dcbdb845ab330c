"""Runs random calls under torch.func on PyTorch and on mxlite.torch: jvp, its gradient, vmap, and gradients under vmap.

The functions are the calls of calls.py that take float64 tensors. What PyTorch refuses is left out: its vmap has no
rule for some, and its forward mode none for others.

    check_transforms.py [--count N] [--first SEED] [--name TEXT]
"""

from __future__ import annotations

import argparse
import collections
import re
import sys
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import torch as real

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from calls import Call
from compare import close
from forms import public_names, table

import mxlite.torch as ours
import mxlite.torch.func  # noqa: F401

#: What differs and may, beside infinite numbers: kinks, weights of losses, what PyTorch takes under a transform alone,
#: numbers of fewer digits, moves of a matrix that must be symmetric, matrices without an inverse, and the norm of
#: nothing, or of equal numbers. PyTorch's jvp of triangular_solve is not its derivative (ask differences), its vmap
#: rolls numbers over the batch and takes any source of slice_scatter, and the gradient of its select_scatter under vmap
#: counts the source once for each example.
_DIFFER = re.compile(
    r"binary_cross|cl(ip|amp)\(t0, [-\d.]+, t1|logit|float16|float32|hardsigmoid|tril|triu|cholesky|norm\(|std"
    r"|logsumexp\(\(\)|digamma|cumprod|xlogy|kl_div|xlog1py|quantile|eigh|eigvalsh|qr\(|cond\(|triangular_solve|detach_"
    r"|(slice|select)_scatter|^t0\.roll\(\d\)"
)

#: Calls that have no derivative or no batches on one side, or that draw or promise nothing.
_ASIDE = re.compile(
    r"rand|empty|dropout|bernoulli|multinomial|normal|data_ptr|uniform|shuffle|storage|\.data\b|requires_|is_inference"
)


def function_of(torch: Any, call: Call) -> Callable:
    """The call as a function of the leaves from which its tensors are made."""

    def run(*given: Any) -> Any:
        space = {f"t{i}": each.lay(leaf) for i, (each, leaf) in enumerate(zip(call.tensors, given))}
        names = {**space, "torch": torch, "np": np, "inf": float("inf"), "nan": float("nan")}
        found = eval(call.text, names)  # noqa: S307
        parts = found if isinstance(found, (tuple, list)) else [found]
        return tuple(each for each in parts if isinstance(each, torch.Tensor) and each.is_floating_point())

    return run


def _moved(values: np.ndarray, step: int) -> np.ndarray:
    return np.asarray(values + 0.1 * np.cos(np.arange(values.size) + step).reshape(values.shape))


def answers(torch: Any, call: Call) -> dict[str, Any]:
    """What each transform gives; the error of one that fails."""
    run, func = function_of(torch, call), torch.func
    values = [each.values for each in call.tensors]
    given = [torch.from_numpy(each.copy()) for each in values]
    moves = [torch.from_numpy(_moved(0 * each, place)) for place, each in enumerate(values)]
    batch = [torch.from_numpy(np.stack([_moved(each, step) for step in range(3)])) for each in values]

    def total(*values: Any) -> Any:
        return sum((each * each).sum() for each in run(*values))

    def moved(*values: Any) -> Any:
        return sum((each * each).sum() for each in func.jvp(run, values, tuple(moves))[1])

    def gradient_of_moved() -> Any:
        if torch is ours:
            return func.grad(moved, every)(*given)
        # PyTorch's own forward mode loses derivatives in layer_norm, det, logdet, solve: ask its double backward.
        leaves = [each.requires_grad_() for each in given]
        found = torch.autograd.functional.jvp(run, tuple(leaves), tuple(moves), create_graph=True)[1]
        head = sum((each * each).sum() for each in found)
        return torch.autograd.grad(head, leaves, allow_unused=True, materialize_grads=True)

    every = tuple(range(len(given)))
    ways = {
        "jvp": lambda: func.jvp(run, tuple(given), tuple(moves)),
        "gradient of jvp": gradient_of_moved,
        "jvp of gradient": lambda: func.jvp(func.grad(total, every), tuple(given), tuple(moves)),
        "vmap": lambda: func.vmap(run)(*batch),
        "vmap of gradient": lambda: func.vmap(func.grad(total, every))(*batch),
        "gradient of vmap": lambda: func.grad(lambda *b: sum((v * v).sum() for v in func.vmap(run)(*b)), every)(*batch),
    }
    found = {}
    for name, way in ways.items():
        try:
            found[name] = [each.detach().numpy() for each in _flat(way())]
        except Exception as problem:  # noqa: BLE001 - it is the answer
            found[name] = problem
    return found


def _flat(value: Any) -> list:
    return [each for part in value for each in _flat(part)] if isinstance(value, (tuple, list)) else [value]


def main() -> int:
    """Prints what differs; how many answers did."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--name", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    real.set_num_threads(1)
    np.seterr(all="ignore")
    forms, owners = (
        table(),
        {"torch": real, "Tensor": real.Tensor, "F": real.nn.functional, "linalg": real.linalg, "special": real.special},
    )
    names = [each for each in public_names(ours) if re.search(options.name, each) and not _ASIDE.search(each)]
    names = [each for each in names if each in forms]
    names = [each for each in names if hasattr(owners.get(each.partition(".")[0], real), each.partition(".")[2])]
    wrong: collections.Counter = collections.Counter()
    asked = known = 0
    for seed in range(options.first, options.first + options.count):
        call = Call(names[seed % len(names)], forms[names[seed % len(names)]], seed)
        floats = all(each.values.dtype == np.float64 and not each.target for each in call.tensors)
        if not call.tensors or not floats or call.special or _ASIDE.search(call.text) or "put(" in call.text:
            continue
        theirs = answers(real, call)
        if all(isinstance(each, Exception) for each in theirs.values()):
            continue
        mine = answers(ours, call)
        for way, expected in theirs.items():
            strided = "as_strided" in call.program() and "vmap" in way  # of the memory of a part: PyTorch's own affair
            if isinstance(expected, Exception) or strided or ".as_strided(" in call.text:
                continue
            asked += 1
            found = mine[way]
            if isinstance(found, Exception) or len(found) != len(expected) or not all(map(close, expected, found)):
                if _DIFFER.search(call.text) or not all(np.isfinite(each).all() for each in expected):
                    known += 1
                    continue
                wrong[way] += 1
                print(f"{way}: {seed}: {call.text}\n    {call.program()[:300]}")
                print(f"    {expected!r:.400}\n    {found!r:.400}")
    print(f"transforms: {asked} answers, {known} known to differ, wrong: {dict(wrong)}")
    return sum(wrong.values())


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
