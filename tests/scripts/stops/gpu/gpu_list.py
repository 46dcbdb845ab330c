"""A network on the GPUs that an option counts; its default is two."""

import argparse

import mxnet as mx
from mxnet.gluon import nn

parser = argparse.ArgumentParser()
parser.add_argument("--num-gpus", type=int, default=2)
args = parser.parse_args([])


def contexts(count):
    return [mx.gpu(i) for i in range(args.num_gpus)] if args.num_gpus > 0 else [mx.cpu()]  # told


def main():
    net = nn.Dense(3, in_units=2)
    net.initialize(mx.init.Xavier(), ctx=contexts(args.num_gpus))  # raised


if __name__ == "__main__":
    main()
