"""Programs about torch.func and vmap, run on PyTorch and on mxlite.torch by test_torch_style_graph.py."""

from __future__ import annotations

from collections import namedtuple

from programs import error, leaf, programs_of

PROGRAMS, program = programs_of()


def constant(torch, *values):
    return torch.tensor(values, dtype=torch.float64)


def cubic(x):
    return (x**3).sum()


@program
def gradients_of_each_order(torch, log):
    func = torch.func
    x = constant(torch, 1, -2)
    log.append(func.grad(cubic)(x))
    log.append(func.grad(lambda x: func.grad(cubic)(x).sum())(x))
    log.append(func.grad(lambda x: func.grad(lambda x: func.grad(cubic)(x).sum())(x).sum())(x))
    return func.grad_and_value(cubic)(x)


@program
def what_is_differentiated(torch, log):
    func = torch.func
    x, y = constant(torch, 1, 2), constant(torch, 3, 4)

    def f(x, y, *, power=2):
        return (x**power * y).sum()

    for argnums in (0, 1, -1, (0, 1), (1, 0), (0,)):
        log.append(func.grad(f, argnums)(x, y))
    log.append(func.grad(f)(x, y, power=3))
    for argnums in (2, -3, (0, 0), (0, 5), "a", ()):
        error(log, lambda argnums=argnums: func.grad(f, argnums)(x, y))
    return func.grad(lambda tree: (tree["a"][0] * tree["b"]).sum())({"a": (x,), "b": y})


@program
def auxiliary_results(torch, log):
    func = torch.func
    x = constant(torch, 1, 2)
    log.append(func.grad(lambda x: (cubic(x), x * 2), has_aux=True)(x))
    log.append(func.grad_and_value(lambda x: (cubic(x), {"twice": x * 2}), has_aux=True)(x))
    log.append(func.jvp(lambda x: (x * x, x + 1), (x,), (x,), has_aux=True))
    log.append(func.jacrev(lambda x: (x * x, x + 1), has_aux=True)(x))
    log.append(func.jacfwd(lambda x: (x * x, x + 1), has_aux=True)(x))
    output, pull, aux = func.vjp(lambda x: (x * x, x + 1), x, has_aux=True)
    log.append([output, pull(x), aux])
    error(log, lambda: func.grad(cubic, has_aux=True)(x))
    return None


@program
def results_that_have_no_gradient(torch, log):
    func = torch.func
    x = constant(torch, 1, 2)
    error(log, lambda: func.grad(lambda x: x)(x))
    error(log, lambda: func.grad(lambda x: 1.0)(x))
    error(log, lambda: func.grad(cubic)(torch.arange(3)))
    error(log, lambda: func.vjp(lambda x: 1.0, x))
    error(log, lambda: func.vjp(lambda x: (x, x), x)[1](x))
    error(log, lambda: func.vjp(lambda x: x, x)[1](x[:1]))
    error(log, lambda: func.jvp(lambda x: x, x, x))
    error(log, lambda: func.jvp(lambda x: x, (x,), (x[:1],)))
    error(log, lambda: func.jvp(lambda x: x, (x,), (x, x)))
    error(log, lambda: func.jvp(lambda: x, (), ()))
    error(log, lambda: func.jvp(lambda x: 2, (x,), (x,)))
    error(log, lambda: func.jvp(lambda x: x.detach(), (x,), (x,), strict=True))
    return func.jvp(lambda x: torch.ones(2), (x,), (x,)), func.grad(lambda x, y: x.sum(), 1)(x, x)


@program
def through_what_requires_gradients(torch, log):
    func = torch.func
    x, w = leaf(torch, 1, 2), leaf(torch, 3, -1)
    found = func.grad(lambda x: (x**3 * w).sum())(x)
    log.append(found.requires_grad)
    found.sum().backward()
    log.append([x.grad, w.grad])
    plain = constant(torch, 1, 2)
    log.append(func.grad(lambda x: (x**3).sum())(plain).requires_grad)
    log.append(func.grad(lambda x: (x**3 * w).sum())(plain).requires_grad)
    with torch.no_grad():
        log.append(func.grad(lambda x: (x**3).sum())(x))
        log.append(func.grad(lambda x: (x**3 * w).sum())(plain).requires_grad)
    output, pull = func.vjp(lambda x: x * w, plain)
    log.append(output.requires_grad)
    output, moved = func.jvp(lambda x: x * x * w, (plain,), (plain,))
    moved.sum().backward()
    return w.grad


