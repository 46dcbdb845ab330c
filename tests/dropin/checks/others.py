"""mx.operator, mx.profiler, mx.random, mx.context, mx.engine, mx.runtime, mx.util, mx.test_utils and other modules."""

import json
import os
import threading

from kit import area, array, check, each, expressions, fails, mx, np, numbers

area("operator")


class Scaled(mx.operator.CustomOp):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * self.factor)
        if aux:
            aux[0][:] += 1

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * self.factor)


@mx.operator.register("scaled")
class ScaledProp(mx.operator.CustomOpProp):
    def __init__(self, factor="2"):
        super().__init__(need_top_grad=True)
        self.factor = float(factor)

    def create_operator(self, ctx, shapes, dtypes):
        return Scaled(self.factor)


@mx.operator.register("counted")
class CountedProp(ScaledProp):
    def list_auxiliary_states(self):
        return ["count"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0]], [[1]]


@mx.operator.register("pair")
class PairProp(mx.operator.CustomOpProp):
    def list_arguments(self):
        return ["a", "b"]

    def list_outputs(self):
        return ["sum", "product"]

    def infer_shape(self, in_shape):
        return in_shape, [in_shape[0], in_shape[0]], []

    def infer_type(self, in_type):
        return in_type, [in_type[0]] * 2, []

    def create_operator(self, ctx, shapes, dtypes):
        class Pair(mx.operator.CustomOp):
            def forward(self, is_train, req, in_data, out_data, aux):
                self.assign(out_data[0], req[0], in_data[0] + in_data[1])
                self.assign(out_data[1], req[1], in_data[0] * in_data[1])

            def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
                self.assign(in_grad[0], req[0], out_grad[0] + out_grad[1] * in_data[1])
                self.assign(in_grad[1], req[1], out_grad[0] + out_grad[1] * in_data[0])

        return Pair()


@mx.operator.register("broken")
class BrokenProp(ScaledProp):
    def create_operator(self, ctx, shapes, dtypes):
        class Broken(mx.operator.CustomOp):
            def forward(self, is_train, req, in_data, out_data, aux):
                raise RuntimeError("broken forward")

        return Broken()


@mx.operator.register("stored")
class StoredProp(mx.operator.CustomOpProp):
    """Squares what a csr array stores."""

    def infer_shape(self, shapes):
        return shapes, [shapes[0]], []

    def infer_storage_type(self, stypes):
        return stypes, [stypes[0]], []

    def infer_storage_type_backward(self, ograd, inputs, outputs, igrad, aux):
        return ograd, inputs, outputs, [inputs[0]], aux

    def create_operator(self, ctx, shapes, dtypes):
        def stored(like, values):
            return mx.nd.sparse.csr_matrix((values, like.indices, like.indptr), shape=like.shape)

        class Stored(mx.operator.CustomOp):
            def forward(self, is_train, req, in_data, out_data, aux):
                (x,) = in_data
                self.assign(out_data[0], req[0], stored(x, x.data * x.data) if x.stype == "csr" else x * x)

            def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
                (x,) = in_data
                self.assign(in_grad[0], req[0], stored(x, 2 * x.data) if x.stype == "csr" else 2 * x)

        return Stored()


def custom(_, text):
    x, y, c = array(2, 3), array(2, 3, seed=1), mx.nd.zeros(1)
    x.attach_grad()
    y.attach_grad()
    with mx.autograd.record():
        out = eval(text, {"mx": mx, "x": x, "y": y, "c": c})
        sum((one * one).sum() for one in (out if isinstance(out, list) else [out])).backward()
    return out, x.grad, y.grad, c


