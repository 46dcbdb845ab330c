"""Whole programs over mx.np, as a textbook has them: each trains something small, and says how it went."""

from __future__ import annotations

import math

import numpy
from _case import case
from gluon_cases.numpy_arrays._mode import array, classes, fill, in_numpy, integers


def _batches(mx, x, y, size, order):
    """Batches of rows in a given order, by index arrays."""
    for first in range(0, len(x), size):
        rows = mx.np.array(order[first : first + size], dtype="int32")
        yield x[rows], y[rows]


def _line(mx, count=64):
    """Points on a plane with a little noise: features, and labels as a column."""
    x = array(mx, (count, 2))
    return x, (mx.np.dot(x, mx.np.array([2, -3.4])) + 4.2 + 0.01 * array(mx, (count,), 1)).reshape(-1, 1)


@case
@in_numpy
def linear_regression_from_scratch(mx):
    np, autograd = mx.np, mx.autograd
    x, y = _line(mx)
    w, b = array(mx, (2, 1), 5, -0.01, 0.01), np.zeros(1)
    w.attach_grad()
    b.attach_grad()
    order = numpy.random.permutation(len(x))
    history = []
    for _ in range(3):
        for features, labels in _batches(mx, x, y, 10, order):
            with autograd.record():
                loss = (np.dot(features, w) + b - labels.reshape(features.shape[0], 1)) ** 2 / 2
            loss.backward()
            for each in (w, b):
                each[:] = each - 0.1 * each.grad / len(features)
        history.append(float(((np.dot(x, w) + b - y) ** 2 / 2).mean()))
    return history, classes([w, b, w.grad, loss])


@case(hybrid=[False, True])
@in_numpy
def linear_regression_with_gluon(mx, hybrid):
    gluon = mx.gluon
    x, y = _line(mx)
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(1))
    net.initialize(mx.init.Normal(sigma=0.01))
    net(x)
    fill(mx, net)
    if hybrid:
        net.hybridize()
    loss = gluon.loss.L2Loss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), batch_size=16)
    history = []
    for _ in range(3):
        for features, labels in loader:
            with mx.autograd.record():
                found = loss(net(features), labels)
            found.backward()
            trainer.step(features.shape[0])
        history.append(float(loss(net(x), y).mean()))
    return history, classes([net[0].weight.data(), net[0].bias.data(), net[0].weight.grad(), found])


def _images(mx, count=32):
    """Small images whose brightest quarter is their class."""
    noise, label = array(mx, (count, 1, 8, 8), 3, 0, 0.3), integers(mx, (count,), 4, 4)
    places = mx.np.zeros((count, 1, 8, 8))
    for number, each in enumerate(label.asnumpy().astype(int)):
        row, column = 4 * (each // 2), 4 * (each % 2)
        places[number, 0, row : row + 4, column : column + 4] = 1
    return noise + places, label


@case
@in_numpy
def softmax_regression_from_scratch(mx):
    np = mx.np
    x, label = _images(mx)
    w, b = array(mx, (64, 4), 1, -0.1, 0.1), np.zeros(4)
    w.attach_grad()
    b.attach_grad()

    def softmax(scores):
        exponents = np.exp(scores)
        return exponents / exponents.sum(axis=1, keepdims=True)

    def net(images):
        return softmax(np.dot(images.reshape((-1, w.shape[0])), w) + b)

    def cross_entropy(probabilities, right):
        return -np.log(probabilities[range(len(probabilities)), right.astype("int32")])

    history = []
    for _ in range(3):
        with mx.autograd.record():
            loss = cross_entropy(net(x), label)
        loss.backward()
        for each in (w, b):
            each[:] = each - 0.5 * each.grad / len(x)
        right = float((net(x).argmax(axis=1).astype(label.dtype) == label).sum())
        history.append([float(loss.sum()), right])
    return history, classes([w, b])


@case
@in_numpy
def perceptron_from_scratch(mx):
    np = mx.np
    x, label = _images(mx)
    weights = [array(mx, (64, 8), 1, -0.1, 0.1), np.zeros(8), array(mx, (8, 4), 2, -0.1, 0.1), np.zeros(4)]
    for each in weights:
        each.attach_grad()
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    history = []
    for _ in range(4):
        with mx.autograd.record():
            w1, b1, w2, b2 = weights
            hidden = np.maximum(np.dot(x.reshape(-1, 64), w1) + b1, 0)
            found = loss(np.dot(hidden, w2) + b2, label)
            penalty = sum((each**2).sum() for each in (w1, w2)) / 2
            total = found.sum() + 0.1 * penalty
        total.backward()
        for each in weights:
            each[:] = each - 0.05 * each.grad
        history.append([float(found.mean()), float(total)])
    return history, classes(weights)


def _lenet(mx):
    nn = mx.gluon.nn
    net = nn.Sequential()
    net.add(
        nn.Conv2D(channels=4, kernel_size=3, padding=1, activation="sigmoid"),
        nn.BatchNorm(),
        nn.AvgPool2D(pool_size=2, strides=2),
        nn.Conv2D(channels=8, kernel_size=3),
        nn.Activation("relu"),
        nn.MaxPool2D(2),
        nn.Dense(10, activation="tanh"),
        nn.Dense(4),
    )
    return net


@case(hybrid=[False, True], rtol=1e-3, atol=1e-4)
@in_numpy
def convolutional_network(mx, hybrid):
    x, label = _images(mx)
    net = _lenet(mx)
    net.initialize(init=mx.init.Xavier(), ctx=mx.cpu())
    shapes = []
    out = x
    for layer in net:
        out = layer(out)
        shapes.append([layer.__class__.__name__, out.shape])
    fill(mx, net)
    if hybrid:
        net.hybridize()
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.3, "momentum": 0.5})
    history = []
    for _ in range(3):
        with mx.autograd.record():
            found = loss(net(x), label)
        found.backward()
        trainer.step(len(x))
        history.append(float(found.sum()))
    means = [each.data() for name, each in net.collect_params().items() if "running" in name]
    return shapes, history, classes([net(x), *means])


