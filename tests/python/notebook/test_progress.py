"""Bars and live lines: shown where a person looks, nowhere else; and what training loops report to them."""

from __future__ import annotations

import fcntl
import io
import logging
import math
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxlite as mx
from mxlite import _notebook, gluon, nd
from mxlite._notebook import progress
from mxlite._notebook.live import Live
from mxlite.gluon import nn
from mxlite.gluon.contrib.estimator import Estimator
from mxlite.gluon.contrib.estimator.event_handler import LiveHandler

pytestmark = pytest.mark.one_binding


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """This process takes itself for a notebook's kernel; the list gets what is displayed."""
    shown: list[Any] = []

    class Handle:
        def update(self, thing: Any) -> None:
            shown.append(thing)

    def display(thing: Any, display_id: bool) -> Handle:
        assert display_id is True
        shown.append(thing)
        return Handle()

    shell = types.ModuleType("IPython")
    shell.get_ipython = lambda: types.SimpleNamespace(kernel=1)  # type: ignore[attr-defined]
    inner = types.ModuleType("IPython.display")
    inner.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", inner)
    monkeypatch.delenv(_notebook.SETTING, raising=False)
    return shown


def test_where_this_is(notebook: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert _notebook.here()
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: types.SimpleNamespace())  # in a terminal
    assert not _notebook.here()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not _notebook.here()


def test_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("0", "1", ""):
        monkeypatch.setenv("MXLITE_PROGRESS", text)
        assert _notebook.setting() == text
    monkeypatch.setenv("MXLITE_PROGRESS", "many")
    with pytest.raises(mx.MXNetError, match="MXLITE_PROGRESS must be 0 or 1, got 'many'"):
        progress.over([1], "work")


# ---- bars ----


def _is_shown(monkeypatch: pytest.MonkeyPatch, setting: str, terminal: bool) -> bool:
    stream = io.StringIO()
    stream.isatty = lambda: terminal  # type: ignore[method-assign]
    monkeypatch.setenv("MXLITE_PROGRESS", setting)
    monkeypatch.setattr(sys, "stderr", stream)
    things = [1, 2, 3]
    moved = progress.over(things, "work")
    assert list(moved) == things and (moved is things) == (stream.getvalue() == "")
    return "work" in stream.getvalue()


def test_bars_are_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tqdm")
    assert not _is_shown(monkeypatch, "", False)
    assert _is_shown(monkeypatch, "", True)
    assert not _is_shown(monkeypatch, "0", True)
    assert _is_shown(monkeypatch, "1", False)
    monkeypatch.setattr(sys, "stderr", None)  # as under pythonw
    assert list(progress.over([1], "work")) == [1]


def test_without_tqdm_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.importlib.util, "find_spec", lambda name: None)
    assert not _is_shown(monkeypatch, "1", True)
    with progress.bar("work", 3) as bar:
        bar.update(2)


def test_a_break_ends_the_bar_and_handlers_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tqdm")
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setenv("MXLITE_PROGRESS", "1")
    monkeypatch.setattr(sys, "stderr", stream)
    logger = logging.Logger("x")
    handler = logging.StreamHandler(stream)
    logger.addHandler(handler)
    for each in progress.over(range(5), "work", loggers=[logger, logging]):
        assert len(handler.filters) == 1
        if each == 2:
            logger.warning("seen")
            break
    assert not handler.filters
    assert re.search(r"(\r *\r|\x1b\[2K|\r)seen\n", stream.getvalue())  # on a line of its own


FIT = """
import logging, sys
import numpy as np
import mxlite as mx
logging.basicConfig(level=logging.INFO, format="%(message)s")
data = mx.io.NDArrayIter(np.ones((640, 4), "f"), np.zeros(640, "f"), 32)
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
mx.random.seed(1)
module = mx.mod.Module(net)
module.fit(data, eval_data=data, num_epoch=2, batch_end_callback=mx.callback.Speedometer(32, 10))
print(module.score(data, "acc"))
"""


def _printed(setting: str | None, terminal: bool) -> tuple[str, str]:
    """stdout and stderr of FIT; with stderr at a terminal, or at a pipe."""
    env = {name: value for name, value in os.environ.items() if name != "MXLITE_PROGRESS"}
    env.update({} if setting is None else {"MXLITE_PROGRESS": setting})
    command = [sys.executable, "-c", FIT]
    if not terminal:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr
    try:
        ours, theirs = pty.openpty()
    except OSError:
        pytest.skip("this machine has no terminals (a container without /dev/pts)")
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # Linux's way to say that the other end is closed
                break
            if not piece:
                break
            said += piece
        assert process.stdout is not None
        printed = process.stdout.read().decode()
    os.close(ours)
    assert process.returncode == 0
    return printed, said.decode()


def _lines(log: str) -> list[str]:
    """The lines of a log without their numbers."""
    return [re.sub(r"[\d.]+", "", line) for line in log.replace("\r\n", "\n").split("\n")]


