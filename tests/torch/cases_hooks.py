"""Programs about hooks, run on PyTorch and on mxlite.torch by test_torch_style_graph.py."""

from __future__ import annotations

from programs import error, leaf, programs_of

PROGRAMS, program = programs_of()


# ---- on tensors ----


@program
def order_on_a_computed_tensor(torch, log):
    x = leaf(torch, 1, 2)
    y = x * 2
    y.register_hook(lambda grad: log.append(("first", grad)))
    y.register_hook(lambda grad: grad * 3)
    y.register_hook(lambda grad: log.append(("third", grad)))
    y.sum().backward()
    return x.grad


@program
def order_on_a_leaf(torch, log):
    x = leaf(torch, 1, 2)
    for number in range(4):
        x.register_hook(lambda grad, number=number: log.append((number, grad)) or grad * 2)
    (x * x).sum().backward()
    return x.grad


@program
def a_leaf_used_twice_runs_its_hook_once(torch, log):
    x = leaf(torch, 1, 2)
    x.register_hook(lambda grad: log.append(grad))
    (x * x + x.exp()).sum().backward()
    return x.grad


@program
def two_backwards_run_it_twice(torch, log):
    x = leaf(torch, 1, 2)
    x.register_hook(lambda grad: log.append(grad))
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


@program
def a_hook_stays_after_the_graph_is_released(torch, log):
    x = leaf(torch, 1, 2)
    y = x * 2
    y.register_hook(lambda grad: log.append("seen"))
    z = y + 1
    z.sum().backward()
    (y + 3).sum().backward()
    return x.grad


@program
def no_gradient_goes_on(torch, log):
    x = leaf(torch, 1, 2)
    y = x * 2
    z = y.exp() * x
    z.grad_fn.register_hook(lambda inputs, outputs: (None, inputs[1]))
    y.register_hook(lambda grad: log.append("y"))
    y.grad_fn.register_hook(lambda inputs, outputs: log.append((inputs, outputs)))
    z.sum().backward()
    log.append(x.grad)
    w = (x * 2).exp()
    w.grad_fn.register_prehook(lambda grads: (None,))
    log.append(torch.autograd.grad(w.sum(), x, allow_unused=True))
    error(log, lambda: torch.autograd.grad((x * 2).exp().sum() * 1, x))


@program
def removing_the_middle_one(torch, log):
    x = leaf(torch, 1)
    handles = [x.register_hook(lambda grad, n=n: log.append(n)) for n in range(3)]
    handles[1].remove()
    handles[1].remove()
    (x * 1).backward()
    handles[0].remove()
    (x * 1).backward()
    for each in handles:
        each.remove()
    (x * 1).backward()
    return x.grad


@program
def a_handle_is_a_block(torch, log):
    x = leaf(torch, 1)
    with x.register_hook(lambda grad: log.append("in")):
        (x * 1).backward()
    (x * 1).backward()


@program
def a_hook_that_removes_itself(torch, log):
    x = leaf(torch, 1)
    handle = None

    def hook(grad):
        log.append("ran")
        handle.remove()

    handle = x.register_hook(hook)
    x.register_hook(lambda grad: log.append("other"))
    (x * 1).backward()
    (x * 1).backward()
    handle = None


@program
def a_hook_that_adds_one(torch, log):
    x = leaf(torch, 1)

    def hook(grad):
        log.append("outer")
        if len(log) < 3:
            handles.append(x.register_hook(lambda grad: log.append("inner")))

    handles = [x.register_hook(hook)]
    (x * 1).backward()
    (x * 1).backward()
    for each in handles:
        each.remove()


@program
def what_it_may_return(torch, log):
    returned = [
        lambda g: None, lambda g: g, lambda g: g * 2, lambda g: g.sum(), lambda g: g[None].expand(3, 2),
        lambda g: g.float(), lambda g: g.long(), lambda g: 3, lambda g: (g,), lambda g: "x", lambda g: g.detach(),
        lambda g: g.zero_(), lambda g: g.requires_grad_(), lambda g: torch.ones(3, dtype=torch.float64), lambda g: True,
    ]  # fmt: skip
    for number, each in enumerate(returned):
        for computed in (False, True):
            x = leaf(torch, 1, 2)
            y = x * 3 if computed else x
            handle = y.register_hook(each)
            log.append((number, computed))
            error(log, lambda: (y * y).sum().backward())  # noqa: B023 - called here
            log.append(x.grad)
            handle.remove()
            x.grad = None


@program
def what_it_may_raise(torch, log):
    for kind in (ValueError, KeyError, RuntimeError, ZeroDivisionError, StopIteration):
        x = leaf(torch, 1)
        y = x * 2

        def hook(grad, kind=kind):
            raise kind("mine")

        handle = y.register_hook(hook)
        error(log, y.backward)
        log.append(x.grad)
        handle.remove()
        error(log, y.backward)
        log.append(x.grad)


@program
def where_no_hook_can_be(torch, log):
    error(log, lambda: torch.ones(2).register_hook(print))
    error(log, lambda: torch.ones(2).register_post_accumulate_grad_hook(print))
    error(log, lambda: (leaf(torch, 1) * 2).register_post_accumulate_grad_hook(print))
    error(log, lambda: torch.ones(2).retain_grad())
    error(log, lambda: leaf(torch, 1).retain_grad())
    with torch.no_grad():
        error(log, lambda: (leaf(torch, 1) * 2).register_hook(print))


