"""Sums of gradients over workers: in buckets of some megabytes, which are on their way while backward still runs."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from mxlite.error import MXNetError
from mxlite.kvstore._world import World
from mxlite.kvstore.base import summed
from mxlite.ndarray import NDArray, from_dlpack

#: Bytes of a bucket, unless MXLITE_BUCKET_BYTES says another number; a larger gradient has one of its own.
_BYTES = 4 << 20


def wire_type(dtype: Any) -> np.dtype:
    """The dtype in which values travel: MPI adds up no float16, which so are rounded once, after the sum."""
    found = np.dtype(dtype)
    return np.dtype(np.float32) if found == np.float16 else found


def _bucket_bytes() -> int:
    given = os.environ.get("MXLITE_BUCKET_BYTES", "")
    if given and not (given.isdecimal() and int(given)):
        raise MXNetError(f"MXLITE_BUCKET_BYTES must be a number of bytes, got {given!r}")
    return int(given or _BYTES)


class _Slot:
    """A gradient's place in a bucket."""

    __slots__ = ("bucket", "grads", "piece", "source", "total", "version")

    def __init__(self, grads: list[NDArray], bucket: _Bucket, first: int, flat: NDArray) -> None:
        count = grads[0].size
        self.grads = grads
        self.bucket = bucket
        self.piece = bucket.values[first : first + count].reshape(grads[0].shape)
        self.total = flat[first : first + count].reshape(grads[0].shape)
        self.source = np.asarray(grads[0])
        #: The version of the gradient that was copied; None: none was.
        self.version: int | None = None

    def copy(self) -> None:
        if len(self.grads) == 1:
            np.copyto(self.piece, self.source)
        else:
            np.copyto(self.piece, summed(self.grads).asnumpy())

    def is_current(self) -> bool:
        """Whether the gradient is what was copied."""
        return self.version is not None and len(self.grads) == 1 and self.grads[0]._version == self.version


class _Bucket:
    """Gradients that travel together.

    Attributes: values: theirs, and in the last bucket a number for each bucket; missing: how many gradients backward
        has not reached yet; early: whether it may leave before backward ends; request: of the sum, once it has left.
    """

    __slots__ = ("early", "missing", "request", "slots", "values")

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.slots: list[_Slot] = []
        self.missing = 0
        self.early = True
        self.request: Any = None


