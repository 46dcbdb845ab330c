"""Programs about autograd.Function, run on PyTorch and on mxlite.torch by test_torch_style_graph.py."""

from __future__ import annotations

from programs import error, leaf, pair, programs_of

PROGRAMS, program = programs_of()


@program
def what_a_backward_may_return(torch, log):
    returned = [
        lambda g, h: (g, h), lambda g, h: [g, h], lambda g, h: (g,), lambda g, h: g, lambda g, h: None,
        lambda g, h: (g, h, None), lambda g, h: (g, h, g), lambda g, h: (None, h), lambda g, h: (None, None),
        lambda g, h: (1.0, h), lambda g, h: ("x", h), lambda g, h: (g.float(), h), lambda g, h: (g.long(), h),
        lambda g, h: (g.sum(), h), lambda g, h: (g[None].expand(3, 2), h), lambda g, h: (g[:1], h), lambda g, h: (),
        lambda g, h: (g.detach(), h), lambda g, h: (g.view(2, 1), h), lambda g, h: (g.view(1, 2), h),
    ]  # fmt: skip
    for number, each in enumerate(returned):
        a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
        log.append(number)
        error(log, lambda: sum(pair(torch, each).apply(a, b)).sum().backward())  # noqa: B023 - called here
        log.append((a.grad, b.grad))


@program
def gradients_that_did_not_arrive(torch, log):
    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    both = pair(torch, lambda g, h: log.append((g, h)) or (g, h))
    both.apply(a, b)[1].sum().backward()
    return a.grad, b.grad


@program
def gradients_that_are_not_made(torch, log):
    class Lazy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.set_materialize_grads(False)
            return a * 2, b * 3

        @staticmethod
        def backward(ctx, g, h):
            log.append((g, h))
            return g, h

    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    Lazy.apply(a, b)[1].sum().backward()
    return a.grad, b.grad


@program
def what_the_context_knows(torch, log):
    class Know(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, c, d=None):
            log.append(ctx.needs_input_grad)
            log.append((torch.is_grad_enabled(), a.requires_grad, a.is_leaf))
            ctx.word = "kept"
            return a * b

        @staticmethod
        def backward(ctx, g):
            log.append((ctx.needs_input_grad, ctx.word, torch.is_grad_enabled()))
            return g, None, None, None

    a, b = leaf(torch, 1, 2), torch.tensor([3.0, 4.0], dtype=torch.float64)
    y = Know.apply(a, b, "text", {"x": 1})
    log.append((y.grad_fn.name(), type(y.grad_fn).__name__, y.grad_fn.next_functions, y.grad_fn.word, y))
    y.sum().backward()
    with torch.no_grad():
        log.append(Know.apply(a, b, 1))
    log.append(Know.apply(b, b, 1))
    error(log, lambda: Know.apply(a, b, c=1))
    return a.grad


@program
def saved_tensors(torch, log):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            y = a * b
            ctx.save_for_backward(a, None, y, b)
            return y

        @staticmethod
        def backward(ctx, g):
            log.append(ctx.saved_tensors)
            log.append(ctx.saved_variables if hasattr(ctx, "saved_variables") else ctx.saved_tensors)
            a, none, y, b = ctx.saved_tensors
            return g * b, g * a

    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    y = Keep.apply(a, b)
    log.append([None if each is None else each.detach() for each in y.grad_fn.saved_tensors])
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    error(log, lambda: y.grad_fn.saved_tensors)
    error(log, y.sum().backward)
    return a.grad, b.grad


@program
def what_may_be_saved(torch, log):
    for saved in (3, "x", (1,), None):

        class Keep(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                ctx.save_for_backward(saved)  # noqa: B023 - called in this round
                return a * 2

            @staticmethod
            def backward(ctx, g):
                log.append(ctx.saved_tensors)
                return g

        error(log, lambda: Keep.apply(leaf(torch, 1)).backward())  # noqa: B023


@program
def saved_twice_the_last_holds(torch, log):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            ctx.save_for_backward(a, a * 2)
            return a * 2

        @staticmethod
        def backward(ctx, g):
            log.append(ctx.saved_tensors)
            return g

    Keep.apply(leaf(torch, 1)).backward()


@program
def saved_and_edited(torch, log):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            y = a.exp()
            ctx.save_for_backward(a, y)
            return y

        @staticmethod
        def backward(ctx, g):
            a, y = ctx.saved_tensors
            return g * y

    for which in (0, 1):
        x = leaf(torch, 1, 2)
        a = x * 1
        y = Keep.apply(a)
        (a, y)[which].mul_(2)
        error(log, y.sum().backward)
        log.append(x.grad)


@program
def saved_and_differentiated_again(torch, log):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x**3
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            log.append((x.requires_grad, y.requires_grad, y.grad_fn is None, x.is_leaf))
            return 3 * g * y / x

    x = leaf(torch, 2, 3)
    (first,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    log.append(first)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    return second, third


@program
def with_setup_context(torch, log):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(x, by, word):
            log.append((torch.is_grad_enabled(), by, word))
            return x * by, x > 0

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, by, word = inputs
            log.append((type(inputs).__name__, type(output).__name__, torch.is_grad_enabled()))
            ctx.by = by
            ctx.save_for_backward(x, output[0])
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def backward(ctx, g, flags):
            log.append((ctx.saved_tensors, flags))
            return g * ctx.by, None, None

    x = leaf(torch, 1, -1)
    y, flags = Scale.apply(x, 4, "word")
    log.append((y, flags))
    y.sum().backward()
    return x.grad


@program
def what_is_not_differentiable(torch, log):
    class Parts(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 2, x * 3
            ctx.mark_non_differentiable(b)
            return a, b, x.long()

        @staticmethod
        def backward(ctx, *grads):
            log.append(grads)
            return grads[0]

    x = leaf(torch, 1, 2)
    a, b, c = Parts.apply(x)
    log.append((a, b, c, b.is_leaf, c.is_leaf, a.output_nr))
    a.sum().backward()
    return x.grad
