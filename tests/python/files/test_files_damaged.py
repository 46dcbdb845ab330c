"""Damaged files: an error or what the bytes say, in little memory. Saves that fail or die: the old file stays whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import _read_params
import numpy as np
import pytest
from _read_params import Damaged

import mxlite as mx
from mxlite.base import dtype_name
from mxlite.error import MXNetError

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/fuzz"))

import make_corpus  # noqa: E402

pytestmark = pytest.mark.one_binding

ALL = sorted((ROOT / "tests/reference/files").glob("*.params"))
FILES = [path for path in ALL if not path.stem.startswith("sparse")]
SPARSE = [path for path in ALL if path not in FILES]
LIES = (0, 1, 7, 33, 255, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 61, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
LIES += (_read_params.V1, _read_params.V2, _read_params.V3)
COUNT = 1000
#: What a load may take beyond what the process has: far more than 32 times the largest file, far less than any lie.
ROOM = 48 << 20


def damaged(count: int = COUNT, files: list[Path] = FILES) -> list[tuple[str, bytes, bool]]:
    """Files that are cut, have flipped bits, or numbers that lie, a third each; and the shape mode to load each in."""
    draw = random.Random(4)
    made = []
    for number in range(count):
        path = files[draw.randrange(len(files))]
        content = bytearray(path.read_bytes())
        how = ("cut", "flipped", "lying")[number % 3]
        if how == "cut":
            content = content[: draw.randrange(len(content))]
        elif how == "flipped":
            for _ in range(draw.choice((1, 1, 1, 2, 5))):
                content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        else:
            width = draw.choice((4, 8))
            at = draw.randrange(0, len(content) - width + 1, 4)
            content[at : at + width] = (draw.choice(LIES) % (1 << 8 * width)).to_bytes(width, "little")
        made.append(
            (f"{number}, {how} {path.stem}", bytes(content), draw.random() < (0.9 if path.stem == "numpy" else 0.1))
        )
    return made


def expected(content: bytes, numpy_shape: bool) -> list[tuple[str | None, _read_params.Array | None]] | None:
    """What the second reader finds; None: an error."""
    try:
        return _read_params.read(content, numpy_shape)
    except Damaged:
        return None


def agree(loaded: object, want: list) -> bool:
    """Whether what was loaded has the names, dtypes, shapes and bytes that are wanted."""
    if isinstance(loaded, dict):
        want = list({name: (name, array) for name, array in want}.values())
        pairs = list(loaded.items())
    else:
        pairs = [(None, array) for array in loaded]
    if [name for name, _ in pairs] != [name for name, _ in want]:
        return False
    return all(same(array, values) for (_, array), (_, values) in zip(pairs, want))


def same(array: mx.nd.NDArray, want: _read_params.Array | None) -> bool:
    """Whether an array has the dtype, shape and bytes that are wanted (None: it has no shape yet)."""
    if want is None or array.dtype is None:
        return want is None and array.dtype is None
    if (dtype_name(array.dtype), array.shape) != (want.dtype, want.shape):
        return False
    values = array.asnumpy()
    if want.dtype == "bfloat16":
        values = (values.view(np.uint32) >> 16).astype(np.uint16)
    return not want.values or values.tobytes() == want.values


def check_damaged(folder: Path) -> dict[str, int]:
    """Loads every damaged file, from disk and from memory; how many were read and refused."""
    outcomes = {"read": 0, "refused": 0}
    path = folder / "damaged"
    for what, content, numpy_shape in damaged():
        path.write_bytes(content)
        want = expected(content, numpy_shape)
        for load, source in ((mx.nd.load, path), (mx.nd.load_frombuffer, content)):
            with mx.np_shape(numpy_shape):
                try:
                    loaded = load(source)
                except MXNetError as problem:
                    assert want is None, f"{what}: {problem}"
                    assert "memory" not in str(problem), f"{what}: {problem}"
                    outcomes["refused"] += 1
                else:
                    assert want is not None, f"{what}: accepted"
                    assert agree(loaded, want), f"{what}: other values"
                    outcomes["read"] += 1
    return outcomes


def test_damaged_files_are_refused_or_read_right(tmp_path):
    outcomes = check_damaged(tmp_path)
    assert sum(outcomes.values()) == 2 * COUNT
    assert outcomes["read"] > COUNT // 5 and outcomes["refused"] > COUNT // 2


def test_undamaged_files_agree_with_the_second_reader():
    """Else the comparison above would prove nothing."""
    for path in FILES:
        numpy_shape = path.stem == "numpy"
        want = expected(path.read_bytes(), numpy_shape)
        assert want is not None
        with mx.np_shape(numpy_shape):
            assert agree(mx.nd.load(path), want)


def test_damaged_sparse_arrays_are_refused_or_used():
    """What is loaded can be read: indices are within the shape."""
    outcomes = {"refused": 0, "read": 0}
    for _, content, numpy_shape in damaged(COUNT // 2, SPARSE):
        with mx.np_shape(numpy_shape):
            try:
                loaded = mx.nd.load_frombuffer(content)
            except MXNetError:
                outcomes["refused"] += 1
                continue
        for each in loaded.values() if isinstance(loaded, dict) else loaded:
            if each.dtype is not None and np.prod(each.shape, dtype=float) < 1e6:
                each.asnumpy()
                outcomes["read"] += 1
    assert min(outcomes.values()) > 50, outcomes


@pytest.mark.parametrize("name", sorted(make_corpus.entries()))
def test_what_the_fuzzer_starts_from(name):
    content, message = make_corpus.entries()[name]
    path = make_corpus.paths()[name]
    assert path.read_bytes() == content
    want = expected(content, False)
    assert (want is None) == (message is not None or name == "sparse")
    if name == "sparse":
        assert [each.stype for each in mx.nd.load(path).values()] == ["csr", "row_sparse"] * 2
    elif message is None:
        assert agree(mx.nd.load(path), want)
    else:
        with pytest.raises(MXNetError, match=message):
            mx.nd.load(path)


def test_the_fuzzer_starts_from_nothing_else():
    found = {each for folder in ("loaded", "refused") for each in (make_corpus.CORPUS / folder).iterdir()}
    assert found == set(make_corpus.paths().values())


def in_a_child(code: str, *arguments: object) -> subprocess.CompletedProcess:
    """Runs Python code in a process of its own, in this folder."""
    path = os.pathsep.join([str(ROOT), str(Path(__file__).resolve().parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


LIMITED = f"""
import resource, sys
from pathlib import Path
import test_files_damaged as tests
pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + {ROOM}
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    bytearray({ROOM} * 2)
    sys.exit("the limit does not hold")
