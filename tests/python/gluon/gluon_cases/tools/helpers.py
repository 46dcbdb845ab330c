"""mx.test_utils: comparisons, arrays, files of data sets, checks of optimizers and blocks."""

from __future__ import annotations

import gzip
import os
import struct

import numpy as np
from _case import case

PAIRS = {
    "equal": ([1.0, 2.0], [1.0, 2.0]),
    "near": ([1.0, 2.0], [1.0, 2.0000001]),
    "near in float32": ([1.0, 100.0], [1.0, 100.001]),
    "far": ([1.0, 2.0], [1.0, 2.1]),
    "one nan": ([1.0, float("nan")], [1.0, 2.0]),
    "nan": ([1.0, float("nan")], [1.0, float("nan")]),
    "infinite": ([1.0, float("inf")], [1.0, float("inf")]),
    "signs": ([1.0, float("inf")], [1.0, float("-inf")]),
    "shapes": ([1.0, 2.0], [1.0, 2.0, 3.0]),
    "broadcast": ([[1.0, 1.0], [1.0, 1.0]], [1.0, 1.0]),
    "small": ([1e-9, 0.0], [0.0, 1e-30]),
}

#: Pairs that 1.9.1 compares otherwise as NDArrays than as NumPy arrays.
UNLIKE = ("shapes", "signs", "broadcast")


def _pair(mx, pair, kind, dtype="float32"):
    arrays = [np.array(each, dtype) for each in PAIRS[pair]]
    return arrays if kind == "numpy" else [mx.nd.array(each, dtype=dtype) for each in arrays]


@case(pair=list(PAIRS), equal_nan=[False, True])
def almost_equal(mx, pair, equal_nan):
    return bool(mx.test_utils.almost_equal(*_pair(mx, pair, "numpy"), equal_nan=equal_nan))


@case(differs="NDArrays are compared; 1.9.1 takes NumPy arrays alone.", pair=["equal", "far"])
def almost_equal_arrays(mx, pair):
    return bool(mx.test_utils.almost_equal(*_pair(mx, pair, "nd")))


@case(
    pair=[each for each in PAIRS if each not in UNLIKE], kind=["numpy", "nd"], dtype=["float32", "float64", "float16"]
)
def assert_almost_equal(mx, pair, kind, dtype):
    return str(mx.test_utils.assert_almost_equal(*_pair(mx, pair, kind, dtype), equal_nan=True))


@case(relative=[1e-7, 0.1], absolute=[0, 0.2], pair=["near", "far", "small"])
def tolerances(mx, relative, absolute, pair):
    mx.test_utils.assert_almost_equal(*_pair(mx, pair, "numpy", "float64"), rtol=relative, atol=absolute)
    return "near"


@case(pair=["equal", "far", "one nan", "nan"])
def ignore_nan(mx, pair):
    mx.test_utils.assert_almost_equal_ignore_nan(*_pair(mx, pair, "numpy"))
    return "near"


@case(etol=[0, 0.3, 0.6], pair=["equal", "far"])
def with_err(mx, etol, pair):
    mx.test_utils.assert_almost_equal_with_err(*_pair(mx, pair, "nd"), etol=etol)
    return "near"


@case(pair=["equal", "near", "far", "nan"], kind=["numpy"])
def same(mx, pair, kind):
    return bool(mx.test_utils.same(*_pair(mx, pair, kind)))


@case(pair=["equal", "near", "far", "nan"])
def assert_allclose(mx, pair):
    mx.test_utils.assert_allclose(*_pair(mx, pair, "nd"))
    return "close"


@case(dtype=["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool"])
def defaults_by_dtype(mx, dtype):
    tools = mx.test_utils
    return [float(each()[np.dtype(dtype)]) for each in (tools.default_rtols, tools.default_atols)]


@case(dtype=["float16", "float32", "float64"])
def default_steps(mx, dtype):
    return float(mx.test_utils.default_numeric_eps()[np.dtype(dtype)])


