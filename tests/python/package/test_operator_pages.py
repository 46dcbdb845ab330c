"""`make docs`: every operator has its page, nothing on it is empty, and what its example prints is what comes out."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import operators

import mxlite as mx
from mxlite.ndarray._operators import Operator, operator_names

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
import curves  # noqa: E402
import make_docs  # noqa: E402
from describe import CALLERS, aliases, describe  # noqa: E402

pytestmark = pytest.mark.one_binding

INDEX = "README.md"
SECTIONS = ["Inputs", "Parameters", "Result", "Derivative", "Example"]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return make_docs.pages()


def _sections(page: str) -> dict[str, str]:
    parts = re.split(r"^## (.*)\n", page, flags=re.M)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2]))}


def test_every_operator_has_its_page(pages: dict[str, str]) -> None:
    assert {f"{name}.md" for name in operators() | make_docs.SPARSE} == set(pages) - {INDEX}


@pytest.mark.parametrize("name", sorted(operators()))
def test_nothing_is_empty(pages: dict[str, str], name: str) -> None:
    sections = _sections(pages[f"{name}.md"])
    # No example calls an operator without a function, or one whose function takes only some of its inputs, as in 1.9.1.
    some = ("BatchNorm_v1", "IdentityAttachKLSparseReg")
    shown = SECTIONS if make_docs.python_name(name) and name not in some else SECTIONS[:-1]
    assert list(sections) == ["", *["Shapes"][: bool(Operator(name).shapes)], *shown]
    for title, text in sections.items():
        assert len(text.strip()) > 3, title
    for row in re.findall(r"^\|.*\|$", pages[f"{name}.md"], re.M):
        assert all(cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]), row
    assert Operator(name).doc in sections[""]
    for part in (*describe(name).operator.inputs, *describe(name).parameters):
        what = part[0] if isinstance(part, tuple) else part.name
        assert f"`{what}`" in sections["Inputs"] + sections["Parameters"]
    for alias in aliases(name):
        assert f"`{alias}`" in sections[""]


def test_shapes_are_on_the_page_and_in_the_docstring(pages: dict[str, str]) -> None:
    text = "data[*S] weight[input_dim,output_dim] -> [*S,output_dim]"
    assert _sections(pages["Embedding.md"])["Shapes"].split("\n") == ["", "```text", text, "```", "", ""]
    assert f"\n\nShapes: ``{text}``\n\nParameters\n" in mx.nd.Embedding.__doc__
    assert "Shapes" not in _sections(pages["exp.md"]) and "Shapes" not in mx.nd.exp.__doc__


def test_the_index_leads_to_every_page(pages: dict[str, str]) -> None:
    targets = re.findall(r"\]\((\S+)\)", pages[INDEX])
    assert sorted(targets) == sorted(set(pages) - {INDEX})


def test_a_page(pages: dict[str, str]) -> None:
    sections = _sections(pages["_contrib_div_sqrt_dim.md"])
    assert "mx.nd.contrib.div_sqrt_dim(data, out=None)" in sections[""]
    assert "Refused: bool." in sections["Result"] and "| float16 | float16 |" in sections["Result"]
    assert sections["Derivative"].strip() == "Of every order."
    assert "None." in sections["Parameters"]


def test_an_example_prints_what_is_computed(pages: dict[str, str]) -> None:
    program, printed = re.findall(r"```\w+\n(.*?)\n```", _sections(pages["tanh.md"])["Example"], re.S)
    values = np.array([float(each) for each in re.findall(r"-?\d+\.\d*", program.split("\n")[0])])
    shown = np.array([float(each) for each in re.findall(r"-?\d+\.\d*", printed)])
    np.testing.assert_allclose(shown, np.tanh(values), atol=1e-4)


def test_a_derivative_is_drawn(pages: dict[str, str]) -> None:
    assert "](tanh.svg)" in _sections(pages["tanh.md"])["Derivative"]
    ((_, x, f, slope),) = curves.curves("tanh")
    np.testing.assert_allclose(f, np.tanh(x), rtol=1e-5)
    np.testing.assert_allclose(slope, 1 - np.tanh(x) ** 2, atol=1e-5)
    (drawn,) = make_docs.pictures("tanh").values()
    assert drawn.count('stroke-width="2"') == 4  # two curves and their legend
    assert "nan" not in drawn


def test_a_curve_ends_at_a_pole() -> None:
    ((title, x, f, slope),) = curves.curves("reciprocal")
    assert (title, len(curves._pieces(x, f, slope, (-5.0, 5.0)))) == ("", 2)


def test_each_value_of_a_required_choice_is_drawn() -> None:
    assert [title for title, *_ in curves.curves("Activation")][:2] == ["act_type=relu", "act_type=sigmoid"]
    assert len(make_docs.pictures("Activation")) == 5


@pytest.mark.parametrize("name", ["softmax", "cumsum", "sum", "transpose", "Dropout", "zeros_like", "broadcast_add"])
def test_what_has_no_curve(name: str) -> None:
    """Those that mix elements, move them, draw numbers, are constant, or have two inputs."""
    assert make_docs.pictures(name) == {}


def test_aliases_have_no_page_of_their_own(pages: dict[str, str]) -> None:
    for name in operator_names():
        assert (f"{name}.md" in pages) == (Operator(name).first_name == name and name not in CALLERS)