except MemoryError:
    pass
print(sum(tests.check_damaged(Path(sys.argv[1])).values()))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what a process has is read from /proc")
def test_damaged_files_ask_for_little_memory(tmp_path):
    """The address space of a process is limited to what it has and a little more: no lie makes a load fail for that."""
    done = in_a_child(LIMITED, tmp_path)
    assert done.returncode == 0 and int(done.stdout) == 2 * COUNT, done.stdout + done.stderr


# ---- saves that do not end well ----------------------------------------------------------------------------------

DYING = """
import resource, signal, sys
import mxlite as mx
arrays = {"a": mx.nd.ones((100, 100)), "b": mx.nd.arange(30)}
if sys.argv[3] == "die":
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    mx.nd.save(sys.argv[1], arrays)
except mx.MXNetError as problem:
    print(problem)
"""


@pytest.fixture
def old(tmp_path) -> Path:
    """A file that was saved before."""
    path = tmp_path / "weights.params"
    mx.nd.save(path, {"old": mx.nd.array([1, 2, 3])})
    return path


def is_old(path: Path) -> bool:
    """Whether it is what it was, to the last byte."""
    with mx.np_shape(False):
        arrays = mx.nd.load(path)
    return list(arrays) == ["old"] and arrays["old"].asnumpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize("room", [0, 1, 20, 4096, 8191, 20000, 40000, 40100])
