"""A recommender: ratings are products of factors of users and films, learnt with Adam and stopped early."""

import os
import tempfile

import mxnet as mx
import numpy as np
from mxnet import autograd, nd

USERS, FILMS, RANK = 40, 30, 3


def ratings():
    draw = np.random.RandomState(1)
    whole = draw.randn(USERS, RANK).dot(draw.randn(RANK, FILMS)) + draw.randn(USERS, 1)
    users, films = np.nonzero(draw.rand(USERS, FILMS) < 0.5)
    order = draw.permutation(len(users))
    users, films = users[order], films[order]
    return nd.array(np.stack([users, films, whole[users, films]]))


class Model:
    def __init__(self):
        draw = np.random.RandomState(2)
        self.values = {
            "users": nd.array(draw.randn(USERS, RANK) * 0.4),
            "films": nd.array(draw.randn(FILMS, RANK) * 0.4),
            "bias": nd.zeros((USERS, 1)),
            "mean": nd.zeros(1),
        }
        self.moments = {name: (nd.zeros_like(value), nd.zeros_like(value)) for name, value in self.values.items()}
        for value in self.values.values():
            value.attach_grad()

    def predict(self, users, films):
        u = nd.Embedding(users, self.values["users"], input_dim=USERS, output_dim=RANK)
        f = nd.Embedding(films, self.values["films"], input_dim=FILMS, output_dim=RANK)
        return (u * f).sum(axis=-1) + self.values["bias"].take(users).reshape((-1,)) + self.values["mean"]

    def step(self, rate):
        for name, value in self.values.items():
            mean, variance = self.moments[name]
            nd.adam_update(value, value.grad, mean, variance, lr=rate, wd=1e-3, out=value)


def run():
    table = ratings()
    known, held = table[:, :-100], table[:, -100:]
    model, losses, tests, best = Model(), [], [], None
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "best.params")
    for _ in range(30):
        for begin in range(0, known.shape[1], 64):
            users, films, values = known[:, begin : begin + 64]
            with autograd.record():
                loss = nd.smooth_l1(model.predict(users, films) - values, scalar=1).mean()
            loss.backward()
            model.step(0.02)
        test = nd.square(model.predict(held[0], held[1]) - held[2]).mean().sqrt().asscalar()
        losses.append(loss.asscalar())
        tests.append(test)
        if best is None or test < best:
            best = test
            nd.save(path, model.values)
    saved = nd.load(path)
    os.remove(path)
    os.rmdir(folder)
    scores = nd.dot(saved["users"], saved["films"], transpose_b=True) + saved["bias"]
    seen = nd.scatter_nd(nd.ones(table.shape[1]), table[:2], shape=(USERS, FILMS))
    scores = nd.where(seen, nd.ones_like(scores) * -1e3, scores)
    return {
        "losses": losses,
        "tests": tests,
        "names": sorted(saved),
        "users": saved["users"],
        "recommended": mx.nd.topk(scores, k=3, axis=1),
        "best score": scores.max(axis=1),
        "seen": seen.sum(axis=1),
    }
