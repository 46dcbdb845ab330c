"""Modules written in Python: without parameters, for losses and such, as parts of a SequentialModule."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from mxlite import ndarray
from mxlite._public import show
from mxlite.error import WrongStateError, WrongTypeError, WrongValueError
from mxlite.io import DataBatch
from mxlite.module.base_module import BaseModule
from mxlite.ndarray.ndarray import NDArray

__all__ = ["PythonLossModule", "PythonModule"]


class PythonModule(BaseModule):
    """A module without parameters; a subclass writes `_compute_output_shapes`, `forward` and `backward`.

    Args:
        data_names, label_names, output_names: of what it takes and gives; `label_names` may be None.
    """

    def __init__(
        self,
        data_names: Sequence[str],
        label_names: Sequence[str] | None,
        output_names: Sequence[str],
        logger: Any = logging,
    ) -> None:
        super().__init__(logger=logger)
        self._data_names = list(data_names)
        self._label_names = label_names if label_names is None else list(label_names)
        self._output_names = output_names
        self._data_shapes: Any = None
        self._label_shapes: Any = None
        self._output_shapes: Any = None

    @property
    def data_names(self) -> list[str]:
        """The names of the data."""
        return self._data_names

    @property
    def output_names(self) -> Any:
        """The names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> Any:
        """The data as bound."""
        return self._data_shapes

    @property
    def label_shapes(self) -> Any:
        """The labels as bound."""
        return self._label_shapes

    @property
    def output_shapes(self) -> Any:
        """The names and shapes of the outputs."""
        return self._output_shapes

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """No parameters and no states."""
        return {}, {}

    def init_params(self, *args: Any, **kwargs: Any) -> None:
        """Does nothing but note it."""
        self.params_initialized = self.binded or self.params_initialized

    def init_optimizer(self, *args: Any, **kwargs: Any) -> None:
        """Does nothing but note it."""
        self.optimizer_initialized = self.binded or self.optimizer_initialized

    def update(self) -> None:
        """Does nothing."""

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the outputs to a metric, where there are labels."""
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise RuntimeError("a PythonModule takes no labels in slices")
        eval_metric.update(labels, self.get_outputs())

    def bind(
        self,
        data_shapes: Any,
        label_shapes: Any = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Notes the shapes. Raises: ValueError: names that are not those expected, or another grad_req."""
        if self.binded and not force_rebind:
            self.logger.warning("bind(): this module is bound already, nothing changes")
            return
        if grad_req != "write":
            raise WrongValueError("a PythonModule has grad_req 'write'")
        if [each[0] for each in data_shapes] != self._data_names:
            raise WrongValueError(f"the data are {data_shapes}, expected {self._data_names}")
        if label_shapes is not None and [each[0] for each in label_shapes] != self._label_names:
            raise WrongValueError(f"the labels are {label_shapes}, expected {self._label_names}")
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._data_shapes, self._label_shapes = data_shapes, label_shapes
        self._output_shapes = self._compute_output_shapes()
        self.binded = True

    def _compute_output_shapes(self) -> Any:
        """The names and shapes of the outputs, from those of data and labels; a subclass writes it."""
        raise NotImplementedError


class PythonLossModule(PythonModule):
    """A loss over scores: its output is the scores, its backward gives their gradients.

    Args:
        grad_func: the gradients, as an NDArray or a NumPy array, from scores and labels; a subclass may write
            `_backward_impl` instead.
    """

    def __init__(
        self,
        name: str = "pyloss",
        data_names: Sequence[str] = ("data",),
        label_names: Sequence[str] = ("softmax_label",),
        logger: Any = logging,
        grad_func: Callable[[NDArray, NDArray], Any] | None = None,
    ) -> None:
        super().__init__(data_names, label_names, [f"{name}_output"], logger=logger)
        if len(data_names) != 1 or len(label_names) != 1:
            raise WrongValueError("a loss has one array of scores and one of labels")
        if grad_func is not None and not callable(grad_func):
            raise WrongTypeError("grad_func must be a function of scores and labels")
        self._name = name
        self._scores: Any = None
        self._labels: Any = None
        self._scores_grad: Any = None
        self._grad_func = grad_func

    def _compute_output_shapes(self) -> Any:
        return [(f"{self._name}_output", self._data_shapes[0][1])]

    def forward(self, data_batch: DataBatch, is_train: bool | None = None) -> None:
        """Keeps the scores, and in training the labels."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context: bool = True) -> list:
        """The scores."""
        if not merge_multi_context:
            raise WrongValueError("a PythonLossModule has one context")
        return [self._scores]

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients of scores. Raises: ValueError: gradients of a loss; MXNetError: not in training."""
        if out_grads is not None:
            raise WrongValueError("a loss takes no out_grads")
        if not self.for_training:
            raise WrongStateError("backward: bind with for_training=True")
        self._backward_impl()

    def _backward_impl(self) -> None:
        if self._grad_func is None:
            raise NotImplementedError("PythonLossModule: give grad_func, or write _backward_impl")
        grad = self._grad_func(self._scores, self._labels)
        self._scores_grad = grad if isinstance(grad, NDArray) else ndarray.array(np.asarray(grad))

    def get_input_grads(self, merge_multi_context: bool = True) -> list:
        """The gradients of the scores."""
        if not merge_multi_context:
            raise WrongValueError("a PythonLossModule has one context")
        return [self._scores_grad]

    def install_monitor(self, mon: Any) -> None:
        """Raises: NotImplementedError: there are no executors."""
        raise NotImplementedError("a PythonLossModule has no executors to monitor")


show(globals())
