"""`mx.contrib.svrg_optimization`: training by stochastic gradients whose variance a full gradient reduces (SVRG)."""

from __future__ import annotations

from mxlite._public import show as _show
from mxlite.contrib.svrg_optimization import svrg_module, svrg_optimizer

__all__ = ["svrg_module", "svrg_optimizer"]

_show(globals())
