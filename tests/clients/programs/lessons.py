"""First lessons, as textbooks teach them: arrays, gradients, regression, classification and optimizers from scratch."""

import random
from pathlib import Path

import mxnet as mx
import numpy as np
from mxnet import autograd, nd

DATA = Path(__file__).resolve().parents[3] / "examples/data/digits.u8"


def arrays():
    """Making, showing and changing arrays; memory that is used again."""
    x = nd.arange(12)
    found = {"shape": x.shape, "size": x.size, "text": str(x)}
    x = x.reshape((3, 4))
    y = nd.array([[2, 1, 4, 3], [1, 2, 3, 4], [4, 3, 2, 1]])
    found["products"] = [x * y, x / y, y.exp(), nd.dot(x, y.T), x == y, x + nd.arange(3).reshape((3, 1))]
    found["joined"] = [nd.concat(x, y, dim=0), nd.concat(x, y, dim=1), nd.stack(x[0], y[0], axis=1)]
    found["numbers"] = [x.sum().asscalar(), x.norm().asscalar(), x.mean().asscalar(), int(x[1, 2].asscalar())]
    x[1, 2] = 9
    x[1:2, :] = 12
    x[:, -1] += 1
    found["edited"] = x.copy()
    before, z = id(y), y.zeros_like()
    nd.elemwise_add(x, y, out=z)
    y += x
    x[:] = x + y
    found["in place"] = [id(y) == before, z, x, y]
    found["from and to NumPy"] = [nd.array(np.ones((2, 3))), type(y.asnumpy()).__name__, y.asnumpy().tolist()]
    found["rows"] = [row.sum().asscalar() for row in x]
    found["parts"] = [x[1:3], x[:, 1:3], x[-1], x[::2], x[[0, 2]], x[[0, 1], [2, 0]], x.take(nd.array([2, 0]))]
    found["shapes"] = [x.T.shape, x.flatten().shape, x.expand_dims(axis=0).shape, x.reshape((-1, 2)).shape]
    found["where"] = [nd.where(x > 20, x, nd.zeros_like(x)), nd.clip(x, 5, 20), nd.maximum(x, 20), (x > 20) * x]
    found["texts"] = [str(x.astype("int32")), str(nd.array([1.5])), repr(nd.ones((1, 1, 2), dtype="float64"))]
    return found


def gradients():
    """A function with Python in it, heads that are no numbers, detached parts, gradients that add up."""
    x = nd.arange(4).reshape((4, 1))
    x.attach_grad()
    with autograd.record():
        y = 2 * nd.dot(x.T, x)
    y.backward()
    found = {"square": [y, x.grad, autograd.is_training(), autograd.is_recording()]}

    def stretched(a):
        b, turns = a * 2, 0
        while b.norm().asscalar() < 1000:
            b, turns = b * 2, turns + 1
        return (b, turns) if b.sum().asscalar() > 0 else (100 * b, turns)

    for start in (0.37, -1.9):
        a = nd.array([start])
        a.attach_grad()
        with autograd.record():
            c, turns = stretched(a)
        c.backward()
        found[f"steps from {start}"] = [turns, c, a.grad == c / a]
    with autograd.record():
        u = x * x
        z = u.detach() * x + u
    z.backward(nd.array([[1], [0], [2], [1]]))
    found["head"] = x.grad
    w = nd.ones((2, 2))
    w.attach_grad(grad_req="add")
    for scale in (1, 2, 3):
        with autograd.record():
            loss = (w * scale).sum() + w[0].sum()
        loss.backward()
    found["added"] = w.grad
    with autograd.record(train_mode=False):
        found["modes"] = [autograd.is_training(), autograd.is_recording(), nd.Dropout(w, p=0.5)]
    return found


def batches(size, features, labels, order):
    """Random batches; the last one may be smaller."""
    places = list(range(len(features)))
    order.shuffle(places)
    for start in range(0, len(places), size):
        j = nd.array(places[start : start + size])
        yield features.take(j), labels.take(j)


