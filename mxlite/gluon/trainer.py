"""Trainer: applies an optimizer to parameters by the gradients that backward has left."""

from __future__ import annotations

import os
from typing import Any

from mxlite import kvstore as kvs
from mxlite import optimizer as opt
from mxlite._lib import hot
from mxlite._notebook import tables
from mxlite._public import show
from mxlite.error import WrongStateError, WrongValueError
from mxlite.gluon._parameter import epoch
from mxlite.gluon.parameter import Parameter, ParameterDict

_STALE = (
    "no backward has written the gradient of Parameter `{}` on {} since the last `step`. The parameter may have no "
    "part in the loss; if so, call step with ignore_stale_grad=True, which leaves such parameters as they are"
)
_ON_STORE = "{}: the key-value store updates the parameters; make the Trainer with update_on_kvstore=False"


class Trainer:
    """Updates parameters after each backward: `trainer.step(batch_size)`.

    Args:
        params: a ParameterDict, a dictionary or a list of Parameters; of dictionaries the order of names counts.
        optimizer: a name for `mx.optimizer.create`, or an Optimizer.
        optimizer_params: arguments of the optimizer that a name stands for.
        kvstore: where gradients of several contexts are added up: a store, its name, or None, they are not.
        compression_params: for stores that compress gradients; mxlite's do not.
        update_on_kvstore: whether the store updates the parameters; None: it does, where there is one, unless
            MXNET_UPDATE_ON_KVSTORE is 0.

    Raises:
        ValueError: `params` are no Parameters, or the optimizer is unknown.
        RuntimeError: a parameter is not initialized.
        ValueError: parameters are on different contexts.
    """

    _amp_loss_scaler: Any = None  # of amp.init_trainer
    _amp_original_scale: float
    #: What `_list_updates` says, as it was at a number of the parameters' epoch.
    _updates: tuple[int, list[tuple]] | None = None

    def __init__(
        self,
        params: Any,
        optimizer: Any,
        optimizer_params: dict[str, Any] | None = None,
        kvstore: Any = "device",
        compression_params: dict[str, Any] | None = None,
        update_on_kvstore: bool | None = None,
    ) -> None:
        if isinstance(params, (dict, ParameterDict)):
            params = [params[name] for name in sorted(params.keys())]
        if not isinstance(params, (list, tuple)):
            raise ValueError(f"Trainer: `params` is a list or dict of Parameters, not a {type(params)}")
        for each in params:
            if not isinstance(each, Parameter):
                raise ValueError(f"Trainer: `params` has a {type(each)}, which is no Parameter")
        self._params: list[Parameter] = list(params)
        self._param2idx = {each.name: i for i, each in enumerate(self._params)}
        for each in self._params:
            each._set_trainer(self)
        self._compression_params = compression_params
        self._contexts = self._check_contexts()
        optimizer_params = optimizer_params or {}
        self._init_optimizer(optimizer, optimizer_params)
        self._scale = float(optimizer_params.get("rescale_grad", 1.0))
        self._kvstore_params = {"kvstore": kvstore, "update_on_kvstore": update_on_kvstore}
        self._reset_kvstore()

    # ---- set-up ----

    def _check_contexts(self) -> list:
        contexts: list | None = None
        for each in self._params:
            found = each.list_ctx()
            if contexts is not None and contexts != found:
                raise WrongValueError(
                    f"Trainer: Parameter {each.name} is on {found}, those before it are on {contexts}; all must be "
                    "on the same contexts"
                )
            contexts = found
        if contexts is None:
            raise TypeError("Trainer: there are no parameters")
        return contexts

    def _init_optimizer(self, optimizer: Any, optimizer_params: dict[str, Any]) -> None:
        param_dict = dict(enumerate(self._params))
        if isinstance(optimizer, opt.Optimizer):
            if optimizer_params:
                raise WrongValueError("Trainer: an Optimizer has its parameters; optimizer_params cannot be given too")
            self._optimizer = optimizer
            self._optimizer.param_dict = param_dict
        else:
            self._optimizer = opt.create(optimizer, param_dict=param_dict, **optimizer_params)
        self._updaters = [opt.get_updater(self._optimizer) for _ in self._contexts]

    def _reset_kvstore(self) -> None:
        self._kv_initialized = False
        self._kvstore: Any = None
        self._update_on_kvstore: bool | None = None
        self._distributed: bool | None = None
        self._params_to_init = list(self._params)

    def _forget_stored(self, parameter: Parameter) -> None:
        """A parameter that the store may hold is about to get other values."""
        if self._kv_initialized and parameter not in self._params_to_init:
            if self._distributed:
                raise RuntimeError("a distributed key-value store cannot be replaced")
            for i, each in enumerate(self._params):  # the next store begins with all rows
                if each._stype == "row_sparse" and each is not parameter and self._stores(each):
                    self._kvstore.pull(i, each._check_and_get(each._data, list), ignore_sparse=False)
            self._reset_kvstore()

    def _stores(self, parameter: Parameter) -> bool:
        """Whether the store has a parameter."""
        return self._kv_initialized and self._kvstore is not None and parameter not in self._params_to_init

    def _row_sparse_pull(self, parameter: Parameter, out: Any, row_id: Any, full_idx: bool = False) -> None:
        """Writes rows of a parameter that the store has to `out`, an array or a list of them; with `full_idx` all."""
        if not self._kv_initialized or self._params_to_init:
            self._init_params()
        index = self._param2idx[parameter.name]
        if full_idx and not self._distributed:
            self._kvstore.pull(index, out=out, priority=-index, ignore_sparse=False)
        else:
            self._kvstore.row_sparse_pull(index, out=out, row_ids=row_id, priority=-index)

    def _init_kvstore(self) -> None:
        """Makes the store of several contexts; one context alone needs none."""
        for each in self._params:
            each._check_and_get(each._data, self._contexts[0])  # a parameter without values is refused
        store, on_store = self._kvstore_params["kvstore"], self._kvstore_params["update_on_kvstore"]
        by_rows = any(each._stype == "row_sparse" for each in self._params)
        if by_rows:
            _check_store_of_rows(store, on_store)
        if not (store is None or isinstance(store, (str, kvs.KVStoreBase))):
            raise TypeError("Trainer: kvstore is a KVStore, a text or None")
        if isinstance(store, str):
            alone = len(self._contexts) == 1 and "dist" not in store and store.lower() not in _registered()
            store = None if alone and not by_rows else kvs.create(store)
        if store is None:
            if on_store:
                raise ValueError(
                    "Trainer: update_on_kvstore=True needs a kvstore, and several contexts or a store given"
                )
        else:
            if on_store is None:
                wanted = bool(int(os.environ.get("MXNET_UPDATE_ON_KVSTORE", "1")))
                if any(each._grad_stype != "default" for each in self._params):
                    wanted = "dist" in store.type
                on_store = by_rows or (wanted and store.is_capable(kvs.KVStoreBase.OPTIMIZER))
            if self._compression_params:
                store.set_gradient_compression(self._compression_params)
            if on_store:
                if not store.is_capable(kvs.KVStoreBase.OPTIMIZER):
                    raise ValueError(f"Trainer: the kvstore {store.type!r} does not update parameters")
                store.set_optimizer(self._optimizer)
            self._distributed = "dist" in store.type
        self._kvstore = store
        self._update_on_kvstore = bool(on_store) if store is not None else None
        self._kv_initialized = True

    def _init_params(self) -> None:
        """Gives the store the parameters that have values by now."""
        if not self._kv_initialized:
            self._init_kvstore()
        waiting = []
        for each in self._params_to_init:
            if each._deferred_init:
                waiting.append(each)
            elif self._kvstore is not None:
                arrays = each._check_and_get(each._data, list)
                if each._stype == "default":
                    self._kvstore.broadcast(self._param2idx[each.name], arrays[0], arrays)
                else:
                    self._kvstore.init(self._param2idx[each.name], arrays[0])
        self._params_to_init = waiting

    # ---- what it is ----

    def _repr_html_(self) -> str:
        """For a notebook: the optimizer, and how far it is."""
        rows = [
            ["optimizer", type(self._optimizer).__name__],
            ["learning rate", f"{self.learning_rate:.6g}"],
            ["weight decay", f"{self._optimizer.wd:.6g}"],
            ["updates", str(self._optimizer.num_update)],
            ["parameters", str(len(self._params))],
        ]
        return tables.table([], rows, right={1}, title="Trainer")

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step."""
        return self._optimizer.learning_rate

    @property
    def optimizer(self) -> opt.Optimizer:
        """The optimizer."""
        return self._optimizer

    def set_learning_rate(self, lr: float) -> None:
        """Sets the learning rate. Raises UserWarning: a scheduler decides it."""
        self._optimizer.set_learning_rate(lr)

    # ---- a step ----

    def step(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """Adds up gradients of all contexts, divides them by `batch_size`, and updates the parameters.

        Args:
            ignore_stale_grad: leave parameters alone that backward has not reached since the last step, instead of
                refusing.

        Raises:
            UserWarning: a gradient is stale.
            DeferredInitializationError: a parameter has no values yet.
        """
        self._check_and_rescale_grad(self._scale / batch_size)
        if self._params_to_init or not self._kv_initialized:
            self._init_params()
        self._allreduce_grads()
        self._update(ignore_stale_grad)

    def _check_and_rescale_grad(self, scale: float) -> None:
        changed = self._optimizer.rescale_grad != scale
        if changed and self._update_on_kvstore and self._distributed and self._kv_initialized:
            raise UserWarning(
                "the batch size of `step` has changed, which workers of a distributed store do not hear of; make "
                "the Trainer with update_on_kvstore=False"
            )
        self._optimizer.rescale_grad = scale

    def allreduce_grads(self) -> None:
        """Adds up gradients of all contexts, for those who change them before `update`.

        Raises: MXNetError: the store updates the parameters.
        """
        self._init_params()
        if self._update_on_kvstore:
            raise WrongStateError(_ON_STORE.format("allreduce_grads()"))
        self._allreduce_grads()

    def _allreduce_grads(self) -> None:
        if self._kvstore is None:
            return
        together = getattr(self._kvstore, "pushpull_gradients", None)
        if together is not None and all(each._grad_stype == each._stype == "default" for each in self._params):
            indices = [i for i, each in enumerate(self._params) if each.grad_req != "null"]
            together(indices, [self._params[i] for i in indices], self._update_on_kvstore)
            return
        for i, each in enumerate(self._params):
            if each.grad_req == "null":
                continue
            grads = each.list_grad()
            if grads[0].stype == "default" and each._stype == "default":
                target = each.list_data() if self._update_on_kvstore else grads
                self._kvstore.pushpull(i, grads, out=target, priority=-i)
                continue
            self._kvstore.push(i, grads, priority=-i)
            if each._stype == "default":
                target = each.list_data() if self._update_on_kvstore else grads
                self._kvstore.pull(i, target, priority=-i, ignore_sparse=False)

    def update(self, batch_size: float, ignore_stale_grad: bool = False) -> None:
        """The second half of `step`: updates the parameters by gradients that are added up already.

        Raises: MXNetError: the store updates the parameters; what `step` raises.
        """
        self._init_params()
        if self._update_on_kvstore:
            raise WrongStateError(_ON_STORE.format("update()"))
        self._check_and_rescale_grad(self._scale / batch_size)
        self._update(ignore_stale_grad)

    def _update(self, ignore_stale_grad: bool = False) -> None:
        if self._update_on_kvstore:
            return
        if self._amp_loss_scaler is not None and self._amp_loss_scaler.has_overflow(self._params):
            return self._leave_out()
        if self._updates is None or self._updates[0] != epoch.number:
            self._updates = (epoch.number, self._list_updates())
        fresh, set_fresh, lists = hot.fresh, hot.set_fresh, self._updates[1]
        if not all(handles and min(map(fresh, handles)) > 0 for *_, handles in lists):
            lists = self._fresh_ones(lists, ignore_stale_grad)
        for updater, (indices, slopes, weights, handles) in zip(self._updaters, lists):
            if indices:
                updater(indices, slopes, weights)
                for handle in handles:
                    set_fresh(handle, 0)

    def _list_updates(self) -> list[tuple]:
        """For each context what is updated: indices, gradients, arrays, and the arrays' handles."""
        wanted = [(i, each) for i, each in enumerate(self._params) if each._grad_req != "null"]
        for _, each in wanted:
            each.list_data()  # raises where there is none
        lists = []
        for k in range(len(self._updaters)):
            arrays = tuple(each._data[k] for _, each in wanted)
            slopes = tuple(each._grad[k] for _, each in wanted)
            lists.append((tuple(i for i, _ in wanted), slopes, arrays, [array._h for array in arrays]))
        return lists

    def _fresh_ones(self, lists: list[tuple], ignore_stale_grad: bool) -> list[tuple]:
        """Those whose gradients backward has written since the last step. Raises: UserWarning: others are there."""
        for i in range(len(lists[0][0])):
            for indices, _, arrays, handles in lists:
                if not ignore_stale_grad and hot.fresh(handles[i]) <= 0:
                    raise UserWarning(_STALE.format(self._params[indices[i]].name, arrays[i].context))
        return [
            tuple(tuple(each[i] for i, handle in enumerate(some[3]) if hot.fresh(handle) > 0) for each in some)
            for some in lists
        ]

    def _leave_out(self) -> None:
        """Ends a step whose gradients have overflowed."""
        for each in self._params:
            for array in each.list_data() if each.grad_req != "null" else ():
                hot.set_fresh(array._h, 0)

    # ---- files ----

    def save_states(self, fname: str) -> None:
        """Writes what the optimizer keeps of the parameters, and the optimizer, to a file that is no pickle.

        Raises: TypeError: an attribute of the optimizer is of a kind that files do not have. OSError: the file cannot
            be written; the one that was there stays.
        """
        self._init_params()
        if self._update_on_kvstore:
            if self._params_to_init:
                raise WrongStateError("save_states: the key-value store does not have all parameters yet")
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
            return
        self._updaters[0].save(fname, dump_optimizer=True)

    def load_states(self, fname: str) -> None:
        """Reads what `save_states` of this package or of MXNet 1.9.1 wrote.

        A file of 1.9.1's is a pickle, which can name any code to be run. From it come arrays, numbers, containers,
        optimizers and schedulers alone, with one warning; all else is refused. MXLITE_ALLOW_PICKLE=0 in the environment
        refuses pickles, and MXLITE_ALLOW_PICKLE=1 reads them as Python does: for files of trusted origin.

        Raises: MXNetError: it is refused, or damaged. OSError: it cannot be read.
        """
        self._init_params()
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            self._optimizer = self._kvstore._updater.optimizer
        else:
            for each in self._updaters:
                each.load(fname)
                each.optimizer = self._updaters[0].optimizer
            self._optimizer = self._updaters[0].optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))


def _check_store_of_rows(store: Any, on_store: bool | None) -> None:
    """Raises: TypeError: parameters are stored by rows, and there is to be no store; ValueError: or it is not to
    update them."""
    if not isinstance(store, (str, kvs.KVStoreBase)):
        raise TypeError(f"Trainer: a parameter is stored by rows, which needs a kvstore, or its name, not {store!r}")
    if on_store is False:
        raise ValueError("Trainer: a parameter is stored by rows, so the kvstore updates them: update_on_kvstore=False")


def _registered() -> set[str]:
    return set(kvs.KVStoreBase.kv_registry) - {"teststore"}


show(globals())
