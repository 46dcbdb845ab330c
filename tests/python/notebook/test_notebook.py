"""What objects show in a notebook: HTML and SVG of arrays, blocks, symbols, graphs; whatever they hold."""

from __future__ import annotations

import base64
import contextlib
import pickle
import re
import sys
import types
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite import autograd, gluon, nd
from mxlite._notebook import arrays, chart, tables
from mxlite.autograd import graph
from mxlite.gluon import nn
from mxlite.ndarray._make import new_none

pytestmark = pytest.mark.one_binding


class _Page(HTMLParser):
    """The texts of cells, row by row, and all other texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.notes: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, f"tags stay open: {self.open}"

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        self.open += [tag]

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        else:
            self.notes.append(data)


def page(thing: Any) -> _Page:
    return _Page(thing._repr_html_())


def drawn(thing: Any) -> list[str]:
    """The texts of a picture."""
    return [each.text or "" for each in ElementTree.fromstring(thing._repr_svg_()).iter() if each.tag.endswith("}text")]


# ---- arrays ----


def test_an_array_shows_what_it_is_and_its_elements() -> None:
    shown = page(nd.array([[1, 2.5], [-3, np.nan]]))
    assert shown.notes == ["NDArray 2 × 2, float32, @cpu(0)"]
    assert shown.rows == [["", "0", "1"], ["0", "1", "2.5"], ["1", "-3", "nan"]]
    assert "nan" in repr(nd.array([np.nan]))  # the text stays


def test_of_a_large_array_the_corners() -> None:
    x = np.arange(300 * 40).reshape(300, 40)
    for array in (nd.array(x, dtype="int64"), torch.tensor(x), torch.tensor(np.ascontiguousarray(x.T)).T):
        head, *rows = page(array).rows
        assert head[1:] == ["0", "1", "2", "3", "4", "…", "35", "36", "37", "38", "39"]
        assert [row[0] for row in rows] == ["0", "1", "2", "3", "4", "⋮", "295", "296", "297", "298", "299"]
        for row in rows[:5] + rows[6:]:
            expected = [str(each) for each in x[int(row[0])]]
            assert row[1:] == [*expected[:5], "…", *expected[-5:]]


@pytest.mark.parametrize(
    "shape", [(), (1,), (7,), (11,), (100,), (3, 1), (2, 3, 4), (2, 2, 2, 13), (0,), (3, 0), (0, 3)]
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int8", "int32", "int64", "bool"])
def test_any_shape_and_dtype(shape: tuple[int, ...], dtype: str) -> None:
    values = np.ones(shape, dtype)
    with mx.util.np_shape():
        shown = page(nd.array(values, dtype=dtype))
        assert shown.notes[0].startswith("NDArray ") and dtype in shown.notes[0]
    assert page(torch.tensor(values)).rows == shown.rows
    cells = [cell for row in shown.rows[1 if shape else 0 :] for cell in row[1 if len(shape) > 1 else 0 :]]
    assert set(cells) <= {"1", "True", "…", "⋮"} and bool(cells) == (0 not in shape)


def test_infinite_and_small_numbers() -> None:
    assert page(nd.array([np.inf, -np.inf, 1e-30, 123456.0])).rows[1] == ["inf", "-inf", "1e-30", "1.235e+05"]
    assert page(torch.tensor([1.0, 2.0], dtype=torch.float16)).rows[1] == ["1", "2"]


def test_an_array_without_a_shape_shows_its_text() -> None:
    assert nd.NDArray(new_none())._repr_html_() is None


def test_a_huge_tensor_costs_nothing() -> None:
    x = torch.zeros(1).expand(10**12)
    assert page(x).rows[0][-1] == str(10**12 - 1)
    assert repr(x) == "tensor([0., 0., 0.,  ..., 0., 0., 0.])"
    wide = torch.ones(1, 1).expand(10**6, 10**6)
    assert page(wide).rows[1][:2] == ["0", "1"] and repr(wide).count("1.") == 36


def test_to_be_shown_is_not_recorded() -> None:
    x = nd.ones((20, 20))
    x.attach_grad()
    with autograd.record():
        y = x * 2
        before = len(graph.summary(y).splitlines())
        assert page(y).rows[1][1] == "2"
        assert len(graph.summary(y).splitlines()) == before
    y.backward()
    assert x.grad.asnumpy().min() == 2


def test_a_tensor_says_where_its_gradient_goes() -> None:
    x = torch.ones(2, requires_grad=True)
    assert page(x).notes[0].endswith("requires_grad=True")
    assert page(x * 2).notes[0].endswith("grad_fn=<MulBackward0>")


def _png_of(shown: str) -> bytes:
    return base64.b64decode(re.findall(r'src="data:image/png;base64,([^"]+)"', shown)[0])


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_bytes_with_channels_are_an_image(channels: int) -> None:
    image = pytest.importorskip("PIL.Image")
    import io

    values = np.random.RandomState(0).randint(0, 256, (9, 12, channels)).astype(np.uint8)
    read = np.asarray(image.open(io.BytesIO(_png_of(nd.array(values, dtype="uint8")._repr_html_()))))
    assert (read.reshape(values.shape) == values).all()
    large = np.zeros((1000, 2001, channels), np.uint8)
    large[8, 16] = 200
    shown = nd.array(large, dtype="uint8")._repr_html_()
    small = np.asarray(image.open(io.BytesIO(_png_of(shown)))).reshape(125, 251, channels)
    assert small[1, 2].tolist() == [200] * channels and "every 8th pixel" in shown and len(shown) < 5000


def test_other_bytes_are_numbers() -> None:
    for shape in ((9, 12, 2), (7, 12, 3), (9, 12)):
        assert not arrays.is_image(shape, np.uint8) and page(nd.zeros(shape, dtype="uint8")).rows
    assert not arrays.is_image((9, 12, 3), np.float32)


# ---- tables ----


def test_cells_are_escaped_and_rows_are_counted() -> None:
    nasty = "<script>\"&'"
    shown = tables.table([nasty], [[nasty]] * 1000, foot=nasty, title=nasty)
    assert "<script" not in shown
    read = _Page(shown)
    assert read.rows == [[nasty]] * (1 + tables.MOST_ROWS)
    assert read.notes == [nasty, "800 more rows", nasty]


def test_a_table_is_its_text() -> None:
    table = tables.Table.of(["a", "b"], [["1", "<x>"], ["22", "y"]], right={0}, foot="2 rows")
    assert table == " a  b\n--  ---\n 1  <x>\n22  y\n2 rows"
    assert isinstance(table, str) and repr(table) == str(table) == f"{table}"
    again = pickle.loads(pickle.dumps(table))
    assert again == table and again._repr_html_() == table._repr_html_()
    assert tables.Table("x")._repr_html_() is None


# ---- graphs ----


def _recorded(name: str = "w") -> tuple[Any, dict[str, Any]]:
    w = nd.ones((4, 3))
    w.attach_grad()
    with autograd.record():
        h = nd.tanh(nd.dot(w, nd.ones((3, 2))))
        return (h * h).sum(), {name: w}


def test_draw_without_a_path_returns_the_picture(tmp_path: Path) -> None:
    y, names = _recorded("<w> & co")
    picture = graph.draw(y, names=names, engine="own")
    texts = drawn(picture)
    assert texts[:2] == ["<w> & co", "4x3 float32"] and "TanhBackward0" in texts
    assert "5 nodes" in repr(picture) and "save(" in repr(picture)
    assert graph.draw(y, tmp_path / "a.svg", names, engine="own") is None
    picture.save(tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_text() == (tmp_path / "b.svg").read_text()
    with pytest.raises(ValueError, match=r"end in \.svg; got .*net\.pdf"):
        picture.save(tmp_path / "net.pdf")
    with pytest.raises(ValueError, match="engine must be"):
        graph.draw(y, engine="dot")


def test_draw_by_graphviz_begins_with_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Graphviz writes before the root element of a file has no place in a page."""

    class Source:
        def __init__(self, text: str) -> None:
            assert "DotBackward0" in text

        def pipe(self, format: str) -> bytes:
            return f'<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "x">\n<!-- {format} -->\n<svg id="é"/>\n'.encode()

    monkeypatch.setitem(sys.modules, "graphviz", types.SimpleNamespace(Source=Source))  # type: ignore[arg-type]
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert graph.draw(_recorded()[0])._repr_svg_() == '<svg id="é"/>\n'


