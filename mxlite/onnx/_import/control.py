"""If, Loop and Scan: branches that are chosen when the graph is read, and loops whose steps become nodes."""

from __future__ import annotations

import numpy as np

from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.tensor import NeedsValueError, Tensor

#: As many steps a loop may have.
STEPS = 10_000


@reads("If")
def branch(g: Builder, node: Node) -> list[Tensor]:
    condition = node.input(0)
    if condition.is_known:
        return list(node.graph.inner(node.attr("then_branch" if condition.scalar else "else_branch"), []))
    # Both branches run, and each output is chosen: operators have no effects.
    yes, no = (node.graph.inner(node.attr(name), []) for name in ("then_branch", "else_branch"))
    if any(a.shape != b.shape or a.dtype != b.dtype for a, b in zip(yes, no)):
        raise NeedsValueError(
            f"{node.place}: its branches give other shapes, so its condition must be known when the graph is read",
            condition.made_from,
        )
    return [g.where(condition, a, b) for a, b in zip(yes, no)]


@reads("Loop")
def loop(g: Builder, node: Node) -> list[Tensor]:
    body = node.attr("body")
    most = int(node.input(0).scalar) if node.has(0) else STEPS + 1
    goes_on = bool(node.input(1).scalar) if node.has(1) else True
    states = [node.input(index) for index in range(2, len(node.inputs))]
    rows: list[list[Tensor]] = [[] for _ in range(len(node.outputs) - len(states))]
    step = 0
    while goes_on and step < most:
        if step >= STEPS:
            raise node.refuse(f"more than {STEPS} steps")
        inputs = [g.constant(np.int64(step)), g.constant(True), *states]
        condition, *made = node.graph.inner(body, inputs)
        states, outputs = made[: len(states)], made[len(states) :]
        for row, each in zip(rows, outputs):
            row.append(each)
        goes_on = bool(condition.scalar)
        step += 1
    if not step and rows:
        raise node.refuse("no step runs, so the shapes of its outputs are not known")
    return [*states, *(_stacked(g, row, 0) for row in rows)]


def _stacked(g: Builder, row: list[Tensor], axis: int) -> Tensor:
    return g.op("_npi_stack", *row, axis=axis, num_args=len(row))


@reads("Scan")
def scan(g: Builder, node: Node) -> list[Tensor]:
    body, count = node.attr("body"), int(node.attr("num_scan_inputs"))
    if node.opset < 9:
        return _scan_batches(g, node)
    inputs = [node.input(index) for index in range(len(node.inputs))]
    return _scan(g, node, body, inputs, count)


def _scan(g: Builder, node: Node, body: object, inputs: list[Tensor], count: int) -> list[Tensor]:
    states, scanned = inputs[: len(inputs) - count], inputs[len(inputs) - count :]
    axes = node.ints("scan_input_axes", [0] * count)
    back = node.ints("scan_input_directions", [0] * count)
    axes = [node.whole_axis(axis, each.rank) for axis, each in zip(axes, scanned)]
    steps = scanned[0].full_shape[axes[0]]
    if steps > STEPS:
        raise node.refuse(f"more than {STEPS} steps")
    rows: list[list[Tensor]] = [[] for _ in range(len(node.outputs) - len(states))]
    for step in range(steps):
        parts = []
        for each, axis, turned in zip(scanned, axes, back):
            at = steps - 1 - step if turned else step
            shape = [size for number, size in enumerate(each.full_shape) if number != axis]
            parts.append(g.reshape(g.slice(each, axis, at, at + 1), shape))
        made = node.graph.inner(body, [*states, *parts])
        states = made[: len(states)]
        for row, each in zip(rows, made[len(states) :]):
            row.append(each)
    out_axes = node.ints("scan_output_axes", [0] * len(rows))
    out_back = node.ints("scan_output_directions", [0] * len(rows))
    outputs = []
    for row, axis, turned in zip(rows, out_axes, out_back):
        if not row:
            raise node.refuse("no step runs, so the shapes of its outputs are not known")
        outputs.append(_stacked(g, row[::-1] if turned else row, node.whole_axis(axis, row[0].rank + 1)))
    return [*states, *outputs]


def _scan_batches(g: Builder, node: Node) -> list[Tensor]:
    """Before operator set 9: the first axis of all inputs is that of batches, which are scanned one by one."""
    if node.has(0):
        raise node.refuse("sequence_lens of a Scan of operator set 8")
    inputs = [node.input(index) for index in range(1, len(node.inputs))]
    body, count = node.attr("body"), int(node.attr("num_scan_inputs"))
    batches = []
    for number in range(inputs[0].full_shape[0]):
        rows = [g.reshape(g.slice(each, 0, number, number + 1), each.full_shape[1:]) for each in inputs]
        batches.append(_scan(g, node, body, rows, count))
    return [_stacked(g, list(each), 0) for each in zip(*batches)]
