"""mx.gluon: every layer, plain, hybridized and with static memory: outputs and gradients."""

from kit import area, array, check, each, fails, fill, mx, np
from mxnet.gluon import nn, rnn

area("gluon")

HYBRID = {
    "plain": None,
    "hybrid": {},
    "static": {"static_alloc": True, "static_shape": True},
}
LAYERS = [
    ("Dense", lambda: nn.Dense(5, activation="tanh"), (3, 4)),
    ("Dense of a picture", lambda: nn.Dense(5, flatten=False, use_bias=False), (2, 3, 4)),
    ("Dropout at rest", lambda: nn.Dropout(0), (3, 4)),
    ("BatchNorm", nn.BatchNorm, (4, 3, 5)),
    ("BatchNorm without scale", lambda: nn.BatchNorm(scale=False, center=False, epsilon=1e-3), (4, 3, 5)),
    ("BatchNorm with global sums", lambda: nn.BatchNorm(use_global_stats=True), (4, 3, 5)),
    ("InstanceNorm", nn.InstanceNorm, (4, 3, 5)),
    ("LayerNorm", nn.LayerNorm, (4, 3, 5)),
    ("GroupNorm", lambda: nn.GroupNorm(num_groups=2), (4, 6, 5)),
    ("Embedding", lambda: nn.Embedding(5, 3), None),
    ("Flatten", nn.Flatten, (2, 3, 4)),
    ("Lambda", lambda: nn.Lambda("tanh"), (2, 3)),
    ("HybridLambda", lambda: nn.HybridLambda(lambda F, x: F.exp(x)), (2, 3)),
    ("Activation", lambda: nn.Activation("softrelu"), (2, 3)),
    ("LeakyReLU", lambda: nn.LeakyReLU(0.2), (2, 3)),
    ("PReLU", nn.PReLU, (2, 3)),
    ("ELU", nn.ELU, (2, 3)),
    ("SELU", nn.SELU, (2, 3)),
    ("GELU", nn.GELU, (2, 3)),
    ("Swish", nn.Swish, (2, 3)),
    ("Conv1D", lambda: nn.Conv1D(4, 3, padding=1), (2, 3, 8)),
    ("Conv2D", lambda: nn.Conv2D(4, 3, strides=2, activation="relu"), (2, 3, 8, 8)),
    ("Conv2D in groups", lambda: nn.Conv2D(4, 3, groups=2, dilation=2, use_bias=False), (2, 4, 8, 8)),
    ("Conv3D", lambda: nn.Conv3D(2, 3), (2, 3, 5, 5, 5)),
    ("Conv1DTranspose", lambda: nn.Conv1DTranspose(4, 3, strides=2), (2, 3, 5)),
    ("Conv2DTranspose", lambda: nn.Conv2DTranspose(4, 3, strides=2, output_padding=1), (2, 3, 5, 5)),
    ("Conv3DTranspose", lambda: nn.Conv3DTranspose(2, 2), (1, 2, 3, 3, 3)),
    ("MaxPool1D", nn.MaxPool1D, (2, 3, 8)),
    ("MaxPool2D", lambda: nn.MaxPool2D(3, 2, ceil_mode=True), (2, 3, 8, 8)),
    ("MaxPool3D", nn.MaxPool3D, (1, 2, 4, 4, 4)),
    ("AvgPool1D", nn.AvgPool1D, (2, 3, 8)),
    ("AvgPool2D", lambda: nn.AvgPool2D(3, 2, 1, count_include_pad=False), (2, 3, 8, 8)),
    ("AvgPool3D", nn.AvgPool3D, (1, 2, 4, 4, 4)),
    ("GlobalMaxPool2D", nn.GlobalMaxPool2D, (2, 3, 8, 8)),
    ("GlobalAvgPool2D", nn.GlobalAvgPool2D, (2, 3, 8, 8)),
    ("GlobalAvgPool1D", nn.GlobalAvgPool1D, (2, 3, 8)),
    ("ReflectionPad2D", lambda: nn.ReflectionPad2D(1), (2, 3, 4, 4)),
    ("LSTM", lambda: rnn.LSTM(4, 2, bidirectional=True), (5, 2, 3)),
    ("GRU", lambda: rnn.GRU(4, 1, layout="NTC"), (5, 2, 3)),
    ("RNN", lambda: rnn.RNN(4, 2, activation="relu"), (5, 2, 3)),
    ("Concurrent", lambda: concurrent(mx.gluon.contrib.nn.Concurrent), (2, 3)),
    ("HybridConcurrent", lambda: concurrent(mx.gluon.contrib.nn.HybridConcurrent), (2, 3)),
    ("Identity", mx.gluon.contrib.nn.Identity, (2, 3)),
    ("PixelShuffle2D", lambda: mx.gluon.contrib.nn.PixelShuffle2D(2), (1, 4, 3, 3)),
    ("PixelShuffle1D", lambda: mx.gluon.contrib.nn.PixelShuffle1D(2), (1, 4, 3)),
    ("SyncBatchNorm", lambda: mx.gluon.contrib.nn.SyncBatchNorm(), (4, 3, 5, 2)),
    ("SparseEmbedding", lambda: mx.gluon.contrib.nn.SparseEmbedding(5, 3), None),
    ("DeformableConvolution", lambda: mx.gluon.contrib.cnn.DeformableConvolution(4, kernel_size=(3, 3)), (1, 2, 6, 6)),
]


