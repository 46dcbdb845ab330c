"""BucketingModule: modules of several lengths of data that share their parameters."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Callable

from mxlite._public import show
from mxlite.error import WrongStateError, WrongValueError
from mxlite.initializer import Uniform
from mxlite.io import DataBatch, DataDesc
from mxlite.model import load_params
from mxlite.module.base_module import BaseModule, _check_input_names
from mxlite.module.module import Module, _warn_initialized
from mxlite.ndarray.ndarray import NDArray

__all__ = ["BucketingModule"]


class BucketingModule(BaseModule):
    """A Module for each kind of batch (`batch.bucket_key`), made when the first such batch comes.

    Args:
        sym_gen: makes, for a key, a symbol and the names of its data and labels.
        default_bucket_key: the key of the largest kind, which is bound first.
        context, fixed_param_names, state_names, ...: as Module's.
    """

    def __init__(
        self,
        sym_gen: Callable[[Any], tuple],
        default_bucket_key: Any = None,
        logger: Any = logging,
        context: Any = None,
        work_load_list: Any = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
        compression_params: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(logger=logger)
        if default_bucket_key is None:
            raise WrongValueError("default_bucket_key must be given")
        self._default_bucket_key = default_bucket_key
        self._sym_gen = sym_gen
        symbol, data_names, label_names = sym_gen(default_bucket_key)
        for kind, names in (("data", data_names), ("state", state_names), ("fixed_param", fixed_param_names)):
            _check_input_names(symbol, list(names or ()), f"{kind}_names", True)
        _check_input_names(symbol, list(label_names or ()), "label_names", False)
        self._given = {
            "logger": logger,
            "context": context,
            "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names,
            "state_names": state_names,
            "group2ctxs": group2ctxs,
            "compression_params": compression_params,
        }
        #: Parameters of a checkpoint, until it is bound.
        self._loaded: tuple[dict[str, NDArray], dict[str, NDArray]] | None = None
        self._reset_bind()

    def _reset_bind(self) -> None:
        self.binded = False
        self._buckets: dict[Any, Module] = {}
        self._curr_module: Any = None
        self._curr_bucket_key: Any = None
        self._monitor: Any = None
        self._grad_req: Any = None

    def _call_sym_gen(self, *args: Any, **kwargs: Any) -> tuple:
        return self._sym_gen(*args, **kwargs)

    def _make(self, key: Any) -> Module:
        symbol, data_names, label_names = self._call_sym_gen(key)
        return Module(symbol, data_names, label_names, **self._given)

    def _current(self) -> Any:
        if not self.binded:
            raise WrongStateError("call bind before")
        return self._curr_module

    # ---- what it is ----

    @property
    def data_names(self) -> list[str]:
        """The names of the data of the current kind of batch."""
        return self._curr_module.data_names if self.binded else self._call_sym_gen(self._default_bucket_key)[1]

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        if self.binded:
            return self._curr_module.output_names
        return self._call_sym_gen(self._default_bucket_key)[0].list_outputs()

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data. Raises: MXNetError: it is not bound."""
        return self._current().data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels. Raises: MXNetError: it is not bound."""
        return self._current().label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """The names and shapes of the outputs. Raises: MXNetError: it is not bound."""
        return self._current().output_shapes

    @property
    def symbol(self) -> Any:
        """The symbol of the current kind of batch. Raises: MXNetError: it is not bound."""
        return self._current().symbol

    # ---- parameters ----

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """The parameters and the auxiliary states by name, as they are after the last update."""
        if self._loaded is not None and not self.binded:
            return self._loaded
        self._ready()
        return self._shared_params()

    def _shared_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Those of the default module: every update of any module dirties what it holds outside of its executors."""
        first = self._buckets[self._default_bucket_key]
        first._params_dirty = first._params_dirty or any(each._params_dirty for each in self._buckets.values())
        found = first.get_params()
        for each in self._buckets.values():
            each._params_dirty = False
        return found

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        arg_params: dict[str, NDArray] | None = None,
        aux_params: dict[str, NDArray] | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """As Module's, for all kinds of batches."""
        if self.params_initialized and not force_init:
            return
        if not self.binded:
            raise WrongStateError("init_params: call bind first")
        flags = {"allow_missing": allow_missing, "force_init": force_init, "allow_extra": allow_extra}
        first = self._buckets[self._default_bucket_key]
        first.init_params(initializer=initializer, arg_params=arg_params, aux_params=aux_params, **flags)
        self.params_initialized = True

    def set_params(
        self,
        arg_params: dict[str, NDArray],
        aux_params: dict[str, NDArray],
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """As Module's, for all kinds of batches."""
        if not allow_missing:
            super().set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
            return
        if self.params_initialized and not force_init:
            _warn_initialized("set_params")
            return
        self._current().set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
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
        """As Module's, of the default kind of batch. Raises: ValueError: a shared module."""
        if shared_module is not None:
            raise WrongValueError("a BucketingModule takes no shared_module")
        if self.binded and not force_rebind:
            self.logger.warning("bind(): this module is bound already, nothing changes")
            return
        kept = self._shared_params() if self.binded and self.params_initialized else None
        if force_rebind:
            self._reset_bind()
        self.for_training, self.inputs_need_grad, self._grad_req = for_training, inputs_need_grad, grad_req
        first = self._make(self._default_bucket_key)
        if kept is None and self._loaded is not None:
            (first._arg_params, first._aux_params), first.params_initialized = self._loaded, True
        first.bind(data_shapes, label_shapes, for_training, inputs_need_grad, grad_req=grad_req)
        self.binded = True
        self._curr_module, self._curr_bucket_key = first, self._default_bucket_key
        self._buckets[self._default_bucket_key] = first
        if kept is not None:
            self.set_params(*kept)

    def switch_bucket(self, bucket_key: Any, data_shapes: Any, label_shapes: Any = None) -> None:
        """Makes another kind of batch the current one; its module is made and bound if there is none."""
        self._current()
        if bucket_key not in self._buckets:
            made = self._make(bucket_key)
            first = self._buckets[self._default_bucket_key]
            training = self._curr_module.for_training, self._curr_module.inputs_need_grad
            made.bind(data_shapes, label_shapes, *training, shared_module=first, grad_req=self._grad_req)
            if self._monitor is not None:
                made.install_monitor(self._monitor)
            self._buckets[bucket_key] = made
        self._curr_module, self._curr_bucket_key = self._buckets[bucket_key], bucket_key

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        force_init: bool = False,
    ) -> None:
        """As Module's; all kinds of batches share the optimizer."""
        self._ready()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("init_optimizer: there is an optimizer already, it stays")
            return
        self._curr_module.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
        for each in self._buckets.values():
            if each is not self._curr_module:
                each.borrow_optimizer(self._curr_module)
        self.optimizer_initialized = True

    # ---- runs ----

    def prepare(self, data_batch: DataBatch, sparse_row_id_fn: Any = None) -> None:
        """Binds the module of the batch's kind, and stays with the current one."""
        self._ready()
        before = self._curr_bucket_key, self._curr_module
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_module.prepare(data_batch, sparse_row_id_fn)
        self._curr_bucket_key, self._curr_module = before

    def forward(self, data_batch: DataBatch, is_train: bool | None = None) -> None:
        """Computes the outputs by the module of the batch's kind."""
        self._ready()
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        if self.optimizer_initialized and not self._curr_module.optimizer_initialized:
            self._curr_module.borrow_optimizer(self._buckets[self._default_bucket_key])
        self._curr_module.forward(data_batch, is_train=is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients."""
        self._ready()
        self._curr_module.backward(out_grads=out_grads)

    def update(self) -> None:
        """Updates the parameters by the gradients."""
        self._ready(optimizer=True)
        self._curr_module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> list:
        """The outputs of the last forward."""
        self._ready()
        return self._curr_module.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list:
        """The gradients of the data."""
        self._ready()
        return self._curr_module.get_input_grads(merge_multi_context=merge_multi_context)

    def get_states(self, merge_multi_context: bool = True) -> list:
        """The arrays of the states."""
        self._ready()
        return self._curr_module.get_states(merge_multi_context=merge_multi_context)

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Writes the states."""
        self._ready()
        self._curr_module.set_states(states, value)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the outputs of the last forward to a metric."""
        self._ready()
        self._curr_module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Installs a Monitor in the executors of all modules."""
        self._current()
        self._monitor = mon
        for each in self._buckets.values():
            each.install_monitor(mon)

    # ---- files ----

    def save_checkpoint(self, prefix: str, epoch: int, remove_amp_cast: bool = False) -> None:
        """Writes the symbol of each kind of batch (`prefix-key-symbol.json`) and the parameters."""
        self._ready()
        for key, each in self._buckets.items():
            each.symbol.save(f"{prefix}-{key}-symbol.json", remove_amp_cast=remove_amp_cast)
        self.save_params(f"{prefix}-{epoch:04d}.params")

    @staticmethod
    def load(
        prefix: str, epoch: int, sym_gen: Any = None, default_bucket_key: Any = None, **kwargs: Any
    ) -> BucketingModule:
        """A module with the parameters of a checkpoint. Raises: ValueError: without sym_gen, or a key."""
        if sym_gen is None:
            raise WrongValueError("BucketingModule.load: sym_gen is missing")
        if default_bucket_key is None:
            raise WrongValueError("BucketingModule.load: default_bucket_key is missing")
        return BucketingModule.load_dict({}, sym_gen, default_bucket_key, *load_params(prefix, epoch), **kwargs)

    @staticmethod
    def load_dict(
        sym_dict: Any = None,
        sym_gen: Any = None,
        default_bucket_key: Any = None,
        arg_params: Any = None,
        aux_params: Any = None,
        **kwargs: Any,
    ) -> BucketingModule:
        """A module with these parameters, and symbols by key; other keys have what `sym_gen` makes.

        Args:
            sym_dict: symbols by key.
            sym_gen: as BucketingModule's, as are `default_bucket_key` and `kwargs`.
            arg_params: arrays by name, as are `aux_params`.

        Raises: ValueError: one of these five is missing.
        """
        if any(each is None for each in (sym_dict, sym_gen, default_bucket_key, arg_params, aux_params)):
            raise WrongValueError(
                "BucketingModule.load_dict: sym_dict, sym_gen, default_bucket_key, arg_params and aux_params are needed"
            )

        def made_or_given(key: Any) -> tuple:
            symbol, *names = sym_gen(key)
            return (sym_dict.get(key, symbol), *names)

        made = BucketingModule(made_or_given, default_bucket_key, **kwargs)
        made._loaded, made.params_initialized = (arg_params, aux_params), True
        return made


show(globals())
