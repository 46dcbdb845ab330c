"""mx.metric."""

from __future__ import annotations

import inspect
import json
import pickle

import numpy as np
from _case import case

_CLASSES = {
    "Accuracy": {},
    "TopKAccuracy": {"top_k": 2},
    "F1": {},
    "MCC": {},
    "PCC": {},
    "Perplexity": {"ignore_label": None},
    "MAE": {},
    "MSE": {},
    "RMSE": {},
    "CrossEntropy": {},
    "NegativeLogLikelihood": {},
    "PearsonCorrelation": {},
    "Loss": {},
    "Torch": {},
    "Caffe": {},
}
_ALL = [*_CLASSES, "EvalMetric", "CompositeEvalMetric", "CustomMetric"]
#: Metrics of classes, of two classes alone, and of numbers.
_OF_CLASSES = ["Accuracy", "TopKAccuracy", "PCC", "Perplexity", "CrossEntropy", "NegativeLogLikelihood", "Loss"]
_OF_TWO = ["F1", "MCC"]
_OF_NUMBERS = ["MAE", "MSE", "RMSE", "PearsonCorrelation", "Loss"]


def _made(mx, which, /, **more):
    return getattr(mx.metric, which)(**{**_CLASSES[which], **more})


def _probabilities(seed, shape, dtype="float32"):
    random = np.random.RandomState(seed)
    numbers = random.uniform(0.05, 1, shape)
    return (numbers / numbers.sum(-1, keepdims=True)).astype(dtype)


def _labels(seed, shape, classes, dtype="float32"):
    return np.random.RandomState(seed + 100).randint(0, classes, shape).astype(dtype)


def _batch(mx, name, seed, count=9):
    """Labels and predictions that suit a metric."""
    if name in _OF_NUMBERS:
        random = np.random.RandomState(seed)
        label, pred = random.uniform(-1, 1, (2, count, 3)).astype("float32")
        return mx.nd.array(label), mx.nd.array(pred)
    classes = 2 if name in _OF_TWO else 4
    return mx.nd.array(_labels(seed, (count,), classes)), mx.nd.array(_probabilities(seed, (count, classes)))


def _state(metric):
    return [
        *[metric.get(), metric.get_global(), metric.get_name_value(), metric.get_global_name_value(), str(metric)],
    ]


def _counts(metric):
    return [
        float(each) for each in (metric.num_inst, metric.sum_metric, metric.global_num_inst, metric.global_sum_metric)
    ]


@case(name=_ALL + ["create", "np", "check_label_shapes"])
def signature(mx, name):
    parameters = inspect.signature(getattr(mx.metric, name)).parameters.values()
    return [[each.name, str(each.default) if each.default is not each.empty else "-"] for each in parameters]


@case
def names_of_the_module(mx):
    return [
        name for name in [*_ALL, "alias", "check_label_shapes", "create", "np", "register"] if hasattr(mx.metric, name)
    ]


@case(name=_ALL)
def parents(mx, name):
    return [each.__name__ for each in getattr(mx.metric, name).__mro__ if each.__name__[0] != "_"]


@case
def registered(mx):
    known = mx.registry.get_registry(mx.metric.EvalMetric)
    return sorted([name, known[name].__name__] for name in known if known[name].__module__.split(".")[1] == "metric")


@case(name=list(_CLASSES))
def new(mx, name):
    metric = _made(mx, name)
    return [_state(metric), _counts(metric), metric.get_config(), metric.name, metric.output_names, metric.label_names]


@case(name=list(_CLASSES))
def new_with_names(mx, name):
    metric = _made(mx, name, name="mine", output_names=["out"], label_names=["truth"])
    return metric.get(), metric.get_config(), str(metric)


@case(name=list(_CLASSES))
def updates(mx, name):
    metric = _made(mx, name)
    found = []
    for seed in range(3):
        label, pred = _batch(mx, name, seed, 9 - seed)
        metric.update([label], [pred])
        found.append([metric.get(), metric.get_global(), _counts(metric)])
    return found


@case(name=list(_CLASSES))
def local_and_global(mx, name):
    metric = _made(mx, name)
    found = []
    for seed in range(4):
        label, pred = _batch(mx, name, seed, 7)
        metric.update([label], [pred])
        found.append(_state(metric))
        if seed == 1:
            metric.reset_local()
            found.append(_state(metric))
        if seed == 2:
            metric.reset()
            found.append([_state(metric), _counts(metric)])
    return found