@case(name=["get_rtol", "get_atol", "get_etol"], value=[None, 0, 0.5])
def given_tolerances(mx, name, value):
    return float(getattr(mx.test_utils, name)(value))


@case
def default_dtype(mx):
    return np.dtype(mx.test_utils.default_dtype()).name


@case
def default_context(mx):
    before = mx.test_utils.default_context()
    mx.test_utils.set_default_context(mx.cpu(0))
    return [before.device_type, before.device_id, mx.test_utils.default_context().device_type]


@case(dtype=["float16", "float32", "int32"])
def effective_dtype(mx, dtype):
    return np.dtype(mx.test_utils.effective_dtype(mx.nd.zeros((1,), dtype=dtype))).name


@case(name=["rand_shape_2d", "rand_shape_3d", "rand_shape_nd"], zero=[False, True])
def shapes(mx, name, zero):
    arguments = (4,) if name == "rand_shape_nd" else ()
    found = [getattr(mx.test_utils, name)(*arguments, allow_zero_size=zero) for _ in range(300)]
    return [len(found[0]), int(min(map(min, found))), int(max(map(max, found))), type(found[0]).__name__]


@case(shape=[(2, 3), (4,), ()], dtype=[None, "float64", "int32"])
def rand_ndarray(mx, shape, dtype):
    made = mx.test_utils.rand_ndarray(shape, dtype=dtype) if shape else mx.test_utils.rand_ndarray((1,), dtype=dtype)
    return [type(made).__name__, made.shape, np.dtype(made.dtype).name]


@case(shapes=[[(2, 3)], [(2,), (3, 1)], []])
def random_arrays(mx, shapes):
    made = mx.test_utils.random_arrays(*shapes)
    return [[each.shape, each.dtype.name] for each in (made if isinstance(made, list) else [made])]


@case(name=["create_vector", "create_2d_tensor", "get_identity_mat", "get_identity_mat_batch"])
def made_arrays(mx, name):
    return getattr(mx.test_utils, name)(*((3, 2) if name == "create_2d_tensor" else (3,)))


@case(axis=[None, 0, 1, -1, (0, 2), (1,)], keepdims=[False, True], how=["sum", "max", "prod"])
def np_reduce(mx, axis, keepdims, how):
    values = np.arange(24.0).reshape(2, 3, 4)
    if isinstance(axis, tuple):
        axis = list(axis)
    return np.asarray(mx.test_utils.np_reduce(values, axis, keepdims, getattr(np, how)))


@case(shape=[(1, 3), (3,), (2, 1), (2, 3), (1,)])
def collapse_sum_like(mx, shape):
    return mx.test_utils.collapse_sum_like(np.arange(6.0).reshape(2, 3), shape)


@case
def assign_each(mx):
    values = np.arange(4.0).reshape(2, 2)
    tools = mx.test_utils
    return [tools.assign_each(values, lambda x: x + 1), tools.assign_each2(values, values, lambda x, y: x * y)]


@case(value=["1", None], before=["0", None])
def environment(mx, value, before):
    name = "MXLITE_TEST_OF_HELPERS"
    with mx.test_utils.environment(name, before):
        with mx.test_utils.environment({name: value}):
            inside = os.environ.get(name)
        return [inside, os.environ.get(name)]


@case(fails=[0, 1, 2, 3])
def retry(mx, fails):
    calls = []

    @mx.test_utils.retry(3)
    def check():
        calls.append(1)
        assert len(calls) > fails

    check()
    return len(calls)


@case(error=["ValueError", "none"])
def assert_exception(mx, error):
    mx.test_utils.assert_exception(int, ValueError, "x" if error == "ValueError" else "1")
    return "raised"


@case(name=["list_gpus", "is_cd_run", "is_aarch64_run", "has_tvm_ops"])
def what_there_is(mx, name):
    return list(mx.test_utils.list_gpus()) if name == "list_gpus" else bool(getattr(mx.test_utils, name)())


