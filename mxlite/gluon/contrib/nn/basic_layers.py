"""Branches of a network, BatchNorm over devices, pixel shuffles."""

from __future__ import annotations

import warnings
from typing import Any

from mxlite import ndarray
from mxlite._public import show
from mxlite.error import WrongValueError
from mxlite.gluon.block import Block, HybridBlock
from mxlite.gluon.nn import BatchNorm, HybridSequential, Sequential
from mxlite.gluon.parameter import ParameterDict
from mxlite.ndarray._kinds import as_kind, functions_for, kind_for
from mxlite.ndarray.ndarray import NDArray

__all__ = [
    "Concurrent",
    "HybridConcurrent",
    "Identity",
    "SparseEmbedding",
    "SyncBatchNorm",
    "PixelShuffle1D",
    "PixelShuffle2D",
    "PixelShuffle3D",
]


class Concurrent(Sequential):
    """Blocks that all get the same input; their outputs are joined along `axis`."""

    def __init__(self, axis: int = -1, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def forward(self, x: Any) -> Any:
        """The joined outputs."""
        made = [block(x) for block in self._children.values()]
        return functions_for(kind_for(made)).concat(*made, dim=self.axis)


class HybridConcurrent(HybridSequential):
    """HybridBlocks that all get the same input; their outputs are joined along `axis`."""

    def __init__(self, axis: int = -1, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        """The joined outputs."""
        return F.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class Identity(HybridBlock):
    """A block that gives its input; of use in a Concurrent."""

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        """`x`."""
        return x


class SparseEmbedding(Block):
    """An Embedding whose weight and gradient are row_sparse: it gets the rows of a batch from the Trainer's store."""

    def __init__(
        self, input_dim: int, output_dim: int, dtype: Any = "float32", weight_initializer: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {"input_dim": input_dim, "output_dim": output_dim, "dtype": dtype, "sparse_grad": True}
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            grad_stype="row_sparse",
            stype="row_sparse",
        )

    def forward(self, x: Any) -> Any:
        """The vectors of `x`. Raises: RuntimeError: there is no Trainer of the weight."""
        weight = self.weight.row_sparse_data(x)
        return as_kind(ndarray.Embedding(as_kind(x, NDArray), weight, name="fwd", **self._kwargs), x._kind)

    def __repr__(self) -> str:
        return "{}({input_dim} -> {output_dim}, {dtype})".format(type(self).__name__, **self._kwargs)


class SyncBatchNorm(BatchNorm):
    """A BatchNorm over axis 1 whose statistics are those of the batches of all devices.

    Args:
        num_devices: How many devices share them; None: one, with a warning. The others are those of BatchNorm.
    """

    def __init__(
        self,
        in_channels: int = 0,
        num_devices: int | None = None,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        **kwargs: Any,
    ) -> None:
        given = (beta_initializer, gamma_initializer, running_mean_initializer, running_variance_initializer)
        super().__init__(1, momentum, epsilon, center, scale, use_global_stats, *given, in_channels, **kwargs)
        del self._kwargs["axis"]
        self._kwargs["ndev"] = self._get_num_devices() if num_devices is None else num_devices
        self._kwargs["key"] = self.prefix

    def _get_num_devices(self) -> int:
        warnings.warn(
            "SyncBatchNorm: num_devices is not given, so it is the number of all devices",
            UserWarning,
            stacklevel=3,
        )
        return 1

    def hybrid_forward(
        self,
        F: Any,  # noqa: N803
        x: Any,
        gamma: Any,
        beta: Any,
        running_mean: Any,
        running_var: Any,
    ) -> Any:
        """`x` normalized."""
        return F.contrib.SyncBatchNorm(x, gamma, beta, running_mean, running_var, **self._kwargs)


class _PixelShuffle(HybridBlock):
    """Channels become pixels: (N, C * f1 * f2 ..., L1, L2, ...) becomes (N, C, L1 * f1, L2 * f2, ...)."""

    _dimensions = 0

    def __init__(self, factor: int | tuple[int, ...]) -> None:
        super().__init__()
        try:
            self._factors = (int(factor),) * self._dimensions  # type: ignore[arg-type]
        except TypeError:
            self._factors = tuple(int(each) for each in factor)  # type: ignore[union-attr]
            if len(self._factors) != self._dimensions:
                raise WrongValueError(f"wrong length {len(self._factors)}") from None

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        """`x` shuffled."""
        count = self._dimensions
        channels = 1
        for each in self._factors:
            channels *= each
        x = F.reshape(x, (0, -4, -1, channels, *(0,) * count))
        remaining = channels
        for place, factor in enumerate(self._factors[:-1]):
            remaining //= factor
            x = F.reshape(x, (*(0,) * (2 + place), -4, factor, remaining, *(0,) * count))
        order = [axis for each in range(count) for axis in (2 + count + each, 2 + each)]
        x = F.transpose(x, (0, 1, *order))
        return F.reshape(x, (0, 0, *(-3,) * count))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._factors})"


class PixelShuffle1D(_PixelShuffle):
    """(N, C * f, L) becomes (N, C, L * f).

    Args:
        factor: The f.
    """

    _dimensions = 1

    def __init__(self, factor: int) -> None:
        super().__init__((factor,))
        self._factor = self._factors[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._factor})"


class PixelShuffle2D(_PixelShuffle):
    """(N, C * f1 * f2, H, W) becomes (N, C, H * f1, W * f2).

    Args:
        factor: One number, or (f1, f2). Raises: ValueError: another length.
    """

    _dimensions = 2

    def __init__(self, factor: int | tuple[int, int]) -> None:
        super().__init__(factor)


class PixelShuffle3D(_PixelShuffle):
    """(N, C * f1 * f2 * f3, D, H, W) becomes (N, C, D * f1, H * f2, W * f3).

    Args:
        factor: One number, or (f1, f2, f3). Raises: ValueError: another length.
    """

    _dimensions = 3

    def __init__(self, factor: int | tuple[int, int, int]) -> None:
        super().__init__(factor)


show(globals())
