"""mx.metric: the numbers of each class."""

from __future__ import annotations

import numpy as np
from _case import case

from gluon_cases.training._metric_parts import OF_TWO, batch, classes_of, counts, made, probabilities

# Accuracy


@case(
    shapes=[
        ((4,), (4,), 1),
        ((4,), (4, 3), 1),
        ((4, 1), (4, 3), 1),
        ((4, 1), (4, 1), 1),
        ((4, 5), (4, 3, 5), 1),
        ((4, 5), (4, 5, 3), 2),
        ((4, 5), (4, 5, 3), -1),
        ((4, 5), (3, 4, 5), 0),
        ((4, 5), (4, 5), 1),
        ((4, 5), (5, 4), 1),
        ((20,), (4, 5), 1),
        ((4,), (4, 3), 2),
        ((4,), (4, 1), 1),
        ((3,), (4, 3), 0),
        ((4,), (4, 1, 3), 2),
        ((), (4, 3), 1),
    ]
)
def accuracy(mx, shapes):
    label, pred, axis = shapes
    metric = mx.metric.Accuracy(axis=axis)
    metric.update([mx.nd.array(classes_of(1, label, 3))], [mx.nd.array(probabilities(1, pred))])
    return metric.get(), counts(metric), metric.get_config()


@case(labels=[[0, 1, 2], [0.9, 1.2, 2.7], [-1, -1, 0], [7, 0, 1]])
def accuracy_of_labels(mx, labels):
    metric = mx.metric.Accuracy()
    metric.update([mx.nd.array(labels)], [mx.nd.array([[0.9, 0.1], [0.2, 0.8], [0.1, 0.9]])])
    return metric.get()


@case(values=["nan", "inf", "equal"])
def accuracy_of_special_numbers(mx, values):
    numbers = {"nan": [[np.nan, 1], [1, np.nan]], "inf": [[np.inf, 1], [-np.inf, 1]], "equal": [[1, 1], [0, 0]]}
    metric = mx.metric.Accuracy()
    metric.update([mx.nd.array([0, 1])], [mx.nd.array(numbers[values])])
    return metric.get()


@case
def accuracy_of_classes(mx):
    metric = mx.metric.Accuracy()
    metric.update([mx.nd.array([0, 1, 1])], [mx.nd.array([0, 1, 2])])
    metric.update([mx.nd.array([[0, 1, 1]])], [mx.nd.array([[0, 0, 1]])])
    return metric.get(), counts(metric)


# TopKAccuracy


@case(top_k=[2, 3, 4, 5, 9])
def top_k(mx, top_k):
    metric = mx.metric.TopKAccuracy(top_k=top_k)
    metric.update([mx.nd.array(classes_of(1, (20,), 5))], [mx.nd.array(probabilities(1, (20, 5)))])
    return metric.get(), counts(metric), metric.get_config()


@case(top_k=[-1, 0, 1, None])
def top_k_of_few(mx, top_k):
    metric = mx.metric.TopKAccuracy() if top_k is None else mx.metric.TopKAccuracy(top_k=top_k)
    return metric.get()


@case(shapes=[((4, 1), (4, 3)), ((4,), (4, 3, 2)), ((12,), (4, 3)), ((4,), (4, 1)), ((0,), (0, 3))])
def top_k_shapes(mx, shapes):
    metric = mx.metric.TopKAccuracy(top_k=2)
    metric.update([mx.nd.array(classes_of(1, shapes[0], 3))], [mx.nd.array(probabilities(1, shapes[1]))])
    return metric.get(), counts(metric)


# F1, MCC, PCC


@case(name=OF_TWO, average=["macro", "micro", "other"])
def averages(mx, name, average):
    metric = made(mx, name, average=average)
    found = []
    for seed in range(4):
        label, pred = batch(mx, name, seed, 5 + 3 * seed)
        metric.update([label], [pred])
        found.append([metric.get(), metric.get_global()])
        if seed == 1:
            metric.reset_local()
            found.append([metric.get(), metric.get_global()])
    metric.reset()
    metric.update([label], [pred])
    return found, counts(metric), metric.get_config()


@case(name=[*OF_TWO, "PCC"], labels=["0000", "1111", "0101", "0111", "0001"], preds=["0000", "1111", "0101", "1010"])
def two_classes(mx, name, labels, preds):
    metric = made(mx, name)
    chosen = np.eye(2, dtype="float32")[[int(each) for each in preds]]
    metric.update([mx.nd.array([int(each) for each in labels])], [mx.nd.array(chosen)])
    return metric.get(), counts(metric)


