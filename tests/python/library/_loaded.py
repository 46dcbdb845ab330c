"""mx.library: libraries of operators for 1.9.1's lib_api.h, built here from extension.c by the C compiler.

test_library.py runs this file in a process of its own. tests/dropin loads one that is built against the real header,
in C++.
"""

from __future__ import annotations

import ctypes
import gc
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd

HERE = Path(__file__).resolve().parent
COMPILER = shlex.split(os.environ.get("CC", "cc"))
CXX = shlex.split(os.environ.get("CXX", "c++"))


def build(folder, name, **macros):
    """A library of extension.c, and of throwing.cc if it throws."""
    path, compiled = folder / f"{name}.so", folder / f"{name}.o"
    given = [f"-D{key}={value}" for key, value in macros.items()]
    subprocess.run([*COMPILER, "-c", "-fPIC", "-w", *given, str(HERE / "extension.c"), "-o", str(compiled)], check=True)
    linker = [*CXX, str(HERE / "throwing.cc")] if "THROWS" in macros else COMPILER
    subprocess.run([*linker, "-shared", "-fPIC", str(compiled), "-o", str(path)], check=True)
    return str(path)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = build(tmp_path_factory.mktemp("library"), "extension")
    mx.library.load(path, verbose=False)
    return path


@pytest.fixture
def x(library):
    array = nd.array([1.0, 2.0, 3.0])
    array.attach_grad()
    return array


def equal(array, expected):
    np.testing.assert_array_equal(array.asnumpy(), np.array(expected, "float32"))


def gradient(function, *inputs, head=None):
    with autograd.record():
        y = function()
    y.backward(head)
    return [each.grad for each in inputs]


# ---- operators ----


def test_an_operator_and_its_backward(x):
    equal(nd.c_cube(x), [1, 8, 27])
    (dx,) = gradient(lambda: (nd.c_cube(x) * 2).sum(), x)
    equal(dx, [6, 24, 54])
    out = nd.zeros(3)
    assert nd.c_cube(x, out=out) is out
    equal(out, [1, 8, 27])
    equal(nd.contrib.c_cube(x), [1, 8, 27])


@pytest.mark.parametrize(
    "change", [lambda a: a.T, lambda a: a[1], lambda a: a[:, 1:2], lambda a: a + 1, lambda a: a.reshape((3, 2))]
)
def test_inputs_are_contiguous(library, change):
    array = change(nd.array(np.arange(6.0).reshape(2, 3)))
    equal(nd.c_cube(array), array.asnumpy() ** 3)


def test_gradients_are_added(x):
    x.attach_grad("add")
    for _ in range(2):
        gradient(lambda: nd.c_cube(x), x)
    equal(x.grad, [6, 24, 54])


def test_backward_has_no_backward(x):
    with autograd.record():
        dx = autograd.grad(nd.c_cube(x), x, create_graph=True, retain_graph=True)[0]
    equal(dx, [3, 12, 27])
    with pytest.raises(mx.MXNetError, match="backward_c_cube.*not differentiable"):
        dx.backward()


def test_without_backward(x):
    with pytest.raises(mx.MXNetError, match="c_plain.*not differentiable"):
        gradient(lambda: nd.c_plain(x), x)


def test_attributes(library):
    a, b = nd.array([[1.0, 2, 3], [4, 5, 6]]), nd.array([[1.0, 2], [0, 1], [3, 1]])
    a.attach_grad()
    b.attach_grad()
    equal(nd.c_gemm(a, b), [[10, 7], [22, 19]])
    equal(nd.c_gemm(a, b, alpha=2.5, other=(1, 2)), [[25, 17.5], [55, 47.5]])
    da, db = gradient(lambda: nd.c_gemm(a, b, alpha=2), a, b, head=nd.array([[1.0, 2], [3, 4]]))
    equal(da, [[10, 4, 10], [22, 8, 26]])
    equal(db, [[26, 36], [34, 48], [42, 60]])


def test_several_outputs(x):
    y, z = nd.c_pair(x, x * 2)
    equal(y, [3, 6, 9])
    equal(z, [-1, -2, -3])
    other = nd.ones(3)
    other.attach_grad()
    dx, dother = gradient(lambda: nd.c_pair(x, other)[1], x, other)
    equal(dx, [1, 1, 1])
    equal(dother, [-1, -1, -1])


def test_an_input_that_is_written_to(x):
    s = nd.array([10.0, 20, 30])
    equal(nd.c_running(s, x), [11, 44, 99])
    equal(s, [11, 22, 33])
    (dx,) = gradient(lambda: nd.c_running(s, x), x)
    equal(dx, [12, 24, 36])
    whole = nd.zeros((2, 3))
    nd.c_running(whole[1], x)
    equal(whole, [[0, 0, 0], [1, 2, 3]])


