"""Modules that train sparse weights, in the style of 1.9.1's sparse examples: linear classification of LibSVM data,
matrix factorization, a factorization machine, wide and deep."""

import os
import tempfile

from kit import area, each, mx, np, numbers

area("sparse training")
FEATURES, SIZE = 300, 50


def libsvm(folder, name, count, seed):
    """Lines of one to seven features whose sum under a hidden weight gives the label; the file's path."""
    draw, weight, lines = np.random.RandomState(seed), np.random.RandomState(9).randn(FEATURES), []
    for _ in range(count):
        at = np.sort(draw.choice(FEATURES, draw.randint(1, 8), replace=False))
        values = draw.rand(len(at)).round(3)
        features = " ".join(f"{i}:{v:g}" for i, v in zip(at, values))
        lines.append(f"{int((weight[at] * values).sum() > 0)} {features}")
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def rows(name, *shape):
    return mx.sym.var(name, shape=shape, stype="row_sparse", init=mx.init.Normal(0.01))


def bound(symbol, data, **names):
    """A module with parameters that both processes have."""
    module = mx.mod.Module(symbol, **names)
    module.bind(data_shapes=data.provide_data, label_shapes=data.provide_label)
    module.init_params(mx.init.Normal(0.01))
    args, aux = module.get_params()
    for i, name in enumerate(sorted(args)):
        given = numbers(*args[name].shape, seed=i, low=-0.1, high=0.1)
        args[name] = mx.nd.array(given).tostype(args[name].stype)
    module.set_params(args, aux)
    return module


def trained(module, data, metric, store=None, pulled=()):
    """Three epochs: the metric after each, and the parameters with their storage types. `pulled`: the weights of which
    the store gives the rows of each batch."""
    found, metric = [], mx.metric.create(metric)
    arrays = {name: module._exec_group.param_arrays[module._exec_group.param_names.index(name)] for name in pulled}
    for _ in range(3):
        metric.reset()
        data.reset()
        for batch in data:
            for name, array in arrays.items():
                store.row_sparse_pull(name, array, row_ids=[batch.data[0].indices])
            module.forward_backward(batch)
            module.update()
            module.update_metric(metric, batch.label)
        found.append(metric.get())
    for name, array in arrays.items():
        store.row_sparse_pull(name, array, row_ids=[mx.nd.arange(0, FEATURES, dtype="int64")])
    args, _ = module.get_params()
    return found, {name: (args[name].stype, args[name]) for name in sorted(args)}