@program
def jacobians_of_trees(torch, log):
    func = torch.func
    x, y = constant(torch, 1, 2), constant(torch, 3, 4, 5)

    def f(x, y):
        return {"outer": x[:, None] * y, "sum": (x.sum() + y.sum(),)}

    for way in (func.jacrev, func.jacfwd):
        for argnums in (0, 1, (0, 1)):
            log.append(way(f, argnums)(x, y))
        log.append(way(lambda t: (t["a"] ** 2, t["b"][0] * 3))({"a": x, "b": [y]}))
        log.append(way(lambda x: x.sum())(x))
        log.append(way(lambda x: torch.zeros(0, dtype=torch.float64) * x.sum())(x))
        log.append(way(lambda x: x * 2)(torch.zeros(0, dtype=torch.float64)))
    error(log, lambda: func.jacrev(f, chunk_size=0)(x, y))
    log.append(func.hessian(lambda x, y: x[0] * x[1] ** 2 * y.prod(), (0, 1))(x, y))
    return func.jacfwd(func.jacfwd(lambda x: (x**3).sum()))(x), func.jacrev(func.jacfwd(lambda x: (x**3).sum()))(x)


@program
def jvp_within_jvp_and_grad(torch, log):
    func = torch.func
    x, v = constant(torch, 0.5, 2), constant(torch, 1, -1)

    def directional(x):
        return func.jvp(lambda x: x.sin() * x.sum(), (x,), (v,))[1]

    log.append(directional(x))
    log.append(func.jvp(directional, (x,), (v,)))
    log.append(func.grad(lambda x: directional(x).sum())(x))
    log.append(func.jvp(func.grad(lambda x: (x.exp() * x).sum()), (x,), (v,)))
    return func.vjp(directional, x)[1](v)


@program
def functions_that_edit(torch, log):
    func = torch.func
    x = constant(torch, 1, 2)

    def f(x):
        y = x.clone()
        y[0] = y[0] * 3
        y.mul_(x)
        return y

    log.append(func.jvp(f, (x,), (x,)))
    log.append(func.jacrev(f)(x))
    log.append(func.jacfwd(f)(x))
    return func.vmap(f)(torch.stack([x, x + 1])), x


@program
def vmap_over_dimensions(torch, log):
    func = torch.func
    a = torch.arange(24, dtype=torch.float64).reshape(2, 3, 4)
    for dim in (0, 1, 2, -1, -3):
        log.append(func.vmap(lambda x: x.sum(0), in_dims=dim)(a))
        log.append(func.vmap(lambda x: x * 2, in_dims=dim, out_dims=dim)(a))
    log.append(func.vmap(lambda x, y: x @ y, in_dims=(0, None))(a, a[0].T))
    log.append(func.vmap(torch.mm, in_dims=(2, 0), out_dims=1)(a, a.permute(2, 1, 0)))
    log.append(func.vmap(lambda x: (x, {"s": x.sum(), "m": [x.mean()]}))(a))
    log.append(func.vmap(lambda t: t["a"] + t["b"], in_dims=({"a": 0, "b": None},))({"a": a, "b": a[0]}))
    log.append(func.vmap(lambda x, y=None: x + y)(a, y=a[0]))
    log.append(func.vmap(lambda x: (x, x.sum(1)), out_dims=(1, 0))(a))
    log.append(func.vmap(lambda x: x * 2)(torch.zeros(0, 3, dtype=torch.float64)))
    log.append(func.vmap(lambda x: x + 1, chunk_size=1)(a))
    return torch.vmap(lambda x: x)(a)


@program
def vmap_that_is_refused(torch, log):
    func = torch.func
    x, y = constant(torch, 1, 2, 3), torch.ones(2, 3)
    error(log, lambda: func.vmap(lambda: x)())
    error(log, lambda: func.vmap(lambda x: x, in_dims=None)(x))
    error(log, lambda: func.vmap(lambda x, y: x, in_dims=(None, None))(x, x))
    error(log, lambda: func.vmap(lambda x: x, in_dims=(0, 0))(x))
    error(log, lambda: func.vmap(lambda x: x, in_dims=[0])(x))
    error(log, lambda: func.vmap(lambda x: x, in_dims=1)(x))
    error(log, lambda: func.vmap(lambda x: x, in_dims=-2)(x))
    error(log, lambda: func.vmap(lambda x, y: x)(x, 2))
    error(log, lambda: func.vmap(lambda x, y: x)(x, y))
    error(log, lambda: func.vmap(lambda x: 1)(x))
    error(log, lambda: func.vmap(lambda x: None)(x))
    error(log, lambda: func.vmap(lambda x: x, out_dims=2)(x))
    error(log, lambda: func.vmap(lambda x: x, out_dims="a")(x))
    error(log, lambda: func.vmap(lambda x: (x, x), out_dims=(0,))(x))
    error(log, lambda: func.vmap(lambda x: x + torch.rand(()))(x))
    error(log, lambda: func.vmap(lambda x: x, randomness="all")(x))
    error(log, lambda: func.vmap(lambda x: x, chunk_size=0)(x))
    return None


@program
def random_numbers_of_parts(torch, log):
    x = torch.zeros(8, 3)
    same = torch.vmap(lambda x: x + torch.rand(3), randomness="same")(x)
    other = torch.vmap(lambda x: x + torch.rand(3), randomness="different")(x)
    return bool((same == same[0]).all()), bool((other == other[0]).all())


