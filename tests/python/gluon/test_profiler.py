"""mx.profiler: what cannot be compared with 1.9.1: passes, threads, processes, the end of a program, the page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mxlite as mx

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "trace.json"
    mx.profiler.set_config(filename=path, aggregate_stats=True)
    yield path
    mx.profiler.set_state("run")
    mx.profiler.dumps(reset=True)
    mx.profiler.dump()


def _sums() -> dict[str, Any]:
    return json.loads(mx.profiler.dumps(format="json"))["Time"].get("operator", {})


def _events(path: Path) -> list[dict]:
    return [each for each in json.loads(path.read_text())["traceEvents"] if each["ph"] != "M"]


def test_a_pass_has_a_row_of_its_own(file: Path) -> None:
    x = mx.nd.ones((100_000,))
    mx.profiler.set_state("run")
    y = (mx.nd.exp(x) + 1) * 2
    y.wait_to_read()
    mx.profiler.set_state("stop")
    sums = _sums()
    assert sums["FusedPass(exp,_plus_scalar,_mul_scalar)"]["Count"] == 1
    assert sums["exp"]["Count"] == 1


def test_without_bulk_there_are_no_passes(file: Path) -> None:
    x = mx.nd.ones((100_000,))
    with mx.engine.bulk(0):
        mx.profiler.set_state("run")
        ((mx.nd.exp(x) + 1) * 2).wait_to_read()
        mx.profiler.set_state("stop")
    assert not [name for name in _sums() if name.startswith("FusedPass")]


def test_times_are_those_of_the_clock(file: Path) -> None:
    x = mx.nd.random.normal(shape=(500, 500))
    mx.profiler.set_state("run")
    task = mx.profiler.Domain("clock").new_task("all")
    task.start()
    for _ in range(5):
        mx.nd.dot(x, x).wait_to_read()
    task.stop()
    mx.profiler.set_state("stop")
    everything = json.loads(mx.profiler.dumps(format="json"))["Time"]
    dots = everything["operator"]["dot"]
    assert dots["Count"] == 5 and 0 < dots["Min"] <= dots["Avg"] <= dots["Max"]
    assert dots["Total"] <= everything["clock"]["all"]["Total"]
    assert dots["Total"] == pytest.approx(5 * dots["Avg"], rel=1e-6)


def test_events_of_a_thread_are_nested(file: Path) -> None:
    x = mx.nd.ones((4, 4))
    mx.profiler.set_state("run")
    threads = [threading.Thread(target=lambda: [mx.nd.tanh(x) for _ in range(600)]) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    mx.profiler.dump()
    found = [each for each in _events(file) if each["name"] == "tanh"]
    assert len(found) == 3600
    for number in {each["tid"] for each in found}:
        own = [each for each in found if each["tid"] == number]
        assert [each["ph"] for each in own] == ["B", "E"] * 600
        times = [each["ts"] for each in own]
        assert times == sorted(times)


def test_operators_of_custom_ones_are_seen(file: Path) -> None:
    class Double(mx.autograd.Function):
        def forward(self, x: mx.nd.NDArray) -> mx.nd.NDArray:
            return mx.nd.sin(x)

        def backward(self, dy: mx.nd.NDArray) -> mx.nd.NDArray:
            return mx.nd.cos(dy)

    x = mx.nd.ones((3,))
    x.attach_grad()
    mx.profiler.set_state("run")
    with mx.autograd.record():
        y = Double()(x)
    y.backward()
    mx.profiler.set_state("stop")
    assert {"sin", "cos"} <= set(_sums())


def test_a_failed_call_has_no_record(file: Path) -> None:
    mx.profiler.set_state("run")
    with pytest.raises(mx.MXNetError):
        mx.nd.dot(mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))
    mx.profiler.set_state("stop")
    assert "dot" not in _sums()


def test_results_are_the_same_while_it_runs(file: Path) -> None:
    net = mx.gluon.nn.Dense(3, in_units=4)
    net.initialize()
    x = mx.nd.random.normal(shape=(5, 4))
    expected = net(x).asnumpy()
    mx.profiler.set_state("run")
    found = net(x).asnumpy()
    mx.profiler.set_state("stop")
    assert np.array_equal(found, expected)


def test_continuous_dump_writes_at_the_stop(file: Path) -> None:
    mx.profiler.set_config(filename=file, continuous_dump=True, dump_period=0.1)
    mx.profiler.set_state("run")
    mx.nd.tanh(mx.nd.ones((2,)))
    assert not file.exists()
    mx.profiler.set_state("stop")
    assert "tanh" in {each["name"] for each in _events(file)}


def _run(code: str, folder: Path, **environment: str) -> None:
    known = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=known, check=True, timeout=100)


def test_it_starts_by_the_environment(tmp_path: Path) -> None:
    _run("import mxlite as mx; mx.nd.tanh(mx.nd.ones((2,)))", tmp_path, MXNET_PROFILER_AUTOSTART="1")
    assert "tanh" in {each["name"] for each in _events(tmp_path / "profile.json")}


def test_nothing_is_written_without_a_run(tmp_path: Path) -> None:
    _run("import mxlite as mx; mx.profiler.set_config(filename='a.json'); mx.nd.ones((2,))", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_workers_of_a_loader_write_nothing(tmp_path: Path) -> None:
    code = (
        "import mxlite as mx, numpy as np, os\n"
        "mx.profiler.set_config(filename='a.json'); mx.profiler.set_state('run')\n"
        "data = mx.gluon.data.ArrayDataset(np.ones((8, 2), 'float32'))\n"
        "assert len(list(mx.gluon.data.DataLoader(data, 2, num_workers=2))) == 4\n"
        "assert not os.listdir('.')\n"
    )
    _run(code, tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


def test_the_page(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "profiler.md").read_text()
    _run("\n".join(re.findall(r"```python\n(.*?)```", text, re.S)), tmp_path)
    assert (tmp_path / "trace.json").exists()


class _Doubled(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux) -> None:
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux) -> None:
        self.assign(in_grad[0], req[0], out_grad[0] * 2)


@mx.operator.register("doubled_for_profiles")
class _DoubledProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes) -> _Doubled:
        return _Doubled()


def test_operators_of_the_program_have_their_name(file: Path) -> None:
    """The names are those of 1.9.1, which has more: of its copies (CopyCPU2CPU) and of the engine's own."""
    x = mx.nd.ones((2, 3))
    x.attach_grad()
    mx.profiler.set_state("run")
    with mx.autograd.record():
        y = mx.nd.Custom(x * 3, op_type="doubled_for_profiles")
    y.backward()
    mx.profiler.set_state("stop")
    times = json.loads(mx.profiler.dumps(format="json"))["Time"]
    assert {name: row["Count"] for name, row in times["Custom Operator"].items() if "_copyto" not in name} == {
        "doubled_for_profiles::pure_python": 1,
        "doubled_for_profiles::_mul_scalar": 1,
        "_backward_doubled_for_profiles::pure_python": 1,
        "_backward_doubled_for_profiles::_mul_scalar": 1,
    }
    assert times["operator"]["_mul_scalar"]["Count"] == 1
    mx.profiler.dump()
    assert "doubled_for_profiles::pure_python" in {event["name"] for event in _events(file)}