CUSTOM = """
mx.nd.Custom(x, op_type='scaled')
mx.nd.Custom(x, factor=3, op_type='scaled')
mx.nd.Custom(x, y, op_type='pair')
mx.nd.Custom(a=x, b=y, op_type='pair')
mx.nd.Custom(x, c, op_type='counted')
mx.nd.Custom(x, op_type='stored')
mx.nd.Custom(x.tostype('csr'), op_type='stored')
mx.nd.Custom(x.tostype('csr'), op_type='stored').stype
mx.nd.Custom(x.tostype('row_sparse'), op_type='scaled')
mx.nd.Custom(x, op_type='broken')
mx.nd.Custom(x, op_type='never registered')
mx.nd.Custom(x, op_type='pair')
mx.nd.Custom(x, no_such=3, op_type='scaled')
""".strip().splitlines()
each("", [(row, row) for row in CUSTOM], custom)


@check
def in_symbols():
    net = mx.sym.Custom(mx.sym.var("x"), factor=3, op_type="scaled", name="c")
    one = net.simple_bind(mx.cpu(), x=(2, 3))
    one.arg_dict["x"][:] = array(2, 3)
    y = one.forward(True)
    one.backward(mx.nd.ones((2, 3)))
    pair = mx.sym.Custom(mx.sym.var("x"), mx.sym.var("y"), op_type="pair", name="p")
    return y, one.grad_dict, net.list_arguments(), net.tojson(), pair.list_outputs(), pair.infer_shape(x=(2,), y=(2,))


@check
def in_hybrid_blocks():
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.Custom(x, op_type="scaled") + 1

    net, out = Net(), []
    for hybrid in (False, True):
        net.hybridize(hybrid)
        x = array(2, 3)
        x.attach_grad()
        with mx.autograd.record():
            y = net(x)
        y.backward()
        out += [y, x.grad]
    return out


@check
def registered_names():
    return [n for n in ("scaled", "pair") if n in mx.operator.get_all_registered_operators()], len(
        mx.operator.get_all_registered_operators()
    ) > 300, mx.operator.get_operator_arguments("Activation").names  # fmt: skip


area("profiler")


@check
def profiles():
    mx.profiler.set_config(profile_all=True, filename="p.json", aggregate_stats=True)
    mx.profiler.set_state("run")
    (array(3, 4) * 2).asnumpy()
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    table = mx.profiler.dumps(reset=True)
    mx.profiler.dump()
    with open("p.json") as file:
        events = json.load(file)["traceEvents"]
    return "_mul_scalar" in table, len(events) > 2


@check
def objects():
    domain = mx.profiler.Domain("mine")
    task, frame, event = domain.new_task("t"), domain.new_frame("f"), mx.profiler.Event("e")
    counter, marker = domain.new_counter("c", 3), domain.new_marker("m")
    for one in (task, frame, event):
        one.start()
        one.stop()
    counter.set_value(5)
    counter += 2
    counter -= 1
    counter.increment(2)
    counter.decrement(1)
    marker.mark("process")
    return [str(one) for one in (domain, task, frame, event, counter)], marker.name


@check
def settings():
    return [fails(lambda: mx.profiler.set_config(no_such=1)), fails(lambda: mx.profiler.set_state("no such")),
            fails(mx.profiler.pause), fails(mx.profiler.resume),
            fails(lambda: mx.profiler.dumps(format="no such"))]  # fmt: skip


