"""What quantized networks compute otherwise: batch normalisation within convolutions, and clip within limits."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import mxlite.symbol as sym
from mxlite.contrib.quantization._calibrate import Arrays
from mxlite.symbol.symbol import Symbol

Nodes = list[dict[str, Any]]


def _readers(graph: dict[str, Any]) -> list[list[int]]:
    """The nodes that read each node; -1 for an output of the graph."""
    readers: list[list[int]] = [[] for _ in graph["nodes"]]
    for i, node in enumerate(graph["nodes"]):
        for entry in node["inputs"]:
            readers[entry[0]].append(i)
    for entry in graph["heads"]:
        readers[entry[0]].append(-1)
    return readers


def _fold(norm: dict[str, Any], layer: dict[str, Any], nodes: Nodes, arguments: Arrays, states: Arrays) -> bool:
    """Puts a normalisation's numbers into the convolution before it; False: parameters are missing."""
    names = [nodes[entry[0]]["name"] for entry in norm["inputs"][1:]]
    weight = nodes[layer["inputs"][1][0]]["name"]
    attrs = norm.get("attrs", {})
    if not {weight, *names[:2]} <= arguments.keys() or not set(names[2:]) <= states.keys():
        return False
    gamma, beta, mean, variance = arguments[names[0]], arguments[names[1]], states[names[2]], states[names[3]]
    scale = 1 / (variance + float(attrs.get("eps", 1e-3))).sqrt()
    if attrs.get("fix_gamma", "True") in ("False", "0"):
        scale = scale * gamma
    arguments[weight] = arguments[weight] * scale.reshape((-1,) + (1,) * (arguments[weight].ndim - 1))
    bias = beta - mean * scale
    if len(layer["inputs"]) > 2:
        name = nodes[layer["inputs"][2][0]]["name"]
        bias = bias + arguments[name] * scale
    else:
        name = f"{layer['name']}_bias"
        layer["attrs"]["no_bias"] = "False"
        layer["new_bias"] = name
    arguments[name] = bias
    return True


def fold_norms(symbol: Symbol, arg_params: Arrays, aux_params: Arrays) -> tuple[Symbol, Arrays, Arrays]:
    """The network with batch normalisation, by the moving statistics, folded into the convolutions before it.

    A convolution must be read by the normalisation alone, and its weight by the convolution alone; others stay.
    """
    graph = json.loads(symbol.tojson())
    nodes, readers = graph["nodes"], _readers(graph)
    arguments, states, instead = dict(arg_params), dict(aux_params), {}
    for i, node in enumerate(nodes):
        if node["op"] != "BatchNorm" or int(node.get("attrs", {}).get("axis", 1)) != 1:
            continue
        source = node["inputs"][0][0]
        layer = nodes[source]
        alone = layer["op"] == "Convolution" and readers[source] == [i]
        if (
            alone
            and all(len(readers[e[0]]) == 1 for e in layer["inputs"][1:])
            and _fold(node, layer, nodes, arguments, states)
        ):
            instead[i] = source
    made: Nodes = []
    places: dict[int, int] = {}
    for i, node in enumerate(nodes):
        if i in instead:
            places[i] = places[instead[i]]
            continue
        if "new_bias" in node:
            made.append({"op": "null", "name": node.pop("new_bias"), "inputs": []})
            bias = [[len(made) - 1, 0, 0]]
        else:
            bias = []
        node["inputs"] = [[places[e[0]], *e[1:]] for e in node["inputs"]] + bias
        places[i] = len(made)
        made.append(node)
    graph["nodes"] = made
    graph["heads"] = [[places[e[0]], *e[1:]] for e in graph["heads"]]
    graph["arg_nodes"] = [i for i, node in enumerate(made) if node["op"] == "null"]
    graph.pop("node_row_ptr", None)
    folded = sym.load_json(json.dumps(graph))
    kept = folded.list_arguments()
    return (
        folded,
        {name: arguments[name] for name in kept if name in arguments},
        {name: states[name] for name in folded.list_auxiliary_states()},
    )


#: The layers, and sums, whose bytes get limits by calibration.
_LIMITED = ("Convolution", "FullyConnected", "elemwise_add", "_Plus", "_plus", "_add")


def relu_for_clip(symbol: Symbol, left: Iterable[str] = ()) -> tuple[Symbol, dict[str, tuple[str, float]]]:
    """The network with relu in the place of each clip from 0 on (relu6) that alone reads a layer, and of `relu` nodes.

    relu has a form for bytes. It is a clip if the layer's bytes end at the clip's upper limit: returns these limits by
    the names of the clips, with the names of the layers' outputs. Clips named in `left` stay.
    """
    graph = json.loads(symbol.tojson())
    nodes, readers = graph["nodes"], _readers(graph)
    limits: dict[str, tuple[str, float]] = {}
    for i, node in enumerate(nodes):
        if node["op"] == "clip" and node["name"] not in left:
            source, low, high = node["inputs"][0][0], float(node["attrs"]["a_min"]), float(node["attrs"]["a_max"])
            if low != 0 or high <= 0 or readers[source] != [i] or nodes[source]["op"] not in _LIMITED:
                continue
            limits[node["name"]] = f"{nodes[source]['name']}_output", high
        elif node["op"] != "relu":
            continue
        node["op"], node["attrs"] = "Activation", {"act_type": "relu"}
    return sym.load_json(json.dumps(graph)), limits
