"""Programs about what is printed, and names of nodes, run on PyTorch and on mxlite.torch by
test_torch_style_graph.py."""

from __future__ import annotations

import re

import numpy as np
from programs import error, leaf, pair, programs_of

PROGRAMS, program = programs_of()

SHAPES = [(), (1,), (3,), (0,), (1, 1), (2, 3), (3, 0), (0, 3), (2, 2, 2), (1, 2, 1, 3), (2, 0, 2), (30,), (7, 12)]
BIG = [(1001,), (1000,), (40, 40), (10, 11, 12), (1, 2000), (2000, 1), (3, 5, 7, 11)]
DTYPES = ["float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool"]

NUMBERS = [
    [1.0, 2.0, 3.0], [1.5, 2.25], [1e10, 1.0], [1e-5, 1.0], [1e-3, 1e3], [123456.0, 0.5], [float("nan"), 1.0],
    [float("inf"), -1.0], [float("-inf"), float("nan")], [0.0, -0.0], [1e38, 1e-38], [0.1, 0.25, 1000.5], [1e8, 2e8],
    [100000000.0, 1.0], [999999.0, 1.5], [1 / 3, 2 / 3, 1e4], [-1e-4, 1e-4], [5e-324, 1.0], [12345678.9], [1e5],
    [float("nan")], [0.0], [1e9 + 0.5, -1.0], [33554432.0, 1.0],
]  # fmt: skip


def values(shape, kind):
    """The same numbers each time, of a dtype."""
    numbers = np.random.default_rng(len(shape) + 1).uniform(-9, 9, shape)
    return (numbers > 0) if kind == "bool" else np.abs(numbers) if kind == "uint8" else numbers


def made(torch, shape, kind, **given):
    """A tensor of those."""
    numbers = np.asarray(values(shape, kind)).astype(kind)
    return torch.from_numpy(np.ascontiguousarray(numbers).reshape(shape)).clone().requires_grad_(**given)


def plain(text):
    """Without addresses."""
    return re.sub(r"0x[0-9a-f]+", "0x", text)


@program
def shapes_and_dtypes(torch, log):
    for kind in DTYPES:
        for shape in SHAPES + BIG:
            log.append((kind, shape, str(made(torch, shape, kind, requires_grad=False))))


@program
def tensors_that_want_gradients(torch, log):
    for kind in ("float32", "float64"):
        for shape in SHAPES + BIG:
            x = made(torch, shape, kind, requires_grad=True)
            log.append((kind, shape, str(x)))
            log.append(str(x * 2))
            log.append(str(x.view(-1).exp()))


@program
def numbers(torch, log):
    for each in NUMBERS:
        for kind in (torch.float32, torch.float64):
            x = torch.tensor(each, dtype=kind)
            log.append((str(each), str(kind), str(x), repr(x), str(x.requires_grad_() * 1)))
            log.append(str(x.detach().reshape(1, -1).repeat(3, 4)))


@program
def options(torch, log):
    x = torch.tensor([[1.23456789, 100.5], [1e-3, 7]], dtype=torch.float64)
    big = torch.arange(1200.0)
    for given in (
        {"precision": 2}, {"precision": 8}, {"threshold": 3}, {"edgeitems": 1, "threshold": 10}, {"linewidth": 20},
        {"sci_mode": True}, {"sci_mode": False}, {"profile": "short"}, {"profile": "full"}, {"profile": "default"},
    ):  # fmt: skip
        torch.set_printoptions(**given)
        log.append((str(given), str(x), str(big) if given.get("profile") != "full" else ""))
        torch.set_printoptions(profile="default")
        torch.set_printoptions(sci_mode=None)


@program
def formats(torch, log):
    log.append(f"{torch.tensor(1.5):.3f} {torch.tensor(7)} {torch.tensor(3):5d} {torch.tensor([1.0])}")
    error(log, lambda: f"{torch.tensor([1.0, 2.0]):.3f}")
    log.append((str(torch.float32), repr(torch.float64), str(torch.Size([2, 3])), str(torch.device("cpu"))))
    log.append((repr(torch.ones(2).shape), str(torch.ones(2).dtype), torch.ones(2).type()))
    log.append(str([torch.ones(2), torch.zeros(())]))
    log.append(str(torch.nn.Parameter(torch.ones(2))))


