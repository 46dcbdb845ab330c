"""One library in one process: times the cases of the table below on large arrays.

Run by large.py under the interpreter that holds the library: ``large_worker.py PEER THREADS`` with PEER one of
mxlite, torch, mxnet, numpy. Each request is ``CASE<tab>SIZE<tab>COUNT``, each answer the nanoseconds of one call.
"""

from __future__ import annotations

import gc
import math
import sys
import time
from dataclasses import dataclass, field
from typing import Any

SIZES = (1_000, 100_000, 1_000_000, 10_000_000)
N = ("n",)
GRID = ("rows", "cols")
MATRIX = (1024, 1000)
IMAGES = (16, 64, 56, 56)


@dataclass(frozen=True)
class Case:
    """What each library runs: an expression, or statements that bind `z`. Inputs are named by shape, float32 draws of
    the normal distribution unless `kinds` says "float64", or an upper bound of whole numbers.
    """

    name: str
    inputs: dict[str, tuple[Any, ...]]
    mx: str
    torch: str
    numpy: str = ""
    floor: str = ""  # the loop of floor.c with the same reads and writes
    sizes: tuple[int, ...] = (0,)
    product: bool = False
    kinds: dict[str, Any] = field(default_factory=dict)
    mx_before: str = ""
    torch_before: str = ""


def each_size(name: str, mx: str, torch: str, numpy: str = "", **more: Any) -> Case:
    inputs = {v: more.pop(v, N) for v in more.pop("inputs", "a")}
    return Case(name, inputs, mx, torch, numpy, sizes=SIZES, **more)


def matrix(name: str, mx: str, torch: str, numpy: str = "", **more: Any) -> Case:
    return Case(name, {"a": MATRIX}, mx, torch, numpy, **more)


def product(
    name: str, left: tuple[int, ...], right: tuple[int, ...], mx: str, torch: str, numpy: str, **k: Any
) -> Case:
    return Case(name, {"a": left, "b": right}, mx, torch, numpy, product=True, kinds=k)


def square(n: int, kind: str = "float32") -> Case:
    name = f"dot {n}" if kind == "float32" else f"dot {n} {kind}"
    return product(name, (n, n), (n, n), "nd.dot(a, b)", "torch.mm(a, b)", "a @ b", a=kind, b=kind)


CHAIN = "{relu}(a * b + c) * d - a"
GELU = "a * (erf(a * 0.7071067811865476) + 1) * 0.5"
LEAVES = "(a, b, c, d)"
SMALL = 1_000  # elements of an each_size; such calls are never deferred
STEPS = 100
STEP_LENGTH = 100_000

