"""mx.contrib and gluon.contrib, and uses of several parts at once: what a hostile user would try."""

import gc

from kit import area, array, check, each, expressions, fails, fill, mx, numbers
from mxnet.gluon import nn

area("contrib")
expressions(
    "",
    {"fails": fails, "x": lambda: array(3, 4), "s": lambda: mx.sym.var("s")},
    """
mx.contrib.nd.arange_like(x, axis=0)
mx.contrib.ndarray.box_iou(x, x, format='corner')
mx.contrib.sym.quadratic(s, a=1, b=2, c=3).eval(s=mx.nd.ones(2))
mx.contrib.symbol.div_sqrt_dim(s).eval(s=mx.nd.ones((2, 4)))
mx.contrib.text.vocab.Vocabulary(mx.contrib.text.utils.count_tokens_from_str('a b b c c c')).token_to_idx
mx.contrib.text.vocab.Vocabulary(mx.contrib.text.utils.count_tokens_from_str('a b b c c c')).to_indices(['c', 'z'])
mx.contrib.io.DataLoaderIter.__name__
[b.data[0] for b in mx.contrib.io.DataLoaderIter(mx.gluon.data.DataLoader([(i, i) for i in range(4)], 2))]
mx.contrib.autograd.grad_and_loss(lambda v: v * v)(x)
mx.contrib.autograd.grad(lambda v: v * v)(x)
mx.gluon.contrib.nn.PixelShuffle3D(2)(mx.nd.arange(64).reshape((1, 8, 2, 2, 2)))
list(mx.gluon.contrib.data.IntervalSampler(7, 3))
mx.gluon.contrib.rnn.Conv1DLSTMCell((2, 5), 3, 3, 3).state_info()
mx.gluon.contrib.estimator.Estimator.__name__
mx.gluon.data.vision.MNIST.__name__
mx.gluon.utils.shape_is_known((0, 2)), mx.gluon.utils.check_sha1.__name__
mx.optimizer.contrib.GroupAdaGrad.__name__
mx.nd.contrib.isinf(x / 0), mx.nd.contrib.allclose(x, x), mx.nd.contrib.gradientmultiplier(x, scalar=2)
mx.nd.contrib.bipartite_matching(x, threshold=0.1), mx.nd.contrib.box_nms(mx.nd.array([[0, .9, 0, 0, 1, 1]]))
mx.nd.contrib.MultiBoxPrior(mx.nd.zeros((1, 3, 2, 2)), sizes=(0.5,), ratios=(1, 2))
mx.nd.contrib.ROIAlign(mx.nd.arange(16).reshape((1, 1, 4, 4)), mx.nd.array([[0, 0, 0, 3, 3]]), (2, 2), 1)
mx.nd.contrib.count_sketch(x, x, x, out_dim=3)
mx.nd.contrib.interleaved_matmul_selfatt_qk(mx.nd.ones((2, 1, 12)), heads=2)
mx.nd.contrib.group_adagrad_update(x, x, mx.nd.zeros((3, 1)), lr=0.1)
mx.nd.contrib.PSROIPooling(x.reshape((1, 4, 3, 1)), mx.nd.array([[0, 0, 0, 2, 2]]), 1, 1, 2)
mx.nd.contrib.SyncBatchNorm(mx.nd.ones((2, 3)), mx.nd.ones(3), mx.nd.zeros(3), mx.nd.zeros(3), mx.nd.ones(3), key='a')
mx.nd.contrib.DeformableConvolution.__name__
mx.nd.contrib.dynamic_reshape(x, mx.nd.array([4, 3]))
mx.nd.Correlation(mx.nd.ones((1, 2, 4, 4)), mx.nd.ones((1, 2, 4, 4)), kernel_size=1, max_displacement=1)
mx.nd.Pooling_v1(mx.nd.ones((1, 1, 4, 4)), kernel=(2, 2), pool_type='max')
mx.nd.Convolution_v1(mx.nd.ones((1, 1, 4, 4)), mx.nd.ones((1, 1, 2, 2)), no_bias=True, kernel=(2, 2), num_filter=1)
mx.nd.BatchNorm_v1(mx.nd.ones((2, 3)), mx.nd.ones(3), mx.nd.zeros(3))
mx.nd.Crop(mx.nd.ones((1, 1, 4, 4)), num_args=1, h_w=(2, 2))
mx.nd.SVMOutput(x, mx.nd.array([0, 1, 2])), mx.nd.LogisticRegressionOutput(x, x), mx.nd.MAERegressionOutput(x, x)
mx.nd.IdentityAttachKLSparseReg(x)
mx.nd.linalg.gelqf(x), mx.nd.linalg.syevd(mx.nd.array([[2, 1], [1, 2]]))[1], mx.nd.linalg.trsm(mx.nd.eye(3), x)
mx.nd.multi_sgd_update(x, x, x, x, lrs=(0.1, 0.2), wds=(0, 0), num_weights=2)
mx.nd.preloaded_multi_sgd_update(x, x, mx.nd.array([0.1]), mx.nd.array([0]), num_weights=1)
mx.nd.multi_lars(mx.nd.ones(2), mx.nd.ones(2), mx.nd.ones(2), mx.nd.zeros(2), eta=0.1, eps=1e-8)
mx.nd.reset_arrays(x, num_arrays=1), x
mx.nd.GridGenerator(mx.nd.array([[1, 0, 0, 0, 1, 0]]), 'affine', (2, 2))
mx.nd.softmax(x, length=mx.nd.array([1, 2, 3], dtype='int32'), use_length=True, axis=1)
mx.nd.softmax(x, temperature=3), mx.nd.softmax(x.astype('float16'), dtype='float32').dtype
mx.nd.masked_softmax if hasattr(mx.nd, 'masked_softmax') else 0
mx.nd.sum(x, axis=(0, 1)), mx.nd.sum(x, axis=1, exclude=True), mx.nd.sum(x.astype('int32'))
mx.nd.mean(x, axis=()), mx.nd.norm(x, ord=2, axis=(0, 1))
mx.nd.dot(x, x, transpose_a=True), mx.nd.dot(mx.nd.ones(3), x)
mx.nd.dot(x, mx.nd.ones(4)), mx.nd.dot(mx.nd.ones(3), mx.nd.ones(3))
mx.nd.where(mx.nd.array([1, 0, 1]), x, -x), mx.nd.where(x > 0, mx.nd.ones((3, 4)), mx.nd.zeros((3, 4)))
mx.nd.zeros((2, 3), dtype='float64') + 1, mx.nd.ones((2,), dtype='int8') * 100 * 2, mx.nd.ones(2, dtype='uint8') - 2
mx.nd.array([1e10]).astype('int32'), mx.nd.array([np.nan, np.inf]).astype('int32').shape
mx.nd.array([300]).astype('uint8')
mx.nd.array([2.5, 3.5, -2.5]).round(), mx.nd.array([2.5, -2.5]).rint(), mx.nd.array([2.5, -2.5]).fix()
mx.nd.array([5, -5]) % 3, mx.nd.array([5, -5]) % -3, mx.nd.array([5]) % 0
mx.nd.array([5, 0]) / 0, mx.nd.array([0]) ** 0
mx.nd.array([5, 6], dtype='int32') % 0 if False else 0, mx.nd.array([1, 2], dtype='int32') / 2
mx.nd.array([7, -7], dtype='int32') / 2
""".strip().splitlines(),
    rtol=1e-3,
    atol=1e-4,
)


