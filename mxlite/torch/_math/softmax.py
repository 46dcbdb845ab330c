"""softmax and log_softmax along a dimension."""

from __future__ import annotations

from typing import Any, Callable

from mxlite._lib import hot
from mxlite.torch._calls import adopt, both, prepare, require_tensor
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import as_dtype
from mxlite.torch._kinds import check_dim
from mxlite.torch._tensor import Tensor


def _soft(name: str, label: str, operator: str) -> Callable:
    call = prepare(label, operator, "axis")

    def soft(input: Tensor, dim: int | None = None, dtype: Any = None, _stacklevel: int = 3) -> Tensor:
        require_tensor(name, 1, "input", input)
        if dtype is not None:
            input = cast(input, as_dtype(dtype))
        if not input._dtype.is_floating_point:
            raise NotImplementedError(f"\"{name}_lastdim_kernel_impl\" not implemented for '{input._dtype.word}'")
        if dim is None:
            dim = 0 if input.ndim in (0, 1, 3) else 1
        place = check_dim(dim, input.ndim)
        if not input.shape:
            return soft(input.unsqueeze(0), 0).squeeze(0)
        return adopt(hot.call1_int(call, input._h, place), input._dtype)

    soft.__name__ = name
    soft.__doc__ = f"{name} along a dimension."
    return both(name)(soft)


softmax = _soft("softmax", "SoftmaxBackward0", "softmax")
log_softmax = _soft("log_softmax", "LogSoftmaxBackward0", "log_softmax")
