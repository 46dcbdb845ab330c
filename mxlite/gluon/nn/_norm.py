"""Layers that normalize: subtract a mean, divide by a deviation, then scale by gamma and shift by beta."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mxlite.base import dtype_name
from mxlite.gluon.block import HybridBlock
from mxlite.gluon.parameter import ParameterDict

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mxlite.gluon._typing import BlockOptions
    from mxlite.ndarray.ndarray import NDArray


class _Normalization(HybridBlock):
    """What the layers have in common: gamma and beta, and how they print."""

    def _add(self, name: str, on: bool, shape: tuple[int, ...], init: Any, **more: Any) -> None:
        """Makes a parameter an attribute; one that is off is not trained."""
        given = {"grad_req": "write" if on else "null", "shape": shape, "init": init, "allow_deferred_init": True}
        setattr(self, name, self.params.get(name, **given, **more))

    def _repr_with(self, kwargs: dict[str, Any], **more: Any) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in {**kwargs, **more}.items())
        return f"{type(self).__name__}({inside})"


class _BatchNorm(_Normalization):
    """BatchNorm and its relatives."""

    #: The operator, by its name in F, and whether it ends with a ReLU.
    _operator = "BatchNorm"
    fuse_relu = False

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        fuse_relu: bool = False,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs: dict[str, Any] = {
            "axis": axis,
            "eps": epsilon,
            "momentum": momentum,
            "fix_gamma": not scale,
            "use_global_stats": use_global_stats,
        }
        self.fuse_relu = fuse_relu
        if in_channels != 0:
            self.in_channels = in_channels
        shape = (in_channels,)
        self._add("gamma", scale, shape, gamma_initializer, differentiable=scale)
        self._add("beta", center, shape, beta_initializer, differentiable=center)
        self._add("running_mean", False, shape, running_mean_initializer, differentiable=False)
        self._add("running_var", False, shape, running_variance_initializer, differentiable=False)

    def cast(self, dtype: Any) -> None:
        """Converts the parameters; those of data in 16 bits are float32."""
        super().cast("float32" if dtype_name(dtype) in ("float16", "bfloat16") else dtype)

    def hybrid_forward(
        self,
        F: Any,  # noqa: N803
        x: NDArray,
        gamma: Any,
        beta: Any,
        running_mean: Any,
        running_var: Any,
    ) -> NDArray:
        """`x` normalized, in training by its own statistics, else by the running ones."""
        if self.fuse_relu:
            return F.contrib.BatchNormWithReLU(x, gamma, beta, running_mean, running_var, **self._kwargs)
        return F.BatchNorm(x, gamma, beta, running_mean, running_var, **self._kwargs)

    def __repr__(self) -> str:
        return self._repr_with(self._kwargs, in_channels=self.gamma.shape[0] or None)


class BatchNorm(_BatchNorm):
    """Normalizes each channel by its mean and variance over the batch.

    In training the statistics are those of the batch, and the running ones move towards them in backward; else they are
    the running ones.

    Args:
        axis: The channels.
        momentum: How much of the running statistics stays.
        epsilon: Added to the variance.
        center, scale: Whether beta and gamma are trained; else they are 0 and 1.
        use_global_stats: Whether training uses the running statistics too.
        in_channels: The size of the axis; 0: the first batch tells.
    """

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        given = (beta_initializer, gamma_initializer, running_mean_initializer, running_variance_initializer)
        super().__init__(axis, momentum, epsilon, center, scale, False, use_global_stats, *given, in_channels, **kwargs)


class BatchNormReLU(_BatchNorm):
    """A BatchNorm with a ReLU after it; arguments as those of BatchNorm."""

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        running_mean_initializer: Any = "zeros",
        running_variance_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        given = (beta_initializer, gamma_initializer, running_mean_initializer, running_variance_initializer)
        super().__init__(axis, momentum, epsilon, center, scale, True, use_global_stats, *given, in_channels, **kwargs)


class LayerNorm(_Normalization):
    """Normalizes along one axis of each element of the batch.

    Args:
        axis: The axis.
        epsilon: Added to the variance.
        center, scale: Whether beta and gamma are trained; else they are 0 and 1.
        in_channels: The size of the axis; 0: the first batch tells.
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._axis, self._epsilon, self._center, self._scale = axis, epsilon, center, scale
        self._in_channels = in_channels
        self._add("gamma", scale, (in_channels,), gamma_initializer)
        self._add("beta", center, (in_channels,), beta_initializer)

    def hybrid_forward(self, F: Any, x: NDArray, gamma: Any, beta: Any) -> NDArray:  # noqa: N803
        """`x` normalized."""
        return F.LayerNorm(x, gamma, beta, axis=self._axis, eps=self._epsilon)

    def __repr__(self) -> str:
        return self._repr_with(self._kwargs, in_channels=self.gamma.shape[0])


class GroupNorm(_Normalization):
    """Normalizes groups of channels (axis 1) of each element of the batch.

    Args:
        num_groups: How many groups there are; gamma and beta have one number for each.
        epsilon: Added to the variance.
        center, scale: Whether beta and gamma are trained; else they are 0 and 1.
    """

    def __init__(
        self,
        num_groups: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._kwargs = {"eps": epsilon, "num_groups": num_groups, "center": center, "scale": scale}
        self._num_groups, self._epsilon, self._center, self._scale = num_groups, epsilon, center, scale
        self._add("gamma", scale, (num_groups,), gamma_initializer)
        self._add("beta", center, (num_groups,), beta_initializer)

    def hybrid_forward(self, F: Any, x: NDArray, gamma: Any, beta: Any) -> NDArray:  # noqa: N803
        """`x` normalized."""
        return F.GroupNorm(x, gamma, beta, num_groups=self._num_groups, eps=self._epsilon)

    def __repr__(self) -> str:
        return self._repr_with(self._kwargs)


class InstanceNorm(_Normalization):
    """Normalizes each channel of each element of the batch.

    Args:
        axis: The channels.
        epsilon: Added to the variance.
        center, scale: Whether beta and gamma are trained; else they are 0 and 1.
        in_channels: The size of the axis; 0: the first batch tells.
    """

    def __init__(
        self,
        axis: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = False,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        in_channels: int = 0,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(**kwargs)
        self._kwargs = {"eps": epsilon, "axis": axis, "center": center, "scale": scale}
        self._axis, self._epsilon = axis, epsilon
        self._add("gamma", scale, (in_channels,), gamma_initializer)
        self._add("beta", center, (in_channels,), beta_initializer)

    def hybrid_forward(self, F: Any, x: NDArray, gamma: Any, beta: Any) -> NDArray:  # noqa: N803
        """`x` normalized."""
        if self._axis == 1:
            return F.InstanceNorm(x, gamma, beta, eps=self._epsilon)
        x = F.swapaxes(x, dim1=1, dim2=self._axis)
        return F.swapaxes(F.InstanceNorm(x, gamma, beta, eps=self._epsilon), dim1=1, dim2=self._axis)

    def __repr__(self) -> str:
        return self._repr_with(self._kwargs, in_channels=self.gamma.shape[0])
