"""mx.kv, mx.optimizer, mx.metric, mx.lr_scheduler, mx.init."""

import pickle

from kit import area, array, check, each, expressions, fails, mx, np

area("kvstore")


def store_of(kind):
    store, out = mx.kv.create(kind), []
    store.init("a", mx.nd.ones((2, 3)))
    store.init(["b", "c"], [mx.nd.ones(2), mx.nd.zeros(2)])
    target = mx.nd.zeros((2, 3))
    store.pull("a", target)
    out.append(target.copy())
    store.push("a", [array(2, 3), array(2, 3, seed=1)])
    store.pull("a", target)
    out.append(target.copy())
    many = [mx.nd.zeros(2), mx.nd.zeros(2)]
    store.push(["b", "c"], [array(2), array(2, seed=4)])
    store.pull(["b", "c"], many)
    return out, many, store.type, store.rank, store.num_workers


each("", ["local", "device", "local_allreduce_cpu", "local_allreduce_device", "dist_sync", "no such"], store_of)


@check
def updaters():
    store, seen = mx.kv.create(), []
    store.init(3, mx.nd.ones(2))

    def update(key, value, stored):
        seen.append((key, type(value).__name__))
        stored += value * 2

    store._set_updater(update)
    store.push(3, [mx.nd.ones(2), mx.nd.ones(2)])
    out = mx.nd.zeros(2)
    store.pull(3, out)
    return out, seen


@check
def updaters_with_names():
    store, seen = mx.kv.create(), []
    store.init("w", mx.nd.ones(2))
    store._set_updater(lambda key, value, stored: seen.append(key))
    store.push("w", mx.nd.ones(2))
    mx.nd.waitall()
    return seen


OPTIMIZERS = "sgd nag adam adagrad rmsprop adadelta ftrl ftml adamax nadam signum dcasgd lamb lars".split()


def stored(name):
    store = mx.kv.create("device")
    store.init(0, array(3, 4))
    store.set_optimizer(mx.optimizer.create(name))
    out = mx.nd.zeros((3, 4))
    for i in range(3):
        store.push(0, [array(3, 4, seed=i), array(3, 4, seed=9)])
        store.pull(0, out)
    return out


each("optimizer", OPTIMIZERS, stored, rtol=1e-3)


@check
def push_and_pull():
    store = mx.kv.create("device")
    store.init("a", mx.nd.zeros(2))
    values = [array(2), array(2, seed=1)]
    store.pushpull("a", values, out=values)
    broadcast = [mx.nd.zeros(2), mx.nd.zeros(2)]
    store.broadcast("b", mx.nd.ones(2), broadcast)
    return values, broadcast


@check
def mistakes():
    store = mx.kv.create()
    store.init("a", mx.nd.ones(2))
    return [
        fails(lambda: store.init("a", mx.nd.ones(2))), fails(lambda: store.push("b", mx.nd.ones(2))),
        fails(lambda: store.pull("b", mx.nd.ones(2))), fails(lambda: store.push(3, mx.nd.ones(2))),
        fails(lambda: store.row_sparse_pull("a", mx.nd.ones(2), row_ids=mx.nd.zeros(1))),
        fails(lambda: store.set_optimizer(3)), fails(lambda: store.save_optimizer_states("x")),
    ]  # fmt: skip


@check
def states_and_compression():
    store = mx.kv.create("device")
    store.init(0, array(3))
    store.set_optimizer(mx.optimizer.Adam())
    store.push(0, array(3))
    store.save_optimizer_states("s")
    store.load_optimizer_states("s")
    store.push(0, array(3))
    out = mx.nd.zeros(3)
    store.pull(0, out)
    return out, fails(lambda: mx.kv.create("local").set_gradient_compression({"type": "2bit"}))


@check
def other_stores():
    base = mx.kv.KVStoreBase
    return fails(lambda: mx.kv.create(3)), mx.kv.create("local").is_capable("optimizer"), base.OPTIMIZER


