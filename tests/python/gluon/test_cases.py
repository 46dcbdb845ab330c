"""The cases of `gluon_cases/` here, beside what the real MXNet 1.9.1 answered to them (`make oracle-gluon`)."""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _case import Case, answer, cases, differences, file_of_answers, modules

import mxlite as mx

ROOT = Path(__file__).resolve().parents[3]
ALL = [one for module in modules() for one in cases(module)]


@cache
def recorded(module: str) -> dict[str, Any]:
    path = file_of_answers(module)
    return json.loads(lzma.decompress(path.read_bytes())) if path.exists() else {}


@pytest.fixture(autouse=True)
def without_casts() -> Iterator[None]:
    """What `amp.init` casts in one case is not cast in the next one."""
    yield
    if "mxlite.contrib.amp" in sys.modules:
        sys.modules["mxlite.contrib.amp"].amp._end()


@pytest.mark.parametrize("one", [pytest.param(one, id=one.name, marks=[pytest.mark.whole] * one.whole) for one in ALL])
def test_answer_is_that_of_1_9_1(one: Case) -> None:
    expected = recorded(one.module).get(one.name)
    assert expected is not None, "no answer is recorded: run `make oracle-gluon`"
    found = list(differences(answer(one, mx), expected, one))
    if one.differs is None:
        assert not found, "\n".join(found)
    else:
        assert found, "the answer is 1.9.1's now: drop differs="


def test_differences_are_in_the_table() -> None:
    table = (ROOT / "docs" / "compatibility.md").read_text()
    named = {f"`gluon {one.module}.{one.function.__name__}`" for one in ALL if one.differs}
    assert [each for each in sorted(named) if each not in table] == []


def test_names_are_unique_and_answers_are_of_cases() -> None:
    names = [one.name for one in ALL]
    assert len(names) == len(set(names))
    stale = {name for module in modules() for name in recorded(module)} - set(names)
    assert not stale, "run `make oracle-gluon`, which drops answers without a case"