@case
@in_numpy
def batch_normalization_from_scratch(mx):
    np, nn = mx.np, mx.gluon.nn

    class Norm(nn.Block):
        def __init__(self, features):
            super().__init__()
            self.gamma = self.params.get("gamma", shape=(1, features), init=mx.init.One())
            self.beta = self.params.get("beta", shape=(1, features), init=mx.init.Zero())
            self.moving_mean, self.moving_var = np.zeros((1, features)), np.zeros((1, features))

        def forward(self, x):
            if self.moving_mean.ctx != x.ctx:
                self.moving_mean = self.moving_mean.copyto(x.ctx)
            if not mx.autograd.is_training():
                centred = (x - self.moving_mean) / np.sqrt(self.moving_var + 1e-5)
            else:
                mean = x.mean(axis=0)
                var = ((x - mean) ** 2).mean(axis=0)
                centred = (x - mean) / np.sqrt(var + 1e-5)
                self.moving_mean = 0.9 * self.moving_mean + 0.1 * mean
                self.moving_var = 0.9 * self.moving_var + 0.1 * var
            return self.gamma.data() * centred + self.beta.data()

    net = nn.Sequential()
    net.add(nn.Dense(4, in_units=3), Norm(4), nn.Activation("sigmoid"))
    net.initialize()
    fill(mx, net)
    x = array(mx, (6, 3))
    with mx.autograd.record():
        loss = (net(x) ** 2).sum()
    loss.backward()
    norm = net[1]
    return classes([loss, norm.gamma.grad(), norm.beta.grad(), norm.moving_mean, norm.moving_var, net(x)])


@case
@in_numpy
def recurrent_network_from_scratch(mx):
    np, npx = mx.np, mx.npx
    vocabulary, hidden, length, batch = 7, 5, 6, 4
    text = numpy.arange(length * batch).reshape(batch, length) * 3 % vocabulary
    x, y = np.array(text), np.array((text + 3) % vocabulary)
    shapes = [(vocabulary, hidden), (hidden, hidden), (hidden,), (hidden, vocabulary), (vocabulary,)]
    weights = [array(mx, shape, number, -0.3, 0.3) for number, shape in enumerate(shapes)]
    for each in weights:
        each.attach_grad()
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    history = []
    for _ in range(4):
        with mx.autograd.record():
            w_xh, w_hh, b_h, w_hq, b_q = weights
            state, outputs = np.zeros((batch, hidden)), []
            for step in npx.one_hot(x.T, vocabulary):
                state = np.tanh(np.dot(step, w_xh) + np.dot(state, w_hh) + b_h)
                outputs.append(np.dot(state, w_hq) + b_q)
            found = loss(np.concatenate(outputs, axis=0), y.T.reshape(-1)).mean()
        found.backward()
        norm = math.sqrt(sum((each.grad**2).sum() for each in weights))
        if norm > 0.1:
            for each in weights:
                each.grad[:] *= 0.1 / norm
        for each in weights:
            each[:] = each - 2 * each.grad
        history.append([math.exp(float(found)), norm])
    return history, classes([state, *weights])