class Sums:
    """The sums of some gradients over all workers.

    A bucket leaves when backward has written its last gradient, and all buckets before it have left. The last one
    leaves in `finish`, and takes with it which of the others a worker wants to send again because their gradients have
    been changed since (clipped, or written by another backward); they then wait for `finish` from that step on.
    The first step sends all in `finish`; the order of the buckets is then that in which worker 0's backward writes.

    Args: parameters: those with a gradient, in the same order in all workers.
    """

    def __init__(self, world: World, parameters: Sequence[Any]) -> None:
        self._world = world
        self._comm = world.duplicate()
        self._parameters = list(parameters)
        self._handles: list[Any] = []
        self._connect()

    def _connect(self) -> None:
        """Takes the parameters' arrays as they are now."""
        self.close()
        self._known = [(each._data, each._grad) for each in self._parameters]
        kinds = [(each.shape, np.dtype(each.dtype).name, each.grad_req) for each in self._parameters]
        self._world.agree("the gradients of a Trainer", kinds)
        self._hooked = [each.grad_req == "write" and len(each._data) == 1 for each in self._parameters]
        self._settled = not any(self._hooked)
        self._seen: list[int] = []
        self._plan(sorted(range(len(kinds)), reverse=True))
        me = weakref.ref(self)
        for i, each in enumerate(self._parameters):
            if self._hooked[i]:
                self._handles.append(each._data[0].register_post_accumulate_grad_hook(_Hook(me, i)))

    def close(self) -> None:
        """Lets go of the parameters."""
        for each in self._handles:
            each.remove()
        self._handles = []

    def _plan(self, order: Sequence[int]) -> None:
        """Makes the buckets: gradients that hooks tell of in that order, then the others."""
        limit = _bucket_bytes()
        groups: list[tuple[np.dtype, list[int]]] = []
        open_: dict[tuple, tuple[list[int], int]] = {}
        for i in sorted(order, key=lambda i: not self._hooked[i]):
            dtype = wire_type(self._parameters[i].dtype)
            size = self._known[i][1][0].size * dtype.itemsize
            some, used = open_.get((dtype, self._hooked[i]), ([], limit))
            if used + size > limit:
                some, used = [], 0
                groups.append((dtype, some))
            some.append(i)
            open_[dtype, self._hooked[i]] = some, used + size
        if not groups or groups[-1][0].kind != "f":
            groups.append((np.dtype(np.float32), []))
        self._slots: list[Any] = [None] * len(self._parameters)
        self._buckets = [self._bucket(dtype, some, len(groups)) for dtype, some in groups]
        self._buckets[-1].early = False
        self._rest = [i for i in range(len(self._slots)) if not self._hooked[i]]
        self._next = 0

    def _bucket(self, dtype: np.dtype, members: list[int], flags: int) -> _Bucket:
        grads = [self._known[i][1] for i in members]
        bucket = _Bucket(np.zeros(sum(each[0].size for each in grads) + flags, dtype))
        flat = from_dlpack(bucket.values)
        first = 0
        for i, each in zip(members, grads):
            self._slots[i] = slot = _Slot(each, bucket, first, flat)
            bucket.slots.append(slot)
            first += each[0].size
        bucket.missing = len(members)
        bucket.early = all(self._hooked[i] for i in members)
        return bucket

    # ---- a step ----

    def ready(self, i: int) -> None:
        """Backward has written a gradient."""
        slot = self._slots[i]
        bucket = slot.bucket
        if bucket.request is not None:  # another backward: `finish` sees the version
            return
        if slot.version is None:
            bucket.missing -= 1
            if not self._settled:
                self._seen.append(i)
        slot.copy()
        slot.version = slot.grads[0]._version
        buckets = self._buckets
        if not self._settled:
            return
        if self._next:
            buckets[self._next - 1].request.Test()  # MPI works on what is under way
        while self._next < len(buckets) and buckets[self._next].early and buckets[self._next].missing == 0:
            self._leave(buckets[self._next])

    def _leave(self, bucket: _Bucket) -> None:
        # The numbers at the end of all buckets but the last are not looked at.
        bucket.request = self._world.start_sum(bucket.values, self._comm)
        self._next += 1

    def finish(self) -> list[NDArray]:
        """Waits for the sums: arrays, one for each parameter, which the next backward may overwrite.

        A float16 gradient's is float32. Raises: MXNetError: another worker has left, or has other parameters.
        """
        if any(
            each._data is not data or each._grad is not grad
            for each, (data, grad) in zip(self._parameters, self._known)
        ):
            self._connect()
        buckets = self._buckets
        again = np.array([each.request is not None and not _is_current(each) for each in buckets])
        while self._next < len(buckets):
            bucket = buckets[self._next]
            _fill(bucket)
            if bucket is buckets[-1]:
                bucket.values[-len(buckets) :] = again
            self._leave(bucket)
        for bucket in buckets:
            self._world.wait(bucket.request)
        self._repeat(np.flatnonzero(buckets[-1].values[-len(buckets) :]))
        for bucket in buckets:
            bucket.request = None
            bucket.missing = len(bucket.slots)
            for slot in bucket.slots:
                slot.version = None
        self._next = 0
        totals = [slot.total for slot in self._slots]
        if not self._settled and self._agree_on_order():
            self._settled = True
        return totals

    def _repeat(self, numbers: Sequence[int]) -> None:
        """Sends buckets again, in every worker."""
        for number in numbers:
            bucket = self._buckets[number]
            for slot in bucket.slots:
                slot.copy()
            bucket.request = self._world.start_sum(bucket.values, self._comm)
            bucket.early = False
        for number in numbers:
            self._world.wait(self._buckets[number].request)

    def _agree_on_order(self) -> bool:
        """Takes worker 0's order of gradients for the steps to come. False: hooks have told it of none yet."""
        count = len(self._slots)
        seen = dict.fromkeys(self._seen)
        order = np.array([*seen, *(i for i in reversed(range(count)) if i not in seen), len(seen)], np.int64)
        self._world.broadcast(order)
        if order[-1] == 0:
            return False
        self._plan([int(i) for i in order[:-1]])
        return True


class _Hook:
    """Tells the sums, while they are there, that backward has written a gradient."""

    __slots__ = ("number", "sums")

    def __init__(self, sums: weakref.ref[Sums], number: int) -> None:
        self.sums = sums
        self.number = number

    def __call__(self, _: Any) -> None:
        sums = self.sums()
        if sums is not None:
            sums.ready(self.number)


def _is_current(bucket: _Bucket) -> bool:
    return all(slot.is_current() for slot in bucket.slots)


def _fill(bucket: _Bucket) -> None:
    for slot in bucket.slots:
        if not slot.is_current():
            slot.copy()