def test_nodes_of_a_graph_have_records_by_their_names(file: Path) -> None:
    x = mx.sym.Variable("x")
    convolution = mx.sym.Convolution(x, kernel=(1, 1), num_filter=2, name="first")
    loop, _ = mx.sym.contrib.foreach(
        lambda row, state: (mx.sym.exp(row, name="within"), mx.sym.identity(state, name="state")),
        convolution,
        mx.sym.Variable("s"),
    )
    name = loop.name
    net = mx.sym.tanh(mx.sym.relu(loop, name="second"), name="third")
    executor = net.simple_bind(mx.cpu(), grad_req="null", x=(3, 2, 4, 4), s=(1,))
    executor.forward()
    mx.profiler.set_state("run")
    executor.forward()
    executor.outputs[0].wait_to_read()
    mx.profiler.set_state("stop")
    times = json.loads(mx.profiler.dumps(format="json"))["Time"]
    mx.profiler.dump()
    begun = [each for each in _events(file) if each["cat"] == "node" and each["ph"] == "B"]
    names = [each["name"] for each in begun if each["name"] != "state"]
    assert names == ["first", *["within"] * 3, name, "second", "third"]
    assert {node: each["Count"] for node, each in times["node"].items() if node != "state"} == {
        "first": 1,
        "within": 3,
        name: 1,
        "second": 1,
        "third": 1,
    }
    assert times["node"][name]["Total"] >= times["node"]["within"]["Total"] > 0
    assert times["operator"]["Convolution"]["Total"] <= times["node"]["first"]["Total"]


def test_a_node_that_fails_has_no_record(file: Path) -> None:
    net = mx.sym.Custom(mx.sym.exp(mx.sym.Variable("x"), name="before"), op_type="fails_for_profiles", name="failing")
    executor = net.simple_bind(mx.cpu(), grad_req="null", x=(2,))
    mx.profiler.set_state("run")
    with pytest.raises(mx.MXNetError, match="ZeroDivisionError"):
        executor.forward()
    mx.profiler.set_state("stop")
    assert list(json.loads(mx.profiler.dumps(format="json"))["Time"]["node"]) == ["before"]


class Fails(mx.operator.CustomOp):
    def forward(self, is_train: bool, req: list, in_data: list, out_data: list, aux: list) -> None:
        raise ZeroDivisionError


@mx.operator.register("fails_for_profiles")
class FailsProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx: Any, shapes: list, dtypes: list) -> Fails:
        return Fails()
