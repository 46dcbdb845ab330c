"""Nodes of tensors whose rule is Python's: functions that the library has no operator for, whose gradients are formulas
over tensors. The nodes themselves, and what autograd.Function records, are in mxlite/autograd/_nodes.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

from mxlite.autograd import _nodes
from mxlite.autograd._nodes import Rule
from mxlite.torch._calls import AGAIN
from mxlite.torch._gradient import STYLE
from mxlite.torch._tensor import Tensor

#: Whether operations of this thread are recorded; switches that, and says what it was.
is_grad_enabled, set_grad_mode = STYLE.is_recording, STYLE.set_recording


class unrecorded(_nodes.unrecorded):  # noqa: N801 - used as a word: `with unrecorded():`
    """A with-block whose operations are not recorded."""

    __slots__ = ()

    def __init__(self) -> None:
        self.style = STYLE


class Saved(_nodes.Saved):
    """A tensor that a rule will read."""

    __slots__ = ()

    def __init__(self, tensor: Tensor, output: int = -1) -> None:
        super().__init__(STYLE, tensor, output)


def record(
    label: str, inputs: list[Tensor], outputs: list[Tensor], rule: Rule, slots: str | None = None, context: Any = None
) -> None:
    """Gives the outputs, computed unrecorded, their places as the results of a node."""
    _nodes.record(STYLE, label, inputs, outputs, rule, slots, context)


def formula(
    label: str,
    inputs: list[Tensor],
    compute: Callable,
    rule: Callable,
    slots: str | None = None,
    saves: str | tuple[str, ...] = "",
    constants: Sequence[Tensor] = (),
) -> Any:
    """A function of tensors whose gradient is a formula.

    Args:
        compute: Of `inputs` and `constants`, without recording: the result.
        rule: Of the result's gradient, of what is saved and of `constants`: a list of gradients of `inputs`, which are
            summed to the shapes of these. It holds no tensor of a caller's: that may be edited, or get another shape.
        saves: What the rule reads: a digit for an input, "r" for the result; or that for the gradient of each input.
            The rule gets it in order, the result last; None for what only gradients that nobody wants need.
        constants: Tensors that no gradient flows to, and that the rule reads: indices, masks, weights.
    """
    with unrecorded():
        result = compute(*inputs, *constants)
    if is_grad_enabled() and any(each.requires_grad for each in inputs):
        kept = [*saved_of(inputs, result, saves), *(Saved(each.detach()) for each in constants)]
        record(label, inputs, [result], Formula(rule, kept), slots)
    return result


def saved_of(inputs: list[Tensor], result: Tensor | None, saves: str | tuple[str, ...]) -> list[Saved | None]:
    """What a formula's rule reads, saved as it is now; None: not needed, or `result`, where that is not there yet."""
    if isinstance(saves, str):
        named = needed = sorted(saves)
    else:
        named = sorted(set("".join(saves)))
        needed = [name for each, names in zip(inputs, saves) if each.requires_grad for name in names]

    def keep(name: str) -> Saved | None:
        if name not in needed or (name == "r" and result is None):
            return None
        return Saved(result, 0) if name == "r" else Saved(inputs[int(name)])

    return [keep(name) for name in named]


class Formula:
    """The rule of a formula's node, with what it reads, until a backward lets go of that."""

    __slots__ = ("rule", "kept")

    def __init__(self, rule: Callable, kept: list[Saved | None]) -> None:
        self.rule: Callable | None = rule
        self.kept = kept

    def __call__(self, grads: list, wanted: list) -> list:
        if self.rule is None:
            raise RuntimeError(AGAIN)
        if grads[0] is None:
            return [None] * len(wanted)
        return self.rule(grads[0], *(None if each is None else each.get() for each in self.kept))

    def forget(self) -> None:
        """Lets the tensors go. What reads none may run again."""
        if self.kept:
            self.rule, self.kept = None, []
