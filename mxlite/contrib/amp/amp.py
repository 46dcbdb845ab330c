"""Mixed precision: what `mx.contrib.amp` shows. GluonNLP asks for `amp.amp._amp_initialized`."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any, NoReturn

from mxlite._public import show as _show
from mxlite.contrib.amp.loss_scaler import LossScaler
from mxlite.error import MXNotImplementedError, WrongStateError, WrongTypeError, WrongValueError
from mxlite.gluon.block import HybridBlock
from mxlite.gluon.trainer import Trainer

__all__ = [
    "LossScaler",
    "convert_bucketing_module",
    "convert_hybrid_block",
    "convert_model",
    "convert_symbol",
    "init",
    "init_trainer",
    "list_conditional_fp32_ops",
    "list_fp32_ops",
    "list_loss_output_functions",
    "list_lp16_fp32_ops",
    "list_lp16_ops",
    "list_lp16_use_fp32_params",
    "list_widest_type_cast",
    "scale_loss",
    "unscale",
]

_TARGETS = ("float16", "bfloat16")
_amp_initialized = False  # GluonNLP reads it


def init(
    target_dtype: str = "float16",
    target_precision_ops: list[str] | None = None,
    conditional_fp32_ops: list[tuple] | None = None,
    fp32_ops: list[str] | None = None,
) -> None:
    """Allows `init_trainer`. No operator is cast: the arguments but the first are ignored.

    Raises: ValueError: the target is neither float16 nor bfloat16.
    """
    if target_dtype not in _TARGETS:
        raise WrongValueError(f"amp.init: target_dtype must be float16 or bfloat16, got {target_dtype!r}")
    global _amp_initialized
    if not _amp_initialized:
        _amp_initialized = True
        logging.info("Using AMP: losses are scaled; operators compute in the dtypes of their arrays")


def init_trainer(optimizer_or_trainer: Any) -> None:
    """Gives a Trainer a factor for its losses; it then leaves out steps whose gradients overflow.

    Raises: MXNetError: `init` was not called; TypeError: it is no Trainer.
    """
    if not _amp_initialized:
        raise WrongStateError("amp.init_trainer: call amp.init() first")
    if not isinstance(optimizer_or_trainer, Trainer):
        raise TypeError(f"amp takes a gluon.Trainer, got {type(optimizer_or_trainer).__name__}")
    optimizer_or_trainer._amp_loss_scaler = LossScaler()
    optimizer_or_trainer._amp_original_scale = optimizer_or_trainer._scale


@contextlib.contextmanager
def scale_loss(loss: Any, optimizer_or_trainer: Any) -> Iterator[Any]:
    """A with-block with the loss, or a list of losses, times the factor; the next step divides by it.

    Raises: AttributeError: `init_trainer` was not called.
    """
    scaler = getattr(optimizer_or_trainer, "_amp_loss_scaler", None)
    if scaler is None:
        raise AttributeError("the trainer has no loss scale: call amp.init_trainer(trainer) first")
    scale = scaler.loss_scale
    optimizer_or_trainer._scale = optimizer_or_trainer._amp_original_scale / scale
    yield [each * scale for each in loss] if isinstance(loss, (list, tuple)) else loss * scale


def unscale(optimizer_or_trainer: Any) -> None:
    """Divides the gradients by the factor now, for those who look at them or clip them before the step.

    Raises: TypeError: it is no Trainer.
    """
    if not isinstance(optimizer_or_trainer, Trainer):
        raise TypeError(f"amp takes a gluon.Trainer, got {type(optimizer_or_trainer).__name__}")
    for each in optimizer_or_trainer._params:
        for grad in each.list_grad() if each.grad_req != "null" else ():
            grad[:] = grad * optimizer_or_trainer._scale
    optimizer_or_trainer._scale = 1.0


def convert_hybrid_block(
    block: Any,
    target_dtype: str = "float16",
    target_dtype_ops: list[str] | None = None,
    fp32_ops: list[str] | None = None,
    conditional_fp32_ops: list[tuple] | None = None,
    excluded_sym_names: list[str] | None = None,
    ctx: Any = None,
    cast_optional_params: bool = False,
) -> Any:
    """The block itself: it computes in the dtypes of its arrays, and no parameter is cast.

    Raises: TypeError: it is no HybridBlock; ValueError: the target is neither float16 nor bfloat16.
    """
    if not isinstance(block, HybridBlock):
        raise WrongTypeError(f"convert_hybrid_block takes a HybridBlock, got {type(block).__name__}")
    if target_dtype not in _TARGETS:
        raise WrongValueError(f"convert_hybrid_block: target_dtype must be float16 or bfloat16, got {target_dtype!r}")
    return block


def _refuse(name: str) -> NoReturn:
    raise MXNotImplementedError(f"amp.{name}: casts within symbols are not in mxlite yet")


def convert_model(*args: Any, **kwargs: Any) -> NoReturn:
    """Is missing. Raises: NotImplementedError."""
    _refuse("convert_model")


def convert_symbol(*args: Any, **kwargs: Any) -> NoReturn:
    """Is missing. Raises: NotImplementedError."""
    _refuse("convert_symbol")


def convert_bucketing_module(*args: Any, **kwargs: Any) -> NoReturn:
    """Is missing. Raises: NotImplementedError."""
    _refuse("convert_bucketing_module")


def _no_operators(target_dtype: str) -> list:
    if target_dtype not in _TARGETS:
        raise WrongValueError(f"target_dtype must be float16 or bfloat16, got {target_dtype!r}")
    return []


def list_lp16_ops(target_dtype: str) -> list[str]:
    """The operators that are cast to 16 bits: none. Raises: ValueError: another target than float16, bfloat16."""
    return _no_operators(target_dtype)


def list_fp32_ops(target_dtype: str) -> list[str]:
    """The operators that are cast to float32: none, as `list_lp16_ops`."""
    return _no_operators(target_dtype)


def list_lp16_fp32_ops(target_dtype: str) -> list[str]:
    """The operators of either: none, as `list_lp16_ops`."""
    return _no_operators(target_dtype)


def list_conditional_fp32_ops(target_dtype: str) -> list[tuple]:
    """The operators that are cast to float32 for some parameters: none, as `list_lp16_ops`."""
    return _no_operators(target_dtype)


def list_widest_type_cast(target_dtype: str) -> list[str]:
    """The operators whose inputs are cast to the widest dtype: none, as `list_lp16_ops`."""
    return _no_operators(target_dtype)


def list_loss_output_functions(target_dtype: str) -> list[str]:
    """The outputs that are losses: none that is treated differently, as `list_lp16_ops`."""
    return _no_operators(target_dtype)


def list_lp16_use_fp32_params(target_dtype: str) -> None:
    """None. Raises: ValueError: another target than float16, bfloat16."""
    _no_operators(target_dtype)


_show(globals())
