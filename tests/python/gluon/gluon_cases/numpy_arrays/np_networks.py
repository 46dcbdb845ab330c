"""Networks of a textbook over mx.np: blocks with branches, encoders and decoders, detection, generation, embeddings."""

from __future__ import annotations

import numpy
from _case import case
from gluon_cases.numpy_arrays._mode import array, classes, fill, in_numpy, integers, ready, trained


@case(rtol=1e-3, atol=1e-4, hybrid=[False, True])
@in_numpy
def residual_block(mx, hybrid):
    nn, npx = mx.gluon.nn, mx.npx

    class Residual(nn.Block):
        def __init__(self, channels, wider=False, strides=1, **kwargs):
            super().__init__(**kwargs)
            self.conv1 = nn.Conv2D(channels, kernel_size=3, padding=1, strides=strides)
            self.conv2 = nn.Conv2D(channels, kernel_size=3, padding=1)
            self.conv3 = nn.Conv2D(channels, kernel_size=1, strides=strides) if wider else None
            self.bn1, self.bn2 = nn.BatchNorm(), nn.BatchNorm()

        def forward(self, x):
            y = npx.relu(self.bn1(self.conv1(x)))
            y = self.bn2(self.conv2(y))
            return npx.relu(y + (self.conv3(x) if self.conv3 else x))

    net = nn.Sequential()
    net.add(Residual(3), Residual(4, wider=True, strides=2), nn.GlobalAvgPool2D(), nn.Dense(2))
    x = array(mx, (2, 3, 6, 6))
    net = ready(mx, net, x)
    if hybrid:
        net.hybridize()
    return trained(mx, net, x)


@case(rtol=1e-3, atol=1e-4)
@in_numpy
def dense_block(mx):
    np, nn = mx.np, mx.gluon.nn

    def part(channels):
        block = nn.Sequential()
        block.add(nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(channels, kernel_size=3, padding=1))
        return block

    class DenseBlock(nn.Block):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential()
            for _ in range(2):
                self.net.add(part(3))

        def forward(self, x):
            for block in self.net:
                x = np.concatenate((x, block(x)), axis=1)
            return x

    x = array(mx, (2, 2, 5, 5))
    return trained(mx, ready(mx, DenseBlock(), x), x)


@case(rtol=1e-3, atol=1e-4)
@in_numpy
def branches(mx):
    np, nn = mx.np, mx.gluon.nn

    class Inception(nn.Block):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.one = nn.Conv2D(2, kernel_size=1, activation="relu")
            self.two_1 = nn.Conv2D(2, kernel_size=1, activation="relu")
            self.two_2 = nn.Conv2D(3, kernel_size=3, padding=1, activation="relu")
            self.three_1 = nn.MaxPool2D(pool_size=3, strides=1, padding=1)
            self.three_2 = nn.Conv2D(1, kernel_size=1, activation="relu")

        def forward(self, x):
            return np.concatenate((self.one(x), self.two_2(self.two_1(x)), self.three_2(self.three_1(x))), axis=1)

    x = array(mx, (2, 2, 5, 5))
    return trained(mx, ready(mx, Inception(), x), x)


@case(rtol=1e-3, atol=1e-4)
@in_numpy
def encoder_and_decoder(mx):
    np, npx, nn, rnn = mx.np, mx.npx, mx.gluon.nn, mx.gluon.rnn

    class Encoder(nn.Block):
        def __init__(self):
            super().__init__()
            self.embedding, self.rnn = nn.Embedding(7, 4), rnn.GRU(5, 2, dropout=0)

        def forward(self, x):
            x = self.embedding(x).swapaxes(0, 1)
            return self.rnn(x, self.rnn.begin_state(batch_size=x.shape[1], ctx=x.ctx))

    class Decoder(nn.Block):
        def __init__(self):
            super().__init__()
            self.embedding, self.rnn = nn.Embedding(7, 4), rnn.GRU(5, 2, dropout=0)
            self.dense = nn.Dense(7, flatten=False)

        def forward(self, x, state):
            x = self.embedding(x).swapaxes(0, 1)
            context = np.broadcast_to(state[0][-1], (x.shape[0], state[0].shape[1], state[0].shape[2]))
            out, state = self.rnn(np.concatenate((x, context), 2), state)
            return self.dense(out).swapaxes(0, 1), state

    class Both(nn.Block):
        def __init__(self):
            super().__init__()
            self.encoder, self.decoder = Encoder(), Decoder()

        def forward(self, source, target):
            return self.decoder(target, self.encoder(source)[1])[0]

    class Masked(mx.gluon.loss.SoftmaxCELoss):
        def forward(self, pred, label, lengths):
            weights = np.expand_dims(np.ones_like(label), axis=-1)
            return super().forward(pred, label, npx.sequence_mask(weights, lengths, True, axis=1))

    source, target = (integers(mx, (3, 4), 7, seed) for seed in (1, 2))
    net = ready(mx, Both(), source, target)
    trainer, loss = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05}), Masked()
    first = np.array([1] * 3).reshape(-1, 1)
    history = []
    for _ in range(3):
        with mx.autograd.record():
            out = net(source, np.concatenate([first, target[:, :-1]], 1))
            found = loss(out, target, np.array([4, 2, 3]))
        found.backward()
        trainer.step(12)
        history.append(float(found.sum()))
    return history, classes([out.argmax(axis=2), found])


