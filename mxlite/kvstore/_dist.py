"""KVStoreDist: a store that all workers of a run share; MPI adds up what they push."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mxlite.error import MXNetError
from mxlite.kvstore._buckets import Sums, wire_type
from mxlite.kvstore._world import world
from mxlite.kvstore.base import summed
from mxlite.kvstore.kvstore import KVStore
from mxlite.ndarray import NDArray, array
from mxlite.ndarray._kinds import as_kind
from mxlite.ndarray.sparse import row_sparse_array


class KVStoreDist(KVStore):
    """A store of which each worker has a copy; `create("dist_sync")` makes one.

    What workers push is added up over all of them, so that every copy holds the same bits; an optimizer updates each
    copy in the same way. `init`, `push` and what calls them are calls that all workers make with the same keys.

    Raises: ImportError: there is no MPI (`pip install mxlite[mpi]`).
    """

    def __init__(self, kind: str = "dist_sync") -> None:
        super().__init__(kind)
        self._world = world()
        self._sums: Sums | None = None
        self._summed: list[Any] = []

    @property
    def rank(self) -> int:
        return self._world.rank

    @property
    def num_workers(self) -> int:
        return self._world.size

    def _first_values(self, keys: list[Any], arrays: list[NDArray]) -> list[NDArray]:
        """Worker 0's."""
        self._world.agree("init", _kinds(keys, arrays))
        found = []
        for each in arrays:
            if each.stype == "row_sparse":
                found.append(self._rows_of_all(each, stored=self.rank == 0)[0])
                continue
            values = each.asnumpy()
            self._world.broadcast(values)
            found.append(_stored_as(each, values))
        return found

    def _totals(self, keys: list[Any], arrays: list[NDArray]) -> list[NDArray]:
        """Sums over workers. Of row_sparse arrays the stored rows alone travel."""
        self._world.agree("push", _kinds(keys, arrays))
        whole = [each for each in arrays if each.stype != "row_sparse"]
        sent = [each.asnumpy().astype(wire_type(each.dtype), copy=False) for each in whole]
        for request in [self._world.start_sum(each, self._world.comm) for each in sent]:
            self._world.wait(request)
        totals = iter([_stored_as(each, values) for values, each in zip(sent, whole)])
        return [self._sum_of_rows(each) if each.stype == "row_sparse" else next(totals) for each in arrays]

    def _sum_of_rows(self, array: NDArray) -> NDArray:
        """The sum of a row_sparse array over workers, in their order."""
        total = summed(self._rows_of_all(array.astype(wire_type(array.dtype))))
        return total if total.dtype == array.dtype else total.astype(array.dtype)

    def _rows_of_all(self, array: NDArray, stored: bool = True) -> list[NDArray]:
        """The row_sparse arrays of all workers; of those with `stored` False one that stores nothing."""
        rows, values = array.indices.asnumpy(), array.data.asnumpy()
        if not stored:
            rows, values = rows[:0], values[:0]
        parts = zip(self._world.gather(values), self._world.gather(rows))
        shape = (-1, *array.shape[1:])
        return [
            row_sparse_array((data.reshape(shape) if data.size else values[:0], indices), array.shape, array.context)
            for data, indices in parts
        ]

    def pushpull_gradients(self, keys: Sequence[int], parameters: Sequence[Any], update: bool) -> None:
        """Adds up a Trainer's gradients over all workers, most of which have left while backward ran.

        Args: update: Whether the optimizer updates the stored parameters, which then replace the parameters' data;
            else the sums replace the gradients.
        """
        if self._sums is None or self._summed != parameters:
            if self._sums is not None:
                self._sums.close()
            self._summed, self._sums = list(parameters), Sums(self._world, parameters)
        totals = self._sums.finish()
        if not update:
            for each, total in zip(parameters, totals):
                for grad in as_kind(each.list_grad(), NDArray):
                    total.copyto(grad)
            return
        totals = [
            total if total.dtype == each.dtype else total.astype(each.dtype) for each, total in zip(parameters, totals)
        ]
        stored = [self._known(key) for key in keys]
        self._update(keys, totals, stored)
        for each, kept in zip(parameters, stored):
            for data in as_kind(each.list_data(), NDArray):
                kept.copyto(data)

    def set_gradient_compression(self, compression_params: dict[str, Any]) -> None:
        """Raises MXNetError: mxlite compresses no gradients."""
        raise MXNetError(f"kvstore {self._kind!r}: gradient compression is not in mxlite")

    def _barrier(self) -> None:
        """Waits until all workers have come here."""
        self._world.agree("_barrier", None)

    barrier = _barrier


def _stored_as(like: NDArray, values: np.ndarray) -> NDArray:
    """An array of the values, of the dtype, device and storage type of another."""
    made = array(values, dtype=like.dtype, ctx=like.context)
    return made if like.stype == "default" else made.tostype(like.stype)


def _kinds(keys: list[Any], arrays: list[NDArray]) -> list[Any]:
    return [(key, each.shape, np.dtype(each.dtype).name, each.stype) for key, each in zip(keys, arrays)]
