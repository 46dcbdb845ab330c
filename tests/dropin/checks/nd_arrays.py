"""mx.nd.NDArray: indexing, methods, creation, files, contexts, errors."""

import pickle

from kit import area, array, check, expressions, fails, mx, np, numbers

area("ndarray")

NAMES = {"x": lambda: array(3, 4), "y": lambda: array(2, 3, 4), "i": lambda: mx.nd.array([0, 2], dtype="int32")}
READ = """
x[1]
x[-1]
x[0:2]
x[:, 1]
x[1:3, ::2]
x[::-1]
x[2:0:-1, 3]
x[None]
x[..., 1]
x[1, 2]
x[i]
x[[0, 2]]
x[[0, 2], [1, 3]]
x[np.array([0, 2])]
y[:, [0, 1], 1:3]
y[[1], :, i]
y[1, ..., None]
y[()]
x[5]
x[0, 0, 0]
x['a']
x[x > 0]
x[1.5]
x[0:0]
len(x)
x.size, x.ndim, x.shape, x.dtype, x.stype, x.context
float(x.sum()), int(mx.nd.array([3.0]))
bool(mx.nd.array([1])), fails(lambda: bool(x))
list(mx.nd.arange(3))
str(x[0].shape), repr(mx.nd.array([1, 2]))
x.T
x.asscalar()
x.sum().asscalar()
x.astype('int32')
x.astype('float64', copy=False)
x.astype('no such dtype')
x.copy()
x.copyto(mx.nd.zeros((3, 4)))
x.copyto(mx.nd.zeros((2, 4)))
x.copyto(mx.cpu(1)).context
x.as_in_context(mx.cpu(0)) is x
x.reshape((2, 6)), x.reshape(-1), x.reshape((-1, 2, 0), reverse=True), x.reshape(2, -1)
x.reshape((5, 5)), fails(lambda: x.reshape((5, 5))), fails(lambda: x.reshape((2, 3))), fails(lambda: x.reshape((-1, 7)))
x.expand_dims(0).squeeze().shape
x.flatten().shape
x.broadcast_to((3, 4)), x.slice_axis(0, 0, 1).broadcast_like(x)
x + 1, 1 + x, x - 1, 1 - x, x * 2, 2 * x, x / 2, 2 / x, x ** 2, 2 ** x, x % 0.3, 0.3 % x, -x, abs(x)
x == x, x != 0, x > 0, x >= 0, x < 0, x <= 0
x + x[0], x * x.slice_axis(1, 0, 1)
x + mx.nd.zeros((2, 2))
x + 'a'
x + None
x == None
x.sum(axis=0), x.mean(axis=(0, 1)), x.max(), x.min(axis=1), x.prod(), x.norm(), x.argmax(axis=1)
x.clip(0, 0.5), x.abs(), x.sign(), x.exp(), x.tanh(), x.sigmoid(), x.relu(), x.square(), x.round()
x.softmax(axis=0), x.log_softmax(), x.topk(k=2), x.sort(), x.argsort(), x.pick(mx.nd.array([0, 1, 2]))
x.take(i), x.one_hot(3).shape, x.tile((2, 1)), x.repeat(2), x.flip(0), x.swapaxes(0, 1), x.diag()
x.split(2, axis=1), x.slice((0, 1), (2, 3)), x.slice_axis(1, 1, 3), x.transpose(), x.pad
x.tojson()
x.no_such_method()
x.wait_to_read(), x.wait_to_write(), mx.nd.waitall()
x.to_dlpack_for_read() is not None
mx.nd.from_dlpack(mx.nd.to_dlpack_for_read(x))
mx.nd.from_dlpack(mx.nd.to_dlpack_for_write(x))
mx.nd.from_numpy(np.ones((2, 3), 'float32'))
mx.nd.from_numpy(np.ones((2, 3), 'float32'), zero_copy=False)
mx.nd.zeros((2, 3)), mx.nd.ones((2, 3), dtype='int32'), mx.nd.full((2, 2), 7), mx.nd.empty((2, 3)).shape
mx.nd.zeros(3), mx.nd.zeros((0, 3))
mx.nd.arange(5), mx.nd.arange(1, 6, 2, repeat=2), mx.nd.arange(5, dtype='int64'), mx.nd.linspace(0, 1, 5)
mx.nd.eye(3), mx.nd.eye(3, 4, 1), mx.nd.array([[1, 2], [3, 4]]), mx.nd.array(3), mx.nd.array([1], dtype='uint8')
mx.nd.array(np.arange(4)), mx.nd.array(np.arange(4.0)), mx.nd.array(x, dtype='int8')
mx.nd.array([[1, 2], [3]])
mx.nd.array('text')
mx.nd.concatenate([x, x], axis=1), mx.nd.concatenate([x])
mx.nd.moveaxis(y, 0, -1), mx.nd.onehot_encode(mx.nd.array([0, 1]), mx.nd.zeros((2, 3)))
mx.nd.true_divide(x, 2), mx.nd.imdecode
mx.nd.zeros_like(x), mx.nd.ones_like(x), mx.nd.histogram(x, 3)
mx.nd.split_v2(x, 2, axis=1), mx.nd.split_v2(x, (1,), axis=0, squeeze_axis=True)
mx.nd.zeros((2, 3), ctx=mx.cpu(1)).context
mx.nd.zeros((2, 3), ctx=mx.gpu(0))
mx.nd.zeros((2, 3), dtype='bool')
mx.nd.zeros((2, 3), stype='csr')
mx.nd.zeros((-1, 3))
mx.nd.NDArray(None)
x.asnumpy().flags.writeable
x.handle is not None
x.grad
x.detach(), x.attach_grad(), x.grad, x.grad.shape
x.attach_grad('no such')
x.attach_grad(stype='csr')
x.backward()
x.tostype('default')
x.as_nd_ndarray() is x, x.as_np_ndarray().shape
x._slice(1, 2), x._at(1), x._at(-1), fails(lambda: x._at(7)), fails(lambda: x._slice(2, 1))
x._full(3), x._sync_copyfrom(np.ones((3, 4))), x
x._sync_copyfrom(np.ones((3, 5)))
hash(x) == hash(x), x.__bool__
mx.nd.norm(x, ord=1), mx.nd.norm(x, axis=1)
mx.nd.maximum(x, 0), mx.nd.minimum(0, x), mx.nd.maximum(1, 2)
mx.nd.Cast(x, dtype='int8')
mx.nd.batch_norm
mx.nd.waitall()
""".strip().splitlines()
expressions("", {**NAMES, "fails": fails}, [row for row in READ if "fails" not in row])
expressions("", {**NAMES, "_": 0}, [row for row in READ if "fails" in row and "lambda" not in row])


