"""mx.autograd: recording, requests, orders, functions, errors."""

from kit import area, array, check, each, fails, mx, np

area("autograd")
ag = mx.autograd


def leaf(*shape, request="write"):
    x = array(*shape)
    x.attach_grad(request)
    return x


@check
def modes():
    out = [ag.is_recording(), ag.is_training()]
    for scope in (ag.record(), ag.record(False), ag.pause(), ag.pause(True), ag.train_mode(), ag.predict_mode()):
        with scope:
            out += [ag.is_recording(), ag.is_training()]
            with ag.predict_mode():
                out.append(ag.is_training())
    return out, ag.set_recording(True), ag.set_recording(False), ag.set_training(True), ag.set_training(False)


@check
def requests():
    out = []
    for request in ("write", "add", "null"):
        x = leaf(3, request=request)
        for _ in range(2):
            with ag.record():
                y = (x * x).sum()
            out.append(fails(y.backward))
        out.append(x.grad)
    return out


@check
def heads_and_their_gradients():
    x = leaf(3)
    with ag.record():
        y, z = x * 2, x * x
    ag.backward([y, z], [mx.nd.array([1, 2, 3]), None])
    return x.grad, fails(lambda: ag.backward([y], [mx.nd.ones(3), None]))


@check
def gradients_by_value():
    x = leaf(3)
    with ag.record():
        y = mx.nd.exp(x)
        first = ag.grad(y, x, create_graph=True, retain_graph=True)
        second = ag.grad(first[0].sum(), [x], retain_graph=True)
    with ag.record():
        z = mx.nd.sin(x) * x
        d = ag.grad(z, [x], head_grads=mx.nd.ones(3) * 2, create_graph=True)[0]
    d.backward()
    return first, second, d, x.grad


@check
def mistakes():
    x = leaf(3)
    y = x * 2
    with ag.record():
        z = x * 2
        w = array(3) * 2
    z.backward()
    return [
        fails(y.backward), fails(z.backward), fails(w.backward), fails(lambda: ag.grad(z, array(3))),
        fails(lambda: ag.backward([])), fails(lambda: z.backward(mx.nd.ones(4))), fails(lambda: ag.grad([], [x])),
    ]  # fmt: skip


@check
def retained_graphs():
    x = leaf(3, request="add")
    with ag.record():
        y = x * x
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    y.backward()
    return x.grad, fails(y.backward)


@check
def marked_variables():
    x, grad = array(3), mx.nd.zeros(3)
    ag.mark_variables(x, grad)
    with ag.record():
        y = x * x
    y.backward()
    ag.mark_variables([x], [mx.nd.ones(3)], "add")
    with ag.record():
        y = x * x
    y.backward()
    return grad, x.grad


@check
def detached_parts():
    x = leaf(3)
    with ag.record():
        y = x * 2
        z = y.detach() * x + mx.nd.BlockGrad(y) * 3
        with ag.pause():
            w = x * 7
        z = z + w
    z.backward()
    return x.grad


@check
def edits_in_place():
    x = leaf(3)
    out = []
    with ag.record():
        y = x * 2
        for edit in ("y += 1", "y[:] = 3", "y[0] = 1", "x += 1", "x[:] = 1"):
            space = {"x": x, "y": y}
            out.append(fails(lambda e=edit, s=space: exec(e, s)))
    return out


@check
def functions():
    class Half(ag.Function):
        def forward(self, x, y):
            self.save_for_backward(x)
            return x / 2, y * 3

        def backward(self, dx, dy):
            (x,) = self.saved_tensors
            return dx * x, dy * 5

    x, y = leaf(3), leaf(3)
    with ag.record():
        a, b = Half()(x, y)
        (a + b).sum().backward()
    return a, b, x.grad, y.grad


@check
def functions_with_errors():
    class Bad(ag.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dx):
            raise ValueError("bad")

    class Few(ag.Function):
        def forward(self, x, y):
            return x * y

        def backward(self, dx):
            return dx

    x = leaf(3)
    with ag.record():
        y = Bad()(x)
    with ag.record():
        z = Few()(x, x)
    return fails(lambda: (y.backward(), x.grad.asnumpy()))[-5:], fails(lambda: (z.backward(), x.grad.asnumpy()))[-5:]


@check
def symbols_of_graphs():
    x = leaf(3)
    with ag.record():
        y = mx.nd.exp(x) * 2
    graph = ag.get_symbol(y)
    return len(graph.list_arguments()), [n["op"] for n in __import__("json").loads(graph.tojson())["nodes"]]


@check
def dropout_follows_the_mode():
    x = mx.nd.ones((100, 100))
    with ag.record():
        train = mx.nd.Dropout(x, p=0.5)
    with ag.record(train_mode=False):
        rest = mx.nd.Dropout(x, p=0.5)
    always = mx.nd.Dropout(x, p=0.5, mode="always")
    return [0.4 < float((one == 0).mean().asscalar()) < 0.6 for one in (train, rest, always)], train.max()


@check
def batch_norm_follows_the_mode():
    x, out = array(4, 3, low=1, high=3), []
    for train in (True, False):
        mean, var = mx.nd.zeros(3), mx.nd.ones(3)
        with ag.record(train):
            y = mx.nd.BatchNorm(x, mx.nd.ones(3), mx.nd.zeros(3), mean, var, fix_gamma=False, momentum=0.5)
        out += [y, mean, var]
    return out


HIGHER = """
mx.nd.exp(x)
mx.nd.log(x + 2)
mx.nd.sin(x)
mx.nd.tanh(x)
mx.nd.sigmoid(x)
mx.nd.sqrt(x + 2)
x * x * x
1 / (x + 2)
mx.nd.relu(x)
mx.nd.elemwise_mul(x, mx.nd.sin(x))
mx.nd.cbrt(x + 2)
mx.nd.arctan(x)
mx.nd.expm1(x)
mx.nd.FullyConnected(x, x, no_bias=True, num_hidden=3)
mx.nd.clip(x, -0.1, 0.1)
mx.nd.square(x).mean()
""".strip().splitlines()


def second(text):
    x = leaf(3, 3)
    with ag.record():
        y = eval(text, {"mx": mx, "x": x})
        d = ag.grad(y, x, create_graph=True)[0]
        e = (d * d).sum()
    e.backward()
    return d, x.grad


each("second order", HIGHER, second)


@check
def threads_have_their_own_modes():
    import threading

    out = []
    with ag.record():
        thread = threading.Thread(target=lambda: out.append((ag.is_recording(), ag.is_training())))
        thread.start()
        thread.join()
    return out


@check
def variables_of_other_dtypes():
    out = []
    for dtype in ("float16", "float64", "int32"):
        x = mx.nd.array([1, 2, 3], dtype=dtype)
        x.attach_grad()
        with ag.record():
            y = x * x
        y.backward()
        out.append(x.grad)
    return out, np.int32(0)
