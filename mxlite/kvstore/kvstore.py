"""KVStore: arrays by key. What is pushed is added up and replaces the array, or updates it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any, Callable

import numpy as np

from mxlite import autograd, ndarray
from mxlite import optimizer as opt
from mxlite._public import show
from mxlite._public.near import did_you_mean
from mxlite.error import MXNetError, WrongStateError, WrongTypeError, WrongValueError
from mxlite.kvstore.base import KVStoreBase, summed
from mxlite.ndarray import NDArray
from mxlite.ndarray._kinds import as_kind
from mxlite.ndarray.ndarray import invoke


def _lists(key: Any, value: Any, name: str) -> Iterator[tuple[Any, list[NDArray]]]:
    """Keys with the arrays of each, as those of `mx.nd`, of one key or a list of keys."""
    if isinstance(key, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(key) != len(value):
            raise WrongTypeError(f"{name} must be a list as long as the {len(key)} keys")
        for one, some in zip(key, value):
            yield from _lists(one, some, name)
        return
    if not isinstance(key, (int, str)):
        raise WrongTypeError(f"a key is an int or a text, not a {type(key)}")
    arrays = list(value) if isinstance(value, (list, tuple)) else [value]
    for each in arrays:
        if not isinstance(each, NDArray):
            raise TypeError(f"{name} of key {key!r} must be NDArrays, got {type(each).__name__}")
    yield key, as_kind(arrays, NDArray)


def _flat(value: Any) -> Iterator[NDArray]:
    """The arrays of lists of lists."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _flat(each)
    else:
        yield value