@case
@in_numpy
def boxes_of_a_detector(mx):
    np, npx = mx.np, mx.npx
    x = array(mx, (1, 3, 4, 4))
    anchors = npx.multibox_prior(x, sizes=[0.75, 0.5], ratios=[1, 2])
    labels = np.array([[[0, 0.1, 0.08, 0.52, 0.92], [1, 0.55, 0.2, 0.9, 0.88]]])
    scores = np.zeros((1, 3, anchors.shape[1]))
    offsets, masks, found = npx.multibox_target(anchors, labels, scores)
    loss = mx.gluon.loss.L1Loss()(offsets * masks, np.zeros_like(offsets))
    probabilities = npx.softmax(array(mx, (1, 3, anchors.shape[1]), 2), axis=1)
    kept = npx.multibox_detection(probabilities, offsets, anchors, nms_threshold=0.5)
    rows = [row for row in kept[0] if row[0] != -1]
    return classes([anchors, offsets, masks, found, loss]), len(rows), classes(rows[0])


@case(rtol=1e-3, atol=1e-4)
@in_numpy
def generator_against_critic(mx):
    np, nn = mx.np, mx.gluon.nn
    generator, critic = nn.Sequential(), nn.Sequential()
    generator.add(nn.Conv2DTranspose(4, 4), nn.BatchNorm(), nn.Activation("relu"), nn.Conv2DTranspose(1, 4, 2, 1))
    critic.add(nn.Conv2D(4, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2D(1, 4))
    noise, real = array(mx, (3, 2, 1, 1)), array(mx, (3, 1, 8, 8), 4)
    ready(mx, generator, noise)
    ready(mx, critic, real)
    loss = mx.gluon.loss.SigmoidBCELoss()
    trainers = [
        mx.gluon.Trainer(each.collect_params(), "adam", {"learning_rate": 0.01}) for each in (generator, critic)
    ]
    ones, zeros, history = np.ones((3,)), np.zeros((3,)), []
    for _ in range(2):
        with mx.autograd.record():
            fake = generator(noise)
            of_fake = critic(fake.detach())
            bad = (loss(critic(real), ones) + loss(of_fake, zeros)) / 2
        bad.backward()
        trainers[1].step(3)
        with mx.autograd.record():
            good = loss(critic(generator(noise)), ones)
        good.backward()
        trainers[0].step(3)
        history.append([float(bad.sum()), float(good.sum())])
    return history, classes([fake, bad, good])


@case
@in_numpy
def vectors_of_words(mx):
    np, npx, nn = mx.np, mx.npx, mx.gluon.nn
    net = nn.Sequential()
    net.add(nn.Embedding(9, 4), nn.Embedding(9, 4))
    net.initialize()
    fill(mx, net)
    centre, context = integers(mx, (3, 1), 9, 1, "int32"), integers(mx, (3, 5), 9, 2, "int32")
    label, mask = integers(mx, (3, 5), 2, 3), integers(mx, (3, 5), 2, 4)

    def skip_gram():
        return npx.batch_dot(net[0](centre), net[1](context).swapaxes(1, 2))

    loss = mx.gluon.loss.SigmoidBCELoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
    history = []
    for _ in range(3):
        with mx.autograd.record():
            pred = skip_gram()
            found = loss(pred.reshape(label.shape), label, mask) / mask.sum(axis=1) * mask.shape[1]
        found.backward()
        trainer.step(3)
        history.append(found)
    vectors = net[0].weight.data()
    cosines = np.dot(vectors, vectors[2]) / np.sqrt(np.sum(vectors * vectors, axis=1) * np.sum(vectors[2] ** 2) + 1e-9)
    nearest = npx.topk(cosines, k=3, ret_typ="indices").asnumpy().astype("int32")
    return classes([*history, cosines]), nearest


@case
@in_numpy
def factors_of_a_matrix(mx):
    nn = mx.gluon.nn

    class Factors(nn.Block):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.p, self.q = nn.Embedding(input_dim=6, output_dim=3), nn.Embedding(8, 3)
            self.user_bias, self.item_bias = nn.Embedding(6, 1), nn.Embedding(8, 1)

        def forward(self, user, item):
            outputs = (self.p(user) * self.q(item)).sum(axis=1)
            return (outputs + mx.np.squeeze(self.user_bias(user)) + mx.np.squeeze(self.item_bias(item))).flatten()

    class Ranking(mx.gluon.loss.Loss):
        def __init__(self, weight=None, batch_axis=0, **kwargs):
            super().__init__(weight=None, batch_axis=0, **kwargs)

        def forward(self, positive, negative):
            return -mx.np.sum(mx.np.log(mx.npx.sigmoid(positive - negative)), 0, keepdims=True)

    user, item, other = integers(mx, (5,), 6, 1), integers(mx, (5,), 8, 2), integers(mx, (5,), 8, 3)
    net = ready(mx, Factors(), user, item)
    with mx.autograd.record():
        loss = Ranking()(net(user, item), net(user, other))
    loss.backward()
    return classes([loss, net.p.weight.grad(), net.item_bias.weight.grad()])


@case
@in_numpy
def layers_of_ones_own(mx):
    np, npx, nn = mx.np, mx.npx, mx.gluon.nn

    class MyDense(nn.Block):
        def __init__(self, units, in_units, **kwargs):
            super().__init__(**kwargs)
            self.weight = self.params.get("weight", shape=(in_units, units))
            self.bias = self.params.get("bias", shape=(units,))

        def forward(self, x):
            linear = np.dot(x, self.weight.data(ctx=x.ctx)) + self.bias.data(ctx=x.ctx)
            return npx.relu(linear)

    class Nested(nn.Block):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential()
            self.net.add(MyDense(4, in_units=3), nn.Dense(4, activation="relu"))
            self.rand = self.params.get_constant("rand", np.arange(16).reshape(4, 4) / 16)
            self.dense = nn.Dense(4, activation="relu")

        def forward(self, x):
            x = npx.relu(np.dot(self.dense(self.net(x)), self.rand.data()) + 1)
            x = self.dense(x)
            while np.abs(x).sum() > 1:
                x = x / 2
            return x.sum()

    x = array(mx, (2, 3))
    net = ready(mx, Nested(), x)
    return trained(mx, net, x), [type(each).__name__ for each in net.net]


@case
@in_numpy
def dropout_and_decay_from_scratch(mx):
    np = mx.np

    def dropout(x, share):
        if share == 1:
            return np.zeros_like(x)
        if share == 0:
            return x
        mask = np.random.uniform(0, 1, x.shape) > share
        return mask.astype(np.float32) * x / (1.0 - share)

    x = np.arange(16).reshape(2, 8)
    found = dropout(x, 0.5)
    w = array(mx, (8, 1))
    w.attach_grad()
    with mx.autograd.record():
        loss = ((np.dot(x, w) - 1) ** 2 / 2).mean() + 3 * (w**2).sum() / 2
    loss.backward()
    return (
        classes([dropout(x, 0.0), dropout(x, 1.0), loss, w.grad, np.linalg.norm(w)]),
        type(found).__name__,
        found.dtype.name,
        bool(((found == 0) | (found == 2 * x)).all()),
    )


@case
@in_numpy
def gradients_of_several_devices(mx):
    np = mx.np
    devices = [mx.cpu(0), mx.cpu(1)]
    weights = [array(mx, (4, 2)).copyto(each) for each in devices]
    for each in weights:
        each.attach_grad()
    x, y = array(mx, (6, 4), 1), integers(mx, (6,), 2, 2)
    parts, labels = (mx.gluon.utils.split_and_load(each, devices) for each in (x, y))
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    with mx.autograd.record():
        losses = [loss(np.dot(part, w), label) for part, w, label in zip(parts, weights, labels)]
    for each in losses:
        each.backward()
    grads = [each.grad for each in weights]
    for each in grads[1:]:
        grads[0][:] += each.copyto(grads[0].ctx)
    for each in grads[1:]:
        grads[0].copyto(each)
    for each in weights:
        each[:] = each - 0.1 * each.grad / 6
    return classes([*losses, *weights]), [str(each.ctx) for each in weights]


@case
@in_numpy
def folds_and_prices(mx):
    np, nn = mx.np, mx.gluon.nn
    x, y = array(mx, (9, 4)), array(mx, (9, 1), 1, 0.5, 3)

    def fold(number, count):
        size, train = x.shape[0] // count, [None, None]
        for j in range(count):
            rows = slice(j * size, (j + 1) * size)
            if j == number:
                valid = x[rows, :], y[rows]
            elif train[0] is None:
                train = [x[rows, :], y[rows]]
            else:
                train = [np.concatenate([train[0], x[rows, :]], 0), np.concatenate([train[1], y[rows]], 0)]
        return (*train, *valid)

    loss = mx.gluon.loss.L2Loss()

    def log_rmse(net, features, labels):
        clipped = np.clip(net(features), 1, float("inf"))
        return np.sqrt(2 * loss(np.log(clipped), np.log(labels)).mean())

    history = []
    for number in range(3):
        net = nn.Sequential()
        net.add(nn.Dense(1))
        features, labels, held, right = fold(number, 3)
        ready(mx, net, features)
        trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.5, "wd": 0.1})
        for batch, label in mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(features, labels), 3):
            with mx.autograd.record():
                found = loss(net(batch), label)
            found.backward()
            trainer.step(3)
        history.append([log_rmse(net, features, labels), log_rmse(net, held, right)])
    return [classes(each) for each in history]


