"""Runs random calls under torch.func on PyTorch and on mxlite.torch: jvp, its gradient, vmap, and gradients under vmap.

The functions are the calls of calls.py that take float64 tensors, and integers and masks beside them. For vmap some of
the tensors are batches, in other orders of their elements where they are no floats, and the others the same for all.
What PyTorch refuses is left out: its vmap has no rule for some, and its forward mode none for others.

    check_transforms.py [--count N] [--first SEED] [--name TEXT]
    check_transforms.py --loops [--count N] ...: what of mxlite.torch runs example by example, and of which calls
"""

from __future__ import annotations

import argparse
import collections
import random
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
#: takes any source of slice_scatter, and the gradient of its select_scatter under vmap
#: counts the source once for each example. It gives a padding's row of
#: an embedding gradients under vmap and tangents. It reads beyond expanded tensors in median, and
#: lu_solve nested in vmap is of another matrix; jvp promotes where its products refuse two dtypes.
_DIFFER = re.compile(
    r"binary_cross|cl(ip|amp)\(t0, [-\d.]+, t1|logit|float16|float32|hardsigmoid|tril|triu|cholesky|norm\(|std"
    r"|logsumexp\(\(\)|digamma|cumprod|xlogy|kl_div|xlog1py|quantile|eigh|eigvalsh|qr\(|cond\(|triangular_solve|detach_"
    r"|(slice|select)_scatter|matrix_exp|airy_ai|logcumsumexp|narrow_copy"
    r"|prelu|logdet|solve_triangular|dist\(|embedding\(t0, t1, 1|lu_solve|var\(t0, \(\)|linear\(|vdot|median"
)

#: The same of forward mode: PyTorch has no tangents through products of what is scattered; of several values for one
#: element it takes the last tangent, where all of them have gradients.
_MOVED = re.compile(r"(scatter|index)_reduce.*prod|put\(|index_copy|fmax|fmin|clip|clamp")

