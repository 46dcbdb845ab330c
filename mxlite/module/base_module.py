"""BaseModule: training, scoring and prediction over what a module computes."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from mxlite import metric, ndarray
from mxlite._notebook import live, progress
from mxlite._public import show
from mxlite.callback import Live
from mxlite.context import cpu
from mxlite.error import WrongStateError, WrongValueError
from mxlite.initializer import Uniform
from mxlite.io import DataBatch, DataDesc
from mxlite.model import BatchEndParam
from mxlite.ndarray.ndarray import NDArray

__all__ = ["BaseModule"]


def _as_list(given: Any) -> list:
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _check_input_names(symbol: Any, names: Sequence[str], typename: str, throw: bool) -> None:
    """Raises or warns where a name is none of the symbol's arguments. Raises: ValueError."""
    arguments = symbol.list_arguments()
    ends = ("_weight", "_bias", "_gamma", "_beta")
    for name in names:
        if name in arguments:
            continue
        likely = "\n\t".join(each for each in arguments if not each.endswith(ends))
        message = (
            f"Module: {typename}={names}, but the symbol has no argument '{name}'. Perhaps one of these is meant:"
            f"\n\t{likely}"
        )
        if throw:
            raise ValueError(message)
        warnings.warn(message, stacklevel=4)


def _check_names_match(names: Sequence[str], shapes: Any, kind: str, throw: bool) -> None:
    """Raises or warns where the described arrays are not those named. Raises: ValueError."""
    given = [each[0] for each in shapes]
    if sorted(names) == sorted(given):
        return
    message = f"{kind}_shapes has {shapes}, {kind}_names has {names}"
    if throw:
        raise ValueError(message)
    warnings.warn(message, stacklevel=4)


def _parse_data_desc(data_names: Any, label_names: Any, data_shapes: Any, label_shapes: Any) -> tuple[list, Any]:
    """Descriptions of data and labels, checked. Raises: ValueError: names of data that are not expected."""
    data = [each if isinstance(each, DataDesc) else DataDesc(*each) for each in data_shapes]
    _check_names_match(data_names, data, "data", True)
    if label_shapes is None:
        _check_names_match(label_names, [], "label", False)
        return data, None
    labels = [each if isinstance(each, DataDesc) else DataDesc(*each) for each in label_shapes]
    _check_names_match(label_names, labels, "label", False)
    return data, labels


