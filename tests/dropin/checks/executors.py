"""Head gradients of executors and of recorded arrays that are not like their outputs, backwards without a forward, and
gradients that go to arrays of another dtype or shape."""

from kit import area, each, mx, np

area("executors")

a, b = mx.sym.var("a"), mx.sym.var("b")
NETS = {
    "square": mx.sym.square(a),
    "product": a * b,
    "dense": mx.sym.FullyConnected(a, b, num_hidden=2, no_bias=True),
    "identity": mx.sym.identity(a),
    "variable": a,
    "sum": mx.sym.sum(a, axis=1),
    "total": mx.sym.sum(a),
    "reshape": mx.sym.reshape(a, (3, 2)),
    "softmax": mx.sym.softmax(a),
    "concat": mx.sym.concat(a, b, dim=0),
    "regression": mx.sym.LinearRegressionOutput(a, b),
    "logistic": mx.sym.LogisticRegressionOutput(a, b),
    "MakeLoss": mx.sym.MakeLoss(mx.sym.square(a)),
    "make_loss": mx.sym.make_loss(mx.sym.square(a)),
    "blocked": mx.sym.BlockGrad(a),
    "floor": mx.sym.floor(a),
    "argmax": mx.sym.argmax(a, axis=1),
    "ones": mx.sym.ones_like(a),
    "greater": a > b,
}
LOSSES = ["regression", "logistic", "MakeLoss", "make_loss", "blocked", "floor", "argmax", "ones", "greater"]


def ramp(*shape, dtype="float32"):
    return mx.nd.array(np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape), dtype=dtype)


def shape_of(net):
    return net.infer_shape(**dict.fromkeys(net.list_arguments(), (2, 3)))[1][0]


def gradients(name, heads, forward=True, train=True, req="write", times=1, dtype="float32", buffer=None, shape=(2, 3)):
    """The gradients of all arguments after a backward with these head gradients (a function of the output's shape)."""
    net = NETS[name]
    arguments = {name: ramp(2, 3, dtype=dtype) for name in net.list_arguments()}
    grads = {name: mx.nd.zeros(shape, dtype=buffer or dtype) for name in arguments}
    executor = net.bind(mx.cpu(), arguments, args_grad=grads, grad_req=req)
    if forward:
        executor.forward(is_train=train)
    for _ in range(times):
        executor.backward(heads(*shape_of(net)))
    return grads


each("heads of another size", LOSSES, lambda name: [gradients(name, lambda *s, n=n: ramp(n)) for n in (1, 5, 6, 20)])
each(
    "a head of another size",
    ["square", "product", "dense", "sum", "concat"],
    lambda name: gradients(name, lambda *s: ramp(50)),
)
each("too many heads", NETS, lambda name: gradients(name, lambda *shape: [ramp(*shape), ramp(*shape), ramp(7)]))
for dtype in ("int32", "int8", "float64", "float16"):
    each(f"heads {dtype}", NETS, lambda name, dtype=dtype: gradients(name, lambda *s: ramp(*s, dtype=dtype)))
INTEGERS = [name for name in NETS if name not in ("dense", "softmax", "regression", "logistic")]
for dtype in ("int32", "int8"):
    each(
        f"networks {dtype}",
        INTEGERS,
        lambda name, dtype=dtype: gradients(name, lambda *s: ramp(*s, dtype=dtype), dtype=dtype),
    )
each("backward of no training", NETS, lambda name: gradients(name, lambda *s: ramp(*s), train=False))
READS_INPUTS = [name for name in NETS if name not in ("softmax", "regression", "logistic", "dense")]
each("backward without forward", READS_INPUTS, lambda name: gradients(name, lambda *s: ramp(*s), forward=False))
each("backward twice", NETS, lambda name: gradients(name, lambda *s: ramp(*s), times=2))
for dtype in ("int32", "float64", "float16"):
    each(
        f"gradients in {dtype}",
        ["identity", "variable", "sum", "total", "reshape", "blocked", "floor", "argmax", "ones", "greater"],
        lambda name, dtype=dtype: gradients(name, lambda *s: ramp(*s), buffer=dtype),
    )
each(
    "added gradients in float64",
    ["sum", "total", "blocked", "greater"],
    lambda name: gradients(name, lambda *s: ramp(*s), buffer="float64", req="add", times=2),
)
each(
    "gradients of another shape",
    ["square", "product", "identity", "total", "MakeLoss"],
    lambda name: [gradients(name, lambda *s: ramp(*s), shape=shape) for shape in ((6,), (3, 2), (2, 3, 1))],
)

RECORDED = {
    "square": (lambda x: x * x, "size"),
    "sum": (lambda x: x.sum(axis=1), "dtype"),
    "total": (lambda x: x.sum(), "dtype"),
    "reshape": (lambda x: x.reshape((3, 2)), "dtype"),
    "concat": (lambda x: mx.nd.concat(x, x, dim=0), "rows"),
    "slice": (lambda x: x[:, 1:2], "dtype"),
    "loss": (lambda x: mx.nd.MakeLoss(x), "size dtype"),
    "blocked": (lambda x: mx.nd.BlockGrad(x) + x, "size"),
}


def recorded(name):
    function, of = RECORDED[name]
    answers = []
    for kind, head in (
        ("size", lambda y: ramp(y.size + 4)),
        ("size", lambda y: ramp(y.shape[0] + 2, *y.shape[1:])),
        ("rows", lambda y: ramp(y.shape[0] + 2, *y.shape[1:])),
        ("dtype", lambda y: ramp(*y.shape, dtype="int32")),
        ("dtype", lambda y: ramp(*y.shape, dtype="float64")),
    ):
        if kind not in of:
            continue
        x = ramp(2, 3)
        x.attach_grad()
        with mx.autograd.record():
            y = function(x)
        y.backward(head(y))
        answers.append(x.grad)
    return answers


each("a recorded head", RECORDED, recorded)