_BINARY = {
    "three classes": ([0, 1, 2, 0], probabilities(1, (4, 3))),
    "one class": ([0, 1, 1, 0], np.ones((4, 1))),
    "one label": ([1, 1, 1, 1], None),
    "other labels": ([0, 2, 2, 0], None),
    "fractions": ([0.2, 1.7, 1.0, 0.0], None),
    "1 axis": ([0, 1, 1, 0], [0.7, 1.0, 0.6, 0.1]),
    "labels -1": ([-1, 1, 1, -1], None),
    "3 axes": ([0, 1, 1, 0], [[[0.3], [0.7]], [[0.0], [1.0]], [[0.4], [0.6]], [[0.9], [0.1]]]),
    "columns": ([[0], [1], [1], [0]], None),
    "none": (np.zeros((0,)), np.zeros((0, 2))),
}
_EACH = ["three classes", "one class", "one label", "other labels", "fractions", "1 axis"]


def _binary(mx, name, what):
    label, pred = _BINARY[what]
    metric = made(mx, name)
    pred = [[0.3, 0.7], [0.0, 1.0], [0.4, 0.6], [0.9, 0.1]] if pred is None else pred
    metric.update([mx.nd.array(label)], [mx.nd.array(pred)])
    return metric.get(), counts(metric)


@case(name=OF_TWO, what=[*_EACH, "labels -1", "none"])
def binary_inputs(mx, name, what):
    return _binary(mx, name, what)


@case(what=[*_EACH, "3 axes", "columns"])
def pcc_inputs(mx, what):
    return _binary(mx, "PCC", what)


@case(name=OF_TWO, what=["3 axes", "columns"], differs="compares each label with each prediction")
def binary_columns(mx, name, what):
    return _binary(mx, name, what)


@case(what=["labels -1"], differs="counts -1 as the last class")
def pcc_of_labels_below_zero(mx, what):
    return _binary(mx, "PCC", what)


@case(differs="leaves out the predictions without a label")
def pcc_of_shorter_labels(mx):
    metric = mx.metric.PCC()
    label, pred = batch(mx, "PCC", 3, 6)
    metric.update([label[:2]], [pred])
    return metric.get()


@case(name=["Accuracy", "PCC"])
def classes_of_nothing(mx, name):
    metric = made(mx, name)
    metric.update([mx.nd.zeros((0,))], [mx.nd.zeros((0, 3))])
    return metric.get()


@case(differs="is not counted in the global value")
def top_k_of_one_axis(mx):
    metric = mx.metric.TopKAccuracy(top_k=2)
    metric.update([mx.nd.array([1, 0, 3, 2])], [mx.nd.array([0.5, 0.1, 0.9, 0.7])])
    return metric.get(), metric.get_global()


@case(classes=[2, 3, 5, 8])
def pcc(mx, classes):
    metric = mx.metric.PCC()
    found = []
    for seed in range(3):
        label, pred = classes_of(seed, (30,), classes), probabilities(seed, (30, classes))
        pred[np.arange(20), label[:20].astype(int)] += 1
        metric.update([mx.nd.array(label)], [mx.nd.array(pred)])
        found.append([metric.get(), metric.get_global(), float(metric.k), metric.lcm, metric.gcm])
        if seed == 1:
            metric.reset_local()
    return found


@case
def pcc_of_classes_that_grow(mx):
    metric = mx.metric.PCC(has_global_stats=False)
    found = []
    for classes in (2, 4, 3, 6):
        label, pred = classes_of(classes, (12,), classes), probabilities(classes, (12, classes))
        metric.update([mx.nd.array(label)], [mx.nd.array(pred)])
        found.append([metric.get(), metric.get_global(), float(metric.k), metric.lcm, metric.gcm])
    metric.reset()
    return found, float(metric.k), metric.lcm, metric.get()


@case
def pcc_is_mcc_of_two_classes(mx):
    label, pred = batch(mx, "MCC", 5, 20)
    one, other = mx.metric.PCC(), mx.metric.MCC()
    for metric in (one, other):
        metric.update([label], [pred])
    return one.get()[1], other.get()[1]


# Perplexity, CrossEntropy, NegativeLogLikelihood


@case(
    ignore_label=[None, 0, 3, -1, 9], shape=[((6,), (6, 4)), ((2, 3), (2, 3, 4)), ((2, 3), (6, 4)), ((6,), (2, 3, 4))]
)
def perplexity(mx, ignore_label, shape):
    metric = mx.metric.Perplexity(ignore_label)
    found = []
    for seed in range(2):
        label = classes_of(seed, shape[0], 4)
        if ignore_label == -1:
            label.flat[:2] = -1
        metric.update([mx.nd.array(label)], [mx.nd.array(probabilities(seed, shape[1]))])
        found.append([metric.get(), metric.get_global()])
    return found, counts(metric), metric.get_config()


@case(axis=[-1, 0, 1, 2, 5])
def perplexity_axis(mx, axis):
    metric = mx.metric.Perplexity(None, axis)
    metric.update([mx.nd.array(classes_of(2, (2, 3), 2))], [mx.nd.array(probabilities(2, (2, 3, 2)))])
    return metric.get(), metric.get_config()


@case
def perplexity_of_ignored_labels_alone(mx):
    metric = mx.metric.Perplexity(1)
    metric.update([mx.nd.array([1, 1])], [mx.nd.array(probabilities(2, (2, 3)))])
    return metric.get(), counts(metric)


