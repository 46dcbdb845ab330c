"""Methods that arrays of `mx.np` and symbols of `mx.sym.np` share and that are no rows of the table."""

from __future__ import annotations

from typing import Any

from mxlite.base import dtype_name
from mxlite.error import MXNotImplementedError


class Methods:
    """A class's methods on its front, `_front`: see `_composed.py`."""

    __slots__ = ()

    _front: Any

    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        """The array converted to `dtype`; with copy=False itself where it has that dtype."""
        if order not in ("K", "C"):
            raise ValueError(f"astype: order is 'K' or 'C', got {order!r}")
        if casting != "unsafe":
            raise ValueError(f"astype: casting is 'unsafe', got {casting!r}")
        if not subok:
            raise ValueError("astype: subok is True")
        name = dtype_name(dtype)
        if not copy and self.dtype.name == name:
            return self
        return self._front("_npi_cast", self, dtype=name)

    def reshape(self, *args: Any, **kwargs: Any) -> Any:
        """The elements in another shape, as a copy: reshape(2, 3), reshape((2, -1)). -1 is what remains."""
        order = kwargs.pop("order", "C")
        if kwargs:
            raise TypeError(f"reshape: there is no parameter {next(iter(kwargs))!r}; there is 'order'")
        if order != "C":
            raise MXNotImplementedError(f"reshape: order={order!r} is not supported; 'C' is")
        if not args:
            raise TypeError("reshape: takes a shape, got none")
        shape = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else args
        return self._front("_np_reshape", self, newshape=tuple(shape))

    def transpose(self, *axes: Any) -> Any:
        """A copy with the axes in another order; without one in reverse order."""
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = axes[0] or ()
        return self._front("_np_transpose", self, **({"axes": tuple(axes)} if axes else {}))

    def _turned(self) -> Any:
        """A copy with the axes in reverse order."""
        return self._front("_np_transpose", self)

    def take(self, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
        """As `mx.np.take`."""
        return self._front.take(self, indices, axis, mode)

    def clip(self, min: Any = None, max: Any = None, out: Any = None) -> Any:  # noqa: A002
        """As `mx.np.clip`."""
        return self._front.clip(self, min, max, out)

    def broadcast_to(self, shape: Any) -> Any:
        """As `mx.np.broadcast_to`."""
        return self._front.broadcast_to(self, shape)

    T = property(_turned)
