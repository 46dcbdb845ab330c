"""An iterator of `mx.io` over the batches of a Gluon data loader."""

from __future__ import annotations

from typing import Any

from mxlite import ndarray as nd
from mxlite._public import show as _show
from mxlite.io import DataDesc, DataIter
from mxlite.ndarray import NDArray

__all__ = ["DataLoaderIter"]


class DataLoaderIter(DataIter):
    """Batches of a loader of (data, label) pairs; the last one, if it is short, is padded with zeros.

    Args:
        loader: a `gluon.data.DataLoader`.
        data_name, label_name: names for `provide_data` and `provide_label`.
        dtype: of the arrays.

    Raises: StopIteration: the loader is empty.
    """

    def __init__(
        self, loader: Any, data_name: str = "data", label_name: str = "softmax_label", dtype: Any = "float32"
    ) -> None:
        super().__init__()
        self._loader = loader
        self._iter = iter(loader)
        self._current_batch: Any = None
        self.dtype = dtype
        data, label = next(self._iter)
        self.batch_size = data.shape[0]
        self.provide_data = [DataDesc(data_name, data.shape, dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, dtype)]
        self.reset()

    def reset(self) -> None:
        """Begins again."""
        self._iter = iter(self._loader)

    def iter_next(self) -> bool:
        """Goes to the next batch; whether there is one."""
        self._current_batch = next(self._iter, None)
        return self._current_batch is not None

    def _padded(self, array: NDArray) -> list[NDArray]:
        array = array.astype(self.dtype)
        missing = self.batch_size - array.shape[0]
        if missing == 0:
            return [array]
        rest = nd.zeros((missing, *array.shape[1:]), dtype=self.dtype)
        return [nd.concat(array, rest, dim=0)]

    def getdata(self) -> list[NDArray]:
        """The batch's data: a list of one array with `batch_size` rows."""
        return self._padded(self._current_batch[0])

    def getlabel(self) -> list[NDArray]:
        """The batch's labels: a list of one array with `batch_size` rows."""
        return self._padded(self._current_batch[1])

    def getpad(self) -> int:
        """The number of rows that are padding."""
        return self.batch_size - self._current_batch[0].shape[0]

    def getindex(self) -> None:
        """None: a loader does not tell the indices of its samples."""
        return None


_show(globals())
