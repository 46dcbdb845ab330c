"""`mx.model.FeedForward`: a network that one call trains on arrays or an iterator, from before `mx.mod.Module`."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Callable

import numpy as np

from mxlite import context, io, metric, ndarray
from mxlite import optimizer as opt
from mxlite.callback import LogValidationMetricsCallback
from mxlite.context import Context
from mxlite.error import WrongStateError, WrongValueError
from mxlite.executor_manager import DataParallelExecutorManager, _check_arguments, _load_data
from mxlite.initializer import InitDesc, Uniform
from mxlite.model._checkpoint import BatchEndParam, Params, load_checkpoint, save_checkpoint
from mxlite.model._updates import _create_kvstore, _initialize_kvstore, _update_params, _update_params_on_kvstore
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import Symbol


def _multiple_callbacks(callbacks: Any, *args: Any, **kwargs: Any) -> None:
    """Calls a callback, or each of a list; None: nothing."""
    if isinstance(callbacks, list):
        for each in callbacks:
            _multiple_callbacks(each, *args, **kwargs)
    elif callbacks:
        callbacks(*args, **kwargs)


class FeedForward:
    """A symbol with its parameters, trained by `fit`, which `predict` and `score` use. `mx.mod.Module` can do more.

    Args:
        symbol: the network with its loss, or a function that makes it from the key of a bucket.
        ctx: a device or several; None: the current one.
        num_epoch: where training ends. begin_epoch: the number of its first epoch.
        epoch_size: how many batches an epoch has; None: all of the iterator's.
        optimizer: a name, with its parameters in `kwargs`, or an Optimizer.
        numpy_batch_size: of arrays that are given in place of iterators.
        arg_params, aux_params: values of parameters and states; the initializer makes the others.
        allow_extra_params: whether they may have names that the symbol lacks, which are left out.
    """

    def __init__(
        self,
        symbol: Any,
        ctx: Context | Sequence[Context] | None = None,
        num_epoch: int | None = None,
        epoch_size: int | None = None,
        optimizer: Any = "sgd",
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        numpy_batch_size: int = 128,
        arg_params: Params | None = None,
        aux_params: Params | None = None,
        allow_extra_params: bool = False,
        begin_epoch: int = 0,
        **kwargs: Any,
    ) -> None:
        warnings.warn("mx.model.FeedForward is deprecated: use mx.mod.Module", DeprecationWarning, stacklevel=2)
        self.symbol: Any = symbol if isinstance(symbol, Symbol) else None
        self.sym_gen = None if isinstance(symbol, Symbol) else symbol
        self.arg_params, self.aux_params = arg_params, aux_params
        self.allow_extra_params = allow_extra_params
        self.argument_checked = False
        if self.sym_gen is None:
            self._check_arguments()
        if ctx is None:
            ctx = context.current_context()
        self.ctx: list[Context] = [ctx] if isinstance(ctx, Context) else list(ctx)
        self.num_epoch, self.epoch_size, self.begin_epoch = num_epoch, epoch_size, begin_epoch
        self.optimizer, self.kwargs, self.initializer = optimizer, kwargs.copy(), initializer
        self.numpy_batch_size = numpy_batch_size
        self._pred_exec: Any = None

    def _check_arguments(self) -> None:
        """Refuses names that come twice, once; leaves out what the symbol lacks, if it may be there."""
        if self.argument_checked:
            return
        _check_arguments(self.symbol)
        self.argument_checked = True
        if self.allow_extra_params:
            for kind, names in (
                ("arg_params", self.symbol.list_arguments()),
                ("aux_params", self.symbol.list_auxiliary_states()),
            ):
                held = getattr(self, kind)
                if held:
                    setattr(self, kind, {name: each for name, each in held.items() if name in names})

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_pred_exec": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    # ---- data ----

    def _init_iter(self, X: Any, y: Any, is_train: bool) -> Any:  # noqa: N803 - 1.9.1's name
        """An iterator itself, or one over arrays.

        Raises: TypeError: neither; ValueError: labels that are missing, not one for each row, or not numbers.
        """
        if isinstance(X, io.DataIter):
            return X
        if not isinstance(X, (np.ndarray, NDArray)):
            raise TypeError(f"X must be a DataIter, an NDArray or a NumPy array, got {type(X).__name__}")
        if y is None:
            if is_train:
                raise ValueError("fit: labels (y) are needed for an array X")
            y = np.zeros(X.shape[0])
        labels = y.asnumpy() if isinstance(y, NDArray) else np.asarray(y)
        if labels.shape[:1] != X.shape[:1]:
            raise ValueError(f"there must be a label for each of the {X.shape[0]} rows, got shape {labels.shape}")
        if labels.ndim == 2 and labels.shape[1] == 1:
            labels = labels.ravel()
        if labels.ndim != 1:
            raise ValueError(f"labels must have one axis, or a second one of size 1, got shape {labels.shape}")
        size = min(X.shape[0], self.numpy_batch_size)
        more = {"shuffle": True, "last_batch_handle": "roll_over"} if is_train else {"shuffle": False}
        return io.NDArrayIter(X, labels, size, **more)

    def _init_eval_iter(self, eval_data: Any) -> Any:
        """The iterator of validation, or None. Raises: TypeError: no iterator and no pair of arrays."""
        if eval_data is None or isinstance(eval_data, io.DataIter):
            return eval_data
        if not isinstance(eval_data, (tuple, list)) or len(eval_data) != 2:
            raise TypeError(
                f"eval_data must be a DataIter or a pair of data and labels, got {type(eval_data).__name__}"
            )
        data, labels = eval_data
        if data is None:
            raise ValueError("eval_data: the data is None")
        if labels is None:
            if not isinstance(data, io.DataIter):
                raise ValueError("eval_data: the labels are None")
            return data
        return self._init_iter(np.array(data) if isinstance(data, list) else data, np.array(labels), is_train=True)

    # ---- parameters ----

    def _init_params(self, inputs: Iterable[Any], overwrite: bool = False) -> tuple[list[str], list[str], list[str]]:
        """Gives all parameters and states values: those that are there, unless `overwrite`, or the initializer's.

        Returns: the names of the arguments, of the parameters among them, and of the states.
        Raises: ValueError: the descriptions of the inputs do not suffice.
        """
        described = [each if isinstance(each, io.DataDesc) else io.DataDesc(*each) for each in inputs]
        shapes, _, state_shapes = self.symbol.infer_shape(**{each.name: each.shape for each in described})
        if shapes is None:
            raise ValueError(f"the inputs {described} do not tell the shapes of all parameters")
        types, _, state_types = self.symbol.infer_type(**{each.name: each.dtype for each in described})
        arg_names, aux_names = self.symbol.list_arguments(), self.symbol.list_auxiliary_states()
        attributes = self.symbol.attr_dict()
        given = {each.name for each in described}

        def made(names: list[str], sizes: Any, dtypes: Any, known: Params | None) -> Params:
            found = {}
            for name, shape, dtype in zip(names, sizes, dtypes):
                if name in given:
                    continue
                found[name] = ndarray.zeros(shape, dtype=dtype)
                if known is not None and name in known and not overwrite:
                    known[name].astype(dtype, copy=False).copyto(found[name])
                else:
                    self.initializer(InitDesc(name, attributes.get(name)), found[name])
            return found

        self.arg_params = made(arg_names, shapes, types, self.arg_params)
        self.aux_params = made(aux_names, state_shapes, state_types, self.aux_params)
        return arg_names, list(self.arg_params), aux_names

    # ---- training ----

    def fit(
        self,
        X: Any,  # noqa: N803 - 1.9.1's name
        y: Any = None,
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        logger: Any = None,
        work_load_list: Sequence[float] | None = None,
        monitor: Any = None,
        eval_end_callback: Any = LogValidationMetricsCallback(),  # noqa: B008 - it has no state
        eval_batch_end_callback: Any = None,
    ) -> None:
        """Trains from `begin_epoch` to `num_epoch`.

        Args:
            X: an iterator, or an array, whose labels are y.
            eval_data: an iterator or a pair of arrays, measured after each epoch.
            work_load_list: the part of each device's work.
        Raises: TypeError, ValueError: data of another kind; ValueError: no `num_epoch`.
        """
        if self.num_epoch is None:
            raise WrongValueError("FeedForward.fit: num_epoch is not given")
        data, validation = self._init_iter(X, y, is_train=True), self._init_eval_iter(eval_data)
        if self.sym_gen is not None:
            self.symbol = self.sym_gen(data.default_bucket_key)
            self._check_arguments()
        self.kwargs["sym"] = self.symbol
        names = self._init_params([*data.provide_data, *data.provide_label])
        measure = eval_metric if isinstance(eval_metric, metric.EvalMetric) else metric.create(eval_metric)
        store, on_store = _create_kvstore(kvstore, len(self.ctx), self.arg_params or {})
        log = logging if logger is None else logger
        optimizer = self._make_optimizer(data.batch_size, names[1], store, on_store)
        log.info("Start training with %s", str(self.ctx))
        manager = DataParallelExecutorManager(
            self.symbol, self.ctx, data, *names, work_load_list=work_load_list, logger=log, sym_gen=self.sym_gen
        )
        if monitor is not None:
            manager.install_monitor(monitor)
        manager.set_params(self.arg_params, self.aux_params)
        update = self._updates(manager, optimizer, store, on_store)
        for epoch in range(self.begin_epoch, self.num_epoch):
            start = time.time()
            measure.reset()
            self._train_epoch(epoch, data, manager, update, measure, batch_end_callback, monitor)
            log.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - start)
            if epoch_end_callback or epoch + 1 == self.num_epoch:
                manager.copy_to(self.arg_params, self.aux_params)
            _multiple_callbacks(epoch_end_callback, epoch, self.symbol, self.arg_params, self.aux_params)
            if validation is not None:
                self._validate(epoch, validation, manager, measure, eval_batch_end_callback, eval_end_callback)

    def _make_optimizer(self, batch_size: int, names: list[str], store: Any, on_store: bool) -> Any:
        if store is not None and "dist" in store.type and "_async" not in store.type:
            batch_size *= store.num_workers
        count = 1 if on_store else len(self.ctx)
        numbers = {i * count + k: name for i, name in enumerate(names) for k in range(count)}
        if isinstance(self.optimizer, str):
            self.kwargs["param_idx2name"] = numbers
            return opt.create(self.optimizer, rescale_grad=1.0 / batch_size, **self.kwargs)
        if not isinstance(self.optimizer, opt.Optimizer):
            raise TypeError(f"optimizer must be a name or an Optimizer, got {type(self.optimizer).__name__}")
        if not self.optimizer.idx2name:
            self.optimizer.idx2name = numbers.copy()
        return self.optimizer

    def _updates(self, manager: Any, optimizer: Any, store: Any, on_store: bool) -> Callable[[], None]:
        """What updates the parameters after a backward."""
        names = manager.execgrp.param_names
        arrays, grads = manager.param_arrays, manager.grad_arrays
        if on_store:
            store.set_optimizer(optimizer)
        if store is not None:
            _initialize_kvstore(store, arrays, self.arg_params or {}, names, on_store)
        if on_store:
            return lambda: _update_params_on_kvstore(arrays, grads, store, names)
        updater = opt.get_updater(optimizer)
        return lambda: _update_params(arrays, grads, updater, len(self.ctx), store, names)

    def _train_epoch(
        self,
        epoch: int,
        train_data: Any,
        manager: Any,
        update: Callable[[], None],
        eval_metric: Any,
        batch_end_callback: Any,
        monitor: Any,
    ) -> None:
        """Trains on all batches, or on `epoch_size` of them, which go on where the last epoch's ended."""
        nbatch = 0
        while True:
            before = nbatch
            for data_batch in train_data:
                manager.load_data_batch(data_batch)
                if monitor is not None:
                    monitor.tic()
                manager.forward(is_train=True)
                manager.backward()
                update()
                if monitor is not None:
                    monitor.toc_print()
                manager.update_metric(eval_metric, data_batch.label)
                nbatch += 1
                _multiple_callbacks(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
                if self.epoch_size is not None and nbatch >= self.epoch_size:
                    return
            train_data.reset()
            if self.epoch_size is None:
                return
            if nbatch == before == 0 and not any(True for _ in train_data):
                raise ValueError("FeedForward.fit: the iterator gives no batch")

    @staticmethod
    def _validate(
        epoch: int, eval_data: Any, manager: Any, eval_metric: Any, batch_end_callback: Any, end_callback: Any
    ) -> None:
        eval_metric.reset()
        eval_data.reset()
        count = 0
        for nbatch, batch in enumerate(eval_data):
            manager.load_data_batch(batch)
            manager.forward(is_train=False)
            manager.update_metric(eval_metric, batch.label)
            _multiple_callbacks(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            count = nbatch + 1
        _multiple_callbacks(end_callback, BatchEndParam(epoch, count, eval_metric, locals()))

    # ---- use ----

    def _init_predictor(self, input_shapes: Iterable[Any], type_dict: dict[str, Any] | None = None) -> None:
        """Binds an executor on the first device, unless that of the last call fits."""
        shapes = {each[0]: tuple(each[1]) for each in input_shapes}
        if self.arg_params is None:
            raise WrongStateError("FeedForward: there are no parameters; call fit, or load them")
        held = self._pred_exec
        if held is None or any(held.arg_dict[name].shape != shape for name, shape in shapes.items()):
            held = self.symbol.simple_bind(self.ctx[0], grad_req="null", type_dict=type_dict, **shapes)
        held.copy_params_from(self.arg_params, self.aux_params, allow_extra_params=True)
        self._pred_exec = held

    def _runs(self, data: Any, num_batch: int | None) -> Iterable[tuple[int, Any]]:
        """The batches and their numbers, each when its outputs are computed."""
        types = {name: each.dtype for name, each in (self.arg_params or {}).items()}
        types.update({each[0]: getattr(each, "dtype", np.float32) for each in data.provide_data})
        self._init_predictor(data.provide_data, types)
        inputs = [self._pred_exec.arg_dict[each[0]] for each in data.provide_data]
        for number, batch in enumerate(data):
            if number == num_batch:
                return
            _load_data(batch, inputs)
            self._pred_exec.forward(is_train=False)
            yield number, batch

    def predict(
        self,
        X: Any,
        num_batch: int | None = None,
        return_data: bool = False,
        reset: bool = True,  # noqa: N803
    ) -> Any:
        """The outputs of all rows as NumPy arrays: one, or a list; with `return_data` also the data and the labels.

        Args:
            num_batch: how many batches; None: all.
            reset: whether an iterator begins anew.
        Raises: TypeError: no data; MXNetError: there are no parameters.
        """
        data = self._init_iter(X, None, is_train=False)
        if reset:
            data.reset()
        kept: list[list[list[np.ndarray]]] = [[], [], []]
        for _, batch in self._runs(data, num_batch):
            rows = data.batch_size - (batch.pad or 0)
            wanted = (self._pred_exec.outputs, batch.data, batch.label or [])
            for lists, arrays in zip(kept, wanted[: 3 if return_data else 1]):
                lists += [[] for _ in arrays[len(lists) :]]
                for parts, array in zip(lists, arrays):
                    parts.append(array[:rows].asnumpy())
        joined = [[np.concatenate(parts) for parts in lists] for lists in kept]
        single = [each[0] if len(each) == 1 else each for each in joined]
        return tuple(single) if return_data else single[0]

    def score(
        self,
        X: Any,  # noqa: N803 - 1.9.1's name
        eval_metric: Any = "acc",
        num_batch: int | None = None,
        batch_end_callback: Any = None,
        reset: bool = True,
    ) -> Any:
        """The value of a metric over an iterator. Raises: as `predict`."""
        data = self._init_iter(X, None, is_train=False)
        if reset:
            data.reset()
        measure = eval_metric if isinstance(eval_metric, metric.EvalMetric) else metric.create(eval_metric)
        for number, batch in self._runs(data, num_batch):
            measure.update(batch.label, self._pred_exec.outputs)
            _multiple_callbacks(batch_end_callback, BatchEndParam(0, number, measure, locals()))
        return measure.get()[1]

    # ---- files ----

    def save(self, prefix: str, epoch: int | None = None, remove_amp_cast: bool = True) -> None:
        """Writes a checkpoint of an epoch, or of `num_epoch`. Raises: ValueError: neither is there."""
        number = self.num_epoch if epoch is None else epoch
        if number is None:
            raise WrongValueError("FeedForward.save: the epoch is not given, and there is no num_epoch")
        save_checkpoint(
            prefix, number, self.symbol, self.arg_params or {}, self.aux_params or {}, remove_amp_cast=remove_amp_cast
        )

    @staticmethod
    def load(prefix: str, epoch: int, ctx: Any = None, **kwargs: Any) -> FeedForward:
        """The network of a checkpoint, whose training goes on after that epoch; `kwargs` as the class takes them."""
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        return FeedForward(symbol, ctx=ctx, arg_params=arg_params, aux_params=aux_params, begin_epoch=epoch, **kwargs)

    @staticmethod
    def create(
        symbol: Any,
        X: Any,  # noqa: N803 - 1.9.1's name
        y: Any = None,
        ctx: Any = None,
        num_epoch: int | None = None,
        epoch_size: int | None = None,
        optimizer: Any = "sgd",
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        eval_data: Any = None,
        eval_metric: Any = "acc",
        epoch_end_callback: Any = None,
        batch_end_callback: Any = None,
        kvstore: Any = "local",
        logger: Any = None,
        work_load_list: Sequence[float] | None = None,
        eval_end_callback: Any = LogValidationMetricsCallback(),  # noqa: B008 - it has no state
        eval_batch_end_callback: Any = None,
        **kwargs: Any,
    ) -> FeedForward:
        """A new network that is trained already; arguments as the class and `fit` take them."""
        model = FeedForward(
            symbol,
            ctx=ctx,
            num_epoch=num_epoch,
            epoch_size=epoch_size,
            optimizer=optimizer,
            initializer=initializer,
            **kwargs,
        )
        model.fit(
            X,
            y,
            eval_data=eval_data,
            eval_metric=eval_metric,
            epoch_end_callback=epoch_end_callback,
            batch_end_callback=batch_end_callback,
            kvstore=kvstore,
            logger=logger,
            work_load_list=work_load_list,
            eval_end_callback=eval_end_callback,
            eval_batch_end_callback=eval_batch_end_callback,
        )
        return model