def test_an_operator_with_a_state(x):
    before = nd.c_alive().asnumpy()[0]
    equal(nd.c_counter(x), [1, 2, 3])
    equal(nd.c_counter(x), [1, 2, 3])
    (dx,) = gradient(lambda: nd.c_counter(x, start=5), x)
    equal(dx, [6, 6, 6])
    assert nd.c_alive().asnumpy()[0] == before
    with autograd.record():
        y = nd.c_counter(x)
    assert nd.c_alive().asnumpy()[0] == before + 1
    del y
    assert nd.c_alive().asnumpy()[0] == before


def test_random_generators_follow_the_seed(library):
    mx.random.seed(7)
    seeds = [7 * 127, 7 * 127 + 1, 7 * 127 + 2]
    equal(nd.c_words(), seeds)
    mx.random.seed(8)
    equal(nd.c_words(), [each + 127 for each in seeds])


# ---- errors ----


FAILURES = [
    ("parse", "parse_attrs of the library failed: attributes make no sense$"),
    ("types", "infer_type of the library failed: this is no float32$"),
    ("shapes", "infer_shape of the library failed: shapes make no sense; at all$"),
    ("forward", "forward of the library failed: forward makes no sense$"),
    ("quietly", "forward of the library failed, which gave no reason$"),
]


@pytest.mark.parametrize("where, text", FAILURES)
def test_failures_have_the_text_of_the_library_once(x, where, text):
    for _ in range(2):
        with pytest.raises(mx.MXNetError, match=f"^c_failing: {text}"):
            nd.c_failing(x, where=where)


@pytest.fixture(scope="module")
def throwing(tmp_path_factory):
    path = build(tmp_path_factory.mktemp("throwing"), "throwing", PREFIX='"t_"', THROWS=1)
    mx.library.load(path, verbose=False)
    return ctypes.CDLL(path).unwound


needs_cxx = pytest.mark.skipif(shutil.which(CXX[0]) is None, reason="a C++ compiler builds what throws")


@needs_cxx
@pytest.mark.parametrize("where, text", FAILURES)
def test_exceptions_of_the_library_are_errors(throwing, x, where, text):
    before = throwing()
    for _ in range(2):
        with pytest.raises(mx.MXNetError, match=f"^t_failing: {text.replace('; at all', '')}"):
            nd.t_failing(x, where=where)
    assert throwing() == before + 2 * (where != "quietly")
    equal(nd.t_cube(x), [1, 8, 27])


@needs_cxx
def test_other_exceptions(throwing, x, tmp_path):
    with pytest.raises(mx.MXNetError, match="^t_failing: backward of the library failed: an exception without a text$"):
        gradient(lambda: nd.t_failing(x), x)
    equal(x.grad, [0, 0, 0])
    with pytest.raises(mx.MXNetError, match="^t_counter: create_op_state of the library failed: start makes no sense$"):
        nd.t_counter(x, start="bad")
    with pytest.raises(mx.MXNetError, match="^t_sparse: infer_storage_type of the library failed: this is no sparse"):
        nd.t_sparse(x, where="storage")
    with pytest.raises(mx.MXNetError, match="Error in operator: t: t_gemm: .* failed: these are no factors"):
        mx.sym.t_gemm(mx.sym.var("a"), mx.sym.var("b"), name="t").infer_shape(a=(2, 3), b=(2, 3))
    with pytest.raises(mx.MXNetError, match="initialize of the library failed: this library wants another MXNet"):
        mx.library.load(build(tmp_path, "refuses", THROWS=1, REFUSES=1))


def test_other_failures(x):
    with pytest.raises(mx.MXNetError, match="backward makes no sense"):
        gradient(lambda: nd.c_failing(x), x)
    with pytest.raises(mx.MXNetError, match="start makes no sense"):
        nd.c_counter(x, start="bad")
    with pytest.raises(mx.MXNetError, match="made no state"):
        nd.c_counter(x, start="none")
    with pytest.raises(mx.MXNetError, match="GPUs alone"):
        nd.c_gpu(x)
    with pytest.raises(mx.MXNetError, match="no arrays of dtype bool"):
        nd.c_cube(x.astype("bool"))
    with pytest.raises(mx.MXNetError, match="takes 2 inputs, got 1"):
        nd.c_gemm(x)
    with pytest.raises(mx.MXNetError, match="takes 1 input, got 2"):
        nd.c_cube(x, x)
    with pytest.raises(mx.MXNetError, match="these are no factors"):
        nd.c_gemm(x, x)
    with pytest.raises(mx.MXNetError, match="c_part: it is for parts of a graph"):
        nd.c_part(x)
    kept = nd.ones(3)
    with pytest.raises(mx.MXNetError):
        nd.c_failing(x, where="forward", out=kept)
    equal(kept, [1, 1, 1])


