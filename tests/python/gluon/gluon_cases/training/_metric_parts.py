"""What cases of metrics share: metrics with what they need, batches, and what a metric says."""

from __future__ import annotations

import re

import numpy as np

CLASSES = {
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
ALL = [*CLASSES, "EvalMetric", "CompositeEvalMetric", "CustomMetric"]
#: Metrics of two classes alone, and of numbers.
OF_TWO = ["F1", "MCC"]
OF_NUMBERS = ["MAE", "MSE", "RMSE", "PearsonCorrelation", "Loss"]


def made(mx, which, /, **more):
    return getattr(mx.metric, which)(**{**CLASSES[which], **more})


def probabilities(seed, shape, dtype="float32"):
    random = np.random.RandomState(seed)
    numbers = random.uniform(0.05, 1, shape)
    return (numbers / numbers.sum(-1, keepdims=True)).astype(dtype)


def classes_of(seed, shape, classes, dtype="float32"):
    return np.random.RandomState(seed + 100).randint(0, classes, shape).astype(dtype)


def batch(mx, name, seed, count=9):
    """Labels and predictions that suit a metric."""
    if name in OF_NUMBERS:
        random = np.random.RandomState(seed)
        label, pred = random.uniform(-1, 1, (2, count, 3)).astype("float32")
        return mx.nd.array(label), mx.nd.array(pred)
    classes = 2 if name in OF_TWO else 4
    return mx.nd.array(classes_of(seed, (count,), classes)), mx.nd.array(probabilities(seed, (count, classes)))


def state(metric):
    text = re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.4f}", str(metric))
    return [metric.get(), metric.get_global(), metric.get_name_value(), metric.get_global_name_value(), text]


def counts(metric):
    return [
        float(each) for each in (metric.num_inst, metric.sum_metric, metric.global_num_inst, metric.global_sum_metric)
    ]