@check
def cells_of_convolutions():
    out = []
    for kind in ("Conv1DRNNCell", "Conv1DLSTMCell", "Conv1DGRUCell", "Conv2DLSTMCell"):
        shape = (2, 5) if "1D" in kind else (2, 5, 5)
        cell = getattr(mx.gluon.contrib.rnn, kind)(shape, 3, 3, 3, i2h_pad=1)
        cell.initialize()
        x = [array(1, *shape, seed=i) for i in range(2)]
        cell.unroll(2, x)
        fill(cell.collect_params())
        cell.reset()
        out.append(cell.unroll(2, x)[0])
    return out


@check
def many_networks_come_and_go():
    out = []
    for i in range(30):
        net = nn.HybridSequential()
        net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
        net.initialize()
        net.hybridize(static_alloc=bool(i % 2))
        net(array(2, 3))
        fill(net.collect_params())
        with mx.autograd.record():
            y = net(array(2, 3)).sum()
        y.backward()
        out.append(net[0].weight.grad().sum())
        del net, y
    gc.collect()
    return out


@check
def one_network_in_many_threads():
    import threading

    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation="tanh"), nn.Dense(3))
    net.initialize()
    net.hybridize()
    net(array(2, 3))
    fill(net.collect_params())
    out = [None] * 6

    def work(i):
        for _ in range(5):
            out[i] = net(array(2, 3, seed=i)).asnumpy()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return out


