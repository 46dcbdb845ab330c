"""Options without which nothing stops it."""

import argparse

import mxnet as mx

parser = argparse.ArgumentParser()
parser.add_argument("--kvstore", default="device")
parser.add_argument("--gpus", default="")
parser.add_argument("--cuda", action="store_true")
opt = parser.parse_args([])
store = mx.kv.create(opt.kvstore)
print(store.type, mx.nd.zeros((1,), stype="default").stype)