area("optimizer")

ROWS = [("SGD", {}), ("SGD", {"momentum": 0.9, "wd": 0.1, "clip_gradient": 0.2}), ("NAG", {"momentum": 0.5}),
        ("Adam", {}), ("AdaGrad", {"wd": 0.1}), ("RMSProp", {}), ("RMSProp", {"centered": True}), ("AdaDelta", {}),
        ("Ftrl", {"lamda1": 0.1}), ("FTML", {}), ("Adamax", {}), ("Nadam", {}), ("Signum", {"wd_lh": 0.1}),
        ("DCASGD", {"momentum": 0.9}), ("LAMB", {"upper_bound": 1}), ("LARS", {}), ("LBSGD", {}), ("Test", {}),
        ("SGD", {"multi_precision": True}), ("Adam", {"multi_precision": True}), ("LAMB", {"multi_precision": True}),
        ("NAG", {"multi_precision": True, "momentum": 0.9})]  # fmt: skip


def optimized(_, name, arguments, dtype="float32"):
    optimizer = getattr(mx.optimizer, name)(rescale_grad=0.5, **arguments)
    update = mx.optimizer.get_updater(optimizer)
    w = array(3, 4).astype(dtype)
    for i in range(4):
        update(0, array(3, 4, seed=i).astype(dtype), w)
    states = pickle.loads(update.get_states(dump_optimizer=False))
    again = mx.optimizer.get_updater(getattr(mx.optimizer, name)(**arguments))
    again.set_states(update.get_states(False))
    return w, states, optimizer.num_update


each("", [(f"{n} {a}", n, a) for n, a in ROWS], optimized, rtol=1e-3)
HALF = [(f"{n} {a}", n, a, "float16") for n, a in ROWS if "multi_precision" in a]
each("of halves", HALF, optimized, rtol=1e-2, atol=1e-2)

SCHEDULES = [("FactorScheduler", (3, 0.5), {"base_lr": 1}), ("MultiFactorScheduler", ([2, 5], 0.1), {"base_lr": 1}),
             ("PolyScheduler", (8,), {"base_lr": 1, "pwr": 2}),
             ("CosineScheduler", (8,), {"base_lr": 1, "final_lr": 0.1}),
             ("CosineScheduler", (8,), {"base_lr": 1, "warmup_steps": 3, "warmup_mode": "constant"})]  # fmt: skip
each("schedule", [(f"{n} {a}", n, p, a) for n, p, a in SCHEDULES],
     lambda _, n, p, a: [float(getattr(mx.lr_scheduler, n)(*p, **a)(i)) for i in range(1, 12)][-1:])  # fmt: skip


@check
def multipliers():
    x = mx.optimizer.SGD(learning_rate=0.1, param_idx2name={0: "a_weight", 1: "a_bias"}, wd=0.1)
    x.set_lr_mult({"a_weight": 2})
    x.set_wd_mult({"a_weight": 3})
    return x._get_lrs([0, 1]), x._get_wds([0, 1]), x.lr_mult, x.wd_mult, fails(lambda: mx.optimizer.create("no such"))


area("metric")
LABELS = [mx.nd.array([0, 1, 2, 1])]
SCORES = [mx.nd.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.3, 0.4, 0.3], [0.1, 0.8, 0.1]])]
REAL = [mx.nd.array([[0.5], [1], [2], [1.5]])], [mx.nd.array([[0.4], [1.2], [2.5], [1]])]
TWO = [mx.nd.array([0, 1, 1, 0])], [mx.nd.array([[0.7, 0.3], [0.6, 0.4], [0.1, 0.9], [0.2, 0.8]])]
METRICS = [("Accuracy", {}, LABELS, SCORES), ("TopKAccuracy", {"top_k": 2}, LABELS, SCORES),
           ("CrossEntropy", {}, LABELS, SCORES), ("NegativeLogLikelihood", {}, LABELS, SCORES),
           ("Perplexity", {"ignore_label": None}, LABELS, SCORES), ("MAE", {}, *REAL), ("MSE", {}, *REAL),
           ("RMSE", {}, *REAL), ("PearsonCorrelation", {}, *REAL), ("PCC", {}, LABELS, SCORES), ("F1", {}, *TWO),
           ("MCC", {}, *TWO), ("Loss", {}, None, REAL[1]), ("Torch", {}, None, REAL[1]),
           ("F1", {"average": "micro"}, *TWO),
           ("Accuracy", {"axis": 0}, [mx.nd.array([0, 1, 2])], SCORES)]  # fmt: skip