def test_operators_of_sparse_arrays(x):
    equal(nd.c_sparse(x), [1, 8, 27])
    for given, text in [
        ({"where": "storage"}, "infer_storage_type of the library failed: this is no sparse array"),
        ({"rows": "in"}, "infer_storage_type of the library wants a sparse array as input 0"),
        ({"rows": "out"}, "infer_storage_type of the library wants a sparse array as output 0"),
    ]:
        with pytest.raises(mx.MXNetError, match=f"^c_sparse: {text}"):
            nd.c_sparse(x, **given)


# ---- symbols and blocks ----


def test_symbols(library):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    y = mx.sym.c_gemm(a, b, alpha=2, name="g")
    assert y.list_outputs() == ["g_output"]
    assert y.infer_shape(a=(2, 3), b=(3, 4)) == ([(2, 3), (3, 4)], [(2, 4)], [])
    assert y.infer_shape_partial(a=(2, 3))[1] == [()]
    assert y.infer_type(a="float32")[1] == [np.float32]
    y = mx.sym.load_json(y.tojson())
    executor = y.simple_bind(mx.cpu(), a=(2, 3), b=(3, 2))
    executor.arg_dict["a"][:] = executor.arg_dict["b"][:] = 1
    equal(executor.forward(is_train=True)[0], [[6, 6], [6, 6]])
    executor.backward(nd.ones((2, 2)))
    equal(executor.grad_dict["a"], [[4, 4, 4], [4, 4, 4]])
    with pytest.raises(mx.MXNetError, match="these are no factors"):
        y.infer_shape(a=(2, 3), b=(4, 4))
    with pytest.raises(mx.MXNetError, match="takes 2 inputs, got 1"):
        mx.sym.c_gemm(a)
    assert mx.sym.c_cube(name="h").list_arguments() == ["h_data"]
    assert mx.sym.c_pair(a, b, name="p").list_outputs() == ["p_output0", "p_output1"]
    assert mx.sym.contrib.c_cube(a, name="q").list_outputs() == ["q_output"]


def test_attributes_are_no_parameters(library):
    def count(symbol):
        return symbol.bind(mx.cpu(), {}).forward()[0].asnumpy().tolist()

    with mx.AttrScope(ctx_group="some"):
        y = mx.sym.c_parameters(a=1, b=2, attr={"__mood__": "angry"})
    assert count(y) == [2] * 3
    assert y.attr("__mood__") == "angry"
    assert count(mx.sym.c_parameters()) == [0] * 3


def test_states_of_symbols(library):
    y = mx.sym.c_running(mx.sym.var("s"), mx.sym.var("a"))
    assert (y.list_auxiliary_states(), y.list_arguments()) == (["s"], ["a"])
    executor = y.bind(mx.cpu(), {"a": nd.ones(3)}, aux_states={"s": nd.zeros(3)})
    equal(executor.forward()[0], [1, 1, 1])
    equal(executor.forward()[0], [2, 2, 2])
    equal(executor.aux_dict["s"], [2, 2, 2])


