"""Checkpoints, and what callbacks of batches get."""

from __future__ import annotations

import logging
from collections import namedtuple

from mxlite import ndarray
from mxlite.context import cpu
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import Symbol
from mxlite.symbol import load as _load_symbol

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
