"""Layers that normalise: BatchNorm, InstanceNorm, LayerNorm, GroupNorm."""

from __future__ import annotations

from typing import Any

from mxlite.torch._basic import full_of, placed
from mxlite.torch._dtypes import get_default_dtype, int64
from mxlite.torch._errors import warn
from mxlite.torch._nodes import unrecorded
from mxlite.torch.nn import functional, init
from mxlite.torch.nn._linear import Layer


class _Affine(Layer):
    """A weight of ones and a bias of zeros, where it has them."""

    def _affine(self, shape: tuple[int, ...], has: bool, bias: bool, dtype: Any, device: Any) -> None:
        self._parameter("weight", shape if has else None, dtype, device)
        self._parameter("bias", shape if has and bias else None, dtype, device)

    def reset_parameters(self) -> None:
        """Makes the weight ones and the bias zeros."""
        for name, start in (("weight", init.ones_), ("bias", init.zeros_)):
            if self._parameters[name] is not None:
                start(self._parameters[name])


class _OfChannels(_Affine):
    """What BatchNorm and InstanceNorm have in common: running statistics of channels."""

    _ndims: tuple[int, ...] = ()
    _shown = (
        "{0.num_features}, eps={0.eps}, momentum={0.momentum}, affine={0.affine}, bias={1}, "
        "track_running_stats={0.track_running_stats}"
    )

    def __init__(
        self, num_features: int, eps: float, momentum: float | None, affine: bool, track_running_stats: bool,
        bias: bool, made: tuple,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._affine((num_features,), affine, bias, *made)
        kind, make = made[0] or get_default_dtype(), placed(full_of, made[1])
        for name, value in (("running_mean", 0), ("running_var", 1)):
            self.register_buffer(name, make((num_features,), value, kind) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", make((), 0, int64) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Makes the running mean zeros, the running variance ones, and the number of batches 0."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Makes the weight ones, the bias zeros, and the running statistics new."""
        self.reset_running_stats()
        super().reset_parameters()

    def _require_ndim(self, input: Any) -> None:
        if input.ndim not in self._ndims:
            wanted = " or ".join(map(str, self._ndims))
            raise ValueError(f"{type(self).__name__}: the input has {wanted} dimensions, got {input.ndim}")


class _BatchNorm(_OfChannels):
    _version = 2

    def _may_lack(self, name: str, version: int | None) -> bool:
        return name == "num_batches_tracked" and (version is None or version < 2)

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, bias, (dtype, device))

    def forward(self, input: Any) -> Any:
        """The normalised input; while training, the running statistics move towards the batch's."""
        self._require_ndim(input)
        kept, momentum = self._buffers, self.momentum
        try:
            mean, var, count = kept["running_mean"], kept["running_var"], kept["num_batches_tracked"]
        except KeyError:
            mean, var, count = self.running_mean, self.running_var, self.num_batches_tracked
        by_batch = self.training or (mean is None and var is None)
        if self.training and not self.track_running_stats:
            mean = var = None
        elif self.training and count is not None:
            with unrecorded():
                count.add_(1)
            if momentum is None:
                momentum = 1 / count.item()
        return functional.batch_norm(input, mean, var, *self._pair(), by_batch, momentum or 0.0, self.eps)


class _InstanceNorm(_OfChannels):
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, bias, (dtype, device))

    def forward(self, input: Any) -> Any:
        """The normalised input, (batch, channels, ...) or without the batch."""
        self._require_ndim(input)
        channels = input.shape[-len(input.shape) + (input.ndim == max(self._ndims))]
        if self.affine and channels != self.num_features:
            raise ValueError(f"InstanceNorm: num_features is {self.num_features}, the input has {channels} channels")
        if channels != self.num_features:
            warn(f"InstanceNorm: num_features is {self.num_features}, the input has {channels} channels")
        x = input if input.ndim == max(self._ndims) else input.unsqueeze(0)
        by_input = self.training or not self.track_running_stats
        made = functional.instance_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, by_input, self.momentum, self.eps
        )
        return made if x is input else made.squeeze(0)


for _dims in (1, 2, 3):
    for _base, _name, _ndims in (
        (_BatchNorm, "BatchNorm", (2, 3) if _dims == 1 else (_dims + 2,)),
        (_InstanceNorm, "InstanceNorm", (_dims + 1, _dims + 2)),
    ):
        _document = f"{_name} of (batch, num_features, ...) with {_dims} spatial dimension{'s' * (_dims > 1)}."
        _body = {"_ndims": _ndims, "__doc__": _document, "__module__": __name__}
        globals()[f"{_name}{_dims}d"] = type(f"{_name}{_dims}d", (_base,), _body)


class LayerNorm(_Affine):
    """Normalises the last dimensions, of `normalized_shape`."""

    _shown = "{0.normalized_shape}, eps={0.eps}, elementwise_affine={0.elementwise_affine}, bias={1}"

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self._affine(shape, elementwise_affine, bias, dtype, device)
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return functional.layer_norm(input, self.normalized_shape, *self._pair(), self.eps)


class RMSNorm(_Affine):
    """Divides the last dimensions, of `normalized_shape`, by the root of their mean square."""

    _shown = "{0.normalized_shape}, eps={0.eps}, elementwise_affine={0.elementwise_affine}"

    def __init__(
        self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self._parameter("weight", shape if elementwise_affine else None, dtype, device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Makes the weight ones."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(_Affine):
    """Normalises groups of channels of (batch, num_channels, ...)."""

    _shown = "{0.num_groups}, {0.num_channels}, eps={0.eps}, affine={0.affine}, bias={1}"

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"GroupNorm: num_groups ({num_groups}) does not divide num_channels ({num_channels})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._affine((num_channels,), affine, bias, dtype, device)
        self.reset_parameters()

    def forward(self, input: Any) -> Any:
        """The normalised input."""
        return functional.group_norm(input, self.num_groups, *self._pair(), self.eps)
