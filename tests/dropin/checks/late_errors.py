"""Wrong parameters of random numbers: which call reports them, of arrays, symbols and blocks."""

from kit import area, each, mx

area("late errors")

r = mx.nd.random
NUMBERS = {
    "normal": lambda: r.normal(0, -1, (2, 2)),
    "normal of scale 0": lambda: r.normal(0, 0, (2, 2)),
    "normal of scale nan": lambda: r.normal(0, float("nan"), (2, 2)),
    "uniform": lambda: r.uniform(2, 1, (2, 2)),
    "gamma": lambda: r.gamma(-1, 1, (2, 2)),
    "gamma of beta": lambda: r.gamma(1, -1, (2, 2)),
    "exponential": lambda: r.exponential(-1, (2, 2)),
    "poisson": lambda: r.poisson(-1, (2, 2)),
    "negative_binomial": lambda: r.negative_binomial(-1, 0.5, (2, 2)),
    "generalized_negative_binomial": lambda: r.generalized_negative_binomial(1, -1, (2, 2)),
    "randint": lambda: r.randint(5, 1, (2, 2)),
    "randn": lambda: r.randn(2, 2, loc=0, scale=-1),
    "normal into an array": lambda: r.normal(0, -1, out=mx.nd.ones((2, 2))),
    "numpy normal": lambda: in_numpy(lambda q: q.normal(0, -1, size=(2,))),
    "numpy normal of arrays": lambda: in_numpy(lambda q: q.normal(mx.np.zeros(2), mx.np.array([1.0, -1]))),
    "numpy exponential": lambda: in_numpy(lambda q: q.exponential(-1, size=(2,))),
    "numpy gamma": lambda: in_numpy(lambda q: q.gamma(-1, 1, size=(2,))),
    "numpy pareto": lambda: in_numpy(lambda q: q.pareto(-1, size=(2,))),
    "numpy weibull": lambda: in_numpy(lambda q: q.weibull(-1, size=(2,))),
    "numpy rayleigh": lambda: in_numpy(lambda q: q.rayleigh(-1, size=(2,))),
    "numpy gumbel": lambda: in_numpy(lambda q: q.gumbel(0, -1, size=(2,))),
    "numpy logistic": lambda: in_numpy(lambda q: q.logistic(0, -1, size=(2,))),
    "numpy randint": lambda: in_numpy(lambda q: q.randint(5, 1, size=(2,))),
    "symbol": lambda: run(mx.sym.random.normal(0, -1, shape=(2, 2))),
    "symbol and a variable": lambda: run(mx.sym.random.uniform(2, 1, shape=(2, 2)) + mx.sym.var("a"), a=(2, 2)),
    "gradient of a symbol": lambda: run(mx.sym.var("a") * mx.sym.random.normal(0, -1, shape=(2, 2)), True, a=(2, 2)),
    "block": lambda: block(False, False),
    "hybrid block": lambda: block(True, False),
    "gradient of a block": lambda: block(False, True),
    "gradient of a hybrid block": lambda: block(True, True),
}


def in_numpy(function):
    mx.npx.set_np()
    try:
        return function(mx.np.random)
    finally:
        mx.npx.reset_np()


def run(symbol, backward=False, **shapes):
    executor = symbol.simple_bind(mx.cpu(), **shapes)
    executor.forward(is_train=backward)
    if not backward:
        return executor.outputs[0]
    executor.backward(mx.nd.ones((2, 2)))
    return executor.grad_dict["a"]


class Noise(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.broadcast_mul(x, F.random.normal(0, -1, shape=(2, 2)))


def block(hybrid, backward):
    noise, x = Noise(), mx.nd.ones((2, 2))
    if hybrid:
        noise.hybridize()
    if not backward:
        return noise(x)
    x.attach_grad()
    with mx.autograd.record():
        y = noise(x)
    y.backward()
    return x.grad


def step(answers, name, function):
    try:
        function()
        answers.append(name)
    except Exception as error:
        answers.append(f"{name}: {type(error).__name__}")


def where(make, reads):
    """Which of the steps fail: the call, and the reads by their names."""
    answers, made = [], []
    step(answers, "made", lambda: made.append(make()))
    for name in reads.split() if made else ():
        step(answers, name, lambda name=name: READS[name](made[0]))
    return answers


READS = {
    "wait": lambda x: x.wait_to_read(),
    "all": lambda x: mx.nd.waitall(),
    "numpy": lambda x: x.asnumpy(),
    "text": str,
    "save": lambda x: mx.nd.save("late", x),
    "shape": lambda x: x.shape,
    "sum": lambda x: (x + 1).sum(),
    "read": lambda x: (x.copy() + 1).asnumpy(),
    "part": lambda x: x[0].asnumpy(),
    "number": lambda x: x[0:1, 0:1].asscalar(),
    "copy": lambda x: x.copyto(mx.nd.zeros((2, 2))),
    "change": lambda x: x.__setitem__(slice(None), 3),
    "dlpack": lambda x: mx.nd.to_dlpack_for_read(x),
}
ORDERS = ["wait numpy all", "all numpy", "sum read read numpy", "numpy all"]
MORE = ["shape text numpy", "save numpy", "part numpy", "number numpy", "change numpy numpy", "dlpack numpy"]
for order in ORDERS:
    each(order, NUMBERS, lambda name, order=order: where(NUMBERS[name], order))
for order in MORE:
    each(order, ["normal", "uniform"], lambda name, order=order: where(NUMBERS[name], order))
