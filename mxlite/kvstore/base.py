"""What a store is asked for (KVStoreBase), a store for tests, and `create`."""

from __future__ import annotations

from typing import Any, ClassVar

from mxlite._public import show
from mxlite.error import WrongTypeError
from mxlite.ndarray import NDArray


class KVStoreBase:
    """The base class of stores of arrays by key, which add up what devices and workers push.

    A store of one's own overrides these and is registered: `@KVStoreBase.register`; `create` knows it then by its name.
    """

    OPTIMIZER = "optimizer"
    kv_registry: ClassVar[dict[str, type]] = {}

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Keeps the value of the worker with rank 0, and writes it to `out` everywhere."""
        raise NotImplementedError(f"{type(self).__name__}.broadcast")

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Adds up the values of all devices and workers, and writes the sum to `out`, or else to the values."""
        raise NotImplementedError(f"{type(self).__name__}.pushpull")

    def set_optimizer(self, optimizer: Any) -> None:
        """What updates a stored parameter when its gradient is pushed."""
        raise NotImplementedError(f"{type(self).__name__}.set_optimizer")

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store can do something: `KVStoreBase.OPTIMIZER`, update parameters."""
        raise NotImplementedError("a store must have is_capable")

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Writes what the optimizer keeps to a file."""
        raise NotImplementedError(f"{type(self).__name__}.save_optimizer_states")

    def load_optimizer_states(self, fname: str) -> None:
        """Reads what `save_optimizer_states` wrote."""
        raise NotImplementedError(f"{type(self).__name__}.load_optimizer_states")

    @property
    def type(self) -> str:
        """The name by which `create` makes such a store."""
        raise NotImplementedError(f"{type(self).__name__}.type")

    @property
    def rank(self) -> int:
        """The number of this worker, from 0."""
        raise NotImplementedError(f"{type(self).__name__}.rank")

    @property
    def num_workers(self) -> int:
        """How many workers there are."""
        raise NotImplementedError(f"{type(self).__name__}.num_workers")

    @staticmethod
    def register(klass: type) -> type:
        """A decorator that registers a store under its name in lower case."""
        if not isinstance(klass, type):
            raise WrongTypeError(f"a store is a class, got {klass!r}")
        KVStoreBase.kv_registry[klass.__name__.lower()] = klass
        return klass


def summed(values: Any) -> NDArray:
    """The sum of an array, or of a list of arrays, on the first one's device; never one of them."""
    first, *others = values if isinstance(values, (list, tuple)) else [values]
    total = first.copy()
    for each in others:
        total += each.as_in_context(total.context)
    return total


@KVStoreBase.register
class TestStore(KVStoreBase):
    """A store that keeps nothing: what tests of stores need."""

    __test__ = False  # pytest

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        for each in out if isinstance(out, (list, tuple)) else [out]:
            each[:] = value

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        total = summed(value)
        target = value if out is None else out
        for each in target if isinstance(target, (list, tuple)) else [target]:
            each[:] = total.as_in_context(each.context)

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store can do something. Raises ValueError: nobody knows what that is."""
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return False
        raise ValueError(f"Unknown capability: {capability}")

    @property
    def type(self) -> str:
        return "teststore"

    @property
    def rank(self) -> int:
        return 0

    @property
    def num_workers(self) -> int:
        return 1


show(globals())
