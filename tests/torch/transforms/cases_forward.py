"""Programs about derivatives forward and autograd.functional, run on PyTorch and on mxlite.torch."""

from __future__ import annotations

from cases_func import constant, cubic
from programs import error, leaf, programs_of

PROGRAMS, program = programs_of()


def forward_ad(torch):
    return torch.autograd.forward_ad


@program
def through_operations(torch, log):
    ad = forward_ad(torch)
    x, v = constant(torch, 1, 2, 3), constant(torch, 1, -1, 0.5)
    functions = [
        lambda x: x * x, lambda x: x.exp().log(), lambda x: x.sum(), lambda x: x[1:], lambda x: torch.stack([x, x * 2]),
        lambda x: x.view(3, 1) @ x.view(1, 3), lambda x: x.max(), lambda x: torch.where(x > 1, x, x * 3),
        lambda x: x.sort(descending=True)[0], lambda x: x.softmax(0), lambda x: x.cumsum(0), lambda x: x.sign(),
        lambda x: torch.cat([x, x.flip(0)]), lambda x: x / x.norm(), lambda x: x.relu(), lambda x: x.clamp(1.5, 2.5),
    ]  # fmt: skip
    with ad.dual_level():
        for each in functions:
            primal, tangent = ad.unpack_dual(each(ad.make_dual(x, v)))
            log.append([primal, tangent])
    return None


@program
def levels(torch, log):
    ad = forward_ad(torch)
    x = constant(torch, 1, 2)
    error(log, lambda: ad.make_dual(x, x))
    error(log, lambda: ad.exit_dual_level())
    log.append(ad.unpack_dual(x).tangent is None)
    with ad.dual_level() as level:
        log.append(level)
        error(log, ad.enter_dual_level)
        error(log, lambda: ad.exit_dual_level(level=3))
        dual = ad.make_dual(x, x * 2)
        log.append(ad.unpack_dual(dual).tangent)
    log.append(ad.unpack_dual(dual).tangent is None)
    with ad.dual_level():
        log.append(ad.unpack_dual(dual).tangent is None)
    level = ad.enter_dual_level()
    log.append(ad.unpack_dual(ad.make_dual(x, x)).tangent)
    return ad.exit_dual_level(level=level)


@program
def what_has_no_tangent(torch, log):
    ad = forward_ad(torch)
    x = constant(torch, 1, 2)
    with ad.dual_level():
        error(log, lambda: ad.make_dual(torch.arange(2), x))
        error(log, lambda: ad.make_dual(x, torch.arange(2)))
        error(log, lambda: ad.make_dual(x, x[:1]))
        error(log, lambda: ad.unpack_dual(3.0))
        dual = ad.make_dual(x, x)
        error(log, lambda: ad.make_dual(dual, x))
        error(log, lambda: ad.make_dual(dual * 2, x))
        for each in (x, dual.detach(), dual > 1, dual.detach() * 2, (dual * 0).detach(), dual.argmax()):
            log.append(ad.unpack_dual(each).tangent is None)
        log.append(ad.unpack_dual(dual * 0).tangent)
    return ad.UnpackedDualTensor._fields


@program
def edits_of_dual_tensors(torch, log):
    ad = forward_ad(torch)
    x, v = constant(torch, 1, 2), constant(torch, 3, 4)
    with ad.dual_level():
        dual = ad.make_dual(x.clone(), v)
        dual.mul_(3)
        log.append([*ad.unpack_dual(dual)])
        made = torch.zeros(2, 2, dtype=torch.float64)
        made[0] = dual
        log.append([*ad.unpack_dual(made)])
        made[0].mul_(3)
        log.append([*ad.unpack_dual(made)])
        part = made[:, 0]
        log.append([*ad.unpack_dual(part)])
        made.zero_()
        return ad.unpack_dual(made).primal


@program
def backward_of_dual_tensors(torch, log):
    ad = forward_ad(torch)
    x, v = leaf(torch, 1, 2), constant(torch, 3, 4)
    with ad.dual_level():
        dual = ad.make_dual(x, v)
        primal, tangent = ad.unpack_dual(dual**3)
        log.append([primal.requires_grad, tangent.requires_grad])
        log.append(torch.autograd.grad(tangent.sum(), x, retain_graph=True)[0].detach())
        found = torch.autograd.grad((dual**3).sum(), x)[0]
        log.append(ad.unpack_dual(found).tangent.detach())
        (dual**2).sum().backward()
        log.append(x.grad.detach())
        log.append(ad.unpack_dual(x.grad).tangent)
    return None


