"""Nodes of tensors whose rule is Python's: functions that the library has no operator for, whose gradients are formulas
over tensors. The nodes themselves, and what autograd.Function records, are in mxlite/autograd/_nodes.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Callable

from mxlite._lib import hot
from mxlite.autograd import _nodes
from mxlite.autograd._composition import Composition
from mxlite.autograd._nodes import Rule
from mxlite.autograd._transforms.examples import REFUSED
from mxlite.autograd._transforms.levels import Level, highest
from mxlite.autograd._transforms.levels import count as levels_open
from mxlite.torch._calls import prepare, run
from mxlite.torch._dtypes import bool_
from mxlite.torch._gradient import FRONT_END
from mxlite.torch._tensor import Tensor, full_of, zeros_of

#: Whether operations of this thread are recorded; switches that, and says what it was.
is_grad_enabled, set_grad_mode = FRONT_END.is_recording, FRONT_END.set_recording


#: Of mxlite/autograd/_nodes.py, for tensors: a with-block whose operations are not recorded; a tensor that a rule will
#: read; and what gives outputs, computed unrecorded, their places as the results of a node.
unrecorded, Saved, record = (partial(each, FRONT_END) for each in (_nodes.unrecorded, _nodes.Saved, _nodes.record))


def formula(
    label: str,
    inputs: Sequence[Tensor],
    compute: Callable,
    rule: Callable | None = None,
    slots: str | None = None,
    saves: str | tuple[str, ...] | None = None,
    constants: Sequence[Tensor] = (),
) -> Any:
    """A function of tensors that is one node of the graph.

    Args:
        compute: Of `inputs` and `constants`, without recording: the result, or (without `rule`) a tuple of results.
        rule: Of the result's gradient, of what is saved and of `constants`: a list of gradients of `inputs`, which are
            summed to the shapes of these. It holds no tensor of a caller's: that may be edited, or get another shape.
            None: backward runs `compute` again, recorded, and differentiates it (mxlite/autograd/_composition.py).
        saves: What the rule reads: a digit for an input, "r" for the result; or that for the gradient of each input.
            The rule gets it in order, the result last; None for a tensor that only unwanted gradients need.
            Without `rule`: the inputs whose values derivatives depend on; None: all.
        constants: Tensors that no gradient flows to, and that the rule reads: indices, masks, weights.
    """
    level = highest([*inputs, *constants]) if levels_open[0] else None
    if level is not None:
        return _formula_of_batch(level, label, inputs, compute, rule, slots, saves, constants)
    before = hot.set_grad_mode(False)  # not `with unrecorded()`, which takes three times as long
    if before < 0:
        raise FRONT_END.last_error()
    try:
        result = compute(*inputs, *constants)
    finally:
        hot.set_grad_mode(before)
    if before and wants_grad(inputs):
        several = isinstance(result, tuple)
        kept = saved_of(inputs, None if several else result, saves, rule)
        made = rule_of(compute, rule, inputs, kept, constants)
        record(label, list(inputs), list(result) if several else [result], made, slots)
    return result


def _formula_of_batch(
    level: Level,
    label: str,
    inputs: Sequence[Tensor],
    compute: Callable,
    rule: Callable | None,
    slots: str | None,
    saves: str | tuple[str, ...] | None,
    constants: Sequence[Tensor],
) -> Any:
    """The same of batched tensors: a formula of the wholes, and a node over it for the function that is mapped."""
    inputs = [level.lifted(each) for each in inputs]
    wholes, flags = zip(*(level.whole(each) for each in [*inputs, *constants]))
    count = len(inputs)

    def each_own(*tensors: Tensor) -> Any:
        """The same, also where it writes values of each example over a copy of what all have."""
        try:
            return compute(*tensors)
        except RuntimeError as problem:
            if REFUSED not in str(problem):
                raise
        every = level.batch(full_of((level.size,), True, bool_))
        return compute(*(run(_where, [every, each, each], kind=each._dtype) for each in tensors))

    def again(given: Sequence[Tensor | None], flags: Sequence[bool]) -> list[Tensor | None]:
        return [None if each is None else level.batch(each, flag) for each, flag in zip(given, flags)]

    def computed(*given: Tensor) -> Any:
        with level.entered():
            result = each_own(*again(given, flags))
            several = isinstance(result, tuple)
            made = tuple(level.with_axis(each) for each in (result if several else (result,)))
        return made if several else made[0]

    def pulled(grad: Tensor, *kept: Tensor | None) -> list:
        names = sorted(saves) if isinstance(saves, str) else sorted(set("".join(saves or "")))
        saved = [name == "r" or flags[int(name)] for name in names] + list(flags[count:])
        with level.entered():
            found = rule(level.batch(grad), *again(kept, saved))  # type: ignore[misc]
            shaped = [
                each if each is None or each.shape == like.shape else _sum_to(each, like.shape)
                for each, like in zip(found, inputs)
            ]
            return [None if each is None else level.with_axis(each) for each in shaped]

    lowered = None if rule is None else pulled
    result = formula(label, wholes[:count], computed, lowered, None, saves, wholes[count:])
    several = isinstance(result, tuple)
    results = [level.batch(each) for each in (result if several else (result,))]
    if is_grad_enabled() and wants_grad(inputs):
        kept = saved_of(inputs, None if several else results[0], saves, rule)
        record(label, inputs, results, rule_of(each_own, rule, inputs, kept, constants), slots)
    return tuple(results) if several else results[0]


def _sum_to(grad: Tensor, shape: tuple[int, ...]) -> Tensor:
    return run(_sum, [grad], tuple(shape), kind=grad._dtype)


_sum, _where = prepare(None, "_mxl_sum_to", "shape"), prepare("WhereBackward0", "_npi_where")


def wants_grad(inputs: Sequence[Tensor]) -> bool:
    """Whether one of them requires a gradient."""
    for each in inputs:  # no generator: this is on the way of every formula
        if each.requires_grad:
            return True
    return False


def saved_of(
    inputs: Sequence[Tensor], result: Tensor | None, saves: str | tuple[str, ...] | None, rule: Callable | None
) -> list[Any]:
    """The tensors that a formula's rule reads, saved as they are now.

    With a rule: None for a tensor that is not needed, and for a `result` that is not computed yet. Else: a stand-in.
    """
    if saves is None:
        saves = "" if rule else "".join(str(k) for k in range(len(inputs)))
    if isinstance(saves, str):
        named = needed = sorted(saves)
    else:
        named = sorted(set("".join(saves)))
        needed = [name for each, names in zip(inputs, saves) if each.requires_grad for name in names]
    if rule is None:
        return [Saved(each) if str(k) in needed else _StandIn(each) for k, each in enumerate(inputs)]

    def keep(name: str) -> _nodes.Saved | None:
        if name not in needed or (name == "r" and result is None):
            return None
        return Saved(result, 0) if name == "r" else Saved(inputs[int(name)])

    return [keep(name) for name in named]


def rule_of(
    compute: Callable, rule: Callable | None, inputs: Sequence[Tensor], kept: list, constants: Sequence[Tensor]
) -> Rule:
    """The rule of a formula's node, with what it reads."""
    others = [Saved(each.detach()) for each in constants]
    return Formula(rule, [*kept, *others]) if rule else Composition(FRONT_END, compute, kept, others)


class _StandIn:
    """An input of a composition whose value no derivative depends on: zeros of its shape and dtype."""

    __slots__ = ("shape", "kind")

    def __init__(self, tensor: Tensor) -> None:
        self.shape, self.kind = tensor.shape, tensor._dtype

    def get(self) -> Tensor:
        return zeros_of((), self.kind).expand(self.shape)


class Formula:
    """The rule of a formula's node, with the tensors that it reads, until a backward releases them."""

    __slots__ = ("rule", "kept")

    def __init__(self, rule: Callable, kept: list[Saved | None]) -> None:
        self.rule: Callable | None = rule
        self.kept = kept

    def __call__(self, grads: list, wanted: list) -> list:
        if self.rule is None:
            raise FRONT_END.released()
        if grads[0] is None:
            return [None] * len(wanted)
        return self.rule(grads[0], *(None if each is None else each.get() for each in self.kept))

    def forget(self) -> None:
        """Lets the tensors go. What reads none may run again."""
        if self.kept:
            self.rule, self.kept = None, []
