"""Checks of metrics."""

from __future__ import annotations

import importlib
from typing import Any

from mxlite._public import show

__all__: list[str] = []


def metric_module() -> Any:
    """mx.metric, which is imported when an estimator is first made."""
    return importlib.import_module("mxlite.metric")


def metric_list(metrics: Any) -> list:
    """The metrics of one, of a list, or of a CompositeEvalMetric. Raises: ValueError: something else."""
    if isinstance(metrics, metric_module().CompositeEvalMetric):
        return [each for inner in metrics.metrics for each in metric_list(inner)]
    found = list(metrics) if isinstance(metrics, (list, tuple)) else [] if metrics is None else [metrics]
    if not all(isinstance(each, metric_module().EvalMetric) for each in found):
        raise ValueError(f"metrics are objects of mx.metric.EvalMetric, alone or in a list, not {metrics}")
    return found


def check_known(handler: Any, metrics: list, known: list) -> None:
    """Raises: ValueError: a handler reads a metric that the estimator does not update."""
    for each in metrics:
        if not any(each is other for other in known):
            raise ValueError(
                f"event handler {type(handler).__name__} has a metric {each} that is none of "
                "estimator.train_metrics and estimator.val_metrics"
            )


show(globals())