@case(name=list(_CLASSES))
def several_outputs(mx, name):
    metric = _made(mx, name)
    pairs = [_batch(mx, name, seed, 5 + seed) for seed in range(3)]
    metric.update([label for label, _ in pairs], [pred for _, pred in pairs])
    return metric.get(), _counts(metric)


@case(name=list(_CLASSES))
def arrays_without_a_list(mx, name):
    metric = _made(mx, name)
    metric.update(*_batch(mx, name, 3, 6))
    return metric.get(), _counts(metric)


@case(name=list(_CLASSES))
def more_labels_than_outputs(mx, name):
    metric = _made(mx, name)
    label, pred = _batch(mx, name, 3, 6)
    metric.update([label, label], [pred])
    return metric.get()


@case(name=list(_CLASSES))
def shorter_labels(mx, name):
    metric = _made(mx, name)
    label, pred = _batch(mx, name, 3, 6)
    metric.update([label[:2]], [pred])
    return metric.get()


@case(name=list(_CLASSES))
def nothing(mx, name):
    metric = _made(mx, name)
    metric.update([], [])
    return metric.get()


@case(name=list(_CLASSES))
def numpy_arrays(mx, name):
    metric = _made(mx, name)
    label, pred = _batch(mx, name, 3, 6)
    metric.update([label.asnumpy()], [pred.asnumpy()])
    return metric.get()


@case(name=list(_CLASSES))
def pickled(mx, name):
    metric = _made(mx, name, name="mine")
    label, pred = _batch(mx, name, 3, 6)
    metric.update([label], [pred])
    again = pickle.loads(pickle.dumps(metric))
    before = again.get()
    again.update([label], [pred])
    return before, again.get(), type(again).__name__, again.get_config()


@case(name=list(_CLASSES))
def made_of_its_configuration(mx, name):
    metric = _made(mx, name, label_names=["truth"])
    config = json.dumps(metric.get_config())
    again = mx.metric.create(config)
    return type(again).__name__, again.get_config(), again.get()


@case(name=list(_CLASSES), label_dtype=["int32", "float64"], dtype=["float16", "float64"])
def dtypes(mx, name, label_dtype, dtype):
    metric = _made(mx, name)
    label, pred = _batch(mx, name, 8, 6)
    metric.update([label.astype(label_dtype)], [pred.astype(dtype)])
    return metric.get()


@case(name=list(_CLASSES))
def dictionaries(mx, name):
    metric = _made(mx, name)
    label, pred = _batch(mx, name, 3, 6)
    metric.update_dict({"truth": label}, {"out": pred})
    return metric.get()


@case(
    output_names=[None, ["b"], ["b", "a"], ["missing"], []],
    label_names=[None, ["y"], ["y", "x"], ["missing"]],
)
def dictionaries_with_names(mx, output_names, label_names):
    metric = mx.metric.MSE(output_names=output_names, label_names=label_names)
    arrays = {name: mx.nd.array(_probabilities(seed, (3, 2))) for seed, name in enumerate(["a", "b", "x", "y"])}
    metric.update_dict({name: arrays[name] for name in "yx"}, {name: arrays[name] for name in "ab"})
    return metric.get(), _counts(metric)


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
        ((0,), (0, 3), 1),
    ]
)
def accuracy(mx, shapes):
    label, pred, axis = shapes
    metric = mx.metric.Accuracy(axis=axis)
    metric.update([mx.nd.array(_labels(1, label, 3))], [mx.nd.array(_probabilities(1, pred))])
    return metric.get(), _counts(metric), metric.get_config()


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
    return metric.get(), _counts(metric)


# TopKAccuracy


@case(top_k=[2, 3, 4, 5, 9])
def top_k(mx, top_k):
    metric = mx.metric.TopKAccuracy(top_k=top_k)
    metric.update([mx.nd.array(_labels(1, (20,), 5))], [mx.nd.array(_probabilities(1, (20, 5)))])
    return metric.get(), _counts(metric), metric.get_config()


@case(top_k=[-1, 0, 1, None])
def top_k_of_few(mx, top_k):
    metric = mx.metric.TopKAccuracy() if top_k is None else mx.metric.TopKAccuracy(top_k=top_k)
    return metric.get()


@case(shapes=[((4,), (4,)), ((4, 1), (4, 3)), ((4,), (4, 3, 2)), ((12,), (4, 3)), ((4,), (4, 1)), ((0,), (0, 3))])
def top_k_shapes(mx, shapes):
    metric = mx.metric.TopKAccuracy(top_k=2)
    metric.update([mx.nd.array(_labels(1, shapes[0], 3))], [mx.nd.array(_probabilities(1, shapes[1]))])
    return metric.get(), _counts(metric)


