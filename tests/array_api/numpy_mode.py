"""A plugin of pytest (`-p numpy_mode`): NumPy's mode, in which an element of an array has no axes.

Each of our tests begins in it; the standard's public suite runs in it as a whole.
"""

import os
from collections.abc import Iterator

import pytest

from mxlite import npx

if "ARRAY_API_TESTS_MODULE" in os.environ:
    npx.set_np()
else:

    @pytest.fixture(autouse=True)
    def numpy_mode() -> Iterator[None]:
        """NumPy's mode, for each test alone."""
        npx.set_np()
        yield
        npx.reset_np()