class _Pictures:
    """Pictures of uint8 and their classes, as a data set of images has them."""

    def __init__(self, mx):
        values = numpy.random.RandomState(3).randint(0, 255, (7, 6, 6, 1))
        self.pictures, self.labels = mx.np.array(values, dtype="uint8"), numpy.arange(7, dtype="int32") % 3

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, number):
        return self.pictures[number], self.labels[number]


@case(workers=[0, 2])
@in_numpy
def pictures_through_transforms(mx, workers):
    data = mx.gluon.data
    transforms = data.vision.transforms

    class Pictures(_Pictures, data.Dataset):
        pass

    found = Pictures(mx)
    changed = found.transform_first(transforms.ToTensor())
    loader = data.DataLoader(changed, batch_size=3, shuffle=False, num_workers=workers, last_batch="discard")
    picture, label = found[2]
    return classes(picture.squeeze(axis=-1)), int(label), [classes(batch) for batch in loader], len(loader)


@case(kind=["factor", "multi", "poly", "cosine"])
@in_numpy
def learning_rates(mx, kind):
    schedule = {
        "factor": lambda: mx.lr_scheduler.FactorScheduler(step=2, factor=0.5, base_lr=0.3),
        "multi": lambda: mx.lr_scheduler.MultiFactorScheduler(step=[2, 4], factor=0.5, base_lr=0.3),
        "poly": lambda: mx.lr_scheduler.PolyScheduler(6, base_lr=0.3, pwr=2),
        "cosine": lambda: mx.lr_scheduler.CosineScheduler(5, base_lr=0.3, final_lr=0.01, warmup_steps=2),
    }[kind]()
    net = mx.gluon.nn.Dense(1, in_units=2)
    net.initialize()
    fill(mx, net)
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"lr_scheduler": schedule, "learning_rate": 0.3})
    rates = []
    for _ in range(6):
        with mx.autograd.record():
            loss = (net(mx.np.ones((1, 2))) ** 2).sum()
        loss.backward()
        trainer.step(1)
        rates.append(trainer.learning_rate)
    trainer.optimizer.lr_scheduler = None
    trainer.set_learning_rate(0.25)
    return rates, trainer.learning_rate, classes(net.weight.data())