# F1, MCC, PCC


@case(name=_OF_TWO, average=["macro", "micro", "other"])
def averages(mx, name, average):
    metric = _made(mx, name, average=average)
    found = []
    for seed in range(4):
        label, pred = _batch(mx, name, seed, 5 + 3 * seed)
        metric.update([label], [pred])
        found.append([metric.get(), metric.get_global()])
        if seed == 1:
            metric.reset_local()
            found.append([metric.get(), metric.get_global()])
    metric.reset()
    metric.update([label], [pred])
    return found, _counts(metric), metric.get_config()


@case(name=[*_OF_TWO, "PCC"], labels=["0000", "1111", "0101", "0111", "0001"], preds=["0000", "1111", "0101", "1010"])
def two_classes(mx, name, labels, preds):
    metric = _made(mx, name)
    chosen = np.eye(2, dtype="float32")[[int(each) for each in preds]]
    metric.update([mx.nd.array([int(each) for each in labels])], [mx.nd.array(chosen)])
    return metric.get(), _counts(metric)


@case(
    name=[*_OF_TWO, "PCC"],
    what=[
        "three classes",
        "one class",
        "one label",
        "other labels",
        "labels -1",
        "fractions",
        "1 axis",
        "3 axes",
        "columns",
        "none",
    ],
)
def binary_inputs(mx, name, what):
    pred = np.array([[0.3, 0.7], [0.0, 1.0], [0.4, 0.6], [0.9, 0.1]], "float32")
    label = np.array([0, 1, 1, 0], "float32")
    given = {
        "three classes": (np.array([0, 1, 2, 0]), _probabilities(1, (4, 3))),
        "one class": (label, pred[:, :1]),
        "one label": (np.ones(4), pred),
        "other labels": (np.array([0, 2, 2, 0]), pred),
        "labels -1": (np.array([-1, 1, 1, -1]), pred),
        "fractions": (np.array([0.2, 1.7, 1.0, 0.0]), pred),
        "1 axis": (label, pred[:, 1]),
        "3 axes": (label, pred[:, :, None]),
        "columns": (label[:, None], pred),
        "none": (np.zeros((0,)), np.zeros((0, 2))),
    }[what]
    metric = _made(mx, name)
    metric.update([mx.nd.array(given[0])], [mx.nd.array(given[1])])
    return metric.get(), _counts(metric)


@case(classes=[2, 3, 5, 8])
def pcc(mx, classes):
    metric = mx.metric.PCC()
    found = []
    for seed in range(3):
        label, pred = _labels(seed, (30,), classes), _probabilities(seed, (30, classes))
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
        label, pred = _labels(classes, (12,), classes), _probabilities(classes, (12, classes))
        metric.update([mx.nd.array(label)], [mx.nd.array(pred)])
        found.append([metric.get(), metric.get_global(), float(metric.k), metric.lcm, metric.gcm])
    metric.reset()
    return found, float(metric.k), metric.lcm, metric.get()


@case
def pcc_is_mcc_of_two_classes(mx):
    label, pred = _batch(mx, "MCC", 5, 20)
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
        label = _labels(seed, shape[0], 4)
        if ignore_label == -1:
            label.flat[:2] = -1
        metric.update([mx.nd.array(label)], [mx.nd.array(_probabilities(seed, shape[1]))])
        found.append([metric.get(), metric.get_global()])
    return found, _counts(metric), metric.get_config()


@case(axis=[-1, 0, 1, 2, 5])
def perplexity_axis(mx, axis):
    metric = mx.metric.Perplexity(None, axis)
    metric.update([mx.nd.array(_labels(2, (2, 3), 2))], [mx.nd.array(_probabilities(2, (2, 3, 2)))])
    return metric.get(), metric.get_config()


@case
def perplexity_of_ignored_labels_alone(mx):
    metric = mx.metric.Perplexity(1)
    metric.update([mx.nd.array([1, 1])], [mx.nd.array(_probabilities(2, (2, 3)))])
    return metric.get(), _counts(metric)


@case
def perplexity_of_several_outputs(mx):
    metric = mx.metric.Perplexity(0)
    labels = [mx.nd.array(_labels(seed, (5,), 3)) for seed in range(3)]
    metric.update(labels, [mx.nd.array(_probabilities(seed, (5, 3))) for seed in range(3)])
    return metric.get(), _counts(metric)