@program
def hooks_and_retained_gradients(torch, log):
    x = leaf(torch, 1, 2)
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    y.retain_grad()
    y.register_hook(lambda grad: grad + 1)
    log.append((y.retains_grad, x.retains_grad, y.grad is None))
    (y * y).sum().backward()
    return x.grad, y.grad


@program
def retained_gradients_add_up(torch, log):
    x = leaf(torch, 1, 2)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    z = (y * y).sum()
    z.backward(retain_graph=True)
    log.append(y.grad)
    z.backward()
    log.append(y.grad)
    y.grad = None
    return y.grad, x.grad


@program
def inputs_and_hooks(torch, log):
    x = leaf(torch, 1, 2)
    y = x * 2
    y.register_hook(lambda grad: log.append("y") or grad * 5)
    x.register_hook(lambda grad: log.append("x"))
    z = (y * y).sum()
    log.append(torch.autograd.grad(z, y, retain_graph=True))
    log.append(torch.autograd.grad(z, x, retain_graph=True))
    return x.grad


@program
def a_gradient_asked_for_on_the_way(torch, log):
    x = leaf(torch, 1, 2)
    y = x * 2
    y.register_hook(lambda grad: grad * 5)
    return torch.autograd.grad((y * y).sum(), [x, y])


@program
def a_hook_under_create_graph(torch, log):
    x = leaf(torch, 1, 2)
    y = x * x
    y.register_hook(lambda grad: log.append((grad.requires_grad, torch.is_grad_enabled())) or grad * x)
    (first,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return first, second


@program
def grad_mode_in_a_hook(torch, log):
    x = leaf(torch, 1)
    x.register_hook(lambda grad: log.append(torch.is_grad_enabled()))
    (x * 1).backward()
    with torch.no_grad():
        pass
    (x * 1).backward(create_graph=True)
    log.append(torch.is_grad_enabled())
    x.grad = None


@program
def backward_in_a_hook(torch, log):
    x, w = leaf(torch, 1), leaf(torch, 3)

    def hook(grad):
        with torch.enable_grad():
            (w * w * 2).backward()
        log.append(w.grad.clone())

    x.register_hook(hook)
    (x * 5).backward()
    return x.grad, w.grad


@program
def an_edited_tensor_has_new_hooks(torch, log):
    x = leaf(torch, 1, 2)
    y = x * 2
    y.register_hook(lambda grad: log.append(("old", grad)))
    y.mul_(3)
    y.register_hook(lambda grad: log.append(("new", grad)))
    y.sum().backward()
    return x.grad


@program
def retained_and_edited(torch, log):
    x = leaf(torch, 1, 2)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    return x.grad, y.grad


@program
def a_hook_on_a_view(torch, log):
    x = leaf(torch, 1, 2, 3)
    y = x * 2
    part = y[1:]
    part.register_hook(lambda grad: log.append(grad) or grad * 2)
    (part.sum() + y.sum()).backward()
    return x.grad


@program
def arguments_of_register_hook(torch, log):
    x = leaf(torch, 1)
    error(log, lambda: type(x.register_hook(lambda grad: None)).__name__)
    error(log, lambda: x.register_hook())
    error(log, lambda: type(x.register_hook(hook=lambda grad: None)).__name__)


# ---- after accumulation ----


@program
def after_accumulation(torch, log):
    x = leaf(torch, 1, 2)
    x.register_hook(lambda grad: log.append("grad"))
    handle = x.register_post_accumulate_grad_hook(lambda each: log.append((each is x, each.grad.clone())))
    other = x.register_post_accumulate_grad_hook(lambda each: log.append("second"))
    (x * x).sum().backward()
    (x * x).sum().backward()
    handle.remove()
    (x * 1).sum().backward()
    other.remove()
    return x.grad


@program
def after_accumulation_it_may_step(torch, log):
    x = leaf(torch, 1, 2)

    def step(each):
        with torch.no_grad():
            each.sub_(each.grad, alpha=0.5)
        each.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    for _ in range(3):
        (x * x).sum().backward()
        log.append((x.detach().clone(), x.grad))
    handle.remove()


@program
def after_accumulation_not_of_grad(torch, log):
    x = leaf(torch, 1, 2)
    handle = x.register_post_accumulate_grad_hook(lambda each: log.append("ran"))
    log.append(torch.autograd.grad((x * x).sum(), x))
    torch.autograd.backward((x * x).sum(), inputs=[x])
    handle.remove()
    return x.grad


@program
def after_accumulation_it_returns(torch, log):
    for returned in (None, 3, "tensor"):
        x = leaf(torch, 1, 2)
        handle = x.register_post_accumulate_grad_hook(
            lambda each: each if returned == "tensor" else returned  # noqa: B023
        )
        error(log, (x * x).sum().backward)
        handle.remove()
        log.append(x.grad)


@program
def after_accumulation_it_raises(torch, log):
    x = leaf(torch, 1)

    def fail(each):
        raise KeyError("mine")

    handle = x.register_post_accumulate_grad_hook(fail)
    error(log, (x * 2).backward)
    handle.remove()
    return x.grad