class BaseModule:
    """What computes and is trained: `bind`, `init_params`, `init_optimizer`, then `fit`, `score` and `predict`.

    Attributes:
        binded, params_initialized, optimizer_initialized: how far it is. for_training, inputs_need_grad: as bound.
    """

    def __init__(self, logger: Any = logging) -> None:
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol: Any = None

    def _ready(self, optimizer: bool = False) -> None:
        """Raises: MXNetError: it is not bound, or has no parameters, or (where it is needed) no optimizer."""
        if not self.binded:
            raise WrongStateError("call bind before")
        if not self.params_initialized:
            raise WrongStateError("call init_params before")
        if optimizer and not self.optimizer_initialized:
            raise WrongStateError("call init_optimizer before")

    # ---- one step ----

    def forward_backward(self, data_batch: DataBatch) -> None:
        """forward(is_train=True), then backward()."""
        self.forward(data_batch, is_train=True)
        self.backward()

    # ---- many batches ----

    def score(
        self,
        eval_data: Any,
        eval_metric: Any,
        num_batch: int | None = None,
        batch_end_callback: Any = None,
        score_end_callback: Any = None,
        reset: bool = True,
        epoch: int = 0,
        sparse_row_id_fn: Any = None,
    ) -> list[tuple[str, float]]:
        """The metric over the batches of an iterator: names and values.

        Args:
            num_batch: how many batches at most. reset: whether the iterator begins anew.
            batch_end_callback, score_end_callback: called with a BatchEndParam, one or a list of them.
        """
        self._ready()
        if reset:
            eval_data.reset()
        eval_metric = metric.create(eval_metric)
        eval_metric.reset()
        actual_num_batch = 0
        for nbatch, eval_batch in enumerate(self._shown(eval_data, f"Epoch {epoch} validation", num_batch)):
            if nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            self._measure(eval_metric, eval_batch)
            _call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            actual_num_batch += 1
        _call_all(score_end_callback, BatchEndParam(epoch, actual_num_batch, eval_metric, locals()))
        return eval_metric.get_name_value()

    def _measure(self, eval_metric: Any, batch: Any) -> None:
        if isinstance(batch, list):
            self.update_metric(eval_metric, [each.label for each in batch], pre_sliced=True)
        else:
            self.update_metric(eval_metric, batch.label)

    def iter_predict(
        self, eval_data: Any, num_batch: int | None = None, reset: bool = True, sparse_row_id_fn: Any = None
    ) -> Iterator[tuple[list[NDArray], int, DataBatch]]:
        """For each batch: its outputs without the padding, its number, and it."""
        self._ready()
        if reset:
            eval_data.reset()
        for nbatch, eval_batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            pad = eval_batch.pad or 0
            outputs = [each[0 : each.shape[0] - pad] for each in self.get_outputs()]
            yield outputs, nbatch, eval_batch

    def predict(
        self,
        eval_data: Any,
        num_batch: int | None = None,
        merge_batches: bool = True,
        reset: bool = True,
        always_output_list: bool = False,
        sparse_row_id_fn: Any = None,
    ) -> Any:
        """The outputs over all batches of an iterator, or for an array.

        Args:
            merge_batches: whether the batches' outputs are joined; else a list of lists.
            always_output_list: whether a lone output is in a list, too.
        Raises: ValueError: neither iterator nor array; MXNetError: batches have different numbers of outputs.
        """
        self._ready()
        if isinstance(eval_data, NDArray) or hasattr(eval_data, "__array_interface__"):
            array = eval_data if isinstance(eval_data, NDArray) else ndarray.array(eval_data, dtype=eval_data.dtype)
            self.forward(DataBatch([array]), is_train=False)
            return self.get_outputs()[0]
        if not hasattr(eval_data, "reset"):
            raise ValueError("eval_data is an NDArray or a DataIter")
        batches = [
            [each.copy() for each in outputs]
            for outputs, _, _ in self.iter_predict(eval_data, num_batch, reset, sparse_row_id_fn)
        ]
        if not batches or not merge_batches:
            return batches
        if any(len(each) != len(batches[0]) for each in batches):
            raise WrongStateError("predict: batches with different numbers of outputs cannot be merged")
        merged = [ndarray.concatenate(list(each)) for each in zip(*batches)]
        return merged[0] if len(merged) == 1 and not always_output_list else merged

    def fit(
        self,
        train_data: Any,
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        eval_end_callback: Any = None,
        eval_batch_end_callback: Any = None,
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        arg_params: dict[str, NDArray] | None = None,
        aux_params: dict[str, NDArray] | None = None,
        allow_missing: bool = False,
        force_rebind: bool = False,
        force_init: bool = False,
        begin_epoch: int = 0,
        num_epoch: int | None = None,
        validation_metric: Any = None,
        monitor: Any = None,
        sparse_row_id_fn: Any = None,
    ) -> None:
        """Trains for `num_epoch` epochs, and logs the metric of each; binds and initializes before, as need be.

        Args:
            train_data, eval_data: iterators; the metric of the second is measured after each epoch.
            batch_end_callback: called with a BatchEndParam; epoch_end_callback: with the epoch, the symbol, arguments
                and auxiliary states.
            validation_metric: for eval_data, instead of eval_metric.
            monitor: a Monitor of the executors.
        Raises: ValueError: no number of epochs.
        """
        if num_epoch is None:
            raise WrongValueError("fit: num_epoch is missing")
        shapes = {"data_shapes": train_data.provide_data, "label_shapes": train_data.provide_label}
        self.bind(**shapes, for_training=True, force_rebind=force_rebind)
        if monitor is not None:
            self.install_monitor(monitor)
        given = {"arg_params": arg_params, "aux_params": aux_params, "allow_missing": allow_missing}
        self.init_params(initializer=initializer, **given, force_init=force_init)
        self.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params)
        validation_metric = eval_metric if validation_metric is None else validation_metric
        eval_metric = metric.create(eval_metric)
        if live.wanted([*_as_list(batch_end_callback), *_as_list(eval_end_callback)]):
            line = Live()
            batch_end_callback = [*_given(batch_end_callback), line]
            eval_end_callback = [*_given(eval_end_callback), line.validated]
        for epoch in range(begin_epoch, num_epoch):
            begin = time.time()
            eval_metric.reset()
            values = self._train_epoch(epoch, train_data, eval_metric, batch_end_callback, monitor, sparse_row_id_fn)
            for name, value in values:
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - begin)
            arg_params, aux_params = self.get_params()
            self.set_params(arg_params, aux_params)
            _call_all(epoch_end_callback, epoch, self.symbol, arg_params, aux_params)
            del arg_params, aux_params
            if eval_data is not None:
                ends = {"score_end_callback": eval_end_callback, "batch_end_callback": eval_batch_end_callback}
                for name, value in self.score(eval_data, validation_metric, epoch=epoch, **ends):
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
            train_data.reset()

    def _train_epoch(
        self, epoch: int, train_data: Any, eval_metric: Any, callbacks: Any, monitor: Any, rows: Any
    ) -> list[tuple[str, float]]:
        """Trains on all batches once; the metric's names and values over them all."""
        values: list[tuple[str, float]] = []
        watched = any(isinstance(each, live.Live) for each in _given(callbacks))
        batches = iter(train_data if watched else self._shown(train_data, f"Epoch {epoch}"))
        following = next(batches, None)
        nbatch = 0
        while following is not None:
            data_batch = following
            if monitor is not None:
                monitor.tic()
            self.forward_backward(data_batch)
            self.update()
            self._measure(eval_metric, data_batch)
            following = next(batches, None)
            if following is not None:
                self.prepare(following, sparse_row_id_fn=rows)
            else:
                values = eval_metric.get_global_name_value()
            if monitor is not None:
                monitor.toc_print()
            _call_all(callbacks, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            nbatch += 1
        for each in _given(callbacks):
            if isinstance(each, live.Live):
                each.show()
        return values

    def _shown(self, data: Any, what: str, most: int | None = None) -> Any:
        """The batches of an iterator, behind a bar where one is seen."""
        samples, size = getattr(data, "num_data", None), getattr(data, "batch_size", None)
        known = [most] if isinstance(most, int) else []
        if isinstance(samples, int) and isinstance(size, int) and size > 0:
            known.append(-(-samples // size))
        total = min(known, default=None)
        return progress.over(data, what, total, [self.logger])

    # ---- files ----

    def save_params(self, fname: str) -> None:
        """Writes parameters and states to a file, as 1.9.1 does: names begin with "arg:" or "aux:"."""
        arg_params, aux_params = self.get_params()
        held = {f"arg:{name}": each.as_in_context(cpu()) for name, each in arg_params.items()}
        held.update({f"aux:{name}": each.as_in_context(cpu()) for name, each in aux_params.items()})
        ndarray.save(fname, held)

    def load_params(self, fname: str) -> None:
        """Reads such a file. Raises: ValueError: another kind of file."""
        found: dict[str, dict[str, NDArray]] = {"arg": {}, "aux": {}}
        for key, each in ndarray.load(fname).items():
            kind, _, name = key.partition(":")
            if kind not in found:
                raise ValueError(f"Invalid param file {fname}")
            found[kind][name] = each
        self.set_params(found["arg"], found["aux"])

    # ---- what kinds of modules do in their own way ----

    @property
    def symbol(self) -> Any:
        """The symbol."""
        return self._symbol

    @property
    def data_names(self) -> list[str]:
        """The names of the data."""
        raise NotImplementedError

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        raise NotImplementedError

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data."""
        raise NotImplementedError

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels."""
        raise NotImplementedError

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """The names and shapes of the outputs."""
        raise NotImplementedError

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """The parameters and the auxiliary states by name."""
        raise NotImplementedError

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        arg_params: dict[str, NDArray] | None = None,
        aux_params: dict[str, NDArray] | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Gives parameters and states their values: those in the dictionaries, or by the initializer.

        Args:
            allow_missing: the dictionaries may lack some. force_init: also where they have values.
            allow_extra: the dictionaries may hold more.
        """
        raise NotImplementedError

    def set_params(
        self,
        arg_params: dict[str, NDArray],
        aux_params: dict[str, NDArray],
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Gives parameters and states values."""
        flags = {"allow_missing": allow_missing, "force_init": force_init, "allow_extra": allow_extra}
        self.init_params(initializer=None, arg_params=arg_params, aux_params=aux_params, **flags)

    def prepare(self, data_batch: DataBatch, sparse_row_id_fn: Any = None) -> None:
        """Is told of the next batch."""

    def forward(self, data_batch: DataBatch, is_train: bool | None = None) -> None:
        """Computes the outputs; `is_train` None: as bound."""
        raise NotImplementedError

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients."""
        raise NotImplementedError

    def get_outputs(self, merge_multi_context: bool = True) -> list:
        """The outputs of the last forward."""
        raise NotImplementedError

    def get_input_grads(self, merge_multi_context: bool = True) -> list:
        """The gradients of the data."""
        raise NotImplementedError

    def get_states(self, merge_multi_context: bool = True) -> list:
        """The states; most modules have none."""
        self._ready()
        return []

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Writes the states."""
        self._ready()

    def update(self) -> None:
        """Updates the parameters by the gradients."""
        raise NotImplementedError

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the last outputs to a metric."""
        raise NotImplementedError

    def install_monitor(self, mon: Any) -> None:
        """Installs a Monitor in the executors."""
        raise NotImplementedError

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
        """Makes the arrays and executors for these shapes."""
        raise NotImplementedError

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        force_init: bool = False,
    ) -> None:
        """Makes the optimizer, and the store that adds up gradients."""
        raise NotImplementedError


def _given(callbacks: Any) -> list:
    """The callbacks of none, of one or of a list."""
    return [] if callbacks is None else _as_list(callbacks)


def _call_all(callbacks: Any, *arguments: Any) -> None:
    for callback in _given(callbacks):
        callback(*arguments)


show(globals())