@case(name=["Perplexity", "CrossEntropy", "NegativeLogLikelihood"])
def probability_of_zero(mx, name):
    metric = _made(mx, name)
    metric.update([mx.nd.array([0, 1, 0])], [mx.nd.array([[0, 1], [0, 1], [1, 0]])])
    return metric.get()


@case(name=["Perplexity", "CrossEntropy", "NegativeLogLikelihood"], label=[2, -1, 1.5])
def labels_beyond(mx, name, label):
    metric = _made(mx, name)
    metric.update([mx.nd.array([0, 1, label])], [mx.nd.array([[0.1, 0.9], [0.3, 0.7], [0.8, 0.2]])])
    return metric.get()


@case(name=["CrossEntropy", "NegativeLogLikelihood"], eps=[0, 1e-3, 1.0])
def epsilon(mx, name, eps):
    metric = _made(mx, name, eps=eps)
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
    metric = _made(mx, name)
    metric.update([mx.nd.array(_labels(1, shapes[0], 4))], [mx.nd.array(_probabilities(1, shapes[1]))])
    return metric.get(), _counts(metric)


# MAE, MSE, RMSE, PearsonCorrelation


@case(
    name=["MAE", "MSE", "RMSE", "PearsonCorrelation"],
    shapes=[((4,), (4,)), ((4, 1), (4,)), ((4,), (4, 1)), ((4, 3), (4, 3)), ((4,), (4, 3)), ((2, 3, 2), (2, 3, 2))]
    + [((3, 1), (3, 4)), ((4, 3), (3, 4)), ((1,), (1,)), ((5,), (4,)), ((), ()), ((0,), (0,))],
)
def shapes_of_numbers(mx, name, shapes):
    metric = _made(mx, name)
    random = np.random.RandomState(3)
    label, pred = random.uniform(-1, 1, shapes[0]), random.uniform(-1, 1, shapes[1])
    metric.update([mx.nd.array(label)], [mx.nd.array(pred)])
    return metric.get(), _counts(metric)


@case(name=["MAE", "MSE", "RMSE", "PearsonCorrelation", "Loss"], value=["nan", "inf", "-inf", "1e30"])
def special_numbers(mx, name, value):
    metric = _made(mx, name)
    metric.update([mx.nd.array([1, 2, 3])], [mx.nd.array([1.5, float(value), 2])])
    return metric.get()


@case(average=["macro", "micro", "other"], shape=[(5,), (4, 3)])
def pearson(mx, average, shape):
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
    return found, _counts(metric), metric.get_config()


@case(average=["macro", "micro"])
def pearson_of_constants(mx, average):
    metric = mx.metric.PearsonCorrelation(average=average)
    metric.update([mx.nd.array([1, 1, 1])], [mx.nd.array([1, 2, 3])])
    return metric.get()


# Loss, CustomMetric, np


@case(preds=["list", "one", "two", "integers", "no axes", "tuple", "nested"], labels=[None, 0])
def loss(mx, preds, labels):
    first, second = mx.nd.array(_probabilities(1, (2, 3))), mx.nd.array([5, 6])
    given = {
        "list": [first],
        "one": first,
        "two": [first, second],
        "integers": second.astype("int32"),
        "no axes": second.sum(),
        "tuple": (first,),
        "nested": [[first]],
    }[preds]
    metric = mx.metric.Loss()
    metric.update(labels, given)
    return metric.get(), _counts(metric)


def difference(label, pred):
    return float(np.abs(label - pred).sum())


def difference_and_count(label, pred):
    return float(np.abs(label - pred).sum()), label.size


@case(feval=["number", "pair", "unnamed"], name=[None, "mine"], how=["CustomMetric", "np", "create"])
def custom(mx, feval, name, how):
    function = {"number": difference, "pair": difference_and_count, "unnamed": lambda label, pred: 2.0}[feval]
    metric = getattr(mx.metric, how)(function, name=name)
    found = [metric.get()]
    for seed in range(2):
        label, pred = _batch(mx, "MSE", seed)
        metric.update([label], [pred])
        found.append([metric.get(), metric.get_global()])
    metric.reset_local()
    return found, type(metric).__name__, str(metric), _counts(metric)