#: Calls that have no derivative or no batches on one side, or that draw or promise nothing.
_ASIDE = re.compile(
    r"rand|empty|dropout|bernoulli|multinomial|normal|data_ptr|uniform|shuffle|storage|\.data\b|requires_|is_inference"
    r"|view\(torch|polygamma_"
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


def batches_of(call: Call) -> tuple[list[np.ndarray], list[int | None]]:
    """A batch of three for each tensor; and in_dims, by the seed: all of them, or some."""
    found = []
    for each in call.tensors:
        values = each.values
        if values.dtype == np.float64:
            found.append(np.stack([_moved(values, step) for step in range(3)]))
        else:
            flat = values.reshape(-1)
            found.append(np.stack([flat, flat[::-1], np.roll(flat, 1)]).reshape(3, *values.shape))
    choose = random.Random(call.seed)
    dims = [0 if choose.random() < 0.6 else None for _ in found]
    return found, dims if any(dim == 0 for dim in dims) else [0] * len(dims)


def answers(torch: Any, call: Call) -> dict[str, Any]:
    """What each transform gives; the error of one that fails."""
    run, func = function_of(torch, call), torch.func
    values = [each.values for each in call.tensors]
    floats = tuple(place for place, each in enumerate(values) if each.dtype == np.float64)
    given = [torch.from_numpy(each.copy()) for each in values]
    moves = tuple(torch.from_numpy(_moved(0 * values[place], place)) for place in floats)
    wide, dims = batches_of(call)
    batch = [torch.from_numpy(np.ascontiguousarray(each if dim == 0 else each[0])) for each, dim in zip(wide, dims)]
    pairs = [torch.from_numpy(np.stack([each, each[::-1]]).copy()) for each in wide]
    in_dims, outer = tuple(dims), tuple(0 if place == call.seed % len(wide) else None for place in range(len(wide)))
    pairs = [
        (each if far == 0 else each[0]) if dim == 0 else (each[:, 0] if far == 0 else each[0, 0])
        for each, dim, far in zip(pairs, dims, outer)
    ]

    def of_floats(function: Callable, tensors: list) -> Callable:
        def called(*some: Any) -> Any:
            every = list(tensors)
            for place, each in zip(floats, some):
                every[place] = each
            return function(*every)

        return called

    def total(*values: Any) -> Any:
        return sum((each * each).sum() for each in run(*values))

    def of_gradient(*values: Any) -> Any:
        return sum((each * each).sum() for each in func.grad(total, floats)(*values))

    leaves = tuple(given[place] for place in floats)
    fixed = of_floats(run, given)

    def moved(*values: Any) -> Any:
        return sum((each * each).sum() for each in func.jvp(fixed, values, moves)[1])

    def gradient_of_moved() -> Any:
        if torch is ours:
            return func.grad(moved, tuple(range(len(floats))))(*leaves)
        # PyTorch's own forward mode loses derivatives in layer_norm, det, logdet, solve: ask its double backward.
        own = [each.requires_grad_() for each in leaves]
        found = torch.autograd.functional.jvp(fixed, tuple(own), moves, create_graph=True)[1]
        head = sum((each * each).sum() for each in found)
        return torch.autograd.grad(head, own, allow_unused=True, materialize_grads=True)

    def mapped(*some: Any) -> Any:
        return sum((v * v).sum() for v in of_floats(func.vmap(run, in_dims), batch)(*some))

    ways = {
        "jvp": lambda: func.jvp(fixed, leaves, moves),
        "gradient of jvp": gradient_of_moved,
        "jvp of gradient": lambda: func.jvp(of_floats(func.grad(total, floats), given), leaves, moves),
        "vmap": lambda: func.vmap(run, in_dims)(*batch),
        "vmap in vmap": lambda: func.vmap(func.vmap(run, in_dims), outer)(*pairs),
        "vmap of gradient": lambda: func.vmap(func.grad(total, floats), in_dims)(*batch),
        "vmap of second gradient": lambda: func.vmap(func.grad(of_gradient, floats), in_dims)(*batch),
        "gradient of vmap": lambda: func.grad(mapped, tuple(range(len(floats))))(*(batch[place] for place in floats)),
    }
    found = {}
    for name, way in ways.items():
        try:
            found[name] = [each.detach().numpy() for each in _flat(way())]
        except Exception as problem:  # noqa: BLE001 - it is the answer
            found[name] = problem
    return found


def of_each(torch: Any, call: Call) -> Any:
    """What the call gives for each example of its batches, stacked; or the error."""
    run, (wide, dims) = function_of(torch, call), batches_of(call)
    try:
        rows = [
            run(*(torch.from_numpy((each[k] if dim == 0 else each[0]).copy()) for each, dim in zip(wide, dims)))
            for k in range(3)
        ]
        return [torch.stack(each).detach().numpy() for each in zip(*rows)]
    except Exception as problem:  # noqa: BLE001 - it is the answer
        return problem


def errs_in_vmap(call: Call, theirs: Any) -> bool:
    """Whether PyTorch's vmap is not what PyTorch gives for each example, or one side refuses an example."""
    each = of_each(real, call)
    if isinstance(each, Exception) or isinstance(of_each(ours, call), Exception):
        return True
    same = isinstance(theirs, Exception) or (len(each) == len(theirs) and all(map(close, each, theirs)))
    return not same


def show_loops(calls: list[Call]) -> None:
    """Prints which operators and functions ran example by example, how often, and the shortest call."""
    found: dict[str, list[str]] = {}
    for call in calls:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            answers(ours, call)
        for each in told:
            name = re.match(r"vmap: (\S+) has no rule", str(each.message))
            if name:
                found.setdefault(name[1], []).append(call.text)
    for name, texts in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{name}: {len(texts)}, as in {min(texts, key=len)}")


def _flat(value: Any) -> list:
    return [each for part in value for each in _flat(part)] if isinstance(value, (tuple, list)) else [value]


def calls_of(options: argparse.Namespace) -> list[Call]:
    """The calls that the options ask for, of functions that both sides have."""
    forms, owners = (
        table(),
        {"torch": real, "Tensor": real.Tensor, "F": real.nn.functional, "linalg": real.linalg, "special": real.special},
    )
    names = [each for each in public_names(ours) if re.search(options.name, each) and not _ASIDE.search(each)]
    names = [each for each in names if each in forms]
    names = [each for each in names if hasattr(owners.get(each.partition(".")[0], real), each.partition(".")[2])]
    found = []
    for seed in range(options.first, options.first + options.count):
        call = Call(names[seed % len(names)], forms[names[seed % len(names)]], seed)
        kinds = {each.values.dtype.name for each in call.tensors}
        written = any(each.target for each in call.tensors)
        if "float64" in kinds and not written and kinds <= {"float64", "int64", "int32", "bool"}:
            if not call.special and not _ASIDE.search(call.text):
                found.append(call)
    return found


def main() -> int:
    """Prints what differs; how many answers did."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--name", default="")
    parser.add_argument("--loops", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    real.set_num_threads(1)
    np.seterr(all="ignore")
    if options.loops:
        show_loops(calls_of(options))
        return 0
    wrong: collections.Counter = collections.Counter()
    asked = known = 0
    for call in calls_of(options):
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
                differs = _DIFFER.search(call.text) or ("jvp" in way and _MOVED.search(call.text))
                repeats = any(each.layout == "expand" for each in call.tensors)  # a singular matrix
                singular = repeats and re.search(r"svd|lu_|lu\(", call.text)
                differs = differs or singular or ("vmap" in way and errs_in_vmap(call, theirs["vmap"]))
                if differs or not all(each.size and np.isfinite(each).all() for each in expected):
                    known += 1
                    continue
                wrong[way] += 1
                print(f"{way}: {call.seed}: {call.text}\n    {call.program()[:300]}")
                print(f"    {expected!r:.400}\n    {found!r:.400}")
    print(f"transforms: {asked} answers, {known} known to differ, wrong: {dict(wrong)}")
    return sum(wrong.values())


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
