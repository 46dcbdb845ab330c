"""graph.summary, to_dot, to_json and draw: what they say of a graph, and that long graphs do not end them."""

from __future__ import annotations

import json
import re
import sys
import types
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite import autograd, nd
from mxlite.autograd import graph
from mxlite.ndarray import op as operators

pytestmark = pytest.mark.one_binding


def net() -> tuple[Any, dict[str, Any]]:
    """The sum of tanh(x w), twice itself, and its variables."""
    x, w = nd.array([[1, 2, 3], [4, 5, 6]]), nd.array(np.linspace(-1, 1, 12).reshape(3, 4))
    w.attach_grad()
    with autograd.record():
        h = nd.tanh(nd.dot(x, w))
        y = nd.sum(h * h, axis=1, keepdims=True)
    return y, {"w": w}


# ---- summary ----


def test_summary_is_a_table() -> None:
    y, names = net()
    lines = graph.summary(y, names).splitlines()
    rows = [line.split() for line in lines[2:-1]]
    assert lines[0].split() == ["#", "node", "operator", "inputs", "output", "dtype", "saved", "bytes"]
    assert set(lines[1]) == {"-", " "}
    assert [row[2] for row in rows] == ["w", "dot", "tanh", "broadcast_mul", "sum"]
    assert [row[0] for row in rows] == list("01234")
    assert rows[0] == ["0", "AccumulateGrad", "w", "3x4", "float32", "0"]
    assert rows[1][3:] == ["-", "#0", "2x4", "float32", "24"]  # a constant, and the x that its rule reads
    assert rows[2][3:] == ["#1", "2x4", "float32", "32"]
    assert rows[3][3:] == ["#2", "#2", "2x4", "float32", "64"]
    assert rows[4][3:] == ["#3", "2x1", "float32", "0"]
    assert lines[-1] == "5 nodes, 1 of them variables; 120 bytes saved for backward"


def test_summary_tells_lines_where_nodes_keep_them() -> None:
    with autograd.detect_anomaly(check=None):
        y, _ = net()
    lines = graph.summary(y).splitlines()
    assert lines[0].endswith("recorded at")
    assert re.search(r"test_graph_drawing\.py:\d+ in net$", lines[-2])
    assert "recorded at" not in graph.summary(net()[0])


def test_summary_after_backward() -> None:
    y, names = net()
    y.backward()
    text = graph.summary(y, names)
    assert text.count("released") == 4
    assert text.endswith("; 0 bytes saved for backward")


def test_several_heads_and_outputs() -> None:
    x = nd.arange(6)
    x.attach_grad()
    with autograd.record():
        a, b = nd.split(x.reshape((2, 3)), num_outputs=2, axis=0)
        z = a * b
    rows = [line.split() for line in graph.summary([b, z]).splitlines()[2:-1]]
    assert len(rows) == 4
    assert rows[-1][3:5] == ["#2", "#2.1"]
    symbol = json.loads(graph.to_json([b, z]))
    assert symbol["heads"] == [[2, 1, 0], [3, 0, 0]]
    assert symbol["node_row_ptr"] == [0, 1, 2, 4, 5]


def test_a_node_is_shown_as_its_array_is() -> None:
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).exp()
    assert graph.summary(y.grad_fn) == graph.summary(y)
    assert graph.summary(x).splitlines()[-1] == "1 nodes, 1 of them variables; 0 bytes saved for backward"


def test_what_is_not_shown() -> None:
    for show in (graph.summary, graph.to_dot, graph.to_json):
        with pytest.raises(ValueError, match="constant"):
            show(nd.ones(3))
        with pytest.raises(ValueError, match="at least one"):
            show([])
        with pytest.raises(TypeError, match="got int"):
            show([3])


def test_a_long_chain_is_no_problem() -> None:
    x = nd.ones(1)
    x.attach_grad()
    with autograd.record():
        y = x
        for _ in range(5_000):
            y = y + 1
    assert len(graph.summary(y).splitlines()) == 5_004
    assert graph.to_dot(y).count("->") == 5_000
    assert json.loads(graph.to_json(y))["heads"] == [[5_000, 0, 0]]


# ---- saved ----


def test_saved_arrays() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = torch.tensor([3.0, 4.0])
    y = (x * z).exp()
    (kept,) = y.grad_fn.saved
    assert kept.tolist() == y.tolist()
    assert kept.grad_fn is None
    product = y.grad_fn.next_functions[0][0]
    assert [each.tolist() for each in product.saved] == [[3.0, 4.0]]
    assert product.next_functions[0][0].saved == ()
    z.add_(1)
    with pytest.raises(RuntimeError):
        product.saved  # noqa: B018 - it raises
    assert y.grad_fn.saved[0].tolist() == y.tolist()


# ---- Graphviz ----


