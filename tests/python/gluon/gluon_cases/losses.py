"""gluon.loss: values, gradients, weights, errors."""

from __future__ import annotations

import inspect

import numpy as np
from _case import case

_ALL = [
    "CTCLoss", "CosineEmbeddingLoss", "HingeLoss", "HuberLoss", "KLDivLoss", "L1Loss", "L2Loss", "LogisticLoss", "Loss",
    "PoissonNLLLoss", "SDMLLoss", "SigmoidBCELoss", "SigmoidBinaryCrossEntropyLoss", "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss", "SquaredHingeLoss", "TripletLoss",
]  # fmt: skip
#: Losses of a prediction and a label of its shape: keyword arguments, and what the numbers are.
_LOSSES = {
    "l2": ("L2Loss", {}, "real"),
    "l2 weight": ("L2Loss", {"weight": 3.0}, "real"),
    "l2 axis": ("L2Loss", {"batch_axis": 1}, "real"),
    "l2 none": ("L2Loss", {"weight": 2}, "real"),
    "l1": ("L1Loss", {}, "real"),
    "l1 weight": ("L1Loss", {"weight": 0.5, "batch_axis": 1}, "real"),
    "bce": ("SigmoidBCELoss", {}, "binary"),
    "bce sigmoid": ("SigmoidBCELoss", {"from_sigmoid": True}, "share"),
    "bce weight": ("SigmoidBCELoss", {"weight": 2.0, "batch_axis": 1}, "binary"),
    "ce dense": ("SoftmaxCELoss", {"sparse_label": False}, "share"),
    "ce dense axis": ("SoftmaxCELoss", {"sparse_label": False, "axis": 1}, "share"),
    "ce logits": ("SoftmaxCELoss", {"sparse_label": False, "from_logits": True}, "share"),
    "kl": ("KLDivLoss", {}, "share"),
    "kl logits": ("KLDivLoss", {"from_logits": False, "weight": 2.0}, "share"),
    "kl axis": ("KLDivLoss", {"from_logits": False, "axis": 1}, "share"),
    "huber": ("HuberLoss", {}, "real"),
    "huber rho": ("HuberLoss", {"rho": 0.3, "weight": 2.0}, "real"),
    "hinge": ("HingeLoss", {}, "sign"),
    "hinge margin": ("HingeLoss", {"margin": 2.5}, "sign"),
    "squared hinge": ("SquaredHingeLoss", {"margin": 0.5, "weight": 2.0}, "sign"),
    "logistic": ("LogisticLoss", {}, "sign"),
    "logistic binary": ("LogisticLoss", {"label_format": "binary", "weight": 2.0}, "binary"),
    "poisson": ("PoissonNLLLoss", {}, "count"),
    "poisson rate": ("PoissonNLLLoss", {"from_logits": False, "weight": 2.0}, "positive"),
}


def _numbers(mx, kind, shape=(4, 3, 2)):
    random = np.random
    labels = {
        "real": lambda: random.normal(0, 1, shape),
        "binary": lambda: random.randint(0, 2, shape),
        "share": lambda: random.uniform(0, 1, shape),
        "sign": lambda: random.randint(0, 2, shape) * 2 - 1,
        "count": lambda: random.randint(1, 5, shape),
        "positive": lambda: random.randint(1, 5, shape),
    }[kind]()
    pred = random.uniform(0.1, 0.9, shape) if kind in ("share", "positive") else random.normal(0, 1, shape)
    return mx.nd.array(pred), mx.nd.array(labels)


def _with_gradients(mx, loss, *inputs, **more):
    for each in inputs:
        each.attach_grad()
    with mx.autograd.record():
        out = loss(*inputs, **more)
    out.backward()
    return [out, *(each.grad for each in inputs)]


@case(loss=list(_LOSSES))
def values_and_gradients(mx, loss):
    name, kwargs, kind = _LOSSES[loss]
    pred, label = _numbers(mx, kind)
    return _with_gradients(mx, lambda pred: getattr(mx.gluon.loss, name)(**kwargs)(pred, label), pred)


