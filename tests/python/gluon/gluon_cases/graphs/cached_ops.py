"""mx.nd.CachedOp: a symbol as a function of arrays."""

from __future__ import annotations

import numpy as np
from _case import case

from gluon_cases._parts import array


def _two(mx):
    return mx.sym.var("a"), mx.sym.var("b")


_GRAPHS = {
    "product": lambda mx, a, b: a * b,
    "two outputs": lambda mx, a, b: mx.sym.Group([a * b, a + b]),
    "an input twice": lambda mx, a, b: a * a + mx.sym.sin(a),
    "one name twice": lambda mx, a, b: mx.sym.var("a") * mx.sym.var("a"),
    "sums": lambda mx, a, b: mx.sym.sum(mx.sym.dot(a, b, transpose_b=True), axis=0),
}


@case(what=list(_GRAPHS), shape=[(1,), (2, 3), (1, 70)], static=[False, True])
def numbers(mx, what, shape, static):
    graph = _GRAPHS[what](mx, *_two(mx))
    call = mx.nd.CachedOp(graph, [("static_alloc", static), ("static_shape", static)])
    found = []
    for turn in range(2):
        given = [array(mx, shape, turn + i) for i, _ in enumerate(graph.list_inputs())]
        if what == "sums" and len(shape) == 1:
            given = [each.reshape((1, -1)) for each in given]
        for each in given:
            each.attach_grad()
        with mx.autograd.record():
            made = call(*given)
            total = sum(each.sum() for each in (made if isinstance(made, list) else [made]))
        total.backward()
        found.append((made, [each.grad for each in given]))
    return found


@case
def a_variable(mx):
    return mx.nd.CachedOp(mx.sym.var("a"))(array(mx, (2, 3), 1))


@case(dtype=["float64", "int32", "float16"])
def dtypes(mx, dtype):
    a, b = _two(mx)
    return mx.nd.CachedOp(a + b)(*[array(mx, (2, 3), i).astype(dtype) for i in range(2)])


@case
def views(mx):
    a, b = _two(mx)
    whole = array(mx, (4, 3), 1)
    return mx.nd.CachedOp(a - b)(whole[1:3], whole[2:])


@case
def requests(mx):
    """Gradients that are added, and inputs without one."""
    a, b = _two(mx)
    call, x, y = mx.nd.CachedOp(a * b), array(mx, (3,), 1), array(mx, (3,), 2)
    x.attach_grad("add")
    for _ in range(2):
        with mx.autograd.record():
            made = call(x, y)
        made.backward()
    return x.grad, y.grad


@case
def auxiliary_states(mx):
    """They are inputs as others, and training writes them when its results are read."""
    graph = mx.sym.BatchNorm(mx.sym.var("x"), name="n", fix_gamma=False, momentum=0.5)
    given = [array(mx, (4, 2), 1), *[mx.nd.array(each) for each in ([1, 2], [0, 1], [0, 0], [1, 1])]]
    given[0].attach_grad()
    call = mx.nd.CachedOp(graph)
    still = call(*given).asnumpy()
    with mx.autograd.record():
        made = call(*given)
    made.backward()
    return graph.list_inputs(), still, made, given


@case(what=["array", "list", "tuple", "two", "none"])
def given_outputs(mx, what):
    a, b = _two(mx)
    call, x, y = mx.nd.CachedOp(mx.sym.Group([a * b, a - b]) if what == "two" else a * b), *_arrays(mx)
    first, second = mx.nd.zeros((3,)), mx.nd.zeros((3,))
    out = {"array": first, "list": [first], "tuple": (first,), "two": [first, second], "none": None}[what]
    made = call(x, y, out=out)
    return made, first, second, made is out


def _arrays(mx):
    return array(mx, (3,), 1), array(mx, (3,), 2)


@case
def facts(mx):
    kind = mx.nd.CachedOp
    call = kind(sym=mx.sym.var("a") + 1, flags=(("inline_limit", 2), ("forward_bulk_size", 15)))
    where = [kind is each for each in (mx.ndarray.CachedOp, mx.nd.op.CachedOp, mx.nd._internal.CachedOp)]
    return kind.__name__, where, hasattr(mx.sym, "CachedOp"), call.is_np_sym, type(call.handle).__name__


@case(of=["mx.np", "mx.nd"])
def arrays_of_numpy(mx, of):
    """The symbol says which class the outputs have; `out` has its own."""
    a, b = (each.as_np_ndarray() for each in _two(mx))
    call = mx.nd.CachedOp(mx.sym.np.add(a, b))
    given = [each.as_np_ndarray() if of == "mx.np" else each for each in _arrays(mx)]
    return call.is_np_sym, type(call(*given)) is mx.np.ndarray, call(*given).asnumpy()


@case(of=["mx.np"])
def symbols_of_nd_with_arrays_of_numpy(mx, of):
    a, b = _two(mx)
    return type(mx.nd.CachedOp(a * b)(*[each.as_np_ndarray() for each in _arrays(mx)])) is mx.nd.NDArray


@case(monitor_all=[False, True], recording=[False, True])
def hooks(mx, monitor_all, recording):
    seen = []

    def hook(name, operator, handle):
        held = mx.nd.NDArray(mx.base.NDArrayHandle(handle))
        seen.append((name.decode(), operator.decode(), held.shape))

    net = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2, name="f"), act_type="relu", name="r")
    call = mx.nd.CachedOp(net)
    given = [array(mx, shape, i) for i, shape in enumerate([(1, 3), (2, 3), (2,)])]
    before = call(*given)
    call._register_op_hook(hook, monitor_all)
    with mx.autograd.record() if recording else mx.autograd.pause():
        call(*given).wait_to_read()
    return before, seen


@case
def kept_outputs(mx):
    """With static_alloc, too, outputs of one call are not those of the next."""
    a, b = _two(mx)
    call, (x, y) = mx.nd.CachedOp(a * b, [("static_alloc", True), ("static_shape", True)]), _arrays(mx)
    first = call(x, y)
    held = first.asnumpy()
    call(y, y).wait_to_read()
    return np.array_equal(held, first.asnumpy())


_CALLS = {
    "no symbol": lambda kind, a, x: kind(3),
    "nothing": lambda kind, a, x: kind(),
    "a flag": lambda kind, a, x: kind(a, [("no_such", 1)]),
    "a dictionary of flags": lambda kind, a, x: kind(a, {"static_alloc": 1}),
    "a flag's value": lambda kind, a, x: kind(a, [("static_alloc", "perhaps")]),
    "a flag's number": lambda kind, a, x: kind(a, [("inline_limit", "many")]),
    "too few": lambda kind, a, x: kind(a * a)(),
    "too many": lambda kind, a, x: kind(a * a)(x, x),
    "a number": lambda kind, a, x: kind(a * a)(3),
    "a NumPy array": lambda kind, a, x: kind(a * a)(x.asnumpy()),
    "outputs": lambda kind, a, x: kind(a * a)(x, out=[x, x]),
    "an output that is a number": lambda kind, a, x: kind(a * a)(x, out=3),
    "a name": lambda kind, a, x: kind(a * a)(x, other=3),
    "a context": lambda kind, a, x: kind(a * a)(x, default_ctx=x.context),
    "shapes": lambda kind, a, x: kind(a + a.reshape((2, 2)))(x),
    "an attribute": lambda kind, a, x: setattr(kind(a), "other", 1),
}


@case(call=list(_CALLS))
def errors(mx, call):
    return str(_CALLS[call](mx.nd.CachedOp, mx.sym.var("a"), mx.nd.ones((3,))))
