"""What MXNet 1.9.1 asserts are errors of classes that say what is wrong, which `except AssertionError` catches too."""

from __future__ import annotations

import ast
import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pytest

import mxlite as mx
from mxlite import gluon, nd
from mxlite.error import MXNetError, WrongStateError, WrongTypeError, WrongValueError

PACKAGE = Path(mx.__file__).parent

#: Where an AssertionError is what is meant: PyTorch raises them, and comparisons of tests do.
ASSERTING = ("torch/", "test_utils/_comparison.py", "test_utils/_distributions.py")
ASSERTING += ("autograd/_checks.py", "autograd/_several.py")


def test_nothing_raises_a_bare_assertion_error() -> None:
    """`assert x is not None`, for type checkers alone, has no text."""
    seen = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).as_posix().startswith(ASSERTING):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            where = f"{path}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                seen += 1
                assert getattr(node.exc.func, "id", "") != "AssertionError", where
            if isinstance(node, ast.Assert):
                assert node.msg is None and ast.unparse(node.test).endswith(" is not None"), where
    assert seen > 500


CASES: dict[str, tuple[Callable[[], object], type[Exception]]] = {
    "registry": (lambda: mx.init.create("nothing"), WrongValueError),
    "registry's kind": (lambda: mx.metric.create(5), WrongTypeError),
    "layout": (lambda: gluon.rnn.LSTM(3, layout="NCT"), WrongValueError),
    "kernel": (lambda: gluon.nn.Conv2D(1, (1, 2, 3)), WrongTypeError),
    "not bound": (lambda: mx.mod.Module(mx.sym.var("data"), label_names=None).forward(None), WrongStateError),
    "not initialized": (lambda: gluon.Parameter("w", shape=(2,)).set_data(nd.ones(2)), WrongStateError),
    "loop": (lambda: nd.contrib.foreach(lambda x, s: (x, s), 5, nd.ones(1)), WrongTypeError),
    "symbol": (lambda: mx.sym.exp(5), WrongTypeError),
    "loader": (lambda: gluon.data.DataLoader([1], 1, timeout=0), WrongValueError),
    "image": (lambda: mx.image.imresize(5, 2, 2), WrongTypeError),
    "schedule": (lambda: mx.lr_scheduler.MultiFactorScheduler(5), WrongTypeError),
}


@pytest.mark.parametrize("what", CASES)
def test_what_mxnet_asserts(what: str) -> None:
    call, kind = CASES[what]
    with pytest.raises(AssertionError) as caught:
        call()
    assert type(caught.value) is kind and str(caught.value)
    assert isinstance(caught.value, {WrongTypeError: TypeError, WrongValueError: ValueError}.get(kind, MXNetError))


def _load(answers: multiprocessing.Queue) -> None:
    try:
        list(gluon.data.DataLoader(gluon.data.SimpleDataset([1, 2]), 1, num_workers=1))
        answers.put(None)
    except BaseException as error:
        answers.put((type(error).__name__, str(error)))


def test_a_daemonic_process_starts_no_workers() -> None:
    """multiprocessing itself would raise an AssertionError."""
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    process = context.Process(target=_load, args=(answers,), daemon=True)
    process.start()
    name, text = answers.get(timeout=60)
    process.join(60)
    assert name == "WrongStateError" and "thread_pool=True" in text
