"""Nodes of tensors whose rule is Python's: functions that the library has no operator for, whose gradients are formulas
over tensors. The nodes themselves, and what autograd.Function records, are in mxlite/autograd/_nodes.py.
"""

from __future__ import annotations

from typing import Any, Callable

from mxlite.autograd import _nodes
from mxlite.autograd._nodes import Rule
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
    saves: bool = False,
    reads: str | None = None,
) -> Any:
    """A function of tensors whose gradient is a formula.

    Args:
        compute: Of `inputs`, without recording: the result.
        rule: Of the result's gradient: a list of gradients of `inputs`; with `saves`, of that and the result.
        reads: Digits of the inputs whose values the rule reads, which may not be edited until then; None: all.
    """
    with unrecorded():
        result = compute(*inputs)
    if not is_grad_enabled() or not any(each.requires_grad for each in inputs):
        return result
    kept = Saved(result, 0) if saves else None
    read = [Saved(each) for place, each in enumerate(inputs) if reads is None or str(place) in reads]

    def gradients(grads: list, wanted: list) -> list:
        for each in read:
            each.get()
        return rule(grads[0]) if kept is None else rule(grads[0], kept.get())

    record(label, inputs, [result], gradients, slots)
    return result
