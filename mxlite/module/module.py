"""Module: a symbol that is trained, with its executors, optimizer and store."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from mxlite import ndarray
from mxlite import optimizer as opt
from mxlite._public import show
from mxlite.context import Context, cpu
from mxlite.error import WrongStateError, WrongTypeError, WrongValueError
from mxlite.initializer import InitDesc, Uniform
from mxlite.io import DataBatch, DataDesc
from mxlite.model import (
    _create_kvstore,
    _initialize_kvstore,
    _update_params,
    _update_params_on_kvstore,
    load_checkpoint,
)
from mxlite.module.base_module import BaseModule, _check_input_names, _parse_data_desc
from mxlite.module.executor_group import DataParallelExecutorGroup
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import Symbol

__all__ = ["Module"]


class Module(BaseModule):
    """A symbol with data, labels and parameters: its arguments by what they are.

    Args:
        data_names, label_names: which arguments a batch fills; all others are parameters, but for `state_names`.
        context: where it runs, or a list: then each gets a share of the batch.
        work_load_list: ignored: shares are equal.
        group2ctxs: the devices of groups of nodes (attribute `ctx_group`), which arrays and outputs say: a dictionary
            for each context, or one whose devices are those of every context or lists of one for each.
        fixed_param_names: parameters that are not trained.
        compression_params: for stores that compress gradients.
    Raises: ValueError: the symbol has no such data, parameters or states; a missing label warns.
    """

    def __init__(
        self,
        symbol: Symbol,
        data_names: Sequence[str] | None = ("data",),
        label_names: Sequence[str] | None = ("softmax_label",),
        logger: Any = logging,
        context: Any = None,
        work_load_list: Any = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
        compression_params: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(logger=logger)
        context = cpu() if context is None else context
        self._group2ctxs = group2ctxs
        self._context = [context] if isinstance(context, Context) else list(context)
        self._symbol = symbol
        names = {"data": data_names, "label": label_names, "state": state_names, "fixed_param": fixed_param_names}
        given = {kind: list(each) if each is not None else [] for kind, each in names.items()}
        for kind, each in given.items():
            _check_input_names(symbol, each, f"{kind}_names", kind != "label")
        self._data_names, self._label_names = given["data"], given["label"]
        self._state_names, self._fixed_param_names = given["state"], given["fixed_param"]
        inputs = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in symbol.list_arguments() if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self._compression_params = compression_params
        self._arg_params: dict[str, NDArray] | None = None
        self._aux_params: dict[str, NDArray] | None = None
        self._params_dirty = False
        self._optimizer: Any = None
        self._kvstore: Any = None
        self._update_on_kvstore: bool | None = None
        self._updater: Any = None
        self._preload_opt_states: str | None = None
        self._exec_group: Any = None
        self._data_shapes: Any = None
        self._label_shapes: Any = None

    # ---- files ----

    @staticmethod
    def load(prefix: str, epoch: int, load_optimizer_states: bool = False, **kwargs: Any) -> Module:
        """The module of a checkpoint; `kwargs` as the class takes them. It is to be bound."""
        symbol, args, auxs = load_checkpoint(prefix, epoch)
        made = Module(symbol=symbol, **kwargs)
        made._arg_params, made._aux_params = args, auxs
        made.params_initialized = True
        if load_optimizer_states:
            made._preload_opt_states = f"{prefix}-{epoch:04d}.states"
        return made

    def save_checkpoint(
        self, prefix: str, epoch: int, save_optimizer_states: bool = False, remove_amp_cast: bool = True
    ) -> None:
        """Writes the symbol, the parameters, and the optimizer's states if they are wanted."""
        self._symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
        path = f"{prefix}-{epoch:04d}.params"
        self.save_params(path)
        logging.info('Saved checkpoint to "%s"', path)
        if save_optimizer_states:
            self.save_optimizer_states(f"{prefix}-{epoch:04d}.states")
            logging.info('optimizer states saved in "%s"', f"{prefix}-{epoch:04d}.states")

    def save_optimizer_states(self, fname: str) -> None:
        """Writes the optimizer's states to a file. Raises: MXNetError: there is no optimizer."""
        self._ready(optimizer=True)
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname)
        else:
            self._updater.save(fname)

    def load_optimizer_states(self, fname: str) -> None:
        """Reads such a file, or one of MXNet 1.9.1's.

        Those are pickles, which can name any code to be run: `Updater.set_states` says what is read of them.

        Raises: MXNetError: there is no optimizer.
        """
        self._ready(optimizer=True)
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
        else:
            self._updater.load(fname)

    # ---- what it is ----

    def _bound(self) -> Any:
        if not self.binded:
            raise WrongStateError("call bind before")
        return self._exec_group

    @property
    def data_names(self) -> list[str]:
        """The names of the data."""
        return self._data_names

    @property
    def label_names(self) -> list[str]:
        """The names of the labels."""
        return self._label_names

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data. Raises: MXNetError: it is not bound."""
        self._bound()
        return self._data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels. Raises: MXNetError: it is not bound."""
        self._bound()
        return self._label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """The names and shapes of the outputs. Raises: MXNetError: it is not bound."""
        return self._bound().get_output_shapes()

    # ---- parameters ----

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """The parameters and the auxiliary states by name, as they are after the last update."""
        self._ready()
        if self._params_dirty:
            self._sync_params_from_devices()
        return self._arg_params or {}, self._aux_params or {}

    def _forget_copies(self) -> None:
        """Lets the arrays of parameters outside of the executors go, which an update makes out of date: zeros, which
        take no memory, are in their places until `_sync_params_from_devices`. Those that anyone else has stay."""
        for attribute in ("_arg_params", "_aux_params"):
            held = self.__dict__[attribute] or {}
            if sys.getrefcount(held) <= 3 and all(sys.getrefcount(array) <= 3 for array in held.values()):
                setattr(self, attribute, {name: _zeros_as(array) for name, array in held.items()})

    def _sync_params_from_devices(self) -> None:
        self._exec_group.get_params(self._arg_params, self._aux_params)
        if self._kvstore is not None and self._update_on_kvstore:
            for name, array in sorted((self._arg_params or {}).items()):
                self._kvstore.pull(name, array, **({} if array.stype == "default" else {"ignore_sparse": False}))
        self._params_dirty = False

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

        What the dictionaries hold beyond them is ignored, as in 1.9.1 whatever `allow_extra` is.
        Raises: MXNetError: it is not bound; RuntimeError: a dictionary lacks one, without `allow_missing`.
        """
        if self.params_initialized and not force_init:
            warnings.warn(
                "init_params: there are parameters already, they stay (force_init=True replaces them)", stacklevel=2
            )
            return
        if not self.binded:
            raise WrongStateError("init_params: call bind first")
        attributes = self._symbol.attr_dict()
        for own, given in ((self._arg_params, arg_params), (self._aux_params, aux_params)):
            for name, array in sorted((own or {}).items()):
                if given is None or name not in given:
                    if given is not None and not allow_missing:
                        raise RuntimeError(f"{name} is not presented")
                    if initializer is not None:
                        initializer(InitDesc(name, attributes.get(name)), array)
                elif given[name] is not array:
                    given[name].astype(array.dtype, copy=False).copyto(array)
        self.params_initialized = True
        self._params_dirty = False
        self._exec_group.set_params(self._arg_params, self._aux_params)

    def set_params(
        self,
        arg_params: dict[str, NDArray],
        aux_params: dict[str, NDArray],
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Gives parameters and states values; with `allow_missing` the others keep theirs."""
        if not allow_missing:
            super().set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
            return
        if self.params_initialized and not force_init:
            _warn_initialized("set_params")
            return
        self._bound().set_params(arg_params, aux_params, allow_extra=allow_extra)
        self._params_dirty = True
        self.params_initialized = True

    # ---- binding ----

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
        """Makes the executors for these shapes.

        Args:
            data_shapes, label_shapes: DataDescs, or pairs of a name and a shape.
            inputs_need_grad: whether the data get gradients. grad_req: "write", "add" or "null", or by name.
            force_rebind: whether it is bound anew where it is already. shared_module: one with the same parameters.
        Raises: ValueError: names that are not those of the data; MXNetError: shapes that do not fit.
        """
        if self.binded and not force_rebind:
            self.logger.warning("bind(): this module is bound already, nothing changes")
            return
        if not for_training and inputs_need_grad:
            raise WrongValueError("inputs_need_grad needs for_training")
        if self.params_initialized and self.binded:
            self.get_params()  # what the executors hold goes to the new ones
        data, labels = _parse_data_desc(self.data_names, self.label_names, data_shapes, label_shapes)
        shared = None
        if shared_module is not None:
            if not (shared_module.binded and shared_module.params_initialized):
                raise WrongValueError("shared_module must be bound and initialized")
            shared = shared_module._exec_group
        requests = self._requests(for_training, inputs_need_grad, grad_req)
        given = self._symbol, self._context, data, labels, self._param_names, requests, shared, self._state_names
        self._exec_group = DataParallelExecutorGroup(*given, self._group2ctxs)
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._data_shapes, self._label_shapes = data, labels
        self.binded = True
        self._keep_params(shared_module)
        if shared_module is not None and shared_module.optimizer_initialized:
            self.borrow_optimizer(shared_module)

    def _requests(self, for_training: bool, inputs_need_grad: bool, grad_req: Any) -> dict[str, str]:
        """How the gradient of each argument is written."""
        arguments = self._symbol.list_arguments()
        if isinstance(grad_req, (list, tuple)):
            grad_req = dict(zip(arguments, grad_req))
        found = {}
        for name in arguments:
            trained = name in self._param_names and name not in self._fixed_param_names
            wanted = trained or (inputs_need_grad and name in self._data_names)
            request = grad_req.get(name, "write") if isinstance(grad_req, dict) else grad_req
            found[name] = request if for_training and wanted else "null"
        return found

    def _keep_params(self, shared_module: Any) -> None:
        """Makes the arrays of parameters outside of the executors, or fills the new executors from them."""
        if shared_module is not None:
            self.params_initialized = True
            self._arg_params, self._aux_params = shared_module._arg_params, shared_module._aux_params
        elif self.params_initialized:
            self._exec_group.set_params(self._arg_params, self._aux_params, allow_extra=True)
        else:
            group = self._exec_group
            self._arg_params, self._aux_params = (
                {name: _zeros_as(copies[0]) for name, copies in zip(names, arrays)}
                for names, arrays in ((self._param_names, group.param_arrays), (self._aux_names, group.aux_arrays))
            )

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """Gives the executors other shapes; parameters stay."""
        group = self._bound()
        data, labels = _parse_data_desc(self.data_names, self.label_names, data_shapes, label_shapes)
        group.bind_exec(data, labels)
        self._data_shapes, self._label_shapes = data, labels

    # ---- the optimizer ----

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        force_init: bool = False,
    ) -> None:
        """Makes the optimizer, which scales gradients by 1 / the batch's size unless `rescale_grad` is given.

        Args:
            kvstore: a store or its name; a lone context needs none.
            optimizer: an Optimizer, or a name for `mx.optimizer.create`, with its parameters.
        Raises: MXNetError: not bound, no parameters, or no optimizer.
        """
        self._ready()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("init_optimizer: there is an optimizer already, it stays")
            return
        if self._params_dirty:
            self._sync_params_from_devices()
        store, update_on_kvstore = _create_kvstore(kvstore, len(self._context), self._arg_params or {})
        batch_size = self._exec_group.batch_size
        if store is not None and "dist" in store.type and "_sync" in store.type:
            batch_size *= store.num_workers
        self._optimizer = self._make_optimizer(optimizer, optimizer_params, 1.0 / batch_size, update_on_kvstore)
        self._kvstore, self._update_on_kvstore, self._updater = store, update_on_kvstore, None
        if store is not None:
            self._start_store(store, update_on_kvstore)
        if not update_on_kvstore:
            self._updater = opt.get_updater(self._optimizer)
        self.optimizer_initialized = True
        if self._preload_opt_states is not None:
            self.load_optimizer_states(self._preload_opt_states)
            self._preload_opt_states = None

    def _make_optimizer(self, optimizer: Any, params: Any, scale: float, on_store: bool) -> Any:
        names = self._exec_group.param_names
        count = len(self._context)
        if on_store:
            numbers = dict(enumerate(names))
        else:
            numbers = {i * count + k: name for k in range(count) for i, name in enumerate(names)}
        if isinstance(optimizer, str):
            given = {"rescale_grad": scale, **dict(params)}
            return opt.create(optimizer, sym=self._symbol, param_idx2name=numbers, **given)
        if not isinstance(optimizer, opt.Optimizer):
            raise WrongTypeError(f"optimizer must be a name or an Optimizer, got {type(optimizer).__name__}")
        if optimizer.rescale_grad != scale:
            warnings.warn(
                f"init_optimizer: rescale_grad is {optimizer.rescale_grad}, 1 / (batch size * workers) is {scale}",
                stacklevel=3,
            )
        if not optimizer.idx2name:
            optimizer.idx2name = numbers.copy()
        return optimizer

    def _start_store(self, store: Any, update_on_kvstore: bool) -> None:
        if self._compression_params:
            store.set_gradient_compression(self._compression_params)
        if update_on_kvstore:
            store.set_optimizer(self._optimizer)
        group = self._exec_group
        _initialize_kvstore(store, group.param_arrays, self._arg_params or {}, group.param_names, update_on_kvstore)

    def borrow_optimizer(self, shared_module: Module) -> None:
        """Uses the optimizer of another module, with its states. Raises: MXNetError: it has none."""
        shared_module._ready(optimizer=True)
        self._optimizer, self._updater = shared_module._optimizer, shared_module._updater
        self._kvstore, self._update_on_kvstore = shared_module._kvstore, shared_module._update_on_kvstore
        self.optimizer_initialized = True

    # ---- runs ----

    def forward(self, data_batch: DataBatch, is_train: bool | None = None) -> None:
        """Computes the outputs; a batch of other shapes is bound to them first.

        Args:
            is_train: whether as in training; None: as bound.
        Raises: MXNetError: not bound, or no parameters; or shapes that do not fit.
        """
        self._ready()
        first = data_batch[0] if isinstance(data_batch, list) else data_batch
        data, label = first.data, first.label
        if [tuple(each.shape) for each in self._data_shapes] != [tuple(each.shape) for each in data]:
            self._follow_shapes(first)
        self._exec_group.forward(data, label, self.for_training if is_train is None else is_train)

    def _follow_shapes(self, batch: DataBatch) -> None:
        given, labels = getattr(batch, "provide_data", None), getattr(batch, "provide_label", None)
        if not given:
            given = [
                DataDesc(old.name, array.shape, old.dtype, old.layout)
                for old, array in zip(self._data_shapes, batch.data)
            ]
        if not labels and batch.label:
            labels = [
                DataDesc(old.name, array.shape, old.dtype, old.layout)
                for old, array in zip(self._label_shapes or (), batch.label)
            ]
        self.reshape(given, labels or None)

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients. Raises: MXNetError: not bound for training."""
        self._ready()
        if not self.for_training:
            raise WrongStateError("backward: bind with for_training=True")
        self._exec_group.backward(out_grads=out_grads)

    def update(self) -> None:
        """Updates the parameters by the gradients. Raises: MXNetError: there is no optimizer."""
        self._ready(optimizer=True)
        if not self._params_dirty:
            self._forget_copies()
        self._params_dirty = True
        group = self._exec_group
        arrays, grads = group.param_arrays, group.grad_arrays
        if self._update_on_kvstore:
            _update_params_on_kvstore(arrays, grads, self._kvstore, group.param_names)
        else:
            _update_params(arrays, grads, self._updater, len(self._context), self._kvstore, group.param_names)

    def get_outputs(self, merge_multi_context: bool = True) -> list:
        """The outputs of the last forward, joined along the batch or as a list of each one's parts."""
        self._ready()
        return self._exec_group.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list:
        """The gradients of the data. Raises: MXNetError: it was not bound with inputs_need_grad."""
        self._ready()
        if not self.inputs_need_grad:
            raise WrongStateError("bind with inputs_need_grad=True to get the gradients of the data")
        return self._exec_group.get_input_grads(merge_multi_context)

    def get_states(self, merge_multi_context: bool = True) -> list:
        """The arrays of the states."""
        self._ready()
        return self._exec_group.get_states(merge_multi_context)

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Writes the states: arrays as `get_states` gives them, or one number everywhere."""
        self._ready()
        self._exec_group.set_states(states, value)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the outputs of the last forward to a metric."""
        self._exec_group.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Installs a Monitor in the executors. Raises: MXNetError: it is not bound."""
        self._bound().install_monitor(mon)

    def prepare(self, data_batch: DataBatch, sparse_row_id_fn: Any = None) -> None:
        """Gets the rows of row_sparse parameters that a batch needs from the store.

        Args:
            sparse_row_id_fn: a function of the batch: rows by the names of parameters.
        Raises: MXNetError: it is not bound; TypeError: the function gives no dictionary.
        """
        group = self._bound()
        if sparse_row_id_fn is None:
            return
        if self._kvstore is None or not self._update_on_kvstore:
            warnings.warn("prepare: no kvstore updates the parameters, so all rows are here already", stacklevel=2)
            return
        rows = sparse_row_id_fn(data_batch)
        if not isinstance(rows, dict):
            raise WrongTypeError(f"prepare: sparse_row_id_fn gives a dictionary, got {type(rows).__name__}")
        for name, row_id in rows.items():
            number = group.param_names.index(name)
            arrays = group.param_arrays[number]
            if arrays[0].stype != "row_sparse":
                self.logger.warning("prepare: parameter %s is %s, which has all rows", name, arrays[0].stype)
            else:
                self._kvstore.row_sparse_pull(name, arrays, row_ids=row_id, priority=-number)


def _zeros_as(array: NDArray) -> NDArray:
    """Zeros in cpu(0) with the shape, dtype and storage type of an array."""
    return ndarray.zeros(array.shape, dtype=array.dtype, stype=array.stype)


def _warn_initialized(function: str) -> None:
    warnings.warn(f"{function}: there are parameters already, they stay (force_init=True replaces them)", stacklevel=3)


show(globals())