CASES = [
    each_size("add", "a + b", "a + b", "a + b", inputs="ab", floor="add"),
    each_size(
        "add out",
        "z = nd.elemwise_add(a, b, out=c)",
        "z = torch.add(a, b, out=c)",
        "z = numpy.add(a, b, out=c)",
        inputs="abc",
        floor="add",
    ),
    each_size("exp", "nd.exp(a)", "torch.exp(a)", "numpy.exp(a)"),
    each_size("tanh", "nd.tanh(a)", "torch.tanh(a)", "numpy.tanh(a)"),
    each_size("sigmoid", "nd.sigmoid(a)", "torch.sigmoid(a)"),
    each_size("gelu of operators", GELU.replace("erf", "nd.erf"), GELU.replace("erf", "torch.erf")),
    each_size("gelu", 'nd.LeakyReLU(a, act_type="gelu")', "F.gelu(a)"),
    each_size("chain", CHAIN.format(relu="nd.relu"), CHAIN.format(relu="torch.relu"), inputs="abcd", floor="chain"),
    each_size(
        "chain, gradient",
        f"with autograd.record():\n    z = {CHAIN.format(relu='nd.relu')}\nz.backward()",
        f"for v in {LEAVES}: v.grad = None\nz = {CHAIN.format(relu='torch.relu')}\nz.backward(torch.ones_like(z))",
        inputs="abcd",
        mx_before=f"for v in {LEAVES}: v.attach_grad()",
        torch_before=f"for v in {LEAVES}: v.requires_grad_()",
    ),
    each_size("add row", "nd.broadcast_add(a, b)", "a + b", "a + b", inputs="ab", a=GRID, b=(1, "cols"), floor="row"),
    each_size(
        "add outer",
        "nd.broadcast_add(a, b)",
        "a + b",
        "a + b",
        inputs="ab",
        a=("rows", 1),
        b=(1, "cols"),
        floor="outer",
    ),
    # ---- 1024 x 1000
    matrix("sum", "nd.sum(a)", "a.sum()", "a.sum()", floor="sum"),
    matrix("sum axis 0", "nd.sum(a, axis=0)", "a.sum(0)", "a.sum(0)", floor="sum"),
    matrix("sum axis 1", "nd.sum(a, axis=1)", "a.sum(1)", "a.sum(1)", floor="sum"),
    matrix("mean", "nd.mean(a)", "a.mean()", "a.mean()", floor="sum"),
    matrix("argmax", "nd.argmax(a, axis=1)", "a.argmax(1)", "a.argmax(1)"),
    matrix("softmax", "nd.softmax(a)", "F.softmax(a, -1)"),
    matrix("log_softmax", "nd.log_softmax(a)", "F.log_softmax(a, -1)"),
    # ---- movement; what is a view in PyTorch or NumPy is made contiguous there
    matrix("transpose", "nd.transpose(a)", "a.t().contiguous()", "a.T.copy()", floor="copy"),
    Case(
        "transpose NCHW to NHWC",
        {"a": IMAGES},
        "nd.transpose(a, axes=(0, 2, 3, 1))",
        "a.permute(0, 2, 3, 1).contiguous()",
        "a.transpose(0, 2, 3, 1).copy()",
    ),
    Case(
        "concat axis 0",
        {"a": MATRIX, "b": MATRIX},
        "nd.concat(a, b, dim=0)",
        "torch.cat((a, b), 0)",
        "numpy.concatenate((a, b), 0)",
    ),
    Case(
        "concat axis 1",
        {"a": MATRIX, "b": MATRIX},
        "nd.concat(a, b, dim=1)",
        "torch.cat((a, b), 1)",
        "numpy.concatenate((a, b), 1)",
    ),
    matrix(
        "slice", "nd.slice_axis(a, axis=1, begin=100, end=900)", "a[:, 100:900].contiguous()", "a[:, 100:900].copy()"
    ),
    Case(
        "take rows",
        {"a": (50_000, 128), "i": (10_000,)},
        "nd.take(a, i)",
        "torch.index_select(a, 0, i)",
        "a.take(i, 0)",
        kinds={"i": 50_000},
    ),
    matrix("repeat", "nd.repeat(a, repeats=2, axis=1)", "a.repeat_interleave(2, 1)", "a.repeat(2, 1)"),
    matrix("tile", "nd.tile(a, reps=(2, 2))", "a.repeat(2, 2)", "numpy.tile(a, (2, 2))"),
    Case(
        "pad",
        {"a": IMAGES},
        'nd.pad(a, mode="constant", pad_width=(0, 0, 0, 0, 1, 1, 1, 1), constant_value=0)',
        "F.pad(a, (1, 1, 1, 1))",
    ),
    # ---- order
    matrix("topk 10", 'nd.topk(a, k=10, ret_typ="both")', "torch.topk(a, 10)"),
    matrix("sort", "nd.sort(a)", "torch.sort(a)", "numpy.sort(a)"),
    matrix("argsort", "nd.argsort(a)", "torch.argsort(a)", "numpy.argsort(a)"),
    Case("sort flat", {"a": (1_000_000,)}, "nd.sort(a)", "torch.sort(a)", "numpy.sort(a)"),
    Case("argsort flat", {"a": (1_000_000,)}, "nd.argsort(a)", "torch.argsort(a)", "numpy.argsort(a)"),
    # ---- products
    square(64),
    square(256),
    square(1024),
    square(2048),
    square(1024, "float64"),
    product(
        "dot 1024 transposed", (1024, 1024), (1024, 1024), "nd.dot(a, b, transpose_b=True)", "a @ b.t()", "a @ b.T"
    ),
    product("batch_dot", (32, 128, 64), (32, 64, 128), "nd.batch_dot(a, b)", "torch.bmm(a, b)", "a @ b"),
    Case(
        "FullyConnected",
        {"a": (256, 1024), "w": (1000, 1024), "b": (1000,)},
        "nd.FullyConnected(a, w, b, num_hidden=1000)",
        "F.linear(a, w, b)",
        "a @ w.T + b",
        product=True,
    ),
    # ---- a step over STEPS arrays of STEP_LENGTH
    Case(
        "sgd_mom_update",
        {},
        "for w, g, m in steps: z = nd.sgd_mom_update(w, g, m, lr=0.01, momentum=0.9, out=w)",
        "z = optimizer.step()",
        floor="sgd",
        mx_before="steps = [tuple(draw(STEP_LENGTH) for _ in 'wgm') for _ in range(STEPS)]",
        torch_before="parameters = grown(STEPS)\noptimizer = torch.optim.SGD(parameters, lr=0.01, momentum=0.9)",
    ),
    Case(
        "adam_update",
        {},
        "for w, g, m, v in steps: z = nd.adam_update(w, g, m, v, lr=0.001, out=w)",
        "z = optimizer.step()",
        floor="adam",
        mx_before="steps = [tuple(draw(STEP_LENGTH) ** 2 for _ in 'wgmv') for _ in range(STEPS)]",
        torch_before="parameters = grown(STEPS)\noptimizer = torch.optim.Adam(parameters, lr=0.001)",
    ),
]


