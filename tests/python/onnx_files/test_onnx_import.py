"""mx.onnx.import_model and import_to_gluon: what graphs of ONNX compute here, how they train, what is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _run import onnx, run, save

import mxlite as mx

RANDOM = np.random.RandomState(4)
node = onnx.helper.make_node


def data(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype("float32")


def ints(*values: int) -> np.ndarray:
    return np.array(values, "int64")


def exported(path: Path) -> Path:
    """A network as PyTorch's exporters write it: convolution, attention by Reshape of shapes that are computed."""
    constants = {
        "w": data(4, 3, 3, 3), "scale": data(4) + 2, "bias": data(4), "mean": data(4), "var": data(4) + 2,
        "qkv": data(4, 12), "qkv_b": data(12), "gain": data(4), "shift": data(4), "end": data(4, 2), "end_b": data(2),
        "zero": ints(0), "one": ints(1), "minus": ints(-1), "four": ints(4), "two": ints(2), "axis2": ints(2),
        "half": np.array(0.5, "float32"),
    }  # fmt: skip
    nodes = [
        node("Conv", ["x", "w"], ["c"], pads=[0, 0, 1, 1], strides=[2, 2]),
        node("BatchNormalization", ["c", "scale", "bias", "mean", "var"], ["n"]),
        node("Tanh", ["n"], ["r"]),
        node("Shape", ["r"], ["s"]),
        node("Gather", ["s", "zero"], ["batch"]),
        node("Gather", ["s", "one"], ["channels"]),
        node("Concat", ["batch", "channels", "minus"], ["flat"], axis=0),
        node("Reshape", ["r", "flat"], ["f"]),
        node("Transpose", ["f"], ["t"], perm=[0, 2, 1]),
        node("MatMul", ["t", "qkv"], ["m"]),
        node("Add", ["m", "qkv_b"], ["p"]),
        node("Split", ["p"], ["q", "k", "v"], axis=2),
        node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
        node("MatMul", ["q", "kt"], ["scores"]),
        node("Mul", ["scores", "half"], ["scaled"]),
        node("Softmax", ["scaled"], ["soft"], axis=-1),
        node("MatMul", ["soft", "v"], ["mixed"]),
        node("Add", ["mixed", "t"], ["sum"]),
        node("LayerNormalization", ["sum", "gain", "shift"], ["ln"]),
        node("ReduceMean", ["ln"], ["pooled"], axes=[1], keepdims=0),
        node("Gemm", ["pooled", "end", "end_b"], ["y"]),
    ]
    return save(path / "net.onnx", nodes, [("x", ["N", 3, 7, 7])], [("y", ["N", 2])], constants)


def test_a_network_gives_what_others_give(tmp_path: Path) -> None:
    file = exported(tmp_path)
    block = mx.onnx.import_to_gluon(file)
    for count in (1, 3):
        x = data(count, 3, 7, 7)
        np.testing.assert_allclose(block(mx.nd.array(x)).asnumpy(), run(file, x)[0], rtol=1e-5, atol=1e-5)
    symbol, arguments, states = mx.contrib.onnx.import_model(file)
    assert set(states) == {"mean", "var"} and {"w", "qkv_b", "end_b", "gain"} <= set(arguments)
    assert set(symbol.list_arguments()) == {"x", *arguments}
    assert mx.onnx.get_model_metadata(file) == {
        "input_tensor_data": [("x", (0, 3, 7, 7), 1)],
        "output_tensor_data": [("y", (0, 2))],
    }


def differences(loss: Any, array: np.ndarray, places: list[tuple[int, ...]], step: float) -> np.ndarray:
    """Central differences of a function of an array, at some of its elements."""
    found = []
    for place in places:
        values = []
        for sign in (1, -1):
            moved = array.copy()
            moved[place] += sign * step
            values.append(loss(moved))
        found.append((values[0] - values[1]) / (2 * step))
    return np.array(found)