def test_a_summary_is_a_table() -> None:
    y, names = _recorded("<w>")
    shown = page(graph.summary(y, names))
    assert shown.rows[1][:3] == ["0", "AccumulateGrad", "<w>"] and shown.rows[-1][1] == "SumBackward0"
    assert shown.notes[-1].startswith("5 nodes, 1 of them variables")


# ---- symbols ----


def _symbol() -> Any:
    data = mx.sym.var("data", shape=(8, 20))
    hidden = mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=10, name="fc1"), act_type="relu", name="relu1")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=3, name="fc2"), name="softmax")


def test_a_symbol_is_drawn_with_shapes() -> None:
    texts = drawn(_symbol())
    expected = ["data", "(8,20)", "FullyConnected  fc1", "(8,10)", "Activation  relu1", "(8,10)", "FullyConnected  fc2"]
    assert texts == [*expected, "(8,3)", "SoftmaxOutput  softmax", "(8,3)"]
    assert _symbol()._repr_html_() is None


def test_symbols_of_all_kinds_are_drawn() -> None:
    a, b = mx.sym.var("a"), mx.sym.var("<b>")
    assert drawn(a) == ["a"]
    assert set(drawn(mx.sym.Group([a + b, a * 2]))) >= {"a", "<b>"}
    lone = mx.sym.var("fc_weight")
    assert drawn(lone) == ["fc_weight"]  # nothing else is there
    clash = mx.sym.var("x", shape=(2, 3)) + mx.sym.var("y", shape=(4, 5))
    assert {"x", "y"} <= set(drawn(clash))  # shapes that do not fit are no reason to show nothing


