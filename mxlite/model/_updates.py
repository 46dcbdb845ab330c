"""Steps of training with a store: its parameters, and their updates by gradients of several devices.

`mx.mod.Module` and `FeedForward` call these, and programs with a loop of their own.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any, Callable

from mxlite import kvstore as kvs
from mxlite.ndarray.ndarray import NDArray

#: For each parameter, its array (or gradient) on each device.
Arrays = Sequence[Sequence[NDArray]]


def _create_kvstore(kvstore: Any, num_device: int, arg_params: dict[str, NDArray]) -> tuple[Any, bool]:
    """The store that a module uses, None where it needs none, and whether it updates the parameters.

    Raises: TypeError: neither a store nor a name nor None.
    """
    update_on_kvstore = bool(int(os.environ.get("MXNET_UPDATE_ON_KVSTORE", "1")))
    if kvstore is None:
        store = None
    elif isinstance(kvstore, str):
        store = None
        if num_device > 1 or "dist" in kvstore:
            store = kvs.create(kvstore)
            largest = max((math.prod(each.shape) for each in arg_params.values()), default=0)
            update_on_kvstore = update_on_kvstore and not (kvstore == "local" and largest > 1024 * 1024 * 16)
    elif isinstance(kvstore, (kvs.KVStore, kvs.KVStoreBase)):
        store = kvstore
    else:
        raise TypeError("kvstore is a KVStore, a text or None")
    return store, update_on_kvstore and store is not None


def _initialize_kvstore(
    kvstore: Any,
    param_arrays: Arrays,
    arg_params: dict[str, NDArray],
    param_names: Sequence[str],
    update_on_kvstore: bool,
) -> None:
    """Puts parameters into a store by name; a store that updates them gives all devices its own."""
    for number, (name, arrays) in enumerate(zip(param_names, param_arrays)):
        kvstore.init(name, arg_params[name])
        if update_on_kvstore:
            kvstore.pull(name, arrays, priority=-number)


def _update_params_on_kvstore(
    param_arrays: Arrays, grad_arrays: Arrays, kvstore: Any, param_names: Sequence[str]
) -> None:
    """Lets a store with an optimizer update the parameters by the gradients, but for those that have none."""
    for number, (name, arrays, grads) in enumerate(zip(param_names, param_arrays, grad_arrays)):
        if grads[0] is not None:
            kvstore.push(name, grads, priority=-number)
            kvstore.pull(name, arrays, priority=-number)


def _update_params(
    param_arrays: Arrays,
    grad_arrays: Arrays,
    updater: Callable[[list[int], list[NDArray], list[NDArray]], Any],
    num_device: int,
    kvstore: Any = None,
    param_names: Sequence[str] | None = None,
) -> None:
    """Updates the parameters of each device by the gradients, which a store has added up if there is one.

    Args:
        updater: takes lists of numbers (that of the parameter times `num_device`, plus the device's), of gradients and
            of parameters, once for each device.
    """
    updates: list[list[tuple[int, NDArray, NDArray]]] = [[] for _ in range(num_device)]
    for number, (arrays, grads) in enumerate(zip(param_arrays, grad_arrays)):
        if grads[0] is None:
            continue
        if kvstore is not None:
            name = number if param_names is None else param_names[number]
            kvstore.push(name, grads, priority=-number)
            more = {} if grads[0].stype == "default" else {"ignore_sparse": False}
            kvstore.pull(name, grads, priority=-number, **more)
        for k, (grad, array) in enumerate(zip(grads, arrays)):
            updates[k].append((number * num_device + k, grad, array))
    for mine in updates:
        if mine:
            numbers, gradients, weights = zip(*mine)
            updater(list(numbers), list(gradients), list(weights))