@case(allow_extra_outputs=[False, True], how=["CustomMetric", "np"])
def extra_outputs(mx, allow_extra_outputs, how):
    metric = getattr(mx.metric, how)(difference, allow_extra_outputs=allow_extra_outputs)
    label, pred = _batch(mx, "MSE", 0)
    metric.update([label], [pred, pred + 1])
    return metric.get()


@case(name=["output_names", "label_names"])
def custom_with_names(mx, name):
    metric = mx.metric.CustomMetric(difference, name="mine", **{name: ["b"]})
    label, pred = _batch(mx, "MSE", 0)
    metric.update_dict({"b": label, "a": pred}, {"b": pred, "a": label})
    return metric.get(), metric.name


@case
def custom_with_all_names(mx):
    metric = mx.metric.CustomMetric(difference, output_names=["b"], label_names=["a"])
    label, pred = _batch(mx, "MSE", 0)
    metric.update_dict({"b": label, "a": pred}, {"b": pred, "a": label})
    return metric.get(), metric.name


@case
def custom_returns_a_text(mx):
    metric = mx.metric.CustomMetric(lambda label, pred: "much")
    metric.update([mx.nd.array([1])], [mx.nd.array([1])])
    return metric.get()


@case(what=["get_config", "pickle"])
def custom_is_not_written(mx, what):
    metric = mx.metric.CustomMetric(difference)
    return metric.get_config() if what == "get_config" else len(pickle.dumps(metric)) > 0


@case
def function_for_custom(mx):
    metric = mx.metric.np(difference)
    return metric.name, metric._feval.__name__ if hasattr(metric, "_feval") else None


# CompositeEvalMetric


@case(metrics=["texts", "instances", "mixed", "none", "function", "composite"])
def composite(mx, metrics):
    given = {
        "texts": ["acc", "ce"],
        "instances": [mx.metric.Accuracy(), mx.metric.Perplexity(0)],
        "mixed": ["acc", mx.metric.Accuracy(name="other"), "nll_loss"],
        "none": None,
        "function": [lambda label, pred: 1.5],
        "composite": [mx.metric.CompositeEvalMetric(["acc", "ce"]), "acc"],
    }[metrics]
    metric = mx.metric.CompositeEvalMetric(given)
    label, pred = _batch(mx, "Accuracy", 0)
    metric.update([label], [pred])
    first = _state(metric)
    metric.reset_local()
    second = _state(metric)
    metric.reset()
    return first, second, _state(metric), len(metric.metrics)


@case
def composite_grows(mx):
    metric = mx.metric.CompositeEvalMetric()
    metric.add(mx.metric.Accuracy())
    metric.add("mse")
    metric.add(mx.metric.CustomMetric(difference))
    return metric.get(), [type(metric.get_metric(index)).__name__ for index in (0, 1, 2, -1)]


@case(index=[3, -4, "acc", None])
def composite_without_a_metric(mx, index):
    metric = mx.metric.CompositeEvalMetric(["acc", "mse"])
    found = metric.get_metric(index)
    return type(found).__name__, str(found)


@case(what=[1, "none such", {"metric": "acc"}, ("acc", "mse")])
def composite_of_another(mx, what):
    metric = mx.metric.CompositeEvalMetric()
    metric.add(what)
    return metric.get()


@case
def composite_configuration(mx):
    metric = mx.metric.CompositeEvalMetric(["acc", mx.metric.TopKAccuracy(3), mx.metric.Perplexity(2)], name="all")
    config = metric.get_config()
    again = mx.metric.create(json.dumps(config))
    return config, again.get(), type(again).__name__


@case
def composite_pickled(mx):
    metric = mx.metric.CompositeEvalMetric(["acc", "ce"])
    label, pred = _batch(mx, "Accuracy", 0)
    metric.update([label], [pred])
    return _state(pickle.loads(pickle.dumps(metric)))


@case(output_names=[None, ["b"]], label_names=[None, ["y"]])
def composite_dictionaries(mx, output_names, label_names):
    metric = mx.metric.CompositeEvalMetric(["mse", "mae"], output_names=output_names, label_names=label_names)
    metric.add(mx.metric.RMSE(output_names=["a"], label_names=["x"]))
    arrays = {name: mx.nd.array(_probabilities(seed, (3, 2))) for seed, name in enumerate(["a", "b", "x", "y"])}
    metric.update_dict({name: arrays[name] for name in "yx"}, {name: arrays[name] for name in "ab"})
    return metric.get()


# create, register, alias, check_label_shapes


