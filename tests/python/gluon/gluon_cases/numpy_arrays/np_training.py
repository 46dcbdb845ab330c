"""Recurrent layers, optimizers, Trainer, helpers, data: of arrays of mx.np."""

from __future__ import annotations

import numpy
from _case import case
from gluon_cases.numpy_arrays._mode import array, classes, fill, in_numpy, ready, trained

RECURRENT = {
    "RNN(4)": 1,
    "RNN(4, activation='tanh', num_layers=2)": 1,
    "LSTM(4)": 2,
    "LSTM(4, num_layers=2, bidirectional=True)": 2,
    "GRU(4, layout='NTC')": 1,
    "GRU(4, bidirectional=True)": 1,
}


@case(text=list(RECURRENT), hybrid=[False, True])
@in_numpy
def recurrent_layer(mx, text, hybrid):
    x = array(mx, (5, 3, 2))
    layer = ready(mx, eval(f"rnn.{text}", {"rnn": mx.gluon.rnn}), x)
    if hybrid:
        layer.hybridize()
    states = layer.begin_state(x.shape[layer._layout.find("N")])
    begin = classes(states)
    x.attach_grad()
    with mx.autograd.record():
        out, states = layer(x, states)
        loss = (out * out).sum() + sum((each * each).sum() for each in states)
    loss.backward()
    grads = [each.grad() for each in layer.collect_params().values()]
    return begin, classes([out, states, loss, x.grad, *grads])


@case
@in_numpy
def recurrent_layer_without_its_states(mx):
    x = array(mx, (5, 3, 2))
    layer = ready(mx, mx.gluon.rnn.LSTM(4), x)
    state = layer.begin_state(batch_size=3)
    return trained(mx, layer, x), classes(layer(x, [each + 1 for each in state]))


# ---- optimizers ----

OPTIMIZERS = """
    sgd nag signum ftml dcasgd adam adagrad rmsprop adadelta ftrl adamax nadam lamb
""".split()


def _steps(mx, trainer_of, count=3):
    x, y = array(mx, (8, 3)), array(mx, (8, 1), 1)
    net = mx.gluon.nn.Dense(1, in_units=3)
    net.initialize()
    fill(mx, net)
    trainer = trainer_of(net)
    for _ in range(count):
        with mx.autograd.record():
            loss = ((net(x) - y) ** 2).sum()
        loss.backward()
        trainer.step(8)
    return classes([loss, net.weight.data(), net.bias.data()])


@case(name=OPTIMIZERS)
@in_numpy
def optimizer(mx, name):
    given = {} if name in ("adadelta", "ftml") else {"learning_rate": 0.1}
    return _steps(mx, lambda net: mx.gluon.Trainer(net.collect_params(), name, given))


@case
@in_numpy
def momentum_decay_and_schedule(mx):
    schedule = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=0.1)
    given = {"momentum": 0.9, "wd": 0.1, "lr_scheduler": schedule, "clip_gradient": 0.5}
    return _steps(mx, lambda net: mx.gluon.Trainer(net.collect_params(), "sgd", given))


@case
@in_numpy
def optimizer_of_the_user(mx):
    seen = []

    class Mine(mx.optimizer.Optimizer):
        def create_state(self, index, weight):
            seen.append(type(weight).__name__)
            return mx.nd.zeros(weight.shape)

        def update(self, index, weight, grad, state):
            self._update_count(index)
            for one, slope in zip(*([each] if not isinstance(each, list) else each for each in (weight, grad))):
                seen.append([type(one).__name__, type(slope).__name__])
                one -= 0.1 * slope

    return _steps(mx, lambda net: mx.gluon.Trainer(net.collect_params(), Mine()), 1), sorted(map(str, seen))


@case
@in_numpy
def updater(mx):
    update = mx.optimizer.get_updater(mx.optimizer.create("sgd", learning_rate=0.5, momentum=0.9))
    weight, grad = array(mx, (2, 3)), array(mx, (2, 3), 1)
    update(0, grad, weight)
    update(0, grad, weight)
    return classes(weight), type(update.states[0]).__name__


@case
@in_numpy
def states_of_a_trainer(mx, folder):
    def trainer_of(net):
        trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
        kept.append(trainer)
        return trainer

    kept = []
    first = _steps(mx, trainer_of)
    kept[0].save_states(f"{folder}/trainer.states")
    kept[0].load_states(f"{folder}/trainer.states")
    return first, kept[0].learning_rate


