"""Programs of tests/torch/cases_*.py on PyTorch and on mxlite.torch, in one process: what they come to must agree.

Values, dtypes, names, the structure of the graph, printed text and the class of each error are compared. `make
test-torch` runs it, where PyTorch is installed.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
import torch as real

import mxlite.torch as ours

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "torch"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "torch" / "modules"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "torch" / "transforms"))

from programs import apart

FAMILIES = ("hooks", "nodes", "function", "context", "edits", "tools", "text", "kinds", "modules")
FAMILIES += ("func", "forward", "saved")

PROGRAMS = {
    f"{family}: {name}": run
    for family in FAMILIES
    for name, run in importlib.import_module(f"cases_{family}").PROGRAMS.items()
}

#: Programs that come to something else, on purpose; docs/from-pytorch.md says so. They must.
DIFFER = {
    "hooks: a_hook_stays_after_the_graph_is_released": "hooks on what was computed go with the graph",
    "hooks: a_gradient_asked_for_on_the_way": "a gradient that is asked for is what the hooks leave, always",
    "edits: parts_of_a_base_that_was_edited": "results of unbind, split and chunk follow their base",
    "edits: an_expanded_view_that_is_filled": "its gradient is right; PyTorch's backward fails",
    "edits: detaching_a_view": "a view may be detached in place",
    "edits: versions_of_data": "an edit through `data` counts, and is found",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name):
    found = apart(real, ours, PROGRAMS[name])
    if name in DIFFER:
        assert found, "it agrees: take it out of DIFFER, and out of docs/from-pytorch.md"
    else:
        assert not found, "\n".join(found)
