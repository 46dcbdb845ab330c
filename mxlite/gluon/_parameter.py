"""Parameters of blocks: arrays with a name, a gradient, copies in several contexts, and perhaps no shape yet."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from mxlite import autograd, initializer, ndarray
from mxlite._public.near import did_you_mean
from mxlite.base import AsDtype, dtype_given, dtype_name
from mxlite.context import Context, cpu, current_context
from mxlite.error import MXNetError, WrongStateError, WrongValueError
from mxlite.gluon._rows import StoredByRows, zeros_as
from mxlite.gluon.utils import shape_is_known
from mxlite.ndarray._kinds import array_of_mode, as_kind, as_mode, of_numpy
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import Symbol, var
from mxlite.util import _modes, is_np_shape

tensor_types = (Symbol, NDArray)

_REQUESTS = ("write", "add", "null")
_STORAGE = ("default", "row_sparse", "csr")


class DeferredInitializationError(MXNetError):
    """A parameter was wanted before the first batch has told its shape."""


class Epoch:
    """Counts how often a parameter has got other arrays: what blocks remember of them is good for one number."""

    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = 0


epoch = Epoch()


class _Copies(list):
    """A parameter's arrays of `mx.nd`, or their gradients, one for each context.

    Programs put others there: weights that are computed.
    """

    #: The same as arrays of `mx.np`, once they have been asked for.
    _numpy: list[NDArray] | None = None

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self._numpy = None
        epoch.number += 1

    def __reduce__(self) -> tuple:
        """Copies and pickles have the arrays alone: others of the same memory would have their own then."""
        return type(self), (list(self),)

    def in_numpy(self) -> list[NDArray]:
        """The arrays as those of `mx.np`: the same objects each time, over the same memory."""
        if self._numpy is None:
            self._numpy = as_kind(list(self), of_numpy())
        return self._numpy


def contexts(ctx: Context | Sequence[Context] | None) -> list[Context]:
    """A list of contexts, of one, of several, or of None: the current one."""
    if ctx is None:
        return [current_context()]
    return [ctx] if isinstance(ctx, Context) else list(ctx)


def _places(ctx_list: list[Context]) -> list[list[int | None]]:
    """The number of each context in a list, by `device_typeid & 1` and `device_id`."""
    places: list[list[int | None]] = [[], []]
    for number, ctx in enumerate(ctx_list):
        row = places[ctx.device_typeid & 1]
        row += [None] * (ctx.device_id + 1 - len(row))
        row[ctx.device_id] = number
    return places


def _are_host(one: Context, other: Context) -> bool:
    """Whether both are memory of the processor with the same number: cpu, cpu_pinned, cpu_shared."""
    return one.device_typeid & other.device_typeid & 1 == 1 and one.device_id == other.device_id


class Parameter(StoredByRows):
    """An array that a block trains, by name; `initialize` gives it values.

    Args:
        grad_req: "write", "add" (backward adds to the gradient) or "null" (there is none).
        shape: Sizes; 0 is one that the first batch tells. None: so are all.
        lr_mult, wd_mult: Factors that the Trainer applies to the learning rate and the weight decay.
        init: The initializer; None: the one that `initialize` is given.
        allow_deferred_init: Whether the shape may be unknown when `initialize` is called.
        differentiable: False: there is no gradient.
        stype, grad_stype: How the arrays and the gradients are stored: "default", "row_sparse" or "csr".
    Raises: ValueError: an unknown request or storage type.
    """

    def __init__(
        self,
        name: str,
        grad_req: str = "write",
        shape: int | Sequence[int] | None = None,
        dtype: Any = np.float32,
        lr_mult: float = 1.0,
        wd_mult: float = 1.0,
        init: Any = None,
        allow_deferred_init: bool = False,
        differentiable: bool = True,
        stype: str = "default",
        grad_stype: str = "default",
    ) -> None:
        self._data: _Copies | None = None
        self._grad: _Copies | None = None
        self._ctx_list: list[Context] = []
        #: For other programs: where in `_data` the array of a context is, by `device_typeid & 1` and `device_id`.
        self._ctx_map: list[list[int | None]] = []
        self._trainer: Any = None
        #: For other programs, which copy it.
        self._var: Any = None
        #: While the shape is unknown: the initializer, the contexts, the default initializer, and values (or None).
        self._deferred_init: tuple = ()
        self._differentiable = differentiable
        self._allow_deferred_init = allow_deferred_init
        self._shape: Any = (shape,) if isinstance(shape, (int, np.integer)) else shape
        self._dtype = dtype_given(dtype)
        self.name = name
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.init = init
        for what, kind in (("stype", stype), ("grad_stype", grad_stype)):
            if kind not in _STORAGE:
                raise WrongValueError(f"Parameter '{name}': {what} is 'default', 'row_sparse' or 'csr', not '{kind}'")
        self._stype = stype
        self._grad_stype = grad_stype
        self._grad_req: str = "null"
        self.grad_req = grad_req

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_data", "_grad"):
            value = value if value is None or isinstance(value, _Copies) else _Copies(value)
            epoch.number += 1
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__} {self.name} (shape={self.shape}, dtype={self.dtype})"

    # ---- what it is ----

    @property
    def grad_req(self) -> str:
        """Whether backward writes the gradient, adds to it, or leaves it ("null"); it may be changed."""
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req not in _REQUESTS:
            meant = did_you_mean(req, _REQUESTS)
            raise WrongValueError(f"grad_req is 'write', 'add' or 'null', not '{req}'{meant}")
        if not self._differentiable:
            req = "null"
        if self._grad_req == req:
            return
        self._grad_req = req
        if self._data is not None:
            if req == "null":
                self._data = _Copies(each.detach() for each in self._data)
            self._init_grad()

    __numpy_dtype__ = AsDtype()

    @property
    def dtype(self) -> Any:
        """The type of the elements, as it was given; setting it is `cast`."""
        return self._dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        self.cast(dtype)

    @property
    def shape(self) -> Any:
        """The sizes; what is unknown (0, in numpy-shape mode -1) may be set, and nothing else."""
        shape = self._shape
        if shape is not None and 0 in shape and is_np_shape():
            return tuple(size or -1 for size in shape)
        return shape

    @shape.setter
    def shape(self, new_shape: Sequence[int]) -> None:
        old = self._shape
        if old is not None:
            same = len(old) == len(new_shape) and all(a in (-1, 0, b) for a, b in zip(old, new_shape))
            if not same:
                raise WrongValueError(f"shape {new_shape} does not fit the known shape {old}")
        self._shape = new_shape

    # ---- values ----

    def initialize(
        self,
        init: Any = None,
        ctx: Context | Sequence[Context] | None = None,
        default_init: Any = initializer.Uniform(),  # noqa: B008 - 1.9.1's default
        force_reinit: bool = False,
    ) -> None:
        """Gives the parameter values, or notes how once the shape is known.

        Args:
            init: The initializer; None: the parameter's own, or else `default_init`.
            ctx: One context or several, each of which gets a copy; None: the current one.
            force_reinit: Whether values that are there are replaced; else there is a warning.
        Raises: ValueError: the shape is unknown, and must not be.
        """
        if self._data is not None and not force_reinit:
            warnings.warn(
                f"Parameter '{self.name}' has values, which it keeps; force_reinit=True makes new ones",
                stacklevel=2,
            )
            return
        self._data = self._grad = None
        if init is None:
            init = default_init if self.init is None else self.init
        self._deferred_init = (init, contexts(ctx), default_init, None)
        if shape_is_known(self.shape):
            self._finish_deferred_init()
        elif not self._allow_deferred_init:
            self._deferred_init = ()
            raise ValueError(f"Parameter '{self.name}' cannot be initialized: its shape is {self.shape}")

    def _finish_deferred_init(self) -> None:
        """Gives values to a parameter that waited for its shape; nothing for others."""
        if not self._deferred_init:
            return
        init, ctx, default_init, data = self._deferred_init
        if not shape_is_known(self.shape):
            raise WrongStateError(
                f"Parameter '{self.name}' cannot be initialized: its shape is {self.shape}. State the sizes of the "
                "layer's input (in_units, in_channels ...)"
            )
        self._deferred_init = ()
        with autograd.pause():
            if data is None:
                data = ndarray.zeros(self.shape, cpu(), self.dtype, self._stype)
                make = initializer.create(default_init)
                make(initializer.InitDesc(self.name, {"__init__": init}), as_mode(data))
            self._init_impl(data, ctx)

    def _init_impl(self, data: NDArray, ctx_list: Sequence[Context]) -> None:
        """Copies values to the contexts."""
        self._ctx_list = list(ctx_list)
        self._ctx_map = _places(self._ctx_list)
        data = as_kind(data, NDArray)
        if data.stype != self._stype:
            data = data.tostype(self._stype)
        self._data = _Copies(data.copyto(ctx) for ctx in self._ctx_list)
        self._init_grad()

    def _init_grad(self) -> None:
        """Makes gradients of zeros, one in each context."""
        self._grad = None
        if self.grad_req == "null" or self._data is None:
            return
        self._grad = _Copies(zeros_as(each, ctx, self._grad_stype) for each, ctx in zip(self._data, self._ctx_list))
        self._mark()

    def _mark(self) -> None:
        if self._data:
            autograd.mark_variables(self._data, self._grad, self.grad_req)

    def _load_init(
        self,
        data: NDArray,
        ctx: Context | Sequence[Context] | None,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Takes values from a file, and with them the parts of the shape that were unknown."""
        if cast_dtype and dtype_source not in ("current", "saved"):
            raise WrongValueError(f"dtype_source is 'current' or 'saved', got {dtype_source!r}")
        ctx = None if ctx is None else contexts(ctx)
        data = self._fitting(data, cast_dtype, dtype_source)
        known = self._ctx_list if self._data is not None else self._deferred_init[1] if self._deferred_init else None
        if not (ctx is None or known is None or set(ctx) == set(known)):
            raise WrongStateError(f"Parameter '{self.name}' is on {known}, so its values cannot be loaded to {ctx}")
        if cast_dtype and dtype_source == "saved":
            self.dtype = data.dtype
        if self.shape is None or not shape_is_known(self.shape):
            self._shape = data.shape
        if self._data is not None:
            self.set_data(data)
        else:
            self._init_impl(data, known or ctx or [cpu()])
        self._deferred_init = ()

    def _fitting(self, data: NDArray, cast_dtype: bool, dtype_source: str) -> NDArray:
        """Values of a file in the parameter's dtype. Raises: ValueError: another shape or dtype."""
        shape = self.shape
        failed = f"Failed loading Parameter '{self.name}' from saved params:"
        if shape is not None and not (
            len(shape) == len(data.shape) and all(a in (0, -1, b) for a, b in zip(shape, data.shape))
        ):
            raise WrongValueError(f"{failed} shape incompatible expected {shape} vs saved {data.shape}")
        if (
            self.dtype is None
            or dtype_name(self.dtype) == dtype_name(data.dtype)
            or (cast_dtype and dtype_source == "saved")
        ):
            return data
        if not cast_dtype:
            raise WrongValueError(
                f"{failed} dtype incompatible expected {self.dtype} vs saved {data.dtype}. With cast_dtype=True they "
                "are cast"
            )
        return data.astype(self.dtype)

    def _reduce(self) -> NDArray:
        """The mean of the copies, in cpu(0)."""
        if self._stype == "row_sparse":
            return self._all_rows()
        copies = [each.copyto(cpu()) for each in as_kind(self.list_data(), NDArray)]
        return copies[0] if len(copies) == 1 else ndarray.add_n(*copies) / len(copies)

    def set_data(self, data: Any) -> None:
        """Sets the values, in every context; a shape that was unknown is known then.

        A Trainer whose store updates the parameters begins with a new store then.

        Raises: ValueError: another shape. MXNetError: `initialize` was not called. RuntimeError: the Trainer's store is
            one of several workers, and updates the parameters.
        """
        self.shape = data.shape
        if self._data is None:
            if not self._deferred_init:
                raise WrongStateError(f"Parameter '{self.name}' has no values yet: initialize it")
            self._deferred_init = (*self._deferred_init[:3], data)
            return
        if self._trainer is not None and self._trainer._update_on_kvstore:
            self._trainer._forget_stored(self)
        for each in self._data:
            each[:] = as_kind(data, NDArray)

    def reset_ctx(self, ctx: Context | Sequence[Context] | None) -> None:
        """Moves the parameter to other contexts.

        Raises: ValueError: `initialize` was not called.
        """
        ctx = contexts(ctx)
        if self._data:
            data = self._reduce()
            with autograd.pause():
                self._init_impl(data, ctx)
        elif self._deferred_init:
            self._deferred_init = (self._deferred_init[0], ctx, *self._deferred_init[2:])
        else:
            raise ValueError(f"Parameter '{self.name}' has no values yet that could go to another context")

    def cast(self, dtype: Any) -> None:
        """Converts values and gradients to another dtype."""
        dtype = dtype_given(dtype)
        dtype_name(dtype)
        self._dtype = dtype
        if self._data is None:
            return
        with autograd.pause():
            self._data = _Copies(each.astype(dtype) for each in self._data)
            if self._grad is not None:
                self._grad = _Copies(each.astype(dtype) for each in self._grad)
                self._mark()

    # ---- its arrays ----

    def _refuse(self) -> NoReturn:
        """Raises the error for values that are not there."""
        if self._deferred_init:
            raise DeferredInitializationError(
                f"Parameter '{self.name}' has no values yet: they are made when the first batch tells its shape. Call "
                "the network once, or give the sizes (in_units, in_channels, ...) to the layers"
            )
        raise RuntimeError(
            f"Parameter '{self.name}' has not been initialized: call initialize() of the block, and take the "
            "parameters from Block.collect_params(), since Block.params lacks those of nested blocks"
        )

    def _check_and_get(self, arr_list: _Copies | None, ctx: Any) -> Any:
        """The array of a context (None: the only one, or that of the current context), or with `list` all."""
        if arr_list is None:
            self._refuse()
        if _modes.np_array:
            arr_list = arr_list.in_numpy()
        if ctx is list:
            return arr_list
        if ctx is None:
            if len(arr_list) == 1:
                return arr_list[0]
            ctx = current_context()
        for each, place in zip(arr_list, self._ctx_list):
            if place == ctx or _are_host(place, ctx):
                return each
        raise RuntimeError(f"Parameter '{self.name}' has no values on {ctx}; it has some on {self._ctx_list}")

    def data(self, ctx: Context | None = None) -> NDArray:
        """The array in a context; None: the only one, or that of the current context.

        Raises: RuntimeError: not initialized, in that context, or dense; DeferredInitializationError: not yet.
        """
        held = self._data
        if self._stype == "row_sparse":
            self._refuse_rows("data", "row_sparse_data")
        if ctx is None and held is not None and len(held) == 1 and not _modes.np_array:
            return held[0]
        return self._check_and_get(held, ctx)

    def list_data(self) -> list[NDArray]:
        """The arrays of all contexts. Raises: RuntimeError: as `data`."""
        if self._stype == "row_sparse":
            self._refuse_rows("list_data", "list_row_sparse_data")
        return self._check_and_get(self._data, list)

    def grad(self, ctx: Context | None = None) -> NDArray:
        """The gradient in a context. Raises: RuntimeError: as `data`, or grad_req is "null"."""
        return self._check_and_get(self._gradients(), ctx)

    def list_grad(self) -> list[NDArray]:
        """The gradients of all contexts."""
        return self._check_and_get(self._gradients(), list)

    def _gradients(self) -> _Copies | None:
        if self._data is not None and self._grad is None:
            raise RuntimeError(f"Parameter '{self.name}' has no gradient: its grad_req is 'null'")
        return self._grad

    def list_ctx(self) -> list[Context]:
        """The contexts that the parameter is in, or will be."""
        if self._data is not None:
            return self._ctx_list
        if self._deferred_init:
            return self._deferred_init[1]
        raise RuntimeError(f"Parameter '{self.name}' has no values yet: initialize it")

    def zero_grad(self) -> None:
        """Sets the gradients to zero; a sparse one stores nothing then."""
        for each in self._grad or ():
            if each.stype == "default":
                each[:] = 0
            else:
                zeros_as(each, each.context, each.stype).copyto(each)

    def var(self) -> Symbol:
        """The variable of this name, with the parameter's shape (0: unknown), dtype and so on as attributes.

        It is the same one until one of these changes.
        """
        init = None if isinstance(self.init, _Value) else self.init
        given = (self.shape, self.dtype, self.lr_mult, self.wd_mult, init)
        if self._var is None or self._var[0] != given:
            attributes = dict(zip(("shape", "dtype", "lr_mult", "wd_mult", "init"), given))
            self._var = given, var(self.name, stype=self._stype, **attributes)
        return self._var[1]


class _Value(initializer.Initializer):
    """The initializer of a constant."""

    def __init__(self, value: NDArray) -> None:
        super().__init__()
        self._value = value

    def _init_weight(self, name: str, arr: NDArray) -> None:
        as_kind(self._value, NDArray).copyto(as_kind(arr, NDArray))


class Constant(Parameter):
    """A parameter that is not trained: it keeps `value`, an NDArray or what makes one."""

    def __init__(self, name: str, value: Any) -> None:
        if not isinstance(value, NDArray):
            value = array_of_mode(value)
        self.value = value
        super().__init__(name, grad_req="null", shape=value.shape, dtype=value.dtype, init=_Value(value))

    @property
    def grad_req(self) -> str:
        """Always "null"; another value is ignored with a warning."""
        return "null"

    @grad_req.setter
    def grad_req(self, req: str) -> None:
        if req != "null":
            warnings.warn(
                f'the constant "{self.name}" has no gradient: its grad_req stays "null" (given: "{req}")',
                stacklevel=2,
            )