def test_dot_has_a_node_for_each_and_an_edge_for_each_input() -> None:
    y, names = net()
    text = graph.to_dot(y, names)
    assert re.findall(r"n(\d) -> n(\d)", text) == [("0", "1"), ("1", "2"), ("2", "3"), ("2", "3"), ("3", "4")]
    labels = re.findall(r'label="(.*?)"', text)
    assert labels[0] == r"w\n3x4 float32"
    assert [label.split(r"\n")[1] for label in labels[1:]] == ["2x4", "2x4", "2x4", "2x1"]


def test_names_are_escaped_in_dot_and_svg(tmp_path: Path) -> None:
    x = nd.ones(2)
    x.attach_grad()
    with autograd.record():
        y = x + 1
    names = {'a "b" <c> \\ & d': x}
    assert r'label="a \"b\" <c> \\ & d\n2 float32"' in graph.to_dot(y, names)
    graph.draw(y, tmp_path / "x.svg", names, engine="own")
    texts = [each.text for each in ElementTree.parse(tmp_path / "x.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert 'a "b" <c> \\ & d' in texts


# ---- MXNet's symbols ----


def run_symbol(text: str, values: dict[str, Any]) -> list[Any]:
    """What a symbol computes of its arguments."""
    symbol = json.loads(text)
    results: list[list[Any]] = []
    for number, node in enumerate(symbol["nodes"]):
        inputs = [results[source][output] for source, output, _ in node["inputs"]]
        if node["op"] == "null":
            results.append([values[node["name"]]])
            assert number in symbol["arg_nodes"]
            assert node["attrs"]["__shape__"] == str(values[node["name"]].shape)
            continue
        function = getattr(mx.nd._internal if node["op"].startswith("_") else operators, node["op"])
        params = {key: _literal(value) for key, value in node.get("attrs", {}).items() if key != "num_args"}
        made = function(*inputs, **params)
        results.append(made if isinstance(made, list) else [made])
    counts = [0]
    for made in results:
        counts.append(counts[-1] + len(made))
    assert symbol["node_row_ptr"] == counts
    assert symbol["arg_nodes"] == [i for i, node in enumerate(symbol["nodes"]) if node["op"] == "null"]
    assert symbol["attrs"] == {"mxnet_version": ["int", 10901]}
    assert len({node["name"] for node in symbol["nodes"]}) == len(symbol["nodes"])
    return [results[node][output] for node, output, _ in symbol["heads"]]


def _literal(text: str) -> Any:
    try:
        return eval(text, {"__builtins__": {}})
    except NameError:
        return text


def test_a_symbol_computes_what_was_recorded() -> None:
    x, w, b = nd.array([[1, 2, 3], [4, 5, 6]]), nd.array(np.linspace(-1, 1, 12).reshape(3, 4)), nd.array([1, 2, 3, 4])
    w.attach_grad()
    b.attach_grad()
    with autograd.record():
        h = nd.LeakyReLU(nd.broadcast_add(nd.dot(x, w), b.reshape((1, 4))), act_type="elu", slope=0.3)
        parts = nd.split(h * 0.1, num_outputs=2, axis=1)
        joined = nd.concat(parts[1], parts[0], w[1:3][:, 0:2].astype("float32"), dim=0)
        y, z = nd.softmax(joined, axis=0), nd.sum(joined, axis=(0, 1), keepdims=True)
    text = graph.to_json([y, z], {"w": w, "b": b})
    got = run_symbol(text, {"w": w, "b": b, "const0": x})
    for each, expected in zip(got, (y, z)):
        np.testing.assert_array_equal(each.asnumpy(), expected.asnumpy())
    assert '"num_args": "3"' in text


def test_keys_are_said_in_mxnets_words() -> None:
    """A key without index arrays is slice and Reshape, one index array alone is take."""
    x, index = nd.array(np.arange(24.0).reshape(2, 3, 4)), nd.array([2, -3], dtype="int32")
    x.attach_grad()
    keys = [(1, slice(None, None, -2)), (..., None, slice(1, 3)), (0, None, -1, 2), (slice(None), index), (..., -1, 0)]
    for key in keys:
        with autograd.record():
            y = x[key] * 2
        text = graph.to_json(y, {"x": x})
        assert "_mxl_" not in text
        (got,) = run_symbol(text, {"x": x, "const0": index})
        np.testing.assert_array_equal(got.asnumpy(), y.asnumpy())
        assert got.shape == y.shape


def test_a_symbol_of_pytorchs_style() -> None:
    """Empty slots are no inputs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x + 5).exp()
    symbol = json.loads(graph.to_json(y))
    assert [node["op"] for node in symbol["nodes"]] == ["null", "_plus_scalar", "exp"]
    assert symbol["nodes"][1]["attrs"] == {"scalar": "5"}
    assert symbol["nodes"][1]["inputs"] == [[0, 0, 0]]


def test_names_of_a_symbol_are_its_own() -> None:
    a, b = nd.ones(1), nd.ones(1)
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y = nd.exp(a) + nd.exp(b)
    names = [node["name"] for node in json.loads(graph.to_json(y, {"exp0": a}))["nodes"]]
    assert names == ["exp0", "exp1", "var0", "exp2", "broadcast_add0"]


def test_every_operator_of_a_symbol_is_public_here() -> None:
    y, names = net()
    for node in json.loads(graph.to_json(y, names))["nodes"]:
        assert node["op"] == "null" or hasattr(operators, node["op"])


# ---- pictures ----

_SVG = "{http://www.w3.org/2000/svg}"


def boxes(path: Path) -> list[tuple[float, float, float, float]]:
    """Left, top, right, bottom of each node of a picture; the first rectangle is the ground."""
    rects = list(ElementTree.parse(path).iter(_SVG + "rect"))
    sides = [[float(rect.get(key, "")) for key in ("x", "y", "width", "height")] for rect in rects]
    return [(x, y, x + width, y + height) for x, y, width, height in sides]


def ladder(rungs: int) -> Any:
    """A graph with edges that cross layers."""
    a, b = nd.ones(2), nd.ones(2)
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y, first = a * b, nd.exp(a)
        for _ in range(rungs):
            y = nd.tanh(y) * (y + first) + b
    return y


def test_our_own_picture_is_well_formed(tmp_path: Path) -> None:
    y = ladder(6)
    path, again = tmp_path / "net.svg", tmp_path / "again.svg"
    graph.draw(y, path, engine="own")
    graph.draw(y, again, engine="own")
    assert path.read_bytes() == again.read_bytes()
    ground, *nodes = boxes(path)
    assert len(nodes) == len(graph.summary(y).splitlines()) - 3
    for box in nodes:
        assert ground[0] < box[0] < box[2] < ground[2] and ground[1] < box[1] < box[3] < ground[3]
    for i, a in enumerate(nodes):
        for b in nodes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], "two nodes overlap"
    paths = [each for each in ElementTree.parse(path).iter(_SVG + "path") if each.get("marker-end")]
    assert len(paths) == graph.to_dot(y).count("->")
    # Values go downwards: an edge begins at the lower side of a box and ends at the upper side of one.
    for each in paths:
        numbers = [float(number) for number in re.findall(r"-?\d+\.\d", each.get("d", ""))]
        assert any(abs(numbers[1] - box[3]) < 0.2 and box[0] < numbers[0] < box[2] for box in nodes)
        assert any(abs(numbers[-1] - box[1]) < 0.2 and box[0] < numbers[-2] < box[2] for box in nodes)
        assert numbers[1] < numbers[-1]


def test_one_variable_is_a_picture(tmp_path: Path) -> None:
    x = nd.ones(2)
    x.attach_grad()
    graph.draw(x, str(tmp_path / "x.svg"), {"x": x}, engine="own")
    assert len(boxes(tmp_path / "x.svg")) == 2


def test_large_pictures_need_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", None)
    y = ladder(80)
    for engine in (None, "own"):
        with pytest.raises(RuntimeError, match="more than 300 need graphviz"):
            graph.draw(y, tmp_path / "net.svg", engine=engine)
    assert not (tmp_path / "net.svg").exists()


def test_texts_and_no_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They need no Graphviz."""
    monkeypatch.setitem(sys.modules, "graphviz", None)
    y = ladder(2)
    for name in ("net.dot", "net.gv", "net.DOT"):
        graph.draw(y, tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == graph.to_dot(y)
    graph.draw(y, tmp_path / "net.txt")
    assert (tmp_path / "net.txt").read_text(encoding="utf-8") == graph.summary(y) + "\n"
    graph.draw(y, tmp_path / "net")
    graph.draw(y, str(tmp_path / "other."))
    assert boxes(tmp_path / "net.svg") == boxes(tmp_path / "other.svg") and not (tmp_path / "net").exists()
    assert 'style="rounded,filled"' in graph.to_dot(y)


def test_what_draw_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", None)
    y = ladder(1)
    with pytest.raises(ValueError, match="engine"):
        graph.draw(y, tmp_path / "net.svg", engine="dot")
    with pytest.raises(RuntimeError, match=r"\.pdf needs graphviz"):
        graph.draw(y, tmp_path / "net.pdf")
    with pytest.raises(RuntimeError, match="needs graphviz"):
        graph.draw(y, tmp_path / "net.svg", engine="graphviz")
    graph.draw(y, tmp_path / "net.svg")
    assert boxes(tmp_path / "net.svg")


def test_graphviz_draws_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    class Source:
        def __init__(self, text: str) -> None:
            self.text = text

        def pipe(self, **options: Any) -> bytes:
            calls.append((self.text, options))
            return b"a picture"

    monkeypatch.setitem(sys.modules, "graphviz", types.SimpleNamespace(Source=Source))
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    y = ladder(1)
    path = str(tmp_path / "net.pdf")
    graph.draw(y, path)
    graph.draw(y, path, engine="graphviz")
    assert calls == [(graph.to_dot(y), {"format": "pdf"})] * 2
    assert Path(path).read_bytes() == b"a picture"
    graph.draw(y, tmp_path / "net.svg", engine="own")
    assert len(calls) == 2