def line():
    """Linear regression: the weights that made the data are found again."""
    draw = np.random.RandomState(0)
    true_w, true_b = [2, -3.4], 4.2
    features = nd.array(draw.normal(size=(200, 2)))
    labels = true_w[0] * features[:, 0] + true_w[1] * features[:, 1] + true_b
    labels += nd.array(draw.normal(scale=0.01, size=labels.shape))
    w, b = nd.array(draw.normal(scale=0.01, size=(2, 1))), nd.zeros(shape=(1,))
    for param in (w, b):
        param.attach_grad()
    order, losses, sizes = random.Random(1), [], set()
    for _ in range(3):
        for x, y in batches(30, features, labels, order):
            with autograd.record():
                loss = (nd.dot(x, w) + b - y.reshape((-1, 1))) ** 2 / 2
            loss.backward()
            sizes.add(len(x))
            for param in [w, b]:
                param[:] = param - 0.3 * param.grad / len(x)
        losses.append(((nd.dot(features, w) + b - labels.reshape((-1, 1))) ** 2 / 2).mean().asnumpy())
    return {
        "data": [features[:3], labels[:10], features[0], labels[0]],
        "losses": [float(loss[0]) for loss in losses],
        "weights": [w, b, nd.array(true_w) - w.reshape((2,)), true_b - b],
        "sizes": sorted(sizes),
    }


def digits():
    records = np.fromfile(str(DATA), dtype=np.uint8).reshape(-1, 65)
    x, y = nd.array(records[:, :64].astype("float32") / 16), nd.array(records[:, 64].astype("int32"), dtype="int32")
    return (x[:800], y[:800]), (x[800:1200], y[800:1200])


def softmax(x):
    exponents = x.exp()
    return exponents / exponents.sum(axis=1, keepdims=True)


def accuracy(net, x, y):
    right, seen = 0.0, 0
    for start in range(0, len(x), 150):
        part = y[start : start + 150].astype("float32")
        right += (net(x[start : start + 150]).argmax(axis=1) == part).sum().asscalar()
        seen += part.size
    return right / seen


def classes():
    """Softmax regression."""
    (x, y), (tx, ty) = digits()
    w = nd.array(np.random.RandomState(2).normal(scale=0.01, size=(64, 10)))
    b = nd.zeros(10)
    w.attach_grad()
    b.attach_grad()

    def net(images):
        return softmax(nd.dot(images.reshape((-1, 64)), w) + b)

    order, losses = random.Random(3), []
    for _ in range(2):
        total, count = 0.0, 0
        for images, labels in batches(64, x, y, order):
            with autograd.record():
                loss = -nd.pick(net(images), labels).log()
                summed = loss.sum()
            summed.backward()
            for param in (w, b):
                param -= 0.5 * param.grad / len(images)
            total += summed.asscalar()
            count += labels.size
        losses.append(total / count)
    scores = net(tx[:9])
    return {
        "losses": losses,
        "accuracies": [accuracy(net, x, y), accuracy(net, tx, ty)],
        "rows": scores.sum(axis=1),
        "guesses": [scores.argmax(axis=1).asnumpy().astype(int).tolist(), ty[:9].asnumpy().tolist()],
        "one hot": nd.one_hot(ty[:3], 10),
        "kinds": [str(y.dtype), x[0].dtype.__name__, ty[0].asscalar(), scores[0].argmax(axis=0).asscalar()],
    }


class Dense:
    """A layer with weights of its own, and a normalisation that remembers means while training."""

    def __init__(self, draw, inputs, outputs):
        self.weight = nd.array(draw.normal(scale=(2 / inputs) ** 0.5, size=(inputs, outputs)))
        self.gamma, self.beta = nd.ones((1, outputs)), nd.zeros((1, outputs))
        self.mean, self.variance = nd.zeros((1, outputs)), nd.zeros((1, outputs))
        for param in self.params():
            param.attach_grad()

    def params(self):
        return [self.weight, self.gamma, self.beta]

    def __call__(self, x):
        x = nd.dot(x, self.weight)
        if not autograd.is_training():
            hat = (x - self.mean) / nd.sqrt(self.variance + 1e-5)
        else:
            mean = x.mean(axis=0)
            variance = ((x - mean) ** 2).mean(axis=0)
            hat = (x - mean) / nd.sqrt(variance + 1e-5)
            self.mean = 0.9 * self.mean + 0.1 * mean.detach()
            self.variance = 0.9 * self.variance + 0.1 * variance.detach()
        return self.gamma * hat + self.beta


def dropped(x, share, draw):
    keep = 1 - share
    if not autograd.is_training():
        return x
    mask = nd.array(draw.uniform(size=x.shape) < keep)
    return mask * x / keep


