"""Mixed precision: what `mx.contrib.amp` shows. GluonNLP asks for `amp.amp._amp_initialized`."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from mxlite._public import show as _show
from mxlite.contrib.amp._convert import convert_bucketing_module, convert_hybrid_block, convert_model, convert_symbol
from mxlite.contrib.amp._lists import published, target_of
from mxlite.contrib.amp.loss_scaler import LossScaler
from mxlite.error import WrongStateError
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


def list_lp16_ops(target_dtype: Any) -> list[str]:
    """The operators that compute in 16 bits. Raises: ValueError: another target than float16, bfloat16."""
    return published(target_of("list_lp16_ops", target_dtype), "BF16_FUNCS")


def list_fp32_ops(target_dtype: Any) -> list[str]:
    """The operators that compute in float32. Raises: ValueError as `list_lp16_ops`."""
    return published(target_of("list_fp32_ops", target_dtype), "FP32_FUNCS")


def list_lp16_fp32_ops(target_dtype: Any) -> list[str]:
    """The operators that compute in the dtypes of their inputs. Raises: ValueError as `list_lp16_ops`."""
    return published(target_of("list_lp16_fp32_ops", target_dtype), "BF16_FP32_FUNCS")


def list_conditional_fp32_ops(target_dtype: Any) -> list[tuple[str, str, list[str]]]:
    """Operators that compute in float32 where a parameter has one of some values. Raises: as `list_lp16_ops`."""
    return published(target_of("list_conditional_fp32_ops", target_dtype), "CONDITIONAL_FP32_FUNCS")


def list_widest_type_cast(target_dtype: Any) -> list[str]:
    """The operators whose inputs are cast to the widest dtype among them. Raises: ValueError as `list_lp16_ops`."""
    return published(target_of("list_widest_type_cast", target_dtype), "WIDEST_TYPE_CASTS")


def list_loss_output_functions(target_dtype: Any) -> list[str]:
    """The operators whose outputs are losses. Raises: ValueError as `list_lp16_ops`."""
    return published(target_of("list_loss_output_functions", target_dtype), "LOSS_OUTPUT_FUNCTIONS")


def list_lp16_use_fp32_params(target_dtype: Any) -> dict[str, list[str]] | None:
    """The inputs that stay in float32, by the operators; "" is one that does not. None: there is no list of them.

    Raises: ValueError as `list_lp16_ops`.
    """
    return published(target_of("list_lp16_use_fp32_params", target_dtype), "BF16_USE_FP32_PARAMS")


_show(globals())