def concurrent(kind):
    net = kind(axis=1)
    net.add(nn.Dense(2), nn.Dense(3, activation="relu"))
    return net


def run(make, shape, how):
    """Outputs in training and out of it, the gradients of the parameters and of the input; twice."""
    net = make()
    net.initialize()
    if how is not None:
        net.hybridize(**how)
    x = mx.nd.array([1, 0, 4]) if shape is None else array(*shape)
    net(x)
    fill(net.collect_params())
    out = [net(x)]
    for _ in range(2):
        x.attach_grad()
        with mx.autograd.record():
            y = net(x)
            loss = (y * y * 0.5).sum()
        loss.backward()
        out += [y, x.grad]
    parameters = net.collect_params().values()
    out.append([p.grad() for p in parameters if p.grad_req != "null" and p.grad_stype == "default"])
    out.append([p.data() for p in parameters if p.grad_req == "null"])
    return out


for title, how in HYBRID.items():
    each(
        title,
        [row for row in LAYERS if title == "plain" or row[0] != "Lambda"],
        lambda _, make, shape, how=how: run(make, shape, how),
        rtol=1e-3,
        atol=1e-4,
    )

CELLS = [
    ("RNNCell", lambda: rnn.RNNCell(4)),
    ("LSTMCell", lambda: rnn.LSTMCell(4)),
    ("GRUCell", lambda: rnn.GRUCell(4)),
    ("SequentialRNNCell", lambda: stacked(rnn.SequentialRNNCell())),
    ("HybridSequentialRNNCell", lambda: stacked(rnn.HybridSequentialRNNCell())),
    ("ResidualCell", lambda: rnn.ResidualCell(rnn.GRUCell(3))),
    ("ZoneoutCell", lambda: rnn.ZoneoutCell(rnn.RNNCell(4), 0, 0)),
    ("DropoutCell", lambda: rnn.DropoutCell(0)),
    ("BidirectionalCell", lambda: rnn.BidirectionalCell(rnn.LSTMCell(4), rnn.GRUCell(4))),
    ("LSTMPCell", lambda: mx.gluon.contrib.rnn.LSTMPCell(4, 2)),
    ("VariationalDropoutCell", lambda: mx.gluon.contrib.rnn.VariationalDropoutCell(rnn.LSTMCell(4))),
]


def stacked(cell):
    cell.add(rnn.LSTMCell(4))
    cell.add(rnn.GRUCell(3))
    return cell


def unroll(make, hybrid, layout="NTC", lengths=None):
    cell = make()
    cell.initialize()
    if hybrid:
        cell.hybridize()
    x = array(2, 5, 3)
    cell.unroll(5, x, layout=layout, merge_outputs=True)
    fill(cell.collect_params())
    cell.reset()
    x.attach_grad()
    with mx.autograd.record():
        y, states = cell.unroll(5, x, layout=layout, merge_outputs=True, valid_length=lengths)
        y.sum().backward()
    return y, states, x.grad


each("cell", CELLS, lambda _, make: unroll(make, False))
each("hybrid cell", CELLS, lambda _, make: unroll(make, True))
each("cell with lengths", CELLS[:3], lambda _, make: unroll(make, False, lengths=mx.nd.array([3, 5])))