@check
def networks_in_networks():
    class Residual(nn.HybridBlock):
        def __init__(self, width):
            super().__init__()
            with self.name_scope():
                self.body = nn.HybridSequential()
                self.body.add(nn.Conv2D(width, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
                self.scale = self.params.get("scale", shape=(1,), init=mx.init.One())

        def hybrid_forward(self, F, x, scale):
            return F.broadcast_mul(self.body(x), scale) + x

    net = nn.HybridSequential()
    net.add(Residual(2), nn.MaxPool2D(), Residual(2), nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(3))
    net.initialize()
    out = []
    for hybrid in (False, True):
        net.hybridize(hybrid)
        net(array(2, 2, 6, 6))
        fill(net.collect_params())
        with mx.autograd.record():
            y = net(array(2, 2, 6, 6))
            (y * y).sum().backward()
        out += [y, net[0].scale.grad(), net[0].body[0].weight.grad()]
    return out


@check
def losses_of_gradients():
    """A penalty on the gradient, as in GANs."""
    x = array(4, 3)
    w = array(2, 3)
    x.attach_grad()
    w.attach_grad()
    with mx.autograd.record():
        y = mx.nd.tanh(mx.nd.FullyConnected(x, w, no_bias=True, num_hidden=2)).sum()
        return fails(lambda: mx.autograd.grad(y, [x], create_graph=True)[0].sum().backward())


@check
def parameters_are_shared():
    a = nn.Dense(3, in_units=3)
    b = nn.Dense(3, in_units=3, params=a.params)
    a.initialize()
    fill(a.collect_params())
    with mx.autograd.record():
        y = b(a(array(2, 3))).sum()
    y.backward()
    return y, a.weight.grad(), a.weight is b.weight


@check
def contexts_of_networks():
    net = nn.Dense(2, in_units=3)
    net.initialize(mx.init.One(), ctx=[mx.cpu(0), mx.cpu(1)])
    net.collect_params().reset_ctx(mx.cpu(2))
    return (
        str(net(array(2, 3).as_in_context(mx.cpu(2))).context),
        fails(lambda: net(array(2, 3))),
        fails(lambda: net.collect_params().reset_ctx(mx.gpu(0))),
    )


@check
def big_shapes():
    x = mx.nd.ones((300, 400, 5))
    y = mx.nd.transpose(x, (2, 0, 1)).reshape((-3, 0))
    big = numbers(700, 900)
    return (
        y.shape,
        float(y.sum().asscalar()),
        mx.nd.array(big).T.dot(mx.nd.array(big)).mean(),
        mx.nd.array(big).argsort()[5, :9],
    )


def seeds(kind):
    """A draw with a seed repeats, whatever was drawn before."""
    mx.random.seed(7)
    a = kind()
    mx.nd.random.uniform(shape=(50,)).asnumpy()
    mx.random.seed(7)
    return bool((a == kind()).asnumpy().all())


each(
    "seed of",
    [
        ("shuffle", lambda: mx.nd.random.shuffle(mx.nd.arange(20))),
        ("dropout", lambda: mx.nd.Dropout(mx.nd.ones(50), mode="always")),
        ("normal", lambda: mx.nd.random.normal(shape=(9,))),
        ("multinomial", lambda: mx.nd.random.multinomial(mx.nd.array([0.5, 0.5]), 20)),
    ],
    lambda _, kind: seeds(kind),
)


@check
def svrg():
    from mxnet.contrib.svrg_optimization.svrg_module import SVRGModule

    net = mx.sym.LinearRegressionOutput(
        mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc"), mx.sym.var("y")
    )
    module = SVRGModule(net, ["data"], ["y"], update_freq=2)
    data = mx.io.NDArrayIter(numbers(8, 3), numbers(8, 1), 4, label_name="y")
    module.fit(data, num_epoch=3, eval_metric="mse", initializer=mx.init.One(), kvstore="local")
    return module.get_params()[0]


@check
def executor_managers():
    from mxnet.executor_manager import _split_input_slice

    return [str(part) for part in _split_input_slice(10, [1, 2])], fails(lambda: _split_input_slice(1, [1, 1]))
