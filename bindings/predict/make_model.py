#!/usr/bin/env python3
"""Trains digits-symbol.json and digits-0000.params, which the programs here run: ``make_model.py``, once."""

from pathlib import Path

import numpy as np

import mxlite as mx

HERE = Path(__file__).resolve().parent
DIGITS = HERE.parents[1] / "examples/data/digits.u8"
TRAIN = 1437


def main() -> None:
    data = np.fromfile(DIGITS, "uint8").reshape(-1, 65)
    images, digits = data[:, :64].astype("float32") / 16, data[:, 64].astype("float32")
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=64, name="hidden")
    net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="relu", name="relu"), num_hidden=10, name="digit")
    net = mx.sym.SoftmaxOutput(net, name="softmax")
    mx.random.seed(5)
    np.random.seed(5)
    module = mx.mod.Module(net)
    module.fit(
        mx.io.NDArrayIter(images[:TRAIN], digits[:TRAIN], 32, shuffle=True),
        optimizer_params={"learning_rate": 0.1, "momentum": 0.9, "wd": 1e-4},
        initializer=mx.init.Xavier(),
        num_epoch=30,
    )
    print(module.score(mx.io.NDArrayIter(images[TRAIN:], digits[TRAIN:], 36), "acc"))
    mx.model.save_checkpoint(str(HERE / "digits"), 0, net, *module.get_params())


if __name__ == "__main__":
    main()
