"""Layers that apply a function to each element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mxlite import initializer
from mxlite._public import show
from mxlite.error import WrongValueError
from mxlite.gluon.block import HybridBlock

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from mxlite.gluon._typing import BlockOptions
    from mxlite.ndarray.ndarray import NDArray

__all__ = ["Activation", "LeakyReLU", "PReLU", "ELU", "SELU", "Swish", "GELU"]


class Activation(HybridBlock):
    """A function by name: "relu", "sigmoid", "tanh", "softrelu" or "softsign".

    Input and output: any shape.
    """

    def __init__(self, activation: str, **kwargs: Unpack[BlockOptions]) -> None:
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self) -> str:
        return self._act_type

    def hybrid_forward(self, F: Any, x: NDArray) -> NDArray:  # noqa: N803
        """The function of `x`."""
        return F.Activation(x, act_type=self._act_type)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._act_type})"


class LeakyReLU(HybridBlock):
    """x where it is positive, else `alpha` times x.

    Raises: ValueError: a negative alpha.
    """

    def __init__(self, alpha: float, **kwargs: Unpack[BlockOptions]) -> None:
        if alpha < 0:
            raise WrongValueError("LeakyReLU: alpha is 0 or more")
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: NDArray) -> NDArray:  # noqa: N803
        """The function of `x`."""
        return F.LeakyReLU(x, act_type="leaky", slope=self._alpha)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._alpha})"


class PReLU(HybridBlock):
    """A leaky ReLU whose slope is a parameter.

    Args:
        alpha_initializer: The initializer of the slopes.
        in_channels: How many slopes there are: one, or one for each channel (axis 1).
    """

    def __init__(
        self,
        alpha_initializer: Any = initializer.Constant(0.25),  # noqa: B008 - 1.9.1's default
        in_channels: int = 1,
        **kwargs: Unpack[BlockOptions],
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.alpha = self.params.get("alpha", shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F: Any, x: NDArray, alpha: Any) -> NDArray:  # noqa: N803
        """The function of `x`."""
        return F.LeakyReLU(x, gamma=alpha, act_type="prelu")


class ELU(HybridBlock):
    """x where it is positive, else `alpha * (exp(x) - 1)`."""

    def __init__(self, alpha: float = 1.0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: NDArray) -> NDArray:  # noqa: N803
        """The function of `x`."""
        return F.LeakyReLU(x, act_type="elu", slope=self._alpha)


class SELU(HybridBlock):
    """The scaled ELU, whose two constants keep mean 0 and variance 1."""

    def __init__(self, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: Any, x: NDArray) -> NDArray:  # noqa: N803
        """The function of `x`."""
        return F.LeakyReLU(x, act_type="selu")


class GELU(HybridBlock):
    """x times the probability that a normal variable is below it (with erf)."""

    def __init__(self, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)

    def hybrid_forward(self, F: Any, x: NDArray) -> NDArray:  # noqa: N803
        """The function of `x`."""
        return F.LeakyReLU(x, act_type="gelu")


class Swish(HybridBlock):
    """`x * sigmoid(beta * x)`."""

    def __init__(self, beta: float = 1.0, **kwargs: Unpack[BlockOptions]) -> None:
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F: Any, x: NDArray) -> NDArray:  # noqa: N803
        """The function of `x`."""
        return x * F.sigmoid(self._beta * x)


show(globals())
