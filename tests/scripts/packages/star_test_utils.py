"""As the tests of MXNet's extensions begin: everything of test_utils, with the modules that came along."""

from mxnet.test_utils import *

random = np.random.RandomState(0)
x, y = random.normal(0, 1, (3, 4)), random.normal(0, 1, (4, 2))
a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
product = mx.sym.dot(a, b, name="product")
check_symbolic_forward(product, [x, y], [np.dot(x, y)], rtol=1e-4, atol=1e-5)
check_symbolic_backward(
    product, [x, y], [np.ones((3, 2))], [np.ones((3, 2)).dot(y.T), x.T.dot(np.ones((3, 2)))], rtol=1e-4, atol=1e-5
)
check_numeric_gradient(mx.sym.tanh(a), [x], numeric_eps=1e-3, rtol=1e-2, atol=1e-3)
problems = []
for one, other in ((x, x), (x, x + 1), (mx.nd.array(x), x)):
    try:
        assert_almost_equal(one, other, rtol=1e-5, atol=1e-6)
        problems.append(None)
    except AssertionError as error:
        problems.append(type(error).__name__)
try:
    logging.getLogger(__name__)
    has_logging = True
except NameError:
    has_logging = False
found = {
    "problems": problems,
    "same": [same(x, x.copy()), same(x, x + 1)],
    "almost": [almost_equal(x, x + 1e-9), almost_equal(x, x + 1)],
    "default": [str(default_context()), np.dtype(default_dtype()).name],
    "difference": float(np.abs(x - x).max()),
    "simple": simple_forward(product, a=x.astype("float32"), b=y.astype("float32")),
    "shapes": [len(rand_shape_2d()), len(rand_shape_3d()), len(rand_shape_nd(5))],
    "random": list(rand_ndarray((2, 3), "default").shape),
    "modules": [
        name
        for name in ("os", "np", "mx", "logging", "time", "sys", "json", "gzip", "struct", "nd")
        if name in globals()
    ],
    "logging": has_logging,
}
