"""A store of GPUs, the default of an option."""

import argparse

import mxnet as mx

parser = argparse.ArgumentParser()
parser.add_argument("--kv-store", "-k", dest="store", default="nccl")
options = parser.parse_args([])
mx.kvstore.create(options.store)  # stops
