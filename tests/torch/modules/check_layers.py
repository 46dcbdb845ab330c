"""Layers, losses, optimizers and schedules on PyTorch and on mxlite.torch: texts, names, values, gradients, errors.

check_layers.py [TEXT]: all, or what contains a text. `make test-torch` calls it.
"""

from __future__ import annotations

import importlib
import json
import math
import re
import sys
import warnings
from collections import OrderedDict
from itertools import product
from pathlib import Path
from typing import Any, Callable

import numpy as np
import torch as real

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compare import numbers_of, same_words, words_of

import mxlite.torch as ours

SIDES = (real, ours)
rng = np.random.default_rng(5)


#: Layers with the shapes of their inputs; "i4" after a shape: integers below 4.
LAYERS: list[tuple[str, tuple]] = [
    ("nn.Linear(3, 4)", ((5, 3),)),
    ("nn.Linear(3, 4, bias=False)", ((2, 5, 3),)),
    ("nn.Linear(3, 4)", ((3,),)),
    ("nn.Bilinear(2, 3, 4)", ((5, 2), (5, 3))),
    ("nn.Bilinear(2, 3, 4, bias=False)", ((2, 5, 2), (2, 5, 3))),
    ("nn.Embedding(4, 3)", ((2, 5, "i4"),)),
    ("nn.Embedding(4, 3, padding_idx=-1)", ((2, 5, "i4"),)),
    ("nn.Identity(3, x=4)", ((2, 3),)),
    ("nn.LayerNorm(4)", ((2, 3, 4),)),
    ("nn.LayerNorm((3, 4), eps=1e-2)", ((2, 3, 4),)),
    ("nn.LayerNorm([4], elementwise_affine=False)", ((2, 3, 4),)),
    ("nn.LayerNorm(4, bias=False)", ((2, 3, 4),)),
    ("nn.GroupNorm(2, 4)", ((3, 4, 5),)),
    ("nn.GroupNorm(4, 4, affine=False)", ((3, 4, 5, 2),)),
    ("nn.GroupNorm(1, 4, bias=False)", ((3, 4),)),
    ("nn.PReLU()", ((3, 4),)),
    ("nn.PReLU(4, 0.1)", ((3, 4, 2),)),
    ("nn.Flatten()", ((2, 3, 4),)),
    ("nn.Flatten(0, 1)", ((2, 3, 4),)),
    ("nn.Unflatten(1, (2, 3))", ((2, 6),)),
    ("nn.CosineSimilarity()", ((3, 4), (3, 4))),
    ("nn.PairwiseDistance(2.0, keepdim=True)", ((3, 4), (3, 4))),
    ("nn.Dropout(0.0)", ((3, 4),)),
    ("nn.Dropout2d(0.0, True)", ((3, 4, 2, 2),)),
    ("nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))", ((5, 3),)),
    ("nn.Sequential(OrderedDict(a=nn.Linear(3, 4), b=nn.Tanh()))", ((5, 3),)),
    ("nn.Sequential(nn.Sequential(nn.Linear(3, 3), nn.ReLU()), nn.Identity())", ((5, 3),)),
    ("nn.Softmax(1)", ((3, 4),)),
    ("nn.LogSoftmax(dim=-1)", ((3, 4),)),
    ("nn.Softmin(0)", ((3, 4),)),
    ("nn.GLU()", ((3, 4),)),
    ("nn.Threshold(0.1, 2.0)", ((3, 4),)),
    ("nn.GELU('tanh')", ((3, 4),)),
    ("nn.LeakyReLU(0.3)", ((3, 4),)),
    ("nn.Hardtanh(-0.5, 0.25)", ((3, 4),)),
    ("nn.ReLU(inplace=True)", ()),
    ("nn.Hardswish(inplace=True)", ()),
    ("nn.Threshold(1, 2, True)", ()),
    ("nn.ELU(0.5, True)", ()),
    ("nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Linear(2, 2)])", ()),
    ("nn.ModuleDict({'a': nn.ReLU(True), 'b': nn.Sequential(nn.Linear(1, 2))})", ()),
    ("nn.ParameterList([torch.ones(2, 3), nn.Parameter(torch.ones(1))])", ()),
    ("nn.Sequential()", ()),
]
LAYERS += [
    (f"nn.{name}()", ((3, 4),))
    for name in (
        "ReLU ReLU6 LeakyReLU ELU SELU CELU GELU SiLU Mish Hardswish Hardsigmoid Hardtanh Hardshrink Softshrink "
        "Tanhshrink Softplus Softsign Sigmoid LogSigmoid Tanh"
    ).split()
]
for _dims in (1, 2, 3):
    _space = (7, 6, 5)[:_dims]
    LAYERS += [
        (f"nn.Conv{_dims}d(4, 6, {kernel}, {stride}, {padding!r}, {dilation}, {groups}, {bias})", ((2, 4, *_space),))
        for kernel, stride, padding, dilation, groups, bias in product(
            (2, 3), (1, 2), (0, 1, "same", "valid"), (1, 2), (1, 2), (True, False)
        )
        if not (padding == "same" and stride == 2)
    ]
    LAYERS += [
        (f"nn.Conv{_dims}d(2, 3, 3, padding={padding!r}, padding_mode={mode!r})", ((2, 2, *_space),))
        for padding, mode in product((1, 2, "same"), ("reflect", "replicate", "circular"))
    ]
    LAYERS += [
        (
            f"nn.ConvTranspose{_dims}d(4, 6, 3, {stride}, {padding}, {more}, {groups}, {bias}, {dilation})",
            ((2, 4, *_space),),
        )
        for stride, padding, more, groups, bias, dilation in product(
            (1, 2), (0, 1), (0, 1), (1, 2), (True, False), (1, 2)
        )
        if more < stride
    ]
    LAYERS += [
        (f"nn.{name}{_dims}d({options})", ((2, 3, *_space),))
        for name, options in (
            ("MaxPool", "2"), ("MaxPool", "3, 2, 1"), ("MaxPool", "2, 2, ceil_mode=True"),
            ("MaxPool", "3, 1, padding=1"), ("AvgPool", "2"), ("AvgPool", "3, 2, 1"), ("AvgPool", "2, ceil_mode=True"),
            ("AvgPool", "3, 2, 1, count_include_pad=False"), ("AdaptiveAvgPool", "1"), ("AdaptiveAvgPool", "3"),
            ("AdaptiveMaxPool", "1"), ("BatchNorm", "3"), ("BatchNorm", "3, 1e-3, 0.5"),
            ("BatchNorm", "3, affine=False"), ("BatchNorm", "3, momentum=None"), ("BatchNorm", "3, bias=False"),
            ("BatchNorm", "3, track_running_stats=False"), ("InstanceNorm", "3"), ("InstanceNorm", "3, affine=True"),
            ("InstanceNorm", "3, track_running_stats=True"),
        )
    ]  # fmt: skip