class Net(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.c_counter(F.c_cube(x), start=1)


def test_a_state_lasts_in_an_executor(library):
    y = mx.sym.c_counter(mx.sym.var("a"), start=3)
    executors = [y.bind(mx.cpu(), {"a": nd.ones(3)}, {"a": nd.zeros(3)}) for _ in range(2)]
    for count in (4, 5, 6):
        for executor in executors:
            equal(executor.forward(is_train=True)[0], [count] * 3)
            executor.backward(nd.ones(3))
            equal(executor.grad_dict["a"], [count] * 3)


def test_a_state_lasts_in_a_static_block_for_one_form_of_inputs(x):
    before = nd.c_alive().asnumpy()[0]
    net = Net()
    net.hybridize(static_alloc=True, static_shape=True)
    for count in (2, 3):
        equal(net(x), [count, 8 * count, 27 * count])
    equal(net(x[:2]), [2, 16])
    equal(net(x[:2]), [3, 24])
    assert nd.c_alive().asnumpy()[0] == before + 1
    del net
    gc.collect()
    assert nd.c_alive().asnumpy()[0] == before


def test_backward_has_the_state_of_its_forward(x):
    before = nd.c_alive().asnumpy()[0]
    net = Net()
    net.hybridize(static_alloc=True, static_shape=True)
    with autograd.record():
        y = net(x)
        z = net(x[:2])
    assert nd.c_alive().asnumpy()[0] == before + 2
    y.backward()
    equal(x.grad, [6, 24, 54])
    equal(z, [2, 16])
    del net, y, z
    gc.collect()
    assert nd.c_alive().asnumpy()[0] == before


@pytest.mark.parametrize("flags", [None, {}, {"static_alloc": True}])
def test_blocks(x, flags):
    net = Net()
    if flags is not None:
        net.hybridize(**flags)
    for _ in range(2):
        with autograd.record():
            y = net(x)
        y.backward()
        equal(y, [2, 16, 54])
        equal(x.grad, [6, 24, 54])


def test_partitioners_and_passes_are_refused_when_used(x):
    net = mx.gluon.nn.HybridSequential()
    for backend, what in (("c_partitioner", "partitioner"), ("c_pass", "graph pass")):
        with pytest.raises(NotImplementedError, match=f"'{backend}' is a {what} of a loaded library"):
            net.hybridize(backend=backend)
        with pytest.raises(NotImplementedError, match=f"'{backend}' is a {what} of a loaded library"):
            net.optimize_for(x, backend=backend)
        with pytest.raises(NotImplementedError, match=f"'{backend}' is a {what} of a loaded library"):
            mx.sym.var("a").optimize_for(backend)


# ---- loading ----


def test_functions_appear(library):
    for module in (nd, nd.op, mx.sym, mx.sym.op):
        assert "c_cube" in dir(module)
        assert "c_cube" in module.__all__
    assert "c_cube" in nd.contrib.__all__
    assert nd.c_cube.__name__ == "c_cube"
    assert "c_cube" in mx.operator.get_all_registered_operators()


def test_loading_twice_and_a_second_library(library, tmp_path, capfd):
    names = dir(nd)
    mx.library.load(library)
    assert (capfd.readouterr().err, dir(nd)) == ("", names)
    before = nd.c_alive().asnumpy()[0]
    mx.library.load(build(tmp_path, "second", PREFIX='"d_"'))
    said = capfd.readouterr()
    assert said.out == ""
    assert "second.so has 14 operators: d_cube, " in said.err
    assert "partitioners: d_partitioner" in said.err and "passes: d_pass" in said.err
    equal(nd.d_cube(nd.ones(3) * 2), [8, 8, 8])
    assert nd.d_alive().asnumpy()[0] == before == nd.c_alive().asnumpy()[0]


@pytest.mark.parametrize(
    "macros, text",
    [
        ({"VERSION": 10}, "was built for version 10 of the interface"),
        ({"REFUSES": 1}, "initialize of the library failed: this library wants another MXNet"),
        ({"NO_PARSE": 1}, "operator _contrib_e_cube of the library has no parse_attrs"),
        ({"TAKEN": '"relu"'}, "relu: there is an operator of that name already"),
        ({"TAKEN": '"e_cube"'}, "e_cube: there is an operator of that name already"),
    ],
)
def test_libraries_that_are_refused(tmp_path, macros, text):
    path = build(tmp_path, "refused", PREFIX='"e_"', **macros)
    for _ in range(2):
        with pytest.raises(mx.MXNetError, match=text):
            mx.library.load(path)
    assert not hasattr(nd, "e_cube")
    equal(nd.relu(nd.array([-1.0, 2])), [0, 2])


def test_paths(library, tmp_path, monkeypatch):
    monkeypatch.chdir(os.path.dirname(library))
    (tmp_path / "text.so").write_text("no library")
    (tmp_path / "text.txt").write_text("no library")
    other = os.path.join(os.path.dirname(mx.get_library()), os.path.basename(mx.get_library()))
    for path, text in [
        ("extension.so", "the path must begin with /"),
        ("/nowhere/extension.so", "there is no file /nowhere/extension.so"),
        (str(tmp_path), "must be a shared library"),
        (str(tmp_path / "text.txt"), "must be a shared library"),
        (str(tmp_path / "text.so"), "cannot be opened"),
        (other, "exports no _opVersion"),
    ]:
        with pytest.raises(mx.MXNetError, match=text):
            mx.library.load(path)


def test_modules_that_are_imported_later(library):
    code = f"import mxlite as mx; mx.library.load({library!r}, False); print(mx.sym.c_cube(name='n').name)"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"n\n"
