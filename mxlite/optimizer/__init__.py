"""Optimizers: how parameters move by their gradients.

An optimizer has a step's numbers (`learning_rate`, `wd`, ...) and what to do with one parameter; `get_updater` keeps
the states of all of them; `mx.gluon.Trainer` uses both.
"""

from mxlite._public import show as _show
from mxlite.optimizer import contrib, optimizer
from mxlite.optimizer.optimizer import *  # noqa: F403
from mxlite.optimizer.optimizer import __all__ as _names

__all__ = [*_names, "contrib", "optimizer"]

_show(globals())