LAYERS += [
    ("nn.BatchNorm1d(3)", ((4, 3),)),
    ("nn.InstanceNorm2d(3)", ((3, 4, 5),)),
    ("nn.Conv2d(3, 2, 2)", ((3, 4, 5),)),
]
for _name, _layers, _first, _both, _bias in product(
    ("RNN", "LSTM", "GRU"), (1, 2), (False, True), (False, True), (True, False)
):
    _options = f"2, 3, {_layers}, batch_first={_first}, bidirectional={_both}, bias={_bias}"
    LAYERS.append((f"nn.{_name}({_options})", ((4, 5, 2),)))
LAYERS += [("nn.LSTM(2, 3)", ((4, 2),)), ("nn.RNN(2, 3, 1, 'relu')", ((4, 5, 2),)), ("nn.GRU(2, 3, dropout=0.5)", ())]
LAYERS += [("nn.GRU(2, 3)", ((4, 5, 2), (1, 5, 3)))]

#: Losses; their inputs are x of (3, 4), and a target.
LOSSES = [
    *(f"nn.MSELoss(reduction={reduction!r})(x, y)" for reduction in ("mean", "sum", "none")),
    "nn.L1Loss()(x, y)",
    "nn.SmoothL1Loss(beta=0.5)(x, y)",
    "nn.HuberLoss('sum', 0.3)(x, y)",
    "nn.NLLLoss()(x, labels)",
    "nn.NLLLoss(weight, ignore_index=1)(x, labels)",
    "nn.CrossEntropyLoss()(x, labels)",
    "nn.CrossEntropyLoss(weight, label_smoothing=0.1)(x, labels)",
    "nn.CrossEntropyLoss(reduction='none')(x, labels)",
    "nn.BCELoss()(x.sigmoid(), y.sigmoid())",
    "nn.BCEWithLogitsLoss(pos_weight=weight)(x, y.sigmoid())",
    "nn.KLDivLoss(reduction='sum', log_target=True)(x, y)",
]

