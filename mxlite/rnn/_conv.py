"""Symbolic cells whose products are convolutions: inputs and states are images."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any, Callable, ClassVar

from mxlite import symbol
from mxlite.error import WrongValueError
from mxlite.rnn._base import RNNParams
from mxlite.rnn._cells import _GRU, _LSTM, _RNN, WEIGHTS_FIRST, _GatedCell
from mxlite.symbol import Symbol

#: The activation of convolutional cells, unless another one is given.
_LEAKY: Callable[..., Symbol] = partial(symbol.LeakyReLU, act_type="leaky", slope=0.2)


class BaseConvRNNCell(_GatedCell):
    """What the cells whose products are convolutions share. Inputs and states have the axes of `conv_layout`.

    Args:
        input_shape: of a batch, as (1, 3, 32, 32).
        num_hidden: channels of the states, and of the output.
        h2h_kernel, h2h_dilate: the convolution of the state, which keeps its size: the kernel is odd.
        i2h_kernel, i2h_stride, i2h_pad, i2h_dilate: that of the input.
        activation: a name, or a function of a symbol and `name`.

    Raises:
        ValueError: an even h2h_kernel.
        MXNetError: the input cannot be convolved so.
    """

    _weight_names = WEIGHTS_FIRST

    def __init__(
        self,
        input_shape: Sequence[int],
        num_hidden: int,
        h2h_kernel: Sequence[int],
        h2h_dilate: Sequence[int],
        i2h_kernel: Sequence[int],
        i2h_stride: Sequence[int],
        i2h_pad: Sequence[int],
        i2h_dilate: Sequence[int],
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        activation: Any,
        prefix: str = "",
        params: RNNParams | None = None,
        conv_layout: str = "NCHW",
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        if not all(size % 2 for size in h2h_kernel):
            raise WrongValueError(f"h2h_kernel has odd sizes only, not {h2h_kernel}")
        self._num_hidden = num_hidden
        self._activation = activation
        self._conv_layout = conv_layout
        h2h_pad = tuple(dilate * (size - 1) // 2 for dilate, size in zip(h2h_dilate, h2h_kernel))
        self._of_input = {"kernel": i2h_kernel, "stride": i2h_stride, "pad": i2h_pad, "dilate": i2h_dilate}
        self._of_state = {"kernel": h2h_kernel, "stride": (1,) * len(h2h_kernel), "pad": h2h_pad, "dilate": h2h_dilate}
        made = symbol.Convolution(
            symbol.Variable("data"), num_filter=num_hidden, layout=conv_layout, **self._of_input
        ).infer_shape(data=tuple(input_shape))[1]
        self._state_shape = (0, *made[0][1:])
        self._make_weights(
            i2h_weight=i2h_weight_initializer,
            i2h_bias=i2h_bias_initializer,
            h2h_weight=h2h_weight_initializer,
            h2h_bias=h2h_bias_initializer,
        )

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return [{"shape": self._state_shape, "__layout__": self._conv_layout} for _ in range(self._states)]

    def _products(self, inputs: Symbol, state: Symbol, name: str) -> tuple[Symbol, Symbol]:
        rows = self._num_gates * self._num_hidden
        product = partial(symbol.Convolution, num_filter=rows, layout=self._conv_layout)
        i2h = product(inputs, self._iW, self._iB, name=f"{name}i2h", **self._of_input)
        return i2h, product(state, self._hW, self._hB, name=f"{name}h2h", **self._of_state)

    def _split(self, values: Symbol, name: str) -> Symbol:
        return symbol.split(values, num_outputs=self._num_gates, axis=self._conv_layout.find("C"), name=name)


class _ConvCell(BaseConvRNNCell):
    """The defaults of the kinds, whose names begin with theirs: `ConvRNN_`."""

    _kind_prefix: ClassVar[str]
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Shows the kind's prefix in the signature, as 1.9.1 does. A subclass of a kind has the kind's."""
        super().__init_subclass__(**kwargs)
        if _ConvCell in cls.__bases__:
            cls._kind_prefix = cls.__name__[: -len("Cell")] + "_"
        _, *known = inspect.signature(cls.__init__).parameters.values()
        by_kind = {"prefix": cls._kind_prefix}
        cls.__signature__ = inspect.Signature(
            [each.replace(default=by_kind.get(each.name)) if each.default is None else each for each in known]
        )

    def __init__(
        self,
        input_shape: Sequence[int],
        num_hidden: int,
        h2h_kernel: Sequence[int] = (3, 3),
        h2h_dilate: Sequence[int] = (1, 1),
        i2h_kernel: Sequence[int] = (3, 3),
        i2h_stride: Sequence[int] = (1, 1),
        i2h_pad: Sequence[int] = (1, 1),
        i2h_dilate: Sequence[int] = (1, 1),
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        activation: Any = _LEAKY,
        prefix: str | None = None,
        params: RNNParams | None = None,
        conv_layout: str = "NCHW",
    ) -> None:
        super().__init__(
            input_shape,
            num_hidden,
            h2h_kernel,
            h2h_dilate,
            i2h_kernel,
            i2h_stride,
            i2h_pad,
            i2h_dilate,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            activation,
            self._kind_prefix if prefix is None else prefix,
            params,
            conv_layout,
        )


class ConvRNNCell(_ConvCell, _RNN):
    """RNNCell with convolutions; see BaseConvRNNCell for the arguments."""


class ConvLSTMCell(_ConvCell, _LSTM):
    """LSTMCell with convolutions (Shi et al. 2015); see BaseConvRNNCell for the arguments."""


class ConvGRUCell(_ConvCell, _GRU):
    """GRUCell with convolutions; see BaseConvRNNCell for the arguments."""
