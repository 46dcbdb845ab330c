"""Programs about which results want a gradient, and which gradients are zeros or nothing, run on PyTorch and on
mxlite.torch by test_torch_style_graph.py."""

from __future__ import annotations

from programs import error, leaf, programs_of

PROGRAMS, program = programs_of()

#: Without a gradient, or with one of zeros.
OPERATIONS = {
    "x > y": lambda torch, x, y: x > y, "x == 1": lambda torch, x, y: x == 1, "x != y": lambda torch, x, y: x != y,
    "1 <= x": lambda torch, x, y: 1 <= x, "long": lambda torch, x, y: x.long(), "bool": lambda torch, x, y: x.bool(),
    "to": lambda torch, x, y: x.to(torch.int32), "int and back": lambda torch, x, y: x.int().double() * y,
    "isnan": lambda torch, x, y: torch.isnan(x), "isfinite": lambda torch, x, y: torch.isfinite(x),
    "logical_not": lambda torch, x, y: torch.logical_not(x), "and": lambda torch, x, y: torch.logical_and(x, y),
    "argmax": lambda torch, x, y: x.argmax(), "argsort": lambda torch, x, y: x.argsort(),
    "sort": lambda torch, x, y: x.sort()[1], "topk": lambda torch, x, y: x.topk(1)[1],
    "max": lambda torch, x, y: x.max(0)[1], "nonzero": lambda torch, x, y: x.nonzero(),
    "any": lambda torch, x, y: x.any(),
    "all": lambda torch, x, y: x.all(), "isclose": lambda torch, x, y: torch.isclose(x, y),
    "floor": lambda torch, x, y: x.floor(), "ceil": lambda torch, x, y: x.ceil() * y,
    "sign": lambda torch, x, y: x.sign(),
    "round": lambda torch, x, y: x.round(), "trunc": lambda torch, x, y: x.trunc() + y,
    "frac": lambda torch, x, y: x.frac(),
    "zeros_like": lambda torch, x, y: torch.zeros_like(x), "ones_like": lambda torch, x, y: torch.ones_like(x) * y,
    "mask": lambda torch, x, y: (x > 1) * y, "where": lambda torch, x, y: torch.where(x > 1, y, -y),
    "where of both": lambda torch, x, y: torch.where(x > y, x, y), "remainder": lambda torch, x, y: x % y,
    "floor division": lambda torch, x, y: x // y, "fmod": lambda torch, x, y: torch.fmod(x, 2),
    "clone of flags": lambda torch, x, y: (x > 1).clone(),
    "cat of flags": lambda torch, x, y: torch.cat([x > 1, y > 1]),
    "sum of flags": lambda torch, x, y: (x > 1).sum(), "flags by index": lambda torch, x, y: x[(x > 1)],
    "heaviside by hand": lambda torch, x, y: (x > 0).double() * x, "x**0": lambda torch, x, y: x**0,
    "0 * x": lambda torch, x, y: 0 * x, "clamped": lambda torch, x, y: x.clamp(5, 6),
    "relu": lambda torch, x, y: (-x).relu(),
    "detached": lambda torch, x, y: x.detach() * y, "item": lambda torch, x, y: y * x[0].item(),
}  # fmt: skip


@program
def results_and_gradients(torch, log):
    for name, operation in OPERATIONS.items():
        x, y = leaf(torch, 1.5, -2.5), leaf(torch, 2, 3)
        log.append(name)
        z = operation(torch, x, y)
        log.append((z, z.is_leaf, str(z)))
        error(log, lambda: z.sum().backward())  # noqa: B023 - called here
        log.append((x.grad, y.grad))
        error(log, lambda: torch.autograd.grad(operation(torch, x, y).sum(), [x, y], allow_unused=True))  # noqa: B023
        error(log, lambda: torch.autograd.grad(operation(torch, x, y).sum(), [x, y]))  # noqa: B023


@program
def gradients_of_gradients_of_zeros(torch, log):
    for name, operation in OPERATIONS.items():
        x, y = leaf(torch, 1.5, -2.5), leaf(torch, 2, 3)
        z = operation(torch, x, y)
        if z.requires_grad:
            log.append(name)
            first = torch.autograd.grad((z * z).sum(), [x, y], create_graph=True, allow_unused=True)
            log.append([None if each is None else (each.requires_grad, each.detach()) for each in first])


@program
def integers_take_no_gradient(torch, log):
    x = leaf(torch, 1.5, -2.5)
    whole = torch.zeros(2, dtype=torch.int64)
    whole[0] = x[0]
    whole.copy_(x)
    log.append((whole, whole.is_leaf, (whole * 2).grad_fn))
    error(log, lambda: whole.requires_grad_())
    part = whole[:1]
    part.copy_(x[1:])
    log.append((whole, part, part.grad_fn))
    return x.requires_grad