def test_gradients_are_those_of_finite_differences(tmp_path: Path) -> None:
    block = mx.onnx.import_to_gluon(exported(tmp_path))
    x = data(2, 3, 7, 7)
    weights = mx.nd.array(data(2, 2))

    def loss(block: Any, x: mx.nd.NDArray) -> mx.nd.NDArray:
        return (block(x) * weights).sum()

    given = mx.nd.array(x)
    given.attach_grad()
    with mx.autograd.record(train_mode=False):
        value = loss(block, given)
    value.backward()
    places = [(0, 1, 2, 3), (1, 0, 6, 6), (1, 2, 4, 0)]
    numeric = differences(lambda moved: float(loss(block, mx.nd.array(moved)).asscalar()), x, places, 1e-2)
    np.testing.assert_allclose([given.grad.asnumpy()[place] for place in places], numeric, rtol=2e-2, atol=2e-3)
    parameters = block.collect_params()
    for name in ("w", "scale", "gain", "qkv_b", "end_b"):
        parameter = parameters[name]
        start, gradient = parameter.data().asnumpy(), parameter.grad().asnumpy()
        places = [tuple(RANDOM.randint(0, size) for size in start.shape) for _ in range(3)]

        def moved(array: np.ndarray, parameter: Any = parameter) -> float:
            parameter.set_data(mx.nd.array(array))
            return float(loss(block, mx.nd.array(x)).asscalar())

        numeric = differences(moved, start, places, 1e-2)
        parameter.set_data(mx.nd.array(start))
        np.testing.assert_allclose([gradient[place] for place in places], numeric, rtol=2e-2, atol=2e-3)


def test_a_network_trains(tmp_path: Path) -> None:
    block = mx.onnx.import_to_gluon(exported(tmp_path))
    block.hybridize()
    trainer = mx.gluon.Trainer(block.collect_params(), "adam", {"learning_rate": 0.02})
    x, y = mx.nd.array(data(8, 3, 7, 7)), mx.nd.array(RANDOM.randint(0, 2, 8))
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    values = []
    mean = block.collect_params()["mean"].data().asnumpy()
    for _ in range(40):
        with mx.autograd.record():
            loss = loss_of(block(x), y).mean()
        loss.backward()
        trainer.step(1)
        values.append(float(loss.asscalar()))
    assert values[-1] < 0.3 * values[0]
    assert not np.array_equal(mean, block.collect_params()["mean"].data().asnumpy())


def test_weights_that_nodes_share_stay_one_parameter(tmp_path: Path) -> None:
    nodes = [
        node("Gather", ["words", "ids"], ["e"]),
        node("Transpose", ["words"], ["turned"], perm=[1, 0]),
        node("MatMul", ["e", "turned"], ["y"]),
    ]
    words = data(5, 3)
    file = save(tmp_path / "a.onnx", nodes, [("ids", [2, 4], "int64")], [("y", [2, 4, 5])], {"words": words})
    block = mx.onnx.import_to_gluon(file)
    assert list(block.collect_params()) == ["words"]
    ids = RANDOM.randint(0, 5, (2, 4))
    with mx.autograd.record():
        made = block(mx.nd.array(ids, dtype="int64"))
    np.testing.assert_allclose(made.asnumpy(), words[ids] @ words.T, rtol=1e-5)
    made.backward()
    wish = np.zeros_like(words)
    np.add.at(wish, ids.reshape(-1), np.broadcast_to(words.sum(0), (8, 3)))
    wish += words[ids].sum((0, 1))
    np.testing.assert_allclose(block.collect_params()["words"].grad().asnumpy(), wish, rtol=1e-5)


