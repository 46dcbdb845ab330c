"""Programs about what functions are given and give, run on PyTorch and on mxlite.torch by
test_torch_style_graph.py."""

from __future__ import annotations

from programs import error, leaf, pair, programs_of

PROGRAMS, program = programs_of()


@program
def what_is_edited(torch, log):
    class Increase(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            x.add_(1)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 7

    x = leaf(torch, 1, 2)
    error(log, lambda: Increase.apply(x))
    x = leaf(torch, 1, 2)
    y = x * 2
    version = y._version
    z = Increase.apply(y)
    log.append((z is y, y._version - version, y, z.grad_fn.next_functions))
    z.sum().backward()
    log.append(x.grad)
    whole = x * 1
    part = whole[:1]
    out = Increase.apply(part)
    log.append((out is part, whole, whole.grad_fn, out))
    whole.sum().backward()
    log.append(x.grad)
    constant = torch.ones(2, dtype=torch.float64)
    log.append((Increase.apply(constant) is constant, constant))
    with torch.no_grad():
        log.append(Increase.apply(x))


@program
def edited_but_not_said(torch, log):
    class Sly(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 7

    x = leaf(torch, 1, 2)
    y = x * 1
    Sly.apply(y).sum().backward()
    return x.grad, y


@program
def marked_but_not_returned(torch, log):
    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            x.add_(1)
            return y * 2

        @staticmethod
        def backward(ctx, g):
            return None, g

    x, y = leaf(torch, 1, 2), leaf(torch, 1, 2)
    error(log, lambda: Half.apply(x * 2, y))


@program
def an_input_that_is_returned(torch, log):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x, y * 2

        @staticmethod
        def backward(ctx, g, h):
            return g * 3, h

    x, y = leaf(torch, 1, 2), leaf(torch, 3, 4)
    a, b = Same.apply(x, y)
    log.append((a is x, a, a.is_leaf, a.data_ptr() == x.data_ptr(), a.grad_fn.name()))
    (a + b).sum().backward()
    return x.grad, y.grad


@program
def a_view_that_is_returned(torch, log):
    class Part(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[1:]

        @staticmethod
        def backward(ctx, g):
            return torch.cat([torch.zeros(1, dtype=torch.float64), g])

    x = leaf(torch, 1, 2, 3)
    y = x * 2
    part = Part.apply(y)
    log.append((part, part.data_ptr() - y.data_ptr()))
    part.sum().backward()
    log.append(x.grad)
    part = Part.apply(x * 2)
    error(log, lambda: part.mul_(3))


@program
def one_differentiation(torch, log):
    from importlib import import_module

    once = import_module(torch.autograd.function.__name__).once_differentiable

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once
        def backward(ctx, g):
            log.append((torch.is_grad_enabled(), g.requires_grad))
            return 2 * ctx.saved_tensors[0] * g

    x = leaf(torch, 3)
    (first,) = torch.autograd.grad(Square.apply(x), x, create_graph=True)
    log.append((first.requires_grad, first.detach()))
    error(log, lambda: torch.autograd.grad(first, x))
    (first,) = torch.autograd.grad((Square.apply(x) * x).sum(), x, create_graph=True)
    log.append((first.requires_grad, first.detach()))
    error(log, lambda: torch.autograd.grad(first, x))


@program
def what_a_forward_may_return(torch, log):
    returned = [
        lambda x: x * 2, lambda x: (x * 2,), lambda x: [x * 2], lambda x: None, lambda x: 3, lambda x: (x * 2, 3),
        lambda x: (x * 2, None), lambda x: ((x * 2,), x), lambda x: "x", lambda x: {"y": x * 2}, lambda x: (),
        lambda x: x.long(), lambda x: x > 1, lambda x: x.detach(), lambda x: (x * 2, x * 2),
    ]  # fmt: skip
    for number, each in enumerate(returned):

        class Some(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return each(x)  # noqa: B023 - called in this round

            @staticmethod
            def backward(ctx, *grads):
                log.append(grads)
                return grads[0]

        x = leaf(torch, 1, 2)
        log.append(number)

        def run(kind=Some, x=x):
            made = kind.apply(x)
            log.append(made)
            first = made[0] if isinstance(made, tuple) else made
            if isinstance(first, torch.Tensor):
                first.sum().backward()
            return x.grad

        error(log, run)


@program
def what_is_not_defined(torch, log):
    class Nothing(torch.autograd.Function):
        pass

    class Forward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    class Jvp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 5

    class Both(Jvp):
        @staticmethod
        def backward(ctx, g):
            return g * 7

    x = leaf(torch, 1)
    error(log, lambda: Nothing.apply(x))
    error(log, lambda: Forward.apply(x))
    error(log, lambda: Forward.apply(x).backward())
    error(log, lambda: Jvp.apply(x).backward())
    error(log, lambda: Both.apply(x).backward())
    error(log, lambda: Jvp()(x))
    error(log, lambda: torch.autograd.Function.apply(x))
    return x.grad


@program
def what_may_go_wrong(torch, log):
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, where):
            ctx.where = where
            if where == "forward":
                raise KeyError("mine")
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ZeroDivisionError("mine")

    x = leaf(torch, 1)
    error(log, lambda: Fails.apply(x, "forward"))
    log.append(torch.is_grad_enabled())
    error(log, lambda: Fails.apply(x, "backward").backward())
    log.append(torch.is_grad_enabled())
    error(log, lambda: Fails.apply(x))
    return x.grad


@program
def a_backward_in_a_backward(torch, log):
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                again = ctx.saved_tensors[0].detach().requires_grad_()
                y = again * again
            y.backward(g)
            return again.grad

    x = leaf(torch, 3)
    Inner.apply(Inner.apply(x)).backward()
    return x.grad


@program
def functions_and_hooks(torch, log):
    both = pair(torch, lambda g, h: (g, h))
    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    c, d = both.apply(a, b)
    c.register_hook(lambda grad: log.append("c"))
    d.register_hook(lambda grad: log.append("d"))
    c.grad_fn.register_hook(lambda inputs, outputs: log.append(("after", inputs, outputs)))
    c.grad_fn.register_prehook(lambda grads: log.append(("before", grads)))
    (c * d).sum().backward()
    log.append((c.grad_fn is d.grad_fn, c.output_nr, d.output_nr))
    log.append(c.grad_fn.next_functions)
    return a.grad, b.grad


@program
def the_same_argument_twice(torch, log):
    a = leaf(torch, 1, 2)
    one = pair(torch, lambda g: (g * 2, g * 3), several=False)
    one.apply(a, a).sum().backward()
    return a.grad


@program
def tensors_in_lists_are_constants(torch, log):
    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, several):
            return several[0] + several[1]

        @staticmethod
        def backward(ctx, g):
            return None

    a, b = leaf(torch, 1), leaf(torch, 2)
    return Sum.apply([a, b])


@program
def needs_of_the_second_argument(torch, log):
    class Mul(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            log.append(ctx.needs_input_grad)
            a, b = ctx.saved_tensors
            return (g * b if ctx.needs_input_grad[0] else None, g * a if ctx.needs_input_grad[1] else None)

    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    log.append(torch.autograd.grad(Mul.apply(a, b).sum(), b))
    log.append(torch.autograd.grad(Mul.apply(a.detach(), b).sum(), b))


@program
def a_gradient_of_none_goes_on(torch, log):
    stop = pair(torch, lambda g: (None, g), several=False)
    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    y = (a * 2).exp()
    y.grad_fn.register_hook(lambda inputs, outputs: log.append((inputs, outputs)))
    stop.apply(y.logsumexp(0, keepdim=True), b).sum().backward()
    log.append((a.grad, b.grad))
    twice = pair(torch, lambda g: log.append(g) or (g, g), several=False)
    stop.apply(twice.apply(a * 3, b), b).sum().backward()
    log.append((a.grad, b.grad))