@check
def slices_out_of_range():
    x = array(3, 4)
    return fails(lambda: x._at(7)), fails(lambda: x._slice(2, 1)), fails(lambda: bool(x)), fails(lambda: x[3:9].shape)


WRITE = """
x[1] = 5
x[:] = 2
x[0:2] = mx.nd.ones((2, 4))
x[:, 1] = 7
x[1, 2] = -1
x[::2] = 9
x[[0, 2]] = 4
x[[0, 2], [1, 3]] = mx.nd.array([8, 9])
x[i, 1:3] = 6
x[..., 0] = 3
x[1:3, 1:3] = np.zeros((2, 2))
x[1] = [1, 2, 3, 4]
x[:] = np.arange(4)
x[-1] = x[0]
x[0] += 1
x += x[0]
x -= 1
x *= 2
x /= 4
x %= 0.3
x **= 2
x[9] = 1
x[0:2] = mx.nd.ones((3, 4))
x[:, 5] = 1
x[0:0] = 1
mx.nd.exp(x, out=x)
mx.nd.broadcast_add(x, x[0:1], out=x)
mx.nd.elemwise_add(x, x, out=x[0:3])
mx.nd.exp(x, out=mx.nd.zeros((2, 2)))
mx.nd.random.uniform(out=x); x[:] = x.shape[0]
mx.nd._internal._set_value(src=3, out=x)
mx.nd.sgd_update(x, x, lr=0.1, out=x)
x[:, :] = x.T.reshape((3, 4))
x[x > 0] = 1
""".strip().splitlines()


