"""`mx.contrib.amp`: mixed precision, with MXNet 1.9.1's functions: operators compute in bfloat16 or float16.

    amp.init("bfloat16")
    amp.init_trainer(trainer)
    with mx.autograd.record():
        loss = loss_function(net(x), y)
        with amp.scale_loss(loss, trainer) as scaled:
            mx.autograd.backward(scaled)
    trainer.step(batch_size)

For predictions `convert_hybrid_block`, `convert_model` and `convert_symbol` put casts into graphs. `mxlite help amp`
tells which operators are cast.
"""

from __future__ import annotations

from mxlite._public import show as _show
from mxlite.contrib.amp import amp, loss_scaler
from mxlite.contrib.amp.amp import *  # noqa: F403

__all__ = [*amp.__all__, "amp", "loss_scaler"]

_show(globals())
