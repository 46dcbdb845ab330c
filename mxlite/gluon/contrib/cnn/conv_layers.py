"""Convolutions whose kernels are moved by offsets that another convolution computes."""

from __future__ import annotations

from typing import Any

from mxlite._public import show
from mxlite.error import WrongValueError
from mxlite.gluon.block import HybridBlock
from mxlite.gluon.nn import Activation
from mxlite.gluon.nn._convolution import _repr_of, _sizes
from mxlite.gluon.parameter import ParameterDict

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]


class _Deformable(HybridBlock):
    """What both kinds have in common."""

    #: How many numbers the offsets' convolution gives for each place of the kernel.
    _per_place = 2
    _is_offset_first = True

    def _build(
        self, channels: int, sizes: tuple, groups: tuple, activation: str | None, offset: tuple, own: tuple
    ) -> None:
        """Makes the parameters of both convolutions."""
        num_group, num_deformable_group, layout, in_channels, op_name, adj = groups
        if layout not in ("NCHW", "NHWC"):
            raise WrongValueError("the layout is 'NCHW' or 'NHWC'")
        self._channels, self._in_channels, self._op_name = channels, in_channels, op_name
        given = {name: _sizes(each, 2) for name, each in zip(("kernel", "stride", "dilate", "pad"), sizes)}
        kernel = given["kernel"]
        places = kernel[0] * kernel[1] * num_deformable_group
        offsets = self._per_place * places
        self.offset_split_index = 2 * places
        more = {} if adj is None else {"adj": adj}

        def of(filters: int, has_bias: bool, **own: int) -> dict[str, Any]:
            shared = {"num_group": num_group, **own, "no_bias": not has_bias, "layout": layout, **more}
            return {**given, "num_filter": filters, **shared}

        self._kwargs_offset = of(offsets, offset[0])
        self._kwargs_deformable_conv = of(channels, own[0], num_deformable_group=num_deformable_group)
        inputs = in_channels // num_group
        offset_shape = (offsets, inputs, *kernel) if layout == "NCHW" else (offsets, *kernel, inputs)
        rows = [
            ("offset", offsets, offset_shape, *offset),
            ("deformable_conv", channels, (channels, 0, *kernel), *own),
        ]
        for name, count, shape, has_bias, init, bias_init in rows if self._is_offset_first else rows[::-1]:
            weight = self.params.get(f"{name}_weight", shape=shape, init=init, allow_deferred_init=True)
            setattr(self, f"{name}_weight", weight)
            bias = None
            if has_bias:
                bias = self.params.get(f"{name}_bias", shape=(count,), init=bias_init, allow_deferred_init=True)
            setattr(self, f"{name}_bias", bias)
        self.act = Activation(activation, prefix=activation + "_") if activation else None

    def _offsets(self, F: Any, x: Any, weight: Any, bias: Any) -> Any:  # noqa: N803
        return F.Convolution(x, weight, bias, cudnn_off=True, **self._kwargs_offset)


class DeformableConvolution(_Deformable):
    """A convolution in two dimensions that reads each place of its kernel at an offset.

    Args:
        channels: The output's channels.
        kernel_size, strides, padding, dilation: One number or two.
        num_deformable_group: How many groups of channels have offsets of their own.
        in_channels: The input's channels; 0: the first batch tells.
        offset_*: Of the convolution that computes the offsets.
    Raises: ValueError: another layout than "NCHW" and "NHWC".
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Any = (1, 1),
        strides: Any = (1, 1),
        padding: Any = (0, 0),
        dilation: Any = (1, 1),
        groups: int = 1,
        num_deformable_group: int = 1,
        layout: str = "NCHW",
        use_bias: bool = True,
        in_channels: int = 0,
        activation: str | None = None,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        offset_weight_initializer: Any = "zeros",
        offset_bias_initializer: Any = "zeros",
        offset_use_bias: bool = True,
        op_name: str = "DeformableConvolution",
        adj: Any = None,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        with self.name_scope():
            self._build(
                channels,
                (kernel_size, strides, dilation, padding),
                (groups, num_deformable_group, layout, in_channels, op_name, adj),
                activation,
                (offset_use_bias, offset_weight_initializer, offset_bias_initializer),
                (use_bias, weight_initializer, bias_initializer),
            )

    def hybrid_forward(
        self,
        F: Any,  # noqa: N803
        x: Any,
        offset_weight: Any,
        deformable_conv_weight: Any,
        offset_bias: Any = None,
        deformable_conv_bias: Any = None,
    ) -> Any:
        """The output for `x`."""
        offset = self._offsets(F, x, offset_weight, offset_bias)
        out = F.contrib.DeformableConvolution(
            x, offset, deformable_conv_weight, deformable_conv_bias, **self._kwargs_deformable_conv
        )
        return out if self.act is None else self.act(out)

    def _alias(self) -> str:
        return "deformable_conv"

    def __repr__(self) -> str:
        return _repr_of(self, self.deformable_conv_weight.shape, self._kwargs_deformable_conv)


class ModulatedDeformableConvolution(_Deformable):
    """A DeformableConvolution that also weighs each place of its kernel, by a number from 0 to 2.

    Arguments and errors: as those of DeformableConvolution.
    """

    _per_place = 3
    _is_offset_first = False

    def __init__(
        self,
        channels: int,
        kernel_size: Any = (1, 1),
        strides: Any = (1, 1),
        padding: Any = (0, 0),
        dilation: Any = (1, 1),
        groups: int = 1,
        num_deformable_group: int = 1,
        layout: str = "NCHW",
        use_bias: bool = True,
        in_channels: int = 0,
        activation: str | None = None,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        offset_weight_initializer: Any = "zeros",
        offset_bias_initializer: Any = "zeros",
        offset_use_bias: bool = True,
        op_name: str = "ModulatedDeformableConvolution",
        adj: Any = None,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        with self.name_scope():
            self._build(
                channels,
                (kernel_size, strides, dilation, padding),
                (groups, num_deformable_group, layout, in_channels, op_name, adj),
                activation,
                (offset_use_bias, offset_weight_initializer, offset_bias_initializer),
                (use_bias, weight_initializer, bias_initializer),
            )

    def hybrid_forward(
        self,
        F: Any,  # noqa: N803
        x: Any,
        offset_weight: Any,
        deformable_conv_weight: Any,
        offset_bias: Any = None,
        deformable_conv_bias: Any = None,
    ) -> Any:
        """The output for `x`."""
        both = self._offsets(F, x, offset_weight, offset_bias)
        offset = F.slice_axis(both, axis=1, begin=0, end=self.offset_split_index)
        mask = 2 * F.sigmoid(F.slice_axis(both, axis=1, begin=self.offset_split_index, end=None))
        out = F.contrib.ModulatedDeformableConvolution(
            x, offset, mask, deformable_conv_weight, deformable_conv_bias, **self._kwargs_deformable_conv
        )
        return out if self.act is None else self.act(out)

    def _alias(self) -> str:
        return "modulated_deformable_conv"


show(globals())