area("random")
DRAWS = """
mx.nd.random.uniform(-1, 3, (2000,))
mx.nd.random.normal(1, 2, (2000,))
mx.nd.random.randn(2000)
mx.nd.random.gamma(2, 3, (4000,))
mx.nd.random.exponential(2, (4000,))
mx.nd.random.poisson(4, (2000,))
mx.nd.random.negative_binomial(3, 0.4, (4000,))
mx.nd.random.generalized_negative_binomial(2, 0.3, (4000,))
mx.nd.random.randint(0, 10, (2000,)).astype('float32')
mx.nd.random.multinomial(mx.nd.array([0.1, 0.2, 0.7]), 2000).astype('float32')
mx.nd.random.uniform(mx.nd.array([0, 5]), mx.nd.array([1, 6]), 2000)
mx.nd.random.normal(mx.nd.array([0, 5]), mx.nd.array([1, 1]), 2000)
mx.nd.random.uniform_like(mx.nd.zeros(2000)) if hasattr(mx.nd.random, 'uniform_like') else mx.nd.zeros(1)
mx.nd.random.shuffle(mx.nd.arange(2000)) / 2000
mx.nd.random.bernoulli(prob=0.3, shape=(2000,)) if hasattr(mx.nd.random, 'bernoulli') else mx.nd.zeros(1)
mx.random.uniform(0, 1, (2000,))
mx.nd.sample_multinomial(mx.nd.array([[0, 1], [1, 0]]), shape=5).astype('float32')
mx.nd.Dropout(mx.nd.ones(4000), p=0.25, mode='always')
""".strip().splitlines()


def moments(text):
    x = eval(text, {"mx": mx}).asnumpy()
    return str(x.shape), float(x.mean()), float(x.std())


each("moments of", DRAWS, moments, rtol=0.12, atol=0.12)
expressions(
    "",
    {"fails": fails},
    """
mx.nd.random.uniform(shape=(2, 3), dtype='float64')
mx.nd.random.normal(shape=(2, 3), ctx=mx.cpu(1)).context
mx.nd.random.randint(0, 5, (3,)).dtype
mx.nd.random.uniform(0, mx.nd.ones(2))
mx.nd.random.randint(5, 0, (3,))
mx.nd.random.exponential(1, (2,)).shape
mx.nd.random.multinomial(mx.nd.array([[0.5, 0.5]]), get_prob=True)[1].shape
mx.random.seed('a')
mx.random.seed(3, ctx=mx.cpu(0))
mx.nd.random.uniform(shape=(3,), no_such=1)
""".strip().splitlines()[1:3]
    + ["mx.random.seed('a')", "mx.random.seed(3, ctx=mx.cpu(0))", "mx.nd.random.uniform(0, mx.nd.ones(2))"],
)


@check
def seeds_repeat():
    out = []
    for _ in range(2):
        mx.random.seed(42)
        out.append([mx.nd.random.uniform(shape=3), mx.nd.random.normal(shape=3), mx.nd.random.randint(0, 99, (3,))])
    return [bool((a == b).asnumpy().all()) for a, b in zip(*out)]


area("runtime")
expressions(
    "",
    {"fails": fails},
    """
mx.__version__
mx.cpu(), mx.cpu(1).device_id, mx.Context('cpu', 2), mx.cpu() == mx.cpu(0), mx.cpu_pinned(), mx.Context('cpu_shared', 0)
mx.gpu(0), str(mx.gpu(3)), mx.num_gpus(), mx.context.num_gpus()
mx.context.gpu_memory_info(0)
mx.Context('no such')
mx.current_context(), mx.context.current_context().device_type
mx.nd.ones(2, ctx=mx.Context(mx.cpu(1))).context
mx.runtime.Features().is_enabled('CUDA'), mx.runtime.Features().is_enabled('no such')
type(mx.runtime.feature_list()[0]).__name__
mx.engine.set_bulk_size(5) >= 0, mx.engine.set_bulk_size(7)
mx.util.is_np_shape(), mx.util.is_np_array(), mx.util.set_np_shape(True), mx.util.set_np_shape(False)
mx.util.get_gpu_count(), fails(lambda: mx.util.get_gpu_memory(0)) if False else 0
mx.libinfo.__version__
mx.base.MXNetError.__name__, mx.error.InternalError.__mro__[1].__name__
mx.library.load('none.so')
mx.rtc.CudaModule('')
mx.nd.cast_storage(mx.nd.ones(2), 'default')
mx.attribute.AttrScope().get(None)
mx.log.get_logger('x').name
mx.registry.get_registry(mx.metric.EvalMetric)['acc'].__name__
mx.contrib.text.utils.count_tokens_from_str('a b a').most_common()
mx.contrib.autograd.train_section.__name__
mx.visualization is mx.viz
mx.th if hasattr(mx, 'th') else None
mx.name.NameManager().get(None, 'a')
mx.kv is mx.kvstore
mx.contrib.quantization.quantize_model
mx.contrib.tensorrt.optimize_graph
mx.lr_scheduler.LRScheduler().base_lr
mx.contrib.amp.list_lp16_ops()[:2] if hasattr(mx.contrib.amp, 'list_lp16_ops') else 0
mx.util.np_shape(True).__class__.__name__
mx.nd.contrib.rand_zipfian(mx.nd.array([3]), 4, 10)[0].shape
""".strip().splitlines(),
)


