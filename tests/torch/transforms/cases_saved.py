"""Programs about what is saved for backward, inference mode, checkpoints and hooks of modules, run on both."""

from __future__ import annotations

from contextlib import contextmanager

from programs import error, leaf, programs_of

PROGRAMS, program = programs_of()


@program
def hooks_that_are_disabled(torch, log):
    graph = torch.autograd.graph
    x = leaf(torch, 1, 2)

    def enter():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return "entered"

    with graph.disable_saved_tensors_hooks("not here"):
        error(log, enter)
        error(log, lambda: graph.save_on_cpu().__enter__())
        with graph.disable_saved_tensors_hooks("nor here"):
            error(log, enter)
        error(log, enter)
        log.append((x * x).requires_grad)
    error(log, enter)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        error(log, lambda: graph.disable_saved_tensors_hooks("now").__enter__())
    with graph.save_on_cpu():
        y = (x * x).sum()
    y.backward()
    return x.grad


@program
def edits_of_what_is_saved(torch, log):
    graph = torch.autograd.graph
    x = leaf(torch, 1, 2)
    with graph.allow_mutation_on_saved_tensors() as context:
        y = x.clone()
        z = y**2
        y.zero_()
        z.sum().backward()
        log.append(x.grad)
        w = x.clone().exp()
        w.mul_(3)
        w.sum().backward()
        log.append(x.grad)
        again = x.clone()
        head = (again**3).sum()
        again.zero_()
        context.clear()
        error(log, head.backward)
        error(log, lambda: graph.allow_mutation_on_saved_tensors().__enter__())
    return None


@program
def hooks_on_several_tensors(torch, log):
    graph = torch.autograd.graph
    a, b, c = leaf(torch, 1), leaf(torch, 2), leaf(torch, 3)
    hook = graph.register_multi_grad_hook((a, b, c), lambda grads: log.append(list(grads)))
    (a * b).backward()
    (a * b * c).backward()
    (c * 2).backward()
    hook.remove()
    (a * b).backward()
    seen = []
    with graph.register_multi_grad_hook((a, b), lambda grad: seen.append(1), mode="any"):
        (a * b).backward()
        (a * b).backward()
        log.append(len(seen))
    y = a * 2
    graph.register_multi_grad_hook((y, b), lambda grads: log.append(list(grads)))
    (y * b).backward()
    error(log, lambda: graph.register_multi_grad_hook((a,), print, mode="some"))
    error(log, lambda: graph.register_multi_grad_hook((torch.ones(1),), print))
    return None


@program
def a_failed_backward_leaves_nothing_behind(torch, log):
    a, b = leaf(torch, 1), leaf(torch, 2)
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda grads: log.append(list(grads)))
    fails = [True]

    def hook(grad):
        if fails:
            raise ValueError("now")

    y = b * 3
    y.register_hook(hook)
    error(log, lambda: (a + y.exp()).backward())
    fails.clear()
    (a * (b * 3)).backward()
    return None


@program
def saved_tensors_by_name(torch, log):
    a, b = leaf(torch, 1, 2), leaf(torch, 3, 4)
    y = a * b
    log.append([y.grad_fn._saved_self, y.grad_fn._saved_other])
    log.append([y.grad_fn._saved_self is a, y.grad_fn._saved_other is b])
    z = y.exp()
    log.append([z.grad_fn._saved_result, z.grad_fn._saved_result.grad_fn is z.grad_fn])
    s = (z * 2).sin()
    log.append([s.grad_fn._saved_self, s.grad_fn._saved_self.grad_fn.name()])
    m = a.view(1, 2) @ b.view(2, 1)
    log.append([m.grad_fn._saved_self.shape, m.grad_fn._saved_mat2.shape])
    error(log, lambda: y.grad_fn._saved_nothing)
    s.sum().backward()
    error(log, lambda: y.grad_fn._saved_self)
    return hasattr(m.grad_fn, "_saved_other")


@program
def saved_tensors_that_are_packed_later(torch, log):
    x = leaf(torch, 1, 2)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda t: log.append("packed") or t * 2, lambda t: log.append("read") or t)
    error(log, lambda: y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t))
    error(log, lambda: y.grad_fn._raw_saved_other.register_hooks(lambda t: t, 3))
    y.sum().backward()
    log.append(x.grad)
    error(log, lambda: type(y.grad_fn._raw_saved_other)())

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    z = Square.apply(x)
    log.append(len(z.grad_fn._raw_saved_tensors))
    z.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t * 10, lambda t: t)
    error(log, lambda: z.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t, lambda t: t))
    log.append(torch.autograd.grad(z.sum(), x, retain_graph=False)[0])
    error(log, lambda: z.grad_fn._raw_saved_tensors)
    return None


