"""What every Python test shares: no test may leave live arrays or changed flags behind."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib.util
import os
import signal
import sys
import time
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "reference"))

import mxlite as mx  # noqa: E402
from mxlite import _lib, autograd  # noqa: E402

#: Left out where PyTorch is not installed; the header of the report says so, and `make test-torch` installs it.
collect_ignore_glob = [] if importlib.util.find_spec("torch") else ["pytorch/test_torch_style*.py"]


def live_handles() -> int:
    """Handles that the library counts as alive."""
    count = ctypes.c_int64()
    _lib.check_call(_lib.LIB.MXLGetLiveHandles(ctypes.byref(count)))
    return count.value


def live_bytes() -> int:
    """Bytes that the library counts as allocated when nothing waits: deferred calls hold their inputs."""
    with contextlib.suppress(mx.MXNetError):  # one that a test left
        mx.nd.waitall()
    count = ctypes.c_int64()
    _lib.check_call(_lib.LIB.MXLGetLiveBytes(ctypes.byref(count)))
    return count.value


@pytest.fixture
def interruptible():
    """SIGINT is Python's own: a job in the background inherits that it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


_watched = pytest.StashKey[bool]()


def _nothing_is_left(item: pytest.Function, before: int) -> None:
    """Live handles and the thread's flags are as before when the test has ended."""
    item.funcargs.clear()
    if live_handles() != before:
        gc.collect()
        gc.freeze()  # what is left (reports, modules) stays: the next collection need not look at it again
    end = time.monotonic() + 2
    while live_handles() != before and time.monotonic() < end:
        time.sleep(0.01)  # a loader's thread may be at a batch still that nobody waits for
    assert live_handles() == before, "the test left arrays behind"
    assert not autograd.is_recording() and not autograd.is_training() and not mx.is_np_shape()
    assert not _lib.hot.num_kept(), "a recorded function is alive still"


def _watch(item: pytest.Function) -> None:
    """Looks at what is alive from here on; the check is the last step of the test's own teardown."""
    if _watched not in item.stash:
        item.stash[_watched] = True
        item.addfinalizer(partial(_nothing_is_left, item, live_handles()))


# Hooks, not a fixture that every test uses: that costs a tenth of a millisecond for each of a hundred thousand.
@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest) -> None:
    """Before the first fixture of one test alone; those of modules live longer."""
    if fixturedef.scope == "function":
        _watch(request.node)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item: pytest.Function) -> Generator[None, Any, None]:
    """Tests without such fixtures; those that are skipped before they are set up have nothing to tear down."""
    outcome = yield
    if outcome.excinfo is None:
        _watch(item)


def pytest_collection_finish() -> None:
    """What the collection made stays; the collections of single tests need not look at it."""
    gc.collect()
    gc.freeze()


def pytest_report_header() -> str:
    """Which binding and which library the tests ran over."""
    left_out = ", without test_torch_style*.py (no PyTorch here: make test-torch)" if collect_ignore_glob else ""
    brief = ", the table in brief" if os.environ.get("MXLITE_TEST_BRIEF") == "1" else ""
    return f"mxlite: binding {_lib.BINDING}, library {mx.get_library()}{left_out}{brief}"