@case
@in_numpy
def several_contexts(mx):
    ctxs = [mx.cpu(0), mx.cpu(1)]
    net = mx.gluon.nn.Dense(1, in_units=3)
    net.initialize(ctx=ctxs)
    fill(mx, net)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    parts = mx.gluon.utils.split_and_load(array(mx, (8, 3)), ctxs)
    with mx.autograd.record():
        losses = [(net(each) ** 2).sum() for each in parts]
    for each in losses:
        each.backward()
    trainer.step(8)
    arrays = [*parts, *losses, *net.weight.list_data(), *net.weight.list_grad(), net.weight.data(ctxs[1])]
    return classes(arrays), [str(each.ctx) for each in arrays]


@case(kind=["local", "device"])
@in_numpy
def store(mx, kind):
    kv = mx.kv.create(kind)
    kv.init("w", mx.np.ones((2, 3)))
    kv.push("w", [mx.np.ones((2, 3)) * 2, mx.np.ones((2, 3)) * 3])
    out = mx.np.zeros((2, 3))
    kv.pull("w", out=out)
    return classes(out)


# ---- helpers ----


@case
@in_numpy
def split(mx):
    utils, x = mx.gluon.utils, array(mx, (6, 3))
    ctxs = [mx.cpu(0), mx.cpu(1)]
    return (
        classes(utils.split_data(x, 3)),
        classes(utils.split_and_load(x, ctxs)),
        classes(utils.split_and_load(x.asnumpy(), ctxs)),
        classes(utils.split_and_load(x, [mx.cpu(1)])),
        classes(utils.split_and_load(x[:5], ctxs, even_split=False)),
        classes(utils.split_data(x, 3, batch_axis=1)),
    )


@case
@in_numpy
def arrays_in_files(mx, folder):
    x, path = array(mx, (2, 3)), f"{folder}/x"
    mx.npx.save(path, x)
    one = mx.npx.load(path)
    mx.npx.save(path, [x, x + 1])
    several = mx.npx.load(path)
    mx.npx.save(path, {"a": x, "b": x.sum()})
    named = mx.npx.load(path)
    return classes(one), classes(several), {name: classes(each) for name, each in named.items()}


# ---- autograd ----


@case
@in_numpy
def heads_and_requests(mx):
    x = array(mx, (3,))
    x.attach_grad("add")
    for _ in range(2):
        with mx.autograd.record():
            y = mx.np.exp(x)
            z = y * 2
        mx.autograd.backward([y, z], [mx.np.ones(3), None])
    first = classes([x.grad, x.detach(), x.grad.detach()])
    w = array(mx, (3,), 1)
    grad = mx.np.zeros(3)
    mx.autograd.mark_variables([w], [grad])
    with mx.autograd.record(train_mode=False):
        out = (w * w).sum()
        seen = mx.autograd.is_recording(), mx.autograd.is_training()
        with mx.autograd.pause():
            still = mx.autograd.is_recording()
    out.backward(mx.np.array(3.0))
    return first, classes([grad, w.grad]), seen, still


@case
@in_numpy
def gradient_of_control_flow(mx):
    a = array(mx, (), 3)
    a.attach_grad()
    with mx.autograd.record():
        b = a * 2
        while mx.np.linalg.norm(b) < 1000:
            b = b * 2
        c = b if b.sum() > 0 else 100 * b
    c.backward()
    return classes([c, a.grad, a.grad == c / a])


# ---- data ----


@case(workers=[0, 2], threads=[False, True])
@in_numpy
def loader(mx, workers, threads):
    data = mx.gluon.data
    x, y = array(mx, (5, 3)), array(mx, (5,), 1)
    sets = {
        "arrays": data.ArrayDataset(x, y),
        "numpy": data.ArrayDataset(x.asnumpy(), y.asnumpy()),
        "one": data.ArrayDataset(x),
        "numbers": data.SimpleDataset([1, 2, 3, 4, 5]),
        "fractions": data.SimpleDataset([0.5, 1.5, 2.5]),
        "tuples": data.SimpleDataset([(x.asnumpy()[0], 1), (x.asnumpy()[1], 2)]),
        "changed": data.ArrayDataset(x, y).transform_first(lambda row: row * 2),
        "lazy": data.SimpleDataset([1.0, 2.0, 3.0]).transform(lambda v: mx.np.ones((2,)) * v),
    }
    found = {}
    for name, each in sets.items():
        batches = data.DataLoader(each, batch_size=2, num_workers=workers, thread_pool=threads)
        found[name] = [classes(batch) for batch in batches]
    return found


@case
@in_numpy
def sample(mx):
    data = mx.gluon.data
    x, y = array(mx, (5, 3)), array(mx, (5,), 1)
    first = data.ArrayDataset(x, y)[1]
    return classes(first[0]), float(first[1]), classes(data.ArrayDataset(x)[2]), len(data.ArrayDataset(x, y))


