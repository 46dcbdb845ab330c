"""Updater: an optimizer with the states of the parameters that it has updated."""

from __future__ import annotations

import os
from operator import is_
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
        #: The last call with tuples, which the next one may be again: a Trainer's.
        self._plan: _Plan | None = None

    def __call__(self, index: Any, grad: Any, weight: Any) -> None:
        """Updates `weight` in place; its state is made first, where there is none.

        Optimizers get arrays of `mx.nd`, also of those of `mx.np`.
        """
        plan = self._plan
        if plan is None or not plan.fits(self, index, grad, weight):
            if not isinstance(index, (list, tuple)):
                index, grad, weight = [index], [grad], [weight]
            if not index:
                return
            plan = _Plan(self, index, grad, weight)
            self._plan = plan if type(index) is type(grad) is type(weight) is tuple else None
        self.optimizer._set_current_context(plan.device)
        for columns in plan.calls:
            self.optimizer.update_multi_precision(*columns)

    def _states_of(self, index: Any, weight: Any) -> list:
        """The states of parameters, which are made, or brought to the parameters' device."""
        states, synced = self.states, self.states_synced
        for each, array in zip(index, weight):
            if each not in states:
                states[each] = self.optimizer.create_state_multi_precision(each, array)
                synced[each] = True
            elif not synced[each]:
                states[each] = self.sync_state_context(states[each], array.context)
                synced[each] = True
        return [states[each] for each in index]

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


class _Plan:
    """What an Updater's call does with some parameters: the arguments of the optimizer's calls."""

    __slots__ = ("calls", "device", "_key", "_states")

    def __init__(self, updater: Updater, index: Any, grad: Any, weight: Any) -> None:
        self._key = (updater.optimizer, updater.aggregate_updates, updater.optimizer.aggregate_num, index, grad, weight)
        if isinstance(weight[0], NDArray) and weight[0]._kind is not NDArray:
            grad, weight = as_kind(list(grad), NDArray), as_kind(list(weight), NDArray)
        self.device = weight[0].context.device_id
        updater.optimizer._set_current_context(self.device)
        self._states = updater._states_of(index, weight)
        columns = [index, weight, grad, self._states]
        if not updater.aggregate_updates or _has_sparse(grad, weight):
            self.calls: list[Any] = list(zip(*columns))
            return
        self.calls = []
        size = updater.optimizer.aggregate_num
        for dtype in dict.fromkeys(array.dtype for array in weight):
            alike = [i for i, array in enumerate(weight) if array.dtype == dtype]
            for first in range(0, len(alike), size):
                some = alike[first : first + size]
                self.calls.append([[column[i] for i in some] for column in columns])

    def fits(self, updater: Updater, index: Any, grad: Any, weight: Any) -> bool:
        """Whether it is that of another call: of the same tuples, while optimizer and states are as they were."""
        optimizer = updater.optimizer
        key = (optimizer, updater.aggregate_updates, optimizer.aggregate_num, index, grad, weight)
        return all(map(is_, key, self._key)) and all(map(is_, map(updater.states.get, index), self._states))


def _has_sparse(*arrays: Any) -> bool:
    """Whether an array of some lists is stored sparsely, which operators for many parameters do not take."""
    kinds = {kind for some in arrays for kind in set(map(type, some))}
    return any(issubclass(kind, BaseSparseNDArray) for kind in kinds)


def get_updater(optimizer: Optimizer) -> Updater:
    """An Updater of the optimizer."""
    return Updater(optimizer)


show(globals())