def test_open_sizes_are_given(tmp_path: Path) -> None:
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["n"]),
        node("Range", ["start", "n", "step"], ["r"]),
        node("Cast", ["r"], ["f"], to=1),
        node("Unsqueeze", ["f", "axis"], ["u"]),
        node("Add", ["x", "u"], ["y"]),
    ]
    scalars = {
        "zero": np.array(0, "int64"),
        "start": np.array(0, "int64"),
        "step": np.array(1, "int64"),
        "axis": ints(1),
    }
    file = save(tmp_path / "a.onnx", nodes, [("x", ["N", 2])], [("y", ["N", 2])], scalars)
    with pytest.raises(ValueError, match=r"a.onnx: ONNX node Range: needs sizes .*shapes="):
        mx.onnx.import_model(file)
    block = mx.onnx.import_to_gluon(file, shapes={"x": (3, 2)})
    x = data(3, 2)
    np.testing.assert_allclose(block(mx.nd.array(x)).asnumpy(), x + np.arange(3)[:, None], rtol=1e-6)
    with pytest.raises(mx.MXNetError, match="input 'x' has 2 axes"):
        mx.onnx.import_model(file, shapes={"x": (3, 2, 1)})
    with pytest.raises(mx.MXNetError, match="no input 'z'; there are x"):
        mx.onnx.import_model(file, shapes={"z": (3, 2)})


def test_poolings_of_open_batches(tmp_path: Path) -> None:
    """Windows that our operator lacks: pads that differ, sizes rounded up, dilated ones."""
    window = {"kernel_shape": [3, 2], "strides": [2, 2]}
    nodes = [
        node("MaxPool", ["x"], ["a"], pads=[0, 0, 1, 1], **window),
        node("AveragePool", ["x"], ["b"], pads=[1, 0, 0, 1], ceil_mode=1, **window),
        node("AveragePool", ["x"], ["c"], pads=[1, 0, 0, 1], count_include_pad=1, **window),
        node("MaxPool", ["x"], ["d"], dilations=[2, 1], **window),
        node("Conv", ["x", "w"], ["e"], auto_pad="SAME_UPPER", strides=[2, 2]),
        node("ConvTranspose", ["x", "w"], ["f"], pads=[0, 1, 1, 0], strides=[2, 2]),
    ]
    outputs = [(each, None) for each in "abcdef"]
    file = save(tmp_path / "a.onnx", nodes, [("x", ["N", 2, 9, 8])], outputs, {"w": data(2, 2, 3, 3)})
    block = mx.onnx.import_to_gluon(file)
    for count in (1, 3):
        x = data(count, 2, 9, 8)
        for one, other in zip(block(mx.nd.array(x)), run(file, x)):
            np.testing.assert_allclose(one.asnumpy(), other, rtol=1e-4, atol=1e-5)


def test_values_of_inputs_may_be_constants(tmp_path: Path) -> None:
    nodes = [node("Reshape", ["x", "shape"], ["y"])]
    file = save(tmp_path / "a.onnx", nodes, [("x", [2, 3]), ("shape", [2], "int64")], [("y", None)], {})
    with pytest.raises(mx.MXNetError, match="the values of tensor 'shape' must be known"):
        mx.onnx.import_model(file)
    symbol, arguments, states = mx.onnx.import_model(file, values={"shape": [3, -1]})
    assert symbol.list_arguments() == ["x"] and not arguments and not states