@check
def contexts_are_of_threads():
    seen = []
    with mx.cpu(1):
        thread = threading.Thread(target=lambda: seen.append(str(mx.current_context())))
        thread.start()
        thread.join()
        seen.append(str(mx.current_context()))
        seen.append(str(mx.nd.ones(2).context))
    return seen, str(mx.current_context())


@check
def bulks():
    with mx.engine.bulk(10):
        x = mx.nd.ones(3)
        for _ in range(20):
            x += 1
    return x


@check
def threads_at_work():
    out = [None] * 8

    def work(i):
        x = array(40, 40, seed=i)
        x.attach_grad()
        with mx.autograd.record():
            y = mx.nd.dot(x, x).sum()
        y.backward()
        out[i] = x.grad

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return out


@check
def forks():
    x = mx.nd.ones(3) + 1
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, (x + mx.nd.ones(3)).asnumpy().tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    return os.read(read, 100)


@check
def mixed_precision():
    amp = mx.contrib.amp
    return fails(lambda: amp.init("no such")), type(amp.lists.symbol_fp16.FP16_FUNCS).__name__


@check
def models_in_half_precision():
    from mxnet.contrib import amp

    net = mx.sym.FullyConnected(mx.sym.exp(mx.sym.var("data")), num_hidden=3, name="fc")
    args = {"fc_weight": array(3, 4), "fc_bias": array(3)}
    new, _, _ = amp.convert_model(net, args, {}, target_dtype="float16")
    return [n["op"] for n in json.loads(new.tojson())["nodes"]]


@check
def onnx_without_onnx():
    return fails(lambda: mx.onnx.export_model("none.json", "none.params", [(1, 3)]))


area("test_utils")
tu = mx.test_utils
UNARY = (
    "exp log sqrt tanh sigmoid square relu sin cos arctan log1p expm1 cbrt rsqrt erf gammaln softmax log_softmax"
).split()


def numeric(name):
    net = getattr(mx.sym, name)(mx.sym.var("x"))
    tu.check_numeric_gradient(net, [numbers(3, 4, low=0.5, high=1.5)], numeric_eps=1e-2, rtol=0.05, atol=1e-2)
    return tu.check_consistency(
        net,
        [{"ctx": mx.cpu(0), "x": (3, 4), "type_dict": {"x": t}} for t in ("float32", "float64")],
        rtol=1e-3,
        atol=1e-3,
    )[0]


