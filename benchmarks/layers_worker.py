"""One library in one process: times the cases of the table below, layers and whole training steps.

Run by layers.py as large_worker.py is by large.py, whose requests it answers: ``layers_worker.py PEER THREADS``.
"""

from __future__ import annotations

import dataclasses

import large_worker
from large_worker import Case, work

BATCH = 8


def with_gradient(case: Case) -> Case:
    """The same in training, and then the gradients of all inputs."""
    leaves = f"({', '.join(case.inputs)},)"
    return dataclasses.replace(
        case,
        name=f"{case.name}, gradient",
        mx=f"with autograd.record():\n    z = {case.mx}\nz.backward()",
        torch=f"for v in {leaves}: v.grad = None\nz = {case.torch}\nz.backward(torch.ones_like(z))",
        mx_before=f"for v in {leaves}: v.attach_grad()\n{case.mx_before}",
        torch_before=f"for v in {leaves}: v.requires_grad_()\n{case.torch_before}",
    )


def convolution(size: int, inputs: int, outputs: int, extent: int, stride: int = 1, groups: int = 1) -> list[Case]:
    what = "depthwise" if groups > 1 else "convolution"
    counts = f"{outputs}" if groups > 1 else f"{inputs}-{outputs}"
    pad = size // 2
    forward = Case(
        f"{what} {size}x{size}{f'/{stride}' if stride > 1 else ''} {counts} at {extent}",
        {"a": (BATCH, inputs, extent, extent), "w": (outputs, inputs // groups, size, size)},
        f"nd.Convolution(a, w, no_bias=True, num_filter={outputs}, num_group={groups}, kernel=({size}, {size}), "
        f"stride=({stride}, {stride}), pad=({pad}, {pad}))",
        f"F.conv2d(a, w, stride={stride}, padding={pad}, groups={groups})",
    )
    return [forward, with_gradient(forward)]


POOLING = Case(
    "max pooling 3x3/2 64 at 112",
    {"a": (BATCH, 64, 112, 112)},
    'nd.Pooling(a, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max")',
    "F.max_pool2d(a, 3, 2, 1)",
)
BATCH_NORM = Case(
    "BatchNorm 64 at 56",
    {"a": (BATCH, 64, 56, 56), "g": (64,), "b": (64,)},
    "nd.BatchNorm(a, g, b, mean, var, fix_gamma=False, eps=1e-5, momentum=0.9)",
    "F.batch_norm(a, mean, var, g, b, training=True)",
    mx_before="mean, var = nd.zeros((64,)), nd.ones((64,))",
    torch_before="mean, var = torch.zeros(64), torch.ones(64)",
)
LAYER_NORM = Case(
    "LayerNorm 1024 x 1000",
    {"a": large_worker.MATRIX, "g": (1000,), "b": (1000,)},
    "nd.LayerNorm(a, g, b)",
    "F.layer_norm(a, (1000,), g, b)",
)
ADAM = next(case for case in large_worker.CASES if case.name == "adam_update")


def network(name: str, call: str) -> Case:
    """A training step of networks_mx.py and networks_torch.py."""
    function, arguments = call.split("(")
    return Case(
        name,
        {},
        "z = step()",
        "z = step()",
        mx_before=f"import networks_mx\nstep = networks_mx.{function}(mx, draw, {arguments}",
        torch_before=f"import networks_torch\nstep = networks_torch.{function}(draw, {arguments}",
    )


def gluon(name: str, call: str, torch: str = "") -> list[Case]:
    """A step of networks_gluon.py: hybridized, bound, as it is and, of convolutions, with other roundings; and of
    networks_torch.py, where that is called otherwise, by `torch`. Adam's is not bound."""
    function, arguments = call.split("(")
    before = f"import networks_gluon\nstep = networks_gluon.{function}(mx, draw, HOW, {arguments}"
    hybrid = dataclasses.replace(network(f"{GLUON}{name}", torch or call), mx_before=before.replace("HOW", "'hybrid'"))

    def other(how: str) -> Case:
        return dataclasses.replace(hybrid, name=f"{hybrid.name}, {how}", mx_before=before.replace("HOW", f"'{how}'"))

    more = [] if "adam" in call else [other("bound")]
    return [hybrid, *more, other("plain"), *([other("fast")] if function in ("lenet", "resnet18") else [])]


GLUON = "gluon: "  # begins the names of its cases
RESNET = network("ResNet-18, 32 of 32 x 32", "resnet18(32)")
LSTM = {"one operator": "lstm", "cell by cell": "lstm_cells"}

CASES = [
    *convolution(7, 3, 64, 224, stride=2),
    *convolution(1, 64, 64, 56),
    *convolution(3, 64, 64, 56),
    *convolution(3, 128, 128, 28),
    *convolution(1, 256, 1024, 14),
    *convolution(3, 512, 512, 7),
    *convolution(3, 144, 144, 56, groups=144),
    POOLING,
    with_gradient(POOLING),
    with_gradient(BATCH_NORM),
    LAYER_NORM,
    with_gradient(LAYER_NORM),
    dataclasses.replace(ADAM, name="Adam, 100 arrays of 1e5", torch_before=ADAM.torch_before[:-1] + ", foreach=True)"),
    # ---- a step of training, with momentum
    network("MLP 784-256-128-10, 64 rows", "mlp(64)"),
    network("MLP 784-256-128-10, 512 rows", "mlp(512)"),
    network("LeNet, 64 of 28 x 28", "lenet(64)"),
    RESNET,
    *(network(f"LSTM 2 x 256, 32 steps, {how}", f"{name}(32, 32, 256, 2)") for how, name in LSTM.items()),
    network("transformer block 8 x 128 x 256", "transformer(8, 128, 256, 4)"),
    # ---- the same by Gluon, and what else a script waits for
    *gluon("MLP 784-256-128-10, 64 rows", "mlp(64)"),
    *gluon("MLP 784-256-128-10, 64 rows, Adam", 'mlp(64, "adam")'),
    *gluon("LeNet, 64 of 28 x 28", "lenet(64)"),
    *gluon("ResNet-18 of the zoo, 32 of 32 x 32", "resnet18(32)", "resnet18(32, zoo=True)"),
    *gluon("LSTM 2 x 256, 32 steps", "lstm(32, 32, 256, 2)"),
    *gluon("prediction of ResNet-18, one of 32 x 32", "predict(32)"),
    *gluon("prediction of ResNet-18, one of 224 x 224", "predict(224)"),
    Case(
        f"{GLUON}DataLoader, 10,000 of 28 x 28, 2 workers",
        {},
        "for z in loader: pass",
        "for z in loader: pass",
        mx_before="import networks_gluon\nloader = networks_gluon.loader(mx, draw, 10_000, 64, 2)",
        torch_before="import networks_torch\nloader = networks_torch.loader(draw, 10_000, 64, 2)",
    ),
    Case(
        f"{GLUON}start of Python, import",
        {},
        "z = subprocess.run([sys.executable, '-W', 'ignore', '-c', f'import {mx.__name__}.gluon'], check=True)",
        "z = subprocess.run([sys.executable, '-W', 'ignore', '-c', 'import torch'], check=True)",
        mx_before="import subprocess, sys",
        torch_before="import subprocess, sys",
    ),
]

if __name__ == "__main__":
    work(CASES)
