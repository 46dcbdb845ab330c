"""Lines of text of different lengths: a gated recurrent network learns to name the next character."""

import numpy as np
from mxnet import autograd, nd

LINES = """the quick brown fox
jumps over
the lazy dog and
runs
away from the cat""".split("\n")
LETTERS = sorted(set("".join(LINES)))
WIDTH, HIDDEN = 6, 12


def batch():
    """Characters (time, line), the lengths, and what comes next."""
    longest = max(map(len, LINES))
    numbers = np.zeros((len(LINES), longest), dtype="int32")
    for row, line in zip(numbers, LINES):
        row[: len(line)] = [LETTERS.index(letter) for letter in line]
    data = nd.array(numbers.T)
    return data[:-1], data[1:], nd.array([len(line) - 1 for line in LINES])


class Network:
    def __init__(self):
        draw = np.random.RandomState(3)

        def weights(*shape):
            return nd.array(draw.randn(*shape) / np.sqrt(shape[-1]))

        self.embedding = weights(len(LETTERS), WIDTH)
        self.gates, self.gates_bias = weights(2 * HIDDEN, WIDTH + HIDDEN), nd.zeros(2 * HIDDEN)
        self.new, self.new_bias = weights(HIDDEN, WIDTH + HIDDEN), nd.zeros(HIDDEN)
        self.out, self.out_bias = weights(len(LETTERS), HIDDEN), nd.zeros(len(LETTERS))
        self.all = [value for value in vars(self).values() if isinstance(value, nd.NDArray)]
        for value in self.all:
            value.attach_grad()

    def step(self, x, h):
        both = nd.concat(x, h, dim=1)
        gates = nd.FullyConnected(both, self.gates, self.gates_bias, num_hidden=2 * HIDDEN)
        reset, update = nd.split(nd.sigmoid(gates), num_outputs=2, axis=1)
        both = nd.concat(x, reset * h, dim=1)
        new = nd.Activation(nd.FullyConnected(both, self.new, self.new_bias, num_hidden=HIDDEN), act_type="tanh")
        return update * h + (1 - update) * new

    def states(self, characters):
        x = nd.Embedding(characters, self.embedding, input_dim=len(LETTERS), output_dim=WIDTH)
        h, states = nd.zeros((characters.shape[1], HIDDEN)), []
        for row in x:
            h = self.step(row, h)
            states.append(h)
        return nd.stack(*states, axis=0)

    def scores(self, states):
        return nd.FullyConnected(states, self.out, self.out_bias, num_hidden=len(LETTERS), flatten=False)


def clip(arrays, largest):
    """Makes the gradients together no longer than `largest`; how long they were."""
    length = nd.add_n(*[nd.square(array.grad).sum() for array in arrays]).sqrt().asscalar()
    if length > largest:
        for array in arrays:
            array.grad[:] *= largest / length
    return length


def learn(network, data, following, lengths):
    losses, norms = [], []
    for _ in range(60):
        with autograd.record():
            guesses = nd.log_softmax(network.scores(network.states(data)), axis=-1)
            loss = nd.SequenceMask(-nd.pick(guesses, following, axis=-1), lengths, use_sequence_length=True)
            mean = loss.sum() / lengths.sum()
        mean.backward()
        norms.append(clip(network.all, 1.0))
        losses.append(mean.asscalar())
        for weight in network.all:
            nd.sgd_update(weight, weight.grad, lr=4.0, out=weight)
    return losses, norms


def run():
    data, following, lengths = batch()
    network = Network()
    losses, norms = learn(network, data, following, lengths)
    states = network.states(data)
    last = nd.SequenceLast(states, lengths, use_sequence_length=True)
    backwards = nd.SequenceReverse(states, lengths, use_sequence_length=True)
    guesses = nd.SequenceMask(network.scores(states).argmax(axis=2), lengths, use_sequence_length=True, value=-1)
    alike = nd.L2Normalization(last) if hasattr(nd, "L2Normalization") else last / last.norm(axis=1, keepdims=True)
    return {
        "lengths": lengths,
        "losses": losses,
        "norms": norms,
        "last": last,
        "reversed": (backwards[0] - last).abs().max(),
        "right": nd.SequenceMask(guesses == following, lengths, use_sequence_length=True).sum(axis=0),
        "guesses": guesses,
        "alike": nd.dot(alike, alike.T),
        "order": nd.argsort(nd.one_hot(data, len(LETTERS)).sum(axis=(0, 1)), is_ascend=False)[:3],
    }
