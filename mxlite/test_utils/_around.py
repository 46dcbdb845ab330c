"""Helpers around tests: environment variables, repetitions, standard error, what the machine is."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import sys
from collections.abc import Iterator
from typing import Any, Callable

from mxlite._public import offer as _offer
from mxlite.context import num_gpus


@contextlib.contextmanager
def environment(*args: Any) -> Iterator[None]:
    """A with-block in which environment variables have other values: environment(name, value) or environment(dict).

    None removes a variable meanwhile.
    """
    changes = args[0] if len(args) == 1 else {args[0]: args[1]}
    before = {name: os.environ.get(name) for name in changes}

    def put(values: dict[str, str | None]) -> None:
        for name, value in values.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = str(value)

    put(changes)
    try:
        yield
    finally:
        put(before)


def retry(n: int) -> Callable[[Callable], Callable]:
    """A decorator: a test that fails by AssertionError is run again, up to `n` times in all."""
    if n <= 0:
        raise ValueError(f"retry: n is {n}; at least 1")

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for attempt in range(n):
                try:
                    return function(*args, **kwargs)
                except AssertionError:
                    if attempt == n - 1:
                        raise
            return None

        return wrapper

    return decorate


def list_gpus() -> range:
    """The numbers of the GPUs: none, unless `num_gpus` says that there are some."""
    return range(num_gpus())


@contextlib.contextmanager
def discard_stderr() -> Iterator[None]:
    """A with-block in which nothing that is written to standard error arrives, whatever library writes it."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stderr(nowhere):
            os.dup2(nowhere.fileno(), 2)
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def is_aarch64_run() -> bool:
    """Whether the processor is an ARM of 64 bits."""
    return platform.machine() == "aarch64"


def is_cd_run() -> bool:
    """Whether the environment variable CD_JOB is 1."""
    return os.environ.get("CD_JOB") == "1"


def is_op_runnable() -> bool:
    """Whether operators run on this machine: they do."""
    return True


def has_tvm_ops() -> bool:
    """Whether there are operators made by TVM: there are none."""
    return False


_offer(globals())
