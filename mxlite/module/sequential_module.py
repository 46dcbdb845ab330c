"""SequentialModule: modules one after another, the outputs of each the data of the next."""

from __future__ import annotations

import logging
from typing import Any

from mxlite._public import show
from mxlite.error import WrongStateError, WrongValueError
from mxlite.initializer import Uniform
from mxlite.io import DataBatch, DataDesc
from mxlite.module.base_module import BaseModule
from mxlite.ndarray.ndarray import NDArray

__all__ = ["SequentialModule"]


class SequentialModule(BaseModule):
    """A chain: `SequentialModule().add(features).add(head, take_labels=True, auto_wiring=True)`."""

    META_TAKE_LABELS = "take_labels"
    META_AUTO_WIRING = "auto_wiring"

    def __init__(self, logger: Any = logging) -> None:
        super().__init__(logger=logger)
        self._modules: list[Any] = []
        self._metas: list[dict[str, Any]] = []
        self._label_shapes: Any = None
        self._data_shapes: Any = None

    def add(self, module: BaseModule, **kwargs: Any) -> SequentialModule:
        """Puts a module at the end; it is to be bound anew then.

        Args:
            take_labels: it gets the labels. auto_wiring: its data are the outputs before it, whatever their names.
        Raises: ValueError: another keyword.
        """
        for key in kwargs:
            if key not in (self.META_TAKE_LABELS, self.META_AUTO_WIRING):
                raise WrongValueError(f'Unknown meta "{key}", a typo?')
        self._modules.append(module)
        self._metas.append(kwargs)
        self.binded = self.params_initialized = self.optimizer_initialized = False
        return self

    @property
    def data_names(self) -> list[str]:
        """The names of the first module's data."""
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self) -> list[str]:
        """The names of the last module's outputs."""
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self) -> Any:
        """The first module's data. Raises: MXNetError: it is not bound."""
        self._bound()
        return self._modules[0].data_shapes

    @property
    def label_shapes(self) -> Any:
        """The labels as bound. Raises: MXNetError: it is not bound."""
        self._bound()
        return self._label_shapes

    @property
    def output_shapes(self) -> Any:
        """The last module's outputs. Raises: MXNetError: it is not bound."""
        self._bound()
        return self._modules[-1].output_shapes

    def _bound(self) -> None:
        if not self.binded:
            raise WrongStateError("call bind before")

    # ---- parameters ----

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """All parameters and states by name."""
        self._ready()
        arg_params: dict[str, NDArray] = {}
        aux_params: dict[str, NDArray] = {}
        for module in self._modules:
            args, auxs = module.get_params()
            arg_params.update(args)
            aux_params.update(auxs)
        return arg_params, aux_params

    def init_params(
        self,
        initializer: Any = Uniform(0.01),  # noqa: B008 - it has no state
        arg_params: dict[str, NDArray] | None = None,
        aux_params: dict[str, NDArray] | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """As Module's, for all modules.

        Raises: MXNetError: it is not bound; ValueError: two modules have a parameter of one name.
        """
        if self.params_initialized and not force_init:
            return
        if not self.binded:
            raise WrongStateError("init_params: call bind first")
        flags = {"allow_missing": allow_missing, "force_init": force_init, "allow_extra": True}
        for module in self._modules:
            module.init_params(initializer=initializer, arg_params=arg_params, aux_params=aux_params, **flags)
        owner: dict[str, int] = {}
        for number, module in enumerate(self._modules):
            for name in (name for each in module.get_params() for name in each):
                if name in owner:
                    raise WrongValueError(
                        f'Duplicated parameter names: name "{name}" in layer {number} '
                        f"({type(module).__name__}) is already used in layer {owner[name]}"
                    )
                owner[name] = number
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
        """Binds all modules, each to the outputs of the one before.

        Raises: ValueError or MXNetError: there are none, a shared module, or another grad_req.
        """
        if self.binded and not force_rebind:
            self.logger.warning("bind(): this module is bound already, nothing changes")
            return
        if inputs_need_grad and not for_training:
            raise WrongValueError("inputs_need_grad needs for_training")
        if shared_module is not None:
            raise WrongValueError("a SequentialModule takes no shared_module")
        if not self._modules:
            raise WrongStateError("bind: this SequentialModule has no modules")
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        shapes, labelled = data_shapes, False
        for number, (module, meta) in enumerate(zip(self._modules, self._metas)):
            takes = bool(meta.get(self.META_TAKE_LABELS))
            labelled = labelled or takes
            if meta.get(self.META_AUTO_WIRING):
                shapes = [(name, each[1]) for name, each in zip(module.data_names, shapes)]
            module.bind(
                data_shapes=shapes,
                label_shapes=label_shapes if takes else None,
                for_training=for_training,
                inputs_need_grad=for_training and (inputs_need_grad or number > 0),
                force_rebind=force_rebind,
                grad_req=grad_req,
            )
            shapes = module.output_shapes
        self._label_shapes = label_shapes if labelled else None
        self.binded = True

    def init_optimizer(
        self,
        kvstore: Any = "local",
        optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),),
        force_init: bool = False,
    ) -> None:
        """As Module's, for each module."""
        self._ready()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("init_optimizer: there is an optimizer already, it stays")
            return
        for module in self._modules:
            module.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
        self.optimizer_initialized = True

    # ---- runs ----

    def forward(self, data_batch: DataBatch, is_train: bool | None = None) -> None:
        """Runs all modules, one on the outputs of the other."""
        self._ready()
        described = getattr(data_batch, "provide_data", None)
        batch = DataBatch(
            data_batch.data,
            data_batch.label,
            pad=data_batch.pad,
            index=data_batch.index,
            provide_data=described,
            provide_label=getattr(data_batch, "provide_label", None),
        )
        for module, following in zip(self._modules, [*self._modules[1:], None]):
            module.forward(batch, is_train=is_train)
            if following is None:
                break
            batch.data = module.get_outputs()
            names = [each[0] for each in following.data_shapes]
            batch.provide_data = [DataDesc(name, each.shape) for name, each in zip(names, batch.data)]

    def backward(self, out_grads: Any = None) -> None:
        """Runs them backward: the gradients of each one's data are those of the outputs before."""
        self._ready()
        for number in reversed(range(len(self._modules))):
            self._modules[number].backward(out_grads=out_grads)
            if number > 0:
                out_grads = self._modules[number].get_input_grads()

    def update(self) -> None:
        """Updates the parameters of all modules."""
        self._ready(optimizer=True)
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context: bool = True) -> list:
        """The outputs of the last module."""
        self._ready()
        return self._modules[-1].get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list:
        """The gradients of the first module's data."""
        self._ready()
        return self._modules[0].get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the outputs of the modules that take labels to a metric."""
        self._ready()
        for module, meta in zip(self._modules, self._metas):
            if meta.get(self.META_TAKE_LABELS):
                module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Installs a Monitor in the executors of all modules."""
        self._bound()
        for module in self._modules:
            module.install_monitor(mon)


show(globals())
