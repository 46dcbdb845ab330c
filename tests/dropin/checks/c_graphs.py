"""The C functions of graphs that Apache's package does not call: inference, executors, cached operators, predictors."""

import ctypes as c

from c_kit import HANDLE, TEXT, UINT, call, handles, new, shapes, texts, uints
from kit import area, array, check, each, mx, np

area("c graphs")

# ---- graphs ----


def network():
    with mx.AttrScope(ctx_group="first"):
        data = mx.sym.var("data")
        hidden = mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=4, name="one"), act_type="relu", name="act")
        normal = mx.sym.BatchNorm(hidden, fix_gamma=False, name="norm")
    with mx.AttrScope(ctx_group="second"):
        return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(normal, num_hidden=3, name="two"), name="softmax")


def inferred(function_name, symbol, **known):
    sizes = [UINT() for _ in range(3)]
    ranks = [c.POINTER(UINT)() for _ in range(3)]
    data = [c.POINTER(c.POINTER(UINT))() for _ in range(3)]
    complete = c.c_int()
    lists = [c.byref(each) for three in zip(sizes, ranks, data) for each in three]
    call(function_name, symbol.handle, *shapes(**known), *lists, c.byref(complete))
    return complete.value, [
        [tuple(data[k][i][j] for j in range(ranks[k][i])) for i in range(sizes[k].value)] for k in range(3)
    ]


each(
    "infer",
    [
        (f"{kind} {title}", f"MXSymbolInferShape{kind}", known)
        for kind in ("", "Partial")
        for title, known in [
            ("from data", {"data": (2, 5)}),
            ("from nothing", {}),
            ("from a weight", {"one_weight": (4, 7)}),
            ("with an unknown size", {"data": (0, 5)}),
            ("against each other", {"data": (2, 5), "one_weight": (4, 6)}),
            ("of no argument", {"no_such": (2, 5)}),
        ]
    ],
    lambda _, name, known: inferred(name, network(), **known),
)

NAMES = ["data", "one_weight", "one_bias", "norm_gamma", "norm_beta", "two_weight", "two_bias", "softmax_label"]
SIZES = [(2, 5), (4, 5), (4,), (4,), (4,), (3, 4), (3,), (2,)]


def outputs_of(executor):
    count, found = UINT(), c.POINTER(HANDLE)()
    call("MXExecutorOutputs", executor, c.byref(count), c.byref(found))
    copies = [new(found[i]).copy() for i in range(count.value)]
    mx.nd.waitall()  # in 1.9.1 the mode of the next forward can reach one that still runs
    return copies


class Bound:
    """An executor of the network, by one of the functions that bind arrays."""

    def __init__(self, how, requests=1):
        self.symbol = network()
        self.args = [array(*size, seed=i) for i, size in enumerate(SIZES)]
        self.args[-1][:] = mx.nd.array([0, 2])
        self.grads = [mx.nd.ones(size) for size in SIZES]
        self.aux = [mx.nd.zeros(4), mx.nd.ones(4)]
        self.executor = HANDLE()
        more = {
            "MXExecutorBind": [],
            "MXExecutorBindX": [UINT(0), texts(), (c.c_int * 1)(), (c.c_int * 1)()],
            "MXExecutorBindEX": [UINT(0), texts(), (c.c_int * 1)(), (c.c_int * 1)()],
        }[how]
        last = [HANDLE()] if how == "MXExecutorBindEX" else []
        call(
            how,
            self.symbol.handle,
            1,
            0,
            *more,
            UINT(len(self.args)),
            handles(*self.args),
            handles(*self.grads),
            uints(*[requests] * (len(self.args) - 1), 0),  # 1.9.1 never writes the label's
            UINT(2),
            handles(*self.aux),
            *last,
            c.byref(self.executor),
        )

    def forward(self, training):
        call("MXExecutorForward", self.executor, int(training))
        return outputs_of(self.executor)

    def backward(self, *heads):
        call("MXExecutorBackward", self.executor, UINT(len(heads)), handles(*heads))
        return [each.copy() for each in self.grads]


