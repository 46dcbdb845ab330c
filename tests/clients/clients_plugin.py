"""A pytest plugin for the clients' own tests (run_clients.py): mxlite as mxnet, fixed seeds, outcomes as a file.

CLIENTS_MXNET says which MXNet the tests get (mxlite or mxnet), CLIENTS_OUTCOMES where their outcomes are written.
Nothing of mxlite is changed. `OLD_NUMPY` is all that is given back of what NumPy 2 took away.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import numpy as np
import pytest
from numpy.random import bit_generator

#: Names of old NumPy that the clients' own code uses: TensorLy 0.4.5, tensorly/datasets/synthetic.py.
OLD_NUMPY = {"float": float}

WHICH = os.environ["CLIENTS_MXNET"]
outcomes: dict[str, str] = {}

if WHICH == "mxlite":
    import mxlite

    mxlite.install_as_mxnet()
    for name, value in OLD_NUMPY.items():
        if not hasattr(np, name):
            setattr(np, name, value)

import mxnet  # noqa: E402

if (mxnet.__name__ == "mxlite") != (WHICH == "mxlite"):
    raise RuntimeError(f"the tests should get {WHICH}, and `import mxnet` gives {mxnet.__file__}")


@pytest.fixture(autouse=True)
def _fixed_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many of the tests draw without a seed; here each draws the same numbers every time.

    NumPy's generators that are made without a seed, `RandomState()` and `default_rng()`, take theirs from
    `bit_generator.randbits`: TensorLy 0.4.5, tensorly/random/base.py.
    """
    random.seed(1)
    np.random.seed(1)
    mxnet.random.seed(1)
    monkeypatch.setattr(bit_generator, "randbits", random.Random(1).getrandbits)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A test passed when all its phases did."""
    if report.when == "call" or report.outcome != "passed":
        outcomes[report.nodeid] = report.outcome


def pytest_sessionfinish() -> None:
    Path(os.environ["CLIENTS_OUTCOMES"]).write_text(json.dumps(outcomes))
