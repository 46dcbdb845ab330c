"""mx.sym.np and mx.sym.npx: shapes and dtypes of graphs, and blocks that become graphs."""

from kit import area, each, expressions, mx

area("np symbols")

NAMES = {
    "a": lambda: mx.sym.var("a").as_np_ndarray(),
    "b": lambda: mx.sym.var("b").as_np_ndarray(),
    "c": lambda: mx.sym.var("c").as_np_ndarray(),
    "s": lambda: mx.sym.np,
    "x": lambda: mx.sym.npx,
}
TYPES = """
s.argmax(a).infer_type(a='bool'), s.argmin(a, axis=0).infer_type_partial(a='bool')
s.percentile(a, 30).infer_type(a='int32'), s.percentile(a, b).infer_type(a='int32', b='float32')
s.percentile(a, b).infer_type(a='float64', b='int64'), s.percentile(a, 30).infer_type(a='float16')
mx.sym.Group(list(s.unique(a, True, True, True))).infer_type(a='float32')
s.bincount(a, weights=b).infer_type(a='int64', b='float32')
s.delete(a, b, axis=0).infer_type(a='float32', b='int64')
s.insert(a, b, c, axis=0).infer_type(a='int8', b='int64', c='int8')
s.insert(a, 1, b, axis=0).infer_type(a='float16', b='int32'), s.diag_indices_from(a).infer_type(a='float32')
s.may_share_memory(a, b).infer_type(a='float32', b='int8'), x.nonzero(a).infer_type(a='float32')
x.constraint_check(a, 'no').infer_type(a='bool')
x.softmax(a, length=b, use_length=True).infer_type(a='float32', b='int32')
s.arctan2(a, 2.5).infer_type(a='int32'), s.arctan2(2.5, a).infer_type(a='int8'), s.ldexp(a, 1.5).infer_type(a='int64')
s.copysign(a, 2.5).infer_type(a='uint8'), s.copysign(2.5, a).infer_type(a='float16'), s.ldexp(a, 2).infer_type(a='int8')
s.arctan2(a, 2.0).infer_type(a='bool'), s.arctan2(a, 2).infer_type(a='bool')
""".strip().splitlines()
expressions("dtypes of", NAMES, TYPES)


def shapes(_, text):
    mx.npx.set_np()
    try:
        return eval(text, {name: make() for name, make in NAMES.items()})
    finally:
        mx.npx.reset_np()


SHAPES = """
s.delete(a, b, axis=0).infer_shape(a=(5, 2), b=(2,))
s.bincount(a).infer_shape(a=(5,))
s.unique(a).infer_shape(a=(5,))
x.constraint_check(a, 'no').infer_shape(a=(5,))
s.arctan2(a, 2.5).infer_shape(a=(5, 2))
""".strip().splitlines()
each("shapes of", [(row, row) for row in SHAPES], shapes)


class Said(mx.gluon.HybridBlock):
    """What a text says of F and x."""

    def __init__(self, text):
        super().__init__()
        self.text = text

    def hybrid_forward(self, F, x):  # noqa: N803
        return eval(self.text, {"F": F, "x": x})


def hybrid(_, text, values, dtype):
    mx.npx.set_np()
    try:
        block = Said(text)
        block.hybridize()
        return block(mx.np.array(values, dtype=dtype))
    finally:
        mx.npx.reset_np()


BLOCKS = [
    ("arctan2 of integers and a fraction", "F.np.arctan2(x, 2.5)", [1, 0, -3], "int32"),
    ("arctan2 of a fraction and integers", "F.np.arctan2(2.5, x)", [1, 0, -3], "int8"),
    ("ldexp of integers and a fraction", "F.np.ldexp(x, 1.5)", [1, 2, -3], "int32"),
    ("arctan2 of integers", "F.np.arctan2(x, 2)", [1, 0, -3], "int32"),
    ("a check that passes", "F.npx.constraint_check(x > 0, 'no')", [1, 2], "float32"),
]
each("hybrid", BLOCKS, hybrid)


def beginnings(_, make):
    """Attributes __init__ of variables that were given by name or position."""
    g, m, v = mx.sym.var("g"), mx.sym.var("m"), mx.sym.var("v", init=mx.init.Constant(3))
    attributes = make(mx.sym.var("x"), g, mx.sym.var("b"), m, v).attr_dict()
    return {name: values["__init__"] for name, values in attributes.items() if "__init__" in values}


each(
    "how variables begin:",
    [
        ("BatchNorm", lambda *all: mx.sym.BatchNorm(*all)),
        ("BatchNorm by name", lambda x, g, b, m, v: mx.sym.BatchNorm(x, gamma=g, beta=b, moving_mean=v, moving_var=m)),
        ("SyncBatchNorm", lambda *all: mx.sym.contrib.SyncBatchNorm(*all, key="k")),
        ("prelu", lambda x, g, *_: mx.sym.LeakyReLU(x, g, act_type="prelu")),
        ("prelu with its own", lambda x, g, b, m, v: mx.sym.LeakyReLU(x, v, act_type="prelu")),
        (
            "UpSampling",
            lambda x, g, *_: mx.sym.UpSampling(x, g, scale=2, sample_type="bilinear", num_filter=3, num_args=2),
        ),
        ("of a graph", lambda x, g, b, m, v: mx.sym.BatchNorm(x, name="n")(n_moving_mean=m)),
    ],
    beginnings,
)
