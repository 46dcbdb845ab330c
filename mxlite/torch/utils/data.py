"""`torch.utils.data`: datasets, samplers, and DataLoader, which reads in the calling process or in threads of it."""

from __future__ import annotations

import bisect
import copy
import itertools
import math
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as _np

from mxlite._public import show as _show
from mxlite.torch._basic import stacked as _stacked
from mxlite.torch._calls import functions as _functions
from mxlite.torch._dtypes import float64 as _float64
from mxlite.torch._errors import warn as _warn
from mxlite.torch._make.data import as_tensor as _as_tensor
from mxlite.torch._make.data import tensor as _tensor
from mxlite.torch._tensor import Tensor

_randint, _randperm, _multinomial = (_functions[name] for name in ("randint", "randperm", "multinomial"))

# ---- datasets ----


class Dataset:
    """Examples by their index: a subclass has `__getitem__`, and mostly `__len__`."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: a Dataset defines __getitem__")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset, Iterable):
    """Examples one after another: a subclass has `__iter__`."""


class TensorDataset(Dataset):
    """Rows of tensors, a tuple for each index."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(len(each) != len(tensors[0]) for each in tensors):
            raise AssertionError(
                f"TensorDataset: all tensors have one first size, got {[len(each) for each in tensors]}"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple:
        return tuple(each[index] for each in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class ConcatDataset(Dataset):
    """Datasets one behind another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("ConcatDataset: there are no datasets")
        if any(isinstance(each, IterableDataset) for each in self.datasets):
            raise AssertionError("ConcatDataset: an IterableDataset has no length and no index")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError(f"ConcatDataset: index {index} is outside {len(self)} samples")
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class StackDataset(Dataset):
    """Examples of several datasets side by side: tuples, or dictionaries of datasets given by name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset: give datasets, or datasets by name, not both and not none")
        self.datasets: Any = args or kwargs
        sizes = [len(each) for each in args or kwargs.values()]
        if len(set(sizes)) > 1:
            raise ValueError(f"StackDataset: all datasets have one length, got {sizes}")
        self._length = sizes[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: each[index] for name, each in self.datasets.items()}
        return tuple(each[index] for each in self.datasets)

    def __len__(self) -> int:
        return self._length


class ChainDataset(IterableDataset):
    """Datasets without indices, one behind another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for each in self.datasets:
            if not isinstance(each, IterableDataset):
                raise AssertionError(f"ChainDataset: takes datasets without indices, got {type(each)}")
            yield from each

    def __len__(self) -> int:
        return sum(len(each) for each in self.datasets)


class Subset(Dataset):
    """Examples of a dataset at indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[each] for each in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """A dataset as parts in a random order, of lengths, or of fractions whose sum is 1."""
    count = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for place, part in enumerate(lengths):
            if not 0 <= part <= 1:
                raise ValueError(f"random_split: a fraction is from 0 to 1, got {part} at index {place}")
        sizes = [math.floor(count * part) for part in lengths]
        for place in range(count - sum(sizes)):
            sizes[place % len(sizes)] += 1
        lengths = sizes
    if sum(lengths) != count:
        raise ValueError(f"random_split: lengths add up to the length of the dataset ({count}), got {sum(lengths)}")
    for place in (place for place, size in enumerate(lengths) if size == 0):
        _warn(f"random_split: part {place} has no elements")
    order = _randperm(count, generator=generator).tolist()
    ends = list(itertools.accumulate(map(int, lengths)))
    return [Subset(dataset, order[end - int(size) : end]) for end, size in zip(ends, lengths)]


# ---- samplers ----


class Sampler:
    """The order in which indices are read: a subclass has `__iter__`."""

    def __init__(self, data_source: Any = None) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class SequentialSampler(Sampler):
    """The indices in order."""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """The indices in a random order, or (`replacement`) drawn anew each time."""

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self.num_samples = len(data_source) if num_samples is None else num_samples
        if self.num_samples <= 0:
            raise ValueError(f"RandomSampler: num_samples is 1 or more, got {self.num_samples}")

    def __iter__(self) -> Iterator[int]:
        count, left = len(self.data_source), self.num_samples
        if self.replacement:
            yield from _randint(count, (left,), generator=self.generator).tolist()
            return
        while left > 0:
            yield from _randperm(count, generator=self.generator).tolist()[:left]
            left -= count

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Some indices in a random order."""

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        return (self.indices[place] for place in _randperm(len(self.indices), generator=self.generator).tolist())

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with probabilities in proportion to weights."""

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        if isinstance(num_samples, bool) or not isinstance(num_samples, int) or num_samples <= 0:
            raise ValueError(f"WeightedRandomSampler: num_samples is 1 or more, got {num_samples}")
        self.weights, self.num_samples = _as_tensor(weights, dtype=_float64), num_samples
        self.replacement, self.generator = replacement, generator

    def __iter__(self) -> Iterator[int]:
        return iter(_multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of batch_size indices of a sampler; drop_last: without a shorter last one."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size <= 0:
            raise ValueError(f"BatchSampler: batch_size is 1 or more, got {batch_size}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        return _batches(iter(self.sampler), self.batch_size, self.drop_last)

    def __len__(self) -> int:
        return _number_of_batches(len(self.sampler), self)  # type: ignore[arg-type]


def _batches(examples: Iterator[Any], size: int, drop_last: bool) -> Iterator[list]:
    while batch := list(itertools.islice(examples, size)):
        if not drop_last or len(batch) == size:
            yield batch


def _number_of_batches(count: int, of: Any) -> int:
    return count // of.batch_size if of.drop_last else -(-count // of.batch_size)


# ---- loading ----


def default_collate(batch: Sequence[Any]) -> Any:
    """Examples as one: tensors, arrays and numbers stacked, texts as they are, and so within dictionaries and lists.

    Raises: TypeError: examples of another kind; RuntimeError: they do not fit together.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        for place, each in enumerate(batch):
            if each.shape != first.shape:
                raise RuntimeError(
                    f"default_collate: tensors of a batch have one shape, got {list(first.shape)} at 0 and "
                    f"{list(each.shape)} at {place}"
                )
        return _stacked(list(batch), 0)
    if isinstance(first, _np.ndarray):
        return default_collate([_as_tensor(each) for each in batch])
    if isinstance(first, float):
        return _tensor(list(batch), dtype=_float64)
    if isinstance(first, (int, _np.generic)):
        return _tensor(_np.array(batch))
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([each[key] for each in batch]) for key in first}
    if isinstance(first, Sequence):
        if any(len(each) != len(first) for each in batch):
            raise RuntimeError("default_collate: the samples of a batch have one length")
        columns = [default_collate(column) for column in zip(*batch)]
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    raise TypeError(f"default_collate: takes tensors, numpy arrays, numbers, texts, dicts and lists, got {type(first)}")


def default_convert(data: Any) -> Any:
    """Arrays as tensors, within dictionaries and lists too; anything else stays."""
    if isinstance(data, _np.ndarray):
        return _as_tensor(data)
    if isinstance(data, Mapping):
        return {key: default_convert(each) for key, each in data.items()}
    if isinstance(data, (list, tuple)):
        return [default_convert(each) for each in data]
    return data


class WorkerInfo(NamedTuple):
    """Which worker reads: its number, how many there are, its seed, and its dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


_worker = threading.local()


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader: which one it is; else None."""
    return getattr(_worker, "info", None)


class DataLoader:
    """Batches of a dataset, read in the calling process.

    Args:
        batch_size: Examples of a batch; None: single examples.
        shuffle: Whether they are in a random order, another each time.
        sampler: Which indices, in which order. batch_sampler: lists of them.
        collate_fn: What makes a batch of a list of examples; None: default_collate.
        drop_last: Whether a shorter last batch is left out.
        num_workers: Threads that read ahead, each every num_workers-th batch, or a stream of its own; 0: none.
        worker_init_fn: Called in each worker first, with its number. prefetch_factor: batches that each is ahead (2).
    The other options, about processes and memory, have no effect.
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Any = None,
        batch_sampler: Any = None, num_workers: int = 0, collate_fn: Callable | None = None, pin_memory: bool = False,
        drop_last: bool = False, timeout: float = 0, worker_init_fn: Callable | None = None,
        multiprocessing_context: Any = None, generator: Any = None, *, prefetch_factor: int | None = None,
        persistent_workers: bool = False, pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        if num_workers < 0:
            raise ValueError(f"DataLoader: num_workers is 0 or more, got {num_workers}")
        if num_workers > (_cores := len(os.sched_getaffinity(0))):
            _warn(f"DataLoader: {num_workers} workers are more than the {_cores} processors of this machine")
        if prefetch_factor is not None and not num_workers:
            raise ValueError("DataLoader: prefetch_factor is for workers; it is None with num_workers=0")
        if persistent_workers and not num_workers:
            raise ValueError("DataLoader: persistent_workers is for workers; it is False with num_workers=0")
        self.dataset, self.num_workers, self.drop_last, self.generator = dataset, num_workers, drop_last, generator
        self.worker_init_fn, self.prefetch_factor = worker_init_fn, prefetch_factor or (2 if num_workers else None)
        self.pin_memory, self.timeout, self.persistent_workers = pin_memory, timeout, persistent_workers
        if pin_memory:
            _warn("DataLoader: pin_memory has no effect: there is no accelerator")
        self._streams = isinstance(dataset, IterableDataset)
        if self._streams:
            for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if value is not None:
                    raise ValueError(f"DataLoader: an IterableDataset takes no {name}, got {name}={value}")
        if sampler is not None and shuffle:
            raise ValueError("DataLoader: give a sampler or shuffle, not both")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "DataLoader: a batch_sampler replaces batch_size, shuffle, sampler and drop_last; give none of them"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("DataLoader: batch_size=None makes no batches, so that drop_last has none to drop")
        if sampler is None and not self._streams:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.sampler, self.batch_sampler = batch_size, sampler, batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers:
            return self._by_workers()
        return self._stream(self.dataset) if self._streams else map(self._read, self._order())

    def _order(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _read(self, indices: Any) -> Any:
        return self.collate_fn(self.dataset[indices] if self.batch_sampler is None else self._fetch(indices))

    def _stream(self, dataset: Any) -> Iterator[Any]:
        examples = iter(dataset)
        if self.batch_size is not None:
            examples = _batches(examples, self.batch_size, self.drop_last)
        yield from map(self.collate_fn, examples)

    def _by_workers(self) -> Iterator[Any]:
        count, end, waiting = self.num_workers, object(), deque()  # type: ignore[var-annotated]
        seed, alive = int(_randint(1 << 31, (), generator=self.generator).item()), set(range(count))
        data = [copy.copy(self.dataset) if self._streams else self.dataset for _ in alive]
        streams = [self._stream(each) for each in data]

        def begin(number: int) -> None:
            _worker.info = WorkerInfo(number, count, seed + number, data[number])
            if self.worker_init_fn is not None:
                self.worker_init_fn(number)

        def jobs() -> Iterator[tuple[int, Callable[[], Any]]]:
            while self._streams and alive:
                yield from ((number, partial(next, streams[number], end)) for number in sorted(alive))
            for place, indices in enumerate(() if self._streams else self._order()):
                yield place % count, partial(self._read, indices)

        pools = [ThreadPoolExecutor(1) for _ in range(count)]
        try:
            for number, pool in enumerate(pools):
                pool.submit(begin, number).result()  # which raises what worker_init_fn does
            for number, job in itertools.chain(jobs(), itertools.repeat((0, None))):
                if job is not None:
                    waiting.append((number, pools[number].submit(job)))
                if not waiting:
                    return
                if job is None or len(waiting) >= count * self.prefetch_factor:
                    reader, future = waiting.popleft()
                    found = future.result()
                    if found is end:
                        alive.discard(reader)
                    else:
                        yield found
        finally:
            for pool in pools:
                pool.shutdown(wait=True, cancel_futures=True)

    def _fetch(self, indices: list) -> Any:
        several = getattr(self.dataset, "__getitems__", None)
        return several(indices) if several else [self.dataset[index] for index in indices]

    def __len__(self) -> int:
        if not self._streams:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        count = len(self.dataset)
        return count if self.batch_size is None else _number_of_batches(count, self)


_show(globals())