@program
def vmap_within_vmap_and_derivatives(torch, log):
    func = torch.func
    a, b = torch.arange(6, dtype=torch.float64).reshape(2, 3), constant(torch, 1, 2, 3)
    log.append(func.vmap(func.vmap(lambda x, y: x * y))(a, torch.stack([b, b])))
    log.append(func.vmap(func.vmap(lambda x, y: x - y, in_dims=(None, 0)), in_dims=(0, None))(b, b))
    log.append(func.vmap(func.grad(cubic))(a))
    log.append(func.grad(lambda a: func.vmap(cubic)(a).sum())(a))
    log.append(func.vmap(func.jacrev(lambda x: x**2))(a))
    log.append(func.vmap(func.hessian(cubic))(a))
    log.append(func.jacfwd(func.vmap(cubic))(a))
    log.append(func.jvp(func.vmap(cubic), (a,), (a,)))
    basis = torch.eye(3, dtype=torch.float64)
    _, pull = func.vjp(lambda x: x * x.sum(), b)
    log.append(func.vmap(pull)(basis))
    log.append(func.vmap(lambda v: func.jvp(lambda x: x * x.sum(), (b,), (v,))[1])(basis))
    w = leaf(torch, 1, 2, 3)
    func.vmap(lambda x: (x * w).sum() ** 2)(a).sum().backward()
    return w.grad


@program
def gradients_of_each_example(torch, log):
    func, nn = torch.func, torch.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    with torch.no_grad():
        for number, each in enumerate(model.parameters()):
            each.copy_(torch.linspace(-1, 1 + number, each.numel(), dtype=torch.float64).reshape(each.shape))
    x, y = torch.linspace(-1, 1, 15, dtype=torch.float64).reshape(5, 3), torch.tensor([0, 1, 1, 0, 1])
    weights = {name: each.detach() for name, each in model.named_parameters()}

    def loss(weights, x, y):
        return nn.functional.cross_entropy(func.functional_call(model, weights, (x[None],)), y[None])

    log.append(func.vmap(func.grad(loss), in_dims=(None, 0, 0))(weights, x, y))
    return [each.grad is None for each in model.parameters()]


@program
def calls_with_other_parameters(torch, log):
    func, nn = torch.func, torch.nn

    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2, bias=False)
            self.b = nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight
            self.register_buffer("seen", torch.zeros(1))

        def forward(self, x, scale=1.0):
            self.seen = self.seen + 1
            return self.b(self.a(x)) * scale

    model, x, w = Tied(), torch.ones(1, 2), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    given = {"a.weight": w, "seen": torch.tensor([5.0])}
    log.append(func.functional_call(model, given, (x,), {"scale": 2.0}))
    log.append([model.seen, given["seen"]])
    log.append(func.functional_call(model, ({"a.weight": w}, {"seen": x[0]}), x))
    error(log, lambda: func.functional_call(model, {"a.weight": w, "b.weight": w * 2}, x))
    log.append(func.functional_call(model, {"a.weight": w, "b.weight": w}, x))
    log.append(func.functional_call(model, {"nothing": w}, x).shape)
    error(log, lambda: func.functional_call(model, {"a.weight": w}, x, strict=True))
    error(log, lambda: func.functional_call(model, {"a.weight": w, "seen": x[0], "c": w}, x, strict=True))
    error(log, lambda: func.functional_call(model, ({"a.weight": w}, {"a.weight": w}), x))
    error(log, lambda: func.functional_call(model, {"a.weight": 3}, x))
    error(log, lambda: func.functional_call(model, 3, x))
    return [type(each).__name__ for each in model.parameters()]


@program
def models_side_by_side(torch, log):
    func, nn = torch.func, torch.nn
    models = [nn.Linear(2, 1).double() for _ in range(3)]
    with torch.no_grad():
        for number, each in enumerate(models):
            each.weight.fill_(number)
            each.bias.fill_(-number)
    parameters, buffers = func.stack_module_state(models)
    log.append([parameters, buffers])

    def run(parameters, buffers, x):
        return func.functional_call(models[0], (parameters, buffers), (x,))

    x = constant(torch, 1, 2)
    found = func.vmap(run, in_dims=(0, 0, None))(parameters, buffers, x)
    log.append(found.detach())
    found.sum().backward()
    log.append(parameters["weight"].grad)
    error(log, lambda: func.stack_module_state([]))
    error(log, lambda: func.stack_module_state([models[0], nn.ReLU()]))
    error(log, lambda: func.stack_module_state([models[0], nn.Linear(2, 1).eval()]))
    return None


@program
def linear_functions_of_moves(torch, log):
    x = constant(torch, 1, 2)
    output, move = torch.func.linearize(lambda x: x * x, x)
    log.append(output)
    return move(x), move(x * 3)


@program
def named_tuples(torch, log):
    Point = namedtuple("Point", "x y")
    found = torch.func.grad(lambda p: (p.x * p.y).sum())(Point(constant(torch, 1, 2), constant(torch, 3, 4)))
    return [*found], type(found).__name__
