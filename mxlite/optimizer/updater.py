"""Updater: an optimizer with the states of the parameters that it has updated."""

from __future__ import annotations

from typing import Any

from mxlite import _pickles
from mxlite._public import show
from mxlite.ndarray import NDArray
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
        """Updates `weight` in place; its state is made first, where there is none."""
        if not isinstance(index, (list, tuple)):
            index, grad, weight = [index], [grad], [weight]
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
        if not self.aggregate_updates:
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
        """Takes the states, and the optimizer if it is there too, of a pickle of this class or of MXNet 1.9.1's.

        As any pickle it may run code: it must come from somebody who is trusted.
        """
        found = _pickles.loads(states)
        if isinstance(found, tuple) and len(found) == 2:
            found, self.optimizer = found
            self.aggregate_updates = self.optimizer.aggregate_num > 0
        self.states = found
        self.states_synced = dict.fromkeys(found, False)

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The states as a pickle that MXNet 1.9.1 reads too; with `dump_optimizer` the optimizer as well."""
        return _pickles.dumps((self.states, self.optimizer) if dump_optimizer else self.states)


def get_updater(optimizer: Optimizer) -> Updater:
    """An Updater of the optimizer."""
    return Updater(optimizer)


show(globals())
