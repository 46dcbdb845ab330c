"""mx.nd: operators by table, with first gradients."""

from kit import area, array, check, each, expressions, fails, mx, np, numbers

area("nd")

SMALL = (
    "abs arcsinh arctan cbrt ceil cos cosh degrees erf exp expm1 fix floor hard_sigmoid negative radians relu rint "
    "round sigmoid sign sin sinh softsign square tan tanh trunc logical_not softmax log_softmax softmin flatten "
    "identity BlockGrad make_loss stop_gradient zeros_like ones_like shape_array size_array"
).split()
POSITIVE = "log log10 log1p log2 sqrt rsqrt rcbrt reciprocal gamma gammaln digamma".split()
INSIDE = "arccos arcsin arctanh erfinv".split()


def with_gradient(function, *inputs):
    """Outputs and gradients of the inputs."""
    for one in inputs:
        one.attach_grad()
    with mx.autograd.record():
        y = function(*inputs)
        head = sum((one * one).sum() for one in (y if isinstance(y, list) else [y]) if one.dtype == np.float32)
    if not isinstance(head, mx.nd.NDArray):
        return y
    head.backward()
    return y, [one.grad for one in inputs]


def unary(name, low=-0.9, high=0.9):
    return with_gradient(getattr(mx.nd, name), array(3, 4, low=low, high=high))


each("unary", SMALL, unary)
each("unary", POSITIVE, lambda name: unary(name, 0.3, 4.0), rtol=1e-3)
each("unary", INSIDE, unary, rtol=1e-3)
each("unary", ["arccosh"], lambda name: unary(name, 1.5, 4.0))

BINARY = "add sub mul div power maximum minimum hypot equal not_equal greater lesser greater_equal lesser_equal".split()
each(
    "broadcast",
    BINARY,
    lambda name: with_gradient(
        getattr(mx.nd, f"broadcast_{name}"), array(3, 1, low=0.3, high=2), array(1, 4, low=0.3, high=2)
    ),
)
each(
    "function",
    "add subtract multiply divide modulo power maximum minimum equal logical_and logical_or logical_xor".split(),
    lambda name: [
        getattr(mx.nd, name)(array(3, 4, low=0.3), array(3, 4, seed=1, low=0.3)),
        getattr(mx.nd, name)(array(3, 4, low=0.3), 0.5),
        getattr(mx.nd, name)(0.5, array(3, 4, low=0.3)),
    ],
)
each(
    "reduce",
    "sum mean prod nansum nanprod max min norm argmax argmin".split(),
    lambda name: [
        with_gradient(lambda x: getattr(mx.nd, name)(x, axis=1), array(2, 3, 4)),
        getattr(mx.nd, name)(array(2, 3, 4), axis=0, keepdims=True),
        fails(lambda: getattr(mx.nd, name)(array(2, 3), axis=5)),
    ],
)

