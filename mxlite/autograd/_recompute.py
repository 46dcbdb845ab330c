"""checkpoint: a part of a program whose intermediate values are computed again in backward instead of kept."""

from __future__ import annotations

import ctypes
import traceback
import weakref
from typing import Any, Callable

from mxlite._lib import LIB, ask, check_call
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._hooks import call_at_end
from mxlite.autograd._nodes import detached, recorded
from mxlite.autograd.saved import SavedHooks


def checkpoint(
    front_end: FrontEnd,
    fn: Callable,
    args: tuple,
    kwargs: dict,
    preserve_rng_state: bool,
    early_stop: bool = True,
    compares: bool = False,
    differ: Callable[[str, list, list], Exception] | None = None,
) -> Any:
    """fn(*args, **kwargs), recorded like anything else, but with a number in the place of each saved value.

    The first of these that a backward reads makes fn run again; the values it saves then are kept to that backward's
    end. So gradients reach variables that fn reads without being given them, also by grad() and of any order.

    Args:
        early_stop: Whether that run ends as soon as it has saved as many values as the first.
        compares: Whether it is an error if a value has another shape or dtype than the first run's.
        differ: Makes the error of a run that does not do the same, of a text and of what both runs have saved (shapes
            and dtypes); None: it is the front end's.
    """
    if not front_end.is_recording():
        return fn(*args, **kwargs)
    again = _Again(front_end, fn, args, kwargs, preserve_rng_state, early_stop)
    again.compares = compares
    again.differ = differ or (lambda text, *_: front_end.error(text))
    with SavedHooks(again.number, again.value, front_end):
        result = fn(*args, **kwargs)
    again.complete = True
    return result


class _Enough(Exception):  # noqa: N818 - no error: the function has saved all that is needed
    """Ends a later run."""


class _Values:
    """The tensors that a later run saved, with their versions; kept by the backward that reads them."""

    def __init__(self, arrays: list[tuple[Any, int]]) -> None:
        self.arrays = arrays

    def end(self) -> None:
        """Called at the end of that backward, which releases this object."""


class _Run:
    """A later run while it goes on. Its graph keeps this object, so the values are taken out of it at the end.

    Args:
        enough: How many values make the run end; None: it goes to its end.
    """

    def __init__(self, enough: int | None) -> None:
        self.enough = enough
        self.arrays: list[tuple[Any, int]] = []

    def keep(self, array: Any) -> Any:
        """A value is saved: this run's own graph keeps it as it is."""
        if len(self.arrays) != self.enough:  # an operator may be tried in another way after an error
            self.arrays.append((array, array._version))
        if len(self.arrays) == self.enough:
            raise _Enough
        return array

    def take(self) -> list[tuple[Any, int]]:
        """All that was saved; none of it is kept here any longer."""
        arrays, self.arrays = self.arrays, []
        return arrays


class _Again:
    """The run that saved numbers, and how to repeat it."""

    def __init__(
        self, front_end: FrontEnd, fn: Callable, args: tuple, kwargs: dict, preserve_rng_state: bool, early_stop: bool
    ) -> None:
        self.front_end, self.fn, self.args, self.kwargs = front_end, fn, args, kwargs
        #: Whether later runs end as soon as they can, how many values the first has saved, and whether it is over.
        self.stops = early_stop
        self.count = 0
        self.complete = False
        #: Shapes and dtypes of what the first run has saved, if they are compared.
        self.compares, self.metas = False, []
        self.differ: Callable[[str, list, list], Exception]
        self.random = random_state() if preserve_rng_state else None
        self.training = front_end.set_training(False)
        front_end.set_training(self.training)
        self.versions = [each._version for each in self._arrays()]
        self.values: weakref.ref[_Values] | None = None

    def _arrays(self) -> list:
        given = (*self.args, *self.kwargs.values())
        return [each for each in given if isinstance(each, self.front_end.array_class)]

    def number(self, array: Any) -> int:
        """The packed form of a saved tensor: how many were saved before it."""
        self.count += 1
        self.metas.append(_meta(array))
        return self.count - 1

    def value(self, number: int) -> Any:
        """The value of that number.

        Raises: what the front_end says where the function saved fewer values than at first, or wrote to one since.
        """
        values = None if self.values is None else self.values()
        if values is None:
            values = _Values(self._run())
            self._keep(values)
        array, version = values.arrays[number]
        if array._version != version:
            raise self.front_end.error(
                "checkpoint: the function wrote to an array after it was saved for backward; edit a copy"
            )
        return array

    def _keep(self, values: _Values) -> None:
        """Leaves the values to the backward that runs; where none does, they are gone at once."""
        if ask(ctypes.c_int, LIB.MXLBackwardState) != 0:
            call_at_end(values.end, self.front_end.last_error)
            self.values = weakref.ref(values)

    def _run(self) -> list[tuple[Any, int]]:
        """The tensors that the function saves when it runs once more."""
        if [each._version for each in self._arrays()] != self.versions:
            raise self.front_end.error("checkpoint: an argument was written to after the first run; edit a copy")
        run = _Run(self.count if self.stops else None)
        random, training = random_state(), self.front_end.set_training(self.training)
        try:
            if self.random is not None:
                check_call(LIB.MXLRandomSetState(self.random))
            with recorded(self.front_end), SavedHooks(run.keep, lambda kept: kept, self.front_end):
                self.fn(*map(self._fresh, self.args), **{key: self._fresh(value) for key, value in self.kwargs.items()})
        except Exception as problem:  # the library makes errors of its own of what a function of ours raises
            if len(run.arrays) != run.enough:
                raise
            # A frame with the error in a variable would stay until a garbage collection, and the values with it.
            traceback.clear_frames(problem.__traceback__)
        finally:
            self.front_end.set_training(training)
            if self.random is not None:
                check_call(LIB.MXLRandomSetState(random))
        arrays = run.take()
        metas = [_meta(array) for array, _ in arrays]
        if len(arrays) < self.count or (self.complete and len(arrays) != self.count):
            raise self.differ(
                f"checkpoint: the function saved {self.count} arrays when it was first run, and {len(arrays)} "
                "when it was run again; it must do the same each time",
                self.metas,
                metas,
            )
        if self.compares and self.complete and metas != self.metas:
            place = next(k for k, (one, other) in enumerate(zip(self.metas, metas)) if one != other)
            raise self.differ(
                f"checkpoint: array {place} that the function saved was {self.metas[place]} when it was first run, and "
                f"is {metas[place]} when it was run again; it must do the same each time",
                self.metas,
                metas,
            )
        return arrays

    def _fresh(self, value: Any) -> Any:
        """An argument as the second run gets it: a variable of its own where a gradient flows to it."""
        if not isinstance(value, self.front_end.array_class):
            return value
        alone = detached(value._graph_front_end, value)
        return alone.requires_grad_() if value.requires_grad else alone


def _meta(array: Any) -> tuple:
    return tuple(array.shape), array.dtype


def random_state() -> Any:
    state = (ctypes.c_uint64 * 2)()
    check_call(LIB.MXLRandomGetState(state))
    return state
