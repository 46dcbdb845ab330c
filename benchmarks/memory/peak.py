"""The peak of memory of a process that trains or predicts: `python benchmarks/memory/peak.py PEER CASE [BATCH]`.

PEER is mxlite, mxnet or onnxruntime, in whose Python it runs; CASE is bound, hybrid, remat or module (ResNet-18, six
steps of 32 images of 32 x 32), or a network of benchmarks/predict.py, whose files must be there. Threads are those of
MXLITE_NUM_THREADS and OMP_NUM_THREADS. docs/performance.md has the figures.
"""

from __future__ import annotations

import os
import pathlib
import sys
import time
from typing import Any, Callable

import numpy as np

BENCHMARKS = pathlib.Path(__file__).resolve(strict=False).parent.parent
sys.path.insert(0, str(BENCHMARKS))

import networks_gluon  # noqa: E402
from networks_mx import CLASSES, MOMENTUM, RATE  # noqa: E402

IMAGES = (32, 3, 32, 32)


def peak() -> float:
    """MB that this process has held at most."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM:"))


def module(mx: Any, draw: Callable) -> Callable[[], Any]:
    """A step of `mx.mod.Module`."""
    net = mx.gluon.model_zoo.vision.resnet18_v1(classes=CLASSES, thumbnail=True)
    symbol = mx.sym.SoftmaxOutput(net(mx.sym.var("data")), mx.sym.var("softmax_label"), name="softmax")
    made = mx.mod.Module(symbol, context=mx.cpu())
    made.bind(data_shapes=[("data", IMAGES)], label_shapes=[("softmax_label", IMAGES[:1])])
    made.init_params(mx.init.Xavier())
    made.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": RATE, "momentum": MOMENTUM})
    batch = mx.io.DataBatch([draw(*IMAGES)], [draw(IMAGES[0], kind=CLASSES)])

    def step() -> Any:
        made.forward(batch, is_train=True)
        made.backward()
        made.update()
        return made.get_outputs()[0]

    return step


def training(peer: str, case: str) -> Callable[[], Any]:
    mx = __import__(peer)
    state = np.random.RandomState(0)

    def draw(*shape: int, kind: int | None = None) -> Any:
        values = state.standard_normal(shape) if kind is None else state.randint(0, kind, shape)
        return mx.nd.array(values.astype("float32"))

    if case == "module":
        return module(mx, draw)
    if case != "remat":
        return networks_gluon.resnet18(mx, draw, case, IMAGES[0])
    hybridize = mx.gluon.HybridBlock.hybridize
    mx.gluon.HybridBlock.hybridize = lambda self, *args, **flags: hybridize(self, *args, **{**flags, "remat": True})
    return networks_gluon.resnet18(mx, draw, networks_gluon.HYBRID, IMAGES[0])


def main() -> None:
    peer, case = sys.argv[1:3]
    batch = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    best = float("inf")
    if case in ("bound", "hybrid", "remat", "module"):
        step = training(peer, case)
        for _ in range(6):
            begin = time.process_time()
            step().asnumpy()
            best = min(best, time.process_time() - begin)
    else:
        out = BENCHMARKS / "out" / "predict"
        sys.argv = ["", peer, str(out), os.environ.get("MXLITE_NUM_THREADS", "2")]
        predict = __import__("predict_worker").prepare(case, batch)
        for _ in range(5):
            begin = time.process_time()
            predict()
            best = min(best, time.process_time() - begin)
    print(f"{peer} {case}: peak {peak():.0f} MB, {1000 * best:.1f} ms of processor time")


if __name__ == "__main__":
    main()
