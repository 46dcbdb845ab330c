"""Gluon networks as quantized ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mxlite.symbol as sym
from mxlite import ndarray as nd
from mxlite.context import cpu
from mxlite.contrib.quantization._calibrate import limits_of
from mxlite.contrib.quantization._fold import _readers, fold_norms, relu_for_clip
from mxlite.contrib.quantization._graph import (
    Limits,
    _batches,
    _calibrate_quantized_sym,
    _note_unknown,
    _quantize_params,
    _quantize_symbol,
    check,
    collect,
    collector_for,
)
from mxlite.symbol.symbol import Symbol


def _activated(symbol: Symbol) -> list[str]:
    """The names of the outputs of layers, and of sums, that a relu alone reads."""
    graph = json.loads(symbol.tojson())
    nodes, readers = graph["nodes"], _readers(graph)
    found = []
    for i, node in enumerate(nodes):
        of = nodes[readers[i][0]] if len(readers[i]) == 1 and readers[i][0] >= 0 else {"op": ""}
        if of["op"] == "Activation" and of["attrs"]["act_type"] == "relu" and node["op"] != "null":
            found.append(f"{node['name']}_output")
    return found


def _excluded(symbol: Symbol, names: Iterable[str] | None, parts: Iterable[str] | None) -> list[str]:
    """Names of nodes: those that are given, and those that have one of the parts in them."""
    excluded = list(names or ())
    for part in parts or ():
        excluded += [node["name"] for node in json.loads(symbol.tojson())["nodes"] if part in node["name"]]
    return excluded


def _quantize_clips(
    symbol: Symbol, quantize: Callable[[Symbol], tuple[Symbol, list[str]]], excluded: Sequence[str]
) -> tuple[Symbol, dict[str, tuple[str, float]], Symbol, list[str]]:
    """A network whose clips are relu where that is of bytes, those clips, and what `quantize` makes of it."""
    left = set(excluded)
    while True:
        activated, clips = relu_for_clip(symbol, left)
        qsym, calibrated = quantize(activated)
        names = {node["name"] for node in json.loads(qsym.tojson())["nodes"]}
        lost = {name for name in clips if f"quantized_{name}" not in names}
        if not lost:
            return activated, clips, qsym, calibrated
        left |= lost


def _first_shapes(data_shapes: Any, calib_data: Any) -> list[tuple[int, ...]] | None:
    if data_shapes is None:
        return None
    shapes = data_shapes if isinstance(data_shapes, (list, tuple)) else [data_shapes]
    return [tuple(shape.shape if hasattr(shape, "shape") else shape) for shape in shapes]


def quantize_net_v2(
    network: Any,
    quantized_dtype: str = "auto",
    quantize_mode: str = "full",
    quantize_granularity: str = "tensor-wise",
    exclude_layers: Iterable[str] | None = None,
    exclude_layers_match: Iterable[str] | None = None,
    exclude_operators: Iterable[str] | None = None,
    calib_data: Any = None,
    data_shapes: Sequence[Any] | None = None,
    calib_mode: str | None = "none",
    num_calib_examples: int | None = None,
    ctx: Any = None,
    LayerOutputCollector: Any = None,  # noqa: N803
    logger: Any = None,
) -> Any:
    """A quantized network, as a SymbolBlock, of a hybrid one, whose parameters have values.

    Batch normalisation is folded into the convolutions before it. Where a relu alone follows a layer, and the limits
    are calibrated and `quantized_dtype` is "auto", the bytes are those of the relu: uint8.

    Args:
        exclude_layers: names of nodes that stay; exclude_layers_match: parts of such names.
        data_shapes: shapes of the inputs (descriptions of data, or tuples), where `calib_data` does not tell them.

    Others as of `quantize_model`.
    """
    from mxlite.gluon import SymbolBlock

    check(calib_mode, quantized_dtype, LayerOutputCollector)
    batches = None
    count = len(_first_shapes(data_shapes, calib_data) or [0])
    names = ["data"] if count == 1 else [f"data{i}" for i in range(count)]
    calibrates = calib_mode not in ("none", None) or LayerOutputCollector is not None
    if calibrates:
        if calib_data is None:
            raise ValueError(f"quantize_net: calib_mode {calib_mode} needs calib_data")
        batches = list(_batches(calib_data, names, num_calib_examples))
    shapes = _first_shapes(data_shapes, calib_data)
    if shapes is None and batches is None:
        raise ValueError("quantize_net: give data_shapes, or calib_data")
    if shapes:
        examples = [nd.zeros(shape) for shape in shapes]
    else:
        assert batches is not None
        examples = [batches[0][name] for name in names]
    network(*examples)  # parameters get their shapes
    inputs = [sym.Variable(name) for name in names]
    symbol = network(*inputs)
    symbol = sym.Group(list(symbol)) if isinstance(symbol, (list, tuple)) else symbol
    params = {name: each.data() for name, each in network.collect_params().items()}
    states = {name: params[name] for name in symbol.list_auxiliary_states()}
    arguments = {name: params[name] for name in symbol.list_arguments() if name in params}
    symbol, arguments, states = fold_norms(symbol, arguments, states)
    excluded = _excluded(symbol, exclude_layers, exclude_layers_match)
    _note_unknown(symbol, excluded, list(exclude_operators or ()), logger)
    words = quantized_dtype, quantize_mode, quantize_granularity

    def quantize(network: Symbol) -> tuple[Symbol, list[str]]:
        return _quantize_symbol(network, ctx, excluded, exclude_operators, list(arguments), *words)

    if batches is None:
        qsym, _ = quantize(symbol)
    else:
        activated, clips, qsym, calibrated = _quantize_clips(symbol, quantize, excluded)
        collector = LayerOutputCollector or collector_for(calib_mode, quantized_dtype, calibrated, logger)
        collect(symbol, arguments, states, calibrated, collector, batches)
        limits: Limits = limits_of(collector, quantized_dtype)
        for name in _activated(activated) if quantized_dtype == "auto" else ():
            if name in limits and limits[name][1] > 0:
                limits[name] = 0.0, limits[name][1]
        for name, high in clips.values():
            if name in limits and limits[name][1] > 0:
                limits[name] = 0.0, min(high, limits[name][1])
        qsym = _calibrate_quantized_sym(qsym, limits)
    net = SymbolBlock(qsym, inputs)
    found = {**_quantize_params(qsym, arguments), **states}
    for name, each in net.collect_params().items():
        each.grad_req = "null"
        each.cast(found[name].dtype)
        each.shape = found[name].shape
        each.initialize("zeros", ctx=cpu(), force_reinit=True)
        each.set_data(found[name])
    return net


def quantize_net(
    network: Any,
    quantized_dtype: str = "auto",
    quantize_mode: str = "full",
    exclude_layers: Iterable[str] | None = None,
    exclude_layers_match: Iterable[str] | None = None,
    exclude_operators: Iterable[str] | None = None,
    calib_data: Any = None,
    data_shapes: Sequence[Any] | None = None,
    calib_mode: str | None = "none",
    num_calib_examples: int | None = None,
    ctx: Any = None,
    logger: Any = None,
) -> Any:
    """`quantize_net_v2` with limits of whole arrays."""
    return quantize_net_v2(
        network,
        quantized_dtype,
        quantize_mode,
        exclude_layers=exclude_layers,
        exclude_layers_match=exclude_layers_match,
        exclude_operators=exclude_operators,
        calib_data=calib_data,
        data_shapes=data_shapes,
        calib_mode=calib_mode,
        num_calib_examples=num_calib_examples,
        ctx=ctx,
        logger=logger,
    )