@mx.operator.register("weighted_loss")
class WeightedLossProp(mx.operator.CustomOpProp):
    def __init__(self, weight):
        super().__init__(need_top_grad=False)
        self.weight = float(weight)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, shapes):
        return shapes, [shapes[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        weight = self.weight

        class WeightedLoss(mx.operator.CustomOp):
            def forward(self, is_train, req, in_data, out_data, aux):
                self.assign(out_data[0], req[0], mx.nd.softmax(in_data[0]))

            def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
                scale = (1 + weight * in_data[1]).reshape((-1, 1))
                self.assign(in_grad[0], req[0], scale * (out_data[0] - mx.nd.one_hot(in_data[1], 2)))

        return WeightedLoss()


def linear(_, optimizer, by_store):
    weight, bias = rows("weight", FEATURES, 2), mx.sym.var("bias", shape=(2,))
    scores = mx.sym.broadcast_add(mx.sym.sparse.dot(mx.sym.var("data", stype="csr"), weight), bias)
    symbol = mx.sym.Custom(scores, mx.sym.var("softmax_label"), op_type="weighted_loss", weight=2)
    store = mx.kv.create("local") if by_store else None
    with tempfile.TemporaryDirectory() as folder:
        data = mx.io.LibSVMIter(data_libsvm=libsvm(folder, "a", 400, 1), data_shape=(FEATURES,), batch_size=SIZE)
        other = mx.io.LibSVMIter(data_libsvm=libsvm(folder, "b", 100, 2), data_shape=(FEATURES,), batch_size=SIZE)
        module = bound(symbol, data)
        module.init_optimizer(store, mx.optimizer.create(optimizer, learning_rate=0.1, rescale_grad=1 / SIZE))
        answer = trained(module, data, "nll_loss", store, ["weight"] if by_store else [])
        prefix = os.path.join(folder, "check")
        module.save_checkpoint(prefix, 2, save_optimizer_states=True)
        loaded = mx.model.load_checkpoint(prefix, 2)[1]
        return answer, module.score(other, "nll_loss"), {name: (loaded[name].stype, loaded[name]) for name in loaded}


def factorization(_):
    users, items, width = 300, 200, 8
    draw = np.random.RandomState(3)
    data = {"user": draw.randint(0, users, 512), "item": draw.randint(0, items, 512)}
    data = mx.io.NDArrayIter(data, {"score": numbers(512)}, SIZE)
    sides = []
    for name, count in (("user", users), ("item", items)):
        weight = mx.sym.var(name + "_weight", stype="row_sparse")
        found = mx.sym.contrib.SparseEmbedding(mx.sym.var(name), weight, count, width, deterministic=True)
        sides.append(mx.sym.FullyConnected(mx.sym.Activation(found, act_type="relu"), num_hidden=width))
    scores = mx.sym.Flatten(mx.sym.sum(sides[0] * sides[1], axis=1))
    symbol = mx.sym.LinearRegressionOutput(scores, mx.sym.var("score"))
    module = bound(symbol, data, data_names=["user", "item"], label_names=["score"])
    settings = {"learning_rate": 0.1, "momentum": 0.9, "wd": 1e-4, "rescale_grad": 1 / SIZE}
    module.init_optimizer(optimizer=mx.optimizer.create("sgd", **settings))
    return trained(module, data, "mse")


def machine(_):
    x, v, w = mx.sym.var("data", stype="csr"), rows("v", FEATURES, 4), rows("w", FEATURES, 1)
    alone = mx.sym.broadcast_add(mx.sym.dot(x, w), mx.sym.var("w0", shape=(1,), init=mx.init.Zero()))
    together = 0.5 * mx.sym.square(mx.sym.dot(x, v))
    itself = mx.sym.dot(x.square(), mx.sym._internal._square_sum(v, axis=1, keepdims=True))
    total = mx.sym.Concat(alone, together, dim=1).sum(axis=1, keepdims=True) - 0.5 * itself
    symbol = mx.sym.LogisticRegressionOutput(total, mx.sym.var("softmax_label"))
    store = mx.kv.create("local")
    with tempfile.TemporaryDirectory() as folder:
        data = mx.io.LibSVMIter(data_libsvm=libsvm(folder, "a", 300, 3), data_shape=(FEATURES,), batch_size=SIZE)
        module = bound(symbol, data)
        module.init_optimizer(store, "adam", (("learning_rate", 0.01), ("wd", 1e-4)))
        return trained(module, data, "mse", store, ["v", "w"])


def wide_and_deep(_, optimizer):
    draw, sizes, width = np.random.RandomState(4), [50, 30], 4
    given = (draw.rand(400, FEATURES) < 0.02) * draw.rand(400, FEATURES)
    dense = np.concatenate([np.stack([draw.randint(0, each, 400) for each in sizes], 1), draw.randn(400, 5)], 1)
    data = {"wide": mx.nd.array(given).tostype("csr"), "deep": mx.nd.array(dense)}
    labels = mx.nd.array(draw.randint(0, 2, 400))
    data = mx.io.NDArrayIter(data, {"softmax_label": labels}, SIZE, last_batch_handle="discard")
    scores = mx.sym.sparse.dot(mx.sym.var("wide", stype="csr"), rows("weight", FEATURES, 2))
    deep = mx.sym.var("deep")
    columns = mx.sym.split(mx.sym.slice(deep, begin=(0, 0), end=(None, 2)), num_outputs=2, squeeze_axis=1)
    parts = [mx.sym.slice(deep, begin=(0, 2), end=(None, 7))]
    for i, size in enumerate(sizes):
        weight = mx.sym.var(f"embedding{i}_weight", stype="row_sparse")
        parts.append(mx.sym.contrib.SparseEmbedding(columns[i], weight, size, width))
    hidden = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.concat(*parts, dim=1), num_hidden=8), act_type="relu")
    symbol = mx.sym.SoftmaxOutput(scores + mx.sym.FullyConnected(hidden, num_hidden=2), mx.sym.var("softmax_label"))
    module = bound(symbol, data, data_names=["wide", "deep"])
    module.init_optimizer(optimizer=mx.optimizer.create(optimizer, learning_rate=0.01, rescale_grad=1 / SIZE))
    return trained(module, data, "ce")


CLOSE = {"rtol": 1e-3, "atol": 1e-4}
kinds = [(name, store) for name in ("ftrl", "sgd", "adam", "adagrad") for store in (False, True)]
each("", [(f"linear {name}, store {store}", name, store) for name, store in kinds], linear, **CLOSE)
each("", ["matrix factorization"], factorization, **CLOSE)
each("", ["factorization machine"], machine, **CLOSE)
each("", [(f"wide and deep, {name}", name) for name in ("adam", "ftrl", "sgd")], wide_and_deep, **CLOSE)
