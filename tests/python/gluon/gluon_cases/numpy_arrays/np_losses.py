"""Losses and metrics of arrays of mx.np."""

from __future__ import annotations

from _case import case
from gluon_cases.numpy_arrays._mode import array, classes, in_numpy, integers

#: A loss, and what its label is. 1.9.1 has no more of mx.np: test_numpy_mode.py has the others beside mx.nd.
LOSSES = {
    "L2Loss()": "real",
    "L2Loss(weight=3.0)": "real",
    "L1Loss()": "real",
    "SigmoidBCELoss()": "binary",
    "SigmoidBCELoss(from_sigmoid=True)": "share",
    "SoftmaxCELoss()": "class",
    "SoftmaxCELoss(sparse_label=False)": "share",
    "SoftmaxCELoss(axis=1, from_logits=True)": "class of axis 1",
}
SHAPES = [(4, 3), (4, 3, 2), (4,)]


def _label(mx, kind, shape):
    if kind == "real":
        return array(mx, shape, 1)
    if kind == "share":
        return array(mx, shape, 1, 0.1, 0.9)
    if kind == "class":
        return integers(mx, shape[:-1], shape[-1], 1)
    if kind == "class of axis 1":
        return integers(mx, shape[:1] + shape[2:], shape[1], 1)
    return integers(mx, shape, 2, 1)


def _differentiated(mx, loss, pred, *others):
    pred.attach_grad()
    with mx.autograd.record():
        out = loss(pred, *others)
    out.backward()
    return classes([out, pred.grad])


@case(text=list(LOSSES), shape=SHAPES, hybrid=[False, True])
@in_numpy
def loss(mx, text, shape, hybrid):
    if "class" in LOSSES[text] and len(shape) == 1:
        return "there are no classes"
    found = eval(f"loss.{text}", {"loss": mx.gluon.loss})
    if hybrid:
        found.hybridize()
    return _differentiated(mx, found, array(mx, shape, 0, 0.1, 0.9), _label(mx, LOSSES[text], shape))


@case(text=["L2Loss(batch_axis=1)", "L1Loss(batch_axis=1)"], differs="1.9.1 ignores it")
@in_numpy
def loss_of_another_batch_axis(mx, text):
    found = eval(f"loss.{text}", {"loss": mx.gluon.loss})
    return _differentiated(mx, found, array(mx, (4, 3)), array(mx, (4, 3), 1))


@case(text=["L2Loss()", "L1Loss()", "SoftmaxCELoss()", "SigmoidBCELoss()"])
@in_numpy
def loss_with_weights_of_samples(mx, text):
    found = eval(f"loss.{text}", {"loss": mx.gluon.loss})
    label = _label(mx, "class" if "Softmax" in text else "binary", (4, 3))
    return _differentiated(mx, found, array(mx, (4, 3)), label, array(mx, (4, 1), 2))


@case(dtype=["int32", "int64", "float64", "uint8"])
@in_numpy
def classes_of_other_dtypes(mx, dtype):
    return _differentiated(mx, mx.gluon.loss.SoftmaxCELoss(), array(mx, (4, 3)), integers(mx, (4,), 3, dtype=dtype))


@case
@in_numpy
def labels_in_another_shape(mx):
    return _differentiated(mx, mx.gluon.loss.L2Loss(), array(mx, (4, 1)), array(mx, (4,), 1))


@case
@in_numpy
def loss_of_the_user(mx):
    class Masked(mx.gluon.loss.SoftmaxCELoss):
        def forward(self, pred, label, length):
            weights = mx.np.expand_dims(mx.np.ones_like(label), axis=-1)
            weights = mx.npx.sequence_mask(weights, length, True, axis=1)
            return super().forward(pred, label, weights)

    label = integers(mx, (2, 3), 4)
    return _differentiated(mx, Masked(), array(mx, (2, 3, 4)), label, mx.np.array([1, 3]))


METRICS = ["MAE()", "MSE()", "F1()", "CrossEntropy()", "NegativeLogLikelihood()", "TopKAccuracy(2)", "MCC()"]


@case(text=METRICS, lists=[False, True])
@in_numpy
def metric(mx, text, lists):
    found = eval(f"metric.{text}", {"metric": mx.metric})
    if text in ("MAE()", "MSE()"):
        label, pred = array(mx, (6,), 1), array(mx, (6,))
    else:
        label = integers(mx, (6,), 2, 1)
        pred = array(mx, (6, 1), 0, 0.1, 0.9)
        pred = mx.np.concatenate([pred, 1 - pred], axis=1)
    found.update([label] if lists else label, [pred] if lists else pred)
    found.update([label] if lists else label, [pred] if lists else pred)
    return found.get()[0], float(found.get()[1])


@case
@in_numpy
def metric_of_a_function(mx):
    seen = []

    def distance(label, pred):
        seen.append([type(label).__name__, type(pred).__name__])
        return float(abs(label - pred).max())

    found = mx.metric.CustomMetric(distance)
    found.update([array(mx, (6,), 1)], [array(mx, (6,))])
    return seen, found.get()
