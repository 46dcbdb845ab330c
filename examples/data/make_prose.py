"""Writes prose.txt: the paragraphs of this project's documents, without headings, lists' marks, tables and programs.

python examples/data/make_prose.py > examples/data/prose.txt
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = (
    "README CONTRIBUTING capi/README docs/architecture docs/autograd capi/adding-an-operator docs/performance".split()
)


def paragraphs(page: str) -> list[str]:
    """A page's paragraphs, each on one line, in letters, digits and the marks of plain sentences alone."""
    page = re.sub(r"^```.*?^```$", "", page, flags=re.S | re.M)  # programs
    page = re.sub(r"^(\||#).*$", "", page, flags=re.M)  # tables and headings
    page = re.sub(r"^ *([-*]|\d+\.) ", "\n", page, flags=re.M)  # every item of a list is a paragraph
    page = re.sub(r"\*([a-zA-Z ]+\.?)\*", r"\1", page)  # emphasis
    page = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", page)  # links
    found = (" ".join(each.split()) for each in re.split(r"\n\s*\n", page))
    return [each for each in found if each.endswith(".") and not re.search(r"[^ -~]", each)]


if __name__ == "__main__":
    for name in PAGES:
        print("\n".join(paragraphs((ROOT / f"{name}.md").read_text())))