def layers():
    """A network with a hidden layer, normalisation, dropout, weight decay and a rate that falls."""
    (x, y), (tx, ty) = digits()
    draw = np.random.RandomState(4)
    hidden, out = Dense(draw, 64, 40), Dense(draw, 40, 10)
    params = hidden.params() + out.params()

    def net(images):
        return out(dropped(nd.relu(hidden(images)), 0.2, draw))

    order, losses, rate = random.Random(5), [], 0.3
    for _ in range(3):
        for images, labels in batches(100, x, y, order):
            with autograd.record():
                loss = -nd.log_softmax(net(images)).pick(labels).mean()
                decay = sum([(param**2).sum() for param in (hidden.weight, out.weight)]) / 2
                (loss + 0.001 * decay).backward()
            for param in params:
                param[:] -= rate * param.grad
        rate *= 0.5
        losses.append(float(loss.asscalar()))
    return {
        "losses": losses,
        "accuracies": [accuracy(net, x, y), accuracy(net, tx, ty)],
        "means": hidden.mean,
        "variances": hidden.variance.reshape((-1,)),
        "norms": [param.norm().asscalar() for param in params],
    }


def optimizers():
    """Steps of momentum, Adagrad, RMSProp, Adadelta and Adam from scratch on one bowl."""
    found = {}

    def momentum(p, states, t):
        (v,) = states
        v[:] = 0.5 * v + 0.1 * p.grad
        p[:] -= v

    def adagrad(p, states, t):
        (s,) = states
        s[:] += p.grad.square()
        p[:] -= 0.4 * p.grad / (s + 1e-6).sqrt()

    def rmsprop(p, states, t):
        (s,) = states
        s[:] = 0.9 * s + (1 - 0.9) * nd.square(p.grad)
        p[:] = p - 0.1 * p.grad / nd.sqrt(s + 1e-6)

    def adadelta(p, states, t):
        s, delta = states
        s[:] = 0.9 * s + 0.1 * p.grad.square()
        g = ((delta + 1e-5).sqrt() / (s + 1e-5).sqrt()) * p.grad
        p[:] -= g
        delta[:] = 0.9 * delta + 0.1 * g * g

    def adam(p, states, t):
        v, s = states
        v[:] = 0.9 * v + 0.1 * p.grad
        s[:] = 0.999 * s + 0.001 * p.grad.square()
        p[:] -= 0.2 * (v / (1 - 0.9**t)) / ((s / (1 - 0.999**t)).sqrt() + 1e-6)

    for step, count in ((momentum, 1), (adagrad, 1), (rmsprop, 1), (adadelta, 2), (adam, 2)):
        p = nd.array([-5.0, -2.0])
        p.attach_grad()
        states = [nd.zeros(p.shape) for _ in range(count)]
        path = []
        for t in range(1, 21):
            with autograd.record():
                f = 0.1 * p[0] ** 2 + 2 * p[1] ** 2
            f.backward()
            step(p, states, t)
            path.append(f.asscalar())
        found[step.__name__] = [path, p]
    return found


def pictures():
    """Correlation, pooling and an edge detector that is learned, loop by loop."""
    x = nd.ones((6, 8))
    x[:, 2:6] = 0
    kernel = nd.array([[1, -1]])

    def correlate(x, k):
        h, w = k.shape
        y = nd.zeros((x.shape[0] - h + 1, x.shape[1] - w + 1))
        for i in range(y.shape[0]):
            for j in range(y.shape[1]):
                y[i, j] = (x[i : i + h, j : j + w] * k).sum()
        return y

    def pool(x, size, mode="max"):
        y = nd.zeros((x.shape[0] - size + 1, x.shape[1] - size + 1))
        for i in range(y.shape[0]):
            for j in range(y.shape[1]):
                part = x[i : i + size, j : j + size]
                y[i, j] = part.max() if mode == "max" else part.mean()
        return y

    edges = correlate(x, kernel)
    guess = nd.array([[0.3, 0.2]])
    guess.attach_grad()
    losses = []
    for _ in range(10):
        with autograd.record():
            rows = [x[:, j : j + 1] * guess[0, 0] + x[:, j + 1 : j + 2] * guess[0, 1] for j in range(7)]
            loss = (nd.concat(*rows, dim=1) - edges) ** 2
        loss.backward()
        guess[:] -= 3e-2 * guess.grad
        losses.append(loss.sum().asscalar())
    ramp = nd.arange(16).reshape((4, 4))
    return {"edges": edges, "losses": losses, "kernel": guess, "pooled": [pool(ramp, 2), pool(ramp, 3, "avg")]}


def run():
    found = {}
    for lesson in (arrays, gradients, line, classes, layers, optimizers, pictures):
        found.update({f"{lesson.__name__}: {key}": value for key, value in lesson().items()})
    found["context"] = [str(mx.cpu()), str(nd.ones(1).context), mx.nd.ones(1).stype]
    return found
