"""Symbols of `mx.sym.np` beside the answers of the real MXNet 1.9.1 (tests/reference/numpy/symbols.json.xz)."""

from __future__ import annotations

import copy
import inspect
import json
import lzma
import math
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import mxlite as mx

sys.path.insert(0, str(Path(__file__).resolve().parent))
import _symbol_programs as programs  # noqa: E402

_REFERENCE = Path(__file__).resolve().parents[2] / "reference" / "numpy" / "symbols.json.xz"
_REAL: dict[str, Any] = json.loads(lzma.decompress(_REFERENCE.read_bytes()))
_ANSWERS: dict[str, Any] = _REAL["answers"]

np, npx = mx.sym.np, mx.sym.npx


@pytest.fixture(autouse=True)
def numpy_mode() -> Any:
    """In the modes of `set_np`."""
    mx.npx.set_np()
    yield
    mx.npx.reset_np()


#: Programs that 1.9.1 refuses, or answers wrongly, and what is here: see docs/compatibility.md.
_DIFFER: dict[str, str] = {
    r"np\.(around|round|round_)\(x,50\)": "10 ** 50 is infinite in 1.9.1",
    r"np\.nan_to_num\(x,(axis|dtype)=.*|np\.ravel\(\w,.*": "arguments that 1.9.1 ignores",
    r"np\.ravel\(3\)": "of a number, by NumPy",
    r"np\.tile\(3,.*|np\.tile\(2,.*": "of numbers, by NumPy",
    r"np\.delete\((x,1,axis=0|v,slice.*|x,i)\)|np\.insert\(x,i,y,axis=0\)": "1.9.1 does not run them",
    r"np\.bincount\(i,(d|minlength=5)\)|np\.unique\(x,True,True,True\)": "1.9.1 does not run them",
    r"np\.insert\(x,slice\(0,1\),y,axis=1\)": "the library puts as many values in as the slice has places",
    r"x\.exp\(\)": "refused by another class of error",
}

#: Functions whose gradients are zeros, or wrong, in 1.9.1's symbols.
_OTHER_GRADIENTS = (
    r"np\.(arctan2|atleast_\dd|diag_indices_from|percentile|power|quantile|std|var|where|linalg\.(eigvalsh|pinv))\(.*"
    r"|np\.average\(.*returned=True\)|x\.(std|var)\(.*"
)

#: Programs whose nodes are others here, with the same values.
_OTHER_NODES: dict[str, str] = {
    r"np\.(empty_like|resize|unravel_index)\(.*": "operators of the library, where 1.9.1 calls Python (Custom)",
    r"np\.(ravel|take)\(.*|x\.take\(i\)": "_np_reshape for _npx_reshape",
    r"np\.pad\(.*": "1.9.1 counts a name that it does not use",
    r"np\.linalg\.norm\(x,1,axis=\(0,1\)\)": "one operator for three",
}


#: Kinds of what NumPy answers, whose version is another under 1.9.1.
_NUMBERS = ("float64", "int64", "int", "float", "bool_", "bool", "ndarray")


def _is_listed(program: str, patterns: dict[str, str]) -> bool:
    return any(re.fullmatch(pattern, program) for pattern in patterns)


def _is_same(mine: Any, theirs: Any) -> bool:
    if isinstance(theirs, list):
        return isinstance(mine, list) and len(mine) == len(theirs) and all(map(_is_same, mine, theirs))
    if isinstance(theirs, dict):
        return (
            isinstance(mine, dict) and mine.keys() == theirs.keys() and all(_is_same(mine[k], theirs[k]) for k in mine)
        )
    if isinstance(theirs, float) and isinstance(mine, (float, int)):
        return math.isclose(mine, theirs, rel_tol=2e-4, abs_tol=2e-5)
    return mine == theirs


