"""Convolution and pooling of any number of dimensions, and what makes classes of them (conv_layers.py)."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import numpy as np

from mxlite.error import MXValueError, WrongTypeError
from mxlite.gluon.block import HybridBlock
from mxlite.gluon.nn.activations import Activation
from mxlite.gluon.parameter import ParameterDict

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mxlite.gluon._typing import BlockOptions
    from mxlite.ndarray.ndarray import NDArray


def _sizes(value: Any, count: int) -> Any:
    """A size for each dimension, of one number; what is no number stays."""
    return (value,) * count if isinstance(value, (int, float, np.number)) else value


def _check(what: str, value: Any, count: int) -> None:
    """Raises: ValueError (and MXNetError): not as many integers."""
    if not isinstance(value, (tuple, list)) or len(value) != count:
        raise MXValueError(f"{what} must be an integer or {count} of them, got {value!r}")
    if not all(isinstance(each, (int, np.integer)) for each in value):
        raise MXValueError(f"{what} must be integers, got {value!r}")


def _repr_of(layer: Any, weight: tuple[int, ...], given: dict[str, Any]) -> str:
    """How a convolution prints."""
    parts = [f"{weight[1] or None} -> {weight[0]}", f"kernel_size={given['kernel']}", f"stride={given['stride']}"]
    dimensions = len(given["kernel"])
    parts += [f"padding={given['pad']}"] if given["pad"] != (0,) * dimensions else []
    parts += [f"dilation={given['dilate']}"] if given["dilate"] != (1,) * dimensions else []
    parts += [f"groups={given['num_group']}"] if given["num_group"] != 1 else []
    parts += ["bias=False"] if given["no_bias"] else []
    parts += [str(layer.act)] if layer.act is not None else []
    return f"{type(layer).__name__}({', '.join(parts)})"


class _Conv(HybridBlock):
    """A convolution, or its transpose, of any number of dimensions, with a bias and an activation.

    Args:
        kernel_size: A tuple; the other sizes are one number or a tuple.
        op_name: "Convolution" or "Deconvolution".
        adj: What a transpose adds to one side of its output.
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Any,
        strides: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        layout: str,
        in_channels: int = 0,
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        op_name: str = "Convolution",
        adj: Any = None,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        with self.name_scope():
            self._channels = channels
            self._in_channels = in_channels
            self._op_name = op_name
            dimensions = len(kernel_size)
            self._kwargs = {
                "kernel": kernel_size,
                "stride": _sizes(strides, dimensions),
                "dilate": _sizes(dilation, dimensions),
                "pad": _sizes(padding, dimensions),
                "num_filter": channels,
                "num_group": groups,
                "no_bias": not use_bias,
                "layout": layout,
            }
            if adj is not None:
                self._kwargs["adj"] = self.outpad = adj
            for name in ("kernel", "stride", "dilate", "pad"):
                _check(name, self._kwargs[name], dimensions)
            given = {"allow_deferred_init": True}
            self.weight = self.params.get("weight", shape=self._weight_shape(), init=weight_initializer, **given)
            self.bias = self.params.get("bias", shape=(channels,), init=bias_initializer, **given) if use_bias else None
            self.act = Activation(activation, prefix=activation + "_") if activation is not None else None

    def _weight_shape(self) -> tuple[int, ...]:
        """The shape of the weight; 0 for channels that are not known."""
        groups, channels = self._kwargs["num_group"], self._channels
        if groups < 1 or channels % groups or self._in_channels % groups:
            raise MXValueError(f"{channels} channels of {self._in_channels} do not fall into {groups} groups")
        if self._op_name == "Convolution":
            first, second = channels, self._in_channels // groups
        else:
            first, second = self._in_channels, channels // groups
        kernel = tuple(self._kwargs["kernel"])
        return (first, *kernel, second) if self._kwargs["layout"].endswith("C") else (first, second, *kernel)

    def hybrid_forward(self, F: Any, x: NDArray, weight: Any, bias: Any = None) -> NDArray:  # noqa: N803
        """The output for `x`."""
        out = getattr(F, self._op_name)(x, weight, bias, **self._kwargs)
        return out if self.act is None else self.act(out)

    def _alias(self) -> str:
        return "conv"

    def __repr__(self) -> str:
        return _repr_of(self, self.weight.shape, self._kwargs)


