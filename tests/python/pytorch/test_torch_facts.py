"""mxlite.torch against what PyTorch 2.13 answered (tests/torch/facts.json): values, graphs, gradients, text, errors."""

from __future__ import annotations

import os
import sys

import pytest

import mxlite.torch as torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "torch"))

import ask
import expressions
import texts

FACTS = ask.load()


@pytest.mark.parametrize("expression", expressions.GRAPH)
def test_values_graph_and_gradients(expression):
    mine, theirs = ask.graph_answer(torch, expression), FACTS["graph"][expression]
    assert len(mine["results"]) == len(theirs["results"])
    for own, other in zip(mine["results"], theirs["results"]):
        assert ask.same(own.pop("values", []), other.pop("values", []))
        assert own == other
    if "no gradient" in theirs:
        return  # what PyTorch cannot differentiate twice, we may
    for order in ("first", "second"):
        none = [None] * 7
        for own, other in zip(mine.get(order, none), theirs.get(order, none)):
            assert ask.same(own, other), order


@pytest.mark.parametrize("expression", texts.TEXTS)
def test_text_and_errors(expression):
    mine, theirs = ask.text_answer(torch, expression), FACTS["texts"][expression]
    assert mine == theirs


def test_everything_is_recorded():
    assert set(FACTS["graph"]) == set(expressions.GRAPH)
    assert set(FACTS["texts"]) == set(texts.TEXTS)
    assert FACTS["torch"].startswith("2.13.")
