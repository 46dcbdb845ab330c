"""mxlite predict and mxlite show: saved models that run, and graphs that are printed and drawn."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import mxlite as mx


def _command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mxlite", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with net-symbol.json, net-0000.params (two classes of images of 4 by 6) and x.npy."""
    folder = tmp_path_factory.mktemp("model")
    data = mx.sym.Variable("data")
    net = mx.sym.Activation(
        mx.sym.Convolution(data, kernel=(3, 3), num_filter=2, name="conv"), act_type="relu", name="a"
    )
    net = mx.sym.FullyConnected(mx.sym.BatchNorm(net, name="bn"), num_hidden=2, name="fc")
    net = mx.sym.SoftmaxOutput(net, name="softmax")
    shapes, _, states = net.infer_shape(data=(1, 3, 4, 6))
    held = {f"arg:{name}": mx.nd.random.normal(shape=each) for name, each in zip(net.list_arguments()[1:], shapes[1:])}
    del held["arg:softmax_label"]
    held.update({f"aux:{name}": mx.nd.ones(each) for name, each in zip(net.list_auxiliary_states(), states)})
    net.save(str(folder / "net-symbol.json"))
    mx.nd.save(str(folder / "net-0000.params"), held)
    np.save(folder / "x.npy", np.random.RandomState(3).rand(2, 3, 4, 6).astype("float32"))
    return folder


FILES = ("net-symbol.json", "net-0000.params")


def _expected(folder: Path) -> np.ndarray:
    net = mx.mod.Module(mx.sym.load(str(folder / FILES[0])), context=mx.cpu())
    net.bind([("data", (2, 3, 4, 6))], [("softmax_label", (2,))], for_training=False)
    _, arguments, states = mx.model.load_checkpoint(str(folder / "net"), 0)
    net.set_params(arguments, states)
    net.forward(mx.io.DataBatch([mx.nd.array(np.load(folder / "x.npy"))]), is_train=False)
    return net.get_outputs()[0].asnumpy()


def test_a_saved_model_predicts(model: Path) -> None:
    done = _command("predict", *FILES, "--input", "x.npy", "--repeat", "2", "--out", "y.npz", folder=model)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, *_, last = done.stdout.splitlines()
    assert first == "data (2, 3, 4, 6) x.npy" and second == "softmax_output (2, 2) float32"
    time = r"[\d.]+ (s|ms|us)"
    assert re.fullmatch(f"first run {time}; 2 more: median {time}, fastest {time}", last)
    np.testing.assert_allclose(np.load(model / "y.npz")["softmax_output"], _expected(model), rtol=1e-5, atol=1e-6)


def test_random_inputs_and_the_greatest_outputs(model: Path) -> None:
    done = _command("predict", *FILES, "--shape", "data=20,3,4,6", "--repeat", "0", "--top", "1", folder=model)
    assert (done.returncode, done.stderr) == (0, "")
    assert "data (20, 3, 4, 6) random numbers from 0 to 1" in done.stdout
    assert re.search(r"^    greatest of the first row: \[[01]\] 0?\.?\d", done.stdout, re.M)
    assert re.search(r"^first run [\d.]+ (s|ms|us)$", done.stdout, re.M)


def test_an_image_as_input(model: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (12, 8), (255, 0, 51)).save(model / "red.png")
    words = ("--shape", "data=1,3,4,6", "--input", "data=red.png", "--mean", "0,0,51", "--std", "255", "--out", "z.npz")
    done = _command("predict", *FILES, *words, folder=model)
    assert (done.returncode, done.stderr) == (0, "")
    red = np.zeros((2, 3, 4, 6), "float32")
    red[:, 0] = 1
    kept = np.load(model / "x.npy")
    np.save(model / "x.npy", red)
    try:
        np.testing.assert_allclose(
            np.load(model / "z.npz")["softmax_output"], _expected(model)[:1], rtol=1e-5, atol=1e-6
        )
    finally:
        np.save(model / "x.npy", kept)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "the shape or the values of input data are missing: --shape data=... or --input"),
        (("--shape", "data=1,x"), "--shape data=1,x: expected NAME=SIZES, such as data=1,3,224,224"),
        (("--shape", "date=1,3"), "there is no input date; those without values in the file: data, softmax_label"),
        (("--shape", "data=1,3,9,9"), "fc: FullyConnected: axis 1 of weight is 16; it must be 98"),
        (("--input", "none.npy"), "--input none.npy: "),
        (("--input", "net-symbol.json"), "--input net-symbol.json: "),
        (("--shape", "data=1,3,4,6", "--input", "x.npy"), "--shape says (1, 3, 4, 6)"),
        (("--input", "red.png"), "an image needs the input's shape"),
        (("--shape", "data=1,3,4,6", "--repeat", "-1"), "--repeat -1: expected 0 or more"),
    ],
)
def test_wrong_words_are_one_line(model: Path, words: tuple[str, ...], line: str) -> None:
    done = _command("predict", *FILES, *words, folder=model)
    assert (done.returncode, done.stdout if "9,9" not in str(words) else "") == (1, "")
    assert done.stderr.startswith("mxlite predict: ") and line in done.stderr and done.stderr.count("\n") == 1


def test_files_that_are_not_there_are_one_line(model: Path) -> None:
    for command, words in (
        ("predict", ("no.json", FILES[1])),
        ("predict", (FILES[0], FILES[0])),
        ("show", (FILES[1],)),
        ("show", (FILES[0], "--shape", "no=3")),
        ("show", (FILES[0], "--out", "net")),
        ("show", (FILES[0], "--out", "no/net.svg")),
    ):
        done = _command(command, *words, folder=model)
        assert (done.returncode, done.stdout) == (1, ""), words
        assert done.stderr.startswith(f"mxlite {command}: ") and done.stderr.count("\n") == 1, done.stderr


def test_a_graph_as_a_table(model: Path) -> None:
    done = _command("show", FILES[0], "--shape", "data=1,3,4,6", folder=model)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [re.split(r"  +", line.strip()) for line in done.stdout.splitlines()]
    assert rows[0] == ["#", "node", "operator", "parameters", "inputs", "output", "numbers"]
    assert rows[2] == ["0", "data", "input", "(1,3,4,6)"]
    assert rows[3] == ["1", "conv", "Convolution", "kernel=(3, 3), num_filter=2", "0 weight bias", "(1,2,2,4)", "56"]
    assert rows[5][2:] == ["BatchNorm", "2 gamma beta moving_mean moving_var", "(1,2,2,4)", "8"]
    assert rows[7] == ["5", "softmax", "SoftmaxOutput", "4 label", "(1,2)"]
    assert rows[8] == ["5 operators, 98 numbers in parameters and states"]
    plain = _command("show", FILES[0], folder=model).stdout
    assert plain.endswith("\n5 operators\n") and "output" not in plain.splitlines()[0]


def test_a_graph_drawn(model: Path) -> None:
    assert _command("show", FILES[0], "--shape", "data=1,3,4,6", "--out", "net.svg", folder=model).returncode == 0
    drawn = ElementTree.parse(model / "net.svg").getroot()
    texts = {each.text for each in drawn.iter() if each.tag.endswith(("text", "tspan"))}
    assert {"data", "Convolution  conv", "(1,2,2,4)", "SoftmaxOutput  softmax"} <= texts
    assert _command("show", FILES[0], "--out", "net.dot", folder=model).returncode == 0
    lines = (model / "net.dot").read_text().splitlines()
    assert lines[0] == "digraph {" and lines[-1] == "}" and "    n0 -> n1;" in lines and "    n4 -> n5;" in lines
