"""Descriptions of batches, batches, and what all iterators have."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import Any

import numpy as np

from mxlite.error import WrongTypeError
from mxlite.ndarray import NDArray


class DataDesc(namedtuple("DataDesc", ["name", "shape"])):
    """Name, shape, dtype and layout of an array of a batch; as a tuple it is the first two.

    Args:
        layout: A letter for each axis; "N" is that of the samples.
    """

    dtype: Any
    layout: str | None

    def __new__(cls, name: str, shape: Any, dtype: Any = np.float32, layout: str | None = "NCHW") -> DataDesc:
        self = super().__new__(cls, name, shape)
        self.dtype = dtype
        self.layout = layout
        return self

    def __repr__(self) -> str:
        return f"DataDesc[{self.name},{self.shape},{self.dtype},{self.layout}]"

    @staticmethod
    def get_batch_axis(layout: str | None) -> int:
        """The axis of the samples: that of "N"; 0 without a layout, -1 if it has none."""
        return 0 if layout is None else layout.find("N")

    @staticmethod
    def get_list(shapes: Iterable[tuple], types: Iterable[tuple] | None) -> list[DataDesc]:
        """Descriptions of pairs of names and shapes and, if given, of names and dtypes."""
        if types is None:
            return [DataDesc(*each) for each in shapes]
        dtypes = dict(types)
        return [DataDesc(name, shape, dtypes[name]) for name, shape in shapes]


class DataBatch:
    """What an iterator gives at a time.

    Args:
        data, label: Lists of arrays.
        pad: How many samples at the end are there only to fill the batch.
        index: Numbers of the samples.
        bucket_key, provide_data, provide_label: Of batches that differ in shape.
    """

    def __init__(
        self,
        data: list[NDArray],
        label: list[NDArray] | None = None,
        pad: int | None = None,
        index: np.ndarray | None = None,
        bucket_key: Any = None,
        provide_data: list[DataDesc] | None = None,
        provide_label: list[DataDesc] | None = None,
    ) -> None:
        if data is not None and not isinstance(data, (list, tuple)):
            raise WrongTypeError("DataBatch: data is a list of NDArrays")
        if label is not None and not isinstance(label, (list, tuple)):
            raise WrongTypeError("DataBatch: label is a list of NDArrays")
        self.data, self.label, self.pad, self.index = data, label, pad, index
        self.bucket_key = bucket_key
        self.provide_data, self.provide_label = provide_data, provide_label

    def __str__(self) -> str:
        shapes = [each.shape for each in self.data]
        labels = [each.shape for each in self.label] if self.label else None
        return f"{type(self).__name__}: data shapes: {shapes} label shapes: {labels}"


class DataIter:
    """The base class of iterators over batches.

    A subclass defines `provide_data`, `provide_label`, `reset` and either `next`, or `iter_next` (whether there is
    another batch, which it then goes to) and `getdata`, `getlabel`, `getpad` and `getindex` of the present batch.
    """

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> DataIter:
        return self

    def reset(self) -> None:
        """Goes back to the begin."""

    def next(self) -> DataBatch:
        """The next batch.

        Raises: StopIteration: there is none.
        """
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), self.getindex())  # type: ignore[arg-type]

    def __next__(self) -> DataBatch:
        return self.next()

    def iter_next(self) -> Any:
        """Goes to the next batch; False at the end."""

    def getdata(self) -> Any:
        """The arrays of the present batch."""

    def getlabel(self) -> Any:
        """The labels of the present batch."""

    def getindex(self) -> Any:
        """Numbers of its samples."""

    def getpad(self) -> Any:
        """How many samples at its end only fill it."""


class HeldBatch(DataIter):
    """An iterator whose `iter_next` leaves the present batch in `current_batch`."""

    current_batch: DataBatch | None = None

    def getdata(self) -> Any:
        return self._current().data

    def getlabel(self) -> Any:
        return self._current().label

    def getindex(self) -> Any:
        return self._current().index

    def getpad(self) -> Any:
        return self._current().pad

    def next(self) -> DataBatch:
        if not self.iter_next():
            raise StopIteration
        return self._current()

    def _current(self) -> DataBatch:
        if self.current_batch is None:
            raise RuntimeError(f"{type(self).__name__}: there is no batch; call next or iter_next before")
        return self.current_batch
