"""The end of a program: whatever of the package is alive then, nothing is printed but the program's own words."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import pkgutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import mxlite
from mxlite import _lib

ROOT = Path(__file__).resolve().parents[3]

#: Objects of each class that has a handle, a thread, a process, a callback of the library's, or a file.
_ALIVE = """
    import os, sys, tempfile
    import numpy as np
    import mxlite as mx
    import mxlite.torch as torch
    from mxlite import autograd, gluon, nd, profiler

    folder = tempfile.mkdtemp()
    np.savetxt(folder + "/x.csv", np.ones((4, 2)), delimiter=",")
    writer = mx.recordio.MXIndexedRecordIO(folder + "/x.idx", folder + "/x.rec", "w")
    for number in range(20):
        header = mx.recordio.IRHeader(0, float(number), number, 0)
        writer.write_idx(number, mx.recordio.pack_img(header, np.full((6, 6, 3), number, np.uint8), img_fmt=".png"))
    writer.fidx.flush()

    class Same(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0])
        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], out_grad[0])

    @mx.operator.register("same_at_exit")
    class SameProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Same()

    class Twice(autograd.Function):
        def forward(self, x):
            self.save_for_backward(x)
            return x * 2
        def backward(self, dy):
            return dy * 2

    class TorchTwice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2
        @staticmethod
        def backward(ctx, dy):
            return dy * 2

    def iterators():
        found = [
            mx.io.ImageRecordIter(path_imgrec=folder + "/x.rec", data_shape=(3, 6, 6), batch_size=4),
            mx.io.CSVIter(data_csv=folder + "/x.csv", data_shape=(2,), batch_size=2),
            mx.io.PrefetchingIter(mx.io.NDArrayIter(nd.ones((20, 3)), batch_size=4)),
        ]
        return found, [next(each) for each in found]

    def loaders():
        data = gluon.data.SimpleDataset(list(range(200)))
        found = [iter(gluon.data.DataLoader(data, 2, num_workers=2, thread_pool=threads)) for threads in (False, True)]
        return found, [next(each) for each in found]

    def records():
        return writer, mx.recordio.MXRecordIO(folder + "/x.rec", "r")

    def modules():
        x = mx.sym.var("data")
        made = mx.mod.Module(mx.sym.Custom(x, op_type="same_at_exit"), ["data"], None)
        made.bind([("data", (2, 2))])
        made.init_params()
        made.forward(mx.io.DataBatch([nd.ones((2, 2))]))
        executor = (x * 2).bind(mx.cpu(), {"data": nd.ones(2)})
        executor.set_monitor_callback(lambda name, array: None)
        return made, executor, executor.forward(), mx.sym.Group([x, x + 1])

    def blocks():
        net = gluon.nn.Dense(2)
        net.initialize()
        net.hybridize()
        net.register_op_hook(lambda name, operator, array: None)
        net.register_forward_hook(lambda block, given, made: None)
        trainer = gluon.Trainer(net.collect_params(), "adam", kvstore=mx.kv.create("local"))
        with autograd.record():
            loss = net(nd.ones((2, 2))).sum()
        loss.backward()
        trainer.step(1)
        return net, trainer, loss

    def graphs():
        x = nd.ones(3)
        x.attach_grad()
        with autograd.record(), autograd.saved_tensors_hooks(lambda a: a, lambda a: a):
            y = Twice()(x)
            z = nd.Custom(y * y, op_type="same_at_exit")
        y.retain_grad()
        hooks = [y.register_hook(lambda g: None), y.grad_fn.register_hook(lambda *g: None)]
        return x, y, z, hooks, z.grad_fn, z.grad_fn.next_functions

    def tensors():
        x = torch.ones(3, requires_grad=True)
        y = TorchTwice.apply(x)
        layer = torch.nn.Linear(3, 2)
        layer.register_forward_hook(lambda *given: None)
        z = torch.utils.checkpoint.checkpoint(layer, y, use_reentrant=False)
        y.retain_grad()
        return x, y, layer, z, z.register_hook(lambda g: None), z.grad_fn, torch.optim.Adam(layer.parameters())

    def memory():
        values = np.ones(5, np.float32)
        x = nd.ones(4)
        return mx.nd.from_numpy(values), values, x.to_dlpack_for_read(), x.__dlpack__(max_version=(1, 0))

    def measures():
        domain = profiler.Domain("own")
        return domain, domain.new_task("task"), domain.new_counter("counter"), domain.new_marker("marker")

    KINDS = dict(iterators=iterators, loaders=loaders, records=records, modules=modules, blocks=blocks, graphs=graphs,
                 tensors=tensors, memory=memory, measures=measures)
