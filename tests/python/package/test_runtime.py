"""What a program asks about the library itself: features, bulk sizes, the environment."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

import mxlite as mx


def test_features():
    features = mx.runtime.Features()
    assert len(features) == 32 and not features["CUDA"].enabled and features["INT64_TENSOR_SIZE"].name in features
    assert not features.is_enabled("cuda") and features.is_enabled("CXX14") == features["CXX14"].enabled
    assert [feature.name for feature in mx.runtime.feature_list()] == list(features)
    assert repr(features).startswith("[✖ CUDA, ✖ CUDNN")
    with pytest.raises(RuntimeError, match="there is no feature 'NOPE'; there are .'CUDA'"):
        features.is_enabled("nope")


def test_bulk_sizes_are_remembered():
    before = mx.engine.set_bulk_size(15)
    try:
        with mx.engine.bulk(3):
            assert mx.engine.set_bulk_size(3) == 3
            with mx.engine.bulk(0):
                assert mx.engine.set_bulk_size(0) == 0
            assert mx.engine.set_bulk_size(3) == 3
        assert mx.engine.set_bulk_size(15) == 15
        with pytest.raises(mx.MXNetError):
            mx.engine.set_bulk_size(-1)
    finally:
        mx.engine.set_bulk_size(before)


def test_environment():
    mx.util.setenv("MXLITE_TEST_É", "1 é")
    assert mx.util.getenv("MXLITE_TEST_É") == "1 é"
    mx.util.setenv("MXLITE_TEST_É", None)
    assert mx.util.getenv("MXLITE_TEST_É") is None
    with pytest.raises(mx.MXNetError):
        mx.util.setenv("a=b", "1")


def test_rnd_is_random():
    assert mx.rnd is mx.random


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads in /proc")
@pytest.mark.parametrize(
    ("variables", "workers"),
    [
        ({"MXLITE_NUM_THREADS": "1"}, 0),
        ({"MXLITE_NUM_THREADS": "3"}, 2),
        ({"OMP_NUM_THREADS": "2"}, 1),
        ({"OMP_NUM_THREADS": "4,2", "MXLITE_NUM_THREADS": "3"}, 2),
        ({"MXLITE_NUM_THREADS": "0", "OMP_NUM_THREADS": "3"}, 2),
        ({"MXLITE_NUM_THREADS": "40"}, 39),
    ],
)
def test_thread_variables(variables, workers):
    """A large operator starts one thread less than asked for: the caller is one of them."""
    program = (
        "import os, mxlite as mx\n"
        "count = lambda: len(os.listdir('/proc/self/task'))\n"
        "before = count()\n"
        "(mx.nd.ones((1000, 8000)) + 1).wait_to_read()\n"
        "print(count() - before)\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.endswith("NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", program], env={**environment, **variables}, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == workers


@pytest.mark.parametrize(
    "variable",
    ["OMP_NUM_THREADS"]
    + [
        f"MXLITE_{name}"
        for name in ("NUM_THREADS", "VECTOR_LEVEL", "POOL_MB", "DEFER", "BACKENDS", "BINDING", "LIBRARY")
    ],
)
def test_a_variable_that_means_nothing_is_an_error_that_names_it(variable):
    program = "try:\n    import mxlite\nexcept Exception as problem:\n    print(problem)\n"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, variable: "bad"}, capture_output=True, text=True, check=True
    )
    assert variable in done.stdout and "bad" in done.stdout and len(done.stdout.splitlines()) == 1


def test_another_library_in_place_of_ours_is_an_error():
    path = importlib.util.find_spec("_ctypes").origin
    program = "try:\n    import mxlite\nexcept RuntimeError as problem:\n    print(problem)\n"
    environment = {**os.environ, "MXLITE_LIBRARY": path}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"mxlite: {path} (MXLITE_LIBRARY names it) is no libmxlite.so\n"


def test_kept_memory():
    first = mx.util.set_pool_cap(64 << 20)
    try:
        assert 0 < first <= 1 << 30
        mx.cpu().empty_cache()
        assert mx.util.pool_bytes() == 0
        del_me = mx.nd.ones((1000, 1000))
        del_me.wait_to_read()
        del del_me
        assert 4_000_000 <= mx.util.pool_bytes() < 64 << 20
        assert mx.util.set_pool_cap(0) == 64 << 20
        assert mx.util.pool_bytes() == 0
        with pytest.raises(ValueError, match="got -1"):
            mx.util.set_pool_cap(-1)
    finally:
        mx.util.set_pool_cap(None)
    assert mx.util.set_pool_cap(None) == first


def test_features_are_one_object():
    features = mx.runtime.Features()
    assert features is mx.runtime.Features() is mx.runtime.Features.instance
    copied = type(features)(), dict(features), features.copy()
    assert all(len(each) == 32 for each in copied) and len(features) == 32