def _problem(program: str) -> str | None:
    theirs = _ANSWERS[program]
    try:
        mine = json.loads(json.dumps(programs.run(program, mx)))
    except Exception as error:
        return None if "error" in theirs else f"{type(error).__name__}: {error}; 1.9.1: {theirs}"
    if "error" in theirs:
        return f"{mine}; 1.9.1: {theirs['error']}"
    if "json" not in theirs and theirs["kinds"][0] in _NUMBERS:
        return f"{mine}; 1.9.1: a number" if "json" in mine else None
    for what in ("kinds", "text", "outputs", "shapes", "dtypes", "values", "grads"):
        if what in ("text", "outputs") and _is_listed(program, _OTHER_NODES):
            continue
        if what == "grads" and re.fullmatch(_OTHER_GRADIENTS, program):
            continue
        if theirs.get(what) is not None and not _is_same(mine.get(what), theirs[what]):
            return f"{what}: {mine.get(what)}; 1.9.1: {theirs[what]}"
    if "json" in theirs and not _is_listed(program, _OTHER_NODES):
        mine_nodes, their_nodes = programs.nodes(mine["json"]), programs.nodes(theirs["json"])
        if mine_nodes != their_nodes:
            return f"nodes: {mine_nodes}; 1.9.1: {their_nodes}"
    return None


def _name(program: str) -> str:
    return re.match(r"np\.(\w+)\(", program).group(1) if re.match(r"np\.(\w+)\(", program) else "others"


_GROUPS = sorted({_name(program) for program in _ANSWERS})


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning", "ignore:infer_shape")
@pytest.mark.parametrize("group", _GROUPS)
def test_answers_are_those_of_mxnet(group: str) -> None:
    """Names, nodes, shapes, dtypes, values and gradients."""
    problems = {each: _problem(each) for each in _ANSWERS if _name(each) == group and not _is_listed(each, _DIFFER)}
    assert not {each: problem for each, problem in problems.items() if problem}


@pytest.mark.parametrize("group", _GROUPS)
def test_files_of_mxnet_compute_the_same(group: str) -> None:
    """1.9.1's JSON is loaded, and written again with the same operators."""
    for program, answer in _ANSWERS.items():
        if _name(program) != group or '"Custom"' in answer.get("json", '"Custom"') or _is_listed(program, _DIFFER):
            continue
        loaded = mx.sym.load_json(answer["json"])
        assert programs.nodes(loaded.tojson()) == programs.nodes(answer["json"]), program
        computed = json.loads(json.dumps(programs.computed(loaded, mx)))
        assert _is_same(computed["values"], answer["values"]), (program, computed["values"], answer["values"])


# ---- names and signatures ----


def _function(path: str) -> Any:
    found = mx.sym
    for name in path.split("."):
        found = getattr(found, name)
    return found


@pytest.mark.parametrize("path", sorted(_REAL["signatures"]))
def test_names_and_arguments_are_those_of_mxnet(path: str) -> None:
    """Each function takes the arguments of 1.9.1's, by position and by name, and has its defaults."""
    wanted = _REAL["signatures"][path]
    module, _, name = path.rpartition(".")
    assert name in dir(_function(module))
    mine = {str(each).partition("=")[0].partition(":")[0]: each for each in _parameters(_function(path))}
    for argument, default in wanted.items():
        if argument in ("name", "attr", "**kwargs", "out") or "*" in argument:
            continue
        assert argument in mine or "*" in "".join(mine), (argument, list(mine))
        if argument in mine and default not in (None, "_Null") and path not in _OTHER_DEFAULTS:
            assert repr(mine[argument].default).startswith(default[:8]), (argument, default)


#: Functions with another default: rayleigh's is that of mx.np; the others have none in 1.9.1's symbols.
_OTHER_DEFAULTS = {"np.random.rayleigh", "np.zeros"}


def _parameters(function: Any) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


# ---- the class ----


def _pair() -> tuple[Any, Any]:
    return mx.sym.var("x").as_np_ndarray(), mx.sym.var("y").as_np_ndarray()


def test_both_classes_are_symbols_of_one_graph() -> None:
    """as_np_ndarray and as_nd_ndarray keep the node, its name and its attributes."""
    x, _ = _pair()
    assert type(x) is np._Symbol and isinstance(x, mx.sym.Symbol) and x.as_np_ndarray() is x
    y = np.exp(x)
    back = y.as_nd_ndarray()
    assert type(back) is mx.sym.Symbol and type(back.as_np_ndarray()) is np._Symbol
    back._set_attr(mood="calm")
    assert y.attr("mood") == "calm" and y.name == back.name == "exp" + y.name[3:]
    assert mx.sym.var("q").as_nd_ndarray().name == "q"


