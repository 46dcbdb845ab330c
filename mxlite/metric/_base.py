"""The base class of metrics, several of them as one, and those that a function computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable

import numpy as np

from mxlite import registry
from mxlite._public import show
from mxlite.error import WrongTypeError
from mxlite.ndarray._kinds import as_kind
from mxlite.ndarray.ndarray import NDArray


class EvalMetric:
    """A number that says how good predictions are, as a sum over a count; subclasses add to both in `update`.

    There are two pairs: `sum_metric` and `num_inst` since the last `reset` or `reset_local`, `global_sum_metric` and
    `global_num_inst` since the last `reset`.

    Args:
        name: What `get` calls it.
        output_names: Which of the predictions `update_dict` reads, in this order. None: all.
        label_names: The same of the labels.
        kwargs: What `get_config` lists too; `has_global_stats` says whether `update` keeps the global pair, and is not
            listed.
    """

    num_inst: float
    sum_metric: Any
    global_num_inst: float
    global_sum_metric: Any

    def __init__(
        self,
        name: Any,
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
        **kwargs: Any,
    ) -> None:
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.reset()

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self) -> dict[str, Any]:
        """The arguments of which `mx.metric.create` makes such a metric again, as JSON too."""
        return {
            **self._kwargs,
            "metric": type(self).__name__,
            "name": self.name,
            "output_names": self.output_names,
            "label_names": self.label_names,
        }

    def update_dict(self, label: Mapping[str, NDArray], pred: Mapping[str, NDArray]) -> None:
        """Adds one batch, whose arrays have names.

        Raises: KeyError: a name that the metric reads is missing.
        """
        self.update(_chosen(label, self.label_names), _chosen(pred, self.output_names))

    def update(self, labels: Any, preds: Any) -> None:
        """Adds one batch: lists of labels and of predictions, or one array of each."""
        raise NotImplementedError(f"{type(self).__name__} has no update")

    def reset(self) -> None:
        """Begins anew."""
        self.global_num_inst = 0
        self.global_sum_metric = 0.0
        self.reset_local()

    def reset_local(self) -> None:
        """Begins the local pair anew, and leaves the global one."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def get(self) -> tuple[Any, Any]:
        """The name and the value since the last `reset_local`; NaN: there is none."""
        return self.name, self._value(self.sum_metric, self.num_inst)

    def get_global(self) -> tuple[Any, Any]:
        """The same since the last `reset`."""
        if not self._has_global_stats:
            return self.get()
        return self.name, self._value(self.global_sum_metric, self.global_num_inst)

    def get_name_value(self) -> list[tuple[str, Any]]:
        """What `get` returns, as a list of pairs."""
        return _as_pairs(*self.get())

    def get_global_name_value(self) -> list[tuple[str, Any]]:
        """What `get_global` returns, as a list of pairs."""
        return _as_pairs(*self.get_global())

    def _value(self, total: Any, count: float) -> float:
        return total / count if count else float("nan")

    def _add(self, total: float, count: float) -> None:
        self.sum_metric += total
        self.num_inst += count
        self.global_sum_metric += total
        self.global_num_inst += count


class _PerPair(EvalMetric):
    """A metric to which each label with its prediction adds what `_measure` makes of them: a sum and a count."""

    def __init__(self, name: Any, *names: list[str] | None, **kwargs: Any) -> None:
        super().__init__(name, *names, has_global_stats=True, **kwargs)

    def _measure(self, label: NDArray, pred: NDArray) -> tuple[float, float]:
        raise NotImplementedError

    def update(self, labels: Any, preds: Any) -> None:
        """Adds one batch: lists of labels and of predictions, or one array of each.

        Raises: ValueError: there is another number of labels than of predictions, or the shapes of a pair do not fit.
        """
        for measured in [self._measure(*pair) for pair in pairs(labels, preds)]:
            self._add(*measured)


def _chosen(arrays: Mapping[str, NDArray], names: list[str] | None) -> list[NDArray]:
    return list(arrays.values()) if names is None else [arrays[name] for name in names]


def _as_pairs(names: Any, values: Any) -> list[tuple[str, Any]]:
    return list(zip(*(each if isinstance(each, list) else [each] for each in (names, values))))


def check_label_shapes(labels: Any, preds: Any, wrap: bool = False, shape: bool = False) -> tuple[Any, Any]:
    """Labels and predictions as they are, when their lengths are equal.

    Args:
        wrap: A single array becomes a list of one.
        shape: Compare shapes, not lengths.

    Raises: ValueError: they differ.
    """
    sizes = [each.shape if shape else len(each) for each in (labels, preds)]
    if sizes[0] != sizes[1]:
        raise ValueError(f"labels have shape {sizes[0]}, predictions {sizes[1]}")
    return (listed(labels), listed(preds)) if wrap else (labels, preds)


