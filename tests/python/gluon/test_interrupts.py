"""Ctrl-C at any moment of loops over loaders and iterators: it is not lost, and leaves no process, file or line."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods() or not os.path.isdir("/proc/self/fd"),
    reason="the system cannot fork, or has no /proc",
)

ROOT = Path(__file__).resolve().parents[3]

#: Interrupts a loop again and again, the signal coming after a random time; then looks at what is left.
_PROGRAM = """
import gc, os, random, signal, sys, threading, time
import numpy as np
import mxlite as mx
from mxlite import gluon, nd

kind, seed, path = sys.argv[1:]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits one that is ignored
rng = random.Random(int(seed))
data = gluon.data.SimpleDataset(list(range(100)))

def workers():
    for batch in gluon.data.DataLoader(data, 5, num_workers=2): batch + 1

def kept_workers(loader=[]):
    if not loader:
        loader.append(gluon.data.DataLoader(data, 5, num_workers=2))
    for batch in loader[0]: batch + 1

def threads():
    for batch in gluon.data.DataLoader(data, 5, num_workers=2, thread_pool=True): batch + 1

def prefetching():
    for batch in mx.io.PrefetchingIter(mx.io.NDArrayIter(nd.ones((100, 3)), batch_size=5)): batch.data[0] + 1

def images():
    for batch in mx.io.ImageRecordIter(path_imgrec=path, data_shape=(3, 8, 8), batch_size=5): batch.data[0] + 1

def estimator():
    net = gluon.nn.Dense(1)
    net.initialize()
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(nd.ones((40, 3)), nd.ones((40, 1))), 5, num_workers=1)
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    fitted = gluon.contrib.estimator.Estimator(net, gluon.loss.L2Loss(), mx.metric.MAE(), trainer=trainer)
    fitted.logger.disabled = True
    fitted.fit(loader, epochs=1)

def children():
    own = str(os.getpid())
    stats = []
    for each in os.listdir("/proc"):
        try:
            stats += [open(f"/proc/{each}/stat").read().rsplit(")", 1)[1].split()[1]] if each.isdigit() else []
        except (FileNotFoundError, ProcessLookupError):
            pass
    return stats.count(own)

def state():
    gc.collect()
    return children(), len(os.listdir("/proc/self/fd")), [each for each in os.listdir("/dev/shm") if "mxlite" in each]

loop = globals()[kind]
loop()
caught = threading.Event()

def killer(after):
    time.sleep(after)
    os.kill(os.getpid(), signal.SIGINT)
    if not caught.wait(20):
        os._exit(3)  # it was lost

before = state()[1] if kind != "kept_workers" else 0
for round in range(8):
    caught.clear()
    thread = threading.Thread(target=killer, args=(rng.choice([0.002, 0.02, 0.1]) * rng.random(),))
    try:
        thread.start()
        while True:
            loop()
    except KeyboardInterrupt:
        caught.set()
    thread.join()
kept_workers.__defaults__[0].clear()
end = time.monotonic() + 20
while state()[0] and time.monotonic() < end:
    time.sleep(0.02)
left = state()
assert left[0] == 0 and left[2] == [], left
assert left[1] <= (before or 12), (before, left)
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import numpy as np

    import mxlite as mx

    path = tmp_path_factory.mktemp("records") / "x.rec"
    writer = mx.recordio.MXRecordIO(path, "w")
    for number in range(60):
        header = mx.recordio.IRHeader(0, float(number), number, 0)
        writer.write(mx.recordio.pack_img(header, np.full((9, 9, 3), number, np.uint8), img_fmt=".png"))
    writer.close()
    return path


@pytest.mark.parametrize("seed", [int(os.environ.get("MXLITE_TEST_SEED", 1))])
@pytest.mark.parametrize("kind", ["workers", "kept_workers", "threads", "prefetching", "images", "estimator"])
def test_nothing_is_left(kind: str, seed: int, records: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _PROGRAM, kind, str(seed), str(records)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
