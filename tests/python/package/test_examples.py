"""The examples, run as a user runs them: they learn, and say so in their last line."""

from __future__ import annotations

import os
import pathlib
import re
import struct
import subprocess
import sys

import pytest

import mxlite

pytestmark = pytest.mark.one_binding

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"
LAST_LINE = re.compile(r"held-out accuracy (0\.\d{3}|1\.000)")


def run(command: list[object], **environment: str) -> str:
    env = {**os.environ, **environment}
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, timeout=300, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def accuracy(printed: str) -> float:
    match = LAST_LINE.fullmatch(printed.splitlines()[-1])
    assert match, printed
    return float(match.group(1))


def run_and_draw(name: str, picture: pathlib.Path, *options: object) -> str:
    """What examples/<name>.py prints; the picture that it drew must be one."""
    printed = run([sys.executable, EXAMPLES / f"{name}.py", "--picture", picture, *options])
    assert "\r" not in printed  # no progress bar where nobody watches
    head = picture.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert min(struct.unpack(">II", head[16:24])) > 300
    return printed


def test_digits_in_python_learns_and_draws(tmp_path: pathlib.Path) -> None:
    printed = run_and_draw("digits", tmp_path / "digits.png")
    assert accuracy(printed) >= 0.97
    assert len(re.findall(r"^ +\d+ ", printed, re.MULTILINE)) == 20  # a row of the table for each epoch


@pytest.mark.whole
def test_lenet_reads_digits(tmp_path: pathlib.Path) -> None:
    printed = run_and_draw("lenet_digits", tmp_path / "lenet.png", "--epochs", 6)
    assert accuracy(printed) >= 0.97  # twenty epochs reach 0.99
    right = [int(row.split()[2]) for row in printed.split("read as\n")[1].splitlines()[:10]]
    assert sum(right) / 360 == pytest.approx(accuracy(printed), abs=6e-4)


@pytest.mark.whole
def test_gluon_script_written_for_mxnet_reads_digits(tmp_path: pathlib.Path) -> None:
    picture, parameters = tmp_path / "gluon.png", tmp_path / "gluon.params"
    script = [EXAMPLES / "gluon_digits.py", "--epochs", 8, "--picture", picture, "--parameters", parameters]
    printed = run([sys.executable, "-m", "mxlite", "run", *script])
    assert accuracy(printed) >= 0.95  # twenty epochs reach 0.99
    assert picture.read_bytes()[:4] == b"\x89PNG"
    right = [int(row.split()[1 + digit]) for digit, row in enumerate(printed.split("   9\n")[1].splitlines()[:10])]
    assert sum(right) / 360 == pytest.approx(accuracy(printed), abs=6e-4)
    assert parameters.stat().st_size > 4 * 128 * 64 * 2 * 2


@pytest.mark.whole
def test_lstm_learns_text(tmp_path: pathlib.Path) -> None:
    printed = run_and_draw("lstm_text", tmp_path / "text.png", "--epochs", 3)
    reached, bigrams = map(float, re.findall(r"perplexity ([\d.]+), of bigrams ([\d.]+)$", printed)[0])
    assert reached < 0.75 * bigrams
    assert len(printed.split("It writes:\n\n")[1].split("\n\n")[0]) >= 400


@pytest.mark.whole
def test_buckets_of_words_teach_spelling(tmp_path: pathlib.Path) -> None:
    printed = run_and_draw("spell_words", tmp_path / "words.png", "--epochs", 5)
    reached, pairs = map(float, re.findall(r"perplexity ([\d.]+), of pairs of letters ([\d.]+)$", printed)[0])
    assert reached < 0.93 * pairs
    assert len(printed.split("Words of its own:\n\n")[1].split("\n\n")[0].split()) >= 30


@pytest.mark.whole
def test_gradient_penalty_holds_the_slope(tmp_path: pathlib.Path) -> None:
    printed = run_and_draw("gradient_penalty", tmp_path / "drawn.png", "--steps", 40)
    after, before = map(float, re.findall(r"^distance ([\d.]+) after training, ([\d.]+) before", printed, re.M)[0])
    assert after < 0.35 * before
    rows = printed.split("\n\n")[0].splitlines()[1:]
    assert [float(row.split()[2]) for row in rows] == pytest.approx([1] * 10, abs=0.2)  # lengths of the gradient


def test_numpy_regression_fits_the_curve(tmp_path: pathlib.Path) -> None:
    printed = run_and_draw("numpy_regression", tmp_path / "fit.png", "--epochs", 100)
    line, network = map(float, re.findall(r"curve: line ([\d.]+), network ([\d.]+)$", printed)[0])
    assert network < 0.05 < 0.4 < line < 0.5
    assert len(printed.split("\n\n")[0].splitlines()) == 11  # a row of the table for each tenth