def test_copies_and_pickles_keep_the_class() -> None:
    """copy, deepcopy, pickle, and composing."""
    x, y = _pair()
    made = x * y + 1
    for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made)), made(x=np.exp(y))):
        assert type(other) is np._Symbol
        assert other.list_outputs() == made.list_outputs()
    assert type(mx.sym.load_json(made.tojson())) is mx.sym.Symbol


def test_classes_are_not_mixed() -> None:
    """Functions of each class refuse the other's symbols, and say how to get them."""
    x, y = _pair()
    old = mx.sym.var("old")
    for call in (lambda: np.sum(old), lambda: np.add(x, old), lambda: x + old, lambda: old + x, lambda: npx.relu(old)):
        with pytest.raises(TypeError, match="as_np_ndarray"):
            call()
    for call in (lambda: mx.sym.exp(x), lambda: mx.sym.add_n(old, x), lambda: mx.sym.Concat(x, y)):
        with pytest.raises(TypeError, match="as_nd_ndarray"):
            call()
    with pytest.raises(TypeError, match=r"np\.stack|stack"):
        np.stack([x, old])
    with pytest.raises(TypeError, match="text|str"):
        x * "text"
    with pytest.raises(TypeError, match="values"):
        np.delete(x, [1, 2])


def test_what_a_symbol_does_not_know_is_an_error() -> None:
    """Lengths, truth, values, shapes, and keys that are no integers or slices."""
    x, _ = _pair()
    for call in (lambda: len(x), lambda: iter(x), lambda: hash(x)):
        with pytest.raises(TypeError):
            call()
    for key in (None, ..., [0], x, (0, None)):
        with pytest.raises(IndexError, match="integers and slices"):
            x[key]
    with pytest.raises(mx.base.NotImplementedForSymbol):
        bool(x)
    with pytest.raises(mx.base.NotImplementedForSymbol):
        x[0] = 1
    with pytest.raises(AttributeError, match="mx.sym.np"):
        x.exp()
    with pytest.raises(NotImplementedError, match="range"):
        np.histogram(x, 4)
    with pytest.raises(TypeError, match="pad_width"):
        np.pad(x, 1)


def test_the_last_element_and_its_neighbours() -> None:
    """Negative integers select as they do of arrays, where 1.9.1 selects nothing."""
    x, _ = _pair()
    value = mx.np.array([[1.0, 2.0], [3.0, 4.0]])
    for made, wanted in ((x[-1], [3, 4]), (x[0, -1], 2), (x[-2, -1], 2), (x[-2:], [[1, 2], [3, 4]])):
        numpy.testing.assert_array_equal(made.eval(x=value)[0].asnumpy(), wanted)


def test_several_outputs_are_a_list() -> None:
    """Of functions; of a group they are chosen by number, name and slice."""
    x, _ = _pair()
    parts = np.split(x, 2)
    assert [type(each) for each in parts] == [np._Symbol] * 2
    group = mx.sym.Group([x, np.exp(x)], np._Symbol)
    assert len(group) == group.num_outputs == 2 and [each.name for each in group][0] == "x"
    assert group[-1].name == group[1].name and group["x"].name == "x" and type(group[0:1]) is np._Symbol
    with pytest.raises(IndexError):
        group[2]


def test_shapes_of_numpy_are_inferred() -> None:
    """Empty axes and scalars, in numpy-shape mode."""
    x, y = _pair()
    assert (x + y).infer_shape(x=(0, 3), y=(3,))[1] == [(0, 3)]
    assert (x + y).infer_shape(x=(), y=())[1] == [()]
    assert np.sum(x).infer_shape(x=(2, 3))[1] == [()]
    assert np.mean(x, axis=0).infer_type(x="float64")[1] == [numpy.float64]


def test_simple_bind_trains() -> None:
    """Arrays are made by inference, and gradients written."""
    x, _ = _pair()
    w = mx.sym.var("w").as_np_ndarray()
    loss = np.sum(np.square(np.dot(x, w) - 1))
    executor = loss.simple_bind(mx.cpu(), x=(3, 2), w=(2,))
    executor.forward(is_train=True, x=numpy.ones((3, 2)), w=numpy.array([2.0, 1.0]))
    executor.backward(mx.nd.ones(()))
    numpy.testing.assert_allclose(executor.grad_dict["w"].asnumpy(), [12, 12])