@program
def inference_tensors(torch, log):
    x, plain = leaf(torch, 1, 2), torch.ones(2, dtype=torch.float64)
    with torch.inference_mode():
        made, view, copy = torch.ones(2, dtype=torch.float64), plain.view(2), plain * 2
        inside = torch.ones(1, requires_grad=True)
        made.add_(1)
        plain.mul_(2)
        with torch.inference_mode(False):
            log.append([torch.ones(1).is_inference(), torch.is_inference_mode_enabled(), (x * 2).requires_grad])
        log.append([torch.is_inference_mode_enabled(), torch.is_grad_enabled(), (x * 2).requires_grad])
    log.append([each.is_inference() for each in (made, view, copy, plain, x, made[:1], made.detach(), made.clone())])
    log.append([inside.requires_grad, inside.is_leaf, torch.is_inference(made), torch.is_inference_mode_enabled()])
    for attempt in (
        lambda: made.add_(1), lambda: made._version, lambda: made * x, lambda: made.requires_grad_(),
        lambda: made.requires_grad_(False), lambda: made + x, lambda: plain.add_(made), lambda: made[0].zero_(),
        lambda: (made.clone() * x).sum(), lambda: made.copy_(plain), lambda: (x * 1).mul_(made), lambda: made * 2,
    ):  # fmt: skip
        error(log, lambda attempt=attempt: attempt() is None)

    @torch.inference_mode()
    def decorated():
        return torch.zeros(1)

    return decorated().is_inference()


@program
def views_and_versions(torch, log):
    x = leaf(torch, 1, 2, 3)
    y = x * 2
    parts = [y[0], y[1:], y.view(3, 1), y[1:][0], y.t(), y.detach(), y.clone(), y, x[1:]]
    log.append([each._is_view() for each in parts])
    log.append([each._base is None for each in parts])
    log.append([x[1:]._base is x, x.view(3)[1:]._base is x])
    torch.autograd.graph.increment_version(y)
    log.append(y._version)
    torch.autograd.graph.increment_version([y, y])
    log.append(y._version)
    edge = torch.autograd.graph.get_gradient_edge(y)
    log.append([edge.node.name(), edge.output_nr, x.output_nr, x.unbind()[2].output_nr])
    error(log, lambda: torch.autograd.graph.get_gradient_edge(torch.ones(1)))
    return None


def reruns(function):
    """A function, and the list that counts its runs."""
    runs = []

    def run(*args):
        runs.append(1)
        return function(*args)

    return run, runs


@program
def checkpoints_that_stop_early(torch, log):
    points = torch.utils.checkpoint
    x = leaf(torch, 1, 2)
    ends = []

    def function(x):
        y = x.sin().exp()
        ends.append(1)
        return y

    for options in ({}, {"early_stop": False}):
        for block in (None, True, False):
            ends.clear()
            if block is None:
                y = points.checkpoint(function, x, use_reentrant=False, **options)
            else:
                with points.set_checkpoint_early_stop(block):
                    y = points.checkpoint(function, x, use_reentrant=False, **options)
            y.sum().backward()
            log.append(len(ends))
    return x.grad


@program
def checkpoints_that_do_something_else_again(torch, log):
    points = torch.utils.checkpoint

    def changing(first, second):
        runs = []

        def function(x):
            runs.append(1)
            return first(x) if len(runs) == 1 else second(x)

        return function

    pairs = [
        (lambda x: x.sin().exp(), lambda x: x.sin()),
        (lambda x: x.sin(), lambda x: x.sin().exp()),
        (lambda x: x.sin(), lambda x: torch.cat([x, x]).sin()),
        (lambda x: x.sin(), lambda x: x.cos()),
    ]
    for first, second in pairs:
        for options in ({}, {"determinism_check": "none"}, {"debug": True}, {"early_stop": False}):
            x = leaf(torch, 1, 2)

            def run(x=x, first=first, second=second, options=options):
                points.checkpoint(changing(first, second), x, use_reentrant=False, **options).sum().backward()
                return x.grad

            try:
                log.append(run())
            except points.CheckpointError:
                log.append("CheckpointError")
            except RuntimeError:
                log.append("RuntimeError")
    return None


@program
def arguments_of_checkpoints(torch, log):
    points = torch.utils.checkpoint
    x = leaf(torch, 1, 2)

    @contextmanager
    def block(name):
        log.append("in " + name)
        yield
        log.append("out " + name)

    def blocks():
        return block("first"), block("again")

    points.checkpoint(torch.sin, x, use_reentrant=False, context_fn=blocks).sum().backward()
    error(log, lambda: points.checkpoint(torch.sin, x, use_reentrant=True, context_fn=blocks))
    error(log, lambda: points.checkpoint(torch.sin, x, use_reentrant=True, debug=True))
    error(log, lambda: points.checkpoint(torch.sin, x, use_reentrant=True, other=1))
    error(log, lambda: points.checkpoint(torch.sin, x, use_reentrant=False, determinism_check="often"))
    error(log, lambda: points.checkpoint(torch.sin, x, use_reentrant=False, other=1))
    log.append(points.checkpoint(torch.sin, torch.ones(1), use_reentrant=True).requires_grad)
    for segments in (1, 2, 3):
        y = points.checkpoint_sequential([torch.sin, torch.exp, torch.cos], segments, x, use_reentrant=False)
        log.append(torch.autograd.grad(y.sum(), x)[0])
    error(log, lambda: points.checkpoint_sequential([torch.sin], 3, x, use_reentrant=False))
    error(log, lambda: points.checkpoint_sequential([torch.sin], 1, x, use_reentrant=False, other=1))
    return x.grad


