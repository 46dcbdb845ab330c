"""`mx.gluon.nn`: dense layers, dropout, embeddings, and the layers of the modules beside this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mxlite._public import show
from mxlite.gluon.block import HybridBlock
from mxlite.gluon.nn._containers import HybridLambda, HybridSequential, Lambda, Sequential
from mxlite.gluon.nn._norm import BatchNorm, BatchNormReLU, GroupNorm, InstanceNorm, LayerNorm
from mxlite.gluon.nn.activations import Activation

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mxlite.gluon._typing import BlockOptions
    from mxlite.ndarray.ndarray import NDArray

__all__ = [
    "Sequential",
    "HybridSequential",
    "Dense",
    "Dropout",
    "Embedding",
    "BatchNorm",
    "BatchNormReLU",
    "InstanceNorm",
    "LayerNorm",
    "GroupNorm",
    "Flatten",
    "Lambda",
    "HybridLambda",
]


class Dense(HybridBlock):
    """`activation(x W^T + b)`, with W of shape (units, in_units).

    Input: (batch, ...), output: (batch, units); with flatten=False input (..., in_units), output (..., units).

    Args:
        activation: The name of a function, see Activation; None: none.
        use_bias: Whether there is a b.
        flatten: Whether all axes but the first are one.
        in_units: The size of the input; 0: the first batch tells.
    """

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        flatten: bool = True,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_units: int = 0,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(**kwargs)
        self._flatten = flatten
        with self.name_scope():
            self._units = units
            self._in_units = in_units
            given = {"dtype": dtype, "allow_deferred_init": True}
            self.weight = self.params.get("weight", shape=(units, in_units), init=weight_initializer, **given)
            self.bias = self.params.get("bias", shape=(units,), init=bias_initializer, **given) if use_bias else None
            self.act = Activation(activation, prefix=activation + "_") if activation is not None else None

    def hybrid_forward(self, F: Any, x: NDArray, weight: Any, bias: Any = None) -> NDArray:  # noqa: N803
        """The output for `x`."""
        out = F.FullyConnected(x, weight, bias, no_bias=bias is None, num_hidden=self._units, flatten=self._flatten)
        return out if self.act is None else self.act(out)

    def __repr__(self) -> str:
        shape = self.weight.shape
        return f"{type(self).__name__}({shape[1] or None} -> {shape[0]}, {self.act or 'linear'})"


class Dropout(HybridBlock):
    """In training, zeros in place of a share `rate` of the elements, and the others larger; else nothing.

    Args:
        axes: Axes along which elements are dropped together.
    """

    def __init__(self, rate: float, axes: tuple[int, ...] = (), **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self._rate = rate
        self._axes = axes

    def hybrid_forward(self, F: Any, x: NDArray) -> NDArray:  # noqa: N803
        """The output for `x`."""
        if self._rate > 0:
            return F.Dropout(x, p=self._rate, axes=self._axes)
        return F.identity(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p = {self._rate}, axes={self._axes})"


class Embedding(HybridBlock):
    """A vector for each integer: input of any shape, output with one axis of size `output_dim` more.

    Args:
        input_dim: How many integers there are; larger ones count as the largest.
        sparse_grad: The gradient of the weight is row_sparse: it has the rows of a batch alone.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        sparse_grad: bool = False,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": sparse_grad,
        }
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            allow_deferred_init=True,
            grad_stype="row_sparse" if sparse_grad else "default",
        )

    def hybrid_forward(self, F: Any, x: NDArray, weight: Any) -> NDArray:  # noqa: N803
        """The vectors of `x`."""
        return F.Embedding(x, weight, **self._kwargs)

    def __repr__(self) -> str:
        return "{}({input_dim} -> {output_dim}, {dtype})".format(type(self).__name__, **self._kwargs)


class Flatten(HybridBlock):
    """All axes but the first become one."""

    def __init__(self, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: Any, x: NDArray) -> NDArray:  # noqa: N803
        """`x` as a matrix."""
        return F.flatten(x)

    def __repr__(self) -> str:
        return type(self).__name__


show(globals())