def test_random_numbers_and_normal_vectors() -> None:
    """Symbols of distributions, with numbers and symbols as parameters."""
    x, _ = _pair()
    assert np.random.uniform(x, 1, (2,)).eval(x=mx.np.zeros(2))[0].shape == (2,)
    assert npx.random.bernoulli(0.5, size=(3,)).eval()[0].shape == (3,)
    mean, cov = mx.np.array([5.0, -5.0]), mx.np.array([[1e-6, 0.0], [0.0, 1e-6]])
    c = mx.sym.var("c").as_np_ndarray()
    drawn = np.random.multivariate_normal(x, c, size=(4,)).eval(x=mean, c=cov)[0]
    numpy.testing.assert_allclose(drawn.asnumpy(), numpy.tile([5.0, -5.0], (4, 1)), atol=0.1)
    with pytest.raises(NotImplementedError, match="choice"):
        np.random.choice(x, 2)


_VALUE = [[1.0, -2.0], [3.0, 4.5]]


def _of(symbol: Any, **dtypes: str) -> Any:
    values = {name: mx.np.array(_VALUE, dtype=dtypes.get(name, "float32")) for name in symbol.list_arguments()}
    return symbol.eval(**values)[0].asnumpy()


def test_operators_that_mxnet_lacks() -> None:
    """Python's operators and functions, as arrays have them."""
    x, y = _pair()
    value = numpy.array(_VALUE)
    numpy.testing.assert_allclose(_of(abs(x)), abs(value))
    numpy.testing.assert_allclose(_of(x @ y), value @ value)
    numpy.testing.assert_allclose(_of(np.deg2rad(x) + np.rad2deg(y)), numpy.deg2rad(value) + numpy.rad2deg(value))
    integers = {"x": "int32", "y": "int32"}
    numpy.testing.assert_array_equal(_of(x & y, **integers), value.astype("int32"))
    numpy.testing.assert_array_equal(_of(~x, **integers), ~value.astype("int32"))
    assert _of(x.broadcast_to((3, 2, 2))).shape == (3, 2, 2)
    assert np.random.randn(2, 3).eval()[0].shape == (2, 3)
    assert float(np.random.multinomial(4, [0.5, 0.5]).eval()[0].asnumpy().sum()) == 4


def test_numbers_keep_the_dtype() -> None:
    """Whole numbers beside integers, on both sides."""
    x, _ = _pair()
    for made in (2 * x, x * 2, -x, 2 - x, x + 1):
        assert _of(made, x="int32").dtype == numpy.int32


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda x: np.where(x > 0, x, 3), [[1, 0], [1, 1]]),
        (lambda x: np.var(x), [[-0.3125, -1.8125], [0.6875, 1.4375]]),
        (lambda x: np.atleast_1d(x), [[1, 1], [1, 1]]),
        (lambda x: np.arctan2(2, x), [[-0.4, -0.25], [-2 / 13, -2 / 24.25]]),
        (lambda x: np.percentile(x, 100), [[0, 0], [0, 1]]),
    ],
)
def test_gradients_that_mxnet_lacks(make: Any, wanted: Any) -> None:
    """Of functions whose gradients are zeros, or those of other elements, in 1.9.1."""
    x, _ = _pair()
    executor = make(x).simple_bind(mx.cpu(), x=(2, 2))
    outputs = executor.forward(is_train=True, x=numpy.array(_VALUE))
    executor.backward([mx.nd.ones(each.shape) for each in outputs])
    numpy.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), wanted, rtol=1e-5)


# ---- blocks ----


