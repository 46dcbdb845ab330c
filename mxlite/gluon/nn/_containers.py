"""Containers of blocks that run one after another, and blocks of a function."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Callable

from mxlite import ndarray
from mxlite._public.near import did_you_mean
from mxlite.error import WrongValueError
from mxlite.gluon.block import Block, HybridBlock
from mxlite.gluon.parameter import ParameterDict
from mxlite.ndarray._kinds import functions_for, kind_for

if TYPE_CHECKING:
    from mxlite.ndarray.ndarray import NDArray


class _Listed:
    """What containers have in common: their children, in order."""

    #: Block.summary leaves containers out.
    _is_container = True

    def add(self: Any, *blocks: Block) -> None:
        """Appends blocks."""
        for block in blocks:
            self.register_child(block)

    def __repr__(self: Any) -> str:
        return self._repr_of(self._children.items())

    def __getitem__(self: Any, key: int | slice) -> Any:
        """A block by number; of a slice, a container of the same blocks with this one's prefix."""
        blocks = list(self._children.values())[key]
        if not isinstance(blocks, list):
            return blocks
        part = type(self)(prefix=self._prefix)
        with part.name_scope():
            part.add(*blocks)
        return part

    def __len__(self: Any) -> int:
        return len(self._children)


class Sequential(_Listed, Block):
    """Blocks that run one after another, each on what the one before gives.

    net = nn.Sequential()
    net.add(nn.Dense(10, activation="relu"), nn.Dense(20))
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def forward(self, x: Any, /) -> NDArray:
        """What the last block gives."""
        for block in self._children.values():
            x = block(x)
        return x

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """As Block.hybridize; warns where a HybridSequential would do."""
        if self._children and all(isinstance(each, HybridBlock) for each in self._children.values()):
            warnings.warn(
                f"Sequential '{self.prefix}' has HybridBlocks alone: as HybridSequential it could be hybridized",
                stacklevel=2,
            )
        super().hybridize(active, **kwargs)


class HybridSequential(_Listed, HybridBlock):
    """HybridBlocks that run one after another, each on what the one before gives."""

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F: Any, x: Any) -> NDArray:  # noqa: N803
        """What the last block gives."""
        for block in self._children.values():
            x = block(x)
        return x


class Lambda(Block):
    """A block of a function of arrays: a callable, or the name of one in mx.nd.

    Raises: ValueError: mx.nd has no such function; ValueError: neither a name nor a callable.
    """

    def __init__(self, function: str | Callable, prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            self._func_impl = _function(_known(function, "ndarray"))
        else:
            self._func_impl = _callable(function)

    def forward(self, *args: Any) -> Any:
        """What the function gives."""
        return self._func_impl(*args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_impl.__name__})"


class HybridLambda(HybridBlock):
    """A block of a function `function(F, x, *args)`, or of the name of one in mx.nd.

    Raises: as Lambda.
    """

    def __init__(self, function: str | Callable, prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        if isinstance(function, str):
            name = _known(function, "symbol/ndarray")
            self._func = lambda F, *args: getattr(F, name)(*args)
            self._func_name = name
        else:
            self._func = _callable(function)
            self._func_name = self._func.__name__

    def hybrid_forward(self, F: Any, x: Any, *args: Any) -> Any:  # noqa: N803
        """What the function gives."""
        return self._func(F, x, *args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._func_name})"


def _function(name: str) -> Callable:
    """A function of mx.nd by its name, for arrays of both classes."""

    def function(*args: Any) -> Any:
        return getattr(functions_for(kind_for(args)), name)(*args)

    function.__name__ = name
    return function


def _known(name: str, where: str) -> str:
    if not hasattr(ndarray, name):
        raise WrongValueError(f"Function name {name} is not found in {where}{did_you_mean(name, dir(ndarray))}")
    return name


def _callable(function: Any) -> Any:
    if not callable(function):
        raise ValueError(
            f"a lambda block takes a function or the name of an operator, not {function} ({type(function)})"
        )
    return function