@case(loss=list(_LOSSES), shape=["whole", "sample"])
def sample_weights(mx, loss, shape):
    name, kwargs, kind = _LOSSES[loss]
    pred, label = _numbers(mx, kind)
    if name == "SoftmaxCELoss":
        weights = mx.nd.array(np.random.uniform(0, 1, (4, 1, 1)))
    else:
        weights = mx.nd.array(np.random.uniform(0, 1, (4, 3, 2) if shape == "whole" else (4, 1, 1)))
    return _with_gradients(mx, lambda pred: getattr(mx.gluon.loss, name)(**kwargs)(pred, label, weights), pred)


@case(loss=["L2Loss", "L1Loss", "SigmoidBCELoss", "HuberLoss", "HingeLoss", "LogisticLoss"], hybrid=[False, True])
def label_of_another_shape(mx, loss, hybrid):
    made = getattr(mx.gluon.loss, loss)()
    if hybrid:
        made.hybridize()
    pred, label = _numbers(mx, "binary", (4, 1))
    return made(pred, label.reshape((4,)))


@case(axis=[-1, 1], logits=[False, True], shape=[(4, 3), (4, 3, 3)], weight=[None, 2.0])
def cross_entropy_of_classes(mx, axis, logits, shape, weight):
    pred = mx.nd.array(np.random.normal(0, 1, shape))
    label = mx.nd.array(np.random.randint(0, 3, shape[:1] + shape[2:]))
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss(axis=axis, from_logits=logits, weight=weight)
    return _with_gradients(mx, lambda pred: loss(pred, label), pred)


@case(label=[[0, 5], [-1, 1], [0.7, 1.2]])
def cross_entropy_of_odd_classes(mx, label):
    return mx.gluon.loss.SoftmaxCrossEntropyLoss()(mx.nd.array([[1, 2, 3], [3, 1, 0]]), mx.nd.array(label))


@case(sigmoid=[False, True], shape=[(3,), (1,), (4, 3)])
def weight_of_positives(mx, sigmoid, shape):
    pred, label = _numbers(mx, "share" if sigmoid else "binary", (4, 3))
    loss = mx.gluon.loss.SigmoidBCELoss(from_sigmoid=sigmoid)
    weights = mx.nd.array(np.random.uniform(0.5, 2, shape))
    return _with_gradients(mx, lambda pred: loss(pred, label, None, weights), pred)


@case
def poisson_full(mx):
    return mx.gluon.loss.PoissonNLLLoss(compute_full=True, weight=2.0)(*_numbers(mx, "count"))


@case(differs="there an error about an edit in place")
def poisson_full_recorded(mx):
    pred, label = _numbers(mx, "count")
    return _with_gradients(mx, lambda pred: mx.gluon.loss.PoissonNLLLoss(compute_full=True)(pred, label), pred)


@case(layout=["NTC", "TNC"], label_layout=["NT", "TN"], lengths=["none", "pred", "label", "both"])
def ctc(mx, layout, label_layout, lengths):
    pred = np.random.normal(0, 1, (2, 10, 4))
    label = np.array([[1, 0, 2, -1], [2, 2, 1, 0]], "float32")
    given = [
        mx.nd.array([8, 10]) if lengths in ("pred", "both") else None,
        mx.nd.array([3, 4]) if lengths in ("label", "both") else None,
    ]
    loss = mx.gluon.loss.CTCLoss(layout=layout, label_layout=label_layout, weight=2.0)
    pred = mx.nd.array(pred if layout == "NTC" else pred.swapaxes(0, 1))
    label = mx.nd.array(label if label_layout == "NT" else label.T)
    return _with_gradients(mx, lambda pred: loss(pred, label, *given), pred)