def measured(_, name, arguments, labels, scores):
    metric = getattr(mx.metric, name)(**arguments)
    metric.update(labels, scores)
    metric.update(labels, scores)
    return metric.get(), metric.get_global(), metric.get_name_value(), metric.reset(), str(metric), metric.get_config()


each("", [(f"{n} {a}", n, a, labels, scores) for n, a, labels, scores in METRICS], measured)


@check
def made_metrics():
    both = mx.metric.create(["acc", "ce", lambda label, pred: float(pred.mean())])
    both.update(LABELS, SCORES)
    composite = mx.metric.CompositeEvalMetric()
    composite.add("acc")
    feval = mx.metric.np(lambda label, pred: (float(label.sum()), 2), name="mine")
    feval.update(LABELS, SCORES)
    return both.get()[1], composite.get_metric(0).name, feval.get(), fails(lambda: mx.metric.create("no such")), fails(
        lambda: mx.metric.Accuracy().update([mx.nd.zeros(3)], [mx.nd.zeros((2, 3))])
    ), fails(lambda: mx.metric.Accuracy().update([mx.nd.zeros(3)], []))  # fmt: skip


area("init")
INITS = [("Zero", {}), ("One", {}), ("Constant", {"value": 3}), ("Uniform", {"scale": 0.3}), ("Normal", {"sigma": 0.1}),
         ("Orthogonal", {}), ("Xavier", {}), ("Xavier", {"rnd_type": "gaussian", "factor_type": "in", "magnitude": 2}),
         ("MSRAPrelu", {}), ("Bilinear", {}), ("LSTMBias", {})]  # fmt: skip


def initialized(_, name, arguments):
    """Numbers that are not random, or how large those are that are."""
    one = getattr(mx.init, name)(**arguments)
    w = mx.nd.zeros((60, 40) if name != "Bilinear" else (2, 2, 4, 4))
    one._init_weight("w", w)
    if name in ("Zero", "One", "Constant", "Bilinear", "LSTMBias"):
        return w, one.dumps()
    return round(float(w.asnumpy().std()), 2), round(float(w.asnumpy().mean()), 1), one.dumps(), str(w.dtype)


each("", [(f"{n} {a}", n, a) for n, a in INITS], initialized, atol=0.02)


@check
def names_decide():
    one, out = mx.init.Xavier(), {}
    for name in ("a_weight", "a_bias", "a_gamma", "a_beta", "a_moving_mean", "a_moving_var", "a_other"):
        value = mx.nd.ones((2, 2)) * 7
        out[name] = fails(lambda n=name, v=value: one(mx.init.InitDesc(n), v)), None if "weight" in name else value
    mixed = mx.init.Mixed(["bias", ".*"], [mx.init.Zero(), mx.init.One()])
    value = mx.nd.ones(2) * 7
    mixed("x_weight", value)
    return out, value, fails(lambda: mx.init.create("no such")), np.int32(1)


expressions(
    "load",
    {"fails": fails},
    ["mx.init.Load({'arg:a': mx.nd.ones(2)}).param", "mx.init.Load('none')", "mx.init.InitDesc('a', {'b': 'c'}).attrs"],
)
