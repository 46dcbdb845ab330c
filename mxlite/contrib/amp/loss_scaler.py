"""The factor of a loss, which keeps small gradients from vanishing in 16 bits."""

from __future__ import annotations

import logging
from typing import Any

from mxlite import ndarray as nd
from mxlite._public import show as _show
from mxlite.ndarray._kinds import as_kind

__all__ = ["LossScaler"]


class LossScaler:
    """A factor that is halved when a gradient overflows, and doubled after 2,000 steps without; 65,536 at first."""

    def __init__(self) -> None:
        self._loss_scale = 2.0**16
        self._next_loss_scale = self._loss_scale
        self._max_loss_scale = 2.0**24
        self._scale_seq_len = 2000
        self._unskipped = 0

    @property
    def loss_scale(self) -> float:
        """The factor of the next loss."""
        return self._loss_scale

    def has_overflow(self, params: Any) -> bool:
        """Whether a gradient of the parameters has an infinity or NaN; decides the factor of the step after next."""
        grads = [grad for each in params if each.grad_req != "null" for grad in each.list_grad()]
        if not grads:
            raise IndexError("LossScaler: no parameter has a gradient")
        finite = bool(nd.multi_all_finite(*as_kind(grads, nd.NDArray), num_arrays=len(grads)).asscalar())
        self._loss_scale = self._next_loss_scale
        if not finite:
            self._set_next(self._loss_scale / 2, "decreasing")
        else:
            self._unskipped += 1
            if self._unskipped == self._scale_seq_len:
                self._set_next(min(self._max_loss_scale, self._loss_scale * 2), "increasing")
        return not finite

    def _set_next(self, scale: float, change: str) -> None:
        self._next_loss_scale = scale
        self._unskipped = 0
        logging.info("AMP: %s loss scale to %f", change, scale)


_show(globals())