@case(cell=["RNN", "LSTM", "GRU"])
@in_numpy
def language_model(mx, cell):
    np, npx, nn = mx.np, mx.npx, mx.gluon.nn
    vocabulary = 7

    class Model(nn.Block):
        def __init__(self):
            super().__init__()
            self.rnn = getattr(mx.gluon.rnn, cell)(5)
            self.dense = nn.Dense(vocabulary)

        def forward(self, inputs, state):
            x = npx.one_hot(inputs.T, vocabulary)
            y, state = self.rnn(x, state)
            return self.dense(y.reshape(-1, y.shape[-1])), state

    text = numpy.arange(24).reshape(4, 6) * 3 % vocabulary
    x, y = np.array(text), np.array((text + 3) % vocabulary)
    model = Model()
    model.initialize()
    model(x, model.rnn.begin_state(batch_size=4))
    fill(mx, model)
    trainer = mx.gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 1.0})
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    state = model.rnn.begin_state(batch_size=4, ctx=mx.cpu())
    history = []
    for _ in range(4):
        for each in state:
            each.detach()
        with mx.autograd.record():
            out, state = model(x, state)
            found = loss(out, y.T.reshape(-1)).mean()
        found.backward()
        trainer.step(1)
        history.append(float(found))
        state = [each.detach() for each in state]
    return history, classes([out, *state])


@case
@in_numpy
def attention(mx):
    np, npx, nn = mx.np, mx.npx, mx.gluon.nn

    def masked_softmax(scores, lengths):
        shape = scores.shape
        flat = npx.sequence_mask(scores.reshape(-1, shape[-1]), lengths.repeat(shape[1]), True, value=-1e6, axis=1)
        return npx.softmax(flat).reshape(shape)

    class Attention(nn.Block):
        def __init__(self, heads, size):
            super().__init__()
            self.heads = heads
            self.query, self.key, self.value, self.out = (
                nn.Dense(size, use_bias=False, flatten=False, in_units=size) for _ in range(4)
            )
            self.dropout, self.norm = nn.Dropout(0), nn.LayerNorm(in_channels=size)

        def split(self, x):
            x = x.reshape(x.shape[0], x.shape[1], self.heads, -1).transpose(0, 2, 1, 3)
            return x.reshape(-1, x.shape[2], x.shape[3])

        def forward(self, x, lengths):
            query, key, value = (self.split(each(x)) for each in (self.query, self.key, self.value))
            scores = npx.batch_dot(query, key, transpose_b=True) / math.sqrt(query.shape[-1])
            weights = masked_softmax(scores, lengths.repeat(self.heads))
            out = npx.batch_dot(self.dropout(weights), value)
            out = out.reshape(-1, self.heads, out.shape[1], out.shape[2]).transpose(0, 2, 1, 3)
            out = out.reshape(out.shape[0], out.shape[1], -1)
            return self.norm(x + self.out(out)), weights

    x, lengths = array(mx, (2, 4, 6)), np.array([2, 3])
    block = Attention(2, 6)
    block.initialize()
    fill(mx, block)
    positions = np.arange(4).reshape(-1, 1) / np.power(10000, np.arange(0, 6, 2) / 6)
    coded = np.zeros((1, 4, 6))
    coded[:, :, 0::2], coded[:, :, 1::2] = np.sin(positions), np.cos(positions)
    with mx.autograd.record():
        out, weights = block(x + coded, lengths)
        loss = np.abs(out).sum()
    loss.backward()
    return classes([out, weights, loss, *(each.grad() for each in block.collect_params().values())])