LOSSES = [
    ("L1Loss", {}),
    ("L2Loss", {"weight": 2}),
    ("SigmoidBinaryCrossEntropyLoss", {}),
    ("SigmoidBCELoss", {"from_sigmoid": True}),
    ("SoftmaxCrossEntropyLoss", {"sparse_label": False}),
    ("KLDivLoss", {"from_logits": False}),
    ("HuberLoss", {"rho": 0.5}),
    ("HingeLoss", {}),
    ("SquaredHingeLoss", {"margin": 2}),
    ("LogisticLoss", {}),
    ("LogisticLoss", {"label_format": "binary"}),
    ("PoissonNLLLoss", {}),
    ("PoissonNLLLoss", {"compute_full": True, "from_logits": False}),
]


def loss_of(_, name, arguments, hybrid):
    loss = getattr(mx.gluon.loss, name)(**arguments)
    if hybrid:
        loss.hybridize()
    x, label = array(3, 4, low=0.1, high=0.9), array(3, 4, seed=5, low=0.1, high=0.9)
    x.attach_grad()
    with mx.autograd.record():
        y = loss(x, label, mx.nd.array([[1], [0], [2]]))
    y.backward()
    return y, x.grad


for hybrid in (False, True):
    each(f"loss, hybrid {hybrid},", [(f"{n} {a}", n, a, hybrid) for n, a in LOSSES], loss_of)


@check
def losses_of_several():
    x, y, z = array(3, 4), array(3, 4, seed=1), array(3, 4, seed=2)
    loss = mx.gluon.loss
    ctc = loss.CTCLoss()(array(2, 5, 4), mx.nd.array([[1, 2], [0, -1]]))
    labels = mx.nd.array([1, -1, 1])
    return [
        loss.TripletLoss()(x, y, z),
        loss.CosineEmbeddingLoss()(x, y, labels),
        loss.SoftmaxCrossEntropyLoss()(x, mx.nd.array([0, 3, 1])),
        loss.SoftmaxCELoss(axis=0)(x, mx.nd.array([0, 2, 1, 1])),
        loss.SDMLLoss()(x, y),
        ctc,
    ]


ZOO = ["resnet18_v1", "resnet18_v2", "squeezenet1.1", "mobilenet0.25", "mobilenetv2_0.25", "alexnet", "vgg11_bn",
       "densenet121", "inceptionv3"]  # fmt: skip


def zoo(name):
    net = mx.gluon.model_zoo.vision.get_model(name, classes=10)
    net.initialize()
    net.hybridize()
    size = {"inceptionv3": 299, "alexnet": 224, "vgg11_bn": 64, "densenet121": 224, "squeezenet1.1": 64}.get(name, 64)
    x = array(1, 3, size, size)
    net(x)
    fill(net.collect_params(), 0.05)
    net.export(name)
    again = mx.gluon.SymbolBlock.imports(f"{name}-symbol.json", ["data"], f"{name}-0000.params")
    return net(x), again(x), len(net.collect_params())


each("zoo", ZOO, zoo, rtol=1e-2, atol=1e-4)


@check
def names_of_the_zoo():
    return fails(lambda: mx.gluon.model_zoo.vision.get_model("no such"))


@check
def a_wrong_input_is_an_error():
    net = nn.Dense(3, in_units=4)
    net.initialize()
    plain = fails(lambda: net(array(2, 5)))
    net.hybridize()
    return plain, fails(lambda: net(array(2, 5))), fails(lambda: net(3)), net(array(2, 4)).shape


@check
def a_block_before_initialize_is_an_error():
    net = nn.Dense(3, in_units=4)
    deferred = nn.Dense(3)
    deferred.initialize()
    return fails(lambda: net(array(2, 4))), fails(lambda: deferred.weight.data()), fails(lambda: net.weight.grad())


@check
def shapes_change_after_hybridize():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 3, in_channels=1), nn.GlobalAvgPool2D(), nn.Dense(3, in_units=2))
    net.initialize()
    fill(net.collect_params())
    out = []
    for how in ({}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}):
        net.hybridize(**how)
        for size in (5, 8, 5):
            x = array(2, 1, size, size)
            with mx.autograd.record():
                y = net(x)
            y.backward()
            out += [y, net[0].weight.grad().copy()]
    return out, np.int32(1)