#: Optimizers.
OPTIMIZERS = [
    *(
        f"optim.SGD(groups, lr=0.05, momentum={momentum}, dampening={dampening}, weight_decay={decay}, "
        f"nesterov={nesterov}, maximize={maximize})"
        for momentum, dampening, decay, nesterov, maximize in product(
            (0, 0.9), (0, 0.5), (0, 0.1), (False, True), (False, True)
        )
        if not (nesterov and (dampening or not momentum))
    ),
    *(
        f"optim.{name}(groups, lr=0.01, betas=({first}, 0.99), eps={eps}, weight_decay={decay}, amsgrad={ams}, "
        f"maximize={maximize})"
        for name, first, eps, decay, ams, maximize in product(
            ("Adam", "AdamW"), (0.9, 0.5), (1e-8, 1e-3), (0, 0.1), (False, True), (False, True)
        )
    ),
    *(
        f"optim.RMSprop(groups, lr=0.01, alpha={alpha}, weight_decay={decay}, momentum={momentum}, "
        f"centered={centered}, maximize={maximize})"
        for alpha, decay, momentum, centered, maximize in product(
            (0.99, 0.5), (0, 0.1), (0, 0.9), (False, True), (False, True)
        )
    ),
    *(
        f"optim.{name}(groups, {first}, weight_decay={decay}, maximize={maximize})"
        for (name, first), decay, maximize in product(
            (
                ("Adagrad", "lr=0.1, lr_decay=0.1"),
                ("Adagrad", "initial_accumulator_value=0.5, eps=1e-3"),
                ("Adadelta", "lr=0.5, rho=0.8, eps=1e-3"),
                ("Adadelta", "rho=1"),
                ("Adamax", "0.01, (0.5, 0.9)"),
                ("NAdam", "0.01, momentum_decay=0.1"),
                ("NAdam", "betas=(0.5, 0.9), decoupled_weight_decay=True"),
                ("RAdam", "0.05, (0.5, 0.9)"),
                ("RAdam", "0.05, decoupled_weight_decay=True"),
                ("ASGD", "0.02, lambd=0.1, alpha=0.5, t0=5"),
                ("ASGD", "t0=0"),
            ),
            (0, 0.1),
            (False, True),
        )
    ),
    "optim.Rprop(groups, 0.01, (0.4, 1.3), (1e-3, 0.5))",
    "optim.Rprop(groups, maximize=True)",
    *(f"optim.{name}(groups)" for name in "Adagrad Adadelta Adamax NAdam RAdam Rprop ASGD".split()),
    "optim.SGD(groups)",
    "optim.Adam(groups)",
    "optim.AdamW(groups)",
    "optim.RMSprop(groups)",
]

#: Schedules of learning rates.
SCHEDULES = [
    "StepLR(o, 3)",
    "StepLR(o, 2, gamma=0.5)",
    "MultiStepLR(o, [2, 5, 5], 0.5)",
    "ExponentialLR(o, 0.9)",
    "CosineAnnealingLR(o, 4)",
    "CosineAnnealingLR(o, 5, 0.01)",
    "LambdaLR(o, lambda epoch: 0.9**epoch)",
    "LambdaLR(o, [lambda epoch: 0.9**epoch, lambda epoch: 1 / (epoch + 1)])",
    "LinearLR(o)",
    "LinearLR(o, 0.5, 0.75, 4)",
    "ConstantLR(o, 0.5, 3)",
    "ConstantLR(o, 0.5, 0)",
    "PolynomialLR(o)",
    "PolynomialLR(o, 7, 2.5)",
    "MultiplicativeLR(o, lambda epoch: 0.9)",
    "MultiplicativeLR(o, [lambda epoch: 0.9, lambda epoch: 1 / (epoch + 1)])",
    "CosineAnnealingWarmRestarts(o, 3)",
    "CosineAnnealingWarmRestarts(o, 2, 2, 0.01)",
]

#: What is refused, and what some layers are like as texts, as PyTorch says it (`--record` writes it again): make test
#: compares these without PyTorch.
RECORD = Path(__file__).resolve().parents[2] / "python" / "pytorch" / "training.json"
ERRORS = list(json.loads(RECORD.read_text())["errors"])

