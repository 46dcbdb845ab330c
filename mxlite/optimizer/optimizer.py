"""The optimizers, under the name of the module that has them in MXNet 1.9.1; pickles speak of it."""

from __future__ import annotations

from mxlite._public import show
from mxlite.optimizer._adaptive import FTML, LAMB, AdaDelta, AdaGrad, Adam, Adamax, Ftrl, Nadam, RMSProp
from mxlite.optimizer._base import Optimizer, create, register
from mxlite.optimizer._descent import DCASGD, LARS, LBSGD, NAG, SGD, SGLD, Signum, Test, ccSGD
from mxlite.optimizer.updater import Updater, get_updater

__all__ = [
    "DCASGD",
    "FTML",
    "LAMB",
    "LARS",
    "LBSGD",
    "NAG",
    "SGD",
    "SGLD",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "Adamax",
    "Ftrl",
    "Nadam",
    "Optimizer",
    "RMSProp",
    "Signum",
    "Test",
    "Updater",
    "ccSGD",
    "create",
    "get_updater",
    "register",
]

show(globals())
