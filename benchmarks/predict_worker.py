"""One engine in one process: predicts with the networks of predict.py, one line in, one line out.

Run by predict.py under the interpreter that has it: ``predict_worker.py PEER FOLDER THREADS`` with PEER one of mxlite,
mxnet, torch, compile, onnxruntime, openvino. Each request is ``NAME BATCH COUNT``, each answer the nanoseconds of a
prediction, or ``nan`` where the engine has no such network. Results are read. The first line is the version.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, Callable

import numpy as np
from predict_networks import HEADS, LAYERS, SIZE, shape_of

Predict = Callable[[], Any]
PEER, FOLDER, THREADS = sys.argv[1], sys.argv[2], int(sys.argv[3])


def _gluon(mx: Any, path: str, x: Any) -> Predict:
    names = [each["name"] for each in json.load(open(f"{path}-symbol.json"))["nodes"] if each["op"] == "null"]
    inputs = [name for name in names if name.startswith("data") or "begin_state" in name]
    net = mx.gluon.SymbolBlock.imports(f"{path}-symbol.json", inputs, f"{path}-0000.params")
    net.hybridize(static_alloc=True, static_shape=True)
    given = [mx.nd.array(x), *(mx.nd.zeros((2, x.shape[1], 512)) for _ in inputs[1:])]

    def read() -> Any:
        out = net(*given)
        return (out[0] if isinstance(out, (list, tuple)) else out).asnumpy()

    return read


def _onnxruntime(path: str, x: Any) -> Predict:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(f"{path}.onnx", options)
    given = {each.name: np.zeros((2, x.shape[1], 512), "float32") for each in session.get_inputs()}
    given[session.get_inputs()[0].name] = x
    return lambda: session.run(None, given)[0]


def _openvino(path: str, x: Any) -> Predict:
    """In float32: without the hint it computes in bfloat16 where the processor can."""
    import openvino

    model = openvino.Core().read_model(f"{path}.onnx")
    shapes = dict.fromkeys(model.inputs, (2, x.shape[1], 512))
    shapes[model.inputs[0]] = x.shape
    model.reshape(shapes)
    hints = {"INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.Core().compile_model(model, "CPU", hints)
    given = [x, *(np.zeros((2, x.shape[1], 512), "float32") for _ in model.inputs[1:])]
    return lambda: compiled(given)[compiled.output(0)]


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.strip("()[] ").split(",") if each.strip()]


def _torch_node(torch: Any, op: str, attrs: dict[str, str], inputs: list[Any]) -> Any:
    """What a node of a network of the model zoo computes, in PyTorch."""
    F = torch.nn.functional  # noqa: N806
    window = {key: _numbers(attrs[key]) for key in ("kernel", "stride", "pad") if key in attrs}
    if op == "Convolution":
        bias = inputs[2] if len(inputs) > 2 else None
        groups = int(attrs.get("num_group", 1))
        return F.conv2d(inputs[0], inputs[1], bias, window["stride"], window["pad"], groups=groups)
    if op == "BatchNorm":
        x, gamma, beta, mean, variance = inputs
        return F.batch_norm(x, mean, variance, gamma, beta, eps=float(attrs["eps"]))
    if op == "Pooling" and attrs.get("global_pool") == "True":
        return F.adaptive_avg_pool2d(inputs[0], 1)
    if op == "Pooling":
        return F.max_pool2d(inputs[0], window["kernel"], window["stride"], window["pad"])
    if op == "FullyConnected":
        return F.linear(inputs[0].flatten(1), inputs[1], inputs[2] if len(inputs) > 2 else None)
    simple = {
        "Activation": lambda: F.relu(inputs[0]),
        "clip": lambda: inputs[0].clamp(float(attrs["a_min"]), float(attrs["a_max"])),
        "elemwise_add": lambda: inputs[0] + inputs[1],
        "Flatten": lambda: inputs[0].flatten(1),
    }
    return simple[op]()


def _torch_zoo(torch: Any, path: str) -> Callable[[Any], Any]:
    graph = json.load(open(f"{path}-symbol.json"))
    arrays = dict(np.load(f"{path}.npz"))
    parameters = {name: torch.from_numpy(value) for name, value in arrays.items()}

    def forward(x: Any) -> Any:
        made: list[Any] = []
        for node in graph["nodes"]:
            if node["op"] == "null":
                made.append(x if node["name"] == "data" else parameters[node["name"]])
            else:
                inputs = [made[entry[0]] for entry in node["inputs"]]
                made.append(_torch_node(torch, node["op"], node.get("attrs", {}), inputs))
        return made[graph["heads"][0][0]]

    return forward


def _torch(path: str, x: Any) -> Predict:
    import torch

    torch.set_num_threads(THREADS)
    name, data = os.path.basename(path), torch.from_numpy(x)
    if name == "lstm":
        net: Any = torch.nn.LSTM(512, 512, 2)
    elif name.startswith("bert"):
        layer = torch.nn.TransformerEncoderLayer(SIZE, HEADS, 4 * SIZE, activation="gelu", batch_first=True)
        net = torch.nn.TransformerEncoder(layer, LAYERS).eval()
    else:
        net = _torch_zoo(torch, path)
    if PEER == "compile":
        net = torch.compile(net)

    def read() -> Any:
        with torch.inference_mode():
            out = net(data)
        return (out[0] if isinstance(out, tuple) else out).numpy()

    return read


def prepare(name: str, batch: int) -> Predict:
    """A call of a network, after some that are not counted."""
    path = os.path.join(FOLDER, name)
    x = np.random.RandomState(0).standard_normal(shape_of(name, batch)).astype("float32")
    if PEER in ("mxlite", "mxnet"):
        predict = _gluon(__import__(PEER), path, x)
    else:
        predict = {"onnxruntime": _onnxruntime, "openvino": _openvino}.get(PEER, _torch)(path, x)
    for _ in range(3):
        predict()
    return predict


def main() -> None:
    module = {"compile": "torch"}.get(PEER, PEER)
    print(__import__(module).__version__, flush=True)
    calls: dict[tuple[str, int], Predict] = {}
    for line in sys.stdin:
        name, batch, count = line.split()
        key = (name, int(batch))
        if key not in calls:
            calls.clear()
            calls[key] = prepare(*key)
        begin = time.perf_counter()
        for _ in range(int(count)):
            calls[key]()
        print((time.perf_counter() - begin) / int(count) * 1e9, flush=True)


if __name__ == "__main__":
    main()
