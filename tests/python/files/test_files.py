"""Arrays in files: those of the real MXNet 1.9.1 (tests/reference/files), round trips, damage, pickles."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mxlite as mx
from mxlite.error import MXNetError

FILES = Path(__file__).resolve().parents[2] / "reference" / "files"
EXPECTED = json.loads((FILES / "expected.json").read_text())


def values_of(entry: dict) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(entry["bytes"]), entry["dtype"]).reshape(entry["shape"])


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_reads_what_mxnet_wrote(name):
    want = EXPECTED[name]
    with mx.np_shape(want["numpy_shape"]):
        loaded = mx.nd.load(str(FILES / f"{name}.params"))
        again = mx.nd.load_frombuffer((FILES / f"{name}.params").read_bytes())
    for arrays in (loaded, again):
        assert isinstance(arrays, dict) == want["named"]
        pairs = list(arrays.items()) if want["named"] else [("", array) for array in arrays]
        assert [pair[0] for pair in pairs] == [entry["name"] for entry in want["arrays"]]
        for (_, array), entry in zip(pairs, want["arrays"]):
            assert array.dtype is np.dtype(entry["dtype"]).type
            assert array.shape == tuple(entry["shape"])
            np.testing.assert_array_equal(array.asnumpy(), values_of(entry))


@pytest.mark.parametrize("name", sorted(name for name in EXPECTED if not name.startswith("old")))
def test_writes_the_bytes_that_mxnet_writes(name, tmp_path):
    want = EXPECTED[name]
    with mx.np_shape(want["numpy_shape"]):
        arrays = mx.nd.load(FILES / f"{name}.params")
        mx.nd.save(tmp_path / "a", arrays)
    assert (tmp_path / "a").read_bytes() == (FILES / f"{name}.params").read_bytes()


@pytest.mark.parametrize(("name", "stype"), [("sparse_rows", "row_sparse"), ("sparse_csr", "csr")])
def test_sparse_arrays(name, stype, tmp_path):
    path = FILES / f"{name}.params"
    loaded = mx.nd.load(str(path))
    mx.nd.save(tmp_path / "a", loaded)
    assert (tmp_path / "a").read_bytes() == path.read_bytes()
    arrays = list(loaded.values()) if isinstance(loaded, dict) else loaded
    assert stype in {each.stype for each in arrays}
    for each in arrays:
        if each.stype != "default":
            each.check_format()


def test_the_shape_mode_must_fit():
    with pytest.raises(MXNetError, match="numpy-shape mode"):
        mx.nd.load(FILES / "numpy.params")
    with mx.np_shape(True), pytest.raises(MXNetError, match="not saved in numpy-shape mode"):
        mx.nd.load(FILES / "names.params")


def test_what_save_takes(tmp_path):
    x = mx.nd.array([1, 2])
    mx.nd.save(str(tmp_path / "one"), x)
    assert len(mx.nd.load(tmp_path / "one")) == 1
    for wrong in ([1], {1: x}, [x, None]):
        with pytest.raises(TypeError):
            mx.nd.save(tmp_path / "no", wrong)
    for wrong in ((x,), "x", 5):
        with pytest.raises(ValueError):
            mx.nd.save(tmp_path / "no", wrong)
    for name in ("a\0b", "\0", "a\0"):
        with pytest.raises(ValueError, match="embedded null byte"):
            mx.nd.save(tmp_path / "no", {"a": x, name: x})
        for path in (str(tmp_path / "no") + name, os.fsencode(tmp_path / "no") + name.encode()):
            with pytest.raises(ValueError, match="embedded null byte"):
                mx.nd.save(path, x)
        with pytest.raises(ValueError, match="embedded null byte"):
            mx.nd.load(str(tmp_path / "one") + name)
    with pytest.raises(TypeError):
        mx.nd.save(5, [x])
    with pytest.raises(TypeError):
        mx.nd.load(5)
    with pytest.raises(TypeError):
        mx.nd.load_frombuffer("text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]


def test_errors_name_the_file(tmp_path):
    with pytest.raises(MXNetError, match="nosuch.*No such file"):
        mx.nd.load(tmp_path / "nosuch")
    (tmp_path / "text").write_text("this is no file of arrays at all")
    with pytest.raises(MXNetError, match="not a file of arrays"):
        mx.nd.load(tmp_path / "text")
    with pytest.raises(MXNetError, match="No such file"):
        mx.nd.save(tmp_path / "no" / "folder", mx.nd.ones(1))


_SAVES = """
import sys
from mxlite import nd
arrays = [nd.full(1 << 20, 2)] * 8
print("ready", flush=True)
while True:
    nd.save(sys.argv[1], arrays)
