"""Gradients of tensors: requires_grad, the edge in the graph, hooks, backward.

`Gradient` is a base class of Tensor; no object is of it alone.
"""

from __future__ import annotations

import ctypes
import warnings
import weakref
from typing import TYPE_CHECKING, Any

from mxlite._lib import LIB, ask, hot
from mxlite.autograd._handles import array_id, gradient_handle, register_variable, variable_for
from mxlite.autograd._hooks import add_array_hook
from mxlite.autograd._placed import Placed
from mxlite.autograd._transforms.levels import count as _levels_open
from mxlite.autograd._transforms.levels import without_graph
from mxlite.torch import _calls
from mxlite.torch._calls import adopt, check_call
from mxlite.torch._dtypes import dtype as _dtype_class
from mxlite.torch._front_end import TensorFrontEnd

if TYPE_CHECKING:
    from mxlite.torch._tensor import Tensor

_NOT_A_LEAF = (
    "requires_grad: a computed tensor keeps its flag, only a leaf's can change; detach() gives one without a gradient"
)


def exchange(a: Any, b: Any) -> None:
    """Swaps what two tensors are: their memory, shapes and dtypes."""
    a._h, b._h = b._h, a._h  # set: Owner forgets the shape
    a._dtype, b._dtype = b._dtype, a._dtype
    for each in (a, b):
        if hasattr(each, "_shape"):
            del each._shape


class Gradient(Placed, _calls.hot.Owner):
    """The part of Tensor that has to do with gradients."""

    __slots__ = ()

    _h: int
    _dtype: _dtype_class
    _grad_cache: tuple[int, Tensor]

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Makes the tensor one that wants a gradient, or ends that; returns it.

        Raises: RuntimeError: it was computed, or its dtype is no floating one.
        """
        if not self.is_leaf:
            if requires_grad:
                return self
            raise RuntimeError(_NOT_A_LEAF)
        if requires_grad and not self._dtype.is_floating_point:
            raise RuntimeError("requires_grad: a gradient needs a floating dtype")
        check_call(hot.set_requires_grad(self._h, bool(requires_grad)))
        if requires_grad:
            register_variable(self)
        return self

    # ---- its gradient ----

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward added up, or None; the same object each time."""
        known = getattr(self, "_grad_cache", None)
        if known is not None and known[0] == _RETAINED:
            return known[1]
        handle = gradient_handle(self._h)
        if not handle:
            if known is None and not self.is_leaf and not self.retains_grad:
                warnings.warn("grad: a computed tensor keeps none, unless retain_grad() asks for it", stacklevel=2)
            return None
        number = array_id(handle)
        if known is not None and known[0] == number:
            _calls.hot.free_array(handle)
            return known[1]
        grad = adopt(handle, self._dtype)
        self._grad_cache = number, grad
        return grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            self._check_grad(value)
        elif _calls.hot.set_grad(self._h, 0) == 0:  # of a variable, as after each step of a training
            if hasattr(self, "_grad_cache"):
                del self._grad_cache
            return
        if not self.is_leaf or not self.requires_grad:
            if value is None:
                if hasattr(self, "_grad_cache"):
                    del self._grad_cache
            else:
                self._grad_cache = _RETAINED, value
            return
        check_call(_calls.hot.set_grad(self._h, 0 if value is None else value._h))
        if value is not None:
            self._grad_cache = array_id(value._h), value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def _check_grad(self, value: Any) -> None:
        if not isinstance(value, _calls.tensor_class):
            raise TypeError(f"grad: a gradient is a Tensor or None, got {type(value).__name__}")
        if value is self:
            raise RuntimeError("grad: a tensor cannot be its own gradient")
        if value._dtype is not self._dtype:
            raise RuntimeError(
                f"grad: a gradient of dtype {value._dtype.word} is not that of a tensor of dtype {self._dtype.word}"
            )
        if value.shape != self.shape:
            raise RuntimeError(
                f"grad: a gradient of shape {list(value.shape)} is not that of a tensor of shape {list(self.shape)}"
            )

    @property
    def retains_grad(self) -> bool:
        """Whether a computed tensor keeps its gradient."""
        return "_retains" in self.__dict__

    def retain_grad(self) -> None:
        """Makes a computed tensor keep its gradient, in `grad`.

        Raises: RuntimeError: no gradient flows to it.
        """
        self._require_gradient("retain_grad")
        if self.is_leaf or self.retains_grad:
            return
        mine = weakref.ref(self)

        def retain(grad: Tensor) -> None:
            tensor = mine()
            if tensor is not None and grad is not None:
                before = getattr(tensor, "_grad_cache", None)
                tensor._grad_cache = _RETAINED, grad if before is None else before[1] + grad

        self.__dict__["_retains"] = add_array_hook(self, retain, FRONT_END, last=True)

    @property
    def _base(self) -> Tensor | None:
        """The tensor that it is a view of; None for one that is none."""
        handle = ask(ctypes.c_void_p, LIB.MXLNDArrayGetBase, self._h)
        return variable_for(handle, FRONT_END) if handle else None

    def _is_view(self) -> bool:
        return self._base is not None

    def detach(self) -> Tensor:
        """The same memory, without a place in the graph."""
        alone = adopt(hot.detached(self._h), self._dtype)
        return without_graph(FRONT_END, alone) if _levels_open[0] else alone

    def detach_(self) -> Tensor:
        """Takes the tensor out of the graph; returns it.

        Raises: RuntimeError: it is a view, whose base would keep its place there.
        """
        if self._base is not None:
            raise RuntimeError("detach_: a view cannot leave the graph in place; use detach()")
        alone = self.detach()
        self._h, alone._h = alone._h, self._h
        return self

    @property
    def data(self) -> Tensor:
        """The same memory, without a place in the graph."""
        return self.detach()

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, _calls.tensor_class):
            raise TypeError(f"data: takes a tensor, got {type(value).__name__}")
        if value._dtype is self._dtype and value.is_set_to(self):
            return
        if self.requires_grad and not value._dtype.is_floating_point:
            raise RuntimeError("data: a tensor that requires a gradient has a floating dtype")
        alone = value.detach()
        check_call(LIB.MXLNDArrayAssume(self._h, alone._h))
        self._dtype = value._dtype
        if hasattr(self, "_shape"):
            del self._shape


#: In `_grad_cache`, in place of an array's number, for a gradient that only Python keeps.
_RETAINED = 0

#: How nodes make tensors, and what PyTorch's `name()` says where it differs from the class.
FRONT_END = TensorFrontEnd(
    adopt,
    Gradient,
    {
        "AccumulateGrad": "torch::autograd::AccumulateGrad",
        "CopySlices": "torch::autograd::CopySlices",
        "CopyBackwards": "torch::autograd::CopyBackwards",
        "Error": "torch::autograd::Error",
    },
)
Gradient._graph_front_end = FRONT_END