class _Pooling(HybridBlock):
    """Pooling of any number of dimensions: the largest or the mean of each window."""

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: Any,
        ceil_mode: bool,
        global_pool: bool,
        pool_type: str,
        layout: str,
        count_include_pad: bool | None = None,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(**kwargs)
        strides = pool_size if strides is None else strides
        dimensions = len(pool_size)
        self._kwargs = {
            "kernel": pool_size,
            "stride": _sizes(strides, dimensions),
            "pad": _sizes(padding, dimensions),
            "global_pool": global_pool,
            "pool_type": pool_type,
            "layout": layout,
            "pooling_convention": "full" if ceil_mode else "valid",
        }
        if count_include_pad is not None:
            self._kwargs["count_include_pad"] = count_include_pad

    def _alias(self) -> str:
        return "pool"

    def hybrid_forward(self, F: Any, x: NDArray) -> NDArray:  # noqa: N803
        """The output for `x`."""
        return F.Pooling(x, **self._kwargs)

    def __repr__(self) -> str:
        given = self._kwargs
        ceil_mode = given["pooling_convention"] == "full"
        return (
            f"{type(self).__name__}(size={given['kernel']}, stride={given['stride']}, padding={given['pad']}, "
            f"ceil_mode={ceil_mode}, global_pool={given['global_pool']}, pool_type={given['pool_type']}, "
            f"layout={given['layout']})"
        )


class ReflectionPad2D(HybridBlock):
    """Pads the last two axes of (batch, channels, height, width) with what is mirrored at their edges.

    Args:
        padding: How much on every side, or eight numbers, two for each axis. Raises: TypeError: other tuples.
    """

    def __init__(self, padding: int | tuple[int, ...] = 0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        if isinstance(padding, (int, np.number)):
            padding = (0, 0, 0, 0, *(padding,) * 4)
        if len(padding) != 8:
            raise WrongTypeError(f"padding is an integer or eight of them, got {padding}")
        self._padding = padding

    def hybrid_forward(self, F: Any, x: NDArray) -> NDArray:  # noqa: N803
        """`x` padded."""
        return F.pad(x, mode="reflect", pad_width=self._padding)


# ---- classes of a number of dimensions ----


#: A constructor's parameter that has no default.
REQUIRED = Parameter.empty

#: The types of parameters, for tools/make_pyi.py.
_SIZES = "int | Sequence[int]"
_TYPES = {"channels": "int", "groups": "int", "in_channels": "int", "layout": "str", "activation": "str | None"}
_TYPES |= dict.fromkeys("kernel_size padding output_padding dilation pool_size".split(), _SIZES)
_TYPES |= {"strides": f"{_SIZES} | None"}
_TYPES |= dict.fromkeys("use_bias ceil_mode count_include_pad".split(), "bool")


def _constructor(base: type, defaults: dict[str, Any], arrange: Any) -> Any:
    """An `__init__` with these parameters, that calls the one of `base` with what `arrange` makes of them."""
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=each, annotation=_TYPES.get(name, "Any"))
        for name, each in defaults.items()
    ]
    options = Parameter("kwargs", Parameter.VAR_KEYWORD, annotation="Unpack[BlockOptions]")
    signature = Signature([*parameters, options], return_annotation="None")

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = {**bound.arguments, **bound.arguments["kwargs"]}
        del given["self"], given["kwargs"]
        base.__init__(self, **arrange(given))

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def made_class(module: str, name: str, base: type, doc: str, defaults: dict[str, Any], arrange: Any) -> Any:
    """A class of a module, whose constructor has these parameters; `arrange` makes those of `base` of them."""
    return type(
        name, (base,), {"__init__": _constructor(base, defaults, arrange), "__doc__": doc, "__module__": module}
    )