class Peer:
    """A library: how an array is made of NumPy's, what names the expressions see, when results are there."""

    column = "numpy"
    #: What follows each call: mxlite would not compute a large result that nobody reads before it is freed.
    after = ""

    def __init__(self, threads: int) -> None:
        import numpy

        self.numpy = numpy
        self.version = numpy.__version__
        self.names: dict[str, Any] = {"numpy": numpy}

    def array(self, values: Any) -> Any:
        return values

    def wait(self) -> None:
        """Until everything that was asked for has been computed."""

    def draw(self, *shape: int, kind: Any = "float32") -> Any:
        random, count = self.numpy.random.RandomState(len(shape)), math.prod(shape)
        if isinstance(kind, int):
            return self.array(random.randint(0, kind, count).astype("int32").reshape(shape))
        # A million draws, again and again: drawing more would take longer than measuring.
        values = self.numpy.resize(random.standard_normal(min(count, 1_000_000)), shape)
        return self.array(values.astype(kind))


class Torch(Peer):
    column = "torch"

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        import torch

        torch.set_num_threads(threads)
        self.version = torch.__version__
        self.lib = torch
        self.names = {"torch": torch, "F": torch.nn.functional, "grown": self.grown}

    def array(self, values: Any) -> Any:
        return self.lib.tensor(values)  # a copy, in memory of PyTorch's own

    def grown(self, count: int) -> list[Any]:
        """Parameters with a gradient."""
        parameters = [self.draw(STEP_LENGTH).requires_grad_() for _ in range(count)]
        for p in parameters:
            p.grad = self.draw(STEP_LENGTH)
        return parameters


class MXNet(Peer):
    """The real one and mxlite: the same code, another import."""

    column = "mx"

    def __init__(self, name: str, threads: int) -> None:
        super().__init__(threads)
        self.lib = __import__(name)
        self.after = "waitall()" if name == "mxlite" else ""
        self.version = self.lib.__version__
        self.names = {"mx": self.lib, "nd": self.lib.nd, "autograd": self.lib.autograd, "waitall": self.lib.nd.waitall}

    def array(self, values: Any) -> Any:
        return self.lib.nd.array(values, dtype=values.dtype)

    def wait(self) -> None:
        self.lib.nd.waitall()


PEERS = {
    "numpy": Peer,
    "torch": Torch,
    "mxnet": lambda threads: MXNet("mxnet", threads),
    "mxlite": lambda threads: MXNet("mxlite", threads),
}

LOOP = """
def loop(count):
    for _ in range(count):
{body}
"""


def prepare(peer: Peer, case: Case, size: int) -> Any:
    """The case's loop over a number of calls. `z` holds a result until the next replaces it, as in a user's program."""
    code = getattr(case, peer.column)
    if not code:
        return None
    cols = 100 if size == 1_000 else 1_000
    extents = {"n": size, "rows": size // cols, "cols": cols}
    names = dict(peer.names, draw=peer.draw, STEPS=STEPS, STEP_LENGTH=STEP_LENGTH)
    for name, shape in case.inputs.items():
        kind = case.kinds.get(name, "float32")
        names[name] = peer.draw(*(extents.get(n, n) for n in shape), kind=kind)
    before = "" if peer.column == "numpy" else getattr(case, peer.column + "_before")
    exec(before, names)
    try:
        compile(code, case.name, "eval")
        code = "z = " + code
    except SyntaxError:
        pass
    lines = [*code.split("\n"), *([peer.after] if size != SMALL else [])]
    body = "\n".join("        " + line for line in lines)
    exec(LOOP.format(body=body), names)
    return names["loop"]


def work(table: list[Case]) -> None:
    """Answers requests until there are no more."""
    peer = PEERS[sys.argv[1]](int(sys.argv[2]))
    cases = {c.name: c for c in table}
    gc.disable()
    print(peer.version, flush=True)
    prepared, loop = None, None
    for line in sys.stdin:
        name, size, count = line.rstrip("\n").split("\t")
        if prepared != (name, size):
            loop = None  # the arrays of the case before go first
            loop = prepare(peer, cases[name], int(size))
            prepared = (name, size)
        if loop is None:
            print("nan", flush=True)
            continue
        loop(1 + int(count) // 8)
        peer.wait()
        begin = time.perf_counter_ns()
        loop(int(count))
        peer.wait()
        nanoseconds = (time.perf_counter_ns() - begin) / int(count)
        # Before the answer, since after it another process is measured: threads that spin are asleep by then.
        gc.collect()
        time.sleep(0.008)
        print(nanoseconds, flush=True)


if __name__ == "__main__":
    work(CASES)
