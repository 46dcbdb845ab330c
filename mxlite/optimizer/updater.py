"""Updater: an optimizer with the states of the parameters that it has updated."""

from __future__ import annotations

import os
from typing import Any

from mxlite._public import show
from mxlite.error import MXNetError
from mxlite.ndarray import NDArray
from mxlite.ndarray._kinds import as_kind
from mxlite.ndarray.sparse import BaseSparseNDArray
from mxlite.optimizer import _files, _pickles
from mxlite.optimizer._base import Optimizer


class Updater:
    """A function `updater(index, grad, weight)` that updates one parameter, or lists of them.

    States are made when a parameter is first updated.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Any, Any] = {}
        #: index -> whether the state is on the parameter's device
        self.states_synced: dict[Any, bool] = {}
        self.aggregate_updates = optimizer.aggregate_num > 0

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Updates `weight` in place; its state is made first, where there is none.

        Optimizers get arrays of `mx.nd`, also of those of `mx.np`.
        """
        if not isinstance(index, (list, tuple)):
            index, grad, weight = [index], [grad], [weight]
        if isinstance(weight[0], NDArray) and weight[0]._kind is not NDArray:
            grad, weight = as_kind(list(grad), NDArray), as_kind(list(weight), NDArray)
        if not index:
            return
        optimizer = self.optimizer
        states, synced = self.states, self.states_synced
        optimizer._set_current_context(weight[0].context.device_id)
        for each, array in zip(index, weight):
            if each not in states:
                states[each] = optimizer.create_state_multi_precision(each, array)
                synced[each] = True
            elif not synced[each]:
                states[each] = self.sync_state_context(states[each], array.context)
                synced[each] = True
        if not self.aggregate_updates or _has_sparse(grad, weight):
            for each, array, slope in zip(index, weight, grad):
                optimizer.update_multi_precision(each, array, slope, states[each])
            return
        for dtype in dict.fromkeys(array.dtype for array in weight):
            alike = [i for i, array in enumerate(weight) if array.dtype == dtype]
            for first in range(0, len(alike), optimizer.aggregate_num):
                some = alike[first : first + optimizer.aggregate_num]
                optimizer.update_multi_precision(
                    [index[i] for i in some],
                    [weight[i] for i in some],
                    [grad[i] for i in some],
                    [states[index[i]] for i in some],
                )

    def sync_state_context(self, state: Any, context: Any) -> Any:
        """A state with its arrays on a device."""
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, (list, tuple)):
            return type(state)(self.sync_state_context(each, context) for each in state)
        return state

    def set_states(self, states: bytes) -> None:
        """Takes the states, and the optimizer if it is there too, of `get_states`, of MXNet 1.9.1's, or of a file.

        A pickle can name any code to be run. From it come arrays, numbers, containers, optimizers and schedulers alone,
        with one warning; all else is refused. MXLITE_ALLOW_PICKLE=0 in the environment refuses pickles, and
        MXLITE_ALLOW_PICKLE=1 reads them as Python does, which is for pickles of trusted origin.

        Raises: MXNetError: it is refused, or damaged; the states stay as they were.
        """
        self._take(states, "set_states")

    def _take(self, content: bytes, what: str) -> None:
        if _files.holds_states(content):
            found, optimizer = _files.parse(content, self.optimizer, what)
        else:
            found, optimizer = _pickles.loads(content, _files.known_names(self.optimizer), what), None
            if isinstance(found, tuple) and len(found) == 2:
                found, optimizer = found
            if not isinstance(found, dict) or not isinstance(optimizer, (Optimizer, type(None))):
                raise MXNetError(f"{what}: the pickle has no states, or no optimizer, where they should be")
        if optimizer is not None:
            self.optimizer = optimizer
            self.aggregate_updates = self.optimizer.aggregate_num > 0
        self.states = found
        self.states_synced = dict.fromkeys(found, False)

    def load(self, fname: Any) -> None:
        """Takes the states, and the optimizer if it is there too, of a file that `save` or MXNet 1.9.1 wrote.

        Raises: as `set_states`; OSError: the file cannot be read.
        """
        with open(fname, "rb") as file:
            content = file.read()
        self._take(content, os.fsdecode(fname))

    def save(self, fname: Any, dump_optimizer: bool = False) -> None:
        """Writes the states to a file that is no pickle; with `dump_optimizer` the optimizer as well.

        Raises: TypeError: a state, or an attribute of the optimizer, is of a kind that files do not have. OSError: the
            file cannot be written; the one that was there stays.
        """
        _files.save(fname, self.states, self.optimizer if dump_optimizer else None)

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The states as a pickle that MXNet 1.9.1 reads too; with `dump_optimizer` the optimizer as well."""
        return _pickles.dumps((self.states, self.optimizer) if dump_optimizer else self.states)


def _has_sparse(*arrays: Any) -> bool:
    """Whether an array of some lists is stored sparsely, which operators for many parameters do not take."""
    kinds = {kind for some in arrays for kind in set(map(type, some))}
    return any(issubclass(kind, BaseSparseNDArray) for kind in kinds)


def get_updater(optimizer: Optimizer) -> Updater:
    """An Updater of the optimizer."""
    return Updater(optimizer)


show(globals())