@program
def tangents_with_gradients(torch, log):
    ad = forward_ad(torch)
    x, v = constant(torch, 1, 2), leaf(torch, 3, 4)
    with ad.dual_level():
        tangent = ad.unpack_dual(ad.make_dual(x, v) ** 2).tangent
        log.append(tangent.requires_grad)
        tangent.sum().backward()
    return v.grad.detach()


@program
def layers_forward(torch, log):
    ad, nn = forward_ad(torch), torch.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.LayerNorm(3), nn.Linear(3, 1)).double()
    with torch.no_grad():
        for number, each in enumerate(model.parameters()):
            each.copy_(torch.linspace(-1, 1 + number, each.numel(), dtype=torch.float64).reshape(each.shape))
    x = torch.linspace(-1, 1, 8, dtype=torch.float64).reshape(4, 2)
    with ad.dual_level():
        log.append(ad.unpack_dual(model(ad.make_dual(x, torch.ones_like(x)))).tangent.detach())
        duals = {name: ad.make_dual(each.detach(), torch.ones_like(each)) for name, each in model.named_parameters()}
        log.append(ad.unpack_dual(torch.func.functional_call(model, duals, (x,))).tangent)
    return None


@program
def functional_with_options(torch, log):
    F = torch.autograd.functional
    x, y = constant(torch, 1, 2), constant(torch, 3, 4, 5)

    def f(x, y):
        return x[:, None] * y, x.sum()

    for vectorize in (False, True):
        log.append(F.jacobian(f, (x, y), vectorize=vectorize))
        log.append(F.jacobian(lambda x: x**2, x, vectorize=vectorize, create_graph=True).detach())
        log.append(F.hessian(cubic, x, vectorize=vectorize))
        log.append(F.hessian(lambda x, y: (x.sum() * y).prod(), (x, y), vectorize=vectorize))
    for strategy in ("forward-mode", "reverse-mode", "sideways"):
        for options in ({}, {"vectorize": True}, {"strict": True}, {"create_graph": True}):
            options = {**options, "strategy": strategy}
            error(log, lambda options=options: F.jacobian(lambda x: x**2, x, **options).detach())
            options["outer_jacobian_strategy"] = options.pop("strategy")
            error(log, lambda options=options: F.hessian(cubic, x, **options).detach())
    log.append([*map(list, F.jacobian(f, (x, y), vectorize=True, strategy="forward-mode"))])
    log.append(F.jacobian(lambda x: x.sum(), x, vectorize=True, strategy="forward-mode"))
    error(log, lambda: F.jacobian(cubic, x, vectorize=True, strict=True))
    return F.jvp(lambda x: x**2, x, x), F.vhp(cubic, x, x), F.hvp(cubic, x, x), F.vjp(lambda x: x**2, x, x)


@program
def checks_of_gradients_forward(torch, log):
    check, checks = torch.autograd.gradcheck, torch.autograd.gradgradcheck
    x = leaf(torch, 0.5, 1.5)

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    for fast in (False, True):
        log.append(check(lambda x: x.exp() * x, x, check_forward_ad=True, fast_mode=fast))
        log.append(check(lambda x: x.exp() * x, x, check_forward_ad=True, check_backward_ad=False, fast_mode=fast))
        log.append(check(lambda x: x * x.sum(), x, check_batched_grad=True, fast_mode=fast))
        log.append(checks(lambda x: x.exp() * x, x, check_fwd_over_rev=True, fast_mode=fast))
    error(log, lambda: check(lambda x: x, x, check_backward_ad=False))
    error(log, lambda: check(lambda x: x, x, check_batched_forward_grad=True))
    return check(lambda x: x * x.sum(), x, check_forward_ad=True, check_batched_forward_grad=True)


@program
def several_gradients_at_once(torch, log):
    x = leaf(torch, 1, 2)
    y = x**2
    heads = torch.eye(2, dtype=torch.float64)
    log.append(torch.autograd.grad(y, x, heads, is_grads_batched=True, retain_graph=True))
    found = torch.autograd.grad(y, x, heads, is_grads_batched=True, create_graph=True)[0]
    log.append(torch.autograd.grad(found.sum(), x)[0])
    return None
