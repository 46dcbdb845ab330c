"""mxlite predict: names of classes, batches, threads, the profile of the nodes, and what is wrong with options."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import mxlite as mx
from mxlite._cli import _profile, _units, _work, main
from mxlite._notebook import chart

Predict = Callable[..., tuple[int, str, str]]


@pytest.fixture
def predict(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Predict:
    """Runs the command on a network of ten classes in a folder with x.npy (3 examples) and labels; code, out, err."""
    monkeypatch.chdir(tmp_path)
    data = mx.sym.Variable("data")
    net = mx.sym.Convolution(data, kernel=(3, 3), num_filter=8, name="conv", no_bias=True)
    net = mx.sym.Activation(mx.sym.BatchNorm(net, name="norm", fix_gamma=False), act_type="relu", name="act")
    net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool")
    net = mx.sym.FullyConnected(net, num_hidden=10, name="fc")
    net = mx.sym.softmax(net, name="prob")
    shapes, _, states = net.infer_shape(data=(1, 3, 8, 8))
    mx.random.seed(4)
    held = {f"arg:{name}": mx.nd.random.normal(shape=each) for name, each in zip(net.list_arguments()[1:], shapes[1:])}
    held.update({f"aux:{name}": mx.nd.ones(each) for name, each in zip(net.list_auxiliary_states(), states)})
    net.save("net-symbol.json")
    mx.nd.save("net-0000.params", held)
    np.save("x.npy", np.random.RandomState(3).rand(3, 3, 8, 8).astype("float32"))
    np.save("one.npy", np.load("x.npy")[:1])
    Path("synset.txt").write_text("".join(f"n{at:08} class {at}, ç\n" for at in range(10)), encoding="utf-8")

    def call(*words: Any) -> tuple[int, str, str]:
        try:
            code = main(["predict", "net-symbol.json", "net-0000.params", *map(str, words)])
        except SystemExit as ended:
            code = int(ended.code or 0)
        return (code, *capsys.readouterr())

    return call


# ---- labels ----


def test_classes_beside_the_greatest_outputs(predict: Predict) -> None:
    code, out, err = predict("--input", "x.npy", "--labels", "synset.txt", "--top", 2, "--out", "y.npz")
    assert (code, err) == (0, "")
    probabilities = np.load("y.npz")["prob_output"]
    rows = re.findall(r"^    row (\d):\n    (.*)\n    (.*)$", out, re.M)
    assert [row[0] for row in rows] == ["0", "1", "2"]
    for (_, *lines), numbers in zip(rows, probabilities):
        for line, at in zip(lines, np.argsort(-numbers)):
            assert line.split(None, 1) == [f"{numbers[at]:.6g}", f"[{at}] class {at}, ç"]
    assert "greatest of the first row" not in out
    one = predict("--input", "one.npy", "--labels", "synset.txt")[1]
    assert len(re.findall(r"^    [\d.e-]+ +\[\d\] class \d, ç$", one, re.M)) == 5 and "row 0" not in one
    assert predict("--input", "one.npy", "--labels", "synset.txt", "--top", 0)[1].count("class") == 0


def test_classes_of_many_rows(predict: Predict) -> None:
    out = predict("--shape", "data=40,3,8,8", "--labels", "synset.txt", "--top", 1)[1]
    assert out.count("    row ") == out.count("] class ") == 16 and "    24 more rows\n" in out


# ---- batches and threads ----


def test_a_batch_repeats_an_example(predict: Predict) -> None:
    assert "data (5, 3, 8, 8) one.npy" in predict("--input", "one.npy", "--batch", 5, "--out", "y.npz")[1]
    assert "data (1, 3, 8, 8) one.npy" in predict("--input", "one.npy", "--batch", 1, "--out", "z.npz")[1]
    many, one = np.load("y.npz")["prob_output"], np.load("z.npz")["prob_output"]
    np.testing.assert_allclose(many, np.repeat(one, 5, axis=0), rtol=1e-5)
    assert predict("--input", "x.npy", "--batch", 3)[0] == 0
    assert "data (7, 3, 8, 8) random" in predict("--shape", "data=2,3,8,8", "--batch", 7)[1]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="the threads of a process are counted in /proc")
def test_so_many_threads_compute(predict: Predict) -> None:
    code = (
        "import os; from mxlite._cli import main; before = len(os.listdir('/proc/self/task'));"
        "main('predict net-symbol.json net-0000.params --shape data=3000,3,8,8 --repeat 3 --threads {}'.split());"
        "print(len(os.listdir('/proc/self/task')) - before)"
    )
    for threads in (1, 4):
        done = subprocess.run(
            [sys.executable, "-c", code.format(threads)], capture_output=True, text=True, cwd=os.getcwd(), timeout=120
        )
        assert done.stdout.splitlines()[-1] == str(threads - 1), done.stderr


# ---- the profile ----


def _rows(table: str) -> list[list[str]]:
    return [re.split(r"  +", line.strip()) for line in table.splitlines()[2:]]


def test_the_profile_of_the_graph_that_runs(predict: Predict) -> None:
    code, out, err = predict("--shape", "data=2,3,8,8", "--profile")
    assert (code, err) == (0, "")
    _, nodes, operators = out.split("\n\n")
    rows = {row[0]: row[1:] for row in _rows(nodes)}
    assert set(rows) == {"act", "pool", "fc", "prob"}  # the convolution is in the node that ended it
    assert rows["act"][0] == "_mxl_fused_convolution" and rows["pool"][0] == "Pooling"
    assert [rows[name][1] for name in ("act", "pool", "fc")] == ["(2,8,6,6)", "(2,8,3,3)", "(2,10)"]
    assert [rows[name][4] for name in ("act", "pool", "fc", "prob")] == ["31.1 k", "576", "2.88 k", "20"]
    inputs, weights = 2 * 3 * 8 * 8, 8 * 3 * 9 + 4 * 8
    assert rows["act"][6] == _units.scaled(4 * (inputs + weights + 2 * 8 * 36))
    shares = [float(row[4].split()[0]) for row in _rows(nodes)]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(100, abs=0.3)
    sums = {row[0]: row[1:] for row in _rows(operators)}
    assert list(sums)[-1] == "all" and sums["all"][0] == "4" and sums["all"][2] == "100.0 %"
    assert sums["_mxl_fused_convolution"][3] == "31.1 k" and sums["all"][3] == "34.6 k"
    assert all(re.fullmatch(r"[\d.]+ (us|ms|s)", row[3]) for row in _rows(nodes))


def test_without_passes_the_nodes_are_the_symbols_own(predict: Predict) -> None:
    command = [sys.executable, "-m", "mxlite", "predict", "net-symbol.json", "net-0000.params"]
    command += ["--shape", "data=2,3,8,8", "--repeat", "0", "--profile"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MXLITE_GRAPH": "none"})
    assert (done.returncode, done.stderr) == (0, "")
    rows = _rows(done.stdout.split("\n\n")[1])
    assert {row[0] for row in rows} == {"conv", "norm", "act", "pool", "fc", "prob"}


def test_the_profile_as_a_picture(predict: Predict) -> None:
    assert predict("--shape", "data=2,3,8,8", "--profile", "p.svg")[0] == 0
    drawn = ElementTree.parse("p.svg").getroot()
    texts = [each.text for each in drawn.iter() if each.tag.endswith("text")]
    assert [text for text in texts if text in ("act", "pool", "fc", "prob")] == ["act", "pool", "fc", "prob"]
    assert "net-symbol.json: data (2, 3, 8, 8)" in texts and "time (ms)" in texts
    bars = [each for each in drawn.iter() if each.tag.endswith("rect") and len(each)]
    begins, lengths = ([float(each.get(what)) for each in bars] for what in ("x", "width"))
    assert len(bars) == 4 and begins == sorted(begins)
    for begin, length, following in zip(begins, lengths, begins[1:]):
        assert begin + length == pytest.approx(following, abs=1.2)
    assert not Path("profile.json").exists()


def test_a_picture_of_many_nodes_has_the_longest() -> None:
    bars = [(f"<node {at}>", f"kind {at % 9}", float(at == 700) + 1e-3, "told") for at in range(1000)]
    drawn = ElementTree.fromstring(chart.steps("many & more", bars, most=50))
    texts = [each.text for each in drawn.iter() if each.tag.endswith("text")]
    assert sum(text.startswith("<node") for text in texts) == 50 and "<node 700>" in texts
    assert "time (ms); the 50 longest of 1000" in texts and "other" in texts and "many & more" in texts
    texts = [each for each in ElementTree.fromstring(chart.steps("t", bars[:3])).iter() if each.text == "told"]
    assert [each.get("text-anchor") for each in texts] == ["start", "start", "end"]
    (inside,) = re.findall("<text[^>]*>told<", chart.steps("t", [("a", "k", 1.0, "told")]))
    assert "fill:#fff" in inside  # a bar that fills its row
    long = chart.steps("t", [("n" * 500, "k", 1.0, "told")])
    assert re.search(r">…n{20,120}<", long)
    for few in ([], [("a", "k", 0.0, "0")]):
        ElementTree.fromstring(chart.steps("t", few))


def _count(net: mx.sym.Symbol, **shapes: tuple[int, ...]) -> dict[str, int]:
    executor = net.simple_bind(mx.cpu(), grad_req="null", **shapes)
    return {work.name: work.flops for work in _work.works_of(executor)}


def test_operations_are_counted_by_kind() -> None:
    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    symbols = mx.sym
    for net, shapes, wish in (
        (symbols.Convolution(a, kernel=(3, 2), num_filter=8, num_group=2, name="n"), {"a": (1, 4, 5, 5)}, 2 * 96 * 12),
        (symbols.Convolution(a, kernel=(3,), num_filter=8, name="n"), {"a": (2, 4, 5)}, 2 * 2 * 8 * 3 * 12),
        (symbols.Deconvolution(a, kernel=(2, 2), num_filter=6, name="n"), {"a": (1, 4, 3, 3)}, 2 * 4 * 9 * 6 * 4),
        (symbols.FullyConnected(a, num_hidden=5, name="n"), {"a": (3, 2, 7)}, 2 * 3 * 5 * 14),
        (symbols.FullyConnected(a, num_hidden=5, flatten=False, name="n"), {"a": (3, 2, 7)}, 2 * 3 * 2 * 5 * 7),
        (symbols.dot(a, b, name="n"), {"a": (3, 4), "b": (4, 5)}, 2 * 3 * 4 * 5),
        (symbols.dot(a, b, transpose_a=True, name="n"), {"a": (4, 3), "b": (4, 5)}, 2 * 3 * 4 * 5),
        (symbols.batch_dot(a, b, name="n"), {"a": (6, 3, 4), "b": (6, 4, 5)}, 2 * 6 * 3 * 4 * 5),
        (symbols.batch_dot(a, b, transpose_a=True, name="n"), {"a": (6, 4, 3), "b": (6, 4, 5)}, 2 * 6 * 3 * 4 * 5),
        (symbols.linalg.gemm2(a, b, transpose_b=True, name="n"), {"a": (3, 4), "b": (5, 4)}, 2 * 3 * 4 * 5),
        (symbols.Pooling(a, kernel=(2, 3), name="n"), {"a": (1, 2, 5, 5)}, 2 * 4 * 3 * 6),
        (symbols.Pooling(a, global_pool=True, kernel=(1, 1), name="n"), {"a": (1, 2, 5, 5)}, 50),
        (symbols.contrib.interleaved_matmul_selfatt_qk(a, heads=2, name="n"), {"a": (5, 3, 24)}, 2 * 6 * 5 * 5 * 4),
        (
            symbols.contrib.interleaved_matmul_selfatt_valatt(a, b, heads=2, name="n"),
            {"a": (5, 3, 24), "b": (6, 5, 5)},
            2 * 6 * 5 * 5 * 4,
        ),
        (symbols.tanh(a, name="n"), {"a": (3, 4)}, 12),
        (symbols.broadcast_add(a, b, name="n"), {"a": (3, 1), "b": (1, 4)}, 12),
        (symbols.sum(a, name="n"), {"a": (3, 4)}, 12),
        (symbols.flatten(a, name="n"), {"a": (3, 4, 2)}, 0),
        (symbols.Embedding(a, input_dim=100, output_dim=4, name="n"), {"a": (3,)}, 0),
    ):  # fmt: skip
        assert _count(net, **shapes) == {"n": wish}, (net.attr_dict(), shapes)


def test_operations_of_recurrent_layers() -> None:
    data, weights, state, cell = (mx.sym.Variable(name) for name in ("data", "weights", "state", "cell"))
    net = mx.sym.RNN(data, weights, state, cell, state_size=8, num_layers=1, mode="lstm", name="rnn")
    found = _count(net, data=(5, 2, 3), state=(1, 2, 8), cell=(1, 2, 8))["rnn"]
    assert found == 2 * 5 * 2 * 4 * 8 * (3 + 8 + 2)  # four gates of 8, from 3 inputs, 8 states and two biases


def test_bytes_of_a_lookup_are_those_of_its_rows() -> None:
    net = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=1000, output_dim=4, name="rows")
    executor = net.simple_bind(mx.cpu(), grad_req="null", type_dict={"data": "int64"}, data=(3,))
    assert [each.bytes for each in _work.works_of(executor)] == [3 * 8 + 2 * 3 * 4 * 4]
    square = mx.sym.elemwise_mul(mx.sym.Variable("x"), mx.sym.Variable("x2"), name="product")
    executor = square.simple_bind(mx.cpu(), grad_req="null", type_dict={"x": "float16", "x2": "float16"}, x=(8,))
    assert [each.bytes for each in _work.works_of(executor)] == [3 * 8 * 2]


def test_operations_of_networks_that_others_have_counted() -> None:
    """Products of a picture of 224 by 224: 1.81 G of ResNet-18, 0.57 G of MobileNet."""
    zoo = mx.gluon.model_zoo.vision
    for make, products in ((zoo.resnet18_v1, 1.81e9), (zoo.mobilenet1_0, 0.57e9)):
        net = make()(mx.sym.Variable("data"))
        assert sum(_count(net, data=(1, 3, 224, 224)).values()) == pytest.approx(2 * products, rel=0.02)


def test_a_node_that_runs_a_graph_is_one_row() -> None:
    rows, _ = mx.sym.contrib.foreach(
        lambda row, state: (mx.sym.tanh(row + state), state + row), mx.sym.Variable("data"), mx.sym.Variable("state")
    )
    net = mx.sym.exp(rows, name="last")
    executor = net.simple_bind(mx.cpu(), grad_req="null", data=(6, 3), state=(3,))
    found = _profile.measure(executor, 3)
    assert [each.work.operator for each in found] == ["_foreach", "exp"]
    assert [each.work.flops for each in found] == [0, 18] and all(each.seconds > 0 for each in found)


# ---- numbers and mistakes ----


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 us"),
        (8.44e-6, "8.4 us"),
        (9.96e-6, "10 us"),
        (85e-6, "85 us"),
        (99.6e-6, "0.10 ms"),
        (0.42e-3, "0.42 ms"),
        (34.561e-3, "34.56 ms"),
        (0.999996, "1.00 s"),
        (75.5, "75.50 s"),
    ],
)  # fmt: skip
def test_times_have_their_unit(seconds: float, text: str) -> None:
    assert _units.duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, ""),
        (7, "7"),
        (999, "999"),
        (1000, "1.00 k"),
        (12_345, "12.3 k"),
        (999_600, "1.00 M"),
        (3.6e9, "3.60 G"),
        (2e12, "2.00 T"),
        (1.5e20, "150000 P"),
    ],
)  # fmt: skip
def test_counts_have_their_letter(number: float, text: str) -> None:
    assert _units.scaled(number) == text


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        ("--labels none.txt", 1, "--labels none.txt: No such file or directory"),
        ("--labels .", 1, "--labels .: Is a directory"),
        ("--labels x.npy", 1, "--labels x.npy: it is no text in UTF-8"),
        ("--labels empty.txt", 1, "--labels empty.txt: there are no names in it"),
        ("--labels net-symbol.json", 1, "names fit no output: prob_output (1, 10)"),
        ("--batch 0", 1, "--batch 0: expected 1 or more"),
        ("--batch x", 2, "argument --batch: invalid int value: 'x'"),
        ("--batch 2 --input x.npy", 1, "--input x.npy: its shape is (3, 3, 8, 8), --batch says 2"),
        ("--threads 0", 1, "--threads 0: expected 1 to 256"),
        ("--threads 257", 1, "--threads 257: expected 1 to 256"),
        ("--top -1", 1, "--top -1: expected 0 or more"),
        ("--profile net.png", 1, "--profile net.png: the picture's file is to end in .svg"),
        ("--profile no/net.svg", 1, "--profile no/net.svg: "),
        ("--std 1,0,1", 1, "--std 1,0,1: expected finite numbers, other than 0"),
        ("--mean inf", 1, "--mean inf: expected finite numbers"),
        ("--mean a", 1, "--mean a: expected numbers, such as"),
        ("--profil", 0, ""),  # as argparse has it: a beginning of an option is the option
        ("--nothing", 2, "unrecognized arguments: --nothing"),
        ("--repeat", 2, "argument --repeat: expected one argument"),
        ("--shape data=99999999,99999999", 1, "data (99999999, 99999999): Unable to allocate"),
        ("--input complex.npy", 1, "--input complex.npy: expected numbers; its values are complex128"),
        ("--input text.npy", 1, "--input text.npy: expected numbers; its values are <U1"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(predict: Predict, words: str, code: int, line: str) -> None:
    Path("empty.txt").write_text("\n \n")
    np.save("complex.npy", np.zeros((1, 3, 8, 8), complex))
    np.save("text.npy", np.array([["a"]]))
    has_input = "--shape" in words or "--input" in words
    done, _, err = predict(*([] if has_input else ["--input", "one.npy"]), *words.split())
    assert done == code and line in err
    assert err.startswith("mxlite predict: ") and err.count("\n") == 1 if code else err == ""


def test_numbers_for_channels_that_an_image_has_not(predict: Predict) -> None:
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (8, 8)).save("red.png")
    code, _, err = predict("--shape", "data=1,3,8,8", "--input", "red.png", "--mean", "1,2")
    assert (code, err) == (1, "mxlite predict: --mean: there are 2 numbers, and the image has 3 channels\n")
    code, out, _ = predict("--shape", "data=1,3,8,8", "--input", "red.png", "--batch", "4", "--mean", "1,2,3")
    assert code == 0 and "data (4, 3, 8, 8) red.png" in out