@case
def perplexity_of_several_outputs(mx):
    metric = mx.metric.Perplexity(0)
    labels = [mx.nd.array(classes_of(seed, (5,), 3)) for seed in range(3)]
    metric.update(labels, [mx.nd.array(probabilities(seed, (5, 3))) for seed in range(3)])
    return metric.get(), counts(metric)


@case(name=["Perplexity", "CrossEntropy", "NegativeLogLikelihood"])
def probability_of_zero(mx, name):
    metric = made(mx, name)
    metric.update([mx.nd.array([0, 1, 0])], [mx.nd.array([[0, 1], [0, 1], [1, 0]])])
    return metric.get()


@case(name=["Perplexity", "CrossEntropy", "NegativeLogLikelihood"], label=[2, -1, 1.5])
def labels_beyond(mx, name, label):
    metric = made(mx, name)
    metric.update([mx.nd.array([0, 1, label])], [mx.nd.array([[0.1, 0.9], [0.3, 0.7], [0.8, 0.2]])])
    return metric.get()


@case(name=["CrossEntropy", "NegativeLogLikelihood"], eps=[0, 1e-3, 1.0])
def epsilon(mx, name, eps):
    metric = made(mx, name, eps=eps)
    metric.update([mx.nd.array([0, 1, 0])], [mx.nd.array([[0.1, 0.9], [0, 1], [1, 0]])])
    return metric.get(), metric.get_config()


@case(
    name=["CrossEntropy", "NegativeLogLikelihood"],
    shapes=[
        ((6,), (6, 4)),
        ((6, 1), (6, 4)),
        ((2, 3), (6, 4)),
        ((2, 3), (2, 3, 4)),
        ((4,), (6, 4)),
        ((6,), (6,)),
        ((0,), (0, 4)),
    ],
)
def entropy_shapes(mx, name, shapes):
    metric = made(mx, name)
    metric.update([mx.nd.array(classes_of(1, shapes[0], 4))], [mx.nd.array(probabilities(1, shapes[1]))])
    return metric.get(), counts(metric)


# MAE, MSE, RMSE, PearsonCorrelation


@case(
    name=["MAE", "MSE", "RMSE", "PearsonCorrelation"],
    shapes=[((4,), (4,)), ((4, 1), (4,)), ((4,), (4, 1)), ((4, 3), (4, 3)), ((4,), (4, 3)), ((2, 3, 2), (2, 3, 2))]
    + [((3, 1), (3, 4)), ((4, 3), (3, 4)), ((1,), (1,)), ((5,), (4,)), ((), ()), ((0,), (0,))],
)
def shapes_of_numbers(mx, name, shapes):
    metric = made(mx, name)
    random = np.random.RandomState(3)
    label, pred = random.uniform(-1, 1, shapes[0]), random.uniform(-1, 1, shapes[1])
    metric.update([mx.nd.array(label)], [mx.nd.array(pred)])
    return metric.get(), counts(metric)


@case(name=["MAE", "MSE", "RMSE", "PearsonCorrelation", "Loss"], value=["nan", "inf", "-inf", "1e30"])
def special_numbers(mx, name, value):
    metric = made(mx, name)
    metric.update([mx.nd.array([1, 2, 3])], [mx.nd.array([1.5, float(value), 2])])
    return metric.get()


def _pearson(mx, average, shape):
    metric = mx.metric.PearsonCorrelation(average=average)
    found = []
    for seed in range(4):
        random = np.random.RandomState(seed)
        label = random.uniform(-1, 1, shape)
        metric.update([mx.nd.array(label)], [mx.nd.array(label + 0.5 * random.uniform(-1, 1, shape))])
        found.append([metric.get(), metric.get_global()])
        if seed == 1:
            metric.reset_local()
            found.append([metric.get(), metric.get_global()])
        if seed == 2:
            metric.reset()
    return found, counts(metric), metric.get_config()


@case(average=["macro", "other"], shape=[(5,), (4, 3)])
def pearson(mx, average, shape):
    return _pearson(mx, average, shape)


@case(shape=[(5,), (4, 3)], differs="the global value is 0, the local one is that of all")
def pearson_of_all(mx, shape):
    return _pearson(mx, "micro", shape)


@case(shape=[(5,), (4, 3)])
def pearson_micro(mx, shape):
    metric = mx.metric.PearsonCorrelation(average="micro")
    found = []
    for seed in range(4):
        random = np.random.RandomState(seed)
        label = random.uniform(-1, 1, shape)
        metric.update([mx.nd.array(label)], [mx.nd.array(label + 0.5 * random.uniform(-1, 1, shape))])
        found.append(metric.get())
    metric.reset()
    return found, metric.get()


@case(average=["macro", "micro"])
def pearson_of_constants(mx, average):
    metric = mx.metric.PearsonCorrelation(average=average)
    metric.update([mx.nd.array([1, 1, 1])], [mx.nd.array([1, 2, 3])])
    return metric.get()
