"""mx.np and mx.npx: functions, methods, indexing, gradients, networks of NumPy arrays."""

from kit import area, array, check, each, fails, mx, np, numbers, split

area("np")

NAMES = {
    "x": lambda: mx.np.array(numbers(3, 4)),
    "y": lambda: mx.np.array(numbers(3, 4, seed=1, low=0.2, high=0.9)),
    "i": lambda: mx.np.array([1, 2, 0], dtype="int32"),
    "s": lambda: mx.np.array([[4.0, 1.0], [1.0, 3.0]]),
}


def evaluated(_, text, gradient=False):
    mx.npx.set_np()
    try:
        names = {name: make() for name, make in NAMES.items()}
        names["y"].attach_grad()
        with mx.autograd.record() if gradient else mx.autograd.pause():
            out = eval(text, {"mx": mx, "np": mx.np, "npx": mx.npx, "onp": np, "fails": fails, **names})
            if gradient:
                out.sum().backward()
        return [one.item() if getattr(one, "shape", None) == () and hasattr(one, "item") else one for one in [out]], (
            names["y"].grad if gradient else None
        )
    finally:
        mx.npx.reset_np()


UNARY = (
    "abs negative sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arctanh exp expm1 log log2 log10 log1p sqrt "
    "cbrt square reciprocal degrees radians rint ceil floor trunc fix sign sum mean std var max min prod cumsum ravel"
).split()
each("gradient of", [(name, f"np.{name}(y)", True) for name in UNARY], evaluated, rtol=1e-3)
ROWS = """
x + y, x - y, x * y, x / y, x ** 2, 2 ** x, x % y, -x, abs(x), x + 1, 1 - x, 2 / y
x > y, x >= 0, x == x, x != y, x < y, x <= y
x[0], x[-1], x[1:, ::2], x[:, 1], x[1, 2], x[..., None], x[i], x[x > 0], x[[0, 2]], x[[0, 1], [2, 3]]
x.shape, x.dtype, x.size, x.ndim, x.T, x.ctx, len(x)
x.reshape(2, 6), x.reshape((4, -1)), x.flatten(), x.transpose(), x.swapaxes(0, 1), x.squeeze(), x.copy()
x.sum(), x.sum(axis=0), x.mean(axis=1, keepdims=True), x.max(), x.min(axis=0), x.std(), x.var(axis=1), x.prod()
x.argmax(), x.argmin(axis=1), x.argsort(), x.sort(), x.cumsum(axis=0), x.clip(0, 0.5), x.round(1), x.astype('int32')
x.item(1), x.tolist(), x.asnumpy(), float(x[0, 0]), int(x[0, 0]), bool(x[0, 0] > 0)
x.dot(y.T), x @ y.T, np.dot(x, y.T), np.matmul(x, y.T), np.inner(x, y), np.outer(x[0], y[0]), np.vdot(x, y)
np.tensordot(x, y, axes=([1], [1])), np.tensordot(x, y.T, 1)
np.einsum('ij,kj->ik', x, y), np.einsum('ii', s), np.einsum('ij->ji', x)
np.kron(s, s), np.cross(x[:, :3], y[:, :3]), np.trace(x), np.diag(s)
np.diagflat(s), np.diagonal(x), np.tril(x), np.triu(x)
np.zeros((2, 3)), np.ones((2,), dtype='int32'), np.full((2, 2), 7), np.empty((2, 3)).shape, np.eye(3), np.identity(2)
np.arange(5), np.arange(1, 6, 2), np.linspace(0, 1, 5), np.logspace(0, 2, 3), np.zeros_like(x), np.ones_like(x)
np.full_like(x, 3), np.indices((2, 3)), np.meshgrid(np.arange(2), np.arange(3)), np.tri(3)
np.array([1, 2]), np.array([[1.5]]), np.array(3), np.array([True, False]), np.array([1, 2], dtype='int64')
np.concatenate([x, y]), np.stack([x, y], axis=1), np.vstack([x, y])
np.hstack([x, y]), np.dstack([x, y]), np.column_stack([x, y])
np.split(x, 2, axis=1), np.array_split(x, 3, axis=1), np.hsplit(x, 2), np.vsplit(x, 3), np.dsplit(x.reshape(1, 3, 4), 2)
np.expand_dims(x, 0), np.squeeze(x[None]), np.swapaxes(x, 0, 1), np.moveaxis(x, 0, 1), np.rollaxis(x, 1)
np.transpose(x), np.flip(x), np.flip(x, 1), np.fliplr(x)
np.flipud(x), np.roll(x, 1), np.roll(x, 1, axis=0), np.rot90(x)
np.tile(x, (2, 1)), np.repeat(x, 2, axis=0), np.broadcast_to(x[0], (2, 4)), np.broadcast_arrays(x, x[0])
np.where(x > 0, x, y), np.where(x > 0, 1.0, y), np.maximum(x, y), np.minimum(x, 0), np.clip(x, 0, 1)
np.argmax(x, 1), np.argmin(x), np.sort(x, 0), np.argsort(x), np.unique(i), np.nonzero(x), np.take(x, i, axis=1)
np.unique(i, return_index=True, return_inverse=True, return_counts=True)
np.bincount(i), np.histogram(x, bins=4, range=(-1, 1)), np.percentile(x, 30)
np.quantile(x, 0.5), np.median(x), np.average(x)
np.average(x, axis=0, weights=np.array([1, 2, 3.0])), np.percentile(x, [10, 50], axis=1)
np.around(x, 1), np.round(x, 2), np.power(y, 2), np.mod(x, y)
np.fmod(x, y), np.hypot(x, y), np.arctan2(x, y), np.copysign(x, y)
np.ldexp(x, i[:, None]), np.lcm(i, i), np.bitwise_and(i, 1), np.bitwise_or(i, 1), np.bitwise_xor(i, 1), np.invert(i)
np.logical_not(x), np.logical_and(x, y), np.logical_or(x, 0)
np.logical_xor(x, y), np.isnan(x), np.isinf(x), np.isfinite(x)
np.isposinf(x), np.isneginf(x), np.any(x > 0), np.all(x > 0), np.nan_to_num(x / 0)
np.delete(x, 1, axis=0), np.insert(x, 1, 5.0, axis=0), np.append(x, y)
np.append(x, y, axis=0), np.diff(x), np.ediff1d(x)
np.pad(x, 1), np.pad(x, ((1, 1), (0, 2)), mode='edge'), np.pad(x, 1, mode='reflect')
np.polyval(np.array([1, 2.0]), x)
np.interp(x, np.array([-1, 0, 1.0]), np.array([0, 5, 7.0])), np.exp2(x) if hasattr(np, 'exp2') else 0
np.atleast_1d(np.array(3)), np.atleast_2d(x[0]), np.atleast_3d(x), np.blackman(5), np.hamming(5), np.hanning(5)
np.may_share_memory(x, x), np.shares_memory(x, y)
np.result_type(x, i), np.diag_indices_from(s), np.unravel_index(i, (2, 2))
np.tril_indices(3), np.triu_indices(3) if hasattr(np, 'triu_indices') else 0, np.fill_diagonal(s, 7), s
np.linalg.norm(x), np.linalg.norm(x, axis=1), np.linalg.norm(x, ord=1, axis=0), np.linalg.norm(x, 'fro')
np.linalg.det(s), np.linalg.slogdet(s), np.linalg.inv(s)
np.linalg.solve(s, x[:2]), np.linalg.cholesky(s), np.linalg.pinv(x)
np.linalg.eigvalsh(s), np.linalg.eigh(s)[0], np.abs(np.linalg.svd(x)[1]), np.linalg.eigvals(s), np.linalg.matrix_rank(s)
np.linalg.tensorinv(np.eye(4).reshape(2, 2, 2, 2)), np.linalg.lstsq(x, y[:, 0], rcond=None)[0]
np.linalg.tensorsolve(np.eye(4).reshape(2, 2, 2, 2), s)
npx.relu(x), npx.sigmoid(x), npx.softmax(x)
npx.log_softmax(x, axis=0), npx.leaky_relu(x, act_type='elu'), npx.erf(x), npx.gamma(y)
npx.fully_connected(x, y, no_bias=True, num_hidden=3), npx.one_hot(i, 4)
npx.pick(x, i), npx.topk(x, k=2), npx.gather_nd
npx.batch_dot(x[None], y[None], transpose_b=True)
npx.embedding(i, x, input_dim=3, output_dim=4), npx.reshape_like(x, y)
npx.convolution(x.reshape(1, 1, 3, 4), np.ones((2, 1, 2, 2)), kernel=(2, 2), num_filter=2, no_bias=True)
npx.pooling(x.reshape(1, 1, 3, 4), kernel=(2, 2), pool_type='max'), npx.layer_norm(x, np.ones(4), np.zeros(4))
npx.batch_norm(x, np.ones(4), np.zeros(4), np.zeros(4), np.ones(4)), npx.dropout(x, p=0)
npx.sequence_mask(x, np.array([1, 2, 1, 3.0]), use_sequence_length=True), npx.arange_like(x), npx.reshape(x, (-1, 2))
npx.smooth_l1(x)
npx.nonzero(x), npx.index_add(x, np.array([[0, 1]]), np.array([5.0])) if hasattr(npx, 'index_add') else 0
npx.is_np_shape(), npx.is_np_array(), npx.cpu(), npx.num_gpus(), npx.current_context(), npx.waitall()
np.zeros((0, 3)), np.zeros(()), np.ones((0, 3)).sum(), np.concatenate([np.zeros((0, 4)), x])
np.float32, np.int32, np.pi, np.inf, np.newaxis, np.bool_, np.ndarray.__name__
np.array([1, 2]) / 2, np.array([1, 2], dtype='int32') + 1
np.array([1, 2], dtype='int32') / 2, np.ones(2, dtype='bool') + 1
str(x[0].shape), repr(np.array([1.0, 2.0])), str(np.array(3)), format(np.array(3.5), '.1f')
x.no_such
np.no_such(x)
x + np.zeros((2, 2))
x.reshape(5, 5)
x[7]
np.concatenate([x, np.zeros((2, 2))])
np.linalg.inv(x)
np.linalg.cholesky(-s)
np.matmul(x, x)
np.einsum('ij,jk', x, y)
np.array([[1, 2], [3]])
np.dot(x, onp.ones((4, 2)))
x.as_nd_ndarray().shape, x.as_nd_ndarray().as_np_ndarray() is not None
onp.sum(x), onp.mean(x), onp.concatenate([x, y]), onp.argmax(x)
onp.add(x, y), onp.exp(x), onp.linalg.norm(x)
mx.nd.ones((2, 3)).as_np_ndarray(), x.asnumpy().shape, x.asscalar() if False else 0
np.genfromtxt
""".strip().splitlines()
each("", [(row, row) for row in split(ROWS)], evaluated, rtol=1e-3, atol=1e-4)
WRITE = """
x[0] = 5
x[:, 1] = y[:, 0]
x[x > 0] = 0
x[x > 0] = x[x > 0] * 2
x[i] = 3
x[1, 2] = 7
x[...] = 1
x += y
x *= 2
x /= y
x **= 2
np.add(x, y, out=x)
np.exp(x, out=x)
x[[0, 1], [1, 2]] = np.array([8.0, 9.0])
x[9] = 1
x[:, None] = 2
x[0:0] = 1
""".strip().splitlines()


