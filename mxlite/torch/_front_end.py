"""Tensors, as what both front ends share sees them: nodes, functions, checkpoints, checks of gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite._lib import hot
from mxlite.autograd import _graph as graph
from mxlite.autograd._front_end import FrontEnd
from mxlite.torch import _calls
from mxlite.torch._basic import alias, cast, from_values, stacked, zeros_of
from mxlite.torch._calls import AGAIN
from mxlite.torch._kinds import can_sum_to


class TensorFrontEnd(FrontEnd):
    """The front end of tensors."""

    dialect = 1
    module = "torch.autograd.function"
    error = RuntimeError
    maps = True
    counts_keywords = True

    def last_error(self) -> BaseException:
        return _calls.last_error()

    def is_recording(self) -> bool:
        return _calls.flag(hot.grad_mode())

    def set_recording(self, flag: bool) -> bool:
        return _calls.flag(hot.set_grad_mode(flag))

    def values(self, array: Any) -> np.ndarray:
        return array._values()

    def array(self, values: np.ndarray) -> Any:
        return from_values(values)

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return zeros_of(tuple(shape), dtype)

    def cast(self, array: Any, dtype: Any) -> Any:
        return cast(array, dtype)

    def alias(self, array: Any) -> Any:
        return alias(array)

    def stack(self, arrays: list) -> Any:
        return stacked(arrays, 0)

    def concat(self, arrays: list, dim: int) -> Any:
        return _calls.functions["cat"](arrays, dim)

    def is_floating(self, array: Any) -> bool:
        return array._dtype.is_floating_point

    def takes(self, shape: tuple, expected: tuple) -> bool:
        return can_sum_to(shape, expected)  # the engine sums it

    def constant(self, name: str) -> Exception:
        return RuntimeError(f"{name}: the tensor requires no gradient")

    def computed(self, name: str) -> Exception:
        return RuntimeError(f"{name}: the tensor is computed, and only leaves accumulate gradients")

    def released(self) -> Exception:
        return RuntimeError(AGAIN)

    def edited(self, saved_by: str, array: Any, node: graph.Node | None, output: int, expected: int) -> Exception:
        maker = "" if node is None else f", which is output {output} of {type(node).__name__},"
        return RuntimeError(
            f"{saved_by}: a saved {array.type()} of shape {list(array.shape)}{maker} was edited in place before "
            f"backward: it is at version {array._version}, expected version {expected}; edit a copy, or edit it after "
            "backward (autograd.set_detect_anomaly(True) says where the node was recorded)"
        )