each("numeric gradient of", UNARY, lambda name: numeric(name) is not None)
NETS = """
mx.sym.FullyConnected(x, num_hidden=3, name='f')
mx.sym.Convolution(mx.sym.reshape(x, (1, 1, 4, 4)), kernel=(3, 3), num_filter=2, name='c')
mx.sym.Deconvolution(mx.sym.reshape(x, (1, 1, 4, 4)), kernel=(3, 3), num_filter=2, name='c')
mx.sym.Pooling(mx.sym.reshape(x, (1, 1, 4, 4)), kernel=(2, 2), pool_type='avg')
mx.sym.LayerNorm(x, name='n')
mx.sym.dot(x, x, transpose_b=True)
mx.sym.concat(x, x * 2, dim=0)
mx.sym.broadcast_mul(x, mx.sym.sum(x, axis=0, keepdims=True))
mx.sym.LeakyReLU(x, act_type='elu')
mx.sym.transpose(x) * 2
mx.sym.norm(x, axis=1)
mx.sym.Embedding(mx.sym.BlockGrad(mx.sym.round(mx.sym.abs(x))), input_dim=9, output_dim=2, name='e')
mx.sym.slice_axis(x, axis=1, begin=1, end=3)
mx.sym.pick(x, mx.sym.zeros((4,)), axis=1)
mx.sym.where(mx.sym.BlockGrad(x) > 1, x, x * 2)
""".strip().splitlines()


def numeric_of_net(text):
    net = eval(text, {"mx": mx, "x": mx.sym.var("x")})
    shapes, _, _ = net.infer_shape(x=(4, 4))
    places = [numbers(*shape, seed=i, low=0.5, high=1.5) for i, shape in enumerate(shapes)]
    tu.check_numeric_gradient(net, places, numeric_eps=1e-2, rtol=0.08, atol=5e-2)
    return True


each("numeric gradient of", NETS, numeric_of_net)


@check
def symbolic_checks():
    x = mx.sym.var("x")
    net, place = mx.sym.square(x), numbers(3, 4)
    tu.check_symbolic_forward(net, [place], [place**2])
    tu.check_symbolic_backward(net, [place], [np.ones((3, 4), "float32")], [2 * place])
    tu.check_symbolic_backward(net, {"x": place}, [np.ones((3, 4))], {"x": 2 * place + 1}, grad_req="add") if 0 else 0
    return fails(lambda: tu.check_symbolic_forward(net, [place], [place])), tu.simple_forward(net, x=place)


@check
def speed():
    net = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=3)
    return tu.check_speed(net, N=2, x=(2, 3)) > 0, tu.check_speed(net, N=2, x=(2, 3), typ="forward") > 0


expressions(
    "",
    {"fails": fails},
    """
tu.almost_equal(np.ones(2), np.ones(2)) if False else mx.test_utils.almost_equal(np.ones(2), np.ones(2))
mx.test_utils.assert_almost_equal(mx.nd.ones(2), np.ones(2))
mx.test_utils.assert_almost_equal(mx.nd.ones(2), np.zeros(2))
mx.test_utils.same(mx.nd.ones(2).asnumpy(), np.ones(2))
mx.test_utils.default_context(), mx.test_utils.default_dtype()
mx.test_utils.rand_ndarray((2, 3)).shape, mx.test_utils.rand_shape_2d(3, 3)[0] < 4
mx.test_utils.rand_ndarray((2, 3), 'csr')
mx.test_utils.random_arrays((2, 3)).shape
mx.test_utils.same_array(mx.nd.ones(2), mx.nd.ones(2))
mx.test_utils.list_gpus()
mx.test_utils.np_reduce(np.ones((2, 3)), 1, True, np.sum)
mx.test_utils.get_etol(), mx.test_utils.get_rtol(), mx.test_utils.get_atol()
mx.test_utils.create_vector(5, 'int64')
mx.test_utils.is_cd_run(), mx.test_utils.is_aarch64_run() if hasattr(mx.test_utils, 'is_aarch64_run') else 0
mx.test_utils.check_gluon_hybridize_consistency if hasattr(mx.test_utils, 'check_gluon_hybridize_consistency') else 0
mx.test_utils.mean_check(lambda n: np.random.normal(0, 1, n), 0, 1, nsamples=2000)
""".strip().splitlines(),
)


@check
def random_symbols():
    probabilities = [0.2] * 5
    return (
        mx.test_utils.chi_square_check(lambda n: np.random.randint(0, 5, n), list(range(5)), probabilities, 5000)[0] > 0
    )
