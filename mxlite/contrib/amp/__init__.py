"""`mx.contrib.amp`: MXNet 1.9.1's interface of mixed precision. mxlite computes on in the arrays' own dtypes.

Programs that were written for it run unchanged: the loss is scaled, gradients are unscaled, steps whose gradients
overflow are left out. No operator is cast to 16 bits, which on this processor would be slower and less accurate.

    amp.init()
    amp.init_trainer(trainer)
    with mx.autograd.record():
        loss = loss_function(net(x), y)
        with amp.scale_loss(loss, trainer) as scaled:
            mx.autograd.backward(scaled)
    trainer.step(batch_size)
"""

from __future__ import annotations

from mxlite._public import show as _show
from mxlite.contrib.amp import amp, loss_scaler
from mxlite.contrib.amp.amp import (
    convert_bucketing_module,
    convert_hybrid_block,
    convert_model,
    convert_symbol,
    init,
    init_trainer,
    list_conditional_fp32_ops,
    list_fp32_ops,
    list_loss_output_functions,
    list_lp16_fp32_ops,
    list_lp16_ops,
    list_lp16_use_fp32_params,
    list_widest_type_cast,
    scale_loss,
    unscale,
)
from mxlite.contrib.amp.loss_scaler import LossScaler

__all__ = [
    "LossScaler",
    "amp",
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
    "loss_scaler",
    "scale_loss",
    "unscale",
]

_show(globals())
