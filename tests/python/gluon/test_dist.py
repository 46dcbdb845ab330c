"""Training by several workers over MPI: the numbers of one process, stores, and workers that end too early."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from _workers import MPIEXEC, ROOT, answers, needs_mpi, run, start

import mxlite as mx
from mxlite.kvstore import base

pytestmark = pytest.mark.one_binding


# ---- the numbers ----

_TRAIN = """
import hashlib, sys
import numpy as np
from mxnet import autograd, gluon
optimizer, update, clip, request, alone = json.loads(sys.argv[1])
kv = None if alone else mx.kv.create("dist_sync")
rank, workers = (0, 1) if alone else (kv.rank, kv.num_workers)
random = np.random.RandomState(0)
x, y = random.randn(50, 32, 20).astype("float32"), random.randint(0, 5, (50, 32))
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(64, activation="relu"), gluon.nn.Dense(64, activation="tanh"), gluon.nn.Dense(5))
mx.random.seed(3)
net.initialize(mx.init.Xavier())
net(mx.nd.zeros((1, 20)))
net.hybridize()
parameters = net.collect_params()
parameters.setattr("grad_req", request)
settings = {"sgd": {"learning_rate": 0.05, "momentum": 0.9}, "adam": {"learning_rate": 0.01}}[optimizer]
trainer = gluon.Trainer(parameters, optimizer, settings, kvstore=kv, update_on_kvstore=update)
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
share, losses = 32 // workers, []
for step in range(50):
    mine = slice(rank * share, (rank + 1) * share)
    for part in range(1 if request == "write" else 2):  # gradients of two halves are added up
        half = slice(mine.start, mine.stop) if request == "write" else slice(
            mine.start + part * share // 2, mine.start + (part + 1) * share // 2)
        with autograd.record():
            loss = loss_of(net(mx.nd.array(x[step][half])), mx.nd.array(y[step][half]))
        loss.backward()
        losses.append(float(loss.sum().asscalar()))
    if clip:
        for each in parameters.values():
            each.grad()[:] *= 0.5
    trainer.step(32)
    if request == "add":
        parameters.zero_grad()
bits = b"".join(each.data().asnumpy().tobytes() for each in parameters.values())
early = [each.early for each in kv._sums._buckets] if kv else []
tell(rank, [losses, hashlib.sha256(bits).hexdigest(), early])
"""


@needs_mpi
@pytest.mark.parametrize("optimizer", ["sgd", pytest.param("adam", marks=pytest.mark.whole)])
@pytest.mark.parametrize(
    ("update", "clip", "request_", "early"),
    [
        pytest.param(None, False, "write", [True, True, False], marks=pytest.mark.whole),
        pytest.param(False, False, "write", [True, True, False], marks=pytest.mark.whole),
        (False, True, "write", [False, False, False]),  # edited after they have left: sent again, later ones wait
        (True, False, "add", [False, False, False]),
    ],
)
def test_losses_of_four_workers_are_those_of_one_process(
    optimizer: str, update: bool | None, clip: bool, request_: str, early: list[bool], tmp_path: Path
) -> None:
    given = [optimizer, update, clip, request_]
    (one,) = answers(_TRAIN, tmp_path, json.dumps([optimizer, None, clip, request_, True]), workers=0)
    four = answers(_TRAIN, tmp_path, json.dumps([*given, False]), MXLITE_BUCKET_BYTES="6000")
    losses = np.sum([each[0] for each in four], axis=0)
    steps = 50 if request_ == "write" else 100
    assert losses.shape == (steps,)
    np.testing.assert_allclose(losses.reshape(50, -1).sum(1), np.reshape(one[0], (50, -1)).sum(1), rtol=1e-5)
    assert len({each[1] for each in four}) == 1, "all workers have the same bits"
    assert [each[2] for each in four] == [early] * 4


@needs_mpi
@pytest.mark.whole
def test_three_workers_have_the_same_bits(tmp_path: Path) -> None:
    given = json.dumps(["adam", None, False, "write", False])
    found = answers(_TRAIN, tmp_path, given, workers=3, MXLITE_BUCKET_BYTES="6000")
    assert len({bits for _, bits, _ in found}) == 1


@needs_mpi
@pytest.mark.whole
def test_networks_of_several_dtypes_and_contexts(tmp_path: Path) -> None:
    source = """
    from mxnet import autograd, gluon
    kv = mx.kv.create("dist_device_sync")
    found = []
    for update in (False, True):
        for dtype in ("float16", "float32", "float64"):
            for count in (1, 2):
                store = mx.kv.create("dist")
                contexts = [mx.cpu(i) for i in range(count)]
                w = gluon.Parameter("w", shape=(3,), dtype=dtype)
                v = gluon.Parameter("v", shape=(2, 2))
                for each in (w, v):
                    each.initialize(mx.init.Constant(kv.rank + 1), ctx=contexts)
                trainer = gluon.Trainer([w, v], "sgd", {"learning_rate": 0.5}, kvstore=store, update_on_kvstore=update)
                for step in range(3):
                    with autograd.record():
                        losses = [(w.data(c) * (kv.rank + 1)).sum() + v.data(c).sum().astype(dtype) for c in contexts]
                    autograd.backward(losses)
                    trainer.step(2)
                found.append([each.asnumpy().tolist() for p in (w, v) for each in p.list_data()])
    tell(kv.rank, [kv.type, found])
    """
    kind, found = (four := answers(source, tmp_path))[0]
    assert kind == "dist_device_sync" and four == [four[0]] * 4
    for number, arrays in enumerate(found):
        count = 1 + number % 2
        w, v = 1 - 3 * 0.25 * 10 * count, 1 - 3 * 0.25 * 4 * count
        assert arrays == [[w] * 3] * count + [[[v] * 2] * 2] * count


@needs_mpi
def test_what_a_store_of_several_workers_does(tmp_path: Path) -> None:
    # The answers of 1.9.1 with two workers and a server.
    source = """
    kv = mx.kv.create("dist_sync")
    out, found = mx.nd.zeros((2,)), [kv.type, kv.num_workers]
    def pulled(key):
        kv.pull(key, out=out)
        found.append(out.asnumpy().tolist())
    kv.init("a", mx.nd.ones((2,)) * (kv.rank + 1))
    pulled("a")
    kv.push("a", mx.nd.ones((2,)) * (kv.rank + 1))
    pulled("a")
    value = mx.nd.ones((2,)) * (kv.rank + 1)
    kv.pushpull("a", value, out=out)
    found.append(out.asnumpy().tolist())
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
    kv.push("a", mx.nd.ones((2,)))
    pulled("a")
    kv.broadcast("b", mx.nd.ones((2,)) * (kv.rank + 5), out=out)
    found.append(out.asnumpy().tolist())
    kv.push(["a", "b"], [[mx.nd.ones((2,)), mx.nd.ones((2,))], mx.nd.ones((2,))])
    pulled("a")
    pulled("b")
    kv.barrier()
    kv.save_optimizer_states(os.environ["FOLDER"] + "/states")
    kv.barrier()
    kv.load_optimizer_states(os.environ["FOLDER"] + "/states")
    errors = [
        lambda: kv.push("zz", value), lambda: kv.init("a", value), lambda: kv.init(["a", "c"], [value, value]),
        lambda: kv.push(3, value), lambda: kv.set_gradient_compression({"type": "2bit"}),
        lambda: kv.push("ab"[kv.rank], value),
    ]
    for each in errors:
        try:
            each()
        except mx.MXNetError as error:
            found.append(str(error))
    tell(kv.rank, found)
    """
    found, other = answers(source, tmp_path, workers=2)
    assert found[:2] == ["dist_sync", 2]
    assert found[2:9] == [[each] * 2 for each in (1.0, 3.0, 3.0, 2.0, 5.0, 0.0, 4.0)]
    assert found[:-1] == other[:-1] and len(found) == 15
    words = [
        "there is no key",
        "is in the store already",
        "is in the store already",
        "either all texts",
        "gradient compression is not in mxlite",
    ]
    for text, word in zip(found[9:14], words):
        assert word in text
    assert "worker 1 does not call the same as worker 0" in found[14] and "this is worker 1" in other[14]


@needs_mpi
def test_a_trainer_s_own_rules(tmp_path: Path) -> None:
    source = """
    from mxnet import autograd, gluon
    kv = mx.kv.create("dist_sync")
    def step(trainer, parameter, size=1):
        with autograd.record():
            loss = (parameter.data() * (kv.rank + 1)).sum()
        loss.backward()
        trainer.step(size)
        return parameter.data().asnumpy().tolist()
    p = gluon.Parameter("p", shape=(2,))
    p.initialize(mx.init.One())
    p.lr_mult = 2
    trainer = gluon.Trainer([p], "sgd", {"learning_rate": 0.5}, kvstore="dist_sync")
    found = [step(trainer, p)]
    trainer.set_learning_rate(1)
    found.append(step(trainer, p))
    for bad in (lambda: step(trainer, p, 2), trainer.allreduce_grads, lambda: p.set_data(mx.nd.ones((2,)))):
        try:
            bad()
        except Exception as error:
            found.append("AssertionError" if isinstance(error, AssertionError) else type(error).__name__)
    tell(kv.rank, found)
    """
    found, other = answers(source, tmp_path, workers=2)
    assert found == other == [[-2.0] * 2, [-8.0] * 2, "UserWarning", "AssertionError", "RuntimeError"]


# ---- ends ----

_LOOP = """
import os, signal, sys, time
import mxnet as mx
from mxnet import autograd, gluon
def leave(how):
    if how == "raise":
        raise ValueError("a bad batch")
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "os._exit":
        os._exit(0)
    sys.exit(int(how))
how, when, pids = sys.argv[1], int(sys.argv[2]), os.environ["FOLDER"] + "/pids"
with open(pids, "a") as file:
    file.write(f"{os.getpid()}\\n{os.getppid()}\\n")
me = int(os.environ.get("PMI_RANK") or os.environ["OMPI_COMM_WORLD_RANK"])
if me == 2 and when < 0:
    leave(how)
net = gluon.nn.Dense(3, in_units=4)
net.initialize()
trainer = gluon.Trainer(net.collect_params(), "sgd", kvstore="dist_sync")
for step in range(100000):
    if me == 2 and step == when:
        leave(how)
    with autograd.record():
        loss = net(mx.nd.ones((2, 4))).sum()
    loss.backward()
    trainer.step(2)
"""


def _ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def _pids(folder: Path) -> set[int]:
    """The processes of the workers that have begun, and their watchers."""
    file = folder / "pids"
    return {int(each) for each in file.read_text().split()} if file.exists() else set()


def _all_end(folder: Path) -> bool:
    left, end = _pids(folder), time.monotonic() + 20
    while left and time.monotonic() < end:
        left = {each for each in left if not _ended(each)}
        time.sleep(0.05)
    return not left


@needs_mpi
@pytest.mark.parametrize(
    "when", [pytest.param(-1, id="before the store", marks=pytest.mark.whole), pytest.param(5, id="in the loop")]
)
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("raise", "worker 2 of 4 (...) ended with ValueError: a bad batch"),
        ("kill", "worker 2 of 4 (...) was ended by SIGKILL"),
        ("0", "worker 2 of 4 has left its script, while worker 0 waits for it"),
        ("3", "worker 2 of 4 (...) ended with exit status 3"),
        ("os._exit", "worker 2 of 4 (...) ended with exit status 0, not at the end of its script"),
    ],
)
def test_a_worker_that_ends_ends_the_others(how: str, words: str, when: int, tmp_path: Path) -> None:
    began = time.monotonic()
    done = run(_LOOP, tmp_path, how, str(when))
    assert time.monotonic() - began < 60
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("mxlite: worker")]
    assert len(lines) == 1, done.stderr
    assert words in re.sub(r"\(process \d+ on [^)]*\)", "(...)", lines[0])
    if how == "raise":
        assert done.stderr.count("Traceback") == 1
    assert _all_end(tmp_path)


@needs_mpi
def test_workers_end_with_the_command_that_started_them(tmp_path: Path) -> None:
    started = start(_LOOP, tmp_path, "0", "1000000000")
    end = time.monotonic() + 60
    while time.monotonic() < end and len(_pids(tmp_path)) < 8:
        time.sleep(0.1)
    assert len(_pids(tmp_path)) == 8
    started.kill()
    started.communicate(timeout=60)
    assert _all_end(tmp_path)


_SHARED = """
import os, signal, sys, time
import mxnet as mx
kv = mx.kv.create("dist_sync")
with open(os.environ["FOLDER"] + "/shared", "a") as file:
    file.write("".join(line.split()[-1] + "\\n" for line in open("/proc/self/maps") if "/dev/shm/mpich" in line))
if kv.rank == 1:
    if sys.argv[1] == "abort":
        os.abort()
    if sys.argv[1] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[1] == "MPI_Abort":
        from mpi4py import MPI
        MPI.COMM_WORLD.Abort(3)
    if sys.argv[1] == "raise":
        raise ValueError("a bad batch")
if sys.argv[1] != "well":
    time.sleep(600)
"""


def _shared_files(folder: Path, workers: int) -> set[Path]:
    """The files in /dev/shm that workers have, when as many of them have told."""
    told, end = folder / "shared", time.monotonic() + 60
    while time.monotonic() < end and (not told.exists() or told.read_text().count("mpich") < workers):
        time.sleep(0.05)
    return {Path(each) for each in told.read_text().split()}


@needs_mpi
@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="the system has no /dev/shm")
def test_no_shared_memory_is_left(tmp_path: Path) -> None:
    """Nor is any taken from another run, which waits meanwhile, or from others."""
    folders = {how: tmp_path / how for how in ("wait", "abort", "kill", "MPI_Abort")}
    for each in folders.values():
        each.mkdir()
    others = Path(f"/dev/shm/mpich_shm_others_{os.getpid()}")
    others.touch()
    waiting = start(_SHARED, folders["wait"], "wait", workers=2)
    try:
        of_it = _shared_files(folders.pop("wait"), 2)
        for how, folder in folders.items():
            status = run(_SHARED, folder, how, workers=2).returncode
            assert status == 3 if how == "MPI_Abort" else status != 0
            found = _shared_files(folder, 2)
            assert found
            assert not [each for each in found if each.exists()]
        assert of_it
        assert all(each.exists() for each in of_it)
        assert others.exists()
    finally:
        others.unlink()
        waiting.terminate()
        waiting.communicate(timeout=60)
    assert waiting.returncode != 0
    assert not [each for each in of_it if each.exists()]


@needs_mpi
@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="the system has no /dev/shm")
def test_no_shared_memory_is_left_by_a_killed_command(tmp_path: Path) -> None:
    started = start(_SHARED, tmp_path, "wait", workers=2)
    found = _shared_files(tmp_path, 2)
    assert found
    started.kill()
    started.communicate(timeout=60)
    end = time.monotonic() + 20
    while any(each.exists() for each in found) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [each for each in found if each.exists()]


@needs_mpi
def test_mpiexec_starts_workers_too(tmp_path: Path) -> None:
    """What the workers say goes to files: where a system has no /sys, MPICH's mpiexec complains of that on stdout."""
    source = f"""
    import pathlib
    import mxnet as mx
    kv = mx.kv.create("dist_sync")
    kv.barrier()
    pathlib.Path({str(tmp_path)!r}, f"said-{{kv.rank}}").write_text(f"{{kv.rank}}/{{kv.num_workers}}")
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(source))
    command = [str(MPIEXEC), "-n", "2", sys.executable, "-m", "mxlite", "run", str(tmp_path / "script.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert sorted(path.read_text() for path in tmp_path.glob("said-*")) == ["0/2", "1/2"], done.stderr


@needs_mpi
def test_a_bad_setting_is_named(tmp_path: Path) -> None:
    source = """
    import mxnet as mx
    p = mx.gluon.Parameter("p", shape=(2,))
    p.initialize()
    mx.gluon.Trainer([p], "sgd", kvstore="dist_sync").step(1)
    """
    done = run(source, tmp_path, workers=0, MXLITE_BUCKET_BYTES="many")
    assert done.returncode == 1 and "MXLITE_BUCKET_BYTES must be a number of bytes, got 'many'" in done.stderr


@needs_mpi
def test_one_process_alone_is_a_store_of_one_worker(tmp_path: Path) -> None:
    source = "kv = mx.kv.create('dist_sync')\nkv.init(1, mx.nd.ones(2))\ntell(0, [kv.rank, kv.num_workers])"
    assert answers(source, tmp_path, workers=0) == [[0, 1]]


# ---- what is refused ----


@pytest.mark.parametrize("kind", ["dist_async", "dist_device_async", "p3", "dist_sync_p3", "horovod", "byteps", "nccl"])
def test_stores_that_are_missing_are_refused_by_name(kind: str) -> None:
    with pytest.raises(mx.MXNetError, match=f"'{kind}' is not in mxlite"):
        mx.kv.create(kind)


def test_a_missing_mpi_names_the_extra(tmp_path: Path) -> None:
    (tmp_path / "mpi4py").mkdir()
    (tmp_path / "mpi4py/__init__.py").write_text("raise ImportError('no such thing')")
    source = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport mxlite as mx\nmx.kv.create('dist_sync')"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode == 1
    assert "ImportError: kvstores over several workers need mpi4py and an MPI: pip install mxlite[mpi]" in done.stderr


def test_a_store_of_one_s_own_keeps_its_name() -> None:
    class Byteps(base.KVStoreBase):
        pass

    base.KVStoreBase.register(Byteps)
    try:
        assert type(mx.kv.create("byteps")) is Byteps
    finally:
        del base.KVStoreBase.kv_registry["byteps"]
