"""A plugin of pytest: MXLITE_TEST_PIECE="2/8" runs the third of eight pieces: the collected tests 2, 10, 18, ...

Where one process would take too long (mk/arm.mk): `pytest -p tools.testing.pieces`.
"""

from __future__ import annotations

import os

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the tests of the other pieces."""
    first, pieces = (int(number) for number in os.environ.get("MXLITE_TEST_PIECE", "0/1").split("/"))
    others = [item for number, item in enumerate(items) if number % pieces != first]
    config.hook.pytest_deselected(items=others)
    items[:] = items[first::pieces]
