"""As hand-written trainers do: gradients pushed to a key-value store with an optimizer or an updater of one's own."""

import mxnet as mx
import numpy as np
from common import Seeded, blobs
from mxnet import autograd, nd

x, y = blobs(48, 4, 3, seed=11)


def parameters():
    made = {"w1": nd.zeros((8, 4)), "b1": nd.zeros(8), "w2": nd.zeros((3, 8)), "b2": nd.zeros(3)}
    for name, value in made.items():
        if name.startswith("w"):
            Seeded(0.4)._init_weight(name, value)
        value.attach_grad()
    return made


def loss_of(p, features, labels):
    hidden = nd.relu(nd.FullyConnected(features, p["w1"], p["b1"], num_hidden=8))
    scores = nd.FullyConnected(hidden, p["w2"], p["b2"], num_hidden=3)
    return -nd.pick(nd.log_softmax(scores), labels)


def trained(store, p, pull):
    losses = []
    for step in range(8):
        part = slice(12 * (step % 4), 12 * (step % 4) + 12)
        pieces = []
        for half in np.array_split(np.arange(48)[part], 2):
            with autograd.record():
                loss = loss_of(p, nd.array(x[half]), nd.array(y[half]))
            loss.backward()
            pieces.append({name: value.grad.copy() for name, value in p.items()})
            losses.append(loss.mean().asscalar())
        for priority, name in enumerate(p):
            store.push(name, [piece[name] for piece in pieces], priority=-priority)
            pull(store, name, priority)
    return losses


first = parameters()
store = mx.kv.create("local")
store.init(list(first), list(first.values()))
store.set_optimizer(mx.optimizer.create("adam", learning_rate=0.05, rescale_grad=1.0 / 12))
with_optimizer = trained(store, first, lambda kv, name, at: kv.pull(name, out=first[name], priority=-at))

second = parameters()
mine = mx.kv.create("device")
mine.init(list(second), [value.copy() for value in second.values()])
mine._set_updater(lambda key, gradient, weight: mx.nd.elemwise_add(weight, -0.05 / 12 * gradient, out=weight))
with_updater = trained(mine, second, lambda kv, name, at: kv.pull(name, out=second[name]))

third = parameters()
plain = mx.kv.create()
plain.init(list(third), [nd.zeros(value.shape) for value in third.values()])
updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.5, momentum=0.9, rescale_grad=1.0 / 12))


def pull(kv, name, at):
    total = nd.zeros(third[name].shape)
    kv.pull(name, out=total)
    updater(at, total, third[name])


by_hand = trained(plain, third, pull)
found = {
    "optimizer": with_optimizer,
    "updater": with_updater,
    "by hand": by_hand,
    "weights": [first["b2"], second["b2"], third["b2"]],
    "states": sorted(updater.states),
    "state": updater.states[3],
    "store": [store.type, mine.type, plain.type, store.rank, store.num_workers],
}