def test_the_backend_reads_again_for_other_shapes_and_values(tmp_path: Path) -> None:
    from mxlite.onnx import backend

    nodes = [node("Reshape", ["x", "shape"], ["r"]), node("Neg", ["r"], ["y"])]
    ready = backend.prepare(
        onnx.load(str(save(tmp_path / "a.onnx", nodes, [("x", None), ("shape", [2], "int64")], [("y", None)], {})))
    )
    for shape, wish in (((2, 6), (3, -1)), ((2, 6), (-1, 2)), ((4, 6), (-1, 2)), ((2, 6), (3, -1))):
        x = data(*shape)
        (y,) = ready.run([x, np.array(wish)])
        np.testing.assert_array_equal(y, -x.reshape(wish))
    assert backend.supports_device("CPU:0") and not backend.supports_device("CUDA")
    (total,) = backend.run_node(node("Add", ["a", "b"], ["c"]), [data(3), data(3) * 0])
    assert total.shape == (3,) and total.dtype == np.float32
    with pytest.raises(mx.MXNetError, match="input 'x' is no tensor but a list"):
        ready.run([[1.0], np.array([1])])


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_loops_with_a_known_end_become_nodes(steps: int, tmp_path: Path) -> None:
    info = onnx.helper.make_tensor_value_info
    body = onnx.helper.make_graph(
        [node("Mul", ["a", "factor"], ["b"]), node("Identity", ["go"], ["on"])], "body",
        [info("i", 7, []), info("go", 9, []), info("a", 1, [2])], [info("on", 9, []), info("b", 1, [2])],
    )  # fmt: skip
    constants = {"n": np.array(steps, "int64"), "yes": np.array(True), "factor": np.array([2.0, 3.0], "float32")}
    file = save(
        tmp_path / "a.onnx", [node("Loop", ["n", "yes", "x"], ["y"], body=body)], [("x", [2])], [("y", [2])], constants
    )
    x = data(2)
    block = mx.onnx.import_to_gluon(file)
    np.testing.assert_allclose(block(mx.nd.array(x)).asnumpy(), x * np.array([2.0, 3.0]) ** steps, rtol=1e-6)


@pytest.mark.parametrize("opset", [7, 9, 11, 13, 17, 21])
def test_operator_sets(opset: int, tmp_path: Path) -> None:
    """Operators whose attributes became inputs."""
    old = opset < 10, opset < 11, opset < 13
    nodes = [
        node("Slice", ["x"], ["s"], starts=[1], ends=[3], axes=[1])
        if old[0]
        else node("Slice", ["x", "a", "b", "a"], ["s"]),
        node("Clip", ["s"], ["c"], min=-0.5, max=0.5) if old[1] else node("Clip", ["s", "low", "high"], ["c"]),
        node("Unsqueeze", ["c"], ["u"], axes=[0]) if old[2] else node("Unsqueeze", ["c", "zero"], ["u"]),
        node("ReduceSum", ["u"], ["r"], axes=[2]) if old[2] else node("ReduceSum", ["u", "two"], ["r"]),
        node("Softmax", ["r"], ["y"], axis=1),
    ]
    constants = {
        "a": ints(1),
        "b": ints(3),
        "zero": ints(0),
        "two": ints(2),
        "low": np.float32(-0.5),
        "high": np.float32(0.5),
    }
    used = {name for each in nodes for name in each.input}
    constants = {name: np.asarray(value) for name, value in constants.items() if name in used}
    file = save(tmp_path / "a.onnx", nodes, [("x", [2, 4])], [("y", [1, 2, 1])], constants, opset)
    x = data(2, 4)
    np.testing.assert_allclose(mx.onnx.import_to_gluon(file)(mx.nd.array(x)).asnumpy(), run(file, x)[0], rtol=1e-5)


# ---- files that are damaged or hostile ----


def refused(path: Path, pattern: str) -> None:
    with pytest.raises(mx.MXNetError, match=pattern) as caught:
        mx.onnx.import_model(path)
    assert isinstance(caught.value, ValueError) and "\n" not in str(caught.value)


def with_external(path: Path, location: str, **given: str) -> Path:
    """A file whose weight lies in another one."""
    file = save(
        path / "models" / "a.onnx", [node("Add", ["x", "w"], ["y"])], [("x", [4])], [("y", [4])], {"w": data(4)}
    )
    model = onnx.load(str(file))
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = 1
    for key, value in {"location": location, **given}.items():
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    file.write_bytes(model.SerializeToString())
    return file