class KVStore(KVStoreBase):
    """A store of this process; `create` makes one. All keys are integers, or all are strings."""

    def __init__(self, kind: str = "local") -> None:
        self._kind = kind
        self._stored: dict[Any, NDArray] = {}
        self._updater: Callable[[Any, NDArray, NDArray], None] | None = None

    def _known(self, key: Any) -> NDArray:
        self._check_kind(key)
        if key not in self._stored:
            raise MXNetError(f"kvstore: there is no key {key!r}; init makes keys")
        return self._stored[key]

    def _check_kind(self, key: Any) -> None:
        if self._stored and isinstance(key, str) != isinstance(next(iter(self._stored)), str):
            raise MXNetError(f"kvstore: key {key!r}: the keys of a store are either all texts or all integers")

    def init(self, key: Any, value: Any) -> None:
        """Keeps a copy of an array, or of several, under new keys.

        Raises: MXNetError: a key is there already, or is of another type than the others.
        """
        pairs = [(each, array) for each, (array, *_) in _lists(key, value, "value")]
        for number, (each, _) in enumerate(pairs):
            self._check_kind(each)
            if each in self._stored or any(each == other for other, _ in pairs[:number]):
                raise MXNetError(f"kvstore: key {each!r} is in the store already")
        keys = [each for each, _ in pairs]
        with autograd.pause():
            values = self._first_values(keys, [array for _, array in pairs])
        self._stored.update(zip(keys, values))

    def _first_values(self, keys: list[Any], arrays: list[NDArray]) -> list[NDArray]:
        """What is kept under new keys."""
        return [each.copy() for each in arrays]

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Adds up the arrays of each key; the sum replaces the stored array, or goes to the updater with it.

        Raises: MXNetError: a key is not there, or the shape is another one.
        """
        keys, pushed, targets = [], [], []
        for each, arrays in _lists(key, value, "value"):
            stored = self._known(each)
            if self._updater is None and arrays[0].shape != stored.shape:
                raise MXNetError(f"kvstore: key {each!r} has shape {stored.shape}, pushed was {arrays[0].shape}")
            if self._updater is None and stored.stype not in ("default", arrays[0].stype):
                raise MXNetError(f"kvstore: key {each!r} is {stored.stype}, pushed was {arrays[0].stype}")
            keys.append(each)
            pushed.append(arrays)
            targets.append(stored)
        with autograd.pause():
            totals = self._totals(keys, [summed(arrays) for arrays in pushed])
        if self._updater is None:
            self._stored.update(zip(keys, totals))
        else:
            self._update(keys, totals, targets)

    def _totals(self, keys: list[Any], arrays: list[NDArray]) -> list[NDArray]:
        """What was pushed by all workers."""
        return arrays

    def _update(self, keys: Sequence[Any], totals: list[NDArray], stored: list[NDArray]) -> None:
        """Gives the updater what was pushed under several keys."""
        if isinstance(self._updater, opt.Updater) and len(set(keys)) == len(keys):
            self._updater(list(keys), totals, stored)
            return
        assert self._updater is not None
        for each, total, kept in zip(keys, totals, stored):
            self._updater(each, total, kept)

    def pull(self, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True) -> None:
        """Copies stored arrays to `out`, an array or a list for each key.

        Args:
            ignore_sparse: Sparse arrays of `out` stay as they are; `row_sparse_pull` writes to them.
        """
        if out is None:
            raise WrongValueError("kvstore: pull needs out=, the arrays to write to")
        for each, arrays in _lists(key, out, "out"):
            stored = self._known(each)
            for array in arrays:
                if array.shape != stored.shape:
                    raise MXNetError(f"kvstore: key {each!r} has shape {stored.shape}, out= has {array.shape}")
                if array.stype == "default" or not ignore_sparse:
                    with autograd.pause():
                        stored.copyto(array)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """`push`, then `pull` to `out`, or to the values."""
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority)

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """`init`, then `pull`."""
        self.init(key, value)
        self.pull(key, out, priority)

    def row_sparse_pull(self, key: Any, out: Any = None, priority: int = 0, row_ids: Any = None) -> None:
        """Writes rows of stored row_sparse arrays to `out`, an array or a list for each key.

        Args:
            row_ids: The rows of each array of `out`, in the same lists; one array: of all. They may repeat.
        Raises: ValueError: no `out` or no `row_ids`; MXNetError: as `pull`, another storage type, or rows beyond the
            array.
        """
        if out is None or row_ids is None:
            raise WrongValueError("kvstore: row_sparse_pull needs out= and row_ids=")
        pairs = [(self._known(each), array) for each, arrays in _lists(key, out, "out") for array in arrays]
        rows = list(_flat(row_ids))
        if len(rows) not in (1, len(pairs)):
            raise MXNetError(f"kvstore: row_ids holds {len(rows)} arrays, out= {len(pairs)}")
        for number, (stored, array) in enumerate(pairs):
            if stored.stype != "row_sparse" or array.stype != "row_sparse":
                raise MXNetError(
                    f"kvstore: row_sparse_pull is for row_sparse arrays, not from {stored.stype} to {array.stype}"
                )
            wanted = np.unique(rows[number if len(rows) > 1 else 0].asnumpy()).astype(np.int64)
            with autograd.pause():
                invoke("_sparse_retain", [stored, ndarray.array(wanted, dtype=wanted.dtype)], {}, array)

    def set_gradient_compression(self, compression_params: dict[str, Any]) -> None:
        """Raises MXNetError: nothing leaves the process, and mxlite compresses no gradients."""
        raise MXNetError(f"kvstore {self._kind!r}: gradient compression is not in mxlite")

    def set_optimizer(self, optimizer: opt.Optimizer) -> None:
        """From now on a pushed gradient updates the stored parameter."""
        if not isinstance(optimizer, opt.Optimizer):
            raise AttributeError(f"kvstore: set_optimizer takes an Optimizer, got {type(optimizer).__name__}")
        self._updater = opt.get_updater(optimizer)

    def _set_updater(self, updater: Callable[[Any, NDArray, NDArray], None]) -> None:
        """From now on `updater(key, pushed, stored)` is called for what is pushed."""
        self._updater = updater

    def _states(self) -> opt.Updater:
        if not isinstance(self._updater, opt.Updater):
            raise WrongStateError("kvstore: there is no optimizer, set_optimizer comes first")
        return self._updater

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Writes the states of the optimizer to a file, with `dump_optimizer` the optimizer too; `Updater.save`.

        Of several workers, whose states are the same, one or all may call it.
        """
        self._states().save(fname, dump_optimizer)

    def load_optimizer_states(self, fname: str) -> None:
        """Reads what `save_optimizer_states` of this package or of MXNet 1.9.1 wrote.

        A file of 1.9.1's is a pickle, which can name any code to be run: `Updater.set_states` says what is read of it.
        """
        self._states().load(fname)

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store can do something. Raises ValueError: nobody knows what that is."""
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return True
        raise ValueError(f"Unknown capability: {capability}")

    @property
    def type(self) -> str:
        return self._kind

    @property
    def rank(self) -> int:
        return 0

    @property
    def num_workers(self) -> int:
        return 1

    def _barrier(self) -> None:
        """Waits for all workers; there is one."""


#: Kinds of 1.9.1 that reduce within one process, whatever their name promises of devices.
_LOCAL = ("local", "local_update_cpu", "local_allreduce_cpu", "local_allreduce_device", "device")

#: Those of several workers, which are one.
_WORKERS = ("dist", "dist_sync", "dist_device_sync", "dist_sync_device", "dist_device")

#: Kinds of 1.9.1 that are not here.
_MISSING = {
    "async": "there are no servers that update parameters at once",
    "p3": "there are no servers",
    "horovod": "Horovod is not used",
    "byteps": "BytePS is not used",
    "nccl": "there are no GPUs",
}


def create(name: str = "local") -> Any:
    """Makes a store: "local" or "device", which add up the arrays of this process, a registered one, or one of several
    workers, "dist_sync", "dist_device_sync" or "dist" (all the same; `mxlite help distributed`).

    Raises:
        ImportError: several workers need mpi4py and an MPI (`pip install mxlite[mpi]`).
        TypeError: the name is not a string.
        MXNetError: there is no such store.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {type(name).__name__}")
    kind = name.lower()
    if kind in KVStoreBase.kv_registry:
        return KVStoreBase.kv_registry[kind]()
    if kind in _LOCAL:
        return KVStore(kind)
    for each, why in _MISSING.items():
        if each in kind:
            raise MXNetError(f"kvstore {name!r} is not in mxlite: {why}; 'dist_sync' adds up gradients over MPI")
    if kind in _WORKERS:
        return importlib.import_module("mxlite.kvstore._dist").KVStoreDist(kind)
    meant = did_you_mean(kind, [*_LOCAL, *_WORKERS, *KVStoreBase.kv_registry])
    raise MXNetError(
        f"kvstore {name!r} is not known: 'local', 'device', 'dist_sync', or one registered with KVStoreBase.register"
        f"{meant}"
    )


show(globals())
