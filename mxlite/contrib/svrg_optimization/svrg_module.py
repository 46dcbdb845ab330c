"""A module that trains by SVRG (Johnson and Zhang, 2013).

Every `update_freq` epochs it keeps the parameters as they are and computes the gradient over all batches by them, the
full gradient. A batch's gradient then gets less noise: g(w) - g(kept w) + full gradient.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

from mxlite import ndarray
from mxlite._public import show as _show
from mxlite.context import Context
from mxlite.error import WrongStateError
from mxlite.module import Module
from mxlite.ndarray.ndarray import NDArray

__all__ = ["SVRGModule"]


class SVRGModule(Module):
    """A Module that trains by SVRG; arguments as Module takes them.

    Args:
        update_freq: in how many epochs the full gradient is computed once.
    Raises: TypeError: it is no int; ValueError: it is not positive.
    """

    def __init__(
        self,
        symbol: Any,
        data_names: Sequence[str] | None = ("data",),
        label_names: Sequence[str] | None = ("softmax_label",),
        logger: Any = logging,
        context: Context | Sequence[Context] | None = None,
        work_load_list: Any = None,
        fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        group2ctxs: Any = None,
        compression_params: Any = None,
        update_freq: int | None = None,
    ) -> None:
        given = {
            "data_names": data_names,
            "label_names": label_names,
            "logger": logger,
            "context": context,
            "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names,
            "state_names": state_names,
            "group2ctxs": group2ctxs,
        }
        super().__init__(symbol, compression_params=compression_params, **given)
        if not isinstance(update_freq, int):
            raise TypeError(f"SVRGModule: update_freq is a number of epochs, got {update_freq!r}")
        if update_freq <= 0:
            raise ValueError(f"SVRGModule: update_freq must be at least 1, got {update_freq}")
        self.update_freq = update_freq
        #: The same network with the parameters that are kept.
        self._mod_aux = Module(symbol, **given)
        #: For each context the full gradients by name.
        self._param_dict: list[dict[str, NDArray]] = []

    # ---- both networks ----

    def bind(
        self,
        data_shapes: Any,
        label_shapes: Any = None,
        for_training: bool = True,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Binds the network, and for training the one with the kept parameters; see Module."""
        super().bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, shared_module, grad_req)
        if for_training:
            self._mod_aux.bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, None, grad_req)

    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """Binds to other shapes; see Module."""
        super().reshape(data_shapes, label_shapes=label_shapes)
        if self._mod_aux.binded:
            self._mod_aux.reshape(data_shapes, label_shapes=label_shapes)

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Computes the outputs, in training by the kept parameters too.

        Raises: MXNetError: in training, no full gradient was computed (`update_full_grads`).
        """
        super().forward(data_batch, is_train)
        if self.for_training if is_train is None else is_train:
            if not self._param_dict:
                raise WrongStateError("SVRGModule.forward: call update_full_grads before it trains")
            self._mod_aux.forward(data_batch, is_train)

    def backward(self, out_grads: Any = None) -> None:
        """Computes the gradients by both sets of parameters; see Module."""
        super().backward(out_grads)
        self._mod_aux.backward(out_grads)

    def prepare(self, data_batch: Any, sparse_row_id_fn: Any = None) -> None:
        """Prepares both for a batch; see Module."""
        super().prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        self._mod_aux.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)

    # ---- gradients ----

    def update_full_grads(self, train_data: Any) -> None:
        """Keeps the parameters as they are now, and computes the mean of the batches' gradients by them.

        A batch with padding counts as the part of a batch that it is.

        Raises: ValueError: the iterator gives no batch.
        """
        arg_params, aux_params = self.get_params()
        self._mod_aux.init_params(None, arg_params, aux_params, force_init=True)
        names = self._exec_group.param_names
        train_data.reset()
        sums: list[dict[str, NDArray]] = [{} for _ in self._context]
        count = 0.0
        for batch in train_data:
            count += 1 - (batch.pad or 0) / self._exec_group.batch_size
            self._mod_aux.forward(batch, is_train=True)
            self._mod_aux.backward()
            for name, grads in zip(names, self._mod_aux._exec_group.grad_arrays):
                for held, grad in zip(sums, grads):
                    if grad is not None:
                        held[name] = held[name] + grad if name in held else grad.copy()
        if count == 0:
            raise ValueError("SVRGModule.update_full_grads: the iterator gives no batch")
        self._param_dict = [{name: each / count for name, each in held.items()} for held in sums]
        if self._kvstore is not None:
            self._mean_over_contexts()
        train_data.reset()

    def _mean_over_contexts(self) -> None:
        for name in self._param_dict[0]:
            copies = [held[name].as_in_context(self._context[0]) for held in self._param_dict]
            mean = (copies[0] if len(copies) == 1 else ndarray.add_n(*copies)) / len(copies)
            for held in self._param_dict:
                mean.copyto(held[name])

    def update(self) -> None:
        """Updates the parameters by the gradients with less noise; see Module."""
        for grads, kept, name in zip(
            self._exec_group.grad_arrays, self._mod_aux._exec_group.grad_arrays, self._exec_group.param_names
        ):
            for grad, other, full in zip(grads, kept, self._param_dict):
                if grad is not None:
                    grad[:] = grad - other + full[name]
        super().update()

    def _train_epoch(self, epoch: int, train_data: Any, *more: Any) -> list[tuple[str, float]]:
        if epoch % self.update_freq == 0:
            start = time.time()
            self.update_full_grads(train_data)
            self.logger.info("Epoch[%d] Full gradient's time=%.3f", epoch, time.time() - start)
        return super()._train_epoch(epoch, train_data, *more)


_show(globals())