def _mnist(folder, packed):
    """Small files of MNIST."""
    random = np.random.RandomState(0)
    for part, count in (("train", 6), ("t10k", 4)):
        for kind, array in (
            ("images-idx3", random.randint(0, 255, (count, 28, 28))),
            ("labels-idx1", random.randint(0, 9, count)),
        ):
            head = struct.pack(f">{array.ndim + 1}I", 0x800 + array.ndim, *array.shape)
            path = os.path.join(folder, f"{part}-{kind}-ubyte" + (".gz" if packed else ""))
            with (gzip.open if packed else open)(path, "wb") as file:
                file.write(head + array.astype(np.uint8).tobytes())


class _Working:
    """A with-block in another working folder."""

    def __init__(self, folder):
        self.folder, self.before = folder, os.getcwd()

    def __enter__(self):
        os.chdir(self.folder)

    def __exit__(self, *_):
        os.chdir(self.before)


@case
def get_mnist(mx, folder):
    _mnist(folder, packed=True)
    with _Working(folder):
        found = mx.test_utils.get_mnist()
    return [[name, each.shape, each.dtype.name, each.sum()] for name, each in found.items()]


@case(shape=[(784,), (1, 28, 28)], batch=[1, 2], parts=[1, 2])
def get_mnist_iterator(mx, folder, shape, batch, parts):
    os.mkdir(os.path.join(folder, "data"))
    _mnist(os.path.join(folder, "data"), packed=False)
    with _Working(folder):
        found = mx.test_utils.get_mnist_iterator(batch, shape, num_parts=parts, part_index=parts - 1)
    return [[each.data[0].shape for each in iterator] for iterator in found]


@case
def get_mnist_ubyte(mx, folder):
    os.mkdir(os.path.join(folder, "data"))
    _mnist(os.path.join(folder, "data"), packed=False)
    with _Working(folder):
        return str(mx.test_utils.get_mnist_ubyte())


@case(name=[None, "b.txt", "c.txt"], where=[None, "inner"])
def download_what_is_there(mx, folder, name, where):
    path = os.path.join(folder, where or "")
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, name or "b.txt"), "w") as file:
        file.write("x")
    with _Working(folder):
        return mx.test_utils.download("http://127.0.0.1:9/a/b.txt", fname=name, dirname=where)


@case
def dummy_iter(mx):
    real = mx.io.NDArrayIter(np.arange(6.0).reshape(3, 2), np.arange(3), 2)
    dummy = mx.test_utils.DummyIter(real)
    batches = [next(iter(dummy)) for _ in range(3)]
    return [dummy.batch_size, [each.data for each in batches], [each.name for each in dummy.provide_data]]


@case(second=[0.1, 0.2], kind=["SGD", "Adam"], dtype=["float32", "float64"], states=[False, True])
def compare_optimizer(mx, second, kind, dtype, states):
    made = [getattr(mx.optimizer, kind)(learning_rate=rate) for rate in (0.1, second)]
    mx.test_utils.compare_optimizer(*made, (3, 4), dtype, compare_states=states)
    return "same"


@case(differs="It takes blocks over mx.nd; 1.9.1 those over mx.np.", right=[True, False], grad=[True, False])
def hybridize_consistency(mx, right, grad):
    mx.test_utils.check_gluon_hybridize_consistency(
        lambda prefix=None: mx.gluon.nn.Activation("relu", prefix=prefix),
        [mx.nd.array([[1, -2, 3]])],
        numpy_func=lambda x: np.maximum(x, 0) if right else x,
        test_grad=grad,
    )
    return "consistent"


@case(differs="It takes blocks over mx.nd; 1.9.1 those over mx.np.", units=[1, 3])
def hybridize_consistency_of_layers(mx, units):
    def net_builder(prefix=None):
        return mx.gluon.nn.Dense(units, prefix=prefix)

    mx.test_utils.check_gluon_hybridize_consistency(net_builder, [mx.nd.ones((2, 4))])
    return "consistent"