def trained(how, requests):
    bound = Bound(how, requests)
    return bound.forward(True), bound.backward(), bound.aux, bound.forward(False)


each(
    "bind",
    [
        (f"{how} {requests}", how, requests)
        for how in ("MXExecutorBind", "MXExecutorBindX", "MXExecutorBindEX")
        for requests in (0, 1, 3)
    ],
    lambda _, how, requests: trained(how, requests),
)


@check
def monitor():
    seen = []

    @c.CFUNCTYPE(None, TEXT, HANDLE, HANDLE)
    def show(name, value, _):
        seen.append((name.decode(), new(value).shape))

    bound = Bound("MXExecutorBind")
    call("MXExecutorSetMonitorCallback", bound.executor, show, None)
    bound.forward(True)
    return seen


def simple_bind(data=(2, 5), shared=None, requests=(("", "write"),), dtypes=None, device=0, groups=(), parameters=()):
    """Names, shapes and whether there are gradients, of an executor that makes its own arrays."""
    symbol, executor, counts = network(), HANDLE(), [UINT(), UINT()]
    dtypes = dict.fromkeys(NAMES, 0) if dtypes is None else dtypes
    args, grads, aux = (c.POINTER(HANDLE)() for _ in range(3))
    new_names, new_arrays = c.POINTER(TEXT)(), c.POINTER(HANDLE)()
    length = c.c_int(-1 if shared is None else len(shared))
    named = [name for name, _ in requests if name]
    size, keys, starts, sizes = shapes(data=data)
    call(
        "MXExecutorSimpleBind",
        symbol.handle,
        1,
        device,
        UINT(len(groups)),
        texts(*(name for name, _ in groups)),
        (c.c_int * max(len(groups), 1))(*(1 for _ in groups)),
        (c.c_int * max(len(groups), 1))(*(number for _, number in groups)),
        UINT(len(requests) if named else 0),
        texts(*named) if named else None,
        texts(*(kind for _, kind in requests)),
        size,
        keys,
        sizes,
        starts,
        UINT(len(dtypes)),
        texts(*dtypes),
        (c.c_int * max(len(dtypes), 1))(*dtypes.values()),
        UINT(0),
        None,
        None,
        UINT(len(parameters)),
        texts(*parameters),
        c.byref(length),
        texts(*(shared or {})),
        handles(*(shared or {}).values()),
        c.byref(new_names),
        c.byref(new_arrays),
        c.byref(counts[0]),
        c.byref(args),
        c.byref(grads),
        c.byref(counts[1]),
        c.byref(aux),
        None,
        c.byref(executor),
    )
    found = [new(args[i]) for i in range(counts[0].value)]
    given = [new(grads[i]) if grads[i] else None for i in range(counts[0].value)]
    states = [new(aux[i]) for i in range(counts[1].value)]
    shared_now = sorted((new_names[i].decode(), new(new_arrays[i]).shape) for i in range(max(length.value, 0)))
    return executor, found, given, states, shared_now


def simply_bound(**settings):
    executor, args, grads, aux, shared = simple_bind(**settings)
    for i, each_arg in enumerate(args):
        each_arg[:] = mx.nd.array(np.random.RandomState(i).uniform(-1, 1, each_arg.shape)).astype(each_arg.dtype)
    args[-1][:] = 1
    call("MXExecutorForward", executor, 1)
    outputs = outputs_of(executor)
    call("MXExecutorBackward", executor, UINT(0), None)
    contexts = [[str(each.context) for each in arrays if each is not None] for arrays in (args, grads, aux, outputs)]
    return outputs, [(each.shape, str(each.dtype)) for each in args], grads, aux, shared, contexts


