"""Hybridized blocks whose inputs come in several forms: they answer as plain blocks do, whichever form came first."""

from __future__ import annotations

import itertools
import threading
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, gluon, nd

X = nd.array([[1.0, 2.0], [3.0, 4.0]])


class Many(gluon.HybridBlock):
    """Answers in a form that depends on that of its inputs."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = self.params.get("scale", shape=(2,), init=mx.init.Constant(3))
        self.dense = gluon.nn.Dense(2, weight_initializer=mx.init.Constant(0.5))  # of a size that it has to find

    def hybrid_forward(  # noqa: D102
        self,
        F: Any,  # noqa: N803
        x: Any,
        mask: Any = None,
        states: Any = None,
        *more: Any,
        scale: Any,
    ) -> Any:
        y = F.broadcast_mul(x, scale)
        if mask is not None:
            y = self.dense(y * mask)
        for each in more:
            y = y + each
        if states is None:
            return y
        found = []
        for number, each in enumerate(states):
            if isinstance(each, (list, tuple)):
                found.append([part * (number + 1) for part in each])
            else:
                y, found = y + each, [*found, each + 1]
        return y, found


FORMS: dict[str, tuple] = {
    "one": (X,),
    "two": (X, X),
    "a None": (X, None),
    "two None": (X, None, None),
    "a list": (X, X, [X]),
    "a longer list": (X, None, [X, X]),
    "a tuple": (X, None, (X, X)),
    "a nested list": (X, None, [[X, X], X]),
    "an empty list": (X, None, []),
    "more": (X, X, None, X, X),
}


def _shown(result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return [_shown(each) for each in result]
    return None if result is None else result.asnumpy().tolist()


def _initialized(block: gluon.HybridBlock) -> gluon.HybridBlock:
    block.initialize()
    return block


@pytest.fixture(autouse=True)
def unused_inputs_and_parameters() -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* is not (used by any computation|found in the graph)")
        yield


@pytest.mark.parametrize("flags", [{}, {"static_alloc": True, "static_shape": True}])
def test_each_form_is_answered_as_by_the_plain_block(flags: dict[str, bool]) -> None:
    plain = _initialized(Many())
    expected = {name: _shown(plain(*given)) for name, given in FORMS.items()}
    for first, then in itertools.permutations(FORMS, 2):
        block = _initialized(Many())
        block.hybridize(**flags)
        for name in (first, then, first):
            assert _shown(block(*FORMS[name])) == expected[name], (first, then, name)


def test_forms_within_another_block() -> None:
    class Outer(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Many()

        def hybrid_forward(self, F: Any, x: Any, states: Any = None) -> Any:  # noqa: N803
            y = self.inner(x)
            return y + self.inner(x, x, states)[0] if states is not None else y * 2

    found = []
    for hybridized in (False, True):
        block = _initialized(Outer())
        block.hybridize(hybridized)
        found.append([_shown(block(X)), _shown(block(X, [X])), _shown(block(X)), _shown(block(X, [X, X]))])
    assert found[0] == found[1]


def test_gradients_to_second_order_of_each_form() -> None:
    found = []
    for hybridized in (False, True):
        block = _initialized(Many())
        block.hybridize(hybridized)
        for given in (FORMS["one"], FORMS["a list"], FORMS["one"]):
            x = X.copy()
            x.attach_grad()
            with autograd.record():
                out = block(x, *given[1:])
                out = (out if isinstance(out, nd.NDArray) else out[0]) ** 3
                first = autograd.grad(out.sum(), [x, block.scale.data()], create_graph=True)
                total = sum(each.sum() for each in first)
            total.backward()
            found.append([*map(_shown, first), _shown(x.grad), _shown(block.scale.grad())])
    assert found[:3] == found[3:]


def test_a_trainer_steps_over_calls_of_both_forms() -> None:
    found = []
    for hybridized in (False, True):
        block = _initialized(Many())
        block.hybridize(hybridized)
        trainer = gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.01})
        for given in (FORMS["one"], FORMS["two"], FORMS["one"]):
            with autograd.record():
                loss = block(*given).sum() + block(*FORMS["two"]).sum()
            loss.backward()
            trainer.step(1)
        found.append([_shown(each.data()) for each in block.collect_params().values()])
    assert found[0] == found[1]


def test_what_is_exported_is_the_last_form(tmp_path: Path) -> None:
    block = _initialized(Many())
    block.hybridize()
    for given, names in (
        (FORMS["two"], ["data0", "data1"]),
        (FORMS["one"], ["data"]),
        (FORMS["two"], ["data0", "data1"]),
    ):
        expected = block(*given)
        block.export(str(tmp_path / "net"))
        read = gluon.SymbolBlock.imports(str(tmp_path / "net-symbol.json"), names, str(tmp_path / "net-0000.params"))
        assert _shown(read(*given)) == _shown(expected)


def test_a_hook_sees_all_graphs() -> None:
    block = _initialized(Many())
    block.hybridize()
    block(*FORMS["one"])
    block(*FORMS["two"])
    seen: list = []
    block.register_op_hook(lambda name, operator, array: seen.append(nd.NDArray(array)))
    for given in (FORMS["one"], FORMS["two"], FORMS["a list"]):
        del seen[:]
        block(*given)
        assert seen
    del seen[:]


def test_threads_with_another_form_each() -> None:
    block = _initialized(Many())
    expected = [_shown(block(*given)) for given in FORMS.values()]
    block.hybridize()
    wrong: list = []

    def run(given: tuple, right: Any) -> None:
        wrong.extend(1 for _ in range(30) if _shown(block(*given)) != right)

    _at_once([lambda g=given, r=right: run(g, r) for given, right in zip(FORMS.values(), expected)])
    assert not wrong


def _at_once(functions: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=each) for each in functions]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def test_outputs_that_are_none() -> None:
    class Some(gluon.HybridBlock):
        def hybrid_forward(self, F: Any, x: Any, states: Any = None) -> Any:  # noqa: N803
            parts = F.split(x, 2, axis=1)
            return x * 2, None, [states, None, parts[0]], None if states is None else F.relu(states[0])

    found = []
    for hybridized in (False, True):
        block = Some()
        block.hybridize(hybridized)
        found.append([_shown(block(X)), _shown(block(X, [X])), _shown(block(X))])
    assert found[0] == found[1]


# ---- recurrent layers ----

LAYERS = [gluon.rnn.RNN, gluon.rnn.LSTM, gluon.rnn.GRU]
SEQUENCE = nd.array(np.random.RandomState(0).randn(5, 2, 4))


def _layer(kind: Any, hybridized: bool, **options: Any) -> Any:
    mx.random.seed(1)
    layer = kind(3, **options)
    layer.initialize(mx.init.Normal(0.5))
    layer.hybridize(hybridized)
    return layer


@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "num_layers": 2}, {"layout": "NTC", "input_size": 4}])
@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("order", ["01", "10", "0110"])
def test_recurrent_layers_answer_as_plain_ones(kind: Any, order: str, options: dict[str, Any]) -> None:
    found = []
    for hybridized in (False, True):
        layer = _layer(kind, hybridized, **options)
        x = SEQUENCE if "layout" not in options else SEQUENCE.swapaxes(0, 1)
        states = [each + 0.5 for each in layer.begin_state(2)]
        calls = [layer(x, states) if each == "1" else layer(x) for each in order]
        found.append([_shown(each) for each in calls])
    assert [np.shape(each[0]) for each in found[0]] == [np.shape(each[0]) for each in found[1]]
    for plain, graph in zip(*found):
        assert str(plain) == str(graph)


@pytest.mark.parametrize("kind", LAYERS)
def test_recurrent_layers_with_lengths(kind: Any) -> None:
    found = []
    for hybridized in (False, True):
        layer = _layer(kind, hybridized, use_sequence_length=True, input_size=4)
        lengths = nd.array([5, 2])
        states = layer.begin_state(2)
        found.append(
            [
                _shown(layer(SEQUENCE, sequence_length=lengths)),
                _shown(layer(SEQUENCE, states, sequence_length=lengths)),
                _shown(layer(SEQUENCE, states, lengths)),
            ]
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", LAYERS)
def test_recurrent_layers_within_blocks(kind: Any) -> None:
    class Net(gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            self.layer = kind(3, use_sequence_length=True, input_size=4)

        def hybrid_forward(self, F: Any, x: Any, lengths: Any, states: Any = None) -> Any:  # noqa: N803
            out = self.layer(x, states, lengths)
            return out * 2 if states is None else (out[0] + self.layer(x, None, lengths), out[1])

    found = []
    for hybridized in (False, True):
        mx.random.seed(1)
        net = Net()
        net.initialize(mx.init.Normal(0.5))
        net.hybridize(hybridized)
        lengths, states = nd.array([5, 2]), net.layer.begin_state(2)
        found.append([_shown(net(SEQUENCE, lengths)), _shown(net(SEQUENCE, lengths, states))])
    assert found[0] == found[1]


def test_threads_with_and_without_states() -> None:
    layer = _layer(gluon.rnn.LSTM, True, input_size=4)
    states = layer.begin_state(2)
    wrong: list = []

    def run(given: tuple, kind: type) -> None:
        wrong.extend(1 for _ in range(50) if not isinstance(layer(SEQUENCE, *given), kind))

    _at_once([lambda: run((), nd.NDArray), lambda: run((states,), (list, tuple))])
    assert not wrong
