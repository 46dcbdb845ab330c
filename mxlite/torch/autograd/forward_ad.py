"""`torch.autograd.forward_ad`: tensors with tangents, and how tangents pass through operations.

`make_dual` gives a tensor with a graph node of its own, and the level keeps the node's tangent. Operations on dual
tensors are recorded. `unpack_dual` computes the tangent of a result by differentiating the backward of that graph, so
an operation has a forward derivative if it has a second derivative, or is a Function with a `jvp`. Until the level
ends, what is computed of dual tensors requires a gradient, no backward releases the graph, and `grad` is recorded;
operations under `no_grad` have no tangents.
"""

from __future__ import annotations

from typing import NamedTuple

from mxlite._public import show as _show
from mxlite.autograd._derivatives import Forward
from mxlite.autograd._nodes import pinned
from mxlite.autograd._transforms.places import leads_beyond, placed_anew
from mxlite.torch import _calls
from mxlite.torch._errors import wrong_argument
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._nodes import is_grad_enabled, set_grad_mode
from mxlite.torch._tensor import Tensor
from mxlite.torch.autograd import _engine

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]


class UnpackedDualTensor(NamedTuple):
    """A tensor without its tangent, and the tangent; None where it has none."""

    primal: Tensor
    tangent: Tensor | None


class _Level:
    """The open level."""

    def __init__(self) -> None:
        self.recorded_before = set_grad_mode(True)
        #: The dual tensors at the places they were made at, their tangents, and the leaves behind these places.
        self.places: list[Tensor] = []
        self.tangents: list[Tensor] = []
        self.own: list[Tensor] = []

    def tangent_of(self, tensor: Tensor) -> Tensor | None:
        """The tangent of a tensor, as it is in the graph; None where it depends on no dual tensor."""
        if not tensor.requires_grad or not self.places:
            return None
        here = tensor._node()
        for place, tangent in zip(self.places, self.tangents):
            if place._node() == here:
                return tangent
        return Forward(FRONT_END, [tensor], self.places)(self.tangents, is_grad_enabled())[0]

    def released(self, tensor: Tensor) -> Tensor:
        """An alias of a tensor, with a place in the graph only where that leads to others than the dual tensors."""
        if self.recorded_before and leads_beyond([tensor], self.own):
            return FRONT_END.alias(tensor)
        return tensor.detach()


_level: _Level | None = None


def enter_dual_level() -> int:
    """Opens the level, and returns its number: 0.

    Raises: RuntimeError: it is open; levels in each other are not there, as in PyTorch.
    """
    global _level
    if _level is not None:
        raise RuntimeError("enter_dual_level: a level is open, and another within it is not supported")
    _level = _Level()
    _engine.keep_all(True)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Ends the level: all tangents are gone.

    Raises: RuntimeError: none is open, or `level` is another.
    """
    global _level
    if _level is None:
        raise RuntimeError("exit_dual_level: no level is open")
    if level not in (None, 0):
        raise RuntimeError(f"exit_dual_level: the level that was opened last is 0, got {level}")
    set_grad_mode(_level.recorded_before)
    _level = None
    _engine.keep_all(False)


class dual_level:  # noqa: N801 - PyTorch's name
    """A with-block that is the level."""

    def __enter__(self) -> int:
        self.level = enter_dual_level()
        return self.level

    def __exit__(self, *_: object) -> None:
        exit_dual_level(level=self.level)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor over the same memory, with a tangent.

    Raises: RuntimeError: no level is open, the tangent has another shape, or the tensor has one; ValueError: one of
        them is not floating.
    """
    if _level is None or level not in (None, 0):
        raise RuntimeError("make_dual: no level is open; call it within dual_level()")
    for name, each in (("primal", tensor), ("tangent", tangent)):
        if not each.is_floating_point():
            raise ValueError(f"make_dual: the {name} has a floating dtype, got {each.dtype}")
    if tensor.shape != tangent.shape:
        raise RuntimeError(f"make_dual: the tangent has shape {list(tangent.shape)}, the tensor {list(tensor.shape)}")
    if _level.tangent_of(tensor) is not None:
        raise RuntimeError("make_dual: the tensor has a tangent of this level")
    source, made = placed_anew(FRONT_END, tensor)
    if source is not None:
        _level.own.append(source)
    _level.places.append(pinned(FRONT_END, made))
    _level.tangents.append(tangent)
    return made


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The tensor without its tangent, and the tangent; None: it has none, or no level is open."""
    if not isinstance(tensor, _calls.tensor_class):
        raise wrong_argument("unpack_dual", "dual", 1, "Tensor", tensor)
    tangent = None if _level is None else _level.tangent_of(tensor)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    primal = _level.released(tensor)
    if tangent.requires_grad and any(tangent is each for each in _level.tangents):
        return UnpackedDualTensor(primal, FRONT_END.alias(tangent))
    return UnpackedDualTensor(primal, _level.released(tangent))


_show(globals())
