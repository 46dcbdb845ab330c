"""Programs about hooks at nodes, run on PyTorch and on mxlite.torch by test_torch_style_graph.py."""

from __future__ import annotations

from programs import error, leaf, programs_of

PROGRAMS, program = programs_of()


@program
def before_and_after_a_node(torch, log):
    x, y = leaf(torch, 1, 2), leaf(torch, 3, 4)
    z = x * y
    z.grad_fn.register_prehook(lambda grads: log.append(("before", grads)))
    z.grad_fn.register_hook(lambda inputs, outputs: log.append(("after", inputs, outputs)))
    z.sum().backward()
    return x.grad, y.grad


@program
def a_prehook_changes(torch, log):
    x = leaf(torch, 1, 2)
    z = x * 3
    z.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
    z.grad_fn.register_prehook(lambda grads: log.append(grads))
    z.sum().backward()
    return x.grad


@program
def a_posthook_changes(torch, log):
    x, y = leaf(torch, 1, 2), leaf(torch, 3, 4)
    z = x * y
    z.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 2, None))
    z.grad_fn.register_hook(lambda inputs, outputs: log.append(inputs))
    z.sum().backward()
    return x.grad, y.grad


@program
def what_a_prehook_may_return(torch, log):
    returned = [
        lambda g: None, lambda g: g, lambda g: g[0] * 2, lambda g: list(g), lambda g: (), lambda g: (g[0], g[0]),
        lambda g: (None,), lambda g: (3,), lambda g: 3, lambda g: (g[0].float(),), lambda g: (g[0].sum(),),
    ]  # fmt: skip
    for number, each in enumerate(returned):
        x = leaf(torch, 1, 2)
        z = x * 3
        z.grad_fn.register_prehook(each)
        log.append(number)
        error(log, lambda: z.sum().backward())  # noqa: B023 - called here
        log.append(x.grad)


@program
def what_a_posthook_may_return(torch, log):
    returned = [
        lambda g: None, lambda g: g, lambda g: g[0] * 2, lambda g: list(g), lambda g: (), lambda g: (g[0], g[0], g[0]),
        lambda g: (None, None), lambda g: (3, 3), lambda g: 3, lambda g: (g[0].float(), g[1]),
        lambda g: (g[0].sum(), g[1]), lambda g: (g[0], g[1] * 7),
    ]  # fmt: skip
    for number, each in enumerate(returned):
        x, y = leaf(torch, 1, 2), leaf(torch, 5, 7)
        z = x * y
        z.grad_fn.register_hook(lambda inputs, outputs: each(inputs))  # noqa: B023 - called in this round
        log.append(number)
        error(log, lambda: z.sum().backward())  # noqa: B023
        log.append((x.grad, y.grad))


@program
def a_posthook_at_an_accumulating_node(torch, log):
    x = leaf(torch, 1, 2)
    node = (x * 1).grad_fn.next_functions[0][0]
    handle = node.register_hook(lambda inputs, outputs: log.append((inputs, outputs, x.grad.clone())))
    node.register_prehook(lambda grads: log.append(("pre", grads)) or (grads[0] * 2,))
    x.register_hook(lambda grad: log.append(("tensor", grad)))
    (x * 3).sum().backward()
    (x * 3).sum().backward()
    handle.remove()  # it holds its own tensor
    return x.grad


@program
def everything_in_order(torch, log):
    x = leaf(torch, 1, 2)
    y = x * 2
    z = y.exp()
    handles = [x.register_post_accumulate_grad_hook(lambda each: log.append("x accumulated"))]
    handles.append(x.register_hook(lambda grad: log.append("x")))
    node = y.grad_fn.next_functions[0][0]
    handles.append(node.register_prehook(lambda grads: log.append("x before")))
    handles.append(node.register_hook(lambda inputs, outputs: log.append("x after")))
    for name, each in (("y", y), ("z", z)):
        each.grad_fn.register_hook(lambda inputs, outputs, name=name: log.append(name + " after"))
        each.grad_fn.register_prehook(lambda grads, name=name: log.append(name + " before"))
        each.register_hook(lambda grad, name=name: log.append(name))
        each.retain_grad()
    z.sum().backward()
    for handle in handles:
        handle.remove()
    return x.grad, y.grad, z.grad


@program
def removing_from_nodes(torch, log):
    x = leaf(torch, 1)
    z = x * 2
    before = [z.grad_fn.register_prehook(lambda grads, n=n: log.append(("before", n))) for n in range(3)]
    after = [z.grad_fn.register_hook(lambda i, o, n=n: log.append(("after", n))) for n in range(3)]
    before[0].remove()
    after[2].remove()
    z.backward(retain_graph=True)
    before[2].remove()
    after[0].remove()
    z.backward()


@program
def a_node_that_is_not_run(torch, log):
    x, y = leaf(torch, 1), leaf(torch, 2)
    z, w = x * 2, y * 3
    z.grad_fn.register_hook(lambda inputs, outputs: log.append("z"))
    w.grad_fn.register_hook(lambda inputs, outputs: log.append("w"))
    return torch.autograd.grad(z + w, x)


@program
def inputs_without_gradient(torch, log):
    x, c = leaf(torch, 1, 2), torch.tensor([3.0, 4.0], dtype=torch.float64)
    z = c * x
    z.grad_fn.register_hook(lambda inputs, outputs: log.append((inputs, outputs)))
    z.sum().backward()
    w = x + 5
    w.grad_fn.register_hook(lambda inputs, outputs: log.append((inputs, outputs)))
    w.sum().backward()
    return x.grad


@program
def nodes_of_several_outputs(torch, log):
    x = leaf(torch, 1, 2, 3, 4)
    a, b = x.unbind()[:2]
    a.grad_fn.register_prehook(lambda grads: log.append(grads))
    a.grad_fn.register_hook(lambda inputs, outputs: log.append((inputs, outputs)))
    a.register_hook(lambda grad: log.append("a"))
    b.register_hook(lambda grad: log.append("b"))
    (a * 2).backward()
    return x.grad


@program
def a_callback_at_the_end(torch, log):
    x = leaf(torch, 1)
    engine = torch.autograd.Variable._execution_engine

    def hook(grad):
        engine.queue_callback(lambda: log.append(("first", x.grad)))
        engine.queue_callback(lambda: log.append("second"))
        log.append("hook")

    handle = x.register_hook(hook)
    (x * 2).backward()
    handle.remove()
    error(log, lambda: engine.queue_callback(print))
    return engine.is_checkpoint_valid()


@program
def a_callback_that_raises(torch, log):
    x = leaf(torch, 1)
    engine = torch.autograd.Variable._execution_engine

    def fail():
        raise KeyError("mine")

    handle = x.register_hook(lambda grad: engine.queue_callback(fail))
    error(log, (x * 2).backward)
    handle.remove()
    return x.grad


@program
def attributes_that_dir_shows(torch, log):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.mine = 1
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = leaf(torch, 1, 2)
    y = x * 2
    names = ("variable", "mine", "saved_tensors", "needs_input_grad", "next_functions", "metadata", "register_prehook")
    for node in (y.grad_fn, y.grad_fn.next_functions[0][0], torch.cat([x, y]).grad_fn, Twice.apply(y).grad_fn):
        log.append([(name, name in dir(node), hasattr(node, name)) for name in names])
