"""mx.kv: what is pushed, pulled and refused."""

from __future__ import annotations

from _case import case


def _made(mx, key="a", kind="local"):
    store = mx.kv.create(kind)
    store.init(key, mx.nd.array([1, 2]))
    return store


def _pulled(mx, store, key="a"):
    out = mx.nd.zeros((2,))
    store.pull(key, out=out)
    return out


@case(key=["a", 3, 0, "b3"], kind=["local", "device"])
def init_and_pull(mx, key, kind):
    return _pulled(mx, _made(mx, key, kind), key)


@case(count=[1, 2, 3], kind=["local", "device"])
def push_adds_up(mx, count, kind):
    store = _made(mx, kind=kind)
    store.push("a", [mx.nd.array([i + 1, 10]) for i in range(count)])
    return _pulled(mx, store)


@case(differs="there a pushed array is kept itself, and edits of it change the store")
def push_keeps_a_copy(mx):
    store, value = _made(mx), mx.nd.array([3, 4])
    store.push("a", value)
    value[:] = 0
    return _pulled(mx, store)


@case
def several_keys(mx):
    store = mx.kv.create()
    store.init(["a", "b"], [mx.nd.ones((2,)), mx.nd.zeros((2,))])
    store.push(["a", "b"], [[mx.nd.array([1, 2]), mx.nd.array([3, 4])], [mx.nd.array([5, 6])]])
    out = [[mx.nd.zeros((2,)), mx.nd.zeros((2,))], mx.nd.zeros((2,))]
    store.pull(["a", "b"], out=out)
    return out


@case(out=[False, True], updater=[False, True])
def pushpull(mx, out, updater):
    store, value, target = _made(mx), mx.nd.array([5, 6]), mx.nd.zeros((2,))
    if updater:
        store._set_updater(lambda key, pushed, stored: stored.__iadd__(pushed * 2))
    store.pushpull("a", value, out=target if out else None)
    return value, target


@case
def broadcast(mx):
    store, out = mx.kv.create(), [mx.nd.zeros((2,)), mx.nd.zeros((2,))]
    store.broadcast("a", mx.nd.array([7, 8]), out)
    return out


@case
def updater_of_a_key(mx):
    store, seen = _made(mx, 7), []

    def update(key, pushed, stored):
        seen.append([key, pushed.copy(), stored.copy()])
        stored += pushed * 3

    store._set_updater(update)
    store.push(7, [mx.nd.array([1, 1]), mx.nd.array([2, 2])])
    return seen, _pulled(mx, store, 7)


@case(name=["sgd", "adam"])
def optimizer_of_a_store(mx, folder, name):
    store = _made(mx, 0)
    store.set_optimizer(mx.optimizer.create(name, learning_rate=0.5))
    for _ in range(2):
        store.push(0, mx.nd.array([1, 2]))
    store.save_optimizer_states(f"{folder}/states")
    store.load_optimizer_states(f"{folder}/states")
    store.push(0, mx.nd.array([1, 2]))
    return _pulled(mx, store, 0)


def _wrong(mx, wrong):
    store = _made(mx)
    one = mx.nd.array([1, 2])
    return {
        "twice": lambda: store.init("a", one),
        "mixed": lambda: store.init(3, one),
        "unknown push": lambda: store.push("b", one),
        "unknown pull": lambda: store.pull("b", out=one),
        "no out": lambda: store.pull("a"),
        "shape of out": lambda: store.pull("a", out=mx.nd.zeros((3,))),
        "too few": lambda: store.push(["a", "a"], [one]),
        "kind of key": lambda: store.init(3.5, one),
        "a number": lambda: store.push("a", 5),
        "states without optimizer": lambda: store.save_optimizer_states("/tmp/none"),
        "no file": lambda: store.load_optimizer_states("/none/none"),
        "kind of optimizer": lambda: store.set_optimizer(3),
        "compression": lambda: store.set_gradient_compression({"type": "2bit"}),
        "capability": lambda: store.is_capable("other"),
        "name": lambda: mx.kv.create(3),
    }[wrong]()


_WRONG = ["twice", "mixed", "unknown push", "unknown pull", "no out", "shape of out", "too few", "kind of key"]
_WRONG += ["a number", "states without optimizer", "no file", "kind of optimizer", "compression", "capability", "name"]


@case(wrong=_WRONG)
def wrong_use(mx, wrong):
    _wrong(mx, wrong)


@case
def rows_of_a_dense_array(mx):
    store, out = mx.kv.create("local"), mx.nd.zeros((3, 2))
    store.init("a", mx.nd.ones((3, 2)))
    store.row_sparse_pull("a", out=out, row_ids=mx.nd.array([0, 2]))
    return out


@case(kind=["local", "device", "LOCAL", "local_allreduce_cpu", "teststore"])
def facts(mx, kind):
    store = mx.kv.create(kind)
    return store.rank, store.num_workers, store.is_capable("optimizer"), store.type


@case
def base_class(mx):
    return mx.kv.KVStoreBase().pushpull("a", mx.nd.ones((1,)))


@case
def registered(mx):
    @mx.kv.KVStoreBase.register
    class Mine(mx.kv.KVStoreBase):
        pass

    return type(mx.kv.create("mine")).__name__, type(mx.kv.create("MINE")).__name__, "mine" in Mine.kv_registry


@case
def test_store(mx):
    store, out = mx.kv.create("teststore"), mx.nd.zeros((2,))
    store.broadcast("a", mx.nd.array([1, 2]), out)
    first = out.copy()
    store.pushpull("a", [mx.nd.array([1, 2]), mx.nd.array([3, 4])], out)
    return first, out
