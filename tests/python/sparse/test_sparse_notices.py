"""What runs on dense copies is said in the log "mxlite", by itself on stderr."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import mxlite as mx
x = mx.nd.array([[0, 1], [2, 0]]).tostype("csr")
for _ in range(2):
    mx.nd.cos(x), mx.nd.sin(x), mx.nd.cos(mx.nd.ones(2))
    net = mx.sym.exp(mx.sym.var("a", stype="csr")).bind(mx.cpu(), {"a": x}, grad_req="null")
    net.forward()
mx.nd.zeros((2, 2), stype="row_sparse")[:] = 3
"""
LINE = "{}: no sparse form for (csr); it runs on dense copies (MXNET_STORAGE_FALLBACK_LOG_VERBOSE=0 ends such lines)\n"


def _run(program: str, value: str | None) -> tuple[int, str]:
    environment = {name: text for name, text in os.environ.items() if name != "MXNET_STORAGE_FALLBACK_LOG_VERBOSE"}
    if value is not None:
        environment["MXNET_STORAGE_FALLBACK_LOG_VERBOSE"] = value
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize("value", [None, "", "1", "True"])
def test_a_line_for_each_operator(value: str | None) -> None:
    assert _run(PROGRAM, value) == (0, LINE.format("cos") + LINE.format("exp"))


@pytest.mark.parametrize("value", ["0", "false"])
def test_no_lines(value: str) -> None:
    assert _run(PROGRAM, value) == (0, "")


@pytest.mark.parametrize("value", ["2", "no"])
def test_a_value_that_means_nothing(value: str) -> None:
    status, printed = _run("import mxlite", value)
    assert status == 1
    assert f'MXNET_STORAGE_FALLBACK_LOG_VERBOSE is "{value}"; 0, 1, false or true is expected' in printed


def test_a_program_may_turn_the_log_off() -> None:
    silent = 'import logging; logging.getLogger("mxlite").setLevel(logging.ERROR)' + PROGRAM
    assert _run(silent, None) == (0, "")