def test_a_full_disk_leaves_the_old_file(old, room):
    before = old.read_bytes()
    done = in_a_child(DYING, old, room, "live")
    assert done.returncode == 0 and "writing failed: File too large" in done.stdout, done.stdout + done.stderr
    assert old.read_bytes() == before and is_old(old)
    assert [path.name for path in old.parent.iterdir()] == [old.name]


@pytest.mark.parametrize("room", [0, 1, 20, 4096, 8191, 20000, 40000, 40100])
def test_a_kill_in_the_middle_leaves_the_old_file(old, room):
    """The signal of the file-size limit ends the process when that many bytes are written."""
    before = old.read_bytes()
    done = in_a_child(DYING, old, room, "die")
    assert done.returncode == -signal.SIGXFSZ, done.stdout + done.stderr
    assert old.read_bytes() == before and is_old(old)
    (rest,) = [path for path in old.parent.iterdir() if path != old]
    assert rest.stat().st_size == room
    mx.nd.save(old, [mx.nd.ones(2)])
    assert len(mx.nd.load(old)) == 1


def test_a_save_that_ends_well_replaces_the_old_file(old):
    """With room for all of it: the tests above failed for the reason they say."""
    done = in_a_child(DYING, old, 41000, "die")
    assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr
    assert sorted(mx.nd.load(old)) == ["a", "b"] and [path.name for path in old.parent.iterdir()] == [old.name]
    assert 40100 < old.stat().st_size < 41000


KILLED = """
import sys
import mxlite as mx
number = 0
while True:
    number += 1
    mx.nd.save(sys.argv[1], [mx.nd.full((20000,), number)])
    print(number, flush=True)
"""


@pytest.mark.whole
def test_kills_at_any_moment(old):
    """A process that saves again and again is killed: the file is one of those it wrote, whole."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    draw = random.Random(5)
    for _ in range(10):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(old)], stdout=subprocess.PIPE, text=True, env=environment
        )
        with child:
            last = 0
            for _ in range(draw.randrange(1, 20)):
                last = int(child.stdout.readline())
            child.kill()
            last = max([last, *map(int, child.stdout.read().split())])
        (array,) = mx.nd.load(old)
        values = array.asnumpy()
        assert array.shape == (20000,) and values[0] in (last, last + 1) and (values == values[0]).all()


TAKEN = """
import fcntl, os, sys
from pathlib import Path
import mxlite as mx
taken = [Path(f"{sys.argv[1]}.{os.getpid()}-{number}.tmp") for number in range(int(sys.argv[2]))]
files = [path.open("w") for path in taken]
for file in files:
    fcntl.flock(file, fcntl.LOCK_EX)
    print("mine", end="", file=file, flush=True)
try:
    mx.nd.save(sys.argv[1], {"new": mx.nd.ones(2)})
except mx.MXNetError as problem:
    print(problem)
assert all(path.read_text() == "mine" for path in taken)
"""


def test_temporary_files_that_are_being_written_stay(old):
    """A process that writes one holds its lock; test_api_save.c removes those without a lock."""
    done = in_a_child(TAKEN, old, 3)
    assert done.returncode == 0 and not done.stdout, done.stdout + done.stderr
    assert list(mx.nd.load(old)) == ["new"] and len(list(old.parent.iterdir())) == 4
    done = in_a_child(TAKEN, old, 100)
    assert done.returncode == 0 and "100 names are taken" in done.stdout, done.stdout + done.stderr
    assert list(mx.nd.load(old)) == ["new"]


def test_devices_that_are_full():
    with pytest.raises(MXNetError, match="/dev/full: writing failed: No space left"):
        mx.nd.save("/dev/full", [mx.nd.ones(2000)])