X = {"x": lambda: array(2, 3, 4), "w": lambda: array(5, 4), "v": lambda: array(4), "i": lambda: mx.nd.array([1, 0, 2])}
EXPRESSIONS = """
mx.nd.dot(x, w, transpose_b=True)
mx.nd.dot(w, v)
mx.nd.batch_dot(x, x, transpose_b=True)
mx.nd.FullyConnected(x, w, None, num_hidden=5, no_bias=True, flatten=False)
mx.nd.concat(x, x, dim=1)
mx.nd.stack(x, x, axis=-1)
mx.nd.split(x, num_outputs=3, axis=1)
mx.nd.split(x, num_outputs=3, axis=1, squeeze_axis=True)
mx.nd.split_v2(x, (1, 2), axis=2)
mx.nd.SwapAxis(x, 0, 2)
mx.nd.transpose(x)
mx.nd.transpose(x, (0, 2, 1))
mx.nd.reshape(x, (-1, 0))
mx.nd.reshape(x, shape=(-3, 0))
mx.nd.reshape(x, shape=(-4, 1, 2, -2))
mx.nd.reshape_like(x, mx.nd.zeros((4, 6)))
mx.nd.expand_dims(x, 1)
mx.nd.squeeze(mx.nd.expand_dims(x, 1))
mx.nd.tile(x, (2, 1, 2))
mx.nd.repeat(x, 2, axis=1)
mx.nd.flip(x, axis=1)
mx.nd.reverse(x, axis=(0, 2))
mx.nd.slice(x, (0, 1, None), (1, 3, None))
mx.nd.slice(x, (None, 2, 3), (None, None, 0), (None, -1, -2))
mx.nd.slice_axis(x, axis=1, begin=1, end=None)
mx.nd.slice_like(x, mx.nd.zeros((1, 2, 2)))
mx.nd.pad(x.expand_dims(0), mode='edge', pad_width=(0, 0, 0, 0, 1, 1, 2, 2))
mx.nd.pad(x.expand_dims(0), mode='constant', constant_value=3, pad_width=(0, 0, 0, 0, 1, 1, 2, 2))
mx.nd.take(w, i)
mx.nd.take(w, i, axis=1, mode='wrap')
mx.nd.batch_take(w, mx.nd.array([0, 1, 2, 3, 0]))
mx.nd.pick(w, mx.nd.array([0, 1, 2, 3, 0]), axis=1)
mx.nd.pick(w, mx.nd.array([0, 1, 2, 9, 0]), keepdims=True)
mx.nd.one_hot(i, 4, on_value=2, off_value=-1)
mx.nd.one_hot(i, 4, dtype='int32')
mx.nd.gather_nd(x, mx.nd.array([[0, 1], [2, 0]]))
mx.nd.scatter_nd(mx.nd.array([2, 3]), mx.nd.array([[0, 1], [1, 0]]), shape=(2, 2))
mx.nd.where(x > 0, x, -x)
mx.nd.clip(x, -0.5, 0.5)
mx.nd.sort(x, axis=1, is_ascend=False)
mx.nd.argsort(x, axis=-1)
mx.nd.topk(x, k=2, ret_typ='both', axis=2)
mx.nd.topk(x, k=2, ret_typ='mask')
mx.nd.topk(x, k=1, dtype='int32')
mx.nd.argmax_channel(w)
mx.nd.cast(x * 3, 'int32')
mx.nd.cast(x, 'float16')
mx.nd.amp_cast(x, 'float16')
mx.nd.amp_multicast(x.astype('float16'), x, num_outputs=2)
mx.nd.broadcast_to(x.slice_axis(0, 0, 1), (5, 3, 4))
mx.nd.broadcast_axis(x.slice_axis(0, 0, 1), axis=0, size=3)
mx.nd.broadcast_like(v, w)
mx.nd.L2Normalization(x)
mx.nd.L2Normalization(x, mode='channel')
mx.nd.LRN(x.expand_dims(0), nsize=3)
mx.nd.InstanceNorm(x, mx.nd.ones(3), mx.nd.zeros(3))
mx.nd.LayerNorm(x, mx.nd.ones(4), mx.nd.zeros(4))
mx.nd.GroupNorm(x.expand_dims(0), mx.nd.ones(2), mx.nd.zeros(2), num_groups=2)
mx.nd.SoftmaxOutput(w, mx.nd.array([0, 1, 2, 3, 0]))
mx.nd.softmax_cross_entropy(w, mx.nd.array([0, 1, 2, 3, 0]))
mx.nd.smooth_l1(x, scalar=2.0)
mx.nd.SequenceMask(x, mx.nd.array([1, 2, 1]), use_sequence_length=True, value=7)
mx.nd.SequenceLast(x, mx.nd.array([1, 2, 1]), use_sequence_length=True)
mx.nd.SequenceReverse(x, mx.nd.array([1, 2, 1]), use_sequence_length=True)
mx.nd.Embedding(i, w, input_dim=5, output_dim=4)
mx.nd.diag(w, k=1)
mx.nd.depth_to_space(mx.nd.arange(32).reshape((1, 8, 2, 2)), 2)
mx.nd.space_to_depth(mx.nd.arange(32).reshape((1, 2, 4, 4)), 2)
mx.nd.khatri_rao(w, w)
mx.nd.cumsum(x, axis=1)
mx.nd.add_n(x, x, x)
mx.nd.UpSampling(x.expand_dims(0), scale=2, sample_type='nearest')
mx.nd.im2col(mx.nd.arange(16).reshape((1, 1, 4, 4)), kernel=(2, 2))
mx.nd.unravel_index(mx.nd.array([5, 7]), shape=(3, 4))
mx.nd.ravel_multi_index(mx.nd.array([[1, 2], [0, 3]]), shape=(3, 4))
mx.nd.moments(x, axes=(0, 2))
mx.nd.multi_sum_sq(x, w, num_arrays=2)
mx.nd.all_finite(x)
mx.nd.histogram(x, bins=4, range=(-1, 1))
mx.nd.digamma(mx.nd.array([1, 2.5]))
mx.nd.linalg.gemm2(w, w, transpose_b=True, alpha=2)
mx.nd.linalg.gemm(w, w, mx.nd.zeros((5, 5)), transpose_b=True, beta=0.5)
mx.nd.linalg.potrf(mx.nd.array([[4, 2], [2, 3]]))
mx.nd.linalg.syrk(w, alpha=0.5)
mx.nd.linalg.inverse(mx.nd.array([[4, 2], [2, 3]]))
mx.nd.linalg.det(mx.nd.array([[4, 2], [2, 3]]))
mx.nd.linalg.slogdet(mx.nd.array([[4, 2], [2, 3]]))
mx.nd.linalg.sumlogdiag(mx.nd.array([[4, 2], [2, 3]]))
mx.nd.linalg.extractdiag(mx.nd.array([[4, 2], [2, 3]]))
mx.nd.contrib.arange_like(x, axis=1)
mx.nd.contrib.box_iou(mx.nd.array([[0, 0, 2, 2]]), mx.nd.array([[1, 1, 3, 3], [0, 0, 1, 1]]), format='corner')
mx.nd.contrib.boolean_mask(w, mx.nd.array([1, 0, 1, 0, 1]))
mx.nd.contrib.index_copy(w, mx.nd.array([1, 3]), mx.nd.ones((2, 4)))
mx.nd.contrib.index_array(w)
mx.nd.contrib.AdaptiveAvgPooling2D(x.expand_dims(0), output_size=2)
mx.nd.contrib.BilinearResize2D(x.expand_dims(0), height=5, width=6)
mx.nd.contrib.div_sqrt_dim(x)
mx.nd.contrib.getnnz(x)
mx.nd.contrib.quadratic(x, a=1, b=2, c=3)
mx.nd.contrib.isfinite(x / 0)
mx.nd.contrib.isnan(mx.nd.array([np.nan, 1]))
mx.nd.image.to_tensor(mx.nd.ones((4, 5, 3), dtype='uint8') * 200)
mx.nd.image.normalize(x, mean=(1, 2, 3), std=(1, 2, 3)).shape if x.shape[0] == 3 else 0
mx.nd.image.resize(mx.nd.arange(48).reshape((4, 4, 3)), (2, 2))
mx.nd.image.crop(mx.nd.arange(48).reshape((4, 4, 3)), 1, 1, 2, 2)
mx.nd.Custom(x, op_type='nothing of the kind')
mx.nd.Activation(x, act_type='softrelu')
mx.nd.LeakyReLU(x, act_type='elu', slope=0.3)
mx.nd.LeakyReLU(x, act_type='gelu')
mx.nd.LeakyReLU(x, mx.nd.ones(3) * 0.2, act_type='prelu')
mx.nd.LeakyReLU(x, act_type='selu')
mx.nd.Activation(x, act_type='no such')
mx.nd.Activation(x)
mx.nd.FullyConnected(x, w, num_hidden=5)
mx.nd.FullyConnected(x, w, num_hidden=6, no_bias=True)
mx.nd.reshape(x, (5, 5))
mx.nd.concat(x, w, dim=0)
mx.nd.exp(x, no_such=3)
mx.nd.exp()
mx.nd.exp(3)
mx.nd.no_such_function(x)
mx.nd.dot(x, mx.nd.zeros((7, 2)))
mx.nd._internal._plus_scalar(x, scalar=2)
mx.nd._internal._rminus_scalar(x, scalar=2)
mx.nd._internal._copyto(x)
mx.nd._internal._copy(x)
mx.nd._internal._zeros(shape=(2, 3), dtype='int32')
mx.nd._internal._arange(start=1, stop=5, step=2)
mx.nd._internal._linspace(start=1, stop=5, num=3)
mx.nd._internal._eye(N=3, M=4, k=1)
mx.nd._internal._full(shape=(2,), value=3)
mx.nd._internal._maximum(x, x * 2)
mx.nd._internal._slice_assign_scalar(x, scalar=1, begin=(0, 0, 0), end=(1, 1, 2))
mx.nd._internal._slice_assign(x, mx.nd.zeros((1, 1, 2)), begin=(0, 0, 0), end=(1, 1, 2))
mx.nd._internal._scatter_set_nd(x, mx.nd.ones(2), mx.nd.array([[0, 1], [1, 0], [0, 0]]), shape=(2, 3, 4))
mx.nd._internal._identity_with_attr_like_rhs(x, x)
mx.nd._internal._mul(x, x)
mx.nd._internal._equal_scalar(x, scalar=1)
mx.nd._internal._shuffle(mx.nd.zeros(4))
""".strip().splitlines()
expressions("", X, EXPRESSIONS, rtol=1e-3, atol=1e-4)