@case(
    name=[
        "acc",
        "accuracy",
        "Accuracy",
        "ACC",
        "ce",
        "crossentropy",
        "cross-entropy",
        "nll_loss",
        "nll-loss",
        "pearsonr",
    ]
    + [
        "pcc",
        "top_k_acc",
        "topkaccuracy",
        "composite",
        "loss",
        "custommetric",
        "none such",
        "",
        "perplexity",
        "evalmetric",
    ]
)
def create(mx, name):
    metric = mx.metric.create(name)
    return type(metric).__name__, metric.name


@case(
    what=[
        "arguments",
        "positional",
        "list",
        "instance",
        "instance and arguments",
        "dictionary",
        "dictionary json",
        "list json",
    ]
    + ["number", "none", "class", "empty list", "tuple"]
)
def create_otherwise(mx, what):
    create = mx.metric.create
    metric = {
        "arguments": lambda: create("top_k_acc", top_k=4, name="mine"),
        "positional": lambda: create("top_k_acc", 3),
        "list": lambda: create(["acc", "f1", difference]),
        "instance": lambda: create(mx.metric.F1()),
        "instance and arguments": lambda: create(mx.metric.F1(), name="mine"),
        "dictionary": lambda: create({"metric": "topkaccuracy", "top_k": 3}),
        "dictionary json": lambda: create('{"metric": "topkaccuracy", "top_k": 3}'),
        "list json": lambda: create('["topkaccuracy", {"top_k": 3}]'),
        "number": lambda: create(3),
        "none": lambda: create(None),
        "class": lambda: create(mx.metric.F1),
        "empty list": lambda: create([]),
        "tuple": lambda: create(("acc", "f1")),
    }[what]()
    return type(metric).__name__, metric.get()


@case
def create_with_the_keyword(mx):
    return type(mx.metric.create(metric="acc")).__name__


@case(with_global=[True, False, None])
def own_metric(mx, with_global):
    more = {} if with_global is None else {"has_global_stats": with_global}

    class Sum(mx.metric.EvalMetric):
        def __init__(self, name="sum", power=2):
            super().__init__(name, power=power, **more)
            self.power = power

        def update(self, labels, preds):
            for pred in preds:
                value = float((pred**self.power).sum().asscalar())
                self.sum_metric += value
                self.num_inst += pred.size
                self.global_sum_metric += value
                self.global_num_inst += 2 * pred.size

    metric = Sum(power=3)
    metric.update(None, [mx.nd.array([1, 2, 3])])
    first = [_state(metric), metric.get_config()]
    metric.reset_local()
    second = [_state(metric), _counts(metric)]
    metric.update_dict({}, {"a": mx.nd.array([5])})
    third = [_state(metric), _counts(metric)]
    metric.reset()
    return first, second, third, _state(metric), _counts(metric)


@case
def registered_by_users(mx):
    @mx.metric.register
    @mx.metric.alias("mine", "AndMine")
    class OwnMetric(mx.metric.EvalMetric):
        def __init__(self, name="own", output_names=None, label_names=None):
            super().__init__(name, output_names, label_names)

    return [type(mx.metric.create(name)).__name__ for name in ("ownmetric", "mine", "andmine", "OwnMetric")]


@case
def register_what_is_no_metric(mx):
    mx.metric.register(dict)


@case
def base_has_no_update(mx):
    mx.metric.EvalMetric("base").update([], [])


@case
def base_arguments(mx):
    metric = mx.metric.EvalMetric("base", ["a"], ["b"], some=3, has_global_stats=True)
    return metric.get_config(), _state(metric)


@case
def several_names(mx):
    metric = mx.metric.EvalMetric(["a", "b"])
    metric.sum_metric, metric.num_inst = 3, 2
    return metric.get(), metric.get_name_value()


@case
def no_name(mx):
    mx.metric.EvalMetric()


@case(wrap=[False, True], shape=[False, True], given=["arrays", "lists", "apart", "longer"])
def label_shapes(mx, wrap, shape, given):
    one, other = mx.nd.zeros((2, 3)), mx.nd.zeros((2, 4))
    labels, preds = {
        "arrays": (one, one),
        "lists": ([one], [one]),
        "apart": (one, other),
        "longer": ([one, one], [one]),
    }[given]
    labels, preds = mx.metric.check_label_shapes(labels, preds, wrap, shape)
    return type(labels).__name__ == "list", type(preds).__name__ == "list", len(labels)


@case
def label_shapes_without_options(mx):
    return mx.metric.check_label_shapes([1, 2], [3, 4])