@case(kind=["sgd", "momentum", "adagrad", "rmsprop", "adam"])
@in_numpy
def descent_from_scratch(mx, kind):
    np = mx.np
    x, y = _line(mx, 32)
    w, b = array(mx, (2, 1), 5), np.zeros(1)
    states = [(np.zeros(each.shape), np.zeros(each.shape)) for each in (w, b)]
    for each in (w, b):
        each.attach_grad()
    history = []
    for step in range(1, 6):
        with mx.autograd.record():
            loss = ((np.dot(x, w) + b - y) ** 2 / 2).mean()
        loss.backward()
        for each, (first, second) in zip((w, b), states):
            if kind == "sgd":
                each[:] -= 0.1 * each.grad
            elif kind == "momentum":
                first[:] = 0.5 * first + each.grad
                each[:] -= 0.1 * first
            elif kind == "adagrad":
                first[:] += np.square(each.grad)
                each[:] -= 0.1 * each.grad / np.sqrt(first + 1e-6)
            elif kind == "rmsprop":
                first[:] = 0.9 * first + 0.1 * np.square(each.grad)
                each[:] -= 0.1 * each.grad / np.sqrt(first + 1e-6)
            else:
                first[:] = 0.9 * first + 0.1 * each.grad
                second[:] = 0.999 * second + 0.001 * np.square(each.grad)
                corrected = first / (1 - 0.9**step), second / (1 - 0.999**step)
                each[:] -= 0.1 * corrected[0] / (np.sqrt(corrected[1]) + 1e-6)
        history.append(float(loss))
    return history, classes([w, b, loss])


@case
@in_numpy
def arrays_and_their_gradients(mx):
    np, autograd = mx.np, mx.autograd
    x = np.arange(4.0)
    x.attach_grad()
    found = []
    for function in (lambda: 2 * np.dot(x, x), lambda: x.sum(), lambda: x * x, lambda: (x * x).detach() * x):
        with autograd.record():
            y = function()
        y.backward()
        found.append(classes([y, x.grad, x.grad == x]))
    matrix = np.arange(20).reshape(5, 4)
    copied = matrix.copy()
    matrix[0:2, :] = 12
    matrix[1, 2] = 9
    before = id(matrix)
    matrix += copied
    more = [matrix.T, matrix.sum(axis=0), matrix.mean(axis=1, keepdims=True), matrix.cumsum(axis=0), matrix[-1]]
    more += [np.concatenate([matrix, copied], axis=1), matrix == copied, np.linalg.norm(x), matrix[1:3].sum()]
    return found, id(matrix) == before, classes(more), [float(x[1]), int(x[2]), x[3].item(), x.size, len(matrix)]


@case
@in_numpy
def positions_of_boxes(mx):
    np = mx.np
    boxes = np.array(
        [[0.1, 0.08, 0.52, 0.92], [0.08, 0.2, 0.56, 0.95], [0.15, 0.3, 0.62, 0.91], [0.55, 0.2, 0.9, 0.88]]
    )
    centres = np.stack(
        ((boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2, boxes[:, 2] - boxes[:, 0]), axis=-1
    )
    upper = np.maximum(boxes[:, None, :2], boxes[:, :2])
    lower = np.minimum(boxes[:, None, 2:], boxes[:, 2:])
    sizes = (lower - upper).clip(min=0)
    both = sizes[:, :, 0] * sizes[:, :, 1]
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    overlap = both / (areas[:, None] + areas - both)
    best = np.argmax(overlap - np.eye(4), axis=1)
    kept = np.nonzero(np.max(overlap, axis=1) >= 0.5)[0]
    return classes([centres, overlap, best.astype("int32"), kept, boxes[best]])


@case
@in_numpy
def style_of_two_images(mx):
    np, nn = mx.np, mx.gluon.nn
    net = nn.Sequential()
    net.add(nn.Conv2D(3, 3, padding=1, in_channels=3), nn.Conv2D(4, 3, padding=1, in_channels=3))
    net.initialize()
    fill(mx, net)

    def gram(x):
        channels, count = x.shape[1], x.size // x.shape[1]
        x = x.reshape(channels, count)
        return np.dot(x, x.T) / (channels * count)

    class Image(nn.Block):
        def __init__(self, shape):
            super().__init__()
            self.weight = self.params.get("weight", shape=shape)

        def forward(self):
            return self.weight.data()

    content, style = array(mx, (1, 3, 6, 6)), array(mx, (1, 3, 6, 6), 1)
    image = Image(content.shape)
    image.initialize()
    image.weight.set_data(content)
    trainer = mx.gluon.Trainer(image.collect_params(), "adam", {"learning_rate": 0.1})
    history = []
    for _ in range(3):
        with mx.autograd.record():
            y = image()
            variation = (
                np.abs(y[:, :, 1:, :] - y[:, :, :-1, :]).mean() + np.abs(y[:, :, :, 1:] - y[:, :, :, :-1]).mean()
            )
            losses = [
                np.square(net(y) - net(content)).mean(),
                10 * np.square(gram(net(y)) - gram(net(style))).mean(),
                0.5 * variation,
            ]
            total = sum(losses)
        total.backward()
        trainer.step(1)
        history.append([float(each) for each in losses])
    return history, classes(image())
