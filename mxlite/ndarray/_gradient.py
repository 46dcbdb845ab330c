"""Gradients of NDArrays: attach_grad, the edge in the graph, hooks, backward.

`Gradient` is a base class of NDArray; no object is of it alone.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mxlite import _backward
from mxlite._lib import LIB, check_call, hot, last_error
from mxlite._public.near import did_you_mean
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._handles import gradient_handle, register_variable
from mxlite.autograd._hooks import add_array_hook
from mxlite.autograd._placed import Placed
from mxlite.autograd._run import Edges, run_from_edges
from mxlite.error import MXNetError
from mxlite.ndarray._make import _from_numpy, adopt, invoke, zeros_of

if TYPE_CHECKING:
    from mxlite.ndarray.ndarray import NDArray

GRAD_REQS = {"null": 0, "write": 1, "inplace": 2, "add": 3}


class _Retained:
    """The gradient that a computed array keeps, and the hook that brings it."""

    __slots__ = ("array", "hook", "grad", "__weakref__")

    def __init__(self, array: Gradient) -> None:
        number = id(array)
        self.array = weakref.ref(array, partial(_retained.pop, number))  # no Python code, as at Handle
        self.grad: NDArray | None = None
        _retained[number] = self
        mine = weakref.ref(self)

        def retain(grad: NDArray) -> None:
            kept = mine()
            if kept is not None:
                kept.grad = grad if kept.grad is None else kept.grad + grad

        self.hook = add_array_hook(array, retain, array._graph_front_end, last=True)


#: Of arrays that retain_grad() was called on, by id(): few do, so it is no attribute of every array.
_retained: dict[int, _Retained] = {}


class Gradient(Placed):
    """The part of NDArray that has to do with gradients."""

    __slots__ = ()

    _kind: Any  # NDArray's

    def requires_grad_(self, requires_grad: bool = True) -> NDArray:
        """Makes the array a variable whose gradients are added up, from none; or ends that. Returns the array.

        Raises: MXNetError: the array was recorded, has no shape yet, or (for True) a dtype without fractions.
        """
        if not (requires_grad and self.requires_grad):
            check_call(LIB.MXLNDArraySetRequiresGrad(self._h, bool(requires_grad)))
            if requires_grad:
                register_variable(self)
        return self  # type: ignore[return-value]

    def detach(self) -> NDArray:
        """The same memory, without a place in the graph."""
        handle = ctypes.c_void_p()
        check_call(LIB.MXNDArrayDetach(self._h, ctypes.byref(handle)))
        return self._kind._adopt(handle.value or 0)

    # ---- its gradient ----

    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        """Makes the array a variable with a gradient buffer of zeros; a recorded array is cut off its graph.

        Args:
            grad_req: "write", "add" (backward adds to the buffer), or "null".
            stype: How the buffer is stored: "default", "row_sparse", "csr"; None: as the array.
        Raises: KeyError: an unknown request; ValueError: an unknown storage type.
        """
        if grad_req not in GRAD_REQS:
            meant = did_you_mean(grad_req, GRAD_REQS)
            raise KeyError(f"{grad_req!r} is no gradient request; there are {', '.join(GRAD_REQS)}{meant}")
        request = GRAD_REQS[grad_req]
        if stype is None:
            buffer = invoke("zeros_like", [self.detach()], {})
        else:
            buffer = zeros_of(stype, self.shape, self.context, self.dtype)  # type: ignore[attr-defined]
        check_call(
            LIB.MXAutogradMarkVariables(
                1,
                (ctypes.c_void_p * 1)(self._h),
                (ctypes.c_uint32 * 1)(request),
                (ctypes.c_void_p * 1)(buffer._h),
            )
        )
        register_variable(self)

    @property
    def grad(self) -> NDArray | Any:  # Any: whether it is None, programs know better than type checkers
        """The gradient buffer (a new object each time, the same memory), or None.

        Of a computed array that retain_grad() was called on: the sum of the gradients that arrived since.
        """
        handle = gradient_handle(self._h)
        if handle:
            return self._kind._adopt(handle)
        kept = _retained.get(id(self))
        return None if kept is None else kept.grad

    @grad.setter
    def grad(self, value: NDArray | Any) -> None:
        kept = _retained.get(id(self))
        if kept is not None:
            kept.grad = value
        else:
            check_call(LIB.MXLNDArraySetGrad(self._h, None if value is None else value._h))

    @property
    def _fresh_grad(self) -> int:
        """1 after a backward that wrote the gradient, until it is set to 0."""
        state = hot.fresh(self._h)
        if state < 0:
            raise last_error()
        return state

    @_fresh_grad.setter
    def _fresh_grad(self, state: int) -> None:
        check_call(hot.set_fresh(self._h, int(state)))

    @property
    def retains_grad(self) -> bool:
        """Whether a computed array keeps its gradient."""
        return id(self) in _retained

    def retain_grad(self) -> None:
        """Makes a computed array keep its gradient, in `grad`; a variable does so anyway.

        Raises: MXNetError: no gradient flows to it.
        """
        self._require_gradient("retain_grad")
        if not self.is_leaf and not self.retains_grad:
            _Retained(self)

    # ---- backward ----

    def backward(
        self,
        out_grad: NDArray | None = None,
        retain_graph: bool = False,
        train_mode: bool = True,
        create_graph: bool = False,
        inputs: NDArray | Sequence[NDArray] | None = None,
    ) -> None:
        """Computes the gradients of this array into the buffers of the variables it was recorded from.

        Args:
            out_grad: the gradient of this array, of its dtype and as many elements; None: ones.
            retain_graph: whether the graph can be used again.
            train_mode: the training flag meanwhile.
            create_graph: whether the gradients are recorded themselves (the graph can be used again then).
            inputs: the arrays whose gradients are wanted; None: all variables.
        """
        if out_grad is not None and not isinstance(out_grad, Gradient):
            raise TypeError(f"backward: out_grad must be an NDArray, got {type(out_grad).__name__}")
        head_grads = None if out_grad is None else [out_grad._h]
        backward([self], head_grads, retain_graph, train_mode, create_graph, inputs)


def backward(
    heads: Sequence[Gradient],
    head_grads: list[int | None] | None,
    retain_graph: bool,
    train_mode: bool,
    create_graph: bool,
    inputs: Any,
) -> None:
    """Backward into the buffers of all variables, or of `inputs`; head gradients are handles."""
    keep = bool(retain_graph or create_graph)
    if inputs is None:
        _backward.backward([head._h for head in heads], head_grads, [], keep, create_graph, train_mode)
        return
    wanted = [inputs] if isinstance(inputs, Gradient) else list(inputs)
    if not wanted:
        raise ValueError("backward: inputs cannot be an empty list")
    for each in wanted:
        if not isinstance(each, Gradient):
            raise TypeError(f"backward: inputs must be NDArrays, got {type(each).__name__}")
        each.retain_grad()  # what is no variable keeps its gradient all the same
    run_backward(heads, head_grads, wanted, keep, train_mode, create_graph, True)


def run_backward(
    heads: Sequence[Any],
    head_grads: list[int | None] | None,
    wanted: Sequence[Any],
    keep_graph: bool,
    train_mode: bool,
    create_graph: bool,
    accumulate: bool,
) -> list[int | None]:
    """Backward to chosen arrays: new handles of their gradients, None where nothing arrived, unless accumulated.

    Raises: MXNetError: a head or a wanted array is a constant.
    """
    with Edges() as edges:
        found = []
        for number, array in enumerate((*heads, *wanted)):
            found.append(edges.of(array))
            if not found[-1][0]:
                kind, position = ("head", number) if number < len(heads) else ("input", number - len(heads))
                raise MXNetError(f"backward: {kind} {position} is a constant: it is no variable and was not recorded")
        return run_from_edges(
            FRONT_END,
            found[: len(heads)],
            [None] * len(heads) if head_grads is None else head_grads,
            found[len(heads) :],
            keep_graph=keep_graph,
            create_graph=create_graph,
            training=train_mode,
            accumulate_grad=accumulate,
        )


class Style(FrontEnd):
    """NDArrays, as what both front ends share sees them.

    Args:
        kind: the class of the arrays that it makes; None: NDArray, which comes after it.
    """

    def __init__(self, kind: Any = None) -> None:
        super().__init__(adopt if kind is None else kind._adopt, Gradient, {})
        self._kind = kind

    def constant(self, name: str) -> Exception:
        return MXNetError(f"{name}: the array is a constant; no gradient flows to it")

    def computed(self, name: str) -> Exception:
        return MXNetError(f"{name}: the array was computed; it accumulates no gradient")

    def is_recording(self) -> bool:
        flag = ctypes.c_bool()
        check_call(LIB.MXAutogradIsRecording(ctypes.byref(flag)))
        return flag.value

    def set_recording(self, flag: bool) -> bool:
        return bool(hot.set_recording(flag))

    def set_training(self, flag: bool) -> bool:
        return bool(hot.set_training(flag))

    def values(self, array: NDArray) -> np.ndarray:
        return array.asnumpy()

    def array(self, values: np.ndarray) -> NDArray:
        return self._own(_from_numpy(values))

    def _own(self, array: NDArray) -> NDArray:
        return array if self._kind is None else array.as_np_ndarray()

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> NDArray:
        return self.array(np.zeros(shape, dtype))

    def cast(self, array: NDArray, dtype: Any) -> NDArray:
        return array.astype(dtype, copy=False)

    def alias(self, array: NDArray) -> NDArray:
        return array.reshape(array.shape)

    def stack(self, arrays: list) -> NDArray:
        return self._own(invoke("stack", arrays, {"axis": 0, "num_args": len(arrays)}))

    def is_floating(self, array: NDArray) -> bool:
        return np.issubdtype(array.dtype, np.floating)


#: How nodes make NDArrays.
FRONT_END = Style()
Gradient._graph_front_end = FRONT_END