@case
def ctc_with_sample_weight(mx):
    pred, label = mx.nd.array(np.random.normal(0, 1, (2, 6, 4))), mx.nd.array([[1, 0], [2, 1]])
    return mx.gluon.loss.CTCLoss()(pred, label, None, None, mx.nd.array([2, 3]))


@case(margin=[1, 0.1], weight=[None, 3.0])
def triplet(mx, margin, weight):
    inputs = [mx.nd.array(np.random.normal(0, 1, (4, 3))) for _ in range(3)]
    return _with_gradients(mx, mx.gluon.loss.TripletLoss(margin=margin, weight=weight), *inputs)


@case(margin=[0, 0.3], shape=[(4, 3), (4, 1)])
def cosine(mx, margin, shape):
    inputs = [mx.nd.array(np.random.normal(0, 1, shape)) for _ in range(2)]
    label = mx.nd.array([1, -1, 1, -1])
    loss = mx.gluon.loss.CosineEmbeddingLoss(margin=margin)
    return _with_gradients(mx, lambda a, b: loss(a, b, label), *inputs)


@case(smoothing=[0.3, 0.0, 0.9], count=[2, 5])
def metric_learning(mx, smoothing, count):
    inputs = [mx.nd.array(np.random.normal(0, 1, (count, 3))) for _ in range(2)]
    return _with_gradients(mx, mx.gluon.loss.SDMLLoss(smoothing_parameter=smoothing), *inputs)


@case(name=_ALL)
def signatures(mx, name):
    kind = getattr(mx.gluon.loss, name)
    return [
        [[each.name, str(each.default) if each.default is not each.empty else "-"] for each in
         inspect.signature(method).parameters.values()]
        for method in (kind.__init__, kind.hybrid_forward) if (name, method) != ("TripletLoss", kind.hybrid_forward)
    ]  # fmt: skip


@case(name=[each for each in _ALL if each != "Loss"])
def names_and_reprs(mx, name):
    first, second = getattr(mx.gluon.loss, name)(), getattr(mx.gluon.loss, name)(weight=2)
    return [first.name, second.prefix, repr(first), repr(second)]


_WRONG = {
    "layout": ("CTCLoss", {"layout": "CNT"}),
    "label layout": ("CTCLoss", {"label_layout": "N"}),
    "label format": ("LogisticLoss", {"label_format": "other"}),
    "argument": ("L2Loss", {"other": 1}),
    "weight": ("L1Loss", {"weight": "1"}),
    "base": ("Loss", {"weight": 1, "batch_axis": 0}),
}


@case(wrong=list(_WRONG))
def wrong_use(mx, wrong):
    name, kwargs = _WRONG[wrong]
    pred, label = _numbers(mx, "real")
    return getattr(mx.gluon.loss, name)(**kwargs)(pred, label)


@case
def misfit(mx):
    return mx.gluon.loss.L2Loss()(mx.nd.ones((2, 3)), mx.nd.ones((2, 2)))


@case(weight=[None, 2, 0.5], sample=[False, True])
def apply_weighting(mx, weight, sample):
    weights = mx.nd.array([[2], [3]]) if sample else None
    return mx.gluon.loss._apply_weighting(mx.nd, mx.nd.ones((2, 2)), weight, weights)


@case
def reshape_like(mx):
    return mx.gluon.loss._reshape_like(mx.nd, mx.nd.arange(6), mx.nd.ones((2, 3)))


@case
def own_loss(mx):
    class Cubed(mx.gluon.loss.Loss):
        def __init__(self, weight=None, batch_axis=0, **kwargs):
            super().__init__(weight, batch_axis, **kwargs)

        def hybrid_forward(self, F, pred, label, sample_weight=None):
            label = mx.gluon.loss._reshape_like(F, label, pred)
            loss = mx.gluon.loss._apply_weighting(F, F.abs(label - pred) ** 3, self._weight, sample_weight)
            return F.mean(loss, axis=self._batch_axis, exclude=True)

    return Cubed(weight=2)(*_numbers(mx, "real")), Cubed().name, repr(Cubed())