@program
def checkpoints_in_each_other(torch, log):
    point = torch.utils.checkpoint.checkpoint
    x = leaf(torch, 0.5, 2)
    inner, inner_runs = reruns(lambda y: y.sin().exp())
    middle, middle_runs = reruns(lambda y: point(inner, y.cos(), use_reentrant=False).tanh())
    outer, outer_runs = reruns(lambda y: point(middle, y * y, use_reentrant=False).exp())
    point(outer, x, use_reentrant=False).sum().backward()
    log.append([x.grad, len(inner_runs) >= 2, len(middle_runs) >= 2, len(outer_runs)])
    y = point(outer, x, use_reentrant=False).sum()
    first = torch.autograd.grad(y, x, create_graph=True)[0]
    log.append(first.detach())
    log.append(torch.autograd.grad(first.sum(), x)[0])
    y = point(outer, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    log.append(x.grad)
    error(log, y.backward)
    return None


def linear(torch, modules=1):
    layers = [torch.nn.Linear(2, 2).double() for _ in range(modules)]
    with torch.no_grad():
        for number, each in enumerate(layers):
            each.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]) + number)
            each.bias.fill_(0.5)
    return layers[0] if modules == 1 else torch.nn.Sequential(*layers)


@program
def backward_hooks_of_modules(torch, log):
    x = leaf(torch, 1, 2)
    module = linear(torch)
    module.register_full_backward_pre_hook(lambda m, grads: log.append(["pre", grads]))
    first = module.register_full_backward_hook(lambda m, inputs, outputs: log.append(["hook", inputs, outputs]))
    module.register_full_backward_hook(lambda m, inputs, outputs: log.append("prepended"), prepend=True)
    y = module(x)
    log.append(y.grad_fn.name())
    y.sum().backward()
    log.append([x.grad, module.weight.grad])
    module(x.detach()).sum().backward()
    first.remove()
    module(x).sum().backward()
    with torch.no_grad():
        log.append(module(x))
    return x.grad


@program
def backward_hooks_that_return_gradients(torch, log):
    for returned in (
        lambda grads: None, lambda grads: (grads[0] * 2,), lambda grads: (grads[0], grads[0]),
    ):  # fmt: skip
        for which in ("register_full_backward_hook", "register_full_backward_pre_hook"):
            x, module = leaf(torch, 1, 2), linear(torch)
            getattr(module, which)(lambda *given, returned=returned: returned(given[1]))

            def run(x=x, module=module):
                module(x).sum().backward()
                return [x.grad, module.weight.grad]

            error(log, run)
    module = linear(torch)
    module.register_full_backward_hook(lambda m, inputs, outputs: (outputs[0],))
    error(log, lambda: module(torch.ones(2, dtype=torch.float64)).sum().backward())
    return None


@program
def backward_hooks_of_nested_modules(torch, log):
    x, model = leaf(torch, 1, 2), linear(torch, 2)
    for name, each in model.named_modules():
        each.register_full_backward_hook(lambda m, inputs, outputs, name=name: log.append([name, inputs, outputs]))
        each.register_full_backward_pre_hook(lambda m, outputs, name=name: log.append([name, outputs]))
    model(x).sum().backward()
    return x.grad


@program
def backward_hooks_of_other_results(torch, log):
    nn = torch.nn

    class Module(nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function
            self.register_full_backward_hook(lambda m, inputs, outputs: log.append([inputs, outputs]))

        def forward(self, *args, **kwargs):
            return self.function(*args, **kwargs)

    x = leaf(torch, 1, 2)
    first, second, third = Module(lambda x: (x * 2, x.detach(), 3))(x)
    first.sum().backward()
    Module(lambda x, n, k=None: x * n)(x, 3, k=x).sum().backward()
    Module(lambda x, y: x * y)(x, torch.ones(2, dtype=torch.float64)).sum().backward()
    Module(lambda x: {"a": x * 2})(x)["a"].sum().backward()
    Module(lambda x: [x * 2])(x)[0].sum().backward()
    return x.grad


@program
def old_backward_hooks(torch, log):
    x, module = leaf(torch, 1, 2), torch.nn.Tanh()
    handle = module.register_backward_hook(lambda m, inputs, outputs: log.append([inputs, outputs]))
    module(x).sum().backward()
    error(log, lambda: module.register_full_backward_hook(print))
    handle.remove()
    other = torch.nn.Tanh()
    other.register_full_backward_hook(lambda *_: None)
    error(log, lambda: other.register_backward_hook(print))
    return x.grad