def written(_, text):
    mx.npx.set_np()
    try:
        names = {"mx": mx, "np": mx.np, **{name: make() for name, make in NAMES.items()}}
        exec(text, names)
        return names["x"]
    finally:
        mx.npx.reset_np()


each("write", [(row, row) for row in WRITE], written)
DRAWS = """
np.random.uniform(-1, 3, (2000,))
np.random.normal(1, 2, (2000,))
np.random.randn(2000)
np.random.rand(2000)
np.random.randint(0, 10, (2000,)).astype('float32')
np.random.gamma(2, 3, (4000,))
np.random.exponential(2, (4000,))
np.random.laplace(0, 1, (4000,))
np.random.logistic(0, 1, (4000,))
np.random.gumbel(0, 1, (4000,))
np.random.rayleigh(2, (4000,))
np.random.weibull(3, (4000,))
np.random.pareto(6, (4000,))
np.random.power(3, (4000,))
np.random.beta(2, 3, (2000,))
np.random.chisquare(4, (4000,))
np.random.lognormal(0, 0.3, (4000,))
np.random.choice(5, (2000,)).astype('float32')
np.random.multinomial(20, [0.2, 0.3, 0.5], (800,)).astype('float32')[:, 2]
np.random.permutation(100).astype('float32')
npx.random.bernoulli(0.3, size=(2000,)).astype('float32')
npx.random.uniform_n(0, 1, batch_shape=(2000,))
npx.random.normal_n(0, 1, batch_shape=(2000,))
np.random.uniform(np.array([0, 5]), np.array([1, 6]), (2000, 2))[:, 1]
np.random.multivariate_normal(np.zeros(2), np.eye(2), (2000,))[:, 0]
""".strip().splitlines()


