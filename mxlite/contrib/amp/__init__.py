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
from mxlite.contrib.amp.amp import *  # noqa: F403

__all__ = [*amp.__all__, "amp", "loss_scaler"]

_show(globals())