"""


def test_a_killed_save(tmp_path):
    """The old file is whole whenever the process dies, and the next save leaves nothing but its file."""
    path = tmp_path / "a"
    mx.nd.save(path, mx.nd.ones(3))
    left = 0
    for _ in range(40):
        process = subprocess.Popen([sys.executable, "-c", _SAVES, str(path)], stdout=subprocess.PIPE)
        try:
            assert process.stdout.readline() == b"ready\n"
            while process.poll() is None and len(list(tmp_path.iterdir())) < 2:
                pass
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        assert {array.size for array in mx.nd.load(path)} in ({3}, {1 << 20})
        left = len(list(tmp_path.iterdir())) - 1
        if left:
            break
    assert left == 1, "no save was killed in the middle"
    mx.nd.save(path, mx.nd.ones(3))
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert mx.nd.load(path)[0].size == 3


def test_links_are_followed(tmp_path):
    (tmp_path / "link").symlink_to("target")
    for values in ([1.0], [2.0, 3.0]):
        mx.nd.save(tmp_path / "link", mx.nd.array(values))
        assert (tmp_path / "link").is_symlink() and not (tmp_path / "target").is_symlink()
        assert mx.nd.load(tmp_path / "target")[0].asnumpy().tolist() == values
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "target"]


def test_what_is_no_file_is_not_loaded(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, "/dev/null"):
        run = [sys.executable, "-c", "import sys; from mxlite import nd; nd.load(sys.argv[1])", str(path)]
        ended = subprocess.run(run, capture_output=True, text=True, timeout=60)
        assert ended.returncode == 1 and "is not a regular file" in ended.stderr


def test_damaged_files():
    """Bits flipped in every byte of a file: an error or arrays, nothing else."""
    content = (FILES / "names.params").read_bytes()
    outcomes = {"read": 0, "refused": 0}
    for at in range(len(content)):
        for bit in range(8):
            wrong = bytearray(content)
            wrong[at] ^= 1 << bit
            try:
                mx.nd.load_frombuffer(wrong)
            except (MXNetError, ValueError):
                outcomes["refused"] += 1
            else:
                outcomes["read"] += 1
    assert outcomes["refused"] > 300 and outcomes["read"] > 300


# ---- pickles and copies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool"])
def test_pickles(dtype):
    x = mx.nd.array([[1, 0, 3]], dtype=dtype)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert y.dtype is x.dtype and y.shape == (1, 3)
        np.testing.assert_array_equal(y.asnumpy(), x.asnumpy())


def test_pickles_of_odd_shapes():
    with mx.np_shape(True):
        scalar, nothing = mx.nd.full((), 5), mx.nd.zeros((0, 3))
    assert pickle.loads(pickle.dumps(scalar)).shape == ()
    assert pickle.loads(pickle.dumps(nothing)).shape == (0, 3)


def test_a_pickle_of_mxnet():
    """The state of an NDArray as the real 1.9.1 pickles it: ones of shape (2,)."""
    state = bytes.fromhex("c9fa93f9 00000000 01000000 0200000000000000 01000000 00000000 00000000 0000803f 0000803f")
    array = mx.nd.NDArray(None)
    array.__setstate__({"handle": bytearray(state)})
    assert array.asnumpy().tolist() == [1, 1]
    with pytest.raises(ValueError):
        array.__setstate__({"handle": None})
    assert mx.nd.array([1, 1]).__getstate__() == {"handle": bytearray(state)}


def test_pickles_of_devices():
    """As MXNet 1.9.1 has them: make test-peers exchanges them with it."""
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        device = pickle.loads(pickle.dumps(mx.cpu(1), protocol))
        assert device == mx.cpu(1) and repr(device) == "cpu(1)"
        with device:
            assert mx.current_context() == device
        assert mx.current_context() == mx.cpu()
    assert mx.cpu(1).__getstate__() == {"device_typeid": 1, "device_id": 1, "_old_ctx": None}


def test_copies_share_nothing():
    x = mx.nd.array([1, 2])
    x.attach_grad()
    for y in (copy.copy(x), copy.deepcopy(x), copy.deepcopy([x])[0]):
        y[:] = 5
        assert x.asnumpy().tolist() == [1, 2] and y.grad is None