def moments(_, text):
    mx.npx.set_np()
    try:
        x = eval(text, {"np": mx.np, "npx": mx.npx}).asnumpy()
        return str(x.shape), str(x.dtype), float(x.mean()), float(x.std())
    finally:
        mx.npx.reset_np()


each("moments of", [(row, row) for row in DRAWS], moments, rtol=0.15, atol=0.15)


def in_numpy(ask):
    mx.npx.set_np()
    try:
        return ask()
    finally:
        mx.npx.reset_np()


def trained(hybrid):
    nn, net = mx.gluon.nn, mx.gluon.nn.HybridSequential()
    net.add(nn.Dense(5, activation="relu"), nn.BatchNorm(), nn.Dense(3))
    net.initialize()
    if hybrid:
        net.hybridize()
    x, out = mx.np.array(numbers(4, 6)), []
    net(x)
    for i, p in enumerate(net.collect_params().values()):
        if p.grad_req != "null":
            p.set_data(mx.np.array(numbers(*p.shape, seed=i)))
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(3):
        with mx.autograd.record():
            y = loss(net(x), mx.np.array([0, 1, 2, 1]))
        y.backward()
        trainer.step(4)
        out.append(y)
    return out, [p.data() for p in net.collect_params().values()]


each(
    "network, hybrid",
    [("False", False), ("True", True)],
    lambda _, hybrid: in_numpy(lambda: trained(hybrid)),
    rtol=1e-3,
)