def test_data_are_read_in_the_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "models"
    (folder / "sub").mkdir(parents=True)
    secret = data(4).tobytes()
    (tmp_path / "secret").write_bytes(secret)
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "sub" / "up").symlink_to(tmp_path)
    opened: list[str] = []
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *rest, **more: opened.append(str(self)) or real(self, *rest, **more))
    outside = [
        str(tmp_path / "secret"),
        "../secret",
        "sub/../../secret",
        "link",
        "sub/up/secret",
        "",
        "a\0b",
        "..\\secret",
    ]
    for location in outside:
        refused(with_external(tmp_path, location), "external data .*(outside|no path in)")
    assert not [each for each in opened if not each.endswith("a.onnx")]
    refused(with_external(tmp_path, "none"), "there is no such file")
    refused(with_external(tmp_path, "sub"), "there is no such file")
    (folder / "w").write_bytes(secret[:15])
    refused(with_external(tmp_path, "w"), "16 bytes are needed")
    refused(with_external(tmp_path, "w", offset="-4"), "16 bytes are needed")
    refused(with_external(tmp_path, "w", offset="x"), "invalid literal")
    (folder / "sub" / "w").write_bytes(b"1234" + secret)
    file = with_external(tmp_path, "sub/w", offset="4", length="16")
    _, arguments, _ = mx.onnx.import_model(file)
    assert arguments["w"].asnumpy().tobytes() == secret


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    with pytest.raises(FileNotFoundError):
        mx.onnx.import_model(path)
    for content in (b"", b"\xff" * 100, b"hello", os.urandom(50)):
        path.write_bytes(content)
        refused(path, "no file of ONNX")
    whole = exported(tmp_path).read_bytes()
    for end in range(1, len(whole), 211):
        path.write_bytes(whole[:end])
        refused(path, "a.onnx: ")


def test_graphs_that_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    io: Any = ([("x", [4])], [("y", [4])])
    cycle = [node("Add", ["x", "b"], ["a"]), node("Relu", ["a"], ["b"]), node("Relu", ["b"], ["y"])]
    refused(save(path, cycle, *io, {}), "no node before it makes the tensor 'b'")
    refused(save(path, [node("Relu", ["x"], ["z"])], *io, {}), "no node before it makes the tensor 'y'")
    refused(save(path, [node("Nonsense", ["x"], ["y"])], *io, {}), "reads no operator Nonsense")
    refused(save(path, [node("Relu", ["x"], ["y"])], [("x", [1 << 40, 1 << 40])], io[1], {}), "is too large")
    huge = {"s": ints(1 << 20, 1 << 20, 1 << 20)}
    refused(save(path, [node("ConstantOfShape", ["s"], ["y"])], *io, huge), "negative or too large")
    refused(
        save(path, [node("Expand", ["one", "s"], ["y"])], *io, {**huge, "one": data(1)}), "too large|too many elements"
    )
    refused(save(path, [node("Cast", ["x"], ["y"], to=17)], *io, {}), "FLOAT8E4M3FN, which mxlite has not")
    model = onnx.load(str(save(path, [node("Add", ["x", "w"], ["y"])], *io, {"w": data(4)})))
    model.graph.initializer[0].dims[0] = 1 << 60
    path.write_bytes(model.SerializeToString())
    refused(path, "is too large")
    model.graph.initializer[0].dims[0] = 5
    path.write_bytes(model.SerializeToString())
    refused(path, "needs 20 bytes, it has 16")


def test_functions_that_call_themselves_end(tmp_path: Path) -> None:
    path = save(tmp_path / "a.onnx", [], [("x", [4])], [("y", [4])], {})
    model = onnx.load(str(path))
    model.graph.node.append(onnx.helper.make_node("F", ["x"], ["y"], domain="own"))
    opsets = [onnx.helper.make_opsetid("own", 1), onnx.helper.make_opsetid("", 17)]
    body = [onnx.helper.make_node("F", ["a"], ["b"], domain="own")]
    model.functions.append(onnx.helper.make_function("own", "F", ["a"], ["b"], body, opsets))
    model.opset_import.append(opsets[0])
    path.write_bytes(model.SerializeToString())
    refused(path, "nested more than 32 deep")
    model.functions[0].node[0].CopyFrom(onnx.helper.make_node("Neg", ["a"], ["b"]))
    path.write_bytes(model.SerializeToString())
    assert mx.onnx.import_to_gluon(path)(mx.nd.array([1, 2, 3, 4])).asnumpy().tolist() == [-1, -2, -3, -4]