def test_a_large_symbol_is_a_table() -> None:
    net = mx.sym.var("x<1>", shape=(2,))
    for _ in range(150):
        net = net + 1
    assert net._repr_svg_() is None
    shown = page(net)
    assert shown.rows[1][1:3] == ["x<1>", "input"] and len(shown.rows) == 152 and shown.rows[-1][-2] == "(2)"


def test_plot_network_is_shown_without_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", None)  # type: ignore[arg-type] # import graphviz fails
    picture = mx.viz.plot_network(_symbol(), title="my net", save_format="svg", shape={"data": (8, 20)})
    assert drawn(picture)[:3] == ["data", "FullyConnected", "10"]
    assert picture._repr_mimebundle_() == {"image/svg+xml": picture._repr_svg_()}
    assert picture.source.startswith('digraph "my net" {') and '"fc1" -> "data" [label="20"' in picture.source
    written = picture.render("net", directory=str(tmp_path))
    assert ElementTree.parse(written).getroot().tag.endswith("svg") and (tmp_path / "net").read_text() == picture.source
    for call in (picture.view, lambda: picture.render("net", format="pdf")):
        with pytest.raises(RuntimeError, match="needs graphviz"):
            call()


class _FakeDigraph:
    """As much of graphviz.Digraph as plot_network calls."""

    def __init__(self, name: str, format: str) -> None:
        self.said = [name, format]

    def node(self, name: str, label: str | None = None, _attributes: Any = None, **attrs: str) -> None:
        self.said.append(name)

    def edge(self, tail_name: str, head_name: str, label: Any = None, _attributes: Any = None, **attrs: str) -> None:
        self.said.append(f"{tail_name}>{head_name}")

    def pipe(self, format: str) -> bytes:
        return b"<svg>" + format.encode() + b"</svg>"


def test_plot_network_is_graphviz_own_graph_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", types.SimpleNamespace(Digraph=_FakeDigraph))  # type: ignore[arg-type]
    monkeypatch.setattr("shutil.which", lambda name: None)
    picture = mx.viz.plot_network(_symbol())
    assert isinstance(picture, _FakeDigraph) and "fc1>data" in picture.said
    assert "FullyConnected" in drawn(picture)  # there is no program dot
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert picture._repr_mimebundle_() == {"image/svg+xml": "<svg>svg</svg>"}


# ---- blocks, parameters, trainers ----


class _Named(gluon.Block):
    def __init__(self) -> None:
        super().__init__(prefix="<net>_")
        with self.name_scope():
            self.first = nn.Dense(4)
            self.second = nn.Dense(3, in_units=4, params=None)
            self.scale = self.params.get("scale", shape=(2,), grad_req="null")

    def __repr__(self) -> str:
        return "<b>bold</b>"


def test_a_block_lists_layers_and_parameters() -> None:
    net = _Named()
    rows = page(net).rows
    assert rows[0] == ["layer", "", "parameters", "numbers"]
    assert rows[1] == ["<net>", "<b>bold</b>", "scale 2", "2"]
    assert rows[2] == ["\u00a0\u00a0\u00a0\u00a0first", "Dense(None -> 4, linear)", "weight 4×?, bias 4", "?"]
    assert rows[3][2:] == ["weight 3×4, bias 3", "15"]
    assert page(net).notes[-1] == "21 numbers in 5 parameters, 2 of them not trained; the shapes of 1 are not known yet"
    net.initialize()
    net.first(nd.ones((1, 6)))
    assert page(net).rows[2][2:] == ["weight 4×6, bias 4", "28"]


