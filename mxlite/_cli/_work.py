"""What the nodes of a bound graph have to do: floating-point operations, and bytes read and written, from shapes."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np

from mxlite.executor import Executor

Shape = tuple[int, ...]


@dataclass
class Work:
    """A node of a graph with the shapes around it; () where one is not known.

    `bytes` are those of its distinct inputs and of its outputs.
    """

    name: str
    operator: str
    attributes: dict[str, str]
    inputs: list[Shape]
    outputs: list[Shape]
    bytes: int

    @property
    def flops(self) -> int:
        """Floating-point operations; a product that is added counts 2. Others than the table's: one per element.

        0 where shapes that it needs are not known, and for nodes that run graphs or functions.
        """
        count = _COUNTS.get(self.operator)
        if count is not None:
            return count(self) if all([*self.inputs[:2], *self.outputs[:1]]) else 0
        computes = self.operator not in _MOVES and self.operator not in _PROGRAMS
        return max(map(_size, [*self.inputs[:1], *self.outputs])) if computes else 0


def _size(shape: Shape) -> int:
    return prod(shape) if shape else 0


def _weighted(at: int) -> Callable[[Work], int]:
    """Each element of the output is a sum over the weight, input `at`, beyond its first axis."""
    return lambda node: 2 * _size(node.outputs[0]) * prod(node.inputs[at][1:])


def _spread(node: Work) -> int:
    """Each element of the input is spread over the weight beyond its first axis."""
    return 2 * _size(node.inputs[0]) * prod(node.inputs[1][1:])


def _product(across: int, transposed: int) -> Callable[[Work], int]:
    """A product of matrices: the axis of the first that is summed over, and the same if that is transposed."""

    def count(node: Work) -> int:
        turned = node.attributes.get("transpose_a", "0") in ("1", "True")
        at = transposed if turned else across
        return 2 * _size(node.outputs[0]) * node.inputs[0][at]

    return count


def _scores(parts: int) -> Callable[[Work], int]:
    """Queries by keys, of heads: `parts` lie beside each other in the first input."""
    return lambda node: 2 * _size(node.outputs[0]) * (node.inputs[0][-1] // parts // int(node.attributes["heads"]))


def _mixed(node: Work) -> int:
    """Values by the attention to them, the last input."""
    return 2 * _size(node.outputs[0]) * node.inputs[-1][-1]


def _recurrent(node: Work) -> int:
    """Every weight, for each step of each sequence."""
    return 2 * _size(node.inputs[1]) * prod(node.inputs[0][:2])


def _windows(node: Work) -> int:
    """Every element of each window."""
    if node.attributes.get("global_pool", "0") in ("1", "True"):
        return _size(node.inputs[0])
    return _size(node.outputs[0]) * prod(ast.literal_eval(node.attributes.get("kernel", "()")))


_COUNTS: dict[str, Callable[[Work], int]] = {
    **dict.fromkeys(("Convolution", "Convolution_v1", "_mxl_fused_convolution", "_mxl_fast_convolution"), _weighted(1)),
    **dict.fromkeys(("FullyConnected", "_mxl_fused_dense", "_mxl_quantized_block"), _weighted(1)),
    **dict.fromkeys(("_contrib_quantized_conv", "_contrib_quantized_fully_connected"), _weighted(1)),
    "_contrib_DeformableConvolution": _weighted(2),
    "_contrib_ModulatedDeformableConvolution": _weighted(3),
    "Deconvolution": _spread,
    **dict.fromkeys(("dot", "_np_dot"), _product(-1, 0)),
    **dict.fromkeys(("batch_dot", "_npi_matmul", "_linalg_gemm", "_linalg_gemm2"), _product(-1, -2)),
    "_contrib_interleaved_matmul_selfatt_qk": _scores(3),
    "_contrib_interleaved_matmul_encdec_qk": _scores(1),
    **dict.fromkeys(
        ("_contrib_interleaved_matmul_selfatt_valatt", "_contrib_interleaved_matmul_encdec_valatt"), _mixed
    ),
    "RNN": _recurrent,
    **dict.fromkeys(("Pooling", "Pooling_v1"), _windows),
    **dict.fromkeys(("_contrib_quantized_pooling", "_mxl_quantized_pooling_last"), _windows),
}
#: These read as many numbers of a table as they write.
_LOOKUPS = {"Embedding": 1, "take": 0}
#: These move numbers, and compute none.
_MOVES = {
    *("Flatten", "Reshape", "_np_reshape", "_npx_reshape", "transpose", "_np_transpose", "expand_dims", "squeeze"),
    *("_np_squeeze", "SwapAxis", "Concat", "_npi_concatenate", "stack", "_npi_stack", "SliceChannel", "_split_v2"),
    *("slice", "slice_axis", "slice_like", "Pad", "tile", "repeat", "reverse", "broadcast_to", "broadcast_axis"),
    *("SequenceLast", "SequenceMask", "SequenceReverse", "_contrib_quantized_flatten"),
    *("_copy", "BlockGrad", "Cast", "_zeros", "_ones", "_full", "depth_to_space", "space_to_depth", *_LOOKUPS),
}
#: What these compute is not to be seen from shapes.
_PROGRAMS = {"_foreach", "_while_loop", "_cond", "Custom"}


def works_of(executor: Executor) -> list[Work]:
    """The operators of the graph that an executor runs, in that order. Raises: MXNetError."""
    inside = executor.get_optimized_symbol().get_internals()
    file = json.loads(inside.tojson())
    arrays = {**executor.arg_dict, **executor.aux_dict}
    known = {name: arrays[name] for name in inside.list_inputs()}
    _, shapes, _ = inside.infer_shape_partial(**{name: each.shape for name, each in known.items()})
    types: dict[str, type] = {name: each.dtype for name, each in known.items()}
    _, dtypes, _ = inside.infer_type_partial(**types)
    heads = [(node, output) for node, output, *_ in file["heads"]]
    outputs_of: dict[int, list[tuple[int, int]]] = {}
    for head in heads:
        outputs_of.setdefault(head[0], []).append(head)
    shape_of = {head: each if min(each, default=1) >= 0 else () for head, each in zip(heads, shapes or ())}
    for number, each in enumerate(file["nodes"]):
        if each["op"] == "null":
            shape_of[number, 0] = known[each["name"]].shape
    width_of = {head: np.dtype(each or "float32").itemsize for head, each in zip(heads, dtypes or ())}
    found = []
    for number, each in enumerate(file["nodes"]):
        if each["op"] == "null":
            continue
        reads = [(source, output) for source, output, *_ in each["inputs"]]
        writes = outputs_of.get(number, [])
        size = {head: _size(shape_of.get(head, ())) * width_of.get(head, 4) for head in {*reads, *writes}}
        if each["op"] in _LOOKUPS and writes:
            size[reads[_LOOKUPS[each["op"]]]] = size[writes[0]]
        inputs, outputs = ([shape_of.get(head, ()) for head in some] for some in (reads, writes))
        found.append(Work(each["name"], each["op"], each.get("attrs", {}), inputs, outputs, sum(size.values())))
    return found