@check
def symbols():
    def ask():
        x = mx.sym.np.array if False else mx.sym.var("x").as_np_ndarray()
        y = mx.sym.np.exp(x) + mx.sym.np.sum(x, axis=0)
        return y.list_arguments(), y.infer_shape(x=(2, 3)), y.eval(x=mx.np.ones((2, 3))), type(y).__name__

    return in_numpy(ask)


@check
def scopes():
    out = [mx.util.is_np_array(), mx.util.is_np_shape()]
    mx.npx.set_np()
    out += [mx.util.is_np_array(), mx.util.is_np_shape()]
    mx.npx.reset_np()

    @mx.util.use_np
    def inside():
        return type(mx.gluon.nn.Dense(2, in_units=2)).__name__, mx.util.is_np_array()

    return out, inside(), mx.util.is_np_array()


@check
def saved():
    def ask():
        mx.npx.save("np.params", {"a": mx.np.array(numbers(2)), "b": mx.np.ones((2, 0))})
        return mx.npx.load("np.params"), fails(lambda: mx.npx.load("none"))

    return in_numpy(ask)


@check
def mixed_with_old_arrays():
    return in_numpy(lambda: (fails(lambda: mx.np.ones((2, 3)) + mx.nd.ones((2, 3))), array(2).as_np_ndarray()))
