"""Names that few programs use: BucketingModule.load_dict, MXDataIter.debug_skip_load, tables of the model zoo, ..."""

from __future__ import annotations

import importlib
import os

import numpy as np
from _case import case

from gluon_cases._parts import array, signature


def _network_of(mx, scale):
    def network(key):
        data = mx.sym.sum(mx.sym.var("data") * scale, axis=1, keepdims=True)
        out = mx.sym.FullyConnected(data, num_hidden=1, name="f", no_bias=True)
        return mx.sym.LinearRegressionOutput(out, mx.sym.var("label"), name="o"), ["data"], ["label"]

    return network


def _outputs(mx, module, key):
    data, label = [("data", (2, key))], [("label", (2, 1))]
    batch = mx.io.DataBatch([mx.nd.ones((2, key))], [mx.nd.ones((2, 1))], 0, None, key, data, label)
    module.forward(batch, is_train=False)
    return module.get_outputs()[0].asnumpy()


@case
def a_module_of_symbols_and_parameters(mx):
    """The key that is given has its symbol, another one what sym_gen makes."""
    weights = {"f_weight": array(mx, (1, 1), 1)}
    symbols = {2: _network_of(mx, 10)(2)[0]}
    module = mx.mod.BucketingModule.load_dict(symbols, _network_of(mx, 1), 2, weights, {}, context=mx.cpu())
    before = module.params_initialized, module.binded, module.get_params()
    module.bind([("data", (2, 2))], [("label", (2, 1))], for_training=False)
    return before, [_outputs(mx, module, key) for key in (2, 3, 2)], module.get_params()


@case(missing=["sym_dict", "default_bucket_key", "arg_params", "aux_params"])
def modules_of_too_little(mx, missing):
    given = {"sym_dict": {}, "default_bucket_key": 2, "arg_params": {}, "aux_params": {}, "sym_gen": _network_of(mx, 1)}
    del given[missing]
    mx.mod.BucketingModule.load_dict(**given)


@case
def signatures(mx):
    owner = mx.mod.BucketingModule
    return [signature(getattr(owner, name)) for name in ("load", "load_dict")]


def _lines(mx, folder, **given):
    path = os.path.join(folder, "lines.csv")
    np.savetxt(path, np.arange(12).reshape(6, 2), delimiter=",")
    return mx.io.CSVIter(data_csv=path, data_shape=(2,), batch_size=2, **given)


@case(taken=[0, 1])
def batches_that_stay(mx, folder, taken):
    source = _lines(mx, folder)
    for _ in range(taken):
        source.next()
    source.debug_skip_load()
    return [source.next().data[0] for _ in range(5)]


@case
def contexts_of_a_symbol(mx):
    """1.9.1 fails where the block has run."""
    dense, x = mx.gluon.nn.Dense(2, in_units=3, prefix="d_"), mx.sym.var("x")
    dense.initialize()
    block = mx.gluon.SymbolBlock(dense(x), x, params=dense.collect_params())
    found = []
    for ctx in (mx.cpu(1), [mx.cpu(0), mx.cpu(1)]):
        block.reset_ctx(ctx)
        found.append([[str(each) for each in one.list_ctx()] for _, one in sorted(block.collect_params().items())])
    return found


@case
def features(mx):
    kind = mx.runtime.Features
    found = kind()
    return kind() is found, kind.instance is found, list(found)


@case
def registered_errors(mx):
    class Own(mx.base.MXNetError):
        pass

    return mx.error.register(Own) is Own, mx.error.register("Other", ValueError) is ValueError


@case
def tables_of_networks(mx):
    zoo = mx.gluon.__name__ + ".model_zoo.vision."
    resnet, vgg, densenet = (importlib.import_module(zoo + name) for name in ("resnet", "vgg", "densenet"))
    kinds = [{kind: each.__name__ for kind, each in some.items()} for some in resnet.resnet_block_versions]
    networks = [each.__name__ for each in resnet.resnet_net_versions]
    specs = [{str(depth): each for depth, each in found.items()} for found in (vgg.vgg_spec, densenet.densenet_spec)]
    return {str(depth): each for depth, each in resnet.resnet_spec.items()}, kinds, networks, specs