def test_a_factorization_machine_beats_a_linear_model(tmp_path: pathlib.Path) -> None:
    printed = run_and_draw("factorization_machine", tmp_path / "films.png", "--epochs", 12)
    machine, linear = map(float, re.findall(r"accuracy ([\d.]+), of a linear model ([\d.]+)$", printed)[0])
    assert machine > 0.7 > 0.62 > linear > 0.57  # twenty epochs reach 0.78, who knows what is planted 0.83
    losses = [list(map(float, row.split()[1:5])) for row in printed.split("\n\n")[0].splitlines()[2:]]
    # What 1.9.1 prints for the same program after one epoch and after twelve.
    assert losses[0] == pytest.approx([0.6854, 0.6824, 0.6735, 0.6638], abs=3e-4)
    assert losses[-1] == pytest.approx([0.6348, 0.3915, 0.6570, 0.5092], abs=3e-3)


def run_as_torch(name: str, picture: pathlib.Path, *options: object) -> list[float]:
    """The numbers in the last line of a program that imports `torch`, and what it drew is a picture."""
    script = [EXAMPLES / f"{name}.py", "--picture", picture, *options]
    printed = run([sys.executable, "-m", "mxlite", "run", "--as", "torch", *script])
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(printed.splitlines()) >= 13  # a row of the table for each tenth
    return [float(each) for each in re.findall(r"\d+\.\d+", printed.splitlines()[-1])]


def test_a_neural_ode_follows_a_pendulum(tmp_path: pathlib.Path) -> None:
    distance, size = run_as_torch("torch_pendulum", tmp_path / "pendulum.png", "--steps", 100)
    assert distance < 0.3 * size  # 500 steps reach 0.05 of 0.82


@pytest.mark.whole
def test_a_wave_is_learned_from_its_equation(tmp_path: pathlib.Path) -> None:
    after, before = run_as_torch("torch_wave", tmp_path / "wave.png", "--steps", 900)
    assert after < 0.15 < before  # 1,500 steps reach 0.036


@pytest.mark.whole
def test_dcgan_draws_digits(tmp_path: pathlib.Path) -> None:
    drawn, real = run_as_torch("torch_draw_digits", tmp_path / "digits.png", "--steps", 240)
    assert 0.02 < real < 0.03 < drawn < 0.16  # 800 steps reach 0.07, noise is 0.3


@pytest.mark.parametrize("name, rounds", [("lenet_digits", "epochs"), ("gradient_penalty", "steps")])
def test_examples_say_how_many_rounds_they_need(name: str, rounds: str) -> None:
    command = [sys.executable, EXAMPLES / f"{name}.py", f"--{rounds}", "0"]
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.endswith(f"argument --{rounds}: at least 1 is needed, got 0\n")


def test_digits_in_python_is_repeatable() -> None:
    command = [sys.executable, EXAMPLES / "digits.py", "--epochs", 2, "--no-picture", "--seed", 7]
    first, second = (re.sub(r"\d+\.\d\d$", "", run(command), flags=re.MULTILINE) for _ in range(2))
    assert first == second


def test_the_typed_project_learns() -> None:
    path = os.pathsep.join([str(EXAMPLES.parent), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    assert accuracy(run([sys.executable, EXAMPLES / "typed" / "train.py"], PYTHONPATH=path)) >= 0.95


def build_c(name: str, program: pathlib.Path) -> pathlib.Path:
    """Compiles examples/<name>.c against the public headers and the library that is loaded."""
    library = pathlib.Path(mxlite.get_library()).resolve()
    compiler = os.environ.get("CC", "cc").split()
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    link = [library, f"-Wl,-rpath,{library.parent}", "-lm"]
    source = EXAMPLES / f"{name}.c"
    run([*compiler, "-std=c99", "-O2", *warnings, f"-I{mxlite.get_include()}", source, *link, "-o", program])
    return program


@pytest.fixture(scope="module")
def digits_c(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return build_c("digits", tmp_path_factory.mktemp("digits") / "digits")


def test_digits_in_c_learns(digits_c: pathlib.Path) -> None:
    printed = run([digits_c, EXAMPLES / "data" / "digits.u8"])
    assert accuracy(printed) >= 0.97
    assert len(printed.splitlines()) == 22


def test_digits_in_c_says_what_is_missing(digits_c: pathlib.Path, tmp_path: pathlib.Path) -> None:
    done = subprocess.run([digits_c, tmp_path / "nothing.u8"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "nothing.u8" in done.stderr and "bytes" in done.stderr


def test_graph_walk_prints_the_graph(tmp_path: pathlib.Path) -> None:
    printed = run([build_c("graph_walk", tmp_path / "graph_walk")]).splitlines()
    assert [line.lstrip().split(" (2, 2)")[0].rstrip("0") for line in printed[:6]] == [
        "TanhBackward",
        "AddBackward",
        "DotBackward",
        "AccumulateGrad",
        "AccumulateGrad",
        "AccumulateGrad",
    ]
    assert printed[0].endswith("by tanh, keeps output 0: 16 bytes")
    assert [len(line) - len(line.lstrip()) for line in printed[:6]] == [0, 2, 4, 6, 6, 4]
    assert printed[6] == "the hook was called 1 time"
    gradients = [float(line.split()[-1]) for line in printed[7:]]
    assert gradients == pytest.approx([2 * 0.0706508, 0.0706508], rel=1e-4)