TRANSFORMS = {
    "ToTensor()": ((4, 5, 3), "uint8"),
    "Normalize(0.1, 0.2)": ((3, 4, 5), "float32"),
    "Normalize((0.1, 0.2, 0.3), 2.0)": ((3, 4, 5), "float32"),
    "Cast('float64')": ((2, 3), "float32"),
    "Resize(3)": ((4, 6, 3), "uint8"),
    "Resize((2, 4), interpolation=0)": ((4, 6, 3), "uint8"),
    "CenterCrop(3)": ((5, 6, 3), "uint8"),
    "Compose([transforms.Resize(4), transforms.ToTensor()])": ((8, 8, 3), "uint8"),
}


@case(text=list(TRANSFORMS), atol=1.01)
@in_numpy
def transform(mx, text):
    shape, dtype = TRANSFORMS[text]
    x = mx.np.array(numpy.arange(numpy.prod(shape)).reshape(shape) % 251, dtype=dtype)
    made = eval(f"transforms.{text}", {"transforms": mx.gluon.data.vision.transforms})
    return classes(made(x))


@case
@in_numpy
def images(mx):
    image = mx.image
    x = mx.np.array(numpy.arange(90).reshape(5, 6, 3) % 251, dtype="uint8")
    return (
        classes(image.fixed_crop(x, 1, 0, 3, 4)),
        type(image.imresize(x, 3, 3)).__name__,
        type(image.resize_short(x, 3)).__name__,
        classes(image.center_crop(x, (3, 3))[0]),
        type(image.random_crop(x, (3, 3))[0]).__name__,
    )


@case
@in_numpy
def custom_operator(mx):
    seen = []

    class Scaled(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            seen.append([type(each).__name__ for each in (*in_data, *out_data)])
            self.assign(out_data[0], req[0], in_data[0] * in_data[0])

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            seen.append([type(each).__name__ for each in (*out_grad, *in_data, *out_data, *in_grad)])
            self.assign(in_grad[0], req[0], out_grad[0] * in_data[0] * 2)

    @mx.operator.register("np_training_scaled")
    class ScaledProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Scaled()

    x = array(mx, (2, 3))
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Custom(x.as_nd_ndarray(), op_type="np_training_scaled").as_np_ndarray()
    y.backward()
    found = classes([y, x.grad])
    mx.npx.waitall()
    return found, seen


# ---- tools ----


@case(grad=[True, False], text=["Dense(3)", "Conv1D(2, 2)", "Activation('relu')"])
@in_numpy
def hybridized_blocks_are_consistent(mx, grad, text):
    def net_builder(prefix=None):
        return eval(f"nn.{text[:-1]}, prefix={prefix!r})", {"nn": mx.gluon.nn})

    mx.test_utils.check_gluon_hybridize_consistency(net_builder, [array(mx, (2, 3, 4))], None, grad)
    return "consistent"


@case
@in_numpy
def helpers_of_tests(mx):
    tools, x = mx.test_utils, array(mx, (2, 3))
    tools.assert_almost_equal(x, x.asnumpy())
    tools.assert_almost_equal(x, x + 1e-9, rtol=1e-3, atol=1e-4)
    random = tools.rand_ndarray((2, 3)).as_np_ndarray()
    try:
        tools.assert_almost_equal(x, x + 1)
    except AssertionError:
        return tools.same(x.asnumpy(), x.asnumpy()), type(random).__name__, tools.almost_equal(x.asnumpy(), x.asnumpy())
    return "no difference"


@case
@in_numpy
def counts_of_random_numbers(mx):
    mx.random.seed(3)
    first = mx.np.random.uniform(size=(3,))
    mx.npx.random.seed(3)
    again = mx.np.random.uniform(size=(3,))
    mx.npx.waitall()
    return type(first).__name__, bool((first == again).all()), str(mx.npx.current_context()), mx.npx.num_gpus()


@case
@in_numpy
def contexts(mx):
    with mx.Context(mx.cpu(1)):
        x = mx.np.ones((1, 2))
    y = x.as_in_ctx(mx.cpu(0))
    net = mx.gluon.nn.Dense(2, in_units=2)
    net.initialize(ctx=mx.cpu(1))
    fill(mx, net)
    before = str(net(x).ctx)
    net.collect_params().reset_ctx(mx.cpu(0))
    return str(x.ctx), str(y.ctx), str(y.copyto(mx.cpu(1)).ctx), before, str(net(y).ctx), str(net.weight.data().ctx)


@case(dtype=["float64", "int64", "uint8", "float16"])
@in_numpy
def dtypes_of_numpys_arrays(mx, dtype):
    x, data = numpy.ones((4, 2), dtype), mx.gluon.data
    batches = data.DataLoader(data.ArrayDataset(x, x[:, 0]), 2)
    split = mx.gluon.utils.split_and_load(x, [mx.cpu(0), mx.cpu(1)])
    return classes([split, list(batches), mx.gluon.Constant("c", x).value])