def write(row):
    space = {"mx": mx, "np": np, "x": array(3, 4), "i": mx.nd.array([0, 2], dtype="int32")}
    exec(row, space)
    return space["x"]


from kit import each  # noqa: E402

each("write", WRITE, write)


@check
def views_share_memory():
    x = mx.nd.zeros((3, 4))
    x[1][:] = 3
    x.reshape((4, 3))[0] = 7
    row = x[2]
    x[2] = 9
    return x, row


@check
def files_of_lists():
    mx.nd.save("a.params", [array(2), array(3, 4).astype("int32")])
    mx.nd.save("b.params", {"w": array(2), "b": array(3)})
    mx.nd.save("c.params", array(2, 2))
    with open("b.params", "rb") as file:
        again = mx.nd.load_frombuffer(file.read())
    return mx.nd.load("a.params"), mx.nd.load("b.params"), mx.nd.load("c.params"), again


@check
def files_have_the_same_bytes():
    mx.nd.save("b.params", {"w": array(2), "b": array(3).astype("float16")})
    with open("b.params", "rb") as file:
        return file.read()


@check
def bad_files():
    with open("bad.params", "wb") as file:
        file.write(b"nothing of the kind")
    with open("empty.params", "wb"):
        pass
    return [fails(lambda name=name: mx.nd.load(name)) for name in ("bad.params", "empty.params", "none.params")]


@check
def bad_saves():
    return [fails(lambda v=v: mx.nd.save("x", v)) for v in (3, [1], {"a": 1}, {1: array(2)})]


@check
def pickles():
    x = pickle.loads(pickle.dumps([array(3, 4), array(2).astype("int32")]))
    return x, x[0].context


@check
def shared_memory():
    from mxnet.ndarray.ndarray import NDArray

    x = array(3, 4).as_in_context(mx.Context("cpu_shared", 0))
    pid, key, shape, dtype = x._to_shared_mem()
    again = NDArray(mx.nd.ndarray._new_from_shared_mem(pid, key, shape, dtype))
    return again.asnumpy(), str(again.context)


@check
def zero_sizes_in_numpy_shape():
    with mx.util.np_shape(True):
        x = mx.nd.zeros((0, 3))
        scalar = mx.nd.ones(())
        return x, x.shape, scalar, scalar.shape, (x + 1).shape, mx.nd.concat(x, mx.nd.ones((2, 3)), dim=0)


@check
def errors_are_raised_at_the_wait():
    x = mx.nd.random.normal(0, -1, (2, 2))
    return fails(x.asnumpy), fails(mx.nd.waitall)


@check
def errors_do_not_stay():
    fails(lambda: mx.nd.random.normal(0, -1, (2, 2)).asnumpy())
    return (mx.nd.ones(3) + 1), mx.nd.dot(mx.nd.ones((2, 2)), mx.nd.ones((2, 2)))


@check
def big_int_indices():
    x = mx.nd.arange(5)
    return x[np.int64(2)], x[np.int8(1)], x[True].shape, fails(lambda: x[2**40])


@check
def methods_agree_with_functions():
    x, out = mx.nd.array(numbers(3, 4, low=0.2, high=0.8)), {}
    for name in sorted(dir(x)):
        if name[0] == "_" or name in ("handle", "T", "grad", "pad", "size", "ndim", "writable"):
            continue
        function = getattr(type(x), name)
        if callable(function) and hasattr(mx.nd, name):
            out[name] = fails(lambda name=name: getattr(array(3, 4), name)())
    return out
