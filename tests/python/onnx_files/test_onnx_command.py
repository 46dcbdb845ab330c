"""The commands `mxlite convert`, `predict` and `show` of files of ONNX."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from _run import onnx, run, save

import mxlite as mx
from mxlite._cli import main

RANDOM = np.random.RandomState(5)


def small(path: Path) -> tuple[Path, dict[str, np.ndarray]]:
    """A dense layer, a scalar constant, and words."""
    held = {
        "w": RANDOM.rand(3, 4).astype("float32"),
        "b": RANDOM.rand(3).astype("float32"),
        "two": np.array(2, "int64"),
    }
    nodes = [
        onnx.helper.make_node("Gather", ["x", "two"], ["row"], axis=1),
        onnx.helper.make_node("Gemm", ["row", "w", "b"], ["y"], transB=1),
    ]
    return save(path / "a.onnx", nodes, [("x", [2, 5, 4])], [("y", [2, 3])], held), held


def test_converted_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, held = small(tmp_path)
    assert main(["convert", str(file), str(tmp_path / "net")]) == 0
    assert "net-symbol.json" in capsys.readouterr().out
    x = RANDOM.rand(2, 5, 4).astype("float32")
    files = (str(tmp_path / "net-symbol.json"), "x", str(tmp_path / "net-0000.params"))
    block = mx.gluon.SymbolBlock.imports(*files)
    wish = x[:, 2] @ held["w"].T + held["b"]
    np.testing.assert_allclose(block(mx.nd.array(x)).asnumpy(), wish, rtol=1e-5)
    back = tmp_path / "back.onnx"
    assert main(["convert", str(tmp_path / "net"), str(back), "--shape", "x=2,5,4"]) == 0
    np.testing.assert_allclose(run(back, x)[0], wish, rtol=1e-5)
    assert main(["convert", files[0], str(back), "--shape", "x=2,5,4", "--dynamic"]) == 0
    assert onnx.load(str(back)).graph.input[0].type.tensor_type.shape.dim[0].dim_value == 0


def test_predicted_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, held = small(tmp_path)
    x = RANDOM.rand(2, 5, 4).astype("float32")
    np.save(tmp_path / "x.npy", x)
    assert (
        main(["predict", str(file), "--input", f"{tmp_path}/x.npy", "--out", f"{tmp_path}/y.npz", "--repeat", "0"]) == 0
    )
    (made,) = np.load(tmp_path / "y.npz").values()
    np.testing.assert_allclose(made, x[:, 2] @ held["w"].T + held["b"], rtol=1e-5)
    assert main(["predict", str(file), "--shape", "x=7,5,4", "--repeat", "0"]) == 0
    assert "(7, 3)" in capsys.readouterr().out
    assert main(["show", str(file)]) == 0
    assert "FullyConnected" in capsys.readouterr().out


@pytest.mark.parametrize("first", ["N", 2])
def test_predicted_in_a_batch(first: str | int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = {"w": RANDOM.rand(3, 4).astype("float32")}
    nodes = [onnx.helper.make_node("Gemm", ["x", "w"], ["y"], name="dense", transB=1)]
    file = str(save(tmp_path / "a.onnx", nodes, [("x", [first, 4])], [("y", [first, 3])], held))
    assert main(["predict", file, "--batch", "6", "--repeat", "1", "--profile"]) == 0
    written = capsys.readouterr().out
    assert "x (6, 4) random numbers" in written and re.search(r"fused_dense +\(6,3\)", written)
    assert main(["predict", file, "--batch", "6", "--shape", "x=1,4"]) == 0
    assert "x (6, 4) random numbers" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "none.onnx"], "mxlite predict: none.onnx: No such file"),
        (["predict", "bad.onnx"], "mxlite predict: bad.onnx: no file of ONNX"),
        (["predict", "a.onnx", "b.params"], "has its own parameters"),
        (["predict", "a.json"], "the file of its parameters is missing"),
        (["show", "bad.onnx"], "mxlite show: bad.onnx: no file of ONNX"),
        (["convert", "bad.onnx", "net"], "mxlite convert: bad.onnx: no file of ONNX"),
        (["convert", "a", "b"], "ends with .onnx"),
        (["convert", "a.onnx", "b.onnx"], "ends with .onnx"),
        (["convert", "none", "b.onnx"], "none-symbol.json"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.onnx").write_bytes(b"no model at all")
    small(tmp_path)
    assert main(arguments) == 1
    written = capsys.readouterr().err
    assert message in written and written.count("\n") == 1