#: Layers whose first values are compared.
FIRST_VALUES = [
    "nn.Linear(7, 9)",
    "nn.Bilinear(3, 4, 5)",
    "nn.Embedding(20, 6)",
    "nn.Embedding(20, 6, padding_idx=3)",
    "nn.Conv1d(4, 6, 3, groups=2)",
    "nn.Conv2d(3, 5, 3)",
    "nn.ConvTranspose2d(4, 6, 3)",
    "nn.BatchNorm2d(3)",
    "nn.LayerNorm(3)",
    "nn.LSTM(3, 5)",
    "nn.PReLU()",
    *(
        f"nn.ParameterList([nn.init.{how}(torch.empty(20, 6, 3))])"
        for how in (
            "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "uniform_", "normal_", "ones_",
            "zeros_",
        )
    ),
    "nn.ParameterList([nn.init.kaiming_normal_(torch.empty(20, 60), 0.1, 'fan_out', 'relu')])",
    "nn.ParameterList([nn.init.xavier_uniform_(torch.empty(20, 60), nn.init.calculate_gain('tanh'))])",
]  # fmt: skip


def names_of(torch: Any) -> dict[str, Any]:
    """What the texts below may name."""
    data = importlib.import_module(f"{torch.__name__}.utils.data")

    class Stream(data.IterableDataset):
        def __iter__(self) -> Any:
            return iter([1, 2])

    p, inf = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
    inf.grad = torch.full((2,), math.inf)
    names = {"torch": torch, "nn": torch.nn, "optim": torch.optim, "data": data, "Stream": Stream, "p": p, "inf": inf}
    return {**names, "l": torch.nn.Linear(2, 3), "OrderedDict": OrderedDict}


def make(torch: Any, text: str) -> Any:
    """The value of a text."""
    return eval(text, names_of(torch))


def of_shape(shape: tuple) -> Any:
    """An input's values, as a list of lists."""
    if isinstance(shape[-1], str):
        return rng.integers(0, int(shape[-1][1:]), shape[:-1]).tolist()
    return rng.standard_normal(shape).tolist()


def same(first: Any, second: Any, rtol: float = 1e-9) -> bool:
    """Whether two values, or sequences of them, are equal up to rounding."""
    if isinstance(first, (tuple, list)):
        return len(first) == len(second) and all(same(a, b, rtol) for a, b in zip(first, second))
    if first is None or second is None:
        return first is second
    a, b = (np.asarray(each if isinstance(each, (int, float)) else numbers_of(each)) for each in (first, second))
    return a.shape == b.shape and np.allclose(a, b, rtol, rtol, equal_nan=True)


def flat(value: Any) -> list:
    """The tensors of a result."""
    return [each for part in value for each in flat(part)] if isinstance(value, (tuple, list)) else [value]


def results(torch: Any, layer: Any, inputs: list) -> list:
    """What a layer returns, and derivatives of order 1 and 2 of it."""
    kinds = [torch.float64 if np.asarray(each).dtype.kind == "f" else torch.int64 for each in inputs]
    given = [torch.tensor(each, dtype=kind) for each, kind in zip(inputs, kinds)]
    wanted = [each.requires_grad_() for each in given if each.is_floating_point()] + list(layer.parameters())
    made = flat(layer(*given))
    if not any(each.requires_grad for each in made):
        return made
    first = torch.autograd.grad(sum((each**3).sum() for each in made), wanted, create_graph=True, allow_unused=True)
    if isinstance(layer, torch.nn.Hardsigmoid):
        return [*made, *first]  # PyTorch has no second derivative of it
    on = sum((each**2).sum() for each in first if each is not None)
    second = torch.autograd.grad(on, wanted, allow_unused=True)
    zero = [torch.zeros(()) if each is None else each for each in second]
    return [*made, *first, *(each if bool((each != 0).any()) else torch.zeros(()) for each in zero)]


def check_layer(text: str, shapes: tuple) -> list[str]:
    """What differs of a layer."""
    theirs, mine = (make(torch, text) for torch in SIDES)
    found = []
    if repr(theirs) != repr(mine):
        found.append(f"repr: {theirs!r} {mine!r}")
    states = [layer.state_dict() for layer in (theirs, mine)]
    facts = [[(k, tuple(v.shape), str(v.dtype)) for k, v in each.items()] for each in states]
    if facts[0] != facts[1]:
        return [*found, f"state: {facts}"]
    if not shapes:
        return found
    inputs = [of_shape(shape) for shape in shapes]
    for layer in (theirs, mine):
        layer.double()
    state = theirs.state_dict().items()
    mine.load_state_dict({k: ours.tensor(v.tolist(), dtype=getattr(ours, str(v.dtype)[6:])) for k, v in state})
    for mode in (True, False):
        answers = [results(torch, layer.train(mode), inputs) for torch, layer in zip(SIDES, (theirs, mine))]
        places = [k for k, (a, b) in enumerate(zip(*answers)) if not same(a, b, 1e-7)]
        if places or len(answers[0]) != len(answers[1]):
            found.append(f"train({mode}): {places} of {len(answers[0])}")
        after = [list(layer.state_dict().values()) for layer in (theirs, mine)]
        if not same(*after, 1e-9):
            found.append(f"state after train({mode})")
    return found