each(
    "simple bind",
    [
        ("plain", {}),
        ("of no gradients", {"requests": [("", "null")]}),
        ("that adds", {"requests": [("", "add")]}),
        ("by names", {"requests": [("two_weight", "write"), ("two_bias", "add")]}),
        ("shared, empty", {"shared": {}}),
        ("float64", {"dtypes": dict.fromkeys(NAMES, 1)}),
        ("of a wrong rank", {"data": ()}),
        ("shared, without parameters", {"shared": {}, "parameters": NAMES[1:7]}),
        ("on another device", {"device": 3}),
        ("with devices of groups", {"groups": [("first", 1), ("second", 2), ("third", 4)]}),
        ("with a device of one group", {"groups": [("first", 1)]}),
    ],
    lambda _, settings: simply_bound(**settings),
)


@check
def shared_buffers():
    """Arrays that fit are taken from the buffer, others are made and added to it."""
    buffer = {"one_weight": mx.nd.full((4, 5), 7), "two_weight": mx.nd.full((2, 2), 7)}
    _, args, *_, shared = simple_bind(shared=buffer)
    args[1][:] = 3
    return buffer["one_weight"], shared


@check
def executor_reshaped():
    bound, made, counts = Bound("MXExecutorBind"), HANDLE(), [UINT(), UINT()]
    args, grads, aux = (c.POINTER(HANDLE)() for _ in range(3))
    call(
        "MXExecutorReshape",
        0,
        1,
        1,
        0,
        UINT(0),
        None,
        None,
        None,
        *(lambda count, names, starts, sizes: (count, names, sizes, starts))(*shapes(data=(3, 5), softmax_label=(3,))),
        c.byref(counts[0]),
        c.byref(args),
        c.byref(grads),
        c.byref(counts[1]),
        c.byref(aux),
        bound.executor,
        c.byref(made),
    )
    found = [new(args[i]) for i in range(counts[0].value)]
    return [each.shape for each in found], [new(aux[i]).shape for i in range(counts[1].value)], found[1]


@check
def executor_printed():
    text = TEXT()
    call("MXExecutorPrint", Bound("MXExecutorBind").executor, c.byref(text))
    return text.value.decode().count("Op:FullyConnected"), text.value.decode().count("\n") > 5


def cached(create, *more):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    made, count, out = HANDLE(), c.c_int(), c.POINTER(HANDLE)()
    symbol = mx.sym.Group([mx.sym.dot(x, y), x + 1])
    call(create, symbol.handle, *more, c.byref(made), *([c.c_bool(False)] if create[-2:] == "EX" else []))
    call("MXInvokeCachedOp", made, 2, handles(array(2, 3), array(3, 2)), c.byref(count), c.byref(out))
    answers = [new(out[i]) for i in range(count.value)]
    call("MXFreeCachedOp", made)
    return answers


each(
    "cached operator",
    [
        ("plain", "MXCreateCachedOp"),
        ("EX", "MXCreateCachedOpEX", 0, texts(), texts()),
        ("EX static", "MXCreateCachedOpEX", 2, texts("static_alloc", "static_shape"), texts("True", "True")),
        ("EX of no such flag", "MXCreateCachedOpEX", 1, texts("no_such"), texts("1")),
    ],
    lambda _, *how: cached(*how),
)


# ---- Predict ----


def saved():
    """The JSON and the bytes of a network's parameters."""
    named = {f"arg:{n}": array(*s, seed=i) for i, (n, s) in enumerate(zip(NAMES, SIZES)) if i not in (0, 7)}
    named.update({"aux:norm_moving_mean": mx.nd.zeros(4), "aux:norm_moving_var": mx.nd.ones(4)})
    mx.nd.save("predict.params", named)
    with open("predict.params", "rb") as file:
        return network().tojson().encode(), file.read()


def predictor(partial=(), text=None, data=None, **known):
    made, (graph, values) = HANDLE(), saved()
    values = values if data is None else data
    count, names, starts, sizes = shapes(**(known or {"data": (2, 5)}))
    more = [UINT(len(partial)), texts(*partial)] if partial else []
    name = "MXPredCreatePartialOut" if partial else "MXPredCreate"
    call(name, text or graph, values, len(values), 1, 0, count, names, starts, sizes, *more, c.byref(made))
    return made