def test_fit_shows_bars_at_a_terminal_alone() -> None:
    pytest.importorskip("tqdm")
    piped = _printed(None, False)
    assert "|" not in piped[1] and "\r" not in piped[1] and "Train-accuracy" in piped[1]
    off = _printed("0", True)
    assert off[0] == piped[0] and _lines(off[1]) == _lines(piped[1])  # the same program, the same log
    shown = _printed(None, True)
    assert shown[0] == piped[0]
    assert "Epoch 0:" in shown[1] and "/20 [" in shown[1] and "Epoch 1 validation:" in shown[1]
    # What the program logs stands on lines of its own: behind the last carriage return there is nothing else.
    seen = [re.sub(r"[\d.]+", "", line.rstrip("\r").rpartition("\r")[2]) for line in shown[1].split("\n")]
    assert [line for line in seen if line.strip()] == [line for line in _lines(piped[1]) if line]


def test_a_download_moves_a_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    pytest.importorskip("tqdm")
    (tmp_path / "there.bin").write_bytes(b"x" * 3000)
    monkeypatch.setenv("MXLITE_PROGRESS", "1")
    gluon.utils.download((tmp_path / "there.bin").as_uri(), str(tmp_path / "here.bin"))
    assert (tmp_path / "here.bin").read_bytes() == b"x" * 3000
    assert "here.bin:" in capfd.readouterr().err
    monkeypatch.delenv("MXLITE_PROGRESS")
    gluon.utils.download((tmp_path / "there.bin").as_uri(), str(tmp_path / "here.bin"), overwrite=True)
    assert capfd.readouterr().err == ""


# ---- live lines ----


def test_a_live_line_draws_what_it_is_told(notebook: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    live = Live("epoch")
    assert repr(live) == "nothing yet" and live._repr_html_().count("<svg") == 0
    live.update(place="epoch 1", train_loss=nd.array([3]), val_loss=4, accuracy=0.5)
    live.update(place="epoch 2", train_loss=2, val_loss=math.nan, accuracy=0.75)
    assert live.history["train_loss"] == [(1.0, 3.0), (2.0, 2.0)]
    assert repr(live) == "epoch 2: train_loss 2, val_loss nan, accuracy 0.75"
    shown = live._repr_html_()
    assert (
        shown.count("<svg") == 2 and ">val</text>" in shown and ">loss</text>" in shown and ">accuracy</text>" in shown
    )
    assert notebook == [live]  # the second came too soon to be drawn
    live.show()
    assert notebook == [live, live]
    monkeypatch.setenv("MXLITE_PROGRESS", "0")
    live.show()
    assert len(notebook) == 2


def test_curves_keep_a_bounded_number_of_points() -> None:
    live = Live()
    for number in range(5000):
        live.update(x=number)
    points = live.history["x"]
    assert len(points) <= 401 and points[0] == (1.0, 0.0) and points[-1] == (5000.0, 4999.0)
    assert points == sorted(points)


def _data() -> mx.io.NDArrayIter:
    return mx.io.NDArrayIter(np.ones((64, 4), np.float32), np.zeros(64, np.float32), 16)


def _fit(**callbacks: Any) -> None:
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
    mx.mod.Module(net, logger=logging.getLogger("nowhere")).fit(_data(), eval_data=_data(), num_epoch=3, **callbacks)


def test_fit_of_a_module_has_a_line_in_a_notebook(notebook: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    _fit(batch_end_callback=seen.append)
    assert len(seen) == 12 and notebook and all(each is notebook[0] for each in notebook)
    history = notebook[0].history
    assert [at for at, _ in history["training accuracy"]] == list(range(1, 13))
    assert [at for at, _ in history["validation accuracy"]] == [4, 8, 12]
    notebook.clear()
    own = mx.callback.Live()
    _fit(batch_end_callback=own)  # one is enough
    assert set(map(id, notebook)) == {id(own)}
    notebook.clear()
    monkeypatch.setenv("MXLITE_PROGRESS", "0")
    _fit()
    assert not notebook


def test_a_live_callback_elsewhere_keeps_the_history() -> None:
    live = mx.callback.Live()
    _fit(batch_end_callback=live, eval_end_callback=live.validated)
    assert len(live.history["training accuracy"]) == 12 and len(live.history["validation accuracy"]) == 3


def _estimate(**options: Any) -> None:
    net = nn.Dense(2, in_units=4)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    estimator = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer)
    estimator.logger.setLevel(logging.WARNING)
    data = gluon.data.ArrayDataset(np.ones((64, 4), np.float32), np.zeros(64, np.float32))
    estimator.fit(gluon.data.DataLoader(data, 16), gluon.data.DataLoader(data, 32), epochs=2, **options)


def test_an_estimator_has_a_line_in_a_notebook(notebook: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    _estimate()
    history = notebook[-1].history
    assert set(history) == {
        f"{a} {b}" for a in ("training", "validation") for b in ("accuracy", "softmaxcrossentropyloss")
    }
    assert [at for at, _ in history["training accuracy"]] == list(range(1, 9))
    assert [at for at, _ in history["validation accuracy"]] == [4, 8]
    monkeypatch.setenv("MXLITE_PROGRESS", "0")
    notebook.clear()
    _estimate()
    assert not notebook


def test_a_live_handler_elsewhere_keeps_the_history() -> None:
    handler = LiveHandler()
    _estimate(event_handlers=[handler])
    assert len(handler.live.history["training accuracy"]) == 8