def first_difference(first: Any, second: Any, path: str = "") -> list[str]:
    """Where two values, or sequences of them, first differ."""
    if isinstance(first, (tuple, list)) and isinstance(second, (tuple, list)) and len(first) == len(second):
        found = (first_difference(a, b, f"{path}[{k}]") for k, (a, b) in enumerate(zip(first, second)))
        return next((each for each in found if each), [])
    alike = first == second if isinstance(first, str) else not isinstance(first, (tuple, list)) and same(first, second)
    return [] if alike else [f"{path}: {first} {second}"]


def check_first_values(text: str) -> list[str]:
    """How first values differ: their bounds, means and deviations, of 200 layers."""
    found = []
    drawn: list[dict[str, list]] = []
    for torch in SIDES:
        torch.manual_seed(3)
        values: dict[str, list] = {}
        for _ in range(200):
            for name, each in make(torch, text).named_parameters():
                values.setdefault(name, []).append(numbers_of(each).ravel())
        drawn.append({name: np.concatenate(each) for name, each in values.items()})
    for name, theirs in drawn[0].items():
        mine = drawn[1][name]
        spread = theirs.std() + 1e-12
        bad = abs(theirs.mean() - mine.mean()) > 0.15 * spread or abs(mine.std() / spread - 1) > 0.1 and spread > 1e-9
        if "Embedding" not in text and "normal" not in text:
            bad = bad or abs(abs(theirs).max() - abs(mine).max()) > 0.05 * abs(theirs).max()
        if bad:
            found.append(f"{name}: {[(each.mean(), each.std(), abs(each).max()) for each in (theirs, mine)]}")
    return found


def check_loss(text: str) -> list[str]:
    """What differs of a loss."""
    given = {"x": of_shape((3, 4)), "y": of_shape((3, 4)), "weight": np.abs(rng.standard_normal(4)).tolist()}
    answers = []
    for torch in SIDES:
        tensors = {name: torch.tensor(each, dtype=torch.float64) for name, each in given.items()}
        x = tensors["x"].requires_grad_()
        loss = eval(text, {**names_of(torch), **tensors, "labels": torch.tensor([0, 3, 1])})
        (first,) = torch.autograd.grad(loss.sum(), x, create_graph=True)
        answers.append([loss, first])
    return [] if same(*answers, 1e-9) else ["values"]


def check_optimizer(text: str, kind: str, rtol: float) -> list[str]:
    """What differs of 20 steps: parameters, state, state_dict, text; and of going on after loading the state."""
    start, pulls = of_shape((3, 2)), [of_shape((3, 2)) for _ in range(20)]
    ends, states, texts = [], [], []
    for torch in SIDES:
        dtype = getattr(torch, kind)
        a, b = (torch.nn.Parameter(torch.tensor(start, dtype=dtype) * scale) for scale in (1, -2))
        names = {**names_of(torch), "groups": [{"params": [a]}, {"params": [b], "lr": 0.02}]}
        made = eval(text, names)
        for place, pull in enumerate(pulls):
            made.zero_grad(set_to_none=bool(place % 2))
            ((a - torch.tensor(pull, dtype=dtype)) ** 2 + a * b + b**2).sum().backward()
            made.step()
            if place == 9:  # a learning rate that changes, a state that is loaded
                made.param_groups[0]["lr"] *= 0.5
                again = eval(text, names)
                again.load_state_dict(made.state_dict())
                made = again
        ends.append([a, b])
        state = made.state_dict()
        kept = [sorted(state["state"][number].items()) for number in sorted(state["state"])]
        states.append([value for each in kept for _, value in each])
        texts.append(
            (
                repr(made),
                [sorted(each) for each in state["state"].values()],
                [sorted(group.items()) for group in state["param_groups"]],
            )
        )
    found = [] if same(*ends, rtol) else [f"parameters: {ends}"]
    found += [] if same(*states, max(rtol, 2e-5)) else [f"state: {states}"]
    return found + ([] if texts[0] == texts[1] else [f"texts: {texts}"])


