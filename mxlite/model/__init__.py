"""`mx.model`: checkpoints, which are a symbol in `prefix-symbol.json` and its parameters in `prefix-0003.params`."""

from __future__ import annotations

import logging
import os
from collections import namedtuple
from typing import Any, NoReturn

from mxlite import kvstore as kvs
from mxlite import ndarray
from mxlite._public import show
from mxlite.context import cpu
from mxlite.error import MXNotImplementedError
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import Symbol
from mxlite.symbol import load as _load_symbol

__all__ = ["BatchEndParam", "FeedForward", "load_checkpoint", "load_params", "save_checkpoint"]

#: What callbacks of batches get.
BatchEndParam = namedtuple("BatchEndParam", ["epoch", "nbatch", "eval_metric", "locals"])

Params = dict[str, NDArray]


def save_checkpoint(
    prefix: str, epoch: int, symbol: Symbol | None, arg_params: Params, aux_params: Params, remove_amp_cast: bool = True
) -> None:
    """Writes a symbol (unless it is None) and its parameters, which 1.9.1 reads too."""
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
    held = {f"arg:{name}": each.as_in_context(cpu()) for name, each in arg_params.items()}
    held.update({f"aux:{name}": each.as_in_context(cpu()) for name, each in aux_params.items()})
    path = f"{prefix}-{epoch:04d}.params"
    ndarray.save(path, held)
    logging.info('Saved checkpoint to "%s"', path)


def load_params(prefix: str, epoch: int) -> tuple[Params, Params]:
    """The arguments and auxiliary states of a checkpoint, by name. Raises: MXNetError: there is no such file."""
    found: dict[str, Params] = {"arg": {}, "aux": {}}
    held = ndarray.load(f"{prefix}-{epoch:04d}.params")
    if not held:
        logging.warning("Params file '%s' is empty", f"{prefix}-{epoch:04d}.params")
        return found["arg"], found["aux"]
    for key, each in held.items():
        kind, _, name = key.partition(":")
        if kind in found:
            found[kind][name] = each
    return found["arg"], found["aux"]


def load_checkpoint(prefix: str, epoch: int) -> tuple[Symbol, Params, Params]:
    """A checkpoint's symbol, arguments and auxiliary states. Raises: MXNetError: a file is missing."""
    symbol = _load_symbol(f"{prefix}-symbol.json")
    return (symbol, *load_params(prefix, epoch))


def _create_kvstore(kvstore: Any, num_device: int, arg_params: Params) -> tuple[Any, bool]:
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
            largest = max((each.size for each in arg_params.values()), default=0)
            update_on_kvstore = update_on_kvstore and not (kvstore == "local" and largest > 1024 * 1024 * 16)
    elif isinstance(kvstore, (kvs.KVStore, kvs.KVStoreBase)):
        store = kvstore
    else:
        raise TypeError("kvstore is a KVStore, a text or None")
    return store, update_on_kvstore and store is not None


class FeedForward:
    """What came before Module, which 1.9.1 still has. Raises: NotImplementedError: when one is made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._refuse()

    @staticmethod
    def _refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise MXNotImplementedError("FeedForward is deprecated and not in mxlite; use mx.mod.Module")

    create = load = _refuse


show(globals())
