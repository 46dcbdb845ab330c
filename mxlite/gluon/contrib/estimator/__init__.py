"""`mx.gluon.contrib.estimator`: a training loop, and handlers of what happens in it."""

from mxlite._public import show as _show
from mxlite.gluon.contrib.estimator import batch_processor, estimator, event_handler, utils
from mxlite.gluon.contrib.estimator.batch_processor import BatchProcessor
from mxlite.gluon.contrib.estimator.estimator import Estimator
from mxlite.gluon.contrib.estimator.event_handler import *  # noqa: F403
from mxlite.gluon.contrib.estimator.event_handler import __all__ as _handlers

__all__ = ["BatchProcessor", "Estimator", "batch_processor", "estimator", "event_handler", "utils", *_handlers]

_show(globals())
