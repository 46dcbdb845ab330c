"""mx.library: libraries of operators that g++ builds against 1.9.1's lib_api.h."""

import os
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

from kit import area, check, each, fails, mx

area("library")

#: Both processes build; each has files of its own.
FOLDER = tempfile.TemporaryDirectory()
SOURCE = Path(__file__).resolve().parents[1] / "extension.cc"


def build(name, *flags):
    package = Path(mx.__file__).parent
    path = os.path.join(FOLDER.name, name)
    sources = [str(SOURCE), str(package / "src" / "lib_api.cc")]
    subprocess.run(
        [
            "g++",
            "-std=c++11",
            "-w",
            "-O0",
            "-shared",
            "-fPIC",
            f"-I{package / 'include'}",
            *flags,
            *sources,
            "-o",
            path,
        ],
        check=True,
    )
    return path


def says(ask, text):
    """Whether the error has a message of the library. (1.9.1 repeats all earlier ones too.)"""
    try:
        ask()
    except mx.MXNetError as error:
        return text in str(error)
    return "no error"


@lru_cache(None)
def library():
    return build("extension.so")


@check
def paths():
    (Path(FOLDER.name) / "text.so").write_text("no library")
    (Path(FOLDER.name) / "text.txt").write_text("no library")
    wrong = ["extension.so", "/nowhere/extension.so", FOLDER.name]
    wrong += [os.path.join(FOLDER.name, name) for name in ("text.so", "text.txt")]
    return [fails(lambda path=path: mx.library.load(path)) for path in wrong]


@check
def a_library_that_refuses():
    return says(lambda: mx.library.load(build("refuses.so", "-DREFUSES")), "this library wants another MXNet")


@check
def loading_twice():
    before = hasattr(mx.nd, "x_cube")
    mx.library.load(library())
    mx.library.load(library(), False)
    return before, [hasattr(module, "x_cube") for module in (mx.nd, mx.nd.op, mx.sym, mx.sym.op)]


def variable(*numbers):
    made = mx.nd.array(numbers)
    made.attach_grad()
    return made


def trained(function, *inputs):
    with mx.autograd.record():
        y = function(*inputs)
        y = y if isinstance(y, list) else [y]
        total = sum((part * (i + 2)).sum() for i, part in enumerate(y))
    total.backward()
    return list(y), [each.grad for each in inputs if each.grad is not None]


each(
    "",
    [
        ("cube", lambda: trained(mx.nd.x_cube, variable(1, 2, 3))),
        ("cube with attributes", lambda: trained(lambda x: mx.nd.x_cube(x, a=1, b=(1, 2)), variable(1, 2, 3))),
        ("gemm", lambda: trained(lambda a, b: mx.nd.x_gemm(a, b, alpha=2.5), variable([1, 2]), variable([3], [4]))),
        ("pair", lambda: trained(lambda a, b: mx.nd.x_pair(a, b), variable(1, 2), variable(3, 5))),
        ("counter", lambda: trained(lambda x: mx.nd.x_counter(x, start=5), variable(1, 2))),
        ("strided", lambda: mx.nd.x_cube(mx.nd.array([[1, 2, 3], [4, 5, 6]]).T)),
        ("slice", lambda: mx.nd.x_cube(mx.nd.array([[1, 2, 3], [4, 5, 6]])[1])),
        ("hidden", lambda: mx.nd._internal._x_hidden(mx.nd.ones(2))),
    ],
    lambda name, ask: ask(),
)


@check
def an_input_that_is_written_to():
    s, x = mx.nd.array([10, 20]), variable(1, 2)
    return trained(lambda x: mx.nd.x_running(x, s), x), s


@check
def random_numbers():
    mx.random.seed(7)
    first = mx.nd.x_draws(mx.nd.zeros(6)), mx.nd.x_draws(mx.nd.zeros(6))
    mx.random.seed(11)
    return first, mx.nd.x_draws(mx.nd.zeros(6))


each(
    "error",
    [
        ("parse", lambda: mx.nd.x_cube(mx.nd.ones(2), fails="parse")),
        ("types", lambda: mx.nd.x_cube(mx.nd.ones(2, dtype="float64"))),
        ("shapes", lambda: mx.nd.x_cube(mx.nd.ones(2), fails="shapes")),
        ("forward", lambda: mx.nd.x_cube(mx.nd.ones(2), fails="forward").asnumpy()),
        ("factors", lambda: mx.nd.x_gemm(mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))),
        ("start", lambda: mx.nd.x_counter(mx.nd.ones(2), start="bad").asnumpy()),
        ("gpu", lambda: mx.nd.x_gpu(mx.nd.ones(2)).asnumpy()),
        ("too few", lambda: mx.nd.x_gemm(mx.nd.ones(2))),
        ("no backward", lambda: trained(mx.nd.x_plain, variable(1, 2))),
    ],
    lambda name, ask: fails(ask),
)


@check
def texts_of_errors():
    y = mx.sym.x_gemm(mx.sym.var("a"), mx.sym.var("b"))
    return [
        says(lambda: mx.nd.x_cube(mx.nd.ones(2, dtype="float64")), "dtype 1 is not float32"),
        says(lambda: mx.nd.x_gemm(mx.nd.ones((2, 3)), mx.nd.ones((2, 3))), "these are no factors"),
        says(lambda: y.infer_shape(a=(2, 3), b=(2, 3)), "these are no factors"),
        says(lambda: mx.nd.x_cube(mx.nd.ones(2), fails="forward").asnumpy(), "forward makes no sense"),
        says(lambda: mx.nd.x_cube(mx.nd.ones(2), fails="by an exception").asnumpy(), "forward gives up"),
    ]


@check
def symbols():
    a, b = mx.sym.var("a"), mx.sym.var("b")
    y = mx.sym.load_json(mx.sym.x_gemm(a, b, alpha=2, name="g").tojson())
    running = mx.sym.x_running(a, b, name="r")
    arrays = {"a": mx.nd.ones((2, 3)), "b": mx.nd.ones((3, 2))}
    executor = y.bind(mx.cpu(), arrays, {name: mx.nd.zeros_like(each) for name, each in arrays.items()})
    forward = executor.forward(is_train=True)[0].copy()
    executor.backward(mx.nd.ones((2, 2)))
    return (
        y.infer_shape(a=(2, 3), b=(3, 4)),
        str(y.infer_type(a="float32")),
        y.list_outputs(),
        y.attr_dict(),
        running.list_arguments(),
        running.list_auxiliary_states(),
        mx.sym.x_pair(a, b, name="p").list_outputs(),
        mx.sym.x_cube(name="h").list_arguments(),
        fails(lambda: mx.sym.x_gemm(a)),
        forward,
        list(executor.grad_arrays),
    )


@check
def states_in_executors():
    executor = mx.sym.x_counter(mx.sym.var("a"), start=3).bind(mx.cpu(), {"a": mx.nd.ones(2)})
    return [executor.forward()[0].copy() for _ in range(3)]


class Net(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.x_counter(F.x_cube(x), start=1)


def block(**flags):
    net = Net()
    net.hybridize(**flags)
    return [trained(net, variable(1, 2, 3)) for _ in range(3)]


@check
def a_block_of_two_shapes():
    net, x = Net(), variable(1, 2, 3)
    net.hybridize(static_alloc=True, static_shape=True)
    with mx.autograd.record():
        y = net(x)
        z = net(x[:2])
    y.backward()
    return y, z, x.grad


each(
    "block",
    [("plain", {"active": False}), ("hybrid", {}), ("static", {"static_alloc": True, "static_shape": True})],
    lambda name, flags: block(**flags),
)
