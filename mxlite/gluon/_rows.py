"""Parameters that are stored by rows: the store of their Trainer has all rows, the parameter those asked for last."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from mxlite import ndarray
from mxlite.context import Context, cpu
from mxlite.ndarray.ndarray import NDArray


class StoredByRows:
    """The part of Parameter that has to do with the storage type row_sparse."""

    name: str
    shape: Any
    _stype: str
    _trainer: Any
    _data: Any

    def _set_trainer(self, trainer: Any) -> None:
        """Remembers the Trainer that updates the parameter.

        Raises: RuntimeError: the parameter is stored by rows and has another Trainer, whose store has its rows.
        """
        if self._stype != "default" and self._trainer is not None and trainer not in (None, self._trainer):
            raise RuntimeError(
                f"Parameter '{self.name}' is stored by rows, which another Trainer's store has: it can have one"
            )
        self._trainer = trainer

    def row_sparse_data(self, row_id: NDArray) -> NDArray:
        """The array in the context of `row_id`, with the rows that `row_id` names alone.

        Raises: RuntimeError: `stype` is "default", or the parameter has no Trainer.
        """
        self._need_rows("row_sparse_data", "data")
        return self._pulled(row_id.context, row_id)

    def list_row_sparse_data(self, row_id: NDArray) -> list[NDArray]:
        """The arrays in all contexts, with the rows that `row_id` names alone. Raises: RuntimeError: likewise."""
        self._need_rows("list_row_sparse_data", "list_data")
        return self._pulled(list, row_id)

    def _pulled(self, ctx: Any, row_id: NDArray) -> Any:
        if self._trainer is None:
            raise RuntimeError(f"Parameter '{self.name}' is stored by rows, which come from a Trainer: make one first")
        arrays = self._check_and_get(self._data, ctx)
        self._trainer._row_sparse_pull(self, arrays, row_id)
        return arrays

    def _check_and_get(self, arr_list: Any, ctx: Any) -> Any:
        raise NotImplementedError

    def _need_rows(self, method: str, other: str) -> None:
        if self._stype != "row_sparse":
            raise RuntimeError(
                f"{method}: the storage type of Parameter '{self.name}' is {self._stype}; call {other}()"
            )

    def _refuse_rows(self, method: str, other: str) -> NoReturn:
        raise RuntimeError(
            f"{method}: Parameter '{self.name}' is stored by rows, of which few may be here; {other}(row_id) gets some"
        )

    def _all_rows(self) -> NDArray:
        """The whole array, in cpu(0): what the store has, or the parameter itself before it is in one."""
        if self._trainer is None or not self._trainer._stores(self):
            return self._check_and_get(self._data, list)[0].copyto(cpu())
        rows = ndarray.array(np.arange(self.shape[0]), dtype=np.int64)
        whole = ndarray.zeros(self.shape, cpu(), self._data[0].dtype, "row_sparse")
        self._trainer._row_sparse_pull(self, whole, rows, full_idx=True)
        return whole


def zeros_as(array: NDArray, ctx: Context, stype: str) -> NDArray:
    """A gradient of zeros for an array."""
    return ndarray.zeros(array.shape, ctx, array.dtype, stype)