@program
def functions_in_text(torch, log):
    x = leaf(torch, 1, 2)
    a, b = pair(torch, lambda g, h: (g, h)).apply(x, x)
    y = x * 1
    y[0] = 5
    for each in (a, b, y, y[1:], x.detach(), x.view(2), x.sum(), x.unbind()[0], x.data, x.max(0)[0], x[[0]]):
        log.append(str(each))
        if each.grad_fn is not None:
            node = each.grad_fn
            log.append((plain(repr(node)), node.name(), type(node).__name__, str(type(node)).split("'")[1]))
    node = (x * 1).grad_fn.next_functions[0][0]
    log.append((plain(repr(node)), node.name(), type(node).__name__, node.variable is x, node.next_functions))


@program
def names_of_nodes(torch, log):
    functional = torch.nn.functional
    operations = [
        lambda y: y + y, lambda y: y + 1, lambda y: 1 + y, lambda y: y - y, lambda y: 1 - y, lambda y: y * y,
        lambda y: y * 2, lambda y: y / y, lambda y: 2 / y, lambda y: y**2, lambda y: 2**y, lambda y: y**y, lambda y: -y,
        lambda y: y @ y.t(), lambda y: y.exp(), lambda y: y.log(), lambda y: y.sqrt(), lambda y: y.rsqrt(),
        lambda y: y.sin(), lambda y: y.cos(), lambda y: y.tanh(), lambda y: y.sigmoid(), lambda y: y.relu(),
        lambda y: y.abs(), lambda y: y.sum(), lambda y: y.sum(0), lambda y: y.mean(), lambda y: y.mean(1),
        lambda y: y.max(), lambda y: y.max(0)[0], lambda y: y.prod(), lambda y: y.norm(), lambda y: y.var(),
        lambda y: y.std(), lambda y: y.t(), lambda y: y.view(6), lambda y: y.reshape(6), lambda y: y.permute(1, 0),
        lambda y: y[0], lambda y: y[:, 1:], lambda y: y[[0]], lambda y: y[y > 2], lambda y: y.unsqueeze(0),
        lambda y: y.squeeze(), lambda y: y.expand(2, 2, 3), lambda y: torch.cat([y, y]), lambda y: torch.stack([y, y]),
        lambda y: y.clone(), lambda y: y.float(), lambda y: y.clamp(1, 2), lambda y: torch.where(y > 1, y, -y),
        lambda y: y.softmax(0), lambda y: y.log_softmax(0), lambda y: y.logsumexp(0), lambda y: y.cumsum(0),
        lambda y: y.unbind()[0], lambda y: y.split(1)[1], lambda y: y.chunk(2)[0], lambda y: y.flip(0),
        lambda y: y.repeat(2, 1), lambda y: y.sort()[0], lambda y: y.gather(0, torch.tensor([[0, 1, 0]])),
        lambda y: y.index_select(0, torch.tensor([1])), lambda y: y.masked_fill(y > 2, 0), lambda y: y.tril(),
        lambda y: functional.linear(y, y), lambda y: functional.mse_loss(y, y * 2), lambda y: functional.gelu(y),
        lambda y: functional.softplus(y), lambda y: functional.dropout(y, 0.5), lambda y: torch.outer(y[0], y[1]),
        lambda y: torch.dot(y[0], y[1]), lambda y: torch.mv(y, y[0]), lambda y: torch.addmm(y @ y.t(), y, y.t()),
    ]  # fmt: skip
    for number, operation in enumerate(operations):
        y = torch.tensor([[1.0, 2, 3], [4, 5, 6]], dtype=torch.float64, requires_grad=True)
        z = operation(y)
        log.append((number, z.grad_fn, z.output_nr, plain(repr(z.grad_fn)), str(z) if number != 69 else ""))
