"""The iterator over arrays in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.error import MXNetError
from mxlite.io._base import DataBatch, DataDesc, DataIter
from mxlite.io.utils import _getdata_by_idx, _has_instance, _init_data
from mxlite.ndarray import NDArray, concat, op, tile
from mxlite.ndarray.sparse import CSRNDArray

_LAST = ("pad", "discard", "roll_over")


class NDArrayIter(DataIter):
    """Batches of arrays along their first axis (or that of "N" in the layout).

    Args:
        data: An array, a list or a dictionary of arrays. NumPy arrays become float32; csr arrays and matrices of
            scipy.sparse give dense batches.
        label: The same, or None.
        batch_size: Samples of a batch.
        shuffle: Whether the samples change their order at each reset.
        last_batch_handle: What becomes of samples that do not fill a batch: "pad" fills it from the begin, "discard"
            leaves it out, "roll_over" begins the next epoch with them.
        data_name, label_name: Names of arrays that have none.
        layout: Letters of the axes.
    Raises: ValueError, TypeError, MXNetError: a bad parameter, or arrays of different lengths; NotImplementedError: csr
        arrays, and samples that do not fill a batch are not discarded.
    """

    def __init__(
        self,
        data: Any,
        label: Any = None,
        batch_size: int = 1,
        shuffle: bool = False,
        last_batch_handle: str = "pad",
        data_name: str = "data",
        label_name: str = "softmax_label",
        layout: str = "NCHW",
    ) -> None:
        super().__init__(batch_size)
        if last_batch_handle not in _LAST:
            raise ValueError(f"NDArrayIter: last_batch_handle must be one of {_LAST}, got {last_batch_handle!r}")
        if not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
            raise MXNetError(f"NDArrayIter: batch_size must be an integer above 0, got {batch_size!r}")
        self.data = _init_data(data, False, data_name)
        self.label = _init_data(label, True, label_name)
        if last_batch_handle != "discard" and _has_instance(self.data + self.label, CSRNDArray):
            raise NotImplementedError("NDArrayIter: csr arrays need last_batch_handle='discard'")
        self.layout = layout
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self._axis = max(0, DataDesc.get_batch_axis(layout))
        self.num_data = self.data[0][1].shape[self._axis]
        for name, each in self.data + self.label:
            if each.shape[self._axis] != self.num_data:
                raise MXNetError(
                    f"NDArrayIter: {name} has {each.shape[self._axis]} samples, {self.data[0][0]} {self.num_data}"
                )
        self.idx = np.arange(self.num_data)
        self.cursor = -batch_size
        #: What is left of the last epoch, for the first batch of the next.
        self._left: list[list[NDArray]] | None = None
        self.reset()

    @property
    def data_list(self) -> list[NDArray]:
        """All arrays, those of the labels last."""
        return [each for _, each in self.data + self.label]

    @property
    def num_source(self) -> int:
        """The number of arrays."""
        return len(self.data) + len(self.label)

    @property
    def provide_data(self) -> list[DataDesc]:
        """Descriptions of the arrays of a batch."""
        return self._describe(self.data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Descriptions of the labels of a batch."""
        return self._describe(self.label)

    def _describe(self, pairs: list[tuple[str, NDArray]]) -> list[DataDesc]:
        axis = self._axis
        return [
            DataDesc(name, (*each.shape[:axis], self.batch_size, *each.shape[axis + 1 :]), each.dtype, self.layout)
            for name, each in pairs
        ]

    def hard_reset(self) -> None:
        """Goes to the begin, and forgets samples that were left."""
        if self.shuffle:
            self._shuffle_data()
        self.cursor = -self.batch_size
        self._left = None

    def reset(self) -> None:
        """Goes to the begin of the next epoch."""
        left = self._left
        self.hard_reset()
        if left is not None:
            self.cursor -= left[0][0].shape[self._axis]
            self._left = left

    def iter_next(self) -> bool:
        """Goes to the next batch; False at the end."""
        self.cursor += self.batch_size
        return self.cursor < self.num_data

    def next(self) -> DataBatch:
        """The next batch.

        Raises: StopIteration: there is none.
        """
        if not self.iter_next():
            raise StopIteration
        if self.cursor + self.batch_size > self.num_data and self.last_batch_handle != "pad":
            if self.last_batch_handle == "roll_over":
                self._left = [self.getdata(), self.getlabel()]
            raise StopIteration
        batch = DataBatch(self.getdata(), self.getlabel(), self.getpad(), None)
        if self.cursor < 0:
            self._left = None
        return batch

    def getdata(self) -> list[NDArray]:
        """The arrays of the present batch."""
        return self._batch(self.data, 0)

    def getlabel(self) -> list[NDArray]:
        """Its labels."""
        return self._batch(self.label, 1)

    def getpad(self) -> int:
        """How many samples at its end fill it; of one that begins with samples of the last epoch, how many they are."""
        if self.last_batch_handle == "pad":
            return max(0, self.cursor + self.batch_size - self.num_data)
        return -self.cursor if self.last_batch_handle == "roll_over" and -self.batch_size < self.cursor < 0 else 0

    def getindex(self) -> None:
        """None: batches have no numbers."""

    def _batch(self, pairs: list[tuple[str, NDArray]], kind: int) -> list[NDArray]:
        begin, end = self.cursor, self.cursor + self.batch_size
        if end <= 0:
            raise MXNetError("NDArrayIter: there is no batch; call next or iter_next before")
        pieces = [
            op.slice_axis(each, axis=self._axis, begin=max(0, begin), end=min(end, self.num_data)) for _, each in pairs
        ]
        if begin < 0 and self._left is not None:
            return [concat(*both, dim=self._axis) for both in zip(self._left[kind], pieces)]
        if end > self.num_data and self.last_batch_handle == "pad":
            return [
                concat(piece, self._begin(each, end - self.num_data), dim=self._axis)
                for piece, (_, each) in zip(pieces, pairs)
            ]
        return pieces

    def _begin(self, each: NDArray, count: int) -> NDArray:
        """The first samples of an array, over and over."""
        times = -(-count // self.num_data)
        if times > 1:
            each = tile(each, (1,) * self._axis + (times,) + (1,) * (each.ndim - self._axis - 1))
        return op.slice_axis(each, axis=self._axis, begin=0, end=count)

    def _shuffle_data(self) -> None:
        """Shuffles `idx`, the numbers of the samples, and puts the given samples into its order."""
        if not hasattr(self, "_given"):
            self._given = self.data, self.label
        np.random.shuffle(self.idx)
        self.data, self.label = (_getdata_by_idx(each, self.idx) for each in self._given)