def check_schedule(text: str, last_epoch: int) -> list[str]:
    """What differs of 14 epochs of a schedule, half of them after loading its state, and of some chosen epochs.

    Args:
        last_epoch: Of a schedule that goes on; PyTorch's rates are then compared after the first one.
    """
    answers = []
    for torch in SIDES:
        p, q = (torch.nn.Parameter(torch.ones(1)) for _ in range(2))
        o = torch.optim.SGD([{"params": [p], "lr": 0.5}, {"params": [q]}], lr=0.1)
        for group in o.param_groups if last_epoch >= 0 else ():
            group["initial_lr"] = 1.0
        names = {**vars(torch.optim.lr_scheduler), "o": o}
        made = eval(f"{text[:-1]}, last_epoch={last_epoch})", names)
        if last_epoch >= 0 and re.match("StepLR|MultiStepLR|ConstantLR", text):
            for group, rate in zip(o.param_groups, (0.5, 0.1)):  # PyTorch has taken a step
                group["lr"] = rate
        rates = [] if last_epoch >= 0 else [list(made.get_last_lr())]
        for epoch in range(14):
            o.step()
            made.step()
            rates.append([*made.get_last_lr(), *(group["lr"] for group in o.param_groups), made._step_count])
            if epoch == 7:
                state = made.state_dict()
        made.load_state_dict(state)
        for epoch in (0, 1, 5, 12, 3):
            made.step(epoch)
            made.step()
            rates.append([*made.get_last_lr(), made.last_epoch])
        answers.append((rates, made.base_lrs, sorted(name for name in state if name[0] != "_")))
    return first_difference(*answers)


def outcome(torch: Any, text: str) -> list[str]:
    """The class of an error and what it says, or the text of a result."""
    try:
        run = exec if re.match(r"[^(]* = ", text) else eval
        return ["", str(run(text, names_of(torch)))]
    except Exception as problem:  # noqa: BLE001 - it is the result
        return [type(problem).__name__, words_of(problem)]


def check_error(text: str) -> list[str]:
    """How the class of an error differs, or a result; and what an error says in PyTorch's words."""
    theirs, mine = answers = [outcome(torch, text) for torch in SIDES]
    if theirs[0] != mine[0] or not theirs[0]:
        return [] if theirs == mine else [str(answers)]
    copied = same_words(theirs[1], mine[1])
    return [f"{mine[1]}: PyTorch's words: {copied}"] if copied else []


def facts(torch: Any, text: str) -> list:
    """A layer as a text, and the names and shapes of its state."""
    layer = make(torch, text)
    return [repr(layer), [[name, list(each.shape)] for name, each in layer.state_dict().items()]]


def write_record() -> None:
    """Writes the classes of PyTorch's errors, and what it says of some layers."""
    texts = [text for place, (text, _) in enumerate(LAYERS) if place < 70 or place % 9 == 0]
    found = {
        "errors": {text: [kind, "" if kind else says] for text in ERRORS for kind, says in [outcome(real, text)]},
        "layers": {text: facts(real, text) for text in texts},
    }
    RECORD.write_text(json.dumps(found, indent=0) + "\n")


CHECKS: list[tuple[str, Callable[..., list[str]], list[tuple]]] = [
    ("layers", check_layer, LAYERS),
    ("first values", check_first_values, [(text,) for text in FIRST_VALUES]),
    ("losses", check_loss, [(text,) for text in LOSSES]),
    ("optimizers", check_optimizer, [(text, "float32", 1e-5) for text in OPTIMIZERS]),
    ("optimizers in float64", check_optimizer, [(text, "float64", 3e-6) for text in OPTIMIZERS]),
    ("schedules", check_schedule, [(text, epoch) for text in SCHEDULES for epoch in range(-1, 7)]),
    ("errors", check_error, [(text,) for text in ERRORS]),
]


def main() -> int:
    """Prints what differs; 1 where something does."""
    part, bad = (sys.argv[1:] or [""])[0], 0
    if part == "--record":
        write_record()
        return 0
    warnings.simplefilter("ignore")
    for name, check, rows in CHECKS:
        count = 0
        for row in rows:
            if part in row[0]:
                count += 1
                try:
                    found = check(*row)
                except Exception as problem:  # noqa: BLE001 - a finding
                    found = [f"{type(problem).__name__}: {problem}"]
                bad += bool(found)
                for each in found:
                    print(f"{row[0]}: {each}")
        print(f"{name}: {count}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
