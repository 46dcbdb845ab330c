"""Corners of NumPy operators: parts of nothing, extents that are kept, gradients of integers and of bool."""

from kit import area, each, mx, np

from checks.corners import in_numpy_mode

area("numpy corners")


def ramp(*shape, dtype="float32"):
    return mx.np.array(np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape), dtype=dtype)


def truth(*shape):
    return mx.np.array(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2 == 0, dtype=bool)


def gradients(function, *inputs, req="write", times=1):
    """The result of a function, and the gradients of its inputs."""
    for one in inputs:
        one.attach_grad(req)
    for _ in range(times):
        with mx.autograd.record():
            answer = function(*inputs)
        mx.autograd.backward(answer if isinstance(answer, list) else [answer])
    return [*(answer if isinstance(answer, list) else [answer]), *[one.grad for one in inputs]]


NAMES = {"ramp": lambda: ramp, "truth": lambda: truth, "gradients": lambda: gradients}
SPLITS = [
    f"gradients(lambda x: mx.np.{name}(x, {parts}{axis}), ramp{shape})"
    for name, axis, shapes in (
        ("split", ", axis=0", ("(0,)", "(0, 4)", "(4,)", "(2, 0)")),
        ("split", ", axis=-1", ("(0,)", "(2, 2, 0)", "(2, 4)")),
        ("array_split", ", axis=0", ("(0,)", "(0, 4)", "(4,)")),
        ("hsplit", "", ("(0,)", "(4,)", "(2, 0)", "(2, 4)")),
        ("vsplit", "", ("(0, 4)", "(4, 2)", "(2, 0)")),
        ("dsplit", "", ("(2, 2, 0)", "(2, 0, 4)", "(2, 2, 4)")),
    )
    for shape in shapes
    for parts in ("1", "2", "[1]", "[]", "[0]", "[5]", "[0, 0]", "[1, 3]")
]
KEPT = [
    f"gradients(lambda x: mx.np.broadcast_to(x, {to}), ramp{shape})"
    for shape in ("(3,)", "(1, 3)", "(2, 1)", "(2, 3)", "()", "(0,)", "(2, 1, 3)")
    for to in ("(-2,)", "(-2, 3)", "(2, -2)", "(4, -2, -2)", "(-1, 3)", "(5, -2, 4)", "(2, -2, 3)", "(-3,)")
]
DELETED = [
    f"mx.np.delete(ramp{shape}, {what}, axis={axis})"
    for shape, axis in (("(0,)", 0), ("(0,)", None), ("(0, 4)", 0), ("(2, 2, 0)", -1), ("(1,)", 0), ("()", 0))
    for what in ("0", "mx.np.array([0], dtype='int64')", "slice(0, 0)", "slice(0, 2)", "slice(3, 0)")
] + [
    f"mx.np.insert(ramp{shape}, {what}, {value}, axis={axis})"
    for shape, axis in (("(0,)", 0), ("(1,)", 0), ("(4,)", 0))
    for what in ("0", "-1", "[0]")
    for value in ("5.0",)
]
SOLVED = [
    f"gradients(lambda a, b: mx.np.linalg.tensorsolve(a, b), ramp{a} + 1, ramp{b})"
    for a, b in (("()", "()"), ("()", "(1,)"), ("(1,)", "(1,)"), ("(1, 1)", "(1,)"), ("(1,)", "()"), ("(1, 1)", "()"))
]
INTEGERS = [
    f"gradients(mx.np.{name}, ramp(3, dtype='{a}'), ramp(3, dtype='{b}') + 1)"
    for name in ("add", "subtract", "multiply", "true_divide", "power", "mod", "hypot", "maximum", "arctan2", "lcm")
    for a, b in (
        ("int32", "int32"),
        ("int8", "int8"),
        ("int32", "float32"),
        ("float32", "int64"),
        ("float64", "uint8"),
        ("float16", "int32"),
    )
    if not (name in ("true_divide", "hypot") and a[0] == b[0] == "i")
] + [
    f"gradients(lambda x: {text}, ramp(5, dtype='{dtype}'))"
    for text in (
        *("x % 2", "7 % x", "x ** 2", "2 ** x", "mx.np.hypot(x, 2)", "mx.np.around(x)", "mx.np.arcsinh(x)"),
        *("mx.npx.gamma(x)", "mx.npx.gammaln(x)", "x * 2.5", "mx.np.sqrt(x)"),
    )
    for dtype in ("int32", "int64", "int8")
]
BOOLS = [
    f"gradients(lambda x: {text}, truth(2, 2), req='{req}', times=2)"
    for text in (
        *("mx.np.expand_dims(x, 0)", "mx.np.concatenate([x], axis=0)", "x.reshape((-1,))"),
        "mx.np.squeeze(mx.np.expand_dims(x, 0))",
        *("x.astype('float32')", "x.copy()", "mx.np.tile(x, 2)", "mx.np.broadcast_to(x, (3, 2, 2))"),
        *("mx.np.repeat(x, 2, axis=0)", "mx.np.ravel(x)", "mx.np.logical_not(x)", "x == x"),
        "mx.np.pad(x, ((1, 1), (1, 1)))",
    )
    for req in ("write", "add")
]
MEANS = [
    f"mx.np.mean(mx.np.array([[100, 100, 27], [120, -128, 127]], dtype='{dtype}'), {settings})"
    for dtype in ("int8", "int32", "int64", "bool")
    for settings in ("axis=None", "axis=0", "dtype='int8'", "axis=1, dtype='int8'", "dtype='int32'", "dtype='int64'")
] + [f"mx.np.average(mx.np.array([100, 100, 27, 120], dtype='{dtype}'))" for dtype in ("int8", "uint8", "int32")]
for rows in (SPLITS, KEPT, DELETED, SOLVED, INTEGERS, BOOLS, MEANS):
    each("", rows, lambda text: in_numpy_mode(f"[{text}]", NAMES))
