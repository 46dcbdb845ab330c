"""One run of a function that is differentiated: what the transforms of torch.func are made of."""

from __future__ import annotations

from typing import Any, Callable

from mxlite.autograd._derivatives import Forward
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._nodes import detached, gradients, pinned, recorded, unrecorded
from mxlite.autograd._transforms.places import leads_beyond, placed_anew
from mxlite.autograd._transforms.trees import flatten, tree_map


class Run:
    """A function's run on tensors of its own, with what its derivatives are made of.

    Args:
        primals: The arguments that are differentiated: trees of arrays.
        has_aux: Whether it returns (output, aux).
        name: What errors call the transform.
    """

    def __init__(self, front_end: FrontEnd, func: Callable, primals: tuple, has_aux: bool, name: str) -> None:
        self.front_end = front_end
        leaves, self.build = flatten(primals)
        for each in leaves:
            if not isinstance(each, self.front_end.array_class):
                raise RuntimeError(f"{name}: an argument that is differentiated is a tensor, got {type(each).__name__}")
        self.outer = self.front_end.is_recording()
        with recorded(self.front_end):
            pairs = [placed_anew(self.front_end, each) for each in leaves]
            self.own = [source for source, _ in pairs if source is not None]
            given = [made for _, made in pairs]
            #: At the places that they have now: the function may edit them.
            self.inputs = [pinned(self.front_end, each) for each in given]
            output = func(*self.build(given))
        self.aux: tuple = ()
        if has_aux:
            if not isinstance(output, tuple) or len(output) != 2:
                raise RuntimeError(f"{name}: has_aux=True: the function returns a pair, (output, aux)")
            output, aux = output
            self.aux = (tree_map(self.released, aux),)
        self.tree = output
        self.outputs, self.build_output = flatten(output)
        for each in self.outputs:
            if not isinstance(each, self.front_end.array_class):
                raise RuntimeError(f"{name}: the function returns tensors, got {type(each).__name__}")
        #: Whether a gradient flows on to others than this run's own tensors.
        self.beyond = self.outer and leads_beyond(self.outputs, self.own)

    def released(self, value: Any) -> Any:
        """A result as the caller gets it: with a place in the graph only where that leads beyond this run."""
        if not isinstance(value, self.front_end.array_class):
            raise RuntimeError(f"torch.func: a result is a tensor, got {type(value).__name__}")
        if not value.requires_grad or (self.outer and leads_beyond([value], self.own)):
            return value
        return detached(self.front_end, value)

    def output(self) -> Any:
        """The function's result."""
        return tree_map(self.released, self.tree)

    def pull(self, outputs: list, heads: list) -> list:
        """The gradients of the inputs, zeros where there is none."""
        create = self.front_end.is_recording() and (self.beyond or any(each.requires_grad for each in heads))
        with recorded(self.front_end) if create else unrecorded(self.front_end):
            found = gradients(self.front_end, outputs, self.inputs, heads, create)
        return [
            self.front_end.zeros(tuple(each.shape), each.dtype) if grad is None else self.released(grad)
            for each, grad in zip(self.inputs, found)
        ]

    def pusher(self, strict: bool = False) -> Callable[[list], list]:
        """What gives the moves of the outputs for those of the inputs; `strict`: that an output has one is required."""
        forward = Forward(self.front_end, self.outputs, self.inputs)

        def push(moves: list) -> list:
            create = self.outer and (self.beyond or any(each.requires_grad for each in moves if each is not None))
            found = forward(moves, create)
            if strict and None in found:
                raise RuntimeError("jvp: an output does not depend on the inputs, which strict=True refuses")
            return [
                self.front_end.zeros(tuple(each.shape), each.dtype) if move is None else self.released(move)
                for each, move in zip(self.outputs, found)
            ]

        return push
