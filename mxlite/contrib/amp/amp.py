"""Mixed precision: what `mx.contrib.amp` shows. GluonNLP asks for `amp.amp._amp_initialized`."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from typing import Any

from mxlite._public import show as _show
from mxlite.base import BFLOAT16
from mxlite.contrib.amp import _casts
from mxlite.contrib.amp._convert import convert_bucketing_module, convert_hybrid_block, convert_model, convert_symbol
from mxlite.contrib.amp._lists import Conditional, added, published, target_of
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

bfloat16 = BFLOAT16  # as 1.9.1's module has it
_amp_initialized = False  # GluonNLP reads it
_first_is_taken = False
_loss_scaler: LossScaler | None = None  # the first trainer's, and that of losses that are operators


def init(
    target_dtype: Any = "float16",
    target_precision_ops: Sequence[str] | None = None,
    conditional_fp32_ops: Conditional | None = None,
    fp32_ops: Sequence[str] | None = None,
) -> None:
    """From then on the functions of mx.nd and mx.sym cast their inputs, in Gluon too; it cannot be undone.

    Calls after the first one change nothing.
    Args:
        target_dtype: float16 or bfloat16.
        target_precision_ops, fp32_ops: operators that compute in it, and in float32, more than `list_lp16_ops` and
            `list_fp32_ops` say; other lists lose them.
        conditional_fp32_ops: rows (operator, parameter, values) that compute in float32. None: those that are listed.

    Raises: ValueError: another target, or wrong lists.
    """
    global _amp_initialized, _loss_scaler
    target = target_of("amp.init", target_dtype)
    if _amp_initialized:
        return
    _casts.begin(target, added("amp.init", target, target_precision_ops, fp32_ops, conditional_fp32_ops))
    _amp_initialized, _loss_scaler = True, LossScaler()
    _casts.scale_losses(lambda: _loss_scaler.loss_scale if _loss_scaler is not None else 1.0)
    logging.info("Using AMP")


def _end() -> None:
    """Undoes `init`. For tests."""
    global _amp_initialized, _first_is_taken, _loss_scaler
    _casts.end()
    _amp_initialized, _first_is_taken, _loss_scaler = False, False, None


def init_trainer(optimizer_or_trainer: Any) -> None:
    """Gives a Trainer a factor for its losses; it then leaves out steps whose gradients overflow.

    Raises: MXNetError: `init` was not called; TypeError: it is no Trainer.
    """
    if not _amp_initialized:
        raise WrongStateError("amp.init_trainer: call amp.init() first")
    if not isinstance(optimizer_or_trainer, Trainer):
        raise TypeError(f"amp takes a gluon.Trainer, got {type(optimizer_or_trainer).__name__}")
    global _first_is_taken
    optimizer_or_trainer._amp_loss_scaler = LossScaler() if _first_is_taken else _loss_scaler
    _first_is_taken = True
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