def predicted(made, data, index=0):
    rank, sizes = UINT(), c.POINTER(UINT)()
    flat = data.asnumpy().ravel()
    call("MXPredSetInput", made, b"data", flat.ctypes.data_as(c.POINTER(c.c_float)), UINT(flat.size))
    call("MXPredForward", made)
    call("MXPredGetOutputShape", made, UINT(index), c.byref(sizes), c.byref(rank))
    shape = [sizes[i] for i in range(rank.value)]
    out = np.zeros(shape, "float32")
    call("MXPredGetOutput", made, UINT(index), out.ctypes.data_as(c.POINTER(c.c_float)), UINT(out.size))
    return out


def wrong_input(key, size):
    numbers = (c.c_float * size)()
    call("MXPredSetInput", predictor(), key.encode(), numbers, UINT(size))


def wrong_output(index, size):
    made, numbers = predictor(), (c.c_float * max(size, 6))()
    predicted(made, array(2, 5))
    call("MXPredGetOutput", made, UINT(index), numbers, UINT(size))


def predictor_reshaped():
    made, other = predictor(), HANDLE()
    count, names, starts, sizes = shapes(data=(3, 5), softmax_label=(3,))
    first = predicted(made, array(2, 5))
    call("MXPredReshape", count, names, starts, sizes, made, c.byref(other))
    return first, predicted(other, array(3, 5)), predicted(made, array(2, 5))


def steps():
    made, left, seen = predictor(), c.c_int(), []
    flat = array(2, 5).asnumpy()
    call("MXPredSetInput", made, b"data", flat.ctypes.data_as(c.POINTER(c.c_float)), UINT(10))
    for step in range(20):
        call("MXPredPartialForward", made, step, c.byref(left))
        seen.append(left.value)
        if left.value == 0:
            break
    assert seen == list(range(len(seen)))[::-1]
    out = np.zeros((2, 3), "float32")
    call("MXPredGetOutput", made, UINT(0), out.ctypes.data_as(c.POINTER(c.c_float)), UINT(6))
    return out


def type_of_output():
    kind = c.c_int()
    call("MXPredGetOutputType", predictor(), UINT(0), c.byref(kind))
    return kind.value


each(
    "predict",
    [
        ("plain", lambda: predicted(predictor(), array(2, 5))),
        ("label's shape too", lambda: predicted(predictor(data=(2, 5), softmax_label=(2,)), array(2, 5))),
        ("partial", lambda: predicted(predictor(["act"]), array(2, 5))),
        ("partial, two", lambda: predicted(predictor(["act", "norm"]), array(2, 5), 1)),
        ("partial of no such", lambda: predictor(["none"])),
        ("reshaped", predictor_reshaped),
        ("steps", steps),
        ("type of output", type_of_output),
        ("damaged JSON", lambda: predictor(text=b"{")),
        ("damaged parameters", lambda: predictor(data=b"abc")),
        ("no parameters", lambda: predictor(data=b"")),
        ("no shape", lambda: predictor(none=(1,))),
        ("unknown input", lambda: wrong_input("none", 10)),
        ("too few numbers", lambda: wrong_input("data", 9)),
        ("no such output", lambda: wrong_output(1, 6)),
        ("output of another size", lambda: wrong_output(0, 5)),
    ],
    lambda _, ask: ask(),
)


@check
def lists_of_arrays():
    values, made, count, answers = saved()[1], HANDLE(), UINT(), []
    call("MXNDListCreate", values, len(values), c.byref(made), c.byref(count))
    for i in range(count.value):
        key, data, sizes, rank = TEXT(), c.POINTER(c.c_float)(), c.POINTER(UINT)(), UINT()
        call("MXNDListGet", made, UINT(i), c.byref(key), c.byref(data), c.byref(sizes), c.byref(rank))
        shape = [sizes[j] for j in range(rank.value)]
        answers.append((key.value.decode(), shape, [data[j] for j in range(int(np.prod(shape)))]))
    call("MXNDListFree", made)
    return answers
