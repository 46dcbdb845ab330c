"""What is the same for every tensor, since there is one device and one layout; and what PyTorch has taken out."""

from __future__ import annotations

import math
from typing import Any, Callable, NoReturn

from mxlite.torch._basic import inner_first
from mxlite.torch._calls import both, function, functions, method, methods
from mxlite.torch._kinds import extents_of, memory_format
from mxlite.torch._tensor import Tensor


def _resized(self: Tensor, sizes: tuple) -> Tensor:
    """A view in a shape of as many elements. Raises: RuntimeError: of others."""
    shape = extents_of("resize", sizes)
    if math.prod(shape) != self.numel():
        raise RuntimeError(f"resize: {self.numel()} elements do not make shape {list(shape)}")
    return self.reshape(shape)


#: Attributes that are False.
methods.update(
    dict.fromkeys("is_ipu is_maia is_mkldnn is_mtia is_sparse_csr is_vulkan is_xla volatile".split(), False),
    name=None,
    grad_dtype=property(lambda self: self._dtype, doc="The dtype of a gradient: the tensor's."),
    const_data_ptr=Tensor.data_ptr,
)
functions["get_device"] = Tensor.get_device
functions["init_num_threads"] = lambda: None
for _name, _document, _made in (
    ("is_distributed", "False.", lambda self: False),
    ("dense_dim", "The number of dimensions.", Tensor.dim),
    ("sparse_dim", "0: nothing is sparse.", lambda self: 0),
    ("to_dense", "Itself.", lambda self: self),
    ("share_memory_", "Itself: threads share it.", lambda self: self),
    ("resize", "A view in another shape of as many elements.", lambda self, *sizes: _resized(self, sizes)),
    ("resize_as", "A view in the shape of another.", lambda self, tensor: _resized(self, (tensor.shape,))),
):
    method(_name, document=_document)(_made)


@function()
def cond(pred: Any, true_fn: Callable, false_fn: Callable, operands: Any = ()) -> Any:
    """true_fn(*operands) where `pred`, a bool or a tensor of one, is True, else false_fn(*operands)."""
    if not isinstance(pred, (bool, Tensor)) or not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("cond: takes a bool, or a tensor of one element, and two functions")
    return (true_fn if pred else false_fn)(*operands)


@method()
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the outermost in memory to the innermost.

    Args:
        ambiguity_check: Whether an order that is not the only one is an error; or formats, one of which it must be.
    Raises: RuntimeError: it is not.
    """
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if not isinstance(ambiguity_check, (bool, list)) or not all(isinstance(each, memory_format) for each in formats):
        raise TypeError("dim_order: ambiguity_check is a bool or a list of memory formats")
    steps = self.stride()
    unclear = ambiguity_check is not False and (len(set(steps)) < len(steps) or 1 in self.shape)
    if unclear and sum(self.is_contiguous(each) for each in formats) != 1:
        raise RuntimeError(f"dim_order: steps {steps} of shape {list(self.shape)} are in several orders")
    return tuple(inner_first(steps, self.shape)[::-1])


def _refused(kind: type[Exception], text: str) -> Callable:
    def refused(*_: Any, **__: Any) -> NoReturn:
        raise kind(text)

    return refused


#: name: what to call instead, of functions that PyTorch has removed.
_REMOVED = {
    "eig": "linalg.eigh, or NumPy's eig", "lstsq": "linalg.lstsq", "matrix_rank": "linalg.matrix_rank",
    "solve": "linalg.solve", "symeig": "linalg.eigh",
}  # fmt: skip
for _name, _instead in _REMOVED.items():
    (function if _name == "matrix_rank" else both)(_name, document="Removed. Raises: RuntimeError.")(
        _refused(RuntimeError, f"{_name}: PyTorch has removed it; call {_instead}")
    )
for _name, _kind, _why in (
    ("reinforce", RuntimeError, "it was removed"),
    ("pin_memory", RuntimeError, "there is no accelerator"),
    ("to_padded_tensor", NotImplementedError, "the tensor is not nested"),
    ("qscheme", NotImplementedError, "the tensor is not quantized"),
    *((_each, RuntimeError, "the tensor is not sparse") for _each in ("is_coalesced", "coalesce", "values")),
):
    method(_name, document=f"Refused: {_why}. Raises: {_kind.__name__}.")(_refused(_kind, f"{_name}: {_why}"))