def listed(arrays: Any) -> Any:
    """Arrays as a list, one of them too; those of `mx.np` as arrays of `mx.nd`."""
    return as_kind([arrays] if isinstance(arrays, NDArray) else arrays, NDArray)


def pairs(labels: Any, preds: Any) -> Iterator[tuple[NDArray, NDArray]]:
    """Each label with its prediction. Raises: ValueError: one has no partner."""
    return zip(*check_label_shapes(listed(labels), listed(preds)))


def values(array: NDArray) -> np.ndarray:
    """The values of an array, to be read alone. Raises: TypeError: it is not an NDArray."""
    if not isinstance(array, NDArray):
        raise WrongTypeError(f"a metric takes NDArrays, got {type(array).__name__}")
    return np.asarray(array)


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")
_create = registry.get_create_func(EvalMetric, "metric")


def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """A metric by its registered name, of a function `(label, pred) -> number`, or of a list of these.

    Args:
        metric: Also an instance, a dictionary of `get_config`, or JSON of one.
        args, kwargs: The constructor's other arguments; of a list, those of each.

    Raises: ValueError: there is no such metric.
    """
    if callable(metric):
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list):
        return CompositeEvalMetric([create(each, *args, **kwargs) for each in metric])
    return _create(metric, *args, **kwargs)


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics that are updated together; its name and value are lists.

    Args:
        metrics: What `create` takes, for each. None: none yet, see `add`.
    """

    def __init__(
        self,
        metrics: Sequence[Any] | None = None,
        name: str = "composite",
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        self.metrics = [create(each) for each in metrics or ()]
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def add(self, metric: Any) -> None:
        """Appends a metric: what `create` takes."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """A metric by its position. Raises: ValueError: there is none."""
        try:
            return self.metrics[index]
        except IndexError:
            raise ValueError(f"there is no metric {index}; there are {len(self.metrics)}") from None

    def update_dict(  # type: ignore[override]
        self, labels: Mapping[str, NDArray], preds: Mapping[str, NDArray]
    ) -> None:
        """Adds one batch, whose arrays have names; the metrics see those that `label_names`, `output_names` list."""
        labels, preds = (
            arrays if names is None else {name: array for name, array in arrays.items() if name in names}
            for arrays, names in ((labels, self.label_names), (preds, self.output_names))
        )
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels: Any, preds: Any) -> None:
        """Adds one batch to each metric."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self) -> None:
        """Begins each metric anew."""
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        """Begins the local value of each metric anew."""
        for metric in self.metrics:
            metric.reset_local()

    def get(self) -> tuple[list[str], list[Any]]:
        """The names and the values since the last `reset_local`."""
        return _joined(metric.get() for metric in self.metrics)

    def get_global(self) -> tuple[list[str], list[Any]]:
        """The same since the last `reset`."""
        return _joined(metric.get_global() for metric in self.metrics)

    def get_config(self) -> dict[str, Any]:
        """The arguments, with the configuration of each metric as `metrics`."""
        return {**super().get_config(), "metrics": [metric.get_config() for metric in self.metrics]}


def _joined(found: Iterator[tuple[Any, Any]]) -> tuple[list[str], list[Any]]:
    every = [pair for each in found for pair in _as_pairs(*each)]
    return [name for name, _ in every], [value for _, value in every]


@register
class CustomMetric(EvalMetric):
    """What a function of a label and a prediction, NumPy arrays, returns: a number to average, or a sum and a count.

    Args:
        name: None: the function's.
        allow_extra_outputs: Predictions without a label are not an error.
    """

    def __init__(
        self,
        feval: Callable[[np.ndarray, np.ndarray], Any],
        name: str | None = None,
        allow_extra_outputs: bool = False,
        output_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        if name is None:
            name = feval.__name__
            name = f"custom({name})" if "<" in name else name
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Adds what the function returns for each label with its prediction."""
        found = zip(listed(labels), listed(preds)) if self._allow_extra_outputs else pairs(labels, preds)
        for label, pred in found:
            result = self._feval(values(label).copy(), values(pred).copy())
            self._add(*(result if isinstance(result, tuple) else (result, 1)))

    def get_config(self) -> dict[str, Any]:
        """Nothing: a function has no text. Raises: NotImplementedError: always."""
        raise NotImplementedError("CustomMetric: a function of the user's cannot be written down")


show(globals())
