"""Recurrent cells whose products are convolutions: inputs and states are images (or lines, or volumes)."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, ClassVar

from mxlite._public import show
from mxlite.error import WrongTypeError, WrongValueError
from mxlite.gluon.rnn._cells import _RESULT, HybridRecurrentCell, _split
from mxlite.gluon.rnn._steps import Function, gru_step, lstm_step, rnn_step

_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


class _ConvCell(HybridRecurrentCell):
    """What the cells share.

    Args:
        input_shape: of one sample, with the channels where `conv_layout` has them; 0 channels: the first batch tells.
        hidden_channels: channels of the states, and of the output.
        i2h_kernel, i2h_pad, i2h_dilate: the convolution of the input, a number for all axes or one for each.
        h2h_kernel, h2h_dilate: that of the state, which keeps its size: the kernel is odd.
        activation: a name, or a block.

    Raises: ValueError or TypeError: an even h2h_kernel, or another number of axes.
    """

    _axes = 0
    _gates = 1
    _states = 1
    _kind = ""
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Shows the defaults of a number of axes in the signature, as 1.9.1 does."""
        super().__init_subclass__(**kwargs)
        if cls._axes:
            defaults: dict[str, Any] = dict.fromkeys(("i2h_dilate", "h2h_dilate"), (1,) * cls._axes)
            defaults.update(i2h_pad=(0,) * cls._axes, conv_layout=_LAYOUTS[cls._axes])
            _, *known = inspect.signature(_ConvCell.__init__).parameters.values()
            cls.__signature__ = inspect.Signature(
                [each.replace(default=defaults.get(each.name, each.default)) for each in known]
            )

    def __init__(
        self,
        input_shape: Sequence[int],
        hidden_channels: int,
        i2h_kernel: int | Sequence[int],
        h2h_kernel: int | Sequence[int],
        i2h_pad: int | Sequence[int] = 0,
        i2h_dilate: int | Sequence[int] = 1,
        h2h_dilate: int | Sequence[int] = 1,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str = "",
        activation: Any = "tanh",
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._hidden_channels = hidden_channels
        self._conv_layout = conv_layout or _LAYOUTS[self._axes]
        self._activation = activation
        i2h_kernel, i2h_pad, i2h_dilate, h2h_dilate = map(
            self._each_axis, (i2h_kernel, i2h_pad, i2h_dilate, h2h_dilate)
        )
        wanted, h2h_kernel = h2h_kernel, self._each_axis(h2h_kernel)
        if not all(k % 2 for k in h2h_kernel):
            raise WrongValueError(f"h2h_kernel has odd sizes only, not {wanted}")
        channel = self._conv_layout.find("C") - 1
        channels, sizes = input_shape[channel], [*input_shape[:channel], *input_shape[channel + 1 :]]
        sizes = [
            size + 2 * pad - dilate * (kernel - 1)
            for size, pad, dilate, kernel in zip(sizes, i2h_pad, i2h_dilate, i2h_kernel)
        ]
        self._state_shape = (*sizes[:channel], hidden_channels, *sizes[channel:])
        h2h_pad = tuple(dilate * (kernel - 1) // 2 for dilate, kernel in zip(h2h_dilate, h2h_kernel))
        rows = self._gates * hidden_channels
        common = {"num_filter": rows, "stride": (1,) * self._axes, "layout": self._conv_layout}
        self._convolutions = (
            {**common, "kernel": i2h_kernel, "pad": i2h_pad, "dilate": i2h_dilate},
            {**common, "kernel": h2h_kernel, "pad": h2h_pad, "dilate": h2h_dilate},
        )
        for name, kernel, count, init in (
            ("i2h_weight", i2h_kernel, channels, i2h_weight_initializer),
            ("h2h_weight", h2h_kernel, hidden_channels, h2h_weight_initializer),
            ("i2h_bias", None, 0, i2h_bias_initializer),
            ("h2h_bias", None, 0, h2h_bias_initializer),
        ):
            shape = (rows,) if kernel is None else (rows, *kernel[:channel], count, *kernel[channel:])
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def _each_axis(self, value: int | Sequence[int]) -> tuple[int, ...]:
        found = (value,) * self._axes if isinstance(value, int) else tuple(value)
        if len(found) != self._axes:
            raise WrongTypeError(
                f"a convolution over {self._axes} dimensions takes one int, or {self._axes} of them, for each setting"
            )
        return found

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The shape and the layout of each state."""
        info = {"shape": (batch_size, *self._state_shape), "__layout__": self._conv_layout}
        return [dict(info) for _ in range(self._states)]

    def _alias(self) -> str:
        return self._kind

    def __repr__(self) -> str:
        shape = self.i2h_weight.shape
        channels = shape[self._conv_layout.find("C")] or None
        return f"{type(self).__name__}({channels} -> {shape[0]}, {self._activation}, {self._conv_layout})"

    def _products(self, F: Any, inputs: Any, state: Any, arrays: dict[str, Any]) -> tuple[Any, Any]:  # noqa: N803
        of_input, of_state = self._convolutions
        i2h = F.Convolution(inputs, arrays["i2h_weight"], arrays["i2h_bias"], **of_input)
        return i2h, F.Convolution(state, arrays["h2h_weight"], arrays["h2h_bias"], **of_state)

    def _parts(self, F: Any) -> Function:  # noqa: N803
        return _split(F, self._gates, self._conv_layout.find("C"))


#: Names of the two convolutions in graphs.
_CONVOLUTIONS = {"convolution0": "i2h", "convolution1": "h2h"}


class _ConvRNNCell(_ConvCell):
    _kind = "conv_rnn"
    _node_names = {**_CONVOLUTIONS, **_RESULT}

    def hybrid_forward(self, F: Any, inputs: Any, states: list, **arrays: Any) -> tuple[Any, list]:  # noqa: N803
        """One step: the output and the next states."""
        i2h, h2h = self._products(F, inputs, states[0], arrays)
        return rnn_step(i2h, h2h, self._activate(F, self._activation))


class _ConvLSTMCell(_ConvCell):
    _gates, _states, _kind = 4, 2, "conv_lstm"
    _node_names = {
        **_CONVOLUTIONS,
        "split0": "slice",
        "sigmoid0": "i",
        "tanh0": "c",
        "sigmoid1": "f",
        "_plus1": "state",
        "sigmoid2": "o",
        "_mul2": "out",
    }

    def hybrid_forward(self, F: Any, inputs: Any, states: list, **arrays: Any) -> tuple[Any, list]:  # noqa: N803
        """One step: the output and the next states."""
        i2h, h2h = self._products(F, inputs, states[0], arrays)
        act, gate = self._activate(F, self._activation), self._activate(F, "sigmoid")
        return lstm_step(i2h, h2h, states[1], self._parts(F), act, gate)


class _ConvGRUCell(_ConvCell):
    _gates, _kind = 3, "conv_gru"
    _node_names = {
        **_CONVOLUTIONS,
        "split0": "i2h_slice",
        "split1": "h2h_slice",
        "sigmoid0": "r_act",
        "sigmoid1": "z_act",
        "tanh0": "h_act",
        "_plus3": "out",
    }

    def hybrid_forward(self, F: Any, inputs: Any, states: list, **arrays: Any) -> tuple[Any, list]:  # noqa: N803
        """One step: the output and the next states."""
        i2h, h2h = self._products(F, inputs, states[0], arrays)
        act, gate = self._activate(F, self._activation), self._activate(F, "sigmoid")
        return gru_step(i2h, h2h, states[0], self._parts(F), act, gate)


class Conv1DRNNCell(_ConvRNNCell):
    """h' = activation(W * x + b + R * h + c) of lines, with convolutions."""

    _axes = 1


class Conv2DRNNCell(_ConvRNNCell):
    """As Conv1DRNNCell, of images."""

    _axes = 2


class Conv3DRNNCell(_ConvRNNCell):
    """As Conv1DRNNCell, of volumes."""

    _axes = 3


class Conv1DLSTMCell(_ConvLSTMCell):
    """An LSTM of lines, with convolutions (Shi et al. 2015)."""

    _axes = 1


class Conv2DLSTMCell(_ConvLSTMCell):
    """As Conv1DLSTMCell, of images."""

    _axes = 2


class Conv3DLSTMCell(_ConvLSTMCell):
    """As Conv1DLSTMCell, of volumes."""

    _axes = 3


class Conv1DGRUCell(_ConvGRUCell):
    """A GRU of lines, with convolutions."""

    _axes = 1


class Conv2DGRUCell(_ConvGRUCell):
    """As Conv1DGRUCell, of images."""

    _axes = 2


class Conv3DGRUCell(_ConvGRUCell):
    """As Conv1DGRUCell, of volumes."""

    _axes = 3


show(globals())
