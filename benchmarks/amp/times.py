"""Times networks of the model zoo in float32, bfloat16 and int8: processor time, the least of some runs.

MXLITE_NUM_THREADS=1 python benchmarks/amp/times.py [--batch 1] [--runs 25] [resnet18_v1 resnet50_v1 ...]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import mxlite as mx
from mxlite.contrib import amp, quantization
from mxlite.gluon.model_zoo import vision


def least(net: Any, x: Any, runs: int) -> float:
    """Milliseconds of the fastest call."""
    net.hybridize(static_alloc=True, static_shape=True)
    net(x).wait_to_read()
    found = []
    for _ in range(runs):
        begin = time.process_time()
        net(x).wait_to_read()
        found.append(time.process_time() - begin)
    return 1e3 * min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("networks", nargs="*", default=["resnet18_v1", "resnet50_v1", "mobilenet_v2_1_0"])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--runs", type=int, default=25)
    given = parser.parse_args()
    x = mx.nd.array(np.random.RandomState(0).rand(given.batch, 3, 224, 224))
    for name in given.networks:
        net = getattr(vision, name)()
        net.initialize(mx.init.Xavier())
        net.hybridize()
        net(x)
        low = amp.convert_hybrid_block(net, "bfloat16")
        small = quantization.quantize_net(net, calib_mode="naive", calib_data=[x])
        a, b = net(x).asnumpy().ravel(), small(x).asnumpy().ravel()
        least_of = {"float32": net, "bfloat16": low, "int8": small}
        times = ", ".join(f"{key} {least(each, x, given.runs):.2f} ms" for key, each in least_of.items())
        print(f"{name}, batch {given.batch}: {times}, correlation {np.corrcoef(a, b)[0, 1]:.4f}")


if __name__ == "__main__":
    main()