REFUSED = """
x.tostype('csr')
mx.nd.contrib.fft(w)
mx.nd.contrib.quantize(x, mx.nd.array([-1]), mx.nd.array([1]))
mx.nd.contrib.quantized_flatten(x, mx.nd.array([-1]), mx.nd.array([1]))
mx.nd.sparse.retain(x, i)
mx.nd.contrib.edge_id(x, i, i)
""".strip().splitlines()
for row in REFUSED:
    each("is refused:", [(row, row)], lambda _, row: eval(row, {"mx": mx, "np": np, **{k: X[k]() for k in X}}))


@check
def large_arrays():
    x = mx.nd.array(numbers(1030, 517))
    return with_gradient(lambda a: mx.nd.softmax(a, axis=0) * a, x)[0].sum(), x.grad.sum(), (x * 2 + 1).mean()


each(
    "integers",
    "int8 uint8 int32 int64".split(),
    lambda dtype: [
        mx.nd.arange(6, dtype=dtype) + 2,
        mx.nd.arange(6, dtype=dtype) * mx.nd.arange(6, dtype=dtype),
        mx.nd.arange(6, dtype=dtype).sum(),
        mx.nd.arange(6, dtype=dtype) / 4,
        mx.nd.arange(6, dtype=dtype) % 4,
        mx.nd.arange(6, dtype=dtype) ** 2,
        mx.nd.arange(6, dtype=dtype) > 3,
        mx.nd.arange(6, dtype=dtype).max(),
        mx.nd.arange(6, dtype=dtype).reshape((2, 3)).T,
    ],
)
each(
    "floats",
    "float16 float64".split(),
    lambda dtype: [
        with_gradient(lambda a: mx.nd.exp(a) * a, mx.nd.array(numbers(3, 4), dtype=dtype))[0],
        mx.nd.array(numbers(3, 4), dtype=dtype).mean(),
        mx.nd.FullyConnected(
            mx.nd.array(numbers(3, 4), dtype=dtype), mx.nd.ones((2, 4), dtype=dtype), no_bias=True, num_hidden=2
        ),
        mx.nd.array(numbers(3, 4), dtype=dtype).norm(),
    ],
)