class _Net(mx.gluon.HybridBlock):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.dense = mx.gluon.nn.Dense(4, activation="relu")
            self.w = self.params.get("w", shape=(4, 3), init=mx.init.One())
            self.chain = mx.gluon.nn.HybridSequential()
            self.chain.add(mx.gluon.nn.Dense(5), mx.gluon.nn.HybridLambda(lambda F, x: F.np.tanh(x)))
            self.chain.add(mx.gluon.nn.Dropout(0.5), mx.gluon.nn.LayerNorm())

    def hybrid_forward(self, F: Any, x: Any, w: Any) -> Any:  # noqa: N803
        hidden = self.dense(x)
        y = F.np.dot(hidden, w) + F.npx.sigmoid(F.np.sum(x, axis=1, keepdims=True))
        y = F.np.concatenate([y, 2 * hidden], axis=1).reshape(-1, 7)[:, 1:3] * F.np.ones((1,))
        return y, F.npx.softmax(self.chain(x)), (x > 0).astype("int32")


def test_blocks_with_np_and_npx_are_hybridized_and_exported(tmp_path: Path) -> None:
    """F.np and F.npx of mx.nd and mx.sym; the file is a SymbolBlock's; gradients reach the parameters."""
    net = _Net(prefix="net_")
    net.initialize(mx.init.One())
    x = mx.np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]])
    wanted = [each.asnumpy() for each in net(x)]
    net.hybridize()
    with mx.autograd.record():
        outputs = net(x)
    outputs[0].backward()
    assert all(type(each) is mx.np.ndarray for each in outputs)
    assert float(abs(net.w.grad()).sum()) > 0
    path = str(tmp_path / "net")
    net.export(path)
    block = mx.gluon.SymbolBlock.imports(f"{path}-symbol.json", ["data"], f"{path}-0000.params")
    for mine, read, there in zip(net(x), block(x), wanted):
        numpy.testing.assert_allclose(mine.asnumpy(), there, rtol=1e-5)
        numpy.testing.assert_allclose(read.asnumpy(), there, rtol=1e-5)
    operators = {each[0] for each in programs.nodes((tmp_path / "net-symbol.json").read_text())}
    assert {"_np_dot", "_npx_sigmoid", "_npi_tanh", "_npi_multiply_scalar", "_npi_concatenate"} <= operators


def test_layers_and_losses_take_symbols() -> None:
    """Blocks of the package answer to a symbol of `mx.sym.np` with one."""
    x, y = _pair()
    dense = mx.gluon.nn.Dense(3, prefix="dense_")
    assert type(dense(x)) is np._Symbol and dense(x).list_arguments() == ["x", "dense_weight", "dense_bias"]
    assert type(dense(mx.sym.var("x"))) is mx.sym.Symbol
    assert type(mx.gluon.loss.L2Loss()(x, y)) is np._Symbol
    cell = mx.gluon.rnn.LSTMCell(3)
    outputs, _ = cell.unroll(2, [x, y], merge_outputs=False, begin_state=[mx.sym.np.zeros((1, 3))] * 2)
    assert [type(each) for each in outputs] == [np._Symbol] * 2


class _Loops(mx.gluon.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any, state: Any) -> Any:  # noqa: N803
        outputs, last = F.npx.foreach(lambda part, sum: (F.np.exp(part) + sum, sum + part), x, state)
        counted, _ = F.npx.while_loop(lambda i: F.np.sum(i) < 6, lambda i: (i * 2, i + 1), [last], max_iterations=3)
        return outputs, last, counted, F.npx.cond(F.np.sum(state) < 3, lambda: F.np.tanh(last), lambda: last)


def test_control_flow_over_both_classes() -> None:
    """foreach, while_loop and cond of arrays, of symbols and in hybridized blocks: bodies compute with F.np."""
    x, state = mx.np.array([[1.0, 2.0], [0.5, 0.25]]), mx.np.array([0.0, 1.0])
    block = _Loops()
    wanted = block(x, state)
    block.hybridize()
    for mine, there in zip(block(x, state), wanted):
        assert type(_first(mine)) is type(_first(there)) is mx.np.ndarray
        numpy.testing.assert_allclose(_first(mine).asnumpy(), _first(there).asnumpy(), rtol=1e-6)
    numpy.testing.assert_allclose(wanted[1].asnumpy(), [1.5, 3.25])
    old = mx.sym.contrib.foreach(lambda part, sum: (part, sum + part), mx.sym.var("x"), mx.sym.var("s"))
    assert type(old[0]) is mx.sym.Symbol


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) else value