def test_shared_parameters_count_once() -> None:
    a = nn.Dense(3, in_units=3)
    net = nn.Sequential()
    net.add(a, nn.Dense(3, in_units=3, params=a.params))
    assert page(net).rows[-1][2:] == ["weight 3×3 (shared), bias 3 (shared)", ""]
    assert page(net).notes[-1] == "12 numbers in 2 parameters"


def test_other_blocks_and_modules() -> None:
    data = mx.sym.var("data")
    block = gluon.SymbolBlock(mx.sym.FullyConnected(data, num_hidden=3, name="fc"), data)
    assert page(block).rows[1][1:3] == ["SymbolBlock", "weight ?, bias ?"]
    assert page(gluon.Block()).rows[1][1] == "Block"
    half = nn.Dense(2, in_units=2)
    half.cast("float16")
    assert page(half).rows[1][2] == "weight 2×2 float16, bias 2 float16"
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2, bias=False))
    rows = page(module).rows
    assert [row[1] for row in rows[1:]][0] == "Sequential" and rows[2][2:] == ["weight 4×3, bias 4", "16"]
    assert page(module).notes[-1] == "24 numbers in 3 parameters"


def test_parameters_and_trainer() -> None:
    net = nn.Dense(2, in_units=3, prefix="<d>_")
    net.initialize()
    assert page(net.collect_params()).rows[1] == ["<d>_weight", "(2, 3)", "float32", "write"]
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    assert page(trainer).rows[:2] == [["optimizer", "SGD"], ["learning rate", "0.5"]]


# ---- the profiler ----


def test_the_profiler_shows_tables_and_a_line_of_time(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    mx.profiler.dumps(reset=True)
    mx.profiler.set_config(filename=str(tmp_path / "earlier.json"))
    with contextlib.suppress(mx.MXNetError):  # nothing was traced
        mx.profiler.dump()  # what earlier tests have traced
    mx.profiler.set_config(filename=str(file), aggregate_stats=True)
    mx.profiler.set_state("run")
    task = mx.profiler.Domain("<mine>").new_task("a <task>")
    task.start()
    nd.dot(nd.ones((5, 5)), nd.ones((5, 5))).wait_to_read()
    task.stop()
    mx.profiler.set_state("stop")
    try:
        sums = mx.profiler.dumps()
        rows = page(sums).rows
        assert (
            isinstance(sums, str)
            and ["Name", "Total Count", "Time (ms)"] == next(r for r in rows if "Time (ms)" in r)[:3]
        )
        assert next(row for row in rows if row[0] == "dot")[1] == "1"
        assert ["Memory: cpu/0"] in [row[:1] for row in rows]
        texts = drawn(mx.profiler.timeline())
        assert "dot" in texts and "a <task>" in texts and any(text.startswith("time (ms)") for text in texts)
        mx.profiler.dump()  # the trace is still there to be written
        assert drawn(mx.profiler.timeline(str(file))) == texts
    finally:
        mx.profiler.dumps(reset=True)
        mx.profiler.set_config()
    file.write_text("[]")
    with pytest.raises(ValueError, match="is no trace"):
        mx.profiler.timeline(str(file))
    file.write_text('{"traceEvents": []}')
    with pytest.raises(ValueError, match="no operators"):
        mx.profiler.timeline(str(file))
    assert mx.profiler._Sums("")._repr_html_() is None


# ---- charts ----


def _svg_texts(text: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(text).iter() if each.tag.endswith("}text")]


def test_curves_have_axes_and_names() -> None:
    texts = _svg_texts(chart.curves("loss <1>", "batch", {"a&b": [(0, 1.0), (10, 3.0)], "c": [(5, 2.0)]}))
    assert texts[0] == "loss <1>" and {"batch", "a&b", "c", "1", "1.5", "3", "0", "10"} <= set(texts)


@pytest.mark.parametrize(
    "points", [[], [(1, float("nan"))], [(1, 0.0)], [(1, 5.0), (2, 5.0)], [(1, 1e300), (2, -1e300)]]
)
def test_curves_of_little(points: list) -> None:
    assert "only" in _svg_texts(chart.curves("only", "x", {"one": points}))


def test_ticks_are_round() -> None:
    assert chart.ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert chart.ticks(0.13, 0.29) == pytest.approx([0.15, 0.2, 0.25])
    assert chart.ticks(3, 3) == [3]


def test_a_line_of_time_draws_the_longest() -> None:
    spans = [("row", f"op{number}", float(number), number + 1.0 + number % 7) for number in range(200)]
    text = chart.timeline(spans, most=50)
    assert text.count("<title>") == 50 and "the 50 longest of 200" in _svg_texts(text)[-1 - 6] + "".join(
        _svg_texts(text)
    )
    assert chart.timeline([("row", "none", 1.0, 1.0)])