"""

#: Where the objects are when the interpreter ends: it takes these apart at different times.
_PLACES = {
    "a module": "alive = made",
    "builtins": "import builtins; builtins.alive = made",
    "a cycle": "import gc; gc.disable(); made.append(made); del made",
    "the package": "import mxlite.base; mxlite.base.alive = made; sys.alive = made",
}
_ENDS = {"well": ("", 0), "an exception": ("raise ValueError('its own')", 1), "exit": ("sys.exit(3)", 3)}


def _run(program: str, end: int, words: list[str], folder: Path) -> None:
    script = folder / "script.py"
    script.write_text(textwrap.dedent(_ALIVE) + program)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, *words, str(script)], env=environment, capture_output=True, text=True, timeout=120, cwd=folder
    )
    assert (run.returncode, run.stdout) == (end, ""), run.stderr
    lines = run.stderr.splitlines()
    assert not lines if end != 1 else (lines[-1], lines.count(lines[0])) == ("ValueError: its own", 1), run.stderr


@pytest.mark.parametrize(
    ("place", "end"),
    [("a module", "an exception"), ("builtins", "well"), ("a cycle", "exit"), ("the package", "an exception")],
)
def test_nothing_is_said(place: str, end: str, tmp_path: Path) -> None:
    statement, status = _ENDS[end]
    words = ["-m", "mxlite", "run"] if end == "an exception" else []
    made = "made = [(name, make()) for name, make in KINDS.items()]"
    _run("\n".join([made, _PLACES[place], statement]), status, words, tmp_path)


def test_destructors_need_no_module() -> None:
    """Each `__del__` of the package is a slot that holds a function of the library, or made by `destructor`."""
    classes = set()
    left_out = ["__main__", "build_cffi", "_watch"]
    if importlib.util.find_spec("mxlite._mxlite_cffi") is None:
        left_out.append("hot_cffi")
    for module in pkgutil.walk_packages(mxlite.__path__, "mxlite."):
        if not module.name.endswith(tuple(left_out)) and "kvstore._world" not in module.name:
            found = vars(importlib.import_module(module.name)).values()
            classes.update(each for each in found if isinstance(each, type) and "__del__" in vars(each))
    own = [each for each in classes if each.__module__.startswith("mxlite")]
    assert _lib.Handle in own
    for each in own:
        function = vars(each)["__del__"]
        known = getattr(function, "__qualname__", "")
        assert type(function).__name__ != "function" or known.startswith("destructor."), each


def test_the_source_has_one_guard() -> None:
    """The same of every `__del__` that is written anywhere in the package, also within functions."""
    guarded, slots = [], []
    for path in sorted((ROOT / "mxlite").rglob("*.py")):
        name = path.relative_to(ROOT / "mxlite").as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == "__del__":
                inside = name == "_ends.py"  # what the guard makes
                assert inside or [ast.unparse(each) for each in node.decorator_list] == ["destructor"], name
                guarded.append(name)
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                written = {ast.unparse(each) for each in targets}
                if any(each.endswith("__del__") for each in written):
                    function = "" if node.value is None else ast.unparse(node.value)
                    assert function.startswith("MethodType(free"), name  # one of the library
                    slots.append(name)
    assert "_ends.py" in guarded and len(guarded) > 2 and set(slots) == {"_lib/__init__.py", "_lib/hot_ctypes.py"}
