"""Data sets: samples by their number, and data sets made of others."""

from __future__ import annotations

import os
from typing import Any, Callable

from mxlite._public import show
from mxlite.error import WrongValueError
from mxlite.gluon.data.sampler import FilterSampler, Sampler, SequentialSampler
from mxlite.ndarray.ndarray import NDArray


class Dataset:
    """Samples by their number: a class of it defines `__getitem__` and `__len__`."""

    def __getitem__(self, idx: Any) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def filter(self, fn: Callable[[Any], bool]) -> Dataset:
        """The samples of which `fn(sample)` is true; all are read at once, to know which."""
        return _SampledDataset(self, FilterSampler(fn, self))

    def shard(self, num_shards: int, index: int) -> Dataset:
        """Part `index` of `num_shards` parts whose lengths differ by one at most, the longer ones first.

        Raises: ValueError: there is no such part.
        """
        if index >= num_shards:
            raise WrongValueError(f"shard: there is no part {index} of {num_shards}")
        if num_shards <= 0:
            raise WrongValueError(f"shard: num_shards is 1 or more, not {num_shards}")
        if index < 0:
            raise WrongValueError(f"shard: index is 0 or more, not {index}")
        size, longer = divmod(len(self), num_shards)
        start = size * index + min(index, longer)
        return _SampledDataset(self, SequentialSampler(size + (index < longer), start))

    def take(self, count: int | None) -> Dataset:
        """The first `count` samples; all, with None or where there are fewer.

        Raises: ValueError: a count below 0.
        """
        length = len(self)
        if count is not None and count < 0:
            raise ValueError(f"take: count must be 0 or more, got {count}")
        return _SampledDataset(self, SequentialSampler(length if count is None or count > length else count))

    def sample(self, sampler: Sampler) -> Dataset:
        """The samples whose numbers a sampler gives, in its order; the sampler is read once.

        Raises: TypeError: it is no Sampler.
        """
        if not isinstance(sampler, Sampler):
            raise TypeError(f"Invalid sampler type: {type(sampler)}. Expected gluon.data.Sampler instead.")
        return _SampledDataset(self, sampler)

    def transform(self, fn: Callable, lazy: bool = True) -> Dataset:
        """What `fn` makes of each sample; a sample that is a tuple is given as arguments.

        Args:
            lazy: each time a sample is read; False: of all samples at once, now.
        """
        changed = _LazyTransformDataset(self, fn)
        return changed if lazy else SimpleDataset([changed[number] for number in range(len(changed))])

    def transform_first(self, fn: Callable, lazy: bool = True) -> Dataset:
        """As `transform`, of the first entry of each sample alone: often the image beside a label."""
        return self.transform(_TransformFirstClosure(fn), lazy)


class SimpleDataset(Dataset):
    """The entries of a list or anything else with numbers and a length."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        return self._data[idx]


class ArrayDataset(Dataset):
    """Arrays or lists of one length side by side: a sample has an entry of each; of one array, the entry itself.

    Raises: ValueError: no array, or lengths that differ.
    """

    def __init__(self, *args: Any) -> None:
        if not args:
            raise WrongValueError("ArrayDataset: there are no arrays")
        self._length = len(args[0])
        self._data = []
        for number, data in enumerate(args):
            if len(data) != self._length:
                raise WrongValueError(
                    f"ArrayDataset: array 0 has {self._length} samples, array {number + 1} has {len(data)}"
                )
            self._data.append(data.asnumpy() if isinstance(data, NDArray) and data.ndim == 1 else data)

    def __getitem__(self, idx: Any) -> Any:
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple([data[idx] for data in self._data])

    def __len__(self) -> int:
        return self._length


class RecordFileDataset(Dataset):
    """The records of a file of records, bytes each; its index is the file `.idx` beside it.

    Raises: MXNetError: there is no such file.
    """

    def __init__(self, filename: str) -> None:
        from mxlite import recordio

        self.idx_file = os.path.splitext(filename)[0] + ".idx"
        self.filename = filename
        self._record = recordio.MXIndexedRecordIO(self.idx_file, self.filename, "r")

    def __getitem__(self, idx: Any) -> Any:
        return self._record.read_idx(self._record.keys[idx])

    def __len__(self) -> int:
        return len(self._record.keys)


class _SampledDataset(Dataset):
    """The samples of another data set by the numbers that a sampler gave."""

    def __init__(self, dataset: Dataset, sampler: Sampler) -> None:
        self._dataset = dataset
        self._indices = list(sampler)

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, idx: Any) -> Any:
        return self._dataset[self._indices[idx]]


class _LazyTransformDataset(Dataset):
    """What a function makes of the samples of another data set."""

    def __init__(self, data: Any, fn: Callable) -> None:
        self._data = data
        self._fn = fn

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, idx: Any) -> Any:
        item = self._data[idx]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)


class _TransformFirstClosure:
    """A function of a sample's first entry, as one of the sample; it pickles where the function does."""

    def __init__(self, fn: Callable) -> None:
        self._fn = fn

    def __call__(self, x: Any, *args: Any) -> Any:
        return (self._fn(x), *args) if args else self._fn(x)


class _DownloadedDataset(Dataset):
    """Samples (data, label) that `_get_data` of a class reads from the files of a folder."""

    def __init__(self, root: str, transform: Callable | None) -> None:
        self._transform = transform
        self._data: Any = None
        self._label: Any = None
        self._root = os.path.expanduser(root)
        os.makedirs(self._root, exist_ok=True)
        self._get_data()

    def __getitem__(self, idx: Any) -> Any:
        sample = self._data[idx], self._label[idx]
        return sample if self._transform is None else self._transform(*sample)

    def __len__(self) -> int:
        return len(self._label)

    def _get_data(self) -> None:
        raise NotImplementedError


show(globals())
